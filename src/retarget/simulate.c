#include "retarget/simulate.h"

#include "base/eigen3.h"
#include "base/file.h"
#include "fem/body.h"
#include "scene/cook_plan.h"
#include "scene/multibody_scene.h"
#include "scene/scene.h"

#include <math.h>
#include <string.h>

#define SOFT 0.01       /* directions with less than this of the largest compliance are held by the structure itself */
#define FIRST_PULL 1e-6 /* N, to find how soft the marker is */
#define SMALL_WAY 1e-3  /* m, of the marker by the second pull */
#define STEP_LIMIT 1e7  /* steps of one simulation; more is a slip in the units of time */
#define STIFF 1e-9      /* m/N: what gives way less is held */
#define PROGRESS_STEPS 64
#define MOST_HALVINGS 4

/* ---- an engine with other material ---- */

/* A plan of its own for one simulation: parts with their material, and the marker as the only probe. */
typedef struct {
    bo_multibody_plan plan;
    bo_probe probe;
    bough_flexible_def *parts;
    bo_multibody_load *loads;
    bo_engine engine;
    double *row; /* the engine's columns */
} simulation;

static void drop(bough_context *ctx, simulation *s) {
    bo_engine_destroy(ctx, &s->engine);
    bo_free(ctx, s->parts);
    bo_free(ctx, s->loads);
    bo_free(ctx, s->row);
}

/* The engine keeps the plan: `s` must not move. pull: a steady force on the marker, N; NULL: none. */
static bough_status start(bough_context *ctx, const bo_fit_scene *fit, const bo_fit_values *values, const double *pull,
                          bool settle, simulation *s) {
    const bough_multibody_def *def = &fit->plan->def;
    const int32_t loads = fit->plan->load_count;
    static char name[] = "marker";
    *s = (simulation){.plan = *fit->plan, .probe = {.name = name, .kind = BO_PROBE_MOTION}};
    s->parts = BO_NEW_ARRAY(ctx, bough_flexible_def, def->part_count);
    s->loads = BO_NEW_ARRAY(ctx, bo_multibody_load, loads + 1);
    if (!s->parts || !s->loads)
        return BOUGH_ERROR_MEMORY;
    for (int32_t p = 0; p < def->part_count; p++) {
        s->parts[p] = def->parts[p];
        if (!fit->chosen[p])
            continue;
        s->parts[p].stiffness *= sqrt(values->factor); /* a factor on frequencies */
        s->parts[p].damping_mass = values->damping_mass, s->parts[p].damping_stiffness = values->damping_stiffness;
    }
    memcpy(s->loads, fit->plan->loads, (size_t)loads * sizeof *s->loads);
    if (pull) {
        s->loads[loads] = (bo_multibody_load){.spot = fit->marker, .until = INFINITY, .curve = -1};
        memcpy(s->loads[loads].force, pull, 3 * sizeof *pull);
    }
    s->plan.def.parts = s->parts, s->plan.loads = s->loads, s->plan.load_count = loads + (pull != NULL);
    s->plan.probe_count = 1, s->plan.probes = &s->probe, s->plan.spots = &fit->marker;
    const bo_engine_settings settings = {.integrator = fit->scene->integrator, .settle = settle};
    BO_TRY(bo_multibody_engine_create(ctx, &s->plan, &bo_multibody_engine, fit->components, NULL, 0, &settings,
                                      &s->engine));
    s->row = BO_NEW_ZEROS(ctx, double, s->engine.column_count);
    return s->row ? BOUGH_OK : BOUGH_ERROR_MEMORY;
}

/* Position and velocity of the marker. */
static bough_status see(simulation *s, double t, double x[3], double v[3]) {
    BO_TRY(s->engine.kind->measure(s->engine.data, t, s->row));
    memcpy(x, s->row + BOUGH_COLUMN_PROBES, 3 * sizeof *x);
    memcpy(v, s->row + BOUGH_COLUMN_PROBES + 6, 3 * sizeof *v);
    return BOUGH_OK;
}

/* ---- the start ---- */

/* The state of a settled engine in which somebody pulls becomes that of one in which nobody does: released. */
static bough_status hold(bough_context *ctx, const bo_fit_scene *fit, const bo_fit_values *values, simulation *s) {
    const bo_release *release = &fit->release;
    double pull[3] = {0};
    simulation held;
    for (int32_t k = 0; k < release->count; k++)
        for (int d = 0; d < 3; d++)
            pull[d] += values->factor * values->release[k] / release->compliance[k] * release->directions[k][d];
    bough_status status = start(ctx, fit, values, pull, true, &held);
    const int64_t size = status == BOUGH_OK ? held.engine.kind->state_size(held.engine.data) : 0;
    double *state = BO_NEW_ARRAY(ctx, double, size);
    if (status == BOUGH_OK && !state)
        status = BOUGH_ERROR_MEMORY;
    if (status == BOUGH_OK) {
        held.engine.kind->save(held.engine.data, state);
        status = s->engine.kind->restore(s->engine.data, state, size);
    }
    bo_free(ctx, state);
    drop(ctx, &held);
    return status;
}

/* The marker in equilibrium under a pull. */
static bough_status pulled(bough_context *ctx, const bo_fit_scene *fit, const double pull[3], double x[3]) {
    const bo_fit_values values = bo_fit_scene_values(fit);
    double v[3];
    simulation s;
    bough_status status = start(ctx, fit, &values, pull, true, &s);
    if (status == BOUGH_OK)
        status = see(&s, 0, x, v);
    drop(ctx, &s);
    return status;
}

/* Columns of C: way of the marker for a force of `size` along each axis, over the force. */
static bough_status measure_compliance(bough_context *ctx, const bo_fit_scene *fit, double size, double C[9]) {
    for (int k = 0; k < 3; k++) {
        double pull[3] = {0}, x[3];
        pull[k] = size;
        BO_TRY(pulled(ctx, fit, pull, x));
        for (int d = 0; d < 3; d++)
            C[3 * d + k] = (x[d] - fit->release.rest[d]) / size;
    }
    return BOUGH_OK;
}

static double largest_of(const double C[9]) {
    return fmax(fmax(fabs(C[0]), fabs(C[4])), fabs(C[8]));
}

/* The directions in which the marker gives way: two for the end of a rod, which does not get longer. */
static bough_status find_release(bough_context *ctx, bo_fit_scene *fit) {
    const double none[3] = {0};
    double C[9];
    bo_vec3 values;
    bo_mat3 V, A;
    BO_TRY(pulled(ctx, fit, none, fit->release.rest));
    BO_TRY(measure_compliance(ctx, fit, FIRST_PULL, C));
    const double softest = largest_of(C);
    if (!(softest > STIFF) || softest > 1 / FIRST_PULL)
        return bo_fail(ctx, BOUGH_ERROR_ARGUMENT,
                       softest > STIFF ? "the marker cannot be held aside and released: nothing pulls it back"
                                       : "the marker cannot be pulled aside: it does not give way");
    BO_TRY(measure_compliance(ctx, fit, SMALL_WAY / softest, C));
    for (int i = 0; i < 3; i++)
        for (int k = 0; k < 3; k++)
            A.m[3 * i + k] = 0.5 * (C[3 * i + k] + C[3 * k + i]);
    bo_eigen3(A, &values, &V);
    const double of[3] = {values.z, values.y, values.x};
    for (int k = 0; k < 3 && of[k] > SOFT * of[0]; k++) {
        fit->release.compliance[k] = of[k];
        for (int d = 0; d < 3; d++)
            fit->release.directions[k][d] = V.m[3 * d + 2 - k];
        fit->release.count = k + 1;
    }
    return BOUGH_OK;
}

/* ---- simulations ---- */

/* Hermite's cubic from (x0, v0) to (x1, v1), of length h, at s h. */
static void between(double s, double h, const double x0[3], const double v0[3], const double x1[3], const double v1[3],
                    double *x, double *v) {
    const double s2 = s * s, s3 = s2 * s;
    for (int d = 0; d < 3; d++) {
        x[d] = (2 * s3 - 3 * s2 + 1) * x0[d] + (3 * s2 - 2 * s3) * x1[d] +
               h * ((s3 - 2 * s2 + s) * v0[d] + (s3 - s2) * v1[d]);
        if (v)
            v[d] = 6 * (s2 - s) / h * (x0[d] - x1[d]) + (3 * s2 - 4 * s + 1) * v0[d] + (3 * s2 - 2 * s) * v1[d];
    }
}

/* A step that fails is taken in two halves, and these likewise. */
static bough_status step(simulation *s, double t, double h, int halvings) {
    int64_t iterations = 0;
    const bough_status status = s->engine.kind->step(s->engine.data, t, h, &iterations);
    if (status <= 0 || halvings == 0)
        return status;
    BO_TRY(step(s, t, h / 2, halvings - 1));
    return step(s, t + h / 2, h / 2, halvings - 1);
}

static bough_status follow(bough_context *ctx, const char *news, simulation *s, double start_time, double h,
                           int32_t count, const double *times, double *positions, double *velocities) {
    double x[2][3], v[2][3];
    int64_t number = 0;
    int32_t i = 0;
    BO_TRY(see(s, 0, x[0], v[0]));
    for (; i < count && times[i] <= start_time; i++) {
        memcpy(positions + 3 * (size_t)i, x[0], sizeof x[0]);
        if (velocities)
            memset(velocities + 3 * (size_t)i, 0, sizeof v[0]);
    }
    for (; i < count; number++) {
        const double t = (double)number * h;
        BO_TRY(step(s, t, h, MOST_HALVINGS));
        BO_TRY(see(s, t + h, x[1], v[1]));
        for (; i < count && times[i] - start_time <= t + h; i++)
            between((times[i] - start_time - t) / h, h, x[0], v[0], x[1], v[1], positions + 3 * (size_t)i,
                    velocities ? velocities + 3 * (size_t)i : NULL);
        memcpy(x[0], x[1], sizeof x[0]);
        memcpy(v[0], v[1], sizeof v[0]);
        if (number % PROGRESS_STEPS == 0 && !bo_progress(ctx, "fitting", (double)i / count, "%s", news))
            return bo_fail_cancelled(ctx);
    }
    return BOUGH_OK;
}

bough_status bo_fit_simulate(bough_context *ctx, const bo_fit_scene *fit, const bo_fit_values *values, double dt,
                             int32_t count, const double *times, double *positions, double *velocities) {
    const double duration = times[count - 1] - values->start;
    if (duration / dt > STEP_LIMIT)
        return bo_fail(ctx, BOUGH_ERROR_ARGUMENT,
                       "%g s in steps of %g s are too many steps; is the measurement's time in seconds?", duration, dt);
    simulation s;
    bough_status status = start(ctx, fit, values, NULL, fit->settle, &s);
    if (status == BOUGH_OK && fit->release.count > 0)
        status = hold(ctx, fit, values, &s);
    if (status == BOUGH_OK)
        status = follow(ctx, fit->news, &s, values->start, dt, count, times, positions, velocities);
    drop(ctx, &s);
    return status;
}

/* ---- names ---- */

static bough_status choose_parts(bough_context *ctx, const bough_fit_def *def, bo_fit_scene *fit) {
    const bough_multibody_def *system = &fit->plan->def;
    const char *names[64];
    int32_t count = 0;
    for (int32_t p = 0; p < system->part_count && count < 64; p++)
        if (system->parts[p].name)
            names[count++] = system->parts[p].name;
    for (int32_t p = 0; p < system->part_count && def->part_count == 0; p++)
        fit->chosen[p] = true;
    for (int32_t i = 0; i < def->part_count; i++) {
        bool found = false;
        for (int32_t p = 0; p < system->part_count; p++)
            if (system->parts[p].name && strcmp(system->parts[p].name, def->parts[i]) == 0)
                fit->chosen[p] = found = true;
        const char *near = found ? NULL : bo_nearest_word(def->parts[i], names, count);
        if (!found)
            return bo_fail(ctx, BOUGH_ERROR_ARGUMENT, "%s: there is no part \"%s\"%s%s%s", fit->plan->path,
                           def->parts[i], near ? "; did you mean \"" : "", near ? near : "", near ? "\"?" : "");
    }
    for (int32_t p = 0; p < system->part_count; p++)
        fit->chosen_count += fit->chosen[p];
    return fit->chosen_count > 0
               ? BOUGH_OK
               : bo_fail(ctx, BOUGH_ERROR_ARGUMENT, "%s: there is no flexible part whose material could be fitted",
                         fit->plan->path);
}

static bough_status choose_marker(bough_context *ctx, const char *name, bo_fit_scene *fit) {
    const bo_multibody_plan *plan = fit->plan;
    const char *names[64];
    int32_t count = 0;
    for (int32_t i = 0; i < plan->probe_count; i++) {
        if (plan->probes[i].kind != BO_PROBE_MOTION)
            continue;
        if (strcmp(plan->probes[i].name, name) == 0) {
            fit->marker = plan->spots[i];
            return BOUGH_OK;
        }
        if (count < 64)
            names[count++] = plan->probes[i].name;
    }
    for (int32_t b = 0; b < plan->def.body_count; b++) {
        const char *body = plan->def.bodies[b].name;
        if (body && strcmp(body, name) == 0) {
            fit->marker = (bo_multibody_spot){.frame = bough_default_frame_def()};
            fit->marker.frame.body = b;
            return BOUGH_OK;
        }
        if (body && count < 64)
            names[count++] = body;
    }
    const char *near = bo_nearest_word(name, names, count);
    return bo_fail(ctx, BOUGH_ERROR_ARGUMENT, "%s: the marker \"%s\" is neither a probe of motion nor a body%s%s%s",
                   plan->path, name, near ? "; did you mean \"" : "", near ? near : "", near ? "\"?" : "");
}

/* ---- making ---- */

/* One modulus for all that is fitted; parts that were made stiffer by a factor have that much more. */
static double find_young(const bo_fit_scene *fit) {
    double young = NAN;
    for (int32_t p = 0; p < fit->plan->def.part_count; p++) {
        if (!fit->chosen[p])
            continue;
        const bough_cook_job *job = fit->scene->plan->assembly.components[fit->plan->components[p]].job;
        const bough_body *body = job ? bough_cook_job_body(job) : NULL;
        if (!body || body->material_count != 1)
            return NAN;
        const double stiffness = fit->plan->def.parts[p].stiffness, own = body->young[0] * stiffness * stiffness;
        if (young == young && fabs(own - young) > 1e-9 * young)
            return NAN;
        young = own;
    }
    return young;
}

/* Damping of the first chosen part; others must have the same, since one value is fitted for all. */
static void find_damping(bough_context *ctx, bo_fit_scene *fit) {
    bool first = true, differ = false;
    for (int32_t p = 0; p < fit->plan->def.part_count; p++) {
        const bough_flexible_def *part = &fit->plan->def.parts[p];
        const bough_component *component = fit->components[fit->plan->components[p]];
        if (!fit->chosen[p])
            continue;
        const double mass = isnan(part->damping_mass) ? component->damping_mass : part->damping_mass;
        const double stiffness =
            isnan(part->damping_stiffness) ? component->damping_stiffness : part->damping_stiffness;
        differ = differ || (!first && (mass != fit->damping_mass || stiffness != fit->damping_stiffness));
        if (first)
            fit->damping_mass = mass, fit->damping_stiffness = stiffness;
        first = false;
    }
    if (differ)
        bo_warn(ctx, "%s: the parts that are fitted have different damping; all get that of the first",
                fit->plan->path);
}

bo_fit_values bo_fit_scene_values(const bo_fit_scene *fit) {
    return (bo_fit_values){.factor = 1, .damping_mass = fit->damping_mass, .damping_stiffness = fit->damping_stiffness};
}

bough_status bo_fit_scene_make(bough_context *ctx, const bough_scene *scene, const bough_fit_def *def,
                               bo_fit_scene *fit) {
    *fit = (bo_fit_scene){.scene = scene, .dt = def->dt > 0 ? def->dt : scene->dt};
    if (scene->kind != &bo_multibody_scene_kind)
        return bo_fail(ctx, BOUGH_ERROR_UNSUPPORTED,
                       "%s: only scenes of bodies with joints can be fitted (\"bodies\", \"parts\" and \"joints\")",
                       scene->path);
    fit->plan = &((const bo_multibody_scene *)scene->content)->plan;
    fit->settle = scene->settle || def->release;
    const int32_t components = scene->plan ? scene->plan->assembly.component_count : 0;
    fit->components = BO_NEW_ARRAY(ctx, const bough_component *, components);
    fit->chosen = BO_NEW_ZEROS(ctx, bool, fit->plan->def.part_count);
    if (!fit->components || !fit->chosen)
        return BOUGH_ERROR_MEMORY;
    BO_TRY(choose_marker(ctx, def->marker, fit));
    BO_TRY(choose_parts(ctx, def, fit));
    BO_TRY(bo_scene_cook(ctx, scene));
    for (int32_t c = 0; c < components; c++)
        fit->components[c] = bo_scene_component_at(scene, c);
    fit->young = find_young(fit);
    find_damping(ctx, fit);
    return def->release ? find_release(ctx, fit) : BOUGH_OK;
}

void bo_fit_scene_free(bough_context *ctx, bo_fit_scene *fit) {
    bo_free(ctx, (void *)(uintptr_t)fit->components);
    bo_free(ctx, fit->chosen);
}
