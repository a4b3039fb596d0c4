/* glTF files hold what was put into them: read back by rules of the format alone, they show every vertex where it
 * should be in every frame. */
#include "base/file.h"
#include "glb_reader.h"
#include "synced.h"

#include <bough/record.h>

enum { VERTICES = 7, TRIANGLES = 5, TARGETS = 3, NODES = 4, FRAMES = 6 };

/* Two meshes, the first with targets and in two colours; node 3 has the one without. */
typedef struct {
    float positions[VERTICES][3], targets[TARGETS][VERTICES][3], weights[FRAMES][3 * TARGETS];
    int32_t triangles[TRIANGLES][3];
    bough_glb_pose poses[FRAMES][NODES];
    double scale[NODES];
} content;

static content random_content(uint64_t seed) {
    test_random r = {seed};
    content c = {0};
    for (int v = 0; v < VERTICES; v++)
        for (int d = 0; d < 3; d++) {
            c.positions[v][d] = (float)test_uniform(&r, -1, 1);
            for (int k = 0; k < TARGETS; k++)
                c.targets[k][v][d] = (float)test_uniform(&r, -1, 1);
        }
    for (int t = 0; t < TRIANGLES; t++)
        for (int i = 0; i < 3; i++)
            c.triangles[t][i] = (t + i) % VERTICES;
    for (int n = 0; n < NODES; n++) {
        c.scale[n] = test_uniform(&r, 0.5, 2);
        bo_vec3 w = bo_v3(test_uniform(&r, -1, 1), test_uniform(&r, -1, 1), test_uniform(&r, -1, 1));
        for (int f = 0; f < FRAMES; f++) { /* a full turn and more: the quaternion changes its sign on the way */
            bo_mat3 R = bo_exp3(bo_scale(n == 2 ? 1 : 1.5 * f, w));
            memcpy(c.poses[f][n].rotation, R.m, sizeof R.m);
            for (int d = 0; d < 3; d++)
                c.poses[f][n].translation[d] = n == 2 ? d : test_uniform(&r, -3, 3);
        }
    }
    for (int f = 0; f < FRAMES; f++)
        for (int i = 0; i < 3 * TARGETS; i++)
            c.weights[f][i] = i >= 2 * TARGETS ? 0.25f : (float)test_uniform(&r, -40, 40);
    return c;
}

static bough_glb_mesh mesh_of(const content *c) {
    bough_glb_mesh mesh = bough_default_glb_mesh();
    mesh.name = "a \"leaf\"\n\\";
    mesh.vertex_count = VERTICES, mesh.triangle_count = TRIANGLES;
    mesh.positions = c->positions[0], mesh.triangles = c->triangles[0];
    mesh.target_count = TARGETS, mesh.targets = c->targets[0][0];
    return mesh;
}

static bool flushed; /* the file is complete after every frame already */

static bough_status put_together(bough_context *ctx, const content *c, const char *path, int frames, bool z_up) {
    const float red[3] = {1, 0, 0.5f};
    bough_glb_def def = bough_default_glb_def();
    def.path = path, def.z_up = z_up;
    bough_glb *glb;
    bough_status s = bough_glb_create(ctx, &def, &glb);
    if (s)
        return s;
    bough_glb_mesh mesh = mesh_of(c);
    s = bough_glb_add_mesh(ctx, glb, &mesh);
    mesh.target_count = 0, mesh.targets = NULL, mesh.name = NULL;
    s = s ? s : bough_glb_add_mesh(ctx, glb, &mesh);
    s = s ? s : bough_glb_add_tint(ctx, glb, 0, red);
    for (int n = 0; n < NODES && !s; n++)
        s = bough_glb_add_node(ctx, glb, n == 1 ? NULL : "node", n == 3 ? 1 : n == 1 ? 2 : 0, c->scale[n]);
    for (int f = 0; f < frames && !s; f++) {
        s = bough_glb_add_frame(ctx, glb, 0.1 * f, c->poses[f], c->weights[f]);
        s = s || !flushed ? s : bough_glb_flush(ctx, glb);
    }
    if (!s)
        return bough_glb_finish(ctx, glb);
    bough_glb_discard(ctx, glb);
    return s;
}

static void check_positions(const glb_file *file, const content *c, int frames, bool z_up) {
    for (int f = 0; f < frames; f++)
        for (int n = 0; n < NODES; n++)
            for (int v = 0; v < VERTICES; v++) {
                bo_vec3 x = bo_v3((double)c->positions[v][0], (double)c->positions[v][1], (double)c->positions[v][2]);
                for (int k = 0; k < TARGETS && n < 3; k++) {
                    const float *t = c->targets[k][v];
                    x = bo_mul_add(x, (double)c->weights[f][n * TARGETS + k],
                                   bo_v3((double)t[0], (double)t[1], (double)t[2]));
                }
                bo_mat3 R;
                memcpy(R.m, c->poses[f][n].rotation, sizeof R.m);
                x = bo_add(bo_mat_vec(R, bo_scale(c->scale[n], x)), bo_load3(c->poses[f][n].translation));
                bo_vec3 y = shown(file, (size_t)n + 1, (size_t)v, 0.1 * f);
                bo_vec3 expected = z_up ? bo_v3(x.x, x.z, -x.y) : x;
                check_below(bo_norm(bo_sub(y, expected)), 0.02); /* 16 bits of a weight of 40 */
            }
}

static void every_vertex_is_where_it_should_be(void **state) {
    (void)state;
    bough_context *ctx = test_context(1);
    for (int z_up = 0; z_up < 2; z_up++)
        for (int frames = 1; frames <= FRAMES; frames += FRAMES - 1) {
            content c = random_content(11 + (uint64_t)frames);
            check_ok(ctx, put_together(ctx, &c, test_path("a.glb"), frames, z_up));
            glb_file file = read_glb(test_path("a.glb"));
            check_accessors(&file);
            check_positions(&file, &c, frames, z_up);
            check((json_object_get(file.json, "animations") != NULL) == (frames > 1));
            close_glb(&file);
        }
    bough_context_destroy(ctx);
}

/* Whoever reads it meanwhile finds a file, and in the end it is as if nobody had. */
static void flushed_files_are_complete_and_end_alike(void **state) {
    (void)state;
    bough_context *ctx = test_context(1);
    content c = random_content(7);
    memset(c.weights[0], 0, sizeof c.weights[0]); /* what does not move at first moves a little later */
    for (int f = 1; f < FRAMES; f++)
        for (int i = 0; i < 3 * TARGETS; i++)
            c.weights[f][i] *= 1e-3f;
    bo_file a, b;
    for (int frames = 1; frames <= FRAMES; frames++) {
        flushed = true;
        check_ok(ctx, put_together(ctx, &c, test_path("flushed.glb"), frames, false));
        flushed = false;
        check_ok(ctx, put_together(ctx, &c, test_path("plain.glb"), frames, false));
        check_ok(ctx, bo_file_read(ctx, test_path("flushed.glb"), &a));
        check_ok(ctx, bo_file_read(ctx, test_path("plain.glb"), &b));
        check(a.size == b.size && memcmp(a.data, b.data, a.size) == 0);
        bo_file_free(ctx, &a);
        bo_file_free(ctx, &b);
    }
    bough_context_destroy(ctx);
}

/* Node 3 of the file stands still, and its weights too. */
/* When flush or finish return, the file is on the disk itself, with its name. */
static void files_are_on_the_disk(void **state) {
    (void)state;
    bough_context *ctx = test_context(1);
    content c = random_content(5);
    const char *path = test_path("safe.glb");
    sync_count = 0;
    check_ok(ctx, put_together(ctx, &c, path, 2, false));
    check(was_synced(path) && was_synced(test_path("")));
    bough_glb_def def = bough_default_glb_def();
    def.path = path;
    bough_glb *glb;
    bough_glb_mesh mesh = mesh_of(&c);
    check_ok(ctx, bough_glb_create(ctx, &def, &glb));
    check_ok(ctx, bough_glb_add_mesh(ctx, glb, &mesh));
    check_ok(ctx, bough_glb_add_node(ctx, glb, "node", 0, 1));
    for (int f = 0; f < 3; f++) {
        check_ok(ctx, bough_glb_add_frame(ctx, glb, 0.1 * f, c.poses[f], c.weights[f]));
        sync_count = 0;
        check_ok(ctx, f < 2 ? bough_glb_flush(ctx, glb) : bough_glb_finish(ctx, glb));
        check(was_synced(path) && was_synced(test_path("")));
    }
    bough_context_destroy(ctx);
}

static void what_does_not_change_is_not_animated(void **state) {
    (void)state;
    bough_context *ctx = test_context(1);
    content c = random_content(3);
    check_ok(ctx, put_together(ctx, &c, test_path("b.glb"), FRAMES, true));
    glb_file file = read_glb(test_path("b.glb"));
    static const char *const paths[3] = {"translation", "rotation", "weights"};
    for (int p = 0; p < 3; p++) {
        check(!sampler_of(&file, 3, paths[p]));
        check(sampler_of(&file, 1, paths[p]) != NULL);
    }
    check(!sampler_of(&file, 4, "weights"));
    close_glb(&file);
    bough_context_destroy(ctx);
}

/* A node that comes and goes has no size while it is away; others are not scaled. */
static void hidden_nodes_have_no_size(void **state) {
    (void)state;
    bough_context *ctx = test_context(1);
    content c = random_content(4);
    for (int f = 0; f < FRAMES; f++)
        c.poses[f][1].hidden = f < 2 || f == 4;
    check_ok(ctx, put_together(ctx, &c, test_path("h.glb"), FRAMES, true));
    glb_file file = read_glb(test_path("h.glb"));
    check_accessors(&file);
    for (size_t n = 0; n < NODES; n++)
        check_int(sampler_of(&file, n + 1, "scale") != NULL, n == 1);
    for (size_t f = 0; f < FRAMES; f++)
        for (size_t k = 0; k < 3; k++)
            check_near(animated(&file, 2, "scale", 0.1 * (double)f, k, 3), c.poses[f][1].hidden ? 0 : c.scale[1], 1e-6);
    const json_t *still = json_object_get(entry(&file, "nodes", 2), "scale");
    check_near(json_number_value(json_array_get(still, 0)), 0, 0);
    close_glb(&file);
    bough_context_destroy(ctx);
}

/* Between frames viewers take the straight way from one quaternion to the next. */
static void neighbouring_quaternions_have_one_sign(void **state) {
    (void)state;
    bough_context *ctx = test_context(1);
    content c = random_content(5);
    check_ok(ctx, put_together(ctx, &c, test_path("c.glb"), FRAMES, true));
    glb_file file = read_glb(test_path("c.glb"));
    for (size_t n = 1; n <= NODES; n++)
        for (size_t f = 1; f < FRAMES; f++) {
            double dot = 0;
            for (size_t k = 0; k < 4; k++)
                dot += animated(&file, n, "rotation", 0.1 * (double)f, k, 4) *
                       animated(&file, n, "rotation", 0.1 * (double)(f - 1), k, 4);
            check(dot > -1e-4);
        }
    close_glb(&file);
    bough_context_destroy(ctx);
}

/* One node swings for a while, rests and glides on; its targets make a flat sheet a bump. */
static bough_status put_swing(bough_context *ctx, const char *path, double tolerance, bough_glb_pose *pose,
                              float weights[][2], int frames) {
    static const float positions[4][3] = {{0, 0, 0}, {1, 0, 0}, {0, 1, 0}, {1, 1, 0}},
                       targets[2][4][3] = {{{0, 0, 0}, {0, 0, 1}, {0, 0, 0}, {0, 0, 1}}, {{0, 0.1f, 0}}};
    static const int32_t triangles[2][3] = {{0, 1, 2}, {1, 3, 2}};
    bough_glb_def def = bough_default_glb_def();
    def.path = path, def.tolerance = tolerance, def.z_up = false;
    bough_glb_mesh mesh = bough_default_glb_mesh();
    mesh.vertex_count = 4, mesh.positions = positions[0], mesh.triangle_count = 2, mesh.triangles = triangles[0];
    mesh.target_count = 2, mesh.targets = targets[0][0];
    bough_glb *glb;
    bough_status s = bough_glb_create(ctx, &def, &glb);
    if (s)
        return s;
    s = bough_glb_add_mesh(ctx, glb, &mesh);
    s = s ? s : bough_glb_add_node(ctx, glb, NULL, 0, 2);
    for (int f = 0; f < frames && !s; f++)
        s = bough_glb_add_frame(ctx, glb, f / 30.0, &pose[f], weights[f]);
    if (!s)
        return bough_glb_finish(ctx, glb);
    bough_glb_discard(ctx, glb);
    return s;
}

enum { SWING = 200 };

static void make_swing(bough_glb_pose *pose, float weights[][2]) {
    for (int f = 0; f < SWING; f++) {
        const double t = f / 30.0, swings = t < 2 ? sin(4 * t) : sin(8), glides = t < 4 ? 0 : t - 4;
        const bo_mat3 R = bo_exp3(bo_v3(0, 0.3 * swings, 2 * glides));
        pose[f] = (bough_glb_pose){.translation = {glides, 2 * swings, 0}, .hidden = f >= 150 && f < 160};
        memcpy(pose[f].rotation, R.m, sizeof R.m);
        weights[f][0] = (float)(0.5 * swings), weights[f][1] = t < 2 ? (float)(1e-5 * sin(3 * t)) : 0;
    }
}

/* Frames that lie on the way between others are left out, and nothing is shown further off than was allowed. */
static void keys_are_left_out_where_nobody_sees_it(void **state) {
    (void)state;
    bough_context *ctx = test_context(1);
    static bough_glb_pose pose[SWING];
    static float weights[SWING][2];
    size_t keys[3];
    make_swing(pose, weights);
    for (int i = 0; i < 3; i++) {
        const double tolerance = (double[]){0, 5e-3, 0.1}[i];
        check_ok(ctx, put_swing(ctx, test_path("k.glb"), tolerance, pose, weights, SWING));
        glb_file file = read_glb(test_path("k.glb"));
        check_accessors(&file);
        keys[i] = key_count(&file, sampler_of(&file, 1, "translation"));
        for (int f = 0; f < SWING; f++)
            for (int v = 0; v < 4 && !pose[f].hidden; v++) {
                const bo_vec3 rest = bo_v3(v & 1, (v >> 1) + (v == 0 ? 0.1 * (double)weights[f][1] : 0),
                                           v & 1 ? (double)weights[f][0] : 0);
                bo_mat3 R;
                memcpy(R.m, pose[f].rotation, sizeof R.m);
                const bo_vec3 x = bo_add(bo_load3(pose[f].translation), bo_mat_vec(R, bo_scale(2, rest)));
                check_below(bo_norm(bo_sub(shown(&file, 1, (size_t)v, f / 30.0), x)),
                            tolerance + 4e-4); /* and 16 bits */
            }
        for (int f = 0; f < SWING; f++)
            check_near(animated(&file, 1, "scale", f / 30.0, 0, 3), pose[f].hidden ? 0 : 2, 0);
        close_glb(&file);
    }
    if (!(keys[0] < SWING - 50 && keys[1] < keys[0] - 50 && keys[2] < keys[1] - 25 && keys[2] > 8))
        fail_msg("%zu, %zu and %zu keys", keys[0], keys[1], keys[2]);
    check_fails(ctx, put_swing(ctx, test_path("k.glb"), NAN, pose, weights, 2), BOUGH_ERROR_ARGUMENT, "tolerance");
    bough_context_destroy(ctx);
}

/* A sheet in the plane z = 0 that a target tilts about y by a small angle: its normals lean by that angle. */
static void normals_turn_with_the_targets(void **state) {
    (void)state;
    bough_context *ctx = test_context(1);
    static bough_glb_pose pose[SWING];
    static float weights[SWING][2];
    make_swing(pose, weights);
    check_ok(ctx, put_swing(ctx, test_path("n.glb"), 0, pose, weights, 2));
    glb_file file = read_glb(test_path("n.glb"));
    const json_t *primitive = json_array_get(json_object_get(entry(&file, "meshes", 0), "primitives"), 0);
    const json_t *tilt = json_array_get(json_object_get(primitive, "targets"), 0);
    const double largest = fabs((double)weights[1][0]); /* which the target in the file is multiplied by */
    for (size_t v = 0; v < 4; v++) {
        check_near(scalar(&file, whole(json_object_get(primitive, "attributes"), "NORMAL"), v, 2), 1, 1e-6);
        for (size_t c = 0; c < 3; c++)
            check_near(scalar(&file, whole(tilt, "NORMAL"), v, c), c == 0 ? -largest : 0, 1e-6);
    }
    close_glb(&file);
    bough_context_destroy(ctx);
}

/* Normals of a flat square point along its axis; two colours share one geometry; names survive; colours are linear. */
static void meshes_are_stored_once(void **state) {
    (void)state;
    bough_context *ctx = test_context(1);
    content c = random_content(7);
    for (int v = 0; v < VERTICES; v++) {
        const double angle = 0.5 * v;
        c.positions[v][0] = (float)cos(angle), c.positions[v][1] = (float)sin(angle), c.positions[v][2] = 2;
    }
    check_ok(ctx, put_together(ctx, &c, test_path("d.glb"), 2, true));
    glb_file file = read_glb(test_path("d.glb"));
    const json_t *one = json_array_get(json_object_get(entry(&file, "meshes", 0), "primitives"), 0);
    const json_t *two = json_array_get(json_object_get(entry(&file, "meshes", 2), "primitives"), 0);
    check(json_equal(json_object_get(one, "attributes"), json_object_get(two, "attributes")));
    check(json_equal(json_object_get(one, "targets"), json_object_get(two, "targets")));
    check_int(whole(two, "material"), 2);
    check(strcmp(json_string_value(json_object_get(entry(&file, "meshes", 0), "name")), "a \"leaf\"\n\\") == 0);
    check(strcmp(json_string_value(json_object_get(entry(&file, "nodes", 1), "name")), "node") == 0);
    check(json_object_get(entry(&file, "nodes", 2), "name") == NULL);
    const json_t *look = json_object_get(entry(&file, "materials", 2), "pbrMetallicRoughness");
    check(json_is_true(json_object_get(entry(&file, "materials", 2), "doubleSided")));
    check_near(node_number(look, "baseColorFactor", 0), 1, 1e-6);
    check_near(node_number(look, "baseColorFactor", 2), 0.21404, 1e-4); /* half of sRGB */
    size_t normals = whole(json_object_get(one, "attributes"), "NORMAL");
    for (size_t v = 0; v < VERTICES; v++)
        check_near(fabs(scalar(&file, normals, v, 2)), 1, 1e-6);
    for (size_t i = 0; i < 3 * TRIANGLES; i++)
        check_int(scalar(&file, whole(one, "indices"), i, 0), c.triangles[i / 3][i % 3]);
    close_glb(&file);
    bough_context_destroy(ctx);
}

static void mistakes_are_refused_and_leave_nothing(void **state) {
    (void)state;
    bough_context *ctx = test_context(1);
    content c = random_content(9);
    bough_glb_def def = bough_default_glb_def(), blank = {.path = "x.glb"};
    bough_glb *glb;
    check_fails(ctx, bough_glb_create(ctx, &blank, &glb), BOUGH_ERROR_ARGUMENT, "bough_default_glb_def");
    def.path = test_path("no/such/folder.glb");
    check_fails(ctx, bough_glb_create(ctx, &def, &glb), BOUGH_ERROR_FILE, "folder.glb");
    def.path = "/dev/null";
    check_fails(ctx, bough_glb_create(ctx, &def, &glb), BOUGH_ERROR_FILE, "rewound");
    def.path = test_path("e.glb");
    check_ok(ctx, bough_glb_create(ctx, &def, &glb));
    bough_glb_mesh mesh = mesh_of(&c), wrong = mesh;
    wrong.cookie = 0;
    check_fails(ctx, bough_glb_add_mesh(ctx, glb, &wrong), BOUGH_ERROR_ARGUMENT, "bough_default_glb_mesh");
    wrong = mesh, wrong.target_count = BOUGH_GLB_TARGET_LIMIT + 1;
    check_fails(ctx, bough_glb_add_mesh(ctx, glb, &wrong), BOUGH_ERROR_ARGUMENT, "targets");
    wrong = mesh, wrong.vertex_count = VERTICES - 2;
    check_fails(ctx, bough_glb_add_mesh(ctx, glb, &wrong), BOUGH_ERROR_ARGUMENT, "does not exist");
    wrong = mesh, wrong.colour[1] = 2;
    check_fails(ctx, bough_glb_add_mesh(ctx, glb, &wrong), BOUGH_ERROR_ARGUMENT, "colour");
    wrong = mesh, wrong.triangle_count = 0;
    check_fails(ctx, bough_glb_add_mesh(ctx, glb, &wrong), BOUGH_ERROR_ARGUMENT, "needs vertices");
    c.targets[1][2][0] = NAN;
    check_fails(ctx, bough_glb_add_mesh(ctx, glb, &mesh), BOUGH_NOT_FINITE, "finite");
    c.targets[1][2][0] = 0;
    check_ok(ctx, bough_glb_add_mesh(ctx, glb, &mesh));
    check_fails(ctx, bough_glb_add_tint(ctx, glb, 1, mesh.colour), BOUGH_ERROR_ARGUMENT, "mesh 1 does not exist");
    check_fails(ctx, bough_glb_add_node(ctx, glb, NULL, -1, 1), BOUGH_ERROR_ARGUMENT, "mesh -1");
    check_fails(ctx, bough_glb_add_node(ctx, glb, NULL, 0, 0), BOUGH_ERROR_ARGUMENT, "scale");
    check_ok(ctx, bough_glb_add_node(ctx, glb, NULL, 0, 1));
    check_fails(ctx, bough_glb_add_frame(ctx, glb, NAN, c.poses[0], c.weights[0]), BOUGH_ERROR_ARGUMENT, "time");
    check_ok(ctx, bough_glb_add_frame(ctx, glb, 1, c.poses[0], c.weights[0]));
    check_fails(ctx, bough_glb_add_frame(ctx, glb, 1, c.poses[1], c.weights[1]), BOUGH_ERROR_ARGUMENT, "after");
    c.weights[1][0] = INFINITY;
    check_fails(ctx, bough_glb_add_frame(ctx, glb, 2, c.poses[1], c.weights[1]), BOUGH_NOT_FINITE, "weight");
    c.poses[1][0].rotation[4] = NAN;
    check_fails(ctx, bough_glb_add_frame(ctx, glb, 2, c.poses[1], c.weights[2]), BOUGH_NOT_FINITE, "node 0");
    check_fails(ctx, bough_glb_add_mesh(ctx, glb, &mesh), BOUGH_ERROR_ARGUMENT, "before the first frame");
    check_fails(ctx, bough_glb_add_node(ctx, glb, NULL, 0, 1), BOUGH_ERROR_ARGUMENT, "before the first frame");
    check(access(test_path("e.glb"), F_OK) != 0); /* not before it is complete */
    bough_glb_discard(ctx, glb);
    check_ok(ctx, bough_glb_create(ctx, &def, &glb));
    check_fails(ctx, bough_glb_finish(ctx, glb), BOUGH_ERROR_ARGUMENT, "a node and a frame");
    check(access(test_path("e.glb"), F_OK) != 0);
    bough_context_destroy(ctx);
}

static void memory_may_be_short_at_any_time(void **state) {
    (void)state;
    content c = random_content(13);
    long calls = 1;
    for (long fail_at = -1; fail_at < calls; fail_at++) {
        test_memory memory = {.fail_at = -1};
        bough_context *ctx = test_counting_context(&memory);
        memory.fail_at = fail_at < 0 ? -1 : memory.calls + fail_at;
        long before = memory.calls, live = memory.live;
        bough_status s = put_together(ctx, &c, test_path("f.glb"), FRAMES, true);
        if (fail_at < 0)
            calls = memory.calls - before;
        check_int(s, fail_at < 0 ? BOUGH_OK : BOUGH_ERROR_MEMORY);
        check_int(memory.live, live);
        check((access(test_path("f.glb"), F_OK) == 0) == (fail_at < 0));
        remove(test_path("f.glb"));
        bough_context_destroy(ctx);
    }
    check(calls > 20);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_vertex_is_where_it_should_be),
        cmocka_unit_test(flushed_files_are_complete_and_end_alike),
        cmocka_unit_test(files_are_on_the_disk),
        cmocka_unit_test(what_does_not_change_is_not_animated),
        cmocka_unit_test(hidden_nodes_have_no_size),
        cmocka_unit_test(neighbouring_quaternions_have_one_sign),
        cmocka_unit_test(keys_are_left_out_where_nobody_sees_it),
        cmocka_unit_test(normals_turn_with_the_targets),
        cmocka_unit_test(meshes_are_stored_once),
        cmocka_unit_test(mistakes_are_refused_and_leave_nothing),
        cmocka_unit_test(memory_may_be_short_at_any_time),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
