/* Overlaps that somebody made, or leads to: a warning names them, and so does the sentence that ends a run in which no step
 * succeeds any more, since a smaller step or another integrator would not help. */
#include "run/run.h"

#include "base/file.h"
#include "engine/contacts.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#define DEEP 0.02    /* of the radius of the smaller of the two: what rests on something overlaps by less */
#define CRUSHED 0.25 /* likewise: nothing gets there but by force */
enum { OFTEN = 16 }; /* in one of so many steps somebody looks */

/* The radius of a box around a thing at rest, m. */
static double radius_of(const bo_engine *engine, int32_t thing) {
    const bough_thing *of = &engine->things[thing];
    const bough_look *look = of->look >= 0 ? &engine->looks[of->look] : NULL;
    const bough_surface *surface = look && look->component ? &look->component->surface : NULL;
    const int32_t count = surface ? surface->vertex_count : look ? look->vertex_count : 0;
    bo_vec3 lower = {INFINITY, INFINITY, INFINITY}, upper = {-INFINITY, -INFINITY, -INFINITY};
    for (int32_t v = 0; v < count; v++) {
        const float *p = surface ? surface->position + 3 * (ptrdiff_t)v : NULL;
        const bo_vec3 x =
            p ? bo_v3((double)p[0], (double)p[1], (double)p[2]) : bo_load3(look->vertices + 3 * (ptrdiff_t)v);
        lower = bo_v3(fmin(lower.x, x.x), fmin(lower.y, x.y), fmin(lower.z, x.z));
        upper = bo_v3(fmax(upper.x, x.x), fmax(upper.y, x.y), fmax(upper.z, x.z));
    }
    return count > 0 ? 0.5 * of->scale * bo_norm(bo_sub(upper, lower)) : INFINITY;
}

/* share: of the radius of the smaller of the two. */
static bool is_deep(const bo_engine *engine, const bough_run_contact *contact, double share) {
    double radius = INFINITY;
    for (int side = 0; side < 2; side++)
        if (contact->things[side] >= 0)
            radius = fmin(radius, radius_of(engine, contact->things[side]));
    return -contact->gap > share * radius;
}

static bough_status find_deepest(bough_run *run) {
    run->overlap.gap = 0;
    BO_TRY(bo_engine_list_contacts(run->ctx, &run->engine, &run->engine.contacts));
    for (int32_t i = 0; i < run->engine.contacts.count; i++)
        if (run->engine.contacts.items[i].gap < run->overlap.gap)
            run->overlap = run->engine.contacts.items[i];
    return BOUGH_OK;
}

/* The sentence of the step stays, also where there is no memory for more. */
void bo_run_note_overlap(bough_run *run) {
    char sentence[BO_MESSAGE_SIZE];
    memcpy(sentence, run->ctx->message, sizeof sentence);
    if (find_deepest(run) != BOUGH_OK)
        memcpy(run->ctx->message, sentence, sizeof sentence);
}

static const char *name_of(const bo_engine *engine, int32_t thing) {
    return thing >= 0 && thing < engine->thing_count ? engine->things[thing].name : "something";
}

bool bo_run_name_overlap(bough_context *ctx, bough_run *run, bough_status status) {
    const bough_run_contact *deepest = &run->overlap;
    char sentence[BO_MESSAGE_SIZE];
    memcpy(sentence, ctx->message, sizeof sentence);
    const bool named =
        deepest->gap < 0 && bo_engine_need_things(&run->engine) == BOUGH_OK && is_deep(&run->engine, deepest, DEEP);
    if (named)
        bo_fail(ctx, status, "%.400s; \"%.60s\" is %.3g m inside \"%.60s\", at (%.4g, %.4g, %.4g): move one of them",
                sentence, name_of(&run->engine, deepest->things[0]), -deepest->gap,
                name_of(&run->engine, deepest->things[1]), deepest->position[0], deepest->position[1],
                deepest->position[2]);
    else
        memcpy(ctx->message, sentence, sizeof sentence);
    return named;
}

static void warn(bough_run *run, bool begins) {
    const bough_run_contact *c = &run->overlap;
    char when[40] = "begins";
    if (!begins)
        snprintf(when, sizeof when, "at t = %.4g s is", bo_run_time(run));
    bo_warn(run->ctx, "\"%.60s\" %s %.3g m inside \"%.60s\", at (%.4g, %.4g, %.4g): %s",
            name_of(&run->engine, c->things[0]), when, -c->gap, name_of(&run->engine, c->things[1]), c->position[0],
            c->position[1], c->position[2],
            begins ? "contact may not get it out, or make energy; move one of them"
                   : "it is led or pressed there by more than contact can hold, whose forces mean nothing then");
}

bough_status bo_run_watch_overlaps(bough_run *run) {
    const bool begins = !run->watches && run->place.step <= 1;
    if (!run->engine.overlaps || (run->watches && (run->place.unit > 0 || run->place.step % OFTEN > 0)) || run->crushed)
        return BOUGH_OK;
    run->watches = true;
    BO_TRY(find_deepest(run));
    if (!(run->overlap.gap < 0))
        return BOUGH_OK;
    BO_TRY(bo_engine_need_things(&run->engine));
    run->crushed = is_deep(&run->engine, &run->overlap, CRUSHED);
    if (run->crushed || (begins && is_deep(&run->engine, &run->overlap, DEEP)))
        warn(run, begins);
    return BOUGH_OK;
}
