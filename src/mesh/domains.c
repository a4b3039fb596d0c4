#include "base/file.h"
#include "mesh/mesh.h"

#include <string.h>

/* ---- domains from element sets ---- */

static bough_status fail_unknown_set(bough_context *ctx, const bough_mesh *mesh, const char *name) {
    const char **names = BO_NEW_ARRAY(ctx, const char *, mesh->set_count);
    if (!names)
        return BOUGH_ERROR_MEMORY;
    int32_t count = 0;
    for (int32_t i = 0; i < mesh->set_count; i++)
        if (mesh->sets[i].kind == BOUGH_SET_ELEMENT)
            names[count++] = mesh->sets[i].name;
    const char *nearest = bo_nearest_word(name, names, count);
    bough_status status = nearest ? bo_fail(ctx, BOUGH_ERROR_ARGUMENT,
                                            "the mesh has no element set \"%s\"; did you mean \"%s\"?", name, nearest)
                                  : bo_fail(ctx, BOUGH_ERROR_ARGUMENT, "the mesh has no element set \"%s\"", name);
    bo_free(ctx, names);
    return status;
}

/* Finds the sets that are domains, in their order; *count of them. sets has room for all that are asked for. */
static bough_status find_sets(bough_context *ctx, const bough_mesh *mesh, const char *const *names, int32_t name_count,
                              const bough_set **sets, int32_t *count) {
    *count = 0;
    for (int32_t i = 0; names && i < name_count; i++) {
        const bough_set *set = bough_mesh_find_set(mesh, BOUGH_SET_ELEMENT, names[i]);
        if (!set)
            return fail_unknown_set(ctx, mesh, names[i]);
        sets[(*count)++] = set;
    }
    for (int32_t i = 0; !names && i < mesh->set_count; i++)
        if (mesh->sets[i].kind == BOUGH_SET_ELEMENT)
            sets[(*count)++] = &mesh->sets[i];
    if (*count == 0)
        return bo_fail(ctx, BOUGH_ERROR_ARGUMENT, "%s",
                       names ? "no element set was named" : "the mesh has no element sets, which could be its domains");
    return BOUGH_OK;
}

static bough_status assign(bough_context *ctx, const bough_mesh *mesh, const bough_set *const *sets, int32_t count,
                           int32_t *domain) {
    memset(domain, 0xff, (size_t)mesh->element_count * sizeof *domain);
    for (int32_t d = 0; d < count; d++)
        for (int32_t i = 0; i < sets[d]->count; i++) {
            int32_t element = sets[d]->items[i];
            if (domain[element] >= 0)
                return bo_fail(ctx, BOUGH_ERROR_ARGUMENT,
                               "element %d is in the sets \"%s\" and \"%s\"; sets that are domains must not overlap",
                               element, sets[domain[element]]->name, sets[d]->name);
            domain[element] = d;
        }
    for (int32_t e = 0; e < mesh->element_count; e++)
        if (domain[e] < 0)
            return bo_fail(ctx, BOUGH_ERROR_ARGUMENT,
                           "element %d is in none of the %d element sets that are to be domains", e, count);
    return BOUGH_OK;
}

bough_status bough_mesh_domains_from_sets(bough_context *ctx, const bough_mesh *mesh, const char *const *names,
                                          int32_t name_count, int32_t **domain, int32_t *domain_count) {
    *domain = NULL;
    if (domain_count)
        *domain_count = 0;
    int32_t room = !names ? mesh->set_count : name_count > 0 ? name_count : 0, count = 0;
    const bough_set **sets = BO_NEW_ARRAY(ctx, const bough_set *, room);
    int32_t *result = BO_NEW_ARRAY(ctx, int32_t, mesh->element_count);
    bough_status status = sets && result ? BOUGH_OK : BOUGH_ERROR_MEMORY;
    if (status == BOUGH_OK)
        status = find_sets(ctx, mesh, names, name_count, sets, &count);
    if (status == BOUGH_OK)
        status = assign(ctx, mesh, sets, count, result);
    bo_free(ctx, sets);
    if (status != BOUGH_OK) {
        bo_free(ctx, result);
        return status;
    }
    *domain = result;
    if (domain_count)
        *domain_count = count;
    return BOUGH_OK;
}

/* ---- the tree ---- */

#define NOT_REACHED (-2)

/* Names a pair that looks joined but is not, if there is one. */
static bough_status fail_unreachable(bough_context *ctx, const bough_split *split, int32_t root, const int32_t *parent,
                                     int32_t lost) {
    for (int32_t i = 0; i < split->touching_count; i++) {
        const int32_t *d = split->touching[i].domains;
        if ((parent[d[0]] == NOT_REACHED) != (parent[d[1]] == NOT_REACHED))
            return bo_fail(ctx, BOUGH_ERROR_ARGUMENT,
                           "domains %d and %d only touch: they have vertices in common (%d), but no element face, and "
                           "nothing else joins them",
                           d[0], d[1], split->touching[i].vertex_count);
    }
    return bo_fail(ctx, BOUGH_ERROR_ARGUMENT,
                   "the domains do not hang together: no chain of shared faces leads from domain %d to domain %d", root,
                   lost);
}

static bough_status reach_neighbours(bough_context *ctx, const bough_split *split, int32_t from, int32_t *parent,
                                     int32_t *order, int32_t *reached) {
    for (int32_t i = 0; i < split->interface_count; i++) {
        const int32_t *d = split->interfaces[i].domains;
        if (d[0] != from && d[1] != from)
            continue;
        int32_t to = d[0] == from ? d[1] : d[0];
        if (to == parent[from])
            continue;
        if (parent[to] != NOT_REACHED)
            return bo_fail(ctx, BOUGH_ERROR_ARGUMENT,
                           "domains %d and %d close a loop; domains must be joined as a tree, without loops", d[0],
                           d[1]);
        parent[to] = from;
        order[(*reached)++] = to;
    }
    return BOUGH_OK;
}

bough_status bough_mesh_domain_tree(bough_context *ctx, const bough_split *split, int32_t root, int32_t *parent,
                                    int32_t *order) {
    if (root < 0 || root >= split->domain_count)
        return bo_fail(ctx, BOUGH_ERROR_ARGUMENT, "the root is domain %d, but there are %d domains", root,
                       split->domain_count);
    for (int32_t d = 0; d < split->domain_count; d++)
        parent[d] = NOT_REACHED;
    parent[root] = -1;
    order[0] = root;
    int32_t reached = 1;
    for (int32_t i = 0; i < reached; i++)
        BO_TRY(reach_neighbours(ctx, split, order[i], parent, order, &reached));
    for (int32_t d = 0; d < split->domain_count; d++)
        if (parent[d] == NOT_REACHED)
            return fail_unreachable(ctx, split, root, parent, d);
    return BOUGH_OK;
}
