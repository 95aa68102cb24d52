/*
 * Query pools: timestamps, occlusion, statistics; and the clocks that are calibrated.
 */
#include "client.h"

#define ONCE VK_COMMAND_BUFFER_USAGE_ONE_TIME_SUBMIT_BIT
/* No submit here takes as long. */
#define LONGEST_NS 60e9

static VkQueryPool make_pool(struct tp_run *r, VkQueryType type, uint32_t count,
                             VkQueryPipelineStatisticFlags statistics)
{
    VkQueryPoolCreateInfo info = {
        .sType = VK_STRUCTURE_TYPE_QUERY_POOL_CREATE_INFO,
        .queryType = type,
        .queryCount = count,
        .pipelineStatistics = statistics,
    };
    VkQueryPool pool;
    TP_MAKE(r, QueryPool, &info, &pool);
    return pool;
}

struct result {
    uint64_t value, available;
};

/* The pool's results as they are; each must be available when the submits are done. */
static void read_results(struct tp_run *r, VkQueryPool pool, uint32_t count,
                         struct result *results)
{
    bool written = r->client->options.effects >= TP_EFFECTS_EVENTS;
    VkQueryResultFlags flags = VK_QUERY_RESULT_64_BIT | VK_QUERY_RESULT_WITH_AVAILABILITY_BIT;
    /* Without effects a wait would never end. */
    if (written)
        flags |= VK_QUERY_RESULT_WAIT_BIT;
    TP_CALL(r, GetQueryPoolResults, r->device, pool, 0, count, count * sizeof *results, results,
            sizeof *results, flags);
    for (uint32_t i = 0; written && i < count; i++) {
        if (!results[i].available)
            tp_failed(r, "vkGetQueryPoolResults: query %u is not available", i);
    }
}

static uint64_t valid_bits(const struct tp_run *r)
{
    return r->client->families[r->family].timestampValidBits;
}

static void check_timestamps(struct tp_run *r)
{
    enum { COUNT = 4 };
    if (!valid_bits(r))
        tp_skipped(r, "the queue has no timestamps");
    VkQueryPool pool = make_pool(r, VK_QUERY_TYPE_TIMESTAMP, COUNT, 0);
    struct tp_buffer b = tp_make_buffer(r, 1 << 20, VK_BUFFER_USAGE_TRANSFER_DST_BIT);
    for (uint32_t i = 0; i < COUNT; i += 2) {
        VkCommandBuffer commands = tp_begin(r, ONCE);
        r->vk->CmdResetQueryPool(commands, pool, i, 2);
        r->vk->CmdWriteTimestamp(commands, VK_PIPELINE_STAGE_TOP_OF_PIPE_BIT, pool, i);
        r->vk->CmdFillBuffer(commands, b.buffer, 0, VK_WHOLE_SIZE, i);
        r->vk->CmdWriteTimestamp(commands, VK_PIPELINE_STAGE_BOTTOM_OF_PIPE_BIT, pool, i + 1);
        tp_finish(r, commands);
    }
    struct result results[COUNT] = {{0, 0}};
    read_results(r, pool, COUNT, results);
    if (r->client->options.effects < TP_EFFECTS_EVENTS)
        return;
    double ns = (double)(results[COUNT - 1].value - results[0].value) *
                (double)r->client->caps.limits.timestampPeriod;
    for (uint32_t i = 1; i < COUNT; i++) {
        if (results[i].value < results[i - 1].value)
            tp_failed(r, "timestamp %u, %llu, lies before the last, %llu", i,
                      (unsigned long long)results[i].value,
                      (unsigned long long)results[i - 1].value);
    }
    if (!results[0].value || ns <= 0 || ns > LONGEST_NS)
        tp_failed(r, "two submits from %llu to %llu take %.0f ns",
                  (unsigned long long)results[0].value,
                  (unsigned long long)results[COUNT - 1].value, ns);
    tp_note(r, "%.0f ns", ns);
}

/* Reset by the host, not available before a submit; copied by a submit. */
static void check_reset(struct tp_run *r)
{
    if (!r->client->caps.host_query_reset)
        tp_skipped(r, "vkResetQueryPool is not offered");
    if (!valid_bits(r))
        tp_skipped(r, "the queue has no timestamps");
    VkQueryPool pool = make_pool(r, VK_QUERY_TYPE_TIMESTAMP, 1, 0);
    struct tp_buffer b = tp_make_buffer(r, sizeof(struct result),
                                        VK_BUFFER_USAGE_TRANSFER_DST_BIT);
    struct result before = {1, 1}, after = {0, 0};
    TP_IS_THERE(r, ResetQueryPool);
    r->vk->ResetQueryPool(r->device, pool, 0, 1);
    TP_CALL_FOR(r, VK_NOT_READY, GetQueryPoolResults, r->device, pool, 0, 1, sizeof before,
                &before, sizeof before,
                VK_QUERY_RESULT_64_BIT | VK_QUERY_RESULT_WITH_AVAILABILITY_BIT);
    if (before.available)
        tp_failed(r, "vkGetQueryPoolResults: a query is available that was only reset");
    VkCommandBuffer commands = tp_begin(r, ONCE);
    r->vk->CmdWriteTimestamp(commands, VK_PIPELINE_STAGE_TOP_OF_PIPE_BIT, pool, 0);
    r->vk->CmdCopyQueryPoolResults(
        commands, pool, 0, 1, b.buffer, 0, sizeof after,
        VK_QUERY_RESULT_64_BIT | VK_QUERY_RESULT_WAIT_BIT | VK_QUERY_RESULT_WITH_AVAILABILITY_BIT);
    tp_host_barrier(r, commands);
    tp_finish(r, commands);
    read_results(r, pool, 1, &after);
    const struct result *copied = b.map;
    if (r->client->options.effects == TP_EFFECTS_ALL &&
        (copied->value != after.value || !copied->available))
        tp_failed(r, "vkCmdCopyQueryPoolResults: %llu, where %llu is right",
                  (unsigned long long)copied->value, (unsigned long long)after.value);
}

#define SIDE 64u

/* Two draws over the whole target and a query without any. */
static void query_draws(struct tp_run *r, VkQueryPool pool, VkQueryControlFlags control)
{
    static const float white[4] = {1, 1, 1, 1};
    struct tp_target t = tp_make_target(r, SIDE, SIDE, VK_SAMPLE_COUNT_1_BIT, false, false);
    struct tp_graphics g = tp_make_graphics(r, &t, TP_STAGES_PLAIN, VK_NULL_HANDLE);
    VkCommandBuffer commands = tp_begin(r, ONCE);
    r->vk->CmdResetQueryPool(commands, pool, 0, 2);
    tp_target_begin(r, commands, &t, false);
    tp_bind_graphics(r, commands, &t, &g);
    tp_push_color(r, commands, &g, white, 0);
    r->vk->CmdBeginQuery(commands, pool, 0, control);
    r->vk->CmdDraw(commands, 3, 1, 0, 0);
    r->vk->CmdDraw(commands, 3, 1, 0, 0);
    r->vk->CmdEndQuery(commands, pool, 0);
    r->vk->CmdBeginQuery(commands, pool, 1, control);
    r->vk->CmdEndQuery(commands, pool, 1);
    tp_target_end(r, commands, &t);
    tp_finish(r, commands);
}

static void check_occlusion(struct tp_run *r)
{
    bool precise = r->client->caps.features.occlusionQueryPrecise;
    VkQueryPool pool = make_pool(r, VK_QUERY_TYPE_OCCLUSION, 2, 0);
    struct result results[2] = {{0, 0}};
    query_draws(r, pool, precise ? VK_QUERY_CONTROL_PRECISE_BIT : 0);
    read_results(r, pool, 2, results);
    if (r->client->options.effects != TP_EFFECTS_ALL)
        return;
    if (!results[0].value || (precise && results[0].value != 2 * SIDE * SIDE))
        tp_failed(r, "%llu samples of two draws, where %u is right",
                  (unsigned long long)results[0].value, 2 * SIDE * SIDE);
    if (results[1].value)
        tp_failed(r, "%llu samples without a draw", (unsigned long long)results[1].value);
}

static void check_statistics(struct tp_run *r)
{
    if (!r->client->caps.features.pipelineStatisticsQuery)
        tp_skipped(r, "queries of pipeline statistics are not offered");
    VkQueryPool pool = make_pool(r, VK_QUERY_TYPE_PIPELINE_STATISTICS, 2,
                                 VK_QUERY_PIPELINE_STATISTIC_VERTEX_SHADER_INVOCATIONS_BIT);
    struct result results[2] = {{0, 0}};
    query_draws(r, pool, 0);
    read_results(r, pool, 2, results);
    if (r->client->options.effects == TP_EFFECTS_ALL && results[0].value < 3)
        tp_failed(r, "%llu runs of the vertex shader for two triangles",
                  (unsigned long long)results[0].value);
}

static uint64_t calibrated_device_time(struct tp_run *r)
{
    VkCalibratedTimestampInfoEXT info = {
        .sType = VK_STRUCTURE_TYPE_CALIBRATED_TIMESTAMP_INFO_EXT,
        .timeDomain = VK_TIME_DOMAIN_DEVICE_EXT,
    };
    uint64_t time = 0, deviation = 0;
    TP_CALL(r, GetCalibratedTimestampsEXT, r->device, 1, &info, &time, &deviation);
    return time;
}

/* Where a driver says that it has calibrated clocks, they go. */
static void check_calibrated(struct tp_run *r)
{
    if (!r->client->caps.calibrated_timestamps)
        tp_skipped(r, "calibrated timestamps are not offered");
    VkTimeDomainEXT domains[8];
    uint32_t count = 8;
    bool device = false;
    TP_CALL(r, GetPhysicalDeviceCalibrateableTimeDomainsEXT, r->client->physical, &count,
            domains);
    for (uint32_t i = 0; i < count; i++)
        device |= domains[i] == VK_TIME_DOMAIN_DEVICE_EXT;
    if (!device)
        tp_failed(r, "none of %u time domains is the device's", count);
    uint64_t first = calibrated_device_time(r), second = calibrated_device_time(r);
    if (!first || second < first)
        tp_failed(r, "the device's clock goes from %llu to %llu", (unsigned long long)first,
                  (unsigned long long)second);
}

const struct tp_check tp_query_checks[] = {
    {"query_timestamps", "timestamps of two submits go up", check_timestamps},
    {"query_reset", "reset by the host, read, copied", check_reset},
    {"query_occlusion", "samples of two draws and of none", check_occlusion},
    {"query_statistics", "runs of the vertex shader", check_statistics},
    {"calibrated_timestamps", "the device's clock goes, where it is offered", check_calibrated},
    {0},
};
