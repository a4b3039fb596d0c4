/* VTK XML unstructured grids with any number of fields, for meshes and recordings. */
#ifndef BO_MESH_VTU_H
#define BO_MESH_VTU_H

#include "base/context.h"

#include <bough/mesh.h>

#include <stdio.h>

typedef struct bo_vtu_field {
    const char *name;
    bool on_cells; /* one row for each element instead of each vertex */
    int32_t components;
    const double *values; /* rows x components */
} bo_vtu_field;

/* With a displacement (vertex_count x 3) the points are the displaced ones, and it is written as a field as well.
 * Vertex and element sets become arrays "set:NAME" of 0 and 1; face sets have no place in the format and are left out.
 * Errors of the stream are left to bo_output_commit(), which knows its name.
 */
bough_status bo_vtu_write(bough_context *ctx, FILE *stream, const bough_mesh *mesh, const double *displacement,
                          const bo_vtu_field *fields, int32_t field_count);

#endif
