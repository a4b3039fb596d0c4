#include "scene/parts_touch.h"

#include "scene/entries.h"

#include "base/pose.h"
#include "rig/shape.h"

#define MOST_SOLIDS 10000   /* a slip or an attack beyond */
enum { MOST_MESHES = 100 }; /* each takes a part of a second, and a megabyte */

/* ---- solids ---- */

static bough_status take_shape(bo_json at, const bo_scene_shape *from, double scale, bo_parts_touch *touch,
                               bo_tree_solid *solid) {
    bo_obstacle *to = &solid->shape;
    if (from->form == BO_FORM_PLANE)
        return bo_json_fail(at, "is a plane, which has no end: it would reach parts everywhere; take a box");
    bough_shape_def def;
    if (bo_body_touch_shape(from, &def) && bo_obstacle_of_shape(&def, to)) {
        to->radius *= scale, to->half *= scale;
        to->halves = bo_scale(scale, to->halves);
    } else {
        if (touch->kept.mesh_count == MOST_MESHES)
            return bo_json_fail(at,
                                "is one of more than %d hulls, cylinders, meshes and height fields; take boxes, "
                                "spheres or capsules",
                                MOST_MESHES);
        if (!bo_progress(at.ctx, "solids", 0, "distances from shape %d", touch->kept.mesh_count))
            return bo_fail_cancelled(at.ctx);
        bough_shape_mesh **mesh = &touch->kept.meshes[touch->kept.mesh_count];
        BO_TRY(bo_json_explain(at, bo_shape_touch_mesh(at.ctx, from, scale, mesh)));
        touch->kept.mesh_count++;
        solid->mesh = *mesh;
        *to = (bo_obstacle){.kind = BO_OBSTACLE_GRID, .grid = &(*mesh)->grid};
    }
    to->pose = bo_pose(&from->def.frame);
    to->pose.t = bo_scale(scale, to->pose.t);
    return BOUGH_OK;
}

/* Adds the shapes of a part, one or a list. */
static bough_status add_solids(bo_json at, int32_t part, double scale, uint64_t *hash, size_t *capacity,
                               bo_parts_touch *touch) {
    bo_scene_shapes shapes = {0};
    bough_status status = bo_scene_read_shapes(at, &shapes, hash);
    for (int32_t i = 0; i < shapes.count && status == BOUGH_OK; i++) {
        if (touch->def.solid_count == MOST_SOLIDS) {
            status = bo_json_fail(at, "is one of more than %d shapes of parts", MOST_SOLIDS);
            break;
        }
        if (!BO_RESERVE(at.ctx, touch->solids, *capacity, (size_t)touch->def.solid_count + 1)) {
            status = bo_fail_memory(at.ctx);
            break;
        }
        bo_tree_solid *solid = &touch->solids[touch->def.solid_count++];
        *solid = (bo_tree_solid){.part = part};
        status = take_shape(at, &shapes.shapes[i], scale, touch, solid);
    }
    bo_scene_free_shapes(at.ctx, &shapes);
    return status;
}

static bough_status read_solid(bo_json at, json_t *names, const bo_assembly *assembly, uint64_t *hash, size_t *capacity,
                               bo_parts_touch *touch) {
    int32_t part;
    BO_TRY(bo_json_keys(at, BO_SOLID_KEYS));
    BO_TRY(bo_json_find_name(bo_json_must(&at, "part"), "part ", names, &part));
    return add_solids(bo_json_must(&at, "shape"), part, assembly->parts[part].scale, hash, capacity, touch);
}

static bough_status read_solids(bo_json at, const bo_assembly *assembly, uint64_t *hash, bo_parts_touch *touch) {
    int32_t count;
    size_t capacity = 0;
    BO_TRY(bo_json_list(at, &count));
    json_t *names = json_object();
    touch->kept.meshes = BO_NEW_ZEROS(at.ctx, bough_shape_mesh *, MOST_MESHES);
    bough_status status = names && touch->kept.meshes ? BOUGH_OK : bo_fail_memory(at.ctx);
    for (int32_t p = 0; p < assembly->part_count && status == BOUGH_OK; p++)
        if (json_object_set_new(names, assembly->parts[p].name, json_integer(p)))
            status = bo_fail_memory(at.ctx);
    for (int32_t i = 0; i < count && status == BOUGH_OK; i++)
        status = read_solid(bo_json_item(&at, i), names, assembly, hash, &capacity, touch);
    json_decref(names);
    touch->def.solids = touch->solids;
    return status;
}

/* "between": true, or a list of components (with * and ?) whose parts touch each other. */
static bough_status read_between(bo_json at, const bo_assembly *assembly, bo_parts_touch *touch) {
    bool all = false;
    int32_t count = 0;
    if (!at.value)
        return BOUGH_OK;
    if (json_is_array(at.value))
        BO_TRY(bo_json_list(at, &count));
    else
        BO_TRY(bo_json_flag(at, &all));
    if (!(touch->between = BO_NEW_ZEROS(at.ctx, bool, assembly->component_count)))
        return BOUGH_ERROR_MEMORY;
    for (int32_t c = 0; c < assembly->component_count; c++)
        touch->between[c] = all;
    for (int32_t i = 0; i < count; i++) {
        const char *pattern;
        bool any = false;
        bo_json item = bo_json_item(&at, i);
        BO_TRY(bo_json_string(item, &pattern));
        for (int32_t c = 0; c < assembly->component_count; c++)
            if (bo_glob_matches(pattern, assembly->components[c].name))
                touch->between[c] = any = true;
        if (!any)
            return bo_json_fail(item, "names no component of the scene");
    }
    touch->def.between = touch->between;
    for (int32_t c = 0; c < assembly->component_count; c++) {
        const bo_scene_component *component = &assembly->components[c];
        if (touch->between[c] &&
            (component->job ? component->job->def.contact_count : component->rigid->contact.count) == 0)
            return bo_json_fail(
                at,
                "the component \"%.60s\" has no contact samples, so that its parts cannot touch others; "
                "cook it with \"samples\": {\"contact\": 100}, or name other components here",
                component->name);
    }
    return BOUGH_OK;
}

static bough_status read(const bo_json *root, const bo_assembly *assembly, uint64_t *hash, bo_parts_touch *touch) {
    bo_json contact = bo_json_at(root, "contact");
    BO_TRY(bo_json_keys(contact, BO_PARTS_CONTACT_KEYS));
    BO_TRY(bo_body_touch_obstacles(root, hash, &touch->around));
    BO_TRY(bo_json_number(bo_json_at(&contact, "friction"), BO_NOT_NEGATIVE, &touch->def.friction));
    BO_TRY(bo_json_number(bo_json_at(&contact, "slip_speed"), BO_POSITIVE, &touch->def.slip));
    BO_TRY(bo_json_integer(bo_json_at(&contact, "most_contacts"), 1, 1000000, &touch->def.most_contacts));
    BO_TRY(bo_json_number(bo_json_at(&contact, "rest_speed"), BO_NOT_NEGATIVE, &touch->def.rest_speed));
    BO_TRY(bo_json_number(bo_json_at(&contact, "rest_time"), BO_POSITIVE, &touch->def.rest_time));
    BO_TRY(read_solids(bo_json_at(&contact, "solids"), assembly, hash, touch));
    BO_TRY(read_between(bo_json_at(&contact, "between"), assembly, touch));
    if (!bo_json_has(root, "obstacles") && touch->def.solid_count == 0 && !touch->between)
        return bo_json_fail(contact,
                            "has nothing to touch; give the scene \"obstacles\", or \"solids\" or \"between\" here");
    touch->around->def.friction = touch->def.friction, touch->around->def.slip_speed = touch->def.slip;
    BO_TRY(bo_body_touch_make(bo_json_at(root, "obstacles"), touch->around));
    touch->def.obstacle_count = touch->around->made->def.obstacle_count;
    touch->def.obstacles = touch->around->made->def.obstacles;
    return BOUGH_OK;
}

bough_status bo_parts_touch_read(const bo_json *root, const bo_assembly *assembly, uint64_t *hash,
                                 bo_parts_touch **touch) {
    if (!bo_json_has(root, "obstacles") && !bo_json_has(root, "contact"))
        return BOUGH_OK;
    if (!(*touch = BO_NEW(root->ctx, bo_parts_touch)))
        return BOUGH_ERROR_MEMORY;
    (*touch)->def = bo_default_tree_touch_def();
    return read(root, assembly, hash, *touch);
}

void bo_parts_touch_free(bough_context *ctx, bo_parts_touch *touch) {
    if (!touch)
        return;
    bo_body_touch_free(ctx, touch->around);
    bo_tree_kept_shapes_free(ctx, &touch->kept);
    bo_free(ctx, touch->solids);
    bo_free(ctx, touch->between);
    bo_free(ctx, touch);
}
