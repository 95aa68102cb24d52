/* A program's tests on one kind of surface (place.h), which its argument names. */
#ifndef TP_TESTS_ICD_LAWFUL_PLACE_H
#define TP_TESTS_ICD_LAWFUL_PLACE_H

#include "lawful.h"
#include "place.h"

/* That of the place's first window, while the group of tests runs. */
extern VkSurfaceKHR surface;

/* For groups of tests: a client without the validation layer, and the surface. */
int begin_place(void **state);
int end_place(void **state);
/* From main; false: it was called otherwise, which is said. */
bool take_place(int argc, char **argv);

#endif
