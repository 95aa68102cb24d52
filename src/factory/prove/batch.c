#include "factory/prove/batch.h"

#include <pthread.h>
#include <stdbool.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/buf.h"

enum { MOST_THREADS = 16 };

struct done {
    bool ran, taken;
    int r;
    struct tp_run_result result;
    struct tp_error error;
};

struct tp_batch {
    const struct tp_runner *runner;
    const char *driver, *work;
    const struct tp_batch_job *jobs;
    size_t n;
    pthread_mutex_t lock; /* of what follows */
    pthread_cond_t ready; /* a job has been run */
    struct done *done;    /* of each job */
    size_t next;          /* job to be started; n: no more */
    pthread_t threads[MOST_THREADS];
    size_t n_threads;
};

/* Runs job i without the lock. */
static void run_job(struct tp_batch *b, size_t i)
{
    const struct tp_batch_job *job = &b->jobs[i];
    struct done *d = &b->done[i];
    d->r = tp_runner_run(b->runner, b->driver, job->chip, job->arguments, job->env, b->work,
                         &d->result, &d->error);
}

static void *work_off(void *data)
{
    struct tp_batch *b = data;
    pthread_mutex_lock(&b->lock);
    while (b->next < b->n) {
        size_t i = b->next++;
        pthread_mutex_unlock(&b->lock);
        run_job(b, i);
        pthread_mutex_lock(&b->lock);
        b->done[i].ran = true;
        pthread_cond_broadcast(&b->ready);
    }
    pthread_mutex_unlock(&b->lock);
    return NULL;
}

struct tp_batch *tp_batch_begin(const struct tp_runner *runner, const char *driver,
                                const char *work, const struct tp_batch_job *jobs, size_t n)
{
    struct tp_batch *b = tp_calloc(1, sizeof *b);
    long processors = sysconf(_SC_NPROCESSORS_ONLN);
    size_t want = processors < 1 ? 1 : processors > MOST_THREADS ? MOST_THREADS : (size_t)processors;
    *b = (struct tp_batch){.runner = runner,
                           .driver = driver,
                           .work = work,
                           .jobs = jobs,
                           .n = n,
                           .lock = PTHREAD_MUTEX_INITIALIZER,
                           .ready = PTHREAD_COND_INITIALIZER,
                           .done = tp_calloc(n ? n : 1, sizeof *b->done)};
    while (b->n_threads < want && b->n_threads < n &&
           !pthread_create(&b->threads[b->n_threads], NULL, work_off, b))
        b->n_threads++;
    return b;
}

int tp_batch_take(struct tp_batch *b, size_t i, struct tp_run_result *out, struct tp_error *e)
{
    struct done *d = &b->done[i];
    if (!b->n_threads) { /* no thread could be had: now, then */
        run_job(b, i);
        d->ran = true;
    }
    pthread_mutex_lock(&b->lock);
    while (!d->ran)
        pthread_cond_wait(&b->ready, &b->lock);
    pthread_mutex_unlock(&b->lock);
    *out = d->result;
    d->taken = true;
    if (d->r)
        tp_fail(e, d->error.status, d->r, d->error.where, d->error.todo, "%s", d->error.what);
    return d->r;
}

void tp_batch_end(struct tp_batch *b)
{
    pthread_mutex_lock(&b->lock);
    b->next = b->n;
    pthread_mutex_unlock(&b->lock);
    for (size_t i = 0; i < b->n_threads; i++)
        pthread_join(b->threads[i], NULL);
    for (size_t i = 0; i < b->n; i++) {
        if (b->done[i].ran && !b->done[i].taken)
            tp_run_result_finish(&b->done[i].result);
    }
    pthread_cond_destroy(&b->ready);
    pthread_mutex_destroy(&b->lock);
    free(b->done);
    free(b);
}
