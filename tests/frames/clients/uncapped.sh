# shellcheck shell=bash
# As fast as it can be drawn: no gate, no cap. With release notes nothing tears; without them pictures do. Sourced by
# uncapped.test.sh and uncapped.full.test.sh.

need jq
direct=$(build_folder)/tests/frames/clients/direct
rows=()

# One run, its row of the table, and what is always so.
uncapped() { # what, seconds, Hz, images (0: as many as usual), on|off, play's arguments...
    local what=$1 seconds=$2 hz=$3 images=$4 fence=$5 status=0 name
    shift 5
    name="$what, $hz Hz, ${images/#0/usual} images, fences $fence"
    rm -f report.json
    ((images == 0)) || set -- --images "$images" "$@"
    played "$seconds" play --size 1280x720 --refresh "$hz" --gate off --release-fence "$fence" --seconds "$seconds" \
        --json report.json "$@" >out 2>err </dev/null || status=$?
    ((status == 0)) || tail -n 30 err | sed 's/^/# /'
    check "$name: runs for its time" test $status -eq 0
    rows+=("$(jq -r --arg what "$what" --arg seconds "$seconds" --arg hz "$hz" --arg images "${images/#0/-}" \
        --arg fence "$fence" '[$what, $hz, $images, $fence, $seconds, .frames, .notes.final, .tears,
            .async_tears, (.watched * 1000 | round / 1000)] | "| " + (map(tostring) | join(" | ")) + " |"' report.json)")
    if [[ $fence == on ]]; then
        check "$name: nothing tears, by notes" json_holds \
            '.tears == 0 and .frames >= 20 and .notes.final >= 20' report.json
    else
        check "$name: there are no notes" json_holds '.frames >= 20 and .notes.final == 0' report.json
    fi
}

# The last run's pictures were seen, not guessed at, and each note came.
was_watched() { # share
    check "  what was shown was watched, and no note is lost" json_holds \
        ".watched >= $1 and .notes.lost == 0" report.json
}
# Async flips are too short and too many for that: where a reader is late notes are lost, and the board stands for
# them. Of a hundred pictures a refresh few are seen whole, and of thousands enough: see breaks_the_rules.
was_glimpsed() {
    check '  what was shown was watched now and then' json_holds '.watched >= 0.003 and .async_tears >= 20' report.json
}
# The last run, without notes or against the rules, tore: else the others would prove nothing.
has_torn() {
    check "  it tears" json_holds '.tears > 0' report.json
}

# A game on the screen itself.
on_screen() { # seconds, Hz, images, on|off, present mode
    uncapped "on the screen, $5" "$1" "$2" "$3" "$4" -- "$direct" 1000 "$5"
}
# What async flips are tested against: with release notes or without, a picture is off the screen at once, so that
# without them it may tear or not. One that is drawn again after its present must, and be seen to.
breaks_the_rules() { # seconds, Hz, images
    local name="on the screen, immediate, drawn over, $2 Hz, $3 images" status=0
    played "$1" play --size 1280x720 --refresh "$2" --gate off --images "$3" --seconds "$1" --json report.json -- \
        "$direct" 1000 immediate over >out 2>err </dev/null || status=$?
    check "$name: runs for its time" test $status -eq 0
    was_glimpsed
    has_torn
}
# vkcube, MAILBOX, in gamescope.
in_gamescope() { # seconds, Hz, images, on|off
    uncapped 'vkcube in gamescope, mailbox' "$1" "$2" "$3" "$4" --compositor gamescope --driver "$lavapipe" -- \
        vkcube --width 640 --height 360 --present_mode 1
}

table() {
    printf '# %s\n' '| | Hz | images | fences | seconds | pictures | notes | tears | async | watched |' \
        '|---|--:|--:|---|--:|--:|--:|--:|--:|--:|' "${rows[@]}"
}
