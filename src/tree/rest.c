/* Trees that fly and lie still fall asleep: steps do not see them until something happens to them. docs/theory/tree.md,
 * "Rest".
 *
 * Falling asleep is a change of the layout (change.c): trees that sleep stand behind the others in each depth, as a
 * grove of their own, and a step looks at the other grove alone. Everything else, such as surfaces, stress and energies,
 * sees all trees where they lie. */
#include "tree/rest.h"

#include "tree/change.h"
#include "tree/ledger.h"
#include "tree/touch.h"

#include <math.h>
#include <string.h>

/* A change costs some steps: trees wait for others that are about to fall asleep, for an eighth of those that fly, or
 * for this long. */
#define PATIENCE 0.25 /* s */
enum { SHARE = 8 };

/* Trees that lay still in one wind wake up in another: one that differs by more than a quarter, and by 2 m/s. */
static const double wind_share = 0.25, wind_speed = 2;

const bough_tree_model *bo_tree_awake(const bough_tree_model *model, bough_tree_model *room) {
    if (!model->has_sleepers)
        return model;
    const bo_tree_grove *grove = &model->groves[0];
    *room = *model;
    room->grove = grove;
    room->levels = grove->levels, room->level_count = grove->level_count;
    room->first_flight = grove->first_flight, room->end_flight = grove->end_flight;
    return room;
}

bool bo_tree_all_sleep(const bough_tree_model *model) {
    return model->has_sleepers && model->groves[0].level_count == 0;
}

/* ---- after a step ---- */

/* The speed of the points of a part: a bound by the motion of its frame, and the root mean square by bending. */
static double speed_of(const bough_tree_model *model, const bough_tree_state *state, const bo_tree_part *part) {
    const bo_tree_cloud *cloud = &bo_tree_work_of(state)->touch->clouds[part->component];
    const bo_component_tables *t = &model->components[part->component];
    double V[6], bends = 0;
    bo_tree_velocity(bo_tree_work_of(state), part, V);
    for (int32_t l = 0; l < part->r; l++) /* bases that are cooked are orthonormal in mass */
        bends += t->M[l * t->n + l] * state->v[part->offset + l] * state->v[part->offset + l];
    const bo_vec3 turning = bo_cross(bo_load3(V + 3), bo_scale(part->scale, cloud->centre));
    return bo_norm(bo_add(bo_load3(V), turning)) +
           part->scale * (cloud->radius * bo_norm(bo_load3(V + 3)) + sqrt(bends / t->c->mass));
}

static bool is_pushed(const bo_tree_work *w, const bo_tree_part *part, int32_t i) {
    for (int d = 0; d < 6; d++)
        if (w->wrench[6 * (size_t)i + (size_t)d] != 0)
            return true;
    for (int32_t l = 0; l < part->r; l++)
        if (w->force[part->offset + l] != 0)
            return true;
    return false;
}

/* Trees that touch each other fall asleep together, and none does that leans on one which is held. */
void bo_tree_watch_rest(const bough_tree_model *model, bough_tree_state *state, double dt) {
    bo_tree_work *w = bo_tree_work_of(state);
    bo_tree_touch *touch = w->touch;
    if (!touch || dt == 0 || touch->def.rest_speed == 0 || model->def.tie_count > 0 || model->free_count == 0)
        return;
    memset(touch->stir, 0, (size_t)model->part_count * sizeof *touch->stir);
    for (int32_t d = 0; d < model->level_count; d++)
        for (int32_t i = model->levels[d].first_part; i < model->levels[d].end_part; i++) {
            const bo_tree_part *part = &model->parts[i];
            double *stir = &touch->stir[bo_tree_island_of(touch, part->tree)];
            if (!part->flies || (w->pushed && is_pushed(w, part, i)))
                *stir = INFINITY;
            else if (*stir < touch->def.rest_speed)
                *stir = fmax(*stir, speed_of(model, state, part));
        }
    for (int32_t i = 0; i < (model->level_count > 0 ? model->levels[0].end_part : 0); i++) {
        double *quiet = &w->quiet[model->parts[i].user];
        if (model->parts[i].free)
            *quiet = touch->stir[bo_tree_island_of(touch, i)] < touch->def.rest_speed ? *quiet + dt : 0;
    }
}

void bo_tree_call(const bough_tree_model *model, bo_tree_work *work, int32_t part) {
    while (model->parts[part].parent >= 0)
        part = model->parts[part].parent;
    if (model->parts[part].asleep)
        work->quiet[model->parts[part].user] = -1;
}

/* ---- before a step ---- */

static bool wind_differs(const bough_tree_model *model, const bough_tree_state *state) {
    const bo_vec3 then = bo_load3(bo_tree_work_of(state)->quiet + model->def.part_count),
                  now = bo_load3(state->wind.velocity);
    return bo_norm(bo_sub(now, then)) > wind_speed + wind_share * bo_norm(then);
}

/* Somebody changed what all of them feel. */
static bool all_wake(const bough_tree_model *now, const bough_tree_state *state) {
    const bo_tree_touch *touch = bo_tree_work_of(state)->touch;
    return !touch || touch->def.rest_speed == 0 || bo_ledger_settings_differ(now, state) || wind_differs(now, state);
}

static void call_pushed(const bough_tree_model *now, bo_tree_work *w) {
    for (int32_t i = 0; i < now->part_count && w->pushed; i++)
        if (now->parts[i].asleep && is_pushed(w, &now->parts[i], i))
            bo_tree_call(now, w, i);
}

/* Enough trees are tired, or one of them has been for long. */
static bool is_bedtime(const bough_tree_model *now, const bo_tree_work *w) {
    int32_t tired = 0, flying = 0;
    double longest = 0;
    for (int32_t i = 0; i < now->levels[0].end_part; i++) {
        const bo_tree_part *part = &now->parts[i];
        if (!part->free || part->asleep)
            continue;
        flying++, tired += w->quiet[part->user] >= w->touch->def.rest_time;
        longest = fmax(longest, w->quiet[part->user]);
    }
    return tired > 0 && (SHARE * tired >= flying || longest >= w->touch->def.rest_time + PATIENCE);
}

/* Counts who falls asleep and who wakes up, and lists them, where there is a list. */
static int32_t list_changes(const bough_tree_model *now, const bough_tree_state *state, bough_change *list) {
    const bo_tree_work *w = bo_tree_work_of(state);
    const bool all = now->has_sleepers && all_wake(now, state);
    const bool bedtime = w->touch && w->touch->def.rest_speed > 0 && is_bedtime(now, w);
    int32_t count = 0;
    for (int32_t i = 0; i < now->levels[0].end_part; i++) {
        const bo_tree_part *part = &now->parts[i];
        const double quiet = w->quiet[part->user];
        const bool wakes = part->asleep && (all || quiet < 0);
        if (!wakes && !(part->free && !part->asleep && bedtime && !all && quiet >= w->touch->def.rest_time))
            continue;
        if (list)
            list[count] = (bough_change){.kind = (bough_change_kind)(wakes ? BO_CHANGE_WAKE : BO_CHANGE_REST),
                                         .part = part->user};
        count++;
    }
    return count;
}

bough_status bo_tree_rest(bough_context *ctx, const bough_tree_model *model, bough_tree_state *state) {
    const bough_tree_model *now = bo_tree_now(model, state);
    bo_tree_work *w = bo_tree_work_of(state);
    if (now->part_count == 0 || (!w->touch && !now->has_sleepers))
        return BOUGH_OK;
    if (now->has_sleepers)
        call_pushed(now, w);
    const bool first = !now->has_sleepers;
    const int32_t count = list_changes(now, state, NULL);
    if (count == 0)
        return BOUGH_OK;
    bough_change *list = BO_NEW_ARRAY(ctx, bough_change, count);
    if (!list)
        return BOUGH_ERROR_MEMORY;
    list_changes(now, state, list);
    bough_status status = bo_tree_keep_contacts(ctx, now, w, count, list);
    if (status == BOUGH_OK)
        status = bo_tree_rest_some(ctx, model, state, count, list);
    for (int32_t k = 0; k < count && status == BOUGH_OK; k++) /* the work is another one now */
        bo_tree_work_of(state)->quiet[list[k].part] = 0;
    if (status == BOUGH_OK && first)
        memcpy(bo_tree_work_of(state)->quiet + model->def.part_count, state->wind.velocity,
               sizeof state->wind.velocity);
    bo_free(ctx, list);
    return status;
}
