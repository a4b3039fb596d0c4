/* Runs the scenes of docs/scene-format/first-scene.md, which newcomers copy. */
#include "test.h"

#include "bough/run.h"

#define PAGE BOUGH_SOURCE_DIR "/docs/scene-format/first-scene.md"

/* Cuts the next JSON block out of the page and returns the place after it; NULL when there are no more. */
static char *next_example(char *from, char **example) {
    char *fence = strstr(from, "```json\n");
    if (!fence)
        return NULL;
    *example = fence + 8;
    char *end = strstr(*example, "```");
    check(end != NULL);
    *end = 0;
    return end + 3;
}

static void every_scene_of_the_tutorial_runs(void **state) {
    (void)state;
    static char page[60000];
    FILE *stream = fopen(PAGE, "rb");
    check(stream != NULL);
    page[fread(page, 1, sizeof page - 1, stream)] = 0;
    fclose(stream);

    bough_context *ctx = test_context(1);
    int32_t count = 0;
    char *example;
    for (char *at = page; (at = next_example(at, &example)) != NULL; count++) {
        test_write_text(test_path("first.json"), example);
        bough_scene *scene;
        check_ok(ctx, bough_scene_load(ctx, test_path("first.json"), &scene));
        bough_run_def def = bough_default_run_def();
        def.duration = 0.05;
        bough_run *run;
        check_ok(ctx, bough_run_create(ctx, scene, &def, &run));
        check_ok(ctx, bough_run_advance(ctx, run));
        check_near(bough_run_values(run)[BOUGH_COLUMN_TIME], 0.05, 1e-12);
        bough_run_destroy(ctx, run);
        bough_scene_destroy(ctx, scene);
    }
    check_int(count, 5);
    bough_context_destroy(ctx);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_scene_of_the_tutorial_runs),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
