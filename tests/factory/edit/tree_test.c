#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/file.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "support.h"

#define FORM(a, b) "  form \"f\"\n    match\n      " a "\n    replace\n      " b "\n"

/* Ten files that variants b and p change differently, one new file a variant. */
static void big_world(struct world *w)
{
    struct tp_buf b = {0};
    for (int i = 0; i < 10; i++) {
        char *path = tp_asprintf("src/d%d/f%d.c", i % 3, i);
        char *text = tp_asprintf("void f%d(void)\n{\n   a(%d);\n}\n", i, i);
        put(w, path, text);
        tp_buf_addf(&b, "edit %s\n  variants b\n" FORM("a($x);", "b($x);"), path);
        tp_buf_addf(&b, "edit %s\n  variants p\n" FORM("a($x);", "p($x, $x);"), path);
        free(text);
        free(path);
    }
    tp_buf_adds(&b, "new-file src/n/b.c\n  from n.c\n  variants b\nnew-file src/n/p.c\n  from n.c\n  variants p\n");
    put_patch(w, "n.c", "int n;\n");
    add_patch(w, "all", tp_buf_str(&b));
    tp_buf_finish(&b);
}

static void be(struct world *w, char variant)
{
    w->sel.variant = variant;
    assert_int_equal(run_and_write(w), 0);
    assert_true(w->s.clean);
}

static int revert(struct world *w)
{
    tp_editing_finish(&w->s);
    w->e = (struct tp_error){0};
    return tp_editing_revert(w->tree, &w->e);
}

static void a_revert_restores_bytes_and_modes(void **state)
{
    struct world *w = *state;
    char before[TP_SHA256_HEX], after[TP_SHA256_HEX];
    big_world(w);
    put(w, "src/crlf.c", "void f(void)\r\n{\r\n   a();\r\n}\r\n\t ");
    put(w, "src/open.py", "#!/usr/bin/env python3\nx = a(1)");
    chmod(at(w, "src/open.py"), 0755);
    chmod(at(w, "src/crlf.c"), 0640);
    add_patch(w, "more", "edit src/crlf.c\n" FORM("a();", "b();") "edit src/open.py\n" FORM("a(1)", "b(1)"));
    hash_tree(w->tree, before);
    be(w, 'b');
    assert_file(w, "src/d0/f0.c", "void f0(void)\n{\n   b(0);\n}\n");
    assert_file(w, "src/n/b.c", "int n;\n");
    struct stat st;
    assert_int_equal(stat(at(w, "src/open.py"), &st), 0);
    assert_int_equal(st.st_mode & 07777, 0755);
    assert_true(is_there(w, ".turnpike/receipt.json"));
    assert_int_equal(revert(w), 0);
    hash_tree(w->tree, after);
    assert_string_equal(before, after);
    assert_false(is_there(w, ".turnpike"));
    assert_int_equal(revert(w), -ENOENT);
    assert_int_equal(w->e.status, TP_STATUS_INPUT);
}

static void a_second_run_writes_nothing(void **state)
{
    struct world *w = *state;
    struct stat one, two;
    big_world(w);
    be(w, 'b');
    assert_int_equal(state_of(w, 0), TP_APPLIED);
    stat(at(w, ".turnpike/receipt.json"), &one);
    be(w, 'b');
    assert_int_equal(state_of(w, 0), TP_ALREADY);
    stat(at(w, ".turnpike/receipt.json"), &two);
    assert_int_equal(one.st_ino, two.st_ino);
}

static void another_variant_takes_the_first_one_back(void **state)
{
    struct world *w = *state;
    char before[TP_SHA256_HEX], p_alone[TP_SHA256_HEX], now[TP_SHA256_HEX];
    big_world(w);
    hash_tree(w->tree, before);
    be(w, 'p');
    hash_tree(w->tree, p_alone);
    assert_int_equal(revert(w), 0);
    be(w, 'b');
    be(w, 'p');
    hash_tree(w->tree, now);
    assert_string_equal(now, p_alone);
    assert_false(is_there(w, "src/n/b.c"));
    be(w, 'b');
    be(w, 'p');
    assert_int_equal(revert(w), 0);
    hash_tree(w->tree, now);
    assert_string_equal(now, before);
}

static void leaving_all_patches_out_takes_them_back(void **state)
{
    struct world *w = *state;
    char before[TP_SHA256_HEX], now[TP_SHA256_HEX];
    big_world(w);
    hash_tree(w->tree, before);
    be(w, 'b');
    const char *without[] = {"all", NULL};
    w->sel.without = without;
    be(w, 'b');
    hash_tree(w->tree, now);
    assert_string_equal(now, before);
    w->sel.without = NULL;
    be(w, 'p');
    assert_int_equal(revert(w), 0);
    hash_tree(w->tree, now);
    assert_string_equal(now, before);
}

static void a_file_that_was_changed_since_is_not_reverted(void **state)
{
    struct world *w = *state;
    char before[TP_SHA256_HEX], now[TP_SHA256_HEX];
    big_world(w);
    be(w, 'b');
    put(w, "src/d0/f3.c", "void f3(void)\n{\n   b(3);\n   mine();\n}\n");
    hash_tree(w->tree, before);
    assert_int_equal(revert(w), -ESTALE);
    assert_string_equal(w->e.where, "src/d0/f3.c");
    assert_non_null(strstr(w->e.what, "changed since"));
    w->sel.variant = 'p';
    assert_int_equal(run_and_write(w), -ESTALE);
    hash_tree(w->tree, now);
    assert_string_equal(before, now);
    /* what does not need the file goes on */
    be(w, 'b');
    assert_int_equal(state_of(w, 0), TP_ALREADY);
}

static void a_repaired_edit_does_not_make_a_revert_lose_others_work(void **state)
{
    struct world *w = *state;
    big_world(w);
    be(w, 'b');
    static const char mine[] = "void f3(void)\n{\n   b(3);\n   mine();\n}\n";
    put(w, "src/d0/f3.c", mine);
    put(w, "src/d1/f1.c", "void f1(void)\n{\n   a(1);\n}\n"); /* the original: to be patched again */
    assert_int_equal(run_and_write(w), -ESTALE); /* the tree looks interrupted: all or nothing */
    assert_file(w, "src/d0/f3.c", mine);
    assert_int_equal(revert(w), -ESTALE);
    assert_file(w, "src/d0/f3.c", mine);
    /* a change that undid the edit: neither */
    put(w, "src/d1/f1.c", "void f1(void)\n{\n   b(1);\n}\n");
    static const char undone[] = "void f3(void)\n{\n   a(3);\n   mine();\n}\n";
    put(w, "src/d0/f3.c", undone);
    assert_int_equal(run_and_write(w), -ESTALE);
    assert_file(w, "src/d0/f3.c", undone);
}

static void an_interrupted_run_is_completed_or_taken_back(void **state)
{
    struct world *w = *state;
    char before[TP_SHA256_HEX], b[TP_SHA256_HEX], p[TP_SHA256_HEX], now[TP_SHA256_HEX];
    big_world(w);
    hash_tree(w->tree, before);
    be(w, 'p');
    hash_tree(w->tree, p);
    assert_int_equal(revert(w), 0);
    be(w, 'b');
    hash_tree(w->tree, b);
    /* some files had not been written yet */
    for (int round = 0; round < 3; round++) {
        put(w, "src/d0/f0.c", "void f0(void)\n{\n   a(0);\n}\n");
        put(w, "src/d1/f4.c", "void f4(void)\n{\n   a(4);\n}\n");
        unlink(at(w, "src/n/b.c"));
        if (round == 0) {
            be(w, 'b');
            hash_tree(w->tree, now);
            assert_string_equal(now, b);
        } else if (round == 1) {
            be(w, 'p');
            hash_tree(w->tree, now);
            assert_string_equal(now, p);
            be(w, 'b');
        } else {
            assert_int_equal(revert(w), 0);
            hash_tree(w->tree, now);
            assert_string_equal(now, before);
        }
    }
}

static void run_in_child(struct world *w, char variant, bool back)
{
    w->sel.variant = variant;
    struct tp_editing s;
    struct tp_error e = {0};
    if (back)
        _exit(tp_editing_revert(w->tree, &e) ? 1 : 0);
    int r = tp_editing_run(&s, w->tree, w->patches, &w->sel, true, &e);
    if (!r)
        r = tp_editing_write(&s, &e);
    _exit(r ? 1 : 0);
}

/* How many temporary files lie about. */
static int leftovers(struct world *w)
{
    char *cmd = tp_asprintf("find '%s' -name '.tp-*' | wc -l", w->tree);
    FILE *f = popen(cmd, "r");
    int n = -1;
    assert_int_equal(fscanf(f, "%d", &n), 1);
    pclose(f);
    free(cmd);
    return n;
}

static void killed_at_any_moment_the_next_run_puts_it_right(void **state)
{
    struct world *w = *state;
    char before[TP_SHA256_HEX], b[TP_SHA256_HEX], p[TP_SHA256_HEX], now[TP_SHA256_HEX];
    big_world(w);
    hash_tree(w->tree, before);
    be(w, 'p');
    hash_tree(w->tree, p);
    be(w, 'b');
    hash_tree(w->tree, b);
    tp_editing_finish(&w->s);
    unsigned seed = 7;
    int killed = 0;
    for (int i = 0; i < 150; i++) {
        char variant = i % 2 ? 'b' : 'p';
        pid_t pid = fork();
        if (pid == 0)
            run_in_child(w, variant, i % 5 == 4);
        seed = seed * 1103515245 + 12345;
        usleep(seed / 65536 % 12000);
        kill(pid, SIGKILL);
        int status;
        assert_int_equal(waitpid(pid, &status, 0), pid);
        killed += WIFSIGNALED(status);
        if (!WIFSIGNALED(status) && i % 5 != 4)
            assert_int_equal(status, 0);
        if (i % 3 == 0) {
            int r = revert(w);
            assert_true(r == 0 || r == -ENOENT);
            hash_tree(w->tree, now);
            if (r == 0)
                assert_int_equal(leftovers(w), 0);
            if (leftovers(w) == 0)
                assert_string_equal(now, before);
        } else {
            variant = i % 4 < 2 ? 'b' : 'p';
            be(w, variant);
            hash_tree(w->tree, now);
            if (leftovers(w) == 0)
                assert_string_equal(now, variant == 'b' ? b : p);
            tp_editing_finish(&w->s);
        }
    }
    assert_true(killed > 0);
    be(w, 'b');
    be(w, 'p');
    assert_int_equal(leftovers(w), 0);
}

static void a_folder_that_cannot_be_written_leaves_the_tree(void **state)
{
    struct world *w = *state;
    char before[TP_SHA256_HEX], now[TP_SHA256_HEX];
    big_world(w);
    chmod(at(w, "src/d1"), 0555);
    chmod(w->dir, 0755);
    hash_tree(w->tree, before);
    pid_t pid = fork();
    if (pid == 0) { /* not as root, who may write anywhere */
        if (geteuid() == 0 && (setgid(65534) || setuid(65534)))
            _exit(9);
        struct tp_editing s;
        struct tp_error e = {0};
        int r = tp_editing_run(&s, w->tree, w->patches, &w->sel, true, &e);
        if (!r)
            r = tp_editing_write(&s, &e);
        tp_editing_finish(&s);
        _exit(r == -EACCES && e.status == TP_STATUS_INPUT && *e.todo ? 0 : 1);
    }
    int status;
    waitpid(pid, &status, 0);
    hash_tree(w->tree, now);
    chmod(at(w, "src/d1"), 0755);
    assert_string_equal(before, now);
    assert_false(is_there(w, ".turnpike"));
    assert_int_equal(status, 0);
}

static void a_full_disk_leaves_the_tree(void **state)
{
    struct world *w = *state;
    char before[TP_SHA256_HEX], now[TP_SHA256_HEX];
    if (mount("none", w->tree, "tmpfs", 0, "size=400k") != 0)
        skip(); /* only root mounts */
    put(w, "VERSION", "25.0.7\n");
    big_world(w);
    int r = 0, reverted = 0;
    bool state_dir = false, same = true;
    for (int filled = 0; filled < 2; filled++) {
        /* from the empty tree, and from one that is patched already */
        if (filled)
            be(w, 'p');
        int fd = open(at(w, "src/fill"), O_CREAT | O_WRONLY, 0600);
        char block[4096] = {0};
        while (write(fd, block, sizeof block) > 0)
            ;
        close(fd);
        for (int room = 0; room < 40 && same; room++) {
            hash_tree(w->tree, before);
            w->sel.variant = 'b';
            r = run_and_write(w);
            if (r == 0)
                break;
            hash_tree(w->tree, now);
            same = r == -ENOSPC && !strcmp(before, now);
            state_dir = !filled && is_there(w, ".turnpike");
            struct stat st;
            stat(at(w, "src/fill"), &st);
            same = same && truncate(at(w, "src/fill"), st.st_size - 8192) == 0;
        }
        unlink(at(w, "src/fill"));
        if (r == 0)
            reverted += revert(w) == 0;
    }
    tp_editing_finish(&w->s);
    umount2(w->tree, MNT_DETACH);
    assert_true(same);
    assert_false(state_dir);
    assert_int_equal(r, 0);
    assert_int_equal(reverted, 2);
}

static void a_link_in_place_of_a_file_is_refused(void **state)
{
    struct world *w = *state;
    put(w, "src/real.c", "void f(void) { a(); }\n");
    assert_int_equal(symlink("real.c", at(w, "src/a.c")), 0);
    add_patch(w, "one", "edit src/a.c\n" FORM("a();", "b();"));
    assert_int_equal(run(w), -EINVAL);
    assert_non_null(strstr(w->e.what, "symbolic link"));
    unlink(at(w, "src/a.c"));
    assert_int_equal(mkfifo(at(w, "src/a.c"), 0600), 0);
    assert_int_equal(run(w), -EINVAL);
    unlink(at(w, "src/a.c"));
    assert_int_equal(tp_mkdirs(at(w, "src/a.c"), NULL), 0);
    assert_int_equal(run(w), -EINVAL);
}

static void what_is_not_mesa_is_refused(void **state)
{
    struct world *w = *state;
    add_patch(w, "one", "edit src/a.c\n" FORM("a();", "b();"));
    static const char *const versions[] = {"", "\n", "25.0 \xff", "\xff\n", "a\"b\n"};
    for (size_t i = 0; i < sizeof versions / sizeof *versions; i++) {
        put(w, "VERSION", versions[i]);
        assert_int_equal(run(w), i == 2 ? 0 : -EINVAL); /* the first word is the version */
    }
    unlink(at(w, "VERSION"));
    assert_int_equal(run(w), -EINVAL);
    assert_non_null(strstr(w->e.what, "no VERSION"));
    put(w, "VERSION", "1\n");
    tp_remove_tree(at(w, "src"), NULL);
    assert_int_equal(run(w), -EINVAL);
    assert_non_null(strstr(w->e.what, "no src/"));
    tp_remove_tree(w->tree, NULL);
    assert_int_equal(run(w), -ENOTDIR);
}

#define H "\"0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef\""
#define FILES(f) "{\"schema\": 1, \"selection\": \"x\", \"files\": [" f "]}"
#define ENTRY(p, b, a, r) "{\"path\": " p ", \"before\": " b ", \"after\": " a ", \"replaced\": " r "}"

static void a_receipt_that_was_tampered_with_is_refused(void **state)
{
    struct world *w = *state;
    static const char *const receipts[] = {
        "", "{", "[]", "null", "1", "{}", "\xff", "{\"selection\": 1, \"files\": []}",
        "{\"selection\": \"x\"}", "{\"selection\": \"x\", \"files\": {}}",
        "{\"schema\": 99, \"selection\": \"x\", \"files\": [" ENTRY("\"src/a.c\"", H, H, H) "]}",
        FILES(""), FILES("1"), FILES("null"), FILES("{}"), FILES("[]"),
        FILES(ENTRY("1", H, H, H)), FILES(ENTRY("null", H, H, H)), FILES(ENTRY("\"\"", H, H, H)),
        FILES(ENTRY("\"/etc/passwd\"", H, H, H)), FILES(ENTRY("\"../x\"", H, H, H)),
        FILES(ENTRY("\"src/../../x\"", H, H, H)), FILES(ENTRY("\"src/a.c/..\"", H, H, H)),
        FILES(ENTRY("\"./src/a.c\"", H, H, H)), FILES(ENTRY("\"src/a.c\"", "1", H, H)),
        FILES(ENTRY("\"src/a.c\"", H, "\"abc\"", H)), FILES(ENTRY("\"src/a.c\"", H, H, "{}")),
        FILES("{\"path\": \"src/a.c\"}"), FILES(ENTRY("\"src/\\u0000a\"", H, H, H)),
    };
    put(w, "src/a.c", "void f(void) { a(); }\n");
    add_patch(w, "one", "edit src/a.c\n" FORM("a();", "b();"));
    for (size_t i = 0; i < sizeof receipts / sizeof *receipts; i++) {
        char before[TP_SHA256_HEX], now[TP_SHA256_HEX];
        hash_tree(w->tree, before);
        put(w, ".turnpike/receipt.json", receipts[i]);
        for (int back = 0; back < 2; back++) {
            int r = back ? revert(w) : run_and_write(w);
            if (r != -EINVAL || !strstr(w->e.what, "damaged"))
                fail_msg("receipt %zu, %s: %d %s", i, receipts[i], r, w->e.what);
            assert_non_null(strstr(w->e.where, "receipt.json:"));
            assert_non_null(strstr(w->e.todo, ".turnpike"));
        }
        hash_tree(w->tree, now);
        assert_string_equal(before, now);
        assert_file(w, ".turnpike/receipt.json", receipts[i]);
    }
    /* right in form, and of another tree */
    put(w, ".turnpike/receipt.json", FILES(ENTRY("\"src/a.c\"", H, H, H)));
    assert_int_equal(revert(w), -ENOENT); /* the original is not there to be read */
    assert_file(w, "src/a.c", "void f(void) { a(); }\n");
}

static void what_a_killed_run_staged_is_cleared_by_the_next(void **state)
{
    struct world *w = *state;
    put(w, "src/a.c", "void f(void) { a(); }\n");
    char before[TP_SHA256_HEX], after[TP_SHA256_HEX];
    hash_tree(w->tree, before);
    put(w, ".turnpike/staged/0", "half a file");
    put(w, ".turnpike/originals/src/a.c", "stale");
    assert_int_equal(revert(w), -ENOENT);
    hash_tree(w->tree, after);
    assert_string_equal(before, after);
}

static void a_merge_left_half_way_is_refused(void **state)
{
    struct world *w = *state;
    add_patch(w, "a", "edit src/a.c\n  form \"f\"\n    match\n      a();\n    replace\n      b();\n");
    put(w, "src/a.c", "void f(void) { a(); }\n<<<<<<< HEAD\nint x;\n=======\nint y;\n>>>>>>> other\n");
    assert_int_equal(run_and_write(w), -EINVAL);
    assert_non_null(strstr(w->e.where, "src/a.c:2"));
    assert_non_null(strstr(w->e.what, "conflict"));
}

static void a_file_in_the_place_of_our_folder_is_left_alone(void **state)
{
    struct world *w = *state;
    put(w, "src/a.c", "void f(void) { a(); }\n");
    add_patch(w, "a", "edit src/a.c\n  form \"f\"\n    match\n      a();\n    replace\n      b();\n");
    put(w, ".turnpike", "mine\n");
    assert_int_equal(run_and_write(w), -ENOTDIR);
    assert_file(w, ".turnpike", "mine\n");
}

static void a_folder_that_leads_out_of_the_tree_is_not_written_through(void **state)
{
    struct world *w = *state;
    add_patch(w, "a", "edit src/a.c\n  form \"f\"\n    match\n      a();\n    replace\n      b();\n");
    char *outside = tp_asprintf("%s-outside", w->tree), *link = tp_join(w->tree, "src");
    char *file = tp_join(outside, "a.c");
    assert_int_equal(tp_mkdirs(outside, NULL), 0);
    assert_int_equal(tp_write_file(file, "void f(void) { a(); }\n", 22, 0644, NULL), 0);
    assert_int_equal(tp_remove_tree(link, NULL), 0);
    assert_int_equal(symlink(outside, link), 0);
    assert_int_equal(run_and_write(w), -EINVAL);
    assert_non_null(strstr(w->e.what, "leads out"));
    assert_int_equal(tp_remove_tree(outside, NULL), 0);
    free(file);
    free(link);
    free(outside);
}

static void a_damaged_original_is_not_put_back(void **state)
{
    struct world *w = *state;
    big_world(w);
    be(w, 'b');
    put(w, ".turnpike/originals/src/d0/f0.c", "something else\n");
    assert_int_equal(revert(w), -ESTALE);
    assert_non_null(strstr(w->e.what, "damaged"));
    assert_file(w, "src/d0/f0.c", "void f0(void)\n{\n   b(0);\n}\n");
    assert_file(w, "src/d1/f1.c", "void f1(void)\n{\n   b(1);\n}\n");
}

static void two_at_once_wait_for_each_other(void **state)
{
    struct world *w = *state;
    big_world(w);
    int fd = open(w->tree, O_RDONLY | O_DIRECTORY);
    assert_int_equal(flock(fd, LOCK_EX), 0);
    assert_int_equal(run_and_write(w), -EBUSY);
    assert_non_null(strstr(w->e.what, "another turnpike"));
    assert_int_equal(flock(fd, LOCK_SH), 0);
    assert_int_equal(run(w), 0); /* readers do not mind */
    assert_int_equal(flock(fd, LOCK_UN), 0);
    close(fd);
    tp_editing_finish(&w->s);
    pid_t pids[4];
    for (int i = 0; i < 4; i++) {
        pids[i] = fork();
        if (pids[i] == 0)
            run_in_child(w, i % 2 ? 'b' : 'p', false);
    }
    for (int i = 0; i < 4; i++) {
        int status;
        assert_int_equal(waitpid(pids[i], &status, 0), pids[i]);
        assert_int_equal(status, 0);
    }
    assert_int_equal(revert(w), 0);
    assert_file(w, "src/d0/f0.c", "void f0(void)\n{\n   a(0);\n}\n");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        in_world(a_revert_restores_bytes_and_modes),
        in_world(a_second_run_writes_nothing),
        in_world(another_variant_takes_the_first_one_back),
        in_world(leaving_all_patches_out_takes_them_back),
        in_world(a_file_that_was_changed_since_is_not_reverted),
        in_world(a_repaired_edit_does_not_make_a_revert_lose_others_work),
        in_world(an_interrupted_run_is_completed_or_taken_back),
        in_world(killed_at_any_moment_the_next_run_puts_it_right),
        in_world(a_folder_that_cannot_be_written_leaves_the_tree),
        in_world(a_full_disk_leaves_the_tree),
        in_world(a_link_in_place_of_a_file_is_refused),
        in_world(what_is_not_mesa_is_refused),
        in_world(a_receipt_that_was_tampered_with_is_refused),
        in_world(what_a_killed_run_staged_is_cleared_by_the_next),
        in_world(a_merge_left_half_way_is_refused),
        in_world(a_file_in_the_place_of_our_folder_is_left_alone),
        in_world(a_folder_that_leads_out_of_the_tree_is_not_written_through),
        in_world(a_damaged_original_is_not_put_back),
        in_world(two_at_once_wait_for_each_other),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
