/* Surfaces at the places where parts meet: gaps, the kink that is left, and the cost of drawing them smooth. */
#include "tree_scene.h"

#include "tree/surface.h"

#include <bough/record.h>

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- scenes in strong motion ---- */

enum { RATE = 240, STEPS = 480, LOOK_EVERY = 4, ROWS = 1080, COLUMNS = 1920 };
static const double sideways = 9.81; /* m/s^2, from the first step on, beside the weight */

typedef struct {
    const char *name, *folder; /* folder: of an example with files of its own; NULL: made */
} cast;
static const cast scenes[] = {
    {"flower", NULL},
    {"oak", NULL},
    {"dragon", NULL},
    {"letters", NULL},
    {"station", NULL},
    {"y-tree", "examples/y-tree"},
    {"two-leaves", "examples/two-leaves"},
};
enum { SCENES = sizeof scenes / sizeof *scenes };

/* The distance by which a planted part slides or sinks on the surface that it stands on. */
typedef struct {
    double largest, rms; /* m, of all times */
} slip;

typedef struct {
    int32_t parts, cut, planted; /* joints: with vertices in common, and without */
    int32_t refused;             /* steps that were taken in halves */
    bough_tree_gap gap;          /* the largest of all times */
    char gap_part[64];
    double pixel; /* m, in a picture of the scene */
    double shift; /* m: the largest by which C1 moves a vertex, of all times */
    char shift_part[64];
    int32_t root_vertices;    /* of parts that share none with what they hang on */
    slip apart, smooth;       /* by parts and with C1 */
    double kink, smooth_kink; /* degrees: of normals at joints, by parts and with C1; the largest of all times */
} scene_figures;

/* Surfaces of the whole: with parts as they are, and joined. */
typedef struct {
    size_t count;
    float *apart, *joined;
} two_surfaces;

static bool make_surfaces(const bough_tree_model *model, two_surfaces *s) {
    s->count = 3 * (size_t)bough_tree_model_vertex_count(model);
    s->apart = malloc((2 * s->count + 1) * sizeof *s->apart);
    s->joined = s->apart + s->count;
    return s->apart != NULL;
}

/* Scenes that fly feel no weight: they spin instead, so that their farthest part would feel as much. */
static bool spin_roots(bough_context *ctx, const bough_tree_model *model, bough_tree_state *state) {
    for (int32_t k = 0; k < state->root_count; k++) {
        bough_tree_root *root = &state->roots[k];
        double farthest = 0;
        for (int32_t i = 0; i < bough_tree_model_part_count(model); i++) {
            const double *x = state->frames[i].pose.position;
            farthest = fmax(farthest, hypot(hypot(x[0] - root->pose.position[0], x[1] - root->pose.position[1]),
                                            x[2] - root->pose.position[2]));
        }
        for (int d = 0; d < 3; d++)
            root->angular_velocity[d] = farthest > 0 ? sqrt(sideways / (3 * farthest)) : 0;
    }
    return !bough_tree_state_update(ctx, model, state);
}

static bool draw_as(const tree_scene *s, const bough_tree_model *model, bough_tree_state *state,
                    bough_continuity continuity, float *positions) {
    state->continuity = continuity;
    return !bough_tree_state_surface(s->ctx, model, state, positions, NULL);
}

static void find_shift(const bough_tree_model *model, const two_surfaces *s, scene_figures *f) {
    int32_t part = 0;
    for (size_t i = 0; i < s->count; i += 3) {
        double square = 0;
        while (i / 3 >= (size_t)bough_tree_model_first_vertex(model, part + 1))
            part++;
        for (size_t k = 0; k < 3; k++)
            square += pow((double)s->joined[i + k] - (double)s->apart[i + k], 2);
        if (sqrt(square) > f->shift) {
            f->shift = sqrt(square);
            snprintf(f->shift_part, sizeof f->shift_part, "%s", bough_tree_model_describe(model)->parts[part].name);
        }
    }
}

/* Such that the scene's height fills the rows, or its width the columns. */
static double pixel_size(const two_surfaces *s) {
    double lower[3] = {INFINITY, INFINITY, INFINITY}, upper[3] = {-INFINITY, -INFINITY, -INFINITY};
    for (size_t i = 0; i < s->count; i++) {
        lower[i % 3] = fmin(lower[i % 3], (double)s->apart[i]);
        upper[i % 3] = fmax(upper[i % 3], (double)s->apart[i]);
    }
    const double across = fmax(upper[0] - lower[0], upper[1] - lower[1]);
    return fmax((upper[2] - lower[2]) / ROWS, across / COLUMNS);
}

/* ---- normals of the blended map ---- */

/* The deformation gradient of the map on one side of a joint. */
static bo_mat3 gradient(const bough_tree_model *model, const bough_tree_state *state, int32_t joint, bool child,
                        bool blended, bo_vec3 X) {
    const double h = 1e-3 * model->surface->blend.joints[joint].width;
    bo_mat3 F;
    for (int k = 0; k < 3; k++) {
        const bo_vec3 step = bo_scale(h, bo_v3(k == 0, k == 1, k == 2));
        const bo_vec3 ahead = bo_tree_fillet_motion(model, state, joint, child, blended, bo_add(X, step));
        const bo_vec3 behind = bo_tree_fillet_motion(model, state, joint, child, blended, bo_sub(X, step));
        const bo_vec3 d = bo_scale(0.5 / h, bo_sub(ahead, behind));
        F.m[k] = d.x, F.m[3 + k] = d.y, F.m[6 + k] = d.z;
    }
    return F;
}

static double degrees_between(bo_vec3 a, bo_vec3 b) {
    return 180 / M_PI * atan2(bo_norm(bo_cross(a, b)), bo_dot(a, b));
}

/* Angle between the normals cof(F) N of both sides at a vertex of the cut, N away from the middle of the interface. */
static double kink_at(const bough_tree_model *model, const bough_tree_state *state, int32_t joint, bool blended,
                      bo_vec3 X) {
    const bo_vec3 n = model->surface->blend.joints[joint].normal, N = bo_normalize(bo_mul_add(X, -bo_dot(n, X), n));
    return degrees_between(bo_mat_vec(bo_cofactor(gradient(model, state, joint, true, blended, X)), N),
                           bo_mat_vec(bo_cofactor(gradient(model, state, joint, false, blended, X)), N));
}

/* A vertex that a child has in common with its parent, at rest in the axes of their joint. */
typedef struct {
    int32_t joint;
    bo_vec3 X;
} cut_vertex;

typedef struct {
    cut_vertex *list;
    size_t count;
} cut_vertices;

static int32_t joint_of(const bough_tree_model *model, int32_t part) {
    const bo_tree_blend *blend = &model->surface->blend;
    for (int32_t i = 0; i < blend->joint_count; i++)
        if (blend->joints[i].child == part && blend->joints[i].cut)
            return i;
    return -1;
}

static void add_cut_vertex(const bough_tree_model *model, int32_t part, int32_t copy, cut_vertices *c) {
    const int32_t joint = joint_of(model, part);
    if (joint < 0)
        return;
    const bo_tree_part *inside = &model->parts[model->inside[part]];
    const int32_t v = model->surface->seams.copies[copy] - model->surface->first[part];
    const float *x = model->components[inside->component].c->surface.position + 3 * (size_t)v;
    const bo_tree_fillet *j = &model->surface->blend.joints[joint];
    const bo_vec3 X =
        bo_scale(inside->scale, bo_sub(bo_v3((double)x[0], (double)x[1], (double)x[2]), bo_load3(j->above->centre)));
    if (bo_norm(X) > inside->scale * j->above->radius) /* nearer to the rim than to the middle */
        c->list[c->count++] = (cut_vertex){joint, X};
}

static bool find_cut_vertices(const bough_tree_model *model, cut_vertices *c) {
    const bo_tree_seams *seams = &model->surface->seams;
    c->list = malloc(((size_t)seams->copy_count + 1) * sizeof *c->list);
    for (int32_t p = 0; p < seams->place_count && c->list; p++)
        for (int32_t i = seams->place_first[p]; i < seams->place_first[p + 1]; i++) {
            const int32_t part = seams->copy_part[seams->members[i]];
            bool meets = false;
            for (int32_t k = seams->place_first[p]; k < seams->place_first[p + 1]; k++)
                meets = meets ||
                        seams->copy_part[seams->members[k]] == bough_tree_model_describe(model)->parts[part].parent;
            if (meets)
                add_cut_vertex(model, part, seams->members[i], c);
        }
    return c->list != NULL;
}

static double largest_kink(const bough_tree_model *model, const bough_tree_state *state, const cut_vertices *c,
                           bool blended) {
    double largest = 0;
    for (size_t i = 0; i < c->count; i++)
        largest = fmax(largest, kink_at(model, state, c->list[i].joint, blended, c->list[i].X));
    return largest;
}

/* ---- parts that share no vertices with what they hang on ---- */

/* A vertex of a child's root and the nearest one of its parent, with the way between them at rest in the child's axes.
 */
typedef struct {
    int32_t part, vertex, parent_vertex;
    bo_vec3 way;
} root_vertex;

typedef struct {
    root_vertex *list;
    size_t count;
} roots;

static bo_vec3 vertex(const float *x, int32_t v) {
    return bo_v3((double)x[3 * v], (double)x[3 * v + 1], (double)x[3 * v + 2]);
}

static bo_mat3 axes_of(const bough_tree_state *state, int32_t part) {
    bo_mat3 R;
    memcpy(R.m, state->frames[part].pose.rotation, sizeof R.m);
    return R;
}

static int32_t nearest_vertex(const bough_tree_model *model, int32_t part, const float *x, bo_vec3 to) {
    double least = INFINITY;
    int32_t nearest = -1;
    for (int32_t v = bough_tree_model_first_vertex(model, part); v < bough_tree_model_first_vertex(model, part + 1);
         v++) {
        const double distance = bo_norm(bo_sub(vertex(x, v), to));
        if (distance < least)
            least = distance, nearest = v;
    }
    return nearest;
}

/* x: all at rest. Roots: what is wholly the joint's. */
static bool find_roots(const bough_tree_model *model, const bough_tree_state *state, const float *x, roots *r) {
    const bo_tree_blend *blend = &model->surface->blend;
    r->list = malloc(((size_t)blend->share_count + 1) * sizeof *r->list);
    for (int32_t part = 0; part < bough_tree_model_part_count(model) && r->list; part++)
        for (int32_t i = blend->part_first[part]; i < blend->part_first[part + 1]; i++) {
            const bo_tree_share *share = &blend->shares[blend->share_first[i]];
            const bo_tree_fillet *joint = &blend->joints[share->joint];
            if (joint->cut || share->weight < 1)
                continue;
            const int32_t v = bough_tree_model_first_vertex(model, part) + blend->vertices[i];
            const int32_t other = nearest_vertex(model, joint->parent, x, vertex(x, v));
            const bo_vec3 way = bo_sub(vertex(x, v), vertex(x, other));
            const double radius = model->parts[model->inside[part]].scale * joint->above->radius;
            if (bo_norm(way) < 0.25 * radius)
                r->list[r->count++] = (root_vertex){part, v, other, bo_mat_tvec(axes_of(state, part), way)};
        }
    return r->list != NULL;
}

static void look_at_roots(const roots *r, const bough_tree_state *state, const float *x, slip *s) {
    double sum = 0;
    for (size_t i = 0; i < r->count; i++) {
        const root_vertex *v = &r->list[i];
        const bo_vec3 way = bo_sub(vertex(x, v->vertex), vertex(x, v->parent_vertex));
        const double error = bo_norm(bo_sub(way, bo_mat_vec(axes_of(state, v->part), v->way)));
        s->largest = fmax(s->largest, error);
        sum += error * error;
    }
    s->rms = fmax(s->rms, r->count ? sqrt(sum / (double)r->count) : 0);
}

/* ---- a scene ---- */

static void look(const tree_scene *s, const bough_tree_model *model, bough_tree_state *state, const two_surfaces *two,
                 const roots *r, const cut_vertices *c, scene_figures *f) {
    bough_tree_gap gap;
    if (!bough_tree_state_gap(s->ctx, model, state, &gap) && (gap.distance > f->gap.distance || f->gap.count == 0)) {
        f->gap = gap;
        if (gap.part >= 0)
            snprintf(f->gap_part, sizeof f->gap_part, "%s", bough_tree_model_describe(model)->parts[gap.part].name);
    }
    if (draw_as(s, model, state, BOUGH_CONTINUITY_NONE, two->apart) &&
        draw_as(s, model, state, BOUGH_CONTINUITY_C1, two->joined)) {
        find_shift(model, two, f);
        look_at_roots(r, state, two->apart, &f->apart);
        look_at_roots(r, state, two->joined, &f->smooth);
        f->kink = fmax(f->kink, largest_kink(model, state, c, false));
        f->smooth_kink = fmax(f->smooth_kink, largest_kink(model, state, c, true));
    }
}

static bool swing(const tree_scene *s, const bough_tree_model *model, bough_tree_state *state, const two_surfaces *two,
                  scene_figures *f) {
    const bo_tree_blend *blend = &model->surface->blend;
    *f = (scene_figures){.parts = bough_tree_model_part_count(model)};
    for (int32_t i = 0; i < blend->joint_count; i++)
        *(blend->joints[i].cut ? &f->cut : &f->planted) += 1;
    if (!draw_as(s, model, state, BOUGH_CONTINUITY_NONE, two->apart))
        return false;
    f->pixel = pixel_size(two);
    roots r = {0};
    cut_vertices c = {0};
    bool good = find_roots(model, state, two->apart, &r) && find_cut_vertices(model, &c);
    f->root_vertices = (int32_t)r.count;
    for (int32_t i = 0; i < STEPS && good && !app_interrupted(); i++) {
        int32_t refused = 0;
        good = !bough_tree_advance(s->ctx, model, state, 1.0 / RATE, &refused);
        f->refused += refused;
        if (i % LOOK_EVERY == 0 && good)
            look(s, model, state, two, &r, &c, f);
    }
    free(r.list), free(c.list);
    return good && !app_interrupted();
}

/* ---- what it costs ---- */

enum { KINDS = 3, ROUNDS = 101 };
static const char *const kind_names[KINDS] = {"c0", "c1", "none"};

typedef struct {
    int32_t vertices, blended, joints;
    double ms[KINDS], with_normals_ms[KINDS]; /* by bough_continuity: CPU time that 5 % are below */
    double model_ms, joints_ms;               /* CPU: to make the model, and its joints alone; the least of five */
} surface_costs;

static double low_quantile(double *values) {
    median_of(ROUNDS, values);
    return values[ROUNDS / 20];
}

static bool time_models(const tree_scene *s, const bough_tree_model *model, surface_costs *c) {
    enum { MODELS = 5 };
    c->model_ms = c->joints_ms = INFINITY;
    for (int i = 0; i < MODELS; i++) {
        bough_tree_model *again;
        bo_tree_blend blend = {0};
        const double start = app_cpu_seconds();
        if (bough_tree_model_create(s->ctx, bough_tree_model_describe(model), &again))
            return false;
        const double made = app_cpu_seconds();
        const bool good = !bo_tree_find_fillets(s->ctx, again, &again->surface->seams, &blend);
        c->joints_ms = fmin(c->joints_ms, 1e3 * (app_cpu_seconds() - made));
        c->model_ms = fmin(c->model_ms, 1e3 * (made - start));
        bo_tree_free_fillets(s->ctx, &blend);
        bough_tree_model_destroy(s->ctx, again);
        if (!good)
            return false;
    }
    return true;
}

static bool time_surfaces(const tree_scene *s, const bough_tree_model *model, bough_tree_state *state,
                          surface_costs *c) {
    static double ms[2 * KINDS][ROUNDS];
    c->vertices = bough_tree_model_vertex_count(model);
    c->blended = model->surface->blend.vertex_count, c->joints = model->surface->blend.joint_count;
    float *x = malloc(6 * (size_t)c->vertices * sizeof *x);
    for (int i = 0; i < ROUNDS && x; i++)
        for (int turn = 0; turn < 2 * KINDS; turn++) { /* to and fro: what comes before has filled the caches */
            const int k = i % 2 ? 2 * KINDS - 1 - turn : turn;
            state->continuity = (bough_continuity)(k % KINDS);
            const double start = app_cpu_seconds();
            bough_tree_state_surface(s->ctx, model, state, x, k < KINDS ? NULL : x + 3 * c->vertices);
            ms[k][i] = 1e3 * (app_cpu_seconds() - start);
        }
    for (int k = 0; k < KINDS; k++)
        c->ms[k] = low_quantile(ms[k]), c->with_normals_ms[k] = low_quantile(ms[KINDS + k]);
    free(x);
    return x != NULL;
}

/* ---- a bar that is cut in two and bent ---- */

/* Soft, held at its foot, and pulled aside by its weight. */
/* Without wrenches in the basis, beside which r = 20 has no room for all derivatives: finer bars would bend less. */
static const char bar_scene[] =
    "{\"bough\": 1, \"object\": {\"mesh\": {\"generate\": \"box\", \"type\": \"hex8\", \"size\": [0.2, 0.2, 0.6], "
    "\"cells\": [%d, %d, %d]}, \"sets\": {\"below\": {\"elements\": \"z<0.301\"}, \"above\": {\"elements\": "
    "\"z>0.299\"}, \"ground\": {\"vertices\": \"z<0.001\"}}, \"material\": {\"model\": \"stvk\", \"young\": 8e4, "
    "\"poisson\": 0.4, \"density\": 1000}, \"domains\": [\"below\", \"above\"], \"root\": \"below\", \"fix\": "
    "\"ground\", \"basis\": {\"r\": 20, \"kind\": \"mass-loaded+derivatives\"}}, \"gravity\": [9.81, 0, 0], \"time\": "
    "{\"duration\": 1}}";

enum { BARS = 4, ACROSS = 6, DRAWN = 1 };
static const int32_t bar_layers[BARS] = {12, 24, 48, 96};

typedef struct {
    int32_t layers;
    double bend;              /* degrees: between the ends of the bar */
    bough_tree_gap gap;       /* at rest in its bend */
    double kink, smooth_kink; /* degrees: of the map */
    double mesh[KINDS];       /* degrees: of the triangles on both sides of the cut */
} bar_figures;

typedef struct {
    tree_scene scene;
    bough_tree_state *state;
    int32_t vertex_count, triangle_count;
    int32_t *triangles, *same; /* same: vertex -> the first copy of its place */
    bool *shared;              /* vertex: it has another copy */
    bool *smooth;              /* vertex: its copies have one normal at rest */
} bar;

static bool open_bar(bough_context *ctx, int32_t layers, bar *b) {
    char text[2048];
    *b = (bar){0};
    snprintf(text, sizeof text, bar_scene, ACROSS, ACROSS, (int)layers);
    if (!tree_scene_open_text(ctx, text, &b->scene))
        return false;
    const bough_tree_model *model = b->scene.model;
    const bo_tree_seams *seams = &model->surface->seams;
    b->vertex_count = bough_tree_model_vertex_count(model), b->triangle_count = bough_tree_model_triangle_count(model);
    b->triangles = malloc(3 * (size_t)b->triangle_count * sizeof *b->triangles);
    b->same = malloc((size_t)b->vertex_count * sizeof *b->same);
    b->shared = calloc((size_t)b->vertex_count, sizeof *b->shared);
    b->smooth = calloc((size_t)b->vertex_count, sizeof *b->smooth);
    if (!b->triangles || !b->same || !b->shared || !b->smooth)
        return false;
    bough_tree_model_triangles(model, b->triangles);
    for (int32_t v = 0; v < b->vertex_count; v++)
        b->same[v] = v;
    for (int32_t p = 0; p < seams->place_count; p++)
        for (int32_t i = seams->place_first[p]; i < seams->place_first[p + 1]; i++) {
            const int32_t v = seams->copies[seams->members[i]];
            b->same[v] = seams->copies[seams->members[seams->place_first[p]]];
            b->shared[v] = true;
        }
    if (bough_tree_state_create(ctx, model, &b->state)) {
        bench_fail(ctx);
        return false;
    }
    return true;
}

static bool bend(bar *b) {
    if (bough_tree_state_settle(b->scene.ctx, b->scene.model, b->state, NULL, NULL)) {
        bench_fail(b->scene.ctx);
        return false;
    }
    app_clear_progress();
    return true;
}

static void close_bar(bar *b) {
    bough_tree_state_destroy(b->scene.ctx, b->state);
    free(b->triangles), free(b->same), free(b->shared), free(b->smooth);
    tree_scene_close(&b->scene);
}

static bool is_cut_face(const bar *b, int32_t t) {
    const int32_t *corner = b->triangles + 3 * t;
    return b->shared[corner[0]] && b->shared[corner[1]] && b->shared[corner[2]];
}

/* Sums of the area vectors of triangles around vertices, each part for itself, without cut faces. */
static void sum_areas(const bar *b, const float *x, bo_vec3 *n) {
    memset(n, 0, (size_t)b->vertex_count * sizeof *n);
    for (int32_t t = 0; t < b->triangle_count; t++) {
        const int32_t *corner = b->triangles + 3 * t;
        const bo_vec3 a = vertex(x, corner[0]);
        const bo_vec3 area = bo_cross(bo_sub(vertex(x, corner[1]), a), bo_sub(vertex(x, corner[2]), a));
        for (int k = 0; k < 3 && !is_cut_face(b, t); k++)
            n[corner[k]] = bo_add(n[corner[k]], area);
    }
}

/* The largest angle between the normals of both sides of the cut. Not at the edges of the bar, where triangles on both
 * sides do not mirror each other: normals there differ at rest, too. */
static double mesh_kink(const bar *b, const float *x, bo_vec3 *n) {
    double largest = 0;
    sum_areas(b, x, n);
    for (int32_t v = 0; v < b->vertex_count; v++)
        if (b->same[v] != v && b->smooth[v])
            largest = fmax(largest, degrees_between(n[v], n[b->same[v]]));
    return largest;
}

static void find_smooth(bar *b, const float *rest, bo_vec3 *n) {
    sum_areas(b, rest, n);
    for (int32_t v = 0; v < b->vertex_count; v++)
        b->smooth[v] = bo_norm(n[v]) > 0 && bo_norm(n[b->same[v]]) > 0 && degrees_between(n[v], n[b->same[v]]) < 0.01;
}

static bool measure_bar(bough_context *ctx, int32_t layers, bar_figures *f) {
    bar b;
    *f = (bar_figures){.layers = layers};
    bool good = open_bar(ctx, layers, &b);
    float *x = good ? malloc(3 * (size_t)b.vertex_count * sizeof *x) : NULL;
    bo_vec3 *n = good ? malloc((size_t)b.vertex_count * sizeof *n) : NULL;
    good = x && n && draw_as(&b.scene, b.scene.model, b.state, BOUGH_CONTINUITY_NONE, x);
    if (good)
        find_smooth(&b, x, n);
    cut_vertices c = {0};
    good = good && find_cut_vertices(b.scene.model, &c) && bend(&b) &&
           !bough_tree_state_gap(ctx, b.scene.model, b.state, &f->gap);
    for (int k = KINDS - 1; k >= 0 && good; k--) {
        good = draw_as(&b.scene, b.scene.model, b.state, (bough_continuity)k, x);
        f->mesh[k] = mesh_kink(&b, x, n);
        if (k == BOUGH_CONTINUITY_C1) {
            f->kink = largest_kink(b.scene.model, b.state, &c, false);
            f->smooth_kink = largest_kink(b.scene.model, b.state, &c, true);
        }
    }
    if (good) {
        bo_mat3 R;
        memcpy(R.m, b.state->frames[1].pose.rotation, sizeof R.m);
        f->bend = degrees_between(bo_mat_vec(R, bo_v3(0, 0, 1)), bo_v3(0, 0, 1));
    }
    free(x), free(n), free(c.list);
    close_bar(&b);
    return good;
}

/* ---- the picture ---- */

/* Draws one of three bars side by side. Parts that are joined are drawn as one surface, without the faces of the
 * cut. */
static bough_status add_bar(bough_context *ctx, const bar *b, const float *x, bool joined, double aside,
                            bough_picture *picture) {
    double *vertices = malloc(3 * (size_t)b->vertex_count * sizeof *vertices);
    int32_t *triangles = malloc(3 * (size_t)b->triangle_count * sizeof *triangles), count = 0;
    bough_status s = vertices && triangles ? BOUGH_OK : BOUGH_ERROR_MEMORY;
    for (int32_t v = 0; v < b->vertex_count && !s; v++)
        for (int k = 0; k < 3; k++)
            vertices[3 * v + k] = (double)x[3 * v + k] + (k == 0 ? aside : 0);
    for (int32_t t = 0; t < b->triangle_count && !s; t++)
        if (!joined || !is_cut_face(b, t)) {
            for (int k = 0; k < 3; k++)
                triangles[3 * count + k] = joined ? b->same[b->triangles[3 * t + k]] : b->triangles[3 * t + k];
            count++;
        }
    bough_surface_style style = bough_default_surface_style();
    style.gloss = 0.6, style.crease_angle = 0.5;
    memcpy(style.colour, (float[3]){0.78f, 0.55f, 0.30f}, sizeof style.colour);
    if (!s)
        s = bough_picture_add_surface(ctx, picture, vertices, b->vertex_count, triangles, count, &style);
    free(vertices), free(triangles);
    return s;
}

static bough_status draw_bars(bough_context *ctx, const bar *b, const char *path) {
    static const char *const labels[KINDS] = {"gap", "C0", "C1"};
    static const bough_continuity order[KINDS] = {BOUGH_CONTINUITY_NONE, BOUGH_CONTINUITY_C0, BOUGH_CONTINUITY_C1};
    const double apart = 0.41, lower[3] = {0.04, 0.1, 0.15}, upper[3] = {2 * apart + 0.56, 0.1, 0.4};
    bough_picture_def def = bough_default_picture_def();
    def.width = 1500, def.height = 400, def.samples = 3, def.ground = false, def.shadow = 0;
    def.target[0] = apart, def.eye[0] = apart, def.eye[1] = -1, def.eye[2] = 0.12;
    def.light[0] = -0.5, def.light[1] = -1, def.light[2] = 0.6;
    def.field_of_view = 0.02; /* nearly parallel: the three look alike */
    bough_picture_frame(&def, lower, upper);
    bough_picture *picture;
    bough_status s = bough_picture_create(ctx, &def, &picture);
    float *x = malloc(3 * (size_t)b->vertex_count * sizeof *x);
    for (int k = 0; k < KINDS && x && !s; k++) {
        b->state->continuity = order[k];
        s = bough_tree_state_surface(ctx, b->scene.model, b->state, x, NULL);
        if (!s)
            s = add_bar(ctx, b, x, order[k] != BOUGH_CONTINUITY_NONE, k * apart, picture);
        if (!s)
            s = bough_picture_add_label(ctx, picture, def.width * (0.23 + 0.275 * k), def.height - 34, 16,
                                        (float[3]){0.1f, 0.1f, 0.1f}, labels[k]);
    }
    if (!s)
        s = x ? bough_picture_render(ctx, picture) : BOUGH_ERROR_MEMORY;
    if (!s)
        s = bough_picture_write_png(ctx, picture, path);
    free(x);
    bough_picture_destroy(ctx, picture);
    return s;
}

static bool draw_picture(bough_context *ctx, const char *folder) {
    char path[512];
    bar b;
    snprintf(path, sizeof path, "%s/joints.png", folder);
    bool good = app_make_folder(folder) && open_bar(ctx, bar_layers[DRAWN], &b) && bend(&b);
    if (good && draw_bars(ctx, &b, path)) {
        bench_fail(ctx);
        good = false;
    }
    close_bar(&b);
    return good;
}

/* ---- reports ---- */

typedef struct {
    scene_figures scenes[SCENES];
    bool there[SCENES];
    surface_costs costs; /* of the oak */
    bar_figures bars[BARS];
} figures;

static void report_scene(const char *name, const scene_figures *s) {
    printf("%s: %d parts, %d cut from each other, %d planted; a pixel is %.3f mm\n", name, s->parts, s->cut, s->planted,
           1e3 * s->pixel);
    if (s->gap.count > 0)
        printf("  largest gap of %d vertices: %.4f mm at %s, %.4f of the interface's radius, %.3f pixels\n",
               s->gap.count, 1e3 * s->gap.distance, s->gap_part, s->gap.relative, s->gap.distance / s->pixel);
    if (s->cut > 0)
        printf("  largest kink of normals: %.3f degrees, with C1 %.1e\n", s->kink, s->smooth_kink);
    if (s->root_vertices > 0)
        printf(
            "  %d vertices of roots slip on what they stand on: %.3f mm (rms %.3f), %.3f pixels; with C1 %.3f mm (rms "
            "%.3f), %.3f pixels\n",
            s->root_vertices, 1e3 * s->apart.largest, 1e3 * s->apart.rms, s->apart.largest / s->pixel,
            1e3 * s->smooth.largest, 1e3 * s->smooth.rms, s->smooth.largest / s->pixel);
    printf("  C1 moves vertices by up to %.4f mm (%s), %.3f pixels\n", 1e3 * s->shift, s->shift_part,
           s->shift / s->pixel);
}

static void report(const figures *f) {
    printf("scenes undeformed, weight and %.2f m/s^2 sideways (what flies: spinning), %d steps of 1/%d s; pictures of "
           "%d rows\n",
           sideways, STEPS, RATE, ROWS);
    for (int i = 0; i < SCENES; i++)
        if (f->there[i])
            report_scene(scenes[i].name, &f->scenes[i]);
        else
            printf("%s is not here\n", scenes[i].name);
    printf("oak: %d vertices, %d of them blended at %d joints; ms of CPU (5 %% below), with normals:",
           f->costs.vertices, f->costs.blended, f->costs.joints);
    for (int k = 0; k < KINDS; k++)
        printf(" %s %.3f, %.3f%s", kind_names[k], f->costs.ms[k], f->costs.with_normals_ms[k],
               k + 1 < KINDS ? ";" : "\n");
    printf("oak: %.1f ms of CPU to make the model, %.1f of them for its joints\n", f->costs.model_ms,
           f->costs.joints_ms);
    printf("a bar cut in two, bent by %.1f° up to the cut; degrees between the normals of triangles on both sides\n",
           f->bars[0].bend);
    printf("%8s %9s %8s %8s %8s %8s %8s\n", "layers", "gap mm", "none", "C0", "C1", "map", "with C1");
    for (int i = 0; i < BARS; i++)
        printf("%8d %9.4f %8.3f %8.3f %8.3f %8.3f %8.1e\n", f->bars[i].layers, 1e3 * f->bars[i].gap.distance,
               f->bars[i].mesh[2], f->bars[i].mesh[0], f->bars[i].mesh[1], f->bars[i].kink, f->bars[i].smooth_kink);
}

static json_t *scene_json(const char *name, const scene_figures *s) {
    return json_pack(
        "{s:s, s:i, s:i, s:i, s:i, s:f, s:i, s:f, s:f, s:f, s:s, s:f, s:f, s:i, s:f, s:f, s:f, s:f, s:f, s:f, s:s}",
        "scene", name, "parts", (int)s->parts, "cut_joints", (int)s->cut, "planted_joints", (int)s->planted,
        "refused_steps", (int)s->refused, "pixel_m", s->pixel, "coincident_vertices", (int)s->gap.count, "gap_m",
        s->gap.distance, "gap_of_radius", s->gap.relative, "gap_pixels", s->gap.distance / s->pixel, "gap_part",
        s->gap_part, "kink_deg", s->kink, "kink_c1_deg", s->smooth_kink, "root_vertices", (int)s->root_vertices,
        "slip_m", s->apart.largest, "slip_rms_m", s->apart.rms, "slip_c1_m", s->smooth.largest, "slip_rms_c1_m",
        s->smooth.rms, "c1_shift_m", s->shift, "c1_shift_pixels", s->shift / s->pixel, "c1_shift_part", s->shift_part);
}

static void report_json(const figures *f) {
    json_t *list = json_array(), *bars = json_array(), *costs = json_object();
    for (int i = 0; i < SCENES; i++)
        if (f->there[i])
            json_array_append_new(list, scene_json(scenes[i].name, &f->scenes[i]));
    for (int i = 0; i < BARS; i++) {
        const bar_figures *b = &f->bars[i];
        json_array_append_new(bars, json_pack("{s:i, s:f, s:f, s:f, s:f, s:f, s:f, s:f}", "layers", (int)b->layers,
                                              "bend_deg", b->bend, "gap_m", b->gap.distance, "mesh_kink_none_deg",
                                              b->mesh[2], "mesh_kink_c0_deg", b->mesh[0], "mesh_kink_c1_deg",
                                              b->mesh[1], "kink_deg", b->kink, "kink_c1_deg", b->smooth_kink));
    }
    for (int k = 0; k < KINDS; k++)
        json_object_set_new(costs, kind_names[k],
                            json_pack("{s:f, s:f}", "surface_ms_p05", f->costs.ms[k], "with_normals_ms_p05",
                                      f->costs.with_normals_ms[k]));
    app_print_json(json_pack("{s:o, s:{s:i, s:i, s:i, s:f, s:f, s:o}, s:o}", "scenes", list, "oak_surface", "vertices",
                             (int)f->costs.vertices, "blended", (int)f->costs.blended, "joints", (int)f->costs.joints,
                             "model_ms", f->costs.model_ms, "joints_ms", f->costs.joints_ms, "costs", costs, "bars",
                             bars));
}

static bool measure_scene(bough_context *ctx, int number, figures *f) {
    const cast *c = &scenes[number];
    tree_scene s;
    bough_tree_model *model = NULL;
    bough_tree_state *state = NULL;
    two_surfaces two = {0};
    if (c->folder && !tree_scene_is_there(c->folder))
        return true;
    bool good = c->folder ? tree_scene_open_copy(ctx, c->folder, &s) : tree_scene_open(ctx, c->name, -1, &s);
    if (good) {
        bough_tree_model_def def = *bough_tree_model_describe(s.model);
        def.gravity[0] += sideways;
        good = !bough_tree_model_create(ctx, &def, &model) && !bough_tree_state_create(ctx, model, &state) &&
               spin_roots(ctx, model, state) && make_surfaces(model, &two) &&
               swing(&s, model, state, &two, &f->scenes[number]);
        if (good && !strcmp(c->name, "oak"))
            good = time_surfaces(&s, model, state, &f->costs) && time_models(&s, model, &f->costs);
        if (!good)
            bench_fail(ctx);
    }
    f->there[number] = good;
    free(two.apart);
    bough_tree_state_destroy(ctx, state);
    bough_tree_model_destroy(ctx, model);
    tree_scene_close(&s);
    return good;
}

int bench_embedding(const bench_options *options) {
    bough_context *ctx = app_context(1);
    figures f = {0};
    bool good = true;
    for (int i = 0; i < BARS && good; i++)
        good = measure_bar(ctx, bar_layers[i], &f.bars[i]);
    for (int i = 0; i < SCENES && good; i++)
        good = measure_scene(ctx, i, &f);
    if (good)
        (options->json ? report_json : report)(&f);
    if (good && options->folder)
        good = draw_picture(ctx, options->folder);
    bough_context_destroy(ctx);
    return good ? APP_OK : APP_FAILED;
}
