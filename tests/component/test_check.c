/* Every rule for the content of a component has a file that breaks it, and a sentence that names the chunk. Checksums
 * are made right again, so that it is the rule that refuses. */
#include "draft.h"

#include "component/layout.h"

/* A copy of a component's image that can be written to. */
typedef struct editable {
    bough_context *ctx;
    unsigned char *bytes;
    size_t size;
} editable;

static editable make_editable(bough_context *ctx, const draft *d) {
    bough_component *c = draft_pack(ctx, d);
    editable e = {.ctx = ctx, .bytes = malloc(c->image_size), .size = c->image_size};
    memcpy(e.bytes, c->image, c->image_size);
    bough_component_destroy(ctx, c);
    return e;
}

/* Position of element `index` of a chunk; *type is what stands there. */
static unsigned char *place_of(const editable *e, const char *name, size_t index, bo_chunk_type *type) {
    static const size_t sizes[] = {0, 8, 4, 4, 2, 1};
    bo_image image;
    bo_chunk chunk;
    check_ok(e->ctx, bo_image_open(e->ctx, e->bytes, e->size, BO_COMPONENT_KIND, BO_COMPONENT_VERSION, &image));
    if (!bo_image_find(&image, name, &chunk))
        fail_msg("no chunk %s", name);
    check(index * sizes[chunk.type] < chunk.size);
    *type = chunk.type;
    return e->bytes + ((const unsigned char *)chunk.data - e->bytes) + index * sizes[chunk.type];
}

static void put(const editable *e, const char *name, size_t index, double value) {
    bo_chunk_type type;
    unsigned char *at = place_of(e, name, index, &type);
    int32_t i = type == BO_I32 ? (int32_t)value : 0;
    int16_t s = type == BO_I16 ? (int16_t)value : 0;
    float f = (float)value;
    unsigned char u = type == BO_U8 ? (unsigned char)value : 0;
    switch (type) {
    case BO_F64:
        memcpy(at, &value, sizeof value);
        break;
    case BO_F32:
        memcpy(at, &f, sizeof f);
        break;
    case BO_I32:
        memcpy(at, &i, sizeof i);
        break;
    case BO_I16:
        memcpy(at, &s, sizeof s);
        break;
    case BO_U8:
        *at = u;
        break;
    }
}

static void check_refused(const editable *e, const char *sentence) {
    bough_component *read;
    bo_image_seal(e->bytes, e->size);
    check_fails(e->ctx, bough_component_read(e->ctx, e->bytes, e->size, &read), BOUGH_ERROR_FORMAT, sentence);
}

enum { POLYNOMIAL, CUBATURE, SHORTS, RIGID, MODELS };

static draft *draft_of(int which) {
    switch (which) {
    case POLYNOMIAL:
        return draft_make(5, BOUGH_REDUCED_POLYNOMIAL, BOUGH_MATERIAL_STVK, 2);
    case CUBATURE:
        return draft_make(5, BOUGH_REDUCED_CUBATURE, BOUGH_MATERIAL_NEO_HOOKEAN, 2);
    case SHORTS:
        return draft_make(5, BOUGH_REDUCED_LINEAR, BOUGH_MATERIAL_NEO_HOOKEAN, 1);
    default:
        return draft_make(0, BOUGH_REDUCED_RIGID, BOUGH_MATERIAL_NEO_HOOKEAN, 2);
    }
}

/* One number changed, and the sentence. */
typedef struct mutation {
    int which;
    const char *chunk;
    size_t index;
    double value;
    const char *sentence;
} mutation;

static const mutation mutations[] = {
    {CUBATURE, "form", BO_FORM_R, -1, "\"form\" says r = -1"},
    {CUBATURE, "form", BO_FORM_R, 513, "\"form\" says r = 513"},
    {CUBATURE, "form", BO_FORM_R, 0, "\"form\" says r = 0 of a component that is not rigid"},
    {RIGID, "form", BO_FORM_R, 1, "\"form\" says r = 1 of a component that is rigid"},
    {POLYNOMIAL, "form", BO_FORM_R, 65, "a polynomial has at most 64"},
    {POLYNOMIAL, "form", BO_FORM_R, 4, "\"s\" is f64 5 x 3 and should be f64 4 x 3"},
    {CUBATURE, "form", BO_FORM_ELASTIC, 4, "elastic model 4"},
    {CUBATURE, "form", BO_FORM_ELASTIC, -1, "elastic model -1"},
    {SHORTS, "form", BO_FORM_ELASTIC, BOUGH_REDUCED_POLYNOMIAL, "\"quartic\" is missing"},
    {SHORTS, "form", BO_FORM_ELASTIC, BOUGH_REDUCED_CUBATURE, "\"cubature.weight\" is missing"},
    {CUBATURE, "form", BO_FORM_SUPPORT, 3, "support 3"},
    {CUBATURE, "form", BO_FORM_PARENT, 2, "hangs by interface 2, and there are 2"},
    {CUBATURE, "form", BO_FORM_PARENT, -1, "hangs by interface -1"},
    {CUBATURE, "form", BO_FORM_SUPPORT, BOUGH_SUPPORT_FREE, "a component that hangs by none"},
    {CUBATURE, "mass", 0, 0, "\"mass\" is 0 kg"},
    {CUBATURE, "mass", 0, -1, "\"mass\" is -1 kg"},
    {CUBATURE, "mass", 0, NAN, "\"mass\" holds a number that is not finite"},
    {CUBATURE, "mass", 0, 5e-324, "\"mass\" is 4.94066e-324 kg"},
    {CUBATURE, "mass", 0, 1.1e40, "\"mass\" holds a number that is not finite, or beyond 1e+40"},
    {CUBATURE, "origin", 1, INFINITY, "\"origin\" holds a number that is not finite"},
    {CUBATURE, "mc0", 2, NAN, "\"mc0\" holds a number that is not finite"},
    {RIGID, "Sigma0", 1, 100, "\"Sigma0\" is not symmetric"},
    {RIGID, "Sigma0", 8, -1, "\"Sigma0\" is not positive semidefinite"},
    {CUBATURE, "Sigma0", 0, -1e300, "\"Sigma0\" holds a number that is not finite, or beyond 1e+40"},
    {CUBATURE, "s", 4, NAN, "\"s\" holds a number that is not finite"},
    {CUBATURE, "W5", 4, -INFINITY, "\"W5\" holds a number that is not finite"},
    {CUBATURE, "W7", 224, NAN, "\"W7\" holds a number that is not finite"},
    {CUBATURE, "W7", 9, 50, "\"W7\" is not symmetric"},
    {CUBATURE, "W7", 0, -50, "\"W7\" gives a mass matrix that is not positive definite"},
    {CUBATURE, "damping", 0, -1, "\"damping\" is negative"},
    {CUBATURE, "damping", 1, -1, "\"damping\" is negative"},
    {CUBATURE, "K", 1, 50, "\"K\" is not symmetric"},
    {CUBATURE, "K", 6, -1, "\"K\" has a negative number"},
    {CUBATURE, "K", 7, NAN, "\"K\" holds a number that is not finite"},
    {POLYNOMIAL, "K", 0, 7, "\"quartic\" does not have the stiffness"},
    {POLYNOMIAL, "quartic", 125, NAN, "\"quartic\" holds a number that is not finite"},
    {CUBATURE, "cubature.weight", 4, 0, "\"cubature.weight\" holds a weight that is not positive"},
    {CUBATURE, "cubature.element", 0, -1, "\"cubature.element\" holds an element that does not exist"},
    {CUBATURE, "cubature.element", 0, 2, "\"cubature.element\" holds an element that does not exist"},
    {CUBATURE, "cubature.material", 4, 2, "\"cubature.material\" holds a material that does not exist"},
    {CUBATURE, "cubature.material", 4, -1, "\"cubature.material\" holds a material that does not exist"},
    {CUBATURE, "cubature.gradient", 224, NAN, "\"cubature.gradient\" holds a number that is not finite"},
    {CUBATURE, "stress.element", 3, 2, "\"stress.element\" holds an element that does not exist"},
    {CUBATURE, "stress.material", 3, 2, "\"stress.material\" holds a material that does not exist"},
    {CUBATURE, "field.material", 3, 2, "\"field.material\" holds a material that does not exist"},
    {RIGID, "stress.material", 0, -7, "\"stress.material\" holds a material that does not exist"},
    {CUBATURE, "stress.gradient", 3, NAN, "\"stress.gradient\" holds a number that is not finite"},
    {CUBATURE, "stress.position", 3, NAN, "\"stress.position\" holds a number that is not finite"},
    {CUBATURE, "material.constants", 0, -1, "\"material.constants\": material 0: Young's modulus"},
    {CUBATURE, "material.constants", 0, 5e-324, "material 0 has next to no stiffness or density"},
    {CUBATURE, "material.constants", 6, 1e-300, "material 1 has next to no stiffness or density"},
    {CUBATURE, "material.constants", 5, 0.5, "\"material.constants\": material 1: Poisson's ratio"},
    {CUBATURE, "material.constants", 6, 0, "material 1: the density"},
    {CUBATURE, "material.constants", 7, 2, "material 1: mooney_ratio"},
    {CUBATURE, "material.models", 0, 'x', "\"material.models\" names a material model that does not exist"},
    {CUBATURE, "material.models", 3, 0, "\"material.models\" holds 3 strings and should hold 2"},
    {CUBATURE, "interface.names", 0, 0, "\"interface.names\" holds 3 strings and should hold 2"},
    {CUBATURE, "interface.names", 1, 7, "the name of interface 0 is empty, too long or not printable"},
    {CUBATURE, "interface.names", 9, 0xFF, "the name of interface 1 is empty, too long or not printable"},
    {CUBATURE, "interface.names", 10, 'x', "the name of interface 1 is empty, too long or not printable"},
    {CUBATURE, "interface.names", 11, 'x', "\"interface.names\" holds 1 strings and should hold 2"},
    {CUBATURE, "interface.radius", 0, 0, "\"interface.radius\": that of \"root\" is not positive"},
    {CUBATURE, "interface.radius", 1, 1e-300, "\"interface.radius\": that of"},
    {CUBATURE, "interface.A", 0, 2, "A_0 of \"root\" is not symmetric with trace 1"},
    {CUBATURE, "interface.centre", 0, NAN, "\"interface.centre\" holds a number that is not finite"},
    {CUBATURE, "interface.translation", 0, NAN, "\"interface.translation\" holds a number that is not finite"},
    {CUBATURE, "interface.A", 60, NAN, "\"interface.A\" holds a number that is not finite"},
    {CUBATURE, "interface.A", 1, 50, "A_0 of \"root\" is not symmetric"},
    {CUBATURE, "interface.counts", 0, 0, "\"interface.counts\" gives interface 0 0 vertices"},
    {CUBATURE, "interface.counts", 1, 5, "\"interface.counts\" gives interface 1 5 vertices"},
    {CUBATURE, "interface.counts", 1, 3, "\"interface.counts\" adds up to 7 of 8 vertices"},
    {CUBATURE, "interface.vertices", 7, 12, "has a vertex that does not exist"},
    {CUBATURE, "interface.vertices", 0, -1, "\"interface.vertices\": \"root\" has a vertex that does not exist"},
    {CUBATURE, "interface.weights", 0, 0.3, "\"interface.weights\": those of \"root\" are not positive"},
    {CUBATURE, "interface.weights", 0, -0.25, "\"interface.weights\": those of \"root\" are not positive"},
    {CUBATURE, "wind.position", 0, NAN, "\"wind.position\" holds a number that is not finite"},
    {CUBATURE, "wind.normal", 0, NAN, "\"wind.normal\" holds a number that is not finite"},
    {CUBATURE, "wind.area", 0, -1, "\"wind.area\" holds a negative area"},
    {CUBATURE, "wind.U", 0, NAN, "\"wind.U\" holds a number that is not finite"},
    {CUBATURE, "contact.position", 0, NAN, "\"contact.position\" holds a number that is not finite"},
    {CUBATURE, "contact.normal", 0, NAN, "\"contact.normal\" holds a number that is not finite"},
    {CUBATURE, "contact.normal", 0, 3, "\"contact.normal\" holds a vector whose length is not 1"},
    {CUBATURE, "contact.U", 0, NAN, "\"contact.U\" holds a number that is not finite"},
    {CUBATURE, "surface.position", 17, NAN, "\"surface.position\" holds a number that is not finite"},
    {CUBATURE, "surface.U", 0, 2e30, "\"surface.U\" holds a number that is not finite, or beyond 1e+30"},
    {CUBATURE, "surface.U", 0, INFINITY, "\"surface.U\" holds a number that is not finite"},
    {SHORTS, "surface.scale", 4, NAN, "\"surface.scale\" holds a number that is not finite"},
    {CUBATURE, "surface.triangles", 5, 6, "\"surface.triangles\" holds a vertex that does not exist"},
    {CUBATURE, "surface.triangles", 0, -1, "\"surface.triangles\" holds a vertex that does not exist"},
    {CUBATURE, "surface.mesh_vertex", 0, -2, "\"surface.mesh_vertex\" holds a vertex that does not exist"},
    {CUBATURE, "surface.mesh_vertex", 0, 12, "\"surface.mesh_vertex\" holds a vertex that does not exist"},
    {CUBATURE, "wire.position", 5, NAN, "\"wire.position\" holds a number that is not finite"},
    {CUBATURE, "wire.U", 0, INFINITY, "\"wire.U\" holds a number that is not finite"},
    {CUBATURE, "wire.edges", 5, 8, "\"wire.edges\" holds a vertex that does not exist"},
    {CUBATURE, "wire.edges", 0, -1, "\"wire.edges\" holds a vertex that does not exist"},
    {CUBATURE, "volume.type", 0, 'T', "\"volume.type\" names a type of element that does not exist"},
    {CUBATURE, "volume.type", 3, 0, "\"volume.type\" holds 2 strings and should hold 1"},
    {CUBATURE, "volume.position", 0, NAN, "\"volume.position\" holds a number that is not finite"},
    {CUBATURE, "volume.elements", 7, 12, "\"volume.elements\" holds a vertex that does not exist"},
    {CUBATURE, "volume.U", 179, NAN, "\"volume.U\" holds a number that is not finite"},
    {CUBATURE, "quality.force_random", 0, INFINITY, "\"quality.force_random\" holds a number that is not finite"},
    {CUBATURE, "quality.full_hz", 0, NAN, "\"quality.full_hz\" holds a number that is not finite"},
    {CUBATURE, "provenance", 3, 0, "\"provenance\" holds 2 strings and should hold 1"},
};

static void wrong_numbers_are_refused_by_name(void **state) {
    (void)state;
    bough_context *ctx = test_context(1);
    for (size_t i = 0; i < sizeof mutations / sizeof mutations[0]; i++) {
        const mutation *m = &mutations[i];
        draft *d = draft_of(m->which);
        editable e = make_editable(ctx, d);
        put(&e, m->chunk, m->index, m->value);
        check_refused(&e, m->sentence);
        free(e.bytes);
        draft_free(d);
    }
    bough_context_destroy(ctx);
}

/* Rules that more than one number is needed to break. */
static void wrong_combinations_are_refused(void **state) {
    (void)state;
    bough_context *ctx = test_context(1);
    bough_component *c;
    draft *d = draft_of(POLYNOMIAL);
    d->quartic[bo_quartic_index(3, 2, 0, 0)] += 1e-6;
    check_fails(ctx, bo_component_pack(ctx, &d->c, &c), BOUGH_ERROR_FORMAT, "\"quartic\" does not have the stiffness");
    draft_free(d);

    d = draft_of(CUBATURE);
    d->interfaces[1].name = "root";
    check_fails(ctx, bo_component_pack(ctx, &d->c, &c), BOUGH_ERROR_FORMAT, "two interfaces named \"root\"");
    char endless[400];
    memset(endless, 'x', sizeof endless - 1);
    endless[sizeof endless - 1] = 0;
    d->interfaces[1].name = endless;
    check_fails(ctx, bo_component_pack(ctx, &d->c, &c), BOUGH_ERROR_FORMAT, "too long");
    d->interfaces[1].name = "";
    check_fails(ctx, bo_component_pack(ctx, &d->c, &c), BOUGH_ERROR_FORMAT, "is empty");
    draft_free(d);

    d = draft_of(CUBATURE); /* vertices on a line */
    for (int k = 0; k < DRAFT_FACE; k++)
        for (int i = 0; i < 3; i++)
            d->X[3 * k + i] = k * (i + 1);
    memset(d->A, 0, sizeof d->A);
    memset(d->translation, 0, sizeof d->translation);
    draft_interfaces(d);
    check_fails(ctx, bo_component_pack(ctx, &d->c, &c), BOUGH_ERROR_FORMAT, "\"root\" lie on a line");
    draft_free(d);

    d = draft_of(CUBATURE); /* two coordinates that do the same */
    for (int l = 0; l < 5; l++)
        for (int i = 0; i < 3 * DRAFT_VERTICES; i++)
            d->U[5 * i + 1] = d->U[5 * i];
    memset(d->W7, 0, sizeof d->W7);
    draft_inertia(d);
    check_fails(ctx, bo_component_pack(ctx, &d->c, &c), BOUGH_ERROR_FORMAT, "\"W7\" gives a mass matrix");
    draft_free(d);

    d = draft_of(CUBATURE); /* masses so small that their inverse is infinite */
    for (int i = 0; i < 25 * 9; i++)
        d->W7[i] *= 1e-310;
    check_fails(ctx, bo_component_pack(ctx, &d->c, &c), BOUGH_ERROR_FORMAT, "\"W7\" gives a mass matrix");
    draft_free(d);

    d = draft_of(CUBATURE);
    d->c.volume.type = 7;
    check_fails(ctx, bo_component_pack(ctx, &d->c, &c), BOUGH_ERROR_ARGUMENT, "elements of type 7");
    d->c.volume.type = 1, d->c.wind.count = -1;
    check_fails(ctx, bo_component_pack(ctx, &d->c, &c), BOUGH_ERROR_ARGUMENT, "negative count");
    d->c.wind.count = 1, d->c.r = 513;
    check_fails(ctx, bo_component_pack(ctx, &d->c, &c), BOUGH_ERROR_ARGUMENT, "513 coordinates");
    draft_free(d);
    bough_context_destroy(ctx);
}

/* The image again with one chunk changed: left out (bytes NULL), or with other dimensions. */
static void rebuild(const editable *e, const char *name, const bo_chunk *replacement, bool add, editable *result) {
    bo_image image;
    check_ok(e->ctx, bo_image_open(e->ctx, e->bytes, e->size, BO_COMPONENT_KIND, BO_COMPONENT_VERSION, &image));
    bo_image_builder builder;
    bo_image_begin(e->ctx, &builder, BO_COMPONENT_KIND, BO_COMPONENT_VERSION);
    for (int32_t i = 0; i < image.chunk_count; i++) {
        bo_chunk chunk = bo_image_chunk(&image, i);
        if (strcmp(chunk.name, name) == 0) {
            if (!replacement)
                continue;
            chunk.type = replacement->type, chunk.rank = replacement->rank, chunk.data = replacement->data;
            memcpy(chunk.dims, replacement->dims, sizeof chunk.dims);
        }
        bo_image_add(&builder, chunk.name, chunk.type, chunk.rank, chunk.dims, chunk.data);
    }
    if (add)
        bo_image_add(&builder, name, replacement->type, replacement->rank, replacement->dims, replacement->data);
    void *bytes;
    result->ctx = e->ctx;
    check_ok(e->ctx, bo_image_finish(&builder, &bytes, &result->size));
    result->bytes = malloc(result->size);
    memcpy(result->bytes, bytes, result->size);
    bo_free(e->ctx, bytes);
}

/* Without a chunk, a component is refused with its name, or it lacks what may be lacking. */
static void missing_chunks_are_named(void **state) {
    (void)state;
    bough_context *ctx = test_context(1);
    for (int which = 0; which < MODELS; which++) {
        draft *d = draft_of(which);
        editable e = make_editable(ctx, d), without;
        for (int32_t i = 0; i < bo_component_array_count; i++) {
            const bo_component_array *array = &bo_component_arrays[i];
            rebuild(&e, array->name, NULL, false, &without);
            bough_component *c = NULL;
            bough_status status = bough_component_read(ctx, without.bytes, without.size, &c);
            char quoted[64];
            snprintf(quoted, sizeof quoted, "\"%s\"", array->name);
            if (status != BOUGH_OK && !array->optional && !strstr(bough_message(ctx), quoted) &&
                strcmp(array->name, "surface.U16") != 0)
                fail_msg("without %s: %s", array->name, bough_message(ctx));
            if (status == BOUGH_OK && !array->optional && without.size != e.size)
                fail_msg("%s was not missed", array->name);
            bough_component_destroy(ctx, c);
            free(without.bytes);
        }
        free(e.bytes);
        draft_free(d);
    }
    bough_context_destroy(ctx);
}

static void chunks_of_another_shape_are_named(void **state) {
    (void)state;
    bough_context *ctx = test_context(1);
    draft *d = draft_of(CUBATURE);
    editable e = make_editable(ctx, d), changed;
    static double zeros[5 * 5 * 9];
    static const int32_t nodes[20] = {0};
    const struct {
        const char *name;
        bo_chunk chunk;
        bool add;
        const char *sentence;
    } cases[] = {
        {"K",
         {.type = BO_F64, .rank = 2, .dims = {5, 4}, .data = zeros},
         false,
         "\"K\" is f64 5 x 4 and should be f64 5 x 5"},
        {"K", {.type = BO_F64, .rank = 1, .dims = {25}, .data = zeros}, false, "\"K\" is f64 25 and should be"},
        {"K", {.type = BO_F32, .rank = 2, .dims = {5, 5}, .data = zeros}, false, "\"K\" is f32 5 x 5 and should be"},
        {"form", {.type = BO_I32, .rank = 1, .dims = {3}, .data = zeros}, false, "\"form\" is i32 3"},
        {"wind.position",
         {.type = BO_F64, .rank = 2, .dims = {4, 3}, .data = zeros},
         false,
         "\"wind.normal\" is f64 5 x 3"},
        {"wind.position", {.type = BO_F64, .rank = 1, .dims = {4}, .data = zeros}, false, "any number x 3"},
        {"surface.U16", {.type = BO_I16, .rank = 3, .dims = {2, 5, 16}, .data = zeros}, true, "are both there"},
        {"volume.elements", {.type = BO_I32, .rank = 2, .dims = {2, 10}, .data = nodes}, false, "a tet4 has 4"},
        {"input_hash", {.type = BO_U8, .rank = 1, .dims = {7}, .data = zeros}, false, "\"input_hash\" is u8 7"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        rebuild(&e, cases[i].name, &cases[i].chunk, cases[i].add, &changed);
        check_refused(&changed, cases[i].sentence);
        free(changed.bytes);
    }
    rebuild(&e, "volume.position", NULL, false, &changed);
    check_refused(&changed, "volume.");
    free(changed.bytes);
    free(e.bytes);
    draft_free(d);
    bough_context_destroy(ctx);
}

/* Bytes of header and directory (docs/component-format.md#container). */
static void wrong_directories_are_refused(void **state) {
    (void)state;
    bough_context *ctx = test_context(1);
    draft *d = draft_of(RIGID);
    editable e = make_editable(ctx, d);
    enum { ENTRY = BO_IMAGE_HEADER_SIZE, NEXT = ENTRY + BO_IMAGE_ENTRY_SIZE };
    const struct {
        size_t at;
        unsigned char value;
        bough_status status;
        const char *sentence;
    } cases[] = {
        {0, 'X', BOUGH_ERROR_FORMAT, "not a .bough file"},
        {8, 2, BOUGH_ERROR_UNSUPPORTED, "version 2 of the .bough container"},
        {13, 0xFF, BOUGH_ERROR_FORMAT, "does not fit in"},
        {17, 0x19, BOUGH_ERROR_FORMAT, "should have"},
        {23, 0xFF, BOUGH_ERROR_FORMAT, "cut short"},
        {24, 'x', BOUGH_ERROR_FORMAT, "of another kind than \"component\""},
        {40, 9, BOUGH_ERROR_UNSUPPORTED, "version 9 of \"component\""},
        {50, 1, BOUGH_ERROR_FORMAT, "bytes that should be zero"},
        {ENTRY, 0, BOUGH_ERROR_FORMAT, "chunk 0 has a name that is not plain text"},
        {ENTRY + 31, 'x', BOUGH_ERROR_FORMAT, "chunk 0 has a name that is not plain text"},
        {ENTRY + 32, 9, BOUGH_ERROR_FORMAT, "\"form\" has type 9"},
        {ENTRY + 36, 0, BOUGH_ERROR_FORMAT, "\"form\" has type 3 and rank 0"},
        {ENTRY + 36, 5, BOUGH_ERROR_FORMAT, "\"form\" has type 3 and rank 5"},
        {ENTRY + 36, 2, BOUGH_ERROR_FORMAT, "\"form\" has a dimension of 0"},
        {ENTRY + 40, 0, BOUGH_ERROR_FORMAT, "\"form\" has a dimension of 0"},
        {ENTRY + 40, 5, BOUGH_ERROR_FORMAT, "\"form\" has another size than its dimensions say"},
        {ENTRY + 47, 0xFF, BOUGH_ERROR_FORMAT, "\"form\" has another size than its dimensions say"},
        {ENTRY + 48, 1, BOUGH_ERROR_FORMAT, "or one too many"},
        {ENTRY + 73, 0xFF, BOUGH_ERROR_FORMAT, "\"form\" does not begin where"},
        {ENTRY + 79, 0xFF, BOUGH_ERROR_FORMAT, "\"form\" does not begin where"},
        {ENTRY + 80, 17, BOUGH_ERROR_FORMAT, "\"form\" has another size"},
    };
    unsigned char *copy = malloc(e.size);
    memcpy(copy, e.bytes, e.size);
    bough_component *read;
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        e.bytes[cases[i].at] = cases[i].value;
        bo_image_seal(e.bytes, e.size);
        check_fails(ctx, bough_component_read(ctx, e.bytes, e.size, &read), cases[i].status, cases[i].sentence);
        memcpy(e.bytes, copy, e.size);
    }
    memcpy(e.bytes + NEXT, e.bytes + ENTRY, 32);
    check_refused(&e, "two chunks named \"form\"");
    memcpy(e.bytes, copy, e.size);
    e.bytes[e.size - 1] = 1; /* behind the last chunk, which has 8 bytes */
    check_refused(&e, "the bytes after \"input_hash\" are not zero");
    free(copy);
    free(e.bytes);
    draft_free(d);
    bough_context_destroy(ctx);
}

/* docs/component-format.md has a row "| `name` | type | ..." for each chunk; qualities are listed in one row. */
static void every_chunk_is_documented(void **state) {
    (void)state;
    static const char *const types[] = {"", "f64", "f32", "i32", "i16", "u8"};
    static char text[1 << 16];
    FILE *f = fopen(BOUGH_SOURCE_DIR "/docs/component-format.md", "rb");
    check(f != NULL);
    size_t size = fread(text, 1, sizeof text - 1, f);
    fclose(f);
    check(size > 0 && size < sizeof text - 1);
    for (int32_t i = 0; i < bo_component_array_count; i++) {
        const bo_component_array *array = &bo_component_arrays[i];
        const bool row_of_its_own = strncmp(array->name, "quality.", 8) || array->dims[0] != BO_SIZE_1;
        const char *number = row_of_its_own ? NULL : array->name + 8;
        char row[96];
        snprintf(row, sizeof row, number ? "`%s`" : "\n| `%s` | %s |", number ? number : array->name,
                 types[array->type]);
        if (!strstr(text, row))
            fail_msg("docs/component-format.md says nothing about %s, %s", array->name, types[array->type]);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(wrong_numbers_are_refused_by_name), cmocka_unit_test(wrong_combinations_are_refused),
        cmocka_unit_test(missing_chunks_are_named),          cmocka_unit_test(chunks_of_another_shape_are_named),
        cmocka_unit_test(wrong_directories_are_refused),     cmocka_unit_test(every_chunk_is_documented),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
