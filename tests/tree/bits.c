/* Prints a hash of each of many outputs of the runtime library: "name hash". With BOUGH_PORTABLE_BITS they are those of
 * bits.golden beside this file, by any compiler and for any processor (tools/golden_bits.sh). */
#include "../bits.h"
#include "../component/draft.h"
#include "garden.h"

#include "base/polar.h"
#include "base/rotation.h"

#include <bough/contact.h>

enum { STEPS = 120 };
static const double dt = 1.0 / 240;

/* ---- trees ---- */

static uint64_t hash_state(const garden *g) {
    const size_t size = bough_tree_state_snapshot_size(g->model, g->state);
    void *bytes = malloc(size);
    bough_tree_state_save(g->model, g->state, bytes);
    const uint64_t hash = mix(MIX_START, bytes, size);
    free(bytes);
    return hash;
}

static uint64_t step_all(garden *g, double length) {
    uint64_t hash = hash_state(g);
    for (int i = 0; i < STEPS; i++) {
        load(g, 0, g->def.part_count);
        const bough_status status = bough_tree_advance(g->ctx, g->model, g->state, length, NULL);
        hash = mix(hash, &status, sizeof status);
    }
    const uint64_t end = hash_state(g);
    return mix(hash, &end, sizeof end);
}

static void tell_couplings(void) {
    static const char *const names[] = {"L1", "L2", "L2R", "L3"};
    for (int coupling = 0; coupling < 4; coupling++)
        for (int flies = 0; flies < 2; flies++) {
            garden g = small_forest(flies);
            uproot(&g);
            g.def.coupling = (bough_coupling)coupling;
            g.def.wind = (bough_wind){{4, 1, 0}, 0.4, 5, 1.3, 0.9, 17, 0};
            plant(&g);
            stir(&g, 22, 0.05, 1);
            tell(flies ? "tree-flies" : "tree-held", names[coupling], step_all(&g, dt));
            clear(&g);
        }
}

static void tell_integrators(void) {
    for (int32_t i = 0; i < bough_integrator_count(); i++) {
        garden g = small_forest(false);
        bough_integrator_def def = bough_default_integrator_def();
        def.name = bough_integrator_describe(i)->name;
        if (bough_tree_state_use_integrator(g.ctx, g.model, g.state, &def) == BOUGH_OK)
            tell("method", def.name, step_all(&g, dt / 8));
        clear(&g);
    }
}

static void tell_joints(void) {
    garden g = till(1);
    test_random random = {5};
    add_kind(&g, 4, 3, BOUGH_REDUCED_POLYNOMIAL, false);
    add_part(&g, &random, 0, -1, 0);
    add_part(&g, &random, 0, 0, 1)->joint = hinge_about(1, 2, 3, 5, 0);
    add_part(&g, &random, 0, 0, 2)->joint = ball_joint(5, 0);
    const bough_joint_def tie = tie_of(1, 1, 2, 1, 100, 0);
    g.def.tie_count = 1, g.def.ties = &tie;
    plant(&g);
    stir(&g, 3, 0.02, 0.5);
    tell("joints", "", step_all(&g, dt));
    bough_tree_state_settle(g.ctx, g.model, g.state, NULL, NULL);
    tell("settled", "", hash_state(&g));
    clear(&g);
}

static void tell_looks(void) {
    garden g = small_forest(false);
    double *stress = calloc((size_t)g.def.part_count, sizeof *stress);
    bough_tree_state_peak_stresses(g.ctx, g.model, g.state, stress);
    tell("stress", "", mix(MIX_START, stress, (size_t)g.def.part_count * sizeof *stress));
    free(stress);
    clear(&g);
}

/* ---- components ---- */

static void tell_components(void) {
    static const struct {
        const char *name;
        bough_reduced_elastic elastic;
        bough_material_model model;
    } kinds[] = {{"stvk", BOUGH_REDUCED_POLYNOMIAL, BOUGH_MATERIAL_STVK},
                 {"corotated", BOUGH_REDUCED_CUBATURE, BOUGH_MATERIAL_COROTATED},
                 {"neo-hookean", BOUGH_REDUCED_CUBATURE, BOUGH_MATERIAL_NEO_HOOKEAN},
                 {"mooney-rivlin", BOUGH_REDUCED_CUBATURE, BOUGH_MATERIAL_MOONEY_RIVLIN},
                 {"linear", BOUGH_REDUCED_LINEAR, BOUGH_MATERIAL_LINEAR}};
    enum { R = 6 };
    bough_context *ctx = test_context(1);
    for (size_t k = 0; k < sizeof kinds / sizeof *kinds; k++) {
        draft *d = draft_make(R, kinds[k].elastic, kinds[k].model, 7 + k);
        bough_component *c = draft_pack(ctx, d);
        double q[R], E, f[R], H[R * R], *scratch = malloc(sizeof *scratch * bough_component_scratch(c));
        test_random random = {11};
        uint64_t hash = mix(MIX_START, c->image, c->image_size);
        for (int i = 0; i < 50; i++) {
            draft_randoms(&random, q, R, 0.2);
            if (bough_component_evaluate(c, q, scratch, &E, f, H)) {
                hash = mix(hash, &E, sizeof E);
                hash = mix(mix(hash, f, sizeof f), H, sizeof H);
            }
        }
        tell("component", kinds[k].name, hash);
        free(scratch);
        bough_component_destroy(ctx, c);
        draft_free(d);
    }
    bough_context_destroy(ctx);
}

/* ---- rotations and contact ---- */

static void tell_rotations(void) {
    test_random random = {13};
    uint64_t hash = MIX_START;
    for (int i = 0; i < 5000; i++) {
        double w[3];
        draft_randoms(&random, w, 3, i % 2 ? 3 : 1e-3);
        const bo_quat q = bo_quat_exp((bo_vec3){w[0], w[1], w[2]});
        const bo_vec3 back = bo_quat_log(q);
        hash = mix(mix(hash, &q, sizeof q), &back, sizeof back);
    }
    tell("rotations", "", hash);
}

static void tell_touching(void) {
    bough_context *ctx = test_context(1);
    bough_shape_def box = bough_default_shape_def();
    bough_shape *a, *b;
    test_random random = {17};
    uint64_t hash = MIX_START;
    box.kind = BOUGH_SHAPE_BOX;
    box.half[0] = 0.3, box.half[1] = 0.2, box.half[2] = 0.1;
    check_ok(ctx, bough_shape_create(ctx, &box, &a));
    check_ok(ctx, bough_shape_create(ctx, &box, &b));
    for (int i = 0; i < 2000; i++) {
        bough_touching points[BOUGH_MOST_TOUCHING] = {0};
        bough_pose at[2] = {0};
        for (int k = 0; k < 2; k++) {
            grown_rotation(&random, at[k].rotation);
            draft_randoms(&random, at[k].position, 3, 0.2);
        }
        const int32_t count = bough_shapes_touch(a, &at[0], b, &at[1], 0.05, points);
        for (int32_t k = 0; k < count; k++)
            hash = mix(mix(hash, points[k].on_a, sizeof points[k].on_a), points[k].normal, sizeof points[k].normal);
    }
    tell("touching", "", hash);
    bough_shape_destroy(ctx, a);
    bough_shape_destroy(ctx, b);
    bough_context_destroy(ctx);
}

int main(void) {
    tell_rotations();
    tell_touching();
    tell_components();
    tell_couplings();
    tell_joints();
    tell_integrators();
    tell_looks();
    tell_mechanisms();
    tell_multibody();
    return 0;
}
