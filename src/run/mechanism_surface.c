/* What the engine of mechanisms shows: surfaces of links, bodies and obstacles, made when somebody looks. */
#include "run/mechanism_engine.h"

#include "mechanism/mechanism.h"

#include <math.h>
#include <string.h>

#define ROD_THICKNESS 0.12 /* radius of the rods that stand for links without a shape, against their mean length */

/* Neighbours in a chain differ. */
static const double rod_colours[2][3] = {{0.86, 0.62, 0.26}, {0.36, 0.5, 0.66}}, base_colour[3] = {0.35, 0.35, 0.37};

void bo_mechanism_free_surface(mechanism_engine *e) {
    bough_context *ctx = e->l.ctx;
    const bo_mechanism_scene *m = e->l.m;
    for (int32_t i = 0; e->rigids && i < m->link_count + m->body_count + m->obstacle_count; i++)
        bough_mesh_destroy(ctx, (bough_mesh *)e->rigids[i].surface);
    bough_mesh_destroy(ctx, e->surface);
    bo_free(ctx, e->rigids);
    bo_free(ctx, e->first);
    bo_free(ctx, e->displacement);
    bo_free(ctx, e->velocity);
    e->rigids = NULL, e->first = NULL, e->surface = NULL, e->displacement = e->velocity = NULL;
}

void bo_linkage_vertex(const mechanism_engine *e, int32_t rigid, int32_t vertex, double x[3]) {
    memcpy(x, e->rigids[rigid].surface->vertices + 3 * (size_t)vertex, 3 * sizeof *x);
}

/* ---- links without a shape: rods from their middles to their joints and end effectors ---- */

static bough_status draw_rod(const mechanism_engine *e, bo_vec3 from, bo_vec3 to, double radius, bo_triangles *out) {
    const bo_vec3 along = bo_sub(to, from);
    const double length = bo_norm(along);
    bo_scene_shape rod = {.form = BO_FORM_CAPSULE, .def = bough_default_shape_def(), .radius = radius};
    if (length > 1e-9) {
        const bo_vec3 z = bo_scale(1 / length, along), x0 = fabs(z.x) < 0.7 ? bo_v3(1, 0, 0) : bo_v3(0, 1, 0);
        const bo_vec3 y = bo_normalize(bo_cross(z, x0)), x = bo_cross(y, z);
        const double R[9] = {x.x, y.x, z.x, x.y, y.y, z.y, x.z, y.z, z.z};
        memcpy(rod.def.frame.rotation, R, sizeof R);
    }
    bo_store3(rod.def.frame.position, bo_scale(0.5, bo_add(from, to)));
    rod.length = fmax(length, 1e-9);
    return bo_shape_triangles(e->l.ctx, &rod, 0, out);
}

/* Calls for each end of a rod, in the frame of its link. */
typedef bough_status (*rod_end)(void *data, int32_t link, bo_vec3 end);

static bough_status for_rods(const bo_mechanism_scene *m, rod_end call, void *data) {
    for (int32_t j = 0; j < m->joint_count; j++) {
        BO_TRY(call(data, m->joints[j].parent.body, bo_load3(m->joints[j].parent.pose.position)));
        BO_TRY(call(data, m->joints[j].child.body, bo_load3(m->joints[j].child.pose.position)));
    }
    for (int32_t i = 0; i < m->end_effector_count; i++)
        BO_TRY(call(data, m->end_effectors[i].body, bo_load3(m->end_effectors[i].pose.position)));
    return BOUGH_OK;
}

typedef struct {
    const mechanism_engine *e;
    bo_triangles *links; /* of each */
    double sum, radius;
    int32_t count;
} rods;

static bough_status add_length(void *data, int32_t link, bo_vec3 end) {
    rods *r = data;
    const double length = bo_norm(bo_sub(end, bo_load3(r->e->l.m->links[link].centre)));
    if (length > 0)
        r->sum += length, r->count++;
    return BOUGH_OK;
}

static bough_status add_rod(void *data, int32_t link, bo_vec3 end) {
    const rods *r = data;
    const double radius = r->radius * (link == r->e->l.m->base ? 1.04 : 1); /* where two meet, one is seen */
    return r->e->l.m->link_shapes[link].count > 0
               ? BOUGH_OK
               : draw_rod(r->e, bo_load3(r->e->l.m->links[link].centre), end, radius, &r->links[link]);
}

static bough_status draw_rods(const mechanism_engine *e, bo_triangles *links) {
    rods r = {.e = e, .links = links};
    BO_TRY(for_rods(e->l.m, add_length, &r));
    const double radius = e->l.m->mechanism ? bough_mechanism_radius(e->l.m->mechanism) : 1;
    r.radius = r.count ? 2 * ROD_THICKNESS * r.sum / r.count : 0.05 * radius;
    return for_rods(e->l.m, add_rod, &r);
}

/* ---- all surfaces ---- */

static const bo_scene_shapes *shapes_of(const bo_mechanism_scene *m, const bough_run_rigid *rigid) {
    return rigid->kind == BOUGH_RIGID_LINK   ? &m->link_shapes[rigid->index]
           : rigid->kind == BOUGH_RIGID_BODY ? &m->bodies[rigid->index].shapes
                                             : &m->obstacles[rigid->index].shapes;
}

static bough_status draw_shapes(const mechanism_engine *e, const bo_scene_shapes *shapes, bo_se3 frame, double plane,
                                bo_triangles *out) {
    for (int32_t i = 0; i < shapes->count; i++) {
        bo_scene_shape shape = shapes->shapes[i];
        shape.def.frame = bo_put_pose(bo_se3_mul(frame, bo_pose(&shape.def.frame)));
        BO_TRY(bo_shape_triangles(e->l.ctx, &shape, plane, out));
    }
    return BOUGH_OK;
}

/* What touches is seen too, on links that show nothing else there. */
static bough_status draw_all(const mechanism_engine *e, int32_t count, bo_triangles *all) {
    const bo_mechanism_scene *m = e->l.m;
    const double plane = m->mechanism ? 12 * bough_mechanism_radius(m->mechanism) : 10;
    BO_TRY(draw_rods(e, all));
    for (int32_t i = 0; i < count; i++)
        BO_TRY(draw_shapes(e, shapes_of(m, &e->rigids[i]), bo_se3_identity(), plane, &all[i]));
    if (m->link_count > 0)
        BO_TRY(draw_shapes(e, &m->base_touch.shapes, bo_se3_identity(), plane, &all[m->base]));
    for (int32_t i = 0; i < m->link_touch_count; i++)
        BO_TRY(
            draw_shapes(e, &m->link_touches[i].touch.shapes, bo_se3_identity(), plane, &all[m->link_touches[i].link]));
    for (int32_t i = 0; i < m->end_effector_count; i++)
        BO_TRY(draw_shapes(e, &m->effectors[i].touch.shapes, bo_pose(&m->end_effectors[i].pose), plane,
                           &all[m->end_effectors[i].body]));
    return BOUGH_OK;
}

static bough_status make_surfaces(mechanism_engine *e, int32_t count, const bo_triangles *all) {
    for (int32_t i = 0; i < count; i++) {
        bough_mesh *mesh = NULL;
        if (all[i].triangle_count == 0)
            continue;
        BO_TRY(bough_mesh_create(e->l.ctx, BOUGH_TRI3, (int32_t)all[i].vertex_count, all[i].vertices,
                                 (int32_t)all[i].triangle_count, all[i].corners, &mesh));
        e->rigids[i].surface = mesh;
    }
    return BOUGH_OK;
}

/* ---- rigids ---- */

static void describe(mechanism_engine *e, bough_run_rigid *rigid, bough_rigid_kind kind, int32_t index) {
    const bo_mechanism_scene *m = e->l.m;
    *rigid = (bough_run_rigid){.kind = kind, .index = index, .parent = -1};
    const char *name = kind == BOUGH_RIGID_LINK   ? m->links[index].name
                       : kind == BOUGH_RIGID_BODY ? m->bodies[index].name
                                                  : m->obstacles[index].name;
    const bo_scene_shapes *shapes = shapes_of(m, rigid);
    rigid->name = name ? name : "";
    if (kind == BOUGH_RIGID_LINK && (index != m->base || m->free_base))
        rigid->mass = m->links[index].mass;
    else if (kind == BOUGH_RIGID_BODY)
        rigid->mass = m->bodies[index].mass;
    memcpy(rigid->colour,
           shapes->count > 0                              ? shapes->shapes[0].colour
           : kind == BOUGH_RIGID_LINK && index == m->base ? base_colour
                                                          : rod_colours[index % 2],
           sizeof rigid->colour);
}

static void list_rigids(mechanism_engine *e) {
    const bo_mechanism_scene *m = e->l.m;
    bough_run_rigid *to = e->rigids;
    for (int32_t i = 0; i < m->link_count; i++)
        describe(e, to++, BOUGH_RIGID_LINK, i);
    for (int32_t i = 0; i < m->body_count; i++)
        describe(e, to++, BOUGH_RIGID_BODY, i);
    for (int32_t i = 0; i < m->obstacle_count; i++)
        describe(e, to++, BOUGH_RIGID_OBSTACLE, i);
    for (int32_t i = 0; i < m->link_count; i++)
        e->rigids[i].parent = m->mechanism->topology.up[i];
}

/* ---- one mesh of them all ---- */

static bo_se3 rest_of(const bo_mechanism_scene *m, const bough_run_rigid *rigid) {
    return bo_pose(rigid->kind == BOUGH_RIGID_LINK   ? &m->links[rigid->index].pose
                   : rigid->kind == BOUGH_RIGID_BODY ? &m->bodies[rigid->index].pose
                                                     : &m->obstacles[rigid->index].pose);
}

static void gather(const mechanism_engine *e, int32_t count, double *vertices, int32_t *corners) {
    for (int32_t i = 0; i < count; i++) {
        const bough_mesh *own = e->rigids[i].surface;
        const bo_se3 rest = rest_of(e->l.m, &e->rigids[i]);
        double *x = vertices + 3 * (size_t)e->first[i];
        for (size_t v = 0; own && v < (size_t)own->vertex_count; v++)
            bo_store3(x + 3 * v, bo_se3_apply(rest, bo_load3(own->vertices + 3 * v)));
        for (size_t k = 0; own && k < 3 * (size_t)own->element_count; k++)
            *corners++ = e->first[i] + own->elements[k];
    }
}

static bough_status join(mechanism_engine *e, int32_t count) {
    bough_context *ctx = e->l.ctx;
    int64_t vertices = 0, triangles = 0;
    for (int32_t i = 0; i < count; i++) {
        const bough_mesh *own = e->rigids[i].surface;
        e->first[i] = (int32_t)vertices;
        vertices += own ? own->vertex_count : 0, triangles += own ? own->element_count : 0;
        if (vertices > INT32_MAX / 3 || triangles > INT32_MAX / 3)
            return bo_fail(ctx, BOUGH_ERROR_UNSUPPORTED, "the surfaces of all links have too many vertices");
    }
    e->first[count] = (int32_t)vertices;
    double *x = BO_NEW_ARRAY(ctx, double, 3 * (size_t)vertices);
    int32_t *corners = BO_NEW_ARRAY(ctx, int32_t, 3 * (size_t)triangles);
    bough_status status = x && corners ? BOUGH_OK : BOUGH_ERROR_MEMORY;
    if (status == BOUGH_OK) {
        gather(e, count, x, corners);
        status = bough_mesh_create(ctx, BOUGH_TRI3, (int32_t)vertices, x, (int32_t)triangles, corners, &e->surface);
    }
    bo_free(ctx, x);
    bo_free(ctx, corners);
    e->displacement = BO_NEW_ZEROS(ctx, double, 3 * (size_t)vertices);
    e->velocity = BO_NEW_ZEROS(ctx, double, 3 * (size_t)vertices);
    return status == BOUGH_OK && !(e->displacement && e->velocity) ? BOUGH_ERROR_MEMORY : status;
}

static bough_status make_all(mechanism_engine *e, int32_t count) {
    e->rigids = BO_NEW_ZEROS(e->l.ctx, bough_run_rigid, count);
    e->first = BO_NEW_ARRAY(e->l.ctx, int32_t, count + 1);
    bo_triangles *all = BO_NEW_ZEROS(e->l.ctx, bo_triangles, count);
    bough_status status = e->rigids && e->first && all ? BOUGH_OK : BOUGH_ERROR_MEMORY;
    if (status == BOUGH_OK) {
        list_rigids(e);
        status = draw_all(e, count, all);
    }
    if (status == BOUGH_OK)
        status = make_surfaces(e, count, all);
    for (int32_t i = 0; all && i < count; i++)
        bo_triangles_free(e->l.ctx, &all[i]);
    bo_free(e->l.ctx, all);
    return status == BOUGH_OK ? join(e, count) : status;
}

bough_status bo_mechanism_make_surface(bo_engine *engine) {
    mechanism_engine *e = engine->data;
    const bo_mechanism_scene *m = e->l.m;
    const int32_t count = m->link_count + m->body_count + m->obstacle_count;
    const bough_status status = make_all(e, count);
    if (status != BOUGH_OK)
        bo_mechanism_free_surface(e);
    engine->mesh = e->surface;
    engine->rigids = e->rigids, engine->rigid_count = e->rigids ? count : 0;
    engine->displacement = e->displacement, engine->velocity = e->velocity;
    return status;
}

bough_status bo_mechanism_show(void *data) {
    mechanism_engine *e = data;
    const bo_mechanism_scene *m = e->l.m;
    const int32_t count = m->link_count + m->body_count + m->obstacle_count;
    for (int32_t i = 0; i < count; i++) {
        const bough_mesh *own = e->rigids[i].surface;
        bo_twist t;
        const bo_se3 now = bo_mechanism_rigid(e, i, &t);
        for (size_t v = 0; own && v < (size_t)own->vertex_count; v++) {
            const size_t at = 3 * ((size_t)e->first[i] + v);
            const bo_vec3 x = bo_load3(own->vertices + 3 * v);
            bo_store3(e->displacement + at, bo_sub(bo_se3_apply(now, x), bo_load3(e->surface->vertices + at)));
            bo_store3(e->velocity + at, bo_mat_vec(now.R, bo_add(t.v, bo_cross(t.w, x))));
        }
    }
    return BOUGH_OK;
}
