/* Shadows on the ground. Everything that casts them is sorted into layers by height, and each layer is blurred as wide
 * as a light of finite size makes it, so that shadows are crisp where things touch the ground and soft below what is
 * high. A further layer, projected straight down, darkens the ground near things that stand on it. */
#include "record/picture.h"
#include "record/stamp.h"

#include "base/threads.h"

#include <math.h>
#include <string.h>

enum { LAYER_COUNT = 5, LONGEST = 640 }; /* layers of the key light; texels of the longer side */

/* Heights of the layers as a fraction of the scene's height; a point between two belongs to both in proportion. */
static const double layer_height[LAYER_COUNT] = {0, 0.08, 0.22, 0.5, 1};
static const double light_radius = 0.10; /* tangent of half the angle under which the light is seen */

typedef struct shadow_job {
    const bo_view *view;
    bo_shadow_map *map;
    double height;                  /* of the scene over the ground, m */
    float *layers[LAYER_COUNT + 1]; /* the last one is the contact */
    float *scratch[LAYER_COUNT + 1];
} shadow_job;

/* Map coordinates x, y (texels) and height z of the shadow that a point throws along `along` (unit, upward). */
static bo_vec3 drop(const bo_view *view, const bo_shadow_map *map, bo_vec3 p, bo_vec3 along) {
    double h = bo_dot(view->up, p) - view->ground_height;
    bo_vec3 foot = bo_mul_add(p, -h / bo_dot(along, view->up), along);
    return (bo_vec3){(bo_dot(map->axis_a, foot) - map->a0) / map->texel,
                     (bo_dot(map->axis_b, foot) - map->b0) / map->texel, h};
}

static double layer_weight(const shadow_job *job, int layer, double h) {
    if (h < 0)
        return 0;
    if (layer == LAYER_COUNT)
        return exp(-h / (0.08 * job->view->bounds.size));
    double t = h / job->height, weight = 0;
    if (layer > 0 && t <= layer_height[layer])
        weight = (t - layer_height[layer - 1]) / (layer_height[layer] - layer_height[layer - 1]);
    else if (layer + 1 < LAYER_COUNT && t >= layer_height[layer])
        weight = (layer_height[layer + 1] - t) / (layer_height[layer + 1] - layer_height[layer]);
    else if (layer + 1 == LAYER_COUNT)
        weight = 1;
    return weight < 0 ? 0 : weight;
}

typedef struct layer_of_job {
    const shadow_job *job;
    int layer;
} layer_of_job;

static float weight_at(const void *data, double h) {
    const layer_of_job *l = data;
    return (float)layer_weight(l->job, l->layer, h);
}

/* One pass of a running mean of 2 radius + 1 texels along lines with the given stride, from `in` to `out`. */
static void blur_lines(const float *in, float *out, int32_t line_count, size_t line_stride, int32_t length,
                       size_t stride, int32_t radius) {
    float scale = 1 / (float)(2 * radius + 1);
    for (int32_t line = 0; line < line_count; line++) {
        const float *from = in + line_stride * (size_t)line;
        float *to = out + line_stride * (size_t)line;
        double sum = 0;
        for (int32_t i = 0; i < length + radius; i++) {
            if (i < length)
                sum += from[stride * (size_t)i];
            if (i - 2 * radius - 1 >= 0)
                sum -= from[stride * (size_t)(i - 2 * radius - 1)];
            if (i >= radius)
                to[stride * (size_t)(i - radius)] = scale * (float)sum;
        }
    }
}

/* Three means in each direction come near to a bell curve. */
static void blur(float *layer, float *scratch, int32_t nx, int32_t ny, int32_t radius) {
    for (int pass = 0; pass < 3 && radius > 0; pass++) {
        blur_lines(layer, scratch, ny, (size_t)nx, nx, 1, radius);
        blur_lines(scratch, layer, nx, 1, ny, (size_t)nx, radius);
    }
}

static void draw_layer(void *data, int32_t layer) {
    shadow_job *job = data;
    const bo_view *view = job->view;
    bo_vec3 along = layer == LAYER_COUNT ? view->up : view->light;
    for (size_t i = 0; i < view->picture->surface_count; i++) {
        const bo_surface *s = &view->picture->surfaces[i];
        for (int32_t t = 0; s->casts_shadow && t < s->triangle_count; t++) {
            bo_vec3 d[3];
            for (int k = 0; k < 3; k++) {
                int32_t v = s->triangles[3 * (size_t)t + (size_t)k];
                d[k] = drop(view, job->map, bo_load3(s->vertices + 3 * (size_t)v), along);
            }
            bo_stamp_triangle(d[0], d[1], d[2], job->map->nx, job->map->ny, job->layers[layer], weight_at,
                              &(layer_of_job){job, layer});
        }
    }
    double width = layer == LAYER_COUNT ? 0.03 * view->bounds.size
                                        : light_radius * layer_height[layer] * job->height + 0.002 * view->bounds.size;
    blur(job->layers[layer], job->scratch[layer], job->map->nx, job->map->ny,
         (int32_t)fmin(100, width / job->map->texel + 0.5));
}

/* The rectangle of the ground that shadows can reach. */
static bool place_map(bo_view *view) {
    bo_shadow_map *map = &view->shadow;
    bo_vec3 side = fabs(view->up.x) < 0.9 ? bo_v3(1, 0, 0) : bo_v3(0, 1, 0);
    map->axis_b = bo_normalize(bo_cross(view->up, side));
    map->axis_a = bo_cross(map->axis_b, view->up);
    map->a0 = map->b0 = 0, map->texel = 1;
    double a0 = INFINITY, b0 = INFINITY, a1 = -INFINITY, b1 = -INFINITY;
    for (size_t i = 0; i < view->picture->surface_count; i++) {
        const bo_surface *s = &view->picture->surfaces[i];
        for (size_t k = 0; s->casts_shadow && k < 3 * (size_t)s->triangle_count; k++) {
            bo_vec3 p = bo_load3(s->vertices + 3 * (size_t)s->triangles[k]);
            if (bo_dot(view->up, p) < view->ground_height)
                p = bo_mul_add(p, view->ground_height - bo_dot(view->up, p), view->up);
            for (int way = 0; way < 2; way++) {
                bo_vec3 d = drop(view, map, p, way ? view->light : view->up);
                a0 = fmin(a0, d.x), a1 = fmax(a1, d.x), b0 = fmin(b0, d.y), b1 = fmax(b1, d.y);
            }
        }
    }
    double margin = 0.25 * view->bounds.size, length = fmax(a1 - a0, b1 - b0) + 2 * margin;
    if (!(isfinite(length) && length > 0))
        return false;
    map->texel = length / LONGEST;
    map->a0 = a0 - margin, map->b0 = b0 - margin;
    map->nx = (int32_t)ceil((a1 - a0 + 2 * margin) / map->texel);
    map->ny = (int32_t)ceil((b1 - b0 + 2 * margin) / map->texel);
    return map->nx > 1 && map->ny > 1;
}

bough_status bo_shadow_create(bough_context *ctx, bo_view *view) {
    bo_shadow_map *map = &view->shadow;
    if (!view->ground || !place_map(view))
        return BOUGH_OK;
    size_t texels = (size_t)map->nx * (size_t)map->ny;
    shadow_job job = {.view = view, .map = map};
    for (int corner = 0; corner < 8; corner++) {
        bo_vec3 p = bo_v3(corner & 1 ? view->bounds.upper.x : view->bounds.lower.x,
                          corner & 2 ? view->bounds.upper.y : view->bounds.lower.y,
                          corner & 4 ? view->bounds.upper.z : view->bounds.lower.z);
        job.height = fmax(job.height, bo_dot(view->up, p) - view->ground_height);
    }
    job.height = fmax(job.height, 1e-6 * view->bounds.size);
    bool enough = true;
    for (int i = 0; i <= LAYER_COUNT; i++) {
        job.layers[i] = BO_NEW_ZEROS(ctx, float, texels);
        job.scratch[i] = BO_NEW_ARRAY(ctx, float, texels);
        enough = enough && job.layers[i] && job.scratch[i];
    }
    if (enough) {
        bo_run_tasks(ctx, draw_layer, &job, LAYER_COUNT + 1);
        for (int i = 1; i < LAYER_COUNT; i++)
            for (size_t k = 0; k < texels; k++)
                job.layers[0][k] = fminf(1, job.layers[0][k] + job.layers[i][k]);
        map->key = job.layers[0], map->contact = job.layers[LAYER_COUNT];
        job.layers[0] = job.layers[LAYER_COUNT] = NULL;
    }
    for (int i = 0; i <= LAYER_COUNT; i++) {
        bo_free(ctx, job.layers[i]);
        bo_free(ctx, job.scratch[i]);
    }
    return enough ? BOUGH_OK : bo_fail_memory(ctx);
}

void bo_shadow_destroy(bough_context *ctx, bo_view *view) {
    bo_free(ctx, view->shadow.key);
    bo_free(ctx, view->shadow.contact);
    view->shadow.key = view->shadow.contact = NULL;
}

void bo_shadow_at(const bo_shadow_map *map, bo_vec3 point, float *key, float *contact) {
    *key = *contact = 0;
    if (!map->key)
        return;
    double x = (bo_dot(map->axis_a, point) - map->a0) / map->texel - 0.5;
    double y = (bo_dot(map->axis_b, point) - map->b0) / map->texel - 0.5;
    if (!(x >= 0 && y >= 0 && x < map->nx - 1 && y < map->ny - 1))
        return;
    size_t i = (size_t)x, j = (size_t)y, nx = (size_t)map->nx, at = j * nx + i;
    float u = (float)(x - (double)i), v = (float)(y - (double)j);
    float w00 = (1 - u) * (1 - v), w10 = u * (1 - v), w01 = (1 - u) * v, w11 = u * v;
    const float *k = map->key + at, *c = map->contact + at;
    *key = w00 * k[0] + w10 * k[1] + w01 * k[nx] + w11 * k[nx + 1];
    *contact = w00 * c[0] + w10 * c[1] + w01 * c[nx] + w11 * c[nx + 1];
}
