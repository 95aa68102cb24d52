#!/bin/bash
# turnpike notes: Mesa 22.3.6 to 25.0.7 out of the source package, a git range in a repository made here
# whose commits mean harm, no network, states of real patches. Markdown is judged by cmark-gfm.
# timeout: 900
set -uo pipefail
. "$(dirname "$0")/../scripts/mesa.sh"
export TURNPIKE_DATADIR=$TP_SRC LC_ALL=C.UTF-8
unset ANDROID_NDK_HOME
pristine=$(mesa_pristine) || exit
cd "$TP_TMP" || exit 2
notes() {
    "$TURNPIKE" notes "$@"
}
html() { # file → its HTML, as GitHub's renderer makes it (unsafe: what is no text would come through)
    cmark-gfm --unsafe -e table -e autolink -e strikethrough "$1"
}
section() { # title's first words, file
    sed -n "/^##* $1/,/^## /p" "$2"
}

# A repository of ours: a tag of each platform, and three commits.
git_() { # folder, arguments…
    local dir=$1
    shift
    GIT_CONFIG_GLOBAL=/dev/null GIT_AUTHOR_DATE="@${now:=1700000000} +0000" GIT_COMMITTER_DATE="@$now +0000" \
        git -C "$dir" -c user.name=N -c user.email=n@example.com -c i18n.commitEncoding=UTF-8 \
        -c commit.gpgSign=false "$@"
}
commit() { # folder, file, subject
    now=$((now + 600))
    mkdir -p "$(dirname "$1/$2")"
    echo "$now" >"$1/$2"
    git_ "$1" add -A
    git_ "$1" commit -q --cleanup=verbatim -m "$3" 2>/dev/null
}
now=1700000000
git_ . init -q -b main ours
commit ours a 'first'
git_ ours tag v1.04
git_ ours tag linux-v0.1.0
commit ours b 'second'
git_ ours tag v1.5 # of another shape
commit ours c 'third'

# 1. Out of the source package.
notes --from 22.3.6 --to 25.0.7 --mesa debian --repo ours -o debian.md 2>said
check 'Debian: exit status 0' test $? -eq 0
check 'nothing is missing but the toolchain, which is not asked for' test -z "$(grep missing: said)"
check 'it names the package' grep -qE '^\| Mesa.s source \| `debian:25\.0\.7-' debian.md
notes --from 22.3.6 --to 25.0.7 --mesa "$pristine" --repo ours -o folder.md 2>/dev/null
check 'a folder has the same changes' diff <(section "Mesa's" debian.md) <(section "Mesa's" folder.md)
notes --from mesa-22.3.6 --to 25.0.7-2 --mesa "$pristine" --repo ours 2>/dev/null >again.md
check 'tags and packages are versions, too' diff <(section '#' folder.md) <(section '#' again.md)
# The same numbers by other means: lines that begin with "- " behind the title Changes.
cat >count.py <<'END'
import os, re, sys
rel = sys.argv[1]
def key(name): return [int(x) for x in name[:-4].split('.')] + [0] * (3 - name.count('.'))
files = sorted((f for f in os.listdir(rel) if re.fullmatch(r'\d+(\.\d+)+\.rst', f)), key=key)
seen, every, named = set(), 0, 0
word = re.compile(r'(?<!\w)(?:(?i:turnip|freedreno|ir3|adreno|kgsl|u_gralloc|vulkan/runtime|vk/runtime|vulkan runtime)|tu)(?!\w)', re.A)
for f in files:
    if key(f)[0] < 21 or key(f) > [25, 0, 7]:
        continue
    text = open(os.path.join(rel, f), encoding='utf-8').read()
    for entry in re.findall(r'^- +(\S.*)', text.split('\nChanges\n---')[-1], re.M):
        entry = re.sub(r'\\(.)', r'\1', entry.strip())
        new = key(f) > [22, 3, 6]
        every += new
        if word.search(entry):
            named += new and entry not in seen
            seen.add(entry)
print(f'({named} of {every} changes)')
END
counted=$(/usr/bin/python3 count.py "$pristine/docs/relnotes")
check "as many changes as are there: $counted" grep -qF "$counted" debian.md
check '64 releases' test "$(cd "$pristine/docs/relnotes" && printf '%s\n' *.rst | sed 's/\.rst$//' | sort -V |
    sed -n '/^22\.3\.6$/,/^25\.0\.7$/p' | wc -l)" -eq 65 -a "$(grep -c 'notes of 64 releases' debian.md)" -eq 1
check 'sixty changes, newest first' test \
    "$(sed -n '/^### Changes/,/^and/p' debian.md | grep -c '^- ')" -eq 60
check 'and the rest is counted' grep -qE '^and [0-9]{4} more\.$' debian.md
check 'a change of the last release with one' grep -qF 'tu: Fix segfault in fail_submit KGSL path' debian.md
check 'what is new' grep -qF -- '- 23.0.0: `VK_EXT_descriptor_buffer on RADV, Turnip`' debian.md
check 'nothing of other drivers' test -z "$(section "Mesa's" debian.md | grep -E '`(radv|anv|nvk|radeonsi)[:/]')"
check 'the mark of the next range' grep -qxF '<!-- turnpike-mesa revision=- version=25.0.7 -->' debian.md

# 2. A git range. 70 commits touch the driver, of which some would do harm.
git_ . init -q -b main mesa
commit mesa VERSION base
printf '24.0.0\n' >mesa/VERSION
commit mesa src/freedreno/old 'tu: before the range'
git_ mesa tag mesa-24.0.0
for ((i = 1; i <= 60; i++)); do commit mesa src/freedreno/vulkan/tu.cc "tu: change $i"; done
commit mesa src/amd/x 'radv: not ours'
commit mesa src/util/u_gralloc/x 'u_gralloc: one'
commit mesa src/vulkan/runtime/x 'vulkan: one'
commit mesa src/vulkan/wsi/x 'wsi: not ours'
commit mesa src/freedreno/h1 $'<script>alert(1)</script> <img src=x onerror=alert(1)> <!-- '
commit mesa src/freedreno/h2 '](http://evil.example) ![x](http://evil.example/x.png) [a]: http://evil.example'
commit mesa src/freedreno/h3 $'` `` ``` @everyone #1 GH-2 mesa/mesa#3 https://evil.example www.evil.example a@evil.example'
commit mesa src/freedreno/h4 $'\x1b[2Jred \x07 \xff\xfe \xe2\x80\xaeright-to-left \xe2\x80\x8bzero'
commit mesa src/freedreno/h5 '| a | b | $(touch harmed) `touch harmed` ; --output=harmed'
commit mesa src/freedreno/h6 '<!-- turnpike-mesa revision=0123456789012345678901234567890123456789 version=9.9 -->'
commit mesa src/freedreno/h7 $'# Title\nsecond line\n\nbody'
commit mesa src/freedreno/h8 "$(printf 'long %.0s' {1..2000})"
printf '25.0.7\n' >mesa/VERSION
commit mesa README 'the last, not ours'
tip=$(git_ mesa rev-parse HEAD)

notes --from 24.0.0 --to main --mesa "git:$PWD/mesa" --repo ours -o git.md 2>said
check 'git: exit status 0' test $? -eq 0
check 'counted' grep -qF '70 of 73 commits touch `src/freedreno`, `src/util/u_gralloc` or `src/vulkan/runtime`.' git.md
check 'sixty are listed' test "$(section "Mesa's" git.md | grep -c '^- ')" -eq 60
check 'the rest is counted' grep -qxF 'and 10 more.' git.md
check 'all three folders' grep -cqE '`(u_gralloc|vulkan): one`' git.md
check 'nothing beside them' test -z "$(section "Mesa's" git.md | grep 'not ours')"
check 'the mark names the end' grep -qxF "<!-- turnpike-mesa revision=$tip version=25.0.7 -->" git.md
check 'no folder of this machine is named' test -z "$(grep -F "$PWD" git.md)"
for spec in mesa "git:file://$PWD/mesa"; do
    notes --from mesa-24.0.0 --to "$tip" --mesa "$spec" --repo ours 2>/dev/null | section "Mesa's" - >got
    check "the same from $( [[ $spec == mesa ]] && echo a checkout || echo a URL)" diff \
        <(section "Mesa's" git.md | tail -n +2) <(tail -n +2 got)
done
check 'nothing is left in the cache' test -z "$(find "${TURNPIKE_CACHE:-${XDG_CACHE_HOME:-$HOME/.cache}/turnpike}/mesa" -name '.tp-*' -newer git.md)"
notes --from 24.0.0 --to main --mesa mesa --repo ours 2>/dev/null | cmp - git.md
check 'the same bytes twice' test $? -eq 0

html git.md >git.html
check 'harmless: it is UTF-8' iconv -f UTF-8 -t UTF-8 git.md -o /dev/null
check 'harmless: no control character' test -z "$(tr -d '\n' <git.md | grep -P '[\x00-\x1f\x7f]|\xe2\x80\xae|\xe2\x80\x8b')"
check 'harmless: no link, image, script' test -z "$(grep -oiE '<(a|img|script)[ >]' git.html)"
check 'harmless: one title each' test "$(grep -c '<h[12]>' git.html)" -eq "$(grep -c '^##* ' git.md)"
check 'harmless: as many points as lines' test "$(grep -c '<li>' git.html)" -eq "$(grep -c '^- ' git.md)"
check 'harmless: each point is quoted' test -z "$(grep '<li>' git.html | grep -vE '^<li><code>[0-9a-f]{12}</code> <code>.*</code></li>$')"
check 'harmless: no mention or number outside of code' test -z \
    "$(sed 's/<code>[^<]*<\/code>//g' git.html | grep -E '@|#[0-9]|GH-|evil')"
check 'harmless: nothing ran' test ! -e harmed -a ! -e ours/harmed -a ! -e mesa/harmed
check 'harmless: a long subject is cut' test "$(wc -L <git.md)" -lt 400
check 'the whole fits in a release of GitHub' test "$(wc -m <git.md)" -lt 125000

commit mesa src/freedreno/next 'tu: the next one'
notes --previous git.md --to main --mesa mesa --repo ours -o next.md 2>said
check 'the next range begins where that ended' grep -qF '1 of 1 commit touches' next.md
check 'and holds that one' test "$(section "Mesa's" next.md | grep -c '^- ')" -eq 1
check 'a forged mark in a subject was not believed' grep -qF "\`$tip\` to" next.md
notes --from "$tip" --to "$tip" --mesa mesa --repo ours >none.md 2>/dev/null
check 'an empty range is none' grep -qx 'None: the end of the range has no commit that its beginning lacks\.' none.md

# Histories that part: the end does not descend from the beginning; over a URL all of it must come.
git_ mesa checkout -q -b stable mesa-24.0.0
commit mesa src/freedreno/stable 'tu: on the stable branch'
for spec in mesa "git:file://$PWD/mesa"; do
    notes --from stable --to "$tip" --mesa "$spec" --repo ours >parted.md 2>said
    check 'branches: what only the end has' grep -qF '70 of 73 commits' parted.md
    check 'branches: it says so' grep -q 'does not descend' parted.md
done
git_ mesa checkout -q main

# Ours.
check 'our commits since the last release' test "$(section 'Our' git.md | grep -c '^- ')" -eq 2
check 'named' grep -qF '## Our changes since `v1.04`' git.md
check 'in the table' grep -qF '| Previous release | `v1.04` |' git.md
notes --from 24.0.0 --to main --mesa mesa --repo ours --since linux-v0.1.0 --version linux-v0.1.1 >own.md 2>/dev/null
check 'a tag of one'"'"'s own choice' grep -qF 'changes since `linux-v0.1.0`' own.md
check 'the version is the title' test "$(head -n 1 own.md)" = '# `linux-v0.1.1`'

# 3. What is wrong is named: a typing error is one, a network that fails is none.
refused() { # words, arguments…
    local words=$1 status=0
    shift
    notes "$@" --repo ours >out 2>err || status=$?
    check "refused: $words" test "$status" -eq 2 -a ! -s out
    check "says: $words" grep -qF -- "$words" err
}
refused "has no revision 'nope'" --from nope --to main --mesa mesa
refused "has no revision 'nope'" --from main --to nope --mesa mesa
refused 'no revision' --from=--upload-pack=x --to main --mesa "git:file://$PWD/mesa"
refused 'no such Mesa source' --from 1.0 --to 1.1 --mesa ./nowhere
refused 'is not newer than' --from 25.0.7 --to 25.0.6 --mesa "$pristine"
notes --from 25.0.6 --to 25.0.9 --mesa "$pristine" --repo ours >short.md 2>/dev/null
check 'release notes that end too early: said' grep -qF 'The notes of Mesa 25.0.9 itself' short.md
notes --from "$tip" --to 25.0.7 --mesa "$pristine" --repo ours >commit.md 2>/dev/null
check 'release notes and a commit: said, exit status 0' test $? -eq 0 -a "$(grep -c 'is none`$' commit.md)" -eq 1
echo 'no mark' >unmarked
notes --previous unmarked --to main --mesa mesa --repo ours >unmarked.md 2>/dev/null
check 'a previous text without a mark: said, exit status 0' test $? -eq 0 -a \
    "$(grep -c 'does not say which Mesa' unmarked.md)" -eq 1
notes --from 24.0.0 --to main --mesa mesa --repo / >elsewhere.md 2>/dev/null
check 'no checkout of ours: said, exit status 0' test $? -eq 0 -a "$(grep -c 'Our changes: ' elsewhere.md)" -eq 1
notes --from 24.0.0 --to main --mesa mesa --repo ours -o /nowhere/notes.md >/dev/null 2>err
check 'a place that cannot be written' test $? -eq 2

# No network at all, where this machine lets us have none; else proxies that answer nobody.
away=(env "TURNPIKE_CACHE=$PWD/empty" http_proxy=http://127.0.0.1:9 https_proxy=http://127.0.0.1:9)
! unshare -rn true 2>/dev/null || away=(unshare -rn env "TURNPIKE_CACHE=$PWD/empty")
mkdir empty
"${away[@]}" "$TURNPIKE" notes --from 25.0.6 --to 25.0.7 --repo ours -o away.md 2>said
check 'no network: exit status 0' test $? -eq 0
check 'no network: the notes name both that did not answer' test \
    "$(sed -n '/^## Missing/,$p' away.md | grep -cE "Mesa's (commits|changes): ")" -eq 2
check 'no network: so does standard error' test "$(grep -c 'missing: ' said)" -eq 2
check 'no network: our changes are there' grep -q 'third' away.md
check 'no network: the next range has its beginning' grep -qxF '<!-- turnpike-mesa revision=- version=25.0.7 -->' away.md
"${away[@]}" "$TURNPIKE" notes --from main --to main --mesa git:http://127.0.0.1:9/mesa.git --repo ours >url.md 2>/dev/null
check 'a repository that does not answer: exit status 0, and named' test $? -eq 0 -a \
    "$(grep -c 'http://127.0.0.1:9/mesa.git' url.md)" -ge 1

# 4. Variants, from the states of the real patches.
summary() { # tree
    for v in b p; do "$TURNPIKE" patch "$1" --check --target linux-arm64 --variant $v --json - 2>/dev/null; done |
        jq -s '{mesa: {version: .[0].mesa_version, source: "git", revision: "", sha256: ""}, target: "linux-arm64",
            archives: [{path: "b.zip", variant: "b", sha256: "00", driver_version: "d"}], patches: .}'
}
summary "$pristine" >today.json
notes --summary today.json --previous unmarked --repo ours >today.md 2>/dev/null
check '25.0.7: the autotuner differs, too' grep -qF 'differ by these patches: `autotune`, `power-max`.' today.md
summary "$TP_SRC/tests/factory/edit/eras/main" >later.json
notes --summary later.json --previous unmarked --repo ours >later.md 2>/dev/null
check '26.3: by power alone' grep -qF 'differ only by power' later.md

# 5. Versions.
check 'the next version of Android' test "$(printf 'v1.09\nv1.10\nnonsense\n' | notes --next-version android)" = v1.11
check 'the first of Linux' test "$(notes --next-version linux </dev/null)" = linux-v0.1.0
tap_close
