/* Shapes: hulls of points, their mass, and what is refused. */
#include "rings.h"

#include <bough/contact.h>

/* Every edge has two faces, every point is within all faces, and faces go round as seen from outside. */
static void check_hull(const bo_hull *hull, int32_t count, const bo_vec3 *points, double tolerance) {
    check_int(hull->vertex_count - hull->edge_count + hull->face_count, 2);
    check_int(hull->face_start[hull->face_count], 2 * hull->edge_count);
    bo_vec3 middle = {0, 0, 0};
    for (int32_t i = 0; i < hull->vertex_count; i++)
        middle = bo_mul_add(middle, 1.0 / hull->vertex_count, hull->vertices[i]);
    for (int32_t f = 0; f < hull->face_count; f++) {
        check_near(bo_norm(hull->normals[f]), 1, 1e-12);
        check(bo_dot(hull->normals[f], middle) < hull->offsets[f]);
        for (int32_t i = 0; i < count; i++)
            check_below(bo_dot(hull->normals[f], points[i]) - hull->offsets[f], tolerance);
        for (int32_t i = hull->face_start[f]; i < hull->face_start[f + 1]; i++)
            check_near(bo_dot(hull->normals[f], hull->vertices[hull->loops[i]]), hull->offsets[f], 1e-3 * tolerance);
    }
    for (int32_t e = 0; e < hull->edge_count; e++) {
        const bo_hull_edge *edge = &hull->edges[e];
        const bo_vec3 along = bo_sub(hull->vertices[edge->to], hull->vertices[edge->from]);
        check(bo_dot(along, bo_cross(hull->normals[edge->left], hull->normals[edge->right])) > 0);
    }
}

static void hulls_enclose_their_points(void **unused) {
    (void)unused;
    bough_context *ctx = test_context(1);
    test_random r = {1};
    for (int round = 0; round < 200; round++) {
        enum { MOST = 300 };
        bo_vec3 points[MOST];
        const int32_t count = 4 + (int32_t)(test_bits(&r) % (MOST - 4));
        const double size = pow(10, 3 * spread(&r));
        for (int32_t i = 0; i < count; i++) {
            points[i] = random_vector(&r, size);
            if (round % 3 == 1) /* all are corners */
                points[i] = bo_scale(size, bo_normalize(points[i]));
            if (round % 3 == 2 && i > 0 && test_bits(&r) % 2) /* some more than once, or between others */
                points[i] = bo_mul_add(points[test_bits(&r) % (uint64_t)i], 1e-13 * size, points[i]);
        }
        if (round % 3 == 2 && count < 30)
            continue;
        bough_shape *shape = shape_of(ctx, hull_def(count, points));
        check_hull(&shape->hull, count, points, 1e-8 * size);
        if (round % 3 == 1)
            check_int(shape->hull.vertex_count, count);
        bough_shape_destroy(ctx, shape);
    }
    bough_context_destroy(ctx);
}

/* However many points lie in its faces and edges, and however it is turned. */
static void a_cube_of_many_points_has_six_faces(void **unused) {
    (void)unused;
    bough_context *ctx = test_context(1);
    test_random r = {2};
    for (int round = 0; round < 60; round++) {
        enum { N = 5 };
        bo_vec3 points[N * N * N];
        const bo_se3 g = round ? random_place(&r, 3) : bo_se3_identity();
        for (int i = 0; i < N * N * N; i++)
            points[i] = bo_se3_apply(g, bo_v3(i % N, (i / N) % N, i / (N * N)));
        bough_shape *shape = shape_of(ctx, hull_def(N * N * N, points));
        check_hull(&shape->hull, N * N * N, points, 1e-7);
        check_int(shape->hull.face_count, 6);
        check(shape->hull.vertex_count >= 8);
        if (round == 0)
            check_int(shape->hull.vertex_count, 8);
        bough_shape_destroy(ctx, shape);
    }
    bough_context_destroy(ctx);
}

static void a_prism_has_caps_of_one_face(void **unused) {
    (void)unused;
    bough_context *ctx = test_context(1);
    test_random r = {3};
    for (int sides = 3; sides < 60; sides += 7) {
        bo_vec3 points[120];
        const bo_se3 g = random_place(&r, 1);
        for (int i = 0; i < 2 * sides; i++) {
            const double angle = 2 * M_PI * (i / 2) / sides;
            points[i] = bo_se3_apply(g, bo_v3(0.2 * cos(angle), 0.2 * sin(angle), i % 2 ? 0.3 : -0.3));
        }
        bough_shape *shape = shape_of(ctx, hull_def(2 * sides, points));
        check_hull(&shape->hull, 2 * sides, points, 1e-9);
        check_int(shape->hull.face_count, sides + 2);
        check_int(shape->hull.vertex_count, 2 * sides);
        bough_shape_destroy(ctx, shape);
    }
    bough_context_destroy(ctx);
}

/* ---- mass ---- */

static void check_mass(const bough_shapes_mass *a, double mass, bo_vec3 centre, bo_mat3 inertia, double tolerance) {
    check_near(a->mass, mass, tolerance * mass);
    check_below(bo_norm(bo_sub(bo_load3(a->centre), centre)), tolerance);
    const double size = bo_trace(inertia);
    for (int k = 0; k < 9; k++)
        check_near(a->inertia[k], inertia.m[k], tolerance * size);
}

static void masses_are_those_of_textbooks(void **unused) {
    (void)unused;
    bough_context *ctx = test_context(1);
    test_random r = {4};
    bough_shapes_mass m;
    const double a = 0.3, b = 0.2, c = 0.5, mass = 1000 * a * b * c;
    const bo_mat3 I = {
        {mass / 12 * (b * b + c * c), 0, 0, 0, mass / 12 * (a * a + c * c), 0, 0, 0, mass / 12 * (a * a + b * b)}};
    const bough_shape_def sphere = sphere_def(0.4);
    check_ok(ctx, bough_shapes_weigh(ctx, 1, &sphere, 500, &m));
    const double ball = 500 * 4.0 / 3 * M_PI * 0.4 * 0.4 * 0.4;
    check_mass(&m, ball, bo_v3(0, 0, 0), bo_mat_scale(0.4 * ball * 0.16, bo_identity3()), 1e-12);
    for (int round = 0; round < 20; round++) {
        const bo_se3 g = random_place(&r, 1), within = random_place(&r, 0.3);
        bough_shape_def box = box_def(a, b, c);
        box.frame = bo_put_pose(g);
        const bo_mat3 turned = bo_mat_mul(bo_mat_mul(g.R, I), bo_transpose(g.R));
        check_ok(ctx, bough_shapes_weigh(ctx, 1, &box, 1000, &m));
        check_mass(&m, mass, g.t, turned, 1e-12);
        /* the same as a hull, whose frame and points share the way */
        bo_vec3 points[8];
        for (int i = 0; i < 8; i++)
            points[i] =
                bo_se3_apply(bo_se3_mul(bo_se3_inverse(within), g),
                             bo_v3((i & 1 ? 0.5 : -0.5) * a, (i & 2 ? 0.5 : -0.5) * b, (i & 4 ? 0.5 : -0.5) * c));
        bough_shape_def hull = hull_def(8, points);
        hull.frame = bo_put_pose(within);
        check_ok(ctx, bough_shapes_weigh(ctx, 1, &hull, 1000, &m));
        check_mass(&m, mass, g.t, turned, 1e-10);
        /* or as its two halves */
        bough_shape_def halves[2] = {box_def(a / 2, b, c), box_def(a / 2, b, c)};
        for (int i = 0; i < 2; i++)
            halves[i].frame = bo_put_pose(bo_se3_mul(g, (bo_se3){bo_identity3(), {i ? a / 4 : -a / 4, 0, 0}}));
        check_ok(ctx, bough_shapes_weigh(ctx, 2, halves, 1000, &m));
        check_mass(&m, mass, g.t, turned, 1e-12);
    }
    bough_context_destroy(ctx);
}

/* A capsule is a cylinder of radius r and length 2 a between two half balls. The mass is exact, but
 * contact knows a hull within it. */
static void capsules_weigh_what_they_are_and_touch_by_a_hull(void **unused) {
    (void)unused;
    bough_context *ctx = test_context(1);
    bough_shapes_mass m;
    bough_shape_def def = bough_default_shape_def(), ball = sphere_def(0.05);
    const double r = 0.1, a = 0.3, rod = 1000 * 2 * M_PI * r * r * a, ends = 1000 * 4.0 / 3 * M_PI * r * r * r;
    def.kind = BOUGH_SHAPE_CAPSULE, def.radius = r, def.half[2] = a;
    check_ok(ctx, bough_shapes_weigh(ctx, 1, &def, 1000, &m));
    const double along = 0.5 * rod * r * r + 0.4 * ends * r * r;
    /* A half ball: 83/320 m r^2 about its own centre, which is 3/8 r from the flat side. */
    const double across =
        rod * (r * r / 4 + a * a / 3) + ends * (83. / 320 * r * r + (a + 0.375 * r) * (a + 0.375 * r));
    check_mass(&m, rod + ends, bo_v3(0, 0, 0), (bo_mat3){{across, 0, 0, 0, across, 0, 0, 0, along}}, 1e-12);
    bough_shape *capsule, *sphere;
    check_ok(ctx, bough_shape_create(ctx, &def, &capsule));
    check_ok(ctx, bough_shape_create(ctx, &ball, &sphere));
    bough_pose at = bough_default_pose(), origin = bough_default_pose();
    bough_touching points[BOUGH_MOST_TOUCHING];
    at.position[2] = a + r + 0.06;
    check_int(bough_shapes_touch(sphere, &at, capsule, &origin, 0.02, points), 1);
    check_near(points[0].gap, 0.01, 1e-12);
    at.position[2] = 0, at.position[0] = r * cos(M_PI / 12) + 0.06, at.position[1] = 0;
    const bo_mat3 turn =
        bo_exp3(bo_v3(0, 0, M_PI / 12)); /* to the middle of a face, where the hull is furthest within */
    memcpy(origin.rotation, turn.m, sizeof origin.rotation);
    check(bough_shapes_touch(sphere, &at, capsule, &origin, 0.02, points) >= 1);
    check_near(points[0].gap, 0.01, 1e-12);
    bough_shape_destroy(ctx, capsule);
    bough_shape_destroy(ctx, sphere);
    bough_context_destroy(ctx);
}

/* The triangles of a surface enclose the volume that the mass has. */
static void surfaces_are_closed(void **unused) {
    (void)unused;
    bough_context *ctx = test_context(1);
    test_random r = {5};
    for (int round = 0; round < 20; round++) {
        bo_vec3 points[40];
        for (int i = 0; i < 40; i++)
            points[i] = random_vector(&r, 1);
        bough_shape_def def = hull_def(40, points);
        def.frame = bo_put_pose(random_place(&r, 2));
        bough_shapes_mass m;
        bough_shape_surface s;
        check_ok(ctx, bough_shapes_weigh(ctx, 1, &def, 1, &m));
        bough_shape *shape = shape_of(ctx, def);
        check_ok(ctx, bough_shape_surface_create(ctx, shape, &s));
        double volume = 0;
        for (int32_t t = 0; t < s.triangle_count; t++) {
            bo_vec3 x[3];
            for (int k = 0; k < 3; k++)
                x[k] = bo_load3(s.vertices + 3 * s.triangles[3 * t + k]);
            volume += bo_dot(x[0], bo_cross(x[1], x[2])) / 6;
        }
        check_near(volume, m.mass, 1e-10);
        bough_shape_surface_destroy(ctx, &s);
        bough_shape_destroy(ctx, shape);
    }
    const double heights[6] = {0, 1, 2, 0, 1, 2};
    bough_shape *field = shape_of(ctx, field_def(3, 2, 1, heights));
    bough_shape_surface s;
    check_ok(ctx, bough_shape_surface_create(ctx, field, &s));
    check_int(s.triangle_count, 4);
    for (int32_t t = 0; t < 4; t++) {
        bo_vec3 x[3];
        for (int k = 0; k < 3; k++)
            x[k] = bo_load3(s.vertices + 3 * s.triangles[3 * t + k]);
        const bo_vec3 n = bo_normalize(bo_cross(bo_sub(x[1], x[0]), bo_sub(x[2], x[0])));
        check_near(n.x, -sqrt(0.5), 1e-12); /* it rises along x, and is seen from above */
        check_near(n.z, sqrt(0.5), 1e-12);
    }
    bough_shape_surface_destroy(ctx, &s);
    bough_shape_destroy(ctx, field);
    bough_context_destroy(ctx);
}

/* The box around a shape has all of it, wherever it is: a polyhedron reaches all six sides, and of a field whose
 * opposite corners are its lowest and its highest node these two are on the sphere whose box it is. */
static void boxes_enclose_shapes(void **unused) {
    (void)unused;
    bough_context *ctx = test_context(1);
    test_random r = {8};
    for (int round = 0; round < 20; round++) {
        const bo_se3 at = random_place(&r, 5);
        const double slope[6] = {-1, 0.2, 1, -0.5, 0.3, 3};
        bough_shape_def defs[] = {box_def(0.3, 0.5, 0.7), field_def(3, 2, 0.5, slope)};
        for (size_t d = 0; d < 2; d++) {
            bo_vec3 lower, upper, least = bo_v3(INFINITY, INFINITY, INFINITY), most = bo_scale(-1, least);
            bough_shape_surface s;
            defs[d].frame = bo_put_pose(random_place(&r, 2));
            bough_shape *shape = shape_of(ctx, defs[d]);
            bo_shape_bounds(shape, at, &lower, &upper);
            check_ok(ctx, bough_shape_surface_create(ctx, shape, &s));
            for (int32_t i = 0; i < s.vertex_count; i++) {
                const bo_vec3 x = bo_se3_apply(at, bo_load3(s.vertices + 3 * i));
                least = bo_v3(fmin(least.x, x.x), fmin(least.y, x.y), fmin(least.z, x.z));
                most = bo_v3(fmax(most.x, x.x), fmax(most.y, x.y), fmax(most.z, x.z));
            }
            if (d == 0) {
                check_below(bo_norm(bo_sub(least, lower)) + bo_norm(bo_sub(most, upper)), 1e-12);
            } else {
                const bo_vec3 first = bo_load3(s.vertices), last = bo_load3(s.vertices + 15);
                const double across = bo_norm(bo_sub(last, first));
                check(lower.x < least.x && lower.y < least.y && lower.z < least.z);
                check(upper.x > most.x && upper.y > most.y && upper.z > most.z);
                check_below(bo_norm(bo_sub(bo_sub(upper, lower), bo_v3(across, across, across))), 1e-12);
            }
            bough_shape_surface_destroy(ctx, &s);
            bough_shape_destroy(ctx, shape);
        }
    }
    bough_context_destroy(ctx);
}

/* ---- what is refused ---- */

static void check_refused(bough_context *ctx, bough_shape_def def, const char *part) {
    bough_shape *shape = NULL;
    check_fails(ctx, bough_shape_create(ctx, &def, &shape), BOUGH_ERROR_ARGUMENT, part);
    check(!shape);
}

static void hostile_shapes_are_refused(void **unused) {
    (void)unused;
    bough_context *ctx = test_context(1);
    const double wrong[] = {0, -1, NAN, INFINITY, 1e300, 1e-300};
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        check_refused(ctx, sphere_def(wrong[i]), "radius");
        check_refused(ctx, box_def(1, wrong[i], 1), "box");
        const double heights[4] = {0, i > 1 && i < 5 ? wrong[i] : NAN, 0, 0};
        check_refused(ctx, field_def(2, 2, 1, heights), "number 1");
        check_refused(ctx, field_def(2, 2, wrong[i], (double[4]){0}), "cells");
    }
    bough_shape_def def = {0};
    check_refused(ctx, def, "bough_default_shape_def");
    def = sphere_def(1), def.kind = (bough_shape_kind)17;
    check_refused(ctx, def, "kind 17");
    def = plane_def(), def.frame.rotation[0] = 2;
    check_refused(ctx, def, "rotation matrix");
    def = plane_def(), def.frame.position[0] = NAN;
    check_refused(ctx, def, "finite");
    def = plane_def(), def.frame.position[0] = 1e30;
    check_refused(ctx, def, "place");

    bo_vec3 p[8] = {{0, 0, 0}, {1, 0, 0}, {0, 1, 0}, {0, 0, 1}};
    check_refused(ctx, hull_def(1, p), "4 to");
    check_refused(ctx, hull_def(1000000000, p), "4 to");
    check_refused(ctx, hull_def(-5, p), "4 to");
    def = hull_def(4, p), def.points = NULL;
    check_refused(ctx, def, "4 to");
    check_refused(ctx, field_def(1000000, 1000000, 1, (double[4]){0}), "2 to");
    check_refused(ctx, field_def(2, 2, 1, NULL), "2 to");
    check_refused(ctx, field_def(1, 4, 1, (double[4]){0}), "1 x 4");
    check_refused(ctx, field_def(4, 1, 1, (double[4]){0}), "4 x 1");
    def = field_def(2, 2, 1, (double[4]){0}), def.cell[1] = NAN;
    check_refused(ctx, def, "cells");
    p[3] = bo_v3(1, 1, 0);
    check_refused(ctx, hull_def(4, p), "in one plane");
    p[3] = bo_v3(1, 1, 1e-9);
    check_refused(ctx, hull_def(4, p), "in one plane");
    p[2] = p[1], p[3] = bo_v3(-3, 0, 0);
    check_refused(ctx, hull_def(4, p), "on one line");
    p[1] = p[2] = p[3] = p[0];
    check_refused(ctx, hull_def(4, p), "at one place");
    p[2].y = NAN;
    check_refused(ctx, hull_def(4, p), "number 7");

    bough_shapes_mass m;
    const bough_shape_def plane = plane_def(), ball = sphere_def(1);
    check_fails(ctx, bough_shapes_weigh(ctx, 1, &plane, 1, &m), BOUGH_ERROR_ARGUMENT, "no mass");
    check_fails(ctx, bough_shapes_weigh(ctx, 1, &ball, NAN, &m), BOUGH_ERROR_ARGUMENT, "density");
    check_fails(ctx, bough_shapes_weigh(ctx, 0, &ball, 1, &m), BOUGH_ERROR_ARGUMENT, "at least one");
    bough_context_destroy(ctx);
}

/* Points that are nearly the same, nearly in one plane, or wherever: a hull that is one, or a sentence. */
static void bad_points_make_a_hull_or_a_sentence(void **unused) {
    (void)unused;
    bough_context *ctx = test_context(1);
    test_random r = {6};
    int made = 0;
    for (int turn = 0; turn < 2000; turn++) {
        bo_vec3 points[60];
        const int32_t count = 4 + (int32_t)(test_bits(&r) % 57);
        const double noise = pow(10, test_uniform(&r, -16, -4)), grid = 1 + (double)(test_bits(&r) % 4);
        for (int32_t i = 0; i < count; i++) {
            const bo_vec3 p = random_vector(&r, 1);
            points[i] =
                bo_mul_add(bo_v3(round(p.x * grid), round(p.y * grid), round(p.z * grid)), noise, random_vector(&r, 1));
        }
        const bough_shape_def def = hull_def(count, points);
        bough_shape *shape = NULL;
        const bough_status status = bough_shape_create(ctx, &def, &shape);
        if (status == BOUGH_OK) {
            made++;
            for (int32_t f = 0; f < shape->hull.face_count; f++)
                for (int32_t i = 0; i < count; i++)
                    check_below(bo_dot(shape->hull.normals[f], points[i]) - shape->hull.offsets[f], 1e-6);
        } else {
            check_int(status, BOUGH_ERROR_ARGUMENT); /* with a sentence, not a broken hull */
        }
        bough_shape_destroy(ctx, shape);
    }
    check(made > 1900);
    bough_context_destroy(ctx);
}

static void memory_may_be_short(void **unused) {
    (void)unused;
    bo_vec3 points[30];
    test_random r = {7};
    for (int i = 0; i < 30; i++)
        points[i] = random_vector(&r, 1);
    const bough_shape_def defs[] = {hull_def(30, points), box_def(1, 1, 1), field_def(2, 2, 1, (double[4]){0})};
    for (size_t d = 0; d < 3; d++)
        for (long fail_at = 1;; fail_at++) {
            test_memory memory = {.fail_at = fail_at};
            bough_context *ctx = test_counting_context(&memory);
            bough_shape *shape = NULL;
            bough_shape_surface surface = {0};
            bough_status status = bough_shape_create(ctx, &defs[d], &shape);
            if (status == BOUGH_OK)
                status = bough_shape_surface_create(ctx, shape, &surface);
            bough_shape_surface_destroy(ctx, &surface);
            bough_shape_destroy(ctx, shape);
            bough_context_destroy(ctx);
            check_int(memory.live, 0);
            if (status == BOUGH_OK)
                break;
            check_int(status, BOUGH_ERROR_MEMORY);
        }
}

/* ---- meshes ---- */

static bough_status try_mesh(bough_context *ctx, const revolved *from) {
    bough_shape_mesh *mesh;
    const bough_status status = bough_shape_mesh_create(ctx, from->vertex_count, from->vertices, from->triangle_count,
                                                        from->triangles, 8, &mesh);
    bough_shape_mesh_destroy(ctx, mesh);
    return status;
}

/* Surfaces that are open, turned in places, flat, too large or no numbers are refused with a sentence; one that is turned as
 * a whole is the same as one that is not. */
static void meshes_need_an_inside(void **unused) {
    (void)unused;
    bough_context *ctx = test_context(1);
    static revolved ring, bad;
    make_torus(0.4, 0.1, 8, 6, &ring);
    check_ok(ctx, try_mesh(ctx, &ring));
    for (int k = 0; k < 8; k++) {
        bad = ring;
        if (k == 0)
            bad.triangle_count--; /* a hole */
        if (k == 1) {
            const int32_t last = bad.triangles[2];
            bad.triangles[2] = bad.triangles[1], bad.triangles[1] = last;
        }
        for (int32_t i = 0; i < bad.vertex_count; i++)
            bad.vertices[3 * i + 2] *= k == 2 ? 0 : 1;
        bad.vertices[7] = k == 3 ? NAN : k == 4 ? 1e7 : bad.vertices[7];
        bad.triangles[4] = k == 5 ? bad.vertex_count : k == 6 ? -1 : bad.triangles[4];
        bad.vertex_count = k == 7 ? 3 : bad.vertex_count;
        check_fails(ctx, try_mesh(ctx, &bad), BOUGH_ERROR_ARGUMENT,
                    k == 0   ? "open edges"
                    : k == 1 ? "same side"
                    : k == 2 ? "too little"
                             : "");
    }
    bough_shape_mesh *mesh, *turned;
    bad = ring;
    for (int32_t k = 0; k < 3 * bad.triangle_count; k += 3)
        bad.triangles[k] = ring.triangles[k + 1], bad.triangles[k + 1] = ring.triangles[k];
    mesh = mesh_of(ctx, &ring, 8), turned = mesh_of(ctx, &bad, 8);
    bough_shapes_mass a, b;
    const bough_shape_def one = mesh_def(mesh), other = mesh_def(turned), none = mesh_def(NULL);
    bough_shape *shape;
    check_ok(ctx, bough_shapes_weigh(ctx, 1, &one, 1, &a));
    check_ok(ctx, bough_shapes_weigh(ctx, 1, &other, 1, &b));
    check_near(a.mass, b.mass, 1e-15);
    check_fails(ctx, bough_shape_create(ctx, &none, &shape), BOUGH_ERROR_ARGUMENT, "bough_shape_mesh_create");
    check_fails(
        ctx,
        bough_shape_mesh_create(ctx, ring.vertex_count, ring.vertices, ring.triangle_count, ring.triangles, 7, &mesh),
        BOUGH_ERROR_ARGUMENT, "cells");
    bough_shape_mesh_destroy(ctx, (bough_shape_mesh *)(uintptr_t)one.mesh);
    bough_shape_mesh_destroy(ctx, turned);
    bough_context_destroy(ctx);
}

/* Points of a mesh lie on it, within the balls around them; the box around a shape holds all of it. */
static void meshes_are_covered_with_points(void **unused) {
    (void)unused;
    bough_context *ctx = test_context(1);
    bough_shape_mesh *mesh = torus_of(ctx, 0.4, 0.1, 12, 8, 16);
    int corners = 0;
    for (int32_t i = 0; i < mesh->point_count; i++) {
        bo_gap at;
        bo_grid_distance(&mesh->grid, mesh->points[i].x, &at);
        check_below(fabs(at.d), 0.3 * mesh->grid.cell); /* beside corners the spline swings */
        corners += mesh->points[i].corner;
    }
    check_int(corners, mesh->vertex_count);
    for (int32_t level = 0; level <= mesh->levels; level++)
        for (int32_t k = 0; k < 1 << level; k++) {
            const bo_mesh_ball *ball = bo_mesh_ball_at(mesh, level, k);
            for (int32_t i = bo_mesh_first_point(mesh, level, k); i < bo_mesh_first_point(mesh, level, k + 1); i++)
                check_below(bo_norm(bo_sub(bo_add(mesh->points[i].x, mesh->points[i].along), ball->centre)),
                            ball->radius * (1 + 1e-12));
        }
    test_random r = {5};
    bough_shape_def def = mesh_def(mesh);
    def.frame = bo_put_pose(random_place(&r, 1));
    bough_shape *shape = shape_of(ctx, def);
    bough_shape_surface surface;
    const bo_se3 at = random_place(&r, 1);
    bo_vec3 lower, upper;
    bo_shape_bounds(shape, at, &lower, &upper);
    check_ok(ctx, bough_shape_surface_create(ctx, shape, &surface));
    for (int32_t i = 0; i < surface.vertex_count; i++) {
        const bo_vec3 x = bo_se3_apply(at, bo_load3(surface.vertices + 3 * (size_t)i));
        check(x.x > lower.x - 1e-9 && x.y > lower.y - 1e-9 && x.z > lower.z - 1e-9);
        check(x.x < upper.x + 1e-9 && x.y < upper.y + 1e-9 && x.z < upper.z + 1e-9);
    }
    bough_shape_surface_destroy(ctx, &surface);
    bough_shape_destroy(ctx, shape);
    bough_shape_mesh_destroy(ctx, mesh);
    bough_context_destroy(ctx);
}

static void memory_of_meshes_may_be_short(void **unused) {
    (void)unused;
    static revolved ring;
    make_torus(0.4, 0.1, 8, 6, &ring);
    for (long fail_at = 1;; fail_at++) {
        test_memory memory = {.fail_at = fail_at};
        bough_context *ctx = test_counting_context(&memory);
        const bough_status status = try_mesh(ctx, &ring);
        bough_context_destroy(ctx);
        check_int(memory.live, 0);
        if (status == BOUGH_OK)
            break;
        check_int(status, BOUGH_ERROR_MEMORY);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(hulls_enclose_their_points),
        cmocka_unit_test(a_cube_of_many_points_has_six_faces),
        cmocka_unit_test(a_prism_has_caps_of_one_face),
        cmocka_unit_test(masses_are_those_of_textbooks),
        cmocka_unit_test(capsules_weigh_what_they_are_and_touch_by_a_hull),
        cmocka_unit_test(surfaces_are_closed),
        cmocka_unit_test(boxes_enclose_shapes),
        cmocka_unit_test(hostile_shapes_are_refused),
        cmocka_unit_test(bad_points_make_a_hull_or_a_sentence),
        cmocka_unit_test(memory_may_be_short),
        cmocka_unit_test(meshes_need_an_inside),
        cmocka_unit_test(meshes_are_covered_with_points),
        cmocka_unit_test(memory_of_meshes_may_be_short),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
