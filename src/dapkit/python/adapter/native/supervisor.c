/* The parent of a launched program: `supervisor_main.py` again, in C, for a tenth of the memory.

       dapkit-supervisor fd:NUMBER | unix:PATH [argument...]

   Its work, and its protocol with the adapter, are described in the docstring of that module. The two must agree
   to the byte: where this one could not be built, the other serves, and the same tests run with both. */

#define _GNU_SOURCE
#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

enum { RESUME = 'c', TERMINATE = 't', KILL = 'k', RELEASE = 'r', REPLACE = 'p' };

#define COUNT(array) ((int)(sizeof(array) / sizeof *(array)))

static const int forwarded[] = {SIGHUP, SIGINT, SIGQUIT, SIGTERM, SIGUSR1, SIGUSR2, SIGTSTP};

static int adapter = -1, terminal = -1;
static pid_t program;
static volatile pid_t group; /* of the program; 0 before it runs */
static bool has_ended;
static int exit_code; /* once it has ended: minus the signal that killed it */
static char fate;     /* KILL or RELEASE, 0 while the adapter has said neither */
static bool listens = true;
static volatile sig_atomic_t continued;
static char **sockets; /* of the adapter */
static int socket_count;
static sigset_t mask; /* that the program is to have */

typedef struct {
    pid_t *pids;
    int count, room;
} Processes;

/* The conversation */

static void tell(const char *line)
{
    size_t size = strlen(line);
    while (size) {
        ssize_t sent = send(adapter, line, size, MSG_NOSIGNAL);
        if (sent < 0 && errno == EINTR) continue;
        if (sent < 0) return; /* the adapter has gone, which `obey` notices */
        line += sent;
        size -= (size_t)sent;
    }
}

static void tell_number(const char *what, int number)
{
    char line[64];
    snprintf(line, sizeof line, "%s %d\n", what, number);
    tell(line);
}

static void receive(void *data, size_t size)
{
    for (char *to = data; size;) {
        ssize_t came = recv(adapter, to, size, 0);
        if (came < 0 && errno == EINTR) continue;
        if (came <= 0) exit(1); /* the adapter has gone */
        to += came;
        size -= (size_t)came;
    }
}

static void *room_for(void *data, size_t size)
{
    data = realloc(data, size);
    if (!data) abort();
    return data;
}

/* Return the command line of the program, with the last arguments that a shell has made, and keep the sockets. */
static char **received_command(int more, char **arguments)
{
    unsigned char head[4];
    receive(head, sizeof head);
    size_t size = (size_t)head[0] << 24 | (size_t)head[1] << 16 | (size_t)head[2] << 8 | head[3];
    char *text = room_for(NULL, size + 1);
    receive(text, size);
    text[size] = '\0';

    size_t fields = 1;
    for (size_t at = 0; at < size; at++) fields += !text[at];
    char **words = room_for(NULL, (fields + (size_t)more + 1) * sizeof *words);
    for (size_t at = 0; at < fields; at++, text += strlen(text) + 1) words[at] = text;
    memcpy(words + fields, arguments, (size_t)more * sizeof *words);
    words[fields + (size_t)more] = NULL;

    sockets = words + 1;
    socket_count = atoi(words[0]);
    return words + 1 + socket_count;
}

/* Processes */

static void add(Processes *some, pid_t pid)
{
    if (some->count == some->room) some->pids = room_for(some->pids, (size_t)(some->room += 64) * sizeof *some->pids);
    some->pids[some->count++] = pid;
}

static bool contains(const Processes *some, pid_t pid)
{
    for (int at = 0; at < some->count; at++)
        if (some->pids[at] == pid) return true;
    return false;
}

static pid_t parent_of(const char *process)
{
    char path[64], text[512];
    snprintf(path, sizeof path, "/proc/%.20s/stat", process);
    int file = open(path, O_RDONLY | O_CLOEXEC);
    if (file < 0) return 0; /* it has ended */
    ssize_t size = read(file, text, sizeof text - 1);
    close(file);
    if (size <= 0) return 0;
    text[size] = '\0';
    const char *name_end = strrchr(text, ')');
    int parent = 0;
    if (name_end && sscanf(name_end + 1, " %*c %d", &parent) != 1) return 0;
    return parent;
}

static Processes children(void)
{
    Processes result = {0};
    DIR *folder = opendir("/proc");
    if (!folder) return result;
    for (struct dirent *entry; (entry = readdir(folder));)
        if (isdigit((unsigned char)entry->d_name[0]) && parent_of(entry->d_name) == getpid())
            add(&result, atoi(entry->d_name));
    closedir(folder);
    return result;
}

/* This takes less than finding them. */
static bool has_children(void)
{
    siginfo_t info;
    return waitid(P_ALL, 0, &info, WEXITED | WNOHANG | WNOWAIT) == 0;
}

static void tell_end(void)
{
    Processes left = {0};
    if (has_children()) left = children();
    size_t room = 32 + 12 * (size_t)left.count;
    char *line = room_for(NULL, room);
    size_t size = (size_t)snprintf(line, room, "ended %d", exit_code);
    for (int at = 0; at < left.count; at++) size += (size_t)snprintf(line + size, room - size, " %d", left.pids[at]);
    line[size] = '\n';
    line[size + 1] = '\0';
    tell(line);
    free(line);
    free(left.pids);
}

static void send_to_group(int number)
{
    int error = errno; /* of the interrupted call */
    if (group) killpg(group, number);
    errno = error; /* it does not exist if all of it has ended, or runs as another user */
}

/* The terminal */

static void pass_terminal(pid_t holder, pid_t taker)
{
    if (terminal >= 0 && tcgetpgrp(terminal) == holder) tcsetpgrp(terminal, taker);
}

/* Take the terminal back, if the program's group or one that has ended has it. */
static void take_terminal_back(void)
{
    if (terminal < 0) return;
    pid_t holder = tcgetpgrp(terminal);
    if (holder < 0) return; /* it was hung up */
    if (holder != group && (killpg(holder, 0) == 0 || errno != ESRCH)) return;
    tcsetpgrp(terminal, getpgrp());
}

static bool obey(void);

static void on(int number, void (*handler)(int))
{
    struct sigaction action = {.sa_handler = handler, .sa_flags = SA_RESTART};
    sigaction(number, &action, NULL);
}

/* Let the shell continue, as its job is stopped; return when that is continued. */
static void stop_job(int number)
{
    if (terminal < 0) return;
    take_terminal_back();
    for (;;) {
        continued = 0;
        on(SIGTSTP, SIG_DFL);
        kill(getpid(), SIGTSTP);
        on(SIGTSTP, send_to_group);
        if (!continued && number == SIGSTOP) return; /* no shell waits for us: the kernel has not stopped us */
        struct pollfd order = {.fd = adapter, .events = POLLIN};
        if (!listens || poll(&order, 1, 0) <= 0) break;
        if (!obey()) return; /* the program is dead, or goes on */
    }
    pass_terminal(getpgrp(), group);
    send_to_group(SIGCONT);
}

/* Living */

static void take_note(int status)
{
    if (WIFSTOPPED(status)) {
        tell_number("stopped", WSTOPSIG(status));
        stop_job(WSTOPSIG(status));
    } else if (WIFCONTINUED(status)) {
        tell("continued\n");
    } else {
        has_ended = true;
        exit_code = WIFSIGNALED(status) ? -WTERMSIG(status) : WEXITSTATUS(status);
        take_terminal_back();
        tell_end();
    }
}

/* Record all that has ended, and of whether the program stands. */
static void reap(void)
{
    int status;
    for (pid_t pid; (pid = waitpid(-1, &status, WNOHANG | WUNTRACED | WCONTINUED)) > 0;)
        if (pid == program) take_note(status);
}

/* Kill all that is below this process, one generation after the other: the next becomes ours then. */
static void end_all(void)
{
    Processes spared = {0}; /* of other users */
    for (bool more = true; more;) {
        Processes ours = children();
        more = false;
        for (int at = 0; at < ours.count; at++)
            if (!contains(&spared, ours.pids[at]) && kill(ours.pids[at], SIGKILL) < 0 && errno == EPERM)
                add(&spared, ours.pids[at]);
        for (int at = 0; at < ours.count; at++) {
            int status;
            if (contains(&spared, ours.pids[at])) continue;
            more = true;
            if (waitpid(ours.pids[at], &status, 0) == program) take_note(status);
        }
        free(ours.pids);
    }
    free(spared.pids);
}

static void replace_program(pid_t pid)
{
    if (has_ended) return;
    kill(program, SIGKILL);
    program = pid;
    tell_number("replaced", program);
}

/* Take single commands, and return which of the others are present; a replacement command may come in two parts. */
static void read_orders(const unsigned char *data, ssize_t size, bool orders[UINT8_MAX + 1])
{
    static unsigned number;
    static int missing; /* bytes of it */
    for (ssize_t at = 0; at < size; at++) {
        if (missing) {
            number = number << 8 | data[at];
            if (!--missing) replace_program((pid_t)number);
        } else if (data[at] == REPLACE) {
            number = 0;
            missing = 4;
        } else {
            orders[data[at]] = true;
        }
    }
}

/* Carry out the adapter's commands, which may be several at once; return whether the program stays stopped. */
static bool obey(void)
{
    unsigned char data[64];
    bool orders[UINT8_MAX + 1] = {false};
    ssize_t size;
    while ((size = recv(adapter, data, sizeof data, MSG_DONTWAIT)) < 0 && errno == EINTR) {}
    if (size < 0 && errno == EAGAIN) return true; /* `stop_job` has read it meanwhile */
    listens = size > 0;
    read_orders(data, size, orders);
    if (orders[RELEASE]) {
        fate = RELEASE;
    } else if (orders[KILL] || !(listens || fate)) {
        fate = KILL;
        end_all();
        if (!listens) /* then the adapter was killed, else it would have removed them */
            for (int at = 0; at < socket_count; at++) unlink(sockets[at]);
        return false;
    }
    if (orders[TERMINATE] && !has_ended) kill(program, SIGTERM);
    if (orders[RESUME]) send_to_group(SIGCONT);
    return !orders[RESUME];
}

/* Return when the program has ended, and with it the processes that must end. SIGCHLD is blocked but while this waits. */
static void serve(void)
{
    sigset_t waiting;
    sigprocmask(SIG_SETMASK, NULL, &waiting);
    sigdelset(&waiting, SIGCHLD);
    while (!has_ended || !fate) {
        struct pollfd order = {.fd = listens ? adapter : -1, .events = POLLIN};
        int ready = ppoll(&order, 1, NULL, &waiting);
        reap();
        if (ready > 0 && listens) obey();
    }
}

/* Starting */

static void note(int number) { (void)number; } /* ends a wait, which happens for signals with a handler only */

static void note_continued(int number)
{
    (void)number;
    continued = 1;
}

/* Make a process group, led by a process that does nothing. */
static pid_t empty_group(void)
{
    pid_t pid = fork();
    if (!pid) {
        prctl(PR_SET_PDEATHSIG, SIGKILL);
        for (;;) pause();
    }
    if (pid > 0) setpgid(pid, pid);
    return pid;
}

/* Be the program: never return. */
static _Noreturn void become(char **words, pid_t place, int report)
{
    if (setpgid(0, place) == 0) {
        pass_terminal(getpgid(getppid()), getpgrp());
        for (int number = 1; number < NSIG; number++) on(number, SIG_DFL);
        sigprocmask(SIG_SETMASK, &mask, NULL);
        execv(words[0], words);
    }
    int error = errno;
    if (write(report, &error, sizeof error) < 0) {} /* its reader has gone: so it ends like this, too */
    _exit(127);
}

/* Start the program; return the number of the error, 0 for none. */
static int spawn(char **words)
{
    int report[2], failure = 0;
    pid_t place = terminal < 0 ? empty_group() : 0;
    if (place < 0 || pipe2(report, O_CLOEXEC) < 0) return errno;
    program = fork();
    if (!program) become(words, place, report[1]);
    if (program < 0) failure = errno;
    close(report[1]);
    ssize_t size;
    while (!failure && (size = read(report[0], &failure, sizeof failure)) < 0 && errno == EINTR) {}
    close(report[0]);
    if (place) {
        kill(place, SIGKILL);
        waitpid(place, NULL, 0);
    }
    group = place ? place : program;
    return failure;
}

/* Let go of the program's input and output: their other ends see who has them open. */
static void detach(void)
{
    int null = open("/dev/null", O_RDWR | O_CLOEXEC);
    for (int number = 0; number < 3; number++) dup2(null, number);
    if (null > 2) close(null);
    if (terminal < 0) return;
    /* To be waked by the adapter also while the job is stopped. */
    fcntl(adapter, F_SETOWN, getpid());
    fcntl(adapter, F_SETSIG, SIGCONT);
    fcntl(adapter, F_SETFL, fcntl(adapter, F_GETFL) | O_ASYNC);
}

/* Become the parent of the program that the adapter names; return whether there is one. */
static bool start(int more, char **arguments)
{
    char **words = received_command(more, arguments);
    sigset_t blocked;
    sigemptyset(&blocked);
    sigaddset(&blocked, SIGCHLD);
    for (int at = 0; at < COUNT(forwarded); at++) sigaddset(&blocked, forwarded[at]); /* until there is a group */
    sigprocmask(SIG_BLOCK, &blocked, &mask);
    on(SIGCHLD, note);
    on(SIGCONT, note_continued);
    on(SIGTTOU, SIG_IGN); /* else the terminal could not be taken back */
    on(SIGIO, SIG_IGN);   /* the wake-up instead of SIGCONT, see `detach`, if there are too many */
    for (int at = 0; at < COUNT(forwarded); at++) on(forwarded[at], send_to_group);
    prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0);

    int failure = spawn(words);
    if (failure) {
        tell_number("failed", failure);
        return false;
    }
    tell_number("started", program);
    detach();
    blocked = mask;
    sigaddset(&blocked, SIGCHLD);
    sigprocmask(SIG_SETMASK, &blocked, NULL);
    return true;
}

static int connected(const char *place)
{
    if (strncmp(place, "fd:", 3) == 0) {
        int number = atoi(place + 3);
        return fcntl(number, F_SETFD, FD_CLOEXEC) < 0 ? -1 : number;
    }
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    const char *path = strncmp(place, "unix:", 5) == 0 ? place + 5 : "";
    if (strlen(path) >= sizeof address.sun_path) {
        errno = ENAMETOOLONG;
        return -1;
    }
    strcpy(address.sun_path, path);
    int made = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    return made < 0 || connect(made, (struct sockaddr *)&address, sizeof address) < 0 ? -1 : made;
}

/* End as the program has ended: a shell says how that was. */
static _Noreturn void end_as(int code)
{
    if (code >= 0) _exit(code);
    struct rlimit none = {0, 0};
    sigset_t ending;
    setrlimit(RLIMIT_CORE, &none);
    sigemptyset(&ending);
    sigaddset(&ending, -code);
    on(-code, SIG_DFL);
    sigprocmask(SIG_UNBLOCK, &ending, NULL);
    kill(getpid(), -code);
    _exit(128 - code); /* a signal that ends no process any more, once it has this one's defaults */
}

int main(int count, char **arguments)
{
    if (count < 2) {
        dprintf(2, "usage: dapkit-supervisor fd:NUMBER | unix:PATH [argument...]\n");
        return 2;
    }
    adapter = connected(arguments[1]);
    if (adapter < 0) {
        dprintf(2, "the debugger has gone: %s\n", strerror(errno));
        return 1;
    }
    terminal = open("/dev/tty", O_RDWR | O_CLOEXEC);
    if (!start(count - 2, arguments + 2)) return 127;
    serve();
    end_as(exit_code);
}
