/* Polygons of surface files, cut into fans of triangles. */
#ifndef BO_MESH_POLYGONS_H
#define BO_MESH_POLYGONS_H

#include "mesh/builder.h"

typedef struct bo_polygons {
    bo_scanner *s;
    bo_builder *b;
    int64_t corner_count; /* of the polygon at work */
    int32_t first, last;
    int64_t dropped; /* triangles that name a vertex twice */
} bo_polygons;

/* The next corner, by its vertex counted from 0. The builder checks against the number of vertices in the end. */
bough_status bo_polygon_corner(bo_polygons *p, int64_t vertex);
/* Ends the polygon; fewer than three corners are an error. */
bough_status bo_polygon_end(bo_polygons *p);
/* Ends the file: a remark about what was dropped. */
void bo_polygons_end(const bo_polygons *p);

#endif
