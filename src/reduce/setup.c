/* Before the basis: supports, origin, masses, the stiffness at rest and the ways to multiply and solve with them. */
#include "reduce/cook.h"

#include "dense/symmetric_eigen.h"
#include "mesh/mesh.h"

#include <string.h>

/* Right-hand sides solved at once: enough to read the factor rarely, few enough to stay small. */
#define SOLVE_AT_ONCE 16

/* ---- supports ---- */

/* Marks what the component's parent interface holds, or without one the supports of the load case. Vertices in no
 * element are always held. */
static void mark_held(bo_cook *cook) {
    const bool hangs = cook->def->parent >= 0;
    const bough_interface *face = hangs ? &cook->interfaces[cook->def->parent] : NULL;
    memcpy(cook->held, hangs ? cook->body->free_case->fixed : cook->load_case->fixed, (size_t)cook->n);
    for (int32_t i = 0; hangs && i < face->vertex_count; i++)
        for (size_t d = 0; d < 3; d++)
            cook->held[3 * (size_t)face->vertices[i] + d] = 1;
    for (int32_t i = 0; i < cook->n; i++)
        cook->held_count += cook->held[i];
}

static bool anything_fixed(const bo_cook *cook) {
    for (int32_t i = 0; i < cook->n; i++)
        if (cook->held[i] && cook->body->used[i / 3])
            return true;
    return false;
}

static bough_status support(bo_cook *cook) {
    bough_context *ctx = cook->ctx;
    int32_t loose, parent = cook->def->parent;
    cook->draft.parent = parent;
    mark_held(cook);
    cook->draft.support = parent >= 0            ? BOUGH_SUPPORT_INTERFACE
                          : anything_fixed(cook) ? BOUGH_SUPPORT_FIXED
                                                 : BOUGH_SUPPORT_FREE;
    BO_TRY(bo_body_rigid_motions(ctx, cook->body, cook->held, &loose));
    if (cook->draft.support == BOUGH_SUPPORT_FREE && loose > 6)
        return bo_fail(ctx, BOUGH_ERROR_ARGUMENT, "the body falls into %d or more pieces; cook each on its own",
                       (loose + 5) / 6);
    if (cook->draft.support == BOUGH_SUPPORT_INTERFACE && loose > 0)
        return bo_fail(ctx, BOUGH_ERROR_ARGUMENT,
                       "%d rigid motions are left when the body is held at its interface \"%s\"; is it in one piece?",
                       loose, cook->interfaces[parent].name);
    if (cook->draft.support == BOUGH_SUPPORT_FIXED && loose > 0)
        return bo_fail(
            ctx, BOUGH_ERROR_ARGUMENT,
            "the supports leave %d rigid motions; fix more, or nothing at all for a component that flies free", loose);
    return BOUGH_OK;
}

/* ---- frame ---- */

static void measure_size(bo_cook *cook) {
    double lower[3] = {INFINITY, INFINITY, INFINITY}, upper[3] = {-INFINITY, -INFINITY, -INFINITY}, sum = 0;
    for (size_t i = 0; i < (size_t)cook->n; i++)
        if (cook->body->used[i / 3]) {
            lower[i % 3] = fmin(lower[i % 3], cook->body->mesh->vertices[i]);
            upper[i % 3] = fmax(upper[i % 3], cook->body->mesh->vertices[i]);
        }
    for (int d = 0; d < 3; d++)
        sum += (upper[d] - lower[d]) * (upper[d] - lower[d]);
    cook->size = sqrt(sum);
}

/* A root that is held at vertices has its origin in their centre, weighted like an interface. */
static bough_status centre_of_held(bo_cook *cook, double centre[3]) {
    int32_t count = 0, n = cook->body->mesh->vertex_count;
    int32_t *vertices = BO_COOK_ARRAY(cook, int32_t, n);
    double *weights = BO_COOK_ARRAY(cook, double, n);
    if (!vertices || !weights)
        return BOUGH_ERROR_MEMORY;
    for (int32_t v = 0; v < n; v++)
        if (cook->body->used[v] && (cook->held[3 * v] || cook->held[3 * v + 1] || cook->held[3 * v + 2]))
            vertices[count++] = v;
    BO_TRY(bo_cook_weights(cook, count, vertices, false, weights));
    for (int32_t i = 0; i < count; i++)
        for (int d = 0; d < 3; d++)
            centre[d] += weights[i] * cook->body->mesh->vertices[3 * (size_t)vertices[i] + (size_t)d];
    return BOUGH_OK;
}

static bough_status choose_origin(bo_cook *cook) {
    double *origin = cook->draft.origin;
    if (cook->draft.support == BOUGH_SUPPORT_INTERFACE) {
        memcpy(origin, cook->interfaces[cook->def->parent].centre, 3 * sizeof *origin);
    } else if (cook->draft.support == BOUGH_SUPPORT_FIXED) {
        BO_TRY(centre_of_held(cook, origin));
    } else {
        bough_body_properties p;
        BO_TRY(bough_body_measure(cook->ctx, cook->body, &p));
        memcpy(origin, p.centre, 3 * sizeof *origin);
    }
    return BOUGH_OK;
}

/* ---- loads ---- */

/* No motion of it has a negative kinetic energy. Rotations are measured in the load's own length, its radius of
 * gyration, so that the six eigenvalues can be compared; a load without one is a point in the interface's centre. */
static bool is_inertia(const bough_inertia *load, const double I6[36]) {
    const double trace = load->inertia[0] + load->inertia[4] + load->inertia[8];
    const double length = load->mass > 0 && trace > 0 ? sqrt(trace / load->mass) : 1;
    double scaled[36], values[6], scratch[12];
    bool good = load->mass >= 0 && trace >= 0;
    for (int i = 0; i < 36; i++) {
        scaled[i] = I6[i] / (i / 6 < 3 ? 1 : length) / (i % 6 < 3 ? 1 : length);
        good = good && isfinite(scaled[i]);
    }
    for (int i = 0; i < 9; i++)
        good = good && fabs(load->inertia[i] - load->inertia[3 * (i % 3) + i / 3]) <= 1e-9 * trace;
    for (int i = 0; i < 3; i++)
        good = good && (load->moment[i] == 0 || (load->mass > 0 && trace > 0));
    return good && bo_sym_eigen(6, scaled, values, NULL, scratch) && values[0] >= -1e-9 * values[5];
}

/* Kinetic energy of a rigid mass with motion (t, w) of the centre: 1/2 m t.t + t.(w x mc) + 1/2 w.I w */
static void rigid_inertia(const bough_inertia *load, double I6[36]) {
    const double *c = load->moment;
    const double cross[9] = {0, -c[2], c[1], c[2], 0, -c[0], -c[1], c[0], 0};
    for (int i = 0; i < 3; i++)
        for (int j = 0; j < 3; j++) {
            I6[6 * i + j] = i == j ? load->mass : 0;
            I6[6 * i + 3 + j] = -cross[3 * i + j];
            I6[6 * (3 + i) + j] = cross[3 * i + j];
            I6[6 * (3 + i) + 3 + j] = load->inertia[3 * i + j];
        }
}

static bough_status gather_loads(bo_cook *cook) {
    cook->loads = BO_COOK_ARRAY(cook, bo_cook_load, cook->def->interface_count);
    if (!cook->loads)
        return BOUGH_ERROR_MEMORY;
    for (int32_t i = 0; i < cook->def->interface_count; i++) {
        if (!cook->def->interfaces[i].has_load || i == cook->def->parent)
            continue;
        bo_cook_load *load = &cook->loads[cook->load_count++];
        const bough_interface *face = &cook->interfaces[i];
        *load = (bo_cook_load){.interface_index = i, .vertex_count = face->vertex_count, .vertices = face->vertices};
        rigid_inertia(&cook->def->interfaces[i].load, load->I6);
        if (!is_inertia(&cook->def->interfaces[i].load, load->I6))
            return bo_fail(cook->ctx, BOUGH_ERROR_ARGUMENT,
                           "interface \"%s\": no rigid mass has the inertia it carries, about the interface's centre",
                           face->name);
        load->Q = BO_COOK_ARRAY(cook, double, 18 * (size_t)face->vertex_count);
        if (!load->Q)
            return BOUGH_ERROR_MEMORY;
        BO_TRY(bo_cook_rigid_fit(cook, face, load->Q));
    }
    return BOUGH_OK;
}

/* ---- multiplying ---- */

void bo_cook_mass(const bo_cook *cook, const double *x, double *y, int32_t count) {
    bo_mass_multiply(cook->m, NULL, cook->mass_scratch, x, y, count);
}

static void add_load(const bo_cook_load *load, const double *x, double *y) {
    double motion[6] = {0}, momentum[6];
    for (size_t k = 0; k < 3 * (size_t)load->vertex_count; k++)
        for (size_t d = 0; d < 6; d++)
            motion[d] += load->Q[6 * k + d] * x[3 * (size_t)load->vertices[k / 3] + k % 3];
    for (size_t d = 0; d < 6; d++) {
        momentum[d] = 0;
        for (size_t e = 0; e < 6; e++)
            momentum[d] += load->I6[6 * d + e] * motion[e];
    }
    for (size_t k = 0; k < 3 * (size_t)load->vertex_count; k++)
        for (size_t d = 0; d < 6; d++)
            y[3 * (size_t)load->vertices[k / 3] + k % 3] += load->Q[6 * k + d] * momentum[d];
}

void bo_cook_add_loads(const bo_cook *cook, const double *x, double *y) {
    for (int32_t i = 0; i < cook->load_count; i++)
        add_load(&cook->loads[i], x, y);
}

/* ---- solving ---- */

static void remove_rigid_force(const bo_cook *cook, double *b, double *scratch) {
    size_t n = (size_t)cook->n;
    for (size_t d = 0; d < 6; d++) {
        const double *R = cook->rigid + d * n;
        double part = bo_dot_n(cook->n, R, b);
        bo_cook_mass(cook, R, scratch, 1);
        for (size_t i = 0; i < n; i++)
            b[i] -= part * scratch[i];
    }
}

void bo_cook_remove_rigid(const bo_cook *cook, double *x, double *scratch) {
    size_t n = (size_t)cook->n;
    for (int round = 0; round < 2 && cook->rigid; round++) {
        bo_cook_mass(cook, x, scratch, 1);
        for (size_t d = 0; d < 6; d++) {
            const double *R = cook->rigid + d * n;
            double part = bo_dot_n(cook->n, R, scratch);
            for (size_t i = 0; i < n; i++)
                x[i] -= part * R[i];
        }
    }
}

/* K x = b for a free body by x <- (K + s M)^-1 (b + s M x), begun at 0: each round divides the error by at least
 * 1 + lambda_1 / s, and its step by as much. */
static bough_status solve_free(bo_cook *cook, double *b, double *x, int32_t count) {
    enum { MOST_ROUNDS = 200 };
    size_t n = (size_t)cook->n, size = n * (size_t)count;
    double *rhs = BO_NEW_ARRAY(cook->ctx, double, size), *step = BO_NEW_ARRAY(cook->ctx, double, size);
    bough_status status = rhs && step ? BOUGH_OK : BOUGH_ERROR_MEMORY;
    for (int32_t c = 0; c < count && status == BOUGH_OK; c++)
        remove_rigid_force(cook, b + (size_t)c * n, rhs);
    memset(x, 0, size * sizeof *x);
    if (status == BOUGH_OK)
        memcpy(rhs, b, size * sizeof *rhs);
    double moved = 1, length = 0;
    for (int round = 0; round < MOST_ROUNDS && moved > 1e-14 * length && status == BOUGH_OK; round++) {
        status = bo_factor_solve(cook->ctx, cook->factor, rhs, step, count);
        moved = length = 0;
        for (int32_t c = 0; c < count && status == BOUGH_OK; c++)
            bo_cook_remove_rigid(cook, step + (size_t)c * n, rhs);
        for (size_t i = 0; i < size && status == BOUGH_OK; i++) {
            x[i] += step[i];
            moved = fmax(moved, fabs(step[i]));
            length = fmax(length, fabs(x[i]));
        }
        bo_cook_mass(cook, step, rhs, count); /* the rest of b + s M x - (K + s M) x is s M times the last step */
        for (size_t i = 0; i < size; i++)
            rhs[i] *= cook->shift;
    }
    if (status == BOUGH_OK && moved > 1e-10 * length)
        status = bo_fail(cook->ctx, BOUGH_NO_CONVERGENCE,
                         "static responses of the free body do not converge: it is far softer than it looks; add "
                         "vibration modes to its basis");
    bo_free(cook->ctx, rhs);
    bo_free(cook->ctx, step);
    return status;
}

bough_status bo_cook_solve(bo_cook *cook, double *b, double *x, int32_t count) {
    size_t n = (size_t)cook->n;
    for (int32_t done = 0; done < count; done += SOLVE_AT_ONCE) {
        int32_t some = count - done < SOLVE_AT_ONCE ? count - done : SOLVE_AT_ONCE;
        double *from = b + (size_t)done * n, *to = x + (size_t)done * n;
        for (size_t i = 0; i < n * (size_t)some; i++)
            if (cook->held[i % n])
                from[i] = 0;
        BO_TRY(cook->rigid ? solve_free(cook, from, to, some)
                           : bo_factor_solve(cook->ctx, cook->factor, from, to, some));
        if (!bo_cook_progress(cook, (double)(done + some) / count))
            return bo_fail_cancelled(cook->ctx);
    }
    return BOUGH_OK;
}

/* ---- all ---- */

bough_status bo_cook_setup(bo_cook *cook) {
    measure_size(cook);
    BO_TRY(bo_cook_interfaces(cook));
    BO_TRY(support(cook));
    BO_TRY(choose_origin(cook));
    BO_TRY(gather_loads(cook));
    BO_TRY(bo_body_scalar_mass(cook->ctx, cook->body, &cook->m));
    cook->mass_scratch = BO_COOK_ARRAY(cook, double, bo_mass_scratch(cook->m));
    if (!cook->mass_scratch)
        return BOUGH_ERROR_MEMORY;
    cook->draft.damping_mass = cook->body->def.damping_mass;
    cook->draft.damping_stiffness = cook->body->def.damping_stiffness;
    cook->draft.materials = cook->body->materials;
    cook->draft.material_count = cook->body->material_count;
    cook->draft.provenance = cook->def->provenance;
    cook->draft.input_hash = cook->def->input_hash;
    if (cook->r == 0)
        return BOUGH_OK;
    BO_TRY(bough_body_matrix_create(cook->ctx, cook->body, &cook->K));
    return bough_body_evaluate(cook->ctx, cook->body, NULL, false, NULL, NULL, cook->K);
}
