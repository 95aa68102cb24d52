#!/bin/bash
# Completions: made from what the program says of itself, and each shell takes them.
set -uo pipefail
. "$(dirname "$0")/../scripts/mesa.sh"
cd "$TP_TMP" || exit 2
unset XDG_DATA_DIRS
export HOME=$TP_TMP XDG_CONFIG_HOME=$TP_TMP/config
folder=$(build_folder)/src/cli/completion
check 'the build made them' test -s "$folder/turnpike.bash" -a -s "$folder/_turnpike" -a -s "$folder/turnpike.fish"
for shell in bash zsh fish; do
    "$TP_SRC/src/cli/completion/make.py" $shell "$TURNPIKE" >now.$shell
done
check 'and they are those of this program' cmp now.bash "$folder/turnpike.bash"
touch file.cap
mkdir sub

# --- bash: what it offers, a word a line ---
in_bash() { # the words of the line, the last under the cursor
    bash --norc -c '. "$1"; shift; COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1)); _turnpike 2>/dev/null
        printf "%s\n" "${COMPREPLY[@]}"' _ "$folder/turnpike.bash" "$@" | sort -u
}
offers() { # what, want, got…
    check "$1" test "$2" = "$(echo $3)"
}
offers 'bash: commands' 'serve sign simulate' "$(in_bash turnpike s)"
offers 'bash: options' '--seconds --size --snapshot --socket' "$(in_bash turnpike play --s)"
offers 'bash: values' 'cap latency off vsync' "$(in_bash turnpike play --gate '')"
offers 'bash: values that begin so' 'latency' "$(in_bash turnpike play --gate l)"
offers 'bash: folders' 'sub' "$(in_bash turnpike build --out '')"
offers 'bash: programs behind --' 'true' "$(in_bash turnpike play --seconds 3 -- tru | grep -x true)"
offers 'bash: no options behind --' '' "$(in_bash turnpike play -- vkcube --)"

# --- fish ---
in_fish() {
    fish --no-config -c "source $folder/turnpike.fish; complete -C '$1'" | cut -f1 | sort
}
offers 'fish: commands' 'serve sign simulate' "$(in_fish 'turnpike s' | grep -v '/')"
offers 'fish: values' 'cap latency off vsync' "$(in_fish 'turnpike play --gate ')"
offers 'fish: options' '--seconds --size --snapshot --socket' "$(in_fish 'turnpike play --s')"

# --- zsh: a terminal of its own types the line and reads what is shown ---
in_zsh() {
    zsh -f -c '
        zmodload zsh/zpty
        zpty z zsh -f -i
        zpty -w z "PS1=; fpath=($1 \$fpath); autoload -Uz compinit; compinit -u -D; setopt no_beep list_ambiguous; LISTMAX=0; stty -echo; echo READ\Y"
        zpty -r z line "*READY*" 2>/dev/null
        zpty -w -n z "$2"$'"'\t\t'"'
        sleep 2
        while zpty -r -t z line; do printf "%s" "$line"; done
        zpty -d z' _ "$folder" "$1" | tr -d '\r\007' | sed 's/\x1b\[[0-9;?]*[A-Za-z]//g'
}
zsh_shows() { # what, line, words…
    local said word name=$1
    said=$(in_zsh "$2")
    shift 2
    for word in "$@"; do
        check "zsh: $name: $word" grep -q -- "$word" <<<"$said"
    done
}
zsh_shows commands 'turnpike s' serve sign simulate 'run a game’s frames'
zsh_shows values 'turnpike play --gate ' off vsync latency
zsh_shows options 'turnpike play --s' --seconds --snapshot

check 'each command is known to each shell' test "$(
    for c in $("$TURNPIKE" --help | grep -oP '^  \K[a-z]+'); do
        for f in now.bash now.zsh now.fish; do grep -q -w -- "$c" $f || echo "$f lacks $c"; done
    done)" = ''
tap_close
