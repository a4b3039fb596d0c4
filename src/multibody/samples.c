/* Points of a part's surface that touch: x = c + R (X + U q), bent as the part is. docs/theory/contact.md, "Multibody
 * systems". */
#include "multibody/multibody.h"

#include "base/pose.h"

/* ---- making ---- */

static bo_vec3 rest_of(const bo_mb_samples *s, int32_t i) {
    return bo_load3(s->component->contact.position + 3 * (size_t)i);
}

/* A box around them gives the centre. */
static void find_sphere(bo_mb_samples *s) {
    bo_vec3 lower = rest_of(s, 0), upper = lower;
    for (int32_t i = 1; i < s->count; i++) {
        const bo_vec3 x = rest_of(s, i);
        lower = bo_v3(fmin(lower.x, x.x), fmin(lower.y, x.y), fmin(lower.z, x.z));
        upper = bo_v3(fmax(upper.x, x.x), fmax(upper.y, x.y), fmax(upper.z, x.z));
    }
    const bo_vec3 middle = bo_scale(0.5, bo_add(lower, upper));
    for (int32_t i = 0; i < s->count; i++)
        s->radius = fmax(s->radius, bo_norm(bo_sub(rest_of(s, i), middle)));
    s->centre = bo_se3_apply(s->clamp, middle);
}

static bo_vec3 column_of(const bo_mb_samples *s, int32_t i, int32_t l) {
    const double *U = s->component->contact.U + (size_t)s->r * 3 * (size_t)i + l;
    return bo_v3(U[0], U[s->r], U[2 * (size_t)s->r]);
}

static void find_most(bo_mb_samples *s) {
    for (int32_t l = 0; l < s->r; l++)
        for (int32_t i = 0; i < s->count; i++)
            s->most[l] = fmax(s->most[l], bo_norm(column_of(s, i, l)));
}

/* In full order samples are the nearest vertices of the mesh that are on the surface. */
static void find_vertices(bo_mb_samples *s) {
    const bough_surface *surface = &s->component->surface;
    for (int32_t i = 0; i < s->count; i++) {
        double least = INFINITY;
        for (int32_t v = 0; v < surface->vertex_count; v++) {
            const float *x = surface->position + 3 * (size_t)v;
            const double d = bo_norm(bo_sub(bo_v3((double)x[0], (double)x[1], (double)x[2]), rest_of(s, i)));
            if (surface->mesh_vertex[v] >= 0 && d < least)
                least = d, s->vertices[i] = surface->mesh_vertex[v];
        }
    }
}

bough_status bo_mb_samples_make(bough_context *ctx, const bough_multibody *model, int32_t body, int32_t part,
                                const bough_component *component, bo_mb_samples *s) {
    const bool full = part >= 0 && model->parts[part].full;
    const int32_t count = component->contact.count;
    *s =
        (bo_mb_samples){.component = component, .body = body, .part = part, .count = count, .clamp = bo_se3_identity()};
    if (count == 0)
        return bo_fail(ctx, BOUGH_ERROR_ARGUMENT,
                       "its component has no contact samples: cook it with \"samples\": {\"contact\": 100}");
    if (part >= 0) {
        s->r = full ? 0 : model->parts[part].r;
        if (model->def.parts[part].clamp.body < model->def.body_count)
            s->clamp = bo_pose(&model->def.parts[part].clamp.pose);
    }
    find_sphere(s);
    if (full && !(s->vertices = BO_NEW_ZEROS(ctx, int32_t, count)))
        return bo_fail_memory(ctx);
    if (!full && !(s->most = BO_NEW_ZEROS(ctx, double, s->r)))
        return bo_fail_memory(ctx);
    if (full)
        find_vertices(s);
    else
        find_most(s);
    return BOUGH_OK;
}

void bo_mb_samples_free(bough_context *ctx, bo_mb_samples *s) {
    bo_free(ctx, s->most);
    bo_free(ctx, s->vertices);
    bo_free(ctx, s->now);
}

/* ---- where they are ---- */

static bo_se3 pose_of(int32_t body, const double *u) {
    if (body < 0)
        return bo_se3_identity();
    u += 7 * (ptrdiff_t)body;
    return (bo_se3){bo_quat_to_matrix((bo_quat){u[3], u[4], u[5], u[6]}), bo_load3(u)};
}
static bo_twist twist_of(int32_t body, const double *v) {
    v += 6 * (ptrdiff_t)(body < 0 ? 0 : body);
    return body < 0 ? (bo_twist){0} : (bo_twist){bo_load3(v), bo_load3(v + 3)};
}

/* U q in the component's axes; q: of the part. */
static bo_vec3 bend_of(const bo_mb_samples *s, int32_t i, const double *q) {
    bo_vec3 x = {0, 0, 0};
    if (s->vertices)
        return bo_load3(q + 3 * (ptrdiff_t)s->vertices[i]);
    for (int32_t l = 0; l < s->r; l++)
        x = bo_mul_add(x, q[l], column_of(s, i, l));
    return x;
}

static const double *coordinates_of(const bough_multibody *model, const bo_mb_samples *s, const double *u) {
    return s->part < 0 ? u : u + model->parts[s->part].first + model->body_count;
}
static const double *rates_of(const bough_multibody *model, const bo_mb_samples *s, const double *v) {
    return s->part < 0 ? v : v + model->parts[s->part].first;
}

/* From the body's origin, in the world's axes. */
static bo_vec3 arm_of(const bo_mb_samples *s, bo_mat3 R, int32_t i, const double *q) {
    return bo_mat_vec(R, bo_se3_apply(s->clamp, bo_add(rest_of(s, i), bend_of(s, i, q))));
}

void bo_mb_samples_points(const bough_multibody *model, const bo_mb_samples *s, const double *u, const double *v,
                          double *positions, double *velocities) {
    const bo_se3 g = pose_of(s->body, u);
    const bo_twist t = twist_of(s->body, v);
    const bo_mat3 Q = bo_mat_mul(g.R, s->clamp.R);
    const double *q = coordinates_of(model, s, u), *rates = rates_of(model, s, v);
    for (int32_t i = 0; i < s->count; i++) {
        const bo_vec3 arm = arm_of(s, g.R, i, q), bends = bo_mat_vec(Q, bend_of(s, i, rates));
        bo_store3(positions + 3 * (ptrdiff_t)i, bo_add(g.t, arm));
        bo_store3(velocities + 3 * (ptrdiff_t)i, bo_add(bo_add(t.v, bo_cross(t.w, arm)), bends));
    }
}

/* r0 + sum |q_l| rho_l; in full order the longest way of a sample. */
static double most_of(const bo_mb_samples *s, const double *q) {
    double most = 0;
    for (int32_t l = 0; l < s->r; l++)
        most += fabs(q[l]) * s->most[l];
    for (int32_t i = 0; s->vertices && i < s->count; i++)
        most = fmax(most, bo_norm(bend_of(s, i, q)));
    return most;
}

void bo_mb_samples_sphere(const bough_multibody *model, const bo_mb_samples *s, const double *u, const double *v,
                          bo_vec3 *centre, double *radius, double *speed) {
    const bo_se3 g = pose_of(s->body, u);
    const bo_twist t = twist_of(s->body, v);
    const bo_vec3 arm = bo_mat_vec(g.R, s->centre);
    *centre = bo_add(g.t, arm);
    *radius = s->radius + most_of(s, coordinates_of(model, s, u));
    *speed = bo_norm(bo_add(t.v, bo_cross(t.w, arm))) + bo_norm(t.w) * *radius + most_of(s, rates_of(model, s, v));
}

/* ---- rows ---- */

/* d . (v + w x r), of the body. rows: of one direction. */
static void add_arm(const bo_mb_samples *s, bo_vec3 arm, bo_vec3 d, double sign, double *rows) {
    if (s->body < 0)
        return;
    double *to = rows + 6 * (ptrdiff_t)s->body;
    bo_store3(to, bo_mul_add(bo_load3(to), sign, d));
    bo_store3(to + 3, bo_mul_add(bo_load3(to + 3), sign, bo_cross(arm, d)));
}

/* own . U q', own in the component's axes. */
static void add_bends(const bough_multibody *model, const bo_mb_samples *s, int32_t sample, bo_vec3 own, double *rows) {
    double *bends = s->part < 0 ? NULL : rows + model->parts[s->part].first;
    for (int32_t l = 0; l < s->r; l++)
        bends[l] += bo_dot(own, column_of(s, sample, l));
    if (s->vertices)
        bo_store3(bends + 3 * (ptrdiff_t)s->vertices[sample],
                  bo_add(bo_load3(bends + 3 * (ptrdiff_t)s->vertices[sample]), own));
}

/* d . (v + w x r + Q U q') */
void bo_mb_samples_rows(const bough_multibody *model, const bo_mb_samples *s, const double *u, int32_t sample,
                        const double directions[9], double sign, double *rows) {
    const bo_se3 g = pose_of(s->body, u);
    const bo_mat3 Q = bo_mat_mul(g.R, s->clamp.R);
    const bo_vec3 arm = arm_of(s, g.R, sample, coordinates_of(model, s, u));
    for (int i = 0; i < 3; i++, rows += model->nv) {
        const bo_vec3 d = bo_load3(directions + 3 * i);
        add_arm(s, arm, d, sign, rows);
        add_bends(model, s, sample, bo_scale(sign, bo_mat_tvec(Q, d)), rows);
    }
}

/* ---- the surface between them ---- */

bough_status bo_mb_samples_field(bough_context *ctx, const bough_component *component, bo_field **field) {
    const bough_surface *surface = &component->surface;
    *field = NULL;
    double *vertices = BO_NEW_ARRAY(ctx, double, 3 * (size_t)surface->vertex_count);
    if (!vertices)
        return bo_fail_memory(ctx);
    for (size_t k = 0; k < 3 * (size_t)surface->vertex_count; k++)
        vertices[k] = (double)surface->position[k];
    const bough_status status =
        bo_field_create(ctx, surface->vertex_count, vertices, surface->triangle_count, surface->triangles,
                        component->contact.count, component->contact.position, 0, field);
    bo_free(ctx, vertices);
    return status;
}

void bo_mb_samples_bend(const bough_multibody *model, bo_mb_samples *s, const double *u) {
    const double between = 1.2; /* places between samples may move a little further than these */
    const double *q = coordinates_of(model, s, u);
    s->bend = between * most_of(s, q);
    for (int32_t i = 0; i < s->count; i++)
        bo_store3(s->now + 3 * (ptrdiff_t)i, bo_add(rest_of(s, i), bend_of(s, i, q)));
}

bool bo_mb_samples_near(const bo_mb_samples *s, const double *u, bo_vec3 x, double within, bough_contact_near *near) {
    const bo_se3 g = bo_se3_mul(pose_of(s->body, u), s->clamp);
    bo_field_touch touch;
    if (!bo_field_gap(s->field, s->now, s->bend, bo_se3_apply(bo_se3_inverse(g), x), within, &touch))
        return false;
    near->gap = touch.gap, near->point_count = touch.sample_count;
    bo_store3(near->normal, bo_mat_vec(g.R, touch.normal));
    for (int32_t k = 0; k < touch.sample_count; k++)
        near->points[k] = touch.samples[k], near->weights[k] = touch.weights[k];
    return true;
}
_Static_assert((int)BO_FIELD_MOST == (int)BOUGH_CONTACT_MOST_NEAR, "what a field finds must fit");

/* The body's motion is that of the point itself, so that equal and opposite forces there have no torque on both parts
 * together, whatever the weights; these say only how the part bends. */
void bo_mb_samples_near_rows(const bough_multibody *model, const bo_mb_samples *s, const double *u,
                             const bough_contact_near *near, bo_vec3 x, const double directions[9], double sign,
                             double *rows) {
    const bo_se3 g = pose_of(s->body, u);
    const bo_mat3 Q = bo_mat_mul(g.R, s->clamp.R);
    for (int i = 0; i < 3; i++, rows += model->nv) {
        const bo_vec3 d = bo_load3(directions + 3 * i), own = bo_mat_tvec(Q, d);
        add_arm(s, bo_sub(x, g.t), d, sign, rows);
        for (int32_t k = 0; k < near->point_count; k++)
            add_bends(model, s, near->points[k], bo_scale(sign * near->weights[k], own), rows);
    }
}
