/* Coordinates of joints, and the forces on them: springs, dampers, dry friction, limits, and motors that give way.
 * docs/theory/multibody.md, "Forces in joints". */
#include "multibody/multibody.h"

#include <string.h>

static bo_vec3 axis_of(bo_mat3 Q, int k) {
    return bo_v3(Q.m[k], Q.m[3 + k], Q.m[6 + k]);
}
static void put3(double *row, int at, bo_vec3 x) {
    row[at] = x.x, row[at + 1] = x.y, row[at + 2] = x.z;
}

/* ---- coordinates ---- */

/* a_i . b_j, which a turn changes by (a_i x b_j) . (turn of a - turn of b). */
static double dot_of(const bo_mb_place *a, const bo_mb_place *b, int i, int j, double s, bo_vec3 *n) {
    const bo_vec3 p = axis_of(a->Q, i), q = axis_of(b->Q, j);
    *n = bo_mul_add(*n, s, bo_cross(p, q));
    return s * bo_dot(p, q);
}

/* The angle whose sine and cosine, up to a common factor, are given; the one nearest to `near` of those that differ by
 * whole turns. */
static void read_angle(double sine, double cosine, bo_vec3 by_sine, bo_vec3 by_cosine, double near,
                       bo_mb_coordinate *y) {
    const double turn = 6.283185307179586, angle = atan2(sine, cosine), square = sine * sine + cosine * cosine;
    y->value = angle + turn * nearbyint((near - angle) / turn);
    const bo_vec3 n = bo_sub(bo_scale(cosine / square, by_sine), bo_scale(sine / square, by_cosine));
    memset(y->gradient, 0, sizeof y->gradient);
    put3(y->gradient, 3, n), put3(y->gradient, 9, bo_scale(-1, n));
}

/* Torques act about an axis that is fixed in a (on = 3) or in b (on = 9). */
static void turn_about(bo_vec3 axis, int on, const bo_mb_place *a, const bo_mb_place *b, bool derivatives,
                       bo_mb_coordinate *y) {
    const bo_vec3 spin = bo_sub(b->w, a->w);
    memset(y->direction, 0, sizeof y->direction);
    put3(y->direction, 3, bo_scale(-1, axis)), put3(y->direction, 9, axis);
    y->rate = bo_dot(axis, spin);
    if (!derivatives)
        return;
    memset(y->rate_by, 0, sizeof y->rate_by);
    memset(y->direction_by, 0, sizeof y->direction_by);
    put3(y->rate_by, on, bo_cross(axis, spin)); /* (turn x axis) . spin */
    const bo_mat3 A = bo_hat(axis);             /* turn x axis = -axis~ turn */
    for (int i = 0; i < 3; i++)
        for (int j = 0; j < 3; j++) {
            y->direction_by[3 + i][on + j] = A.m[3 * i + j];
            y->direction_by[9 + i][on + j] = -A.m[3 * i + j];
        }
}

/* a_k . (x_b - x_a); forces act along its gradient. */
static void slide_along(int k, const bo_mb_place *a, const bo_mb_place *b, bool derivatives, bo_mb_coordinate *y) {
    const bo_vec3 p = axis_of(a->Q, k), d = bo_sub(b->x, a->x), speed = bo_sub(b->v, a->v), n = bo_cross(p, d);
    y->value = bo_dot(p, d);
    y->rate = bo_dot(p, speed) + bo_dot(a->w, n);
    memset(y->direction, 0, sizeof y->direction);
    put3(y->direction, 0, bo_scale(-1, p)), put3(y->direction, 3, n), put3(y->direction, 6, p);
    memcpy(y->gradient, y->direction, sizeof y->gradient);
    if (!derivatives)
        return;
    memset(y->rate_by, 0, sizeof y->rate_by);
    memset(y->direction_by, 0, sizeof y->direction_by);
    const bo_vec3 m = bo_cross(a->w, p);
    put3(y->rate_by, 0, bo_scale(-1, m)), put3(y->rate_by, 6, m);
    put3(y->rate_by, 3, bo_add(bo_cross(p, speed), bo_cross(p, bo_cross(d, a->w))));
    const bo_mat3 P = bo_hat(p), DP = bo_mat_mul(bo_hat(d), P);
    for (int i = 0; i < 3; i++)
        for (int j = 0; j < 3; j++) {
            const double x = P.m[3 * i + j];
            y->direction_by[i][3 + j] = x, y->direction_by[6 + i][3 + j] = -x;
            y->direction_by[3 + i][3 + j] = DP.m[3 * i + j];
            y->direction_by[3 + i][j] = -x, y->direction_by[3 + i][6 + j] = x;
        }
}

void bo_mb_coordinate_at(bough_joint_kind kind, int freedom, const bo_mb_place *a, const bo_mb_place *b, double near,
                         bool derivatives, bo_mb_coordinate *y) {
    bo_vec3 by_sine = {0, 0, 0}, by_cosine = {0, 0, 0};
    if (kind == BOUGH_JOINT_PRISMATIC || (kind == BOUGH_JOINT_CYLINDRICAL && freedom == 0)) {
        slide_along(2, a, b, derivatives, y);
        return;
    }
    if (kind == BOUGH_JOINT_PLANAR && freedom < 2) {
        slide_along(freedom, a, b, derivatives, y);
        return;
    }
    if (kind == BOUGH_JOINT_UNIVERSAL) { /* Rx(t1) Ry(t2): a_x . b_y = 0 */
        const double sine = freedom == 0 ? dot_of(a, b, 2, 1, 1, &by_sine) : dot_of(a, b, 0, 2, 1, &by_sine);
        const double cosine = freedom == 0 ? dot_of(a, b, 1, 1, 1, &by_cosine) : dot_of(a, b, 0, 0, 1, &by_cosine);
        read_angle(sine, cosine, by_sine, by_cosine, near, y);
        if (freedom == 0)
            turn_about(axis_of(a->Q, 0), 3, a, b, derivatives, y);
        else
            turn_about(axis_of(b->Q, 1), 9, a, b, derivatives, y);
        return;
    }
    const double sine = dot_of(a, b, 1, 0, 1, &by_sine) + dot_of(a, b, 0, 1, -1, &by_sine);
    const double cosine = dot_of(a, b, 0, 0, 1, &by_cosine) + dot_of(a, b, 1, 1, 1, &by_cosine);
    read_angle(sine, cosine, by_sine, by_cosine, near, y);
    turn_about(axis_of(a->Q, 2), 3, a, b, derivatives, y);
}

/* ---- forces on one coordinate ---- */

/* The work of a motor at rest from where it is told to be: of k x, or of limit tanh(k x / limit). */
static double motor_energy(const bough_motor_def *motor, double x) {
    if (!isfinite(motor->limit))
        return 0.5 * motor->stiffness * x * x;
    const double share = fabs(motor->stiffness * x / motor->limit); /* log cosh without overflow */
    const double log_cosh = share < 1e-4 ? 0.5 * share * share : share + log1p(exp(-2 * share)) - log(2);
    return motor->limit * motor->limit / motor->stiffness * log_cosh;
}

/* The force against a coordinate, with its derivatives; returns the energy that it keeps. */
static double pull_back(const bough_multibody *model, const bo_mb_joint *joint, int k, const bo_mb_drive *drive,
                        double y, double rate, double *force, double *by_y, double *by_rate) {
    const bough_joint_def *def = &model->def.joints[joint->def];
    const double stretch = y - model->rests[model->coordinate_first[joint->def] + k];
    double energy = 0.5 * def->stiffness[k] * stretch * stretch;
    *force = def->stiffness[k] * stretch + def->damping[k] * rate;
    *by_y = def->stiffness[k], *by_rate = def->damping[k];
    const double beyond = y > def->upper[k] ? y - def->upper[k] : y < def->lower[k] ? y - def->lower[k] : 0;
    if (beyond != 0) {
        const double stop = def->limit_stiffness * (def->stiffness[k] > 0 ? def->stiffness[k] : 1);
        *force += stop * beyond, *by_y += stop, energy += 0.5 * stop * beyond * beyond;
    }
    if (def->friction[k] > 0) {
        const double slip = tanh(rate / model->def.friction_speed);
        *force += def->friction[k] * slip;
        *by_rate += def->friction[k] * (1 - slip * slip) / model->def.friction_speed;
    }
    const int32_t m = joint->motors[k];
    if (m >= 0 && isfinite(model->def.motors[m].stiffness)) {
        const bough_motor_def *motor = &model->def.motors[m];
        double slope;
        *force -= bo_mb_motor_force(motor, drive->place[m] - y, drive->rate[m] - rate, &slope);
        *by_y += slope * motor->stiffness, *by_rate += slope * motor->damping;
        energy += motor_energy(motor, y - drive->place[m]);
    }
    return energy;
}

static double push_coordinate(const bough_multibody *model, const bo_mb_work *work, const bo_mb_joint *joint, int k,
                              const bo_mb_drive *drive, bool derivatives, bo_mb_rows *rows) {
    bo_mb_coordinate y;
    double force, by_y, by_rate;
    bo_mb_coordinate_at(joint->kind, k, &work->places[joint->frames[0]], &work->places[joint->frames[1]],
                        work->coordinates[model->coordinate_first[joint->def] + k], derivatives, &y);
    const double energy = pull_back(model, joint, k, drive, y.value, y.rate, &force, &by_y, &by_rate);
    for (int i = 0; i < 12; i++) {
        rows->W[i] -= force * y.direction[i];
        for (int j = 0; derivatives && j < 12; j++) {
            rows->H[i][j] -=
                y.direction[i] * (by_y * y.gradient[j] + by_rate * y.rate_by[j]) + force * y.direction_by[i][j];
            rows->E[i][j] -= y.direction[i] * by_rate * y.direction[j];
        }
    }
    return energy;
}

/* ---- balls and compliant joints ---- */

static void sub33(double M[][BO_MB_MOST_SPACE], int i, int j, double s, bo_mat3 A) {
    for (int a = 0; a < 3; a++)
        for (int b = 0; b < 3; b++)
            M[i + a][j + b] -= s * A.m[3 * a + b];
}

/* The frames of such joints are turned to be aligned at the start (start.c), where their springs are at rest.
 * Torque stiffness Q_a phi + damping (w_b - w_a) against the turn phi = log(Q_a^T Q_b). Q_a phi is the turn in world
 * axes, psi: turns of a and b change phi by J^-1(phi) Q_a^T (turn of b - turn of a), and Q_a turns with a. */
static double twist_back(const bo_mb_place *a, const bo_mb_place *b, double stiffness, double damping, bool derivatives,
                         bo_mb_rows *rows) {
    const bo_vec3 phi = bo_log3(bo_mat_tmul(a->Q, b->Q)), psi = bo_mat_vec(a->Q, phi);
    const bo_vec3 torque = bo_mul_add(bo_scale(stiffness, psi), damping, bo_sub(b->w, a->w));
    const double t[3] = {torque.x, torque.y, torque.z};
    for (int i = 0; i < 3; i++)
        rows->W[3 + i] += t[i], rows->W[9 + i] -= t[i];
    if (derivatives) {
        const bo_mat3 J = bo_mat_mul(bo_mat_mul(a->Q, bo_left_jacobian_inverse(phi)), bo_transpose(a->Q));
        const bo_mat3 by_b = bo_mat_scale(stiffness, J);
        const bo_mat3 by_a = bo_mat_scale(-1, bo_mat_add(by_b, bo_mat_scale(stiffness, bo_hat(psi))));
        sub33(rows->H, 3, 3, -1, by_a), sub33(rows->H, 3, 9, -1, by_b);
        sub33(rows->H, 9, 3, 1, by_a), sub33(rows->H, 9, 9, 1, by_b);
        const bo_mat3 one = bo_identity3();
        sub33(rows->E, 3, 3, damping, one), sub33(rows->E, 3, 9, -damping, one);
        sub33(rows->E, 9, 3, -damping, one), sub33(rows->E, 9, 9, damping, one);
    }
    return 0.5 * stiffness * bo_dot(phi, phi);
}

/* Springs along the axes of a, between the origins; rests: their lengths at rest. */
static double shift_back(const bough_joint_def *def, const double *rests, const bo_mb_place *a, const bo_mb_place *b,
                         bool derivatives, bo_mb_rows *rows) {
    double energy = 0;
    for (int k = 0; k < 3; k++) {
        bo_mb_coordinate y;
        slide_along(k, a, b, derivatives, &y);
        const double stretch = y.value - rests[k], force = def->stiffness[k] * stretch + def->damping[k] * y.rate;
        energy += 0.5 * def->stiffness[k] * stretch * stretch;
        for (int i = 0; i < 12; i++) {
            rows->W[i] -= force * y.direction[i];
            for (int j = 0; derivatives && j < 12; j++) {
                rows->H[i][j] -= y.direction[i] * (def->stiffness[k] * y.gradient[j] + def->damping[k] * y.rate_by[j]) +
                                 force * y.direction_by[i][j];
                rows->E[i][j] -= y.direction[i] * def->damping[k] * y.direction[j];
            }
        }
    }
    return energy;
}

double bo_mb_joint_springs(const bough_multibody *model, const bo_mb_work *work, const bo_mb_joint *joint,
                           const bo_mb_drive *drive, bool derivatives, bo_mb_rows *rows) {
    const bo_mb_place *a = &work->places[joint->frames[0]], *b = &work->places[joint->frames[1]];
    double energy = 0;
    if (!joint->springs)
        return 0;
    const bough_joint_def *def = &model->def.joints[joint->def];
    if (joint->kind == BOUGH_JOINT_BALL)
        return twist_back(a, b, def->stiffness[0], def->damping[0], derivatives, rows);
    if (joint->kind == BOUGH_JOINT_COMPLIANT)
        return shift_back(def, model->rests + model->coordinate_first[joint->def], a, b, derivatives, rows) +
               twist_back(a, b, def->stiffness[3], def->damping[3], derivatives, rows);
    for (int k = 0; k < bough_joint_freedoms(joint->kind); k++)
        energy += push_coordinate(model, work, joint, k, drive, derivatives, rows);
    return energy;
}

/* ---- by constants and motors ---- */

/* The change of the force against coordinate y by a unit of what causes it. */
static double force_by(const bough_multibody *model, const bo_mb_joint *joint, int k, bo_mb_cause cause,
                       const bo_mb_drive *drive, double y, double rate) {
    const bough_joint_def *def = &model->def.joints[joint->def];
    const double beyond = y > def->upper[k] ? y - def->upper[k] : y < def->lower[k] ? y - def->lower[k] : 0;
    if (cause == BO_MB_BY_STIFFNESS) /* limits are as stiff as the joint is */
        return y - def->offset[k] + (def->stiffness[k] > 0 ? def->limit_stiffness * beyond : 0);
    if (cause == BO_MB_BY_DAMPING)
        return rate;
    const bough_motor_def *motor = &model->def.motors[joint->motors[k]];
    const double ahead = drive->place[joint->motors[k]] - y, ahead_rate = drive->rate[joint->motors[k]] - rate;
    double slope;
    bo_mb_motor_force(motor, ahead, ahead_rate, &slope);
    const double by[] = {[BO_MB_BY_MOTOR_PLACE] = motor->stiffness,
                         [BO_MB_BY_MOTOR_RATE] = motor->damping,
                         [BO_MB_BY_MOTOR_STIFFNESS] = ahead,
                         [BO_MB_BY_MOTOR_DAMPING] = ahead_rate};
    return -slope * by[cause];
}

void bo_mb_wrench_by(const bough_multibody *model, const bo_mb_work *work, const bo_mb_joint *joint, int freedom,
                     bo_mb_cause cause, const bo_mb_drive *drive, double W[12]) {
    const bo_mb_place *a = &work->places[joint->frames[0]], *b = &work->places[joint->frames[1]];
    memset(W, 0, 12 * sizeof *W);
    bo_mb_coordinate y;
    double force;
    if (joint->kind == BOUGH_JOINT_BALL || (joint->kind == BOUGH_JOINT_COMPLIANT && freedom >= 3)) {
        const bo_vec3 turn = bo_mat_vec(a->Q, bo_log3(bo_mat_tmul(a->Q, b->Q))), spin = bo_sub(b->w, a->w);
        const bo_vec3 torque = cause == BO_MB_BY_STIFFNESS ? turn : spin;
        put3(W, 3, torque), put3(W, 9, bo_scale(-1, torque));
        return;
    }
    if (joint->kind == BOUGH_JOINT_COMPLIANT) {
        slide_along(freedom, a, b, false, &y);
        force = cause == BO_MB_BY_STIFFNESS ? y.value : y.rate;
    } else {
        bo_mb_coordinate_at(joint->kind, freedom, a, b,
                            work->coordinates[model->coordinate_first[joint->def] + freedom], false, &y);
        force = force_by(model, joint, freedom, cause, drive, y.value, y.rate);
    }
    for (int i = 0; i < 12; i++)
        W[i] = -force * y.direction[i];
}
