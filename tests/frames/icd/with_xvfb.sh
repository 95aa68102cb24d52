#!/bin/bash
# Runs a test on X servers of its own, one for each way that pictures may go: Present, drawn from
# shared memory, and sent. XVFB_PID is the server's,
# XVFB_WITHOUT the extension that it lacks.
set -eu
dir=$(mktemp -d)
server=
end() {
    [[ -z $server ]] || kill "$server" 2>/dev/null || :
    wait
    rm -rf "$dir"
}
trap end EXIT
command -v Xvfb >/dev/null || { echo "there is no Xvfb here (Debian: xvfb)" >&2; exit 3; }
unset GAMESCOPE_WAYLAND_DISPLAY TURNPIKE_SOCKET
for without in none Present MIT-SHM; do
    minus=(-extension "$without")
    [[ $without != none ]] || minus=()
    mkfifo "$dir/number"
    Xvfb -displayfd 7 -screen 0 320x240x24 -nolisten tcp -noreset "${minus[@]}" \
        7>"$dir/number" 2>"$dir/log" &
    server=$!
    read -r number <"$dir/number"
    rm "$dir/number"
    echo "without: $without"
    DISPLAY=:$number XVFB_PID=$server XVFB_WITHOUT=$without "$@"
    kill "$server" 2>/dev/null || :
    wait "$server" 2>/dev/null || :
    server=
done
