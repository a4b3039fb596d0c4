/* "events": what happens to parts and ties at times; "break" and "remove_below": what happens when it comes to it. */
#include "scene/scene.h"

#include "scene/entries.h"

#include <stdlib.h>
#include <string.h>

/* ---- one event ---- */

/* The one key that says what happens. *what refers to *at, which must outlive it. */
static bough_status find_kind(const bo_json *at, bo_json *what, int32_t *kind) {
    int32_t count = 0;
    for (int32_t k = 0; k < BO_EVENT_KINDS; k++) {
        bo_json here = bo_json_at(at, BO_EVENT_NAMES[k]);
        if (!here.value)
            continue;
        *what = here, *kind = k;
        count++;
    }
    if (count == 0)
        return bo_json_fail(*at, "nothing happens: say what does by \"detach\", \"attach\", \"reattach\", \"lock\", "
                                 "\"unlock\", \"remove\", \"add\", \"cut_tie\", \"join_tie\" or \"wind\"");
    return count == 1 ? BOUGH_OK
                      : bo_json_fail(*what, "is the second thing in this event; make it an event of its own");
}

static bough_status check_keys_of(bo_json at, int32_t kind) {
    static const char *const keys[] = {"parent", "interface", "position", "rotate_deg", "velocity", "angular_velocity"};
    for (size_t i = 0; i < sizeof keys / sizeof *keys; i++) {
        const bool belongs = kind == (i < 2 ? (int32_t)BOUGH_CHANGE_ATTACH : (int32_t)BOUGH_CHANGE_ADD);
        if (!belongs && bo_json_has(&at, keys[i]))
            return bo_json_fail(bo_json_at(&at, keys[i]), "is for events that %s",
                                i < 2 ? "\"attach\" a part" : "\"add\" one");
    }
    return BOUGH_OK;
}

/* The numbers of those that are chosen. */
static bough_status list_chosen(bough_context *ctx, const bool *chosen, int32_t all, int32_t count, int32_t **list,
                                int32_t *list_count) {
    if (!(*list = BO_NEW_ARRAY(ctx, int32_t, count)))
        return BOUGH_ERROR_MEMORY;
    for (int32_t i = 0; i < all; i++)
        if (chosen[i])
            (*list)[(*list_count)++] = i;
    return BOUGH_OK;
}

static bough_status read_parts(bo_json what, bo_chooser *chooser, bo_tree_event *event) {
    BO_TRY(bo_choose(what, (bo_json){.ctx = what.ctx}, chooser));
    return list_chosen(what.ctx, chooser->chosen, chooser->assembly->part_count, chooser->count, &event->parts,
                       &event->part_count);
}

static bough_status read_ties(bo_json what, bo_chooser *chooser, bo_tree_event *event) {
    BO_TRY(bo_choose_ties(what, chooser));
    return list_chosen(what.ctx, chooser->chosen_ties, chooser->assembly->tie_count, chooser->tie_count, &event->ties,
                       &event->tie_count);
}

static bough_status read_attach(bo_json at, const bo_assembly *assembly, bo_tree_event *event) {
    bo_json parent = bo_json_at(&at, "parent"), interface = bo_json_at(&at, "interface");
    event->parent = -1;
    if (!parent.value)
        return interface.value ? bo_json_fail(interface, "is one of the parent's, but \"parent\" is missing")
                               : BOUGH_OK;
    BO_TRY(bo_choose_part(parent, assembly, &event->parent));
    for (int32_t i = 0; i < event->part_count; i++)
        if (event->parts[i] == event->parent)
            return bo_json_fail(parent, "cannot be attached to itself");
    return bo_part_interface(interface, at, &assembly->components[assembly->parts[event->parent].component],
                             &event->interface_index);
}

/* Reads the pose of a root: that of the event, or else that of the scene. */
static bough_status read_pose(bo_json at, const bo_assembly *assembly, bo_tree_event *event) {
    double degrees[3] = {0};
    bough_frame *frame = &event->frame;
    bo_json position = bo_json_at(&at, "position"), turn = bo_json_at(&at, "rotate_deg");
    event->placed = position.value != NULL, event->turned = turn.value != NULL;
    if ((event->placed || event->turned) && event->part_count > 1)
        return bo_json_fail(at, "puts %d parts into one place; add them one by one", event->part_count);
    BO_TRY(bo_json_vec3(position, BO_ANY, frame->pose.position));
    BO_TRY(bo_json_vec3(turn, BO_ANY, degrees));
    BO_TRY(bo_json_vec3(bo_json_at(&at, "velocity"), BO_ANY, frame->velocity));
    BO_TRY(bo_json_vec3(bo_json_at(&at, "angular_velocity"), BO_ANY, frame->angular_velocity));
    const bo_part *part = &assembly->parts[event->parts[0]];
    if ((event->placed || event->turned) && part->track.count > 0)
        return bo_json_fail(event->placed ? position : turn, "\"%.60s\" goes where its \"track\" leads it", part->name);
    memcpy(frame->pose.rotation, bo_turn_degrees(degrees).m, sizeof frame->pose.rotation);
    return BOUGH_OK;
}

static bough_status read_event(bo_json at, const bough_scene *scene, bo_chooser *chooser, bo_tree_event *event) {
    bo_json what = at;
    BO_TRY(bo_json_keys(at, BO_EVENT_KEYS));
    BO_TRY(bo_json_number(bo_json_must(&at, "time"), BO_NOT_NEGATIVE, &event->time));
    BO_TRY(find_kind(&at, &what, &event->kind));
    BO_TRY(check_keys_of(at, event->kind));
    if (event->kind == BO_EVENT_WIND) {
        event->wind = scene->model.wind; /* and what wind events before it have changed, see carry_winds() */
        return bo_json_keys(what, BO_WIND_KEYS);
    }
    if (event->kind == BO_EVENT_CUT_TIE || event->kind == BO_EVENT_JOIN_TIE)
        return read_ties(what, chooser, event);
    BO_TRY(read_parts(what, chooser, event));
    if (event->kind == BOUGH_CHANGE_ATTACH)
        return read_attach(at, chooser->assembly, event);
    return event->kind == BOUGH_CHANGE_ADD ? read_pose(at, chooser->assembly, event) : BOUGH_OK;
}

/* ---- all of them ---- */

static int compare_events(const void *a, const void *b) {
    const bo_tree_event *one = a, *two = b;
    if (one->time != two->time)
        return one->time < two->time ? -1 : 1;
    return (one->order > two->order) - (one->order < two->order);
}

/* Values that a wind does not give stay as they were before. */
static bough_status carry_winds(bo_json list, bough_scene *scene) {
    bough_wind wind = scene->model.wind;
    for (int32_t i = 0; i < scene->tree.event_count; i++) {
        bo_tree_event *event = &scene->tree.events[i];
        if (event->kind != BO_EVENT_WIND)
            continue;
        bo_json at = bo_json_item(&list, event->order);
        BO_TRY(bo_scene_wind(bo_json_at(&at, "wind"), &wind));
        event->wind = wind;
    }
    return BOUGH_OK;
}

static bough_status read_events(bo_json at, bo_chooser *chooser, bough_scene *scene) {
    int32_t count;
    BO_TRY(bo_json_list(at, &count));
    scene->tree.events = BO_NEW_ZEROS(at.ctx, bo_tree_event, count);
    if (!scene->tree.events)
        return BOUGH_ERROR_MEMORY;
    scene->tree.event_count = count;
    for (int32_t i = 0; i < count; i++) {
        scene->tree.events[i].order = i;
        BO_TRY(read_event(bo_json_item(&at, i), scene, chooser, &scene->tree.events[i]));
    }
    if (count > 0)
        qsort(scene->tree.events, (size_t)count, sizeof *scene->tree.events, compare_events);
    return carry_winds(at, scene);
}

/* A key of the other kind of rule is told as such. */
static bough_status check_rule(bo_json at, bool of_ties) {
    static const char *const of_part[] = {BO_BREAK_KEYS}, *const of_tie[] = {BO_BREAK_TIE_KEYS};
    const char *const *others = of_ties ? of_part : of_tie;
    const size_t count = of_ties ? sizeof of_part / sizeof *of_part : sizeof of_tie / sizeof *of_tie;
    for (size_t i = 0; i < count; i++)
        if (bo_json_has(&at, others[i]))
            return bo_json_fail(bo_json_at(&at, others[i]), "is for rules of %s; make it a rule of its own",
                                of_ties ? "parts" : "\"ties\"");
    return of_ties ? bo_json_keys(at, BO_BREAK_TIE_KEYS) : bo_json_keys(at, BO_BREAK_KEYS);
}

/* The last rule that chooses a part is the one that counts. */
static bough_status read_break(bo_json at, bo_chooser *chooser, bo_tree_strength *strength) {
    bo_tree_strength one = {0};
    bo_json parts = bo_json_at(&at, "parts"), component = bo_json_at(&at, "component");
    if (!parts.value && !component.value)
        return bo_json_fail(
            at, "needs \"parts\", \"component\" or \"ties\", a pattern of names, to say what breaks; \"*\" is all");
    BO_TRY(bo_json_number(bo_json_must(&at, "stress"), BO_POSITIVE, &one.stress));
    BO_TRY(bo_json_flag(bo_json_at(&at, "lock"), &one.lock));
    BO_TRY(bo_choose(parts, component, chooser));
    if (chooser->count == 0)
        return bo_json_fail(at, "no part of this name has such a component, so that nothing breaks");
    for (int32_t i = 0; i < chooser->assembly->part_count; i++)
        if (chooser->chosen[i])
            strength[i] = one;
    return BOUGH_OK;
}

static bough_status read_tie_break(bo_json at, bo_chooser *chooser, bo_tie_strength *strength) {
    bo_tie_strength one = {INFINITY, INFINITY};
    if (!bo_json_has(&at, "force") && !bo_json_has(&at, "torque"))
        return bo_json_fail(at, "needs \"force\" or \"torque\", the most that the ties bear");
    BO_TRY(bo_json_number(bo_json_at(&at, "force"), BO_POSITIVE, &one.force));
    BO_TRY(bo_json_number(bo_json_at(&at, "torque"), BO_POSITIVE, &one.torque));
    BO_TRY(bo_choose_ties(bo_json_at(&at, "ties"), chooser));
    for (int32_t i = 0; i < chooser->assembly->tie_count; i++)
        if (chooser->chosen_ties[i])
            strength[i] = one;
    return BOUGH_OK;
}

/* Rules for parts, and rules for ties. */
static bough_status make_strengths(bo_json at, int32_t part_rules, int32_t tie_rules, const bo_assembly *assembly,
                                   bough_scene *scene) {
    if (part_rules && !(scene->tree.strength = BO_NEW_ARRAY(at.ctx, bo_tree_strength, assembly->part_count)))
        return BOUGH_ERROR_MEMORY;
    for (int32_t i = 0; i < assembly->part_count && part_rules; i++)
        scene->tree.strength[i] = (bo_tree_strength){.stress = INFINITY};
    if (tie_rules && !(scene->tree.tie_strength = BO_NEW_ARRAY(at.ctx, bo_tie_strength, assembly->tie_count)))
        return BOUGH_ERROR_MEMORY;
    for (int32_t i = 0; i < assembly->tie_count && tie_rules; i++)
        scene->tree.tie_strength[i] = (bo_tie_strength){INFINITY, INFINITY};
    return BOUGH_OK;
}

static bough_status read_breaks(bo_json at, bo_chooser *chooser, bough_scene *scene) {
    int32_t count, of_ties = 0;
    BO_TRY(bo_json_list(at, &count));
    for (int32_t i = 0; i < count; i++) {
        bo_json rule = bo_json_item(&at, i);
        of_ties += bo_json_has(&rule, "ties");
    }
    BO_TRY(make_strengths(at, count - of_ties, of_ties, chooser->assembly, scene));
    for (int32_t i = 0; i < count; i++) {
        bo_json rule = bo_json_item(&at, i);
        const bool of_tie = bo_json_has(&rule, "ties");
        BO_TRY(check_rule(rule, of_tie));
        BO_TRY(of_tie ? read_tie_break(rule, chooser, scene->tree.tie_strength)
                      : read_break(rule, chooser, scene->tree.strength));
    }
    return BOUGH_OK;
}

bough_status bo_scene_events(const bo_json *root, const bo_assembly *assembly, bough_scene *scene) {
    bo_json events = bo_json_at(root, "events"), breaks = bo_json_at(root, "break");
    bo_chooser chooser;
    BO_TRY(bo_json_number(bo_json_at(root, "remove_below"), BO_ANY, &scene->tree.remove_below));
    if (!events.value && !breaks.value)
        return BOUGH_OK;
    if (assembly->part_count == 0)
        return bo_json_fail(events.value ? events : breaks, "the scene has no parts");
    bough_status status = bo_chooser_make(root->ctx, assembly, &chooser);
    if (status == BOUGH_OK)
        status = read_events(events, &chooser, scene);
    if (status == BOUGH_OK)
        status = read_breaks(breaks, &chooser, scene);
    bo_chooser_free(root->ctx, &chooser);
    return status;
}

void bo_scene_free_events(bough_context *ctx, bough_scene *scene) {
    for (int32_t i = 0; i < scene->tree.event_count; i++) {
        bo_free(ctx, scene->tree.events[i].parts);
        bo_free(ctx, scene->tree.events[i].ties);
    }
    bo_free(ctx, scene->tree.events);
    bo_free(ctx, scene->tree.strength);
    bo_free(ctx, scene->tree.tie_strength);
    scene->tree.events = NULL;
    scene->tree.strength = NULL;
    scene->tree.tie_strength = NULL;
    scene->tree.event_count = 0;
}
