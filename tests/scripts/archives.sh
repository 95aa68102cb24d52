# shellcheck shell=bash
# Looks at driver archives from outside, with unzip, readelf and jq. Sourced by bash.

# out/summary.json and every archive that it names. Says what is wrong, and returns 1 then.
check_archives() { # folder
    local dir=$1 summary=$1/summary.json path variant sha256 driver_sha256 library bad=0 work
    wrong() {
        printf 'run: %s\n' "$1" >&2
        bad=1
    }
    if ! jq -e '.schema == 1 and (.turnpike | type == "string") and (.mesa.version | type == "string")
        and (.mesa.sha256 // .mesa.revision | type == "string") and (.archives | length > 0)' \
        "$summary" >/dev/null; then
        wrong "$summary is absent, or lacks what every summary has"
        return 1
    fi
    work=$(mktemp -d)
    while IFS=$'\t' read -r path variant sha256 driver_sha256; do
        rm -rf "${work:?}"/*
        unzip -tqq "$dir/$path" || wrong "$path: unzip does not accept it"
        [[ $(sha256sum <"$dir/$path") == "$sha256  -" ]] || wrong "$path: not the hash of the summary"
        unzip -qq -d "$work" "$dir/$path" || continue
        library=$(jq -er '.libraryName' "$work/meta.json") || wrong "$path: meta.json names no library"
        [[ $(find "$work" -type f | wc -l) -eq 2 && -f $work/$library ]] ||
            wrong "$path: it should hold meta.json and $library alone"
        [[ $(sha256sum <"$work/$library") == "$driver_sha256  -" ]] ||
            wrong "$path: $library is not what the summary says"
        readelf -hW "$work/$library" | grep -qE 'Type: +DYN' || wrong "$path: $library is no library"
        readelf -dW "$work/$library" | grep -qF "soname: [$library]" ||
            wrong "$path: the soname of $library is another one"
        jq -e --arg v "$variant" '.name | test("-" + $v + "( |$)")' "$work/meta.json" >/dev/null ||
            wrong "$path: meta.json does not name variant $variant"
    done < <(jq -r '.archives[] | [.path, .variant, .sha256, .driver_sha256] | @tsv' "$summary")
    rm -rf "$work"
    jq -e '[.patches[].patches[] | select(.state == "drifted" or .state == "failed")
        | select(.optional | not)] | length == 0' "$summary" >/dev/null ||
        wrong 'a patch drifted or failed'
    jq -e '[.proof[]? | select(.ok == false)] | length == 0' "$summary" >/dev/null ||
        wrong 'a driver failed its proof'
    return "$bad"
}

# What was made, and where.
show_archives() { # folder
    local path
    echo
    jq -r '"Turnip of Mesa \(.mesa.version) for \(.target) (\(.mesa.source)), " +
        ([.patches[0].patches[] | select(.state == "applied")] | length | tostring) + " patches applied"' \
        "$1/summary.json"
    while IFS= read -r path; do
        printf '  %s  (%d KiB)\n' "$1/$path" $(($(stat -c %s "$1/$path") / 1024))
    done < <(jq -r '.archives[].path' "$1/summary.json")
    jq -r '.seconds | "  first variant \(.first_variant | round) s, the other " +
        "\(.other_variants * 10 | round / 10) s"' "$1/summary.json"
    echo "  all of it: $1/summary.json"
}

# What each driver said of itself when it was loaded.
show_proofs() { # folder
    jq -r '.proof[]? | .file as $file | .chips[] | select(.status == "proved" or .status == "failed")
        | "  \($file): \(.device_name // .name), Vulkan \(.api // "?"): \(.status)"' "$1/summary.json"
}
