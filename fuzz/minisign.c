/* Any bytes as a public key, a signature and a secret key. */
#include <sodium.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include "factory/origin/minisign.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static int refuse(void *data, const char *path, char *password, size_t size, struct tp_error *e)
{
    (void)data, (void)path, (void)password, (void)size;
    return tp_fail(e, TP_STATUS_INPUT, -1, NULL, NULL, "no password"); /* scrypt takes seconds */
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static int ready;
    if (!ready && sodium_init() < 0)
        abort();
    ready = 1;
    struct tp_error e = {0};
    struct tp_minisign_public key;
    struct tp_minisign_signature s = {0};
    struct tp_minisign_secret *secret = NULL;
    const char *text = (const char *)data;
    if (tp_minisign_public_parse(text, size, "input", &key, &e) && !e.err)
        abort(); /* a failure without a reason */
    if (!tp_minisign_signature_parse(text, size, "input", &s, &e) && !s.trusted)
        abort();
    tp_minisign_signature_finish(&s);
    if (!tp_minisign_secret_parse(text, size, "input", refuse, NULL, &secret, &e) != (secret != NULL))
        abort();
    tp_minisign_secret_free(secret);
    return 0;
}
