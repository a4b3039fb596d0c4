/* Follower pressure on boundary faces. With natural coordinates (s, t) of a face, n dA = x_s x x_t ds dt and
 *   f_a = -p integral N_a (x_s x x_t) ds dt,      d f_a = -p integral N_a (dx_s x x_t + x_s x dx_t) ds dt. */
#include "fem/body.h"

#include "mesh/mesh.h"

typedef struct {
    int32_t node_count, point_count;
    double weight[6], N[6][6], ds[6][6], dt[6][6];
} face_rule;

static void triangle_point(face_rule *r, bool quadratic, double weight, double s, double t) {
    int32_t q = r->point_count++;
    const double L[3] = {1 - s - t, s, t}, Ls[3] = {-1, 1, 0}, Lt[3] = {-1, 0, 1};
    r->weight[q] = weight;
    for (int a = 0; a < 3; a++) {
        r->N[q][a] = quadratic ? L[a] * (2 * L[a] - 1) : L[a];
        r->ds[q][a] = quadratic ? (4 * L[a] - 1) * Ls[a] : Ls[a];
        r->dt[q][a] = quadratic ? (4 * L[a] - 1) * Lt[a] : Lt[a];
    }
    for (int e = 0; quadratic && e < 3; e++) {
        int a = e, b = (e + 1) % 3;
        r->N[q][3 + e] = 4 * L[a] * L[b];
        r->ds[q][3 + e] = 4 * (Ls[a] * L[b] + L[a] * Ls[b]);
        r->dt[q][3 + e] = 4 * (Lt[a] * L[b] + L[a] * Lt[b]);
    }
}

static void quad_point(face_rule *r, double s, double t) {
    static const int sign[4][2] = {{-1, -1}, {1, -1}, {1, 1}, {-1, 1}};
    int32_t q = r->point_count++;
    r->weight[q] = 1;
    for (int a = 0; a < 4; a++) {
        r->N[q][a] = (1 + sign[a][0] * s) * (1 + sign[a][1] * t) / 4;
        r->ds[q][a] = sign[a][0] * (1 + sign[a][1] * t) / 4;
        r->dt[q][a] = (1 + sign[a][0] * s) * sign[a][1] / 4;
    }
}

static face_rule rule_of(bough_element_type type) {
    face_rule r = {0};
    if (type == BOUGH_HEX8) {
        const double g = 1 / sqrt(3.0);
        r.node_count = 4;
        for (int q = 0; q < 4; q++)
            quad_point(&r, q & 1 ? g : -g, q & 2 ? g : -g);
    } else if (type == BOUGH_TET10) {
        /* 6 points, degree 4: two orbits (Strang and Fix); closed forms of Dunavant's constants. */
        const double s10 = sqrt(10.0), root = sqrt(38 - 44 * sqrt(0.4));
        const double a[2] = {(8 - s10 + root) / 18, (8 - s10 - root) / 18};
        const double w1 = (620 + sqrt(213125 - 53320 * s10)) / 3720, w2 = (620 - sqrt(213125 - 53320 * s10)) / 3720;
        const double w[2] = {w1, w2};
        r.node_count = 6;
        for (int o = 0; o < 2; o++) {
            triangle_point(&r, true, w[o] / 2, a[o], a[o]);
            triangle_point(&r, true, w[o] / 2, 1 - 2 * a[o], a[o]);
            triangle_point(&r, true, w[o] / 2, a[o], 1 - 2 * a[o]);
        }
    } else {
        r.node_count = 3;
        triangle_point(&r, false, 0.5, 1.0 / 3, 1.0 / 3);
    }
    return r;
}

typedef struct {
    int32_t element, local[6];
    const int32_t *nodes; /* of the element */
    bo_vec3 x[6];         /* current positions */
} face_state;

static face_state gather(const bough_body *body, int32_t face, const double *u) {
    const bough_mesh *mesh = body->mesh;
    int32_t faces = bough_element_face_count(mesh->type);
    face_state f = {.element = face / faces};
    int32_t count = bo_element_face_nodes(mesh->type, face % faces, f.local);
    f.nodes = bo_mesh_nodes(mesh, f.element);
    for (int32_t a = 0; a < count; a++) {
        size_t at = 3 * (size_t)f.nodes[f.local[a]];
        f.x[a] = bo_load3(mesh->vertices + at);
        if (u)
            f.x[a] = bo_add(f.x[a], bo_load3(u + at));
    }
    return f;
}

static void tangents(const face_rule *r, int32_t q, const face_state *f, bo_vec3 *xs, bo_vec3 *xt) {
    *xs = *xt = bo_v3(0, 0, 0);
    for (int32_t a = 0; a < r->node_count; a++) {
        *xs = bo_mul_add(*xs, r->ds[q][a], f->x[a]);
        *xt = bo_mul_add(*xt, r->dt[q][a], f->x[a]);
    }
}

void bo_body_pressure_force(const bough_body *body, size_t count, const bo_pressure_face *faces, const double *u,
                            double *force) {
    const face_rule r = rule_of(body->mesh->type);
    for (size_t i = 0; i < count; i++) {
        face_state f = gather(body, faces[i].face, u);
        for (int32_t q = 0; q < r.point_count; q++) {
            bo_vec3 xs, xt;
            tangents(&r, q, &f, &xs, &xt);
            bo_vec3 n = bo_scale(-faces[i].pressure * r.weight[q], bo_cross(xs, xt));
            for (int32_t a = 0; a < r.node_count; a++) {
                double *out = force + 3 * (size_t)f.nodes[f.local[a]];
                bo_store3(out, bo_mul_add(bo_load3(out), r.N[q][a], n));
            }
        }
    }
}

void bo_body_pressure_tangent(const bough_body *body, size_t count, const bo_pressure_face *faces, const double *u,
                              double scale, bough_sparse *A) {
    const face_rule r = rule_of(body->mesh->type);
    for (size_t i = 0; i < count; i++) {
        face_state f = gather(body, faces[i].face, u);
        /* H_ab = d f_a / d x_b = -p sum_q w N_a (ds_b (.) x x_t + x_s x dt_b (.)) = p sum w N_a (ds_b x_t~ - dt_b x_s~)
         */
        double H[6][6][9] = {{{0}}};
        for (int32_t q = 0; q < r.point_count; q++) {
            bo_vec3 xs, xt;
            tangents(&r, q, &f, &xs, &xt);
            bo_mat3 S = bo_hat(xs), T = bo_hat(xt);
            double p = faces[i].pressure * r.weight[q];
            for (int32_t a = 0; a < r.node_count; a++)
                for (int32_t b = 0; b < r.node_count; b++)
                    for (int k = 0; k < 9; k++)
                        H[a][b][k] += p * r.N[q][a] * (r.ds[q][b] * T.m[k] - r.dt[q][b] * S.m[k]);
        }
        for (int32_t a = 0; a < r.node_count; a++)
            for (int32_t b = 0; b < r.node_count; b++) {
                double block[9];
                for (int j = 0; j < 3; j++)
                    for (int k = 0; k < 3; k++)
                        block[3 * j + k] = -0.5 * scale * (H[a][b][3 * j + k] + H[b][a][3 * k + j]);
                bo_scatter_block(body->pattern, body->mesh, f.element, f.local[a], f.local[b], block, A);
            }
    }
}
