# shellcheck shell=bash
# Part of inside.sh: an X server that takes dma-bufs by DRI3: Xorg with glamor on vkms. It renders with llvmpipe only
# where a second card is named for it, whose pictures it then would show.
dri3_xorg=/usr/lib/xorg/Xorg
if [[ ! -x $dri3_xorg ]]; then
    tap 1 'DRI3: xserver-xorg-core is installed'
    return
fi
cat >xorg.conf <<CONF
Section "ServerFlags"
    Option "AutoAddDevices" "off"
    Option "AutoAddGPU" "off"
EndSection
Section "Device"
    Identifier "ours"
    Driver "modesetting"
    Option "kmsdev" "$VM_CARD"
    Option "AccelMethod" "glamor"
EndSection
Section "Device"
    Identifier "other"
    Driver "modesetting"
    Option "kmsdev" "$VM_VIRTIO_CARD"
EndSection
Section "Screen"
    Identifier "screen"
    Device "ours"
    GPUDevice "other"
EndSection
CONF
"$dri3_xorg" :3 -config "$PWD/xorg.conf" -logfile "$PWD/xorg.log" -noreset -nolisten tcp vt7 -novtswitch -sharevts \
    >xorg.out 2>&1 &
dri3_server=$!
for ((i = 0; i < 100; i++)); do
    [[ ! -S /tmp/.X11-unix/X3 ]] || break
    sleep 0.3
done
dri3_status=0
DISPLAY=:3 TURNPIKE_TEST_CARD=$VM_CARD timeout -k 5 90 "$(dirname "$TURNPIKE")/tests/vm/vm_x11_dri3_test" \
    >dri3.log 2>&1 || dri3_status=$?
((dri3_status == 0)) || sed 's/^/# /' dri3.log xorg.out
check 'DRI3: an X server shows dma-bufs and gives them back' test $dri3_status -eq 0
check 'DRI3: its glamor takes them' grep -q 'glamor X acceleration enabled' xorg.log
kill $dri3_server
wait $dri3_server 2>/dev/null
