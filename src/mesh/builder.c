#include "mesh/builder.h"
#include "mesh/mesh.h"

#include <math.h>
#include <string.h>

#define INDEX_LIMIT (INT32_MAX / 32) /* so that face numbers and matrix sizes fit int32 */
#define NAME_LIMIT \
    16384 /* sets, materials, regions: names are searched one by one, so that hostile files stay quick \
           */
#define READ_COOKIE 0xB0061002u

bough_mesh_read_def bough_default_mesh_read_def(void) {
    return (bough_mesh_read_def){.cookie = READ_COOKIE, .volumes = BOUGH_VOLUME_REFUSE};
}

bool bo_read_def_valid(const bough_mesh_read_def *def) {
    return def->cookie == READ_COOKIE;
}

void bo_builder_begin(bo_builder *b, bough_context *ctx, const char *path) {
    *b = (bo_builder){.ctx = ctx, .path = path};
}

void bo_builder_discard(bo_builder *b) {
    bough_context *ctx = b->ctx;
    for (size_t i = 0; i < b->set_count; i++) {
        bo_free(ctx, b->sets[i].name);
        bo_free(ctx, b->sets[i].items);
    }
    for (size_t i = 0; i < b->material_count; i++)
        bo_free(ctx, b->materials[i].name);
    for (size_t i = 0; i < b->region_count; i++)
        bo_free(ctx, b->regions[i].set);
    for (size_t i = 0; i < b->source_count; i++)
        bo_free(ctx, b->sources[i].path);
    bo_free(ctx, b->sources);
    bo_free(ctx, b->sets);
    bo_free(ctx, b->materials);
    bo_free(ctx, b->regions);
    bo_free(ctx, b->facets);
    bo_free(ctx, b->vertices);
    bo_free(ctx, b->elements);
    bo_free(ctx, b->element_lines);
    bo_idmap_free(ctx, &b->vertex_of_tag);
    bo_idmap_free(ctx, &b->element_of_tag);
    bo_builder_begin(b, ctx, b->path);
}

static bough_status go_on(const bo_builder *b, const bo_scanner *s, const char *what, size_t count) {
    if (count % BO_ITEMS_A_LOOK != BO_ITEMS_A_LOOK - 1 ||
        bo_progress(b->ctx, "reading", (double)s->at / (double)s->size, "%zu %s", count, what))
        return BOUGH_OK;
    return bo_fail_cancelled(b->ctx);
}

bough_status bo_builder_vertex(bo_builder *b, bo_scanner *s, const double xyz[3]) {
    if (!isfinite(xyz[0]) || !isfinite(xyz[1]) || !isfinite(xyz[2]))
        return bo_scan_fail(s, "vertex coordinate is not a finite number");
    if (b->vertex_count >= INDEX_LIMIT)
        return bo_scan_fail(s, "more than %d vertices", INDEX_LIMIT);
    if (!BO_RESERVE(b->ctx, b->vertices, b->vertex_capacity, 3 * b->vertex_count + 3))
        return BOUGH_ERROR_MEMORY;
    memcpy(b->vertices + 3 * b->vertex_count++, xyz, 3 * sizeof *xyz);
    return go_on(b, s, "vertices", b->vertex_count);
}

bough_status bo_builder_tagged_vertex(bo_builder *b, bo_scanner *s, int64_t tag, const double xyz[3]) {
    int32_t known;
    BO_TRY(bo_builder_vertex(b, s, xyz));
    BO_TRY(bo_idmap_add(b->ctx, &b->vertex_of_tag, tag, (int32_t)b->vertex_count - 1, &known));
    return known < 0 ? BOUGH_OK : bo_scan_fail(s, "vertex %lld is defined twice", (long long)tag);
}

bough_status bo_builder_find_vertex(bo_builder *b, bo_scanner *s, int64_t tag, int32_t *vertex) {
    *vertex = bo_idmap_find(&b->vertex_of_tag, tag);
    return *vertex >= 0 ? BOUGH_OK : bo_scan_fail(s, "vertex %lld is not defined in this file", (long long)tag);
}

static bough_status note_source(bo_builder *b, const char *path) {
    if (b->source_count && strcmp(b->sources[b->source_count - 1].path, path) == 0)
        return BOUGH_OK;
    if (!BO_RESERVE(b->ctx, b->sources, b->source_capacity, b->source_count + 1))
        return BOUGH_ERROR_MEMORY;
    char *copy = bo_strdup(b->ctx, path);
    if (!copy)
        return BOUGH_ERROR_MEMORY;
    b->sources[b->source_count++] = (bo_builder_source){copy, b->element_count};
    return BOUGH_OK;
}

/* The file in which an element stands. */
static const char *source_of(const bo_builder *b, size_t element) {
    const char *path = b->path;
    for (size_t i = 0; i < b->source_count && b->sources[i].first_element <= element; i++)
        path = b->sources[i].path;
    return path;
}

bough_status bo_builder_element(bo_builder *b, bo_scanner *s, bough_element_type type, const int32_t *nodes) {
    if (b->has_elements && type != b->type)
        return bo_scan_fail(s, "the file mixes %s and %s elements; Bough wants one type in a mesh",
                            bough_element_name(b->type), bough_element_name(type));
    if (b->element_count >= INDEX_LIMIT)
        return bo_scan_fail(s, "more than %d elements", INDEX_LIMIT);
    b->has_elements = true;
    b->type = type;
    BO_TRY(note_source(b, s->path));
    size_t n = (size_t)bough_element_node_count(type);
    if (!BO_RESERVE(b->ctx, b->elements, b->element_capacity, n * (b->element_count + 1)) ||
        !BO_RESERVE(b->ctx, b->element_lines, b->line_capacity, b->element_count + 1))
        return BOUGH_ERROR_MEMORY;
    memcpy(b->elements + n * b->element_count, nodes, n * sizeof *nodes);
    BO_TRY(go_on(b, s, "elements", b->element_count));
    b->element_lines[b->element_count++] = s->line;
    return BOUGH_OK;
}

bough_status bo_builder_tagged_element(bo_builder *b, bo_scanner *s, int64_t tag, bough_element_type type,
                                       const int32_t *nodes) {
    int32_t known;
    BO_TRY(bo_builder_element(b, s, type, nodes));
    BO_TRY(bo_idmap_add(b->ctx, &b->element_of_tag, tag, (int32_t)b->element_count - 1, &known));
    return known < 0 ? BOUGH_OK : bo_scan_fail(s, "element %lld is defined twice", (long long)tag);
}

bough_status bo_builder_find_element(bo_builder *b, bo_scanner *s, int64_t tag, int32_t *element) {
    *element = bo_idmap_find(&b->element_of_tag, tag);
    return *element >= 0 ? BOUGH_OK : bo_scan_fail(s, "element %lld is not defined in this file", (long long)tag);
}

static bough_status check_name_count(bo_builder *b, const char *what, size_t count) {
    if (count < NAME_LIMIT)
        return BOUGH_OK;
    return bo_fail(b->ctx, BOUGH_ERROR_FORMAT, "%s: has more than %d %s", b->path, NAME_LIMIT, what);
}

bough_status bo_builder_set_named(bo_builder *b, bough_set_kind kind, const char *name, size_t length, int32_t *set) {
    for (size_t i = 0; i < b->set_count; i++)
        if (b->sets[i].kind == kind && bo_word_is(name, length, b->sets[i].name)) {
            *set = (int32_t)i;
            return BOUGH_OK;
        }
    BO_TRY(check_name_count(b, "sets", b->set_count));
    if (!BO_RESERVE(b->ctx, b->sets, b->set_capacity, b->set_count + 1))
        return BOUGH_ERROR_MEMORY;
    char *copy = bo_strndup(b->ctx, name, length);
    if (!copy)
        return BOUGH_ERROR_MEMORY;
    b->sets[b->set_count] = (bo_builder_set){.name = copy, .kind = kind};
    *set = (int32_t)b->set_count++;
    return BOUGH_OK;
}

bough_status bo_builder_set_add(bo_builder *b, int32_t set, int32_t item) {
    bo_builder_set *target = &b->sets[set];
    if (!BO_RESERVE(b->ctx, target->items, target->capacity, target->count + 1))
        return BOUGH_ERROR_MEMORY;
    target->items[target->count++] = item;
    return BOUGH_OK;
}

bough_status bo_builder_facet_add(bo_builder *b, bo_scanner *s, int32_t set, const int32_t *corners, int32_t count) {
    if (!BO_RESERVE(b->ctx, b->facets, b->facet_capacity, b->facet_count + 1))
        return BOUGH_ERROR_MEMORY;
    bo_builder_facet *facet = &b->facets[b->facet_count++];
    *facet = (bo_builder_facet){{corners[0], corners[1], corners[2], count == 4 ? corners[3] : -1}, set, s->line};
    return BOUGH_OK;
}

bough_status bo_builder_material(bo_builder *b, const char *name, size_t length, int32_t *material) {
    for (size_t i = 0; i < b->material_count; i++)
        if (bo_word_is(name, length, b->materials[i].name)) {
            *material = (int32_t)i;
            return BOUGH_OK;
        }
    BO_TRY(check_name_count(b, "materials", b->material_count));
    if (!BO_RESERVE(b->ctx, b->materials, b->material_capacity, b->material_count + 1))
        return BOUGH_ERROR_MEMORY;
    char *copy = bo_strndup(b->ctx, name, length);
    if (!copy)
        return BOUGH_ERROR_MEMORY;
    b->materials[b->material_count] = (bough_mesh_material){.name = copy};
    *material = (int32_t)b->material_count++;
    return BOUGH_OK;
}

bough_status bo_builder_region(bo_builder *b, const char *set, size_t length, int32_t material) {
    BO_TRY(check_name_count(b, "regions", b->region_count));
    if (!BO_RESERVE(b->ctx, b->regions, b->region_capacity, b->region_count + 1))
        return BOUGH_ERROR_MEMORY;
    char *copy = bo_strndup(b->ctx, set, length);
    if (!copy)
        return BOUGH_ERROR_MEMORY;
    b->regions[b->region_count++] = (bough_mesh_region){copy, material};
    return BOUGH_OK;
}

/* ---- finishing ---- */

static bough_status check_elements(bo_builder *b) {
    size_t n = (size_t)bough_element_node_count(b->type);
    for (size_t e = 0; e < b->element_count; e++) {
        const int32_t *nodes = b->elements + n * e;
        for (size_t i = 0; i < n; i++) {
            if (nodes[i] < 0 || (size_t)nodes[i] >= b->vertex_count)
                return bo_fail(b->ctx, BOUGH_ERROR_FORMAT,
                               "%s:%lld: element %zu names vertex %d (counted from 0), but there are %zu vertices",
                               source_of(b, e), (long long)b->element_lines[e], e + 1, nodes[i], b->vertex_count);
            for (size_t j = 0; j < i; j++)
                if (nodes[i] == nodes[j])
                    return bo_fail(b->ctx, BOUGH_ERROR_FORMAT, "%s:%lld: element %zu names one vertex twice",
                                   source_of(b, e), (long long)b->element_lines[e], e + 1);
        }
    }
    return BOUGH_OK;
}

static bough_status check_volumes(bo_builder *b, bough_volume_policy policy) {
    if (policy == BOUGH_VOLUME_ACCEPT || b->type == BOUGH_TRI3)
        return BOUGH_OK;
    size_t n = (size_t)bough_element_node_count(b->type);
    for (size_t e = 0; e < b->element_count; e++) {
        int32_t *nodes = b->elements + n * e;
        int sign = bo_element_sign(b->type, b->vertices, nodes);
        bool flipped = sign < 0 && policy == BOUGH_VOLUME_REPAIR;
        if (flipped) {
            bo_element_flip(b->type, nodes);
            sign = bo_element_sign(b->type, b->vertices, nodes);
        }
        if (sign > 0)
            continue;
        return bo_fail(b->ctx, BOUGH_ERROR_FORMAT, "%s:%lld: element %zu %s", source_of(b, e),
                       (long long)b->element_lines[e], e + 1,
                       sign == 0 ? "has no volume (its corners lie in a plane)"
                       : flipped ? "is folded: it stays inverted when its node order is mirrored"
                                 : "is inverted (negative volume); read it with --repair to flip such elements");
    }
    return BOUGH_OK;
}

static bough_status resolve_facets(bo_builder *b, const bough_mesh *mesh) {
    if (b->facet_count == 0 || mesh->type == BOUGH_TRI3)
        return BOUGH_OK;
    bo_face_finder *finder;
    BO_TRY(bo_face_finder_create(b->ctx, mesh, &finder));
    bough_status status = BOUGH_OK;
    int32_t lost = 0;
    for (size_t i = 0; i < b->facet_count && status == BOUGH_OK; i++) {
        const bo_builder_facet *facet = &b->facets[i];
        int32_t face = bo_face_finder_find(finder, facet->corners, facet->corners[3] < 0 ? 3 : 4);
        if (face >= 0)
            status = bo_builder_set_add(b, facet->set, face);
        else
            lost++;
    }
    bo_face_finder_destroy(b->ctx, finder);
    if (status == BOUGH_OK && lost)
        bo_warn(b->ctx, "%s: %d of %zu boundary facets are no face of any element and were left out", b->path, lost,
                b->facet_count);
    return status;
}

static bough_status hand_over(bo_builder *b, bough_mesh *mesh) {
    BO_TRY(resolve_facets(b, mesh));
    for (size_t i = 0; i < b->set_count; i++) {
        const bo_builder_set *set = &b->sets[i];
        bough_status status = bough_mesh_add_set(b->ctx, mesh, set->kind, set->name[0] ? set->name : "unnamed",
                                                 set->items, (int32_t)set->count);
        if (status != BOUGH_OK) {
            bo_prefix_message(b->ctx, "%s: ", b->path);
            return status == BOUGH_ERROR_ARGUMENT ? BOUGH_ERROR_FORMAT : status;
        }
    }
    for (size_t i = 0; i < b->region_count; i++)
        if (b->regions[i].set[0] && !bough_mesh_find_set(mesh, BOUGH_SET_ELEMENT, b->regions[i].set))
            return bo_fail(b->ctx, BOUGH_ERROR_FORMAT, "%s: a region names the element set \"%s\", which is not there",
                           b->path, b->regions[i].set);
    /* The mesh takes the arrays as they are. */
    mesh->materials = b->materials;
    mesh->material_count = (int32_t)b->material_count;
    mesh->regions = b->regions;
    mesh->region_count = (int32_t)b->region_count;
    b->materials = NULL, b->regions = NULL;
    b->material_count = b->region_count = 0;
    return BOUGH_OK;
}

static bough_status finish(bo_builder *b, const bough_mesh_read_def *def, bough_mesh **out) {
    if (b->vertex_count == 0)
        return bo_fail(b->ctx, BOUGH_ERROR_FORMAT, "%s: has no vertices", b->path);
    if (b->element_count == 0)
        return bo_fail(b->ctx, BOUGH_ERROR_FORMAT,
                       "%s: has no elements that Bough knows (tet4, tet10, hex8, or triangles of a surface)", b->path);
    BO_TRY(check_elements(b));
    BO_TRY(check_volumes(b, def->volumes));
    bough_mesh *mesh;
    BO_TRY(bough_mesh_create(b->ctx, b->type, (int32_t)b->vertex_count, b->vertices, (int32_t)b->element_count,
                             b->elements, &mesh));
    bough_status status = hand_over(b, mesh);
    if (status != BOUGH_OK) {
        bough_mesh_destroy(b->ctx, mesh);
        return status;
    }
    *out = mesh;
    return BOUGH_OK;
}

bough_status bo_builder_finish(bo_builder *b, const bough_mesh_read_def *def, bough_mesh **mesh) {
    bough_mesh_read_def defaults = bough_default_mesh_read_def();
    bough_status status = finish(b, def ? def : &defaults, mesh);
    bo_builder_discard(b);
    return status;
}
