# shellcheck shell=bash
# Tables of a document that a program prints, between the lines "<!-- table: NAME -->" and
# "<!-- end -->". Sourced by bash.

# The rows that the document has.
table_in() { # document, name
    sed -n "/<!-- table: $2 -->/,/<!-- end -->/p" "$1" | grep '^|'
}

# Are they, and are they what the command prints? Shows what differs.
table_is_fresh() { # document, name, command...
    local doc=$1 name=$2 rows
    shift 2
    rows=$(table_in "$doc" "$name") || return
    diff <("$@") <(printf '%s\n' "$rows")
}

# Puts there what the command prints.
table_write() { # document, name, command...
    local doc=$1 name=$2 new
    shift 2
    new=$(mktemp)
    "$@" >"$new.table" || exit 1
    sed -e "/<!-- table: $name -->/,/<!-- end -->/{/^|/d;/^$/d}" "$doc" |
        sed -e "/<!-- table: $name -->/{
            a\\

            r $new.table
            a\\

        }" >"$new"
    cat "$new" >"$doc"
    rm -f "$new" "$new.table"
}
