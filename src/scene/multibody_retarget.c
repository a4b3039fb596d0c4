/* "retarget" of multibody systems: what is tracked, and what curves of motors may do. docs/retarget.md. */
#include "scene/multibody_scene.h"

#include "rig/joint.h"
#include "scene/entries.h"
#include "scene/scene.h"

#include <string.h>

#define MOST_TRACKED 1000
#define MOST_STEPS 1e6 /* of one motion; more is a slip in the units of time */

void bo_multibody_free_retarget(bough_context *ctx, bo_retarget_plan *plan) {
    for (int32_t i = 0; i < plan->track_count; i++)
        bo_free(ctx, plan->tracks[i].name);
    bo_free(ctx, plan->tracks);
    bo_free(ctx, plan->limits);
    *plan = (bo_retarget_plan){0};
}

/* ---- what is tracked ---- */

static bough_status read_track(const bo_multibody_reader *r, bo_json at, json_t *names, int32_t i) {
    bo_retarget_track *track = &r->m->retarget.tracks[i];
    bo_multibody_spot spot;
    bo_json name = bo_json_at(&at, "name");
    *track = (bo_retarget_track){.weight = 1, .curve = -1};
    BO_TRY(bo_json_keys(at, BO_TRACKED_KEYS));
    BO_TRY(bo_multibody_read_spot(r, &at, &spot));
    track->frame = spot.frame;
    if (spot.frame.body >= r->m->def.body_count && spot.frame.interface_index < 0)
        return bo_json_fail(at, "of a part an \"interface\" is tracked, which is missing");
    if (!name.value)
        name = bo_json_has(&at, "body") ? bo_json_at(&at, "body") : bo_json_at(&at, "part");
    BO_TRY(bo_json_add_name(name, "tracked frame", names, i, &track->name));
    BO_TRY(bo_json_number(bo_json_at(&at, "weight"), BO_NOT_NEGATIVE, &track->weight));
    BO_TRY(bo_json_number(bo_json_at(&at, "orientation"), BO_NOT_NEGATIVE, &track->orientation));
    if (track->weight == 0 && track->orientation == 0)
        return bo_json_fail(at, "has neither a \"weight\" nor an \"orientation\" above 0, so that nothing is tracked");
    return bo_scene_choose_curve(bo_json_at(&at, "curve"), &r->scene->drive, &track->curve);
}

/* Factors in time are weights: none below 0. */
static bough_status check_curve(const bo_multibody_reader *r, bo_json at, int32_t curve) {
    const bo_curve *c = curve < 0 ? NULL : &r->scene->drive.curves[curve];
    for (int32_t k = 0; c && k < c->count; k++)
        if (c->values[k] < 0)
            return bo_json_fail(bo_json_at(&at, "curve"), "is %g at %g s; a weight is 0 or more", c->values[k],
                                c->times[k]);
    return BOUGH_OK;
}

static bough_status read_tracks(const bo_multibody_reader *r, bo_json at) {
    bo_retarget_plan *plan = &r->m->retarget;
    int32_t count;
    BO_TRY(bo_json_list(at, &count));
    if (count > MOST_TRACKED)
        return bo_json_fail(at, "%d of them are too many; %d is the limit", count, MOST_TRACKED);
    if (at.value && count == 0)
        return bo_json_fail(at, "is empty; leave it out to track the bodies at the ends of flexible parts");
    if (!(plan->tracks = BO_NEW_ZEROS(at.ctx, bo_retarget_track, count)))
        return BOUGH_ERROR_MEMORY;
    plan->track_count = count;
    json_t *names = json_object();
    bough_status status = names ? BOUGH_OK : bo_fail_memory(at.ctx);
    for (int32_t i = 0; i < count && status == BOUGH_OK; i++) {
        bo_json item = bo_json_item(&at, i);
        status = read_track(r, item, names, i);
        if (status == BOUGH_OK)
            status = check_curve(r, item, plan->tracks[i].curve);
    }
    json_decref(names);
    return status;
}

/* ---- limits of motors ---- */

/* "KEY", or "KEY_deg" of a joint that turns. */
static bough_status read_limit(const bo_json *at, const char *key, bool turns, double *value) {
    char degrees[40];
    snprintf(degrees, sizeof degrees, "%s_deg", key);
    bo_json plain = bo_json_at(at, key), turned = bo_json_at(at, degrees);
    if (plain.value && turned.value)
        return bo_json_fail(turned, "is one too many beside \"%s\"", key);
    if (turned.value && !turns)
        return bo_json_fail(turned, "is for joints that turn; this one slides");
    BO_TRY(bo_json_number(plain, BO_POSITIVE, value));
    BO_TRY(bo_json_number(turned, BO_POSITIVE, value));
    *value *= turned.value ? M_PI / 180 : 1;
    return BOUGH_OK;
}

static bough_status read_range(const bo_json *at, bool turns, bough_motor_limits *limits) {
    bo_json plain = bo_json_at(at, "range"), turned = bo_json_at(at, "range_deg");
    bo_json given = plain.value ? plain : turned;
    double range[2] = {limits->lowest, limits->highest};
    if (plain.value && turned.value)
        return bo_json_fail(turned, "is one too many beside \"range\"");
    if (turned.value && !turns)
        return bo_json_fail(turned, "is for joints that turn; this one slides");
    BO_TRY(bo_json_numbers(given, 2, BO_ANY, range));
    if (given.value && !(range[0] < range[1]))
        return bo_json_fail(given, "goes from %g to %g; the first must be the smaller", range[0], range[1]);
    const double scale = turned.value ? M_PI / 180 : 1;
    limits->lowest = scale * range[0], limits->highest = scale * range[1];
    return BOUGH_OK;
}

static bough_status read_limits_of(const bo_multibody_reader *r, bo_json at) {
    const bo_multibody_scene *m = r->m;
    bo_json motor = bo_json_must(&at, "motor"), force = bo_json_at(&at, "force");
    int32_t i = 0;
    BO_TRY(bo_json_keys(at, BO_MOTOR_LIMIT_KEYS));
    if (!motor.value)
        return bo_json_fail(at, "\"motor\" is missing");
    BO_TRY(bo_multibody_find(r, motor, BO_NAMES_MOTOR, &i));
    bough_motor_limits *limits = &m->retarget.limits[i];
    const bool turns = !bo_joint_slides(m->joints[m->motors[i].joint].kind, m->motors[i].freedom);
    BO_TRY(read_range(&at, turns, limits));
    BO_TRY(read_limit(&at, "speed", turns, &limits->speed));
    BO_TRY(read_limit(&at, "acceleration", turns, &limits->acceleration));
    if (force.value && !isinf(m->motors[i].stiffness))
        return bo_json_fail(force, "is for motors that hold exactly; this one gives way, and has a \"limit\"");
    return bo_json_number(force, BO_POSITIVE, &limits->force);
}

/* Motors stay within the limits of their joints, unless the file says less. */
static bough_status read_limits(const bo_multibody_reader *r, bo_json at) {
    bo_multibody_scene *m = r->m;
    int32_t count;
    BO_TRY(bo_json_list(at, &count));
    if (!(m->retarget.limits = BO_NEW_ARRAY(r->root->ctx, bough_motor_limits, m->def.motor_count)))
        return BOUGH_ERROR_MEMORY;
    for (int32_t i = 0; i < m->def.motor_count; i++) {
        const bough_joint_def *joint = &m->joints[m->motors[i].joint];
        m->retarget.limits[i] = bough_default_motor_limits();
        m->retarget.limits[i].lowest = joint->lower[m->motors[i].freedom];
        m->retarget.limits[i].highest = joint->upper[m->motors[i].freedom];
    }
    for (int32_t i = 0; i < count; i++)
        BO_TRY(read_limits_of(r, bo_json_item(&at, i)));
    return BOUGH_OK;
}

/* ---- all of it ---- */

static bough_status read_search(bo_json at, bo_retarget_plan *plan) {
    static const char *const words[] = {"usual", "lbfgs", "bfgs", "gauss-newton"}; /* bough_search_kind */
    BO_TRY(bo_json_choice(bo_json_at(&at, "search"), words, 4, &plan->search));
    BO_TRY(bo_json_integer(bo_json_at(&at, "iterations"), 1, 100000, &plan->iterations));
    BO_TRY(bo_json_number(bo_json_at(&at, "tolerance"), (bo_range){0, 1, false}, &plan->tolerance));
    BO_TRY(bo_json_number(bo_json_at(&at, "window"), BO_POSITIVE, &plan->window));
    return bo_json_number(bo_json_at(&at, "overlap"), BO_POSITIVE, &plan->overlap);
}

bough_status bo_multibody_read_retarget(const bo_multibody_reader *r, bo_json at) {
    bo_retarget_plan *plan = &r->m->retarget;
    *plan = (bo_retarget_plan){.dt = 0.002,
                               .point_rate = 20,
                               .degree = 3,
                               .moving = 1,
                               .keep = 1e-5,
                               .smooth = 1e-9,
                               .limit_weight = 1,
                               .rate = 100,
                               .iterations = 100,
                               .tolerance = 1e-4,
                               .overlap = 1};
    BO_TRY(bo_json_keys(at, BO_RETARGET_KEYS));
    BO_TRY(bo_json_number(bo_json_at(&at, "duration"), BO_POSITIVE, &plan->duration));
    BO_TRY(bo_json_number(bo_json_at(&at, "dt"), BO_POSITIVE, &plan->dt));
    BO_TRY(bo_json_number(bo_json_at(&at, "point_rate"), BO_POSITIVE, &plan->point_rate));
    BO_TRY(bo_json_integer(bo_json_at(&at, "degree"), 2, 5, &plan->degree));
    BO_TRY(read_tracks(r, bo_json_at(&at, "track")));
    BO_TRY(bo_json_number(bo_json_at(&at, "moving"), BO_NOT_NEGATIVE, &plan->moving));
    BO_TRY(bo_json_number(bo_json_at(&at, "keep"), BO_NOT_NEGATIVE, &plan->keep));
    BO_TRY(bo_json_number(bo_json_at(&at, "smooth"), BO_NOT_NEGATIVE, &plan->smooth));
    BO_TRY(read_limits(r, bo_json_at(&at, "limits")));
    BO_TRY(bo_json_number(bo_json_at(&at, "limit_weight"), BO_NOT_NEGATIVE, &plan->limit_weight));
    BO_TRY(bo_json_number(bo_json_at(&at, "rate"), BO_POSITIVE, &plan->rate));
    BO_TRY(read_search(at, plan));
    if (plan->duration / plan->dt > MOST_STEPS)
        return bo_json_fail(bo_json_at(&at, "duration"), "%g s in steps of %g s are too many steps; is it in seconds?",
                            plan->duration, plan->dt);
    return BOUGH_OK;
}
