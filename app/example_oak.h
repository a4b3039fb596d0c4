/* The oak: its growth, and the shapes of five classes of branches and of the leaf. */
#ifndef BOUGH_EXAMPLE_OAK_H
#define BOUGH_EXAMPLE_OAK_H

#include "example.h"

enum { TRUNK, LIMB, BOUGH, BRANCH, TWIG, BRANCH_CLASSES };
enum { MOST_SIDE_CHILDREN = 5, ROWS_ALONG = 12 };

/* A place on the side of a branch: how far along (0..1), and in which direction from the middle. */
typedef struct place {
    double along, azimuth;
} place;

/* A branch grows along z from the origin, where it is at right angles to z, and bends towards x. */
typedef struct branch_class {
    const char *name;
    double length, base_radius, tip_radius; /* m */
    double bend;                            /* of the tip to x, of the length */
    double wiggle, waves;                   /* gnarls: of the length; how many along it */
    double flare, flare_length;             /* widening at the foot: of the radius; of the length */
    int32_t child_count;                    /* on its side */
    place children[MOST_SIDE_CHILDREN];
    int32_t leaf_slots;
    double leaves_from; /* the lowest, along it */
    double young;       /* Pa */
    bool rooted;        /* it stands in the ground */
} branch_class;

/* The resolution of surfaces: vertices around and along a branch, rows along the stalk and the blade of a leaf. */
typedef struct oak_detail {
    int32_t around, along, stalk_rows, blade_rows;
} oak_detail;
extern const oak_detail oak_seen_near, oak_seen_far;

/* The parameters in which species differ; factors are against the oak of `bough example oak`. */
typedef struct oak_species {
    const char *about;   /* the name of the scene begins with it */
    uint64_t seed;       /* of its growth */
    double length;       /* of branches: factor */
    double girth;        /* their radii: factor */
    double stiffness;    /* of wood: factor */
    double lift;         /* of limbs towards the light: added */
    double leaf;         /* size of leaves: factor */
    double leaf_density; /* kg/m^3 */
    oak_detail detail;
    bool storm;                        /* its wind rises until it breaks */
    const struct oak_visitor *visitor; /* comes through its crown, without wind; NULL: nobody does */
} oak_species;
oak_species oak_common(void); /* that one */
/* Makes e->folder/scene.json and its meshes; counts go into e. */
int oak_make(bough_context *ctx, const oak_species *species, example *e);

/* ---- example_ball.c: a ball that comes through the crown ---- */

/* Points of a branch and of a leaf that can touch. */
typedef struct oak_visitor {
    int32_t branch_samples, leaf_samples;
} oak_visitor;
extern const oak_visitor oak_ball;
bough_status oak_ball_write_mesh(bough_context *ctx, example *e);
/* Pieces of the scene, each where it belongs. */
void oak_ball_write_component(FILE *f);
void oak_ball_write_part(FILE *f);
void oak_ball_write_contact(FILE *f);
void oak_ball_write_probes(FILE *f);

extern const branch_class oak_classes[BRANCH_CLASSES]; /* of the common one */

/* Middle of the branch, its directions there (z along it) and its radius; a little below 0 is inside of the parent. */
v3 oak_middle(const branch_class *c, double along);
axes oak_directions(const branch_class *c, double along);
double oak_radius(const branch_class *c, double along);
/* Place of a leaf: a spiral in golden angles. */
place oak_leaf_slot(const branch_class *c, int32_t slot);
/* Returns a radius that reaches at least three vertices of the coarse mesh that are not on a line. */
double oak_patch_radius(const branch_class *c, double along);

/* Meshes to be simulated, with the vertex set "base" ("top" for branches), and surfaces to be drawn. */
bough_status oak_branch_volume(bough_context *ctx, const branch_class *c, bough_mesh **mesh);
bough_status oak_branch_surface(bough_context *ctx, const branch_class *c, const oak_detail *detail, bough_mesh **mesh);
/* Along x from the foot of its stalk, flat in xy. */
bough_status oak_leaf_volume(bough_context *ctx, bough_mesh **mesh);
bough_status oak_leaf_surface(bough_context *ctx, const oak_detail *detail, bough_mesh **mesh);

#endif
