# shellcheck shell=bash
# What integration tests on real Mesa share. Sourced; needs TURNPIKE and TP_TMP.
tap_count=0 tap_failed=0

tap() { # status of what was checked (0 or not), name
    tap_count=$((tap_count + 1))
    if [[ $1 -eq 0 ]]; then
        printf 'ok %d - %s\n' "$tap_count" "$2"
    else
        printf 'not ok %d - %s\n' "$tap_count" "$2"
        tap_failed=1
    fi
}

check() { # name, command...
    local name=$1 status=0
    shift
    "$@" || status=$?
    tap "$status" "$name"
}

# Does a filter hold for a JSON file? For check.
json_holds() { # filter, file
    jq -e "$1" "$2" >/dev/null
}

tap_close() {
    printf '1..%d\n' "$tap_count"
    exit "$tap_failed"
}

build_folder() {
    dirname "$TURNPIKE"
}

# The folder of a pristine Mesa 25.0.7, got once for all tests beside the program.
mesa_pristine() {
    local tree
    tree=$(build_folder)/mesa-25.0.7
    if [[ ! -f $tree/VERSION ]]; then
        "$(build_folder)/tests/factory/source/mesa_source" debian:25.0.7 "$tree" >&2 || return
    fi
    printf '%s\n' "$tree"
}

# A tree of those parts of Mesa that patches may look at, small enough to be made many times.
mesa_parts() { # from, to
    local part
    mkdir -p "$2"
    for part in VERSION meson.build src/util src/freedreno/vulkan src/freedreno/common src/vulkan; do
        mkdir -p "$2/$(dirname "$part")"
        cp -r "$1/$part" "$2/$(dirname "$part")/"
    done
}

# One hash over every file of a tree, names included.
tree_hash() {
    (cd "$1" && find . -type f -print0 | LC_ALL=C sort -z | xargs -0 sha256sum | sha256sum)
}
