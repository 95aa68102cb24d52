/*
 * Faults on request: a schedule from a text, the same for the same text and seed. Knows neither
 * time nor the device.
 *
 *   enomem@alloc:3,eintr:0.5,lost@submit:7,hang@submit:2,refuse-setproperty,slow:5ms,seed:42
 *
 * An item is WHAT[@WHERE][:WHEN]. WHAT: an errno in lower case, or lost, hang, slow. WHERE: alloc,
 * free, import, context, submit, wait, property, setproperty, fence, timeline, bind, heap, open, or
 * any (the default: every request, not open). WHEN: a call's number from 1 ("3"), from that call on ("3+"), or a probability
 * with a point ("0.25"); without it every call. slow takes a time instead: 5ms, 200us, 1s.
 */
#ifndef TP_FACTORY_KGSL_FAULTS_H
#define TP_FACTORY_KGSL_FAULTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum tp_kgsl_site {
    TP_KGSL_SITE_ANY,
    TP_KGSL_SITE_ALLOC,
    TP_KGSL_SITE_FREE,
    TP_KGSL_SITE_IMPORT,
    TP_KGSL_SITE_CONTEXT,
    TP_KGSL_SITE_SUBMIT,
    TP_KGSL_SITE_WAIT,
    TP_KGSL_SITE_PROPERTY,
    TP_KGSL_SITE_SETPROPERTY,
    TP_KGSL_SITE_FENCE,
    TP_KGSL_SITE_TIMELINE,
    TP_KGSL_SITE_BIND,
    TP_KGSL_SITE_HEAP,
    TP_KGSL_SITE_OPEN,
    TP_KGSL_SITES,
};

enum tp_kgsl_fault_what { TP_KGSL_FAULT_ERRNO, TP_KGSL_FAULT_LOST, TP_KGSL_FAULT_HANG };

#define TP_KGSL_FAULTS_MAX 32

struct tp_kgsl_faults {
    struct {
        enum tp_kgsl_fault_what what;
        enum tp_kgsl_site site;
        int error;          /* of TP_KGSL_FAULT_ERRNO */
        uint64_t call;      /* 0: by probability */
        bool onwards;
        double probability;
    } items[TP_KGSL_FAULTS_MAX];
    size_t count;
    int64_t slow_ns; /* added to each retirement */
    uint64_t seed;
    uint64_t calls[TP_KGSL_SITES];
};

struct tp_kgsl_verdict {
    int error; /* a negative errno to answer with, or 0 */
    bool lost, hang;
};

/*
 * Reads TEXT (NULL or "": no faults). -EINVAL: *BAD (where not NULL) points to the item that cannot
 * be read, inside TEXT; -E2BIG: more than TP_KGSL_FAULTS_MAX.
 */
int tp_kgsl_faults_parse(struct tp_kgsl_faults *f, const char *text, const char **bad);

/* What happens to the next call at SITE (not ANY). Counts it. */
struct tp_kgsl_verdict tp_kgsl_faults_next(struct tp_kgsl_faults *f, enum tp_kgsl_site site);

/* Writes a schedule of one to three faults that SEED decides, as a text for tp_kgsl_faults_parse.
 * OUT of 128 bytes suffices. */
void tp_kgsl_faults_random(uint64_t seed, char *out, size_t size);

/* The errno of a name in lower case ("enomem"), or 0. */
int tp_kgsl_errno_of(const char *name, size_t length);

/* The name of ERROR in upper case ("ENOMEM"), or NULL. */
const char *tp_kgsl_errno_name(int error);

#endif
