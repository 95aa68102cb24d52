#!/bin/bash
# The model of the release protocol: what holds, with two images, and that each planted mistake is
# found. model.full.test.sh has three images and the larger settings.
# timeout: 600
set -uo pipefail
# shellcheck source=tests/model/spin.sh
. "$TP_SRC/tests/model/spin.sh"

holds 'no write overlaps a read' safe
holds 'every wait ends' live -DCAP=1
holds 'the same, the GPU waits' safe -DGPU=1
holds 'the same, notes and fences get lost' safe -DLOSS=1 -DCAP=1
holds 'the same, the server ends and comes back' safe -DCRASH=1 -DCAP=1
holds 'a peer with notes alone: no overlap' safe -DBOARD=0 -DCAP=6
holds 'a peer with notes alone: every wait ends' live -DBOARD=0 -DCAP=6

fails 'the board is not believed: given back is free' safe -DBUG_FREE_ON_RELEASE
fails 'the board says free when it has the fence' safe -DBUG_FREE_WITH_FENCE
fails 'released when replaced, not when that is shown' safe -DBUG_RELEASED_AT_PUBLISH
fails 'notes go after the flip, without a board' safe -DBOARD=0 -DCAP=6 -DBUG_NOTES_AFTER_FLIP
fails 'the socket is not drained after what the compositor gave back' safe -DBOARD=0 -DCAP=6 \
    -DBUG_DRAINED_ONCE
fails 'a fence is not closed' safe -DBUG_FENCE_LEAKED
fails 'a fence is closed twice' safe -DBUG_CLOSED_TWICE
fails 'a fence that outlives its server is not closed' safe -DCRASH=1 -DCAP=1 -DBUG_ORPHAN_LEAKED
fails 'no quarantine' safe -DCRASH=1 -DCAP=1 -DBUG_NO_QUARANTINE
fails 'a quarantine that is a refresh too short' safe -DCRASH=1 -DCAP=1 -DBUG_SHORT_QUARANTINE
fails 'no quarantine of what comes back without a server' safe -DCRASH=1 -DCAP=1 \
    -DBUG_BACK_WITHOUT_QUARANTINE
fails 'the board is believed without a look whether its server lives' safe -DCRASH=1 -DCAP=1 \
    -DBUG_BOARD_UNLOOKED
fails 'what came back before the end was noticed is not in quarantine' safe -DCRASH=1 -DCAP=1 \
    -DBUG_DOUBT_FORGOTTEN
fails 'a server that has come is not looked for' safe -DCRASH=1 -DCAP=1 -DALONE=1 \
    -DBUG_ALONE_UNLOOKED
fails 'a server that came back answers free' safe -DCRASH=1 -DCAP=1 -DBUG_ANSWERS_FREE
fails 'what has been asked for counts as free' safe -DCRASH=1 -DCAP=1 -DBUG_ASKED_IS_FREE
fails 'a fenced answer counts as a fence in hand' safe -DCRASH=1 -DCAP=1 -DBUG_REGISTERED_IS_WHOLE
fails 'who sleeps is not woken' live -DBUG_NO_WAKE_UP
# What is known not to hold (docs/model/README.md).
fails 'a lost pending note, without a board' safe -DBOARD=0 -DCAP=6 -DLOSS=1
exit $bad
