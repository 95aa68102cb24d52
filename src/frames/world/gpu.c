/* The game's GPU: its jobs, one after the other, each once its fences have signalled. */
#include "frames/world/internal.h"

/* A GPU that idles clocks down, and needs a while to come back. */
static int64_t slowed(struct world *w, int64_t takes)
{
    struct guest *g = &w->guest;
    if (w->c->per_mille[TP_FAULT_DVFS] == 0)
        return takes;
    int64_t span = w->now - g->clock_at;
    if (span > 8000000) {
        bool idle = g->busy_ns * 10 < span * 6;
        uint32_t target = idle ? 1600 : 1000;
        w->out->injected[TP_FAULT_DVFS] += idle;
        g->slower = (g->slower * 3 + target) / 4;
        g->busy_ns = 0;
        g->clock_at = w->now;
    }
    return takes * g->slower / 1000;
}

void begin_writing(struct world *w, struct image *m, int64_t until)
{
    m->write_from = w->now;
    m->write_to = until;
    for (unsigned i = 0; i < w->n_latched; i++) {
        struct frame *f = frame_of(w, w->latched[i]);
        if (f && &w->panel[f->drawn] == m)
            f->torn = true;
    }
    if (m->read_to <= w->now || m->torn)
        return;
    m->torn = true;
    w->out->tears++;
    bool own = m >= w->own && m < w->own + OWN_SETS * OWN_MOST;
    bool client = composes(w) && !own;
    if (client)
        frame_at(w, m->read_frame)->tore |= frame_at(w, m->read_frame)->number == m->read_frame;
    else
        record_tear(w, m->read_frame, w->now);
    tell(w, "%s GPU writes image %u, which is read until %.3f ms",
        own ? "the compositor's" : "the game's", (unsigned)(m - (own ? w->own : w->images)),
        (double)(m->read_to - START_NS) / 1e6);
    if (w->c->release || client)
        broken(w, "the GPU wrote an image while the %s read it", client ? "compositor" : "panel");
}

void gpu_kick(struct world *w)
{
    struct guest *g = &w->guest;
    if (g->running || g->n_jobs == 0)
        return;
    struct job *j = &g->jobs[g->first_job];
    for (unsigned i = 0; i < j->n_fences; i++)
        if (!w->fences[j->fences[i]].signalled)
            return;
    for (unsigned i = 0; i < j->n_fences; i++)
        drop_fence(w, j->fences[i]);
    j->n_fences = 0;
    int64_t takes = slowed(w, j->takes);
    g->running = true;
    g->busy_ns += takes;
    push(w, w->now + takes, EVENT_GPU, 0, 0);
    struct frame *f = frame_at(w, j->frame);
    *(j->writes ? &f->write : &f->elsewhere) = w->now;
    if (j->writes)
        begin_writing(w, &w->images[f->image], w->now + takes);
}

void submit(struct world *w, const struct job *j)
{
    struct guest *g = &w->guest;
    if (g->n_jobs == JOBS) {
        broken(w, "the GPU has more than %u jobs", JOBS);
        return;
    }
    g->gpu_free = max_ns(g->gpu_free, w->now) + j->takes;
    g->jobs[(g->first_job + g->n_jobs++) % JOBS] = *j;
    gpu_kick(w);
}

void gpu_done(struct world *w)
{
    struct guest *g = &w->guest;
    struct job j = g->jobs[g->first_job];
    g->first_job = (g->first_job + 1) % JOBS;
    g->n_jobs--;
    g->running = false;
    struct frame *f = frame_at(w, j.frame);
    if (!j.writes)
        f->elsewhere_to = w->now;
    if (j.writes) {
        f->ready = w->now;
        count_ready(w, f);
        g->done = j.frame + 1;
        if (g->gate)
            tp_gate_ready(g->gate, f->id, w->now);
        int64_t at = max_ns(w->now, f->commit);
        if (j.frame > 0) /* not before the one before it */
            at = max_ns(at, frame_at(w, j.frame - 1)->commit);
        f->commit = at;
        push(w, at + HOP_NS + w->c->compositor_ns, EVENT_COMPOSE, j.frame, f->life);
        poke_guest(w);
    }
    gpu_kick(w);
}
