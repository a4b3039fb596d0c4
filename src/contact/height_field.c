/* Height fields: the triangles of the cells under a shape, one by one. docs/theory/contact.md, "Height fields". */
#include "contact/collide.h"

/* A cell (column, row) is cut from its lowest corner (0, 0) to the opposite one (1, 1). */
typedef struct {
    const bough_shape *field;
    int32_t node[3][2]; /* column and row of the corners, counter-clockwise seen from above */
    bo_vec3 corners[3];
    bo_vec3 normal;
    uint32_t feature;
} facet;

static facet facet_of(const bough_shape *field, int32_t column, int32_t row, int upper) {
    static const int32_t corners[2][3][2] = {{{0, 0}, {1, 0}, {1, 1}}, {{0, 0}, {1, 1}, {0, 1}}};
    facet f = {.field = field, .feature = 2 * (uint32_t)(row * field->columns + column) + (uint32_t)upper};
    for (int k = 0; k < 3; k++) {
        f.node[k][0] = column + corners[upper][k][0];
        f.node[k][1] = row + corners[upper][k][1];
        f.corners[k] = bo_field_node(field, f.node[k][0], f.node[k][1]);
    }
    f.normal = bo_normalize(bo_cross(bo_sub(f.corners[1], f.corners[0]), bo_sub(f.corners[2], f.corners[0])));
    return f;
}

/* The facet over or under the point; false: beside the field. */
static bool facet_at(const bough_shape *field, bo_vec3 x, facet *f) {
    const double u = x.x / field->cell[0] + 0.5 * (field->columns - 1),
                 v = x.y / field->cell[1] + 0.5 * (field->rows - 1);
    if (!(u >= 0 && u <= field->columns - 1 && v >= 0 && v <= field->rows - 1))
        return false;
    const int32_t column = u < field->columns - 1 ? (int32_t)u : field->columns - 2,
                  row = v < field->rows - 1 ? (int32_t)v : field->rows - 2;
    *f = facet_of(field, column, row, v - row > u - column);
    return true;
}

void bo_collide_point_field(bo_vec3 x, const bough_shape *field, bo_manifold *m) {
    facet f;
    if (facet_at(field, x, &f))
        bo_manifold_add(m, x, f.normal, bo_dot(f.normal, bo_sub(x, f.corners[0])), 0);
}

/* ---- which directions the ground can push in ---- */

static bool node_is_below(const bough_shape *field, int32_t column, int32_t row, bo_vec3 p, bo_vec3 direction) {
    if (column < 0 || column >= field->columns || row < 0 || row >= field->rows)
        return true;
    const double size = fmin(field->cell[0], field->cell[1]);
    return bo_dot(direction, bo_sub(bo_field_node(field, column, row), p)) <= 1e-6 * size;
}

static const int32_t around[6][2] = {{1, 0}, {1, 1}, {0, 1}, {-1, 0}, {-1, -1}, {0, -1}};

/* Nothing around a node reaches further in the direction: it can touch there. */
static bool node_sticks_out(const bough_shape *field, int32_t column, int32_t row, bo_vec3 p, bo_vec3 direction) {
    if (direction.z <= 0)
        return false;
    for (int i = 0; i < 6; i++)
        if (!node_is_below(field, column + around[i][0], row + around[i][1], p, direction))
            return false;
    return true;
}
static bool corner_sticks_out(const facet *f, int k, bo_vec3 direction) {
    return node_sticks_out(f->field, f->node[k][0], f->node[k][1], f->corners[k], direction);
}

/* The direction nearest to the given one in which the node sticks out: that itself, or across an edge that leads away
 * from the node, or the normal of a facet there, which in a plane is the plane's. In a pit or saddle, where it sticks
 * out in none, the nearest of these normals. */
static bo_vec3 nearest_out(const bough_shape *field, int32_t column, int32_t row, bo_vec3 p, bo_vec3 direction) {
    if (node_sticks_out(field, column, row, p, direction))
        return direction;
    bo_vec3 edges[6], best = {0, 0, 1}, normal = {0, 0, 1};
    double most = -INFINITY, along = -INFINITY;
    for (int i = 0; i < 6; i++) {
        const int32_t u = column + around[i][0], v = row + around[i][1];
        const bool there = u >= 0 && u < field->columns && v >= 0 && v < field->rows;
        edges[i] = there ? bo_normalize(bo_sub(bo_field_node(field, u, v), p)) : bo_v3(0, 0, 0);
    }
    for (int k = 0; k < 12; k++) {
        const bo_vec3 e = edges[k / 2], n = bo_cross(e, edges[(k / 2 + 1) % 6]);
        const bo_vec3 across = k % 2 ? n : bo_mul_add(direction, -bo_dot(direction, e), e);
        if (!(bo_norm(across) > 0))
            continue;
        const bo_vec3 d = bo_normalize(across);
        const double turned = bo_dot(d, direction);
        if (turned > most && node_sticks_out(field, column, row, p, d))
            most = turned, best = d;
        if (k % 2 && turned > along)
            along = turned, normal = d;
    }
    return isfinite(most) ? best : normal;
}

/* Neither facet beside the edge from corner k reaches further: the node across is a + b - c of a parallelogram. */
static bool edge_sticks_out(const facet *f, int k, bo_vec3 direction) {
    const int32_t *a = f->node[k], *b = f->node[(k + 1) % 3], *c = f->node[(k + 2) % 3];
    return direction.z > 0 && node_is_below(f->field, c[0], c[1], f->corners[k], direction) &&
           node_is_below(f->field, a[0] + b[0] - c[0], a[1] + b[1] - c[1], f->corners[k], direction);
}

/* ---- which way is out ---- */

/* The depth of a place under the ground, straight up; below 0: above it, -infinity beside the field. */
static double depth_below(const bough_shape *field, bo_vec3 x) {
    const double u = x.x / field->cell[0] + 0.5 * (field->columns - 1),
                 v = x.y / field->cell[1] + 0.5 * (field->rows - 1);
    if (!(u >= 0 && u <= field->columns - 1 && v >= 0 && v <= field->rows - 1))
        return -INFINITY;
    const int32_t i = (int32_t)fmin(u, field->columns - 2), j = (int32_t)fmin(v, field->rows - 2);
    const double a = u - i, b = v - j;
    const double *h = field->heights + (ptrdiff_t)j * field->columns + i, *across = h + field->columns;
    return (a > b ? h[0] + a * (h[1] - h[0]) + b * (across[1] - h[1])
                  : h[0] + b * (across[0] - h[0]) + a * (across[1] - across[0])) -
           x.z;
}

/* A facet is a surface, and what is behind it need not be in the ground: it may be on the other side of a peak. The way
 * out leads through the facet only where that is no further than straight up. */
static void add_if_out(const facet *f, bo_vec3 x, bo_vec3 normal, double gap, uint32_t feature, bo_manifold *m) {
    if (gap >= 0 || -gap <= depth_below(f->field, x) + 1e-3 * m->size)
        bo_manifold_add(m, x, normal, gap, feature);
}

/* ---- spheres ---- */

/* Over the facet, seen along a direction that is not in its plane. */
static bool is_over(const facet *f, bo_vec3 x, bo_vec3 direction) {
    for (int k = 0; k < 3; k++) {
        const bo_vec3 p = f->corners[k], d = bo_sub(f->corners[(k + 1) % 3], p);
        if (bo_dot(bo_cross(direction, d), bo_sub(x, p)) < 0)
            return false;
    }
    return true;
}

/* A centre under the ground goes out through the facet above it. Else the nearest point counts, where the ground sticks
 * out towards the centre: beside a facet the neighbour is nearer. */
static void touch_sphere(const facet *f, bo_vec3 centre, double radius, bo_manifold *m) {
    const double height = bo_dot(f->normal, bo_sub(centre, f->corners[0]));
    const bo_vec3 lowest = bo_mul_add(centre, -radius, f->normal);
    if (height < 0) {
        if (is_over(f, centre, bo_v3(0, 0, 1)))
            bo_manifold_add(m, lowest, f->normal, height - radius, f->feature);
        return;
    }
    if (is_over(f, centre, f->normal)) {
        bo_manifold_add(m, lowest, f->normal, height - radius, f->feature);
        return;
    }
    double nearest = INFINITY;
    bo_vec3 best = {0, 0, 0};
    int side = 0;
    for (int k = 0; k < 3; k++) {
        const bo_vec3 p = f->corners[k];
        const bo_vec3 x = bo_nearest_on_segment(p, bo_sub(f->corners[(k + 1) % 3], p), centre);
        const double distance = bo_norm(bo_sub(centre, x));
        if (distance < nearest)
            nearest = distance, best = x, side = k;
    }
    const bo_vec3 out = bo_scale(1 / nearest, bo_sub(centre, best));
    const double size = 1e-9 * radius;
    const bool at_start = bo_norm(bo_sub(best, f->corners[side])) < size,
               at_end = bo_norm(bo_sub(best, f->corners[(side + 1) % 3])) < size;
    const bool sticks_out = at_start || at_end ? corner_sticks_out(f, at_start ? side : (side + 1) % 3, out)
                                               : edge_sticks_out(f, side, out);
    if (nearest > size && sticks_out)
        bo_manifold_add(m, bo_mul_add(centre, -radius, out), out, nearest - radius, f->feature);
}

/* ---- polyhedra ---- */

/* `a` is the polyhedron in the field's axes, with those edges only that can look down. */

typedef struct {
    double gap;
    int32_t face, edge, side; /* of the polyhedron; of the facet */
    bo_vec3 normal;
} axis;

static double lowest_over(const bo_hull *a, const facet *f) {
    const int32_t lowest = bo_hull_support(a, bo_scale(-1, f->normal));
    return bo_dot(f->normal, bo_sub(a->vertices[lowest], f->corners[0]));
}

/* Faces of the polyhedron that rest on a corner which sticks out. */
static axis best_face(const bo_hull *a, const facet *f) {
    axis best = {.gap = -INFINITY, .face = -1};
    for (int32_t i = 0; i < a->face_count; i++) {
        const bo_vec3 n = a->normals[i];
        if (n.z >= 0)
            continue;
        int top = 0;
        double gap = INFINITY;
        for (int k = 0; k < 3; k++) {
            const double g = bo_dot(n, f->corners[k]) - a->offsets[i];
            if (g < gap)
                gap = g, top = k;
        }
        if (gap > best.gap && corner_sticks_out(f, top, bo_scale(-1, n)))
            best = (axis){.gap = gap, .face = i, .normal = bo_scale(-1, n)};
    }
    return best;
}

/* Both faces beside an edge of the polyhedron rise from it along the direction. */
static bool edge_hangs_down(const bo_hull *a, const bo_hull_edge *edge, bo_vec3 along, bo_vec3 direction) {
    return bo_dot(direction, bo_cross(a->normals[edge->left], along)) >= 0 &&
           bo_dot(direction, bo_cross(a->normals[edge->right], along)) <= 0;
}

/* A box around the facet. */
typedef struct {
    bo_vec3 lower, upper;
} extent;
static extent extent_of(const facet *f, double more) {
    const bo_vec3 *c = f->corners;
    return (extent){{fmin(c[0].x, fmin(c[1].x, c[2].x)) - more, fmin(c[0].y, fmin(c[1].y, c[2].y)) - more,
                     fmin(c[0].z, fmin(c[1].z, c[2].z)) - more},
                    {fmax(c[0].x, fmax(c[1].x, c[2].x)) + more, fmax(c[0].y, fmax(c[1].y, c[2].y)) + more,
                     fmax(c[0].z, fmax(c[1].z, c[2].z)) + more}};
}
static bool reaches(const extent *box, bo_vec3 p, bo_vec3 q) {
    return (p.z <= box->upper.z || q.z <= box->upper.z) && (p.z >= box->lower.z || q.z >= box->lower.z) &&
           (p.x <= box->upper.x || q.x <= box->upper.x) && (p.x >= box->lower.x || q.x >= box->lower.x) &&
           (p.y <= box->upper.y || q.y <= box->upper.y) && (p.y >= box->lower.y || q.y >= box->lower.y);
}

/* Among edges that are no further from the facet than `near`. */
static axis best_edges(const bo_hull *a, const facet *f, double near) {
    const extent box = extent_of(f, near);
    axis best = {.gap = -INFINITY, .face = -1, .edge = -1};
    for (int32_t i = 0; i < a->edge_count; i++) {
        const bo_hull_edge *edge = &a->edges[i];
        const bo_vec3 p = a->vertices[edge->from], end = a->vertices[edge->to], d = bo_sub(end, p);
        for (int k = 0; k < 3 && reaches(&box, p, end); k++) {
            const bo_vec3 q = f->corners[k], e = bo_sub(f->corners[(k + 1) % 3], q), cross = bo_cross(d, e);
            const double length = bo_norm(cross);
            if (length * length < 1e-10 * bo_dot(d, d) * bo_dot(e, e))
                continue;
            const bo_vec3 n = bo_scale((cross.z > 0 ? 1 : -1) / length, cross);
            const double gap = bo_dot(n, bo_sub(p, q));
            if (gap > best.gap && edge_hangs_down(a, edge, d, n) && edge_sticks_out(f, k, n))
                best = (axis){.gap = gap, .face = -1, .edge = i, .side = k, .normal = n};
        }
    }
    return best;
}

static void touch_edges(const bo_hull *a, const facet *f, const axis *x, bo_manifold *m) {
    const bo_hull_edge *edge = &a->edges[x->edge];
    const bo_vec3 p = a->vertices[edge->from], d = bo_sub(a->vertices[edge->to], p), q = f->corners[x->side],
                  e = bo_sub(f->corners[(x->side + 1) % 3], q);
    double s, t;
    bo_nearest_on_segments(p, d, q, e, &s, &t);
    const bo_vec3 on_a = bo_mul_add(p, s, d), apart = bo_sub(on_a, bo_mul_add(q, t, e));
    const double gap = bo_dot(apart, x->normal);
    const uint32_t feature = (uint32_t)(edge->from * BO_MOST_CORNERS + edge->to);
    if (bo_norm(bo_mul_add(apart, -gap, x->normal)) < 1e-6 * m->size) /* not where one ends */
        add_if_out(f, on_a, x->normal, gap, bo_feature(3 * f->feature + (uint32_t)x->side, feature), m);
}

static uint32_t node_feature(const bough_shape *field, int32_t column, int32_t row, int32_t face) {
    return bo_feature(0x40000000u + (uint32_t)(row * field->columns + column), (uint32_t)face);
}

/* Corners of the facet under a face of the polyhedron that stick out. */
static void touch_corners(const bo_hull *a, const facet *f, const axis *x, bo_manifold *m) {
    const int32_t first = a->face_start[x->face], end = a->face_start[x->face + 1];
    for (int k = 0; k < 3; k++) {
        const bo_vec3 p = f->corners[k];
        bool under = corner_sticks_out(f, k, x->normal);
        for (int32_t i = first; i < end && under; i++) {
            const bo_vec3 u = a->vertices[a->loops[i]], v = a->vertices[a->loops[i + 1 < end ? i + 1 : first]];
            under = bo_dot(bo_cross(bo_sub(v, u), a->normals[x->face]), bo_sub(p, u)) <= 0;
        }
        const double gap = bo_dot(a->normals[x->face], p) - a->offsets[x->face];
        if (under)
            bo_manifold_add(m, bo_mul_add(p, gap, x->normal), x->normal, gap,
                            node_feature(f->field, f->node[k][0], f->node[k][1], x->face));
    }
}

/* Corners of the polyhedron over the facet, or in the ground under it, which may be of none of the features above: the
 * face that looks against the facet most need not have the lowest corner. */
static void touch_hull_corners(const bo_hull *a, const facet *f, bo_manifold *m) {
    for (int32_t i = 0; i < a->vertex_count; i++) {
        const bo_vec3 x = a->vertices[i];
        const double height = bo_dot(f->normal, bo_sub(x, f->corners[0]));
        if (height <= m->margin && (is_over(f, x, bo_v3(0, 0, 1)) || (height > 0 && is_over(f, x, f->normal))))
            bo_manifold_add(m, x, f->normal, height, bo_feature(f->feature + 0x80000000u, (uint32_t)i));
    }
}

/* The face that looks against the facet most, as far as it is over it. */
static void touch_facet(const bo_hull *a, const facet *f, bo_manifold *m) {
    const bo_placed placed = {a, bo_se3_identity()};
    const int32_t lowest = bo_placed_face(&placed, bo_scale(-1, f->normal));
    bo_manifold found;
    found.count = 0, found.margin = m->margin, found.size = m->size;
    bo_clip_face(&placed, lowest, 3, f->corners, f->normal, false, bo_feature(f->feature, (uint32_t)lowest), &found);
    for (int32_t i = 0; i < found.count; i++) {
        const bo_touching *p = &found.points[i];
        add_if_out(f, p->on_a, p->normal, p->gap, p->feature, m);
    }
}

/* The polyhedron goes out along the axis of least overlap of those in which the ground can push. */
static void touch_hull(const bo_hull *a, const facet *f, bo_manifold *m) {
    const double near = 1e-3 * m->size, flat = lowest_over(a, f);
    if (flat > m->margin)
        return;
    const axis face = best_face(a, f), edges = best_edges(a, f, fmax(m->margin, -flat));
    if (face.gap > m->margin || edges.gap > m->margin)
        return;
    const int32_t before = m->count;
    if (edges.gap > fmax(face.gap, flat) + near)
        touch_edges(a, f, &edges, m);
    else if (face.gap > flat + near)
        touch_corners(a, f, &face, m);
    if (m->count == before)
        touch_facet(a, f, m);
    touch_hull_corners(a, f, m);
}

/* A node in the polyhedron, which may be of none of these features either, goes out through the nearest face that looks
 * down, as far as the ground around lets it. */
static void touch_peak(const bo_hull *a, const bough_shape *field, int32_t column, int32_t row, bo_manifold *m) {
    const bo_vec3 p = bo_field_node(field, column, row);
    double least = INFINITY;
    int32_t face = -1;
    for (int32_t i = 0; i < a->face_count; i++) {
        const double depth = a->offsets[i] - bo_dot(a->normals[i], p);
        if (depth < 0)
            return;
        if (a->normals[i].z < 0 && depth < least)
            least = depth, face = i;
    }
    if (face < 0)
        return;
    const bo_vec3 out = nearest_out(field, column, row, p, bo_scale(-1, a->normals[face]));
    least = INFINITY;
    for (int32_t i = 0; i < a->face_count; i++)
        if (bo_dot(a->normals[i], out) < 0)
            least = fmin(least, (a->offsets[i] - bo_dot(a->normals[i], p)) / -bo_dot(a->normals[i], out));
    bo_manifold_add(m, bo_mul_add(p, -least, out), out, -least, node_feature(field, column, row, face));
}

/* ---- cells ---- */

/* Cells from `first` to `last` that cover lower .. upper, of `count` nodes about the origin; none: last < first. */
static void cells_under(double lower, double upper, double cell, int32_t count, int32_t *first, int32_t *last) {
    const double middle = 0.5 * (count - 1), most = count - 2;
    *first = (int32_t)fmin(fmax(floor(lower / cell + middle), 0), most + 1);
    *last = (int32_t)fmin(fmax(floor(upper / cell + middle), -1), most);
}

static bool cell_is_near(const bough_shape *field, int32_t i, int32_t j, double lowest) {
    const double *h = field->heights + (ptrdiff_t)j * field->columns + i;
    return fmax(fmax(h[0], h[1]), fmax(h[field->columns], h[field->columns + 1])) >= lowest;
}

typedef void (*visitor)(const void *user, const facet *f, bo_manifold *m);

static void visit(const bough_shape *field, bo_vec3 lower, bo_vec3 upper, visitor touch, const void *user,
                  bo_manifold *m) {
    int32_t i0, i1, j0, j1;
    cells_under(lower.x - m->margin, upper.x + m->margin, field->cell[0], field->columns, &i0, &i1);
    cells_under(lower.y - m->margin, upper.y + m->margin, field->cell[1], field->rows, &j0, &j1);
    if (lower.z - m->margin > field->highest)
        return;
    for (int32_t j = j0; j <= j1; j++)
        for (int32_t i = i0; i <= i1; i++)
            for (int up = 0; up < 2 && cell_is_near(field, i, j, lower.z - m->margin); up++) {
                const facet f = facet_of(field, i, j, up);
                touch(user, &f, m);
            }
}

typedef struct {
    bo_vec3 centre;
    double radius;
} ball;

static void visit_sphere(const void *user, const facet *f, bo_manifold *m) {
    const ball *b = user;
    touch_sphere(f, b->centre, b->radius, m);
}
static void visit_hull(const void *user, const facet *f, bo_manifold *m) {
    touch_hull(user, f, m);
}

void bo_collide_sphere_field(bo_vec3 centre, double radius, const bough_shape *field, bo_manifold *m) {
    const bo_vec3 r = bo_v3(radius, radius, radius);
    visit(field, bo_sub(centre, r), bo_add(centre, r), visit_sphere, &(ball){centre, radius}, m);
}

void bo_collide_hull_field(const bo_placed *a, const bough_shape *field, bo_manifold *m) {
    bo_vec3 vertices[BO_MOST_CORNERS], normals[2 * BO_MOST_CORNERS];
    double offsets[2 * BO_MOST_CORNERS];
    bo_hull_edge edges[3 * BO_MOST_CORNERS];
    bo_hull here = *a->hull;
    here.vertices = vertices, here.normals = normals, here.offsets = offsets, here.edges = edges, here.edge_count = 0;
    bo_vec3 lower = {INFINITY, INFINITY, INFINITY}, upper = {-INFINITY, -INFINITY, -INFINITY};
    for (int32_t i = 0; i < here.vertex_count; i++) {
        const bo_vec3 x = vertices[i] = bo_placed_corner(a, i);
        lower = bo_v3(fmin(lower.x, x.x), fmin(lower.y, x.y), fmin(lower.z, x.z));
        upper = bo_v3(fmax(upper.x, x.x), fmax(upper.y, x.y), fmax(upper.z, x.z));
    }
    for (int32_t i = 0; i < here.face_count; i++) {
        normals[i] = bo_mat_vec(a->g.R, a->hull->normals[i]);
        offsets[i] = a->hull->offsets[i] + bo_dot(normals[i], a->g.t);
    }
    for (int32_t i = 0; i < a->hull->edge_count; i++) {
        const bo_hull_edge *edge = &a->hull->edges[i];
        if (normals[edge->left].z < 0 || normals[edge->right].z < 0)
            edges[here.edge_count++] = *edge;
    }
    visit(field, lower, upper, visit_hull, &here, m);
    int32_t i0, i1, j0, j1; /* cells; nodes between them are under the polyhedron */
    cells_under(lower.x, upper.x, field->cell[0], field->columns, &i0, &i1);
    cells_under(lower.y, upper.y, field->cell[1], field->rows, &j0, &j1);
    for (int32_t j = j0; j <= j1 + 1 && i0 <= i1; j++)
        for (int32_t i = i0; i <= i1 + 1; i++)
            if (j0 <= j1 && field->heights[(ptrdiff_t)j * field->columns + i] >= lower.z)
                touch_peak(&here, field, i, j, m);
}
