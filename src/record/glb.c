#include "record/glb.h"

#include "base/rotation.h"

#include <math.h>
#include <string.h>

#define GLB_COOKIE 0x61b0de01u
#define MESH_COOKIE 0x61b0de02u

bough_glb_def bough_default_glb_def(void) {
    return (bough_glb_def){.cookie = GLB_COOKIE, .z_up = true};
}

bough_glb_mesh bough_default_glb_mesh(void) {
    return (bough_glb_mesh){.cookie = MESH_COOKIE, .colour = {0.75f, 0.75f, 0.72f}};
}

static void free_geometry(bough_context *ctx, bo_glb_geometry *g) {
    bo_free(ctx, g->name);
    bo_free(ctx, g->positions);
    bo_free(ctx, g->normals);
    bo_free(ctx, g->targets);
    bo_free(ctx, g->target_normals);
    bo_free(ctx, g->triangles);
    bo_free(ctx, g->largest);
}

static void free_frame(bough_context *ctx, bo_glb_frame *frame) {
    bo_free(ctx, frame->places);
    bo_free(ctx, frame->weights);
}

static void destroy(bough_context *ctx, bough_glb *glb) {
    for (size_t i = 0; i < glb->geometry_count; i++)
        free_geometry(ctx, &glb->geometries[i]);
    for (size_t i = 0; i < glb->node_count; i++) {
        bo_free(ctx, glb->nodes[i].name);
        bo_free(ctx, glb->nodes[i].keys);
    }
    for (size_t i = 0; i < glb->frame_count; i++)
        free_frame(ctx, &glb->frames[i]);
    bo_free(ctx, glb->geometries);
    bo_free(ctx, glb->meshes);
    bo_free(ctx, glb->nodes);
    bo_free(ctx, glb->frames);
    bo_free(ctx, glb);
}

bough_status bough_glb_create(bough_context *ctx, const bough_glb_def *def, bough_glb **glb) {
    *glb = NULL;
    if (def->cookie != GLB_COOKIE || !def->path)
        return bo_fail(ctx, BOUGH_ERROR_ARGUMENT,
                       "a bough_glb_def is made by bough_default_glb_def(), and its path must be set");
    if (!(def->tolerance >= 0))
        return bo_fail(ctx, BOUGH_ERROR_ARGUMENT, "the tolerance of a glTF file is 0 or more, not %g", def->tolerance);
    bough_glb *g = BO_NEW(ctx, bough_glb);
    if (!g)
        return BOUGH_ERROR_MEMORY;
    g->z_up = def->z_up, g->tolerance = def->tolerance;
    bough_status status = bo_output_open(ctx, def->path, &g->output);
    g->output.durable = true;
    if (status != BOUGH_OK) {
        bo_free(ctx, g);
        return status;
    }
    if (!g->output.temporary) {
        bough_glb_discard(ctx, g);
        return bo_fail(ctx, BOUGH_ERROR_FILE, "%s: glTF needs a file that can be rewound", def->path);
    }
    *glb = g;
    return BOUGH_OK;
}

void bough_glb_discard(bough_context *ctx, bough_glb *glb) {
    if (!glb)
        return;
    bo_output_discard(ctx, &glb->output);
    destroy(ctx, glb);
}

/* ---- meshes ---- */

static bool all_finite(const float *values, size_t count) {
    for (size_t i = 0; i < count; i++)
        if (!isfinite(values[i]))
            return false;
    return true;
}

static bough_status check_colour(bough_context *ctx, const float colour[3]) {
    for (int c = 0; c < 3; c++)
        if (!(colour[c] >= 0 && colour[c] <= 1))
            return bo_fail(ctx, BOUGH_ERROR_ARGUMENT, "a colour is 0 to 1 in each channel, not %g", (double)colour[c]);
    return BOUGH_OK;
}

static bough_status check_open(bough_context *ctx, const bough_glb *glb, const char *what) {
    return glb->frame_count == 0 ? BOUGH_OK
                                 : bo_fail(ctx, BOUGH_ERROR_ARGUMENT, "%s must come before the first frame", what);
}

static bough_status check_mesh(bough_context *ctx, const bough_glb_mesh *mesh) {
    if (mesh->cookie != MESH_COOKIE)
        return bo_fail(ctx, BOUGH_ERROR_ARGUMENT, "a bough_glb_mesh is made by bough_default_glb_mesh()");
    if (mesh->vertex_count < 1 || mesh->triangle_count < 1 || !mesh->positions || !mesh->triangles)
        return bo_fail(ctx, BOUGH_ERROR_ARGUMENT, "a mesh for glTF needs vertices and triangles");
    if (mesh->target_count < 0 || mesh->target_count > BOUGH_GLB_TARGET_LIMIT ||
        (mesh->target_count > 0 && !mesh->targets))
        return bo_fail(ctx, BOUGH_ERROR_ARGUMENT, "a mesh for glTF has 0 to %d targets, not %d", BOUGH_GLB_TARGET_LIMIT,
                       mesh->target_count);
    size_t scalars = 3 * (size_t)mesh->vertex_count;
    for (size_t i = 0; i < 3 * (size_t)mesh->triangle_count; i++)
        if (mesh->triangles[i] < 0 || mesh->triangles[i] >= mesh->vertex_count)
            return bo_fail(ctx, BOUGH_ERROR_ARGUMENT, "triangle %zu: vertex %d does not exist", i / 3,
                           mesh->triangles[i]);
    if (!all_finite(mesh->positions, scalars) || (mesh->normals && !all_finite(mesh->normals, scalars)) ||
        !all_finite(mesh->targets, scalars * (size_t)mesh->target_count) ||
        (mesh->target_normals && !all_finite(mesh->target_normals, scalars * (size_t)mesh->target_count)))
        return bo_fail(ctx, BOUGH_NOT_FINITE, "a mesh for glTF has a coordinate that is not finite");
    return check_colour(ctx, mesh->colour);
}

/* ---- normals ---- */

static bo_vec3 read3(const float *x, int32_t vertex) {
    const float *p = x + 3 * (size_t)vertex;
    return bo_v3((double)p[0], (double)p[1], (double)p[2]);
}

static void add3(float *x, int32_t vertex, bo_vec3 d) {
    float *p = x + 3 * (size_t)vertex;
    p[0] += (float)d.x, p[1] += (float)d.y, p[2] += (float)d.z;
}

/* Twice the area vector of a triangle, and what a displacement adds to it to first order:
 * d(a x b) = da x b + a x db. */
static bo_vec3 area_of(const bo_glb_geometry *g, const int32_t *v, const float *displacement) {
    bo_vec3 a = bo_sub(read3(g->positions, v[1]), read3(g->positions, v[0])),
            b = bo_sub(read3(g->positions, v[2]), read3(g->positions, v[0]));
    if (!displacement)
        return bo_cross(a, b);
    bo_vec3 da = bo_sub(read3(displacement, v[1]), read3(displacement, v[0])),
            db = bo_sub(read3(displacement, v[2]), read3(displacement, v[0]));
    return bo_add(bo_cross(da, b), bo_cross(a, db));
}

/* Sums over the triangles around each vertex. */
static void sum_areas(const bo_glb_geometry *g, const float *displacement, float *sums) {
    memset(sums, 0, 3 * (size_t)g->vertex_count * sizeof *sums);
    for (int32_t t = 0; t < g->triangle_count; t++) {
        const int32_t *v = g->triangles + 3 * (size_t)t;
        const bo_vec3 area = area_of(g, v, displacement);
        for (int c = 0; c < 3; c++)
            add3(sums, v[c], area);
    }
}

/* z where there is no area. glTF wants unit length. */
static void normalise(float *normals, size_t count) {
    for (size_t i = 0; i < count; i++) {
        float *n = normals + 3 * i;
        double length = sqrt((double)n[0] * (double)n[0] + (double)n[1] * (double)n[1] + (double)n[2] * (double)n[2]);
        for (int c = 0; c < 3; c++)
            n[c] = length > 0 && isfinite(length) ? (float)((double)n[c] / length) : c == 2 ? 1.0f : 0.0f;
    }
}

/* n = N / |N| for the sum N of areas, so dn = (dN - n (n . dN)) / |N|; nothing where there is no area. */
static void linearise_normals(const bo_glb_geometry *g, const float *areas, int32_t target) {
    const size_t at = 3 * (size_t)g->vertex_count * (size_t)target;
    float *changes = g->target_normals + at;
    sum_areas(g, g->targets + at, changes);
    for (int32_t v = 0; v < g->vertex_count; v++) {
        const bo_vec3 n = read3(g->normals, v), dN = read3(changes, v);
        const double length = bo_norm(read3(areas, v));
        const bo_vec3 dn = bo_scale(1 / length, bo_mul_add(dN, -bo_dot(n, dN), n));
        const double c[3] = {dn.x, dn.y, dn.z};
        for (int d = 0; d < 3; d++)
            changes[3 * (size_t)v + (size_t)d] = length > 0 && isfinite((float)c[d]) ? (float)c[d] : 0;
    }
}

static bool find_normals(bough_context *ctx, const bough_glb_mesh *mesh, bo_glb_geometry *g) {
    float *areas = BO_NEW_ARRAY(ctx, float, 3 * (size_t)g->vertex_count);
    if (!areas)
        return false;
    sum_areas(g, NULL, areas);
    if (!mesh->normals)
        memcpy(g->normals, areas, 3 * (size_t)g->vertex_count * sizeof *areas);
    normalise(g->normals, (size_t)g->vertex_count);
    for (int32_t k = 0; k < g->target_count && !mesh->target_normals; k++)
        linearise_normals(g, areas, k);
    bo_free(ctx, areas);
    return true;
}

static void *copy(bough_context *ctx, const void *from, size_t count, size_t size) {
    void *to = bo_alloc(ctx, count, size);
    if (to && from && count > 0)
        memcpy(to, from, count * size);
    return to;
}

static bool copy_geometry(bough_context *ctx, const bough_glb_mesh *mesh, bo_glb_geometry *g) {
    size_t scalars = 3 * (size_t)mesh->vertex_count, targets = (size_t)mesh->target_count;
    g->vertex_count = mesh->vertex_count, g->triangle_count = mesh->triangle_count;
    g->target_count = mesh->target_count;
    g->name = mesh->name ? bo_strdup(ctx, mesh->name) : NULL;
    g->positions = copy(ctx, mesh->positions, scalars, sizeof(float));
    g->normals = copy(ctx, mesh->normals, scalars, sizeof(float));
    g->targets = copy(ctx, mesh->targets, scalars * targets, sizeof(float));
    g->target_normals = copy(ctx, mesh->target_normals, scalars * targets, sizeof(float));
    g->triangles = copy(ctx, mesh->triangles, 3 * (size_t)mesh->triangle_count, sizeof(int32_t));
    g->largest = BO_NEW_ZEROS(ctx, float, targets);
    if (!g->positions || !g->normals || !g->targets || !g->target_normals || !g->triangles || !g->largest ||
        (mesh->name && !g->name))
        return false;
    return find_normals(ctx, mesh, g);
}

bough_status bough_glb_add_mesh(bough_context *ctx, bough_glb *glb, const bough_glb_mesh *mesh) {
    BO_TRY(check_open(ctx, glb, "meshes"));
    BO_TRY(check_mesh(ctx, mesh));
    if (!BO_RESERVE(ctx, glb->geometries, glb->geometry_capacity, glb->geometry_count + 1) ||
        !BO_RESERVE(ctx, glb->meshes, glb->mesh_capacity, glb->mesh_count + 1))
        return BOUGH_ERROR_MEMORY;
    bo_glb_geometry g = {0};
    if (!copy_geometry(ctx, mesh, &g)) {
        free_geometry(ctx, &g);
        return BOUGH_ERROR_MEMORY;
    }
    bo_glb_shade *shade = &glb->meshes[glb->mesh_count++];
    shade->geometry = (int32_t)glb->geometry_count;
    memcpy(shade->colour, mesh->colour, sizeof shade->colour);
    glb->geometries[glb->geometry_count++] = g;
    return BOUGH_OK;
}

static bough_status check_mesh_number(bough_context *ctx, const bough_glb *glb, int32_t mesh) {
    return mesh >= 0 && (size_t)mesh < glb->mesh_count
               ? BOUGH_OK
               : bo_fail(ctx, BOUGH_ERROR_ARGUMENT, "mesh %d does not exist: there are %zu", mesh, glb->mesh_count);
}

bough_status bough_glb_add_tint(bough_context *ctx, bough_glb *glb, int32_t mesh, const float colour[3]) {
    BO_TRY(check_open(ctx, glb, "meshes"));
    BO_TRY(check_mesh_number(ctx, glb, mesh));
    BO_TRY(check_colour(ctx, colour));
    if (!BO_RESERVE(ctx, glb->meshes, glb->mesh_capacity, glb->mesh_count + 1))
        return BOUGH_ERROR_MEMORY;
    bo_glb_shade *shade = &glb->meshes[glb->mesh_count++];
    shade->geometry = glb->meshes[mesh].geometry;
    memcpy(shade->colour, colour, sizeof shade->colour);
    return BOUGH_OK;
}

bough_status bough_glb_add_node(bough_context *ctx, bough_glb *glb, const char *name, int32_t mesh, double scale) {
    BO_TRY(check_open(ctx, glb, "nodes"));
    BO_TRY(check_mesh_number(ctx, glb, mesh));
    if (!(scale > 0 && scale <= 1e30))
        return bo_fail(ctx, BOUGH_ERROR_ARGUMENT, "the scale of a node must be positive, not %g", scale);
    if (!BO_RESERVE(ctx, glb->nodes, glb->node_capacity, glb->node_count + 1))
        return BOUGH_ERROR_MEMORY;
    bo_glb_node node = {.mesh = mesh, .scale = (float)scale, .weight = glb->weight_count};
    node.name = name ? bo_strdup(ctx, name) : NULL;
    if (name && !node.name)
        return BOUGH_ERROR_MEMORY;
    glb->nodes[glb->node_count++] = node;
    glb->weight_count += (size_t)bo_glb_geometry_of(glb, &node)->target_count;
    return BOUGH_OK;
}

/* ---- frames ---- */

static bool finite_pose(const bough_glb_pose *pose) {
    double sum = 0; /* of squares: finite when all are, and not far beyond what a float holds */
    for (int i = 0; i < 3; i++)
        sum += pose->translation[i] * pose->translation[i];
    for (int i = 0; i < 9; i++)
        sum += pose->rotation[i] * pose->rotation[i];
    return sum < 1e60;
}

static bough_status check_frame(bough_context *ctx, const bough_glb *glb, double time, const bough_glb_pose *poses,
                                const float *weights) {
    double last = glb->frame_count > 0 ? (double)glb->frames[glb->frame_count - 1].time : -1;
    if (!(time >= 0 && time < 1e30) || (glb->frame_count > 0 && !((double)(float)time > last)))
        return bo_fail(ctx, BOUGH_ERROR_ARGUMENT,
                       "the time of a frame must be after that of the last one, %g s, not %g", fmax(last, 0), time);
    for (size_t n = 0; n < glb->node_count; n++)
        if (!finite_pose(&poses[n]))
            return bo_fail(ctx, BOUGH_NOT_FINITE, "the pose of node %zu is not finite at %g s", n, time);
    return all_finite(weights, glb->weight_count)
               ? BOUGH_OK
               : bo_fail(ctx, BOUGH_NOT_FINITE, "a weight is not finite at %g s", time);
}

/* Choose the one of q and -q, which are the same rotation, that is nearer to the last frame's: viewers interpolate
 * straight between them. */
static bo_glb_place place_of(const bough_glb_pose *pose, const bo_glb_place *last) {
    bo_mat3 R;
    memcpy(R.m, pose->rotation, sizeof R.m);
    bo_quat q = bo_quat_normalize(bo_quat_from_matrix(R));
    bo_glb_place place = {.rotation = {(float)q.x, (float)q.y, (float)q.z, (float)q.w}, .hidden = pose->hidden};
    float dot = 0;
    for (int i = 0; i < 4 && last; i++)
        dot += place.rotation[i] * last->rotation[i];
    for (int i = 0; i < 4 && dot < 0; i++)
        place.rotation[i] = -place.rotation[i];
    for (int i = 0; i < 3; i++)
        place.translation[i] = (float)pose->translation[i];
    return place;
}

bough_status bough_glb_add_frame(bough_context *ctx, bough_glb *glb, double time, const bough_glb_pose *poses,
                                 const float *weights) {
    BO_TRY(check_frame(ctx, glb, time, poses, weights));
    if (!BO_RESERVE(ctx, glb->frames, glb->frame_capacity, glb->frame_count + 1))
        return BOUGH_ERROR_MEMORY;
    bo_glb_frame frame = {.time = (float)time};
    frame.places = BO_NEW_ARRAY(ctx, bo_glb_place, glb->node_count);
    frame.weights = copy(ctx, weights, glb->weight_count, sizeof(float));
    if (!frame.places || !frame.weights) {
        free_frame(ctx, &frame);
        return BOUGH_ERROR_MEMORY;
    }
    const bo_glb_frame *last = glb->frame_count > 0 ? &glb->frames[glb->frame_count - 1] : NULL;
    for (size_t n = 0; n < glb->node_count; n++)
        frame.places[n] = place_of(&poses[n], last ? &last->places[n] : NULL);
    glb->frames[glb->frame_count++] = frame;
    return BOUGH_OK;
}

/* Weights in the file are within -1..1, so that 16 bits hold them: targets are scaled up accordingly. */
static void find_largest_weights(bough_glb *glb) {
    for (size_t i = 0; i < glb->geometry_count; i++)
        for (int32_t k = 0; k < glb->geometries[i].target_count; k++)
            glb->geometries[i].largest[k] = 0;
    for (size_t f = 0; f < glb->frame_count; f++)
        for (size_t n = 0; n < glb->node_count; n++) {
            const bo_glb_node *node = &glb->nodes[n];
            const bo_glb_geometry *g = bo_glb_geometry_of(glb, node);
            const float *weights = glb->frames[f].weights + node->weight;
            for (int32_t k = 0; k < g->target_count; k++)
                g->largest[k] = fmaxf(g->largest[k], fabsf(weights[k]));
        }
    for (size_t i = 0; i < glb->geometry_count; i++)
        for (int32_t k = 0; k < glb->geometries[i].target_count; k++)
            if (!(glb->geometries[i].largest[k] > 1e-30f))
                glb->geometries[i].largest[k] = 1; /* it never moves */
}

static bough_status write_file(bough_context *ctx, void *data) {
    bough_glb *glb = data;
    if (glb->frame_count == 0 || glb->node_count == 0)
        return bo_fail(ctx, BOUGH_ERROR_ARGUMENT, "a glTF file needs a node and a frame at least");
    find_largest_weights(glb);
    BO_TRY(bo_glb_choose_keys(ctx, glb));
    return bo_glb_write(ctx, glb);
}

bough_status bough_glb_flush(bough_context *ctx, bough_glb *glb) {
    return bo_output_flush(ctx, &glb->output, write_file, glb);
}

bough_status bough_glb_finish(bough_context *ctx, bough_glb *glb) {
    const bough_status status = bo_output_finish(ctx, &glb->output, write_file, glb);
    destroy(ctx, glb);
    return status;
}
