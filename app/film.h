/* Pictures and films of runs, of either engine. */
#ifndef BOUGH_APP_FILM_H
#define BOUGH_APP_FILM_H

#include "app.h"

/* ---- paint.c: colours of what is seen ---- */

/* Finds the name that a component had when it was cooked; "" if it has none. */
void app_component_name(const bough_component *component, char *name, size_t size);
/* One for each component: wood and leaves by their names, others in the order of the scene. NULL: no memory. */
app_part_style *app_choose_styles(const bough_tree_model_def *def);

typedef enum app_colouring {
    APP_COLOUR_AUTO, /* parts by component, bodies by displacement */
    APP_COLOUR_COMPONENT,
    APP_COLOUR_PART,
    APP_COLOUR_DISPLACEMENT,
    APP_COLOUR_STRESS
} app_colouring;

/* Colours that stand for a value: the last one for `range`, or (0) for the largest value so far. */
typedef struct app_scale {
    double range, largest;
} app_scale;

/* Sets vertex_count x 3 colours of a scene of parts. */
bough_status app_paint_parts(const bough_run *run, app_colouring colouring, app_scale *scale, float *colours);
/* Sets the values of a body's vertices. */
bough_status app_paint_body(const bough_run *run, app_colouring colouring, app_scale *scale, double *values);

/* thing_picture.c: links, bodies and parts by their looks. Points where they are now, *count numbers, to be freed also
 * when it fails. */
bough_status app_thing_points(bough_context *ctx, const bough_run *run, size_t *count, float **points);
bool app_has_obstacles(const bough_run *run);
/* Finds the height of the first floor among the obstacles, level and flat; false: there is none. */
bool app_find_floor(const bough_run *run, double *height);

/* ---- shot.c: where a picture is taken from, and what it shows ---- */

/* Components whose names, or those of their parts, match a pattern have a colour of the user's. */
typedef struct app_paint {
    const char *pattern;
    float colour[3];
} app_paint;
enum { APP_PAINTS = 16 };

typedef enum app_backdrop {
    APP_BACKDROP_PAPER,
    APP_BACKDROP_WHITE,
    APP_BACKDROP_DARK,
    APP_BACKDROP_MEADOW
} app_backdrop;

typedef struct app_shot_def {
    int32_t width, height;
    bool has_eye, has_target;
    double eye[3], target[3];
    double field_of_view; /* rad, from top to bottom; 0: what holds all of it */
    app_colouring colouring;
    double range; /* what the last colour stands for; 0: the largest so far */
    app_backdrop backdrop;
    app_paint paints[APP_PAINTS]; /* later ones win */
    int paint_count;
    bool contacts; /* arrows where things touch */
    bool film;     /* it goes on: what flies gets room to turn, and little of a frame changes with the next */
    bool follow;   /* the camera of a film goes along with what is looked at */
} app_shot_def;
app_shot_def app_default_shot(void);
extern const struct argp app_shot_argp; /* child parser of its options; its input is an app_shot_def */

/* thing_picture.c */
bough_status app_draw_things(bough_context *ctx, const bough_run *run, const app_shot_def *def, bough_picture *picture);
/* Likewise what stands beside a body or parts. */
bough_status app_draw_beside(bough_context *ctx, const bough_run *run, const app_shot_def *def, bough_picture *picture);

typedef struct app_shot {
    app_shot_def def;
    bough_picture_def camera;
    bough_picture *picture;
    app_part_style *styles; /* of the components */
    app_view view;          /* of a body */
    app_scale scale;
    double ground[3], size; /* of a meadow: its middle, and what stands on it */
    double middle[3];       /* of what is looked at, in the picture that was taken last */
    double push;            /* N: the largest force of a contact so far, which is the longest arrow */
} app_shot;

/* Aims at what the run shows now. To be closed, also when it fails. */
bough_status app_shot_open(bough_context *ctx, const bough_run *run, const app_shot_def *def, app_shot *shot);
/* Renders the present state into shot->picture. */
bough_status app_shot_take(bough_context *ctx, const bough_run *run, app_shot *shot);
void app_shot_close(bough_context *ctx, app_shot *shot);
/* Prints what the run cannot show of what is asked for. */
int app_shot_check(const bough_run *run, const app_shot_def *def);

/* contact_picture.c: arrows of the forces at all points of contact, with what the longest stands for. */
bough_status app_draw_contacts(bough_context *ctx, const bough_run *run, app_shot *shot);

/* ---- take.c: what bough picture and bough movie have in common ---- */

typedef struct app_take {
    app_scene_options scene;
    bough_run_def run;
    bool timed; /* somebody gave a time */
    const char *output;
} app_take;
app_take app_default_take(void);
/* Parser of the scene and of how it is stepped; its input is an app_take. */
extern const struct argp app_take_argp;
/* Loads and starts; prints what is wrong. Both are to be destroyed, also when it fails. */
int app_take_start(bough_context *ctx, app_take *take, bough_scene **scene, bough_run **run);

/* ---- reel.c: pictures one after the other ---- */

/* An animated .png of our own, or a .webm or .mp4 made by ffmpeg. */
typedef struct app_reel {
    char *path;
    bough_output *output; /* of ffmpeg */
    bough_animation *animation;
    FILE *pipe;
    int child; /* ffmpeg */
    int32_t frames;
    char problem[256]; /* a sentence of what went wrong, where the context has none */
} app_reel;

bool app_is_reel(const char *path); /* by its extension */
bough_status app_reel_open(bough_context *ctx, const char *path, int32_t width, int32_t height, double fps,
                           app_reel *reel);
bough_status app_reel_add(bough_context *ctx, const bough_picture *picture, int32_t width, int32_t height,
                          app_reel *reel);
/* The file appears. The reel is closed, also when it fails. */
bough_status app_reel_finish(bough_context *ctx, app_reel *reel);
/* Removes the unfinished film. */
void app_reel_discard(bough_context *ctx, app_reel *reel);

/* ---- baked_glb.c ---- */

/* Vertices of all frames, on their way into a .glb file that needs no coordinates to be understood. */
typedef struct app_baked_glb {
    bough_glb *glb;
    float *positions; /* frame after frame */
    double *times;
    int32_t vertex_count, frame_count, frame_capacity;
    app_view view;          /* of a body */
    int32_t beside_count;   /* things beside the body, which move as a whole */
    bough_glb_pose *beside; /* frame after frame */
} app_baked_glb;

bough_status app_baked_glb_create(bough_context *ctx, const bough_run *run, const char *path, app_baked_glb *film);
/* BOUGH_ERROR_UNSUPPORTED: it would be too large. */
bough_status app_baked_glb_add(bough_context *ctx, const bough_run *run, app_baked_glb *film);
bough_status app_baked_glb_finish(bough_context *ctx, const bough_run *run, const app_part_style *styles,
                                  app_baked_glb *film);
/* Writes what there is; frames may follow. */
bough_status app_baked_glb_flush(bough_context *ctx, const bough_run *run, const app_part_style *styles,
                                 const char *path, const app_baked_glb *film);
void app_baked_glb_destroy(bough_context *ctx, app_baked_glb *film);

/* ---- cast_glb.c ---- */

/* Links, bodies and obstacles of a mechanism on their way into a .glb file. */
typedef struct app_cast_glb {
    bough_glb *glb;
    bough_glb_pose *poses;
} app_cast_glb;

/* Adds the looks of all that stands beside a body or parts, a mesh each. */
bough_status app_glb_add_beside(bough_context *ctx, const bough_run *run, bough_glb *glb);
/* Tells where all of it is now: app_count_beside() poses. */
void app_glb_place_beside(const bough_run *run, bough_glb_pose *poses);
/* To be destroyed, also when it fails. */
bough_status app_cast_glb_create(bough_context *ctx, const bough_run *run, const char *path, app_cast_glb *film);
bough_status app_cast_glb_add(bough_context *ctx, const bough_run *run, app_cast_glb *film);
bough_status app_cast_glb_finish(bough_context *ctx, app_cast_glb *film);
void app_cast_glb_destroy(bough_context *ctx, app_cast_glb *film);

/* ---- film_arrays.c: .npz and .obj ---- */

bough_status app_npz_create(bough_context *ctx, const bough_run *run, const char *path, bough_npz **npz);
bough_status app_npz_add(bough_context *ctx, const bough_run *run, bough_npz *npz);
/* FOLDER/NAME.obj: the present surface as FOLDER/NAME_000012.obj for frame 12; the folder is made. */
bough_status app_obj_write(bough_context *ctx, const bough_run *run, const char *path, int32_t frame);

/* ---- film.c: what bough run records frame by frame ---- */

enum { APP_REELS = 3 };

typedef struct app_film {
    const char *glb_path, *npz_path, *obj_path; /* NULL: none */
    bool baked;                                 /* of the .glb: vertices instead of coordinates */
    const char *reel_paths[APP_REELS];
    int reel_count;
    double fps;
    app_shot_def shot_def;
    int32_t frames;
    const bough_run *run;
    app_tree_glb glb;
    app_baked_glb baked_glb;
    app_cast_glb cast_glb;
    bough_npz *npz;
    app_reel reels[APP_REELS];
    app_shot shot;
    app_part_style *styles; /* of the .glb */
    char problem[256];      /* a sentence of what went wrong, where the context has none */
} app_film;

app_film app_default_film(void);
bool app_wants_film(const app_film *film);
/* Takes a recording into the run's def or into the film, by its extension; false: there is no such kind. *other: one of
 * its kind that was taken before, and stays; or NULL. This is the one place that knows what kinds there are. */
bool app_take_recording(char *path, bough_run_def *def, app_film *film, const char **other);
/* ".csv (energies and probes, each step), ..." */
const char *app_recording_kinds(void);

/* Opens the files. To be destroyed, also when it fails. */
bough_status app_film_prepare(bough_context *ctx, const bough_run *run, app_film *film);
/* Aims the camera at the present state, which becomes the first frame. */
bough_status app_film_begin(bough_context *ctx, const bough_run *run, app_film *film);
/* Both. */
bough_status app_film_open(bough_context *ctx, const bough_run *run, app_film *film);
/* The present state as one more frame: bough_run_def.watch; data is the film. */
bough_status app_film_add(void *data, bough_context *ctx, const bough_run *run);
/* .npz and .glb are complete up to now: bough_run_def.flush; data is the film. Films of pictures appear at the end. */
bough_status app_film_flush(void *data, bough_context *ctx, const bough_run *run);
/* The files appear; the run is still there. */
bough_status app_film_finish(bough_context *ctx, app_film *film);
/* Prints what went wrong. */
int app_film_fail(const bough_context *ctx, const app_film *film);
void app_film_destroy(bough_context *ctx, app_film *film);
/* The present state in the same colours, larger. For what flies: its displacements say little of how it bends. */
bough_status app_film_still(bough_context *ctx, const bough_run *run, const char *path);

#endif
