# shellcheck shell=bash
# Part of inside.sh: real dma-bufs and sync files, on vkms and on ours: buffers_test.c.
buffers_program=$(dirname "$TURNPIKE")/tests/vm/vm_buffers_test

buffers_on() { # what, command...
    local what=$1 status=0 name
    shift
    timeout -k 5 120 "$@" >"$TP_TMP/log" 2>&1 || status=$?
    while read -r name; do
        check "buffers on $what: ${name//_/ }" true
    done < <(sed -nE 's/^\[ *OK *\] ([a-z_]+)$/\1/p' "$TP_TMP/log")
    while read -r name; do
        check "buffers on $what: ${name//_/ }" false
    done < <(sed -nE 's/^\[ *FAILED *\] ([a-z_]+)$/\1/p' "$TP_TMP/log" | sort -u)
    check "buffers on $what: to the end" test $status -eq 0
    ((status == 0)) || sed 's/^/# /' "$TP_TMP/log"
}
buffers_on vkms env TURNPIKE_TEST_CARD="$VM_CARD" "$buffers_program"
# The preload library has one card and no other in /dev/dri.
cp -a "$VM_CARD" "$TP_TMP/other"
buffers_on ours "$TURNPIKE" play --size 320x240 --overlays 1 -- \
    env TURNPIKE_TEST_CARD=/dev/dri/card0 TURNPIKE_TEST_OTHER="$TP_TMP/other" "$buffers_program"
