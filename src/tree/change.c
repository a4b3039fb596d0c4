/* Parts that are detached, attached, locked, removed and added while a state runs. docs/theory/tree.md, "Changes".
 *
 * A changed state has a model of its own: the same parts and tables, laid out anew with the parts where they hang now.
 * So the steps know nothing of changes. */
#include "tree/change.h"

#include "tree/couple.h"
#include "tree/ledger.h"
#include "tree/log.h"
#include "tree/surface.h"
#include "tree/system.h"

#include <string.h>

/* ---- another layout ---- */

bough_part_def *bo_tree_copy_links(bough_context *ctx, const bough_tree_model *now) {
    bough_part_def *parts = BO_NEW_ARRAY(ctx, bough_part_def, now->def.part_count);
    if (parts)
        memcpy(parts, now->def.parts, (size_t)now->def.part_count * sizeof *parts);
    return parts;
}

void bo_tree_free_own(bough_context *ctx, bough_tree_model *own) {
    if (!own)
        return;
    bo_tree_free_layout(ctx, own);
    bo_free(ctx, (void *)own->def.parts);
    bo_free(ctx, own);
}

static bough_status make_own(bough_context *ctx, const bough_tree_model *base, bough_part_def *parts,
                             bough_tree_model **out) {
    bough_tree_model *own = *out = BO_NEW(ctx, bough_tree_model);
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

/* Copies where the interfaces of a part were found last, and what acts on its frame. */
static void carry_over(const bough_tree_model *from, const bo_tree_work *old, const bough_tree_model *to,
                       bo_tree_work *work) {
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
    memcpy(work->blow, old->blow, (size_t)to->size * sizeof *work->blow);
    memcpy(work->blow_wrench, old->blow_wrench, 6 * (size_t)to->def.part_count * sizeof *work->blow_wrench);
    memcpy(work->quiet, old->quiet, ((size_t)to->def.part_count + 3) * sizeof *work->quiet);
    for (int32_t i = 0; i < to->def.tie_count; i++)
        if (!to->ties[i].broken)
            work->tie_motion[i] = old->tie_motion[i];
    work->pushed = old->pushed;
}

static void start_flights(const bough_tree_model *from, const bough_tree_state *state, const bough_tree_model *to,
                          bough_tree_root *roots) {
    for (int32_t i = 0; i < to->levels[0].end_part; i++) {
        const bo_tree_part *part = &to->parts[i];
        const int32_t before = from->inside[part->user];
        if (!part->free)
            continue;
        bough_tree_root *root = &roots[part->flight];
        if (before >= 0 && from->parts[before].free) {
            *root = state->roots[from->parts[before].flight];
            continue;
        }
        const bough_frame *frame = &state->frames[part->user];
        root->part = part->user;
        memcpy(root->pose.position, frame->pose.position, sizeof root->pose.position);
        memcpy(root->pose.rotation, frame->pose.rotation, sizeof root->pose.rotation);
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

bough_status bo_tree_begin_shift(bough_context *ctx, const bough_tree_model *model, bough_tree_state *state,
                                 bough_part_def *parts, bo_tree_shift *shift) {
    const bough_tree_model *now = bo_tree_now(model, state);
    *shift = (bo_tree_shift){0};
    bough_status status = make_own(ctx, model, parts, &shift->own);
    if (status == BOUGH_OK)
        status = bo_tree_make_work(ctx, shift->own, &shift->work);
    if (status == BOUGH_OK) {
        shift->roots = BO_NEW_ZEROS(ctx, bough_tree_root, 2 * (size_t)shift->own->free_count);
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
    shift->work.gravity = state->gravity;
    carry_over(now, bo_tree_work_of(state), shift->own, &shift->work);
    start_flights(now, state, shift->own, shift->roots);
    return BOUGH_OK;
}

/* The shift keeps what the state stood on. */
static void exchange(bough_tree_state *state, bo_tree_shift *shift) {
    bo_tree_shift old = {bo_tree_work_of(state)->own, *bo_tree_work_of(state), state->roots, state->root_count};
    *bo_tree_work_of(state) = shift->work;
    bo_tree_work_of(state)->own = shift->own;
    bo_tree_work_of(state)->surface_work = old.work.surface_work;
    bo_tree_work_of(state)->log = old.work.log;
    bo_tree_work_of(state)->touch = old.work.touch;
    state->roots = shift->roots;
    state->root_count = shift->root_count;
    *shift = old;
}

void bo_tree_make_shift(bough_context *ctx, const bough_tree_model *model, bough_tree_state *state,
                        bo_tree_shift *shift) {
    exchange(state, shift);
    bo_tree_open_seams(model, state);
    bo_tree_drop_shift(ctx, shift);
}

/* ---- velocities after an impact ---- */

/* Momenta of a part that moves with V (its axes) and v: [I V + Mrq v; Mrq^T V + M v] */
static void give_momenta(const bough_tree_model *model, bo_tree_work *work, const bo_tree_part *part, int32_t index,
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
static void motion_before(const bough_tree_state *state, const bough_tree_model *model, const bo_tree_part *part,
                          bool new, double V[6]) {
    const bo_tree_frames *f = &bo_tree_work_of(state)->frames[part->slot / 4];
    const bough_frame *frame = &state->frames[part->user];
    bo_mat3 R;
    (void)model;
    if (new) {
        bo_tree_velocity(bo_tree_work_of(state), part, V);
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

/* When parts that move differently are joined, forces act for no time, along the directions in which the new tree
 * cannot move. So its velocities have the momenta of the old ones in all directions in which it can: with the masses M
 * and the motion V of all parts as the tree makes it of its velocities, V = P u, these are P^T M P u = P^T M V_old,
 * which is a step of the exact coupling with momenta for forces, no velocities, and u for accelerations. */
static bough_status share_momenta(bough_context *ctx, bough_tree_state *state, const bool *new) {
    static const bo_tree_scheme masses = {.inert = true};
    const bo_tree_mode as_is = {0},
                       sudden = {
                           .coupling = BOUGH_COUPLING_L3, .weightless = true, .sudden = true, .lead_time = state->time};
    bo_tree_work *w = bo_tree_work_of(state);
    const bough_tree_model *model = w->own;
    bo_tree_place_roots(model, w, state->roots, state->time, false);
    if (!bo_tree_move(ctx, model, w, &as_is, state->q, state->v))
        return crushed(ctx);
    bo_tree_weigh(ctx, model, state, &as_is, state->q, state->v);
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
    bo_tree_place_roots(model, w, state->roots, state->time, true);
    if (!bo_tree_move(ctx, model, w, &as_is, state->q, state->v))
        return crushed(ctx);
    bo_tree_pass pass = {.model = model,
                         .state = state,
                         .work = w,
                         .mode = sudden,
                         .q = state->q,
                         .v = state->v,
                         .scheme = &masses,
                         .elastic = true,
                         .solve = true,
                         .inertias = true};
    w->loaded = true; /* by the momenta */
    const bool solved = bo_tree_prepare(ctx, &pass) && bo_tree_solve(ctx, model, w, &sudden, state->v);
    w->loaded = false;
    if (!solved)
        return bo_fail(ctx, BOUGH_NO_CONVERGENCE, "the masses of the changed tree are singular");
    for (int32_t k = 0; k < model->free_count; k++) {
        bough_tree_root *root = &state->roots[k];
        const int32_t slot = model->parts[model->inside[root->part]].slot;
        double A[6];
        bo_mat3 R;
        memcpy(R.m, root->pose.rotation, sizeof R.m);
        for (int d = 0; d < 6; d++)
            A[d] = BO_LANE_CONST(w->inertias[slot / 4].A[d], slot % 4);
        bo_store3(root->velocity, bo_mat_vec(R, bo_load3(A)));
        bo_store3(root->angular_velocity, bo_mat_vec(R, bo_load3(A + 3)));
    }
    return BOUGH_OK;
}

/* ---- changes ---- */

/* The parts as a list of changes makes them. */
typedef struct {
    bough_context *ctx;
    const bough_tree_model *model, *now;
    const bough_tree_state *state;
    bough_part_def *parts;
    bough_frame *frames; /* those of the state; of roots that are added, their poses */
    bool *new;           /* parts that are added, or put back: they move with what they hang on */
    bool impact;         /* velocities may have to change */
    bool own;            /* the engine may put trees to sleep */
} edit;

static bough_status refuse(const edit *e, int32_t part, const char *why) {
    return bo_fail(e->ctx, BOUGH_ERROR_ARGUMENT, "part \"%s\" (number %d) %s", e->parts[part].name, part, why);
}

static void become_root(edit *e, int32_t part, bool free) {
    bough_part_def *p = &e->parts[part];
    p->parent = -1, p->interface_index = 0;
    p->free = free;
    p->track.count = 0; /* it stays where it is */
    p->joint = NULL;
    memset(p->offset, 0, sizeof p->offset);
    memcpy(p->rotation, e->frames[part].pose.rotation, sizeof p->rotation);
    memcpy(p->position, e->frames[part].pose.position, sizeof p->position);
}

/* Axes and origin against the interface as it lies now. */
static bough_status hang_as_it_lies(edit *e, const bough_change *c) {
    bough_part_def *p = &e->parts[c->part];
    if (c->parent >= e->now->def.part_count || e->parts[c->parent].absent || e->now->inside[c->parent] < 0)
        return refuse(e, c->part, "cannot be attached to a part that is absent");
    const bough_part_def *parent = &e->parts[c->parent];
    const bough_component *component = e->model->def.components[parent->component];
    if (c->interface_index < 0 || c->interface_index >= component->interface_count)
        return refuse(e, c->part, "cannot be attached at an interface that does not exist");
    const bough_frame *child = &e->frames[c->part], *above = &e->frames[c->parent];
    double centre[3];
    bo_mat3 face, Rp, Rc;
    if (!bough_component_interface_frame(component, c->interface_index, e->state->q + e->model->offsets[c->parent],
                                         centre, face.m))
        return crushed(e->ctx);
    memcpy(Rp.m, above->pose.rotation, sizeof Rp.m);
    memcpy(Rc.m, child->pose.rotation, sizeof Rc.m);
    const bo_vec3 x = bo_mat_tvec(Rp, bo_sub(bo_load3(child->pose.position), bo_load3(above->pose.position)));
    const bo_mat3 rest = bo_mat_mul(bo_transpose(face), bo_mat_mul(bo_transpose(Rp), Rc));
    p->parent = c->parent, p->interface_index = c->interface_index, p->free = false, p->track.count = 0;
    p->joint = NULL;
    memcpy(p->rotation, rest.m, sizeof p->rotation);
    bo_store3(p->offset, bo_mat_tvec(face, bo_sub(x, bo_scale(parent->scale, bo_load3(centre)))));
    return BOUGH_OK;
}

static bough_status attach(edit *e, const bough_change *c) {
    e->impact = true;
    if (c->parent < -1)
        return refuse(e, c->part, "cannot be attached to a part that does not exist");
    if (c->parent >= 0)
        return hang_as_it_lies(e, c);
    if (e->model->def.components[e->parts[c->part].component]->support == BOUGH_SUPPORT_FREE)
        return refuse(e, c->part, "was cooked to fly and cannot be held");
    become_root(e, c->part, false);
    return BOUGH_OK;
}

/* In the tree as the list has made it so far, which may have a loop that is yet to be refused. */
static bool hung_on_absent(const edit *e, int32_t part) {
    int32_t above = e->model->def.parts[part].parent;
    for (int32_t i = 0; i < e->now->def.part_count && above >= 0; i++, above = e->parts[above].parent)
        if (e->parts[above].absent)
            return true;
    return false;
}

static bough_status reattach(edit *e, int32_t part) {
    const bough_part_def *from = &e->model->def.parts[part];
    bough_part_def *p = &e->parts[part];
    if (hung_on_absent(e, part))
        return refuse(e, part, "cannot go back to a part that is absent; add that first");
    p->parent = from->parent, p->interface_index = from->interface_index, p->free = from->free;
    p->track.count = from->track.count;
    p->joint = from->joint;
    memcpy(p->rotation, from->rotation, sizeof p->rotation);
    memcpy(p->position, from->position, sizeof p->position);
    memcpy(p->offset, from->offset, sizeof p->offset);
    e->new[part] = true;
    return BOUGH_OK;
}

static bough_status add(edit *e, const bough_change *c) {
    bough_part_def *p = &e->parts[c->part];
    if (!p->absent || e->now->inside[c->part] >= 0) /* nor is it removed and added at once */
        return refuse(e, c->part, "is there already");
    p->absent = false;
    e->new[c->part] = true; /* those that hang on it are found when the tree is laid out */
    if (p->parent >= 0)
        return BOUGH_OK;
    e->frames[c->part] = c->frame;
    memcpy(p->rotation, c->frame.pose.rotation, sizeof p->rotation);
    memcpy(p->position, c->frame.pose.position, sizeof p->position);
    for (int k = 0; k < 3; k++)
        if (!(c->frame.velocity[k] * 0 == 0 && c->frame.angular_velocity[k] * 0 == 0))
            return refuse(e, c->part, "has a velocity that is not finite");
    return BOUGH_OK;
}

/* Whatever happens to a part wakes its tree. */
static void wake(edit *e, int32_t part) {
    for (int32_t i = 0; i < e->now->def.part_count && part >= 0; i++, part = e->parts[part].parent)
        e->parts[part].asleep = false;
}

static bough_status apply(edit *e, const bough_change *c) {
    if (c->part < 0 || c->part >= e->now->def.part_count)
        return bo_fail(e->ctx, BOUGH_ERROR_ARGUMENT, "part %d does not exist: the model has %d", c->part,
                       e->now->def.part_count);
    wake(e, c->part);
    if (c->kind == BOUGH_CHANGE_ATTACH && c->parent >= 0 && c->parent < e->now->def.part_count)
        wake(e, c->parent);
    if (c->kind == BOUGH_CHANGE_ADD)
        return add(e, c);
    if (e->now->inside[c->part] < 0)
        return refuse(e, c->part, "is absent; add it first");
    if (e->own) {
        e->parts[c->part].asleep = (int)c->kind == BO_CHANGE_REST;
        return BOUGH_OK;
    }
    switch (c->kind) {
    case BOUGH_CHANGE_DETACH:
        become_root(e, c->part, true);
        return BOUGH_OK;
    case BOUGH_CHANGE_ATTACH:
        return attach(e, c);
    case BOUGH_CHANGE_REATTACH:
        return reattach(e, c->part);
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

static bool hangs_in_joint(const bough_tree_model *model, int32_t user) {
    return model->inside[user] >= 0 && model->parts[model->inside[user]].joint >= 0;
}

/* Parts that are added are at rest in their shape; parts that are gone stand still. What hangs on new ones is new. */
static void start_coordinates(const bough_tree_model *base, const bough_tree_model *before, bough_tree_state *state,
                              bool *new) {
    const bough_tree_model *after = bo_tree_work_of(state)->own;
    for (int32_t user = 0; user < after->def.part_count; user++) {
        const int32_t r = after->def.components[after->def.parts[user].component]->r;
        const size_t bytes = (size_t)r * sizeof(double);
        const bool added = before->inside[user] < 0 && after->inside[user] >= 0;
        if (added)
            memset(state->q + after->offsets[user], 0, bytes);
        if (added || after->inside[user] < 0) {
            memset(state->v + after->offsets[user], 0, bytes);
            memset(state->a + after->offsets[user], 0, bytes);
            memset(state->mean_a + after->offsets[user], 0, bytes);
        }
        if (!hangs_in_joint(before, user) || !hangs_in_joint(after, user))
            bo_tree_start_joint(base, state, user); /* where nothing hangs in it, too */
    }
    for (int32_t i = 0; i < after->part_count; i++) { /* parents come first */
        const bo_tree_part *part = &after->parts[i];
        new[part->user] = new[part->user] || (part->parent >= 0 && new[after->parts[part->parent].user]);
    }
}

/* Trees that sleep stand still, and no force of contact is left over from their last step. */
static void lie_still(const bough_tree_model *model, bough_tree_state *state) {
    bo_tree_work *w = bo_tree_work_of(state);
    for (int32_t i = 0; i < model->part_count; i++) {
        const bo_tree_part *part = &model->parts[i];
        const int32_t joint = part->joint >= 0 ? model->joints[part->joint].count : 0;
        const int32_t from[2] = {part->offset, joint ? model->joints[part->joint].offset : 0},
                      count[2] = {part->r, joint};
        double *const arrays[4] = {state->v, state->a, state->mean_a, w->blow};
        if (!part->asleep)
            continue;
        for (int k = 0; k < 8; k++)
            for (int32_t l = 0; l < count[k % 2]; l++)
                arrays[k / 2][from[k % 2] + l] = 0;
        for (int d = 0; d < 6; d++)
            w->blow_wrench[6 * part->user + d] = 0;
        if (part->free) {
            bough_tree_root *root = &state->roots[part->flight];
            for (int d = 0; d < 3; d++)
                root->velocity[d] = root->angular_velocity[d] = root->acceleration[d] = root->angular_acceleration[d] =
                    root->blow[d] = 0;
        }
    }
}

/* The state on its new layout, with the velocities that it has there. Accelerations jump, but those of the last step
 * are kept: solved for anew, M^-1 f would shake stiff coordinates, which a step has long damped, by all that rounding
 * leaves of their forces, times (dt / period)^2 in the next step. */
static bough_status settle_in(bough_context *ctx, const bough_tree_model *before, bough_tree_state *state,
                              const edit *e) {
    const bough_tree_model *model = bo_tree_work_of(state)->own;
    start_coordinates(e->model, before, state, e->new);
    if (model->has_sleepers)
        lie_still(model, state);
    if (e->impact)
        BO_TRY(share_momenta(ctx, state, e->new));
    for (int32_t i = 0; i < model->part_count; i++)
        if (model->parts[i].locked) {
            const size_t bytes = (size_t)model->parts[i].r * sizeof *state->a;
            memset(state->a + model->parts[i].offset, 0, bytes);
            memset(state->mean_a + model->parts[i].offset, 0, bytes);
        }
    return bo_tree_update(ctx, model, state);
}

/* ---- trees that nothing happened to ---- */

/* The roots (outside numbers) of all parts of a layout; -1: absent. */
static void find_roots(const bough_tree_model *model, int32_t *root) {
    for (int32_t user = 0; user < model->def.part_count; user++)
        root[user] = -1;
    for (int32_t i = 0; i < model->part_count; i++) { /* parents come first */
        const bo_tree_part *part = &model->parts[i];
        root[part->user] = part->parent < 0 ? part->user : root[model->parts[part->parent].user];
    }
}

/* A tree is touched when one of its parts is, before or after, or when a tie leads to one that is. */
static void mark_touched(const bough_tree_model *before, const bough_tree_model *after, const int32_t *old,
                         const int32_t *root, bool *touched) {
    for (int32_t user = 0; user < after->def.part_count; user++) {
        const bool same = old[user] >= 0 && root[user] >= 0 &&
                          memcmp(&before->def.parts[user], &after->def.parts[user], sizeof *after->def.parts) == 0;
        if (!same && old[user] >= 0)
            touched[old[user]] = true;
        if (!same && root[user] >= 0)
            touched[root[user]] = true;
    }
    for (bool more = true; more;) {
        more = false;
        for (int32_t i = 0; i < after->def.tie_count; i++) {
            const int32_t a = after->def.ties[i].parent.body, b = after->def.ties[i].child.body;
            const int32_t ends[4] = {old[a], b < 0 ? -1 : old[b], root[a], b < 0 ? -1 : root[b]};
            bool any = false;
            for (int k = 0; k < 4; k++)
                any = any || (ends[k] >= 0 && touched[ends[k]]);
            for (int k = 0; k < 4 && any; k++)
                if (ends[k] >= 0 && !touched[ends[k]])
                    touched[ends[k]] = more = true;
        }
    }
}

/* Accelerations, and rotations from which the decompositions start, are computed anew by a change. Those of other trees
 * become what they were, so that these go on with the same bits as if nothing had happened. kept: q, v, a and mean_a
 * before. */
static void leave_alone(const bough_tree_model *before, const bo_tree_shift *old, bough_tree_state *state,
                        const bool *alone, const double *kept) {
    bo_tree_work *w = bo_tree_work_of(state);
    const bough_tree_model *after = w->own;
    double *const now[4] = {state->q, state->v, state->a, state->mean_a};
    for (int32_t i = 0; i < after->part_count; i++) {
        const bo_tree_part *part = &after->parts[i];
        if (!alone[part->user])
            continue;
        const bo_tree_part *was = &before->parts[before->inside[part->user]];
        const int32_t joint = part->joint >= 0 ? after->joints[part->joint].count : 0;
        for (int k = 0; k < 4; k++) {
            const double *from = kept + (size_t)k * (size_t)after->size;
            memcpy(now[k] + part->offset, from + part->offset, (size_t)part->r * sizeof *from);
            for (int32_t d = 0; d < joint; d++)
                now[k][after->joints[part->joint].offset + d] = from[after->joints[part->joint].offset + d];
        }
        if (part->free)
            state->roots[part->flight] = old->roots[was->flight];
        for (int32_t f = 0; f < after->components[part->component].face_vectors && part->faces >= 0; f++)
            if (before->face_used[was->faces + f])
                memcpy(w->faces[part->faces + f].polar, old->work.starts + 9 * (was->faces + f),
                       sizeof w->faces->polar);
    }
    for (int32_t i = 0; i < after->def.tie_count; i++)
        if (alone[after->def.ties[i].parent.body])
            w->tie_motion[i] = old->work.tie_motion[i];
}

static bough_status keep_others(bough_context *ctx, const bough_tree_model *before, const bo_tree_shift *old,
                                bough_tree_state *state, const double *kept) {
    const bough_tree_model *after = bo_tree_work_of(state)->own;
    const size_t parts = (size_t)after->def.part_count;
    int32_t *roots = BO_NEW_ARRAY(ctx, int32_t, 2 * parts);
    bool *touched = BO_NEW_ZEROS(ctx, bool, 2 * parts), *alone = touched ? touched + parts : NULL;
    bough_status status = roots && touched ? BOUGH_OK : BOUGH_ERROR_MEMORY;
    if (status == BOUGH_OK) {
        find_roots(before, roots);
        find_roots(after, roots + parts);
        mark_touched(before, after, roots, roots + parts, touched);
        for (size_t user = 0; user < parts; user++)
            alone[user] = roots[parts + user] >= 0 && !touched[roots[parts + user]] && !touched[roots[user]];
        leave_alone(before, old, state, alone, kept);
        bo_ledger_shift(before, after, state, alone);
        bo_tree_work_of(state)->frames_stale = true;
        status = bo_tree_come_back(ctx, after, state);
    }
    if (status == BOUGH_OK)
        bo_tree_publish_frames(ctx, after, state);
    bo_free(ctx, roots);
    bo_free(ctx, touched);
    return status;
}

/* Coordinates, velocities and accelerations, and frames, to go back to. */
static size_t kept_count(const bough_tree_model *model) {
    return 4 * (size_t)model->size + (size_t)model->def.part_count * (sizeof(bough_frame) / sizeof(double));
}

static bough_status shift_state(edit *e, bough_tree_state *state, double *kept) {
    bo_tree_shift shift;
    const size_t size = 4 * (size_t)e->model->size * sizeof(double);
    const size_t frames = (size_t)e->model->def.part_count * sizeof(bough_frame);
    bough_part_def *parts = e->parts;
    e->parts = NULL;
    memcpy(kept, state->q, size);
    memcpy(kept + 4 * e->model->size, state->frames, frames);
    memcpy(state->frames, e->frames, frames);
    bough_status status = bo_tree_begin_shift(e->ctx, e->model, state, parts, &shift);
    if (status == BOUGH_OK) {
        exchange(state, &shift);
        status = settle_in(e->ctx, e->now, state, e);
        if (status == BOUGH_OK)
            status = keep_others(e->ctx, e->now, &shift, state, kept);
        if (status != BOUGH_OK)
            exchange(state, &shift);
        else
            bo_tree_open_seams(e->model, state);
        bo_tree_drop_shift(e->ctx, &shift);
    }
    if (status != BOUGH_OK) {
        memcpy(state->q, kept, size);
        memcpy(state->frames, kept + 4 * e->model->size, frames);
    }
    return status;
}

static bough_status change(bough_context *ctx, const bough_tree_model *model, bough_tree_state *state, int32_t count,
                           const bough_change *changes, bool own) {
    const bough_tree_model *now = bo_tree_now(model, state);
    BO_TRY(bo_tree_come_back(ctx, now, state));
    bo_tree_publish_frames(ctx, now, state);
    edit e = {.ctx = ctx,
              .model = model,
              .now = now,
              .state = state,
              .own = own,
              .parts = bo_tree_copy_links(ctx, now),
              .frames = BO_NEW_ARRAY(ctx, bough_frame, model->def.part_count),
              .new = BO_NEW_ZEROS(ctx, bool, model->def.part_count)};
    double *kept = BO_NEW_ARRAY(ctx, double, kept_count(model));
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

bough_status bo_tree_rest_some(bough_context *ctx, const bough_tree_model *model, bough_tree_state *state,
                               int32_t count, const bough_change *changes) {
    return change(ctx, model, state, count, changes, true);
}

bough_status bough_tree_state_change(bough_context *ctx, const bough_tree_model *model, bough_tree_state *state,
                                     int32_t count, const bough_change *changes) {
    BO_TRY(bo_log_begin(ctx, model, state, &(bo_log_act){.kind = BO_LOG_CHANGE, .count = count, .changes = changes}));
    return bo_log_end(ctx, model, state, change(ctx, model, state, count, changes, false));
}

bough_status bough_tree_state_detach(bough_context *ctx, const bough_tree_model *model, bough_tree_state *state,
                                     int32_t part) {
    return bough_tree_state_change(ctx, model, state, 1, &(bough_change){.kind = BOUGH_CHANGE_DETACH, .part = part});
}

bough_status bough_tree_state_attach(bough_context *ctx, const bough_tree_model *model, bough_tree_state *state,
                                     int32_t part, int32_t parent, int32_t interface) {
    return bough_tree_state_change(
        ctx, model, state, 1,
        &(bough_change){.kind = BOUGH_CHANGE_ATTACH, .part = part, .parent = parent, .interface_index = interface});
}

bough_status bough_tree_state_lock(bough_context *ctx, const bough_tree_model *model, bough_tree_state *state,
                                   int32_t part, bool locked) {
    return bough_tree_state_change(
        ctx, model, state, 1, &(bough_change){.kind = locked ? BOUGH_CHANGE_LOCK : BOUGH_CHANGE_UNLOCK, .part = part});
}

const bough_part_def *bough_tree_state_parts(const bough_tree_model *model, const bough_tree_state *state) {
    return bo_tree_now(model, state)->def.parts;
}
