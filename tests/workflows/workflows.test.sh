#!/bin/bash
# .github/workflows by actionlint, by shellcheck, and by the rules that they promise to keep.
set -uo pipefail
cd "$TP_SRC" || exit 2
. tests/scripts/mesa.sh

nothing() { # command…
    local said
    said=$("$@" 2>&1)
    [[ -z $said ]] || {
        printf '%s\n' "$said"
        return 1
    }
}

mkdir "$TP_TMP/run"
check 'actionlint finds nothing' nothing node tests/workflows/lint.mjs .github/workflows/*.yml
check 'the rules hold' nothing /usr/bin/python3 tests/workflows/rules.py "$TP_TMP/run"
check 'there are scripts in them' test "$(find "$TP_TMP/run" -type f | wc -l)" -ge 8
check 'shellcheck finds nothing in their scripts' nothing shellcheck "$TP_TMP/run"/*.sh
check 'nor in what they call' nothing shellcheck -x tools/release .ci/run

# Would a mistake be seen? Each in a copy.
mkdir -p "$TP_TMP/copy/.github" "$TP_TMP/copy/tests"
spoilt() { # sed's script → what is said of release.yml
    rm -rf "$TP_TMP/copy/.github/workflows"
    cp -r .github/workflows "$TP_TMP/copy/.github/"
    sed -i "$1" "$TP_TMP/copy/.github/workflows/release.yml"
    (cd "$TP_TMP/copy" && /usr/bin/python3 "$TP_SRC/tests/workflows/rules.py" "$TP_TMP/run")
    node tests/workflows/lint.mjs "$TP_TMP/copy/.github/workflows/release.yml"
}
sees() { # words, sed's script
    spoilt "$2" >"$TP_TMP/said" 2>&1
    check "seen: $1" grep -qF -- "$1" "$TP_TMP/said"
}
sees 'not pinned' 's/@[0-9a-f]\{40\} # v6.0.2/@v6/'
sees 'gets a secret' 's/PLATFORMS: \${{ inputs.platforms }}/PLATFORMS: ${{ secrets.MINISIGN_KEY }}/'
sees 'no draft by default' 's/default: draft/default: release/'
sees 'a pull request publishes' "s/ && github.event_name != 'pull_request' }}\$/ }}/"
sees 'not on Wednesdays' 's/0 12 \* \* 3/0 12 * * 4/'
sees 'pastes an expression' 's/publish "out\/\$TARGET"/publish "out\/${{ matrix.target }}"/'
sees 'contents' 's/contents: read/contents: write/'
sees '[expression]' 's/needs.plan.outputs.targets/needs.plan.outputs.target/'
tap_close
