#include "engines.h"

#include <ode/ode.h>

#include <cmath>
#include <vector>

namespace {

struct scene {
    const compare_subject *subject;
    dWorldID world;
    std::vector<dBodyID> bodies; /* of the links; none of the base */
    std::vector<dJointID> joints;
    struct rest_turn {
        dQuaternion q;
    };
    std::vector<rest_turn> rest; /* of each joint: the child against the parent */
    bool quick;
};

dBodyID add_body(scene &s, const bough_rigid_body_def &link) {
    dBodyID body = dBodyCreate(s.world);
    dMass mass;
    dMassSetParameters(&mass, dReal(link.mass), 0, 0, 0, dReal(link.inertia[0]), dReal(link.inertia[4]),
                       dReal(link.inertia[8]), 0, 0, 0);
    const double *R = link.pose.rotation, *p = link.pose.position;
    const dMatrix3 rotation = {dReal(R[0]), dReal(R[1]), dReal(R[2]), 0,           dReal(R[3]), dReal(R[4]),
                               dReal(R[5]), 0,           dReal(R[6]), dReal(R[7]), dReal(R[8]), 0};
    dBodySetMass(body, &mass);
    dBodySetRotation(body, rotation);
    dBodySetPosition(body, dReal(p[0]), dReal(p[1]), dReal(p[2]));
    dBodySetAutoDisableFlag(body, 0);
    return body;
}

/* q of the child against the parent; the base does not turn */
void relative(const scene &s, const bough_joint_def &joint, dQuaternion q) {
    const dReal *child = dBodyGetQuaternion(s.bodies[size_t(joint.child.body)]);
    if (s.bodies[size_t(joint.parent.body)])
        dQMultiply1(q, dBodyGetQuaternion(s.bodies[size_t(joint.parent.body)]), child);
    else
        for (int k = 0; k < 4; k++)
            q[k] = child[k];
}

/* A frame that is given in a link's, in the world: position and axis z. */
void in_world(const bough_rigid_body_def &link, const bough_pose &frame, double p[3], double z[3]) {
    for (int i = 0; i < 3; i++) {
        p[i] = link.pose.position[i];
        z[i] = 0;
        for (int k = 0; k < 3; k++) {
            p[i] += link.pose.rotation[3 * i + k] * frame.position[k];
            z[i] += link.pose.rotation[3 * i + k] * frame.rotation[3 * k + 2];
        }
    }
}

void build(scene &s) {
    const bough_mechanism_def &def = *s.subject->def;
    s.world = dWorldCreate();
    dWorldSetGravity(s.world, 0, 0, 0);
    for (int i = 0; i < def.link_count; i++)
        s.bodies.push_back(i == def.base ? nullptr : add_body(s, def.links[i]));
    for (int j = 0; j < def.joint_count; j++) {
        const bough_joint_def &joint = def.joints[j];
        const bool ball = joint.kind == BOUGH_JOINT_BALL;
        double p[3], z[3];
        dJointID made = ball ? dJointCreateBall(s.world, nullptr) : dJointCreateHinge(s.world, nullptr);
        in_world(def.links[joint.parent.body], joint.parent.pose, p, z);
        dJointAttach(made, s.bodies[size_t(joint.child.body)], s.bodies[size_t(joint.parent.body)]);
        if (ball)
            dJointSetBallAnchor(made, dReal(p[0]), dReal(p[1]), dReal(p[2]));
        else
            dJointSetHingeAnchor(made, dReal(p[0]), dReal(p[1]), dReal(p[2]));
        if (!ball)
            dJointSetHingeAxis(made, dReal(z[0]), dReal(z[1]), dReal(z[2]));
        s.joints.push_back(made);
        scene::rest_turn rest;
        relative(s, joint, rest.q);
        s.rest.push_back(rest);
    }
}

void pull_ball(scene &s, size_t j, const bough_joint_def &joint) {
    dBodyID child = s.bodies[size_t(joint.child.body)], parent = s.bodies[size_t(joint.parent.body)];
    dQuaternion now, turn;
    dVector3 torque;
    relative(s, joint, now);
    dQMultiply1(turn, s.rest[j].q, now); /* in the child's axes */
    const dReal length = std::sqrt(turn[1] * turn[1] + turn[2] * turn[2] + turn[3] * turn[3]);
    const dReal sign = turn[0] < 0 ? -1 : 1;
    const dReal scale = length > 1e-12 ? 2 * sign * std::atan2(length, sign * turn[0]) / length : 2 * sign;
    dVector3 v = {-dReal(joint.stiffness[0]) * scale * turn[1], -dReal(joint.stiffness[1]) * scale * turn[2],
                  -dReal(joint.stiffness[2]) * scale * turn[3], 0};
    dBodyVectorToWorld(child, v[0], v[1], v[2], torque);
    const dReal *w = dBodyGetAngularVel(child), *wp = parent ? dBodyGetAngularVel(parent) : nullptr;
    for (int k = 0; k < 3; k++)
        torque[k] -= dReal(joint.damping[k]) * (w[k] - (wp ? wp[k] : 0));
    dBodyAddTorque(child, torque[0], torque[1], torque[2]);
    if (parent)
        dBodyAddTorque(parent, -torque[0], -torque[1], -torque[2]);
}

void step(void *data) {
    scene &s = *static_cast<scene *>(data);
    const bough_mechanism_def &def = *s.subject->def;
    for (size_t j = 0; j < s.joints.size(); j++) {
        const bough_joint_def &joint = def.joints[j];
        if (joint.kind == BOUGH_JOINT_BALL)
            pull_ball(s, j, joint);
        else
            dJointAddHingeTorque(s.joints[j], -dReal(joint.stiffness[0]) * dJointGetHingeAngle(s.joints[j]) -
                                                  dReal(joint.damping[0]) * dJointGetHingeAngleRate(s.joints[j]));
    }
    const double *f = s.subject->force;
    dBodyAddForce(s.bodies.back(), dReal(f[0]), dReal(f[1]), dReal(f[2]));
    if (s.quick)
        dWorldQuickStep(s.world, dReal(COMPARE_DT));
    else
        dWorldStep(s.world, dReal(COMPARE_DT));
}

void position(void *data, double out[3]) {
    const scene &s = *static_cast<scene *>(data);
    const dReal *p = dBodyGetPosition(s.bodies.back());
    for (int d = 0; d < 3; d++)
        out[d] = double(p[d]);
}

} // namespace

compare_result compare_ode(const compare_subject &subject, bool quick, int steps_a_round) {
    dInitODE2(0);
    scene s;
    s.subject = &subject;
    s.quick = quick;
    build(s);
    const compare_result result = compare_measure(compare_engine{&s, step, position}, steps_a_round);
    dWorldDestroy(s.world);
    dCloseODE();
    return result;
}
