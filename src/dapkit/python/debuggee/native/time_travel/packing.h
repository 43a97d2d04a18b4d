/* Lists of the C library in one block, see packing.c. */

#ifndef DAPKIT_TRAVEL_PACKING_H
#define DAPKIT_TRAVEL_PACKING_H

#include "time_travel.h"

#pragma GCC visibility push(hidden)

typedef struct {
    uint64_t mark, size;
} Head; /* a block begins with it */

typedef struct {
    char *begin;
    size_t size;
} Pack;

#define TO_POINTER(block, field) ((field) = (void *)((field) == NULL ? NULL : (char *)(block) + (size_t)(field)))

void begin_pack(Pack *packed);
size_t pack(Pack *pack, const void *bytes, size_t size); /* where it is */
char *pack_text(Pack *packed, const char *text);

/* Texts, or addresses of a size, up to a NULL. */
char **pack_list(Pack *packed, char *const *list, size_t size);

void to_pointers(char *block, char **list);
int is_ours(const void *list);

/* A copy of a block with a call's note, or of the one that is noted. `place` has room of `room` bytes, or is NULL: then
   it is allocated. */
char *block_of_note(const char *call, uint64_t key, char *place, size_t room, int64_t *result);

#pragma GCC visibility pop

#endif
