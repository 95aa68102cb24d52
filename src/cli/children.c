#include "cli/children.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/fs.h"
#include "base/proc.h"

int tp_child_status(int status)
{
    return WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
}

static int become(const struct tp_child *c)
{
    if (c->uid == 0)
        return 0;
    if (setgroups(0, NULL) < 0 || setresgid(c->gid, c->gid, c->gid) < 0 ||
        setresuid(c->uid, c->uid, c->uid) < 0)
        return -errno;
    return 0;
}

static void set_environment(const char *const *env)
{
    for (; env && *env; env++) {
        const char *value = strchr(*env, '=');
        char name[64];
        if (!value) {
            unsetenv(*env);
            continue;
        }
        snprintf(name, sizeof name, "%.*s", (int)(value - *env), *env);
        setenv(name, value + 1, 1);
    }
}

static void redirect(int to, int fd)
{
    if (fd >= 0)
        dup2(fd, to);
}

/* In the child; answers only where it could not be done. */
static int run_child(const struct tp_child *c, pid_t parent)
{
    if (c->apart) {
        setsid();
        redirect(STDIN_FILENO, open("/dev/null", O_RDONLY | O_CLOEXEC));
    }
    if (c->quiet) {
        redirect(STDOUT_FILENO, c->log_fd);
        redirect(STDERR_FILENO, c->log_fd);
    }
    int r = c->prepare ? c->prepare(c->data) : 0;
    if (r == 0)
        r = become(c);
    if (r < 0)
        return r;
    prctl(PR_SET_PDEATHSIG, (unsigned long)SIGKILL); /* a change of user forgets it */
    if (getppid() != parent)
        return -ESRCH;
    signal(SIGPIPE, SIG_DFL);
    sigprocmask(SIG_SETMASK, c->signals, NULL);
    set_environment(c->env);
    execvp(c->argv[0], (char *const *)(uintptr_t)c->argv);
    return -errno;
}

pid_t tp_child_start(const struct tp_child *c, struct tp_error *e)
{
    int said[2], r = 0;
    pid_t parent = getpid();
    if (pipe2(said, O_CLOEXEC) < 0)
        return tp_fail_errno(e, errno, NULL, "a pipe");
    fflush(NULL);
    pid_t pid = fork();
    if (pid == 0) {
        r = run_child(c, parent);
        ssize_t n = write(said[1], &r, sizeof r);
        (void)n;
        _exit(127);
    }
    int err = errno;
    close(said[1]);
    if (pid > 0 && read(said[0], &r, sizeof r) == sizeof r)
        waitpid(pid, NULL, 0);
    close(said[0]);
    if (pid < 0)
        return tp_fail_errno(e, err, NULL, "a process cannot be started");
    if (r < 0)
        return tp_fail(
            e, TP_STATUS_MISSING, r, c->argv[0], NULL, "cannot be started: %s", strerror(-r));
    return pid;
}

/* Sends a signal to every child of this process. */
static void signal_children(int sig)
{
    DIR *proc = opendir("/proc");
    if (!proc)
        return;
    for (struct dirent *d; (d = readdir(proc));) {
        char path[64], line[512];
        int parent;
        pid_t pid = (pid_t)strtol(d->d_name, NULL, 10);
        if (pid <= 0)
            continue;
        snprintf(path, sizeof path, "/proc/%d/stat", (int)pid);
        FILE *f = fopen(path, "re");
        if (!f)
            continue;
        const char *name_end = fgets(line, sizeof line, f) ? strrchr(line, ')') : NULL;
        if (name_end && sscanf(name_end + 1, " %*c %d", &parent) == 1 && parent == getpid())
            kill(pid, sig);
        fclose(f);
    }
    closedir(proc);
}

void tp_children_kill(void)
{
    /* The orphans of those that die become ours: again, until there are none. */
    for (int i = 0; i < 1000; i++) {
        pid_t pid;
        signal_children(SIGKILL);
        while ((pid = waitpid(-1, NULL, WNOHANG)) > 0)
            ;
        if (pid < 0)
            return;
        usleep(2000);
    }
}

/* Answers how the worker ended, as waitpid says it. */
static int keep(pid_t worker, const sigset_t *signals, const char *folder)
{
    int how = 0;
    for (;;) {
        int sig = 0;
        pid_t pid;
        while ((pid = waitpid(-1, &how, WNOHANG)) > 0 && pid != worker)
            ;
        if (pid == worker || pid < 0)
            break;
        sigwait(signals, &sig);
        if (sig != SIGCHLD)
            kill(worker, sig);
    }
    tp_children_kill();
    tp_remove_tree(folder, NULL);
    return how;
}

/* Ends that were not asked for by one of the signals that end a command. */
static bool was_killed(int how)
{
    int sig = WIFSIGNALED(how) ? WTERMSIG(how) : SIGTERM;
    return sig != SIGINT && sig != SIGTERM && sig != SIGHUP;
}

int tp_child_keep(const char *folder, int *status, struct tp_error *e)
{
    static const int passed_on[] = {SIGINT, SIGTERM, SIGHUP, SIGUSR1, SIGUSR2, SIGCHLD};
    pid_t keeper = getpid();
    sigset_t signals, before;
    sigemptyset(&signals);
    for (size_t i = 0; i < sizeof passed_on / sizeof *passed_on; i++)
        sigaddset(&signals, passed_on[i]);
    sigprocmask(SIG_BLOCK, &signals, &before);
    prctl(PR_SET_CHILD_SUBREAPER, 1ul);
    fflush(NULL);
    pid_t worker = fork();
    if (worker < 0) {
        int err = errno;
        sigprocmask(SIG_SETMASK, &before, NULL);
        return tp_fail_errno(e, err, NULL, "a process cannot be started");
    }
    if (worker > 0) {
        int how = keep(worker, &signals, folder);
        sigprocmask(SIG_SETMASK, &before, NULL);
        *status = tp_child_status(how);
        if (was_killed(how))
            return tp_fail(e, TP_STATUS_FAILED, -ECHILD, NULL, NULL,
                "the display ended: signal %d (%s) killed its process", WTERMSIG(how),
                strsignal(WTERMSIG(how)));
        return 1;
    }
    prctl(PR_SET_PDEATHSIG, (unsigned long)SIGTERM);
    prctl(PR_SET_CHILD_SUBREAPER, 1ul);
    sigprocmask(SIG_SETMASK, &before, NULL);
    if (getppid() != keeper)
        _exit(128 + SIGTERM);
    return 0;
}
