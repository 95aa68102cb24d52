#!/bin/bash
# The library shows three functions, and needs no library that a game's container may lack.
set -u
failed=0
check() { # what, found, expected
    if [[ $2 == "$3" ]]; then
        echo "ok - $1"
    else
        printf 'not ok - %s\n# found:\n%s\n# expected:\n%s\n' "$1" "$2" "$3"
        failed=1
    fi
}
check 'it exports what the loader asks for' \
    "$(nm -D --defined-only "$1" | awk '{print $3}' | sort)" \
    "$(printf '%s\n' vk_icdGetInstanceProcAddr vk_icdGetPhysicalDeviceProcAddr \
        vk_icdNegotiateLoaderICDInterfaceVersion)"
check "it links the C library's own and no other" \
    "$(readelf -d "$1" | sed -nE 's/.*NEEDED.*\[([^]]*)\]/\1/p' | grep -vE '^(libc|libm|libdl|libpthread|ld-linux.*)\.so')" ''
exit $failed
