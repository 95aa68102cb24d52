/* What the tests of the source room share: a folder of their own, small Mesas, one call. */
#ifndef TP_TESTS_SOURCE_SUPPORT_H
#define TP_TESTS_SOURCE_SUPPORT_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/buf.h"
#include "base/fs.h"
#include "factory/source/source.h"

/* A test's world: {dir}/out/mesa is where sources go, {dir}/cache where downloads are kept. */
struct world {
    char *dir, *out, *dest, *cache;
    struct tp_source_request req; /* dest, cache and note are set */
    struct tp_source got;
    struct tp_error e;
    struct tp_buf notes; /* one a line */
};

int world_setup(void **state);
int world_teardown(void **state);

/* tp_source_get with this spec; what an earlier call left is forgotten first. */
int world_get(struct world *w, const char *spec);
/* The same in a process of its own that first calls prepare(data); returns its result. */
int world_get_in_child(struct world *w, const char *spec, int (*prepare)(void *), void *data);
/* What world_get_in_child returns when prepare did not return 0. */
#define COULD_NOT_PREPARE (-9999)

/* A path in the world's folder. The string lives until the test ends. */
const char *at(struct world *w, const char *name);
/* Runs a shell command in the world's folder; the test fails when it does. */
void sh(struct world *w, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
void put(struct world *w, const char *name, const char *text);
/* VERSION, src/a.c, src/sub/b.c -> ../a.c, bin/run.sh (executable), .hidden. */
void mini_mesa(struct world *w, const char *name, const char *version);
/* Both folders hold the same names, bytes, links and executable bits. */
void assert_same_tree(struct world *w, const char *a, const char *b);
/* No destination, and no temporary folder beside it. */
void assert_nothing_left(struct world *w);
/* The last call failed with this status, and its error says each of the words (NULL ends). */
void assert_error(struct world *w, enum tp_status status, ...) __attribute__((sentinel));
void assert_noted(struct world *w, const char *words);

/* A socket on 127.0.0.1 that takes connections and never answers. */
int silent_server(int *port);

#endif
