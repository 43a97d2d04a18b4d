/* Sockets. Sent data is recorded by a hash of its beginning, received data as a whole. */

#include "open_files.h"
#include <limits.h>
#include <stddef.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/uio.h>
#include <sys/un.h>

/* A program may send the rest of a large buffer a thousand times: the beginning and the size tell a divergence. */
#define MOST_HASHED ((size_t)4096)

static uint64_t hash_data(uint64_t seed, const void *data, size_t size)
{
    return data == NULL ? hash_number(seed, size) : hash_written(seed, data, size < MOST_HASHED ? size : MOST_HASHED);
}

static size_t smaller(size_t a, size_t b) { return a < b ? a : b; }
static size_t filled(ssize_t result, size_t room) { return result > 0 ? smaller((size_t)result, room) : 0; }

/* Making and connecting */

static int (*real_socket)(int, int, int);
static int hook_socket(int family, int type, int protocol)
{
    if (passes()) return real_socket(family, type, protocol);
    uint64_t key = hash_three(family, type, protocol);
    if (!before_blocking()) return holds((int)replay_call("socket", key, NULL, 0));
    return holds((int)record_call("socket", key, BLOCKING(real_socket(family, type, protocol)), NULL, 0));
}

static int (*real_socketpair)(int, int, int, int *);
static int hook_socketpair(int family, int type, int protocol, int *ends)
{
    if (passes()) return real_socketpair(family, type, protocol, ends);
    uint64_t key = hash_three(family, type, protocol);
    Part part = {ends, 2 * sizeof *ends};
    if (!before_blocking()) return holds_two(ends, (int)replay_call("socketpair", key, &part, 1));
    int result = BLOCKING(real_socketpair(family, type, protocol, ends));
    if (result < 0) part.size = 0;
    return holds_two(ends, (int)record_call("socketpair", key, result, &part, 1));
}

static int (*real_bind)(int, const struct sockaddr *, socklen_t);
static int hook_bind(int socket, const struct sockaddr *address, socklen_t size)
{
    if (refuses()) return -1;
    if (passes()) return real_bind(socket, address, size);
    uint64_t key = hash_data((uint64_t)socket, address, size);
    if (!before_blocking()) return (int)replay_call("bind", key, NULL, 0);
    return (int)record_call("bind", key, BLOCKING(real_bind(socket, address, size)), NULL, 0);
}

/* How much of an address is set: bytes behind the path of a local one may be anything. */
static size_t size_of_address(const struct sockaddr *address, socklen_t size)
{
    size_t begin = offsetof(struct sockaddr_un, sun_path);
    if (size <= begin || address->sa_family != AF_UNIX) return size;
    size_t path = strnlen((const char *)address + begin, size - begin);
    return path == 0 ? size : begin + path; /* else it is abstract, and has zeros in it */
}

static int (*real_connect)(int, const struct sockaddr *, socklen_t);
static int hook_connect(int socket, const struct sockaddr *address, socklen_t size)
{
    if (refuses()) return -1;
    if (passes()) return real_connect(socket, address, size);
    uint64_t key = hash_data((uint64_t)socket, address, size_of_address(address, size));
    if (!before_blocking()) return (int)replay_call("connect", key, NULL, 0);
    return (int)record_call("connect", key, BLOCKING(real_connect(socket, address, size)), NULL, 0);
}

static int (*real_listen)(int, int);
static int hook_listen(int socket, int backlog)
{
    if (passes()) return real_listen(socket, backlog);
    uint64_t key = hash_three(socket, backlog, 0);
    if (!before_blocking()) return (int)replay_call("listen", key, NULL, 0);
    return (int)record_call("listen", key, BLOCKING(real_listen(socket, backlog)), NULL, 0);
}

static int (*real_shutdown)(int, int);
static int hook_shutdown(int socket, int how)
{
    if (passes()) return real_shutdown(socket, how);
    uint64_t key = hash_three(socket, how, 0);
    if (!before_blocking()) return (int)replay_call("shutdown", key, NULL, 0);
    return (int)record_call("shutdown", key, BLOCKING(real_shutdown(socket, how)), NULL, 0);
}

/* An address that a call fills: `size` says how much room there is, and then how long the address is. */

typedef struct {
    socklen_t room;
    Part parts[2];
} Filled;

static Filled place_for(void *place, socklen_t *size)
{
    socklen_t room = place == NULL || size == NULL ? 0 : *size;
    return (Filled){room, {{place, room}, {size, size == NULL ? 0 : sizeof *size}}};
}

static void was_filled(Filled *address, int failed)
{
    if (failed)
        address->parts[0].size = address->parts[1].size = 0;
    else if (address->parts[1].size)
        address->parts[0].size = smaller(address->room, *(socklen_t *)address->parts[1].place);
}

static int (*real_accept)(int, struct sockaddr *, socklen_t *);
static int hook_accept(int socket, struct sockaddr *place, socklen_t *size)
{
    if (passes()) return real_accept(socket, place, size);
    Filled address = place_for(place, size);
    uint64_t key = hash_three(socket, address.room, 0);
    if (!before_blocking()) return holds((int)replay_call("accept", key, address.parts, 2));
    int result = BLOCKING(real_accept(socket, place, size));
    was_filled(&address, result < 0);
    return holds((int)record_call("accept", key, result, address.parts, 2));
}

static int (*real_accept4)(int, struct sockaddr *, socklen_t *, int);
static int hook_accept4(int socket, struct sockaddr *place, socklen_t *size, int flags)
{
    if (passes()) return real_accept4(socket, place, size, flags);
    Filled address = place_for(place, size);
    uint64_t key = hash_three(socket, address.room, flags);
    if (!before_blocking()) return holds((int)replay_call("accept4", key, address.parts, 2));
    int result = BLOCKING(real_accept4(socket, place, size, flags));
    was_filled(&address, result < 0);
    return holds((int)record_call("accept4", key, result, address.parts, 2));
}

static int (*real_getsockname)(int, struct sockaddr *, socklen_t *);
static int hook_getsockname(int socket, struct sockaddr *place, socklen_t *size)
{
    if (passes()) return real_getsockname(socket, place, size);
    Filled address = place_for(place, size);
    uint64_t key = hash_three(socket, address.room, 0);
    if (!before_blocking()) return (int)replay_call("getsockname", key, address.parts, 2);
    int result = BLOCKING(real_getsockname(socket, place, size));
    was_filled(&address, result < 0);
    return (int)record_call("getsockname", key, result, address.parts, 2);
}

static int (*real_getpeername)(int, struct sockaddr *, socklen_t *);
static int hook_getpeername(int socket, struct sockaddr *place, socklen_t *size)
{
    if (passes()) return real_getpeername(socket, place, size);
    Filled address = place_for(place, size);
    uint64_t key = hash_three(socket, address.room, 0);
    if (!before_blocking()) return (int)replay_call("getpeername", key, address.parts, 2);
    int result = BLOCKING(real_getpeername(socket, place, size));
    was_filled(&address, result < 0);
    return (int)record_call("getpeername", key, result, address.parts, 2);
}

static int (*real_getsockopt)(int, int, int, void *, socklen_t *);
static int hook_getsockopt(int socket, int level, int option, void *place, socklen_t *size)
{
    if (passes()) return real_getsockopt(socket, level, option, place, size);
    Filled value = place_for(place, size);
    uint64_t key = hash_number(hash_three(socket, level, option), value.room);
    if (!before_blocking()) return (int)replay_call("getsockopt", key, value.parts, 2);
    int result = BLOCKING(real_getsockopt(socket, level, option, place, size));
    was_filled(&value, result < 0);
    return (int)record_call("getsockopt", key, result, value.parts, 2);
}

static int (*real_setsockopt)(int, int, int, const void *, socklen_t);
static int hook_setsockopt(int socket, int level, int option, const void *value, socklen_t size)
{
    if (passes()) return real_setsockopt(socket, level, option, value, size);
    uint64_t key = hash_data(hash_three(socket, level, option), value, size);
    if (!before_blocking()) return (int)replay_call("setsockopt", key, NULL, 0);
    return (int)record_call("setsockopt", key, BLOCKING(real_setsockopt(socket, level, option, value, size)), NULL, 0);
}

/* Sending */

static ssize_t (*real_send)(int, const void *, size_t, int);
static ssize_t hook_send(int socket, const void *data, size_t size, int flags)
{
    if (passes()) return real_send(socket, data, size, flags);
    uint64_t key = hash_data(hash_three(socket, flags, 0), data, size);
    if (!before_blocking()) return (ssize_t)replay_call("send", key, NULL, 0);
    return (ssize_t)record_call("send", key, BLOCKING(real_send(socket, data, size, flags)), NULL, 0);
}

static ssize_t (*real_sendto)(int, const void *, size_t, int, const struct sockaddr *, socklen_t);
static ssize_t hook_sendto(int socket, const void *data, size_t size, int flags, const struct sockaddr *to,
                           socklen_t to_size)
{
    if (passes()) return real_sendto(socket, data, size, flags, to, to_size);
    uint64_t key = hash_data(hash_data(hash_three(socket, flags, 0), data, size), to, to_size);
    if (!before_blocking()) return (ssize_t)replay_call("sendto", key, NULL, 0);
    return (ssize_t)record_call("sendto", key, BLOCKING(real_sendto(socket, data, size, flags, to, to_size)), NULL, 0);
}

static uint64_t hash_message(uint64_t seed, const struct msghdr *message)
{
    uint64_t key = hash_data(seed, message->msg_name, message->msg_namelen);
    key = hash_data(key, message->msg_control, message->msg_controllen);
    size_t left = MOST_HASHED;
    for (size_t i = 0; i < message->msg_iovlen && left > 0; i++) {
        size_t size = smaller(left, message->msg_iov[i].iov_len);
        key = hash_bytes(hash_number(key, message->msg_iov[i].iov_len), message->msg_iov[i].iov_base, size);
        left -= size;
    }
    return key;
}

static ssize_t (*real_sendmsg)(int, const struct msghdr *, int);
static ssize_t hook_sendmsg(int socket, const struct msghdr *message, int flags)
{
    if (passes()) return real_sendmsg(socket, message, flags);
    uint64_t key = hash_message(hash_three(socket, flags, 0), message);
    if (!before_blocking()) return (ssize_t)replay_call("sendmsg", key, NULL, 0);
    return (ssize_t)record_call("sendmsg", key, BLOCKING(real_sendmsg(socket, message, flags)), NULL, 0);
}

static int (*real_sendmmsg)(int, struct mmsghdr *, unsigned, int);
static int hook_sendmmsg(int socket, struct mmsghdr *messages, unsigned count, int flags)
{
    if (passes()) return real_sendmmsg(socket, messages, count, flags);
    if (count > IOV_MAX) count = IOV_MAX; /* as the system does */
    uint64_t key = hash_three(socket, flags, count);
    for (unsigned i = 0; i < count; i++) key = hash_message(key, &messages[i].msg_hdr);
    unsigned sizes[IOV_MAX];
    Part part = {sizes, sizeof sizes};
    int result;
    if (!before_blocking()) {
        result = (int)replay_call("sendmmsg", key, &part, 1);
        for (int i = 0; i < result; i++) messages[i].msg_len = sizes[i];
        return result;
    }
    result = BLOCKING(real_sendmmsg(socket, messages, count, flags));
    for (int i = 0; i < result; i++) sizes[i] = messages[i].msg_len;
    part.size = result > 0 ? (size_t)result * sizeof *sizes : 0;
    return (int)record_call("sendmmsg", key, result, &part, 1);
}

/* Receiving */

static ssize_t (*real_recv)(int, void *, size_t, int);
static ssize_t hook_recv(int socket, void *data, size_t size, int flags)
{
    if (passes()) return real_recv(socket, data, size, flags);
    uint64_t key = hash_three(socket, (int64_t)size, flags);
    Part part = {data, size};
    if (!before_blocking()) return (ssize_t)replay_call("recv", key, &part, 1);
    ssize_t result = BLOCKING(real_recv(socket, data, size, flags));
    part.size = filled(result, size); /* with MSG_TRUNC the result is more than was filled */
    return (ssize_t)record_call("recv", key, result, &part, 1);
}

static ssize_t (*real_recv_chk)(int, void *, size_t, size_t, int);
static ssize_t hook_recv_chk(int socket, void *data, size_t size, size_t room, int flags)
{
    if (passes() || size > room) return real_recv_chk(socket, data, size, room, flags); /* the latter aborts */
    return hook_recv(socket, data, size, flags);
}

static ssize_t (*real_recvfrom)(int, void *, size_t, int, struct sockaddr *, socklen_t *);
static ssize_t hook_recvfrom(int socket, void *data, size_t size, int flags, struct sockaddr *from, socklen_t *from_size)
{
    if (passes()) return real_recvfrom(socket, data, size, flags, from, from_size);
    Filled address = place_for(from, from_size);
    uint64_t key = hash_number(hash_three(socket, (int64_t)size, flags), address.room);
    Part parts[] = {{data, size}, address.parts[0], address.parts[1]};
    if (!before_blocking()) return (ssize_t)replay_call("recvfrom", key, parts, 3);
    ssize_t result = BLOCKING(real_recvfrom(socket, data, size, flags, from, from_size));
    was_filled(&address, result < 0);
    parts[0].size = filled(result, size);
    parts[1] = address.parts[0];
    parts[2] = address.parts[1];
    return (ssize_t)record_call("recvfrom", key, result, parts, 3);
}

static ssize_t (*real_recvfrom_chk)(int, void *, size_t, size_t, int, struct sockaddr *, socklen_t *);
static ssize_t hook_recvfrom_chk(int socket, void *data, size_t size, size_t room, int flags, struct sockaddr *from,
                                 socklen_t *from_size)
{
    if (passes() || size > room) return real_recvfrom_chk(socket, data, size, room, flags, from, from_size);
    return hook_recvfrom(socket, data, size, flags, from, from_size);
}

/* A message: its numbers, the sender's address, control data (with it the numbers of descriptors that came), the data. */

typedef struct {
    socklen_t name_size;
    int flags;
    size_t control_size;
} MessageNumbers;

#define PARTS_OF_MESSAGE (3 + IOV_MAX)

static uint64_t hash_room(uint64_t seed, const struct msghdr *message)
{
    uint64_t key = hash_number(hash_number(seed, message->msg_namelen), message->msg_controllen);
    for (size_t i = 0; i < message->msg_iovlen; i++) key = hash_number(key, message->msg_iov[i].iov_len);
    return key;
}

static ssize_t answer_message(uint64_t key, struct msghdr *message)
{
    MessageNumbers numbers = {message->msg_namelen, message->msg_flags, message->msg_controllen};
    Part parts[PARTS_OF_MESSAGE] = {{&numbers, sizeof numbers},
                                    {message->msg_name, message->msg_name == NULL ? 0 : message->msg_namelen},
                                    {message->msg_control, message->msg_control == NULL ? 0 : message->msg_controllen}};
    int count = 3;
    for (size_t i = 0; i < message->msg_iovlen && count < PARTS_OF_MESSAGE; i++)
        parts[count++] = (Part){message->msg_iov[i].iov_base, message->msg_iov[i].iov_len};
    ssize_t result = (ssize_t)replay_call("recvmsg", key, parts, count);
    message->msg_namelen = numbers.name_size;
    message->msg_flags = numbers.flags;
    message->msg_controllen = numbers.control_size;
    return result;
}

static ssize_t note_message(uint64_t key, const struct msghdr *message, socklen_t name_room, ssize_t result)
{
    MessageNumbers numbers = {message->msg_namelen, message->msg_flags, message->msg_controllen};
    int is_good = result >= 0;
    size_t name_size = is_good && message->msg_name != NULL ? smaller(name_room, message->msg_namelen) : 0;
    size_t control_size = is_good && message->msg_control != NULL ? message->msg_controllen : 0;
    Part parts[PARTS_OF_MESSAGE] = {
        {&numbers, sizeof numbers}, {message->msg_name, name_size}, {message->msg_control, control_size}};
    int count = 3;
    size_t left = result > 0 ? (size_t)result : 0;
    for (size_t i = 0; i < message->msg_iovlen && left > 0 && count < PARTS_OF_MESSAGE; i++) {
        size_t size = smaller(left, message->msg_iov[i].iov_len);
        parts[count++] = (Part){message->msg_iov[i].iov_base, size};
        left -= size;
    }
    return (ssize_t)record_call("recvmsg", key, result, parts, count);
}

static ssize_t (*real_recvmsg)(int, struct msghdr *, int);
static ssize_t hook_recvmsg(int socket, struct msghdr *message, int flags)
{
    if (passes()) return real_recvmsg(socket, message, flags);
    uint64_t key = hash_room(hash_three(socket, flags, 0), message);
    if (!before_blocking()) return answer_message(key, message);
    socklen_t name_room = message->msg_namelen;
    return note_message(key, message, name_room, BLOCKING(real_recvmsg(socket, message, flags)));
}

static int (*real_recvmmsg)(int, struct mmsghdr *, unsigned, int, struct timespec *);
static int hook_recvmmsg(int socket, struct mmsghdr *messages, unsigned count, int flags, struct timespec *timeout)
{
    if (passes()) return real_recvmmsg(socket, messages, count, flags, timeout);
    if (count > IOV_MAX) count = IOV_MAX;
    uint64_t key = hash_three(socket, flags, count);
    Part part = {timeout, timeout == NULL ? 0 : sizeof *timeout};
    int result;
    if (mode == REPLAY) {
        result = (int)replay_call("recvmmsg", key, &part, 1);
        int error = errno;
        for (int i = 0; i < result; i++)
            messages[i].msg_len = (unsigned)answer_message(hash_room(key, &messages[i].msg_hdr), &messages[i].msg_hdr);
        errno = error;
        return result;
    }
    socklen_t name_rooms[IOV_MAX];
    uint64_t keys[IOV_MAX];
    for (unsigned i = 0; i < count; i++) {
        name_rooms[i] = messages[i].msg_hdr.msg_namelen;
        keys[i] = hash_room(key, &messages[i].msg_hdr);
    }
    result = (int)record_call("recvmmsg", key, real_recvmmsg(socket, messages, count, flags, timeout), &part, 1);
    for (int i = 0; i < result; i++) note_message(keys[i], &messages[i].msg_hdr, name_rooms[i], messages[i].msg_len);
    return result;
}

const Hook socket_hooks[] = {
    {"socket", hook_socket, (void **)&real_socket},
    {"socketpair", hook_socketpair, (void **)&real_socketpair},
    {"bind", hook_bind, (void **)&real_bind},
    {"connect", hook_connect, (void **)&real_connect},
    {"listen", hook_listen, (void **)&real_listen},
    {"shutdown", hook_shutdown, (void **)&real_shutdown},
    {"accept", hook_accept, (void **)&real_accept},
    {"accept4", hook_accept4, (void **)&real_accept4},
    {"getsockname", hook_getsockname, (void **)&real_getsockname},
    {"getpeername", hook_getpeername, (void **)&real_getpeername},
    {"getsockopt", hook_getsockopt, (void **)&real_getsockopt},
    {"setsockopt", hook_setsockopt, (void **)&real_setsockopt},
    {"send", hook_send, (void **)&real_send},
    {"sendto", hook_sendto, (void **)&real_sendto},
    {"sendmsg", hook_sendmsg, (void **)&real_sendmsg},
    {"sendmmsg", hook_sendmmsg, (void **)&real_sendmmsg},
    {"recv", hook_recv, (void **)&real_recv},
    {"__recv_chk", hook_recv_chk, (void **)&real_recv_chk},
    {"recvfrom", hook_recvfrom, (void **)&real_recvfrom},
    {"__recvfrom_chk", hook_recvfrom_chk, (void **)&real_recvfrom_chk},
    {"recvmsg", hook_recvmsg, (void **)&real_recvmsg},
    {"recvmmsg", hook_recvmmsg, (void **)&real_recvmmsg},
    {NULL, NULL, NULL},
};
