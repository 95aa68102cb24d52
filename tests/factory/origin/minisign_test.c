/* Keys and signatures in the texts below were made by minisign 0.11: minisign -G -W, -S, -S -l. */
#include <errno.h>
#include <setjmp.h>
#include <sodium.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <cmocka.h>

#include "base/buf.h"
#include "base/fs.h"
#include "factory/origin/minisign.h"

static const char public_text[] =
    "untrusted comment: minisign public key 762A4516CB1E9E88\n"
    "RWSInh7LFkUqdmFvOrsWLzeh6BRPt0rPcrQrwZ9scl0rHW9kwL5jbtLM\n";
static const char secret_text[] =
    "untrusted comment: minisign encrypted secret key\n"
    "RWQAAEIyAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAiJ4eyxZFKnbXBfG87chrUNXiaZH/n2hW1iUL0UOTGxsrEWgq61RfO2FvOrsWLzeh6BRPt0rPcrQrwZ9scl0rHW9kwL5jbtLMAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA=\n";
/* Of a file f that holds "hello\n". */
static const char signature_text[] =
    "untrusted comment: signature from minisign secret key\n"
    "RUSInh7LFkUqdoVRWVhtdd2Z0E0fJOXXzmDO4mfhWJy0l8JjvShVB8R9zh+yqlAKLa+4h1QwBchtMFMG/SduSebfoPYJiPHAeQc=\n"
    "trusted comment: timestamp:1796038132\tfile:f\thashed\n"
    "SDmfGnR43GnaFOKCtfsG2mVxS0FwdnRBT6FvL3luu+td2I/HLnkNDeFD2iI/umh1HPZVFfc+42Vt31xidRPPCA==\n";
static const char legacy_text[] =
    "untrusted comment: signature from minisign secret key\n"
    "RWSInh7LFkUqdlof/RCLPzV3sdo0pdSkjLxJ7wTvEbWxlOsFCUjRB1uboeDU53Yhq3NovladdyuQ9uGVQtYeYKJxX2zXoy2oCAE=\n"
    "trusted comment: timestamp:1796038132\tfile:f\n"
    "df2/iO4MiNTmx6gaAYGXWZji5S7NpEO80FNekuI481XiO1USa2La91n3aV4WrKvOPvnZxaucK7bG3dnHia4ZBA==\n";

struct world {
    char *dir, *file;
    struct tp_error e;
    struct tp_minisign_public key;
    struct tp_minisign_signature s;
    struct tp_minisign_secret *secret;
};

static int set_up(void **state)
{
    struct world *w = tp_calloc(1, sizeof *w);
    w->dir = tp_temp_dir("/tmp", NULL);
    assert_non_null(w->dir);
    w->file = tp_join(w->dir, "f");
    assert_int_equal(tp_write_file(w->file, "hello\n", 6, 0644, &w->e), 0);
    assert_int_equal(tp_minisign_public_parse(public_text, strlen(public_text), "pub", &w->key, &w->e), 0);
    *state = w;
    return 0;
}

static int tear_down(void **state)
{
    struct world *w = *state;
    tp_minisign_signature_finish(&w->s);
    tp_minisign_secret_free(w->secret);
    tp_remove_tree(w->dir, NULL);
    free(w->file);
    free(w->dir);
    free(w);
    return 0;
}

static int read_signature(struct world *w, const char *text)
{
    tp_minisign_signature_finish(&w->s);
    w->e = (struct tp_error){0};
    return tp_minisign_signature_parse(text, strlen(text), "f.minisig", &w->s, &w->e);
}

static int verify(struct world *w, const char *text)
{
    int r = read_signature(w, text);
    return r ? r : tp_minisign_verify(&w->key, &w->s, w->file, "f.minisig", &w->e);
}

static int read_secret(struct world *w, const char *text, tp_minisign_ask *ask, void *data)
{
    tp_minisign_secret_free(w->secret);
    w->e = (struct tp_error){0};
    return tp_minisign_secret_parse(text, strlen(text), "key", ask, data, &w->secret, &w->e);
}

/* text with the character at the place of `at` (counted from line `line`) replaced by another of base64 */
static char *altered(const char *text, int line, size_t at)
{
    char *copy = tp_strdup(text), *s = copy;
    while (line--)
        s = strchr(s, '\n') + 1;
    s[at] = s[at] == 'A' ? 'B' : 'A';
    return copy;
}

static void minisigns_own_signatures_are_verified_in_both_forms(void **state)
{
    struct world *w = *state;
    assert_int_equal(verify(w, signature_text), 0);
    assert_true(w->s.hashed);
    assert_string_equal(strchr(w->s.trusted, '\t'), "\tfile:f\thashed");
    assert_int_equal(verify(w, legacy_text), 0);
    assert_false(w->s.hashed);
}

static void the_key_is_shown_as_minisign_shows_it(void **state)
{
    struct world *w = *state;
    char id[TP_MINISIGN_ID_TEXT];
    tp_minisign_id(w->key.id, id);
    assert_non_null(strstr(public_text, id)); /* minisign wrote it into the comment */
    tp_minisign_id((const unsigned char[]){0xef, 0xcd, 0xab, 0x89, 0x67, 0x45, 0x23, 0x01}, id);
    assert_string_equal(id, "123456789ABCDEF"); /* minisign -G writes %llX of the number */
}

static void a_bare_line_is_a_public_key(void **state)
{
    struct world *w = *state;
    struct tp_minisign_public bare;
    char *line = tp_strndup(strchr(public_text, '\n') + 1, 56);
    assert_int_equal(tp_minisign_public_load(line, &bare, &w->e), 0);
    assert_memory_equal(&bare, &w->key, sizeof bare);
    free(line);
}

static void lines_may_end_as_on_windows(void **state)
{
    struct world *w = *state;
    struct tp_buf b = {0};
    for (const char *s = signature_text; *s; s++)
        tp_buf_adds(&b, *s == '\n' ? "\r\n" : (const char[]){*s, 0});
    assert_int_equal(verify(w, tp_buf_str(&b)), 0);
    tp_buf_finish(&b);
}

static void what_an_open_key_of_minisign_signs_its_public_key_verifies(void **state)
{
    struct world *w = *state;
    char *text;
    assert_int_equal(read_secret(w, secret_text, NULL, NULL), 0);
    struct tp_minisign_public own;
    tp_minisign_secret_public(w->secret, &own);
    assert_memory_equal(&own, &w->key, sizeof own);
    assert_int_equal(tp_minisign_sign(w->secret, w->file, 1234567890, &text, &w->e), 0);
    assert_int_equal(verify(w, text), 0);
    assert_string_equal(w->s.trusted, "timestamp:1234567890\tfile:f\thashed");
    free(text);
}

static void a_changed_file_a_changed_comment_and_a_damaged_signature_are_told_apart(void **state)
{
    struct world *w = *state;
    char *bad = altered(signature_text, 2, 30); /* in the comment */
    assert_int_equal(verify(w, bad), -EKEYREJECTED);
    assert_non_null(strstr(w->e.what, "comment was changed"));
    assert_int_equal(w->e.status, TP_STATUS_FAILED);
    free(bad);
    bad = altered(signature_text, 1, 40); /* in the file's signature */
    assert_int_equal(verify(w, bad), -EKEYREJECTED);
    assert_non_null(strstr(w->e.what, "damaged, or forged"));
    free(bad);
    bad = altered(signature_text, 3, 40); /* in the comment's */
    assert_int_equal(verify(w, bad), -EKEYREJECTED);
    assert_non_null(strstr(w->e.what, "comment was changed"));
    free(bad);
    assert_int_equal(tp_write_file(w->file, "hellO\n", 6, 0644, NULL), 0);
    assert_int_equal(verify(w, signature_text), -EKEYREJECTED);
    assert_non_null(strstr(w->e.what, "not the file that was signed"));
    assert_string_equal(w->e.where, w->file);
    assert_int_equal(verify(w, legacy_text), -EKEYREJECTED);
    assert_non_null(strstr(w->e.what, "not the file that was signed"));
}

static void another_key_is_named_with_both_ids(void **state)
{
    struct world *w = *state;
    w->key.id[0] ^= 1;
    char has[TP_MINISIGN_ID_TEXT], wanted[TP_MINISIGN_ID_TEXT];
    assert_int_equal(verify(w, signature_text), -EKEYREJECTED);
    tp_minisign_id(w->s.id, has);
    tp_minisign_id(w->key.id, wanted);
    assert_non_null(strstr(w->e.what, has));
    assert_non_null(strstr(w->e.what, wanted));
}

static void a_key_that_only_bears_the_id_verifies_nothing(void **state)
{
    struct world *w = *state;
    unsigned char other[crypto_sign_SECRETKEYBYTES];
    crypto_sign_keypair(w->key.key, other);
    assert_int_equal(verify(w, signature_text), -EKEYREJECTED);
    assert_non_null(strstr(w->e.what, "forged"));
}

static void a_text_of_another_kind_is_named_for_what_it_is(void **state)
{
    struct world *w = *state;
    struct tp_minisign_public key;
    assert_int_equal(tp_minisign_public_parse(secret_text, strlen(secret_text), "x", &key, &w->e), -EINVAL);
    assert_non_null(strstr(w->e.what, "is a secret key"));
    assert_int_equal(read_signature(w, public_text), -EINVAL);
    assert_non_null(strstr(w->e.what, "is a public key"));
    assert_int_equal(read_secret(w, signature_text, NULL, NULL), -EINVAL);
    assert_non_null(strstr(w->e.what, "is a signature"));
    assert_int_equal(read_secret(w, "", NULL, NULL), -EINVAL);
    assert_int_equal(read_signature(w, "-----BEGIN PGP SIGNATURE-----\n\nabc\n"), -EINVAL);
    assert_non_null(strstr(w->e.what, "not a signature in minisign's format"));
}

static void texts_cut_anywhere_are_refused(void **state)
{
    struct world *w = *state;
    for (size_t n = 0; n + 1 < strlen(signature_text); n++) { /* the last line's end may be missing */
        char *cut = tp_strndup(signature_text, n);
        assert_int_not_equal(read_signature(w, cut), 0);
        free(cut);
    }
    for (size_t n = 0; n + 1 < strlen(secret_text); n++) {
        char *cut = tp_strndup(secret_text, n);
        assert_int_not_equal(read_secret(w, cut, NULL, NULL), 0);
        free(cut);
    }
    char *more = tp_asprintf("%sand more\n", signature_text);
    assert_int_equal(read_signature(w, more), -EINVAL);
    free(more);
}

static void a_damaged_open_key_is_refused(void **state)
{
    struct world *w = *state;
    for (size_t at = 84; at < 164; at += 7) { /* base64 of the seed and of its public key */
        char *bad = altered(secret_text, 1, at);
        assert_int_equal(read_secret(w, bad, NULL, NULL), -EINVAL);
        assert_non_null(strstr(w->e.what, "damaged"));
        free(bad);
    }
}

/* ---- keys with a password ---- */

static int answer(void *data, const char *path, char *password, size_t size, struct tp_error *e)
{
    (void)e;
    assert_string_equal(path, "key");
    assert_true(strlen(data) < size);
    strcpy(password, data);
    return 0;
}

/* The open key under a password, with scrypt's least work; layout: minisign's SeckeyStruct. */
static char *locked_key(const char *password, uint64_t ops, uint64_t memory)
{
    unsigned char b[158], stream[104], sum[32];
    size_t n;
    assert_int_equal(sodium_base642bin(b, sizeof b, strchr(secret_text, '\n') + 1,
                                       strlen(strchr(secret_text, '\n') + 1), "\n", &n, NULL,
                                       sodium_base64_VARIANT_ORIGINAL), 0);
    assert_int_equal(n, sizeof b);
    memcpy(b + 2, "ScB2", 4);
    randombytes_buf(b + 6, 32);
    for (int i = 0; i < 8; i++) {
        b[38 + i] = (unsigned char)(ops >> 8 * i);
        b[46 + i] = (unsigned char)(memory >> 8 * i);
    }
    struct tp_buf summed = {0};
    tp_buf_add(&summed, b, 2);
    tp_buf_add(&summed, b + 54, 72);
    crypto_generichash(sum, sizeof sum, (const unsigned char *)summed.data, summed.len, NULL, 0);
    tp_buf_finish(&summed);
    memcpy(b + 126, sum, sizeof sum);
    if (memory <= UINT64_C(1) << 30) {
        assert_int_equal(crypto_pwhash_scryptsalsa208sha256(stream, sizeof stream, password,
                                                            strlen(password), b + 6, ops, memory), 0);
        for (size_t i = 0; i < sizeof stream; i++)
            b[54 + i] ^= stream[i];
    }
    char line[256];
    sodium_bin2base64(line, sizeof line, b, sizeof b, sodium_base64_VARIANT_ORIGINAL);
    return tp_asprintf("untrusted comment: locked\n%s\n", line);
}

static void a_password_opens_its_key_and_another_does_not(void **state)
{
    struct world *w = *state;
    char *key = locked_key("swordfish", crypto_pwhash_scryptsalsa208sha256_OPSLIMIT_MIN,
                           crypto_pwhash_scryptsalsa208sha256_MEMLIMIT_MIN);
    assert_int_equal(read_secret(w, key, answer, "swordfish"), 0);
    struct tp_minisign_public own;
    tp_minisign_secret_public(w->secret, &own);
    assert_memory_equal(&own, &w->key, sizeof own);
    assert_int_equal(read_secret(w, key, answer, "swordfisH"), -EACCES);
    assert_null(w->secret);
    assert_int_equal(w->e.status, TP_STATUS_FAILED);
    assert_int_equal(read_secret(w, key, answer, ""), -EACCES);
    assert_int_equal(read_secret(w, key, NULL, NULL), -EACCES);
    free(key);
}

static void a_key_that_asks_for_more_than_minisigns_is_refused_before_it_costs_anything(void **state)
{
    struct world *w = *state;
    char *key = locked_key("x", 33554432, UINT64_C(1) << 40);
    assert_int_equal(read_secret(w, key, answer, "x"), -EINVAL);
    assert_non_null(strstr(w->e.what, "more memory or time"));
    free(key);
}

/* ---- files ---- */

static void the_signature_file_is_written_whole_and_keeps_its_mode(void **state)
{
    struct world *w = *state;
    struct stat st;
    char *path = tp_asprintf("%s.minisig", w->file);
    assert_int_equal(read_secret(w, secret_text, NULL, NULL), 0);
    assert_int_equal(tp_write_file(path, "old", 3, 0640, &w->e), 0);
    assert_int_equal(tp_minisign_sign_file(w->secret, w->file, 7, &w->e), 0);
    assert_int_equal(stat(path, &st), 0);
    assert_int_equal(st.st_mode & 07777, 0640);
    struct tp_buf text = {0};
    assert_int_equal(tp_read_file(path, 0, &text, &w->e), 0);
    assert_int_equal(verify(w, tp_buf_str(&text)), 0);
    tp_buf_finish(&text);
    free(path);
}

static void folders_and_missing_files_are_not_signed(void **state)
{
    struct world *w = *state;
    char *text;
    assert_int_equal(read_secret(w, secret_text, NULL, NULL), 0);
    assert_int_equal(tp_minisign_sign(w->secret, w->dir, 7, &text, &w->e), -EISDIR);
    w->e = (struct tp_error){0};
    assert_int_equal(tp_minisign_sign(w->secret, "/nonexistent/f", 7, &text, &w->e), -ENOENT);
    assert_null(text);
}

static void a_name_with_a_line_end_cannot_add_lines_to_a_signature(void **state)
{
    struct world *w = *state;
    char *odd = tp_join(w->dir, "a\nuntrusted comment: b\tc"), *text;
    assert_int_equal(tp_write_file(odd, "hello\n", 6, 0644, &w->e), 0);
    assert_int_equal(read_secret(w, secret_text, NULL, NULL), 0);
    assert_int_equal(tp_minisign_sign(w->secret, odd, 7, &text, &w->e), 0);
    assert_int_equal(verify(w, text), 0);
    int lines = 0;
    for (const char *s = text; *s; s++)
        lines += *s == '\n';
    assert_int_equal(lines, 4);
    free(text);
    free(odd);
}

int main(void)
{
    if (sodium_init() < 0)
        return 1;
#define T(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)
    const struct CMUnitTest tests[] = {
        T(minisigns_own_signatures_are_verified_in_both_forms),
        T(the_key_is_shown_as_minisign_shows_it),
        T(a_bare_line_is_a_public_key),
        T(lines_may_end_as_on_windows),
        T(what_an_open_key_of_minisign_signs_its_public_key_verifies),
        T(a_changed_file_a_changed_comment_and_a_damaged_signature_are_told_apart),
        T(another_key_is_named_with_both_ids),
        T(a_key_that_only_bears_the_id_verifies_nothing),
        T(a_text_of_another_kind_is_named_for_what_it_is),
        T(texts_cut_anywhere_are_refused),
        T(a_damaged_open_key_is_refused),
        T(a_password_opens_its_key_and_another_does_not),
        T(a_key_that_asks_for_more_than_minisigns_is_refused_before_it_costs_anything),
        T(the_signature_file_is_written_whole_and_keeps_its_mode),
        T(folders_and_missing_files_are_not_signed),
        T(a_name_with_a_line_end_cannot_add_lines_to_a_signature),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
