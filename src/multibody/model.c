/* The model: a description, copied and prepared. */
#include "multibody/multibody.h"

#include "base/pose.h"
#include "rig/joint.h"

#include <string.h>

/* ---- copies ---- */

static bough_status copy(bough_context *ctx, const void *from, int32_t count, size_t size, const void **to) {
    void *block = bo_alloc(ctx, (size_t)count, size);
    if (!block)
        return BOUGH_ERROR_MEMORY;
    if (count > 0)
        memcpy(block, from, (size_t)count * size);
    *to = block;
    return BOUGH_OK;
}

static bough_status copy_name(bough_context *ctx, const char **name) {
    const char *given = *name;
    *name = NULL;
    return !given || (*name = bo_strdup(ctx, given)) ? BOUGH_OK : BOUGH_ERROR_MEMORY;
}

/* All names that are copied: those of bodies, parts, joints, motors and gears. */
static const char **name_at(const bough_multibody_def *d, int32_t i) {
    if (i < d->body_count)
        return (const char **)(uintptr_t)&d->bodies[i].name;
    if ((i -= d->body_count) < d->part_count)
        return (const char **)(uintptr_t)&d->parts[i].name;
    if ((i -= d->part_count) < d->joint_count)
        return (const char **)(uintptr_t)&d->joints[i].name;
    if ((i -= d->joint_count) < d->motor_count)
        return (const char **)(uintptr_t)&d->motors[i].name;
    if ((i -= d->motor_count) < d->gear_count)
        return (const char **)(uintptr_t)&d->gears[i].name;
    return NULL;
}

static bough_status copy_def(bough_context *ctx, const bough_multibody_def *def, bough_multibody *model) {
    bough_multibody_def *d = &model->def;
    *d = *def;
    d->bodies = NULL, d->parts = NULL, d->joints = NULL, d->motors = NULL, d->gears = NULL;
    const struct {
        const void *from;
        int32_t count;
        size_t size;
        const void **to;
    } lists[] = {{def->bodies, def->body_count, sizeof *def->bodies, (const void **)&d->bodies},
                 {def->parts, def->part_count, sizeof *def->parts, (const void **)&d->parts},
                 {def->joints, def->joint_count, sizeof *def->joints, (const void **)&d->joints},
                 {def->motors, def->motor_count, sizeof *def->motors, (const void **)&d->motors},
                 {def->gears, def->gear_count, sizeof *def->gears, (const void **)&d->gears}};
    bough_status status = BOUGH_OK;
    for (size_t i = 0; i < sizeof lists / sizeof *lists; i++)
        if (copy(ctx, lists[i].from, lists[i].count, lists[i].size, lists[i].to) != BOUGH_OK)
            status = BOUGH_ERROR_MEMORY;
    if (status != BOUGH_OK) { /* names would be the caller's */
        for (size_t i = 0; i < sizeof lists / sizeof *lists; i++)
            bo_free(ctx, (void *)(uintptr_t)*lists[i].to), *lists[i].to = NULL;
        d->body_count = d->part_count = d->joint_count = d->motor_count = d->gear_count = 0;
        return status;
    }
    const char **name;
    for (int32_t i = 0; (name = name_at(d, i)); i++)
        if (copy_name(ctx, name) != BOUGH_OK)
            status = BOUGH_ERROR_MEMORY;
    for (int32_t j = 0; j < d->joint_count; j++) {
        bough_joint_def *joint = (bough_joint_def *)(uintptr_t)&d->joints[j];
        joint->parent.name = joint->child.name = NULL;
    }
    for (int32_t b = 0; b < d->body_count; b++) {
        bough_rigid_body_def *body = (bough_rigid_body_def *)(uintptr_t)&d->bodies[b];
        body->shapes = NULL, body->shape_count = 0;
    }
    return status;
}

/* ---- bodies and parts ---- */

static bool is_on_part(const bough_multibody *model, int32_t part) {
    return model->def.parts[part].clamp.body >= model->def.body_count;
}

static void fill_body(const bough_rigid_body_def *def, bo_mb_body *body) {
    const bo_vec3 c = bo_load3(def->centre);
    bo_mat3 I;
    memcpy(I.m, def->inertia, sizeof I.m);
    body->mass = def->mass;
    body->S = bo_scale(def->mass, c);
    /* about the origin: + m (|c|^2 - c c^T) */
    const bo_mat3 shift = bo_mat_sub(bo_mat_scale(bo_dot(c, c), bo_identity3()), bo_outer(c, c));
    body->I = bo_mat_add(I, bo_mat_scale(def->mass, shift));
}

/* The frame of the part's component, at rest, in the world. */
static bo_se3 start_of_part(const bough_multibody *model, int32_t p) {
    bo_se3 g = bo_se3_identity();
    for (;;) {
        const bough_frame_def *clamp = &model->def.parts[p].clamp;
        g = bo_se3_mul(bo_pose(&clamp->pose), g);
        if (clamp->body == BOUGH_WORLD)
            return g;
        if (clamp->body < model->def.body_count)
            return bo_se3_mul(bo_pose(&model->def.bodies[clamp->body].pose), g);
        p = clamp->body - model->def.body_count;
        if (clamp->interface_index >= 0)
            g.t = bo_add(g.t, bo_load3(model->def.parts[p].component->interfaces[clamp->interface_index].centre));
    }
}

static bough_status make_bodies(bough_context *ctx, bough_multibody *model) {
    const bough_multibody_def *d = &model->def;
    int32_t count = d->body_count;
    for (int32_t p = 0; p < d->part_count; p++)
        count += is_on_part(model, p);
    if (!(model->bodies = BO_NEW_ZEROS(ctx, bo_mb_body, count)) ||
        !(model->starts = BO_NEW_ARRAY(ctx, bo_se3, count)) ||
        !(model->start_twists = BO_NEW_ZEROS(ctx, bo_twist, count)) ||
        !(model->parts = BO_NEW_ZEROS(ctx, bo_mb_part, d->part_count)))
        return BOUGH_ERROR_MEMORY;
    for (int32_t b = 0; b < d->body_count; b++) {
        fill_body(&d->bodies[b], &model->bodies[b]);
        model->starts[b] = bo_pose(&d->bodies[b].pose);
        model->start_twists[b] = bo_load_twist(d->bodies[b].twist);
    }
    model->body_count = d->body_count;
    for (int32_t p = 0; p < d->part_count; p++) {
        const bool virtual = is_on_part(model, p);
        model->parts[p].body = virtual ? model->body_count : d->parts[p].clamp.body;
        if (virtual)
            model->starts[model->body_count++] = start_of_part(model, p);
    }
    return BOUGH_OK;
}

static bo_se3 clamp_of(const bough_multibody *model, int32_t part) {
    return is_on_part(model, part) ? bo_se3_identity() : bo_pose(&model->def.parts[part].clamp.pose);
}

/* An earlier part of the same component that is clamped in the same way has the same constants. */
static const bo_mb_part *find_alike(const bough_multibody *model, int32_t part) {
    const bo_se3 clamp = clamp_of(model, part);
    for (int32_t p = 0; p < part; p++) {
        const bo_se3 other = clamp_of(model, p);
        if (model->def.parts[p].component == model->def.parts[part].component && !model->def.parts[p].full &&
            memcmp(&clamp, &other, sizeof clamp) == 0)
            return &model->parts[p];
    }
    return NULL;
}

static bough_status make_parts(bough_context *ctx, bough_multibody *model) {
    int32_t first = 6 * model->body_count;
    model->room = 6;
    for (int32_t p = 0; p < model->def.part_count; p++) {
        const bo_mb_part *like = find_alike(model, p);
        BO_TRY(bo_mb_part_make(ctx, &model->def.parts[p], clamp_of(model, p), like, &model->parts[p]));
        model->parts[p].first = first;
        model->in_full = model->in_full || model->parts[p].full;
        first += model->parts[p].r;
        model->room = model->parts[p].seen + 6 > model->room ? model->parts[p].seen + 6 : model->room;
    }
    model->nv = first, model->nu = first + model->body_count;
    return BOUGH_OK;
}

/* ---- frames ---- */

static bough_status make_face(bough_context *ctx, const bough_multibody *model, int32_t part, int32_t interface_index,
                              bo_mb_face *f) {
    const bough_interface *from = &model->parts[part].component->interfaces[interface_index];
    const int32_t r = model->parts[part].seen;
    const bo_se3 g = clamp_of(model, part);
    *f = (bo_mb_face){.part = part, .interface_index = interface_index};
    if (!(f->moves = BO_NEW_ARRAY(ctx, bo_vec3, r)) || !(f->A = BO_NEW_ARRAY(ctx, bo_mat3, r)))
        return BOUGH_ERROR_MEMORY;
    f->centre = bo_se3_apply(g, bo_load3(from->centre));
    for (int32_t k = -1; k < r; k++) {
        const bool full = model->parts[part].full != NULL;
        double shift[3];
        bo_mat3 A;
        if (full && k >= 0)
            bo_mb_full_face(&model->parts[part], interface_index, k, shift, A.m);
        else
            memcpy(A.m, from->A + 9 * (k + 1), sizeof A.m);
        A = bo_mat_mul(bo_mat_mul(g.R, A), bo_transpose(g.R));
        *(k < 0 ? &f->A0 : &f->A[k]) = A;
        if (k >= 0)
            f->moves[k] = bo_mat_vec(g.R, bo_load3(full ? shift : from->translation + 3 * k));
    }
    return BOUGH_OK;
}

void bo_mb_face_free(bough_context *ctx, bo_mb_face *face) {
    bo_free(ctx, face->moves), bo_free(ctx, face->A);
    face->moves = NULL, face->A = NULL;
}

/* The face of the interface; made when it is first asked for. */
static bough_status find_face(bough_context *ctx, bough_multibody *model, int32_t part, int32_t interface_index,
                              int32_t *face) {
    for (*face = 0; *face < model->face_count; ++*face)
        if (model->faces[*face].part == part && model->faces[*face].interface_index == interface_index)
            return BOUGH_OK;
    return make_face(ctx, model, part, interface_index, &model->faces[model->face_count++]);
}

/* All but the face, which is left at -1. *part: the part on whose interface it lies, or -1. */
static bo_mb_frame frame_of(const bough_multibody *model, const bough_frame_def *def, int32_t *part) {
    bo_mb_frame f = {.body = def->body, .face = -1, .local = bo_pose(&def->pose)};
    *part = -1;
    if (def->body < model->def.body_count)
        return f;
    const int32_t on = def->body - model->def.body_count;
    const bo_se3 g = clamp_of(model, on);
    f.body = model->parts[on].body;
    if (def->interface_index < 0) {
        f.local = bo_se3_mul(g, f.local);
        return f;
    }
    f.local = (bo_se3){bo_mat_mul(g.R, f.local.R), bo_mat_vec(g.R, f.local.t)};
    *part = on;
    return f;
}

static bough_status add_frame(bough_context *ctx, bough_multibody *model, const bough_frame_def *def, int32_t *number) {
    int32_t part;
    bo_mb_frame *f = &model->frames[ *number = model->frame_count++];
    *f = frame_of(model, def, &part);
    return part < 0 ? BOUGH_OK : find_face(ctx, model, part, def->interface_index, &f->face);
}

bough_status bo_mb_frame_make(bough_context *ctx, const bough_multibody *model, const bough_frame_def *def,
                              bo_mb_frame *frame, bo_mb_face *face) {
    int32_t part;
    *face = (bo_mb_face){.part = -1};
    *frame = frame_of(model, def, &part);
    return part < 0 ? BOUGH_OK : make_face(ctx, model, part, def->interface_index, face);
}

/* ---- joints ---- */

static int32_t rows_of(const bough_multibody *model, const bo_mb_joint *joint) {
    static const int32_t rows[BOUGH_JOINT_KIND_COUNT] = {
        [BOUGH_JOINT_WELD] = 6,      [BOUGH_JOINT_HINGE] = 5,     [BOUGH_JOINT_BALL] = 3,
        [BOUGH_JOINT_PRISMATIC] = 5, [BOUGH_JOINT_UNIVERSAL] = 4, [BOUGH_JOINT_CYLINDRICAL] = 4,
        [BOUGH_JOINT_PLANAR] = 3,    [BOUGH_JOINT_DISTANCE] = 1};
    int32_t count = joint->gear[0] >= 0 ? 1 : rows[joint->kind];
    for (int k = 0; k < BOUGH_MOST_FREEDOMS; k++)
        count += joint->motors[k] >= 0 && isinf(model->def.motors[joint->motors[k]].stiffness);
    return count;
}

static bool has_springs(const bough_multibody *model, const bo_mb_joint *joint) {
    const bough_joint_def *def = &model->def.joints[joint->def];
    for (int k = 0; k < bough_joint_freedoms(joint->kind); k++)
        if (def->stiffness[k] != 0 || def->damping[k] != 0 || def->friction[k] != 0 || isfinite(def->lower[k]) ||
            isfinite(def->upper[k]) ||
            (joint->motors[k] >= 0 && isfinite(model->def.motors[joint->motors[k]].stiffness)))
            return true;
    return false;
}

static bo_mb_joint *next_joint(bough_multibody *model, bough_joint_kind kind, int32_t def) {
    bo_mb_joint *joint = &model->joints[model->joint_count++];
    *joint = (bo_mb_joint){.kind = kind, .def = def, .frame_count = 2, .gear = {-1, -1}};
    for (int k = 0; k < BOUGH_MOST_FREEDOMS; k++)
        joint->motors[k] = -1;
    return joint;
}

static bough_status make_joints(bough_context *ctx, bough_multibody *model) {
    const bough_multibody_def *d = &model->def;
    const int32_t clamps = model->body_count - d->body_count, most = d->joint_count + d->gear_count + clamps;
    if (!(model->joints = BO_NEW_ARRAY(ctx, bo_mb_joint, most)) ||
        !(model->frames = BO_NEW_ARRAY(ctx, bo_mb_frame, 2 * (d->joint_count + clamps))) ||
        !(model->faces = BO_NEW_ZEROS(ctx, bo_mb_face, 2 * (d->joint_count + clamps))) ||
        !(model->coordinate_first = BO_NEW_ARRAY(ctx, int32_t, d->joint_count + 1)))
        return BOUGH_ERROR_MEMORY;
    for (int32_t j = 0; j < d->joint_count; j++) {
        bo_mb_joint *joint = next_joint(model, d->joints[j].kind, j);
        BO_TRY(add_frame(ctx, model, &d->joints[j].parent, &joint->frames[0]));
        BO_TRY(add_frame(ctx, model, &d->joints[j].child, &joint->frames[1]));
        for (int32_t m = 0; m < d->motor_count; m++)
            if (d->motors[m].joint == j)
                joint->motors[d->motors[m].freedom] = m;
        joint->springs = has_springs(model, joint);
        model->coordinate_first[j] = model->coordinate_count;
        model->coordinate_count += bough_joint_freedoms(joint->kind);
    }
    for (int32_t g = 0; g < d->gear_count; g++) {
        bo_mb_joint *gear = next_joint(model, BOUGH_JOINT_KIND_COUNT, d->joint_count + g);
        gear->frame_count = 4, gear->ratio = d->gears[g].ratio;
        for (int side = 0; side < 2; side++) {
            gear->gear[side] = d->gears[g].joints[side];
            for (int f = 0; f < 2; f++)
                gear->frames[2 * side + f] = model->joints[gear->gear[side]].frames[f];
        }
    }
    for (int32_t p = 0; p < d->part_count; p++)
        if (is_on_part(model, p)) {
            bo_mb_joint *weld = next_joint(model, BOUGH_JOINT_WELD, -1 - p);
            const bough_frame_def own = bo_frame_on(d->body_count + p, bough_default_pose());
            BO_TRY(add_frame(ctx, model, &d->parts[p].clamp, &weld->frames[0]));
            BO_TRY(add_frame(ctx, model, &own, &weld->frames[1]));
        }
    for (int32_t j = 0; j < model->joint_count; j++) {
        model->joints[j].row = model->nc;
        model->nc += model->joints[j].row_count = rows_of(model, &model->joints[j]);
    }
    return BOUGH_OK;
}

/* ---- sizes ---- */

/* A length of the whole: how far bodies and interfaces lie apart. */
static bough_status measure_units(bough_context *ctx, bough_multibody *model) {
    bo_vec3 low = {INFINITY, INFINITY, INFINITY}, high = {-INFINITY, -INFINITY, -INFINITY};
    for (int32_t p = 0; p < model->def.part_count; p++) {
        const bough_component *c = model->parts[p].component;
        const bo_se3 g = start_of_part(model, p);
        for (int32_t i = -1; i < c->interface_count; i++) {
            const bo_vec3 x = i < 0 ? g.t : bo_se3_apply(g, bo_load3(c->interfaces[i].centre));
            low = bo_v3(fmin(low.x, x.x), fmin(low.y, x.y), fmin(low.z, x.z));
            high = bo_v3(fmax(high.x, x.x), fmax(high.y, x.y), fmax(high.z, x.z));
        }
    }
    for (int32_t j = 0; j < model->def.joint_count; j++)
        for (int side = 0; side < 2; side++) {
            const bough_frame_def *f = bo_joint_end(&model->def.joints[j], side);
            if (f->body < 0 || f->body >= model->def.body_count)
                continue;
            const bo_vec3 x = bo_se3_apply(model->starts[f->body], bo_load3(f->pose.position));
            low = bo_v3(fmin(low.x, x.x), fmin(low.y, x.y), fmin(low.z, x.z));
            high = bo_v3(fmax(high.x, x.x), fmax(high.y, x.y), fmax(high.z, x.z));
        }
    double gyration = 0;
    for (int32_t b = 0; b < model->def.body_count; b++)
        if (model->bodies[b].mass > 0)
            gyration = fmax(gyration, sqrt(bo_trace(model->bodies[b].I) / model->bodies[b].mass));
    const double across = low.x <= high.x ? bo_norm(bo_sub(high, low)) : 0;
    model->length = fmax(across, gyration);
    if (!(model->length > 0))
        model->length = 1;
    if (!(model->units = BO_NEW_ARRAY(ctx, double, model->nv)))
        return BOUGH_ERROR_MEMORY;
    for (int32_t i = 0; i < model->nv; i++)
        model->units[i] = i < 6 * model->body_count && i % 6 >= 3 ? 1 : model->length;
    /* A coordinate of a part is measured by how far it moves the part's mass. */
    for (int32_t p = 0; p < model->def.part_count; p++) {
        const bo_mb_part *part = &model->parts[p];
        for (int32_t k = 0; k < part->r && !part->full; k++)
            model->units[part->first + k] = model->length * sqrt(part->mass / part->M[part->r * k + k]);
    }
    return BOUGH_OK;
}

static bough_status make(bough_context *ctx, const bough_multibody_def *def, bough_multibody *model) {
    BO_TRY(copy_def(ctx, def, model));
    BO_TRY(make_bodies(ctx, model));
    BO_TRY(make_parts(ctx, model));
    BO_TRY(make_joints(ctx, model));
    BO_TRY(measure_units(ctx, model));
    if (!(model->motor_starts = BO_NEW_ZEROS(ctx, double, def->motor_count)) ||
        !(model->rests = BO_NEW_ZEROS(ctx, double, model->coordinate_count)))
        return BOUGH_ERROR_MEMORY;
    BO_TRY(bo_mb_order(ctx, model));
    BO_TRY(bo_mb_find_flyers(ctx, model));
    return bo_mb_look_at_start(ctx, model);
}

bough_status bough_multibody_create(bough_context *ctx, const bough_multibody_def *def, bough_multibody **out) {
    *out = NULL;
    BO_TRY(bo_mb_check(ctx, def));
    bough_multibody *model = BO_NEW(ctx, bough_multibody);
    if (!model)
        return BOUGH_ERROR_MEMORY;
    const bough_status status = make(ctx, def, model);
    if (status != BOUGH_OK) {
        bough_multibody_destroy(ctx, model);
        return status;
    }
    *out = model;
    return BOUGH_OK;
}

void bough_multibody_destroy(bough_context *ctx, bough_multibody *model) {
    if (!model)
        return;
    const bough_multibody_def *d = &model->def;
    const char **name;
    for (int32_t i = 0; (name = name_at(d, i)); i++)
        bo_free(ctx, (void *)(uintptr_t)*name);
    for (int32_t p = 0; model->parts && p < d->part_count; p++)
        bo_mb_part_free(ctx, &model->parts[p]);
    for (int32_t f = 0; model->faces && f < model->face_count; f++)
        bo_mb_face_free(ctx, &model->faces[f]);
    const void *const blocks[] = {d->bodies,
                                  d->parts,
                                  d->joints,
                                  d->motors,
                                  d->gears,
                                  model->bodies,
                                  model->starts,
                                  model->start_twists,
                                  model->parts,
                                  model->faces,
                                  model->frames,
                                  model->joints,
                                  model->coordinate_first,
                                  model->units,
                                  model->motor_starts,
                                  model->rests,
                                  model->body_block,
                                  model->part_block,
                                  model->joint_block,
                                  model->block_rows,
                                  model->pairs,
                                  model->place,
                                  model->redundant,
                                  model->flyer};
    for (size_t i = 0; i < sizeof blocks / sizeof *blocks; i++)
        bo_free(ctx, (void *)(uintptr_t)blocks[i]);
    bo_free(ctx, model);
}

/* ---- questions ---- */

const bough_multibody_def *bough_multibody_describe(const bough_multibody *model) {
    return &model->def;
}
int32_t bough_multibody_velocity_count(const bough_multibody *model) {
    return model->nv;
}
int32_t bough_multibody_position_count(const bough_multibody *model) {
    return model->nu;
}
int32_t bough_multibody_constraint_count(const bough_multibody *model) {
    return model->nc;
}
int32_t bough_multibody_part_offset(const bough_multibody *model, int32_t part) {
    return model->parts[part].first + model->body_count;
}
int32_t bough_multibody_joint_rows(const bough_multibody *model, int32_t joint, int32_t *count) {
    if (count)
        *count = model->joints[joint].row_count;
    return model->joints[joint].row;
}
int32_t bough_multibody_redundant(const bough_multibody *model, int32_t number, int32_t *joint) {
    if (joint && number >= 0 && number < model->redundant_count)
        *joint = model->redundant[number];
    return model->redundant_count;
}
