# shellcheck shell=bash
# Runs spin on docs/model/release.pml. Sourced by the tests of this folder.
command -v spin >/dev/null || { echo 'spin is not installed: ./setup'; exit 1; }
command -v gcc >/dev/null || { echo 'gcc is not installed: ./setup'; exit 1; }
model=$TP_SRC/docs/model/release.pml
count=0
# shellcheck disable=SC2034
bad=0 # the sourcing script's exit status

# Explores the model with these settings: safe (asserts, ends) or live (a wait without end under
# weak fairness). Answers the number of errors; the states are in $states.
explore() { # safe or live, -D...
    local kind=$1 dir=$TP_TMP/$((count + 1)) said
    local -a how=(-DSAFETY) run=()
    shift
    [[ $kind == safe ]] || how=(-DNP -DNFAIR=3) run=(-l -f)
    mkdir -p "$dir"
    cd "$dir" || return 1
    errors=none states=
    if ! spin "$@" -a "$model" >said 2>&1 ||
        ! gcc "${GCC_LEVEL:--O1}" -w -DCOLLAPSE "${how[@]}" -o pan pan.c >>said 2>&1; then
        sed 's/^/# /' said
        return
    fi
    said=$(./pan "-m${DEPTH:-3000000}" -w22 "${run[@]}" 2>&1)
    errors=$(sed -nE 's/.*errors: ([0-9]+)$/\1/p' <<<"$said")
    states=$(sed -nE 's/^ *([0-9.e+]+) states, stored.*/\1/p' <<<"$said")
    # A search that was cut off proves nothing.
    ! grep -qE 'search depth too small|out of memory|Search not completed' <<<"$said" ||
        [[ $errors != 0 ]] || errors='cut off'
    why=$(sed -nE 's/^pan:1: ([a-z -]+).*/\1/p' <<<"$said")
}

report() { # ok or not, text
    count=$((count + 1))
    if [[ $1 == 0 ]]; then
        echo "ok - $2"
    else
        # shellcheck disable=SC2034
        bad=1
        echo "not ok - $2"
    fi
    rm -f "$TP_TMP/$count"/pan*
}

holds() { # what, safe or live, -D...
    local text=$1
    shift
    explore "$@"
    [[ $errors == 0 ]]
    report $? "$text ($* $states states)"
}

# The model has to fail, by this kind of error, and leave the way to it.
fails() { # what, safe or live, -D...
    local text=$1 kind=$2 wanted='assertion violated'
    shift
    [[ $kind == safe ]] || wanted='non-progress cycle'
    GCC_LEVEL=-O0 explore "$@"
    [[ $errors == 1 && $why == "$wanted"* && -s $TP_TMP/$((count + 1))/release.pml.trail ]]
    report $? "$text ($*)"
}
