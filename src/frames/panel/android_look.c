/* What is on the phone's screen, for a screenshot: the newest picture, read where it lies. */
#include <errno.h>

#include "frames/panel/android_internal.h"
#include "frames/panel/compose.h"

/* The newest picture, held; nothing, while nothing is shown. */
static void take_picture(struct tp_android *a, struct tp_kms_scanout *out)
{
    pthread_mutex_lock(&a->commit);
    *out = a->picture;
    if (tp_android_is_away(a))
        out->n_layers = 0;
    if (out->mode.width_px == 0)
        out->mode = a->mode;
    out->gamma = out->hdr_metadata = NULL; /* neither is looked at */
    for (unsigned i = 0; i < out->n_layers; i++)
        tp_kms_fb_ref(out->layers[i].fb);
    pthread_mutex_unlock(&a->commit);
}

int tp_android_look(struct tp_panel *p, struct tp_image *out, struct tp_error *e)
{
    struct tp_android *a = (struct tp_android *)p;
    struct tp_kms_scanout s;
    take_picture(a, &s);
    tp_image_init(out, s.mode.width_px, s.mode.height_px);
    unsigned unread = tp_compose(&s, out, 0, s.mode.height_px, NULL);
    for (unsigned i = 0; i < s.n_layers; i++)
        tp_kms_fb_unref(s.layers[i].fb);
    if (unread == 0)
        return 0;
    tp_image_finish(out);
    return tp_fail(e, TP_STATUS_FAILED, -ENOTSUP, NULL, "use the phone's own screenshot",
        "the picture lies in memory that only the GPU can read (a tiled or compressed layout)");
}
