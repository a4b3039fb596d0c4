#include "app.h"

#include <errno.h>
#include <libgen.h>
#include <math.h>
#include <pthread.h>
#include <signal.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/stat.h>
#include <unistd.h>

static atomic_int interrupted; /* set by a signal, looked at by any thread */

/* Progress is shown as a line that is written over where stderr is a terminal that can do so; else (a file, a pipe,
 * TERM=dumb) as a line of its own every PLAIN_SECONDS. Any thread may show some. */
#define PLAIN_SECONDS 10
static pthread_mutex_t progress_lock = PTHREAD_MUTEX_INITIALIZER;
static bool progress_shown;
static double shown_at;            /* when the last one was */
static atomic_int overwrites = -1; /* -1: not looked at yet */

static bool can_overwrite(void) {
    if (overwrites < 0) {
        const char *term = getenv("TERM");
        overwrites = isatty(STDERR_FILENO) && term && term[0] && strcmp(term, "dumb") != 0;
    }
    return overwrites != 0;
}

static void (*last_act)(void); /* before a second Ctrl-C ends the program */

static void on_second_interrupt(int signal_number) {
    last_act();
    signal(signal_number, SIG_DFL);
    raise(signal_number);
}

static void on_interrupt(int signal_number) {
    (void)signal_number;
    int kept = errno; /* of whatever was interrupted */
    interrupted = 1;
    signal(SIGINT, last_act ? on_second_interrupt : SIG_DFL); /* a second Ctrl-C ends the program at once */
    static const char note[] = "\r\033[Kstopping as soon as possible; Ctrl-C again ends it at once\n";
    const size_t escapes = overwrites > 0 ? 0 : 4; /* a terminal without them is told without them */
    ssize_t told = isatty(STDERR_FILENO) ? write(STDERR_FILENO, note + escapes, sizeof note - 1 - escapes) : 0;
    (void)told;
    errno = kept;
}

void app_at_second_interrupt(void (*act)(void)) {
    last_act = act;
}

bool app_interrupted(void) {
    return interrupted != 0;
}

const char *app_name(void) {
    const char *launcher = getenv("BOUGH_LAUNCHER");
    return launcher && launcher[0] ? launcher : program_invocation_name;
}

void app_clear_progress(void) {
    pthread_mutex_lock(&progress_lock);
    if (progress_shown)
        fprintf(stderr, "\r\033[K");
    progress_shown = false;
    pthread_mutex_unlock(&progress_lock);
}

/* Seconds until a fraction that grows as it did so far is 1; negative while it is too early to tell. The clock starts
 * anew when the fraction falls: something else has begun. */
static double seconds_left(double fraction, double now) {
    static double began, first, last = 2;
    if (fraction < last)
        began = now, first = fraction;
    last = fraction;
    return fraction > first && now - began > 2 ? (now - began) * (1 - fraction) / (fraction - first) : -1;
}

static void write_duration(double seconds, char *text, size_t size) {
    if (seconds < 0)
        text[0] = 0;
    else if (seconds < 100)
        snprintf(text, size, "  about %.0f s left", seconds);
    else
        snprintf(text, size, "  about %.0f min left", seconds / 60);
}

/* At most 20 lines a second where they are written over; with the lock. */
static bool may_show(void) {
    double now = app_seconds();
    if (now - shown_at <= (can_overwrite() ? 0.05 : PLAIN_SECONDS))
        return false;
    shown_at = now;
    progress_shown = can_overwrite();
    fputs(can_overwrite() ? "\r\033[K" : "... ", stderr);
    return true;
}

static void end_line(void) {
    if (!can_overwrite())
        fputc('\n', stderr);
    fflush(stderr);
}

void app_show_line(const char *format, ...) {
    pthread_mutex_lock(&progress_lock);
    if (may_show()) {
        va_list arguments;
        va_start(arguments, format);
        vfprintf(stderr, format, arguments);
        va_end(arguments);
        end_line();
    }
    pthread_mutex_unlock(&progress_lock);
}

static bool show_progress(void *user, const bough_progress *p) {
    (void)user;
    pthread_mutex_lock(&progress_lock);
    if (may_show()) {
        char left[48];
        write_duration(p->fraction >= 0 ? seconds_left(p->fraction, app_seconds()) : -1, left, sizeof left);
        if (p->fraction >= 0)
            fprintf(stderr, "%s %3.0f %%  %s%s", p->what, 100 * p->fraction, p->detail, left);
        else
            fprintf(stderr, "%s  %s", p->what, p->detail);
        end_line();
    }
    pthread_mutex_unlock(&progress_lock);
    return !interrupted;
}

static atomic_bool hushed;

void app_hush_warnings(void) {
    hushed = true;
}

static void show_warning(void *user, const char *sentence) {
    (void)user;
    if (hushed)
        return;
    app_clear_progress();
    fprintf(stderr, "bough: warning: %s\n", sentence);
}

bough_context *app_context(int32_t threads) {
    bough_context_def def = bough_default_context_def();
    def.thread_count = threads;
    def.progress = show_progress;
    def.warn = show_warning;
    bough_context *ctx = bough_context_create(&def);
    if (!ctx) {
        fprintf(stderr, "bough: out of memory\n");
        exit(APP_FAILED);
    }
    pthread_mutex_lock(&progress_lock);
    if (shown_at == 0 && !can_overwrite())
        shown_at = app_seconds(); /* what takes less than ten seconds stays quiet in a file */
    pthread_mutex_unlock(&progress_lock);
    signal(SIGINT, on_interrupt);
    signal(SIGXFSZ, SIG_IGN); /* a file beyond the user's limit is an error of writing, and has a sentence */
    return ctx;
}

/* Devices take what many write. */
bool app_is_same_file(const char *a, const char *b) {
    struct stat one, two;
    if (stat(a, &one) != 0 || stat(b, &two) != 0)
        return strcmp(a, b) == 0;
    return S_ISREG(one.st_mode) && one.st_dev == two.st_dev && one.st_ino == two.st_ino;
}

bool app_is_same_folder(const char *a, const char *b) {
    char *x = strdup(a), *y = strdup(b);
    struct stat one, two;
    const bool same = x && y && stat(dirname(x), &one) == 0 && stat(dirname(y), &two) == 0 &&
                      one.st_dev == two.st_dev && one.st_ino == two.st_ino;
    free(x), free(y);
    return same;
}

int app_fail(const bough_context *ctx) {
    app_clear_progress();
    const char *sentence = bough_message(ctx);
    fprintf(stderr, "bough: %s\n", sentence[0] ? sentence : "out of memory"); /* of the program's own */
    return APP_FAILED;
}

int app_fail_with(const char *format, ...) {
    app_clear_progress();
    fputs("bough: ", stderr);
    va_list arguments;
    va_start(arguments, format);
    vfprintf(stderr, format, arguments);
    va_end(arguments);
    fputc('\n', stderr);
    return APP_FAILED;
}

bool app_make_folder(const char *path) {
    struct stat info;
    if (stat(path, &info) == 0) {
        if (!S_ISDIR(info.st_mode))
            app_fail_with("%s: is a file, not a folder; name another folder", path);
        return S_ISDIR(info.st_mode);
    }
    if (mkdir(path, 0777) == 0)
        return true;
    app_fail_with("%s: the folder cannot be made: %s", path, strerror(errno));
    return false;
}

bool app_parse_numbers(const char *text, int count, double *values) {
    for (int i = 0; i < count; i++) {
        char *end;
        values[i] = strtod(text, &end);
        if (end == text || !isfinite(values[i]) || *end != (i + 1 < count ? ',' : 0))
            return false;
        text = end + 1;
    }
    return true;
}

bool app_parse_int(const char *text, long lowest, long highest, int32_t *value) {
    char *end;
    errno = 0;
    long parsed = strtol(text, &end, 10);
    if (errno || end == text || *end || parsed < lowest || parsed > highest)
        return false;
    *value = (int32_t)parsed;
    return true;
}

void app_need_threads(struct argp_state *state, const char *text, int32_t *threads) {
    if (!app_parse_int(text, 1, 256, threads))
        argp_error(state, "--threads: \"%s\" should be a number from 1 to 256", text);
}

bool app_has_extension(const char *path, const char *extension) {
    size_t length = strlen(path), tail = strlen(extension);
    return length > tail && strcasecmp(path + length - tail, extension) == 0;
}

const char *app_parse_engine(struct argp_state *state, const char *text) {
    char list[128] = "";
    size_t used = 0;
    for (int32_t i = 0; bough_engine_name(i); i++) {
        const char *name = bough_engine_name(i), *between = !i ? "" : bough_engine_name(i + 1) ? ", " : " or ";
        if (!strcmp(name, text))
            return name;
        if (used < sizeof list)
            used += (size_t)snprintf(list + used, sizeof list - used, "%s%s", between, name);
    }
    argp_error(state, "--engine: \"%s\" should be %s", text, list);
    return NULL;
}

void app_need_extension(struct argp_state *state, const char *option, const char *path, const char *extension) {
    if (!app_has_extension(path, extension))
        argp_error(state, "--%s: \"%s\" should be a file whose name ends in %s", option, path, extension);
}

void app_need_plot(struct argp_state *state, const char *option, const char *path) {
    if (!app_has_extension(path, ".svg") && !app_has_extension(path, ".png"))
        argp_error(state, "--%s: \"%s\" should be a file whose name ends in .svg or .png", option, path);
}

double app_need_positive(struct argp_state *state, const char *option, const char *text) {
    double value;
    if (!app_parse_numbers(text, 1, &value) || value <= 0)
        argp_error(state, "--%s: \"%s\" should be a positive number", option, text);
    return value;
}

enum { OPT_JSON = 'j' };

static error_t parse_scene(int key, char *text, struct argp_state *state) {
    app_scene_options *o = state->input;
    switch (key) {
    case 't':
        app_need_threads(state, text, &o->threads);
        break;
    case OPT_JSON:
        o->json = true;
        break;
    case ARGP_KEY_ARG:
        if (o->path)
            argp_error(state, "one scene file is enough");
        o->path = text;
        break;
    case ARGP_KEY_END:
        if (!o->path)
            argp_error(state, "name a scene file");
        break;
    default:
        return ARGP_ERR_UNKNOWN;
    }
    return 0;
}

static const struct argp_option scene_options[] = {APP_OPTION_THREADS('t'), APP_OPTION_JSON(OPT_JSON), {0}};
static const struct argp scene_argp = {scene_options, parse_scene, NULL, NULL, NULL, NULL, NULL};
const struct argp_child app_scene_children[] = {{&scene_argp, 0, NULL, 0}, {0}};

static error_t parse_json(int key, char *text, struct argp_state *state) {
    (void)text;
    if (key != 'j')
        return ARGP_ERR_UNKNOWN;
    *(bool *)state->input = true;
    return 0;
}

/* argp ends the program itself for wrong usage; what it returns is that memory ran out, or what a parser failed with.
 */
void app_parse(const struct argp *parser, int argc, char **argv, void *input) {
    const error_t failed = argp_parse(parser, argc, argv, 0, NULL, input);
    if (failed)
        exit(app_fail_with("the options cannot be read: %s", strerror(failed)));
}

bool app_wants_json(int argc, char **argv, const char *about) {
    const struct argp_option options[] = {APP_OPTION_JSON('j'), {0}};
    const struct argp parser = {options, parse_json, NULL, about, NULL, NULL, NULL};
    bool json = false;
    app_parse(&parser, argc, argv, &json);
    return json;
}

void app_print_choices(const char *what, const app_choice *choices, int count, bool json) {
    json_t *list = json_array();
    int width = 0;
    for (int i = 0; i < count; i++)
        width = (int)strlen(choices[i].name) > width ? (int)strlen(choices[i].name) : width;
    for (int i = 0; i < count; i++)
        if (json)
            json_array_append_new(list, json_pack("{s:s, s:s}", "name", choices[i].name, "about", choices[i].about));
        else
            printf("%-*s %s\n", width, choices[i].name, choices[i].about);
    if (json)
        app_print_json(json_pack("{s:o}", what, list));
    else
        json_decref(list);
}

void app_print_json(json_t *object) {
    json_dumpf(object, stdout, JSON_INDENT(2) | JSON_REAL_PRECISION(17));
    fputc('\n', stdout);
    json_decref(object);
}
