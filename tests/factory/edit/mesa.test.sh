#!/bin/bash
# The patch set on real Mesa 25.0.7: clean on every target, `already` the second time, back to the
# byte; drift is exit status 1 and leaves the tree alone.
# timeout: 900
set -uo pipefail
. "$(dirname "$0")/../../scripts/mesa.sh"
export TURNPIKE_DATADIR=$TP_SRC
pristine=$(mesa_pristine) || exit
cp -r "$pristine" "$TP_TMP/mesa"
cd "$TP_TMP" || exit 2
before=$(tree_hash mesa)

# Upstream 25.0.7 is needed whole: nothing in it may count as absorbed unseen.
allowed='all(.patches[]; .state == "applied" or .state == "not-applicable")'

for target in linux-arm64 android-arm64 host host-android; do
    for variant in b p; do
        at="$target, $variant"
        "$TURNPIKE" patch mesa --target $target --variant $variant --json - >first.json
        check "$at: exit status 0" test $? -eq 0
        check "$at: clean" json_holds '.clean' first.json
        check "$at: each patch applied or not applicable" json_holds "$allowed" first.json
        check "$at: only A8xx is not applicable" test \
            "$(jq -r '[.patches[]|select(.state=="not-applicable").id]|join(" ")' first.json)" = a8xx-gpus
        check "$at: what is not applicable says why" json_holds \
            'all(.patches[].edits[]|select(.state=="not-applicable" or .state=="absorbed"); .reason|length > 20)' \
            first.json
        "$TURNPIKE" patch mesa --target $target --variant $variant --json - >second.json
        check "$at: exit status 0 again" test $? -eq 0
        jq '[.patches[]|{id, state: (if .state=="applied" then "already" else .state end),
             edits: [.edits[]|if .state=="applied" then "already" else .state end]}]' first.json >want
        jq '[.patches[]|{id, state, edits: [.edits[].state]}]' second.json >got
        check "$at: every applied edit is already there, the others unchanged" cmp want got
    done
done
"$TURNPIKE" patch mesa --revert >/dev/null
check 'revert: exit status 0' test $? -eq 0
check 'revert: every byte is back' test "$(tree_hash mesa)" = "$before"
check 'revert: nothing of ours is left' test ! -e mesa/.turnpike
"$TURNPIKE" patch mesa --revert 2>message
check 'revert of what is not patched: exit status 2' test $? -eq 2
check 'and it says so' grep -q 'nothing to revert' message

"$TURNPIKE" patch mesa --target host --check --diff >diff.txt
check 'check: exit status 0' test $? -eq 0
check 'check: nothing was written' test "$(tree_hash mesa)" = "$before"
cp -r mesa twin
(cd twin && patch -p1 -s) <diff.txt
check 'the diff is one that patch(1) takes' test $? -eq 0
"$TURNPIKE" patch mesa --target host >/dev/null
rm -rf mesa/.turnpike
check 'and it makes the same tree' diff -r mesa twin
rm -rf mesa twin

mesa_parts "$pristine" mesa
sed -i 's/kgsl_submitqueue_new/kgsl_queue_make/' mesa/src/freedreno/vulkan/tu_knl_kgsl.cc
before=$(tree_hash mesa)
"$TURNPIKE" patch mesa --target host --variant p --json drift.json >table.txt
check 'drift: exit status 1' test $? -eq 1
check 'drift: the tree is untouched' test "$(tree_hash mesa)" = "$before"
check 'drift: the report names it' test "$(jq -r '.patches[]|select(.state=="drifted").id' drift.json)" = power-max
check 'drift: the table names the nearest candidate' grep -q 'kgsl_queue_make' table.txt
check 'drift: there is a starting point' grep -q 'as of this Mesa' table.txt
tap_close
