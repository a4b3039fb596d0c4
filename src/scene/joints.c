#include "scene/joints.h"

#include "base/polar.h"
#include "component/joints.h"
#include "dense/cholesky.h"
#include "dense/lu.h"
#include "dense/symmetric_eigen.h"

#include <math.h>
#include <string.h>

/* Lowest vibrations looked at (and those that are not much higher: which of them is the third may be a matter of the
 * joints), vectors that find them, and how often. */
enum { MODES = 3, VECTORS = 8, ROUNDS = 12 };
/* Trees with more parts are not looked at, nor more trees than this. */
enum { MOST_PARTS = 5000, MOST_TREES = 16 };
/* Radii of the two sides of a joint agree to this. */
#define SAME_FACE 0.02
enum { K = BO_JOINT_FUNCTIONS, MOST_SHAPES = K * BOUGH_MAX_JOINTS };

/* ---- one tree, linear, about rest ---- */

/* A part: displacements are U q as in its component, lengths `scale` times as large, forces `stiffness` squared. */
typedef struct {
    const bo_part *part;
    const bough_component *c;
    int32_t index;    /* among all parts */
    int32_t parent;   /* in the tree; -1: the root */
    int32_t first;    /* of its coordinates */
    const double *L;  /* Cholesky factor of K, of the component */
    double *J;        /* 6 x r of the parent: how its coordinates move the interface's centre */
    bo_vec3 at;       /* that centre, from the parent's origin, in its axes */
    double motion[6]; /* of the origin, in its own axes: displacement, rotation */
    double force[6];  /* of loads on it and on all that hangs on it, about its origin, in its own axes */
    double wrench[6]; /* the same about the interface's centre, in the parent's axes */
} limb;

typedef struct {
    bough_context *ctx;
    int32_t count, size;
    limb *limbs; /* parents first */
    double **L;  /* of the components */
} small_tree;

static double factor_of(const limb *l) {
    return l->part->scale * l->part->stiffness * l->part->stiffness;
}

/* 6 x r: translation and rotation of an interface by the coordinates, about rest. */
static void interface_motion(const bough_component *c, int32_t index, double scale, double *J) {
    const bough_interface *face = &c->interfaces[index];
    const size_t r = (size_t)c->r;
    bo_mat3 A0;
    double Op[27];
    memcpy(A0.m, face->A, sizeof A0.m);
    const bool turns = bo_polar_operator(bo_identity3(), A0, Op);
    for (size_t l = 0; l < r; l++)
        for (size_t d = 0; d < 3; d++) {
            J[d * r + l] = face->translation[3 * l + d];
            J[(3 + d) * r + l] = 0;
            for (size_t k = 0; k < 9 && turns; k++)
                J[(3 + d) * r + l] += Op[9 * d + k] * face->A[9 * (l + 1) + k] / scale;
        }
}

/* Motions of all origins when the coordinates are q. */
static void move(small_tree *t, const double *q) {
    for (int32_t i = 0; i < t->count; i++) {
        limb *l = &t->limbs[i];
        memset(l->motion, 0, sizeof l->motion);
        if (l->parent < 0)
            continue;
        const limb *p = &t->limbs[l->parent];
        double m[6];
        const bo_vec3 turn = bo_load3(p->motion + 3);
        bo_store3(m, bo_add(bo_load3(p->motion), bo_cross(turn, l->at)));
        bo_store3(m + 3, turn);
        for (size_t d = 0; d < 6; d++)
            for (size_t k = 0; k < (size_t)p->c->r; k++)
                m[d] += l->J[d * (size_t)p->c->r + k] * q[(size_t)p->first + k];
        const bo_mat3 to_own = bo_transpose(l->part->rotation);
        const bo_vec3 shift = bo_add(bo_load3(m), bo_cross(bo_load3(m + 3), bo_load3(l->part->offset)));
        bo_store3(l->motion, bo_mat_vec(to_own, shift));
        bo_store3(l->motion + 3, bo_mat_vec(to_own, bo_load3(m + 3)));
    }
}

/* Forces on a part of which every point x carries its mass times a + w x x + U e; added to l->force and f (r). */
static void add_own(limb *l, const double a[6], const double *e, double *f) {
    const bough_component *c = l->c;
    const double s = l->part->scale, s3 = s * s * s;
    const bo_vec3 lin = bo_load3(a), ang = bo_load3(a + 3), mc = bo_scale(s * s3, bo_load3(c->mc0));
    const bough_inertia whole = bo_inertia_scaled(s, bo_component_inertia(c));
    bo_mat3 I;
    memcpy(I.m, whole.inertia, sizeof I.m);
    bo_vec3 force = bo_add(bo_scale(s3 * c->mass, lin), bo_cross(ang, mc));
    bo_vec3 moment = bo_add(bo_cross(mc, lin), bo_mat_vec(I, ang));
    for (size_t k = 0; k < (size_t)c->r; k++) {
        const double *W = c->W5 + 9 * k;
        const bo_vec3 share = bo_scale(s3, bo_load3(c->s + 3 * k));
        const bo_vec3 twist = bo_scale(s3 * s, bo_v3(W[7] - W[5], W[2] - W[6], W[3] - W[1]));
        f[k] += bo_dot(share, lin) + bo_dot(twist, ang);
        if (!e)
            continue;
        force = bo_mul_add(force, e[k], share);
        moment = bo_mul_add(moment, e[k], twist);
        for (size_t p = 0; p < (size_t)c->r; p++) {
            const double *W7 = c->W7 + 9 * (k * (size_t)c->r + p);
            f[k] += s3 * (W7[0] + W7[4] + W7[8]) * e[p];
        }
    }
    for (int d = 0; d < 3; d++)
        l->force[d] += (&force.x)[d], l->force[3 + d] += (&moment.x)[d];
}

/* Adds the wrench of a limb to its parent. */
static void pass_down(small_tree *t, limb *l, double *f) {
    if (l->parent < 0)
        return;
    limb *p = &t->limbs[l->parent];
    const bo_vec3 force = bo_mat_vec(l->part->rotation, bo_load3(l->force));
    bo_vec3 moment = bo_mat_vec(l->part->rotation, bo_load3(l->force + 3));
    moment = bo_add(moment, bo_cross(bo_load3(l->part->offset), force));
    bo_store3(l->wrench, force);
    bo_store3(l->wrench + 3, moment);
    for (size_t d = 0; d < 6; d++)
        for (size_t k = 0; k < (size_t)p->c->r; k++)
            f[(size_t)p->first + k] += l->J[d * (size_t)p->c->r + k] * l->wrench[d];
    moment = bo_add(moment, bo_cross(l->at, force));
    for (int d = 0; d < 3; d++)
        p->force[d] += (&force.x)[d], p->force[3 + d] += (&moment.x)[d];
}

/* f (size): forces on the coordinates by the loads that l->motion and e (size, or NULL) stand for. */
static void load(small_tree *t, const double *e, double *f) {
    memset(f, 0, (size_t)t->size * sizeof *f);
    for (int32_t i = 0; i < t->count; i++)
        memset(t->limbs[i].force, 0, sizeof t->limbs[i].force);
    for (int32_t i = t->count; i-- > 0;) {
        limb *l = &t->limbs[i];
        add_own(l, l->motion, e ? e + l->first : NULL, f + l->first);
        pass_down(t, l, f);
    }
}

/* f <- K^-1 f */
static void answer(const small_tree *t, double *f) {
    for (int32_t i = 0; i < t->count; i++) {
        const limb *l = &t->limbs[i];
        if (l->c->r == 0)
            continue;
        bo_cholesky_solve(l->c->r, l->L, f + l->first);
        for (int32_t k = 0; k < l->c->r; k++)
            f[l->first + k] /= factor_of(l);
    }
}

/* a^T K b */
static double energy(const small_tree *t, const double *a, const double *b) {
    double sum = 0;
    for (int32_t i = 0; i < t->count; i++) {
        const limb *l = &t->limbs[i];
        const size_t r = (size_t)l->c->r;
        for (size_t k = 0; k < r * r; k++)
            sum += factor_of(l) * a[(size_t)l->first + k / r] * l->c->K[k] * b[(size_t)l->first + k % r];
    }
    return sum;
}

/* Every part feels the same acceleration of the world, given in the root's axes about its origin. */
static void accelerate(small_tree *t, const double a[6]) {
    for (int32_t i = 0; i < t->count; i++) {
        limb *l = &t->limbs[i];
        if (l->parent < 0) {
            memcpy(l->motion, a, sizeof l->motion);
            continue;
        }
        const limb *p = &t->limbs[l->parent];
        const bo_mat3 to_own = bo_transpose(l->part->rotation);
        const bo_vec3 turn = bo_load3(p->motion + 3), place = bo_add(l->at, bo_load3(l->part->offset));
        bo_store3(l->motion, bo_mat_vec(to_own, bo_add(bo_load3(p->motion), bo_cross(turn, place))));
        bo_store3(l->motion + 3, bo_mat_vec(to_own, turn));
    }
}

/* ---- how much of a part's motion is its own ---- */

/* The square of how far a part moves, by mass: with its origin, and by q; or by q alone. */
static double motion_of(limb *l, const double *q, bool alone) {
    static const double still[6] = {0};
    const double *motion = alone ? still : l->motion;
    double f[BOUGH_MAX_COORDINATES] = {0}, sum = 0;
    memset(l->force, 0, sizeof l->force);
    add_own(l, motion, q + l->first, f);
    for (int d = 0; d < 6; d++)
        sum += motion[d] * l->force[d];
    for (int32_t k = 0; k < l->c->r; k++)
        sum += q[l->first + k] * f[k];
    return sum;
}

/* Under weight along each axis: how far a part bends, over how far it moves; of a root that flies, over how far the tree
 * does. share: of each component, the largest of its parts. */
static bough_status find_shares(small_tree *t, double *share) {
    double *q = BO_NEW_ZEROS(t->ctx, double, (size_t)t->size + 2 * (size_t)t->count), mass = 0, all = 0;
    double *bends = q ? q + t->size : NULL, *moves = q ? bends + t->count : NULL;
    if (!q)
        return BOUGH_ERROR_MEMORY;
    for (int d = 0; d < 3; d++) {
        double a[6] = {0};
        a[d] = 1;
        accelerate(t, a);
        load(t, NULL, q);
        answer(t, q);
        move(t, q);
        for (int32_t i = 0; i < t->count; i++) {
            bends[i] += motion_of(&t->limbs[i], q, true);
            moves[i] += motion_of(&t->limbs[i], q, false);
        }
    }
    for (int32_t i = 0; i < t->count; i++)
        mass += pow(t->limbs[i].part->scale, 3) * t->limbs[i].c->mass, all += moves[i];
    if (t->limbs[0].c->support == BOUGH_SUPPORT_FREE)
        moves[0] = fmax(moves[0], all / mass * pow(t->limbs[0].part->scale, 3) * t->limbs[0].c->mass);
    for (int32_t i = 0; i < t->count; i++) {
        double *to = &share[t->limbs[i].part->component];
        *to = fmax(*to, moves[i] > 0 ? fmin(1, sqrt(bends[i] / moves[i])) : 1);
    }
    bo_free(t->ctx, q);
    return BOUGH_OK;
}

/* ---- vibrations ---- */

/* Subspace iteration x <- K^-1 M x, begun with the answers to accelerations of the whole. X (VECTORS x size) ends with
 * the lowest vibrations, a.K a = 1, and values with 1 / w^2, the largest first. */
static bool vibrate(small_tree *t, double *X, double *MX, double values[VECTORS]) {
    const size_t n = (size_t)t->size;
    double A[VECTORS * VECTORS], V[VECTORS * VECTORS], scratch[2 * VECTORS], S[VECTORS * VECTORS];
    for (size_t v = 0; v < VECTORS; v++) {
        double a[6] = {0};
        a[v % 6] = 1;
        accelerate(t, a);
        load(t, NULL, X + v * n);
        for (size_t i = 0; i < n && v >= 6; i++) /* others, not like these */
            X[v * n + i] *= sin(1.7 * (double)i * (double)v + (double)v);
        answer(t, X + v * n);
    }
    for (int round = 0; round < ROUNDS; round++) {
        for (size_t v = 0; v < VECTORS; v++) { /* orthonormal in K */
            for (int again = 0; again < 2; again++)
                for (size_t w = 0; w < v; w++) {
                    const double part = energy(t, X + v * n, X + w * n);
                    for (size_t i = 0; i < n; i++)
                        X[v * n + i] -= part * X[w * n + i];
                }
            const double length = sqrt(energy(t, X + v * n, X + v * n));
            for (size_t i = 0; i < n; i++)
                X[v * n + i] = length > 1e-200 ? X[v * n + i] / length : 0;
            move(t, X + v * n);
            load(t, X + v * n, MX + v * n);
        }
        for (size_t k = 0; k < VECTORS * VECTORS; k++) {
            A[k] = 0;
            for (size_t i = 0; i < n; i++)
                A[k] += X[k / VECTORS * n + i] * MX[k % VECTORS * n + i];
        }
        for (size_t k = 0; k < VECTORS * VECTORS; k++)
            S[k] = 0.5 * (A[k] + A[k % VECTORS * VECTORS + k / VECTORS]);
        if (!bo_sym_eigen(VECTORS, S, values, V, scratch))
            return false;
        for (size_t i = 0; i < n; i++) { /* X <- V^T X and MX likewise, the largest first */
            double x[VECTORS] = {0}, m[VECTORS] = {0};
            for (size_t v = 0; v < VECTORS; v++)
                for (size_t w = 0; w < VECTORS; w++) {
                    x[v] += V[w * VECTORS + VECTORS - 1 - v] * X[w * n + i];
                    m[v] += V[w * VECTORS + VECTORS - 1 - v] * MX[w * n + i];
                }
            for (size_t v = 0; v < VECTORS; v++)
                X[v * n + i] = x[v], MX[v * n + i] = m[v];
        }
        if (round + 1 < ROUNDS) {
            memcpy(X, MX, VECTORS * n * sizeof *X);
            for (size_t v = 0; v < VECTORS; v++)
                answer(t, X + v * n);
        }
    }
    for (int v = 0; v < VECTORS / 2; v++) {
        const double swap = values[v];
        values[v] = values[VECTORS - 1 - v], values[VECTORS - 1 - v] = swap;
    }
    return true;
}

/* ---- what rigid joints cost under a load ---- */

/* The joints of one part that carry something, with what they carry. */
typedef struct {
    int32_t count;
    int32_t part[BOUGH_MAX_JOINTS]; /* one that hangs there, among all parts; -1: nothing does */
    double F[MOST_SHAPES * MOST_SHAPES], A[MOST_SHAPES * MOST_SHAPES];
    double S[BOUGH_MAX_JOINTS][K * K];
    double v[MOST_SHAPES], rho[MOST_SHAPES], h[MOST_SHAPES], y[MOST_SHAPES];
    int32_t pivots[MOST_SHAPES];
} carried;

static int32_t joint_of(const bough_component *c, int32_t interface) {
    for (int32_t j = 0; j < c->joints.count; j++)
        if (c->joints.interface_index[j] == interface)
            return j;
    return -1;
}

/* Forces along the functions of its foot by the loads on a part, clamped there: those of its mass and of what hangs at
 * its joints. */
static void react(const small_tree *t, const limb *l, const double *e, double rho[K]) {
    const bough_component_foot *foot = &l->c->foot;
    const double s = l->part->scale, s3 = s * s * s;
    const size_t r = (size_t)l->c->r, joints = (size_t)l->c->joints.count;
    for (size_t k = 0; k < K; k++) {
        rho[k] = 0;
        for (size_t d = 0; d < 6; d++)
            rho[k] += foot->inertia[6 * k + d] * (d < 3 ? s3 : s * s3) * l->motion[d];
        for (size_t i = 0; i < r && e; i++)
            rho[k] += s3 * foot->U[k * r + i] * e[(size_t)l->first + i];
    }
    for (int32_t i = 0; i < t->count && joints > 0; i++) {
        const limb *child = &t->limbs[i];
        const int32_t j =
            child->parent >= 0 && &t->limbs[child->parent] == l ? joint_of(l->c, child->part->interface_index) : -1;
        for (size_t k = 0; k < K && j >= 0; k++)
            for (size_t d = 0; d < 6; d++)
                rho[k] += foot->passes[(k * joints + (size_t)j) * 6 + d] * child->wrench[d] / (d < 3 ? 1 : s);
    }
}

static double foot_radius(const limb *l) {
    return l->part->scale * l->c->interfaces[l->c->parent].radius;
}
static double joint_radius(const limb *p, const limb *l) {
    return p->part->scale * p->c->interfaces[l->part->interface_index].radius;
}

/* The two sides are the same face, as where a body was cut. A part that is set on a patch of another's side is no piece
 * of a whole that one could be compared with. */
static bool fits(const limb *p, const limb *l) {
    return l->c->foot.stiffness ? fabs(foot_radius(l) / joint_radius(p, l) - 1) < SAME_FACE : l->c->r == 0;
}

/* Adds a part that hangs at joint j: its stiffness and its forces, in the functions of the joint. A rigid one holds all
 * of it. */
static void hang(const small_tree *t, const limb *p, const limb *l, int32_t j, const double *e, carried *h) {
    const bough_component *c = l->c, *pc = p->c;
    double *S = h->S[j], D[K * K], rho[K];
    if (!c->foot.stiffness) {
        const size_t width = MOST_SHAPES;
        double most = 0;
        for (size_t k = 0; k < K; k++)
            most = fmax(most, h->F[(K * (size_t)j + k) * width + K * (size_t)j + k]);
        for (size_t k = 0; k < K && c->r == 0 && most > 0; k++)
            S[k * K + k] += 1e6 / most;
        return;
    }
    bo_joint_geometry mine, theirs;
    memcpy(&mine, c->foot.geometry, sizeof mine);
    memcpy(&theirs, pc->joints.geometry + BOUGH_JOINT_GEOMETRY * (size_t)j, sizeof theirs);
    bo_joint_translate(&mine, &theirs, bo_transpose(l->part->rotation), foot_radius(l) / joint_radius(p, l), D);
    react(t, l, e, rho);
    for (int a = 0; a < K; a++)
        for (int b = 0; b < K; b++) {
            for (int m = 0; m < K; m++)
                for (int n = 0; n < K; n++)
                    S[a * K + b] += factor_of(l) * D[m * K + a] * c->foot.stiffness[m * K + n] * D[n * K + b];
            h->rho[K * j + a] += D[b * K + a] * rho[b];
        }
}

/* Fills in what part p carries; false: nothing that is known of. */
static bool gather(const small_tree *t, int32_t index, const double *q, const double *e, carried *h) {
    const limb *p = &t->limbs[index];
    const bough_component_joints *joints = &p->c->joints;
    const size_t width = MOST_SHAPES, shapes = K * (size_t)joints->count, r = (size_t)p->c->r;
    bool any = false;
    h->count = joints->count;
    for (size_t a = 0; a < shapes; a++) {
        for (size_t b = 0; b < shapes; b++)
            h->F[a * width + b] = joints->flexibility[a * shapes + b] / factor_of(p);
        h->v[a] = h->rho[a] = 0;
        for (size_t l = 0; l < r; l++)
            h->v[a] += joints->U[a * r + l] * q[(size_t)p->first + l];
    }
    memset(h->S, 0, sizeof h->S);
    for (int32_t j = 0; j < BOUGH_MAX_JOINTS; j++)
        h->part[j] = -1;
    for (int32_t i = index + 1; i < t->count && h->count > 0; i++) {
        const limb *l = &t->limbs[i];
        const int32_t j = l->parent == index ? joint_of(p->c, l->part->interface_index) : -1;
        if (j < 0 || !fits(p, l))
            continue;
        hang(t, p, l, j, e, h);
        h->part[j] = l->index;
        any = true;
    }
    return any;
}

/* The change of 2 x energy when the joints' interfaces deform as one: 2 rho.v + rho.F rho - h.S y with h = v + F rho,
 * (1 + F S) y = h; share[j]: of each joint. */
static double relax(carried *h, double share[BOUGH_MAX_JOINTS]) {
    const size_t width = MOST_SHAPES, shapes = K * (size_t)h->count;
    for (size_t a = 0; a < shapes; a++) {
        h->h[a] = h->v[a];
        for (size_t b = 0; b < shapes; b++)
            h->h[a] += h->F[a * width + b] * h->rho[b];
        h->y[a] = h->h[a];
        for (size_t b = 0; b < shapes; b++) {
            double sum = a == b;
            for (size_t m = 0; m < K; m++)
                sum += h->F[a * width + b / K * K + m] * h->S[b / K][m * K + b % K];
            h->A[a * shapes + b] = sum;
        }
    }
    if (!bo_lu_factor((int)shapes, h->A, h->pivots))
        return 0;
    bo_lu_solve((int)shapes, h->A, h->pivots, h->y);
    double sum = 0;
    for (size_t j = 0; j < (size_t)h->count; j++) {
        share[j] = 0;
        for (size_t a = K * j; a < K * (j + 1); a++) {
            double Sy = 0;
            for (size_t m = 0; m < K; m++)
                Sy += h->S[j][(a - K * j) * K + m] * h->y[K * j + m];
            share[j] += h->rho[a] * (h->v[a] + h->h[a]) - h->h[a] * Sy;
        }
        sum += share[j];
    }
    return sum;
}

/* q: the answer to the loads that l->motion, e and l->wrench hold. The tree's 2 x energy over that of the body whose
 * interfaces deform, less 1; *part: what hangs at the joint with the largest share. */
static double judge(const small_tree *t, const double *q, const double *e, carried *h, int32_t *part) {
    const double whole = energy(t, q, q);
    double change = 0, most = 0, share[BOUGH_MAX_JOINTS];
    for (int32_t i = 0; i < t->count; i++) {
        if (!gather(t, i, q, e, h))
            continue;
        change += relax(h, share);
        for (int32_t j = 0; j < h->count; j++)
            if (h->part[j] >= 0 && fabs(share[j]) > most)
                most = fabs(share[j]), *part = h->part[j];
    }
    return whole > 0 ? whole / fmax(0.02 * whole, whole + change) - 1 : 0;
}

/* ---- one tree of the assembly ---- */

static void free_tree(small_tree *t) {
    for (int32_t i = 0; t->limbs && i < t->count; i++)
        bo_free(t->ctx, t->limbs[i].J);
    bo_free(t->ctx, t->limbs);
}

static bough_status join(small_tree *t, const bo_assembly *assembly, const bough_component *const *components,
                         int32_t index, int32_t parent) {
    limb *l = &t->limbs[t->count];
    const bo_part *part = &assembly->parts[index];
    *l = (limb){.part = part, .c = components[part->component], .index = index, .parent = parent, .first = t->size};
    l->L = t->L[part->component];
    t->count++;
    t->size += l->c->r;
    if (parent < 0)
        return BOUGH_OK;
    const limb *p = &t->limbs[parent];
    l->at = bo_scale(p->part->scale, bo_load3(p->c->interfaces[part->interface_index].centre));
    l->J = BO_NEW_ARRAY(t->ctx, double, 6 * (size_t)p->c->r + 1);
    if (!l->J)
        return BOUGH_ERROR_MEMORY;
    interface_motion(p->c, part->interface_index, p->part->scale, l->J);
    return BOUGH_OK;
}

/* Parents come before their children, whatever the order of the file is. */
static bough_status grow(small_tree *t, const bo_assembly *assembly, const bough_component *const *components,
                         int32_t root, int32_t *place) {
    t->limbs = BO_NEW_ZEROS(t->ctx, limb, assembly->part_count);
    if (!t->limbs)
        return BOUGH_ERROR_MEMORY;
    for (int32_t p = 0; p < assembly->part_count; p++)
        place[p] = -1;
    place[root] = 0;
    BO_TRY(join(t, assembly, components, root, -1));
    for (bool more = true; more && t->count <= MOST_PARTS;) {
        more = false;
        for (int32_t p = 0; p < assembly->part_count && t->count <= MOST_PARTS; p++) {
            const int32_t parent = assembly->parts[p].parent;
            if (place[p] >= 0 || parent < 0 || place[parent] < 0)
                continue;
            place[p] = t->count;
            BO_TRY(join(t, assembly, components, p, place[parent]));
            more = true;
        }
    }
    return BOUGH_OK;
}

/* Some joint is one that can be judged. */
static bool has_joints(const small_tree *t) {
    for (int32_t i = 1; i < t->count; i++) {
        const limb *l = &t->limbs[i], *p = &t->limbs[l->parent];
        if (joint_of(p->c, l->part->interface_index) >= 0 && fits(p, l))
            return true;
    }
    return false;
}

static void note(double error, int32_t part, const bo_assembly *assembly, double *worst, const char **joint) {
    if (fabs(error) > fabs(*worst) && part >= 0) {
        *worst = error;
        *joint = assembly->parts[part].name;
    }
}

static bough_status look_at(small_tree *t, const bo_assembly *assembly, const double gravity[3],
                            bough_joint_forecast *forecast) {
    const size_t n = (size_t)t->size;
    double *X = BO_NEW_ARRAY(t->ctx, double, (2 * VECTORS + 1) * n), *MX = X ? X + VECTORS * n : NULL;
    double *e = X ? MX + VECTORS * n : NULL;
    carried *h = BO_NEW(t->ctx, carried);
    double values[VECTORS], a[6] = {0};
    bough_status status = X && h ? BOUGH_OK : BOUGH_ERROR_MEMORY;
    if (status == BOUGH_OK) {
        const bool none = gravity[0] == 0 && gravity[1] == 0 && gravity[2] == 0;
        const bo_vec3 g = none ? bo_v3(0, 0, -1) : bo_load3(gravity);
        int32_t part = -1;
        bo_store3(a, bo_mat_vec(bo_transpose(t->limbs[0].part->rotation), g));
        accelerate(t, a);
        load(t, NULL, e);
        answer(t, e);
        const double error = judge(t, e, NULL, h, &part);
        note(error, part, assembly, &forecast->sag, &forecast->sag_joint);
    }
    if (status == BOUGH_OK && n >= VECTORS && vibrate(t, X, MX, values))
        for (size_t v = 0; v < VECTORS - 2 && values[v] > 0.7 * values[MODES - 1]; v++) { /* x = K^-1 f, f = w^2 M x */
            int32_t part = -1;
            const double *x = X + v * n, square = 1 / values[v];
            move(t, x);
            for (size_t i = 0; i < n; i++)
                e[i] = square * x[i];
            for (int32_t i = 0; i < t->count; i++)
                for (int d = 0; d < 6; d++)
                    t->limbs[i].motion[d] *= square;
            load(t, e, MX);
            const double error = judge(t, x, e, h, &part);
            note(1 / sqrt(1 + error) - 1, part, assembly, &forecast->frequency, &forecast->frequency_joint);
        }
    bo_free(t->ctx, X);
    bo_free(t->ctx, h);
    return status;
}

/* ---- all of them ---- */

static bough_status factor_components(bough_context *ctx, const bo_assembly *assembly,
                                      const bough_component *const *components, double **L) {
    for (int32_t c = 0; c < assembly->component_count; c++) {
        const size_t r = (size_t)components[c]->r;
        L[c] = BO_NEW_ARRAY(ctx, double, r *r + 1);
        if (!L[c])
            return BOUGH_ERROR_MEMORY;
        if (r > 0)
            memcpy(L[c], components[c]->K, r * r * sizeof **L);
        if (r > 0 && !bo_cholesky_factor((int)r, L[c]))
            return bo_fail(ctx, BOUGH_ERROR_SINGULAR, "the stiffness of the component \"%s\" is not positive definite",
                           assembly->components[c].name);
    }
    return BOUGH_OK;
}

/* Copies of a tree are as good as the tree: one for each component that is a root. */
static bough_status look_at_trees(bough_context *ctx, const bo_assembly *assembly,
                                  const bough_component *const *components, const double gravity[3], double **L,
                                  int32_t *place, bool *seen, bough_joint_forecast *forecast, double *share) {
    int32_t trees = 0;
    for (int32_t p = 0; p < assembly->part_count && trees < MOST_TREES; p++) {
        const bo_part *root = &assembly->parts[p];
        if (root->parent >= 0 || seen[root->component])
            continue;
        seen[root->component] = true;
        trees++;
        small_tree t = {.ctx = ctx, .L = L};
        bough_status status = grow(&t, assembly, components, p, place);
        if (status == BOUGH_OK && t.count <= MOST_PARTS && share)
            status = find_shares(&t, share);
        if (status == BOUGH_OK && t.count <= MOST_PARTS && has_joints(&t))
            status = look_at(&t, assembly, gravity, forecast);
        free_tree(&t);
        BO_TRY(status);
    }
    return BOUGH_OK;
}

bough_status bo_joints_forecast(bough_context *ctx, const bo_assembly *assembly,
                                const bough_component *const *components, const double gravity[3],
                                bough_joint_forecast *forecast, double *share) {
    *forecast = (bough_joint_forecast){0};
    double **L = BO_NEW_ZEROS(ctx, double *, assembly->component_count);
    int32_t *place = BO_NEW_ARRAY(ctx, int32_t, assembly->part_count);
    bool *seen = BO_NEW_ZEROS(ctx, bool, assembly->component_count);
    bough_status status = L && place && seen ? factor_components(ctx, assembly, components, L) : BOUGH_ERROR_MEMORY;
    if (status == BOUGH_OK)
        status = look_at_trees(ctx, assembly, components, gravity, L, place, seen, forecast, share);
    for (int32_t c = 0; L && c < assembly->component_count; c++)
        bo_free(ctx, L[c]);
    bo_free(ctx, L);
    bo_free(ctx, place);
    bo_free(ctx, seen);
    return status;
}

static const char *direction(double error, const char *more, const char *less) {
    return error > 0 ? more : less;
}

void bo_joints_warn(bough_context *ctx, const char *file, const bough_joint_forecast *forecast) {
    const double hz = forecast->frequency, sag = forecast->sag;
    if (fabs(hz) <= BOUGH_JOINT_WARNING && fabs(sag) <= BOUGH_JOINT_WARNING)
        return;
    const bool by_sag = fabs(sag) > 2 * fabs(hz);
    bo_warn(
        ctx,
        "%s: the cut where \"%s\" hangs costs accuracy: parts meet there as if the interface were rigid, so that a low "
        "frequency is about %.0f %% too %s and the sag %.0f %% too %s; cut where the body is slimmer or stiffer, or a "
        "little outside of where something grows (more coordinates do not help)",
        file,
        by_sag                      ? forecast->sag_joint
        : forecast->frequency_joint ? forecast->frequency_joint
                                    : forecast->sag_joint,
        100 * fabs(hz), direction(hz, "high", "low"), 100 * fabs(sag), direction(sag, "large", "small"));
}
