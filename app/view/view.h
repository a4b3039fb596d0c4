/* bough view: a scene that is stepped in real time, and those who look on. docs/viewer-protocol.md tells what goes
 * between them.
 *
 *     world     a scene and its run, with what there is to draw of it
 *     frames    snapshots of worlds, and what of them has changed since somebody saw them
 *     open      other files than scenes, and which there are
 *     commands  texts of clients, checked
 *     session   the simulation's thread, and the seats of those who look on; knows no sockets
 *     server    HTTP around a session: who may come in; stands on http (heads of requests) and line (sockets, threads)
 *     client    one who looks on through a WebSocket; stands on websocket (frames)
 */
#ifndef BOUGH_APP_VIEW_H
#define BOUGH_APP_VIEW_H

#include "../app.h"

#include <stdatomic.h>

enum {
    VIEW_SEATS = 8,            /* most who look on */
    VIEW_HANDS = 4,            /* that pull at once */
    VIEW_TEXT_SIZE = 4096,     /* bytes of a client's message, at most */
    VIEW_RATE = 240,           /* messages of a client in a second */
    VIEW_BURST = 512,          /* and at once */
    VIEW_LAYERS = 2,           /* the scene, and its ghost */
    VIEW_STREAMED_FROM = 65,   /* coordinates from which on vertices take less than U in a shader */
    VIEW_FRAMES_UNDER_WAY = 2, /* to a client that has not told that it drew them */
    VIEW_STATES = 16,          /* most that are saved by name */
    VIEW_FILES = 200,          /* most that are offered to be opened */
    VIEW_CONTACTS = 256,       /* most points of contact in a frame: those with the largest forces */
};

/* ---- messages.c ---- */

/* Bytes on their way to clients, made once for all of them. */
typedef struct view_message {
    atomic_int holders;
    bool text;
    size_t size;
    unsigned char bytes[];
} view_message;

/* For one holder, with unset bytes; NULL: there is no memory. */
view_message *view_message_new(size_t size, bool text);
view_message *view_message_hold(view_message *message); /* of NULL: NULL */
void view_message_drop(view_message *message);
/* Releases the object. NULL: there is no memory. */
view_message *view_message_json(json_t *object);
/* The head of a binary message: 16 bytes. */
enum { VIEW_STAGE = 1, VIEW_FRAME = 2, VIEW_COLOURS = 3, VIEW_HEAD_SIZE = 16 };
void view_write_head(unsigned char *bytes, uint32_t kind, uint32_t generation, uint32_t json_size);

/* ---- world.c ---- */

typedef struct view_shape_part {
    int32_t component, parent;
    double scale, size;     /* size: of its surface at rest, m */
    int32_t r, vertices;    /* coordinates; vertices of its surface */
    int32_t inner;          /* other vertices of its volume mesh */
    int32_t first, first_q; /* among all */
    bool streamed;
    int32_t count;      /* of numbers that follow its pose: r, or 3 x (vertices + inner) */
    size_t at;          /* where its pose begins in a snapshot */
    const float *reach; /* r: how far a vertex moves by 1 of a coordinate, at most; of the component */
} view_shape_part;

/* The layout of snapshots of a world; shared with those who encode them. */
typedef struct view_shape {
    atomic_int holders;
    uint32_t generation; /* of the newest stage; only for the simulation's thread */
    int32_t part_count, vertex_count;
    int32_t joint_count;
    size_t joints_at;    /* where the joints begin in a snapshot: after all parts */
    size_t number_count; /* of a snapshot */
    view_shape_part *parts;
    float *reach;
} view_shape;
view_shape *view_shape_hold(view_shape *shape);
void view_shape_drop(view_shape *shape);

/* The way in which a scene is stepped. Names are those of bough_run_def, and constants; NULL: the scene's. */
typedef struct view_choice {
    const char *path; /* of a ghost that is another scene; NULL: the scene that is looked at */
    const char *engine, *coupling, *integrator;
    const char *continuity; /* never NULL */
    double dt;              /* 0: the scene's */
} view_choice;

typedef struct view_world {
    bough_scene *scene;
    bough_run *run;
    uint32_t can;       /* bough_capability of its engine */
    view_choice choice; /* as it turned out */
    view_shape *shape;
    double *damping_ratio; /* of the parts, as somebody set it; NAN: nobody did */
    int32_t look_count;
    int32_t *look_of; /* of the things: which of the looks below; -1: drawn by its vertices */
    int32_t *looks;   /* of each look: a thing that has it */
    float *positions; /* of all vertices, where all are streamed */
    bough_run_joint *joints;
    bough_run_contact *contacts; /* of the last snapshot, or of the last colours */
    int32_t contact_count;       /* that push */
    size_t contact_capacity;
    /* ---- for a thing whose vertices are drawn by themselves: the boundary of its mesh, and the edges of the whole ---- */
    bough_mesh *boundary;
    int32_t *vertex_map; /* vertices of the mesh: first those of the boundary, then the inner ones */
    int32_t *edges, edge_count;
} view_world;

typedef void (*view_tell)(void *data, const bough_run_change *changes, int32_t count);
/* Loads the scene (anew, so that several worlds can stand side by side) and cooks what is missing. */
bough_status view_world_create(bough_context *ctx, const char *path, const view_choice *choice, view_tell tell,
                               void *tell_data, view_world **world);
void view_world_destroy(bough_context *ctx, view_world *world);
/* After its continuity was chosen anew: what is sent of it may be something else. On failure it is what it was. */
bough_status view_world_reshape(bough_context *ctx, view_world *world);
int32_t view_world_part_count(const view_world *world);
bool view_world_has_part(const view_world *world, int32_t part);
/* Says how the world is drawn: by poses alone, by modes, or every vertex by itself. */
bough_drawing view_world_drawing(const view_world *world);
/* A look of the world, by its number among those that are sent. */
const bough_look *view_world_look(const view_world *world, int32_t look);
/* The thing of a vertex of the mesh, where several bodies are drawn as one. */
int32_t view_world_body(const view_world *w, int32_t vertex);
/* From the part's vertex, as it is drawn, to what bough_run_pull() wants. */
int32_t view_world_vertex(const view_world *world, int32_t vertex);
double view_world_time(const view_world *world);

/* ---- stage.c ---- */

typedef struct view_stage {
    const char *name;
    const bough_scene_info *scene;
    const view_world *worlds[VIEW_LAYERS];
    const bough_wind *wind; /* as it blows now */
    const double *gravity;
    const json_t *files; /* that can be opened instead, and which of them this is; NULL: none */
    const char *file;
    uint32_t generation;
} view_stage;
bough_status view_stage_make(const view_stage *stage, view_message **message);
json_t *view_json_wind(const bough_wind *wind);
/* The component's name, by what it was made of. To be freed. */
char *view_component_name(const bough_component *component, int32_t number);
/* Hz, as cooking found them. */
json_t *view_json_frequencies(const bough_component *component);

/* ---- open.c ---- */

/* Finds the scene to load in order to show the file: a scene itself, or one that is written into the folder to show a
 * mesh or a component. To be freed. *at_rest: nobody would expect it to move by itself. */
bough_status view_open_file(bough_context *ctx, const char *path, const char *folder, char **scene, bool *at_rest);
/* Names of files below the folder of the path that may be opened, in order. NULL: there is no memory. */
json_t *view_list_files(const char *path);

/* ---- frames.c ---- */

/* A world at one time: for each part its pose (origin, quaternion x y z w) and its numbers. */
typedef struct view_snapshot {
    atomic_int holders;
    view_shape *shape;
    uint32_t generation; /* of the stage that it is drawn on */
    double time;
    int32_t contact_count; /* VIEW_CONTACT numbers of each follow those of the shape */
    float numbers[];
} view_snapshot;
bough_status view_snapshot_take(bough_context *ctx, view_world *world, view_snapshot **snapshot);
view_snapshot *view_snapshot_hold(view_snapshot *snapshot);
void view_snapshot_drop(view_snapshot *snapshot);

/* The version of a layer that a client has seen. */
typedef struct view_seen {
    view_shape *shape; /* NULL: nothing */
    uint32_t generation;
    float *numbers;
} view_seen;
void view_seen_forget(view_seen *seen);
/* The frame that brings a client from what it has seen to the snapshot; NULL: there is no memory. */
view_message *view_frame_encode(const view_snapshot *snapshot, uint32_t frame, uint32_t layer, view_seen *seen);
/* Bytes of a frame's own head, after that of the message; numbers of a pose: origin, quaternion x y z w. */
enum { VIEW_FRAME_HEAD = 24, VIEW_POSE = 7 };
/* Numbers of a joint: its pose, force and torque. */
enum { VIEW_JOINT = VIEW_POSE + 6 };
/* Numbers of a contact: two things, position, normal force and friction on the first. */
enum { VIEW_CONTACT = 11 };
/* Lists the contacts of the last step that push in world->contacts, at most VIEW_CONTACTS unless all are wanted, the
 * strongest first where there are more; world->contact_count: how many there are in all. Returns how many are listed; -1:
 * there is no memory. */
int32_t view_world_touch(view_world *world, bool all);
void view_write_pose(const double rotation[9], const double origin[3], float *pose);

/* ---- colours.c ---- */

enum { VIEW_COLOUR_NONE, VIEW_COLOUR_STRESS, VIEW_COLOUR_DEVIATION, VIEW_COLOUR_CONTACTS, VIEW_COLOUR_COUNT };
/* Numbers of all parts: von Mises' stress, how far the interfaces at which something hangs are from rigid, or the sum of
 * the sizes of all forces of contact; where the engine knows more, also of each vertex of their surfaces. */
bough_status view_colours_make(view_world *world, uint32_t what, uint32_t layer, view_message **message);

/* ---- commands.c ---- */

/* name, which fields it has: F_ optional ones in the second list. */
#define VIEW_COMMAND_LIST(X)                              \
    X(ACK, "ack", FRAME, 0)                               \
    X(PULL, "pull", HAND | PART | VERTEX | TARGET, STIFF) \
    X(RELEASE, "release", HAND, 0)                        \
    X(POKE, "poke", PART | VERTEX | IMPULSE, 0)           \
    X(PAUSE, "pause", 0, 0)                               \
    X(PLAY, "play", 0, 0)                                 \
    X(STEP, "step", 0, 0)                                 \
    X(RESET, "reset", 0, 0)                               \
    X(SPEED, "speed", SPEED, 0)                           \
    X(WIND, "wind", 0, VELOCITY | GUST)                   \
    X(GRAVITY, "gravity", ACCELERATION, 0)                \
    X(STIFFNESS, "stiffness", PART | FACTOR, SIBLINGS)    \
    X(DAMPING, "damping", PART | RATIO, SIBLINGS)         \
    X(DT, "dt", SECONDS, 0)                               \
    X(COUPLING, "coupling", NAME, 0)                      \
    X(INTEGRATOR, "integrator", NAME, 0)                  \
    X(ENGINE, "engine", NAME, 0)                          \
    X(CONTINUITY, "continuity", NAME, 0)                  \
    X(CUT, "cut", PART, 0)                                \
    X(LOCK, "lock", PART, 0)                              \
    X(UNLOCK, "unlock", PART, 0)                          \
    X(REATTACH, "reattach", PART, 0)                      \
    X(REMOVE, "remove", PART, 0)                          \
    X(PICK, "pick", PART, VERTEX)                         \
    X(COLOUR, "colour", WHAT, 0)                          \
    X(GHOST, "ghost", 0, ENGINE | COUPLING)               \
    X(RECORD, "record", ON, 0)                            \
    X(KEEP, "keep", NAME, 0)                              \
    X(RESTORE, "restore", NAME, 0)                        \
    X(FORGET, "forget", NAME, 0)                          \
    X(REWIND, "rewind", TIME, 0)                          \
    X(MOTOR, "motor", 0, MOTOR | OFFSET)                  \
    X(OPEN, "open", FILE_NUMBER, 0)

typedef enum view_do {
#define VIEW_DO_ENUM(id, name, needs, may) VIEW_DO_##id,
    VIEW_COMMAND_LIST(VIEW_DO_ENUM)
#undef VIEW_DO_ENUM
        VIEW_DO_COUNT
} view_do;

enum { VIEW_NAME_SIZE = 32 };

typedef struct view_command {
    view_do what;
    uint32_t number;               /* of the frame; what colours tell; of the file */
    int32_t hand, part, vertex;    /* vertex: -1: left out */
    int32_t motor;                 /* -1: all */
    double vector[3];              /* target, impulse, velocity, acceleration */
    double value;                  /* stiffness, factor, ratio, gust, seconds, speed, offset, time; NAN: left out */
    bool flag;                     /* siblings, on; of wind: there is a velocity */
    char name[VIEW_NAME_SIZE];     /* "": left out */
    char coupling[VIEW_NAME_SIZE]; /* of a ghost */
} view_command;

typedef enum view_parsed {
    VIEW_PARSED,
    VIEW_OUT_OF_RANGE, /* a command, but not one that can be done */
    VIEW_NO_COMMAND    /* nobody sends such a thing by accident */
} view_parsed;
/* Reads the text of a client. reason: a sentence, unless it was parsed. */
view_parsed view_command_parse(const char *text, size_t size, view_command *command, char reason[128]);
const char *view_command_name(view_do what);

/* ---- session.c ---- */

typedef struct view_session view_session;
typedef struct view_seat view_seat;

typedef struct view_session_def {
    const char *path;
    view_choice choice;
    bool paused;
    const char *ghost;  /* another scene, to compare with; NULL: none. Must stay */
    const char *folder; /* for recordings, which belongs to the caller; NULL: nothing can be recorded */
    double patience;    /* s: a step that is taken in halves is left after so long, for a look at it; 0: two ticks */
    bool by_ticks;      /* no thread steps the scene: view_session_tick() does */
} view_session_def;

/* Loads and cooks on the caller's thread. From then on the context is the session's until it is destroyed. */
bough_status view_session_create(bough_context *ctx, const view_session_def *def, view_session **session);
void view_session_destroy(view_session *session);
/* Brings a session that has no thread up to now; to be called some sixty times a second. */
void view_session_tick(view_session *session);

/* Somebody who looks on; NULL: all seats are taken. */
view_seat *view_session_join(view_session *session);
int32_t view_session_seats_taken(view_session *session);
/* After this nobody may wait for its messages. */
void view_session_leave(view_seat *seat);
/* Ends waiting, and makes place for somebody else. */
void view_seat_close(view_seat *seat);
/* The next message for the seat, to be dropped, after at most so many seconds; NULL: there is none yet. */
view_message *view_seat_next(view_seat *seat, double seconds);
bool view_seat_is_closed(view_seat *seat);
/* Counts a message of the one who sits there; false: there were too many. view_seat_receive() does that itself. */
bool view_seat_may_send(view_seat *seat);
/* A message of the one who sits there. The code with which to close the connection, and why; 0: all is well. */
int view_seat_receive(view_seat *seat, const char *text, size_t size, char reason[128]);

typedef struct view_figures {
    double time; /* s, simulated */
    double step_us, step_us_99;
    double real_time, load, fps;
    int64_t steps;
    int32_t seats;
} view_figures;
view_figures view_session_look(view_session *session);
/* The path of a file that was recorded, to be freed; NULL: there is none of that name. */
char *view_session_find_recording(view_session *session, const char *name);

/* ---- record.c ---- */

typedef struct view_recording view_recording;
/* Begins with the present state. */
bough_status view_recording_start(bough_context *ctx, const view_world *world, const char *folder, int32_t number,
                                  view_recording **recording);
bough_status view_recording_add(bough_context *ctx, const view_world *world, view_recording *recording);
/* Writes files into the folder and lists their names; ends it in any case. */
bough_status view_recording_finish(bough_context *ctx, view_recording *recording, json_t *names);
void view_recording_discard(bough_context *ctx, view_recording *recording);

/* ---- server.c ---- */

typedef struct view_server view_server;
typedef struct view_server_def {
    view_session *session;
    const char *address; /* "127.0.0.1" */
    int32_t port;        /* 0: any that is free */
    const char *token;
    const char *folder; /* of the page's files */
    bool framed;        /* pages of this computer may show the page in a frame; else nobody may */
    double silence;     /* s, after which who says nothing and answers no pings loses the seat; 0: 30 */
} view_server_def;
/* NULL: it cannot listen there; reason tells. */
view_server *view_server_start(const view_server_def *def, char *reason, size_t size);
int32_t view_server_port(const view_server *server);
void view_server_stop(view_server *server);

#endif
