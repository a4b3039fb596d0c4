/* Boundary modes: that they bend far, and who goes without. */
#include "cooked.h"

static bar_def plate(double width) {
    bar_def bar = default_bar();
    bar.type = BOUGH_HEX8;
    bar.model = BOUGH_MATERIAL_LINEAR;
    bar.size[1] = width, bar.size[2] = 0.05;
    bar.cells[0] = 8, bar.cells[1] = width > 0.3 ? 8 : 2, bar.cells[2] = 1;
    return bar;
}

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
        check_ok(ctx, bough_cook(ctx, k.body, k.load_case, &k.def, NULL, &plain));
        k.def.basis |= kinds[i];
        check_ok(ctx, bough_cook(ctx, k.body, k.load_case, &k.def, NULL, &same));
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
    check_fails(ctx, bough_cook(ctx, k.body, k.load_case, &k.def, NULL, &k.c), BOUGH_ERROR_ARGUMENT,
                "there is no interface beside the one it hangs by");
    close_kitchen(&k);
    bough_context_destroy(ctx);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(boundary_modes_bend_far_with_their_derivatives),
        cmocka_unit_test(leaves_go_without_boundary_modes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
