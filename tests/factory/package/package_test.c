#include "fixtures.h"

#include <dirent.h>
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zip.h>

#include "factory/package/package.h"

struct world {
    char *dir, *driver;
    struct tp_package_request q;
    struct tp_package_result result;
    struct tp_error e;
};

static int set_up(void **state)
{
    struct world *w = calloc(1, sizeof *w);
    w->dir = strdup("/tmp/tp-package-XXXXXX");
    assert_non_null(mkdtemp(w->dir));
    w->driver = fixture_path("linux-b");
    w->q = (struct tp_package_request){
        .driver = w->driver,
        .out_dir = w->dir,
        .archive_name = "WN-Linux-Turnip-25.0.7-b_Axxx.zip",
        .system = "linux",
        .machine = FIXTURE_MACHINE_NAME,
        .target = "host",
        .variant = 'b',
        .version = "25.0.7",
        .driver_version = "WN-25.0.7-b",
        .name = "WN-Turnip-25.0.7-b Axxx",
        .description = "Mesa Turnip 25.0.7, balanced",
        .author = "WinNative",
        .vendor = "Mesa",
        .mesa = {.version = "25.0.7", .source = "debian:25.0.7-2", .sha256 = "592272df"},
        .build_commit = "unknown",
        .receipt = json_pack("{s:[{s:s, s:i, s:s, s:s}]}", "edits", "file", "src/a.c", "line", 7,
                             "before", "11", "after", "22"),
        .patches = json_pack("[{s:s, s:s}]", "id", "driver-label", "state", "applied"),
        .toolchain = json_pack("{s:s}", "compiler", "gcc 12.2.0"),
        .epoch = 1747958400,
    };
    *state = w;
    return 0;
}

static int tear_down(void **state)
{
    struct world *w = *state;
    tp_package_result_finish(&w->result);
    json_decref(w->q.receipt);
    json_decref(w->q.patches);
    json_decref(w->q.toolchain);
    tp_remove_tree(w->dir, NULL);
    free(w->driver);
    free(w->dir);
    free(w);
    return 0;
}

static void use_android(struct world *w)
{
    free(w->driver);
    w->q.driver = w->driver = fixture_path("android-b");
    w->q.archive_name = "WN-Turnip-25.0.7-b_Axxx.zip";
    w->q.system = "android";
    w->q.target = "host-android";
    w->q.min_api = 29;
}

static void write_it(struct world *w)
{
    if (tp_package_write(&w->q, &w->result, &w->e) < 0)
        fail_msg("%s: %s", w->e.where, w->e.what);
}

static int files_in(const char *dir)
{
    int n = 0;
    DIR *d = opendir(dir);
    assert_non_null(d);
    for (struct dirent *it; (it = readdir(d));)
        n += strcmp(it->d_name, ".") && strcmp(it->d_name, "..");
    closedir(d);
    return n;
}

/* An entry of the written archive, NUL-terminated; the caller frees. */
static char *entry(const struct world *w, zip_uint64_t index, const char *name, size_t *len)
{
    int error;
    zip_t *zip = zip_open(w->result.path, ZIP_RDONLY | ZIP_CHECKCONS, &error);
    assert_non_null(zip);
    assert_int_equal(zip_get_num_entries(zip, 0), 2);
    assert_string_equal(zip_get_name(zip, index, 0), name);
    zip_stat_t st;
    assert_int_equal(zip_stat_index(zip, index, 0, &st), 0);
    char *bytes = calloc(1, st.size + 1);
    zip_file_t *f = zip_fopen_index(zip, index, 0);
    assert_int_equal(zip_fread(f, bytes, st.size), st.size);
    zip_fclose(f);
    zip_discard(zip);
    if (len)
        *len = st.size;
    return bytes;
}

static void an_android_archive_has_exactly_the_nine_keys(void **state)
{
    struct world *w = *state;
    use_android(w);
    write_it(w);
    char *meta = entry(w, 0, "meta.json", NULL);
    assert_string_equal(meta, "{\n"
                              "  \"schemaVersion\": 1,\n"
                              "  \"name\": \"WN-Turnip-25.0.7-b Axxx\",\n"
                              "  \"description\": \"Mesa Turnip 25.0.7, balanced\",\n"
                              "  \"author\": \"WinNative\",\n"
                              "  \"packageVersion\": \"1\",\n"
                              "  \"vendor\": \"Mesa\",\n"
                              "  \"driverVersion\": \"WN-25.0.7-b\",\n"
                              "  \"minApi\": 29,\n"
                              "  \"libraryName\": \"libvulkan_freedreno.so\"\n"
                              "}\n");
    free(meta);
}

static void a_linux_archive_names_its_platform_and_origin(void **state)
{
    struct world *w = *state;
    write_it(w);
    char *meta = entry(w, 0, "meta.json", NULL);
    char *expected =
        tp_asprintf("{\n"
                    "  \"schemaVersion\": 1,\n"
                    "  \"name\": \"WN-Turnip-25.0.7-b Axxx\",\n"
                    "  \"description\": \"Mesa Turnip 25.0.7, balanced\",\n"
                    "  \"author\": \"WinNative\",\n"
                    "  \"packageVersion\": \"1\",\n"
                    "  \"vendor\": \"Mesa\",\n"
                    "  \"driverVersion\": \"WN-25.0.7-b\",\n"
                    "  \"libraryName\": \"libvulkan_freedreno.so\",\n"
                    "  \"platform\": \"linux\",\n"
                    "  \"architecture\": \"%s\",\n"
                    "  \"libc\": \"glibc\",\n"
                    "  \"variant\": \"b\",\n"
                    "  \"mesaVersion\": \"25.0.7\",\n"
                    "  \"mesaCommit\": \"unknown\",\n"
                    "  \"mesaSource\": \"debian:25.0.7-2\",\n"
                    "  \"buildCommit\": \"unknown\",\n"
                    "  \"librarySha256\": \"%s\"\n"
                    "}\n",
                    FIXTURE_MACHINE_NAME, w->result.driver_sha256);
    assert_string_equal(meta, expected);
    free(expected);
    free(meta);
}

static void the_driver_is_packed_byte_for_byte(void **state)
{
    struct world *w = *state;
    write_it(w);
    size_t len;
    char *packed = entry(w, 1, "libvulkan_freedreno.so", &len);
    struct tp_buf b = fixture_bytes("linux-b");
    assert_int_equal(len, b.len);
    assert_memory_equal(packed, b.data, len);
    char sum[TP_SHA256_HEX];
    tp_sha256(b.data, b.len, sum);
    assert_string_equal(w->result.driver_sha256, sum);
    tp_buf_finish(&b);
    free(packed);
}

static void the_receipt_stands_beside_the_archive(void **state)
{
    struct world *w = *state;
    write_it(w);
    assert_int_equal(files_in(w->dir), 2);
    char *expected = tp_asprintf("%s/WN-Linux-Turnip-25.0.7-b_Axxx.zip", w->dir);
    assert_string_equal(w->result.path, expected);
    free(expected);
    char sum[TP_SHA256_HEX];
    assert_int_equal(tp_sha256_file(w->result.path, sum, NULL), 0);
    assert_string_equal(w->result.sha256, sum);
    assert_string_equal(w->result.driver_version, "WN-25.0.7-b");

    json_t *receipt = json_load_file(w->result.receipt_path, 0, NULL);
    const char *archive_sum, *driver_sum, *build_id, *edit_file, *before, *revision;
    int schema, line;
    json_t *mesa_revision;
    assert_int_equal(json_unpack(receipt, "{s:i, s:{s:s}, s:{s:s, s:s}, s:{s:o, s:s}, "
                                          "s:{s:[{s:s, s:i, s:s}]}}",
                                 "schema", &schema, "archive", "sha256", &archive_sum, "driver",
                                 "sha256", &driver_sum, "build_id", &build_id, "mesa", "revision",
                                 &mesa_revision, "source", &revision, "patch_receipt", "edits",
                                 "file", &edit_file, "line", &line, "before", &before),
                     0);
    assert_int_equal(schema, 1);
    assert_string_equal(archive_sum, w->result.sha256);
    assert_string_equal(driver_sum, w->result.driver_sha256);
    assert_int_equal(strlen(build_id), 40);
    assert_true(json_is_null(mesa_revision));
    assert_string_equal(edit_file, "src/a.c");
    assert_int_equal(line, 7);
    json_decref(receipt);
    struct stat st;
    assert_int_equal(stat(w->result.path, &st), 0);
    assert_int_equal(st.st_mode & 0777, 0644);
}

static void a_driver_that_breaks_a_rule_leaves_nothing(void **state)
{
    struct world *w = *state;
    w->q.variant = 'p';
    assert_int_equal(tp_package_write(&w->q, &w->result, &w->e), -EINVAL);
    assert_int_equal(w->e.status, TP_STATUS_FAILED);
    assert_contains(w->e.what, "variant");
    assert_int_equal(files_in(w->dir), 0);
}

static void a_driver_that_is_no_elf_file_leaves_nothing(void **state)
{
    struct world *w = *state;
    w->q.driver = "/etc/passwd";
    assert_int_equal(tp_package_write(&w->q, &w->result, &w->e), -EBADMSG);
    assert_string_equal(w->e.where, "/etc/passwd");
    assert_int_equal(files_in(w->dir), 0);
}

static void a_request_that_lacks_something_says_what(void **state)
{
    struct world *w = *state;
    struct tp_package_request good = w->q;
    w->q.description = NULL;
    assert_int_equal(tp_package_write(&w->q, &w->result, &w->e), -EINVAL);
    assert_contains(w->e.what, "description");

    static const char *const names[] = {"a/b.zip", ".zip", "driver", ".hidden.zip"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        w->q = good;
        w->q.archive_name = names[i];
        w->e = (struct tp_error){0};
        assert_int_equal(tp_package_write(&w->q, &w->result, &w->e), -EINVAL);
        assert_string_equal(w->e.where, names[i]);
    }
    w->q = good;
    w->q.author = "Win\xffNative";
    w->e = (struct tp_error){0};
    assert_int_equal(tp_package_write(&w->q, &w->result, &w->e), -EINVAL);
    assert_contains(w->e.what, "UTF-8");
    assert_int_equal(files_in(w->dir), 0);
    w->q = good;
}

/* The limit stands in for a full disk: the first file fits, the second does not. */
static void a_receipt_that_cannot_be_written_leaves_no_archive(void **state)
{
    struct world *w = *state;
    json_t *long_list = json_array();
    for (int i = 0; i < 4000; i++)
        json_array_append_new(long_list, json_string("an option that the build was given"));
    json_object_set_new(w->q.toolchain, "options", long_list);
    struct rlimit before, small;
    getrlimit(RLIMIT_FSIZE, &before);
    small = before;
    small.rlim_cur = 64 << 10;
    void (*handler)(int) = signal(SIGXFSZ, SIG_IGN);
    setrlimit(RLIMIT_FSIZE, &small);
    int r = tp_package_write(&w->q, &w->result, &w->e);
    setrlimit(RLIMIT_FSIZE, &before);
    signal(SIGXFSZ, handler);
    assert_int_equal(r, -EFBIG);
    char *expected = tp_asprintf("%s/WN-Linux-Turnip-25.0.7-b_Axxx.zip.receipt.json", w->dir);
    assert_string_equal(w->e.where, expected);
    free(expected);
    assert_int_equal(files_in(w->dir), 0);
}

static void an_output_folder_that_is_not_there_is_named(void **state)
{
    struct world *w = *state;
    w->q.out_dir = "/nowhere/out";
    assert_int_equal(tp_package_write(&w->q, &w->result, &w->e), -ENOENT);
    assert_string_equal(w->e.where, "/nowhere/out");
}

static void writing_again_gives_the_same_bytes(void **state)
{
    struct world *w = *state;
    write_it(w);
    char first[TP_SHA256_HEX], receipt[TP_SHA256_HEX], again[TP_SHA256_HEX];
    memcpy(first, w->result.sha256, sizeof first);
    assert_int_equal(tp_sha256_file(w->result.receipt_path, receipt, NULL), 0);
    tp_package_result_finish(&w->result);
    write_it(w);
    assert_string_equal(w->result.sha256, first);
    assert_int_equal(tp_sha256_file(w->result.receipt_path, again, NULL), 0);
    assert_string_equal(receipt, again);
    assert_int_equal(files_in(w->dir), 2);
}

#define WITH_WORLD(f) cmocka_unit_test_setup_teardown(f, set_up, tear_down)

int main(void)
{
    const struct CMUnitTest tests[] = {
        WITH_WORLD(an_android_archive_has_exactly_the_nine_keys),
        WITH_WORLD(a_linux_archive_names_its_platform_and_origin),
        WITH_WORLD(the_driver_is_packed_byte_for_byte),
        WITH_WORLD(the_receipt_stands_beside_the_archive),
        WITH_WORLD(a_driver_that_breaks_a_rule_leaves_nothing),
        WITH_WORLD(a_driver_that_is_no_elf_file_leaves_nothing),
        WITH_WORLD(a_request_that_lacks_something_says_what),
        WITH_WORLD(a_receipt_that_cannot_be_written_leaves_no_archive),
        WITH_WORLD(an_output_folder_that_is_not_there_is_named),
        WITH_WORLD(writing_again_gives_the_same_bytes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
