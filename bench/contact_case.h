/* A full-order body that touches, made of pieces by code and stepped by its engine, as scenes of bodies are. */
#ifndef BOUGH_CONTACT_CASE_H
#define BOUGH_CONTACT_CASE_H

#include "base/vec.h"
#include "fem/engine.h"
#include "fem/touch.h"

#include "contact/near.h"

enum { CASE_OBSTACLES = 8 };

typedef struct contact_case {
    bough_context *ctx;
    bough_element_type type;
    int32_t vertex_count, element_count; /* of all pieces so far */
    double *x, *v;                       /* places and velocities at the start */
    int32_t *elements;
    int32_t piece_count;
    double gravity[3];
    bough_body_def body_def;
    bo_touch_def touch; /* its obstacles are those below */
    bool touches;       /* false: it passes through everything */
    bool settles;       /* it starts in equilibrium */
    bool keeps_energy;  /* steps that make energy out of nothing are taken in halves, too, as in runs */
    bo_touch_obstacle obstacles[CASE_OBSTACLES];
    bo_height_spline height;
    bo_distance_grid grid;
    const char *method;
    double dt;

    /* Made by contact_case_start(). */
    bough_mesh *mesh;
    bough_body *body;
    bough_load_case *load_case; /* supports are added between contact_case_make_body() and contact_case_start() */
    bo_body_plan plan;
    bo_engine engine;
    bo_skin skin;
    int64_t state_size;
    double *state, *at; /* saved before a step, so many numbers; places now */
    double t, size;
    int64_t iterations, failures;
} contact_case;

contact_case contact_case_new(bough_context *ctx, bough_element_type type);
/* Adds the mesh, turned and moved, with a velocity of its middle and a spin about it; destroys the mesh. */
bool contact_case_add(contact_case *c, bough_mesh *mesh, bo_mat3 R, bo_vec3 to, bo_vec3 velocity, bo_vec3 spin);
bo_touch_obstacle *contact_case_obstacle(contact_case *c, bo_obstacle_kind kind, bo_mat3 R, bo_vec3 at);
bool contact_case_make_body(contact_case *c);
bool contact_case_start(contact_case *c); /* makes the body if nobody did */
/* Advances by dt, in halves of halves where a step fails. */
bool contact_case_step(contact_case *c);
void contact_case_free(contact_case *c);

/* ---- looking: each by arithmetic of its own ---- */

/* Edges that cross triangles of the surface. */
int contact_case_crossings(contact_case *c);
/* Vertices of the surface in obstacles. */
int contact_case_inside(contact_case *c);
/* Elements that are turned inside out: at a corner for tets, at integration points for hexahedra. */
int contact_case_inverted(const contact_case *c);
bool contact_case_measure(contact_case *c, double values[BOUGH_COLUMN_PROBES]);
/* Contacts of the last step; *list is to be freed. */
int32_t contact_case_contacts(contact_case *c, bough_run_contact **list);

/* A box with its middle at the origin. */
bough_mesh *contact_case_box(bough_context *ctx, bough_element_type type, double sx, double sy, double sz, int32_t nx,
                             int32_t ny, int32_t nz);

#endif
