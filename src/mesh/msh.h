/* Parts that the Gmsh readers share: physical groups, entities, and the places of elements of each kind. */
#ifndef BO_MESH_MSH_H
#define BO_MESH_MSH_H

#include "mesh/builder.h"

/* Gmsh's element types that Bough reads. */
typedef struct bo_msh_kind {
    int32_t type; /* Gmsh's number */
    int32_t dim, node_count;
    bough_element_type element; /* of dim 3 */
} bo_msh_kind;

#define BO_MSH_MAX_NODES 10

/* An element of an entity goes into each of the entity's groups: without a limit, a small file could ask for gigabytes
 * of set items. */
#define BO_MSH_GROUPS_OF_ENTITY 256

/* A physical group is one set of the builder. */
typedef struct bo_msh_group {
    int32_t dim, set;
    int32_t self; /* members[self] is this group: a list of one */
} bo_msh_group;

/* Run of `members`: the groups of an entity or of an element. */
typedef struct bo_msh_list {
    int32_t first, count;
} bo_msh_list;

/* A triangle or quad: facet of a volume or element of a surface, which only the end of the file tells. */
typedef struct bo_msh_flat {
    int32_t nodes[6], node_count; /* 3, 4 or 6 */
    bo_msh_list groups;
    int64_t line;
} bo_msh_flat;

typedef struct bo_msh {
    bo_scanner *s;
    bo_builder *b;
    int32_t version; /* 2 or 4; 0 before $MeshFormat */
    bool binary;
    bool in_use; /* groups were asked for, so it is too late to name them */
    bo_msh_group *groups;
    size_t group_count, group_capacity;
    bo_idmap group_of_tag[4]; /* by dimension */
    int32_t *members;         /* group numbers */
    size_t member_count, member_capacity;
    bo_msh_list *entities;
    size_t entity_count, entity_capacity;
    bo_idmap entity_of_tag[4];
    bo_msh_flat *flats;
    size_t flat_count, flat_capacity;
    bo_idmap element_of_hash; /* version 2 only, see bo_msh_element */
} bo_msh;

/* Values as the file writes them: text, or binary of 4, 8 and 8 bytes. */
bough_status bo_msh_int(bo_msh *m, const char *what, int64_t *value);
bough_status bo_msh_tag(bo_msh *m, const char *what, int64_t *value);
bough_status bo_msh_double(bo_msh *m, const char *what, double *value);
/* A count (8 bytes in binary) of records of at least text_bytes or binary_bytes each. */
bough_status bo_msh_count(bo_msh *m, const char *what, size_t text_bytes, size_t binary_bytes, int32_t *count);

/* Fails for types that Bough does not read. */
bough_status bo_msh_find_kind(bo_msh *m, int64_t type, const bo_msh_kind **kind);

/* The group of a physical tag, made when new. Tag 0 is no group: an empty list. */
bough_status bo_msh_find_group(bo_msh *m, int32_t dim, int64_t tag, bo_msh_list *list);
/* Appends the group of a physical tag to the list of members. */
bough_status bo_msh_add_member(bo_msh *m, int32_t dim, int64_t tag);

/* Takes an element with vertex indices in Gmsh's order. Gmsh 2.2 writes an element that is in several groups once for
 * each of them; such repetitions become one element in several sets. */
bough_status bo_msh_element(bo_msh *m, const bo_msh_kind *kind, const int32_t *nodes, bo_msh_list groups);

/* The sections whose layout depends on the version, without their $End. */
bough_status bo_msh2_nodes(bo_msh *m);
bough_status bo_msh2_elements(bo_msh *m);
bough_status bo_msh4_entities(bo_msh *m);
bough_status bo_msh4_nodes(bo_msh *m);
bough_status bo_msh4_elements(bo_msh *m);

#endif
