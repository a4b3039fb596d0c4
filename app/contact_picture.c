/* Arrows in pictures where things touch. */
#include "film.h"

#include <math.h>
#include <stdlib.h>

#define LONGEST 0.25 /* of the size of what is looked at */
#define SMALL 1e-3   /* of the largest force: nobody sees the arrow */

static const float normal_colour[3] = {0.11f, 0.61f, 0.82f}, friction_colour[3] = {0.88f, 0.25f, 0.48f};

/* The part of the force along the normal, or across it. */
static void part_of(const bough_run_contact *c, bool friction, double part[3]) {
    double along = 0;
    for (int d = 0; d < 3; d++)
        along += c->force[d] * c->normal[d];
    for (int d = 0; d < 3; d++)
        part[d] = friction ? c->force[d] - along * c->normal[d] : along * c->normal[d];
}

static double length(const double x[3]) {
    return sqrt(x[0] * x[0] + x[1] * x[1] + x[2] * x[2]);
}

static void find_largest(int32_t count, const bough_run_contact *contacts, double *most) {
    for (int32_t i = 0; i < 2 * count; i++) {
        double part[3];
        part_of(&contacts[i / 2], i % 2, part);
        *most = fmax(*most, length(part));
    }
}

static bough_status draw(bough_context *ctx, int32_t count, const bough_run_contact *contacts, bool friction,
                         app_shot *shot, double *points) {
    const double scale = LONGEST * shot->size / shot->push;
    bough_line_style style = bough_default_line_style();
    int32_t arrows = 0;
    for (int32_t i = 0; i < count; i++) {
        double part[3], *to = points + 6 * (size_t)arrows;
        part_of(&contacts[i], friction, part);
        for (int d = 0; d < 3; d++) {
            to[d] = contacts[i].position[d];
            to[3 + d] = contacts[i].position[d] + scale * part[d];
        }
        arrows += length(part) > SMALL * shot->push;
    }
    for (int c = 0; c < 3; c++)
        style.colour[c] = friction ? friction_colour[c] : normal_colour[c];
    style.width = fmax(1.5, shot->def.height / 200.0), style.on_top = true, style.arrowhead = true;
    return bough_picture_add_lines(ctx, shot->picture, points, arrows, &style);
}

static bough_status draw_label(bough_context *ctx, int32_t count, app_shot *shot) {
    static const float ink[3] = {0.15f, 0.15f, 0.17f}, chalk[3] = {0.9f, 0.9f, 0.92f};
    const double unit = shot->def.height / 540.0;
    char text[80];
    if (shot->def.height < 200)
        return BOUGH_OK;
    snprintf(text, sizeof text, "%d contact%s, longest arrow %.3g N", count, count == 1 ? "" : "s", shot->push);
    return bough_picture_add_label(ctx, shot->picture, 24 * unit, 24 * unit, 12 * unit,
                                   shot->def.backdrop == APP_BACKDROP_DARK ? chalk : ink, text);
}

bough_status app_draw_contacts(bough_context *ctx, const bough_run *run, app_shot *shot) {
    const int32_t count = bough_run_contacts(run, 0, NULL);
    bough_run_contact *contacts = malloc(((size_t)count + 1) * sizeof *contacts);
    double *points = malloc((6 * (size_t)count + 1) * sizeof *points);
    bough_status s = contacts && points ? BOUGH_OK : BOUGH_ERROR_MEMORY;
    int32_t pushing = 0;
    if (!s)
        bough_run_contacts(run, count, contacts);
    for (int32_t i = 0; i < count && !s; i++)
        if (length(contacts[i].force) > 0)
            contacts[pushing++] = contacts[i];
    if (!s)
        find_largest(pushing, contacts, &shot->push);
    for (int friction = 0; friction < 2 && !s && shot->push > 0; friction++)
        s = draw(ctx, pushing, contacts, friction, shot, points);
    if (!s)
        s = draw_label(ctx, pushing, shot);
    free(contacts);
    free(points);
    return s;
}

int app_shot_check(const bough_run *run, const app_shot_def *def) {
    return !def->contacts || bough_run_can(run) & BOUGH_CAN_CONTACTS
               ? APP_OK
               : app_fail_with("--contacts: the engine of this scene knows no contacts");
}
