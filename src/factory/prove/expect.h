/* What a patch promises, in its `proof` lines, held against what was seen of a driver. */
#ifndef TP_FACTORY_PROVE_EXPECT_H
#define TP_FACTORY_PROVE_EXPECT_H

#include <jansson.h>
#include <stdbool.h>

#include "base/error.h"
#include "factory/package/elf_file.h"

enum tp_expect_subject {
    TP_EXPECT_FACT,   /* fact NAME VERB VALUE: what the client saw on each chip */
    TP_EXPECT_CHECK,  /* check ID is ok|failed: what came of the client's check */
    TP_EXPECT_CALL,   /* call NAME FIELD VERB VALUE: each line of the log that has the field */
    TP_EXPECT_SOME,   /* some NAME FIELD VERB VALUE: at least one of them */
    TP_EXPECT_CALLS,  /* calls NAME is|from N: so many lines */
    TP_EXPECT_SUM,    /* sum NAME FIELD is|from N: over all lines of the log */
    TP_EXPECT_PLACES, /* places NAME among OTHER is N[,N…]: in each context, how many of OTHER went
                         before each NAME */
    TP_EXPECT_SAID,   /* said "TEXT" is|from N: so often on standard error */
    TP_EXPECT_SYMBOL, /* symbol lacks GLOB: no strong undefined symbol of that shape */
    TP_EXPECT_TEXT,   /* text has|lacks "TEXT": bytes of the file */
    TP_EXPECT_CHIP,   /* chip NAME has|lacks SETTING: the note's table of GPUs */
};

enum tp_expect_verb { TP_EXPECT_IS, TP_EXPECT_HAS, TP_EXPECT_LACKS, TP_EXPECT_FROM };

/*
 * A proof line is [b|p] [on GLOB[,GLOB…]] [run ARGUMENTS… :] EXPECTATION. With b or p it is about
 * that variant alone, whether or not the patch is in it; with `on` about those chips alone. `run`
 * asks for a run of the client of its own: its options, and NAME=VALUE for the driver's environment.
 */
struct tp_expect {
    char variant; /* 'b', 'p', or 0: those of the patch */
    char **on;    /* globs of chips' names, or generations ("A7XX"); none: every chip */
    int n_on, cap_on;
    char *run; /* NULL: what every chip's run shows */
    enum tp_expect_subject subject;
    enum tp_expect_verb verb;
    char *name;  /* of the fact, call or chip; what is said; NULL otherwise */
    char *field; /* of a call or sum; the other call of places; NULL otherwise */
    char *value;
};

/* What was seen. Everything is borrowed; what is not known is NULL. */
struct tp_seen {
    const char *chip;          /* which one these are of: a name of the table */
    const json_t *facts;       /* of one chip: name → value */
    const json_t *calls;       /* of one chip: the log's lines */
    const json_t *checks;      /* of one chip: [{"id", "ok", "detail"}] */
    const char *said;          /* on standard error, of one chip */
    const struct tp_elf *elf;
    const void *file;
    size_t file_len;
    const json_t *note;
};

/* Reads a proof line. -EINVAL with what is wrong; where: "patches/60-….edit". */
int tp_expect_parse(const char *line, const char *where, struct tp_expect *out, struct tp_error *e);
void tp_expect_finish(struct tp_expect *x);

/* The words behind `run`, for the client and for the driver's environment; both NULL-terminated. */
enum { TP_CLIENT_WORDS = 16 };
struct tp_client_words {
    char *text; /* owned: what the others point into */
    const char *arguments[TP_CLIENT_WORDS + 1], *env[TP_CLIENT_WORDS + 1];
};
void tp_expect_split_run(const struct tp_expect *x, struct tp_client_words *out);
void tp_client_words_finish(struct tp_client_words *w);

/* Needs it a run on a chip, or the file alone? */
bool tp_expect_needs_run(const struct tp_expect *x);

/* Is it about this chip? generation: "A7XX"; NULL: not known. */
bool tp_expect_is_on(const struct tp_expect *x, const char *chip, const char *generation);

/* Is it a register that the simulator watches without asking, by Mesa's name? */
bool tp_expect_knows_register(const char *name);

/* Does it hold? detail: receives a sentence that says what was seen; caller frees. */
bool tp_expect_holds(const struct tp_expect *x, const struct tp_seen *seen, char **detail);

#endif
