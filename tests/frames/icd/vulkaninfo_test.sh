#!/bin/bash
# vulkaninfo, the validation layer and other people's layers over the ICD.
set -u
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
failed=0
result() { # what, status
    if [[ $2 == 0 ]]; then
        echo "ok - $1"
    else
        echo "not ok - $1"
        sed 's/^/# /' "$dir/err" | head -n 20
        failed=1
    fi
}
has() {
    grep -qE "$1" "$dir/out"
    result "it tells of ${2-$1}" $?
}
unset DISPLAY WAYLAND_DISPLAY

timeout 60 vulkaninfo >"$dir/out" 2>"$dir/err"
result 'vulkaninfo ends well' $?
! grep -vE 'XDG_RUNTIME_DIR|DISPLAY' "$dir/err" | grep -q .
result 'vulkaninfo complains of nothing' $?
for x in VK_EXT_headless_surface VK_KHR_get_surface_capabilities2 VK_EXT_surface_maintenance1 \
    VK_EXT_swapchain_colorspace VK_KHR_swapchain VK_KHR_swapchain_mutable_format \
    VK_EXT_swapchain_maintenance1 VK_KHR_present_id VK_KHR_present_wait VK_GOOGLE_display_timing \
    VK_EXT_hdr_metadata VK_KHR_incremental_present; do
    has "$x +: extension revision"
done
has 'presentWait += true' 'the feature presentWait'
has 'swapchainMaintenance1 += true' 'the feature swapchainMaintenance1'
! grep -qE 'VK_EXT_acquire_xlib_display|VK_KHR_shared_presentable_image' "$dir/out"
result 'it tells nothing of the window system of the driver' $?

VK_INSTANCE_LAYERS=VK_LAYER_KHRONOS_validation timeout 120 vulkaninfo >"$dir/out" 2>"$dir/err"
result 'vulkaninfo ends well under validation' $?
! grep -iE 'validation|VUID' "$dir/err" "$dir/out" | grep -vE 'VK_LAYER|VK_EXT_validation|Khronos Validation|layer' >"$dir/said"
[[ ! -s $dir/said ]]
result 'validation has nothing to say' $?

MANGOHUD=1 VK_INSTANCE_LAYERS=VK_LAYER_MESA_device_select timeout 60 vulkaninfo --summary \
    >"$dir/out" 2>"$dir/err"
result "vulkaninfo ends well with Mesa's device selection" $?
if [[ -e /usr/share/vulkan/implicit_layer.d/MangoHud.json ]] ||
    compgen -G '/usr/share/vulkan/implicit_layer.d/MangoHud*.json' >/dev/null; then
    MANGOHUD=1 timeout 60 vulkaninfo --summary >"$dir/out" 2>"$dir/err"
    result "vulkaninfo ends well with MangoHud's layer" $?
fi
exit $failed
