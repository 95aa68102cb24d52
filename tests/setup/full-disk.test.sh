#!/bin/bash
# timeout: 60
# tools/private-apt and tools/arm64-sysroot with a cache that cannot be used: exit status 2, the folder
# and the reason named, nothing about the network. No archive is asked.
set -uo pipefail
. "$(dirname "$0")/../scripts/mesa.sh"
cd "$TP_TMP" || exit 2
echo x >file

says() { # words...
    local word
    for word; do
        grep -qF -- "$word" <<<"$said" || return
    done
    ! grep -qiE 'network|does not answer' <<<"$said"
}

said=$(TURNPIKE_CACHE=$PWD/file/c "$TP_SRC/tools/private-apt" deb-src native trixie 2>&1)
check 'private-apt: no folder can be made: exit status 2' test $? -eq 2
check 'private-apt: the folder and the reason' says "$PWD/file/c" 'Not a directory' 'set TURNPIKE_CACHE'
said=$("$TP_SRC/tools/arm64-sysroot" "$PWD/file/c/sysroot" 2>&1)
check 'arm64-sysroot: no folder can be made: exit status 2' test $? -eq 2
check 'arm64-sysroot: the folder and the reason' says "$PWD/file/c" 'Not a directory' 'name a folder'

# A disk of 64 KiB that is full, which goes with this process's own mounts.
mkdir disk
# shellcheck disable=SC2016 # expanded inside
if unshare -rm bash -c 'mount -t tmpfs -o size=64k none disk' 2>/dev/null; then
    on_full_disk() { # command...
        unshare -rm bash -c 'mount -t tmpfs -o size=64k none disk && mkdir disk/c &&
            { cat /dev/zero >disk/zero; } 2>/dev/null; "$@"; status=$?
            [[ -z $(find disk/c -name "*.new" -o -path "*/partial/*") ]] || exit 9
            exit "$status"' bash "$@" 2>&1
    }
    said=$(TURNPIKE_CACHE=$PWD/disk/c on_full_disk "$TP_SRC/tools/private-apt" deb-src native trixie)
    check 'private-apt: a full disk: exit status 2, nothing half left' test $? -eq 2
    check 'private-apt: where, how much is free, what to do' says "$PWD/disk/c has too little room" \
        ', 0 MB are free' 'set TURNPIKE_CACHE'
    said=$(on_full_disk env "TURNPIKE_CACHE=$PWD/disk/c" \
        "$TP_SRC/tools/arm64-sysroot" "$PWD/disk/c/sysroot")
    check 'arm64-sysroot: a full disk: exit status 2' test $? -eq 2
    check 'arm64-sysroot: where, how much is free' says "$PWD/disk/c has too little room" ', 0 MB are free'
else
    echo 'ok - a full disk # SKIP no file system can be mounted here'
    tap_count=$((tap_count + 1))
fi
tap_close
