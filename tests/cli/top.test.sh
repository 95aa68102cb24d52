#!/bin/bash
# top on a real server with a real game: numbers, a terminal (tmux) of several kinds and sizes, keys and what comes of
# them, servers that end, and the terminal afterwards.
# timeout: 400
set -uo pipefail
. "$(dirname "$0")/../scripts/mesa.sh"
. "$(dirname "$0")/../frames/clients/lib.sh"
cd "$TP_TMP" || exit 2
need tmux jq setpriv
direct=$(build_folder)/tests/frames/clients/direct
unset NO_COLOR COLUMNS TURNPIKE_SOCKET XDG_RUNTIME_DIR

started=()
clean_up() {
    tmux -S tmux kill-server 2>/dev/null
    ((${#started[@]} == 0)) || kill "${started[@]}" 2>/dev/null
    wait
}
trap clean_up EXIT

# --- the terminal ---

tm() {
    tmux -u -S tmux -f /dev/null "$@"
}
shown() {
    tm capture-pane -p -t top
}
keys() { # as tmux names them
    tm send-keys -t top "$@"
}
shows() { # a regular expression; within half a minute
    local end=$((SECONDS + 30))
    while ((SECONDS < end)); do
        shown | grep -qE -e "$1" && return 0
        sleep 0.2
    done
    shown | sed 's/^/# /'
    return 1
}
# A shell that runs top with these settings and arguments, then tells its status.
open_top() { # WIDTHxHEIGHT, env's arguments, --, top's
    local size=$1 settings=()
    shift
    while [[ $1 != -- ]]; do
        settings+=("$1")
        shift
    done
    shift
    tm has-session -t stays 2>/dev/null || tm new-session -d -s stays cat # a server without any ends
    tm kill-session -t top 2>/dev/null
    tm new-session -d -s top -x "${size%x*}" -y "${size#*x}" bash --norc --noprofile
    keys "clear; stty -g >tty.before; env ${settings[*]} '$TURNPIKE' top $*; echo \"status \$?\"; stty -g >tty.after" Enter
}
pid_of_top() {
    pgrep -f "^$TURNPIKE top" | head -n 1
}
# Where the shell has given up on the rest of its line.
ask() {
    sleep 0.5
    keys 'echo "status $?"; stty -g >tty.after' Enter
}
# It has ended with this status, and the terminal is as it was.
left() { # status
    shows "^status $1\$" && sleep 0.3 && cmp -s tty.before tty.after &&
        [[ $(tm display -p -t top '#{cursor_flag} #{alternate_on}') == '1 0' ]]
}

# --- a server with a game ---

"$TURNPIKE" play --size 320x240 --socket "$PWD/drm" -- "$direct" 1000 >play.out 2>play.err </dev/null &
started+=($!)
for ((i = 0; i < 100; i++)); do
    [[ -S drm ]] && "$TURNPIKE" top --socket drm --json first.json --seconds 1 2>/dev/null &&
        json_holds '.guests[0].frames > 60' first.json && break
    sleep 0.3
done
jq -c '.guests[] | {name, pid, fps_now, frames, images, verdict}' first.json | sed 's/^/# /'
check 'JSON: the screen' json_holds '.schema == 1 and (.screens | length) == 1 and
    (.screens[0] | .width == 320 and .height == 240 and .refresh_hz == 60 and .tears == 0)' first.json
check 'JSON: the game, by name and process' json_holds '.guests[0].name == "direct" and .guests[0].pid > 1' first.json
check 'JSON: its figures have the names of simulate' json_holds '.guests[0] | .interval_ms.p50 > 1 and
    .latency_ms.p99 > 1 and .cadence != {} and (.acquire_wait_ms | has("slot", "release", "gate")) and
    .release_timeouts >= 0 and .gate == "vsync" and .cap == 0' first.json
check 'JSON: its slots' json_holds '.guests[0] | (.slots | length) == .images and .images >= 3' first.json
"$TURNPIKE" top --socket drm --json - --seconds 1 >said 2>err
check 'JSON on standard output is alone there' json_holds '.guests | length > 0' said
at=$PWD
check 'from a folder that nothing can be written in, too' bash -c 'cd /proc && "$1" top --socket "$2/drm" --json - --seconds 1' \
    - "$TURNPIKE" "$at"

"$TURNPIKE" top --socket drm --once >said 2>err </dev/null
check '--once: one picture' grep -qE '^▶ direct +[0-9]+ +[0-9]+\.[0-9]{2} +off +vsync' said
check 'with frames, stays, intervals, waits, counts, latency, slots and notes' bash -c '
    for word in frames stays intervals waits counts latency slots notes; do grep -qE "^$word( |$)" said || exit 1; done'
check 'and the same numbers as JSON: images' grep -qE "off +vsync +$(jq '.guests[0].images' first.json) " said
check 'as wide as COLUMNS says' bash -c '(($(COLUMNS=40 "$1" top --socket drm --once --seconds 1 | wc -L) == 40))' \
    - "$TURNPIKE"
check 'where no terminal is, that is what there is' bash -c \
    '"$1" top --socket drm --seconds 1 </dev/null | grep -q "^▶ direct"' - "$TURNPIKE"
check 'a picture in a file has no escapes' bash -c '! grep -q $'\''\033'\'' said'
check 'LC_ALL=C: ASCII alone' bash -c 'LC_ALL=C "$1" top --socket drm --once --seconds 1 >said &&
    grep -q "^> direct" said && ! LC_ALL=C grep -q "[^ -~]" said' - "$TURNPIKE"

# --- sizes, colours, alphabets ---

open_top 80x24 TERM=xterm-256color -- --socket drm
check '80x24: a game, live' shows '^▶ direct +[0-9]+ +[0-9.]+ +off +vsync'
check 'and a sentence on how it does' shows 'frames a second'
shown >picture
check 'with the screen' grep -q '^screen     320x240   60.00 Hz   tears 0' picture
check 'release waits beside slot waits beside the gate' grep -qE 'release [0-9.]+ \| slot [0-9.]+ \| gate [0-9.]+ ms' picture
check 'in colours' bash -c "tmux -S tmux capture-pane -e -p -t top | grep -q $'\\033\\[[0-9;]*3[1-6]m'"
tm resize-window -t top -x 132 -y 43
check '132x43: more of it' shows 'LATENCY +LATE'
check 'as wide as that' bash -c '(($(tmux -S tmux capture-pane -p -t top | wc -L) > 120))'
tm resize-window -t top -x 40 -y 12
check '40x12: less of it' shows '^▶ direct +[0-9.]+ +off +vsync$'
tm resize-window -t top -x 20 -y 5
check '20x5: the rate' shows '^▶ direct +[0-9.]+$'
tm resize-window -t top -x 80 -y 24
keys q
check 'q is the end, and leaves the terminal as it was' left 0

open_top 80x24 TERM=xterm-256color NO_COLOR=1 -- --socket drm
check 'NO_COLOR: it is shown' shows '^▶ direct'
check 'without a colour' bash -c "! tmux -S tmux capture-pane -e -p -t top | grep -q $'\\033\\[[0-9;]*[34][0-7]m'"
check 'but with weight' bash -c "tmux -S tmux capture-pane -e -p -t top | grep -q $'\\033\\[[0-9;]*1m'"
keys C-c
ask
check 'Ctrl-C is an end of its own' left 130
open_top 80x24 TERM=xterm LC_ALL=C -- --socket drm
check 'LC_ALL=C: it is shown' shows '^> direct'
check 'in ASCII' bash -c '! tmux -S tmux capture-pane -p -t top | LC_ALL=C grep -q "[^ -~]"'
kill -TERM "$(pid_of_top)"
check 'SIGTERM ends it' left 143
open_top 80x24 TERM=dumb -- --socket drm
check 'TERM=dumb: status 3' left 3
check 'and what to use instead' grep -q 'use `turnpike top --once`' <(shown)

# --- keys, and what comes of them ---

open_top 80x24 TERM=xterm -- --socket drm
shows '^▶ direct' >/dev/null
keys c
check 'c: a cap, as the game tells' shows '^cap 30, for all guests\.'
check 'it is in the table' shows '^▶ direct +[0-9]+ +[0-9.]+ +30 '
sleep 3
"$TURNPIKE" top --socket drm --json capped.json --seconds 1
check 'the rate follows' json_holds '.guests[0] | .cap == 30 and .fps_now > 5 and .fps_now < 31' capped.json
# A machine with other work has a hitch now and then, and the frame behind it is short: some second has none.
no_short_frame() {
    local i
    for i in 1 2 3 4 5; do
        json_holds '.guests[0].cadence | has("2") and (has("1") | not)' capped.json && return
        "$TURNPIKE" top --socket drm --json capped.json --seconds 1
    done
    return 1
}
check 'each stays for two refreshes or more' no_short_frame
keys C
check 'C: and back' shows '^cap off, for all guests\.'
keys 4 5
check 'a number is asked about' shows '^45_  Enter: cap'
keys Enter
check 'and is a cap' shows '^cap 45, for all guests\.'
keys g
check 'g: the next gate' shows '^gate cap, for all guests\.'
check 'it is in the table, too' shows '^▶ direct +[0-9]+ +[0-9.]+ +45 +cap'
keys 7 7 r
check 'a refresh that the screen has not is told' shows 'refresh 77 Hz was asked for; the screen stays at 60 Hz'
keys p
check 'p: a pause' shows 'PAUSED$'
keys p
check 'p: and on' shows 'live$'
keys '?'
check '?: what it all means' shows '^waits +of an acquire'
keys '?'
check 'and back' shows '^▶ direct'
keys C-z
check 'Ctrl-Z gives the terminal back' shows 'Stopped'
check 'with its cursor' test "$(tm display -p -t top '#{cursor_flag} #{alternate_on}')" = '1 0'
keys fg Enter
check 'fg: it goes on' shows '^▶ direct'
kill -SEGV "$(pid_of_top)"
ask
check 'a fault of its own leaves the terminal as it was' left 139

# --- servers ---

# One that ends while it is watched.
"$TURNPIKE" play --seconds 5 --size 320x240 --socket "$PWD/short" -- "$direct" 1000 >short.out 2>&1 </dev/null &
started+=($!)
for ((i = 0; i < 100; i++)); do [[ -S short ]] && break || sleep 0.05; done
sleep 0.5
"$TURNPIKE" top --socket short --json short.json --seconds 100 >said 2>err
check 'a server that ends while it is watched: status 1' test $? -eq 1
check 'is told, and that nothing is lost' grep -q 'the server has ended; what was watched until then is written' err
check 'the file has its last numbers' json_holds '.guests[0] | .name == "direct" and .frames > 30' short.json

cp capped.json earlier.json
check 'a file is written whole or not at all' bash -c \
    '! "$1" top --socket none --json capped.json 2>err && cmp -s capped.json earlier.json' - "$TURNPIKE"
check 'no server: what to do' grep -q 'what to do: start one with `turnpike serve` or `turnpike play`' err
mkdir runtime
XDG_RUNTIME_DIR=$PWD/runtime "$TURNPIKE" play -- sleep 1000 >/dev/null 2>&1 &
started+=($!)
check "the one play's socket is found" bash -c '
    for ((i = 0; i < 50; i++)); do
        XDG_RUNTIME_DIR=$PWD/runtime TMPDIR=$PWD/none "$1" top --once --seconds 1 >said 2>err && break
        sleep 0.2
    done
    grep -q "No guest yet" said' - "$TURNPIKE"
if ((EUID == 0)); then
    "$TURNPIKE" serve --socket "@top-test-$$" >/dev/null 2>&1 &
    started+=($!)
    check "another user is not let in, and is told" bash -c '
        for ((i = 0; i < 50; i++)); do
            setpriv --reuid=65534 --clear-groups "$1" top --socket "$2" --once >said 2>err
            grep -q "does not let" err && break
            sleep 0.2
        done
        grep -q "does not let this user in" err' - "$TURNPIKE" "@top-test-$$"
fi

"$TURNPIKE" serve --socket "$PWD/second" >served 2>&1 &
server=$!
started+=($server)
for ((i = 0; i < 100; i++)); do grep -q TURNPIKE_SOCKET served && break || sleep 0.1; done
open_top 80x24 TERM=xterm -- --socket second
check 'a server without a guest: how to begin' shows 'Start one with `turnpike play`'
kill -9 $server
check 'a server that ends is told' shows 'SERVER ENDED'
keys c
check 'and is asked nothing' shows 'There is no server to ask'
"$TURNPIKE" serve --socket "$PWD/second" >served 2>&1 &
started+=($!)
check 'the next one is met' shows 'live$'
keys q
check 'q after all that' left 0
tap_close
