/* For the scripts beside it: writes archives of every sort into a folder; runs a program and
 * measures it; inspects a file cut off anywhere; prints the tables of docs/archives.md. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "archive_writer.h"
#include "base/fs.h"
#include "factory/inspect/importers.h"
#include "factory/inspect/inspect.h"

static void write_out(const char *folder, const char *name, struct tp_buf bytes)
{
    char *path = tp_join(folder, name);
    struct tp_error e = {0};
    if (tp_write_file(path, tp_buf_str(&bytes), bytes.len, 0644, &e)) {
        fprintf(stderr, "%s: %s\n", e.where, e.what);
        exit(1);
    }
    free(path);
    tp_buf_finish(&bytes);
}

static struct tp_buf many(void)
{
    struct zip_writer w = {0};
    for (int i = 0; i < 100000; i++) {
        char name[16];
        snprintf(name, sizeof name, "f%d.so", i);
        zip_add(&w, &(struct zip_shape){.name = name, .data = "x", .len = 1});
    }
    return zip_end(&w, &(struct zip_ending){.wide = true});
}

/* 70000 entries with names of 600 bytes that differ in the last ones alone. */
static struct tp_buf long_names(void)
{
    struct zip_writer w = {0};
    char name[608];
    memset(name, 'n', sizeof name);
    for (int i = 0; i < 70000; i++) {
        snprintf(name + 600, sizeof name - 600, "%06d", i);
        zip_add(&w, &(struct zip_shape){.name = name});
    }
    return zip_end(&w, NULL);
}

static struct tp_buf overlap(void)
{
    enum { EACH = 8 << 20 };
    void *zeros = tp_calloc(EACH, 1);
    struct zip_writer w = {0};
    for (int i = 0; i < 10000; i++) {
        char name[16];
        snprintf(name, sizeof name, "e%d.so", i);
        zip_add(&w,
            &(struct zip_shape){.name = name,
                .data = i ? NULL : zeros,
                .len = i ? 0 : EACH,
                .deflated = true,
                .same_place = i > 0});
    }
    free(zeros);
    return zip_end(&w, NULL);
}

/* A library that is as large as is looked into, packed to its own size. */
static struct tp_buf largest(void)
{
    enum { LEN = 94 << 20 };
    struct elf_shape shape = elf_android();
    struct tp_buf driver = elf_write(&shape);
    char *bytes = tp_calloc(LEN, 1);
    for (size_t i = 0; i < LEN; i += 8)
        memcpy(bytes + i, &(uint64_t){i * 0x9e3779b97f4a7c15u}, 8);
    memcpy(bytes, driver.data, driver.len);
    struct zip_writer w = {0};
    zip_add(&w,
        &(struct zip_shape){
            .name = "meta.json", .data = ARCHIVE_META, .len = strlen(ARCHIVE_META)});
    zip_add(&w,
        &(struct zip_shape){
            .name = "libvulkan_freedreno.so", .data = bytes, .len = LEN, .blocks = true});
    free(bytes);
    tp_buf_finish(&driver);
    return zip_end(&w, NULL);
}

/* 32 libraries of 90 MiB each, which are next to nothing when packed. */
static struct tp_buf libraries(void)
{
    enum { LEN = 90 << 20 };
    struct tp_buf packed = zip_zeros(LEN);
    char *zeros = tp_calloc(LEN, 1);
    struct zip_writer w = {0};
    for (int i = 0; i < 32; i++) {
        char name[16];
        snprintf(name, sizeof name, "f%d.so", i);
        zip_add(
            &w, &(struct zip_shape){.name = name, .data = zeros, .len = LEN, .packed = &packed});
    }
    free(zeros);
    tp_buf_finish(&packed);
    return zip_end(&w, NULL);
}

static int make(const char *folder)
{
    struct archive a = archive_android();
    write_out(folder, "android.zip", archive_write(&a));
    a = archive_linux();
    write_out(folder, a.file_name, archive_write(&a));
    a = archive_qualcomm();
    write_out(folder, "qualcomm.zip", archive_write(&a));
    a = archive_android();
    archive_add_zeros(&a, "zeros", (size_t)1 << 30);
    write_out(folder, "bomb.zip", archive_write(&a));
    a = archive_android();
    a.meta = archive_meta_with("\"author\"", "\"a\", \"homepage\": \"\\u001b[31mx\"");
    write_out(folder, "unknown-key.zip", archive_write(&a));
    a = archive_android();
    archive_add(&a, "../\x1b[31mx", "x");
    write_out(folder, "path.zip", archive_write(&a));
    a = archive_android();
    a.meta = archive_meta_with("\"name\"", "\"x\\n  gamenative   yes\"");
    archive_add(&a, "x\n  gamenative   yes", "x");
    write_out(folder, "forged.zip", archive_write(&a));
    a = archive_android();
    a.elf.machine = EM_X86_64;
    a.elf.needed[0] = "libc.so.6";
    a.elf.note = "{\"turnpike\": \"0.1.0\", \"schema\": 1, \"driver\": \"25.0.7\", \"variant\": \"b\", "
                 "\"target\": \"host-android\", \"mesa\": \"25.0.7\", \"patches\": []}";
    write_out(folder, "host.zip", archive_write(&a));
    a = archive_android();
    archive_add_zeros(&a, "libother.so", (size_t)97 << 20);
    write_out(folder, "unread.zip", archive_write(&a));
    a = archive_android();
    struct tp_buf cut = archive_write(&a);
    cut.len -= 30;
    write_out(folder, "cut.zip", cut);
    struct elf_shape shape = elf_android();
    write_out(folder, "libvulkan_freedreno.so", elf_write(&shape));
    write_out(folder, "many.zip", many());
    write_out(folder, "long-names.zip", long_names());
    write_out(folder, "overlap.zip", overlap());
    write_out(folder, "largest.zip", largest());
    write_out(folder, "libraries.zip", libraries());
    return 0;
}

/* Runs the program; 0 where it ended by itself within the bounds. */
static int measure(int seconds, long mib, char **argv)
{
    struct rusage used;
    int status;
    pid_t pid = fork();
    if (!pid) {
        execv(argv[0], argv);
        _exit(127);
    }
    if (pid < 0 || wait4(pid, &status, 0, &used) != pid)
        return 1;
    double took = (double)(used.ru_utime.tv_sec + used.ru_stime.tv_sec) +
        (double)(used.ru_utime.tv_usec + used.ru_stime.tv_usec) / 1e6;
    fprintf(stderr, "%.2f s, %ld MiB\n", took, used.ru_maxrss >> 10);
    if (!WIFEXITED(status) || WEXITSTATUS(status) > 1)
        return 1;
    return took > seconds || used.ru_maxrss >> 10 > mib;
}

#ifdef __SANITIZE_ADDRESS__
void __asan_poison_memory_region(void const volatile *at, size_t n);
void __asan_unpoison_memory_region(void const volatile *at, size_t n);
#else
#define __asan_poison_memory_region(at, n) (void)(at)
#define __asan_unpoison_memory_region(at, n) (void)(at)
#endif

/* Inspects the file cut off at every byte, from the last one on; what is cut off cannot be read
 * without the sanitizer's notice. 0 where each is one error. */
static int cut(const char *path)
{
    struct tp_buf whole = {0};
    struct tp_error e = {0};
    if (tp_read_file(path, 0, &whole, &e)) {
        fprintf(stderr, "%s: %s\n", e.where, e.what);
        return 1;
    }
    size_t wrong = 0;
    for (size_t n = whole.len; n-- > 0;) {
        struct tp_inspection found = {0};
        __asan_poison_memory_region(whole.data + n, whole.len - n < 64 ? whole.len - n : 64);
        tp_inspect_memory(whole.data, n, "x.zip", 0, &found);
        if (found.findings.n != 1 || found.findings.list[0].severity != TP_SEVERITY_ERROR)
            wrong++;
        tp_inspection_finish(&found);
    }
    __asan_unpoison_memory_region(whole.data, whole.len);
    printf("%zu cuts, %zu of them not one error\n", whole.len, wrong);
    tp_buf_finish(&whole);
    return wrong > 0;
}

static void print_rules(void)
{
    puts("| name | | what holds | where it does not |\n|---|---|---|---|");
    for (int i = 0; i < TP_RULES; i++) {
        const struct tp_rule *r = tp_rule_of((enum tp_rule_id)i);
        printf("| `%s` | %s | %s | %s |\n", r->id, tp_severity_name(r->severity), r->holds,
            r->why ? r->why : "the finding says what happens, and where");
    }
}

static void print_importers(void)
{
    puts("| `--importer` | apps | platforms | its rules are read in |\n|---|---|---|---|");
    for (const struct tp_importer *i = tp_importers; i->name; i++)
        printf("| `%s` | %s | Android%s | %s |\n", i->name, i->title, i->linux_too ? ", Linux" : "",
            i->source);
}

int main(int argc, char **argv)
{
    if (argc == 3 && !strcmp(argv[1], "cut"))
        return cut(argv[2]);
    if (argc == 3 && !strcmp(argv[1], "table")) {
        (strcmp(argv[2], "rules") ? print_importers : print_rules)();
        return 0;
    }
    if (argc == 3 && !strcmp(argv[1], "make"))
        return make(argv[2]);
    if (argc > 4 && !strcmp(argv[1], "measure"))
        return measure(atoi(argv[2]), atol(argv[3]), argv + 4);
    fputs("usage: archive_tool make FOLDER | measure SECONDS MIB PROGRAM … | cut FILE |\n"
          "       table NAME\n",
        stderr);
    return 2;
}
