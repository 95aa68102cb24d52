#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <sys/wait.h>
#include <unistd.h>

#include "support.h"

static char *in(void **state, const char *name)
{
    return tp_join(*state, name);
}

static void put(const char *path, const char *text)
{
    struct tp_error e = {0};
    assert_int_equal(tp_write_file(path, text, strlen(text), 0644, &e), 0);
}

static void assert_holds(const char *path, const char *text)
{
    struct tp_buf b = {0};
    assert_int_equal(tp_read_file(path, 0, &b, NULL), 0);
    assert_string_equal(tp_buf_str(&b), text);
    tp_buf_finish(&b);
}

static int entries(const char *dir)
{
    struct tp_buf cmd = {0};
    tp_buf_addf(&cmd, "ls -A '%s' | wc -l", dir);
    FILE *p = popen(tp_buf_str(&cmd), "r");
    int n = -1;
    assert_int_equal(fscanf(p, "%d", &n), 1);
    pclose(p);
    tp_buf_finish(&cmd);
    return n;
}

static void a_file_of_the_limit_is_read_and_one_byte_more_is_refused(void **state)
{
    char *path = in(state, "f");
    put(path, "12345");
    struct tp_buf b = {0};
    struct tp_error e = {0};
    assert_int_equal(tp_read_file(path, 5, &b, &e), 0);
    assert_int_equal(b.len, 5);
    assert_int_equal(tp_read_file(path, 4, &b, &e), -EFBIG);
    assert_int_equal(e.status, TP_STATUS_INPUT);
    assert_string_equal(e.where, path);
    assert_non_null(strstr(e.what, "5 bytes"));
    tp_buf_finish(&b);
    free(path);
}

static void only_regular_files_are_read(void **state)
{
    struct tp_buf b = {0};
    struct tp_error e = {0};
    assert_int_equal(tp_read_file(*state, 0, &b, &e), -EISDIR);
    char *fifo = in(state, "fifo");
    assert_int_equal(mkfifo(fifo, 0600), 0);
    assert_int_equal(tp_read_file(fifo, 0, &b, NULL), -EINVAL); /* and does not wait for a writer */
    assert_int_equal(tp_read_file("/dev/zero", 10, &b, NULL), -EINVAL);
    char *none = in(state, "none");
    struct tp_error f = {0};
    assert_int_equal(tp_read_file(none, 0, &b, &f), -ENOENT);
    assert_string_equal(f.where, none);
    tp_buf_finish(&b);
    free(fifo);
    free(none);
}

static void what_may_not_be_read_need_not_be_writable(void **state)
{
    char *path = in(state, "closed");
    put(path, "x");
    assert_int_equal(chmod(path, 0), 0);
    struct tp_buf b = {0};
    struct tp_error e = {0};
    bool root = geteuid() == 0;
    if (root)
        assert_int_equal(seteuid(65534), 0);
    int r = tp_read_file(path, 0, &b, &e);
    if (root)
        assert_int_equal(seteuid(0), 0);
    assert_int_equal(r, -EACCES);
    assert_int_equal(e.status, TP_STATUS_INPUT);
    assert_string_equal(e.todo, "make it readable for this user");
    tp_buf_finish(&b);
    free(path);
}

static void writing_replaces_a_file_and_keeps_its_mode(void **state)
{
    char *path = in(state, "f");
    struct stat st;
    assert_int_equal(tp_write_file(path, "one", 3, 0640, NULL), 0);
    assert_int_equal(stat(path, &st), 0);
    assert_int_equal(st.st_mode & 07777, 0640);
    assert_int_equal(chmod(path, 0755), 0);
    assert_int_equal(tp_write_file(path, "two", 3, 0600, NULL), 0);
    assert_holds(path, "two");
    assert_int_equal(stat(path, &st), 0);
    assert_int_equal(st.st_mode & 07777, 0755);
    assert_int_equal(tp_write_file(path, NULL, 0, 0600, NULL), 0);
    assert_holds(path, "");
    assert_int_equal(entries(*state), 1);
    free(path);
}

static void writing_through_a_link_keeps_the_link(void **state)
{
    char *path = in(state, "real"), *link = in(state, "link");
    put(path, "old");
    assert_int_equal(symlink("real", link), 0);
    put(link, "new");
    struct stat st;
    assert_int_equal(lstat(link, &st), 0);
    assert_true(S_ISLNK(st.st_mode));
    assert_holds(path, "new");
    free(path);
    free(link);
}

static void a_device_is_written_into_not_replaced(void **state)
{
    char *node = in(state, "null"), *fifo = in(state, "fifo");
    if (mknod(node, S_IFCHR | 0666, makedev(1, 3)) == 0) {
        struct stat st;
        int r = tp_write_file(node, "x", 1, 0644, NULL);
        assert_int_equal(stat(node, &st), 0);
        assert_true(S_ISCHR(st.st_mode));
        assert_true(r == 0 || r == -EACCES || r == -EPERM); /* a mount may forbid devices */
    }
    assert_int_equal(mkfifo(fifo, 0600), 0);
    int fd = open(fifo, O_RDWR);
    assert_true(fd >= 0);
    assert_int_equal(tp_write_file(fifo, "hello", 5, 0644, NULL), 0);
    char text[6] = {0};
    assert_int_equal(read(fd, text, 5), 5);
    assert_string_equal(text, "hello");
    close(fd);
    free(node);
    free(fifo);
}

/* As a shell leaves it: >> log, and others that write there, too. */
static void a_descriptor_is_written_to_where_it_stands(void **state)
{
    char *path = in(state, "log");
    put(path, "before\n");
    int fd = open(path, O_WRONLY | O_APPEND | O_CLOEXEC);
    char *name = tp_asprintf("/dev/fd/%d", fd);
    struct stat was, is;
    assert_int_equal(stat(path, &was), 0);
    assert_int_equal(tp_try_write(name, NULL), 0);
    put(name, "ours\n");
    assert_int_equal(write(fd, "after\n", 6), 6);
    assert_holds(path, "before\nours\nafter\n");
    assert_int_equal(stat(path, &is), 0);
    assert_int_equal(is.st_ino, was.st_ino);
    close(fd);
    assert_int_equal(tp_try_write(name, NULL), -EBADF);
    assert_int_equal(tp_write_file(name, "x", 1, 0644, NULL), -EBADF);
    free(name);
    free(path);
}

static void descriptors_are_told_by_their_names(void **state)
{
    (void)state;
    assert_int_equal(tp_named_descriptor("/dev/stdout"), 1);
    assert_int_equal(tp_named_descriptor("/dev/stderr"), 2);
    assert_int_equal(tp_named_descriptor("/dev/fd/17"), 17);
    assert_int_equal(tp_named_descriptor("/proc/self/fd/3"), 3);
    static const char *const none[] = {"-", "stdout", "/dev/null", "/dev/fd/", "/dev/fd/-1",
        "/dev/fd/1x", "/dev/fd/99999999999", "/dev/fd/1/x"};
    for (size_t i = 0; i < sizeof none / sizeof *none; i++)
        assert_int_equal(tp_named_descriptor(none[i]), -1);
}

static void a_pipe_that_nobody_reads_is_refused(void **state)
{
    char *fifo = in(state, "fifo");
    struct tp_error e = {0};
    assert_int_equal(mkfifo(fifo, 0600), 0);
    assert_int_equal(tp_write_file(fifo, "hello", 5, 0644, &e), -ENXIO);
    assert_int_equal(e.status, TP_STATUS_FAILED);
    assert_non_null(strstr(e.what, "nobody reads"));
    free(fifo);
}

static void a_blocked_signal_ends_the_wait_for_a_pipe(void **state)
{
    char *fifo = in(state, "fifo");
    sigset_t term, before;
    int sig;
    assert_int_equal(mkfifo(fifo, 0600), 0);
    sigemptyset(&term);
    sigaddset(&term, SIGTERM);
    sigprocmask(SIG_BLOCK, &term, &before);
    raise(SIGTERM);
    assert_int_equal(tp_write_file(fifo, "hello", 5, 0644, NULL), -EINTR);
    sigwait(&term, &sig);
    sigprocmask(SIG_SETMASK, &before, NULL);
    free(fifo);
}

static void a_write_that_fails_leaves_nothing(void **state)
{
    struct tp_error e = {0};
    assert_int_equal(tp_write_file(*state, "x", 1, 0644, &e), -EISDIR);
    char *none = in(state, "no/such/folder");
    assert_int_equal(tp_write_file(none, "x", 1, 0644, NULL), -ENOENT);
    assert_int_equal(entries(*state), 0);
    free(none);
}

static void a_full_disk_leaves_the_old_file(void **state)
{
    if (mount("none", *state, "tmpfs", 0, "size=256k") != 0)
        skip(); /* only root mounts */
    char *path = in(state, "f");
    put(path, "old");
    char *big = calloc(1, 1 << 20);
    struct tp_error e = {0};
    int r = tp_write_file(path, big, 1 << 20, 0644, &e);
    int left = entries(*state);
    struct tp_buf b = {0};
    int read = tp_read_file(path, 0, &b, NULL);
    umount(*state);
    assert_int_equal(r, -ENOSPC);
    assert_non_null(strstr(e.todo, "free some space"));
    assert_int_equal(left, 1);
    assert_int_equal(read, 0);
    assert_string_equal(tp_buf_str(&b), "old");
    tp_buf_finish(&b);
    free(big);
    free(path);
}

static void a_copy_has_the_bytes_and_the_mode(void **state)
{
    char *a = in(state, "a"), *b = in(state, "b");
    put(a, "text");
    chmod(a, 0751);
    assert_int_equal(tp_copy_file(a, b, NULL), 0);
    struct stat st;
    assert_int_equal(stat(b, &st), 0);
    assert_int_equal(st.st_mode & 0777, 0751);
    assert_holds(b, "text");
    char *none = in(state, "none");
    assert_int_equal(tp_copy_file(none, a, NULL), -ENOENT);
    assert_holds(a, "text");
    free(a);
    free(b);
    free(none);
}

static void folders_are_made_with_those_above(void **state)
{
    char *deep = in(state, "a//b/c/"), *file = in(state, "x/y/file"), *under = in(state, "f/g");
    char *f = in(state, "f");
    assert_int_equal(tp_mkdirs(deep, NULL), 0);
    assert_int_equal(tp_mkdirs(deep, NULL), 0);
    assert_true(tp_is_dir(deep));
    assert_int_equal(tp_mkdirs_for(file, NULL), 0);
    put(file, "");
    put(f, "");
    struct tp_error e = {0};
    assert_int_equal(tp_mkdirs(under, &e), -ENOTDIR);
    assert_int_equal(tp_mkdirs(f, NULL), -ENOTDIR);
    assert_int_equal(tp_mkdirs("", NULL), -ENOENT);
    assert_int_equal(tp_mkdirs("/", NULL), 0);
    assert_int_equal(tp_mkdirs_for("file", NULL), 0);
    free(deep);
    free(file);
    free(under);
    free(f);
}

static void removing_a_tree_does_not_follow_links(void **state)
{
    char *keep = in(state, "keep/file"), *tree = in(state, "tree"), *link = in(state, "tree/sub/link");
    char *keep_dir = in(state, "keep");
    assert_int_equal(tp_mkdirs_for(keep, NULL), 0);
    put(keep, "kept");
    assert_int_equal(tp_mkdirs_for(link, NULL), 0);
    assert_int_equal(symlink(keep_dir, link), 0);
    char *file = in(state, "tree/sub/f");
    put(file, "");
    assert_int_equal(tp_remove_tree(tree, NULL), 0);
    assert_false(tp_exists(tree));
    assert_holds(keep, "kept");
    /* the link itself, when it is named */
    char *top = in(state, "top");
    assert_int_equal(symlink(keep_dir, top), 0);
    assert_int_equal(tp_remove_tree(top, NULL), 0);
    assert_false(tp_exists(top));
    assert_holds(keep, "kept");
    assert_int_equal(tp_remove_tree(top, NULL), 0); /* not there: no error */
    free(keep);
    free(keep_dir);
    free(tree);
    free(link);
    free(file);
    free(top);
}

static void what_dead_processes_left_is_swept(void **state)
{
    pid_t dead = fork();
    if (dead == 0)
        _exit(0);
    waitpid(dead, NULL, 0);
    char *name = tp_asprintf(".tp-%ld-abc123", (long)dead);
    char *theirs = in(state, name), *inside = tp_join(theirs, "sub/file");
    assert_int_equal(tp_mkdirs_for(inside, NULL), 0);
    put(inside, "x");
    char *parents = tp_asprintf("%s/.tp-%ld-abc123", (char *)*state, (long)getppid());
    put(parents, "alive");
    char *mine = tp_temp_dir(*state, NULL);
    assert_non_null(mine);
    char *other = in(state, ".tp-x"), *negative = in(state, ".tp--1-x");
    put(other, "");
    put(negative, "");
    tp_sweep_temp(*state);
    assert_false(tp_exists(theirs));
    assert_true(tp_exists(parents));
    assert_true(tp_is_dir(mine));
    assert_true(tp_exists(other));
    assert_true(tp_exists(negative));
    tp_sweep_temp("/no/such/folder");
    free(name);
    free(theirs);
    free(inside);
    free(parents);
    free(mine);
    free(other);
    free(negative);
}

static void paths_are_joined(void **state)
{
    (void)state;
    static const char *const rows[][3] = {
        {"a", "b", "a/b"}, {"a/", "b", "a/b"}, {"a", "/b", "/b"}, {"", "b", "b"}, {"/", "b", "/b"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        char *got = tp_join(rows[i][0], rows[i][1]);
        assert_string_equal(got, rows[i][2]);
        free(got);
    }
}

static void absolute_paths_have_no_dots(void **state)
{
    assert_int_equal(chdir(*state), 0);
    char cwd[4096];
    assert_non_null(getcwd(cwd, sizeof cwd));
    static const char *const rows[][2] = {
        {"/a/b", "/a/b"},       {"/a//b/", "/a/b"},   {"/a/./b/.", "/a/b"}, {"/a/../b", "/b"},
        {"/../..", "/"},        {"/", "/"},           {"//", "/"},          {"/a/b/../../..", "/"},
        {"/a/..b/...", "/a/..b/..."}, {"/a/.b", "/a/.b"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        char *got = tp_absolute(rows[i][0]);
        assert_string_equal(got, rows[i][1]);
        free(got);
    }
    char *got = tp_absolute("x/../y"), *want = tp_join(cwd, "y");
    assert_string_equal(got, want);
    free(got);
    free(want);
    got = tp_absolute(".");
    assert_string_equal(got, cwd);
    free(got);
    /* the folder below our feet goes away */
    char *gone = in(state, "gone");
    assert_int_equal(tp_mkdirs(gone, NULL), 0);
    assert_int_equal(chdir(gone), 0);
    assert_int_equal(rmdir(gone), 0);
    got = tp_absolute("ab/c");
    assert_string_equal(got, "ab/c");
    free(got);
    free(gone);
    assert_int_equal(chdir("/"), 0);
}

static void relative_paths_lead_from_one_folder_to_another(void **state)
{
    (void)state;
    static const char *const rows[][3] = {
        {"/a/b/c", "/a/b", "c"},     {"/a/b", "/a/b", "."},     {"/a/b", "/a/bc", "../b"},
        {"/a/bc", "/a/b", "../bc"},  {"/x/y", "/a/b", "../../x/y"}, {"/a/b", "/", "a/b"},
        {"/a", "/a/b", ".."},        {"/", "/a/b", "../.."},    {"/a/b", "/a/b/c/d", "../.."},
        {"/a/x/f", "/a/y/z", "../../x/f"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        char *got = tp_relative(rows[i][0], rows[i][1]);
        assert_string_equal(got, rows[i][2]);
        free(got);
    }
}

static void a_parent_is_what_comes_before_the_last_slash(void **state)
{
    static const char *const rows[][2] = {
        {"a/b/c", "a/b"}, {"/a/b", "/a"}, {"/a", "/"}, {"a", "."}, {"./a", "."}, {"a/", "a"}};
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        char *parent = tp_parent(rows[i][0]);
        assert_string_equal(parent, rows[i][1]);
        free(parent);
    }
}

static void a_base_name_is_what_follows_the_last_slash(void **state)
{
    (void)state;
    static const char *const rows[][2] = {
        {"a/b/c.so", "c.so"}, {"/c", "c"}, {"c", "c"}, {"", ""}, {"a/", ""}, {"./-c", "-c"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        assert_string_equal(tp_base_name(rows[i][0]), rows[i][1]);
}

/* FIPS 180-2, appendix B, and the empty message. */
static void hashes_are_those_of_the_standard(void **state)
{
    char *million = malloc(1000000), sum[TP_SHA256_HEX];
    memset(million, 'a', 1000000);
    const struct {
        const char *text;
        size_t len;
        const char *sum;
    } rows[] = {
        {"", 0, "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"},
        {"abc", 3, "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"},
        {"abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq", 56,
         "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1"},
        {million, 1000000, "cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0"},
    };
    char *path = in(state, "f");
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        tp_sha256(rows[i].text, rows[i].len, sum);
        assert_string_equal(sum, rows[i].sum);
        assert_int_equal(tp_write_file(path, rows[i].text, rows[i].len, 0644, NULL), 0);
        assert_int_equal(tp_sha256_file(path, sum, NULL), 0);
        assert_string_equal(sum, rows[i].sum);
    }
    tp_sha256(NULL, 0, sum);
    assert_string_equal(sum, rows[0].sum);
    struct tp_error e = {0};
    char *none = in(state, "none");
    assert_int_equal(tp_sha256_file(none, sum, &e), -ENOENT);
    assert_int_equal(tp_sha256_file(*state, sum, NULL), -EISDIR);
    free(none);
    free(path);
    free(million);
}

static void data_is_never_taken_from_the_current_folder(void **state)
{
    char *here = in(state, "only-here");
    assert_int_equal(tp_mkdirs(here, NULL), 0);
    assert_int_equal(chdir(*state), 0);
    unsetenv("TURNPIKE_DATADIR");
    struct tp_error e = {0};
    assert_null(tp_data_path("only-here", &e));
    assert_int_equal(e.status, TP_STATUS_MISSING);
    assert_non_null(strstr(e.todo, "TURNPIKE_DATADIR"));
    setenv("TURNPIKE_DATADIR", "", 1);
    assert_null(tp_data_path("only-here", NULL));
    assert_int_equal(chdir("/"), 0);
    setenv("TURNPIKE_DATADIR", *state, 1);
    char *got = tp_data_path("only-here", NULL);
    assert_string_equal(got, here);
    free(got);
    free(here);
    unsetenv("TURNPIKE_DATADIR");
}

/* What tp_data_path answers in a copy of this program at `program`, run in the folder `cwd`. Caller
 * frees; "" when nothing is found. */
static char *asked_of(const char *program, const char *name, const char *cwd)
{
    char *cmd = tp_asprintf("cd '%s' && env -u TURNPIKE_DATADIR '%s' --data-path %s", cwd, program,
                            name);
    FILE *p = popen(cmd, "r");
    char line[4096] = "";
    if (!fgets(line, sizeof line, p))
        line[0] = 0;
    pclose(p);
    free(cmd);
    return tp_strdup(line);
}

static void assert_answers(const char *program, const char *cwd, const char *want)
{
    char *got = asked_of(program, "patches", cwd);
    assert_string_equal(got, want);
    free(got);
}

static void data_is_looked_for_beside_the_program_then_where_it_is_installed(void **state)
{
    char *program = in(state, "bin/program"), *here = in(state, "here/patches");
    char *cwd = in(state, "here"), *beside = in(state, "bin/patches");
    char *installed = in(state, "share/turnpike/patches");
    assert_int_equal(tp_mkdirs_for(program, NULL), 0);
    assert_int_equal(tp_copy_file("/proc/self/exe", program, NULL), 0);
    assert_int_equal(tp_mkdirs(here, NULL), 0);
    /* Neither is there: the sources that this test was compiled from. */
    char *source = asked_of(program, "patches", cwd);
    assert_true(strlen(source) > 8);
    assert_string_equal(source + strlen(source) - 8, "/patches");
    assert_string_not_equal(source, here);
    assert_int_equal(tp_mkdirs(installed, NULL), 0);
    assert_answers(program, cwd, installed);
    assert_int_equal(tp_mkdirs(beside, NULL), 0);
    assert_answers(program, cwd, beside);
    free(program);
    free(here);
    free(cwd);
    free(beside);
    free(installed);
    free(source);
}

static void the_free_space_is_that_of_df(void **state)
{
    char *cmd = tp_asprintf("df --output=avail -B1 '%s' | tail -n 1", (char *)*state);
    FILE *p = popen(cmd, "r");
    long long want = 0;
    assert_int_equal(fscanf(p, "%lld", &want), 1);
    pclose(p);
    /* Others write as well. */
    assert_true(llabs(tp_free_bytes(*state) - want) < 1LL << 32);
    assert_int_equal(tp_free_bytes("/no/such/place"), -1);
    free(cmd);
}

static void a_named_data_folder_is_the_only_one_looked_at(void **state)
{
    unsetenv("TURNPIKE_DATADIR");
    char exe[4096];
    ssize_t n = readlink("/proc/self/exe", exe, sizeof exe - 1);
    assert_true(n > 0);
    exe[n] = 0;
    char *base = strrchr(exe, '/') + 1;
    char *beside = tp_data_path(base, NULL); /* the program itself lies beside the program */
    assert_string_equal(beside, exe);
    free(beside);
    setenv("TURNPIKE_DATADIR", *state, 1);
    struct tp_error e = {0};
    assert_null(tp_data_path(base, &e));
    assert_non_null(strstr(e.what, *state));
    unsetenv("TURNPIKE_DATADIR");
}

int main(int argc, char **argv)
{
    if (argc == 3 && !strcmp(argv[1], "--data-path")) {
        char *path = tp_data_path(argv[2], NULL);
        fputs(path ? path : "", stdout);
        free(path);
        return 0;
    }
    const struct CMUnitTest tests[] = {
        in_folder(a_file_of_the_limit_is_read_and_one_byte_more_is_refused),
        in_folder(only_regular_files_are_read),
        in_folder(what_may_not_be_read_need_not_be_writable),
        in_folder(writing_replaces_a_file_and_keeps_its_mode),
        in_folder(writing_through_a_link_keeps_the_link),
        in_folder(a_device_is_written_into_not_replaced),
        in_folder(a_descriptor_is_written_to_where_it_stands),
        in_folder(descriptors_are_told_by_their_names),
        in_folder(a_pipe_that_nobody_reads_is_refused),
        in_folder(a_blocked_signal_ends_the_wait_for_a_pipe),
        in_folder(a_write_that_fails_leaves_nothing),
        in_folder(a_full_disk_leaves_the_old_file),
        in_folder(a_copy_has_the_bytes_and_the_mode),
        in_folder(folders_are_made_with_those_above),
        in_folder(removing_a_tree_does_not_follow_links),
        in_folder(what_dead_processes_left_is_swept),
        in_folder(paths_are_joined),
        in_folder(absolute_paths_have_no_dots),
        in_folder(relative_paths_lead_from_one_folder_to_another),
        in_folder(a_base_name_is_what_follows_the_last_slash),
        in_folder(a_parent_is_what_comes_before_the_last_slash),
        in_folder(hashes_are_those_of_the_standard),
        in_folder(data_is_never_taken_from_the_current_folder),
        in_folder(data_is_looked_for_beside_the_program_then_where_it_is_installed),
        in_folder(the_free_space_is_that_of_df),
        in_folder(a_named_data_folder_is_the_only_one_looked_at),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
