/* Who is another user is refused, by the credentials that the kernel tells; for root alone (exit 77:
 * skipped), which can become somebody else. */
#include "peer.h"

#include <errno.h>
#include <grp.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#define FOREIGN 54321 /* nobody's */
#define FRIEND  54322

static char name[64];
static struct sockaddr_un address = {.sun_family = AF_UNIX};
static socklen_t address_bytes;

/* Makes the server anew, on an abstract name, which no file's mode protects. */
static void start(const struct tp_server_config *more)
{
    struct tp_server_config c = *more;
    snprintf(name, sizeof name, "@tp-foreign-%d", (int)getpid());
    c.path = name;
    memcpy(address.sun_path, name, strlen(name));
    address.sun_path[0] = 0;
    address_bytes = (socklen_t)(offsetof(struct sockaddr_un, sun_path) + strlen(name));
    tp_server_destroy(server);
    start_server(&c);
}

/* What a process of that user gets when it says hello: 0, it is taken in, or the errno it is told.
 * Counts, for who asks there, the server's connections meanwhile. */
static int hello_as(uid_t uid, uint32_t kind, unsigned *connections)
{
    int told[2], go[2], result = 0, status;
    char byte = 0;
    assert_int_equal(pipe(told), 0);
    assert_int_equal(pipe(go), 0);
    pid_t pid = fork();
    if (pid == 0) {
        static struct peer p; /* for its buffer */
        struct tp_hello hello = {TP_WIRE_VERSION, TP_WIRE_OLDEST, kind, 0, 0};
        const struct iovec part = {&hello, sizeof hello};
        struct tp_frame f = {0};
        if (setgroups(0, NULL) < 0 || setresgid(uid, uid, uid) < 0 || setresuid(uid, uid, uid) < 0)
            _exit(1);
        int fd = socket(AF_UNIX, SOCK_SEQPACKET, 0);
        if (connect(fd, (struct sockaddr *)&address, address_bytes) < 0)
            _exit(2);
        tp_frame_send(fd, TP_FRAME_HELLO, 0, 0, &part, 1, NULL, 0);
        if (write(told[1], &byte, 1) != 1 || read(go[0], &byte, 1) != 1)
            _exit(3);
        int r = tp_frame_recv_now(fd, p.in, &f);
        if (r == -ECONNRESET) /* of the hello, which nobody has read; the answer is behind it */
            r = tp_frame_recv_now(fd, p.in, &f);
        if (r == 0 && f.fourcc == TP_FRAME_REPLY)
            memcpy(&result, f.payload, sizeof result);
        else if (r != -EAGAIN && r != 0)
            _exit(4);
        if (result < 0 && !hung_up(fd))
            _exit(5);
        _exit(write(told[1], &result, sizeof result) == sizeof result ? 0 : 6);
    }
    struct tp_server_counts c;
    assert_int_equal(read(told[0], &byte, 1), 1);
    pump();
    tp_server_count(server, &c);
    *connections = c.connections;
    assert_int_equal(write(go[1], &byte, 1), 1);
    assert_int_equal(waitpid(pid, &status, 0), pid);
    assert_int_equal(status, 0);
    assert_int_equal(read(told[0], &result, sizeof result), sizeof result);
    for (unsigned i = 0; i < 2; i++) {
        close(told[i]);
        close(go[i]);
    }
    pump();
    return result;
}

static const uint32_t kinds[] = {TP_HELLO_CARD, TP_HELLO_CONTROL, TP_HELLO_HOTPLUG};

static void another_user_is_refused_and_told_why(void **state)
{
    unsigned connections;
    (void)state;
    start(&(struct tp_server_config){0});
    for (unsigned i = 0; i < 3; i++) {
        unsigned logged = n_logged;
        assert_int_equal(hello_as(FOREIGN, kinds[i], &connections), -EACCES);
        assert_int_equal(connections, 0);
        assert_int_equal(n_logged, logged + 1);
    }
}

static void the_servers_user_is_taken_in(void **state)
{
    unsigned connections;
    (void)state;
    start(&(struct tp_server_config){0});
    for (unsigned i = 0; i < 3; i++) {
        assert_int_equal(hello_as(0, kinds[i], &connections), 0);
        assert_int_equal(connections, 1);
    }
}

static void a_user_who_is_named_is_taken_in_and_no_other(void **state)
{
    const uid_t friends[] = {FRIEND};
    unsigned connections;
    (void)state;
    start(&(struct tp_server_config){.uids = friends, .n_uids = 1});
    assert_int_equal(hello_as(FRIEND, TP_HELLO_CARD, &connections), 0);
    assert_int_equal(connections, 1);
    assert_int_equal(hello_as(FOREIGN, TP_HELLO_CARD, &connections), -EACCES);
    assert_int_equal(connections, 0);
}

/* The socket's maker counts, not who has it now. */
static void a_socket_that_another_user_passed_on_is_his(void **state)
{
    int ends[2];
    (void)state;
    start(&(struct tp_server_config){0});
    assert_int_equal(setresuid(FOREIGN, FOREIGN, 0), 0);
    assert_int_equal(socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends), 0);
    assert_int_equal(setresuid(0, 0, 0), 0);
    assert_int_equal(tp_server_adopt(server, ends[1]), -EACCES);
    close(ends[0]);
}

#define t(test) cmocka_unit_test_setup_teardown(test, setup_server, teardown_server)

int main(void)
{
    const struct CMUnitTest tests[] = {
        t(another_user_is_refused_and_told_why),
        t(the_servers_user_is_taken_in),
        t(a_user_who_is_named_is_taken_in_and_no_other),
        t(a_socket_that_another_user_passed_on_is_his),
    };
    if (geteuid() != 0)
        return 77;
    return cmocka_run_group_tests_name("foreign", tests, NULL, NULL);
}
