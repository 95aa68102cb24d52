#!/bin/bash
# Which driver is taken, and what people are told: library, archive, manifest, the next ICD, itself,
# and none. With a library as its argument: the ICD; the archive's reader lies beside it.
set -u
icd=$(realpath "$1") driver=$2 hmi=$(realpath "$3")
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
failed=0
printf '{"file_format_version": "1.0.1", "ICD": {"library_path": "%s", "api_version": "1.3.0"}}\n' \
    "$icd" >"$dir/icd.json"
export VK_DRIVER_FILES=$dir/icd.json LC_ALL=C
export XDG_CONFIG_HOME=$dir/config XDG_CACHE_HOME=$dir/cache HOME=$dir
unset XDG_RUNTIME_DIR TURNPIKE_SOCKET TURNPIKE_DRIVER TURNPIKE_LOG DISPLAY WAYLAND_DISPLAY

summary() {
    timeout 60 vulkaninfo --summary 2>"$dir/err" >"$dir/out"
}
says() { # what, pattern, file
    if grep -qE "$2" "$dir/$3"; then
        echo "ok - $1"
    else
        echo "not ok - $1"
        sed 's/^/# /' "$dir/out" "$dir/err" | head -n 20
        failed=1
    fi
}

TURNPIKE_DRIVER=$driver summary
says 'a library is the driver' 'driverName += llvmpipe' out

cp "$driver" "$dir/libvulkan_some.so"
(cd "$dir" && printf '{"libraryName": "libvulkan_some.so"}' >meta.json &&
    python3 -m zipfile -c driver.zip meta.json libvulkan_some.so)
TURNPIKE_DRIVER=$dir/driver.zip summary
says 'an archive holds the driver' 'driverName += llvmpipe' out
find "$dir" -name '.turnpike*' >"$dir/left"
echo "left: $(wc -l <"$dir/left")" >"$dir/out"
says 'nothing of it is left' '^left: 0$' out

# Android's kind.
export HMI_LOG=$dir/hmi
TURNPIKE_DRIVER=$hmi summary
says "an Android driver's HMI is enough" 'driverName += llvmpipe' out
cp "$hmi" "$dir/libvulkan_hmi.so"
(cd "$dir" && printf '{"libraryName": "libvulkan_hmi.so"}' >meta.json &&
    python3 -m zipfile -c hmi.zip meta.json libvulkan_hmi.so)
TURNPIKE_DRIVER=$dir/hmi.zip summary
says "an archive with an Android driver's HMI is, too" 'driverName += llvmpipe' out
says 'each device that was opened is closed' '^ococ$' hmi

printf '{"ICD": {"api_version": "1.1.1", "library_path": "./libvulkan_some.so"}}' >"$dir/other.json"
TURNPIKE_DRIVER=$dir/other.json summary
says 'a manifest names the driver, beside itself' 'driverName += llvmpipe' out

(cd "$dir" && TURNPIKE_DRIVER=libvulkan_some.so summary)
says 'a name without a folder is a file here' 'driverName += llvmpipe' out

TURNPIKE_DRIVER=${driver##*/} LD_LIBRARY_PATH=${driver%/*} summary
says 'or else a library where the linker looks' 'driverName += llvmpipe' out
TURNPIKE_DRIVER=libvulkan_none.so summary
says 'and is told where there is none' 'turnpike: libvulkan_none.so: the driver cannot be loaded: cannot open' err

summary
says 'without a word the next driver with a device is taken' 'driverName += llvmpipe' out

VK_DRIVER_FILES=$dir/icd.json:$dir/other.json summary
says 'and of those that the loader was told of first' 'driverName += llvmpipe' out

TURNPIKE_DRIVER=$icd summary
says 'itself is no driver' "turnpike: .*this is turnpike's own library; name the driver" err
TURNPIKE_DRIVER=$dir/icd.json summary
says 'nor by its manifest' "this is turnpike's own library" err
TURNPIKE_DRIVER=$dir/none.so summary
says 'a file that is not there is told' 'none.so: the driver cannot be opened: No such file' err
TURNPIKE_DRIVER=$dir/meta.json summary
says 'a manifest without a library is told' 'it names no library as ICD.library_path' err
TURNPIKE_DRIVER=/bin/sh summary
says 'a program is no driver' 'turnpike: /bin/sh: ' err
libc=$(ldd "$driver" | sed -nE 's/.*libz\.so[^ ]* => ([^ ]+).*/\1/p' | head -n 1)
TURNPIKE_DRIVER=$libc summary
says 'nor is any library' 'the library is no Vulkan driver' err
head -c 3000 "$dir/driver.zip" >"$dir/cut.zip"
TURNPIKE_DRIVER=$dir/cut.zip summary
says 'a damaged archive is told' 'cut.zip: the archive is damaged' err

# Files that cannot be mapped, or not here: as they are, in an archive and by a manifest.
other=aarch64 here=$(uname -m) number='\xb7\x00'
[[ $here != aarch64 ]] || { other=x86_64 number='\x3e\x00'; }
cp "$driver" "$dir/other.so"
printf %b "$number" | dd of="$dir/other.so" bs=1 seek=18 conv=notrunc status=none
head -c 200000 "$driver" >"$dir/cut.so"
sed 's/libc\.so\.6/liblog.so/g' "$hmi" >"$dir/android.so"
told() { # what, library, pattern
    (cd "$dir" && cp "$2" libvulkan_some.so && rm -f such.zip && python3 -m zipfile -c such.zip meta.json libvulkan_some.so)
    TURNPIKE_DRIVER=$dir/$2 summary
    says "$1" "turnpike: $dir/$2: $3" err
    TURNPIKE_DRIVER=$dir/such.zip summary
    says '  in an archive, too' "turnpike: $dir/such.zip: $3" err
    TURNPIKE_DRIVER=$dir/other.json summary
    says '  and by a manifest' "turnpike: $dir/other.json: $3" err
}
printf '{"libraryName": "libvulkan_some.so"}' >"$dir/meta.json"
told "another machine's driver is told" other.so "the driver is for $other, this process is $here; take the"
told 'a library that is cut off is told, not mapped' cut.so 'the library is damaged, or was cut off; get'
told "Android's driver is told" android.so "the driver is Android's, .*liblog.so: cannot open.*; take the one for Linux"
if ((EUID == 0)); then
    may_less=(setpriv '--bounding-set=-dac_override,-dac_read_search')
else
    may_less=()
fi
cp "$driver" "$dir/closed.so" && chmod 0 "$dir/closed.so"
TURNPIKE_DRIVER=$dir/closed.so timeout 60 "${may_less[@]}" vulkaninfo --summary >"$dir/out" 2>"$dir/err"
says 'a file that may not be read is told' 'closed.so: the driver cannot be opened: Permission denied; make it, .* readable for' err
TURNPIKE_DRIVER=$dir/none.so TURNPIKE_LOG=$dir/log summary
says 'and into a log, if people want one' 'the driver cannot be opened' log
exit $failed
