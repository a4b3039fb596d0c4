/* Light on surfaces: a key light, a hemisphere of sky and ground, a faint rim, all in linear light. */
#include "record/picture.h"

#include <math.h>

static float clamp01(double t) {
    return (float)(t < 0 ? 0 : t > 1 ? 1 : t);
}

double bo_ground_depth(const bo_view *view, double x, double y) {
    if (!view->ground)
        return 0;
    /* up . (eye + z ray) = height; the eye is above the ground */
    double fall = -bo_dot(view->up, bo_camera_ray(&view->camera, x, y));
    double height = bo_dot(view->up, view->camera.eye) - view->ground_height;
    return fall > 0 ? fall / height : 0;
}

static bo_rgb gradient(const bo_view *view, double y) {
    return bo_rgb_mix(view->background_top, view->background_bottom, clamp01(y / view->picture->def.height));
}

/* The ground has the colour of the background, a little lit around the scene, and takes its shadows. */
bo_rgb bo_shade_background(const bo_view *view, double x, double y) {
    bo_rgb base = gradient(view, y);
    double w = bo_ground_depth(view, x, y);
    if (!(w > 0))
        return base;
    bo_vec3 point = bo_mul_add(view->camera.eye, 1 / w, bo_camera_ray(&view->camera, x, y));
    bo_vec3 centre = bo_scale(0.5, bo_add(view->bounds.lower, view->bounds.upper));
    bo_vec3 away = bo_sub(point, centre);
    double distance = bo_norm(bo_mul_add(away, -bo_dot(away, view->up), view->up)) / view->bounds.size;
    float pool = (float)(1 / (1 + 0.6 * distance * distance));
    /* towards white, but dark ground stays dark */
    const bo_rgb lit = {fminf(1, 2.5f * base.r), fminf(1, 2.5f * base.g), fminf(1, 2.5f * base.b)};
    base = bo_rgb_mix(base, lit, 0.55f * pool);
    float key, contact, strength = (float)view->picture->def.shadow;
    bo_shadow_at(&view->shadow, point, &key, &contact);
    float light = (1 - 0.62f * strength * key) * (1 - 0.62f * strength * contact);
    /* shadows are lit by the sky only, so they are slightly blue */
    bo_rgb tint = {light, light + 0.012f * (1 - light), light + 0.05f * (1 - light)};
    return (bo_rgb){base.r * tint.r, base.g * tint.g, base.b * tint.b};
}

/* Barycentric coordinates in the source triangle at a place in the picture: affine weights on the screen, divided by
 * depth (perspective), times the corners' own coordinates. */
static void source_at(const bo_view *view, const bo_face *f, double x, double y, double source[3]) {
    double grid = view->picture->def.samples * BO_SUBPIXEL, px = grid * x, py = grid * y, weights[3], sum = 0;
    for (int k = 0; k < 3; k++) {
        int a = (k + 1) % 3, b = (k + 2) % 3;
        double e = (f->x[b] - f->x[a]) * (py - f->y[a]) - (f->y[b] - f->y[a]) * (px - f->x[a]);
        weights[k] = e * f->w[k];
        sum += weights[k];
    }
    for (int i = 0; i < 3; i++)
        source[i] = (weights[0] * f->source[0][i] + weights[1] * f->source[1][i] + weights[2] * f->source[2][i]) / sum;
}

static bo_vec3 mix_points(const double b[3], bo_vec3 p0, bo_vec3 p1, bo_vec3 p2) {
    return bo_mul_add(bo_mul_add(bo_scale(b[0], p0), b[1], p1), b[2], p2);
}

static bo_vec3 load_normal(const float *n) {
    return bo_v3(n[0], n[1], n[2]);
}

/* Returns how much of the edge colour is seen: from the distance to each drawn edge in pixels, b_k / |grad b_k|. Edges
 * of triangles that are hardly wider than the line fade out instead of blackening the surface. */
static float edge_cover(const bo_view *view, const bo_surface *s, const bo_face *f, double x, double y,
                        const double b[3]) {
    static const int opposite[3] = {2, 0, 1}; /* of the edges 01 12 20 */
    double right[3], below[3];
    float cover = 0;
    source_at(view, f, x + 0.5, y, right);
    source_at(view, f, x, y + 0.5, below);
    for (int e = 0; e < 3; e++) {
        int k = opposite[e];
        if (!(s->edge_mask[f->index] & (1 << e)))
            continue;
        double gx = 2 * (right[k] - b[k]), gy = 2 * (below[k] - b[k]), slope = sqrt(gx * gx + gy * gy);
        double distance = b[k] / slope, tall = 1 / slope;
        float fade = clamp01((tall / s->edge_width - 2) / 5);
        float c = fade * clamp01(0.5 * s->edge_width + 0.5 - distance);
        cover = c > cover ? c : cover;
    }
    return 0.8f * cover;
}

/* Leaves dark and middle tones alone and brings 0.7 .. infinity smoothly into 0.7 .. 1, so that highlights keep form.
 */
static float shoulder(float light) {
    return light <= 0.7f ? light : 1 - 0.09f / (light - 0.4f);
}

/* Diffuse key light, sky and ground light, highlight and rim for albedo `colour` at a point with normal n (towards the
 * viewer) seen from direction v. */
static bo_rgb lit(const bo_view *view, bo_rgb colour, double gloss, bo_vec3 point, bo_vec3 n, bo_vec3 facet,
                  bo_vec3 v) {
    static const bo_rgb key_colour = {1.0f, 0.975f, 0.93f}, sky_colour = {0.86f, 0.93f, 1.0f};
    static const bo_rgb floor_colour = {0.62f, 0.60f, 0.57f}, white = {1, 1, 1};
    float key_seen = 1, sky_seen = 1, contact_key = 0, contact = 0;
    bo_visible_light(view, point, n, facet, &key_seen, &sky_seen);
    if (view->ground)
        bo_shadow_at(&view->shadow, point, &contact_key, &contact);
    double nl = bo_dot(n, view->light), nu = bo_dot(n, view->up), nv = bo_dot(n, v);
    float key = 0.80f * clamp01((nl + 0.08) / 1.08) * key_seen;
    float upward = (float)(0.5 + 0.5 * nu);
    bo_rgb ambient = bo_rgb_scale(0.48f * upward * (0.25f + 0.75f * sky_seen), sky_colour);
    float bounce = (1 - upward) * (1 - 0.8f * contact) * (0.4f + 0.6f * sky_seen);
    ambient = bo_rgb_add(ambient, 0.36f * bounce, floor_colour);
    bo_rgb light = bo_rgb_add(ambient, key, key_colour);
    bo_rgb out = {colour.r * light.r, colour.g * light.g, colour.b * light.b};
    bo_vec3 h = bo_normalize(bo_add(view->light, v));
    double shine = pow(fmax(0, bo_dot(n, h)), 12 + 80 * gloss) * (nl > 0) * clamp01(4 * nl);
    out = bo_rgb_add(out, (float)(0.28 * gloss * shine) * key_seen, key_colour);
    double rim = pow(1 - fabs(nv), 4);
    out = bo_rgb_add(out, (float)(0.06 * rim) * upward * sky_seen, white);
    return (bo_rgb){shoulder(out.r), shoulder(out.g), shoulder(out.b)};
}

bo_rgb bo_shade_face(const bo_view *view, const bo_face *f, double x, double y) {
    if (f->surface < 0)
        return view->picture->segments[f->index].colour;
    const bo_surface *s = &view->picture->surfaces[f->surface];
    const int32_t *t = s->triangles + 3 * (size_t)f->index;
    const float *normals = s->corner_normals + 9 * (size_t)f->index;
    double b[3];
    source_at(view, f, x, y, b);
    bo_vec3 p0 = bo_load3(s->vertices + 3 * (size_t)t[0]), p1 = bo_load3(s->vertices + 3 * (size_t)t[1]);
    bo_vec3 p2 = bo_load3(s->vertices + 3 * (size_t)t[2]), point = mix_points(b, p0, p1, p2);
    bo_vec3 n = bo_normalize(mix_points(b, load_normal(normals), load_normal(normals + 3), load_normal(normals + 6)));
    bo_vec3 facet = bo_normalize(bo_cross(bo_sub(p1, p0), bo_sub(p2, p0)));
    bo_vec3 v = bo_normalize(bo_sub(view->camera.eye, point));
    if (bo_dot(facet, v) < 0) /* both sides are lit alike */
        n = bo_scale(-1, n), facet = bo_scale(-1, facet);
    bo_rgb colour = s->colour;
    if (s->colours) {
        colour = bo_rgb_scale((float)b[0], s->colours[t[0]]);
        colour = bo_rgb_add(colour, (float)b[1], s->colours[t[1]]);
        colour = bo_rgb_add(colour, (float)b[2], s->colours[t[2]]);
    }
    bo_rgb light = lit(view, colour, s->gloss, point, n, facet, v);
    return s->edge_mask ? bo_rgb_mix(light, s->edge_colour, edge_cover(view, s, f, x, y, b)) : light;
}
