/* Inside view of a cook plan. */
#ifndef BO_SCENE_COOK_PLAN_H
#define BO_SCENE_COOK_PLAN_H

#include "scene/assembly.h"

typedef struct bo_plan_item {
    bough_cook_item shown;  /* its name belongs to the assembly, its output is the one below */
    bough_cook_job *job;    /* of the assembly */
    bough_component *ready; /* what is up to date, until it was shown to the user */
    char *output;
} bo_plan_item;

struct bough_cook_plan {
    bo_assembly assembly; /* of one component and no parts when there is no scene */
    bough_grade grade;    /* wanted; POOR: any will do */
    char *folder;         /* NULL: no scene */
    double gravity[3];    /* of the scene, m/s^2 */
    int32_t item_count;
    bo_plan_item *items;
};

/* Makes the plan of a scene of parts; see bo_assembly_read() for `scene`. */
bough_status bo_cook_plan_read(const bo_json *root, bough_scene *scene, bough_cook_plan **plan);

#endif
