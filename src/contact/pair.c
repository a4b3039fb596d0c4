/* Distances of pairs with derivatives, and the mollifier of edges. */
#include "contact/pair_frame.h"

#include <string.h>

/* ---- nearest points ---- */

/* Edges, or sides of a triangle, at an angle below 1e-15 rad count as parallel: their cross product is all rounding. */
static const double LEAST_SINE_SQUARED = 1e-30;

/* Finds b1, b2 for which |r - b1 e1 - b2 e2| is smallest, rest := r - b1 e1 - b2 e2, and normal := e1 x e2. False: e1
 * and e2 are parallel.
 *
 * Crossing r = b1 e1 + b2 e2 + rest with e2 leaves b1 e1 x e2 + rest x e2, and the last term has no part along e1 x e2,
 * since rest itself is along it. Sines are not lost that way as they would be in |e1|^2 |e2|^2 - (e1.e2)^2. For nearly
 * parallel e1 and e2, b1 is ill-conditioned, but b2 is found by projection for that b1, so that the rest is as short as
 * rounding allows. */
static bool solve_two(bo_vec3 r, bo_vec3 e1, bo_vec3 e2, double b[2], bo_vec3 *rest, bo_vec3 *normal) {
    const bo_vec3 c = bo_cross(e1, e2);
    const double cc = bo_dot(c, c), e22 = bo_dot(e2, e2);
    if (!(cc > LEAST_SINE_SQUARED * bo_dot(e1, e1) * e22))
        return false;
    b[0] = bo_dot(bo_cross(r, e2), c) / cc;
    const bo_vec3 s = bo_mul_add(r, -b[0], e1);
    b[1] = bo_dot(s, e2) / e22;
    *rest = bo_mul_add(s, -b[1], e2);
    *normal = c;
    return true;
}

static bool is_over_triangle(const bo_vec3 x[4], bo_pair_nearest *nearest) {
    double b[2];
    bo_vec3 rest, normal;
    if (!solve_two(bo_sub(x[0], x[1]), bo_sub(x[2], x[1]), bo_sub(x[3], x[1]), b, &rest, &normal) ||
        !(b[0] > 0 && b[1] > 0 && b[0] + b[1] < 1))
        return false;
    *nearest = (bo_pair_nearest){rest, {1, b[0] + b[1] - 1, -b[0], -b[1]}, 2, {{1, 2}, {1, 3}}, normal};
    return true;
}

static bool is_between_edges(const bo_vec3 x[4], bo_pair_nearest *nearest) {
    double b[2];
    bo_vec3 rest, normal;
    if (!solve_two(bo_sub(x[2], x[0]), bo_sub(x[1], x[0]), bo_sub(x[2], x[3]), b, &rest, &normal) ||
        !(b[0] > 0 && b[0] < 1 && b[1] > 0 && b[1] < 1))
        return false;
    *nearest = (bo_pair_nearest){bo_scale(-1, rest), {1 - b[0], b[0], b[1] - 1, -b[1]}, 2, {{0, 1}, {3, 2}}, normal};
    return true;
}

/* The nearest point of a segment: t = 0 at its start, 1 at its end. */
typedef struct on_segment {
    bo_vec3 y; /* from there to the point */
    double t;
} on_segment;

static on_segment nearest_on_segment(bo_vec3 point, bo_vec3 from, bo_vec3 to) {
    const bo_vec3 r = bo_sub(point, from), e = bo_sub(to, from);
    const double along = bo_dot(r, e), ee = bo_dot(e, e);
    if (!(along > 0)) /* or without length */
        return (on_segment){r, 0};
    if (!(along < ee))
        return (on_segment){bo_sub(point, to), 1};
    return (on_segment){bo_mul_add(r, -along / ee, e), along / ee};
}

/* The nearest points are on the border of a piece: a corner of one piece is nearest to a side of the other. Sides are
 * given by corner, from, to. */
static void find_on_border(bool edges, const bo_vec3 x[4], bo_pair_nearest *nearest) {
    static const int sides[2][4][3] = {{{0, 1, 2}, {0, 2, 3}, {0, 3, 1}}, {{0, 2, 3}, {1, 2, 3}, {2, 0, 1}, {3, 0, 1}}};
    on_segment best = {{NAN, NAN, NAN}, 0}; /* stays if x is not finite */
    double least = INFINITY;
    int side = 0;
    for (int k = 0; k < (edges ? 4 : 3); k++) {
        const int *of = sides[edges][k];
        const on_segment at = nearest_on_segment(x[of[0]], x[of[1]], x[of[2]]);
        const double yy = bo_dot(at.y, at.y);
        if (yy < least)
            least = yy, best = at, side = k;
    }
    const int *of = sides[edges][side];
    const double sign = edges && of[0] > 1 ? -1 : 1; /* corners of the second piece look the other way */
    *nearest = (bo_pair_nearest){.y = bo_scale(sign, best.y), .tangent_count = best.t > 0 && best.t < 1};
    nearest->weights[of[0]] = sign, nearest->weights[of[1]] = -sign * (1 - best.t),
    nearest->weights[of[2]] = -sign * best.t;
    nearest->tangents[0][0] = of[1], nearest->tangents[0][1] = of[2];
}

void bo_pair_find_nearest(bo_pair_kind kind, const bo_vec3 x[4], bo_pair_nearest *nearest) {
    const bool edges = kind == BO_PAIR_EDGES;
    if (!(edges ? is_between_edges(x, nearest) : is_over_triangle(x, nearest)))
        find_on_border(edges, x, nearest);
}

/* ---- the frame ---- */

static bo_vec3 tangent_of(const bo_vec3 x[4], const bo_pair_nearest *nearest, int j) {
    return bo_sub(x[nearest->tangents[j][1]], x[nearest->tangents[j][0]]);
}

/* Leaves out the part of a along the unit vector u. */
static bo_vec3 across(bo_vec3 a, bo_vec3 u) {
    return bo_mul_add(a, -bo_dot(a, u), u);
}

/* The last tangent gives u_1. For small d, y is a difference of nearly equal vectors and its direction all rounding;
 * with two tangents it is that of their cross product: the very one by which y was found, since y shares its rounding.
 * u_2 = n x u_1 then takes the place of the other tangent's part across u_1 in the steps of Gram and Schmidt. The same
 * steps on the coefficients of the tangents give those of the unit vectors. */
void bo_pair_frame_at(bo_pair_kind kind, const bo_vec3 x[4], bo_pair_frame *frame) {
    bo_pair_nearest nearest;
    bo_pair_find_nearest(kind, x, &nearest);
    const int last = nearest.tangent_count - 1;
    *frame = (bo_pair_frame){.tangent_count = nearest.tangent_count};
    memcpy(frame->weights, nearest.weights, sizeof frame->weights);
    bo_vec3 y = nearest.y, other = {0};
    if (last >= 0) {
        const bo_vec3 e = tangent_of(x, &nearest, last);
        const double length = bo_norm(e);
        frame->u[0] = bo_scale(1 / length, e);
        frame->k[0][nearest.tangents[last][0]] = -1 / length, frame->k[0][nearest.tangents[last][1]] = 1 / length;
        y = across(y, frame->u[0]);
    }
    if (last == 1) {
        other = tangent_of(x, &nearest, 0);
        const bo_vec3 c = across(nearest.normal, frame->u[0]);
        y = bo_scale(bo_dot(y, c) / bo_dot(c, c), c);
    }
    frame->d = bo_norm(y);
    if (frame->d > 0)
        frame->n = bo_scale(1 / frame->d, y);
    if (last < 1)
        return;
    frame->u[1] = bo_cross(frame->n, frame->u[0]);
    const double along = bo_dot(other, frame->u[0]), beside = bo_dot(other, frame->u[1]);
    for (int i = 0; i < 4; i++) {
        const double k = (i == nearest.tangents[0][1]) - (i == nearest.tangents[0][0]);
        frame->k[1][i] = (k - along * frame->k[0][i]) / beside;
    }
}

/* With E = U R, U the unit vectors u_j: E^T Y has the rows w (x) u_j and N the rows k_j (x) n after multiplication with
 * R^-T, so that
 *   H = (1/d) Y^T (1 - n n^T - U U^T) Y - sum_j (w (x) u_j) (k_j (x) n)^T + (k_j (x) n) (w (x) u_j)^T
 *                                                + d (k_j (x) n) (k_j (x) n)^T.
 * The two terms that are large for small d have cancelled: with two tangents nothing is left of the first. */
void bo_pair_form_of_distance(const bo_pair_frame *frame, bo_pair_form *form) {
    *form = (bo_pair_form){0};
    bo_mat3 rest = bo_mat_sub(bo_identity3(), bo_outer(frame->n, frame->n));
    for (int j = 0; j < frame->tangent_count; j++) {
        const double *k = frame->k[j];
        rest = bo_mat_sub(rest, bo_outer(frame->u[j], frame->u[j]));
        for (int i = 0; i < 4; i++) {
            form->nt[i] = bo_mul_add(form->nt[i], -k[i], frame->u[j]);
            for (int l = 0; l < 4; l++)
                form->nn[4 * i + l] -= frame->d * k[i] * k[l];
        }
    }
    if (frame->tangent_count < 2)
        form->tt = bo_mat_scale(1 / frame->d, rest);
}

void bo_pair_unfold(const bo_pair_frame *frame, const bo_pair_form *form, double H[144]) {
    const double *w = frame->weights;
    const double n[3] = {frame->n.x, frame->n.y, frame->n.z};
    for (int i = 0; i < 4; i++)
        for (int k = 0; k <= i; k++) {
            const bo_vec3 row = bo_mul_add(bo_scale(w[k], form->nt[i]), form->nn[4 * i + k], frame->n),
                          column = bo_scale(w[i], form->nt[k]);
            const double right[3] = {row.x, row.y, row.z}, left[3] = {column.x, column.y, column.z}, ww = w[i] * w[k];
            for (int a = 0; a < 3; a++)
                for (int b = 0; b < 3; b++) {
                    const double h = n[a] * right[b] + left[a] * n[b] + ww * form->tt.m[3 * a + b];
                    H[12 * (3 * i + a) + 3 * k + b] = h, H[12 * (3 * k + b) + 3 * i + a] = h;
                }
        }
}

/* ---- the pair ---- */

/* (1/d) C^T (E^T E)^-1 C with C = E^T Y + d N has, in the letters above, the rows w (x) u_j + d k_j (x) n. */
static void form_of_bent(const bo_pair_frame *frame, const bo_pair_form *distance, bo_pair_form *bent) {
    *bent = (bo_pair_form){0};
    for (int i = 0; i < 16; i++)
        bent->nn[i] = -distance->nn[i];
    for (int i = 0; i < 4; i++)
        bent->nt[i] = bo_scale(-1, distance->nt[i]);
    for (int j = 0; j < frame->tangent_count; j++)
        bent->tt = bo_mat_add(bent->tt, bo_mat_scale(1 / frame->d, bo_outer(frame->u[j], frame->u[j])));
}

void bo_pair_at(bo_pair_kind kind, const bo_vec3 x[4], bool derivatives, bo_pair *pair) {
    bo_pair_frame frame;
    bo_pair_frame_at(kind, x, &frame);
    pair->d = frame.d;
    memcpy(pair->weights, frame.weights, sizeof pair->weights);
    for (int i = 0; i < 4; i++)
        bo_store3(pair->gradient + 3 * i, bo_scale(frame.weights[i], frame.n));
    if (!derivatives)
        return;
    if (!(frame.d > 0)) {
        memset(pair->H, 0, sizeof pair->H), memset(pair->bent, 0, sizeof pair->bent);
        return;
    }
    bo_pair_form form, bent;
    bo_pair_form_of_distance(&frame, &form);
    form_of_bent(&frame, &form, &bent);
    bo_pair_unfold(&frame, &form, pair->H);
    bo_pair_unfold(&frame, &bent, pair->bent);
}

/* ---- the mollifier ---- */

/* Adds to H what a second derivative B (3 x 3) by edge i and edge k adds: edge 0 is x1 - x0, edge 1 is x3 - x2. */
static void add_block(double H[144], int i, int k, bo_mat3 B) {
    for (int end = 0; end < 4; end++) {
        const int p = 2 * i + end / 2, q = 2 * k + end % 2;
        const double sign = end / 2 == end % 2 ? 1 : -1;
        for (int a = 0; a < 3; a++)
            for (int b = 0; b < 3; b++)
                H[12 * (3 * p + a) + 3 * q + b] += sign * B.m[3 * a + b];
    }
}

double bo_pair_area_squared(const bo_vec3 x[4]) {
    const bo_vec3 N = bo_cross(bo_sub(x[1], x[0]), bo_sub(x[3], x[2]));
    return bo_dot(N, N);
}

/* c = |N|^2, N = ea x eb:  dc/dea = 2 eb x N,  dc/deb = 2 N x ea,
 *   d2c/dea2 = 2 (|eb|^2 - eb eb^T),  d2c/deb2 = 2 (|ea|^2 - ea ea^T),
 *   d2c/dea deb = 2 (2 ea eb^T - eb ea^T - ea.eb). */
void bo_mollifier_at(const bo_vec3 x[4], double e, bool derivatives, bo_mollifier *mollifier) {
    const bo_vec3 ea = bo_sub(x[1], x[0]), eb = bo_sub(x[3], x[2]), N = bo_cross(ea, eb);
    const double c = bo_dot(N, N);
    mollifier->value = 1;
    memset(mollifier->gradient, 0, sizeof mollifier->gradient);
    if (derivatives)
        memset(mollifier->H, 0, sizeof mollifier->H);
    if (!(e > 0) || c >= e)
        return;
    const double slope = 2 * (1 - c / e) / e, bend = -2 / (e * e);
    const bo_vec3 g[2] = {bo_scale(2, bo_cross(eb, N)), bo_scale(2, bo_cross(N, ea))};
    mollifier->value = c / e * (2 - c / e);
    for (int i = 0; i < 4; i++)
        bo_store3(mollifier->gradient + 3 * i, bo_scale(i % 2 ? slope : -slope, g[i / 2]));
    if (!derivatives)
        return;
    const bo_mat3 one = bo_identity3(), dots = bo_mat_scale(bo_dot(ea, eb), one);
    const bo_mat3 ab = bo_mat_sub(bo_mat_sub(bo_mat_scale(2, bo_outer(ea, eb)), bo_outer(eb, ea)), dots);
    const bo_mat3 half[2][2] = {{bo_mat_sub(bo_mat_scale(bo_dot(eb, eb), one), bo_outer(eb, eb)), ab},
                                {bo_transpose(ab), bo_mat_sub(bo_mat_scale(bo_dot(ea, ea), one), bo_outer(ea, ea))}};
    for (int i = 0; i < 2; i++)
        for (int k = 0; k < 2; k++)
            add_block(mollifier->H, i, k,
                      bo_mat_add(bo_mat_scale(2 * slope, half[i][k]), bo_mat_scale(bend, bo_outer(g[i], g[k]))));
}
