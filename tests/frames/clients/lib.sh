# shellcheck shell=bash
# For tests with programs that nobody here wrote. Sourced by bash.

# Ends the test, failed, where a program is lacking that ./setup brings.
need() { # program...
    local program
    for program; do
        command -v "$program" >/dev/null && continue
        printf '%s is not installed\n' "$program"
        exit 1
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

# Four colours, each a quarter.
colours=(C81E0A 0AC81E 1E0AC8 C8C80A)
four_colours() { # file
    convert \( -size 200x150 "xc:#${colours[0]}" "xc:#${colours[1]}" +append \) \
        \( -size 200x150 "xc:#${colours[2]}" "xc:#${colours[3]}" +append \) -append "PNG24:$1"
}

# Where a colour is in a picture: WIDTHxHEIGHT+X+Y.
box() { # file, RRGGBB
    convert "$1" -fill black +opaque "#$2" -trim -format '%wx%h%O' info:
}

# The client's picture is in the screen's, pixel by pixel but for a line that it blurs where it puts it
# between two.
picture_is_there() { # the screen's file, the sent one
    local at different
    at=$(box "$1" "${colours[0]}")
    [[ $at =~ ^(199|200|201)x(149|150|151)\+([0-9]+)\+([0-9]+)$ ]] || {
        echo "# the first quarter is at $at"
        return 1
    }
    convert "$1" -crop "400x300+${BASH_REMATCH[3]}+${BASH_REMATCH[4]}" +repage PNG24:there.png
    different=$(compare -metric AE "$2" there.png null: 2>&1)
    echo "# at +${BASH_REMATCH[3]}+${BASH_REMATCH[4]}, $different of 120000 pixels differ"
    awk -v n="$different" 'BEGIN { exit !(n <= 1400) }'
}

# vkcube's cube is on the screen: its labels' teal is.
cube_is_there() { # file
    convert "$1" -fuzz 12% -fill white -opaque '#004B55' -fill black +opaque white -format '%[fx:mean]' info: |
        awk '{ print "# teal: " $1; exit !($1 > 0.001) }'
}
