/* turnpike build: the arguments. */
#include <stdlib.h>
#include <string.h>

#include "cli/build.h"
#include "cli/password.h"

static int parse_variants(struct tp_build_arguments *a, const char *s)
{
    size_t n = 0;
    for (const char *at = s;; at++) {
        if ((*at != 'b' && *at != 'p') || n == 2 || (n == 1 && a->variants[0] == *at) ||
            (at[1] && at[1] != ','))
            return tp_cli_usage(&tp_command_build, "--variants is b, p or b,p, not '%s'", s);
        a->variants[n++] = *at++;
        a->variants[n] = 0;
        if (!*at)
            return 0;
    }
}

int tp_build_parse_jobs(const struct tp_command *cmd, const char *s, unsigned *jobs)
{
    char *end;
    unsigned long n = strtoul(s, &end, 10);
    if (*s < '1' || *s > '9' || *end || n > 4096)
        return tp_cli_usage(cmd, "--jobs is a number from 1 to 4096, not '%s'", s);
    *jobs = (unsigned)n;
    return 0;
}

static int parse(int argc, char **argv, struct tp_build_arguments *a)
{
    const struct tp_command *cmd = &tp_command_build;
    const struct {
        int letter;
        const char **field;
    } strings[] = {{'m', &a->mesa},    {'t', &a->target},   {'V', &a->version}, {'o', &a->out},
                   {'n', &a->ndk},     {'s', &a->sysroot},  {'l', &a->launcher}, {'p', &a->patches},
                   {'j', &a->json},    {'B', &a->bionic_root}, {'k', &a->key}};
    for (int c; (c = tp_cli_option(cmd, argc, argv)) != -1;) {
        int status = c == '?' || c == ':' ? TP_STATUS_INPUT : 0;
        for (size_t i = 0; i < sizeof strings / sizeof *strings; i++) {
            if (c == strings[i].letter)
                *strings[i].field = optarg;
        }
        if (c == 'v')
            status = parse_variants(a, optarg);
        else if (c == 'J')
            status = tp_build_parse_jobs(cmd, optarg, &a->jobs);
        else if (c == 'N')
            a->no_prove = true;
        else if (c == 'f' && (a->password_fd = tp_cli_password_fd(optarg)) < 0)
            status = tp_cli_usage(cmd, "--password-fd is the number of an open descriptor, not '%s'", optarg);
        else if (c == 'w')
            tp_cli_list_add(&a->with, optarg);
        else if (c == 'W')
            tp_cli_list_add(&a->without, optarg);
        if (status)
            return status;
    }
    if (optind < argc)
        return tp_cli_usage(cmd, "'%s' is one argument too many", argv[optind]);
    return tp_cli_contradiction(cmd, &a->with, &a->without);
}

static int run(int argc, char **argv)
{
    struct tp_build_arguments a = {.out = "out", .variants = "bp", .password_fd = -1};
    struct tp_error e = {0};
    int status = parse(argc, argv, &a);
    if (!status)
        status = tp_build_job(&a, &e);
    if (e.err)
        status = tp_cli_fail(&tp_command_build, &e);
    tp_cli_list_finish(&a.with);
    tp_cli_list_finish(&a.without);
    return status;
}

static const struct option options[] = {
    {"mesa", required_argument, NULL, 'm'},     {"target", required_argument, NULL, 't'},
    {"variants", required_argument, NULL, 'v'}, {"version", required_argument, NULL, 'V'},
    {"out", required_argument, NULL, 'o'},      {"ndk", required_argument, NULL, 'n'},
    {"sysroot", required_argument, NULL, 's'},  {"launcher", required_argument, NULL, 'l'},
    {"jobs", required_argument, NULL, 'J'},     {"no-prove", no_argument, NULL, 'N'},
    {"with", required_argument, NULL, 'w'},     {"without", required_argument, NULL, 'W'},
    {"patches", required_argument, NULL, 'p'},  {"json", required_argument, NULL, 'j'},
    {"bionic-root", required_argument, NULL, 'B'}, {"key", required_argument, NULL, 'k'},
    {"password-fd", required_argument, NULL, 'f'},
    {"help", no_argument, NULL, 'h'},           {0},
};

const struct tp_command tp_command_build = {
    .name = "build",
    .summary = "build, prove and package both drivers from Mesa's source",
    .help =
        "usage: turnpike build [OPTIONS]\n\n"
        "Gets Mesa, makes every patch on it, builds each variant of Turnip from one build folder,\n"
        "proves it on simulated chips, and writes the archives and summary.json.\n\n"
        "  --mesa SPEC      auto (default: git, else Debian's source package), git[:URL][@REV],\n"
        "                   a folder, a tarball, debian[:VERSION]\n"
        "  --target T       host, linux-arm64, host-android or android-arm64\n"
        "                   (default android-arm64 where an NDK is found, else linux-arm64)\n"
        "  --variants b,p   which variants, in this order (default both)\n"
        "  --version V      of the release (default: Mesa's)\n"
        "  --out DIR        where archives and summary.json go (default: out)\n"
        "  --ndk DIR        an Android NDK (default: ANDROID_NDK_HOME)\n"
        "  --sysroot DIR    a sysroot with bionic instead of an NDK\n"
        "  --launcher CMD   put before the compiler: ccache, distcc, icecc\n"
        "  --jobs N         compile N files at once (default: one a processor)\n"
        "  --no-prove       package without proving\n"
        "  --bionic-root DIR  a phone's C library, to prove android-arm64 with; see turnpike prove\n"
        "  --with ID        switch on a patch that is off; may be repeated\n"
        "  --without ID     leave a patch out; may be repeated\n"
        "  --patches DIR    the folder of patches (default: turnpike's own)\n"
        "  --key K          sign the archives with a secret key of minisign's\n"
        "  --password-fd N  read its password from a descriptor; see turnpike sign\n"
        "  --json FILE      the summary once more, as JSON; - for standard output\n\n"
        "Exit status: 0 built, 1 a patch, a compiler or a proof failed, 2 wrong usage or bad input,\n"
        "3 something is missing on this machine.\n",
    .options = options,
    .run = run,
};
