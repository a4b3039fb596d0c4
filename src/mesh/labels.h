/* Numbers that files give to vertices, elements and boundary facets become sets "PREFIX_NUMBER". */
#ifndef BO_MESH_LABELS_H
#define BO_MESH_LABELS_H

#include "mesh/builder.h"

#define BO_LABEL_LIMIT 1000 /* more different numbers than this do not name sets, they number things */

typedef struct bo_labels {
    bough_set_kind kind;
    const char *prefix;
    bo_idmap set_of_label;
    int32_t count;
    bool full;
} bo_labels;

/* Finds the set of a label, which is made when new; -1 (and one warning) beyond the limit. */
bough_status bo_labels_set(bo_labels *labels, bo_builder *b, double label, int32_t *set);
bough_status bo_labels_add(bo_labels *labels, bo_builder *b, double label, int32_t item);
void bo_labels_free(bo_labels *labels, bo_builder *b);

/* Triangles and quads that are kept until the end of the file decides what they are: named faces of the volume, or the
 * mesh itself. */
typedef struct bo_facet {
    int32_t corners[4];
    int32_t corner_count;
    double label; /* 0: none */
    int64_t line;
} bo_facet;

typedef struct bo_facets {
    bo_facet *items;
    size_t count, capacity;
} bo_facets;

bough_status bo_facets_add(bo_facets *facets, bo_scanner *s, const int32_t *corners, int32_t corner_count,
                           double label);
/* One TRI3 element, or two for a quad; *first is the first one's index. */
bough_status bo_facet_to_elements(bo_builder *b, bo_scanner *s, const bo_facet *facet, int32_t *first);
/* Face sets when the builder holds volume elements, otherwise TRI3 elements and element sets. */
bough_status bo_facets_finish(bo_facets *facets, bo_builder *b, bo_scanner *s, const char *prefix);
void bo_facets_free(bo_facets *facets, bough_context *ctx);

#endif
