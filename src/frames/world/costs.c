#include "frames/world/costs.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"

#define MOST_US 10000000

static void add_whole(struct tp_costs *c, int64_t us)
{
    TP_PUSH(c->at, c->n, c->cap) =
        (struct tp_world_cost){.cpu_ns = us * 400, .gpu_ns = us * 1000 - us * 400};
}

/* A whole number up to end; -1: there is none, or it is too large. */
static int64_t number(const char **at, const char *end)
{
    int64_t n = 0;
    const char *from = *at;
    for (; *at < end && **at >= '0' && **at <= '9'; ++*at) {
        n = n * 10 + (**at - '0');
        if (n > MOST_US)
            return -1;
    }
    return *at > from ? n : -1;
}

int tp_costs_parse(const char *text, struct tp_costs *out, struct tp_error *e)
{
    const char *at = text, *end = text + strlen(text);
    *out = (struct tp_costs){0};
    for (;; at++) {
        int64_t first = number(&at, end), second = 0;
        bool parts = first >= 0 && *at == '+';
        if (parts) {
            at++;
            second = number(&at, end);
        }
        if (first < 0 || second < 0 || first + second > MOST_US || (*at != ',' && *at != 0)) {
            tp_costs_finish(out);
            return tp_fail(e, TP_STATUS_INPUT, -EINVAL, NULL,
                "Give microseconds, as 8000 or 3000+5000, up to 10000000 each, several with commas",
                "'%s' is no cost of a frame", text);
        }
        if (parts)
            TP_PUSH(out->at, out->n, out->cap) =
                (struct tp_world_cost){.cpu_ns = first * 1000, .gpu_ns = second * 1000};
        else
            add_whole(out, first);
        if (*at == 0)
            return 0;
    }
}

static bool is_blank(char c)
{
    return c == ' ' || c == '\t' || c == '\r';
}

static int refuse_line(struct tp_costs *out, const char *where, unsigned line, struct tp_error *e)
{
    char place[512];
    tp_costs_finish(out);
    snprintf(place, sizeof place, "%s:%u", where, line);
    return tp_fail(e, TP_STATUS_INPUT, -EINVAL, place,
        "A trace has one whole number of microseconds a line, up to 10000000, and comments after #",
        "the line is no frame's cost");
}

static int refuse_length(struct tp_costs *out, const char *where, struct tp_error *e)
{
    tp_costs_finish(out);
    return tp_fail(e, TP_STATUS_INPUT, -EINVAL, where, "Leave some out",
        "a trace has up to %u frames, and this one has more", TP_COSTS_MOST);
}

/* What a line has before a comment, with no blanks around it. */
static void trim(const char **from, const char **end)
{
    const char *comment = memchr(*from, '#', (size_t)(*end - *from));
    if (comment)
        *end = comment;
    while (*from < *end && is_blank(**from))
        ++*from;
    while (*end > *from && is_blank((*end)[-1]))
        --*end;
}

int tp_costs_read(
    const char *text, size_t bytes, const char *where, struct tp_costs *out, struct tp_error *e)
{
    *out = (struct tp_costs){0};
    unsigned line = 0;
    for (size_t at = 0; at < bytes;) {
        const char *from = text + at, *end = memchr(from, '\n', bytes - at);
        if (!end)
            end = text + bytes;
        at = (size_t)(end - text) + 1;
        line++;
        trim(&from, &end);
        if (from == end)
            continue;
        int64_t us = number(&from, end);
        if (us < 0 || from != end)
            return refuse_line(out, where, line, e);
        if (out->n == TP_COSTS_MOST)
            return refuse_length(out, where, e);
        add_whole(out, us);
    }
    if (out->n == 0)
        return tp_fail(e, TP_STATUS_INPUT, -EINVAL, where,
            "A trace has one whole number of microseconds a line", "there is no frame in it");
    return 0;
}

void tp_costs_finish(struct tp_costs *c)
{
    free(c->at);
    *c = (struct tp_costs){0};
}
