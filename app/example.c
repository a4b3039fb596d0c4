#include "example.h"

#include <string.h>
#include <unistd.h>

uint64_t example_bits(example_random *random) {
    uint64_t z = (random->state += 0x9E3779B97F4A7C15u);
    z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9u;
    z = (z ^ (z >> 27)) * 0x94D049BB133111EBu;
    return z ^ (z >> 31);
}

double example_uniform(example_random *random, double lower, double upper) {
    return lower + (upper - lower) * (double)(example_bits(random) >> 11) * 0x1p-53;
}

v3 axes_apply(const axes *a, v3 v) {
    return v3_add(v3_scale(v.x, a->x), v3_add(v3_scale(v.y, a->y), v3_scale(v.z, a->z)));
}

v3 axes_into(const axes *a, v3 v) {
    return (v3){v3_dot(a->x, v), v3_dot(a->y, v), v3_dot(a->z, v)};
}

axes axes_around(v3 first, v3 second) {
    axes a = {.z = v3_unit(first)};
    v3 x = v3_along(second, -v3_dot(second, a.z), a.z);
    if (v3_dot(x, x) < 1e-6 * v3_dot(second, second)) { /* they are parallel: any direction across will do */
        x = fabs(a.z.x) < 0.7 ? (v3){1, 0, 0} : (v3){0, 1, 0};
        x = v3_along(x, -v3_dot(x, a.z), a.z);
    }
    a.x = v3_unit(x);
    a.y = v3_cross(a.z, a.x);
    return a;
}

/* R = Rz Ry Rx, so that its first column is (cz cy, sz cy, -sy) and its last row (-sy, cy sx, cy cx). */
void axes_degrees(const axes *parent, const axes *child, double degrees[3]) {
    v3 x = axes_into(parent, child->x), y = axes_into(parent, child->y), z = axes_into(parent, child->z);
    degrees[0] = atan2(y.z, z.z) * 180 / M_PI;
    degrees[1] = -asin(fmax(-1, fmin(1, x.z))) * 180 / M_PI;
    degrees[2] = atan2(x.y, x.x) * 180 / M_PI;
}

void example_path(const example *e, const char *name, char *path) {
    snprintf(path, EXAMPLE_PATH, "%s/%s", e->folder, name);
}

bough_status example_write_mesh(bough_context *ctx, const example *e, bough_mesh *mesh, const char *name) {
    char path[EXAMPLE_PATH];
    example_path(e, name, path);
    bough_status s = mesh->type == BOUGH_TRI3 ? BOUGH_OK : bough_mesh_check(ctx, mesh);
    if (!s)
        s = bough_mesh_write(ctx, mesh, path);
    bough_mesh_destroy(ctx, mesh);
    return s;
}

bough_status example_count_surfaces(bough_context *ctx, const bough_mesh *mesh, example *e) {
    int32_t *domain, count;
    bough_split *split;
    bough_status s = bough_mesh_domains_from_sets(ctx, mesh, NULL, 0, &domain, &count);
    if (s)
        return s;
    s = bough_mesh_split(ctx, mesh, domain, count, &split);
    bough_release(ctx, domain);
    if (s)
        return s;
    for (int32_t d = 0; d < count && !s; d++) {
        bough_mesh *surface;
        s = bough_mesh_surface(ctx, split->domains[d].mesh, &surface, NULL, NULL);
        if (s)
            break;
        e->surface_vertices += surface->vertex_count, e->surface_triangles += surface->element_count;
        bough_mesh_destroy(ctx, surface);
    }
    bough_split_destroy(ctx, split);
    return s;
}

bough_status example_count(bough_context *ctx, example *e, const bough_mesh *mesh, const bough_mesh *drawn,
                           int64_t uses) {
    bough_mesh *boundary = NULL;
    if (!drawn) {
        bough_status s = bough_mesh_surface(ctx, mesh, &boundary, NULL, NULL);
        if (s)
            return s;
        drawn = boundary;
    }
    e->vertices += uses * mesh->vertex_count;
    e->elements += uses * mesh->element_count;
    e->surface_vertices += uses * drawn->vertex_count;
    e->surface_triangles += uses * drawn->element_count;
    bough_mesh_destroy(ctx, boundary);
    return BOUGH_OK;
}

bough_status example_write_pair(bough_context *ctx, example *e, bough_status made, bough_mesh *volume,
                                bough_mesh *surface, const char *name, int64_t uses) {
    char file[64];
    bough_status s = made ? made : example_count(ctx, e, volume, surface, uses);
    if (s) {
        bough_mesh_destroy(ctx, volume);
        bough_mesh_destroy(ctx, surface);
        return s;
    }
    snprintf(file, sizeof file, "%s.msh", name);
    s = example_write_mesh(ctx, e, volume, file);
    snprintf(file, sizeof file, "%s.obj", name);
    const bough_status drawn = example_write_mesh(ctx, e, surface, file);
    return s ? s : drawn;
}

bool example_open(const example *e, const char *name, example_file *file) {
    example_path(e, name, file->path);
    snprintf(file->temporary, sizeof file->temporary, "%s.part", file->path);
    file->stream = fopen(file->temporary, "w");
    if (!file->stream)
        app_fail_with("%s: cannot be written", file->temporary);
    return file->stream != NULL;
}

bool example_close(example_file *file, bool keep) {
    bool written = !ferror(file->stream);
    written = fclose(file->stream) == 0 && written && keep && rename(file->temporary, file->path) == 0;
    if (!written)
        remove(file->temporary);
    if (!written && keep)
        app_fail_with("%s: cannot be written", file->path);
    return written;
}
