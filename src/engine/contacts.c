#include "engine/contacts.h"

#include <string.h>

int32_t bo_world_contacts(const bough_contact_world *world, bo_thing_of_side thing_of, const void *data, int32_t most,
                          bough_run_contact *contacts) {
    const int32_t count = world ? world->contact_count : 0;
    for (int32_t i = 0; i < count && i < most; i++) {
        const bough_contact *from = &world->contacts[i];
        bough_run_contact *to = &contacts[i];
        for (int side = 0; side < 2; side++)
            to->things[side] = thing_of(data, &from->sides[side]);
        memcpy(to->position, from->position, sizeof to->position);
        memcpy(to->normal, from->normal, sizeof to->normal);
        memcpy(to->force, from->force, sizeof to->force);
        to->gap = from->gap;
    }
    return count;
}

void bo_world_touch(const bough_contact_world *world, bough_contact_kind kind, int32_t index, double force[3]) {
    memset(force, 0, 3 * sizeof *force);
    for (int32_t i = 0; world && i < world->contact_count; i++) {
        const bough_contact *c = &world->contacts[i];
        for (int side = 0; side < 2; side++)
            for (int d = 0; d < 3 && c->sides[side].kind == kind && c->sides[side].index == index; d++)
                force[d] += side ? -c->force[d] : c->force[d];
    }
}
