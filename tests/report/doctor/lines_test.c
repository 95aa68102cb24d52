/* Lines of a log, whatever it is made of and however it comes. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include <errno.h>
#include <zip.h>
#include <zlib.h>

#include "base/buf.h"
#include "report/doctor/input.h"
#include "report/doctor/lines.h"

struct source {
    const char *at;
    size_t left, step;
};

static ssize_t hand_out(void *data, void *out, size_t room)
{
    struct source *s = data;
    size_t n = s->left < s->step ? s->left : s->step;

    n = n < room ? n : room;
    memcpy(out, s->at, n);
    s->at += n;
    s->left -= n;
    return (ssize_t)n;
}

/* The lines, each as "number:text|". */
static char *gather(struct tp_lines *l, struct tp_lines_found *found)
{
    struct tp_buf b = {0};
    struct tp_line line;
    struct tp_error e = {0};
    int r;

    while ((r = tp_lines_next(l, &line, &e)) > 0) {
        tp_buf_addf(&b, "%llu:", (unsigned long long)line.number);
        tp_buf_add(&b, line.text, line.len);
        tp_buf_addc(&b, '|');
    }
    assert_int_equal(r, 0);
    if (found)
        *found = *tp_lines_found(l);
    tp_lines_close(l);
    return tp_buf_take(&b);
}

static void expect(const char *text, size_t n, const char *wanted)
{
    static const size_t steps[] = {SIZE_MAX, 1, 2, 3, 7};

    for (size_t i = 0; i < sizeof steps / sizeof *steps; i++) {
        struct source s = {text, n, steps[i]};
        char *got = gather(tp_lines_from(hand_out, &s), NULL);
        assert_string_equal(got, wanted);
        free(got);
    }
}

static void lines_end_in_any_of_the_usual_ways(void **state)
{
    (void)state;
    expect("a\nb\n", 4, "1:a|2:b|");
    expect("a\r\nb\r\r\n", 7, "1:a|2:b|");
    expect("a\n\nb", 4, "1:a|2:|3:b|");
    expect("\n", 1, "1:|");
    expect("", 0, "");
    expect("\r", 1, "1:|");
}

static void a_line_may_hold_any_byte(void **state)
{
    struct source s = {"a\0b\n\xff\xfe\x80\n", 8, 3};
    struct tp_lines *l = tp_lines_from(hand_out, &s);
    struct tp_line line;

    (void)state;
    assert_int_equal(tp_lines_next(l, &line, NULL), 1);
    assert_int_equal(line.len, 3);
    assert_memory_equal(line.text, "a\0b", 3);
    assert_int_equal(tp_lines_next(l, &line, NULL), 1);
    assert_memory_equal(line.text, "\xff\xfe\x80", 3);
    assert_int_equal(tp_lines_next(l, &line, NULL), 0);
    tp_lines_close(l);
}

static void utf16_with_its_mark_is_read_in_either_order(void **state)
{
    (void)state;
    expect("\xff\xfe"
           "a\0\n\0\xe9\0\n\0",
        10, "1:a|2:\xc3\xa9|");
    expect("\xfe\xff"
           "\0a\0\n\0\xe9\0\n",
        10, "1:a|2:\xc3\xa9|");
    /* U+1F600, and a half of a pair alone */
    expect("\xff\xfe"
           "\x3d\xd8\x00\xde\n\0\x3d\xd8x\0",
        12, "1:\xf0\x9f\x98\x80|2:\xef\xbf\xbdx|");
    expect("\xef\xbb\xbf"
           "a\n",
        5, "1:a|");
}

/* Of a line that is too long the beginning is told, and what is behind it is read on. */
static void a_line_of_any_length_is_cut(void **state)
{
    static const size_t lens[] = {TP_LINE_BYTES - 1, TP_LINE_BYTES, TP_LINE_BYTES + 1,
        3 * TP_LINE_BYTES, 40 * TP_LINE_BYTES + 17};

    (void)state;
    for (size_t i = 0; i < sizeof lens / sizeof *lens; i++) {
        size_t n = lens[i] + 4;
        char *text = malloc(n);
        memset(text, 'x', n);
        memcpy(text + lens[i], "\nok\n", 4);
        struct source s = {text, n, 50000};
        struct tp_lines *l = tp_lines_from(hand_out, &s);
        struct tp_line line;
        assert_int_equal(tp_lines_next(l, &line, NULL), 1);
        assert_int_equal(line.len, lens[i] < TP_LINE_BYTES ? lens[i] : TP_LINE_BYTES);
        assert_int_equal(tp_lines_next(l, &line, NULL), 1);
        assert_int_equal(line.number, 2);
        assert_memory_equal(line.text, "ok", 2);
        assert_int_equal(tp_lines_next(l, &line, NULL), 0);
        assert_int_equal(tp_lines_found(l)->cut, lens[i] > TP_LINE_BYTES);
        assert_int_equal(tp_lines_found(l)->bytes, n);
        tp_lines_close(l);
        free(text);
    }
}

/* A log of which `cut` bytes are lacking, in two members. */
static char *write_gz(const char *text, long cut)
{
    static char path[] = "doctor-XXXXXX";
    memcpy(path, "doctor-XXXXXX", sizeof path);
    int fd = mkstemp(path);
    size_t n = strlen(text);

    assert_true(fd >= 0);
    for (int half = 0; half < 2; half++) {
        gzFile gz = gzdopen(dup(fd), "ab");
        assert_non_null(gz);
        gzwrite(gz, text + (half ? n / 2 : 0), (unsigned)(half ? n - n / 2 : n / 2));
        assert_int_equal(gzclose(gz), Z_OK);
    }
    off_t size = lseek(fd, 0, SEEK_END);
    assert_int_equal(ftruncate(fd, size - cut), 0);
    close(fd);
    return path;
}

static void gzip_is_unpacked_and_what_is_cut_off_is_told(void **state)
{
    struct tp_lines_found found;
    struct tp_lines *l;

    (void)state;
    char *path = write_gz("a\nb\n", 0);
    assert_int_equal(tp_lines_open(path, &l, NULL), 0);
    char *got = gather(l, &found);
    assert_string_equal(got, "1:a|2:b|");
    assert_false(found.damaged);
    free(got);
    unlink(path);
    path = write_gz("a\nb\n", 3);
    assert_int_equal(tp_lines_open(path, &l, NULL), 0);
    got = gather(l, &found);
    assert_string_equal(got, "1:a|2:b|");
    assert_true(found.damaged);
    free(got);
    unlink(path);
}

static void a_pipe_is_handed_on_as_it_comes(void **state)
{
    char out[64];
    int ends[2];

    (void)state;
    assert_int_equal(pipe(ends), 0);
    struct tp_input *in = tp_input_create(ends[0]);
    assert_int_equal(write(ends[1], "a", 1), 1);
    assert_int_equal(write(ends[1], "b\n", 2), 2);
    assert_int_equal(tp_input_read(in, out, sizeof out), 3);
    assert_memory_equal(out, "ab\n", 3);
    assert_int_equal(write(ends[1], "c", 1), 1);
    assert_int_equal(tp_input_read(in, out, sizeof out), 1);
    close(ends[1]);
    assert_int_equal(tp_input_read(in, out, sizeof out), 0);
    assert_false(tp_input_is_damaged(in));
    tp_input_destroy(in);
}

static void add_file(zip_t *zip, const char *name, const char *text)
{
    zip_source_t *source = zip_source_buffer(zip, text, strlen(text), 0);

    assert_true(zip_file_add(zip, name, source, 0) >= 0);
}

static void of_a_bug_report_the_largest_text_is_read(void **state)
{
    char folder[] = "doctor-XXXXXX", path[64];
    struct tp_error e = {0};
    struct tp_lines *l = NULL;

    (void)state;
    assert_non_null(mkdtemp(folder));
    snprintf(path, sizeof path, "%s/report.zip", folder);
    zip_t *zip = zip_open(path, ZIP_CREATE, NULL);
    add_file(zip, "FS/data/a.txt", "small\n");
    add_file(zip, "bugreport-2026.txt", "large\nlog\n");
    add_file(zip, "FS/proc/picture.png", "larger than all of the texts\n");
    assert_int_equal(zip_close(zip), 0);
    assert_int_equal(tp_lines_open(path, &l, NULL), 0);
    char *got = gather(l, NULL);
    assert_string_equal(got, "1:large|2:log|");
    free(got);
    assert_int_equal(truncate(path, 60), 0);
    l = NULL;
    assert_int_equal(tp_lines_open(path, &l, &e), -EBADMSG);
    assert_null(l);
    unlink(path);
    zip = zip_open(path, ZIP_CREATE, NULL);
    add_file(zip, "meta.json", "{}");
    assert_int_equal(zip_close(zip), 0);
    e = (struct tp_error){0};
    assert_int_equal(tp_lines_open(path, &l, &e), -ENODATA);
    unlink(path);
    rmdir(folder);
}

static ssize_t break_down(void *data, void *out, size_t room)
{
    (void)data;
    (void)out;
    (void)room;
    return -EIO;
}

static void what_cannot_be_read_is_told(void **state)
{
    struct tp_lines *l = NULL;
    struct tp_line line;
    struct tp_error e = {0};

    (void)state;
    assert_int_equal(tp_lines_open("no/such/log", &l, &e), -ENOENT);
    assert_string_equal(e.where, "no/such/log");
    assert_int_equal(e.status, TP_STATUS_INPUT);
    e = (struct tp_error){0};
    assert_int_equal(tp_lines_open(".", &l, &e), -EISDIR);
    assert_null(l);
    e = (struct tp_error){0};
    l = tp_lines_from(break_down, NULL);
    assert_int_equal(tp_lines_next(l, &line, &e), -EIO);
    tp_lines_close(l);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(lines_end_in_any_of_the_usual_ways),
        cmocka_unit_test(a_line_may_hold_any_byte),
        cmocka_unit_test(utf16_with_its_mark_is_read_in_either_order),
        cmocka_unit_test(a_line_of_any_length_is_cut),
        cmocka_unit_test(gzip_is_unpacked_and_what_is_cut_off_is_told),
        cmocka_unit_test(a_pipe_is_handed_on_as_it_comes),
        cmocka_unit_test(of_a_bug_report_the_largest_text_is_read),
        cmocka_unit_test(what_cannot_be_read_is_told),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
