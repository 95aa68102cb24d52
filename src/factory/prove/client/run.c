#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "client.h"

int64_t tp_now_ns(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return t.tv_sec * INT64_C(1000000000) + t.tv_nsec;
}

static void set_detail(struct tp_run *r, const char *format, va_list arguments)
{
    vsnprintf(r->detail, sizeof r->detail, format, arguments);
}

void tp_failed(struct tp_run *r, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    set_detail(r, format, arguments);
    va_end(arguments);
    r->failed = true;
    longjmp(r->out, 1);
}

void tp_skipped(struct tp_run *r, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    set_detail(r, format, arguments);
    va_end(arguments);
    r->skipped = true;
    longjmp(r->out, 1);
}

void tp_note(struct tp_run *r, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    set_detail(r, format, arguments);
    va_end(arguments);
}

VkResult tp_called(struct tp_run *r, const char *name, VkResult result)
{
    r->lost |= result == VK_ERROR_DEVICE_LOST;
    if (result < 0)
        tp_failed(r, "%s: %s (%d)", name, tp_vk_result(result), result);
    return result;
}

void tp_called_for(struct tp_run *r, const char *name, VkResult result, VkResult wanted)
{
    r->lost |= result == VK_ERROR_DEVICE_LOST;
    if (result == wanted)
        return;
    tp_failed(r, "%s: %s (%d), where %s is right", name, tp_vk_result(result), result,
              tp_vk_result(wanted));
}

static void destroy(struct tp_run *r, struct tp_item item)
{
    switch (item.kind) {
#define DESTROY(name)                                                                              \
    case TP_KIND_##name:                                                                           \
        r->vk->Destroy##name(r->device, (Vk##name)(uintptr_t)item.handle, NULL);                   \
        break;
        TP_DESTROYABLE(DESTROY)
#undef DESTROY
    case TP_KIND_DeviceMemory:
        r->vk->FreeMemory(r->device, (VkDeviceMemory)(uintptr_t)item.handle, NULL);
        break;
    case TP_KIND_Fd:
        close((int)item.handle);
        break;
    case TP_KIND_Heap:
        free((void *)(uintptr_t)item.handle);
        break;
    }
}

void tp_own(struct tp_run *r, enum tp_kind kind, uint64_t handle)
{
    struct tp_item item = {kind, handle};
    if (r->item_count == r->item_room) {
        size_t room = r->item_room ? 2 * r->item_room : 64;
        struct tp_item *items = realloc(r->items, room * sizeof *items);
        if (!items) {
            destroy(r, item);
            tp_failed(r, "the client is out of memory");
        }
        r->items = items;
        r->item_room = room;
    }
    r->items[r->item_count++] = item;
}

void tp_disown(struct tp_run *r, enum tp_kind kind, uint64_t handle)
{
    for (size_t i = r->item_count; i-- > 0;) {
        if (r->items[i].kind != kind || r->items[i].handle != handle)
            continue;
        r->item_count--;
        memmove(r->items + i, r->items + i + 1, (r->item_count - i) * sizeof *r->items);
        return;
    }
}

void tp_destroy_now(struct tp_run *r, enum tp_kind kind, uint64_t handle)
{
    tp_disown(r, kind, handle);
    destroy(r, (struct tp_item){kind, handle});
}

void *tp_heap(struct tp_run *r, size_t count, size_t size)
{
    void *p = calloc(count ? count : 1, size);
    if (!p)
        tp_failed(r, "the client is out of memory");
    tp_own(r, TP_KIND_Heap, TP_HANDLE(p));
    return p;
}

/* Nothing may be destroyed that a submit still uses: a check that was left in between has to let
 * its submits come to an end first. Those of a lost device have. */
static void settle(struct tp_run *r)
{
    if (!r->failed || !r->device || r->lost)
        return;
    if (r->timeline) {
        VkSemaphoreSignalInfo signal = {
            .sType = VK_STRUCTURE_TYPE_SEMAPHORE_SIGNAL_INFO,
            .semaphore = r->timeline,
            .value = 1000,
        };
        r->vk->SignalSemaphore(r->device, &signal);
    }
    r->vk->DeviceWaitIdle(r->device);
}

void tp_run_execute(struct tp_run *r, void (*function)(struct tp_run *r))
{
    if (!setjmp(r->out))
        function(r);
    settle(r);
    while (r->item_count)
        destroy(r, r->items[--r->item_count]);
    free(r->items);
    r->items = NULL;
    r->item_room = 0;
    r->timeline = VK_NULL_HANDLE;
}

/* Notes how many fds CHECK left open, for the check teardown: a driver may open some for itself that
 * it closes with the device. */
static void note_fds(struct tp_client *client, const char *check, unsigned before)
{
    unsigned now = tp_open_fds();
    size_t length = strlen(client->fds_lost);
    if (now > before)
        snprintf(client->fds_lost + length, sizeof client->fds_lost - length, "%s%s %u",
                 length ? ", " : "", check, now - before);
}

bool tp_check_run(struct tp_client *client, const struct tp_check *check)
{
    struct tp_run r = {
        .client = client,
        .vk = &client->vk,
        .device = client->device,
        .queue = client->queue,
        .family = client->family,
    };
    int64_t start = tp_now_ns();
    unsigned messages = tp_layers_messages(client), fds = tp_open_fds();
    bool had_device = client->device;
    tp_layers_now(client, check->id);
    tp_run_execute(&r, check->run);
    client->lost |= r.lost;
    if (had_device)
        note_fds(client, check->id, fds);
    if (!r.failed && tp_layers_messages(client) != messages) {
        r.failed = true;
        snprintf(r.detail, sizeof r.detail, "the validation layer objects");
    }
    tp_print_check(check->id, !r.failed, r.skipped, (tp_now_ns() - start) / 1000000, r.detail);
    if (r.failed)
        client->failed++;
    else if (r.skipped)
        client->skipped++;
    else
        client->passed++;
    return !r.failed;
}
