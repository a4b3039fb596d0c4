/* The report of a retargeting: one page with tables and plots, which needs nothing else. */
#ifndef BOUGH_APP_RETARGET_REPORT_H
#define BOUGH_APP_RETARGET_REPORT_H

#include "app.h"

#include <bough/retarget.h>

/* One way to drive the robot, and what it does then. */
typedef struct app_retarget_case {
    const char *name;           /* a short one: "animation", "retargeted", "ZVD" */
    const char *about;          /* a sentence for people */
    bool main;                  /* it is drawn in the plots from the start: the animation and the retargeted curves */
    const bough_motion *motion; /* NULL: it failed, and `about` says why */
    const bough_motion *target; /* where its frames would be without vibrations */
    double delay;               /* s: by which it comes later than the animation; the target is moved likewise */
} app_retarget_case;

/* An iteration of the search. */
typedef struct app_retarget_round {
    int32_t window;
    double value, deviation, seconds; /* of the objective; m; since the start */
} app_retarget_round;

typedef struct app_retarget_report {
    const char *scene; /* file */
    const bough_retarget *retarget;
    bough_retarget_view view;
    int32_t case_count, round_count;
    const app_retarget_case *cases;
    const app_retarget_round *rounds;
    double seconds; /* of the search */
} app_retarget_report;

/* Writes the page. Prints what is wrong and returns a status other than APP_OK when it cannot; no half file is left. */
int app_write_retarget_report(const app_retarget_report *report, const char *path);

/* retarget_films.c: before.glb, after.glb and target.glb in the folder, which is made; found: a scene with the curves
 * that were found. */
int app_write_retarget_films(bough_context *ctx, const char *scene, const char *found, double duration,
                             const char *folder);
/* Warns of limits that the curves which were found do not keep in this motion, by more than 2 %. */
void app_warn_of_limits(const bough_retarget_view *view, const bough_motion *motion);
/* Warns of frames that the curves lead further from their targets than the animation does. */
void app_warn_of_misses(const bough_retarget *retarget, const bough_retarget_view *view, const app_retarget_case *first,
                        const app_retarget_case *found);

#endif
