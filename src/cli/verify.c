/* turnpike verify: does a file's signature hold? */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/fs.h"
#include "cli/cli.h"
#include "factory/origin/minisign.h"

/* The field of a trusted comment that begins so; the caller frees, NULL where there is none. */
static char *field(const char *comment, const char *name)
{
    size_t n = strlen(name);
    for (const char *s = comment; s; s = strchr(s, '\t')) {
        s += *s == '\t';
        if (!strncmp(s, name, n))
            return tp_strndup(s + n, strcspn(s + n, "\t"));
    }
    return NULL;
}

static int say(const char *file, const struct tp_minisign_signature *s, struct tp_error *e)
{
    char id[TP_MINISIGN_ID_TEXT];
    tp_minisign_id(s->id, id);
    char *name = field(s->trusted, "file:"), *spaced = tp_strdup(s->trusted);
    for (char *c = spaced; *c; c++)
        *c = *c == '\t' ? ' ' : *c;
    char *comment = tp_printable_line(spaced), *shown = tp_printable_line(file);
    printf("%s is as it was signed\n  by the key %s%s\n  comment: %s\n", shown, id,
           s->hashed ? "" : " (in minisign's older form)", comment);
    char *now = tp_printable_line(tp_base_name(file));
    if (name && strcmp(name, now)) {
        char *old = tp_printable_line(name);
        fprintf(stderr, "turnpike verify: note: it was signed under the name %s; is it the version that "
                "you expect?\n", old);
        free(old);
    }
    free(now);
    free(shown);
    free(comment);
    free(spaced);
    free(name);
    return tp_cli_flush(e);
}

static int no_signature(const char *file, const char *path, struct tp_error *e)
{
    size_t n = strlen(file);
    if (n > 8 && !strcmp(file + n - 8, ".minisig"))
        return tp_fail(e, TP_STATUS_INPUT, -EINVAL, file, "name the file that it belongs to",
                       "is a signature, not what was signed");
    return tp_fail(e, TP_STATUS_INPUT, -ENOENT, path, "put the signature beside the file",
                   "there is no signature");
}

static int verify(const char *file, const char *pub, struct tp_error *e)
{
    struct tp_minisign_public key;
    struct tp_minisign_signature s = {0};
    struct tp_buf text = {0};
    char *path = tp_asprintf("%s.minisig", file);
    int r = tp_minisign_public_load(pub, &key, e);
    if (!r && !tp_exists(path))
        r = no_signature(file, path, e);
    if (!r)
        r = tp_read_file(path, TP_MINISIGN_TEXT_MAX, &text, e);
    if (!r)
        r = tp_minisign_signature_parse(tp_buf_str(&text), text.len, path, &s, e);
    if (!r)
        r = tp_minisign_verify(&key, &s, file, path, e);
    if (!r)
        r = say(file, &s, e);
    tp_minisign_signature_finish(&s);
    tp_buf_finish(&text);
    free(path);
    return r;
}

static int run(int argc, char **argv)
{
    const struct tp_command *cmd = &tp_command_verify;
    const char *pub = NULL;
    for (int c; (c = tp_cli_option(cmd, argc, argv)) != -1;) {
        if (c == '?')
            return TP_STATUS_INPUT;
        pub = optarg;
    }
    if (optind + 1 != argc)
        return tp_cli_usage(cmd, "give one file to verify");
    if (!pub)
        return tp_cli_usage(cmd, "give the signer's public key with --pub");
    int status = tp_cli_operands(cmd, argc, argv);
    if (status)
        return status;
    struct tp_error e = {0};
    return verify(argv[optind], pub, &e) ? tp_cli_fail(cmd, &e) : TP_STATUS_OK;
}

static const struct option options[] = {
    {"pub", required_argument, NULL, 'p'},
    {"help", no_argument, NULL, 'h'},
    {0},
};

const struct tp_command tp_command_verify = {
    .name = "verify",
    .summary = "verify a file's signature",
    .help = "usage: turnpike verify FILE --pub P\n\n"
            "Verifies FILE with FILE.minisig, by turnpike or by minisign, and shows the comment that was\n"
            "signed with it.\n\n"
            "  --pub P  the signer's public key: its file, or its line of 56 characters\n\n"
            "Exit status: 0 it holds, 1 it does not: the reason is told, 2 wrong usage or bad input.\n",
    .options = options,
    .run = run,
};
