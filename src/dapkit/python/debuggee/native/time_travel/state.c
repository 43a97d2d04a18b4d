/* The state that all parts know. It depends on none of them. */

#include "time_travel.h"
#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

Mode mode = OFF;
__thread int inside __attribute__((tls_model("initial-exec")));
__thread int is_read_only;

int is_past, copies, has_arrived, may_branch;
uint64_t goal;
char replay_kind[16];

int is_recording, is_recorded, is_forked, has_threads;
uint64_t threads_since, rested_at;

LogHead *log_head;
uint64_t log_place, ticks, bytes_written;
uint64_t clock_target, clock_usual_until;

uint64_t recorded_time;

void program_time(int64_t seconds, int64_t nanoseconds)
{
    recorded_time = (uint64_t)seconds * 1000000u + (uint64_t)nanoseconds / 1000u;
}

int is_kind(const char *kind) { return strcmp(replay_kind, kind) == 0; }

/* Called by handlers of signals: the program's is called at the next line. */
void be_due(void) { clock_target = clock_usual_until = 0; }

void look_at_each_line(void) { clock_usual_until = 0; }

uint64_t now(void)
{
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (uint64_t)time.tv_sec * 1000000000u + (uint64_t)time.tv_nsec;
}

/* Where the program may not have so many, the limit is raised for a moment. */
int out_of_the_way(int descriptor)
{
    struct rlimit usual, raised = {LOWEST_OF_OURS + MOST_OF_OURS, 0};
    int is_low = getrlimit(RLIMIT_NOFILE, &usual) == 0 && usual.rlim_cur < raised.rlim_cur;
    raised.rlim_max = usual.rlim_max;
    is_low = is_low && raised.rlim_max >= raised.rlim_cur && setrlimit(RLIMIT_NOFILE, &raised) == 0;
    int above = fcntl(descriptor, F_DUPFD_CLOEXEC, LOWEST_OF_OURS);
    if (is_low) setrlimit(RLIMIT_NOFILE, &usual);
    if (above < 0) return descriptor;
    close(descriptor);
    return above;
}

#define PLACE_OF_OURS 0xB000000000u /* behind the objects (objects.c), and far from where the system places mappings */

/* A replay has memory that the live program does not need: were it among the program's mappings, libraries that are loaded
   after it would have other addresses. */
void *map_ours(size_t size)
{
    static uintptr_t next = PLACE_OF_OURS;
    size_t page = (size_t)sysconf(_SC_PAGESIZE), whole = (size + page - 1) & ~(page - 1);
    void *wanted = (void *)__atomic_fetch_add(&next, whole, __ATOMIC_RELAXED);
    return mmap(wanted, whole, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
}
