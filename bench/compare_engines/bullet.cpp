#include "engines.h"

#include <BulletDynamics/Featherstone/btMultiBody.h>
#include <BulletDynamics/Featherstone/btMultiBodyConstraintSolver.h>
#include <BulletDynamics/Featherstone/btMultiBodyDynamicsWorld.h>
#include <BulletDynamics/Featherstone/btMultiBodyLinkCollider.h>
#include <BulletDynamics/Featherstone/btMultiBodyPoint2Point.h>
#include <btBulletDynamicsCommon.h>

#include <vector>

namespace {

struct scene {
    const compare_subject *subject;
    btDefaultCollisionConfiguration configuration;
    btCollisionDispatcher dispatcher{&configuration};
    btDbvtBroadphase broadphase;
    btMultiBodyConstraintSolver solver;
    btMultiBodyDynamicsWorld world{&dispatcher, &broadphase, &solver, &configuration};
    btMultiBody *body = nullptr;
    std::vector<btMultiBodyPoint2Point *> closures;
    btSphereShape shape{btScalar(0.01)};
    std::vector<btMultiBodyLinkCollider *> colliders;
    std::vector<int> spring_of; /* joint of the description, of each link of the multibody */
    std::vector<int> closing;   /* joints that close loops */
    bool aba_only = false;
    btAlignedObjectArray<btScalar> scratch_r;
    btAlignedObjectArray<btVector3> scratch_v, offsets;
    btAlignedObjectArray<btMatrix3x3> scratch_m;
    btAlignedObjectArray<btQuaternion> rotations;
};

btMatrix3x3 matrix(const bough_pose &p) {
    const double *R = p.rotation;
    return btMatrix3x3(btScalar(R[0]), btScalar(R[1]), btScalar(R[2]), btScalar(R[3]), btScalar(R[4]), btScalar(R[5]),
                       btScalar(R[6]), btScalar(R[7]), btScalar(R[8]));
}
btVector3 vector(const double *x) {
    return btVector3(btScalar(x[0]), btScalar(x[1]), btScalar(x[2]));
}
btQuaternion quaternion(const btMatrix3x3 &R) {
    btQuaternion q;
    R.getRotation(q);
    return q;
}

/* Links keep their numbers, less one: link 0 is the base. Their frames are at their centres of mass already. */
void add_link(scene &s, const bough_joint_def &joint) {
    const bough_mechanism_def &def = *s.subject->def;
    const bough_rigid_body_def &link = def.links[joint.child.body];
    const btVector3 inertia(btScalar(link.inertia[0]), btScalar(link.inertia[4]), btScalar(link.inertia[8]));
    const btMatrix3x3 to_this = matrix(link.pose).transpose() * matrix(def.links[joint.parent.body].pose);
    const btVector3 in_parent = vector(joint.parent.pose.position), to_centre = -vector(joint.child.pose.position);
    if (joint.kind == BOUGH_JOINT_BALL)
        s.body->setupSpherical(joint.child.body - 1, btScalar(link.mass), inertia, joint.parent.body - 1, quaternion(to_this),
                               in_parent, to_centre, true);
    else
        s.body->setupRevolute(joint.child.body - 1, btScalar(link.mass), inertia, joint.parent.body - 1, quaternion(to_this),
                              matrix(joint.child.pose).getColumn(2), in_parent, to_centre, true);
}

/* The world solves constraints of links that have shapes only; these meet nothing. */
void add_collider(scene &s, int link) {
    btMultiBodyLinkCollider *collider = new btMultiBodyLinkCollider(s.body, link);
    collider->setCollisionShape(&s.shape);
    s.world.addCollisionObject(collider, 0, 0);
    if (link < 0)
        s.body->setBaseCollider(collider);
    else
        s.body->getLink(link).m_collider = collider;
    s.colliders.push_back(collider);
}

void build(scene &s) {
    const bough_mechanism_def &def = *s.subject->def;
    const tree_of_joints tree(def);
    s.world.setGravity(btVector3(0, 0, 0));
    s.body = new btMultiBody(def.link_count - 1, 0, btVector3(0, 0, 0), true, false);
    s.body->setBaseWorldTransform(btTransform(matrix(def.links[0].pose), vector(def.links[0].pose.position)));
    s.body->setHasSelfCollision(false);
    s.body->setLinearDamping(0);
    s.body->setAngularDamping(0);
    s.body->useGlobalVelocities(false);
    s.spring_of.resize(size_t(def.link_count - 1));
    for (int j = 0; j < def.joint_count; j++)
        if (tree.in_tree[j]) {
            add_link(s, def.joints[j]);
            s.spring_of[size_t(def.joints[j].child.body - 1)] = j;
        }
    s.body->finalizeMultiDof();
    s.world.addMultiBody(s.body);
    for (int j = 0; j < def.joint_count; j++)
        if (!tree.in_tree[j]) {
            const bough_joint_def &joint = def.joints[j];
            s.closures.push_back(new btMultiBodyPoint2Point(s.body, joint.parent.body - 1, s.body, joint.child.body - 1,
                                                            vector(joint.parent.pose.position),
                                                            vector(joint.child.pose.position)));
            s.closures.back()->setMaxAppliedImpulse(1e6);
            s.world.addMultiBodyConstraint(s.closures.back());
            s.closing.push_back(j);
        }
    for (int i = -1; i < s.body->getNumLinks() && !s.closing.empty(); i++)
        add_collider(s, i);
    s.body->forwardKinematics(s.rotations, s.offsets);
}

/* -k v - d v' of the rotation vector v between the links that a ball joins, in the child's axes */
void pull_ball(scene &s, int link, const bough_joint_def &joint) {
    const btScalar *q = s.body->getJointPosMultiDof(link), *rate = s.body->getJointVelMultiDof(link);
    const btVector3 v(q[0], q[1], q[2]);
    const btScalar length = v.length(), w = q[3] < 0 ? -q[3] : q[3], sign = q[3] < 0 ? btScalar(-1) : btScalar(1);
    const btScalar scale = length > btScalar(1e-9) ? 2 * sign * btAtan2(length, w) / length : 2 * sign;
    for (int a = 0; a < 3; a++)
        s.body->addJointTorqueMultiDof(
            link, a, -btScalar(joint.stiffness[a]) * scale * v[a] - btScalar(joint.damping[a]) * rate[a]);
}

/* Of a hinge that closes a loop of a planar mechanism: the links' turns about z are sums along their ways. */
void pull_closing(scene &s, const bough_joint_def &joint) {
    btScalar turn = 0, rate = 0;
    for (int side = 0; side < 2; side++)
        for (int i = (side ? joint.parent.body : joint.child.body) - 1; i >= 0; i = s.body->getParent(i)) {
            turn += (side ? -1 : 1) * s.body->getJointPos(i);
            rate += (side ? -1 : 1) * s.body->getJointVel(i);
        }
    const btVector3 torque(0, 0, -btScalar(joint.stiffness[0]) * turn - btScalar(joint.damping[0]) * rate);
    s.body->addLinkTorque(joint.child.body - 1, torque);
    if (joint.parent.body > 0)
        s.body->addLinkTorque(joint.parent.body - 1, -torque);
}

void step(void *data) {
    scene &s = *static_cast<scene *>(data);
    const bough_mechanism_def &def = *s.subject->def;
    if (s.aba_only)
        s.body->clearForcesAndTorques();
    for (int i = 0; i < s.body->getNumLinks(); i++) {
        const bough_joint_def &joint = def.joints[s.spring_of[size_t(i)]];
        if (joint.kind == BOUGH_JOINT_BALL)
            pull_ball(s, i, joint);
        else
            s.body->addJointTorque(i, -btScalar(joint.stiffness[0]) * s.body->getJointPos(i) -
                                          btScalar(joint.damping[0]) * s.body->getJointVel(i));
    }
    for (int j : s.closing)
        pull_closing(s, def.joints[j]);
    s.body->addLinkForce(def.link_count - 2, vector(s.subject->force));
    if (s.aba_only) {
        s.body->computeAccelerationsArticulatedBodyAlgorithmMultiDof(btScalar(COMPARE_DT), s.scratch_r, s.scratch_v,
                                                                     s.scratch_m, false, false, false);
        s.body->stepPositionsMultiDof(btScalar(COMPARE_DT));
    } else {
        s.world.stepSimulation(btScalar(COMPARE_DT), 0);
    }
    s.body->forwardKinematics(s.rotations, s.offsets);
}

void position(void *data, double out[3]) {
    scene &s = *static_cast<scene *>(data);
    const btVector3 p = s.body->getLink(s.body->getNumLinks() - 1).m_cachedWorldTransform.getOrigin();
    for (int d = 0; d < 3; d++)
        out[d] = double(p[d]);
}

} // namespace

compare_result compare_bullet(const compare_subject &subject, bool aba_only) {
    scene *s = new scene;
    s->subject = &subject;
    s->aba_only = aba_only;
    build(*s);
    const compare_result result = compare_measure(compare_engine{s, step, position}, 200);
    for (btMultiBodyPoint2Point *closure : s->closures) {
        s->world.removeMultiBodyConstraint(closure);
        delete closure;
    }
    for (btMultiBodyLinkCollider *collider : s->colliders) {
        s->world.removeCollisionObject(collider);
        delete collider;
    }
    s->world.removeMultiBody(s->body);
    delete s->body;
    delete s;
    return result;
}
