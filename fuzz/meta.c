/* Any bytes as a meta.json. */
#include <jansson.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include "factory/inspect/meta_check.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    for (int linux_driver = 0; linux_driver < 2; linux_driver++) {
        struct tp_findings findings = {0};
        json_t *meta = tp_meta_check((const char *)data, size, linux_driver, 30, &findings);
        if (!meta && !findings.n)
            abort(); /* a failure without a reason */
        json_decref(meta);
        tp_findings_finish(&findings);
    }
    return 0;
}
