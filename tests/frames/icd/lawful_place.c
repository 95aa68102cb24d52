#include "lawful_place.h"

#include <stdio.h>

VkSurfaceKHR surface;
static const char *where;

bool take_place(int argc, char **argv)
{
    if (argc != 2) {
        fprintf(stderr, "usage: %s PLACE\n", argv[0]);
        return false;
    }
    where = argv[1];
    return true;
}

int begin_place(void **state)
{
    (void)state;
    place_begin(where);
    client_open_lawless(&client);
    surface = place_surface(&client, 0);
    return 0;
}

int end_place(void **state)
{
    (void)state;
    place_close(&client, surface, 0);
    client_close(&client);
    place_end();
    return 0;
}
