#include "record/picture.h"

#include <math.h>

/* Finds the box around everything that casts shadows: a huge floor that casts none should not spoil their
 * resolution. */
static bo_bounds bounds_of(const bough_picture *picture) {
    bo_bounds b = {{INFINITY, INFINITY, INFINITY}, {-INFINITY, -INFINITY, -INFINITY}, 0};
    for (size_t i = 0; i < picture->surface_count; i++) {
        const bo_surface *s = &picture->surfaces[i];
        for (size_t k = 0; s->casts_shadow && k < 3 * (size_t)s->triangle_count; k++) {
            const double *v = s->vertices + 3 * (size_t)s->triangles[k];
            b.lower = bo_v3(fmin(b.lower.x, v[0]), fmin(b.lower.y, v[1]), fmin(b.lower.z, v[2]));
            b.upper = bo_v3(fmax(b.upper.x, v[0]), fmax(b.upper.y, v[1]), fmax(b.upper.z, v[2]));
        }
    }
    b.size = bo_norm(bo_sub(b.upper, b.lower));
    if (!(b.size > 0 && isfinite(b.size)))
        b = (bo_bounds){{0, 0, 0}, {0, 0, 0}, 1};
    return b;
}

static double lowest_vertex(const bough_picture *picture, bo_vec3 up) {
    double lowest = INFINITY;
    for (size_t i = 0; i < picture->surface_count; i++) {
        const bo_surface *s = &picture->surfaces[i];
        for (size_t k = 0; k < 3 * (size_t)s->triangle_count; k++)
            lowest = fmin(lowest, bo_dot(up, bo_load3(s->vertices + 3 * (size_t)s->triangles[k])));
    }
    return isfinite(lowest) ? lowest : 0;
}

/* From high on the left and behind the viewer: forms are modelled, and shadows fall to the right and back. */
static bo_vec3 key_light(const bough_picture_def *def, const bo_camera *camera, bo_vec3 up) {
    bo_vec3 light = bo_load3(def->light);
    if (bo_norm(light) > 0)
        return bo_normalize(light);
    bo_vec3 back = bo_scale(-1, camera->forward);
    back = bo_normalize(bo_mul_add(back, -bo_dot(back, up), up));
    return bo_normalize(bo_mul_add(bo_mul_add(bo_scale(1.25, up), -0.75, camera->right), 0.55, back));
}

static bo_view view_of(const bough_picture *picture) {
    const bough_picture_def *def = &picture->def;
    bo_view view = {.picture = picture, .bounds = bounds_of(picture), .up = bo_normalize(bo_load3(def->up))};
    view.camera = bo_camera_of(def);
    view.light = key_light(def, &view.camera, view.up);
    view.background_top = bo_rgb_from_srgb(def->background_top);
    view.background_bottom = bo_rgb_from_srgb(def->background_bottom);
    view.ground_height = isfinite(def->ground_height) ? def->ground_height : lowest_vertex(picture, view.up);
    /* seen from below, or lit from below, there is no ground */
    view.ground =
        def->ground && bo_dot(view.up, view.camera.eye) > view.ground_height && bo_dot(view.light, view.up) > 0.05;
    return view;
}

bough_status bough_picture_render(bough_context *ctx, bough_picture *picture) {
    bo_view view = view_of(picture);
    bough_status status = bo_view_add_faces(ctx, &view);
    if (status == BOUGH_OK)
        status = bo_shadow_create(ctx, &view);
    if (status == BOUGH_OK)
        status = bo_depth_maps_create(ctx, &view);
    if (status == BOUGH_OK)
        status = bo_raster(ctx, &view, picture->pixels);
    if (status == BOUGH_OK)
        bo_draw_labels(picture);
    bo_depth_maps_destroy(ctx, &view);
    bo_shadow_destroy(ctx, &view);
    bo_free(ctx, view.faces);
    return status;
}
