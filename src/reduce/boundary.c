/* Boundary modes: static responses to what acts at the interfaces. docs/theory/reduction.md, "Boundary modes". */
#include "reduce/basis.h"

#include "linalg/sparse.h"

#include <string.h>

static bool is_child(const bo_cook *cook, int32_t interface) {
    return interface != cook->def->parent;
}

static int32_t child_count(const bo_cook *cook) {
    int32_t count = 0;
    for (int32_t i = 0; i < cook->def->interface_count; i++)
        count += is_child(cook, i);
    return count;
}

/* A basis of other modes too goes without: of an object cut into domains all have one kind of basis, leaves too. */
static bough_status need_children(const bo_cook *cook, int32_t mode_count) {
    return child_count(cook) > 0 || mode_count > 0
               ? BOUGH_OK
               : bo_fail(cook->ctx, BOUGH_ERROR_ARGUMENT,
                         "boundary modes were asked for, but there is no interface beside the one it hangs by");
}

/* A unit force is shared out by the weights; a unit torque e as w (J^-1 e) x d. Both are columns of Q. */
bough_status bo_cook_attachment(bo_cook *cook, bo_columns *modes) {
    BO_TRY(need_children(cook, cook->mode_count));
    size_t n = (size_t)cook->n;
    double *b = BO_NEW_ARRAY(cook->ctx, double, 6 * n);
    if (!b)
        return BOUGH_ERROR_MEMORY;
    bough_status status = BOUGH_OK;
    for (int32_t i = 0; i < cook->def->interface_count && status == BOUGH_OK; i++) {
        if (!is_child(cook, i))
            continue;
        const bough_interface *face = &cook->interfaces[i];
        double *Q = BO_NEW_ARRAY(cook->ctx, double, 18 * (size_t)face->vertex_count);
        double *x = bo_columns_add(cook, modes, 6);
        status = Q && x ? bo_cook_rigid_fit(cook, face, Q) : BOUGH_ERROR_MEMORY;
        if (status == BOUGH_OK) {
            memset(b, 0, 6 * n * sizeof *b);
            for (size_t k = 0; k < 3 * (size_t)face->vertex_count; k++)
                for (size_t d = 0; d < 6; d++)
                    b[d * n + 3 * (size_t)face->vertices[k / 3] + k % 3] = Q[6 * k + d];
            status = bo_cook_solve(cook, b, x, 6);
        }
        bo_free(cook->ctx, Q);
    }
    bo_free(cook->ctx, b);
    return status;
}

/* u = t + w x d on the interface, zero elsewhere, for the six unit motions; vertices that are held stay. */
static void unit_motions(const bo_cook *cook, const bough_interface *face, double *u) {
    size_t n = (size_t)cook->n;
    memset(u, 0, 6 * n * sizeof *u);
    for (int32_t k = 0; k < face->vertex_count; k++) {
        size_t at = 3 * (size_t)face->vertices[k];
        bo_vec3 d = bo_sub(bo_load3(cook->body->mesh->vertices + at), bo_load3(face->centre));
        for (size_t a = 0; a < 3; a++) {
            bo_vec3 axis = {a == 0, a == 1, a == 2};
            bo_store3(u + a * n + at, axis);
            bo_store3(u + (3 + a) * n + at, bo_cross(axis, d));
        }
    }
    for (size_t i = 0; i < 6 * n; i++)
        if (cook->held[i % n])
            u[i] = 0;
}

static bough_status constraint_modes(bo_cook *cook, bo_factor *factor, const unsigned char *held, bo_columns *modes) {
    size_t n = (size_t)cook->n;
    double *b = BO_NEW_ARRAY(cook->ctx, double, 6 * n), *inside = BO_NEW_ARRAY(cook->ctx, double, 6 * n);
    bough_status status = b && inside ? BOUGH_OK : BOUGH_ERROR_MEMORY;
    for (int32_t i = 0; i < cook->def->interface_count && status == BOUGH_OK; i++) {
        if (!is_child(cook, i))
            continue;
        double *x = bo_columns_add(cook, modes, 6);
        if (!x) {
            status = BOUGH_ERROR_MEMORY;
            break;
        }
        unit_motions(cook, &cook->interfaces[i], x);
        for (size_t c = 0; c < 6; c++) /* K_ii x_i = -K_ib x_b */
            bo_sparse_mul(cook->K, x + c * n, b + c * n, false);
        for (size_t k = 0; k < 6 * n; k++)
            b[k] = held[k % n] ? 0 : -b[k];
        status = bo_factor_solve(cook->ctx, factor, b, inside, 6);
        for (size_t k = 0; k < 6 * n && status == BOUGH_OK; k++)
            x[k] += inside[k];
    }
    bo_free(cook->ctx, b);
    bo_free(cook->ctx, inside);
    return status;
}

/* Craig and Bampton: vibration modes with all interfaces held, and the static shapes of their unit motions. */
bough_status bo_cook_craig_bampton(bo_cook *cook, int32_t mode_count, bo_columns *modes) {
    BO_TRY(need_children(cook, mode_count));
    if (cook->rigid)
        return bo_fail(
            cook->ctx, BOUGH_ERROR_UNSUPPORTED,
            "Craig-Bampton modes need a support or a parent interface; use attachment modes for a free body");
    unsigned char *held = BO_NEW_ARRAY(cook->ctx, unsigned char, cook->n);
    bo_factor *factor = NULL;
    int32_t loose = 0;
    bough_status status = held ? BOUGH_OK : BOUGH_ERROR_MEMORY;
    if (status == BOUGH_OK) {
        memcpy(held, cook->held, (size_t)cook->n);
        for (int32_t i = 0; i < cook->def->interface_count; i++)
            for (int32_t k = 0; k < 3 * cook->interfaces[i].vertex_count; k++)
                held[3 * cook->interfaces[i].vertices[k / 3] + k % 3] = 1;
        status = bo_factor_analyse(cook->ctx, cook->K, 3, held, &factor);
    }
    if (status == BOUGH_OK)
        status = bo_factor_numeric(cook->ctx, factor, cook->K);
    for (int32_t i = 0; i < cook->n && status == BOUGH_OK; i++)
        loose += !held[i];
    mode_count = mode_count < loose ? mode_count : loose - 1; /* what can vibrate between the interfaces */
    if (status == BOUGH_OK && mode_count > 0)
        status = bo_cook_held_modes(cook, factor, held, mode_count);
    if (status == BOUGH_OK)
        status = constraint_modes(cook, factor, held, modes);
    bo_factor_destroy(cook->ctx, factor);
    bo_free(cook->ctx, held);
    return status;
}
