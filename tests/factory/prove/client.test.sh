#!/bin/bash
# The client that proves a driver, on Mesa's driver in software, where all that it submits can be
# looked at, and under the validation layer. Functions are called through check, by name.
# shellcheck disable=SC2317,SC2016
set -u
. "$(dirname "$0")/../../scripts/mesa.sh"
build=${TP_BUILD:-$(dirname "$TURNPIKE")}
client=$build/src/factory/prove/client/prove-client
tmp=${TP_TMP:-$(mktemp -d)}
trap '[[ -n ${TP_TMP-} ]] || rm -rf "$tmp"' EXIT

ends_with() { # status, command...
    local want=$1 status=0
    shift
    "$@" || status=$?
    [[ $status -eq $want ]] || { echo "status $status" && return 1; }
}
holds() { # jq's condition over all lines, file
    jq -es "$1" "$2" >/dev/null || { cat "$2" && return 1; }
}

check '--list names the checks' grep -q '^  timeline_ahead ' <("$client" --list)
check 'an unknown check is wrong usage' ends_with 2 "$client" --only fence,nonsense /dev/null
check 'a number is needed where one is' ends_with 2 "$client" --submits many /dev/null
check 'a driver that is not there is wrong usage' ends_with 2 "$client" "$tmp/none.so"
printf 'no library' >"$tmp/text.so"
check 'what is no library fails' ends_with 1 "$client" "$tmp/text.so"
"$client" "$tmp/text.so" >"$tmp/text.out" 2>"$tmp/text.err"
check 'and says so, down to the last line' holds \
    '(.[0] | .check == "instance" and .ok == false) and .[-1].done' "$tmp/text.out"

lavapipe=$(compgen -G '/usr/lib/*/libvulkan_lvp.so' | head -n 1)
check "Mesa's driver in software is here" test -f "$lavapipe"
driver() { # output, options...
    local out=$1
    shift
    "$client" --effects all "$@" "$lavapipe" >"$out" 2>"$out.err"
}
check 'the checks hold on a driver in software, with memory and pixels compared' \
    driver "$tmp/all.out" --threads 3 --submits 300 --empty-submits 20
driver "$tmp/all-plain.out" --threads 2
check 'its last line says that it is done' holds '.[-1].done' "$tmp/all.out"
check 'draws, dispatches and queries are among them' holds \
    '[.[] | select(.ok and (.skipped | not)) | .check] | contains(["draw_many", "draw_samples",
        "dispatch_shared", "query_occlusion", "timeline_ahead", "threads", "teardown"])' \
    "$tmp/all.out"
check 'facts say which device it is' holds \
    '[.[] | select(.fact) | {(.fact): .value}] | add | .device_count == 1 and
        (.device_name | startswith("llvmpipe")) and (.extensions | length) > 50 and
        .features.shaderImageInt64Atomics != null and .drm.advertised == false' "$tmp/all.out"
check '--only runs those and the frame' driver "$tmp/only.out" --only fence,memory
check 'by check and by group' holds \
    '[.[] | select(.check).check] == ["instance", "enumerate", "device", "memory_types",
        "memory_many", "memory_offset", "fence", "teardown"]' "$tmp/only.out"

# --- under the validation layer ---
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

check 'the validation layer has nothing to object' driver "$tmp/layers.out" --layers --threads 2
check 'and is really there: it objects to what is wrong' holds \
    'any(.[]; .check == "layer_objects" and .ok and (.skipped | not)) and
        any(.[]; .fact == "validation_layer")' "$tmp/layers.out"
check 'no check is left out for it' holds \
    '(.[0] | [.[] | select(.skipped).check] | sort) as $plain |
        (.[1] | [.[] | select(.skipped).check] | sort) == ($plain - ["layer_objects"])' \
    <(jq -s . "$tmp/all-plain.out"; jq -s . "$tmp/layers.out")
check 'its library may be named' driver "$tmp/named.out" --only layers "--layers=$layer"
VK_LAYER_ENABLES=VK_VALIDATION_FEATURE_ENABLE_BEST_PRACTICES_EXT driver "$tmp/strict.out" --layers
check 'what it says is a failed check' objects instance . "$tmp/strict.out"

VK_LAYER_PATH=$tmp/no-layer driver "$tmp/none.out" --layers
check 'without a layer that is asked for, the run fails and says so' says_first \
    'khronos_validation.json is not there' "$tmp/none.out"
VK_LAYER_PATH=$tmp/bad-layer driver "$tmp/bad.out" --layers
check 'so it does when the manifest names a library that is not there' says_first 'bad-layer/./libnone.so' \
    "$tmp/bad.out"
VK_LAYER_PATH=$tmp/empty-layer driver "$tmp/empty.out" --layers
check 'or none at all' says_first 'names no library' "$tmp/empty.out"
driver "$tmp/other.out" "--layers=$lavapipe"
check 'or a library that is no layer' says_first 'is not a Vulkan layer' "$tmp/other.out"
for kind in no bad; do
    VK_LAYER_PATH=$tmp/$kind-layer check "--layers=auto goes without ($kind layer)" \
        driver "$tmp/$kind-auto.out" --layers=auto --only layers
    check 'and says why' holds 'any(.[]; .fact == "no_validation_layer") and
        any(.[]; .check == "layer_objects" and .skipped)' "$tmp/$kind-auto.out"
done
check '--layers=auto takes it where it is' holds 'any(.[]; .fact == "validation_layer")' \
    <("$client" --layers=auto --only layers "$lavapipe")
check 'another word is wrong usage' ends_with 2 "$client" --layers=nonsense "$lavapipe"

# --- entered as Android enters a driver ---
export TP_HMI_DRIVER=$lavapipe
hmi() { # output, options...
    local lavapipe=$build/tests/factory/prove/libhmi.so
    driver "$@"
}
check 'a driver with HMI is watched too, and has all checks right' hmi "$tmp/hmi.out" --layers --threads 2
check 'by that entry' holds 'any(.[]; .fact == "entry" and .value == "HMI") and
    any(.[]; .check == "layer_objects" and .ok and (.skipped | not))' "$tmp/hmi.out"
TP_HMI_SPOILED=1 hmi "$tmp/spoiled.out" --layers --only layers
check 'an instance that does not begin with the word for the loader is a fault' objects instance \
    'vkCreateInstance: the handle begins with' "$tmp/spoiled.out"
tap_close
