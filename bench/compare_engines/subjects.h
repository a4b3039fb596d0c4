/* The mechanisms that all engines move, and how the reduced models of Bough do. Plain C and C++. */
#ifndef BOUGH_COMPARE_SUBJECTS_H
#define BOUGH_COMPARE_SUBJECTS_H

#include <bough/mechanism.h>

#ifdef __cplusplus
extern "C" {
#endif

#define COMPARE_DT 1e-3 /* s */

typedef struct compare_subject {
    const char *name;
    const bough_mechanism_def *def;
    double force[3]; /* on the origin of the last link, in the world's axes, from t = 0 on; no gravity */
} compare_subject;

typedef struct compare_result {
    double microseconds, least; /* of a step with the poses of all links: median and least of COMPARE_ROUNDS */
    double moved[3];            /* of the last link's origin after COMPARE_STEPS steps from rest */
} compare_result;

enum { COMPARE_ROUNDS = 15, COMPARE_STEPS = 2000 };

int compare_subject_count(void);
compare_subject compare_subject_make(int index);
void compare_subject_drop(compare_subject *subject);

/* Moves something by one step; the position of the last link's origin. */
typedef struct compare_engine {
    void *data;
    void (*step)(void *data);
    void (*position)(void *data, double position[3]);
} compare_engine;
compare_result compare_measure(compare_engine engine, int steps_a_round);

/* By Bough: reduced to the last link, with `internal_modes` more. */
compare_result compare_bough(const compare_subject *subject, int internal_modes);

#ifdef __cplusplus
}
#endif

#endif
