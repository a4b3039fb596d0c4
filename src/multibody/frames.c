/* Frames on bodies and on the interfaces of parts: where they are, how they move, and how that changes.
 * docs/theory/multibody.md, "Frames".
 *
 * A face turns by the rotation P nearest to A(u) = A0 + sum u_k A_k. With S = P^T A, G = tr S - S and N_k = P^T A_k a
 * unit rate of u_k turns it by Jw_k = G^-1 2 skew(N_k) in its own axes, Jo_k = P Jw_k in those of the body. A frame at
 * y in the face's axes is at z = centre + P y of the body, and moves by L_k = moves_k + Jo_k x P y:
 *   F = [ 1  -(R z)~  R L ]
 *       [ 0     1     R Jo] */
#include "multibody/multibody.h"

#include "base/polar.h"

#include <string.h>

bool bo_mb_turn_at(const bo_mb_face *face, int32_t r, const double *u, bo_mb_turn *turn) {
    bo_mat3 A = face->A0;
    turn->centre = face->centre;
    for (int32_t k = 0; k < r; k++) {
        turn->centre = bo_mul_add(turn->centre, u[k], face->moves[k]);
        for (int i = 0; i < 9; i++)
            A.m[i] += u[k] * face->A[k].m[i];
    }
    if (!bo_polar(A, &turn->P, &turn->S))
        return false;
    bo_mat3 G = bo_mat_scale(-1, turn->S);
    const double t = bo_trace(turn->S);
    G.m[0] += t, G.m[4] += t, G.m[8] += t;
    turn->Ginv = bo_inverse(G);
    for (int32_t k = 0; k < r; k++) {
        turn->Jw[k] = bo_mat_vec(turn->Ginv, bo_scale(2, bo_skew(bo_mat_tmul(turn->P, face->A[k]))));
        turn->Jo[k] = bo_mat_vec(turn->P, turn->Jw[k]);
    }
    return true;
}

int32_t bo_mb_frame_part(const bough_multibody *model, int32_t frame) {
    const int32_t face = model->frames[frame].face;
    return face < 0 ? -1 : model->faces[face].part;
}

static bo_mat3 axes_of(const bo_mb_work *work, int32_t body) {
    return body < 0 ? bo_identity3() : work->R[body];
}

void bo_mb_place_on(const bo_mb_frame *f, const bo_mb_face *face, int32_t seen, const double *rates,
                    const bo_mb_turn *turn, bo_mat3 R, const double *u, const double *v, bo_mb_place *place) {
    const double *at = f->body < 0 ? NULL : u + 7 * f->body, *moves = f->body < 0 ? NULL : v + 6 * f->body;
    bo_vec3 z = f->local.t, slide = {0, 0, 0}, spin = {0, 0, 0};
    bo_mat3 Q = f->local.R;
    if (face) {
        place->lever = bo_mat_vec(turn->P, f->local.t);
        z = bo_add(turn->centre, place->lever);
        Q = bo_mat_mul(turn->P, f->local.R);
        for (int32_t k = 0; k < seen; k++) {
            const bo_vec3 move = bo_add(face->moves[k], bo_cross(turn->Jo[k], place->lever));
            place->L[k] = bo_mat_vec(R, move);
            place->Jo[k] = bo_mat_vec(R, turn->Jo[k]);
            slide = bo_mul_add(slide, rates[k], place->L[k]);
            spin = bo_mul_add(spin, rates[k], place->Jo[k]);
        }
    }
    place->arm = bo_mat_vec(R, z);
    place->Q = bo_mat_mul(R, Q);
    place->x = place->arm, place->v = slide, place->w = spin;
    if (!at)
        return;
    const bo_vec3 w = bo_load3(moves + 3);
    place->x = bo_add(place->x, bo_load3(at));
    place->v = bo_add(place->v, bo_add(bo_load3(moves), bo_cross(w, place->arm)));
    place->w = bo_add(place->w, w);
}

void bo_mb_place_at(const bough_multibody *model, const bo_mb_work *work, int32_t frame, const double *u,
                    const double *v, bo_mb_place *place) {
    const bo_mb_frame *f = &model->frames[frame];
    const int32_t p = bo_mb_frame_part(model, frame);
    bo_mb_place_on(f, p >= 0 ? &model->faces[f->face] : NULL, p >= 0 ? model->parts[p].seen : 0,
                   p >= 0 ? bo_mb_seen_rates(model, work, p, v) : NULL, p >= 0 ? &work->turns[f->face] : NULL,
                   axes_of(work, f->body), u, v, place);
}

void bo_mb_add_wrench(int32_t body, int32_t seen, const bo_mb_place *place, double s, const double *W, double *forces,
                      double *on_part) {
    const bo_vec3 force = bo_load3(W), torque = bo_load3(W + 3);
    if (body >= 0) {
        double *to = forces + 6 * body;
        bo_store3(to, bo_mul_add(bo_load3(to), s, force));
        bo_store3(to + 3, bo_mul_add(bo_load3(to + 3), s, bo_add(torque, bo_cross(place->arm, force))));
    }
    for (int32_t k = 0; k < seen; k++)
        on_part[k] += s * (bo_dot(place->L[k], force) + bo_dot(place->Jo[k], torque));
}

void bo_mb_push_frame(const bough_multibody *model, const bo_mb_work *work, int32_t frame, double s, const double *W,
                      double *forces) {
    const bo_mb_frame *f = &model->frames[frame];
    const int32_t p = bo_mb_frame_part(model, frame);
    const bo_mb_part *part = p < 0 ? NULL : &model->parts[p];
    double *on_part = !part ? NULL : part->full ? work->full[p].force : forces + part->first;
    bo_mb_add_wrench(f->body, part ? part->seen : 0, &work->places[frame], s, W, forces, on_part);
}

void bo_mb_frame_twist(const bough_multibody *model, const bo_mb_work *work, int32_t frame, const double *v,
                       double twist[6]) {
    const bo_mb_frame *f = &model->frames[frame];
    const bo_mb_part *part = f->face < 0 ? NULL : &model->parts[model->faces[f->face].part];
    const bo_mb_place *place = &work->places[frame];
    bo_vec3 move = {0, 0, 0}, spin = {0, 0, 0};
    if (f->body >= 0) {
        spin = bo_load3(v + 6 * f->body + 3);
        move = bo_add(bo_load3(v + 6 * f->body), bo_cross(spin, place->arm));
    }
    for (int32_t k = 0; part && k < part->r; k++) {
        move = bo_mul_add(move, v[part->first + k], place->L[k]);
        spin = bo_mul_add(spin, v[part->first + k], place->Jo[k]);
    }
    bo_store3(twist, move), bo_store3(twist + 3, spin);
}

/* ---- maps ---- */

static int32_t coordinates_of(const bough_multibody *model, int32_t frame) {
    const int32_t part = bo_mb_frame_part(model, frame);
    return part < 0 ? 0 : model->parts[part].seen;
}

static void put(int32_t n, double *T, int32_t i, int32_t j, bo_mat3 A) {
    for (int a = 0; a < 3; a++)
        for (int b = 0; b < 3; b++)
            T[n * (i + a) + j + b] = A.m[3 * a + b];
}
static void put_column(int32_t n, double *T, int32_t i, int32_t j, bo_vec3 x) {
    T[n * i + j] = x.x, T[n * (i + 1) + j] = x.y, T[n * (i + 2) + j] = x.z;
}

void bo_mb_frame_map(const bough_multibody *model, const bo_mb_work *work, int32_t frame, double *F) {
    const bo_mb_place *place = &work->places[frame];
    const int32_t r = coordinates_of(model, frame), n = 6 + r;
    memset(F, 0, (size_t)(6 * n) * sizeof *F);
    put(n, F, 0, 0, bo_identity3());
    put(n, F, 0, 3, bo_mat_scale(-1, bo_hat(place->arm)));
    put(n, F, 3, 3, bo_identity3());
    for (int32_t k = 0; k < r; k++) {
        put_column(n, F, 0, 6 + k, place->L[k]);
        put_column(n, F, 3, 6 + k, place->Jo[k]);
    }
}

/* dS_k of a unit of u_k: N_k - Jw_k~ S, symmetric. */
static bo_mat3 stretch_by(const bo_mb_face *face, const bo_mb_turn *turn, int32_t k, bo_mat3 *N) {
    *N = bo_mat_tmul(turn->P, face->A[k]);
    return bo_mat_sub(*N, bo_mat_mul(bo_hat(turn->Jw[k]), turn->S));
}

/* The change of Jo v with u_k, in the body's axes: with nu = Jw v, N = P^T sum v A,
 *   P (Jw_k x nu + G^-1 ((N - tr N) Jw_k - (tr dS_k - dS_k) nu)) */
static void spin_by_coordinates(const bo_mb_face *face, const bo_mb_turn *turn, int32_t r, const double *v,
                                bo_vec3 *change) {
    bo_mat3 Adot = {{0}};
    bo_vec3 nu = {0, 0, 0};
    for (int32_t k = 0; k < r; k++) {
        nu = bo_mul_add(nu, v[k], turn->Jw[k]);
        for (int i = 0; i < 9; i++)
            Adot.m[i] += v[k] * face->A[k].m[i];
    }
    const bo_mat3 N = bo_mat_tmul(turn->P, Adot);
    for (int32_t k = 0; k < r; k++) {
        bo_mat3 Nk;
        const bo_mat3 dS = stretch_by(face, turn, k, &Nk);
        const bo_vec3 Jw = turn->Jw[k];
        bo_vec3 x = bo_mul_add(bo_mat_vec(N, Jw), -bo_trace(N), Jw);
        x = bo_add(bo_mul_add(x, -bo_trace(dS), nu), bo_mat_vec(dS, nu));
        change[k] = bo_mat_vec(turn->P, bo_add(bo_cross(Jw, nu), bo_mat_vec(turn->Ginv, x)));
    }
}

void bo_mb_frame_rate(const bough_multibody *model, const bo_mb_work *work, int32_t frame, const double *v,
                      double *change) {
    const bo_mb_frame *f = &model->frames[frame];
    const bo_mb_place *place = &work->places[frame];
    const int32_t r = coordinates_of(model, frame), n = 6 + r;
    const bo_mat3 R = axes_of(work, f->body);
    const bo_vec3 w = f->body < 0 ? bo_v3(0, 0, 0) : bo_load3(v + 6 * f->body + 3);
    memset(change, 0, (size_t)(6 * n) * sizeof *change);
    bo_vec3 slide = {0, 0, 0}, spin = {0, 0, 0};
    if (f->face >= 0) {
        const bo_mb_turn *turn = &work->turns[f->face];
        const double *rates = bo_mb_seen_rates(model, work, model->faces[f->face].part, v);
        bo_vec3 *by = (bo_vec3 *)(void *)(work->blocks), nu = {0, 0, 0};
        spin_by_coordinates(&model->faces[f->face], turn, r, rates, by);
        for (int32_t k = 0; k < r; k++) {
            slide = bo_mul_add(slide, rates[k], place->L[k]);
            spin = bo_mul_add(spin, rates[k], place->Jo[k]);
            nu = bo_mul_add(nu, rates[k], turn->Jo[k]);
        }
        for (int32_t k = 0; k < r; k++) {
            const bo_vec3 bend =
                bo_add(bo_cross(by[k], place->lever), bo_cross(nu, bo_cross(turn->Jo[k], place->lever)));
            put_column(n, change, 0, 6 + k, bo_add(bo_cross(w, place->L[k]), bo_mat_vec(R, bend)));
            put_column(n, change, 3, 6 + k, bo_mat_vec(R, by[k]));
        }
    }
    if (f->body < 0)
        return;
    put(n, change, 0, 3, bo_mat_scale(-1, bo_mat_add(bo_mat_mul(bo_hat(w), bo_hat(place->arm)), bo_hat(slide))));
    put(n, change, 3, 3, bo_mat_scale(-1, bo_hat(spin)));
}

/* The change of L^T f + Jo^T t with the coordinates, f and t in the body's axes: with t' = t + P y x f in the face's
 * axes, mu = G^-1 t',
 *   Jo_j . ((Jo_k x P y) x f) + t' . (Jw_k x Jw_j) + mu . N_j Jw_k - tr N_j mu . Jw_k - tr dS_k mu . Jw_j + mu . dS_k Jw_j
 */
static void stiffness_of_coordinates(const bo_mb_face *face, const bo_mb_turn *turn, int32_t r, bo_vec3 lever,
                                     bo_vec3 f, bo_vec3 t, int32_t n, double *T) {
    const bo_vec3 turned = bo_mat_tvec(turn->P, bo_add(t, bo_cross(lever, f)));
    const bo_vec3 mu = bo_mat_vec(turn->Ginv, turned);
    for (int32_t k = 0; k < r; k++) {
        bo_mat3 Nk;
        const bo_mat3 dS = stretch_by(face, turn, k, &Nk);
        const bo_vec3 Jw = turn->Jw[k], m = bo_mat_vec(dS, mu);
        const bo_vec3 tip = bo_cross(bo_cross(turn->Jo[k], lever), f);
        const double along = bo_dot(mu, Jw), stretch = bo_trace(dS);
        const bo_vec3 gather = bo_add(bo_cross(turned, Jw), bo_mul_add(m, -stretch, mu));
        for (int32_t j = 0; j < r; j++) {
            /* N_j Jw_k . mu = A_j Jw_k . P mu; tr N_j = P : A_j */
            const bo_vec3 P_mu = bo_mat_vec(turn->P, mu);
            const double bend = bo_dot(P_mu, bo_mat_vec(face->A[j], Jw)) - bo_contract(turn->P, face->A[j]) * along;
            T[n * (6 + j) + 6 + k] = bo_dot(turn->Jo[j], tip) + bo_dot(gather, turn->Jw[j]) + bend;
        }
    }
}

void bo_mb_frame_stiffness(const bough_multibody *model, const bo_mb_work *work, int32_t frame, const double *W,
                           double *change) {
    const bo_mb_frame *f = &model->frames[frame];
    const bo_mb_place *place = &work->places[frame];
    const int32_t r = coordinates_of(model, frame), n = 6 + r;
    const bo_mat3 R = axes_of(work, f->body);
    const bo_vec3 force = bo_load3(W), torque = bo_load3(W + 3);
    memset(change, 0, (size_t)(n * n) * sizeof *change);
    put(n, change, 3, 3, bo_mat_mul(bo_hat(force), bo_hat(place->arm)));
    if (f->face < 0)
        return;
    for (int32_t k = 0; k < r; k++) {
        const bo_vec3 by_turn = bo_add(bo_cross(place->L[k], force), bo_cross(place->Jo[k], torque));
        double *row = change + n * (6 + k) + 3; /* L . (f x phi) = (L x f) . phi */
        bo_store3(row, by_turn);
        put_column(n, change, 3, 6 + k, bo_cross(place->L[k], force));
    }
    stiffness_of_coordinates(&model->faces[f->face], &work->turns[f->face], r, place->lever, bo_mat_tvec(R, force),
                             bo_mat_tvec(R, torque), n, change);
}
