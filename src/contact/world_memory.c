/* The state of a contact world: bodies that are looked at, and all numbers that change. */
#include "contact/world.h"

#include <string.h>

bough_pose bough_contact_world_body_pose(const bough_contact_world *world, int32_t body) {
    return world->bodies[body].pose;
}

void bough_contact_world_body_twist(const bough_contact_world *world, int32_t body, double twist[6]) {
    const bough_rigid_body *b = &world->bodies[body];
    bo_store3(twist, bo_mat_tvec(bo_pose(&b->pose).R, bo_load3(b->velocity)));
    bo_store3(twist + 3, bo_load3(b->spin));
}

/* ---- numbers ---- */

enum { NUMBERS_OF_ALL = 7, NUMBERS_OF_A_BODY = 24, NUMBERS_OF_AN_IMPULSE = 13 };

int64_t bough_contact_world_memory_size(const bough_contact_world *s) {
    return NUMBERS_OF_ALL + (int64_t)NUMBERS_OF_A_BODY * s->body_count +
           (int64_t)NUMBERS_OF_AN_IMPULSE * (int64_t)bo_world_work(s)->kept_count;
}

/* Counts first: of bodies, shapes and impulses. */
void bough_contact_world_save(const bough_contact_world *s, double *memory) {
    const struct bo_contact_world_work *w = bo_world_work(s);
    double *x = memory;
    *x++ = s->body_count, *x++ = w->thing_count, *x++ = (double)w->kept_count, *x++ = w->kept_dt;
    memcpy(x, s->gravity, sizeof s->gravity);
    x += 3;
    for (int32_t i = 0; i < s->body_count; i++, x += NUMBERS_OF_A_BODY)
        memcpy(x, &s->bodies[i], sizeof s->bodies[i]);
    for (size_t i = 0; i < w->kept_count; i++, x += NUMBERS_OF_AN_IMPULSE) {
        x[0] = w->kept[i].a, x[1] = w->kept[i].b, x[2] = w->kept[i].feature;
        bo_store3(x + 3, w->kept[i].impulse);
        bo_store3(x + 6, bo_load3(s->contacts[i].position));
        bo_store3(x + 9, bo_load3(s->contacts[i].normal));
        x[12] = s->contacts[i].gap;
    }
}
_Static_assert(sizeof(bough_rigid_body) == NUMBERS_OF_A_BODY * sizeof(double), "a body is numbers only");

static bool is_number(double x, double lower, double upper) {
    return x >= lower && x <= upper;
}

static bool good_impulse(const struct bo_contact_world_work *w, const double *x) {
    return is_number(x[0], 0, w->thing_count - 1) && is_number(x[1], 0, w->thing_count - 1) &&
           is_number(x[2], 0, UINT32_MAX) && bo_all_finite(NUMBERS_OF_AN_IMPULSE - 3, x + 3);
}

static bough_status check_memory(bough_context *ctx, const bough_contact_world *s, int64_t size, const double *memory) {
    const struct bo_contact_world_work *w = bo_world_work(s);
    const int64_t fixed = NUMBERS_OF_ALL + (int64_t)NUMBERS_OF_A_BODY * s->body_count;
    bool good = size >= fixed && memory && memory[0] == s->body_count && memory[1] == w->thing_count &&
                memory[2] == (double)((size - fixed) / NUMBERS_OF_AN_IMPULSE) &&
                (size - fixed) % NUMBERS_OF_AN_IMPULSE == 0 && (memory[3] > 0 || size == fixed);
    for (int64_t k = 3; k < fixed && good; k++)
        good = isfinite(memory[k]);
    for (int32_t i = 0; i < s->body_count && good; i++) {
        bough_pose pose;
        memcpy(&pose, memory + NUMBERS_OF_ALL + (ptrdiff_t)NUMBERS_OF_A_BODY * i, sizeof pose);
        good = bo_good_pose(&pose);
    }
    for (int64_t k = fixed; k < size && good; k += NUMBERS_OF_AN_IMPULSE)
        good = good_impulse(w, memory + k);
    if (!good)
        return bo_fail(ctx, BOUGH_ERROR_FORMAT, "the numbers are not those of this contact world");
    return BOUGH_OK;
}

bough_status bough_contact_world_restore(bough_context *ctx, bough_contact_world *s, int64_t size,
                                         const double *memory) {
    struct bo_contact_world_work *w = bo_world_work(s);
    BO_TRY(check_memory(ctx, s, size, memory));
    const size_t count = (size_t)memory[2];
    const double *x = memory + NUMBERS_OF_ALL;
    if (!BO_RESERVE(ctx, w->kept, w->kept_capacity, count) || !BO_RESERVE(ctx, s->contacts, w->contact_capacity, count))
        return bo_fail_memory(ctx);
    w->kept_count = count, w->kept_dt = memory[3];
    memcpy(s->gravity, memory + 4, sizeof s->gravity);
    for (int32_t i = 0; i < s->body_count; i++, x += NUMBERS_OF_A_BODY)
        memcpy(&s->bodies[i], x, sizeof s->bodies[i]);
    for (size_t i = 0; i < count; i++, x += NUMBERS_OF_AN_IMPULSE) {
        w->kept[i] = (bo_memory_of_impulse){(int32_t)x[0], (int32_t)x[1], (uint32_t)x[2], bo_load3(x + 3)};
        s->contacts[i] = bo_contact_of(w, &w->kept[i], w->kept_dt);
        memcpy(s->contacts[i].position, x + 6, 3 * sizeof(double));
        memcpy(s->contacts[i].normal, x + 9, 3 * sizeof(double));
        s->contacts[i].gap = x[12];
    }
    s->contact_count = (int32_t)count;
    return BOUGH_OK;
}
