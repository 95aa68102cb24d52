/* A picture on the first output, by the oldest requests there are. */
#ifndef TP_TESTS_SHIM_SCREEN_H
#define TP_TESTS_SHIM_SCREEN_H

/* fd: an open card that is master. Fails the test where it cannot. */
void light_up(int fd);

#endif
