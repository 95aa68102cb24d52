#!/bin/bash
# Unmodified compositors on a card of ours, each with a client whose picture is compared with what the
# screen showed.
# timeout: 240
set -uo pipefail
. "$(dirname "$0")/../../scripts/mesa.sh"
. "$(dirname "$0")/lib.sh"
cd "$TP_TMP" || exit 2
chmod 755 . # one of them runs as another user
need weston sway cage weston-image convert compare jq

four_colours sent.png

# Everything of this run goes, within five seconds: the program in it, and the folder.
nothing_left() { # what the program was called, its runtime folder
    for _ in {1..50}; do
        [[ -e $2 ]] || pgrep -f "[c]laim-$1" >/dev/null || return 0
        sleep 0.1
    done
    [[ ! -e $2 ]] || echo "# $2"
    pgrep -af "[c]laim-$1" | sed 's/^/# /'
    return 1
}

# yes: in a mount namespace with the card; no: the preload library alone.
spaces=(no)
! unshare -Urm true 2>/dev/null || spaces+=(yes)
for compositor in weston sway cage; do
    for space in "${spaces[@]}"; do
        what="$compositor, namespace $space"
        status=0
        played 4 play --size 1280x720 --compositor $compositor --namespace "$space" --seconds 4 \
            --snapshot shown.png --json report.json -- weston-image sent.png >out 2>err </dev/null || status=$?
        ((status == 0)) || tail -n 30 err >&2
        check "$what: runs for its time" test $status -eq 0
        check "$what: its client's picture is on the screen" picture_is_there shown.png sent.png
        check "$what: reports what it showed" json_holds '.schema == 1 and .frames >= 2 and
            (([.cadence[]] | add) // 0) == ([.frames - 10, 0] | max) and (.frames < 12 or .interval_ms.max > 10) and
            .tears == 0 and .watched > 0' report.json
    done
done

# Their buffers are dumb ones, two or three: drawn into from the flip event on, when the panel has its copy.
for run in 'weston 0' 'weston 1' 'weston 2' 'sway 1' 'cage 1'; do
    read -r compositor pipeline <<<"$run"
    command -v "$compositor" >/dev/null || continue
    status=0
    played 3 play --size 1280x720 --pipeline "$pipeline" --compositor "$compositor" --seconds 3 --json report.json -- \
        weston-simple-damage >out 2>err </dev/null || status=$?
    check "$compositor, pipeline $pipeline: draws on" test $status -eq 0
    check "$compositor, pipeline $pipeline: nothing tears, and what was seen was seen" json_holds \
        '.frames >= 30 and .tears == 0 and .watched > 0' report.json
done

# The program is whose play is, its end is play's, and a compositor that ends before it is told of.
for compositor in weston sway cage; do
    command -v $compositor >/dev/null || continue
    status=0
    SECONDS=0
    played 30 play --compositor $compositor -- bash -c 'echo "$(id -u) $HOME ${LD_PRELOAD-none}"; exit 23' \
        >out 2>err </dev/null || status=$?
    check "$compositor: the program's exit status is play's" test $status -eq 23
    check "$compositor: its user, home and environment, too" test "$(<out)" = "$(id -u) $HOME none"
    check "$compositor: nothing else is said" test ! -s err
    check "$compositor: it ends when it is asked to, though it has just begun" test $SECONDS -lt 3
    status=0
    played 30 play --compositor $compositor -- bash -c 'kill -9 $$' >out 2>err </dev/null || status=$?
    check "$compositor: a program that a signal ends" test $status -eq 137
    status=0
    played 30 play --compositor $compositor -- no-such-program >out 2>err </dev/null || status=$?
    check "$compositor: a program that is not there" test $status -eq 3
    status=0
    played 30 play --compositor $compositor -- bash -c "pkill -KILL -x -P \$PPID $compositor; sleep 20" \
        >out 2>err </dev/null || status=$?
    check "$compositor: its own end is play's failure" test $status -eq 1
    check "$compositor: and told" grep -q "$compositor: was killed by signal 9 (Killed)" err
    status=0
    played 30 play --compositor $compositor -- bash -c "pkill -KILL -x -P \$PPID $compositor; exit 0" \
        >out 2>err </dev/null || status=$?
    check "$compositor: also when the program ends at once, well" test $status -eq 1
    check "$compositor: and that is told" grep -q "$compositor: was killed by signal 9 (Killed)" err
done
status=0
played 30 play -- /etc/passwd >out 2>err </dev/null || status=$?
check 'a program that cannot be started: exit status 3' test $status -eq 3
status=0
played 30 play -- bash -c 'kill -9 $PPID; sleep 1' >out 2>err </dev/null || status=$?
check "the display's own end: exit status 1" test $status -eq 1
check 'and told' grep -q 'the display ended: signal 9' err
refused() { # what the message says, play's options...
    local says=$1 status=0
    shift
    played 10 play "$@" -- true >out 2>err </dev/null || status=$?
    [[ $status == 2 ]] && grep -q -e "$says" err
}
check 'a rate twice' refused 'different rates' --refresh 60,60
check 'a range in which no rate lies' refused 'no refresh rate lies within' --vrr 30-50 --refresh 120
check 'a value that is an option' refused 'needs a value' --json
check 'the bounds of --seconds' refused 'from 1 to 1000000' --seconds 0
mkdir folder
check 'a snapshot that cannot be is refused at once' refused 'is a folder' --snapshot folder
"$TURNPIKE" serve --socket "@turnpike-test-$$" >serving &
serving=$!
for _ in {1..50}; do
    [[ ! -s serving ]] || break
    sleep 0.1
done
check 'an abstract name that is taken is named' refused "@turnpike-test-$$: another program" \
    --socket "@turnpike-test-$$"
kill $serving
wait $serving
check 'SIGTERM ends serve with 143' test $? -eq 143
# Clients of two buffers, which end where they get neither back.
for compositor in weston sway cage; do
    command -v $compositor >/dev/null || continue
    status=0
    played 3 play --compositor $compositor --seconds 3 --json report.json -- weston-simple-shm \
        >out 2>err </dev/null || status=$?
    ((status == 0)) || cat err >&2
    check "$compositor: a client of two buffers draws on" test $status -eq 0
    check "$compositor: its frames are shown" json_holds '.frames >= 30' report.json
done

# A screen that goes, and another one that comes, while a client draws.
for compositor in weston sway; do
    command -v $compositor >/dev/null || continue
    status=0
    played 7 play --size 1280x720 --compositor $compositor --verbose --plug 3:out,4:in:1024x768@50 --seconds 7 \
        --snapshot plugged.png --json report.json -- weston-simple-damage >out 2>err </dev/null || status=$?
    check "$compositor, plugged: its client draws on" test $status -eq 0
    [[ $compositor != weston ]] || for state in disconnected 'is connected'; do
        check "$compositor, plugged: it says that the screen is $state" \
            grep -q "head 'eDP-1' updated.*$state" err
    done
    check "$compositor, plugged: frames are shown, and for a second none" json_holds '.frames >= 30 and .interval_ms.max > 900' \
        report.json
    check "$compositor, plugged: in its only mode" grep -q '^1024x768$' <(convert plugged.png -format '%wx%h' info:)
    check "$compositor, plugged: the picture is there" grep -qv '^1$' <(convert plugged.png -format '%k' info:)
done
status=0
played 4 play --compositor weston --plug 0:out --seconds 4 --json report.json -- \
    bash -c 'kill -USR2 $PPID; exec weston-simple-damage' >out 2>err </dev/null || status=$?
check 'a compositor that begins without a screen' test $status -eq 0
check 'shows frames once SIGUSR2 has plugged it in' json_holds '.frames >= 30' report.json
status=0
played 3 play --compositor weston --seconds 3 --json report.json -- \
    bash -c 'weston-simple-damage & sleep 1; kill -USR2 $PPID; wait' >out 2>err </dev/null || status=$?
check 'and none once SIGUSR2 has plugged it out' json_holds '.frames < 100' report.json
check 'a plan out of order is refused' refused 'in the order of their times' --plug 2:in,1:out
check 'a mode that cannot be is refused at once' refused 'more pixels a second' --latch 0 \
    --plug 9:in:16384x16384@1000
check 'a latch that the plan has no room for' refused 'give a shorter --latch' --plug 9:in:640x480@800

# Whichever part is killed, nothing of the rest stays.
parts() { # keeper → the keeper, the worker, the compositor
    echo "$1"
    pgrep -P "$1" | head -n 1
    pgrep -P "$(pgrep -P "$1" | head -n 1)" -x weston
}
for which in 0 1 2; do
    name=victim$which
    "$TURNPIKE" play --size 640x480 --compositor weston -- \
        bash -c "echo \$XDG_RUNTIME_DIR >$PWD/$name; exec -a claim-$name sleep 100" >out 2>err </dev/null &
    keeper=$!
    for _ in {1..200}; do
        [[ ! -s $name ]] || break
        sleep 0.1
    done
    mapfile -t pids < <(parts "$keeper")
    check "killing part $which: it was there" test -n "${pids[which]-}"
    kill -9 "${pids[which]}"
    wait "$keeper" 2>/dev/null
    check "killing part $which: the rest has gone" nothing_left "$name" "$(<"$name")"
    for pid in "${pids[@]}"; do
        check "killing part $which: process $pid has gone" bash -c \
            "for _ in {1..50}; do kill -0 $pid 2>/dev/null || exit 0; sleep 0.1; done; exit 1"
    done
done

mkdir fake
printf '#!/bin/sh\n[ "$1" != --version ] || { echo weston 14.0.2; exit; }\necho "$@" >&2\n' >fake/weston
chmod +x fake/weston
status=0
PATH=$PWD/fake:$PATH "$TURNPIKE" play --compositor weston -- true >out 2>err </dev/null || status=$?
check 'a compositor that ends at once: exit status 1' test $status -eq 1
check 'a later weston gets its own options' grep -q -e '--backend=drm --renderer=pixman' err

status=0
"$TURNPIKE" play --compositor mutter -- true >out 2>err </dev/null || status=$?
check 'a compositor without a recipe: exit status 2' test $status -eq 2
check 'and those with one are named' grep -q 'weston, sway, cage' err
status=0
PATH=/nowhere "$TURNPIKE" play --compositor weston -- true >out 2>err </dev/null || status=$?
check 'one that is not installed: exit status 3' test $status -eq 3
check 'and how to install it' grep -q 'apt-get install weston' err
tap_close
