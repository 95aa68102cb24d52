#!/bin/bash
# Other programs' view of the archives: unzip, zipinfo, readelf, jq, sha256sum, a full disk.
# Functions are called through check, by name.
# shellcheck disable=SC2317,SC2016
set -u
. "$(dirname "$0")/../../scripts/mesa.sh"
build=${TP_BUILD:-$(dirname "$TURNPIKE")}
tool=$build/tests/factory/package/package_tool
fixtures=$build/tests/factory/package
case $(uname -m) in
x86_64 | aarch64) machine=$(uname -m) ;;
*) echo "1..0 # SKIP drivers are made for x86_64 and aarch64" && exit 77 ;;
esac
tmp=${TP_TMP:-}
if [[ -z $tmp ]]; then
    tmp=$(mktemp -d)
    trap 'rm -rf "$tmp"' EXIT
fi

same() { # wanted, given
    [[ $1 == "$2" ]] || { printf 'wanted: %s\ngiven: %s\n' "$1" "$2" && return 1; }
}
pack() { # folder, fixture, system, machine, target, variant
    mkdir -p "$1"
    "$tool" "$fixtures/$2.so" "${@:1:1}" "${@:3}"
}

report=$(pack "$tmp/linux" linux-b linux "$machine" host b)
zip=$tmp/linux/WN-Linux-Turnip-25.0.7-b_Axxx.zip
check 'a linux archive is written' test -f "$zip"
check 'unzip -t finds no fault in it' unzip -tqq "$zip"
check 'it holds two flat entries, the metadata first' same \
    $'meta.json\nlibvulkan_freedreno.so' "$(unzip -Z1 "$zip")"
check 'zipinfo sees fixed times, modes and method' same \
    $'-rw-r--r-- unx defX 80-Jan-01 12:00 meta.json\n-rw-r--r-- unx defX 80-Jan-01 12:00 libvulkan_freedreno.so' \
    "$(LC_ALL=C unzip -Z -s "$zip" | grep '^-' | sed -E 's/ +/ /g' | cut -d' ' -f1,3,6-9)"
check 'the reported hash is the archive'"'"'s' same \
    "$(sha256sum <"$zip" | cut -d' ' -f1)" "$(sed -n 2p <<<"$report")"
unzip -p "$zip" libvulkan_freedreno.so >"$tmp/unpacked.so"
check 'the driver comes out byte for byte' cmp "$tmp/unpacked.so" "$fixtures/linux-b.so"
meta() { unzip -p "$1" meta.json | jq -r "$2"; }
check 'jq reads the keys that a linux archive must have' same \
    'architecture,author,buildCommit,description,driverVersion,libc,libraryName,librarySha256,mesaCommit,mesaSource,mesaVersion,name,packageVersion,platform,schemaVersion,variant,vendor' \
    "$(meta "$zip" 'keys | join(",")')"
check 'librarySha256 is the hash of what was packed' same \
    "$(sha256sum <"$tmp/unpacked.so" | cut -d' ' -f1)" "$(meta "$zip" .librarySha256)"
check 'the receipt names both hashes' same \
    "$(sed -n 2,3p <<<"$report")" "$(jq -r '.archive.sha256, .driver.sha256' "$zip.receipt.json")"
check 'the build-id of the receipt is readelf'"'"'s' same \
    "$(LC_ALL=C readelf -n "$tmp/unpacked.so" | sed -n 's/.*Build ID: //p')" \
    "$(jq -r .driver.build_id "$zip.receipt.json")"
noted() { LC_ALL=C readelf -n "$1" 2>&1 | grep -A1 '^ *turnpike  *0x' >/dev/null; }
check 'readelf finds the note turnpike' noted "$tmp/unpacked.so"

pack "$tmp/android" android-b android "$machine" host-android b >/dev/null
zip=$tmp/android/WN-Turnip-25.0.7-b_Axxx.zip
check 'unzip -t finds no fault in an android archive' unzip -tqq "$zip"
check 'jq reads exactly the nine keys, two of them integers' same \
    'author:string,description:string,driverVersion:string,libraryName:string,minApi:number,name:string,packageVersion:string,schemaVersion:number,vendor:string' \
    "$(meta "$zip" 'to_entries | sort_by(.key) | map(.key + ":" + (.value | type)) | join(",")')"
check 'they have the values that importers ask for' same '1 1 29 libvulkan_freedreno.so WN-25.0.7-b' \
    "$(meta "$zip" '[.schemaVersion, .packageVersion, .minApi, .libraryName, .driverVersion] | join(" ")')"

(umask 077 && TZ='<+14>-14' LANG=C LC_ALL=C pack "$tmp/there" linux-b linux "$machine" host b >/dev/null)
(umask 000 && TZ='EST5EDT,M3.2.0,M11.1.0' LANG=C.UTF-8 LC_ALL=C.UTF-8 \
    pack "$tmp/here" linux-b linux "$machine" host b >/dev/null)
for file in WN-Linux-Turnip-25.0.7-b_Axxx.zip WN-Linux-Turnip-25.0.7-b_Axxx.zip.receipt.json; do
    check "another zone, language and umask give the same bytes: ${file#*Axxx.}" \
        cmp "$tmp/here/$file" "$tmp/there/$file"
done

pack "$tmp/arm64" arm64-b linux aarch64 linux-arm64 b >/dev/null
check 'an arm64 driver is packed as aarch64' same aarch64 \
    "$(meta "$tmp/arm64/WN-Linux-Turnip-25.0.7-b_Axxx.zip" .architecture)"

refused() { # fixture, words that the reason holds
    local out status=0
    out=$(pack "$tmp/refused" "$1" linux "$machine" host b 2>&1) || status=$?
    same 1 "$status" && same 0 "$(find "$tmp/refused" -type f | wc -l)" &&
        { grep -qF -- "$2" <<<"$out" || { printf '%s\n' "$out" && return 1; }; }
}
check 'a driver with debug information is refused' refused debug 'strip'
check 'a driver with a search path is refused' refused runpath '/nowhere/lib'
check 'a driver without a note is refused' refused no-note 'note `turnpike`'
check 'a driver of the other variant is refused' refused linux-p 'variant'

# A disk with one free page: the archive or its receipt cannot be completed.
full_disk() {
    mkdir -p "$tmp/full"
    unshare -m sh -c '
        mount -t tmpfs -o size=4k none "$1" || exit 9
        head -c 4096 /dev/zero >"$1/filler"
        "$2" "$3" "$1" linux "$4" host b 2>"$1.log"; status=$?
        cat "$1.log"
        [ "$status" -eq 1 ] && grep -q "No space left" "$1.log" && [ "$(ls -A "$1")" = filler ]
    ' sh "$tmp/full" "$tool" "$fixtures/linux-b.so" "$machine"
}
if unshare -m sh -c 'mount -t tmpfs none /mnt' 2>/dev/null; then
    check 'a full disk is named and leaves nothing behind' full_disk
else
    tap 0 'a full disk is named and leaves nothing behind # SKIP no right to mount'
fi

tap_close
