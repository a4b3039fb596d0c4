/* The recursion from the base outwards (Andrews, Teichmann, Kry), corrected. docs/theory/mechanism.md, "The recursion".
 *
 * Joints lead from parent to child away from the base. In topological order a link with one parent adds its joint's G
 * to the parent's compliance; one with several is closed against its first parent, as if it were that many superimposed
 * links whose compliances meet in their last common ancestor. Wrenches then go back to the base in reverse order,
 * shared out at merges, and twists out again as sums along one way. */
#include "mechanism/statics.h"

#include <string.h>

typedef struct {
    bo_statics *s;
    int32_t *start, *into; /* of each link: the joints whose child it is */
    int32_t *order;        /* topological */
    int32_t *meet;         /* of each link: the last through which all ways to it pass; -1: it is the base */
    int32_t *rank;         /* of each link in order */
    double *C;             /* 6 x 6 a link: its own compliance */
    double *share;         /* 6 x 6 a joint: of a wrench on its child */
} recursion;

static void list_joints(recursion *r) {
    const bough_mechanism *m = r->s->mechanism;
    for (int32_t j = 0; j < m->def.joint_count; j++)
        r->start[m->joints[j].child + 1]++;
    for (int32_t i = 0; i < m->def.link_count; i++)
        r->start[i + 1] += r->start[i];
    for (int32_t j = m->def.joint_count - 1; j >= 0; j--)
        r->into[--r->start[m->joints[j].child + 1]] = j;
    for (int32_t i = 0; i < m->def.link_count; i++)
        r->start[i] = r->start[i + 1];
    r->start[m->def.link_count] = m->def.joint_count;
}

/* A link follows all its parents. Sweeps in the order of the spanning tree find it in as many rounds as ways turn back
 * against that order; links that are never reached lie on a circle or have no parent. */
static bough_status sort_links(bough_context *ctx, recursion *r) {
    const bough_mechanism *m = r->s->mechanism;
    int32_t count = 0;
    for (int32_t i = 0; i < m->def.link_count; i++)
        r->rank[i] = -1;
    if (r->start[m->def.base + 1] > r->start[m->def.base])
        return bo_fail(ctx, BOUGH_ERROR_ARGUMENT,
                       "recursive statics need joints that lead away from the base, but the base is the child of joint "
                       "%d; exchange its parent and child, or use the exact method",
                       r->into[r->start[m->def.base]]);
    r->order[count] = m->def.base, r->rank[m->def.base] = count++;
    for (int32_t before = 0; before < count && count < m->def.link_count;) {
        before = count;
        for (int32_t k = 0; k < m->def.link_count; k++) {
            const int32_t i = m->topology.order[k];
            bool ready = r->rank[i] < 0 && r->start[i + 1] > r->start[i];
            for (int32_t q = r->start[i]; q < r->start[i + 1] && ready; q++)
                ready = r->rank[m->joints[r->into[q]].parent] >= 0;
            if (ready)
                r->order[count] = i, r->rank[i] = count++;
        }
    }
    for (int32_t i = 0; i < m->def.link_count && count < m->def.link_count; i++)
        if (r->rank[i] < 0)
            return bo_fail(
                ctx, BOUGH_ERROR_ARGUMENT,
                "recursive statics need joints that lead away from the base, but link %d is not reached that "
                "way; exchange parent and child of joints, or use the exact method",
                i);
    return BOUGH_OK;
}

/* The last link through which all ways to a and to b pass. */
static int32_t common(const recursion *r, int32_t a, int32_t b) {
    while (a != b)
        if (r->rank[a] > r->rank[b])
            a = r->meet[a];
        else
            b = r->meet[b];
    return a;
}

static void identity(double *A) {
    memset(A, 0, 36 * sizeof(double));
    for (int k = 0; k < 6; k++)
        A[7 * k] = 1;
}

/* Compliance of the superimposed link at the end of joint `a` by a wrench on the one at the end of joint `b`. */
static void virtual_compliance(const recursion *r, int32_t a, int32_t b, double *C) {
    const bo_mechanism_joint *joints = r->s->mechanism->joints;
    memcpy(C, r->C + 36 * (size_t)common(r, joints[a].parent, joints[b].parent), 36 * sizeof(double));
    if (a == b) {
        memcpy(C, r->C + 36 * (size_t)joints[a].parent, 36 * sizeof(double));
        bo_add6(C, 1, r->s->joints[a].G);
    }
}

/* With w_0 = w - sum w_a, the gaps C_a w - C_0 w = 0 are those of loops: Lam_ab = C_ab - C_0b - C_a0 + C_00,
 * right-hand sides C_00 - C_a0. The compliance is the twist of the first, C_00 + sum (C_0a - C_00) w_a: the multiplier
 * block of the paper's equation 17. */
static bough_status merge(bough_context *ctx, recursion *r, int32_t link) {
    const int32_t *joints = r->into + r->start[link];
    const int32_t others = r->start[link + 1] - r->start[link] - 1;
    const size_t n = 6 * (size_t)others;
    double *Lam = BO_NEW_ZEROS(ctx, double, n *n), *f = BO_NEW_ARRAY(ctx, double, n * 6);
    double *scratch = BO_NEW_ARRAY(ctx, double, n *(n + 12)), C00[36], *C = r->C + 36 * (size_t)link;
    bough_status status = Lam && f && scratch ? BOUGH_OK : bo_fail_memory(ctx);
    virtual_compliance(r, joints[0], joints[0], C00);
    for (int32_t a = 0; a < others && status == BOUGH_OK; a++) {
        double Ca0[36], Cab[36], C0b[36];
        virtual_compliance(r, joints[a + 1], joints[0], Ca0);
        for (size_t k = 0; k < 36; k++)
            f[36 * (size_t)a + k] = C00[k] - Ca0[k];
        for (int32_t b = 0; b < others; b++) {
            virtual_compliance(r, joints[a + 1], joints[b + 1], Cab);
            virtual_compliance(r, joints[0], joints[b + 1], C0b);
            for (size_t k = 0; k < 36; k++)
                Lam[(6 * (size_t)a + k / 6) * n + 6 * (size_t)b + k % 6] = Cab[k] - C0b[k] - Ca0[k] + C00[k];
        }
    }
    if (status == BOUGH_OK)
        status = bo_close_loops(ctx, (int32_t)n, Lam, r->s->mechanism->radius, 6, f, scratch);
    if (status == BOUGH_OK) {
        double *first = r->share + 36 * (size_t)joints[0];
        identity(first);
        memcpy(C, C00, sizeof C00);
        for (int32_t a = 0; a < others; a++) {
            double C0a[36];
            memcpy(r->share + 36 * (size_t)joints[a + 1], f + 36 * (size_t)a, 36 * sizeof(double));
            bo_add6(first, -1, f + 36 * (size_t)a);
            virtual_compliance(r, joints[0], joints[a + 1], C0a);
            bo_add6(C0a, -1, C00);
            bo_multiply_add6(C, 1, C0a, f + 36 * (size_t)a);
        }
    }
    bo_free(ctx, Lam);
    bo_free(ctx, f);
    bo_free(ctx, scratch);
    return status;
}

static bough_status grow(bough_context *ctx, recursion *r) {
    const bough_mechanism *m = r->s->mechanism;
    r->meet[m->def.base] = -1;
    for (int32_t k = 1; k < m->def.link_count; k++) {
        const int32_t i = r->order[k], first = r->into[r->start[i]];
        r->meet[i] = m->joints[first].parent;
        for (int32_t q = r->start[i] + 1; q < r->start[i + 1]; q++)
            r->meet[i] = common(r, r->meet[i], m->joints[r->into[q]].parent);
        if (r->start[i + 1] - r->start[i] > 1) {
            BO_TRY(merge(ctx, r, i));
        } else {
            virtual_compliance(r, first, first, r->C + 36 * (size_t)i);
            identity(r->share + 36 * (size_t)first);
        }
    }
    return BOUGH_OK;
}

/* Wrenches on links, which come from all ways and add up; `onto`: 6 x 6 a link and end effector, zero. */
static void hand_down(recursion *r, double *onto) {
    bo_statics *s = r->s;
    const bough_mechanism *m = s->mechanism;
    const int32_t count = s->end_effector_count;
    for (int32_t e = 0; e < count; e++)
        identity(bo_block(onto, count, s->end_effectors[e].body, e));
    for (int32_t k = m->def.link_count - 1; k > 0; k--) {
        const int32_t i = r->order[k];
        for (int32_t q = r->start[i]; q < r->start[i + 1]; q++)
            for (int32_t e = 0; e < count; e++) {
                const int32_t j = r->into[q];
                double *f = bo_block(s->carried, count, j, e);
                bo_multiply_add6(f, 1, r->share + 36 * (size_t)j, bo_block(onto, count, i, e));
                bo_add6(bo_block(onto, count, m->joints[j].parent, e), 1, f);
            }
    }
}

static void add_up(recursion *r) {
    bo_statics *s = r->s;
    const bough_mechanism *m = s->mechanism;
    const int32_t count = s->end_effector_count;
    for (int32_t k = 1; k < m->def.link_count; k++) {
        const int32_t i = r->order[k], j = r->into[r->start[i]];
        for (int32_t e = 0; e < count; e++) {
            double *T = bo_block(s->twists, count, i, e);
            memcpy(T, bo_block(s->twists, count, m->joints[j].parent, e), 36 * sizeof(double));
            bo_multiply_add6(T, 1, s->joints[j].G, bo_block(s->carried, count, j, e));
        }
    }
}

bough_status bo_statics_recursive(bough_context *ctx, bo_statics *s) {
    const bough_mechanism_def *def = &s->mechanism->def;
    for (int32_t j = 0; j < def->joint_count; j++)
        for (int a = 0; a < s->mechanism->joints[j].freedoms; a++)
            if (s->mechanism->joints[j].slack[a] != 0)
                return bo_fail(ctx, BOUGH_ERROR_UNSUPPORTED,
                               "recursive statics know no offsets of springs, as joint %d has; use the exact method",
                               j);
    recursion r = {.s = s};
    r.start = BO_NEW_ZEROS(ctx, int32_t, def->link_count + 2);
    r.into = BO_NEW_ARRAY(ctx, int32_t, def->joint_count);
    r.order = BO_NEW_ARRAY(ctx, int32_t, def->link_count);
    r.meet = BO_NEW_ARRAY(ctx, int32_t, def->link_count);
    r.rank = BO_NEW_ARRAY(ctx, int32_t, def->link_count);
    r.C = BO_NEW_ZEROS(ctx, double, 36 * (size_t)def->link_count);
    r.share = BO_NEW_ZEROS(ctx, double, 36 * (size_t)def->joint_count);
    double *onto = BO_NEW_ZEROS(ctx, double, 36 * (size_t)def->link_count * (size_t)s->end_effector_count);
    bough_status status = BOUGH_OK;
    if (!r.start || !r.into || !r.order || !r.meet || !r.rank || !r.C || !r.share || !onto) {
        status = bo_fail_memory(ctx);
    } else {
        list_joints(&r);
        status = sort_links(ctx, &r);
        if (status == BOUGH_OK)
            status = grow(ctx, &r);
        if (status == BOUGH_OK) {
            hand_down(&r, onto);
            add_up(&r);
        }
    }
    void *const blocks[] = {r.start, r.into, r.order, r.meet, r.rank, r.C, r.share, onto};
    for (size_t k = 0; k < sizeof blocks / sizeof *blocks; k++)
        bo_free(ctx, blocks[k]);
    return status;
}
