#!/bin/bash
# display_vulkan_test.sh TURNPIKE TEST: the test, with a server that has a simulated screen.
set -eu
turnpike=$(realpath "$1")
test=$(realpath "$2")
dir=$(mktemp -d)
server=
end() {
    [[ -z $server ]] || kill "$server" 2>/dev/null || :
    wait
    rm -rf "$dir"
}
trap end EXIT
export TURNPIKE_SOCKET=$dir/socket
# The server is no Vulkan program, and may be sanitized without being the test.
"$turnpike" serve --panel sim --socket "$TURNPIKE_SOCKET" --size 320x200 --refresh 60,120 >"$dir/log" 2>&1 &
server=$!
for ((i = 0; i < 200; i++)); do
    [[ -S $TURNPIKE_SOCKET ]] && break
    sleep 0.05
done
SERVER_PID=$server "$test"
