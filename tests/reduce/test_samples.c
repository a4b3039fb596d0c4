/* Samples of wind, contact and stress, the surface to draw and the volume: what they stand for is what the mesh says.
 */
#include "cooked.h"

#include "fem/body.h"
#include "mesh/mesh.h"

enum { R = 6 };

typedef struct {
    bough_context *ctx;
    bough_body *body;
    bar_ends ends;
    bough_cook_def def;
    bough_component *c;
    bough_mesh *surface; /* boundary */
    int32_t *vertex_map;
} fixture;

static void prepare(fixture *f, bough_element_type type) {
    bar_def bar = default_bar();
    *f = (fixture){.ctx = test_context(1)};
    bar.type = type;
    bar.cells[0] = 5;
    f->body = make_bar(f->ctx, bar);
    f->ends = find_ends(f->ctx, f->body);
    f->def = bar_cook_def(&f->ends, R);
    check_ok(f->ctx, bough_mesh_surface(f->ctx, bough_body_mesh(f->body), &f->surface, &f->vertex_map, NULL));
}

static void cook_fixture(fixture *f) {
    bough_component_destroy(f->ctx, f->c);
    check_ok(f->ctx, bough_cook(f->ctx, f->body, NULL, &f->def, NULL, &f->c));
}

static void clean(fixture *f) {
    bough_component_destroy(f->ctx, f->c);
    bough_mesh_destroy(f->ctx, f->surface);
    bough_release(f->ctx, f->vertex_map);
    free_ends(f->ctx, &f->ends);
    bough_body_destroy(f->ctx, f->body);
    bough_context_destroy(f->ctx);
}

static bo_vec3 vertex(const fixture *f, int32_t triangle, int c) {
    return bo_load3(f->surface->vertices + 3 * f->surface->elements[3 * triangle + c]);
}
static double area_of(const fixture *f, int32_t t) {
    bo_vec3 a = vertex(f, t, 0);
    return 0.5 * bo_norm(bo_cross(bo_sub(vertex(f, t, 1), a), bo_sub(vertex(f, t, 2), a)));
}

/* sum over clusters of U^T area = consistent nodal forces of a unit traction along `axis` on the whole surface. */
static void check_uniform_traction(const fixture *f, int axis) {
    const bough_component *c = f->c;
    double exact[R] = {0}, sampled[R] = {0};
    for (int32_t t = 0; t < f->surface->element_count; t++)
        for (int k = 0; k < 3; k++) {
            size_t v = (size_t)f->vertex_map[f->surface->elements[3 * t + k]];
            for (int l = 0; l < R; l++)
                exact[l] += area_of(f, t) / 3 * c->volume.U[(3 * v + (size_t)axis) * R + (size_t)l];
        }
    for (int32_t k = 0; k < c->wind.count; k++)
        for (int l = 0; l < R; l++)
            sampled[l] += c->wind.area[k] * c->wind.U[(3 * k + axis) * R + l];
    check_below(relative(R, sampled, 1, exact), 1e-12);
}

static void wind_samples_stand_for_the_surface(void **state) {
    (void)state;
    for (int type = BOUGH_TET4; type <= BOUGH_HEX8; type++) {
        fixture f;
        prepare(&f, (bough_element_type)type);
        f.def.wind_count = 14;
        cook_fixture(&f);
        const bough_sample_points *wind = &f.c->wind;
        double area = 0, total = 0, sum[3] = {0}, centre[3] = {0}, exact[3] = {0};
        check_int(wind->count, 14);
        for (int32_t t = 0; t < f.surface->element_count; t++) {
            total += area_of(&f, t);
            for (int k = 0; k < 3; k++)
                for (int d = 0; d < 3; d++)
                    exact[d] += area_of(&f, t) / 3 * f.surface->vertices[3 * f.surface->elements[3 * t + k] + d];
        }
        for (int32_t k = 0; k < wind->count; k++) {
            area += wind->area[k];
            /* Clusters face one way: the area vector is not much shorter than the area. */
            check(norm_of(3, wind->normal + 3 * k) > 0.6 * wind->area[k]);
            check(norm_of(3, wind->normal + 3 * k) <= wind->area[k] * (1 + 1e-12));
            for (int d = 0; d < 3; d++) {
                sum[d] += wind->normal[3 * k + d];
                centre[d] += wind->area[k] * (wind->position[3 * k + d] + f.c->origin[d]);
            }
        }
        check_near(area, total, 1e-12 * total);
        for (int d = 0; d < 3; d++) {
            check_near(sum[d], 0, 1e-12 * total);
            check_near(centre[d], exact[d], 1e-12 * total);
            check_uniform_traction(&f, d);
        }
        clean(&f);
    }
}

/* The two sides of a thin plate are never one sample. */
static void sides_of_a_leaf_are_apart(void **state) {
    (void)state;
    fixture f;
    bar_def bar = default_bar();
    bar.type = BOUGH_HEX8, bar.poisson = 0.3;
    bar.size[1] = 0.5, bar.size[2] = 0.005;
    bar.cells[0] = 8, bar.cells[1] = 4, bar.cells[2] = 1;
    f = (fixture){.ctx = test_context(1)};
    f.body = make_bar(f.ctx, bar);
    f.ends = find_ends(f.ctx, f.body);
    f.def = bar_cook_def(&f.ends, R);
    cook_fixture(&f);
    double facing = 0;
    for (int32_t k = 0; k < f.c->wind.count; k++)
        facing += fabs(f.c->wind.normal[3 * k + 2]);
    check_near(facing, 2 * 0.5, 1e-9);
    clean(&f);
}

static void contact_samples_lie_on_the_boundary(void **state) {
    (void)state;
    for (int type = BOUGH_TET4; type <= BOUGH_HEX8; type++) {
        fixture f;
        prepare(&f, (bough_element_type)type);
        f.def.contact_count = 30;
        cook_fixture(&f);
        const bough_sample_points *contact = &f.c->contact;
        const double middle[3] = {0.5, 0.1, 0.125}, half[3] = {0.5, 0.1, 0.125};
        check_int(contact->count, 30);
        check(!contact->area);
        for (int32_t k = 0; k < contact->count; k++) {
            check_near(norm_of(3, contact->normal + 3 * k), 1, 1e-12);
            double outward = 0;
            size_t found = SIZE_MAX;
            for (int d = 0; d < 3; d++) {
                double off = contact->position[3 * k + d] + f.c->origin[d] - middle[d];
                /* Normals point out of the faces on which the vertex lies, and along no others. */
                bool on_face = fabs(fabs(off) - half[d]) < 1e-9;
                check(on_face ? contact->normal[3 * k + d] * off > 0 : fabs(contact->normal[3 * k + d]) < 1e-12);
                outward += on_face;
            }
            check(outward > 0);
            for (size_t v = 0; v < (size_t)f.c->volume.vertex_count && found == SIZE_MAX; v++)
                if (memcmp(f.c->volume.position + 3 * v, contact->position + 3 * k, 3 * sizeof(double)) == 0)
                    found = v;
            check(found != SIZE_MAX);
            check(memcmp(f.c->volume.U + 3 * R * found, contact->U + 3 * R * k, 3 * R * sizeof(double)) == 0);
        }
        f.def.contact_count = f.def.wind_count = 100000; /* more than there are: all */
        cook_fixture(&f);
        check_int(f.c->contact.count, f.surface->vertex_count);
        check_int(f.c->wind.count, f.surface->element_count);
        check_uniform_traction(&f, 2);
        f.def.contact_count = f.def.wind_count = f.def.stress_count = f.def.field_count = 0;
        cook_fixture(&f);
        check_int(f.c->field.count, 0);
        check_int(f.c->contact.count, 0);
        check_int(f.c->wind.count, 0);
        check_int(f.c->stress.count, 0);
        clean(&f);
    }
}

/* At a stress point the component's stress is that of the full body's element. */
static void stress_points_show_the_body(void **state) {
    (void)state;
    fixture f;
    prepare(&f, BOUGH_TET4);
    const int32_t given[2] = {3, 40};
    f.def.stress_elements = given, f.def.stress_element_count = 2;
    f.def.stress_count = 10;
    cook_fixture(&f);
    const bough_material_points *stress = &f.c->stress;
    check_int(stress->count, 12);
    check(stress->element[0] == 3 && stress->element[1] == 40);
    double q[R] = {0.05, -0.03, 0.02}, *u = calloc(3 * (size_t)f.c->volume.vertex_count, sizeof *u);
    double *full = calloc(6 * (size_t)f.c->volume.element_count, sizeof *full), largest = 0, s[6], highest = 0;
    displace(f.c, q, u);
    double *mises = calloc((size_t)f.c->volume.element_count, sizeof *mises);
    check_ok(f.ctx, bough_body_stress(f.ctx, f.body, u, full, mises));
    for (int32_t e = 0; e < f.c->volume.element_count; e++)
        largest = fmax(largest, mises[e]);
    for (int32_t i = 0; i < stress->count; i++) {
        double m;
        check(bough_component_stress(f.c, i, q, s, &m));
        for (int k = 0; k < 6; k++)
            check_near(s[k], full[6 * stress->element[i] + k], 1e-12 * largest);
        highest = fmax(highest, m);
        const int32_t *nodes = f.c->volume.elements + 4 * stress->element[i];
        for (int d = 0; d < 3; d++) {
            double mean = 0;
            for (int a = 0; a < 4; a++)
                mean += 0.25 * f.c->volume.position[3 * nodes[a] + d];
            check_near(stress->position[3 * i + d], mean, 1e-12);
        }
    }
    check(highest > 0.8 * largest); /* the first mode bends most: its place of highest stress is among them */
    const int32_t wrong[1] = {f.c->volume.element_count};
    bough_component *none;
    f.def.stress_elements = wrong, f.def.stress_element_count = 1;
    check_fails(f.ctx, bough_cook(f.ctx, f.body, NULL, &f.def, NULL, &none), BOUGH_ERROR_ARGUMENT, "does not exist");
    free(u), free(full), free(mises);
    clean(&f);
}

/* So it is where F varies within the element, however much; the point's place is the middle. None is chosen at the
 * interface that holds the component. */
static void stress_points_are_means_of_elements(void **state) {
    (void)state;
    static const bough_element_type types[] = {BOUGH_HEX8, BOUGH_TET10};
    for (int t = 0; t < 2; t++) {
        fixture f;
        prepare(&f, types[t]);
        f.def.stress_count = 12;
        cook_fixture(&f);
        const bough_material_points *stress = &f.c->stress;
        const int32_t nodes = bough_element_node_count(types[t]), corners = bough_element_corner_count(types[t]);
        double q[R] = {0.05, -0.03, 0.02}, *u = calloc(3 * (size_t)f.c->volume.vertex_count, sizeof *u);
        double *mises = calloc((size_t)f.c->volume.element_count, sizeof *mises), largest = 0;
        double *full = calloc(6 * (size_t)f.c->volume.element_count, sizeof *full);
        displace(f.c, q, u);
        check_ok(f.ctx, bough_body_stress(f.ctx, f.body, u, full, mises));
        for (int32_t e = 0; e < f.c->volume.element_count; e++)
            largest = fmax(largest, mises[e]);
        check_int(stress->count, 12);
        for (int32_t i = 0; i < stress->count; i++) {
            const int32_t e = stress->element[i], *corner = f.c->volume.elements + nodes * e;
            double m, s[6], middle[3] = {0};
            check(bough_component_stress(f.c, i, q, s, &m));
            check_near(m, mises[e], 1e-12 * largest);
            for (int k = 0; k < 6; k++)
                check_near(s[k], full[6 * e + k], 2e-12 * largest);
            for (int d = 0; d < 3; d++) {
                for (int a = 0; a < corners; a++)
                    middle[d] += f.c->volume.position[3 * corner[a] + d] / corners;
                check_near(stress->position[3 * i + d], middle[d], 1e-12);
            }
            for (int a = 0; a < corners; a++)
                check(f.c->volume.position[3 * corner[a]] > 1e-9);
        }
        free(u), free(mises), free(full);
        clean(&f);
    }
}

/* ---- surface and volume ---- */

/* Positions of the drawn surface at q against those of the volume's vertices. */
static double surface_error(const fixture *f, const double *q) {
    const bough_surface *surface = &f->c->surface;
    double *u = calloc(3 * (size_t)f->c->volume.vertex_count, sizeof *u), worst = 0;
    float *x = calloc(3 * (size_t)surface->vertex_count, sizeof *x);
    displace(f->c, q, u);
    bough_component_surface_positions(f->c, q, x);
    for (size_t v = 0; v < (size_t)surface->vertex_count; v++)
        for (size_t d = 0; d < 3; d++) {
            size_t at = 3 * (size_t)surface->mesh_vertex[v] + d;
            worst = fmax(worst, fabs((double)x[3 * v + d] - f->c->volume.position[at] - u[at]));
        }
    free(u), free(x);
    return worst;
}

/* Held at either end, where nothing moves, and free: then all vertices move, the first and the last included. */
static void surface_follows_the_basis(void **state) {
    (void)state;
    for (int k = 0; k < 9; k++) {
        fixture f;
        prepare(&f, (bough_element_type)(BOUGH_TET4 + k / 3));
        f.def.parent = k % 3 - 1;
        cook_fixture(&f);
        double q[R], bound = 0;
        test_random random = {1};
        for (int l = 0; l < R; l++)
            q[l] = test_uniform(&random, -0.1, 0.1);
        check_below(surface_error(&f, q), 2e-6);
        check(f.c->surface.U && !f.c->surface.U16);
        f.def.surface_int16 = true;
        cook_fixture(&f);
        check(!f.c->surface.U && f.c->surface.U16);
        for (int l = 0; l < R; l++) { /* so far that whole numbers are coarser than float */
            q[l] *= 100;
            bound += 0.5001 * (double)f.c->surface.scale[l] * fabs(q[l]);
        }
        check_below(surface_error(&f, q), bound + 1e-5);
        clean(&f);
    }
}

static int by_number(const void *a, const void *b) {
    const int32_t *x = a, *y = b;
    return (*x > *y) - (*x < *y);
}

/* The same triangles, in another order, turned the same way. */
static void surface_is_the_boundary(void **state) {
    (void)state;
    fixture f;
    prepare(&f, BOUGH_TET10);
    cook_fixture(&f);
    const bough_surface *surface = &f.c->surface;
    check_int(surface->vertex_count, f.surface->vertex_count);
    check_int(surface->triangle_count, f.surface->element_count);
    int32_t *seen = calloc((size_t)surface->vertex_count, sizeof *seen);
    memcpy(seen, surface->mesh_vertex, (size_t)surface->vertex_count * sizeof *seen);
    qsort(seen, (size_t)surface->vertex_count, sizeof *seen, by_number);
    check(memcmp(seen, f.vertex_map, (size_t)surface->vertex_count * sizeof *seen) == 0);
    free(seen);
    double volume = 0;
    for (int32_t t = 0; t < surface->triangle_count; t++) {
        bo_vec3 x[3];
        for (int c = 0; c < 3; c++) {
            const float *p = surface->position + 3 * surface->triangles[3 * t + c];
            x[c] = bo_v3((double)p[0], (double)p[1], (double)p[2]);
        }
        volume += bo_dot(x[0], bo_cross(x[1], x[2])) / 6;
    }
    check_near(volume, 1 * 0.2 * 0.25, 3e-8);
    clean(&f);
}

static void rigid_components_have_a_surface(void **state) {
    (void)state;
    fixture f;
    prepare(&f, BOUGH_HEX8);
    f.def.r = 0;
    cook_fixture(&f);
    check_int(f.c->surface.vertex_count, f.surface->vertex_count);
    check(!f.c->surface.U && !f.c->surface.U16);
    check(f.c->wind.count > 0 && f.c->contact.count > 0);
    clean(&f);
}

/* The boundary as a surface of its own, bound to the volume, moves like the boundary. */
static void bound_surface_moves_like_the_boundary(void **state) {
    (void)state;
    for (int type = BOUGH_TET4; type <= BOUGH_HEX8; type++) {
        fixture f;
        prepare(&f, (bough_element_type)type);
        f.def.surface = f.surface;
        cook_fixture(&f);
        const bough_surface *surface = &f.c->surface;
        const double q[R] = {0.05, -0.03, 0.02, 0.01, 0, 0.01};
        double *u = calloc(3 * (size_t)f.c->volume.vertex_count, sizeof *u);
        float *x = calloc(3 * (size_t)surface->vertex_count, sizeof *x);
        displace(f.c, q, u);
        bough_component_surface_positions(f.c, q, x);
        for (size_t i = 0; i < (size_t)surface->vertex_count; i++) {
            double nearest = INFINITY, moved[3] = {0};
            check_int(surface->mesh_vertex[i], -1);
            for (size_t v = 0; v < (size_t)f.c->volume.vertex_count; v++) {
                double distance = 0;
                for (size_t d = 0; d < 3; d++)
                    distance += pow(f.c->volume.position[3 * v + d] - (double)surface->position[3 * i + d], 2);
                for (size_t d = 0; d < 3 && distance < nearest; d++)
                    moved[d] = f.c->volume.position[3 * v + d] + u[3 * v + d];
                nearest = fmin(nearest, distance);
            }
            for (size_t d = 0; d < 3; d++)
                check_near((double)x[3 * i + d], moved[d], 2e-6);
        }
        free(u), free(x);
        clean(&f);
    }
}

/* A motion that is linear in space is shown exactly by any surface inside of the volume. */
static void bound_surface_shows_linear_motion(void **state) {
    (void)state;
    for (int type = BOUGH_TET4; type <= BOUGH_HEX8; type++) {
        fixture f;
        prepare(&f, (bough_element_type)type);
        bar_def fine = default_bar();
        fine.cells[0] = 11, fine.cells[1] = fine.cells[2] = 3;
        bough_body *other = make_bar(f.ctx, fine);
        bough_mesh *surface;
        check_ok(f.ctx, bough_mesh_surface(f.ctx, bough_body_mesh(other), &surface, NULL, NULL));
        const bough_mesh *mesh = bough_body_mesh(f.body);
        double *column = calloc(3 * (size_t)mesh->vertex_count, sizeof *column);
        for (size_t v = 0; v < (size_t)mesh->vertex_count; v++)
            column[3 * v + 1] = mesh->vertices[3 * v];
        f.def.basis = BOUGH_BASIS_COLUMNS, f.def.columns = column, f.def.column_count = 1, f.def.r = 1;
        f.def.surface = surface;
        cook_fixture(&f);
        float *x = calloc(3 * (size_t)surface->vertex_count, sizeof *x);
        double largest = 0;
        for (size_t i = 0; i < 3 * (size_t)f.c->volume.vertex_count; i++)
            if (fabs(f.c->volume.U[i]) > fabs(largest))
                largest = f.c->volume.U[i];
        const double q = 0.1 / largest;
        bough_component_surface_positions(f.c, &q, x);
        for (size_t v = 0; v < (size_t)surface->vertex_count; v++) {
            const float *rest = f.c->surface.position + 3 * v;
            double along = (double)rest[0] + f.c->origin[0];
            check_near((double)x[3 * v], (double)rest[0], 1e-6);
            check_near((double)x[3 * v + 1], (double)rest[1] + 0.1 * along, 1e-6);
        }
        free(x), free(column);
        bough_mesh_destroy(f.ctx, surface);
        bough_body_destroy(f.ctx, other);
        clean(&f);
    }
}

/* Vertex `end` of the wire at q: on the surface or behind it. */
static void wire_place(const bough_component *c, int32_t end, const float *surface, const double *q, double x[3]) {
    const size_t behind = (size_t)(end - c->surface.vertex_count);
    for (size_t d = 0; d < 3; d++) {
        if (end < c->surface.vertex_count) {
            x[d] = (double)surface[3 * (size_t)end + d];
            continue;
        }
        x[d] = (double)c->wire.position[3 * behind + d];
        for (size_t l = 0; l < (size_t)c->r; l++)
            x[d] += q[l] * (double)c->wire.U[(3 * behind + d) * (size_t)c->r + l];
    }
}

/* For a surface that is the boundary and for one that is bound: the edges of the mesh, where U has their ends. */
static void the_wire_is_the_volume_mesh(void **state) {
    (void)state;
    for (int k = 0; k < 6; k++) {
        fixture f;
        prepare(&f, (bough_element_type)(BOUGH_TET4 + k / 2));
        f.def.surface = k % 2 ? f.surface : NULL;
        cook_fixture(&f);
        const bough_component_volume *volume = &f.c->volume;
        const double q[R] = {0.05, -0.03, 0.02, 0.01, 0, 0.01};
        float *drawn = calloc(3 * (size_t)f.c->surface.vertex_count, sizeof *drawn);
        int32_t *edges, count;
        double worst = 0;
        check_ok(f.ctx, bough_mesh_edges(f.ctx, bough_body_mesh(f.body), &edges, &count));
        bough_component_surface_positions(f.c, q, drawn);
        check_int(f.c->wire.edge_count, count);
        check_int(f.c->wire.vertex_count, volume->vertex_count - (k % 2 ? 0 : f.surface->vertex_count));
        for (int32_t i = 0; i < 2 * count; i++) {
            double x[3];
            wire_place(f.c, f.c->wire.edges[i], drawn, q, x);
            for (size_t d = 0; d < 3; d++) {
                const size_t at = 3 * (size_t)edges[i] + d;
                double y = volume->position[at];
                for (size_t l = 0; l < R; l++)
                    y += q[l] * volume->U[at * R + l];
                worst = fmax(worst, fabs(x[d] - y));
            }
        }
        check_below(worst, 2e-6);
        bough_release(f.ctx, edges);
        free(drawn);
        clean(&f);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(wind_samples_stand_for_the_surface),
        cmocka_unit_test(sides_of_a_leaf_are_apart),
        cmocka_unit_test(contact_samples_lie_on_the_boundary),
        cmocka_unit_test(stress_points_show_the_body),
        cmocka_unit_test(stress_points_are_means_of_elements),
        cmocka_unit_test(surface_follows_the_basis),
        cmocka_unit_test(surface_is_the_boundary),
        cmocka_unit_test(rigid_components_have_a_surface),
        cmocka_unit_test(bound_surface_moves_like_the_boundary),
        cmocka_unit_test(bound_surface_shows_linear_motion),
        cmocka_unit_test(the_wire_is_the_volume_mesh),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
