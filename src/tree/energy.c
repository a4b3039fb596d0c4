/* Energies and momenta of a tree. */
#include "tree/ledger.h"
#include "tree/log.h"

#include "base/threads.h"

/* 1/2 (V^T I V + 2 V^T Mrq v + v^T M v), with V the velocity of the frame and its momentum h = I V + Mrq v. */
static double kinetic_of(const bough_tree_model *model, const bo_tree_work *work, const bo_tree_part *part,
                         const double *v, const double h[6]) {
    const bo_component_tables *t = &model->components[part->component];
    double V[6], sum = 0;
    v += part->offset;
    bo_tree_velocity(work, part, V);
    for (int d = 0; d < 6; d++)
        sum += V[d] * h[d];
    for (int32_t k = 0; k < part->r; k++) {
        double row = 0;
        for (int32_t l = 0; l < part->r; l++)
            row += t->M[k * t->n + l] * v[l];
        sum += part->scale5 * v[k] * row;
        for (int d = 0; d < 6; d++)
            sum += V[d] * bo_tree_Mrq(model, work, part, d, k) * v[k];
    }
    return 0.5 * sum;
}

/* -g . (m x + R mc) */
static double weight_of(const bo_tree_work *work, const bo_tree_part *part, const double gravity[3]) {
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
        sum -= gravity[k] * x[k];
    }
    return sum;
}

/* The part's momenta h become those about the world's origin. */
static void add_momenta(const bough_tree_state *state, const bo_tree_part *part, const double h[6],
                        bough_tree_energies *sum) {
    const bo_tree_frames *f = &bo_tree_work_of(state)->frames[part->slot / 4];
    const int32_t lane = part->slot % 4;
    double x[3];
    bo_mat3 R;
    for (int k = 0; k < 9; k++)
        R.m[k] = BO_LANE_CONST(f->world[k], lane);
    for (int k = 0; k < 3; k++)
        x[k] = BO_LANE_CONST(f->origin[k], lane);
    const bo_vec3 P = bo_mat_vec(R, bo_load3(h)), L = bo_mat_vec(R, bo_load3(h + 3));
    bo_store3(sum->momentum, bo_add(bo_load3(sum->momentum), P));
    bo_store3(sum->angular_momentum, bo_add(bo_load3(sum->angular_momentum), bo_add(L, bo_cross(bo_load3(x), P))));
}

/* Energy of the spring in the part's joint, J. */
static double joint_energy(const bough_tree_model *model, const double *q, const bo_tree_part *part) {
    double sum = 0;
    if (part->joint < 0)
        return 0;
    const bo_tree_joint *joint = &model->joints[part->joint];
    for (int32_t k = 0; k < joint->count; k++)
        sum += 0.5 * joint->stiffness * q[joint->offset + k] * q[joint->offset + k];
    return sum;
}

/* One measurement of all parts, chunk by chunk of blocks. */
typedef struct {
    const bough_tree_model *model;
    bough_tree_state *state;
    const double *gravity, *q, *v;            /* gravity: of energies */
    double *energies;                         /* 3 of each part: kinetic, elastic, of weight; may be NULL */
    bough_tree_energies sums[BO_TREE_CHUNKS]; /* of each chunk, so that they are the same for any number of threads */
    bool inverted[BO_TREE_CHUNKS];
} measuring;

static void measure_part(measuring *m, int32_t i, int32_t chunk, double *scratch) {
    const bough_tree_model *model = m->model;
    const bo_tree_part *part = &model->parts[i];
    const double stiffness = m->state->stiffness[part->user];
    double E = 0, h[6];
    if (model->grove && part->asleep) /* a step looks at those that are awake */
        return;
    if (!bough_component_evaluate(model->components[part->component].c, m->q + part->offset, scratch, &E, NULL, NULL))
        m->inverted[chunk] = true;
    bo_tree_momentum(model, bo_tree_work_of(m->state), part, m->v, h);
    const double elastic = stiffness * stiffness * part->scale3 * E + joint_energy(model, m->q, part);
    const double kinetic = kinetic_of(model, bo_tree_work_of(m->state), part, m->v, h);
    if (m->energies) {
        m->energies[3 * i] = kinetic, m->energies[3 * i + 1] = elastic;
        m->energies[3 * i + 2] = weight_of(bo_tree_work_of(m->state), part, m->gravity);
    }
    bough_tree_energies *sum = &m->sums[chunk];
    sum->elastic += elastic, sum->kinetic += kinetic;
    sum->gravity += weight_of(bo_tree_work_of(m->state), part, m->state->gravity);
    add_momenta(m->state, part, h, sum);
}

static void measure_chunk(void *data, int32_t chunk) {
    measuring *m = data;
    const bough_tree_model *model = m->model;
    const bo_tree_chunk *range = &model->chunks[chunk];
    const bo_tree_block *last = &model->blocks[range->end - 1];
    double *scratch = bo_tree_work_of(m->state)->scratch + (size_t)chunk * model->scratch_size;
    for (int32_t i = model->blocks[range->first].first; i < last->first + last->count; i++)
        measure_part(m, i, chunk, scratch);
}

/* sum: of all chunks, and of the ties. */
static bool measure(bough_context *ctx, measuring *m, bough_tree_energies *sum) {
    bo_tree_weigh(ctx, m->model, m->state, &(bo_tree_mode){0}, m->q, m->v);
    bo_run_tasks(ctx, measure_chunk, m, m->model->chunk_count);
    *sum = (bough_tree_energies){0};
    for (int32_t c = 0; c < m->model->chunk_count; c++) {
        if (m->inverted[c])
            return false;
        sum->elastic += m->sums[c].elastic;
        sum->kinetic += m->sums[c].kinetic;
        sum->gravity += m->sums[c].gravity;
        for (int k = 0; k < 3; k++) {
            sum->momentum[k] += m->sums[c].momentum[k];
            sum->angular_momentum[k] += m->sums[c].angular_momentum[k];
        }
    }
    sum->elastic += bo_tree_tie_energy(m->model, m->state);
    return true;
}

bool bo_tree_measure(bough_context *ctx, const bough_tree_model *model, bough_tree_state *state,
                     const double gravity[3], const double *q, const double *v, double *energies) {
    measuring m = {.model = model, .state = state, .gravity = gravity, .q = q, .v = v, .energies = energies};
    return measure(ctx, &m, &bo_tree_work_of(state)->sums);
}

bough_status bough_tree_state_energies(bough_context *ctx, const bough_tree_model *model, bough_tree_state *state,
                                       bough_tree_energies *energies) {
    const bough_tree_model *now = bo_tree_now(model, state);
    const bo_tree_work *w = bo_tree_work_of(state);
    measuring m = {.model = now, .state = state, .q = state->q, .v = state->v};
    BO_TRY(bo_log_come_back(ctx, model, state));
    if (w->measured && !bo_ledger_settings_differ(now, state)) {
        *energies = w->sums;
        return BOUGH_OK;
    }
    return measure(ctx, &m, energies) ? BOUGH_OK : bo_fail(ctx, BOUGH_NOT_FINITE, "a part is turned inside out");
}
