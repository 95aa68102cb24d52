/* mesa_source SPEC FOLDER: gets a tree of Mesa for the tests that need a real one. */
#include <sodium.h>
#include <stdio.h>

#include "factory/source/source.h"

static void note(void *data, const char *text)
{
    (void)data;
    fprintf(stderr, "%s\n", text);
}

int main(int argc, char **argv)
{
    if (argc != 3 || sodium_init() < 0) {
        fprintf(stderr, "usage: mesa_source SPEC FOLDER\n");
        return 2;
    }
    struct tp_source_request req = {.spec = argv[1], .dest = argv[2], .note = note};
    struct tp_source s = {0};
    struct tp_error e = {0};
    if (tp_source_get(&req, &s, &e)) {
        fprintf(stderr, "mesa_source: %s: %s\n  %s\n", e.where, e.what, e.todo);
        return (int)e.status;
    }
    tp_source_finish(&s);
    return 0;
}
