#include "faults.h"

#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

static const struct {
    const char *name;
    int error;
} errors[] = {
    {"EPERM", EPERM},     {"ENOENT", ENOENT},   {"EINTR", EINTR},         {"EIO", EIO},
    {"EBADF", EBADF},     {"EAGAIN", EAGAIN},   {"ENOMEM", ENOMEM},       {"EACCES", EACCES},
    {"EFAULT", EFAULT},   {"EBUSY", EBUSY},     {"ENODEV", ENODEV},       {"EINVAL", EINVAL},
    {"EMFILE", EMFILE},   {"ENOTTY", ENOTTY},   {"ENOSPC", ENOSPC},       {"EDEADLK", EDEADLK},
    {"EPROTO", EPROTO},   {"ENOSYS", ENOSYS},   {"EOPNOTSUPP", EOPNOTSUPP}, {"ETIMEDOUT", ETIMEDOUT},
    {"EEXIST", EEXIST},   {"E2BIG", E2BIG},     {"ERANGE", ERANGE},       {"ENFILE", ENFILE},
};

static const char *const sites[TP_KGSL_SITES] = {
    "any",      "alloc",       "free",  "import",   "context", "submit", "wait",
    "property", "setproperty", "fence", "timeline", "bind",    "heap",   "open",
};

int tp_kgsl_errno_of(const char *name, size_t length)
{
    for (size_t i = 0; i < sizeof errors / sizeof errors[0]; i++) {
        if (strlen(errors[i].name) == length && !strncasecmp(name, errors[i].name, length))
            return errors[i].error;
    }
    return 0;
}

const char *tp_kgsl_errno_name(int error)
{
    for (size_t i = 0; i < sizeof errors / sizeof errors[0]; i++) {
        if (errors[i].error == error)
            return errors[i].name;
    }
    return NULL;
}

/* splitmix64: a number that the seed and the call decide. */
static uint64_t mix(uint64_t x)
{
    x += UINT64_C(0x9e3779b97f4a7c15);
    x = (x ^ (x >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
    x = (x ^ (x >> 27)) * UINT64_C(0x94d049bb133111eb);
    return x ^ (x >> 31);
}

static bool is(const char *text, size_t length, const char *word)
{
    return strlen(word) == length && !strncmp(text, word, length);
}

/* Digits with a point among them; strtod would follow the locale. Answers where it ended, or NULL. */
static const char *parse_decimal(const char *text, const char *end, double *out)
{
    double value = 0, unit = 0;
    if (text == end || !isdigit((unsigned char)*text))
        return NULL;
    for (; text < end && (isdigit((unsigned char)*text) || (*text == '.' && unit == 0)); text++) {
        if (*text == '.') {
            unit = 1;
            continue;
        }
        unit /= 10;
        value = unit > 0 ? value + unit * (*text - '0') : value * 10 + (*text - '0');
    }
    *out = value;
    return text;
}

static int parse_time(const char *text, size_t length, int64_t *ns)
{
    static const struct {
        const char *unit;
        double ns;
    } units[] = {{"ns", 1}, {"us", 1e3}, {"ms", 1e6}, {"s", 1e9}};
    double n;
    const char *end = parse_decimal(text, text + length, &n);
    if (!end)
        return -EINVAL;
    for (size_t i = 0; i < sizeof units / sizeof units[0]; i++) {
        if (is(end, (size_t)(text + length - end), units[i].unit)) {
            n *= units[i].ns;
            if (n > 60e9)
                return -EINVAL;
            *ns = (int64_t)n;
            return 0;
        }
    }
    return -EINVAL;
}

static int parse_when(const char *text, size_t length, struct tp_kgsl_faults *f)
{
    char *end;
    if (!length || !isdigit((unsigned char)*text))
        return -EINVAL;
    if (memchr(text, '.', length)) {
        const char *stop = parse_decimal(text, text + length, &f->items[f->count].probability);
        return stop == text + length && f->items[f->count].probability <= 1 ? 0 : -EINVAL;
    }
    errno = 0;
    f->items[f->count].call = strtoull(text, &end, 10);
    if (errno || !f->items[f->count].call)
        return -EINVAL;
    if (end < text + length && *end == '+') {
        f->items[f->count].onwards = true;
        end++;
    }
    return end == text + length ? 0 : -EINVAL;
}

/* WHAT of an item: what happens, and where when nothing is said. */
static int parse_what(const char *text, size_t length, struct tp_kgsl_faults *f)
{
    if (is(text, length, "lost") || is(text, length, "hang")) {
        f->items[f->count].what = *text == 'l' ? TP_KGSL_FAULT_LOST : TP_KGSL_FAULT_HANG;
        f->items[f->count].site = TP_KGSL_SITE_SUBMIT;
        return 0;
    }
    if (is(text, length, "refuse-setproperty")) {
        f->items[f->count].error = EINVAL;
        f->items[f->count].site = TP_KGSL_SITE_SETPROPERTY;
        return 0;
    }
    f->items[f->count].error = tp_kgsl_errno_of(text, length);
    return f->items[f->count].error ? 0 : -EINVAL;
}

static int parse_item(const char *text, size_t length, struct tp_kgsl_faults *f)
{
    const char *colon = memchr(text, ':', length);
    size_t name = colon ? (size_t)(colon - text) : length;
    size_t when = colon ? length - name - 1 : 0;
    if (is(text, name, "slow"))
        return colon ? parse_time(colon + 1, when, &f->slow_ns) : -EINVAL;
    if (is(text, name, "seed")) {
        char *end = NULL;
        if (colon && isdigit((unsigned char)colon[1]))
            f->seed = strtoull(colon + 1, &end, 0);
        return end == text + length ? 0 : -EINVAL;
    }
    if (f->count == TP_KGSL_FAULTS_MAX)
        return -E2BIG;
    memset(&f->items[f->count], 0, sizeof f->items[0]);
    const char *at = memchr(text, '@', name);
    size_t what = at ? (size_t)(at - text) : name;
    int r = parse_what(text, what, f);
    if (r)
        return r;
    if (at) {
        enum tp_kgsl_site site = TP_KGSL_SITES;
        for (size_t i = 0; i < TP_KGSL_SITES; i++) {
            if (is(at + 1, name - what - 1, sites[i]))
                site = (enum tp_kgsl_site)i;
        }
        bool fits = f->items[f->count].what == TP_KGSL_FAULT_ERRNO || site == TP_KGSL_SITE_SUBMIT;
        if (site == TP_KGSL_SITES || !fits)
            return -EINVAL;
        f->items[f->count].site = site;
    }
    if (colon) {
        r = parse_when(colon + 1, when, f);
    } else {
        f->items[f->count].call = 1;
        f->items[f->count].onwards = true;
    }
    if (!r)
        f->count++;
    return r;
}

int tp_kgsl_faults_parse(struct tp_kgsl_faults *f, const char *text, const char **bad)
{
    memset(f, 0, sizeof *f);
    while (text && *text) {
        size_t n = strcspn(text, ",");
        int r = parse_item(text, n, f);
        if (r) {
            if (bad)
                *bad = text;
            return r;
        }
        text += n;
        text += *text == ',';
    }
    return 0;
}

static bool strikes(const struct tp_kgsl_faults *f, size_t i, enum tp_kgsl_site site)
{
    bool any = f->items[i].site == TP_KGSL_SITE_ANY;
    if (any ? site == TP_KGSL_SITE_OPEN : f->items[i].site != site)
        return false;
    uint64_t call = f->calls[any ? TP_KGSL_SITE_ANY : site];
    if (f->items[i].call)
        return call == f->items[i].call || (f->items[i].onwards && call > f->items[i].call);
    uint64_t random = mix(mix(f->seed + i) ^ (call << 8) ^ (uint64_t)(any ? 0 : site));
    return (double)(random >> 11) * 0x1p-53 < f->items[i].probability;
}

struct tp_kgsl_verdict tp_kgsl_faults_next(struct tp_kgsl_faults *f, enum tp_kgsl_site site)
{
    struct tp_kgsl_verdict v = {0};
    f->calls[TP_KGSL_SITE_ANY]++;
    if (site != TP_KGSL_SITE_ANY)
        f->calls[site]++;
    for (size_t i = 0; i < f->count; i++) {
        if (!strikes(f, i, site))
            continue;
        v.lost |= f->items[i].what == TP_KGSL_FAULT_LOST;
        v.hang |= f->items[i].what == TP_KGSL_FAULT_HANG;
        if (f->items[i].what == TP_KGSL_FAULT_ERRNO && !v.error)
            v.error = -f->items[i].error;
    }
    return v;
}

void tp_kgsl_faults_random(uint64_t seed, char *out, size_t size)
{
    /* most: about how many such calls a client makes that tries all of Vulkan once (`turnpike prove`);
     * early ones are struck more often, since more follows from them. */
    static const struct {
        const char *form;
        unsigned most;
    } forms[] = {
        {"enomem@alloc:%u", 540},    {"enomem@alloc:%u", 540},   {"enomem@alloc:%u+", 540},
        {"enomem@alloc:0.0%u", 9},   {"enomem@alloc:0.%u", 9},   {"eintr:0.%u", 9},
        {"eagain@submit:0.%u", 9},   {"eintr@wait:0.%u", 9},     {"enomem@context:%u", 3},
        {"lost@submit:%u", 110},     {"hang@submit:%u", 110},    {"einval@submit:%u", 110},
        {"enomem@submit:%u+", 110},  {"etimedout@wait:%u", 120}, {"eio@property:%u", 80},
        {"eio@property:%u+", 80},    {"einval@setproperty:%u", 3}, {"refuse-setproperty", 0},
        {"slow:%ums", 20},           {"enomem@import:%u", 6},    {"enomem@heap:%u", 4},
        {"emfile@fence:%u", 8},      {"emfile@fence:%u+", 8},    {"enodev@open:%u", 3},
    };
    size_t used = 0;
    uint32_t taken = 0;
    uint64_t r = mix(seed);
    size_t count = 1 + r % 3, all = sizeof forms / sizeof forms[0];
    used += (size_t)snprintf(out, size, "seed:%llu", (unsigned long long)(seed & 0xffffff));
    for (size_t i = 0; i < count && used < size; i++) {
        r = mix(r);
        char item[40];
        /* Each form once: two storms of interruptions together would hardly let anything through. */
        size_t k = r % all;
        while (taken >> k & 1)
            k = (k + 1) % all;
        taken |= UINT32_C(1) << k;
        unsigned most = forms[k].most > 7 && (r >> 20 & 1) ? 7 : forms[k].most;
        unsigned n = 1 + (unsigned)((r >> 32) % (most ? most : 1));
        const char *form = forms[k].form, *hole = strchr(form, '%');
        if (hole)
            snprintf(item, sizeof item, "%.*s%u%s", (int)(hole - form), form, n, hole + 2);
        else
            snprintf(item, sizeof item, "%s", form);
        used += (size_t)snprintf(out + used, size - used, ",%s", item);
    }
}
