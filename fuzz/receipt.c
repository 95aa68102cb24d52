/* Any bytes as the receipt of a patched tree: taken back in memory, nothing is written. */
#include <fcntl.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <unistd.h>

#include "factory/edit/tree.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* In memory: on a disk a run takes twenty times as long. */
static char root[] = "/dev/shm/tp-fuzz-receipt-XXXXXX";

static void clean_up(void)
{
    tp_remove_tree(root, NULL);
}

static char *place(const char *path)
{
    return tp_join(root, path);
}

static void put(const char *path, const void *data, size_t len)
{
    char *full = place(path);
    if (tp_mkdirs_for(full, NULL) || tp_write_file(full, data, len, 0644, NULL))
        abort();
    free(full);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static char *receipt;
    if (!receipt) {
        if (!mkdtemp(root))
            abort();
        atexit(clean_up);
        put("VERSION", "1\n", 2);
        put("src/a.c", "int a;\n", 7);
        put(".turnpike/originals/src/a.c", "int b;\n", 7);
        receipt = place(".turnpike/receipt.json");
    }
    int fd = open(receipt, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);
    if (fd < 0 || write(fd, data, size) != (ssize_t)size)
        abort();
    close(fd);
    struct tp_tree t;
    struct tp_error e = {0};
    bool interrupted;
    if (tp_tree_open(&t, root, false, &e) == 0) {
        if (tp_tree_was_interrupted(&t, &interrupted, &e) == 0)
            tp_tree_take_back(&t, &e);
        tp_tree_close(&t);
    } else if (!*e.what) {
        abort();
    }
    return 0;
}
