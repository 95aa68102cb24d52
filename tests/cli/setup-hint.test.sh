#!/bin/bash
# A plain `meson setup` where ./setup has not been says so.
set -uo pipefail
. "$(dirname "$0")/../scripts/mesa.sh"
cd "$TP_TMP" || exit 2
export PATH=/usr/bin:$PATH
status=0
PKG_CONFIG_LIBDIR=$PWD PKG_CONFIG_PATH='' meson setup bare "$TP_SRC" >out 2>&1 </dev/null || status=$?
check 'without the libraries it fails' test $status -ne 0
check 'and names ./setup' grep -qE 'ERROR: .* is not installed here: run \./setup' out
tap_close
