/* $Nodes and $Elements of Gmsh 2.2. */
#include "mesh/msh.h"

/* Counts are text in binary files, too; the data begin on the next line. */
static bough_status read_count(bo_msh *m, const char *what, size_t text_bytes, size_t binary_bytes, int32_t *count) {
    BO_TRY(bo_scan_count(m->s, what, m->binary ? binary_bytes : text_bytes, count));
    if (m->binary)
        bo_scan_next_line(m->s);
    return BOUGH_OK;
}

bough_status bo_msh2_nodes(bo_msh *m) {
    int32_t count;
    BO_TRY(read_count(m, "the number of nodes", 8, 28, &count));
    for (int32_t i = 0; i < count; i++) {
        int64_t tag;
        double xyz[3];
        BO_TRY(bo_msh_int(m, "a node number in $Nodes", &tag));
        for (int d = 0; d < 3; d++)
            BO_TRY(bo_msh_double(m, "a node coordinate in $Nodes", &xyz[d]));
        BO_TRY(bo_builder_tagged_vertex(m->b, m->s, tag, xyz));
    }
    return BOUGH_OK;
}

/* The first tag is the physical group; elementary entity and partitions follow. */
static bough_status read_tags(bo_msh *m, int64_t count, int64_t *physical) {
    *physical = 0;
    for (int64_t i = 0; i < count; i++) {
        int64_t tag;
        BO_TRY(bo_msh_int(m, "an element's tag in $Elements", &tag));
        if (i == 0)
            *physical = tag;
    }
    return BOUGH_OK;
}

static bough_status read_element(bo_msh *m, const bo_msh_kind *kind, int64_t tag_count) {
    int64_t physical;
    int32_t nodes[BO_MSH_MAX_NODES];
    bo_msh_list groups;
    BO_TRY(read_tags(m, tag_count, &physical));
    for (int32_t k = 0; k < kind->node_count; k++) {
        int64_t tag;
        BO_TRY(bo_msh_int(m, "an element's node number in $Elements", &tag));
        BO_TRY(bo_builder_find_vertex(m->b, m->s, tag, &nodes[k]));
    }
    BO_TRY(bo_msh_find_group(m, kind->dim, physical, &groups));
    return bo_msh_element(m, kind, nodes, groups);
}

static bough_status read_text_elements(bo_msh *m, int32_t count) {
    for (int32_t i = 0; i < count; i++) {
        int64_t number, type, tag_count;
        const bo_msh_kind *kind;
        BO_TRY(bo_scan_int(m->s, "an element number", &number));
        BO_TRY(bo_scan_int(m->s, "an element type", &type));
        BO_TRY(bo_msh_find_kind(m, type, &kind));
        BO_TRY(bo_scan_int(m->s, "an element's number of tags", &tag_count));
        BO_TRY(bo_check_count(m->s, "an element's number of tags", tag_count, 2));
        BO_TRY(read_element(m, kind, tag_count));
    }
    return BOUGH_OK;
}

/* Blocks of elements with equal type and number of tags. */
static bough_status read_binary_elements(bo_msh *m, int32_t count) {
    for (int32_t done = 0; done < count;) {
        int64_t type, follow, tag_count, number;
        const bo_msh_kind *kind;
        BO_TRY(bo_msh_int(m, "an element type in $Elements", &type));
        BO_TRY(bo_msh_int(m, "a number of elements in $Elements", &follow));
        BO_TRY(bo_msh_int(m, "a number of tags in $Elements", &tag_count));
        BO_TRY(bo_msh_find_kind(m, type, &kind));
        BO_TRY(bo_check_count(m->s, "an element's number of tags in $Elements", tag_count, 4));
        BO_TRY(bo_check_count(m->s, "the number of elements of a block of $Elements", follow,
                              4 * (size_t)(1 + tag_count + kind->node_count)));
        if (follow > count - done)
            return bo_scan_fail(m->s, "$Elements holds more elements than the %d it announces", count);
        for (int64_t i = 0; i < follow; i++) {
            BO_TRY(bo_msh_int(m, "an element number in $Elements", &number));
            BO_TRY(read_element(m, kind, tag_count));
        }
        done += (int32_t)follow;
    }
    return BOUGH_OK;
}

bough_status bo_msh2_elements(bo_msh *m) {
    int32_t count;
    BO_TRY(read_count(m, "the number of elements", 9, 8, &count));
    return m->binary ? read_binary_elements(m, count) : read_text_elements(m, count);
}
