/* Meshes: points of others in their distances, and their points in others. docs/theory/contact.md, "Meshes".
 *
 * No distance grows by more than a metre a metre: what is around a place that is further away than the radius around it cannot
 * touch. So balls around points, and edges, are halved until they are near or small. */
#include "contact/collide.h"
#include "contact/gap.h"

#define STEEPEST 1.2 /* no spline of distances goes down faster, but at kinks inside */

enum { OF_CORNER = 0x10000, OF_EDGE = 0x20000, OF_POINT = 0x30000, OF_OTHER = 0x40000, OF_NODE = 0x50000 };

/* Within a mesh, from another mesh or a hull: g takes its places into the axes of the second shape. */
typedef struct {
    const bough_shape_mesh *mesh; /* whose distances are looked at */
    bo_se3 to, back; /* from the axes in which points are to those of the mesh, and back from there to b's */
    double sign;     /* 1: points are of a; -1: they are of b */
    bo_manifold *m;
} looker;

/* A place of one side in the mesh of the other. */
static void add_at(const looker *l, bo_vec3 x, const bo_gap *at, uint32_t feature) {
    const double length = bo_norm(at->n);
    if (!(at->d <= l->m->margin))
        return;
    const bo_vec3 n = bo_mat_vec(l->back.R, length > 1e-9 ? bo_scale(1 / length, at->n) : bo_v3(0, 0, 1));
    const bo_vec3 place = bo_se3_apply(l->back, x);
    if (l->sign > 0)
        bo_manifold_add(l->m, place, n, at->d, feature);
    else /* the point is b's: a's place is where the mesh is left */
        bo_manifold_add(l->m, bo_mul_add(place, -at->d, n), bo_scale(-1, n), at->d, feature);
}

static void look_at_point(const looker *l, bo_vec3 x, uint32_t feature) {
    const bo_vec3 y = bo_se3_apply(l->to, x);
    bo_gap at;
    bo_grid_slope(&l->mesh->grid, y, &at);
    add_at(l, y, &at, feature);
}

/* The place of a piece of an edge, x - along to x + along, that is deepest in the mesh, if it is between its ends; else its
 * middle, which stands for pieces that lie flat. By the rule of Illinois on the slope along the edge. */
static void look_at_piece(const looker *l, bo_vec3 x, bo_vec3 along, uint32_t feature) {
    enum { ROUNDS = 8 };
    const bo_vec3 y = bo_se3_apply(l->to, x), t = bo_mat_vec(l->to.R, along);
    bo_gap low, high, at;
    bo_grid_slope(&l->mesh->grid, y, &at);
    if (at.d > l->m->margin + STEEPEST * bo_norm(t))
        return;
    bo_grid_slope(&l->mesh->grid, bo_sub(y, t), &low);
    bo_grid_slope(&l->mesh->grid, bo_add(y, t), &high);
    double from = -1, end = 1, f = bo_dot(low.n, t), h = bo_dot(high.n, t), s = 0;
    const bool between = f < 0 && h > 0;
    const double flat = 1e-6 * bo_norm(t);
    for (int round = 0; between && round < ROUNDS; round++) {
        s = (from * h - end * f) / (h - f);
        bo_grid_slope(&l->mesh->grid, bo_mul_add(y, s, t), &at);
        const double slope = bo_dot(at.n, t);
        if (fabs(slope) < flat)
            break;
        if (slope < 0)
            from = s, f = slope, h *= 0.5;
        else
            end = s, h = slope, f *= 0.5;
    }
    add_at(l, bo_mul_add(y, s, t), &at, feature);
}

static bool is_far(const looker *l, bo_vec3 centre, double radius) {
    return bo_mesh_is_far(l->mesh, bo_se3_apply(l->to, centre), radius + l->m->margin);
}

/* The same, looked at closely: for a few points together. */
static bool is_surely_far(const looker *l, bo_vec3 centre, double radius) {
    const double reach = radius + l->m->margin;
    return is_far(l, centre, radius) || bo_grid_value(&l->mesh->grid, bo_se3_apply(l->to, centre)) > STEEPEST * reach;
}

/* ---- hulls ---- */

static void look_along_edge(const looker *l, bo_vec3 a, bo_vec3 b, int32_t edge, uint32_t piece) {
    enum { MOST_PIECES = 64 };
    const bo_vec3 half = bo_scale(0.5, bo_sub(b, a)), middle = bo_add(a, half);
    if (is_far(l, middle, bo_norm(half)))
        return;
    if (bo_norm(half) <= l->mesh->grid.cell || piece >= MOST_PIECES) {
        look_at_piece(l, middle, half, bo_feature(OF_EDGE + (uint32_t)edge, piece));
        return;
    }
    look_along_edge(l, a, middle, edge, 2 * piece);
    look_along_edge(l, middle, b, edge, 2 * piece + 1);
}

/* Returns a bound on the distance of a place from a hull. */
static double outside_of(const bo_hull *hull, bo_vec3 x) {
    double most = -INFINITY;
    for (int32_t f = 0; f < hull->face_count; f++)
        most = fmax(most, bo_dot(hull->normals[f], x) - hull->offsets[f]);
    return most;
}

/* Points of the mesh (b) in the hull (a), which leave through its nearest face. */
static void look_in_hull(const bo_placed *a, bo_se3 back, const bough_shape *hull, const bough_shape_mesh *mesh,
                         int32_t level, int32_t k, bo_manifold *m) {
    const bo_mesh_ball *ball = bo_mesh_ball_at(mesh, level, k);
    if (!(outside_of(a->hull, bo_se3_apply(back, ball->centre)) < ball->radius + m->margin))
        return;
    if (level < mesh->levels) {
        look_in_hull(a, back, hull, mesh, level + 1, 2 * k, m);
        look_in_hull(a, back, hull, mesh, level + 1, 2 * k + 1, m);
        return;
    }
    for (int32_t i = bo_mesh_first_point(mesh, level, k); i < bo_mesh_first_point(mesh, level, k + 1); i++) {
        bo_manifold one;
        one.margin = m->margin;
        bo_collide_point(bo_se3_apply(back, mesh->points[i].x), hull, &one);
        if (one.count == 0)
            continue;
        const bo_vec3 n = bo_mat_vec(a->g.R, one.points[0].normal);
        bo_manifold_add(m, bo_mul_add(mesh->points[i].x, -one.points[0].gap, n), bo_scale(-1, n), one.points[0].gap,
                        bo_feature(OF_POINT, (uint32_t)i));
    }
}

void bo_collide_hull_mesh(const bough_shape *hull, bo_se3 g, const bough_shape *mesh, bo_manifold *m) {
    const looker l = {mesh->mesh, g, bo_se3_identity(), 1, m};
    const bo_placed a = {&hull->hull, g};
    if (is_far(&l, hull->centre, hull->radius))
        return;
    for (int32_t i = 0; i < hull->hull.vertex_count; i++)
        look_at_point(&l, hull->hull.vertices[i], bo_feature(OF_CORNER, (uint32_t)i));
    for (int32_t e = 0; e < hull->hull.edge_count; e++)
        look_along_edge(&l, hull->hull.vertices[hull->hull.edges[e].from], hull->hull.vertices[hull->hull.edges[e].to],
                        e, 1);
    look_in_hull(&a, bo_se3_inverse(g), hull, mesh->mesh, 0, 0, m);
}

/* ---- meshes ---- */

static void look_at_mesh(const looker *l, const bough_shape_mesh *points, int32_t level, int32_t k) {
    const bo_mesh_ball *ball = bo_mesh_ball_at(points, level, k);
    if (level < points->levels ? is_far(l, ball->centre, ball->radius) : is_surely_far(l, ball->centre, ball->radius))
        return;
    if (level < points->levels) {
        look_at_mesh(l, points, level + 1, 2 * k);
        look_at_mesh(l, points, level + 1, 2 * k + 1);
        return;
    }
    for (int32_t i = bo_mesh_first_point(points, level, k); i < bo_mesh_first_point(points, level, k + 1); i++) {
        const bo_mesh_point *p = &points->points[i];
        if (is_far(l, p->x, bo_norm(p->along)))
            continue;
        const uint32_t feature = bo_feature(l->sign > 0 ? OF_POINT : OF_OTHER, (uint32_t)i);
        if (bo_dot(p->along, p->along) > 0)
            look_at_piece(l, p->x, p->along, feature);
        else
            look_at_point(l, p->x, feature);
    }
}

void bo_collide_meshes(const bough_shape *a, bo_se3 g, const bough_shape *b, bo_manifold *m) {
    const looker l = {b->mesh, g, bo_se3_identity(), 1, m}, other = {a->mesh, bo_se3_inverse(g), g, -1, m};
    look_at_mesh(&l, a->mesh, 0, 0);
    look_at_mesh(&other, b->mesh, 0, 0);
}

void bo_collide_sphere_mesh(bo_vec3 centre, double radius, const bough_shape *mesh, bo_manifold *m) {
    bo_ball_place places[BO_MOST_BALL_PLACES];
    if (bo_mesh_is_far(mesh->mesh, centre, radius + m->margin))
        return;
    const int32_t count = bo_ball_on_grid(&mesh->mesh->grid, centre, radius, m->margin, places);
    for (int32_t i = 0; i < count; i++)
        bo_manifold_add(m, bo_mul_add(centre, -radius, places[i].out), places[i].out, places[i].gap,
                        (uint32_t)places[i].feature);
}

void bo_collide_point_mesh(bo_vec3 x, const bough_shape *mesh, bo_manifold *m) {
    const looker l = {mesh->mesh, bo_se3_identity(), bo_se3_identity(), 1, m};
    if (!is_far(&l, x, 0))
        look_at_point(&l, x, 0);
}

/* ---- the ground ---- */

/* Points of a mesh over a plane, or a height field. */
static void look_at_ground(const bough_shape *a, bo_se3 g, const bough_shape *ground, int32_t level, int32_t k,
                           bo_manifold *m) {
    const bough_shape_mesh *mesh = a->mesh;
    const bo_mesh_ball *ball = bo_mesh_ball_at(mesh, level, k);
    const bool plane = ground->kind == BOUGH_SHAPE_PLANE;
    if (!(bo_se3_apply(g, ball->centre).z - (plane ? 0 : ground->highest) < ball->radius + m->margin))
        return;
    if (level < mesh->levels) {
        look_at_ground(a, g, ground, level + 1, 2 * k, m);
        look_at_ground(a, g, ground, level + 1, 2 * k + 1, m);
        return;
    }
    for (int32_t i = bo_mesh_first_point(mesh, level, k); i < bo_mesh_first_point(mesh, level, k + 1); i++) {
        const bo_vec3 x = bo_se3_apply(g, mesh->points[i].x);
        const uint32_t feature = bo_feature(OF_POINT, (uint32_t)i);
        if (plane && mesh->points[i].corner)
            bo_manifold_add(m, x, bo_v3(0, 0, 1), x.z, feature);
        if (plane)
            continue;
        bo_manifold one;
        one.margin = m->margin;
        bo_collide_point(x, ground, &one);
        if (one.count > 0)
            bo_manifold_add(m, x, one.points[0].normal, one.points[0].gap, feature);
    }
}

/* The nodes from first[k] up to end[k] of a field, within reach of a box. */
static int32_t node_near(double x, double cell, int32_t count) {
    return (int32_t)fmin(fmax(floor(x / cell + 0.5 * (count - 1)), 0), count - 1);
}

/* Nodes of the ground in a mesh: it goes upwards, since the ground is below. */
static void look_at_nodes(const bough_shape *a, bo_se3 g, const bough_shape *field, bo_manifold *m) {
    const looker l = {a->mesh, bo_se3_inverse(g), g, -1, m};
    bo_vec3 lower, upper;
    bough_shape unframed = *a;
    unframed.frame = bo_se3_identity();
    bo_shape_bounds(&unframed, g, &lower, &upper);
    const int32_t left = node_near(lower.x - m->margin, field->cell[0], field->columns),
                  right = node_near(upper.x + m->margin, field->cell[0], field->columns),
                  front = node_near(lower.y - m->margin, field->cell[1], field->rows),
                  back = node_near(upper.y + m->margin, field->cell[1], field->rows);
    for (int32_t j = front; j <= back; j++)
        for (int32_t i = left; i <= right; i++) {
            const bo_vec3 x = bo_field_node(field, i, j);
            bo_gap at;
            if (x.z < lower.z - m->margin || is_far(&l, x, 0))
                continue;
            bo_grid_slope(&a->mesh->grid, bo_se3_apply(l.to, x), &at);
            if (bo_mat_vec(g.R, at.n).z < -0.3 * bo_norm(at.n))
                add_at(&l, bo_se3_apply(l.to, x), &at, bo_feature(OF_NODE, (uint32_t)(j * field->columns + i)));
        }
}

void bo_collide_mesh_ground(const bough_shape *a, bo_se3 g, const bough_shape *ground, bo_manifold *m) {
    look_at_ground(a, g, ground, 0, 0, m);
    if (ground->kind == BOUGH_SHAPE_HEIGHT_FIELD)
        look_at_nodes(a, g, ground, m);
}
