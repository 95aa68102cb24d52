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

# What stands between the lines "<!-- table: NAME -->" and "<!-- end -->".
part() { # name
    sed -n "/<!-- table: $1 -->/,/<!-- end -->/p" "$doc" | grep '^|'
}

write() { # name
    local new
    new=$(mktemp)
    "$tool" table "$1" >"$new.table" || exit 1
    sed -e "/<!-- table: $1 -->/,/<!-- end -->/{/^|/d;/^$/d}" "$doc" |
        sed -e "/<!-- table: $1 -->/{
            a\\

            r $new.table
            a\\

        }" >"$new"
    cat "$new" >"$doc"
    rm -f "$new" "$new.table"
}

for name in rules importers; do
    if [[ ${1-} == --write ]]; then
        write "$name"
    elif diff <("$tool" table "$name") <(part "$name"); then
        echo "ok - docs/archives.md: the table of $name is up to date"
    else
        echo "not ok - docs/archives.md: the table of $name is not up to date (archives-doc.test.sh --write)"
    fi
done
