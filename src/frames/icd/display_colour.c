#include "frames/icd/display_target.h"

static uint16_t scaled(float value, float unit)
{
    float v = value * unit + 0.5f;

    return v <= 0 ? 0 : v >= 65535 ? 65535 : (uint16_t)v;
}

/* In the units of CTA-861's static metadata type 1: chromaticities of 0.00002, and cd/m². */
static void fill_hdr(const VkHdrMetadataEXT *v, struct hdr_output_metadata *out)
{
    const VkXYColorEXT *colours[3] = {
        &v->displayPrimaryRed, &v->displayPrimaryGreen, &v->displayPrimaryBlue};
    struct hdr_metadata_infoframe *m = &out->hdmi_metadata_type1;

    *out = (struct hdr_output_metadata){0};
    m->eotf = 2; /* SMPTE ST 2084 */
    for (int i = 0; i < 3; i++) {
        m->display_primaries[i].x = scaled(colours[i]->x, 50000);
        m->display_primaries[i].y = scaled(colours[i]->y, 50000);
    }
    m->white_point.x = scaled(v->whitePoint.x, 50000);
    m->white_point.y = scaled(v->whitePoint.y, 50000);
    m->max_display_mastering_luminance = scaled(v->maxLuminance, 1);
    m->min_display_mastering_luminance = scaled(v->minLuminance, 10000);
    m->max_cll = scaled(v->maxContentLightLevel, 1);
    m->max_fall = scaled(v->maxFrameAverageLightLevel, 1);
}

void tp_display_say_colours(struct tp_display *d, const struct tp_display_stream *s,
    const struct tp_picture *p, struct tp_display_flip *f)
{
    bool hdr10 = s->info.space == VK_COLOR_SPACE_HDR10_ST2084_EXT;
    struct hdr_output_metadata metadata;

    f->colours = !d->lit || s->info.space != d->space || (hdr10 && p->hdr);
    if (!f->colours)
        return;
    if (p->hdr)
        d->hdr = *p->hdr;
    tp_display_blob_remove(&d->card->link, d->hdr_blob);
    d->hdr_blob = 0;
    if (hdr10) {
        fill_hdr(&d->hdr, &metadata);
        tp_display_blob(&d->card->link, &metadata, sizeof metadata, &d->hdr_blob);
        f->colorspace = d->pipe.bt2020;
    }
    f->hdr_blob = d->hdr_blob;
}
