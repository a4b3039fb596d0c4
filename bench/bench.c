#include "bench.h"

#include <spawn.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>
#include <fcntl.h>

extern char **environ;

static int compare(const void *a, const void *b) {
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

void bench_fail(const bough_context *ctx) {
    if (!app_interrupted())
        app_fail(ctx);
}

int bench_end(bough_context *ctx, json_t *rows, bool good) {
    if (rows && good)
        app_print_json(rows);
    else
        json_decref(rows);
    bough_context_destroy(ctx);
    return good ? APP_OK : APP_FAILED;
}

void bench_add(bench_times *times, double seconds) {
    if (times->count < 64)
        times->values[times->count++] = seconds;
    qsort(times->values, (size_t)times->count, sizeof *times->values, compare);
}

double bench_median(const bench_times *times) {
    return times->count ? times->values[times->count / 2] : 0;
}

double bench_least(const bench_times *times) {
    return times->count ? times->values[0] : 0;
}

double bench_most(const bench_times *times) {
    return times->count ? times->values[times->count - 1] : 0;
}

bool bench_beam_create(bough_context *ctx, bough_element_type type, double length, double h, int32_t along,
                       int32_t across, bough_mass_kind mass, double young, bench_beam *beam) {
    *beam = (bench_beam){0};
    bough_box_def box = bough_default_box_def();
    box.type = type;
    box.size[0] = length, box.size[1] = box.size[2] = h;
    box.cells[0] = along, box.cells[1] = box.cells[2] = across;
    bough_body_def def = bough_default_body_def();
    def.material.young = young, def.material.poisson = 0.3, def.material.density = 7850;
    def.mass = mass;
    int32_t *vertices = NULL, count;
    bool made = !bough_mesh_generate_box(ctx, &box, &beam->mesh) &&
                !bough_body_create(ctx, beam->mesh, &def, &beam->body) &&
                !bough_mesh_select(ctx, beam->mesh, "x0", &vertices, &count) &&
                !bough_load_case_create(ctx, beam->body, &beam->load_case) &&
                !bough_load_case_fix(ctx, beam->load_case, vertices, count, BOUGH_AXES, NULL);
    bough_release(ctx, vertices);
    if (!made) {
        app_fail(ctx);
        bench_beam_destroy(ctx, beam);
    }
    return made;
}

void bench_beam_destroy(bough_context *ctx, bench_beam *beam) {
    bough_load_case_destroy(ctx, beam->load_case);
    bough_body_destroy(ctx, beam->body);
    bough_mesh_destroy(ctx, beam->mesh);
    *beam = (bench_beam){0};
}

static char *read_text(const char *path) {
    FILE *f = fopen(path, "rb");
    if (!f)
        return NULL;
    fseek(f, 0, SEEK_END);
    long size = ftell(f);
    rewind(f);
    char *text = malloc((size_t)size + 1);
    if (text)
        text[fread(text, 1, (size_t)size, f)] = 0;
    fclose(f);
    return text;
}

/* ccx in `folder` on job.inp; its CPU seconds, or negative. */
static double run_calculix(const char *folder) {
    setenv("OMP_NUM_THREADS", "1", 1);
    setenv("CCX_NPROC_STIFFNESS", "1", 1);
    posix_spawn_file_actions_t actions;
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_addchdir_np(&actions, folder); /* it leaves files where it runs */
    posix_spawn_file_actions_addopen(&actions, STDOUT_FILENO, "log", O_WRONLY | O_CREAT | O_TRUNC, 0600);
    posix_spawn_file_actions_adddup2(&actions, STDOUT_FILENO, STDERR_FILENO);
    char *argv[] = {(char[]){"ccx"}, (char[]){"-i"}, (char[]){"job"}, NULL};
    pid_t child;
    int started = posix_spawnp(&child, "ccx", &actions, NULL, argv, environ);
    posix_spawn_file_actions_destroy(&actions);
    if (started != 0)
        return -1;
    int status;
    struct rusage usage;
    if (wait4(child, &status, 0, &usage) != child || !WIFEXITED(status) || WEXITSTATUS(status) != 0)
        return -1;
    return (double)(usage.ru_utime.tv_sec + usage.ru_stime.tv_sec) +
           1e-6 * (double)(usage.ru_utime.tv_usec + usage.ru_stime.tv_usec);
}

double bench_calculix(bough_context *ctx, const bough_mesh *mesh, const char *cards, char **dat) {
    char folder[] = "/tmp/bough-bench-XXXXXX", path[512];
    static const char *const leftovers[] = {"job.inp", "job.dat", "job.frd", "job.sta",    "job.cvg",
                                            "job.12d", "job.eig", "log",     "spooles.out"};
    *dat = NULL;
    if (!mkdtemp(folder))
        return -1;
    snprintf(path, sizeof path, "%s/job.inp", folder);
    double seconds = -1;
    if (bough_mesh_write(ctx, mesh, path)) {
        app_fail(ctx);
    } else {
        FILE *f = fopen(path, "a");
        if (f) {
            fputs(cards, f);
            if (fclose(f) == 0)
                seconds = run_calculix(folder);
        }
    }
    snprintf(path, sizeof path, "%s/job.dat", folder);
    *dat = read_text(path);
    for (size_t i = 0; i < sizeof leftovers / sizeof *leftovers; i++) {
        snprintf(path, sizeof path, "%s/%s", folder, leftovers[i]);
        remove(path);
    }
    rmdir(folder);
    return *dat ? seconds : -1;
}
