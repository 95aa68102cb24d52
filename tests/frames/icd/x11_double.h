/* An X server that has DRI3 and Present, and no screen: enough of the protocol for a target's
 * window, and a record of what it is asked for. It says what became of a picture when it is told
 * to. */
#ifndef TP_TESTS_FRAMES_ICD_X11_DOUBLE_H
#define TP_TESTS_FRAMES_ICD_X11_DOUBLE_H

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#define DOUBLE_WIDTH 100u
#define DOUBLE_HEIGHT 60u
#define DOUBLE_FILES 4u
#define DOUBLE_RECORDS 64u

/* A pixmap that was asked for by its memory. */
struct double_pixmap {
    uint32_t id, width, height, pitches[DOUBLE_FILES], offsets[DOUBLE_FILES], size;
    uint64_t modifier;
    uint8_t depth, bits;
    bool modified; /* by PixmapFromBuffers */
    unsigned n_files;
    ino_t files[DOUBLE_FILES];
    bool freed;
};

struct double_present {
    uint32_t pixmap, serial, options;
};

struct x11_double {
    /* How it is, before it begins. */
    uint32_t dri3_minor;
    bool refuses; /* pixmaps */
    const uint64_t *of_window, *of_screen;
    uint32_t n_of_window, n_of_screen;

    pthread_mutex_t lock; /* for what follows */
    pthread_cond_t happened;
    struct double_pixmap pixmaps[DOUBLE_RECORDS];
    struct double_present presents[DOUBLE_RECORDS];
    unsigned n_pixmaps, n_presents, n_freed;

    char name[32]; /* DISPLAY */
    int listener;
    pthread_t acceptor, readers[4];
    struct double_client *clients[4], *hearer; /* hearer: of Present's events */
    unsigned n_clients;
    uint32_t event, window;
};

/* Asserts. */
void x11_double_begin(struct x11_double *d);
/* All clients have closed their connections. */
void x11_double_end(struct x11_double *d);
/* Until so many have been asked for; fails after ten seconds. */
void x11_double_wait(struct x11_double *d, const unsigned *count, unsigned n);
/* Present's events. mode: XCB_PRESENT_COMPLETE_MODE_…; ust: microseconds. */
void x11_double_complete(
    struct x11_double *d, uint32_t serial, uint8_t mode, uint64_t ust, uint64_t msc);
void x11_double_idle(struct x11_double *d, uint32_t serial, uint32_t pixmap);

#endif
