/* The demo's animation is the motion of the engine, and Ctrl-C keeps it. */
#include "program.h"

#include "record/glb_reader.h"

#include <bough/scene.h>

static int prepare(void **state) {
    (void)state;
    setenv("OPENBLAS_NUM_THREADS", "1", 0);
    mkdir(work(""), 0700);
    return 0;
}

/* Every vertex of every part in the first frame, which is the settled state, and in the second, eight steps later. */
static void check_frame(bough_context *ctx, const glb_file *file, const bough_tree_model *model,
                        const bough_tree_state *s, double time) {
    static float positions[3 * 1501];
    const bough_tree_model_def *def = bough_tree_model_describe(model);
    for (int32_t p = 0; p < def->part_count; p += 3) {
        check_ok(ctx, bough_tree_state_positions(ctx, model, s, p, positions));
        for (int32_t v = 0; v < def->components[def->parts[p].component]->surface.vertex_count; v += 101) {
            const float *x = positions + 3 * v;
            bo_vec3 y = shown(file, (size_t)p + 1, (size_t)v, time);
            check_below(bo_norm(bo_sub(y, bo_v3((double)x[0], (double)x[2], -(double)x[1]))),
                        8e-4); /* 1e-4 of its size */
        }
    }
}

static void the_animation_is_the_motion_of_the_engine(void **state) {
    (void)state;
    mkdir(work("demo"), 0700);
    make_cooked("demo/oak", "oak", "50");
    check_run(0, "demo", "--frames", "2", "--leaves", "50");
    glb_file file = read_glb(work("demo/oak.glb"));
    check_accessors(&file);
    bough_context *ctx = test_context(1);
    bough_scene *scene;
    bough_tree_model *model;
    bough_tree_state *s;
    check_ok(ctx, bough_scene_load(ctx, work("demo/oak/scene.json"), &scene));
    check_ok(ctx, bough_scene_model(ctx, scene, &model));
    check_ok(ctx, bough_tree_state_create(ctx, model, &s));
    check_ok(ctx, bough_tree_state_settle(ctx, model, s, NULL, NULL));
    check_int(json_array_size(json_object_get(file.json, "nodes")), 1 + bough_tree_model_part_count(model));
    check_frame(ctx, &file, model, s, 0);
    for (int i = 0; i < 8; i++)
        check_ok(ctx, bough_tree_step(ctx, model, s, 1.0 / 240));
    check_frame(ctx, &file, model, s, 1.0 / 30);
    bough_tree_state_destroy(ctx, s);
    bough_tree_model_destroy(ctx, model);
    bough_scene_destroy(ctx, scene);
    bough_context_destroy(ctx);
    close_glb(&file);
}

/* Interrupts it once the film, which has another name until it is complete, has so many bytes. */
static void interrupt(const char *const words[], const char *where, const char *film, long bytes) {
    pid_t child = start_with_output(words, test_path("stdout"));
    wait_for_file(where, film, bytes);
    check_int(kill(child, SIGINT), 0);
    check_int(finish(child), 1);
    check(strstr(err, "bough: stopped after ") != NULL); /* beside what cooking warns of */
}

/* With the oak of the test before, which is cooked. */
static void interrupted_it_keeps_what_was_done(void **state) {
    (void)state;
    remove(work("demo/oak.glb")), remove(work("demo/oak.png"));
    interrupt(WORDS("demo", "--frames", "10000", "--leaves", "50"), "demo", "oak.glb", 0);
    glb_file file = read_glb(work("demo/oak.glb"));
    check_accessors(&file);
    close_glb(&file);
    check(!exists("demo/oak.png"));
}

/* As many frames as are told are in the film. */
static void an_interrupted_forest_tells_how_far_it_came(void **state) {
    (void)state;
    char told[4096];
    unsigned char head[64];
    int frames = 0;
    interrupt(WORDS("demo", "forest", "-o", "trees", "--frames", "10000", "--leaves", "0"), "trees", "film.png", 1000);
    FILE *f = fopen(test_path("stdout"), "r");
    check(f != NULL);
    told[fread(told, 1, sizeof told - 1, f)] = 0;
    fclose(f);
    const char *line = strstr(told, "film.png: ");
    check(line && sscanf(line, "film.png: %d frames", &frames) == 1);
    f = fopen(work("trees/film.png"), "rb");
    check(f && fread(head, 1, sizeof head, f) == sizeof head);
    fclose(f);
    check(memcmp(head + 37, "acTL", 4) == 0); /* behind the signature and the head of the picture */
    check_int(frames, head[41] << 24 | head[42] << 16 | head[43] << 8 | head[44]);
    check(frames >= 1 && !exists("trees/forest.png"));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_animation_is_the_motion_of_the_engine),
        cmocka_unit_test(interrupted_it_keeps_what_was_done),
        cmocka_unit_test(an_interrupted_forest_tells_how_far_it_came),
    };
    return cmocka_run_group_tests(tests, prepare, NULL);
}
