/* repeat N COMMAND…: runs a command N times, its output discarded; prints wall time in milliseconds
 * (least, median, most) and the largest resident set in MB. */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static double now_ms(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec * 1e3 + (double)t.tv_nsec / 1e6;
}

static int by_value(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

int main(int argc, char **argv)
{
    int n = argc > 2 ? atoi(argv[1]) : 0;
    if (n < 1 || n > 10000) {
        fprintf(stderr, "usage: repeat N COMMAND…\n");
        return 2;
    }
    double *ms = calloc((size_t)n, sizeof *ms);
    for (int i = 0; ms && i < n; i++) {
        double start = now_ms();
        pid_t pid = fork();
        if (pid == 0) {
            int null = open("/dev/null", O_WRONLY);
            dup2(null, 1);
            execvp(argv[2], argv + 2);
            _exit(127);
        }
        int status = 0;
        if (pid < 0 || waitpid(pid, &status, 0) != pid || !WIFEXITED(status) ||
            WEXITSTATUS(status) != 0) {
            fprintf(stderr, "repeat: %s did not end well\n", argv[2]);
            return 1;
        }
        ms[i] = now_ms() - start;
    }
    if (!ms)
        return 1;
    struct rusage u;
    getrusage(RUSAGE_CHILDREN, &u);
    qsort(ms, (size_t)n, sizeof *ms, by_value);
    printf("%.1f %.1f %.1f ms, %.1f MB\n", ms[0], ms[n / 2], ms[n - 1], (double)u.ru_maxrss / 1e3);
    free(ms);
    return 0;
}
