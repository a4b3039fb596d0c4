/* Accelerations of a tree: each part feels what hangs on it. docs/theory/tree.md, "Coupling". */
#include "tree/couple.h"

#include "base/threads.h"
#include "dense/cholesky.h"

#include <string.h>

/* ---- sweeps ---- */

typedef struct {
    bo_tree_sweep *sweep;
    bo_tree_each each;
    int32_t first;
} sweep_call;

static void sweep_range(void *data, int32_t begin, int32_t end, int32_t chunk) {
    const sweep_call *call = data;
    bo_tree_sweep *sweep = call->sweep;
    double *scratch = sweep->work->scratch + (size_t)chunk * sweep->model->scratch_size;
    for (int32_t i = begin; i < end; i++)
        if (!call->each(sweep, call->first + i, scratch))
            sweep->bad[chunk] = true;
}

bool bo_tree_for_each(bo_tree_sweep *sweep, int32_t first, int32_t end, int32_t grain, bo_tree_each each) {
    sweep_call call = {sweep, each, first};
    const int32_t count = end - first, least = (count + BO_TREE_CHUNKS - 1) / BO_TREE_CHUNKS;
    memset(sweep->bad, 0, sizeof sweep->bad);
    grain = grain < least ? least : grain;
    if (count <= grain || sweep->model->grove)
        sweep_range(&call, 0, count, 0);
    else
        bo_parallel_for(sweep->ctx, count, grain, sweep_range, &call);
    for (int32_t c = 0; c < BO_TREE_CHUNKS; c++)
        if (sweep->bad[c])
            return false;
    return true;
}

/* ---- what hangs on a part ---- */

/* One child: inertia I (packed) and bias force p about the interface's centre x, in the parent's axes. */
typedef struct {
    bo_scaling I[BO_SIX], p[6], x[3], Op[27];
    bo_scaling scale;
    bo_face_rows rows;
} hanging;

/* Four columns are computed in so many vectors, and so many rows of L at a time. */
enum { VECTORS = 4 / BO_WIDTH, ROWS = BO_WIDTH };

/* J = [scale a; Op A] (6 x n), T = I J; p_q += J^T p, Mrq += X^T T. T is kept vector by vector: the six rows of some
 * columns lie one behind the other. */
BO_INLINE void hang_columns(int32_t n, const hanging *h, double *restrict J, double *restrict T, double *restrict Mrq,
                            double *restrict p_q) {
    const double *a = h->rows.a, *A = h->rows.A;
    for (int32_t l = 0; l < n; l += 4, a += 4, A += 4, J += 4, T += 24, Mrq += 4, p_q += 4) {
        BO_READ_ANEW(h);
        bo_vw j[6][VECTORS], t[6][VECTORS];
        for (int i = 0; i < VECTORS; i++) {
            const bo_vw first = BO_VW_CONST(A + BO_WIDTH * i);
            for (int d = 0; d < 3; d++) {
                j[d][i] = h->scale * BO_VW_CONST(a + d * n + BO_WIDTH * i);
                j[3 + d][i] = h->Op[9 * d] * first;
                BO_NOW(j[3 + d][i]);
            }
        }
#pragma GCC unroll 8
        for (int k = 1; k < 9; k++)
            for (int i = 0; i < VECTORS; i++) {
                const bo_vw row = BO_VW_CONST(A + k * n + BO_WIDTH * i);
                for (int d = 0; d < 3; d++) {
                    j[3 + d][i] += h->Op[9 * d + k] * row;
                    BO_NOW(j[3 + d][i]);
                }
            }
#pragma GCC unroll 6
        for (int d = 0; d < 6; d++)
            for (int i = 0; i < VECTORS; i++)
                BO_VW(J + d * n + BO_WIDTH * i) = j[d][i];
#pragma GCC unroll 6
        for (int d = 0; d < 6; d++) {
            for (int i = 0; i < VECTORS; i++)
                t[d][i] = h->I[bo_six_at[d][0]] * j[0][i];
#pragma GCC unroll 5
            for (int k = 1; k < 6; k++) {
                const bo_scaling I = h->I[bo_six_at[d][k]];
                for (int i = 0; i < VECTORS; i++) {
                    t[d][i] += I * j[k][i];
                    BO_NOW(t[d][i]);
                }
            }
            for (int i = 0; i < VECTORS; i++)
                BO_VW(T + BO_WIDTH * (6 * i + d)) = t[d][i];
        }
        for (int i = 0; i < VECTORS; i++) {
            bo_vw p = BO_VW_CONST(p_q + BO_WIDTH * i);
            for (int d = 0; d < 6; d++)
                p += h->p[d] * j[d][i];
            BO_VW(p_q + BO_WIDTH * i) = p;
            for (int d = 0; d < 3; d++) {
                const int e = (d + 1) % 3, f = (d + 2) % 3;
                double *to = Mrq + d * n + BO_WIDTH * i;
                BO_VW(to) += t[d][i];
                BO_VW(to + 3 * n) += t[3 + d][i] + h->x[e] * t[f][i] - h->x[f] * t[e][i];
            }
        }
    }
}

/* L += J^T T */
BO_INLINE void hang_rows(int32_t r, int32_t n, const double *restrict J, const double *restrict T, double *restrict L) {
    int32_t k = 0;
    for (; k + ROWS <= r; k += ROWS) {
        bo_scaling j[6][ROWS];
        for (int d = 0; d < 6; d++)
            for (int i = 0; i < ROWS; i++)
                j[d][i] = bo_spread(J[d * n + k + i]);
        double *row = L + (ptrdiff_t)k * n;
        for (int32_t l = 0; l < k + ROWS; l += BO_WIDTH) {
            bo_vw sum[ROWS];
            for (int i = 0; i < ROWS; i++)
                sum[i] = BO_VW_CONST(row + i * n + l);
            for (int d = 0; d < 6; d++) {
                const bo_vw t = BO_VW_CONST(T + 6 * l + d * BO_WIDTH);
                for (int i = 0; i < ROWS; i++) {
                    sum[i] += j[d][i] * t;
                    BO_NOW(sum[i]);
                }
            }
            for (int i = 0; i < ROWS; i++)
                BO_VW(row + i * n + l) = sum[i];
        }
    }
    for (; k < r; k++)
        for (int32_t l = 0; l <= k; l += BO_WIDTH) {
            bo_vw s = BO_VW_CONST(L + (ptrdiff_t)k * n + l);
            for (int d = 0; d < 6; d++)
                s += J[d * n + k] * BO_VW_CONST(T + 6 * l + d * BO_WIDTH);
            BO_VW(L + (ptrdiff_t)k * n + l) = s;
        }
}

BO_MULTIVERSION
static void hang(int32_t r, int32_t n, const hanging *h, double *restrict J, double *restrict T, double *restrict L,
                 double *restrict Mrq, double *restrict p_q) {
    hang_columns(n, h, J, T, Mrq, p_q);
    hang_rows(r, n, J, T, L);
}

static void hang_children(const bough_tree_model *model, const bo_tree_work *work, const bo_tree_part *part, int32_t n,
                          double *scratch, double *L, double *Mrq, double *p_q) {
    const bo_component_tables *t = &model->components[part->component];
    for (int32_t c = 0; c < part->child_count; c++) {
        const bo_tree_part *child = &model->parts[model->children[part->first_child + c]];
        const bo_tree_inertias *up = &work->inertias[child->slot / 4];
        const bo_tree_frames *frames = &work->frames[child->slot / 4];
        const bo_tree_faces *faces = &work->faces[child->face / 4];
        const int32_t lane = child->slot % 4, face_lane = child->face % 4;
        const bool shifted = model->slots[child->slot / 4].shifted;
        hanging h = {.scale = bo_spread(part->scale), .rows = t->faces[child->face_row]};
        for (int k = 0; k < BO_SIX; k++)
            h.I[k] = bo_spread(BO_LANE_CONST(up->up_I[k], lane));
        for (int k = 0; k < 6; k++)
            h.p[k] = bo_spread(BO_LANE_CONST(up->up_p[k], lane));
        for (int k = 0; k < 3; k++)
            h.x[k] = bo_spread(BO_LANE_CONST(frames->x[k], lane) - (shifted ? BO_LANE_CONST(frames->arm[k], lane) : 0));
        for (int k = 0; k < 27; k++)
            h.Op[k] = bo_spread(BO_LANE_CONST(faces->Op[k], face_lane));
        hang(part->r, n, &h, scratch, scratch + 6 * n, L, Mrq, p_q);
    }
}

/* A part of a wide block is gathered apart and added to its lane. */
static void hang_on_lane(const bough_tree_model *model, bo_tree_work *work, const bo_tree_block *b,
                         const bo_tree_part *part, double *scratch) {
    const int32_t r = b->r, n = b->n, lane = part->lane;
    double *Mrq = scratch, *p_q = Mrq + 6 * n, *L = p_q + n, *more = L + n * n;
    memset(scratch, 0, (size_t)(7 * n + n * n) * sizeof *scratch);
    hang_children(model, work, part, n, more, L, Mrq, p_q);
    double *to_Mrq = work->Mrq + 6 * b->vectors, *to_p = work->p_q + b->vectors, *to_L = work->L + b->squares;
    for (int32_t l = 0; l < r; l++) {
        to_p[BO_WIDE * l + lane] += p_q[l];
        for (int d = 0; d < 6; d++)
            to_Mrq[BO_WIDE * (d * n + l) + lane] += Mrq[d * n + l];
        for (int32_t k = 0; k <= l; k++)
            to_L[BO_WIDE * (l * (l + 1) / 2 + k) + lane] += L[l * n + k];
    }
}

void bo_tree_hang(const bough_tree_model *model, bo_tree_work *work, int32_t i, double *scratch) {
    const bo_tree_part *part = &model->parts[i];
    const bo_tree_block *b = &model->blocks[part->block];
    if (part->child_count == 0 || part->r == 0)
        return;
    if (b->lanes == 1)
        hang_children(model, work, part, b->n, scratch, work->L + b->squares, work->Mrq + 6 * b->vectors,
                      work->p_q + b->vectors);
    else
        hang_on_lane(model, work, b, part, scratch);
}

/* ---- exact coupling (L3) ---- */

/* up_I = R I R^T, up_p = R p + up_I b: about the interface in the parent's axes, moved with the parent. Then I and p
 * become the same about the parent's origin. */
BO_MULTIVERSION
static void turn_up(const bo_tree_frames *restrict f, bool shifted, bo_tree_inertias *restrict s) {
    bo_v4 t[6];
    bo_six_turn4(f->R, s->I, s->up_I);
    bo_mulv4(f->R, s->p, s->up_p);
    bo_mulv4(f->R, s->p + 3, s->up_p + 3);
    bo_six_mul4(s->up_I, f->b, t);
    for (int k = 0; k < 6; k++)
        s->p[k] = s->up_p[k] = s->up_p[k] + t[k];
    for (int k = 0; k < BO_SIX; k++)
        s->I[k] = s->up_I[k];
    bo_six_shift4(f->x, s->I, s->p);
    if (shifted)
        bo_six_shift4(f->arm, s->up_I, s->up_p);
}

static bool turn_up_slots(bo_tree_sweep *sweep, int32_t index, double *scratch) {
    (void)scratch;
    if (sweep->mode->only_flights && !sweep->model->slots[index].flies)
        return true;
    turn_up(&sweep->work->frames[index], sweep->model->slots[index].shifted, &sweep->work->inertias[index]);
    return true;
}

/* I and p of a part take those of its children, which are about its origin and in its axes by now. */
static void add_children(const bough_tree_model *model, bo_tree_work *work, const bo_tree_part *part) {
    double sum[BO_SIX + 6] = {0};
    bo_tree_inertias *s = &work->inertias[part->slot / 4];
    for (int32_t c = 0; c < part->child_count; c++) {
        const bo_tree_part *child = &model->parts[model->children[part->first_child + c]];
        const bo_tree_inertias *from = &work->inertias[child->slot / 4];
        const int32_t lane = child->slot % 4;
        for (int k = 0; k < BO_SIX; k++)
            sum[k] += BO_LANE_CONST(from->I[k], lane);
        for (int k = 0; k < 6; k++)
            sum[BO_SIX + k] += BO_LANE_CONST(from->p[k], lane);
    }
    for (int k = 0; k < BO_SIX; k++)
        BO_LANE(s->I[k], part->slot % 4) += sum[k];
    for (int k = 0; k < 6; k++)
        BO_LANE(s->p[k], part->slot % 4) += sum[BO_SIX + k];
}

static bool gather_parent(bo_tree_sweep *sweep, int32_t index, double *scratch) {
    const int32_t i = sweep->model->parents[index];
    if (sweep->mode->only_flights && !sweep->model->parts[i].flies)
        return true;
    add_children(sweep->model, sweep->work, &sweep->model->parts[i]);
    bo_tree_hang(sweep->model, sweep->work, i, scratch);
    return true;
}

/* Bare blocks were eliminated when they were prepared. */
static bool eliminate_block(bo_tree_sweep *sweep, int32_t index, double *scratch) {
    (void)scratch;
    const bo_tree_block *b = &sweep->model->blocks[index];
    return b->bare || (sweep->mode->only_flights && !b->flies) ||
           bo_tree_eliminate(sweep->model, sweep->work, sweep->mode->coupling, index);
}

static bool gather_levels(bo_tree_sweep *sweep) {
    for (int32_t d = sweep->model->level_count - 1; d >= 0; d--) {
        const bo_tree_level *level = &sweep->model->levels[d];
        if (level->first_parent < level->end_parent) {
            bo_tree_for_each(sweep, level->first_parent, level->end_parent, 1, gather_parent);
            if (!bo_tree_for_each(sweep, level->first_block, level->end_block, 1, eliminate_block))
                return false;
        }
        if (!bo_tree_release_joints(sweep->model, sweep->work, sweep->mode, d))
            return false;
        if (d > 0)
            bo_tree_for_each(sweep, level->first_slots, level->end_slots, 48, turn_up_slots);
    }
    return true;
}

/* ---- from the root outwards ---- */

static bool scatter_block(bo_tree_sweep *sweep, int32_t index, double *scratch) {
    const bough_tree_model *model = sweep->model;
    const bo_tree_block *b = &model->blocks[index];
    if (sweep->mode->only_flights && !b->flies)
        return true;
    if (sweep->mode->coupling == BOUGH_COUPLING_L1 && !b->bare)
        bo_tree_drag(model, sweep->work, sweep->mode, index, scratch);
    bo_tree_substitute(model, sweep->work, sweep->mode->coupling, index, sweep->a);
    for (int32_t i = b->first; i < b->first + b->count; i++)
        bo_tree_gain(model, sweep->work, i, sweep->a);
    return true;
}

static void scatter_levels(bo_tree_sweep *sweep) {
    for (int32_t d = 0; d < sweep->model->level_count; d++) {
        const bo_tree_level *level = &sweep->model->levels[d];
        if (d > 0)
            bo_tree_accelerate_frames(sweep->ctx, sweep->model, sweep->work, sweep->mode, d);
        bo_tree_swing_joints(sweep->model, sweep->work, sweep->mode, d, sweep->a);
        bo_tree_for_each(sweep, level->first_block, level->end_block, 4, scatter_block);
    }
}

void bo_tree_unpack_six(const bo_tree_inertias *s, int32_t lane, double I[36]) {
    /* where packed entries lie in the upper triangle */
    static const int at[BO_SIX] = {0, 1, 2, 7, 8, 14, 3, 4, 5, 9, 10, 11, 15, 16, 17, 21, 22, 23, 28, 29, 35};
    for (int k = 0; k < BO_SIX; k++)
        I[6 * (at[k] % 6) + at[k] / 6] = BO_LANE_CONST(s->I[k], lane);
}

/* R^T (acceleration - g) and R^T (angular acceleration) of a root that is led; the same of velocities where these are
 * solved for */
static void lead(const bo_spline *track, double t, bo_vec3 up, bool sudden, double A[6]) {
    bo_track_pose pose;
    bo_track_at(track, t, &pose);
    if (sudden)
        pose.acceleration = pose.velocity, pose.angular_acceleration = pose.angular_velocity;
    bo_store3(A, bo_mat_tvec(pose.rotation, bo_add(pose.acceleration, up)));
    bo_store3(A + 3, bo_mat_tvec(pose.rotation, pose.angular_acceleration));
}

/* A root that is held feels gravity as an acceleration upwards. One that flies does not feel it; what is left of its
 * acceleration balances the forces on its tree: I A = -p. */
bool bo_tree_set_roots(const bough_tree_model *model, bo_tree_work *work, const bo_tree_mode *mode) {
    const bo_vec3 up = bo_scale(mode->weightless ? 0 : -1, bo_load3(work->gravity));
    for (int32_t i = model->levels[0].first_part; i < model->levels[0].end_part; i++) {
        const int32_t slot = model->parts[i].slot, lane = slot % 4;
        bo_tree_inertias *s = &work->inertias[slot / 4];
        double A[6] = {0}, I[36];
        if (mode->only_flights && !model->parts[i].free)
            continue;
        if (model->parts[i].track && !mode->still) {
            lead(model->parts[i].track, mode->lead_time, up, mode->sudden, A);
        } else if (!model->parts[i].free) {
            bo_mat3 world;
            for (int k = 0; k < 9; k++)
                world.m[k] = BO_LANE(work->frames[slot / 4].world[k], lane);
            bo_store3(A, bo_mat_tvec(world, up));
        } else {
            bo_tree_unpack_six(s, lane, I);
            for (int k = 0; k < 6; k++)
                A[k] = -BO_LANE(s->p[k], lane);
            if (!bo_cholesky_factor(6, I))
                return false;
            bo_cholesky_solve(6, I, A);
        }
        for (int k = 0; k < 6; k++)
            BO_LANE(s->A[k], lane) = A[k];
    }
    return true;
}

static bool hang_parent(bo_tree_sweep *sweep, int32_t index, double *scratch) {
    const int32_t i = sweep->model->parents[index];
    if (!sweep->mode->only_flights || sweep->model->parts[i].flies)
        bo_tree_hang(sweep->model, sweep->work, i, scratch);
    return true;
}

void bo_tree_hang_all(bo_tree_sweep *sweep) {
    const bough_tree_model *model = sweep->model;
    for (int32_t d = 0; d < model->level_count; d++)
        bo_tree_for_each(sweep, model->levels[d].first_parent, model->levels[d].end_parent, 1, hang_parent);
}

static bool hang_lumps(bo_tree_sweep *sweep) {
    bool good = true;
    bo_tree_hang_all(sweep);
    for (int32_t d = 0; d < sweep->model->level_count; d++) {
        const bo_tree_level *level = &sweep->model->levels[d];
        good = bo_tree_for_each(sweep, level->first_block, level->end_block, 1, eliminate_block) && good;
    }
    return good;
}

bool bo_tree_scatter(bough_context *ctx, const bough_tree_model *model, bo_tree_work *work, const bo_tree_mode *mode,
                     double *a) {
    bo_tree_sweep sweep = {ctx, model, work, mode, a, {false}};
    if (!bo_tree_set_roots(model, work, mode))
        return false;
    scatter_levels(&sweep);
    return true;
}

bool bo_tree_solve(bough_context *ctx, const bough_tree_model *model, bo_tree_work *work, const bo_tree_mode *mode,
                   double *a) {
    bo_tree_sweep sweep = {ctx, model, work, mode, a, {false}};
    const bough_coupling coupling = mode->coupling;
    if (coupling == BOUGH_COUPLING_L3) {
        if (!gather_levels(&sweep))
            return false;
    } else if (coupling != BOUGH_COUPLING_L1 || model->free_count) {
        bo_tree_take_wrenches(model, work, mode);
        bo_tree_compose(model, work, mode);
        bo_tree_lump(model, work, coupling);
        if (coupling != BOUGH_COUPLING_L1 && !hang_lumps(&sweep))
            return false;
    } else if (bo_tree_loads_act(work, mode)) {
        bo_tree_sum_forces(model, work);
    }
    return bo_tree_scatter(ctx, model, work, mode, a) && bo_tree_pull_ties(ctx, model, work, mode, a);
}
