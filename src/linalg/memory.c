#include "linalg/memory.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#define SMALL 1e8 /* bytes: malloc finds out as well */

/* The number in the first line of a file; infinite when there is none ("max"). */
static double read_number(const char *path) {
    double value = INFINITY, found;
    FILE *file = fopen(path, "re");
    if (!file)
        return value;
    if (fscanf(file, "%lf", &found) == 1)
        value = found;
    fclose(file);
    return value;
}

/* The process's address space and what of it is in memory, bytes. */
static void measure_process(double *space, double *resident) {
    double page = (double)sysconf(_SC_PAGESIZE), pages[2] = {0, 0};
    FILE *file = fopen("/proc/self/statm", "re");
    if (file && fscanf(file, "%lf %lf", &pages[0], &pages[1]) != 2)
        pages[0] = pages[1] = 0;
    if (file)
        fclose(file);
    *space = pages[0] * page;
    *resident = pages[1] * page;
}

/* The tightest limit of the process's control group and of those around it. Lines of /proc/self/cgroup are "0::/path"
 * (version 2) or "7:memory:/path" (version 1). */
static double group_limit(void) {
    double least = INFINITY;
    char line[4096];
    FILE *file = fopen("/proc/self/cgroup", "re");
    while (file && fgets(line, sizeof line, file)) {
        char *name = strchr(line, ':'), *path = name ? strchr(name + 1, ':') : NULL;
        if (!path)
            continue;
        *path++ = 0;
        path[strcspn(path, "\n")] = 0;
        const bool second = name[1] == 0;
        if (!second && strcmp(name + 1, "memory") != 0)
            continue;
        for (;;) { /* up to the root; inside a container only the root may be visible */
            char limit[4400];
            snprintf(limit, sizeof limit, "/sys/fs/cgroup%s%s/%s", second ? "" : "/memory",
                     strcmp(path, "/") ? path : "", second ? "memory.max" : "memory.limit_in_bytes");
            least = fmin(least, read_number(limit));
            char *slash = strrchr(path, '/');
            if (!slash || !*path)
                break;
            *slash = 0;
        }
    }
    if (file)
        fclose(file);
    return least;
}

static void tighten(bo_memory_room *room, double bytes, const char *limit) {
    if (bytes < room->bytes)
        *room = (bo_memory_room){bytes > 0 ? bytes : 0, limit};
}

bo_memory_room bo_find_memory_room(void) {
    bo_memory_room room = {INFINITY, ""};
    struct rlimit space_limit;
    double space, resident;
    measure_process(&space, &resident);
    long pages = sysconf(_SC_PHYS_PAGES);
    if (pages > 0)
        tighten(&room, (double)pages * (double)sysconf(_SC_PAGESIZE) - resident, "this machine's memory");
    tighten(&room, group_limit() - resident, "the memory limit of its control group");
    if (getrlimit(RLIMIT_AS, &space_limit) == 0 && space_limit.rlim_cur != RLIM_INFINITY)
        tighten(&room, (double)space_limit.rlim_cur - space, "the limit on its address space (ulimit -v)");
    return room;
}

bough_status bo_check_memory(bough_context *ctx, double bytes, const char *format, ...) {
    if (bytes < SMALL)
        return BOUGH_OK;
    bo_memory_room room = bo_find_memory_room();
    if (bytes <= room.bytes)
        return BOUGH_OK;
    char what[160];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(what, sizeof what, format, arguments);
    va_end(arguments);
    return bo_fail(
        ctx, BOUGH_ERROR_MEMORY,
        "%s needs about %.3g GB, but %s leaves %.3g GB to this process; take a coarser mesh (or tet4 instead of "
        "tet10)",
        what, bytes * 1e-9, room.limit, room.bytes * 1e-9);
}
