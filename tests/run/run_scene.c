/* run_scene SCENE STEPS: steps a scene on one thread and prints all of its numbers after them, with all digits, and what a
 * step took. tools/check_wasm.sh compares what WebAssembly and a native program print. */
#include <bough/run.h>
#include <bough/scene.h>

#include <stdio.h>
#include <stdlib.h>
#include <time.h>

static double seconds(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static int compare(const void *a, const void *b) {
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

int main(int argc, char **argv) {
    enum { MOST = 100000 };
    const int steps = argc == 3 ? atoi(argv[2]) : 0;
    if (steps < 1 || steps > MOST) {
        fprintf(stderr, "usage: run_scene SCENE STEPS (1 to %d)\n", MOST);
        return 2;
    }
    bough_context_def alone = bough_default_context_def();
    alone.thread_count = 1, alone.takes_cooked = true;
    bough_context *ctx = bough_context_create(&alone);
    bough_scene *scene = NULL;
    bough_run *run = NULL;
    bough_run_def def = bough_default_run_def();
    def.live = true;
    double *took = malloc((size_t)steps * sizeof *took);
    bool good = took && !bough_scene_load(ctx, argv[1], &scene) && !bough_run_create(ctx, scene, &def, &run);
    for (int i = 0; i < steps && good; i++) {
        const double start = seconds();
        good = !bough_run_step(ctx, run);
        took[i] = seconds() - start;
    }
    for (int32_t c = 0; good && c < bough_run_column_count(run); c++)
        printf("%s %.17g\n", bough_run_column_name(run, c), bough_run_values(run)[c]);
    if (good) {
        qsort(took, (size_t)steps, sizeof *took, compare);
        fprintf(stderr, "%.1f us a step; the fastest %.1f\n", 1e6 * took[steps / 2], 1e6 * took[0]);
    } else
        fprintf(stderr, "%s\n", bough_message(ctx));
    bough_run_destroy(ctx, run);
    bough_scene_destroy(ctx, scene);
    bough_context_destroy(ctx);
    free(took);
    return good ? 0 : 1;
}
