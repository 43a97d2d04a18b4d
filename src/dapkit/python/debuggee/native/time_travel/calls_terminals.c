/* Terminals: their names, their modes, and their foreground groups. */

#include "calls.h"
#include <pty.h>
#include <stdlib.h>
#include <string.h>
#include <termios.h>
#include <unistd.h>
#include <utmp.h>

#define IF_DONE(size) (result == 0 ? (size) : 0)

READS(int, isatty, (int descriptor), (descriptor), (uint64_t)descriptor)
FILLS(int, ttyname_r, (int terminal, char *place, size_t size), (terminal, place, size), NUMBERS(terminal, size), place,
      size, IF_DONE(strlen(place) + 1))
FILLS(int, ptsname_r, (int terminal, char *place, size_t size), (terminal, place, size), NUMBERS(terminal, size), place,
      size, IF_DONE(strlen(place) + 1))
static int hook_ttyname_r_chk(int terminal, char *place, size_t size, size_t Py_UNUSED(room))
{
    return hook_ttyname_r(terminal, place, size);
}
static int hook_ptsname_r_chk(int terminal, char *place, size_t size, size_t Py_UNUSED(room))
{
    return hook_ptsname_r(terminal, place, size);
}

static char terminal_name[4096];
#define NAMES_TERMINAL(name)                                                                                           \
    static char *(*real_##name)(int);                                                                                  \
    static char *hook_##name(int terminal)                                                                             \
    {                                                                                                                  \
        if (passes()) return real_##name(terminal);                                                                    \
        int error = hook_##name##_r(terminal, terminal_name, sizeof terminal_name);                                    \
        if (error) errno = error;                                                                                      \
        return error ? NULL : terminal_name;                                                                           \
    }
NAMES_TERMINAL(ttyname)
NAMES_TERMINAL(ptsname)

FILLS(int, tcgetattr, (int terminal, struct termios *found), (terminal, found), (uint64_t)terminal, found, sizeof *found,
      IF_DONE(sizeof *found))
CHANGES(int, tcsetattr, (int terminal, int when, const struct termios *wanted), (terminal, when, wanted),
        NUMBERS(terminal, when))
CHANGES(int, tcdrain, (int terminal), (terminal), (uint64_t)terminal)
CHANGES(int, tcflow, (int terminal, int action), (terminal, action), NUMBERS(terminal, action))
CHANGES(int, tcflush, (int terminal, int queue), (terminal, queue), NUMBERS(terminal, queue))
CHANGES(int, tcsendbreak, (int terminal, int duration), (terminal, duration), NUMBERS(terminal, duration))
READS(pid_t, tcgetpgrp, (int terminal), (terminal), (uint64_t)terminal)
CHANGES(int, tcsetpgrp, (int terminal, pid_t group), (terminal, group), NUMBERS(terminal, group))
READS(pid_t, tcgetsid, (int terminal), (terminal), (uint64_t)terminal)
OPENS(posix_openpt, (int flags), (flags), (uint64_t)flags)
READS(int, grantpt, (int terminal), (terminal), (uint64_t)terminal)
READS(int, unlockpt, (int terminal), (terminal), (uint64_t)terminal)
CHANGES(int, login_tty, (int terminal), (terminal), (uint64_t)terminal)

static int (*real_openpty)(int *, int *, char *, const struct termios *, const struct winsize *);
static int hook_openpty(int *one, int *other, char *name, const struct termios *modes, const struct winsize *size)
{
    if (passes()) return real_openpty(one, other, name, modes, size);
    Part parts[] = {{one, sizeof *one}, {other, sizeof *other}, {name, 4096}};
    int count = name == NULL ? 2 : 3;
    int is_made = before_blocking(), result = is_made ? BLOCKING(real_openpty(one, other, name, modes, size)) : 0;
    if (is_made && name != NULL) parts[2].size = result == 0 ? strlen(name) + 1 : 0;
    result = is_made ? (int)record_call("openpty", 0, result, parts, count) : (int)replay_call("openpty", 0, parts, count);
    if (result == 0) holds(*one), holds(*other);
    return result;
}

const Hook terminal_hooks[] = {
    ROW(isatty),
    ROW(ttyname_r),
    {"__ttyname_r_chk", hook_ttyname_r_chk, (void **)&real_ttyname_r},
    ROW(ptsname_r),
    {"__ptsname_r_chk", hook_ptsname_r_chk, (void **)&real_ptsname_r},
    ROW(ttyname),
    ROW(ptsname),
    ROW(tcgetattr),
    ROW(tcsetattr),
    ROW(tcdrain),
    ROW(tcflow),
    ROW(tcflush),
    ROW(tcsendbreak),
    ROW(tcgetpgrp),
    ROW(tcsetpgrp),
    ROW(tcgetsid),
    ROW(posix_openpt),
    ROW(grantpt),
    ROW(unlockpt),
    ROW(login_tty),
    ROW(openpty),
    LAST_ROW,
};
