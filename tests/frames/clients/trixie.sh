# shellcheck shell=bash
# Programs of Debian trixie's packages, unpacked once beside other downloads and run in place, with their own C library
# where that is among the packages; nothing is installed. Sourced by bash; needs TP_SRC and TP_TMP.

trixie_cannot() { # what, why
    printf '%s: %s\n' "$1" "$2"
    exit 77
}

# Sets $root to the folder where the packages are unpacked, whole or not at all, and $libraries to their libraries. Ends
# the test where they cannot be had.
trixie_unpack() { # what, packages...
    local what=$1 stamp options said work package
    shift
    root=${TURNPIKE_CACHE:-${XDG_CACHE_HOME:-$HOME/.cache}/turnpike}/${what// /-}
    stamp="1 $*"
    mkdir -p "${root%/*}" && exec 9>>"$root.lock" || trixie_cannot "$what" "${root%/*} cannot be used"
    flock 9
    if [[ ! -f $root/stamp || $(<"$root/stamp") != "$stamp" ]]; then
        options=$("$TP_SRC/tools/private-apt" deb native trixie 2>"$TP_TMP/said") ||
            trixie_cannot "$what" "$(tail -n 1 "$TP_TMP/said")"
        work=$(mktemp -d "$root.XXXXXX")
        mkdir "$work/deb"
        if ! said=$(cd "$work/deb" && apt-get "$options" -q download "$@" 2>&1); then
            rm -rf "$work"
            trixie_cannot "$what" "trixie's packages cannot be fetched: $(grep -m 1 '^[EW]:' <<<"$said")"
        fi
        for package in "$work"/deb/*.deb; do
            dpkg-deb -x "$package" "$work/root" || exit 2
        done
        printf '%s\n' "$stamp" >"$work/root/stamp"
        chmod 755 "$work/root"
        rm -rf "$root"
        mv "$work/root" "$root"
        rm -rf "$work"
    fi
    exec 9>&-
    libraries=$(echo "$root"/usr/lib/*-linux-gnu)
}

# Makes bin/NAME run a program of theirs with their C library.
trixie_program() { # name, program, arguments that come first...
    local name=$1 program=$2
    shift 2
    mkdir -p bin
    {
        printf '#!/bin/sh\nexec'
        printf ' %q' "$(echo "$libraries"/ld-linux*.so.?)" --library-path "$libraries:$libraries/weston" \
            --argv0 "$name" "$program" "$@"
        printf ' "$@"\n'
    } >"bin/$name"
    chmod +x "bin/$name"
}
