#!/bin/bash
# foreign.sh TURNPIKE SHIM: what the card is to a user whom the server refuses: there, and not to be
# opened. Root alone can become somebody else (exit 77: skipped).
set -euo pipefail
turnpike=$1
((EUID == 0)) || exit 77
place=$(mktemp -d)
server=
trap '[[ -z $server ]] || kill "$server"; rm -rf "$place"' EXIT
chmod 711 "$place"
install -m 755 "$2" "$place/shim.so"
user=54321
install -d -m 700 -o $user "$place/$user"
install -d -m 700 "$place/0"
unset TURNPIKE_TREE
status=0

as() { # uid, command...
    local uid=$1
    shift
    XDG_RUNTIME_DIR=$place/$uid TURNPIKE_SOCKET=$socket LD_PRELOAD=$place/shim.so LC_ALL=C \
        setpriv --reuid "$uid" --regid "$uid" --clear-groups -- "$@"
}
expect() { # what, wanted, got
    [[ $3 == "$2" ]] && return
    printf '%s, %s: %q, not %q\n' "$socket" "$1" "$3" "$2" >&2
    status=1
}

for socket in "$place/socket" "@turnpike-foreign-$$"; do
    "$turnpike" serve --size 64x48 --socket "$socket" >"$place/log" 2>&1 &
    server=$!
    for _ in {1..100}; do
        said=$(as 0 bash -c 'exec 3<>/dev/dri/card0 && echo opened' 2>&1) || true
        [[ $said != opened ]] || break
        sleep 0.1
    done
    expect 'its own user' opened "$said"
    expect 'stat' 'character special file e2:0' "$(as $user stat -c '%F %t:%T' /dev/dri/card0 2>&1 || true)"
    said=$(as $user bash -c 'exec 3<>/dev/dri/card0 && echo opened' 2>&1) || true
    expect 'open' 'Permission denied' "${said##*: }"
    if [[ $socket == @* ]]; then
        expect 'the log' 1 "$(grep -c "uid $user): refused: the display is not this user's" "$place/log")"
    fi
    expect 'its own user, after that' opened "$(as 0 bash -c 'exec 3<>/dev/dri/card0 && echo opened' 2>&1 || true)"
    kill "$server"
    wait "$server" || true
    server=
done
exit $status
