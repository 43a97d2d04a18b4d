/* The program's open files, see open_files.c. */

#ifndef DAPKIT_TRAVEL_HELD_H
#define DAPKIT_TRAVEL_HELD_H

#include "time_travel.h"

#pragma GCC visibility push(hidden)

#define MOST_HELD 1024 /* descriptors above are not had again */
#define PATH_SIZE 232

typedef struct {
    uint64_t since;       /* how many the program had made by then, with this one; 0: it has come with it */
    int64_t offset;       /* where it is read and written next; -1 where there is no such place */
    int flags;            /* to open it again with */
    char path[PATH_SIZE]; /* empty if that is not known */
} Held;

extern Held held[MOST_HELD];
extern char is_held[MOST_HELD]; /* whether it is open */

/* Each returns its last argument, or the descriptor that was made; a negative one was not. */
int holds(int descriptor);
int holds_two(const int *ends, int result);
int holds_copy(int descriptor, int of);
int holds_file(int descriptor, int folder, const char *path, int flags);
int lets_go(unsigned first, unsigned last, int result);
int64_t moves_by(int descriptor, int64_t size);
int64_t moves_to(int descriptor, int64_t offset);
int goes_to(const char *path, int result);
const char *path_held(int descriptor);
void hold_what_is_open(void);

#pragma GCC visibility pop

#endif
