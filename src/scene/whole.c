/* The object of a scene as one body, so that accuracy can be measured; and points of parts on its mesh. */
#include "scene/cook_plan.h"
#include "scene/scene.h"

#include "fem/body.h"
#include "mesh/mesh.h"

#include <string.h>

/* ---- points ---- */

static int32_t nearest_vertex(const bough_mesh *surface, const double point[3]) {
    int32_t best = 0;
    double least = INFINITY;
    for (int32_t v = 0; v < surface->vertex_count; v++) {
        bo_vec3 d = bo_sub(bo_load3(surface->vertices + 3 * (size_t)v), bo_load3(point));
        if (bo_dot(d, d) < least)
            least = bo_dot(d, d), best = v;
    }
    return best;
}

static bough_status make_place(bough_context *ctx, int32_t count, bo_mesh_place *place) {
    place->count = count;
    place->vertices = BO_NEW_ZEROS(ctx, int32_t, count);
    place->weights = BO_NEW_ZEROS(ctx, double, count);
    return place->vertices && place->weights ? BOUGH_OK : BOUGH_ERROR_MEMORY;
}

/* A vertex of a surface that is drawn instead of the mesh's own boundary follows the element that holds it. */
static bough_status place_embedded(bough_context *ctx, const bough_mesh *mesh, const bough_mesh *surface,
                                   int32_t vertex, bo_mesh_place *place) {
    bough_embedding *embedding;
    const int32_t count = bough_element_node_count(mesh->type);
    BO_TRY(bough_mesh_bind(ctx, mesh, surface, &embedding, NULL));
    bough_status status = make_place(ctx, count, place);
    for (int32_t k = 0; k < count && status == BOUGH_OK; k++) {
        place->vertices[k] = bo_mesh_nodes(mesh, embedding->elements[vertex])[k];
        place->weights[k] = embedding->weights[(size_t)vertex * BOUGH_MAX_ELEMENT_NODES + (size_t)k];
    }
    bough_embedding_destroy(ctx, embedding);
    return status;
}

bough_status bo_part_surface_point(bough_context *ctx, const bo_assembly *assembly, int32_t part, double point[3],
                                   bo_mesh_place *place) {
    const bough_cook_job *job = assembly->components[assembly->parts[part].component].job;
    const bough_mesh *mesh = bough_body_mesh(job->body);
    const bough_mesh *surface = job->surface;
    bough_mesh *boundary = NULL;
    int32_t *map = NULL;
    if (!surface)
        BO_TRY(bough_mesh_surface(ctx, mesh, &boundary, &map, NULL));
    surface = surface ? surface : boundary;
    int32_t v = nearest_vertex(surface, point);
    memcpy(point, surface->vertices + 3 * (size_t)v, 3 * sizeof *point);
    bough_status status = BOUGH_OK;
    if (place && !map)
        status = place_embedded(ctx, mesh, surface, v, place);
    else if (place && (status = make_place(ctx, 1, place)) == BOUGH_OK)
        place->vertices[0] = map[v], place->weights[0] = 1;
    bough_mesh_destroy(ctx, boundary);
    bo_free(ctx, map);
    return status;
}

/* The origin of a part's frame is the centre of the interface by which it hangs; that of a root which is held stays. */
static bough_status place_origin(bough_context *ctx, const bo_assembly *assembly, bo_probe *probe,
                                 bo_mesh_place *place) {
    const bough_component *rigid = assembly->components[assembly->parts[probe->part].component].rigid;
    memcpy(probe->rest, rigid->origin, sizeof probe->rest);
    if (rigid->support == BOUGH_SUPPORT_FREE)
        return bo_fail(ctx, BOUGH_ERROR_UNSUPPORTED,
                       "the probe \"%s\" is at the frame of a part that flies free, which the full engine does not "
                       "know; say \"nearest\" to what point it is",
                       probe->name);
    if (rigid->support == BOUGH_SUPPORT_FIXED)
        return make_place(ctx, 0, place);
    const bough_interface *face = &rigid->interfaces[rigid->parent];
    BO_TRY(make_place(ctx, face->vertex_count, place));
    memcpy(place->vertices, face->vertices, (size_t)face->vertex_count * sizeof *place->vertices);
    memcpy(place->weights, face->weights, (size_t)face->vertex_count * sizeof *place->weights);
    return BOUGH_OK;
}

/* The element, or all of the domain's. */
static bough_status place_stress(bough_context *ctx, const bo_assembly *assembly, const int32_t *map, bo_probe *probe) {
    if (!probe->most)
        return bo_probe_element(ctx, probe, map[probe->element]);
    const bough_cook_job *job = assembly->components[assembly->parts[probe->part].component].job;
    const int32_t count = bough_body_mesh(job->body)->element_count;
    if (!(probe->elements = BO_NEW_ARRAY(ctx, int32_t, count)))
        return BOUGH_ERROR_MEMORY;
    memcpy(probe->elements, map, (size_t)count * sizeof *map);
    probe->element_count = count;
    return BOUGH_OK;
}

static bough_status place_probe(bough_context *ctx, const bo_assembly *assembly, const bo_domain_maps *maps,
                                bo_probe *probe) {
    if (probe->kind == BO_PROBE_CONTACT)
        return BOUGH_OK;
    if (probe->kind == BO_PROBE_STRESS)
        return place_stress(ctx, assembly, maps->elements, probe);
    bo_mesh_place place = {0};
    bough_status status = probe->at_surface ? bo_part_surface_point(ctx, assembly, probe->part, probe->rest, &place)
                                            : place_origin(ctx, assembly, probe, &place);
    for (int32_t k = 0; k < place.count && status == BOUGH_OK; k++)
        place.vertices[k] = maps->vertices[place.vertices[k]];
    probe->count = place.count; /* the probe's from now on */
    probe->vertices = place.vertices;
    probe->weights = place.weights;
    return status;
}

/* ---- forces ---- */

static bough_status check_force(bo_json at, const bo_tree_force *force) {
    if (!force->at_surface)
        return bo_json_fail(at, "the full engine takes forces at points of the surface only; say \"nearest\" to what "
                                "point this one is, and leave \"torque\" out");
    return bo_force_is_steady(force) ? BOUGH_OK
                                     : bo_json_fail(at, "the full engine takes forces that act all the time only; "
                                                        "leave \"from\" and \"until\" out to compare");
}

/* The virtual work is that of the point: vertices share the force by their weights. */
static bough_status add_force(bo_json at, const bo_assembly *assembly, const int32_t *map, const bo_tree_force *force,
                              bough_load_case *load_case) {
    bo_mesh_place place = {0};
    double rest[3];
    memcpy(rest, force->rest, sizeof rest);
    BO_TRY(check_force(at, force));
    bough_status status = bo_part_surface_point(at.ctx, assembly, force->part, rest, &place);
    for (int32_t k = 0; k < place.count && status == BOUGH_OK; k++) {
        double share[3];
        bo_store3(share, bo_scale(place.weights[k], bo_load3(force->force)));
        status = bough_load_case_add_force(at.ctx, load_case, &map[place.vertices[k]], 1, share);
    }
    bo_free(at.ctx, place.vertices);
    bo_free(at.ctx, place.weights);
    return status;
}

/* ---- the body ---- */

/* Supports are those of the root's part, whose selections are in its own mesh. */
static bough_status hold(bough_context *ctx, const bough_load_case *root, const int32_t *map, bough_load_case *whole) {
    for (int32_t v = 0; v < root->body->mesh->vertex_count; v++) {
        const unsigned char *fixed = root->fixed + 3 * (size_t)v;
        int axes = fixed[0] | fixed[1] << 1 | fixed[2] << 2;
        if (root->body->used[v] && axes)
            BO_TRY(bough_load_case_fix(ctx, whole, &map[v], 1, axes, root->prescribed + 3 * (size_t)v));
    }
    return BOUGH_OK;
}

/* The scene's probes, with places of their own. */
static bough_status copy_probes(bough_context *ctx, const bough_scene *scene, bo_whole *whole) {
    if (!(whole->probes = BO_NEW_ZEROS(ctx, bo_probe, scene->probe_count)))
        return BOUGH_ERROR_MEMORY;
    whole->probe_count = scene->probe_count;
    for (int32_t i = 0; i < scene->probe_count; i++) {
        const bo_probe *from = &scene->probes[i];
        bo_probe *to = &whole->probes[i];
        *to = *from;
        to->name = to->thing = to->against = NULL; /* nothing is freed twice, also when a copy fails */
        if (!(to->name = bo_strdup(ctx, from->name)) || (from->thing && !(to->thing = bo_strdup(ctx, from->thing))) ||
            (from->against && !(to->against = bo_strdup(ctx, from->against))))
            return BOUGH_ERROR_MEMORY;
    }
    return BOUGH_OK;
}

static bough_status finish(bough_context *ctx, bo_json forces, const bough_scene *scene, const bo_domain_maps *maps,
                           bo_whole *whole) {
    const bo_assembly *assembly = &scene->plan->assembly;
    BO_TRY(bough_load_case_create(ctx, whole->body, &whole->load_case));
    for (int32_t p = 0; p < assembly->part_count; p++)
        if (assembly->parts[p].parent < 0)
            BO_TRY(hold(ctx, assembly->components[p].job->load_case, maps[p].vertices, whole->load_case));
    BO_TRY(bough_load_case_set_gravity(ctx, whole->load_case, scene->gravity));
    for (int32_t i = 0; i < scene->tree.force_count; i++) {
        const bo_tree_force *force = &scene->tree.forces[i];
        BO_TRY(add_force(bo_json_item(&forces, i), assembly, maps[force->part].vertices, force, whole->load_case));
    }
    BO_TRY(copy_probes(ctx, scene, whole));
    for (int32_t i = 0; i < whole->probe_count; i++)
        BO_TRY(place_probe(ctx, assembly, &maps[whole->probes[i].part], &whole->probes[i]));
    whole->velocity = BO_NEW_ZEROS(ctx, double, 3 * (size_t)bough_body_mesh(whole->body)->vertex_count);
    return whole->velocity ? BOUGH_OK : BOUGH_ERROR_MEMORY;
}

void bo_whole_destroy(bough_context *ctx, bo_whole *whole) {
    if (!whole)
        return;
    bo_probes_free(ctx, whole->probe_count, whole->probes);
    bo_free(ctx, whole->velocity);
    bough_load_case_destroy(ctx, whole->load_case);
    bough_body_destroy(ctx, whole->body);
    bo_free(ctx, whole);
}

bough_status bo_scene_check_whole(bough_context *ctx, const bough_scene *scene) {
    const bo_assembly *assembly = &scene->plan->assembly;
    const double *wind = scene->tree.wind.velocity;
    if (wind[0] != 0 || wind[1] != 0 || wind[2] != 0)
        return bo_fail(ctx, BOUGH_ERROR_UNSUPPORTED, "%s: the full engine knows no wind; take \"wind\" out to compare",
                       scene->path);
    if (scene->tree.event_count > 0 || scene->tree.strength || scene->tree.tie_strength)
        return bo_fail(ctx, BOUGH_ERROR_UNSUPPORTED,
                       "%s: in the full engine parts stay together; take \"events\" and \"break\" out to compare",
                       scene->path);
    if (!assembly->is_object)
        return bo_fail(ctx, BOUGH_ERROR_UNSUPPORTED,
                       "%s: the full engine steps the mesh of an \"object\" as a whole, and these parts come from "
                       "meshes of their own; use the tree engine",
                       scene->path);
    if (assembly->tie_count > 0)
        return bo_fail(ctx, BOUGH_ERROR_UNSUPPORTED,
                       "%s: the full engine steps the mesh as it is, and knows no \"ties\"; close the loop in the "
                       "mesh, or use the tree engine",
                       scene->path);
    for (int32_t p = 0; p < assembly->part_count; p++)
        if (scene->tree.painted_count > 0 || assembly->parts[p].stiffness != 1 ||
            !isnan(assembly->parts[p].damping_ratio))
            return bo_fail(ctx, BOUGH_ERROR_UNSUPPORTED,
                           "%s: the full engine knows no \"paint\"; leave it out to compare, or use the tree engine",
                           scene->path);
    return BOUGH_OK;
}

bough_status bo_scene_make_whole(bough_context *ctx, const bough_scene *scene, bo_whole **out) {
    const bo_assembly *assembly = &scene->plan->assembly;
    bo_domain_maps *maps = NULL;
    bo_json root;
    *out = NULL;
    BO_TRY(bo_scene_check_whole(ctx, scene));
    BO_TRY(bo_json_load(ctx, scene->path, &root));
    bo_whole *whole = BO_NEW(ctx, bo_whole);
    bough_status status =
        whole ? bo_object_body(bo_json_at(&root, "object"), assembly, &whole->body, &maps) : BOUGH_ERROR_MEMORY;
    if (status == BOUGH_OK)
        status = finish(ctx, bo_json_at(&root, "forces"), scene, maps, whole);
    bo_json_free(&root);
    for (int32_t d = 0; maps && d < assembly->part_count; d++) {
        bo_free(ctx, maps[d].vertices);
        bo_free(ctx, maps[d].elements);
    }
    bo_free(ctx, maps);
    if (status == BOUGH_OK)
        *out = whole;
    else
        bo_whole_destroy(ctx, whole);
    return status;
}
