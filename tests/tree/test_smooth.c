/* Surfaces that are blended around joints: what is kept, what becomes continuous, and seams that open. */
#include "cut.h"

#include "tree/surface.h"

static drawn draw_as(const cut *c, bough_continuity continuity) {
    c->state->continuity = continuity;
    return draw(c);
}

static double largest_difference(const cut *c, const drawn *a, const drawn *b) {
    double largest = 0;
    for (int32_t v = 0; v < c->vertex_count; v++) {
        const float *x = b->positions + 3 * v;
        largest = fmax(largest, distance3(a->positions + 3 * v, bo_v3((double)x[0], (double)x[1], (double)x[2])));
    }
    return largest;
}

static bool same_vertex(const drawn *a, const drawn *b, int32_t v) {
    return memcmp(a->positions + 3 * v, b->positions + 3 * v, 3 * sizeof(float)) == 0;
}

static int32_t part_of_vertex(const cut *c, int32_t v) {
    int32_t part = 0;
    while (part + 1 < PARTS && v >= bough_tree_model_first_vertex(c->model, part + 1))
        part++;
    return part;
}

/* In the box, at rest. */
static const double *place_in_box(const cut *c, int32_t v) {
    return c->mesh->vertices + 3 * c->origin_of[v];
}

/* ---- what is kept ---- */

static void rest_is_kept_in_any_pose(void **unused) {
    (void)unused;
    cut c = make_cut(1, R, false);
    drawn apart = draw_as(&c, BOUGH_CONTINUITY_NONE), smooth = draw_as(&c, BOUGH_CONTINUITY_C1);
    check_below(largest_difference(&c, &apart, &smooth), 1e-6);
    check(c.model->surface->blend.joint_count == 2);
    free_drawn(&apart), free_drawn(&smooth);
    free_cut(&c);
}

/* The interface is at x = 0.4, the rms radius 0.104 m of its halves gives a width of 0.208 m. */
static void far_vertices_are_left_alone(void **unused) {
    (void)unused;
    cut c = make_cut(1, R, false);
    deform(&c, 0.05, 3);
    drawn apart = draw_as(&c, BOUGH_CONTINUITY_NONE), smooth = draw_as(&c, BOUGH_CONTINUITY_C1);
    int far = 0, moved = 0;
    for (int32_t v = 0; v < c.vertex_count; v++) {
        const bool same = same_vertex(&apart, &smooth, v);
        far += fabs(place_in_box(&c, v)[0] - 0.4) > 0.21;
        check(same || fabs(place_in_box(&c, v)[0] - 0.4) < 0.21);
        moved += !same && fabs(place_in_box(&c, v)[0] - 0.4) > 0.05; /* not on the cut only */
    }
    check(far > 40 && moved > 20);
    free_drawn(&apart), free_drawn(&smooth);
    free_cut(&c);
}

/* ---- a stretch of the whole box ---- */

/* Columns 0 of U become a stretch G along x and across it, in the axes of the part. Interfaces are across x: they are
 * stretched too, and do not turn. */
typedef struct {
    bough_component c;
    float *U;
    bough_interface faces[PARTS];
    double *numbers;
} stretched;

static void stretch_component(const cut *c, int part, const double G[3], stretched *s) {
    const bough_component *from = c->components[part];
    const bo_mat3 D = {{G[0], 0, 0, 0, G[1], 0, 0, 0, G[2]}};
    const bo_mat3 own = bo_mat_tmul(c->axes[part], bo_mat_mul(D, c->axes[part]));
    const size_t r = (size_t)from->r, panels = (3 * (size_t)from->surface.vertex_count + 15) / 16;
    s->c = *from;
    s->U = malloc(panels * r * 16 * sizeof *s->U);
    memcpy(s->U, from->surface.U, panels * r * 16 * sizeof *s->U);
    for (size_t v = 0; v < (size_t)from->surface.vertex_count; v++) {
        const float *X = from->surface.position + 3 * v;
        double u[3];
        bo_store3(u, bo_mat_vec(own, bo_v3((double)X[0], (double)X[1], (double)X[2])));
        for (size_t k = 0; k < 3; k++)
            s->U[(3 * v + k) / 16 * r * 16 + (3 * v + k) % 16] = (float)u[k];
    }
    s->numbers = malloc((12 * r + 9) * sizeof(double) * (size_t)from->interface_count);
    for (int32_t i = 0; i < from->interface_count; i++) {
        double *translation = s->numbers + (size_t)i * (12 * r + 9), *A = translation + 3 * r;
        bo_mat3 A0;
        memcpy(translation, from->interfaces[i].translation, 3 * r * sizeof *translation);
        memcpy(A, from->interfaces[i].A, 9 * (r + 1) * sizeof *A);
        memcpy(A0.m, A, sizeof A0.m);
        A0 = bo_mat_mul(own, A0);
        memcpy(A + 9, A0.m, sizeof A0.m);
        bo_store3(translation, bo_mat_vec(own, bo_load3(from->interfaces[i].centre)));
        s->faces[i] = from->interfaces[i];
        s->faces[i].translation = translation, s->faces[i].A = A;
    }
    s->c.surface.U = s->U, s->c.interfaces = s->faces;
}

/* Within the trunk's end. */
static int32_t find_inner_vertex(const cut *c) {
    const int32_t first = bough_tree_model_first_vertex(c->model, trunk);
    for (int32_t v = first; v < bough_tree_model_first_vertex(c->model, trunk + 1); v++) {
        const double *X = place_in_box(c, v);
        if (fabs(X[0] - 0.4) < 1e-6 && fabs(X[1] - 0.1) < 1e-6 && X[2] > 0.01 && X[2] < 0.29)
            return v - first;
    }
    return -1;
}

/* odd: one vertex of the trunk does not follow, as those do that are outside of the material. */
static void check_stretch(bool odd) {
    cut c = make_cut(1, R, false);
    const double G[3] = {0.5, -0.3, -0.3};
    stretched s[PARTS];
    const bough_component *components[PARTS];
    for (int i = 0; i < PARTS; i++) {
        stretch_component(&c, i, G, &s[i]);
        components[i] = &s[i].c;
    }
    const int32_t left_behind = find_inner_vertex(&c);
    check(left_behind >= 0);
    for (size_t k = 0; k < 3 * R && odd; k++) {
        const size_t i = 3 * (size_t)left_behind + k % 3;
        s[trunk].U[(i / 16 * R + k / 3) * 16 + i % 16] = 0;
    }
    bough_tree_model_def def = *bough_tree_model_describe(c.model);
    bough_tree_model *model;
    bough_tree_state *state;
    def.components = components;
    check_ok(c.ctx, bough_tree_model_create(c.ctx, &def, &model));
    check_ok(c.ctx, bough_tree_state_create(c.ctx, model, &state));
    check(model->surface->blend.joint_count == 2);
    for (int i = 0; i < PARTS; i++)
        state->q[bough_tree_model_offset(model, i)] = 0.4;
    state->continuity = BOUGH_CONTINUITY_C1;
    check_ok(c.ctx, bough_tree_state_update(c.ctx, model, state));
    float *x = malloc(3 * sizeof *x * (size_t)c.vertex_count);
    check_ok(c.ctx, bough_tree_state_surface(c.ctx, model, state, x, NULL));
    const double *origin = c.parts[trunk].position;
    for (int32_t v = 0; v < c.vertex_count; v++) {
        const double *X = place_in_box(&c, v);
        double y[3];
        for (int k = 0; k < 3; k++)
            y[k] = origin[k] + (1 + 0.4 * G[k]) * (X[k] - origin[k]);
        /* also where the odd one is, which would be 0.04 m away: the joint's polynomial hardly knows of it */
        check_below(distance3(x + 3 * v, bo_load3(y)), odd ? 4e-3 : 1e-6);
    }
    free(x);
    bough_tree_state_destroy(c.ctx, state);
    bough_tree_model_destroy(c.ctx, model);
    for (int i = 0; i < PARTS; i++)
        free(s[i].U), free(s[i].numbers);
    free_cut(&c);
}

static void a_stretch_of_the_whole_is_reproduced(void **unused) {
    (void)unused;
    check_stretch(false);
}

static void an_odd_vertex_does_not_bend_a_joint(void **unused) {
    (void)unused;
    check_stretch(true);
}

/* ---- what becomes continuous ---- */

/* Copies agree by themselves, before they are joined: they are one place of a continuous map. Three of them at once at
 * the edge where the limbs part. */
static void copies_meet_before_they_are_joined(void **unused) {
    (void)unused;
    cut c = make_cut(1, R, false);
    deform(&c, 0.05, 9);
    drawn d = draw_as(&c, BOUGH_CONTINUITY_NONE);
    bo_tree_move_fillets(c.ctx, c.model, c.state);
    double before = 0;
    for (int pass = 0; pass < 2; pass++) {
        for (int i = 0; i < PARTS && pass == 1; i++) {
            const size_t count = 3 * (size_t)c.components[i]->surface.vertex_count;
            float *x = malloc((count + 16) * sizeof *x);
            bough_component_surface_positions(c.components[i], c.state->q + bough_tree_model_offset(c.model, i), x);
            bo_tree_blend_part(c.model, c.state, &c.model->parts[c.model->inside[i]], x,
                               d.positions + 3 * bough_tree_model_first_vertex(c.model, i));
            free(x);
        }
        double gap = 0;
        for (int32_t a = 0; a < c.vertex_count; a++)
            for (int32_t b = 0; b < a; b++) {
                const float *y = d.positions + 3 * b;
                if (together(&c, a, b))
                    gap = fmax(gap, distance3(d.positions + 3 * a, bo_v3((double)y[0], (double)y[1], (double)y[2])));
            }
        before = pass == 0 ? gap : before;
        check(pass == 0 ? gap > 1e-3 : gap < 1e-6);
    }
    bough_tree_gap measured;
    check_ok(c.ctx, bough_tree_state_gap(c.ctx, c.model, c.state, &measured));
    check(measured.distance > 1e-3 && measured.distance < before * (1 + 1e-4));
    free_drawn(&d);
    free_cut(&c);
}

/* One-sided differences of second order at a place of the interface. */
static bo_mat3 gradient(const cut *c, int32_t joint, bool child, bool blended, bo_vec3 X) {
    const bo_tree_fillet *j = &c->model->surface->blend.joints[joint];
    const double h = 1e-3 * j->width;
    bo_mat3 F;
    for (int k = 0; k < 3; k++) {
        /* all steps stay on the side that is asked for */
        bo_vec3 along = bo_v3(k == 0, k == 1, k == 2);
        const double out = bo_dot(along, j->normal);
        along = bo_scale((child ? h : -h) * (out < 0 ? -1 : 1), along);
        const bo_vec3 x0 = bo_tree_fillet_motion(c->model, c->state, joint, child, blended, X);
        const bo_vec3 x1 = bo_tree_fillet_motion(c->model, c->state, joint, child, blended, bo_add(X, along));
        const bo_vec3 x2 = bo_tree_fillet_motion(c->model, c->state, joint, child, blended, bo_mul_add(X, 2, along));
        const bo_vec3 d = bo_scale(0.5 / bo_dot(along, bo_v3(k == 0, k == 1, k == 2)),
                                   bo_sub(bo_sub(bo_scale(4, x1), bo_scale(3, x0)), x2));
        F.m[k] = d.x, F.m[3 + k] = d.y, F.m[6 + k] = d.z;
    }
    return F;
}

static void gradients_are_continuous_across_the_interface(void **unused) {
    (void)unused;
    cut c = make_cut(1, R, false);
    deform(&c, 0.05, 4);
    drawn d = draw_as(&c, BOUGH_CONTINUITY_C1);
    test_random random = {8};
    double kink = 0;
    for (int32_t joint = 0; joint < 2; joint++)
        for (int i = 0; i < 20; i++) {
            const bo_tree_fillet *j = &c.model->surface->blend.joints[joint];
            bo_vec3 X = bo_v3(test_uniform(&random, -0.15, 0.15), test_uniform(&random, -0.15, 0.15),
                              test_uniform(&random, -0.15, 0.15));
            X = bo_mul_add(X, -bo_dot(X, j->normal), j->normal);
            check_below(bo_norm(bo_sub(bo_tree_fillet_motion(c.model, c.state, joint, true, true, X),
                                       bo_tree_fillet_motion(c.model, c.state, joint, false, true, X))),
                        1e-12);
            for (int k = 0; k < 9; k++) {
                check_near(gradient(&c, joint, true, true, X).m[k], gradient(&c, joint, false, true, X).m[k], 1e-7);
                kink = fmax(kink,
                            fabs(gradient(&c, joint, true, false, X).m[k] - gradient(&c, joint, false, false, X).m[k]));
            }
        }
    check(kink > 0.02); /* of the parts by themselves */
    free_drawn(&d);
    free_cut(&c);
}

/* On the child's side of the interface, where its vertices are, a joint follows the child. */
static void joints_follow_each_part_on_its_side(void **unused) {
    (void)unused;
    cut c = make_cut(1, R, false);
    for (int32_t k = 0; k < c.model->surface->blend.joint_count; k++) {
        const bo_tree_fillet *joint = &c.model->surface->blend.joints[k];
        const bo_tree_part *child = &c.model->parts[c.model->inside[joint->child]];
        const bough_surface *surface = &c.model->components[child->component].c->surface;
        bo_vec3 middle = {0, 0, 0};
        for (size_t v = 0; v < (size_t)surface->vertex_count; v++) {
            const float *x = surface->position + 3 * v;
            middle =
                bo_mul_add(middle, 1.0 / surface->vertex_count,
                           bo_sub(bo_v3((double)x[0], (double)x[1], (double)x[2]), bo_load3(joint->above->centre)));
        }
        check(bo_dot(joint->normal, middle) > 0.1);
        const bo_vec3 inwards = bo_scale(0.9 * (joint->plateau + joint->width), joint->normal);
        check(bo_tree_child_share(joint, inwards) > 0.9 && bo_tree_child_share(joint, bo_scale(-1, inwards)) < 0.1);
    }
    free_cut(&c);
}

/* Weights and their first two derivatives do not jump where they begin and end. */
static void weights_are_smooth(void **unused) {
    (void)unused;
    const bo_tree_fillet joint = {.cut = true, .normal = {0, 0, 1}, .plateau = 0.1, .width = 0.5, .reach = 1};
    const double h = 1e-3;
    double last[2] = {0}, jump = 0, steepest = 0;
    for (int path = 0; path < 2; path++)
        for (int i = -2000; i < 2000; i++) {
            double value[3][2];
            for (int k = 0; k < 3; k++) {
                const double s = h * (i + k - 1);
                const bo_vec3 X = path ? bo_v3(s, 0, 0.2) : bo_v3(0.3, 0, s);
                value[k][0] = bo_tree_fillet_weight(&joint, X), value[k][1] = bo_tree_child_share(&joint, X);
            }
            for (int k = 0; k < 2; k++) {
                const double second = (value[0][k] - 2 * value[1][k] + value[2][k]) / (h * h);
                jump = fmax(jump, i > -2000 ? fabs(second - last[k]) : 0);
                steepest = fmax(steepest, fabs(second));
                last[k] = second;
            }
        }
    check(steepest > 5);
    check_below(jump, 1); /* 60 / width^3 h, where second derivatives begin */
    check_near(bo_tree_fillet_weight(&joint, bo_v3(0.5, 0, 0.05)), 1, 0);
    check_near(bo_tree_fillet_weight(&joint, bo_v3(0, 0, -0.6)), 0, 0);
    check_near(bo_tree_fillet_weight(&joint, bo_v3(1.5, 0, 0)), 0, 0);
    check_near(bo_tree_child_share(&joint, bo_v3(0.7, 0, 0)), 0.5, 1e-15);
}

/* Normals are those of the triangles that are drawn, of all parts that meet in a place. */
static void normals_are_those_of_what_is_drawn(void **unused) {
    (void)unused;
    cut c = make_cut(1, R, false);
    deform(&c, 0.05, 17);
    drawn d = draw_as(&c, BOUGH_CONTINUITY_C1);
    bo_vec3 *area = calloc((size_t)c.vertex_count, sizeof *area);
    int32_t *triangles = malloc(3 * sizeof *triangles * (size_t)bough_tree_model_triangle_count(c.model));
    bough_tree_model_triangles(c.model, triangles);
    for (int32_t t = 0; t < bough_tree_model_triangle_count(c.model); t++) {
        bo_vec3 x[3];
        for (int k = 0; k < 3; k++) {
            const float *p = d.positions + 3 * triangles[3 * t + k];
            x[k] = bo_v3((double)p[0], (double)p[1], (double)p[2]);
        }
        for (int k = 0; k < 3; k++) {
            bo_vec3 *sum = &area[triangles[3 * t + k]];
            *sum = bo_add(*sum, bo_cross(bo_sub(x[1], x[0]), bo_sub(x[2], x[0])));
        }
    }
    int compared = 0;
    for (int32_t a = 0; a < c.vertex_count; a++) {
        bo_vec3 sum = {0, 0, 0};
        for (int32_t b = 0; b < c.vertex_count; b++)
            if (together(&c, a, b))
                sum = bo_add(sum, area[b]);
        if (bo_norm(sum) < 1e-3) /* inside, where cut faces cancel */
            continue;
        check_below(distance3(d.normals + 3 * a, bo_normalize(sum)), 1e-4);
        compared++;
    }
    check(compared > c.vertex_count * 3 / 4);
    free(area), free(triangles);
    free_drawn(&d);
    free_cut(&c);
}

/* A limb has a share in the other's joint where it is near its own cut, and loses it sooner than that in its own. */
static void neighbours_share_at_the_cut_only(void **unused) {
    (void)unused;
    cut c = make_cut(1, R, false);
    const bo_tree_blend *blend = &c.model->surface->blend;
    int shared = 0;
    for (int32_t part = 0; part < PARTS; part++)
        for (int32_t i = blend->part_first[part]; i < blend->part_first[part + 1] && part != trunk; i++) {
            double own = 0, other = 0;
            for (int32_t k = blend->share_first[i]; k < blend->share_first[i + 1]; k++)
                *(blend->joints[blend->shares[k].joint].child == part ? &own : &other) =
                    (double)blend->shares[k].weight;
            check(other <= own * own + 1e-6);
            shared += other > 0;
        }
    check(shared >= 20);
    free_cut(&c);
}

/* ---- parts that share no vertices with what they hang on ---- */

/* Finds the new place of a point (y, z) of the trunk's end, by the triangle that it is in. False when it is in none. */
static bool move_with_trunk(const cut *c, const float *x, double y, double z, bo_vec3 *at) {
    const bough_surface *surface = &c->components[trunk]->surface;
    const int32_t first = bough_tree_model_first_vertex(c->model, trunk);
    for (int32_t t = 0; t < surface->triangle_count; t++) {
        const int32_t *corner = surface->triangles + 3 * t;
        const double *X[3];
        bool end = true;
        for (int k = 0; k < 3; k++) {
            X[k] = place_in_box(c, first + corner[k]);
            end = end && fabs(X[k][0] - 0.4) < 1e-9;
        }
        const double area = (X[1][1] - X[0][1]) * (X[2][2] - X[0][2]) - (X[2][1] - X[0][1]) * (X[1][2] - X[0][2]);
        const double b = ((y - X[0][1]) * (X[2][2] - X[0][2]) - (X[2][1] - X[0][1]) * (z - X[0][2])) / area;
        const double d = ((X[1][1] - X[0][1]) * (z - X[0][2]) - (y - X[0][1]) * (X[1][2] - X[0][2])) / area;
        if (!end || !(b >= 0 && d >= 0 && b + d <= 1))
            continue;
        const double part[3] = {1 - b - d, b, d};
        *at = bo_v3(0, 0, 0);
        for (int k = 0; k < 3; k++) {
            const float *p = x + 3 * (first + corner[k]);
            *at = bo_mul_add(*at, part[k], bo_v3((double)p[0], (double)p[1], (double)p[2]));
        }
        return true;
    }
    return false;
}

/* One limb, turned a little about its axis so that no vertices coincide: its foot stays where it is on the end of the
 * trunk, which is not blended itself. */
static void what_is_planted_follows_the_surface(void **unused) {
    (void)unused;
    cut c = make_cut(1, R, false);
    const int32_t limb = 0;
    bough_part_def parts[2] = {c.parts[trunk], c.parts[limb]};
    const bo_mat3 turned = bo_mat_tmul(c.axes[trunk], bo_mat_mul(turn(0.3, 0), c.axes[limb]));
    memcpy(parts[1].rotation, turned.m, sizeof turned.m);
    parts[1].parent = 0;
    bough_tree_model_def def = *bough_tree_model_describe(c.model);
    def.part_count = 2, def.parts = parts;
    bough_tree_model *model;
    bough_tree_state *state;
    check_ok(c.ctx, bough_tree_model_create(c.ctx, &def, &model));
    check_ok(c.ctx, bough_tree_state_create(c.ctx, model, &state));
    check_int(model->surface->blend.joint_count, 1);
    check(!model->surface->blend.joints[0].cut);
    const int32_t count = bough_tree_model_vertex_count(model), first = bough_tree_model_first_vertex(model, 1);
    const int32_t trunk_first = bough_tree_model_first_vertex(c.model, trunk);
    float *rest = malloc(9 * sizeof *rest * (size_t)count), *apart = rest + 3 * count, *smooth = apart + 3 * count;
    float *whole = calloc(3 * (size_t)c.vertex_count, sizeof *whole);
    check_ok(c.ctx, bough_tree_state_surface(c.ctx, model, state, rest, NULL));
    deform(&c, 0.05, 14);
    memcpy(state->q, c.state->q + bough_tree_model_offset(c.model, trunk), R * sizeof(double));
    memcpy(state->q + R, c.state->q + bough_tree_model_offset(c.model, limb), R * sizeof(double));
    check_ok(c.ctx, bough_tree_state_update(c.ctx, model, state));
    state->continuity = BOUGH_CONTINUITY_NONE;
    check_ok(c.ctx, bough_tree_state_surface(c.ctx, model, state, apart, NULL));
    state->continuity = BOUGH_CONTINUITY_C1;
    check_ok(c.ctx, bough_tree_state_surface(c.ctx, model, state, smooth, NULL));
    check(memcmp(apart, smooth, 3 * sizeof(float) * (size_t)first) == 0);
    memcpy(whole + 3 * trunk_first, apart, 3 * sizeof(float) * (size_t)first);
    double before = 0, after = 0;
    int feet = 0;
    for (int32_t v = first; v < count; v++) {
        bo_vec3 at;
        if (fabs((double)rest[3 * v] - 0.4) > 1e-5 ||
            !move_with_trunk(&c, whole, (double)rest[3 * v + 1], (double)rest[3 * v + 2], &at))
            continue;
        before += pow(distance3(apart + 3 * v, at), 2), after += pow(distance3(smooth + 3 * v, at), 2);
        feet++;
    }
    check(feet >= 8);
    check(sqrt(before / feet) > 1e-3);
    check_below(sqrt(after / before), 0.3);
    free(rest), free(whole);
    bough_tree_state_destroy(c.ctx, state);
    bough_tree_model_destroy(c.ctx, model);
    free_cut(&c);
}

/* ---- the gap ---- */

static void the_gap_is_that_of_doubles(void **unused) {
    (void)unused;
    cut c = make_cut(1, R, false);
    deform(&c, 0.05, 12);
    const size_t size = 3 * sizeof(double) * (size_t)c.vertex_count;
    double *x = malloc(size), *n = malloc(size), largest = 0;
    int32_t part = -1, count = 0;
    compute_apart(&c, x, n);
    for (int32_t a = 0; a < c.vertex_count; a++)
        for (int32_t b = 0; b < c.vertex_count; b++) {
            if (part_of_vertex(&c, a) == trunk || part_of_vertex(&c, b) != trunk || !together(&c, a, b))
                continue;
            const double distance = bo_norm(bo_sub(bo_load3(x + 3 * a), bo_load3(x + 3 * b)));
            part = distance > largest ? part_of_vertex(&c, a) : part;
            largest = fmax(largest, distance);
            count++;
        }
    bough_tree_gap gap;
    check_ok(c.ctx, bough_tree_state_gap(c.ctx, c.model, c.state, &gap));
    check_near(gap.distance, largest, 1e-6);
    check_int(gap.part, part);
    check_int(gap.count, count);
    check_near(gap.relative * sqrt((0.2 * 0.2 + 0.3 * 0.3) / 12), gap.distance, 0.2 * gap.distance);
    check(fabs(place_in_box(&c, bough_tree_model_first_vertex(c.model, part) + gap.vertex)[0] - 0.4) < 1e-9);
    free(x), free(n);
    free_cut(&c);
}

/* ---- open seams ---- */

/* A limb whose seam is open is drawn as it is, and the others as if it had never been there. */
static void open_seams_part(void **unused) {
    (void)unused;
    cut c = make_cut(1, R, false);
    deform(&c, 0.05, 5);
    const int32_t limb = 0, other = 2;
    bough_part_def parts[2] = {c.parts[trunk], c.parts[other]};
    parts[1].parent = 0;
    bough_tree_model_def def = *bough_tree_model_describe(c.model);
    bough_tree_model *without;
    bough_tree_state *state;
    def.part_count = 2, def.parts = parts;
    check_ok(c.ctx, bough_tree_model_create(c.ctx, &def, &without));
    check_ok(c.ctx, bough_tree_state_create(c.ctx, without, &state));
    memcpy(state->q, c.state->q + bough_tree_model_offset(c.model, trunk), R * sizeof(double));
    memcpy(state->q + R, c.state->q + bough_tree_model_offset(c.model, other), R * sizeof(double));
    check_ok(c.ctx, bough_tree_state_update(c.ctx, without, state));
    const int32_t vertices = bough_tree_model_vertex_count(without),
                  first[2] = {bough_tree_model_first_vertex(c.model, trunk),
                              bough_tree_model_first_vertex(c.model, other)};
    float *x = malloc(6 * sizeof *x * (size_t)vertices), *n = x + 3 * vertices;
    drawn apart = draw_as(&c, BOUGH_CONTINUITY_NONE);
    for (int kind = BOUGH_CONTINUITY_C0; kind <= BOUGH_CONTINUITY_C1; kind++) {
        drawn closed = draw_as(&c, (bough_continuity)kind);
        bo_tree_open_seam(c.model, c.state, limb, true);
        drawn open = draw_as(&c, (bough_continuity)kind);
        bo_tree_open_seam(c.model, c.state, limb, false);
        drawn again = draw_as(&c, (bough_continuity)kind);
        check(memcmp(closed.positions, again.positions, 3 * sizeof(float) * (size_t)c.vertex_count) == 0);
        check(memcmp(closed.normals, again.normals, 3 * sizeof(float) * (size_t)c.vertex_count) == 0);
        int changed = 0;
        for (int32_t v = bough_tree_model_first_vertex(c.model, limb);
             v < bough_tree_model_first_vertex(c.model, limb + 1); v++) {
            check(same_vertex(&open, &apart, v));
            changed += !same_vertex(&open, &closed, v);
        }
        check(changed >= (kind == BOUGH_CONTINUITY_C0 ? 12 : 20));
        state->continuity = (bough_continuity)kind;
        check_ok(c.ctx, bough_tree_state_surface(c.ctx, without, state, x, n));
        for (int i = 0; i < 2; i++)
            for (int32_t v = bough_tree_model_first_vertex(without, i), to = first[i];
                 v < (i ? vertices : bough_tree_model_first_vertex(without, 1)); v++, to++) {
                const float *y = open.positions + 3 * to, *m = open.normals + 3 * to;
                check_below(distance3(x + 3 * v, bo_v3((double)y[0], (double)y[1], (double)y[2])), 2e-6);
                check_below(distance3(n + 3 * v, bo_v3((double)m[0], (double)m[1], (double)m[2])), 1e-4);
            }
        free_drawn(&closed), free_drawn(&open), free_drawn(&again);
    }
    bough_tree_gap gap;
    bo_tree_open_seam(c.model, c.state, limb, true);
    check_ok(c.ctx, bough_tree_state_gap(c.ctx, c.model, c.state, &gap));
    check_int(gap.part, other);
    check_int(gap.count, 12);
    free_drawn(&apart);
    free(x);
    bough_tree_state_destroy(c.ctx, state);
    bough_tree_model_destroy(c.ctx, without);
    free_cut(&c);
}

/* ---- where it cannot be ---- */

/* Surfaces in a plane do not tell how the space around them moves: their joints are C0. */
static void flat_surfaces_stay_c0(void **unused) {
    (void)unused;
    cut c = make_cut(1, R, false);
    bough_component flat = *c.components[0];
    const size_t count = 3 * (size_t)flat.surface.vertex_count;
    float *positions = malloc(count * sizeof *positions);
    const bo_mat3 axes = c.axes[0];
    for (size_t v = 0; v < count; v += 3) { /* all at z = 0 of the box */
        const float *X = flat.surface.position + v;
        bo_vec3 x = bo_mat_vec(axes, bo_v3((double)X[0], (double)X[1], (double)X[2]));
        double y[3];
        bo_store3(y, bo_mat_tvec(axes, bo_v3(x.x, x.y, 0)));
        for (size_t k = 0; k < 3; k++)
            positions[v + k] = (float)y[k];
    }
    flat.surface.position = positions;
    const bough_component *components[PARTS] = {&flat, c.components[1], c.components[2]};
    bough_tree_model_def def = *bough_tree_model_describe(c.model);
    bough_tree_model *model;
    def.components = components;
    check_ok(c.ctx, bough_tree_model_create(c.ctx, &def, &model));
    for (int32_t i = 0; i < model->surface->blend.joint_count; i++)
        check(model->surface->blend.joints[i].child != 0 || !model->surface->blend.joints[i].cut);
    bough_tree_model_destroy(c.ctx, model);
    free(positions);
    free_cut(&c);
}

static void what_is_none_is_refused(void **unused) {
    (void)unused;
    cut c = make_cut(1, R, false);
    float *x = malloc(3 * sizeof *x * (size_t)c.vertex_count);
    c.state->continuity = (bough_continuity)7;
    check_int(bough_tree_state_surface(c.ctx, c.model, c.state, x, NULL), BOUGH_ERROR_ARGUMENT);
    free(x);
    free_cut(&c);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(rest_is_kept_in_any_pose),
        cmocka_unit_test(far_vertices_are_left_alone),
        cmocka_unit_test(a_stretch_of_the_whole_is_reproduced),
        cmocka_unit_test(an_odd_vertex_does_not_bend_a_joint),
        cmocka_unit_test(what_is_planted_follows_the_surface),
        cmocka_unit_test(copies_meet_before_they_are_joined),
        cmocka_unit_test(gradients_are_continuous_across_the_interface),
        cmocka_unit_test(joints_follow_each_part_on_its_side),
        cmocka_unit_test(weights_are_smooth),
        cmocka_unit_test(normals_are_those_of_what_is_drawn),
        cmocka_unit_test(neighbours_share_at_the_cut_only),
        cmocka_unit_test(the_gap_is_that_of_doubles),
        cmocka_unit_test(open_seams_part),
        cmocka_unit_test(flat_surfaces_stay_c0),
        cmocka_unit_test(what_is_none_is_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
