/* Names of hosts, services, protocols and interfaces.

   The C library answers with lists that it allocates, or that lie in its own memory. We put them into one block with
   distances instead of pointers, note the block, and hand out a copy of it in which the distances have become pointers:
   the copy has the same size and is made at the same moment in live and in replay. Memory that the C library allocates
   for itself meanwhile is kept apart (`heap.c`). */

#include "packing.h"
#include <net/if.h>
#include <netdb.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

/* Addresses of a host */

static void pack_addresses(Pack *packed, const struct addrinfo *list)
{
    begin_pack(packed);
    for (; list != NULL; list = list->ai_next) {
        struct addrinfo copy = *list;
        size_t place = pack(packed, NULL, sizeof copy);
        copy.ai_addr = list->ai_addr == NULL ? NULL : (void *)pack(packed, list->ai_addr, list->ai_addrlen);
        copy.ai_canonname = pack_text(packed, list->ai_canonname);
        copy.ai_next = list->ai_next == NULL ? NULL : (void *)packed->size;
        if (packed->begin != NULL) memcpy(packed->begin + place, &copy, sizeof copy);
    }
}

static uint64_t hash_hints(uint64_t seed, const struct addrinfo *hints)
{
    if (hints == NULL) return seed;
    return hash_number(hash_three(hints->ai_flags, hints->ai_family, hints->ai_socktype),
                       hash_number(seed, (uint64_t)hints->ai_protocol));
}

static int (*real_getaddrinfo)(const char *, const char *, const struct addrinfo *, struct addrinfo **);
static void (*real_freeaddrinfo)(struct addrinfo *);

static int hook_getaddrinfo(const char *host, const char *service, const struct addrinfo *hints, struct addrinfo **place)
{
    if (passes()) return real_getaddrinfo(host, service, hints, place);
    uint64_t key = hash_hints(hash_number(hash_text(host), hash_text(service)), hints);
    int64_t result;
    char *block = NULL;
    if (!before_blocking()) {
        block = block_of_note("getaddrinfo", key, NULL, 0, &result);
    } else {
        struct addrinfo *list = NULL;
        begin_aside();
        result = real_getaddrinfo(host, service, hints, &list);
        end_aside();
        after_blocking();
        int error = errno;
        Pack packed = {NULL, 0};
        if (result == 0) {
            pack_addresses(&packed, list);
            block = packed.begin = malloc(packed.size);
            if (block != NULL) pack_addresses(&packed, list);
            real_freeaddrinfo(list);
        }
        Part part = {block, block == NULL ? 0 : packed.size};
        errno = error;
        record_call("getaddrinfo", key, result, &part, 1);
    }
    if (result != 0) return (int)result;
    if (block == NULL) return EAI_MEMORY;
    struct addrinfo *first = *place = (struct addrinfo *)(block + sizeof(Head));
    for (struct addrinfo *info = first; info != NULL; info = info->ai_next) {
        TO_POINTER(block, info->ai_addr);
        TO_POINTER(block, info->ai_canonname);
        TO_POINTER(block, info->ai_next);
    }
    return 0;
}

static void hook_freeaddrinfo(struct addrinfo *list)
{
    if (is_ours(list))
        free((Head *)list - 1);
    else
        real_freeaddrinfo(list);
}

static int (*real_getnameinfo)(const struct sockaddr *, socklen_t, char *, socklen_t, char *, socklen_t, int);
static int hook_getnameinfo(const struct sockaddr *address, socklen_t size, char *host, socklen_t host_room, char *service,
                            socklen_t service_room, int flags)
{
    if (passes()) return real_getnameinfo(address, size, host, host_room, service, service_room, flags);
    uint64_t key = hash_number(hash_bytes((uint64_t)flags, address, size), hash_three(host_room, service_room, 0));
    Part parts[] = {{host, host == NULL ? 0 : host_room}, {service, service == NULL ? 0 : service_room}};
    if (!before_blocking()) return (int)replay_call("getnameinfo", key, parts, 2);
    begin_aside();
    int result = BLOCKING(real_getnameinfo(address, size, host, host_room, service, service_room, flags));
    end_aside();
    parts[0].size = result == 0 && parts[0].size ? strlen(host) + 1 : 0;
    parts[1].size = result == 0 && parts[1].size ? strlen(service) + 1 : 0;
    return (int)record_call("getnameinfo", key, result, parts, 2);
}

/* The older functions with a buffer of the caller's: all that the entry points to lies in that, so that both are noted
   as they are. Where a recording is executed again, the buffer lies elsewhere, and pointers into it are moved. */

static int is_within(const void *pointer, const char *buffer, size_t size)
{
    return (const char *)pointer >= buffer && (const char *)pointer < buffer + size;
}

static int note_host(const char *call, uint64_t key, int result, struct hostent *host, char *buffer, size_t room,
                     struct hostent **found, int *host_error)
{
    int has_host = result == 0 && *found != NULL;
    int64_t is_found = has_host;
    Part parts[] = {{&is_found, sizeof is_found},
                    {host_error, sizeof *host_error},
                    {host, has_host ? sizeof *host : 0},
                    {buffer, has_host && is_within(host->h_name, buffer, room) ? room : 0},
                    {&buffer, sizeof buffer}};
    return (int)record_call(call, key, result, parts, 5);
}

static void move_list(char **list, ptrdiff_t distance)
{
    for (; list != NULL && *list != NULL; list++) *list += distance;
}

static void move_host(struct hostent *host, ptrdiff_t distance)
{
    if (host->h_name != NULL) host->h_name += distance;
    if (host->h_aliases != NULL) host->h_aliases = (char **)((char *)host->h_aliases + distance);
    if (host->h_addr_list != NULL) host->h_addr_list = (char **)((char *)host->h_addr_list + distance);
    move_list(host->h_aliases, distance);
    move_list(host->h_addr_list, distance);
}

static int answer_host(const char *call, uint64_t key, struct hostent *host, char *buffer, size_t room,
                       struct hostent **found, int *host_error)
{
    int64_t is_found = 0;
    char *noted_buffer = buffer;
    Part parts[] = {{&is_found, sizeof is_found},
                    {host_error, sizeof *host_error},
                    {host, sizeof *host},
                    {buffer, room},
                    {&noted_buffer, sizeof noted_buffer}};
    int result = (int)replay_call(call, key, parts, 5);
    if (is_found && noted_buffer != buffer) move_host(host, buffer - noted_buffer);
    *found = is_found ? host : NULL;
    return result;
}

static int (*real_gethostbyname_r)(const char *, struct hostent *, char *, size_t, struct hostent **, int *);
static int hook_gethostbyname_r(const char *name, struct hostent *host, char *buffer, size_t room, struct hostent **found,
                                int *host_error)
{
    if (passes()) return real_gethostbyname_r(name, host, buffer, room, found, host_error);
    uint64_t key = hash_number(hash_text(name), room);
    if (!before_blocking()) return answer_host("gethostbyname_r", key, host, buffer, room, found, host_error);
    begin_aside();
    int result = BLOCKING(real_gethostbyname_r(name, host, buffer, room, found, host_error));
    end_aside();
    return note_host("gethostbyname_r", key, result, host, buffer, room, found, host_error);
}

static int (*real_gethostbyname2_r)(const char *, int, struct hostent *, char *, size_t, struct hostent **, int *);
static int hook_gethostbyname2_r(const char *name, int family, struct hostent *host, char *buffer, size_t room,
                                 struct hostent **found, int *host_error)
{
    if (passes()) return real_gethostbyname2_r(name, family, host, buffer, room, found, host_error);
    uint64_t key = hash_number(hash_number(hash_text(name), (uint64_t)family), room);
    if (!before_blocking()) return answer_host("gethostbyname2_r", key, host, buffer, room, found, host_error);
    begin_aside();
    int result = BLOCKING(real_gethostbyname2_r(name, family, host, buffer, room, found, host_error));
    end_aside();
    return note_host("gethostbyname2_r", key, result, host, buffer, room, found, host_error);
}

static int (*real_gethostbyaddr_r)(const void *, socklen_t, int, struct hostent *, char *, size_t, struct hostent **, int *);
static int hook_gethostbyaddr_r(const void *address, socklen_t size, int family, struct hostent *host, char *buffer,
                                size_t room, struct hostent **found, int *host_error)
{
    if (passes()) return real_gethostbyaddr_r(address, size, family, host, buffer, room, found, host_error);
    uint64_t key = hash_number(hash_bytes((uint64_t)family, address, size), room);
    if (!before_blocking()) return answer_host("gethostbyaddr_r", key, host, buffer, room, found, host_error);
    begin_aside();
    int result = BLOCKING(real_gethostbyaddr_r(address, size, family, host, buffer, room, found, host_error));
    end_aside();
    return note_host("gethostbyaddr_r", key, result, host, buffer, room, found, host_error);
}

/* Those that answer with memory of the C library's own answer with memory of ours, which the next call overwrites. */

#define ENTRY_ROOM 16384

static char host_place[ENTRY_ROOM] __attribute__((aligned(16)));
static char service_place[ENTRY_ROOM] __attribute__((aligned(16)));
static char protocol_place[ENTRY_ROOM] __attribute__((aligned(16)));

/* The part of a note of the block at `place`; none if there is no entry or it has no room. */
static Part entry_part(const void *entry, char *place, const Pack *size)
{
    return (Part){place, entry == NULL || size->size > ENTRY_ROOM ? 0 : size->size};
}

static void pack_host(Pack *packed, const struct hostent *host)
{
    begin_pack(packed);
    struct hostent copy = *host;
    size_t place = pack(packed, NULL, sizeof copy);
    copy.h_name = pack_text(packed, host->h_name);
    copy.h_aliases = pack_list(packed, host->h_aliases, 0);
    copy.h_addr_list = pack_list(packed, host->h_addr_list, (size_t)host->h_length);
    if (packed->begin != NULL) memcpy(packed->begin + place, &copy, sizeof copy);
}

static struct hostent *host_at(char *block)
{
    struct hostent *host = (struct hostent *)(block + sizeof(Head));
    TO_POINTER(block, host->h_name);
    TO_POINTER(block, host->h_aliases);
    TO_POINTER(block, host->h_addr_list);
    to_pointers(block, host->h_aliases);
    to_pointers(block, host->h_addr_list);
    return host;
}

static struct hostent *note_static_host(const char *call, uint64_t key, const struct hostent *host)
{
    Pack packed = {NULL, 0};
    if (host != NULL) pack_host(&packed, host);
    Part part = entry_part(host, host_place, &packed);
    packed.begin = host_place;
    if (part.size) pack_host(&packed, host);
    record_call(call, key, h_errno, &part, 1);
    return part.size ? host_at(host_place) : NULL;
}

static struct hostent *answer_static_host(const char *call, uint64_t key)
{
    int64_t host_error;
    char *block = block_of_note(call, key, host_place, ENTRY_ROOM, &host_error);
    h_errno = (int)host_error;
    return block == NULL ? NULL : host_at(block);
}

static struct hostent *(*real_gethostbyname)(const char *);
static struct hostent *hook_gethostbyname(const char *name)
{
    if (passes()) return real_gethostbyname(name);
    if (!before_blocking()) return answer_static_host("gethostbyname", hash_text(name));
    begin_aside();
    struct hostent *host = BLOCKING(real_gethostbyname(name));
    end_aside();
    return note_static_host("gethostbyname", hash_text(name), host);
}

static struct hostent *(*real_gethostbyaddr)(const void *, socklen_t, int);
static struct hostent *hook_gethostbyaddr(const void *address, socklen_t size, int family)
{
    if (passes()) return real_gethostbyaddr(address, size, family);
    uint64_t key = hash_bytes((uint64_t)family, address, size);
    if (!before_blocking()) return answer_static_host("gethostbyaddr", key);
    begin_aside();
    struct hostent *host = BLOCKING(real_gethostbyaddr(address, size, family));
    end_aside();
    return note_static_host("gethostbyaddr", key, host);
}

static void pack_service(Pack *packed, const struct servent *service)
{
    begin_pack(packed);
    struct servent copy = *service;
    size_t place = pack(packed, NULL, sizeof copy);
    copy.s_name = pack_text(packed, service->s_name);
    copy.s_aliases = pack_list(packed, service->s_aliases, 0);
    copy.s_proto = pack_text(packed, service->s_proto);
    if (packed->begin != NULL) memcpy(packed->begin + place, &copy, sizeof copy);
}

static struct servent *service_at(char *block)
{
    struct servent *service = (struct servent *)(block + sizeof(Head));
    TO_POINTER(block, service->s_name);
    TO_POINTER(block, service->s_aliases);
    TO_POINTER(block, service->s_proto);
    to_pointers(block, service->s_aliases);
    return service;
}

static struct servent *note_service(const char *call, uint64_t key, const struct servent *service)
{
    Pack packed = {NULL, 0};
    if (service != NULL) pack_service(&packed, service);
    Part part = entry_part(service, service_place, &packed);
    packed.begin = service_place;
    if (part.size) pack_service(&packed, service);
    record_call(call, key, 0, &part, 1);
    return part.size ? service_at(service_place) : NULL;
}

static struct servent *answer_service(const char *call, uint64_t key)
{
    int64_t result;
    char *block = block_of_note(call, key, service_place, ENTRY_ROOM, &result);
    return block == NULL ? NULL : service_at(block);
}

static struct servent *(*real_getservbyname)(const char *, const char *);
static struct servent *hook_getservbyname(const char *name, const char *protocol)
{
    if (passes()) return real_getservbyname(name, protocol);
    uint64_t key = hash_number(hash_text(name), hash_text(protocol));
    if (!before_blocking()) return answer_service("getservbyname", key);
    begin_aside();
    struct servent *service = BLOCKING(real_getservbyname(name, protocol));
    end_aside();
    return note_service("getservbyname", key, service);
}

static struct servent *(*real_getservbyport)(int, const char *);
static struct servent *hook_getservbyport(int port, const char *protocol)
{
    if (passes()) return real_getservbyport(port, protocol);
    uint64_t key = hash_number((uint64_t)port, hash_text(protocol));
    if (!before_blocking()) return answer_service("getservbyport", key);
    begin_aside();
    struct servent *service = BLOCKING(real_getservbyport(port, protocol));
    end_aside();
    return note_service("getservbyport", key, service);
}

static void pack_protocol(Pack *packed, const struct protoent *protocol)
{
    begin_pack(packed);
    struct protoent copy = *protocol;
    size_t place = pack(packed, NULL, sizeof copy);
    copy.p_name = pack_text(packed, protocol->p_name);
    copy.p_aliases = pack_list(packed, protocol->p_aliases, 0);
    if (packed->begin != NULL) memcpy(packed->begin + place, &copy, sizeof copy);
}

static struct protoent *protocol_at(char *block)
{
    struct protoent *protocol = (struct protoent *)(block + sizeof(Head));
    TO_POINTER(block, protocol->p_name);
    TO_POINTER(block, protocol->p_aliases);
    to_pointers(block, protocol->p_aliases);
    return protocol;
}

static struct protoent *note_protocol(const char *call, uint64_t key, const struct protoent *protocol)
{
    Pack packed = {NULL, 0};
    if (protocol != NULL) pack_protocol(&packed, protocol);
    Part part = entry_part(protocol, protocol_place, &packed);
    packed.begin = protocol_place;
    if (part.size) pack_protocol(&packed, protocol);
    record_call(call, key, 0, &part, 1);
    return part.size ? protocol_at(protocol_place) : NULL;
}

static struct protoent *answer_protocol(const char *call, uint64_t key)
{
    int64_t result;
    char *block = block_of_note(call, key, protocol_place, ENTRY_ROOM, &result);
    return block == NULL ? NULL : protocol_at(block);
}

static struct protoent *(*real_getprotobyname)(const char *);
static struct protoent *hook_getprotobyname(const char *name)
{
    if (passes()) return real_getprotobyname(name);
    if (!before_blocking()) return answer_protocol("getprotobyname", hash_text(name));
    begin_aside();
    struct protoent *protocol = BLOCKING(real_getprotobyname(name));
    end_aside();
    return note_protocol("getprotobyname", hash_text(name), protocol);
}

static struct protoent *(*real_getprotobynumber)(int);
static struct protoent *hook_getprotobynumber(int number)
{
    if (passes()) return real_getprotobynumber(number);
    if (!before_blocking()) return answer_protocol("getprotobynumber", (uint64_t)number);
    begin_aside();
    struct protoent *protocol = BLOCKING(real_getprotobynumber(number));
    end_aside();
    return note_protocol("getprotobynumber", (uint64_t)number, protocol);
}

/* Interfaces */

static void pack_interfaces(Pack *packed, const struct if_nameindex *list)
{
    begin_pack(packed);
    size_t count = 0;
    while (list[count].if_index != 0) count++;
    size_t place = pack(packed, NULL, (count + 1) * sizeof *list);
    for (size_t i = 0; i <= count; i++) {
        struct if_nameindex copy = {list[i].if_index, i < count ? pack_text(packed, list[i].if_name) : NULL};
        if (packed->begin != NULL) memcpy(packed->begin + place + i * sizeof copy, &copy, sizeof copy);
    }
}

static struct if_nameindex *(*real_if_nameindex)(void);
static void (*real_if_freenameindex)(struct if_nameindex *);

static struct if_nameindex *hook_if_nameindex(void)
{
    if (passes()) return real_if_nameindex();
    int64_t result;
    char *block = NULL;
    if (mode == REPLAY) {
        block = block_of_note("if_nameindex", 0, NULL, 0, &result);
    } else {
        begin_aside();
        struct if_nameindex *list = real_if_nameindex();
        end_aside();
        int error = errno;
        Pack packed = {NULL, 0};
        if (list != NULL) {
            pack_interfaces(&packed, list);
            block = packed.begin = malloc(packed.size);
            if (block != NULL) pack_interfaces(&packed, list);
            real_if_freenameindex(list);
        }
        Part part = {block, block == NULL ? 0 : packed.size};
        errno = error;
        record_call("if_nameindex", 0, 0, &part, 1);
    }
    if (block == NULL) return NULL;
    struct if_nameindex *first = (struct if_nameindex *)(block + sizeof(Head));
    for (struct if_nameindex *entry = first; entry->if_index != 0; entry++) TO_POINTER(block, entry->if_name);
    return first;
}

static void hook_if_freenameindex(struct if_nameindex *list)
{
    if (is_ours(list))
        free((Head *)list - 1);
    else
        real_if_freenameindex(list);
}

static unsigned (*real_if_nametoindex)(const char *);
static unsigned hook_if_nametoindex(const char *name)
{
    if (passes()) return real_if_nametoindex(name);
    if (!before_blocking()) return (unsigned)replay_call("if_nametoindex", hash_text(name), NULL, 0);
    return (unsigned)record_call("if_nametoindex", hash_text(name), BLOCKING(real_if_nametoindex(name)), NULL, 0);
}

static char *(*real_if_indextoname)(unsigned, char *);
static char *hook_if_indextoname(unsigned index, char *place)
{
    if (passes()) return real_if_indextoname(index, place);
    Part part = {place, IF_NAMESIZE};
    if (!before_blocking()) return replay_call("if_indextoname", index, &part, 1) ? place : NULL;
    char *result = BLOCKING(real_if_indextoname(index, place));
    part.size = result == NULL ? 0 : strlen(place) + 1;
    return record_call("if_indextoname", index, result != NULL, &part, 1) ? place : NULL;
}

static int (*real_gethostname)(char *, size_t);
static int hook_gethostname(char *place, size_t room)
{
    if (passes()) return real_gethostname(place, room);
    Part part = {place, room};
    if (!before_blocking()) return (int)replay_call("gethostname", room, &part, 1);
    int result = BLOCKING(real_gethostname(place, room));
    part.size = result < 0 ? 0 : strnlen(place, room - 1) + 1;
    return (int)record_call("gethostname", room, result, &part, 1);
}

const Hook name_hooks[] = {
    {"getaddrinfo", hook_getaddrinfo, (void **)&real_getaddrinfo},
    {"freeaddrinfo", hook_freeaddrinfo, (void **)&real_freeaddrinfo},
    {"getnameinfo", hook_getnameinfo, (void **)&real_getnameinfo},
    {"gethostbyname_r", hook_gethostbyname_r, (void **)&real_gethostbyname_r},
    {"gethostbyname2_r", hook_gethostbyname2_r, (void **)&real_gethostbyname2_r},
    {"gethostbyaddr_r", hook_gethostbyaddr_r, (void **)&real_gethostbyaddr_r},
    {"gethostbyname", hook_gethostbyname, (void **)&real_gethostbyname},
    {"gethostbyaddr", hook_gethostbyaddr, (void **)&real_gethostbyaddr},
    {"getservbyname", hook_getservbyname, (void **)&real_getservbyname},
    {"getservbyport", hook_getservbyport, (void **)&real_getservbyport},
    {"getprotobyname", hook_getprotobyname, (void **)&real_getprotobyname},
    {"getprotobynumber", hook_getprotobynumber, (void **)&real_getprotobynumber},
    {"if_nameindex", hook_if_nameindex, (void **)&real_if_nameindex},
    {"if_freenameindex", hook_if_freenameindex, (void **)&real_if_freenameindex},
    {"if_nametoindex", hook_if_nametoindex, (void **)&real_if_nametoindex},
    {"if_indextoname", hook_if_indextoname, (void **)&real_if_indextoname},
    {"gethostname", hook_gethostname, (void **)&real_gethostname},
    {NULL, NULL, NULL},
};
