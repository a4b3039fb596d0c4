/* Constraints of joints, in the space of their frames a (parent) and b (child): displacements xi = (shift of a, turn of
 * a, shift of b, turn of b), all in world axes. docs/theory/multibody.md, "Joints". */
#include "multibody/multibody.h"

#include <string.h>

static bo_vec3 axis_of(bo_mat3 Q, int k) {
    return bo_v3(Q.m[k], Q.m[3 + k], Q.m[6 + k]);
}

static void put3(double *row, int32_t at, bo_vec3 x) {
    row[at] += x.x, row[at + 1] += x.y, row[at + 2] += x.z;
}
static void put33(bo_mb_rows *rows, int32_t i, int32_t j, double s, bo_mat3 A) {
    for (int a = 0; a < 3; a++)
        for (int b = 0; b < 3; b++)
            rows->H[i + a][j + b] += s * A.m[3 * a + b];
}

typedef struct {
    const bo_mb_place *a, *b;
    const double *lambda;
    bool derivatives;
    bo_mb_rows *rows;
} writer;

static int32_t next_row(const writer *w) {
    return w->rows->count++;
}

/* x_b - x_a = 0: three rows. */
static void meet(const writer *w) {
    const bo_vec3 c = bo_sub(w->b->x, w->a->x), rate = bo_sub(w->b->v, w->a->v);
    const double cs[3] = {c.x, c.y, c.z}, rates[3] = {rate.x, rate.y, rate.z};
    for (int k = 0; k < 3; k++) {
        const int32_t i = next_row(w);
        w->rows->c[i] = cs[k], w->rows->rate[i] = rates[k];
        w->rows->G[i][k] = -1, w->rows->G[i][6 + k] = 1;
    }
}

/* p . b_j = 0 for an axis p that is fixed in a, or turns about a's axis z at a rate: `ahead` is its derivative by that
 * angle. */
static void be_square(const writer *w, bo_vec3 p, int j, bool driven, bo_vec3 ahead, double angle_rate, double alpha) {
    const bo_vec3 q = axis_of(w->b->Q, j), n = bo_cross(p, q), spin = bo_sub(w->a->w, w->b->w);
    const int32_t i = next_row(w);
    bo_mb_rows *rows = w->rows;
    rows->c[i] = bo_dot(p, q);
    rows->rate[i] = bo_dot(n, spin) + (driven ? angle_rate * bo_dot(ahead, q) : 0);
    put3(rows->G[i], 3, n), put3(rows->G[i], 9, bo_scale(-1, n));
    if (!w->derivatives)
        return;
    put3(rows->D[i], 3, bo_cross(p, bo_cross(q, spin)));
    put3(rows->D[i], 9, bo_cross(q, bo_cross(spin, p)));
    const bo_mat3 by_a = bo_mat_mul(bo_hat(q), bo_hat(p)), by_b = bo_mat_mul(bo_hat(p), bo_hat(q));
    const double l = w->lambda[i];
    put33(rows, 3, 3, l, by_a), put33(rows, 3, 9, -l, by_b);
    put33(rows, 9, 3, -l, by_a), put33(rows, 9, 9, l, by_b);
    if (!driven)
        return;
    const bo_vec3 m = bo_scale(angle_rate, bo_cross(ahead, q));
    put3(rows->D[i], 3, m), put3(rows->D[i], 9, bo_scale(-1, m));
    put3(rows->W_by_motor, 3, bo_scale(l, bo_cross(ahead, q)));
    put3(rows->W_by_motor, 9, bo_scale(-l, bo_cross(ahead, q)));
    /* p moves by `ahead`, and `ahead` by -p */
    rows->by_motor[i] = bo_dot(bo_cross(ahead, q), spin) - angle_rate * bo_dot(p, q) + alpha * bo_dot(ahead, q);
    rows->by_motor_rate[i] = bo_dot(ahead, q);
}

/* a_k . (x_b - x_a) - place = 0 */
static void stay_on(const writer *w, int k, double place, double place_rate, bool driven, double alpha) {
    const bo_vec3 p = axis_of(w->a->Q, k), d = bo_sub(w->b->x, w->a->x), speed = bo_sub(w->b->v, w->a->v);
    const bo_vec3 n = bo_cross(p, d), spin = w->a->w;
    const int32_t i = next_row(w);
    bo_mb_rows *rows = w->rows;
    rows->c[i] = bo_dot(p, d) - place;
    rows->rate[i] = bo_dot(p, speed) + bo_dot(spin, n) - place_rate;
    put3(rows->G[i], 0, bo_scale(-1, p)), put3(rows->G[i], 3, n), put3(rows->G[i], 6, p);
    if (driven)
        rows->by_motor[i] = -alpha, rows->by_motor_rate[i] = -1;
    if (!w->derivatives)
        return;
    const bo_vec3 m = bo_cross(spin, p);
    put3(rows->D[i], 0, bo_scale(-1, m)), put3(rows->D[i], 6, m);
    put3(rows->D[i], 3, bo_add(bo_cross(p, speed), bo_cross(p, bo_cross(d, spin))));
    const bo_mat3 P = bo_hat(p);
    const double l = w->lambda[i];
    put33(rows, 0, 3, l, P), put33(rows, 6, 3, -l, P); /* the axis turns by -p~ phi */
    put33(rows, 3, 3, l, bo_mat_mul(bo_hat(d), P));
    put33(rows, 3, 0, -l, P), put33(rows, 3, 6, l, P);
}

/* (|x_b - x_a|^2 - length^2) / (2 length) = 0 */
static void keep_distance(const writer *w, double length) {
    const bo_vec3 d = bo_sub(w->b->x, w->a->x), speed = bo_sub(w->b->v, w->a->v), g = bo_scale(1 / length, d);
    const int32_t i = next_row(w);
    bo_mb_rows *rows = w->rows;
    rows->c[i] = 0.5 * (bo_dot(d, d) / length - length);
    rows->rate[i] = bo_dot(g, speed);
    put3(rows->G[i], 0, bo_scale(-1, g)), put3(rows->G[i], 6, g);
    if (!w->derivatives)
        return;
    const bo_vec3 m = bo_scale(1 / length, speed);
    put3(rows->D[i], 0, bo_scale(-1, m)), put3(rows->D[i], 6, m);
    const double l = w->lambda[i] / length;
    const bo_mat3 one = bo_identity3();
    put33(rows, 0, 0, l, one), put33(rows, 0, 6, -l, one), put33(rows, 6, 0, -l, one), put33(rows, 6, 6, l, one);
}

typedef struct {
    bool driven;
    double place, rate;
} command;

static command command_of(const bough_multibody *model, const bo_mb_joint *joint, int freedom,
                          const bo_mb_drive *drive) {
    const int32_t motor = joint->motors[freedom];
    if (motor < 0 || isfinite(model->def.motors[motor].stiffness))
        return (command){false, 0, 0};
    return (command){true, drive->place[motor], drive->rate[motor]};
}

/* Both frames have the same axes but for a turn about z: held (all three), driven, or free (the first two are along z).
 */
static void align(const writer *w, bool about_z, command c, double alpha) {
    const bo_mat3 Q = w->a->Q;
    const bo_vec3 z = axis_of(Q, 2), none = {0, 0, 0};
    if (about_z && !c.driven) {
        be_square(w, z, 0, false, none, 0, alpha), be_square(w, z, 1, false, none, 0, alpha);
        return;
    }
    const double co = cos(c.place), si = sin(c.place);
    const bo_vec3 a0 = axis_of(Q, 0), a1 = axis_of(Q, 1);
    const bo_vec3 x = bo_add(bo_scale(co, a0), bo_scale(si, a1)), y = bo_add(bo_scale(-si, a0), bo_scale(co, a1));
    be_square(w, x, 1, c.driven, y, c.rate, alpha);
    be_square(w, y, 2, c.driven, bo_scale(-1, x), c.rate, alpha);
    be_square(w, z, 0, false, none, 0, alpha);
}

static void write_rows(const bough_multibody *model, const bo_mb_joint *joint, const bo_mb_drive *drive,
                       const writer *w) {
    const double alpha = model->def.baumgarte;
    const command none = {false, 0, 0}, first = command_of(model, joint, 0, drive);
    const bo_vec3 zero = {0, 0, 0};
    switch (joint->kind) {
    case BOUGH_JOINT_WELD:
        meet(w), align(w, false, none, alpha);
        break;
    case BOUGH_JOINT_HINGE:
        meet(w), align(w, true, first, alpha);
        break;
    case BOUGH_JOINT_BALL:
        meet(w);
        break;
    case BOUGH_JOINT_UNIVERSAL:
        meet(w), be_square(w, axis_of(w->a->Q, 0), 1, false, zero, 0, alpha);
        break;
    case BOUGH_JOINT_PRISMATIC:
        stay_on(w, 0, 0, 0, false, alpha), stay_on(w, 1, 0, 0, false, alpha);
        if (first.driven)
            stay_on(w, 2, first.place, first.rate, true, alpha);
        align(w, false, none, alpha);
        break;
    case BOUGH_JOINT_CYLINDRICAL:
        stay_on(w, 0, 0, 0, false, alpha), stay_on(w, 1, 0, 0, false, alpha);
        if (first.driven)
            stay_on(w, 2, first.place, first.rate, true, alpha);
        align(w, true, command_of(model, joint, 1, drive), alpha);
        break;
    case BOUGH_JOINT_PLANAR:
        stay_on(w, 2, 0, 0, false, alpha), align(w, true, none, alpha);
        break;
    case BOUGH_JOINT_DISTANCE:
        keep_distance(w, joint->distance);
        break;
    case BOUGH_JOINT_COMPLIANT:
    case BOUGH_JOINT_FREE:
    case BOUGH_JOINT_KIND_COUNT:
        break;
    }
}

/* The rows before that of the motor: write_rows() has their order. */
int32_t bo_mb_motor_row(const bough_multibody *model, int32_t motor) {
    const bough_motor_def *def = &model->def.motors[motor];
    const bo_mb_joint *joint = &model->joints[def->joint];
    if (isfinite(def->stiffness))
        return -1;
    const int32_t slider = joint->kind == BOUGH_JOINT_CYLINDRICAL ? joint->motors[0] : -1;
    const bool slides = slider >= 0 && isinf(model->def.motors[slider].stiffness);
    return joint->row + (joint->kind == BOUGH_JOINT_HINGE                             ? 3
                         : joint->kind == BOUGH_JOINT_CYLINDRICAL && def->freedom == 1 ? 2 + slides
                                                                                       : 2);
}

/* The coordinates of two joints: first + ratio second - start = 0. */
static void write_gear(const bough_multibody *model, const bo_mb_work *work, const bo_mb_joint *gear,
                       const double *lambda, bool derivatives, bo_mb_rows *rows) {
    const bough_gear_def *def = &model->def.gears[gear->def - model->def.joint_count];
    rows->count = 1, rows->c[0] = -gear->start;
    for (int side = 0; side < 2; side++) {
        const bo_mb_joint *joint = &model->joints[gear->gear[side]];
        const double near = work->coordinates[model->coordinate_first[gear->gear[side]] + def->freedoms[side]];
        const double s = side == 0 ? 1 : gear->ratio;
        const int32_t at = 12 * side;
        bo_mb_coordinate y;
        bo_mb_coordinate_at(joint->kind, def->freedoms[side], &work->places[joint->frames[0]],
                            &work->places[joint->frames[1]], near, derivatives, &y);
        rows->c[0] += s * y.value, rows->rate[0] += s * y.rate;
        for (int i = 0; i < 12; i++) {
            rows->G[0][at + i] = s * y.direction[i];
            rows->C[0][at + i] = s * y.gradient[i];
            if (!derivatives)
                continue;
            rows->D[0][at + i] = s * y.rate_by[i];
            for (int j = 0; j < 12; j++)
                rows->H[at + i][at + j] = lambda[0] * s * y.direction_by[i][j];
        }
    }
}

void bo_mb_joint_rows(const bough_multibody *model, const bo_mb_work *work, int32_t joint, const bo_mb_drive *drive,
                      const double *lambda, bool derivatives, bo_mb_rows *rows) {
    const bo_mb_joint *j = &model->joints[joint];
    const int32_t space = 6 * j->frame_count;
    rows->count = 0, rows->space = space;
    for (int i = 0; i < BO_MB_MOST_ROWS; i++) {
        memset(rows->G[i], 0, (size_t)space * sizeof(double));
        rows->rate[i] = rows->by_motor[i] = rows->by_motor_rate[i] = 0;
        if (derivatives)
            memset(rows->D[i], 0, (size_t)space * sizeof(double));
    }
    memset(rows->W, 0, sizeof rows->W);
    memset(rows->W_by_motor, 0, sizeof rows->W_by_motor);
    for (int i = 0; derivatives && i < space; i++) {
        memset(rows->H[i], 0, (size_t)space * sizeof(double));
        memset(rows->E[i], 0, (size_t)space * sizeof(double));
    }
    if (j->gear[0] >= 0)
        write_gear(model, work, j, lambda + j->row, derivatives, rows);
    else {
        const writer w = {&work->places[j->frames[0]], &work->places[j->frames[1]], lambda + j->row, derivatives, rows};
        write_rows(model, j, drive, &w);
        for (int i = 0; i < rows->count; i++)
            memcpy(rows->C[i], rows->G[i], (size_t)space * sizeof(double));
    }
    for (int i = 0; i < rows->count; i++)
        for (int k = 0; k < space; k++)
            rows->W[k] += rows->G[i][k] * lambda[j->row + i];
}
