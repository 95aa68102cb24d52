#include "fixtures.h"

#include <errno.h>
#include <locale.h>
#include <sys/stat.h>
#include <time.h>
#include <zip.h>

#include "factory/package/archive.h"

static struct tp_buf build(void)
{
    static char body[300000];
    for (size_t i = 0; i < sizeof body; i++)
        body[i] = (char)(i * i >> 7);
    const struct tp_archive_entry entries[] = {
        {"meta.json", "{}\n", 3},
        {"libvulkan_freedreno.so", body, sizeof body},
    };
    struct tp_buf out = {0};
    struct tp_error e = {0};
    if (tp_archive_build(entries, 2, "x.zip", &out, &e) < 0)
        fail_msg("%s: %s", e.where, e.what);
    return out;
}

static uint16_t u16(const char *p)
{
    return (uint16_t)((unsigned char)p[0] | (unsigned char)p[1] << 8);
}

/* Offsets: APPNOTE.TXT 4.3.7 (local header) and 4.3.12 (central directory). */
static void headers_hold_fixed_times_method_and_mode(void **state)
{
    (void)state;
    struct tp_buf b = build();
    const char *local = b.data;
    assert_memory_equal(local, "PK\3\4", 4);
    assert_int_equal(u16(local + 8), 8);             /* deflate */
    assert_int_equal(u16(local + 10), 12 << 11);     /* 12:00:00 */
    assert_int_equal(u16(local + 12), 0x0021);       /* 1980-01-01 */
    assert_int_equal(u16(local + 26), 9);            /* the name's length */
    assert_memory_equal(local + 30, "meta.json", 9); /* the first entry */
    int entries = 0;
    for (const char *p = b.data; (p = memmem(p, b.len - (size_t)(p - b.data), "PK\1\2", 4)); p++) {
        entries++;
        assert_int_equal((unsigned char)p[5], 3); /* made by: Unix */
        assert_int_equal(u16(p + 12), 12 << 11);
        assert_int_equal(u16(p + 14), 0x0021);
        assert_int_equal(u16(p + 30), 0);                /* no extra field */
        assert_int_equal(u16(p + 32), 0);                /* no comment */
        assert_int_equal(u16(p + 40), S_IFREG | 0644);   /* the high half of the attributes */
    }
    assert_int_equal(entries, 2);
    tp_buf_finish(&b);
}

static void time_zone_language_and_umask_leave_no_trace(void **state)
{
    (void)state;
    static const struct {
        const char *zone, *language;
        mode_t mask;
    } places[] = {
        {"UTC0", "C", 022},
        {"<+14>-14", "C.UTF-8", 077},
        {"<-12>12", "C", 0},
        {"EST5EDT,M3.2.0,M11.1.0", "C.UTF-8", 027},
        {"NZST-12NZDT,M9.5.0,M4.1.0/3", "C", 002},
        /* a change of time at midnight of 1 January: that instant does not exist there */
        {"AAA5BBB,J1/0,J180/0", "C", 022},
    };
    struct tp_buf first = build();
    for (size_t i = 0; i < sizeof places / sizeof *places; i++) {
        setenv("TZ", places[i].zone, 1);
        tzset();
        setlocale(LC_ALL, places[i].language);
        mode_t before = umask(places[i].mask);
        struct tp_buf b = build();
        umask(before);
        assert_int_equal(b.len, first.len);
        assert_memory_equal(b.data, first.data, b.len);
        tp_buf_finish(&b);
    }
    unsetenv("TZ");
    tzset();
    setlocale(LC_ALL, "C");
    tp_buf_finish(&first);
}

static void what_goes_in_comes_out(void **state)
{
    (void)state;
    struct tp_buf b = build();
    zip_error_t error;
    zip_error_init(&error);
    zip_source_t *source = zip_source_buffer_create(b.data, b.len, 0, &error);
    zip_t *zip = zip_open_from_source(source, ZIP_RDONLY | ZIP_CHECKCONS, &error);
    assert_non_null(zip);
    assert_int_equal(zip_get_num_entries(zip, 0), 2);
    assert_string_equal(zip_get_name(zip, 0, 0), "meta.json");
    assert_string_equal(zip_get_name(zip, 1, 0), "libvulkan_freedreno.so");
    static char read[300001];
    zip_file_t *f = zip_fopen_index(zip, 1, 0);
    assert_int_equal(zip_fread(f, read, sizeof read), 300000);
    for (size_t i = 0; i < 300000; i++)
        assert_int_equal(read[i], (char)(i * i >> 7));
    zip_fclose(f);
    zip_discard(zip);
    zip_error_fini(&error);
    tp_buf_finish(&b);
}

static void two_entries_of_one_name_are_refused(void **state)
{
    (void)state;
    const struct tp_archive_entry entries[] = {{"a", "1", 1}, {"a", "2", 1}};
    struct tp_buf out = {0};
    struct tp_error e = {0};
    assert_int_equal(tp_archive_build(entries, 2, "x.zip", &out, &e), -EIO);
    assert_string_equal(e.where, "x.zip");
    assert_int_equal(out.len, 0);
    tp_buf_finish(&out);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(headers_hold_fixed_times_method_and_mode),
        cmocka_unit_test(time_zone_language_and_umask_leave_no_trace),
        cmocka_unit_test(what_goes_in_comes_out),
        cmocka_unit_test(two_entries_of_one_name_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
