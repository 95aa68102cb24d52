#include "base/parts.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/fs.h"

/* TP_PARTS_DIR: from the program's folder to where meson installs parts. */
char *tp_part_path(const char *in_build, struct tp_error *e)
{
    char *self = tp_program_dir();
    char *built = tp_join(self ? self : ".", in_build);
    char *installed =
        tp_asprintf("%s/%s/%s", self ? self : ".", TP_PARTS_DIR, tp_base_name(in_build));
    char *found = tp_is_file(built) ? built : tp_is_file(installed) ? installed : NULL;
    if (!found)
        tp_fail(e, TP_STATUS_MISSING, -ENOENT, built,
                "run turnpike where it was built or installed (a link to it will do); or build it "
                "with the cross compiler there: ./setup, then ninja -C build",
                "a part of turnpike is not there, nor is it at %s", installed);
    if (found != built)
        free(built);
    if (found != installed)
        free(installed);
    free(self);
    return found;
}
