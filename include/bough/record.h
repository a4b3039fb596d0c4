/* Pictures and animations of triangle surfaces, drawn in software: PNG files that look the same on every machine;
 * line plots, as SVG or PNG; and, at the end, animated scenes as binary glTF and arrays for NumPy.
 *
 *     bough_picture_def def = bough_default_picture_def();
 *     bough_picture_frame(&def, lower, upper);
 *     bough_picture_create(ctx, &def, &picture);
 *     bough_picture_add_surface(ctx, picture, vertices, vertex_count, triangles, triangle_count, NULL);
 *     bough_picture_render(ctx, picture);
 *     bough_picture_write_png(ctx, picture, "oak.png");
 *     bough_picture_destroy(ctx, picture);
 *
 * Colours are sRGB, 0..1 per channel. Pixels are counted from the top left corner.
 *
 * <bough/base.h> has the rules on ownership, failure and threads. Everything that is added to a picture, plot, film or
 * array is copied. Writers give BOUGH_ERROR_FILE when a file cannot be written, and BOUGH_ERROR_ARGUMENT for numbers,
 * counts or names that are out of range; all may give BOUGH_ERROR_MEMORY. */
#ifndef BOUGH_RECORD_H
#define BOUGH_RECORD_H

#include <bough/base.h>

#ifdef __cplusplus
extern "C" {
#endif

#define BOUGH_PICTURE_SIZE_LIMIT 16384 /* pixels, either way */

/* Both maps are even in perceived lightness; both are readable without red-green distinction. */
typedef enum bough_colour_map {
    BOUGH_COLOUR_SEQUENTIAL, /* dark violet, teal, yellow */
    BOUGH_COLOUR_DIVERGING   /* blue, near white in the middle, red: for signed values */
} bough_colour_map;

/* Returns the colour of the map at t, which is clamped to 0..1; NaN gives grey. */
BOUGH_API void bough_colour_map_at(bough_colour_map map, double t, float colour[3]);

typedef struct bough_picture_def {
    uint32_t cookie;
    int32_t width, height; /* pixels, 1..BOUGH_PICTURE_SIZE_LIMIT */
    int32_t samples;       /* per pixel edge, 1..4: 3 means 9 samples per pixel */

    double eye[3], target[3]; /* m */
    double up[3];             /* world direction that is up in the picture; also the normal of the ground */
    double field_of_view;     /* vertical, rad, below pi */

    float background_top[3], background_bottom[3];
    bool ground;          /* draw a plane that takes shadows and fades into the background */
    double ground_height; /* along up, m; NaN: at the lowest vertex */
    double shadow;        /* 0 none .. 1 black */
    double light[3];      /* towards the key light; 0 0 0: from behind the viewer's left shoulder */
    uint64_t reserved[4]; /* zeros: room for fields of later versions */
} bough_picture_def;

BOUGH_API bough_picture_def bough_default_picture_def(void);

/* Moves the camera along its present direction of view so that the box just fits. Set width, height, up and
 * field_of_view first. */
BOUGH_API void bough_picture_frame(bough_picture_def *def, const double lower[3], const double upper[3]);

typedef struct bough_surface_style {
    uint32_t cookie;
    float colour[3];
    const float *vertex_colours; /* vertex_count x 3 instead of colour; may be NULL */
    const double *scalars;       /* vertex_count, shown by a colour map instead of colour; may be NULL */
    double scalar_min, scalar_max;
    bough_colour_map colour_map;
    double crease_angle;      /* rad: edges sharper than this stay sharp. 0: flat facets, pi: all smooth */
    double gloss;             /* 0 matt .. 1 polished */
    bool edges;               /* draw the edges of the triangles */
    const uint8_t *edge_mask; /* triangle_count: bits 0 1 2 choose the edges 01 12 20. NULL: all */
    float edge_colour[3];
    double edge_width; /* pixels */
    bool casts_shadow; /* false for large floors and walls: shadows are computed for the box around what casts them */
    uint64_t reserved[4]; /* zeros: room for fields of later versions */
} bough_surface_style;

BOUGH_API bough_surface_style bough_default_surface_style(void);

typedef struct bough_line_style {
    uint32_t cookie;
    float colour[3];
    double width;         /* pixels */
    bool on_top;          /* drawn over everything, else hidden by what is nearer */
    bool arrowhead;       /* at the second point of each segment */
    uint64_t reserved[4]; /* zeros: room for fields of later versions */
} bough_line_style;

BOUGH_API bough_line_style bough_default_line_style(void);

typedef struct bough_picture bough_picture;

/* Makes an empty picture; frees one. BOUGH_ERROR_ARGUMENT for sizes and cameras that make no picture. */
BOUGH_API bough_status bough_picture_create(bough_context *ctx, const bough_picture_def *def, bough_picture **picture);
BOUGH_API void bough_picture_destroy(bough_context *ctx, bough_picture *picture);
/* Forgets all surfaces, lines and labels; camera and size stay. For the next frame of an animation. */
BOUGH_API void bough_picture_clear(bough_context *ctx, bough_picture *picture);
/* Changes camera, light or background; width, height and samples must stay. */
BOUGH_API bough_status bough_picture_set_def(bough_context *ctx, bough_picture *picture, const bough_picture_def *def);

/* Adds a surface; style may be NULL. Triangles with a vertex that is not finite are left out, with a warning;
 * an index out of range is an error. vertices: vertex_count x 3, triangles: triangle_count x 3. */
BOUGH_API bough_status bough_picture_add_surface(bough_context *ctx, bough_picture *picture, const double *vertices,
                                                 int32_t vertex_count, const int32_t *triangles, int32_t triangle_count,
                                                 const bough_surface_style *style);
/* Adds straight lines. points: segment_count x 2 x 3, from and to. Segments that are not finite are left out. */
BOUGH_API bough_status bough_picture_add_lines(bough_context *ctx, bough_picture *picture, const double *points,
                                               int32_t segment_count, const bough_line_style *style);
/* Adds a line through points: point_count x 3, joined in order. */
BOUGH_API bough_status bough_picture_add_polyline(bough_context *ctx, bough_picture *picture, const double *points,
                                                  int32_t point_count, const bough_line_style *style);
/* Adds an ASCII text whose capitals are `size` pixels high, its top left corner at (x,y); '\n' starts a new line. */
BOUGH_API bough_status bough_picture_add_label(bough_context *ctx, bough_picture *picture, double x, double y,
                                               double size, const float colour[3], const char *text);
/* Returns the width in pixels of the longest line of such a text. */
BOUGH_API double bough_label_width(double size, const char *text);
/* Adds an upright colour bar, with `minimum` at its foot and `maximum` at its head; title (may be NULL) above it. */
BOUGH_API bough_status bough_picture_add_colour_bar(bough_context *ctx, bough_picture *picture, double x, double y,
                                                    double width, double height, bough_colour_map map, double minimum,
                                                    double maximum, const char *title);

/* Draws everything. May be called again after more was added. BOUGH_CANCELLED by progress() of the context; the picture is
 * then drawn in part. */
BOUGH_API bough_status bough_picture_render(bough_context *ctx, bough_picture *picture);
/* Returns height x width x 4 bytes (RGBA, rows from the top), valid until the picture is destroyed; black before
 * rendering. */
BOUGH_API const uint8_t *bough_picture_pixels(const bough_picture *picture);
BOUGH_API bough_status bough_picture_write_png(bough_context *ctx, const bough_picture *picture, const char *path);

/* An animated PNG. The file appears when it is finished; browsers play it, other programs show its first frame. */
typedef struct bough_animation bough_animation;

/* Starts an animation; frames_per_second: 0.1 .. 600. */
BOUGH_API bough_status bough_animation_create(bough_context *ctx, const char *path, int32_t width, int32_t height,
                                              double frames_per_second, bough_animation **animation);
/* Adds the picture as it was rendered last. Only the rectangle that changed is stored. */
BOUGH_API bough_status bough_animation_add(bough_context *ctx, bough_animation *animation,
                                           const bough_picture *picture);
/* Completes the file and destroys the animation, also when it fails. */
BOUGH_API bough_status bough_animation_finish(bough_context *ctx, bough_animation *animation);
/* Removes the unfinished file and destroys the animation. */
BOUGH_API void bough_animation_discard(bough_context *ctx, bough_animation *animation);

/* A file that another program writes, such as an encoder of films: under another name, beside its place, until it is
 * finished. Unfinished files that killed writers of the same file have left there are removed. */
typedef struct bough_output bough_output;

/* BOUGH_ERROR_FILE: the folder cannot be written to, or `path` is a folder, a pipe or a device. */
BOUGH_API bough_status bough_output_create(bough_context *ctx, const char *path, bough_output **output);
/* Returns the name to write to: an empty file that exists and is locked for others. Valid as long as the output. */
BOUGH_API const char *bough_output_name(const bough_output *output);
/* Makes the file appear under its own name. The output is destroyed, also when it fails. */
BOUGH_API bough_status bough_output_finish(bough_context *ctx, bough_output *output);
/* Removes the unfinished file and destroys the output. */
BOUGH_API void bough_output_discard(bough_context *ctx, bough_output *output);

/* ---- line plots ---- */

#define BOUGH_SERIES_LIMIT 64 /* lines in one plot */

typedef enum bough_legend {
    BOUGH_LEGEND_AUTO, /* in a place where it covers no line; beside the plot when there is none */
    BOUGH_LEGEND_TOP_RIGHT,
    BOUGH_LEGEND_TOP_LEFT,
    BOUGH_LEGEND_BOTTOM_RIGHT,
    BOUGH_LEGEND_BOTTOM_LEFT,
    BOUGH_LEGEND_OUTSIDE, /* beside the plot, on the right */
    BOUGH_LEGEND_NONE
} bough_legend;

/* Texts are UTF-8 and may be NULL. The font of PNG files is ASCII: there a few Greek letters are spelt out, and all
 * other letters that it lacks become '?'. */
typedef struct bough_plot_def {
    uint32_t cookie;
    const char *title, *x_title, *y_title;
    int32_t width, height;             /* 200..4000 units; a unit is a CSS pixel in SVG, png_scale pixels in PNG */
    int32_t png_scale;                 /* 1..4; the default 2 is sharp on fine screens */
    bool log_x, log_y;                 /* values that are not positive become gaps */
    double x_min, x_max, y_min, y_max; /* NaN: from the data */
    bough_legend legend;
    uint64_t reserved[4]; /* zeros: room for fields of later versions */
} bough_plot_def;

BOUGH_API bough_plot_def bough_default_plot_def(void);

/* One line of a plot. A point of which a coordinate is not finite is a gap; a point between two gaps is a dot. Any
 * number of points will do: those that fall into the same column of pixels are merged so that peaks stay. */
typedef struct bough_series {
    const char *name; /* in the legend; NULL or "": not there */
    int32_t count;
    const double *x, *y; /* count */
    bool dashed;
} bough_series;

/* Writes FILE.svg or FILE.png, by the extension of path. def may be NULL. The file appears when it is complete. */
BOUGH_API bough_status bough_plot_write(bough_context *ctx, const bough_plot_def *def, const bough_series *series,
                                        int32_t series_count, const char *path);

/* ---- animated scenes: binary glTF 2.0, which browsers, viewers and Blender read ----
 *
 * Meshes are stored once and shown by any number of nodes. Each node has a pose in every frame, and a weight for each
 * target of its mesh: a vertex is at position + sum_k weight_k target_k, then scaled, turned and moved. With the
 * columns of a reduced basis as targets and its coordinates as weights, that is u = U q. */

#define BOUGH_GLB_TARGET_LIMIT 512 /* of a mesh */

typedef struct bough_glb_def {
    uint32_t cookie;
    const char *path; /* FILE.glb */
    bool z_up;        /* the meshes and poses have z up (default); glTF has y up */
    /* m: keys of a node are left out if the motion between their neighbours is straight enough that no vertex is shown
     * further off than this. 0 (default): only if nothing changes */
    double tolerance;
    uint64_t reserved[4]; /* zeros: room for fields of later versions */
} bough_glb_def;
BOUGH_API bough_glb_def bough_default_glb_def(void);

typedef struct bough_glb_mesh {
    uint32_t cookie;
    const char *name; /* may be NULL */
    int32_t vertex_count, triangle_count;
    const float *positions;   /* vertex_count x 3 */
    const float *normals;     /* vertex_count x 3; NULL: from the triangles */
    const int32_t *triangles; /* triangle_count x 3; both sides are seen */
    float colour[3];
    int32_t target_count;
    const float *targets;        /* target_count x vertex_count x 3 */
    const float *target_normals; /* the same for normals: added by each target; NULL: linearised from the triangles */
    uint64_t reserved[4];        /* zeros: room for fields of later versions */
} bough_glb_mesh;
BOUGH_API bough_glb_mesh bough_default_glb_mesh(void);

/* Row-major rotation. */
typedef struct bough_glb_pose {
    double translation[3], rotation[9];
    bool hidden; /* the node is not shown: it has no size */
} bough_glb_pose;

typedef struct bough_glb bough_glb;

/* Starts a file. Its name is tried now, and the file appears when it is finished. */
BOUGH_API bough_status bough_glb_create(bough_context *ctx, const bough_glb_def *def, bough_glb **glb);
/* Adds a mesh. Meshes and nodes are numbered from 0, and all must be added before the first frame. */
BOUGH_API bough_status bough_glb_add_mesh(bough_context *ctx, bough_glb *glb, const bough_glb_mesh *mesh);
/* Adds a mesh that is mesh number `mesh` in another colour and shares its data. */
BOUGH_API bough_status bough_glb_add_tint(bough_context *ctx, bough_glb *glb, int32_t mesh, const float colour[3]);
/* Adds a node that shows a mesh; name may be NULL. */
BOUGH_API bough_status bough_glb_add_node(bough_context *ctx, bough_glb *glb, const char *name, int32_t mesh,
                                          double scale);
/* Adds a frame; time (s) grows from frame to frame. poses: one for each node; weights: those of all nodes, one after
 * the other, as many for each as its mesh has targets. Frames are kept in memory (28 bytes for a node, 4 for a weight)
 * until the end. A frame that is refused leaves the others as they were. */
BOUGH_API bough_status bough_glb_add_frame(bough_context *ctx, bough_glb *glb, double time, const bough_glb_pose *poses,
                                           const float *weights);
/* Writes the file as it is so far, complete and on the disk itself; frames may follow. */
BOUGH_API bough_status bough_glb_flush(bough_context *ctx, bough_glb *glb);
/* Writes the file and destroys glb, also when it fails. Rotations and weights are rounded to 16 bits: a weight to
 * 1/65534 of the largest that its target has in any frame. Constant channels are written once; viewers
 * interpolate linearly between the keys of a node. */
BOUGH_API bough_status bough_glb_finish(bough_context *ctx, bough_glb *glb);
/* Destroys glb and writes nothing. */
BOUGH_API void bough_glb_discard(bough_context *ctx, bough_glb *glb);

/* ---- Wavefront .obj: a surface as it is now, in groups, for programs that read sequences of files ---- */

typedef struct bough_obj_group {
    const char *name;       /* blanks become '_'; NULL: its number */
    int32_t triangle_count; /* the triangles of the groups follow each other */
} bough_obj_group;

/* Writes a surface. positions, normals (may be NULL): vertex_count x 3. The file appears when it is complete. */
BOUGH_API bough_status bough_obj_write(bough_context *ctx, const char *path, int32_t vertex_count,
                                       const float *positions, const float *normals, const int32_t *triangles,
                                       int32_t group_count, const bough_obj_group *groups);

/* ---- arrays: .npz, which NumPy loads (numpy.load), a zip file of .npy arrays ---- */

#define BOUGH_NPZ_DIMENSION_LIMIT 3 /* of a row */

typedef enum bough_npz_type { BOUGH_NPZ_FLOAT64, BOUGH_NPZ_FLOAT32, BOUGH_NPZ_INT32 } bough_npz_type;

typedef struct bough_npz bough_npz;

/* Starts a file. Its name is tried now, and the file appears when it is finished. */
BOUGH_API bough_status bough_npz_create(bough_context *ctx, const char *path, bough_npz **npz);
/* Adds an array that grows by rows of this shape (dimension_count 0: single numbers). Arrays are numbered from 0, texts
 * too. Names are letters, digits and underscores, each given once. */
BOUGH_API bough_status bough_npz_add_array(bough_context *ctx, bough_npz *npz, const char *name, bough_npz_type type,
                                           int32_t dimension_count, const int32_t *shape);
/* Adds an array of texts (UTF-8), complete at once; NULL is an empty text. */
BOUGH_API bough_status bough_npz_add_texts(bough_context *ctx, bough_npz *npz, const char *name, int32_t count,
                                           const char *const *texts);
/* Returns the number of the array of this name; -1: there is none. */
BOUGH_API int32_t bough_npz_find(const bough_npz *npz, const char *name);
/* Appends rows of the array's type, one after the other. They are kept in memory until the end. */
BOUGH_API bough_status bough_npz_append(bough_context *ctx, bough_npz *npz, int32_t array, int32_t row_count,
                                        const void *rows);
/* Writes the file as it is so far, complete and on the disk itself; rows may follow. */
BOUGH_API bough_status bough_npz_flush(bough_context *ctx, bough_npz *npz);
/* Writes the file and destroys npz, also when it fails. */
BOUGH_API bough_status bough_npz_finish(bough_context *ctx, bough_npz *npz);
/* Destroys npz and writes nothing. */
BOUGH_API void bough_npz_discard(bough_context *ctx, bough_npz *npz);
/* Writes one matrix (float64, row-major) as a .npy file. */
BOUGH_API bough_status bough_npy_write(bough_context *ctx, const char *path, int32_t rows, int32_t columns,
                                       const double *values);

#ifdef __cplusplus
}
#endif

#endif
