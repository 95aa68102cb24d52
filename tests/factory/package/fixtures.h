/* The shared objects that meson makes for these tests, and requests that fit them. */
#ifndef TESTS_FACTORY_PACKAGE_FIXTURES_H
#define TESTS_FACTORY_PACKAGE_FIXTURES_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "factory/package/driver_check.h"
#include "base/fs.h"

/* The machine that fixtures are made for: the one that the tests run on. */
#if defined(__aarch64__)
#define FIXTURE_MACHINE EM_AARCH64
#define FIXTURE_MACHINE_NAME "aarch64"
#else
#define FIXTURE_MACHINE EM_X86_64
#define FIXTURE_MACHINE_NAME "x86_64"
#endif

/* Path of NAME.so; the caller frees. */
static inline char *fixture_path(const char *name)
{
    const char *dir = getenv("TP_FIXTURES");
    assert_non_null(dir);
    return tp_asprintf("%s/%s.so", dir, name);
}

/* The bytes of NAME.so; the caller finishes the buffer. */
static inline struct tp_buf fixture_bytes(const char *name)
{
    struct tp_buf b = {0};
    struct tp_error e = {0};
    char *path = fixture_path(name);
    assert_int_equal(tp_read_file(path, 0, &b, &e), 0);
    free(path);
    return b;
}

/* NAME.so, open; the caller closes it. */
static inline struct tp_elf *fixture_open(const char *name)
{
    struct tp_elf *elf;
    struct tp_error e = {0};
    char *path = fixture_path(name);
    if (tp_elf_open(path, &elf, &e) < 0)
        fail_msg("%s: %s", e.where, e.what);
    free(path);
    return elf;
}

#define assert_contains(text, part)                                                                \
    do {                                                                                           \
        if (!strstr((text), (part)))                                                               \
            fail_msg("\"%s\" does not contain \"%s\"", (text), (part));                            \
    } while (0)

#endif
