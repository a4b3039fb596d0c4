/* Lumped couplings (Barbic and Zhao 2011): a part feels the rest of its subtree as a mass in the interface (L1), a mass
 * in its centre of mass (L2) or a rigid body (L2R). docs/theory/tree.md, "Coupling". */
#include "tree/couple.h"

#include <float.h>
#include <string.h>

/* ---- rigid composites ---- */

void bo_tree_take_wrenches(const bough_tree_model *model, bo_tree_work *work, const bo_tree_mode *mode) {
    const bool loads_act = bo_tree_loads_act(work, mode);
    for (int32_t d = 0; d < model->level_count; d++)
        for (int32_t i = model->levels[d].first_part; i < model->levels[d].end_part; i++) {
            const int32_t slot = model->parts[i].slot;
            for (int k = 0; k < 6; k++)
                BO_LANE(work->inertias[slot / 4].p[k], slot % 4) = loads_act ? -work->load_wrench[6 * i + k] : 0;
        }
}

/* I and p about the parent's origin in its axes: into up_I, up_p */
BO_MULTIVERSION
static void move_up(const bo_tree_frames *restrict f, bo_tree_inertias *restrict s) {
    bo_six_turn4(f->R, s->I, s->up_I);
    bo_mulv4(f->R, s->p, s->up_p);
    bo_mulv4(f->R, s->p + 3, s->up_p + 3);
    bo_six_shift4(f->x, s->up_I, s->up_p);
}

void bo_tree_compose(const bough_tree_model *model, bo_tree_work *work, const bo_tree_mode *mode) {
    for (int32_t d = model->level_count - 1; d > 0; d--) {
        const bo_tree_level *level = &model->levels[d];
        for (int32_t s = level->first_slots; s < level->end_slots; s++)
            if (!mode->only_flights || model->slots[s].flies)
                move_up(&work->frames[s], &work->inertias[s]);
        for (int32_t i = level->first_part; i < level->end_part; i++) {
            if (mode->only_flights && !model->parts[i].flies)
                continue;
            const int32_t from = model->parts[i].slot, to = model->parts[model->parts[i].parent].slot;
            const bo_tree_inertias *child = &work->inertias[from / 4];
            bo_tree_inertias *parent = &work->inertias[to / 4];
            for (int k = 0; k < BO_SIX; k++)
                BO_LANE(parent->I[k], to % 4) += BO_LANE_CONST(child->up_I[k], from % 4);
            for (int k = 0; k < 6; k++)
                BO_LANE(parent->p[k], to % 4) += BO_LANE_CONST(child->up_p[k], from % 4);
        }
    }
}

/* Bias force of a rigid body [m 1, -mc~; mc~, T] that turns with w: [w x (w x mc); w x T w], added to p. */
BO_INLINE void add_turning(const bo_v4 *I, const bo_v4 *w, bo_v4 *p) {
    const bo_v4 *C = I + BO_SIX_C, mc[3] = {C[5], C[6], C[1]}; /* of -mc~ = [. z -y; -z . x; y -x .] */
    bo_v4 t[3], u[3];
    bo_cross4(w, mc, t);
    bo_cross4(w, t, u);
    for (int k = 0; k < 3; k++)
        p[k] += u[k];
    bo_symv4(I + BO_SIX_T, w, t);
    bo_cross4(w, t, u);
    for (int k = 0; k < 3; k++)
        p[3 + k] += u[k];
}

/* Lumps four subtrees into what their parents feel: an inertia and a bias force about the origin, then turned up as
 * couple.c does. */
BO_MULTIVERSION
static void lump(bough_coupling coupling, bool shifted, const bo_tree_frames *restrict f,
                 bo_tree_inertias *restrict s) {
    bo_v4 I[BO_SIX], p[6], t[6];
    for (int k = 0; k < BO_SIX; k++)
        I[k] = s->I[k];
    for (int k = 0; k < 6; k++)
        p[k] = s->p[k];
    if (coupling == BOUGH_COUPLING_L2) { /* of a point: m (c.c 1 - c c^T) */
        const bo_v4 *C = I + BO_SIX_C, mc[3] = {C[5], C[6], C[1]};
        const bo_v4 square = mc[0] * mc[0] + mc[1] * mc[1] + mc[2] * mc[2];
        const bo_v4 mass = I[0] + DBL_MIN; /* lanes without a part have none */
        int at = BO_SIX_T;
        for (int i = 0; i < 3; i++)
            for (int j = i; j < 3; j++)
                I[at++] = ((i == j ? 1.0 : 0.0) * square - mc[i] * mc[j]) / mass;
    }
    add_turning(I, f->w, p);
    bo_six_turn4(f->R, I, s->up_I);
    bo_mulv4(f->R, p, s->up_p);
    bo_mulv4(f->R, p + 3, s->up_p + 3);
    bo_six_mul4(s->up_I, f->b, t);
    for (int k = 0; k < 6; k++)
        s->up_p[k] += t[k];
    if (shifted)
        bo_six_shift4(f->arm, s->up_I, s->up_p);
}

BO_MULTIVERSION
static void turn_root(const bo_tree_frames *restrict f, bo_tree_inertias *restrict s) {
    add_turning(s->I, f->w, s->p);
}

void bo_tree_lump(const bough_tree_model *model, bo_tree_work *work, bough_coupling coupling) {
    for (int32_t s = model->levels[0].first_slots; s < model->levels[0].end_slots; s++)
        turn_root(&work->frames[s], &work->inertias[s]);
    for (int32_t d = 1; d < model->level_count && coupling != BOUGH_COUPLING_L1; d++)
        for (int32_t s = model->levels[d].first_slots; s < model->levels[d].end_slots; s++)
            lump(coupling, model->slots[s].shifted, &work->frames[s], &work->inertias[s]);
}

/* ---- L1 ---- */

/* The forces alone, in the parent's axes. */
BO_MULTIVERSION
static void turn_forces(const bo_tree_frames *restrict f, bo_tree_inertias *restrict s) {
    bo_mulv4(f->R, s->p, s->up_p);
}

void bo_tree_sum_forces(const bough_tree_model *model, bo_tree_work *work) {
    for (int32_t d = 0; d < model->level_count; d++)
        for (int32_t i = model->levels[d].first_part; i < model->levels[d].end_part; i++) {
            const int32_t slot = model->parts[i].slot;
            for (int k = 0; k < 3; k++)
                BO_LANE(work->inertias[slot / 4].p[k], slot % 4) = -work->load_wrench[6 * i + k];
        }
    for (int32_t d = model->level_count - 1; d > 0; d--) {
        const bo_tree_level *level = &model->levels[d];
        for (int32_t s = level->first_slots; s < level->end_slots; s++)
            turn_forces(&work->frames[s], &work->inertias[s]);
        for (int32_t i = level->first_part; i < level->end_part; i++) {
            const int32_t from = model->parts[i].slot, to = model->parts[model->parts[i].parent].slot;
            for (int k = 0; k < 3; k++)
                BO_LANE(work->inertias[to / 4].p[k], to % 4) +=
                    BO_LANE_CONST(work->inertias[from / 4].up_p[k], from % 4);
        }
    }
}

bough_status bo_tree_make_lumps(bough_context *ctx, bough_tree_model *model) {
    double *mass = BO_NEW_ARRAY(ctx, double, model->part_count);
    model->lump = BO_NEW_ZEROS(ctx, double, model->squares_size);
    model->face_mass = BO_NEW_ZEROS(ctx, bo_v4, model->faces_count);
    if (!mass || !model->lump || !model->face_mass) {
        bo_free(ctx, mass);
        return BOUGH_ERROR_MEMORY;
    }
    for (int32_t i = 0; i < model->part_count; i++)
        mass[i] = model->parts[i].scale3 * model->components[model->parts[i].component].c->mass;
    for (int32_t j = model->part_count - 1; j >= 0; j--) {
        const bo_tree_part *child = &model->parts[j];
        if (child->parent < 0)
            continue;
        const bo_tree_part *parent = &model->parts[child->parent];
        const bo_tree_block *b = &model->blocks[parent->block];
        const double *a = model->components[parent->component].faces[child->face_row].a;
        const double m = mass[j] * parent->scale * parent->scale;
        mass[child->parent] += mass[j];
        BO_LANE(model->face_mass[child->face / 4], child->face % 4) += mass[j];
        for (int32_t k = 0; k < b->r; k++)
            for (int32_t l = 0; l <= k; l++) {
                double sum = 0;
                for (int d = 0; d < 3; d++)
                    sum += a[d * b->n + k] * a[d * b->n + l];
                model->lump[b->squares +
                            (b->lanes == 1 ? k * b->n + l : BO_WIDE * (k * (k + 1) / 2 + l) + parent->lane)] += m * sum;
            }
    }
    bo_free(ctx, mass);
    return BOUGH_OK;
}

/* -m (a + alpha x x + w x (w x x) + 2 w x xdot) on what hangs at four faces */
BO_MULTIVERSION
static void resist(const double *restrict A, const double *restrict w, const bo_v4 *restrict mass,
                   bo_tree_faces *restrict f) {
    bo_v4 W[3], alpha[3], t[3], u[3], lever[3];
    for (int k = 0; k < 3; k++) {
        W[k] = w[k] + (bo_v4){0};
        alpha[k] = A[3 + k] + (bo_v4){0};
    }
    bo_cross4(W, f->x, t);
    for (int k = 0; k < 3; k++)
        t[k] += 2 * f->xdot[k];
    bo_cross4(W, t, u);
    bo_cross4(alpha, f->x, lever);
    for (int k = 0; k < 3; k++)
        f->force[k] = -*mass * (A[k] + lever[k] + u[k]);
}

/* p -= a^T force */
BO_MULTIVERSION
static void pull(int32_t n, const double *restrict a, const double *restrict force, double *restrict p) {
    for (int32_t l = 0; l < n; l += 4)
        BO_V4(p + l) -=
            force[0] * BO_V4_CONST(a + l) + force[1] * BO_V4_CONST(a + n + l) + force[2] * BO_V4_CONST(a + 2 * n + l);
}

static void drag_part(const bough_tree_model *model, bo_tree_work *work, const bo_tree_mode *mode,
                      const bo_tree_part *part, int32_t n, double *p_q) {
    const bool loads_act = bo_tree_loads_act(work, mode);
    const bo_component_tables *t = &model->components[part->component];
    const int32_t slot = part->slot;
    double A[6], w[3];
    for (int k = 0; k < 6; k++)
        A[k] = BO_LANE(work->inertias[slot / 4].A[k], slot % 4);
    for (int k = 0; k < 3; k++)
        w[k] = BO_LANE(work->frames[slot / 4].w[k], slot % 4);
    for (int32_t v = 0; v < t->face_vectors; v++)
        if (model->face_used[part->faces + v])
            resist(A, w, &model->face_mass[part->faces + v], &work->faces[part->faces + v]);
    for (int32_t c = 0; c < part->child_count && loads_act; c++) {
        const bo_tree_part *child = &model->parts[model->children[part->first_child + c]];
        for (int k = 0; k < 3; k++)
            BO_LANE(work->faces[child->face / 4].force[k], child->face % 4) -=
                BO_LANE_CONST(work->inertias[child->slot / 4].up_p[k], child->slot % 4);
    }
    for (int32_t f = 0; f < t->face_count; f++) {
        double force[3];
        if (!model->face_used[part->faces + f / 4])
            continue;
        for (int k = 0; k < 3; k++)
            force[k] = part->scale * BO_LANE_CONST(work->faces[part->faces + f / 4].force[k], f % 4);
        pull(n, t->faces[f].a, force, p_q);
    }
}

void bo_tree_drag(const bough_tree_model *model, bo_tree_work *work, const bo_tree_mode *mode, int32_t block,
                  double *scratch) {
    const bo_tree_block *b = &model->blocks[block];
    double *p_q = work->p_q + b->vectors;
    for (int32_t i = b->first; i < b->first + b->count; i++) {
        const bo_tree_part *part = &model->parts[i];
        if (part->child_count == 0)
            continue;
        if (b->lanes == 1) {
            drag_part(model, work, mode, part, b->n, p_q);
            continue;
        }
        memset(scratch, 0, (size_t)b->n * sizeof *scratch);
        drag_part(model, work, mode, part, b->n, scratch);
        for (int32_t l = 0; l < b->r; l++)
            p_q[BO_WIDE * l + part->lane] += scratch[l];
    }
}
