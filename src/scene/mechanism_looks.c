/* Looks of links, free bodies and obstacles: shapes of the file, and rods for links that have none. */
#include "scene/mechanism_scene.h"

#include "base/pose.h"

#include <math.h>
#include <string.h>

#define ROD_THICKNESS 0.12 /* radius of the rods that stand for links without a shape, against their mean length */

/* Neighbours in a chain differ. */
static const double rod_colours[2][3] = {{0.86, 0.62, 0.26}, {0.36, 0.5, 0.66}}, base_colour[3] = {0.35, 0.35, 0.37};

/* ---- links without a shape: rods from their middles to their joints and end effectors ---- */

static bough_status draw_rod(bough_context *ctx, bo_vec3 from, bo_vec3 to, double radius, bo_triangles *out) {
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
    return bo_shape_triangles(ctx, &rod, 0, out);
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
    bough_context *ctx;
    const bo_mechanism_scene *m;
    bo_triangles *links; /* of each */
    double sum, radius;
    int32_t count;
} rods;

static bough_status add_length(void *data, int32_t link, bo_vec3 end) {
    rods *r = data;
    const double length = bo_norm(bo_sub(end, bo_load3(r->m->links[link].centre)));
    if (length > 0)
        r->sum += length, r->count++;
    return BOUGH_OK;
}

static bough_status add_rod(void *data, int32_t link, bo_vec3 end) {
    const rods *r = data;
    const double radius = r->radius * (link == r->m->base ? 1.04 : 1); /* where two meet, one is seen */
    return r->m->link_shapes[link].count > 0
               ? BOUGH_OK
               : draw_rod(r->ctx, bo_load3(r->m->links[link].centre), end, radius, &r->links[link]);
}

static bough_status draw_rods(bough_context *ctx, const bo_mechanism_scene *m, bo_triangles *links) {
    rods r = {.ctx = ctx, .m = m, .links = links};
    BO_TRY(for_rods(m, add_length, &r));
    const double radius = m->mechanism ? bough_mechanism_radius(m->mechanism) : 1;
    r.radius = r.count ? 2 * ROD_THICKNESS * r.sum / r.count : 0.05 * radius;
    return for_rods(m, add_rod, &r);
}

/* ---- all surfaces ---- */

/* Things are the links, then free bodies, then obstacles. */
static const bo_scene_shapes *shapes_of(const bo_mechanism_scene *m, int32_t thing) {
    const int32_t body = thing - m->link_count, obstacle = body - m->body_count;
    return body < 0 ? &m->link_shapes[thing] : obstacle < 0 ? &m->bodies[body].shapes : &m->obstacles[obstacle].shapes;
}

/* Contact shapes are drawn too, on links that show nothing else there. */
static bough_status draw_all(bough_context *ctx, const bo_mechanism_scene *m, int32_t count, bo_triangles *all) {
    const double plane = m->mechanism ? 12 * bough_mechanism_radius(m->mechanism) : 10;
    BO_TRY(draw_rods(ctx, m, all));
    for (int32_t i = 0; i < count; i++)
        BO_TRY(bo_shapes_triangles(ctx, shapes_of(m, i), bo_se3_identity(), plane, &all[i]));
    if (m->link_count > 0)
        BO_TRY(bo_shapes_triangles(ctx, &m->base_touch.shapes, bo_se3_identity(), plane, &all[m->base]));
    for (int32_t i = 0; i < m->link_touch_count; i++)
        BO_TRY(bo_shapes_triangles(ctx, &m->link_touches[i].touch.shapes, bo_se3_identity(), plane,
                                   &all[m->link_touches[i].link]));
    for (int32_t i = 0; i < m->end_effector_count; i++)
        BO_TRY(bo_shapes_triangles(ctx, &m->effectors[i].touch.shapes, bo_pose(&m->end_effectors[i].pose), plane,
                                   &all[m->end_effectors[i].body]));
    return BOUGH_OK;
}

static void choose_colour(const bo_mechanism_scene *m, int32_t thing, double colour[3]) {
    const int32_t body = thing - m->link_count, obstacle = body - m->body_count;
    const int32_t index = body < 0 ? thing : obstacle < 0 ? body : obstacle;
    const bo_scene_shapes *shapes = shapes_of(m, thing);
    memcpy(colour,
           shapes->count > 0              ? shapes->shapes[0].colour
           : body < 0 && index == m->base ? base_colour
                                          : rod_colours[index % 2],
           3 * sizeof *colour);
}

bough_status bo_mechanism_draw(bough_context *ctx, const void *data, bough_look *looks) {
    const bo_mechanism_scene *m = data;
    const int32_t count = m->link_count + m->body_count + m->obstacle_count;
    bo_triangles *all = BO_NEW_ZEROS(ctx, bo_triangles, count);
    bough_status status = all ? draw_all(ctx, m, count, all) : BOUGH_ERROR_MEMORY;
    for (int32_t i = 0; all && i < count; i++) {
        double colour[3];
        choose_colour(m, i, colour);
        if (status == BOUGH_OK)
            bo_triangles_show(ctx, &all[i], colour, &looks[i]);
        else
            bo_triangles_free(ctx, &all[i]);
    }
    bo_free(ctx, all);
    return status;
}
