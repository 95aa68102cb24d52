#include "report/doctor/told.h"

#include <string.h>
#include <strings.h>

/* --- drivers --- */

/* As Turnip's builders, Qualcomm and turnpike call them. Others are known by libadrenotools' line
 * alone: many apps have libraries of their own with "vulkan" in the name. */
static const char *const drivers[] = {
    "libvulkan_freedreno", "libvulkan_turnpike", "vulkan.ad", "vulkan.turnip", "vulkan.freedreno"};
static const char *const stock[] = {"/vendor/", "/system/", "/odm/", "/apex/"};

bool tp_told_is_kind(const char *kind)
{
    return !strcmp(kind, "driver") || !strcmp(kind, "stock");
}

static bool begins(const char *text, size_t len, const char *with)
{
    size_t n = strlen(with);

    return len >= n && !memcmp(text, with, n);
}

static size_t path_len(const char *path, size_t len)
{
    const char *behind = memmem(path, len, " (", 2);

    return behind ? (size_t)(behind - path) : len;
}

const char *tp_told_file(const char *path, size_t len, size_t *out)
{
    size_t n = path_len(path, len), at = n;

    while (at > 0 && path[at - 1] != '/' && path[at - 1] != '!')
        at--;
    *out = n - at;
    return path + at;
}

bool tp_told_driver(const char *path, size_t len, const char *kind)
{
    size_t n;
    const char *name = tp_told_file(path, len, &n);
    bool is = false, placed = strcmp(kind, "stock") != 0;

    for (size_t i = 0; i < sizeof drivers / sizeof *drivers; i++)
        is = is || (begins(name, n, drivers[i]) && memmem(name, n, ".so", 3));
    for (size_t i = 0; i < sizeof stock / sizeof *stock; i++)
        placed = placed || begins(path, len, stock[i]);
    return is && placed;
}

/* --- codes --- */

static bool is_word(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
}

static unsigned count(const char *line, size_t len, const char *what)
{
    const char *end = line + len;
    unsigned n = 0;

    for (const char *p = line; (p = memmem(p, (size_t)(end - p), what, strlen(what))); n++)
        p += strlen(what);
    return n;
}

/* Is one of these at the end of the text, as a word of its own? */
static bool ends_in(const char *text, size_t len, const char *const *words)
{
    for (; *words; words++) {
        size_t n = strlen(*words);
        if (len >= n && !strncasecmp(text + len - n, *words, n) &&
            (len == n || !is_word(text[len - n - 1])))
            return true;
    }
    return false;
}

/* "vkQueueSubmit failed: ", "returned ", "error (". */
static bool is_blamed(const char *line, size_t len)
{
    static const char *const links[] = {"with", "code", "result", "by", "of", NULL};
    static const char *const verbs[] = {"failed", "fails", "failure", "fail", "returned", "returns",
        "got", "error", "err", "lost", "hung", "because", NULL};

    for (int i = 0; i < 3; i++) {
        while (len > 0 && !is_word(line[len - 1]))
            len--;
        if (ends_in(line, len, verbs))
            return true;
        if (!ends_in(line, len, links))
            return false;
        while (len > 0 && is_word(line[len - 1]))
            len--;
    }
    return false;
}

static bool is_possible(const char *line, size_t len)
{
    static const char *const words[] = {"support", "possible", "handles ", "handled", "handling",
        "handler", "may be", "may return", "can be", "can return", "could return", "might",
        "list of", "known ", "ignor", "would ", "should ", "expected", "never "};

    for (size_t i = 0; i < sizeof words / sizeof *words; i++) {
        size_t n = strlen(words[i]);
        for (size_t k = 0; k + n <= len; k++) {
            if ((k == 0 || !is_word(line[k - 1])) && !strncasecmp(line + k, words[i], n))
                return true;
        }
    }
    return false;
}

bool tp_told_code(const char *line, size_t len, const char *code)
{
    size_t n = strlen(code);
    const char *end = line + len, *p = line;
    bool there = false, single = count(line, len, "VK_ERROR_") == count(line, len, code);

    for (; (p = memmem(p, (size_t)(end - p), code, n)); p += n) {
        const char *behind = p + n;
        size_t before = (size_t)(p - line);
        bool first = !there;
        there = true;
        while (behind < end && *behind == ' ')
            behind++;
        /* A line of a table of them. */
        if (behind < end && *behind == '=')
            continue;
        if (is_blamed(line, before) || (first && single && !is_possible(line, before)))
            return true;
    }
    return !there;
}
