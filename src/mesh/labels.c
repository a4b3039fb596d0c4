#include "mesh/labels.h"

#include <string.h>

bough_status bo_labels_set(bo_labels *labels, bo_builder *b, double label, int32_t *set) {
    int64_t key;
    memcpy(&key, &label, sizeof key);
    *set = bo_idmap_find(&labels->set_of_label, key);
    if (*set >= 0)
        return BOUGH_OK;
    if (labels->count >= BO_LABEL_LIMIT) {
        if (!labels->full)
            bo_warn(b->ctx, "%s: has more than %d different numbers \"%s\"; the others name no sets", b->path,
                    BO_LABEL_LIMIT, labels->prefix);
        labels->full = true;
        return BOUGH_OK;
    }
    char name[128];
    int length = snprintf(name, sizeof name, "%.90s_%.15g", labels->prefix, label);
    int32_t known, made;
    BO_TRY(bo_builder_set_named(b, labels->kind, name, (size_t)length, &made));
    BO_TRY(bo_idmap_add(b->ctx, &labels->set_of_label, key, made, &known));
    labels->count++;
    *set = made;
    return BOUGH_OK;
}

bough_status bo_labels_add(bo_labels *labels, bo_builder *b, double label, int32_t item) {
    int32_t set;
    BO_TRY(bo_labels_set(labels, b, label, &set));
    return set < 0 ? BOUGH_OK : bo_builder_set_add(b, set, item);
}

void bo_labels_free(bo_labels *labels, bo_builder *b) {
    bo_idmap_free(b->ctx, &labels->set_of_label);
}

bough_status bo_facets_add(bo_facets *facets, bo_scanner *s, const int32_t *corners, int32_t corner_count,
                           double label) {
    if (!BO_RESERVE(s->ctx, facets->items, facets->capacity, facets->count + 1))
        return BOUGH_ERROR_MEMORY;
    bo_facet facet = {.corner_count = corner_count, .label = label, .line = s->line};
    for (int32_t i = 0; i < corner_count; i++)
        facet.corners[i] = corners[i];
    facets->items[facets->count++] = facet;
    return BOUGH_OK;
}

bough_status bo_facet_to_elements(bo_builder *b, bo_scanner *s, const bo_facet *facet, int32_t *first) {
    const int32_t *v = facet->corners;
    *first = (int32_t)b->element_count;
    s->line = facet->line;
    BO_TRY(bo_builder_element(b, s, BOUGH_TRI3, v));
    if (facet->corner_count == 3)
        return BOUGH_OK;
    return bo_builder_element(b, s, BOUGH_TRI3, (const int32_t[]){v[0], v[2], v[3]});
}

static bool in_range(const bo_builder *b, const bo_facet *facet) {
    for (int32_t i = 0; i < facet->corner_count; i++)
        if (facet->corners[i] < 0 || (size_t)facet->corners[i] >= b->vertex_count)
            return false;
    return true;
}

static bough_status finish(bo_facets *facets, bo_builder *b, bo_scanner *s, bo_labels *labels) {
    for (size_t i = 0; i < facets->count; i++) {
        const bo_facet *facet = &facets->items[i];
        s->line = facet->line;
        if (!in_range(b, facet))
            return bo_scan_fail(s, "a boundary facet names a vertex outside the %zu there are", b->vertex_count);
        int32_t set = -1, first;
        if (facet->label != 0)
            BO_TRY(bo_labels_set(labels, b, facet->label, &set));
        if (labels->kind == BOUGH_SET_FACE) {
            if (set >= 0)
                BO_TRY(bo_builder_facet_add(b, s, set, facet->corners, facet->corner_count));
            continue;
        }
        BO_TRY(bo_facet_to_elements(b, s, facet, &first));
        for (int32_t e = first; set >= 0 && e < (int32_t)b->element_count; e++)
            BO_TRY(bo_builder_set_add(b, set, e));
    }
    return BOUGH_OK;
}

bough_status bo_facets_finish(bo_facets *facets, bo_builder *b, bo_scanner *s, const char *prefix) {
    bo_labels labels = {.kind = b->element_count ? BOUGH_SET_FACE : BOUGH_SET_ELEMENT, .prefix = prefix};
    bough_status status = finish(facets, b, s, &labels);
    bo_labels_free(&labels, b);
    return status;
}

void bo_facets_free(bo_facets *facets, bough_context *ctx) {
    bo_free(ctx, facets->items);
    *facets = (bo_facets){0};
}
