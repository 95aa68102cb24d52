# shellcheck shell=bash
# Part of inside.sh: the checks of tests/frames/kms side by side, on a kernel's card (vkms; syncobj on
# virtio-gpu, for vkms has none) and on ours behind the preload library. What the kernel's does, ours
# must do, too, there or, where one process has to be two users, in the core alone; a check that fails
# on a kernel's card is itself wrong. A table goes to $VM_OUT/kms.md.

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

kms_figures() { # log
    printf '%d / %d / %d' "$(kms_count OK "$1")" "$(kms_count FAILED "$1")" "$(kms_count SKIPPED "$1")"
}

kms_class() { # class
    local class=$1 program=$kms_programs/kms_$1_test name card=$VM_CARD on=vkms alone=
    local kernel=$TP_TMP/kernel ours=$TP_TMP/ours core=$TP_TMP/core
    local -a lacking=()
    [[ $class != syncobj ]] || { card=$VM_VIRTIO_CARD on=virtio-gpu; }
    TURNPIKE_TEST_CARD=$card timeout -k 5 60 "$program" >"$kernel" 2>&1
    timeout -k 5 90 "$TURNPIKE" play --refresh 60,120 --overlays 1 --vrr 48-120 -- \
        env TURNPIKE_TEST_CARD=/dev/dri/card0 "$program" >"$ours" 2>&1
    : >"$core"
    for name in $(comm -23 <(kms_with OK "$kernel") <(kms_with OK "$ours")); do
        [[ " $kms_kernels_only " != *" $name "* ]] || continue
        [[ -s $core ]] || timeout -k 5 90 "$program" >"$core" 2>&1
        alone+=" $name"
        grep -qxF "$name" <(kms_with OK "$core") || lacking+=("$name")
    done
    check "$class: holds on $on" kms_holds "$kernel"
    check "$class: holds on ours" kms_holds "$ours"
    check "$class: ours does all that $on does" test "${#lacking[@]}" -eq 0
    [[ ${#lacking[@]} -eq 0 ]] || printf '# only on the kernel: %s\n' "${lacking[@]}"
    for name in "$kernel" "$ours"; do
        kms_holds "$name" || grep -vE '^\[ *(OK|RUN|SKIPPED)' "$name" | sed 's/^/# /'
    done
    printf '| %s | %s | %s | %s |\n' "$class" "$(kms_figures "$kernel")" "$(kms_figures "$ours")" \
        "$(wc -w <<<"$alone")" >>"$VM_OUT/kms.md"
}

printf '| class | kernel | ours | of the kernel'"'"'s, in our core alone |\n|---|---|---|---|\n' >"$VM_OUT/kms.md"
for kms_program in "$kms_programs"/kms_*_test; do
    kms_class=${kms_program##*/kms_}
    kms_class=${kms_class%_test}
    # These two look inside the core.
    [[ $kms_class == core || $kms_class == snapshot ]] || kms_class "$kms_class"
done
