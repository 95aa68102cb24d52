#!/bin/bash
# The model of the release protocol with three images, two ends of the server, a longer pipeline, a
# silent panel. Needs 4 GB.
# timeout: 5400
set -uo pipefail
# shellcheck source=tests/model/spin.sh
. "$TP_SRC/tests/model/spin.sh"
DEPTH=9000000 GCC_LEVEL=-O2

holds 'three images' safe -DN=3 -DCAP=1
holds 'three images, notes alone' safe -DN=3 -DBOARD=0 -DCAP=8
holds 'three images, notes alone: every wait ends' live -DN=3 -DBOARD=0 -DCAP=8
holds 'room for two messages, the server ends' safe -DCRASH=1
holds 'two ends of the server' safe -DCRASH=2 -DCAP=1
holds 'an end of the server: every wait ends' live -DCRASH=1 -DCAP=1
holds 'the ICD gives up on the server' safe -DCRASH=1 -DCAP=1 -DALONE=1
holds 'notes alone, an end of the server' safe -DBOARD=0 -DCRASH=1 -DCAP=6
holds 'notes come twice' safe -DDUP=1
holds 'notes get lost: every wait ends' live -DLOSS=1 -DCAP=1
holds 'states are asked for, and notes get lost' safe -DASK=1 -DLOSS=1 -DCAP=1
holds 'states are asked for, and the server ends' safe -DASK=1 -DCRASH=1 -DCAP=1
holds 'the GPU waits: every wait ends' live -DGPU=1 -DCAP=1
holds 'a refresh more in the pipeline' safe -DD=1 -DCRASH=1 -DCAP=1
holds 'a silent panel' safe -DSILENT=1 -DCAP=1
holds 'a silent panel: every wait ends' live -DSILENT=1 -DCAP=1
fails 'what is waited for is over before the blank is shown' safe -DSILENT=1 -DBUG_FORCED_UNSHOWN
fails 'a server that the ICD never met' safe -DCRASH=2 -DCAP=1 -DBUG_MET_ALL
exit $bad
