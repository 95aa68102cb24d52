#include "factory/inspect/meta_check.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/buf.h"
#include "base/json.h"
#include "factory/inspect/bionic.h"

#define META "meta.json"

/* Of libadrenotools' tools/ADPKG.md; all of them mandatory in Strato's reader. */
const char *const tp_meta_keys[] = {
    "schemaVersion",
    "name",
    "description",
    "author",
    "packageVersion",
    "vendor",
    "driverVersion",
    "minApi",
    "libraryName",
    NULL,
};

bool tp_meta_is_known(const char *key)
{
    for (size_t i = 0; tp_meta_keys[i]; i++) {
        if (!strcmp(key, tp_meta_keys[i]))
            return true;
    }
    return false;
}

static bool is_number_key(const char *key)
{
    return !strcmp(key, "schemaVersion") || !strcmp(key, "minApi");
}

/* How deep braces and brackets are nested; texts left aside. */
static int depth_of(const char *text, size_t len)
{
    int depth = 0, most = 0;
    bool quoted = false;
    for (size_t i = 0; i < len; i++) {
        char c = text[i];
        if (quoted) {
            if (c == '\\')
                i++;
            quoted = c != '"';
        } else if (c == '"') {
            quoted = true;
        } else if (c == '{' || c == '[') {
            most = ++depth > most ? depth : most;
        } else if (c == '}' || c == ']') {
            depth--;
        }
    }
    return most;
}

int tp_meta_number(const json_t *meta, const char *key, int missing)
{
    const json_t *v = json_object_get(meta, key);
    const char *text = json_string_value(v);
    if (json_is_integer(v))
        return json_integer_value(v) > INT32_MAX || json_integer_value(v) < 0
            ? -1
            : (int)json_integer_value(v);
    if (text && *text && strlen(text) < 10 && strspn(text, "0123456789") == strlen(text))
        return atoi(text);
    return missing;
}

const char *tp_meta_folder_fault(const char *name)
{
    if (!*name)
        return "is empty";
    for (const char *p = name; *p; p++) {
        if ((unsigned char)*p < 32 || *p == 127)
            return "has a control character";
        if (*p == '/' || *p == '\\')
            return "has a slash";
    }
    return *name == '.' ? "begins with a dot" : strlen(name) > 180 ? "is too long" : NULL;
}

static void check_name(const json_t *meta, struct tp_findings *f)
{
    if (!json_is_string(json_object_get(meta, "name")))
        return;
    const char *name = tp_json_text(meta, "name"), *package = tp_json_text(meta, "packageVersion");
    const char *fault = tp_meta_folder_fault(name);
    if (fault)
        tp_findings_add(f, TP_RULE_META_NAME, META, NULL,
            "its name \"%.60s\" %s, and importers make a folder of it", name, fault);
    else if (!strcasecmp(name, "system") || !strcmp(name, "tmp") || *name == '@')
        tp_findings_add(f, TP_RULE_META_NAME, META, NULL,
            "its name \"%.60s\" stands for something else: \"System\" for the phone's own "
            "driver, \"tmp\" for where GameNative unpacks, \"@…\" for WinNative's own",
            name);
    else if (isspace((unsigned char)*name) || isspace((unsigned char)name[strlen(name) - 1]))
        tp_findings_add_as(f, TP_RULE_META_NAME, TP_SEVERITY_WARNING, META, NULL,
            "its name \"%.60s\" begins or ends with a space, which some importers cut "
            "off",
            name);
    if (*package && (fault = tp_meta_folder_fault(package)) &&
        strcmp(fault, "begins with a dot") != 0)
        tp_findings_add(f, TP_RULE_META_NAME, META, NULL,
            "its packageVersion \"%.60s\" %s, and Strato and RPCSX make a folder of name "
            "and packageVersion",
            package, fault);
}

static void check_api(const json_t *meta, int api, struct tp_findings *f)
{
    int min = tp_meta_number(meta, "minApi", -2);
    if (min == -2)
        return;
    const json_t *v = json_object_get(meta, "minApi");
    if (min < 0 && json_is_integer(v) && json_integer_value(v) > 0)
        tp_findings_add(f, TP_RULE_META_API, META, NULL,
            "its minApi is larger than readers' whole numbers are: they fail on it");
    else if (min < TP_API_FIRST)
        tp_findings_add_as(f, TP_RULE_META_API, min < 1 ? TP_SEVERITY_ERROR : TP_SEVERITY_WARNING,
            META, NULL, "its minApi is %d, and 64-bit Android began with %d", min, TP_API_FIRST);
    else if (min > TP_API_LAST)
        tp_findings_add(f, TP_RULE_META_API, META, NULL,
            "its minApi is %d, and the newest Android known here is %d: phones refuse it", min,
            TP_API_LAST);
    else if (api && min > api) {
        char *needed = tp_strdup(tp_android_name(min));
        tp_findings_add(f, TP_RULE_META_API, META,
            "take a driver for this phone's Android, or one with a lower minApi",
            "it asks for API %d (%s), and the phone has %d (%s): importers refuse it", min, needed,
            api, tp_android_name(api));
        free(needed);
    }
}

static void check_types(const json_t *meta, struct tp_findings *f)
{
    for (size_t i = 0; tp_meta_keys[i]; i++) {
        const char *key = tp_meta_keys[i];
        const json_t *v = json_object_get(meta, key);
        if (!v)
            continue;
        if (!is_number_key(key) && !json_is_string(v))
            tp_findings_add(f, TP_RULE_META_TYPE, META, NULL, "its %s is no text", key);
        else if (is_number_key(key) && !json_is_integer(v))
            tp_findings_add_as(f, TP_RULE_META_TYPE,
                tp_meta_number(meta, key, -1) < 0 ? TP_SEVERITY_ERROR : TP_SEVERITY_WARNING, META,
                NULL, "its %s is no whole number", key);
    }
    int schema = tp_meta_number(meta, "schemaVersion", 1);
    if (schema != 1)
        tp_findings_add(f, TP_RULE_META_SCHEMA, META, NULL, "its schemaVersion is %d", schema);
}

static void check_keys(const json_t *meta, bool linux_driver, struct tp_findings *f)
{
    for (size_t i = 0; tp_meta_keys[i]; i++) {
        const char *key = tp_meta_keys[i];
        /* WinNative alone imports Linux drivers, and reads these two. */
        bool wanted = !linux_driver || !strcmp(key, "name") || !strcmp(key, "libraryName");
        if (!wanted || json_object_get(meta, key))
            continue;
        const char *whom = !strcmp(key, "name") || !strcmp(key, "libraryName")
            ? "every importer wants it"
            : !strcmp(key, "schemaVersion") || !strcmp(key, "packageVersion")
            ? "Strato, RPCSX and Dolphin want it"
            : "Strato, RPCSX, Dolphin, yuzu, Citra and their successors want it";
        tp_findings_add(f, TP_RULE_META_KEY_MISSING, META, NULL, "it has no %s: %s", key, whom);
    }
    const char *key;
    json_t *v;
    json_object_foreach((json_t *)(uintptr_t)meta, key, v)
    {
        if (!linux_driver && !tp_meta_is_known(key))
            tp_findings_add(f, TP_RULE_META_KEY_UNKNOWN, META, NULL, "it has the key %.60s", key);
    }
}

/* tools/ADPKG.md: vendor is one of two, driverVersion begins with three numbers. */
static void check_adpkg(const json_t *meta, struct tp_findings *f)
{
    const char *vendor = tp_json_text(meta, "vendor"), *p = tp_json_text(meta, "driverVersion");
    if (*vendor && strcmp(vendor, "Mesa") != 0 && strcmp(vendor, "Qualcomm") != 0)
        tp_findings_add(f, TP_RULE_META_ADPKG, META, NULL,
            "its vendor is \"%.60s\", and ADPKG has Mesa and Qualcomm", vendor);
    if (!*p)
        return;
    for (int i = 0; i < 3; i++) {
        size_t digits = strspn(p, "0123456789");
        if (!digits || (i < 2 && p[digits] != '.')) {
            tp_findings_add(f, TP_RULE_META_ADPKG, META, NULL,
                "its driverVersion is \"%.60s\", and ADPKG has three numbers in front",
                tp_json_text(meta, "driverVersion"));
            return;
        }
        p += digits + (i < 2);
    }
}

/* The number of an escape, \uXXXX, at the beginning of a text; -1: there is none. */
static int escaped(const char *text)
{
    int code = 0;
    if (text[0] != '\\' || text[1] != 'u')
        return -1;
    for (int i = 2; i < 6; i++) {
        if (!isxdigit((unsigned char)text[i]))
            return -1;
        code = code << 4 | (text[i] <= '9' ? text[i] - '0' : (text[i] | 32) - 'a' + 10);
    }
    return code;
}

/*
 * What JSON allows and the reader here does not, in a text of the same length that it can read: a
 * whole number beyond 64 bits becomes one beyond 32, an escaped NUL another control character, an
 * escaped half of a surrogate pair U+FFFD. *escape: the first escape that was changed; NULL: none.
 */
static char *mend(const char *text, size_t len, const char **escape)
{
    enum { MOST_DIGITS = 18 };
    static const char large[] = "2147483648";
    char *copy = tp_calloc(len + 1, 1);
    memcpy(copy, text, len);
    bool quoted = false;
    *escape = NULL;
    for (size_t i = 0; i < len; i++) {
        size_t digits = strspn(copy + i, "0123456789");
        if (copy[i] == '"') {
            quoted = !quoted;
        } else if (!quoted && digits) {
            if (digits > MOST_DIGITS && !strchr(".eE", copy[i + digits])) {
                memset(copy + i, ' ', digits);
                memcpy(copy + i, large, sizeof large - 1);
            }
            i += digits - 1;
        } else if (quoted && copy[i] == '\\') {
            int code = escaped(copy + i), low = code < 0 ? -1 : escaped(copy + i + 6);
            bool pair = code >> 10 == 0xd800 >> 10 && low >> 10 == 0xdc00 >> 10;
            if (!pair && (!code || code >> 11 == 0xd800 >> 11)) {
                memcpy(copy + i + 2, code ? "fffd" : "0001", 4);
                *escape = *escape ? *escape : text + i;
            }
            i += pair ? 11 : 1;
        }
    }
    return copy;
}

/* The strict reading, then that of lenient readers; NULL with a finding where neither reads it. */
static json_t *parse(const char *text, size_t len, struct tp_findings *f)
{
    enum { DEEP = 8 };
    int depth = depth_of(text, len);
    if (depth > DEEP) {
        tp_findings_add(f, TP_RULE_META_DEPTH, META, NULL, "it is nested %d deep", depth);
        return NULL;
    }
    json_error_t e;
    const char *escape;
    char *mended = mend(text, len, &escape);
    if (escape)
        tp_findings_add_as(f, TP_RULE_META_SYNTAX, TP_SEVERITY_WARNING, META,
            "leave the escape out", "the escape %.6s stands for no character", escape);
    json_t *meta = json_loadb(mended, len, JSON_REJECT_DUPLICATES, &e);
    if (!meta && json_error_code(&e) == json_error_duplicate_key) {
        tp_findings_add(f, TP_RULE_META_DUPLICATE, META, NULL, "line %d: %s", e.line, e.text);
        meta = json_loadb(mended, len, 0, &e);
    } else if (!meta && json_error_code(&e) == json_error_invalid_utf8) {
        tp_findings_add(f, TP_RULE_META_ENCODING, META, NULL, "line %d is not UTF-8", e.line);
        free(mended);
        return NULL;
    }
    free(mended);
    if (!meta)
        tp_findings_add(f, TP_RULE_META_SYNTAX, META, NULL, "line %d: %s", e.line, e.text);
    else if (!json_is_object(meta)) {
        tp_findings_add(f, TP_RULE_META_SYNTAX, META, NULL, "it is no object");
        json_decref(meta);
        meta = NULL;
    }
    return meta;
}

json_t *tp_meta_check(
    const char *text, size_t len, bool linux_driver, int api, struct tp_findings *f)
{
    if (len > TP_META_MAX_BYTES) {
        tp_findings_add(f, TP_RULE_META_SIZE, META, NULL, "it has %zu bytes", len);
        if (len > 16 * TP_META_MAX_BYTES)
            return NULL;
    }
    if (len >= 3 && !memcmp(text, "\xef\xbb\xbf", 3)) {
        tp_findings_add(f, TP_RULE_META_ENCODING, META, NULL, "it begins with a byte order mark");
        text += 3;
        len -= 3;
    } else if (memchr(text, 0, len)) {
        tp_findings_add(f, TP_RULE_META_ENCODING, META, NULL, "it has NULs in it%s",
            len > 1 && (!text[0] || !text[1]) ? ": it is UTF-16" : "");
        return NULL;
    }
    json_t *meta = parse(text, len, f);
    if (!meta)
        return NULL;
    check_keys(meta, linux_driver, f);
    check_types(meta, f);
    check_name(meta, f);
    if (!linux_driver) {
        check_api(meta, api, f);
        check_adpkg(meta, f);
    }
    return meta;
}
