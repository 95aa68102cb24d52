#!/bin/bash
# The display fix in a real driver on the simulated KGSL: what it asks of Android's allocator, and
# what it takes each buffer of the vendor double to be. Sourced by scripts that have built a
# host-android driver and tests/scripts/mesa.sh; each call adds TAP lines:
#
#   redmagic_checks DRIVER NAME
#
# By hand: TURNPIKE=build/turnpike tests/patches/redmagic.sh DRIVER
redmagic_here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)

# One run of the client. libraries: "double" with the vendor double, "none" without a libvndksupport.
redmagic_run() { # driver, output, libraries, NAME=VALUE...
    local driver=$1 out=$2 libraries=$3 build stub name
    shift 3
    build=$(build_folder)
    stub=$build/src/factory/prove/libturnpike-android-stub.so
    rm -rf "$out" "$out.d"
    mkdir -p "$out.d"
    for name in libcutils libhardware liblog libnativewindow libsync; do
        ln -s "$(realpath "$stub")" "$out.d/$name.so"
    done
    libraries=${libraries/double/$build/tests/patches/aimapper:$out.d}
    env "$@" LD_PRELOAD="$(realpath "$build/src/factory/kgsl/libturnpike-kgsl.so")" \
        LD_LIBRARY_PATH="${libraries/none/$out.d}" TURNPIKE_KGSL_CHIP=FD750 \
        TURNPIKE_KGSL_LOG="$out.d/calls" TURNPIKE_KGSL_WATCH=8822,8905 "$build/src/factory/prove/client/prove-client" \
        --only android "$driver" >"$out" 2>"$out.d/said"
}

redmagic_fact() { # output, fact
    jq -r --arg f "$2" 'select(.fact == $f).value' "$1"
}

redmagic_is() { # output, fact, value
    local got
    got=$(redmagic_fact "$1" "$2")
    [[ -n $got && ($got == "$3" || $3 == '*') ]] && return
    printf '# %s: %s, where %s is right\n' "$2" "${got:-nothing}" "$3"
    return 1
}

# All kinds of one line of redmagic.kinds.
redmagic_kinds_are() { # output, import's, swapchain's, kinds...
    local out=$1 import=$2 swapchain=$3 kind status=0
    shift 3
    [[ $swapchain != = ]] || swapchain=$import
    for kind; do
        redmagic_is "$out" "ahb_$kind" "$import" || status=1
        [[ $swapchain == - ]] || redmagic_is "$out" "native_buffer_$kind" "$swapchain" || status=1
    done
    return "$status"
}

# No buffer that the table does not have, and none of the table that was not shown.
redmagic_covers() { # output
    diff <(sed '/^#/d; /^$/d; s/.*| //' "$redmagic_here/redmagic.kinds" | tr ' ' '\n' | sort) \
        <(jq -r 'select(.fact).fact' "$1" | sed -n 's/^ahb_//p' |
            grep -vE '^(usage|swapchain|export)_' | sort)
}

redmagic_clean() { # output
    jq -es 'map(select(.check)) | length == 11 and all(.ok and (.skipped | not))' "$1" >/dev/null &&
        jq -es '.[-1].done' "$1" >/dev/null && return
    jq -c 'select(.check and ((.ok | not) or .skipped))' "$1"
    return 1
}

redmagic_books_close() { # output
    jq -es 'map(select(.call == "close" and has("leaked_buffers"))) | last | .imports > 60 and
        .leaked_buffers == 0 and .leaked_bytes == 0 and .leaked_contexts == 0' "$1.d/calls" >/dev/null
}

# How the GPU was told to write the image of draw N, 0 or 1: RB_MRT[0].BUF_INFO's tile mode (0: linear,
# 3: tiled) and the pitch of its flags (0: it has none).
redmagic_draws() { # output, draw, tile mode, flags' pitch: 0, or more for any other
    jq -es --argjson n "$2" --argjson mode "$3" --arg flags "$4" '
        def number: ltrimstr("0x") | explode | reduce .[] as $c (0; . * 16 + ($c | if . > 96 then . - 87 else . - 48 end));
        map(select(.call == "gpu") | [.registers[] | {(.register): (.last | number)}] | add
            | select(has("0x8822"))) | .[$n]
        | ((."0x8822" / 256 | floor) % 4) == $mode and (."0x8905" == 0) == ($flags == "0")' \
        "$1.d/calls" >/dev/null
}

redmagic_said() { # output, times, text
    [[ $(grep -cF "$3" "$1.d/said") -eq $2 ]] && return
    cat "$1.d/said"
    return 1
}

# A mapper with other version symbols, in a folder of its own.
redmagic_symbols() { # driver, output, folder, setting, times that it is used
    redmagic_run "$1" "$2" double TURNPIKE_MAPPER="$4" \
        TURNPIKE_MAPPER_DIR="$(build_folder)/tests/patches/aimapper/symbols/$3"
    redmagic_said "$2" "$5" 'Using IMapper v5'
}

# A mapper that knows no handle: the flags tell, one warning, and nothing else changes.
redmagic_stranger() { # driver, output
    redmagic_run "$1" "$2" double TURNPIKE_MAPPER=stranger && redmagic_clean "$2" &&
        redmagic_said "$2" 1 'Using IMapper v5' &&
        redmagic_said "$2" 1 'aimapper: the mapper answers with error -2' &&
        redmagic_said "$2" 1 'aimapper: the mapper knows nothing of a buffer' &&
        redmagic_kinds_are "$2" '0x500000000000001 0+4864' = qti-840 qti &&
        redmagic_kinds_are "$2" '0x0 0+4864' = linear linear-cpu
}

redmagic_usage_is() { # output, fact, value
    redmagic_is "$1" "ahb_$2" "$3"
}

redmagic_buffers() { # output, name
    local out=$1 name=$2 import swapchain kinds
    while IFS='|' read -r import swapchain kinds; do
        [[ $import == '#'* || -z $kinds ]] && continue
        # shellcheck disable=SC2086
        check "$name:$kinds: ${import% }" redmagic_kinds_are "$out" "${import% }" \
            "$(sed 's/^ //; s/ $//' <<<"$swapchain")" $kinds
    done <"$redmagic_here/redmagic.kinds"
}

# Vendors without an IMapper 5 that can be used: the fallback reads the handle's flags.
redmagic_fallback() { # driver, output, libraries, NAME=VALUE...
    redmagic_run "$@" && redmagic_said "$2" 0 'Using IMapper v5' &&
        redmagic_said "$2" 1 'Using fallback gralloc implementation' || return
    [[ $3 == none ]] || redmagic_clean "$2" || return
    [[ $3 == none ]] || redmagic_kinds_are "$2" '0x500000000000001 0+4864' = qti-840 qti || return
    [[ $3 == none ]] || redmagic_kinds_are "$2" '0x0 0+4864' = linear linear-cpu
}

redmagic_checks() { # driver, name
    local driver=$1 name=$2 out=$TP_TMP/redmagic kind
    redmagic_run "$driver" "$out" double
    check "$name: the client's checks hold" redmagic_clean "$out"
    check "$name: the simulator's books close" redmagic_books_close "$out"
    check "$name: says which gralloc it uses" redmagic_said "$out" 1 \
        'Using IMapper v5 stable-C API via SP-HAL'
    for kind in COMPRESSION PIXEL_FORMAT_MODIFIER PLANE_LAYOUTS; do
        check "$name: says once that $kind tells a compressed layout" redmagic_said "$out" 1 \
            "aimapper: compressed layout detected via $kind, collapsing to 1 compressed plane"
    done
    check "$name: a render target's usage has the vendor bit" \
        redmagic_usage_is "$out" usage_plain 0x10000200
    check "$name: with compression disabled it has not" redmagic_usage_is "$out" usage_disabled 0x200
    check "$name: with linear tiling it has not" redmagic_usage_is "$out" usage_linear 0x200
    check "$name: a swapchain's pair of formats has it" redmagic_usage_is "$out" usage_pair 0x10000200
    check "$name: a format that may become any has not" redmagic_usage_is "$out" usage_mutable 0x200
    check "$name: formats that this GPU compresses alike have it" \
        redmagic_usage_is "$out" usage_mixed 0x10000200
    check "$name: YCbCr of an unknown dataspace is BT.601, narrow" \
        redmagic_is "$out" ycbcr_nv12 '601 narrow'
    check "$name: lossy compression is told as such" redmagic_said "$out" 1 'aimapper: a buffer has lossy UBWC'
    check "$name: what the driver tries with the allocator has not" \
        redmagic_usage_is "$out" usage_tried 0x200
    check "$name: what it allocates to export has not" redmagic_usage_is "$out" export_usage 0x200
    check "$name: a buffer allocated with that usage comes back compressed" \
        redmagic_is "$out" ahb_swapchain_plain '0x500000000000001 0+1024'
    check "$name: with compression disabled it comes back linear" \
        redmagic_is "$out" ahb_swapchain_disabled '0x0 0+1024'
    check "$name: such a buffer is rendered to in tiles and with flags" redmagic_draws "$out" 0 3 more
    check "$name: one with compression disabled in lines, without flags" redmagic_draws "$out" 1 0 0
    check "$name: every kind of buffer is looked at" redmagic_covers "$out"
    redmagic_buffers "$out" "$name"
    for kind in missing version-4 version-6 table-4 load-error load-null hole; do
        check "$name: an IMapper that is $kind leaves the fallback" \
            redmagic_fallback "$driver" "$out" double TURNPIKE_MAPPER=$kind
    done
    for kind in 'stablec version-4 0' 'stablec stablec-4 0' 'both stablec-4 0' 'stablec default 1' \
        'both default 1' 'both mapper-4 1' 'neither default 1' 'neither table-4 0'; do
        # shellcheck disable=SC2086
        check "$name: version symbols: $kind" redmagic_symbols "$driver" "$out" $kind
    done
    check "$name: a mapper that knows no handle leaves the handles' flags" \
        redmagic_stranger "$driver" "$out"
    check "$name: no libvndksupport leaves the fallback" redmagic_fallback "$driver" "$out" none
    redmagic_run "$driver" "$out" double TURNPIKE_MAPPER=table-6
    check "$name: an IMapper with a newer table is used" redmagic_said "$out" 1 'Using IMapper v5'
}

if [[ ${BASH_SOURCE[0]} == "$0" ]]; then
    set -uo pipefail
    # shellcheck source=tests/scripts/mesa.sh
    . "$redmagic_here/../scripts/mesa.sh"
    TURNPIKE=$(realpath "${TURNPIKE:-$redmagic_here/../../build/turnpike}")
    TP_TMP=$(mktemp -d)
    trap 'rm -rf "$TP_TMP"' EXIT
    redmagic_checks "$(realpath "$1")" "$(basename "$1")"
    tap_close
fi
