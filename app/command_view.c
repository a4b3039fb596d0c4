/* A scene in the browser: steps it in real time and serves the page that shows it. */
#include "app.h"

#include "view/view.h"

#include <arpa/inet.h>
#include <errno.h>
#include <ftw.h>
#include <math.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/random.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum {
    OPT_PORT = 400,
    OPT_LISTEN,
    OPT_TOKEN,
    OPT_NO_BROWSER,
    OPT_PAUSED,
    OPT_ENGINE,
    OPT_COUPLING,
    OPT_DT,
    OPT_VIEWER
};

enum { LEAST_TOKEN = 16 }; /* characters of one that somebody chose */

typedef struct {
    app_scene_options scene;
    view_choice choice;
    int32_t port;
    const char *address, *token, *viewer;
    char made_token[33];
    bool no_browser, paused;
} arguments;

static const struct argp_option options[] = {
    {"port", OPT_PORT, "N", 0, "listen at this port (default: any that is free)", 0},
    {"listen", OPT_LISTEN, "ADDRESS", 0, "listen at this address instead of 127.0.0.1, for others; needs --token", 0},
    {"token", OPT_TOKEN, "TEXT", 0,
     "what the address must contain to be let in, at least 16 characters (default: random)", 0},
    {"no-browser", OPT_NO_BROWSER, 0, 0, "only print the address", 0},
    {"paused", OPT_PAUSED, 0, 0, "begin at rest, until somebody presses play", 0},
    {"engine", OPT_ENGINE, "NAME", 0, "of a scene of parts: tree or full", 0},
    {"coupling", OPT_COUPLING, "NAME", 0, "of the tree engine: L1, L2, L2R or L3", 0},
    {"dt", OPT_DT, "SECONDS", 0, "time step", 0},
    {"viewer", OPT_VIEWER, "FOLDER", 0, "of the page's files, for those who change them; also by BOUGH_VIEWER", 0},
    {0},
};

static bool is_plain_token(const char *text) {
    return strlen(text) < 200 &&
           text[strspn(text, "0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ-_")] == 0;
}

static const char *choose(struct argp_state *state, const char *option, const char *text, const char *const *names) {
    for (; *names; names++)
        if (!strcmp(text, *names))
            return *names;
    argp_error(state, "--%s: there is no \"%s\"", option, text);
    return NULL;
}

static void check_listening(struct argp_state *state, const arguments *a) {
    if (a->address && !a->token)
        argp_error(state, "--listen lets others in: choose a --token of at least %d characters", LEAST_TOKEN);
    if (a->token && (strlen(a->token) < LEAST_TOKEN || !is_plain_token(a->token)))
        argp_error(state, "--token: at least %d letters, digits, - or _", LEAST_TOKEN);
}

static error_t parse(int key, char *text, struct argp_state *state) {
    static const char *const engines[] = {"tree", "full", NULL}, *const couplings[] = {"L1", "L2", "L2R", "L3", NULL};
    arguments *a = state->input;
    switch (key) {
    case ARGP_KEY_INIT:
        state->child_inputs[0] = &a->scene;
        break;
    case OPT_PORT:
        if (!app_parse_int(text, 1, 65535, &a->port))
            argp_error(state, "--port: \"%s\" should be a number from 1 to 65535", text);
        break;
    case OPT_LISTEN:
        if (inet_pton(AF_INET, text, &(struct in_addr){0}) != 1) /* civetweb reads 999.1.1.1 as 231.1.1.1 */
            argp_error(state, "--listen: \"%s\" should be an address such as 192.168.1.7, or 0.0.0.0 for all", text);
        a->address = text;
        break;
    case OPT_TOKEN:
        a->token = text;
        break;
    case OPT_NO_BROWSER:
        a->no_browser = true;
        break;
    case OPT_PAUSED:
        a->paused = true;
        break;
    case OPT_ENGINE:
        a->choice.engine = choose(state, "engine", text, engines);
        break;
    case OPT_COUPLING:
        a->choice.coupling = choose(state, "coupling", text, couplings);
        break;
    case OPT_DT:
        if (!app_parse_numbers(text, 1, &a->choice.dt) || a->choice.dt <= 0)
            argp_error(state, "--dt: \"%s\" should be a positive number", text);
        break;
    case OPT_VIEWER:
        a->viewer = text;
        break;
    case ARGP_KEY_END:
        check_listening(state, a);
        return ARGP_ERR_UNKNOWN;
    default:
        return ARGP_ERR_UNKNOWN;
    }
    return 0;
}

static const struct argp parser = {
    options,
    parse,
    "SCENE.json",
    "Steps a scene in real time and shows it in the browser: pull it, cut it, change the wind. Ctrl-C ends it."
    "\vExamples:\n"
    "  bough example oak && bough view oak/scene.json\n"
    "  bough view scene.json --paused --port 8000 --no-browser\n"
    "  bough view scene.json --listen 0.0.0.0 --token a-secret-of-my-own\n\n"
    "Only programs of this computer can connect, and only with the token in the address that is printed. With --listen "
    "others can, over a connection that is not encrypted. docs/viewer-protocol.md tells what goes through it.",
    app_scene_children,
    NULL,
    NULL,
};

/* ---- a folder for recordings, which goes at the end ---- */

static int remove_entry(const char *path, const struct stat *info, int kind, struct FTW *at) {
    (void)info, (void)kind, (void)at;
    return remove(path);
}

static bool make_folder(char *path, size_t size) {
    const char *base = getenv("TMPDIR");
    snprintf(path, size, "%s/bough-view-XXXXXX", base && base[0] ? base : "/tmp");
    return mkdtemp(path) != NULL;
}

/* ---- the browser ---- */

static bool has_desktop(void) {
    const char *x = getenv("DISPLAY"), *wayland = getenv("WAYLAND_DISPLAY");
    return (x && x[0]) || (wayland && wayland[0]);
}

static void open_browser(const char *url) {
    const pid_t child = fork();
    if (child == 0) {
        if (fork() == 0) { /* nobody waits for it */
            execlp("xdg-open", "xdg-open", url, (char *)NULL);
            _exit(127);
        }
        _exit(0);
    }
    if (child > 0)
        waitpid(child, NULL, 0);
}

/* ---- serving ---- */

/* As Ctrl-C does: cooking ends, too, and nothing is left behind. */
static void on_end(int signal_number) {
    (void)signal_number;
    if (!app_interrupted())
        raise(SIGINT);
}

static void end_by_signals(void) {
    signal(SIGTERM, on_end);
    if (signal(SIGHUP, on_end) == SIG_IGN) /* nohup */
        signal(SIGHUP, SIG_IGN);
}

static bool make_token(char token[33]) {
    unsigned char bytes[16];
    if (getrandom(bytes, sizeof bytes, 0) != (ssize_t)sizeof bytes)
        return false;
    for (int i = 0; i < 16; i++)
        snprintf(token + 2 * i, 3, "%02x", bytes[i]);
    return true;
}

static const char *viewer_folder(const arguments *a) {
    const char *named = getenv("BOUGH_VIEWER");
    return a->viewer ? a->viewer : named && named[0] ? named : BOUGH_VIEWER_FOLDER;
}

static void tell_address(const arguments *a, const view_server *server) {
    char url[512];
    const char *address = a->address && strcmp(a->address, "0.0.0.0") ? a->address : "127.0.0.1";
    snprintf(url, sizeof url, "http://%s:%d/?token=%s", address, (int)view_server_port(server), a->token);
    app_clear_progress();
    if (a->scene.json)
        printf("{\"url\": \"%s\", \"port\": %d, \"token\": \"%s\"}\n", url, (int)view_server_port(server), a->token);
    else
        printf("%s\nCtrl-C ends it\n", url);
    fflush(stdout);
    if (!a->no_browser && !a->scene.json && has_desktop())
        open_browser(url);
}

static void check_page(const char *folder) {
    char path[4096];
    snprintf(path, sizeof path, "%s/index.html", folder);
    if (access(path, R_OK) != 0)
        fprintf(stderr, "bough: warning: %s is not there, so that there is no page to be shown\n", path);
}

static int serve(const arguments *a, view_session *session) {
    char reason[256];
    const view_server_def def = {.session = session,
                                 .address = a->address ? a->address : "127.0.0.1",
                                 .port = a->port,
                                 .token = a->token,
                                 .folder = viewer_folder(a)};
    check_page(def.folder);
    view_server *server = view_server_start(&def, reason, sizeof reason);
    if (!server)
        return app_fail_with("%s", reason);
    tell_address(a, server);
    while (!app_interrupted())
        nanosleep(&(struct timespec){.tv_nsec = 50 * 1000 * 1000}, NULL);
    view_server_stop(server);
    return APP_OK;
}

int command_view(int argc, char **argv) {
    arguments a = {.choice = {.continuity = "C0"}};
    char folder[512];
    argp_parse(&parser, argc, argv, 0, NULL, &a);
    if (!a.token && !make_token(a.made_token))
        return app_fail_with("there are no random numbers for a token");
    a.token = a.token ? a.token : a.made_token;
    bough_context *ctx = app_context(a.scene.threads);
    end_by_signals();
    const bool has_folder = make_folder(folder, sizeof folder);
    const view_session_def def = {
        .path = a.scene.path, .choice = a.choice, .paused = a.paused, .folder = has_folder ? folder : NULL};
    view_session *session;
    const int status = view_session_create(ctx, &def, &session) ? app_fail(ctx) : serve(&a, session);
    view_session_destroy(session);
    if (has_folder)
        nftw(folder, remove_entry, 8, FTW_DEPTH | FTW_PHYS);
    bough_context_destroy(ctx);
    return status;
}
