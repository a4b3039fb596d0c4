/* Forces from outside, and where the points of the surface are. docs/theory/tree.md, "Forces". */
#include "tree/tree.h"

#include "base/simd.h"
#include "component/surface.h"

#include <math.h>
#include <string.h>

enum { PANEL = 16 };

static const bo_tree_part *part_of(const bough_tree_model *model, int32_t part) {
    return &model->parts[model->inside[part]];
}

bough_status bo_tree_check_present(bough_context *ctx, const bough_tree_model *model, int32_t part) {
    if (part < 0 || part >= model->def.part_count)
        return bo_fail(ctx, BOUGH_ERROR_ARGUMENT, "part %d does not exist: the model has %d", part,
                       model->def.part_count);
    return model->inside[part] >= 0
               ? BOUGH_OK
               : bo_fail(ctx, BOUGH_ERROR_ARGUMENT, "part \"%s\" is absent; add it first", model->def.parts[part].name);
}

static bough_status check_vertex(bough_context *ctx, const bough_tree_model *model, int32_t part, int32_t vertex) {
    BO_TRY(bo_tree_check_present(ctx, model, part));
    int32_t count = model->components[part_of(model, part)->component].c->surface.vertex_count;
    return vertex >= 0 && vertex < count
               ? BOUGH_OK
               : bo_fail(ctx, BOUGH_ERROR_ARGUMENT, "vertex %d does not exist: the surface of part %d has %d", vertex,
                         part, count);
}

/* Position and velocity of a vertex in the axes of its part, from its origin, the frame held still. */
static void local_motion(const bough_tree_model *model, const bough_tree_state *state, const bo_tree_part *part,
                         int32_t vertex, bo_vec3 *x, bo_vec3 *v) {
    const bough_surface *surface = &model->components[part->component].c->surface;
    double at[3], rate[3];
    for (int32_t d = 0; d < 3; d++) {
        at[d] = (double)surface->position[3 * vertex + d], rate[d] = 0;
        for (int32_t l = 0; l < part->r; l++) {
            double u = bo_surface_basis(surface, part->r, 3 * vertex + d, l);
            at[d] += u * state->q[part->offset + l];
            rate[d] += u * state->v[part->offset + l];
        }
    }
    *x = bo_scale(part->scale, bo_load3(at));
    *v = bo_scale(part->scale, bo_load3(rate));
}

static bo_mat3 axes_of(const bough_frame *frame) {
    bo_mat3 R;
    memcpy(R.m, frame->pose.rotation, sizeof R.m);
    return R;
}

/* The wrench [f; x x f] on the frame and s U^T f on the coordinates. */
static void push(const bough_tree_model *model, bough_tree_state *state, int32_t part_number, int32_t vertex,
                 bo_vec3 force) {
    const int32_t i = model->inside[part_number];
    const bo_tree_part *part = &model->parts[i];
    const bough_surface *surface = &model->components[part->component].c->surface;
    bo_vec3 x, v;
    local_motion(model, state, part, vertex, &x, &v);
    double f[3], *wrench = bo_tree_work_of(state)->wrench + 6 * i;
    bo_tree_work_of(state)->pushed = true;
    bo_store3(f, bo_mat_tvec(axes_of(&state->frames[part_number]), force));
    bo_store3(wrench, bo_add(bo_load3(wrench), bo_load3(f)));
    bo_store3(wrench + 3, bo_add(bo_load3(wrench + 3), bo_cross(x, bo_load3(f))));
    for (int32_t l = 0; l < part->r; l++)
        for (int32_t d = 0; d < 3; d++)
            bo_tree_work_of(state)->force[part->offset + l] +=
                part->scale * bo_surface_basis(surface, part->r, 3 * vertex + d, l) * f[d];
}

static bough_status check_vector(bough_context *ctx, const char *what, const double v[3]) {
    return isfinite(v[0]) && isfinite(v[1]) && isfinite(v[2])
               ? BOUGH_OK
               : bo_fail(ctx, BOUGH_NOT_FINITE, "%s is not finite", what);
}

bough_status bough_tree_state_add_force(bough_context *ctx, const bough_tree_model *model, bough_tree_state *state,
                                        int32_t part, int32_t vertex, const double force[3]) {
    model = bo_tree_now(model, state);
    BO_TRY(check_vertex(ctx, model, part, vertex));
    BO_TRY(check_vector(ctx, "a force", force));
    push(model, state, part, vertex, bo_load3(force));
    return BOUGH_OK;
}

/* ---- on a whole surface ---- */

/* Three panels hold whole vertices. */
enum { PANELS = 3, GROUP = PANEL * PANELS / 3 };

/* Numbers on their way through the panels: positions q -> x one way, forces f -> Q the other, in the units of the
 * basis' entries. */
typedef struct {
    double q[BOUGH_MAX_COORDINATES], Q[BOUGH_MAX_COORDINATES];
    double x[PANEL * PANELS], f[PANEL * PANELS]; /* of the group's vertices, in the axes of the part */
} surface_pass;

typedef float floats __attribute__((vector_size(16), aligned(4)));
typedef int16_t shorts __attribute__((vector_size(8), aligned(2)));

/* x += U q and Q += U^T f of one panel; its entries are read once. */
BO_INLINE void pass_panel(const bough_surface *surface, int32_t r, size_t panel, const double *f, double *x,
                          surface_pass *pass) {
    enum { VECTORS = PANEL / 4 };
    bo_v4 X[VECTORS];
    memcpy(X, x, sizeof X);
    for (int32_t l = 0; l < r; l++) {
        const size_t at = (panel * (size_t)r + (size_t)l) * PANEL;
        bo_v4 sum = {0};
        for (size_t k = 0; k < VECTORS; k++) {
            const bo_v4 U = surface->U ? __builtin_convertvector(*(const floats *)(surface->U + at + 4 * k), bo_v4)
                                       : __builtin_convertvector(*(const shorts *)(surface->U16 + at + 4 * k), bo_v4);
            X[k] += U * pass->q[l];
            sum += U * BO_V4_CONST(f + 4 * k);
        }
        pass->Q[l] += (sum[0] + sum[1]) + (sum[2] + sum[3]);
    }
    memcpy(x, X, sizeof X);
}

/* Adds the wrench [f; x x f] of all vertices, x in units of the component, and fills Q. */
BO_MULTIVERSION static void pass_surface(const bough_surface *surface, int32_t r, bo_mat3 R, const float *forces,
                                         surface_pass *pass, double wrench[6]) {
    for (int32_t first = 0; first < surface->vertex_count; first += GROUP) {
        const int32_t left = surface->vertex_count - first, count = left < GROUP ? left : GROUP;
        const size_t start = 3 * (size_t)first, end = 3 * (size_t)count;
        memset(pass->f, 0, sizeof pass->f);
        memset(pass->x, 0, sizeof pass->x);
        for (size_t k = 0; k < end; k += 3) {
            const float *f = forces + start + k;
            bo_store3(pass->f + k, bo_mat_tvec(R, (bo_vec3){(double)f[0], (double)f[1], (double)f[2]}));
        }
        for (size_t k = 0; k < end; k++)
            pass->x[k] = (double)surface->position[start + k];
        for (size_t at = 0; at < end; at += PANEL)
            pass_panel(surface, r, (start + at) / PANEL, pass->f + at, pass->x + at, pass);
        for (size_t k = 0; k < end; k += 3) {
            const bo_vec3 f = bo_load3(pass->f + k);
            bo_store3(wrench, bo_add(bo_load3(wrench), f));
            bo_store3(wrench + 3, bo_add(bo_load3(wrench + 3), bo_cross(bo_load3(pass->x + k), f)));
        }
    }
}

static bool all_finite(size_t count, const float *x) {
    float sum = 0;
    for (size_t k = 0; k < count; k++)
        sum += x[k] * 0; /* 0, or NAN */
    return sum == 0;
}

bough_status bough_tree_state_add_surface_forces(bough_context *ctx, const bough_tree_model *model,
                                                 bough_tree_state *state, int32_t part, const float *forces) {
    model = bo_tree_now(model, state);
    BO_TRY(bo_tree_check_present(ctx, model, part));
    const int32_t i = model->inside[part];
    const bo_tree_part *p = &model->parts[i];
    const bough_surface *surface = &model->components[p->component].c->surface;
    if (!all_finite(3 * (size_t)surface->vertex_count, forces))
        return bo_fail(ctx, BOUGH_NOT_FINITE, "a force on the surface of part %d is not finite", part);
    surface_pass pass;
    double sum[6] = {0}, *wrench = bo_tree_work_of(state)->wrench + 6 * i;
    for (int32_t l = 0; l < p->r; l++) {
        pass.q[l] = state->q[p->offset + l] * (surface->U ? 1 : (double)surface->scale[l]);
        pass.Q[l] = 0;
    }
    pass_surface(surface, p->r, axes_of(&state->frames[part]), forces, &pass, sum);
    for (int d = 0; d < 3; d++) {
        wrench[d] += sum[d];
        wrench[3 + d] += p->scale * sum[3 + d];
    }
    for (int32_t l = 0; l < p->r; l++)
        bo_tree_work_of(state)->force[p->offset + l] +=
            p->scale * (surface->U ? 1 : (double)surface->scale[l]) * pass.Q[l];
    bo_tree_work_of(state)->pushed = true;
    return BOUGH_OK;
}

/* ---- on a frame ---- */

bough_status bough_tree_state_add_wrench(bough_context *ctx, const bough_tree_model *model, bough_tree_state *state,
                                         int32_t part, const double force[3], const double torque[3]) {
    model = bo_tree_now(model, state);
    BO_TRY(bo_tree_check_present(ctx, model, part));
    BO_TRY(check_vector(ctx, "a force", force));
    BO_TRY(check_vector(ctx, "a torque", torque));
    double *wrench = bo_tree_work_of(state)->wrench + 6 * model->inside[part];
    bo_tree_work_of(state)->pushed = true;
    bo_mat3 R = axes_of(&state->frames[part]);
    bo_store3(wrench, bo_add(bo_load3(wrench), bo_mat_tvec(R, bo_load3(force))));
    bo_store3(wrench + 3, bo_add(bo_load3(wrench + 3), bo_mat_tvec(R, bo_load3(torque))));
    return BOUGH_OK;
}

bough_status bough_tree_state_add_joint_torque(bough_context *ctx, const bough_tree_model *model,
                                               bough_tree_state *state, int32_t part, const double torque[3]) {
    model = bo_tree_now(model, state);
    BO_TRY(bo_tree_check_present(ctx, model, part));
    BO_TRY(check_vector(ctx, "a torque", torque));
    const int32_t j = part_of(model, part)->joint;
    if (j < 0)
        return bo_fail(ctx, BOUGH_ERROR_ARGUMENT, "part \"%s\" does not hang by a joint", model->def.parts[part].name);
    bo_tree_work_of(state)->pushed = true;
    for (int32_t d = 0; d < model->joints[j].count; d++)
        bo_tree_work_of(state)->force[model->joints[j].offset + d] += torque[d];
    return BOUGH_OK;
}

/* ---- where vertices are ---- */

/* Position and velocity of a vertex in the world. */
static void world_motion(const bough_tree_model *model, const bough_tree_state *state, int32_t part, int32_t vertex,
                         bo_vec3 *at, bo_vec3 *rate) {
    const bough_frame *frame = &state->frames[part];
    bo_vec3 x, v;
    local_motion(model, state, part_of(model, part), vertex, &x, &v);
    bo_mat3 R = axes_of(frame);
    bo_vec3 arm = bo_mat_vec(R, x);
    *at = bo_add(bo_load3(frame->pose.position), arm);
    *rate =
        bo_add(bo_add(bo_load3(frame->velocity), bo_cross(bo_load3(frame->angular_velocity), arm)), bo_mat_vec(R, v));
}

bough_status bough_tree_state_vertex(bough_context *ctx, const bough_tree_model *model, const bough_tree_state *state,
                                     int32_t part, int32_t vertex, double position[3], double velocity[3]) {
    model = bo_tree_now(model, state);
    bo_vec3 at, rate;
    BO_TRY(check_vertex(ctx, model, part, vertex));
    world_motion(model, state, part, vertex, &at, &rate);
    bo_store3(position, at);
    bo_store3(velocity, rate);
    return BOUGH_OK;
}

bough_status bough_tree_state_pull(bough_context *ctx, const bough_tree_model *model, bough_tree_state *state,
                                   int32_t part, int32_t vertex, const double target[3], double stiffness,
                                   double damping) {
    model = bo_tree_now(model, state);
    BO_TRY(check_vertex(ctx, model, part, vertex));
    BO_TRY(check_vector(ctx, "a target", target));
    if (!(stiffness >= 0 && damping >= 0 && isfinite(stiffness + damping)))
        return bo_fail(ctx, BOUGH_ERROR_ARGUMENT, "stiffness and damping of a pull must not be negative");
    bo_vec3 at, rate;
    double force[3];
    world_motion(model, state, part, vertex, &at, &rate);
    bo_store3(force, bo_sub(bo_scale(stiffness, bo_sub(bo_load3(target), at)), bo_scale(damping, rate)));
    BO_TRY(check_vector(ctx, "the force of a pull", force));
    push(model, state, part, vertex, bo_load3(force));
    return BOUGH_OK;
}

void bough_tree_state_clear_forces(const bough_tree_model *model, bough_tree_state *state) {
    model = bo_tree_now(model, state);
    if (!bo_tree_work_of(state)->pushed)
        return;
    bo_tree_work_of(state)->pushed = false;
    memset(bo_tree_work_of(state)->force, 0, (size_t)model->size * sizeof(double));
    memset(bo_tree_work_of(state)->wrench, 0, 6 * (size_t)model->part_count * sizeof(double));
}

bough_status bough_tree_state_positions(bough_context *ctx, const bough_tree_model *model,
                                        const bough_tree_state *state, int32_t part, float *positions) {
    model = bo_tree_now(model, state);
    BO_TRY(bo_tree_check_present(ctx, model, part));
    const bo_tree_part *p = part_of(model, part);
    const bough_component *c = model->components[p->component].c;
    const bough_frame *frame = &state->frames[part];
    bough_component_surface_positions(c, state->q + p->offset, positions);
    float R[9], origin[3];
    for (int k = 0; k < 9; k++)
        R[k] = (float)(p->scale * frame->pose.rotation[k]);
    for (int k = 0; k < 3; k++)
        origin[k] = (float)frame->pose.position[k];
    for (int32_t v = 0; v < c->surface.vertex_count; v++) {
        float *x = positions + 3 * (size_t)v, y[3] = {x[0], x[1], x[2]};
        for (int k = 0; k < 3; k++)
            x[k] = origin[k] + R[3 * k] * y[0] + R[3 * k + 1] * y[1] + R[3 * k + 2] * y[2];
    }
    return BOUGH_OK;
}
