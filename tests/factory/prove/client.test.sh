#!/bin/bash
# The client that proves a driver, on Mesa's driver in software, where all that it submits can be
# looked at, and under the validation layer. Functions are called through ok, by name.
# shellcheck disable=SC2317,SC2016
set -u
build=${TP_BUILD:-$(dirname "$TURNPIKE")}
client=$build/src/factory/prove/client/prove-client
tmp=${TP_TMP:-$(mktemp -d)}
trap '[[ -n ${TP_TMP-} ]] || rm -rf "$tmp"' EXIT

n=0 failed=0
ok() { # what it shows, command...
    local name=$1 log
    shift
    n=$((n + 1))
    if log=$("$@" 2>&1); then
        echo "ok $n - $name"
    else
        echo "not ok $n - $name"
        [[ -z $log ]] || printf '%s\n' "$log" | tail -n 20 | sed 's/^/# /'
        failed=1
    fi
}
ends_with() { # status, command...
    local want=$1 status=0
    shift
    "$@" || status=$?
    [[ $status -eq $want ]] || { echo "status $status" && return 1; }
}
holds() { # jq's condition over all lines, file
    jq -es "$1" "$2" >/dev/null || { cat "$2" && return 1; }
}

ok '--list names the checks' grep -q '^  timeline_ahead ' <("$client" --list)
ok 'an unknown check is wrong usage' ends_with 2 "$client" --only fence,nonsense /dev/null
ok 'a number is needed where one is' ends_with 2 "$client" --submits many /dev/null
ok 'a driver that is not there is wrong usage' ends_with 2 "$client" "$tmp/none.so"
printf 'no library' >"$tmp/text.so"
ok 'what is no library fails' ends_with 1 "$client" "$tmp/text.so"
"$client" "$tmp/text.so" >"$tmp/text.out" 2>"$tmp/text.err"
ok 'and says so, down to the last line' holds \
    '(.[0] | .check == "instance" and .ok == false) and .[-1].done' "$tmp/text.out"

lavapipe=$(compgen -G '/usr/lib/*/libvulkan_lvp.so' | head -n 1)
if [[ -z $lavapipe ]]; then
    n=$((n + 1))
    echo "ok $n - the checks hold on Mesa's driver in software # SKIP no mesa-vulkan-drivers here"
    echo "1..$n"
    exit "$failed"
fi
driver() { # output, options...
    local out=$1
    shift
    "$client" --effects all "$@" "$lavapipe" >"$out" 2>"$out.err"
}
ok 'the checks hold on a driver in software, with memory and pixels compared' \
    driver "$tmp/all.out" --threads 3 --submits 300 --empty-submits 20
ok 'its last line says that it is done' holds '.[-1].done' "$tmp/all.out"
ok 'draws, dispatches and queries are among them' holds \
    '[.[] | select(.ok and (.skipped | not)) | .check] | contains(["draw_many", "draw_samples",
        "dispatch_shared", "query_occlusion", "timeline_ahead", "threads", "teardown"])' \
    "$tmp/all.out"
ok 'facts say which device it is' holds \
    '[.[] | select(.fact) | {(.fact): .value}] | add | .device_count == 1 and
        (.device_name | startswith("llvmpipe")) and (.extensions | length) > 50 and
        .features.shaderImageInt64Atomics != null and .drm.advertised == false' "$tmp/all.out"
ok '--only runs those and the frame' driver "$tmp/only.out" --only fence,memory
ok 'by check and by group' holds \
    '[.[] | select(.check).check] == ["instance", "enumerate", "device", "memory_types",
        "memory_many", "memory_offset", "fence", "teardown"]' "$tmp/only.out"
if [[ -e /usr/share/vulkan/explicit_layer.d/VkLayer_khronos_validation.json ]]; then
    ok 'the validation layer has nothing to object' driver "$tmp/layers.out" --layers --threads 2
else
    n=$((n + 1))
    echo "ok $n - the validation layer # SKIP no vulkan-validationlayers here"
fi
echo "1..$n"
exit "$failed"
