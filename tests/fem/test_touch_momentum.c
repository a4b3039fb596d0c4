/* Full bodies that fly and collide: the engine keeps their momentum and their angular momentum with the midpoint rule,
 * with friction and without, and no step ends in anything. */
#include "block.h"

#include "contact/crossing.h"
#include "fem/engine.h"

typedef struct {
    block b; /* its integrator is not used */
    bo_touch_def def;
    bo_body_plan plan;
    bo_engine engine;
    double *velocity, *state, *x;
    double t;
    int failures;
} flight;

/* Two blocks of different sizes, the upper turned and shifted: they meet at a corner, spinning. */
static void start_flight(flight *f, const char *method, double mu, double dt, double speed) {
    block_def def = default_block();
    bo_engine_settings settings = {.integrator = bough_default_integrator_def(), .dt = dt};
    def.copies = 2, def.apart = 4e-3, def.size[0] = 0.12, def.size[1] = 0.1, def.young = 1e6, def.friction = mu;
    *f = (flight){.b = make_block(&def)};
    const int32_t count = f->b.mesh->vertex_count;
    f->velocity = calloc(3 * (size_t)count, sizeof *f->velocity);
    f->x = calloc(3 * (size_t)count, sizeof *f->x);
    for (int32_t i = 0; i < count; i++) {
        const bool upper = f->b.mesh->vertices[3 * i + 2] > 0.102;
        const bo_vec3 x = bo_load3(f->b.mesh->vertices + 3 * (size_t)i), middle = bo_v3(0, 0, upper ? 0.155 : 0.051),
                      spin = upper ? bo_v3(2, -3, 6) : bo_v3(-1, 2, -4),
                      v = upper ? bo_v3(0.3 * speed, 0.1, -speed) : bo_v3(0, 0, 0.5 * speed);
        bo_store3(f->velocity + 3 * (size_t)i, bo_add(v, bo_cross(spin, bo_sub(x, middle))));
    }
    f->def = f->b.def;
    f->plan = (bo_body_plan){.body = f->b.body, .load_case = f->b.load_case, .velocity = f->velocity, .touch = &f->def};
    settings.integrator.name = method;
    check_ok(f->b.ctx, bo_body_engine_create(f->b.ctx, &f->plan, &settings, &f->engine));
    check_ok(f->b.ctx, bo_body_system_create(f->b.ctx, f->b.body, f->b.load_case, &f->b.system));
    check_ok(f->b.ctx, bo_touch_make(f->b.ctx, f->b.body, f->b.load_case, &f->def, &f->b.touch));
}

static void end_flight(flight *f) {
    bo_engine_destroy(f->b.ctx, &f->engine);
    free(f->velocity), free(f->state), free(f->x);
    free_block(&f->b);
}

/* A step in halves of halves, as runs take it. */
static void advance(flight *f, double h, int halves) {
    const bo_engine_kind *kind = f->engine.kind;
    int64_t iterations = 0;
    const int64_t size = kind->state_size(f->engine.data); /* grows with what has touched */
    f->state = realloc(f->state, (size_t)size * sizeof *f->state);
    kind->save(f->engine.data, f->state);
    const bough_status status = kind->step(f->engine.data, f->t, h, &iterations);
    if (status == BOUGH_OK) {
        f->t += h;
        for (int32_t i = 0; i < 3 * f->b.mesh->vertex_count; i++)
            f->x[i] = f->b.mesh->vertices[i] + f->engine.displacement[i];
        if (f->b.touch)
            check_int(count_crossings(bo_touch_skin(f->b.touch), f->x), 0);
        return;
    }
    check(status > 0 && halves > 0);
    f->failures++;
    check_ok(f->b.ctx, kind->restore(f->engine.data, f->state, size));
    advance(f, 0.5 * h, halves - 1);
    advance(f, 0.5 * h, halves - 1);
}

typedef struct {
    double push, turn; /* changes over the largest momenta of a body of that mass and size at its speed */
    double energy;     /* the most above the start and the work, over that at the start */
    int32_t contacts;  /* at most */
    double rubbed;     /* J: by friction */
} kept;

static kept fly(const char *method, double mu, double dt, double speed, double time) {
    flight f;
    double before[BOUGH_COLUMN_PROBES], now[BOUGH_COLUMN_PROBES], doubt = 0;
    kept k = {0};
    start_flight(&f, method, mu, dt, speed);
    check_ok(f.b.ctx, f.engine.kind->measure(f.engine.data, 0, before));
    const double L = bo_norm(bo_load3(before + BOUGH_COLUMN_ANGULAR_MOMENTUM)),
                 p = bo_norm(bo_load3(before + BOUGH_COLUMN_MOMENTUM)), E = before[BOUGH_COLUMN_TOTAL];
    while (f.t < time - 0.5 * dt) {
        advance(&f, dt, 12);
        check_ok(f.b.ctx, f.engine.kind->measure(f.engine.data, f.t, now));
        const double work = f.engine.kind->work(f.engine.data, &doubt);
        const int32_t contacts = f.engine.kind->contacts(f.engine.data, 0, NULL);
        bo_vec3 change[2];
        for (int i = 0; i < 2; i++) {
            const int column = i ? BOUGH_COLUMN_ANGULAR_MOMENTUM : BOUGH_COLUMN_MOMENTUM;
            change[i] = bo_sub(bo_load3(now + column), bo_load3(before + column));
        }
        k.push = fmax(k.push, bo_norm(change[0]) / p), k.turn = fmax(k.turn, bo_norm(change[1]) / L);
        k.energy = fmax(k.energy, (now[BOUGH_COLUMN_TOTAL] - E - work) / E);
        k.contacts = contacts > k.contacts ? contacts : k.contacts, k.rubbed = -work;
    }
    printf("%s, mu %g, %g m/s, steps of %g s: momentum changes by %.2g, angular by %.2g, energy by %+.2g, %d contacts, "
           "%.3g J rubbed off, %d steps halved\n",
           method, mu, speed, dt, k.push, k.turn, k.energy, (int)k.contacts, k.rubbed, f.failures);
    end_flight(&f);
    return k;
}

static void the_midpoint_rule_keeps_both_momenta_in_collisions(void **unused) {
    (void)unused;
    const double frictions[] = {0, 0.5}, speeds[] = {1, 5}, steps[] = {1e-3, 2e-4};
    for (int m = 0; m < 2; m++)
        for (int s = 0; s < 2; s++) {
            const kept k = fly("midpoint", frictions[m], steps[s], speeds[s], 0.02);
            check(k.contacts > 3);
            check(frictions[m] == 0 || k.rubbed > 0);
            check_below(k.push, 1e-11);
            check_below(k.turn, 1e-8);
            check_below(k.energy, 0.03);
        }
}

/* A block that is thrown askew onto a plane bounces off: it has been nowhere below, and has most of its energy. */
static void the_midpoint_rule_never_ends_in_an_obstacle(void **unused) {
    (void)unused;
    const double speeds[] = {1, 20};
    for (int s = 0; s < 2; s++) {
        block_def def = default_block();
        bo_engine_settings settings = {.integrator = bough_default_integrator_def(), .dt = 1e-3};
        def.lift = 2e-3, def.type = BOUGH_TET4, def.friction = 0.3;
        flight f = {.b = make_block(&def)};
        const int32_t count = f.b.mesh->vertex_count;
        double values[BOUGH_COLUMN_PROBES], doubt, highest = 0;
        f.velocity = calloc(3 * (size_t)count, sizeof *f.velocity);
        f.x = calloc(3 * (size_t)count, sizeof *f.x);
        for (int32_t i = 0; i < count; i++)
            f.velocity[3 * i] = 0.5 * speeds[s], f.velocity[3 * i + 2] = -speeds[s];
        f.b.obstacles[0] = ground(0.3), f.def = f.b.def, f.def.obstacle_count = 1, f.def.obstacles = f.b.obstacles;
        f.plan = (bo_body_plan){.body = f.b.body, .load_case = f.b.load_case, .velocity = f.velocity, .touch = &f.def};
        settings.integrator.name = "midpoint";
        check_ok(f.b.ctx, bo_body_engine_create(f.b.ctx, &f.plan, &settings, &f.engine));
        check_ok(f.b.ctx, f.engine.kind->measure(f.engine.data, 0, values));
        const double start = values[BOUGH_COLUMN_TOTAL];
        for (int i = 0; i < 20; i++) {
            advance(&f, settings.dt, 16);
            for (int32_t k = 0; k < count; k++) {
                check(f.x[3 * k + 2] > 0);
                highest = fmax(highest, f.x[3 * k + 2]);
            }
        }
        check_ok(f.b.ctx, f.engine.kind->measure(f.engine.data, f.t, values));
        const double balance = values[BOUGH_COLUMN_TOTAL] - start - f.engine.kind->work(f.engine.data, &doubt);
        printf("thrown down at %g m/s: up to %.3g m, energy changes by %+.2g of it, %d steps halved\n", speeds[s],
               highest, balance / start, f.failures);
        check(values[BOUGH_COLUMN_MOMENTUM + 2] > 0);
        check_below(fabs(balance) / start, 0.03);
        bo_engine_destroy(f.b.ctx, &f.engine);
        free(f.velocity), free(f.state), free(f.x);
        free_block(&f.b);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(the_midpoint_rule_keeps_both_momenta_in_collisions),
                                       cmocka_unit_test(the_midpoint_rule_never_ends_in_an_obstacle)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
