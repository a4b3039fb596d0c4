/* Polyhedra against polyhedra: the axis along which they overlap least, among the normals of faces and the products of
 * edges, and the part of one face over another. docs/theory/contact.md, "Collision". */
#include "contact/collide.h"

/* ---- axes ---- */

typedef struct {
    double gap;
    int32_t first, second; /* a face; or edges of a and b */
    bo_vec3 normal;        /* out of the polyhedron of the face; of edges: from b to a */
} axis;

int32_t bo_placed_face(const bo_placed *p, bo_vec3 direction) {
    const bo_vec3 d = bo_mat_tvec(p->g.R, direction);
    int32_t best = 0;
    double most = -INFINITY;
    for (int32_t f = 0; f < p->hull->face_count; f++) {
        const double along = bo_dot(p->hull->normals[f], d);
        if (along > most)
            most = along, best = f;
    }
    return best;
}

static double gap_of_face(const bo_placed *one, const bo_placed *other, const bo_se3 *to, int32_t f) {
    const bo_vec3 n = one->hull->normals[f];
    const int32_t lowest = bo_hull_support(other->hull, bo_scale(-1, bo_mat_tvec(to->R, n)));
    return bo_dot(n, bo_se3_apply(*to, other->hull->vertices[lowest])) - one->hull->offsets[f];
}

/* The face of one beyond which the other is furthest. The other's middle is further than all of it: first the face that
 * this is furthest from, and then only those that can be better. */
static axis best_face(const bo_placed *one, const bo_placed *other, double margin) {
    const bo_se3 to = bo_se3_mul(bo_se3_inverse(one->g), other->g);
    const bo_vec3 middle = bo_se3_apply(to, other->hull->middle);
    const bo_hull *hull = one->hull;
    axis best = {.gap = -INFINITY};
    double most = -INFINITY;
    for (int32_t f = 0; f < hull->face_count; f++) {
        const double height = bo_dot(hull->normals[f], middle) - hull->offsets[f];
        if (height > most)
            most = height, best.first = f;
    }
    best.gap = gap_of_face(one, other, &to, best.first);
    for (int32_t f = 0; f < hull->face_count && best.gap <= margin; f++) {
        if (bo_dot(hull->normals[f], middle) - hull->offsets[f] <= best.gap || f == best.first)
            continue;
        const double gap = gap_of_face(one, other, &to, f);
        if (gap > best.gap)
            best.gap = gap, best.first = f;
    }
    best.normal = bo_mat_vec(one->g.R, hull->normals[best.first]);
    return best;
}

/* Edges of one that reach within `near` of the box around the other. */
static int32_t edges_near(const bo_placed *one, const bo_placed *other, double near, int32_t *edges) {
    const bo_se3 to = bo_se3_mul(bo_se3_inverse(other->g), one->g);
    const bo_vec3 l = other->hull->lower, u = other->hull->upper;
    int32_t count = 0;
    for (int32_t i = 0; i < one->hull->edge_count; i++) {
        const bo_vec3 p = bo_se3_apply(to, one->hull->vertices[one->hull->edges[i].from]),
                      q = bo_se3_apply(to, one->hull->vertices[one->hull->edges[i].to]);
        if (fmin(p.x, q.x) <= u.x + near && fmax(p.x, q.x) >= l.x - near && fmin(p.y, q.y) <= u.y + near &&
            fmax(p.y, q.y) >= l.y - near && fmin(p.z, q.z) <= u.z + near && fmax(p.z, q.z) >= l.z - near)
            edges[count++] = i;
    }
    return count;
}

/* The product of the edges is an axis only where the arcs between the normals beside them, a's and minus b's, cross on
 * the sphere of directions: elsewhere another feature is further out. An edge goes along left x right of its normals.
 * Edges that overlap less than the faces by `near` are no further apart than that. */
static axis best_edges(const bo_placed *a, const bo_placed *b, double near, double margin) {
    int32_t of_a[3 * BO_MOST_CORNERS], of_b[3 * BO_MOST_CORNERS];
    const int32_t count_a = edges_near(a, b, near, of_a), count_b = edges_near(b, a, near, of_b);
    const bo_se3 to = bo_se3_mul(bo_se3_inverse(b->g), a->g);
    axis best = {.gap = -INFINITY};
    for (int32_t i = 0; i < count_a && best.gap <= margin; i++) {
        const bo_hull_edge *edge = &a->hull->edges[of_a[i]];
        const bo_vec3 p = bo_se3_apply(to, a->hull->vertices[edge->from]),
                      d = bo_sub(bo_se3_apply(to, a->hull->vertices[edge->to]), p),
                      left = bo_mat_vec(to.R, a->hull->normals[edge->left]),
                      right = bo_mat_vec(to.R, a->hull->normals[edge->right]);
        for (int32_t j = 0; j < count_b; j++) {
            const bo_hull_edge *against = &b->hull->edges[of_b[j]];
            const bo_vec3 n = b->hull->normals[against->left], o = b->hull->normals[against->right];
            const double nd = bo_dot(n, d), od = bo_dot(o, d);
            if (nd * od >= 0)
                continue;
            const bo_vec3 q = b->hull->vertices[against->from], e = bo_sub(b->hull->vertices[against->to], q);
            const double le = bo_dot(left, e), re = bo_dot(right, e);
            if (le * re >= 0 || nd * re >= 0)
                continue;
            bo_vec3 normal = bo_cross(d, e);
            const double length = bo_norm(normal);
            if (length * length < 1e-10 * bo_dot(d, d) * bo_dot(e, e))
                continue;
            normal = bo_scale((bo_dot(normal, bo_add(n, o)) > 0 ? 1 : -1) / length, normal);
            const double gap = bo_dot(normal, bo_sub(p, q));
            if (gap > best.gap)
                best = (axis){gap, of_a[i], of_b[j], normal};
        }
    }
    best.normal = bo_mat_vec(b->g.R, best.normal);
    return best;
}

/* ---- points of edges ---- */

void bo_nearest_on_segments(bo_vec3 p, bo_vec3 d, bo_vec3 q, bo_vec3 e, double *s, double *t) {
    const bo_vec3 r = bo_sub(p, q);
    const double dd = bo_dot(d, d), ee = bo_dot(e, e), de = bo_dot(d, e), dr = bo_dot(d, r), er = bo_dot(e, r);
    const double det = dd * ee - de * de;
    *s = det > 1e-12 * dd * ee ? fmin(fmax((de * er - ee * dr) / det, 0), 1) : 0.5;
    *t = (de * *s + er) / ee;
    if (*t < 0 || *t > 1) {
        *t = fmin(fmax(*t, 0), 1);
        *s = fmin(fmax((de * *t - dr) / dd, 0), 1);
    }
}

static void touch_edges(const bo_placed *a, const bo_placed *b, const axis *x, bo_manifold *m) {
    const bo_hull_edge *i = &a->hull->edges[x->first], *j = &b->hull->edges[x->second];
    const bo_vec3 p = bo_placed_corner(a, i->from), d = bo_sub(bo_placed_corner(a, i->to), p),
                  q = bo_placed_corner(b, j->from), e = bo_sub(bo_placed_corner(b, j->to), q);
    double s, t;
    bo_nearest_on_segments(p, d, q, e, &s, &t);
    const bo_vec3 on_a = bo_mul_add(p, s, d), apart = bo_sub(on_a, bo_mul_add(q, t, e));
    if (x->gap > 0 && bo_norm(apart) > m->margin) /* they pass each other */
        return;
    bo_manifold_add(m, on_a, x->normal, bo_dot(apart, x->normal), bo_feature((uint32_t)x->first, (uint32_t)x->second));
}

/* ---- points of faces ---- */

typedef struct {
    bo_vec3 x;
    uint32_t feature;
} corner;

/* Keeps what is not beyond the plane through p with this normal. */
static int32_t clip(int32_t count, const corner *in, bo_vec3 p, bo_vec3 normal, uint32_t feature, corner *out) {
    int32_t kept = 0;
    for (int32_t i = 0; i < count && kept + 2 <= 2 * BO_MOST_CORNERS; i++) {
        const corner *here = &in[i], *next = &in[i + 1 < count ? i + 1 : 0];
        const double u = bo_dot(normal, bo_sub(here->x, p)), v = bo_dot(normal, bo_sub(next->x, p));
        if (u <= 0)
            out[kept++] = *here;
        if ((u < 0 && v > 0) || (u > 0 && v < 0))
            out[kept++] = (corner){bo_mul_add(here->x, u / (u - v), bo_sub(next->x, here->x)),
                                   bo_feature(here->feature, feature + (u < 0))};
    }
    return kept;
}

void bo_clip_face(const bo_placed *cut, int32_t face, int32_t count, const bo_vec3 *over, bo_vec3 normal, bool flip,
                  uint32_t feature, bo_manifold *m) {
    corner buffers[2][2 * BO_MOST_CORNERS];
    corner *now = buffers[0], *next = buffers[1];
    const int32_t first = cut->hull->face_start[face];
    int32_t left = cut->hull->face_start[face + 1] - first;
    for (int32_t i = 0; i < left; i++)
        now[i] = (corner){bo_placed_corner(cut, cut->hull->loops[first + i]),
                          bo_feature(feature, (uint32_t)cut->hull->loops[first + i])};
    for (int32_t i = 0; i < count && left > 0; i++) {
        const bo_vec3 side = bo_cross(bo_sub(over[i + 1 < count ? i + 1 : 0], over[i]), normal);
        left = clip(left, now, over[i], side, 2 * (uint32_t)i, next);
        corner *swapped = now;
        now = next, next = swapped;
    }
    for (int32_t i = 0; i < left; i++) {
        const double gap = bo_dot(normal, bo_sub(now[i].x, over[0]));
        const bo_vec3 on_a = flip ? bo_mul_add(now[i].x, -gap, normal) : now[i].x;
        bo_manifold_add(m, on_a, flip ? bo_scale(-1, normal) : normal, gap, now[i].feature);
    }
}

/* `one` has the face, `other` lies on it; flip: `one` is the first shape. False: they overlap, but what lies deepest is
 * not in the part of one face over the other. */
static bool touch_face(const bo_placed *one, const bo_placed *other, const axis *x, bool flip, bo_manifold *m) {
    bo_vec3 over[BO_MOST_CORNERS];
    const int32_t first = one->hull->face_start[x->first], count = one->hull->face_start[x->first + 1] - first;
    for (int32_t i = 0; i < count; i++)
        over[i] = bo_placed_corner(one, one->hull->loops[first + i]);
    const int32_t face = bo_placed_face(other, bo_scale(-1, x->normal));
    const uint32_t feature = bo_feature(2 * (uint32_t)x->first + flip, (uint32_t)face);
    bo_clip_face(other, face, count, over, x->normal, flip, feature, m);
    double least = INFINITY;
    for (int32_t i = 0; i < m->count; i++)
        least = fmin(least, m->points[i].gap);
    return x->gap > 0 || least <= x->gap + 1e-3 * m->size;
}

/* The corner of `other` that is deepest under the face. */
static void touch_lowest(const bo_placed *other, const axis *x, bool flip, bo_manifold *m) {
    const int32_t lowest = bo_hull_support(other->hull, bo_scale(-1, bo_mat_tvec(other->g.R, x->normal)));
    const bo_vec3 corner_at = bo_placed_corner(other, lowest);
    bo_manifold_add(m, flip ? bo_mul_add(corner_at, -x->gap, x->normal) : corner_at,
                    flip ? bo_scale(-1, x->normal) : x->normal, x->gap,
                    bo_feature(2 * (uint32_t)x->first + flip, 0x40000000u + (uint32_t)lowest));
}

/* ---- all of it ---- */

static bool is_within(const bo_placed *p, bo_vec3 x, double slack) {
    const bo_vec3 local = bo_se3_apply(bo_se3_inverse(p->g), x);
    for (int32_t f = 0; f < p->hull->face_count; f++)
        if (bo_dot(p->hull->normals[f], local) > p->hull->offsets[f] + slack)
            return false;
    return true;
}

/* True where a point of the first shape is in the second, or one of the second in the first: they do overlap. */
static bool shows_overlap(const bo_placed *a, const bo_placed *b, const bo_manifold *m, double slack) {
    for (int32_t i = 0; i < m->count; i++) {
        const bo_touching *p = &m->points[i];
        if (p->gap <= 0 && (is_within(a, p->on_a, slack) && is_within(b, p->on_a, slack)))
            return true;
        if (p->gap <= 0 && (is_within(a, p->on_b, slack) && is_within(b, p->on_b, slack)))
            return true;
    }
    return false;
}

/* Faces go before edges, and the second's before the first's, where they overlap as little: they hold more than one
 * point, and the choice stays from step to step. But where faces have not the point that lies deepest, only the axis
 * with the least overlap of all has it for certain, be it by a hair. */
static void touch_along(const bo_placed *a, const bo_placed *b, const axis *face_a, const axis *face_b,
                        const axis *edges, bo_manifold *m) {
    const double near = 1e-3 * m->size, faces = fmax(face_a->gap, face_b->gap);
    if (edges->gap > m->margin)
        return;
    if (edges->gap <= faces + near) {
        const bool by_a = face_a->gap > face_b->gap + 0.1 * near;
        if (by_a ? touch_face(a, b, face_a, true, m) : touch_face(b, a, face_b, false, m))
            return;
    }
    if (edges->gap > faces) {
        m->count = 0;
        touch_edges(a, b, edges, m);
    } else if (face_a->gap > face_b->gap) {
        touch_lowest(b, face_a, true, m);
    } else {
        touch_lowest(a, face_b, false, m);
    }
}

/* Shapes that overlap by some depth, or are apart by no more than the margin, have the edges that tell it within as
 * much of each other. Edges of shapes further apart may be anywhere, and without them faces seem to overlap: so where
 * no point proves that they do, all edges are looked at. */
void bo_collide_hulls(const bo_placed *a, const bo_placed *b, bo_manifold *m) {
    const axis face_b = best_face(b, a, m->margin);
    if (face_b.gap > m->margin)
        return;
    const axis face_a = best_face(a, b, m->margin);
    if (face_a.gap > m->margin)
        return;
    const double faces = fmax(face_a.gap, face_b.gap);
    axis edges = best_edges(a, b, fmax(-faces, m->margin), m->margin);
    touch_along(a, b, &face_a, &face_b, &edges, m);
    if (m->count == 0 || fmax(faces, edges.gap) > 0 || shows_overlap(a, b, m, 1e-3 * m->size))
        return;
    m->count = 0;
    edges = best_edges(a, b, INFINITY, m->margin);
    touch_along(a, b, &face_a, &face_b, &edges, m);
}
