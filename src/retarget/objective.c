/* Frames that are to be somewhere: their share of the objective, and its derivatives by displacements. */
#include "retarget/adjoint.h"

#include <string.h>

static bough_status copy_array(bough_context *ctx, const double *from, int64_t count, const double **to) {
    double *block = NULL;
    if (from && !(block = BO_NEW_ARRAY(ctx, double, count)))
        return BOUGH_ERROR_MEMORY;
    if (from)
        memcpy(block, from, (size_t)count * sizeof *from);
    *to = block;
    return BOUGH_OK;
}

/* The frame on a model. */
static bough_status put_on_model(bough_context *ctx, const bough_multibody *model, bo_tracked *t) {
    BO_TRY(bo_mb_frame_make(ctx, model, &t->def.frame, &t->frame, &t->face));
    if (t->face.part < 0)
        return BOUGH_OK;
    const int32_t r = model->parts[t->face.part].r;
    if (!(t->arms = BO_NEW_ARRAY(ctx, bo_vec3, 4 * r)))
        return BOUGH_ERROR_MEMORY;
    t->turn.Jw = t->arms, t->turn.Jo = t->arms + r, t->place.L = t->arms + 2 * r, t->place.Jo = t->arms + 3 * r;
    return BOUGH_OK;
}

bough_status bo_tracked_make(bough_context *ctx, const bough_multibody *model, const bough_tracked_frame *def,
                             int32_t number, int32_t step_count, bo_tracked *t) {
    const int64_t count = step_count + 1;
    *t = (bo_tracked){.face = {.part = -1}};
    const bo_label label = bo_label_of("tracked frame", number, def->frame.name);
    BO_TRY(bo_mb_check_frame(ctx, &model->def, label.text, &def->frame));
    if (!(def->position >= 0) || !(def->orientation >= 0) || !isfinite(def->position + def->orientation))
        return bo_fail(ctx, BOUGH_ERROR_ARGUMENT, "%s: its weights are %g and %g; they must be 0 or more", label.text,
                       def->position, def->orientation);
    if ((def->position > 0 && !def->positions) || (def->orientation > 0 && !def->rotations))
        return bo_fail(ctx, BOUGH_ERROR_ARGUMENT, "%s has no %s to be at", label.text,
                       def->position > 0 && !def->positions ? "positions" : "rotations");
    t->def = *def;
    t->def.frame.name = NULL;
    t->def.weights = t->def.positions = t->def.rotations = NULL;
    BO_TRY(copy_array(ctx, def->weights, count, &t->def.weights));
    BO_TRY(copy_array(ctx, def->positions, 3 * count, &t->def.positions));
    BO_TRY(copy_array(ctx, def->rotations, 9 * count, &t->def.rotations));
    if (!(t->path = BO_NEW_ZEROS(ctx, double, 3 * count)))
        return BOUGH_ERROR_MEMORY;
    return put_on_model(ctx, model, t);
}

bough_status bo_tracked_make_alike(bough_context *ctx, const bough_multibody *model, const bo_tracked *original,
                                   bo_tracked *t) {
    *t = (bo_tracked){.def = original->def, .borrows = true, .face = {.part = -1}};
    return put_on_model(ctx, model, t);
}

void bo_tracked_free(bough_context *ctx, bo_tracked *t) {
    if (!t->borrows) {
        bo_free(ctx, (void *)(uintptr_t)t->def.weights);
        bo_free(ctx, (void *)(uintptr_t)t->def.positions);
        bo_free(ctx, (void *)(uintptr_t)t->def.rotations);
    }
    bo_free(ctx, t->path);
    bo_free(ctx, t->arms);
    bo_mb_face_free(ctx, &t->face);
    *t = (bo_tracked){.face = {.part = -1}};
}

/* (a_x . b_y)^2 + (a_y . b_z)^2 + (a_z . b_x)^2; half its derivative by a turn of b. */
static double turned_away(const double *a, bo_mat3 b, bo_vec3 *by_turn) {
    double sum = 0;
    *by_turn = bo_v3(0, 0, 0);
    for (int i = 0; i < 3; i++) {
        const int j = (i + 1) % 3;
        const bo_vec3 p = bo_v3(a[i], a[3 + i], a[6 + i]), q = bo_v3(b.m[j], b.m[3 + j], b.m[6 + j]);
        const double dot = bo_dot(p, q);
        sum += dot * dot;
        *by_turn = bo_mul_add(*by_turn, dot, bo_cross(q, p)); /* p . (phi x q) = phi . (q x p) */
    }
    return sum;
}

static const bo_mb_part *part_of(const bough_multibody *model, const bo_tracked *t) {
    return t->face.part < 0 ? NULL : &model->parts[t->face.part];
}

/* Places the frame. False: its interface is crushed. */
static bool put_frame(const bough_multibody *model, bo_tracked *t, const double *u, const double *v) {
    const bo_mb_part *part = part_of(model, t);
    const double *q = t->frame.body < 0 ? NULL : u + 7 * t->frame.body + 3;
    const bo_mat3 R = q ? bo_quat_to_matrix((bo_quat){q[0], q[1], q[2], q[3]}) : bo_identity3();
    if (part && !bo_mb_turn_at(&t->face, part->r, u + part->first + model->body_count, &t->turn))
        return false;
    bo_mb_place_on(&t->frame, part ? &t->face : NULL, part ? part->r : 0, part ? v + part->first : NULL,
                   part ? &t->turn : NULL, R, u, v, &t->place);
    return true;
}

/* by_xi (nv) += factor F^T W */
static void add_wrench(const bough_multibody *model, const bo_tracked *t, double factor, const double W[6],
                       double *by_xi) {
    const bo_mb_part *part = part_of(model, t);
    bo_mb_add_wrench(t->frame.body, part ? part->r : 0, &t->place, factor, W, by_xi, part ? by_xi + part->first : NULL);
}

bool bo_tracked_at(const bough_multibody *model, bo_tracked *t, int32_t step, const double *u, const double *v,
                   double factor, double *value, double *by_xi) {
    if (!put_frame(model, t, u, v))
        return false;
    if (t->path)
        bo_store3(t->path + 3 * (int64_t)step, t->place.x);
    const double weight = t->def.weights ? t->def.weights[step] : 1;
    double W[6] = {0};
    *value = 0;
    if (t->def.position > 0) {
        const bo_vec3 away = bo_sub(t->place.x, bo_load3(t->def.positions + 3 * (int64_t)step));
        *value += 0.5 * weight * t->def.position * bo_dot(away, away);
        bo_store3(W, bo_scale(weight * t->def.position, away));
    }
    if (t->def.orientation > 0) {
        bo_vec3 by_turn;
        *value +=
            0.5 * weight * t->def.orientation * turned_away(t->def.rotations + 9 * (int64_t)step, t->place.Q, &by_turn);
        bo_store3(W + 3, bo_scale(weight * t->def.orientation, by_turn));
    }
    if (by_xi)
        add_wrench(model, t, factor, W, by_xi);
    return true;
}

int32_t bo_tracked_rows(const bough_multibody *model, bo_tracked *t, int32_t step, const double *u, const double *v,
                        double factor, double *rows) {
    const double weight = factor * (t->def.weights ? t->def.weights[step] : 1);
    int32_t count = 0;
    if (!(weight > 0))
        return 0;
    if (!put_frame(model, t, u, v))
        return -1;
    memset(rows, 0, (size_t)(BO_TRACKED_ROWS * model->nv) * sizeof *rows);
    for (int k = 0; k < 3 && t->def.position > 0; k++) {
        const double W[6] = {k == 0, k == 1, k == 2};
        add_wrench(model, t, sqrt(weight * t->def.position), W, rows + (int64_t)model->nv * count++);
    }
    const double *a = t->def.rotations ? t->def.rotations + 9 * (int64_t)step : NULL, *b = t->place.Q.m;
    for (int i = 0; i < 3 && t->def.orientation > 0; i++) {
        const int j = (i + 1) % 3;
        double W[6] = {0};
        bo_store3(W + 3, bo_cross(bo_v3(b[j], b[3 + j], b[6 + j]), bo_v3(a[i], a[3 + i], a[6 + i])));
        add_wrench(model, t, sqrt(weight * t->def.orientation), W, rows + (int64_t)model->nv * count++);
    }
    return count;
}
