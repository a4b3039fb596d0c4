/* Cooking: the phases in order, their memory, what they say while they work. */
#include "reduce/cook.h"

#include "component/pack.h"
#include "linalg/sparse.h"

#include <math.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#define COOK_COOKIE 0xB0061041u

bough_cook_def bough_default_cook_def(void) {
    return (bough_cook_def){.cookie = COOK_COOKIE,
                            .parent = -1,
                            .r = 20,
                            .elastic = -1,
                            .polynomial_most = 40,
                            .cubature_tolerance = 0.003,
                            .cubature_most = 2000,
                            .pose_amplitude = 0.25,
                            .seed = 1,
                            .wind_count = 16,
                            .contact_count = 100,
                            .stress_count = 12,
                            .field_count = 128,
                            .wire = true};
}

const char *bough_cook_phase_name(bough_cook_phase phase) {
    static const char *const names[BOUGH_COOK_PHASE_COUNT] = {
        [BOUGH_COOK_SETUP] = "set-up",    [BOUGH_COOK_FACTOR] = "factorisation",
        [BOUGH_COOK_EIGEN] = "modes",     [BOUGH_COOK_DERIVATIVES] = "derivatives",
        [BOUGH_COOK_BASIS] = "basis",     [BOUGH_COOK_ELASTIC] = "elastic model",
        [BOUGH_COOK_INERTIA] = "inertia", [BOUGH_COOK_SAMPLES] = "samples, surface",
        [BOUGH_COOK_QUALITY] = "quality",
    };
    return (int)phase >= 0 && phase < BOUGH_COOK_PHASE_COUNT ? names[phase] : "";
}

/* ---- memory ---- */

struct bo_cook_block {
    bo_cook_block *next;
    max_align_t data[];
};

void *bo_cook_alloc(bo_cook *cook, size_t count, size_t size) {
    if (size && count > (SIZE_MAX - sizeof(bo_cook_block)) / size) {
        bo_fail_memory(cook->ctx);
        return NULL;
    }
    bo_cook_block *block = bo_calloc(cook->ctx, 1, sizeof *block + count * size);
    if (!block)
        return NULL;
    block->next = cook->blocks;
    cook->blocks = block;
    return block->data;
}

bough_status bo_cook_boundary(bo_cook *cook) {
    return cook->boundary ? BOUGH_OK
                          : bough_mesh_surface(cook->ctx, cook->body->mesh, &cook->boundary, &cook->boundary_vertices,
                                               &cook->boundary_faces);
}

/* ---- phases ---- */

static double seconds(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

void bo_cook_clock(bo_cook *cook, bough_cook_phase phase) {
    double now = seconds();
    if (cook->clock_running)
        cook->times[cook->phase] += now - cook->phase_begin;
    cook->phase = phase;
    cook->phase_begin = now;
    cook->clock_running = true;
}

/* A cubature takes longer than all else. */
static bool expects_cubature(const bo_cook *cook) {
    bool others = cook->def->elastic == BOUGH_REDUCED_CUBATURE;
    for (int32_t i = 0; i < cook->body->material_count && cook->def->elastic < 0; i++)
        others = others || (cook->body->elastic[i].model != BOUGH_MATERIAL_STVK &&
                            cook->body->elastic[i].model != BOUGH_MATERIAL_LINEAR);
    return others;
}

/* Roughly how far cooking is when a phase begins; only for progress bars. */
static double overall(const bo_cook *cook, double within) {
    static const double begin[2][BOUGH_COOK_PHASE_COUNT + 1] = {{0, 0.03, 0.12, 0.3, 0.45, 0.5, 0.73, 0.74, 0.77, 1},
                                                                {0, 0.01, 0.04, 0.1, 0.16, 0.18, 0.9, 0.91, 0.92, 1}};
    const double *at = begin[expects_cubature(cook)] + cook->phase;
    return at[0] + within * (at[1] - at[0]);
}

bool bo_cook_tell(bo_cook *cook, double within, const char *format, ...) {
    if (!cook->own_hooks.progress)
        return true;
    char detail[128];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(detail, sizeof detail, format, arguments);
    va_end(arguments);
    cook->told = fmax(cook->told, overall(cook, within));
    bough_progress progress = {bough_cook_phase_name(cook->phase), cook->told, detail};
    return cook->own_hooks.progress(cook->own_hooks.progress_user, &progress);
}

bool bo_cook_progress(bo_cook *cook, double within) {
    return bo_cook_tell(cook, within, "r = %d, %d elements", cook->r > 0 ? cook->r : cook->def->r,
                        cook->body->mesh->element_count);
}

/* Hears the progress of functions that the phases call. Their numbers are passed on; their fractions are not, since
 * they are not of the whole. */
static bool tell_phase(void *user, const bough_progress *below) {
    bo_cook *cook = user;
    cook->told = fmax(cook->told, overall(cook, 0));
    bough_progress progress = {bough_cook_phase_name(cook->phase), cook->told, below->detail};
    return cook->own_hooks.progress(cook->own_hooks.progress_user, &progress);
}

static bough_status begin(bo_cook *cook, bough_cook_phase phase) {
    bo_cook_clock(cook, phase);
    return bo_cook_progress(cook, 0) ? BOUGH_OK : bo_fail_cancelled(cook->ctx);
}

/* Which elastic model serves; the sentence when the one that was asked for does not. */
static bough_status choose_elastic(bo_cook *cook) {
    const bough_body *body = cook->body;
    bool polynomial = true, linear = true;
    for (int32_t i = 0; i < body->material_count; i++) {
        linear = linear && body->elastic[i].model == BOUGH_MATERIAL_LINEAR;
        polynomial = polynomial &&
                     (body->elastic[i].model == BOUGH_MATERIAL_STVK || body->elastic[i].model == BOUGH_MATERIAL_LINEAR);
    }
    bough_reduced_elastic *elastic = &cook->draft.elastic;
    if (cook->r == 0)
        *elastic = BOUGH_REDUCED_RIGID;
    else if (cook->def->elastic >= 0)
        *elastic = (bough_reduced_elastic)cook->def->elastic;
    else
        *elastic = linear ? BOUGH_REDUCED_LINEAR
                   : polynomial && cook->r <= cook->def->polynomial_most && cook->r <= BOUGH_MAX_POLYNOMIAL_COORDINATES
                       ? BOUGH_REDUCED_POLYNOMIAL
                       : BOUGH_REDUCED_CUBATURE;
    if (*elastic == BOUGH_REDUCED_POLYNOMIAL && !polynomial)
        return bo_fail(cook->ctx, BOUGH_ERROR_ARGUMENT,
                       "only stvk and linear materials have an exact polynomial; use cubature for this material");
    if (*elastic == BOUGH_REDUCED_POLYNOMIAL && cook->r > BOUGH_MAX_POLYNOMIAL_COORDINATES)
        return bo_fail(cook->ctx, BOUGH_ERROR_ARGUMENT,
                       "a polynomial of %d coordinates would be too large (at most %d); use cubature or fewer", cook->r,
                       BOUGH_MAX_POLYNOMIAL_COORDINATES);
    return BOUGH_OK;
}

static bough_status cook_elastic(bo_cook *cook) {
    BO_TRY(choose_elastic(cook));
    switch (cook->draft.elastic) {
    case BOUGH_REDUCED_POLYNOMIAL:
        return bo_cook_polynomial(cook);
    case BOUGH_REDUCED_CUBATURE:
        BO_TRY(bo_cook_stiffness(cook));
        return bo_cook_cubature(cook);
    case BOUGH_REDUCED_LINEAR:
        return bo_cook_stiffness(cook);
    default:
        return BOUGH_OK;
    }
}

static bough_status run(bo_cook *cook) {
    BO_TRY(begin(cook, BOUGH_COOK_SETUP));
    BO_TRY(bo_cook_setup(cook));
    BO_TRY(bo_cook_basis(cook));
    BO_TRY(begin(cook, BOUGH_COOK_ELASTIC));
    BO_TRY(cook_elastic(cook));
    BO_TRY(begin(cook, BOUGH_COOK_INERTIA));
    BO_TRY(bo_cook_inertia(cook));
    BO_TRY(bo_cook_frames(cook));
    BO_TRY(begin(cook, BOUGH_COOK_SAMPLES));
    BO_TRY(bo_cook_samples(cook));
    BO_TRY(bo_cook_surface(cook));
    BO_TRY(bo_cook_wire(cook));
    BO_TRY(begin(cook, BOUGH_COOK_QUALITY));
    BO_TRY(bo_cook_quality(cook));
    bo_cook_clock(cook, BOUGH_COOK_QUALITY);
    return BOUGH_OK;
}

/* ---- the public function ---- */

static bough_status check_counts(bough_context *ctx, const bough_cook_def *def) {
    if (def->r < 0 || def->r > BOUGH_MAX_COORDINATES)
        return bo_fail(ctx, BOUGH_ERROR_ARGUMENT, "r = %d is not possible; a component has 0 to %d coordinates", def->r,
                       BOUGH_MAX_COORDINATES);
    if (def->interface_count < 0 || def->mode_count < 0 || def->snapshot_count < 0 || def->column_count < 0 ||
        def->wind_count < 0 || def->contact_count < 0 || def->stress_count < 0 || def->stress_element_count < 0 ||
        def->field_count < 0 || def->cubature_most < 0 || def->training_count < 0)
        return bo_fail(ctx, BOUGH_ERROR_ARGUMENT, "the cook def has a negative count");
    if (def->field_count > BOUGH_MAX_FIELD_POINTS)
        return bo_fail(ctx, BOUGH_ERROR_ARGUMENT, "a field of stress has at most %d points, not %d",
                       BOUGH_MAX_FIELD_POINTS, def->field_count);
    if ((def->interface_count > 0 && !def->interfaces) || (def->stress_element_count > 0 && !def->stress_elements))
        return bo_fail(ctx, BOUGH_ERROR_ARGUMENT, "the cook def counts interfaces or elements that it does not give");
    if (def->parent < -1 || def->parent >= def->interface_count)
        return bo_fail(ctx, BOUGH_ERROR_ARGUMENT, "the parent interface %d does not exist: there are %d", def->parent,
                       def->interface_count);
    if (def->elastic < -1 || def->elastic > BOUGH_REDUCED_CUBATURE ||
        (def->elastic == BOUGH_REDUCED_RIGID && def->r > 0))
        return bo_fail(ctx, BOUGH_ERROR_ARGUMENT,
                       "the elastic model must be linear, polynomial or cubature (a rigid component has r = 0)");
    return BOUGH_OK;
}

static bough_status check_def(bough_context *ctx, const bough_cook_def *def) {
    if (def->cookie != COOK_COOKIE)
        return bo_fail(ctx, BOUGH_ERROR_ARGUMENT, "the cook def was not made by bough_default_cook_def()");
    BO_TRY(check_counts(ctx, def));
    if (!(def->tolerance >= 0 && def->tolerance < 1))
        return bo_fail(ctx, BOUGH_ERROR_ARGUMENT, "the tolerance of a basis must be at least 0 and below 1");
    if (!(def->pose_amplitude > 0 && def->pose_amplitude <= 10))
        return bo_fail(ctx, BOUGH_ERROR_ARGUMENT, "the amplitude of poses must be above 0 and at most 10 body sizes");
    if (!(def->cubature_tolerance > 0 && def->cubature_tolerance < 1))
        return bo_fail(ctx, BOUGH_ERROR_ARGUMENT, "the tolerance of a cubature must be above 0 and below 1");
    if (def->basis & BOUGH_BASIS_FORCES && (def->basis != BOUGH_BASIS_FORCES || !def->forces || def->force_count < 1))
        return bo_fail(ctx, BOUGH_ERROR_ARGUMENT,
                       "a basis of answers to forces needs these forces, and goes with no other kind");
    if ((def->basis & BOUGH_BASIS_SNAPSHOTS && (!def->snapshots || def->snapshot_count == 0)) ||
        (def->basis & BOUGH_BASIS_COLUMNS && (!def->columns || def->column_count == 0)))
        return bo_fail(ctx, BOUGH_ERROR_ARGUMENT, "the basis is to be made from snapshots or columns, but has none");
    return BOUGH_OK;
}

bough_status bo_cook_open(bough_context *ctx, const bough_body *body, const bough_load_case *load_case,
                          const bough_cook_def *def, bo_cook *cook) {
    *cook = (bo_cook){.ctx = ctx, .body = body, .def = def, .n = bo_body_size(body), .r = def->r};
    bough_component_quality *quality = &cook->draft.quality;
#define NOT_MEASURED(name, about) quality->name = NAN;
    BOUGH_QUALITY_LIST(NOT_MEASURED)
#undef NOT_MEASURED
    cook->own_hooks = ctx->def;
    BO_TRY(bo_load_case_of(ctx, body, load_case, &cook->load_case));
    cook->held = BO_COOK_ARRAY(cook, unsigned char, cook->n);
    if (!cook->held)
        return BOUGH_ERROR_MEMORY;
    if (ctx->def.progress) {
        ctx->def.progress = tell_phase;
        ctx->def.progress_user = cook;
    }
    return BOUGH_OK;
}

void bo_cook_close(bo_cook *cook) {
    cook->ctx->def = cook->own_hooks;
    while (cook->blocks) {
        bo_cook_block *next = cook->blocks->next;
        bo_free(cook->ctx, cook->blocks);
        cook->blocks = next;
    }
    bough_mesh_destroy(cook->ctx, cook->boundary);
    bo_free(cook->ctx, cook->boundary_vertices);
    bo_free(cook->ctx, cook->boundary_faces);
    bo_factor_destroy(cook->ctx, cook->factor);
    bough_sparse_destroy(cook->ctx, cook->K);
    bough_sparse_destroy(cook->ctx, cook->m);
}

bough_status bough_cook(bough_context *ctx, const bough_body *body, const bough_load_case *load_case,
                        const bough_cook_def *def, double *times, bough_component **component) {
    *component = NULL;
    BO_TRY(check_def(ctx, def));
    bo_cook cook;
    bough_status status = bo_cook_open(ctx, body, load_case, def, &cook);
    if (status == BOUGH_OK)
        status = run(&cook);
    if (status == BOUGH_OK)
        status = bo_component_pack(ctx, &cook.draft, component);
    if (status == BOUGH_OK)
        bo_cook_forget(&cook);
    else if (status == BOUGH_CANCELLED)
        bo_cook_leave(&cook);
    if (times)
        memcpy(times, cook.times, sizeof cook.times);
    bo_cook_close(&cook);
    return status;
}

bough_status bough_share_modes(bough_context *ctx, int32_t total, int32_t part_count, const int32_t *element_counts,
                               int32_t *r) {
    if (part_count < 1 || total < part_count)
        return bo_fail(ctx, BOUGH_ERROR_ARGUMENT, "%d coordinates cannot be shared out over %d parts", total,
                       part_count);
    double sum = 0;
    for (int32_t i = 0; i < part_count; i++) {
        if (element_counts[i] < 1)
            return bo_fail(ctx, BOUGH_ERROR_ARGUMENT, "part %d has no elements", i);
        sum += log(1 + (double)element_counts[i]);
    }
    /* Largest remainders, after one coordinate for everybody. */
    int32_t given = 0;
    for (int32_t i = 0; i < part_count; i++) {
        double share = (double)(total - part_count) * log(1 + (double)element_counts[i]) / sum;
        r[i] = 1 + (int32_t)share;
        given += r[i];
    }
    while (given < total) {
        int32_t best = 0;
        double most = -INFINITY;
        for (int32_t i = 0; i < part_count; i++) {
            double rest = (double)(total - part_count) * log(1 + (double)element_counts[i]) / sum + 1 - r[i];
            if (rest > most + 1e-12)
                most = rest, best = i;
        }
        r[best]++, given++;
    }
    return BOUGH_OK;
}
