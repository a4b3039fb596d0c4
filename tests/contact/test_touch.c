/* Contact points of shapes, compared with brute force. */
#include "../rig/shapes.h"

#include <bough/contact.h>

typedef struct {
    int32_t count;
    bough_touching points[BOUGH_MOST_TOUCHING];
} touching;

/* A point that is said to be on a shape, on the side to which the direction leads, is there: on a sphere exactly; of a
 * polyhedron no further from its surface than `slack`; on a plane at its height. What height fields say is looked
 * at by their own tests. */
static void check_on(const bough_shape *shape, bo_se3 g, bo_vec3 x, bo_vec3 towards, double slack) {
    g = bo_se3_mul(g, shape->frame);
    if (shape->kind == BOUGH_SHAPE_SPHERE) {
        check_below(bo_norm(bo_sub(x, bo_mul_add(g.t, shape->radius, towards))), 1e-9);
    } else if (shape->kind == BOUGH_SHAPE_PLANE) {
        check_below(fabs(bo_se3_apply(bo_se3_inverse(g), x).z), 1e-9);
    } else if (shape->kind != BOUGH_SHAPE_HEIGHT_FIELD) {
        const bo_vec3 local = bo_se3_apply(bo_se3_inverse(g), x);
        double out = -INFINITY;
        for (int32_t f = 0; f < shape->hull.face_count; f++)
            out = fmax(out, bo_dot(shape->hull.normals[f], local) - shape->hull.offsets[f]);
        check_below(fabs(out), slack);
    }
}

static touching touch(const bough_shape *a, bo_se3 at_a, const bough_shape *b, bo_se3 at_b, double margin) {
    touching t;
    const bough_pose pa = bo_put_pose(at_a), pb = bo_put_pose(at_b);
    t.count = bough_shapes_touch(a, &pa, b, &pb, margin, t.points);
    for (int32_t i = 0; i < t.count; i++) {
        const bough_touching *p = &t.points[i];
        const bo_vec3 n = bo_load3(p->normal), apart = bo_sub(bo_load3(p->on_a), bo_load3(p->on_b));
        check_near(bo_norm(n), 1, 1e-12);
        check_near(bo_dot(n, apart), p->gap, 1e-10);
        check_below(bo_norm(bo_mul_add(apart, -p->gap, n)), 1e-10);
        check_below(p->gap, margin);
        const double slack = 1e-3 * fmin(a->radius, b->radius) + fabs(p->gap); /* edges and faces that lean */
        check_on(a, at_a, bo_load3(p->on_a), bo_scale(-1, n), slack);
        check_on(b, at_b, bo_load3(p->on_b), n, slack);
    }
    return t;
}
static double gap_of(const touching *t) {
    double gap = INFINITY;
    for (int32_t i = 0; i < t->count; i++)
        gap = fmin(gap, t->points[i].gap);
    return gap;
}
static bo_se3 shifted(double x, double y, double z) {
    return (bo_se3){bo_identity3(), {x, y, z}};
}

static void spheres_touch_as_far_as_their_radii(void **unused) {
    (void)unused;
    bough_context *ctx = test_context(1);
    test_random r = {1};
    bough_shape *a = shape_of(ctx, sphere_def(0.3)), *b = shape_of(ctx, sphere_def(0.2)),
                *plane = shape_of(ctx, plane_def());
    for (int round = 0; round < 200; round++) {
        const bo_se3 g = random_place(&r, 0.5), h = random_place(&r, 0.5);
        const bo_vec3 apart = bo_sub(g.t, h.t);
        touching t = touch(a, g, b, h, 10);
        check_int(t.count, 1);
        check_near(t.points[0].gap, bo_norm(apart) - 0.5, 1e-12);
        check_near(bo_dot(bo_load3(t.points[0].normal), apart), bo_norm(apart), 1e-12);
        check_int(touch(a, g, b, h, bo_norm(apart) - 0.5 - 1e-9).count, 0);
        t = touch(a, g, plane, h, 10);
        check_int(t.count, 1);
        check_near(t.points[0].gap, bo_dot(bo_mat_vec(h.R, bo_v3(0, 0, 1)), apart) - 0.3, 1e-12);
    }
    check_int(touch(plane, shifted(0, 0, 0), plane, shifted(0, 0, 0), 1).count, 0);
    check_near(touch(a, shifted(0, 0, 0), b, shifted(0, 0, 0), 1).points[0].gap, -0.5, 1e-12); /* in one place */
    bough_shape_destroy(ctx, a);
    bough_shape_destroy(ctx, b);
    bough_shape_destroy(ctx, plane);
    bough_context_destroy(ctx);
}

/* ---- brute force ---- */

static double reach_along(const bo_hull *hull, bo_se3 g, bo_vec3 n) {
    double most = -INFINITY;
    for (int32_t i = 0; i < hull->vertex_count; i++)
        most = fmax(most, bo_dot(n, bo_se3_apply(g, hull->vertices[i])));
    return most;
}
/* Along n, how far a is beyond b. */
static double gap_along(const bo_hull *a, bo_se3 g, const bo_hull *b, bo_se3 h, bo_vec3 n) {
    return -reach_along(a, g, bo_scale(-1, n)) - reach_along(b, h, n);
}
/* The largest gap over all normals of faces and products of edges: minus the depth of polyhedra that overlap, and not
 * above the distance of others. */
static double largest_gap(const bo_hull *a, bo_se3 g, const bo_hull *b, bo_se3 h) {
    double most = -INFINITY;
    for (int32_t f = 0; f < b->face_count; f++)
        most = fmax(most, gap_along(a, g, b, h, bo_mat_vec(h.R, b->normals[f])));
    for (int32_t f = 0; f < a->face_count; f++)
        most = fmax(most, gap_along(a, g, b, h, bo_scale(-1, bo_mat_vec(g.R, a->normals[f]))));
    for (int32_t i = 0; i < a->edge_count; i++)
        for (int32_t j = 0; j < b->edge_count; j++) {
            const bo_vec3 d = bo_mat_vec(g.R, bo_sub(a->vertices[a->edges[i].to], a->vertices[a->edges[i].from])),
                          e = bo_mat_vec(h.R, bo_sub(b->vertices[b->edges[j].to], b->vertices[b->edges[j].from]));
            const bo_vec3 n = bo_normalize(bo_cross(d, e));
            if (bo_norm(bo_cross(d, e)) < 1e-6 * bo_norm(d) * bo_norm(e))
                continue;
            most = fmax(most, gap_along(a, g, b, h, n));
            most = fmax(most, gap_along(a, g, b, h, bo_scale(-1, n)));
        }
    return most;
}
/* Distance of a point from a polyhedron, by Frank and Wolfe's search among its corners: that of a point of it, and what
 * a plane between them proves. */
typedef struct {
    double most, least;
} bounds;
static bounds distance_of_point(const bo_hull *hull, bo_se3 g, bo_vec3 x) {
    bo_vec3 y = bo_se3_apply(g, hull->vertices[0]);
    double least = 0;
    for (int k = 0; k < 4000; k++) {
        const bo_vec3 d = bo_sub(x, y), s = bo_se3_apply(g, hull->vertices[bo_hull_support(hull, bo_mat_tvec(g.R, d))]),
                      to = bo_sub(s, y);
        least = fmax(least, bo_dot(bo_normalize(d), bo_sub(x, s)));
        if (bo_dot(d, to) <= 1e-9 * bo_dot(d, d))
            break;
        y = bo_mul_add(y, fmin(1, bo_dot(d, to) / bo_dot(to, to)), to);
    }
    return (bounds){bo_norm(bo_sub(x, y)), least};
}

/* With the second and third seed shapes that were apart used to touch at points 0.1 m off their faces. */
static void polyhedra_overlap_as_brute_force_says(void **unused) {
    (void)unused;
    bough_context *ctx = test_context(1);
    const uint64_t seeds[] = {2, 3000011, 23000071};
    test_random r = {0};
    int overlapping = 0, apart = 0, by_edges = 0;
    for (int round = 0; round < 4500; round++) {
        if (round % 1500 == 0)
            r.state = seeds[round / 1500];
        bough_shape *a = random_hull(ctx, &r, 8 + round % 25, bo_v3(0.3, 0.2, 0.25)),
                    *b = shape_of(ctx, box_def(0.4, 0.3, 0.2));
        const bo_se3 g = random_place(&r, 0.25), h = random_place(&r, 0.25);
        const double margin = 0.02, near = 1e-3 * fmin(a->radius, b->radius),
                     expected = largest_gap(&a->hull, g, &b->hull, h);
        const touching t = touch(a, g, b, h, margin), turned = touch(b, h, a, g, margin);
        if (expected > margin + near)
            check_int(t.count, 0);
        if (expected < 0) {
            check(t.count > 0 && turned.count > 0);
            check_near(gap_of(&t), expected, near + 1e-9);
            check_near(gap_of(&turned), expected, near + 1e-9);
            overlapping++;
            by_edges += t.count == 1;
            /* Moved out by the depth along the normal they no longer overlap, but by `near`: the part of one face over
             * the other may miss the lowest corner by as much before another point is looked for. */
            const bo_vec3 out = bo_scale(-gap_of(&t) + 1e-9, bo_load3(t.points[0].normal));
            check(largest_gap(&a->hull, (bo_se3){g.R, bo_add(g.t, out)}, &b->hull, h) >= -near - 1e-9);
        } else if (t.count > 0) {
            apart++;
            check(gap_of(&t) >= -near); /* not more than the distance, which speculation may not reach */
        }
        /* every point on both lies in or on both, but for its depth */
        for (int32_t i = 0; i < t.count; i++) {
            check_below(distance_of_point(&a->hull, g, bo_load3(t.points[i].on_a)).least, 1e-12);
            check_below(distance_of_point(&b->hull, h, bo_load3(t.points[i].on_b)).least, 0.02 + fabs(t.points[i].gap));
        }
        bough_shape_destroy(ctx, a);
        bough_shape_destroy(ctx, b);
    }
    check(overlapping > 900 && apart > 30 && by_edges > 90);
    bough_context_destroy(ctx);
}

static void spheres_are_as_far_from_polyhedra_as_their_centres(void **unused) {
    (void)unused;
    bough_context *ctx = test_context(1);
    test_random r = {3};
    int inside = 0;
    for (int round = 0; round < 500; round++) {
        bough_shape *hull = random_hull(ctx, &r, 6 + round % 30, bo_v3(0.3, 0.4, 0.2)),
                    *ball = shape_of(ctx, sphere_def(0.1));
        const bo_se3 g = random_place(&r, 0.3), h = random_place(&r, 0.3);
        const touching t = touch(ball, g, hull, h, 5), turned = touch(hull, h, ball, g, 5);
        check_int(t.count, 1);
        const bounds distance = distance_of_point(&hull->hull, h, g.t);
        double depth = -INFINITY;
        for (int32_t f = 0; f < hull->hull.face_count; f++)
            depth = fmax(depth,
                         bo_dot(hull->hull.normals[f], bo_se3_apply(bo_se3_inverse(h), g.t)) - hull->hull.offsets[f]);
        if (depth <= 0)
            check_near(t.points[0].gap, depth - 0.1, 1e-12);
        else
            check(t.points[0].gap <= distance.most - 0.1 + 1e-9 && t.points[0].gap >= distance.least - 0.1 - 1e-9);
        check(depth <= 0 || distance.most - distance.least < 0.02);
        inside += depth <= 0;
        check_near(turned.points[0].gap, t.points[0].gap, 1e-12);
        for (int k = 0; k < 3; k++)
            check_near(turned.points[0].normal[k], -t.points[0].normal[k], 1e-12);
        bough_shape_destroy(ctx, hull);
        bough_shape_destroy(ctx, ball);
    }
    check(inside > 20);
    bough_context_destroy(ctx);
}

static void a_box_on_a_face_has_four_points(void **unused) {
    (void)unused;
    bough_context *ctx = test_context(1);
    test_random r = {4};
    bough_shape *small = shape_of(ctx, box_def(0.2, 0.2, 0.2)), *large = shape_of(ctx, box_def(2, 2, 1)),
                *plane = shape_of(ctx, plane_def());
    for (int round = 0; round < 50; round++) {
        const bo_se3 world = random_place(&r, 1);
        const double gap = 1e-3 * spread(&r);
        const bo_se3 on_top = {bo_exp3(bo_v3(0, 0, 3 * spread(&r))), {0.5 * spread(&r), 0.5 * spread(&r), 0.6 + gap}};
        const touching t = touch(small, bo_se3_mul(world, on_top), large, world, 0.01),
                       p = touch(small, bo_se3_mul(world, on_top), plane, bo_se3_mul(world, shifted(0, 0, 0.5)), 0.01);
        check_int(t.count, 4);
        check_int(p.count, 4);
        for (int i = 0; i < 4; i++) {
            double nearest = INFINITY;
            check_near(t.points[i].gap, gap, 1e-12);
            check_near(bo_dot(bo_load3(t.points[i].normal), bo_mat_vec(world.R, bo_v3(0, 0, 1))), 1, 1e-12);
            for (int k = 0; k < 4; k++)
                nearest = fmin(nearest, bo_norm(bo_sub(bo_load3(t.points[i].on_a), bo_load3(p.points[k].on_a))));
            check_below(nearest, 1e-12);
        }
    }
    bough_shape_destroy(ctx, small);
    bough_shape_destroy(ctx, large);
    bough_shape_destroy(ctx, plane);
    bough_context_destroy(ctx);
}

/* ---- height fields ---- */

/* Also when it is a slope, and with cells of any size against the shape. With all seeds but the first the lowest corner
 * of a hull used to be missed, where it is not of the face that looks down most. */
static void a_flat_field_is_a_plane(void **unused) {
    (void)unused;
    bough_context *ctx = test_context(1);
    const uint64_t seeds[] = {5, 23000074, 49000152};
    test_random r = {0};
    bough_shape *plane = shape_of(ctx, plane_def());
    for (int round = 0; round < 1200; round++) {
        if (round % 400 == 0)
            r.state = seeds[round / 400];
        enum { N = 40 };
        double heights[N * N];
        const double cell = round % 2 ? 0.07 : 0.5, slope = round % 4 < 2 ? 0 : 0.3;
        for (int i = 0; i < N * N; i++)
            heights[i] = slope * cell * (i % N - 0.5 * (N - 1));
        bough_shape *field = shape_of(ctx, field_def(N, N, cell, heights)),
                    *shape = round % 3 == 0   ? shape_of(ctx, sphere_def(0.1))
                             : round % 3 == 1 ? shape_of(ctx, box_def(0.2, 0.15, 0.1))
                                              : random_hull(ctx, &r, 20, bo_v3(0.1, 0.15, 0.1));
        const bo_se3 world = random_place(&r, 1), tilted = {bo_exp3(bo_v3(0, -atan(slope), 0)), {0, 0, 0}};
        const bo_se3 at_rest =
            bo_se3_mul(tilted, (bo_se3){bo_exp3(random_vector(&r, 2)),
                                        {0.3 * spread(&r), 0.3 * spread(&r), 0.08 + 0.04 * spread(&r)}});
        const touching f = touch(shape, bo_se3_mul(world, at_rest), field, world, 0.02),
                       p = touch(shape, bo_se3_mul(world, at_rest), plane, bo_se3_mul(world, tilted), 0.02);
        check((f.count > 0) == (p.count > 0));
        if (p.count > 0)
            check_near(gap_of(&f), gap_of(&p), 1e-9);
        for (int32_t i = 0; i < f.count; i++)
            check_near(bo_dot(bo_load3(f.points[i].normal), bo_load3(p.points[0].normal)), 1, 1e-9);
        if (shape->kind == BOUGH_SHAPE_SPHERE)
            check_int(f.count, p.count);
        bough_shape_destroy(ctx, field);
        bough_shape_destroy(ctx, shape);
    }
    bough_shape_destroy(ctx, plane);
    bough_context_destroy(ctx);
}

/* A ball over rough ground is as far from it as from the nearest of all its triangles. */
static void balls_find_the_nearest_triangle(void **unused) {
    (void)unused;
    bough_context *ctx = test_context(1);
    test_random r = {6};
    enum { N = 12 };
    bough_shape *ball = shape_of(ctx, sphere_def(0.3));
    int touched = 0;
    for (int round = 0; round < 400; round++) {
        double heights[N * N];
        for (int i = 0; i < N * N; i++)
            heights[i] = 0.15 * spread(&r);
        bough_shape *field = shape_of(ctx, field_def(N, N, 0.25, heights));
        const double up = 0.15 + 0.35 * test_uniform(&r, 0, 1), left = spread(&r), ahead = spread(&r);
        const bo_se3 g = shifted(ahead, left, up);
        bough_shape_surface s;
        check_ok(ctx, bough_shape_surface_create(ctx, field, &s));
        double nearest = INFINITY;
        for (int32_t t = 0; t < s.triangle_count; t++) {
            bo_hull corners = {.vertex_count = 3};
            bo_vec3 x[3];
            for (int k = 0; k < 3; k++)
                x[k] = bo_load3(s.vertices + 3 * s.triangles[3 * t + k]);
            corners.vertices = x;
            nearest = fmin(nearest, distance_of_point(&corners, bo_se3_identity(), g.t).most);
        }
        const touching t = touch(ball, g, field, bo_se3_identity(), 0.05);
        if (nearest - 0.3 < 0.049) {
            touched++;
            check_near(gap_of(&t), nearest - 0.3, 1e-5);
        }
        bough_shape_surface_destroy(ctx, &s);
        bough_shape_destroy(ctx, field);
    }
    check(touched > 100);
    bough_shape_destroy(ctx, ball);
    bough_context_destroy(ctx);
}

/* A ball whose middle has sunk into rough ground goes out through the triangle above it, along that one's normal: the
 * ground's point is the foot of the perpendicular from its middle, in that triangle's plane, and the ball's its lowest
 * point seen from there. */
static void sunken_balls_go_out_through_the_triangle_above(void **unused) {
    (void)unused;
    bough_context *ctx = test_context(1);
    test_random r = {16};
    enum { N = 9 };
    const double cell = 0.25, radius = 0.06;
    bough_shape *ball = shape_of(ctx, sphere_def(radius));
    for (int round = 0; round < 300; round++) {
        double heights[N * N];
        for (int i = 0; i < N * N; i++)
            heights[i] = 0.06 * spread(&r);
        bough_shape *field = shape_of(ctx, field_def(N, N, cell, heights));
        /* within a cell, over one of its triangles, and below it */
        const int i = 1 + round % (N - 3), j = 1 + round / 7 % (N - 3), upper = round % 2;
        const double u = test_uniform(&r, 0.55, 0.8), v = test_uniform(&r, 0.2, 0.45);
        const bo_vec3 a = bo_field_node(field, i, j), c = bo_field_node(field, i + 1, j + 1),
                      b = upper ? bo_field_node(field, i, j + 1) : bo_field_node(field, i + 1, j);
        const bo_vec3 n =
            bo_normalize(upper ? bo_cross(bo_sub(c, a), bo_sub(b, a)) : bo_cross(bo_sub(b, a), bo_sub(c, a)));
        const double depth = test_uniform(&r, 0.005, 0.05);
        const bo_vec3 above = bo_v3(a.x + cell * (upper ? v : u), a.y + cell * (upper ? u : v), 0);
        const bo_vec3 foot = bo_v3(above.x, above.y, a.z - (n.x * (above.x - a.x) + n.y * (above.y - a.y)) / n.z);
        const bo_vec3 middle = bo_v3(foot.x, foot.y, foot.z - depth / n.z);
        const touching t = touch(ball, (bo_se3){bo_identity3(), middle}, field, bo_se3_identity(), 0.05);
        bool found = false;
        for (int32_t k = 0; k < t.count; k++) {
            const bough_touching *p = &t.points[k];
            if (bo_dot(bo_load3(p->normal), n) < 1 - 1e-12)
                continue;
            found = true;
            check_near(p->gap, -depth - radius, 1e-9);
            check_below(bo_norm(bo_sub(bo_load3(p->on_b), bo_mul_add(middle, depth, n))), 1e-9);
            check_below(bo_norm(bo_sub(bo_load3(p->on_a), bo_mul_add(middle, -radius, n))), 1e-9);
        }
        check(found);
        bough_shape_destroy(ctx, field);
    }
    bough_shape_destroy(ctx, ball);
    bough_context_destroy(ctx);
}

/* A wide box on ground of many small cells meets it at hundreds of points, of which the most telling are kept: the
 * deepest of all, and others as far apart as the box is wide. */
static void of_many_points_the_telling_ones_stay(void **unused) {
    (void)unused;
    bough_context *ctx = test_context(1);
    test_random r = {17};
    enum { N = 41 };
    bough_shape *box = shape_of(ctx, box_def(1, 1, 0.2));
    for (int round = 0; round < 20; round++) {
        double heights[N * N], highest = -1;
        int top = 0;
        for (int i = 0; i < N * N; i++)
            heights[i] = 1e-3 * test_uniform(&r, 0, 1);
        for (int i = 0; i < N * N; i++)
            if (abs(i % N - N / 2) < 8 && abs(i / N - N / 2) < 8 && heights[i] > highest)
                highest = heights[i], top = i;
        heights[top] = 2e-3;
        bough_shape *field = shape_of(ctx, field_def(N, N, 0.05, heights));
        const touching t = touch(box, shifted(0, 0, 0.1), field, bo_se3_identity(), 0.01);
        check(t.count >= 4 && t.count <= BOUGH_MOST_TOUCHING);
        check_near(gap_of(&t), -2e-3, 1e-9);
        double widest = 0;
        for (int32_t i = 0; i < t.count; i++)
            for (int32_t k = 0; k < i; k++)
                widest = fmax(widest, bo_norm(bo_sub(bo_load3(t.points[i].on_a), bo_load3(t.points[k].on_a))));
        check(widest > 0.9);
        bough_shape_destroy(ctx, field);
    }
    bough_shape_destroy(ctx, box);
    bough_context_destroy(ctx);
}

/* Ground does not touch ground: planes and fields stay. And a sphere about the middle of a field reaches its farthest
 * corner, no less and no more. */
static void ground_is_left_alone(void **unused) {
    (void)unused;
    bough_context *ctx = test_context(1);
    const double heights[12] = {0, 0.3, 0, 0, 0.1, 0, 0, -0.2, 0, 0, 0, 0.3};
    bough_shape *field = shape_of(ctx, field_def(4, 3, 0.5, heights)), *plane = shape_of(ctx, plane_def());
    check_int(touch(field, shifted(0, 0, 0), plane, shifted(0, 0, 0), 1).count, 0);
    check_int(touch(plane, shifted(0, 0, 0), field, shifted(0, 0, 0), 1).count, 0);
    check_int(touch(field, shifted(0, 0, 0), field, shifted(0, 0, 0), 1).count, 0);
    /* whichever of two comes first, they touch at the same point, and what pushes is the other way round */
    bough_shape *ball = shape_of(ctx, sphere_def(0.1));
    const bough_shape *const grounds[] = {plane, field};
    for (int k = 0; k < 2; k++) {
        const touching one = touch(ball, shifted(0.1, 0.1, 0.12), grounds[k], shifted(0, 0, 0), 1),
                       two = touch(grounds[k], shifted(0, 0, 0), ball, shifted(0.1, 0.1, 0.12), 1);
        check(one.count > 0);
        check_int(two.count, one.count);
        for (int32_t i = 0; i < one.count; i++) {
            check_near(two.points[i].gap, one.points[i].gap, 1e-15);
            for (int d = 0; d < 3; d++) {
                check_near(two.points[i].normal[d], -one.points[i].normal[d], 1e-15);
                check_near(two.points[i].on_a[d], one.points[i].on_b[d], 1e-15);
            }
        }
    }
    bough_shape_destroy(ctx, ball);
    double farthest = 0;
    for (int32_t i = 0; i < 12; i++)
        farthest = fmax(farthest, bo_norm(bo_sub(bo_field_node(field, i % 4, i / 4), field->centre)));
    check_near(farthest, hypot(hypot(0.75, 0.5), 0.25), 1e-12);
    check_near(field->radius, farthest, 1e-12);
    bough_shape_destroy(ctx, field);
    bough_shape_destroy(ctx, plane);
    bough_context_destroy(ctx);
}

/* A box rests with its face on a peak, and with an edge on a ridge; what pushes is normal to face and edges. */
static void boxes_rest_on_peaks_and_ridges(void **unused) {
    (void)unused;
    bough_context *ctx = test_context(1);
    double peak[25] = {0}, ridge[25] = {0};
    peak[12] = 0.2;
    for (int j = 0; j < 5; j++)
        ridge[5 * j + 2] = 0.2;
    bough_shape *box = shape_of(ctx, box_def(0.5, 0.5, 0.5)), *p = shape_of(ctx, field_def(5, 5, 0.2, peak)),
                *q = shape_of(ctx, field_def(5, 5, 0.2, ridge));
    const touching t = touch(box, shifted(0.03, 0.02, 0.449), p, bo_se3_identity(), 0.01);
    check_int(t.count, 1);
    check_near(t.points[0].gap, -0.001, 1e-12);
    check_near(t.points[0].normal[2], 1, 1e-12);
    check_near(t.points[0].on_b[0], 0, 1e-12);
    check_near(t.points[0].on_b[2], 0.2, 1e-12);
    /* an edge of the box across the ridge */
    const bo_se3 on_edge = {bo_exp3(bo_v3(M_PI / 4, 0, 0)), {0.02, 0.03, 0.2 + 0.25 * sqrt(2) - 0.001}};
    const touching u = touch(box, on_edge, q, bo_se3_identity(), 0.01);
    check(u.count >= 1);
    for (int32_t i = 0; i < u.count; i++) {
        check_near(u.points[i].gap, -0.001, 1e-9);
        check_near(u.points[i].normal[2], 1, 1e-9);
        check_near(u.points[i].on_b[1], 0.03, 1e-9);
    }
    bough_shape_destroy(ctx, box);
    bough_shape_destroy(ctx, p);
    bough_shape_destroy(ctx, q);
    bough_context_destroy(ctx);
}

/* A box that leans any way and has a lone peak 2 mm deep in the middle of its lowest face is pushed off along that
 * face's normal, by these 2 mm, though two more of its faces look down. */
static void a_leaning_box_is_pushed_off_a_peak_along_its_face(void **unused) {
    (void)unused;
    bough_context *ctx = test_context(1);
    test_random r = {18};
    double peak[25] = {0};
    peak[12] = 0.5;
    bough_shape *box = shape_of(ctx, box_def(0.4, 0.5, 0.3)), *field = shape_of(ctx, field_def(5, 5, 0.2, peak));
    for (int round = 0; round < 100; round++) {
        const double depth = 0.002;
        const bo_mat3 R = bo_exp3(bo_v3(0.35 * spread(&r), 0.35 * spread(&r), 3 * spread(&r)));
        const bo_vec3 down = bo_mat_vec(R, bo_v3(0, 0, -1)); /* of the lowest face, whose middle is 0.15 m below */
        const bo_vec3 centre = bo_mul_add(bo_v3(0, 0, 0.5), -(0.15 - depth), down);
        const touching t = touch(box, (bo_se3){R, centre}, field, bo_se3_identity(), 0.01);
        int at_peak = 0;
        for (int32_t i = 0; i < t.count; i++)
            if (bo_norm(bo_sub(bo_load3(t.points[i].on_b), bo_v3(0, 0, 0.5))) < 1e-9) {
                at_peak++;
                check_near(t.points[i].gap, -depth, 1e-9);
                check_below(bo_norm(bo_add(bo_load3(t.points[i].normal), down)), 1e-9);
            }
        check_int(at_peak, 1);
        check_near(gap_of(&t), -depth, 1e-9);
    }
    bough_shape_destroy(ctx, box);
    bough_shape_destroy(ctx, field);
    bough_context_destroy(ctx);
}

/* Returns the height of a point above the underside of a polyhedron; minus infinity if it is beside it. */
static double height_above_underside(const bo_hull *hull, bo_se3 g, bo_vec3 p) {
    double under = -INFINITY;
    for (int32_t f = 0; f < hull->face_count; f++) {
        const bo_vec3 n = bo_mat_vec(g.R, hull->normals[f]);
        const double out = bo_dot(n, bo_sub(p, g.t)) - hull->offsets[f];
        if (n.z < 0)
            under = fmax(under, p.z + out / -n.z);
    }
    for (int32_t f = 0; f < hull->face_count; f++) {
        const bo_vec3 n = bo_mat_vec(g.R, hull->normals[f]);
        if (bo_dot(n, bo_sub(bo_v3(p.x, p.y, under), g.t)) > hull->offsets[f] + 1e-9)
            return -INFINITY;
    }
    return p.z - under;
}

/* A polyhedron whose lowest corner is 2 mm in rough ground, or into which a corner of the ground is as deep, touches it
 * and is pushed up. Also where facets meet. */
static void what_is_in_the_ground_is_found(void **unused) {
    (void)unused;
    bough_context *ctx = test_context(1);
    test_random r = {8};
    enum { N = 16 };
    for (int round = 0; round < 3000; round++) {
        double heights[N * N];
        const double cell = round % 2 ? 0.2 : 0.07, rough = 0.3 * cell * test_uniform(&r, 0, 1);
        for (int i = 0; i < N * N; i++)
            heights[i] = rough * spread(&r);
        bough_shape *field = shape_of(ctx, field_def(N, N, cell, heights)),
                    *shape = round % 3 ? shape_of(ctx, box_def(0.12, 0.1, 0.15))
                                       : random_hull(ctx, &r, 12, bo_v3(0.08, 0.08, 0.1));
        bo_se3 g = {bo_exp3(random_vector(&r, 3)), {0, 0, 0}};
        if (round % 4)
            g.t = random_vector(&r, 0.2);
        double deepest = -INFINITY;
        for (int32_t i = 0; i < shape->hull.vertex_count; i++) {
            const bo_vec3 x = bo_se3_apply(g, shape->hull.vertices[i]);
            deepest = fmax(deepest, height_at(N, cell, heights, x.x, x.y) - x.z);
        }
        for (int32_t i = 0; i < N * N; i++)
            deepest = fmax(deepest, height_above_underside(&shape->hull, g, bo_field_node(field, i % N, i / N)));
        g.t.z += deepest - 0.002;
        const touching t = touch(shape, g, field, bo_se3_identity(), 0.005);
        check(t.count > 0);
        check(gap_of(&t) < 0);
        for (int32_t i = 0; i < t.count; i++)
            check(t.points[i].normal[2] > 0);
        bough_shape_destroy(ctx, field);
        bough_shape_destroy(ctx, shape);
    }
    bough_context_destroy(ctx);
}

/* Turning the whole world turns what was found. */
static void it_is_the_same_from_everywhere(void **unused) {
    (void)unused;
    bough_context *ctx = test_context(1);
    test_random r = {7};
    double heights[64];
    for (int i = 0; i < 64; i++)
        heights[i] = 0.05 * spread(&r);
    bough_shape *shapes[] = {shape_of(ctx, sphere_def(0.2)), shape_of(ctx, box_def(0.3, 0.2, 0.4)),
                             random_hull(ctx, &r, 24, bo_v3(0.2, 0.2, 0.3)), shape_of(ctx, plane_def()),
                             shape_of(ctx, field_def(8, 8, 0.2, heights))};
    for (int round = 0; round < 300; round++)
        for (int i = 0; i < 3; i++)
            for (int j = 0; j < 5; j++) {
                const bo_se3 world = random_place(&r, 3), g = random_place(&r, 0.3), h = bo_se3_identity();
                const touching t = touch(shapes[i], g, shapes[j], h, 0.02),
                               u = touch(shapes[i], bo_se3_mul(world, g), shapes[j], bo_se3_mul(world, h), 0.02);
                check_int(u.count, t.count);
                for (int32_t k = 0; k < t.count; k++) {
                    check_int(u.points[k].feature, t.points[k].feature);
                    check_near(u.points[k].gap, t.points[k].gap, 1e-10);
                    check_below(
                        bo_norm(bo_sub(bo_load3(u.points[k].on_a), bo_se3_apply(world, bo_load3(t.points[k].on_a)))),
                        1e-9);
                }
            }
    for (int i = 0; i < 5; i++)
        bough_shape_destroy(ctx, shapes[i]);
    bough_context_destroy(ctx);
}

/* The sum of all points on the first shape and, as a fourth number, of their gaps. */
static void add_up(const touching *t, double sum[4]) {
    memset(sum, 0, 4 * sizeof *sum);
    for (int32_t i = 0; i < t->count; i++) {
        sum[3] += t->points[i].gap;
        for (int k = 0; k < 3; k++)
            sum[k] += t->points[i].on_a[k];
    }
}

/* The same ground with all its heights 5 m less, placed 5 m higher; and with its rows and columns from the other end,
 * turned round: what is sunk in it is pushed out at the same points. */
static void ground_may_be_told_in_other_ways(void **unused) {
    (void)unused;
    bough_context *ctx = test_context(1);
    test_random r = {9};
    enum { COLUMNS = 9, ROWS = 8, COUNT = COLUMNS * ROWS };
    int points = 0;
    for (int round = 0; round < 400; round++) {
        double heights[3][COUNT];
        for (int i = 0; i < COUNT; i++) {
            heights[0][i] = 0.04 * spread(&r);
            heights[1][i] = heights[0][i] - 5;
            heights[2][COUNT - 1 - i] = heights[0][i];
        }
        const bo_se3 places[3] = {bo_se3_identity(), shifted(0, 0, 5), {bo_exp3(bo_v3(0, 0, M_PI)), {0, 0, 0}}};
        bough_shape *shape = random_hull(ctx, &r, 12, bo_v3(0.08, 0.08, 0.1));
        const bo_vec3 aside = random_vector(&r, 0.25); /* as far as the border */
        const bo_se3 g = {bo_exp3(random_vector(&r, 3)), bo_v3(aside.x, aside.y, 0.04 + 0.16 * aside.z)};
        double sums[3][4];
        int32_t counts[3];
        for (int i = 0; i < 3; i++) {
            bough_shape *field = shape_of(ctx, field_def(COLUMNS, ROWS, 0.07, heights[i]));
            const touching t = touch(shape, g, field, places[i], 0.005);
            add_up(&t, sums[i]);
            counts[i] = t.count;
            bough_shape_destroy(ctx, field);
        }
        points += counts[0];
        for (int i = 1; i < 3; i++) {
            check_int(counts[i], counts[0]);
            for (int k = 0; k < 4; k++)
                check_near(sums[i][k], sums[0][k], k < 3 ? 1e-9 : 1e-5); /* facets in another order */
        }
        bough_shape_destroy(ctx, shape);
    }
    check(points > 1000);
    bough_context_destroy(ctx);
}

/* Two shapes with a gap of exactly the margin touch, with a hair more they do not, whatever their kinds: all numbers
 * here are exact. */
static void the_margin_itself_is_near_enough(void **unused) {
    (void)unused;
    bough_context *ctx = test_context(1);
    const double heights[9] = {0}, margin = 0.25;
    const bo_vec3 corners[8] = {{-0.5, -0.5, -0.5}, {0.5, -0.5, -0.5}, {-0.5, 0.5, -0.5}, {0.5, 0.5, -0.5},
                                {-0.5, -0.5, 0.5},  {0.5, -0.5, 0.5},  {-0.5, 0.5, 0.5},  {0.5, 0.5, 0.5}};
    bough_shape *const above[] = {shape_of(ctx, sphere_def(0.5)), shape_of(ctx, box_def(1, 1, 1)),
                                  shape_of(ctx, hull_def(8, corners))},
                       *const below[] = {shape_of(ctx, sphere_def(0.5)), shape_of(ctx, box_def(1, 1, 1)),
                                         shape_of(ctx, hull_def(8, corners)), shape_of(ctx, plane_def()),
                                         shape_of(ctx, field_def(3, 3, 2, heights))};
    for (int i = 0; i < 3; i++)
        for (int k = 0; k < 5; k++) {
            const double height = 0.5 + margin + (k < 3 ? 0.5 : 0);
            const touching t = touch(above[i], shifted(0, 0, height), below[k], bo_se3_identity(), margin),
                           u = touch(above[i], shifted(0, 0, height + 1e-6), below[k], bo_se3_identity(), margin);
            check(t.count > 0);
            for (int32_t n = 0; n < t.count; n++)
                check_near(t.points[n].gap, margin, 1e-15);
            check_int(u.count, 0);
        }
    for (int i = 0; i < 3; i++)
        bough_shape_destroy(ctx, above[i]);
    for (int k = 0; k < 5; k++)
        bough_shape_destroy(ctx, below[k]);
    bough_context_destroy(ctx);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(spheres_touch_as_far_as_their_radii),
        cmocka_unit_test(polyhedra_overlap_as_brute_force_says),
        cmocka_unit_test(spheres_are_as_far_from_polyhedra_as_their_centres),
        cmocka_unit_test(a_box_on_a_face_has_four_points),
        cmocka_unit_test(the_margin_itself_is_near_enough),
        cmocka_unit_test(a_flat_field_is_a_plane),
        cmocka_unit_test(sunken_balls_go_out_through_the_triangle_above),
        cmocka_unit_test(of_many_points_the_telling_ones_stay),
        cmocka_unit_test(ground_is_left_alone),
        cmocka_unit_test(a_leaning_box_is_pushed_off_a_peak_along_its_face),
        cmocka_unit_test(balls_find_the_nearest_triangle),
        cmocka_unit_test(boxes_rest_on_peaks_and_ridges),
        cmocka_unit_test(what_is_in_the_ground_is_found),
        cmocka_unit_test(it_is_the_same_from_everywhere),
        cmocka_unit_test(ground_may_be_told_in_other_ways),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
