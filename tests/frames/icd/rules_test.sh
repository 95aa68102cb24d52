#!/bin/bash
# The rules' table names tests that are there, and each test of the rules is in it.
#   rules_test.sh TABLE FOLDER
set -eu
table=$1 folder=$2 bad=0
named=$(grep -oE '`[a-z_]{12,}`' "$table" | tr -d '`' | sort -u)
there=$(sed -nE 's/.*cmocka_unit_test\((\w+)\).*/\1/p' "$folder"/*_test.c | sort -u)
ours=$(sed -nE 's/.*cmocka_unit_test\((\w+)\).*/\1/p' "$folder"/lawful_*_test.c | sort -u)
[[ -n $named && -n $ours ]]
for name in $(comm -23 <(echo "$named") <(echo "$there")); do
    echo "$table: there is no test $name" >&2
    bad=1
done
for name in $(comm -13 <(echo "$named") <(echo "$ours")); do
    echo "$table: $name is not there" >&2
    bad=1
done
exit $bad
