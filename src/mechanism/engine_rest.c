/* Equilibria of mechanisms that touch obstacles: how they come to rest when they are let go in something viscous.
 * docs/theory/contact.md, "Equilibria". */
#include "mechanism/engine_inside.h"

#define STILL 1e-9    /* of gravity: the acceleration that is left */
#define BALANCED 1e-6 /* the same where friction and the search for impulses leave no less */
#define SHORTEST 1e-6 /* s */
#define LONGEST 10.0  /* s: steps in which nothing touches */
#define TOUCHING 0.02 /* s: others */
#define FARTHEST 0.05 /* radii, in a step: directions of contacts are those of its start */

/* Bodies that fly start where a scene has them; blends, whose step remembers more than where it is, likewise. */
bool bo_mechanism_can_rest(const mechanism_engine *e) {
    return e->l.around && e->l.m->body_count == 0 && e->l.kind != &bo_blended_linkage;
}

static bough_status place_obstacles(const mechanism_engine *e) {
    static const double none[3] = {0, 0, 0};
    const bo_mechanism_plan *m = e->l.m;
    for (int32_t i = 0; m->leads && i < m->obstacle_count; i++) {
        if (!m->leads[i].pose)
            continue;
        const bough_pose pose = bo_put_pose(m->leads[i].pose(m->leads[i].data, 0));
        BO_TRY(bough_contact_world_move(e->l.ctx, e->l.around, i, &pose, none, none));
    }
    return BOUGH_OK;
}

static void stop(const bo_linkage *l) {
    bo_state_block blocks[BO_MOST_BLOCKS];
    const int count = l->kind->list_state(l, blocks);
    for (int i = 0; i < count; i++)
        if (blocks[i].motion && blocks[i].count > 0)
            memset(blocks[i].numbers, 0, blocks[i].count * sizeof(double));
}

/* The furthest that a link has come in a step, with what it has turned at the radius of the whole, in radii. */
static double way_of(const bo_linkage *l, const bough_pose *before) {
    const double radius = bough_mechanism_radius(l->m->mechanism);
    double most = 0;
    for (int32_t i = 0; i < l->m->link_count; i++) {
        const bo_twist t = bo_se3_log(bo_se3_mul(bo_se3_inverse(bo_pose(&before[i])), bo_pose(&l->poses[i])));
        most = fmax(most, bo_norm(t.v) / radius + bo_norm(t.w));
    }
    return most;
}

/* A step of length h from rest. *way: how far it goes, radii. Where it fails, or goes too far, nothing has moved. */
static bough_status step_from_rest(mechanism_engine *e, void (*load)(mechanism_engine *e), double h, bough_pose *before,
                                   double *way) {
    bo_linkage *l = &e->l;
    bo_state_block blocks[BO_MOST_BLOCKS];
    int64_t ignored = 0;
    const int count = l->kind->list_state(l, blocks);
    load(e);
    stop(l);
    bo_blocks_save(count, blocks, e->before);
    memcpy(before, l->poses, (size_t)l->m->link_count * sizeof *before);
    memcpy(l->around->gravity, l->kind->gravity(l), sizeof l->around->gravity);
    BO_TRY(l->kind->step(l, h, &ignored));
    l->kind->place(l);
    *way = way_of(l, before);
    if (*way > FARTHEST)
        bo_blocks_restore(count, blocks, e->before);
    return BOUGH_OK;
}

static bough_status fail_to_rest(const mechanism_engine *e, double way) {
    return bo_fail(e->l.ctx, BOUGH_NO_CONVERGENCE,
                   "no equilibrium was found: nothing holds the mechanism where it is (it still moves, by %.2g of its "
                   "radius in a step); begin without \"settle\"",
                   way);
}

static double acceleration_of(const mechanism_engine *e, double way, double h) {
    const double *gravity = e->l.kind->gravity(&e->l), g = bo_norm(bo_load3(gravity));
    return way * bough_mechanism_radius(e->l.m->mechanism) / (h * h * (g > 0 ? g : 1));
}

static bough_status come_to_rest(mechanism_engine *e, void (*load)(mechanism_engine *e), bough_pose *before,
                                 double *residual) {
    enum { MOST_STEPS = 5000, ENOUGH = 200 };
    double h = 0.01, most = LONGEST, way = 0;
    for (int k = 0, balanced = 0; k < MOST_STEPS; k++) {
        const bough_status status = step_from_rest(e, load, h, before, &way);
        if (status != BOUGH_OK && status != BOUGH_NO_CONVERGENCE && status != BOUGH_NOT_FINITE)
            return status;
        if (status != BOUGH_OK || way > FARTHEST) {
            most = 0.7 * h, h *= 0.25;
            if (h < SHORTEST)
                return status != BOUGH_OK ? status : fail_to_rest(e, way);
            continue;
        }
        *residual = acceleration_of(e, way, h);
        balanced = *residual <= BALANCED ? balanced + 1 : 0;
        if (h >= 0.5 * TOUCHING && (*residual <= STILL || balanced >= ENOUGH))
            return BOUGH_OK;
        most = fmin(1.02 * most, LONGEST);
        h = fmin(fmin(1.5 * h, most), e->l.around->contact_count > 0 ? TOUCHING : LONGEST);
        if (k > 3 && !bo_progress(e->l.ctx, "settling", -1, "step %d, %.1e of the weight is left", k, *residual))
            return bo_fail_cancelled(e->l.ctx);
    }
    return fail_to_rest(e, way);
}

bough_status bo_mechanism_rest(mechanism_engine *e, void (*load)(mechanism_engine *e), bough_pose *before,
                               double *residual) {
    BO_TRY(place_obstacles(e));
    const bough_status status = come_to_rest(e, load, before, residual);
    stop(&e->l);
    return status;
}
