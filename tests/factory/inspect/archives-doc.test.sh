#!/bin/bash
# The tables of docs/archives.md are those of the program.
#
#     tests/factory/inspect/archives-doc.test.sh --write     renews them
set -uo pipefail
src=${TP_SRC-$(cd "$(dirname "$0")/../../.." && pwd)}
tool=$(dirname "${TURNPIKE-$src/build/turnpike}")/tests/factory/inspect/archive_tool
doc=$src/docs/archives.md
if [[ ! -x $tool ]]; then
    echo 'archive_tool has not been built'
    exit 1
fi

. "$src/tests/scripts/tables.sh"

for name in rules importers; do
    if [[ ${1-} == --write ]]; then
        table_write "$doc" "$name" "$tool" table "$name"
    elif table_is_fresh "$doc" "$name" "$tool" table "$name"; then
        echo "ok - docs/archives.md: the table of $name is up to date"
    else
        echo "not ok - docs/archives.md: the table of $name is not up to date (archives-doc.test.sh --write)"
    fi
done
