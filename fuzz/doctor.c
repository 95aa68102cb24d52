/* Logs: the first byte says how many bytes come at a time, or that these are rules ('r') or a file
 * that may be packed ('z'). What is told of a log is printable and bounded, and does not depend on
 * how it came. */
#include <assert.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "report/doctor/doctor.h"
#include "report/doctor/input.h"

struct source {
    const uint8_t *at, *end;
    size_t step;
};

static ssize_t hand_out(void *data, void *out, size_t room)
{
    struct source *s = data;
    size_t n = (size_t)(s->end - s->at);

    assert(room > 0);
    n = n < s->step ? n : s->step;
    n = n < room ? n : room;
    memcpy(out, s->at, n);
    s->at += n;
    return (ssize_t)n;
}

static bool is_printable(const char *text)
{
    for (; *text; text++) {
        if ((unsigned char)*text < 0x20 || *text == 0x7f)
            return false;
    }
    return true;
}

static void check(const struct tp_diagnosis *d, uint64_t lines)
{
    assert(d->n > 0 && is_printable(d->verdict));
    for (size_t i = 0; i < d->n; i++) {
        const struct tp_doctor_finding *f = &d->list[i];
        assert(f->line <= lines);
        assert(is_printable(f->quote) && is_printable(f->title) && is_printable(f->text));
        assert(is_printable(f->fix) && is_printable(f->process));
        assert(strlen(f->quote) < 4096 && strlen(f->text) < 16384);
    }
}

static void diagnose(const struct tp_rules *rules, const uint8_t *bytes, size_t n, size_t step,
    struct tp_diagnosis *out)
{
    struct source s = {bytes, bytes + n, step};
    struct tp_lines *lines = tp_lines_from(hand_out, &s);
    struct tp_doctor *d = tp_doctor_create(rules);
    struct tp_line line;

    while (tp_lines_next(lines, &line, NULL) > 0) {
        assert(line.len <= TP_LINE_BYTES);
        tp_doctor_line(d, &line);
    }
    tp_doctor_conclude(d, out);
    check(out, tp_lines_found(lines)->lines);
    tp_doctor_destroy(d);
    tp_lines_close(lines);
}

static void same(const struct tp_diagnosis *a, const struct tp_diagnosis *b)
{
    assert(a->n == b->n && !strcmp(a->verdict, b->verdict));
    for (size_t i = 0; i < a->n; i++) {
        assert(!strcmp(a->list[i].id, b->list[i].id) && a->list[i].line == b->list[i].line);
        assert(a->list[i].count == b->list[i].count && !strcmp(a->list[i].text, b->list[i].text));
    }
}

/* Rules may be wrong in any way; those that are right are used. */
static void read_rules(const uint8_t *bytes, size_t n)
{
    struct tp_rules rules;
    struct tp_diagnosis found;
    char *text = strndup((const char *)bytes, n);

    if (!tp_rules_read(text, "rules", &rules, NULL)) {
        struct tp_doctor *d = tp_doctor_create(&rules);
        struct tp_line line = {text, strcspn(text, "\n"), 1};
        tp_doctor_line(d, &line);
        tp_doctor_conclude(d, &found);
        tp_diagnosis_finish(&found);
        tp_doctor_destroy(d);
    }
    tp_rules_finish(&rules);
    free(text);
}

/* A bomb is no more than a long log: so much of it is read. */
static void unpack(const uint8_t *bytes, size_t n)
{
    static char out[4096];
    int fd = memfd_create("log", MFD_CLOEXEC);

    assert(fd >= 0 && write(fd, bytes, n) == (ssize_t)n && lseek(fd, 0, SEEK_SET) == 0);
    struct tp_input *in = tp_input_create(fd);
    for (size_t total = 0; total < 1 << 20;) {
        ssize_t got = tp_input_read(in, out, 1 + bytes[0] * 16u);
        assert(got >= 0 && got <= 1 + bytes[0] * 16);
        if (got == 0)
            break;
        total += (size_t)got;
    }
    tp_input_destroy(in);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static struct tp_rules rules;
    struct tp_diagnosis whole, parts;

    if (!rules.n && tp_rules_builtin(&rules, NULL))
        abort();
    if (size == 0)
        return 0;
    if (data[0] == 'r') {
        read_rules(data + 1, size - 1);
        return 0;
    }
    if (data[0] == 'z' && size > 1) {
        unpack(data + 1, size - 1);
        return 0;
    }
    diagnose(&rules, data + 1, size - 1, SIZE_MAX, &whole);
    if (data[0] & 1) {
        diagnose(&rules, data + 1, size - 1, 1 + data[0] / 2, &parts);
        same(&whole, &parts);
        tp_diagnosis_finish(&parts);
    }
    tp_diagnosis_finish(&whole);
    return 0;
}
