/* Signing and verifying files. */
#include "factory/origin/minisign.h"

#include <errno.h>
#include <sodium.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/fs.h"
#include "base/proc.h"
#include "factory/origin/minisign_internal.h"

#define HASH_BYTES 64u

/* BLAKE2b-512 of a regular file, however large. */
static int hash_file(const char *path, unsigned char out[HASH_BYTES], struct tp_error *e)
{
    int r = 0, fd = tp_open_regular(path, NULL, e);
    if (fd < 0)
        return fd;
    crypto_generichash_state state;
    crypto_generichash_init(&state, NULL, 0, HASH_BYTES);
    unsigned char chunk[65536];
    while (!r) {
        ssize_t n = read(fd, chunk, sizeof chunk);
        if (tp_interrupted())
            r = tp_fail(e, TP_STATUS_FAILED, -EINTR, path, NULL, "interrupted");
        else if (n < 0 && errno != EINTR)
            r = tp_fail_errno(e, errno, path, "cannot be read");
        else if (n > 0)
            crypto_generichash_update(&state, chunk, (size_t)n);
        if (n == 0)
            break;
    }
    crypto_generichash_final(&state, out, HASH_BYTES);
    close(fd);
    return r;
}

/* What the signature of the comment is over. */
static void bind_comment(const unsigned char file[64], const char *trusted, struct tp_buf *out)
{
    tp_buf_clear(out);
    tp_buf_add(out, file, 64);
    tp_buf_adds(out, trusted);
}

int tp_minisign_sign(const struct tp_minisign_secret *secret, const char *path, int64_t seconds,
                     char **text, struct tp_error *e)
{
    *text = NULL;
    unsigned char hash[HASH_BYTES], bytes[TP_MINISIGN_SIGNATURE_BYTES] = {'E', 'D'}, comment[64];
    int r = hash_file(path, hash, e);
    if (r)
        return r;
    memcpy(bytes + 2, secret->id, sizeof secret->id);
    crypto_sign_detached(bytes + 10, NULL, hash, sizeof hash, secret->key);

    char *name = tp_printable_line(tp_base_name(path));
    char *trusted = tp_asprintf("timestamp:%lld\tfile:%s\thashed", (long long)seconds, name);
    struct tp_buf bound = {0};
    bind_comment(bytes + 10, trusted, &bound);
    crypto_sign_detached(comment, NULL, (const unsigned char *)bound.data, bound.len, secret->key);

    char first[128], last[128], id[TP_MINISIGN_ID_TEXT];
    tp_minisign_id(secret->id, id);
    sodium_bin2base64(first, sizeof first, bytes, sizeof bytes, sodium_base64_VARIANT_ORIGINAL);
    sodium_bin2base64(last, sizeof last, comment, sizeof comment, sodium_base64_VARIANT_ORIGINAL);
    *text = tp_asprintf("untrusted comment: signature by turnpike, minisign key %s\n%s\n"
                        "trusted comment: %s\n%s\n", id, first, trusted, last);
    tp_buf_finish(&bound);
    free(trusted);
    free(name);
    return 0;
}

int tp_minisign_sign_file(const struct tp_minisign_secret *secret, const char *path, int64_t seconds,
                          struct tp_error *e)
{
    char *text, *out = tp_asprintf("%s.minisig", path);
    int r = tp_minisign_sign(secret, path, seconds, &text, e);
    if (!r)
        r = tp_write_file(out, text, strlen(text), 0644, e);
    free(text);
    free(out);
    return r;
}

/* Over the file's hash or, in the older form, over the file. 1: it holds, 0: not. */
static int file_holds(const struct tp_minisign_public *key, const struct tp_minisign_signature *s,
                      const char *path, struct tp_error *e)
{
    unsigned char hash[HASH_BYTES];
    struct tp_buf whole = {0};
    int r = s->hashed ? hash_file(path, hash, e) : tp_read_file(path, 0, &whole, e);
    if (!r && s->hashed)
        r = !crypto_sign_verify_detached(s->file, hash, sizeof hash, key->key);
    else if (!r)
        r = !crypto_sign_verify_detached(s->file, (const unsigned char *)tp_buf_str(&whole), whole.len,
                                         key->key);
    tp_buf_finish(&whole);
    return r;
}

static int rejected(struct tp_error *e, const char *where, const char *todo, const char *what)
{
    return tp_fail(e, TP_STATUS_FAILED, -EKEYREJECTED, where, todo, "%s", what);
}

int tp_minisign_verify(const struct tp_minisign_public *key, const struct tp_minisign_signature *s,
                       const char *path, const char *sig_path, struct tp_error *e)
{
    char has[TP_MINISIGN_ID_TEXT], wanted[TP_MINISIGN_ID_TEXT];
    if (memcmp(key->id, s->id, sizeof key->id)) {
        tp_minisign_id(s->id, has);
        tp_minisign_id(key->id, wanted);
        return tp_fail(e, TP_STATUS_FAILED, -EKEYREJECTED, sig_path,
                       "do not use the file unless its maker says that the other key is theirs, too",
                       "was made with the key %s, not with %s", has, wanted);
    }
    int file = file_holds(key, s, path, e);
    if (file < 0)
        return file;
    struct tp_buf bound = {0};
    bind_comment(s->file, s->trusted, &bound);
    bool comment = !crypto_sign_verify_detached(s->comment, (const unsigned char *)bound.data, bound.len,
                                                key->key);
    tp_buf_finish(&bound);
    if (file && comment)
        return 0;
    if (file)
        return rejected(e, sig_path, "get the signature once more",
                        "its trusted comment was changed; the file itself is as it was signed");
    if (comment)
        return rejected(e, path, "do not use it: get it once more, from its maker",
                        "is not the file that was signed: it was changed since, or it is another");
    return rejected(e, sig_path, "get the signature and the file once more",
                    "is no signature by the key that it names: it is damaged, or forged");
}
