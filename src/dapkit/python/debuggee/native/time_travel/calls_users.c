/* Users and groups.

   The C library takes memory, opens files and loads objects for it: the live program asks a copy of itself, so that
   nothing of it happens here. */

#include "calls.h"
#include <fcntl.h>
#include <grp.h>
#include <pwd.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#define COPY_STACK 65536

typedef struct {
    void (*question)(int answer, void *with);
    void *with;
    int ends[2];
} Question;

/* Runs in a process between, which exits at once: the copy has no parent that waits for it. */
static int begin_copy(void *given)
{
    Question *asked = given;
    if (fork() != 0) return 0;
    mode = OFF;
    close(asked->ends[0]);
    asked->question(asked->ends[1], asked->with);
    _exit(0);
}

/* Have a copy of this process answer; how many bytes it said. */
static size_t ask_copy(void (*question)(int, void *), void *with, char *text, size_t room)
{
    static char stack[COPY_STACK] __attribute__((aligned(16)));
    Question asked = {question, with, {-1, -1}};
    size_t size = 0;
    ssize_t got;
    if (pipe2(asked.ends, O_CLOEXEC) < 0) return 0;
    pid_t between = clone(begin_copy, stack + COPY_STACK, CLONE_VM | CLONE_VFORK, &asked);
    if (between > 0) waitpid(between, NULL, __WCLONE);
    close(asked.ends[1]);
    while ((got = read(asked.ends[0], text + size, room - size)) != 0) {
        if (got < 0 && errno != EINTR) break;
        if (got > 0) size += (size_t)got;
    }
    close(asked.ends[0]);
    return size;
}

/* An entry: a line of its numbers, then its texts, each with its end; empty if the user does not exist. */

#define ANSWER_ROOM ((size_t)1 << 20)
static char answer_text[ANSWER_ROOM]; /* touched only by queries for users */

static void say_texts(int end, unsigned one, unsigned other, char *const *texts, char *const *more)
{
    dprintf(end, "%u %u%c", one, other, 0);
    for (; *texts != NULL; texts++) dprintf(end, "%s%c", *texts, 0);
    for (; more != NULL && *more != NULL; more++) dprintf(end, "%s%c", *more, 0);
}
static void say_user(int end, const struct passwd *user)
{
    char *texts[] = {user->pw_name, user->pw_passwd, user->pw_gecos, user->pw_dir, user->pw_shell, NULL};
    say_texts(end, user->pw_uid, user->pw_gid, texts, NULL);
}
static void say_group(int end, const struct group *group)
{
    unsigned count = 0;
    while (group->gr_mem[count] != NULL) count++;
    char *texts[] = {group->gr_name, group->gr_passwd, NULL};
    say_texts(end, group->gr_gid, count, texts, group->gr_mem);
}

typedef struct {
    const char *name;
    unsigned id;
} Who;

static void ask_user(int end, void *with)
{
    Who *who = with;
    struct passwd *user = who->name != NULL ? getpwnam(who->name) : getpwuid(who->id);
    if (user != NULL) say_user(end, user);
}
static void ask_group(int end, void *with)
{
    Who *who = with;
    struct group *group = who->name != NULL ? getgrnam(who->name) : getgrgid(who->id);
    if (group != NULL) say_group(end, group);
}
static void ask_users(int end, void *Py_UNUSED(with))
{
    struct passwd *user;
    setpwent();
    while ((user = getpwent()) != NULL) say_user(end, user);
}
static void ask_groups(int end, void *Py_UNUSED(with))
{
    struct group *group;
    setgrent();
    while ((group = getgrent()) != NULL) say_group(end, group);
}
static void ask_login(int end, void *Py_UNUSED(with))
{
    char *name = getlogin();
    if (name != NULL) dprintf(end, "%s", name);
    else dprintf(end, "%c%d", 0, errno);
}

static size_t find_out(const char *call, void (*question)(int, void *), Who who, char *text, size_t room)
{
    uint64_t key = hash_number(hash_text(who.name), who.id);
    Part part = {text, room};
    if (mode == REPLAY) replay_call(call, key, &part, 1);
    else part.size = ask_copy(question, &who, text, room), record_call(call, key, 0, &part, 1);
    return part.size;
}

/* Split an entry up: the place after it. */
static char *split(char *text, unsigned *one, unsigned *other, char **texts, int count)
{
    sscanf(text, "%u %u", one, other);
    for (int i = 0; i < count; i++) texts[i] = text += strlen(text) + 1;
    return text + strlen(text) + 1;
}

static char *user_of(char *text, struct passwd *user)
{
    char *texts[5];
    char *end = split(text, &user->pw_uid, &user->pw_gid, texts, 5);
    user->pw_name = texts[0];
    user->pw_passwd = texts[1];
    user->pw_gecos = texts[2];
    user->pw_dir = texts[3];
    user->pw_shell = texts[4];
    return end;
}

#define MOST_MEMBERS 1024
static char *group_of(char *text, struct group *group, char **members, unsigned room)
{
    char *texts[2];
    unsigned count;
    char *end = split(text, &group->gr_gid, &count, texts, 2);
    group->gr_name = texts[0];
    group->gr_passwd = texts[1];
    group->gr_mem = members;
    for (unsigned i = 0; i < count; i++, end += strlen(end) + 1)
        if (i + 1 < room) *members++ = end;
    *members = NULL;
    return end;
}

static int find_user(const char *call, Who who, struct passwd *user, char *place, size_t room, struct passwd **result)
{
    *result = NULL;
    size_t size = find_out(call, ask_user, who, answer_text, sizeof answer_text);
    if (size == 0) return 0;
    if (size > room) return ERANGE;
    user_of(memcpy(place, answer_text, size), user);
    *result = user;
    return 0;
}

static int find_group(const char *call, Who who, struct group *group, char *place, size_t room, struct group **result)
{
    *result = NULL;
    size_t size = find_out(call, ask_group, who, answer_text, sizeof answer_text);
    if (size == 0) return 0;
    unsigned one, count = 0;
    sscanf(answer_text, "%u %u", &one, &count);
    size_t before = (8 - (uintptr_t)place % 8) % 8 + (count + 1) * sizeof(char *);
    if (before + size > room) return ERANGE;
    char **members = (char **)(place + (8 - (uintptr_t)place % 8) % 8);
    group_of(memcpy(place + before, answer_text, size), group, members, count + 1);
    *result = group;
    return 0;
}

#define FINDS(name, kind, find, parameter, argument, who)                                                              \
    static int (*real_##name##_r)(parameter, struct kind *, char *, size_t, struct kind **);                           \
    static int hook_##name##_r(parameter, struct kind *found, char *place, size_t room, struct kind **result)          \
    {                                                                                                                  \
        if (passes()) return real_##name##_r(argument, found, place, room, result);                                    \
        return find(#name, (Who)who, found, place, room, result);                                                      \
    }                                                                                                                  \
    static struct kind *(*real_##name)(parameter);                                                                     \
    static struct kind *hook_##name(parameter)                                                                         \
    {                                                                                                                  \
        static struct kind found;                                                                                      \
        static char place[65536];                                                                                      \
        struct kind *result;                                                                                           \
        if (passes()) return real_##name(argument);                                                                    \
        find(#name, (Who)who, &found, place, sizeof place, &result);                                                   \
        return result;                                                                                                 \
    }
#define BOTH(...) {__VA_ARGS__}
FINDS(getpwnam, passwd, find_user, const char *name, name, BOTH(name, 0))
FINDS(getpwuid, passwd, find_user, uid_t id, id, BOTH(NULL, id))
FINDS(getgrnam, group, find_group, const char *name, name, BOTH(name, 0))
FINDS(getgrgid, group, find_group, gid_t id, id, BOTH(NULL, id))

/* All of them, one after the other. */
#define LISTS(name, kind, set, end, question, entry_of)                                                                \
    static char all_##kind[ANSWER_ROOM], *place_##kind;                                                                \
    static size_t size_##kind;                                                                                         \
    static void (*real_##set)(void);                                                                                   \
    static void hook_##set(void)                                                                                       \
    {                                                                                                                  \
        if (passes()) real_##set();                                                                                    \
        else place_##kind = NULL;                                                                                      \
    }                                                                                                                  \
    static void (*real_##end)(void);                                                                                   \
    static void hook_##end(void)                                                                                       \
    {                                                                                                                  \
        if (passes()) real_##end();                                                                                    \
        else place_##kind = NULL;                                                                                      \
    }                                                                                                                  \
    static struct kind *(*real_##name)(void);                                                                          \
    static struct kind *hook_##name(void)                                                                              \
    {                                                                                                                  \
        static struct kind entry;                                                                                      \
        if (passes()) return real_##name();                                                                            \
        if (place_##kind == NULL) {                                                                                    \
            size_##kind = find_out(#name, question, (Who){NULL, 0}, place_##kind = all_##kind, ANSWER_ROOM);           \
        }                                                                                                              \
        if (place_##kind >= all_##kind + size_##kind) return NULL;                                                     \
        place_##kind = entry_of;                                                                                       \
        return &entry;                                                                                                 \
    }
static char *members_of_entry[MOST_MEMBERS];
LISTS(getpwent, passwd, setpwent, endpwent, ask_users, user_of(place_passwd, &entry))
LISTS(getgrent, group, setgrent, endgrent, ask_groups, group_of(place_group, &entry, members_of_entry, MOST_MEMBERS))

static char login_name[512];
static char *(*real_getlogin)(void);
static char *hook_getlogin(void)
{
    if (passes()) return real_getlogin();
    size_t size = find_out("getlogin", ask_login, (Who){NULL, 0}, login_name, sizeof login_name - 1);
    login_name[size] = 0;
    if (login_name[0] == 0) errno = size > 1 ? atoi(login_name + 1) : ENOENT;
    return login_name[0] == 0 ? NULL : login_name;
}

static int (*real_getlogin_r)(char *, size_t);
static int hook_getlogin_r(char *place, size_t room)
{
    if (passes()) return real_getlogin_r(place, room);
    if (hook_getlogin() == NULL) return errno;
    if (strlen(login_name) >= room) return ERANGE;
    strcpy(place, login_name);
    return 0;
}

typedef struct {
    const char *name;
    gid_t first;
    int room;
} Membership;

static void ask_memberships(int end, void *with)
{
    Membership *asked = with;
    gid_t groups[MOST_MEMBERS];
    int count = MOST_MEMBERS;
    if (getgrouplist(asked->name, asked->first, groups, &count) >= 0)
        while (write(end, groups, (size_t)count * sizeof *groups) < 0 && errno == EINTR) {}
}

static int (*real_getgrouplist)(const char *, gid_t, gid_t *, int *);
static int hook_getgrouplist(const char *name, gid_t first, gid_t *groups, int *room)
{
    if (passes()) return real_getgrouplist(name, first, groups, room);
    Membership asked = {name, first, *room};
    gid_t found[MOST_MEMBERS];
    uint64_t key = hash_number(hash_text(name), first);
    Part part = {found, sizeof found};
    if (mode == REPLAY) replay_call("getgrouplist", key, &part, 1);
    else part.size = ask_copy(ask_memberships, &asked, (char *)found, sizeof found), record_call("getgrouplist", key, 0, &part, 1);
    int count = (int)(part.size / sizeof *groups);
    int given = count < *room ? count : *room;
    memcpy(groups, found, (size_t)given * sizeof *groups);
    *room = count;
    return given < count ? -1 : count;
}

const Hook user_hooks[] = {
    ROW(getpwnam_r), ROW(getpwnam), ROW(getpwuid_r), ROW(getpwuid), ROW(getgrnam_r), ROW(getgrnam), ROW(getgrgid_r),
    ROW(getgrgid), ROW(setpwent), ROW(endpwent), ROW(getpwent), ROW(setgrent), ROW(endgrent), ROW(getgrent),
    ROW(getlogin), ROW(getlogin_r), ROW(getgrouplist),
    LAST_ROW,
};
