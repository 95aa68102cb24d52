#!/bin/bash
# The log of a client: JSON in every line, each call with its result, books that balance.
# timeout: 120
set -uo pipefail
. "$(dirname "$0")/../../scripts/mesa.sh"
build=$(build_folder)
library=$build/src/factory/kgsl/libturnpike-kgsl.so
client=$build/tests/factory/kgsl/kgsl_client_test
log=$TP_TMP/log

quiet_jq() { # filter over the list of lines, file
    jq -es "$@" >"$TP_TMP/jq"
}

run_client() { # variables...
    rm -f "$log"
    env "$@" TURNPIKE_KGSL_HANG_MS=30000 TURNPIKE_KGSL_LOG="$log" LD_PRELOAD="$library" \
        timeout 60 "$client"
}

run_client A=1 >"$TP_TMP/out" 2>&1
check 'the client passes' test $? -eq 0
check 'every line is an object' quiet_jq 'all(type == "object")' "$log"
check 'every line tells when, who and what' \
    quiet_jq 'all(has("t") and has("pid") and has("tid") and has("call"))' "$log"
check 'calls tell their result, failures their errno' \
    quiet_jq 'map(select(has("fd"))) | all(has("ret") and (.ret != -1 or has("errno")))' "$log"
check 'submits tell their commands' \
    quiet_jq 'map(select(.call == "GPU_COMMAND" and .ret == 0)) |
        all(has("timestamp") and (.commands | length > 0))' "$log"
check 'each submit that retired was run once' \
    quiet_jq '([.[] | select(.call == "gpu") | [.pid, .context, .timestamp]] | length) ==
        ([.[] | select(.call == "gpu") | [.pid, .context, .timestamp]] | unique | length)' "$log"
check 'the books have no fault of the GPU' \
    quiet_jq 'map(select(.call == "close")) | all(.gpu_faults == 0 and .bad_packets == 0)' "$log"

# A wrong setting gives no device, and says why.
run_client TURNPIKE_KGSL_CHIP=nothing >"$TP_TMP/out" 2>&1
check 'a wrong chip: the client fails' test $? -ne 0
check 'a wrong chip: it is named' grep -q 'TURNPIKE_KGSL_CHIP=nothing' "$TP_TMP/out"

# Many clients at once write one log.
for i in 1 2 3 4; do
    TURNPIKE_KGSL_HANG_MS=30000 TURNPIKE_KGSL_LOG="$TP_TMP/shared" LD_PRELOAD="$library" \
        timeout 60 "$client" >"$TP_TMP/out$i" 2>&1 &
done
wait
check 'four clients at once: every line of their log is whole' \
    quiet_jq 'all(type == "object") and ([.[].pid] | unique | length) >= 4' "$TP_TMP/shared"
tap_close
