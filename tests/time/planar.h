/* Planar rigid bodies with pins, slides and motors, in coordinates of their own (x, y, turn), as a system with
 * constraints; and what accelerations and multipliers belong to a state, for references. */
#ifndef BOUGH_TEST_PLANAR_H
#define BOUGH_TEST_PLANAR_H

#include "test.h"

#include "dense/lu.h"
#include "time/integrator.h"

enum { PLANAR_BODIES = 4, PLANAR_ROWS = 12, PLANAR_SIZE = 3 * PLANAR_BODIES, PLANAR_ALL = PLANAR_SIZE + PLANAR_ROWS };

/* The place of a pin in a body; body -1 is the ground. */
typedef struct {
    int body;
    double x, y;
} planar_place;
/* Two rows hold two places together; or one row keeps entry `entry` of q at value + speed t. */
typedef struct {
    bool pin;
    planar_place a, b;
    int entry;
    double value, speed;
} planar_joint;

typedef struct {
    int body_count, joint_count, rows;
    double mass[PLANAR_BODIES], inertia[PLANAR_BODIES], gravity;
    double drag; /* force -drag |v| v on each body: one that depends on the velocity */
    planar_joint joints[8];
    double A[PLANAR_ALL * PLANAR_ALL];
    int32_t pivots[PLANAR_ALL];
} planar;

static inline void planar_arm(const planar_place *p, const double *q, double *x, double *y) {
    const double s = p->body < 0 ? 0 : sin(q[3 * p->body + 2]), c = p->body < 0 ? 1 : cos(q[3 * p->body + 2]);
    *x = c * p->x - s * p->y, *y = s * p->x + c * p->y;
}

static inline void planar_constraints(const planar *s, double t, const double *q, double *c) {
    for (int j = 0, r = 0; j < s->joint_count; j++) {
        const planar_joint *joint = &s->joints[j];
        if (!joint->pin) {
            c[r++] = q[joint->entry] - joint->value - joint->speed * t;
            continue;
        }
        c[r] = c[r + 1] = 0;
        for (int side = 0; side < 2; side++) {
            const planar_place *p = side ? &joint->b : &joint->a;
            double x, y;
            planar_arm(p, q, &x, &y);
            c[r] += (side ? -1 : 1) * (x + (p->body < 0 ? 0 : q[3 * p->body]));
            c[r + 1] += (side ? -1 : 1) * (y + (p->body < 0 ? 0 : q[3 * p->body + 1]));
        }
        r += 2;
    }
}

/* G (rows x size), and, where bias is asked for, dG/dt v. */
static inline void planar_rows(const planar *s, const double *q, const double *v, double *G, double *bias) {
    const int n = 3 * s->body_count;
    memset(G, 0, (size_t)(s->rows * n) * sizeof *G);
    for (int j = 0, r = 0; j < s->joint_count; j++) {
        const planar_joint *joint = &s->joints[j];
        if (bias)
            bias[r] = 0;
        if (!joint->pin) {
            G[r++ * n + joint->entry] = 1;
            continue;
        }
        if (bias)
            bias[r + 1] = 0;
        for (int side = 0; side < 2; side++) {
            const planar_place *p = side ? &joint->b : &joint->a;
            const double sign = side ? -1 : 1;
            double x, y;
            if (p->body < 0)
                continue;
            planar_arm(p, q, &x, &y);
            const int k = 3 * p->body;
            G[r * n + k] = G[(r + 1) * n + k + 1] = sign;
            G[r * n + k + 2] = -sign * y, G[(r + 1) * n + k + 2] = sign * x;
            if (bias) {
                bias[r] -= sign * x * v[k + 2] * v[k + 2];
                bias[r + 1] -= sign * y * v[k + 2] * v[k + 2];
            }
        }
        r += 2;
    }
}

static inline void planar_force(const planar *s, const double *v, double *f) {
    for (int b = 0; b < s->body_count; b++) {
        const double speed = hypot(v[3 * b], v[3 * b + 1]);
        f[3 * b] = -s->drag * speed * v[3 * b];
        f[3 * b + 1] = -s->mass[b] * s->gravity - s->drag * speed * v[3 * b + 1];
        f[3 * b + 2] = 0;
    }
}

static inline double planar_mass(const planar *s, int entry) {
    return entry % 3 == 2 ? s->inertia[entry / 3] : s->mass[entry / 3];
}

static inline bough_status planar_residual(void *data, const bo_instant *at, double *R, double *c, double *magnitude) {
    planar *s = data;
    const int n = 3 * s->body_count;
    double G[PLANAR_ROWS * PLANAR_SIZE], f[PLANAR_SIZE];
    planar_constraints(s, at->t, at->q, c);
    planar_rows(s, at->q, at->v, G, NULL);
    planar_force(s, at->v, f);
    *magnitude = 0;
    for (int i = 0; i < n; i++) {
        R[i] = planar_mass(s, i) * at->a[i] - f[i];
        *magnitude = fmax(*magnitude, fmax(fabs(f[i]), fabs(planar_mass(s, i) * at->a[i])));
        for (int r = 0; r < s->rows; r++) {
            R[i] += G[r * n + i] * at->lambda[r];
            *magnitude = fmax(*magnitude, fabs(G[r * n + i] * at->lambda[r]));
        }
    }
    return BOUGH_OK;
}

static inline void planar_rate(void *data, double t, const double *q, const double *v, double *rate) {
    const planar *s = data;
    const int n = 3 * s->body_count;
    double G[PLANAR_ROWS * PLANAR_SIZE];
    (void)t;
    planar_rows(s, q, v, G, NULL);
    for (int j = 0, r = 0; j < s->joint_count; j++)
        for (int k = 0; k < (s->joints[j].pin ? 2 : 1); k++, r++) {
            rate[r] = s->joints[j].pin ? 0 : -s->joints[j].speed;
            for (int i = 0; i < n; i++)
                rate[r] += G[r * n + i] * v[i];
        }
}

static inline bough_status planar_tangent(void *data, const bo_instant *at, double ca, double cv, double cq) {
    planar *s = data;
    const int n = 3 * s->body_count, all = n + s->rows;
    double G[PLANAR_ROWS * PLANAR_SIZE];
    planar_rows(s, at->q, at->v, G, NULL);
    memset(s->A, 0, sizeof s->A);
    for (int i = 0; i < n; i++) {
        s->A[i * all + i] = ca * planar_mass(s, i);
        for (int r = 0; r < s->rows; r++)
            s->A[(n + r) * all + i] = s->A[i * all + n + r] = G[r * n + i];
    }
    for (int b = 0; b < s->body_count; b++) {
        const double *v = at->v + 3 * b, speed = hypot(v[0], v[1]);
        for (int i = 0; i < 2 && speed > 0; i++)
            for (int k = 0; k < 2; k++)
                s->A[(3 * b + i) * all + 3 * b + k] += cv * s->drag * (speed * (i == k) + v[i] * v[k] / speed);
    }
    for (int j = 0, r = 0; j < s->joint_count; r += s->joints[j++].pin ? 2 : 1)
        for (int side = 0; side < 2 && s->joints[j].pin; side++) {
            const planar_place *p = side ? &s->joints[j].b : &s->joints[j].a;
            double x, y;
            if (p->body < 0)
                continue;
            planar_arm(p, at->q, &x, &y);
            const int k = 3 * p->body + 2;
            s->A[k * all + k] -= cq * (side ? -1 : 1) * (x * at->lambda[r] + y * at->lambda[r + 1]);
        }
    return bo_lu_factor(all, s->A, s->pivots) ? BOUGH_OK : BOUGH_ERROR_SINGULAR;
}

static inline bough_status planar_solve(void *data, const double *b, const double *d, double *x, double *y) {
    const planar *s = data;
    const int n = 3 * s->body_count;
    double both[PLANAR_ALL];
    memcpy(both, b, (size_t)n * sizeof *b);
    memcpy(both + n, d, (size_t)s->rows * sizeof *d);
    bo_lu_solve(n + s->rows, s->A, s->pivots, both);
    memcpy(x, both, (size_t)n * sizeof *b);
    memcpy(y, both + n, (size_t)s->rows * sizeof *d);
    return BOUGH_OK;
}

static inline bo_system planar_system(planar *s) {
    s->rows = 0;
    for (int j = 0; j < s->joint_count; j++)
        s->rows += s->joints[j].pin ? 2 : 1;
    return (bo_system){.data = s,
                       .size = 3 * s->body_count,
                       .position_size = 3 * s->body_count,
                       .constraint_count = s->rows,
                       .residual = planar_residual,
                       .constraint_rate = planar_rate,
                       .tangent = planar_tangent,
                       .solve_tangent = planar_solve};
}

/* Accelerations and multipliers of a state that obeys the constraints. */
static inline void planar_accelerations(planar *s, const double *q, const double *v, double *a, double *lambda) {
    const int n = 3 * s->body_count;
    double G[PLANAR_ROWS * PLANAR_SIZE], bias[PLANAR_ROWS], f[PLANAR_SIZE], none[PLANAR_ALL] = {0};
    planar_rows(s, q, v, G, bias);
    planar_force(s, v, f);
    for (int r = 0; r < s->rows; r++)
        bias[r] = -bias[r];
    const bo_instant at = {0, q, NULL, v, none, none};
    check(planar_tangent(s, &at, 1, 0, 0) == BOUGH_OK);
    planar_solve(s, f, bias, a, lambda);
    (void)n;
}

/* The same motion by accelerations alone (index 1), by Runge and Kutta's method: what it drifts is 1e-12 with small
 * steps. */
static inline void planar_reference(planar *s, double T, int steps, double *q, double *v) {
    const int n = 3 * s->body_count;
    const double h = T / steps;
    static const double at[4] = {0, 0.5, 0.5, 1}, weight[4] = {1. / 6, 1. / 3, 1. / 3, 1. / 6};
    for (int k = 0; k < steps; k++) {
        double kq[PLANAR_SIZE] = {0}, kv[PLANAR_SIZE] = {0}, dq[PLANAR_SIZE] = {0}, dv[PLANAR_SIZE] = {0};
        for (int stage = 0; stage < 4; stage++) {
            double qs[PLANAR_SIZE], vs[PLANAR_SIZE], lambda[PLANAR_ROWS];
            for (int i = 0; i < n; i++)
                qs[i] = q[i] + at[stage] * h * kq[i], vs[i] = v[i] + at[stage] * h * kv[i];
            planar_accelerations(s, qs, vs, kv, lambda);
            for (int i = 0; i < n; i++)
                kq[i] = vs[i], dq[i] += weight[stage] * h * kq[i], dv[i] += weight[stage] * h * kv[i];
        }
        for (int i = 0; i < n; i++)
            q[i] += dq[i], v[i] += dv[i];
    }
}

static inline double planar_energy(const planar *s, const double *q, const double *v) {
    double sum = 0;
    for (int i = 0; i < 3 * s->body_count; i++)
        sum += 0.5 * planar_mass(s, i) * v[i] * v[i] + (i % 3 == 1 ? s->mass[i / 3] * s->gravity * q[i] : 0);
    return sum;
}

/* ---- examples ---- */

/* A rod of 1 m and 1 kg that hangs from a pin, at `angle` from hanging straight down, at rest. */
static inline planar planar_pendulum(double angle, double *q, double *v) {
    planar s = {.body_count = 1, .joint_count = 1, .mass = {1}, .inertia = {1. / 12}, .gravity = 9.81};
    s.joints[0] = (planar_joint){.pin = true, .a = {0, 0, 0.5}, .b = {-1, 0, 0}};
    q[0] = 0.5 * sin(angle), q[1] = -0.5 * cos(angle), q[2] = angle;
    memset(v, 0, 3 * sizeof *v);
    return s;
}

/* Crank 0.3 m (0.5 kg), rod 0.8 m (1 kg), slider 0.7 kg on the axis x; the crank stands at `angle` and turns with
 * `speed`. The slider's constraints are its height and its turn. */
static inline planar planar_slider_crank(double angle, double speed, double *q, double *v) {
    const double r = 0.3, l = 0.8;
    planar s = {.body_count = 3, .joint_count = 5, .gravity = 9.81};
    const double mass[] = {0.5, 1, 0.7}, inertia[] = {0.5 * r * r / 12, l * l / 12, 1e-3};
    memcpy(s.mass, mass, sizeof mass), memcpy(s.inertia, inertia, sizeof inertia);
    s.joints[0] = (planar_joint){.pin = true, .a = {0, -0.5 * r, 0}, .b = {-1, 0, 0}};
    s.joints[1] = (planar_joint){.pin = true, .a = {1, -0.5 * l, 0}, .b = {0, 0.5 * r, 0}};
    s.joints[2] = (planar_joint){.pin = true, .a = {2, 0, 0}, .b = {1, 0.5 * l, 0}};
    s.joints[3] = (planar_joint){.entry = 7};
    s.joints[4] = (planar_joint){.entry = 8};
    const double b = -asin(r / l * sin(angle)), turn = -r * cos(angle) / (l * cos(b)) * speed; /* of the rod */
    const double x = r * cos(angle), y = r * sin(angle);
    q[0] = 0.5 * x, q[1] = 0.5 * y, q[2] = angle;
    q[3] = x + 0.5 * l * cos(b), q[4] = y + 0.5 * l * sin(b), q[5] = b;
    q[6] = x + l * cos(b), q[7] = q[8] = 0;
    v[0] = -0.5 * y * speed, v[1] = 0.5 * x * speed, v[2] = speed;
    v[3] = -y * speed - 0.5 * l * sin(b) * turn, v[4] = x * speed + 0.5 * l * cos(b) * turn, v[5] = turn;
    v[6] = -y * speed - l * sin(b) * turn, v[7] = v[8] = 0;
    return s;
}

#endif
