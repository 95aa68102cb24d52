# shellcheck shell=bash
# Runs tests of every kind and counts them. Sourced by ./test after common.sh.
tally_passed=0 tally_failed=0 tally_skipped=0
tally_names=()

tally_fail() { # name
    tally_failed=$((tally_failed + 1))
    tally_names+=("$1")
    printf 'FAILED  %s\n' "$1"
}

tally_skip() { # name, why
    tally_skipped=$((tally_skipped + 1))
    printf 'skipped %s: %s\n' "$1" "$2"
}

# One step of the build: not a test when it goes well, a failure when it does not.
tally_step() { # name, command...
    local name=$1
    shift
    "$@" || {
        tally_fail "$name"
        return 1
    }
}

# Every unit test of a build folder. Each program is a cmocka group whose tests count one by one; a
# program that crashes, hangs or leaks adds one failure under its own name.
tally_unit() { # build folder
    local dir=$1 record=$1/meson-logs/testlog.json log line name result stuff passed one
    local -a names
    [[ -f $dir/build.ninja ]] || return 0
    rm -f "$record"
    log=$(mktemp)
    ASAN_OPTIONS=${ASAN_OPTIONS-detect_leaks=1:strict_string_checks=1:detect_stack_use_after_return=1} \
        UBSAN_OPTIONS=${UBSAN_OPTIONS-halt_on_error=1:print_stacktrace=1} \
        meson test -C "$dir" --timeout-multiplier 4 >"$log" 2>&1 </dev/null
    if [[ ! -s $record ]]; then
        # Meson writes no record where there is nothing to run.
        if ! grep -q 'No tests defined' "$log"; then
            tail -n 20 "$log"
            tally_fail 'meson test'
        fi
        rm -f "$log"
        return 0
    fi
    rm -f "$log"
    while IFS= read -r line; do
        name=$(jq -r '.name' <<<"$line")
        result=$(jq -r '.result' <<<"$line")
        stuff=$(jq -r '(.stdout // "") + "\n" + (.stderr // "")' <<<"$line")
        if [[ $result == SKIP ]]; then
            tally_skipped=$((tally_skipped + 1))
            continue
        fi
        passed=$(grep -c '^\[ *OK *\]' <<<"$stuff")
        mapfile -t names < <(sed -nE 's/^\[ *FAILED *\] ([A-Za-z_][A-Za-z0-9_]*)$/\1/p' \
            <<<"$stuff" | sort -u)
        if [[ $result == OK ]]; then
            # A test that is no cmocka group counts as one.
            tally_passed=$((tally_passed + (passed > 0 ? passed : 1)))
            printf 'passed  %s (%d)\n' "$name" $((passed > 0 ? passed : 1))
            continue
        fi
        tally_passed=$((tally_passed + passed))
        tail -n 40 <<<"$stuff" | sed 's/^/    /'
        for one in "${names[@]}"; do
            tally_fail "$name: $one"
        done
        [[ ${#names[@]} -gt 0 && $result == FAIL ]] || tally_fail "$name ($result)"
    done <"$record"
}

# One integration test: a script that prints TAP lines. It gets TURNPIKE (the program), TP_SRC (the
# checkout), TP_TMP (an empty folder of its own) and TP_FULL; a line "# timeout: SECONDS" among its
# first ones changes how long it may take (300). Exit status 77: it cannot run here, and says why.
tally_script() { # file
    local file=$1 name=${1#tests/} limit log status=0 start=$SECONDS line passed=0 failed=0 plan
    limit=$(sed -nE '1,20s/^# timeout: ([0-9]+)$/\1/p' "$file" | head -n 1)
    limit=${limit:-300}
    log=$(mktemp)
    TP_TMP=$(mktemp -d)
    TURNPIKE=$PWD/build/turnpike TP_SRC=$PWD TP_TMP=$TP_TMP \
        timeout --kill-after=10 "$limit" bash "$file" >"$log" 2>&1 </dev/null || status=$?
    rm -rf "$TP_TMP"
    if [[ $status -eq 77 ]]; then
        tally_skip "$name" "$(tail -n 1 "$log")"
        rm -f "$log"
        return 0
    fi
    while IFS= read -r line; do
        case $line in
        'ok '*'# SKIP'* | 'ok '*'# skip'*) tally_skipped=$((tally_skipped + 1)) ;;
        'ok '*) passed=$((passed + 1)) ;;
        'not ok '*)
            failed=$((failed + 1))
            tally_fail "$name: ${line#not ok }"
            ;;
        esac
    done <"$log"
    tally_passed=$((tally_passed + passed))
    plan=$(sed -nE 's/^1\.\.([0-9]+).*/\1/p' "$log" | tail -n 1)
    if [[ $status -eq 124 || $status -eq 137 ]]; then
        tally_fail "$name: ended after $limit s"
    elif [[ $failed -eq 0 && $status -ne 0 ]]; then
        tally_fail "$name: exit status $status"
    elif [[ $failed -eq 0 ]] && ! grep -q '^ok ' "$log"; then
        tally_fail "$name: it checked nothing"
    elif [[ -n $plan && $plan -ne $(grep -cE '^(not )?ok ' "$log") ]]; then
        tally_fail "$name: it planned $plan checks and made another number"
    elif [[ $failed -eq 0 ]]; then
        printf 'passed  %s (%d, %d s)\n' "$name" "$passed" $((SECONDS - start))
        rm -f "$log"
        return 0
    fi
    tail -n 40 "$log" | sed 's/^/    /'
    rm -f "$log"
}

# Every fuzz target: build-fuzz/fuzz/fuzz-NAME, with the seeds of fuzz/corpus/NAME where there are any.
tally_fuzz() {
    local target name seconds log logs
    local -a budget names=()
    seconds=${FUZZ_SECONDS:-$([[ ${CI-} == true ]] && echo 60 || echo 5)}
    budget=("-max_total_time=$seconds")
    # Ten million runs, or as many as an hour allows: an engine that parses runs by the hundred.
    [[ -z ${TP_FULL-} ]] || budget=(-runs=10000000 "-max_total_time=${FUZZ_SECONDS:-3600}")
    compgen -G 'fuzz/*.c' >/dev/null || return 0
    # The sanitizers' and libFuzzer's run-time come with clang.
    CC=clang tally_step 'configure and compile the fuzz targets' make_ready build-fuzz -Dfuzz=true \
        -Db_sanitize=address,undefined -Db_lundef=false -Dc_args=-fsanitize=fuzzer-no-link || return 0
    logs=$(mktemp -d)
    for target in build-fuzz/fuzz/fuzz-*; do
        [[ -f $target && -x $target ]] || continue
        while (($(jobs -rp | wc -l) >= $(nproc))); do
            wait -n
        done
        fuzz_one "$target" "$logs/${target##*/fuzz-}" "${budget[@]}" &
        names+=("${target##*/fuzz-}")
    done
    wait
    for name in "${names[@]}"; do
        log=$logs/$name
        if [[ $(cat "$log.status" 2>/dev/null) == 0 ]]; then
            tally_passed=$((tally_passed + 1))
            printf 'passed  fuzz %s (%s runs)\n' "$name" \
                "$(sed -nE 's/^stat::number_of_executed_units: *([0-9]+)/\1/p' "$log")"
        else
            tail -n 40 "$log" | sed 's/^/    /'
            tally_fail "fuzz $name (the input is kept in build-fuzz)"
        fi
    done
    rm -rf "$logs"
}

# Fuzzes with one target; its exit status ends in LOG.status.
fuzz_one() { # target, log, budget...
    local target=$1 log=$2 name work status=0
    shift 2
    name=${target##*/fuzz-}
    work=$log.work
    mkdir "$work"
    local -a seeds=()
    [[ ! -d fuzz/corpus/$name ]] || seeds=("fuzz/corpus/$name")
    "$target" "$@" -timeout=20 -rss_limit_mb=2048 -print_final_stats=1 \
        "-artifact_prefix=build-fuzz/$name-" "$work" "${seeds[@]}" >"$log" 2>&1 </dev/null || status=$?
    rm -rf "$work"
    echo "$status" >"$log.status"
}

# The closing lines. Returns 1 when anything failed, or nothing ran.
tally_close() {
    local name
    for name in "${tally_names[@]}"; do
        printf 'failed: %s\n' "$name"
    done
    [[ $tally_skipped -eq 0 ]] || printf '%d skipped\n' "$tally_skipped"
    [[ $((tally_passed + tally_failed)) -gt 0 ]] || tally_fail 'no test ran'
    printf '%d passed, %d failed\n' "$tally_passed" "$tally_failed"
    [[ $tally_failed -eq 0 ]]
}
