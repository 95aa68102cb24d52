#!/bin/bash
# Uncapped frames, with release notes and without: a few seconds each. uncapped.full.test.sh has them for a minute.
# timeout: 200
set -uo pipefail
. "$(dirname "$0")/../../scripts/mesa.sh"
. "$(dirname "$0")/lib.sh"
. "$(dirname "$0")/lavapipe25.sh"
. "$(dirname "$0")/uncapped.sh"
cd "$TP_TMP" || exit 2
PATH=$PATH:/usr/games
for hz in 60 120; do
    on_screen 2 $hz 6 on mailbox
    was_watched 0.5
    on_screen 2 $hz 0 on immediate
    was_glimpsed
    on_screen 2 $hz 5 on immediate
    was_glimpsed
    breaks_the_rules 2 $hz 2
    breaks_the_rules 2 $hz 5
    on_screen 2 $hz 5 off mailbox
    has_torn
done
for images in 2 3 5; do
    on_screen 2 60 $images on mailbox
    was_watched 0.5
done

need gamescope Xwayland vkcube
if said=$(lavapipe_25 gamescope && echo "$lavapipe"); then
    lavapipe=$said
    in_gamescope 5 60 0 on
    was_watched 0.5
    in_gamescope 5 120 5 on
    was_watched 0.5
    in_gamescope 6 120 5 off
    has_torn
else
    tap 0 "vkcube in gamescope # SKIP $said"
fi
table
tap_close
