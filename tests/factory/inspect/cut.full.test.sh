#!/bin/bash
# A real archive cut off at every byte: each time one error, quickly. out/ has one after ./run; without,
# the small ones that archive_tool writes are cut.
# timeout: 3000
set -uo pipefail
. "$(dirname "$0")/../../scripts/mesa.sh"
tool=$(build_folder)/tests/factory/inspect/archive_tool
# With the sanitizers where that build is there: a byte read behind the end is then noticed.
sanitized=$TP_SRC/build-test/tests/factory/inspect/archive_tool
[[ ! -x $sanitized ]] || tool=$sanitized
if [[ ! -x $tool ]]; then
    echo 'archive_tool has not been built'
    exit 1
fi
"$tool" make "$TP_TMP" || exit 1
for archive in "$TP_TMP"/{android,qualcomm,WN-*}.zip "$TP_SRC"/out/*-b_Axxx.zip; do
    [[ -f $archive ]] || continue
    check "${archive##*/}: cut off at every byte, one error each" "$tool" cut "$archive"
done
tap_close
