/* Finds out whether something large can fit into memory, before minutes are spent on it. */
#ifndef BO_LINALG_MEMORY_H
#define BO_LINALG_MEMORY_H

#include "base/context.h"

/* Bytes that the process may still take, and what limits them, as it stands in a sentence. */
typedef struct bo_memory_room {
    double bytes;
    const char *limit;
} bo_memory_room;

/* The least of the machine's memory, the control groups' limits and the limit on the address space (ulimit -v), each
 * less what the process has already. Infinite where nothing can be found out. */
bo_memory_room bo_find_memory_room(void);

/* BOUGH_ERROR_MEMORY with a sentence ("WHAT needs about 12 GB, but ...") when so many bytes more cannot fit. Small
 * amounts are not looked at. */
bough_status bo_check_memory(bough_context *ctx, double bytes, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

#endif
