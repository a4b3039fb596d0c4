/* Benchmarks: medians and spread, one thread, our figure and the other program's in the same run. */
#ifndef BOUGH_BENCH_H
#define BOUGH_BENCH_H

#include "../app/app.h"

#include <bough/tree.h>

typedef struct bench_options {
    bool json;
    int32_t size;
    int32_t threads;
    bough_coupling coupling;
    const char *plot;   /* file for it; NULL: none */
    const char *folder; /* where plots go; NULL: none are made */
} bench_options;

int bench_assembly(const bench_options *options);
int bench_modes(const bench_options *options);
int bench_static(const bench_options *options);
int bench_convergence(const bench_options *options);
int bench_energy(const bench_options *options);
int bench_stiffness(const bench_options *options);
int bench_cook(const bench_options *options);
int bench_oak(const bench_options *options);
int bench_flower(const bench_options *options);
int bench_dragon(const bench_options *options);
int bench_letters(const bench_options *options);
int bench_station(const bench_options *options);
int bench_forest(const bench_options *options);
int bench_stability(const bench_options *options);
int bench_leaves(const bench_options *options);
int bench_accuracy(const bench_options *options);
int bench_peaks(const bench_options *options);
int bench_stress(const bench_options *options);
int bench_embedding(const bench_options *options);
int bench_boundary(const bench_options *options);
int bench_loops(const bench_options *options);
int bench_changes(const bench_options *options);
int bench_view(const bench_options *options);
int bench_mechanism(const bench_options *options);
int bench_details(const bench_options *options);
int bench_multibody(const bench_options *options);
int bench_twin(const bench_options *options);
int bench_retarget(const bench_options *options);
int bench_touch(const bench_options *options);
int bench_contact(const bench_options *options);
int bench_contact_inclines(const bench_options *options);
int bench_contact_momentum(const bench_options *options);
int bench_contact_hertz(const bench_options *options);
int bench_contact_costs(const bench_options *options);
int bench_contact_trees(const bench_options *options);
int bench_contact_scenes(const bench_options *options);
int bench_reduction(const bench_options *options);
int bench_figure7(const bench_options *options);

/* ---- bench.c ---- */

/* Like app_fail(), except after Ctrl-C, when messages may be old: the command reports that once for all benchmarks. */
void bench_fail(const bough_context *ctx);
/* Prints the rows when all went well (NULL: text was printed already); releases both. Returns the status. */
int bench_end(bough_context *ctx, json_t *rows, bool good);

typedef struct bench_times {
    double values[64];
    int count;
} bench_times;

void bench_add(bench_times *times, double seconds);
double bench_median(const bench_times *times);
double bench_least(const bench_times *times);
double bench_most(const bench_times *times);

/* The steel cantilever of all benchmarks: length x h x h along x, clamped at x = 0. */
typedef struct bench_beam {
    bough_mesh *mesh;
    bough_body *body;
    bough_load_case *load_case; /* the clamp; benchmarks add loads */
} bench_beam;
bool bench_beam_create(bough_context *ctx, bough_element_type type, double length, double h, int32_t along,
                       int32_t across, bough_mass_kind mass, double young, bench_beam *beam);
void bench_beam_destroy(bough_context *ctx, bench_beam *beam);

/* Runs CalculiX with one thread on the mesh plus `step` (cards of boundary conditions and the step) in a temporary
 * folder. Returns its CPU seconds, negative when it is not installed or failed; *dat is the text of its .dat file
 * (free it). */
double bench_calculix(bough_context *ctx, const bough_mesh *mesh, const char *cards, char **dat);

#endif
