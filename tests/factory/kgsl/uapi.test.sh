#!/bin/bash
# Our declarations of KGSL's interface against Mesa's header, for x86-64 and, where its compiler is,
# arm64; and the table of chips against Mesa's.
# timeout: 300
set -uo pipefail
. "$(dirname "$0")/../../scripts/mesa.sh"
pristine=$(mesa_pristine) || exit
here=$(dirname "$0")

for compiler in cc aarch64-linux-gnu-gcc; do
    command -v $compiler >/dev/null || continue
    check "$compiler: numbers, sizes and fields are Mesa's" $compiler -std=gnu11 -fsyntax-only \
        -I "$TP_SRC/src" -I "$pristine/src/freedreno/vulkan" "$here/uapi_check.c"
done

# Every A6xx and A7xx id of Mesa's table that 32 bits reach is a chip here, by Mesa's name. gpu_id
# entries (GPUId(650)) stand for core, major and minor; ids whose upper part is all ones for their
# lower part.
"$TURNPIKE" chips "$pristine" --json - >"$TP_TMP/chips.json"
check 'chips lists the pristine tree' test $? -eq 0
jq -r '.chips[] | select(.generation == "A6XX" or .generation == "A7XX") | .name as $n |
    .chip_ids[] | "\(.) \($n)"' "$TP_TMP/chips.json" >"$TP_TMP/ids"
check 'there are some' test "$(wc -l <"$TP_TMP/ids")" -gt 20
while read -r id name; do
    value=$((id))
    fuse=$((value >> 32 & 0xffff))
    [[ $fuse -eq 0 || $fuse -eq $((0xffff)) ]] || continue
    printf '%s\n' "$name"
done <"$TP_TMP/ids" | sort -u >"$TP_TMP/wanted"
sed -n 's/^    {"\([^"]*\)", "Adreno.*/\1/p' "$TP_SRC/src/factory/kgsl/chips.c" | sort >"$TP_TMP/have"
comm -23 "$TP_TMP/wanted" "$TP_TMP/have" >"$TP_TMP/missing"
check "no chip of Mesa's is missing ($(paste -sd, "$TP_TMP/missing"))" test ! -s "$TP_TMP/missing"
tap_close
