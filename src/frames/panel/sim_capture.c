#include "frames/panel/sim_capture.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/fs.h"
#include "base/proc.h"
#include "frames/panel/compose.h"

#define ROOM 8u                      /* frames on their way */
#define DRAIN_NS INT64_C(1000000000) /* that a pipe's reader has in the end */

struct tp_capture {
    struct tp_capture_config config;
    struct tp_lit *lit;
    int fd;       /* owned */
    bool is_file; /* of a size */
    char *temp;   /* owned; the file's name until it takes its place; NULL: it has, or is a pipe */
    char *target; /* owned; its place, links followed */
    size_t frame_bytes;
    uint8_t *frame; /* owned, the writer's: as it is written, with its head */
    pthread_t taker, writer;
    bool taking, writing;  /* the threads run */
    pthread_mutex_t mutex; /* all below */
    pthread_cond_t news;
    struct tp_image images[ROOM]; /* owned; a ring, the writer's from first on */
    unsigned first, n;
    bool stop, broken;
    int64_t stop_ns;
    struct tp_capture_counts counts;
};

/* --- taking --- */

static void drop(struct tp_capture *c, uint64_t n)
{
    pthread_mutex_lock(&c->mutex);
    c->counts.dropped += n;
    pthread_mutex_unlock(&c->mutex);
}

/* One refresh. A picture that is shown again is read again: who has it may have drawn in it. */
static void take(struct tp_capture *c, const struct tp_lit_scan *scan, struct tp_memory *memory)
{
    pthread_mutex_lock(&c->mutex);
    struct tp_image *image =
        c->n < ROOM && !c->broken ? &c->images[(c->first + c->n) % ROOM] : NULL;
    pthread_mutex_unlock(&c->mutex);
    struct tp_compose_copy copies[TP_KMS_LAYERS];
    uint32_t lost = 0;
    if (image)
        tp_copy_settle(&scan->copies, copies, &lost);
    if (image && !lost)
        tp_compose_copied(&scan->scanout, copies, image, 0, image->height, memory);
    bool whole = image && !lost && tp_lit_has(c->lit, scan->scanout.serial);
    pthread_mutex_lock(&c->mutex);
    c->n += whole;
    c->counts.dropped += !whole;
    pthread_cond_signal(&c->news);
    pthread_mutex_unlock(&c->mutex);
}

static void *run_taker(void *data)
{
    struct tp_capture *c = data;
    struct tp_memory memory = {.uses = 0};
    struct tp_lit_scan scan;
    uint64_t turn = 0, sequence = 0;
    prctl(PR_SET_NAME, "capture");
    while (tp_lit_wait(c->lit, &turn, INT64_MAX, &scan) == TP_LIT_NEWS) {
        if (sequence && scan.sequence > sequence + 1)
            drop(c, scan.sequence - sequence - 1);
        if (scan.sequence != sequence) /* not the rest of one */
            take(c, &scan, &memory);
        sequence = scan.sequence;
        tp_lit_let_go(&scan);
    }
    tp_memory_finish(&memory);
    return NULL;
}

/* --- writing --- */

static uint8_t luma(uint32_t p)
{
    return (
        uint8_t)((19595 * (p >> 16 & 255) + 38470 * (p >> 8 & 255) + 7471 * (p & 255) + 32768) >>
        16);
}

/* ITU-R BT.601, full range (JFIF 1.02). Four pixels make one of blue and red. */
static void convert(const struct tp_image *image, uint8_t *out)
{
    uint32_t w = image->width, h = image->height, half = (w + 1) / 2;
    uint8_t *blue = out + (size_t)w * h, *red = blue + (size_t)half * ((h + 1) / 2);
    for (size_t i = 0; i < (size_t)w * h; i++)
        out[i] = luma(image->pixels[i]);
    for (uint32_t y = 0; y < h; y += 2)
        for (uint32_t x = 0; x < w; x += 2) {
            const uint32_t *line = image->pixels + (size_t)y * w + x;
            uint32_t right = x + 1 < w, below = y + 1 < h ? w : 0;
            const uint32_t four[4] = {line[0], line[right], line[below], line[below + right]};
            int32_t r = 0, g = 0, b = 0;
            for (int i = 0; i < 4; i++) {
                r += four[i] >> 16 & 255;
                g += four[i] >> 8 & 255;
                b += four[i] & 255;
            }
            /* 128.5, in 1/65536 of four */
            *blue++ = (uint8_t)((-11059 * r - 21709 * g + 32767 * b + 33685504) >> 18);
            *red++ = (uint8_t)((32767 * r - 27439 * g - 5328 * b + 33685504) >> 18);
        }
}

static bool is_late(struct tp_capture *c)
{
    pthread_mutex_lock(&c->mutex);
    bool late = c->stop && tp_now_ns() - c->stop_ns > DRAIN_NS;
    pthread_mutex_unlock(&c->mutex);
    return late;
}

static int write_all(struct tp_capture *c, const uint8_t *at, size_t left)
{
    while (left > 0) {
        ssize_t n = write(c->fd, at, left);
        if (n >= 0) {
            at += n;
            left -= (size_t)n;
        } else if (errno == EAGAIN) {
            struct pollfd p = {.fd = c->fd, .events = POLLOUT};
            if (poll(&p, 1, 100) == 0 && is_late(c))
                return -ETIMEDOUT;
        } else if (errno != EINTR) {
            return -errno;
        }
    }
    return 0;
}

/* The file ends with the last whole frame. */
static void break_off(struct tp_capture *c, off_t whole, int err)
{
    struct tp_error e = {.err = 0};
    char line[sizeof e.where + sizeof e.what + 64];
    bool cut = c->is_file && ftruncate(c->fd, whole) == 0;
    tp_fail_errno(&e, err, c->config.path, "the video cannot be written any more");
    snprintf(line, sizeof line, "%s: %s%s", e.where, e.what, cut ? "; what is there is whole" : "");
    pthread_mutex_lock(&c->mutex);
    c->broken = true;
    c->counts.dropped += c->n;
    c->n = 0;
    pthread_mutex_unlock(&c->mutex);
    if (c->config.log && err != -ETIMEDOUT)
        c->config.log(c->config.log_data, line);
}

/* The next frame, or NULL: there is none any more. */
static const struct tp_image *await(struct tp_capture *c)
{
    pthread_mutex_lock(&c->mutex);
    while (c->n == 0 && !c->stop)
        pthread_cond_wait(&c->news, &c->mutex);
    const struct tp_image *image = c->n > 0 ? &c->images[c->first] : NULL;
    pthread_mutex_unlock(&c->mutex);
    return image;
}

static void *run_writer(void *data)
{
    static const char head[] = "FRAME\n";
    struct tp_capture *c = data;
    const struct tp_image *image;
    off_t whole = c->is_file ? lseek(c->fd, 0, SEEK_CUR) : 0;
    sigset_t pipes;
    prctl(PR_SET_NAME, "video");
    sigemptyset(&pipes);
    sigaddset(&pipes, SIGPIPE); /* a reader that has gone is an error of its call */
    pthread_sigmask(SIG_BLOCK, &pipes, NULL);
    memcpy(c->frame, head, sizeof head - 1);
    while ((image = await(c))) {
        convert(image, c->frame + sizeof head - 1);
        int r = write_all(c, c->frame, c->frame_bytes);
        if (r < 0) {
            break_off(c, whole, r);
            break;
        }
        whole += (off_t)c->frame_bytes;
        pthread_mutex_lock(&c->mutex);
        c->first = (c->first + 1) % ROOM;
        c->n--;
        c->counts.frames++;
        pthread_mutex_unlock(&c->mutex);
    }
    return NULL;
}

/* --- its life --- */

/* A file of its own beside the place: what is there stays until all has started. */
static int open_beside(struct tp_capture *c, const struct stat *there, struct tp_error *e)
{
    char *real = realpath(c->config.path, NULL);
    c->target = real ? real : tp_strdup(c->config.path);
    char *folder = tp_parent(c->target);
    int fd = tp_temp_file(folder, &c->temp);
    free(folder);
    if (fd < 0)
        return tp_fail_errno(e, fd, c->config.path, "the video cannot be made");
    c->fd = fd;
    if (fchmod(fd, there ? there->st_mode & 07777 : 0644) < 0)
        return tp_fail_errno(e, errno, c->config.path, "the video cannot be made");
    return 0;
}

static int open_file(struct tp_capture *c, struct tp_error *e)
{
    char head[128];
    struct stat st;
    bool there = stat(c->config.path, &st) == 0;
    c->is_file = !there || S_ISREG(st.st_mode);
    c->fd = -1;
    if (there && S_ISDIR(st.st_mode))
        return tp_fail_errno(e, EISDIR, c->config.path, "the video cannot be made");
    int r = c->is_file ? open_beside(c, there ? &st : NULL, e)
                       : (c->fd = tp_open_pipe(c->config.path, e));
    if (r < 0)
        return r;
    int n = snprintf(head, sizeof head,
        "YUV4MPEG2 W%u H%u F%u:1000 Ip A1:1 C420jpeg XCOLORRANGE=FULL\n", c->config.width_px,
        c->config.height_px, c->config.refresh_mhz);
    r = write_all(c, (const uint8_t *)head, (size_t)n);
    return r < 0 ? tp_fail_errno(e, r, c->config.path, "the video cannot be written") : 0;
}

int tp_capture_create(
    const struct tp_capture_config *config, struct tp_capture **out, struct tp_error *e)
{
    struct tp_capture *c = tp_calloc(1, sizeof *c);
    size_t w = config->width_px, h = config->height_px;
    *out = NULL;
    c->config = *config;
    pthread_mutex_init(&c->mutex, NULL);
    pthread_cond_init(&c->news, NULL);
    int r = open_file(c, e);
    if (r < 0) {
        tp_capture_destroy(c);
        return r;
    }
    c->frame_bytes = strlen("FRAME\n") + w * h + (w + 1) / 2 * ((h + 1) / 2) * 2;
    c->frame = tp_calloc(c->frame_bytes, 1);
    for (unsigned i = 0; i < ROOM; i++)
        tp_image_init(&c->images[i], config->width_px, config->height_px);
    *out = c;
    return 0;
}

int tp_capture_keep(struct tp_capture *c, struct tp_error *e)
{
    if (!c->temp)
        return 0;
    if (rename(c->temp, c->target) < 0)
        return tp_fail_errno(e, errno, c->config.path, "the video cannot be put there");
    free(c->temp);
    c->temp = NULL;
    return 0;
}

int tp_capture_start(struct tp_capture *c, struct tp_lit *lit, struct tp_error *e)
{
    c->lit = lit;
    int r = pthread_create(&c->writer, NULL, run_writer, c);
    c->writing = r == 0;
    if (r == 0)
        r = pthread_create(&c->taker, NULL, run_taker, c);
    c->taking = c->writing && r == 0;
    return r ? tp_fail_errno(e, r, NULL, "the threads that record cannot start") : 0;
}

void tp_capture_stop(struct tp_capture *c)
{
    if (c->taking)
        pthread_join(c->taker, NULL);
    pthread_mutex_lock(&c->mutex);
    c->stop = true;
    c->stop_ns = tp_now_ns();
    pthread_cond_signal(&c->news);
    pthread_mutex_unlock(&c->mutex);
    if (c->writing)
        pthread_join(c->writer, NULL);
    c->taking = c->writing = false;
}

void tp_capture_destroy(struct tp_capture *c)
{
    if (!c)
        return;
    if (c->temp)
        unlink(c->temp);
    free(c->temp);
    free(c->target);
    if (c->fd >= 0)
        close(c->fd);
    for (unsigned i = 0; i < ROOM; i++)
        tp_image_finish(&c->images[i]);
    pthread_cond_destroy(&c->news);
    pthread_mutex_destroy(&c->mutex);
    free(c->frame);
    free(c);
}

void tp_capture_count(struct tp_capture *c, struct tp_capture_counts *out)
{
    pthread_mutex_lock(&c->mutex);
    *out = c->counts;
    pthread_mutex_unlock(&c->mutex);
}
