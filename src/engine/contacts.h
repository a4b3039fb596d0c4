/* The contacts of a contact world in the words of engines: by the things that touch. */
#ifndef BO_ENGINE_CONTACTS_H
#define BO_ENGINE_CONTACTS_H

#include "base/rotation.h"
#include "engine/engine.h"

#include <bough/contact.h>

/* The thing of an engine that a side of a contact belongs to. */
typedef int32_t (*bo_thing_of_side)(const void *data, const bough_contact_side *side);

/* Lists the contacts of the world's last step, at most so many; returns how many there are. world NULL: none. */
int32_t bo_world_contacts(const bough_contact_world *world, bo_thing_of_side thing_of, const void *data, int32_t most,
                          bough_run_contact *contacts);
/* Sums the forces on one of those that touch in the last step, N in the world. */
void bo_world_touch(const bough_contact_world *world, bough_contact_kind kind, int32_t index, double force[3]);

/* A lead says where an obstacle of a contact world is at a time. pose NULL: the obstacle stays where it is. */
typedef struct bo_lead {
    bo_se3 (*pose)(const void *data, double t);
    const void *data;
} bo_lead;

/* Tells the world, before a step from t to t + dt, how its obstacles move in it: at the velocities that take them to their
 * poses at the end. leads NULL: none is led. */
bough_status bo_world_lead(bough_context *ctx, bough_contact_world *world, int32_t count, const bo_lead *leads,
                           double t, double dt);
/* Tells the world that its obstacles stand still where they are at time t. */
bough_status bo_world_stand(bough_context *ctx, bough_contact_world *world, int32_t count, const bo_lead *leads,
                            double t);
/* The work of obstacles that are led on what they touched in the last step, which went from t to t + dt, J. */
double bo_world_lead_work(const bough_contact_world *world, const bo_lead *leads, double t, double dt);
/* Finds the pose of an obstacle that is led, and its velocity and spin in the world. */
bo_se3 bo_lead_at(const bo_lead *lead, double t, bo_vec3 *velocity, bo_vec3 *spin);

/* Lists all contacts of the engine's last step; none without BOUGH_CAN_CONTACTS. Allocates only where there are more
 * than ever before. */
bough_status bo_engine_list_contacts(bough_context *ctx, const bo_engine *engine, bo_contact_list *list);
/* Splits the force of a contact, on the first of its things: returns the part along the normal, N. friction: the rest. */
double bo_contact_split(const bough_run_contact *contact, double friction[3]);

/* Finds the things that the engine's probes of contacts watch. Fails with a sentence where there are no such things, or
 * where the engine knows no contacts. */
bough_status bo_engine_watch_contacts(bough_context *ctx, bo_engine *engine);
/* Fills the columns of these probes, after measure() has filled all others. */
bough_status bo_engine_measure_contacts(bough_context *ctx, bo_engine *engine, double *values);

#endif
