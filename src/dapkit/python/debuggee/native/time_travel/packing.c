/* Results of the C library that are lists, as one block with distances instead of pointers. First only its size is found
   (`begin` is NULL), then it is filled. Distance 0 stands for NULL: every block begins with a mark, by which a list of ours
   is known from one that the C library made. */

#include "packing.h"
#include <stdlib.h>
#include <string.h>

#define MARK 0x6b636f6c42747444u

size_t pack(Pack *pack, const void *bytes, size_t size)
{
    size_t place = pack->size;
    if (pack->begin != NULL && bytes != NULL) memcpy(pack->begin + place, bytes, size);
    pack->size += (size + 7) & ~(size_t)7;
    return place;
}

char *pack_text(Pack *packed, const char *text)
{
    return text == NULL ? NULL : (char *)pack(packed, text, strlen(text) + 1);
}

char **pack_list(Pack *packed, char *const *list, size_t size)
{
    if (list == NULL) return NULL;
    size_t count = 0;
    while (list[count] != NULL) count++;
    size_t place = pack(packed, NULL, (count + 1) * sizeof *list);
    for (size_t i = 0; i < count; i++) {
        char *entry = (char *)pack(packed, list[i], size ? size : strlen(list[i]) + 1);
        if (packed->begin != NULL) ((char **)(packed->begin + place))[i] = entry;
    }
    if (packed->begin != NULL) ((char **)(packed->begin + place))[count] = NULL;
    return (char **)place;
}

void begin_pack(Pack *packed)
{
    Head head = {MARK, 0};
    packed->size = 0;
    pack(packed, &head, sizeof head);
}

void to_pointers(char *block, char **list)
{
    for (; list != NULL && *list != NULL; list++) TO_POINTER(block, *list);
}

int is_ours(const void *list) { return list != NULL && ((const Head *)list - 1)->mark == MARK; }

char *block_of_note(const char *call, uint64_t key, char *place, size_t room, int64_t *result)
{
    const void *noted;
    size_t size;
    *result = replay_call_whole(call, key, &noted, &size);
    if (size == 0) return NULL;
    char *block = place != NULL && size <= room ? place : malloc(size);
    if (block != NULL) memcpy(block, noted, size);
    return block;
}
