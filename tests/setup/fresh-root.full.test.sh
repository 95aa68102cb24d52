# timeout: 3600
# setup, the build and the unit tests on fresh roots of both Debian releases.
cd "$TP_SRC" || exit 2
bad=0
for suite in bookworm trixie; do
    TMPDIR=$TP_TMP tests/scripts/fresh-root "$suite"
    status=$?
    [[ $status -ne 3 ]] || exit 77
    [[ $status -eq 0 ]] || bad=1
done
exit "$bad"
