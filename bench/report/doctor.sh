#!/bin/bash
# doctor.sh [MB]: how much of a log `turnpike doctor` reads in a second of one processor, and in how much
# memory. `grep -c` for one word and `wc -l` on the same log stand beside it: those are the measure, the
# machine's megabytes are not.
#
#   noise     other apps' lines alone
#   findings  every fourth line is one that a rule knows
set -euo pipefail
src=$(cd "$(dirname "$0")/../.." && pwd)
build=${BUILD-$src/build}
mb=${1-256}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

lines() { # with findings, or not
    awk -v findings="$1" 'BEGIN {
        srand(1)
        n = split("the process was scheduled by BufferQueue GPU driver Path vulkan layer surface kgsl " \
            "fault context buffer android.view adreno load library image display", word, " ")
        split("ActivityManager SurfaceFlinger vulkan chatty HWUI PowerHAL WifiHAL MESA libEGL", tag, " ")
        for (i = 0; i < 20000; i++) {
            printf "11-30 12:%02d:%02d.%03d %5d %5d %s %-8s: ", i / 60 % 60, i % 60, i % 1000,
                100 + rand() * 30000, 100 + rand() * 30000, substr("VDIWE", 1 + rand() * 5, 1),
                tag[1 + int(rand() * 9)]
            if (findings && i % 4 == 0)
                printf "Failed to get u_gralloc_buffer_basic_info"
            else
                for (k = 5 + rand() * 15; k > 0; k--)
                    printf "%s ", word[1 + int(rand() * n)]
            print ""
        }
    }'
}

cpu() { # command...: seconds of the processor, the least of five
    local TIMEFORMAT='%U %S'
    for _ in {1..5}; do
        # Findings are exit status 1, and so is nothing found.
        { time "$@" >/dev/null 2>&1 || true; } 2>&1
    done | awk '{ s = $1 + $2; if (!n++ || s < least) least = s } END { print least }'
}

measure() { # name, log, command...
    local name=$1 log=$2 most
    shift 2
    read -r _ _ _ _ most _ < <("$build/bench/repeat" 1 bash -c '"$@"; true' - "$@" "$log")
    awk -v kind="${log##*/}" -v name="$name" -v bytes="$(stat -c %s "$log")" -v s="$(cpu "$@" "$log")" -v most="$most" \
        'BEGIN { printf "%-9s %-8s %6.0f MB/s  %5.1f MB\n", kind, name, bytes / 1e6 / (s > 0 ? s : 0.001), most }'
}

for kind in noise findings; do
    lines "$([[ $kind == noise ]] || echo 1)" >"$work/part"
    while [[ ! -f $work/$kind || $(stat -c %s "$work/$kind") -lt $((mb * 1000000)) ]]; do
        for _ in {1..16}; do cat "$work/part"; done >>"$work/$kind"
    done
    measure doctor "$work/$kind" "$build/turnpike" doctor
    measure 'grep -c' "$work/$kind" grep -c no_such_word
    measure 'wc -l' "$work/$kind" wc -l
done
