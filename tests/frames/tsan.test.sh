#!/bin/bash
# What has threads, under ThreadSanitizer: driver, library, server and screens, in a build folder of their own.
# timeout: 900
set -uo pipefail
cd "$TP_SRC" || exit 2
. tests/scripts/common.sh
. tests/scripts/mesa.sh

build='build-tsan'
places=(headless display double weston x11)
names=(icd-map icd-census-deaf icd-census-headless icd-census-double icd-census-weston icd-census-x11 "${places[@]/#/icd-capture-}"
    icd-display icd-x11 icd-display-vulkan icd-swapchain icd-release icd-shared-queue icd-copy icd-copier
    icd-lost icd-wayland icd-wayland-real icd-wayland-threads "${places[@]/#/icd-churn-}" "${places[@]/#/icd-killed-}"
    "${places[@]/#/icd-threads-}" "${places[@]/#/icd-queues-}" icd-copiers-headless shim-client shim-gone shim-threads panel-sim
    panel-sim-copy panel-sim-capture panel-window panel-android panel-android-double server-server server-hostile
    server-live server-calls server-census server-scanout server-notes)

if ! echo 'int main(void) { return 0; }' | ${CC:-cc} -fsanitize=thread -xc - -o "$TP_TMP/thread" 2>"$TP_TMP/err"; then
    echo 'the compiler has no thread sanitizer'
    exit 1
fi

# Only the programs of these tests, and what they start.
files_of() {
    jq -rn --slurpfile tests "$build/meson-info/intro-tests.json" \
        --slurpfile targets "$build/meson-info/intro-targets.json" --arg root "$PWD/$build/" \
        '[$tests[0][] | select(.name | IN($ARGS.positional[])) | .depends[]] as $ids |
        $targets[0][] | select(.id | IN($ids[])) | .filename[] | ltrimstr($root)' --args "${names[@]}"
}
compile() {
    local -a files
    configure "$build" -Dbuildtype=debug -Doptimization=1 -Db_lundef=false -Db_sanitize=thread || return
    # So that what meson tells is of today's sources.
    quietly "configuring $build" ninja -C "$build" build.ninja || return
    mapfile -t files < <(files_of)
    ((${#files[@]} > 20)) && quietly "compiling $build" ninja -C "$build" "${files[@]}"
}
compile || { tap 1 'they compile'; tap_close; }
mapfile -t known < <(jq -r '.[].name' "$build/meson-info/intro-tests.json")
wanted=()
for name in "${names[@]}"; do
    if [[ " ${known[*]} " == *" $name "* ]]; then
        wanted+=("$name")
    else
        echo "# there is no $name here" # without a window system's headers
    fi
done

# A race in any process is a file. The sanitizer wants mappings where it expects them.
unset TP_FULL
export TSAN_OPTIONS="die_after_fork=0:suppressions=$PWD/tests/frames/tsan.txt:log_path=$TP_TMP/race"
rm -f "$build/meson-logs/testlog.json"
setarch -R meson test -C "$build" --no-rebuild --timeout-multiplier 4 "${wanted[@]}" >"$TP_TMP/out" 2>&1 </dev/null
if [[ ! -s $build/meson-logs/testlog.json ]]; then
    tail -n 20 "$TP_TMP/out"
    tap 1 'they are run'
    tap_close
fi
while IFS=$'\t' read -r name result; do
    [[ $result == OK || $result == SKIP ]] ||
        jq -r --arg name "$name" 'select(.name == $name) | (.stdout // "") + (.stderr // "")' \
            "$build/meson-logs/testlog.json" | tail -n 20 | sed 's/^/# /'
    check "${name##*/ }" test "$result" = OK -o "$result" = SKIP
done < <(jq -r '[.name, .result] | @tsv' "$build/meson-logs/testlog.json")
for file in "$TP_TMP"/race.*; do
    [[ ! -e $file ]] || head -n 60 "$file" | sed 's/^/# /'
done
check 'nobody has seen a race' test -z "$(compgen -G "$TP_TMP/race.*")"
check 'all were run' test "$(wc -l <"$build/meson-logs/testlog.json")" -eq ${#wanted[@]}
tap_close
