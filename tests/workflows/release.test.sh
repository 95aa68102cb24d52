#!/bin/bash
# tools/release with stand-ins for the build and for GitHub's program: the version, the previous
# release's text, names, signatures, drafts. Notes, keys and signatures are the real program's.
set -uo pipefail
. "$(dirname "$0")/../scripts/mesa.sh"
export TURNPIKE_DATADIR=$TP_SRC
real=$TURNPIKE
cd "$TP_TMP" || exit 2

# `build` writes what build writes, `inspect` accepts; all else is the real one.
mkdir bin
cat >bin/turnpike <<END
#!/bin/bash
printf '%s\n' "\$*" >>'$TP_TMP/calls'
case \$1 in
build)
    while [[ \$# -gt 0 ]]; do
        case \$1 in --out) out=\$2 ;; --version) version=\$2 ;; --target) target=\$2 ;; esac
        shift
    done
    version=\${version:-25.0.7} product=Turnip archives=''
    [[ \$target == android-arm64 ]] || product=Linux-Turnip
    mkdir -p "\$out/work"
    for v in b p; do
        name=WN-\$product-\${version#linux-}-\${v}_Axxx.zip
        printf 'archive %s' "\$name" >"\$out/\$name"
        printf '{"toolchain": {"compiler": "clang 18"}}' >"\$out/\$name.receipt.json"
        echo '{}' >"\$out/\$name.spdx.json"
        archives+=\$(jq -cn --arg p "\$name" --arg v \$v --arg s "\$(sha256sum <"\$out/\$name" | cut -d' ' -f1)" \
            '{path: \$p, variant: \$v, sha256: \$s, driver_version: "d"}')
    done
    jq -s --arg t "\$target" --arg v "\$version" '{mesa: {version: "25.0.7", source: "debian", revision: "", sha256: ""},
        target: \$t, version: \$v, archives: ., patches: []}' <<<"\$archives" >"\$out/summary.json"
    ;;
inspect) [[ ! -f '$TP_TMP/refuse' ]] && echo '{}' >"\${!#}" ;;
*) exec '$real' "\$@" ;;
esac
END
cat >bin/gh <<END
#!/bin/bash
printf 'gh %s\n' "\$*" >>'$TP_TMP/calls'
[[ "\$1 \$2" != 'release view' ]] || cat '$TP_TMP/is-draft' 2>/dev/null
END
chmod +x bin/*
export PATH=$TP_TMP/bin:$PATH TURNPIKE=$TP_TMP/bin/turnpike
release=$TP_SRC/tools/release
mesa=$TP_TMP/mesa
mkdir -p "$mesa/src" "$mesa/docs/relnotes"
echo 25.0.7 >"$mesa/VERSION"
printf 'Changes\n-------\n\nA (1):\n\n- tu: a fix\n' >"$mesa/docs/relnotes/25.0.7.rst"
export MESA=$mesa
jq -n '[{tag_name: "v1.09", draft: true, body: "x"}, {tag_name: "v1.07", draft: false,
        body: "text\r\n<!-- turnpike-mesa revision=- version=25.0.6 -->\r\n"},
    {tag_name: "v1.06", draft: false, body: "<!-- turnpike-mesa revision=- version=25.0.5 -->"},
    {tag_name: "linux-v0.2.0", draft: false, body: "no mark"}]' >releases.json

: >calls
RELEASES=$TP_TMP/releases.json NDK=/ndk/r27 "$release" make android-arm64 "$TP_TMP/a" >said 2>&1
check 'make: exit status 0' test $? -eq 0
check 'the version counts on from what is published, not from drafts' test "$(<a/version)" = v1.08
check 'it is built with the NDK, under that version' grep -qF -- \
    "build --target android-arm64 --mesa $mesa --out $TP_TMP/a --ndk /ndk/r27 --version v1.08" calls
check 'the archives are inspected' grep -qE '^inspect .*-b_Axxx.zip .*-p_Axxx.zip' calls
check 'the range begins where the last release says' grep -qF '## Mesa'"'"'s changes, `25.0.6` to `25.0.7`' a/notes.md
check 'and its changes are listed' grep -qF -- '- 25.0.7: `tu: a fix`' a/notes.md
check 'the notes name the toolchain' grep -qF '| Toolchain | `clang 18` |' a/notes.md
check 'and the variants' test "$(grep -cE '^- `[bp]`, ' a/notes.md)" -eq 2
check 'nothing of the work is left' test ! -e a/work -a ! -e a/previous.md

RELEASES=$TP_TMP/releases.json "$release" make linux-arm64 "$TP_TMP/l" >said 2>&1
check 'Linux: exit status 0, though the last release has no mark' test $? -eq 0
check 'Linux: its own count' test "$(<l/version)" = linux-v0.2.1
check 'the notes say what is missing' grep -q 'does not say which Mesa' l/notes.md

# With no network, the notes say what is missing and the release goes on. Mesa's git is where nothing answers.
offline() { "$@"; }
if unshare -rn true 2>/dev/null; then
    offline() { unshare -rn "$@"; }
fi
MESA=git:https://127.0.0.1:1/mesa.git RELEASES=$TP_TMP/releases.json XDG_CACHE_HOME=$TP_TMP/cache \
    offline "$release" make android-arm64 "$TP_TMP/off" >said 2>&1
check 'no network: exit status 0' test $? -eq 0
check 'no network: the release is whole' "$release" lint "$TP_TMP/off"
check 'no network: it is said while it is made' grep -q "missing: Mesa's commits: " said
check 'no network: and in the notes' grep -q "Mesa's commits: .*127\.0\.0\.1" off/notes.md
check 'no network: which have the rest' grep -qF '| Toolchain | `clang 18` |' off/notes.md

"$release" make linux-arm64 "$TP_TMP/pr" >said 2>&1
check 'a preview: exit status 0, under the version of Mesa' test $? -eq 0 -a -f pr/WN-Linux-Turnip-25.0.7-b_Axxx.zip
"$release" publish "$TP_TMP/pr" >said 2>&1
check 'a preview is not published' test $? -eq 2
touch refuse
"$release" make linux-arm64 "$TP_TMP/bad" >said 2>&1
check 'an archive that inspect refuses ends it' test $? -ne 0 -a ! -e bad/notes.md
rm refuse
"$release" make linux-arm64 "$TP_TMP/l" >said 2>&1
check 'a folder that holds a build is refused' test $? -eq 2

spoilt() { # what is done, in a copy of the folder → its exit status
    rm -rf copy
    cp -r a copy
    (cd copy && eval "$1")
    "$release" lint "$TP_TMP/copy" >said 2>&1
}
check 'the names are right' spoilt true
for change in 'mv WN-Turnip-v1.08-b_Axxx.zip WN-Turnip-v1.8-b_Axxx.zip' 'rm WN-Turnip-v1.08-p_Axxx.zip' \
    'touch turnip.zip' 'echo x >>WN-Turnip-v1.08-b_Axxx.zip' 'rm WN-Turnip-v1.08-b_Axxx.zip.spdx.json' \
    'cp WN-Turnip-v1.08-b_Axxx.zip WN-Linux-Turnip-v1.08-b_Axxx.zip' 'echo v1.09 >version'; do
    spoilt "$change"
    check "refused: $change" test $? -ne 0
done

: >calls
"$release" publish "$TP_TMP/a" >said 2>&1
check 'publish: exit status 0' test $? -eq 0
check 'a draft by default' grep -qF 'gh release create v1.08 --draft --title v1.08' calls
check 'with the archives, receipts and SPDX documents' test \
    "$(grep -oE 'WN-Turnip-v1.08-[bp]_Axxx.zip[a-z.]*' calls | sort -u | wc -l)" -eq 6
check 'nothing is signed without a key' test ! -e a/WN-Turnip-v1.08-b_Axxx.zip.minisig
: >calls
echo true >is-draft
RELEASE=1 "$release" publish "$TP_TMP/a" >said 2>&1
check 'on request, a release' grep -qF 'gh release create v1.08 --draft=false' calls
check 'a draft of that version makes room' grep -qF 'gh release delete v1.08 --yes' calls
: >calls
echo false >is-draft
"$release" publish "$TP_TMP/a" >said 2>&1
check 'a published version stays' test $? -eq 1
check 'and nothing is uploaded' test -z "$(grep -E 'create|delete' calls)"
rm is-draft
minisign -GWf -p key.pub -s key.sec >/dev/null 2>&1
MINISIGN_KEY=$(<key.sec) MINISIGN_PUBLIC_KEY=$(<key.pub) "$release" publish "$TP_TMP/a" >said 2>&1
check 'with a key: exit status 0' test $? -eq 0
for v in b p; do
    check "minisign verifies the signature of $v" \
        minisign -Vq -p key.pub -m "a/WN-Turnip-v1.08-${v}_Axxx.zip"
done
check 'the signatures are uploaded' grep -qF 'p_Axxx.zip.minisig' calls
MINISIGN_KEY=nonsense "$release" publish "$TP_TMP/a" >said 2>&1
check 'a key that is none ends it' test $? -ne 0
tap_close
