/* Collects everything that a reader finds and turns it into a checked mesh at the end. All arrays grow with the data
 * actually read, so that no header can make Bough allocate more than the file could describe. */
#ifndef BO_MESH_BUILDER_H
#define BO_MESH_BUILDER_H

#include "base/idmap.h"
#include "mesh/scanner.h"

#include <bough/mesh.h>

typedef struct bo_builder_set {
    char *name;
    bough_set_kind kind;
    int32_t *items;
    size_t count, capacity;
} bo_builder_set;

/* A boundary facet named by its corner vertices; becomes an item of a face set once the elements are known. */
typedef struct bo_builder_facet {
    int32_t corners[4]; /* corners[3] = -1 for triangles */
    int32_t set;
    int64_t line;
} bo_builder_facet;

/* Elements from `first_element` on were read from this file (a format may spread a mesh over several). */
typedef struct bo_builder_source {
    char *path;
    size_t first_element;
} bo_builder_source;

typedef struct bo_builder {
    bough_context *ctx;
    const char *path;
    double *vertices;
    size_t vertex_count, vertex_capacity; /* capacities count array entries */
    bo_idmap vertex_of_tag;
    bool has_elements;
    bough_element_type type; /* valid when has_elements */
    int32_t *elements;
    size_t element_count, element_capacity;
    int64_t *element_lines;
    size_t line_capacity;
    bo_idmap element_of_tag;
    bo_builder_source *sources;
    size_t source_count, source_capacity;
    bo_builder_facet *facets;
    size_t facet_count, facet_capacity;
    bo_builder_set *sets;
    size_t set_count, set_capacity;
    bough_mesh_material *materials;
    size_t material_count, material_capacity;
    bough_mesh_region *regions;
    size_t region_count, region_capacity;
} bo_builder;

void bo_builder_begin(bo_builder *b, bough_context *ctx, const char *path);
void bo_builder_discard(bo_builder *b);

/* All of these report with the scanner's file and line. */

/* Adds a vertex, which gets the next index. Coordinates must be finite. */
bough_status bo_builder_vertex(bo_builder *b, bo_scanner *s, const double xyz[3]);
/* The same for a vertex that the file calls `tag` (any int64; a repeated tag is an error). */
bough_status bo_builder_tagged_vertex(bo_builder *b, bo_scanner *s, int64_t tag, const double xyz[3]);
/* Finds the vertex index of a tag: an error when the file has not defined it (yet). */
bough_status bo_builder_find_vertex(bo_builder *b, bo_scanner *s, int64_t tag, int32_t *vertex);

/* Node indices in Bough's order; range-checked at the end, or here by having gone through find_vertex. A second element
 * type in one file is refused. */
bough_status bo_builder_element(bo_builder *b, bo_scanner *s, bough_element_type type, const int32_t *nodes);
bough_status bo_builder_tagged_element(bo_builder *b, bo_scanner *s, int64_t tag, bough_element_type type,
                                       const int32_t *nodes);
bough_status bo_builder_find_element(bo_builder *b, bo_scanner *s, int64_t tag, int32_t *element);

/* Finds the index of the set, which is made when new. `name` is not NUL-terminated. */
bough_status bo_builder_set_named(bo_builder *b, bough_set_kind kind, const char *name, size_t length, int32_t *set);
bough_status bo_builder_set_add(bo_builder *b, int32_t set, int32_t item);
/* Adds a facet of a face set, by 3 or 4 corner vertices in any order. When the file turns out to hold a surface mesh
 * only, it becomes an item of an element set by another route: readers of surfaces add elements instead. */
bough_status bo_builder_facet_add(bo_builder *b, bo_scanner *s, int32_t set, const int32_t *corners, int32_t count);

/* Finds the index of the material, which is made when new with zeros. */
bough_status bo_builder_material(bo_builder *b, const char *name, size_t length, int32_t *material);
bough_status bo_builder_region(bo_builder *b, const char *set, size_t length, int32_t material);

/* True when def was made by bough_default_mesh_read_def(). */
bool bo_read_def_valid(const bough_mesh_read_def *def);

/* Checks everything and hands over the mesh; the builder is empty afterwards, whether it worked or not. */
bough_status bo_builder_finish(bo_builder *b, const bough_mesh_read_def *def, bough_mesh **mesh);

#endif
