#include "base/cache.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/fs.h"
#include "base/proc.h"

char *tp_cache_dir(struct tp_error *e)
{
    const char *own = getenv("TURNPIKE_CACHE"), *xdg = getenv("XDG_CACHE_HOME");
    const char *home = getenv("HOME");
    if (own && *own)
        return tp_absolute(own);
    if (xdg && *xdg == '/')
        return tp_join(xdg, "turnpike");
    /* a home that is not there is nobody's to make */
    if (home && *home == '/' && tp_is_dir(home))
        return tp_join(home, ".cache/turnpike");
    tp_fail(e, TP_STATUS_MISSING, -ENOENT, "HOME", "set TURNPIKE_CACHE to a folder for downloads",
            home && *home ? "%s is no folder: no home is known" : "%sno home folder is known",
            home && *home ? home : "");
    return NULL;
}

char *tp_arm64_sysroot_dir(struct tp_error *e)
{
    char *cache = tp_cache_dir(e), *dir = cache ? tp_join(cache, "arm64-sysroot") : NULL;
    free(cache);
    return dir;
}

/* What private-apt and arm64-sysroot say last: their own sentence, without their names and their
 * advice. Caller frees. */
static char *last_sentence(struct tp_buf *said)
{
    while (said->len && said->data[said->len - 1] == '\n')
        said->data[--said->len] = '\0';
    const char *line = strrchr(tp_buf_str(said), '\n');
    line = line ? line + 1 : tp_buf_str(said);
    const char *text = strstr(line, ": "), *advice = strstr(line, "; ");
    text = text ? text + 2 : line;
    if (!*text)
        return tp_strdup("no reason given");
    return tp_strndup(text, advice && advice > text ? (size_t)(advice - text) : strlen(text));
}

static void (*on_fetch)(const char *text);

void tp_cache_tell(void (*note)(const char *text))
{
    on_fetch = note;
}

static void tell_of_fetch(const char *dir)
{
    char *made = tp_join(dir, ".turnpike-sysroot");
    if (on_fetch && !tp_exists(made)) {
        char *text = tp_asprintf("fetching the arm64 libraries into %s, once (34 MB; "
                                 "TURNPIKE_CACHE names another place)", dir);
        on_fetch(text);
        free(text);
    }
    free(made);
}

int tp_arm64_sysroot_make(const char *dir, struct tp_error *e)
{
    char *script = tp_data_path("tools/arm64-sysroot", e);
    if (!script)
        return -ENOENT;
    tell_of_fetch(dir);
    struct tp_buf out = {0};
    struct tp_cmd cmd = {
        .argv = (const char *const[]){script, dir, NULL},
        .out = &out,
        .err = &out,
        .log_fd = -1,
    };
    int r = tp_run(&cmd, e);
    if (r == 2) { /* by the script's contract: not the network, but the folder */
        char *why = last_sentence(&out);
        r = tp_fail(e, TP_STATUS_INPUT, -EACCES, dir,
                    "set TURNPIKE_CACHE to a folder of yours on a disk with room (a build also takes "
                    "--sysroot)",
                    "the arm64 libraries cannot be put there: %s", why);
        free(why);
    } else if (r > 0) {
        const char *said = tp_buf_str(&out);
        r = tp_fail(e, TP_STATUS_MISSING, -ENOENT, script,
                    "check the network and the package archive, or set TURNPIKE_CACHE to a folder that "
                    "has them (a build also takes --sysroot)",
                    "the arm64 libraries cannot be fetched: %.600s", *said ? said : "no reason given");
    }
    tp_buf_finish(&out);
    free(script);
    return r;
}
