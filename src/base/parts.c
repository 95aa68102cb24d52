#include "base/parts.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/fs.h"

/* TP_PARTS_DIR: from the program's folder to where meson installs parts. */
char *tp_part_path(const char *in_build, struct tp_error *e)
{
    char *self = realpath("/proc/self/exe", NULL);
    char *slash = self ? strrchr(self, '/') : NULL;
    if (slash)
        *slash = 0;
    char *path = tp_join(self ? self : ".", in_build);
    if (!tp_exists(path)) {
        const char *name = strrchr(in_build, '/');
        char *installed =
            tp_asprintf("%s/%s/%s", self ? self : ".", TP_PARTS_DIR, name ? name + 1 : in_build);
        if (tp_exists(installed)) {
            free(path);
            path = installed;
        } else {
            free(installed);
        }
    }
    free(self);
    if (tp_exists(path))
        return path;
    tp_fail(e, TP_STATUS_MISSING, -ENOENT, path,
            "run turnpike where it was built or installed (a link to it will do); or build it with "
            "the cross compiler there: ./setup, then ninja -C build",
            "a part of turnpike is not there");
    free(path);
    return NULL;
}
