/* Contact of trees: what is made once, and what programs ask for. docs/theory/tree.md, "Contact". */
#include "tree/touch.h"

#include "rig/shape.h"

#include <math.h>

bo_tree_touch_def bo_default_tree_touch_def(void) {
    return (bo_tree_touch_def){
        .friction = 0.5, .slip = 1e-3, .most_contacts = 10000, .rest_speed = 0.05, .rest_time = 0.5};
}

/* ---- making ---- */

static bough_status check_solid(bough_context *ctx, const bough_tree_model *model, const bo_tree_solid *solid) {
    const bough_tree_model_def *def = &model->def;
    if (solid->part < 0 || solid->part >= def->part_count)
        return bo_fail(ctx, BOUGH_ERROR_ARGUMENT, "there is no part %d that others could touch", solid->part);
    const bough_part_def *part = &def->parts[solid->part];
    const char *name = part->name ? part->name : "";
    if (solid->shape.kind == BO_OBSTACLE_PLANE || solid->shape.kind == BO_OBSTACLE_HEIGHT)
        return bo_fail(
            ctx, BOUGH_ERROR_UNSUPPORTED,
            "the part \"%s\" has a plane or heights without end as a shape that others touch: these would reach "
            "parts everywhere; take a box, or a block under the heights",
            name);
    if (solid->shape.kind == BO_OBSTACLE_GRID && !solid->mesh)
        return bo_fail(ctx, BOUGH_ERROR_ARGUMENT, "the part \"%s\" has a grid of distances without its mesh", name);
    return BOUGH_OK;
}

/* ---- solids ---- */

/* The sphere around a solid, in the axes of its part. */
static void measure(bo_tree_solid *solid) {
    const bo_obstacle *shape = &solid->shape;
    solid->middle = shape->pose.t;
    if (solid->mesh) {
        const bough_shape_mesh *mesh = solid->mesh;
        const bo_vec3 centre = bo_scale(0.5, bo_add(mesh->lower, mesh->upper));
        solid->middle = bo_se3_apply(shape->pose, centre);
        solid->radius = 0;
        for (int32_t i = 0; i < mesh->vertex_count; i++)
            solid->radius = fmax(solid->radius, bo_norm(bo_sub(mesh->vertices[i], centre)));
        return;
    }
    solid->radius = shape->kind == BO_OBSTACLE_BOX ? bo_norm(shape->halves) : shape->radius + shape->half;
}

/* Chains the solids of each part, and finds a sphere around all of them. */
static void chain_solids(int32_t count, bo_tree_solid *solids, int32_t part_count, int32_t *last) {
    int32_t *const first = last + part_count;
    for (int32_t i = 0; i < part_count; i++)
        first[i] = last[i] = -1;
    for (int32_t k = 0; k < count; k++) {
        bo_tree_solid *solid = &solids[k];
        const int32_t before = last[solid->part];
        measure(solid);
        solid->next = -1, solid->order = 0, solid->first_feature = 0;
        if (before >= 0) {
            solids[before].next = k, solid->order = solids[before].order + 1;
            solid->first_feature =
                solids[before].first_feature + (solids[before].mesh ? solids[before].mesh->point_count : 8);
        } else
            first[solid->part] = k;
        last[solid->part] = k;
        bo_tree_solid *all = &solids[first[solid->part]];
        if (before < 0)
            all->middle_of_all = solid->middle, all->radius_of_all = solid->radius;
        else
            all->radius_of_all =
                fmax(all->radius_of_all, bo_norm(bo_sub(solid->middle, all->middle_of_all)) + solid->radius);
    }
}

/* The part does more than to be this shape. */
static bool is_carried(const bough_tree_model_def *def, int32_t index) {
    const bough_part_def *part = &def->parts[index];
    const bough_component *c = def->components[part->component];
    if (c->r > 0 || part->parent >= 0 || !(part->free || c->support == BOUGH_SUPPORT_FREE))
        return true;
    for (int32_t i = 0; i < def->part_count; i++)
        if (def->parts[i].parent == index)
            return true;
    return false;
}

static bough_status check(bough_context *ctx, const bough_tree_model *model, const bo_tree_touch_def *def) {
    if (!(def->friction >= 0 && isfinite(def->friction)) || !(def->slip > 0 && isfinite(def->slip)) ||
        def->most_contacts < 1)
        return bo_fail(ctx, BOUGH_ERROR_ARGUMENT,
                       "friction must not be negative, and the slip speed and the number of contacts must be positive");
    if (!(def->rest_speed >= 0 && isfinite(def->rest_speed)) || !(def->rest_time > 0 && isfinite(def->rest_time)))
        return bo_fail(ctx, BOUGH_ERROR_ARGUMENT, "the rest speed must not be negative, and the rest time positive");
    for (int32_t k = 0; k < def->solid_count; k++)
        BO_TRY(check_solid(ctx, model, &def->solids[k]));
    return BOUGH_OK;
}

/* Doubles of a cloud: its reach, then its samples. */
static size_t cloud_size(const bough_component *c) {
    return (size_t)c->r + 3 * (size_t)bo_padded4(c->contact.count);
}

/* The sphere about the mean of the samples. */
static void enclose(const bough_component *c, bo_tree_cloud *cloud) {
    const bough_sample_points *s = &c->contact;
    const size_t padded = (size_t)bo_padded4(s->count);
    for (size_t i = 0; i < padded && s->count > 0; i++)
        for (size_t d = 0; d < 3; d++)
            cloud->side_by_side[d * padded + i] = s->position[3 * (i < (size_t)s->count ? i : 0) + d];
    cloud->centre = bo_v3(0, 0, 0);
    for (int32_t i = 0; i < s->count; i++)
        cloud->centre = bo_mul_add(cloud->centre, 1.0 / s->count, bo_load3(s->position + 3 * (size_t)i));
    for (int32_t i = 0; i < s->count; i++) {
        const double d = bo_norm(bo_sub(bo_load3(s->position + 3 * (size_t)i), cloud->centre));
        cloud->radius = fmax(cloud->radius, d);
        for (int32_t l = 0; l < c->r; l++) {
            double square = 0;
            for (size_t d3 = 0; d3 < 3; d3++) {
                const double u = s->U[(3 * (size_t)i + d3) * (size_t)c->r + (size_t)l];
                square += u * u;
            }
            cloud->reach[l] = fmax(cloud->reach[l], sqrt(square));
        }
    }
}

static bough_status make_clouds(bough_context *ctx, const bough_tree_model *model, bo_tree_touch *touch) {
    const bough_tree_model_def *def = &model->def;
    size_t total = 0, most = 0;
    for (int32_t c = 0; c < def->component_count; c++)
        total += cloud_size(def->components[c]),
            most = cloud_size(def->components[c]) > most ? cloud_size(def->components[c]) : most;
    touch->clouds = BO_NEW_ZEROS(ctx, bo_tree_cloud, def->component_count);
    touch->reaches = BO_NEW_ZEROS(ctx, double, total);
    touch->close = BO_NEW_ARRAY(ctx, bool, most);
    if (!touch->clouds || !touch->reaches || !touch->close)
        return BOUGH_ERROR_MEMORY;
    double *next = touch->reaches;
    for (int32_t c = 0; c < def->component_count; c++) {
        touch->clouds[c].reach = next;
        touch->clouds[c].side_by_side = next + def->components[c]->r;
        next += cloud_size(def->components[c]);
        enclose(def->components[c], &touch->clouds[c]);
    }
    return BOUGH_OK;
}

/* The field of a component, from its surface. */
static bough_status make_field(bough_context *ctx, const bough_component *c, bo_field **field) {
    const bough_surface *surface = &c->surface;
    double *vertices = BO_NEW_ARRAY(ctx, double, 3 * (size_t)surface->vertex_count);
    if (!vertices)
        return BOUGH_ERROR_MEMORY;
    for (size_t k = 0; k < 3 * (size_t)surface->vertex_count; k++)
        vertices[k] = (double)surface->position[k];
    const bough_status status = bo_field_create(ctx, surface->vertex_count, vertices, surface->triangle_count,
                                                surface->triangles, c->contact.count, c->contact.position, 0, field);
    bo_free(ctx, vertices);
    return status;
}

/* Parts that touch each other: of components that were named, with samples and a surface, and no solids. */
static bough_status make_between(bough_context *ctx, const bough_tree_model *model, const bool *wanted,
                                 bo_tree_touch *touch) {
    const bough_tree_model_def *def = &model->def;
    bool *between = BO_NEW_ZEROS(ctx, bool, def->component_count);
    touch->def.between = between;
    touch->fields = BO_NEW_ZEROS(ctx, bo_field *, def->component_count);
    touch->mixing = BO_NEW_ARRAY(ctx, int32_t, def->part_count);
    touch->boxes = BO_NEW_ARRAY(ctx, bo_box, def->part_count);
    if (!between || !touch->fields || !touch->mixing || !touch->boxes)
        return BOUGH_ERROR_MEMORY;
    touch->field_count = def->component_count;
    for (int32_t c = 0; c < def->component_count && wanted; c++) {
        const bough_component *component = def->components[c];
        between[c] = wanted[c];
        if (!wanted[c])
            continue;
        if (component->contact.count == 0 || component->surface.triangle_count == 0)
            return bo_fail(
                ctx, BOUGH_ERROR_ARGUMENT,
                "component %d has no contact samples, so that its parts cannot touch each other; cook it with "
                "\"samples\": {\"contact\": 100}",
                c);
        BO_TRY(make_field(ctx, component, &touch->fields[c]));
    }
    for (int32_t i = 0; i < def->part_count; i++)
        if (between[def->parts[i].component] && touch->solid_of[i] < 0)
            touch->mixing[touch->mixing_count++] = i;
    return bo_sweep_create(ctx, touch->mixing_count, &touch->sweep);
}

static bough_status make(bough_context *ctx, const bough_tree_model *model, const bo_tree_touch_def *def,
                         bo_tree_touch *touch) {
    const size_t parts = (size_t)model->def.part_count, n = (size_t)model->size;
    bo_touch_obstacle *obstacles = BO_NEW_ARRAY(ctx, bo_touch_obstacle, def->obstacle_count);
    bo_tree_solid *solids = BO_NEW_ARRAY(ctx, bo_tree_solid, def->solid_count);
    const bool *between = def->between;
    touch->def = *def, touch->def.obstacles = obstacles, touch->def.solids = solids, touch->def.between = NULL;
    touch->placed = BO_NEW_ARRAY(ctx, bo_obstacle, def->solid_count);
    touch->spheres = BO_NEW_ARRAY(ctx, bo_tree_sphere, def->solid_count);
    touch->near = BO_NEW_ARRAY(ctx, bool, parts);
    touch->burdened = BO_NEW_ARRAY(ctx, bool, parts);
    int32_t *last = BO_NEW_ARRAY(ctx, int32_t, 2 * parts);
    touch->shapes = bo_calloc(ctx, parts + 1, bo_tree_figure_size());
    if (!touch->placed || !touch->spheres || !touch->near || !touch->burdened || !touch->shapes || !solids || !last) {
        bo_free(ctx, last);
        return BOUGH_ERROR_MEMORY;
    }
    for (int32_t k = 0; k < def->solid_count; k++)
        solids[k] = def->solids[k], solids[k].carried = is_carried(&model->def, solids[k].part);
    chain_solids(def->solid_count, solids, model->def.part_count, last);
    bo_free(ctx, last);
    touch->now = BO_NEW_ARRAY(ctx, bo_obstacle, def->obstacle_count);
    touch->before = BO_NEW_ARRAY(ctx, bo_se3, def->obstacle_count);
    touch->moves = BO_NEW_ARRAY(ctx, bool, def->obstacle_count);
    touch->solid_of = BO_NEW_ARRAY(ctx, int32_t, parts);
    touch->node_of = BO_NEW_ARRAY(ctx, int32_t, parts);
    touch->solids = BO_NEW_ARRAY(ctx, int32_t, def->solid_count);
    touch->place = BO_NEW_ARRAY(ctx, int32_t, def->solid_count);
    touch->laden = BO_NEW_ARRAY(ctx, bo_tree_laden, 2 * parts);
    touch->islands = BO_NEW_ZEROS(ctx, bo_tree_island, parts);
    touch->join = BO_NEW_ARRAY(ctx, int32_t, parts);
    touch->stir = BO_NEW_ARRAY(ctx, double, parts);
    touch->runs = BO_NEW_ARRAY(ctx, bo_tree_run, 2 * parts);
    touch->p = BO_NEW_ZEROS(ctx, double, 12 * parts + 5 * n);
    if (!obstacles || !solids || !touch->now || !touch->before || !touch->moves || !touch->solid_of ||
        !touch->node_of || !touch->solids || !touch->place || !touch->laden || !touch->islands || !touch->join ||
        !touch->stir || !touch->runs || !touch->p)
        return BOUGH_ERROR_MEMORY;
    touch->p_q = touch->p + 6 * parts, touch->answers = touch->p_q + n, touch->pushed = touch->answers + n;
    touch->rates = touch->pushed + n, touch->next = touch->rates + n;
    for (int32_t k = 0; k < def->obstacle_count; k++)
        obstacles[k] = def->obstacles[k];
    for (size_t i = 0; i < parts; i++)
        touch->solid_of[i] = -1;
    for (int32_t k = def->solid_count - 1; k >= 0; k--)
        if (!solids[k].carried)
            touch->solid_of[solids[k].part] = k;
    for (size_t i = 0; i < parts; i++) {
        const bough_part_def *part = &model->def.parts[i];
        touch->mass += part->scale * part->scale * part->scale * model->def.components[part->component]->mass;
    }
    BO_TRY(bo_tree_touch_make_memory(ctx, touch));
    BO_TRY(make_clouds(ctx, model, touch));
    return make_between(ctx, model, between, touch);
}

void bo_tree_touch_free(bough_context *ctx, bo_tree_touch *touch) {
    if (!touch)
        return;
    void *const blocks[] = {(void *)(uintptr_t)touch->def.obstacles,
                            (void *)(uintptr_t)touch->def.solids,
                            touch->clouds,
                            touch->reaches,
                            touch->close,
                            touch->solid_of,
                            touch->now,
                            touch->before,
                            touch->moves,
                            touch->points,
                            touch->spare,
                            touch->rows,
                            touch->node_of,
                            touch->nodes,
                            touch->numbers,
                            touch->solids,
                            touch->place,
                            touch->laden,
                            touch->islands,
                            (void *)(uintptr_t)touch->def.between,
                            touch->fields,
                            touch->mixing,
                            touch->boxes,
                            touch->placed,
                            touch->spheres,
                            touch->near,
                            touch->burdened,
                            touch->shapes,
                            touch->bent,
                            touch->memory,
                            touch->fresh,
                            touch->places,
                            touch->join,
                            touch->stir,
                            touch->runs,
                            touch->kept,
                            touch->p,
                            touch->contacts,
                            touch->push,
                            touch};
    for (int32_t c = 0; c < touch->field_count; c++)
        bo_field_destroy(ctx, touch->fields[c]);
    bo_tree_kept_shapes_free(ctx, &touch->shapes_kept);
    bo_sweep_destroy(ctx, &touch->sweep);
    bo_tree_touch_free_pairs(ctx, touch);
    bo_tree_touch_free_singles(ctx, touch);
    bo_tree_touch_free_few(ctx, touch);
    for (size_t i = 0; i < sizeof blocks / sizeof *blocks; i++)
        bo_free(ctx, blocks[i]);
}

void bo_tree_kept_shapes_free(bough_context *ctx, bo_tree_kept_shapes *kept) {
    for (int32_t i = 0; kept->meshes && i < kept->mesh_count; i++)
        bough_shape_mesh_destroy(ctx, kept->meshes[i]);
    for (int32_t i = 0; kept->heights && i < kept->height_count; i++)
        bo_height_spline_free(ctx, &kept->heights[i]);
    bo_free(ctx, kept->meshes);
    bo_free(ctx, kept->heights);
    *kept = (bo_tree_kept_shapes){0};
}

bough_status bo_tree_state_touch(bough_context *ctx, const bough_tree_model *model, bough_tree_state *state,
                                 const bo_tree_touch_def *def) {
    return bo_tree_state_touch_keep(ctx, model, state, def, NULL);
}

bough_status bo_tree_state_touch_keep(bough_context *ctx, const bough_tree_model *model, bough_tree_state *state,
                                      const bo_tree_touch_def *def, bo_tree_kept_shapes *kept) {
    bo_tree_work *w = bo_tree_work_of(state);
    bo_tree_touch *touch = NULL;
    if (w->log)
        return bo_fail(ctx, BOUGH_ERROR_ARGUMENT,
                       "what the parts touch cannot change while the state is recorded; say it before that");
    if (def) {
        BO_TRY(check(ctx, model, def));
        touch = BO_NEW(ctx, bo_tree_touch);
        const bough_status status = touch ? make(ctx, model, def, touch) : BOUGH_ERROR_MEMORY;
        if (status != BOUGH_OK) {
            bo_tree_touch_free(ctx, touch);
            return status;
        }
    }
    bo_tree_touch_free(ctx, w->touch);
    w->touch = touch;
    if (kept && touch)
        touch->shapes_kept = *kept, *kept = (bo_tree_kept_shapes){0};
    return BOUGH_OK;
}

const bo_tree_contact *bo_tree_contacts(const bough_tree_state *state, int32_t *count) {
    const bo_tree_touch *touch = bo_tree_work_of(state)->touch;
    *count = touch ? touch->contact_count : 0;
    return touch ? touch->contacts : NULL;
}

const double *bo_tree_touch_answers(const bo_tree_work *work) {
    return work->touch && work->touch->answered ? work->touch->rates : NULL;
}
