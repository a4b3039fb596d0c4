/* The rods and robots on which derivatives of motions and retargeting are measured. */
#ifndef BOUGH_BENCH_RETARGET_H
#define BOUGH_BENCH_RETARGET_H

#include "tree_scene.h"

typedef struct bench_subject {
    const char *name, *text; /* text NULL: an example that is written by the program */
    double seconds;          /* of the animation */
    double required;         /* s: that a search may take on two cores */
    bool twin;               /* what was found is played in full order, too */
    double smooth;           /* s: steps of 2 ms follow the animation as it is so far, whose derivatives are measured */
} bench_subject;

/* Retargets the scene and replays what was found. rows NULL: prints. */
bool bench_search(bough_context *ctx, const bench_subject *subject, json_t *rows);

#endif
