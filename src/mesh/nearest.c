#include "mesh/nearest.h"

#include <string.h>

#define ITERATION_LIMIT 50
#define HALVING_LIMIT 20
#define ROUND_OFF 1e-15 /* of the element's size: a residual below it is no distance */
#define RIDGE 1e-6      /* of the largest diagonal entry: slows the convergence in flat elements, and only there */
#define BENT_RATIO \
    1e-9 /* nodes off their place in an affine element by more than this times its size make it curved \
          */

/* ---- straight tets, in closed form ---- */

/* Weights of the point of the segment ab nearest to x. */
static double nearest_on_segment(bo_vec3 x, bo_vec3 a, bo_vec3 b, double w[2]) {
    bo_vec3 ab = bo_sub(b, a), ax = bo_sub(x, a);
    double length2 = bo_dot(ab, ab), t = length2 > 0 ? bo_dot(ax, ab) / length2 : 0;
    t = t > 0 ? fmin(t, 1) : 0;
    w[0] = 1 - t, w[1] = t;
    bo_vec3 r = bo_mul_add(ax, -t, ab);
    return bo_dot(r, r);
}

/* Inside when the foot of the perpendicular is; else on an edge, which also serves triangles without area. */
static double nearest_on_triangle(bo_vec3 x, const bo_vec3 corner[3], double w[3]) {
    bo_vec3 ab = bo_sub(corner[1], corner[0]), ac = bo_sub(corner[2], corner[0]), ax = bo_sub(x, corner[0]);
    bo_vec3 n = bo_cross(ab, ac);
    double nn = bo_dot(n, n), v = bo_dot(bo_cross(ax, ac), n) / nn, u = bo_dot(bo_cross(ab, ax), n) / nn;
    bool has_area = nn > BO_FLAT_RATIO * BO_FLAT_RATIO * bo_dot(ab, ab) * bo_dot(ac, ac);
    if (has_area && v >= 0 && u >= 0 && u + v <= 1) {
        w[0] = 1 - u - v, w[1] = v, w[2] = u;
        bo_vec3 r = bo_mul_add(bo_mul_add(ax, -v, ab), -u, ac);
        return bo_dot(r, r);
    }
    double best = INFINITY;
    for (int e = 0; e < 3; e++) {
        int a = e, b = (e + 1) % 3;
        double t[2], distance2 = nearest_on_segment(x, corner[a], corner[b], t);
        if (distance2 < best) {
            best = distance2;
            w[a] = t[0], w[b] = t[1], w[(e + 2) % 3] = 0;
        }
    }
    return best;
}

/* Barycentric coordinates of x; false when the tet is too flat for them to mean anything. The second round corrects the
 * round-off of slivers. */
static bool barycentric(const bo_vec3 *X, bo_vec3 x, double L[4]) {
    const bo_vec3 edge[3] = {bo_sub(X[1], X[0]), bo_sub(X[2], X[0]), bo_sub(X[3], X[0])};
    const bo_vec3 normal[3] = {bo_cross(edge[1], edge[2]), bo_cross(edge[2], edge[0]), bo_cross(edge[0], edge[1])};
    double det = bo_dot(edge[0], normal[0]);
    if (!(fabs(det) > BO_FLAT_RATIO * bo_norm(edge[0]) * bo_norm(edge[1]) * bo_norm(edge[2])))
        return false;
    L[1] = L[2] = L[3] = 0;
    for (int round = 0; round < 2; round++) {
        bo_vec3 r = bo_sub(x, X[0]);
        for (int i = 0; i < 3; i++)
            r = bo_mul_add(r, -L[1 + i], edge[i]);
        for (int i = 0; i < 3; i++)
            L[1 + i] += bo_dot(r, normal[i]) / det;
    }
    L[0] = 1 - L[1] - L[2] - L[3];
    return true;
}

/* In a tet with volume the nearest point lies on a face that x is on the outer side of. */
static double nearest_in_tet(const bo_vec3 *X, bo_vec3 x, double L[4]) {
    const bo_element_info *info = bo_element_info_of(BOUGH_TET4);
    double outer[4] = {-1, -1, -1, -1};
    if (barycentric(X, x, outer) && outer[0] >= 0 && outer[1] >= 0 && outer[2] >= 0 && outer[3] >= 0) {
        memcpy(L, outer, sizeof outer);
        return 0;
    }
    double best = INFINITY;
    for (int f = 0; f < 4; f++) {
        const int32_t *corners = info->faces[f];
        if (outer[6 - corners[0] - corners[1] - corners[2]] >= 0)
            continue;
        double w[3] = {1, 0, 0};
        double distance2 = nearest_on_triangle(x, (bo_vec3[]){X[corners[0]], X[corners[1]], X[corners[2]]}, w);
        if (distance2 < best) {
            best = distance2;
            memset(L, 0, 4 * sizeof *L);
            for (int c = 0; c < 3; c++)
                L[corners[c]] = w[c];
        }
    }
    return best;
}

/* ---- maps of the curved elements ---- */

/* Returns the position of corner k of a hex along an axis. */
static int hex_side(int k, int axis) {
    return axis == 0 ? (k ^ k >> 1) & 1 : axis == 1 ? k >> 1 & 1 : k >> 2;
}

/* tet10: N_c = L_c (2 L_c - 1) at corners, 4 L_a L_b on edges. */
void bo_shape_weights(bough_element_type type, const bo_place *place, double weights[BOUGH_MAX_ELEMENT_NODES]) {
    const bo_element_info *info = bo_element_info_of(type);
    const double *at = place->at;
    memset(weights, 0, BOUGH_MAX_ELEMENT_NODES * sizeof *weights);
    for (int k = 0; k < info->corner_count; k++) {
        if (type != BOUGH_HEX8) {
            weights[k] = type == BOUGH_TET10 ? at[k] * (2 * at[k] - 1) : at[k];
            continue;
        }
        weights[k] = 1;
        for (int d = 0; d < 3; d++)
            weights[k] *= hex_side(k, d) ? at[d] : 1 - at[d];
    }
    for (int e = 0; e < 6 && type == BOUGH_TET10; e++)
        weights[4 + e] = 4 * at[info->edges[e][0]] * at[info->edges[e][1]];
}

static bo_vec3 point_at(bough_element_type type, const bo_vec3 *X, const bo_place *place) {
    double w[BOUGH_MAX_ELEMENT_NODES];
    bo_shape_weights(type, place, w);
    bo_vec3 x = {0, 0, 0};
    for (int k = 0; k < bo_element_info_of(type)->node_count; k++)
        x = bo_mul_add(x, w[k], X[k]);
    return x;
}

/* G[i] = dx / d at[i]. */
static void derivatives(bough_element_type type, const bo_vec3 *X, const bo_place *place, bo_vec3 G[4]) {
    const double *at = place->at;
    memset(G, 0, 4 * sizeof *G);
    if (type == BOUGH_TET10) {
        const bo_element_info *info = bo_element_info_of(type);
        for (int c = 0; c < 4; c++)
            G[c] = bo_scale(4 * at[c] - 1, X[c]);
        for (int e = 0; e < 6; e++) {
            int a = info->edges[e][0], b = info->edges[e][1];
            G[a] = bo_mul_add(G[a], 4 * at[b], X[4 + e]);
            G[b] = bo_mul_add(G[b], 4 * at[a], X[4 + e]);
        }
        return;
    }
    for (int k = 0; k < 8; k++)
        for (int i = 0; i < 3; i++) {
            int j = (i + 1) % 3, l = (i + 2) % 3;
            double w = (hex_side(k, j) ? at[j] : 1 - at[j]) * (hex_side(k, l) ? at[l] : 1 - at[l]);
            G[i] = bo_mul_add(G[i], hex_side(k, i) ? w : -w, X[k]);
        }
}

void bo_element_box(bough_element_type type, const bo_vec3 *nodes, double lower[3], double upper[3]) {
    const bo_element_info *info = bo_element_info_of(type);
    for (int d = 0; d < 3; d++)
        lower[d] = INFINITY, upper[d] = -INFINITY;
    for (int k = 0; k < info->node_count; k++) {
        bo_vec3 x = nodes[k];
        if (k >= info->corner_count) { /* 2 m - (a + b) / 2 is the Bezier point of an edge a m b */
            const int32_t *edge = info->edges[k - info->corner_count];
            x = bo_sub(bo_scale(2, x), bo_scale(0.5, bo_add(nodes[edge[0]], nodes[edge[1]])));
        }
        double c[3];
        bo_store3(c, x);
        for (int d = 0; d < 3; d++)
            lower[d] = fmin(lower[d], c[d]), upper[d] = fmax(upper[d], c[d]);
    }
}

/* ---- Gauss-Newton within the element ---- */

/* min |x(at) - x|^2 / 2 over three coordinates that are bounded below by 0. A tet's largest barycentric coordinate (at
 * least 1/4, so its bound is not active) is left out: it follows from the sum. A hex's are bounded above by 1 too. */
typedef struct descent {
    bough_element_type type;
    const bo_vec3 *X;
    bo_vec3 x;
    int variable[3], rest; /* indices into at; rest is the one that follows, -1 for hexes */
    bo_vec3 J[3], r;       /* dx / d variable, x(at) - x */
    double gradient[3], step[3];
} descent;

static void linearize(descent *s, const bo_place *place) {
    bo_vec3 G[4];
    derivatives(s->type, s->X, place, G);
    s->rest = s->type == BOUGH_HEX8 ? -1 : 0;
    for (int i = 1; i < 4 && s->rest >= 0; i++)
        if (place->at[i] > place->at[s->rest])
            s->rest = i;
    for (int i = 0, v = 0; i < 3; i++, v++) {
        v += v == s->rest;
        s->variable[i] = v;
        s->J[i] = s->rest < 0 ? G[v] : bo_sub(G[v], G[s->rest]);
        s->gradient[i] = bo_dot(s->J[i], s->r);
    }
}

/* A coordinate at its bound stays there when the gradient pushes it outwards. */
static int find_free(const descent *s, const bo_place *place, int free[3]) {
    int count = 0;
    for (int i = 0; i < 3; i++) {
        double at = place->at[s->variable[i]];
        bool held = (at <= 0 && s->gradient[i] > 0) || (s->rest < 0 && at >= 1 && s->gradient[i] < 0);
        if (!held)
            free[count++] = i;
    }
    return count;
}

/* With all coordinates free that is Newton's step, -J^-1 r; in a flat element the ridge's. */
static void find_full_step(descent *s, double H[3][3], double ridge) {
    bo_vec3 c[3] = {bo_cross(s->J[1], s->J[2]), bo_cross(s->J[2], s->J[0]), bo_cross(s->J[0], s->J[1])};
    double det = bo_dot(s->J[0], c[0]);
    if (fabs(det) > BO_FLAT_RATIO * bo_norm(s->J[0]) * bo_norm(s->J[1]) * bo_norm(s->J[2])) {
        for (int i = 0; i < 3; i++)
            s->step[i] = -bo_dot(s->r, c[i]) / det;
        return;
    }
    bo_mat3 A;
    for (int i = 0; i < 9; i++)
        A.m[i] = H[i / 3][i % 3] + (i % 4 == 0 ? ridge : 0);
    if (bo_det(A) > 0)
        bo_store3(s->step, bo_scale(-1, bo_mat_vec(bo_inverse(A), bo_load3(s->gradient))));
}

/* The Gauss-Newton step of the free coordinates, from (J^T J) step = -gradient. A little ridge keeps flat elements from
 * dividing by zero. */
static void find_step(descent *s, const int *free, int count) {
    const double *g = s->gradient;
    double H[3][3], ridge = 0;
    for (int i = 0; i < count; i++)
        for (int j = 0; j < count; j++)
            H[i][j] = bo_dot(s->J[free[i]], s->J[free[j]]);
    for (int i = 0; i < count; i++)
        ridge = fmax(ridge, RIDGE * H[i][i]);
    memset(s->step, 0, sizeof s->step);
    if (count == 1) {
        s->step[free[0]] = H[0][0] > 0 ? -g[free[0]] / H[0][0] : 0;
    } else if (count == 2) {
        double det = H[0][0] * H[1][1] - H[0][1] * H[0][1];
        if (!(det > BO_FLAT_RATIO * H[0][0] * H[1][1])) {
            H[0][0] += ridge, H[1][1] += ridge;
            det = H[0][0] * H[1][1] - H[0][1] * H[0][1];
        }
        s->step[free[0]] = det > 0 ? (H[0][1] * g[free[1]] - H[1][1] * g[free[0]]) / det : 0;
        s->step[free[1]] = det > 0 ? (H[0][1] * g[free[0]] - H[0][0] * g[free[1]]) / det : 0;
    } else if (count == 3)
        find_full_step(s, H, ridge);
}

/* place + length * step, put back into the element. */
static bo_place move(const descent *s, const bo_place *place, double length) {
    bo_place to = *place;
    double sum = 0;
    for (int i = 0; i < 3; i++) {
        double *at = &to.at[s->variable[i]];
        *at += length * s->step[i];
        *at = *at > 0 ? fmin(*at, 1) : 0;
        sum += *at;
    }
    if (s->rest < 0)
        return to;
    for (int i = 0; i < 3 && sum > 1; i++)
        to.at[s->variable[i]] /= sum;
    to.at[s->rest] = sum > 1 ? 0 : 1 - sum;
    return to;
}

/* |x(at) - x|^2, with the residual kept in s->r. */
static double measure(descent *s, const bo_place *place) {
    s->r = bo_sub(point_at(s->type, s->X, place), s->x);
    return bo_dot(s->r, s->r);
}

/* Halves the step until it leads downhill; false when it never does. */
static bool search_line(descent *s, bo_place *place, double *value) {
    double length = 1;
    for (int i = 0; i < HALVING_LIMIT; i++, length *= 0.5) {
        bo_place trial = move(s, place, length);
        double there = measure(s, &trial);
        if (there < *value) {
            *place = trial;
            *value = there;
            return true;
        }
    }
    return false;
}

static double descend(bough_element_type type, const bo_vec3 *X, bo_vec3 x, double enough, bo_place *place) {
    descent s = {.type = type, .X = X, .x = x};
    double value = measure(&s, place);
    for (int i = 0; i < ITERATION_LIMIT && value > enough; i++) {
        int free[3];
        linearize(&s, place);
        find_step(&s, free, find_free(&s, place, free));
        double gain = 0;
        for (int k = 0; k < 3; k++)
            gain -= s.gradient[k] * s.step[k];
        if (!(gain > 1e-12 * value)) { /* too little for differences of values to tell: the end of Newton's iteration */
            bo_place last = move(&s, place, 1);
            double there = measure(&s, &last);
            if (there <= value * (1 + 1e-12))
                *place = last, value = there;
            break;
        }
        if (!search_line(&s, place, &value))
            break;
        measure(&s, place);
    }
    return value;
}

/* ---- curved elements ---- */

static double size_of(const bo_vec3 *X, int32_t corners) {
    double size2 = 0;
    for (int32_t k = 1; k < corners; k++) {
        bo_vec3 r = bo_sub(X[k], X[0]);
        size2 = fmax(size2, bo_dot(r, r));
    }
    return sqrt(size2);
}

static bool is_affine(bough_element_type type, const bo_vec3 *X, double size) {
    const bo_element_info *info = bo_element_info_of(type);
    bo_vec3 a = bo_sub(X[1], X[0]), b = bo_sub(X[3], X[0]), c = bo_sub(X[4], X[0]);
    for (int32_t k = type == BOUGH_HEX8 ? 1 : 4; k < info->node_count; k++) {
        bo_vec3 straight;
        if (type == BOUGH_HEX8) {
            straight = bo_mul_add(X[0], hex_side(k, 0), a);
            straight = bo_mul_add(bo_mul_add(straight, hex_side(k, 1), b), hex_side(k, 2), c);
        } else
            straight = bo_scale(0.5, bo_add(X[info->edges[k - 4][0]], X[info->edges[k - 4][1]]));
        if (!(bo_norm(bo_sub(X[k], straight)) <= BENT_RATIO * size))
            return false;
    }
    return true;
}

static bo_place nearest_node(bough_element_type type, const bo_vec3 *X, bo_vec3 x) {
    const bo_element_info *info = bo_element_info_of(type);
    int32_t nearest = 0;
    double best = INFINITY;
    for (int32_t k = 0; k < info->node_count; k++) {
        bo_vec3 r = bo_sub(X[k], x);
        double distance2 = bo_dot(r, r);
        if (distance2 < best)
            best = distance2, nearest = k;
    }
    bo_place place = {{0}};
    if (type == BOUGH_HEX8)
        for (int d = 0; d < 3; d++)
            place.at[d] = hex_side(nearest, d);
    else if (nearest < 4)
        place.at[nearest] = 1;
    else
        place.at[info->edges[nearest - 4][0]] = place.at[info->edges[nearest - 4][1]] = 0.5;
    return place;
}

static bo_place centre_of(bough_element_type type) {
    return type == BOUGH_HEX8 ? (bo_place){{0.5, 0.5, 0.5, 0}} : (bo_place){{0.25, 0.25, 0.25, 0.25}};
}

double bo_nearest_in_element(bough_element_type type, const bo_vec3 *nodes, bo_vec3 x, bo_place *place) {
    *place = centre_of(type);
    if (type != BOUGH_HEX8) {
        double distance2 = nearest_in_tet(nodes, x, place->at);
        if (type == BOUGH_TET4)
            return distance2;
    }
    double size = size_of(nodes, bo_element_info_of(type)->corner_count);
    double enough = ROUND_OFF * size * ROUND_OFF * size;
    double best = descend(type, nodes, x, enough, place);
    if (best <= enough || is_affine(type, nodes, size))
        return best;
    const bo_place starts[2] = {nearest_node(type, nodes, x), centre_of(type)};
    for (int i = 0; i < (type == BOUGH_HEX8 ? 1 : 2); i++) { /* a hex began at its centre */
        bo_place other = starts[i];
        double distance2 = descend(type, nodes, x, enough, &other);
        if (distance2 < best)
            best = distance2, *place = other;
    }
    return best;
}
