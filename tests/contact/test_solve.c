/* Impulses at contacts, beside the conditions that define them; pairs of boxes. */
#include "../rig/shapes.h"

#include "contact/solve.h"
#include "contact/sweep.h"

enum { MOST_GROUPS = 6, MOST_SIZE = 9, MOST_CONSTRAINTS = 24 };

/* Random groups with random constraints between them. */
typedef struct {
    bo_group groups[MOST_GROUPS];
    double inverse[MOST_GROUPS][MOST_SIZE * MOST_SIZE], y[MOST_GROUPS][MOST_SIZE], free_y[MOST_GROUPS][MOST_SIZE],
        before[MOST_GROUPS][MOST_SIZE], impulse[MOST_GROUPS][MOST_SIZE];
    bo_constraint constraints[MOST_CONSTRAINTS];
    double rows[MOST_CONSTRAINTS * 6 * MOST_SIZE], answers[MOST_CONSTRAINTS * 6 * MOST_SIZE];
    bo_contact_problem problem;
} puzzle;

static puzzle *random_puzzle(test_random *r, int32_t groups, int32_t constraints, double friction) {
    puzzle *p = calloc(1, sizeof *p);
    for (int32_t g = 0; g < groups; g++) {
        const int32_t n = g == 0 ? MOST_SIZE : 6;
        double A[MOST_SIZE * MOST_SIZE];
        for (int32_t k = 0; k < n * n; k++)
            A[k] = spread(r);
        for (int32_t i = 0; i < n; i++)
            for (int32_t j = 0; j < n; j++) {
                p->inverse[g][n * i + j] = i == j ? 0.3 : 0;
                for (int32_t k = 0; k < n; k++)
                    p->inverse[g][n * i + j] += 0.3 * A[n * i + k] * A[n * j + k];
            }
        for (int32_t k = 0; k < n; k++)
            p->y[g][k] = p->free_y[g][k] = spread(r), p->before[g][k] = spread(r);
        p->groups[g] = (bo_group){n, p->inverse[g], p->y[g], p->before[g], p->impulse[g], 0, NULL, 0, false};
    }
    size_t row = 0;
    for (int32_t i = 0; i < constraints; i++) {
        bo_constraint *c = &p->constraints[i];
        *c = (bo_constraint){.groups = {(int32_t)(test_bits(r) % (uint64_t)groups), -1},
                             .friction = friction * test_uniform(r, 0, 1),
                             .speed = 0.2 * spread(r)};
        if (test_bits(r) % 2)
            c->groups[1] = (c->groups[0] + 1) % groups;
        for (int s = 0; s < 2; s++) {
            const size_t count = c->groups[s] < 0 ? 0 : 3 * (size_t)p->groups[c->groups[s]].size;
            c->rows[s] = row;
            for (size_t k = 0; k < count; k++)
                p->rows[row + k] = spread(r);
            row += count;
        }
    }
    p->problem = (bo_contact_problem){.group_count = groups,
                                      .constraint_count = constraints,
                                      .groups = p->groups,
                                      .constraints = p->constraints,
                                      .rows = p->rows,
                                      .answers = p->answers,
                                      .most_rounds = 20000,
                                      .tolerance = 1e-11,
                                      .bounce_speed = 1e-3};
    return p;
}

/* Rates at a constraint with y = y_free + A^-1 G lambda, made from nothing but the definition. */
static void rates_of(const puzzle *p, const bo_constraint *c, bool before, double v[3]) {
    v[0] = v[1] = v[2] = 0;
    for (int s = 0; s < 2; s++) {
        const int32_t g = c->groups[s];
        if (g < 0)
            continue;
        const int32_t n = p->groups[g].size;
        for (int32_t i = 0; i < n; i++) {
            double y = before ? p->before[g][i] : p->free_y[g][i];
            for (int32_t k = 0; k < n && !before; k++)
                y += p->inverse[g][n * i + k] * p->impulse[g][k];
            for (int d = 0; d < 3; d++)
                v[d] += p->rows[c->rows[s] + (size_t)(d * n + i)] * y;
        }
    }
}

/* Never apart too slowly; a push only where just as fast; friction within its disc, and where it is on the edge of
 * that, against the sliding. */
static void check_laws(const puzzle *p, double tolerance, double scale) {
    for (int32_t i = 0; i < p->problem.constraint_count; i++) {
        const bo_constraint *c = &p->constraints[i];
        double v[3];
        rates_of(p, c, false, v);
        const double rub = hypot(c->impulse[1], c->impulse[2]), slide = hypot(v[1], v[2]),
                     limit = c->friction * c->impulse[0];
        check(c->impulse[0] >= 0);
        check(v[0] - c->speed >= -tolerance);
        check_below(fmin(c->impulse[0] / scale, v[0] - c->speed), tolerance);
        check_below(rub, limit * (1 + 1e-12) + 1e-15);
        if (rub < limit * (1 - 1e-6))
            check_below(slide, 10 * tolerance);
        else
            check_near(c->impulse[1] * v[1] + c->impulse[2] * v[2], -rub * slide, tolerance * (1 + rub));
    }
}

static void impulses_obey_contact_and_friction(void **unused) {
    (void)unused;
    test_random r = {1};
    int solved = 0;
    for (int round = 0; round < 300; round++) {
        puzzle *p = random_puzzle(&r, 1 + round % MOST_GROUPS, 1 + round % 8, round % 2 ? 0.6 : 0);
        bo_contact_solve(&p->problem);
        if (p->problem.residual < 1e-8) {
            solved++;
            check_laws(p, 1e-9, 1);
        }
        /* the residual says by how much speeds are wrong */
        for (int32_t i = 0; i < p->problem.constraint_count; i++) {
            double v[3];
            rates_of(p, &p->constraints[i], false, v);
            check(v[0] - p->constraints[i].speed >= -p->problem.residual - 1e-9);
        }
        free(p);
    }
    check(solved >= 290); /* random rows with friction need not have an answer */
}

/* From the answer as a guess one round is enough. */
static void a_good_guess_saves_rounds(void **unused) {
    (void)unused;
    test_random r = {2};
    int solved = 0;
    for (int round = 0; round < 20; round++) {
        puzzle *p = random_puzzle(&r, 4, 8, 0.3);
        p->problem.tolerance = 1e-8;
        bo_contact_solve(&p->problem);
        const int32_t cold = p->problem.rounds;
        if (cold < 20000) {
            memcpy(p->y, p->free_y, sizeof p->y);
            bo_contact_solve(&p->problem);
            check(p->problem.rounds <= 2);
            solved += cold > 2; /* there was something to save */
        }
        free(p);
    }
    check(solved >= 15);
}

static void what_bounces_leaves_by_its_restitution(void **unused) {
    (void)unused;
    test_random r = {3};
    int bounced = 0;
    for (int round = 0; round < 200; round++) {
        puzzle *p = random_puzzle(&r, 3, 1, 0);
        bo_constraint *c = &p->constraints[0];
        double v[3], u[3];
        c->restitution = 0.7;
        memcpy(p->y, p->before, sizeof p->y);
        memcpy(p->free_y, p->before, sizeof p->y);
        c->speed = 0;
        rates_of(p, c, true, v);
        bo_contact_solve(&p->problem);
        rates_of(p, c, false, u);
        if (v[0] < -1e-3) {
            check_near(u[0], -0.7 * v[0], 1e-9);
            bounced++;
        }
        free(p);
    }
    check(bounced > 50);
}

static bool all_but_seven(const void *user, int32_t a, int32_t b) {
    (void)user;
    return a != 7 && b != 7;
}

static void the_sweep_finds_every_pair(void **unused) {
    (void)unused;
    bough_context *ctx = test_context(1);
    test_random r = {4};
    enum { COUNT = 60 };
    bo_box boxes[COUNT];
    bo_sweep sweep;
    check_ok(ctx, bo_sweep_create(ctx, COUNT, &sweep));
    for (int round = 0; round < 50; round++) {
        size_t expected = 0;
        for (int i = 0; i < COUNT; i++) {
            const bo_vec3 x = random_vector(&r, 1), h = bo_v3(0.2, 0.2, 0.2);
            boxes[i] = (bo_box){bo_sub(x, h), bo_add(x, h)};
            if (i == 3) /* a plane */
                boxes[i] = (bo_box){{-INFINITY, -INFINITY, -INFINITY}, {INFINITY, INFINITY, INFINITY}};
        }
        check_ok(ctx, bo_sweep_find(ctx, &sweep, boxes, all_but_seven, NULL));
        for (uint64_t a = 0; a < COUNT; a++)
            for (uint64_t b = a + 1; b < COUNT; b++) {
                const bo_box *p = &boxes[a], *q = &boxes[b];
                const bool overlap = p->lower.x <= q->upper.x && q->lower.x <= p->upper.x && p->lower.y <= q->upper.y &&
                                     q->lower.y <= p->upper.y && p->lower.z <= q->upper.z && q->lower.z <= p->upper.z;
                if (!overlap || a == 7 || b == 7)
                    continue;
                check(expected < sweep.pair_count && sweep.pairs[expected] == (a << 32 | b));
                expected++;
            }
        check_int(sweep.pair_count, expected);
    }
    bo_sweep_destroy(ctx, &sweep);
    bough_context_destroy(ctx);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(impulses_obey_contact_and_friction),
        cmocka_unit_test(a_good_guess_saves_rounds),
        cmocka_unit_test(what_bounces_leaves_by_its_restitution),
        cmocka_unit_test(the_sweep_finds_every_pair),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
