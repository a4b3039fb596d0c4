/* .bough files: what is saved is loaded, bit by bit; what is damaged is refused. */
#include "draft.h"

#include "component/layout.h"

static void check_doubles(const double *a, const double *b, int count) {
    check((a == NULL) == (count == 0));
    check(count == 0 || memcmp(a, b, sizeof *a * (size_t)count) == 0);
}
static void check_integers(const int32_t *a, const int32_t *b, int count) {
    check(count == 0 || memcmp(a, b, sizeof *a * (size_t)count) == 0);
}

static void check_points(const bough_material_points *a, const bough_material_points *b, int r) {
    check_int(a->count, b->count);
    check_doubles(a->weight, b->weight, b->weight ? b->count : 0);
    check_doubles(a->position, b->position, b->position ? 3 * b->count : 0);
    check_doubles(a->gradient, b->gradient, 9 * r * b->count);
    check_integers(a->element, b->element, b->count);
    check_integers(a->material, b->material, b->count);
}

static void check_field(const bough_stress_field *a, const bough_stress_field *b, int r) {
    check_int(a->count, b->count);
    check_doubles(a->position, b->position, 3 * b->count);
    check_integers(a->material, b->material, b->count);
    check(r == 0 || memcmp(a->gradient, b->gradient, sizeof(float) * (size_t)(9 * r * b->count)) == 0);
}

static void check_samples(const bough_sample_points *a, const bough_sample_points *b, int r) {
    check_int(a->count, b->count);
    check_doubles(a->position, b->position, 3 * b->count);
    check_doubles(a->normal, b->normal, 3 * b->count);
    check_doubles(a->area, b->area, b->area ? b->count : 0);
    check_doubles(a->U, b->U, 3 * r * b->count);
}

static void check_interfaces(const bough_component *a, const bough_component *b) {
    check_int(a->interface_count, b->interface_count);
    for (int i = 0; i < b->interface_count; i++) {
        const bough_interface *x = &a->interfaces[i], *y = &b->interfaces[i];
        check(strcmp(x->name, y->name) == 0);
        check_int(bough_component_find_interface(a, y->name), i);
        check_doubles(x->centre, y->centre, 3);
        check(x->radius == y->radius);
        check_doubles(x->translation, y->translation, 3 * b->r);
        check_doubles(x->A, y->A, 9 * (b->r + 1));
        check_int(x->vertex_count, y->vertex_count);
        check_integers(x->vertices, y->vertices, y->vertex_count);
        check_doubles(x->weights, y->weights, y->vertex_count);
    }
    check_int(bough_component_find_interface(a, "none"), -1);
    check_int(a->material_count, b->material_count);
    for (int i = 0; i < b->material_count; i++)
        check(memcmp(&a->materials[i], &b->materials[i], sizeof(bough_material)) == 0);
}

static void check_surface(const bough_component *a, const bough_component *b) {
    const bough_surface *x = &a->surface, *y = &b->surface;
    size_t scalars = (size_t)(3 * y->vertex_count), panels = (scalars + 15) / 16 * 16 * (size_t)b->r;
    check_int(x->vertex_count, y->vertex_count);
    check_int(x->triangle_count, y->triangle_count);
    check(memcmp(x->position, y->position, sizeof(float) * scalars) == 0);
    check_integers(x->triangles, y->triangles, 3 * y->triangle_count);
    check_integers(x->mesh_vertex, y->mesh_vertex, y->vertex_count);
    check((x->U != NULL) == (y->U != NULL) && (x->U16 != NULL) == (y->U16 != NULL));
    check(!x->U || memcmp(x->U, y->U, sizeof(float) * panels) == 0);
    check(!x->U16 || memcmp(x->U16, y->U16, sizeof(int16_t) * panels) == 0);
    check(!x->U16 || memcmp(x->scale, y->scale, sizeof(float) * (size_t)b->r) == 0);
    check_int(a->wire.vertex_count, b->wire.vertex_count);
    check_int(a->wire.edge_count, b->wire.edge_count);
    const size_t wire = 3 * (size_t)b->wire.vertex_count;
    check(!wire || memcmp(a->wire.position, b->wire.position, wire * sizeof(float)) == 0);
    check(!wire || !b->r || memcmp(a->wire.U, b->wire.U, wire * (size_t)b->r * sizeof(float)) == 0);
    check_integers(a->wire.edges, b->wire.edges, 2 * b->wire.edge_count);
    check_int(a->volume.type, b->volume.type);
    check_int(a->volume.element_count, b->volume.element_count);
    check_doubles(a->volume.position, b->volume.position, 3 * b->volume.vertex_count);
    check_doubles(a->volume.U, b->volume.U, 3 * b->volume.vertex_count * b->r);
    check_integers(a->volume.elements, b->volume.elements, 4 * b->volume.element_count);
}

static void check_same(const bough_component *a, const bough_component *b) {
    int r = b->r;
    check_int(a->r, r);
    check_int(a->elastic, b->elastic);
    check_int(a->support, b->support);
    check_int(a->parent, b->parent);
    check_doubles(a->origin, b->origin, 3);
    check_doubles(&a->mass, &b->mass, 1);
    check_doubles(a->mc0, b->mc0, 3);
    check_doubles(a->Sigma0, b->Sigma0, 9);
    check_doubles(a->s, b->s, 3 * r);
    check_doubles(a->W5, b->W5, 9 * r);
    check_doubles(a->W7, b->W7, 9 * r * r);
    check_doubles(&a->damping_mass, &b->damping_mass, 1);
    check_doubles(&a->damping_stiffness, &b->damping_stiffness, 1);
    check_doubles(a->K, b->K, r * r);
    check_doubles(a->quartic, b->quartic, b->quartic ? (int)bo_quartic_count(r) : 0);
    check_points(&a->cubature, &b->cubature, r);
    check_points(&a->stress, &b->stress, r);
    check_field(&a->field, &b->field, r);
    check_samples(&a->wind, &b->wind, r);
    check_samples(&a->contact, &b->contact, r);
    check_interfaces(a, b);
    check_surface(a, b);
    check(a->quality.force_random == b->quality.force_random && isnan(a->quality.cubature_test));
    check_int(a->quality.mode_count, b->quality.mode_count);
    check_doubles(a->quality.full_hz, b->quality.full_hz, b->quality.mode_count);
    check_doubles(a->quality.reduced_hz, b->quality.reduced_hz, b->quality.mode_count);
    check(strcmp(a->provenance, b->provenance) == 0);
    check(a->input_hash == b->input_hash);
}

static void what_is_saved_is_loaded(void **state) {
    (void)state;
    bough_context *ctx = test_context(1);
    for (int i = 0; i < DRAFT_CASES; i++)
        for (uint64_t seed = 1; seed <= 2; seed++) { /* surface in float and in int16 */
            draft *d = draft_make(draft_cases[i].r, draft_cases[i].elastic, BOUGH_MATERIAL_NEO_HOOKEAN, seed);
            bough_component *packed = draft_pack(ctx, d), *loaded, *repacked;
            check_same(packed, &d->c);
            const char *path = test_path("leaf.bough");
            check_ok(ctx, bough_component_save(ctx, packed, path));
            check_ok(ctx, bough_component_load(ctx, path, &loaded));
            check_same(loaded, &d->c);
            check_int(loaded->image_size, packed->image_size);
            check(memcmp(loaded->image, packed->image, packed->image_size) == 0);
            check_ok(ctx, bo_component_pack(ctx, loaded, &repacked));
            check_int(repacked->image_size, packed->image_size);
            check(memcmp(repacked->image, packed->image, packed->image_size) == 0);
            bough_component_destroy(ctx, packed);
            bough_component_destroy(ctx, loaded);
            bough_component_destroy(ctx, repacked);
            draft_free(d);
        }
    bough_context_destroy(ctx);
}

/* A component as small as they come, with something of everything. */
static draft *small_draft(void) {
    return draft_make(1, BOUGH_REDUCED_POLYNOMIAL, BOUGH_MATERIAL_STVK, 1);
}

static void every_flipped_bit_is_noticed(void **state) {
    (void)state;
    bough_context *ctx = test_context(1);
    draft *d = small_draft();
    bough_component *c = draft_pack(ctx, d), *read;
    unsigned char *bytes = malloc(c->image_size);
    memcpy(bytes, c->image, c->image_size);
    for (size_t bit = 0; bit < 8 * c->image_size; bit++) {
        bytes[bit / 8] ^= (unsigned char)(1 << bit % 8);
        bough_status status = bough_component_read(ctx, bytes, c->image_size, &read);
        if (status != BOUGH_ERROR_FORMAT && status != BOUGH_ERROR_UNSUPPORTED)
            fail_msg("bit %zu of byte %zu: %s", bit % 8, bit / 8, bough_status_name(status));
        check(read == NULL);
        bytes[bit / 8] ^= (unsigned char)(1 << bit % 8);
    }
    check_ok(ctx, bough_component_read(ctx, bytes, c->image_size, &read));
    bough_component_destroy(ctx, read);
    free(bytes);
    bough_component_destroy(ctx, c);
    draft_free(d);
    bough_context_destroy(ctx);
}

static void files_that_are_cut_short_are_refused(void **state) {
    (void)state;
    bough_context *ctx = test_context(1);
    draft *d = small_draft();
    bough_component *c = draft_pack(ctx, d), *read;
    for (size_t size = 0; size < c->image_size; size++) {
        void *bytes = malloc(size + (size == 0)); /* exact, for sanitizers */
        memcpy(bytes, c->image, size);
        check_fails(ctx, bough_component_read(ctx, bytes, size, &read), BOUGH_ERROR_FORMAT,
                    size > 0 ? "cut short" : "empty");
        free(bytes);
    }
    unsigned char *longer = calloc(1, c->image_size + 64);
    memcpy(longer, c->image, c->image_size);
    check_fails(ctx, bough_component_read(ctx, longer, c->image_size + 64, &read), BOUGH_ERROR_FORMAT, "should have");
    free(longer);
    bough_component_destroy(ctx, c);
    draft_free(d);
    bough_context_destroy(ctx);
}

static void failures_name_the_file(void **state) {
    (void)state;
    bough_context *ctx = test_context(1);
    bough_component *read, nothing = {0};
    check_fails(ctx, bough_component_load(ctx, test_path("absent.bough"), &read), BOUGH_ERROR_FILE, "absent.bough");
    check_fails(ctx, bough_component_load(ctx, "/", &read), BOUGH_ERROR_FILE, "folder");
    test_write_text(test_path("empty.bough"), "");
    check_fails(ctx, bough_component_load(ctx, test_path("empty.bough"), &read), BOUGH_ERROR_FORMAT,
                "empty.bough: the file is empty");
    test_write_text(test_path("text.bough"), "solid cube");
    check_fails(ctx, bough_component_load(ctx, test_path("text.bough"), &read), BOUGH_ERROR_FORMAT,
                "text.bough: this is not a .bough file");
    check_fails(ctx, bough_component_save(ctx, &nothing, test_path("x.bough")), BOUGH_ERROR_ARGUMENT, "no file image");
    draft *d = small_draft();
    bough_component *c = draft_pack(ctx, d);
    check_fails(ctx, bough_component_save(ctx, c, test_path("no/such/x.bough")), BOUGH_ERROR_FILE, "no/such/x.bough");
    bough_component_destroy(ctx, c);
    draft_free(d);
    bough_context_destroy(ctx);
}

static void unknown_chunks_are_ignored(void **state) {
    (void)state;
    bough_context *ctx = test_context(1);
    draft *d = small_draft();
    bough_component *c = draft_pack(ctx, d), *read;
    bo_image image;
    check_ok(ctx, bo_image_open(ctx, c->image, c->image_size, BO_COMPONENT_KIND, BO_COMPONENT_VERSION, &image));
    bo_image_builder builder;
    bo_image_begin(ctx, &builder, BO_COMPONENT_KIND, BO_COMPONENT_VERSION);
    const uint64_t three = 3;
    bo_image_add(&builder, "colour.of.bark", BO_I16, 1, &three, (int16_t[]){1, 2, 3});
    for (int32_t i = 0; i < image.chunk_count; i++) {
        bo_chunk chunk = bo_image_chunk(&image, i);
        bo_image_add(&builder, chunk.name, chunk.type, chunk.rank, chunk.dims, chunk.data);
    }
    void *bytes;
    size_t size;
    check_ok(ctx, bo_image_finish(&builder, &bytes, &size));
    check_ok(ctx, bough_component_read(ctx, bytes, size, &read));
    check_same(read, &d->c);
    bo_free(ctx, bytes);
    bough_component_destroy(ctx, read);
    bough_component_destroy(ctx, c);
    draft_free(d);
    bough_context_destroy(ctx);
}

/* Bare components: nothing but inertia. */
static void empty_arrays_need_no_chunks(void **state) {
    (void)state;
    bough_context *ctx = test_context(1);
    draft *d = draft_make(0, BOUGH_REDUCED_RIGID, BOUGH_MATERIAL_STVK, 1);
    bough_component bare = {.parent = -1, .support = BOUGH_SUPPORT_FREE, .mass = 1}, *c;
    memcpy(bare.Sigma0, d->c.Sigma0, sizeof bare.Sigma0);
    check_ok(ctx, bo_component_pack(ctx, &bare, &c));
    check(!c->K && !c->interface_count && !c->provenance && !c->surface.vertex_count && !c->volume.position);
    double energy = 1, scratch[1];
    check(bough_component_scratch(c) <= 1);
    check(bough_component_evaluate(c, NULL, scratch, &energy, NULL, NULL) && energy == 0);
    bough_component_surface_positions(c, NULL, NULL);
    bough_component_destroy(ctx, c);
    draft_free(d);
    bough_context_destroy(ctx);
}

/* Every single allocation fails once. */
static void running_out_of_memory_leaks_nothing(void **state) {
    (void)state;
    draft *d = draft_make(5, BOUGH_REDUCED_CUBATURE, BOUGH_MATERIAL_STVK, 1);
    const char *path = test_path("memory.bough");
    for (int phase = 0; phase < 2; phase++)
        for (long fail_at = 0;; fail_at++) {
            test_memory memory = {.fail_at = -1};
            bough_context *ctx = test_counting_context(&memory);
            long before = memory.live;
            memory.calls = 0, memory.fail_at = fail_at;
            bough_component *c = NULL;
            bough_status status = phase == 0 ? bo_component_pack(ctx, &d->c, &c) : bough_component_load(ctx, path, &c);
            bool done = memory.calls <= fail_at;
            memory.fail_at = -1;
            check_int(status, done ? BOUGH_OK : BOUGH_ERROR_MEMORY);
            if (done && phase == 0)
                check_ok(ctx, bough_component_save(ctx, c, path));
            bough_component_destroy(ctx, c);
            check_int(memory.live, before);
            bough_context_destroy(ctx);
            check_int(memory.live, 0);
            if (done)
                break;
        }
    draft_free(d);
}

/* A change of any one word changes the hash, and so do zeros at the end. */
static void hashes_tell_words_apart(void **state) {
    (void)state;
    uint64_t words[20] = {0};
    for (size_t size = 0; size <= sizeof words; size++)
        check(size == 0 || bo_image_hash(0, words, size) != bo_image_hash(0, words, size - 1));
    uint64_t zero = bo_image_hash(0, words, sizeof words);
    for (int i = 0; i < 20; i++)
        for (int bit = 0; bit < 64; bit++)
            for (int k = 0; k < 20; k++) { /* one bit, and the sign of a number besides */
                memset(words, 0, sizeof words);
                words[i] = (uint64_t)1 << bit;
                check(bo_image_hash(0, words, sizeof words) != zero);
                words[k] ^= (uint64_t)1 << 63;
                check((bo_image_hash(0, words, sizeof words) == zero) == (k == i && bit == 63));
            }
}

/* Builder: what no file can hold is refused, with the name. */
static void builders_refuse_nonsense(void **state) {
    (void)state;
    bough_context *ctx = test_context(1);
    const uint64_t one = 1, none = 0, much[2] = {UINT64_MAX / 16, 64};
    const double x = 1;
    void *bytes;
    size_t size;
    struct {
        const char *name;
        bo_chunk_type type;
        int32_t rank;
        const uint64_t *dims;
        const void *data;
        const char *part;
    } wrong[] = {{"", BO_F64, 1, &one, &x, "no chunk can have"},
                 {"a.name.that.is.much.longer.than.it.may.be", BO_F64, 1, &one, &x, "no chunk can have"},
                 {"a", (bo_chunk_type)9, 1, &one, &x, "no chunk can have"},
                 {"a", BO_F64, 5, &one, &x, "no chunk can have"},
                 {"a", BO_F64, 2, much, &x, "larger than"},
                 {"a", BO_F64, 1, &one, NULL, "no data"},
                 {"x", BO_F64, 1, &one, &x, "added twice"}};
    for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++) {
        bo_image_builder builder;
        bo_image_begin(ctx, &builder, "test", 1);
        bo_image_add(&builder, "x", BO_F64, 1, &one, &x);
        bo_image_add(&builder, "empty", BO_F64, 1, &none, NULL);
        bo_image_add(&builder, wrong[i].name, wrong[i].type, wrong[i].rank, wrong[i].dims, wrong[i].data);
        check_fails(ctx, bo_image_finish(&builder, &bytes, &size), BOUGH_ERROR_ARGUMENT, wrong[i].part);
        check(!bytes);
    }
    bough_context_destroy(ctx);
}

/* FNV-1a: another hash than that of the files. */
static uint64_t mix(uint64_t hash, const unsigned char *bytes, size_t size) {
    for (size_t i = 0; i < size; i++)
        hash = (hash ^ bytes[i]) * 0x100000001b3u;
    return hash;
}
#define MIX_START 0xcbf29ce484222325u

/* The bytes of a file made of fixed numbers, checksums included. A change of them makes all files that exist
 * unreadable: raise the version of the container with it. */
static void the_container_has_the_bytes_it_always_had(void **state) {
    (void)state;
    bough_context *ctx = test_context(1);
    bo_image_builder b;
    void *bytes;
    size_t size;
    double numbers[10];
    float floats[3] = {1, -2.5f, 0.125f};
    int32_t integers[5] = {1, -2, 3, INT32_MAX, INT32_MIN};
    int16_t shorts[4] = {1, -1, INT16_MAX, INT16_MIN};
    for (int i = 0; i < 10; i++)
        numbers[i] = 0.25 * i - 1;
    bo_image_begin(ctx, &b, "golden", 7);
    bo_image_add(&b, "numbers", BO_F64, 2, (const uint64_t[]){2, 5}, numbers);
    bo_image_add(&b, "floats", BO_F32, 1, (const uint64_t[]){3}, floats);
    bo_image_add(&b, "integers", BO_I32, 1, (const uint64_t[]){5}, integers);
    bo_image_add(&b, "shorts", BO_I16, 2, (const uint64_t[]){2, 2}, shorts);
    bo_image_add(&b, "text", BO_U8, 1, (const uint64_t[]){5}, "bough");
    check_ok(ctx, bo_image_finish(&b, &bytes, &size));
    check_int(size, 960);
    check_int(bo_image_hash(3, numbers, sizeof numbers), 1260305775892144160);
    check_int(mix(MIX_START, bytes, size), -1219069813288473660);
    bo_free(ctx, bytes);
    bough_context_destroy(ctx);
}

/* Names, types, dimensions and places of all chunks of a component, in their order: all but the numbers themselves. A
 * change of them makes components that exist unreadable, or means something else: raise BO_COMPONENT_VERSION with it.
 */
static void components_are_laid_out_as_they_always_were(void **state) {
    (void)state;
    bough_context *ctx = test_context(1);
    draft *d = draft_make(2, BOUGH_REDUCED_CUBATURE, BOUGH_MATERIAL_COROTATED, 2);
    bough_component *c = draft_pack(ctx, d);
    const unsigned char *image = c->image;
    enum { HASHED = 56, ENTRY_HASHED = 88 }; /* their checksums follow */
    uint64_t hash = mix(MIX_START, image, HASHED);
    check(image[13] == 0);
    for (size_t i = 0; i < image[12]; i++)
        hash = mix(hash, image + BO_IMAGE_HEADER_SIZE + BO_IMAGE_ENTRY_SIZE * i, ENTRY_HASHED);
    check_int(hash, -5559494373021566804);
    bough_component_destroy(ctx, c);
    draft_free(d);
    bough_context_destroy(ctx);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_is_saved_is_loaded),
        cmocka_unit_test(every_flipped_bit_is_noticed),
        cmocka_unit_test(files_that_are_cut_short_are_refused),
        cmocka_unit_test(failures_name_the_file),
        cmocka_unit_test(unknown_chunks_are_ignored),
        cmocka_unit_test(empty_arrays_need_no_chunks),
        cmocka_unit_test(running_out_of_memory_leaks_nothing),
        cmocka_unit_test(hashes_tell_words_apart),
        cmocka_unit_test(builders_refuse_nonsense),
        cmocka_unit_test(the_container_has_the_bytes_it_always_had),
        cmocka_unit_test(components_are_laid_out_as_they_always_were),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
