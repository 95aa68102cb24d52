# shellcheck shell=bash
# Both variants of the real driver from one build directory, held against a clean build of the second.
# Sourced with TURNPIKE and TP_TMP set; needs mesa.sh.

recipe_tool() {
    "$(build_folder)/tests/factory/recipe/recipe_tool" "$@"
}

seconds() { # "seconds CONFIGURE COMPILE steps N" → the sum
    awk '/^seconds/ { print $2 + $3 }' <<<"$1"
}

# Checks one target; leaves TP_TMP/TARGET-{b,p}.so.
check_variants() { # target
    local target=$1 dir=$TP_TMP/$1 pristine first second status share
    pristine=$(mesa_pristine)
    check "$target: there is Mesa's source" test -n "$pristine"
    mkdir -p "$dir/a" "$dir/another/place"
    cp -r "$pristine" "$dir/a/mesa"
    cp -r "$pristine" "$dir/another/place/tree"

    status=0
    "$TURNPIKE" patch "$dir/a/mesa" --target "$target" --variant b >"$dir/patch-b" || status=$?
    tap "$status" "$target: it is patched for b"
    first=$(recipe_tool "$target" "$dir/a/mesa" "$dir/a/build" "$TP_TMP/$target-b.so") || status=$?
    tap "$status" "$target: b is built ($first)"
    "$TURNPIKE" patch "$dir/a/mesa" --target "$target" --variant p >"$dir/patch-p" || status=$?
    second=$(recipe_tool -c "$target" "$dir/a/mesa" "$dir/a/build" "$TP_TMP/$target-p.so") || status=$?
    tap "$status" "$target: p is built in the same folder ($second)"
    [[ $status -eq 0 ]] || return

    share=$(awk -v a="$(seconds "$first")" -v b="$(seconds "$second")" \
        'BEGIN { printf "%.1f", 100 * b / a }')
    status=0
    awk -v share="$share" 'BEGIN { exit share > 10 }' || status=1
    tap "$status" "$target: the second variant costs $share % of the first, 10 at most"
    status=0
    ! cmp -s "$TP_TMP/$target-b.so" "$TP_TMP/$target-p.so" || status=1
    tap "$status" "$target: the variants differ"
    check "$target: b loads" recipe_tool -k "$target" "$dir/a/mesa" "$dir/a/build" \
        "$TP_TMP/$target-b.so"
    check "$target: p loads" recipe_tool -k "$target" "$dir/a/mesa" "$dir/a/build" \
        "$TP_TMP/$target-p.so"

    "$TURNPIKE" patch "$dir/another/place/tree" --target "$target" --variant p >"$dir/patch-clean"
    TZ=Asia/Tokyo LC_ALL=C.UTF-8 CFLAGS=-O0 recipe_tool "$target" "$dir/another/place/tree" \
        "$dir/another/build" "$dir/clean-p.so"
    check "$target: a clean build of p, in another place, gives the same bytes" \
        cmp "$TP_TMP/$target-p.so" "$dir/clean-p.so"
    status=0
    ! grep -qF "$TP_TMP" "$dir/clean-p.so" || status=1
    tap "$status" "$target: no path of this machine is in it"
    check "$target: the tree is restored" "$TURNPIKE" patch "$dir/a/mesa" --revert
    check "$target: and holds nothing that it did not hold" diff -rq "$pristine" "$dir/a/mesa"
    rm -rf "$dir"
}
