/* Parts as things that are looked at: their surfaces, how they hang, and what a hand feels. */
#include "tree/engine_inside.h"

#include "base/vec.h"

#include <math.h>
#include <string.h>

/* ---- things ---- */

static void widen(const float *x, size_t count, bo_vec3 *lower, bo_vec3 *upper) {
    for (size_t k = 0; k < 3 * count; k += 3) {
        const bo_vec3 at = bo_v3((double)x[k], (double)x[k + 1], (double)x[k + 2]);
        *lower = bo_v3(fmin(lower->x, at.x), fmin(lower->y, at.y), fmin(lower->z, at.z));
        *upper = bo_v3(fmax(upper->x, at.x), fmax(upper->y, at.y), fmax(upper->z, at.z));
    }
}

/* Reads frames of a state that did not move yet. *size: the diagonal of the box around all parts, m. */
static bough_status copy_frames(const tree_engine *e, const bough_tree_state *still, double *size) {
    bo_vec3 lower = bo_v3(INFINITY, INFINITY, INFINITY), upper = bo_scale(-1, lower);
    for (int32_t p = 0; p < bough_tree_model_part_count(e->model); p++) {
        memcpy(e->things[p].rest.rotation, still->frames[p].pose.rotation, sizeof e->things[p].rest.rotation);
        memcpy(e->things[p].rest.position, still->frames[p].pose.position, sizeof e->things[p].rest.position);
        if (e->plan->around.count == 0)
            continue;
        BO_TRY(bo_tree_positions_of(e, still, p));
        widen(e->positions, (size_t)e->things[p].vertex_count, &lower, &upper);
    }
    *size = lower.x <= upper.x ? bo_norm(bo_sub(upper, lower)) : 1;
    return BOUGH_OK;
}

static bough_status find_rest(tree_engine *e, double *size) {
    bough_tree_state *still = NULL;
    bough_status status = bough_tree_state_create(e->ctx, e->model, &still);
    if (status == BOUGH_OK)
        status = copy_frames(e, still, size);
    bough_tree_state_destroy(e->ctx, still);
    return status;
}

static void describe_parts(tree_engine *e) {
    const bough_tree_model_def *def = bough_tree_model_describe(e->model);
    for (int32_t c = 0; c < def->component_count; c++)
        e->looks[c] = (bough_look){.component = def->components[c],
                                   .vertex_count = def->components[c]->surface.vertex_count,
                                   .triangle_count = def->components[c]->surface.triangle_count};
    for (int32_t p = 0; p < def->part_count; p++) {
        const bough_part_def *part = &def->parts[p];
        const bough_component *c = def->components[part->component];
        e->things[p] = (bough_thing){.name = part->name ? part->name : "",
                                     .kind = "part",
                                     .parent = part->parent,
                                     .drawing = BOUGH_DRAWN_MODES,
                                     .look = part->component,
                                     .scale = part->scale,
                                     .stiffness = part->stiffness,
                                     .mass = c->mass * pow(part->scale, 3),
                                     .first_vertex = bough_tree_model_first_vertex(e->model, p),
                                     .vertex_count = c->surface.vertex_count};
    }
}

static bough_status describe(tree_engine *e, int32_t parts, int32_t components) {
    double size;
    if (!e->things || !e->looks)
        return BOUGH_ERROR_MEMORY;
    describe_parts(e);
    BO_TRY(find_rest(e, &size));
    return bo_surroundings_gather(e->ctx, &e->plan->around, size, components, e->things + parts, e->looks + components);
}

bough_status bo_tree_gather(bo_engine *engine) {
    tree_engine *e = engine->data;
    const bough_tree_model_def *def = bough_tree_model_describe(e->model);
    const int32_t obstacles = e->plan->around.count;
    e->things = BO_NEW_ZEROS(e->ctx, bough_thing, def->part_count + obstacles);
    e->looks = BO_NEW_ZEROS(e->ctx, bough_look, def->component_count + obstacles);
    e->look_count = e->looks ? def->component_count + obstacles : 0;
    const bough_status status = describe(e, def->part_count, def->component_count);
    if (status != BOUGH_OK) {
        bo_tree_drop_surface(e);
        return status;
    }
    engine->things = e->things, engine->thing_count = def->part_count + obstacles;
    engine->looks = e->looks, engine->look_count = e->look_count;
    return BOUGH_OK;
}

void bo_tree_drop_surface(tree_engine *e) {
    bo_looks_free(e->ctx, e->look_count, e->looks);
    bo_free(e->ctx, e->things);
    bo_free(e->ctx, e->joined);
    e->things = NULL, e->looks = NULL, e->joined = NULL, e->look_count = 0;
}

/* It hangs, or is held, otherwise than at the start. */
static bool is_loose(const bough_part_def *now, const bough_part_def *then) {
    return now->parent != then->parent || (now->parent >= 0 && now->interface_index != then->interface_index) ||
           now->free != then->free;
}

void bo_tree_look_at(void *data, int32_t part, bough_thing_state *state) {
    const tree_engine *e = data;
    const int32_t obstacle = part - bough_tree_model_part_count(e->model);
    if (obstacle >= 0) {
        bo_surroundings_look_at(&e->plan->around, obstacle, e->state->time, state);
        return;
    }
    const bough_part_def *now = &bough_tree_state_parts(e->model, e->state)[part];
    *state = (bough_thing_state){.frame = e->state->frames[part],
                                 .q = e->state->q + bough_tree_model_offset(e->model, part),
                                 .parent = now->parent,
                                 .there = bo_tree_is_there(e, part),
                                 .removed = now->absent,
                                 .loose = is_loose(now, &bough_tree_model_describe(e->model)->parts[part]),
                                 .locked = now->locked,
                                 .stiffness = e->state->stiffness[part]};
}

/* ---- surfaces ---- */

bough_status bo_tree_positions_of(const tree_engine *e, const bough_tree_state *state, int32_t part) {
    if (bo_part_is_there(e->model, state, part))
        return bough_tree_state_positions(e->ctx, e->model, state, part, e->positions);
    const bough_surface *surface = &bo_tree_component_of(e, part)->surface;
    const bough_frame *frame = &state->frames[part];
    const double scale = bough_tree_model_describe(e->model)->parts[part].scale;
    bo_mat3 R;
    memcpy(R.m, frame->pose.rotation, sizeof R.m);
    for (size_t v = 0; v < (size_t)surface->vertex_count; v++) {
        const float *x = surface->position + 3 * v;
        double at[3];
        bo_store3(at, bo_mul_add(bo_load3(frame->pose.position), scale,
                                 bo_mat_vec(R, bo_v3((double)x[0], (double)x[1], (double)x[2]))));
        for (size_t d = 0; d < 3; d++)
            e->positions[3 * v + d] = (float)at[d];
    }
    return BOUGH_OK;
}

/* v + w x (x - origin) + s R (U qdot), with U qdot from the positions at qdot less those at rest. */
static void show_velocities(const tree_engine *e, int32_t part, double scale, double *velocity) {
    const bough_component *c = bo_tree_component_of(e, part);
    const bough_frame *frame = &e->state->frames[part];
    bo_mat3 R;
    memcpy(R.m, frame->pose.rotation, sizeof R.m);
    bough_component_surface_positions(c, e->state->v + bough_tree_model_offset(e->model, part), e->rates);
    for (size_t v = 0; v < (size_t)c->surface.vertex_count; v++) {
        double rate[3], x[3];
        for (size_t d = 0; d < 3; d++) {
            rate[d] = scale * ((double)e->rates[3 * v + d] - (double)c->surface.position[3 * v + d]);
            x[d] = (double)e->positions[3 * v + d] - frame->pose.position[d];
        }
        bo_vec3 swing = bo_cross(bo_load3(frame->angular_velocity), bo_load3(x));
        bo_store3(velocity + 3 * v, bo_add(bo_add(bo_load3(frame->velocity), swing), bo_mat_vec(R, bo_load3(rate))));
    }
}

/* Writes the surface of one part to x, and its velocities to v. An absent part is one point, which nobody sees: where
 * its frame was last. */
static bough_status show_part(const tree_engine *e, int32_t part, double *x, double *v) {
    const size_t count = 3 * (size_t)bo_tree_component_of(e, part)->surface.vertex_count;
    if (!bo_tree_is_there(e, part)) {
        for (size_t k = 0; k < count; k++)
            x[k] = e->state->frames[part].pose.position[k % 3], v[k] = 0;
        return BOUGH_OK;
    }
    BO_TRY(bough_tree_state_positions(e->ctx, e->model, e->state, part, e->positions));
    for (size_t k = 0; k < count; k++)
        x[k] = (double)e->positions[k];
    show_velocities(e, part, bough_tree_model_describe(e->model)->parts[part].scale, v);
    return BOUGH_OK;
}

/* Replaces positions by those of the joined surfaces; velocities stay those of the parts. */
static bough_status join_surfaces(tree_engine *e, double *x) {
    const size_t count = 3 * (size_t)bough_tree_model_vertex_count(e->model);
    if (!e->joined && !(e->joined = BO_NEW_ARRAY(e->ctx, float, count)))
        return BOUGH_ERROR_MEMORY;
    BO_TRY(bough_tree_state_surface(e->ctx, e->model, e->state, e->joined, NULL));
    for (size_t k = 0; k < count; k++)
        x[k] = (double)e->joined[k];
    return BOUGH_OK;
}

bough_status bo_tree_surface(void *data, double *x, double *v) {
    tree_engine *e = data;
    for (int32_t part = 0; part < bough_tree_model_part_count(e->model); part++) {
        const size_t first = 3 * (size_t)bough_tree_model_first_vertex(e->model, part);
        BO_TRY(show_part(e, part, x + first, v + first));
    }
    return e->state->continuity != BOUGH_CONTINUITY_NONE ? join_surfaces(e, x) : BOUGH_OK;
}

static bough_status copy_rest(const tree_engine *e, const bough_tree_state *still, double *x) {
    for (int32_t part = 0; part < bough_tree_model_part_count(e->model); part++) {
        double *at = x + 3 * (size_t)bough_tree_model_first_vertex(e->model, part);
        BO_TRY(bo_tree_positions_of(e, still, part));
        for (size_t k = 0; k < 3 * (size_t)bo_tree_component_of(e, part)->surface.vertex_count; k++)
            at[k] = (double)e->positions[k];
    }
    return BOUGH_OK;
}

/* As a state has them that did not move yet. */
bough_status bo_tree_rest_surface(void *data, double *x) {
    const tree_engine *e = data;
    bough_tree_state *still = NULL;
    bough_status status = bough_tree_state_create(e->ctx, e->model, &still);
    if (status == BOUGH_OK)
        status = copy_rest(e, still, x);
    bough_tree_state_destroy(e->ctx, still);
    return status;
}

bough_status bo_tree_positions(void *data, int32_t thing, float *x) {
    const tree_engine *e = data;
    return thing < 0 ? bough_tree_state_surface(e->ctx, e->model, e->state, x, NULL)
                     : bough_tree_state_positions(e->ctx, e->model, e->state, thing, x);
}

void bo_tree_seams(const void *data, bough_seams *seams) {
    bough_tree_model_seams(((const tree_engine *)data)->model, seams);
}

/* ---- hands ---- */

/* Mass of the part and of all that hangs on it. */
static double mass_on(const tree_engine *e, int32_t part) {
    const bough_tree_model_def *def = bough_tree_model_describe(e->model);
    const bough_part_def *parts = bough_tree_state_parts(e->model, e->state);
    double mass = 0;
    for (int32_t p = 0; p < def->part_count; p++) {
        int32_t at = p;
        while (at >= 0 && at != part)
            at = parts[at].parent;
        if (at == part)
            mass += def->components[parts[p].component]->mass * pow(parts[p].scale, 3);
    }
    return mass;
}

/* The lowest frequency on the way from the part to its root: what they are all fixed to sways with. */
static double slowest_on(const tree_engine *e, int32_t part) {
    double *all = BO_NEW_ARRAY(e->ctx, double, bough_tree_model_part_count(e->model)), hz = INFINITY;
    const bough_part_def *parts = bough_tree_state_parts(e->model, e->state);
    if (all && bough_tree_state_lowest_frequencies(e->ctx, e->model, e->state, all) == BOUGH_OK)
        for (; part >= 0; part = parts[part].parent)
            hz = fmin(hz, all[part]);
    bo_free(e->ctx, all);
    return hz;
}

/* Obstacles weigh nothing: no hand moves them. */
void bo_tree_feel(void *data, int32_t thing, double *mass, double *frequency) {
    const bool part = thing < bough_tree_model_part_count(((const tree_engine *)data)->model);
    *mass = part ? mass_on(data, thing) : 0;
    *frequency = part ? slowest_on(data, thing) : 1;
}

/* ---- interfaces that deform ---- */

/* A(q) of the interface, of which the nearest rotation is the interface's. */
static void find_A(const bough_component *c, int32_t number, const double *q, double A[9]) {
    const double *terms = c->interfaces[number].A;
    memcpy(A, terms, 9 * sizeof *A);
    for (int32_t l = 0; l < c->r; l++)
        for (int i = 0; i < 9; i++)
            A[i] += q[l] * terms[9 * (size_t)(l + 1) + (size_t)i];
}

/* A = R S: S tells how the interface is stretched, and S_0 = A_0 how it is at rest. |R^T A - A_0| / |A_0|. */
static double deviation_of(const bough_component *c, int32_t number, const double *q) {
    const double *A0 = c->interfaces[number].A;
    double A[9], centre[3], R[9], difference = 0, rest = 0;
    if (!bough_component_interface_frame(c, number, q, centre, R))
        return INFINITY;
    find_A(c, number, q, A);
    for (int i = 0; i < 3; i++)
        for (int j = 0; j < 3; j++) {
            double S = 0;
            for (int k = 0; k < 3; k++)
                S += R[3 * k + i] * A[3 * k + j];
            difference += pow(S - A0[3 * i + j], 2);
            rest += pow(A0[3 * i + j], 2);
        }
    return sqrt(difference / rest);
}

/* The deviation of an interface at which a part hangs is told of the part that it belongs to: the worst of them. */
void bo_tree_deviations(void *data, float *of_things) {
    const tree_engine *e = data;
    const bough_tree_model_def *def = bough_tree_model_describe(e->model);
    const bough_part_def *parts = bough_tree_state_parts(e->model, e->state);
    memset(of_things, 0, (size_t)def->part_count * sizeof *of_things);
    for (int32_t p = 0; p < def->part_count; p++) {
        const int32_t parent = parts[p].parent;
        if (parent < 0 || !bo_tree_is_there(e, p))
            continue;
        const double *q = e->state->q + bough_tree_model_offset(e->model, parent);
        const double d = deviation_of(def->components[parts[parent].component], parts[p].interface_index, q);
        of_things[parent] = fmaxf(of_things[parent], (float)d);
    }
}
