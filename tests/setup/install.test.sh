#!/bin/bash
# ninja install into a folder of its own: the program there uses the patches and tools beside it.
# timeout: 60
set -uo pipefail
. "$(dirname "$0")/../scripts/mesa.sh"
unset TURNPIKE_DATADIR
build=$(build_folder)
cd "$TP_TMP" || exit 2
DESTDIR=$TP_TMP/root meson install -C "$build" --no-rebuild >log 2>&1
check 'it installs' test $? -eq 0
program=$(find root -name turnpike -type f -path '*/bin/*')
data=$TP_TMP/${program%/bin/turnpike}/share/turnpike
check 'the program' test -x "$program"
check 'every patch, with the files that they add' diff -r "$TP_SRC/patches" "$data/patches"
check 'every tool' diff -r "$TP_SRC/tools" "$data/tools"
for tool in "$data"/tools/*; do
    check "${tool##*/} can be run" test -x "$tool"
done
mkdir -p mesa/src patches
echo 25.0.7 >mesa/VERSION
echo nonsense >patches/1.edit
"$program" patch mesa --target host --check --json - >one.json
check 'the installed program has the patches, and not those of the current folder' json_holds \
    '.patches | length > 3' one.json
printf 'patch only-here\ntitle t\nupstream needed\nedit x.c\n  form "f"\n' >"$data/patches/00-altered.edit"
"$program" patch mesa --target host --check >said 2>&1
check 'it takes the installed ones, not those of the sources' grep -qF "$data/patches/00-altered.edit" said
tap_close
