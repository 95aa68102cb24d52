/* What libvndksupport's double has seen, for tests: not a part of the real one. */
#ifndef DOUBLE_COUNTS_H
#define DOUBLE_COUNTS_H

struct double_counts {
    unsigned asked;
    unsigned loads; /* that succeeded */
    unsigned unloads;
    char order[256]; /* the files asked for, with blanks between */
};

/* The counts since the last call; not for several threads at once. */
struct double_counts double_counts_take(void);

/* Unloads what was loaded and not unloaded: mappers stay for a process's life, tests do not. */
void double_unload_rest(void);

#endif
