/* The scenes of bough example that fly: what flights keep, what is rigid in them, and films of them. */
#include "program.h"

#include <bough/run.h>

static bough_context *ctx;

static int prepare(void **state) {
    (void)state;
    setenv("OPENBLAS_NUM_THREADS", "1", 0);
    ctx = test_context(1);
    make_cooked("letters", "letters", NULL);
    return 0;
}

static int finish_all(void **state) {
    (void)state;
    bough_context_destroy(ctx);
    return 0;
}

typedef struct {
    bough_scene *scene;
    bough_run *run;
    const bough_tree_model *model;
    const bough_tree_state *state;
    const double *values;
} flight;

static flight take_off(const char *path) {
    flight f;
    check_ok(ctx, bough_scene_load(ctx, work(path), &f.scene));
    check_ok(ctx, bough_run_create(ctx, f.scene, NULL, &f.run));
    check(bough_run_model(f.run, &f.model, &f.state));
    f.values = bough_run_values(f.run);
    return f;
}

static void fly_until(flight *f, double time) {
    while (f->values[BOUGH_COLUMN_TIME] < time - 1e-9)
        check_ok(ctx, bough_run_step(ctx, f->run));
}

static void land(flight *f) {
    bough_run_destroy(ctx, f->run);
    bough_scene_destroy(ctx, f->scene);
}

static double length3(const double *x) {
    return sqrt(x[0] * x[0] + x[1] * x[1] + x[2] * x[2]);
}

/* World positions of a part's surface; their count. */
static int32_t positions_of(const flight *f, const char *name, const float **positions) {
    static float x[3 * 20000];
    const bough_tree_model_def *def = bough_tree_model_describe(f->model);
    const int32_t part = bough_tree_model_find_part(f->model, name);
    check(part >= 0);
    const int32_t count = def->components[def->parts[part].component]->surface.vertex_count;
    check(count < 20000);
    check_ok(ctx, bough_tree_state_positions(ctx, f->model, f->state, part, x));
    *positions = x;
    return count;
}

typedef struct {
    double lower[3], upper[3];
} box;

static box box_of(const flight *f, const char *name) {
    box b = {{INFINITY, INFINITY, INFINITY}, {-INFINITY, -INFINITY, -INFINITY}};
    const float *x;
    const int32_t count = positions_of(f, name, &x);
    for (int32_t k = 0; k < 3 * count; k++) {
        b.lower[k % 3] = fmin(b.lower[k % 3], (double)x[k]);
        b.upper[k % 3] = fmax(b.upper[k % 3], (double)x[k]);
    }
    return b;
}

/* At rest they stand side by side on one line, upright and facing the same way; links reach from one to the next. */
static void letters_stand_in_a_row(void **state) {
    (void)state;
    static const char *const word[] = {"S1", "U", "B", "T", "R", "E1", "E2", "S2"};
    flight f = take_off("letters/scene.json");
    const box root = box_of(&f, "T");
    for (int i = 0; i < 8; i++) {
        const box b = box_of(&f, word[i]);
        check_near(b.lower[2], root.lower[2], 0.04);
        check_near(b.upper[2], root.upper[2], 0.04);
        check_near(b.lower[1], root.lower[1], 0.01);
        check_near(b.upper[1], root.upper[1], 0.01);
        if (i == 7)
            continue;
        const box next = box_of(&f, word[i + 1]);
        char name[16];
        snprintf(name, sizeof name, "link%d", i + 1);
        const box link = box_of(&f, name);
        check(next.lower[0] > b.upper[0] - 0.05 && next.lower[0] < b.upper[0] + 0.2);
        check(link.lower[0] < b.upper[0] && link.upper[0] > next.lower[0]);
    }
    /* the foot of an E is below, its three bars to the right: most of it is on its left */
    const float *x;
    const int32_t count = positions_of(&f, "E2", &x);
    const box e = box_of(&f, "E2");
    double mean = 0;
    for (int32_t v = 0; v < count; v++)
        mean += (double)x[3 * v] / count;
    check(mean < 0.5 * (e.lower[0] + e.upper[0]));
    land(&f);
}

/* A rigid body has the energy w . L / 2 + m |v|^2 / 2, with L about its centre of mass and v there, which the root's
 * velocity is chosen to make nothing of. */
static void letters_start_as_a_rigid_body_that_turns(void **state) {
    (void)state;
    flight f = take_off("letters/scene.json");
    const double w[3] = {0.25, 0, 0.5}, v0[3] = {0, -0.2194, 0}; /* the scene's */
    const bough_tree_root *root = &f.state->roots[0];
    const double *P = f.values + BOUGH_COLUMN_MOMENTUM, *L = f.values + BOUGH_COLUMN_ANGULAR_MOMENTUM;
    double energy = 0;
    for (int d = 0; d < 3; d++) {
        const int e = (d + 1) % 3, g = (d + 2) % 3;
        check_near(root->angular_velocity[d], w[d], 1e-14);
        check_near(root->velocity[d], v0[d], 1e-14);
        /* v = v0 + w x (c - x0) */
        const double v = v0[d] + w[e] * (root->centre[g] - root->pose.position[g]) -
                         w[g] * (root->centre[e] - root->pose.position[e]);
        check_near(P[d], root->mass * v, 1e-13 * root->mass);
        check_near(v, 0, 1e-3);
        energy += 0.5 * w[d] * (L[d] - (root->centre[e] * P[g] - root->centre[g] * P[e])) + 0.5 * P[d] * v;
    }
    check(energy > 1);
    check_near(f.values[BOUGH_COLUMN_KINETIC], energy, 1e-13 * energy);
    check_near(f.values[BOUGH_COLUMN_ELASTIC], 0, 1e-12);
    land(&f);
}

/* Blows that add up to nothing turn the letters, and do not push them away; when they are over, nothing changes any
 * more, however the letters swing. */
static void letters_keep_their_momenta(void **state) {
    (void)state;
    flight f = take_off("letters/scene.json");
    const double *P = f.values + BOUGH_COLUMN_MOMENTUM, *L = f.values + BOUGH_COLUMN_ANGULAR_MOMENTUM;
    double before[6], after[6];
    memcpy(before, P, sizeof before);
    fly_until(&f, 0.2);
    memcpy(after, P, sizeof after);
    check_near(hypot(hypot(P[0] - before[0], P[1] - before[1]), P[2] - before[2]), 0, 1e-11 * 250 * 0.2);
    check(hypot(hypot(L[0] - before[3], L[1] - before[4]), L[2] - before[5]) > 1);
    double bent = 0, least = INFINITY;
    while (f.values[BOUGH_COLUMN_TIME] < 2.5) {
        check_ok(ctx, bough_run_step(ctx, f.run));
        bent = fmax(bent, f.values[BOUGH_COLUMN_ELASTIC]), least = fmin(least, f.values[BOUGH_COLUMN_ELASTIC]);
    }
    double change[6];
    for (int d = 0; d < 6; d++)
        change[d] = P[d] - after[d];
    print_message(
        "2.3 s of flight: momentum by %.1e of %.3g, angular momentum by %.1e of %.3g; elastic %.3g to %.3g J\n",
        length3(change), length3(after), length3(change + 3), length3(after + 3), least, bent);
    check_below(length3(change), 1e-13 * f.state->roots[0].mass); /* at about 1 m/s */
    check_below(length3(change + 3), 1e-12 * length3(after + 3));
    check(bent > 20 && bent > 2 * least); /* J: it swings */
    land(&f);
}

/* Largest change of the distance between vertices of a part, of a few pairs. */
static double stretch(const flight *f, const char *name) {
    const bough_tree_model_def *def = bough_tree_model_describe(f->model);
    const int32_t part = bough_tree_model_find_part(f->model, name);
    const float *x;
    positions_of(f, name, &x);
    const bough_surface *surface = &def->components[def->parts[part].component]->surface;
    double most = 0;
    for (int32_t i = 0; i < surface->vertex_count; i += 7)
        for (int32_t j = 0; j < i; j += 11) {
            double now[3], rest[3];
            for (int d = 0; d < 3; d++) {
                now[d] = (double)x[3 * i + d] - (double)x[3 * j + d];
                rest[d] = (double)surface->position[3 * i + d] - (double)surface->position[3 * j + d];
            }
            most = fmax(most, fabs(length3(now) - length3(rest)));
        }
    return most;
}

static void links_are_rigid_and_letters_are_not(void **state) {
    (void)state;
    flight f = take_off("letters/scene.json");
    fly_until(&f, 0.6);
    for (int i = 1; i <= 7; i++) {
        char name[16];
        snprintf(name, sizeof name, "link%d", i);
        check_below(stretch(&f, name), 2e-6); /* m, in floats */
    }
    check(stretch(&f, "E1") > 0.01 && stretch(&f, "T") > 0.01);
    land(&f);
}

static void films_are_made(void **state) {
    (void)state;
    json_t *answer;
    check_json(answer, 0, "run", "letters/scene.json", "--time", "0.1", "--fps", "20", "--record", "film.glb",
               "--record", "film.png", "--picture", "still.png", "--json");
    check(exists("film.glb") && exists("film.png") && exists("still.png") && truth(answer, "done"));
    json_decref(answer);
    static char bytes[1 << 18];
    FILE *f = fopen(work("film.png"), "rb");
    check(f != NULL);
    const size_t size = fread(bytes, 1, sizeof bytes, f);
    fclose(f);
    int frames = 0;
    for (size_t i = 0; i + 4 < size; i++)
        frames += memcmp(bytes + i, "fcTL", 4) == 0;
    check_int(frames, 3); /* at 0, 0.05 and 0.1 s */
    test_write_text(work("body.json"), "{\"bough\": 1, \"mesh\": {\"generate\": \"box\", \"size\": [1, 1, 1]}, "
                                       "\"time\": {\"duration\": 0.01}}");
    check_run(0, "run", "body.json", "--record", "body.glb");
    check(exists("body.glb"));
    check_mistake(2, "should end in .csv", "run", "body.json", "--record", "no.gif");
}

/* Half a turn about the hub's upright axis carries one wing into the other, and panels reach as far up as down. */
static void check_wings_are_alike(const flight *f) {
    const bough_tree_model_def *def = bough_tree_model_describe(f->model);
    const double *centre = f->state->roots[0].pose.position;
    int pairs = 0;
    for (int32_t i = 0; i < def->part_count; i++) {
        char other[64];
        if (strncmp(def->parts[i].name, "right", 5) != 0)
            continue;
        snprintf(other, sizeof other, "left%s", def->parts[i].name + 5);
        const int32_t j = bough_tree_model_find_part(f->model, other);
        check(j >= 0);
        const bough_frame *a = &f->state->frames[i], *b = &f->state->frames[j];
        for (int d = 0; d < 2; d++)
            check_near(a->pose.position[d] - centre[d], centre[d] - b->pose.position[d], 1e-9);
        check_near(a->pose.position[2], b->pose.position[2], 1e-10);
        pairs++;
    }
    check_int(pairs, 15);
    const box up = box_of(f, "right 3 panel 1"), down = box_of(f, "right 3 panel 3");
    check_near(up.upper[2] - centre[2], centre[2] - down.lower[2], 0.1);
    check(up.upper[2] - centre[2] > 20 && up.lower[2] > centre[2]);
}

/* The thrusters turn the station by force times arm times time, and do not push it away. */
static void thrusters_turn_the_station(void **state) {
    (void)state;
    make_cooked("station", "station", NULL);
    flight f = take_off("station/scene.json");
    const double *P = f.values + BOUGH_COLUMN_MOMENTUM, *L = f.values + BOUGH_COLUMN_ANGULAR_MOMENTUM;
    const bough_frame *right = &f.state->frames[bough_tree_model_find_part(f.model, "right 3")];
    const double arm = hypot(right->pose.position[0] - f.state->roots[0].pose.position[0],
                             right->pose.position[1] - f.state->roots[0].pose.position[1]);
    check_near(length3(P), 0, 1e-12);
    check_wings_are_alike(&f);
    fly_until(&f, 0.75);
    const double impulse = 150000 * 0.25;
    check(arm > 30 && arm < 40);
    check_near(length3(P), 0, 1e-13 * impulse);
    check_near(L[2], 2 * arm * impulse, 0.01 * arm * impulse);
    check_below(hypot(L[0], L[1]), 1e-5 * L[2]);
    land(&f);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(letters_stand_in_a_row),
        cmocka_unit_test(letters_start_as_a_rigid_body_that_turns),
        cmocka_unit_test(letters_keep_their_momenta),
        cmocka_unit_test(links_are_rigid_and_letters_are_not),
        cmocka_unit_test(films_are_made),
        cmocka_unit_test(thrusters_turn_the_station),
    };
    return cmocka_run_group_tests(tests, prepare, finish_all);
}
