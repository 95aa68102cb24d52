#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "factory/source/room.h"

static const char forms[] = "give auto, git[:URL][@REV], a folder, a tarball or debian[:VERSION]";

/* Where the URL's part that may hold a REV begins: behind user@host. */
static const char *behind_host(const char *url)
{
    const char *scheme = strstr(url, "://");
    if (scheme)
        return strchrnul(scheme + 3, '/');
    size_t plain = strcspn(url, "/:");
    return url[plain] == ':' ? url + plain : url;
}

/* git check-ref-format's rules, as far as they keep a revision from being anything else. */
static bool is_revision(const char *rev)
{
    if (!*rev || *rev == '-' || strstr(rev, "..") || strstr(rev, "@{"))
        return false;
    for (const char *s = rev; *s; s++) {
        if ((unsigned char)*s <= ' ' || *s == 127 || strchr("~^:?*[\\", *s))
            return false;
    }
    return true;
}

static int parse_git(const char *text, const char *rest, const char *git_url, struct tp_spec *out,
    struct tp_error *e)
{
    const char *at = strrchr(behind_host(rest), '@');
    out->url = tp_strndup(rest, at ? (size_t)(at - rest) : strlen(rest));
    out->rev = tp_strdup(at ? at + 1 : "main");
    if (!*out->url) {
        free(out->url);
        out->url = tp_strdup(git_url ? git_url : TP_SOURCE_GIT_URL);
    }
    if (!is_revision(out->rev))
        return tp_fail(e, TP_STATUS_INPUT, -EINVAL, "--mesa",
            "name a branch, a tag or a full commit behind the '@'", "'%s' is no git revision",
            out->rev);
    bool blank = false;
    for (const char *s = out->url; *s; s++)
        blank = blank || (unsigned char)*s <= ' ';
    if (*out->url == '-' || blank || strstr(out->url, "::"))
        return tp_fail(e, TP_STATUS_INPUT, -EINVAL, "--mesa",
            "give an https://, ssh:// or file:// URL or a path", "'%s' is no URL of git", text);
    /* A path would otherwise be looked up from wherever git is started. */
    if (!strstr(out->url, "://") && *behind_host(out->url) != ':') {
        char *path = tp_absolute(out->url);
        free(out->url);
        out->url = path;
    }
    return 0;
}

static int parse_path(const char *text, struct tp_spec *out, struct tp_error *e)
{
    static const char mark[] = "@sha256:";
    const char *sum = tp_exists(text) ? NULL : strstr(text, mark);
    char *path = tp_strndup(text, sum ? (size_t)(sum - text) : strlen(text));
    out->path = tp_absolute(path);
    free(path);
    if (sum) {
        sum += sizeof mark - 1;
        bool hex = strlen(sum) == TP_SHA256_HEX - 1;
        for (size_t i = 0; hex && sum[i]; i++) {
            hex = isxdigit((unsigned char)sum[i]);
            out->sha256[i] = (char)tolower((unsigned char)sum[i]);
        }
        if (!hex)
            return tp_fail(e, TP_STATUS_INPUT, -EINVAL, "--mesa",
                "give the 64 hex digits that sha256sum prints", "'%s' is no SHA-256", sum);
    }
    if (tp_is_dir(out->path)) {
        if (sum)
            return tp_fail(e, TP_STATUS_INPUT, -EISDIR, out->path, "leave @sha256 out",
                "is a folder, which has no SHA-256");
        out->kind = TP_SOURCE_DIRECTORY;
        return 0;
    }
    if (tp_is_file(out->path)) {
        out->kind = TP_SOURCE_TARBALL;
        return 0;
    }
    if (strstr(text, "://"))
        return tp_fail(e, TP_STATUS_INPUT, -EINVAL, "--mesa",
            "write git:URL for a repository; download a tarball first", "'%s' is a bare URL", text);
    if (tp_exists(out->path))
        return tp_fail(e, TP_STATUS_INPUT, -EINVAL, out->path, forms,
            "is neither a folder nor a regular file");
    return tp_fail(e, TP_STATUS_INPUT, -ENOENT, out->path, forms, "no such Mesa source");
}

/* "name", "name:rest" and, where at is set, "name@rest": the part behind name, else NULL. */
static const char *keyword(const char *text, const char *name, bool at)
{
    size_t n = strlen(name);
    if (strncmp(text, name, n))
        return NULL;
    return !text[n] || text[n] == ':' || (at && text[n] == '@') ? text + n : NULL;
}

int tp_spec_parse(const char *text, const char *git_url, struct tp_spec *out, struct tp_error *e)
{
    *out = (struct tp_spec){0};
    if (!*text)
        return tp_fail(e, TP_STATUS_INPUT, -EINVAL, "--mesa", forms, "the Mesa source is empty");
    const char *rest;
    if (!strcmp(text, "auto")) {
        out->kind = TP_SOURCE_AUTO;
        return parse_git(text, "", git_url, out, e);
    }
    if ((rest = keyword(text, "git", true))) {
        out->kind = TP_SOURCE_GIT;
        return parse_git(text, *rest == ':' ? rest + 1 : rest, git_url, out, e);
    }
    if ((rest = keyword(text, "debian", false))) {
        out->kind = TP_SOURCE_DEBIAN;
        if (!*rest)
            return 0;
        if (!isdigit((unsigned char)rest[1]) ||
            rest[1 +
                strspn(rest + 1,
                    "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
                    "0123456789.+-~:")])
            return tp_fail(e, TP_STATUS_INPUT, -EINVAL, "--mesa",
                "give one as apt-cache showsrc mesa prints it",
                "'%s' is no version of a Debian package", rest + 1);
        out->version = tp_strdup(rest + 1);
        return 0;
    }
    return parse_path(text, out, e);
}

void tp_spec_finish(struct tp_spec *s)
{
    free(s->url);
    free(s->rev);
    free(s->path);
    free(s->version);
    *s = (struct tp_spec){0};
}

char *tp_spec_public_url(const char *url)
{
    const char *scheme = strstr(url, "://");
    if (!scheme)
        return tp_strdup(url);
    const char *host = scheme + 3, *end = strchrnul(host, '/');
    const char *at = memrchr(host, '@', (size_t)(end - host));
    if (!at)
        return tp_strdup(url);
    if (!strncmp(url, "http", 4)) /* the name alone may be a token */
        return tp_asprintf("%.*s%s", (int)(host - url), url, at + 1);
    const char *colon = memchr(host, ':', (size_t)(at - host));
    return colon ? tp_asprintf("%.*s%s", (int)(colon - url), url, at) : tp_strdup(url);
}
