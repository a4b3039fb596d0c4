/* The recursion of the exact coupling against the mass matrix of the whole tree, P^T m P with m the masses of all
 * vertices and P how they follow the coordinates, factored as one dense matrix. */
#include "grove.h"

#include "base/polar.h"
#include "dense/symmetric_eigen.h"

enum { MOST_UNKNOWNS = 64 };

/* Motion of a part's frame, in the world's axes. */
typedef struct {
    bo_vec3 origin;
    bo_mat3 R;
    bo_vec3 W;    /* angular velocity */
    bo_vec3 A, B; /* acceleration, angular acceleration */
} motion;

static bo_mat3 matrix_of(const double *m) {
    bo_mat3 M;
    memcpy(M.m, m, sizeof M.m);
    return M;
}

/* start + sum_l q_l rows_l */
static bo_mat3 combine9(int32_t r, bo_mat3 start, const double *rows, const double *q) {
    for (int32_t l = 0; l < r; l++)
        start = bo_mat_add(start, bo_mat_scale(q[l], matrix_of(rows + 9 * l)));
    return start;
}
static bo_vec3 combine3(int32_t r, bo_vec3 start, const double *rows, const double *q) {
    for (int32_t l = 0; l < r; l++)
        start = bo_mul_add(start, q[l], bo_load3(rows + 3 * l));
    return start;
}

/* Acceleration of a point that is at p from the frame's origin and moves in it with dp, ddp; all in world axes. */
static bo_vec3 carried(const motion *f, bo_vec3 p, bo_vec3 dp, bo_vec3 ddp) {
    bo_vec3 x = bo_add(bo_add(f->A, ddp), bo_cross(f->B, p));
    return bo_add(x, bo_cross(f->W, bo_add(bo_cross(f->W, p), bo_scale(2, dp))));
}

/* Turned by the angle q of a hinge that has rate v and acceleration a. */
static motion hinged(motion f, const double *axis, double q, double v, double a) {
    const bo_vec3 e = bo_normalize(bo_load3(axis)), out = bo_mat_vec(f.R, e);
    const bo_mat3 hat = bo_hat(e),
                  turn = bo_mat_add(bo_identity3(), bo_mat_add(bo_mat_scale(sin(q), hat),
                                                               bo_mat_scale(1 - cos(q), bo_mat_mul(hat, hat))));
    f.R = bo_mat_mul(f.R, turn);
    f.B = bo_add(f.B, bo_add(bo_scale(a, out), bo_scale(v, bo_cross(f.W, out))));
    f.W = bo_mul_add(f.W, v, out);
    return f;
}

/* Motion of a part that hangs at an interface of part i, whose coordinates are q, v, a. */
static motion hung(const grove *g, int32_t i, const motion *f, const bough_part_def *child, const double *q,
                   const double *v, const double *a) {
    const bough_component *c = g->components[g->parts[i].component];
    const bough_interface *face = &c->interfaces[child->interface_index];
    const bo_vec3 zero = bo_v3(0, 0, 0);
    const bo_mat3 none = {{0}}, scaled = bo_mat_scale(g->parts[i].scale, f->R);
    const bo_vec3 p = bo_mat_vec(scaled, combine3(c->r, bo_load3(face->centre), face->translation, q));
    const bo_vec3 dp = bo_mat_vec(scaled, combine3(c->r, zero, face->translation, v));
    const bo_vec3 ddp = bo_mat_vec(scaled, combine3(c->r, zero, face->translation, a));
    const bo_mat3 fit = combine9(c->r, matrix_of(face->A), face->A + 9, q);
    const bo_mat3 dfit = combine9(c->r, none, face->A + 9, v), ddfit = combine9(c->r, none, face->A + 9, a);
    bo_mat3 R, S, dR, dS, ddR;
    bo_vec3 turning, gain;
    check(bo_polar(fit, &R, &S));
    check(bo_polar_rates(fit, R, S, dfit, &turning, &dR, &dS));
    check(bo_polar_accelerations(R, S, dfit, ddfit, turning, dS, &gain, &ddR));
    turning = bo_mat_vec(f->R, turning), gain = bo_mat_vec(f->R, gain);
    motion m = {.origin = bo_add(f->origin, p),
                .R = bo_mat_mul(f->R, bo_mat_mul(R, matrix_of(child->rotation))),
                .W = bo_add(f->W, turning),
                .A = carried(f, p, dp, ddp),
                .B = bo_add(bo_add(f->B, gain), bo_cross(f->W, turning))};
    const bo_vec3 reach = bo_mat_vec(bo_mat_mul(f->R, R), bo_load3(child->offset));
    m.A = carried(&m, reach, zero, zero);
    m.origin = bo_add(m.origin, reach);
    return m;
}

/* Accelerations of all vertices, from those of the root's frame (world axes) and of the coordinates. */
static void accelerate(const grove *g, bo_vec3 W, const double root[6], const double *q, const double *v,
                       const double *a, double *x) {
    motion frames[MOST_PARTS];
    const bough_frame *first = &g->state->frames[0];
    frames[0] = (motion){bo_load3(first->pose.position), matrix_of(first->pose.rotation), W, bo_load3(root),
                         bo_load3(root + 3)};
    for (int32_t i = 0; i < bough_tree_model_part_count(g->model); i++) {
        const bough_part_def *part = &g->parts[i];
        const bough_component *c = g->components[part->component];
        const int32_t at = bough_tree_model_offset(g->model, i);
        if (i > 0) {
            const int32_t of = bough_tree_model_offset(g->model, part->parent);
            const int32_t joint = bough_tree_model_joint_offset(g->model, i);
            frames[i] = hung(g, part->parent, &frames[part->parent], part, q + of, v + of, a + of);
            double axis[3];
            if (joint >= 0) {
                bo_store3(axis, bo_joint_axis(part->joint));
                frames[i] = hinged(frames[i], axis, q[joint], v[joint], a[joint]);
            }
        }
        for (size_t k = 0; k < (size_t)c->volume.vertex_count; k++, x += 3) {
            double p[3][3];
            const double *coordinates[3] = {q + at, v + at, a + at};
            for (size_t e = 0; e < 9; e++) {
                const size_t d = e % 3, row = 3 * k + d;
                p[e / 3][d] = e < 3 ? c->volume.position[row] : 0;
                for (size_t l = 0; l < (size_t)c->r; l++)
                    p[e / 3][d] += c->volume.U[row * (size_t)c->r + l] * coordinates[e / 3][l];
            }
            const bo_mat3 scaled = bo_mat_scale(part->scale, frames[i].R);
            bo_store3(x, carried(&frames[i], bo_mat_vec(scaled, bo_load3(p[0])), bo_mat_vec(scaled, bo_load3(p[1])),
                                 bo_mat_vec(scaled, bo_load3(p[2]))));
        }
    }
}

static double dot(size_t n, const double *a, const double *b) {
    double sum = 0;
    for (size_t i = 0; i < n; i++)
        sum += a[i] * b[i];
    return sum;
}

/* Largest eigenvalue over the smallest. */
static double condition(size_t n, const double *M) {
    double *A = calloc(n * n + 3 * n, sizeof *A), *values = A + n * n;
    memcpy(A, M, n * n * sizeof *A);
    check(bo_sym_eigen((int)n, A, values, NULL, values + n));
    const double found = values[n - 1] / values[0];
    free(A);
    return found;
}

/* P^T m (P [A, a] + bias) = [0, f], with A of a root that flies, as M [A, a] = b. */
typedef struct {
    size_t extra, unknowns; /* 6 of a root that flies come first */
    double *M, *b;
} whole;

static whole assemble(const grove *g, bo_vec3 W, bool flies, const double *q, const double *v, const double *f) {
    const size_t size = (size_t)bough_tree_model_size(g->model), n = 3 * vertex_total(g);
    const size_t extra = flies ? 6 : 0, unknowns = size + extra;
    const double still[6] = {0};
    whole w = {extra, unknowns, calloc(unknowns * unknowns, sizeof(double)), calloc(unknowns, sizeof(double))};
    double *P = calloc(unknowns * n, sizeof *P), *mP = calloc(unknowns * n, sizeof *mP);
    double *bias = calloc(n, sizeof *bias), *zero = calloc(2 * size, sizeof *zero), *unit = zero + size;
    bough_sparse *mass[3];
    for (int i = 0; i < 3; i++)
        mass[i] = mass_of(g->ctx, g->components[i]);
    for (size_t k = 0; k < unknowns; k++) { /* with nothing moving, accelerations are linear */
        double root[6] = {0};
        *(k < extra ? &root[k] : &unit[k - extra]) = 1;
        accelerate(g, bo_v3(0, 0, 0), root, q, zero, unit, P + k * n);
        multiply_mass(g, mass, P + k * n, mP + k * n);
        memset(unit, 0, size * sizeof *unit);
    }
    accelerate(g, W, still, q, v, zero, bias);
    for (size_t k = 0; k < unknowns; k++) {
        w.b[k] = (k < extra ? 0 : f[k - extra]) - dot(n, mP + k * n, bias);
        for (size_t l = 0; l < unknowns; l++)
            w.M[k * unknowns + l] = dot(n, P + k * n, mP + l * n);
    }
    for (int i = 0; i < 3; i++)
        bough_sparse_destroy(g->ctx, mass[i]);
    free(P), free(mP), free(bias), free(zero);
    return w;
}

/* Returns the residual b - M [A, a] with the recursion's a and the A that suits the first rows best, over b. */
static double residual(const whole *w, const double *a) {
    const size_t n = w->unknowns, extra = w->extra;
    double x[MOST_UNKNOWNS] = {0}, left[MOST_UNKNOWNS], corner[36];
    memcpy(x + extra, a, (n - extra) * sizeof *a);
    for (size_t i = 0; i < extra; i++) {
        x[i] = w->b[i] - dot(n - extra, w->M + i * n + extra, a);
        memcpy(corner + 6 * i, w->M + i * n, 6 * sizeof *corner);
    }
    if (extra) {
        check(bo_cholesky_factor(6, corner));
        bo_cholesky_solve(6, corner, x);
    }
    for (size_t i = 0; i < n; i++)
        left[i] = w->b[i] - dot(n, w->M + i * n, x);
    return norm_of(n, left) / norm_of(n, w->b);
}

typedef struct {
    double residual, error, error_by_condition;
} mismatch;

static mismatch compare(uint64_t seed, int32_t part_count, bool flies) {
    grove g = plant_hinged(seed, part_count, BOUGH_COUPLING_L3, flies, seed % 4 < 2);
    const int32_t size = bough_tree_model_size(g.model);
    double q[MOST_UNKNOWNS], v[MOST_UNKNOWNS], f[MOST_UNKNOWNS], a[MOST_UNKNOWNS];
    test_random random = {seed + 100};
    check(size + 6 <= MOST_UNKNOWNS);
    for (int32_t k = 0; k < size; k++) {
        q[k] = test_uniform(&random, -0.1, 0.1);
        v[k] = test_uniform(&random, -2, 2);
        f[k] = test_uniform(&random, -10, 10);
    }
    for (int d = 0; d < 3 && flies; d++) {
        g.state->roots[0].velocity[d] = test_uniform(&random, -2, 2);
        g.state->roots[0].angular_velocity[d] = test_uniform(&random, -2, 2);
    }
    check_ok(g.ctx, bough_tree_state_update(g.ctx, g.model, g.state));
    const bo_vec3 W = flies ? bo_load3(g.state->roots[0].angular_velocity) : bo_v3(0, 0, 0);
    whole w = assemble(&g, W, flies, q, v, f);
    accelerations(&g, q, v, f, a);
    mismatch m = {.residual = residual(&w, a)};
    const double spread = condition(w.unknowns, w.M);
    check(bo_cholesky_factor((int)w.unknowns, w.M));
    bo_cholesky_solve((int)w.unknowns, w.M, w.b);
    check(norm_of((size_t)size, a) > 1);
    m.error = relative((size_t)size, a, 1, w.b + w.extra);
    m.error_by_condition = m.error / spread;
    free(w.M), free(w.b);
    fell(&g);
    return m;
}

/* Random trees with scaled, turned and rigid parts in motion, held and flying. Accelerations are as exact as forces
 * times the condition of the matrix, which is up to 1e5 here. */
static void recursion_is_the_whole_mass_matrix(void **state) {
    (void)state;
    const uint64_t seeds = test_long() ? 200 : 20;
    for (int flies = 0; flies < 2; flies++) {
        mismatch worst = {0, 0, 0};
        for (uint64_t seed = 1; seed <= seeds; seed++) {
            const mismatch m = compare(seed, 1 + (int32_t)(seed % MOST_PARTS), flies);
            worst.residual = fmax(worst.residual, m.residual);
            worst.error = fmax(worst.error, m.error);
            worst.error_by_condition = fmax(worst.error_by_condition, m.error_by_condition);
        }
        print_message("%s: forces %.2g, accelerations %.2g, %.2g of the condition\n", flies ? "flying" : "held",
                      worst.residual, worst.error, worst.error_by_condition);
        check_below(worst.residual, 1e-12);
        check_below(worst.error_by_condition, 1e-14);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(recursion_is_the_whole_mass_matrix),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
