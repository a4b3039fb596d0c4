/* Forces that accelerations ask for: couple.c the other way round, from the root outwards and back.
 * docs/theory/tree.md, "Other integrators". */
#include "tree/couple.h"

/* p += I A of four parts */
BO_MULTIVERSION
static void carry_inertia(bo_tree_inertias *restrict s) {
    bo_v4 t[6];
    bo_six_mul4(s->I, s->A, t);
    for (int k = 0; k < 6; k++)
        s->p[k] += t[k];
}

/* The rest of what a part pulls with: p += Mrq a on its frame, y = p_q + Mrq^T A + M a on its coordinates. */
static void pull(const bough_tree_model *model, bo_tree_work *work, const bo_tree_part *part, const double *a,
                 double *y) {
    const bo_component_tables *t = &model->components[part->component];
    const bo_tree_block *b = &model->blocks[part->block];
    bo_tree_inertias *s = &work->inertias[part->slot / 4];
    const int32_t lane = part->slot % 4;
    const double *p_q = work->p_q + b->vectors + part->lane;
    a += part->offset, y += part->offset;
    for (int32_t k = 0; k < part->r; k++) {
        double sum = 0;
        for (int32_t l = 0; l < part->r; l++)
            sum += t->M[k * t->n + l] * a[l];
        y[k] = part->scale5 * sum + p_q[(ptrdiff_t)k * b->lanes];
        for (int d = 0; d < 6; d++) {
            const double Mrq = bo_tree_Mrq(model, work, part, d, k);
            y[k] += Mrq * BO_LANE_CONST(s->A[d], lane);
            BO_LANE(s->p[d], lane) += Mrq * a[k];
        }
    }
}

/* The parent of a part carries its wrench: on the coordinates at the interface, on the frame about its origin. */
static void pull_parent(const bough_tree_model *model, bo_tree_work *work, const bo_tree_part *part, double *y) {
    const bo_tree_part *parent = &model->parts[part->parent];
    const bo_tree_frames *frames = &work->frames[part->slot / 4];
    const bool shifted = model->slots[part->slot / 4].shifted;
    const int32_t lane = part->slot % 4;
    double x[3], arm[3], p[6], moment[3], force[3];
    bo_mat3 R;
    for (int k = 0; k < 9; k++)
        R.m[k] = BO_LANE_CONST(frames->R[k], lane);
    for (int k = 0; k < 3; k++)
        x[k] = BO_LANE_CONST(frames->x[k], lane), arm[k] = shifted ? BO_LANE_CONST(frames->arm[k], lane) : 0;
    for (int k = 0; k < 6; k++)
        p[k] = BO_LANE_CONST(work->inertias[part->slot / 4].p[k], lane);
    const bo_vec3 f = bo_mat_vec(R, bo_load3(p)), torque = bo_mat_vec(R, bo_load3(p + 3));
    bo_tree_face_forces(model, work, parent, part->face, part->face_row, f, bo_add(torque, bo_cross(bo_load3(arm), f)),
                        y + parent->offset);
    bo_store3(force, f);
    bo_store3(moment, bo_add(torque, bo_cross(bo_load3(x), f)));
    for (int k = 0; k < 3; k++) {
        BO_LANE(work->inertias[parent->slot / 4].p[k], parent->slot % 4) += force[k];
        BO_LANE(work->inertias[parent->slot / 4].p[3 + k], parent->slot % 4) += moment[k];
    }
}

void bo_tree_balance(bough_context *ctx, const bough_tree_model *model, bo_tree_work *work, const bo_tree_mode *mode,
                     const double *a, double *y) {
    const bool loads_act = bo_tree_loads_act(work, mode);
    bo_tree_set_roots(model, work, mode);
    for (int32_t d = 0; d < model->level_count; d++) {
        const bo_tree_level *level = &model->levels[d];
        if (d > 0)
            bo_tree_accelerate_frames(ctx, model, work, mode, d);
        bo_tree_drive_joints(model, work, mode, d, a);
        for (int32_t i = level->first_part; i < level->end_part; i++)
            bo_tree_gain(model, work, i, a);
    }
    for (int32_t s = 0; s < model->slots_count; s++)
        carry_inertia(&work->inertias[s]);
    for (int32_t i = 0; i < model->part_count; i++)
        pull(model, work, &model->parts[i], a, y);
    for (int32_t i = model->part_count - 1; i >= model->levels[0].end_part; i--) {
        const int32_t j = model->parts[i].joint;
        double torque[3];
        for (int32_t k = 0; j >= 0 && k < model->joints[j].count; k++) {
            const int32_t at = model->joints[j].offset + k;
            bo_tree_joint_torque(model, work, j, torque);
            y[at] = torque[k] - (loads_act ? work->load[at] : 0);
        }
        pull_parent(model, work, &model->parts[i], y);
    }
}
