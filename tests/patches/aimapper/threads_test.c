/* Many threads that create, ask and destroy at once: a process has one mapper all the same. Made
 * with a data race detector by threads.test.sh. Environment: TP_DOUBLE, as in support.h. */
#include <dlfcn.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "double/buffer.h"
#include "double/counts.h"
#include "u_gralloc_internal.h"
#include "util/log.h"

#define THREADS 16
#define ROUNDS 200

static unsigned created, collapsed;
static int failed;

static void count_line(const char *line)
{
    if (!strcmp(line, "Using IMapper v5 stable-C API via SP-HAL"))
        __atomic_add_fetch(&created, 1, __ATOMIC_RELAXED);
    else if (strstr(line, "collapsing to 1 compressed plane"))
        __atomic_add_fetch(&collapsed, 1, __ATOMIC_RELAXED);
}

static void expect(int holds, const char *what)
{
    if (!holds) {
        fprintf(stderr, "not so: %s\n", what);
        __atomic_store_n(&failed, 1, __ATOMIC_RELAXED);
    }
}

static void ask_once(struct u_gralloc *gr, int kind)
{
    int32_t ints[3 + DOUBLE_FDS + DOUBLE_INTS] = {12, DOUBLE_FDS, DOUBLE_INTS};
    struct u_gralloc_buffer_handle hnd = {(native_handle_t *)ints, DOUBLE_RGBA_8888, 0};
    struct u_gralloc_buffer_basic_info basic = {0};
    struct u_gralloc_buffer_color_info color = {0};
    double_fill(ints + 3 + DOUBLE_FDS, kind, 1216, 2688, DOUBLE_RGBA_8888, 0);
    expect(!gr->ops.get_buffer_basic_info(gr, &hnd, &basic), "a buffer has a layout");
    expect(basic.num_planes == 1 && basic.strides[0] == 4864, "and it is the one");
    expect((basic.modifier == 0) == (kind == DOUBLE_LINEAR), "and compressed, or not");
    expect(!gr->ops.get_buffer_color_info(gr, &hnd, &color), "a buffer has colours");
}

static void *work(void *seed)
{
    static const int kinds[] = {
        DOUBLE_QTI_840, DOUBLE_QTI, DOUBLE_LINEAR, DOUBLE_QTI_MODIFIER, DOUBLE_LONG};
    for (unsigned i = 0; i < ROUNDS; i++) {
        struct u_gralloc *gr = u_gralloc_aimapper_create();
        expect(gr != NULL, "there is a mapper");
        if (!gr)
            break;
        ask_once(gr, kinds[((uintptr_t)seed + i) % 5]);
        gr->ops.destroy(gr);
    }
    return NULL;
}

int main(void)
{
    pthread_t threads[THREADS];
    char path[4096];
    snprintf(path, sizeof(path), "%s/libvndksupport.so", getenv("TP_DOUBLE"));
    void *support = dlopen(path, RTLD_LOCAL | RTLD_NOW);
    struct double_counts (*take)(void) = support
        ? (struct double_counts(*)(void))(uintptr_t)dlsym(support, "double_counts_take")
        : NULL;
    if (!take)
        return 2;
    standin_log = count_line;
    for (uintptr_t i = 0; i < THREADS; i++) {
        if (pthread_create(&threads[i], NULL, work, (void *)i))
            return 2;
    }
    for (int i = 0; i < THREADS; i++)
        pthread_join(threads[i], NULL);
    struct double_counts counts = take();
    expect(counts.loads == 1 && counts.unloads == 0, "one mapper was loaded, and stays");
    expect(created == THREADS * ROUNDS, "each creation was told");
    expect(collapsed == 3, "each of three kinds of evidence was told once");
    return failed;
}
