# shellcheck shell=bash
# lavapipe with samplerYcbcrConversion: Debian's own backport of it for bookworm, unpacked once, beside other
# downloads; nothing is installed. Sourced by bash; needs TP_SRC.

# Sets $lavapipe to its library. Ends the test where that cannot be had.
lavapipe_25() { # who wants it
    local who=$1 root options said work
    root=${TURNPIKE_CACHE:-${XDG_CACHE_HOME:-$HOME/.cache}/turnpike}/lavapipe-25
    mkdir -p "${root%/*}" && exec 9>>"$root.lock" || lavapipe_cannot "${root%/*} cannot be used"
    flock 9
    # Whole or not at all.
    if [[ ! -f $root/stamp ]]; then
        options=$("$TP_SRC/tools/private-apt" deb native bookworm bookworm-backports 2>said) ||
            lavapipe_cannot "$(tail -n 1 said)"
        work=$(mktemp -d "$root.XXXXXX")
        if ! said=$(cd "$work" && apt-get "$options" -q -t bookworm-backports download mesa-vulkan-drivers 2>&1); then
            rm -rf "$work"
            lavapipe_cannot "lavapipe 25 cannot be fetched: $(grep -m 1 '^[EW]:' <<<"$said")"
        fi
        dpkg-deb -x "$work"/*.deb "$work/root" || exit 2
        touch "$work/root/stamp"
        chmod 755 "$work/root"
        rm -rf "$root"
        mv "$work/root" "$root"
        rm -rf "$work"
    fi
    exec 9>&-
    lavapipe=$(echo "$root"/usr/lib/*/libvulkan_lvp.so)
    [[ -f $lavapipe ]] || lavapipe_cannot "there is no lavapipe in Debian's package"
    ! ldd "$lavapipe" | grep 'not found' || lavapipe_cannot "this machine's libraries are too old, or too new, for it"
}

lavapipe_cannot() { # why
    printf '%s: %s\n' "$who" "$1"
    exit 77
}
