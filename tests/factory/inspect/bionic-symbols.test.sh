#!/bin/bash
# tools/bionic-symbols: small maps of three releases to a table, and libraries held against the table.
# Functions are called through check, by name.
# shellcheck disable=SC2317
set -u
. "$(dirname "$0")/../../scripts/mesa.sh"
tool=$TP_SRC/tools/bionic-symbols
cd "$TP_TMP" || exit 2

mkdir -p maps/{24,28,30}
cat >maps/24/libc.map.txt <<'END'
LIBC {
  global:
    malloc;
    old_name; # introduced=21
    lib_private_here; # arm x86
    for_all_but; # introduced-arm=21 introduced-arm64=24
  local:
    *;
};
LIBC_PRIVATE {
  global:
    inner_thing;
} LIBC;
END
cat >maps/28/libc.map.txt <<'END'
LIBC {
  global:
    malloc;
    old_name; # introduced=21
} LIBC;
LIBC_P { # introduced=28
  global:
    fresh;
    environ_like; # var
} LIBC;
LIBC_PRIVATE {
  global:
    inner_thing;
    second_thing;
} LIBC;
END
cat >maps/30/libc.map.txt <<'END'
# A comment { with a brace
LIBC {
  global:
    malloc;
    for_arm; # arm x86 introduced=24
    for_all_but; # introduced-arm=21 introduced-arm64=24
    for_riscv; # riscv64
    for_mine; # arm64 introduced=26
    late_in_map; # introduced=28
    extern "C++" {
      android::hidden*;
    };
  local:
    *;
};
LIBC_P { # introduced=28
  global:
    fresh;
    environ_like; # var
    weaker; # weak introduced=29
} LIBC;
LIBC_PRIVATE {
  global:
    second_thing;
} LIBC;
LIBC_PLATFORM {
  global:
    of_the_platform; # llndk apex
} LIBC;
LIBC_37 { # introduced=37
  global:
    of_the_future;
} LIBC;
END

cat >wanted <<'END'
environ_like 28
for_all_but 24
for_mine 30
fresh 28
inner_thing 21-28 p
late_in_map 30
malloc
of_the_platform 30 p
old_name 21-28
second_thing 28 p
weaker 30
END
made() {
    "$tool" make maps >table && sed -n '/^\[libc.so\]/,/^$/p' table | sed '1d;/^$/d' >given &&
        diff wanted given
}
# What no map of its own release has is not there, whatever a later map says of it (for_mine, late_in_map).
check "maps of three releases become one table" made

# The data's own: in the order of its libraries' names and symbols, each said once.
in_order() {
    awk '/^#/ || NF == 0 { next }
        /^\[/ { last = ""; if ($0 <= library) { print "library " $0; bad = 1 } library = $0; next }
        { if (last != "" && $1 <= last) { print library, $1; bad = 1 } last = $1 }
        END { exit bad }' "$TP_SRC/data/$1"
}
export LC_ALL=C
check "bionic-symbols.txt is in order" in_order bionic-symbols.txt
check "platform-symbols.txt is in order" in_order platform-symbols.txt

says() { # text, command...
    local text=$1
    shift
    "$@" >said 2>&1
    grep -q -- "$text" said || { cat said; false; }
}
echo 'int property_get, call_once, nobody;' | gcc -shared -nostdlib -x c -o libcutils.so -
check "a symbol that no row has is told" says "  unlisted nobody" "$tool" check 29 libcutils.so
check "a row's symbol that is not there is told" says "  missing property_set" "$tool" check 29 libcutils.so
echo 'int hw_get_module, hw_get_module_by_class;' | gcc -shared -nostdlib -x c -o libhardware.so -
check "a library that agrees is told so" says "libhardware.so at API 29: 0 disagree" "$tool" check 29 libhardware.so
awk '/^\[/ { here = /libcutils/; next } here && NF && !/^#/ { print "int " $1 ";" }' \
    "$TP_SRC/data/platform-symbols.txt" | gcc -shared -nostdlib -x c -o libcutils.so -
check "one that is there too early is told" says "early atrace_get_enabled_tags (listed from 31 on)" \
    "$tool" check 30 libcutils.so
check "and not where it has come" says "libcutils.so at API 36: 0 disagree" "$tool" check 36 libcutils.so
usage() {
    "$tool" nonsense 2>said
    test $? -eq 2 && grep -q 'bionic-symbols make MAPS' said
}
check "wrong usage is answered with the right one" usage

tap_close
