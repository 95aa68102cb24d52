/*
 * A double of Android's libandroid.so and libnativewindow.so: the calls that a display server
 * makes, with the NDK's names and signatures, over a SurfaceFlinger and a screen that a test
 * drives.
 *
 * The rules are those of surface_control.h and of SurfaceFlinger as it behaves: transactions are
 * taken in the order in which they were applied, at a latch that lies `lead` before each refresh;
 * one waits until its acquire fences are through, and those after it with it; a newer buffer of the
 * same latch replaces an older one, unless back pressure holds it for the next; what was latched is
 * on the screen from the refresh after that on, and what it replaced is read until then, or for
 * some refreshes more (composition on the GPU). Completion is told some time later, on any thread.
 *
 * Time is the test's (double_run_until) or the clock's (double_live).
 */
#ifndef TP_TESTS_DOUBLE_H
#define TP_TESTS_DOUBLE_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

/* Everything as new; what the last test left must be gone. level: 31, 33 or 36. The first refresh
 * is a period after start_ns. */
void double_reset(int level, uint64_t seed, uint32_t refresh_mhz, int64_t start_ns);
/* Whether this API level has the call: what a test's dlsym asks. */
bool double_has(const char *name);

int64_t double_now(void);
/* Virtual time: all that happens until then, on this thread. */
void double_run_until(int64_t t_ns);
int64_t double_next_refresh(void);
/* Real time, by a thread of its own, from double_now on; and no more. */
void double_live(bool on);

struct double_habits {
    unsigned late_per_mille, late_refreshes; /* completions, by 1 to so many */
    unsigned slow_per_mille, slow_refreshes; /* releases, by 1 to so many */
    unsigned elsewhere_per_mille;            /* callbacks on another thread */
    unsigned merge_per_mille; /* transactions that wait for the next one, and are merged with it */
    unsigned jitter_ns;       /* of the Choreographer's wake-ups */
    unsigned no_present_fence_per_mille; /* -1 */
    bool out_of_order;                   /* late completions do not hold up others */
    unsigned every; /* the Choreographer tells of each so manieth refresh alone; 0: of all */
    enum {
        TAKES,
        REFUSES_IMPORT,
        HOLDS,
        BLOCKS
    } foreign; /* guests' memory: taken; not imported;
     never latched; neither is what comes after it */
};
void double_habits(const struct double_habits *h);
void double_screen(bool on);
void double_refresh(uint32_t mhz); /* from the next refresh on */

void *double_window_create(int32_t width, int32_t height); /* an ANativeWindow */
void double_window_resize(void *window, int32_t width, int32_t height);
void double_window_destroy(void *window);

/* SurfaceFlinger or the screen reads this memory, or will. */
bool double_reads(ino_t inode);
/* What the topmost visible layer but for the cursor's shows now, after the last refresh: 0,
 * nothing; -1, memory of the server's own (a copy, a blank). */
ino_t double_shown(void);

struct double_counts {
    uint64_t transactions, latched, dropped; /* buffers */
    uint64_t with_release, frame_timelines, desired_times, back_pressure, callbacks, elsewhere;
    uint64_t merged, overwritten; /* transactions; buffers that never came to SurfaceFlinger */
    uint64_t late, unfenced;      /* completions; previous release fences of -1 */
    unsigned most_late;           /* in refreshes */
    unsigned layers, buffers;     /* there are now */
    unsigned windows;             /* references */
    float voted_hz;               /* the last vote that was not 0 */
    int32_t data_space;           /* the last */
    float red_x, max_luminance, max_content_light; /* the last HDR metadata */
    int32_t left, top, right, bottom, transform;   /* the last geometry */
};
void double_count(struct double_counts *out);

#endif
