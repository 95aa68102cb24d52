#!/bin/bash
# Signatures, with minisign itself as the other side: each verifies the other's, refuses the other's faults.
# timeout: 600
set -uo pipefail
. "$(dirname "$0")/../scripts/mesa.sh"
unset TURNPIKE_KEY_PASSWORD
cd "$TP_TMP" || exit 2

# status, words that must be on standard error, arguments…
refused() {
    local want=$1 words=$2 status=0
    shift 2
    "$TURNPIKE" "$@" >said 2>err </dev/null || status=$?
    check "$*: exit status $want" test "$status" -eq "$want"
    check "$*: says '$words'" grep -qF -- "$words" err
    check "$*: says what to do" grep -q 'what to do: ' err
    check "$*: nothing on standard output" test ! -s said
}

minisign -G -W -p open.pub -s open.key >/dev/null
minisign -G -W -p other.pub -s other.key >/dev/null
printf 'swordfish\nswordfish\n' | minisign -G -p locked.pub -s locked.key >/dev/null 2>&1
check 'minisign has made its keys' test -s open.key -a -s other.key -a -s locked.key
head -c 3000000 /dev/urandom >driver.zip
line=$(tail -n 1 open.pub)
id=$(sed -n '1s/.* //p' open.pub)

"$TURNPIKE" sign driver.zip --key open.key >said
check 'sign: exit status 0' test $? -eq 0
check 'sign: the key is named as minisign names it' grep -qF "$id" said
check 'minisign -V verifies what turnpike signed' minisign -Vqm driver.zip -p open.pub
check 'minisign shows the file in the trusted comment' bash -c \
    'minisign -Vm driver.zip -p open.pub | grep -qP "^Trusted comment: timestamp:\d+\tfile:driver.zip\thashed$"'
check 'minisign -H accepts it: it is of the hashed form' minisign -VHqm driver.zip -p open.pub
check 'verify: by the public key in a file' "$TURNPIKE" verify driver.zip --pub open.pub
check 'verify: by its line alone' "$TURNPIKE" verify driver.zip --pub "$line"
mkdir sub
cp driver.zip driver.zip.minisig sub
check 'verify: in another folder' "$TURNPIKE" verify sub/driver.zip --pub open.pub

odd=$'two\nlines.zip'
cp driver.zip "$odd"
"$TURNPIKE" sign "$odd" --key open.key >said
check 'sign: a name with a line end makes no line' test "$(wc -l <said)" -eq 2
"$TURNPIKE" verify "$odd" --pub open.pub >said 2>err
check 'verify: it holds' test $? -eq 0
check 'verify: its name makes no line either' test "$(wc -l <said)" -eq 3
check 'verify: and is its name' test ! -s err

minisign -S -s open.key -m driver.zip -t 'as released' -c 'a comment' >/dev/null
"$TURNPIKE" verify driver.zip --pub open.pub >said
check "minisign's signature is verified" test $? -eq 0
check 'and its comment is shown' grep -q 'comment: as released' said
minisign -S -l -s open.key -m driver.zip >/dev/null
"$TURNPIKE" verify driver.zip --pub open.pub >said
check "minisign's older form is verified" test $? -eq 0
check 'and is told to be that' grep -q 'older form' said

"$TURNPIKE" sign driver.zip --key open.key >/dev/null
refused 1 "was made with the key $id" verify driver.zip --pub other.pub
cp driver.zip renamed.zip
cp driver.zip.minisig renamed.zip.minisig
"$TURNPIKE" verify renamed.zip --pub open.pub >/dev/null 2>err
check 'verify: a renamed file holds, with a note' grep -q 'signed under the name driver.zip' err
printf x | dd of=renamed.zip bs=1 seek=2000000 conv=notrunc status=none
refused 1 'is not the file that was signed' verify renamed.zip --pub open.pub
sed -i '3s/driver/drivel/' driver.zip.minisig
refused 1 'its trusted comment was changed' verify driver.zip --pub open.pub
check 'minisign refuses that one too' bash -c '! minisign -Vqm driver.zip -p open.pub 2>/dev/null'
sed -i '2s/^.*$/short/' driver.zip.minisig
refused 2 'is not a signature' verify driver.zip --pub open.pub
rm driver.zip.minisig
refused 2 'there is no signature' verify driver.zip --pub open.pub
refused 2 'name the file that it belongs to' verify renamed.zip.minisig --pub open.pub
refused 2 'is a secret key of minisign, not a public key' verify renamed.zip --pub open.key
refused 2 'is a public key of minisign, not a secret key' sign driver.zip --key open.pub
refused 2 'No such file' sign driver.zip --key missing.key
refused 2 'No such file' sign missing.zip --key open.key
refused 2 'is a folder' sign sub --key open.key
refused 2 'give the secret key with --key' sign driver.zip
refused 2 'give one file' verify --pub open.pub
refused 2 'an open descriptor' sign driver.zip --key open.key --password-fd 77
ln -sf /dev/full full.zip.minisig
cp driver.zip full.zip
refused 1 'No space left' sign full.zip --key open.key

# Keys with a password: scrypt takes a gigabyte, and seconds.
refused 2 'there is no terminal to ask for it' sign driver.zip --key locked.key
TURNPIKE_KEY_PASSWORD=haddock refused 1 'does not open this key' sign driver.zip --key locked.key
check 'and no signature was written' test ! -e driver.zip.minisig
TURNPIKE_KEY_PASSWORD=swordfish "$TURNPIKE" sign driver.zip --key locked.key >/dev/null
check 'a password from the environment' minisign -Vqm driver.zip -p locked.pub
rm driver.zip.minisig
"$TURNPIKE" sign driver.zip --key locked.key --password-fd 3 3<<<swordfish >/dev/null
check 'a password from a descriptor' minisign -Vqm driver.zip -p locked.pub
rm driver.zip.minisig
(sleep 1; echo swordfish; sleep 5) | setsid script -qec "'$TURNPIKE' sign driver.zip --key locked.key" typescript >shown
check 'a password from the terminal' minisign -Vqm driver.zip -p locked.pub
check 'it was asked for' grep -q 'Password of locked.key' shown
check 'and not shown' bash -c '! grep -q swordfish shown'
rm driver.zip.minisig
(sleep 1; printf '\003'; sleep 3) |
    setsid script -qec "trap : INT; '$TURNPIKE' sign driver.zip --key locked.key; stty -a" typescript >shown
check 'interrupted while it asks: the terminal shows again what is typed' grep -qE '(^| )echo( |;|$)' shown
check 'and nothing is signed' test ! -e driver.zip.minisig
tap_close
