/* A motor, a rod and a weight at its end, against the figures of an independent program. */
#include "reference_rod.h"

#include "multibody/multibody.h"

enum { NU = 19, NV = 17, NC = 12, N = 48 };

typedef struct {
    reference_rod *m;
    bough_context *ctx;
    bough_multibody *model;
    bough_multibody_state *state;
    double S[N], hat[NU + NV], a[NV], h;
} probe;

/* Multipliers of rows in which points meet have the opposite sign there. */
static double sign_of(int row) {
    return row % 6 < 3 ? -1 : 1;
}

static bool open_probe(probe *p) {
    *p = (probe){.m = load_reference_rod()};
    if (!p->m)
        return false;
    p->ctx = test_context(1);
    check_ok(p->ctx, bough_multibody_create(p->ctx, &p->m->def, &p->model));
    check_ok(p->ctx, bough_multibody_state_create(p->ctx, p->model, &p->state));
    const json_t *at = json_object_get(p->m->json, "probe");
    for (size_t i = 0; i < N; i++)
        p->S[i] = number(json_array_get(json_object_get(at, "S"), i));
    for (size_t i = 0; i < NU + NV; i++)
        p->hat[i] = number(json_array_get(json_object_get(at, "Shat"), i));
    p->h = number(json_object_get(at, "h"));
    for (int i = 0; i < NC; i++)
        p->S[NU + NV + i] *= sign_of(i);
    for (int i = 0; i < NV; i++)
        p->a[i] = (p->S[NU + i] - p->hat[NU + i]) / p->h;
    return true;
}

static void close_probe(probe *p) {
    bough_multibody_state_destroy(p->ctx, p->state);
    bough_multibody_destroy(p->ctx, p->model);
    bough_context_destroy(p->ctx);
    unload_reference_rod(p->m);
}

static bo_mb_drive evaluate(probe *p, double *R, double *c, double *rate) {
    bo_mb_state *s = bo_mb(p->state);
    const json_t *at = json_object_get(p->m->json, "probe");
    const bo_mb_drive drive = bo_mb_drive_at(s, 0);
    s->work.motor_place[0] = number(json_object_get(at, "theta"));
    s->work.motor_rate[0] = number(json_object_get(at, "thetadot"));
    check(bo_mb_evaluate(p->model, &s->work, &drive, p->S, p->S + NU, p->a, p->S + NU + NV, R, c, rate));
    return drive;
}

static void the_residual_is_that_of_the_reference(void **unused) {
    (void)unused;
    probe p;
    if (!open_probe(&p))
        test_skip("no reference data");
    check_int(bough_multibody_position_count(p.model), NU);
    check_int(bough_multibody_velocity_count(p.model), NV);
    check_int(bough_multibody_constraint_count(p.model), NC);
    double R[NV], c[NC], rate[NC], told[N];
    evaluate(&p, R, c, rate);
    for (size_t i = 0; i < N; i++)
        told[i] = number(json_array_get(json_object_get(json_object_get(p.m->json, "probe"), "residual"), i));
    for (int i = 0; i < NV; i++)
        check_near(R[i], told[NU + i], 1e-12 * (1 + fabs(told[NU + i])));
    for (int i = 0; i < NC; i++)
        check_near(sign_of(i) * (rate[i] + p.m->def.baumgarte * c[i]), told[NU + NV + i],
                   1e-12 * (1 + fabs(told[NU + NV + i])));
    close_probe(&p);
}

/* Solves A X = B for B of `count` columns, in place, by elimination with pivots. */
static void solve_dense(int n, double *A, int count, double *B) {
    for (int k = 0; k < n; k++) {
        int best = k;
        for (int i = k; i < n; i++)
            best = fabs(A[n * i + k]) > fabs(A[n * best + k]) ? i : best;
        for (int j = 0; j < n; j++) {
            const double t = A[n * k + j];
            A[n * k + j] = A[n * best + j], A[n * best + j] = t;
        }
        for (int j = 0; j < count; j++) {
            const double t = B[count * k + j];
            B[count * k + j] = B[count * best + j], B[count * best + j] = t;
        }
        for (int i = 0; i < n; i++) {
            const double f = i == k ? 0 : A[n * i + k] / A[n * k + k];
            for (int j = 0; j < n; j++)
                A[n * i + j] -= f * A[n * k + j];
            for (int j = 0; j < count; j++)
                B[count * i + j] -= f * B[count * k + j];
        }
    }
    for (int i = 0; i < n; i++)
        for (int j = 0; j < count; j++)
            B[count * i + j] /= A[n * i + i];
}

/* The reference keeps positions among its unknowns: its matrix, with these eliminated, is that of a step. The state of
 * the probe does not solve the equation of positions, so that the matrix is compared at the velocity with which it does.
 */
static void the_matrix_is_that_of_the_reference(void **unused) {
    (void)unused;
    probe p;
    if (!open_probe(&p))
        test_skip("no reference data");
    const json_t *rows = json_object_get(json_object_get(p.m->json, "probe"), "jacobian");
    double J[N][N], A[NU * NU], B[NU * NV], R[NV], c[NC], rate[NC];
    for (size_t i = 0; i < N; i++)
        for (size_t j = 0; j < N; j++)
            J[i][j] = number(json_array_get(json_array_get(rows, i), j));
    for (int i = 0; i < NU; i++) {
        for (int j = 0; j < NU; j++)
            A[NU * i + j] = J[i][j];
        for (int j = 0; j < NV; j++)
            B[NV * i + j] = -J[i][NU + j];
    }
    solve_dense(NU, A, NV, B); /* dU/dV */
    const bo_mb_drive drive = evaluate(&p, R, c, rate);
    bo_mb_state *s = bo_mb(p.state);
    bo_mb_tangent(p.model, &s->work, &drive, p.S, p.S + NU, p.a, p.S + NU + NV, 1 / p.h, 1, p.h, p.h,
                  p.m->def.baumgarte, false);
    for (int i = 0; i < NV + NC; i++) {
        double largest = 0;
        for (int j = 0; j < NV + NC; j++)
            largest = fmax(largest, fabs(J[NU + i][NU + j]));
        for (int j = 0; j < NV + NC; j++) {
            double told = J[NU + i][NU + j];
            for (int k = 0; k < NU && j < NV; k++)
                told += J[NU + i][k] * B[NV * k + j];
            told *= (i < NV ? 1 : sign_of(i - NV)) * (j < NV ? 1 : sign_of(j - NV));
            /* the entry of the block matrix */
            const int32_t a = p.model->place[i], b = p.model->place[j];
            const bo_block_lu *lu = &s->work.lu;
            int32_t bi = 0, bj = 0, stride;
            while (lu->first[bi + 1] <= a)
                bi++;
            while (lu->first[bj + 1] <= b)
                bj++;
            bool meet = bi == bj;
            const int32_t low = bi < bj ? bi : bj, high = bi < bj ? bj : bi;
            for (int32_t n = lu->near_start[low]; n < lu->near_start[low + 1]; n++)
                meet = meet || lu->near[n] == high;
            double found = 0;
            if (meet)
                found = bo_block_lu_at(lu, bi, bj, &stride)[stride * (a - lu->first[bi]) + b - lu->first[bj]];
            check_near(found, told, 1e-12 * (largest + fabs(told)));
        }
    }
    close_probe(&p);
}

/* ---- a motion ---- */

typedef struct {
    int count;
    double *values; /* 19 columns */
} table;

static table read_table(const char *path) {
    FILE *f = fopen(path, "r");
    char line[2000];
    table t = {0, malloc(1000 * 19 * sizeof(double))};
    while (fgets(line, sizeof line, f)) {
        char *at = line;
        if (line[0] == '#')
            continue;
        for (int k = 0; k < 18; k++) {
            t.values[19 * t.count + k] = strtod(at, &at);
            at += *at == ',';
        }
        t.count++;
    }
    fclose(f);
    return t;
}

static void follow_table(void *data, int32_t motor, double time, double *place, double *rate) {
    const table *t = data;
    const int i = (int)lround(time / 0.002);
    (void)motor;
    *place = t->values[19 * i + 1], *rate = t->values[19 * i + 2];
}

static void the_motion_is_that_of_the_reference(void **unused) {
    (void)unused;
    const char *path = test_shared("reference/multibody/B_onerod_traj_dt2ms.csv");
    probe p;
    if (!path || !open_probe(&p))
        test_skip("no reference data");
    table t = read_table(path);
    bough_multibody_state *state = p.state;
    state->drive = follow_table, state->drive_data = &t;
    check_ok(p.ctx, bough_multibody_settle(p.ctx, p.model, state));
    double worst = 0, most = 0;
    int factors = 0, iterations = 0;
    for (int i = 1; i < t.count; i++) {
        check_ok(p.ctx, bough_multibody_step(p.ctx, p.model, state, 0.002));
        factors += state->factors, iterations += state->iterations;
        for (int k = 0; k < 3; k++)
            worst = fmax(worst, fabs(state->u[7 + k] - t.values[19 * i + 3 + k]));
        most = fmax(most, state->drift);
    }
    printf("%d steps: %d iterations, %d factors; tip within %.2e m, drift %.2e\n", t.count - 1, iterations, factors,
           worst, most);
    check_below(worst, 2e-9);
    check_below(most, 1e-4);
    free(t.values);
    close_probe(&p);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(the_residual_is_that_of_the_reference),
                                       cmocka_unit_test(the_matrix_is_that_of_the_reference),
                                       cmocka_unit_test(the_motion_is_that_of_the_reference)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
