# data/*-symbols.txt to C: the tables that bionic.c looks into, a library each, in the files' order.
function finish() {
    if (library == "") return
    printf "};\n"
    index_rows = index_rows sprintf("    {\"%s\", symbols_%d, sizeof symbols_%d / sizeof *symbols_%d},\n",
                                    library, n, n, n)
}
BEGIN { print "#include \"factory/inspect/bionic.h\"\n" }
/^#/ || NF == 0 { next }
/^\[/ {
    finish()
    library = substr($1, 2, length($1) - 2)
    n++
    printf "static const struct tp_bionic_symbol symbols_%d[] = {\n", n
    next
}
{
    since = 21; until = 0
    if (split($2, span, "-") && span[1] ~ /^[0-9]+$/) {
        since = span[1]
        if (span[2]) until = span[2]
    }
    printf "    {\"%s\", %d, %d, %s},\n", $1, since, until, $NF == "p" ? "true" : "false"
}
END {
    finish()
    printf "\nconst struct tp_bionic_library tp_bionic_libraries[] = {\n%s    {0},\n};\n", index_rows
}
