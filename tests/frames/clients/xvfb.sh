# shellcheck shell=bash
# An X server of the test's own, with our driver's manifest for its clients. Sourced by bash, after mesa.sh.

# Sets DISPLAY, and writes icd.json. It ends with the test.
xvfb_start() {
    local number
    jq -n --arg library "$(build_folder)/src/frames/icd/libvulkan_turnpike.so" \
        '{file_format_version: "1.0.1", ICD: {library_path: $library, api_version: "1.3.239"}}' >icd.json
    mkfifo number
    Xvfb -displayfd 7 -screen 0 640x480x24 -nolisten tcp -noreset 7>number 2>server &
    xvfb=$!
    trap 'kill "$xvfb" 2>/dev/null; wait' EXIT
    read -r number <number
    export DISPLAY=:$number
}

# Is, within ten seconds, what a command says of a picture of its screen true?
xvfb_until() { # command that gets a file...
    local i
    for ((i = 0; i < 20; i++)); do
        sleep 0.5
        import -window root screen.png && "$@" screen.png && return
    done
    return 1
}
