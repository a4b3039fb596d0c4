/* A folder of .vtu files, frame_000000.vtu and so on, with an index frames.pvd that gives their times: for ParaView. */
#ifndef BO_RECORD_SERIES_H
#define BO_RECORD_SERIES_H

#include "base/context.h"

#include <bough/mesh.h>

#include <stdio.h>

typedef struct bo_series {
    FILE *index; /* NULL: there is no series; otherwise a complete index after each frame */
    char *folder;
    int32_t count;   /* frames in the index */
    int32_t synced;  /* of these: on the disk itself */
    int64_t written; /* by this series */
} bo_series;

/* Makes the folder if it is missing and begins the index anew. */
bough_status bo_series_create(bough_context *ctx, const char *folder, bo_series *series);
/* Keeps the frames of the index up to time `last`. */
bough_status bo_series_continue(bough_context *ctx, const char *folder, double last, bo_series *series);
/* The mesh displaced, with the vectors as fields "displacement" and "velocity" of its vertices, and "von Mises" of its
 * elements, which may be NULL: nothing has a stress. */
bough_status bo_series_frame(bough_context *ctx, bo_series *series, double time, const bough_mesh *mesh,
                             const double *displacement, const double *velocity, const double *von_mises);
/* Syncs all frames so far, and their index, to the disk itself. Does nothing if there is no series. */
bough_status bo_series_sync(bough_context *ctx, bo_series *series);
bough_status bo_series_close(bough_context *ctx, bo_series *series);

#endif
