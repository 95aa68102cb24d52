# timeout: 60
# tools/private-apt against made-up sources, and without any network: what it derives, what it refuses.
set -u
count=0
check() { # name, status of the check
    count=$((count + 1))
    if [[ $2 -eq 0 ]]; then echo "ok $count - $1"; else echo "not ok $count - $1"; fi
}
tool=$TP_SRC/tools/private-apt
parts=$TP_TMP/parts
mkdir "$parts"
cat >"$parts/own.sources" <<'END'
# Disabled entries are none.
Enabled: no
Types: deb
URIs: file-less.invalid
Suites: bookworm
Components: main

Types: deb deb-src
URIs: http://one.invalid/debian
Suites: bookworm bookworm-updates
Components: main contrib
Signed-By:
 -----BEGIN PGP PUBLIC KEY BLOCK-----
 .
 bWFkZSB1cA==
 -----END PGP PUBLIC KEY BLOCK-----

Types: deb
URIs: http://two.invalid/debian-security
Suites: bookworm-security
Components: main
END
echo 'deb [arch=armhf signed-by=/no/such.gpg] http://three.invalid/ports noble main universe # far' \
    >"$parts/ports.list"
echo 'deb http://vendor.invalid/apt bookworm main' >"$parts/a-vendor.list"
# An archive that refuses every connection stands for one that does not answer.
cat >"$TP_TMP/apt.conf" <<END
Dir::Etc::sourcelist "/dev/null";
Dir::Etc::sourceparts "$parts";
Acquire::http::Proxy "http://127.0.0.1:9/";
END
ask() { # cache, arguments...
    TURNPIKE_CACHE=$TP_TMP/$1 APT_CONFIG=$TP_TMP/apt.conf "$tool" "${@:2}" 2>&1
}
made() { # cache
    cat "$TP_TMP/$1"/apt/*/turnpike.sources
}

said=$(ask a deb-src native trixie)
check 'an archive that does not answer gives exit status 3' $(($? != 3))
[[ $said == *'does not answer'* ]]
check 'and a sentence that says so' $?
made a | grep -qx 'URIs: http://one.invalid/debian'
check "another release comes from the machine's own archive" $?
made a | grep -qx ' bWFkZSB1cA=='
check 'an inline key is carried over' $?
ask v deb native bookworm >/dev/null
made v | grep -qx 'URIs: http://one.invalid/debian'
check 'a vendor that copies suite names is passed over' $?
[[ $(made a | grep -c '^URIs') -eq 1 && $(made a | grep '^Types') == 'Types: deb-src' ]]
check 'one entry a suite, of the asked type' $?
[[ $(stat -c %a "$TP_TMP"/a/apt/*/turnpike.sources) == 600 ]]
check 'the sources list is for its owner alone' $?

ask b deb native bookworm-security >/dev/null
made b | grep -qx 'URIs: http://two.invalid/debian-security'
check 'a suite that an entry names comes from that entry' $?
ask c deb armhf noble >/dev/null
made c | grep -qx 'URIs: http://three.invalid/ports' &&
    made c | grep -qx 'Components: main universe' && made c | grep -qx 'Signed-By: /no/such.gpg'
check 'one-line entries are read, with their options' $?
[[ -f $(echo "$TP_TMP"/c/apt/*/status) ]]
check 'another architecture gets an empty package state' $?

for arguments in '' 'deb' 'deb native' 'rpm native trixie' 'deb native ../x' "deb a;b trixie"; do
    # shellcheck disable=SC2086 # split on purpose
    ask d $arguments >/dev/null
    [[ $? -eq 2 ]]
    check "wrong usage '$arguments' gives exit status 2" $?
done
rm "$parts"/*
ask e deb native trixie >/dev/null
check 'a machine without sources gives exit status 3' $(($? != 3))
echo "1..$count"
