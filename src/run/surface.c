/* Shows a run: one mesh of all that its engine moves. */
#include "run/run.h"

#include "base/pose.h"

#include <string.h>

/* ---- surfaces of all things, one after the other ---- */

/* Obstacles that stand beside parts have no vertices in the mesh. */
static int32_t triangles_in_mesh(const bo_engine *e, int32_t thing) {
    return e->things[thing].vertex_count > 0 ? e->looks[e->things[thing].look].triangle_count : 0;
}

static int32_t count_triangles(const bo_engine *e) {
    int64_t sum = 0;
    for (int32_t i = 0; i < e->thing_count; i++)
        sum += triangles_in_mesh(e, i);
    return sum > INT32_MAX / 3 ? -1 : (int32_t)sum;
}

static int32_t count_vertices(const bo_engine *e) {
    int32_t count = 0;
    for (int32_t i = 0; i < e->thing_count; i++)
        count += e->things[i].vertex_count;
    return count;
}

static const int32_t *triangles_of(const bough_look *look) {
    return look->component ? look->component->surface.triangles : look->triangles;
}

/* Corners of all triangles, in vertices of the whole, and the thing of each. */
static void list_triangles(const bo_engine *e, int32_t *corners, int32_t *thing_of) {
    for (int32_t i = 0; i < e->thing_count; i++) {
        const int32_t *own = triangles_of(&e->looks[e->things[i].look]), count = triangles_in_mesh(e, i);
        for (int32_t k = 0; k < 3 * count; k++)
            *corners++ = e->things[i].first_vertex + own[k];
        for (int32_t k = 0; k < count; k++)
            *thing_of++ = i;
    }
}

/* Rigid things whose engine does not place their vertices itself: x = o + R X, v = o' + w x (x - o). */
static void place_thing(const bough_look *look, const bough_frame *frame, double *x, double *v) {
    const bo_se3 pose = bo_pose(&frame->pose);
    for (size_t i = 0; i < (size_t)look->vertex_count; i++) {
        const bo_vec3 arm = bo_mat_vec(pose.R, bo_load3(look->vertices + 3 * i));
        bo_store3(x + 3 * i, bo_add(pose.t, arm));
        if (v)
            bo_store3(v + 3 * i, bo_add(bo_load3(frame->velocity), bo_cross(bo_load3(frame->angular_velocity), arm)));
    }
}

static bough_status rest_surface(const bo_engine *e, double *x) {
    if (e->kind->rest_surface)
        return e->kind->rest_surface(e->data, x);
    for (int32_t i = 0; i < e->thing_count; i++)
        place_thing(&e->looks[e->things[i].look], &(bough_frame){.pose = e->things[i].rest},
                    x + 3 * (size_t)e->things[i].first_vertex, NULL);
    return BOUGH_OK;
}

static bough_status present_surface(const bo_engine *e, double *x, double *v) {
    if (e->kind->surface)
        return e->kind->surface(e->data, x, v);
    for (int32_t i = 0; i < e->thing_count; i++) {
        const size_t first = 3 * (size_t)e->things[i].first_vertex;
        bough_thing_state now;
        e->kind->look_at(e->data, i, &now);
        place_thing(&e->looks[e->things[i].look], &now.frame, x + first, v + first);
    }
    return BOUGH_OK;
}

static bough_status make_mesh(bough_context *ctx, const bo_engine *e, int32_t vertices, int32_t triangles,
                              bo_run_surface *s) {
    double *x = BO_NEW_ARRAY(ctx, double, 3 * (size_t)vertices);
    int32_t *corners = BO_NEW_ARRAY(ctx, int32_t, 3 * (size_t)triangles);
    s->thing_of = BO_NEW_ARRAY(ctx, int32_t, triangles);
    bough_status status = x && corners && s->thing_of ? rest_surface(e, x) : BOUGH_ERROR_MEMORY;
    if (status == BOUGH_OK) {
        list_triangles(e, corners, s->thing_of);
        status = bough_mesh_create(ctx, BOUGH_TRI3, vertices, x, triangles, corners, &s->gathered);
    }
    bo_free(ctx, x);
    bo_free(ctx, corners);
    return status;
}

static bough_status gather(bough_context *ctx, bo_engine *e, bo_run_surface *s) {
    BO_TRY(bo_engine_need_things(e));
    const int32_t vertices = count_vertices(e), triangles = count_triangles(e);
    if (triangles < 0)
        return bo_fail(ctx, BOUGH_ERROR_UNSUPPORTED, "the surfaces of all things have too many triangles");
    BO_TRY(make_mesh(ctx, e, vertices, triangles, s)); /* may be refused: before there is more */
    s->moved = BO_NEW_ZEROS(ctx, double, 3 * (size_t)vertices);
    s->rate = BO_NEW_ZEROS(ctx, double, 3 * (size_t)vertices);
    return s->moved && s->rate ? BOUGH_OK : BOUGH_ERROR_MEMORY;
}

void bo_run_free_surface(bough_context *ctx, bough_run *run) {
    bo_run_surface *s = &run->surface;
    bough_mesh_destroy(ctx, s->gathered);
    bo_free(ctx, s->thing_of);
    bo_free(ctx, s->moved);
    bo_free(ctx, s->rate);
    *s = (bo_run_surface){0};
}

/* ---- for those who look ---- */

bough_status bo_run_need_mesh(const bough_run *constant) {
    bough_run *run = (bough_run *)constant; /* runs are made by bough_run_create(), which does not make constants */
    bo_engine *e = &run->engine;
    bo_run_surface *s = &run->surface;
    if (s->mesh)
        return BOUGH_OK;
    if (e->mesh) {
        s->mesh = e->mesh, s->displacement = e->displacement, s->velocity = e->velocity;
        return BOUGH_OK;
    }
    const bough_status status = gather(run->ctx, e, s);
    if (status != BOUGH_OK)
        bo_run_free_surface(run->ctx, run);
    s->mesh = s->gathered, s->displacement = s->moved, s->velocity = s->rate;
    return status;
}

bough_status bo_run_show(const bough_run *run) {
    const bo_run_surface *s = &run->surface;
    BO_TRY(bo_run_need_mesh(run));
    if (!s->gathered)
        return BOUGH_OK;
    BO_TRY(present_surface(&run->engine, s->moved, s->rate));
    for (size_t k = 0; k < 3 * (size_t)s->mesh->vertex_count; k++)
        s->moved[k] -= s->mesh->vertices[k];
    return BOUGH_OK;
}

const bough_mesh *bough_run_mesh(const bough_run *run) {
    return bo_run_need_mesh(run) == BOUGH_OK ? run->surface.mesh : NULL;
}

const double *bough_run_displacement(const bough_run *run) {
    return bo_run_show(run) == BOUGH_OK ? run->surface.displacement : NULL;
}

const double *bough_run_velocity(const bough_run *run) {
    return bo_run_show(run) == BOUGH_OK ? run->surface.velocity : NULL;
}

/* ---- things ---- */

static bool has_things(const bough_run *run) {
    return bo_engine_need_things((bo_engine *)&run->engine) == BOUGH_OK;
}

int32_t bough_run_thing_count(const bough_run *run) {
    return has_things(run) ? run->engine.thing_count : 0;
}

const bough_thing *bough_run_thing(const bough_run *run, int32_t i) {
    return i >= 0 && i < bough_run_thing_count(run) ? &run->engine.things[i] : NULL;
}

int32_t bough_run_look_count(const bough_run *run) {
    return has_things(run) ? run->engine.look_count : 0;
}

const bough_look *bough_run_thing_look(const bough_run *run, int32_t i) {
    return i >= 0 && i < bough_run_look_count(run) ? &run->engine.looks[i] : NULL;
}

bool bough_run_thing_state(const bough_run *run, int32_t i, bough_thing_state *state) {
    if (!bough_run_thing(run, i))
        return false;
    run->engine.kind->look_at(run->engine.data, i, state);
    return true;
}

bough_status bough_run_positions(bough_context *ctx, const bough_run *run, int32_t thing, float *positions) {
    const bo_engine *e = &run->engine;
    if (!e->kind->positions)
        return bo_fail(ctx, BOUGH_ERROR_UNSUPPORTED, "%s draws nothing by modes", e->kind->title);
    if (thing != -1 && !bough_run_thing(run, thing))
        return bo_fail(ctx, BOUGH_ERROR_ARGUMENT, "there is no part %d", thing);
    return e->kind->positions(e->data, thing, positions);
}

void bough_run_seams(const bough_run *run, bough_seams *seams) {
    *seams = (bough_seams){0};
    if (run->engine.kind->seams)
        run->engine.kind->seams(run->engine.data, seams);
}

/* ---- stress and interfaces ---- */

int32_t bough_run_stress_count(const bough_run *run) {
    return run->engine.stress_count;
}

static bough_status need_stress(const bough_run *run) {
    return run->engine.kind->can & BOUGH_CAN_STRESS
               ? BOUGH_OK
               : bo_fail(run->ctx, BOUGH_ERROR_UNSUPPORTED, "%s shows no stress", run->engine.kind->title);
}

bough_status bough_run_stresses(const bough_run *run, double *von_mises) {
    BO_TRY(need_stress(run));
    return run->engine.kind->stresses(run->engine.data, von_mises);
}

bough_status bough_run_vertex_stresses(const bough_run *run, float *von_mises) {
    BO_TRY(need_stress(run));
    return run->engine.kind->vertex_stresses(run->engine.data, von_mises);
}

bough_status bough_run_deviations(const bough_run *run, float *of_things) {
    const bo_engine_kind *kind = run->engine.kind;
    if (!(kind->can & BOUGH_CAN_DEVIATION))
        return bo_fail(run->ctx, BOUGH_ERROR_UNSUPPORTED, "%s has no interfaces", kind->title);
    kind->deviations(run->engine.data, of_things);
    return BOUGH_OK;
}
