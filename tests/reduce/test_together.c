/* One body is cooked by several threads at the same time, each with a context of its own: the components have the bits
 * of those that were cooked one after the other. */
#include "cooked.h"

#include "fem/body.h"

#include <pthread.h>

/* Ways to cook a bar, alike in nothing but the body. */
enum { HANGING, CLAMPED_AT_BOTH_ENDS, SLIDING, FREE, INSIDE, WAYS };

typedef struct {
    bough_body *body, *around;
    bar_ends ends;
    bough_load_case *load_cases[WAYS], *clamp; /* clamp: of what is around */
    bough_cook_surroundings surroundings;
    int32_t *vertices, *owner, *pulled;
    unsigned char *beside;
    bough_cook_def defs[WAYS];
} pantry;

/* The bar is the second half of one twice as long, which is held at its far end. */
static void surround(bough_context *ctx, bar_def bar, pantry *p) {
    bar.size[0] *= 2, bar.cells[0] *= 2;
    p->around = make_bar(ctx, bar);
    const bough_mesh *long_mesh = bough_body_mesh(p->around), *mesh = bough_body_mesh(p->body);
    p->vertices = calloc((size_t)mesh->vertex_count, sizeof *p->vertices);
    p->pulled = calloc((size_t)long_mesh->vertex_count, sizeof *p->pulled);
    p->owner = calloc((size_t)long_mesh->element_count, sizeof *p->owner);
    p->beside = calloc((size_t)long_mesh->element_count, 1);
    for (int32_t v = 0; v < mesh->vertex_count; v++) {
        p->vertices[v] = -1;
        for (int32_t w = 0; w < long_mesh->vertex_count; w++) {
            double off = 0;
            for (int d = 0; d < 3; d++)
                off += fabs(long_mesh->vertices[3 * w + d] - mesh->vertices[3 * v + d] - (d == 0));
            if (off < 1e-9)
                p->vertices[v] = w;
        }
        check(p->vertices[v] >= 0);
    }
    for (int32_t w = 0; w < long_mesh->vertex_count; w++)
        p->pulled[w] = BOUGH_OWNER_SELF;
    for (int32_t e = 0; e < long_mesh->element_count; e++) {
        double x = 0;
        for (int k = 0; k < 4; k++)
            x += long_mesh->vertices[3 * long_mesh->elements[4 * e + k]] / 4;
        p->owner[e] = x > 1 ? BOUGH_OWNER_SELF : BOUGH_OWNER_OTHER;
    }
    bar_ends ends = find_ends(ctx, p->around);
    check_ok(ctx, bough_load_case_create(ctx, p->around, &p->clamp));
    check_ok(ctx,
             bough_load_case_fix(ctx, p->clamp, ends.vertices[0], ends.interfaces[0].vertex_count, BOUGH_AXES, NULL));
    free_ends(ctx, &ends);
    p->surroundings = (bough_cook_surroundings){.body = p->around,
                                                .load_case = p->clamp,
                                                .vertices = p->vertices,
                                                .owner = p->owner,
                                                .pulled = p->pulled,
                                                .beside = p->beside};
}

static void fill(bough_context *ctx, bough_material_model model, pantry *p) {
    bar_def bar = default_bar();
    bar.model = model;
    *p = (pantry){.body = make_bar(ctx, bar)};
    p->ends = find_ends(ctx, p->body);
    surround(ctx, bar, p);
    for (int way = 0; way < WAYS; way++) {
        p->defs[way] = bar_cook_def(&p->ends, 6);
        p->defs[way].parent = way == HANGING || way == INSIDE ? 0 : -1;
        check_ok(ctx, bough_load_case_create(ctx, p->body, &p->load_cases[way]));
        for (int end = 0; end < 2; end++)
            if (way == CLAMPED_AT_BOTH_ENDS || way == SLIDING)
                check_ok(ctx, bough_load_case_fix(ctx, p->load_cases[way], p->ends.vertices[end],
                                                  p->ends.interfaces[end].vertex_count,
                                                  way == SLIDING && end ? BOUGH_AXIS_X : BOUGH_AXES, NULL));
        check_ok(ctx, bough_load_case_set_gravity(ctx, p->load_cases[way], (double[]){0, way, -9.81}));
    }
    p->defs[INSIDE].surroundings = &p->surroundings;
}

static void empty(bough_context *ctx, pantry *p) {
    for (int way = 0; way < WAYS; way++)
        bough_load_case_destroy(ctx, p->load_cases[way]);
    bough_load_case_destroy(ctx, p->clamp);
    free_ends(ctx, &p->ends);
    bough_body_destroy(ctx, p->around);
    bough_body_destroy(ctx, p->body);
    free(p->vertices), free(p->owner), free(p->pulled), free(p->beside);
}

typedef struct {
    const pantry *p;
    int way;
    bough_context *ctx;
    bough_status status;
    bough_component *c;
} cook_thread;

static void *cook(void *data) {
    cook_thread *t = data;
    t->status = bough_cook(t->ctx, t->p->body, t->p->load_cases[t->way], &t->p->defs[t->way], NULL, &t->c);
    return NULL;
}

static void compare(bough_material_model model) {
    enum { THREADS = 2 * WAYS };
    bough_context *ctx = test_context(1);
    pantry p;
    cook_thread together[THREADS];
    pthread_t threads[THREADS];
    bough_component *alone[WAYS];
    fill(ctx, model, &p);
    for (int way = 0; way < WAYS; way++)
        check_ok(ctx, bough_cook(ctx, p.body, p.load_cases[way], &p.defs[way], NULL, &alone[way]));
    for (int k = 0; k < THREADS; k++) { /* each way twice: by one thread, and by two */
        together[k] = (cook_thread){.p = &p, .way = k % WAYS, .ctx = test_context(1 + k / WAYS)};
        check_int(pthread_create(&threads[k], NULL, cook, &together[k]), 0);
    }
    for (int k = 0; k < THREADS; k++)
        pthread_join(threads[k], NULL);
    for (int k = 0; k < THREADS; k++) {
        const bough_component *c = together[k].c, *same = alone[k % WAYS];
        check_ok(together[k].ctx, together[k].status);
        check(c->image_size == same->image_size && !memcmp(c->image, same->image, c->image_size));
        bough_component_destroy(together[k].ctx, together[k].c);
        bough_context_destroy(together[k].ctx);
    }
    for (int way = 0; way < WAYS; way++) /* they are different components */
        for (int other = 0; other < way; other++)
            check(alone[way]->image_size != alone[other]->image_size ||
                  memcmp(alone[way]->image, alone[other]->image, alone[way]->image_size));
    for (int way = 0; way < WAYS; way++)
        bough_component_destroy(ctx, alone[way]);
    empty(ctx, &p);
    bough_context_destroy(ctx);
}

static void one_body_is_cooked_by_many_at_the_same_time(void **state) {
    (void)state;
    compare(BOUGH_MATERIAL_STVK);               /* by polynomials */
    compare(BOUGH_MATERIAL_STABLE_NEO_HOOKEAN); /* by cubature */
}

static void a_load_case_of_another_body_is_refused(void **state) {
    (void)state;
    bough_context *ctx = test_context(1);
    kitchen k = open_kitchen(ctx, default_bar(), 4), other = open_kitchen(ctx, default_bar(), 4);
    check_fails(ctx, bough_cook(ctx, k.body, other.load_case, &k.def, NULL, &k.c), BOUGH_ERROR_ARGUMENT,
                "made for another body");
    close_kitchen(&k);
    close_kitchen(&other);
    bough_context_destroy(ctx);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(one_body_is_cooked_by_many_at_the_same_time),
        cmocka_unit_test(a_load_case_of_another_body_is_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
