/* Probes: what a scene wants to be measured, and where. An engine reads the places that it understands. */
#ifndef BO_ENGINE_PROBE_H
#define BO_ENGINE_PROBE_H

#include <stdbool.h>
#include <stdint.h>

typedef enum bo_probe_kind {
    BO_PROBE_MOTION, /* position, displacement, velocity of a point */
    BO_PROBE_STRESS, /* von Mises, principal values */
    BO_PROBE_TOUCH,  /* force on an end effector */
    BO_PROBE_JOINT,  /* a coordinate, and how far its sides are apart: distance, angle */
    BO_PROBE_WRENCH, /* force and torque that a joint exerts on its child */
    BO_PROBE_MOTOR,  /* the coordinate that it drives, its rate, and the force or torque that it gives */
    BO_PROBE_CONTACT /* points where a thing touches others, and the forces on it there; the run measures it */
} bo_probe_kind;

/* A point of a link or free body. */
typedef struct bo_spot {
    bool body;
    int32_t index;  /* of the link or body */
    double at[3];   /* in its frame */
    double rest[3]; /* in the world at the reference pose */
} bo_spot;

typedef struct bo_probe {
    char *name;
    bo_probe_kind kind;
    double rest[3]; /* where the point is at rest */
    /* ---- on a full-order body: the mean of vertices, or the element that is stressed most ---- */
    int32_t count, *vertices; /* NULL: the body was not made */
    double *weights;          /* of the vertices; NULL: they are all the same */
    int32_t element_count, *elements;
    /* ---- on a part ---- */
    int32_t part;
    bool at_surface; /* at the vertex of its surface that is nearest to `rest`; else at its frame's origin */
    bool most;       /* the stress at all points of the part counts; else at the one that is nearest to `rest` */
    int32_t element; /* of a stress at a point: of the mesh of the part's domain; -1: not known */
    /* ---- on a mechanism ---- */
    bo_spot spot;
    int32_t end_effector, joint;
    /* ---- on joints and motors of a multibody system ---- */
    int32_t freedom, motor;
    /* ---- on contacts, in every engine that knows some ---- */
    char *thing, *against; /* names; against NULL: all that touches the thing */
} bo_probe;

static inline int bo_probe_columns(const bo_probe *probe) {
    return probe->kind == BO_PROBE_MOTION                                      ? 9
           : probe->kind == BO_PROBE_STRESS                                    ? 4
           : probe->kind == BO_PROBE_WRENCH || probe->kind == BO_PROBE_CONTACT ? 6
                                                                               : 3;
}

#endif
