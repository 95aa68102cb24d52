# shellcheck shell=bash
# For tests with programs that nobody here wrote. Sourced by bash.

# Ends the test where a program is lacking.
need() { # program...
    local program
    for program; do
        command -v "$program" >/dev/null && continue
        printf '%s is not installed\n' "$program"
        exit 77
    done
}

# turnpike, with an end that is longer than the command's own, and then a hard one.
played() { # seconds, arguments...
    local seconds=$1
    shift
    timeout -k 10 $((seconds + 40)) "$TURNPIKE" "$@"
}

# RRGGBB of a place in a picture.
pixel() { # file, x, y
    convert "$1" -crop "1x1+$2+$3" -depth 8 txt:- | sed -nE 's/.*#([0-9A-F]{6}).*/\1/p'
}
