/* Shadows that surfaces throw on each other: the scene's depth as seen from the key light, and from a number of
 * directions spread over the sky for the soft darkening of hollows. */
#include "record/picture.h"
#include "record/stamp.h"

#include "base/threads.h"

#include <math.h>

enum { KEY_TEXELS = 1280, SKY_TEXELS = 192, SKY_COUNT = 48 };

typedef struct bo_depth_map {
    bo_vec3 direction, axis_a, axis_b; /* towards the light; plane of the map */
    double a0, b0, depth0, texel;      /* corner of the map, zero of depth (middle of the scene), m */
    int32_t n;
    float *depth; /* n x n, along direction; larger is nearer to the light */
} bo_depth_map;

/* Evenly spread over the upper half sphere around `up`, by the golden angle. */
static bo_vec3 sky_direction(bo_vec3 up, int i) {
    bo_vec3 side = bo_normalize(bo_cross(up, fabs(up.x) < 0.9 ? bo_v3(1, 0, 0) : bo_v3(0, 1, 0)));
    bo_vec3 other = bo_cross(up, side);
    double z = (i + 0.7) / SKY_COUNT, r = sqrt(fmax(0, 1 - z * z)), angle = 2.39996322972865332 * i;
    return bo_mul_add(bo_mul_add(bo_scale(z, up), r * cos(angle), side), r * sin(angle), other);
}

static void place_map(bo_depth_map *map, const bo_bounds *bounds, bo_vec3 direction, int32_t n) {
    bo_vec3 centre = bo_scale(0.5, bo_add(bounds->lower, bounds->upper));
    map->direction = direction;
    map->axis_a = bo_normalize(bo_cross(direction, fabs(direction.x) < 0.7 ? bo_v3(1, 0, 0) : bo_v3(0, 1, 0)));
    map->axis_b = bo_cross(direction, map->axis_a);
    map->n = n;
    map->depth0 = bo_dot(direction, centre);    /* so that floats are precise wherever the scene is */
    map->texel = 1.02 * bounds->size / (n - 4); /* the ball around the scene, with two texels of margin */
    map->a0 = bo_dot(map->axis_a, centre) - 0.5 * n * map->texel;
    map->b0 = bo_dot(map->axis_b, centre) - 0.5 * n * map->texel;
}

static bo_vec3 to_map(const bo_depth_map *map, bo_vec3 p) {
    return bo_v3((bo_dot(map->axis_a, p) - map->a0) / map->texel, (bo_dot(map->axis_b, p) - map->b0) / map->texel,
                 bo_dot(map->direction, p) - map->depth0);
}

static float as_it_is(const void *data, double depth) {
    (void)data;
    return (float)depth;
}

static void draw_map(void *data, int32_t index) {
    const bo_view *view = data;
    bo_depth_map *map = &view->depth_maps[index];
    for (size_t i = 0; i < (size_t)map->n * (size_t)map->n; i++)
        map->depth[i] = -INFINITY;
    for (size_t i = 0; i < view->picture->surface_count; i++) {
        const bo_surface *s = &view->picture->surfaces[i];
        for (int32_t t = 0; s->casts_shadow && t < s->triangle_count; t++) {
            const int32_t *v = s->triangles + 3 * (size_t)t;
            bo_stamp_triangle(to_map(map, bo_load3(s->vertices + 3 * (size_t)v[0])),
                              to_map(map, bo_load3(s->vertices + 3 * (size_t)v[1])),
                              to_map(map, bo_load3(s->vertices + 3 * (size_t)v[2])), map->n, map->n, map->depth,
                              as_it_is, NULL);
        }
    }
}

bough_status bo_depth_maps_create(bough_context *ctx, bo_view *view) {
    if (view->picture->def.shadow == 0)
        return BOUGH_OK;
    view->depth_maps = BO_NEW_ZEROS(ctx, bo_depth_map, 1 + SKY_COUNT);
    if (!view->depth_maps)
        return bo_fail_memory(ctx);
    view->depth_map_count = 1 + SKY_COUNT;
    for (int32_t i = 0; i < view->depth_map_count; i++) {
        bo_depth_map *map = &view->depth_maps[i];
        place_map(map, &view->bounds, i == 0 ? view->light : sky_direction(view->up, i - 1),
                  i == 0 ? KEY_TEXELS : SKY_TEXELS);
        map->depth = BO_NEW_ARRAY(ctx, float, (size_t)map->n *(size_t)map->n);
        if (!map->depth)
            return bo_fail_memory(ctx);
    }
    bo_run_tasks(ctx, draw_map, view, view->depth_map_count);
    return BOUGH_OK;
}

void bo_depth_maps_destroy(bough_context *ctx, bo_view *view) {
    for (int32_t i = 0; i < view->depth_map_count; i++)
        bo_free(ctx, view->depth_maps[i].depth);
    bo_free(ctx, view->depth_maps);
    view->depth_maps = NULL;
    view->depth_map_count = 0;
}

/* Share of a square of (2 radius + 1)^2 texels around the point that does not hide it. The outer texels count by how
 * much of them the square covers, so the result is continuous. */
static double unhidden(const bo_depth_map *map, bo_vec3 point, bo_vec3 n, int32_t radius) {
    double slope = bo_dot(n, map->direction);
    bo_vec3 p = to_map(map, bo_mul_add(point, 1.5 * (radius + 1) * map->texel * (1.1 - fmin(1, fabs(slope))), n));
    double x = p.x - 0.5 - radius, y = p.y - 0.5 - radius, depth = p.z + 1.2 * (radius + 1) * map->texel;
    int32_t span = 2 * radius + 2;
    if (!(x >= 0 && y >= 0 && x + span < map->n && y + span < map->n))
        return 1;
    int32_t i0 = (int32_t)x, j0 = (int32_t)y;
    double fx = x - i0, fy = y - j0, sum = 0;
    for (int32_t j = 0; j < span; j++) {
        const float *row = map->depth + (size_t)(j0 + j) * (size_t)map->n + (size_t)i0;
        double wy = j == 0 ? 1 - fy : j == span - 1 ? fy : 1;
        for (int32_t i = 0; i < span; i++) {
            double wx = i == 0 ? 1 - fx : i == span - 1 ? fx : 1;
            sum += row[i] <= depth ? wx * wy : 0;
        }
    }
    return sum / ((2 * radius + 1) * (2 * radius + 1));
}

void bo_visible_light(const bo_view *view, bo_vec3 point, bo_vec3 n, bo_vec3 facet, float *key, float *sky) {
    *key = *sky = 1;
    if (!view->depth_maps)
        return;
    if (bo_dot(n, view->light) > 0)
        *key = (float)unhidden(&view->depth_maps[0], point, facet, 3);
    double seen = 0, all = 0;
    for (int32_t i = 1; i < view->depth_map_count; i++) {
        double cosine = bo_dot(n, view->depth_maps[i].direction);
        if (cosine <= 0)
            continue;
        all += cosine;
        seen += cosine * unhidden(&view->depth_maps[i], point, facet, 2);
    }
    *sky = all > 0 ? (float)(seen / all) : 1;
}
