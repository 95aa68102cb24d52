/* Minisign's secret keys: with a password, under scrypt's stream, or without. */
#include <errno.h>
#include <sodium.h>
#include <string.h>

#include "base/buf.h"
#include "base/fs.h"
#include "factory/origin/minisign_internal.h"

/* What minisign -G writes: libsodium's SENSITIVE. It takes less where memory is scarce, never more. */
#define MOST_OPS    UINT64_C(33554432)
#define MOST_MEMORY (UINT64_C(1) << 30)

/* The decoded line: algorithms, salt and limits, then what the password's stream covers. */
enum {
    AT_KDF = 2,
    AT_CHECK = 4,
    AT_SALT = 6,
    AT_OPS = 38,
    AT_MEMORY = 46,
    AT_COVERED = 54,
    AT_ID = 54,
    AT_KEY = 62,
    AT_SUM = 126,
    COVERED = 104,
};

static uint64_t number(const unsigned char *at)
{
    uint64_t n = 0;
    for (int i = 8; i--;)
        n = n << 8 | at[i];
    return n;
}

static int damaged(const char *where, struct tp_error *e)
{
    return tp_fail(e, TP_STATUS_INPUT, -EINVAL, where, "take it from a copy, or make another with "
                   "minisign -G", "is a damaged secret key: its parts do not belong together");
}

/* The key's second half is the public key of its first. */
static bool is_whole(const unsigned char *key)
{
    unsigned char public[crypto_sign_PUBLICKEYBYTES], secret[crypto_sign_SECRETKEYBYTES];
    crypto_sign_seed_keypair(public, secret, key);
    bool whole = !sodium_memcmp(key, secret, sizeof secret);
    sodium_memzero(secret, sizeof secret);
    return whole;
}

static bool sum_holds(const unsigned char *bytes)
{
    unsigned char sum[32];
    crypto_generichash_state state;
    crypto_generichash_init(&state, NULL, 0, sizeof sum);
    crypto_generichash_update(&state, bytes, 2);
    crypto_generichash_update(&state, bytes + AT_ID, AT_SUM - AT_ID);
    crypto_generichash_final(&state, sum, sizeof sum);
    sodium_memzero(&state, sizeof state);
    return !sodium_memcmp(sum, bytes + AT_SUM, sizeof sum);
}

static int uncover(unsigned char *bytes, const char *password, const char *where, struct tp_error *e)
{
    unsigned char stream[COVERED];
    uint64_t memory = number(bytes + AT_MEMORY);
    if (crypto_pwhash_scryptsalsa208sha256(stream, sizeof stream, password, strlen(password),
                                           bytes + AT_SALT, number(bytes + AT_OPS), (size_t)memory) < 0)
        return tp_fail(e, TP_STATUS_MISSING, -ENOMEM, where, "free some memory",
                       "its password cannot be checked: that takes %llu MiB of memory",
                       (unsigned long long)(memory >> 20));
    for (size_t i = 0; i < COVERED; i++)
        bytes[AT_COVERED + i] ^= stream[i];
    sodium_memzero(stream, sizeof stream);
    return 0;
}

static int unlock(unsigned char *bytes, const char *where, tp_minisign_ask *ask, void *data,
                  struct tp_error *e)
{
    if (number(bytes + AT_OPS) > MOST_OPS || number(bytes + AT_MEMORY) > MOST_MEMORY)
        return tp_fail(e, TP_STATUS_INPUT, -EINVAL, where, "make a key with minisign -G",
                       "asks for more memory or time than any key of minisign's");
    if (!ask)
        return tp_fail(e, TP_STATUS_INPUT, -EACCES, where, NULL, "has a password");
    char password[TP_MINISIGN_PASSWORD] = "";
    int r = ask(data, where, password, sizeof password, e);
    if (!r)
        r = uncover(bytes, password, where, e);
    sodium_memzero(password, sizeof password);
    if (!r && (!sum_holds(bytes) || !is_whole(bytes + AT_KEY)))
        r = tp_fail(e, TP_STATUS_FAILED, -EACCES, where, "give the password it was made with",
                    "the password does not open this key");
    return r;
}

int tp_minisign_secret_parse(const char *text, size_t len, const char *where, tp_minisign_ask *ask,
                             void *data, struct tp_minisign_secret **out, struct tp_error *e)
{
    *out = NULL;
    unsigned char bytes[TP_MINISIGN_SECRET_BYTES];
    struct tp_slice rest = {text, len};
    static const unsigned char zero[32];
    int r = tp_minisign_decode(&rest, TP_MINISIGN_SECRET, false, where, bytes, e);
    if (r)
        goto out;
    bool open = !memcmp(bytes + AT_KDF, "\0\0", 2);
    if (memcmp(bytes + AT_CHECK, "B2", 2) || (!open && memcmp(bytes + AT_KDF, "Sc", 2)))
        r = tp_fail(e, TP_STATUS_INPUT, -EINVAL, where, "make a key with minisign -G",
                    "is a secret key of a newer kind than is known here");
    else if (!open)
        r = unlock(bytes, where, ask, data, e);
    /* minisign -G -W leaves the sum 0. */
    else if (!is_whole(bytes + AT_KEY) || (sodium_memcmp(bytes + AT_SUM, zero, 32) && !sum_holds(bytes)))
        r = damaged(where, e);
    if (r)
        goto out;
    *out = sodium_malloc(sizeof **out);
    if (!*out) {
        r = tp_fail_errno(e, ENOMEM, where, "cannot be kept in locked memory");
        goto out;
    }
    memcpy((*out)->id, bytes + AT_ID, sizeof (*out)->id);
    memcpy((*out)->key, bytes + AT_KEY, sizeof (*out)->key);
out:
    sodium_memzero(bytes, sizeof bytes);
    return r;
}

int tp_minisign_secret_load(const char *path, tp_minisign_ask *ask, void *data,
                            struct tp_minisign_secret **out, struct tp_error *e)
{
    *out = NULL;
    struct tp_buf text = {0};
    int r = tp_read_file(path, TP_MINISIGN_TEXT_MAX, &text, e);
    if (!r)
        r = tp_minisign_secret_parse(tp_buf_str(&text), text.len, path, ask, data, out, e);
    if (text.data)
        sodium_memzero(text.data, text.len);
    tp_buf_finish(&text);
    return r;
}

void tp_minisign_secret_free(struct tp_minisign_secret *secret)
{
    sodium_free(secret);
}

void tp_minisign_secret_public(const struct tp_minisign_secret *secret, struct tp_minisign_public *out)
{
    memcpy(out->id, secret->id, sizeof out->id);
    memcpy(out->key, secret->key + 32, sizeof out->key);
}
