#include "base/proc.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static volatile sig_atomic_t interrupted;

static void on_interrupt(int sig)
{
    interrupted = sig;
}

void tp_catch_interrupts(void)
{
    struct sigaction sa = {.sa_handler = on_interrupt};
    sigaction(SIGINT, &sa, NULL);
    sigaction(SIGTERM, &sa, NULL);
    sigaction(SIGHUP, &sa, NULL);
}

bool tp_interrupted(void)
{
    return interrupted != 0;
}

int tp_interrupt_signal(void)
{
    return interrupted;
}

int64_t tp_now_ns(void)
{
    struct timespec ts;
    clock_gettime(CLOCK_MONOTONIC, &ts);
    return (int64_t)ts.tv_sec * 1000000000 + ts.tv_nsec;
}

static bool is_program(const char *path)
{
    struct stat st;
    return stat(path, &st) == 0 && S_ISREG(st.st_mode) && access(path, X_OK) == 0;
}

static char *find_program(const char *name)
{
    if (strchr(name, '/'))
        return is_program(name) ? tp_strdup(name) : NULL;
    const char *path = getenv("PATH");
    if (!path || !*path)
        path = "/usr/local/bin:/usr/bin:/bin";
    while (*path) {
        const char *end = strchrnul(path, ':');
        char *full = tp_asprintf("%.*s/%s", (int)(end - path), end == path ? "." : path, name);
        if (is_program(full))
            return full;
        free(full);
        path = *end ? end + 1 : end;
    }
    return NULL;
}

bool tp_have_program(const char *name)
{
    char *p = find_program(name);
    free(p);
    return p != NULL;
}

struct pipe_end {
    int fd;
    struct tp_buf *into;
    bool lines;
};

/* In the child: only async-signal-safe calls and the environment set up before the fork. */
static void child(const struct tp_cmd *cmd, const char *program, char *const *env, int out, int err,
                  int report)
{
    setpgid(0, 0);
    int null = open("/dev/null", O_RDONLY);
    if (null < 0 || dup2(null, 0) < 0 || dup2(out, 1) < 0 || dup2(err, 2) < 0)
        goto fail;
    if (cmd->cwd && chdir(cmd->cwd) < 0)
        goto fail;
    struct sigaction sa = {.sa_handler = SIG_DFL};
    sigaction(SIGINT, &sa, NULL);
    sigaction(SIGTERM, &sa, NULL);
    sigaction(SIGHUP, &sa, NULL);
    sigaction(SIGPIPE, &sa, NULL);
    execve(program, (char *const *)cmd->argv, env);
fail:;
    int code = errno;
    ssize_t ignored = write(report, &code, sizeof code);
    (void)ignored;
    _exit(127);
}

static char **merge_env(const char *const *add)
{
    extern char **environ;
    size_t n = 0, extra = 0;
    while (environ[n])
        n++;
    while (add && add[extra])
        extra++;
    char **env = tp_calloc(n + extra + 1, sizeof *env);
    size_t out = 0;
    for (size_t i = 0; i < n; i++) {
        bool replaced = false;
        for (size_t k = 0; k < extra && !replaced; k++) {
            size_t len = (size_t)(strchrnul(add[k], '=') - add[k]);
            replaced = !strncmp(environ[i], add[k], len) && environ[i][len] == '=';
        }
        if (!replaced)
            env[out++] = environ[i];
    }
    for (size_t k = 0; k < extra; k++) {
        if (strchr(add[k], '='))
            env[out++] = (char *)add[k];
    }
    return env;
}

static void deliver(const struct tp_cmd *cmd, struct pipe_end *p, struct tp_buf *line,
                    const char *data, size_t n)
{
    size_t limit = cmd->max_output_bytes ? cmd->max_output_bytes : (size_t)16 << 20;
    if (p->into && p->into->len < limit)
        tp_buf_add(p->into, data, n < limit - p->into->len ? n : limit - p->into->len);
    if (cmd->log_fd > 0 && write(cmd->log_fd, data, n) < 0) {
        /* a log on a full disk must not end the build; the build will say it itself */
    }
    if (!p->lines || !cmd->on_line)
        return;
    for (size_t i = 0; i < n; i++) {
        if (data[i] == '\n') {
            cmd->on_line(cmd->data, tp_buf_str(line));
            tp_buf_clear(line);
        } else if (line->len < 65536) {
            tp_buf_addc(line, data[i]);
        }
    }
}

static int stop_group(pid_t pid)
{
    int status = 0;
    kill(-pid, SIGTERM);
    for (int i = 0; i < 200; i++) {
        pid_t r = waitpid(pid, &status, WNOHANG);
        if (r == pid || (r < 0 && errno == ECHILD)) {
            kill(-pid, SIGKILL);
            return status;
        }
        usleep(10000);
    }
    kill(-pid, SIGKILL);
    while (waitpid(pid, &status, 0) < 0 && errno == EINTR)
        ;
    return status;
}

/* What two pipes can hold (fs.pipe-max-size) when a program ends. */
enum { MAX_LEFT_BYTES = 2 << 20 };

/* Has the program ended? Then its group is ended, too, while its number cannot be another's yet. */
static bool has_ended(pid_t pid, int *status)
{
    siginfo_t info = {0};
    int r = waitid(P_PID, (id_t)pid, &info, WEXITED | WNOHANG | WNOWAIT);
    if (r < 0)
        return errno != EINTR;
    if (info.si_pid != pid)
        return false;
    kill(-pid, SIGKILL);
    while (waitpid(pid, status, 0) < 0 && errno == EINTR)
        ;
    return true;
}

static int spawn(const struct tp_cmd *cmd, const char *program, int out_w, int err_w, pid_t *pid)
{
    int report[2];
    if (pipe2(report, O_CLOEXEC) < 0)
        return -errno;
    char **env = merge_env(cmd->env);
    *pid = fork();
    if (*pid == 0)
        child(cmd, program, env, out_w, err_w, report[1]);
    int r = *pid < 0 ? -errno : 0;
    close(report[1]);
    free(env);
    if (!r) {
        setpgid(*pid, *pid);
        int code = 0;
        ssize_t n;
        while ((n = read(report[0], &code, sizeof code)) < 0 && errno == EINTR)
            ;
        if (n == (ssize_t)sizeof code) {
            while (waitpid(*pid, NULL, 0) < 0 && errno == EINTR)
                ;
            r = -code;
        }
    }
    close(report[0]);
    return r;
}

int tp_run(const struct tp_cmd *cmd, struct tp_error *e)
{
    char *program = find_program(cmd->argv[0]);
    if (!program)
        return tp_fail(e, TP_STATUS_MISSING, -ENOENT, cmd->argv[0], "install it, or run ./setup",
                       "no such program");
    int out[2] = {-1, -1}, err[2] = {-1, -1};
    int result;
    pid_t pid = 0;
    struct tp_buf line = {0};
    if (pipe2(out, O_CLOEXEC) < 0 || pipe2(err, O_CLOEXEC) < 0) {
        result = tp_fail_errno(e, errno, cmd->argv[0], "cannot be started");
        goto done;
    }
    result = spawn(cmd, program, out[1], err[1], &pid);
    close(out[1]);
    close(err[1]);
    out[1] = err[1] = -1;
    if (result) {
        tp_fail_errno(e, result, cmd->argv[0], "cannot be started");
        goto done;
    }
    struct pipe_end ends[2] = {{out[0], cmd->out, true}, {err[0], cmd->err, false}};
    int64_t deadline = cmd->timeout_ms ? tp_now_ns() + cmd->timeout_ms * 1000000 : 0;
    int status = 0;
    bool gone = false;
    size_t left = MAX_LEFT_BYTES;
    while (!gone || ends[0].fd >= 0 || ends[1].fd >= 0) {
        struct pollfd fds[2] = {{ends[0].fd, POLLIN, 0}, {ends[1].fd, POLLIN, 0}};
        bool open = ends[0].fd >= 0 || ends[1].fd >= 0;
        int n = poll(fds, 2, gone ? 0 : open ? 100 : 10);
        if (tp_interrupted()) {
            stop_group(pid);
            result = tp_fail(e, TP_STATUS_FAILED, -EINTR, cmd->argv[0], NULL, "interrupted");
            goto done;
        }
        if (!gone && deadline && tp_now_ns() > deadline) {
            stop_group(pid);
            result = tp_fail(e, TP_STATUS_FAILED, -ETIMEDOUT, cmd->argv[0], NULL,
                             "did not finish in %.1f s", (double)cmd->timeout_ms / 1e3);
            goto done;
        }
        bool idle = true;
        for (int i = 0; n > 0 && i < 2; i++) {
            if (ends[i].fd < 0 || !fds[i].revents)
                continue;
            char chunk[16384];
            ssize_t got = read(ends[i].fd, chunk, sizeof chunk);
            if (got > 0) {
                if (i == 0 && cmd->on_bytes &&
                    (result = cmd->on_bytes(cmd->data, chunk, (size_t)got)) < 0) {
                    stop_group(pid);
                    goto done;
                }
                deliver(cmd, &ends[i], &line, chunk, (size_t)got);
                idle = false;
                if (gone)
                    left -= (size_t)got < left ? (size_t)got : left;
            } else if (got == 0 || (errno != EINTR && errno != EAGAIN)) {
                ends[i].fd = -1;
            }
        }
        /* A daemon that kept our pipe open must not keep us: the program's own end is what counts,
         * and then what is in the pipes. */
        if (!gone)
            gone = has_ended(pid, &status);
        else if (idle || !left)
            break;
    }
    if (line.len && cmd->on_line)
        cmd->on_line(cmd->data, tp_buf_str(&line));
    result = WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
done:
    for (int i = 0; i < 2; i++) {
        if (out[i] >= 0)
            close(out[i]);
        if (err[i] >= 0)
            close(err[i]);
    }
    tp_buf_finish(&line);
    free(program);
    return result;
}
