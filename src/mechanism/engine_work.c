/* The work done on a mechanism in a step by forces without a potential, by hands and by motors. */
#include "mechanism/engine_inside.h"

bough_status bo_mechanism_make_account(mechanism_engine *e) {
    e->pushes = BO_NEW_ARRAY(e->l.ctx, bo_mechanism_push, (size_t)e->l.m->load_count + BOUGH_RUN_HANDS + 1);
    return e->pushes ? BOUGH_OK : BOUGH_ERROR_MEMORY;
}

void bo_mechanism_free_account(mechanism_engine *e) {
    bo_free(e->l.ctx, e->pushes);
}

/* ---- forces: they are the same from the start of a step to its end, so that their work is f . dx + t . dphi ---- */

static bo_se3 pose_of(mechanism_engine *e, const bo_spot *spot) {
    bo_twist ignored;
    return bo_mechanism_rigid(e, spot->body ? e->l.m->link_count + spot->index : spot->index, &ignored);
}

void bo_mechanism_note_push(mechanism_engine *e, const bo_spot *spot, bo_vec3 force, bo_vec3 torque) {
    if (bo_dot(force, force) > 0 || bo_dot(torque, torque) > 0)
        e->pushes[e->push_count++] =
            (bo_mechanism_push){.spot = *spot, .force = force, .torque = torque, .start = pose_of(e, spot)};
}

static double work_of_push(mechanism_engine *e, const bo_mechanism_push *push) {
    const bo_se3 end = pose_of(e, &push->spot);
    const bo_vec3 at = bo_load3(push->spot.at);
    const bo_vec3 way = bo_sub(bo_se3_apply(end, at), bo_se3_apply(push->start, at));
    const bo_mat3 turn = bo_mat_mul(end.R, bo_transpose(push->start.R));
    const bo_vec3 angle = bo_se3_log((bo_se3){turn, bo_v3(0, 0, 0)}).w;
    return bo_dot(push->force, way) + bo_dot(push->torque, angle);
}

/* ---- motors: those of a step are where they are at its end from its start on. That changes the energy of a state that
 * stands still yet. ---- */

static double energy(mechanism_engine *e) {
    double kinetic, elastic, external;
    bo_mechanism_energies(e, &kinetic, &elastic, &external);
    return kinetic + elastic + external;
}

void bo_mechanism_note_motors(mechanism_engine *e, void (*drive)(mechanism_engine *e, double t), double t) {
    const bool any = e->l.m->motor_count > 0;
    const double before = any ? energy(e) : 0;
    drive(e, t);
    e->motor_work = any ? energy(e) - before : 0;
}

void bo_mechanism_count_work(mechanism_engine *e) {
    e->work += e->motor_work;
    for (int32_t i = 0; i < e->push_count; i++)
        e->work += work_of_push(e, &e->pushes[i]);
}
