#!/bin/bash
# The display fix, broken on purpose in a tree of real Mesa: the checks of redmagic.sh fail, and just
# those that are about what was broken. TP_WORK: a folder to keep the build in (with CCACHE_DIR's
# compiler cache in a second run nothing but the mutants is compiled).
# timeout: 3600
set -uo pipefail
. "$(dirname "$0")/../scripts/mesa.sh"
. "$(dirname "$0")/redmagic.sh"
export TURNPIKE_DATADIR=$TP_SRC
out=${TP_WORK:-$TP_TMP/out}
mesa=$out/work/host-android/mesa
build=$out/work/host-android/build
driver=src/freedreno/vulkan/libvulkan_freedreno.so
if [[ ! -f $build/$driver ]]; then
    pristine=$(mesa_pristine) || exit
    "$TURNPIKE" build --mesa "$pristine" --target host-android --variants b --no-prove --out "$out" \
        >"$TP_TMP/build.log" 2>&1 || { cat "$TP_TMP/build.log" && exit 1; }
fi
cd "$TP_TMP" || exit 2

# As turnpike runs it (src/factory/recipe/environment.c).
run_ninja() {
    env -u CFLAGS -u CXXFLAGS -u LDFLAGS -u CC -u CXX -u PYTHONPATH PATH="/usr/bin:/bin:$PATH" LC_ALL=C \
        TZ=UTC PYTHONHASHSEED=0 PYTHONDONTWRITEBYTECODE=1 SOURCE_DATE_EPOCH=315532800 \
        MESA_GIT_SHA1_OVERRIDE= ninja -C "$build" "$driver" >ninja.log 2>&1 && return
    tail -n 20 ninja.log
    return 1
}

restore() {
    local file
    while IFS= read -r file; do
        mv "$mesa/$file.whole" "$mesa/$file" && touch "$mesa/$file"
    done < <(cd "$mesa" && find src -name '*.whole' | sed 's/\.whole$//')
}
trap restore EXIT
restore

# One sed command on one file, which must change it.
break_it() { # file, sed's script
    [[ -f $mesa/$1.whole ]] || cp "$mesa/$1" "$mesa/$1.whole"
    cp "$mesa/$1" before
    sed -i "$2" "$mesa/$1"
    ! cmp -s before "$mesa/$1"
}

# The names of the checks that fail for the driver as it is now.
failing() { # file
    (redmagic_checks "$build/$driver" now) >"$1.tap" 2>&1 # a subshell: its failures are not ours
    sed -n 's/^not ok [0-9]* - now: \{0,1\}//p' "$1.tap" | sort >"$1"
    # None of them went missing.
    test "$(grep -cE '^(not )?ok ' "$1.tap")" -eq "$(grep -cE '^(not )?ok ' whole.tap)"
}

# Compares with standard input: names, or beginnings of names where they end in "…".
fail_just() { # file
    local name status=0
    cp "$1" left
    while IFS= read -r name; do
        if [[ $name == *… ]]; then
            grep -qF -- "${name%…}" left || { echo "# passes: $name" && status=1; }
            grep -vF -- "${name%…}" left >left.now
        else
            grep -qxF -- "$name" left || { echo "# passes: $name" && status=1; }
            grep -vxF -- "$name" left >left.now
        fi
        mv left.now left
    done
    [[ ! -s left ]] || { sed 's/^/# fails as well: /' left && status=1; }
    return "$status"
}

check 'the driver as it should be is compiled' run_ninja
check 'it is looked at' failing whole
check 'it passes' test -s whole.tap -a ! -s whole

check 'without its row in the table the backend is compiled' eval \
    'break_it src/util/u_gralloc/u_gralloc.c "/U_GRALLOC_TYPE_AIMAPPER/d" && run_ninja'
check 'it is looked at, as a whole' failing row
check 'then the fallback guesses from flags, and just these checks fail' fail_just row <<'LIST'
says which gralloc it uses
says once that COMPRESSION tells a compressed layout
says once that PIXEL_FORMAT_MODIFIER tells a compressed layout
says once that PLANE_LAYOUTS tells a compressed layout
a buffer allocated with that usage comes back compressed
such a buffer is rendered to in tiles and with flags
qti-840-bare qti-bare: 0x500000000000001 0+4864
many-planes …
near-miss-flags: …
nv12 nv12-unsaid: …
ycbcr-3: …
yv12: …
nv12-ubwc-2 …
nv12-ubwc nv12-ubwc-hidden …
dsc foreign …
near-miss contradiction …
qti-3-planes offset-64 …
YCbCr of an unknown dataspace is BT.601, narrow
lossy compression is told as such
version symbols: stablec default 1
version symbols: both default 1
version symbols: both mapper-4 1
version symbols: neither default 1
a mapper that knows no handle leaves the handles' flags
an IMapper with a newer table is used
LIST
restore

check 'without the collapse it is compiled' eval 'break_it src/util/u_gralloc/u_gralloc_aimapper.c \
    "s/find_evidence(mapper, handle, compression, planes, count, modifier);/NOT_COMPRESSED;/" && run_ninja'
check 'it is looked at, as a whole' failing collapse
check 'then compressed buffers are refused as disjoint, and just these checks fail' fail_just collapse <<'LIST'
the client's checks hold
one with compression disabled in lines, without flags
says once that COMPRESSION tells a compressed layout
says once that PIXEL_FORMAT_MODIFIER tells a compressed layout
says once that PLANE_LAYOUTS tells a compressed layout
a buffer allocated with that usage comes back compressed
such a buffer is rendered to in tiles and with flags
default qti-840 …
qti-swapped …
qti-840-bare …
qti-840-rgbx …
qti-840-fp16: …
qti-840-565: …
qti-840-small: …
qti-840-odd: …
LIST
restore

check 'with the vendor bit in the conversion of usages it is compiled' eval '
    break_it src/vulkan/runtime/vk_android.c \
        "/^vk_image_usage_to_ahb_usage(/,/^}/s/uint64_t ahb_usage = 0;/uint64_t ahb_usage = UINT64_C(1) << 28;/" &&
    break_it src/freedreno/vulkan/tu_formats.cc \
        "s/tu_ahb_usage_compressed(physical_device, base_info, \(.*\));/\1;/" && run_ninja'
check 'it is looked at, as a whole' failing conversion
check 'then every buffer is to be compressed, and just these checks fail' fail_just conversion <<'LIST'
with compression disabled it has not
with linear tiling it has not
a format that may become any has not
what the driver tries with the allocator has not
what it allocates to export has not
with compression disabled it comes back linear
one with compression disabled in lines, without flags
LIST
restore

check 'without the vendor bit it is compiled' eval 'break_it src/freedreno/vulkan/tu_device.cc \
    "/ahb_vendor_usage_compressed = /d" && run_ninja'
check 'it is looked at, as a whole' failing no-bit
check 'then no buffer is allocated compressed, and just these checks fail' fail_just no-bit <<'LIST'
a render target's usage has the vendor bit
a swapchain's pair of formats has it
formats that this GPU compresses alike have it
a buffer allocated with that usage comes back compressed
such a buffer is rendered to in tiles and with flags
LIST
restore

check 'the driver as it was is compiled again' run_ninja
check 'it is looked at, as a whole' failing again
check 'and passes again' test ! -s again
tap_close
