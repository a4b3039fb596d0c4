/* How far interfaces are from rigid under what hangs there. docs/theory/reduction.md, "Interfaces that deform". */
#include "reduce/basis.h"

#include <string.h>

/* Weight of what hangs at an interface (force, torque about its centre) for the acceleration g. Where nothing is known,
 * that of a point as heavy as the body. */
static void weigh(const bo_cook *cook, int32_t index, bo_vec3 g, double wrench[6]) {
    const bough_interface_def *def = &cook->def->interfaces[index];
    bo_store3(wrench, bo_scale(def->has_load ? def->load.mass : cook->draft.mass, g));
    bo_store3(wrench + 3, def->has_load ? bo_cross(bo_load3(def->load.moment), g) : bo_v3(0, 0, 0));
}

static void add_wrench(const bough_interface *face, const double *Q, const double wrench[6], double *f) {
    for (size_t k = 0; k < 3 * (size_t)face->vertex_count; k++)
        for (size_t d = 0; d < 6; d++)
            f[3 * (size_t)face->vertices[k / 3] + k % 3] += Q[6 * k + d] * wrench[d];
}

/* The best rigid motion of the interface, Q^T u; returns the rms departure from it over the rms motion. */
static double departure(const bo_cook *cook, const bough_interface *face, const double *Q, const double *u,
                        double motion[6]) {
    const double *X = cook->body->mesh->vertices;
    bo_vec3 centre = {0, 0, 0};
    double off = 0, size = 0;
    memset(motion, 0, 6 * sizeof *motion);
    for (size_t k = 0; k < (size_t)face->vertex_count; k++) {
        const size_t at = 3 * (size_t)face->vertices[k];
        centre = bo_mul_add(centre, face->weights[k], bo_load3(X + at));
        for (size_t d = 0; d < 18; d++)
            motion[d % 6] += Q[18 * k + d] * u[at + d / 6];
    }
    for (size_t k = 0; k < (size_t)face->vertex_count; k++) {
        const size_t at = 3 * (size_t)face->vertices[k];
        const bo_vec3 d = bo_sub(bo_load3(X + at), centre), moved = bo_load3(u + at);
        const bo_vec3 e = bo_sub(bo_sub(moved, bo_load3(motion)), bo_cross(bo_load3(motion + 3), d));
        off += face->weights[k] * bo_dot(e, e);
        size += face->weights[k] * bo_dot(moved, moved);
    }
    return size > 0 ? sqrt(off / size) : 0;
}

/* Those that something hangs at, or where something may when nothing is known. */
static bool is_loaded(const bo_cook *cook, int32_t index) {
    return index != cook->def->parent && (cook->load_count == 0 || cook->def->interfaces[index].has_load);
}

/* Of several interfaces, those where less than this part of the work of the busiest is done do not matter: leaves near
 * the end by which a twig is held hardly move. */
#define LEAST_WORK 0.1

/* What the weight along g of what hangs there does, u being the response. */
static double work_at(const bo_cook *cook, int32_t index, bo_vec3 g, const double motion[6]) {
    double wrench[6], work = 0;
    weigh(cook, index, g, wrench);
    for (int d = 0; d < 6; d++)
        work += wrench[d] * motion[d];
    return work;
}

/* The worst departure in the response u to weights along g. */
static void find_worst(bo_cook *cook, double *const *Q, bo_vec3 g, const double *u) {
    double *worst = &cook->draft.quality.interface_softness, motion[6], most = 0;
    for (int32_t i = 0; i < cook->def->interface_count; i++)
        if (Q[i]) {
            departure(cook, &cook->interfaces[i], Q[i], u, motion);
            most = fmax(most, work_at(cook, i, g, motion));
        }
    for (int32_t i = 0; i < cook->def->interface_count; i++) {
        if (!Q[i])
            continue;
        double found = departure(cook, &cook->interfaces[i], Q[i], u, motion);
        if (work_at(cook, i, g, motion) < LEAST_WORK * most)
            found = 0;
        if (!(found <= *worst)) { /* which was not measured at first */
            *worst = found;
            cook->softest = i;
        }
    }
}

static bough_status measure(bo_cook *cook, double *const *Q, double *f, double *u) {
    for (int d = 0; d < 3; d++) {
        const double g[3] = {d == 0, d == 1, d == 2};
        memset(f, 0, (size_t)cook->n * sizeof *f);
        bo_body_gravity_force(cook->body, g, f);
        for (int32_t i = 0; i < cook->def->interface_count; i++) {
            double wrench[6];
            weigh(cook, i, bo_load3(g), wrench);
            if (Q[i])
                add_wrench(&cook->interfaces[i], Q[i], wrench, f);
        }
        BO_TRY(bo_cook_solve(cook, f, u, 1));
        find_worst(cook, Q, bo_load3(g), u);
    }
    return BOUGH_OK;
}

bough_status bo_cook_rigidity(bo_cook *cook) {
    bough_context *ctx = cook->ctx;
    const size_t n = (size_t)cook->n;
    const int32_t count = cook->def->interface_count;
    double *f = BO_NEW_ARRAY(ctx, double, 2 * n), **Q = BO_NEW_ZEROS(ctx, double *, count);
    bough_status status = f && Q ? BOUGH_OK : BOUGH_ERROR_MEMORY;
    bool any = false;
    for (int32_t i = 0; i < count && status == BOUGH_OK; i++) {
        if (!is_loaded(cook, i))
            continue;
        any = true;
        Q[i] = BO_NEW_ARRAY(ctx, double, 18 * (size_t)cook->interfaces[i].vertex_count);
        status = Q[i] ? bo_cook_rigid_fit(cook, i, Q[i]) : BOUGH_ERROR_MEMORY;
    }
    any = any && (!cook->rigid || cook->mode_count > 0);
    if (status == BOUGH_OK && any) /* of a free body by the same factor, also when its basis was found from before */
        status = bo_cook_lower_shift(cook);
    bo_cook_clock(cook, BOUGH_COOK_QUALITY);
    if (status == BOUGH_OK && any)
        status = measure(cook, Q, f, f + n);
    for (int32_t i = 0; Q && i < count; i++)
        bo_free(ctx, Q[i]);
    bo_free(ctx, Q);
    bo_free(ctx, f);
    return status;
}
