# shellcheck shell=bash
# What ./run, ./test and the scripts here share. Sourced by bash, with the checkout as the current
# folder.
export LC_ALL=C.UTF-8
# Debian's own python3 comes first: meson looks its modules up with whichever is found.
export PATH=/usr/bin:/bin:/usr/sbin:/sbin:$PATH

# Runs a command without its output; on failure shows the output's end and returns its status.
quietly() { # what, command...
    local what=$1 log status=0
    shift
    log=$(mktemp)
    "$@" >"$log" 2>&1 </dev/null || status=$?
    if [[ $status -ne 0 ]]; then
        printf '%s failed:\n' "$what" >&2
        tail -n 40 "$log" >&2
    fi
    rm -f "$log"
    return "$status"
}

# Configures a build folder, or does so again where its options differ from the ones it was made with.
configure() { # folder, meson's options...
    local dir=$1
    shift
    local made=$dir/turnpike-options wanted="${CC-} $*"
    if [[ -f $dir/build.ninja && -f $made && $(<"$made") == "$wanted" ]]; then
        return
    fi
    local -a again=()
    [[ ! -d $dir/meson-info ]] || again=(--wipe)
    quietly "configuring $dir" meson setup "${again[@]}" "$dir" "$@" || return
    printf '%s\n' "$wanted" >"$made"
}

# Configures and compiles a build folder.
make_ready() { # folder, meson's options...
    configure "$@" && quietly "compiling $1" ninja -C "$1"
}
