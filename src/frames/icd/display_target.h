/*
 * What the files of a screen's target share.
 *
 *     target_display.c    the target: made, asked, its streams opened and closed
 *     display_picture.c   pictures on their way
 *     display_colour.c    how their colours are meant
 *     display_card.c      the card and its thread; below it display_kms.c, display_commit.c and
 *                         display_link.c
 */
#ifndef TP_FRAMES_ICD_DISPLAY_TARGET_H
#define TP_FRAMES_ICD_DISPLAY_TARGET_H

#include "frames/icd/display_card.h"
#include "frames/icd/display_kms.h"
#include "frames/icd/present_queue.h"
#include "frames/icd/target.h"

/* A framebuffer; a stream has it, and the screen, past the stream. */
struct tp_display_fb {
    uint32_t id;
    unsigned refs;
};

struct tp_display_stream {
    struct tp_stream base;
    struct tp_display_stream *next;
    const struct tp_stream_events *events;
    void *data;
    struct tp_stream_info info;
    struct tp_present_queue queue;
    struct {
        struct tp_display_fb *fb;
        uint32_t width, height;
    } images[]; /* info.n_images of them */
};

/* An image on the screen, or on its way. */
struct tp_display_place {
    struct tp_display_fb *fb;         /* NULL: nothing is here */
    struct tp_display_stream *stream; /* NULL: closed since */
    uint32_t index;
    uint64_t serial;
};

struct tp_display {
    struct tp_target base;
    struct tp_display_user user;
    struct tp_display_card *card; /* its lock guards the rest */
    uint32_t connector;
    struct drm_mode_modeinfo mode;
    uint32_t width, height;
    int64_t period_ns;
    struct tp_display_pipe pipe;
    bool piped;
    struct tp_display_stream *streams; /* the newest first: the others are retired by it */
    struct tp_display_place screen, flying;
    /* Taken out of its stream's queue, and to go out next: what needs no turn but finds a flip
     * under way, or could not go out when it was tried. */
    struct tp_queued *ready;
    struct tp_display_stream *ready_stream;
    int64_t retry_ns;   /* not before that */
    bool lit;           /* the mode is set */
    bool dark;          /* it was, and the application has switched the screen off */
    bool unscaled;      /* the card does not scale: pictures are centred */
    bool lost, stale;   /* what calls answer */
    uint32_t mode_blob; /* 0: not made yet */
    uint32_t hdr_blob;
    VkHdrMetadataEXT hdr;  /* as told last; sType 0: never */
    VkColorSpaceKHR space; /* of the picture on the screen */
    int64_t flip_ns;       /* when the last one was, 0: none yet */
    uint64_t sequence;
};

extern const struct tp_display_user_ops tp_display_target_ops; /* display_picture.c's */

/* NULL: this user of the card is no screen. */
static inline struct tp_display *tp_display_of_user(struct tp_display_user *u)
{
    return u->ops == &tp_display_target_ops
        ? (struct tp_display *)((char *)u - offsetof(struct tp_display, user))
        : NULL;
}

/* --- display_picture.c; with the card's lock held --- */

/* Lets a framebuffer go. NULL is fine. */
void tp_display_unref(struct tp_display *d, struct tp_display_fb *fb);
/* Is the screen still there, with our mode? 0, -ENODEV, -ESTALE. */
int tp_display_check_screen(struct tp_display *d);

/* --- display_colour.c --- */

/* What the flip has to say of the picture's colours, where that is news. */
void tp_display_say_colours(struct tp_display *d, const struct tp_display_stream *s,
    const struct tp_picture *p, struct tp_display_flip *f);

#endif
