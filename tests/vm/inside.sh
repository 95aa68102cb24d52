#!/bin/bash
# What ./test --vm runs in the virtual machine: the parts beside this file, as one list of checks.
#   inside.sh TURNPIKE [PART…]
set -uo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
TURNPIKE=$1
shift
TP_TMP=$(mktemp -d)
export TURNPIKE TP_TMP
# shellcheck source=tests/scripts/mesa.sh
. "$here/../scripts/mesa.sh"
# shellcheck source=tests/frames/clients/lib.sh
. "$here/../frames/clients/lib.sh"
cd "$TP_TMP" || exit 2
[[ $# -gt 0 ]] || set -- kms buffers compositor dri3
for part; do
    start=${EPOCHREALTIME/./}
    # shellcheck source=/dev/null
    . "$here/$part.sh"
    printf '# %s: %d s\n' "$part" $(((${EPOCHREALTIME/./} - start) / 1000000))
done
tap_close
