#!/bin/bash
# Runs a program with the ICD as the loader's only driver, in front of lavapipe.
#   with_icd.sh [-l LESS] LIBRARY PROGRAM [ARGUMENT...]
# An argument @driver@ is lavapipe's library. LESS: a driver to be between the two (less_driver.c).
set -eu
less=
if [[ $1 == -l ]]; then
    less=$(realpath "$2")
    shift 2
fi
icd=$(realpath "$1")
shift
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
printf '{"file_format_version": "1.0.1", "ICD": {"library_path": "%s", "api_version": "1.3.0"}}\n' \
    "$icd" >"$dir/icd.json"
driver=
for manifest in ${LAVAPIPE-} /usr/share/vulkan/icd.d/lvp_icd*.json; do
    [[ ! -e $manifest ]] || driver=$(jq -r .ICD.library_path "$manifest")
    [[ -z $driver ]] || break
done
[[ -n $driver ]] || { echo "there is no lavapipe here (Debian: mesa-vulkan-drivers)" >&2; exit 3; }
[[ $driver == */* ]] || driver=$(ldconfig -p | sed -nE "s/.*$driver .*=> //p" | head -n 1)
unset VK_ICD_FILENAMES VK_ADD_DRIVER_FILES VK_INSTANCE_LAYERS
export VK_DRIVER_FILES=$dir/icd.json TURNPIKE_DRIVER=${less:-$driver} LESS_OF=$driver
# Nobody's server but that of the test.
[[ -n ${TURNPIKE_SOCKET-} ]] || export XDG_RUNTIME_DIR=$dir
"${@/#@driver@/$driver}"
