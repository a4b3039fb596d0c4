/* The surfaces of all parts, to be drawn. docs/theory/tree.md, "Surfaces". */
#include "tree/surface.h"

#include "base/simd.h"
#include "base/threads.h"

#include <float.h>
#include <math.h>
#include <string.h>

/* A task is worth waking a thread for, and leaves enough of them for all threads; each needs room in every state. */
enum { VERTICES_A_TASK = 8192, MOST_TASKS = 256, PLACES_A_TASK = 2048 };

/* A vertex x y z with a fourth lane that means nothing: positions stand 3 floats apart, so that it is the next vertex's
 * x.
 */
enum { LANES = 4, PANEL = 16, BLOCK = 8 };
typedef float quad __attribute__((vector_size(4 * LANES), aligned(4)));
#define LOAD(address) (*(const quad *)(address))
#define QUAD(address) (*(quad *)(address))

static const bough_surface *surface_of(const bough_tree_model *model, int32_t user) {
    return &model->components[model->parts[model->inside[user]].component].c->surface;
}

/* ---- numbering and work ---- */

static bough_status number_vertices(bough_context *ctx, const bough_tree_model *model, struct bo_tree_surface *s) {
    int64_t vertices = 0, triangles = 0;
    for (int32_t i = 0; i < model->part_count; i++) {
        s->first[i] = (int32_t)vertices;
        vertices += surface_of(model, i)->vertex_count;
        triangles += surface_of(model, i)->triangle_count;
        if (vertices > INT32_MAX / 3 || triangles > INT32_MAX / 3)
            return bo_fail(ctx, BOUGH_ERROR_ARGUMENT,
                           "the surfaces of the first %d parts have more vertices or triangles than can be numbered; "
                           "cook the components with coarser ones",
                           i + 1);
    }
    s->first[model->part_count] = s->vertex_count = (int32_t)vertices;
    s->triangle_count = (int32_t)triangles;
    return BOUGH_OK;
}

/* Positions in whole panels, with a lane more for the last vertex, and area vectors. */
static size_t positions_room(int32_t vertex_count) {
    return (3 * (size_t)vertex_count / PANEL + 2) * PANEL;
}
static size_t part_room(int32_t vertex_count) {
    return positions_room(vertex_count) + LANES * ((size_t)vertex_count + BLOCK);
}

/* Borders depend on the model only. */
static void cut_tasks(const bough_tree_model *model, struct bo_tree_surface *s) {
    const int32_t share = s->vertex_count / MOST_TASKS, enough = share > VERTICES_A_TASK ? share : VERTICES_A_TASK;
    int32_t task = 0, vertices = 0;
    size_t at = 0, room = 0;
    s->task_first[0] = 0;
    for (int32_t i = 0; i < model->part_count; i++) {
        const int32_t count = surface_of(model, model->parts[i].user)->vertex_count;
        const size_t need = part_room(count);
        vertices += count;
        room = need > room ? need : room;
        if (vertices < enough && i + 1 < model->part_count)
            continue;
        s->room[task++] = at;
        s->task_first[task] = i + 1;
        at += (room + PANEL - 1) / PANEL * PANEL;
        vertices = 0, room = 0;
    }
    s->room[task] = at;
    s->task_count = task;
}

bough_status bo_tree_make_surface(bough_context *ctx, bough_tree_model *model) {
    struct bo_tree_surface *s = model->surface = BO_NEW(ctx, struct bo_tree_surface);
    if (!s)
        return BOUGH_ERROR_MEMORY;
    const size_t count = (size_t)model->part_count + 1;
    s->first = BO_NEW_ARRAY(ctx, int32_t, count);
    s->task_first = BO_NEW_ARRAY(ctx, int32_t, count);
    s->room = BO_NEW_ARRAY(ctx, size_t, count);
    if (!s->first || !s->task_first || !s->room)
        return BOUGH_ERROR_MEMORY;
    BO_TRY(number_vertices(ctx, model, s));
    cut_tasks(model, s);
    BO_TRY(bo_tree_make_fields(ctx, model, &s->fields));
    BO_TRY(bo_tree_find_seams(ctx, model, s->first, &s->seams));
    return bo_tree_find_fillets(ctx, model, &s->seams, &s->blend);
}

void bo_tree_free_surface(bough_context *ctx, bough_tree_model *model) {
    struct bo_tree_surface *s = model->surface;
    if (!s)
        return;
    bo_tree_free_fields(ctx, model, s->fields);
    bo_tree_free_fillets(ctx, &s->blend);
    bo_tree_free_seams(ctx, &s->seams);
    bo_free(ctx, s->first);
    bo_free(ctx, s->task_first);
    bo_free(ctx, s->room);
    bo_free(ctx, s);
}

/* The work: a room for each task, area vectors of copies, coefficients of joints, and a byte for each part that tells
 * whether its seam is open, with one more for any. */
static size_t joints_room(const struct bo_tree_surface *s) {
    return s->room[s->task_count] + LANES * (size_t)s->seams.copy_count;
}
static size_t flags_room(const struct bo_tree_surface *s) {
    return joints_room(s) + 2 * BO_BLEND_SIZE * (size_t)s->blend.joint_count;
}

float *bo_tree_make_surface_work(bough_context *ctx, const bough_tree_model *model) {
    return BO_NEW_ZEROS(ctx, float, flags_room(model->surface) + (size_t)model->part_count / sizeof(float) + 1);
}

float *bo_tree_fillet_numbers(const bough_tree_model *model, const bough_tree_state *state) {
    return bo_tree_work_of(state)->surface_work + joints_room(model->surface);
}

static unsigned char *open_flags(const bough_tree_model *model, const bough_tree_state *state) {
    return (unsigned char *)(bo_tree_work_of(state)->surface_work + flags_room(model->surface));
}

bool bo_tree_seam_is_open(const bough_tree_model *model, const bough_tree_state *state, int32_t part) {
    return open_flags(model, state)[part];
}

void bo_tree_open_seam(const bough_tree_model *model, bough_tree_state *state, int32_t part, bool open) {
    unsigned char *flags = open_flags(model, state);
    flags[part] = open;
    flags[model->part_count] = memchr(flags, 1, (size_t)model->part_count) != NULL;
}

static bool hangs_alike(const bough_part_def *a, const bough_part_def *b) {
    return a->parent == b->parent && a->interface_index == b->interface_index && !a->joint == !b->joint &&
           memcmp(a->rotation, b->rotation, sizeof a->rotation) == 0 &&
           memcmp(a->offset, b->offset, sizeof a->offset) == 0;
}

void bo_tree_open_seams(const bough_tree_model *model, bough_tree_state *state) {
    const bough_tree_model *now = bo_tree_now(model, state);
    unsigned char *flags = open_flags(model, state);
    for (int32_t part = 0; part < model->part_count; part++)
        flags[part] = now->inside[part] < 0 || !hangs_alike(&now->def.parts[part], &model->def.parts[part]);
    flags[model->part_count] = memchr(flags, 1, (size_t)model->part_count) != NULL;
}

int32_t bough_tree_model_vertex_count(const bough_tree_model *model) {
    return model->surface->vertex_count;
}
int32_t bough_tree_model_first_vertex(const bough_tree_model *model, int32_t part) {
    return model->surface->first[part];
}
int32_t bough_tree_model_triangle_count(const bough_tree_model *model) {
    return model->surface->triangle_count;
}
void bough_tree_model_triangles(const bough_tree_model *model, int32_t *triangles) {
    for (int32_t i = 0; i < model->part_count; i++) {
        const bough_surface *surface = surface_of(model, i);
        for (size_t k = 0; k < 3 * (size_t)surface->triangle_count; k++)
            *triangles++ = model->surface->first[i] + surface->triangles[k];
    }
}

void bough_tree_model_seams(const bough_tree_model *model, bough_seams *seams) {
    const bo_tree_seams *s = &model->surface->seams;
    *seams = (bough_seams){.place_count = s->place_count,
                           .copy_count = s->copy_count,
                           .place_first = s->place_first,
                           .members = s->members,
                           .copy_vertex = s->copies,
                           .copy_part = s->copy_part};
}

/* ---- one part ---- */

/* A rotation (times a factor) and a place, a column each: y = c0 x + c1 y + c2 z + origin takes no shuffles. */
typedef struct {
    quad column[3], origin;
} motion;

static motion motion_of(const bough_frame *frame, double scale) {
    motion m = {0};
    for (int k = 0; k < 3; k++) {
        for (int j = 0; j < 3; j++)
            m.column[j][k] = (float)(scale * frame->pose.rotation[3 * k + j]);
        m.origin[k] = (float)frame->pose.position[k];
    }
    return m;
}

BO_INLINE quad moved(const motion *m, const float *x) {
    return m->origin + m->column[0] * x[0] + m->column[1] * x[1] + m->column[2] * x[2];
}
BO_INLINE quad turned(const motion *m, const float *n) {
    return m->column[0] * n[0] + m->column[1] * n[1] + m->column[2] * n[2];
}

/* Each vertex is written four lanes wide, and the next one over the fourth; but what comes after the last one belongs
 * to another part. */
BO_MULTIVERSION static void place_vertices(const motion *place, int32_t count, const float *x, float *positions) {
    const motion m = *place;
    for (int32_t v = 0; v + 1 < count; v++, x += 3, positions += 3)
        QUAD(positions) = moved(&m, x);
    if (count > 0) {
        quad last = moved(&m, x);
        memcpy(positions, &last, 3 * sizeof *positions);
    }
}

/* a x b = yzx(a yzx(b) - b yzx(a)) */
BO_INLINE quad yzx(quad a) {
    return __builtin_shufflevector(a, a, 1, 2, 0, 3);
}
BO_INLINE quad cross(quad a, quad b) {
    return yzx(a * yzx(b) - yzx(a) * b);
}

/* area[v]: sum of twice the area vectors of the triangles around vertex v. */
BO_MULTIVERSION static void sum_area_vectors(const bough_surface *surface, const float *x, float *area) {
    memset(area, 0, LANES * sizeof *area * ((size_t)surface->vertex_count + BLOCK));
    const int32_t *corner = surface->triangles, *end = corner + 3 * (size_t)surface->triangle_count;
    for (; corner < end; corner += 3) {
        const size_t i = (size_t)corner[0], j = (size_t)corner[1], k = (size_t)corner[2];
        const quad a = LOAD(x + 3 * i), n = cross(LOAD(x + 3 * j) - a, LOAD(x + 3 * k) - a);
        QUAD(area + LANES * i) += n;
        QUAD(area + LANES * j) += n;
        QUAD(area + LANES * k) += n;
    }
}

/* 1 / length of each area vector, eight at a time; no length: no normal. */
BO_INLINE void find_inverse_lengths(const float *area, float inverse[BLOCK]) {
    for (int i = 0; i < BLOCK; i++, area += LANES)
        inverse[i] = area[0] * area[0] + area[1] * area[1] + area[2] * area[2];
    for (int i = 0; i < BLOCK; i++)
        inverse[i] = 1 / sqrtf(inverse[i] + FLT_MIN);
}

/* area has room for whole blocks. */
BO_MULTIVERSION static void turn_normals(const motion *turn, int32_t count, const float *area, float *normals) {
    const motion m = *turn;
    float inverse[BLOCK];
    for (int32_t begin = 0; begin < count; begin += BLOCK) {
        const int32_t end = count - begin <= BLOCK ? count - 1 - begin : BLOCK;
        find_inverse_lengths(area, inverse);
        for (int32_t i = 0; i < end; i++, area += LANES, normals += 3)
            QUAD(normals) = inverse[i] * turned(&m, area);
        if (begin + end == count - 1) {
            quad last = inverse[end] * turned(&m, area);
            memcpy(normals, &last, 3 * sizeof *normals);
        }
    }
}

/* ---- all parts ---- */

typedef struct {
    const bough_tree_model *model;
    const bough_tree_state *state;
    float *positions, *normals;
} drawing;

static float *seam_vectors(const drawing *d) {
    return bo_tree_work_of(d->state)->surface_work + d->model->surface->room[d->model->surface->task_count];
}

/* World area vectors of the part's copies, for the normals of their places. */
static void keep_seams(const drawing *d, const bo_tree_part *part, const float *area) {
    const bo_tree_seams *seams = &d->model->surface->seams;
    const motion m = motion_of(&d->state->frames[part->user], part->scale * part->scale);
    for (int32_t c = seams->part_first[part->user]; c < seams->part_first[part->user + 1]; c++) {
        const size_t v = (size_t)(seams->copies[c] - d->model->surface->first[part->user]);
        QUAD(seam_vectors(d) + LANES * (size_t)c) = turned(&m, area + LANES * v);
    }
}

/* All of it in one point, which nobody sees. */
static void hide_part(const bough_frame *frame, int32_t count, float *positions, float *normals) {
    for (size_t k = 0; k < 3 * (size_t)count; k++) {
        positions[k] = (float)frame->pose.position[k % 3];
        if (normals)
            normals[k] = k % 3 == 2;
    }
}

/* Normals are those of the shape in the part's own axes: its place in the world costs them no digits. */
static void draw_part(const drawing *d, const bo_tree_part *part, float *room) {
    const bough_component *c = d->model->components[part->component].c;
    const bough_frame *frame = &d->state->frames[part->user];
    const int32_t count = c->surface.vertex_count;
    const size_t first = 3 * (size_t)d->model->surface->first[part->user];
    const motion place = motion_of(frame, part->scale), turn = motion_of(frame, 1);
    float *x = room, *area = room + positions_room(count);
    if (bo_tree_now(d->model, d->state)->inside[part->user] < 0) {
        hide_part(frame, count, d->positions + first, d->normals ? d->normals + first : NULL);
        return;
    }
    bough_component_surface_positions(c, d->state->q + part->offset, x);
    x[3 * (size_t)count] = 0;
    place_vertices(&place, count, x, d->positions + first);
    if (d->state->continuity == BOUGH_CONTINUITY_C1)
        bo_tree_blend_part(d->model, d->state, part, x, d->positions + first);
    if (!d->normals)
        return;
    sum_area_vectors(&c->surface, x, area);
    keep_seams(d, part, area);
    turn_normals(&turn, count, area, d->normals + first);
}

static void draw_parts(void *data, int32_t task) {
    const drawing *d = data;
    const struct bo_tree_surface *s = d->model->surface;
    for (int32_t i = s->task_first[task]; i < s->task_first[task + 1]; i++)
        draw_part(d, &d->model->parts[i], bo_tree_work_of(d->state)->surface_work + s->room[task]);
}

/* ---- seams ---- */

/* Copies of one place that are drawn as one: `members` of which those count whose leader is `leader`, or all (-1). */
typedef struct {
    const int32_t *members;
    int32_t count, leader;
} place;

/* The first of a part's copies, or -1. */
static int32_t first_of(const drawing *d, const place *p, int32_t part) {
    for (int32_t i = 0; i < p->count; i++)
        if (d->model->surface->seams.copy_part[p->members[i]] == part)
            return i;
    return -1;
}

/* The copy that leads a copy within its place, over all seams that are not open. */
static int32_t leader_of(const drawing *d, const place *p, int32_t member) {
    int32_t part = d->model->surface->seams.copy_part[p->members[member]];
    for (;;) {
        const int32_t parent = d->model->def.parts[part].parent;
        if (parent < 0 || bo_tree_seam_is_open(d->model, d->state, part) || first_of(d, p, parent) < 0)
            return first_of(d, p, part);
        part = parent;
    }
}

static bool belongs(const drawing *d, const place *p, int32_t member) {
    return p->leader < 0 || leader_of(d, p, member) == p->leader;
}

/* The mean of the copies' positions. */
static void join_positions(const drawing *d, const place *p) {
    const int32_t *copies = d->model->surface->seams.copies;
    float sum[3] = {0}, count = 0;
    for (int32_t i = 0; i < p->count; i++) {
        if (!belongs(d, p, i))
            continue;
        for (int k = 0; k < 3; k++)
            sum[k] += d->positions[3 * (size_t)copies[p->members[i]] + (size_t)k];
        count++;
    }
    for (int32_t i = 0; i < p->count; i++)
        for (int k = 0; k < 3 && belongs(d, p, i); k++)
            d->positions[3 * (size_t)copies[p->members[i]] + (size_t)k] = sum[k] / count;
}

/* Area vectors of one surface add up over the cut, and those of cut faces on both sides cancel. Where nothing else is
 * left, inside of the material, the first copy's normal does for all. */
static void join_normals(const drawing *d, const place *p) {
    const int32_t *copies = d->model->surface->seams.copies;
    float sum[3] = {0}, lengths = 0;
    for (int32_t i = 0; i < p->count; i++) {
        if (!belongs(d, p, i))
            continue;
        const float *n = seam_vectors(d) + LANES * (size_t)p->members[i];
        for (int k = 0; k < 3; k++)
            sum[k] += n[k];
        lengths += sqrtf(n[0] * n[0] + n[1] * n[1] + n[2] * n[2]);
    }
    const float length = sqrtf(sum[0] * sum[0] + sum[1] * sum[1] + sum[2] * sum[2]);
    const float *first = d->normals + 3 * (size_t)copies[p->members[p->leader < 0 ? 0 : p->leader]];
    const bool cancelled = !(length > 1e-3f * lengths);
    for (int k = 0; k < 3; k++)
        sum[k] = cancelled ? first[k] : sum[k] / length;
    for (int32_t i = 0; i < p->count; i++)
        if (belongs(d, p, i))
            memcpy(d->normals + 3 * (size_t)copies[p->members[i]], sum, sizeof sum);
}

static void join_place(const drawing *d, const place *p) {
    join_positions(d, p);
    if (d->normals)
        join_normals(d, p);
}

static place place_at(const bo_tree_seams *seams, int32_t number) {
    const int32_t first = seams->place_first[number];
    return (place){seams->members + first, seams->place_first[number + 1] - first, -1};
}

static void join_places(void *data, int32_t begin, int32_t end, int32_t chunk) {
    const drawing *d = data;
    const bool open = bo_tree_seam_is_open(d->model, d->state, d->model->part_count); /* any */
    (void)chunk;
    for (int32_t i = begin; i < end; i++) {
        place p = place_at(&d->model->surface->seams, i);
        if (!open)
            join_place(d, &p);
        for (int32_t leader = 0; leader < p.count && open; leader++) {
            p.leader = leader;
            if (leader_of(d, &p, leader) == leader)
                join_place(d, &p);
        }
    }
}

bough_status bough_tree_state_surface(bough_context *ctx, const bough_tree_model *model, const bough_tree_state *state,
                                      float *positions, float *normals) {
    drawing d = {model, state, positions, normals};
    if ((int)state->continuity < BOUGH_CONTINUITY_C0 || state->continuity > BOUGH_CONTINUITY_NONE)
        return bo_fail(ctx, BOUGH_ERROR_ARGUMENT, "the continuity of the state does not exist");
    if (state->continuity == BOUGH_CONTINUITY_C1)
        bo_tree_move_fillets(ctx, model, state);
    bo_run_tasks(ctx, draw_parts, &d, model->surface->task_count);
    if (state->continuity != BOUGH_CONTINUITY_NONE)
        bo_parallel_for(ctx, model->surface->seams.place_count, PLACES_A_TASK, join_places, &d);
    return BOUGH_OK;
}

/* ---- how far seams are apart ---- */

static bo_vec3 place_of_copy(bough_context *ctx, const bough_tree_model *model, const bough_tree_state *state,
                             int32_t copy) {
    const bo_tree_seams *seams = &model->surface->seams;
    const int32_t part = seams->copy_part[copy];
    double x[3] = {0}, v[3];
    bough_tree_state_vertex(ctx, model, state, part, seams->copies[copy] - model->surface->first[part], x, v);
    return bo_load3(x);
}

static void compare_copies(bough_context *ctx, const drawing *d, const place *p, bough_tree_gap *gap) {
    const bough_tree_model *model = d->model;
    const bo_tree_seams *seams = &model->surface->seams;
    for (int32_t i = 0; i < p->count; i++) {
        const int32_t copy = p->members[i], part = seams->copy_part[copy];
        const int32_t other = model->def.parts[part].parent < 0 ? -1 : first_of(d, p, model->def.parts[part].parent);
        if (other < 0 || bo_tree_seam_is_open(model, d->state, part))
            continue;
        const double distance = bo_norm(
            bo_sub(place_of_copy(ctx, model, d->state, copy), place_of_copy(ctx, model, d->state, p->members[other])));
        gap->count++;
        if (gap->part >= 0 && !(distance > gap->distance))
            continue;
        const bo_tree_part *inside = &model->parts[model->inside[part]];
        const bough_component *c = model->components[inside->component].c;
        gap->distance = distance, gap->relative = distance / (inside->scale * c->interfaces[c->parent].radius);
        gap->part = part, gap->vertex = seams->copies[copy] - model->surface->first[part];
    }
}

bough_status bough_tree_state_gap(bough_context *ctx, const bough_tree_model *model, const bough_tree_state *state,
                                  bough_tree_gap *gap) {
    const drawing d = {model, state, NULL, NULL};
    *gap = (bough_tree_gap){.part = -1, .vertex = -1};
    for (int32_t i = 0; i < model->surface->seams.place_count; i++) {
        const place p = place_at(&model->surface->seams, i);
        compare_copies(ctx, &d, &p, gap);
    }
    return BOUGH_OK;
}
