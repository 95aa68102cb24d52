# shellcheck shell=bash
# Part of inside.sh: real dma-bufs and sync files: buffers_test.c on vkms and on ours, release_test.c, fence_test.c.
buffers_programs=$(dirname "$TURNPIKE")/tests/vm

# Each test of a program is a check of its own.
buffers_checks() { # what, command...
    local what=$1 status=0 result name
    shift
    timeout -k 5 120 "$@" >"$TP_TMP/log" 2>&1 || status=$?
    while read -r result name; do
        check "$what: ${name//_/ }" test "$result" = OK
    done < <(sed -nE 's/^\[ *(OK|FAILED|ERROR) *\] ([a-z_]+)$/\1 \2/p' "$TP_TMP/log" | sort -u)
    check "$what: to the end" test $status -eq 0
    ((status == 0)) || sed 's/^/# /' "$TP_TMP/log"
}
buffers_checks 'dma-bufs on vkms' env TURNPIKE_TEST_CARD="$VM_CARD" "$buffers_programs/vm_buffers_test"
# The preload library has one card, and no other in /dev/dri.
cp -a "$VM_CARD" "$TP_TMP/vkms-card"
buffers_checks 'dma-bufs on ours' "$TURNPIKE" play --size 320x240 --overlays 1 -- \
    env TURNPIKE_TEST_CARD=/dev/dri/card0 TURNPIKE_TEST_OTHER="$TP_TMP/vkms-card" \
    "$buffers_programs/vm_buffers_test"
buffers_checks 'releases' "$buffers_programs/vm_release_test"
buffers_checks "the driver's fences" "$buffers_programs/vm_fence_test"
