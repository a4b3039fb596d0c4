/* Cooking: from a full-order body to a reduced component.
 *
 * Ownership and threads: as <bough/base.h> says; what is cooked is only read. Failure: BOUGH_ERROR_ARGUMENT for a def
 * that makes no sense, BOUGH_CANCELLED by the context's progress callback; no component is made then.
 */
#ifndef BOUGH_REDUCE_H
#define BOUGH_REDUCE_H

#include <bough/component.h>
#include <bough/fem.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Inertia of a rigid mass about a point. */
typedef struct bough_inertia {
    double mass;       /* kg */
    double moment[3];  /* sum m x, kg m */
    double inertia[9]; /* sum m (x.x I - x x^T), kg m^2 */
} bough_inertia;

typedef struct bough_interface_def {
    const char *name;
    int32_t vertex_count;
    const int32_t *vertices;
    const double *weights; /* NULL: by area */
    /* Weights by the area of the boundary faces all of whose corners are among the vertices, or (patch) by the boundary
     * area around each vertex. */
    bool patch;
    bool has_load;      /* mass-loaded modes: what hangs here, at rest, */
    bough_inertia load; /* about the interface's centre */
} bough_interface_def;

/* Kinds of vectors that a basis is made from, to be added up. */
enum {
    BOUGH_BASIS_MODES = 1,       /* vibration modes: clamped at the parent interface or the supports, or free-free */
    BOUGH_BASIS_LOADED = 2,      /* ... of the body that carries the interfaces' loads */
    BOUGH_BASIS_DERIVATIVES = 4, /* modal derivatives of all modes and boundary modes */
    BOUGH_BASIS_ATTACHMENT = 8,  /* static response to a unit force and torque at each loaded or child interface */
    BOUGH_BASIS_CONSTRAINT = 16, /* Craig-Bampton: unit motions of each child interface, modes with these held */
    BOUGH_BASIS_SNAPSHOTS = 32,  /* mass-PCA of given displacements */
    BOUGH_BASIS_COLUMNS = 64,    /* given columns, kept exactly */
    BOUGH_BASIS_WRENCHES = 128,  /* answers to unit forces and torques at interfaces that the others do not show */
    BOUGH_BASIS_FORCES = 256     /* answers to given forces, in their order, without any other kind: the coordinates
                                  * change smoothly with the body, as modes that cross each other do not */
};

/* The structure that a body was cut from, so that its stress is right where it was cut: the body itself, what it hangs
 * on and what hangs on it, as far as they matter. The load case holds it where the rest does; it must not be able to
 * move. */
enum { BOUGH_OWNER_SELF = -1, BOUGH_OWNER_OTHER = -2 };
typedef struct bough_cook_surroundings {
    const bough_body *body;
    const bough_load_case *load_case; /* of that body; its loads do not act */
    const int32_t *vertices;          /* of each vertex of the cooked body: its number there */
    const int32_t *owner;  /* of each element there: BOUGH_OWNER_SELF, the interface at which it hangs on the cooked
                            * body, or another body: BOUGH_OWNER_OTHER or below, a number for each */
    const int32_t *pulled; /* of each vertex there: the other body that goes on from here without holding it, so that
                            * it pulls; BOUGH_OWNER_SELF: none does */
    const unsigned char *beside; /* of each element there: it hangs on the same body as the cooked one, beside it */
} bough_cook_surroundings;

typedef struct bough_cook_def {
    uint32_t cookie;

    int32_t interface_count;
    const bough_interface_def *interfaces;
    int32_t parent; /* interface by which the component hangs; -1: the supports hold it, or it flies free */

    uint32_t basis;     /* BOUGH_BASIS_...; 0: modes, loaded where there are loads, derivatives, wrenches */
    int32_t r;          /* coordinates; with a tolerance the most. 0: rigid */
    double tolerance;   /* > 0: as many coordinates as keep basis_error below it */
    int32_t mode_count; /* vibration modes among the candidates; 0: r, with derivatives half of it (up to 80) */
    bool keep_boundary; /* boundary modes are kept exactly instead of going through the mass-PCA */
    int32_t snapshot_count;
    const double *snapshots; /* snapshot_count x 3 vertex_count */
    int32_t column_count;
    const double *columns; /* column_count x 3 vertex_count */

    /* Rigid, linear, polynomial or cubature; -1: polynomial for stvk up to `polynomial_most`, linear for linear, else
     * cubature. */
    int32_t elastic;
    int32_t polynomial_most;
    double cubature_tolerance; /* rms relative force error on the training poses */
    int32_t cubature_most;     /* points */
    int32_t training_count;    /* poses; 0: from r */
    double pose_amplitude;     /* largest displacement of training and test poses, of the body's size */
    uint64_t seed;

    int32_t wind_count, contact_count; /* points; 0: none */
    int32_t stress_count;              /* points chosen where modes strain most, beside the given elements */
    int32_t stress_element_count;
    const int32_t *stress_elements;
    int32_t field_count; /* points on the boundary that the field of stress over the surface is drawn from (default 128,
                          * at most BOUGH_MAX_FIELD_POINTS); 0: none */

    const bough_cook_surroundings *surroundings; /* NULL: it is known alone, and stress near interfaces is that of rigid
                                                  * ones */

    const bough_mesh *surface; /* to draw, bound to the volume; NULL: the boundary of the volume mesh */
    bool surface_int16;
    bool wire; /* edges of the volume mesh, to draw (default true) */
    bool keep_volume;

    const char *provenance; /* JSON text kept in the component; NULL: none */
    uint64_t input_hash;
    const char *resume_path; /* where a cancelled cooking leaves its basis and finds it again; NULL: nowhere */
    int32_t force_count;
    const double *forces; /* force_count x 3 vertex_count, N */
    uint64_t reserved[2]; /* zeros: room for fields of later versions */
} bough_cook_def;

/* 20 coordinates and a basis as suits the body, no interfaces, 16 points for wind, 100 for contact, 12 for stress. */
BOUGH_API bough_cook_def bough_default_cook_def(void);

/* Seconds and peak work of each phase, for benchmarks and cards. */
typedef enum bough_cook_phase {
    BOUGH_COOK_SETUP,       /* interfaces, matrices */
    BOUGH_COOK_FACTOR,      /* ordering and sparse factorisation */
    BOUGH_COOK_EIGEN,       /* modes */
    BOUGH_COOK_DERIVATIVES, /* modal derivatives, boundary modes */
    BOUGH_COOK_BASIS,       /* mass-PCA */
    BOUGH_COOK_ELASTIC,     /* polynomial or cubature */
    BOUGH_COOK_INERTIA,
    BOUGH_COOK_SAMPLES, /* samples and surface */
    BOUGH_COOK_QUALITY,
    BOUGH_COOK_PHASE_COUNT
} bough_cook_phase;
/* Returns the name of a phase, a constant string; "" for what is none. */
BOUGH_API const char *bough_cook_phase_name(bough_cook_phase phase);

/* Cooks a body into a component, which is the caller's. The supports of the load case (NULL: none) are those of a root;
 * with def->parent >= 0 that interface is held instead. Of its loads only the direction of gravity is looked at, for
 * the report on quality. times (BOUGH_COOK_PHASE_COUNT, s) may be NULL. Body, load case and def are only read: several
 * threads, each with its own context, may cook the same body at the same time (with different resume paths). */
BOUGH_API bough_status bough_cook(bough_context *ctx, const bough_body *body, const bough_load_case *load_case,
                                  const bough_cook_def *def, double *times, bough_component **component);

/* Cooks a body that differs a little from that of a component, as a rod that is longer by a hair, with the same
 * coordinates: columns of the basis are the answers of the body to the forces that those of the pattern answer to;
 * r and the kind of elastic model are those of the pattern, a component of another body that was cooked with
 * keep_volume; the rest is that of the def. The meshes have the same vertices and elements, elsewhere. The difference of two such
 * components is a derivative by what was changed: parameters of shape of <bough/multibody.h>. BOUGH_ERROR_UNSUPPORTED
 * for a cubature, whose points are chosen anew for each body. */
BOUGH_API bough_status bough_cook_alike(bough_context *ctx, const bough_body *body, const bough_load_case *load_case,
                                        const bough_cook_def *def, const bough_body *pattern_body,
                                        const bough_component *pattern, bough_component **component);

/* Shares `total` coordinates out over parts in proportion to log(element_count), at least 1 each; r: part_count. */
BOUGH_API bough_status bough_share_modes(bough_context *ctx, int32_t total, int32_t part_count,
                                         const int32_t *element_counts, int32_t *r);

#ifdef __cplusplus
}
#endif

#endif
