#!/bin/bash
# Both variants of the host-android driver from real Mesa, from one build folder and without a
# compiler cache; then p alone in another folder, deeper and on another day: the same bytes.
# timeout: 2700
set -uo pipefail
. "$(dirname "$0")/../scripts/mesa.sh"
. "$(dirname "$0")/../patches/redmagic.sh"
export TURNPIKE_DATADIR=$TP_SRC CCACHE_DISABLE=1
pristine=$(mesa_pristine) || exit
cd "$TP_TMP" || exit 2
out=$TP_TMP/out

"$TURNPIKE" build --mesa "$pristine" --target host-android --out "$out" --json - >stdout.json
check 'build: exit status 0' test $? -eq 0
check 'build: standard output carries the summary alone' cmp stdout.json "$out/summary.json"
summary=$out/summary.json
s() { jq -r "$1" "$summary"; }

check 'summary: the fields of the contract' json_holds '
    .turnpike and .schema == 1 and .mesa.version == "25.0.7" and (.mesa|has("source") and has("revision") and has("sha256"))
    and .target == "host-android" and (.archives|length) == 2 and (.patches|length) == 2
    and all(.patches[]; .clean and .mesa_version == "25.0.7") and (.proof|length) == 2 and all(.proof[]; .ok)
    and (.seconds.first_variant > 0) and (.seconds.other_variants > 0)' "$summary"
for i in 0 1; do
    path=$(s ".archives[$i].path") variant=$(s ".archives[$i].variant")
    archive=$out/$path
    check "$variant: the archive's name" test "$path" = "WN-Host-Android-Turnip-25.0.7-${variant}_Axxx.zip"
    check "$variant: its hash is the summary's" test \
        "$(sha256sum <"$archive" | cut -d' ' -f1)" = "$(s ".archives[$i].sha256")"
    check "$variant: unzip -t" unzip -tq "$archive"
    mkdir "$variant" && unzip -q "$archive" -d "$variant"
    check "$variant: two flat entries" test "$(cd "$variant" && echo *)" = 'libvulkan_freedreno.so meta.json'
    check "$variant: meta.json has the nine keys" test "$(jq -r 'keys|join(" ")' "$variant/meta.json")" = \
        'author description driverVersion libraryName minApi name packageVersion schemaVersion vendor'
    check "$variant: the driver's version" test \
        "$(jq -r .driverVersion "$variant/meta.json")" = "WN-25.0.7-$variant"
    check "$variant: the driver's hash is the summary's" test \
        "$(sha256sum <"$variant/libvulkan_freedreno.so" | cut -d' ' -f1)" = "$(s ".archives[$i].driver_sha256")"
    readelf -Wd "$variant/libvulkan_freedreno.so" >dynamic
    check "$variant: SONAME" grep -q 'SONAME.*\[libvulkan_freedreno.so\]' dynamic
    check "$variant: no RUNPATH" bash -c '! grep -qE "RUNPATH|RPATH|TEXTREL" dynamic'
    readelf -W --dyn-syms "$variant/libvulkan_freedreno.so" >symbols
    check "$variant: exports HMI and nothing else" test \
        "$(awk '$5 != "LOCAL" && $7 != "UND" && $7 != "Ndx" && NF == 8 {print $8}' symbols | grep -v '^_\(init\|fini\)$')" = HMI
    check "$variant: refers to no atrace_*" bash -c '! grep -q atrace_ symbols'
    check "$variant: readelf sees the note" bash -c \
        "readelf -Wn '$variant/libvulkan_freedreno.so' | grep -q turnpike"
    check "$variant: a receipt beside the archive names every edit with hashes" json_holds '
        [.patch_receipt.patches[].edits[]|select(.state=="applied")]|length > 15 and
        all(.[]; .file and .line > 0 and (.after_sha256|length) == 64)' "$archive.receipt.json"
done
check 'p logs a refused power constraint; b has no such thing' bash -c \
    'grep -q "KGSL refuses the power constraint" p/libvulkan_freedreno.so &&
     ! grep -q "KGSL refuses the power constraint" b/libvulkan_freedreno.so'
check 'both carry the IMapper 5 backend' bash -c \
    'grep -q "Using IMapper v5 stable-C API via SP-HAL" b/libvulkan_freedreno.so &&
     grep -q "Using IMapper v5 stable-C API via SP-HAL" p/libvulkan_freedreno.so'
for variant in b p; do
    redmagic_checks "$PWD/$variant/libvulkan_freedreno.so" "display fix, $variant"
done
echo "# first variant $(s .seconds.first_variant) s, second $(s .seconds.other_variants) s"

# On simulated chips: every A6xx and A7xx of the table that KGSL can name.
# And under a hundred fault schedules, other ones for each variant.
declare -A first_seed=([b]=1 [p]=101)
for variant in b p; do
    "$TURNPIKE" prove "$out/WN-Host-Android-Turnip-25.0.7-${variant}_Axxx.zip" \
        --faults "100:${first_seed[$variant]}" --json $variant.json >$variant.txt
    check "prove $variant: exit status 0" test $? -eq 0
    check "prove $variant: 25 chips and more are proved, none failed" json_holds \
        '.ok and ([.chips[]|select(.status == "proved")]|length) >= 25 and all(.chips[]; .status != "failed")' $variant.json
    check "prove $variant: each fault schedule ends in success or in an error of Vulkan's" json_holds \
        '.faults | .schedules == 100 and .success + .errors == 100 and .crashes == 0 and .hangs == 0 and
         .leaks == 0 and .wrong == 0 and .ok and (.failed|length) == 0' $variant.json
    check "prove $variant: most schedules struck, and memory ran out in some" json_holds \
        '.faults | .struck > 70 and .results.VK_ERROR_OUT_OF_DEVICE_MEMORY > 10' $variant.json
    check "prove $variant: A8xx is neither a pass nor a failure" json_holds \
        '[.chips[]|select(.name|startswith("Adreno (TM) 8"))]|length > 3 and all(.[]; .status == "no-support")' $variant.json
done
"$TURNPIKE" prove b/libvulkan_freedreno.so --chip 740 --json one.json >/dev/null
check 'prove: a bare driver, one chip by its alias' json_holds '[.chips[].name] == ["FD740"]' one.json
cp -r "$TP_SRC/patches" altered
sed -i 's/^proof .*driver_info.*/proof     fact driver_info has another/' altered/50-driver-label.edit
"$TURNPIKE" prove b/libvulkan_freedreno.so --chip 740 --patches altered --json one.json >/dev/null
check 'prove: a promise that is not kept: exit status 1' test $? -eq 1
check 'prove: it is named, and no other' json_holds \
    '[.chips[0].checks[]|select(.ok|not).id] == ["driver-label"]' one.json
"$TURNPIKE" prove b/libvulkan_freedreno.so --chip nonesuch >/dev/null 2>&1
check 'prove: an unknown chip: exit status 2' test $? -eq 2

mkdir -p elsewhere/much/deeper
(cd elsewhere/much/deeper && "$TURNPIKE" build --mesa "$pristine" --target host-android \
    --variants p --out . >log 2>&1)
check 'p alone, elsewhere: exit status 0' test $? -eq 0
check 'p alone, elsewhere: the same archive, byte for byte' cmp \
    "$out/WN-Host-Android-Turnip-25.0.7-p_Axxx.zip" elsewhere/much/deeper/WN-Host-Android-Turnip-25.0.7-p_Axxx.zip
check 'b and p are different drivers' bash -c '! cmp -s b/libvulkan_freedreno.so p/libvulkan_freedreno.so'
check 'no path of this machine is in the drivers' bash -c \
    '! grep -qF -e "$TP_TMP" -e "$TP_SRC" -e "$HOME/" b/libvulkan_freedreno.so p/libvulkan_freedreno.so'
tap_close
