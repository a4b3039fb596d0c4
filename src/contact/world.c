/* Contact worlds: defaults, checks, memory, filters. */
#include "contact/world.h"

#include "contact/gap.h"
#include "rig/body.h"

#include <string.h>

#define OBSTACLE_COOKIE 0xB0061072u
#define WORLD_COOKIE 0xB0061074u
#define ACTOR_COOKIE 0xB0061075u
#define MOST_THINGS 100000
#define MOST_RATES 1000000
#define MOST_POINTS 100000

bough_obstacle_def bough_default_obstacle_def(void) {
    return (bough_obstacle_def){.cookie = OBSTACLE_COOKIE, .pose = bough_default_pose(), .friction = 0.5};
}

bough_contact_actor bough_default_contact_actor(void) {
    return (bough_contact_actor){.cookie = ACTOR_COOKIE, .shape_name = "shape"};
}

bough_contact_world_def bough_default_contact_world_def(void) {
    return (bough_contact_world_def){.cookie = WORLD_COOKIE,
                                     .margin = 0.05,
                                     .correction = 0.2,
                                     .push_speed = 0.2,
                                     .bounce_speed = 0.02,
                                     .most_rounds = 200,
                                     .tolerance = 1e-5,
                                     .islands = true,
                                     .most_contacts = 100000};
}

void bough_contact_actor_destroy(bough_context *ctx, bough_contact_actor *actor) {
    if (actor->cookie == ACTOR_COOKIE && actor->table && actor->table->destroy)
        actor->table->destroy(ctx, actor->data);
    memset(actor, 0, sizeof *actor);
}

/* ---- checks ---- */

static bool is_number(double x, double lower, double upper) {
    return x >= lower && x <= upper;
}

static bough_status check_body(bough_context *ctx, const bough_rigid_body_def *body, int32_t i) {
    const bo_label name = bo_rigid_body_label("body", i, body);
    BO_TRY(bo_rigid_body_check(ctx, name.text, body, false));
    if (!is_number(body->mass, 1e-12, 1e12))
        return bo_fail(ctx, BOUGH_ERROR_ARGUMENT, "%s: its mass is %g kg; it must be 1e-12 to 1e12 kg", name.text,
                       body->mass);
    for (int k = 0; k < 3; k++)
        if (body->centre[k] != 0)
            return bo_fail(ctx, BOUGH_ERROR_UNSUPPORTED,
                           "%s: the origin of a free body must be its centre of mass: move its shapes there",
                           name.text);
    return BOUGH_OK;
}

bough_status bo_obstacle_check(bough_context *ctx, const bough_obstacle_def *obstacle, int32_t i) {
    const bo_label name = bo_label_of("obstacle", i, obstacle->cookie == OBSTACLE_COOKIE ? obstacle->name : NULL);
    if (obstacle->cookie != OBSTACLE_COOKIE)
        return bo_fail(ctx, BOUGH_ERROR_ARGUMENT, "%s was not made by bough_default_obstacle_def()", name.text);
    if (!bo_good_pose(&obstacle->pose))
        return bo_fail(ctx, BOUGH_ERROR_ARGUMENT, "%s: its pose needs a rotation matrix and finite numbers", name.text);
    if (!(obstacle->friction >= 0 && obstacle->friction < INFINITY))
        return bo_fail(ctx, BOUGH_ERROR_ARGUMENT, "%s: its friction is %g; it must be 0 or more", name.text,
                       obstacle->friction);
    return BOUGH_OK;
}

static bo_label shape_label(const bough_contact_actor *actor, int32_t i) {
    return bo_label_of(actor->shape_name ? actor->shape_name : "shape", actor->shapes[i].number, NULL);
}

static bough_status check_actor_shapes(bough_context *ctx, const bough_contact_actor *actor) {
    for (int32_t i = 0; i < actor->shape_count; i++) {
        const bough_contact_shape_def *shape = &actor->shapes[i];
        const bo_label name = shape_label(actor, i);
        if (shape->place < 0 || shape->place >= actor->place_count)
            return bo_fail(ctx, BOUGH_ERROR_ARGUMENT, "%s: it is of place %d, but they are 0 .. %d", name.text,
                           shape->place, actor->place_count - 1);
        if (i > 0 && shape->place < actor->shapes[i - 1].place)
            return bo_fail(ctx, BOUGH_ERROR_ARGUMENT, "%s: shapes of an actor must ascend by their places", name.text);
        if (!is_number(shape->restitution, 0, 1))
            return bo_fail(ctx, BOUGH_ERROR_ARGUMENT, "%s: its restitution is %g; it must be 0 to 1", name.text,
                           shape->restitution);
        if (!is_number(shape->point_count, 0, MOST_POINTS))
            return bo_fail(ctx, BOUGH_ERROR_ARGUMENT, "%s: it can have 0 to %d points, not %d", name.text, MOST_POINTS,
                           shape->point_count);
        if (shape->point_count > 0 && (!actor->table->points || !actor->table->point_rows))
            return bo_fail(ctx, BOUGH_ERROR_ARGUMENT, "%s has points: the actor's table needs points and point_rows",
                           name.text);
        if (shape->solid && (shape->point_count == 0 || !actor->table->near || !actor->table->near_rows))
            return bo_fail(ctx, BOUGH_ERROR_ARGUMENT,
                           "%s is solid: it needs points, and the actor's table near and near_rows", name.text);
        if (shape->point_count > 0 && i > 0 && shape->place == shape[-1].place && shape[-1].point_count > 0)
            return bo_fail(ctx, BOUGH_ERROR_ARGUMENT, "%s: place %d has points already", name.text, shape->place);
        BO_TRY(bo_check_friction(ctx, name.text, shape->friction));
    }
    return BOUGH_OK;
}

static bough_status check_actor(bough_context *ctx, const bough_contact_actor *actor, int32_t i) {
    const bough_contact_table *t = actor->table;
    if (actor->cookie != ACTOR_COOKIE)
        return bo_fail(ctx, BOUGH_ERROR_ARGUMENT, "actor %d was not made by bough_default_contact_actor()", i);
    if (!t || !t->begin || !t->place || !t->rows || !t->answer || !t->take || !t->commit)
        return bo_fail(ctx, BOUGH_ERROR_ARGUMENT,
                       "actor %d: its table needs begin, place, rows, answer, take and commit", i);
    if (!is_number(actor->most_rates, 0, MOST_RATES) || !is_number(actor->place_count, 0, MOST_THINGS) ||
        !is_number(actor->shape_count, 0, MOST_THINGS) || (actor->place_count > 0 && !actor->places) ||
        (actor->shape_count > 0 && !actor->shapes))
        return bo_fail(ctx, BOUGH_ERROR_ARGUMENT, "actor %d: it cannot have %d rates, %d places and %d shapes", i,
                       actor->most_rates, actor->place_count, actor->shape_count);
    for (int32_t k = 0; k < actor->place_count; k++)
        if (actor->places[k].kind < BOUGH_CONTACT_OF_END_EFFECTOR || actor->places[k].kind > BOUGH_CONTACT_OF_PART)
            return bo_fail(ctx, BOUGH_ERROR_ARGUMENT, "actor %d: place %d cannot be of kind %d", i, k,
                           (int)actor->places[k].kind);
    return check_actor_shapes(ctx, actor);
}

static bough_status check_count(bough_context *ctx, const char *what, int32_t count, const void *list) {
    if (!is_number(count, 0, MOST_THINGS) || (count > 0 && !list))
        return bo_fail(ctx, BOUGH_ERROR_ARGUMENT, "a contact world can have 0 to %d %s, not %d", MOST_THINGS, what,
                       count);
    return BOUGH_OK;
}

static bough_status check_def(bough_context *ctx, const bough_contact_world_def *def) {
    if (!is_number(def->margin, 0, 10) || !is_number(def->correction, 0, 1) || !is_number(def->push_speed, 0, 1e6) ||
        !is_number(def->bounce_speed, 0, 1e6) || !is_number(def->most_rounds, 1, 1000000) ||
        !is_number(def->tolerance, 0, 1) || !is_number(def->contact_reserve, 0, 10 * MOST_THINGS) ||
        !is_number(def->most_contacts, 1, 10 * MOST_THINGS))
        return bo_fail(
            ctx, BOUGH_ERROR_ARGUMENT,
            "contact world: margin (0 .. 10), correction (0 .. 1), the speeds (0 or more), most_rounds (1 or "
            "more), tolerance (0 .. 1), contact_reserve (0 .. 1000000) or most_contacts (1 .. 1000000) is out of "
            "range");
    BO_TRY(check_count(ctx, "obstacles", def->obstacle_count, def->obstacles));
    BO_TRY(check_count(ctx, "bodies", def->body_count, def->bodies));
    for (int32_t i = 0; i < def->obstacle_count; i++) {
        const bough_obstacle_def *obstacle = &def->obstacles[i];
        BO_TRY(bo_obstacle_check(ctx, obstacle, i));
        const bo_label name = bo_label_of("obstacle", i, obstacle->name);
        BO_TRY(bo_check_friction(ctx, name.text, obstacle->friction));
        BO_TRY(bo_check_shape_count(ctx, name.text, obstacle->shape_count, obstacle->shapes));
    }
    for (int32_t i = 0; i < def->body_count; i++)
        BO_TRY(check_body(ctx, &def->bodies[i], i));
    for (int32_t i = 0; i < def->actor_count; i++)
        BO_TRY(check_actor(ctx, &def->actors[i], i));
    return BOUGH_OK;
}

/* ---- making ---- */

typedef struct {
    size_t things, places, rates, points; /* rates, points: of the actors */
} counts;

static counts count_all(const bough_contact_world_def *def) {
    counts c = {.places = (size_t)def->body_count + (size_t)def->obstacle_count};
    for (int32_t i = 0; i < def->obstacle_count; i++)
        c.things += (size_t)def->obstacles[i].shape_count;
    for (int32_t i = 0; i < def->body_count; i++)
        c.things += (size_t)def->bodies[i].shape_count;
    for (int32_t i = 0; i < def->actor_count; i++) {
        c.things += (size_t)def->actors[i].shape_count;
        c.places += (size_t)def->actors[i].place_count;
        c.rates += (size_t)def->actors[i].most_rates;
        for (int32_t k = 0; k < def->actors[i].shape_count; k++)
            c.points += (size_t)def->actors[i].shapes[k].point_count;
    }
    return c;
}

static bough_status allocate(bough_context *ctx, const bough_contact_world_def *def, counts c,
                             bough_contact_world *world) {
    struct bo_contact_world_work *w = bo_world_work(world);
    const size_t groups = (size_t)def->actor_count + (size_t)def->body_count;
    w->places = BO_NEW_ZEROS(ctx, bo_place, c.places);
    w->things = BO_NEW_ZEROS(ctx, bo_thing, c.things);
    w->boxes = BO_NEW_ZEROS(ctx, bo_box, c.things);
    w->bodies = BO_NEW_ZEROS(ctx, bo_body, def->body_count);
    w->groups = BO_NEW_ZEROS(ctx, bo_group, groups);
    w->numbers = BO_NEW_ZEROS(ctx, double, 3 * c.rates);
    w->positions = BO_NEW_ZEROS(ctx, double, 6 * c.points);
    world->bodies = BO_NEW_ZEROS(ctx, bough_rigid_body, def->body_count);
    if (!w->places || !w->things || !w->boxes || !w->bodies || !w->groups || !w->numbers || !w->positions ||
        !world->bodies)
        return bo_fail_memory(ctx);
    w->velocities = w->positions + 3 * c.points;
    BO_TRY(bo_sweep_create(ctx, (int32_t)c.things, &w->sweep));
    return bo_islands_create(ctx, (int32_t)groups, &w->islands);
}

static bool has_solid(const struct bo_contact_world_work *w) {
    for (int32_t i = 0; i < w->thing_count; i++)
        if (w->things[i].solid)
            return true;
    return false;
}

/* Room for the contacts that the def expects. */
static bough_status reserve(bough_context *ctx, bough_contact_world *world, size_t count) {
    struct bo_contact_world_work *w = bo_world_work(world);
    size_t widest = 6;
    for (int32_t i = 0; i < w->actor_count; i++)
        widest = (size_t)w->actors[i].most_rates > widest ? (size_t)w->actors[i].most_rates : widest;
    if (count == 0)
        return BOUGH_OK;
    if (!BO_RESERVE(ctx, w->meetings, w->meeting_capacity, count) ||
        !BO_RESERVE(ctx, w->constraints, w->constraint_capacity, count) ||
        !BO_RESERVE(ctx, w->rows, w->row_capacity, 6 * count * widest) ||
        !BO_RESERVE(ctx, w->answers, w->answer_capacity, 6 * count * widest) ||
        !BO_RESERVE(ctx, w->kept, w->kept_capacity, count) ||
        !BO_RESERVE(ctx, w->pushes, w->push_capacity, 2 * count) ||
        !BO_RESERVE(ctx, world->contacts, w->contact_capacity, count) ||
        !BO_RESERVE(ctx, w->nears, w->near_capacity, has_solid(w) ? count : 0) ||
        !BO_RESERVE(ctx, w->sweep.pairs, w->sweep.pair_capacity, 4 * count)) /* most boxes that overlap do not touch */
        return bo_fail_memory(ctx);
    return bo_islands_reserve(ctx, &w->islands, count);
}

static bough_status add_thing(bough_context *ctx, struct bo_contact_world_work *w, const char *name,
                              const bough_shape_def *shape, double friction, double restitution) {
    bo_thing *thing = &w->things[w->thing_count];
    const bough_status status = bough_shape_create(ctx, shape, &thing->shape);
    if (status != BOUGH_OK) {
        bo_prefix_message(ctx, "%s: ", name);
        return status;
    }
    thing->place = w->place_count - 1;
    thing->friction = friction, thing->restitution = restitution, thing->radius = thing->shape->radius;
    w->thing_count++;
    if (bo_shape_is_ground(thing->shape) && w->places[thing->place].side.kind != BOUGH_CONTACT_OF_OBSTACLE)
        return bo_fail(ctx, BOUGH_ERROR_ARGUMENT,
                       "%s: planes and height fields can only be obstacles: give it a sphere, a box, a hull or a mesh",
                       name);
    return BOUGH_OK;
}

static void add_points(struct bo_contact_world_work *w, const bough_contact_shape_def *def) {
    bo_thing *thing = &w->things[w->thing_count++];
    *thing = (bo_thing){.place = w->place_count - 1,
                        .point_count = def->point_count,
                        .points = w->point_count,
                        .solid = def->solid,
                        .friction = def->friction,
                        .restitution = def->restitution};
    w->point_count += (size_t)def->point_count;
}

static bo_place *add_place(struct bo_contact_world_work *w, bough_contact_side side, int32_t group) {
    bo_place *place = &w->places[w->place_count++];
    *place = (bo_place){.side = side, .group = group, .groups = 1, .mask = UINT32_MAX};
    return place;
}

/* Takes the actors over: from here on they are destroyed with the world. One that is no actor has nothing to destroy.
 */
static void take_actors(const bough_contact_world_def *def, bo_actor *actors) {
    for (int32_t i = 0; i < def->actor_count; i++)
        if (def->actors[i].cookie == ACTOR_COOKIE)
            actors[i] = (bo_actor){.table = def->actors[i].table,
                                   .data = def->actors[i].data,
                                   .most_rates = def->actors[i].most_rates,
                                   .touches_itself = def->actors[i].touches_itself};
}

static bough_status add_actors(bough_context *ctx, struct bo_contact_world_work *w,
                               const bough_contact_world_def *def) {
    double *numbers = w->numbers;
    for (int32_t i = 0; i < def->actor_count; i++) {
        const bough_contact_actor *actor = &def->actors[i];
        bo_actor *made = &w->actors[i];
        int32_t shape = 0;
        made->y = numbers, made->without = numbers + made->most_rates;
        made->impulse = made->without + made->most_rates, numbers += 3 * (ptrdiff_t)made->most_rates;
        w->groups[w->group_count++] = (bo_group){.y = made->y, .impulse = made->impulse};
        for (int32_t k = 0; k < actor->place_count; k++) {
            add_place(w, (bough_contact_side){actor->places[k].kind, actor->places[k].index, i}, i)->number = k;
            for (; shape < actor->shape_count && actor->shapes[shape].place == k; shape++)
                if (actor->shapes[shape].point_count > 0)
                    add_points(w, &actor->shapes[shape]);
                else
                    BO_TRY(add_thing(ctx, w, shape_label(actor, shape).text, &actor->shapes[shape].shape,
                                     actor->shapes[shape].friction, actor->shapes[shape].restitution));
        }
    }
    return BOUGH_OK;
}

static bough_status add_bodies(bough_context *ctx, bough_contact_world *world, const bough_contact_world_def *def) {
    struct bo_contact_world_work *w = bo_world_work(world);
    for (int32_t i = 0; i < def->body_count; i++) {
        const bough_rigid_body_def *body = &def->bodies[i];
        bo_body *made = &w->bodies[i];
        bo_body_make(body, made, &world->bodies[i]);
        w->groups[w->group_count] = (bo_group){.size = 6,
                                               .inverse = made->inverse,
                                               .y = made->y,
                                               .before = made->before,
                                               .impulse = made->impulse,
                                               .momentum = made->start};
        add_place(w, (bough_contact_side){BOUGH_CONTACT_OF_BODY, i, -1}, w->group_count++);
        for (int32_t k = 0; k < body->shape_count; k++)
            BO_TRY(add_thing(ctx, w, bo_label_of("body", i, body->name).text, &body->shapes[k], body->friction,
                             body->restitution));
    }
    return BOUGH_OK;
}

static bough_status add_obstacles(bough_context *ctx, struct bo_contact_world_work *w,
                                  const bough_contact_world_def *def) {
    for (int32_t i = 0; i < def->obstacle_count; i++) {
        const bough_obstacle_def *obstacle = &def->obstacles[i];
        add_place(w, (bough_contact_side){BOUGH_CONTACT_OF_OBSTACLE, i, -1}, -1)->pose = bo_pose(&obstacle->pose);
        for (int32_t k = 0; k < obstacle->shape_count; k++)
            BO_TRY(add_thing(ctx, w, bo_label_of("obstacle", i, obstacle->name).text, &obstacle->shapes[k],
                             obstacle->friction, 0));
    }
    return BOUGH_OK;
}

/* Puts those that move before those that do not: of two that touch, the first moves. */
static bough_status fill(bough_context *ctx, const bough_contact_world_def *def, bough_contact_world *world) {
    struct bo_contact_world_work *w = bo_world_work(world);
    BO_TRY(check_def(ctx, def));
    const counts c = count_all(def);
    if (c.things > MOST_THINGS || c.places > 2 * MOST_THINGS || c.rates > MOST_RATES || c.points > 10 * MOST_POINTS)
        return bo_fail(ctx, BOUGH_ERROR_ARGUMENT,
                       "a contact world can have %d shapes, %d places, %d rates and %d points of actors, not %zu, %zu, "
                       "%zu and %zu",
                       MOST_THINGS, 2 * MOST_THINGS, MOST_RATES, 10 * MOST_POINTS, c.things, c.places, c.rates,
                       c.points);
    w->def = *def;
    w->def.obstacles = NULL, w->def.bodies = NULL, w->def.actors = NULL;
    world->body_count = def->body_count;
    BO_TRY(allocate(ctx, def, c, world));
    BO_TRY(add_actors(ctx, w, def));
    BO_TRY(add_bodies(ctx, world, def));
    BO_TRY(add_obstacles(ctx, w, def));
    return reserve(ctx, world, (size_t)def->contact_reserve);
}

/* The actors first, so that they are destroyed with the world whatever else fails. */
static bough_status make(bough_context *ctx, const bough_contact_world_def *def, bough_contact_world *world) {
    struct bo_contact_world_work *w = bo_world_work(world);
    if (!(w->actors = BO_NEW_ZEROS(ctx, bo_actor, def->actor_count)))
        return bo_fail_memory(ctx);
    take_actors(def, w->actors);
    w->actor_count = def->actor_count;
    const bough_status status = fill(ctx, def, world);
    if (def->actor_count > 0) /* there may be no list at all */
        memset(def->actors, 0, (size_t)def->actor_count * sizeof *def->actors);
    return status;
}

static void refuse_actors(bough_context *ctx, const bough_contact_world_def *def) {
    for (int32_t i = 0; i < def->actor_count; i++)
        bough_contact_actor_destroy(ctx, &def->actors[i]);
}

bough_status bough_contact_world_create(bough_context *ctx, const bough_contact_world_def *def,
                                        bough_contact_world **world) {
    *world = NULL;
    if (!def || def->cookie != WORLD_COOKIE)
        return bo_fail(ctx, BOUGH_ERROR_ARGUMENT, "the world's def was not made by bough_default_contact_world_def()");
    BO_TRY(check_count(ctx, "actors", def->actor_count, def->actors));
    bo_contact_world *made = BO_NEW(ctx, bo_contact_world);
    const bough_status status = made ? make(ctx, def, &made->seen) : bo_fail_memory(ctx);
    if (status != BOUGH_OK) {
        bough_contact_world_destroy(ctx, made ? &made->seen : NULL);
        refuse_actors(ctx, def); /* those that were not taken over before memory was short */
        return status;
    }
    *world = &made->seen;
    return BOUGH_OK;
}

static void destroy_work(bough_context *ctx, struct bo_contact_world_work *w) {
    for (int32_t i = 0; i < w->actor_count; i++)
        if (w->actors[i].table && w->actors[i].table->destroy)
            w->actors[i].table->destroy(ctx, w->actors[i].data);
    for (int32_t i = 0; i < w->thing_count; i++)
        bough_shape_destroy(ctx, w->things[i].shape);
    bo_sweep_destroy(ctx, &w->sweep);
    bo_islands_destroy(ctx, &w->islands);
    void *const blocks[] = {w->actors,  w->places,    w->things,  w->boxes,    w->bodies, w->groups,
                            w->numbers, w->positions, w->ignored, w->meetings, w->nears,  w->constraints,
                            w->rows,    w->answers,   w->pushes,  w->kept};
    for (size_t i = 0; i < sizeof blocks / sizeof *blocks; i++)
        bo_free(ctx, blocks[i]);
}

void bough_contact_world_destroy(bough_context *ctx, bough_contact_world *world) {
    if (!world)
        return;
    destroy_work(ctx, bo_world_work(world));
    bo_free(ctx, world->bodies);
    bo_free(ctx, world->contacts);
    bo_free(ctx, world);
}

/* ---- obstacles that are led ---- */

bough_status bough_contact_world_move(bough_context *ctx, bough_contact_world *world, int32_t obstacle,
                                      const bough_pose *pose, const double velocity[3], const double spin[3]) {
    struct bo_contact_world_work *w = bo_world_work(world);
    const int32_t at = bo_world_find_place(w, (bough_contact_side){BOUGH_CONTACT_OF_OBSTACLE, obstacle, -1});
    if (at < 0)
        return bo_fail(ctx, BOUGH_ERROR_ARGUMENT, "there is no obstacle %d to be moved", obstacle);
    if (!bo_good_pose(pose) || !bo_all_finite(3, velocity) || !bo_all_finite(3, spin))
        return bo_fail(ctx, BOUGH_ERROR_ARGUMENT,
                       "obstacle %d: its pose needs a rotation matrix, and its motion finite numbers", obstacle);
    w->places[at].pose = bo_pose(pose);
    w->places[at].velocity = bo_load3(velocity), w->places[at].spin = bo_load3(spin);
    return BOUGH_OK;
}

/* ---- filters ---- */

int32_t bo_world_find_place(const struct bo_contact_world_work *w, bough_contact_side side) {
    for (int32_t i = 0; i < w->place_count; i++) {
        const bough_contact_side *other = &w->places[i].side;
        if (other->kind == side.kind && other->index == side.index && other->actor == side.actor)
            return i;
    }
    return -1;
}

static bough_status need_place(bough_context *ctx, const bough_contact_world *world, bough_contact_side side,
                               int32_t *place) {
    *place = bo_world_find_place(bo_world_work(world), side);
    if (*place >= 0)
        return BOUGH_OK;
    return bo_fail(ctx, BOUGH_ERROR_ARGUMENT,
                   "the contact world has nothing of kind %d with index %d and actor %d (-1 for obstacles and bodies)",
                   (int)side.kind, side.index, side.actor);
}

bough_status bough_contact_world_filter(bough_context *ctx, bough_contact_world *world, bough_contact_side who,
                                        uint32_t groups, uint32_t mask) {
    int32_t place;
    BO_TRY(need_place(ctx, world, who, &place));
    bo_world_work(world)->places[place].groups = groups, bo_world_work(world)->places[place].mask = mask;
    return BOUGH_OK;
}

bough_status bough_contact_world_ignore(bough_context *ctx, bough_contact_world *world, bough_contact_side a,
                                        bough_contact_side b, bool ignore) {
    struct bo_contact_world_work *w = bo_world_work(world);
    int32_t p, q;
    BO_TRY(need_place(ctx, world, a, &p));
    BO_TRY(need_place(ctx, world, b, &q));
    const uint64_t pair = p < q ? (uint64_t)p << 32 | (uint64_t)q : (uint64_t)q << 32 | (uint64_t)p;
    size_t at = 0;
    while (at < w->ignored_count && w->ignored[at] < pair)
        at++;
    const bool known = at < w->ignored_count && w->ignored[at] == pair;
    if (known == ignore)
        return BOUGH_OK;
    if (ignore && !BO_RESERVE(ctx, w->ignored, w->ignored_capacity, w->ignored_count + 1))
        return bo_fail_memory(ctx);
    const size_t beyond = w->ignored_count - at - (ignore ? 0 : 1);
    uint64_t *here = w->ignored + at;
    memmove(here + (ignore ? 1 : 0), here + (ignore ? 0 : 1), beyond * sizeof *here);
    if (ignore)
        *here = pair, w->ignored_count++;
    else
        w->ignored_count--;
    return BOUGH_OK;
}
