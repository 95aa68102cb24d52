/* What Mesa's own release notes (docs/relnotes/VERSION.rst) say of the driver in a range of
 * releases. */
#ifndef TP_FACTORY_NOTES_RELNOTES_H
#define TP_FACTORY_NOTES_RELNOTES_H

#include <stdbool.h>
#include <stddef.h>

#include "base/error.h"

enum tp_relnote_kind { TP_RELNOTE_FEATURE, TP_RELNOTE_FIX, TP_RELNOTE_CHANGE, TP_RELNOTE_KINDS };

/* A release of Mesa's, for comparing. */
struct tp_mesa_release {
    unsigned part[3];
    unsigned candidate; /* 25.0.0-rc2: 2; -devel: 0; a release: UINT_MAX */
};
/* "25.0.7", "25.0.0-rc2", "25.1.0-devel", "mesa-25.0.7", "25.0.7-2+deb13u1". False for anything
 * else. */
bool tp_mesa_release_parse(const char *text, struct tp_mesa_release *out);
int tp_mesa_release_compare(const struct tp_mesa_release *a, const struct tp_mesa_release *b);

/* Hands each entry of one file to a function: one line of text, as RST shows it. The text of a file
 * is whatever its author wrote. */
void tp_relnotes_parse(const char *text, size_t len,
    void (*each)(void *data, enum tp_relnote_kind kind, const char *entry), void *data);

/* Does an entry name what the driver is made of: tu, turnip, freedreno, ir3, adreno, kgsl,
 * u_gralloc, or the Vulkan runtime? */
bool tp_relnotes_names_driver(const char *entry);

struct tp_relnote {
    enum tp_relnote_kind kind;
    char *version; /* borrowed from the list of releases */
    char *text;    /* owned */
};

/* The caller ends it with tp_relnotes_finish. */
struct tp_relnotes {
    char **releases; /* owned; those in the range, oldest first: "25.0.7" */
    size_t n_releases, cap_releases;
    struct tp_relnote *at; /* those that name the driver, newest release first */
    size_t n, cap;
    size_t of_kind[TP_RELNOTE_KINDS]; /* how many of each are in `at` */
    size_t all;                       /* changes in the range, whatever they are about */
    size_t again;                     /* left out: an earlier release has them already */
    bool reaches;                     /* there are notes of `to` itself */
};

/*
 * The entries of all releases after `from`, up to and with `to`. A fix goes into several releases;
 * it counts for the oldest alone, and not at all where one up to `from` has it. dir: docs/relnotes.
 * Errors: -ENOENT (status FAILED) when the folder has no release in that range; -EINVAL (status
 * INPUT) when from or to is no version, or to is not newer.
 */
int tp_relnotes_read(
    const char *dir, const char *from, const char *to, struct tp_relnotes *out, struct tp_error *e);
void tp_relnotes_finish(struct tp_relnotes *r);

#endif
