/* "motors" of multibody systems: a list that follows curves, or the columns of a table. */
#include "scene/multibody_scene.h"

#include "base/file.h"
#include "rig/joint.h"
#include "scene/entries.h"
#include "scene/motor_table.h"
#include "scene/scene.h"

#include <string.h>

#define MOST_MOTORS 10000

static bough_status read_between(bo_json at, bo_spline_kind *kind) {
    static const char *const words[] = {"spline", "stops", "lines"}; /* bo_spline_kind */
    int32_t chosen = (int32_t)*kind;
    BO_TRY(bo_json_choice(at, words, 3, &chosen));
    *kind = (bo_spline_kind)chosen;
    return BOUGH_OK;
}

static bough_status read_degrees(bo_json at, bo_multibody_scene *m, int32_t i, double *scale) {
    const bough_joint_kind kind = m->joints[m->motors[i].joint].kind;
    bool degrees = false;
    BO_TRY(bo_json_flag(at, &degrees));
    if (degrees && !bo_joint_turns_only(kind))
        return bo_json_fail(at, "is for joints that only turn; this one is %s", bough_joint_name(kind));
    m->units[i] = degrees ? M_PI / 180 : 1;
    *scale *= m->units[i];
    return BOUGH_OK;
}

/* Motors that hold a coordinate exactly and those that give way: what the engine can drive, told with its place. */
static bough_status check_drive(bo_json at, const bo_multibody_scene *m, int32_t i) {
    const bough_motor_def *motor = &m->motors[i];
    const bough_joint_kind kind = m->joints[motor->joint].kind;
    if (kind == BOUGH_JOINT_BALL || kind == BOUGH_JOINT_COMPLIANT || bough_joint_freedoms(kind) == 0)
        return bo_json_fail(bo_json_at(&at, "joint"), "nothing can drive a joint of kind \"%s\"",
                            bough_joint_name(kind));
    if (isinf(motor->stiffness) && (kind == BOUGH_JOINT_UNIVERSAL || kind == BOUGH_JOINT_PLANAR))
        return bo_json_fail(at, "drives a joint of kind \"%s\", which needs a \"stiffness\"", bough_joint_name(kind));
    for (int32_t other = 0; other < i; other++)
        if (m->motors[other].joint == motor->joint && m->motors[other].freedom == motor->freedom)
            return bo_json_fail(at, "another motor, \"%.60s\", moves this joint already", m->motors[other].name);
    return BOUGH_OK;
}

/* All but where it is told to be. Motors without a name have that of their joint. */
static bough_status read_motor(const bo_multibody_reader *r, bo_json at, int32_t i) {
    bo_multibody_scene *m = r->m;
    bough_motor_def *motor = &m->motors[i];
    bo_json joint = bo_json_must(&at, "joint");
    char *name = NULL;
    *motor = bough_default_motor_def();
    if (!joint.value)
        return bo_json_fail(at, "\"joint\" is missing");
    BO_TRY(bo_multibody_find(r, joint, BO_NAMES_JOINT, &motor->joint));
    const int32_t n = bough_joint_freedoms(m->joints[motor->joint].kind);
    BO_TRY(bo_json_integer(bo_json_at(&at, "freedom"), 0, n > 0 ? n - 1 : 0, &motor->freedom));
    BO_TRY(bo_json_number(bo_json_at(&at, "stiffness"), BO_POSITIVE, &motor->stiffness));
    BO_TRY(bo_json_number(bo_json_at(&at, "damping"), BO_NOT_NEGATIVE, &motor->damping));
    BO_TRY(bo_json_number(bo_json_at(&at, "limit"), BO_POSITIVE, &motor->limit));
    static const char *const of_soft[] = {"damping", "limit"};
    for (int k = 0; k < 2 && isinf(motor->stiffness); k++)
        if (bo_json_has(&at, of_soft[k]))
            return bo_json_fail(bo_json_at(&at, of_soft[k]),
                                "is for a motor with a \"stiffness\"; without one it is where it is told to be");
    BO_TRY(bo_json_add_name(bo_json_has(&at, "name") ? bo_json_at(&at, "name") : joint, "motor",
                            r->names[BO_NAMES_MOTOR], i, &name));
    motor->name = name;
    return check_drive(at, m, i);
}

/* The first point beyond the joint's limits; -1: none. */
static int32_t find_beyond(const bo_multibody_scene *m, int32_t i, const bo_curve *curve, double scale) {
    const bough_motor_def *motor = &m->motors[i];
    const bough_joint_def *joint = &m->joints[motor->joint];
    const double slack = 1e-9;
    for (int32_t k = 0; k < curve->count; k++) {
        const double value = scale * curve->values[k];
        if (value < joint->lower[motor->freedom] - slack || value > joint->upper[motor->freedom] + slack)
            return k;
    }
    return -1;
}

#define LIMITS_SIZE 240

static bool turns(const bo_multibody_scene *m, int32_t i) {
    return bo_joint_turns_only(m->joints[m->motors[i].joint].kind);
}

/* Values that lie beyond the limits as radians, and within as degrees, are perhaps that. */
static void name_limits(const bo_multibody_scene *m, int32_t i, double value, double scale, char text[LIMITS_SIZE]) {
    const bough_motor_def *motor = &m->motors[i];
    const bough_joint_def *joint = &m->joints[motor->joint];
    const double lower = joint->lower[motor->freedom], upper = joint->upper[motor->freedom];
    const double degrees = scale * value * M_PI / 180;
    const bool slip = turns(m, i) && scale == 1 && degrees >= lower && degrees <= upper;
    snprintf(text, LIMITS_SIZE, "beyond the limits of its joint, %g to %g (joint \"%.60s\")%s", lower / scale,
             upper / scale, joint->name, slip ? "; if these are degrees, say \"degrees\": true" : "");
}

#define MOST_RADIANS (4 * M_PI) /* two turns: a curve of radians that goes further is perhaps one of degrees */
#define MOST_SPEED 100          /* rad/s: 950 turns a minute, which no joint of a robot does */
#define LEAST_DEGREES 3.2       /* a motion that stays below is perhaps one of radians */

/* The fastest motion from one point to the next, rad/s; *until: the point at which it ends. */
static double find_speed(const bo_curve *curve, int32_t *until) {
    double most = 0;
    for (int32_t k = 1; k < curve->count; k++) {
        const double speed = fabs(curve->values[k] - curve->values[k - 1]) / (curve->times[k] - curve->times[k - 1]);
        if (speed > most)
            most = speed, *until = k;
    }
    return most;
}

/* Curves of radians that are perhaps degrees: they go far, or 57 times too fast. */
static void warn_of_degrees(bough_context *ctx, const char *file, const bo_multibody_scene *m, int32_t i,
                            const bo_curve *curve, double scale) {
    double most = 0;
    int32_t until = 0;
    for (int32_t k = 0; k < curve->count; k++)
        most = fmax(most, fabs(curve->values[k]));
    if (!turns(m, i) || scale != 1)
        return;
    const double speed = find_speed(curve, &until);
    if (most > MOST_RADIANS)
        bo_warn(ctx,
                "%s: motor \"%.60s\" is told to go to %g rad, %.3g turns; if these are degrees, say \"degrees\": true",
                file, m->motors[i].name, most, most / (2 * M_PI));
    else if (speed > MOST_SPEED)
        bo_warn(ctx,
                "%s: motor \"%.60s\" is told to turn at %.3g rad/s before %g s, %.3g turns a minute; if these are "
                "degrees, say \"degrees\": true",
                file, m->motors[i].name, speed, curve->times[until], speed * 60 / (2 * M_PI));
}

/* Curves of degrees that are perhaps radians: none goes further than half a turn of these. most: the largest place of
 * all motors that share the word "degrees"; range: the longest way of one of them. */
static void warn_of_radians(bough_context *ctx, const char *file, double most, double range) {
    if (range > 0 && most < LEAST_DEGREES)
        bo_warn(ctx, "%s: no motor moves by more than %.3g degrees; if these are radians, say \"degrees\": false", file,
                range);
}

static void find_extent(const bo_curve *curve, double *most, double *range) {
    double lowest = INFINITY, highest = -INFINITY;
    for (int32_t k = 0; k < curve->count; k++)
        lowest = fmin(lowest, curve->values[k]), highest = fmax(highest, curve->values[k]);
    *most = fmax(*most, fmax(fabs(lowest), fabs(highest))), *range = fmax(*range, highest - lowest);
}

/* ---- a list ---- */

/* Over all motors of degrees: where one goes further, the others are of degrees too, and small. */
static void look_for_radians(const bo_multibody_reader *r, bo_json list) {
    double most = 0, range = 0;
    for (int32_t i = 0; i < r->m->def.motor_count; i++) {
        int32_t curve = -1;
        bo_json item = bo_json_item(&list, i);
        if (r->m->units[i] != 1 && !bo_json_has(&item, "scale") &&
            bo_scene_choose_curve(bo_json_at(&item, "curve"), &r->scene->drive, &curve) == BOUGH_OK)
            find_extent(&r->scene->drive.curves[curve], &most, &range);
    }
    warn_of_radians(list.ctx, list.file, most, range);
}

static bough_status read_listed(const bo_multibody_reader *r, bo_json at, int32_t i) {
    bo_multibody_scene *m = r->m;
    bo_json named = bo_json_must(&at, "curve");
    bo_spline_kind between = BO_SPLINE_THROUGH;
    int32_t curve = -1;
    double scale = 1;
    char limits[LIMITS_SIZE];
    BO_TRY(bo_json_keys(at, BO_JOINT_MOTOR_KEYS));
    BO_TRY(read_motor(r, at, i));
    BO_TRY(bo_json_number(bo_json_at(&at, "scale"), BO_ANY, &scale));
    BO_TRY(read_degrees(bo_json_at(&at, "degrees"), m, i, &scale));
    BO_TRY(read_between(bo_json_at(&at, "between"), &between));
    if (!named.value)
        return bo_json_fail(at, "\"curve\" is missing");
    BO_TRY(bo_scene_choose_curve(named, &r->scene->drive, &curve));
    const bo_curve *points = &r->scene->drive.curves[curve];
    const int32_t beyond = scale != 0 ? find_beyond(m, i, points, scale) : -1;
    if (beyond >= 0) {
        name_limits(m, i, points->values[beyond], scale, limits);
        return bo_json_fail(named, "is %g at %g s, %s", points->values[beyond], points->times[beyond], limits);
    }
    warn_of_degrees(at.ctx, at.file, m, i, points, scale);
    return bo_spline_make(at.ctx, points, scale, between, &m->drives[i]);
}

/* ---- a table ---- */

typedef struct {
    const bo_multibody_reader *r;
    bo_motor_table table;
    bo_json block;
    bo_spline_kind between;
    double most, range; /* the largest place of all motors, and the longest way of one, in the units of the table */
} source;

static bough_status drive_by(source *s, bo_json at, int32_t i) {
    bough_context *ctx = at.ctx;
    bo_multibody_scene *m = s->r->m;
    const bo_motor_table *t = &s->table;
    double *points = BO_NEW_ARRAY(ctx, double, 2 * (size_t)t->row_count), scale = 1;
    int32_t column = 0;
    char limits[LIMITS_SIZE];
    bough_status status = points ? bo_motor_table_find(ctx, t, m->motors[i].name, &column) : BOUGH_ERROR_MEMORY;
    if (status == BOUGH_OK)
        status = read_degrees(bo_json_at(&s->block, "degrees"), m, i, &scale);
    for (int32_t k = 0; status == BOUGH_OK && k < t->row_count; k++) {
        const double *row = t->values + (size_t)t->column_count * (size_t)k;
        points[k] = row[t->time], points[t->row_count + k] = row[column];
    }
    const bo_curve curve = {NULL, t->row_count, points, points ? points + t->row_count : NULL};
    const int32_t beyond = status == BOUGH_OK ? find_beyond(m, i, &curve, scale) : -1;
    if (beyond >= 0) {
        name_limits(m, i, curve.values[beyond], scale, limits);
        status = bo_fail(ctx, BOUGH_ERROR_FORMAT, "%s:%d: %s is %g at %g s, %s", t->path, t->lines[beyond],
                         m->motors[i].name, curve.values[beyond], curve.times[beyond], limits);
    }
    if (status == BOUGH_OK) {
        find_extent(&curve, &s->most, &s->range);
        warn_of_degrees(ctx, t->path, m, i, &curve, scale);
    }
    if (status == BOUGH_OK)
        status = bo_spline_make(ctx, &curve, scale, s->between, &m->drives[i]);
    bo_free(ctx, points);
    return status;
}

static bough_status fail_column(const source *s, bo_json csv, const char *name) {
    const bo_multibody_scene *m = s->r->m;
    const char **joints = BO_NEW_ARRAY(csv.ctx, const char *, m->def.joint_count);
    if (!joints)
        return BOUGH_ERROR_MEMORY;
    for (int32_t i = 0; i < m->def.joint_count; i++)
        joints[i] = m->joints[i].name;
    const char *near = bo_nearest_word(name, joints, m->def.joint_count);
    const bough_status status =
        near ? bo_json_fail(csv, "its column \"%.60s\" is no joint; did you mean \"%.60s\"?", name, near)
             : bo_json_fail(csv, "its column \"%.60s\" is no joint; name motors under \"list\"", name);
    bo_free(csv.ctx, joints);
    return status;
}

/* Without a list every column is a joint, of which the first freedom is driven exactly. */
static bough_status add_column(source *s, int32_t column, int32_t i) {
    bo_multibody_scene *m = s->r->m;
    const char *name = s->table.columns[column];
    const json_t *joint = json_object_get(s->r->names[BO_NAMES_JOINT], name);
    bo_json csv = bo_json_at(&s->block, "csv");
    if (!joint)
        return fail_column(s, csv, name);
    m->motors[i] = bough_default_motor_def();
    m->motors[i].joint = (int32_t)json_integer_value(joint);
    if (!(m->motors[i].name = bo_strdup(csv.ctx, name)))
        return BOUGH_ERROR_MEMORY;
    if (json_object_set_new(s->r->names[BO_NAMES_MOTOR], name, json_integer(i)))
        return bo_fail_memory(csv.ctx);
    BO_TRY(check_drive(csv, m, i));
    return drive_by(s, csv, i);
}

static bough_status load_table(source *s, bo_json csv) {
    const char *name = NULL;
    if (!csv.value)
        return bo_json_fail(s->block, "\"csv\" is missing: the file with a column \"time\" and one for each motor");
    BO_TRY(bo_json_string(csv, &name));
    char *path = bo_path_beside(csv.ctx, csv.file, name);
    if (!path)
        return BOUGH_ERROR_MEMORY;
    const bough_status status = bo_motor_table_read(csv.ctx, path, &s->r->scene->hash, &s->table);
    bo_free(csv.ctx, path);
    return bo_json_explain(csv, status);
}

static bool make_room(bough_context *ctx, bo_multibody_scene *m, int32_t count) {
    m->motors = BO_NEW_ZEROS(ctx, bough_motor_def, count);
    m->drives = BO_NEW_ZEROS(ctx, bo_spline, count);
    m->units = BO_NEW_ZEROS(ctx, double, count);
    const bool made = m->motors && m->drives && m->units;
    m->def.motor_count = made ? count : 0;
    return made;
}

static bough_status read_columns(source *s, bo_json list) {
    const bool listed = list.value != NULL;
    bo_json csv = bo_json_at(&s->block, "csv");
    int32_t count, i = 0;
    BO_TRY(bo_json_list(list, &count));
    count = listed ? count : s->table.column_count - 1;
    if (count > MOST_MOTORS)
        return bo_json_fail(list, "%d motors are too many; %d is the limit", count, MOST_MOTORS);
    if (!make_room(list.ctx, s->r->m, count))
        return BOUGH_ERROR_MEMORY;
    for (; listed && i < count; i++) {
        bo_json item = bo_json_item(&list, i);
        BO_TRY(bo_json_keys(item, BO_TABLE_MOTOR_KEYS));
        BO_TRY(read_motor(s->r, item, i));
        BO_TRY(bo_json_explain(csv, drive_by(s, item, i)));
    }
    for (int32_t c = 0; !listed && c < s->table.column_count; c++)
        if (c != s->table.time)
            BO_TRY(add_column(s, c, i++));
    if (i > 0 && s->r->m->units[0] != 1)
        warn_of_radians(list.ctx, s->table.path, s->most, s->range);
    return BOUGH_OK;
}

static bough_status read_table(const bo_multibody_reader *r, bo_json at) {
    source s = {.r = r, .block = at, .between = BO_SPLINE_THROUGH};
    BO_TRY(bo_json_keys(at, BO_MOTOR_TABLE_KEYS));
    BO_TRY(read_between(bo_json_at(&at, "between"), &s.between));
    bough_status status = load_table(&s, bo_json_at(&at, "csv"));
    if (status == BOUGH_OK)
        status = read_columns(&s, bo_json_at(&at, "list"));
    bo_motor_table_free(at.ctx, &s.table);
    return status;
}

bough_status bo_multibody_read_motors(const bo_multibody_reader *r, bo_json at) {
    int32_t count;
    if (json_is_object(at.value))
        return read_table(r, at);
    BO_TRY(bo_json_list(at, &count));
    if (count > MOST_MOTORS)
        return bo_json_fail(at, "%d of them are too many; %d is the limit", count, MOST_MOTORS);
    if (!make_room(at.ctx, r->m, count))
        return BOUGH_ERROR_MEMORY;
    for (int32_t i = 0; i < count; i++)
        BO_TRY(read_listed(r, bo_json_item(&at, i), i));
    look_for_radians(r, at);
    return BOUGH_OK;
}
