/* What the tests of the base room share: cmocka, and an empty folder a test. */
#ifndef TP_TESTS_BASE_SUPPORT_H
#define TP_TESTS_BASE_SUPPORT_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/buf.h"
#include "base/fs.h"

static inline int folder_setup(void **state)
{
    const char *tmp = getenv("TMPDIR");
    char *dir = tp_asprintf("%s/tp-base-XXXXXX", tmp && *tmp ? tmp : "/tmp");
    if (!mkdtemp(dir))
        return -1;
    *state = dir;
    return 0;
}

static inline int folder_teardown(void **state)
{
    tp_remove_tree(*state, NULL);
    free(*state);
    return 0;
}

#define in_folder(test) cmocka_unit_test_setup_teardown(test, folder_setup, folder_teardown)

#endif
