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
driver "$tmp/all-plain.out" --threads 2
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

# --- under the validation layer ---
if ! compgen -G '/usr/share/vulkan/explicit_layer.d/VkLayer_khronos_validation.json' >/dev/null; then
    n=$((n + 1))
    echo "ok $n - the validation layer # SKIP no vulkan-validationlayers here"
    echo "1..$n"
    exit "$failed"
fi
unset VK_LAYER_PATH VK_LAYER_ENABLES
layer=$(compgen -G '/usr/lib/*/libVkLayer_khronos_validation.so' | head -n 1)
mkdir -p "$tmp/no-layer" "$tmp/bad-layer" "$tmp/empty-layer"
manifest=VkLayer_khronos_validation.json
echo '{"layer": {"library_path": "./libnone.so"}}' >"$tmp/bad-layer/$manifest"
echo '{}' >"$tmp/empty-layer/$manifest"
objects() { # check that it comes from, pattern, file
    holds "any(.[]; .check == \"validation\" and (.ok | not) and (.detail | test(\"^$1: .*$2\")))
        and any(.[]; .check == \"$1\" and (.ok | not)) and .[-1].done" "$3"
}
says_first() { # pattern, file
    holds ".[0] | .check == \"instance\" and (.ok | not) and (.detail | test(\"$1\"))" "$2"
}

ok 'the validation layer has nothing to object' driver "$tmp/layers.out" --layers --threads 2
ok 'and is really there: it objects to what is wrong' holds \
    'any(.[]; .check == "layer_objects" and .ok and (.skipped | not)) and
        any(.[]; .fact == "validation_layer")' "$tmp/layers.out"
ok 'no check is left out for it' holds \
    '(.[0] | [.[] | select(.skipped).check] | sort) as $plain |
        (.[1] | [.[] | select(.skipped).check] | sort) == ($plain - ["layer_objects"])' \
    <(jq -s . "$tmp/all-plain.out"; jq -s . "$tmp/layers.out")
ok 'its library may be named' driver "$tmp/named.out" --only layers "--layers=$layer"
VK_LAYER_ENABLES=VK_VALIDATION_FEATURE_ENABLE_BEST_PRACTICES_EXT driver "$tmp/strict.out" --layers
ok 'what it says is a failed check' objects instance . "$tmp/strict.out"

VK_LAYER_PATH=$tmp/no-layer driver "$tmp/none.out" --layers
ok 'without a layer that is asked for, the run fails and says so' says_first \
    'khronos_validation.json is not there' "$tmp/none.out"
VK_LAYER_PATH=$tmp/bad-layer driver "$tmp/bad.out" --layers
ok 'so it does when the manifest names a library that is not there' says_first 'bad-layer/./libnone.so' \
    "$tmp/bad.out"
VK_LAYER_PATH=$tmp/empty-layer driver "$tmp/empty.out" --layers
ok 'or none at all' says_first 'names no library' "$tmp/empty.out"
driver "$tmp/other.out" "--layers=$lavapipe"
ok 'or a library that is no layer' says_first 'is not a Vulkan layer' "$tmp/other.out"
for kind in no bad; do
    VK_LAYER_PATH=$tmp/$kind-layer ok "--layers=auto goes without ($kind layer)" \
        driver "$tmp/$kind-auto.out" --layers=auto --only layers
    ok 'and says why' holds 'any(.[]; .fact == "no_validation_layer") and
        any(.[]; .check == "layer_objects" and .skipped)' "$tmp/$kind-auto.out"
done
ok '--layers=auto takes it where it is' holds 'any(.[]; .fact == "validation_layer")' \
    <("$client" --layers=auto --only layers "$lavapipe")
ok 'another word is wrong usage' ends_with 2 "$client" --layers=nonsense "$lavapipe"

# --- entered as Android enters a driver ---
export TP_HMI_DRIVER=$lavapipe
hmi() { # output, options...
    local lavapipe=$build/tests/factory/prove/libhmi.so
    driver "$@"
}
ok 'a driver with HMI is watched too, and has all checks right' hmi "$tmp/hmi.out" --layers --threads 2
ok 'by that entry' holds 'any(.[]; .fact == "entry" and .value == "HMI") and
    any(.[]; .check == "layer_objects" and .ok and (.skipped | not))' "$tmp/hmi.out"
TP_HMI_SPOILED=1 hmi "$tmp/spoiled.out" --layers --only layers
ok 'an instance that does not begin with the word for the loader is a fault' objects instance \
    'vkCreateInstance: the handle begins with' "$tmp/spoiled.out"
echo "1..$n"
exit "$failed"
