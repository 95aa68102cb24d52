/* turnpike prove: starts a driver on simulated chips and checks what it does. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/cache.h"
#include "base/fs.h"
#include "base/proc.h"
#include "cli/cli.h"
#include "cli/proof.h"
#include "factory/prove/promises.h"
#include "factory/prove/prove.h"

struct arguments {
    const char *file, *chip, *patches, *bionic_root, *json;
    unsigned faults;
    uint64_t first_seed;
};

enum { MAX_SCHEDULES = 1000000 };

/* N or N:FIRST_SEED. */
static int parse_faults(const char *text, struct arguments *a)
{
    char *end;
    unsigned long long n = strtoull(text, &end, 10), seed = 1;
    bool good = *text >= '0' && *text <= '9' && n > 0 && n <= MAX_SCHEDULES;
    if (good && *end == ':') {
        const char *from = end + 1;
        errno = 0;
        seed = strtoull(from, &end, 10);
        good = *from >= '0' && *from <= '9' && !errno && seed <= INT64_MAX - (n - 1);
    }
    if (!good || *end)
        return tp_cli_usage(&tp_command_prove,
                            "--faults is a number of schedules up to a million, and a seed where "
                            "wanted: 100 or 100:5000");
    a->faults = (unsigned)n;
    a->first_seed = seed;
    return 0;
}

static int parse(int argc, char **argv, struct arguments *a)
{
    const struct tp_command *cmd = &tp_command_prove;
    for (int c; (c = tp_cli_option(cmd, argc, argv)) != -1;) {
        if (c == 'c' && a->chip)
            return tp_cli_usage(cmd, "--chip goes once: one chip, or all");
        else if (c == 'c')
            a->chip = optarg;
        else if (c == 'p')
            a->patches = optarg;
        else if (c == 'b')
            a->bionic_root = optarg;
        else if (c == 'j')
            a->json = optarg;
        else if (c != 'f' || parse_faults(optarg, a))
            return TP_STATUS_INPUT;
    }
    if (argc - optind != 1)
        return tp_cli_usage(cmd, "name one driver or one archive");
    if (tp_cli_operands(cmd, argc, argv))
        return TP_STATUS_INPUT;
    a->file = argv[optind];
    return 0;
}

/* What a person sees meanwhile: on a terminal one line that changes, else a line now and then. */
enum { WORD_MS = 20000 };
struct progress {
    bool terminal;
    unsigned chips;
    int64_t told_ns;
};

/* Is it time for a word? */
static bool is_time(struct progress *p)
{
    int64_t now = tp_now_ns();
    if (!p->terminal && now - p->told_ns < (int64_t)WORD_MS * 1000000)
        return false;
    p->told_ns = now;
    fputs(p->terminal ? "\r\033[K" : "turnpike prove: ", stderr);
    return true;
}

static void end_word(const struct progress *p)
{
    if (!p->terminal)
        fputc('\n', stderr);
    fflush(stderr);
}

static void on_chip(void *data, const char *name, const char *status)
{
    struct progress *p = data;
    p->chips++;
    if (!is_time(p))
        return;
    fprintf(stderr, "%u chips done, %s: %s", p->chips, name, status);
    end_word(p);
}

static void on_schedule(void *data, unsigned done, unsigned of)
{
    struct progress *p = data;
    if (!is_time(p))
        return;
    fprintf(stderr, "fault schedules: %u of %u", done, of);
    end_word(p);
}

static void on_fetch(const char *text)
{
    fprintf(stderr, "turnpike prove: %s\n", text);
}

/* A report that cannot be written is told before minutes are spent on it; and the driver is
 * no place for one. */
static int check_json(const struct arguments *a, struct tp_error *e)
{
    if (!a->json || !strcmp(a->json, "-"))
        return 0;
    if (tp_is_same_file(a->json, a->file))
        return tp_fail(e, TP_STATUS_INPUT, -EINVAL, a->json, "name another file",
                       "--json would write over the driver");
    return tp_try_write(a->json, e);
}

static int run(int argc, char **argv)
{
    struct arguments a = {0};
    struct tp_error e = {0};
    int status = parse(argc, argv, &a);
    if (status)
        return status;
    struct progress progress = {.terminal = isatty(STDERR_FILENO), .told_ns = tp_now_ns()};
    if (check_json(&a, &e))
        return tp_cli_fail(&tp_command_prove, &e);
    tp_cache_tell(on_fetch);
    char *patches = a.patches ? tp_strdup(a.patches) : tp_data_path("patches", &e);
    struct tp_prove_request req = {.file = a.file,
                                   .chip = a.chip,
                                   .patches_dir = patches,
                                   .bionic_root = a.bionic_root,
                                   .faults = a.faults,
                                   .first_seed = a.first_seed,
                                   .on_chip = on_chip,
                                   .on_schedule = on_schedule,
                                   .data = &progress};
    json_t *report = NULL;
    int r = patches ? tp_promises_check(patches, &e) : -1;
    if (!r && !progress.terminal)
        fprintf(stderr, "turnpike prove: proving on %s%s\n",
                a.chip && strcmp(a.chip, "all") != 0 ? a.chip : "all simulated chips",
                a.faults ? ", then under fault schedules" : "");
    if (!r)
        r = tp_prove(&req, &report, &e);
    if (progress.terminal)
        fputs("\r\033[K", stderr);
    if (!r && a.json)
        r = tp_cli_write_json(report, a.json, &e);
    if (report && (!a.json || strcmp(a.json, "-") != 0)) {
        struct tp_buf text = {0};
        tp_cli_proof_text(report, &text);
        fputs(tp_buf_str(&text), stdout);
        tp_buf_finish(&text);
        int flushed = tp_cli_flush(&e);
        r = r ? r : flushed;
    }
    if (r)
        status = tp_cli_fail(&tp_command_prove, &e);
    else
        status = json_is_true(json_object_get(report, "ok")) ? TP_STATUS_OK : TP_STATUS_FAILED;
    json_decref(report);
    free(patches);
    return status;
}

static const struct option options[] = {
    {"chip", required_argument, NULL, 'c'},
    {"patches", required_argument, NULL, 'p'},
    {"bionic-root", required_argument, NULL, 'b'},
    {"faults", required_argument, NULL, 'f'},
    {"json", required_argument, NULL, 'j'},
    {"help", no_argument, NULL, 'h'},
    {0},
};

const struct tp_command tp_command_prove = {
    .name = "prove",
    .summary = "start a driver on simulated chips and check what it does",
    .help = "usage: turnpike prove DRIVER.so|ARCHIVE.zip [OPTIONS]\n\n"
            "Starts the very driver on a simulated KGSL device, once for each chip: device, memory,\n"
            "pipelines, submits, waits and queries, teardown; nothing may be left in the simulator's\n"
            "books. Then holds what was seen against the patches' `proof` lines. An arm64 driver runs\n"
            "under qemu-user, with libraries of Debian's that are fetched once into TURNPIKE_CACHE\n"
            "(~/.cache/turnpike, 34 MB); so does one for Android where a phone's C library is at hand,\n"
            "and else the file itself is checked.\n\n"
            "  --chip NAME         one chip (FD740, 740, X1-85, 0x43050a01), or all (default)\n"
            "  --bionic-root DIR   a phone's linker64, libc.so, libm.so, libdl.so, libz.so (docs/proving.md)\n"
            "  --patches DIR       whose proof lines count (default: turnpike's own)\n"
            "  --faults N[:SEED]   also N fault schedules, seeds from SEED (1) on (docs/kgsl-sim.md)\n"
            "  --json FILE         the report as JSON; - for standard output\n\n"
            "Exit status: 0 proved, 1 something does not hold, 2 wrong usage or bad input, 3 something\n"
            "is missing on this machine.\n",
    .options = options,
    .run = run,
};
