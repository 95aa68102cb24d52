/* The picture of a run, and the record that it is drawn from. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>
#include <expat.h>

#include "frames/world/chart.h"

#define MS INT64_C(1000000)

static const struct tp_world_cost cost = {3200000, 4800000};

static struct tp_world_config world(unsigned images)
{
    struct tp_world_config c;
    tp_world_defaults(&c);
    c.costs = &cost;
    c.n_costs = 1;
    c.images = images;
    c.frames = 400;
    return c;
}

static void draw(struct tp_world_config c, uint64_t from, struct tp_buf *svg)
{
    struct tp_world_result r;
    struct tp_chart *chart = tp_chart_create(from);
    c.watch = tp_chart_watch(chart);
    assert_int_equal(tp_world_run(&c, &r, NULL), 0);
    tp_chart_draw(chart, &c, &r, svg);
    tp_chart_destroy(chart);
}

/* --- what an XML parser sees --- */

struct seen {
    unsigned sides, torn, repeats, late, hold, wait, titles;
    bool reads; /* character data is a label's */
    char labels[2048];
    double right, left; /* how far marks go */
};

static const char *attribute(const char **attributes, const char *name)
{
    for (; *attributes; attributes += 2)
        if (strcmp(attributes[0], name) == 0)
            return attributes[1];
    return "";
}

static void on_start(void *data, const char *name, const char **attributes)
{
    struct seen *s = data;
    const char *class = attribute(attributes, "class");
    s->sides += strcmp(class, "side") == 0;
    s->torn += strcmp(name, "path") == 0 && strcmp(class, "torn") == 0;
    s->repeats += strcmp(class, "ring") == 0;
    s->late += strcmp(class, "late") == 0;
    s->hold += strcmp(class, "hold") == 0;
    s->wait += strcmp(class, "wait") == 0;
    s->titles += strcmp(name, "title") == 0 || strcmp(name, "desc") == 0;
    s->reads = strcmp(name, "text") == 0;
    if (strcmp(name, "rect") == 0) {
        double x = atof(attribute(attributes, "x")), to = x + atof(attribute(attributes, "width"));
        s->left = x < s->left ? x : s->left;
        s->right = to > s->right ? to : s->right;
    }
}

static void on_end(void *data, const char *name)
{
    struct seen *s = data;
    if (strcmp(name, "text") == 0)
        strncat(s->labels, "\n", sizeof s->labels - strlen(s->labels) - 1);
    s->reads = false;
}

static void on_text(void *data, const char *text, int n)
{
    struct seen *s = data;
    size_t have = strlen(s->labels), more = (size_t)n;
    if (s->reads && have + more < sizeof s->labels)
        memcpy(s->labels + have, text, more);
}

static struct seen parse(const struct tp_buf *svg)
{
    struct seen s = {0};
    XML_Parser p = XML_ParserCreate(NULL);
    XML_SetUserData(p, &s);
    XML_SetElementHandler(p, on_start, on_end);
    XML_SetCharacterDataHandler(p, on_text);
    assert_int_equal(XML_Parse(p, svg->data, (int)svg->len, 1), XML_STATUS_OK);
    XML_ParserFree(p);
    return s;
}

static struct seen look(struct tp_world_config c, uint64_t from)
{
    struct tp_buf svg = {0};
    draw(c, from, &svg);
    struct seen s = parse(&svg);
    tp_buf_finish(&svg);
    return s;
}

static bool has_label(const struct seen *s, const char *label)
{
    size_t n = strlen(label);
    for (const char *at = s->labels; (at = strstr(at, label)); at++)
        if ((at == s->labels || at[-1] == '\n') && at[n] == '\n')
            return true;
    return false;
}

/* --- the picture --- */

static void a_chart_is_xml_with_a_lane_for_each_who_takes_part(void **data)
{
    (void)data;
    struct tp_world_config c = world(4);
    struct seen s = look(c, 150);
    assert_int_equal(s.sides, 3 + 4); /* game, GPU, panel; images */
    assert_true(has_label(&s, "image 3") && has_label(&s, "panel"));
    assert_true(has_label(&s, "150") && has_label(&s, "157"));
    assert_true(s.titles > 20);
    assert_true(s.left >= 0 && s.right <= 980);
    c.compositor_ns = 2 * MS;
    assert_int_equal(look(c, 150).sides, 8);
}

static void equal_runs_give_equal_bytes_and_others_do_not(void **data)
{
    (void)data;
    struct tp_buf one = {0}, two = {0}, three = {0};
    struct tp_world_config c = world(4);
    draw(c, 150, &one);
    draw(c, 150, &two);
    draw(c, 151, &three);
    assert_string_equal(one.data, two.data);
    assert_string_not_equal(one.data, three.data);
    tp_buf_finish(&one);
    tp_buf_finish(&two);
    tp_buf_finish(&three);
}

static void a_healthy_run_has_no_mark_of_what_is_wrong(void **data)
{
    (void)data;
    struct seen s = look(world(4), 150);
    assert_int_equal(s.torn + s.repeats + s.late, 0);
    assert_int_equal(s.wait, 0);
    assert_true(s.hold >= 8);
    /* 2 periods of 16.667 ms and the lead of 1.65 ms */
    assert_true(has_label(&s, "frame 150: 34.98 ms from its start to its first line"));
}

static void what_tears_is_marked_where_it_is_written_and_where_it_is_seen(void **data)
{
    (void)data;
    struct tp_world_config c = world(2);
    c.release = false;
    c.gate.mode = TP_GATE_OFF;
    struct seen s = look(c, 150);
    assert_true(s.torn >= 2 * 7);
    assert_true(has_label(&s, "written while it is read"));
}

static void a_refresh_without_a_new_frame_is_marked(void **data)
{
    (void)data;
    static const struct tp_world_cost dear = {6000000, 9000000};
    struct tp_world_config c = world(3);
    c.costs = &dear;
    struct seen s = look(c, 150);
    assert_true(s.repeats >= 3); /* with its sample */
    assert_true(has_label(&s, "no new frame"));
    assert_true(s.wait > 2);
}

static void a_frame_that_misses_its_latch_is_marked(void **data)
{
    (void)data;
    static struct tp_world_cost costs[200];
    for (unsigned i = 0; i < 200; i++)
        costs[i] = (struct tp_world_cost){2000000, i == 152 ? 40000000 : 3000000};
    struct tp_world_config c = world(4);
    c.costs = costs;
    c.n_costs = 200;
    struct seen s = look(c, 150);
    assert_true(s.late >= 2);
    assert_true(has_label(&s, "late for its latch"));
}

static void a_run_that_ends_before_is_drawn_at_its_end(void **data)
{
    (void)data;
    struct tp_world_config c = world(4);
    c.frames = 60;
    struct seen s = look(c, 100000);
    assert_true(has_label(&s, "59"));
    c.frames = 1;
    look(c, 0);
}

/* The numbers of rows, of refreshes and of characters are those of a short one. */
static void a_frame_far_into_a_long_run_is_drawn_as_one_early_in_it(void **data)
{
    (void)data;
    struct tp_buf early = {0}, far = {0};
    struct tp_world_config c = world(4);
    c.frames = 20000;
    draw(c, 150, &early);
    draw(c, 19400, &far);
    struct seen a = parse(&early), b = parse(&far);
    assert_true(has_label(&b, "frame 19400: 34.98 ms from its start to its first line"));
    assert_int_equal(a.hold, b.hold);
    assert_int_equal(a.titles, b.titles);
    tp_buf_finish(&early);
    tp_buf_finish(&far);
}

static void a_run_that_broke_is_drawn_up_to_that(void **data)
{
    (void)data;
    struct tp_world_config c = world(2);
    struct tp_world_result r;
    c.bug = TP_BUG_FREE_ON_RELEASE;
    assert_int_equal(tp_world_run(&c, &r, NULL), 0);
    assert_string_equal(r.story[4] + 17, "frame 2 gets image 0"); /* that the panel may read */
    struct seen s = look(c, 150);
    assert_int_equal(s.sides, 5);
    assert_true(has_label(&s, "2"));
}

static void faults_of_all_kinds_are_drawn_too(void **data)
{
    (void)data;
    struct tp_world_config c = world(4);
    for (unsigned f = 0; f < TP_FAULTS; f++)
        c.per_mille[f] = 20;
    for (c.seed = 1; c.seed < 20; c.seed++)
        assert_int_equal(look(c, c.seed * 10).sides, 7);
}

/* --- the record --- */

struct notes {
    uint64_t frames, scans, shown, torn, repeats, dropped;
    uint64_t sequence;
    int64_t line;
    const struct tp_world_config *c;
};

static void in_order(int64_t a, int64_t b)
{
    if (a != TP_NEVER && b != TP_NEVER)
        assert_true(a <= b);
}

static void on_frame(void *data, const struct tp_frame_record *f)
{
    struct notes *n = data;
    assert_int_equal(f->number, n->frames++);
    assert_true(f->image < n->c->images);
    n->repeats += f->repeats;
    n->dropped += f->dropped;
    n->shown += f->line_ns != TP_NEVER;
    in_order(f->asked_ns, f->acquired_ns);
    assert_true(
        f->slot_wait_ns + f->release_wait_ns + f->gate_wait_ns == f->acquired_ns - f->asked_ns);
    in_order(f->acquired_ns, f->presented_ns);
    in_order(f->cpu_ns, f->cpu_to_ns);
    in_order(f->presented_ns, f->write_ns);
    in_order(f->write_ns, f->ready_ns);
    in_order(f->ready_ns, f->committed_ns);
    in_order(f->committed_ns, f->composed_ns);
    in_order(f->composed_ns, f->published_ns);
    in_order(f->published_ns, f->latched_ns);
    in_order(f->latched_ns, f->line_ns);
    in_order(f->line_ns, f->released_ns);
    in_order(f->line_ns, f->told_ns);
    if (f->line_ns != TP_NEVER)
        in_order(n->line, f->line_ns);
    n->line = f->line_ns;
}

static void on_scan(void *data, const struct tp_refresh_record *s)
{
    struct notes *n = data;
    assert_true(n->scans++ == 0 || s->sequence == n->sequence + 1);
    n->sequence = s->sequence;
    assert_true(s->latch_ns < s->from_ns && s->from_ns < s->to_ns);
    n->torn += s->torn_ns != TP_NEVER;
}

static void go(struct tp_world_config c, struct notes *n, struct tp_world_result *r)
{
    struct tp_world_watch w = {.frame = on_frame, .scan = on_scan, .data = n};
    *n = (struct notes){.c = &c};
    c.watch = &w;
    assert_int_equal(tp_world_run(&c, r, NULL), 0);
}

static void the_record_agrees_with_what_is_measured(void **data)
{
    (void)data;
    struct notes n;
    struct tp_world_result r;
    static const struct tp_world_cost costs[] = {{6000000, 9000000}, {2000000, 20000000}};
    for (int late = 0; late < 2; late++)
        for (int fences = 0; fences < 2; fences++) {
            struct tp_world_config c = world(3);
            c.costs = costs;
            c.n_costs = 2;
            c.late_guest = late;
            c.release = fences;
            go(c, &n, &r);
            assert_int_equal(n.shown, r.frames);
            assert_int_equal(n.repeats, r.repeats);
            assert_int_equal(n.torn, r.tears);
            assert_int_equal(n.dropped, r.drops);
        }
    struct tp_world_config c = world(2);
    c.release = false;
    go(c, &n, &r);
    assert_true(n.torn > 300);
    assert_int_equal(n.torn, r.tears);
}

static void who_looks_on_changes_nothing(void **data)
{
    (void)data;
    struct notes n;
    struct tp_world_result seen, unseen;
    struct tp_world_config c = world(4);
    c.per_mille[TP_FAULT_LATE_FENCE] = 50;
    c.per_mille[TP_FAULT_LOST_NOTE] = 50;
    go(c, &n, &seen);
    assert_int_equal(tp_world_run(&c, &unseen, NULL), 0);
    assert_int_equal(seen.digest, unseen.digest);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_chart_is_xml_with_a_lane_for_each_who_takes_part),
        cmocka_unit_test(equal_runs_give_equal_bytes_and_others_do_not),
        cmocka_unit_test(a_healthy_run_has_no_mark_of_what_is_wrong),
        cmocka_unit_test(what_tears_is_marked_where_it_is_written_and_where_it_is_seen),
        cmocka_unit_test(a_refresh_without_a_new_frame_is_marked),
        cmocka_unit_test(a_frame_that_misses_its_latch_is_marked),
        cmocka_unit_test(a_run_that_ends_before_is_drawn_at_its_end),
        cmocka_unit_test(a_frame_far_into_a_long_run_is_drawn_as_one_early_in_it),
        cmocka_unit_test(a_run_that_broke_is_drawn_up_to_that),
        cmocka_unit_test(faults_of_all_kinds_are_drawn_too),
        cmocka_unit_test(the_record_agrees_with_what_is_measured),
        cmocka_unit_test(who_looks_on_changes_nothing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
