#include "engine/engine.h"

#include <stdio.h>
#include <string.h>

const char *bough_capability_name(int32_t number) {
    static const char *const names[] = {"pull",   "gravity",   "wind",     "change",     "paint",      "motors",
                                        "stress", "deviation", "coupling", "continuity", "integrator", "inputs",
                                        "gaps",   "contacts",  "follow",   "joints",     "modes"};
    return number >= 0 && (size_t)number < sizeof names / sizeof *names ? names[number] : NULL;
}

static bough_status add_column(bough_context *ctx, bo_engine *engine, const char *name, const char *suffix) {
    size_t size = strlen(name) + strlen(suffix) + 1;
    char *column = BO_NEW_ARRAY(ctx, char, size);
    if (!column)
        return BOUGH_ERROR_MEMORY;
    snprintf(column, size, "%s%s", name, suffix);
    engine->columns[engine->column_count++] = column;
    return BOUGH_OK;
}

bough_status bo_engine_name_columns(bough_context *ctx, bo_engine *engine, int32_t count, const bo_probe *probes) {
    static const char *const fixed[BOUGH_COLUMN_PROBES] = {"time",
                                                           "elastic",
                                                           "kinetic",
                                                           "external",
                                                           "total",
                                                           "momentum.x",
                                                           "momentum.y",
                                                           "momentum.z",
                                                           "angular_momentum.x",
                                                           "angular_momentum.y",
                                                           "angular_momentum.z",
                                                           "work",
                                                           "balance"};
    static const char *const motion[] = {".x", ".y", ".z", ".ux", ".uy", ".uz", ".vx", ".vy", ".vz"};
    static const char *const stress[] = {".von_mises", ".s1", ".s2", ".s3"};
    static const char *const touch[] = {".fx", ".fy", ".fz"};
    static const char *const joint[] = {".value", ".gap", ".tilt"};
    static const char *const wrench[] = {".fx", ".fy", ".fz", ".tx", ".ty", ".tz"};
    static const char *const motor[] = {".value", ".rate", ".effort"};
    static const char *const contact[] = {".points", ".normal", ".friction", ".fx", ".fy", ".fz"};
    static const char *const *const suffixes[] = {
        [BO_PROBE_MOTION] = motion, [BO_PROBE_STRESS] = stress, [BO_PROBE_TOUCH] = touch,    [BO_PROBE_JOINT] = joint,
        [BO_PROBE_WRENCH] = wrench, [BO_PROBE_MOTOR] = motor,   [BO_PROBE_CONTACT] = contact};
    engine->probes = probes, engine->probe_count = count;
    engine->columns = BO_NEW_ZEROS(ctx, char *, BOUGH_COLUMN_PROBES + 9 * (size_t)count);
    if (!engine->columns)
        return BOUGH_ERROR_MEMORY;
    for (int i = 0; i < BOUGH_COLUMN_PROBES; i++)
        BO_TRY(add_column(ctx, engine, fixed[i], ""));
    for (int32_t i = 0; i < count; i++)
        for (int k = 0; k < bo_probe_columns(&probes[i]); k++)
            BO_TRY(add_column(ctx, engine, probes[i].name, suffixes[probes[i].kind][k]));
    return BOUGH_OK;
}

const char *bo_registered_integrator(const char *name) {
    for (int32_t i = 0; i < bough_integrator_count(); i++)
        if (!strcmp(bough_integrator_describe(i)->name, name))
            return bough_integrator_describe(i)->name;
    return NULL;
}

void bo_looks_free(bough_context *ctx, int32_t count, bough_look *looks) {
    for (int32_t i = 0; i < count; i++)
        if (!looks[i].component) {
            bo_free(ctx, (void *)(uintptr_t)looks[i].vertices);
            bo_free(ctx, (void *)(uintptr_t)looks[i].triangles);
            bo_free(ctx, (void *)(uintptr_t)looks[i].vertex_colours);
        }
    bo_free(ctx, looks);
}

bough_status bo_engine_need_things(bo_engine *engine) {
    return engine->things ? BOUGH_OK : engine->kind->gather(engine);
}

void bo_engine_destroy(bough_context *ctx, bo_engine *engine) {
    for (int32_t i = 0; i < engine->column_count; i++)
        bo_free(ctx, engine->columns[i]);
    bo_free(ctx, engine->columns);
    bo_free(ctx, engine->watched);
    bo_free(ctx, engine->contacts.items);
    if (engine->data)
        engine->kind->destroy(ctx, engine->data);
    *engine = (bo_engine){0};
}
