/* Contact in scene files of multibody systems: "touch" of bodies, "obstacles" and "pass_through". */
#include "scene/multibody_scene.h"

#include "scene/entries.h"
#include "scene/scene.h"

#include <string.h>

#define MOST_PAIRS 100000 /* a slip or an attack beyond */

/* ---- bodies ---- */

const bo_scene_shapes *bo_multibody_touching(const bo_multibody_scene *m, int32_t body) {
    const bo_body_touch *touch = &m->touches[body];
    return touch->shapes.count > 0 ? &touch->shapes : &m->shapes[body];
}

static bough_status read_surface(bo_json at, bo_body_touch *to) {
    static const char *const more[] = {"friction", "restitution"};
    for (int i = 0; i < 2 && !to->touches; i++)
        if (bo_json_has(&at, more[i]))
            return bo_json_fail(bo_json_at(&at, more[i]), "is for what touches; say \"touch\": true");
    BO_TRY(bo_json_number(bo_json_at(&at, "friction"), BO_NOT_NEGATIVE, &to->friction));
    return bo_json_number(bo_json_at(&at, "restitution"), (bo_range){0, 1, false}, &to->restitution);
}

bough_status bo_multibody_read_part_touch(const bo_multibody_reader *r, bo_json at, int32_t part) {
    bo_body_touch *to = &r->m->touches[r->m->def.body_count + part];
    to->friction = 0.5;
    BO_TRY(bo_json_flag(bo_json_at(&at, "touch"), &to->touches));
    return read_surface(at, to);
}

bough_status bo_multibody_read_touch(const bo_multibody_reader *r, bo_json at, int32_t body) {
    bo_body_touch *to = &r->m->touches[body];
    bo_json touch = bo_json_at(&at, "touch");
    to->friction = 0.5;
    if (json_is_object(touch.value) || json_is_array(touch.value)) {
        BO_TRY(bo_scene_read_shapes(touch, &to->shapes, &r->scene->hash));
        to->touches = to->shapes.count > 0;
    } else
        BO_TRY(bo_json_flag(touch, &to->touches));
    bo_scene_shapes *shapes = to->shapes.count > 0 ? &to->shapes : &r->m->shapes[body];
    if (to->touches && shapes->count == 0)
        return bo_json_fail(touch, "needs a \"shape\" that touches, or shapes of its own instead of true");
    if (to->touches) {
        BO_TRY(bo_scene_let_touch(touch, &r->m->meshes, shapes));
        BO_TRY(bo_scene_must_move(touch, shapes));
    }
    return read_surface(at, to);
}

/* ---- obstacles, and pairs that pass through each other ---- */

static bough_status read_obstacles(const bo_multibody_reader *r, bo_json at) {
    bo_multibody_scene *m = r->m;
    BO_TRY(bo_scene_read_rigids(at, false, r->names[BO_NAMES_OBSTACLE], &r->scene->hash, &m->meshes, &m->obstacle_count,
                                &m->obstacles));
    for (int32_t i = 0; i < m->obstacle_count; i++) {
        bo_json item = bo_json_item(&at, i);
        if (strcmp(m->obstacles[i].name, "world") == 0 ||
            json_object_get(r->names[BO_NAMES_THING], m->obstacles[i].name))
            return bo_json_fail(bo_json_at(&item, "name"), "\"%.60s\" is the name of something else already",
                                m->obstacles[i].name);
    }
    return BOUGH_OK;
}

static bough_status read_side(const bo_multibody_reader *r, bo_json at, bough_contact_side *side) {
    const char *name;
    int32_t index = 0;
    BO_TRY(bo_json_string(at, &name));
    const bool obstacle = json_object_get(r->names[BO_NAMES_OBSTACLE], name) != NULL;
    BO_TRY(bo_multibody_find(r, at, obstacle ? BO_NAMES_OBSTACLE : BO_NAMES_THING, &index));
    const int32_t part = obstacle ? -1 : index - r->m->def.body_count;
    *side = obstacle    ? (bough_contact_side){BOUGH_CONTACT_OF_OBSTACLE, index, -1}
            : part >= 0 ? (bough_contact_side){BOUGH_CONTACT_OF_PART, part, 0}
                        : (bough_contact_side){BOUGH_CONTACT_OF_LINK, index, 0};
    const bool touches = obstacle ? !r->m->obstacles[index].drawn_only : r->m->touches[index].touches;
    return touches ? BOUGH_OK : bo_json_fail(at, "\"%.60s\" touches nothing", name);
}

static bough_status read_passes(const bo_multibody_reader *r, bo_json at) {
    bo_multibody_scene *m = r->m;
    int32_t count, both;
    BO_TRY(bo_json_list(at, &count));
    if (count > MOST_PAIRS)
        return bo_json_fail(at, "%d pairs are too many; %d is the limit", count, MOST_PAIRS);
    if (!(m->passes = BO_NEW_ZEROS(at.ctx, bo_multibody_pair, count)))
        return BOUGH_ERROR_MEMORY;
    for (int32_t i = 0; i < count; i++) {
        bo_json pair = bo_json_item(&at, i);
        BO_TRY(bo_json_list(pair, &both));
        if (both != 2)
            return bo_json_fail(pair, "must be two names, of bodies, parts or obstacles that touch");
        for (int32_t k = 0; k < 2; k++)
            BO_TRY(read_side(r, bo_json_item(&pair, k), &m->passes[i].sides[k]));
        if (m->passes[i].sides[0].kind == BOUGH_CONTACT_OF_OBSTACLE &&
            m->passes[i].sides[1].kind == BOUGH_CONTACT_OF_OBSTACLE)
            return bo_json_fail(pair, "nothing moves an obstacle, and so obstacles do not touch each other");
        if (!memcmp(&m->passes[i].sides[0], &m->passes[i].sides[1], sizeof(bough_contact_side)))
            return bo_json_fail(pair, "names the same thing twice");
    }
    m->plan.pass_count = count;
    return BOUGH_OK;
}

bough_status bo_multibody_read_around(const bo_multibody_reader *r) {
    BO_TRY(read_obstacles(r, bo_json_at(r->root, "obstacles")));
    BO_TRY(bo_scene_read_budget(bo_json_at(r->root, "contact"), &r->m->plan.most_contacts));
    return read_passes(r, bo_json_at(r->root, "pass_through"));
}

bough_status bo_multibody_read_touch_probe(const bo_multibody_reader *r, bo_json at, bo_probe *probe) {
    bo_json touch = bo_json_at(&at, "touch");
    probe->kind = BO_PROBE_TOUCH;
    BO_TRY(bo_json_keys(at, BO_TOUCH_PROBE_KEYS));
    BO_TRY(bo_multibody_find(r, touch, BO_NAMES_THING, &probe->part));
    return r->m->touches[probe->part].touches
               ? BOUGH_OK
               : bo_json_fail(touch, "touches nothing; bodies and parts do that say \"touch\"");
}

/* ---- the plan ---- */

static bool make_room(bough_context *ctx, bo_multibody_scene *m) {
    size_t shapes = 0, touches = 0;
    for (int32_t i = 0; i < m->obstacle_count; i++)
        shapes += (size_t)m->obstacles[i].shapes.count;
    for (int32_t b = 0; b < m->def.body_count; b++)
        touches += m->touches[b].touches ? (size_t)bo_multibody_touching(m, b)->count : 0;
    for (int32_t p = 0; p < m->def.part_count; p++)
        touches += m->touches[m->def.body_count + p].touches;
    m->obstacle_defs = BO_NEW_ARRAY(ctx, bough_obstacle_def, m->obstacle_count);
    m->shape_defs = BO_NEW_ARRAY(ctx, bough_shape_def, shapes);
    m->touch_defs = BO_NEW_ZEROS(ctx, bough_contact_shape_def, touches);
    return m->obstacle_defs && m->shape_defs && m->touch_defs;
}

bough_status bo_multibody_plan_around(bough_context *ctx, bo_multibody_scene *m) {
    if (!make_room(ctx, m))
        return BOUGH_ERROR_MEMORY;
    bough_shape_def *shapes = m->shape_defs;
    bough_contact_shape_def *to = m->touch_defs;
    for (int32_t i = 0; i < m->obstacle_count; i++)
        bo_scene_describe_obstacle(&m->obstacles[i], &shapes, &m->obstacle_defs[i]);
    BO_TRY(bo_scene_describe_leads(ctx, m->obstacle_count, m->obstacles, &m->leads));
    for (int32_t b = 0; b < m->def.body_count; b++) {
        const bo_body_touch *touch = &m->touches[b];
        const bo_scene_shapes *own = bo_multibody_touching(m, b);
        for (int32_t k = 0; touch->touches && k < own->count; k++, to++)
            *to = (bough_contact_shape_def){.place = b,
                                            .number = (int32_t)(to - m->touch_defs),
                                            .shape = own->shapes[k].def,
                                            .friction = touch->friction,
                                            .restitution = touch->restitution};
    }
    for (int32_t p = m->def.body_count; p < m->def.body_count + m->def.part_count; p++)
        if (m->touches[p].touches) {
            *to = (bough_contact_shape_def){.place = p,
                                            .number = (int32_t)(to - m->touch_defs),
                                            .friction = m->touches[p].friction,
                                            .restitution = m->touches[p].restitution};
            to++;
        }
    m->plan.touch_count = (int32_t)(to - m->touch_defs), m->plan.touches = m->touch_defs;
    m->plan.obstacle_count = m->obstacle_count, m->plan.obstacles = m->obstacle_defs;
    m->plan.leads = m->leads;
    m->plan.passes = m->passes;
    return BOUGH_OK;
}

void bo_multibody_free_around(bough_context *ctx, bo_multibody_scene *m) {
    for (int32_t b = 0; m->touches && b < m->def.body_count; b++)
        bo_scene_free_shapes(ctx, &m->touches[b].shapes);
    bo_scene_free_rigids(ctx, m->obstacle_count, m->obstacles);
    bo_mesh_stock_free(ctx, &m->meshes);
    void *const blocks[] = {m->touches, m->obstacle_defs, m->shape_defs, m->touch_defs, m->passes, m->leads};
    for (size_t i = 0; i < sizeof blocks / sizeof *blocks; i++)
        bo_free(ctx, blocks[i]);
}
