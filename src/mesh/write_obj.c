/* Wavefront .obj of a triangle surface. Element sets are groups; a triangle in several sets stands under a `g` line
 * with all their names. Blanks in names become '_', because they separate names. */
#include "mesh/formats.h"

#include <string.h>

static void write_name(const char *name, FILE *f) {
    fputc(' ', f);
    for (; *name; name++)
        fputc(strchr(" \t\r\n\v\f#\\", *name) ? '_' : *name, f);
}

/* Sets are sorted, so each needs only one step per triangle. Returns whether membership changed. */
static bool advance(const bough_mesh *mesh, int32_t element, int32_t *at, bool *inside) {
    bool changed = false;
    for (int32_t s = 0; s < mesh->set_count; s++) {
        const bough_set *set = &mesh->sets[s];
        if (set->kind != BOUGH_SET_ELEMENT)
            continue;
        bool now = at[s] < set->count && set->items[at[s]] == element;
        at[s] += now;
        changed |= now != inside[s];
        inside[s] = now;
    }
    return changed;
}

static void write_groups(const bough_mesh *mesh, const bool *inside, FILE *f) {
    fputc('g', f);
    for (int32_t s = 0; s < mesh->set_count; s++)
        if (inside[s])
            write_name(mesh->sets[s].name, f);
    fputc('\n', f);
}

static bough_status write_faces(bough_context *ctx, const bough_mesh *mesh, int32_t *at, bool *inside, FILE *f) {
    for (int32_t e = 0; e < mesh->element_count; e++) {
        const int32_t *n = bo_mesh_nodes(mesh, e);
        if (advance(mesh, e, at, inside))
            write_groups(mesh, inside, f);
        fprintf(f, "f %d %d %d\n", n[0] + 1, n[1] + 1, n[2] + 1);
        BO_TRY(bo_mesh_go_on(ctx, "writing triangles", (size_t)e, (size_t)mesh->element_count));
    }
    return BOUGH_OK;
}

bough_status bo_write_obj(bough_context *ctx, const bough_mesh *mesh, const char *path, FILE *stream) {
    (void)path;
    int32_t *at = BO_NEW_ZEROS(ctx, int32_t, mesh->set_count);
    bool *inside = BO_NEW_ZEROS(ctx, bool, mesh->set_count);
    bough_status status = at && inside ? BOUGH_OK : BOUGH_ERROR_MEMORY;
    for (int32_t v = 0; status == BOUGH_OK && v < mesh->vertex_count; v++) {
        const double *x = mesh->vertices + 3 * (size_t)v;
        fprintf(stream, "v %.17g %.17g %.17g\n", x[0], x[1], x[2]);
        status = bo_mesh_go_on(ctx, "writing vertices", (size_t)v, (size_t)mesh->vertex_count);
    }
    if (status == BOUGH_OK)
        status = write_faces(ctx, mesh, at, inside, stream);
    bo_free(ctx, at);
    bo_free(ctx, inside);
    return status;
}
