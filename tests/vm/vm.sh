#!/bin/bash
# ./test --vm: real buffers, in a virtual machine with a kernel of its own (kernel, kernel.config).
# timeout: 1800
set -uo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
kernel=$("$here/kernel") || exit
# What goes wrong inside is told within this time: emulated, it takes about two minutes.
"$here/run" -m 1024 -t 600 -o "$TP_TMP" -- bash "$here/inside.sh" "$TURNPIKE"
status=$?
printf '# the kernel: %s\n' "$kernel"
[[ ! -s $TP_TMP/kms.md ]] || sed 's/^/# /' "$TP_TMP/kms.md"
exit $status
