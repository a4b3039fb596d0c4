#include "fem/overlap.h"

#include "contact/near.h"
#include "fem/touch_itself.h"
#include "fem/touch.h"

#include <math.h>
#include <stdio.h>

enum { NAME = 120 };

typedef struct {
    bough_context *ctx;
    const bo_touch_def *touch;
    int32_t piece_count;
    const bo_body_piece *pieces;
    double t;
    bo_skin skin;
    bo_near near;
    double *x;      /* 3 vertex_count: positions */
    bo_vec3 *boxes; /* 2 vertex_count: lower and upper corners of the pieces, by their lowest vertices */
} overlaps;

/* ---- names ---- */

int32_t bo_body_piece_of(int32_t piece_count, const bo_body_piece *pieces, int32_t vertex) {
    int32_t i = 0;
    while (i + 1 < piece_count && vertex >= pieces[i + 1].first_vertex)
        i++;
    return i;
}

static int32_t piece_of(const overlaps *s, int32_t vertex) {
    return bo_body_piece_of(s->piece_count, s->pieces, vertex);
}

static void name_of(const overlaps *s, int32_t vertex, char name[NAME]) {
    if (s->piece_count > 0)
        snprintf(name, NAME, "\"%.100s\"", s->pieces[piece_of(s, vertex)].name);
    else
        snprintf(name, NAME, "the body");
}

static bo_vec3 at(const overlaps *s, int32_t vertex) {
    return bo_load3(s->x + 3 * (size_t)vertex);
}

static bough_status fail_crossing(const overlaps *s, int32_t edge, int32_t triangle) {
    const int32_t *e = s->skin.edges + 2 * (size_t)edge, *t = s->skin.triangles + 3 * (size_t)triangle;
    const bo_vec3 place = bo_scale(0.5, bo_add(at(s, e[0]), at(s, e[1])));
    char a[NAME], b[NAME];
    name_of(s, e[0], a), name_of(s, t[0], b);
    if (s->piece_count > 0 && piece_of(s, e[0]) != piece_of(s, t[0]))
        return bo_fail(s->ctx, BOUGH_ERROR_ARGUMENT,
                       "%s and %s touch or overlap at the start, at (%.4g, %.4g, %.4g); move one of them", a, b,
                       place.x, place.y, place.z);
    return bo_fail(
        s->ctx, BOUGH_ERROR_ARGUMENT,
        "%s crosses itself at the start, at (%.4g, %.4g, %.4g); mend its mesh, or let it pass through itself "
        "(\"itself\": false)",
        a, place.x, place.y, place.z);
}

static bough_status fail_inside(const overlaps *s, const char *what, bo_vec3 place, int32_t around) {
    char name[NAME];
    name_of(s, around, name);
    return bo_fail(s->ctx, BOUGH_ERROR_ARGUMENT,
                   "%s is inside %s at the start, at (%.4g, %.4g, %.4g); move one of them", what, name, place.x,
                   place.y, place.z);
}

/* ---- inside ---- */

static void find_boxes(const overlaps *s) {
    for (int32_t v = 0; v < s->skin.vertex_count; v++) {
        s->boxes[2 * (size_t)v] = bo_v3(INFINITY, INFINITY, INFINITY);
        s->boxes[2 * (size_t)v + 1] = bo_v3(-INFINITY, -INFINITY, -INFINITY);
    }
    for (int32_t i = 0; i < s->skin.point_count; i++) {
        const bo_vec3 x = at(s, s->skin.points[i]);
        bo_vec3 *box = s->boxes + 2 * (size_t)s->skin.body[s->skin.points[i]];
        box[0] = bo_v3(fmin(box[0].x, x.x), fmin(box[0].y, x.y), fmin(box[0].z, x.z));
        box[1] = bo_v3(fmax(box[1].x, x.x), fmax(box[1].y, x.y), fmax(box[1].z, x.z));
    }
}

static bool is_in_box(const bo_vec3 box[2], bo_vec3 x) {
    return x.x > box[0].x && x.y > box[0].y && x.z > box[0].z && x.x < box[1].x && x.y < box[1].y && x.z < box[1].z;
}

/* All triangles of a piece together are seen under 4 pi from inside, and under nothing from outside. */
static bool is_inside(const overlaps *s, bo_vec3 x, int32_t piece) {
    double sum = 0;
    if (!is_in_box(s->boxes + 2 * (size_t)piece, x))
        return false;
    for (int32_t i = 0; i < s->skin.triangle_count; i++) {
        const int32_t *t = s->skin.triangles + 3 * (size_t)i;
        if (s->skin.body[t[0]] == piece)
            sum += bo_solid_angle(bo_sub(at(s, t[0]), x), bo_sub(at(s, t[1]), x), bo_sub(at(s, t[2]), x));
    }
    return fabs(sum) > 2 * M_PI;
}

/* One vertex tells whether a piece is inside another: where no edge crosses anything, it is so as a whole or not at all. */
static bough_status check_pieces(const overlaps *s) {
    char name[NAME];
    for (int32_t i = 0; i < s->skin.point_count; i++) {
        const int32_t v = s->skin.points[i], own = s->skin.body[v];
        if (v != own && i > 0 && s->skin.body[s->skin.points[i - 1]] == own)
            continue;
        name_of(s, v, name);
        if (s->piece_count == 0)
            snprintf(name, NAME, "a piece of the body");
        for (int32_t piece = 0; piece < s->skin.vertex_count; piece++)
            if (piece != own && s->skin.body[piece] == piece && is_inside(s, at(s, v), piece))
                return fail_inside(s, name, at(s, v), piece);
    }
    return BOUGH_OK;
}

/* An obstacle with no vertex of a body in it may still be in the body. */
static bough_status check_obstacles(const overlaps *s) {
    const bo_touch_def *def = s->touch;
    char name[NAME];
    for (int32_t o = 0; o < def->obstacle_count; o++) {
        const bo_touch_obstacle *obstacle = &def->obstacles[o];
        const bo_obstacle_kind kind = obstacle->shape.kind;
        const bo_vec3 middle = obstacle->pose ? obstacle->pose(obstacle->pose_data, s->t).t : obstacle->shape.pose.t;
        if (kind != BO_OBSTACLE_SPHERE && kind != BO_OBSTACLE_CAPSULE && kind != BO_OBSTACLE_BOX)
            continue;
        snprintf(name, NAME, "the obstacle \"%.90s\"", obstacle->name ? obstacle->name : "");
        for (int32_t piece = 0; piece < s->skin.vertex_count; piece++)
            if (s->skin.body[piece] == piece && is_inside(s, middle, piece))
                return fail_inside(s, name, middle, piece);
    }
    return BOUGH_OK;
}

/* ---- all ---- */

static bough_status check(overlaps *s, const bough_mesh *mesh, const double *q) {
    const size_t n = 3 * (size_t)mesh->vertex_count;
    int32_t edge, triangle;
    BO_TRY(bo_body_skin(s->ctx, mesh, &s->skin));
    s->x = BO_NEW_ARRAY(s->ctx, double, n);
    s->boxes = BO_NEW_ARRAY(s->ctx, bo_vec3, 2 * (size_t)mesh->vertex_count);
    if (!s->x || !s->boxes)
        return BOUGH_ERROR_MEMORY;
    for (size_t i = 0; i < n; i++)
        s->x[i] = mesh->vertices[i] + q[i];
    find_boxes(s);
    BO_TRY(check_obstacles(s));
    if (!s->touch->itself)
        return BOUGH_OK;
    BO_TRY(bo_near_crossing(s->ctx, &s->skin, s->x, &s->near, &edge, &triangle));
    return edge >= 0 ? fail_crossing(s, edge, triangle) : check_pieces(s);
}

bough_status bo_body_check_overlap(bough_context *ctx, const bough_mesh *mesh, const bo_touch_def *touch,
                                   int32_t piece_count, const bo_body_piece *pieces, double t, const double *q) {
    overlaps s = {.ctx = ctx, .touch = touch, .piece_count = piece_count, .pieces = pieces, .t = t};
    const bough_status status = check(&s, mesh, q);
    bo_skin_free(ctx, &s.skin);
    bo_near_free(ctx, &s.near);
    bo_free(ctx, s.x);
    bo_free(ctx, s.boxes);
    return status;
}
