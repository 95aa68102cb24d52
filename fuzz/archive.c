/* Any bytes as an archive or a driver. */
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/driver_file.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    int fd = memfd_create("input", MFD_CLOEXEC);
    if (fd < 0 || (size && write(fd, data, size) != (ssize_t)size))
        abort();
    char *path = tp_asprintf("/proc/self/fd/%d", fd);
    struct tp_buf driver = {0};
    struct tp_error e = {0};
    if (tp_driver_read(path, &driver, NULL, &e) && !e.err)
        abort(); /* a failure without a reason */
    tp_buf_finish(&driver);
    free(path);
    close(fd);
    return 0;
}
