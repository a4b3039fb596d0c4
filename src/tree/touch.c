/* Contact in steps of trees: where it leads. docs/theory/tree.md, "Contact". */
#include "tree/touch.h"

#include "base/rotation.h"
#include "tree/change.h"
#include "tree/couple.h"

#include <math.h>
#include <string.h>

#define DEEPEST 0.016 /* of the radius of a part, which is less than a hundredth of its size */
enum { MOST_LOOKS = 4 };
#define PUSH_SPEED 0.5 /* m/s: faster than it came, a point is not pushed out of where it is */
#define MOST_BEND 0.2  /* by which contacts may bend a part in a step that is taken gently: about an angle */

/* ---- where forces lead ---- */

static bo_vec3 force_of(const bo_tree_point *point) {
    bo_vec3 f = bo_v3(0, 0, 0);
    for (int k = 0; k < 3; k++)
        f = bo_mul_add(f, point->force[k], point->axes[k]);
    return f;
}

/* The biases of a part, which will not be zero. */
static void lade(bo_tree_search *s, int32_t i) {
    const bo_tree_part *part = &s->model->parts[i];
    const bo_tree_joint *joint = part->joint >= 0 ? &s->model->joints[part->joint] : NULL;
    bo_tree_touch *touch = s->touch;
    touch->laden[touch->laden_count++] = (bo_tree_laden){.part = i, .first = part->offset, .count = part->r};
    if (joint)
        touch->laden[touch->laden_count++] = (bo_tree_laden){.part = i, .first = joint->offset, .count = joint->count};
}

/* All biases are zero, and it is known which ones will not be: of parts that touch, and those that they hang on. */
static void clear_biases(bo_tree_search *s) {
    bo_tree_touch *touch = s->touch;
    if (touch->loads_kept) {
        memset(touch->p, 0, 6 * (size_t)s->model->part_count * sizeof *touch->p);
        memset(touch->p_q, 0, (size_t)s->model->size * sizeof *touch->p_q);
    }
    for (int32_t k = 0; k < touch->laden_count; k++) {
        const bo_tree_laden *it = &touch->laden[k];
        memset(touch->p + 6 * it->part, 0, 6 * sizeof *touch->p);
        memset(touch->p_q + it->first, 0, (size_t)it->count * sizeof *touch->p_q);
    }
    touch->laden_count = 0, touch->loads_kept = false;
    for (int32_t i = 0; i < s->model->part_count && touch->node_count > 0; i++)
        if (touch->node_of[i] >= 0)
            lade(s, i);
    for (int32_t k = 0; k < touch->solid_count; k++)
        lade(s, touch->solids[k]);
    for (size_t i = 0; i < touch->point_count && touch->single_count > 0;
         i++) /* points of one part follow each other */
        if (touch->islands[touch->points[i].island].single &&
            (i == 0 || touch->points[i].part != touch->points[i - 1].part))
            lade(s, touch->points[i].part);
}

/* Biases by the forces of the points, on their parts and on solids. */
static void load_points(bo_tree_search *s) {
    bo_tree_touch *touch = s->touch;
    clear_biases(s);
    for (size_t i = 0; i < touch->point_count; i++) {
        const bo_tree_point *point = &touch->points[i];
        for (int k = 0; k < 3; k++) {
            const double *row = touch->rows + point->rows + (size_t)k * (size_t)point->r, f = point->force[k];
            const double *other = touch->rows + point->other_rows + (size_t)k * (size_t)point->other_r;
            for (int d = 0; d < 6; d++) {
                touch->p[6 * point->part + d] -= f * point->frame[k][d];
                if (point->other >= 0)
                    touch->p[6 * point->other + d] -= f * point->other_frame[k][d];
            }
            for (int32_t l = 0; l < point->r; l++)
                touch->p_q[s->model->parts[point->part].offset + l] -= f * row[l];
            for (int32_t l = 0; l < point->other_r; l++)
                touch->p_q[s->model->parts[point->other].offset + l] -= f * other[l];
        }
    }
}

/* All right-hand sides of the step become zero. */
static void forget_loads(const bough_tree_model *model, bo_tree_work *w) {
    for (int32_t d = 0; d < model->level_count; d++)
        for (int32_t b = model->levels[d].first_block; b < model->levels[d].end_block; b++) {
            const bo_tree_block *block = &model->blocks[b];
            double *Z = w->Z + 8 * block->vectors;
            const size_t lanes = (size_t)block->lanes;
            for (int32_t l = 0; l < block->r; l++)
                memset(Z + (8 * (size_t)l + 6) * lanes, 0, lanes * sizeof *Z);
        }
    for (int32_t k = 0; k < model->slots_count; k++)
        memset(w->frames[k].b, 0, sizeof w->frames[k].b);
    for (int32_t i = 0; i < model->levels[0].end_part; i++)
        for (int d = 0; d < 6; d++)
            BO_LANE(w->inertias[model->parts[i].slot / 4].p[d], model->parts[i].slot % 4) = 0;
    for (int32_t j = 0; j < model->joint_count; j++)
        memset(w->swings[j].u, 0, sizeof w->swings[j].u);
}

/* The forces on a part, eliminated, as the scattering sweep wants them. */
static void lay_down(bo_tree_search *s, int32_t i) {
    const bo_tree_part *part = &s->model->parts[i];
    const bo_tree_block *block = &s->model->blocks[part->block];
    bo_tree_touch *touch = s->touch;
    bo_tree_hand_up(s->model, s->work, i, touch->p, touch->p_q);
    double *Z = s->work->Z + 8 * block->vectors;
    for (int32_t l = 0; l < part->r; l++)
        Z[(8 * (size_t)l + 6) * (size_t)block->lanes + (size_t)part->lane] = touch->p_q[part->offset + l];
    for (int32_t k = 0; part->joint >= 0 && k < s->model->joints[part->joint].count; k++)
        s->work->swings[part->joint].u[k] = touch->p_q[s->model->joints[part->joint].offset + k];
    for (int d = 0; d < 6 && part->parent < 0; d++)
        BO_LANE(s->work->inertias[part->slot / 4].p[d], part->slot % 4) = touch->p[6 * i + d];
}

static const bo_tree_island *island_of(const bo_tree_touch *touch, const bo_tree_part *part) {
    return &touch->islands[bo_tree_island_of(touch, part->tree)];
}

static bool is_single(const bo_tree_touch *touch, const bo_tree_part *part) {
    return island_of(touch, part)->single;
}

/* Accelerations of everything by the forces of the points. The frames, and what a step was solved with on the
 * right-hand side, are used up. */
static bool respond(bo_tree_search *s, double *answers) {
    static const bo_tree_mode mode = {.coupling = BOUGH_COUPLING_L3, .still = true, .weightless = true};
    bo_tree_touch *touch = s->touch;
    if (touch->single_count == touch->point_count) {
        for (int32_t k = 0; k < touch->run_count; k++)
            memset(answers + touch->runs[k].first, 0,
                   (size_t)(touch->runs[k].end - touch->runs[k].first) * sizeof *answers);
        bo_tree_touch_answer_singles(s->model, s->work, answers);
        return true;
    }
    if (!touch->forgotten) /* what is laid down once is laid down again */
        forget_loads(s->model, s->work);
    touch->forgotten = true;
    for (int32_t i = s->model->part_count - 1; i >= 0; i--)
        if (touch->node_of[i] >= 0 || is_single(touch, &s->model->parts[i]))
            lay_down(s, i);
    for (int32_t k = 0; k < touch->solid_count; k++)
        lay_down(s, touch->solids[k]);
    return bo_tree_scatter(s->ctx, s->model, s->work, &mode, answers);
}

static bool is_wrench(const double x[6]) {
    return (x[0] != 0) | (x[1] != 0) | (x[2] != 0) | (x[3] != 0) | (x[4] != 0) | (x[5] != 0);
}

static bool any_but_zero(size_t count, const double *x) {
    enum { TOGETHER = 64 };
    for (size_t first = 0; first < count; first += TOGETHER) {
        const size_t end = count - first < TOGETHER ? count : first + TOGETHER;
        size_t others = 0;
        for (size_t i = first; i < end; i++)
            others += x[i] != 0;
        if (others > 0)
            return true;
    }
    return false;
}

/* Roots that fly, as bo_tree_fly() has them: velocities and places change by so much of the answer. Accelerations are those in
 * the axes where the root ends. */
static void move_roots(bo_tree_search *s, double of_acceleration, double of_velocity, double of_place) {
    const bough_tree_model *model = s->model;
    for (int32_t k = model->first_flight; k < model->end_flight; k++) {
        bough_tree_root *root = &s->work->next_roots[k];
        const bo_tree_part *part = &model->parts[model->inside[root->part]];
        const int32_t slot = part->slot;
        bo_mat3 R;
        double A[6];
        if (island_of(s->touch, part)->points == 0)
            continue;
        memcpy(R.m, root->pose.rotation, sizeof R.m);
        for (int d = 0; d < 6; d++)
            A[d] = BO_LANE_CONST(s->work->inertias[slot / 4].A[d], slot % 4);
        if (!any_but_zero(6, A))
            continue;
        const bo_vec3 move = bo_load3(A), turn = bo_load3(A + 3);
        const bo_vec3 a = bo_mat_vec(R, move), alpha = bo_mat_vec(R, turn);
        const bo_mat3 turned = bo_mat_mul(bo_exp3(bo_scale(of_place, alpha)), R);
        const bo_vec3 spin_up = bo_mul_add(bo_mat_tvec(R, bo_load3(root->angular_acceleration)), of_acceleration, turn);
        struct {
            double *to, by;
            bo_vec3 what;
        } const list[] = {{root->pose.position, of_place, a},
                          {root->velocity, of_velocity, a},
                          {root->angular_velocity, of_velocity, alpha},
                          {root->acceleration, of_acceleration, bo_mat_vec(turned, move)},
                          {root->blow, of_acceleration, move}};
        for (size_t i = 0; i < sizeof list / sizeof *list; i++)
            bo_store3(list[i].to, bo_mul_add(bo_load3(list[i].to), list[i].by, list[i].what));
        bo_store3(root->angular_acceleration, bo_mat_vec(turned, spin_up));
        memcpy(root->pose.rotation, turned.m, sizeof root->pose.rotation);
    }
}

static void give_momentum(const bo_tree_part *part, bo_vec3 x, bo_vec3 impulse, bough_tree_root *roots) {
    if (part->flight < 0)
        return;
    bough_tree_root *root = &roots[part->flight];
    bo_store3(root->momentum, bo_add(bo_load3(root->momentum), impulse));
    bo_store3(root->angular_momentum, bo_add(bo_load3(root->angular_momentum), bo_cross(x, impulse)));
}

static void give_momenta(bo_tree_search *s) {
    for (size_t i = 0; i < s->touch->point_count; i++) {
        const bo_tree_point *point = &s->touch->points[i];
        const bo_vec3 impulse = bo_scale(s->dt * s->scheme->gamma, force_of(point));
        give_momentum(&s->model->parts[point->part], point->x, impulse, s->work->next_roots);
        if (point->other >= 0)
            give_momentum(&s->model->parts[point->other], point->x, bo_scale(-1, impulse), s->work->next_roots);
    }
}

/* Acceleration of the point of one side by the answers of all, against the direction of the other side's rows. */
static bo_vec3 answer_of(const bo_tree_search *s, const bo_tree_point *point, int32_t part, const double frame[3][6],
                         size_t rows, int32_t r, const double *answers) {
    const int32_t slot = s->model->parts[part].slot;
    const bool moves = island_of(s->touch, &s->model->parts[part])->points > 0;
    bo_vec3 sum = bo_v3(0, 0, 0);
    for (int k = 0; k < 3 && moves; k++) {
        const double *row = s->touch->rows + rows + (size_t)k * (size_t)r;
        double along = 0;
        for (int d = 0; d < 6; d++)
            along += frame[k][d] * BO_LANE_CONST(s->work->inertias[slot / 4].A[d], slot % 4);
        for (int32_t l = 0; l < r; l++)
            along += row[l] * answers[s->model->parts[part].offset + l];
        sum = bo_mul_add(sum, along, point->axes[k]);
    }
    return sum;
}

/* Both sides of a point: where the answers of the step lead them. */
static void measure_moves(const bo_tree_search *s, bo_tree_point *point) {
    const double *answers = s->touch->answers;
    point->moves = answer_of(s, point, point->part, point->frame, point->rows, point->r, answers);
    if (point->other >= 0)
        point->other_moves = bo_scale(
            -1, answer_of(s, point, point->other, point->other_frame, point->other_rows, point->other_r, answers));
}

/* ---- the step ---- */

bool bo_tree_touch_moves_held(const bough_tree_model *model, const bo_tree_work *w) {
    const bo_tree_touch *touch = w->touch;
    bool held = model->def.tie_count > 0;
    for (size_t i = 0; i < touch->point_count && !held; i++) {
        const bo_tree_point *point = &touch->points[i];
        held = !model->parts[point->part].flies || (point->other >= 0 && !model->parts[point->other].flies);
    }
    return held;
}

static bough_status unsolved(bough_context *ctx) {
    return bo_fail(ctx, BOUGH_NO_CONVERGENCE, "the contacts of this step have no solution; take a smaller one");
}

/* Contacts of the step, if its points have forces, and of trees that sleep. */
static bough_status list_contacts(bo_tree_search *s, bool solved) {
    bo_tree_touch *touch = s->touch;
    const size_t points = solved ? touch->point_count : 0;
    touch->contact_count = 0;
    if (!BO_RESERVE(s->ctx, touch->contacts, touch->contact_capacity, points + touch->kept_count + 1) ||
        !BO_RESERVE(s->ctx, touch->push, touch->push_capacity, 2 * points + 1))
        return BOUGH_ERROR_MEMORY;
    touch->clear = touch->push + points;
    for (size_t i = 0; i < points; i++) {
        const bo_tree_point *point = &touch->points[i];
        touch->contacts[touch->contact_count++] =
            (bo_tree_contact){.part = s->model->parts[point->part].user,
                              .obstacle = point->obstacle,
                              .other = point->other < 0 ? -1 : s->model->parts[point->other].user,
                              .position = point->x,
                              .normal = point->axes[0],
                              .force = bo_scale(s->scheme->gamma, force_of(point)),
                              .gap = point->gap};
    }
    for (size_t i = 0; i < touch->kept_count; i++)
        touch->contacts[touch->contact_count++] = touch->kept[i];
    return BOUGH_OK;
}

/* The tree of a contact; -1: its part is gone. */
static int32_t tree_of(const bough_tree_model *model, const bo_tree_contact *contact) {
    const int32_t part = model->inside[contact->part];
    return part < 0 ? -1 : model->parts[part].tree;
}

bough_status bo_tree_keep_contacts(bough_context *ctx, const bough_tree_model *model, bo_tree_work *work, int32_t count,
                                   const bough_change *changes) {
    bo_tree_touch *touch = work->touch;
    size_t kept = 0;
    if (!touch)
        return BOUGH_OK;
    const size_t now = (size_t)touch->contact_count - touch->kept_count;
    if (!BO_RESERVE(ctx, touch->kept, touch->kept_capacity, touch->kept_count + now))
        return BOUGH_ERROR_MEMORY;
    memset(touch->stir, 0, (size_t)model->part_count * sizeof *touch->stir);
    for (int32_t k = 0; k < count; k++) /* 1: falls asleep, -1: wakes up */
        touch->stir[model->inside[changes[k].part]] = (int)changes[k].kind == BO_CHANGE_REST ? 1 : -1;
    for (size_t i = 0; i < touch->kept_count; i++) {
        const int32_t tree = tree_of(model, &touch->kept[i]);
        if (tree >= 0 && !(touch->stir[tree] < 0))
            touch->kept[kept++] = touch->kept[i];
    }
    for (size_t i = 0; i < now; i++) {
        const int32_t tree = tree_of(model, &touch->contacts[i]);
        if (tree >= 0 && touch->stir[tree] > 0)
            touch->kept[kept++] = touch->contacts[i];
    }
    touch->kept_count = kept;
    return BOUGH_OK;
}

/* The largest bend of a part that flies by the contacts: as that of steps (step.c), where the others are looked at. */
static double largest_bend(const bo_tree_search *s) {
    double largest = 0;
    for (int32_t k = 0; k < s->model->part_count; k++) {
        const bo_tree_part *part = &s->model->parts[k];
        const bo_component_tables *t = &s->model->components[part->component];
        double square = 0;
        if (!part->flies || island_of(s->touch, part)->points == 0)
            continue;
        for (int32_t l = 0; l < part->r; l++) {
            const double x = s->scheme->beta * s->dt * s->dt * s->touch->answers[part->offset + l];
            square += t->M[l * t->n + l] * x * x;
        }
        square /= t->c->Sigma0[0] + t->c->Sigma0[4] + t->c->Sigma0[8];
        if (!(square <= largest))
            largest = square;
    }
    return sqrt(largest);
}

/* Pushes points out that are still inside, without velocity: no further than they came in, and a little. */
static bough_status push_out(bo_tree_search *s) {
    bo_tree_touch *touch = s->touch;
    touch->pushes = false;
    for (size_t i = 0; i < touch->point_count; i++) {
        const bo_tree_point *point = &touch->points[i];
        const double way = bo_dot(point->axes[0], bo_sub(point->moves, point->other_moves));
        const double gap = point->gap + s->scheme->beta * s->dt * s->dt * way;
        const double came = bo_dot(point->axes[0], bo_sub(point->start, point->other_start));
        const double most = fmax(0, came) + s->dt * PUSH_SPEED;
        touch->push[i] = gap < 0 ? fmin(-gap, most) : 0, touch->clear[i] = fmax(gap, 0);
        touch->pushes = touch->pushes || touch->push[i] > 0;
    }
    if (!touch->pushes)
        return BOUGH_OK;
    if (!bo_tree_touch_push(s->ctx, s->model, s->work, s->dt))
        return unsolved(s->ctx);
    load_points(s);
    if (!respond(s, touch->pushed))
        return unsolved(s->ctx);
    for (int32_t i = 0; i < touch->run_count; i++)
        for (int32_t k = touch->runs[i].first; k < touch->runs[i].end; k++)
            s->work->next_q[k] += s->dt * s->dt * touch->pushed[k];
    touch->push_share = s->dt * s->dt;
    move_roots(s, 0, 0, s->dt * s->dt);
    return BOUGH_OK;
}

/* ---- forces of the last step ----
 *
 * A force that accelerations at the end of a step feel counts in it with the share gamma, and in the next one with
 * 1 - gamma. Contacts are to act in their own step alone, with forces f: so accelerations feel F,
 *     gamma F + (1 - gamma) F_before = f,   F = f / gamma - (1 - gamma) / gamma F_before
 * The second part is a load on the step from its beginning; F_before is kept. */

/* Adds forces and wrenches that were left to the loads, and finds the blocks on whose parts they act. */
static void borrow_loads(const bough_tree_model *model, bo_tree_work *w, double share) {
    bool *burdened = w->touch->burdened;
    memset(burdened, 0, (size_t)model->block_count * sizeof *burdened);
    for (int32_t user = 0; user < model->def.part_count; user++) {
        const double *blow = w->blow_wrench + 6 * (size_t)user;
        const int32_t i = model->inside[user];
        if (i < 0 || !is_wrench(blow))
            continue;
        burdened[model->parts[i].block] = true;
        for (int32_t d = 0; d < 6; d++)
            w->load_wrench[6 * i + d] += share * blow[d];
    }
    for (int32_t b = 0; b < model->block_count; b++) {
        const bo_tree_block *block = &model->blocks[b];
        const int32_t apart = block->together ? block->count : 1;
        for (int32_t k = 0; k < block->count && !burdened[b]; k += apart)
            burdened[b] = any_but_zero((size_t)(apart * block->r), w->blow + model->parts[block->first + k].offset);
    }
    for (int32_t k = 0; k < model->size; k++)
        w->load[k] += share * w->blow[k];
}

bool bo_tree_touch_begin(const bough_tree_model *model, bo_tree_work *w, const bo_tree_scheme *scheme) {
    bo_tree_touch *touch = w->touch;
    const size_t n = (size_t)model->size, parts = (size_t)model->part_count, all = (size_t)model->def.part_count;
    const double share = scheme->begins ? 1 : -(1 - scheme->gamma) / scheme->gamma;
    if (!touch)
        return false;
    if (touch->lent == share && !w->loaded) { /* an earlier pass of the step has laid them down */
        w->burdened = touch->burdened, w->loaded = true;
        return true;
    }
    touch->carried = any_but_zero(n, w->blow) || any_but_zero(6 * all, w->blow_wrench);
    if (!touch->carried)
        return false;
    touch->loaded = w->loaded;
    if (w->loaded) {
        touch->loads_kept = true;
        memcpy(touch->p_q, w->load, n * sizeof *w->load);
        memcpy(touch->p, w->load_wrench, 6 * parts * sizeof *w->load_wrench);
    } else {
        memset(w->load, 0, n * sizeof *w->load);
        memset(w->load_wrench, 0, 6 * parts * sizeof *w->load_wrench);
    }
    borrow_loads(model, w, share);
    w->burdened = w->loaded ? NULL : touch->burdened;
    touch->lent = w->loaded ? 0 : share; /* loads from elsewhere are given back */
    w->loaded = true;
    return true;
}

void bo_tree_touch_forget(bo_tree_work *w) {
    if (w->touch)
        w->touch->lent = 0;
}

void bo_tree_touch_end(const bough_tree_model *model, bo_tree_work *w) {
    const bo_tree_touch *touch = w->touch;
    w->loaded = touch->loaded, w->burdened = NULL;
    if (!w->loaded)
        return;
    memcpy(w->load, touch->p_q, (size_t)model->size * sizeof *w->load);
    memcpy(w->load_wrench, touch->p, 6 * (size_t)model->part_count * sizeof *w->load_wrench);
}

/* F of the step that was solved: of its contacts, if it has some, and of what it took back. */
static void add_up_forces(const bough_tree_model *model, const bo_tree_work *w, const bo_tree_scheme *scheme,
                          bool touches) {
    const bo_tree_touch *touch = w->touch;
    const double share = -(1 - scheme->gamma) / scheme->gamma, little = 1e-12 * touch->mass;
    const size_t n = (size_t)model->size, all = (size_t)model->def.part_count;
    const double *restrict p = touch->p_q, *restrict blow = w->blow;
    double *restrict next = touch->next, *wrench = touch->next + n;
    for (size_t k = 0; k < n; k++) {
        const double f = share * blow[k] - (touches ? p[k] : 0);
        next[k] = fabs(f) < little ? 0 : f;
    }
    for (size_t k = 0; k < 6 * all; k++)
        wrench[k] = share * w->blow_wrench[k];
    for (int32_t user = 0; user < model->def.part_count && touches; user++)
        for (int32_t d = 0; d < 6 && model->inside[user] >= 0; d++)
            wrench[6 * user + d] -= touch->p[6 * model->inside[user] + d];
    for (size_t k = 0; k < 6 * all; k++)
        wrench[k] = fabs(wrench[k]) < little ? 0 : wrench[k];
}

void bo_tree_touch_accept(const bough_tree_model *model, bo_tree_work *w, double dt) {
    const size_t n = (size_t)model->size, all = (size_t)model->def.part_count;
    if (!w->touch || dt == 0)
        return;
    bo_tree_touch_remember(w->touch);
    memcpy(w->blow, w->touch->next, n * sizeof *w->blow);
    memcpy(w->blow_wrench, w->touch->next + n, 6 * all * sizeof *w->blow_wrench);
}

/* Adds the answers to the step. */
static void go_there(bo_tree_search *s) {
    const double dt = s->dt, of_v = s->scheme->gamma * dt, of_q = s->scheme->beta * dt * dt;
    s->touch->share = of_q;
    bo_tree_work *w = s->work;
    memset(s->touch->rates, 0, (size_t)s->model->size * sizeof *s->touch->rates);
    for (int32_t i = 0; i < s->touch->run_count; i++)
        for (int32_t k = s->touch->runs[i].first; k < s->touch->runs[i].end; k++) {
            const double a = s->touch->answers[k];
            w->next_a[k] += a, w->next_v[k] += of_v * a, w->next_q[k] += of_q * a;
            s->touch->rates[k] = s->scheme->gamma * a;
        }
    move_roots(s, 1, of_v, 0.5 * dt * of_v);
    give_momenta(s);
}

static bool are_finite(const bo_tree_touch *touch) {
    for (int32_t k = 0; k < touch->run_count; k++)
        if (!bo_all_finite(touch->runs[k].end - touch->runs[k].first, touch->answers + touch->runs[k].first))
            return false;
    return true;
}

/* Forces of the step, and what they do, until no point that waits is led to where it touches. */
static bough_status find_forces(bo_tree_search *s) {
    bo_tree_touch *touch = s->touch;
    bool more = true;
    for (int look = 0; more; look++) {
        BO_TRY(bo_tree_touch_gather(s->ctx, s->model, s->work));
        if (!bo_tree_touch_solve(s->ctx, s->model, s->work, s->scheme->gamma * s->dt, look > 0))
            return unsolved(s->ctx);
        load_points(s);
        add_up_forces(s->model, s->work, s->scheme, true);
        if (!respond(s, touch->answers))
            return unsolved(s->ctx);
        if (!are_finite(touch))
            return bo_fail(s->ctx, BOUGH_NOT_FINITE, "forces of contact are not finite; take a smaller step");
        for (size_t i = 0; i < touch->found_count; i++) /* also those that wait */
            measure_moves(s, &touch->points[i]);
        more = look + 1 < MOST_LOOKS && bo_tree_touch_take_in(s, s->scheme->beta * s->dt * s->dt);
    }
    return BOUGH_OK;
}

bough_status bo_tree_touch_step(bough_context *ctx, const bough_tree_model *model, bough_tree_state *state,
                                const bo_tree_scheme *scheme, bool gently, bool *touched) {
    bo_tree_work *w = bo_tree_work_of(state);
    bo_tree_search s = {ctx, model, state, w, w->touch, scheme->dt, scheme, false, 0};
    bo_tree_touch *touch = w->touch;
    *touched = touch->answered = touch->forgotten = false;
    touch->contact_count = 0;
    BO_TRY(bo_tree_touch_find(&s));
    if (touch->point_count == 0) {
        add_up_forces(model, w, scheme, false);
        return list_contacts(&s, false);
    }
    BO_TRY(find_forces(&s));
    BO_TRY(list_contacts(&s, true));
    bo_tree_touch_note(model, touch);
    if (gently && !(largest_bend(&s) <= MOST_BEND))
        return bo_fail(ctx, BOUGH_NO_CONVERGENCE, "a contact bends a part too far in this step; take a smaller one");
    *touched = touch->answered = true;
    go_there(&s);
    BO_TRY(push_out(&s));
    for (size_t i = 0; i < touch->point_count; i++) { /* where the step ends */
        const bo_tree_point *point = &touch->points[i];
        const double way = bo_dot(point->axes[0], bo_sub(point->moves, point->other_moves));
        touch->contacts[i].gap = point->gap + touch->share * way + (touch->pushes ? s.dt * s.dt * point->answer[0] : 0);
    }
    return BOUGH_OK;
}

/* Normals turn on the way, so that points may end deeper than they should by what is linear. A step that led them there
 * is refused, if it was long enough for that. */
bough_status bo_tree_touch_check(bough_context *ctx, const bough_tree_model *model, bough_tree_state *state,
                                 const bo_tree_scheme *scheme, bool gently) {
    bo_tree_work *w = bo_tree_work_of(state);
    bo_tree_touch *touch = w->touch;
    bo_tree_search s = {ctx, model, state, w, touch, scheme->dt, scheme, false, 0};
    for (size_t i = 0; i < touch->point_count && touch->fields; i++) {
        const bo_tree_point *point = &touch->points[i];
        const bo_tree_part *part = &model->parts[point->part];
        const bo_vec3 n = point->axes[0];
        const double most = DEEPEST * part->scale * touch->clouds[part->component].radius;
        const double came = bo_dot(n, bo_sub(point->start, point->other_start));
        const double led = touch->share * bo_dot(n, bo_sub(point->moves, point->other_moves));
        const bool by_samples = touch->fields[part->component] && touch->solid_of[part->user] < 0 &&
                                (point->other < 0 || point->other_node >= 0);
        if (!by_samples || fabs(came) + fabs(led) < 0.25 * most)
            continue;
        double *gap = &touch->contacts[i].gap, before = 0;
        if (!bo_tree_touch_gap_at(&s, point, true, gap) ||
            (*gap < -most && !bo_tree_touch_gap_at(&s, point, false, &before)))
            return BOUGH_ERROR_MEMORY;
        if (gently && *gap < -most && *gap < before - 0.1 * most)
            return bo_fail(ctx, BOUGH_NO_CONVERGENCE,
                           "a part goes too deep into another in this step; take a smaller one");
    }
    return BOUGH_OK;
}
