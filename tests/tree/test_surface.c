/* The surface of the whole: numbers, positions, normals and seams, against doubles from the volume basis. */
#include "cut.h"

static void compute_joined(cut *c, double *x, double *n) {
    const size_t size = 3 * (size_t)c->vertex_count * sizeof *x;
    double *apart = malloc(size), *area = malloc(size);
    compute_apart(c, apart, area);
    for (int32_t a = 0; a < c->vertex_count; a++) {
        bo_vec3 at = {0, 0, 0}, normal = {0, 0, 0};
        int count = 0;
        for (int32_t b = 0; b < c->vertex_count; b++)
            if (together(c, a, b)) {
                at = bo_add(at, bo_load3(apart + 3 * b)), count++;
                normal = bo_add(normal, bo_load3(area + 3 * b));
            }
        bo_store3(x + 3 * a, bo_scale(1.0 / count, at));
        bo_store3(n + 3 * a, normal);
    }
    free(apart), free(area);
}

static void check_against_doubles(cut *c, double tolerance) {
    const size_t size = 3 * sizeof(double) * (size_t)c->vertex_count;
    double *x = malloc(size), *n = malloc(size);
    int compared = 0;
    compute_joined(c, x, n);
    drawn d = draw(c);
    for (int32_t v = 0; v < c->vertex_count; v++) {
        const float *normal = d.normals + 3 * v;
        const double length = bo_norm(bo_load3(n + 3 * v));
        check_below(distance3(d.positions + 3 * v, bo_load3(x + 3 * v)), tolerance);
        check_near(distance3(normal, bo_v3(0, 0, 0)), 1, 1e-6);
        if (length > 1e-3) { /* not inside, where cut faces cancel; triangles have 1e-2 */
            check_below(distance3(normal, bo_scale(1 / length, bo_load3(n + 3 * v))), 10 * tolerance);
            compared++;
        }
    }
    check(compared > c->vertex_count * 3 / 4);
    free_drawn(&d);
    free(x), free(n);
}

static void positions_and_normals_are_those_of_doubles(void **unused) {
    (void)unused;
    cut c = make_cut(1, R, false);
    for (uint64_t seed = 1; seed < 4; seed++) {
        deform(&c, 0.04, seed);
        check_against_doubles(&c, 2e-6);
    }
    free_cut(&c);
    c = make_cut(1, 0, false); /* rigid limbs */
    deform(&c, 0.04, 5);
    check_against_doubles(&c, 2e-6);
    free_cut(&c);
    c = make_cut(1, R, true); /* 16 bits: a step is 0.04 / 32767 */
    deform(&c, 0.04, 6);
    check_against_doubles(&c, 1e-5);
    free_cut(&c);
}

static void copies_coincide(void **unused) {
    (void)unused;
    cut c = make_cut(1, R, false);
    deform(&c, 0.05, 9);
    drawn d = draw(&c);
    int pairs = 0, threes = 0, apart = 0;
    for (int32_t a = 0; a < c.vertex_count; a++) {
        int copies = 0;
        for (int32_t b = 0; b < c.vertex_count; b++) {
            const bool equal = memcmp(d.positions + 3 * a, d.positions + 3 * b, 3 * sizeof(float)) == 0 &&
                               memcmp(d.normals + 3 * a, d.normals + 3 * b, 3 * sizeof(float)) == 0;
            check_int(equal, together(&c, a, b));
            copies += equal;
            apart += !equal && c.origin_of[a] == c.origin_of[b];
        }
        pairs += copies == 2, threes += copies == 3;
    }
    /* 5 x 4 vertices on the cut, of which 4 belong to both limbs; limbs touch in 4 rows of 4 more */
    check_int(pairs, 2 * 16);
    check_int(threes, 3 * 4);
    check_int(apart, 2 * 16);
    free_drawn(&d);
    free_cut(&c);
}

/* At joints, normals at rest are those of the box that was never cut. */
static void a_cut_does_not_show(void **unused) {
    (void)unused;
    cut c = make_cut(1, R, false);
    bough_mesh *boundary;
    int32_t *vertex_map;
    check_ok(c.ctx, bough_mesh_surface(c.ctx, c.mesh, &boundary, &vertex_map, NULL));
    double *area = calloc(3 * (size_t)c.mesh->vertex_count, sizeof *area);
    for (int32_t t = 0; t < boundary->element_count; t++) {
        const int32_t *corner = boundary->elements + 3 * t;
        bo_vec3 x[3];
        for (int k = 0; k < 3; k++)
            x[k] = bo_load3(boundary->vertices + 3 * corner[k]);
        for (int k = 0; k < 3; k++) {
            double *sum = area + 3 * vertex_map[corner[k]];
            bo_store3(sum, bo_add(bo_load3(sum), bo_cross(bo_sub(x[1], x[0]), bo_sub(x[2], x[0]))));
        }
    }
    drawn d = draw(&c);
    int compared = 0;
    for (int32_t a = 0; a < c.vertex_count; a++) {
        const int32_t o = c.origin_of[a];
        check_below(distance3(d.positions + 3 * a, bo_load3(c.mesh->vertices + 3 * o)), 1e-6);
        const bool joint = fabs(c.mesh->vertices[3 * o] - 0.4) < 1e-9 && fabs(c.mesh->vertices[3 * o + 1] - 0.2) > 0.05;
        if (joint && bo_norm(bo_load3(area + 3 * o)) > 0) {
            check_below(distance3(d.normals + 3 * a, bo_normalize(bo_load3(area + 3 * o))), 1e-5);
            compared++;
        } else if (joint) /* inside: that of one of the two cut faces */
            check_near(fabs((double)d.normals[3 * a]), 1, 1e-5);
    }
    check(compared >= 16);
    free(area);
    free_drawn(&d);
    bough_mesh_destroy(c.ctx, boundary);
    bough_release(c.ctx, vertex_map);
    free_cut(&c);
}

static void triangles_are_those_of_the_parts(void **unused) {
    (void)unused;
    cut c = make_cut(1, R, false);
    const int32_t count = bough_tree_model_triangle_count(c.model);
    int32_t *triangles = malloc(3 * sizeof *triangles * (size_t)count), at = 0;
    bough_tree_model_triangles(c.model, triangles);
    for (int i = 0; i < PARTS; i++)
        for (int32_t k = 0; k < 3 * c.components[i]->surface.triangle_count; k++)
            check_int(triangles[at++] - bough_tree_model_first_vertex(c.model, i),
                      c.components[i]->surface.triangles[k]);
    check_int(at, 3 * count);
    free(triangles);
    free_cut(&c);
}

/* Many parts in several tasks: the same bits for any number of threads, and normals do not change positions. */
static void threads_do_not_change_bits(void **unused) {
    (void)unused;
    enum { COUNT = 300 };
    cut c = make_cut(1, R, false);
    bough_part_def parts[COUNT];
    for (int i = 0; i < COUNT; i++) {
        parts[i] = c.parts[trunk];
        parts[i].parent = i / 2 - (i < 2), parts[i].interface_index = 1 + i % 2;
        parts[i].scale = 1 + 0.01 * i;
    }
    bough_tree_model_def def = *bough_tree_model_describe(c.model);
    def.parts = parts, def.part_count = COUNT;
    float *first = NULL;
    size_t size = 0;
    for (int32_t threads = 1; threads <= 3; threads++) {
        bough_context *ctx = test_context(threads);
        bough_tree_model *model;
        bough_tree_state *state;
        check_ok(ctx, bough_tree_model_create(ctx, &def, &model));
        check_ok(ctx, bough_tree_state_create(ctx, model, &state));
        for (int32_t l = 0; l < bough_tree_model_size(model); l++)
            state->q[l] = 1e-2 * sin(l);
        check_ok(ctx, bough_tree_state_update(ctx, model, state));
        size = 3 * sizeof(float) * (size_t)bough_tree_model_vertex_count(model);
        float *now = malloc(4 * size), *normals = now + size / sizeof *now, *smooth = normals + size / sizeof *now;
        float *alone = smooth + size / sizeof *now;
        check(bough_tree_model_vertex_count(model) > 8192); /* more than one task */
        check_ok(ctx, bough_tree_state_surface(ctx, model, state, now, normals));
        check_ok(ctx, bough_tree_state_surface(ctx, model, state, alone, NULL));
        check(memcmp(now, alone, size) == 0);
        state->continuity = BOUGH_CONTINUITY_C1;
        check_ok(ctx, bough_tree_state_surface(ctx, model, state, smooth, NULL));
        check(memcmp(now, smooth, size) != 0);
        check(threads == 1 || memcmp(now, first, 3 * size) == 0);
        free(threads == 1 ? NULL : now);
        first = threads == 1 ? now : first;
        bough_tree_state_destroy(ctx, state);
        bough_tree_model_destroy(ctx, model);
        bough_context_destroy(ctx);
    }
    free(first);
    free_cut(&c);
}

static void memory_is_kept_and_given_back(void **unused) {
    (void)unused;
    cut c = make_cut(1, R, false);
    test_memory memory = {.fail_at = -1};
    bough_context *ctx = test_counting_context(&memory);
    const long before = memory.live;
    bough_status status = BOUGH_ERROR_MEMORY;
    for (long fail_at = 0; status != BOUGH_OK; fail_at++) {
        bough_tree_model *model = NULL;
        bough_tree_state *state = NULL;
        memory.calls = 0, memory.fail_at = fail_at;
        status = bough_tree_model_create(ctx, bough_tree_model_describe(c.model), &model);
        if (status == BOUGH_OK)
            status = bough_tree_state_create(ctx, model, &state);
        if (status == BOUGH_OK) {
            float *x = malloc(6 * sizeof *x * (size_t)c.vertex_count);
            const long calls = memory.calls;
            bough_tree_gap gap;
            for (int kind = BOUGH_CONTINUITY_C0; kind <= BOUGH_CONTINUITY_NONE; kind++) {
                state->continuity = (bough_continuity)kind;
                check_ok(ctx, bough_tree_state_surface(ctx, model, state, x, x + 3 * c.vertex_count));
            }
            check_ok(ctx, bough_tree_state_gap(ctx, model, state, &gap));
            check_int(memory.calls, calls);
            free(x);
        } else
            check_int(status, BOUGH_ERROR_MEMORY);
        bough_tree_state_destroy(ctx, state);
        bough_tree_model_destroy(ctx, model);
        check_int(memory.live, before);
    }
    bough_context_destroy(ctx);
    free_cut(&c);
}

static int32_t count_copies(cut *c) {
    bough_tree_gap gap;
    check_ok(c->ctx, bough_tree_state_gap(c->ctx, c->model, c->state, &gap));
    check((gap.count == 0) == (gap.part == -1));
    return gap.count;
}

/* Nothing of the part is drawn where another one is, and none of it elsewhere than it is. */
static bool stands_alone(cut *c, const drawn *d, int32_t part) {
    const size_t count = (size_t)c->components[part]->surface.vertex_count;
    float *x = malloc(3 * count * sizeof *x), off = 0;
    check_ok(c->ctx, bough_tree_state_positions(c->ctx, c->model, c->state, part, x));
    for (size_t k = 0; k < 3 * count; k++)
        off = fmaxf(off, fabsf(x[k] - d->positions[3 * (size_t)bough_tree_model_first_vertex(c->model, part) + k]));
    free(x);
    return off < 1e-5f;
}

/* A part that comes off is drawn by itself, one that comes back is joined again, and one that is gone is a single
 * point. */
static void changed_trees_are_drawn_as_they_hang(void **unused) {
    (void)unused;
    cut c = make_cut(1, R, false);
    const size_t bytes = 3 * (size_t)c.vertex_count * sizeof(float);
    deform(&c, 0.05, 9);
    const int32_t copies = count_copies(&c), limb = 2;
    drawn whole = draw(&c);
    check(copies > 20 && !stands_alone(&c, &whole, limb));
    check_ok(c.ctx, bough_tree_state_lock(c.ctx, c.model, c.state, limb, true));
    drawn locked = draw(&c);
    check(count_copies(&c) == copies && memcmp(locked.positions, whole.positions, bytes) == 0);
    check_ok(c.ctx, bough_tree_state_detach(c.ctx, c.model, c.state, limb));
    drawn apart = draw(&c);
    check(stands_alone(&c, &apart, limb) && !stands_alone(&c, &apart, 0));
    check(count_copies(&c) > 0 && count_copies(&c) < copies);
    const bough_change back = {.kind = BOUGH_CHANGE_REATTACH, .part = limb};
    check_ok(c.ctx, bough_tree_state_change(c.ctx, c.model, c.state, 1, &back));
    drawn again = draw(&c);
    check(count_copies(&c) == copies && memcmp(again.positions, whole.positions, bytes) == 0);
    const bough_change gone = {.kind = BOUGH_CHANGE_REMOVE, .part = trunk};
    check_ok(c.ctx, bough_tree_state_change(c.ctx, c.model, c.state, 1, &gone));
    drawn nothing = draw(&c);
    check_int(count_copies(&c), 0);
    for (int32_t i = 0; i < PARTS; i++) {
        const float *first = nothing.positions + 3 * bough_tree_model_first_vertex(c.model, i);
        for (int32_t v = 0; v < c.components[i]->surface.vertex_count; v++)
            check(memcmp(first + 3 * v, first, 3 * sizeof *first) == 0);
    }
    free_drawn(&whole), free_drawn(&locked), free_drawn(&apart), free_drawn(&again), free_drawn(&nothing);
    free_cut(&c);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(positions_and_normals_are_those_of_doubles),
        cmocka_unit_test(copies_coincide),
        cmocka_unit_test(a_cut_does_not_show),
        cmocka_unit_test(triangles_are_those_of_the_parts),
        cmocka_unit_test(threads_do_not_change_bits),
        cmocka_unit_test(memory_is_kept_and_given_back),
        cmocka_unit_test(changed_trees_are_drawn_as_they_hang),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
