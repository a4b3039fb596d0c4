/* The model reads some things at its start: places of motors, distances, gears, and which constraints are redundant. */
#include "multibody/multibody.h"

#include <string.h>

enum { MOST_ROWS = 900 }; /* for which redundant rows are looked for one by one: the work grows with their cube */
#define DEPENDENT 1e-8    /* of a row: what is left of it beside the rows before */
#define SOFT_RATE 1e-9    /* m/s by a force that moves the whole at 1 m/s^2: how soft redundant rows are made */
#define SOFT_LIGHT 1e-15  /* the same by a force that moves the bodies of the joint, which may be far lighter */

/* Row i of the constraints by all velocities, in units: row (nv). */
static void constraint_row(const bough_multibody *model, const bo_mb_work *work, const bo_mb_joint *joint,
                           const bo_mb_rows *rows, int32_t i, double *row) {
    memset(row, 0, (size_t)model->nv * sizeof *row);
    for (int32_t f = 0; f < joint->frame_count; f++) {
        const int32_t frame = joint->frames[f], body = model->frames[frame].body, part = bo_mb_frame_part(model, frame);
        const bo_mb_place *place = &work->places[frame];
        const bo_vec3 a = bo_load3(rows->G[i] + 6 * f), b = bo_load3(rows->G[i] + 6 * f + 3);
        if (body >= 0) {
            double *to = row + 6 * body;
            bo_store3(to, bo_add(bo_load3(to), a));
            bo_store3(to + 3, bo_add(bo_load3(to + 3), bo_add(b, bo_cross(place->arm, a))));
        }
        if (part < 0)
            continue;
        const bo_mb_part *of = &model->parts[part];
        double *to = of->full ? work->full[part].force : row + of->first;
        for (int32_t k = 0; k < of->seen; k++)
            to[k] = (of->full ? 0 : to[k]) + (bo_dot(place->L[k], a) + bo_dot(place->Jo[k], b));
        if (of->full)
            bo_mb_full_spread(of, to, row + of->first);
    }
    for (int32_t k = 0; k < model->nv; k++)
        row[k] *= model->units[k];
}

/* Gram and Schmidt, twice: true if the row is a combination of those in `basis`, else it becomes one of them. */
static bool is_dependent(int32_t n, int32_t *count, double *basis, double *row) {
    double before = 0, left = 0;
    for (int32_t k = 0; k < n; k++)
        before += row[k] * row[k];
    for (int pass = 0; pass < 2; pass++)
        for (int32_t b = 0; b < *count; b++) {
            const double *e = basis + (int64_t)n * b;
            double along = 0;
            for (int32_t k = 0; k < n; k++)
                along += e[k] * row[k];
            for (int32_t k = 0; k < n; k++)
                row[k] -= along * e[k];
        }
    for (int32_t k = 0; k < n; k++)
        left += row[k] * row[k];
    if (!(left > DEPENDENT * DEPENDENT * before))
        return true;
    for (int32_t k = 0; k < n; k++)
        basis[(int64_t)n * *count + k] = row[k] / sqrt(left);
    ++*count;
    return false;
}

/* The acceleration along row i by a unit of its multiplier, were the joint's bodies free and round. Rounding in the
 * elimination is a part of it. */
static double row_mobility(const bough_multibody *model, const bo_mb_work *work, const bo_mb_joint *joint,
                           const bo_mb_rows *rows, int32_t i) {
    double sum = 0;
    for (int32_t f = 0; f < joint->frame_count; f++) {
        const int32_t frame = joint->frames[f], body = model->frames[frame].body;
        if (body < 0 || !(model->bodies[body].mass > 0))
            continue;
        const bo_vec3 force = bo_load3(rows->G[i] + 6 * f);
        const bo_vec3 torque = bo_add(bo_load3(rows->G[i] + 6 * f + 3), bo_cross(work->places[frame].arm, force));
        sum += bo_dot(force, force) / model->bodies[body].mass +
               3 * bo_dot(torque, torque) / bo_trace(model->bodies[body].I);
    }
    return sum;
}

static void soften(bough_multibody *model, int32_t joint, int32_t row, bool turns, double mobility) {
    double mass = 0;
    for (int32_t b = 0; b < model->def.body_count; b++)
        mass += model->bodies[b].mass;
    for (int32_t p = 0; p < model->def.part_count; p++)
        mass += model->parts[p].mass;
    model->joints[joint].soft[row] =
        SOFT_RATE / mass / (turns ? model->length * model->length : 1) + SOFT_LIGHT * mobility;
}

static bool row_turns(const bo_mb_rows *rows, int32_t i) {
    for (int32_t k = 0; k < rows->space; k++)
        if (k % 6 < 3 && rows->G[i][k] != 0)
            return false;
    return true;
}

/* The rows of joint j, at the start. */
static const bo_mb_rows *rows_at_start(const bough_multibody *model, bo_mb_state *s, int32_t j,
                                       const bo_mb_drive *drive) {
    bo_mb_joint_rows(model, &s->work, j, drive, s->face.lambda, false, &s->work.rows);
    return &s->work.rows;
}

/* Tree joints cannot be redundant; those that close loops come last. */
static void count_redundant(bough_multibody *model, bo_mb_state *s, const bo_mb_drive *drive, double *basis,
                            double *row) {
    int32_t count = 0;
    for (int pass = 0; pass < 2; pass++)
        for (int32_t j = 0; j < model->joint_count; j++) {
            if (model->joints[j].closes != (pass == 1))
                continue;
            const bo_mb_rows *rows = rows_at_start(model, s, j, drive);
            for (int32_t i = 0; i < rows->count; i++) {
                constraint_row(model, &s->work, &model->joints[j], rows, i, row);
                if (is_dependent(model->nv, &count, basis, row) && pass == 1)
                    model->redundant[model->redundant_count++] = j;
            }
        }
}

/* Every row that closes a loop is made soft: which of them follow from the others changes as the loops move, but rows of
 * the tree never do without one of these. */
static void soften_loops(bough_multibody *model, bo_mb_state *s, const bo_mb_drive *drive) {
    for (int32_t j = 0; j < model->joint_count; j++) {
        const bo_mb_joint *joint = &model->joints[j];
        if (!joint->closes)
            continue;
        const bo_mb_rows *rows = rows_at_start(model, s, j, drive);
        for (int32_t i = 0; i < rows->count; i++)
            soften(model, j, i, row_turns(rows, i), row_mobility(model, &s->work, joint, rows, i));
    }
}

static bough_status find_redundant(bough_context *ctx, bough_multibody *model, bo_mb_state *s,
                                   const bo_mb_drive *drive) {
    int32_t closing = 0;
    for (int32_t j = 0; j < model->joint_count; j++)
        closing += model->joints[j].closes ? model->joints[j].row_count : 0;
    if (closing == 0)
        return BOUGH_OK;
    const bool each = model->nc <= MOST_ROWS;
    double *basis = each ? BO_NEW_ARRAY(ctx, double, (int64_t)model->nc * model->nv) : NULL;
    double *row = BO_NEW_ARRAY(ctx, double, model->nv);
    const bool good = (!each || basis) && row && (model->redundant = BO_NEW_ARRAY(ctx, int32_t, closing));
    if (good && each)
        count_redundant(model, s, drive, basis, row);
    if (good && (!each || model->redundant_count > 0))
        soften_loops(model, s, drive);
    bo_free(ctx, basis);
    bo_free(ctx, row);
    return good ? BOUGH_OK : BOUGH_ERROR_MEMORY;
}

static double coordinate_at(const bough_multibody *model, const bo_mb_state *s, int32_t joint, int freedom) {
    const bo_mb_joint *j = &model->joints[joint];
    bo_mb_coordinate y;
    bo_mb_coordinate_at(j->kind, freedom, &s->work.places[j->frames[0]], &s->work.places[j->frames[1]], 0, false, &y);
    return y.value;
}

/* Frames that are one at the start, but for rounding, are just that. */
static double without_rounding(double x) {
    return fabs(x) < 1e-12 ? 0 : x;
}

/* Springs are at rest at the start, but for their offset. Balls and compliant joints have none, and no axes that anything
 * but springs would know: their child's frame is turned into the parent's. */
static void find_rests(bough_multibody *model, const bo_mb_state *s, int32_t j) {
    const bo_mb_joint *joint = &model->joints[j];
    const bough_joint_def *def = &model->def.joints[joint->def];
    const bo_mb_place *a = &s->work.places[joint->frames[0]], *b = &s->work.places[joint->frames[1]];
    double *rests = model->rests + model->coordinate_first[j];
    if (joint->kind != BOUGH_JOINT_BALL && joint->kind != BOUGH_JOINT_COMPLIANT) {
        for (int k = 0; joint->springs && k < bough_joint_freedoms(joint->kind); k++)
            rests[k] = without_rounding(coordinate_at(model, s, j, k)) + def->offset[k];
        return;
    }
    bo_mb_frame *child = &model->frames[joint->frames[1]];
    const bo_mat3 turn = bo_mat_tmul(b->Q, a->Q);
    if (without_rounding(bo_norm(bo_log3(turn))) > 0)
        child->local.R = bo_mat_mul(child->local.R, turn);
    const bo_vec3 apart = bo_mat_tvec(a->Q, bo_sub(b->x, a->x));
    if (joint->kind == BOUGH_JOINT_COMPLIANT)
        bo_store3(rests, bo_v3(without_rounding(apart.x), without_rounding(apart.y), without_rounding(apart.z)));
}

static bough_status read_start(bough_context *ctx, bough_multibody *model, bo_mb_state *s) {
    const bough_multibody_def *d = &model->def;
    for (int32_t m = 0; m < d->motor_count; m++)
        model->motor_starts[m] = coordinate_at(model, s, d->motors[m].joint, d->motors[m].freedom);
    for (int32_t j = 0; j < d->joint_count; j++)
        find_rests(model, s, j);
    for (int32_t j = 0; j < model->joint_count; j++) {
        bo_mb_joint *joint = &model->joints[j];
        if (joint->gear[0] >= 0) {
            const bough_gear_def *gear = &d->gears[joint->def - d->joint_count];
            joint->start = coordinate_at(model, s, gear->joints[0], gear->freedoms[0]) +
                           gear->ratio * coordinate_at(model, s, gear->joints[1], gear->freedoms[1]);
        } else if (joint->kind == BOUGH_JOINT_DISTANCE) {
            const bo_mb_place *a = &s->work.places[joint->frames[0]], *b = &s->work.places[joint->frames[1]];
            joint->distance = bo_norm(bo_sub(b->x, a->x));
            if (!(joint->distance > 0))
                return bo_fail(ctx, BOUGH_ERROR_ARGUMENT,
                               "%s keeps a distance of 0; a ball does that (BOUGH_JOINT_BALL)",
                               bo_mb_joint_label(model, j).text);
        }
    }
    return BOUGH_OK;
}

bough_status bo_mb_look_at_start(bough_context *ctx, bough_multibody *model) {
    bough_multibody_state *state;
    for (int32_t j = 0; j < model->joint_count; j++)
        model->joints[j].distance = 1; /* until it is known */
    BO_TRY(bough_multibody_state_create(ctx, model, &state));
    bo_mb_state *s = bo_mb(state);
    bough_status status = read_start(ctx, model, s);
    const bo_mb_drive drive = bo_mb_drive_at(s, 0);
    if (status == BOUGH_OK)
        status = find_redundant(ctx, model, s, &drive);
    bough_multibody_state_destroy(ctx, state);
    return status;
}
