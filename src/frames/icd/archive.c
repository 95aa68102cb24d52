#include "frames/icd/archive.h"

#include <errno.h>
#include <unistd.h>

#include "base/driver_file.h"

__attribute__((visibility("default"))) tp_archive_extract_function tp_archive_extract;

int tp_archive_extract(const char *path, int fd, struct tp_error *e)
{
    struct tp_buf driver = {0};
    int r = tp_driver_read(path, &driver, NULL, e);

    for (size_t done = 0; !r && done < driver.len;) {
        ssize_t n = write(fd, driver.data + done, driver.len - done);
        if (n >= 0)
            done += (size_t)n;
        else if (errno != EINTR)
            r = tp_fail_errno(e, errno, path, "the driver in it cannot be written to a file");
    }
    tp_buf_finish(&driver);
    return r;
}
