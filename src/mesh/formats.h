/* The mesh file formats: one row each in formats.c, one file each beside it. */
#ifndef BO_MESH_FORMATS_H
#define BO_MESH_FORMATS_H

#include "mesh/builder.h"
#include "mesh/mesh.h"

/* Reads one file (already in memory) into the builder. The caller finishes or discards the builder. */
typedef bough_status (*bo_mesh_reader)(bo_scanner *s, bo_builder *b);
/* Writes to an open output; the caller commits or discards it. */
typedef bough_status (*bo_mesh_writer)(bough_context *ctx, const bough_mesh *mesh, const char *path, FILE *stream);

bough_status bo_read_msh(bo_scanner *s, bo_builder *b);
bough_status bo_read_veg(bo_scanner *s, bo_builder *b);
bough_status bo_read_tetgen(bo_scanner *s, bo_builder *b); /* path names .node or .ele; opens the other one itself */
bough_status bo_read_medit(bo_scanner *s, bo_builder *b);
bough_status bo_read_vtk(bo_scanner *s, bo_builder *b);
bough_status bo_read_inp(bo_scanner *s, bo_builder *b);
bough_status bo_read_obj(bo_scanner *s, bo_builder *b);
bough_status bo_read_stl(bo_scanner *s, bo_builder *b);
bough_status bo_read_ply(bo_scanner *s, bo_builder *b);

bough_status bo_write_msh(bough_context *ctx, const bough_mesh *mesh, const char *path, FILE *stream);
bough_status bo_write_vtu(bough_context *ctx, const bough_mesh *mesh, const char *path, FILE *stream);
bough_status bo_write_inp(bough_context *ctx, const bough_mesh *mesh, const char *path, FILE *stream);
bough_status bo_write_obj(bough_context *ctx, const bough_mesh *mesh, const char *path, FILE *stream);
bough_status bo_write_stl(bough_context *ctx, const bough_mesh *mesh, const char *path, FILE *stream);

#endif
