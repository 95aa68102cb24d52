/* Small driver archives, sound but for what a test asks to be otherwise. */
#ifndef TESTS_FACTORY_INSPECT_ARCHIVE_WRITER_H
#define TESTS_FACTORY_INSPECT_ARCHIVE_WRITER_H

#include "elf_writer.h"
#include "zip_writer.h"

#define ARCHIVE_META                                                                               \
    "{\n"                                                                                          \
    "  \"schemaVersion\": 1,\n"                                                                    \
    "  \"name\": \"Turnip 25.0.7\",\n"                                                             \
    "  \"description\": \"Turnip\",\n"                                                             \
    "  \"author\": \"somebody\",\n"                                                                \
    "  \"packageVersion\": \"1\",\n"                                                               \
    "  \"vendor\": \"Mesa\",\n"                                                                    \
    "  \"driverVersion\": \"25.0.7\",\n"                                                           \
    "  \"minApi\": 29,\n"                                                                          \
    "  \"libraryName\": \"libvulkan_freedreno.so\"\n"                                              \
    "}\n"
#define ARCHIVE_NOTE(variant)                                                                      \
    "{\"turnpike\": \"0.1.0\", \"schema\": 1, \"driver\": \"WN-25.0.7-b\", \"variant\": \"" variant \
    "\", \"target\": \"linux-arm64\", \"mesa\": \"25.0.7\", \"patches\": [{\"id\": \"driver-label\", " \
    "\"state\": \"applied\"}]}"
#define ARCHIVE_LINUX_NOTE ARCHIVE_NOTE("b")

enum { ARCHIVE_MAX_ENTRIES = 40 };

struct archive {
    const char *file_name;
    const char *meta; /* of the entry whose data is NULL at first: meta.json */
    size_t meta_len;  /* 0: up to its NUL */
    struct elf_shape elf; /* of libvulkan_freedreno.so, the second one */
    struct zip_shape entries[ARCHIVE_MAX_ENTRIES];
    size_t n;
    struct zip_ending ending;
    struct tp_buf zeros; /* see archive_add_zeros */
    bool companion;      /* the third one is a library, too */
};

/* meta.json and a driver, of another builder for Android. */
struct archive archive_android(void);
/* Our own, for Linux. */
struct archive archive_linux(void);
/* Qualcomm's driver with a library that it brings along. */
struct archive archive_qualcomm(void);

/* ARCHIVE_META with another value for that key, as JSON; NULL: without the key. Valid till the next. */
const char *archive_meta_with(const char *key, const char *value);
/* The same for Linux's. */
const char *archive_linux_meta(const char *key, const char *value);
/* A JSON text of more than 64 KiB. */
const char *archive_long_text(void);

/* One more, stored; text: its data. Returns it, to be changed. */
struct zip_shape *archive_add(struct archive *a, const char *name, const char *text);
/* One more of n bytes 0, deflated. */
void archive_add_zeros(struct archive *a, const char *name, size_t n);
void archive_remove(struct archive *a, size_t index);
void archive_swap(struct archive *a, size_t i, size_t k);

/* The file's bytes; the caller finishes the buffer. The archive is used up. */
struct tp_buf archive_write(struct archive *a);

#endif
