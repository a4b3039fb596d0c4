/* Energies of a tree. */
#include "tree/tree.h"

/* 1/2 (V^T I V + 2 V^T Mrq v + v^T M v), with V the velocity of the frame. */
static double kinetic_of(const bough_model *model, const bough_state *state, const bo_tree_part *part) {
    const bo_component_tables *t = &model->components[part->component];
    const double *v = state->v + part->offset;
    double V[6], h[6], sum = 0;
    bo_tree_velocity(state->work, part, V);
    bo_tree_momentum(model, state->work, part, state->v, h);
    for (int d = 0; d < 6; d++)
        sum += V[d] * h[d];
    for (int32_t k = 0; k < part->r; k++) {
        double row = 0;
        for (int32_t l = 0; l < part->r; l++)
            row += t->M[k * t->n + l] * v[l];
        sum += part->scale5 * v[k] * row;
        for (int d = 0; d < 6; d++)
            sum += V[d] * bo_tree_Mrq(model, state->work, part, d, k) * v[k];
    }
    return 0.5 * sum;
}

/* -g . (m x + R mc) */
static double weight_of(const bough_model *model, const bo_tree_work *work, const bo_tree_part *part) {
    const bo_tree_inertias *s = &work->inertias[part->slot / 4];
    const bo_tree_frames *f = &work->frames[part->slot / 4];
    const int32_t lane = part->slot % 4;
    double mc[3], x[3], sum = 0;
    const double mass = BO_LANE_CONST(s->I[0], lane);
    bo_tree_first_moment(s, lane, mc);
    for (int k = 0; k < 3; k++) {
        x[k] = mass * BO_LANE_CONST(f->origin[k], lane);
        for (int j = 0; j < 3; j++)
            x[k] += BO_LANE_CONST(f->world[3 * k + j], lane) * mc[j];
        sum -= model->def.gravity[k] * x[k];
    }
    return sum;
}

bough_status bough_state_energies(bough_context *ctx, const bough_model *model, bough_state *state,
                                  bough_energies *energies) {
    *energies = (bough_energies){0};
    BO_TRY(bo_tree_come_back(ctx, model, state));
    bo_tree_weigh(ctx, model, state, state->q, state->v);
    for (int32_t i = 0; i < model->part_count; i++) {
        const bo_tree_part *part = &model->parts[i];
        const double stiffness = state->stiffness[part->user];
        double E;
        if (!bough_component_evaluate(model->components[part->component].c, state->q + part->offset,
                                      state->work->scratch, &E, NULL, NULL))
            return bo_fail(ctx, BOUGH_NOT_FINITE, "a part is turned inside out");
        energies->elastic += stiffness * stiffness * part->scale3 * E;
        energies->kinetic += kinetic_of(model, state, part);
        energies->gravity += weight_of(model, state->work, part);
    }
    return BOUGH_OK;
}
