/* Processes: the identity of this one, its permissions, and its children. */

#include "calls.h"
#include <fcntl.h>
#include <grp.h>
#include <pty.h>
#include <sched.h>
#include <signal.h>
#include <spawn.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/sysinfo.h>
#include <sys/utsname.h>
#include <sys/wait.h>
#include <syslog.h>
#include <unistd.h>

#define IF_DONE(size) (result == 0 ? (size) : 0)

static uint64_t hash_texts(const char *path, char *const *texts)
{
    uint64_t hash = hash_text(path);
    for (; texts != NULL && *texts != NULL; texts++) hash = hash_number(hash, hash_text(*texts));
    return hash;
}

/* Who the process is */

#define IS(type, name) READS(type, name, (void), (), 0)
IS(pid_t, getpid)
IS(pid_t, getppid)
IS(pid_t, gettid)
IS(uid_t, getuid)
IS(uid_t, geteuid)
IS(gid_t, getgid)
IS(gid_t, getegid)
IS(pid_t, getpgrp)
READS(pid_t, getpgid, (pid_t process), (process), (uint64_t)process)
READS(pid_t, getsid, (pid_t process), (process), (uint64_t)process)
CHANGES(int, setuid, (uid_t user), (user), user)
CHANGES(int, seteuid, (uid_t user), (user), user)
CHANGES(int, setgid, (gid_t group), (group), group)
CHANGES(int, setegid, (gid_t group), (group), group)
CHANGES(int, setreuid, (uid_t user, uid_t effective), (user, effective), NUMBERS(user, effective))
CHANGES(int, setregid, (gid_t group, gid_t effective), (group, effective), NUMBERS(group, effective))
CHANGES(int, setresuid, (uid_t user, uid_t effective, uid_t saved), (user, effective, saved),
        NUMBERS(user, effective, saved))
CHANGES(int, setresgid, (gid_t group, gid_t effective, gid_t saved), (group, effective, saved),
        NUMBERS(group, effective, saved))
CHANGES(int, setpgid, (pid_t process, pid_t group), (process, group), NUMBERS(process, group))
CHANGES(int, setpgrp, (void), (), 0)
CHANGES(pid_t, setsid, (void), (), 0)
CHANGES(int, setgroups, (size_t count, const gid_t *groups), (count, groups), count)
CHANGES(int, initgroups, (const char *name, gid_t group), (name, group), hash_number(hash_text(name), group))
FILLS(int, getgroups, (int room, gid_t *groups), (room, groups), (uint64_t)room, groups,
      (size_t)room * sizeof *groups, room > 0 && result > 0 ? (size_t)result * sizeof *groups : 0)

static int hook_getgroups_chk(int count, gid_t *groups, size_t Py_UNUSED(room)) { return hook_getgroups(count, groups); }

#define IS_THREE(name, type)                                                                                           \
    static int (*real_##name)(type *, type *, type *);                                                                 \
    static int hook_##name(type *one, type *effective, type *saved)                                                    \
    {                                                                                                                  \
        if (passes()) return real_##name(one, effective, saved);                                                       \
        Part parts[] = {{one, sizeof *one}, {effective, sizeof *effective}, {saved, sizeof *saved}};                   \
        if (mode == REPLAY) return (int)replay_call(#name, 0, parts, 3);                                               \
        return (int)record_call(#name, 0, real_##name(one, effective, saved), parts, 3);                               \
    }
IS_THREE(getresuid, uid_t)
IS_THREE(getresgid, gid_t)

/* The system, and its limits */

static mode_t (*real_umask)(mode_t);
static mode_t hook_umask(mode_t wanted)
{
    if (passes()) return real_umask(wanted);
    if (mode == LIVE) return (mode_t)record_call("umask", wanted, real_umask(wanted), NULL, 0);
    real_umask(wanted);
    return (mode_t)replay_call("umask", wanted, NULL, 0);
}

FILLS(int, uname, (struct utsname *found), (found), 0, found, sizeof *found, IF_DONE(sizeof *found))
FILLS(int, sysinfo, (struct sysinfo *found), (found), 0, found, sizeof *found, IF_DONE(sizeof *found))
FILLS(int, gethostname, (char *name, size_t size), (name, size), size, name, size, IF_DONE(strnlen(name, size - 1) + 1))
static int hook_gethostname_chk(char *name, size_t size, size_t Py_UNUSED(room)) { return hook_gethostname(name, size); }
CHANGES(int, sethostname, (const char *name, size_t size), (name, size), hash_bytes(0, name, size))
FILLS(int, getloadavg, (double *found, int count), (found, count), (uint64_t)count, found,
      (size_t)count * sizeof *found, result > 0 ? (size_t)result * sizeof *found : 0)
FILLS(int, getrlimit, (int kind, struct rlimit *found), (kind, found), (uint64_t)kind, found, sizeof *found,
      IF_DONE(sizeof *found))
CHANGES(int, setrlimit, (int kind, const struct rlimit *wanted), (kind, wanted),
        NUMBERS(kind, wanted->rlim_cur, wanted->rlim_max))
FILLS(int, prlimit, (pid_t process, int kind, const struct rlimit *wanted, struct rlimit *old),
      (process, kind, wanted, old), NUMBERS(process, kind, wanted != NULL), old, sizeof *old, IF_DONE(sizeof *old))
READS(int, nice, (int step), (step), (uint64_t)step)
READS(int, getpriority, (int kind, id_t which), (kind, which), NUMBERS(kind, which))
CHANGES(int, setpriority, (int kind, id_t which, int wanted), (kind, which, wanted), NUMBERS(kind, which, wanted))
FILLS(int, sched_getaffinity, (pid_t process, size_t size, cpu_set_t *found), (process, size, found),
      NUMBERS(process, size), found, size, IF_DONE(size))
FILLS(int, pthread_getaffinity_np, (pthread_t thread, size_t size, cpu_set_t *found), (thread, size, found), size, found,
      size, IF_DONE(size))
CHANGES(int, pthread_setaffinity_np, (pthread_t thread, size_t size, const cpu_set_t *wanted), (thread, size, wanted),
        hash_bytes(0, wanted, size))
CHANGES(int, clock_settime, (clockid_t clock, const struct timespec *wanted), (clock, wanted), (uint64_t)clock)
CHANGES(int, sched_setaffinity, (pid_t process, size_t size, const cpu_set_t *wanted), (process, size, wanted),
        hash_bytes((uint64_t)process, wanted, size))
FILLS(int, sched_getparam, (pid_t process, struct sched_param *found), (process, found), (uint64_t)process, found,
      sizeof *found, IF_DONE(sizeof *found))
CHANGES(int, sched_setparam, (pid_t process, const struct sched_param *wanted), (process, wanted), (uint64_t)process)
READS(int, sched_getscheduler, (pid_t process), (process), (uint64_t)process)
CHANGES(int, sched_setscheduler, (pid_t process, int kind, const struct sched_param *wanted), (process, kind, wanted),
        NUMBERS(process, kind))
FILLS(int, sched_rr_get_interval, (pid_t process, struct timespec *found), (process, found), (uint64_t)process, found,
      sizeof *found, IF_DONE(sizeof *found))
IS(int, sched_getcpu)
IS(int, get_nprocs)
IS(int, get_nprocs_conf)
CHANGES(int, setns, (int kind, int flags), (kind, flags), NUMBERS(kind, flags))
CHANGES(int, unshare, (int flags), (flags), (uint64_t)flags)

static long (*real_sysconf)(int);
static long hook_sysconf(int name)
{
    int varies = name == _SC_NPROCESSORS_CONF || name == _SC_NPROCESSORS_ONLN || name == _SC_AVPHYS_PAGES;
    if (passes() || !varies) return real_sysconf(name);
    if (!before_blocking()) return (long)replay_call("sysconf", (uint64_t)name, NULL, 0);
    return (long)record_call("sysconf", (uint64_t)name, BLOCKING(real_sysconf(name)), NULL, 0);
}

static int (*real_prctl)(int, ...);
static int hook_prctl(int command, ...)
{
    long given[4];
    va_list rest;
    va_start(rest, command);
    for (int i = 0; i < 4; i++) given[i] = va_arg(rest, long);
    va_end(rest);
    if (passes()) return real_prctl(command, given[0], given[1], given[2], given[3]);
    Part part = {(void *)given[0], command == PR_GET_NAME ? 16 : command == PR_GET_PDEATHSIG ? sizeof(int) : 0};
    if (!before_blocking()) return (int)replay_call("prctl", (uint64_t)command, &part, part.size > 0);
    int result = BLOCKING(real_prctl(command, given[0], given[1], given[2], given[3]));
    return (int)record_call("prctl", (uint64_t)command, result, &part, part.size > 0);
}

/* Children */

/* Nothing is noted of one that is about to execute another program. If the interpreter notices that it has been forked, a
   recording goes on (recording.c). */
static pid_t be_child(int is_noticed)
{
    if (is_noticed && is_recorded && mode != OFF && be_only_thread()) {
        above.on_note();
        is_forked = 1;
    }
    mode = OFF;
    forget_signals();
    return 0;
}

static pid_t (*real_fork)(void);
static pid_t fork_program(int is_noticed)
{
    if (refuses()) return -1;
    if (passes()) return real_fork();
    if (!before_blocking()) {
        pid_t noted = (pid_t)replay_call("fork", 0, NULL, 0);
        return noted == 0 ? be_child(is_noticed) : noted;
    }
    pid_t child = real_fork();
    if (child == 0) return be_child(is_noticed); /* whose turns are its own: the notes are its parent's */
    after_blocking();
    return (pid_t)record_call("fork", 0, child, NULL, 0);
}

static pid_t (*real_forkpty)(int *, char *, const struct termios *, const struct winsize *);
static pid_t hook_forkpty(int *terminal, char *name, const struct termios *modes, const struct winsize *size)
{
    if (refuses()) return -1;
    if (passes()) return real_forkpty(terminal, name, modes, size);
    Part part = {terminal, sizeof *terminal};
    if (!before_blocking()) return (pid_t)replay_call("forkpty", 0, &part, 1);
    pid_t child = real_forkpty(terminal, name, modes, size);
    if (child == 0) return be_child(0);
    after_blocking();
    return (pid_t)record_call("forkpty", 0, child, &part, 1);
}

static pid_t hook_fork(void)
{
    if (!passes()) above.on_fork();
    return fork_program(1);
}

/* A child of vfork shares the memory of its parent: it would end the notes of the parent as well. */
static pid_t hook_vfork(void) { return fork_program(0); }

#define SPAWNS(name)                                                                                                   \
    static int (*real_##name)(pid_t *, const char *, const posix_spawn_file_actions_t *, const posix_spawnattr_t *,    \
                              char *const *, char *const *);                                                           \
    static int hook_##name(pid_t *child, const char *path, const posix_spawn_file_actions_t *actions,                  \
                           const posix_spawnattr_t *attributes, char *const *arguments, char *const *environment)      \
    {                                                                                                                  \
        if (refuses()) return EROFS;                                                                                   \
        if (passes()) return real_##name(child, path, actions, attributes, arguments, environment);                    \
        uint64_t key = hash_texts(path, arguments);                                                                    \
        Part part = {child, child == NULL ? 0 : sizeof *child};                                                        \
        if (mode == REPLAY) return (int)replay_call(#name, key, &part, 1);                                             \
        return (int)record_call(#name, key, real_##name(child, path, actions, attributes, arguments, environment), &part, 1); \
    }
SPAWNS(posix_spawn)
SPAWNS(posix_spawnp)

/* Where another program takes the place of this one nothing more is noted, unless that fails. */
#define EXECUTES(name, parameters, arguments, key)                                                                     \
    static int(*real_##name) parameters;                                                                               \
    static int hook_##name parameters                                                                                  \
    {                                                                                                                  \
        if (refuses()) return -1;                                                                                      \
        if (passes()) return real_##name arguments;                                                                    \
        uint64_t noted_key = (key);                                                                                    \
        if (!before_blocking()) return (int)replay_call(#name, noted_key, NULL, 0);                                    \
        log_head->exit = EXECUTED;                                                                                     \
        int64_t result = BLOCKING(real_##name arguments);                                                              \
        log_head->exit = 0;                                                                                            \
        return (int)record_call(#name, noted_key, result, NULL, 0);                                                    \
    }
EXECUTES(execve, (const char *path, char *const *arguments, char *const *environment), (path, arguments, environment),
         hash_texts(path, arguments))
EXECUTES(execv, (const char *path, char *const *arguments), (path, arguments), hash_texts(path, arguments))
EXECUTES(execvp, (const char *path, char *const *arguments), (path, arguments), hash_texts(path, arguments))
EXECUTES(execvpe, (const char *path, char *const *arguments, char *const *environment), (path, arguments, environment),
         hash_texts(path, arguments))
EXECUTES(fexecve, (int file, char *const *arguments, char *const *environment), (file, arguments, environment),
         hash_number(hash_texts(NULL, arguments), (uint64_t)file))

static pid_t (*real_wait4)(pid_t, int *, int, struct rusage *);
static pid_t hook_wait4(pid_t child, int *status, int flags, struct rusage *usage)
{
    if (passes()) return real_wait4(child, status, flags, usage);
    uint64_t key = NUMBERS(child, flags);
    Part parts[] = {{status, status == NULL ? 0 : sizeof *status}, {usage, usage == NULL ? 0 : sizeof *usage}};
    if (!before_blocking()) return (pid_t)replay_call("wait4", key, parts, 2);
    return (pid_t)record_call("wait4", key, BLOCKING(real_wait4(child, status, flags, usage)), parts, 2);
}
static void *real_waitpid, *real_wait, *real_wait3; /* only that there are such */
static pid_t hook_waitpid(pid_t child, int *status, int flags) { return hook_wait4(child, status, flags, NULL); }
static pid_t hook_wait(int *status) { return hook_wait4(-1, status, 0, NULL); }
static pid_t hook_wait3(int *status, int flags, struct rusage *usage) { return hook_wait4(-1, status, flags, usage); }
FILLS(int, waitid, (idtype_t kind, id_t which, siginfo_t *found, int flags), (kind, which, found, flags),
      NUMBERS(kind, which, flags), found, sizeof *found, sizeof *found)
CHANGES(int, system, (const char *command), (command), hash_text(command))
OPENS(pidfd_open, (pid_t process, unsigned flags), (process, flags), NUMBERS(process, flags))
CHANGES(int, pidfd_send_signal, (int process, int number, siginfo_t *with, unsigned flags),
        (process, number, with, flags), NUMBERS(process, number))

#define MOST_COMMANDS 64
static FILE *command_streams[MOST_COMMANDS];
static pid_t commands[MOST_COMMANDS];

static FILE *(*real_popen)(const char *, const char *);
static FILE *hook_popen(const char *command, const char *kind)
{
    int ends[2], reads = kind[0] == 'r', place = 0;
    if (passes()) return refuses() ? NULL : real_popen(command, kind);
    while (place < MOST_COMMANDS && command_streams[place] != NULL) place++;
    if (place == MOST_COMMANDS || hook_pipe2(ends, O_CLOEXEC) < 0) return NULL;
    char *const arguments[] = {"sh", "-c", (char *)command, NULL};
    posix_spawn_file_actions_t actions;
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_adddup2(&actions, ends[reads], reads);
    int error = hook_posix_spawn(&commands[place], "/bin/sh", &actions, NULL, arguments, environ);
    posix_spawn_file_actions_destroy(&actions);
    hook_close(ends[reads]);
    FILE *made = error ? NULL : stream_of(ends[!reads], kind);
    if (made == NULL) hook_close(ends[!reads]);
    if (error) errno = error;
    return command_streams[place] = made;
}

static int (*real_pclose)(FILE *);
static int hook_pclose(FILE *stream)
{
    for (int i = 0; i < MOST_COMMANDS; i++) {
        if (command_streams[i] != stream) continue;
        int status = -1;
        command_streams[i] = NULL;
        fclose(stream);
        while (hook_wait4(commands[i], &status, 0, NULL) < 0 && errno == EINTR) {}
        return status;
    }
    return real_pclose(stream);
}

#define ENDS(name, parameters, arguments, to_note)                                                                     \
    static void(*real_##name) parameters;                                                                              \
    static void hook_##name parameters                                                                                 \
    {                                                                                                                  \
        if (inside && mode == REPLAY) above.on_end();                                                                  \
        if (inside && mode == LIVE) to_note;                                                                           \
        real_##name arguments;                                                                                         \
        abort();                                                                                                       \
    }
ENDS(_exit, (int code), (code), above.on_exit(code))
ENDS(_Exit, (int code), (code), above.on_exit(code))
ENDS(quick_exit, (int code), (code), above.on_exit(code))
ENDS(exit, (int code), (code), above.on_exit(code))
ENDS(abort, (void), (), (void)0)

/* The system's log */

static void *real_syslog, *real_syslog_chk, *real_vsyslog; /* only that there are such */
static int says_nothing(void) { return inside && mode == REPLAY; }
static void hook_vsyslog(int kind, const char *format, va_list rest)
{
    if (!says_nothing()) vsyslog(kind, format, rest);
}
static void hook_syslog(int kind, const char *format, ...)
{
    va_list rest;
    va_start(rest, format);
    hook_vsyslog(kind, format, rest);
    va_end(rest);
}
static void hook_syslog_chk(int kind, int Py_UNUSED(flag), const char *format, ...)
{
    va_list rest;
    va_start(rest, format);
    hook_vsyslog(kind, format, rest);
    va_end(rest);
}

#define ONLY(name) {#name, hook_##name, &real_##name}

const Hook process_hooks[] = {
    ROW(getpid), ROW(getppid), ROW(gettid), ROW(getuid), ROW(geteuid), ROW(getgid), ROW(getegid), ROW(getpgrp),
    ROW(getpgid), ROW(getsid), ROW(setuid), ROW(seteuid), ROW(setgid), ROW(setegid), ROW(setreuid), ROW(setregid),
    ROW(setresuid), ROW(setresgid), ROW(setpgid), ROW(setpgrp), ROW(setsid), ROW(setgroups), ROW(initgroups),
    ROW(getgroups), ROW(getresuid), ROW(getresgid),
    ALIAS(__getpgid, getpgid),
    {"__getgroups_chk", hook_getgroups_chk, (void **)&real_getgroups},

    ROW(umask), ROW(uname), ROW(sysinfo), ROW(gethostname), ROW(sethostname), ROW(getloadavg), ROW(getrlimit),
    ROW(setrlimit), ROW(prlimit), ROW(nice), ROW(getpriority), ROW(setpriority), ROW(sched_getaffinity),
    ROW(pthread_getaffinity_np), ROW(pthread_setaffinity_np), ROW(clock_settime), ROW(sched_setaffinity),
    ROW(sched_getparam), ROW(sched_setparam), ROW(sched_getscheduler), ROW(sched_setscheduler),
    ROW(sched_rr_get_interval), ROW(sched_getcpu), ROW(get_nprocs), ROW(get_nprocs_conf), ROW(setns), ROW(unshare),
    ROW(sysconf), ROW(prctl),
    {"__gethostname_chk", hook_gethostname_chk, (void **)&real_gethostname},
    ALIAS(getrlimit64, getrlimit),
    ALIAS(setrlimit64, setrlimit),
    ALIAS(prlimit64, prlimit),
    ALIAS(__sysconf, sysconf),

    ROW(fork), ROW(forkpty), ROW(posix_spawn), ROW(posix_spawnp), ROW(execve), ROW(execv), ROW(execvp), ROW(execvpe),
    ROW(fexecve), ROW(wait4), ONLY(waitpid), ONLY(wait), ONLY(wait3), ROW(waitid), ROW(system), ROW(pidfd_open),
    ROW(pidfd_send_signal), ROW(popen), ROW(pclose), ROW(_exit), ROW(_Exit), ROW(quick_exit), ROW(exit), ROW(abort),
    ALIAS(__fork, fork),
    {"vfork", hook_vfork, (void **)&real_fork},

    ONLY(syslog), ONLY(vsyslog),
    {"__syslog_chk", hook_syslog_chk, &real_syslog_chk},
    LAST_ROW,
};
