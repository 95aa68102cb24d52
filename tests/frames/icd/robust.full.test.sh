#!/bin/bash
# Swapchains in large numbers on every kind of surface, without sanitizers, so that what a process keeps can be told:
# 10,000 re-creations, 1,000 sizes, 3,000 frames of each of four swapchains under eight threads.
# timeout: 1800
set -uo pipefail
. "$(dirname "$0")/../../scripts/mesa.sh"
. "$(dirname "$0")/../clients/lib.sh"
cd "$TP_TMP" || exit 2
need meson jq weston Xvfb

export TP_FULL=1
for test in churn threads queues killed; do
    for place in headless display double weston x11; do
        name=icd-$test-$place status=0
        meson test -C "$(build_folder)" --no-rebuild --logbase robust --timeout-multiplier 5 "$name" \
            >out 2>&1 </dev/null || status=$?
        log=$(build_folder)/meson-logs/robust.json
        jq -r '(.stdout // "") + (.stderr // "")' "$log" | grep -E '^re-creations|^sizes|ERROR|LINE' | sed 's/^/# /'
        ((status == 0)) || tail -n 20 out | sed 's/^/# /'
        check "$name" test $status -eq 0
        check "$name did run" grep -q '^Ok: *1 *$' out
    done
done
tap_close
