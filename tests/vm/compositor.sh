# shellcheck shell=bash
# Part of inside.sh: a real compositor on our card, whose buffers are dma-bufs here.
compositor_memory() { # the largest number of bytes in udmabufs, at any time
    local most=0 now
    while sleep 0.2; do
        now=$(awk '$5 == "udmabuf" { n += $1 } END { print n + 0 }' /sys/kernel/debug/dma_buf/bufinfo)
        ((now <= most)) || echo "$((most = now))"
    done
}
four_colours sent.png
compositor_memory >memory &
compositor_watch=$!
status=0
timeout -k 5 60 "$TURNPIKE" play --size 640x480 --compositor weston --seconds 12 --snapshot shown.png \
    --json report.json -- weston-image sent.png >out 2>err </dev/null || status=$?
((status == 0)) || sed 's/^/# /' err
kill "$compositor_watch"
check 'weston: runs for its time' test $status -eq 0
check "weston: its client's picture is on the screen" picture_is_there shown.png sent.png
check 'weston: reports what it showed' json_holds '.frames >= 2' report.json
check 'weston: two screens of dma-bufs were there' test "$(tail -n 1 memory)" -ge $((2 * 640 * 480 * 4))
