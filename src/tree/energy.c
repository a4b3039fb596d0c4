/* Energies of a tree. */
#include "tree/tree.h"

/* 1/2 (V^T I V + 2 V^T Mrq v + v^T M v), with V the velocity of the frame. */
static double kinetic_of(const bough_model *model, const bo_tree_work *work, const double *v, int32_t i) {
    const bo_tree_part *part = &model->parts[i];
    const bo_component_tables *t = &model->components[part->component];
    const bo_tree_motion *m = &work->motion[i];
    const double *I = work->solve[i].I, *Mrq = work->Mrq + 6 * part->offset, *vi = v + part->offset;
    const double V[6] = {m->v.x, m->v.y, m->v.z, m->w.x, m->w.y, m->w.z};
    double sum = 0;
    for (int d = 0; d < 6; d++) {
        for (int e = 0; e < 6; e++)
            sum += V[d] * I[6 * d + e] * V[e];
        for (int32_t l = 0; l < part->r; l++)
            sum += 2 * V[d] * Mrq[d * part->r + l] * vi[l];
    }
    for (int32_t k = 0; k < part->r; k++)
        for (int32_t l = 0; l < part->r; l++)
            sum += part->scale5 * vi[k] * t->M[k * part->r + l] * vi[l];
    return 0.5 * sum;
}

/* -g . (m x + R mc) */
static double weight_of(const bough_model *model, const bo_tree_work *work, int32_t i) {
    const double *I = work->solve[i].I;
    bo_vec3 mc = {I[6 * 5 + 1], I[6 * 3 + 2], I[6 * 4 + 0]};
    const bo_tree_motion *m = &work->motion[i];
    return -bo_dot(bo_load3(model->def.gravity), bo_add(bo_scale(I[0], m->origin), bo_mat_vec(m->world, mc)));
}

bough_status bough_state_energies(bough_context *ctx, const bough_model *model, const bough_state *state,
                                  bough_energies *energies) {
    bo_tree_work *work = state->work;
    *energies = (bough_energies){0};
    bo_tree_place_roots(model, work, state->roots);
    if (!bo_tree_move(model, work, state->q, state->v))
        return bo_fail(ctx, BOUGH_NOT_FINITE, "an interface is crushed to a line, so that it has no frame");
    bo_tree_inertia(model, work, state->q, state->v);
    bo_tree_own_terms(model, work, state->q, state->v);
    for (int32_t i = 0; i < model->part_count; i++) {
        const bo_tree_part *part = &model->parts[i];
        double E;
        if (!bough_component_evaluate(model->components[part->component].c, state->q + part->offset, work->scratch, &E,
                                      NULL, NULL))
            return bo_fail(ctx, BOUGH_NOT_FINITE, "a part is turned inside out");
        energies->elastic += state->stiffness[part->user] * state->stiffness[part->user] * part->scale3 * E;
        energies->kinetic += kinetic_of(model, work, state->v, i);
        energies->gravity += weight_of(model, work, i);
    }
    return BOUGH_OK;
}
