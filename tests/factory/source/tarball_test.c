#include "support.h"

#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/proc.h"
#include "factory/source/tar.h"

/* A member by hand, as POSIX.1 lays out ustar: for what tar itself would not write. */
static void member(
    struct tp_buf *b, const char *name, char type, const char *link, const char *data)
{
    char h[512] = {0};
    size_t n = data ? strlen(data) : 0;
    strncpy(h, name, 100);
    strcpy(h + 100, "0000644");
    snprintf(h + 124, 12, "%011zo", n);
    snprintf(h + 136, 12, "%011o", 1000000000);
    memset(h + 148, ' ', 8);
    h[156] = type;
    strncpy(h + 157, link ? link : "", 100);
    memcpy(h + 257, "ustar\00000", 8);
    unsigned sum = 0;
    for (size_t i = 0; i < sizeof h; i++)
        sum += (unsigned char)h[i];
    snprintf(h + 148, 8, "%06o", sum);
    tp_buf_add(b, h, sizeof h);
    tp_buf_add(b, data ? data : "", n);
    while (b->len % 512)
        tp_buf_addc(b, 0);
}

static void mesa_members(struct tp_buf *b)
{
    member(b, "mesa/VERSION", '0', NULL, "25.0.7\n");
    member(b, "mesa/src/a.c", '0', NULL, "int a;\n");
}

/* Ends the archive and writes it to t.tar. */
static void finish(struct world *w, struct tp_buf *b)
{
    for (int i = 0; i < 1024; i++)
        tp_buf_addc(b, 0);
    assert_int_equal(tp_write_file(at(w, "t.tar"), b->data, b->len, 0644, NULL), 0);
    tp_buf_finish(b);
}

static void unpacks_every_packing_to_the_same_tree(void **state)
{
    struct world *w = *state;
    mini_mesa(w, "mesa-25.0.7", "25.0.7");
    sh(w,
        "tar cf t.tar mesa-25.0.7; xz -k t.tar; gzip -k t.tar; tar cf - mesa-25.0.7 | gzip "
        ">misnamed.xz");
    if (tp_have_program("zstd"))
        sh(w, "zstd -q t.tar");
    static const char *const names[] = {
        "t.tar", "t.tar.xz", "t.tar.gz", "t.tar.zst", "misnamed.xz"};
    for (size_t i = 0; i < 5; i++) {
        const char *file = at(w, names[i]);
        if (!tp_exists(file))
            continue;
        assert_int_equal(world_get(w, file), 0);
        assert_same_tree(w, "mesa-25.0.7", "out/mesa");
        assert_string_equal(w->got.tree, w->dest);
        assert_string_equal(w->got.kind, "tarball");
        assert_string_equal(w->got.version, "25.0.7");
        assert_string_equal(w->got.revision, "");
        char sum[TP_SHA256_HEX];
        tp_sha256_file(file, sum, NULL);
        assert_string_equal(w->got.sha256, sum);
        /* The spec that comes out goes in again. */
        sh(w, "rm -r out/mesa; mkdir out/mesa");
        char *again = tp_strdup(w->got.spec);
        assert_int_equal(world_get(w, again), 0);
        assert_string_equal(w->got.spec, again);
        free(again);
        sh(w, "rm -r out/mesa");
    }
    assert_nothing_left(w);
}

static void takes_each_format_that_tar_writes(void **state)
{
    struct world *w = *state;
    mini_mesa(w, "m/mesa", "25.0.7");
    /* Names of more than 100 characters need a prefix, of more than 255 a header of their own. */
    sh(w,
        "cd m/mesa; d=src/$(printf '%%080d' 0); mkdir $d; d=$d/$(printf '%%080d' 0); mkdir $d; "
        "echo x >$d/y");
    static const char *const formats[] = {"ustar", "gnu", "pax"};
    for (size_t i = 0; i < 3; i++) {
        if (i == 1)
            sh(w,
                "cd m/mesa; d=src/$(printf '%%0200d' 0); mkdir -p $d/$(printf '%%0200d' 1);"
                "echo z >$d/$(printf '%%0200d' 1)/y; ln -s $(printf '%%0200d' 0) src/long;"
                "printf 1 >src/umläut");
        sh(w, "tar c --format=%s -f t.tar -C m mesa", formats[i]);
        assert_int_equal(world_get(w, at(w, "t.tar")), 0);
        assert_same_tree(w, "m/mesa", "out/mesa");
        sh(w, "rm -r out/mesa");
    }
    /* The top may be the archive's top, with or without "./". */
    sh(w, "tar cf t.tar -C m/mesa .");
    assert_int_equal(world_get(w, at(w, "t.tar")), 0);
    assert_same_tree(w, "m/mesa", "out/mesa");
}

static void a_stream_may_come_in_pieces_of_any_size(void **state)
{
    struct world *w = *state;
    mini_mesa(w, "mesa", "25.0.7");
    sh(w, "head -c 1500 /dev/zero >mesa/src/zeros; tar cf t.tar --format=pax mesa");
    struct tp_buf b = {0};
    assert_int_equal(tp_read_file(at(w, "t.tar"), 0, &b, NULL), 0);
    static const size_t sizes[] = {1, 7, 511, 512, 513, 100000};
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        struct tp_tar t;
        sh(w, "rm -rf out; mkdir out");
        assert_int_equal(tp_tar_init(&t, "t.tar", w->out, w->out, &w->e), 0);
        for (size_t k = 0; k < b.len; k += sizes[i])
            assert_int_equal(
                tp_tar_feed(&t, b.data + k, b.len - k < sizes[i] ? b.len - k : sizes[i], &w->e), 0);
        assert_int_equal(tp_tar_end(&t, &w->e), 0);
        tp_tar_finish(&t);
        assert_same_tree(w, "mesa", "out/mesa");
    }
    tp_buf_finish(&b);
}

static void hard_links_become_copies(void **state)
{
    struct world *w = *state;
    mini_mesa(w, "mesa", "25.0.7");
    sh(w, "ln mesa/src/a.c mesa/src/z.c; tar cf t.tar mesa");
    assert_int_equal(world_get(w, at(w, "t.tar")), 0);
    assert_same_tree(w, "mesa", "out/mesa");
    struct stat st;
    assert_int_equal(stat(at(w, "out/mesa/src/z.c"), &st), 0);
    assert_int_equal(st.st_nlink, 1);
}

static void the_epoch_is_in_the_content_not_in_when_it_came(void **state)
{
    struct world *w = *state;
    mini_mesa(w, "mesa", "25.0.7");
    /* Without release notes: the newest time stamp in the tarball. date -u -d @1600000001 */
    sh(w,
        "find mesa -exec touch -h -d @1500000000 {} +; touch -d @1600000001 mesa/src/a.c;"
        "tar cf t.tar --format=pax mesa");
    assert_int_equal(world_get(w, at(w, "t.tar")), 0);
    assert_int_equal(w->got.epoch, 1600000001);
    /* date -u -d 2025-05-28 +%s */
    put(w, "mesa/docs/relnotes/25.0.6.rst", "Mesa 25.0.6 Release Notes / 2025-05-14\n====\n");
    put(w, "mesa/docs/relnotes/25.0.7.rst", "Mesa 25.0.7 Release Notes / 2025-05-28\n====\n");
    sh(w, "rm -r out/mesa; tar cf t.tar mesa");
    assert_int_equal(world_get(w, at(w, "t.tar")), 0);
    assert_int_equal(w->got.epoch, 1748390400);
    /* The same content as a folder, later. */
    sh(w, "rm -r out/mesa; find mesa -exec touch -h {} +");
    assert_int_equal(world_get(w, at(w, "mesa")), 0);
    assert_int_equal(w->got.epoch, 1748390400);
    /* Between releases a folder without git has the newest release's date (25.0.7's). */
    sh(w, "rm -r out/mesa; echo 25.1.0-devel >mesa/VERSION");
    assert_int_equal(world_get(w, at(w, "mesa")), 0);
    assert_int_equal(w->got.epoch, 1748390400);
    sh(w, "rm -r out/mesa mesa/docs");
    assert_int_equal(world_get(w, at(w, "mesa")), 0);
    assert_int_equal(w->got.epoch, 315532800); /* date -u -d 1980-01-01 +%s */
}

static void a_tarball_by_git_archive_tells_its_commit(void **state)
{
    struct world *w = *state;
    mini_mesa(w, "mesa", "25.1.0-devel");
    sh(w,
        "cd mesa; git init -q; git add .; git commit -qm x; git archive --prefix=m/ -o ../t.tar.gz "
        "HEAD;"
        "git rev-parse HEAD >../head; rm -rf .git");
    assert_int_equal(world_get(w, at(w, "t.tar.gz")), 0);
    assert_same_tree(w, "mesa", "out/mesa");
    struct tp_buf head = {0};
    tp_read_file(at(w, "head"), 0, &head, NULL);
    assert_int_equal(strlen(w->got.revision), 40);
    assert_memory_equal(w->got.revision, head.data, 40);
    assert_int_equal(w->got.epoch, 1772600767); /* date -u -d 2026-03-04T05:06:07Z +%s */
    tp_buf_finish(&head);
}

static void a_wrong_hash_is_refused_before_unpacking(void **state)
{
    struct world *w = *state;
    mini_mesa(w, "mesa", "25.0.7");
    sh(w, "tar cf t.tar mesa");
    char *spec = tp_asprintf("%s@sha256:%064d", at(w, "t.tar"), 0);
    assert_int_equal(world_get(w, spec), -EBADMSG);
    assert_error(w, TP_STATUS_INPUT, "t.tar", "SHA-256", "000000", NULL);
    assert_nothing_left(w);
    free(spec);
}

/* Cut at every place that matters, packed and not. */
static void a_truncated_tarball_leaves_nothing(void **state)
{
    struct world *w = *state;
    mini_mesa(w, "mesa", "25.0.7");
    sh(w,
        "head -c 3000 /dev/urandom >mesa/src/noise; tar cf t.tar mesa; xz -k t.tar; gzip -k t.tar");
    static const char *const names[] = {"t.tar", "t.tar.xz", "t.tar.gz"};
    for (size_t i = 0; i < 3; i++) {
        struct tp_buf b = {0};
        tp_read_file(at(w, names[i]), 0, &b, NULL);
        /* The unpacked one ends with blocks of zeros that may be missing down to the first. */
        size_t end = b.len;
        while (i == 0 && end && !b.data[end - 1])
            end--;
        for (size_t k = 0; k <= 8; k++) {
            tp_write_file(at(w, "cut"), b.data, end * k / 9, 0644, NULL);
            assert_true(world_get(w, at(w, "cut")) < 0);
            assert_error(w, TP_STATUS_INPUT, "cut", NULL);
            assert_nothing_left(w);
        }
        tp_buf_finish(&b);
    }
}

static void a_flipped_byte_is_noticed_in_a_packed_tarball(void **state)
{
    struct world *w = *state;
    mini_mesa(w, "mesa", "25.0.7");
    sh(w,
        "head -c 5000 /dev/urandom >mesa/src/noise; tar cJf t.tar.xz mesa;"
        "printf '\\377\\0\\377' | dd of=t.tar.xz bs=1 seek=2500 conv=notrunc 2>/dev/null");
    assert_true(world_get(w, at(w, "t.tar.xz")) < 0);
    assert_error(w, TP_STATUS_INPUT, "t.tar.xz", "damaged", "again", NULL);
    assert_nothing_left(w);
}

static void what_is_no_tarball_is_named(void **state)
{
    struct world *w = *state;
    put(w, "page.tar.xz", "<!DOCTYPE html><title>404</title>");
    assert_true(world_get(w, at(w, "page.tar.xz")) < 0);
    assert_error(w, TP_STATUS_INPUT, "page.tar.xz", "no tar archive", NULL);
    char *text = tp_asprintf("%0*d", 4000, 7);
    put(w, "digits.tar", text);
    free(text);
    assert_true(world_get(w, at(w, "digits.tar")) < 0);
    assert_error(w, TP_STATUS_INPUT, "digits.tar", "no tar archive", NULL);
    assert_nothing_left(w);
}

static void a_tarball_must_hold_exactly_one_mesa(void **state)
{
    struct world *w = *state;
    mini_mesa(w, "in/one", "25.0.7");
    mini_mesa(w, "in/two", "25.0.6");
    sh(w,
        "tar cf two.tar -C in one two; rm -r in/two in/one/VERSION; tar cf none.tar -C in one;"
        "echo 'not a version' >in/one/VERSION; tar cf odd.tar -C in one");
    assert_true(world_get(w, at(w, "two.tar")) < 0);
    assert_error(w, TP_STATUS_INPUT, "two.tar", "'one'", "'two'", NULL);
    assert_true(world_get(w, at(w, "none.tar")) < 0);
    assert_error(w, TP_STATUS_INPUT, "none.tar", "no VERSION", NULL);
    assert_true(world_get(w, at(w, "odd.tar")) < 0);
    assert_error(w, TP_STATUS_INPUT, "odd.tar", "VERSION", NULL);
    assert_nothing_left(w);
}

static void hostile_members_are_refused_by_name(void **state)
{
    struct world *w = *state;
    char *outside = tp_join(w->dir, "outside");
    put(w, "outside", "mine\n");
    const struct {
        const char *name;
        char type;
        const char *link, *data, *named;
    } rows[] = {
        {"../outside", '0', NULL, "x", "'../outside'"},
        {"mesa/../../../outside", '0', NULL, "x", "../outside"},
        {"mesa/src/..", '5', NULL, NULL, "mesa/src/.."},
        {outside, '0', NULL, "x", "absolute"},
        {"mesa/l", '1', "../../outside", NULL, "'mesa/l'"},
        {"mesa/l", '1', outside, NULL, "'mesa/l'"},
        {"mesa/l", '1', "mesa/absent", NULL, "'mesa/l'"},
        {"mesa/l", '2', outside, NULL, "'l' leads out"},
        {"mesa/l", '2', "../../../outside", NULL, "'l' leads out"},
        {"mesa/l", '2', "..", NULL, "'l' leads out"},
        {"mesa/l", '2', "../mesa/VERSION", NULL, "'l' leads out"},
        {"mesa/l", '2', "l", NULL, "'l' leads out of the tree or in a circle"},
        {"mesa/null", '3', NULL, NULL, "'mesa/null' is a device"},
        {"mesa/pipe", '6', NULL, NULL, "'mesa/pipe' is a device or a pipe"},
        {"mesa/sparse", 'S', NULL, NULL, "'mesa/sparse' is of an unknown kind"},
        {"mesa/VERSION", '0', NULL, "26", "'mesa/VERSION' occurs twice"},
        {"mesa/VERSION", '2', "src", NULL, "'mesa/VERSION' occurs twice"},
        {"mesa/VERSION/x", '0', NULL, "26", "'mesa/VERSION/x'"},
        {"mesa/\033[2J", '0', NULL, "26", "'mesa/?[2J'"},
        {"", '0', NULL, "26", "no name"},
        {"x", 'x', NULL, "26 GNU.sparse.name=mesa/x\n", "GNU.sparse.name"},
        {"x", 'x', NULL, "99 path=short\n", "extended header"},
        {"x", 'x', NULL, "-5 path=a\n", "extended header"},
        {"x", 'x', NULL, "13 size=-100\n", "size"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct tp_buf b = {0};
        mesa_members(&b);
        member(&b, rows[i].name, rows[i].type, rows[i].link, rows[i].data);
        finish(w, &b);
        if (world_get(w, at(w, "t.tar")) >= 0)
            fail_msg("row %zu was unpacked", i);
        assert_error(w, TP_STATUS_INPUT, "t.tar", rows[i].named, NULL);
        assert_nothing_left(w);
    }
    sh(w, "echo mine | cmp - outside; test ! -e absent");
    free(outside);
}

/* Each link alone stays inside by its text; together they lead out. */
static void links_through_links_are_followed_to_their_end(void **state)
{
    struct world *w = *state;
    struct tp_buf b = {0};
    mesa_members(&b);
    member(&b, "mesa/src/top", '2', "..", NULL);
    member(&b, "mesa/src/deep", '2', "top/../gone", NULL);
    finish(w, &b);
    assert_true(world_get(w, at(w, "t.tar")) < 0);
    assert_error(w, TP_STATUS_INPUT, "t.tar", "'src/deep' leads out", NULL);
    /* Harmless ones stay. */
    mesa_members(&b);
    member(&b, "mesa/src/top", '2', "..", NULL);
    member(&b, "mesa/src/self", '2', "top/src/./a.c", NULL);
    member(&b, "mesa/src/gone", '2', "not/../there", NULL);
    finish(w, &b);
    assert_int_equal(world_get(w, at(w, "t.tar")), 0);
}

/* Nothing is written through a link that the archive made itself. */
static void a_member_behind_a_link_stays_inside(void **state)
{
    struct world *w = *state;
    struct tp_buf b = {0};
    sh(w, "mkdir victim");
    mesa_members(&b);
    member(&b, "mesa/door", '2', at(w, "victim"), NULL);
    member(&b, "mesa/door/x", '0', NULL, "x");
    finish(w, &b);
    assert_true(world_get(w, at(w, "t.tar")) < 0);
    assert_error(w, TP_STATUS_INPUT, "t.tar", "mesa/door", NULL);
    sh(w, "test -z \"$(ls -A victim)\"");
    assert_nothing_left(w);
}

static void a_member_of_absurd_size_is_refused_unread(void **state)
{
    struct world *w = *state;
    struct tp_buf b = {0};
    mesa_members(&b);
    member(&b, "x", 'x', NULL, "19 size=5000000000\n");
    member(&b, "mesa/big", '0', NULL, "x");
    finish(w, &b);
    assert_true(world_get(w, at(w, "t.tar")) < 0);
    assert_error(w, TP_STATUS_INPUT, "t.tar", "'mesa/big'", "larger", NULL);
    assert_nothing_left(w);
}

static int tell(const char *file, const char *fmt, unsigned id)
{
    int fd = open(file, O_WRONLY | O_CLOEXEC);
    int r = fd < 0 || dprintf(fd, fmt, id) < 0;
    close(fd);
    return r;
}

/* Whoever is not root becomes it in a user namespace, where those are allowed. */
static int mount_small(void *dir)
{
    uid_t uid = getuid();
    gid_t gid = getgid();
    if (unshare(CLONE_NEWNS | (uid ? CLONE_NEWUSER : 0)) < 0)
        return -1;
    if (uid &&
        (tell("/proc/self/setgroups", "deny", 0) || tell("/proc/self/uid_map", "0 %u 1", uid) ||
            tell("/proc/self/gid_map", "0 %u 1", gid)))
        return -1;
    if (mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL) < 0)
        return -1;
    return mount("none", dir, "tmpfs", 0, "size=64k");
}

static void a_full_disk_is_named_and_nothing_stays(void **state)
{
    struct world *w = *state;
    mini_mesa(w, "mesa", "25.0.7");
    sh(w,
        "head -c 200000 /dev/urandom >mesa/src/big; tar cf t.tar mesa; mkdir out;"
        "git -C mesa init -q; git -C mesa add .; git -C mesa commit -qm x; rm -rf g; mv mesa/.git "
        "g");
    char *git = tp_asprintf("git:%s@HEAD", at(w, "g"));
    const char *const specs[] = {at(w, "t.tar"), at(w, "mesa"), git};
    for (size_t i = 0; i < 3; i++) {
        int r = world_get_in_child(w, specs[i], mount_small, w->out);
        if (r == COULD_NOT_PREPARE) {
            free(git);
            skip(); /* no right to mount here */
        }
        assert_int_equal(r, -ENOSPC);
        assert_error(w, TP_STATUS_FAILED, "space", w->dest, NULL);
    }
    free(git);
}

static int limit_files(void *unused)
{
    (void)unused;
    signal(SIGXFSZ, SIG_IGN);
    return setrlimit(RLIMIT_FSIZE, &(struct rlimit){4096, 4096});
}

static void a_file_that_cannot_be_written_whole_undoes_all(void **state)
{
    struct world *w = *state;
    mini_mesa(w, "mesa", "25.0.7");
    sh(w, "head -c 20000 /dev/urandom >mesa/src/big; tar cf t.tar mesa");
    assert_int_equal(world_get_in_child(w, at(w, "t.tar"), limit_files, NULL), -EFBIG);
    assert_non_null(strstr(w->e.what, "mesa/src/big"));
    assert_nothing_left(w);
    assert_int_equal(world_get_in_child(w, at(w, "mesa"), limit_files, NULL), -EFBIG);
    assert_non_null(strstr(w->e.where, "src/big"));
    assert_nothing_left(w);
}

static int hide_tools(void *dir)
{
    return setenv("PATH", dir, 1);
}

static void a_missing_unpacker_is_named_with_its_package(void **state)
{
    struct world *w = *state;
    mini_mesa(w, "mesa", "25.0.7");
    sh(w, "tar cJf t.tar.xz mesa");
    assert_int_equal(world_get_in_child(w, at(w, "t.tar.xz"), hide_tools, w->dir), -ENOENT);
    assert_error(w, TP_STATUS_MISSING, "xz", "apt-get install xz-utils", NULL);
    assert_nothing_left(w);
}

int main(void)
{
#define T(f) cmocka_unit_test_setup_teardown(f, world_setup, world_teardown)
    const struct CMUnitTest tests[] = {
        T(unpacks_every_packing_to_the_same_tree),
        T(takes_each_format_that_tar_writes),
        T(a_stream_may_come_in_pieces_of_any_size),
        T(hard_links_become_copies),
        T(the_epoch_is_in_the_content_not_in_when_it_came),
        T(a_tarball_by_git_archive_tells_its_commit),
        T(a_wrong_hash_is_refused_before_unpacking),
        T(a_truncated_tarball_leaves_nothing),
        T(a_flipped_byte_is_noticed_in_a_packed_tarball),
        T(what_is_no_tarball_is_named),
        T(a_tarball_must_hold_exactly_one_mesa),
        T(hostile_members_are_refused_by_name),
        T(links_through_links_are_followed_to_their_end),
        T(a_member_behind_a_link_stays_inside),
        T(a_member_of_absurd_size_is_refused_unread),
        T(a_full_disk_is_named_and_nothing_stays),
        T(a_file_that_cannot_be_written_whole_undoes_all),
        T(a_missing_unpacker_is_named_with_its_package),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
