#!/bin/bash
# play and serve --capture, with real programs: what is recorded, that report says of it what play said, and what
# becomes of it where somebody interrupts, kills, or the disk is full.
# timeout: 150
set -uo pipefail
. "$(dirname "$0")/../scripts/mesa.sh"
. "$(dirname "$0")/../frames/clients/lib.sh"
cd "$TP_TMP" || exit 2
need jq kmscube modetest weston vkcube-wayland
direct=$(build_folder)/tests/frames/clients/direct
shim=$(build_folder)/src/frames/shim/libturnpike-drm.so
unset TURNPIKE_SOCKET

started=()
clean_up() {
    ((${#started[@]} == 0)) || kill -KILL "${started[@]}" 2>/dev/null
    ((${#started[@]} == 0)) || wait "${started[@]}" 2>/dev/null
}
trap clean_up EXIT

small=(--size 320x240)

# play, with figures and a capture; the program's standard input stays open, where kmscube looks for a key.
record() { # seconds, arguments...
    local seconds=$1 status=0
    shift
    rm -f play.json run.cap report.json
    played "$seconds" play "${small[@]}" --json play.json --capture run.cap "$@" >out 2>err \
        < <(exec sleep 60 2>/dev/null) || status=$?
    ((status == 0)) || tail -n 20 out err | sed 's/^/# /'
    printf '# %s\n' "$(jq -c '{frames, fps, tears, drops, repeats, on_vblank}' play.json 2>/dev/null)"
    return "$status"
}

figures='{frames, seconds, fps, tears, async_tears, unsafe, repeats, drops, gate_late, on_vblank, spacing_tail,
    interval_ms, cadence, latency_ms, acquire_wait_ms, gate_to_start_ms, release_waits, release_timeouts, slot_waits,
    notes, faults}'
report() { # capture
    "$TURNPIKE" report "$1" -o report.html --json report.json >out 2>err
}
reports_the_same() {
    report run.cap &&
        diff <(jq -S "$figures" play.json) <(jq -S "$figures" report.json) | head -n 20 | sed 's/^/# /' &&
        [[ $(jq -S "$figures" play.json) == $(jq -S "$figures" report.json) ]] &&
        json_holds '.capture.whole and .capture.damaged == 0' report.json
}

# --- a program without our Vulkan driver ---

check 'kmscube is recorded' record 20 -- stdbuf -oL kmscube -D /dev/dri/card0 -c 60
check 'report says of it what play said' reports_the_same
check 'its pictures are the frames of the screen' json_holds \
    '.frames >= 55 and .tears == 0 and ([.guests[].guest] == [65535]) and .guests[0].frames == .frames' report.json
check 'what only a game knows, nobody does' json_holds \
    '.on_vblank == null and .latency_ms == null and .acquire_wait_ms == null and .gate_to_start_ms == null and
     .gate_late == null and .slot_waits == null' report.json
check 'the settings are in it' json_holds \
    '.settings."refresh-mhz" == "60000" and .settings.pipeline == "1" and .settings."lead-ns" == "1650000" and
     (.settings."made-by" | test("^turnpike .* play$"))' report.json
check 'modetest is recorded' record 2 --seconds 2 --refresh 60 --watch off -- sh -c \
    'set -- $(modetest -M turnpike -c | awk "\$3 == \"connected\" { print \$1 }") &&
     exec modetest -M turnpike -s "$1:320x240" -v'
check 'report says the same' reports_the_same
check 'nobody looked for tears' json_holds '.tears == null and .frames > 0' report.json

# --- a game with it ---

check 'a game on the card is recorded' record 10 --gate cap --cap 30 --images 5 -- "$direct" 2
check 'report says of it what play said, too' reports_the_same
check 'every figure is known' json_holds \
    '[.on_vblank, .latency_ms.p99, .acquire_wait_ms.gate, .gate_to_start_ms.max, .gate_late, .unsafe, .release_waits,
      .release_timeouts, .slot_waits, .notes.final, .tears] | all(. != null)' report.json
check 'it runs at its cap' json_holds '.frames > 40 and .fps > 28 and .fps < 31 and .cadence."2" > 30' report.json
check 'its frames are the figures, the screen has none of its own' json_holds \
    '[.guests[] | select(.frames > 3) | .name] == ["direct"]' report.json
check 'and its settings are in it' json_holds '.settings.gate == "cap" and .settings."cap-mhz" == "30000" and
    .settings.images == "5" and .settings."release-fence" == "on"' report.json

check 'two games in a compositor are recorded' record 6 --seconds 4 --compositor weston -- sh -c \
    'vkcube-wayland --width 200 --height 150 & exec vkcube-wayland --width 200 --height 150'
check 'report says of the main one what play said' reports_the_same
check 'both are in it, and what the compositor made of them' json_holds \
    '[.guests[] | select(.frames >= 30) | .name] | sort | map(select(. == "vkcube-wayland")) | length == 2' report.json
check 'composed frames have their first line by the compositor' json_holds \
    '([.guests[] | select(.guest == 65535) | .frames] | first) >= 30 and .latency_ms.p50 > 1' report.json

# --- ends ---

# Until some of it is in the file.
begin_play() { # arguments...
    rm -f run.cap play.json
    "$TURNPIKE" play "${small[@]}" --capture run.cap --json play.json "$@" >out 2>err &
    started=("$!")
    local i
    for ((i = 0; i < 100; i++)); do
        sleep 0.1
        [[ $(stat -c %s run.cap 2>/dev/null || echo 0) -lt 2000 ]] || return 0
    done
    return 1
}
interrupted() {
    local status=0
    begin_play -- "$direct" 60 || return 1
    kill -INT "${started[0]}"
    wait "${started[0]}" || status=$?
    [[ $status -eq 130 ]] && report run.cap && json_holds '.capture.whole and .frames > 20' report.json
}
# Nobody is left to end the game.
killed() {
    local server game
    begin_play -- "$direct" 60 || return 1
    server=$(pgrep -P "${started[0]}")
    game=$(pgrep -P "$server")
    kill -KILL "${started[0]}" $server
    wait "${started[0]}" 2>/dev/null
    kill -KILL $game
    report run.cap
    json_holds '(.capture.whole | not) and .capture.damaged == 0 and .frames > 20' report.json
}
check 'interrupted, it is whole' interrupted
check 'and says what play said' reports_the_same
check 'killed, it is there up to the last second' killed

fails_with() { # status, words, arguments...
    local status=0 expected=$1 words=$2
    shift 2
    "$TURNPIKE" "$@" >out 2>err </dev/null || status=$?
    [[ $status -eq $expected ]] && grep -q -- "$words" err
}
check 'a full disk is said at the end' fails_with 1 '/dev/full: the capture is not whole' \
    play "${small[@]}" --capture /dev/full -- "$direct" 1
check 'where it cannot be written nothing is started' fails_with 2 '/nowhere/run.cap' \
    play "${small[@]}" --capture /nowhere/run.cap -- touch there
check 'nothing at all' test ! -e there
check 'serve says so, too' fails_with 2 '/nowhere/run.cap' serve --socket "$PWD/s" --capture /nowhere/run.cap
check 'it is a file' fails_with 2 'writes a file' play --capture - -- true

# --- serve, and who comes later ---

served() {
    local status=0
    "$TURNPIKE" serve "${small[@]}" --socket "$PWD/drm" --capture serve.cap >serve.out 2>err &
    started=("$!")
    for ((i = 0; i < 100; i++)); do
        [[ ! -s serve.out ]] || break
        sleep 0.1
    done
    sleep 0.5
    printf '{"file_format_version": "1.0.0", "ICD": {"library_path": "%s", "api_version": "1.3.0"}}\n' \
        "$(build_folder)/src/frames/icd/libvulkan_turnpike.so" >icd.json
    TURNPIKE_SOCKET=$PWD/drm VK_ICD_FILENAMES=$PWD/icd.json VK_DRIVER_FILES=$PWD/icd.json LD_PRELOAD=$shim "$direct" 1 >>out 2>>err
    TURNPIKE_SOCKET=$PWD/drm VK_ICD_FILENAMES=$PWD/icd.json VK_DRIVER_FILES=$PWD/icd.json LD_PRELOAD=$shim "$direct" 2 >>out 2>>err
    kill -TERM "${started[0]}"
    wait "${started[0]}" || status=$?
    [[ $status -eq 143 ]] && report serve.cap
}
check 'serve records who comes later' served
check 'one after the other, each a guest of its own' json_holds \
    '.capture.whole and ([.guests[] | select(.name == "direct") | .frames] | length == 2 and min > 20) and
     .frames > 80 and (.settings."made-by" | test("serve$"))' report.json
tap_close
