#!/bin/bash
# with_server.sh LOOPBACK PRELOAD COMMAND…: runs COMMAND with the shim preloaded (PRELOAD "-": without)
# beside a server of its own, and fails where either does, or where the server still has somebody then.
set -euo pipefail
loopback=$1 preload=$2
shift 2
place=$(mktemp -d)
trap 'rm -rf "$place"' EXIT
export XDG_RUNTIME_DIR=$place TURNPIKE_SOCKET=$place/socket
unset TURNPIKE_TREE
coproc SERVER { exec "$loopback" "$TURNPIKE_SOCKET"; }
server=$SERVER_PID
exec {said}<&"${SERVER[0]}"
read -r -t 20 -u "$said" line
[[ $line == ready ]]
status=0
if [[ $preload == - ]]; then
    LOOPBACK_PID=$server timeout -k 5 200 "$@" </dev/null || status=$?
else
    LOOPBACK_PID=$server LD_PRELOAD=$preload timeout -k 5 200 "$@" </dev/null || status=$?
fi
if [[ ${SERVER_MAY_DIE-} ]]; then
    exit "$status"
fi
kill -TERM "$server"
line=
read -r -t 20 -u "$said" line || true
if [[ $line != "left 0" ]]; then
    printf 'the server says: %s\n' "${line:-nothing}" >&2
    status=1
fi
wait "$server" || status=1
exit "$status"
