/* A mount namespace in which a card of ours lies where a kernel's would: /dev/dri and /sys. */
#ifndef TP_CLI_NAMESPACE_H
#define TP_CLI_NAMESPACE_H

#include <stdbool.h>

#include "base/error.h"

enum tp_namespace_mode {
    TP_NAMESPACE_AUTO, /* where it takes no user namespace: for root */
    TP_NAMESPACE_YES,
    TP_NAMESPACE_NO,
};

/* What a child is to see. */
struct tp_namespace {
    enum tp_namespace_mode mode;
    const char *tree;  /* what tp_namespace_prepare has made */
    const char *mount; /* an empty folder, to mount at meanwhile */
    bool render;       /* the card has a render node, too */
};

/* Makes the tree of files that stands for the card, and the folder beside it. */
int tp_namespace_prepare(const struct tp_namespace *n, struct tp_error *e);

/*
 * In a process of one thread, that becomes the client: puts the tree's parts over /dev/dri (where
 * there is such a folder) and into /sys, for this process and those that come of it. The real /sys
 * stays visible beside them, but for other cards. data: a struct tp_namespace. 0, or a negative
 * errno; for AUTO always 0: the preload library leads the paths there as well.
 */
int tp_namespace_enter(const void *data);

#endif
