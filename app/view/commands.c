/* Texts of clients become commands, or do not. Everything that comes from outside is judged here. */
#include "view.h"

#include <math.h>
#include <string.h>

enum {
    FRAME = 1 << 0,
    HAND = 1 << 1,
    PART = 1 << 2,
    VERTEX = 1 << 3,
    TARGET = 1 << 4,
    STIFF = 1 << 5,
    IMPULSE = 1 << 6,
    SPEED = 1 << 7,
    VELOCITY = 1 << 8,
    GUST = 1 << 9,
    ACCELERATION = 1 << 10,
    FACTOR = 1 << 11,
    RATIO = 1 << 12,
    SIBLINGS = 1 << 13,
    SECONDS = 1 << 14,
    NAME = 1 << 15,
    WHAT = 1 << 16,
    ENGINE = 1 << 17,
    COUPLING = 1 << 18,
    ON = 1 << 19,
    TIME = 1 << 20,
    MOTOR = 1 << 21,
    OFFSET = 1 << 22,
    FILE_NUMBER = 1 << 23,
};

static const struct {
    const char *name;
    int needs, may;
} verbs[] = {
#define VIEW_VERB(id, name, needs, may) {name, needs, may},
    VIEW_COMMAND_LIST(VIEW_VERB)
#undef VIEW_VERB
};

const char *view_command_name(view_do what) {
    return verbs[what].name;
}

/* The place of a field in a command, and its permitted values. */
typedef enum { WHOLE, NUMBER, VECTOR, TRUTH, TEXT } field_kind;
static const struct {
    int field;
    const char *key;
    field_kind kind;
    double lowest, highest; /* of numbers, and of each of a vector */
    size_t at;              /* in the command */
} fields[] = {
    {FRAME, "frame", WHOLE, 0, UINT32_MAX, offsetof(view_command, number)},
    {HAND, "hand", WHOLE, 0, VIEW_HANDS - 1, offsetof(view_command, hand)},
    {PART, "part", WHOLE, 0, INT32_MAX, offsetof(view_command, part)},
    {VERTEX, "vertex", WHOLE, 0, INT32_MAX, offsetof(view_command, vertex)},
    {TARGET, "target", VECTOR, -1e6, 1e6, offsetof(view_command, vector)},
    {STIFF, "stiffness", NUMBER, 0, 1e12, offsetof(view_command, value)},
    {IMPULSE, "impulse", VECTOR, -1e9, 1e9, offsetof(view_command, vector)},
    {SPEED, "factor", NUMBER, 0.01, 10, offsetof(view_command, value)},
    {VELOCITY, "velocity", VECTOR, -200, 200, offsetof(view_command, vector)},
    {GUST, "gust", NUMBER, 0, 5, offsetof(view_command, value)},
    {ACCELERATION, "acceleration", VECTOR, -1e4, 1e4, offsetof(view_command, vector)},
    {FACTOR, "factor", NUMBER, 0.01, 100, offsetof(view_command, value)},
    {RATIO, "ratio", NUMBER, 0, 10, offsetof(view_command, value)},
    {SIBLINGS, "siblings", TRUTH, 0, 0, offsetof(view_command, flag)},
    {SECONDS, "seconds", NUMBER, 1e-6, 1, offsetof(view_command, value)},
    {NAME, "name", TEXT, 0, 0, offsetof(view_command, name)},
    {WHAT, "what", WHOLE, 0, VIEW_COLOUR_COUNT - 1, offsetof(view_command, number)},
    {ENGINE, "engine", TEXT, 0, 0, offsetof(view_command, name)},
    {COUPLING, "coupling", TEXT, 0, 0, offsetof(view_command, coupling)},
    {ON, "on", TRUTH, 0, 0, offsetof(view_command, flag)},
    {TIME, "time", NUMBER, 0, 1e9, offsetof(view_command, value)},
    {MOTOR, "motor", WHOLE, 0, INT32_MAX, offsetof(view_command, motor)},
    {OFFSET, "value", NUMBER, -1e3, 1e3, offsetof(view_command, value)},
    {FILE_NUMBER, "file", WHOLE, 0, VIEW_FILES - 1, offsetof(view_command, number)},
};
enum { FIELDS = sizeof fields / sizeof *fields };

static bool is_of_kind(const json_t *value, field_kind kind) {
    bool good = json_is_array(value) && json_array_size(value) == 3;
    switch (kind) {
    case WHOLE:
        return json_is_number(value) && json_number_value(value) == floor(json_number_value(value));
    case NUMBER:
        return json_is_number(value);
    case VECTOR:
        for (size_t d = 0; d < 3 && good; d++)
            good = json_is_number(json_array_get(value, d));
        return good;
    case TRUTH:
        return json_is_boolean(value);
    default:
        return json_is_string(value);
    }
}

static bool read_number(const json_t *value, int f, double *number) {
    *number = json_number_value(value);
    return *number >= fields[f].lowest && *number <= fields[f].highest; /* false also for what is not a number */
}

/* False: out of range. */
static bool read_field(const json_t *value, int f, view_command *command) {
    void *to = (char *)command + fields[f].at;
    double number = 0, *vector = to;
    bool good = true;
    switch (fields[f].kind) {
    case WHOLE:
        good = read_number(value, f, &number);
        *(uint32_t *)to = good ? (uint32_t)number : 0; /* what is signed is not negative */
        return good;
    case NUMBER:
        return read_number(value, f, vector);
    case VECTOR:
        for (size_t d = 0; d < 3; d++)
            good &= read_number(json_array_get(value, d), f, &vector[d]);
        return good;
    case TRUTH:
        *(bool *)to = json_is_true(value);
        return true;
    default:
        good =
            json_string_length(value) < VIEW_NAME_SIZE && strlen(json_string_value(value)) == json_string_length(value);
        if (good)
            memcpy(to, json_string_value(value), json_string_length(value) + 1);
        return good;
    }
}

static view_parsed refuse(view_parsed how, char reason[128], const char *format, const char *a, const char *b) {
    snprintf(reason, 128, format, a, b);
    return how;
}

static view_parsed read_fields(const json_t *object, view_command *command, char reason[128]) {
    const int needs = verbs[command->what].needs, may = verbs[command->what].may;
    const char *verb = verbs[command->what].name;
    view_parsed parsed = VIEW_PARSED;
    for (int f = 0; f < FIELDS; f++) {
        const json_t *value = json_object_get(object, fields[f].key);
        if (!((needs | may) & fields[f].field))
            continue;
        if (!value || json_is_null(value)) {
            if (needs & fields[f].field)
                return refuse(VIEW_NO_COMMAND, reason, "\"%s\" needs \"%s\"", verb, fields[f].key);
            continue;
        }
        if (!is_of_kind(value, fields[f].kind))
            return refuse(VIEW_NO_COMMAND, reason, "\"%s\": \"%s\" is of the wrong kind", verb, fields[f].key);
        if (!read_field(value, f, command))
            parsed = refuse(VIEW_OUT_OF_RANGE, reason, "\"%s\": \"%s\" is out of range", verb, fields[f].key);
        else if (fields[f].field == VELOCITY)
            command->flag = true;
    }
    return parsed;
}

static bool find_verb(const char *name, view_do *what) {
    for (int i = 0; i < VIEW_DO_COUNT && name; i++)
        if (!strcmp(name, verbs[i].name)) {
            *what = (view_do)i;
            return true;
        }
    return false;
}

view_parsed view_command_parse(const char *text, size_t size, view_command *command, char reason[128]) {
    *command = (view_command){.value = NAN, .vertex = -1, .motor = -1};
    reason[0] = 0;
    json_t *object = size <= VIEW_TEXT_SIZE ? app_json_parse(text, size) : NULL;
    view_parsed parsed = VIEW_NO_COMMAND;
    if (!json_is_object(object))
        refuse(VIEW_NO_COMMAND, reason, "commands are JSON objects%s%s", "", "");
    else if (!find_verb(json_string_value(json_object_get(object, "do")), &command->what))
        refuse(VIEW_NO_COMMAND, reason, "there is no such command%s%s", "", "");
    else
        parsed = read_fields(object, command, reason);
    json_decref(object);
    return parsed;
}
