/* The files of log*.c share the records of a recording, and the numbers of a state that anybody may write. */
#ifndef BO_TREE_LOG_INSIDE_H
#define BO_TREE_LOG_INSIDE_H

#include "tree/log.h"

enum { BO_LOG_WORD = 8 };                                /* bytes; all fields are whole words */
typedef uint64_t __attribute__((may_alias)) bo_log_word; /* for bits of what they are */

typedef enum {
    BO_LOG_SETTINGS,
    BO_LOG_MOTION,
    BO_LOG_ROOTS,
    BO_LOG_FACTORS,
    BO_LOG_FORCES,
    BO_LOG_WRENCHES,
    BO_LOG_FIELDS
} bo_log_field_kind;

/* Single numbers of a state, together. */
typedef struct bo_log_settings {
    double time, alpha, gravity[3];
    bough_wind wind;
    int32_t coupling, passes, pushed, asked; /* asked: the next step is to look at its energies */
} bo_log_settings;

typedef struct bo_log_field {
    void *data;
    size_t count; /* of words */
} bo_log_field;

struct bough_tree_log {
    bough_tree_state *state; /* that is recorded; NULL: it is complete, or lost */
    const char *lost;        /* why it cannot be completed; NULL: it can, or is */
    uint64_t model;          /* hash of what decides the motion */
    uint64_t end;            /* hash of the last state */
    double start_time, end_time;
    int64_t steps;        /* that were not refused */
    unsigned char *bytes; /* records */
    size_t size, capacity;
    /* while it is recorded: */
    bo_log_word *seen[BO_LOG_FIELDS]; /* what the last act left */
    bo_log_word *words;               /* all of these */
    unsigned char *copies;            /* snapshots before and after an act that is recorded as one */
    size_t before, copies_capacity;   /* bytes of the first */
    bool seen_pushed;
    int32_t depth; /* acts within acts */
    bo_log_act act;
};

/* In front of each record. */
typedef struct bo_log_record_head {
    uint8_t kind;
    int8_t outcome; /* status of the act */
    uint16_t field; /* WRITE */
    uint32_t count; /* WRITE: words; CHANGE: changes; INTEGRATOR: 0 or 1 */
} bo_log_record_head;

typedef struct bo_log_change_record {
    int32_t kind, part, parent, interface_index;
    bough_frame frame;
} bo_log_change_record;

enum { BO_LOG_NAME_SIZE = 32 };
typedef struct bo_log_integrator_record {
    char name[BO_LOG_NAME_SIZE]; /* NUL behind it */
    double rho, alpha, beta, gamma, tolerance;
    int32_t max_iterations, mode_count, mode_refresh, krylov_limit;
} bo_log_integrator_record;

_Static_assert(sizeof(bo_log_record_head) == BO_LOG_WORD && sizeof(bo_log_settings) % BO_LOG_WORD == 0 &&
                   sizeof(bough_tree_root) % BO_LOG_WORD == 0,
               "records are whole words");
_Static_assert(sizeof(bo_log_settings) == 5 * 8 + sizeof(bough_wind) + 4 * 4 && sizeof(bough_wind) == 9 * 8 &&
                   sizeof(bo_log_change_record) == 4 * 4 + 18 * 8 &&
                   sizeof(bo_log_integrator_record) == BO_LOG_NAME_SIZE + 5 * 8 + 4 * 4,
               "what is written has no holes");

typedef struct bo_log_record {
    bo_log_record_head head;
    const unsigned char *payload;
    size_t size; /* of the payload */
} bo_log_record;

bo_log_settings bo_log_settings_of(const bough_tree_state *s);
void bo_log_set(bough_tree_state *s, const bo_log_settings *to);
/* Lists the fields of a state on the layout of the model. Frames are left out: they are for reading. */
void bo_log_list_fields(const bough_tree_model *now, const bough_tree_state *s, bo_log_settings *single,
                        bo_log_field fields[BO_LOG_FIELDS]);

/* Room for so many more bytes of records; false: there is no memory. */
bool bo_log_reserve(bough_context *ctx, bough_tree_log *log, size_t more);
/* Records what was written into the state since the last act. */
bough_status bo_log_note_writes(bough_context *ctx, bough_tree_log *log, const bough_tree_model *now);
/* Fails with a sentence where the recording was lost, or goes on. */
bough_status bo_log_check_complete(bough_context *ctx, const bough_tree_log *log);

/* Hash of all that decides how the state moves and is no part of it; and of the state. */
uint64_t bo_log_hash_model(const bough_tree_model *model, const bough_tree_state *state);
bough_status bo_log_hash_state(bough_context *ctx, const bough_tree_model *model, const bough_tree_state *state,
                               uint64_t *hash);

bool bo_log_is_step(bo_log_kind kind);
/* The record at *at, which moves behind it. False: there is none. */
bool bo_log_next_record(const bough_tree_log *log, size_t *at, bo_log_record *r);

#endif
