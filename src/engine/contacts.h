/* The contacts of a contact world in the words of engines: by the things that touch. */
#ifndef BO_ENGINE_CONTACTS_H
#define BO_ENGINE_CONTACTS_H

#include <bough/contact.h>
#include <bough/engine.h>

/* The thing of an engine that a side of a contact belongs to. */
typedef int32_t (*bo_thing_of_side)(const void *data, const bough_contact_side *side);

/* Lists the contacts of the world's last step, at most so many; returns how many there are. world NULL: none. */
int32_t bo_world_contacts(const bough_contact_world *world, bo_thing_of_side thing_of, const void *data, int32_t most,
                          bough_run_contact *contacts);
/* Sums the forces on one of those that touch in the last step, N in the world. */
void bo_world_touch(const bough_contact_world *world, bough_contact_kind kind, int32_t index, double force[3]);

#endif
