/* turnpike sign: a signature beside a file. */
#include <time.h>

#include "base/proc.h"
#include "cli/cli.h"
#include "cli/password.h"

static int sign(const char *file, const char *key, int fd, struct tp_error *e)
{
    struct tp_minisign_secret *secret;
    int r = tp_cli_key_load(key, fd, &secret, e);
    if (r)
        return r;
    struct tp_minisign_public public;
    char id[TP_MINISIGN_ID_TEXT];
    tp_minisign_secret_public(secret, &public);
    tp_minisign_id(public.id, id);
    r = tp_minisign_sign_file(secret, file, (int64_t)time(NULL), e);
    tp_minisign_secret_free(secret);
    if (r)
        return r;
    char *shown = tp_printable_line(file);
    printf("%s.minisig\n  by the key %s\n", shown, id);
    free(shown);
    return tp_cli_flush(e);
}

static int run(int argc, char **argv)
{
    const struct tp_command *cmd = &tp_command_sign;
    const char *key = NULL;
    int fd = -1;
    for (int c; (c = tp_cli_option(cmd, argc, argv)) != -1;) {
        if (c == '?')
            return TP_STATUS_INPUT;
        if (c == 'k')
            key = optarg;
        else if ((fd = tp_cli_password_fd(optarg)) < 0)
            return tp_cli_usage(cmd, "--password-fd is the number of an open descriptor, not '%s'", optarg);
    }
    if (optind + 1 != argc)
        return tp_cli_usage(cmd, "give one file to sign");
    if (!key)
        return tp_cli_usage(cmd, "give the secret key with --key");
    int status = tp_cli_operands(cmd, argc, argv);
    if (status)
        return status;
    struct tp_error e = {0};
    return sign(argv[optind], key, fd, &e) ? tp_cli_fail(cmd, &e) : TP_STATUS_OK;
}

static const struct option options[] = {
    {"key", required_argument, NULL, 'k'},
    {"password-fd", required_argument, NULL, 'f'},
    {"help", no_argument, NULL, 'h'},
    {0},
};

const struct tp_command tp_command_sign = {
    .name = "sign",
    .summary = "sign a file with a key of minisign's",
    .help = "usage: turnpike sign FILE --key K\n\n"
            "Writes FILE.minisig, which `turnpike verify` and `minisign -V` verify. Keys are made by\n"
            "`minisign -G`; of a key with a password it is asked for on the terminal, unless\n"
            TP_PASSWORD_VARIABLE " holds it.\n\n"
            "  --key K          the secret key's file\n"
            "  --password-fd N  read the password from the open descriptor N\n\n"
            "Exit status: 0 signed, 1 the password is wrong, 2 wrong usage or bad input, 3 no memory for\n"
            "the password's check.\n",
    .options = options,
    .run = run,
};
