/*
 * A phone's screen: SurfaceFlinger through ASurfaceControl. Each picture is one transaction, with a
 * layer of SurfaceFlinger's for each of its planes. A guest's dma-buf is shown as it is, where the
 * phone's allocator takes it; other memory, and all while the phone does not show guests' buffers,
 * is copied.
 */
#ifndef TP_FRAMES_PANEL_ANDROID_H
#define TP_FRAMES_PANEL_ANDROID_H

#include <stdbool.h>

#include "frames/panel/panel.h"

struct tp_panel_android_config {
    struct tp_kms_mode
        mode; /* until another is set; its refresh until the phone has told its own */
    bool hdr; /* pass HDR pictures on as such */
    /* A line for a person, said once a cause; on any thread. NULL: nobody hears it. */
    void (*log)(void *data, const char *line);
    void *log_data;
};

/*
 * The screen, with no window yet: pictures that come are kept, the newest of them is shown when a
 * window comes. -ENOSYS (MISSING): no Android of API level 31 or newer.
 */
int tp_panel_android_create(
    const struct tp_panel_android_config *config, struct tp_panel **out, struct tp_error *e);

/* The functions below are any thread's to call, from the app's life cycle. */

/* Where to show (an ANativeWindow *, which gets a reference): a new surface, the same again in
 * another size or rotated, or NULL: the surface is being destroyed, and is not used any more once
 * this has returned. */
void tp_panel_android_set_window(struct tp_panel *p, void *window);
/* The app is hidden: a tiny blank buffer takes each layer's place, so that SurfaceFlinger lets the
 * guest's go; and shown again: the newest picture comes back, and what the phone had rejected is
 * tried again. */
void tp_panel_android_pause(struct tp_panel *p);
void tp_panel_android_resume(struct tp_panel *p);
/* Shows the newest picture once more: a recorder that has just come gets a frame. */
void tp_panel_android_repaint(struct tp_panel *p);
void tp_panel_android_set_hdr(struct tp_panel *p, bool hdr);

/* What it did so far. */
struct tp_panel_android_counts {
    uint64_t transactions;
    uint64_t imported, copied; /* layers that were set, by way */
    uint64_t stalls;           /* times that the watchdog found nothing shown any more */
    uint64_t rebuilt;          /* times that layers were made anew for that */
    unsigned pending;          /* buffers replaced and not released */
    bool direct;               /* guests' buffers are tried */
};
void tp_panel_android_count(struct tp_panel *p, struct tp_panel_android_counts *out);

#endif
