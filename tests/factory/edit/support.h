/* What the tests of the edit room share: small trees of Mesa and patches, both from strings. */
#ifndef TP_TESTS_EDIT_SUPPORT_H
#define TP_TESTS_EDIT_SUPPORT_H

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
#include "factory/edit/edit.h"

/* {dir}/mesa has VERSION and src/; {dir}/patches is empty. */
struct world {
    char *dir, *tree, *patches;
    struct tp_selection sel; /* host, b */
    struct tp_editing s;     /* of the last run */
    struct tp_error e;
};

int world_setup(void **state);
int world_teardown(void **state);
#define in_world(test) cmocka_unit_test_setup_teardown(test, world_setup, world_teardown)

/* Files of the tree. */
void put(struct world *w, const char *path, const char *text);
void assert_file(struct world *w, const char *path, const char *text);
bool is_there(struct world *w, const char *path);
/* A path in the tree; the string lives until the next four calls. */
const char *at(struct world *w, const char *path);

/* A file of the folder of patches, as it is. */
void put_patch(struct world *w, const char *name, const char *text);
/* The same, with `patch ID`, `title` and `upstream` lines in front; the id is the file's name. */
void add_patch(struct world *w, const char *id, const char *rest);
void no_patches(struct world *w);

/* tp_editing_run on the tree; the last run is forgotten. */
int run(struct world *w);
/* The same, and writes when it is clean. */
int run_and_write(struct world *w);
enum tp_state state_of(struct world *w, int patch);
struct tp_outcome *outcome(struct world *w, int patch, int edit);

/* One edit of one file, from nothing: the text afterwards, or "STATE: reason". In the lines of the
 * edit `form` has two spaces in front. Caller frees. */
char *edited(struct world *w, const char *path, const char *source, const char *lines);
/* edited() gives this, and a second run finds it already there and changes nothing. */
void assert_edited(struct world *w, const char *path, const char *source, const char *lines,
                   const char *want);
/* edited() does not apply: the state, and words of the reason. */
void assert_refused(struct world *w, const char *path, const char *source, const char *lines,
                    enum tp_state state, const char *words);

/* Hash over names, modes and bytes of all below a folder, .turnpike left out. */
void hash_tree(const char *dir, char out[TP_SHA256_HEX]);

#endif
