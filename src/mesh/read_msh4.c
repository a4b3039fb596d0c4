/* $Entities, $Nodes and $Elements of Gmsh 4.1. */
#include "mesh/msh.h"

static bough_status read_physical_tags(bo_msh *m, int32_t dim, bo_msh_list *list) {
    int32_t count;
    BO_TRY(bo_msh_count(m, "the number of physical tags of an entity", 2, 4, &count));
    if (count > BO_MSH_GROUPS_OF_ENTITY)
        return bo_scan_fail(m->s, "an entity is in %d physical groups, more than %d", count, BO_MSH_GROUPS_OF_ENTITY);
    int64_t tags[BO_MSH_GROUPS_OF_ENTITY];
    for (int32_t i = 0; i < count; i++) {
        bo_msh_list unused;
        BO_TRY(bo_msh_int(m, "a physical tag in $Entities", &tags[i]));
        BO_TRY(bo_msh_find_group(m, dim, tags[i], &unused)); /* new groups first: the list must be in one piece */
    }
    *list = (bo_msh_list){(int32_t)m->member_count, 0};
    for (int32_t i = 0; i < count; i++)
        if (tags[i] != 0)
            BO_TRY(bo_msh_add_member(m, dim, tags[i]));
    list->count = (int32_t)m->member_count - list->first;
    return BOUGH_OK;
}

static bough_status skip_boundary(bo_msh *m) {
    int32_t count;
    int64_t tag;
    BO_TRY(bo_msh_count(m, "the number of bounding entities in $Entities", 2, 4, &count));
    for (int32_t i = 0; i < count; i++)
        BO_TRY(bo_msh_int(m, "the tag of a bounding entity in $Entities", &tag));
    return BOUGH_OK;
}

static bough_status read_entity(bo_msh *m, int32_t dim) {
    int64_t tag;
    double box;
    bo_msh_list list;
    BO_TRY(bo_msh_int(m, "an entity's tag in $Entities", &tag));
    for (int i = 0; i < (dim ? 6 : 3); i++) /* a point, or the corners of a box */
        BO_TRY(bo_msh_double(m, "an entity's bounds in $Entities", &box));
    BO_TRY(read_physical_tags(m, dim, &list));
    if (dim)
        BO_TRY(skip_boundary(m));
    if (!BO_RESERVE(m->b->ctx, m->entities, m->entity_capacity, m->entity_count + 1))
        return BOUGH_ERROR_MEMORY;
    int32_t known;
    BO_TRY(bo_idmap_add(m->b->ctx, &m->entity_of_tag[dim], tag, (int32_t)m->entity_count, &known));
    if (known >= 0)
        return bo_scan_fail(m->s, "entity %lld of dimension %d is defined twice in $Entities", (long long)tag, dim);
    m->entities[m->entity_count++] = list;
    return BOUGH_OK;
}

bough_status bo_msh4_entities(bo_msh *m) {
    static const char *const names[] = {"the number of points in $Entities", "the number of curves in $Entities",
                                        "the number of surfaces in $Entities", "the number of volumes in $Entities"};
    int32_t counts[4];
    m->in_use = true;
    for (int dim = 0; dim < 4; dim++)
        BO_TRY(bo_msh_count(m, names[dim], dim ? 18 : 10, dim ? 68 : 36, &counts[dim]));
    for (int32_t dim = 0; dim < 4; dim++)
        for (int32_t i = 0; i < counts[dim]; i++)
            BO_TRY(read_entity(m, dim));
    return BOUGH_OK;
}

/* Number of blocks and of items in all of them; the range of tags is of no use to Bough. */
static bough_status read_totals(bo_msh *m, const char *blocks_what, const char *items_what, size_t text_bytes,
                                size_t binary_bytes, int32_t *blocks, int32_t *items) {
    int64_t tag;
    BO_TRY(bo_msh_count(m, blocks_what, 8, 20, blocks));
    BO_TRY(bo_msh_count(m, items_what, text_bytes, binary_bytes, items));
    BO_TRY(bo_msh_tag(m, "the lowest tag", &tag));
    return bo_msh_tag(m, "the highest tag", &tag);
}

static bough_status read_block_dim(bo_msh *m, int64_t *dim) {
    BO_TRY(bo_msh_int(m, "the dimension of a block", dim));
    if (*dim < 0 || *dim > 3)
        return bo_scan_fail(m->s, "the dimension of a block is %lld, outside 0..3", (long long)*dim);
    return BOUGH_OK;
}

/* Parametric nodes carry as many further coordinates as their entity has dimensions. */
static bough_status read_coordinates(bo_msh *m, const int64_t *tags, int32_t count, int64_t parameters) {
    for (int32_t i = 0; i < count; i++) {
        double xyz[3], unused;
        for (int d = 0; d < 3; d++)
            BO_TRY(bo_msh_double(m, "a node coordinate in $Nodes", &xyz[d]));
        for (int64_t d = 0; d < parameters; d++)
            BO_TRY(bo_msh_double(m, "a node parameter in $Nodes", &unused));
        BO_TRY(bo_builder_tagged_vertex(m->b, m->s, tags[i], xyz));
    }
    return BOUGH_OK;
}

static bough_status read_node_block(bo_msh *m, int32_t *left) {
    int64_t dim, entity, parametric;
    int32_t count;
    BO_TRY(read_block_dim(m, &dim));
    BO_TRY(bo_msh_int(m, "the entity of a block of $Nodes", &entity));
    BO_TRY(bo_msh_int(m, "the parametric flag of a block of $Nodes", &parametric));
    BO_TRY(bo_msh_count(m, "the number of nodes of a block", 8, 32, &count));
    if (count > *left)
        return bo_scan_fail(m->s, "$Nodes holds more nodes than it announces");
    *left -= count;
    int64_t *tags = BO_NEW_ARRAY(m->b->ctx, int64_t, count);
    if (!tags)
        return BOUGH_ERROR_MEMORY;
    bough_status status = BOUGH_OK;
    for (int32_t i = 0; i < count && status == BOUGH_OK; i++)
        status = bo_msh_tag(m, "a node tag in $Nodes", &tags[i]);
    if (status == BOUGH_OK)
        status = read_coordinates(m, tags, count, parametric ? dim : 0);
    bo_free(m->b->ctx, tags);
    return status;
}

bough_status bo_msh4_nodes(bo_msh *m) {
    int32_t blocks, left;
    BO_TRY(read_totals(m, "the number of blocks in $Nodes", "the number of nodes", 8, 32, &blocks, &left));
    for (int32_t i = 0; i < blocks; i++)
        BO_TRY(read_node_block(m, &left));
    if (left)
        return bo_scan_fail(m->s, "$Nodes announces %d nodes more than its blocks hold", left);
    return BOUGH_OK;
}

static bough_status read_element(bo_msh *m, const bo_msh_kind *kind, bo_msh_list groups) {
    int64_t tag;
    int32_t nodes[BO_MSH_MAX_NODES];
    BO_TRY(bo_msh_tag(m, "an element tag in $Elements", &tag));
    for (int32_t k = 0; k < kind->node_count; k++) {
        BO_TRY(bo_msh_tag(m, "an element's node tag in $Elements", &tag));
        BO_TRY(bo_builder_find_vertex(m->b, m->s, tag, &nodes[k]));
    }
    return bo_msh_element(m, kind, nodes, groups);
}

static bough_status read_element_block(bo_msh *m, int32_t *left) {
    int64_t dim, entity, type;
    const bo_msh_kind *kind;
    int32_t count;
    BO_TRY(read_block_dim(m, &dim));
    BO_TRY(bo_msh_int(m, "the entity of a block of $Elements", &entity));
    BO_TRY(bo_msh_int(m, "the element type of a block of $Elements", &type));
    BO_TRY(bo_msh_find_kind(m, type, &kind));
    if (kind->dim != dim)
        return bo_scan_fail(m->s, "elements of type %lld have dimension %d, but their block in $Elements says %lld",
                            (long long)type, kind->dim, (long long)dim);
    size_t entries = (size_t)kind->node_count + 1;
    BO_TRY(bo_msh_count(m, "the number of elements of a block", 2 * entries, 8 * entries, &count));
    if (count > *left)
        return bo_scan_fail(m->s, "$Elements holds more elements than it announces");
    *left -= count;
    /* $Entities may be missing, and with it the groups. */
    int32_t number = bo_idmap_find(&m->entity_of_tag[dim], entity);
    bo_msh_list groups = number < 0 ? (bo_msh_list){0, 0} : m->entities[number];
    for (int32_t i = 0; i < count; i++)
        BO_TRY(read_element(m, kind, groups));
    return BOUGH_OK;
}

bough_status bo_msh4_elements(bo_msh *m) {
    int32_t blocks, left;
    BO_TRY(read_totals(m, "the number of blocks in $Elements", "the number of elements", 4, 16, &blocks, &left));
    for (int32_t i = 0; i < blocks; i++)
        BO_TRY(read_element_block(m, &left));
    if (left)
        return bo_scan_fail(m->s, "$Elements announces %d elements more than its blocks hold", left);
    return BOUGH_OK;
}
