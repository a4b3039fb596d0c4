/* Spanning trees and loops of random graphs, against what they must be. */
#include "test.h"

#include "rig/topology.h"

enum { MOST = 40 };

/* A random connected graph: a random tree, in random directions, and some joints more (also between the same bodies).
 */
static int32_t draw(test_random *r, int32_t bodies, int32_t more, bough_joint_def *joints) {
    int32_t count = 0;
    for (int32_t i = 1; i < bodies + more; i++) {
        const int32_t a = i < bodies ? i : (int32_t)(test_bits(r) % (uint64_t)bodies);
        int32_t b = a;
        while (b == a)
            b = (int32_t)(test_bits(r) % (uint64_t)(i < bodies ? i : bodies));
        const bool turned = test_bits(r) % 2;
        joints[count] = bough_default_joint_def();
        joints[count].parent.body = turned ? b : a, joints[count].child.body = turned ? a : b;
        count++;
    }
    return count;
}

/* The joint of the tree lies on the way from the body to the base. */
static bool is_beyond(const bo_topology *t, int32_t joint, int32_t body) {
    for (; t->up[body] >= 0; body = t->up[body])
        if (t->way[body].joint == joint)
            return true;
    return false;
}

static void check_tree(const bo_topology *t, int32_t bodies, const bough_joint_def *joints, int32_t base) {
    int32_t place[MOST], depth[MOST];
    check(t->lost == -1 && t->lost_count == 0 && t->order[0] == base && t->up[base] == -1);
    for (int32_t k = 0; k < bodies; k++)
        place[t->order[k]] = k;
    depth[base] = 0;
    for (int32_t k = 1; k < bodies; k++) {
        const int32_t body = t->order[k], up = t->up[body];
        const bough_joint_def *joint = &joints[t->way[body].joint];
        check(place[up] < k && place[body] == k);
        check_int(joint->child.body, t->way[body].sign > 0 ? body : up);
        check_int(joint->parent.body, t->way[body].sign > 0 ? up : body);
        depth[body] = depth[up] + 1;
        check(depth[body] >= depth[t->order[k - 1]]); /* breadth first */
    }
}

/* The joint that closes a loop carries a unit: -1 on its child, +1 on its parent. What each joint of the tree carries
 * is the sum of these beyond it. */
static void check_loops(const bo_topology *t, int32_t bodies, int32_t joint_count, const bough_joint_def *joints) {
    check_int(t->loop_count, joint_count - bodies + 1);
    for (int32_t l = 0; l < t->loop_count; l++) {
        const bough_joint_def *cut = &joints[t->cuts[l]];
        for (int32_t j = 0; j < joint_count; j++) {
            int32_t sum = 0, told = 0;
            sum -= is_beyond(t, j, cut->child.body), sum += is_beyond(t, j, cut->parent.body);
            for (int32_t k = t->loop_start[l]; k < t->loop_start[l + 1]; k++)
                told += t->loop_edges[k].joint == j ? t->loop_edges[k].sign : 0;
            check_int(told, sum);
        }
    }
}

static void trees_span_and_loops_close(void **unused) {
    (void)unused;
    bough_context *ctx = test_context(1);
    test_random random = {1};
    for (int round = 0; round < 300; round++) {
        const int32_t bodies = 2 + round % 20, base = (int32_t)(test_bits(&random) % (uint64_t)bodies);
        bough_joint_def joints[MOST];
        bo_topology t;
        const int32_t count = draw(&random, bodies, round % 7, joints);
        check_ok(ctx, bo_topology_find(ctx, bodies, count, joints, base, &t));
        check_tree(&t, bodies, joints, base);
        check_loops(&t, bodies, count, joints);
        bo_topology_free(ctx, &t);
    }
    bough_context_destroy(ctx);
}

static void what_is_not_connected_is_told(void **unused) {
    (void)unused;
    bough_context *ctx = test_context(1);
    test_random random = {2};
    bough_joint_def joints[MOST];
    bo_topology t;
    const int32_t count = draw(&random, 10, 3, joints);
    check_ok(ctx, bo_topology_find(ctx, 13, count, joints, 4, &t));
    check(t.lost == 10 && t.lost_count == 3 && t.loop_count == 0 && t.up[12] == -2);
    bo_topology_free(ctx, &t);
    check_ok(ctx, bo_topology_find(ctx, 13, count, joints, 11, &t));
    check(t.lost == 0 && t.lost_count == 12);
    bo_topology_free(ctx, &t);
    bough_context_destroy(ctx);
}

static void memory_may_be_short(void **unused) {
    (void)unused;
    test_random random = {3};
    bough_joint_def joints[MOST];
    const int32_t count = draw(&random, 10, 3, joints);
    for (long fail_at = 1;; fail_at++) {
        test_memory memory = {.fail_at = fail_at};
        bough_context *ctx = test_counting_context(&memory);
        bo_topology t;
        const bough_status status = bo_topology_find(ctx, 10, count, joints, 0, &t);
        bo_topology_free(ctx, &t);
        bough_context_destroy(ctx);
        check_int(memory.live, 0);
        if (status == BOUGH_OK)
            break;
        check_int(status, BOUGH_ERROR_MEMORY);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(trees_span_and_loops_close),
        cmocka_unit_test(what_is_not_connected_is_told),
        cmocka_unit_test(memory_may_be_short),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
