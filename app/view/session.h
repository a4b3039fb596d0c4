/* Inside view of a session: what its own files share. */
#ifndef BOUGH_APP_VIEW_SESSION_H
#define BOUGH_APP_VIEW_SESSION_H

#include "view.h"

#include <pthread.h>

enum {
    QUEUE_SIZE = 1024,   /* commands that wait for the next tick */
    MOST_SINGLES = 1024, /* steps asked for by themselves that wait for others which take long */
    MAILBOX_SIZE = 512,  /* messages that wait for one client, besides those of which only the newest counts */
    STEPS_TIMED = 480,   /* of which median and 99 % are told: some seconds */
    TICKS_PER_SECOND = 60,
    TOLD_PER_SECOND = 10, /* numbers and colours */
    MOMENTS = 80,         /* most of the last seconds that are kept to go on from */
};

/* Messages that a newer one replaces, in the order in which they are sent. */
typedef enum view_slot {
    SLOT_STAGE,
    SLOT_SETTINGS,
    SLOT_PARTS,
    SLOT_RECORDED,
    SLOT_STATES,
    SLOT_NUMBERS,
    SLOTS
} view_slot;

struct view_seat {
    view_session *session;
    uint64_t serial; /* no two who ever sat here have the same */
    pthread_cond_t arrived;
    bool closed;
    view_message *mail[MAILBOX_SIZE];
    size_t mail_first, mail_count;
    /* Only the newest of these counts. */
    view_message *slots[SLOTS];
    view_message *colours[VIEW_LAYERS];
    view_snapshot *newest[VIEW_LAYERS];
    uint32_t frame, drawn;       /* sent last; told by the client to be drawn */
    uint32_t colour;             /* what it wants to see */
    double credit, credited;     /* messages that it may send, and when they were counted (s) */
    view_seen seen[VIEW_LAYERS]; /* of the one who encodes: not under the lock */
};

typedef struct view_order {
    uint64_t seat; /* serial */
    view_command command;
} view_order;

typedef struct view_held {
    bool holds;
    uint64_t seat;  /* whose it is: serial */
    int32_t number; /* that its owner calls it by */
    int32_t part, vertex;
    double target[3], stiffness, damping;
} view_held;

/* A saved state: of the scene, and of the ghost if there is one. */
typedef struct view_kept {
    char name[VIEW_NAME_SIZE]; /* "": of the last seconds */
    bough_moment *worlds[VIEW_LAYERS];
    double *damping; /* of the first world: damping_ratio; NULL: nobody set it */
} view_kept;

struct view_session {
    bough_context *ctx;
    char *path, *name, *folder;
    char *root, *file;      /* whose folder the files are in that can be opened; which of these is shown */
    json_t *openable;       /* names of files */
    bough_scene_info scene; /* of the file that is shown */
    pthread_t thread;
    bool running; /* there is a thread */

    /* ---- of the simulation's thread ---- */
    view_world *worlds[VIEW_LAYERS]; /* the second is NULL, or the ghost */
    const char *ghost_path;          /* of another scene that can be the ghost; NULL: none */
    view_choice choice;
    uint32_t generation;
    bool paused, failed; /* failed: only a reset helps */
    bool stepping;       /* a step is under way: it may be left where it is taken in halves */
    bool unfinished;     /* one was left */
    int32_t singles;     /* steps that were asked for by themselves, and are still to be taken, or finished */
    double step_began, step_seconds;
    double patience; /* s: as in view_session_def */
    double speed;
    double base_wall, base_time; /* simulated time is base_time + speed (wall - base_wall) */
    view_order *orders;          /* QUEUE_SIZE: of this tick */
    size_t order_count;
    bool has_wind, has_gravity;
    bough_wind wind;
    double gravity[3];
    view_held hands[VIEW_HANDS];
    view_kept states[VIEW_STATES]; /* in order; those without moments are free */
    view_kept moments[MOMENTS];    /* of the last seconds, in order */
    int32_t state_count, moment_count;
    view_recording *recording;
    int32_t recordings;
    bool parts_changed;  /* and nobody was told yet */
    bool changed;        /* there is something to see though no step was taken */
    double told, ticked; /* wall: when numbers were told, and ticks began, last */
    double colours_due;  /* wall: when colours may be made again */
    double step_us[STEPS_TIMED];
    int64_t steps;
    int64_t retries;   /* of the first world's run so far */
    double counted_dt; /* s: the time step whose failures are counted */
    int64_t failures;  /* of steps, and of parts of them */
    int32_t timed;     /* all that ever were, modulo a multiple of STEPS_TIMED */
    /* since numbers were told last: */
    double told_cpu, told_time;
    int32_t shown;

    /* ---- shared, under the lock ---- */
    pthread_mutex_t lock;
    pthread_cond_t wake;
    bool stop, joined; /* joined: somebody came who has seen nothing yet */
    uint64_t serials;
    uint32_t layers; /* that the stage has */
    view_seat *seats[VIEW_SEATS];
    view_order queue[QUEUE_SIZE];
    size_t queue_count;
    view_message *kept[SLOTS]; /* for those who come later */
    view_figures figures;
    json_t *files; /* names of recordings */
};

/* ---- mail.c ---- */

/* To all seats, or to the one with this serial. Drops the message. */
void session_tell_all(view_session *s, view_message *message);
void session_tell(view_session *s, uint64_t seat, view_message *message);
/* Instead of an older one of the slot: to all, and to those who come later. Drops the message. */
void session_tell_newest(view_session *s, view_slot slot, view_message *message);
/* The snapshots and colours of the present state; drops both. */
void session_show(view_session *s, uint32_t layer, view_snapshot *snapshot);
void session_show_colours(view_session *s, uint32_t what, uint32_t layer, view_message *message);
bool session_somebody_wants(view_session *s, uint32_t colour);
bool session_has_seat(view_session *s, uint64_t seat);
/* A sentence of what could not be done, to one seat (0: all). */
void session_complain(view_session *s, uint64_t seat, bool fatal, const char *format, ...)
    __attribute__((format(printf, 4, 5)));

/* A sentence of what has happened, to all. */
void session_note(view_session *s, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* The same of a call that failed. */
void session_complain_of(view_session *s, uint64_t seat, bough_status status);

/* ---- act.c ---- */

/* Does what somebody asked for. */
void session_act(view_session *s, const view_order *order);
void session_say_settings(view_session *s);
void session_say_parts(view_session *s);
/* The seat is told where the engine cannot do that to its parts, or there is none of that number. */
bool session_need_part(view_session *s, uint64_t seat, int32_t part, uint32_t capability);
/* The stage as it is now, with a new generation. */
bough_status session_set_stage(view_session *s);
/* After worlds were made: what was chosen by hand acts on them too. */
void session_hand_over(view_session *s);
/* Hands of those who have left. */
void session_let_go(view_session *s);
/* Simulated time goes on from here. */
void session_restart_clock(view_session *s);
/* Receives the changes that the scene's events make to parts. */
void session_on_changes(void *data, const bough_run_change *changes, int32_t count);
/* False: it failed, or was left unfinished, because somebody waits, and goes on with the next call. */
bool session_step(view_session *s);
/* Those that were asked for by themselves, until one of them is left unfinished. */
void session_take_singles(view_session *s);
/* After a new beginning nothing is left to be finished, and nothing has failed. */
void session_forget_steps(view_session *s);

/* From the start, with what was chosen since; the stage is to be set anew where engines or scenes changed. */
bool session_restart(view_session *s, uint64_t seat, const view_choice *choice);
void session_finish_recording(view_session *s, uint64_t seat);
/* The seat (0: all) is told of the failure. False: there was none. */
bool session_complain_if(view_session *s, uint64_t seat, bough_status status);

/* ---- keep.c ---- */

void session_keep(view_session *s, uint64_t seat, const view_command *c);
void session_restore(view_session *s, uint64_t seat, const view_command *c);
void session_forget(view_session *s, uint64_t seat, const view_command *c);
void session_rewind(view_session *s, uint64_t seat, const view_command *c);
/* After steps: a moment of the last seconds, where it is time for one. */
void session_keep_moment(view_session *s);
/* Time began anew. */
void session_drop_moments(view_session *s);
void session_drop_states(view_session *s);
double session_kept_from(const view_session *s);

/* ---- change.c ---- */

/* Asks the library about the scene that is shown. */
void session_look_at_scene(view_session *s);
/* Another file instead. */
void session_open(view_session *s, uint64_t seat, const view_command *c);
/* Path and name of what is shown; the old ones stay when it fails. */
bough_status session_take_path(view_session *s, const char *path, bool *at_rest);

/* ---- pick.c ---- */

/* Tells the seat what there is to know of a part and of a point of it. */
void session_pick(view_session *s, uint64_t seat, const view_command *c);

#endif
