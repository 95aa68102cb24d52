#!/bin/bash
# A real driver on the simulated device, chip by chip: from its file to a submit and back, with the
# books balanced. (Under fault schedules: tests/cli/build.test.sh.) TURNPIKE_KGSL_DRIVER names a
# driver of the target host-android or host that is there already, TURNPIKE_KGSL_STUBS the folder of
# Mesa's android_stub libraries; without them the driver is built.
# timeout: 2400
set -uo pipefail
. "$(dirname "$0")/../../scripts/mesa.sh"
build=$(build_folder)
library=$build/src/factory/kgsl/libturnpike-kgsl.so
client=$build/tests/factory/kgsl/vulkan_client
driver=${TURNPIKE_KGSL_DRIVER-} stubs=${TURNPIKE_KGSL_STUBS-}

if [[ -z $driver ]]; then
    cp -r "$(mesa_pristine)" "$TP_TMP/mesa" || exit
    driver=$TP_TMP/driver.so
    "$build/tests/factory/recipe/recipe_tool" host-android "$TP_TMP/mesa" "$TP_TMP/driver" \
        "$driver" >&2 || exit
    stubs=$TP_TMP/driver/src/android_stub
fi

run_chip() { # chip, variables...
    local chip=$1
    shift
    rm -f "$TP_TMP/log"
    env "$@" TURNPIKE_KGSL_CHIP="$chip" TURNPIKE_KGSL_LOG="$TP_TMP/log" LD_LIBRARY_PATH="$stubs" \
        LD_PRELOAD="$library" timeout 10 "$client" "$driver" 3 >"$TP_TMP/result" 2>"$TP_TMP/errors"
}

json_slurped() { # filter over the list of lines, file
    jq -es "$@" >"$TP_TMP/jq"
}

balanced='[.[] | select(.call == "close" or .call == "exit")] | length > 0 and
    all(.leaked_buffers == 0 and .leaked_contexts == 0 and .leaked_timelines == 0 and
        .pending_jobs == 0 and .pending_fences == 0 and .gpu_faults == 0 and .bad_packets == 0)'

for chip in 618 650 725 730 740 750 X1-85; do
    run_chip "$chip"
    check "$chip: creates, submits, waits, reads right results" test $? -eq 0
    check "$chip: nothing is left" json_slurped "$balanced" "$TP_TMP/log"
done
for chip in 810 830 840; do
    run_chip "$chip" TURNPIKE_KGSL_KERNEL=old
    check "$chip: this Mesa has no such device" test $? -eq 3
done

tap_close
