/* Ties: stiff damped springs between two frames, which close loops. docs/theory/tree.md, "Ties".
 *
 * The force on the second end is -p - H a, with a its acceleration against the first one: the rule by which the forces
 * of parts are integrated (tree.h, bo_tree_scheme), for a spring that pulls with stiffness times e. Without ties the
 * parts accelerate by a0; forces f on the ties change that to a0 + W f, with W their answers (respond.c). With S^2 = H:
 *     f = -p - S z,   z = S a   ->   (1 + S W S) z = S (a0 - W p)
 * which is positive definite for any stiffness. */
#include "tree/couple.h"

#include "dense/cholesky.h"
#include "rig/body.h"
#include "rig/joint.h"

#include <math.h>
#include <string.h>

static bool equal_springs(const double springs[BO_MOST_FREEDOMS]) {
    return springs[1] == springs[0] && springs[2] == springs[0] && springs[4] == springs[3] && springs[5] == springs[3];
}

/* Refuses settings of rig's joints that ties do not have. */
static bough_status check_settings(bough_context *ctx, const char *label, const bough_joint_def *tie) {
    const bough_pose none = bough_default_pose();
    if (tie->kind != BOUGH_JOINT_COMPLIANT)
        return bo_fail(ctx, BOUGH_ERROR_UNSUPPORTED, "%s is %s; ties are of the kind BOUGH_JOINT_COMPLIANT", label,
                       bough_joint_name(tie->kind));
    if (tie->compliance || !equal_springs(tie->stiffness) || !equal_springs(tie->damping))
        return bo_fail(ctx, BOUGH_ERROR_UNSUPPORTED,
                       "%s needs one stiffness and damping along all axes, and one about all of them", label);
    for (int k = 0; k < BO_MOST_FREEDOMS; k++)
        if (tie->start[k] != 0 || tie->offset[k] != 0 || tie->friction[k] != 0 || tie->lower[k] != -INFINITY ||
            tie->upper[k] != INFINITY)
            return bo_fail(ctx, BOUGH_ERROR_UNSUPPORTED, "%s: ties have no start, offset, limits and friction", label);
    if (memcmp(&tie->parent.pose, &none, sizeof none) != 0 || memcmp(&tie->child.pose, &none, sizeof none) != 0)
        return bo_fail(
            ctx, BOUGH_ERROR_UNSUPPORTED,
            "%s: a tie meets where its first interface is at rest; leave the poses of its frames as they are", label);
    return BOUGH_OK;
}

bough_status bo_tree_check_tie(bough_context *ctx, const bough_tree_model_def *def, int32_t index) {
    const bough_joint_def *tie = &def->ties[index];
    const bo_label label = bo_label_of("tie", index, bo_joint_is_made(tie) ? tie->name : NULL);
    BO_TRY(bo_joint_check(ctx, label.text, tie));
    if (def->tie_count > BO_MOST_TIES)
        return bo_fail(ctx, BOUGH_ERROR_ARGUMENT, "a model may have %d ties at most, not %d", BO_MOST_TIES,
                       def->tie_count);
    for (int end = 0; end < 2; end++) {
        const bough_frame_def *frame = bo_joint_end(tie, end);
        if (end == 1 && frame->body == BOUGH_WORLD)
            continue;
        if (frame->body < 0 || frame->body >= def->part_count)
            return bo_fail(ctx, BOUGH_ERROR_ARGUMENT, "%s: part %d does not exist", label.text, frame->body);
        const bough_component *c = def->components[def->parts[frame->body].component];
        if (frame->interface_index < 0 || frame->interface_index >= c->interface_count)
            return bo_fail(ctx, BOUGH_ERROR_ARGUMENT, "%s: part %d has no interface %d", label.text, frame->body,
                           frame->interface_index);
    }
    if (tie->parent.body == tie->child.body)
        return bo_fail(ctx, BOUGH_ERROR_ARGUMENT, "%s ties a part to itself", label.text);
    return check_settings(ctx, label.text, tie);
}

void bo_tree_mark_tied(const bough_tree_model *model, bool *tied) {
    for (int32_t i = 0; i < model->def.tie_count; i++)
        for (int end = 0; end < 2; end++) {
            const int32_t user = bo_joint_end(&model->def.ties[i], end)->body,
                          part = user < 0 ? -1 : model->inside[user];
            if (part >= 0)
                tied[part] = true;
        }
}

/* ---- ends ---- */

/* Motion of an end, in world axes. */
typedef struct {
    bo_vec3 x, v, w;
    bo_mat3 R;
} motion;

/* The position of an end in its part: x from the origin; y of that from the interface's centre. */
typedef struct {
    bo_vec3 x, y;
    bo_mat3 R;
    bo_vec3 xdot, turning, bias; /* its motion in the part; bias: acceleration without accelerations */
    bo_vec3 turning_bias;
} place;

static place place_of(const bo_tree_work *work, const bo_tree_end *end) {
    const bo_vec3 zero = bo_v3(0, 0, 0);
    if (end->face < 0)
        return (place){end->arm, zero, end->rest, zero, zero, zero, zero};
    const bo_tree_faces *f = &work->faces[end->face / 4];
    const int32_t lane = end->face % 4;
    const bo_mat3 polar = bo_matrix_at(f->polar, lane);
    const bo_vec3 y = bo_mat_vec(polar, end->arm), turning = bo_vector_at(f->turning, lane);
    const bo_vec3 turning_bias = bo_vector_at(f->turning_bias, lane), rate = bo_cross(turning, y);
    return (place){bo_add(bo_vector_at(f->x, lane), y),
                   y,
                   bo_mat_mul(polar, end->rest),
                   bo_add(bo_vector_at(f->xdot, lane), rate),
                   turning,
                   bo_add(bo_cross(turning_bias, y), bo_cross(turning, rate)),
                   turning_bias};
}

static motion motion_of(const bough_tree_model *model, const bo_tree_work *work, const bo_tree_end *end) {
    const bo_vec3 zero = bo_v3(0, 0, 0);
    if (end->part < 0)
        return (motion){end->arm, zero, zero, end->rest};
    const int32_t slot = model->parts[end->part].slot;
    const bo_tree_frames *f = &work->frames[slot / 4];
    const bo_mat3 R = bo_matrix_at(f->world, slot % 4);
    const bo_vec3 v = bo_vector_at(f->v, slot % 4), w = bo_vector_at(f->w, slot % 4);
    const place p = place_of(work, end);
    return (motion){bo_add(bo_vector_at(f->origin, slot % 4), bo_mat_vec(R, p.x)),
                    bo_mat_vec(R, bo_add(bo_add(v, bo_cross(w, p.x)), p.xdot)), bo_mat_vec(R, bo_add(w, p.turning)),
                    bo_mat_mul(R, p.R)};
}

/* e and v of a tie where the frames are, and x of its second end, with its velocity: turns as the rotation vector from
 * the first end's axes to the second's */
static void stretch(const bough_tree_model *model, const bo_tree_work *work, const bo_tree_tie *tie, double e[6],
                    double v[6], double x[3], double dx[3]) {
    const motion a = motion_of(model, work, &tie->ends[0]), b = motion_of(model, work, &tie->ends[1]);
    bo_store3(x, b.x);
    bo_store3(dx, b.v);
    bo_store3(e, bo_sub(b.x, a.x));
    bo_store3(e + 3, bo_mat_vec(a.R, bo_log3(bo_mat_mul(bo_transpose(a.R), b.R))));
    bo_store3(v, bo_sub(b.v, a.v));
    bo_store3(v + 3, bo_sub(b.w, a.w));
}

/* Acceleration of an end, in world axes, less gravity as all frames have it. */
static void end_acceleration(const bough_tree_model *model, const bo_tree_work *work, const bo_tree_mode *mode,
                             const bo_tree_end *end, double out[6]) {
    if (end->part < 0) {
        bo_store3(out, bo_scale(mode->weightless ? 0 : -1, bo_load3(work->gravity)));
        bo_store3(out + 3, bo_v3(0, 0, 0));
        return;
    }
    const int32_t slot = model->parts[end->part].slot;
    const bo_tree_frames *f = &work->frames[slot / 4];
    const bo_tree_inertias *s = &work->inertias[slot / 4];
    const bo_vec3 w = bo_vector_at(f->w, slot % 4), A = bo_vector_at(s->A, slot % 4),
                  B = bo_vector_at(s->A + 3, slot % 4);
    const bo_mat3 R = bo_matrix_at(f->world, slot % 4);
    const place p = place_of(work, end);
    bo_vec3 gain = bo_v3(0, 0, 0), turn = gain;
    if (end->face >= 0) {
        gain = bo_vector_at(work->faces[end->face / 4].gain, end->face % 4);
        turn = bo_vector_at(work->faces[end->face / 4].gain + 3, end->face % 4);
    }
    bo_vec3 a = bo_add(bo_add(A, bo_cross(B, p.x)), bo_add(gain, bo_cross(turn, p.y)));
    a = bo_add(a, bo_add(p.bias, bo_cross(w, bo_add(bo_cross(w, p.x), bo_scale(2, p.xdot)))));
    bo_store3(out, bo_mat_vec(R, a));
    bo_store3(out + 3, bo_mat_vec(R, bo_add(bo_add(B, turn), bo_add(bo_cross(w, p.turning), p.turning_bias))));
}

/* ---- lists ---- */

static bo_tree_end end_of(const bough_tree_model *model, const bough_joint_def *tie, int which) {
    bo_tree_end end = {.part = -1, .face = -1, .arm = {0, 0, 0}, .rest = bo_identity3()};
    const int32_t user = bo_joint_end(tie, which)->body;
    if (user < 0 || model->inside[user] < 0)
        return end;
    end.part = model->inside[user];
    const bo_tree_part *part = &model->parts[end.part];
    end.face_row = model->components[part->component].face_of[bo_joint_end(tie, which)->interface_index];
    end.face = end.face_row < 0 ? -1 : 4 * part->faces + end.face_row;
    return end;
}

/* Parts on the way from the ends to their roots. */
static bough_status list_tied(bough_context *ctx, bough_tree_model *model) {
    bool *on = BO_NEW_ZEROS(ctx, bool, model->part_count);
    model->tied = BO_NEW_ARRAY(ctx, int32_t, model->part_count);
    if (!on || !model->tied) {
        bo_free(ctx, on);
        return BOUGH_ERROR_MEMORY;
    }
    for (int32_t k = 0; k < 2 * model->def.tie_count; k++)
        for (int32_t i = model->ties[k / 2].ends[k % 2].part; i >= 0 && !model->ties[k / 2].broken && !on[i];
             i = model->parts[i].parent)
            on[i] = true;
    model->tied_count = 0;
    for (int32_t i = 0; i < model->part_count; i++)
        if (on[i])
            model->tied[model->tied_count++] = i;
    bo_free(ctx, on);
    return BOUGH_OK;
}

/* The axes and the place of a part at rest, against its parent's or in the world. A root that is led begins at its
 * first key. */
static void rest_seat(const bough_tree_model_def *def, const bough_part_def *part, bo_mat3 *R, bo_vec3 *x) {
    memcpy(R->m, part->rotation, sizeof R->m);
    *x = bo_load3(part->position);
    if (part->parent >= 0) {
        const bough_part_def *parent = &def->parts[part->parent];
        const bough_interface *face = &def->components[parent->component]->interfaces[part->interface_index];
        *x = bo_add(bo_scale(parent->scale, bo_load3(face->centre)), bo_load3(part->offset));
    } else if (part->track.count > 0) {
        const double *q = part->track.rotation;
        *R = bo_quat_to_matrix((bo_quat){q[0], q[1], q[2], q[3]});
        *x = bo_load3(part->track.position);
    }
}

/* The pose of a part at rest, in the world. */
static void rest_pose(const bough_tree_model_def *def, int32_t user, bo_vec3 *x, bo_mat3 *R) {
    *x = bo_v3(0, 0, 0);
    *R = bo_identity3();
    for (; user >= 0; user = def->parts[user].parent) {
        bo_mat3 own;
        bo_vec3 at;
        rest_seat(def, &def->parts[user], &own, &at);
        *x = bo_add(at, bo_mat_vec(own, *x));
        *R = bo_mat_mul(own, *R);
    }
}

static void rest_end(const bough_tree_model_def *def, const bough_joint_def *tie, int which, bo_vec3 *x, bo_mat3 *R) {
    const int32_t user = bo_joint_end(tie, which)->body, face = bo_joint_end(tie, which)->interface_index;
    const bough_part_def *part = &def->parts[user];
    const bough_component *c = def->components[part->component];
    rest_pose(def, user, x, R);
    if (face != c->parent)
        *x = bo_add(*x, bo_mat_vec(*R, bo_scale(part->scale, bo_load3(c->interfaces[face].centre))));
}

/* The first end is the interface itself; the second is carried by its own so that it meets the first at rest. */
static void meet_at_rest(const bough_tree_model_def *def, const bough_joint_def *tie, bo_tree_end *second) {
    bo_vec3 x, y;
    bo_mat3 R, Q;
    rest_end(def, tie, 0, &x, &R);
    if (tie->child.body < 0) {
        second->arm = x, second->rest = R;
        return;
    }
    rest_end(def, tie, 1, &y, &Q);
    second->arm = bo_mat_tvec(Q, bo_sub(x, y));
    second->rest = bo_mat_mul(bo_transpose(Q), R);
}

bough_status bo_tree_list_ties(bough_context *ctx, bough_tree_model *model, const bough_tree_model *base) {
    model->ties = BO_NEW_ZEROS(ctx, bo_tree_tie, model->def.tie_count);
    if (!model->ties)
        return BOUGH_ERROR_MEMORY;
    for (int32_t i = 0; i < model->def.tie_count; i++) {
        const bough_joint_def *from = &model->def.ties[i];
        bo_tree_tie *tie = &model->ties[i];
        *tie = (bo_tree_tie){.ends = {end_of(model, from, 0), end_of(model, from, 1)},
                             .stiffness = {from->stiffness[0], from->stiffness[3]},
                             .damping = {from->damping[0], from->damping[3]}};
        tie->broken = tie->ends[0].part < 0 || (from->child.body >= 0 && tie->ends[1].part < 0);
        for (int end = 0; end < 2; end++)
            if (tie->ends[end].face >= 0)
                model->face_used[tie->ends[end].face / 4] = true;
        if (base) {
            tie->ends[1].arm = base->ties[i].ends[1].arm;
            tie->ends[1].rest = base->ties[i].ends[1].rest;
        } else {
            meet_at_rest(&model->def, from, &tie->ends[1]);
        }
    }
    return list_tied(ctx, model);
}

/* ---- forces ---- */

/* The end of the step as the last pass has it: e, v, and the acceleration a* that led there. So that the force
 * (1 + alpha) (k e+ + c v+) - alpha (k e + c v) is right there, and not only in the direction in which it began. */
static void look_ahead(const bo_tree_pass *pass, int32_t i) {
    const bo_tree_tie *tie = &pass->model->ties[i];
    bo_tree_pull *pull = &pass->work->pulls[i];
    const double strength = pass->state->tie_strength[i], alpha = pass->scheme->alpha;
    double e[6], v[6], x[3], dx[3];
    stretch(pass->model, pass->work, tie, e, v, x, dx);
    memcpy(pull->H, pull->kept_H, sizeof pull->H);
    memcpy(pull->a, pass->work->next_tie_motion[i].a, sizeof pull->a);
    for (int d = 0; d < 6; d++) {
        const double k = strength * tie->stiffness[d / 3], c = strength * tie->damping[d / 3];
        pull->p[d] = (1 + alpha) * (k * e[d] + c * v[d]) - alpha * (k * pull->e[d] + c * pull->v[d]) -
                     pull->H[d / 3] * pull->a[d];
    }
}

void bo_tree_prepare_ties(const bo_tree_pass *pass) {
    const bough_tree_model *model = pass->model;
    const bo_tree_scheme *h = pass->scheme;
    const double more = 1 + h->alpha, dt = h->dt;
    for (int32_t i = 0; i < model->def.tie_count; i++) {
        const bo_tree_tie *tie = &model->ties[i];
        bo_tree_pull *pull = &pass->work->pulls[i];
        const double strength = h->inert || tie->broken ? 0 : pass->state->tie_strength[i];
        const double *a = pass->work->tie_motion[i].a;
        if (!pass->elastic) {
            if (!tie->broken)
                look_ahead(pass, i);
            continue;
        }
        stretch(model, pass->work, tie, pull->e, pull->v, pull->x, pull->dx);
        for (int d = 0; d < 6; d++) {
            const double k = strength * tie->stiffness[d / 3], c = strength * tie->damping[d / 3];
            const double ahead = more * (dt * pull->v[d] + dt * dt * (0.5 - h->beta) * a[d]);
            pull->p[d] = k * (pull->e[d] + ahead) + c * (pull->v[d] + more * dt * (1 - h->gamma) * a[d]);
            pull->H[d / 3] = more * (h->gamma * dt * c + h->beta * dt * dt * k);
        }
        if (pass->keep)
            memcpy(pull->kept_H, pull->H, sizeof pull->H);
    }
}

double bo_tree_tie_correction(const bough_tree_model *model, const bo_tree_work *work) {
    double most = 0;
    for (int32_t i = 0; i < model->def.tie_count; i++)
        for (int d = 0; d < 6; d++)
            most = fmax(most, fabs(work->next_tie_motion[i].a[d] - work->pulls[i].a[d]));
    return most;
}

/* A force on an end (world axes, about it): as bias forces of its part. */
static void push_end(const bough_tree_model *model, const bo_tree_work *work, const bo_tree_end *end,
                     const double force[6], double sign, double *p, double *p_q) {
    if (end->part < 0)
        return;
    const bo_tree_part *part = &model->parts[end->part];
    const bo_mat3 R = bo_matrix_at(work->frames[part->slot / 4].world, part->slot % 4);
    const bo_vec3 f = bo_scale(sign, bo_mat_tvec(R, bo_load3(force)));
    const bo_vec3 t = bo_scale(sign, bo_mat_tvec(R, bo_load3(force + 3)));
    const place at = place_of(work, end);
    double *mine = p + 6 * end->part;
    bo_store3(mine, bo_add(bo_load3(mine), f));
    bo_store3(mine + 3, bo_add(bo_load3(mine + 3), bo_add(t, bo_cross(at.x, f))));
    if (end->face >= 0)
        bo_tree_face_forces(model, work, part, end->face, end->face_row, f, bo_add(t, bo_cross(at.y, f)),
                            p_q + part->offset);
}

static void push_tie(const bough_tree_model *model, const bo_tree_work *work, const bo_tree_tie *tie,
                     const double force[6], double *p, double *p_q) {
    push_end(model, work, &tie->ends[1], force, -1, p, p_q);
    push_end(model, work, &tie->ends[0], force, 1, p, p_q);
}

/* Acceleration of an end by answers A, a of its part, in world axes. */
static bo_vec3 end_answer(const bough_tree_model *model, const bo_tree_work *work, const bo_tree_end *end,
                          const double *A, const double *a, bo_vec3 *turn) {
    const bo_vec3 zero = bo_v3(0, 0, 0);
    *turn = zero;
    if (end->part < 0)
        return zero;
    const bo_tree_part *part = &model->parts[end->part];
    const bo_mat3 R = bo_matrix_at(work->frames[part->slot / 4].world, part->slot % 4);
    const place at = place_of(work, end);
    const bo_vec3 spin = bo_load3(A + 6 * end->part + 3);
    bo_vec3 gain = zero, more = zero;
    if (end->face >= 0)
        bo_tree_face_gain(model, work, part, end->face, end->face_row, a + part->offset, &gain, &more);
    *turn = bo_mat_vec(R, bo_add(spin, more));
    return bo_mat_vec(
        R, bo_add(bo_add(bo_load3(A + 6 * end->part), bo_cross(spin, at.x)), bo_add(gain, bo_cross(more, at.y))));
}

/* ---- answers ---- */

typedef struct {
    double *p, *p_q, *A, *a; /* respond.c */
    double *W;               /* 6 T x 6 T */
    double *M;               /* likewise: 1 + S W S */
    double *a0, *z;          /* 6 T */
} tie_system;

size_t bo_tree_tie_system_size(const bough_tree_model *model) {
    const size_t n = 6 * (size_t)model->def.tie_count;
    return 2 * n * n + 2 * n;
}

static tie_system system_of(const bough_tree_model *model, const bo_tree_work *work) {
    const size_t n = 6 * (size_t)model->def.tie_count, parts = 6 * (size_t)model->part_count;
    tie_system s = {.p = work->answers, .W = work->tie_system};
    s.p_q = s.p + parts, s.A = s.p_q + model->size, s.a = s.A + parts;
    s.M = s.W + n * n, s.a0 = s.M + n * n, s.z = s.a0 + n;
    return s;
}

static void clear_forces(const bough_tree_model *model, const tie_system *s) {
    memset(s->p, 0, 6 * (size_t)model->part_count * sizeof *s->p);
    memset(s->p_q, 0, (size_t)model->size * sizeof *s->p_q);
}

/* Columns of W: accelerations of all ties by unit forces on each. */
static void fill_answers(const bough_tree_model *model, const bo_tree_work *work, const tie_system *s) {
    const int32_t n = 6 * model->def.tie_count;
    for (int32_t c = 0; c < n; c++) {
        double unit[6] = {0};
        unit[c % 6] = 1;
        for (int32_t i = 0; i < n; i++)
            s->W[(size_t)i * (size_t)n + (size_t)c] = 0;
        if (model->ties[c / 6].broken)
            continue;
        clear_forces(model, s);
        push_tie(model, work, &model->ties[c / 6], unit, s->p, s->p_q);
        bo_tree_respond(model, work, s->p, s->p_q, false, s->A, s->a);
        for (int32_t i = 0; i < model->def.tie_count; i++) {
            bo_vec3 turn[2], move[2];
            double row[6];
            if (model->ties[i].broken)
                continue;
            for (int end = 0; end < 2; end++)
                move[end] = end_answer(model, work, &model->ties[i].ends[end], s->A, s->a, &turn[end]);
            bo_store3(row, bo_sub(move[1], move[0]));
            bo_store3(row + 3, bo_sub(turn[1], turn[0]));
            for (int d = 0; d < 6; d++)
                s->W[(size_t)(6 * i + d) * (size_t)n + (size_t)c] = row[d];
        }
    }
}

static void find_accelerations(const bough_tree_model *model, const bo_tree_work *work, const bo_tree_mode *mode,
                               size_t stride, double *a0) {
    for (int32_t i = 0; i < model->def.tie_count; i++) {
        double first[6], second[6];
        end_acceleration(model, work, mode, &model->ties[i].ends[0], first);
        end_acceleration(model, work, mode, &model->ties[i].ends[1], second);
        for (int d = 0; d < 6; d++)
            a0[stride * (size_t)i + (size_t)d] = model->ties[i].broken ? 0 : second[d] - first[d];
    }
}

static bool solve(const bough_tree_model *model, bo_tree_work *work, const tie_system *s) {
    const int32_t n = 6 * model->def.tie_count;
    for (int32_t i = 0; i < n; i++) {
        const double *W = s->W + (size_t)i * (size_t)n, S = sqrt(work->pulls[i / 6].H[i % 6 / 3]);
        double sum = s->a0[i];
        for (int32_t j = 0; j < n; j++) {
            const bo_tree_pull *other = &work->pulls[j / 6];
            sum -= W[j] * other->p[j % 6];
            s->M[(size_t)i * (size_t)n + (size_t)j] = (i == j) + S * W[j] * sqrt(other->H[j % 6 / 3]);
        }
        s->z[i] = S * sum;
    }
    if (!bo_cholesky_factor(n, s->M))
        return false;
    bo_cholesky_solve(n, s->M, s->z);
    for (int32_t i = 0; i < n; i++) {
        const bo_tree_pull *pull = &work->pulls[i / 6];
        work->next_tie_motion[i / 6].force[i % 6] = -pull->p[i % 6] - sqrt(pull->H[i % 6 / 3]) * s->z[i];
    }
    return true;
}

/* Accelerations of coordinates and frames with what the ties pull. */
static void apply(const bough_tree_model *model, bo_tree_work *work, const tie_system *s, double *a) {
    clear_forces(model, s);
    memset(s->a, 0, (size_t)model->size * sizeof *s->a);
    for (int32_t i = 0; i < model->def.tie_count; i++)
        if (!model->ties[i].broken)
            push_tie(model, work, &model->ties[i], work->next_tie_motion[i].force, s->p, s->p_q);
    bo_tree_respond(model, work, s->p, s->p_q, true, s->A, s->a);
    for (int32_t k = 0; k < model->size; k++)
        a[k] += s->a[k];
    for (int32_t i = 0; i < model->part_count; i++) {
        const int32_t slot = model->parts[i].slot;
        for (int d = 0; d < 6; d++)
            BO_LANE(work->inertias[slot / 4].A[d], slot % 4) += s->A[6 * i + d];
        bo_tree_gain(model, work, i, a);
    }
}

bool bo_tree_pull_ties(bough_context *ctx, const bough_tree_model *model, bo_tree_work *work, const bo_tree_mode *mode,
                       double *a) {
    (void)ctx;
    bool slack = true;
    memset(work->next_tie_motion, 0, (size_t)model->def.tie_count * sizeof *work->next_tie_motion);
    for (int32_t i = 0; i < model->def.tie_count; i++) {
        const bo_tree_pull *pull = &work->pulls[i];
        slack = slack && pull->H[0] == 0 && pull->H[1] == 0;
        for (int d = 0; d < 6; d++)
            slack = slack && pull->p[d] == 0;
    }
    if (slack)
        return true;
    const tie_system s = system_of(model, work);
    fill_answers(model, work, &s);
    find_accelerations(model, work, mode, 6, s.a0);
    if (!solve(model, work, &s))
        return false;
    apply(model, work, &s, a);
    find_accelerations(model, work, mode, sizeof *work->next_tie_motion / sizeof(double), work->next_tie_motion->a);
    return true;
}

/* Pulls trees that fly with the force of the ties, by Newmark's rule for velocities, at the place of the second end at
 * the start and (about) at the end of the step. Both ends are pulled at that place, so that together they keep
 * momenta. */
void bo_tree_fly_ties(const bough_tree_model *model, const bo_tree_work *work, double dt, double gamma,
                      bough_tree_root *roots) {
    for (int32_t i = 0; i < model->def.tie_count; i++) {
        const bo_tree_pull *pull = &work->pulls[i];
        const bo_vec3 x = bo_load3(pull->x), later = bo_mul_add(x, dt, bo_load3(pull->dx));
        const double *old = work->tie_motion[i].force, *new = work->next_tie_motion[i].force;
        const bo_vec3 first = bo_scale(dt * (1 - gamma), bo_load3(old)), last = bo_scale(dt * gamma, bo_load3(new));
        bo_vec3 turn = bo_add(bo_scale(dt * (1 - gamma), bo_load3(old + 3)), bo_scale(dt * gamma, bo_load3(new + 3)));
        turn = bo_add(turn, bo_add(bo_cross(x, first), bo_cross(later, last)));
        for (int end = 0; end < 2 && !model->ties[i].broken; end++) {
            const int32_t part = model->ties[i].ends[end].part, flight = part < 0 ? -1 : model->parts[part].flight;
            if (flight < 0)
                continue;
            const double sign = end ? 1 : -1;
            bough_tree_root *root = &roots[flight];
            bo_store3(root->momentum, bo_mul_add(bo_load3(root->momentum), sign, bo_add(first, last)));
            bo_store3(root->angular_momentum, bo_mul_add(bo_load3(root->angular_momentum), sign, turn));
        }
    }
}

/* ---- at rest ---- */

void bo_tree_load_ties(const bough_tree_model *model, const bough_tree_state *state) {
    bo_tree_work *w = bo_tree_work_of(state);
    if (model->def.tie_count == 0)
        return;
    if (!w->loaded) {
        memset(w->load, 0, (size_t)model->size * sizeof *w->load);
        memset(w->load_wrench, 0, 6 * (size_t)model->part_count * sizeof *w->load_wrench);
        w->loaded = true;
    }
    for (int32_t i = 0; i < model->def.tie_count; i++) {
        const bo_tree_tie *tie = &model->ties[i];
        double e[6], v[6], x[3], dx[3], force[6];
        if (tie->broken)
            continue;
        stretch(model, w, tie, e, v, x, dx);
        for (int d = 0; d < 6; d++) /* loads are forces, not bias forces: the other sign */
            force[d] = state->tie_strength[i] * tie->stiffness[d / 3] * e[d];
        push_tie(model, w, tie, force, w->load_wrench, w->load);
    }
}

void bo_tree_tie_stretch(const bough_tree_model *model, const bough_tree_state *state, int32_t tie, double e[6]) {
    double v[6], x[3], dx[3];
    stretch(model, bo_tree_work_of(state), &model->ties[tie], e, v, x, dx);
}

double bo_tree_tie_energy(const bough_tree_model *model, const bough_tree_state *state) {
    double sum = 0;
    for (int32_t i = 0; i < model->def.tie_count; i++) {
        double e[6], v[6], x[3], dx[3];
        if (model->ties[i].broken)
            continue;
        stretch(model, bo_tree_work_of(state), &model->ties[i], e, v, x, dx);
        for (int d = 0; d < 6; d++)
            sum += 0.5 * state->tie_strength[i] * model->ties[i].stiffness[d / 3] * e[d] * e[d];
    }
    return sum;
}
