#include "report/doctor/bugreport.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <zip.h>

#include "base/buf.h"

struct tp_bugreport {
    zip_t *zip;
    zip_file_t *file;
};

bool tp_bugreport_is(const char *path)
{
    char magic[4] = "";
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
    /* A pipe is not looked into: what is taken from it is gone. */
    bool is =
        fd >= 0 && pread(fd, magic, sizeof magic, 0) == sizeof magic && !memcmp(magic, "PK\3\4", 4);

    if (fd >= 0)
        close(fd);
    return is;
}

static bool is_text(const char *name)
{
    size_t n = strlen(name);

    return n > 4 && (!strcmp(name + n - 4, ".txt") || !strcmp(name + n - 4, ".log"));
}

/* Of a bug report the main text is by far the largest. */
static int64_t largest_text(zip_t *zip)
{
    int64_t n = zip_get_num_entries(zip, 0), found = -1;
    uint64_t most = 0;

    for (int64_t i = 0; i < n; i++) {
        zip_stat_t st;
        if (zip_stat_index(zip, (uint64_t)i, 0, &st) || !(st.valid & ZIP_STAT_SIZE) ||
            !(st.valid & ZIP_STAT_NAME) || !is_text(st.name) || st.size < most)
            continue;
        most = st.size;
        found = i;
    }
    return found;
}

int tp_bugreport_open(const char *path, struct tp_bugreport **out, struct tp_error *e)
{
    struct tp_bugreport *b = tp_calloc(1, sizeof *b);
    int why = 0, r = 0;

    b->zip = zip_open(path, ZIP_RDONLY, &why);
    int64_t i = b->zip ? largest_text(b->zip) : -1;
    if (!b->zip)
        r = tp_fail(e, TP_STATUS_INPUT, -EBADMSG, path, "record it again, or unpack what is in it",
            "the zip cannot be read");
    else if (i < 0)
        r = tp_fail(e, TP_STATUS_INPUT, -ENODATA, path,
            "give a log, or a bug report; archives of drivers are for `turnpike inspect`",
            "no text is in this zip");
    else if (!(b->file = zip_fopen_index(b->zip, (uint64_t)i, 0)))
        r = tp_fail(e, TP_STATUS_INPUT, -EBADMSG, path, "unpack it, and give what is in it",
            "the text in this zip cannot be unpacked: %s", zip_strerror(b->zip));
    if (r) {
        tp_bugreport_close(b);
        return r;
    }
    *out = b;
    return 0;
}

ssize_t tp_bugreport_read(struct tp_bugreport *b, void *out, size_t room)
{
    int64_t n = zip_fread(b->file, out, room);

    return n < 0 ? -EBADMSG : (ssize_t)n;
}

void tp_bugreport_close(struct tp_bugreport *b)
{
    if (!b)
        return;
    if (b->file)
        zip_fclose(b->file);
    if (b->zip)
        zip_discard(b->zip);
    free(b);
}
