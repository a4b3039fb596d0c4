/* Spheres, planes, and which pairs are looked at how. docs/theory/contact.md, "Collision". */
#include "contact/collide.h"

#include <string.h>

/* ---- points found ---- */

void bo_manifold_add(bo_manifold *m, bo_vec3 x, bo_vec3 normal, double gap, uint32_t feature) {
    if (!(gap <= m->margin))
        return;
    if (m->count == BO_MOST_FOUND)
        bo_manifold_reduce(m, BO_MOST_FOUND / 4);
    m->points[m->count++] = (bo_touching){x, bo_mul_add(x, -gap, normal), normal, gap, feature};
}

static double least_gap(const bo_manifold *m) {
    double least = INFINITY;
    for (int32_t i = 0; i < m->count; i++)
        least = fmin(least, m->points[i].gap);
    return least;
}

/* The same point twice, as of two triangles that share a corner. */
static bool found_before(const bo_manifold *m, int32_t kept, const bo_touching *p) {
    for (int32_t i = 0; i < kept; i++)
        if (bo_norm(bo_sub(p->on_a, m->points[i].on_a)) < 1e-6 * m->size &&
            bo_dot(p->normal, m->points[i].normal) > 1 - 1e-6)
            return true;
    return false;
}

/* Drops points that are further than the nearest by more than the shape's size: they have their turn when they are
 * nearer. Drops doubles. */
static void drop_far_and_double(bo_manifold *m) {
    const double reach = fmax(least_gap(m), 0) + m->size;
    int32_t kept = 0;
    for (int32_t i = 0; i < m->count; i++) {
        const bo_touching p = m->points[i];
        if (p.gap <= reach && !found_before(m, kept, &p))
            m->points[kept++] = p;
    }
    m->count = kept;
}

static void swap_points(bo_manifold *m, int32_t i, int32_t j) {
    const bo_touching p = m->points[i];
    m->points[i] = m->points[j], m->points[j] = p;
}

/* The worth of a point beside those chosen: its distance from them, less for what is not as deep. Of two that add the
 * same but for rounding the first stays. */
static double worth(const bo_manifold *m, int32_t chosen, int32_t i, double deepest) {
    double nearest = m->size;
    for (int32_t k = 0; k < chosen; k++) {
        const double turn = 1 - bo_dot(m->points[i].normal, m->points[k].normal);
        nearest = fmin(nearest, bo_norm(bo_sub(m->points[i].on_a, m->points[k].on_a)) + m->size * turn);
    }
    return nearest - 4 * (m->points[i].gap - deepest);
}

void bo_manifold_reduce(bo_manifold *m, int32_t most) {
    drop_far_and_double(m);
    if (m->count <= most)
        return;
    const double deepest = least_gap(m);
    for (int32_t chosen = 0; chosen < most; chosen++) {
        int32_t best = chosen;
        double best_worth = worth(m, chosen, chosen, deepest);
        for (int32_t i = chosen + 1; i < m->count; i++) {
            const double w = worth(m, chosen, i, deepest);
            if (w > best_worth + 1e-6 * m->size)
                best = i, best_worth = w;
        }
        swap_points(m, chosen, best);
    }
    m->count = most;
}

/* ---- spheres and planes ---- */

static void collide_spheres(bo_vec3 centre, double radius, double other, bo_manifold *m) {
    const double distance = bo_norm(centre);
    const bo_vec3 normal = distance > 0 ? bo_scale(1 / distance, centre) : bo_v3(0, 0, 1);
    bo_manifold_add(m, bo_mul_add(centre, -radius, normal), normal, distance - radius - other, 0);
}

static bool over_face(const bo_hull *hull, int32_t face, bo_vec3 x) {
    const int32_t first = hull->face_start[face], end = hull->face_start[face + 1];
    for (int32_t i = first; i < end; i++) {
        const bo_vec3 p = hull->vertices[hull->loops[i]], q = hull->vertices[hull->loops[i + 1 < end ? i + 1 : first]];
        if (bo_dot(bo_cross(hull->normals[face], bo_sub(q, p)), bo_sub(x, p)) < 0)
            return false;
    }
    return true;
}

/* Outside, the nearest point is under the centre in a face, or on an edge. Inside, the nearest face is the way out. */
static void collide_sphere_hull(bo_vec3 centre, double radius, const bo_hull *hull, bo_manifold *m) {
    int32_t face = 0;
    double most = -INFINITY, nearest = INFINITY;
    bo_vec3 best = {0, 0, 0};
    for (int32_t f = 0; f < hull->face_count; f++) {
        const double d = bo_dot(hull->normals[f], centre) - hull->offsets[f];
        if (d > most)
            most = d, face = f;
        if (d > 0 && d < nearest && over_face(hull, f, centre))
            nearest = d, best = bo_mul_add(centre, -d, hull->normals[f]);
    }
    if (most > radius + m->margin)
        return;
    for (int32_t e = 0; e < hull->edge_count && most > 0; e++) {
        const bo_vec3 p = hull->vertices[hull->edges[e].from], d = bo_sub(hull->vertices[hull->edges[e].to], p);
        const bo_vec3 x = bo_nearest_on_segment(p, d, centre);
        const double distance = bo_norm(bo_sub(centre, x));
        if (distance < nearest)
            nearest = distance, best = x;
    }
    const bool outside = most > 1e-9 * (radius > 0 ? radius : m->size);
    const bo_vec3 normal = outside ? bo_normalize(bo_sub(centre, best)) : hull->normals[face];
    bo_manifold_add(m, bo_mul_add(centre, -radius, normal), normal, (outside ? nearest : most) - radius, 0);
}

static void collide_hull_plane(const bo_placed *a, bo_manifold *m) {
    for (int32_t i = 0; i < a->hull->vertex_count; i++) {
        const bo_vec3 x = bo_placed_corner(a, i);
        bo_manifold_add(m, x, bo_v3(0, 0, 1), x.z, (uint32_t)i);
    }
}

void bo_collide_point(bo_vec3 x, const bough_shape *shape, bo_manifold *m) {
    m->count = 0, m->size = shape->radius;
    switch (shape->kind) {
    case BOUGH_SHAPE_PLANE:
        bo_manifold_add(m, x, bo_v3(0, 0, 1), x.z, 0);
        break;
    case BOUGH_SHAPE_HEIGHT_FIELD:
        bo_collide_point_field(x, shape, m);
        break;
    case BOUGH_SHAPE_SPHERE:
        collide_spheres(x, 0, shape->radius, m);
        break;
    case BOUGH_SHAPE_BOX:
    case BOUGH_SHAPE_HULL:
    case BOUGH_SHAPE_CAPSULE: /* made as a hull */
        collide_sphere_hull(x, 0, &shape->hull, m);
        break;
    case BOUGH_SHAPE_MESH:
        bo_collide_point_mesh(x, shape, m);
        break;
    }
}

/* ---- pairs ---- */

/* b in its own axes, a in those at g. b is ground where one of them is, else a mesh where one of them is, and a sphere only
 * where both are. */
static void collide(const bough_shape *a, bo_se3 g, const bough_shape *b, bo_manifold *m) {
    const bool sphere = a->kind == BOUGH_SHAPE_SPHERE;
    const bo_placed hull = {&a->hull, g}, other = {&b->hull, bo_se3_identity()};
    if (a->mesh && bo_shape_is_ground(b)) {
        bo_collide_mesh_ground(a, g, b, m);
        return;
    }
    switch (b->kind) {
    case BOUGH_SHAPE_PLANE:
        if (sphere)
            bo_manifold_add(m, bo_v3(g.t.x, g.t.y, g.t.z - a->radius), bo_v3(0, 0, 1), g.t.z - a->radius, 0);
        else
            collide_hull_plane(&hull, m);
        break;
    case BOUGH_SHAPE_HEIGHT_FIELD:
        if (sphere)
            bo_collide_sphere_field(g.t, a->radius, b, m);
        else
            bo_collide_hull_field(&hull, b, m);
        break;
    case BOUGH_SHAPE_SPHERE:
        collide_spheres(g.t, a->radius, b->radius, m);
        break;
    case BOUGH_SHAPE_BOX:
    case BOUGH_SHAPE_HULL:
    case BOUGH_SHAPE_CAPSULE: /* made as a hull */
        if (sphere)
            collide_sphere_hull(g.t, a->radius, &b->hull, m);
        else
            bo_collide_hulls(&hull, &other, m);
        break;
    case BOUGH_SHAPE_MESH:
        if (sphere)
            bo_collide_sphere_mesh(g.t, a->radius, b, m);
        else if (a->mesh)
            bo_collide_meshes(a, g, b, m);
        else
            bo_collide_hull_mesh(a, g, b, m);
        break;
    }
}

/* Which of two comes first in collide(). */
static int rank_of(const bough_shape *shape) {
    return shape->kind == BOUGH_SHAPE_SPHERE ? 0 : bo_shape_is_ground(shape) ? 3 : shape->mesh ? 2 : 1;
}

int32_t bough_shapes_touch(const bough_shape *a, const bough_pose *at_a, const bough_shape *b, const bough_pose *at_b,
                           double margin, bough_touching points[BOUGH_MOST_TOUCHING]) {
    if (bo_shape_is_ground(a) && bo_shape_is_ground(b))
        return 0;
    const bool swapped = rank_of(a) > rank_of(b);
    const bough_shape *first = swapped ? b : a, *second = swapped ? a : b;
    const bo_se3 g = bo_se3_mul(bo_pose(swapped ? at_b : at_a), first->frame),
                 h = bo_se3_mul(bo_pose(swapped ? at_a : at_b), second->frame);
    bo_manifold m;
    m.count = 0, m.margin = margin;
    m.size = fmin(first->radius, bo_shape_is_ground(second) ? INFINITY : second->radius);
    collide(first, bo_se3_mul(bo_se3_inverse(h), g), second, &m);
    const bool convex = second->kind != BOUGH_SHAPE_HEIGHT_FIELD && !first->mesh && !second->mesh;
    bo_manifold_reduce(&m, convex ? BOUGH_MOST_TOUCHING / 2 : BOUGH_MOST_TOUCHING);
    for (int32_t i = 0; i < m.count; i++) {
        const bo_touching *p = &m.points[i];
        const bo_vec3 on_first = bo_se3_apply(h, p->on_a), on_second = bo_se3_apply(h, p->on_b);
        bo_store3(points[i].on_a, swapped ? on_second : on_first);
        bo_store3(points[i].on_b, swapped ? on_first : on_second);
        bo_store3(points[i].normal, bo_scale(swapped ? -1 : 1, bo_mat_vec(h.R, p->normal)));
        points[i].gap = p->gap;
        points[i].feature = p->feature;
    }
    return m.count;
}
