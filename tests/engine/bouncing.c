/* An engine as a stranger would write it: a point that falls and bounces, {"bough": 1, "bouncing": {"height": 1}}. All
 * that it is made of stands here; registering it (below) is all that the rest of the program hears of it. */
#include "scene/registry.h"
#include "scene/scene.h"

#include <math.h>

typedef struct {
    bough_context *ctx;
    double z, v, mass, restitution, gravity, lost; /* lost: J, in all bounces so far */
    const bo_hands *hands;
} ball;

static const double corners[18] = {0.1, 0, 0, -0.1, 0, 0, 0, 0.1, 0, 0, -0.1, 0, 0, 0, 0.1, 0, 0, -0.1};
static const int32_t faces[24] = {0, 2, 4, 2, 1, 4, 1, 3, 4, 3, 0, 4, 2, 0, 5, 1, 2, 5, 3, 1, 5, 0, 3, 5};
static const bough_look look = {
    .vertex_count = 6, .triangle_count = 8, .vertices = corners, .triangles = faces, .colour = {0.9, 0.3, 0.2}};
static const bough_thing thing = {.name = "ball",
                                  .kind = "ball",
                                  .parent = -1,
                                  .drawing = BOUGH_DRAWN_RIGID,
                                  .scale = 1,
                                  .stiffness = 1,
                                  .mass = 1,
                                  .rest = {.rotation = {1, 0, 0, 0, 1, 0, 0, 0, 1}},
                                  .vertex_count = 6};

static void destroy(bough_context *ctx, void *data) {
    bo_free(ctx, data);
}

/* Exact between bounces: parabolas, cut where they meet the ground. */
static bough_status step(void *data, double t, double h, int64_t *iterations) {
    ball *b = data;
    (void)t, (void)iterations;
    if (b->hands && b->hands->poke.holds)
        b->v += b->hands->poke.target[2] * h / b->mass;
    for (int bounces = 0; h > 0 && bounces < 100; bounces++) {
        const double root = sqrt(b->v * b->v + 2 * b->gravity * b->z), hit = (b->v + root) / b->gravity;
        const double part = hit < h ? hit : h;
        b->z = hit < h ? 0 : b->z + part * b->v - 0.5 * part * part * b->gravity;
        b->v -= part * b->gravity;
        if (hit < h) {
            const double up = -b->restitution * b->v;
            b->lost += 0.5 * b->mass * (b->v * b->v - up * up);
            b->v = up;
        }
        h -= part;
    }
    return BOUGH_OK;
}

static bough_status measure(void *data, double t, double *values) {
    const ball *b = data;
    for (int i = 0; i < BOUGH_COLUMN_PROBES; i++)
        values[i] = i == BOUGH_COLUMN_TIME ? t : 0;
    values[BOUGH_COLUMN_KINETIC] = 0.5 * b->mass * b->v * b->v;
    values[BOUGH_COLUMN_EXTERNAL] = b->mass * b->gravity * b->z;
    values[BOUGH_COLUMN_TOTAL] = values[BOUGH_COLUMN_KINETIC] + values[BOUGH_COLUMN_EXTERNAL];
    values[BOUGH_COLUMN_MOMENTUM + 2] = b->mass * b->v;
    return BOUGH_OK;
}

static double work(const void *data, double *doubt) {
    *doubt = 0;
    return -((const ball *)data)->lost;
}

static int64_t state_size(const void *data) {
    (void)data;
    return 3;
}
static void save(const void *data, double *state) {
    const ball *b = data;
    state[0] = b->z, state[1] = b->v, state[2] = b->lost;
}
static bough_status restore(void *data, const double *state, int64_t size) {
    ball *b = data;
    if (size != 3)
        return bo_fail(b->ctx, BOUGH_ERROR_FORMAT, "this is no state of a ball");
    b->z = state[0], b->v = state[1], b->lost = state[2];
    return BOUGH_OK;
}

static bough_status gather(bo_engine *engine) {
    engine->things = &thing, engine->thing_count = 1;
    engine->looks = &look, engine->look_count = 1;
    return BOUGH_OK;
}
static void look_at(void *data, int32_t i, bough_thing_state *state) {
    const ball *b = data;
    *state =
        (bough_thing_state){.frame = {.pose = bough_default_pose()}, .parent = -1, .there = i == 0, .stiffness = 1};
    state->frame.pose.position[2] = b->z, state->frame.velocity[2] = b->v;
}
static void take_hands(void *data, const bo_hands *hands) {
    ((ball *)data)->hands = hands;
}
static void feel(void *data, int32_t i, double *mass, double *frequency) {
    *mass = ((ball *)data)->mass, *frequency = i == 0 ? 1 : 0;
}

static const bo_engine_kind kind = {.name = "bouncing",
                                    .label = "bouncing",
                                    .title = "the bouncing engine",
                                    .things = "a ball stays whole",
                                    .can = BOUGH_CAN_PULL,
                                    .destroy = destroy,
                                    .step = step,
                                    .measure = measure,
                                    .work = work,
                                    .state_size = state_size,
                                    .save = save,
                                    .restore = restore,
                                    .gather = gather,
                                    .look_at = look_at,
                                    .take_hands = take_hands,
                                    .feel = feel};

static bough_status create(bough_context *ctx, const bough_scene *scene, const bo_engine_settings *settings,
                           bo_engine *engine) {
    ball *b = BO_NEW(ctx, ball);
    *engine = (bo_engine){.kind = &kind, .data = b, .residual = NAN, .integrator = settings->integrator.name};
    if (!b)
        return BOUGH_ERROR_MEMORY;
    *b = *(const ball *)scene->content, b->ctx = ctx;
    return bo_engine_name_columns(ctx, engine, 0, NULL);
}

static bool recognise(const bo_json *root) {
    return bo_json_has(root, "bouncing");
}
static bough_status read_scene(const bo_json *root, bough_scene *scene) {
    bo_json at = bo_json_at(root, "bouncing");
    ball *b = scene->content = BO_NEW(root->ctx, ball);
    if (!b)
        return BOUGH_ERROR_MEMORY;
    *b = (ball){.mass = 1, .restitution = 0.8, .gravity = 9.81};
    BO_TRY(bo_json_number(bo_json_at(&at, "height"), BO_NOT_NEGATIVE, &b->z));
    BO_TRY(bo_scene_time(bo_json_at(root, "time"), scene));
    scene->gravity[2] = -b->gravity;
    return BOUGH_OK;
}

static const bo_scene_engine engines[] = {{.kind = &kind, .create = create}};
static const bo_scene_kind bouncing = {"bouncing", "a ball", recognise, read_scene, destroy, 1, engines, NULL};

__attribute__((constructor)) static void enter(void) {
    bo_scene_register(&bouncing);
}
