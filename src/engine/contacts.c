#include "engine/contacts.h"

#include "base/file.h"
#include "base/pose.h"

#include <string.h>

int32_t bo_world_contacts(const bough_contact_world *world, bo_thing_of_side thing_of, const void *data, int32_t most,
                          bough_run_contact *contacts) {
    const int32_t count = world ? world->contact_count : 0;
    for (int32_t i = 0; i < count && i < most; i++) {
        const bough_contact *from = &world->contacts[i];
        bough_run_contact *to = &contacts[i];
        for (int side = 0; side < 2; side++)
            to->things[side] = thing_of(data, &from->sides[side]);
        memcpy(to->position, from->position, sizeof to->position);
        memcpy(to->normal, from->normal, sizeof to->normal);
        memcpy(to->force, from->force, sizeof to->force);
        to->gap = from->gap;
    }
    return count;
}

void bo_world_touch(const bough_contact_world *world, bough_contact_kind kind, int32_t index, double force[3]) {
    memset(force, 0, 3 * sizeof *force);
    for (int32_t i = 0; world && i < world->contact_count; i++) {
        const bough_contact *c = &world->contacts[i];
        for (int side = 0; side < 2; side++)
            for (int d = 0; d < 3 && c->sides[side].kind == kind && c->sides[side].index == index; d++)
                force[d] += side ? -c->force[d] : c->force[d];
    }
}

/* ---- obstacles that are led ---- */

/* The motion that takes a lead's pose from t to t + dt: its origin in a straight line, turning steadily. */
static bo_se3 motion_of(const bo_lead *lead, double t, double dt, bo_vec3 *velocity, bo_vec3 *spin) {
    const bo_se3 from = lead->pose(lead->data, t), to = lead->pose(lead->data, t + dt);
    *velocity = bo_scale(1 / dt, bo_sub(to.t, from.t));
    *spin = bo_scale(1 / dt, bo_log3(bo_mat_mul(to.R, bo_transpose(from.R))));
    return from;
}

bough_status bo_world_lead(bough_context *ctx, bough_contact_world *world, int32_t count, const bo_lead *leads,
                           double t, double dt) {
    for (int32_t i = 0; leads && i < count; i++) {
        bo_vec3 v, w;
        double velocity[3], spin[3];
        if (!leads[i].pose)
            continue;
        const bough_pose pose = bo_put_pose(motion_of(&leads[i], t, dt, &v, &w));
        bo_store3(velocity, v), bo_store3(spin, w);
        BO_TRY(bough_contact_world_move(ctx, world, i, &pose, velocity, spin));
    }
    return BOUGH_OK;
}

bough_status bo_world_stand(bough_context *ctx, bough_contact_world *world, int32_t count, const bo_lead *leads,
                            double t) {
    static const double none[3] = {0, 0, 0};
    for (int32_t i = 0; leads && i < count; i++) {
        if (!leads[i].pose)
            continue;
        const bough_pose pose = bo_put_pose(leads[i].pose(leads[i].data, t));
        BO_TRY(bough_contact_world_move(ctx, world, i, &pose, none, none));
    }
    return BOUGH_OK;
}

/* An obstacle is always the second of the two, and forces are those on the first. */
double bo_world_lead_work(const bough_contact_world *world, const bo_lead *leads, double t, double dt) {
    double work = 0;
    for (int32_t i = 0; leads && i < world->contact_count; i++) {
        const bough_contact *c = &world->contacts[i];
        bo_vec3 v, w;
        if (c->sides[1].kind != BOUGH_CONTACT_OF_OBSTACLE || !leads[c->sides[1].index].pose)
            continue;
        const bo_se3 from = motion_of(&leads[c->sides[1].index], t, dt, &v, &w);
        const bo_vec3 there = bo_add(v, bo_cross(w, bo_sub(bo_load3(c->position), from.t)));
        work += dt * bo_dot(bo_load3(c->force), there);
    }
    return work;
}

bo_se3 bo_lead_at(const bo_lead *lead, double t, bo_vec3 *velocity, bo_vec3 *spin) {
    const double short_time = 1e-5; /* s: tracks are smooth */
    motion_of(lead, t - short_time, 2 * short_time, velocity, spin);
    return lead->pose(lead->data, t);
}

/* ---- any engine ---- */

bough_status bo_engine_list_contacts(bough_context *ctx, const bo_engine *engine, bo_contact_list *list) {
    const bo_engine_kind *kind = engine->kind;
    list->count = 0;
    if (!(kind->can & BOUGH_CAN_CONTACTS))
        return BOUGH_OK;
    const int32_t count = kind->contacts(engine->data, (int32_t)list->capacity, list->items);
    if ((size_t)count > list->capacity) {
        if (!BO_RESERVE(ctx, list->items, list->capacity, (size_t)count))
            return BOUGH_ERROR_MEMORY;
        kind->contacts(engine->data, count, list->items);
    }
    list->count = count;
    return BOUGH_OK;
}

double bo_contact_split(const bough_run_contact *c, double friction[3]) {
    const bo_vec3 force = bo_load3(c->force), normal = bo_load3(c->normal);
    const double along = bo_dot(force, normal);
    bo_store3(friction, bo_mul_add(force, -along, normal));
    return along;
}

/* ---- probes ---- */

static bough_status find_thing(bough_context *ctx, const bo_engine *engine, const char *probe, const char *name,
                               int32_t *thing) {
    const char **names = BO_NEW_ARRAY(ctx, const char *, engine->thing_count);
    if (!names)
        return BOUGH_ERROR_MEMORY;
    int32_t found = 0;
    *thing = -1;
    for (int32_t i = 0; i < engine->thing_count; i++) {
        names[i] = engine->things[i].name;
        if (!strcmp(names[i], name) && ++found == 1)
            *thing = i;
    }
    const char *nearest = *thing < 0 ? bo_nearest_word(name, names, engine->thing_count) : NULL;
    bough_status status = BOUGH_OK;
    if (found > 1)
        status = bo_fail(ctx, BOUGH_ERROR_FORMAT,
                         "the probe \"%.60s\" watches \"%.60s\", which is the name of %d things; rename all but one",
                         probe, name, found);
    if (*thing < 0)
        status = bo_fail(ctx, BOUGH_ERROR_FORMAT,
                         "the probe \"%.60s\" watches \"%.60s\", which is nothing in this scene%s%.60s%s", probe, name,
                         nearest ? "; did you mean \"" : "", nearest ? nearest : "", nearest ? "\"?" : "");
    bo_free(ctx, names);
    return status;
}

bough_status bo_engine_watch_contacts(bough_context *ctx, bo_engine *engine) {
    for (int32_t i = 0; i < engine->probe_count; i++) {
        const bo_probe *probe = &engine->probes[i];
        if (probe->kind != BO_PROBE_CONTACT)
            continue;
        if (!(engine->kind->can & BOUGH_CAN_CONTACTS))
            return bo_fail(ctx, BOUGH_ERROR_UNSUPPORTED,
                           "the probe \"%.60s\" measures contacts, and %s knows none in this scene", probe->name,
                           engine->kind->title);
        BO_TRY(bo_engine_need_things(engine));
        if (!engine->watched && !(engine->watched = BO_NEW_ARRAY(ctx, int32_t, 2 * (size_t)engine->probe_count)))
            return BOUGH_ERROR_MEMORY;
        int32_t *watched = engine->watched + 2 * (size_t)i;
        watched[1] = -1;
        BO_TRY(find_thing(ctx, engine, probe->name, probe->thing, &watched[0]));
        if (probe->against)
            BO_TRY(find_thing(ctx, engine, probe->name, probe->against, &watched[1]));
    }
    return BOUGH_OK;
}

/* Adds a point to the columns of a probe, once also where a thing touches itself: its force is none on the whole. */
static void add_point(const bough_run_contact *c, const int32_t watched[2], double values[6]) {
    double friction[3];
    bool seen = false;
    for (int side = 0; side < 2; side++) {
        if (c->things[side] != watched[0] || (watched[1] >= 0 && c->things[1 - side] != watched[1]))
            continue;
        seen = true;
        for (int d = 0; d < 3; d++)
            values[3 + d] += side ? -c->force[d] : c->force[d];
    }
    if (!seen || bo_norm(bo_load3(c->force)) == 0)
        return;
    values[0]++;
    values[1] += bo_contact_split(c, friction);
    values[2] += bo_norm(bo_load3(friction));
}

bough_status bo_engine_measure_contacts(bough_context *ctx, bo_engine *engine, double *values) {
    if (!engine->watched)
        return BOUGH_OK;
    BO_TRY(bo_engine_list_contacts(ctx, engine, &engine->contacts));
    values += BOUGH_COLUMN_PROBES;
    for (int32_t i = 0; i < engine->probe_count; values += bo_probe_columns(&engine->probes[i++])) {
        if (engine->probes[i].kind != BO_PROBE_CONTACT)
            continue;
        memset(values, 0, 6 * sizeof *values);
        for (int32_t k = 0; k < engine->contacts.count; k++)
            add_point(&engine->contacts.items[k], engine->watched + 2 * (size_t)i, values);
    }
    return BOUGH_OK;
}
