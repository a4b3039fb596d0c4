#include "record/picture.h"

#include <math.h>

enum { LARGE_FAN = 64 }; /* triangles at a vertex beyond which creases are not looked for: the work is quadratic */

static bo_vec3 area_vector(const bo_surface *s, int32_t t) {
    const int32_t *v = s->triangles + 3 * (size_t)t;
    bo_vec3 a = bo_load3(s->vertices + 3 * (size_t)v[0]);
    bo_vec3 b = bo_load3(s->vertices + 3 * (size_t)v[1]), c = bo_load3(s->vertices + 3 * (size_t)v[2]);
    return bo_cross(bo_sub(b, a), bo_sub(c, a));
}

/* first[v] .. first[v+1]-1 are the places in `around` of the triangles at vertex v. */
static void collect_fans(const bo_surface *s, int32_t *first, int32_t *around) {
    size_t corners = 3 * (size_t)s->triangle_count;
    for (size_t i = 0; i < corners; i++)
        first[s->triangles[i] + 1]++;
    for (int32_t v = 0; v < s->vertex_count; v++)
        first[v + 1] += first[v];
    for (size_t i = corners; i-- > 0;) /* filled from behind: first[v+1] moves down to the start of v's fan */
        around[--first[s->triangles[i] + 1]] = (int32_t)(i / 3);
    for (int32_t v = 0; v < s->vertex_count; v++)
        first[v] = first[v + 1];
    first[s->vertex_count] = (int32_t)corners;
}

static bo_vec3 corner_normal(const bo_vec3 *areas, int32_t t, const int32_t *fan, int32_t count, double cosine) {
    bo_vec3 own = bo_normalize(areas[t]), sum = {0, 0, 0};
    for (int32_t i = 0; i < count; i++) {
        bo_vec3 other = areas[fan[i]];
        if (count > LARGE_FAN || fan[i] == t || bo_dot(own, other) >= cosine * bo_norm(other))
            sum = bo_add(sum, other);
    }
    sum = bo_normalize(sum);
    return bo_norm(sum) > 0 ? sum : own;
}

bough_status bo_surface_normals(bough_context *ctx, bo_surface *s, double crease_angle) {
    size_t corners = 3 * (size_t)s->triangle_count;
    double cosine = cos(crease_angle < 0 ? 0 : crease_angle > M_PI ? M_PI : crease_angle);
    if (crease_angle >= M_PI)
        cosine = -2;
    s->corner_normals = BO_NEW_ARRAY(ctx, float, 3 * corners);
    bo_vec3 *areas = BO_NEW_ARRAY(ctx, bo_vec3, s->triangle_count);
    int32_t *first = BO_NEW_ZEROS(ctx, int32_t, (size_t)s->vertex_count + 1);
    int32_t *around = BO_NEW_ARRAY(ctx, int32_t, corners);
    bool enough = s->corner_normals && areas && first && around && corners <= INT32_MAX;
    if (enough) {
        for (int32_t t = 0; t < s->triangle_count; t++)
            areas[t] = area_vector(s, t);
        collect_fans(s, first, around);
        for (size_t i = 0; i < corners; i++) {
            int32_t v = s->triangles[i], t = (int32_t)(i / 3);
            bo_vec3 n = crease_angle > 0 ? corner_normal(areas, t, around + first[v], first[v + 1] - first[v], cosine)
                                         : bo_normalize(areas[t]);
            float *out = s->corner_normals + 3 * i;
            out[0] = (float)n.x, out[1] = (float)n.y, out[2] = (float)n.z;
        }
    }
    bo_free(ctx, areas);
    bo_free(ctx, first);
    bo_free(ctx, around);
    return enough ? BOUGH_OK : bo_fail_memory(ctx);
}
