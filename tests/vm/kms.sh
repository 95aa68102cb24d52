# shellcheck shell=bash
# Part of inside.sh: the checks of tests/frames/kms side by side, on vkms (syncobj on virtio-gpu:
# vkms has none), on our card behind the preload library, and on our core alone. What a kernel's card
# does, ours must do, too; a check that fails on a kernel's card is itself wrong. A table of the
# figures goes to $VM_OUT/kms.md.

kms_programs=$(dirname "$TURNPIKE")/tests/frames/kms
# A program with a sanitizer insists on being loaded before the preload library.
export ASAN_OPTIONS=verify_asan_link_order=0${ASAN_OPTIONS:+:$ASAN_OPTIONS}
# Nobody but a kernel can do these: look at an address before it reads there.
kms_kernels_only='a_bad_address_is_a_fault outlandish_addresses_and_counts_are_refused'

# The names of the tests with that result in a log.
kms_with() { # result, log
    sed -nE "s/^\\[ *$1 *\\] ([A-Za-z_][A-Za-z0-9_]*)\$/\\1/p" "$2" | sort -u
}
kms_count() { # result, log
    kms_with "$1" "$2" | wc -l
}
kms_holds() { # log: it ran to its end, and nothing failed
    grep -q '^\[=*\] [0-9]* test(s) run' "$1" && [[ $(kms_count FAILED "$1") -eq 0 ]]
}

kms_class() { # class
    local class=$1 program=$kms_programs/kms_$1_test name card=$VM_CARD kernel=$TP_TMP/kernel
    local ours=$TP_TMP/ours core=$TP_TMP/core
    local -a lacking=()
    [[ $class != syncobj ]] || card=$VM_VIRTIO_CARD
    TURNPIKE_TEST_CARD=$card timeout -k 5 60 "$program" >"$kernel" 2>&1
    timeout -k 5 90 "$TURNPIKE" play --refresh 60,120 --overlays 1 --vrr 48-120 -- \
        env TURNPIKE_TEST_CARD=/dev/dri/card0 "$program" >"$ours" 2>&1
    timeout -k 5 90 "$program" >"$core" 2>&1
    check "$class: all that a kernel's card can do holds on it" kms_holds "$kernel"
    check "$class: it holds on ours behind the preload library" kms_holds "$ours"
    for name in $(comm -23 <(kms_with OK "$kernel") <(cat "$ours" "$core" | kms_with OK - )); do
        [[ " $kms_kernels_only " == *" $name "* ]] || lacking+=("$name")
    done
    check "$class: ours does what the kernel's does" test "${#lacking[@]}" -eq 0
    [[ ${#lacking[@]} -eq 0 ]] || printf '# only on the kernel: %s\n' "${lacking[@]}"
    kms_holds "$kernel" && kms_holds "$ours" || sed 's/^/# /' <(grep -vE '^\[ *(OK|RUN|SKIPPED)' "$kernel" "$ours")
    printf '| %s | %d / %d / %d | %d / %d / %d | %d / %d |\n' "$class" \
        "$(kms_count OK "$kernel")" "$(kms_count FAILED "$kernel")" "$(kms_count SKIPPED "$kernel")" \
        "$(kms_count OK "$ours")" "$(kms_count FAILED "$ours")" "$(kms_count SKIPPED "$ours")" \
        "$(kms_count OK "$core")" "$(kms_count FAILED "$core")" >>"$VM_OUT/kms.md"
}

printf '| class | vkms | ours, preload library | ours, core alone |\n|---|---|---|---|\n' >"$VM_OUT/kms.md"
for kms_program in "$kms_programs"/kms_*_test; do
    kms_class=${kms_program##*/kms_}
    kms_class=${kms_class%_test}
    # These two look inside the core.
    [[ $kms_class == core || $kms_class == snapshot ]] || kms_class "$kms_class"
done
