/* Vertices near joints move with a blend of the motions of both parts. docs/theory/tree.md, "Smooth joints". */
#include "tree/surface.h"

#include "base/simd.h"
#include "base/threads.h"

#include <string.h>

enum { LANES = BO_BLEND_LANES, TERMS = BO_BLEND_TERMS, JOINTS_A_TASK = 256 };
typedef float quad __attribute__((vector_size(4 * LANES), aligned(4)));
#define LOAD(address) (*(const quad *)(address))
#define QUAD(address) (*(quad *)(address))

/* ---- joints ---- */

static const bo_tree_part *part_of(const bough_tree_model *model, int32_t user) {
    return &model->parts[model->inside[user]];
}

static float *numbers_of(const bough_tree_model *model, const bough_tree_state *state, int32_t joint, bool child) {
    return bo_tree_fillet_numbers(model, state) + (2 * (size_t)joint + !child) * BO_BLEND_SIZE;
}

/* K_b = s R (centre, radius e_x, radius e_y, radius e_z, 0 .. + sum_l q_l P_lb), the first from `from`. */
BO_MULTIVERSION static void move_patch(const bo_tree_patch *patch, const bough_frame *frame, double scale,
                                       const double *q, const double from[3], float *numbers) {
    quad K[TERMS] = {{0}}, column[3] = {{0}}, offset = {0};
    const float *P = patch->P;
    for (int32_t l = 0; l < patch->r && P; l++)
        for (int b = 0; b < TERMS; b++, P += LANES)
            K[b] += (float)q[l] * LOAD(P);
    for (int k = 0; k < 3; k++) {
        K[0][k] += (float)patch->centre[k];
        K[1 + k][k] += (float)patch->radius;
        offset[k] = (float)(frame->pose.position[k] - from[k]);
        for (int j = 0; j < 3; j++)
            column[j][k] = (float)(scale * frame->pose.rotation[3 * k + j]);
    }
    for (int b = 0; b < TERMS; b++)
        QUAD(numbers + LANES * b) = column[0] * K[b][0] + column[1] * K[b][1] + column[2] * K[b][2];
    QUAD(numbers) += offset;
}

typedef struct {
    const bough_tree_model *model;
    const bough_tree_state *state;
} moving;

static void move_joints(void *data, int32_t begin, int32_t end, int32_t chunk) {
    const moving *m = data;
    const bo_tree_fillet *joints = m->model->surface->blend.joints;
    (void)chunk;
    for (int32_t i = begin; i < end; i++) {
        const int32_t users[2] = {joints[i].child, joints[i].parent};
        const double *from = m->state->frames[joints[i].child].pose.position;
        for (int side = joints[i].cut ? 0 : 1; side < 2; side++) {
            const bo_tree_part *part = part_of(m->model, users[side]);
            move_patch(side == 0 ? joints[i].above : joints[i].below, &m->state->frames[users[side]], part->scale,
                       m->state->q + part->offset, from, numbers_of(m->model, m->state, i, side == 0));
        }
    }
}

void bo_tree_move_fillets(bough_context *ctx, const bough_tree_model *model, const bough_tree_state *state) {
    moving m = {model, state};
    bo_parallel_for(ctx, model->surface->blend.joint_count, JOINTS_A_TASK, move_joints, &m);
}

/* ---- vertices ---- */

BO_INLINE quad evaluate(const float *K, const float xi[3]) {
    const float x = xi[0], y = xi[1], z = xi[2];
    return LOAD(K) + x * LOAD(K + LANES) + y * LOAD(K + 2 * LANES) + z * LOAD(K + 3 * LANES) +
           x * x * LOAD(K + 4 * LANES) + y * y * LOAD(K + 5 * LANES) + z * z * LOAD(K + 6 * LANES) +
           y * z * LOAD(K + 7 * LANES) + x * z * LOAD(K + 8 * LANES) + x * y * LOAD(K + 9 * LANES);
}

/* A part that no longer hangs has no share in its parent's other joints either. */
static bool takes_part(const bough_tree_model *model, const bough_tree_state *state, int32_t part,
                       const bo_tree_fillet *joint) {
    const bool beside = joint->child != part && joint->parent != part;
    return !bo_tree_seam_is_open(model, state, joint->child) && !(beside && bo_tree_seam_is_open(model, state, part));
}

/* With tau of each joint: T = 1 - prod (1 - tau), and the place is (1 - T) own + T sum tau Phi / sum tau. Returns the
 * displacement from `own`; both from the part's origin. */
static quad blended_shift(const bough_tree_model *model, const bough_tree_state *state, const bo_tree_part *part,
                          int32_t vertex, quad own) {
    const bo_tree_blend *blend = &model->surface->blend;
    const double *origin = state->frames[part->user].pose.position;
    float total = 0, left = 1;
    quad sum = {0};
    for (int32_t i = blend->share_first[vertex]; i < blend->share_first[vertex + 1]; i++) {
        const bo_tree_share *share = &blend->shares[i];
        const bo_tree_fillet *joint = &blend->joints[share->joint];
        if (!takes_part(model, state, part->user, joint))
            continue;
        const double *from = state->frames[joint->child].pose.position;
        quad at = {(float)(from[0] - origin[0]), (float)(from[1] - origin[1]), (float)(from[2] - origin[2])};
        at += (1 - share->child) * evaluate(numbers_of(model, state, share->joint, false), share->below);
        if (joint->cut)
            at += share->child * evaluate(numbers_of(model, state, share->joint, true), share->above);
        sum += share->weight * (at - own);
        total += share->weight;
        left *= 1 - share->weight;
    }
    return total > 0 ? (1 - left) / total * sum : (quad){0};
}

void bo_tree_blend_part(const bough_tree_model *model, const bough_tree_state *state, const bo_tree_part *part,
                        float *x, float *positions) {
    const bo_tree_blend *blend = &model->surface->blend;
    const double *R = state->frames[part->user].pose.rotation;
    for (int32_t i = blend->part_first[part->user]; i < blend->part_first[part->user + 1]; i++) {
        float *local = x + 3 * (size_t)blend->vertices[i], *world = positions + 3 * (size_t)blend->vertices[i];
        quad own = {0};
        for (int k = 0; k < 3; k++)
            own[k] = (float)part->scale *
                     ((float)R[3 * k] * local[0] + (float)R[3 * k + 1] * local[1] + (float)R[3 * k + 2] * local[2]);
        const quad shift = blended_shift(model, state, part, i, own);
        for (int k = 0; k < 3; k++) {
            world[k] += shift[k];
            local[k] +=
                ((float)R[k] * shift[0] + (float)R[3 + k] * shift[1] + (float)R[6 + k] * shift[2]) / (float)part->scale;
        }
    }
}

/* ---- for measurements ---- */

static bo_vec3 evaluate_exactly(const float *K, bo_vec3 xi) {
    const double m[TERMS] = {1,           xi.x,        xi.y,        xi.z,        xi.x * xi.x,
                             xi.y * xi.y, xi.z * xi.z, xi.y * xi.z, xi.x * xi.z, xi.x * xi.y};
    bo_vec3 sum = {0};
    for (int b = 0; b < TERMS; b++, K += LANES)
        sum = bo_mul_add(sum, m[b], bo_v3((double)K[0], (double)K[1], (double)K[2]));
    return sum;
}

bo_vec3 bo_tree_fillet_motion(const bough_tree_model *model, const bough_tree_state *state, int32_t number, bool child,
                              bool blended, bo_vec3 X) {
    const bo_tree_fillet *joint = &model->surface->blend.joints[number];
    const bo_tree_part *above = part_of(model, joint->child), *below = part_of(model, joint->parent);
    const bo_vec3 of_child = evaluate_exactly(numbers_of(model, state, number, true),
                                              bo_scale(1 / (above->scale * joint->above->radius), X));
    const bo_vec3 of_parent =
        evaluate_exactly(numbers_of(model, state, number, false),
                         bo_scale(1 / (below->scale * joint->below->radius), bo_mat_vec(above->rest, X)));
    const bo_vec3 own = child ? of_child : of_parent;
    if (!blended)
        return own;
    const double tau = bo_tree_fillet_weight(joint, X), share = bo_tree_child_share(joint, X);
    const bo_vec3 both = bo_mul_add(of_parent, share, bo_sub(of_child, of_parent));
    return bo_mul_add(own, tau, bo_sub(both, own));
}
