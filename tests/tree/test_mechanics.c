/* The tree's mechanics from first principles: accelerations against finite differences of where all vertices are. */
#include "grove.h"

#define LED_TIME 0.5 /* s, where accelerations are looked at */

/* World positions of all vertices of all parts at q. */
static void positions(grove *g, const double *q, double *x) {
    memcpy(g->state->q, q, (size_t)bough_tree_model_size(g->model) * sizeof *q);
    check_ok(g->ctx, bough_tree_state_update(g->ctx, g->model, g->state));
    for (int32_t i = 0; i < bough_tree_model_part_count(g->model); i++) {
        const bough_component *c = g->components[g->parts[i].component];
        const bough_frame *frame = &g->state->frames[i];
        const double *qi = q + bough_tree_model_offset(g->model, i);
        for (size_t v = 0; v < (size_t)c->volume.vertex_count; v++, x += 3) {
            double local[3];
            for (size_t d = 0; d < 3; d++) {
                local[d] = c->volume.position[3 * v + d];
                for (int32_t l = 0; l < c->r; l++)
                    local[d] += c->volume.U[(3 * v + d) * (size_t)c->r + (size_t)l] * qi[l];
                local[d] *= g->parts[i].scale;
            }
            for (int d = 0; d < 3; d++)
                x[d] = frame->pose.position[d] + frame->pose.rotation[3 * d] * local[0] +
                       frame->pose.rotation[3 * d + 1] * local[1] + frame->pose.rotation[3 * d + 2] * local[2];
        }
    }
}

/* Columns dx/dq by central differences, and x'' of q + t v. */
static void differentiate(grove *g, const double *q, const double *v, double *jacobian, double *bias) {
    size_t n = 3 * vertex_total(g), size = (size_t)bough_tree_model_size(g->model);
    double *plus = calloc(2 * n, sizeof *plus), *minus = plus + n, *moved = calloc(size, sizeof *moved);
    const double h = 3e-5, t = 3e-4;
    g->state->time = LED_TIME;
    for (size_t k = 0; k < size; k++) {
        memcpy(moved, q, size * sizeof *q);
        moved[k] = q[k] + h;
        positions(g, moved, plus);
        moved[k] = q[k] - h;
        positions(g, moved, minus);
        for (size_t i = 0; i < n; i++)
            jacobian[k * n + i] = (plus[i] - minus[i]) / (2 * h);
    }
    static const double weights[5] = {-1, 16, -30, 16, -1}; /* second differences of fourth order */
    memset(bias, 0, n * sizeof *bias);
    for (int side = -2; side <= 2; side++) {
        for (size_t k = 0; k < size; k++)
            moved[k] = q[k] + side * t * v[k];
        g->state->time = LED_TIME + side * t;
        positions(g, moved, plus);
        for (size_t i = 0; i < n; i++)
            bias[i] += weights[side + 2] * plus[i] / (12 * t * t);
    }
    g->state->time = LED_TIME;
    free(plus), free(moved);
}

/* The root follows a track: it moves, turns and accelerates at LED_TIME. */
static void lead(grove *g, uint64_t seed) {
    enum { KEYS = 5 };
    double time[KEYS], position[3 * KEYS], rotation[4 * KEYS];
    test_random random = {seed + 200};
    for (int k = 0; k < KEYS; k++) {
        time[k] = 0.3 * k;
        for (int d = 0; d < 3; d++)
            position[3 * k + d] = test_uniform(&random, -1, 1);
        for (int d = 0; d < 4; d++)
            rotation[4 * k + d] = (d == 0 ? 1 : 0) + test_uniform(&random, -0.4, 0.4);
    }
    bough_tree_model *before = g->model;
    bough_tree_model_def def = *bough_tree_model_describe(before);
    g->parts[0].track = (bough_track){KEYS, time, position, rotation};
    def.parts = g->parts;
    bough_tree_state_destroy(g->ctx, g->state);
    check_ok(g->ctx, bough_tree_model_create(g->ctx, &def, &g->model));
    check_ok(g->ctx, bough_tree_state_create(g->ctx, g->model, &g->state));
    bough_tree_model_destroy(g->ctx, before);
}

/* J^T m J a + J^T m x'' = f, for the a that the recursion gives. */
static void check_tree(uint64_t seed, int32_t part_count, bool led) {
    grove g = plant(seed, part_count, BOUGH_COUPLING_L3, false);
    if (led)
        lead(&g, seed);
    size_t n = 3 * vertex_total(&g), size = (size_t)bough_tree_model_size(g.model);
    bough_sparse *mass[3];
    for (int i = 0; i < 3; i++)
        mass[i] = mass_of(g.ctx, g.components[i]);
    double *q = calloc(4 * size, sizeof *q), *v = q + size, *f = v + size, *a = f + size;
    double *jacobian = calloc(size * n, sizeof *jacobian), *bias = calloc(3 * n, sizeof *bias);
    double *x = bias + n, *momentum = x + n;
    test_random random = {seed + 100};
    for (size_t k = 0; k < size; k++) {
        q[k] = test_uniform(&random, -0.1, 0.1);
        v[k] = test_uniform(&random, -2, 2);
        f[k] = test_uniform(&random, -10, 10);
    }
    differentiate(&g, q, v, jacobian, bias);
    /* and a force on a vertex of the last part, which does work along the vertex's motion */
    const double push[3] = {3, -7, 5};
    const bough_component *last = g.components[g.parts[part_count - 1].component];
    size_t vertex = vertex_total(&g) - (size_t)last->volume.vertex_count + (size_t)last->surface.mesh_vertex[4];
    positions(&g, q, x);
    check_ok(g.ctx, bough_tree_state_add_force(g.ctx, g.model, g.state, part_count - 1, 4, push));
    accelerations(&g, q, v, f, a);
    for (size_t k = 0; k < size; k++)
        for (size_t d = 0; d < 3; d++)
            f[k] += jacobian[k * n + 3 * vertex + d] * push[d];
    memcpy(x, bias, n * sizeof *x);
    for (size_t k = 0; k < size; k++)
        for (size_t i = 0; i < n; i++)
            x[i] += jacobian[k * n + i] * a[k];
    multiply_mass(&g, mass, x, momentum);
    double largest = 0;
    for (size_t k = 0; k < size; k++)
        for (size_t i = 0; i < n; i++)
            largest = fmax(largest, fabs(jacobian[k * n + i] * momentum[i]));
    for (size_t k = 0; k < size; k++) {
        double sum = 0;
        for (size_t i = 0; i < n; i++)
            sum += jacobian[k * n + i] * momentum[i];
        check_near(sum, f[k], 1e-4 * fmax(1, 0.01 * largest)); /* differences are good to about 1e-6 */
    }
    for (int i = 0; i < 3; i++)
        bough_sparse_destroy(g.ctx, mass[i]);
    free(q), free(jacobian), free(bias);
    fell(&g);
}

static void accelerations_are_those_of_all_vertices(void **state) {
    (void)state;
    check_tree(1, 1, false);
    check_tree(2, 2, false);
    check_tree(3, 3, false);
    for (uint64_t seed = 4; seed < 9; seed++)
        check_tree(seed, 6, false);
    check_tree(9, 1, true);
    check_tree(10, 5, true);
}

/* Three hundred equal leaves in one place move as one, to the bit. */
static void equal_parts_move_alike(void **state) {
    (void)state;
    enum { LEAVES = 300 };
    bough_context *ctx = test_context(1);
    bough_component *components[2] = {cook_limb(ctx, 6, 1, false), cook_limb(ctx, 4, 0.8, false)};
    bough_part_def *parts = calloc(LEAVES + 1, sizeof *parts);
    for (int i = 0; i <= LEAVES; i++) {
        parts[i] = bough_default_part_def();
        parts[i].component = i > 0;
        parts[i].parent = i > 0 ? 0 : -1;
        parts[i].interface_index = 1;
        parts[i].scale = i > 0 ? 0.1 : 1;
    }
    for (bough_coupling coupling = BOUGH_COUPLING_L1; coupling <= BOUGH_COUPLING_L3; coupling++) {
        bough_tree_model_def def = bough_default_tree_model_def();
        def.component_count = 2, def.components = (const bough_component *const *)components;
        def.part_count = LEAVES + 1, def.parts = parts;
        def.coupling = coupling;
        def.gravity[2] = -0.1;
        bough_tree_model *model;
        bough_tree_state *s;
        check_ok(ctx, bough_tree_model_create(ctx, &def, &model));
        check_ok(ctx, bough_tree_state_create(ctx, model, &s));
        for (int step = 0; step < 10; step++)
            check_ok(ctx, bough_tree_step(ctx, model, s, 0.002));
        const double *first = s->q + bough_tree_model_offset(model, 1);
        check(norm_of(6, s->q) > 0 && norm_of(4, first) > 0);
        for (int i = 2; i <= LEAVES; i++)
            check(memcmp(first, s->q + bough_tree_model_offset(model, i), 4 * sizeof *first) == 0);
        bough_tree_state_destroy(ctx, s);
        bough_tree_model_destroy(ctx, model);
    }
    free(parts);
    bough_component_destroy(ctx, components[0]);
    bough_component_destroy(ctx, components[1]);
    bough_context_destroy(ctx);
}

/* ---- laws of one part ---- */

/* q'' + 2 z w q' + w^2 q = 0 with w = sqrt(K) phi / s: frequencies go with stiffness over scale, damping ratios stay.
 */
static void one_part_swings_as_theory_says(void **state) {
    (void)state;
    bough_context *ctx = test_context(1);
    bar_def bar = default_bar();
    bar.damping_mass = 1.2, bar.damping_stiffness = 0.004;
    bough_body *body;
    bough_component *c = cook_bar(ctx, bar, 6, &body);
    const double w0 = sqrt(c->K[0]), zeta = 0.5 * (1.2 / w0 + 0.004 * w0), scale = 0.7, phi = 1.5;
    check(zeta > 0.05 && zeta < 0.3);
    for (int hht = 0; hht < 2; hht++) {
        bough_part_def part = bough_default_part_def();
        part.scale = scale, part.stiffness = phi;
        bough_tree_model_def def = bough_default_tree_model_def();
        def.component_count = 1, def.components = (const bough_component *const *)&c;
        def.part_count = 1, def.parts = &part;
        def.alpha = hht ? -0.1 : 0;
        bough_tree_model *model;
        bough_tree_state *s;
        check_ok(ctx, bough_tree_model_create(ctx, &def, &model));
        check_ok(ctx, bough_tree_state_create(ctx, model, &s));
        const double w = w0 * phi / scale, wd = w * sqrt(1 - zeta * zeta), amplitude = 1e-6, dt = 2 * M_PI / w / 400;
        s->q[0] = amplitude;
        check_ok(ctx, bough_tree_step(ctx, model, s, 0)); /* accelerations of the start */
        for (int step = 1; step <= 800; step++) {
            check_ok(ctx, bough_tree_step(ctx, model, s, dt));
            double t = step * dt, exact = exp(-zeta * w * t) * (cos(wd * t) + zeta * w / wd * sin(wd * t));
            check_near(s->q[0] / amplitude, exact, 1e-3);
        }
        bough_tree_state_destroy(ctx, s);
        bough_tree_model_destroy(ctx, model);
    }
    bough_component_destroy(ctx, c);
    bough_body_destroy(ctx, body);
    bough_context_destroy(ctx);
}

/* Trees side by side are computed eight at a time, one tree alone part by part: the same accelerations. */
static void many_trees_move_as_each_alone(void **state) {
    (void)state;
    enum { TREES = 11, PARTS = 5, MOST = 64 };
    bough_context *ctx = test_context(1);
    bough_component *components[3] = {cook_limb(ctx, 6, 1, false), cook_limb(ctx, 5, 0.8, false),
                                      cook_limb(ctx, 0, 0.6, false)};
    bough_part_def all[TREES * PARTS];
    test_random random = {5};
    for (int i = 0; i < TREES * PARTS; i++) {
        const int k = i % PARTS;
        all[i] = bough_default_part_def();
        all[i].component = k == 0 ? 0 : k < 4 ? 1 : 2;
        all[i].parent = k == 0 ? -1 : i - (k == 2 || k == 4 ? 2 : 1);
        all[i].interface_index = 1 + k % 2;
        all[i].scale = test_uniform(&random, 0.5, 1.5);
        all[i].stiffness = test_uniform(&random, 0.5, 1.5);
        all[i].damping_stiffness = 1e-3, all[i].damping_mass = 0.2;
        random_rotation(&random, all[i].rotation);
    }
    bough_tree_model_def def = bough_default_tree_model_def();
    test_weigh(def.gravity);
    def.component_count = 3, def.components = (const bough_component *const *)components;
    def.part_count = TREES * PARTS, def.parts = all;
    bough_tree_model *model;
    bough_tree_state *s;
    check_ok(ctx, bough_tree_model_create(ctx, &def, &model));
    check_ok(ctx, bough_tree_state_create(ctx, model, &s));
    check_int(model->blocks[model->parts[model->inside[0]].block].lanes, BO_WIDE);
    double *start = calloc(3 * (size_t)bough_tree_model_size(model), sizeof *start);
    for (int32_t k = 0; k < 3 * bough_tree_model_size(model); k++)
        start[k] = test_uniform(&random, -1, 1) * (k < bough_tree_model_size(model) ? 0.1 : 2);
    const double push[3] = {3, -7, 5}, twist[3] = {1, 2, -1};
    for (int loaded = 0; loaded < 2; loaded++)
        for (bough_coupling coupling = BOUGH_COUPLING_L1; coupling <= BOUGH_COUPLING_L3; coupling++) {
            memcpy(s->q, start, 3 * (size_t)bough_tree_model_size(model) * sizeof *start);
            s->coupling = coupling, s->passes = 2;
            check_ok(ctx, bough_tree_state_update(ctx, model, s));
            for (int tree = 0; tree < TREES && loaded; tree++)
                check_ok(ctx, bough_tree_state_add_wrench(ctx, model, s, tree * PARTS + tree % PARTS, push, twist));
            check_ok(ctx, bough_tree_step(ctx, model, s, 0.003));
            for (int tree = 0; tree < TREES; tree++) {
                bough_part_def parts[PARTS];
                for (int k = 0; k < PARTS; k++) {
                    parts[k] = all[tree * PARTS + k];
                    parts[k].parent -= k == 0 ? 0 : tree * PARTS;
                }
                def.part_count = PARTS, def.parts = parts;
                bough_tree_model *one;
                bough_tree_state *t;
                check_ok(ctx, bough_tree_model_create(ctx, &def, &one));
                check_ok(ctx, bough_tree_state_create(ctx, one, &t));
                t->coupling = coupling, t->passes = 2;
                for (int k = 0; k < PARTS; k++) {
                    const int32_t from = bough_tree_model_offset(model, tree * PARTS + k),
                                  to = bough_tree_model_offset(one, k);
                    for (int32_t l = 0; l < components[parts[k].component]->r; l++) {
                        t->q[to + l] = start[from + l];
                        t->v[to + l] = start[bough_tree_model_size(model) + from + l];
                        t->a[to + l] = start[2 * bough_tree_model_size(model) + from + l];
                    }
                }
                check_ok(ctx, bough_tree_state_update(ctx, one, t));
                if (loaded)
                    check_ok(ctx, bough_tree_state_add_wrench(ctx, one, t, tree % PARTS, push, twist));
                check_ok(ctx, bough_tree_step(ctx, one, t, 0.003));
                double size = norm_of((size_t)bough_tree_model_size(one), t->a);
                check(size > 1);
                for (int k = 0; k < PARTS; k++)
                    for (int32_t l = 0; l < components[parts[k].component]->r; l++)
                        check_near(s->a[bough_tree_model_offset(model, tree * PARTS + k) + l],
                                   t->a[bough_tree_model_offset(one, k) + l], 3e-12 * size);
                bough_tree_state_destroy(ctx, t);
                bough_tree_model_destroy(ctx, one);
            }
        }
    free(start);
    bough_tree_state_destroy(ctx, s);
    bough_tree_model_destroy(ctx, model);
    for (int i = 0; i < 3; i++)
        bough_component_destroy(ctx, components[i]);
    bough_context_destroy(ctx);
}

/* If all children are rigid, a rigid composite is exact. */
static void rigid_composites_are_exact_for_rigid_children(void **state) {
    (void)state;
    double a[2][64], q[64] = {0}, v[64] = {0};
    for (int exact = 0; exact < 2; exact++) {
        grove g = plant(12, 4, exact ? BOUGH_COUPLING_L3 : BOUGH_COUPLING_L2R, false);
        for (int i = 1; i < 4; i++)
            g.parts[i].component = 1;
        bough_tree_state_destroy(g.ctx, g.state);
        bough_tree_model *before = g.model;
        bough_tree_model_def def = *bough_tree_model_describe(before);
        def.parts = g.parts;
        check_ok(g.ctx, bough_tree_model_create(g.ctx, &def, &g.model));
        bough_tree_model_destroy(g.ctx, before);
        check_ok(g.ctx, bough_tree_state_create(g.ctx, g.model, &g.state));
        check_int(bough_tree_model_size(g.model), 6);
        for (int k = 0; k < 6; k++)
            q[k] = 0.05 * (k - 2), v[k] = 0.7 * (k - 3);
        accelerations(&g, q, v, NULL, a[exact]);
        fell(&g);
    }
    check(norm_of(6, a[1]) > 0.1);
    check_below(relative(6, a[0], 1, a[1]), 1e-11);
}

/* ---- statics ---- */

/* Soft trees bent by twice their weight find their equilibrium, and stay there. */
static void heavy_trees_settle(void **state) {
    (void)state;
    for (uint64_t seed = 1; seed < 9; seed++) {
        grove g = plant(seed, 4, BOUGH_COUPLING_L3, false);
        g.state->gravity[0] = 5, g.state->gravity[2] = -22;
        double residual;
        check_ok(g.ctx, bough_tree_state_settle(g.ctx, g.model, g.state, NULL, &residual));
        check_below(residual, 1e-9);
        const double bent = norm_of((size_t)g.model->size, g.state->q);
        for (int step = 0; step < 20; step++)
            check_ok(g.ctx, bough_tree_step(g.ctx, g.model, g.state, 0.01));
        check(bent > 0.1);
        check_below(norm_of((size_t)g.model->size, g.state->v), 1e-5 * bent);
        fell(&g);
    }
}

/* ---- energy and momentum ---- */

/* Fourth-order Runge-Kutta steps of the exact coupling, without damping: the error in energy falls with dt^4 or faster.
 */
static void all_accelerations(grove *g, const double *q, const double *v, double *a) {
    bo_tree_work *w = bo_tree_work_of(g->state);
    const bough_tree_model *m = g->model;
    double force[64], *scratch = w->scratch;
    check(m->size <= 64);
    for (int32_t i = 0; i < m->part_count; i++) {
        const bo_tree_part *part = &m->parts[i];
        const double stiffness = g->state->stiffness[part->user];
        check(bough_component_evaluate(m->components[part->component].c, q + part->offset, scratch, NULL,
                                       force + part->offset, NULL));
        for (int32_t l = 0; l < part->r; l++)
            force[part->offset + l] *= -stiffness * stiffness * part->scale3;
    }
    accelerations(g, q, v, force, a);
}

static double total_energy(grove *g) {
    bough_tree_energies e;
    check_ok(g->ctx, bough_tree_state_energies(g->ctx, g->model, g->state, &e));
    return e.elastic + e.kinetic + e.gravity;
}

static double runge_kutta_drift(grove *g, double dt, int steps) {
    enum { MOST = 64 };
    int32_t n = g->model->size;
    double q0[MOST], v0[MOST], q[MOST], v[MOST], a[4][MOST], u[4][MOST];
    test_random random = {17};
    for (int32_t k = 0; k < n; k++) {
        g->state->q[k] = 0;
        g->state->v[k] = test_uniform(&random, -3, 3) * (k % 6 < 2);
    }
    double before = total_energy(g);
    for (int step = 0; step < steps; step++) {
        static const double ahead[4] = {0, 0.5, 0.5, 1};
        memcpy(q0, g->state->q, (size_t)n * sizeof *q0);
        memcpy(v0, g->state->v, (size_t)n * sizeof *v0);
        for (int s = 0; s < 4; s++) {
            for (int32_t k = 0; k < n; k++) {
                q[k] = q0[k] + (s ? ahead[s] * dt * u[s - 1][k] : 0);
                v[k] = v0[k] + (s ? ahead[s] * dt * a[s - 1][k] : 0);
            }
            memcpy(u[s], v, (size_t)n * sizeof *v);
            all_accelerations(g, q, v, a[s]);
        }
        for (int32_t k = 0; k < n; k++) {
            g->state->q[k] = q0[k] + dt / 6 * (u[0][k] + 2 * u[1][k] + 2 * u[2][k] + u[3][k]);
            g->state->v[k] = v0[k] + dt / 6 * (a[0][k] + 2 * a[1][k] + 2 * a[2][k] + a[3][k]);
        }
    }
    return fabs(total_energy(g) / before - 1);
}

static void exact_coupling_keeps_energy(void **state) {
    (void)state;
    grove g = plant(5, 4, BOUGH_COUPLING_L3, false);
    double coarse = runge_kutta_drift(&g, 4e-4, 250), fine = runge_kutta_drift(&g, 2e-4, 500);
    print_message("energy drift over 0.1 s: %.2g at 0.4 ms, %.2g at 0.2 ms: order %.2f\n", coarse, fine,
                  log2(coarse / fine));
    check_below(coarse, 1e-9);
    check(fine < coarse / 15);
    fell(&g);
}

/* A pull on a free tree changes its momentum by the force times the time, and positions are where vertices are. */
static void pulls_move_what_flies(void **state) {
    (void)state;
    grove g = plant(6, 3, BOUGH_COUPLING_L3, true);
    const bough_component *c = g.components[g.parts[2].component];
    float *x = calloc(3 * (size_t)c->surface.vertex_count, sizeof *x);
    check_ok(g.ctx, bough_tree_state_positions(g.ctx, g.model, g.state, 2, x));
    const double target[3] = {(double)x[12] + 0.1, (double)x[13], (double)x[14]};
    check_ok(g.ctx, bough_tree_state_pull(g.ctx, g.model, g.state, 2, 4, target, 50, 1));
    check_ok(g.ctx, bough_tree_step(g.ctx, g.model, g.state, 0.001));
    check_near(g.state->roots[0].momentum[0], 50 * 0.1 * 0.001, 1e-6 * 0.005); /* floats */
    check_near(g.state->roots[0].momentum[1], 0, 1e-8);
    check_ok(g.ctx, bough_tree_step(g.ctx, g.model, g.state, 0.001)); /* it acted once */
    check_near(g.state->roots[0].momentum[0], 50 * 0.1 * 0.001, 1e-6 * 0.005);
    /* a dashpot on a tree that flies straight on takes its velocity times the damping */
    memset(g.state->q, 0, 3 * (size_t)bough_tree_model_size(g.model) * sizeof(double));
    for (int d = 0; d < 3; d++)
        g.state->roots[0].velocity[d] = 1 + d, g.state->roots[0].angular_velocity[d] = 0;
    check_ok(g.ctx, bough_tree_state_update(g.ctx, g.model, g.state));
    const double before = g.state->roots[0].momentum[2];
    check_ok(g.ctx, bough_tree_state_pull(g.ctx, g.model, g.state, 2, 4, target, 0, 10));
    check_ok(g.ctx, bough_tree_step(g.ctx, g.model, g.state, 0.001));
    check_near(g.state->roots[0].momentum[2] - before, -3 * 10 * 0.001, 1e-8);
    check_fails(g.ctx, bough_tree_state_pull(g.ctx, g.model, g.state, 9, 4, target, 1, 1), BOUGH_ERROR_ARGUMENT,
                "part 9");
    check_fails(g.ctx, bough_tree_state_add_force(g.ctx, g.model, g.state, 0, 100000, target), BOUGH_ERROR_ARGUMENT,
                "vertex 100000");
    free(x);
    fell(&g);
}

/* Momenta of a tree that flies are what the weight makes of them, to rounding, and its energy stays. */
static void flight_keeps_momentum(void **state) {
    (void)state;
    for (bough_coupling coupling = BOUGH_COUPLING_L1; coupling <= BOUGH_COUPLING_L3; coupling++) {
        grove g = plant(6, 4, coupling, true);
        check_int(g.state->root_count, 1);
        bough_tree_root *root = &g.state->roots[0];
        test_random random = {9};
        for (int32_t k = 0; k < g.model->size; k++)
            g.state->v[k] = test_uniform(&random, -1, 1) * (k % 6 < 2);
        for (int d = 0; d < 3; d++) {
            root->velocity[d] = test_uniform(&random, -2, 2);
            root->angular_velocity[d] = test_uniform(&random, -2, 2);
        }
        check_ok(g.ctx, bough_tree_state_update(g.ctx, g.model, g.state));
        bough_tree_root start = *root;
        double energy = total_energy(&g);
        for (int step = 0; step < 240; step++)
            check_ok(g.ctx, bough_tree_step(g.ctx, g.model, g.state, 1.0 / 480));
        check(norm_of(3, start.momentum) > 1);
        check_ok(g.ctx, bough_tree_state_update(g.ctx, g.model, g.state)); /* momenta from what moves */
        for (int d = 0; d < 3; d++) {
            check_near(root->momentum[d], start.momentum[d], 1e-12 * norm_of(3, start.momentum));
            check_near(root->angular_momentum[d], start.angular_momentum[d],
                       1e-11 * norm_of(3, start.angular_momentum));
            /* no force acts: the centre of mass goes straight on */
            check_near(root->centre[d], start.centre[d] + 0.5 * start.momentum[d] / start.mass,
                       coupling == BOUGH_COUPLING_L3 ? 5e-5 : 3e-3);
        }
        double now = total_energy(&g);
        print_message("coupling %d: energy after half a second of flight %.4f of the first\n", (int)coupling,
                      now / energy);
        if (coupling == BOUGH_COUPLING_L3)
            check(now < 1.01 * energy && now > 0.7 * energy);
        fell(&g);
    }
}

static void momenta(grove *g, double out[6]) {
    bough_tree_energies e;
    check_ok(g->ctx, bough_tree_state_energies(g->ctx, g->model, g->state, &e));
    memcpy(out, e.momentum, sizeof e.momentum);
    memcpy(out + 3, e.angular_momentum, sizeof e.angular_momentum);
}

/* Momenta of what moves, computed anew after every step, against those of the step before and of the start. */
static void no_step_changes_momentum(void **state) {
    (void)state;
    enum { STEPS = 1200 };
    grove g = plant(6, 5, BOUGH_COUPLING_L3, true);
    bough_tree_root *root = &g.state->roots[0];
    test_random random = {9};
    for (int32_t k = 0; k < g.model->size; k++)
        g.state->v[k] = test_uniform(&random, -1, 1) * (k % 6 < 2);
    for (int d = 0; d < 3; d++) {
        root->velocity[d] = test_uniform(&random, -2, 2);
        root->angular_velocity[d] = test_uniform(&random, -2, 2);
    }
    check_ok(g.ctx, bough_tree_state_update(g.ctx, g.model, g.state));
    double first[6], before[6], now[6], step_drift[2] = {0, 0}, drift[2];
    momenta(&g, first);
    memcpy(before, first, sizeof before);
    for (int step = 0; step < STEPS; step++) {
        check_ok(g.ctx, bough_tree_step(g.ctx, g.model, g.state, 1.0 / 240));
        momenta(&g, now);
        for (int kind = 0; kind < 6; kind += 3)
            step_drift[kind / 3] = fmax(step_drift[kind / 3], relative(3, now + kind, 1, before + kind));
        memcpy(before, now, sizeof before);
    }
    for (int kind = 0; kind < 6; kind += 3)
        drift[kind / 3] = relative(3, now + kind, 1, first + kind);
    print_message("%d steps of flight: momentum %.2g at most in a step, %.2g in all; angular %.2g, %.2g\n", STEPS,
                  step_drift[0], drift[0], step_drift[1], drift[1]);
    for (int kind = 0; kind < 2; kind++) {
        check_below(step_drift[kind], 1e-12);
        check_below(drift[kind], 1e-10);
    }
    check(norm_of((size_t)g.model->size, g.state->v) > 0.1);
    fell(&g);
}

/* Under gravity the centre of mass flies along a parabola, momenta follow from it, and energy stays. */
static void flight_under_gravity_is_a_parabola(void **state) {
    (void)state;
    grove g = plant(6, 4, BOUGH_COUPLING_L3, true);
    const double gravity[3] = {0.5, -1, -9.81};
    memcpy(g.state->gravity, gravity, sizeof gravity);
    bough_tree_root *root = &g.state->roots[0];
    for (int d = 0; d < 3; d++)
        root->velocity[d] = 2 - d, root->angular_velocity[d] = 0.5 * d;
    check_ok(g.ctx, bough_tree_state_update(g.ctx, g.model, g.state));
    bough_tree_root start = *root;
    const double energy = total_energy(&g), T = 0.25, m = start.mass;
    for (int step = 0; step < 240; step++)
        check_ok(g.ctx, bough_tree_step(g.ctx, g.model, g.state, T / 240));
    check_ok(g.ctx, bough_tree_state_update(g.ctx, g.model, g.state)); /* momenta from what moves */
    for (int d = 0; d < 3; d++) {
        int e = (d + 1) % 3, f = (d + 2) % 3;
        double xe = start.centre[e] * T + 0.5 * T * T * start.momentum[e] / m;
        double xf = start.centre[f] * T + 0.5 * T * T * start.momentum[f] / m;
        check_near(root->momentum[d], start.momentum[d] + m * gravity[d] * T, 5e-12 * m);
        /* its torque is that of where the steps put the centre, which is near the parabola */
        check_near(root->angular_momentum[d], start.angular_momentum[d] + m * (xe * gravity[f] - xf * gravity[e]),
                   1e-6 * m);
        check_near(root->centre[d], start.centre[d] + T * start.momentum[d] / m + 0.5 * T * T * gravity[d], 1e-7);
    }
    check_near(total_energy(&g), energy, 2e-8 * m * 9.81 * T);
    fell(&g);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(accelerations_are_those_of_all_vertices),
        cmocka_unit_test(equal_parts_move_alike),
        cmocka_unit_test(one_part_swings_as_theory_says),
        cmocka_unit_test(many_trees_move_as_each_alone),
        cmocka_unit_test(rigid_composites_are_exact_for_rigid_children),
        cmocka_unit_test(heavy_trees_settle),
        cmocka_unit_test(exact_coupling_keeps_energy),
        cmocka_unit_test(pulls_move_what_flies),
        cmocka_unit_test(flight_keeps_momentum),
        cmocka_unit_test(no_step_changes_momentum),
        cmocka_unit_test(flight_under_gravity_is_a_parabola),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
