/* Forces on the surfaces of parts, and equilibrium under forces that keep their direction. */
#include "bars.h"

#include "base/rotation.h"

enum { PARTS = 4 };

/* Bars somewhere, bent and in motion; part 2 is one of the limbs. */
static void set_out(bars *b, bool flies, bool int16) {
    test_random random = {5};
    prepare_bars(b, test_context(1), PARTS, 0, flies);
    if (int16) {
        bar_def bar = default_bar();
        bar.size[0] = 0.7;
        bar.cells[0] = 4;
        kitchen k = open_kitchen(b->ctx, bar, 4);
        k.def.parent = 0;
        k.def.surface_int16 = true;
        cook_in(&k);
        bough_component_destroy(b->ctx, b->limb);
        b->limb = k.c;
        k.c = NULL;
        close_kitchen(&k);
        check(b->limb->surface.U16 != NULL);
    }
    b->def.gravity[2] = 0;
    grow_bars(b);
    for (int32_t k = 0; k < bough_tree_model_size(b->model); k++) {
        b->state->q[k] = test_uniform(&random, -0.03, 0.03);
        b->state->v[k] = test_uniform(&random, -1, 1);
    }
    check_ok(b->ctx, bough_tree_state_update(b->ctx, b->model, b->state));
}

static void go_home(bars *b) {
    bough_context *ctx = b->ctx;
    clear_bars(b);
    bough_context_destroy(ctx);
}

static const bough_surface *surface_of(const bars *b, int32_t part) {
    return &(part ? b->limb : b->root)->surface;
}

static float *random_forces(const bars *b, int32_t part) {
    test_random random = {9};
    const size_t count = 3 * (size_t)surface_of(b, part)->vertex_count;
    float *forces = malloc(count * sizeof *forces);
    for (size_t k = 0; k < count; k++)
        forces[k] = (float)test_uniform(&random, -1, 1);
    return forces;
}

/* Load on a part: on its coordinates, then force and torque about its origin, in the world. */
static int32_t loads_of(const bars *b, int32_t part, double *loads) {
    const bo_tree_part *p = &b->model->parts[b->model->inside[part]];
    const double *wrench = bo_tree_work_of(b->state)->wrench + 6 * b->model->inside[part];
    bo_mat3 R;
    memcpy(R.m, b->state->frames[part].pose.rotation, sizeof R.m);
    memcpy(loads, bo_tree_work_of(b->state)->force + p->offset, (size_t)p->r * sizeof *loads);
    bo_store3(loads + p->r, bo_mat_vec(R, bo_load3(wrench)));
    bo_store3(loads + p->r + 3, bo_mat_vec(R, bo_load3(wrench + 3)));
    return p->r + 6;
}

static void surface_forces_are_the_sum_of_those_on_vertices(void **unused) {
    (void)unused;
    for (int int16 = 0; int16 < 2; int16++) {
        bars b;
        set_out(&b, false, int16);
        for (int32_t part = 0; part < PARTS; part++) {
            float *forces = random_forces(&b, part);
            double one[16], all[16];
            /* twice, since forces add up */
            check_ok(b.ctx, bough_tree_state_add_surface_forces(b.ctx, b.model, b.state, part, forces));
            check_ok(b.ctx, bough_tree_state_add_surface_forces(b.ctx, b.model, b.state, part, forces));
            int32_t count = loads_of(&b, part, all);
            bough_tree_state_clear_forces(b.model, b.state);
            for (int32_t v = 0; v < surface_of(&b, part)->vertex_count; v++) {
                const double force[3] = {2.0 * (double)forces[3 * v], 2.0 * (double)forces[3 * v + 1],
                                         2.0 * (double)forces[3 * v + 2]};
                check_ok(b.ctx, bough_tree_state_add_force(b.ctx, b.model, b.state, part, v, force));
            }
            loads_of(&b, part, one);
            bough_tree_state_clear_forces(b.model, b.state);
            for (int32_t k = 0; k < count; k++) {
                check(one[k] != 0);
                check_near(all[k], one[k], 1e-12);
            }
            free(forces);
        }
        go_home(&b);
    }
}

/* f . x over the surface of a part, where its vertices are. */
static double potential(const bars *b, int32_t part, const float *forces) {
    double sum = 0;
    check_ok(b->ctx, bough_tree_state_update(b->ctx, b->model, b->state));
    for (int32_t v = 0; v < surface_of(b, part)->vertex_count; v++) {
        double x[3], rate[3];
        check_ok(b->ctx, bough_tree_state_vertex(b->ctx, b->model, b->state, part, v, x, rate));
        for (int d = 0; d < 3; d++)
            sum += (double)forces[3 * v + d] * x[d];
    }
    return sum;
}

/* Coordinates of the part move its vertices; a root that flies moves its whole tree. */
static void surface_forces_do_the_work_of_their_vertices(void **unused) {
    (void)unused;
    const double h = 1e-5;
    for (int32_t part = 0; part < 3; part += 2) {
        bars b;
        set_out(&b, true, part == 2);
        float *forces = random_forces(&b, part);
        double loads[16], *q = b.state->q + bough_tree_model_offset(b.model, part);
        check_ok(b.ctx, bough_tree_state_add_surface_forces(b.ctx, b.model, b.state, part, forces));
        const int32_t r = loads_of(&b, part, loads) - 6;
        for (int32_t l = 0; l < r; l++) {
            const double q0 = q[l];
            q[l] = q0 + h;
            double work = potential(&b, part, forces);
            q[l] = q0 - h;
            work -= potential(&b, part, forces);
            q[l] = q0;
            check_near(work / (2 * h), loads[l], 1e-8);
        }
        bough_tree_root *root = &b.state->roots[0], kept = *root;
        check_ok(b.ctx, bough_tree_state_update(b.ctx, b.model, b.state));
        double arm[3];
        bo_store3(arm, bo_sub(bo_load3(b.state->frames[part].pose.position), bo_load3(root->pose.position)));
        for (int d = 0; d < 6; d++) {
            double work[2], expected = loads[r + d];
            for (int side = 0; side < 2; side++) {
                double turn[3] = {0};
                bo_mat3 R;
                *root = kept;
                memcpy(R.m, kept.pose.rotation, sizeof R.m);
                if (d < 3)
                    root->pose.position[d] += side ? h : -h;
                else
                    turn[d - 3] = side ? h : -h;
                R = bo_mat_mul(bo_exp3(bo_load3(turn)), R);
                memcpy(root->pose.rotation, R.m, sizeof root->pose.rotation);
                work[side] = potential(&b, part, forces);
            }
            if (d >= 3) { /* the origin of the part goes round that of the root */
                double torque[3];
                bo_store3(torque, bo_cross(bo_load3(arm), bo_load3(loads + r)));
                expected += torque[d - 3];
            }
            check_near((work[1] - work[0]) / (2 * h), expected, 1e-8);
        }
        free(forces);
        go_home(&b);
    }
}

/* Pressure shares a triangle's force out over its corners; on a closed surface that is no force and no torque. */
static void an_even_pressure_has_no_resultant(void **unused) {
    (void)unused;
    for (int int16 = 0; int16 < 2; int16++) {
        bars b;
        set_out(&b, false, int16);
        const int32_t part = 2;
        const bough_surface *surface = surface_of(&b, part);
        const size_t count = 3 * (size_t)surface->vertex_count;
        float *x = malloc(count * sizeof *x), *forces = calloc(count, sizeof *forces);
        double largest = 0, loads[16];
        check_ok(b.ctx, bough_tree_state_positions(b.ctx, b.model, b.state, part, x));
        for (int32_t t = 0; t < surface->triangle_count; t++) {
            bo_vec3 corner[3];
            double share[3];
            for (int c = 0; c < 3; c++) {
                const float *at = x + 3 * (size_t)surface->triangles[3 * t + c];
                corner[c] = (bo_vec3){(double)at[0], (double)at[1], (double)at[2]};
            }
            bo_store3(share,
                      bo_scale(-100.0 / 6, bo_cross(bo_sub(corner[1], corner[0]), bo_sub(corner[2], corner[0]))));
            for (int k = 0; k < 9; k++)
                forces[3 * surface->triangles[3 * t + k / 3] + k % 3] += (float)share[k % 3];
        }
        for (size_t k = 0; k < count; k++)
            largest = fmax(largest, fabs((double)forces[k]));
        check_ok(b.ctx, bough_tree_state_add_surface_forces(b.ctx, b.model, b.state, part, forces));
        const int32_t r = loads_of(&b, part, loads) - 6;
        for (int d = 0; d < 6; d++)
            check_near(loads[r + d], 0, 1e-5 * largest);
        /* it squeezes all the same */
        double squeeze = 0;
        for (int32_t l = 0; l < r; l++)
            squeeze = fmax(squeeze, fabs(loads[l]));
        check(squeeze > 1e-3 * largest);
        free(x);
        free(forces);
        go_home(&b);
    }
}

static void what_is_not_finite_is_refused_as_a_whole(void **unused) {
    (void)unused;
    bars b;
    set_out(&b, false, false);
    float *forces = random_forces(&b, 1);
    const size_t count = 3 * (size_t)surface_of(&b, 1)->vertex_count,
                 size = bough_tree_state_snapshot_size(b.model, b.state);
    void *before = malloc(size), *after = malloc(size);
    const float wrong[] = {NAN, INFINITY, -INFINITY};
    const size_t places[] = {0, count / 2, count - 1};
    bough_tree_state_save(b.model, b.state, before);
    for (int k = 0; k < 3; k++) {
        const float right = forces[places[k]];
        forces[places[k]] = wrong[k];
        check_fails(b.ctx, bough_tree_state_add_surface_forces(b.ctx, b.model, b.state, 1, forces), BOUGH_NOT_FINITE,
                    "a force on the surface of part 1 is not finite");
        forces[places[k]] = right;
    }
    check_fails(b.ctx, bough_tree_state_add_surface_forces(b.ctx, b.model, b.state, PARTS, forces),
                BOUGH_ERROR_ARGUMENT, "part 4 does not exist");
    check_fails(b.ctx, bough_tree_state_add_surface_forces(b.ctx, b.model, b.state, -1, forces), BOUGH_ERROR_ARGUMENT,
                "part -1 does not exist");
    bough_tree_state_save(b.model, b.state, after);
    check(memcmp(before, after, size) == 0);
    free(before);
    free(after);
    free(forces);
    go_home(&b);
}

/* ---- equilibrium ---- */

typedef struct {
    double force[3];
    bough_status status;
    int calls;
} weight;

/* A force that keeps its direction, whatever the part does. */
static bough_status push(void *data, bough_context *ctx, const bough_tree_model *model, bough_tree_state *state) {
    weight *w = data;
    w->calls++;
    if (w->status != BOUGH_OK)
        return bo_fail(ctx, w->status, "nothing to push with");
    return bough_tree_state_add_force(ctx, model, state, PARTS - 1, 11, w->force);
}

/* Elastic energy less f . x has its least there: no coordinate gains anything. */
static void pushed_trees_settle_where_their_potential_is_least(void **unused) {
    (void)unused;
    bars b;
    set_out(&b, false, false);
    weight w = {.force = {20, -160, 280}};
    bough_tree_settle_def def = bough_default_tree_settle_def();
    def.push = push, def.data = &w;
    memset(b.state->q, 0, (size_t)bough_tree_model_size(b.model) * sizeof(double));
    check_ok(b.ctx, bough_tree_state_update(b.ctx, b.model, b.state));
    double start[3], end[3], rate[3], residual;
    check_ok(b.ctx, bough_tree_state_vertex(b.ctx, b.model, b.state, PARTS - 1, 11, start, rate));
    check_ok(b.ctx, bough_tree_state_settle(b.ctx, b.model, b.state, &def, &residual));
    check(residual <= def.tolerance && w.calls > 3);
    check_ok(b.ctx, bough_tree_state_vertex(b.ctx, b.model, b.state, PARTS - 1, 11, end, rate));
    print_message("moved by %g %g %g m\n", end[0] - start[0], end[1] - start[1], end[2] - start[2]);
    check(end[2] - start[2] > 0.2);
    for (int32_t k = 0; k < bough_tree_model_size(b.model); k++) {
        double *q = b.state->q + k, q0 = *q, E[2];
        const double h = 1e-5;
        for (int side = 0; side < 2; side++) {
            bough_tree_energies energies;
            *q = side ? q0 + h : q0 - h;
            check_ok(b.ctx, bough_tree_state_update(b.ctx, b.model, b.state));
            check_ok(b.ctx, bough_tree_state_energies(b.ctx, b.model, b.state, &energies));
            check_ok(b.ctx, bough_tree_state_vertex(b.ctx, b.model, b.state, PARTS - 1, 11, end, rate));
            E[side] = energies.elastic - bo_dot(bo_load3(w.force), bo_load3(end));
        }
        *q = q0;
        check_near((E[1] - E[0]) / (2 * h), 0, 1e-7 * 323); /* of the force */
    }
    check_ok(b.ctx, bough_tree_state_update(b.ctx, b.model, b.state));
    w.status = BOUGH_ERROR_ARGUMENT;
    check_fails(b.ctx, bough_tree_state_settle(b.ctx, b.model, b.state, &def, &residual), BOUGH_ERROR_ARGUMENT,
                "nothing to push with");
    go_home(&b);
}

/* The forces are those of the place that was found: nothing moves from there. */
static void what_has_settled_stays(void **unused) {
    (void)unused;
    bars b;
    set_out(&b, false, false);
    weight w = {.force = {0, 5, -9}};
    bough_tree_settle_def def = bough_default_tree_settle_def();
    def.push = push, def.data = &w;
    memset(b.state->q, 0, (size_t)bough_tree_model_size(b.model) * sizeof(double));
    check_ok(b.ctx, bough_tree_state_update(b.ctx, b.model, b.state));
    check_ok(b.ctx, bough_tree_state_settle(b.ctx, b.model, b.state, &def, NULL));
    check_ok(b.ctx, bough_tree_step(b.ctx, b.model, b.state, 0));
    for (int32_t k = 0; k < bough_tree_model_size(b.model); k++)
        check_near(b.state->a[k], 0, 5e-7);
    go_home(&b);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(surface_forces_are_the_sum_of_those_on_vertices),
        cmocka_unit_test(surface_forces_do_the_work_of_their_vertices),
        cmocka_unit_test(an_even_pressure_has_no_resultant),
        cmocka_unit_test(what_is_not_finite_is_refused_as_a_whole),
        cmocka_unit_test(pushed_trees_settle_where_their_potential_is_least),
        cmocka_unit_test(what_has_settled_stays),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
