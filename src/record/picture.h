/* Inside of a picture: what was added, and how a frame of it is drawn.
 *
 *   surfaces, segments --(camera: clip, project)--> faces on the screen --(raster: nearest face per sample)-->
 *   --(shade: once per face and pixel)--> linear light --> sRGB pixels --(label: text and colour bars)--> done */
#ifndef BO_RECORD_PICTURE_H
#define BO_RECORD_PICTURE_H

#include "base/context.h"
#include "base/vec.h"
#include "record/colour.h"

#include <bough/record.h>

typedef struct bo_surface {
    int32_t vertex_count, triangle_count;
    double *vertices;      /* vertex_count x 3 */
    int32_t *triangles;    /* triangle_count x 3 */
    float *corner_normals; /* triangle_count x 3 x 3, unit */
    bo_rgb *colours;       /* vertex_count, or NULL: colour */
    uint8_t *edge_mask;    /* triangle_count, or NULL: no edges */
    bo_rgb colour, edge_colour;
    double gloss, edge_width;
    bool casts_shadow;
} bo_surface;

typedef struct bo_segment {
    bo_vec3 from, to;
    bo_rgb colour;
    double width; /* pixels */
    bool on_top, arrowhead;
} bo_segment;

typedef struct bo_label {
    double x, y, size;
    bo_rgb colour;
    char *text;
} bo_label;

typedef struct bo_colour_bar {
    double x, y, width, height;
    bough_colour_map map;
} bo_colour_bar;

struct bough_picture {
    bough_picture_def def;
    uint8_t *pixels; /* height x width x 4 */
    bo_surface *surfaces;
    bo_segment *segments;
    bo_label *labels;
    bo_colour_bar *bars;
    size_t surface_count, segment_count, label_count, bar_count;
    size_t surface_capacity, segment_capacity, label_capacity, bar_capacity;
};

bough_status bo_check_picture_size(bough_context *ctx, int32_t width, int32_t height);

/* Fills surface->corner_normals: mean of the normals around a vertex, weighted by area, over the triangles that turn
 * away from this one by less than crease_angle. */
bough_status bo_surface_normals(bough_context *ctx, bo_surface *surface, double crease_angle);

/* Camera axes. A point at depth z in front of the eye is at x = centre_x + focal * right.p / z, y downwards. */
typedef struct bo_camera {
    bo_vec3 eye, right, up, forward;
    double focal;              /* pixels */
    double centre_x, centre_y; /* pixels */
    double near;               /* m */
} bo_camera;

bo_camera bo_camera_of(const bough_picture_def *def);
/* Direction, not normalised (forward component 1), of the ray through a place in the picture. */
bo_vec3 bo_camera_ray(const bo_camera *camera, double x, double y);

enum { BO_SUBPIXEL = 256 }; /* corners of faces lie on a grid of 1/256 sample: edge functions are exact in doubles */

/* A triangle on the screen, clipped; corner k in grid units, 1/depth w[k], and where it lies in its source. */
typedef struct bo_face {
    int32_t surface; /* -1: a segment */
    int32_t index;   /* triangle of the surface, or segment */
    double x[3], y[3], w[3];
    double area;         /* twice, positive: corners are ordered so */
    double source[3][3]; /* barycentric coordinates of the corners in the source triangle */
} bo_face;

/* Box around all that casts shadows; lengths of blur and fades follow from its size. */
typedef struct bo_bounds {
    bo_vec3 lower, upper;
    double size; /* diagonal; 1 when there is nothing */
} bo_bounds;

/* Light on the ground, 0 free .. 1 dark, on a grid of nx x ny texels in plane coordinates (a,b). */
typedef struct bo_shadow_map {
    bo_vec3 axis_a, axis_b;
    double a0, b0, texel; /* m */
    int32_t nx, ny;
    float *key, *contact;
} bo_shadow_map;

/* All data of one rendering; read-only while pixels are drawn. */
typedef struct bo_view {
    const bough_picture *picture;
    bo_camera camera;
    bo_bounds bounds;
    bo_vec3 up, light;    /* unit */
    double ground_height; /* along up */
    bool ground;
    bo_rgb background_top, background_bottom;
    bo_shadow_map shadow;
    struct bo_depth_map *depth_maps; /* seen from the light, then from parts of the sky: shadows on surfaces */
    int32_t depth_map_count;
    bo_face *faces;
    size_t face_count, face_capacity;
} bo_view;

bough_status bo_view_add_faces(bough_context *ctx, bo_view *view);

bough_status bo_shadow_create(bough_context *ctx, bo_view *view);
void bo_shadow_destroy(bough_context *ctx, bo_view *view);
/* Returns the shadow of the key light, and of things that are near, at a point of the ground. */
void bo_shadow_at(const bo_shadow_map *map, bo_vec3 point, float *key, float *contact);

bough_status bo_depth_maps_create(bough_context *ctx, bo_view *view);
void bo_depth_maps_destroy(bough_context *ctx, bo_view *view);
/* Returns how much of the key light, and how much of the sky, reaches a point of a surface: 0..1. n is the smooth unit
 * normal, facet that of the triangle. */
void bo_visible_light(const bo_view *view, bo_vec3 point, bo_vec3 n, bo_vec3 facet, float *key, float *sky);

/* Returns the light that comes from a face, or from behind all faces, at a place in the picture (pixels). */
bo_rgb bo_shade_face(const bo_view *view, const bo_face *face, double x, double y);
bo_rgb bo_shade_background(const bo_view *view, double x, double y);
/* Inverse depth of the ground there, 0 when the ray does not meet it. */
double bo_ground_depth(const bo_view *view, double x, double y);

bough_status bo_raster(bough_context *ctx, const bo_view *view, uint8_t *pixels);

void bo_draw_labels(const bough_picture *picture);
/* Text over the pixels as they are: as bough_picture_add_label(), or turned, running upwards from (x,y), its top at the
 * left. */
void bo_draw_text(const bough_picture *picture, double x, double y, double size, bo_rgb colour, const char *text,
                  bool turned);

#endif
