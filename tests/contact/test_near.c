/* Pairs of pieces that are near each other, and the exact test of whether surfaces cross. */
#include "crossing.h"
#include "pairs.h"

/* ---- surfaces to search ---- */

typedef struct surface {
    int32_t vertex_count, triangle_count;
    double *x;
    int32_t *triangles;
} surface;

static surface surface_of(int32_t vertex_count, int32_t triangle_count) {
    surface s = {vertex_count, triangle_count, malloc((size_t)vertex_count * 3 * sizeof(double)),
                 malloc((size_t)triangle_count * 3 * sizeof(int32_t))};
    check(s.x && s.triangles);
    return s;
}

static void surface_free(surface *s) {
    free(s->x), free(s->triangles);
}

/* Triangles between random ones of random points. */
static surface soup(test_random *random, int32_t vertex_count, int32_t triangle_count, double size) {
    surface s = surface_of(vertex_count, triangle_count);
    for (int32_t i = 0; i < 3 * vertex_count; i++)
        s.x[i] = test_uniform(random, -1, 1);
    for (int32_t t = 0; t < triangle_count; t++) {
        int32_t *v = s.triangles + 3 * (size_t)t;
        do
            for (int i = 0; i < 3; i++)
                v[i] = (int32_t)(test_bits(random) % (uint64_t)vertex_count);
        while (v[0] == v[1] || v[1] == v[2] || v[2] == v[0]);
        for (int i = 1; i < 3; i++) /* small triangles, where vertices are not shared */
            for (int c = 0; c < 3; c++)
                s.x[3 * v[i] + c] = s.x[3 * v[0] + c] + size * (s.x[3 * v[i] + c] - s.x[3 * v[0] + c]);
    }
    return s;
}

/* A sheet of 2 n^2 triangles, 1 m wide, folded over itself: layers of a width of `pitch` are `gap` apart. */
static surface folded_sheet(int32_t n, double pitch, double gap) {
    surface s = surface_of((n + 1) * (n + 1), 2 * n * n);
    for (int32_t row = 0; row <= n; row++)
        for (int32_t column = 0; column <= n; column++) {
            const double along = (double)column / n, layer = floor(along / pitch), rest = along - layer * pitch;
            const bo_vec3 at = {fmod(layer, 2) == 0 ? rest : pitch - rest, (double)row / n,
                                gap * (layer + rest / pitch * rest / pitch)};
            /* turned, so that boxes are larger than what is in them */
            bo_store3(s.x + 3 * (size_t)(row * (n + 1) + column),
                      bo_v3(0.6 * at.x - 0.8 * at.y, 0.48 * at.x + 0.36 * at.y - 0.8 * at.z,
                            0.64 * at.x + 0.48 * at.y + 0.6 * at.z));
        }
    for (int32_t row = 0, t = 0; row < n; row++)
        for (int32_t column = 0; column < n; column++) {
            const int32_t a = row * (n + 1) + column, b = a + 1, c = a + n + 1, d = c + 1;
            const int32_t two[6] = {a, b, d, a, d, c};
            memcpy(s.triangles + 3 * (size_t)t, two, sizeof two);
            t += 2;
        }
    return s;
}

/* ---- brute force ---- */

static bool have_common(const int32_t *v, int first, int count) {
    for (int i = 0; i < first; i++)
        for (int k = first; k < count; k++)
            if (v[i] == v[k])
                return true;
    return false;
}

static int compare_pairs(const bo_near_pair *a, const bo_near_pair *b) {
    if (a->kind != b->kind)
        return a->kind < b->kind ? -1 : 1;
    return memcmp(a->vertices, b->vertices, sizeof a->vertices);
}

/* The least distance on the way, by samples. */
static double least_distance(const bo_near_pair *pair, const double *x, const double *p) {
    double least = INFINITY;
    for (int s = 0; s <= (p ? 8 : 0); s++) {
        bo_vec3 z[4];
        bo_pair at;
        for (int i = 0; i < 4; i++) {
            z[i] = bo_load3(x + 3 * (size_t)pair->vertices[i]);
            if (p)
                z[i] = bo_mul_add(z[i], s / 8., bo_load3(p + 3 * (size_t)pair->vertices[i]));
        }
        bo_pair_at(pair->kind, z, false, &at);
        least = fmin(least, at.d);
    }
    return least;
}

typedef struct brute {
    const bo_skin *skin;
    const double *x, *p;
    double distance;
    const unsigned char *ignores;
    const bo_near *near;
    int32_t next; /* of what was found */
    int32_t count, extra;
} brute;

/* Pairs come in the order in which they are found: what is near must be next in the list. */
static void compare_one(brute *b, bo_near_pair pair) {
    const int32_t *v = pair.vertices;
    if (have_common(v, pair.kind == BO_PAIR_EDGES ? 2 : 1, 4))
        return;
    const bool ignored = b->ignores && b->ignores[v[0]] && b->ignores[v[1]] && b->ignores[v[2]] && b->ignores[v[3]];
    const bool found = b->next < b->near->count && compare_pairs(&b->near->pairs[b->next], &pair) == 0;
    b->next += found;
    if (ignored) {
        check(!found);
        return;
    }
    const bool near = least_distance(&pair, b->x, b->p) < b->distance;
    check(found || !near);
    b->count += near, b->extra += found && !near;
}

static brute compare_with_all(const bo_skin *skin, const double *x, const double *p, double distance,
                              const unsigned char *ignores, const bo_near *near) {
    brute b = {skin, x, p, distance, ignores, near, 0, 0, 0};
    for (int32_t i = 0; i < skin->point_count; i++)
        for (int32_t k = 0; k < skin->triangle_count; k++) {
            const int32_t *t = skin->triangles + 3 * k;
            compare_one(&b, (bo_near_pair){BO_PAIR_POINT_TRIANGLE, {skin->points[i], t[0], t[1], t[2]}});
        }
    for (int32_t i = 0; i < skin->edge_count; i++)
        for (int32_t k = i + 1; k < skin->edge_count; k++) {
            const int32_t *e = skin->edges + 2 * i, *f = skin->edges + 2 * k;
            compare_one(&b, (bo_near_pair){BO_PAIR_EDGES, {e[0], e[1], f[0], f[1]}});
        }
    check_int(b.next, near->count); /* in order, once each, and nothing else */
    return b;
}

/* ---- skins ---- */

static void a_skin_has_every_edge_once(void **state) {
    (void)state;
    bough_context *ctx = test_context(1);
    const int32_t tetrahedron[12] = {1, 3, 5, 1, 5, 7, 1, 7, 3, 3, 7, 5},
                  edges[12] = {1, 3, 1, 5, 1, 7, 3, 5, 3, 7, 5, 7}, body[9] = {0, 1, 2, 3, 4, 5, 6, 7, 8};
    bo_skin skin;
    check_ok(ctx, bo_skin_make(ctx, 9, 4, tetrahedron, body, &skin));
    check_int(skin.edge_count, 6);
    check(memcmp(skin.edges, edges, sizeof edges) == 0);
    check_int(skin.point_count, 4);
    for (int i = 0; i < 4; i++)
        check_int(skin.points[i], 2 * i + 1);
    check(memcmp(skin.body, body, sizeof body) == 0 && memcmp(skin.triangles, tetrahedron, sizeof tetrahedron) == 0);
    bo_skin_free(ctx, &skin);
    check_ok(ctx, bo_skin_make(ctx, 2, 0, NULL, NULL, &skin));
    check_int(skin.edge_count + skin.point_count + skin.body[0] + skin.body[1], 0);
    bo_near near = {0};
    check_ok(ctx, bo_near_find(ctx, &skin, NULL, NULL, 1, NULL, &near));
    check_int(near.count, 0);
    bo_near_free(ctx, &near);
    bo_skin_free(ctx, &skin);
    bough_context_destroy(ctx);
}

static void wrong_triangles_are_refused(void **state) {
    (void)state;
    bough_context *ctx = test_context(1);
    static const int32_t wrong[3][3] = {{0, 1, 4}, {0, -1, 2}, {2, 1, 2}};
    bo_skin skin;
    check_fails(ctx, bo_skin_make(ctx, 4, 1, wrong[0], NULL, &skin), BOUGH_ERROR_ARGUMENT, "triangle 0 has vertex 4");
    bo_skin_free(ctx, &skin);
    check_fails(ctx, bo_skin_make(ctx, 4, 1, wrong[1], NULL, &skin), BOUGH_ERROR_ARGUMENT, "vertex -1");
    bo_skin_free(ctx, &skin);
    check_fails(ctx, bo_skin_make(ctx, 4, 1, wrong[2], NULL, &skin), BOUGH_ERROR_ARGUMENT, "vertex 2 twice");
    bo_skin_free(ctx, &skin);
    check_fails(ctx, bo_skin_make(ctx, -1, 0, NULL, NULL, &skin), BOUGH_ERROR_ARGUMENT, "-1 vertices");
    bo_skin_free(ctx, &skin);
    check_fails(ctx, bo_skin_make(ctx, 4, INT32_MAX, NULL, NULL, &skin), BOUGH_ERROR_ARGUMENT, "triangles");
    bo_skin_free(ctx, &skin);
    bough_context_destroy(ctx);
}

/* ---- what is near ---- */

/* One search serves soups of all sizes, moving and at rest: it sees that the skin is another one. */
static void soups_are_searched_as_by_brute_force(void **state) {
    (void)state;
    bough_context *ctx = test_context(1);
    test_random random = {21};
    bo_near near = {0};
    int32_t count = 0, extra = 0, moving = 0;
    for (int k = 0; k < 150; k++) {
        const int32_t vertex_count = 5 + (int32_t)(test_bits(&random) % 60);
        surface s = soup(&random, vertex_count, vertex_count / 2, k % 4 ? 0.2 : 1);
        bo_skin skin;
        check_ok(ctx, bo_skin_make(ctx, s.vertex_count, s.triangle_count, s.triangles, NULL, &skin));
        double *p = malloc((size_t)vertex_count * 3 * sizeof *p);
        unsigned char *ignores = calloc((size_t)vertex_count, 1);
        check(p && ignores);
        for (int32_t i = 0; i < 3 * vertex_count; i++)
            p[i] = test_uniform(&random, -0.3, 0.3);
        for (int32_t i = 0; i < vertex_count; i++)
            ignores[i] = test_bits(&random) % 3 > 0;
        const double distance = k % 5 ? test_uniform(&random, 0, 0.2) : 0;
        const double *way = k % 2 ? p : NULL;
        check_ok(ctx, bo_near_find(ctx, &skin, s.x, way, distance, k % 3 ? NULL : ignores, &near));
        const brute b = compare_with_all(&skin, s.x, way, distance, k % 3 ? NULL : ignores, &near);
        count += b.count;
        if (way)
            moving += b.extra;
        else
            extra += b.extra;
        free(p), free(ignores);
        bo_skin_free(ctx, &skin);
        surface_free(&s);
    }
    check(count > 5000);
    check_int(extra, 0);
    check(moving < count);
    bo_near_free(ctx, &near);
    bough_context_destroy(ctx);
}

/* The sheet unfolds and crumples while one tree follows it. */
static void folded_sheets_are_searched_as_by_brute_force(void **state) {
    (void)state;
    bough_context *ctx = test_context(1);
    test_random random = {22};
    bo_near near = {0};
    bo_skin skin = {0};
    int32_t count = 0;
    for (int k = 0; k < 50; k++) {
        surface s = folded_sheet(6, test_uniform(&random, 0.15, 0.6), test_uniform(&random, 0.01, 0.1));
        if (k == 0)
            check_ok(ctx, bo_skin_make(ctx, s.vertex_count, s.triangle_count, s.triangles, NULL, &skin));
        double p[3 * 49];
        for (int i = 0; i < 3 * 49; i++) {
            s.x[i] += test_uniform(&random, -0.02, 0.02) * (k % 5);
            p[i] = test_uniform(&random, -0.1, 0.1);
        }
        check_ok(ctx, bo_near_find(ctx, &skin, s.x, k % 2 ? p : NULL, 0.05, NULL, &near));
        count += compare_with_all(&skin, s.x, k % 2 ? p : NULL, 0.05, NULL, &near).count;
        surface_free(&s);
    }
    check(count > 3000);
    bo_near_free(ctx, &near);
    bo_skin_free(ctx, &skin);
    bough_context_destroy(ctx);
}

/* A tree that has followed its triangles all over the place finds what a new one finds, in the same order. */
static void the_past_leaves_no_trace(void **state) {
    (void)state;
    bough_context *ctx = test_context(1);
    test_random random = {23};
    surface s = folded_sheet(20, 0.3, 0.02);
    bo_skin skin;
    bo_near old = {0};
    check_ok(ctx, bo_skin_make(ctx, s.vertex_count, s.triangle_count, s.triangles, NULL, &skin));
    for (int k = 0; k < 10; k++) {
        bo_near new = {0};
        for (int32_t i = 0; i < 3 * s.vertex_count; i++)
            s.x[i] += test_uniform(&random, -0.1, 0.1);
        check_ok(ctx, bo_near_find(ctx, &skin, s.x, NULL, 0.02, NULL, &old));
        check_ok(ctx, bo_near_find(ctx, &skin, s.x, NULL, 0.02, NULL, &new));
        check_int(old.count, new.count);
        check(new.count > 100);
        check(memcmp(old.pairs, new.pairs, (size_t) new.count * sizeof *new.pairs) == 0);
        bo_near_free(ctx, &new);
    }
    bo_near_free(ctx, &old);
    bo_skin_free(ctx, &skin);
    surface_free(&s);
    bough_context_destroy(ctx);
}

static void odd_questions_are_answered(void **state) {
    (void)state;
    bough_context *ctx = test_context(1);
    const int32_t triangles[6] = {0, 1, 2, 3, 4, 5};
    double x[21] = {0, 0, 0, 1, 0, 0, 0, 1, 0, 0, 0, 0.5, 1, 0, 0.5, 0, 1, 0.5, NAN, NAN, NAN}, p[21] = {0};
    bo_skin skin;
    bo_near near = {0};
    check_ok(ctx, bo_skin_make(ctx, 7, 2, triangles, NULL, &skin));
    check_ok(ctx, bo_near_find(ctx, &skin, x, p, 0.5, NULL, &near)); /* a vertex of no triangle may be anywhere */
    check_int(near.count, 6 + 9);
    check_ok(ctx, bo_near_find(ctx, &skin, x, NULL, 0.499, NULL, &near));
    check_int(near.count, 0);
    check_fails(ctx, bo_near_find(ctx, &skin, x, NULL, -1, NULL, &near), BOUGH_ERROR_ARGUMENT, "-1 m");
    check_fails(ctx, bo_near_find(ctx, &skin, x, NULL, NAN, NULL, &near), BOUGH_ERROR_ARGUMENT, "nan m");
    p[10] = INFINITY;
    check_fails(ctx, bo_near_find(ctx, &skin, x, p, 1, NULL, &near), BOUGH_NOT_FINITE, "vertex 3");
    check_int(near.count, 0);
    p[10] = 0, p[11] = -0.5;
    check_ok(ctx, bo_near_find(ctx, &skin, x, p, 0, NULL, &near));
    check(near.count > 0);
    bo_near_free(ctx, &near);
    bo_skin_free(ctx, &skin);
    bough_context_destroy(ctx);
}

/* A search, and another one after everything has moved so far that the tree is built anew. */
static bough_status search_twice(bough_context *ctx, const surface *s, const double *scattered, bo_skin *skin,
                                 bo_near *near) {
    bough_status status = bo_skin_make(ctx, s->vertex_count, s->triangle_count, s->triangles, NULL, skin);
    if (status == BOUGH_OK)
        status = bo_near_find(ctx, skin, s->x, NULL, 0.1, NULL, near);
    if (status == BOUGH_OK)
        status = bo_near_find(ctx, skin, scattered, NULL, 0.1, NULL, near);
    return status;
}

static void short_memory_gives_all_of_it_back(void **state) {
    (void)state;
    surface s = folded_sheet(6, 0.3, 0.02);
    test_random random = {26};
    double scattered[3 * 49];
    for (int i = 0; i < 3 * 49; i++)
        scattered[i] = test_uniform(&random, -1, 1) + 100 * (i % 5);
    bool done = false;
    long fail_at = 0;
    for (; !done; fail_at++) {
        test_memory memory = {.fail_at = -1};
        bough_context *ctx = test_counting_context(&memory);
        check(ctx != NULL);
        memory.fail_at = memory.calls + fail_at;
        bo_skin skin;
        bo_near near = {0};
        const bough_status status = search_twice(ctx, &s, scattered, &skin, &near);
        done = status == BOUGH_OK;
        if (!done) {
            check_int(status, BOUGH_ERROR_MEMORY);
            check_int(near.count, 0);
        }
        if (skin.points) { /* the next time there is memory */
            check_ok(ctx, bo_near_find(ctx, &skin, s.x, NULL, 0.1, NULL, &near));
            check(near.count > 0);
        }
        bo_near_free(ctx, &near);
        bo_skin_free(ctx, &skin);
        bough_context_destroy(ctx);
        check_int(memory.live, 0);
    }
    check(fail_at > 20 && fail_at < 100);
    surface_free(&s);
}

/* After the first time nothing is allocated. */
static void searching_again_takes_no_memory(void **state) {
    (void)state;
    surface s = folded_sheet(10, 0.3, 0.02);
    test_memory memory = {.fail_at = -1};
    bough_context *ctx = test_counting_context(&memory);
    bo_skin skin;
    bo_near near = {0};
    check_ok(ctx, bo_skin_make(ctx, s.vertex_count, s.triangle_count, s.triangles, NULL, &skin));
    check_ok(ctx, bo_near_find(ctx, &skin, s.x, NULL, 0.1, NULL, &near));
    const long calls = memory.calls;
    for (int k = 0; k < 5; k++) {
        s.x[3 * k] += 0.01;
        check_ok(ctx, bo_near_find(ctx, &skin, s.x, NULL, 0.09, NULL, &near));
    }
    check_int(memory.calls, calls);
    bo_near_free(ctx, &near);
    bo_skin_free(ctx, &skin);
    surface_free(&s);
    bough_context_destroy(ctx);
    check_int(memory.live, 0);
}

/* ---- crossings ---- */

typedef struct two_triangles {
    const char *what;
    double second[9]; /* the first is (0, 0, 0), (2, 0, 0), (0, 2, 0) */
    int count;        /* of edges through or on triangles */
} two_triangles;

static int crossings_of_two(bough_context *ctx, const double x[18]) {
    const int32_t triangles[6] = {0, 1, 2, 3, 4, 5};
    bo_skin skin;
    check_ok(ctx, bo_skin_make(ctx, 6, 2, triangles, NULL, &skin));
    const int count = count_crossings(&skin, x);
    bo_skin_free(ctx, &skin);
    return count;
}

static void crossings_are_counted(void **state) {
    (void)state;
    static const two_triangles cases[] = {
        {"apart", {0, 0, 1, 2, 0, 1, 0, 2, 1}, 0},
        {"beside each other in one plane", {2.1, 0, 0, 3, 0, 0, 3, 1, 0}, 0},
        {"two edges pierce", {0.5, 0.5, -1, 0.5, 0.5, 1, 0.7, 0.2, 1}, 2},
        {"an edge pierces, and is pierced", {0.5, 0.5, -1, 0.5, 0.5, 1, 5, 5, 0}, 2},
        {"passes the corner", {-0.1, -0.1, -1, -0.1, -0.1, 1, -1, -1, 0}, 0},
        {"a corner on the face", {0.5, 0.5, 0, 0.5, 0.5, 1, 0.7, 0.2, 1}, 2},
        {"a corner just above the face", {0.5, 0.5, 1e-300, 0.5, 0.5, 1, 0.7, 0.2, 1}, 0},
        {"a corner on an edge", {1, 0, 0, 1, -1, 1, 0.5, -1, 1}, 3},
        {"corner on corner", {0, 0, 0, -1, 0, 1, 0, -1, 1}, 4},
        {"an edge on an edge", {0.5, 0, 0, 1.5, 0, 0, 1, -1, 1}, 4},
        {"edges that cross", {1, -1, -1, 1, 1, 1, 1, -1, 1}, 2},
        {"inside, in the plane", {0.2, 0.2, 0, 0.4, 0.2, 0, 0.2, 0.4, 0}, 3},
        {"a star in the plane", {1.2, 1.2, 0, -0.5, 1, 0, 1, -0.5, 0}, 6},
        {"a triangle that is a line, through", {0.5, 0.5, -1, 0.5, 0.5, 1, 0.5, 0.5, 3}, 2},
        {"a triangle that is a point, in the face", {0.5, 0.5, 0, 0.5, 0.5, 0, 0.5, 0.5, 0}, 3},
        {"a triangle that is a line, beside", {-0.5, -0.5, -1, -0.5, -0.5, 1, -0.5, -0.5, 3}, 0},
    };
    bough_context *ctx = test_context(1);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        for (int turn = 0; turn < 3; turn++) { /* axes take turns */
            double x[18], turned[18] = {0, 0, 0, 2, 0, 0, 0, 2, 0};
            memcpy(turned + 9, cases[i].second, sizeof cases[i].second);
            for (int k = 0; k < 18; k++)
                x[3 * (k / 3) + (k + turn) % 3] = turned[k];
            const int count = crossings_of_two(ctx, x);
            if (count != cases[i].count)
                fail_msg("%s: %d crossings, expected %d", cases[i].what, count, cases[i].count);
        }
    bough_context_destroy(ctx);
}

/* Points on a plane through far points, and one unit of the last place beside it. */
static void sides_of_planes_are_exact(void **state) {
    (void)state;
    test_random random = {24};
    for (int k = 0; k < 2000; k++) {
        double a[3], b[3], c[3], d[3];
        for (int i = 0; i < 3; i++) { /* few bits: d = b + c - a is exact, and in the plane */
            a[i] = floor(test_uniform(&random, -1e6, 1e6)) * 0x1p-10;
            b[i] = floor(test_uniform(&random, -1e6, 1e6)) * 0x1p-20;
            c[i] = floor(test_uniform(&random, -1e6, 1e6)) * 0x1p-30;
            d[i] = b[i] + c[i] - a[i];
        }
        check_int(bo_side_of_plane(a, b, c, d), 0);
        const double nz = (b[0] - a[0]) * (c[1] - a[1]) - (b[1] - a[1]) * (c[0] - a[0]);
        d[2] = nextafter(d[2], INFINITY);
        if (fabs(nz) > 1)
            check_int(bo_side_of_plane(a, b, c, d), nz > 0 ? 1 : -1);
    }
}

/* Random surfaces that cross have distances of 0, and others have not. */
static void crossings_have_no_distance(void **state) {
    (void)state;
    bough_context *ctx = test_context(1);
    test_random random = {25};
    int crossed = 0;
    for (int k = 0; k < 2000; k++) {
        double x[18], least = INFINITY;
        for (int i = 0; i < 18; i++)
            x[i] = test_uniform(&random, -1, 1);
        const int32_t triangles[6] = {0, 1, 2, 3, 4, 5};
        bo_skin skin;
        check_ok(ctx, bo_skin_make(ctx, 6, 2, triangles, NULL, &skin));
        const int count = count_crossings(&skin, x);
        for (int t = 0; t < 2; t++)
            for (int i = 0; i < 3; i++) {
                const int p = 3 - 3 * t + i, q = 3 - 3 * t + (i + 1) % 3, f = 3 * t;
                /* the edge is cut into short ones, whose ends are near the triangle if it crosses */
                for (int s = 0; s <= 50 && least > 0.05; s++) {
                    const bo_vec3 z[4] = {
                        bo_mul_add(bo_scale(1 - s / 50., bo_load3(x + 3 * p)), s / 50., bo_load3(x + 3 * q)),
                        bo_load3(x + 3 * f), bo_load3(x + 3 * f + 3), bo_load3(x + 3 * f + 6)};
                    bo_pair pair;
                    bo_pair_at(BO_PAIR_POINT_TRIANGLE, z, false, &pair);
                    least = fmin(least, pair.d);
                }
            }
        check(count == 0 || least <= 0.05);
        crossed += count > 0;
        bo_skin_free(ctx, &skin);
    }
    check(crossed > 200 && crossed < 1800);
    bough_context_destroy(ctx);
}

static void a_folded_sheet_does_not_cross_itself(void **state) {
    (void)state;
    bough_context *ctx = test_context(1);
    surface s = folded_sheet(30, 0.31, 0.02);
    bo_skin skin;
    check_ok(ctx, bo_skin_make(ctx, s.vertex_count, s.triangle_count, s.triangles, NULL, &skin));
    check_int(count_crossings(&skin, s.x), 0);
    for (int c = 0; c < 3; c++) /* one vertex through the layers beside it */
        s.x[3 * 470 + c] += 0.07 * (c == 0 ? 0 : c == 1 ? -0.8 : 0.6);
    check(count_crossings(&skin, s.x) > 0);
    bo_skin_free(ctx, &skin);
    surface_free(&s);
    bough_context_destroy(ctx);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_skin_has_every_edge_once),
        cmocka_unit_test(wrong_triangles_are_refused),
        cmocka_unit_test(soups_are_searched_as_by_brute_force),
        cmocka_unit_test(folded_sheets_are_searched_as_by_brute_force),
        cmocka_unit_test(the_past_leaves_no_trace),
        cmocka_unit_test(odd_questions_are_answered),
        cmocka_unit_test(short_memory_gives_all_of_it_back),
        cmocka_unit_test(searching_again_takes_no_memory),
        cmocka_unit_test(crossings_are_counted),
        cmocka_unit_test(sides_of_planes_are_exact),
        cmocka_unit_test(crossings_have_no_distance),
        cmocka_unit_test(a_folded_sheet_does_not_cross_itself),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
