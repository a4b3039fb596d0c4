/* The contacts of a contact world in the words of engines: by the things that touch. */
#ifndef BO_ENGINE_CONTACTS_H
#define BO_ENGINE_CONTACTS_H

#include "engine/engine.h"

#include <bough/contact.h>

/* The thing of an engine that a side of a contact belongs to. */
typedef int32_t (*bo_thing_of_side)(const void *data, const bough_contact_side *side);

/* Lists the contacts of the world's last step, at most so many; returns how many there are. world NULL: none. */
int32_t bo_world_contacts(const bough_contact_world *world, bo_thing_of_side thing_of, const void *data, int32_t most,
                          bough_run_contact *contacts);
/* Sums the forces on one of those that touch in the last step, N in the world. */
void bo_world_touch(const bough_contact_world *world, bough_contact_kind kind, int32_t index, double force[3]);

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
