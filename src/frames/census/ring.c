#include "frames/census/ring.h"

#include <errno.h>
#include <fcntl.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#define MAGIC UINT64_C(0x31474e5252505454) /* "TTPRRNG1" */
#define WORDS 48u                  /* of an entry: its sequence, its kind, its values */
#define VALUES (WORDS - 2u)

/* All of it is words that are read and written whole, so that two processes at once are defined. */
struct shared {
    uint64_t magic, version; /* written once, before anybody has the descriptor */
    uint64_t n_entries, entry_words, n_gauges, entries_offset; /* of what a later one may change */
    uint64_t name[TP_RING_NAME / 8];
    _Atomic uint64_t head; /* entries that were begun, ever */
    _Atomic uint64_t gauges[TP_GAUGES];
    /* [0]: the number of the entry, from 1, × 2, less 1 while it is written. */
    _Atomic uint64_t entries[TP_RING_ENTRIES][WORDS];
};

/* --- an entry's words: one list of fields for both ways --- */

struct words {
    uint64_t v[VALUES];
    unsigned n;
    bool writes;
};

static void word(struct words *w, uint64_t *value)
{
    uint64_t *v = &w->v[w->n++];
    if (w->writes)
        *v = *value;
    else
        *value = *v;
}

static void signed_word(struct words *w, int64_t *value)
{
    uint64_t u = (uint64_t)*value;
    word(w, &u);
    *value = (int64_t)u;
}

static void half(struct words *w, uint32_t *value)
{
    uint64_t u = *value;
    word(w, &u);
    *value = (uint32_t)u;
}

static void flags(struct words *w, bool *const list[], unsigned n)
{
    uint64_t u = 0;
    for (unsigned i = 0; i < n; i++)
        u |= (uint64_t)*list[i] << i;
    word(w, &u);
    for (unsigned i = 0; i < n; i++)
        *list[i] = u >> i & 1;
}

static void name(struct words *w, struct tp_buffer_name *b)
{
    uint64_t u = (uint64_t)b->generation << 32 | b->index;
    word(w, &b->identity.device);
    word(w, &b->identity.inode);
    word(w, &u);
    b->generation = (uint32_t)(u >> 32);
    b->index = (uint32_t)u;
}

static void frame(struct words *w, struct tp_ring_frame *f)
{
    struct tp_frame_record *r = &f->record;
    int64_t *const instants[] = {&r->begin_ns, &r->asked_ns, &r->gate_ns, &r->acquired_ns,
        &r->slot_wait_ns, &r->release_wait_ns, &r->gate_wait_ns, &r->cpu_ns, &r->cpu_to_ns,
        &r->presented_ns, &r->returned_ns, &r->elsewhere_ns, &r->elsewhere_to_ns, &r->write_ns,
        &r->ready_ns, &r->booked_ns, &r->committed_ns, &r->composed_ns, &r->published_ns,
        &r->latched_ns, &r->line_ns, &r->released_ns, &r->told_ns};
    bool *const bits[] = {&r->dropped, &r->late, &r->variable, &f->fed_back};

    flags(w, bits, sizeof bits / sizeof *bits);
    word(w, &r->number);
    half(w, &r->image);
    word(w, &r->sequence);
    half(w, &r->refresh_mhz);
    half(w, &r->cap_mhz);
    for (unsigned i = 0; i < sizeof instants / sizeof *instants; i++)
        signed_word(w, instants[i]);
    name(w, &f->buffer);
}

static void picture(struct words *w, struct tp_ring_picture *p)
{
    bool *const bits[] = {&p->dropped};

    flags(w, bits, 1);
    word(w, &p->serial);
    word(w, &p->sequence);
    signed_word(w, &p->committed_ns);
    signed_word(w, &p->published_ns);
    signed_word(w, &p->latched_ns);
    signed_word(w, &p->line_ns);
    signed_word(w, &p->released_ns);
    half(w, &p->n_layers);
    if (p->n_layers > TP_RING_LAYERS)
        p->n_layers = TP_RING_LAYERS;
    for (unsigned i = 0; i < p->n_layers; i++)
        name(w, &p->layers[i]);
}

static void refresh(struct words *w, struct tp_ring_refresh *p)
{
    struct tp_refresh_record *r = &p->record;
    bool *const bits[] = {&r->shows, &r->async_torn};

    flags(w, bits, 2);
    word(w, &r->sequence);
    half(w, &r->refresh_mhz);
    signed_word(w, &r->latch_ns);
    signed_word(w, &r->from_ns);
    signed_word(w, &r->to_ns);
    signed_word(w, &r->torn_ns);
    half(w, &r->torn_line);
    word(w, &p->serial);
}

static void setting(struct words *w, struct tp_ring_setting *s)
{
    uint32_t what = (uint32_t)s->what;

    signed_word(w, &s->at_ns);
    half(w, &what);
    half(w, &s->output);
    signed_word(w, &s->value);
    s->what = (enum tp_setting)what;
}

/* False: there is no such kind. */
static bool code(struct words *w, struct tp_ring_entry *e)
{
    switch (e->kind) {
    case TP_RING_FRAME:
        frame(w, &e->frame);
        return true;
    case TP_RING_PICTURE:
        picture(w, &e->picture);
        return true;
    case TP_RING_REFRESH:
        refresh(w, &e->refresh);
        return true;
    case TP_RING_SETTING:
        setting(w, &e->setting);
        return true;
    }
    return false;
}

/* --- who writes --- */

struct tp_ring {
    int fd;
    struct shared *shared;
    uint64_t head; /* the writer's own: what others do to the memory does not matter */
};

/* Others can map it for reading alone, and it stays as long as it is. */
static int seal(int fd)
{
    const int all = F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL;

    if (fcntl(fd, F_ADD_SEALS, F_SEAL_FUTURE_WRITE) < 0 && errno != EINVAL) /* Linux 5.1 */
        return -errno;
    return fcntl(fd, F_ADD_SEALS, all) < 0 ? -errno : 0;
}

int tp_ring_create(enum tp_ring_producer producer, const char *label, struct tp_ring **out)
{
    int fd = memfd_create("turnpike census", MFD_CLOEXEC | MFD_ALLOW_SEALING);
    void *p = MAP_FAILED;

    *out = NULL;
    if (fd < 0)
        return -errno;
    if (ftruncate(fd, sizeof(struct shared)) == 0)
        p = mmap(NULL, sizeof(struct shared), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    int r = p == MAP_FAILED ? -errno : seal(fd);
    struct tp_ring *ring = r < 0 ? NULL : calloc(1, sizeof *ring); /* in a game, which goes on */
    if (!ring) {
        if (p != MAP_FAILED)
            munmap(p, sizeof(struct shared));
        close(fd);
        return r < 0 ? r : -ENOMEM;
    }
    struct shared *s = p;
    char bytes[TP_RING_NAME] = {0};
    *ring = (struct tp_ring){.fd = fd, .shared = s};
    snprintf(bytes, sizeof bytes, "%s", label);
    memcpy(s->name, bytes, sizeof bytes);
    s->version = TP_RING_VERSION;
    s->n_entries = TP_RING_ENTRIES;
    s->entry_words = WORDS;
    s->n_gauges = TP_GAUGES;
    s->entries_offset = offsetof(struct shared, entries);
    s->magic = MAGIC;
    tp_ring_gauge(ring, TP_GAUGE_PRODUCER, producer);
    tp_ring_gauge(ring, TP_GAUGE_PID, (uint64_t)getpid());
    *out = ring;
    return 0;
}

int tp_ring_fd(const struct tp_ring *r)
{
    return r->fd;
}

void tp_ring_put(struct tp_ring *r, const struct tp_ring_entry *e)
{
    struct tp_ring_entry copy = *e;
    struct words w = {.writes = true};
    uint64_t number = r->head + 1;
    _Atomic uint64_t *to = r->shared->entries[r->head % TP_RING_ENTRIES];

    if (!code(&w, &copy))
        return;
    r->head = number;
    atomic_store_explicit(&to[0], 2 * number - 1, memory_order_relaxed);
    atomic_store_explicit(&r->shared->head, number, memory_order_relaxed);
    /* Nobody sees a new word with the number from before. */
    atomic_thread_fence(memory_order_release);
    atomic_store_explicit(&to[1], (uint64_t)e->kind, memory_order_relaxed);
    for (unsigned i = 0; i < w.n; i++)
        atomic_store_explicit(&to[2 + i], w.v[i], memory_order_relaxed);
    atomic_store_explicit(&to[0], 2 * number, memory_order_release);
}

void tp_ring_gauge(struct tp_ring *r, unsigned gauge, uint64_t value)
{
    atomic_store_explicit(&r->shared->gauges[gauge], value, memory_order_relaxed);
}

void tp_ring_destroy(struct tp_ring *r)
{
    if (!r)
        return;
    tp_ring_gauge(r, TP_GAUGE_ENDED, 1);
    munmap(r->shared, sizeof *r->shared);
    close(r->fd);
    free(r);
}

/* --- who reads --- */

struct tp_ring_view {
    const struct shared *shared;
    uint64_t next; /* entries before it are read or lost */
    char name[TP_RING_NAME];
};

static int check(int fd)
{
    struct stat st;
    int seals = fcntl(fd, F_GET_SEALS);

    if (seals < 0 || fstat(fd, &st) < 0 || !(seals & F_SEAL_SHRINK))
        return -EBADMSG;
    return st.st_size == sizeof(struct shared) ? 0 : -EBADMSG;
}

int tp_ring_open(int fd, struct tp_ring_view **out)
{
    int r = check(fd);

    *out = NULL;
    if (r < 0)
        return r;
    const struct shared *s = mmap(NULL, sizeof *s, PROT_READ, MAP_SHARED, fd, 0);
    if (s == MAP_FAILED)
        return -errno;
    if (s->magic != MAGIC)
        r = -EBADMSG;
    else if (s->version != TP_RING_VERSION || s->n_entries != TP_RING_ENTRIES ||
        s->entry_words != WORDS || s->n_gauges != TP_GAUGES ||
        s->entries_offset != offsetof(struct shared, entries))
        r = -ENOTSUP;
    struct tp_ring_view *v = r < 0 ? NULL : calloc(1, sizeof *v);
    if (!v) {
        munmap((void *)s, sizeof *s);
        return r < 0 ? r : -ENOMEM;
    }
    v->shared = s;
    memcpy(v->name, s->name, sizeof v->name);
    v->name[sizeof v->name - 1] = '\0';
    uint64_t head = atomic_load_explicit(&s->head, memory_order_acquire);
    v->next = head > TP_RING_ENTRIES ? head - TP_RING_ENTRIES : 0;
    *out = v;
    return 0;
}

/* 1: it was read; 0: it is not there in full yet; -1: it is lost. */
static int read_entry(const struct tp_ring_view *v, struct tp_ring_entry *out)
{
    const _Atomic uint64_t *from = v->shared->entries[v->next % TP_RING_ENTRIES];
    uint64_t wanted = 2 * (v->next + 1);
    struct words w = {0};
    uint64_t number = atomic_load_explicit(&from[0], memory_order_acquire);

    if (number != wanted)
        return number < wanted ? 0 : -1;
    uint64_t kind = atomic_load_explicit(&from[1], memory_order_relaxed);
    for (unsigned i = 0; i < VALUES; i++)
        w.v[i] = atomic_load_explicit(&from[2 + i], memory_order_relaxed);
    atomic_thread_fence(memory_order_acquire);
    if (atomic_load_explicit(&from[0], memory_order_relaxed) != wanted ||
        kind < TP_RING_FRAME || kind > TP_RING_SETTING)
        return -1;
    memset(out, 0, sizeof *out);
    out->kind = (enum tp_ring_kind)kind;
    return code(&w, out) ? 1 : -1;
}

bool tp_ring_next(struct tp_ring_view *v, struct tp_ring_entry *out, uint64_t *lost)
{
    uint64_t head = atomic_load_explicit(&v->shared->head, memory_order_acquire);

    /* A writer that counts backwards has nothing to say. */
    if (head > v->next && head - v->next > TP_RING_ENTRIES) {
        *lost += head - v->next - TP_RING_ENTRIES;
        v->next = head - TP_RING_ENTRIES;
    }
    while (v->next < head) {
        int r = read_entry(v, out);
        if (r == 0)
            return false;
        v->next++;
        if (r > 0)
            return true;
        ++*lost;
    }
    return false;
}

uint64_t tp_ring_look(const struct tp_ring_view *v, unsigned gauge)
{
    return atomic_load_explicit(&v->shared->gauges[gauge], memory_order_relaxed);
}

const char *tp_ring_name(const struct tp_ring_view *v)
{
    return v->name;
}

void tp_ring_close(struct tp_ring_view *v)
{
    if (!v)
        return;
    munmap((void *)v->shared, sizeof *v->shared);
    free(v);
}
