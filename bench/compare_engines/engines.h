/* The same mechanisms in other engines, with springs and dampers as joint torques at the start of each step. */
#ifndef BOUGH_COMPARE_ENGINES_H
#define BOUGH_COMPARE_ENGINES_H

#include "subjects.h"

/* Bullet: reduced coordinates (btMultiBody), loops closed by point to point constraints. aba_only: without a world,
 * by its articulated body algorithm alone; only for trees. */
compare_result compare_bullet(const compare_subject &subject, bool aba_only);
/* ODE: maximal coordinates. quick: by its iterative solver, else by its direct one. */
compare_result compare_ode(const compare_subject &subject, bool quick, int steps_a_round);

/* For each joint of a description: true if it leads to a link for the first time. */
struct tree_of_joints {
    explicit tree_of_joints(const bough_mechanism_def &def) {
        bool *reached = new bool[def.link_count]();
        in_tree = new bool[def.joint_count]();
        reached[def.base] = true;
        for (int j = 0; j < def.joint_count; j++) {
            in_tree[j] = !reached[def.joints[j].child];
            reached[def.joints[j].child] = true;
        }
        delete[] reached;
    }
    ~tree_of_joints() {
        delete[] in_tree;
    }
    tree_of_joints(const tree_of_joints &) = delete;
    tree_of_joints &operator=(const tree_of_joints &) = delete;
    bool *in_tree;
};

#endif
