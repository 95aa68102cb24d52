#!/bin/bash
# A machine with and without the window systems' libraries, and one of another processor.
#   bare_test.sh TURNPIKE CLIENT ICD DRIVER SYMBOLS [EMULATOR...]
# The emulator is what runs programs of that processor.
set -u
turnpike=$1 client=$2 icd=$(realpath "$3") driver=$(realpath "$4") symbols=$5
shift 5
run=("$@" "$client")
dir=$(mktemp -d)
trap '[[ -z ${server-} ]] || kill "$server" 2>/dev/null; rm -rf "$dir"' EXIT
failed=0
unset DISPLAY WAYLAND_DISPLAY TURNPIKE_SOCKET VK_DRIVER_FILES VK_ICD_FILENAMES
export TURNPIKE_DRIVER=$driver XDG_RUNTIME_DIR=$dir TURNPIKE_LOG=$dir/log LD_LIBRARY_PATH=$dir/lib
is() { # what, command...
    local what=$1
    shift
    if "$@"; then
        echo "ok - $what"
    else
        echo "not ok - $what"
        cat "$dir/out" "$dir/err" "$dir/log" 2>/dev/null | sed 's/^/# /' | head -n 20
        failed=1
    fi
}
shows() { # where, frames
    timeout 60 "${run[@]}" "$icd" "$1" "$2" >"$dir/out" 2>"$dir/err" && grep -q "^$2 frames" "$dir/out"
}
has() { # surfaces besides headless ones, sorted
    grep -q VK_EXT_headless_surface "$dir/out" &&
        test "$(grep -o 'VK_KHR_[a-z]*_surface' "$dir/out" | sort | tr '\n' ' ')" = "${1:+$1 }"
}
# In front of the machine's own: libraries of those names with nothing in them.
lack() { # compiler, names...
    local gcc=$1
    shift
    rm -rf "${dir:?}/lib"
    mkdir "$dir/lib"
    for name; do
        "$gcc" -shared -nostdlib -x c /dev/null -Wl,-soname,"$name" -o "$dir/lib/$name" || exit 2
    done
}
# The machine's own are not there for another processor: some with all names that are asked for.
give() { # compiler, what names them
    local name library
    rm -rf "${dir:?}/lib"
    mkdir "$dir/lib"
    while read -r name library; do
        case $name in
        '#'*) ;;
        wayland | xcb) exec 4>"$dir/lib/$library.c" ;;
        *) echo "int $name;" >&4 ;;
        esac
    done <"$2"
    exec 4>&-
    for name in "$dir"/lib/*.c; do
        "$1" -shared -fPIC -nostdlib "$name" -Wl,-soname,"$(basename "${name%.c}")" -o "${name%.c}" || exit 2
    done
}
gcc=gcc
[[ $# -eq 0 ]] || gcc=aarch64-linux-gnu-gcc

if [[ $# -gt 0 ]]; then
    give "$gcc" "$symbols"
else
    lack "$gcc"
fi
is 'it shows pictures where there is no driver to speak of' shows headless 20
is "with the window systems' libraries there are surfaces of theirs" \
    has 'VK_KHR_wayland_surface VK_KHR_xcb_surface VK_KHR_xlib_surface'
for name in libwayland-client.so.0 libxcb.so.1; do
    if [[ $# -gt 0 ]]; then
        give "$gcc" "$symbols"
        rm "$dir/lib/$name"
    else
        lack "$gcc" "$name"
    fi
    shows headless 1
    others='VK_KHR_xcb_surface VK_KHR_xlib_surface'
    [[ $name == libwayland* ]] || others=VK_KHR_wayland_surface
    is "without $name there are the others" has "$others"
done
lack "$gcc" libwayland-client.so.0 libxcb-dri3.so.0
is 'without any it shows pictures, too' shows headless 20
is 'and none of their surfaces are there' has ''

# A server's name that is wrong.
says() { # pattern, how often
    test "$(grep -cE "$1" "$dir/log")" = "$2"
}
rm -f "$dir/log"
is 'without a word of a server it shows pictures' shows headless 20
is '  and nothing is said of one' says 'no server' 0
for name in "$dir/none" @turnpike-nobody /etc/passwd; do
    rm -f "$dir/log"
    export TURNPIKE_SOCKET=$name
    is "$name is no server: it shows pictures" shows headless 20
    is '  and that is said, once' says "turnpike: no server at $name \\((No such file|Connection refused).*TURNPIKE_SOCKET" 1
done
unset TURNPIKE_SOCKET

# On the screen, with the server of this machine's own processor.
lack "$gcc"
env -u LD_LIBRARY_PATH "$turnpike" serve --size 320x240 --socket "$dir/turnpike-0" >"$dir/serve" 2>&1 &
server=$!
for ((i = 0; i < 100; i++)); do
    [[ -S $dir/turnpike-0 ]] && break
    sleep 0.1
done
is 'it shows pictures on the screen' shows display 30
kill "$server"
wait "$server" 2>/dev/null
exit $failed
