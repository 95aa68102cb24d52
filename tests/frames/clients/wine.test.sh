#!/bin/bash
# A Direct3D 11 program for Windows, in wine: Direct3D by Vulkan, which is ours, in gamescope on the simulated screen.
# Two makers of Direct3D: wine's own, and DXVK, whose Debian package is of trixie and later: it is unpacked once,
# beside other downloads. TURNPIKE_DXVK names a folder with another d3d11.dll and dxgi.dll. Nothing is installed.
# timeout: 300
set -uo pipefail
. "$(dirname "$0")/../../scripts/mesa.sh"
. "$(dirname "$0")/lib.sh"
. "$(dirname "$0")/lavapipe25.sh"
. "$(dirname "$0")/trixie.sh"
cd "$TP_TMP" || exit 2
PATH=$PATH:/usr/games:/usr/lib/wine
need gamescope Xwayland Xvfb convert compare import jq dpkg-deb wine64 wineserver64
program=$(build_folder)/tests/frames/clients/d3d11.exe
[[ $(uname -m) == x86_64 ]] || { echo 'a program for x86-64' && exit 77; }
[[ -f $program ]] || { echo 'd3d11.exe has not been built' && exit 1; }

lavapipe_25 wine

# Where DXVK's libraries are, or why they are nowhere.
dxvk=${TURNPIKE_DXVK-} dxvk_lacks=
if [[ -z $dxvk ]]; then
    if said=$(trixie_unpack 'dxvk 2.6' dxvk-wine64 && printf '%s' "$root"); then
        dxvk=$said/usr/lib/dxvk/wine64
    else
        dxvk_lacks=$said
    fi
fi

# A Windows of our own; menus, browsers and .NET are not asked for.
export WINEPREFIX=$PWD/prefix WINEARCH=win64 WINEDEBUG=-all
export DXVK_LOG_PATH=none DXVK_LOG_LEVEL=info DXVK_STATE_CACHE=0
without='mscoree=;mshtml=;winemenubuilder.exe=d'
server=
end() {
    wineserver64 -k 2>/dev/null
    [[ -z $server ]] || kill "$server" 2>/dev/null
    rm -rf "$WINEPREFIX"
}
trap end EXIT
in_wine() { # Direct3D's maker, program, arguments...
    local overrides=$without
    [[ $1 != dxvk ]] || overrides+=';d3d11,dxgi=n'
    shift
    env HOME="$PWD" WINEDLLOVERRIDES="$overrides" wine64 "$@"
}
# Until the picture has been still for a second.
draw_in_wine() { # Direct3D's maker, the program's arguments...
    in_wine "$1" "$1/d3d11.exe" --save drawn.ppm "${@:2}" &
    until grep -q 'drawn.ppm is written' out; do
        sleep 0.1
        kill -0 $! 2>/dev/null || return 1
    done
    sleep 1
}
export -f in_wine draw_in_wine
export without
mkdir dxvk wined3d
cp "$program" dxvk && cp "$program" wined3d || exit 2
for library in d3d11.dll dxgi.dll; do
    # Debian's have names of their own.
    [[ -z $dxvk ]] || cp "$dxvk/$library" dxvk 2>/dev/null || cp "$dxvk/$library.so" "dxvk/$library" || exit 2
done
make_prefix() {
    in_wine none reg add 'HKCU\Software\Wine\Direct3D' /v renderer /d vulkan /f >out 2>&1 && wineserver64 -w
}
check 'wine makes its folder' make_prefix

road() { # Direct3D's maker, play's arguments..., --, the program's arguments...
    local maker=$1 status=0
    local -a arguments=()
    shift
    while [[ $1 != -- ]]; do
        arguments+=("$1")
        shift
    done
    rm -f drawn.ppm shown.png
    played 40 play --compositor gamescope --driver "$lavapipe" --size 1280x720 --verbose --json report.json \
        --snapshot shown.png "${arguments[@]}" -- bash -c 'draw_in_wine "$@"' - "$maker" "${@:2}" \
        >out 2>err </dev/null || status=$?
    wineserver64 -k
    ((status == 0)) || tail -n 30 err | sed 's/^/# /'
    grep -h '^d3d11:' out err | sed 's/^/# /'
    printf '# %s\n' "$(jq -c '{frames, fps, cadence, tears, notes}' report.json)"
    return "$status"
}

# Frame 65 has turned by 30 degrees. Places that no edge is near to.
places=(100+100=C81E0A 1200+100=0AC81E 100+650=1E0AC8 1200+650=C8C80A
    700+280=F0F0F0 720+400=00A0A0 580+440=202020 550+330=A000A0)
is_frame_65() { # the screen's file, Direct3D's
    local place at different
    for place in "${places[@]}"; do
        at=${place%=*}
        [[ $(pixel "$1" "${at%+*}" "${at#*+}") == "${place#*=}" ]] || {
            echo "# it is not $place"
            return 1
        }
    done
    different=$(compare -metric AE "$2" "$1" null: 2>&1)
    echo "# $different pixels differ from what Direct3D has"
    [[ $different == 0 ]]
}

makers=(wined3d)
if [[ -n $dxvk ]]; then
    makers+=(dxvk)
else
    tap 0 "a Direct3D 11 program by DXVK # SKIP $dxvk_lacks"
fi
for maker in "${makers[@]}"; do
    check "$maker: a Direct3D 11 program runs in gamescope" road "$maker" -- --still 65
    check "$maker: it is the one" test "$maker" = "$(grep -q '^info:  DXVK: ' err && echo dxvk || echo wined3d)"
    check "$maker: by Vulkan, ours" grep -q 'turnpike: images are shared memory that the driver renders into' err
    check "$maker: its frames are on the screen" json_holds '.frames >= 60' report.json
    check "$maker: none is torn" json_holds '.tears == 0' report.json
    check "$maker: its images are released by notes, none of which is lost" \
        json_holds '.notes.final >= 60 and .notes.lost == 0' report.json
    check "$maker: the picture is the program's" is_frame_65 shown.png drawn.ppm
done
maker=${makers[-1]}
check "$maker: without a gate" road "$maker" --gate off -- --interval 0 --still 200
check 'none is torn' json_holds '.frames >= 60 and .tears == 0 and .notes.final >= 60' report.json
check "$maker: without release notes" road "$maker" --gate off --release-fence off -- --interval 0 --still 200
check 'there are none, and pictures are torn' json_holds '.frames >= 60 and .tears > 0 and .notes.final == 0' report.json

# wine's own, on an X server alone. (DXVK ends on one whose refresh rate is 0, whoever renders.)
on_x_server() {
    local number status=0
    rm -f drawn.ppm shown.png
    mkfifo number
    Xvfb -displayfd 7 -screen 0 1280x720x24 -nolisten tcp -noreset 7>number 2>/dev/null &
    server=$!
    read -r number <number
    DISPLAY=:$number VK_DRIVER_FILES="$(build_folder)/src/frames/icd/uninstalled.json" \
        VK_ICD_FILENAMES="$(build_folder)/src/frames/icd/uninstalled.json" TURNPIKE_DRIVER=$lavapipe \
        timeout -k 5 40 bash -c 'draw_in_wine "$@" && import -window root shown.png' - wined3d --still 65 \
        >out 2>err || status=$?
    wineserver64 -k
    kill "$server"
    wait "$server" 2>/dev/null
    server=
    ((status == 0)) || tail -n 30 err | sed 's/^/# /'
    return "$status"
}
check 'on an X server alone' on_x_server
check 'its driver is ours' grep -q '^turnpike: images are' err
check 'the picture is there' is_frame_65 shown.png drawn.ppm
tap_close
