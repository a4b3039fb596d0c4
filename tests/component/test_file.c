/* .bough files: what is saved is loaded, bit by bit; what is damaged is refused. */
#include "draft.h"

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

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_is_saved_is_loaded),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
