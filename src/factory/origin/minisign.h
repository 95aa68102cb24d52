/*
 * Signatures in minisign's format: Ed25519 over the BLAKE2b-512 of a file ("ED"), or over the file itself
 * ("Ed", which is verified and no longer made), with a trusted comment under a signature of its own.
 * The formats: minisign(1), jedisct1.github.io/minisign.
 */
#ifndef TP_FACTORY_ORIGIN_MINISIGN_H
#define TP_FACTORY_ORIGIN_MINISIGN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"

#define TP_MINISIGN_ID_BYTES 8
/* A key's id as minisign shows it: upper-case hex without leading zeros; and a NUL. */
#define TP_MINISIGN_ID_TEXT 17
/* No password is longer, its NUL counted. */
#define TP_MINISIGN_PASSWORD 1024
/* No key, no signature is longer, with its comments. */
#define TP_MINISIGN_TEXT_MAX 16384

struct tp_minisign_public {
    unsigned char id[TP_MINISIGN_ID_BYTES];
    unsigned char key[32];
};

/* Owns its comment: tp_minisign_signature_finish. {0} is an empty one. */
struct tp_minisign_signature {
    bool hashed; /* "ED" */
    unsigned char id[TP_MINISIGN_ID_BYTES];
    unsigned char file[64];    /* over the file's hash, or the file */
    unsigned char comment[64]; /* over the above and the trusted comment */
    char *trusted;             /* the comment; what it says is true once it was verified */
};

/* A secret key, decrypted, in memory that is locked and wiped. */
struct tp_minisign_secret;

/* Asks for the password of the key at path: fills `password` with size bytes at most, NUL-terminated.
 * 0 or a negative errno with e filled. */
typedef int tp_minisign_ask(void *data, const char *path, char *password, size_t size,
                            struct tp_error *e);

void tp_minisign_id(const unsigned char id[TP_MINISIGN_ID_BYTES], char out[TP_MINISIGN_ID_TEXT]);

/*
 * Any bytes as a public key (a file's content, or the bare base64 line), as a signature. where: what
 * errors call it. Errors: -EINVAL (status INPUT), which say what it is instead where that is known.
 */
int tp_minisign_public_parse(const char *text, size_t len, const char *where,
                             struct tp_minisign_public *out, struct tp_error *e);
int tp_minisign_signature_parse(const char *text, size_t len, const char *where,
                                struct tp_minisign_signature *out, struct tp_error *e);
void tp_minisign_signature_finish(struct tp_minisign_signature *s);

/* As above from a file of this name, or, where there is none, from the base64 line itself. */
int tp_minisign_public_load(const char *file_or_key, struct tp_minisign_public *out,
                            struct tp_error *e);

/*
 * Any bytes as a secret key; ask is called when it has a password. *out: the caller's, ended with
 * tp_minisign_secret_free. Errors: -EINVAL (status INPUT) for what is none, -EACCES (status FAILED) for
 * a wrong password, -ENOMEM (status MISSING) where its derivation finds no memory, those of ask.
 */
int tp_minisign_secret_parse(const char *text, size_t len, const char *where, tp_minisign_ask *ask,
                             void *data, struct tp_minisign_secret **out, struct tp_error *e);
int tp_minisign_secret_load(const char *path, tp_minisign_ask *ask, void *data,
                            struct tp_minisign_secret **out, struct tp_error *e);
/* NULL is accepted. */
void tp_minisign_secret_free(struct tp_minisign_secret *secret);
/* The public key that verifies what this one signs. */
void tp_minisign_secret_public(const struct tp_minisign_secret *secret,
                               struct tp_minisign_public *out);

/* The text of a signature of the file at path, "ED". seconds: since 1970, for its trusted comment. The
 * caller frees *text. Errors: those of reading; -EINTR when interrupted. */
int tp_minisign_sign(const struct tp_minisign_secret *secret, const char *path, int64_t seconds,
                     char **text, struct tp_error *e);
/* As above, into PATH.minisig, whole or not at all. */
int tp_minisign_sign_file(const struct tp_minisign_secret *secret, const char *path, int64_t seconds,
                          struct tp_error *e);

/*
 * Does the signature hold for the file at path? sig_path: what errors call the signature. Errors:
 * -EKEYREJECTED (status FAILED) for another key, a changed file, a damaged signature, a changed
 * comment, each told apart; those of reading.
 */
int tp_minisign_verify(const struct tp_minisign_public *key, const struct tp_minisign_signature *s,
                       const char *path, const char *sig_path, struct tp_error *e);

#endif
