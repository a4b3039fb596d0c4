/* bough example: the scenes that it makes. */
#include "program.h"

#include <bough/scene.h>

static bough_context *ctx;

static int prepare(void **state) {
    (void)state;
    setenv("OPENBLAS_NUM_THREADS", "1", 0);
    unsetenv("ARGP_HELP_FMT");
    mkdir(work(""), 0700);
    ctx = test_context(1);
    return 0;
}

static int finish_all(void **state) {
    (void)state;
    bough_context_destroy(ctx);
    return 0;
}

static json_t *load(const char *name) {
    json_error_t error;
    json_t *scene = json_load_file(work(name), JSON_REJECT_DUPLICATES, &error);
    if (!json_is_object(scene))
        fail_msg("%s:%d: %s", name, error.line, error.text);
    return scene;
}

static bool same_bytes(const char *a, const char *b) {
    FILE *f = fopen(work(a), "rb"), *g = fopen(work(b), "rb");
    check(f && g);
    int c, d;
    do {
        c = getc(f), d = getc(g);
    } while (c == d && c != EOF);
    fclose(f), fclose(g);
    return c == d;
}

/* Parts of a component. */
static int uses(const json_t *scene, const char *component) {
    size_t i;
    json_t *part;
    int count = 0;
    json_array_foreach(json_object_get(scene, "parts"), i, part) {
        count += strcmp(text(part, "component"), component) == 0;
    }
    return count;
}

static void without_a_name_they_are_listed(void **state) {
    (void)state;
    check_run(0, "example");
    check(strstr(out, "oak ") && strstr(out, "flower ") && strstr(out, "dragon ") && line_count(out) == 21);
    json_t *list;
    check_json(list, 0, "example", "--json");
    check_int(json_array_size(json_object_get(list, "examples")), 21);
    json_decref(list);
    check_mistake(2, "no example \"elm\"", "example", "elm");
    check_mistake(2, "--leaves", "example", "oak", "--leaves", "-1");
    check_mistake(2, "--leaves", "example", "oak", "--leaves", "500001");
    check_mistake(2, "--seed", "example", "oak", "--seed", "x");
    check_mistake(2, "one example", "example", "oak", "flower");
    check_mistake(1, "the folder cannot be made", "example", "oak", "-o", "no/such/place");
    check_mistake(2, "--leaves is for the oak", "example", "flower", "--leaves", "5");
    check_mistake(2, "--seed is for the oak", "example", "flower", "--seed", "5");
    check_mistake(2, "--mesh is for the dragon", "example", "flower", "--mesh", "a.msh");
    check_mistake(1, "19000 leaves at most", "example", "forest", "--leaves", "19001");
}

static void check_each_place_holds_one(const json_t *scene) {
    json_t *part, *places = json_object();
    size_t i;
    json_array_foreach(json_object_get(scene, "parts"), i, part) {
        char place[64];
        if (!json_object_get(part, "parent"))
            continue;
        snprintf(place, sizeof place, "%s %s", text(part, "parent"), text(part, "interface"));
        check(!json_object_get(places, place));
        json_object_set_new(places, place, json_true());
    }
    json_decref(places);
}

/* The paper's Table 1. */
static void the_oak_has_the_statistics_of_the_paper(void **state) {
    (void)state;
    json_t *answer;
    check_json(answer, 0, "example", "oak", "--json");
    check_int(number(answer, "parts"), 1435);
    check_int(number(answer, "coordinates"), 11972);
    check_near(number(answer, "surface_vertices"), 580e3, 10e3);
    check_near(number(answer, "surface_triangles"), 860e3, 20e3);
    json_decref(answer);

    json_t *scene = load("oak/scene.json");
    check_int(json_array_size(json_object_get(scene, "parts")), 1435);
    check_int(uses(scene, "leaf"), 1394);
    check_each_place_holds_one(scene);
    bough_cook_plan *plan;
    check_ok(ctx, bough_cook_plan_load(ctx, work("oak/scene.json"), NULL, NULL, &plan));
    check_int(bough_cook_plan_count(plan), 6);
    int coordinates = 0;
    for (int32_t i = 0; i < 6; i++) {
        const bough_cook_item *item = bough_cook_plan_item(plan, i);
        check_int(item->r, strcmp(item->name, "leaf") == 0 ? 8 : 20);
        coordinates += uses(scene, item->name) * item->r;
    }
    check_int(coordinates, 11972);
    bough_cook_plan_destroy(ctx, plan);
    json_decref(scene);
}

/* The storm is the same oak with a wind that rises, and parts that break. */
static void the_storm_blows_on_the_same_oak(void **state) {
    (void)state;
    check_run(0, "example", "oak", "-o", "calm");
    check_run(0, "example", "storm");
    json_t *calm = load("calm/scene.json"), *storm = load("storm/scene.json");
    check(json_equal(json_object_get(calm, "parts"), json_object_get(storm, "parts")));
    check(json_equal(json_object_get(calm, "components"), json_object_get(storm, "components")));
    check(json_object_get(json_object_get(storm, "wind"), "curve") != NULL);
    check_int(json_array_size(json_object_get(storm, "break")), 5);
    check_int(json_array_size(json_object_get(storm, "obstacles")), 1);
    bough_scene *scene;
    check_ok(ctx, bough_scene_load(ctx, work("storm/scene.json"), &scene));
    bough_scene_destroy(ctx, scene);
    json_decref(calm), json_decref(storm);
}

/* The ball is one part more; all others, and what they are cooked from but for points that can touch, are the oak's. */
static void the_ball_comes_to_the_same_oak(void **state) {
    (void)state;
    check_run(0, "example", "oak", "-o", "still");
    check_run(0, "example", "ball");
    json_t *still = load("still/scene.json"), *ball = load("ball/scene.json"), *parts = json_object_get(ball, "parts");
    check_int(json_array_size(parts), 1436);
    check_int(uses(ball, "ball"), 1);
    for (size_t i = 0; i < 1435; i++)
        check(json_equal(json_array_get(parts, i), json_array_get(json_object_get(still, "parts"), i)));
    check(!json_object_get(ball, "wind") && json_array_size(json_object_get(ball, "obstacles")) == 1);
    json_decref(still), json_decref(ball);
}

/* With fewer leaves, which are what takes the time. It falls into the crown, is held up there, and comes to rest on the
 * ground; energy is lost on the way, and none comes from nowhere. */
static void the_ball_falls_through_the_crown(void **state) {
    (void)state;
    check_run(0, "example", "ball", "-o", "bare", "--leaves", "60");
    check_run(0, "cook", "bare/scene.json");
    check_run(0, "run", "bare/scene.json", "--time", "3", "--record", "bare.csv");
    int rows, touched = 0;
    double *z = test_column(work("bare.csv"), "ball.z", &rows),
           *points = test_column(work("bare.csv"), "touch.points", &rows),
           *balance = test_column(work("bare.csv"), "balance", &rows),
           *landed = test_column(work("bare.csv"), "landing.fz", &rows);
    double risen = 0;
    for (int i = 0; i < rows; i++) {
        check(isfinite(z[i]) && z[i] > 0.39);
        touched += points[i] > 0 && landed[i] == 0;
        risen = fmax(risen, balance[i]);
    }
    check(touched > 100); /* of 720 steps, in the crown */
    check_near(z[rows - 1], 0.4, 1e-3);
    check_near(landed[rows - 1], 99.25 * 9.81,
               1e-3 * 99.25 * 9.81); /* of tets, which fill a little less than the ball */
    check(risen < 0.1);
    free(z), free(points), free(balance), free(landed);
}

/* Leaves that share a place point elsewhere; all together they have the area of the oak's 1,394. */
static void more_leaves_share_places_and_are_smaller(void **state) {
    (void)state;
    check_run(0, "example", "oak", "-o", "dense", "--leaves", "3000");
    check_run(0, "example", "oak", "-o", "oak");
    json_t *dense = load("dense/scene.json"), *oak = load("oak/scene.json"), *part, *places = json_object();
    check_int(uses(dense, "leaf"), 3000);
    double area[2] = {0, 0};
    size_t i;
    int shared = 0;
    json_array_foreach(json_object_get(oak, "parts"), i, part) {
        if (strcmp(text(part, "component"), "leaf") == 0)
            area[0] += pow(number(part, "scale"), 2);
    }
    json_array_foreach(json_object_get(dense, "parts"), i, part) {
        char place[64], pose[160];
        if (strcmp(text(part, "component"), "leaf") != 0)
            continue;
        area[1] += pow(number(part, "scale"), 2);
        snprintf(place, sizeof place, "%s %s", text(part, "parent"), text(part, "interface"));
        snprintf(pose, sizeof pose, "%s %g %g %g", place, item(part, "rotate_deg", 0), item(part, "rotate_deg", 1),
                 item(part, "rotate_deg", 2));
        shared += json_object_get(places, place) != NULL;
        check(!json_object_get(places, pose));
        json_object_set_new(places, place, json_true());
        json_object_set_new(places, pose, json_true());
    }
    check(shared > 1000);
    check_near(area[1] / area[0], 1, 0.02);
    json_decref(places), json_decref(dense), json_decref(oak);
}

/* A hundred oaks of three species, none in another: each species is cooked once. */
static void the_forest_has_a_hundred_oaks(void **state) {
    (void)state;
    json_t *answer, *place, *other, *kinds = json_object();
    size_t i, k;
    check_json(answer, 0, "example", "forest", "--leaves", "3", "--json");
    check_int(number(answer, "parts"), 100 * (41 + 3));
    check_int(number(answer, "coordinates"), 100 * (41 * 20 + 3 * 8));
    json_decref(answer);
    json_t *scene = load("forest/scene.json"), *places = json_object_get(scene, "place");
    check_int(json_array_size(places), 100);
    json_array_foreach(places, i, place) {
        json_object_set_new(kinds, text(place, "object"), json_true());
        json_array_foreach(places, k, other) {
            const double x = item(place, "position", 0) - item(other, "position", 0);
            const double y = item(place, "position", 1) - item(other, "position", 1);
            check(i == k || hypot(x, y) > 4);
        }
    }
    check_int(json_object_size(kinds), 3);
    check_run(0, "example", "forest", "--leaves", "3", "-o", "again");
    check(same_bytes("forest/scene.json", "again/scene.json") &&
          same_bytes("forest/red/leaf.msh", "again/red/leaf.msh"));
    check(!same_bytes("forest/oak/trunk.msh", "forest/holm/trunk.msh"));
    check_run(0, "example", "forest", "--leaves", "3", "--seed", "5", "-o", "again");
    check(!same_bytes("forest/scene.json", "again/scene.json"));
    bough_cook_plan *plan;
    check_ok(ctx, bough_cook_plan_load(ctx, work("forest/scene.json"), NULL, NULL, &plan));
    check_int(bough_cook_plan_count(plan), 18);
    bough_cook_plan_destroy(ctx, plan);
    json_decref(scene), json_decref(kinds);
}

static void a_small_oak_is_cooked(void **state) {
    (void)state;
    json_t *answer;
    check_json(answer, 0, "example", "oak", "-o", "small", "--leaves", "50", "--json");
    check_int(number(answer, "parts"), 91);
    check_int(number(answer, "coordinates"), 41 * 20 + 50 * 8);
    json_decref(answer);
    check_json(answer, 0, "cook", "small/scene.json", "--json");
    check_int(number(answer, "cooked"), 6);
    check(!err[0]);
    json_decref(answer);

    /* Leaves flutter at a few hertz; branches have a place for each leaf, and for what grows from them. */
    bough_component *leaf, *twig;
    check_ok(ctx, bough_component_load(ctx, work("small/scene.cooked/leaf.bough"), &leaf));
    check_ok(ctx, bough_component_load(ctx, work("small/scene.cooked/twig.bough"), &twig));
    check(leaf->quality.full_hz[0] > 2 && leaf->quality.full_hz[0] < 5);
    check_int(leaf->wind.count, 8);
    check_int(twig->wind.count, 24);
    check_int(twig->interface_count, 2 + 36);
    check_int(leaf->surface.vertex_count, 370);
    check_int(twig->surface.vertex_count, 1501);
    bough_component_destroy(ctx, leaf);
    bough_component_destroy(ctx, twig);
}

static void the_same_seed_gives_the_same_bytes(void **state) {
    (void)state;
    static const char *const files[] = {"scene.json", "trunk.msh", "trunk.obj", "leaf.msh", "leaf.obj", "twig.msh"};
    check_run(0, "example", "oak", "-o", "one", "--leaves", "50", "--seed", "5");
    check_run(0, "example", "oak", "-o", "two", "--leaves", "50", "--seed", "5");
    for (size_t i = 0; i < sizeof files / sizeof *files; i++) {
        char a[64], b[64];
        snprintf(a, sizeof a, "one/%s", files[i]);
        snprintf(b, sizeof b, "two/%s", files[i]);
        check(same_bytes(a, b));
    }
    check_run(0, "example", "oak", "-o", "two", "--leaves", "50", "--seed", "6");
    check(!same_bytes("one/scene.json", "two/scene.json") && same_bytes("one/twig.msh", "two/twig.msh"));
    check(!exists("one/scene.json.part"));
    check_run(0, "example", "flower", "-o", "one");
    check_run(0, "example", "flower", "-o", "two");
    check(same_bytes("one/scene.json", "two/scene.json") && same_bytes("one/flower.msh", "two/flower.msh"));
}

/* A sound mesh of one piece, whose element sets are a tree of domains, each in one piece; how deep it is. */
static int check_domains(const char *name, int expected, const char *root, bough_mesh **mesh) {
    bough_mesh_report report;
    int32_t *domain, count, depth = 0;
    bough_split *split;
    check_ok(ctx, bough_mesh_read(ctx, work(name), NULL, mesh));
    check_ok(ctx, bough_mesh_check(ctx, *mesh));
    check_ok(ctx, bough_mesh_measure(ctx, *mesh, &report));
    check_int(report.piece_count, 1);
    check_int(report.nonmanifold_count, 0);
    check_int(report.unused_vertex_count, 0);
    check_ok(ctx, bough_mesh_domains_from_sets(ctx, *mesh, NULL, 0, &domain, &count));
    check_int(count, expected);
    check_ok(ctx, bough_mesh_split(ctx, *mesh, domain, count, &split));
    check_int(split->interface_count, count - 1);
    check_int(split->touching_count, 0);
    for (int32_t d = 0; d < count; d++)
        check_int(split->domains[d].face_piece_count, 1);
    int32_t *parent = malloc(2 * (size_t)count * sizeof *parent);
    const bough_set *set = bough_mesh_find_set(*mesh, BOUGH_SET_ELEMENT, root);
    check_ok(ctx, bough_mesh_domain_tree(ctx, split, domain[set->items[0]], parent, parent + count));
    for (int32_t d = 0; d < count; d++) {
        int32_t above = 0;
        for (int32_t p = parent[d]; p >= 0; p = parent[p])
            above++;
        depth = above > depth ? above : depth;
    }
    free(parent);
    bough_split_destroy(ctx, split);
    bough_release(ctx, domain);
    return depth;
}

static void the_flower_has_twelve_domains(void **state) {
    (void)state;
    json_t *answer;
    check_json(answer, 0, "example", "flower", "--json");
    check_int(number(answer, "parts"), 12);
    check_int(number(answer, "coordinates"), 240);
    json_decref(answer);
    bough_mesh *mesh;
    check_int(check_domains("flower/flower.msh", 12, "stem1", &mesh), 4);
    check(mesh->element_count > 2000 && mesh->element_count < 10000);
    bough_mesh_destroy(ctx, mesh);

    bough_cook_plan *plan;
    check_ok(ctx, bough_cook_plan_load(ctx, work("flower/scene.json"), NULL, NULL, &plan));
    check_int(bough_cook_plan_count(plan), 12);
    for (int32_t i = 0; i < 12; i++)
        check_int(bough_cook_plan_item(plan, i)->r, 20);
    bough_cook_plan_destroy(ctx, plan);
}

/* The paper's Table 1: 160,553 tets, 40 domains, 454 coordinates by the logarithm of the number of tets, depth 5. */
static void the_dragon_has_the_statistics_of_the_paper(void **state) {
    (void)state;
    json_t *answer;
    check_json(answer, 0, "example", "dragon", "--json");
    check_int(number(answer, "parts"), 40);
    check_int(number(answer, "coordinates"), 454);
    check(number(answer, "surface_triangles") > 30000);
    json_decref(answer);
    bough_mesh *mesh;
    check_int(check_domains("dragon/dragon.msh", 40, "belly", &mesh), 5);
    check_near(mesh->element_count, 160553, 1600);
    bough_mesh_report report;
    check_ok(ctx, bough_mesh_measure(ctx, mesh, &report));
    check(report.worst_quality > 0.3);
    bough_mesh_destroy(ctx, mesh);

    bough_cook_plan *plan;
    int32_t coordinates = 0, least = INT32_MAX, most = 0;
    check_ok(ctx, bough_cook_plan_load(ctx, work("dragon/scene.json"), NULL, NULL, &plan));
    for (int32_t i = 0; i < 40; i++) {
        const int32_t r = bough_cook_plan_item(plan, i)->r;
        coordinates += r, least = r < least ? r : least, most = r > most ? r : most;
    }
    check_int(coordinates, 454);
    check(least >= 8 && most <= 18); /* the belly */
    bough_cook_plan_destroy(ctx, plan);
    json_t *scene = load("dragon/scene.json"), *paint = json_object_get(scene, "paint"), *entry;
    size_t i;
    int soft = 0;
    json_array_foreach(paint, i, entry) {
        const char *name = text(entry, "parts");
        soft += number(entry, "stiffness") < 1 &&
                (!strcmp(name, "jaw") || !strcmp(name, "horn_left") || !strcmp(name, "tail4"));
    }
    check_int(soft, 3);
    json_decref(scene);
}

/* A mesh whose element sets are domains takes the dragon's place; anything else is told. */
static void a_scan_takes_the_dragons_place(void **state) {
    (void)state;
    json_t *answer;
    bough_mesh *mesh;
    check_run(0, "example", "flower", "-o", "lily");
    check_json(answer, 0, "example", "dragon", "--mesh", "lily/flower.msh", "-o", "scan", "--json");
    check_int(number(answer, "parts"), 12);
    check_int(number(answer, "coordinates"), (12 * 454 + 39) / 40);
    json_decref(answer);
    json_t *scene = load("scan/scene.json"), *object = json_object_get(scene, "object");
    check(!strcmp(text(object, "root"), "stem1")); /* which stands on the ground */
    check(!json_object_get(scene, "paint"));
    json_decref(scene);
    bough_cook_plan *plan;
    check_ok(ctx, bough_cook_plan_load(ctx, work("scan/scene.json"), NULL, NULL, &plan));
    check_int(bough_cook_plan_count(plan), 12);
    bough_cook_plan_destroy(ctx, plan);

    check_run(0, "mesh", "generate", "box", "--cells", "4,1,1", "-o", "box.msh");
    check_mistake(1, "box.msh has no element sets", "example", "dragon", "--mesh", "box.msh", "-o", "scan");
    check_run(0, "mesh", "convert", "box.msh", "box.obj");
    check_mistake(1, "box.obj is a surface", "example", "dragon", "--mesh", "box.obj", "-o", "scan");
    check_mistake(1, "none.msh", "example", "dragon", "--mesh", "none.msh", "-o", "scan");

    /* Without a ground it rests on what is lowest of its largest domain. */
    bough_box_def def = bough_default_box_def();
    def.cells[0] = 4, def.size[0] = 4, def.cells[2] = 8;
    check_ok(ctx, bough_mesh_generate_box(ctx, &def, &mesh));
    int32_t ends[2][200], count[2] = {0, 0};
    for (int32_t e = 0; e < mesh->element_count; e++) {
        double x = 0;
        for (int i = 0; i < 4; i++)
            x += mesh->vertices[3 * mesh->elements[4 * e + i]] / 4;
        ends[x > 1][count[x > 1]++] = e;
    }
    check_ok(ctx, bough_mesh_add_set(ctx, mesh, BOUGH_SET_ELEMENT, "end", ends[0], count[0]));
    check_ok(ctx, bough_mesh_add_set(ctx, mesh, BOUGH_SET_ELEMENT, "rest \"of\" it", ends[1], count[1]));
    check_ok(ctx, bough_mesh_write(ctx, mesh, work("two.msh")));
    bough_mesh_destroy(ctx, mesh);
    check_run(0, "example", "dragon", "--mesh", "two.msh", "-o", "scan");
    check_ok(ctx, bough_mesh_read(ctx, work("scan/dragon.msh"), NULL, &mesh));
    const bough_set *ground = bough_mesh_find_set(mesh, BOUGH_SET_VERTEX, "ground");
    check_int(ground->count, 2 * 4 * 2);
    for (int32_t i = 0; i < ground->count; i++)
        check(mesh->vertices[3 * ground->items[i]] > 0.9 && mesh->vertices[3 * ground->items[i] + 2] < 0.15);
    bough_mesh_destroy(ctx, mesh);
    check_ok(ctx, bough_cook_plan_load(ctx, work("scan/scene.json"), NULL, NULL, &plan));
    check_int(bough_cook_plan_count(plan), 2);
    bough_cook_plan_destroy(ctx, plan);
}

/* The way from a part to its root, counted in connections: the longest. */
static int depth_of(const json_t *scene) {
    json_t *parts = json_object_get(scene, "parts"), *depths = json_object(), *part;
    size_t i;
    int most = 0;
    json_array_foreach(parts, i, part) { /* parents come before their children */
        const char *parent = json_string_value(json_object_get(part, "parent"));
        const int depth = parent ? 1 + (int)number(depths, parent) : 0;
        json_object_set_new(depths, text(part, "name"), json_integer(depth));
        most = depth > most ? depth : most;
    }
    json_decref(depths);
    return most;
}

/* Meshes in one piece, whose elements hang together by faces; *elements: those of all parts, as drawn. */
static void check_meshes(const char *folder, const json_t *scene, const char *const *names, int count,
                         int64_t *elements) {
    *elements = 0;
    for (int i = 0; i < count; i++) {
        char path[64];
        bough_mesh *mesh;
        bough_mesh_report report;
        snprintf(path, sizeof path, "%s/%s.msh", folder, names[i]);
        check_ok(ctx, bough_mesh_read(ctx, work(path), NULL, &mesh));
        check_ok(ctx, bough_mesh_measure(ctx, mesh, &report));
        check_int(report.piece_count, 1);
        check_int(report.nonmanifold_count + report.unused_vertex_count + report.inverted_count, 0);
        int32_t *domain = calloc((size_t)mesh->element_count, sizeof *domain);
        bough_split *split;
        check_ok(ctx, bough_mesh_split(ctx, mesh, domain, 1, &split));
        check_int(split->domains[0].face_piece_count, 1);
        bough_split_destroy(ctx, split);
        free(domain);
        *elements += (int64_t)uses(scene, names[i]) * mesh->element_count;
        bough_mesh_destroy(ctx, mesh);
    }
}

static int plan_coordinates(const char *path, const json_t *scene, int32_t components) {
    bough_cook_plan *plan;
    int sum = 0;
    check_ok(ctx, bough_cook_plan_load(ctx, work(path), NULL, NULL, &plan));
    check_int(bough_cook_plan_count(plan), components);
    for (int32_t i = 0; i < components; i++)
        sum += uses(scene, bough_cook_plan_item(plan, i)->name) * bough_cook_plan_item(plan, i)->r;
    bough_cook_plan_destroy(ctx, plan);
    return sum;
}

/* The paper's Table 1: 18,945 vertices, 83,753 tets, 15 domains, 160 coordinates, depth 8. */
static void the_letters_have_the_statistics_of_the_paper(void **state) {
    (void)state;
    static const char *const names[] = {"S", "U", "B", "T", "R", "E"};
    json_t *answer;
    int64_t elements;
    check_json(answer, 0, "example", "letters", "--json");
    check_int(number(answer, "parts"), 15);
    check_int(number(answer, "coordinates"), 160);
    check_near(number(answer, "vertices"), 18945, 0.15 * 18945);
    check_near(number(answer, "elements"), 83753, 0.1 * 83753);
    json_t *scene = load("letters/scene.json");
    check_meshes("letters", scene, names, 6, &elements);
    check_int(elements + 7 * 96, number(answer, "elements")); /* and those of the links */
    check_int(uses(scene, "link"), 7);
    check_int(uses(scene, "S"), 2);
    check_int(depth_of(scene), 8);
    check_int(plan_coordinates("letters/scene.json", scene, 7), 160);
    check_run(0, "example", "letters", "-o", "again");
    check(same_bytes("letters/scene.json", "again/scene.json") && same_bytes("letters/S.msh", "again/S.msh"));
    check(same_bytes("letters/S.obj", "again/S.obj"));
    json_decref(answer);
    json_decref(scene);
}

/* Sixteen letters that touch each other; another folder gets the same bytes. */
static void the_pile_is_of_letters_that_touch(void **state) {
    (void)state;
    json_t *answer;
    check_json(answer, 0, "example", "pile", "--json");
    check_int(number(answer, "parts"), 16);
    json_t *scene = load("pile/scene.json");
    check_int(json_array_size(json_object_get(scene, "parts")), 16);
    check(json_is_true(json_object_get(json_object_get(scene, "contact"), "between")));
    check_int(plan_coordinates("pile/scene.json", scene, 6), 320);
    check_run(0, "example", "pile", "-o", "pile2");
    check(same_bytes("pile/scene.json", "pile2/scene.json"));
    json_decref(answer);
    json_decref(scene);
}

/* Closed, and of the letter's volume: what is drawn is what is simulated, but for steps of the cubes. */
static void letters_are_drawn_as_they_are(void **state) {
    (void)state;
    check_run(0, "example", "letters");
    for (const char *name = "SUBTRE"; *name; name++) {
        char path[32];
        bough_mesh *mesh;
        bough_mesh_report drawn, volume;
        snprintf(path, sizeof path, "letters/%c.obj", *name);
        check_ok(ctx, bough_mesh_read(ctx, work(path), NULL, &mesh));
        check_ok(ctx, bough_mesh_measure(ctx, mesh, &drawn));
        bough_mesh_destroy(ctx, mesh);
        snprintf(path, sizeof path, "letters/%c.msh", *name);
        check_ok(ctx, bough_mesh_read(ctx, work(path), NULL, &mesh));
        check_ok(ctx, bough_mesh_measure(ctx, mesh, &volume));
        bough_mesh_destroy(ctx, mesh);
        check_int(drawn.nonmanifold_count + drawn.flat_count, 0);
        check_int(drawn.piece_count, 1);
        check_near(drawn.volume, volume.volume, 0.02 * volume.volume);
        for (int d = 0; d < 3; d++) {
            check_near(drawn.lower[d], volume.lower[d], 0.02);
            check_near(drawn.upper[d], volume.upper[d], 0.02);
        }
    }
}

/* The paper's Table 1: 219,058 vertices, 107,556 voxels, 48 domains, 921 coordinates, depth 4. */
static void the_station_has_the_statistics_of_the_paper(void **state) {
    (void)state;
    static const char *const names[] = {"hub", "module", "truss", "panel", "radiator", "dish", "boom"};
    json_t *answer;
    int64_t elements;
    check_json(answer, 0, "example", "station", "--json");
    check_int(number(answer, "parts"), 48);
    check_int(number(answer, "coordinates"), 921);
    check_near(number(answer, "vertices"), 219058, 0.02 * 219058);
    check_near(number(answer, "elements"), 107556, 0.01 * 107556);
    json_t *scene = load("station/scene.json");
    check_meshes("station", scene, names, 7, &elements);
    check_int(elements, number(answer, "elements"));
    check_int(uses(scene, "panel"), 24);
    check_int(depth_of(scene), 4);
    check_int(plan_coordinates("station/scene.json", scene, 7), 921);
    check_each_place_holds_one(scene);
    json_decref(answer);
    json_decref(scene);
}

/* Settled under its weight, and then stepped. */
static void the_flower_runs(void **state) {
    (void)state;
    json_t *answer;
    make_cooked("flower", "flower", NULL);
    check_json(answer, 0, "run", "flower/scene.json", "--time", "0.05", "--json");
    check_int(number(answer, "steps"), 12);
    json_decref(answer);
}

/* As tall as an oak: what the parts' frames say, not what the generator planned. With components of a test before. */
static void the_oak_stands(void **state) {
    (void)state;
    bough_scene *scene;
    bough_tree_model *model;
    bough_tree_state *s;
    check_ok(ctx, bough_scene_load(ctx, work("small/scene.json"), &scene));
    check_ok(ctx, bough_scene_model(ctx, scene, &model));
    check_ok(ctx, bough_tree_state_create(ctx, model, &s));
    check_ok(ctx, bough_tree_state_settle(ctx, model, s, NULL, NULL));
    const bough_tree_model_def *def = bough_tree_model_describe(model);
    double top = 0, reach = 0, lowest = INFINITY;
    static float positions[3 * 1501];
    for (int32_t p = 0; p < def->part_count; p++) {
        int32_t vertices = def->components[def->parts[p].component]->surface.vertex_count;
        check_ok(ctx, bough_tree_state_positions(ctx, model, s, p, positions));
        for (int32_t v = 0; v < vertices; v++) {
            const float *x = positions + 3 * v;
            top = fmax(top, (double)x[2]), reach = fmax(reach, hypot((double)x[0], (double)x[1]));
            lowest = fmin(lowest, p == 0 ? INFINITY : (double)x[2]);
        }
    }
    check(top > 7.5 && top < 12);
    check(reach > 3 && reach < 7);
    check(lowest > 1); /* nothing but the trunk touches the ground */
    bough_tree_state_destroy(ctx, s);
    bough_tree_model_destroy(ctx, model);
    bough_scene_destroy(ctx, scene);
}

/* The fields that programs read from bough bench. */
static void the_bench_of_the_flower_has_its_figures(void **state) {
    (void)state;
    json_t *answer;
    check_json(answer, 0, "bench", "flower", "--coupling", "L3", "--json");
    check(strcmp(text(answer, "scene"), "flower") == 0 && strcmp(text(answer, "coupling"), "L3") == 0);
    check(number(answer, "threads") == 1 && number(answer, "parts") == 12 && number(answer, "dofs") == 240);
    const double step = number(answer, "step_us_median"), kernel = number(answer, "kernel_us_median");
    check(step > 0 && kernel > 0 && number(answer, "step_us_p99") >= step);
    check_near(number(answer, "ratio"), step / kernel, 1e-9);
    check_near(number(answer, "realtime_factor"), 1e6 * number(answer, "dt") / step, 1e-6);
    json_decref(answer);
}

/* The files in examples/ are what the command makes. */
static void mechanisms_are_those_of_the_repository(void **state) {
    (void)state;
    static const struct {
        const char *name, *file;
        int links, joints;
    } made[] = {{"hand", "scene.json", 14, 13},
                {"hand", "over.json", 14, 13},
                {"walker", "scene.json", 19, 18},
                {"trampoline", "scene.json", 51, 75}};
    for (size_t i = 0; i < sizeof made / sizeof *made; i++) {
        json_t *answer;
        char path[1000], file[64];
        check_json(answer, 0, "example", made[i].name, "--json");
        check_int(number(answer, "links"), made[i].links);
        check_int(number(answer, "joints"), made[i].joints);
        json_decref(answer);
        snprintf(path, sizeof path, "%s/examples/%s/%s", BOUGH_SOURCE_DIR, made[i].name, made[i].file);
        snprintf(file, sizeof file, "%s/%s", made[i].name, made[i].file);
        json_t *scene = load(file), *stored = json_load_file(path, 0, NULL);
        check(json_equal(scene, stored));
        json_decref(scene);
        json_decref(stored);
    }
    check_mistake(2, "--seed is for the oak", "example", "walker", "--seed", "5");
}

/* As in the table of the paper that they are from, but for the figure's 75 coordinates: equal limbs have equal numbers. */
static void robots_settle_and_move(void **state) {
    (void)state;
    static const struct {
        const char *name;
        int bodies, parts, coordinates, motors;
    } made[] = {{"dancer", 7, 3, 76, 4},
                {"bartender", 6, 3, 67, 4},
                {"rapper", 9, 3, 82, 4},
                {"drummer", 16, 4, 76, 13},
                {"boxer", 16, 4, 76, 13}};
    for (size_t i = 0; i < sizeof made / sizeof *made; i++) {
        json_t *answer;
        char file[64];
        check_json(answer, 0, "example", made[i].name, "--json");
        check_int(number(answer, "bodies"), made[i].bodies);
        check_int(number(answer, "parts"), made[i].parts);
        check_int(number(answer, "coordinates"), made[i].coordinates);
        check_int(number(answer, "motors"), made[i].motors);
        json_decref(answer);
        snprintf(file, sizeof file, "%s/scene.json", made[i].name);
        json_t *scene = load(file);
        check_int(json_array_size(json_object_get(scene, "motors")), made[i].motors);
        check_int(plan_coordinates(file, scene, (int32_t)json_object_size(json_object_get(scene, "components"))),
                  made[i].coordinates);
        json_decref(scene);
        check_run(0, "cook", file);
        check(!strstr(out, "poor"));
        check_json(answer, 0, "run", file, "--time", "0.025", "--json");
        check_int(number(answer, "steps"), 50);
        check(number(answer, "retries") == 0 && number(answer, "settle_residual") < 1e-8);
        check(number(json_object_get(answer, "joint_gap"), "distance") < 1e-6);
        json_decref(answer);
    }
}

/* One body of sound elements, which touches itself, and two plates that come together and part again. */
static void the_creature_stands_between_two_plates(void **state) {
    (void)state;
    json_t *answer, *obstacle;
    bough_mesh *mesh;
    size_t i;
    check_json(answer, 0, "example", "squeeze", "--json");
    check_ok(ctx, bough_mesh_read(ctx, work("squeeze/creature.msh"), NULL, &mesh));
    check_ok(ctx, bough_mesh_check(ctx, mesh));
    check_int(mesh->type, BOUGH_TET4);
    check_int(mesh->vertex_count, number(answer, "vertices"));
    check_int(mesh->element_count, number(answer, "elements"));
    json_decref(answer);
    double low = INFINITY, high = -INFINITY;
    for (int32_t v = 0; v < mesh->vertex_count; v++)
        low = fmin(low, mesh->vertices[3 * v + 1]), high = fmax(high, mesh->vertices[3 * v + 1]);
    bough_mesh_destroy(ctx, mesh);
    json_t *scene = load("squeeze/scene.json"), *obstacles = json_object_get(scene, "obstacles");
    check(json_is_true(json_object_get(json_object_get(scene, "contact"), "itself")));
    check_int(json_array_size(obstacles), 2);
    double least = 0;
    json_array_foreach(obstacles, i, obstacle) {
        const json_t *track = json_object_get(obstacle, "track"), *middle = json_array_get(track, 1);
        check_int(json_array_size(track), 4);
        check(json_equal(json_object_get(json_array_get(track, 0), "position"),
                         json_object_get(json_array_get(track, 3), "position")));
        least += (i ? 1 : -1) * json_number_value(json_array_get(json_object_get(middle, "position"), 1)) - 0.02;
    }
    check(least > 0 && least < 0.5 * (high - low)); /* half its width at most is left to it */
    json_decref(scene);
    check_run(0, "example", "squeeze", "-o", "again");
    check(same_bytes("squeeze/creature.msh", "again/creature.msh"));
    check_json(answer, 0, "run", "squeeze/scene.json", "--time", "0.02", "--json");
    check(number(answer, "steps") == 2 && number(answer, "retries") == 0);
    json_decref(answer);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(without_a_name_they_are_listed),
        cmocka_unit_test(the_creature_stands_between_two_plates),
        cmocka_unit_test(mechanisms_are_those_of_the_repository),
        cmocka_unit_test(robots_settle_and_move),
        cmocka_unit_test(the_oak_has_the_statistics_of_the_paper),
        cmocka_unit_test(more_leaves_share_places_and_are_smaller),
        cmocka_unit_test(the_forest_has_a_hundred_oaks),
        cmocka_unit_test(the_storm_blows_on_the_same_oak),
        cmocka_unit_test(the_ball_comes_to_the_same_oak),
        cmocka_unit_test(the_ball_falls_through_the_crown),
        cmocka_unit_test(a_small_oak_is_cooked),
        cmocka_unit_test(the_same_seed_gives_the_same_bytes),
        cmocka_unit_test(the_flower_has_twelve_domains),
        cmocka_unit_test(the_dragon_has_the_statistics_of_the_paper),
        cmocka_unit_test(a_scan_takes_the_dragons_place),
        cmocka_unit_test(the_letters_have_the_statistics_of_the_paper),
        cmocka_unit_test(the_pile_is_of_letters_that_touch),
        cmocka_unit_test(letters_are_drawn_as_they_are),
        cmocka_unit_test(the_station_has_the_statistics_of_the_paper),
        cmocka_unit_test(the_flower_runs),
        cmocka_unit_test(the_oak_stands),
        cmocka_unit_test(the_bench_of_the_flower_has_its_figures),
    };
    return cmocka_run_group_tests(tests, prepare, finish_all);
}
