/* Runs of mechanisms: what the statics say they settle at, reduced against full, checkpoints, hands, motors. */
#include "play.h"

#include <math.h>

/* A chain of three rods that hang along -x from a wall, with hinges about y. */
#define ROD(name, x) \
    "{'name': '" name "', 'position': [" x ", 0, 0], 'density': 1000, 'shape': {'box': [0.2, 0.02, 0.02]}}"
#define HINGE(name, parent, child, x, k)                                                                             \
    "{'name': '" name "', 'kind': 'hinge', 'parent': '" parent "', 'child': '" child "', 'position': [" x ", 0, 0]," \
    "'axis': [0, 1, 0], 'stiffness': " k ", 'damping': 0.2}"
#define CHAIN(k)                                                                                                  \
    "'bough': 1, 'links': [{'name': 'wall'}," ROD("a", "0.1") "," ROD("b", "0.3") "," ROD(                        \
        "c", "0.5") "],"                                                                                          \
                    "'joints': [" HINGE("h1", "wall", "a", "0", k) "," HINGE("h2", "a", "b", "0.2", k) "," HINGE( \
                        "h3", "b", "c", "0.4",                                                                    \
                        k) "],"                                                                                   \
                           "'end_effectors': [{'name': 'tip', 'link': 'c', 'position': [0.6, 0, 0]}],"            \
                           "'probes': [{'name': 'tip', 'end_effector': 'tip'}, {'name': 'b', 'link': 'b'}]"

static play begin_text(bough_context *ctx, const char *text, const bough_run_def *def) {
    return begin_file(ctx, write_scene("mechanism.json", text), def);
}

/* Rods of 0.08 kg: the hinges carry M_i = sum of m g times arms, and the tip sinks by sum M_i / k times its distance.
 */
static void a_chain_settles_where_statics_say(void **state) {
    (void)state;
    bough_context *ctx = test_context(1);
    bough_run_def def = bough_default_run_def();
    play p =
        begin_text(ctx, "{" CHAIN("1000") ", 'gravity': [0, 0, -9.81], 'time': {'dt': 0.01, 'duration': 20}}", &def);
    check_ok(ctx, bough_run_advance(ctx, p.run));
    double sinks = 0;
    for (int j = 0; j < 3; j++) {
        double moment = 0;
        for (int i = j; i < 3; i++)
            moment += 0.08 * 9.81 * (0.1 + 0.2 * i - 0.2 * j);
        sinks += moment / 1000 * (0.6 - 0.2 * j);
    }
    check_near(value(&p, "tip.uz"), -sinks, 1e-5 * sinks);
    check(fabs(value(&p, "kinetic")) < 1e-12);
    end(ctx, &p);
    def.settle = true;
    p = begin_text(ctx, "{" CHAIN("1000") ", 'gravity': [0, 0, -9.81], 'time': {'dt': 0.01, 'duration': 1}}", &def);
    check_near(value(&p, "tip.uz"), -sinks, 1e-5 * sinks);
    check_ok(ctx, bough_run_advance(ctx, p.run));
    check_near(value(&p, "tip.uz"), -sinks, 1e-5 * sinks);
    end(ctx, &p);
    bough_context_destroy(ctx);
}

/* ---- reduced against full ---- */

static double rms_difference(bough_context *ctx, const char *text, const char *column, double *size) {
    double reduced[400], sum = 0, square = 0;
    int count = 0;
    for (int full = 0; full < 2; full++) {
        bough_run_def def = bough_default_run_def();
        def.engine = full ? "full" : "mechanism";
        play p = begin_text(ctx, text, &def);
        for (count = 0; count < 100; count++) {
            check_ok(ctx, bough_run_step(ctx, p.run));
            const double x = value(&p, column);
            if (full)
                sum += (x - reduced[count]) * (x - reduced[count]), square += x * x;
            else
                reduced[count] = x;
        }
        end(ctx, &p);
    }
    *size = sqrt(square / count);
    return sqrt(sum / count);
}

/* Under a small force at the end effector, which the reduced model sees exactly in statics; with loops and without. */
static void reduced_and_full_agree_for_small_loads(void **state) {
    (void)state;
    bough_context *ctx = test_context(1);
    static const char *const texts[] = {
        "{'bough': 1, 'generate': {'ladder': {'cells': 4, 'mass': 0.001, 'stiffness': 50, 'damping': 0.5}},"
        "'time': {'dt': 0.01, 'duration': 1}, 'forces': [{'end_effector': 'top', 'force': [0.5, 0, 0.5]}],"
        "'probes': [{'name': 'p', 'end_effector': 'top'}]}",
        "{'bough': 1, 'generate': {'ring': {'links': 7, 'mass': 0.001, 'stiffness': 50, 'damping': 0.5}},"
        "'time': {'dt': 0.01, 'duration': 1}, 'forces': [{'end_effector': 'far', 'force': [0, 0, 0.5]}],"
        "'probes': [{'name': 'p', 'link': 'link4'}]}",
        "{'bough': 1, 'generate': {'Y': {'trunk': 2, 'arm': 2, 'mass': 0.001, 'stiffness': 50, 'damping': 0.5}},"
        "'time': {'dt': 0.01, 'duration': 1}, 'forces': [{'end_effector': 'left', 'force': [0, 0, 0.2]}],"
        "'probes': [{'name': 'p', 'end_effector': 'left'}]}"};
    for (int i = 0; i < 3; i++) {
        double size, off = rms_difference(ctx, texts[i], "p.uz", &size);
        check(size > 1e-4);
        if (!(off < 0.01 * size))
            fail_msg("mechanism %d: %g of %g", i, off, size);
    }
    bough_context_destroy(ctx);
}

/* Energies of both engines mean the same: what is lost by damping and the step is lost, and no more is gained. */
static void energies_only_fall(void **state) {
    (void)state;
    bough_context *ctx = test_context(1);
    for (int full = 0; full < 2; full++) {
        bough_run_def def = bough_default_run_def();
        def.engine = full ? "full" : "mechanism";
        play p =
            begin_text(ctx, "{" CHAIN("200") ", 'gravity': [0, 0, -9.81], 'time': {'dt': 0.005, 'duration': 3}}", &def);
        double last = value(&p, "total");
        for (int i = 0; i < 200; i++) {
            check_ok(ctx, bough_run_step(ctx, p.run));
            const double now = value(&p, "total");
            check(now <= last + 1e-9);
            last = now;
        }
        check(value(&p, "elastic") > 0 && value(&p, "external") < 0);
        end(ctx, &p);
    }
    bough_context_destroy(ctx);
}

/* ---- checkpoints ---- */

#define WAVE "'curves': {'wave': [[0, 0], [0.3, 30], [0.6, -20], [1, 0]]},"
#define MOVED_CHAIN                                                                             \
    "{" CHAIN("20") "," WAVE "'motors': [{'joint': 'h2', 'curve': 'wave', 'degrees': true}],"   \
                    "'forces': [{'link': 'b', 'force': [0, 0, 1], 'from': 0.2, 'until': 0.5}]," \
                    "'gravity': [0, 0, -9.81], 'time': {'dt': 0.01, 'duration': 1"

static void resume_equals_one_run(bough_context *ctx, const char *text, const char *engine) {
    bough_run_def def = bough_default_run_def();
    double values[100];
    def.engine = engine;
    play p = begin_text(ctx, text, &def);
    for (int i = 0; i < 47; i++)
        check_ok(ctx, bough_run_step(ctx, p.run));
    check_ok(ctx, bough_run_save(ctx, p.run, test_path("half.check")));
    while (bough_run_values(p.run)[0] < 1 - 1e-9)
        check_ok(ctx, bough_run_step(ctx, p.run));
    const int32_t count = bough_run_column_count(p.run);
    memcpy(values, bough_run_values(p.run), (size_t)count * sizeof *values);
    end(ctx, &p);
    def.resume = test_path("half.check");
    p = begin_text(ctx, text, &def);
    check_ok(ctx, bough_run_advance(ctx, p.run));
    check(memcmp(values, bough_run_values(p.run), (size_t)count * sizeof *values) == 0);
    end(ctx, &p);
}

static void checkpoints_go_on_bit_by_bit(void **state) {
    (void)state;
    bough_context *ctx = test_context(1);
    resume_equals_one_run(ctx, MOVED_CHAIN "}}", "mechanism");
    resume_equals_one_run(ctx, MOVED_CHAIN "}}", "full");
    resume_equals_one_run(ctx, MOVED_CHAIN ", 'integrator': 'tr-bdf2'}}", "mechanism");
    resume_equals_one_run(ctx, MOVED_CHAIN ", 'integrator': 'hht'}}", "mechanism");
    resume_equals_one_run(ctx, MOVED_CHAIN "}, 'engine': {'internal_modes': 2}}", "mechanism");
    resume_equals_one_run(ctx, MOVED_CHAIN "}, 'engine': {'blend': {'points': 4, 'random': {'count': 3, 'force': 1}}}}",
                          "mechanism");
    static const char *const ring = "{'bough': 1, 'generate': {'ring': {'links': 5}}, 'gravity': [0, 0, -9.81],"
                                    "'probes': [{'name': 'p', 'link': 'link2'}], 'time': {'dt': 0.01, 'duration': 1}}";
    resume_equals_one_run(ctx, ring, "full");
    bough_context_destroy(ctx);
}

/* ---- motors ---- */

/* Springs without weight go where their motors are: the tip of the chain turns about the hinge that moved. */
static void a_motor_moves_the_equilibrium(void **state) {
    (void)state;
    bough_context *ctx = test_context(1);
    for (int full = 0; full < 2; full++) {
        bough_run_def def = bough_default_run_def();
        def.engine = full ? "full" : "mechanism";
        play p = begin_text(ctx,
                            "{" CHAIN("50") ", 'curves': {'c': [[0, 0], [1, 1]]},"
                                            "'motors': [{'joint': 'h1', 'curve': 'c', 'scale': 0.01}],"
                                            "'time': {'dt': 0.01, 'duration': 4}}",
                            &def);
        check_ok(ctx, bough_run_advance(ctx, p.run));
        check_near(value(&p, "tip.uz"), -0.6 * sin(0.01), 1e-10 * 0.006);
        check_near(value(&p, "b.uz"), -0.3 * sin(0.01), 1e-10 * 0.003);
        check(fabs(value(&p, "tip.vz")) < 1e-6);
        end(ctx, &p);
    }
    bough_context_destroy(ctx);
}

/* A velocity is the derivative of a position, also of links that motors move. */
static void velocities_are_derivatives(void **state) {
    (void)state;
    bough_context *ctx = test_context(1);
    for (int full = 0; full < 2; full++) {
        bough_run_def def = bough_default_run_def();
        def.engine = full ? "full" : "mechanism";
        play p = begin_text(ctx,
                            "{" CHAIN("50") ", 'curves': {'c': [[0, 0], [1, 40]]}, 'gravity': [0, 0, -9.81],"
                                            "'motors': [{'joint': 'h3', 'curve': 'c', 'degrees': true},"
                                            "{'joint': 'h2', 'curve': 'c', 'degrees': true, 'scale': -1.5}],"
                                            "'time': {'dt': 1e-4, 'duration': 1}}",
                            &def);
        double before = 0, within = 0, most = 0;
        for (int i = 0; i < 200; i++) {
            before = value(&p, "tip.z"), within = value(&p, "b.z");
            check_ok(ctx, bough_run_step(ctx, p.run));
            most = fmax(most, fabs(value(&p, "tip.vz")));
        }
        check(most > 0.01);
        check_near(value(&p, "tip.vz"), (value(&p, "tip.z") - before) / 1e-4, 1e-5 * most);
        check_near(value(&p, "b.vz"), (value(&p, "b.z") - within) / 1e-4, 1e-5 * most);
        end(ctx, &p);
    }
    bough_context_destroy(ctx);
}

/* ---- hands ---- */

/* A very stiff hand leads the tip to its place without throwing it about; let go, it comes back. */
static void a_pulled_link_follows_the_hand(void **state) {
    (void)state;
    bough_context *ctx = test_context(1);
    for (int full = 0; full < 2; full++) {
        bough_run_def def = bough_default_run_def();
        def.engine = full ? "full" : "mechanism";
        def.live = true;
        play p = begin_text(ctx, "{" CHAIN("20") ", 'time': {'dt': 0.01}}", &def);
        const int32_t link = 3;
        const bough_thing *thing = bough_run_thing(p.run, link);
        check(thing && !strcmp(thing->name, "c") && !strcmp(thing->kind, "link"));
        const bough_look *look = look_of(&p, link);
        int32_t vertex = 0;
        for (int32_t v = 0; v < look->vertex_count; v++)
            if (look->vertices[3 * v] > look->vertices[3 * vertex])
                vertex = v;
        const double *x = look->vertices + 3 * vertex;
        const double target[3] = {0.5 + x[0], x[1], x[2] + 0.05};
        check_ok(ctx, bough_run_pull(ctx, p.run, 0, link, vertex, target, full ? 200 : 1e5, full ? 1 : 10));
        for (int i = 0; i < 400; i++)
            check_ok(ctx, bough_run_step(ctx, p.run));
        check(value(&p, "tip.uz") > (full ? 0.02 : 0.049) && value(&p, "tip.uz") < 0.06);
        check(fabs(value(&p, "tip.vz")) < 1e-3);
        bough_run_release(p.run, 0);
        for (int i = 0; i < 400; i++)
            check_ok(ctx, bough_run_step(ctx, p.run));
        check(fabs(value(&p, "tip.uz")) < 1e-3);
        const double impulse[3] = {0, 0, 0.01};
        check_ok(ctx, bough_run_poke(ctx, p.run, link, vertex, impulse));
        check_ok(ctx, bough_run_set_dt(ctx, p.run, 0.001));
        check_ok(ctx, bough_run_step(ctx, p.run));
        check(value(&p, "tip.vz") > 0.01);
        check_fails(ctx, bough_run_pull(ctx, p.run, 0, 99, 0, target, 1, 1), BOUGH_ERROR_ARGUMENT, "part");
        check_fails(ctx, bough_run_pull(ctx, p.run, 0, link, 99999, target, 1, 1), BOUGH_ERROR_ARGUMENT, "part");
        check_fails(ctx, bough_run_poke(ctx, p.run, -1, 0, impulse), BOUGH_ERROR_ARGUMENT, "part");
        end(ctx, &p);
    }
    bough_context_destroy(ctx);
}

/* Far away and across the plane in which it moves: it comes as near as it can, and goes back to rest when let go. */
static void a_chain_torn_around_stays_whole(void **state) {
    (void)state;
    bough_context *ctx = test_context(1);
    const struct { double way, stiffness, damping; } tears[] = {{5, 1e3, 10}, {0.1, 1e6, 1e3}, {5, 1e6, 1e3}};
    for (size_t k = 0; k < sizeof tears / sizeof *tears; k++) {
        bough_run_def def = bough_default_run_def();
        def.live = true;
        play p = begin_text(ctx, "{" CHAIN("20") ", 'gravity': [0, 0, -9.81], 'time': {'dt': 0.005}}", &def);
        for (int i = 0; i < 600; i++) {
            const double target[3] = {0.5 + tears[k].way * sin(0.05 * i), tears[k].way * cos(0.07 * i),
                                      tears[k].way * sin(0.03 * i)};
            check_ok(ctx, bough_run_pull(ctx, p.run, 0, 3, 0, target, tears[k].stiffness, tears[k].damping));
            check_ok(ctx, bough_run_step(ctx, p.run));
        }
        bough_run_release(p.run, 0);
        for (int i = 0; i < 2000; i++)
            check_ok(ctx, bough_run_step(ctx, p.run));
        check(fabs(value(&p, "tip.uz")) < 0.1 && fabs(value(&p, "tip.vz")) < 1e-3);
        end(ctx, &p);
    }
    bough_context_destroy(ctx);
}

/* ---- the world turned ---- */

/* x -> (y, z, x): a turn about (1, 1, 1) by 120 degrees; written out for the chain, whose hinges turn about z then. */
static void the_world_may_be_turned(void **state) {
    (void)state;
    bough_context *ctx = test_context(1);
    const bough_run_def def = bough_default_run_def();
    play p =
        begin_text(ctx, "{" CHAIN("50") ", 'gravity': [0, 1, -9.81], 'time': {'dt': 0.01, 'duration': 0.5}}", &def);
    check_ok(ctx, bough_run_advance(ctx, p.run));
#define TURNED_ROD(name, y)                                                                       \
    "{'name': '" name "', 'position': [0, " y ", 0], 'rotate_deg': [90, 0, 90], 'density': 1000," \
    "'shape': {'box': [0.2, 0.02, 0.02]}}"
#define TURNED_HINGE(name, parent, child, y)                                                                         \
    "{'name': '" name "', 'kind': 'hinge', 'parent': '" parent "', 'child': '" child "', 'position': [0, " y ", 0]," \
    "'axis': [0, 0, 1], 'stiffness': 50, 'damping': 0.2}"
    bough_scene *scene;
    bough_run *run;
    check_ok(
        ctx,
        bough_scene_load(
            ctx,
            write_scene(
                "turned.json",
                "{'bough': 1, 'links': [{'name': 'wall'}," TURNED_ROD("a", "0.1") "," TURNED_ROD(
                    "b",
                    "0.3") "," TURNED_ROD("c",
                                          "0.5") "],"
                                                 "'joints': [" TURNED_HINGE("h1", "wall", "a", "0") "," TURNED_HINGE(
                                                     "h2", "a", "b",
                                                     "0.2") "," TURNED_HINGE("h3", "b", "c",
                                                                             "0.4") "], 'end_effectors': [{'name': "
                                                                                    "'tip', 'link': 'c', 'position': "
                                                                                    "[0, 0.6, 0]}],"
                                                                                    "'probes': [{'name': 'tip', "
                                                                                    "'end_effector': 'tip'}, {'name': "
                                                                                    "'b', 'link': 'b'}],"
                                                                                    "'gravity': [-9.81, 0, 1], 'time': "
                                                                                    "{'dt': 0.01, 'duration': 0.5}}"),
            &scene));
    check_ok(ctx, bough_run_create(ctx, scene, &def, &run));
    check_ok(ctx, bough_run_advance(ctx, run));
    const double *a = bough_run_values(p.run), *b = bough_run_values(run);
    for (int c = BOUGH_COLUMN_ELASTIC; c <= BOUGH_COLUMN_TOTAL; c++)
        check_near(b[c], a[c], 1e-9);
    for (int c = BOUGH_COLUMN_WORK; c <= BOUGH_COLUMN_BALANCE; c++)
        check_near(b[c], a[c], 1e-9);
    for (int c = BOUGH_COLUMN_MOMENTUM; c < bough_run_column_count(run); c += c + 3 == BOUGH_COLUMN_WORK ? 5 : 3)
        for (int d = 0; d < 3; d++)
            check_near(b[c + (d + 1) % 3], a[c + d], 1e-9);
    check(fabs(value(&p, "tip.uz")) > 1e-3);
    bough_run_destroy(ctx, run);
    bough_scene_destroy(ctx, scene);
    end(ctx, &p);
    bough_context_destroy(ctx);
}

/* ---- a free base ---- */

/* A free mechanism that is pushed by a short force has its impulse, and keeps it. */
static void a_free_mechanism_keeps_its_momentum(void **state) {
    (void)state;
    bough_context *ctx = test_context(1);
    const bough_run_def def = bough_default_run_def();
    play p = begin_text(ctx,
                        "{'bough': 1, 'free_base': true, 'generate': {'Y': {'trunk': 2, 'arm': 2, 'stiffness': 20}},"
                        "'forces': [{'link': 'trunk1', 'force': [0.2, 0, 0.3], 'until': 0.1}],"
                        "'time': {'dt': 0.005, 'duration': 1}}",
                        &def);
    check_ok(ctx, bough_run_advance(ctx, p.run));
    check_near(value(&p, "momentum.x"), 0.02, 2e-4);
    check_near(value(&p, "momentum.z"), 0.03, 3e-4);
    /* x X p of the force at trunk1, 7.5 cm from the origin; it moves by a little meanwhile */
    check_near(value(&p, "angular_momentum.x"), 0.075 * 0.03, 0.02 * 0.00225);
    check_near(value(&p, "angular_momentum.z"), -0.075 * 0.02, 0.02 * 0.0015);
    end(ctx, &p);
    bough_context_destroy(ctx);
}

/* ---- what is seen ---- */

/* The mesh of the run is all surfaces where the rigids are, and is made only when somebody looks. */
static void surfaces_go_with_the_links(void **state) {
    (void)state;
    bough_context *ctx = test_context(1);
    const bough_run_def def = bough_default_run_def();
    play p = begin_text(ctx,
                        "{" CHAIN("20") ", 'obstacles': [{'name': 'floor', 'shape': {'plane': true},"
                                        "'position': [0, 0, -9]}], 'gravity': [0, 0, -9.81],"
                                        "'time': {'dt': 0.01, 'duration': 0.2}}",
                        &def);
    check_ok(ctx, bough_run_advance(ctx, p.run));
    const bough_mesh *mesh = bough_run_mesh(p.run);
    const double *u = bough_run_displacement(p.run), *v = bough_run_velocity(p.run);
    check_int(bough_run_thing_count(p.run), 5);
    int32_t vertex = 0;
    for (int32_t i = 0; i < 5; i++) {
        const bough_look *look = look_of(&p, i);
        const bough_pose pose = frame_of(&p, i).pose;
        check_int(bough_run_thing(p.run, i)->first_vertex, vertex);
        for (int32_t k = 0; k < look->vertex_count; k++, vertex++)
            for (int d = 0; d < 3; d++) {
                double x = pose.position[d];
                for (int c = 0; c < 3; c++)
                    x += pose.rotation[3 * d + c] * look->vertices[3 * k + c];
                check_near(mesh->vertices[3 * vertex + d] + u[3 * vertex + d], x, 1e-12);
            }
        check_int(bough_run_thing(p.run, i)->parent, i == 0 || i == 4 ? -1 : i - 1);
    }
    check_int(vertex, mesh->vertex_count);
    check(fabs(u[3 * (vertex - 5) + 2]) > 1e-3 && fabs(v[3 * (vertex - 5) + 2]) > 1e-3); /* the tip */
    check(u[3 * (vertex - 1) + 2] == 0 && v[3 * (vertex - 1) + 2] == 0);                 /* the floor */
    check(bough_run_thing(p.run, 5) == NULL && bough_run_thing(p.run, -1) == NULL);
    double nothing;
    check_fails(ctx, bough_run_stresses(p.run, &nothing), BOUGH_ERROR_UNSUPPORTED, "no stress");
    end(ctx, &p);
    bough_context_destroy(ctx);
}

/* ---- blended ---- */

#define BENT_Y                                                                                                    \
    "{'bough': 1, 'generate': {'Y': {'trunk': 3, 'arm': 3, 'stiffness': 10, 'damping': 0.4}},"                    \
    "'forces': [{'end_effector': 'left', 'force': [0, 0, 5]}], 'probes': [{'name': 'p', 'end_effector': 'left'}," \
    "{'name': 'q', 'link': 'trunk2'}], 'settle': true, 'time': {'dt': 0.01, 'duration': 1}"

static double distance(const double a[3], const double b[3]) {
    return hypot(hypot(a[0] - b[0], a[1] - b[1]), a[2] - b[2]);
}

/* Far from the reference pose a blend is nearer to the full mechanism than one linear model. */
static void blends_bend_as_the_full_mechanism_does(void **state) {
    (void)state;
    bough_context *ctx = test_context(1);
    double at[3][3];
    for (int i = 0; i < 3; i++) {
        bough_run_def def = bough_default_run_def();
        def.engine = i == 2 ? "full" : NULL;
        play p = begin_text(ctx,
                            i == 1 ? BENT_Y ", 'engine': {'blend': {'tolerance': 0.005,"
                                            "'loads': [{'end_effector': 'left', 'force': [0, 0, 6]}]}}}"
                                   : BENT_Y "}",
                            &def);
        memcpy(at[i], bough_run_values(p.run) + BOUGH_COLUMN_PROBES, sizeof at[i]);
        check_ok(ctx, bough_run_advance(ctx, p.run));
        check_below(distance(at[i], bough_run_values(p.run) + BOUGH_COLUMN_PROBES), 1e-8); /* it was in equilibrium */
        end(ctx, &p);
    }
    check_below(distance(at[1], at[2]), 0.5 * distance(at[0], at[2]));
    bough_context_destroy(ctx);
}

/* ---- bodies and obstacles ---- */

#define FLOOR "'obstacles': [{'name': 'floor', 'shape': {'plane': true}}]"
#define BALL(z) "'bodies': [{'name': 'ball', 'density': 1000, 'position': [0.1, 0, " z "], 'shape': {'sphere': 0.1}}]"

/* A ball falls freely, then lies on the floor. */
static void a_ball_falls_and_lies(void **state) {
    (void)state;
    bough_context *ctx = test_context(1);
    const bough_run_def def = bough_default_run_def();
    play p = begin_text(ctx,
                        "{'bough': 1, " BALL("0.5") "," FLOOR ", 'gravity': [0, 0, -9.81],"
                                                    "'probes': [{'name': 'ball', 'body': 'ball'}],"
                                                    "'time': {'dt': 0.001, 'duration': 2}}",
                        &def);
    for (int i = 0; i < 200; i++)
        check_ok(ctx, bough_run_step(ctx, p.run));
    check_near(value(&p, "ball.uz"), -0.5 * 9.81 * 0.04, 0.01 * 0.2);
    check_near(value(&p, "ball.vz"), -9.81 * 0.2, 1e-12);
    check_near(value(&p, "momentum.z"), -9.81 * 0.2 * 1000 * 4 * M_PI / 3 * 1e-3, 1e-11);
    check_near(value(&p, "total"), 0, 0.05);
    check_ok(ctx, bough_run_advance(ctx, p.run));
    check_near(value(&p, "ball.z"), 0.1, 2e-3);
    check_near(value(&p, "ball.vz"), 0, 1e-3);
    check_int(bough_run_thing_count(p.run), 2);
    check_near(frame_of(&p, 0).pose.position[2], 0.1, 2e-3);
    end(ctx, &p);
    bough_context_destroy(ctx);
}

/* A lift that a track leads raises a ball, and does the work of that. */
static void a_lift_raises_a_ball(void **state) {
    (void)state;
    bough_context *ctx = test_context(1);
    const bough_run_def def = bough_default_run_def();
    play p = begin_text(ctx,
                        "{'bough': 1, " BALL("0.1") ", 'obstacles': [{'name': 'lift', 'shape': {'plane': true}, "
                                                    "'track': [{'time': 0, 'position': [0, 0, 0]}, {'time': 1, "
                                                    "'position': [0, 0, 0.4]}]}], 'gravity': [0, 0, -9.81],"
                                                    "'probes': [{'name': 'ball', 'body': 'ball'}],"
                                                    "'time': {'dt': 0.002, 'duration': 1.5}}",
                        &def);
    check_ok(ctx, bough_run_advance(ctx, p.run));
    const double weight = 9.81 * 1000 * 4 * M_PI / 3 * 1e-3;
    check_near(value(&p, "ball.z"), 0.5, 1e-5);
    check_near(value(&p, "work"), 0.4 * weight, 2e-3 * weight);
    check_near(frame_of(&p, 1).pose.position[2], 0.4, 1e-14);
    end(ctx, &p);
    bough_context_destroy(ctx);
}

/* A body that spins keeps its angular momentum I w, in the axes of the world. */
static void a_spinning_body_keeps_its_momentum(void **state) {
    (void)state;
    bough_context *ctx = test_context(1);
    const bough_run_def def = bough_default_run_def();
    play p = begin_text(ctx,
                        "{'bough': 1, 'bodies': [{'name': 'b', 'mass': 12, 'shape': {'box': [0.1, 0.2, 0.3]},"
                        "'spin': [1, 2, 3], 'velocity': [0, 0, 1]}], 'time': {'dt': 0.001, 'duration': 0.5}}",
                        &def);
    check_ok(ctx, bough_run_advance(ctx, p.run));
    check_near(value(&p, "angular_momentum.x"), 0.13, 1e-12);
    check_near(value(&p, "angular_momentum.y"), 0.2, 1e-12);
    check_near(value(&p, "angular_momentum.z"), 0.15, 1e-3);
    check_near(value(&p, "kinetic"), 0.5 * (12 + 0.13 + 0.4 + 0.45), 1e-2);
    end(ctx, &p);
    bough_context_destroy(ctx);
}

/* An arm whose tip rests on the floor is pushed up by what the floor carries; the probe of the touch says how much. */
#define RESTING_FOR(duration)                                                                                      \
    "{'bough': 1, 'links': [{'name': 'wall'}," ROD("a", "0.1") "], 'joints': [" HINGE(                             \
        "h1", "wall", "a", "0",                                                                                    \
        "1") "],"                                                                                                  \
             "'end_effectors': [{'name': 'tip', 'link': 'a', 'position': [0.2, 0, 0], 'shape': {'sphere': 0.02}, " \
             "'friction': 0}],"                                                                                    \
             "'obstacles': [{'name': 'floor', 'shape': {'plane': true}, 'position': [0, 0, -0.021]}],"             \
             "'probes': [{'name': 'tip', 'end_effector': 'tip'}, {'name': 'push', 'touch': 'tip'}],"               \
             "'gravity': [0, 0, -9.81], 'time': {'dt': 0.005, 'duration': " duration "}"
#define RESTING RESTING_FOR("1")

static void an_arm_rests_on_the_floor(void **state) {
    (void)state;
    bough_context *ctx = test_context(1);
    const bough_run_def def = bough_default_run_def();
    play p = begin_text(ctx, RESTING "}", &def);
    check_ok(ctx, bough_run_advance(ctx, p.run));
    check_near(value(&p, "tip.uz"), -0.001, 1e-10);
    /* moments about the hinge: weight, less the spring, less the floor */
    const double floor = (0.08 * 9.81 * 0.1 - 1 * 0.001 / 0.2) / 0.2;
    check_near(value(&p, "push.fz"), floor, 3e-4 * floor);
    end(ctx, &p);
    resume_equals_one_run(ctx, RESTING "}", "mechanism");
    resume_equals_one_run(ctx,
                          RESTING ", 'bodies': [{'name': 'ball', 'density': 1000, 'position': [0.15, 0, 0.2],"
                                  "'shape': {'sphere': 0.05}}, {'name': 'box', 'mass': 1, 'position': [0.5, 0, 0.2],"
                                  "'rotate_deg': [20, 30, 0], 'shape': {'box': [0.1, 0.1, 0.1]}}]}",
                          "mechanism");
    bough_context_destroy(ctx);
}

/* Bodies can be pulled and poked as links are. */
static void bodies_follow_hands(void **state) {
    (void)state;
    bough_context *ctx = test_context(1);
    bough_run_def def = bough_default_run_def();
    def.live = true;
    play p = begin_text(ctx,
                        "{'bough': 1, " BALL("1") "," FLOOR ", 'gravity': [0, 0, -9.81],"
                                                  "'probes': [{'name': 'ball', 'body': 'ball'}]}",
                        &def);
    const double target[3] = {0.5, 0, 1}, impulse[3] = {0, 1, 0};
    check_ok(ctx, bough_run_pull(ctx, p.run, 3, 0, 0, target, 1e5, 1e3));
    for (int i = 0; i < 500; i++)
        check_ok(ctx, bough_run_step(ctx, p.run));
    const double *bottom = look_of(&p, 0)->vertices;
    const double reach = hypot(hypot(bottom[0], bottom[1]), bottom[2]);
    check(fabs(hypot(value(&p, "ball.x") - 0.5, value(&p, "ball.z") - 1) - reach) < 0.01);
    bough_run_release(p.run, 3);
    const double before = value(&p, "momentum.y");
    check_ok(ctx, bough_run_poke(ctx, p.run, 0, 0, impulse));
    check_ok(ctx, bough_run_step(ctx, p.run));
    check_near(value(&p, "momentum.y") - before, 1, 1e-12);
    check_ok(ctx, bough_run_poke(ctx, p.run, 1, 0, impulse)); /* the floor does not mind */
    check_ok(ctx, bough_run_step(ctx, p.run));
    end(ctx, &p);
    bough_context_destroy(ctx);
}

/* ---- what does not go ---- */

static void check_no_run(bough_context *ctx, const char *text, const char *engine, const char *integrator,
                         const char *why) {
    bough_scene *scene;
    bough_run *run;
    bough_run_def def = bough_default_run_def();
    def.engine = engine, def.integrator = integrator;
    check_ok(ctx, bough_scene_load(ctx, write_scene("refused.json", text), &scene));
    check(bough_run_create(ctx, scene, &def, &run) != BOUGH_OK && !run);
    if (!strstr(bough_message(ctx), why))
        fail_msg("expected \"%s\", got \"%s\"", why, bough_message(ctx));
    bough_scene_destroy(ctx, scene);
}

static void what_cannot_run_is_told(void **state) {
    (void)state;
    bough_context *ctx = test_context(1);
    check_no_run(ctx, "{" CHAIN("1") ", 'time': {'duration': 1}}", "tree", NULL,
                 "\"tree\" steps scenes of parts, and this one has links");
    check_no_run(ctx, "{" CHAIN("1") ", 'time': {'duration': 1}}", "full", "hht", "backward-euler");
    check_no_run(ctx, "{" CHAIN("1") ", 'time': {'duration': 1}}", NULL, "hht2", "hht2");
    check_no_run(ctx,
                 "{'bough': 1, 'links': [{'name': 'a'}, {'name': 'b', 'mass': 1, 'inertia': [1, 1, 1, 0, 0, 0]}],"
                 "'joints': [{'kind': 'ball', 'parent': 'a', 'child': 'b', 'position': [0, 0, 0], 'stiffness': 1}],"
                 "'time': {'duration': 1}}",
                 NULL, NULL, "there are none");
    check_no_run(ctx, "{'bough': 1, 'free_base': true, 'settle': true, 'generate': {'Y': {}}, 'time': {'duration': 1}}",
                 NULL, NULL, "free base has no equilibrium");
    check_no_run(ctx, RESTING "}", "full", "hht", "the full mechanism is stepped by \"backward-euler\"");
    check_no_run(ctx, RESTING "}", NULL, "hht", "what touches is stepped by \"backward-euler\"");
    check_no_run(ctx, "{'bough': 1, " BALL("1") ", 'settle': true, 'time': {'duration': 1}}", NULL, NULL, "that fly");
    bough_context_destroy(ctx);
}

/* ---- memory that runs out ---- */

static bough_status play_all(bough_context *ctx, const char *path) {
    bough_scene *scene = NULL;
    bough_run *run = NULL;
    const bough_run_def def = bough_default_run_def();
    bough_status status = bough_scene_load(ctx, path, &scene);
    if (status == BOUGH_OK)
        status = bough_run_create(ctx, scene, &def, &run);
    if (status == BOUGH_OK)
        status = bough_run_advance(ctx, run);
    if (status == BOUGH_OK && (!bough_run_displacement(run) || bough_run_thing_count(run) == 0))
        status = BOUGH_ERROR_MEMORY;
    bough_run_destroy(ctx, run);
    bough_scene_destroy(ctx, scene);
    return status;
}

static void failed_allocations_leak_nothing(void **state) {
    (void)state;
    static const char *const texts[] = {
        RESTING_FOR("0.05") ", 'bodies': [{'name': 'ball', 'density': 1000, 'position': [0.15, 0, 0.2],"
                            "'shape': {'sphere': 0.05}}], 'settle': true}",
        RESTING_FOR("0.05") ", 'bodies': [{'name': 'ball', 'density': 1000, 'position': [0.15, 0, 0.2],"
                            "'shape': {'sphere': 0.05}}], 'link_touches': [{'link': 'a', 'shape': {'box': [0.1, 0.02, "
                            "0.02]}}], 'engine': {'kind': 'full'}}",
        RESTING_FOR("0.05") ", 'engine': {'blend': {'points': 2, 'random': {'count': 1, 'force': 1}}}}",
        MOVED_CHAIN "}}",
        MOVED_CHAIN ", 'integrator': 'hht'}, 'engine': {'internal_modes': 1}}",
        MOVED_CHAIN "}, 'engine': {'kind': 'full'}}",
        MOVED_CHAIN "}, 'engine': {'blend': {'points': 2, 'random': {'count': 1, 'force': 1}}}}"};
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        const char *path = write_scene("memory.json", texts[i]);
        bool done = false;
        for (long fail_at = 0; !done; fail_at += test_long() ? 1 : 1 + fail_at / 8) {
            test_memory memory = {.fail_at = fail_at};
            bough_context *ctx = test_counting_context(&memory);
            const bough_status status = ctx ? play_all(ctx, path) : BOUGH_ERROR_MEMORY;
            if (ctx && status != BOUGH_OK && status != BOUGH_ERROR_MEMORY)
                fail_msg("%s: %s", bough_status_name(status), bough_message(ctx));
            bough_context_destroy(ctx);
            check_int(memory.live, 0);
            done = memory.calls <= fail_at;
            check(done == (status == BOUGH_OK));
        }
    }
}

/* A free mechanism whose base is a box falls flat on it, its arm up in the air, and lies still. */
static void a_base_lies_on_what_it_touches_with(void **state) {
    (void)state;
    bough_context *ctx = test_context(1);
    const bough_run_def def = bough_default_run_def();
    play p =
        begin_text(ctx,
                   "{'bough': 1, 'free_base': true, 'base_touch': {'shape': {'box': [0.3, 0.3, 0.1]}},"
                   "'links': [{'name': 'body', 'mass': 2, 'shape': {'box': [0.3, 0.3, 0.1]}, 'position': [0, 0, 0.2]},"
                   "{'name': 'arm', 'mass': 0.3, 'shape': {'box': [0.04, 0.04, 0.2]}, 'position': [0, 0, 0.35]}],"
                   "'joints': [{'kind': 'hinge', 'parent': 'body', 'child': 'arm', 'position': [0, 0, 0.25],"
                   "'axis': [0, 1, 0], 'stiffness': 20, 'damping': 0.3}],"
                   "'end_effectors': [{'name': 'tip', 'link': 'arm', 'position': [0, 0, 0.45]}]," FLOOR
                   ", 'gravity': [0, 0, -9.81], 'probes': [{'name': 'body', 'link': 'body'}],"
                   "'time': {'dt': 0.002, 'duration': 1.5}}",
                   &def);
    check_ok(ctx, bough_run_advance(ctx, p.run));
    check_near(value(&p, "body.z"), 0.05, 1e-9);
    check(fabs(value(&p, "body.x")) < 1e-3 && fabs(value(&p, "kinetic")) < 1e-6);
    end(ctx, &p);
    bough_context_destroy(ctx);
}

/* An arm that is let go slowly lies on the floor where one that fell comes to rest, reduced and in full. */
#define FALLING(engine, settle)                                                                                   \
    "{'bough': 1, 'links': [{'name': 'base'}, {'name': 'arm', 'position': [0.25, 0, 0.1], 'mass': 1, 'inertia': " \
    "[0.001, 0.03, 0.03, 0, 0, 0]}], 'joints': [{'name': 'hinge', 'kind': 'hinge', 'parent': 'base', 'child': "   \
    "'arm', 'position': [0, 0, 0.1], 'axis': [0, 1, 0], 'stiffness': 5, 'damping': 1}], 'end_effectors': "        \
    "[{'name': 'tip', 'link': 'arm', 'position': [0.5, 0, 0.1], 'shape': {'sphere': 0.03}, 'friction': 0}], "     \
    "'obstacles': [{'name': 'floor', 'shape': {'plane': true}}], 'gravity': [0, 0, -9.81], 'engine': {'kind': "   \
    "'" engine                                                                                                    \
    "'}, 'probes': [{'name': 'tip', 'end_effector': 'tip'}, {'name': 'push', 'touch': 'tip'}], 'time': {'dt': "   \
    "0.002, 'duration': 4}" settle "}"

static void arms_settle_on_the_floor(void **state) {
    (void)state;
    static const char *const fell[] = {FALLING("mechanism", ""), FALLING("full", "")};
    static const char *const settled[] = {FALLING("mechanism", ", 'settle': true"),
                                          FALLING("full", ", 'settle': true")};
    bough_context *ctx = test_context(1);
    const bough_run_def def = bough_default_run_def();
    for (int i = 0; i < 2; i++) {
        play a = begin_text(ctx, fell[i], &def), b = begin_text(ctx, settled[i], &def);
        check_ok(ctx, bough_run_advance(ctx, a.run));
        const double z = value(&b, "tip.z");
        check_near(z, 0.03, 1e-8);
        check_near(z, value(&a, "tip.z"), 1e-8);
        check_near(value(&b, "tip.x"), value(&a, "tip.x"), 1e-8);
        for (int k = 0; k < 50; k++)
            check_ok(ctx, bough_run_step(ctx, b.run));
        check_near(value(&b, "tip.z"), z, 1e-9);
        check(value(&b, "push.fz") > 3);
        check_near(value(&b, "push.fz"), value(&a, "push.fz"), 1e-10);
        end(ctx, &a), end(ctx, &b);
    }
    check_no_run(
        ctx, /* it falls for ever */
        "{'bough': 1, 'free_base': true, 'settle': true, 'gravity': [0, 0, -9.81], 'links': [{'name': 'a', 'mass': "
        "1, 'inertia': [1, 1, 1, 0, 0, 0], 'position': [0, 0, 1]}, {'name': 'b', 'mass': 1, 'inertia': [1, 1, 1, 0, 0, "
        "0], "
        "'position': [0, 0, 1.2]}], 'joints': [{'kind': 'ball', 'parent': 'a', 'child': 'b', 'position': [0, 0, 1.1], "
        "'stiffness': 10}], 'end_effectors': [{'name': 'tip', 'link': 'b', 'shape': {'sphere': 0.1}, "
        "'friction': 1}], 'obstacles': [{'name': 'stone', 'shape': {'sphere': 0.1}, 'position': [9, 0, 0]}], 'time': "
        "{'duration': 1}}",
        "full", NULL, "nothing holds the mechanism where it is");
    bough_context_destroy(ctx);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_chain_settles_where_statics_say),
        cmocka_unit_test(reduced_and_full_agree_for_small_loads),
        cmocka_unit_test(energies_only_fall),
        cmocka_unit_test(checkpoints_go_on_bit_by_bit),
        cmocka_unit_test(a_motor_moves_the_equilibrium),
        cmocka_unit_test(velocities_are_derivatives),
        cmocka_unit_test(a_pulled_link_follows_the_hand),
        cmocka_unit_test(a_chain_torn_around_stays_whole),
        cmocka_unit_test(the_world_may_be_turned),
        cmocka_unit_test(a_free_mechanism_keeps_its_momentum),
        cmocka_unit_test(surfaces_go_with_the_links),
        cmocka_unit_test(blends_bend_as_the_full_mechanism_does),
        cmocka_unit_test(a_ball_falls_and_lies),
        cmocka_unit_test(a_lift_raises_a_ball),
        cmocka_unit_test(a_spinning_body_keeps_its_momentum),
        cmocka_unit_test(an_arm_rests_on_the_floor),
        cmocka_unit_test(arms_settle_on_the_floor),
        cmocka_unit_test(bodies_follow_hands),
        cmocka_unit_test(a_base_lies_on_what_it_touches_with),
        cmocka_unit_test(what_cannot_run_is_told),
        cmocka_unit_test(failed_allocations_leak_nothing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
