/* Frames and how they move: from the root outwards, four parts at a time. docs/theory/tree.md, "Kinematics". */
#include "tree/tree.h"

#include "base/threads.h"

/* One number of four slots or faces. */
#define GATHER(array, field, index)                                        \
    ((bo_v4){BO_LANE_CONST((array)[(index)[0] / 4].field, (index)[0] % 4), \
             BO_LANE_CONST((array)[(index)[1] / 4].field, (index)[1] % 4), \
             BO_LANE_CONST((array)[(index)[2] / 4].field, (index)[2] % 4), \
             BO_LANE_CONST((array)[(index)[3] / 4].field, (index)[3] % 4)})

/* A point that moves with the interface, y = polar offset away from its centre: x += y, xdot += turning x y, and its
 * rate without accelerations of q gains turning_bias x y + turning x (turning x y). */
BO_INLINE void reach(const bo_v4 *polar, const bo_v4 *offset, const bo_v4 *turning, const bo_v4 *bias, bo_v4 *xdot,
                     bo_v4 *extra, bo_tree_frames *restrict j) {
    bo_v4 t[3], u[3];
    bo_mulv4(polar, offset, j->arm);
    bo_cross4(turning, j->arm, t);
    bo_cross4(turning, t, extra);
    bo_cross4(bias, j->arm, u);
    for (int k = 0; k < 3; k++) {
        j->x[k] += j->arm[k];
        xdot[k] += t[k];
        extra[k] += u[k];
    }
}

/* R = polar rest, v_j = R^T (v_i + w_i x x + xdot), w_j = R^T (w_i + turning),
 * b = [w_i x (w_i x x) + 2 w_i x xdot; w_i x turning + turning_bias] */
BO_MULTIVERSION
static void carry(const bo_tree_slots *restrict slots, const bo_tree_faces *restrict faces,
                  const bo_tree_frames *parents, bo_tree_frames *restrict j) {
    bo_v4 polar[9], xdot[3], turning[3], bias[3], v[3], w[3], world[9], t[3], u[3], extra[3] = {{0}, {0}, {0}};
    for (int k = 0; k < 9; k++) {
        polar[k] = GATHER(faces, polar[k], slots->face);
        world[k] = GATHER(parents, world[k], slots->parent);
    }
    for (int k = 0; k < 3; k++) {
        j->x[k] = GATHER(faces, x[k], slots->face);
        xdot[k] = GATHER(faces, xdot[k], slots->face);
        turning[k] = GATHER(faces, turning[k], slots->face);
        bias[k] = GATHER(faces, turning_bias[k], slots->face);
        v[k] = GATHER(parents, v[k], slots->parent);
        w[k] = GATHER(parents, w[k], slots->parent);
        j->origin[k] = GATHER(parents, origin[k], slots->parent);
    }
    if (slots->shifted)
        reach(polar, slots->offset, turning, bias, xdot, extra, j);
    bo_mul4(polar, slots->rest, j->R);
    bo_mul4(world, j->R, j->world);
    bo_mulv4(world, j->x, t);
    for (int k = 0; k < 3; k++)
        j->origin[k] += t[k];
    bo_cross4(w, j->x, t);
    for (int k = 0; k < 3; k++) {
        v[k] += t[k] + xdot[k];
        t[k] += 2 * xdot[k];
    }
    bo_tmulv4(j->R, v, j->v);
    bo_cross4(w, t, j->b);
    bo_cross4(w, turning, t);
    for (int k = 0; k < 3; k++) {
        j->b[k] += extra[k];
        j->b[3 + k] = t[k] + bias[k];
        u[k] = w[k] + turning[k];
    }
    bo_tmulv4(j->R, u, j->w);
}

typedef struct {
    const bough_tree_model *model;
    bo_tree_work *work;
    const bo_tree_mode *mode;
    int32_t first;
} level_call;

/* Vectors of slots at a time: some microseconds. */
enum { GRAIN = 48 };

static void on_level(bough_context *ctx, const bough_tree_model *model, bo_tree_work *work, const bo_tree_mode *mode,
                     int32_t d, bo_range_task some) {
    const bo_tree_level *level = &model->levels[d];
    bo_parallel_for(ctx, level->end_slots - level->first_slots, GRAIN, some,
                    &(level_call){model, work, mode, level->first_slots});
}

static void carry_some(void *data, int32_t begin, int32_t end, int32_t chunk) {
    const level_call *call = data;
    (void)chunk;
    for (int32_t s = call->first + begin; s < call->first + end; s++)
        if (!call->mode->only_flights || call->model->slots[s].flies)
            carry(&call->model->slots[s], call->work->faces, call->work->frames, &call->work->frames[s]);
}

bool bo_tree_move(bough_context *ctx, const bough_tree_model *model, bo_tree_work *work, const bo_tree_mode *mode,
                  const double *q, const double *v) {
    if (!bo_tree_move_faces(ctx, model, work, mode, q, v))
        return false;
    for (int32_t d = 1; d < model->level_count; d++) {
        on_level(ctx, model, work, mode, d, carry_some);
        bo_tree_turn_joints(model, work, mode, d, q, v);
    }
    return true;
}

/* A_j = R^T (X A_i + gain + b), with the gain of the origin */
BO_MULTIVERSION
static void accelerate(const bo_tree_slots *restrict slots, const bo_tree_faces *restrict faces,
                       const bo_tree_frames *restrict j, const bo_tree_inertias *parents,
                       bo_tree_inertias *restrict out) {
    bo_v4 A[6], lever[3];
    for (int k = 0; k < 6; k++)
        A[k] = GATHER(parents, A[k], slots->parent);
    bo_cross4(A + 3, j->x, lever);
    bo_v4 gain[6];
    for (int k = 0; k < 6; k++)
        gain[k] = GATHER(faces, gain[k], slots->face);
    if (slots->shifted) {
        bo_v4 t[3];
        bo_cross4(gain + 3, j->arm, t);
        for (int k = 0; k < 3; k++)
            gain[k] += t[k];
    }
    for (int k = 0; k < 6; k++) {
        A[k] += gain[k] + j->b[k];
        if (k < 3)
            A[k] += lever[k];
    }
    bo_tmulv4(j->R, A, out->A);
    bo_tmulv4(j->R, A + 3, out->A + 3);
}

static void accelerate_some(void *data, int32_t begin, int32_t end, int32_t chunk) {
    const level_call *call = data;
    bo_tree_work *work = call->work;
    (void)chunk;
    for (int32_t s = call->first + begin; s < call->first + end; s++)
        if (!call->mode->only_flights || call->model->slots[s].flies)
            accelerate(&call->model->slots[s], work->faces, &work->frames[s], work->inertias, &work->inertias[s]);
}

void bo_tree_accelerate_frames(bough_context *ctx, const bough_tree_model *model, bo_tree_work *work,
                               const bo_tree_mode *mode, int32_t level) {
    on_level(ctx, model, work, mode, level, accelerate_some);
}
