#!/bin/bash
# Uncapped frames, with release notes and without, a minute each: see docs/icd.md.
# timeout: 2700
set -uo pipefail
. "$(dirname "$0")/../../scripts/mesa.sh"
. "$(dirname "$0")/lib.sh"
. "$(dirname "$0")/lavapipe25.sh"
. "$(dirname "$0")/uncapped.sh"
cd "$TP_TMP" || exit 2
PATH=$PATH:/usr/games
need gamescope Xwayland vkcube dpkg-deb
lavapipe_25 gamescope
for hz in 60 120; do
    for images in 2 3 5 6; do
        on_screen 60 $hz $images on mailbox
        was_watched 0.9
        on_screen 60 $hz $images on immediate
        was_glimpsed
        breaks_the_rules 10 $hz $images
    done
    on_screen 60 $hz 5 off mailbox
    has_torn
    on_screen 60 $hz 2 off immediate
    in_gamescope 60 $hz 0 on
    was_watched 0.9
    in_gamescope 60 $hz 0 off
    has_torn
done
for images in 2 3 5; do
    in_gamescope 20 60 $images on
    was_watched 0.9
done
table
tap_close
