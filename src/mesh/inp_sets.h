/* Node and element sets of an .inp file while it is read. */
#ifndef BO_MESH_INP_SETS_H
#define BO_MESH_INP_SETS_H

#include "mesh/builder.h"
#include "mesh/cards.h"
#include "mesh/labels.h"

/* Items of element sets: a volume element e is e, shell k is -1 - k. */
typedef struct bo_inp_set {
    char *name; /* as spelled first; letter case does not distinguish names */
    bough_set_kind kind;
    int32_t *items;
    size_t count, capacity;
} bo_inp_set;

typedef struct bo_inp_sets {
    bo_cards *cards;
    bo_builder *b;
    bo_inp_set *sets;
    size_t count, capacity;
    bo_idmap set_of_name;
    bo_idmap shell_of_tag, ignored_tags; /* elements that are not the builder's own */
    size_t item_count;                   /* in all sets */
    size_t work;                         /* tags looked at for ranges */
} bo_inp_sets;

void bo_inp_sets_free(bo_inp_sets *sets);

/* -1 when there is none. */
int32_t bo_inp_sets_find(const bo_inp_sets *sets, bough_set_kind kind, const char *name, size_t length);
bough_status bo_inp_sets_named(bo_inp_sets *sets, bough_set_kind kind, const char *name, int32_t *set);
bough_status bo_inp_sets_add(bo_inp_sets *sets, int32_t set, int32_t item);

/* Data lines of *NSET and *ELSET: numbers and names of sets, or ranges. */
bough_status bo_inp_sets_read_list(bo_inp_sets *sets, int32_t set);
bough_status bo_inp_sets_read_ranges(bo_inp_sets *sets, int32_t set);
/* Data lines of *SURFACE: element or element set, face "S1" .. "S6"; into the builder's face set `face_set`. */
bough_status bo_inp_sets_read_surface(bo_inp_sets *sets, int32_t face_set);

/* Hands everything to the builder. Shells become elements when there are no volume elements, else facets. */
bough_status bo_inp_sets_finish(bo_inp_sets *sets, const bo_facets *shells, bo_scanner *s);

#endif
