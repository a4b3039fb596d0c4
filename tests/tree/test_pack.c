/* Packs: what comes back is the model that was saved, and whatever the bytes are, reading refuses them or gives a model
 * that can be used. */
#include "../component/draft.h"
#include "joints.h"

#include "component/image.h"
#include "tree/tree.h"

enum { COMPONENTS = 3, PARTS = 5, KEYS = 3 };

typedef struct {
    bough_context *ctx;
    draft *drafts[COMPONENTS];
    bough_component *components[COMPONENTS];
    bough_part_def parts[PARTS];
    bough_joint_def ties[2];
    bough_tree_model_def def;
    bough_tree_model *model;
} nursery;

static const double key_times[KEYS] = {0, 0.5, 2};
static const double key_positions[3 * KEYS] = {0, 0, 0, 0.1, 0, 0, 0.1, 0.2, 0};
static const double key_rotations[4 * KEYS] = {1, 0, 0, 0, 0.8, 0.6, 0, 0, 0, 0, 1, 0};

static void make_components(nursery *n) {
    static const struct {
        int32_t r;
        bough_reduced_elastic elastic;
    } kinds[COMPONENTS] = {{2, BOUGH_REDUCED_POLYNOMIAL}, {0, BOUGH_REDUCED_RIGID}, {1, BOUGH_REDUCED_LINEAR}};
    for (int i = 0; i < COMPONENTS; i++) {
        draft *d = n->drafts[i] = draft_make(kinds[i].r, kinds[i].elastic, BOUGH_MATERIAL_STVK, (uint64_t)i + 1);
        d->c.volume = (bough_component_volume){0}; /* smaller files, the same code */
        d->c.stress.count = d->c.contact.count = 0;
        n->components[i] = draft_pack(n->ctx, d);
    }
}

/* Two trees, one of them on a moving root. */
static void sow(bough_context *ctx, nursery *n) {
    static const char *const names[PARTS] = {"trunk", "", "twig \xC3\xA4", "leaf", "pot"};
    static const int32_t parents[PARTS] = {-1, 2, 0, 2, -1}, components[PARTS] = {0, 2, 2, 1, 0};
    *n = (nursery){.ctx = ctx};
    make_components(n);
    for (int32_t i = 0; i < PARTS; i++) {
        bough_part_def *part = &n->parts[i];
        *part = bough_default_part_def();
        part->name = names[i], part->parent = parents[i], part->component = components[i];
        part->interface_index = parents[i] < 0 ? 0 : 1;
        part->scale = 1 + 0.1 * i, part->stiffness = 2 - 0.1 * i;
        part->damping_mass = i == 3 ? 0.25 : NAN;
        part->position[1] = i;
        part->rotation[0] = part->rotation[4] = -1;
    }
    n->parts[0].track = (bough_track){KEYS, key_times, key_positions, key_rotations};
    bough_joint_def *ball = ball_joint(4, 5), *hinge = hinge_about(1, 2, 3, 6, 7);
    bo_store3(ball->start, bo_v3(0.1, 0.2, 0.3));
    n->parts[3].joint = ball, n->parts[1].joint = hinge;
    n->parts[2].locked = true, n->parts[1].offset[2] = 0.5;
    for (int i = 0; i < 2; i++) {
        n->ties[i] = tie_of(3, 1, i ? BOUGH_WORLD : 4, 0, 30, 2);
        bo_set_springs(n->ties[i].damping, 0.1, 0.3);
    }
    n->ties[1].name = "rope";
    n->def = bough_default_tree_model_def();
    test_weigh(n->def.gravity);
    n->def.tie_count = 2, n->def.ties = n->ties;
    n->def.component_count = COMPONENTS, n->def.components = (const bough_component *const *)n->components;
    n->def.part_count = PARTS, n->def.parts = n->parts;
    n->def.gravity[0] = 0.5, n->def.coupling = BOUGH_COUPLING_L2R, n->def.alpha = -0.125, n->def.passes = 2;
    n->def.wind = (bough_wind){{1, 2, 3}, 0.25, 5, 1.3, 0.9, 0xFEDCBA9876543210u, 0};
    check_ok(ctx, bough_tree_model_create(ctx, &n->def, &n->model));
}

static void uproot(nursery *n) {
    bough_tree_model_destroy(n->ctx, n->model);
    for (int i = 0; i < COMPONENTS; i++) {
        bough_component_destroy(n->ctx, n->components[i]);
        draft_free(n->drafts[i]);
    }
}

static unsigned char *slurp(const char *path, size_t *size) {
    FILE *file = fopen(path, "rb");
    check(file != NULL);
    fseek(file, 0, SEEK_END);
    *size = (size_t)ftell(file);
    rewind(file);
    unsigned char *bytes = malloc(*size + 1);
    check(fread(bytes, 1, *size, file) == *size);
    fclose(file);
    return bytes;
}

static unsigned char *pack_of(nursery *n, size_t *size) {
    const char *path = test_path("small.bough");
    check_ok(n->ctx, bough_tree_model_save(n->ctx, n->model, path));
    return slurp(path, size);
}

/* All that parts take of it; the struct has gaps on some machines. */
static void check_same_joint(const bough_joint_def *a, const bough_joint_def *b) {
    check(a->kind == b->kind && a->limit_stiffness == b->limit_stiffness);
    check(memcmp(a->start, b->start, sizeof a->start) == 0);
    check(memcmp(a->stiffness, b->stiffness, sizeof a->stiffness) == 0);
    check(memcmp(a->damping, b->damping, sizeof a->damping) == 0);
    check(memcmp(a->offset, b->offset, sizeof a->offset) == 0);
    check(memcmp(a->lower, b->lower, sizeof a->lower) == 0 && memcmp(a->upper, b->upper, sizeof a->upper) == 0);
    check(memcmp(a->friction, b->friction, sizeof a->friction) == 0);
}

static void check_same_part(const bough_part_def *a, const bough_part_def *b) {
    check(strcmp(a->name, b->name) == 0);
    check(a->component == b->component && a->parent == b->parent && a->interface_index == b->interface_index);
    check(memcmp(a->rotation, b->rotation, sizeof a->rotation) == 0);
    check(memcmp(a->position, b->position, sizeof a->position) == 0);
    check(a->scale == b->scale && a->stiffness == b->stiffness);
    check(a->damping_mass == b->damping_mass && a->damping_stiffness == b->damping_stiffness);
    check(memcmp(a->offset, b->offset, sizeof a->offset) == 0);
    check(a->free == b->free && a->locked == b->locked && a->absent == b->absent);
    check(!a->joint == !b->joint);
    if (a->joint)
        check_same_joint(a->joint, b->joint);
    check_int(a->track.count, b->track.count);
    const size_t keys = (size_t)a->track.count;
    if (keys == 0)
        return;
    check(memcmp(a->track.time, b->track.time, keys * sizeof(double)) == 0);
    check(memcmp(a->track.position, b->track.position, 3 * keys * sizeof(double)) == 0);
    check(memcmp(a->track.rotation, b->track.rotation, 4 * keys * sizeof(double)) == 0);
}

static void check_same_frame(const bough_frame_def *a, const bough_frame_def *b) {
    check(a->body == b->body && a->interface_index == b->interface_index);
    check(memcmp(&a->pose, &b->pose, sizeof a->pose) == 0);
}

static void check_same_tie(const bough_joint_def *a, const bough_joint_def *b) {
    check(strcmp(a->name, b->name) == 0);
    check_same_frame(&a->parent, &b->parent);
    check_same_frame(&a->child, &b->child);
    check(memcmp(a->stiffness, b->stiffness, sizeof a->stiffness) == 0);
    check(memcmp(a->damping, b->damping, sizeof a->damping) == 0);
}

static void what_was_saved_comes_back(void **state) {
    (void)state;
    bough_context *ctx = test_context(1);
    nursery n;
    sow(ctx, &n);
    size_t size, again;
    unsigned char *bytes = pack_of(&n, &size);
    bough_tree_model *model;
    check_ok(ctx, bough_tree_model_load(ctx, test_path("small.bough"), &model));
    const bough_tree_model_def *a = bough_tree_model_describe(n.model), *b = bough_tree_model_describe(model);
    uproot(&n); /* the loaded one stands alone */
    nursery other;
    sow(ctx, &other);
    a = bough_tree_model_describe(other.model);
    check(memcmp(a->gravity, b->gravity, sizeof a->gravity) == 0 && a->alpha == b->alpha);
    check(a->coupling == b->coupling && a->passes == b->passes);
    check(memcmp(&a->wind, &b->wind, sizeof a->wind) == 0);
    check_int(b->component_count, COMPONENTS);
    for (int i = 0; i < COMPONENTS; i++) {
        check_int(a->components[i]->image_size, b->components[i]->image_size);
        check(memcmp(a->components[i]->image, b->components[i]->image, a->components[i]->image_size) == 0);
    }
    check_int(b->part_count, PARTS);
    for (int i = 0; i < PARTS; i++)
        check_same_part(&a->parts[i], &b->parts[i]);
    check_int(b->tie_count, 2);
    for (int i = 0; i < 2; i++)
        check_same_tie(&a->ties[i], &b->ties[i]);
    check_ok(ctx, bough_tree_model_save(ctx, model, test_path("again.bough")));
    unsigned char *second = slurp(test_path("again.bough"), &again);
    check(size == again && memcmp(bytes, second, size) == 0);
    free(bytes), free(second);
    bough_tree_model_destroy(ctx, model);
    uproot(&other);
    bough_context_destroy(ctx);
}

static void both_move_alike(void **state) {
    (void)state;
    bough_context *ctx = test_context(1);
    nursery n;
    sow(ctx, &n);
    size_t size;
    unsigned char *bytes = pack_of(&n, &size);
    memmove(bytes + 1, bytes, size); /* no alignment is asked for */
    bough_tree_model *models[2] = {n.model};
    bough_tree_state *states[2];
    check_ok(ctx, bough_tree_model_read(ctx, bytes + 1, size, &models[1]));
    free(bytes);
    for (int k = 0; k < 2; k++) {
        check_ok(ctx, bough_tree_state_create(ctx, models[k], &states[k]));
        states[k]->coupling = BOUGH_COUPLING_L3; /* for its joint and ties */
        for (int step = 0; step < 20; step++)
            check_ok(ctx, bough_tree_step(ctx, models[k], states[k], 1e-3));
    }
    const size_t length = (size_t)bough_tree_model_size(n.model);
    check(states[0]->q[0] != 0);
    check(memcmp(states[0]->q, states[1]->q, length * sizeof(double)) == 0);
    for (int k = 0; k < 2; k++)
        bough_tree_state_destroy(ctx, states[k]);
    bough_tree_model_destroy(ctx, models[1]);
    uproot(&n);
    bough_context_destroy(ctx);
}

static void what_cannot_be_packed_is_told(void **state) {
    (void)state;
    bough_context *ctx = test_context(1);
    nursery n;
    sow(ctx, &n);
    bough_component bare = *n.components[0];
    bare.image = NULL;
    const bough_component *components[COMPONENTS] = {&bare, n.components[1], n.components[2]};
    bough_tree_model_def def = n.def;
    bough_tree_model *model;
    def.components = components;
    check_ok(ctx, bough_tree_model_create(ctx, &def, &model));
    check_fails(ctx, bough_tree_model_save(ctx, model, test_path("bare.bough")), BOUGH_ERROR_ARGUMENT, "component 0");
    bough_tree_model_destroy(ctx, model);
    def = n.def;
    def.wind.gust = NAN;
    check_ok(ctx, bough_tree_model_create(ctx, &def, &model));
    check_fails(ctx, bough_tree_model_save(ctx, model, test_path("bare.bough")), BOUGH_ERROR_ARGUMENT, "\"wind\"");
    bough_tree_model_destroy(ctx, model);
    check(access(test_path("bare.bough"), F_OK) != 0);
    n.parts[2].component = COMPONENTS + 1000000; /* of a parent with a higher number than its child's */
    check_fails(ctx, bough_tree_model_create(ctx, &n.def, &model), BOUGH_ERROR_ARGUMENT, "does not exist");
    check_ok(ctx, bough_component_save(ctx, n.components[0], test_path("c.bough")));
    check_fails(ctx, bough_tree_model_load(ctx, test_path("c.bough"), &model), BOUGH_ERROR_FORMAT, "of another kind");
    check(model == NULL);
    check_fails(ctx, bough_tree_model_load(ctx, test_path("none.bough"), &model), BOUGH_ERROR_FILE, "none.bough");
    uproot(&n);
    bough_context_destroy(ctx);
}

static void every_damage_is_noticed(void **state) {
    (void)state;
    bough_context *ctx = test_context(1);
    nursery n;
    sow(ctx, &n);
    size_t size;
    unsigned char *bytes = pack_of(&n, &size);
    bough_tree_model *model;
    for (size_t bit = 0; bit < 8 * size; bit++) {
        bytes[bit / 8] ^= (unsigned char)(1 << bit % 8);
        bough_status status = bough_tree_model_read(ctx, bytes, size, &model);
        check(status == BOUGH_ERROR_FORMAT || status == BOUGH_ERROR_UNSUPPORTED);
        bytes[bit / 8] ^= (unsigned char)(1 << bit % 8);
    }
    for (size_t length = 0; length < size; length++) {
        unsigned char *cut = malloc(length + 1); /* of exact size, so that a sanitizer sees one byte beyond */
        memcpy(cut, bytes, length);
        check(bough_tree_model_read(ctx, cut, length, &model) == BOUGH_ERROR_FORMAT);
        free(cut);
    }
    print_message("%zu bytes: every bit, every length\n", size);
    free(bytes);
    uproot(&n);
    bough_context_destroy(ctx);
}

/* ---- damage with right checksums ---- */

static size_t pick(test_random *random, size_t count) {
    return (size_t)(test_bits(random) % count);
}

/* One element of one chunk of an image whose directory is sound. */
static void damage_chunk(test_random *random, unsigned char *bytes, size_t size, const char *kind) {
    bo_image image;
    bough_context *ctx = test_context(1);
    bo_image_seal(bytes, size);
    bool sound = bo_image_open(ctx, bytes, size, kind, 1, &image) == BOUGH_OK;
    bough_context_destroy(ctx);
    if (!sound)
        return;
    static const double numbers[] = {0, -1, 1e-300, 1e39, -1e39, 1e41, INFINITY, NAN, 5e-324, 0.5};
    static const int32_t integers[] = {0, -1, 1, 2, 3, 4, 5, 64, INT32_MAX, INT32_MIN};
    bo_chunk chunk = bo_image_chunk(&image, (int32_t)pick(random, (size_t)image.chunk_count));
    unsigned char *data = bytes + ((const unsigned char *)chunk.data - bytes);
    if (chunk.type == BO_F64) {
        double *at = (double *)data + pick(random, chunk.size / sizeof(double));
        *at = pick(random, 2) ? numbers[pick(random, 10)] : *at * test_uniform(random, -2, 2);
    } else if (chunk.type == BO_I32) {
        int32_t *at = (int32_t *)data + pick(random, chunk.size / sizeof(int32_t));
        *at = pick(random, 2) ? integers[pick(random, 10)] : (int32_t)pick(random, 8) - 1;
    } else
        data[pick(random, chunk.size)] = (unsigned char)(pick(random, 2) ? 0 : test_bits(random));
    bo_image_seal(bytes, size);
}

/* A field of the directory. */
static void damage_entry(test_random *random, unsigned char *bytes) {
    static const size_t fields[] = {0, 8, 32, 36, 40, 48, 56, 72, 80};
    static const uint64_t values[] = {0, 1, 2, 5, 64, INT32_MAX, UINT32_MAX, 1ull << 40, 1ull << 63, UINT64_MAX - 63};
    unsigned char *at = bytes + BO_IMAGE_HEADER_SIZE + BO_IMAGE_ENTRY_SIZE * pick(random, bytes[12]);
    const uint64_t value = values[pick(random, 10)];
    memcpy(at + fields[pick(random, 9)], &value, sizeof value);
}

/* A stretch of the images of components, and the checksums inside of it. */
static void damage_component(test_random *random, unsigned char *bytes, const bo_image *intact, const nursery *n) {
    bo_chunk images;
    check(bo_image_find(intact, "component.images", &images));
    size_t which = pick(random, COMPONENTS), at = (size_t)((const unsigned char *)images.data - intact->bytes);
    for (size_t i = 0; i < which; i++)
        at += n->components[i]->image_size;
    damage_chunk(random, bytes + at, n->components[which]->image_size, "component");
}

/* Whatever a host would do. */
static void use(bough_context *ctx, const bough_tree_model *model) {
    bough_tree_state *state;
    bough_tree_energies energies;
    const double force[3] = {1, 2, 3};
    if (bough_tree_state_create(ctx, model, &state) != BOUGH_OK)
        return;
    state->coupling = BOUGH_COUPLING_L3;
    for (int step = 0; step < 2; step++) {
        bough_tree_state_add_force(ctx, model, state, PARTS - 1, 0, force);
        bough_tree_step(ctx, model, state, 1e-3);
    }
    bough_tree_state_energies(ctx, model, state, &energies);
    for (int32_t i = 0; i < bough_tree_model_part_count(model); i++) {
        const bough_tree_model_def *def = bough_tree_model_describe(model);
        const bough_component *c = def->components[def->parts[i].component];
        float *positions = malloc(3 * (size_t)c->surface.vertex_count * sizeof *positions + 1);
        bough_tree_state_positions(ctx, model, state, i, positions);
        free(positions);
    }
    check_int(bough_tree_model_find_part(model, bough_tree_model_describe(model)->parts[0].name), 0);
    bough_tree_state_destroy(ctx, state);
}

/* The element of the chunk, changed, with right checksums: what the reader says. */
static void wrong_content_is_told(void **state) {
    (void)state;
    static const struct {
        const char *chunk;
        size_t element;
        double value;
        const char *sentence;
    } cases[] = {{"component.blocks", 0, 100000, "\"component.blocks\" gives component 0"},
                 {"component.blocks", 1, 0, "\"component.blocks\" gives component 1"},
                 {"component.images", 70, 1, "component 0: "},
                 {"part.links", 5, 7, "\"part.links\" gives part 1 component 7"},
                 {"part.links", 11, 1, "its own ancestor"},
                 {"part.links", 8, 9, "flags that do not exist"},
                 {"part.links", 9, 99, "joint of kind 99"},
                 {"tie.links", 0, 99, "part 99 does not exist"},
                 {"tie.names", 0, 'x', "no name for tie 1"},
                 {"tie.springs", 0, -1, "it must be 0 or more"},
                 {"part.names", 5, 'x', "\"part.names\" has no name for part 4"},
                 {"part.names", 1, 0, "\"part.names\" has names of no part"},
                 {"part.scale", 1, 0, "scale and stiffness must be positive"},
                 {"gravity", 2, 1e41, "\"gravity\" holds a number that is not finite, or beyond"},
                 {"alpha", 0, NAN, "\"alpha\" holds a number that is not finite, or beyond"},
                 {"form", 0, 4, "coupling"},
                 {"track.part", 0, 5, "\"track.part\" names part 5"},
                 {"track.part", 1, 0, "has a track"},
                 {"track.count", 0, 7, "\"track.count\" gives track 0 7 keys of 6"},
                 {"track.count", 1, 2, "\"track.time\" has keys of no track"}};
    bough_context *ctx = test_context(1);
    nursery n;
    sow(ctx, &n);
    bough_tree_model_destroy(ctx, n.model);
    n.parts[4].track = n.parts[0].track;
    check_ok(ctx, bough_tree_model_create(ctx, &n.def, &n.model));
    size_t size;
    unsigned char *intact = pack_of(&n, &size), *bytes = malloc(size);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        bo_image image;
        bo_chunk chunk;
        bough_tree_model *model;
        memcpy(bytes, intact, size);
        check_ok(ctx, bo_image_open(ctx, bytes, size, "model", 2, &image));
        check(bo_image_find(&image, cases[i].chunk, &chunk));
        unsigned char *data = bytes + ((const unsigned char *)chunk.data - bytes);
        if (chunk.type == BO_F64)
            ((double *)data)[cases[i].element] = cases[i].value;
        else if (chunk.type == BO_I32)
            ((int32_t *)data)[cases[i].element] = (int32_t)cases[i].value;
        else
            data[cases[i].element] = (unsigned char)cases[i].value;
        bo_image_seal(bytes, size);
        check_fails(ctx, bough_tree_model_read(ctx, bytes, size, &model), BOUGH_ERROR_FORMAT, cases[i].sentence);
    }
    free(intact), free(bytes);
    uproot(&n);
    bough_context_destroy(ctx);
}

static void hostile_packs_are_refused_or_usable(void **state) {
    (void)state;
    test_memory memory = {.fail_at = -1};
    bough_context *ctx = test_counting_context(&memory);
    nursery n;
    sow(ctx, &n);
    size_t size;
    unsigned char *intact = pack_of(&n, &size), *bytes = malloc(size);
    bo_image image;
    check_ok(ctx, bo_image_open(ctx, intact, size, "model", 2, &image));
    test_random random = {5};
    const long before = memory.live, inputs = test_long() ? 1000000 : 12000;
    long accepted = 0;
    for (long i = 0; i < inputs; i++) {
        memcpy(bytes, intact, size);
        for (size_t rounds = 1 + pick(&random, 2); rounds > 0; rounds--) {
            size_t kind = pick(&random, 8);
            if (kind == 0)
                damage_entry(&random, bytes);
            else if (kind < 3)
                damage_component(&random, bytes, &image, &n);
            else
                damage_chunk(&random, bytes, size, "model");
        }
        bo_image_seal(bytes, size);
        memory.largest = 0;
        bough_tree_model *model;
        bough_status status = bough_tree_model_read(ctx, bytes, size, &model);
        check(memory.largest <= 2 * size);
        check((model != NULL) == (status == BOUGH_OK));
        if (status == BOUGH_OK) {
            accepted++;
            use(ctx, model);
            bough_tree_model_destroy(ctx, model);
        } else
            check(status == BOUGH_ERROR_FORMAT || status == BOUGH_ERROR_UNSUPPORTED);
        check_int(memory.live, before);
    }
    print_message("%ld hostile packs, %ld accepted\n", inputs, accepted);
    check(accepted > inputs / 20 && accepted < inputs);
    free(intact), free(bytes);
    uproot(&n);
    bough_context_destroy(ctx);
}

static void lost_memory_leaks_nothing(void **state) {
    (void)state;
    test_memory memory = {.fail_at = -1};
    bough_context *ctx = test_counting_context(&memory);
    nursery n;
    sow(ctx, &n);
    size_t size;
    unsigned char *bytes = pack_of(&n, &size);
    const long before = memory.live;
    for (int what = 0; what < 2; what++)
        for (long at = 0;; at++) {
            bough_tree_model *model = NULL;
            memory.calls = 0, memory.fail_at = at;
            bough_status status = what ? bough_tree_model_read(ctx, bytes, size, &model)
                                       : bough_tree_model_save(ctx, n.model, test_path("short.bough"));
            memory.fail_at = -1;
            bough_tree_model_destroy(ctx, model);
            check_int(memory.live, before);
            if (status == BOUGH_OK)
                break;
            check(status == BOUGH_ERROR_MEMORY && at < 1000);
        }
    free(bytes);
    uproot(&n);
    bough_context_destroy(ctx);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_was_saved_comes_back),     cmocka_unit_test(both_move_alike),
        cmocka_unit_test(what_cannot_be_packed_is_told), cmocka_unit_test(every_damage_is_noticed),
        cmocka_unit_test(wrong_content_is_told),         cmocka_unit_test(hostile_packs_are_refused_or_usable),
        cmocka_unit_test(lost_memory_leaks_nothing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
