/* Functions that the commands share: context with progress line and Ctrl-C, options, output. The program is a client of
 * the library: it includes public headers only. */
#ifndef BOUGH_APP_H
#define BOUGH_APP_H

#include <bough/fem.h>
#include <bough/record.h>
#include <bough/run.h>
#include <bough/scene.h>
#include <bough/tree.h>

#include <argp.h>
#include <jansson.h>

/* Exit statuses. */
enum { APP_OK = 0, APP_FAILED = 1, APP_USAGE = 2 };

typedef int (*app_command)(int argc, char **argv);

int command_mesh(int argc, char **argv);
int command_modes(int argc, char **argv);
int command_cook(int argc, char **argv);
int command_info(int argc, char **argv);
int command_static(int argc, char **argv);
int command_demo(int argc, char **argv);
int command_example(int argc, char **argv);
int command_doctor(int argc, char **argv);
int command_run(int argc, char **argv);
int command_view(int argc, char **argv);
int command_replay(int argc, char **argv);
int command_pack(int argc, char **argv);
int command_export(int argc, char **argv);
int command_bench(int argc, char **argv);
int command_materials(int argc, char **argv);
int command_integrators(int argc, char **argv);
int command_compare_integrators(int argc, char **argv);
int command_damping(int argc, char **argv);
int command_plot(int argc, char **argv);
int command_fit(int argc, char **argv);
int command_retarget(int argc, char **argv);
int command_mechanism(int argc, char **argv);
int command_robot(int argc, char **argv);
int command_picture(int argc, char **argv);
int command_movie(int argc, char **argv);

/* ---- app.c ---- */

/* A context that shows a progress line on a terminal, warns on stderr, and cancels on Ctrl-C. Exits when it cannot. */
bough_context *app_context(int32_t threads);
/* Prints "bough: message" and returns APP_FAILED. */
int app_fail(const bough_context *ctx);
/* The same with a sentence of its own. */
int app_fail_with(const char *format, ...) __attribute__((format(printf, 1, 2)));
/* Shows a progress line where somebody is looking, at most 20 times a second. */
void app_show_line(const char *format, ...) __attribute__((format(printf, 1, 2)));
/* Removes the progress line, if any. */
void app_clear_progress(void);
/* Warnings are not shown from now on: for what is done a second time. */
void app_hush_warnings(void);
/* True after Ctrl-C. */
bool app_interrupted(void);
/* Called in the signal by which a second Ctrl-C ends the program at once. */
void app_at_second_interrupt(void (*act)(void));
/* Makes the folder unless it is there; prints what is wrong and returns false when it cannot. */
bool app_make_folder(const char *path);
/* Returns what the user types to run the program: the launcher, where it was started by one, else as it was called. */
const char *app_name(void);
/* Parses "1,2,3" into count numbers; false when it is something else. */
bool app_parse_numbers(const char *text, int count, double *values);
bool app_parse_int(const char *text, long lowest, long highest, int32_t *value);
/* In an argp parser: the positive number that an option gives; ends the program when it is none. */
double app_need_positive(struct argp_state *state, const char *option, const char *text);

/* Options that many commands have, in their tables, by the key that they are parsed by. */
#define APP_OPTION_THREADS(key) \
    { "threads", key, "N", 0, "threads (default: one per core)", 0 }
#define APP_OPTION_JSON(key) \
    { "json", key, 0, 0, "print one JSON object instead of text", 0 }
/* In an argp parser: the number that --threads gives; ends the program when it is none. */
void app_need_threads(struct argp_state *state, const char *text, int32_t *threads);

/* Options of commands that take a scene file: the file, --threads and --json. */
typedef struct app_scene_options {
    const char *path;
    int32_t threads;
    bool json;
} app_scene_options;
extern const struct argp_child app_scene_children[]; /* of an argp; the input of the first is an app_scene_options */

/* argp_parse(), but exits when it fails. */
void app_parse(const struct argp *parser, int argc, char **argv, void *input);
/* For commands whose only option is --json: true when it is given. Exits on anything else. `about` is argp's text with
 * an example behind \v. */
bool app_wants_json(int argc, char **argv, const char *about);

bool app_is_same_file(const char *a, const char *b);
/* Whether two files, which need not exist, lie in one folder. */
bool app_is_same_folder(const char *a, const char *b);
/* In an argp parser: ends the program unless the file's name ends in `extension`, before any work is lost to it. */
bool app_has_extension(const char *path, const char *extension);
/* The name as the library has it. */
const char *app_parse_engine(struct argp_state *state, const char *text);
void app_need_extension(struct argp_state *state, const char *option, const char *path, const char *extension);
/* The same for .svg and .png. */
void app_need_plot(struct argp_state *state, const char *option, const char *path);

/* Prints the things to choose from, with a line about each: as text, or as one JSON object with the list `what`. */
typedef struct app_choice {
    const char *name, *about;
} app_choice;
void app_print_choices(const char *what, const app_choice *choices, int count, bool json);

/* Prints the object on stdout and releases it. */
void app_print_json(json_t *object);

/* ---- values.c: what the viewer uses, too ---- */

double app_seconds(void);     /* wall clock */
double app_cpu_seconds(void); /* of the process */

/* Writes the quaternion (x y z w) of a rotation matrix, row-major. */
void app_quaternion(const double rotation[9], double quaternion[4]);

/* Values that JSON cannot express become null (numbers that are not finite) or '?' (bytes that are not UTF-8). */
json_t *app_json_number(double value);
json_t *app_json_numbers(const double *values, int32_t count);
json_t *app_json_text(const char *text);

/* ---- viewer_folder.c ---- */

/* The folder of the viewer's page: the one that the user names, that of BOUGH_VIEWER, that of an installation, or that of
 * the sources. */
const char *app_viewer_folder(const char *wish);

/* ---- bundle.c: files in a page that needs no server (viewer/unpack.js) ---- */

typedef struct app_bundle app_bundle;
app_bundle *app_bundle_new(void);
void app_bundle_free(app_bundle *bundle);
/* Adds a file under a name; prints what is wrong and returns false when it cannot be read. */
bool app_bundle_add(app_bundle *bundle, const char *name, const char *path);
bool app_bundle_has(const app_bundle *bundle, const char *name);
/* The bytes of a file that was added, not ended by a zero; NULL: there is none. */
const char *app_bundle_find(const app_bundle *bundle, const char *name, size_t *size);
/* Writes all of it, with `about` (an object, which is released) in its list, as base64 of gzip; false: no memory, or the
 * stream fails. *bytes: before both. */
bool app_bundle_write(const app_bundle *bundle, json_t *about, FILE *stream, size_t *bytes);

/* ---- csv.c: tables of numbers with the names of the columns in the first line ---- */

/* A table of which only the wanted columns are kept. */
typedef struct app_csv {
    const char *path;
    FILE *stream;
    char *line; /* the last one, without its end */
    size_t length;
    long long line_number;
    char **names;
    int name_count;
    int wanted[BOUGH_SERIES_LIMIT + 1];     /* columns */
    double *values[BOUGH_SERIES_LIMIT + 1]; /* alongside: row_count each; NAN: a gap */
    int wanted_count;
    size_t row_count, row_capacity;
} app_csv;

/* Opens the file and reads the names. All of these print what is wrong and return a status other than APP_OK when they
 * fail. To be closed, also then. */
int app_csv_open(app_csv *csv, const char *path);
/* Returns the column of a name that ends after `length` letters; -1: there is none. */
int app_csv_find(const app_csv *csv, const char *name, size_t length);
/* Fails with the names that there are. */
int app_csv_no_column(const app_csv *csv, const char *name, size_t length);
/* Keeps this column, next to those before. */
int app_csv_want(app_csv *csv, int column);
/* Reads all rows; there is at least one. */
int app_csv_read(app_csv *csv);
void app_csv_close(app_csv *csv);

/* ---- json.c: reading JSON, which may come from anybody ---- */

/* NULL: it is no JSON, or is nested deeper than BOUGH_JSON_DEPTH, which small stacks do not bear. To be released. */
json_t *app_json_parse(const char *text, size_t size);
/* The same of a file; NULL also when it cannot be read. */
json_t *app_json_load(const char *path);
/* Whether a file whose name ends with .json has one of these keys at its top. */
bool app_json_names(const char *path, const char *const *keys, size_t count);
/* Returns the record in a component's file of how it was made; NULL: there is none. */
json_t *app_json_provenance(const bough_component *component);

/* ---- body_options.c: a body from a mesh file and options, or from a body file ---- */

typedef struct app_list {
    const char *items[64];
    int count;
} app_list;

typedef struct app_body_options {
    const char *input; /* the positional argument */
    const char *material, *mass;
    double young, poisson, density, mooney_ratio; /* NAN: not given */
    double damping[2];
    bool has_gravity, repair, json;
    double gravity[3];
    int32_t threads;
    app_list fix, move, force, pressure;
} app_body_options;

extern const struct argp app_body_argp; /* child parser of the options and the file; its input is an app_body_options */
app_body_options app_default_body_options(void);
/* True when an option says something about the body that its file does not. */
bool app_changes_body(const app_body_options *options);
/* Makes the body, and a load case of what holds it and acts on it. Prints what is wrong and returns a status other than
 * APP_OK when it fails; both are NULL then. */
int app_make_body(bough_context *ctx, const app_body_options *options, bough_body **body, bough_load_case **load_case);

/* ---- static_scene.c ---- */

/* Asks the library about the file. Kind "": it cannot be read, or is something else. */
bough_file_info app_look_at_file(const char *path);
bool app_is_scene_of_parts(const char *path);
bool app_is_mechanism(const char *path);
bool app_is_multibody(const char *path);
bool app_is_scene_of_bodies(const char *path);

typedef struct app_static_scene {
    const char *scene, *engine; /* engine NULL: the scene's */
    const char *output, *picture, *title;
    double scale; /* of displacements in the picture */
    int32_t threads;
    bool json;
    bool along;          /* at all times of the motors' curves */
    double every, until; /* s: between these times; the last of them, 0: the scene's duration */
    const char *csv;     /* of all of them; NULL: none */
} app_static_scene;
int app_run_static_scene(const app_static_scene *options);
/* ---- static_along.c: of a run that was settled ---- */
int app_follow_scene(bough_context *ctx, const bough_scene *scene, bough_run *run, const app_static_scene *options);

/* ---- modes_scene.c ---- */

/* True for a scene of one body, which has more than a body file. */
bool app_is_body_scene(const char *path);

typedef struct app_modes_scene {
    const char *scene, *coupling; /* coupling NULL: the scene's */
    const char *output, *picture;
    int32_t count, shape; /* shape: which to draw, from 1; 0: the first */
    int32_t threads;
    bool settle, json;
} app_modes_scene;
/* Modes of a scene of parts or of a mechanism. */
int app_run_modes_scene(const app_modes_scene *options);
/* A .vtu with one field for each of `count` shapes (3 x vertices each). */
int app_write_modes(bough_context *ctx, const bough_mesh *mesh, int32_t count, const double *frequencies,
                    const double *shapes, const char *path);
/* A shape has no amplitude of its own: drawn with its largest displacement a tenth of the mesh's size. `mode` counts
 * from 0. */
int app_draw_mode(bough_context *ctx, const bough_mesh *mesh, const double *shape, int32_t mode, double frequency,
                  const char *path);

/* ---- component_card.c ---- */

void app_print_card(const char *path, const bough_component *component);
/* The part of it about errors and frequencies. */
void app_print_quality(const bough_component *component);
/* The worst error of a component of a scene, measured by what is fair: "good: motion within 1.5 % of what the scene
 * shows". */
void app_worst_quality(const bough_cook_item *item, int32_t r, char *text, size_t size);
json_t *app_json_component(const char *path, const bough_component *component);
const char *app_elastic_name(const bough_component *component);

/* ---- component_picture.c ---- */

/* Draws the surface moved by one coordinate (from 0) and prints what is wrong when it cannot. */
int app_component_picture(bough_context *ctx, const bough_component *component, int32_t coordinate, const char *path);
const char *app_size_text(double bytes); /* "12.3 kB"; valid until called 4 times more */

/* ---- cook_report.c ---- */

/* Cooks what the plan says and tells about it. */
int app_cook(bough_context *ctx, bough_cook_plan *plan, bool force, bool json);

/* ---- pictures.c ---- */

/* The boundary of a volume mesh, or a surface itself, ready to be drawn deformed. */
typedef struct app_view {
    const bough_mesh *surface;
    bough_mesh *boundary; /* what `surface` points to, for a volume */
    int32_t *vertex_map;  /* surface vertex -> mesh vertex; NULL: the same */
    uint8_t *edge_mask;   /* hides diagonals of quads */
    double *deformed;
    double *scalars; /* |u| of the surface vertices */
} app_view;

bough_status app_view_create(bough_context *ctx, const bough_mesh *mesh, app_view *view);
void app_view_destroy(bough_context *ctx, app_view *view);
/* Adds the surface at rest + scale * u, coloured by |u| from 0 to `largest` (0: plain). */
bough_status app_view_draw(bough_context *ctx, app_view *view, bough_picture *picture, const double *u, double scale,
                           double largest, bool edges);
/* The same by values of the mesh's vertices (NULL: plain). */
bough_status app_view_draw_values(bough_context *ctx, app_view *view, bough_picture *picture, const double *u,
                                  const double *values, double largest, bool edges);
/* Widens lower/upper to hold rest + scale * u. */
void app_view_bounds(const app_view *view, const double *u, double scale, double lower[3], double upper[3]);
/* One picture of a deformed mesh, written to path, with a colour bar for |u| that is called `quantity`. */
bough_status app_picture(bough_context *ctx, const bough_mesh *mesh, const double *u, double scale, const char *title,
                         const char *quantity, const char *path);

/* ---- tree_picture.c ---- */

typedef struct app_part_style {
    float colour[3];
    float variation; /* how much parts of one component differ in colour, 0..1 */
    float gloss;
} app_part_style;

/* The colour of this part. */
void app_part_colour(const app_part_style *style, int32_t part, float colour[3]);
/* Adds the surfaces of all parts; styles: one for each component of the model. */
bough_status app_tree_draw(bough_context *ctx, const bough_tree_model *model, const bough_tree_state *state,
                           const app_part_style *styles, bough_picture *picture);
/* The same in colours of its own: 3 for each vertex of the model; NULL: those of the styles. */
bough_status app_tree_draw_painted(bough_context *ctx, const bough_tree_model *model, const bough_tree_state *state,
                                   const app_part_style *styles, const float *colours, bough_picture *picture);

/* ---- looks.c ---- */

/* The run's things are rigid, each with a look of its own. */
bool app_is_rigid(const bough_run *run);
/* Its things are placed by their frames, or bent by coordinates; else there is a mesh whose vertices move. */
bool app_has_looks(const bough_run *run);
/* The first of the things that stand beside a body or parts without vertices in the mesh of the run, obstacles, which are
 * the last of all; the number of things: there are none. */
int32_t app_first_beside(const bough_run *run);
int32_t app_count_beside(const bough_run *run);
/* Links of long chains are all alike: surfaces are sent, written and drawn once for all that share them. Sets the look
 * of each thing of the run, and a thing for each look; returns how many looks there are. */
int32_t app_find_looks(const bough_run *run, int32_t *look_of, int32_t *looks);

/* ---- tree_glb.c ---- */

/* A tree of parts on its way into a .glb file. */
typedef struct app_tree_glb {
    bough_glb *glb;
    bough_glb_pose *poses; /* of the parts, then of what stands beside them */
    float *weights;
    int32_t frame_count;
    const bough_run *run; /* that has something beside its parts; NULL: none */
} app_tree_glb;

/* run: whose obstacles are shown too; NULL: there are none. To be destroyed, also when it fails. */
bough_status app_tree_glb_create(bough_context *ctx, const bough_tree_model *model, const bough_tree_state *state,
                                 const bough_run *run, const app_part_style *styles, const char *path,
                                 app_tree_glb *film);
/* The state as one more frame. */
bough_status app_tree_glb_add(bough_context *ctx, const bough_tree_model *model, const bough_tree_state *state,
                              app_tree_glb *film);
/* Writes the file. */
bough_status app_tree_glb_finish(bough_context *ctx, app_tree_glb *film);
void app_tree_glb_destroy(bough_context *ctx, app_tree_glb *film);

/* ---- oak_picture.c ---- */

extern const app_part_style app_oak_styles[6]; /* of its components */
/* The oak of `bough example` in its meadow; width in pixels. */
bough_status app_oak_picture(bough_context *ctx, const bough_tree_model *model, const bough_tree_state *state,
                             int32_t width, const char *path);
/* The light and the sky above a meadow; and the meadow, this far around a point, where something of this size stands.
 */
void app_light_meadow(bough_picture_def *def);
bough_status app_meadow_draw(bough_context *ctx, bough_picture *picture, const double middle[3], double size);
extern const app_part_style app_forest_styles[18]; /* of three species, as `bough example forest` has them */
/* A picture for the forest of `bough example`, this many pixels wide; and the forest in it, rendered. */
bough_picture_def app_forest_view(int32_t width);
bough_status app_forest_draw(bough_context *ctx, const bough_tree_model *model, const bough_tree_state *state,
                             bough_picture *picture);

/* ---- mechanism_file.c: mechanisms from URDF files and scenes ---- */

typedef struct app_mechanism {
    const bough_mechanism *mechanism;
    bough_urdf *urdf; /* one of them is not NULL */
    bough_scene *scene;
} app_mechanism;

/* The name is the mechanism's. */
typedef struct app_effector {
    const char *name;
    bough_frame_def at;
} app_effector;

/* Links to reduce a mechanism to. */
typedef struct app_effectors {
    int32_t count;
    app_effector *effectors;
    bough_frame_def *at; /* the same without names */
    int32_t modes;       /* internal ones, beside them */
} app_effectors;

/* dynamics: the side file of URDF, or NULL. Prints what is wrong and returns a status other than APP_OK when it fails.
 */
int app_mechanism_load(bough_context *ctx, const char *path, const char *dynamics, app_mechanism *m);
void app_mechanism_free(bough_context *ctx, app_mechanism *m);
/* "a,b,c", "all" links that move, or NULL: those of the file; "a,b+3" with three internal modes. Prints what is wrong
 * as above. */
int app_choose_effectors(const app_mechanism *m, const char *names, app_effectors *chosen);
void app_free_effectors(app_effectors *chosen);

/* ---- mechanism_write.c ---- */

/* A reduced model as .npz or .json, for other programs. */
int app_write_mechanism(bough_context *ctx, const app_mechanism *m, const app_effectors *chosen,
                        const bough_mechanism_model *model, const char *path);

/* ---- demo_forest.c ---- */

typedef struct app_forest_demo {
    const char *folder;
    int32_t threads, frames, leaves; /* leaves: of each oak */
    bool json;
} app_forest_demo;
/* Makes the forest, lets the wind blow, draws a film and a picture; tells what is wrong. */
int app_demo_forest(const app_forest_demo *demo);

#endif
