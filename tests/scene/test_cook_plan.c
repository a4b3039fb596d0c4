/* Scenes of parts: what hangs at each interface, what is cooked again, and what is refused. */
#include "hostile.h"

#include "scene/cook_plan.h"

#include "base/rotation.h"
#include "fem/body.h"

/* ---- scenes ---- */

static bough_status load_plan(bough_context *ctx, const char *text, bough_cook_plan **plan) {
    const char *path = test_path("scene.json");
    write_quoted(path, text);
    return bough_cook_plan_load(ctx, path, NULL, NULL, plan);
}

static bough_cook_plan *must_load(bough_context *ctx, const char *text) {
    bough_cook_plan *plan;
    check_ok(ctx, load_plan(ctx, text, &plan));
    return plan;
}

/* A component along x, 1 m x 0.2 m x 0.1 m, that can hang by its left end. */
#define BOX(more)                                                                                                   \
    "{'mesh': {'generate': 'box', 'type': 'hex8', 'size': [1, 0.2, 0.1], 'cells': [2, 1, 1]}, 'interfaces': "       \
    "{'base': {'select': 'x0'}, 'tip': {'select': 'x1'}}, 'basis': {'r': 4}, 'samples': {'wind': 0, 'contact': 0, " \
    "'stress': 0}" more "}"
#define SCENE(components, parts) "{'bough': 1, 'components': {" components "}, 'parts': [" parts "]}"
#define PART(name, component, more) "{'name': '" name "', 'component': '" component "'" more "}"
#define ABC_COMPONENTS "'a': " BOX("") ", 'b': " BOX("") ", 'c': " BOX("")
#define ABC               \
    SCENE(ABC_COMPONENTS, \
          PART("c", "c", ", 'parent': 'b'") ", " PART("a", "a", "") ", " PART("b", "b", ", 'parent': 'a'"))

/* The same chain as one mesh. */
#define FREE_CHAIN(more)                                                                                               \
    "{'bough': 1, 'object': {'mesh': {'generate': 'box', 'type': 'hex8', 'size': [3, 0.2, 0.1], 'cells': [6, 1, 1]}, " \
    "'sets': {'a': {'elements': 'x<1.1'}, 'b': {'elements': 'x>0.9 & x<2.1'}, 'c': {'elements': 'x>1.9'}}" more "}}"
#define CHAIN(more) FREE_CHAIN(", 'fix': 'x0'" more)

static const bough_cook_def *def_of(const bough_cook_plan *plan, const char *name) {
    for (int32_t i = 0; i < plan->item_count; i++)
        if (!strcmp(plan->items[i].shown.name, name))
            return &plan->items[i].job->def;
    fail_msg("the plan has no component %s", name);
    return NULL;
}

static const bough_interface_def *interface_of(const bough_cook_plan *plan, const char *name, const char *interface) {
    const bough_cook_def *def = def_of(plan, name);
    for (int32_t i = 0; i < def->interface_count; i++)
        if (!strcmp(def->interfaces[i].name, interface))
            return &def->interfaces[i];
    fail_msg("%s has no interface %s", name, interface);
    return NULL;
}

/* ---- inertia ---- */

/* Inertia of a box [0, length] x [-0.1, 0.1] x [-0.05, 0.05] of density 1000 about the origin: a mesh, measured. */
static bough_inertia measured_box(bough_context *ctx, double length) {
    bough_box_def box = bough_default_box_def();
    box.type = BOUGH_HEX8;
    box.origin[1] = -0.1, box.origin[2] = -0.05;
    box.size[0] = length, box.size[1] = 0.2, box.size[2] = 0.1;
    box.cells[0] = 4;
    bough_body_def def = bough_default_body_def();
    bough_mesh *mesh;
    bough_body *body;
    bough_body_properties p;
    check_ok(ctx, bough_mesh_generate_box(ctx, &box, &mesh));
    check_ok(ctx, bough_body_create(ctx, mesh, &def, &body));
    check_ok(ctx, bough_body_measure(ctx, body, &p));
    bough_body_destroy(ctx, body);
    bough_mesh_destroy(ctx, mesh);
    bough_inertia own = {.mass = p.mass};
    memcpy(own.inertia, p.inertia, sizeof own.inertia);
    return bo_inertia_moved(bo_load3(p.centre), own);
}

static void check_inertia(const bough_interface_def *interface, bough_inertia expected) {
    const bough_inertia *load = &interface->load;
    double size = fabs(expected.inertia[0]) + fabs(expected.inertia[4]) + fabs(expected.inertia[8]);
    check(interface->has_load);
    check_near(load->mass, expected.mass, 1e-12 * expected.mass);
    for (int d = 0; d < 3; d++)
        check_near(load->moment[d], expected.moment[d], 1e-12 * sqrt(size * expected.mass));
    for (int k = 0; k < 9; k++)
        check_near(load->inertia[k], expected.inertia[k], 1e-12 * size);
}

static bough_inertia sum_of(bough_inertia a, bough_inertia b) {
    a.mass += b.mass;
    for (int d = 0; d < 3; d++)
        a.moment[d] += b.moment[d];
    for (int k = 0; k < 9; k++)
        a.inertia[k] += b.inertia[k];
    return a;
}

static bough_inertia times(double factor, bough_inertia a) {
    a.mass *= factor;
    for (int d = 0; d < 3; d++)
        a.moment[d] *= factor;
    for (int k = 0; k < 9; k++)
        a.inertia[k] *= factor;
    return a;
}

static void a_chain_of_parts_carries_what_one_mesh_weighs(void **state) {
    (void)state;
    bough_context *ctx = test_context(1);
    bough_cook_plan *plan = must_load(ctx, ABC);
    check_int(bough_cook_plan_count(plan), 3);
    check_inertia(interface_of(plan, "a", "tip"), measured_box(ctx, 2));
    check_inertia(interface_of(plan, "b", "tip"), measured_box(ctx, 1));
    check(!interface_of(plan, "c", "tip")->has_load && !interface_of(plan, "a", "base")->has_load);
    bough_cook_plan_destroy(ctx, plan);
    plan = must_load(ctx, CHAIN(""));
    check_inertia(interface_of(plan, "a", "b"), measured_box(ctx, 2));
    check_inertia(interface_of(plan, "b", "c"), measured_box(ctx, 1));
    check(!interface_of(plan, "b", "a")->has_load && !interface_of(plan, "c", "b")->has_load);
    bough_cook_plan_destroy(ctx, plan);
    bough_context_destroy(ctx);
}

/* About x, then about y, then about z of the parent's axes: x goes to x, to -z, to -z. */
static void parts_are_turned_about_the_parents_axes(void **state) {
    (void)state;
    bough_context *ctx = test_context(1);
    bough_cook_plan *plan =
        must_load(ctx, SCENE("'a': " BOX("") ", 'b': " BOX(""),
                             PART("a", "a", "") ", " PART("b", "b", ", 'parent': 'a', 'rotate_deg': [30, 90, 50]")));
    const bough_inertia *load = &interface_of(plan, "a", "tip")->load, box = measured_box(ctx, 1);
    check_near(load->moment[2], -box.moment[0], 1e-12);
    check_near(load->moment[0], 0, 1e-12);
    check_near(load->moment[1], 0, 1e-12);
    bo_mat3 R = bo_exp3(bo_v3(M_PI / 6, 0, 0));
    R = bo_mat_mul(bo_exp3(bo_v3(0, M_PI / 2, 0)), R);
    R = bo_mat_mul(bo_exp3(bo_v3(0, 0, M_PI * 5 / 18)), R);
    check_inertia(interface_of(plan, "a", "tip"), bo_inertia_turned(R, box));
    bough_cook_plan_destroy(ctx, plan);

    /* Two boxes, the second one at a right angle: the second one begins where the first one ends. */
    plan = must_load(ctx, SCENE(ABC_COMPONENTS, PART("a", "a", "") ", " PART("b", "b", ", 'parent': 'a'") ", " PART(
                                                    "c", "c", ", 'parent': 'b', 'rotate_deg': [0, 0, 90]")));
    R = bo_exp3(bo_v3(0, 0, M_PI / 2));
    bough_inertia corner = sum_of(box, bo_inertia_moved(bo_v3(1, 0, 0), bo_inertia_turned(R, box)));
    check_inertia(interface_of(plan, "a", "tip"), corner);
    bough_cook_plan_destroy(ctx, plan);
    bough_context_destroy(ctx);
}

static void sizes_follow_the_scale_laws(void **state) {
    (void)state;
    bough_context *ctx = test_context(1);
    bough_inertia box = measured_box(ctx, 1);
    bough_cook_plan *plan =
        must_load(ctx, SCENE("'a': " BOX("") ", 'b': " BOX(""),
                             PART("a", "a", "") ", " PART("b", "b", ", 'parent': 'a', 'scale': 2")));
    bough_inertia twice = interface_of(plan, "a", "tip")->load;
    check_near(twice.mass, 8 * box.mass, 1e-12 * twice.mass);
    check_near(twice.moment[0], 16 * box.moment[0], 1e-12 * twice.moment[0]);
    check_near(twice.inertia[8], 32 * box.inertia[8], 1e-12 * twice.inertia[8]);
    bough_cook_plan_destroy(ctx, plan);

    /* A whole chain that is larger looks the same to each of its components. */
    plan = must_load(ctx,
                     SCENE(ABC_COMPONENTS,
                           PART("a", "a", ", 'scale': 3") ", " PART("b", "b", ", 'parent': 'a', 'scale': 3") ", " PART(
                               "c", "c", ", 'parent': 'b', 'scale': 3")));
    check_inertia(interface_of(plan, "a", "tip"), measured_box(ctx, 2));
    bough_cook_plan_destroy(ctx, plan);

    /* A parent of half the size carries the same child as one of full size that carries a child of double size. */
    plan = must_load(ctx, SCENE(ABC_COMPONENTS,
                                PART("a", "a", ", 'scale': 0.5") ", " PART(
                                    "b", "b", ", 'parent': 'a', 'scale': 0.5") ", " PART("c", "c", ", 'parent': 'b'")));
    check_inertia(interface_of(plan, "a", "tip"),
                  sum_of(box, bo_inertia_moved(bo_v3(1, 0, 0), bo_inertia_scaled(2, box))));
    bough_cook_plan_destroy(ctx, plan);
    bough_context_destroy(ctx);
}

/* Two of three parts of one component carry nothing at the tip, and one carries two leaves. */
static void a_component_carries_the_mean_of_its_parts(void **state) {
    (void)state;
    bough_context *ctx = test_context(1);
    bough_inertia box = measured_box(ctx, 1);
    bough_cook_plan *plan = must_load(
        ctx,
        SCENE("'link': " BOX("") ", 'leaf': " BOX(", 'material': {'density': 500}"),
              PART("1", "link", "") ", " PART("2", "link", ", 'parent': '1'") ", " PART(
                  "3", "link", ", 'position': [5, 0, 0], 'fix': 'base'") ", " PART("4", "leaf",
                                                                                   ", 'parent': '2', 'interface': "
                                                                                   "'tip'") ", " PART("5", "leaf",
                                                                                                      ", 'parent': "
                                                                                                      "'2'")));
    bough_inertia leaves = times(0.5, sum_of(box, box)), all = sum_of(box, bo_inertia_moved(bo_v3(1, 0, 0), leaves));
    check_inertia(interface_of(plan, "link", "tip"), times(1.0 / 3, sum_of(all, leaves)));
    check(!interface_of(plan, "leaf", "tip")->has_load);
    bough_cook_plan_destroy(ctx, plan);
    bough_context_destroy(ctx);
}

static void loads_in_the_file_win(void **state) {
    (void)state;
    bough_context *ctx = test_context(1);
    bough_cook_plan *plan = must_load(
        ctx,
        "{'bough': 1, 'components': {'a': {'mesh': {'generate': 'box', 'size': [1, 1, 1]}, 'basis': {'r': 1}, "
        "'interfaces': {'base': {'select': 'x0'}, 'tip': {'select': 'x1', 'load': {'mass': 7}}}}}, 'parts': [" PART(
            "1", "a", "") ", " PART("2", "a", ", 'parent': '1'") "]}");
    check_near(interface_of(plan, "a", "tip")->load.mass, 7, 0);
    bough_cook_plan_destroy(ctx, plan);
    bough_context_destroy(ctx);
}

/* ---- hashes ---- */

static void check_hashes(bough_context *ctx, const char *text, const char *other, bool a, bool b, bool c) {
    const bool same[] = {a, b, c};
    const char *const names[] = {"a", "b", "c"};
    bough_cook_plan *first = must_load(ctx, text), *second = must_load(ctx, other);
    for (int i = 0; i < 3; i++)
        if ((def_of(first, names[i])->input_hash == def_of(second, names[i])->input_hash) != same[i])
            fail_msg("the hash of \"%s\" %s in %s", names[i], same[i] ? "changed" : "stays", other);
    bough_cook_plan_destroy(ctx, first);
    bough_cook_plan_destroy(ctx, second);
}

#define B_IS(more)                                               \
    SCENE("'a': " BOX("") ", 'b': " BOX(more) ", 'c': " BOX(""), \
          PART("c", "c", ", 'parent': 'b'") ", " PART("a", "a", "") ", " PART("b", "b", ", 'parent': 'a'"))

static void hashes_see_what_hangs_below(void **state) {
    (void)state;
    bough_context *ctx = test_context(1);
    check_hashes(ctx, ABC, ABC, true, true, true);
    check_hashes(ctx, ABC, B_IS(", 'material': {'density': 500}"), false, false, true);
    check_hashes(ctx, ABC, B_IS(", 'material': {'young': 5e6}"), true, false, true);
    check_hashes(ctx, CHAIN(""), CHAIN(", 'root': 'a'"), true, true, true);
    check_hashes(ctx, CHAIN(""), CHAIN(", 'domains': ['a', 'b', 'c']"), true, true, true);
    check_hashes(ctx, CHAIN(""), CHAIN(", 'regions': [{'set': 'b', 'material': {'density': 500}}]"), false, false,
                 false); /* what the object says is said of all */
    bough_context_destroy(ctx);
}

/* ---- domains ---- */

/* One surface for the whole object: each component draws its share, bound to its own volume. */
static void an_objects_surface_is_shared_out(void **state) {
    (void)state;
    bough_context *ctx = test_context(1);
    bough_box_def box = bough_default_box_def();
    bough_mesh *volume, *surface;
    box.type = BOUGH_HEX8;
    box.size[0] = 3, box.size[1] = 0.2, box.size[2] = 0.1;
    box.cells[0] = 12, box.cells[1] = box.cells[2] = 2;
    check_ok(ctx, bough_mesh_generate_box(ctx, &box, &volume));
    check_ok(ctx, bough_mesh_surface(ctx, volume, &surface, NULL, NULL));
    check_ok(ctx, bough_mesh_write(ctx, surface, test_path("skin.obj")));
    bough_cook_plan *plan, *plain;
    check_ok(ctx, load_plan(ctx, CHAIN(", 'surface': {'file': 'skin.obj', 'int16': true}"), &plan));
    check_ok(ctx, load_plan(ctx, CHAIN(""), &plain));
    int32_t triangles = 0;
    static const char *const names[] = {"a", "b", "c"};
    for (int i = 0; i < 3; i++) {
        const bough_cook_def *def = def_of(plan, names[i]);
        check(def->surface && def->surface_int16 && !def_of(plain, names[i])->surface);
        check(def->input_hash != def_of(plain, names[i])->input_hash);
        triangles += def->surface->element_count;
    }
    check_int(triangles, surface->element_count);
    bough_cook_plan_destroy(ctx, plan);
    bough_cook_plan_destroy(ctx, plain);
    bough_mesh_destroy(ctx, volume);
    bough_mesh_destroy(ctx, surface);
    bough_context_destroy(ctx);
}

static void check_coordinates(const char *basis, int32_t a, int32_t b, int32_t c) {
    bough_context *ctx = test_context(1);
    char text[1000];
    snprintf(text, sizeof text, FREE_CHAIN(", 'basis': %s"), basis);
    bough_cook_plan *plan = must_load(ctx, text);
    check_int(def_of(plan, "a")->r, a);
    check_int(def_of(plan, "b")->r, b);
    check_int(def_of(plan, "c")->r, c);
    bough_cook_plan_destroy(ctx, plan);
    bough_context_destroy(ctx);
}

static void single_domains_have_coordinates_of_their_own(void **state) {
    (void)state;
    check_coordinates("{'of': {'b': 9}, 'r': 5}", 5, 9, 5);
    check_coordinates("{'of': {'b': 0}}", 20, 0, 20);
    check_coordinates("{'of': {'b': 9}, 'total': 20}", 6, 9, 5);
    check_coordinates("{'of': {'a': 4, 'b': 9}, 'total': 20}", 4, 9, 7);
    check_coordinates("{'of': {'a': 1, 'b': 2, 'c': 3}, 'total': 6}", 1, 2, 3);
}

static void domains_become_components_with_their_neighbours_names(void **state) {
    (void)state;
    bough_context *ctx = test_context(1);
    bough_cook_plan *plan = must_load(ctx, FREE_CHAIN(", 'root': 'b', 'basis': {'total': 20}"));
    check_int(bough_cook_plan_count(plan), 3);
    int32_t total = 0;
    for (int32_t i = 0; i < 3; i++) {
        const bough_cook_item *item = bough_cook_plan_item(plan, i);
        check(item->name[0] == 'a' + i && !item->name[1]);
        check_int(item->element_count, 2);
        check(!item->up_to_date && strstr(item->output, "scene.cooked/") != NULL);
        total += item->r;
    }
    check_int(total, 20);
    const bough_cook_def *b = def_of(plan, "b");
    check_int(b->interface_count, 2);
    check_int(b->parent, -1);
    check(!strcmp(b->interfaces[0].name, "a") && !strcmp(b->interfaces[1].name, "c"));
    check(b->interfaces[0].has_load && b->interfaces[1].has_load);
    check_int(b->interfaces[0].vertex_count, 4);
    check_int(def_of(plan, "a")->parent, 0);
    check_int(def_of(plan, "c")->parent, 0);
    check(bough_cook_plan_item(plan, 3) == NULL && bough_cook_plan_item(plan, -1) == NULL);
    bough_cook_plan_destroy(ctx, plan);
    bough_context_destroy(ctx);
}

static void roots_are_held_or_fly_free(void **state) {
    (void)state;
    bough_context *ctx = test_context(1);
    bough_cook_plan *plan = must_load(ctx, CHAIN(""));
    check_int(plan->assembly.components[0].rigid->support, BOUGH_SUPPORT_FIXED);
    check_int(plan->assembly.components[1].rigid->support, BOUGH_SUPPORT_INTERFACE);
    check_near(plan->assembly.components[1].rigid->origin[0], 1, 1e-12);
    bough_cook_plan_destroy(ctx, plan);
    plan = must_load(ctx, FREE_CHAIN(""));
    check_int(plan->assembly.components[0].rigid->support, BOUGH_SUPPORT_FREE);
    check_near(plan->assembly.components[0].rigid->origin[0], 0.5, 1e-12);
    bough_cook_plan_destroy(ctx, plan);
    bough_context_destroy(ctx);
}

static void count_warning(void *user, const char *sentence) {
    check(strstr(sentence, "\"b\" and \"c\" have vertices in common (2), but no face") != NULL);
    ++*(int *)user;
}

/* Four columns in a square, 2 x 2 cells: b and c only have an edge in common. */
#define SQUARE(domains)                                                                                            \
    "{'bough': 1, 'object': {'mesh': {'generate': 'box', 'type': 'hex8', 'size': [2, 2, 1], 'cells': [2, 2, 1]}, " \
    "'sets': {" domains "}, 'fix': 'x0'}}"

static void touching_domains_are_warned_of_and_loops_refused(void **state) {
    (void)state;
    int warnings = 0;
    bough_context_def def = bough_default_context_def();
    def.thread_count = 1, def.warn = count_warning, def.warn_user = &warnings;
    bough_context *ctx = bough_context_create(&def);
    bough_cook_plan *plan =
        must_load(ctx, SQUARE("'a': {'elements': 'x<1.5 & y<1.5 | x>0.5 & y>0.5'}, 'b': {'elements': 'x<1.5 & y>0.5'}, "
                              "'c': {'elements': 'x>0.5 & y<1.5'}"));
    check_int(warnings, 1);
    bough_cook_plan_destroy(ctx, plan);
    bough_context_destroy(ctx);
    ctx = test_context(1);
    check_fails(ctx,
                load_plan(ctx,
                          SQUARE("'a': {'elements': 'x<1.5 & y<1.5'}, 'b': {'elements': 'x<1.5 & y>0.5'}, 'c': "
                                 "{'elements': 'x>0.5 & y<1.5'}, 'd': {'elements': 'x>0.5 & y>0.5'}"),
                          &plan),
                BOUGH_ERROR_FORMAT, "close a loop");
    bough_context_destroy(ctx);
}

/* A domain is cooked with what is near its interfaces: held where the rest of the object leads to the supports, free
 * where the rest hangs on it. */
static void domains_know_what_is_around_them(void **state) {
    (void)state;
    bough_context *ctx = test_context(1);
    bough_cook_plan *plan =
        must_load(ctx, "{'bough': 1, 'object': {'mesh': {'generate': 'box', 'type': 'hex8', 'size': [8, 0.2, 0.2], "
                       "'cells': [80, 2, 2]}, 'sets': {'a': {'elements': 'x<3.05'}, 'b': {'elements': 'x>2.95 & "
                       "x<4.05'}, 'c': {'elements': 'x>3.95'}}, 'fix': 'x0', 'root': 'a'}}");
    check_int(plan->item_count, 3);
    const bough_cook_job *job = plan->items[1].job;
    const bough_body *patch = job->around.body;
    check(patch != NULL);
    const double *own = bough_body_mesh(job->body)->vertices, *X = patch->mesh->vertices;
    for (int32_t v = 0; v < 3 * bough_body_mesh(job->body)->vertex_count; v++)
        check(X[3 * job->around.vertices[v / 3] + v % 3] == own[v]);
    double low = INFINITY, high = -INFINITY;
    for (int32_t v = 0; v < patch->mesh->vertex_count; v++)
        low = fmin(low, X[3 * v]), high = fmax(high, X[3 * v]);
    check(low > 1 && low < 2.95 && high > 4.05 && high < 6); /* not all of the beam */
    for (int32_t v = 0; v < patch->mesh->vertex_count; v++) {
        check_int(job->around.load_case->fixed[3 * v], X[3 * v] < low + 1e-9);
        check_int(job->around.pulled[v], BOUGH_OWNER_SELF); /* nothing else of the rest reaches it */
    }
    for (int32_t e = 0; e < patch->mesh->element_count; e++) {
        double middle = 0;
        for (int k = 0; k < 8; k++)
            middle += X[3 * patch->mesh->elements[8 * e + k]] / 8;
        check_int(job->around.owner[e], middle < 3   ? BOUGH_OWNER_OTHER
                                        : middle < 4 ? BOUGH_OWNER_SELF
                                                     : !strcmp(job->def.interfaces[1].name, "c")); /* the interface's */
    }
    /* nothing holds what flies: nothing is known of what is around */
    bough_cook_plan *free = must_load(ctx, FREE_CHAIN(""));
    for (int32_t i = 0; i < 3; i++)
        check(!free->items[i].job->around.body);
    bough_cook_plan_destroy(ctx, free);
    bough_cook_plan_destroy(ctx, plan);
    bough_context_destroy(ctx);
}

/* ---- refusals ---- */

static void check_refused(const char *text, const char *why) {
    check_refused_by(read_plan, text, why);
}

#define AB(a, b) SCENE("'x': " BOX(""), PART("a", "x", a) ", " PART("b", "x", b))

static void wrong_parts_are_told_with_their_place(void **state) {
    (void)state;
    check_refused(AB("", ", 'parent': 'c'"), "parts[1].parent: unknown part \"c\"");
    check_refused(AB("", ", 'parnt': 'a'"), "parts[1]: unknown key \"parnt\"; did you mean \"parent\"?");
    check_refused(AB(", 'parent': 'b'", ", 'parent': 'a'"),
                  "parts[0].parent: parts hang in a loop: \"a\" -> \"b\" -> \"a\"");
    check_refused(AB("", ", 'parent': 'b'"), "parts[1].parent: parts hang in a loop: \"b\" -> \"b\"");
    check_refused(AB("", ", 'parent': 'a', 'interface': 'tap'"),
                  "parts[1].interface: unknown \"tap\"; did you mean \"tip\"?");
    check_refused(AB("", ", 'parent': 'a', 'interface': 'base'"),
                  "parts[1].interface: is the one by which the parent itself");
    check_refused(AB("", ", 'interface': 'tip'"),
                  "parts[1].interface: is one of the parent's, but \"parent\" is missing");
    check_refused(AB("", ", 'parent': 'a', 'scale': 0"), "parts[1].scale: must be from 1e-06 to 1e+06, not 0");
    check_refused(AB("", ", 'parent': 'a', 'stiffness': -1"), "parts[1].stiffness: must be positive");
    check_refused(AB("", ", 'parent': 'a', 'rotate_deg': [1, 2]"), "parts[1].rotate_deg: must be a list of 3 numbers");
    check_refused(AB("", ", 'parent': 'a', 'position': [1, 2, 3]"), "parts[1].position: is for roots");
    check_refused(AB("", ", 'parent': 'a', 'fix': 'base'"), "parts[1].fix: is for roots");
    check_refused(AB(", 'fix': 'tip'", ""), "parts[0].fix: the component \"x\" can be held at \"base\" only");
    check_refused(AB(", 'fix': 'bose'", ""), "parts[0].fix: unknown \"bose\"; did you mean \"base\"?");
    check_refused(AB("", ", 'damping': {'mass': -1}"), "parts[1].damping.mass: must not be negative");
    check_refused(SCENE("'x': " BOX(""), PART("a", "x", "") ", " PART("a", "x", "")),
                  "parts[1].name: \"a\" is the name of");
    check_refused(SCENE("'x': " BOX(""), PART("a", "y", "")),
                  "parts[0].component: unknown component \"y\"; did you mean \"x\"?");
    check_refused(SCENE("'x': " BOX(""), "{'component': 'x'}"), "parts[0]: \"name\" is missing");
    check_refused(SCENE("", PART("a", "y", "")), "components: names no component");
    check_refused(SCENE("'x': " BOX(", 'parent': 'tip'") ", 'free': {'mesh': {'generate': 'box', 'size': [1, 1, 1]}}",
                        PART("a", "x", "") ", " PART("b", "free", ", 'parent': 'a'")),
                  "parts[1].component: \"free\" hangs by no interface");
    check_refused(SCENE("'x': " BOX("") ", 'free': {'mesh': {'generate': 'box', 'size': [1, 1, 1]}}",
                        PART("a", "free", "") ", " PART("b", "x", ", 'parent': 'a'")),
                  "parts[1]: nothing can be attached to its parent");
    check_refused(
        SCENE("'x': {'mesh': {'generate': 'box', 'size': [1, 1, 1]}, 'interfaces': {'base': {'select': 'x0'}, "
              "'l': {'select': 'x1'}, 'r': {'select': 'y1'}}}",
              PART("a", "x", "") ", " PART("b", "x", ", 'parent': 'a'")),
        "parts[1]: \"interface\" is missing: the parent's component \"x\" has 2 to choose from");
}

static void wrong_components_are_told_with_their_place(void **state) {
    (void)state;
    check_refused("{'bough': 1, 'parts': []}", "\"components\" is missing");
    check_refused("{'bough': 1, 'components': []}", "components: must be an object of named components");
    check_refused("{'bough': 1, 'components': {'': {}}}", "a component needs a name");
    check_refused("{'bough': 1, 'components': {'a': 3}}", "components.a: must be an object");
    check_refused("{'bough': 1, 'components': {'a': {}}}", "components.a: \"mesh\" is missing");
    check_refused("{'bough': 2, 'components': {}}", "bough: version 2 is unknown");
    check_refused("{'components': {}}", "\"bough\" is missing");
    check_refused("{'bough': 1, 'components': {}, 'fix': 'x0'}", "unknown key \"fix\"");
    check_refused("{'bough': 1, 'components': {}, 'engine': {'kind': 'full'}}",
                  "engine.kind: the full engine steps the mesh of an \"object\"");
    check_refused("{'bough': 1, 'components': {}, 'time': {'dt': 0}}", "time.dt: must be positive");
    check_refused("{'bough': 1, 'components': {}, 'gravity': 3}", "gravity: must be a list");
    check_refused("{'bough': 1, 'components': {'a': {'bough': 1}}}", "components.a: unknown key \"bough\"");
    check_refused("{'bough': 1, 'components': {'a': {'file': 'none.bough'}}}", "components.a.file: ");
    check_refused("{'bough': 1, 'components': {'a': {'file': 'a.bough', 'cook': 'a.json'}}}",
                  "components.a: unknown key");
    check_refused("{'bough': 1, 'components': {'a': {'cook': 'none.json'}}}", "components.a.cook: ");
    check_refused(SCENE("'a': " BOX(", 'elastic': {'kind': 'cubic'}"), ""),
                  "components.a.elastic.kind: unknown \"cubic\"");
    check_refused(SCENE("'a': " BOX(", 'fix': 'x0', 'parent': 'tip'"), ""), "components.a.parent: ");
    /* On one line the interface has no rotation; said when the parts are measured. */
    check_refused(
        SCENE("'a': {'mesh': {'generate': 'box', 'size': [1, 1, 1], 'cells': [2, 1, 1]}, 'interfaces': {'base': "
              "{'select': 'y0 & z0'}}}",
              PART("1", "a", "")),
        "scene.json: components.a: ");
}

static void wrong_objects_are_told_with_their_place(void **state) {
    (void)state;
    check_refused("{'bough': 1, 'object': {}}", "object: \"mesh\" is missing");
    check_refused(CHAIN(", 'gravity': [0, 0, 1]"), "object: unknown key \"gravity\"");
    check_refused("{'bough': 1, 'components': {}, 'object': {'mesh': 'a.msh'}}",
                  "components: the scene has an \"object\"");
    check_refused(CHAIN(", 'domains': ['a', 'b']"), "object.domains: element 4 is in none of the 2 element sets");
    check_refused(CHAIN(", 'domains': ['a', 'b', 'd']"), "object.domains: the mesh has no element set \"d\"");
    check_refused(CHAIN(", 'domains': []"), "object.domains: names no element set");
    check_refused(CHAIN(", 'domains': 'some'"), "object.domains: must be a list");
    check_refused(CHAIN(", 'root': 'b'"), "object.fix: selection \"x0\"");
    check_refused(CHAIN(", 'root': 'd'"), "object.root: unknown \"d\"");
    check_refused(CHAIN(", 'basis': {'r': 3, 'total': 10}"), "object.basis.total: is shared out");
    check_refused(CHAIN(", 'basis': {'total': 2}"), "object.basis.total: 2 coordinates cannot be shared out over 3");
    check_refused(CHAIN(", 'basis': {'of': {'d': 9}}"), "object.basis.of.d: unknown domain \"d\"");
    check_refused(CHAIN(", 'basis': {'of': {'a': 513}}"), "object.basis.of.a: must be from 0 to 512");
    check_refused(CHAIN(", 'basis': {'of': 3}"), "object.basis.of: must be an object of named domains");
    check_refused(CHAIN(", 'basis': {'of': {'a': 9}, 'total': 8}"), "under \"of\" have 9 coordinates together");
    check_refused(CHAIN(", 'basis': {'of': {'a': 9}, 'total': 10}"), "1 coordinates cannot be shared out over 2");
    check_refused(CHAIN(", 'basis': {'of': {'a': 1, 'b': 2, 'c': 3}, 'total': 7}"), "have 6 coordinates together");
    check_refused(CHAIN(", 'basis': {'r': 1000}"), "object.basis.r: must be from 0 to 512");
    check_refused(CHAIN(", 'basis': {'snapshots': 'a.npy'}"), "object.basis: unknown key \"snapshots\"");
    check_refused(CHAIN(", 'samples': {'stress_at': []}"), "object.samples: unknown key \"stress_at\"");
    check_refused("{'bough': 1, 'object': {'mesh': {'generate': 'box', 'size': [1, 1, 1]}}}",
                  "object.domains: the mesh has no element sets that could be domains");
    check_refused("{'bough': 1, 'object': {'mesh': {'generate': 'box', 'size': [1, 1, 1]}, 'sets': {'a': {'elements': "
                  "'x0'}}}}",
                  "object.sets.a.elements: no element has all its vertices among these (4)");
}

/* ---- outputs ---- */

static void names_become_names_of_files(void **state) {
    (void)state;
    bough_context *ctx = test_context(1);
    bough_cook_plan *plan = must_load(ctx, SCENE("'a/b': " BOX("") ", 'a_b': " BOX("") ", 'A_B': " BOX(
                                                     "") ", '.x': " BOX("") ", 'Zweig \xc3\xa9': " BOX(""),
                                                 ""));
    static const char *const names[] = {"/a_b.bough", "/a_b-2.bough", "/A_B-3.bough", "/_x.bough",
                                        "/Zweig_\xc3\xa9.bough"};
    for (int32_t i = 0; i < 5; i++) {
        const char *output = bough_cook_plan_item(plan, i)->output;
        if (strcmp(strrchr(output, '/'), names[i]))
            fail_msg("%s, expected %s", output, names[i]);
        check(strncmp(output, bough_cook_plan_folder(plan), strlen(bough_cook_plan_folder(plan))) == 0);
    }
    bough_cook_plan_destroy(ctx, plan);
    bough_cook_plan_destroy(ctx, NULL);
    bough_context_destroy(ctx);
}

typedef struct {
    int cooked, ready;
} tally;

static void count_items(void *user, const bough_cooked *item) {
    tally *t = user;
    check(item->component->r > 0 && item->cooked == (item->times != NULL) && (item->seconds > 0) == item->cooked);
    t->cooked += item->cooked;
    t->ready += !item->cooked;
}

static void check_run(bough_context *ctx, bough_cook_plan *plan, bool force, int cooked, int ready) {
    tally t = {0};
    check_ok(ctx, bough_cook_plan_run(ctx, plan, force, count_items, &t));
    check_int(t.cooked, cooked);
    check_int(t.ready, ready);
    for (int32_t i = 0; i < bough_cook_plan_count(plan); i++)
        check(bough_cook_plan_item(plan, i)->up_to_date);
}

static void plans_cook_what_is_needed_and_take_finished_files(void **state) {
    (void)state;
    bough_context *ctx = test_context(2);
    bough_cook_plan *plan = must_load(ctx, ABC);
    check_run(ctx, plan, false, 3, 0);
    check_run(ctx, plan, false, 0, 3);
    check_run(ctx, plan, true, 3, 0);
    bough_cook_plan_destroy(ctx, plan);
    plan = must_load(ctx, B_IS(", 'material': {'density': 500}"));
    check(bough_cook_plan_item(plan, 2)->up_to_date && !bough_cook_plan_item(plan, 1)->up_to_date);
    check_run(ctx, plan, false, 2, 1);
    bough_cook_plan_destroy(ctx, plan);

    /* The chain with its end taken from files: finished, and to be cooked. */
    write_quoted(test_path("b.json"), "{'bough': 1, 'mesh': {'generate': 'box', 'type': 'hex8', 'size': [1, 0.2, 0.1], "
                                      "'cells': [2, 1, 1]}, 'interfaces': {'base': {'select': 'x0'}, 'tip': {'select': "
                                      "'x1'}}, 'basis': {'r': 4}}");
    plan = must_load(
        ctx, SCENE("'a': " BOX("") ", 'b': {'cook': 'b.json'}, 'c': {'file': 'scene.cooked/c.bough'}",
                   PART("a", "a", "") ", " PART("b", "b", ", 'parent': 'a'") ", " PART("c", "c", ", 'parent': 'b'")));
    check_int(bough_cook_plan_count(plan), 2);
    check_inertia(interface_of(plan, "a", "tip"), measured_box(ctx, 2));
    check_inertia(interface_of(plan, "b", "tip"), measured_box(ctx, 1));
    bough_cook_plan_destroy(ctx, plan);
    bough_context_destroy(ctx);
}

static void one_component_is_a_plan_too(void **state) {
    (void)state;
    bough_context *ctx = test_context(1);
    bough_cook_plan *plan;
    const char *path = test_path("one.json"), *output = test_path("other.bough");
    write_quoted(path, "{'bough': 1, 'name': 'bar', 'mesh': {'generate': 'box', 'type': 'hex8', 'size': [4, 1, 1], "
                       "'cells': [4, 1, 1]}, 'fix': 'x0', 'basis': {'r': 3}}");
    check_ok(ctx, bough_cook_plan_load(ctx, path, NULL, NULL, &plan));
    check(bough_cook_plan_folder(plan) == NULL && !strcmp(bough_cook_plan_item(plan, 0)->name, "bar"));
    check(strstr(bough_cook_plan_item(plan, 0)->output, "/one.bough") != NULL);
    check_run(ctx, plan, false, 1, 0);
    bough_cook_plan_destroy(ctx, plan);
    check_ok(ctx, bough_cook_plan_load(ctx, path, "{\"basis\": {\"r\": 5}}", output, &plan));
    check_int(bough_cook_plan_item(plan, 0)->r, 5);
    check(!strcmp(bough_cook_plan_item(plan, 0)->output, output));
    bough_cook_plan_destroy(ctx, plan);
    write_quoted(test_path("scene.json"), ABC);
    check_fails(ctx, bough_cook_plan_load(ctx, test_path("scene.json"), "{}", NULL, &plan), BOUGH_ERROR_ARGUMENT,
                "is a scene of several components");
    bough_context_destroy(ctx);
}

/* ---- memory ---- */

static const char *const plans[] = {ABC, CHAIN(", 'root': 'a', 'basis': {'total': 9}")};

static void failed_allocations_leak_nothing(void **state) {
    (void)state;
    check_failed_allocations(read_plan, plans, 2);
}

/* Whatever comes out, it is a plan or a sentence. */
static void truncations_and_mutations_do_no_harm(void **state) {
    (void)state;
    check_mutations(read_plan, plans, 2, 1);
}

static void the_examples_work(void **state) {
    (void)state;
    bough_context *ctx = test_context(1);
    bough_cook_plan *plan = must_load(ctx, example_of_docs("## Scenes of parts"));
    check_int(bough_cook_plan_count(plan), 2);
    bough_cook_plan_destroy(ctx, plan);
    check_ok(ctx, bough_cook_plan_load(ctx, BOUGH_SOURCE_DIR "/examples/y-tree/scene.json", NULL, NULL, &plan));
    check_int(bough_cook_plan_count(plan), 3);
    bough_cook_plan_destroy(ctx, plan);
    bough_context_destroy(ctx);
}

/* A knob at the end of a slender beam, of the same stuff: next to none of its motion is its own, and what it misses of
 * that cannot be seen. A root that is held has nothing else to move by. */
static void errors_count_by_what_the_scene_shows(void **state) {
    (void)state;
    bough_context *ctx = test_context(1);
    bough_cook_plan *plan = must_load(
        ctx, SCENE("'beam': {'mesh': {'generate': 'box', 'type': 'hex8', 'size': [2, 0.1, 0.1], 'cells': [16, 2, 2]}, "
                   "'interfaces': {'base': {'select': 'x0'}, 'tip': {'select': 'x1'}}, 'basis': {'r': 8}}, 'knob': "
                   "{'mesh': {'generate': 'box', 'type': 'hex8', 'size': [0.15, 0.1, 0.1], 'cells': [3, 2, 2]}, "
                   "'interfaces': {'base': {'select': 'x0'}}, 'basis': {'r': 3}}",
                   PART("a", "beam", "") ", " PART("b", "knob", ", 'parent': 'a', 'interface': 'tip'")));
    bough_joint_forecast forecast;
    check_ok(ctx, bough_cook_plan_run(ctx, plan, false, NULL, NULL));
    check_ok(ctx, bough_cook_plan_forecast(ctx, plan, &forecast));
    const bough_cook_item *beam = bough_cook_plan_item(plan, 0), *knob = bough_cook_plan_item(plan, 1);
    bough_component *own;
    check_ok(ctx, bough_component_load(ctx, knob->output, &own));
    const double error = bough_component_error(own, BOUGH_VERDICT_MOTION);
    print_message("the knob bends by %.2e of its motion, of which it misses %.2g\n", knob->share, error);
    check_near(beam->share, 1, 0);
    check(knob->share > 1e-7 && knob->share < 1e-3); /* about (0.15 / 2)^4 */
    check(bough_verdict_grade(BOUGH_VERDICT_MOTION, error) == BOUGH_GRADE_POOR);
    check(bough_verdict_grade(knob->worst, knob->error) > BOUGH_GRADE_POOR);
    double worst, scaled;
    check(bough_component_worst(own, &worst) == BOUGH_VERDICT_MOTION);
    bough_component_worst_in_scene(own, 0.5, &scaled);
    check_near(worst, error, 0);
    check_near(scaled, 0.5 * error, 1e-15);
    bough_component_destroy(ctx, own);
    bough_cook_plan_destroy(ctx, plan);
    bough_context_destroy(ctx);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_chain_of_parts_carries_what_one_mesh_weighs),
        cmocka_unit_test(parts_are_turned_about_the_parents_axes),
        cmocka_unit_test(sizes_follow_the_scale_laws),
        cmocka_unit_test(a_component_carries_the_mean_of_its_parts),
        cmocka_unit_test(loads_in_the_file_win),
        cmocka_unit_test(hashes_see_what_hangs_below),
        cmocka_unit_test(an_objects_surface_is_shared_out),
        cmocka_unit_test(domains_know_what_is_around_them),
        cmocka_unit_test(single_domains_have_coordinates_of_their_own),
        cmocka_unit_test(domains_become_components_with_their_neighbours_names),
        cmocka_unit_test(roots_are_held_or_fly_free),
        cmocka_unit_test(touching_domains_are_warned_of_and_loops_refused),
        cmocka_unit_test(wrong_parts_are_told_with_their_place),
        cmocka_unit_test(wrong_components_are_told_with_their_place),
        cmocka_unit_test(wrong_objects_are_told_with_their_place),
        cmocka_unit_test(names_become_names_of_files),
        cmocka_unit_test(plans_cook_what_is_needed_and_take_finished_files),
        cmocka_unit_test(one_component_is_a_plan_too),
        cmocka_unit_test(failed_allocations_leak_nothing),
        cmocka_unit_test(truncations_and_mutations_do_no_harm),
        cmocka_unit_test(the_examples_work),
        cmocka_unit_test(errors_count_by_what_the_scene_shows),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
