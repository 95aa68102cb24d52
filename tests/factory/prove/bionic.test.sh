#!/bin/bash
# The parts that run a driver on Android's own C library: they are such that every bionic since API 28
# loads them, and a folder that is no such library is refused. With TURNPIKE_BIONIC_ROOT (a phone's five
# files) and TURNPIKE_ANDROID_ARCHIVE the driver itself is run.
# Functions are called through check, by name.
# timeout: 900
# shellcheck disable=SC2317,SC2016
set -u
. "$(dirname "$0")/../../scripts/mesa.sh"
build=${TP_BUILD:-$(dirname "$TURNPIKE")}
parts=$build/src/factory/prove/bionic
client=$parts/prove-client-bionic
simulator=$parts/libturnpike-kgsl-bionic.so
stub=$parts/libturnpike-android-stub-bionic.so
tmp=${TP_TMP:-$(mktemp -d)}
trap '[[ -n ${TP_TMP-} ]] || rm -rf "$tmp"' EXIT

says() { # pattern, command...
    local pattern=$1
    shift
    grep -E -- "$pattern" <("$@")
}
says_not() { # pattern, command...
    ! says "$@"
}

# ---- what any bionic since API 28 must be content with ----

only_needs() { # file, libraries that may be needed
    local file=$1 library
    shift
    while read -r library; do
        [[ " $* " == *" $library "* ]] || { echo "needs $library" && return 1; }
    done < <(readelf -Wd "$file" | sed -n 's/.*(NEEDED).*\[\(.*\)\]/\1/p')
}
symbols() { # D or U, file
    readelf -W --dyn-syms "$2" | awk -v undefined="$1" '
        $1 ~ /^[0-9]+:$/ && $8 != "" && ($7 == "UND") == (undefined == "U") { print $8 }' | sort -u
}
has_its_symbols() { # file
    comm -23 <(symbols U "$1") <({ symbols D "$parts/libc.so"; symbols D "$parts/libdl.so"; } | sort -u) |
        grep . && return 1
    symbols U "$1" | grep -q .
}
aligned() { # file: no segment asks for larger pages than API 28 has
    readelf -Wl "$1" | awk '$1 == "LOAD" && $NF != "0x1000" { bad = 1 } END { exit bad }'
}
hashed_twice() {
    says '\(HASH\)' readelf -Wd "$1" && says '\(GNU_HASH\)' readelf -Wd "$1"
}
for file in "$client" "$simulator" "$stub"; do
    name=${file##*/}
    check "$name is for arm64" says 'Machine: *AArch64' readelf -h "$file"
    check "$name needs bionic's libraries only" only_needs "$file" libc.so libdl.so libm.so
    check "$name uses symbols of API 28 only" has_its_symbols "$file"
    check "$name wants no version of a symbol, glibc's least" says_not 'GLIBC|VERNEED' readelf -Wd -V "$file"
    check "$name has no native TLS" says_not '^  TLS ' readelf -Wl "$file"
    check "$name has no packed relocations" says_not 'RELR' readelf -Wd "$file"
    check "$name has both tables of symbols" hashed_twice "$file"
    check "$name has segments for 4 KiB pages" aligned "$file"
    check "$name has nothing writable and executable" says_not 'LOAD.* RWE ' readelf -Wl "$file"
    check "$name has no relocation of a copy" says_not 'R_AARCH64_COPY|TLSDESC' readelf -Wr "$file"
done
check 'the client asks for linker64' says 'interpreter: /system/bin/linker64' readelf -Wl "$client"
check 'the driver finds the client'\''s hw_get_module' says '^hw_get_module$' symbols D "$client"
for symbol in open ioctl mmap close fstat access; do
    check "the simulator answers $symbol" says "^$symbol\$" symbols D "$simulator"
done
for symbol in property_get __android_log_print sync_wait AHardwareBuffer_getNativeHandle; do
    check "the stub has $symbol" says "^$symbol\$" symbols D "$stub"
done

# ---- folders that are no runtime, for what passes for a driver that needs bionic ----

ends_with() { # status, pattern of what it says, command...
    local want=$1 pattern=$2 status=0
    shift 2
    timeout 60 "$@" >"$tmp/said" 2>&1 || status=$?
    [[ $status -eq $want ]] && grep -Eq -- "$pattern" "$tmp/said" && return
    echo "status $status, said:" && cat "$tmp/said" && return 1
}
driver=$tmp/driver.so
echo 'extern const int HMI; const int HMI = 0;' |
    aarch64-linux-gnu-gcc -x c -shared -fPIC -nostdlib -o "$driver" - -L"$parts" \
        -Wl,--no-as-needed -lc
prove=("$TURNPIKE" prove "$driver" --chip 750)
check 'without a runtime the report names the option' ends_with 0 'not started: .*--bionic-root DIR' "${prove[@]}"
mkdir "$tmp/empty"
check 'an empty folder is no runtime, and a phone is named' \
    ends_with 3 'no linker64.*' "${prove[@]}" --bionic-root "$tmp/empty"
check 'where the file is on a phone is said' grep -q '/apex/com.android.runtime/bin/linker64' "$tmp/said"
check 'no folder is wrong usage' ends_with 2 'not a folder' "${prove[@]}" --bionic-root "$tmp/none"
check 'nor is a file' ends_with 2 'not a folder' "${prove[@]}" --bionic-root "$stub"

# Five files of the right kind, which start nothing.
mkdir "$tmp/like"
cp "$client" "$tmp/like/linker64"
for name in libc.so libm.so libdl.so libz.so; do
    cp "$stub" "$tmp/like/$name"
done
check 'files that start nothing are told from a driver that fails' \
    ends_with 2 'no program starts with this runtime' "${prove[@]}" --bionic-root "$tmp/like"
lacks() { # name: the one file of five that is not there
    rm -rf "$tmp/part" && cp -r "$tmp/like" "$tmp/part" && rm "$tmp/part/$1" &&
        ends_with 3 "no $1" "${prove[@]}" --bionic-root "$tmp/part" &&
        mkdir "$tmp/part/$1" && ends_with 3 "no $1" "${prove[@]}" --bionic-root "$tmp/part"
}
for name in linker64 libc.so libm.so libdl.so libz.so; do
    check "$name missing, or a folder, is named" lacks "$name"
done

# 2: damaged, or of another machine, or starts nothing; never a crash, and never the driver's fault.
refuses() { # name, content
    rm -rf "$tmp/part" && cp -r "$tmp/like" "$tmp/part" && cat "$2" >"$tmp/part/$1" &&
        ends_with 2 . "${prove[@]}" --bionic-root "$tmp/part"
}
refuses_cuts() { # name
    local size at
    size=$(stat -c %s "$tmp/like/$1")
    for at in 0 1 4 63 64 200 4095 4096 $((size / 2)); do
        head -c "$at" "$tmp/like/$1" >"$tmp/cut"
        refuses "$1" "$tmp/cut" || { echo "cut at $at" && return 1; }
    done
}
refuses_noise() { # name
    local at bytes
    bytes=$(stat -c %s "$tmp/like/$1")
    for at in 16 18 20 24 32 40 54 56 64 72 96 128; do
        cp "$tmp/like/$1" "$tmp/noise"
        printf '\377\377\377\177' | dd of="$tmp/noise" bs=1 seek="$at" conv=notrunc status=none
        refuses "$1" "$tmp/noise" || { echo "noise at $at of $bytes" && return 1; }
    done
}
head -c 65536 /dev/urandom >"$tmp/random"
printf 'not a library\n' >"$tmp/text"
for name in linker64 libc.so libz.so; do
    check "text as $name is refused" refuses "$name" "$tmp/text"
    check "random bytes as $name are refused" refuses "$name" "$tmp/random"
    check "a $name of another machine is refused" refuses "$name" "$TURNPIKE"
    check "a $name cut short is refused" refuses_cuts "$name"
done
for name in linker64 libc.so; do
    check "a $name with a damaged head is refused" refuses_noise "$name"
done

# ---- the driver itself ----

if [[ -z ${TURNPIKE_BIONIC_ROOT-} || -z ${TURNPIKE_ANDROID_ARCHIVE-} ]]; then
    tap 0 'a driver for Android runs # SKIP TURNPIKE_BIONIC_ROOT and TURNPIKE_ANDROID_ARCHIVE name none'
    tap_close
fi
flatten() { # phone's folder, flat one
    local name place
    mkdir -p "$2"
    for name in bin/linker64 lib64/libc.so lib64/libm.so lib64/libdl.so lib64/libz.so; do
        for place in "apex/com.android.runtime/${name/lib64/lib64/bionic}" "system/$name" "${name##*/}"; do
            [[ -f $1/$place ]] && cp "$1/$place" "$2/" && break
        done || return
    done
}
holds() { # jq's condition, file
    jq -e "$1" "$2" >/dev/null || { jq . "$2" && return 1; }
}
run=("$TURNPIKE" prove "$TURNPIKE_ANDROID_ARCHIVE")
check 'the driver is proved on every chip, on the C library of a phone' ends_with 0 . \
    "${run[@]}" --bionic-root "$TURNPIKE_BIONIC_ROOT" --json "$tmp/all.json"
check 'chips are among them' holds '[.chips[] | select(.status == "proved")] | length > 20' "$tmp/all.json"
check 'the five files may lie beside each other' flatten "$TURNPIKE_BIONIC_ROOT" "$tmp/flat"
check 'and prove the same' ends_with 0 . \
    "${run[@]}" --chip 750 --bionic-root "$tmp/flat" --json "$tmp/flat.json"
check 'of the chip asked for' holds '.chips | length == 1 and .[0].status == "proved"' "$tmp/flat.json"
tap_close
