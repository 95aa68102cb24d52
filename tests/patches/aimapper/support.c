#include "support.h"

#include <dirent.h>
#include <dlfcn.h>
#include <limits.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

static struct backend *listening;

static void listen_to(const char *line)
{
    size_t used = strlen(listening->lines);
    snprintf(listening->lines + used, sizeof(listening->lines) - used, "%s\n", line);
}

static unsigned count_fds(void)
{
    unsigned count = 0;
    DIR *folder = opendir("/proc/self/fd");
    assert_non_null(folder);
    while (readdir(folder))
        count++;
    closedir(folder);
    return count;
}

const char *double_folder(void)
{
    const char *folder = getenv("TP_DOUBLE");
    assert_non_null(folder);
    return folder;
}

void backend_open(struct backend *b, const char *folder)
{
    *b = (struct backend){.fds = count_fds()};
    listening = b;
    b->module = dlopen(getenv("TP_BACKEND"), RTLD_LOCAL | RTLD_NOW);
    assert_non_null(b->module);
    b->create =
        (struct u_gralloc * (*)(void))(uintptr_t)dlsym(b->module, "u_gralloc_aimapper_create");
    void (**log)(const char *) = dlsym(b->module, "standin_log");
    assert_true(b->create && log);
    *log = listen_to;
    if (!folder)
        return;
    snprintf(b->path, sizeof(b->path), "%s/libvndksupport.so", folder);
    b->support = dlopen(b->path, RTLD_LOCAL | RTLD_NOW);
    assert_non_null(b->support);
    b->take = (struct double_counts(*)(void))(uintptr_t)dlsym(b->support, "double_counts_take");
    assert_non_null(b->take);
    b->take();
}

/* The backend keeps what it found for the process's life, which is the test's here. */
static void unload_rest(struct backend *b)
{
    void (*unload)(void) = (void (*)(void))(uintptr_t)dlsym(b->support, "double_unload_rest");
    assert_non_null(unload);
    unload();
    for (void *again; (again = dlopen(b->path, RTLD_LAZY | RTLD_NOLOAD));) {
        dlclose(again);
        dlclose(again);
    }
}

void backend_close(struct backend *b)
{
    dlclose(b->module);
    if (b->support)
        unload_rest(b);
    assert_int_equal(count_fds(), b->fds);
}

bool is_loaded(const char *folder, const char *file)
{
    char path[PATH_MAX];
    snprintf(path, sizeof(path), "%s/%s", folder, file);
    void *library = dlopen(path, RTLD_LAZY | RTLD_NOLOAD);
    if (library)
        dlclose(library);
    return library;
}

struct u_gralloc *backend_create(struct backend *b, const char *setting)
{
    setenv("TURNPIKE_MAPPER", setting, 1);
    return b->create();
}

unsigned backend_logged(const struct backend *b, const char *text)
{
    unsigned count = 0;
    for (const char *at = b->lines; (at = strstr(at, text)); at += strlen(text))
        count++;
    return count;
}

int backend_setup(void **state)
{
    static struct backend b;
    char folder[] = "/tmp/aimapper-test.XXXXXX";
    assert_non_null(mkdtemp(folder));
    assert_int_equal(chdir(folder), 0);
    unsetenv("TURNPIKE_MAPPER");
    unsetenv("TURNPIKE_MAPPER_DIR");
    unsetenv("TURNPIKE_MAPPER_PATHS");
    backend_open(&b, double_folder());
    *state = &b;
    return 0;
}

static void remove_all(const char *folder)
{
    char path[PATH_MAX];
    DIR *dir = opendir(folder);
    if (!dir)
        return;
    for (struct dirent *entry; (entry = readdir(dir));) {
        snprintf(path, sizeof(path), "%s/%s", folder, entry->d_name);
        unlink(path);
    }
    closedir(dir);
    rmdir(folder);
}

int backend_teardown(void **state)
{
    char folder[PATH_MAX];
    backend_close(*state);
    assert_non_null(getcwd(folder, sizeof(folder)));
    remove_all("hw");
    remove_all("odm");
    assert_int_equal(chdir("/"), 0);
    return rmdir(folder);
}

struct buffer buffer_sized(int kind, int width, int height, int format)
{
    struct buffer b = {0};
    b.ints[0] = sizeof(native_handle_t);
    b.ints[1] = DOUBLE_FDS;
    b.ints[2] = DOUBLE_INTS;
    b.ints[3] = FIRST_FD;
    b.ints[4] = SECOND_FD;
    double_fill(b.ints + 3 + DOUBLE_FDS, kind, width, height, format, DOUBLE_GPU_USAGE);
    b.hnd.hal_format = format;
    b.hnd.pixel_stride = b.ints[3 + DOUBLE_FDS + DOUBLE_PADDED_WIDTH];
    return b;
}

struct buffer buffer_make(int kind)
{
    return buffer_sized(kind, 1216, 2688, double_format_of(kind));
}

struct u_gralloc_buffer_handle *buffer_handle(struct buffer *buffer)
{
    buffer->hnd.handle = (const native_handle_t *)buffer->ints;
    return &buffer->hnd;
}

int ask(struct u_gralloc *gr, struct buffer *buffer, struct u_gralloc_buffer_basic_info *out)
{
    *out = (struct u_gralloc_buffer_basic_info){0};
    return gr->ops.get_buffer_basic_info(gr, buffer_handle(buffer), out);
}
