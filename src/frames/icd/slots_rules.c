/* What is settled when a swapchain is made: how many images, and how releases are waited for. */
#include "frames/icd/slots.h"

enum tp_release_wait tp_release_wait_choose(
    enum tp_release_wait asked, bool can_import_sync_fd, bool can_export_sync_file)
{
    switch (asked) {
    case TP_RELEASE_WAIT_AUTO:
    case TP_RELEASE_WAIT_GPU:
        return can_import_sync_fd ? TP_RELEASE_WAIT_GPU : TP_RELEASE_WAIT_CPU;
    case TP_RELEASE_WAIT_IMPLICIT:
        return can_export_sync_file ? TP_RELEASE_WAIT_IMPLICIT : TP_RELEASE_WAIT_CPU;
    case TP_RELEASE_WAIT_CPU:
        break;
    }
    return TP_RELEASE_WAIT_CPU;
}

unsigned tp_slots_image_count(unsigned asked, unsigned pipeline, unsigned override)
{
    unsigned n = pipeline < TP_SLOTS_MAX ? 3 + pipeline : TP_SLOTS_MAX;
    if (override > 0)
        n = override;
    else if (asked > n)
        n = asked;
    return n < TP_SLOTS_MAX ? n : TP_SLOTS_MAX;
}
