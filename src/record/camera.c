#include "record/picture.h"

#include <math.h>

bo_camera bo_camera_of(const bough_picture_def *def) {
    bo_vec3 eye = bo_load3(def->eye), view = bo_sub(bo_load3(def->target), eye), up = bo_load3(def->up);
    bo_camera camera = {.eye = eye, .forward = bo_normalize(view)};
    bo_vec3 right = bo_cross(camera.forward, bo_normalize(up));
    if (bo_norm(right) < 1e-9) { /* when looking along `up`, any other direction will do as up */
        bo_vec3 other = fabs(camera.forward.y) < 0.9 ? bo_v3(0, 1, 0) : bo_v3(1, 0, 0);
        right = bo_cross(camera.forward, other);
    }
    camera.right = bo_normalize(right);
    camera.up = bo_cross(camera.right, camera.forward);
    camera.focal = 0.5 * def->height / tan(0.5 * def->field_of_view);
    camera.centre_x = 0.5 * def->width;
    camera.centre_y = 0.5 * def->height;
    camera.near = 1e-5 * bo_norm(view); /* inverse depth is kept as a float, precise at any distance */
    return camera;
}

bo_vec3 bo_camera_ray(const bo_camera *camera, double x, double y) {
    double a = (x - camera->centre_x) / camera->focal, b = (camera->centre_y - y) / camera->focal;
    return bo_mul_add(bo_mul_add(camera->forward, a, camera->right), b, camera->up);
}

/* A corner of a polygon while it is clipped: camera coordinates (z is depth), and place in the source triangle. */
typedef struct corner {
    double x, y, z;
    double source[3];
} corner;

enum { PLANE_COUNT = 5, MAX_CORNERS = 3 + PLANE_COUNT };

/* Half spaces a x + b y + c z >= d: in front of the near plane, and within one picture size around the picture, so that
 * grid coordinates stay small enough to be exact. */
typedef struct plane {
    double a, b, c, d;
} plane;

static void clip_planes(const bo_view *view, plane planes[PLANE_COUNT]) {
    const bo_camera *k = &view->camera;
    double width = view->picture->def.width, height = view->picture->def.height;
    planes[0] = (plane){0, 0, 1, k->near};
    planes[1] = (plane){k->focal, 0, k->centre_x + width, 0};
    planes[2] = (plane){-k->focal, 0, 2 * width - k->centre_x, 0};
    planes[3] = (plane){0, -k->focal, k->centre_y + height, 0};
    planes[4] = (plane){0, k->focal, 2 * height - k->centre_y, 0};
}

static double inside(const plane *p, const corner *c) {
    return p->a * c->x + p->b * c->y + p->c * c->z - p->d;
}

static corner between(const corner *a, const corner *b, double t) {
    corner c = {a->x + t * (b->x - a->x), a->y + t * (b->y - a->y), a->z + t * (b->z - a->z), {0}};
    for (int i = 0; i < 3; i++)
        c.source[i] = a->source[i] + t * (b->source[i] - a->source[i]);
    return c;
}

/* Cuts a convex polygon by a half space (Sutherland and Hodgman). The cut is computed from the inner end, so that
 * triangles that share an edge are cut at the same point. */
static int cut(const plane *p, const corner *in, int count, corner *out) {
    int kept = 0;
    for (int i = 0; i < count; i++) {
        const corner *a = &in[i], *b = &in[(i + 1) % count];
        double da = inside(p, a), db = inside(p, b);
        if (da >= 0)
            out[kept++] = *a;
        if (da >= 0 && db < 0)
            out[kept++] = between(a, b, da / (da - db));
        else if (da < 0 && db >= 0)
            out[kept++] = between(b, a, db / (db - da));
    }
    return kept;
}

/* Returns the number of corners left; works in place, polygon has room for MAX_CORNERS. */
static int clip_polygon(const plane planes[PLANE_COUNT], corner *polygon) {
    int count = 3;
    for (int i = 0; i < PLANE_COUNT && count > 0; i++) {
        bool all_inside = true;
        for (int k = 0; k < count; k++)
            all_inside = all_inside && inside(&planes[i], &polygon[k]) >= 0;
        if (all_inside)
            continue;
        corner copy[MAX_CORNERS];
        for (int k = 0; k < count; k++)
            copy[k] = polygon[k];
        count = cut(&planes[i], copy, count, polygon);
    }
    return count;
}

static corner to_camera(const bo_camera *camera, bo_vec3 point) {
    bo_vec3 p = bo_sub(point, camera->eye);
    return (corner){bo_dot(camera->right, p), bo_dot(camera->up, p), bo_dot(camera->forward, p), {0}};
}

/* Completes a face whose corners x, y are given in pixels, and keeps it when it can be seen. */
static bough_status push_face(bough_context *ctx, bo_view *view, bo_face face) {
    const bough_picture_def *def = &view->picture->def;
    double grid = def->samples * BO_SUBPIXEL;
    for (int k = 0; k < 3; k++) {
        face.x[k] = nearbyint(grid * face.x[k]);
        face.y[k] = nearbyint(grid * face.y[k]);
    }
    face.area = (face.x[1] - face.x[0]) * (face.y[2] - face.y[0]) - (face.x[2] - face.x[0]) * (face.y[1] - face.y[0]);
    if (!(face.area != 0) || !isfinite(face.area))
        return BOUGH_OK;
    double top = fmin(face.y[0], fmin(face.y[1], face.y[2])), bottom = fmax(face.y[0], fmax(face.y[1], face.y[2]));
    double left = fmin(face.x[0], fmin(face.x[1], face.x[2])), right = fmax(face.x[0], fmax(face.x[1], face.x[2]));
    if (bottom <= 0 || right <= 0 || top >= grid * def->height || left >= grid * def->width)
        return BOUGH_OK;
    if (face.area < 0) {
        bo_face old = face;
        face.area = -face.area;
        face.x[1] = old.x[2], face.y[1] = old.y[2], face.w[1] = old.w[2];
        face.x[2] = old.x[1], face.y[2] = old.y[1], face.w[2] = old.w[1];
        for (int i = 0; i < 3; i++)
            face.source[1][i] = old.source[2][i], face.source[2][i] = old.source[1][i];
    }
    if (view->face_count >= INT32_MAX || !BO_RESERVE(ctx, view->faces, view->face_capacity, view->face_count + 1))
        return bo_fail_memory(ctx);
    view->faces[view->face_count++] = face;
    return BOUGH_OK;
}

static void place_corner(const bo_camera *camera, bo_face *face, int k, const corner *c) {
    face->x[k] = camera->centre_x + camera->focal * c->x / c->z;
    face->y[k] = camera->centre_y - camera->focal * c->y / c->z;
    face->w[k] = 1 / c->z;
    for (int i = 0; i < 3; i++)
        face->source[k][i] = c->source[i];
}

static bough_status add_triangle(bough_context *ctx, bo_view *view, const plane *planes, int32_t surface, int32_t t) {
    const bo_surface *s = &view->picture->surfaces[surface];
    corner polygon[MAX_CORNERS];
    for (int k = 0; k < 3; k++) {
        int32_t v = s->triangles[3 * (size_t)t + (size_t)k];
        polygon[k] = to_camera(&view->camera, bo_load3(s->vertices + 3 * (size_t)v));
        polygon[k].source[k] = 1;
    }
    int count = clip_polygon(planes, polygon);
    for (int k = 1; k + 1 < count; k++) {
        bo_face face = {.surface = surface, .index = t};
        place_corner(&view->camera, &face, 0, &polygon[0]);
        place_corner(&view->camera, &face, 1, &polygon[k]);
        place_corner(&view->camera, &face, 2, &polygon[k + 1]);
        BO_TRY(push_face(ctx, view, face));
    }
    return BOUGH_OK;
}

/* A flat polygon corner in the plane of the picture. */
typedef struct spot {
    double x, y, w;
} spot;

static bough_status push_spots(bough_context *ctx, bo_view *view, int32_t segment, spot a, spot b, spot c) {
    bo_face face = {.surface = -1, .index = segment, .x = {a.x, b.x, c.x}, .y = {a.y, b.y, c.y}, .w = {a.w, b.w, c.w}};
    return push_face(ctx, view, face);
}

static spot along(spot a, spot b, double t) {
    return (spot){a.x + t * (b.x - a.x), a.y + t * (b.y - a.y), a.w + t * (b.w - a.w)};
}

/* The segment as a quad of its width in pixels, and two triangles more for an arrowhead. 1/depth is affine on the
 * screen, so corners beside the axis take the value on it. */
static bough_status add_stroke(bough_context *ctx, bo_view *view, int32_t index, spot a, spot b, bool head) {
    const bo_segment *s = &view->picture->segments[index];
    double dx = b.x - a.x, dy = b.y - a.y, length = sqrt(dx * dx + dy * dy);
    if (!(length > 1e-6))
        return BOUGH_OK;
    double half = 0.5 * s->width, nx = -dy / length, ny = dx / length;
    spot end = b;
    if (head) {
        double head_length = fmin(length, 4 * s->width + 4), head_half = 0.42 * head_length;
        spot base = along(a, b, 1 - head_length / length);
        spot left = {base.x + head_half * nx, base.y + head_half * ny, base.w};
        spot right = {base.x - head_half * nx, base.y - head_half * ny, base.w};
        BO_TRY(push_spots(ctx, view, index, left, right, b));
        end = base;
    }
    spot corners[4] = {{a.x + half * nx, a.y + half * ny, a.w},
                       {a.x - half * nx, a.y - half * ny, a.w},
                       {end.x - half * nx, end.y - half * ny, end.w},
                       {end.x + half * nx, end.y + half * ny, end.w}};
    BO_TRY(push_spots(ctx, view, index, corners[0], corners[1], corners[2]));
    return push_spots(ctx, view, index, corners[0], corners[2], corners[3]);
}

static bough_status add_segment(bough_context *ctx, bo_view *view, const plane *planes, int32_t index) {
    const bo_segment *s = &view->picture->segments[index];
    const bo_camera *camera = &view->camera;
    corner a = to_camera(camera, s->from), b = to_camera(camera, s->to);
    double start = 0, end = 1;
    for (int i = 0; i < PLANE_COUNT; i++) {
        double da = inside(&planes[i], &a), db = inside(&planes[i], &b);
        if (da < 0 && db < 0)
            return BOUGH_OK;
        if (da < 0)
            start = fmax(start, da / (da - db));
        else if (db < 0)
            end = fmin(end, da / (da - db));
    }
    if (!(start < end))
        return BOUGH_OK;
    corner ends[2] = {between(&a, &b, start), between(&a, &b, end)};
    spot spots[2];
    for (int k = 0; k < 2; k++) {
        bo_face f = {0};
        place_corner(camera, &f, 0, &ends[k]);
        /* a little nearer than it is, so that a line on a surface is seen */
        spots[k] = (spot){f.x[0], f.y[0], s->on_top ? 1e30 : f.w[0] * 1.002};
    }
    return add_stroke(ctx, view, index, spots[0], spots[1], s->arrowhead && end == 1);
}

bough_status bo_view_add_faces(bough_context *ctx, bo_view *view) {
    plane planes[PLANE_COUNT];
    clip_planes(view, planes);
    for (size_t i = 0; i < view->picture->surface_count; i++)
        for (int32_t t = 0; t < view->picture->surfaces[i].triangle_count; t++)
            BO_TRY(add_triangle(ctx, view, planes, (int32_t)i, t));
    for (size_t i = 0; i < view->picture->segment_count; i++)
        BO_TRY(add_segment(ctx, view, planes, (int32_t)i));
    return BOUGH_OK;
}
