/* Files that are written bit by bit. */
#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/output.h"
#include "support.h"

static char *in(void **state, const char *name)
{
    return tp_join(*state, name);
}

static void assert_holds(const char *path, const char *text)
{
    struct tp_buf b = {0};
    assert_int_equal(tp_read_file(path, 0, &b, NULL), 0);
    assert_string_equal(tp_buf_str(&b), text);
    tp_buf_finish(&b);
}

static int entries(const char *folder)
{
    char *command = tp_asprintf("ls -A '%s' | wc -l", folder);
    FILE *p = popen(command, "r");
    int n = -1;
    assert_int_equal(fscanf(p, "%d", &n), 1);
    pclose(p);
    free(command);
    return n;
}

static void write_text(const char *path, const char *text, bool keep)
{
    struct tp_output o;
    struct tp_error e = {0};
    assert_int_equal(tp_output_open(path, &o, &e), 0);
    fputs(text, o.file);
    assert_int_equal(tp_output_close(&o, keep, &e), 0);
}

static void a_file_is_there_when_it_is_whole(void **state)
{
    char *path = in(state, "f");
    struct tp_output o;
    assert_int_equal(tp_output_open(path, &o, NULL), 0);
    fputs("half", o.file);
    fflush(o.file);
    assert_false(tp_exists(path));
    fputs(" and half", o.file);
    assert_int_equal(tp_output_close(&o, true, NULL), 0);
    assert_holds(path, "half and half");
    assert_int_equal(entries(*state), 1);
    free(path);
}

static void what_is_not_kept_leaves_the_old_file_and_nothing_else(void **state)
{
    char *path = in(state, "f");
    write_text(path, "old", true);
    write_text(path, "new", false);
    assert_holds(path, "old");
    assert_int_equal(entries(*state), 1);
    free(path);
}

static void a_file_keeps_its_rights_and_a_link_its_place(void **state)
{
    char *path = in(state, "f"), *link = in(state, "link");
    struct stat st;
    write_text(path, "old", true);
    assert_int_equal(chmod(path, 0640), 0);
    assert_int_equal(symlink("f", link), 0);
    write_text(link, "new", true);
    assert_holds(path, "new");
    assert_int_equal(stat(path, &st), 0);
    assert_int_equal(st.st_mode & 07777, 0640);
    assert_int_equal(lstat(link, &st), 0);
    assert_true(S_ISLNK(st.st_mode));
    free(link);
    free(path);
}

static void a_descriptor_is_written_to_where_it_stands(void **state)
{
    char *path = in(state, "log");
    write_text(path, "before\n", true);
    int fd = open(path, O_WRONLY | O_APPEND | O_CLOEXEC);
    char *name = tp_asprintf("/proc/self/fd/%d", fd);
    write_text(name, "ours\n", true);
    assert_holds(path, "before\nours\n");
    close(fd);
    free(name);
    free(path);
}

static void a_full_disk_is_said_in_the_end(void **state)
{
    (void)state;
    struct tp_output o;
    struct tp_error e = {0};
    assert_int_equal(tp_output_open("/dev/full", &o, &e), 0);
    fputs("text", o.file);
    assert_int_equal(tp_output_close(&o, true, &e), -ENOSPC);
    assert_string_equal(e.where, "/dev/full");
}

static void a_folder_that_is_none_is_said_at_once(void **state)
{
    char *path = in(state, "none/f");
    struct tp_output o;
    struct tp_error e = {0};
    assert_int_equal(tp_output_open(path, &o, &e), -ENOENT);
    assert_null(o.file);
    assert_int_equal(tp_output_close(&o, true, &e), 0);
    assert_int_equal(tp_output_open(*state, &o, &e), -EISDIR);
    free(path);
}

static void a_program_that_is_killed_leaves_nothing(void **state)
{
    char *path = in(state, "f");
    pid_t child = fork();
    int status;
    if (child == 0) {
        struct tp_output o;
        tp_output_open(path, &o, NULL);
        fputs("text", o.file);
        fflush(o.file);
        raise(SIGKILL);
    }
    assert_int_equal(waitpid(child, &status, 0), child);
    int fd = open(*state, O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);
    if (fd >= 0) { /* else this file system has no files without names */
        assert_int_equal(entries(*state), 0);
        close(fd);
    }
    free(path);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        in_folder(a_file_is_there_when_it_is_whole),
        in_folder(what_is_not_kept_leaves_the_old_file_and_nothing_else),
        in_folder(a_file_keeps_its_rights_and_a_link_its_place),
        in_folder(a_descriptor_is_written_to_where_it_stands),
        in_folder(a_full_disk_is_said_in_the_end),
        in_folder(a_folder_that_is_none_is_said_at_once),
        in_folder(a_program_that_is_killed_leaves_nothing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
