/* The energy of trees. docs/theory/tree.md, "Energy".
 *
 * Now and then a step looks at the energy of each tree and compares it with what the last look and the work done since
 * account for. Without damping a step takes or makes a little that nobody did work for; velocities are scaled so that
 * it comes back. What is far too much refuses the step. */
#include "tree/ledger.h"
#include "tree/touch.h"

#include "base/rotation.h"

#include <math.h>
#include <string.h>

/* Steps between looks, by how far the energy is off in parts of the energy in play. Looks cost about as much as a step
 * does. */
static const double far_off = 0.005, a_little_off = 0.001;
enum { OFTEN = 1, NOW_AND_THEN = 8, RARELY = 32 };

/* Velocities are scaled by no more than this at a time: slowly up, faster down, so that what a step makes of itself
 * never grows. */
static const double most_up = 0.002, most_down = 0.02;

/* Lost energy is given back up to this part of what there was lately. A vibration that steps cannot follow, as of a tie
 * that snaps shut, may take far more with it, which would drive all else faster and faster. */
static const double most_owed = 0.25, of_lately = 0.8;

/* Contacts that do more work than this part of the largest energy that a tree has had are a blow. */
static const double hard_blow = 0.05;

/* Parts of the energy in play; below that velocities stay as they are. */
static const double not_worth_it = 1e-7;

/* More than this part of the energy in play out of nothing refuses the step: where smaller ones can be tried, and where
 * a step is taken as it is. */
static const double strict_tolerance = 0.015, loose_tolerance = 0.25;

/* The work of loads is off by part of it in steps that are long for them. */
static const double doubt_of_work = 0.25, doubt_of_all_work = 0.02, doubt_of_touch_work = 0.05;

/* Parts that begin inside of something are lifted out of it: beside this part of the energy of heights that is small. */
static const double part_of_heights = 0.1;

/* Energies of heights and of parts that are bent but balance are differences of large numbers; motion below this part
 * of them is not looked after. */
static const double least = 1e-7, noise = 1e-12; /* J: of what nothing happens to */

/* A step goes on with the accelerations of the one before. Loads that are gone, or less, act on in that way, and do up
 * to this times the work of the step before. */
static const double most_after_push = 2;

/* ---- memory ---- */

static size_t factor_count(const bough_tree_model *model) {
    return (size_t)model->def.part_count + (size_t)model->def.tie_count;
}

size_t bo_ledger_size(const bough_tree_model *model) {
    return sizeof(bo_tree_ledger) + (size_t)model->def.part_count * sizeof(bo_tree_account) +
           factor_count(model) * sizeof(double);
}

static bo_tree_account *accounts(bo_tree_ledger *ledger) {
    return (bo_tree_account *)ledger->numbers;
}

/* Stiffness of the parts and strength of the ties when targets were set. */
static double *factors_of(const bough_tree_model *model, bo_tree_ledger *ledger) {
    return (double *)(accounts(ledger) + model->def.part_count);
}

void bo_ledger_close(const bough_tree_model *model, bough_tree_state *state) {
    for (int32_t t = 0; t < model->def.part_count; t++)
        accounts(bo_tree_ledger_of(state))[t].open = 0;
}

void bo_ledger_look(bough_tree_state *state, int32_t tree) {
    accounts(bo_tree_ledger_of(state))[tree].every = 0;
}

void bo_ledger_ask(bough_tree_state *state) {
    bo_tree_ledger_of(state)->asked = 1;
}

static int32_t tree_count(const bough_tree_model *model) {
    return model->def.tie_count > 0 ? 1 : model->levels[0].end_part;
}

/* Accounts are by the inside numbers of roots, which are other ones now. */
void bo_ledger_shift(const bough_tree_model *before, const bough_tree_model *after, bough_tree_state *state,
                     const bool *alone) {
    bo_tree_account *trees = accounts(bo_tree_ledger_of(state));
    bo_tree_account *kept = (bo_tree_account *)bo_tree_work_of(state)->energies; /* larger than all of them */
    for (int32_t i = 0; i < tree_count(after); i++) {
        const int32_t user = after->parts[i].user;
        kept[i] = (bo_tree_account){0};
        if (alone[user] && after->def.tie_count == 0)
            kept[i] = trees[before->inside[user]];
    }
    memcpy(trees, kept, (size_t)tree_count(after) * sizeof *trees);
}

/* ---- sums ---- */

typedef struct {
    double kinetic, elastic, weight, size; /* size: sum of magnitudes */
    double damped;                         /* 1: something takes energy */
    double held;                           /* 1: its roots stand still */
    double led;                            /* 1: a root has a track */
} tree_energy;

static tree_energy *sums_of(const bough_tree_model *model, bough_tree_state *state) {
    return (tree_energy *)(bo_tree_work_of(state)->energies + 3 * (size_t)model->part_count);
}

/* Room for the accounts as they were before a step. */
static bo_tree_account *kept_accounts(const bough_tree_model *model, bough_tree_state *state) {
    return (bo_tree_account *)(sums_of(model, state) + model->part_count);
}

size_t bo_ledger_room(const bough_tree_model *model) {
    return (size_t)model->part_count *
           (3 + sizeof(tree_energy) / sizeof(double) + sizeof(bo_tree_account) / sizeof(double));
}

/* Energies of the trees at q, v, where the frames are. */
static bool measure(bough_context *ctx, const bough_tree_model *model, bough_tree_state *state, const double *q,
                    const double *v) {
    const double *parts = bo_tree_work_of(state)->energies;
    tree_energy *trees = sums_of(model, state);
    const double tied = bo_tree_tie_energy(model, state);
    if (!bo_tree_measure(ctx, model, state, bo_tree_work_of(state)->felt, q, v, bo_tree_work_of(state)->energies))
        return false;
    for (int32_t t = 0; t < tree_count(model); t++)
        trees[t] = (tree_energy){.held = 1, .elastic = t == 0 ? tied : 0, .size = t == 0 ? tied : 0};
    for (int32_t i = 0; i < model->levels[0].end_part; i++) {
        const bo_tree_part *root = &model->parts[i];
        if (root->free || root->track)
            trees[root->tree].held = 0;
        if (root->track)
            trees[root->tree].led = 1;
    }
    for (int32_t i = 0; i < model->def.tie_count; i++)
        if (!model->ties[i].broken && (model->ties[i].damping[0] != 0 || model->ties[i].damping[1] != 0))
            trees[0].damped = 1;
    for (int32_t i = 0; i < model->part_count; i++) {
        const bo_tree_part *part = &model->parts[i];
        tree_energy *t = &trees[part->tree];
        if (part->asleep)
            continue;
        t->kinetic += parts[3 * i];
        t->elastic += parts[3 * i + 1];
        t->weight += parts[3 * i + 2];
        t->size += fabs(parts[3 * i + 1]) + fabs(parts[3 * i + 2]);
        if (state->damping_mass[part->user] != 0 || state->damping_stiffness[part->user] != 0 ||
            (part->joint >= 0 && model->joints[part->joint].damping != 0))
            t->damped = 1;
    }
    return true;
}

static double total(const tree_energy *t) {
    return t->kinetic + t->elastic + t->weight;
}

/* Energy of a tree in excess of its target, once doubts are taken off. */
static double excess_of(const tree_energy *t, const bo_tree_account *a) {
    const double excess = total(t) - (a->target + a->work), doubt = doubt_of_work * a->span;
    return excess > doubt ? excess - doubt : excess < -doubt ? excess + doubt : 0;
}

/* Loads act all through a step, and turn with their parts: their work is that along the way of the frames, in the axes
 * of both ends, and along the way of the coordinates, from q. */
static void add_load_work(const bough_tree_model *model, const bough_tree_state *state, const double *q) {
    const bo_tree_work *w = bo_tree_work_of(state);
    for (int32_t i = 0; i < model->part_count; i++) {
        const bo_tree_part *part = &model->parts[i];
        const bo_tree_frames *now = &w->frames[part->slot / 4];
        const bough_frame *was = &state->frames[part->user];
        const double *wrench = w->load_wrench + 6 * i;
        if (part->asleep)
            continue;
        const bo_mat3 R = bo_matrix_at(now->world, part->slot % 4);
        bo_mat3 R_was;
        memcpy(R_was.m, was->pose.rotation, sizeof R_was.m);
        const bo_vec3 way = bo_sub(bo_vector_at(now->origin, part->slot % 4), bo_load3(was->pose.position));
        const bo_vec3 mean = bo_scale(0.5, bo_add(bo_mat_tvec(R_was, way), bo_mat_tvec(R, way)));
        const bo_vec3 turn = bo_log3(bo_mat_mul(bo_transpose(R_was), R));
        double work = bo_dot(bo_load3(wrench), mean) + bo_dot(bo_load3(wrench + 3), turn);
        for (int32_t k = part->offset; k < part->offset + part->r; k++)
            work += w->load[k] * (w->next_q[k] - q[k]);
        const bo_tree_joint *joint = part->joint >= 0 ? &model->joints[part->joint] : NULL;
        for (int32_t k = 0; joint && k < joint->count; k++)
            work += w->load[joint->offset + k] * (w->next_q[joint->offset + k] - q[joint->offset + k]);
        accounts(bo_tree_ledger_of(state))[part->tree].work += work;
        accounts(bo_tree_ledger_of(state))[part->tree].span += fabs(work);
    }
}

/* Work of contacts on a tree. What hits something hard is looked at: steps do not follow a blow. */
static void add_touch_work(void *data, int32_t tree, double work) {
    bo_tree_account *account = (bo_tree_account *)data + tree;
    account->work += work;
    account->span += doubt_of_touch_work / doubt_of_work * fabs(work);
    if (fabs(work) > hard_blow * account->scale)
        account->every = 0;
}

/* Work of the obstacles that move in the step, where each goes on with the points that it presses. */
static double work_of_led_obstacles(const bo_tree_touch *touch) {
    double work = 0;
    for (size_t i = 0; touch && touch->answered && i < touch->point_count; i++) {
        const int32_t o = touch->points[i].obstacle;
        if (o < 0 || !touch->def.obstacles[o].pose)
            continue;
        const bo_se3 before = touch->before[o], now = touch->now[o].pose;
        const bo_vec3 x = touch->points[i].start;
        const bo_vec3 led = bo_add(now.t, bo_mat_vec(now.R, bo_mat_tvec(before.R, bo_sub(x, before.t))));
        work += bo_dot(touch->contacts[i].force, bo_sub(led, x));
    }
    return work;
}

/* ---- steps ---- */

bool bo_ledger_settings_differ(const bough_tree_model *model, const bough_tree_state *state) {
    const size_t parts = (size_t)model->def.part_count, ties = (size_t)model->def.tie_count;
    const double *seen = factors_of(model, bo_tree_ledger_of(state));
    return memcmp(seen, state->stiffness, parts * sizeof *seen) != 0 ||
           (ties > 0 && memcmp(seen + parts, state->tie_strength, ties * sizeof *seen) != 0) ||
           memcmp(bo_tree_ledger_of(state)->gravity, state->gravity, sizeof state->gravity) != 0;
}

static void remember_settings(const bough_tree_model *model, bough_tree_state *state) {
    const size_t parts = (size_t)model->def.part_count, ties = (size_t)model->def.tie_count;
    double *seen = factors_of(model, bo_tree_ledger_of(state));
    memcpy(seen, state->stiffness, parts * sizeof *seen);
    if (ties > 0)
        memcpy(seen + parts, state->tie_strength, ties * sizeof *seen);
    memcpy(bo_tree_ledger_of(state)->gravity, state->gravity, sizeof state->gravity);
}

/* Opens the accounts of trees that have none, and notes the excess of all when somebody asked for it. */
static void open_accounts(const bough_tree_model *model, bough_tree_state *state) {
    const tree_energy *sums = sums_of(model, state);
    for (int32_t t = 0; t < tree_count(model); t++) {
        bo_tree_account *a = &accounts(bo_tree_ledger_of(state))[t];
        if (a->open == 0)
            *a = (bo_tree_account){.open = 1,
                                   .every = OFTEN,
                                   .target = total(&sums[t]),
                                   .pushing = a->pushing,
                                   .pressing = a->pressing,
                                   .pressed = a->pressed};
        if (bo_tree_ledger_of(state)->asked != 0)
            a->excess = excess_of(&sums[t], a), a->known = 1, a->every = OFTEN;
    }
    bo_tree_ledger_of(state)->asked = 0;
}

bough_status bo_ledger_begin(bough_context *ctx, const bough_tree_model *model, bough_tree_state *state, double share) {
    bo_tree_ledger *ledger = bo_tree_ledger_of(state);
    bo_tree_account *trees = accounts(ledger);
    bool look = ledger->asked != 0;
    if (bo_ledger_settings_differ(model, state))
        bo_ledger_close(model, state);
    for (int k = 0; k < 3; k++) /* a step goes on with the accelerations of the one before, which felt other gravity */
        bo_tree_work_of(state)->felt[k] = share * state->gravity[k] + (1 - share) * ledger->gravity[k];
    for (int32_t t = 0; t < tree_count(model); t++) {
        look = look || trees[t].open == 0;
        trees[t].led = 0;
    }
    if (look && !measure(ctx, model, state, state->q, state->v))
        return bo_fail(ctx, BOUGH_NOT_FINITE, "a part is turned inside out");
    if (look)
        open_accounts(model, state);
    return BOUGH_OK;
}

/* Velocity and spin of a root that is led, in its axes. */
static void velocity_of_lead(const bo_tree_part *part, double time, double V[6]) {
    bo_track_pose pose;
    bo_track_at(part->track, time, &pose); /* where its accelerations were taken; the frame may be elsewhere */
    bo_store3(V, bo_mat_tvec(pose.rotation, pose.velocity));
    bo_store3(V + 3, bo_mat_tvec(pose.rotation, pose.angular_velocity));
}

/* The share of forces of contacts that a step takes back: touch.c, "forces of the last step". */
static double share_of(double gamma) {
    return (1 - gamma) / gamma;
}

/* A root is pushed with I A + p, in its axes. p holds the part of the last step's contacts that this one takes back, and which
 * counted in that step already: it is given back here. */
void bo_ledger_lead(const bough_tree_model *model, const bough_tree_state *state, double lead_time, double gamma) {
    const bo_tree_work *w = bo_tree_work_of(state);
    bo_tree_account *trees = accounts(bo_tree_ledger_of(state));
    for (int32_t i = model->levels[0].first_part; i < model->levels[0].end_part && model->led; i++) {
        bo_tree_account *a = &trees[model->parts[i].tree];
        a->led = share_of(gamma) * a->pressed, a->pressing = -a->led;
    }
    for (int32_t i = model->levels[0].first_part; i < model->levels[0].end_part && model->led; i++) {
        const bo_tree_part *part = &model->parts[i];
        const bo_tree_inertias *s = &w->inertias[part->slot / 4];
        const int32_t lane = part->slot % 4;
        double V[6], power = 0;
        if (!part->track)
            continue;
        velocity_of_lead(part, lead_time, V);
        for (int d = 0; d < 6; d++) {
            double push = BO_LANE_CONST(s->p[d], lane);
            for (int e = 0; e < 6; e++)
                push += BO_LANE_CONST(s->I[bo_six_at[d][e]], lane) * BO_LANE_CONST(s->A[e], lane);
            power += V[d] * push;
        }
        trees[part->tree].led += power; /* ties may join trees that are led */
    }
}

void bo_ledger_press(const bough_tree_model *model, const bough_tree_state *state, double lead_time, double gamma,
                     const double *p) {
    bo_tree_account *trees = accounts(bo_tree_ledger_of(state));
    for (int32_t i = model->levels[0].first_part; i < model->levels[0].end_part && model->led; i++) {
        const bo_tree_part *part = &model->parts[i];
        double V[6], power = 0;
        if (!part->track)
            continue;
        velocity_of_lead(part, lead_time, V);
        for (int d = 0; d < 6; d++)
            power += V[d] * p[6 * i + d];
        trees[part->tree].led += gamma * power, trees[part->tree].pressing += power;
    }
}

/* All that moves in a tree becomes `by` times as fast. */
static void scale_motion(const bough_tree_model *model, int32_t tree, double by, double *v) {
    for (int32_t i = 0; i < model->part_count; i++) {
        const bo_tree_part *part = &model->parts[i];
        if (part->tree != tree)
            continue;
        for (int32_t l = 0; l < part->r; l++)
            v[part->offset + l] *= by;
        for (int32_t k = 0; part->joint >= 0 && k < model->joints[part->joint].count; k++)
            v[model->joints[part->joint].offset + k] *= by;
    }
}

/* Result of a look at the energies. */
typedef struct {
    double surplus; /* J, of the worst tree that has far too much; 0: none has */
    bool steered;
} finding;

/* The same; its target becomes what it should have now. */
static double settle_account(const tree_energy *t, bo_tree_account *a, bool steer) {
    const double now = fmax(t->kinetic + fabs(t->elastic), fmax(least * t->size, noise));
    double excess = excess_of(t, a);
    a->scale = fmax(a->scale, now);
    a->lately = fmax(of_lately * a->lately, now);
    if (excess < 0 && (t->damped != 0 || t->held == 0 || !steer)) /* that may be as it should */
        excess = 0;
    excess = fmax(excess, -most_owed * a->lately);
    if (t->led != 0 && !steer) /* other steps know the velocity of a track at one end and its pull at the other */
        excess = 0;
    a->target = total(t) - excess;
    a->work = a->span = 0;
    return excess;
}

/* A step that ends with far too much is refused, unless it began with nearly as much: then none would be good enough,
 * and steering takes it back. */
static bool is_too_much(const bo_tree_account *a, double excess, double tolerance) {
    const double after_push = most_after_push * fmax(0, a->pushed - a->pushing);
    return excess > tolerance * a->scale + after_push &&
           !(a->known != 0 && excess <= a->excess + 0.01 * tolerance * a->scale);
}

static double factor_for(const tree_energy *t, double excess) {
    const double square = t->kinetic > 0 ? 1 - excess / t->kinetic : 1;
    const double factor = square > 0 ? sqrt(square) : 0;
    return fmin(fmax(factor, 1 - most_down), 1 + most_up);
}

static bool is_due(const bo_tree_ledger *ledger, const bo_tree_account *a) {
    return a->every <= OFTEN || fmod(ledger->steps, a->every) == 0;
}

static finding settle_accounts(const bough_tree_model *model, bough_tree_state *state, bool steer, double tolerance) {
    bo_tree_account *trees = accounts(bo_tree_ledger_of(state));
    const tree_energy *sums = sums_of(model, state);
    finding found = {0, false};
    for (int32_t t = 0; t < tree_count(model); t++) {
        bo_tree_account *a = &trees[t];
        if (!is_due(bo_tree_ledger_of(state), a)) {
            a->known = 0;
            continue;
        }
        const double excess = settle_account(&sums[t], a, steer), off = a->scale > 0 ? fabs(excess) / a->scale : 0;
        if (is_too_much(a, excess, tolerance) && excess > found.surplus)
            found.surplus = excess;
        const double most = off > far_off ? OFTEN : off > a_little_off ? NOW_AND_THEN : RARELY;
        a->every = fmin(fmax(2 * a->every, OFTEN), most); /* calm comes slowly */
        a->excess = excess, a->known = 1;
        if (steer && sums[t].held != 0 && off > not_worth_it) {
            const double by = factor_for(&sums[t], excess);
            scale_motion(model, t, by, bo_tree_work_of(state)->next_v);
            a->excess -= (1 - by * by) * sums[t].kinetic;
            found.steered = true;
        }
    }
    return found;
}

/* Adds the work of contacts and returns what nobody did of it, J. Contacts of trees with each other and with obstacles that
 * stand still only take energy; where they give some, as where a step leads points far along a surface that presses on them,
 * it comes out of nothing. */
static double add_work_of_contacts(const bough_tree_model *model, const bough_tree_state *state,
                                   bo_tree_account *trees) {
    const double led = work_of_led_obstacles(bo_tree_work_of(state)->touch);
    double before = 0, after = 0;
    for (int32_t t = 0; t < tree_count(model); t++)
        before += trees[t].work;
    bo_tree_touch_work(model, bo_tree_work_of(state), add_touch_work, trees);
    for (int32_t t = 0; t < tree_count(model); t++)
        after += trees[t].work;
    return after - before - led - doubt_of_touch_work * fabs(led);
}

/* The energy that contacts have made is too much beside that of the trees. Where sums are known energies of heights count,
 * too. */
static bool contacts_make_too_much(const bough_tree_model *model, const bo_tree_account *trees, const tree_energy *sums,
                                   double made, double tolerance) {
    double scale = noise;
    for (int32_t t = 0; t < tree_count(model); t++)
        scale += fmax(trees[t].scale, sums ? part_of_heights * sums[t].size : 0);
    return made > tolerance * scale;
}

/* Work done in the step. Returns what contacts have made out of nothing, J. */
static double add_work(const bough_tree_model *model, bough_tree_state *state, const double *q, double dt) {
    bo_tree_ledger *ledger = bo_tree_ledger_of(state);
    bo_tree_account *trees = accounts(ledger);
    double work = 0, span = 0;
    for (int32_t t = 0; t < tree_count(model); t++) {
        bo_tree_account *a = &trees[t];
        work -= a->work, span -= a->span;
        a->work += dt * a->led;
        a->span += dt * fabs(a->led) / doubt_of_work; /* a track may jerk: nothing is sure of what it does in a step */
        a->pushed = a->pushing, a->pushing = -a->span;
        a->pressed = a->pressing;
    }
    if (bo_tree_work_of(state)->loaded)
        add_load_work(model, state, q);
    const double made = add_work_of_contacts(model, state, trees);
    for (int32_t t = 0; t < tree_count(model); t++)
        work += trees[t].work, span += trees[t].span, trees[t].pushing += trees[t].span;
    ledger->work += work;
    ledger->span += span;
    ledger->doubt = doubt_of_work * span + doubt_of_all_work * ledger->span;
    return made;
}

bough_status bo_ledger_end(bough_context *ctx, const bough_tree_model *model, bough_tree_state *state, const double *q,
                           double dt, bool steer, bool strictly, bool *steered) {
    bo_tree_ledger *ledger = bo_tree_ledger_of(state), before = *ledger;
    const size_t size = (size_t)tree_count(model) * sizeof(bo_tree_account);
    const double tolerance = strictly ? strict_tolerance : loose_tolerance;
    *steered = false;
    memcpy(kept_accounts(model, state), accounts(ledger), size);
    const double made = add_work(model, state, q, dt);
    ledger->steps += 1;
    bool look = false;
    for (int32_t t = 0; t < tree_count(model); t++) {
        if (dt > 1.5 * state->last_dt) /* the calm of shorter steps says little */
            accounts(ledger)[t].every = 0;
        look = look || is_due(ledger, &accounts(ledger)[t]);
    }
    look = look || contacts_make_too_much(model, accounts(ledger), NULL, made, tolerance);
    for (int32_t t = 0; t < tree_count(model) && !look; t++)
        accounts(ledger)[t].known = 0;
    if (!look)
        return BOUGH_OK;
    bough_status status = BOUGH_OK;
    finding found = {0, false};
    if (!measure(ctx, model, state, bo_tree_work_of(state)->next_q, bo_tree_work_of(state)->next_v))
        status = bo_fail(ctx, BOUGH_NOT_FINITE, "a part is turned inside out; take a smaller step");
    else
        found = settle_accounts(model, state, steer, tolerance);
    *steered = found.steered;
    if (found.surplus == 0 && status == BOUGH_OK &&
        contacts_make_too_much(model, accounts(ledger), sums_of(model, state), made, tolerance))
        found.surplus = made;
    bo_tree_work_of(state)->looked = !found.steered;
    if (found.surplus > 0)
        status = bo_fail(ctx, BOUGH_ENERGY_GAINED, "the step makes %.3g J out of nothing; take a smaller one",
                         found.surplus);
    if (status != BOUGH_OK) { /* the step was never taken */
        *ledger = before;
        memcpy(accounts(ledger), kept_accounts(model, state), size);
        ledger->asked = status == BOUGH_ENERGY_GAINED;
    } else if (bo_ledger_settings_differ(model, state)) { /* its account was one of this step alone */
        remember_settings(model, state);
        bo_ledger_close(model, state);
    }
    return status;
}

double bough_tree_state_work(const bough_tree_model *model, const bough_tree_state *state, double *doubt) {
    (void)model;
    if (doubt)
        *doubt = bo_tree_ledger_of(state)->doubt;
    return bo_tree_ledger_of(state)->work;
}
