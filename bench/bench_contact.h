/* Parts of `bough bench contact`. */
#ifndef BOUGH_BENCH_CONTACT_H
#define BOUGH_BENCH_CONTACT_H

#include "bench.h"

/* bench_hertz.c */
bool bench_hertz(bough_context *ctx, json_t *rows);
/* bench_contact_tree.c */
bool bench_contact_tree(bough_context *ctx, json_t *rows);

#endif
