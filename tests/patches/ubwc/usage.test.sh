#!/bin/bash
# The usage patch on newer Mesas, where the runtime answers for every driver: the fixtures of those
# eras are patched, compiled with stand-ins for the rest of the runtime, and asked. Then the same with
# the vendor bit where it must not be, in the conversion that import validation shares: noticed.
# timeout: 120
set -uo pipefail
. "$(dirname "$0")/../../scripts/mesa.sh"
export TURNPIKE_DATADIR=$TP_SRC
here=$TP_SRC/tests/patches/ubwc

compile() { # patched tree, program, more...
    local tree=$1 program=$2
    shift 2
    gcc -std=gnu11 -Wall -Wextra -Wno-unused-function -Wno-unused-parameter -Werror \
        -fsanitize=address,undefined -g -DANDROID_API_LEVEL=34 "$@" \
        -I "$tree/src/vulkan/runtime" -I "$here/mesa" \
        "$here/usage.c" "$tree/src/vulkan/runtime/vk_android.c" -o "$program"
}

# Its TAP lines under our numbers.
show() { # prefix, output
    local line
    while IFS= read -r line; do
        case $line in
        'ok '*) tap 0 "$1: ${line#ok * - }" ;;
        'not ok '*) tap 1 "$1: ${line#not ok * - }" ;;
        *) printf '%s\n' "$line" ;;
        esac
    done <"$2"
}

for era in 2025-12 main; do
    tree=$TP_TMP/$era
    more=()
    [[ $era != main ]] || more=(-DCPU_BIT_ON_MUTABLE)
    cp -r "$TP_SRC/tests/factory/edit/eras/$era" "$tree"
    "$TURNPIKE" patch "$tree" --target android-arm64 --variant b >"$TP_TMP/table"
    check "$era: the patch set applies" test $? -eq 0
    check "$era: compiles" compile "$tree" "$TP_TMP/$era.program" "${more[@]}"
    "$TP_TMP/$era.program" >"$TP_TMP/$era.out"
    check "$era: answers all" test "$(grep -cE '^(not )?ok ' "$TP_TMP/$era.out")" -eq 9
    show "$era" "$TP_TMP/$era.out"

    sed -i '/^vk_image_usage_to_ahb_usage(/,/^}/s/uint64_t ahb_usage = 0;/uint64_t ahb_usage = UINT64_C(1) << 28;/' \
        "$tree/src/vulkan/runtime/vk_android.c"
    check "$era, the bit in the conversion: compiles" compile "$tree" "$TP_TMP/$era.wrong" "${more[@]}"
    "$TP_TMP/$era.wrong" >"$TP_TMP/$era.wrong.out"
    check "$era, the bit in the conversion: import validation notices, and more" bash -c \
        "grep -q '^not ok .*import validation compares' '$TP_TMP/$era.wrong.out' &&
         grep -q '^not ok .*linear tiling' '$TP_TMP/$era.wrong.out' &&
         grep -q '^not ok .*leaves the field 0' '$TP_TMP/$era.wrong.out' &&
         grep -q '^ok .* a render target' '$TP_TMP/$era.wrong.out'"
done
tap_close
