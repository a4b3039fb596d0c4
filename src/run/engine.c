/* What engines share. */
#include "run/engine.h"

#include <bough/run.h>

#include <stdio.h>
#include <string.h>

static bough_status add_column(bough_context *ctx, bo_engine *engine, const char *name, const char *suffix) {
    size_t length = strlen(name) + strlen(suffix) + 1;
    char *column = bo_alloc(ctx, length, 1);
    if (!column)
        return BOUGH_ERROR_MEMORY;
    snprintf(column, length, "%s%s", name, suffix);
    engine->columns[engine->column_count++] = column;
    return BOUGH_OK;
}

bough_status bo_engine_name_columns(bough_context *ctx, const bough_scene *scene, bo_engine *engine) {
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
    static const char *const motion[9] = {".x", ".y", ".z", ".ux", ".uy", ".uz", ".vx", ".vy", ".vz"};
    static const char *const stress[4] = {".von_mises", ".s1", ".s2", ".s3"};
    static const char *const touch[3] = {".fx", ".fy", ".fz"};
    static const char *const joint[3] = {".value", ".gap", ".tilt"};
    engine->columns = BO_NEW_ZEROS(ctx, char *, BOUGH_COLUMN_PROBES + 9 * (size_t)scene->probe_count);
    if (!engine->columns)
        return BOUGH_ERROR_MEMORY;
    for (int i = 0; i < BOUGH_COLUMN_PROBES; i++)
        BO_TRY(add_column(ctx, engine, fixed[i], ""));
    for (int32_t i = 0; i < scene->probe_count; i++) {
        const bo_scene_probe *probe = &scene->probes[i];
        for (int k = 0; k < bo_probe_columns(probe); k++)
            BO_TRY(add_column(ctx, engine, probe->name,
                              (probe->stress     ? stress
                               : probe->touch    ? touch
                               : probe->of_joint ? joint
                                                 : motion)[k]));
    }
    return BOUGH_OK;
}

const char *bo_registered_integrator(const char *name) {
    for (int32_t i = 0; i < bough_integrator_count(); i++)
        if (!strcmp(bough_integrator_describe(i)->name, name))
            return bough_integrator_describe(i)->name;
    return NULL;
}

void bo_engine_destroy(bough_context *ctx, bo_engine *engine) {
    for (int32_t i = 0; i < engine->column_count; i++)
        bo_free(ctx, engine->columns[i]);
    bo_free(ctx, engine->columns);
    if (engine->data)
        engine->destroy(ctx, engine->data);
    *engine = (bo_engine){0};
}
