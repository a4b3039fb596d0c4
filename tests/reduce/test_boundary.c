/* Interfaces that deform: how soft they are found to be, who is told, and boundary modes that bend far. */
#include "cooked.h"

#include "base/polar.h"

/* ---- softness ---- */

/* The three lowest modes of the body held at its foot; the best rigid motion of the end by the polar decomposition of a
 * displacement so small that turning is linear. */
static double softness_of(bough_context *ctx, bough_body *body, const bar_ends *ends, const bough_component *c) {
    const bough_interface *face = &c->interfaces[1];
    const size_t n = 3 * (size_t)bough_body_mesh(body)->vertex_count;
    const double *X = bough_body_mesh(body)->vertices, none[3] = {0, 0, 0};
    double worst = 0;
    bough_modes *modes;
    check_ok(ctx, bough_body_fix(ctx, body, ends->vertices[0], ends->interfaces[0].vertex_count, 7, none));
    check_ok(ctx, bough_body_modes(ctx, body, 3, NULL, &modes));
    for (size_t m = 0; m < 3; m++) {
        double *u = modes->shapes + m * n, largest = 0, off = 0, size = 0;
        bo_vec3 centre = {0, 0, 0}, moved = {0, 0, 0};
        bo_mat3 B = {{0}}, R, S;
        for (size_t i = 0; i < n; i++)
            largest = fmax(largest, fabs(u[i]));
        for (size_t i = 0; i < n; i++)
            u[i] *= 1e-5 / largest;
        for (int32_t k = 0; k < face->vertex_count; k++) {
            const size_t at = 3 * (size_t)face->vertices[k];
            centre = bo_mul_add(centre, face->weights[k], bo_load3(X + at));
            moved = bo_mul_add(moved, face->weights[k], bo_load3(u + at));
        }
        for (int32_t k = 0; k < face->vertex_count; k++) {
            const size_t at = 3 * (size_t)face->vertices[k];
            bo_vec3 d = bo_sub(bo_load3(X + at), centre), e = bo_sub(bo_load3(u + at), moved);
            B = bo_mat_add(B, bo_mat_scale(face->weights[k], bo_outer(bo_add(d, e), d)));
        }
        bo_polar(B, &R, &S);
        for (int32_t k = 0; k < face->vertex_count; k++) {
            const size_t at = 3 * (size_t)face->vertices[k];
            bo_vec3 d = bo_sub(bo_load3(X + at), centre), whole = bo_load3(u + at);
            bo_vec3 e = bo_sub(bo_add(d, bo_sub(whole, moved)), bo_mat_vec(R, d));
            off += face->weights[k] * bo_dot(e, e);
            size += face->weights[k] * bo_dot(whole, whole);
        }
        worst = fmax(worst, sqrt(off / size));
    }
    bough_modes_destroy(ctx, modes);
    return worst;
}

static bar_def plate(double width) {
    bar_def bar = default_bar();
    bar.type = BOUGH_HEX8;
    bar.model = BOUGH_MATERIAL_LINEAR;
    bar.size[1] = width, bar.size[2] = 0.05;
    bar.cells[0] = 8, bar.cells[1] = width > 0.3 ? 8 : 2, bar.cells[2] = 1;
    return bar;
}

static void softness_is_that_of_the_full_body(void **state) {
    (void)state;
    bough_context *ctx = test_context(1);
    const double widths[] = {0.05, 0.3, 1, 2};
    double before = 0;
    for (int i = 0; i < 4; i++) {
        kitchen k = open_kitchen(ctx, plate(widths[i]), 6);
        cook_in(&k);
        const double found = k.c->quality.interface_softness, expected = softness_of(ctx, k.body, &k.ends, k.c);
        print_message("plate %g m wide: %.5f\n", widths[i], found);
        check_near(found, expected, 1e-3 * expected);
        check(found > before); /* the wider the softer */
        before = found;
        close_kitchen(&k);
    }
    check(before > BOUGH_SOFT_INTERFACE);
    bough_context_destroy(ctx);
}

/* A property of the body: not of units, nor of the basis. */
static void softness_belongs_to_the_body(void **state) {
    (void)state;
    bough_context *ctx = test_context(1);
    double found[4];
    for (int i = 0; i < 4; i++) {
        bar_def bar = plate(1);
        bar.young *= i == 1 ? 1e4 : 1;
        for (int d = 0; d < 3; d++)
            bar.size[d] *= i == 2 ? 1e-3 : 1;
        kitchen k = open_kitchen(ctx, bar, i == 3 ? 15 : 6);
        if (i == 3)
            k.def.basis = BOUGH_BASIS_MODES | BOUGH_BASIS_ATTACHMENT;
        cook_in(&k);
        found[i] = k.c->quality.interface_softness;
        check_near(found[i], found[0], 1e-6 * found[0]);
        close_kitchen(&k);
    }
    bough_context_destroy(ctx);
}

/* A leaf far in does not make a twig's interfaces soft; what hangs at the end counts. Nothing to carry, nothing to say.
 */
static void only_busy_interfaces_count(void **state) {
    (void)state;
    bough_context *ctx = test_context(1);
    kitchen k = open_kitchen(ctx, plate(0.3), 6);
    cook_in(&k);
    const double end = k.c->quality.interface_softness;
    bough_component_destroy(ctx, k.c);
    int32_t *vertices, count;
    check_ok(ctx, bough_mesh_select(ctx, bough_body_mesh(k.body), "x>0.1 & x<0.3", &vertices, &count));
    bough_interface_def three[3] = {
        k.ends.interfaces[0], k.ends.interfaces[1], {.name = "side", .vertex_count = count, .vertices = vertices}};
    for (int i = 1; i < 3; i++)
        three[i].has_load = true, three[i].load.mass = i == 1 ? 15 : 1e-2; /* the bar has 15 kg */
    k.def.interfaces = three, k.def.interface_count = 3;
    check_ok(ctx, bough_cook(ctx, k.body, &k.def, NULL, &k.c));
    check_near(k.c->quality.interface_softness, end, 0.01 * end);
    bough_component_destroy(ctx, k.c);
    three[2].load.mass = 1e4; /* now it is the one that matters */
    check_ok(ctx, bough_cook(ctx, k.body, &k.def, NULL, &k.c));
    check(k.c->quality.interface_softness > 2 * end);
    bough_component_destroy(ctx, k.c);
    k.def.interfaces = k.ends.interfaces, k.def.interface_count = 1;
    check_ok(ctx, bough_cook(ctx, k.body, &k.def, NULL, &k.c));
    check(isnan(k.c->quality.interface_softness));
    bough_release(ctx, vertices);
    close_kitchen(&k);
    bough_context_destroy(ctx);
}

static void keep_sentence(void *user, const char *sentence) {
    snprintf(user, 1200, "%s", sentence);
}

static void soft_interfaces_are_told_of(void **state) {
    (void)state;
    char said[1200] = "";
    bough_context_def def = bough_default_context_def();
    def.thread_count = 1;
    def.warn = keep_sentence, def.warn_user = said;
    bough_context *ctx = bough_context_create(&def);
    kitchen k = open_kitchen(ctx, plate(0.05), 6);
    cook_in(&k);
    check(!said[0]);
    close_kitchen(&k);
    k = open_kitchen(ctx, plate(2), 6);
    cook_in(&k);
    check(strstr(said, "the interface \"x1\" is soft: ") && strstr(said, "cut where the body is slimmer or stiffer"));
    close_kitchen(&k);
    bough_context_destroy(ctx);
}

/* ---- boundary modes ---- */

/* Attachment modes alone answer large forces as if they were small: the bar gets longer where it should bend. Their
 * derivatives, with room for them, mend that. */
static void boundary_modes_bend_far_with_their_derivatives(void **state) {
    (void)state;
    bough_context *ctx = test_context(1);
    const uint32_t kinds[2] = {BOUGH_BASIS_MODES | BOUGH_BASIS_ATTACHMENT,
                               BOUGH_BASIS_MODES | BOUGH_BASIS_ATTACHMENT | BOUGH_BASIS_DERIVATIVES};
    double error[2];
    for (int i = 0; i < 2; i++) {
        bar_def bar = default_bar();
        bar.type = BOUGH_HEX8;
        bar.size[1] = bar.size[2] = 0.1;
        bar.cells[0] = 10, bar.cells[1] = bar.cells[2] = 1;
        kitchen k = open_kitchen(ctx, bar, 20);
        k.def.basis = kinds[i];
        k.def.keep_boundary = true;
        cook_in(&k);
        error[i] = k.c->quality.response_gravity;
        close_kitchen(&k);
    }
    print_message("equilibrium under weight: off by %.3f, with derivatives by %.4f\n", error[0], error[1]);
    check(error[0] > 0.5);
    check_below(error[1], 0.03);
    bough_context_destroy(ctx);
}

/* Leaves have nothing to be attached at, and modes of their own; without those there would be no basis. */
static void leaves_go_without_boundary_modes(void **state) {
    (void)state;
    bough_context *ctx = test_context(1);
    const uint32_t kinds[2] = {BOUGH_BASIS_ATTACHMENT, BOUGH_BASIS_CONSTRAINT};
    for (int i = 0; i < 2; i++) {
        kitchen k = open_kitchen(ctx, plate(0.3), 6);
        bough_component *plain, *same;
        k.def.interface_count = 1;
        k.def.mode_count = 3;
        k.def.interfaces = k.ends.interfaces;
        k.def.basis = BOUGH_BASIS_MODES | BOUGH_BASIS_DERIVATIVES;
        check_ok(ctx, bough_cook(ctx, k.body, &k.def, NULL, &plain));
        k.def.basis |= kinds[i];
        check_ok(ctx, bough_cook(ctx, k.body, &k.def, NULL, &same));
        check_int(same->r, plain->r);
        for (int32_t l = 0; l < 3; l++)
            check_near(same->K[l * (same->r + 1)], plain->K[l * (plain->r + 1)], 1e-6 * plain->K[l * (plain->r + 1)]);
        bough_component_destroy(ctx, plain);
        bough_component_destroy(ctx, same);
        close_kitchen(&k);
    }
    kitchen k = open_kitchen(ctx, plate(0.3), 6);
    k.def.interface_count = 1;
    k.def.interfaces = k.ends.interfaces;
    k.def.basis = BOUGH_BASIS_ATTACHMENT;
    check_fails(ctx, bough_cook(ctx, k.body, &k.def, NULL, &k.c), BOUGH_ERROR_ARGUMENT,
                "there is no interface beside the one it hangs by");
    close_kitchen(&k);
    bough_context_destroy(ctx);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(softness_is_that_of_the_full_body),
        cmocka_unit_test(softness_belongs_to_the_body),
        cmocka_unit_test(only_busy_interfaces_count),
        cmocka_unit_test(soft_interfaces_are_told_of),
        cmocka_unit_test(boundary_modes_bend_far_with_their_derivatives),
        cmocka_unit_test(leaves_go_without_boundary_modes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
