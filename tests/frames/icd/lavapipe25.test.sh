#!/bin/bash
# The driver's tests over a newer lavapipe than bookworm's, of Vulkan 1.4. Skipped where that cannot be had.
# timeout: 240
set -uo pipefail
. "$(dirname "$0")/../../scripts/mesa.sh"
. "$(dirname "$0")/../clients/lib.sh"
. "$(dirname "$0")/../clients/lavapipe25.sh"
cd "$TP_TMP" || exit 2
need meson jq dpkg-deb vulkaninfo
lavapipe=
lavapipe_25 "lavapipe 25"

printf '{"file_format_version": "1.0.1", "ICD": {"library_path": "%s", "api_version": "1.4.0"}}\n' \
    "$lavapipe" >lavapipe.json
export LAVAPIPE=$PWD/lavapipe.json
is_newer() {
    bash "$TP_SRC/tests/frames/icd/with_icd.sh" "$(build_folder)/src/frames/icd/libvulkan_turnpike.so" \
        vulkaninfo --summary 2>err | grep -E 'driverInfo *= Mesa 2[5-9]'
}
check 'it is the one that tests are given' is_newer
for suite in dispatch swapchain lawful-{create,maintenance,memory,present}{,-copy} \
    lawful-{errors,surface,timing}-headless release shared-queue copy lost vulkaninfo; do
    status=0
    meson test -C "$(build_folder)" --no-rebuild --logbase lavapipe25 \
        --timeout-multiplier 2 --print-errorlogs "icd-$suite" >out 2>&1 </dev/null || status=$?
    ((status == 0)) || tail -n 40 out | sed 's/^/# /'
    check "icd-$suite passes over it" test $status -eq 0
    check "icd-$suite did run" grep -q '^Ok: *1 *$' out
done
tap_close
