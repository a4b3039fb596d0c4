/* Rigid bodies: what is refused, and by which name. */
#include "test.h"

#include "rig/body.h"

static void bad_bodies_are_refused(void **unused) {
    (void)unused;
    bough_context *ctx = test_context(1);
    const bough_rigid_body_def good = bough_default_rigid_body_def();
    bough_rigid_body_def body;
    check_ok(ctx, bo_rigid_body_check(ctx, "body 0", &good, false));
#define REFUSED(change, part)                                                                              \
    do {                                                                                                   \
        body = good;                                                                                       \
        change;                                                                                            \
        check_fails(ctx, bo_rigid_body_check(ctx, "body 0", &body, false), BOUGH_ERROR_ARGUMENT, part);    \
        check(body.cookie != good.cookie || !strncmp(bough_message(ctx), "body 0: ", strlen("body 0: "))); \
    } while (0)
    REFUSED(body.cookie = 1, "bough_default_rigid_body_def()");
    REFUSED(body.mass = 0, "its mass is 0 kg");
    REFUSED(body.mass = INFINITY, "finite");
    REFUSED(body.centre[2] = NAN, "finite");
    REFUSED(body.inertia[4] = -1, "positive definite");
    REFUSED(body.inertia[1] = 0.005, "symmetric");
    REFUSED(body.pose.rotation[0] = -1, "rotation matrix");
    REFUSED(body.twist[5] = NAN, "velocity and spin");
    REFUSED(body.restitution = 1.5, "its restitution is 1.5");
    REFUSED(body.friction = -0.1, "its friction is -0.1");
    REFUSED(body.shape_count = -1, "-1 shapes");
    REFUSED(body.shape_count = 2, "2 shapes"); /* and no list of them */
#undef REFUSED
    bough_context_destroy(ctx);
}

/* Something that is held has no need of mass and inertia, but what it has must be numbers. */
static void what_is_held_needs_no_mass(void **unused) {
    (void)unused;
    bough_context *ctx = test_context(1);
    bough_rigid_body_def body = bough_default_rigid_body_def();
    body.mass = 0;
    memset(body.inertia, 0, sizeof body.inertia);
    check_ok(ctx, bo_rigid_body_check(ctx, "link 0", &body, true));
    check_fails(ctx, bo_rigid_body_check(ctx, "link 0", &body, false), BOUGH_ERROR_ARGUMENT, "needs a mass above 0");
    body.mass = NAN;
    check_fails(ctx, bo_rigid_body_check(ctx, "link 0", &body, true), BOUGH_ERROR_ARGUMENT, "finite");
    bough_context_destroy(ctx);
}

static void labels_have_numbers_and_names(void **unused) {
    (void)unused;
    bough_rigid_body_def body = bough_default_rigid_body_def();
    check(!strcmp(bo_rigid_body_label("link", 3, &body).text, "link 3"));
    body.name = "elbow";
    check(!strcmp(bo_rigid_body_label("link", 3, &body).text, "link 3 (elbow)"));
    body.cookie = 0; /* then the name may be anything */
    check(!strcmp(bo_rigid_body_label("link", 3, &body).text, "link 3"));
    char name[200];
    memset(name, 'x', sizeof name - 1), name[sizeof name - 1] = 0;
    check(strlen(bo_label_of("link", 2000000000, name).text) < sizeof((bo_label *)0)->text);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(bad_bodies_are_refused),
        cmocka_unit_test(what_is_held_needs_no_mass),
        cmocka_unit_test(labels_have_numbers_and_names),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
