/* Parts that are detached, attached, locked, removed and added while a state runs. docs/theory/tree.md, "Changes".
 *
 * A changed state has a model of its own: the same parts and tables, laid out anew with the parts where they hang now.
 * So the steps know nothing of changes. */
#include "tree/change.h"

#include "tree/couple.h"
#include "tree/surface.h"
#include "tree/system.h"

#include <string.h>

/* ---- another layout ---- */

bough_part_def *bo_tree_copy_links(bough_context *ctx, const bough_model *now) {
    bough_part_def *parts = BO_NEW_ARRAY(ctx, bough_part_def, now->def.part_count);
    if (parts)
        memcpy(parts, now->def.parts, (size_t)now->def.part_count * sizeof *parts);
    return parts;
}

void bo_tree_free_own(bough_context *ctx, bough_model *own) {
    if (!own)
        return;
    bo_tree_free_layout(ctx, own);
    bo_free(ctx, (void *)own->def.parts);
    bo_free(ctx, own);
}

static bough_status make_own(bough_context *ctx, const bough_model *base, bough_part_def *parts, bough_model **out) {
    bough_model *own = *out = BO_NEW(ctx, bough_model);
    if (!own) {
        bo_free(ctx, parts);
        return BOUGH_ERROR_MEMORY;
    }
    own->def = base->def;
    own->def.parts = parts;
    own->component_count = base->component_count;
    own->shape = base->shape, own->surface = base->surface, own->wind = base->wind, own->tracks = base->tracks;
    for (int32_t i = 0; i < own->def.part_count; i++)
        BO_TRY(bo_tree_check_part(ctx, &own->def, i));
    BO_TRY(bo_tree_lay_out(ctx, own, base));
    BO_TRY(bo_tree_make_lumps(ctx, own));
    bo_tree_lay_tracks(own);
    return BOUGH_OK;
}

/* Where the interfaces of a part were found last, and what acts on its frame. */
static void carry_over(const bough_model *from, const bo_tree_work *old, const bough_model *to, bo_tree_work *work) {
    for (int32_t i = 0; i < to->part_count; i++) {
        const bo_tree_part *part = &to->parts[i];
        const int32_t before = from->inside[part->user];
        if (before < 0)
            continue;
        memcpy(work->wrench + 6 * i, old->wrench + 6 * before, 6 * sizeof *work->wrench);
        const int32_t faces = from->parts[before].faces;
        if (part->faces >= 0 && faces >= 0)
            memcpy(work->faces + part->faces, old->faces + faces,
                   (size_t)to->components[part->component].face_vectors * sizeof *work->faces);
    }
    memcpy(work->force, old->force, (size_t)to->size * sizeof *work->force);
    memcpy(work->tie_motion, old->tie_motion, (size_t)to->def.tie_count * sizeof *work->tie_motion);
    work->pushed = old->pushed;
}

static void start_flights(const bough_model *from, const bough_state *state, const bough_model *to, bough_root *roots) {
    for (int32_t i = 0; i < to->levels[0].end_part; i++) {
        const bo_tree_part *part = &to->parts[i];
        const int32_t before = from->inside[part->user];
        if (!part->free)
            continue;
        bough_root *root = &roots[part->flight];
        if (before >= 0 && from->parts[before].free) {
            *root = state->roots[from->parts[before].flight];
            continue;
        }
        const bough_frame *frame = &state->frames[part->user];
        *root = (bough_root){.part = part->user};
        memcpy(root->origin, frame->origin, sizeof root->origin);
        memcpy(root->rotation, frame->rotation, sizeof root->rotation);
        memcpy(root->velocity, frame->velocity, sizeof root->velocity);
        memcpy(root->angular_velocity, frame->angular_velocity, sizeof root->angular_velocity);
    }
}

void bo_tree_drop_shift(bough_context *ctx, bo_tree_shift *shift) {
    bo_tree_drop_integrator(ctx, &shift->work);
    bo_tree_free_own(ctx, shift->own);
    bo_free(ctx, shift->work.numbers);
    bo_free(ctx, shift->roots);
    *shift = (bo_tree_shift){0};
}

bough_status bo_tree_begin_shift(bough_context *ctx, const bough_model *model, bough_state *state,
                                 bough_part_def *parts, bo_tree_shift *shift) {
    const bough_model *now = bo_tree_now(model, state);
    *shift = (bo_tree_shift){0};
    bough_status status = make_own(ctx, model, parts, &shift->own);
    if (status == BOUGH_OK)
        status = bo_tree_make_work(ctx, shift->own, &shift->work);
    if (status == BOUGH_OK) {
        shift->roots = BO_NEW_ZEROS(ctx, bough_root, 2 * (size_t)shift->own->free_count);
        status = shift->roots ? BOUGH_OK : BOUGH_ERROR_MEMORY;
    }
    if (status == BOUGH_OK)
        status = bo_tree_copy_integrator(ctx, shift->own, state, &shift->work);
    if (status != BOUGH_OK) {
        bo_tree_drop_shift(ctx, shift);
        return status;
    }
    shift->root_count = shift->own->free_count;
    shift->work.next_roots = shift->roots + shift->root_count;
    carry_over(now, state->work, shift->own, &shift->work);
    start_flights(now, state, shift->own, shift->roots);
    return BOUGH_OK;
}

/* The shift keeps what the state stood on. */
static void exchange(bough_state *state, bo_tree_shift *shift) {
    bo_tree_shift old = {state->work->own, *state->work, state->roots, state->root_count};
    *state->work = shift->work;
    state->work->own = shift->own;
    state->work->surface_work = old.work.surface_work;
    state->roots = shift->roots;
    state->root_count = shift->root_count;
    *shift = old;
}

void bo_tree_make_shift(bough_context *ctx, const bough_model *model, bough_state *state, bo_tree_shift *shift) {
    exchange(state, shift);
    bo_tree_open_seams(model, state);
    bo_tree_drop_shift(ctx, shift);
}

/* ---- velocities after an impact ---- */

/* Momenta of a part that moves with V (its axes) and v: [I V + Mrq v; Mrq^T V + M v] */
static void give_momenta(const bough_model *model, bo_tree_work *work, const bo_tree_part *part, int32_t index,
                         const double V[6], const double *v) {
    const bo_component_tables *t = &model->components[part->component];
    double *h = work->load_wrench + 6 * index, *g = work->load + part->offset, I[36];
    bo_tree_unpack_six(&work->inertias[part->slot / 4], part->slot % 4, I); /* lower triangle */
    for (int d = 0; d < 6; d++) {
        h[d] = 0;
        for (int e = 0; e < 6; e++)
            h[d] += I[6 * (d > e ? d : e) + (d > e ? e : d)] * V[e];
    }
    for (int32_t k = 0; k < part->r; k++) {
        double sum = 0;
        for (int32_t l = 0; l < part->r; l++)
            sum += t->M[k * t->n + l] * v[part->offset + l];
        g[k] = part->scale5 * sum;
        for (int d = 0; d < 6; d++) {
            const double Mrq = bo_tree_Mrq(model, work, part, d, k);
            g[k] += Mrq * V[d];
            h[d] += Mrq * v[part->offset + k];
        }
    }
}

/* The motion that parts had before they met, in the axes they have now; new ones move with what they hang on. */
static void motion_before(const bough_state *state, const bough_model *model, const bo_tree_part *part, bool new,
                          double V[6]) {
    const bo_tree_frames *f = &state->work->frames[part->slot / 4];
    const bough_frame *frame = &state->frames[part->user];
    bo_mat3 R;
    (void)model;
    if (new) {
        bo_tree_velocity(state->work, part, V);
        return;
    }
    for (int k = 0; k < 9; k++)
        R.m[k] = BO_LANE_CONST(f->world[k], part->slot % 4);
    bo_store3(V, bo_mat_tvec(R, bo_load3(frame->velocity)));
    bo_store3(V + 3, bo_mat_tvec(R, bo_load3(frame->angular_velocity)));
}

static bough_status crushed(bough_context *ctx) {
    return bo_fail(ctx, BOUGH_NOT_FINITE, "an interface is crushed to a line, so that it has no frame");
}

/* Where parts meet that move differently, forces act for no time, along the directions in which the new tree cannot
 * move. So its velocities have the momenta of the old ones in all directions in which it can: with the masses M and the
 * motion V of all parts as the tree makes it of its velocities, V = P u, these are P^T M P u = P^T M V_old, which is a
 * step of the exact coupling with momenta for forces, no velocities, and u for accelerations. */
static bough_status share_momenta(bough_context *ctx, bough_state *state, const bool *new) {
    static const bo_tree_scheme masses = {.inert = true};
    bo_tree_work *w = state->work;
    const bough_model *model = w->own;
    bo_tree_place_roots(model, w, state->roots, state->time);
    if (!bo_tree_move(ctx, model, w, state->q, state->v))
        return crushed(ctx);
    bo_tree_weigh(ctx, model, state, state->q, state->v);
    for (int32_t i = 0; i < model->part_count; i++) {
        double V[6];
        motion_before(state, model, &model->parts[i], new[model->parts[i].user], V);
        give_momenta(model, w, &model->parts[i], i, V, state->v);
    }
    memset(state->v, 0, (size_t)model->size * sizeof *state->v);
    for (int32_t k = 0; k < model->free_count; k++) {
        memset(state->roots[k].velocity, 0, sizeof state->roots[k].velocity);
        memset(state->roots[k].angular_velocity, 0, sizeof state->roots[k].angular_velocity);
    }
    w->still = true;
    bo_tree_place_roots(model, w, state->roots, state->time);
    const bool moved = bo_tree_move(ctx, model, w, state->q, state->v);
    w->still = false;
    if (!moved)
        return crushed(ctx);
    bo_tree_pass pass = {.model = model,
                         .state = state,
                         .work = w,
                         .q = state->q,
                         .v = state->v,
                         .scheme = &masses,
                         .elastic = true,
                         .solve = true,
                         .inertias = true};
    w->coupling = BOUGH_COUPLING_L3;
    w->loaded = w->weightless = w->sudden = true;
    w->lead_time = state->time;
    const bool solved = bo_tree_prepare(ctx, &pass) && bo_tree_solve(ctx, model, w, state->v);
    w->loaded = w->weightless = w->sudden = false;
    if (!solved)
        return bo_fail(ctx, BOUGH_NO_CONVERGENCE, "the masses of the changed tree are singular");
    for (int32_t k = 0; k < model->free_count; k++) {
        bough_root *root = &state->roots[k];
        const int32_t slot = model->parts[model->inside[root->part]].slot;
        double A[6];
        bo_mat3 R;
        memcpy(R.m, root->rotation, sizeof R.m);
        for (int d = 0; d < 6; d++)
            A[d] = BO_LANE_CONST(w->inertias[slot / 4].A[d], slot % 4);
        bo_store3(root->velocity, bo_mat_vec(R, bo_load3(A)));
        bo_store3(root->angular_velocity, bo_mat_vec(R, bo_load3(A + 3)));
    }
    return BOUGH_OK;
}

/* ---- changes ---- */

/* What a list of changes makes of the parts. */
typedef struct {
    bough_context *ctx;
    const bough_model *model, *now;
    const bough_state *state;
    bough_part_def *parts;
    bough_frame *frames; /* those of the state; of roots that are added, their poses */
    bool *new;           /* parts that are added */
    bool impact;         /* velocities may have to change */
    const double *rest;  /* of accelerations, see add_rest(); NULL: not known */
    const bough_root *root_rest;
} edit;

static bough_status refuse(const edit *e, int32_t part, const char *why) {
    return bo_fail(e->ctx, BOUGH_ERROR_ARGUMENT, "part \"%s\" (number %d) %s", e->parts[part].name, part, why);
}

static void become_root(edit *e, int32_t part, bool free) {
    bough_part_def *p = &e->parts[part];
    p->parent = -1, p->interface = 0;
    p->free = free;
    p->track.count = 0; /* it stays where it is */
    p->joint.kind = BOUGH_JOINT_WELD;
    memset(p->offset, 0, sizeof p->offset);
    memcpy(p->rotation, e->frames[part].rotation, sizeof p->rotation);
    memcpy(p->position, e->frames[part].origin, sizeof p->position);
}

/* Axes and origin against the interface as it lies now. */
static bough_status hang_as_it_lies(edit *e, const bough_change *c) {
    bough_part_def *p = &e->parts[c->part];
    if (c->parent >= e->now->def.part_count || e->parts[c->parent].absent || e->now->inside[c->parent] < 0)
        return refuse(e, c->part, "cannot be attached to a part that is absent");
    const bough_part_def *parent = &e->parts[c->parent];
    const bough_component *component = e->model->def.components[parent->component];
    if (c->interface < 0 || c->interface >= component->interface_count)
        return refuse(e, c->part, "cannot be attached at an interface that does not exist");
    const bough_frame *child = &e->frames[c->part], *above = &e->frames[c->parent];
    double centre[3];
    bo_mat3 face, Rp, Rc;
    if (!bough_component_interface_frame(component, c->interface, e->state->q + e->model->offsets[c->parent], centre,
                                         face.m))
        return crushed(e->ctx);
    memcpy(Rp.m, above->rotation, sizeof Rp.m);
    memcpy(Rc.m, child->rotation, sizeof Rc.m);
    const bo_vec3 x = bo_mat_tvec(Rp, bo_sub(bo_load3(child->origin), bo_load3(above->origin)));
    const bo_mat3 rest = bo_mat_mul(bo_transpose(face), bo_mat_mul(bo_transpose(Rp), Rc));
    p->parent = c->parent, p->interface = c->interface, p->free = false, p->track.count = 0;
    p->joint.kind = BOUGH_JOINT_WELD;
    memcpy(p->rotation, rest.m, sizeof p->rotation);
    bo_store3(p->offset, bo_mat_tvec(face, bo_sub(x, bo_scale(parent->scale, bo_load3(centre)))));
    return BOUGH_OK;
}

static bough_status attach(edit *e, const bough_change *c) {
    e->impact = true;
    if (c->parent >= 0)
        return hang_as_it_lies(e, c);
    if (e->model->def.components[e->parts[c->part].component]->support == BOUGH_SUPPORT_FREE)
        return refuse(e, c->part, "was cooked to fly and cannot be held");
    become_root(e, c->part, false);
    return BOUGH_OK;
}

static void reattach(edit *e, int32_t part) {
    const bough_part_def *from = &e->model->def.parts[part];
    bough_part_def *p = &e->parts[part];
    p->parent = from->parent, p->interface = from->interface, p->free = from->free;
    p->track.count = from->track.count;
    p->joint = from->joint;
    memcpy(p->rotation, from->rotation, sizeof p->rotation);
    memcpy(p->position, from->position, sizeof p->position);
    memcpy(p->offset, from->offset, sizeof p->offset);
    e->impact = true;
}

static bough_status add(edit *e, const bough_change *c) {
    bough_part_def *p = &e->parts[c->part];
    if (!p->absent)
        return refuse(e, c->part, "is there already");
    p->absent = false;
    e->new[c->part] = true; /* those that hang on it are found when the tree is laid out */
    if (p->parent >= 0)
        return BOUGH_OK;
    e->frames[c->part] = c->pose;
    memcpy(p->rotation, c->pose.rotation, sizeof p->rotation);
    memcpy(p->position, c->pose.origin, sizeof p->position);
    for (int k = 0; k < 3; k++)
        if (!(c->pose.velocity[k] * 0 == 0 && c->pose.angular_velocity[k] * 0 == 0))
            return refuse(e, c->part, "has a velocity that is not finite");
    return BOUGH_OK;
}

static bough_status apply(edit *e, const bough_change *c) {
    if (c->part < 0 || c->part >= e->now->def.part_count)
        return bo_fail(e->ctx, BOUGH_ERROR_ARGUMENT, "part %d does not exist: the model has %d", c->part,
                       e->now->def.part_count);
    if (c->kind == BOUGH_CHANGE_ADD)
        return add(e, c);
    if (e->now->inside[c->part] < 0)
        return refuse(e, c->part, "is absent; add it first");
    switch (c->kind) {
    case BOUGH_CHANGE_DETACH:
        become_root(e, c->part, true);
        return BOUGH_OK;
    case BOUGH_CHANGE_ATTACH:
        return attach(e, c);
    case BOUGH_CHANGE_REATTACH:
        reattach(e, c->part);
        return BOUGH_OK;
    case BOUGH_CHANGE_LOCK:
    case BOUGH_CHANGE_UNLOCK:
        e->parts[c->part].locked = c->kind == BOUGH_CHANGE_LOCK;
        e->impact = e->impact || c->kind == BOUGH_CHANGE_LOCK;
        return BOUGH_OK;
    case BOUGH_CHANGE_REMOVE:
        e->parts[c->part].absent = true;
        return BOUGH_OK;
    default:
        return bo_fail(e->ctx, BOUGH_ERROR_ARGUMENT, "there is no change of kind %d", (int)c->kind);
    }
}

/* Parts that are added are at rest in their shape; parts that are gone stand still. */
static void start_coordinates(const bough_model *before, const bough_model *after, bough_state *state, bool *new) {
    for (int32_t user = 0; user < after->def.part_count; user++) {
        const int32_t r = after->def.components[after->def.parts[user].component]->r;
        const size_t bytes = (size_t)r * sizeof(double);
        new[user] = before->inside[user] < 0 && after->inside[user] >= 0;
        if (new[user])
            memset(state->q + after->offsets[user], 0, bytes);
        if (new[user] || after->inside[user] < 0) {
            memset(state->v + after->offsets[user], 0, bytes);
            memset(state->a + after->offsets[user], 0, bytes);
        }
    }
}

/* Accelerations jump where something is cut or joined. Those that a step leaves are not those that the forces at its
 * end ask for: of stiff modes it makes as little as of the gusts that shake them. So the jump is added to them, and
 * what has no part in the change feels none. `rest`: by how much the step's were more than the forces' before the
 * change. */
static void add_rest(const bough_model *before, const bough_model *after, bough_state *state, const double *rest,
                     const bough_root *root_rest) {
    for (int32_t i = 0; i < after->part_count; i++) {
        const bo_tree_part *part = &after->parts[i];
        const int32_t was = before->inside[part->user];
        if (was < 0 || after->def.parts[part->user].locked || before->def.parts[part->user].locked)
            continue;
        for (int32_t l = 0; l < part->r; l++)
            state->a[part->offset + l] += rest[part->offset + l];
        if (!part->free || part->parent >= 0 || !before->parts[was].free)
            continue;
        bough_root *root = &state->roots[part->flight];
        const bough_root *more = &root_rest[before->parts[was].flight];
        for (int d = 0; d < 3; d++) {
            root->acceleration[d] += more->acceleration[d];
            root->angular_acceleration[d] += more->angular_acceleration[d];
        }
    }
    memcpy(state->work->next_roots, state->roots, (size_t)after->free_count * sizeof *state->roots);
}

/* Accelerations that the forces ask for. In no time nothing moves, so that one pass is as good as two. */
static bough_status accelerate(bough_context *ctx, const bough_model *model, bough_state *state) {
    const int32_t passes = state->passes;
    state->passes = 1;
    const bough_status status = bough_step(ctx, model, state, 0);
    state->passes = passes;
    return status;
}

/* See add_rest(); the state stays as it is. False when its forces do not tell. */
static bool find_rest(bough_context *ctx, const bough_model *now, bough_state *state, double *rest,
                      bough_root *root_rest) {
    const size_t size = (size_t)now->size * sizeof *rest, roots = (size_t)now->free_count * sizeof *root_rest;
    memcpy(rest, state->a, size);
    memcpy(root_rest, state->roots, roots);
    if (state->work->integrator || accelerate(ctx, now, state) != BOUGH_OK)
        return false;
    for (int32_t k = 0; k < now->size; k++) {
        const double of_step = rest[k];
        rest[k] -= state->a[k];
        state->a[k] = of_step;
    }
    for (int32_t k = 0; k < now->free_count; k++) {
        const bough_root of_step = root_rest[k];
        for (int d = 0; d < 3; d++) {
            root_rest[k].acceleration[d] -= state->roots[k].acceleration[d];
            root_rest[k].angular_acceleration[d] -= state->roots[k].angular_acceleration[d];
        }
        state->roots[k] = of_step;
    }
    memcpy(state->work->next_roots, state->roots, roots);
    return true;
}

/* The state on its new layout, with the velocities and accelerations that it has there. */
static bough_status settle_in(bough_context *ctx, const bough_model *before, bough_state *state, const edit *e) {
    const bough_model *model = state->work->own;
    start_coordinates(before, model, state, e->new);
    if (e->impact)
        BO_TRY(share_momenta(ctx, state, e->new));
    BO_TRY(bough_state_update(ctx, model, state));
    if (state->work->integrator)
        return BOUGH_OK;
    if (accelerate(ctx, model, state) == BOUGH_OK) {
        if (e->rest)
            add_rest(before, model, state, e->rest, e->root_rest);
        return BOUGH_OK;
    }
    memset(state->a, 0, (size_t)model->size * sizeof *state->a);
    return bough_state_update(ctx, model, state);
}

/* Coordinates, velocities and accelerations, and frames, to go back to; what find_rest() finds. */
static size_t kept_count(const bough_model *model, const bough_model *now) {
    return 4 * (size_t)model->size + ((size_t)model->def.part_count * sizeof(bough_frame) +
                                      (size_t)now->free_count * sizeof(bough_root) + sizeof(double) - 1) /
                                         sizeof(double);
}

static bough_status shift_state(edit *e, bough_state *state, double *kept) {
    bo_tree_shift shift;
    const size_t size = 3 * (size_t)e->model->size * sizeof(double);
    const size_t frames = (size_t)e->model->def.part_count * sizeof(bough_frame);
    bough_part_def *parts = e->parts;
    e->parts = NULL;
    memcpy(kept, state->q, size);
    memcpy(kept + 3 * e->model->size, state->frames, frames);
    double *rest = kept + 3 * e->model->size + frames / sizeof(double);
    bough_root *root_rest = (bough_root *)(void *)(rest + e->model->size);
    memcpy(state->frames, e->frames, frames);
    bough_status status = bo_tree_begin_shift(e->ctx, e->model, state, parts, &shift);
    if (status == BOUGH_OK) {
        memcpy(state->frames, kept + 3 * e->model->size, frames);
        if (find_rest(e->ctx, e->now, state, rest, root_rest))
            e->rest = rest, e->root_rest = root_rest;
        memcpy(state->frames, e->frames, frames);
        exchange(state, &shift);
        status = settle_in(e->ctx, e->now, state, e);
        if (status != BOUGH_OK)
            exchange(state, &shift);
        else
            bo_tree_open_seams(e->model, state);
        bo_tree_drop_shift(e->ctx, &shift);
    }
    if (status != BOUGH_OK) {
        memcpy(state->q, kept, size);
        memcpy(state->frames, kept + 3 * e->model->size, frames);
    }
    return status;
}

bough_status bough_state_change(bough_context *ctx, const bough_model *model, bough_state *state, int32_t count,
                                const bough_change *changes) {
    const bough_model *now = bo_tree_now(model, state);
    BO_TRY(bo_tree_come_back(ctx, now, state));
    bo_tree_publish_frames(ctx, now, state);
    edit e = {.ctx = ctx,
              .model = model,
              .now = now,
              .state = state,
              .parts = bo_tree_copy_links(ctx, now),
              .frames = BO_NEW_ARRAY(ctx, bough_frame, model->def.part_count),
              .new = BO_NEW_ZEROS(ctx, bool, model->def.part_count)};
    double *kept = BO_NEW_ARRAY(ctx, double, kept_count(model, now));
    bough_status status = e.parts && e.frames && e.new &&kept ? BOUGH_OK : BOUGH_ERROR_MEMORY;
    if (status == BOUGH_OK)
        memcpy(e.frames, state->frames, (size_t)model->def.part_count * sizeof *e.frames);
    for (int32_t i = 0; i < count && status == BOUGH_OK; i++)
        status = apply(&e, &changes[i]);
    if (status == BOUGH_OK && count > 0)
        status = shift_state(&e, state, kept);
    bo_free(ctx, e.parts);
    bo_free(ctx, e.frames);
    bo_free(ctx, e.new);
    bo_free(ctx, kept);
    return status;
}

bough_status bough_state_detach(bough_context *ctx, const bough_model *model, bough_state *state, int32_t part) {
    return bough_state_change(ctx, model, state, 1, &(bough_change){.kind = BOUGH_CHANGE_DETACH, .part = part});
}

bough_status bough_state_attach(bough_context *ctx, const bough_model *model, bough_state *state, int32_t part,
                                int32_t parent, int32_t interface) {
    return bough_state_change(
        ctx, model, state, 1,
        &(bough_change){.kind = BOUGH_CHANGE_ATTACH, .part = part, .parent = parent, .interface = interface});
}

bough_status bough_state_lock(bough_context *ctx, const bough_model *model, bough_state *state, int32_t part,
                              bool locked) {
    return bough_state_change(ctx, model, state, 1,
                              &(bough_change){.kind = locked ? BOUGH_CHANGE_LOCK : BOUGH_CHANGE_UNLOCK, .part = part});
}

const bough_part_def *bough_state_parts(const bough_model *model, const bough_state *state) {
    return bo_tree_now(model, state)->def.parts;
}
