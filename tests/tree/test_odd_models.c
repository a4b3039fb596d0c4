/* Trees of odd shapes: parts of every size, many interfaces, thousands of children, several trees. Their motion is that
 * of all their points, the same whether they are computed eight at a time or alone, and by any number of threads. */
#include "garden.h"

/* ---- against the motion of all points ---- */

static int32_t point_total(const garden *g) {
    int32_t total = 0;
    for (int32_t i = 0; i < g->def.part_count; i++)
        total += g->kinds[g->parts[i].component]->point_count;
    return total;
}

/* World positions of the points of all parts at q. */
static void positions(garden *g, const double *q, double *x) {
    memcpy(g->state->q, q, (size_t)bough_tree_model_size(g->model) * sizeof *q);
    check_ok(g->ctx, bough_tree_state_update(g->ctx, g->model, g->state));
    for (int32_t i = 0; i < g->def.part_count; i++) {
        const grown *kind = g->kinds[g->parts[i].component];
        const bough_frame *f = &g->state->frames[i];
        const double *qi = q + bough_tree_model_offset(g->model, i);
        for (int32_t v = 0; v < kind->point_count; v++, x += 3) {
            double at[3];
            for (int32_t d = 0; d < 3; d++) {
                at[d] = kind->X[3 * v + d];
                for (int32_t l = 0; l < kind->c.r; l++)
                    at[d] += kind->U[(3 * v + d) * kind->c.r + l] * qi[l];
                at[d] *= g->parts[i].scale;
            }
            for (int d = 0; d < 3; d++)
                x[d] = f->pose.position[d] + f->pose.rotation[3 * d] * at[0] + f->pose.rotation[3 * d + 1] * at[1] +
                       f->pose.rotation[3 * d + 2] * at[2];
        }
    }
}

/* J^T m (J a + x'') = 0 with J and x'' by differences, for the accelerations a of the exact coupling without elastic
 * forces. */
static void check_against_points(garden *g, uint64_t seed) {
    const int32_t size = bough_tree_model_size(g->model), n = 3 * point_total(g);
    double *q = calloc(3 * (size_t)size, sizeof *q), *v = q + size, *a = v + size;
    double *moved = calloc((size_t)size, sizeof *moved), *J = calloc((size_t)size * (size_t)n, sizeof *J);
    double *x = calloc(2 * (size_t)n, sizeof *x), *force = x + n;
    const double h = 1e-4, t = 1e-3;
    static const double weights[5] = {-1, 16, -30, 16, -1};
    stir(g, seed, 0.1, 1);
    memcpy(q, g->state->q, 2 * (size_t)size * sizeof *q);
    check_ok(g->ctx, bo_tree_accelerations(g->ctx, g->model, g->state, false, q, v, NULL, a));
    for (int32_t k = 0; k < size; k++)
        for (int side = -1; side <= 1; side += 2) {
            memcpy(moved, q, (size_t)size * sizeof *q);
            moved[k] += side * h;
            positions(g, moved, x);
            for (int32_t i = 0; i < n; i++)
                J[(size_t)k * (size_t)n + (size_t)i] += side * x[i] / (2 * h);
        }
    for (int side = -2; side <= 2; side++) {
        for (int32_t k = 0; k < size; k++)
            moved[k] = q[k] + side * t * v[k];
        positions(g, moved, x);
        for (int32_t i = 0; i < n; i++)
            force[i] += weights[side + 2] * x[i] / (12 * t * t);
    }
    for (int32_t k = 0; k < size; k++)
        for (int32_t i = 0; i < n; i++)
            force[i] += J[(size_t)k * (size_t)n + (size_t)i] * a[k];
    int32_t at = 0;
    for (int32_t i = 0; i < g->def.part_count; i++) {
        const grown *kind = g->kinds[g->parts[i].component];
        for (int32_t p = 0; p < 3 * kind->point_count; p++)
            force[at++] *= kind->mass[p / 3] * pow(g->parts[i].scale, 3);
    }
    for (int32_t k = 0; k < size; k++) {
        double sum = 0, largest = 0;
        for (int32_t i = 0; i < n; i++) {
            const double term = J[(size_t)k * (size_t)n + (size_t)i] * force[i];
            sum += term, largest += fabs(term);
        }
        check_near(sum, 0, 3e-6 * largest);
    }
    free(q), free(moved), free(J), free(x);
}

/* A root with a chain and brothers of the given sizes: alone, and enough of them for wide blocks. */
static void check_sizes(int32_t first, int32_t second, int32_t brothers, uint64_t seed) {
    garden g = till(1);
    test_random random = {seed};
    const int32_t root = add_kind(&g, first, 7, BOUGH_REDUCED_LINEAR, false);
    const int32_t limb = add_kind(&g, second, 3, BOUGH_REDUCED_LINEAR, false);
    const int32_t stone = add_kind(&g, 0, 6, BOUGH_REDUCED_RIGID, false);
    g.def.gravity[2] = 0;
    add_part(&g, &random, root, -1, 0);
    for (int32_t i = 0; i < brothers; i++)
        add_part(&g, &random, limb, 0, 1 + (int32_t)test_uniform(&random, 0, 6));
    add_part(&g, &random, stone, 1, 1);
    add_part(&g, &random, stone, brothers, 2);
    add_part(&g, &random, limb, brothers + 1, 5); /* on the stone */
    plant(&g);
    check_against_points(&g, seed);
    clear(&g);
}

static void accelerations_are_those_of_all_points(void **state) {
    (void)state;
    check_sizes(0, 1, 1, 1);
    check_sizes(1, 3, 3, 2);
    check_sizes(3, 1, 9, 3);
    check_sizes(2, 5, 8, 4);
    check_sizes(33, 4, 4, 5);
    check_sizes(7, 13, 6, 6);
    check_sizes(4, 35, 2, 7);
}

/* ---- one step ---- */

/* M a+ + (1 + alpha) (K q+ + D v+) - alpha (K q + D v) = weight + push for parts that are held, with the scales of M
 * and K and their own factors; q+, v+ by Newmark's rules. Linear, so that it holds to rounding. */
static void check_balance(const garden *g, int32_t i, const double *q, const double *v, const double *a, double dt) {
    const bough_tree_state *s = g->state;
    const bough_component *c = g->components[g->parts[i].component];
    const bough_part_def *part = &g->parts[i];
    const int32_t r = c->r, at = bough_tree_model_offset(g->model, i);
    const double alpha = s->alpha, gamma = 0.5 - alpha, beta = 0.25 * (1 - alpha) * (1 - alpha), scale = part->scale;
    const double stiff = pow(part->stiffness, 2) * pow(scale, 3), heavy = pow(scale, 5);
    for (int32_t k = 0; k < r; k++) {
        double left = 0, size = 0;
        for (int32_t l = 0; l < r; l++) {
            const double *W = c->W7 + 9 * (k * r + l), M = heavy * (W[0] + W[4] + W[8]), K = stiff * c->K[k * r + l];
            const double D = s->damping_mass[i] * M + s->damping_stiffness[i] * K, *x = s->q + at, *y = s->v + at;
            const double terms[] = {M * s->a[at + l], (1 + alpha) * K * x[l], (1 + alpha) * D * y[l],
                                    -alpha * K * q[at + l], -alpha * D * v[at + l]};
            for (int j = 0; j < 5; j++)
                left += terms[j], size += fabs(terms[j]);
        }
        for (int d = 0; d < 3; d++) {
            double weight = 0;
            for (int e = 0; e < 3; e++)
                weight += part->rotation[3 * e + d] * g->def.gravity[e];
            left -= pow(scale, 4) * c->s[3 * k + d] * weight;
        }
        check_near(left, 0, 1e-12 * size);
        check_near(s->v[at + k], v[at + k] + dt * ((1 - gamma) * a[at + k] + gamma * s->a[at + k]), 1e-13 * size);
        check_near(s->q[at + k],
                   q[at + k] + dt * v[at + k] + dt * dt * ((0.5 - beta) * a[at + k] + beta * s->a[at + k]),
                   1e-13 * size);
    }
}

static double energy_of(const garden *g, int32_t i) {
    const bough_component *c = g->components[g->parts[i].component];
    const double *q = g->state->q + bough_tree_model_offset(g->model, i);
    double sum = 0;
    for (int32_t k = 0; k < c->r * c->r; k++)
        sum += 0.5 * q[k / c->r] * c->K[k] * q[k % c->r];
    return pow(g->parts[i].stiffness, 2) * pow(g->parts[i].scale, 3) * sum;
}

static void steps_are_those_of_hilber_hughes_and_taylor(void **state) {
    (void)state;
    static const int32_t counts[] = {1, 11};
    for (int way = 0; way < 2; way++)
        for (int pass = 1; pass <= 2; pass++) {
            garden g = till(1);
            test_random random = {41};
            add_kind(&g, 7, 1, BOUGH_REDUCED_LINEAR, false);
            for (int32_t i = 0; i < counts[way]; i++) {
                bough_part_def *part = add_part(&g, &random, 0, -1, 0);
                part->damping_mass = test_uniform(&random, 0, 3);
                part->damping_stiffness = test_uniform(&random, 0, 0.05);
            }
            g.def.alpha = -0.2, g.def.passes = pass;
            plant(&g);
            stir(&g, 42, 0.1, 1);
            const int32_t n = bough_tree_model_size(g.model);
            double *before = malloc(3 * (size_t)n * sizeof *before);
            memcpy(before, g.state->q, 3 * (size_t)n * sizeof *before);
            check_ok(g.ctx, bough_tree_step(g.ctx, g.model, g.state, 0.03));
            double elastic = 0;
            for (int32_t i = 0; i < counts[way]; i++) {
                check_balance(&g, i, before, before + n, before + 2 * n, 0.03);
                elastic += energy_of(&g, i);
            }
            bough_tree_energies e;
            check_ok(g.ctx, bough_tree_state_energies(g.ctx, g.model, g.state, &e));
            check_near(e.elastic, elastic, 1e-12 * elastic);
            free(before);
            clear(&g);
        }
}

/* ---- eight at a time and alone ---- */

enum { TREES = 10 };

/* One tree with at most two parts of a kind at one depth, which are computed one by one. */
static void add_tree(garden *g, test_random *random, const int32_t *kinds, bool deep) {
    const int32_t root = g->def.part_count;
    add_part(g, random, kinds[0], -1, 0);
    for (int i = 0; i < 6; i++) {
        const int32_t parent = root + (deep ? i : i < 2 ? 0 : i - 1), kind = kinds[1 + i % 3];
        const int32_t faces = g->kinds[g->parts[parent].component]->c.interface_count;
        add_part(g, random, kind, parent, 1 + (int32_t)test_uniform(random, 0, faces - 1));
    }
}

/* A step of all trees together, then of each alone from the same state: the same accelerations. */
static void compare_alone(garden *all, bough_coupling coupling, int32_t passes, bool loaded) {
    enum { PARTS = 7 };
    all->state->coupling = coupling, all->state->passes = passes;
    stir(all, 5, 0.05, 1);
    const int32_t n = bough_tree_model_size(all->model);
    double *start = malloc(3 * (size_t)n * sizeof *start);
    memcpy(start, all->state->q, 3 * (size_t)n * sizeof *start);
    bough_tree_root roots[TREES];
    memcpy(roots, all->state->roots, (size_t)all->state->root_count * sizeof *roots);
    if (loaded)
        load(all, 0, all->def.part_count);
    check_ok(all->ctx, bough_tree_step(all->ctx, all->model, all->state, 0.004));
    for (int32_t tree = 0; tree < TREES; tree++) {
        garden one = *all;
        one.parts = calloc(PARTS, sizeof *one.parts);
        one.def.part_count = PARTS;
        for (int k = 0; k < PARTS; k++) {
            one.parts[k] = all->parts[PARTS * tree + k];
            one.parts[k].parent -= k ? PARTS * tree : 0;
        }
        plant(&one);
        one.state->coupling = coupling, one.state->passes = passes;
        const int32_t size = bough_tree_model_size(one.model);
        double *expected = calloc((size_t)size + 1, sizeof *expected);
        for (int k = 0; k < PARTS; k++) {
            const int32_t from = bough_tree_model_offset(all->model, PARTS * tree + k),
                          to = bough_tree_model_offset(one.model, k);
            for (int32_t l = 0; l < all->components[one.parts[k].component]->r; l++) {
                one.state->q[to + l] = start[from + l];
                one.state->v[to + l] = start[n + from + l];
                one.state->a[to + l] = start[2 * n + from + l];
                expected[to + l] = all->state->a[from + l];
            }
        }
        for (int32_t k = 0; k < one.state->root_count; k++)
            one.state->roots[k] = roots[tree], one.state->roots[k].part = 0;
        check_ok(one.ctx, bough_tree_state_update(one.ctx, one.model, one.state));
        if (loaded) {
            for (int32_t i = 0; i < PARTS; i++)
                if ((PARTS * tree + i) % 3 == 0)
                    load(&one, i, 1);
        }
        check_ok(one.ctx, bough_tree_step(one.ctx, one.model, one.state, 0.004));
        const double most = length_of(size, one.state->a);
        for (int32_t k = 0; k < size; k++)
            check_near(expected[k], one.state->a[k], 1e-10 * most);
        for (int32_t k = 0; k < one.state->root_count; k++) {
            check_int(all->state->roots[tree].part, PARTS * tree);
            for (int d = 0; d < 3; d++) {
                check_near(all->state->roots[tree].velocity[d], one.state->roots[k].velocity[d], 1e-10);
                check_near(all->state->roots[tree].angular_velocity[d], one.state->roots[k].angular_velocity[d], 1e-10);
                check_near(all->state->roots[tree].pose.position[d], one.state->roots[k].pose.position[d], 1e-12);
            }
        }
        for (int k = 0; k < PARTS; k++)
            for (int d = 0; d < 9; d++)
                check_near(all->state->frames[PARTS * tree + k].pose.rotation[d], one.state->frames[k].pose.rotation[d],
                           1e-11);
        bough_tree_state_destroy(one.ctx, one.state);
        bough_tree_model_destroy(one.ctx, one.model);
        free(one.parts), free(expected);
    }
    free(start);
}

static void check_forest(const int32_t sizes[4], bough_reduced_elastic elastic, bool flies, bool deep, uint64_t seed) {
    garden g = till(2);
    test_random random = {seed};
    int32_t kinds[4];
    for (int k = 0; k < 4; k++)
        kinds[k] = add_kind(&g, sizes[k], 3 + k, elastic, flies && k == 0);
    for (int tree = 0; tree < TREES; tree++)
        add_tree(&g, &random, kinds, deep);
    plant(&g);
    if (sizes[1] > 0 && sizes[1] <= 32)
        check_int(g.model->blocks[g.model->parts[g.model->inside[1]].block].lanes, BO_WIDE);
    for (bough_coupling coupling = BOUGH_COUPLING_L1; coupling <= BOUGH_COUPLING_L3; coupling++)
        for (int loaded = 0; loaded < 2; loaded++)
            compare_alone(&g, coupling, 1 + loaded, loaded);
    clear(&g);
}

static void trees_together_move_as_each_alone(void **state) {
    (void)state;
    check_forest((const int32_t[4]){3, 1, 2, 5}, BOUGH_REDUCED_POLYNOMIAL, false, false, 1);
    check_forest((const int32_t[4]){0, 7, 0, 9}, BOUGH_REDUCED_POLYNOMIAL, false, true, 2);
    check_forest((const int32_t[4]){6, 12, 13, 0}, BOUGH_REDUCED_LINEAR, false, false, 3);
    check_forest((const int32_t[4]){5, 17, 4, 3}, BOUGH_REDUCED_CUBATURE, false, true, 4);
    check_forest((const int32_t[4]){0, 4, 1, 33}, BOUGH_REDUCED_LINEAR, true, false, 5);
    check_forest((const int32_t[4]){6, 0, 3, 8}, BOUGH_REDUCED_POLYNOMIAL, true, true, 6);
    check_forest((const int32_t[4]){32, 31, 34, 1}, BOUGH_REDUCED_LINEAR, false, false, 7);
}

/* ---- lumps ---- */

/* A rigid component of one point. */
static int32_t add_pebble(garden *g, double x, double y, double z) {
    const int32_t k = add_kind(g, 0, 1, BOUGH_REDUCED_RIGID, false);
    bough_component *c = &g->kinds[k]->c;
    const double at[3] = {x, y, z};
    c->mass = 3;
    for (int i = 0; i < 9; i++)
        c->Sigma0[i] = c->mass * at[i / 3] * at[i % 3];
    for (int i = 0; i < 3; i++)
        c->mc0[i] = c->mass * at[i];
    return k;
}

/* Bars on a track with pebbles: those that lie in their interface are exact in all couplings, others from L2 on; and so
 * are forces on them. */
static void lumps_are_exact_for_points(void **state) {
    (void)state;
    static const double time[3] = {0, 1, 2}, position[9] = {0, 0, 0, 3, 1, 0, 0, 5, 5};
    static const double rotation[12] = {1, 0, 0, 0, 0.8, 0.6, 0, 0, 0.6, 0, 0.8, 0}, push[3] = {20, -10, 30};
    for (int32_t bars = 1; bars < 8; bars += 6)
        for (int apart = 0; apart < 2; apart++)
            for (int pushed = 0; pushed < 2; pushed++) {
                double *exact = NULL;
                for (int coupling = BOUGH_COUPLING_L3; coupling >= BOUGH_COUPLING_L1 + apart; coupling--) {
                    garden g = till(1);
                    test_random random = {51};
                    const int32_t bar = add_kind(&g, 5, 6, BOUGH_REDUCED_LINEAR, false);
                    const int32_t pebble = apart ? add_pebble(&g, 0.3, -0.2, 0.4) : add_pebble(&g, 0, 0, 0);
                    for (int32_t i = 0; i < bars; i++)
                        add_part(&g, &random, bar, -1, 0)->track = (bough_track){3, time, position, rotation};
                    for (int32_t i = 0; i < 3 * bars; i++) /* two of each three at one interface */
                        add_part(&g, &random, pebble, i / 3, i % 3 ? 4 : 2);
                    g.def.coupling = (bough_coupling)coupling;
                    g.def.passes = 1; /* lumps take no other */
                    plant(&g);
                    g.state->time = 1.2;
                    stir(&g, 52, 0.1, 1);
                    for (int32_t i = bars; i < 4 * bars && pushed; i++)
                        check_ok(g.ctx, bough_tree_state_add_wrench(g.ctx, g.model, g.state, i, push,
                                                                    apart ? push : (const double[3]){0}));
                    check_ok(g.ctx, bough_tree_step(g.ctx, g.model, g.state, 0.01));
                    const int32_t n = bough_tree_model_size(g.model);
                    if (!exact) {
                        exact = malloc((size_t)n * sizeof *exact);
                        memcpy(exact, g.state->a, (size_t)n * sizeof *exact);
                    }
                    for (int32_t k = 0; k < n; k++)
                        check_near(g.state->a[k], exact[k], 1e-11 * length_of(n, exact));
                    clear(&g);
                }
                free(exact);
            }
}

/* ---- many children ---- */

/* Over a thousand children of several kinds on a stone that is held: each moves as if it were alone there, in lumps
 * too. */
static void a_thousand_children(void **state) {
    (void)state;
    enum { CHILDREN = 1200, CHECKED = 7 };
    garden g = till(3);
    test_random random = {3};
    const int32_t stone = add_kind(&g, 0, 40, BOUGH_REDUCED_RIGID, false);
    const int32_t kinds[3] = {add_kind(&g, 3, 1, BOUGH_REDUCED_POLYNOMIAL, false),
                              add_kind(&g, 10, 1, BOUGH_REDUCED_LINEAR, false),
                              add_kind(&g, 36, 1, BOUGH_REDUCED_LINEAR, false)};
    add_part(&g, &random, stone, -1, 0);
    for (int32_t i = 0; i < CHILDREN; i++)
        add_part(&g, &random, kinds[i % 20 == 0 ? 2 : i % 3 == 0], 0, 1 + (int32_t)test_uniform(&random, 0, 39));
    plant(&g);
    check_int(g.model->chunk_count, BO_TREE_CHUNKS);
    for (bough_coupling coupling = BOUGH_COUPLING_L1; coupling <= BOUGH_COUPLING_L3; coupling++) {
        g.state->coupling = coupling;
        memset(g.state->q, 0, 3 * (size_t)bough_tree_model_size(g.model) * sizeof(double));
        check_ok(g.ctx, bough_tree_state_update(g.ctx, g.model, g.state));
        for (int step = 0; step < 3; step++)
            check_ok(g.ctx, bough_tree_step(g.ctx, g.model, g.state, 0.01));
        for (int32_t i = 1; i <= CHILDREN; i += CHILDREN / CHECKED) {
            garden one = g;
            bough_part_def pair[2] = {g.parts[0], g.parts[i]};
            one.parts = pair, one.def.part_count = 2;
            plant(&one);
            one.state->coupling = coupling;
            for (int step = 0; step < 3; step++)
                check_ok(one.ctx, bough_tree_step(one.ctx, one.model, one.state, 0.01));
            const double *q = g.state->q + bough_tree_model_offset(g.model, i);
            const int32_t r = g.components[g.parts[i].component]->r;
            check(length_of(r, one.state->q) > 1e-4);
            for (int32_t l = 0; l < r; l++)
                check_near(q[l], one.state->q[l], 1e-11 * length_of(r, one.state->q));
            bough_tree_state_destroy(one.ctx, one.state);
            bough_tree_model_destroy(one.ctx, one.model);
        }
    }
    clear(&g);
}

/* A component of the largest size, with what hangs on it; its scratch does not grow with the number of tasks. */
static void the_largest_component(void **state) {
    (void)state;
    garden g = till(2);
    test_random random = {4};
    add_kind(&g, 200, 3, BOUGH_REDUCED_CUBATURE, false);
    add_kind(&g, BOUGH_MAX_COORDINATES, 2, BOUGH_REDUCED_LINEAR, false);
    add_kind(&g, 64, 2, BOUGH_REDUCED_POLYNOMIAL, false);
    add_part(&g, &random, 0, -1, 0);
    add_part(&g, &random, 1, 0, 1);
    add_part(&g, &random, 2, 1, 1);
    plant(&g);
    for (bough_coupling coupling = BOUGH_COUPLING_L1; coupling <= BOUGH_COUPLING_L3; coupling++) {
        g.state->coupling = coupling, g.state->passes = 2;
        load(&g, 0, 3);
        check_ok(g.ctx, bough_tree_step(g.ctx, g.model, g.state, 0.001));
    }
    bough_tree_energies e;
    check_ok(g.ctx, bough_tree_state_energies(g.ctx, g.model, g.state, &e));
    check(e.elastic > 0 && e.kinetic > 0);
    clear(&g);
}

/* ---- threads ---- */

/* A host that runs tasks in its own order. */
static void backwards(void *user, bough_task task, void *data, int32_t count) {
    (void)user;
    for (int32_t i = count - 1; i >= 0; i--)
        task(data, i);
}

static void the_same_bits_by_any_threads(void **state) {
    (void)state;
    enum { WAYS = 4, BUSHES = 12, LEAVES = 9 };
    double *results[WAYS];
    int32_t n = 0;
    for (int way = 0; way < WAYS; way++) {
        garden g = till(way + 1);
        if (way == 3) {
            bough_context_def def = bough_default_context_def();
            def.run_tasks = backwards;
            bough_context_destroy(g.ctx);
            g.ctx = bough_context_create(&def);
        }
        test_random random = {11};
        add_kind(&g, 6, 4, BOUGH_REDUCED_LINEAR, false);
        add_kind(&g, 5, 2, BOUGH_REDUCED_POLYNOMIAL, false);
        add_kind(&g, 0, 2, BOUGH_REDUCED_RIGID, true);
        for (int b = 0; b < BUSHES; b++) {
            const int32_t root = g.def.part_count;
            add_part(&g, &random, b % 3 ? 0 : 2, -1, 0);
            for (int l = 0; l < LEAVES; l++)
                add_part(&g, &random, 1, l % 2 ? root + l : root, 1);
        }
        plant(&g);
        n = bough_tree_model_size(g.model);
        results[way] = calloc((size_t)n, sizeof(double));
        for (bough_coupling coupling = BOUGH_COUPLING_L1; coupling <= BOUGH_COUPLING_L3; coupling++) {
            g.state->coupling = coupling;
            g.state->wind.velocity[0] = 3;
            for (int step = 0; step < 3; step++) {
                load(&g, 0, g.def.part_count);
                check_ok(g.ctx, bough_tree_step(g.ctx, g.model, g.state, 0.002));
            }
        }
        memcpy(results[way], g.state->q, (size_t)n * sizeof(double));
        clear(&g);
    }
    check(length_of(n, results[0]) > 1e-3);
    for (int way = 1; way < WAYS; way++)
        check_int(memcmp(results[0], results[way], (size_t)n * sizeof(double)), 0);
    for (int way = 0; way < WAYS; way++)
        free(results[way]);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(accelerations_are_those_of_all_points),
        cmocka_unit_test(steps_are_those_of_hilber_hughes_and_taylor),
        cmocka_unit_test(trees_together_move_as_each_alone),
        cmocka_unit_test(lumps_are_exact_for_points),
        cmocka_unit_test(a_thousand_children),
        cmocka_unit_test(the_largest_component),
        cmocka_unit_test(the_same_bits_by_any_threads),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
