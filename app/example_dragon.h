/* The dragon's shape and its pieces. */
#ifndef BOUGH_EXAMPLE_DRAGON_H
#define BOUGH_EXAMPLE_DRAGON_H

#include "example.h"

enum { DRAGON_DOMAINS = 40, DRAGON_ROOT = 0 };

/* A piece of the dragon; those of the right side follow the left one. */
typedef struct dragon_domain {
    char name[16];
    int32_t parent;   /* -1: the root */
    double stiffness; /* factor on its frequencies */
} dragon_domain;

/* A thick bone: a round cone from a to b, or (has_c) a thick triangle. */
typedef struct dragon_bone {
    v3 a, b, c;
    double ra, rb; /* radii at a and b; of a triangle half its thickness: ra */
    bool has_c;
    int32_t domain;
} dragon_bone;

enum { DRAGON_MOST_BONES = 160, DRAGON_MOST_LIMBS = 40 };

/* Bones [begin, end) that meet sharply; between limbs there are fillets. */
typedef struct dragon_limb {
    int32_t begin, end;
    v3 middle;
    double radius; /* a ball that holds it */
} dragon_limb;

typedef struct dragon_shape {
    dragon_domain domains[DRAGON_DOMAINS];
    dragon_bone bones[DRAGON_MOST_BONES];
    dragon_limb limbs[DRAGON_MOST_LIMBS];
    int32_t domain_count, bone_count, limb_count;
} dragon_shape;

void dragon_make(dragon_shape *shape);
/* Distance from its surface, negative inside: for bough_mesh_generate_implicit(). `user`: the shape. */
double dragon_distance(void *user, const double x[3]);
/* The domain of the bone whose axis is nearest, in units of its radius. */
int32_t dragon_nearest(const dragon_shape *shape, v3 x);

#endif
