/* Snapshots of worlds, and frames: what of a snapshot somebody has not seen yet. */
#include "view.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- snapshots ---- */

view_snapshot *view_snapshot_hold(view_snapshot *snapshot) {
    if (snapshot)
        atomic_fetch_add(&snapshot->holders, 1);
    return snapshot;
}

void view_snapshot_drop(view_snapshot *snapshot) {
    if (!snapshot || atomic_fetch_sub(&snapshot->holders, 1) != 1)
        return;
    view_shape_drop(snapshot->shape);
    free(snapshot);
}

void view_write_pose(const double rotation[9], const double origin[3], float *pose) {
    double quaternion[4];
    app_quaternion(rotation, quaternion);
    for (int d = 0; d < 3; d++)
        pose[d] = (float)origin[d];
    for (int d = 0; d < 4; d++)
        pose[3 + d] = (float)quaternion[d];
}

static void write_identity(float *pose) {
    const float identity[VIEW_POSE] = {0, 0, 0, 0, 0, 0, 1};
    memcpy(pose, identity, sizeof identity);
}

/* Computes, from U and the frame, the vertices of the volume mesh that the surface does not have. */
static void take_inner(const view_world *w, const view_shape_part *part, const bough_thing_state *now, float *x) {
    const bough_component *c = view_world_look(w, part->component)->component;
    const double *q = now->q, *R = now->frame.pose.rotation;
    for (size_t v = 0; v < (size_t)part->inner; v++, x += 3) {
        double X[3];
        for (size_t d = 0; d < 3; d++) {
            X[d] = (double)c->wire.position[3 * v + d];
            for (size_t l = 0; l < (size_t)c->r; l++)
                X[d] += q[l] * (double)c->wire.U[(3 * v + d) * (size_t)c->r + l];
        }
        for (size_t d = 0; d < 3; d++)
            x[d] = (float)(now->frame.pose.position[d] +
                           part->scale * (R[3 * d] * X[0] + R[3 * d + 1] * X[1] + R[3 * d + 2] * X[2]));
    }
}

static bough_status take_vertices(bough_context *ctx, const view_world *w, int32_t p, const bough_thing_state *now,
                                  float *x) {
    const view_shape_part *part = &w->shape->parts[p];
    if (!now->there) {
        memset(x, 0, (size_t)part->count * sizeof *x);
        return BOUGH_OK;
    }
    take_inner(w, part, now, x + 3 * (size_t)part->vertices);
    if (!w->positions)
        return bough_run_positions(ctx, w->run, p, x);
    memcpy(x, w->positions + 3 * (size_t)part->first, 3 * (size_t)part->vertices * sizeof *x);
    return BOUGH_OK;
}

static bough_status take_part(bough_context *ctx, const view_world *w, int32_t p, float *numbers) {
    const view_shape_part *part = &w->shape->parts[p];
    float *pose = numbers + part->at, *rest = pose + VIEW_POSE;
    bough_thing_state now;
    bough_run_thing_state(w->run, p, &now);
    if (part->streamed) {
        write_identity(pose);
        return take_vertices(ctx, w, p, &now, rest);
    }
    view_write_pose(now.frame.pose.rotation, now.frame.pose.position, pose);
    for (int32_t l = 0; l < part->r; l++)
        rest[l] = (float)now.q[l];
    return BOUGH_OK;
}

static bough_status take_body(const view_world *w, float *numbers) {
    const double *u = bough_run_displacement(w->run), *rest = bough_run_mesh(w->run)->vertices;
    if (!u)
        return BOUGH_ERROR_MEMORY;
    write_identity(numbers);
    for (size_t v = 0; v < (size_t)bough_run_mesh(w->run)->vertex_count; v++)
        for (size_t d = 0; d < 3; d++) {
            const size_t at = 3 * (size_t)w->vertex_map[v] + d;
            numbers[VIEW_POSE + 3 * v + d] = (float)(rest[at] + u[at]);
        }
    return BOUGH_OK;
}

static void take_joints(const view_world *w, float *numbers) {
    bough_run_joints(w->run, w->shape->joint_count, w->joints);
    for (int32_t j = 0; j < w->shape->joint_count; j++, numbers += VIEW_JOINT) {
        const bough_run_joint *joint = &w->joints[j];
        view_write_pose(joint->pose.rotation, joint->pose.position, numbers);
        for (int d = 0; d < 3; d++) {
            numbers[VIEW_POSE + d] = (float)joint->force[d];
            numbers[VIEW_POSE + 3 + d] = (float)joint->torque[d];
        }
    }
}

/* ---- contacts ---- */

static double strength(const bough_run_contact *c) {
    return sqrt(c->force[0] * c->force[0] + c->force[1] * c->force[1] + c->force[2] * c->force[2]);
}

/* The strongest first; points of the same strength in the order of their places, so that arrows do not flicker. */
static int compare(const void *a, const void *b) {
    const bough_run_contact *one = a, *other = b;
    const double x = strength(one), y = strength(other);
    return x != y ? (x < y ? 1 : -1) : memcmp(one->position, other->position, sizeof one->position);
}

int32_t view_world_touch(view_world *w, bool all) {
    const int32_t count = w->can & BOUGH_CAN_CONTACTS ? bough_run_contacts(w->run, 0, NULL) : 0;
    w->contact_count = 0;
    if ((size_t)count > w->contact_capacity) {
        bough_run_contact *more = realloc(w->contacts, 2 * (size_t)count * sizeof *more);
        if (!more)
            return -1;
        w->contacts = more, w->contact_capacity = 2 * (size_t)count;
    }
    if (count > 0)
        bough_run_contacts(w->run, count, w->contacts);
    for (int32_t i = 0; i < count; i++)
        if (strength(&w->contacts[i]) > 0)
            w->contacts[w->contact_count++] = w->contacts[i];
    if (all || w->contact_count <= VIEW_CONTACTS)
        return w->contact_count;
    qsort(w->contacts, (size_t)w->contact_count, sizeof *w->contacts, compare);
    return VIEW_CONTACTS;
}

static void write_contacts(const view_world *w, int32_t count, float *numbers) {
    for (int32_t i = 0; i < count; i++, numbers += VIEW_CONTACT) {
        const bough_run_contact *c = &w->contacts[i];
        double along = 0;
        for (int d = 0; d < 3; d++)
            along += c->force[d] * c->normal[d];
        for (int side = 0; side < 2; side++)
            numbers[side] = (float)c->things[side];
        for (int d = 0; d < 3; d++) {
            numbers[2 + d] = (float)c->position[d];
            numbers[5 + d] = (float)(along * c->normal[d]);
            numbers[8 + d] = (float)(c->force[d] - along * c->normal[d]);
        }
    }
}

/* ---- all of it ---- */

static bough_status take_numbers(bough_context *ctx, const view_world *w, float *numbers) {
    bough_status s = w->boundary    ? take_body(w, numbers)
                     : w->positions ? bough_run_positions(ctx, w->run, -1, w->positions)
                                    : BOUGH_OK;
    for (int32_t p = w->boundary ? 1 : 0; p < w->shape->part_count && !s; p++)
        s = take_part(ctx, w, p, numbers);
    take_joints(w, numbers + w->shape->joints_at);
    return s;
}

bough_status view_snapshot_take(bough_context *ctx, view_world *world, view_snapshot **snapshot) {
    *snapshot = NULL;
    const int32_t contacts = view_world_touch(world, false);
    const size_t numbers = world->shape->number_count + VIEW_CONTACT * (size_t)(contacts > 0 ? contacts : 0);
    view_snapshot *new = contacts < 0 ? NULL : malloc(sizeof *new + (numbers + 1) * sizeof *new->numbers);
    if (!new)
        return BOUGH_ERROR_MEMORY;
    new->contact_count = contacts;
    write_contacts(world, contacts, new->numbers + world->shape->number_count);
    atomic_init(&new->holders, 1);
    new->shape = view_shape_hold(world->shape);
    new->generation = world->shape->generation;
    new->time = view_world_time(world);
    bough_status s = take_numbers(ctx, world, new->numbers);
    if (s)
        view_snapshot_drop(new);
    else
        *snapshot = new;
    return s;
}

/* ---- frames ---- */

#define STILL 1e-5 /* of a part's size: nobody sees so little */

void view_seen_forget(view_seen *seen) {
    view_shape_drop(seen->shape);
    free(seen->numbers);
    *seen = (view_seen){0};
}

/* By no more than this has any vertex of the part moved, of those that q, the frame's origin and its rotation move: a
 * turn by a small angle a changes a quaternion by a / 2. */
static double motion_of(const view_shape_part *part, const float *now, const float *then) {
    double shift = 0, turn = 0, bend = 0;
    for (int d = 0; d < 3; d++)
        shift += pow((double)now[d] - (double)then[d], 2);
    for (int i = 3; i < VIEW_POSE; i++)
        turn += pow((double)now[i] - (double)then[i], 2);
    for (int32_t l = 0; l < part->r; l++)
        bend += (double)part->reach[l] * fabs((double)now[VIEW_POSE + l] - (double)then[VIEW_POSE + l]);
    return sqrt(shift) + 2 * sqrt(turn) * part->size + part->scale * bend;
}

static double motion_of_vertices(const view_shape_part *part, const float *now, const float *then) {
    double most = 0;
    for (int32_t i = VIEW_POSE; i < VIEW_POSE + part->count; i++)
        most = fmax(most, fabs((double)now[i] - (double)then[i]));
    return most;
}

static bool has_moved(const view_shape_part *part, const float *now, const float *then) {
    /* written so that what is not a number has moved */
    return !((part->streamed ? motion_of_vertices : motion_of)(part, now, then) <= STILL * part->size);
}

static bool remember_shape(view_shape *shape, view_seen *seen) {
    view_seen_forget(seen);
    seen->numbers = malloc((shape->number_count + 1) * sizeof *seen->numbers);
    if (seen->numbers)
        seen->shape = view_shape_hold(shape);
    return seen->numbers != NULL;
}

static void write_frame_head(view_message *m, const view_snapshot *snapshot, uint32_t frame, uint32_t layer,
                             uint32_t sent) {
    const uint32_t numbers[4] = {frame, layer, sent, (uint32_t)snapshot->contact_count};
    view_write_head(m->bytes, VIEW_FRAME, snapshot->generation, 0);
    memcpy(m->bytes + VIEW_HEAD_SIZE, &snapshot->time, sizeof snapshot->time);
    memcpy(m->bytes + VIEW_HEAD_SIZE + sizeof snapshot->time, numbers, sizeof numbers);
}

/* Room for all parts, of which what is not needed is cut off: frames live for milliseconds. */
view_message *view_frame_encode(const view_snapshot *snapshot, uint32_t frame, uint32_t layer, view_seen *seen) {
    view_shape *shape = snapshot->shape;
    const bool first = seen->shape != shape || seen->generation != snapshot->generation;
    const size_t words = ((size_t)shape->part_count + 31) / 32, begin = VIEW_HEAD_SIZE + VIEW_FRAME_HEAD;
    const size_t contacts = VIEW_CONTACT * (size_t)snapshot->contact_count * sizeof *snapshot->numbers;
    view_message *m = view_message_new(begin + 4 * words + 4 * shape->number_count + contacts, false);
    if (!m || (first && !remember_shape(shape, seen))) {
        view_message_drop(m);
        return NULL;
    }
    unsigned char *at = m->bytes + begin + 4 * words;
    seen->generation = snapshot->generation;
    uint32_t sent = 0;
    memset(m->bytes + begin, 0, 4 * words);
    for (int32_t p = 0; p < shape->part_count; p++) {
        const view_shape_part *part = &shape->parts[p];
        const float *now = snapshot->numbers + part->at;
        const size_t size = (VIEW_POSE + (size_t)part->count) * sizeof *now;
        if (!first && !has_moved(part, now, seen->numbers + part->at))
            continue;
        memcpy(seen->numbers + part->at, now, size);
        memcpy(at, now, size);
        at += size, sent++;
        m->bytes[begin + (size_t)p / 8] |= (unsigned char)(1u << (p % 8)); /* little-endian: as bits of 32 */
    }
    const size_t joints = VIEW_JOINT * (size_t)shape->joint_count * sizeof *snapshot->numbers;
    memcpy(at, snapshot->numbers + shape->joints_at, joints);
    at += joints;
    memcpy(at, snapshot->numbers + shape->number_count, contacts);
    at += contacts;
    m->size = (size_t)(at - m->bytes);
    write_frame_head(m, snapshot, frame, layer, sent);
    return m;
}
