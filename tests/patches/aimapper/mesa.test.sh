#!/bin/bash
# The backend of IMapper 5 against Mesa's own headers, with all warnings as errors: the tree as it
# is, and the same with the interface that newer Mesas have; and that the stand-ins of the unit tests
# have Mesa's numbers.
# timeout: 300
set -uo pipefail
. "$(dirname "$0")/../../scripts/mesa.sh"
pristine=$(mesa_pristine) || exit
here=$TP_SRC/tests/patches/aimapper
source=$TP_SRC/patches/aimapper/u_gralloc_aimapper.c

# Mesa's headers are not ours to mend: system headers do not warn.
compile() { # compiler, u_gralloc's folder, more...
    local compiler=$1 folder=$2
    shift 2
    "$compiler" -std=gnu11 -D_GNU_SOURCE -O2 -Wall -Wextra -Werror -fsyntax-only \
        -DHAVE_ENDIAN_H -DHAVE_SECURE_GETENV -DHAVE_STRUCT_TIMESPEC -DHAVE_PTHREAD \
        -DHAVE_LINUX_FUTEX_H -DHAVE_FUNC_ATTRIBUTE_UNUSED \
        -isystem "$folder" -isystem "$pristine/include/android_stub" \
        -isystem "$pristine/include" -isystem "$pristine/src" "$@"
}

newer=$TP_TMP/newer
mkdir "$newer"
cp "$pristine"/src/util/u_gralloc/*.h "$newer/"
sed -i 's/^   int strides\[4\];/&\n   uint64_t alloc_size;\n#define U_GRALLOC_HAS_ALLOC_SIZE 1\n   uint32_t layer_count;\n#define U_GRALLOC_HAS_LAYER_COUNT 1/' \
    "$newer/u_gralloc.h"
check 'the newer interface is made' grep -q alloc_size "$newer/u_gralloc.h"

for compiler in gcc clang aarch64-linux-gnu-gcc; do
    command -v $compiler >/dev/null || continue
    for level in 30 35; do
        check "$compiler, API $level" compile $compiler "$pristine/src/util/u_gralloc" \
            -DANDROID_API_LEVEL=$level "$source"
        check "$compiler, API $level, newer interface" compile $compiler "$newer" \
            -DANDROID_API_LEVEL=$level "$source"
    done
done

# Each enumerator of the stand-ins is asserted to have the value that Mesa's header gives it.
{
    echo '#include "u_gralloc_internal.h"'
    echo '#include <assert.h>'
    sed -nE 's/^ +(__DRI_[A-Z0-9_]+) = ([0-9a-fx]+),$/static_assert(\1 == \2, "\1");/p' \
        "$here/mesa/u_gralloc_internal.h"
} >"$TP_TMP/numbers.c"
check 'there are numbers' test "$(grep -c static_assert "$TP_TMP/numbers.c")" -eq 10
check "the stand-ins' numbers are Mesa's" compile gcc "$pristine/src/util/u_gralloc" \
    "$TP_TMP/numbers.c"
tap_close
