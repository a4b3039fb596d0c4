/* Equilibria of mechanisms that touch obstacles. */
#include "engine/rest.h"
#include "mechanism/engine_inside.h"

#define FARTHEST 0.05 /* radii, in a step */

/* Bodies that fly start where a scene has them; blends, whose step remembers more than where it is, likewise. */
bool bo_mechanism_can_rest(const mechanism_engine *e) {
    return e->l.around && e->l.m->body_count == 0 && e->l.kind != &bo_blended_linkage;
}

typedef struct {
    mechanism_engine *e;
    void (*load)(mechanism_engine *e);
    bough_pose *before;
} resting_mechanism;

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

/* As in bo_resting. */
static bough_status step_from_rest(void *data, double h, double *way) {
    const resting_mechanism *r = data;
    mechanism_engine *e = r->e;
    bo_linkage *l = &e->l;
    bo_state_block blocks[BO_MOST_BLOCKS];
    int64_t ignored = 0;
    const int count = l->kind->list_state(l, blocks);
    r->load(e);
    stop(l);
    bo_blocks_save(count, blocks, e->before);
    memcpy(r->before, l->poses, (size_t)l->m->link_count * sizeof *r->before);
    memcpy(l->around->gravity, l->kind->gravity(l), sizeof l->around->gravity);
    BO_TRY(l->kind->step(l, h, &ignored));
    l->kind->place(l);
    *way = way_of(l, r->before);
    if (*way > FARTHEST)
        bo_blocks_restore(count, blocks, e->before);
    return BOUGH_OK;
}

bough_status bo_mechanism_rest(mechanism_engine *e, void (*load)(mechanism_engine *e), bough_pose *before,
                               double *residual) {
    const bo_mechanism_plan *m = e->l.m;
    resting_mechanism mechanism = {e, load, before};
    bo_resting resting = {.step = step_from_rest,
                          .data = &mechanism,
                          .farthest = FARTHEST,
                          .unit = bough_mechanism_radius(m->mechanism),
                          .world = e->l.around,
                          .subject = "the mechanism"};
    memcpy(resting.gravity, e->l.kind->gravity(&e->l), sizeof resting.gravity);
    BO_TRY(bo_world_stand(e->l.ctx, e->l.around, m->obstacle_count, m->leads, 0));
    const bough_status status = bo_come_to_rest(e->l.ctx, &resting, residual);
    stop(&e->l);
    return status;
}
