/*
 * Where top's numbers come from: a server's control connection, which lends the rings of all that
 * draw on it, and takes live changes. It never waits: who calls it polls, and comes back.
 */
#ifndef TP_TOP_SOURCE_H
#define TP_TOP_SOURCE_H

#include "base/error.h"
#include "frames/wire/scanout.h"
#include "top/model.h"
#include "top/ui.h"

struct tp_top_source;

/* socket: a path, or @NAME; copied. The model is borrowed, and forgets a server when another one is
 * met. -EINVAL: what no socket can have as its name. */
int tp_top_source_create(
    const char *socket, struct tp_top_model *model, struct tp_top_source **out, struct tp_error *e);
/* NULL is fine. */
void tp_top_source_destroy(struct tp_top_source *s);

/* True: somebody listens there, whether he lets this user in or not. */
bool tp_top_source_answers(const char *socket);

/* Connects where that is due, takes what came, reads the rings into the model. */
void tp_top_source_turn(struct tp_top_source *s, int64_t now_ns);
/* To be polled for reading; -1: there is none. */
int tp_top_source_fd(const struct tp_top_source *s);

/* Live: the server has told of its rings, and what it has is in the model. */
enum tp_top_link tp_top_source_link(const struct tp_top_source *s);
pid_t tp_top_source_pid(const struct tp_top_source *s);
/* Why there is no server, as an error; 0 where there is one, or it is not known yet. */
int tp_top_source_fails(const struct tp_top_source *s, struct tp_error *e);

/* Asks for a live change. A negative errno: it could not be asked. */
int tp_top_source_set(struct tp_top_source *s, const struct tp_setting_frame *setting);
/* True: the answer to the last one has come, which is told once. */
bool tp_top_source_answer(struct tp_top_source *s, int *result);

#endif
