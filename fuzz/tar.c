/* Any bytes as a tar stream, in pieces whose size the first byte chooses. Whatever comes, nothing is
 * written outside the folder that is filled. */
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/fs.h"
#include "factory/source/tar.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (!size)
        return 0;
    char *outer = tp_temp_dir("/tmp", NULL), *root = outer ? tp_join(outer, "root") : NULL;
    if (!root || mkdir(root, 0700) < 0)
        abort();
    struct tp_tar t;
    struct tp_error e = {0};
    size_t piece = data[0] ? data[0] * (size_t)7 : size;
    int r = tp_tar_init(&t, "input", root, "the folder", &e);
    for (size_t at = 1; at < size && !r; at += piece) {
        size_t n = size - at < piece ? size - at : piece;
        r = tp_tar_feed(&t, (const char *)data + at, n, &e);
    }
    if (!r)
        tp_tar_end(&t, &e);
    tp_tar_finish(&t);
    if (tp_remove_tree(root, NULL) || rmdir(outer)) /* something stands beside the folder */
        abort();
    free(root);
    free(outer);
    return 0;
}
