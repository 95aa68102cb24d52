#include "archive_writer.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define DRIVER "libvulkan_freedreno.so"

static const char linux_meta[] = "{\n"
                                 "  \"schemaVersion\": 1,\n"
                                 "  \"name\": \"WN-Linux-Turnip-25.0.7-b Axxx\",\n"
                                 "  \"description\": \"Turnip\",\n"
                                 "  \"author\": \"WinNative\",\n"
                                 "  \"packageVersion\": \"1\",\n"
                                 "  \"vendor\": \"Mesa\",\n"
                                 "  \"driverVersion\": \"WN-25.0.7-b\",\n"
                                 "  \"libraryName\": \"libvulkan_freedreno.so\",\n"
                                 "  \"platform\": \"linux\",\n"
                                 "  \"architecture\": \"aarch64\",\n"
                                 "  \"libc\": \"glibc\",\n"
                                 "  \"variant\": \"b\",\n"
                                 "  \"mesaVersion\": \"25.0.7\",\n"
                                 "  \"librarySha256\": \"\"\n"
                                 "}\n";

struct archive archive_android(void)
{
    return (struct archive){
        .file_name = "Turnip-25.0.7.zip",
        .meta = ARCHIVE_META,
        .elf = elf_android(),
        .entries = {{.name = "meta.json"}, {.name = DRIVER}},
        .n = 2,
    };
}

struct archive archive_linux(void)
{
    struct archive a = archive_android();
    a.file_name = "WN-Linux-Turnip-25.0.7-b_Axxx.zip";
    a.meta = linux_meta;
    a.elf = elf_linux();
    a.elf.note = ARCHIVE_LINUX_NOTE;
    return a;
}

struct archive archive_qualcomm(void)
{
    struct archive a = archive_android();
    a.file_name = "v615.zip";
    a.meta = archive_meta_with("\"vendor\"", "\"Qualcomm\"");
    a.companion = true;
    archive_add(&a, "notgsl.so", "");
    return a;
}

/* The text with another value for the key: what stands between its colon and the line's end. */
static const char *with(const char *text, const char *key, const char *value)
{
    static char out[200000];
    const char *at = strstr(text, key), *end = at ? strchr(at, '\n') : NULL;
    if (!end)
        abort();
    const char *tail = end[-1] == ',' ? end - 1 : end;
    if (value)
        snprintf(out, sizeof out, "%.*s%s: %s%s", (int)(at - text), text, key, value, tail);
    else
        snprintf(out, sizeof out, "%.*s%s", (int)(at - text), text, end + 1);
    return out;
}

const char *archive_meta_with(const char *key, const char *value)
{
    return with(ARCHIVE_META, key, value);
}

const char *archive_linux_meta(const char *key, const char *value)
{
    return with(linux_meta, key, value);
}

const char *archive_long_text(void)
{
    static char text[(64 << 10) + 8];
    memset(text, 'x', sizeof text - 1);
    text[0] = text[sizeof text - 2] = '"';
    return text;
}

struct zip_shape *archive_add(struct archive *a, const char *name, const char *text)
{
    if (a->n == ARCHIVE_MAX_ENTRIES)
        abort();
    a->entries[a->n] = (struct zip_shape){.name = name, .data = text, .len = strlen(text)};
    return &a->entries[a->n++];
}

void archive_add_zeros(struct archive *a, const char *name, size_t n)
{
    void *zeros = tp_calloc(n, 1);
    tp_buf_add(&a->zeros, zeros, n);
    free(zeros);
    struct zip_shape *e = archive_add(a, name, "");
    e->data = a->zeros.data;
    e->len = n;
    e->deflated = true;
}

void archive_remove(struct archive *a, size_t index)
{
    memmove(
        &a->entries[index], &a->entries[index + 1], (a->n - index - 1) * sizeof a->entries[index]);
    a->n--;
}

void archive_swap(struct archive *a, size_t i, size_t k)
{
    struct zip_shape e = a->entries[i];
    a->entries[i] = a->entries[k];
    a->entries[k] = e;
}

struct tp_buf archive_write(struct archive *a)
{
    struct tp_buf driver = elf_write(&a->elf), other = {0};
    if (a->companion) {
        struct elf_shape shape = elf_android();
        shape.soname = "notgsl.so";
        other = elf_write(&shape);
    }
    struct zip_writer w = {0};
    for (size_t i = 0; i < a->n; i++) {
        struct zip_shape e = a->entries[i];
        if (!e.data) {
            bool library = strstr(e.name, ".so") != NULL;
            e.data = library ? driver.data : a->meta;
            e.len = library ? driver.len : a->meta_len ? a->meta_len : strlen(a->meta);
        } else if (a->companion && i == 2) {
            e.data = other.data;
            e.len = other.len;
        }
        zip_add(&w, &e);
    }
    tp_buf_finish(&driver);
    tp_buf_finish(&other);
    tp_buf_finish(&a->zeros);
    return zip_end(&w, &a->ending);
}
