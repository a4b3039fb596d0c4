/* A scene in the browser: steps it in real time and serves the page that shows it. */
#include "app.h"

#include "view/view.h"

#include <arpa/inet.h>
#include <dirent.h>
#include <errno.h>
#include <ftw.h>
#include <math.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/random.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>
#ifdef __GLIBC__
#include <malloc.h>
#endif

enum {
    OPT_PORT = 400,
    OPT_LISTEN,
    OPT_TOKEN,
    OPT_NO_BROWSER,
    OPT_FRAMED,
    OPT_ATTACHED,
    OPT_PAUSED,
    OPT_ENGINE,
    OPT_COUPLING,
    OPT_DT,
    OPT_GHOST,
    OPT_VIEWER
};

#define LOOPBACK "127.0.0.1"
enum { LEAST_TOKEN = 16 }; /* characters of one that somebody chose */

typedef struct {
    app_scene_options scene;
    view_choice choice;
    int32_t port;
    const char *address, *token, *viewer, *ghost;
    char made_token[33];
    bool no_browser, paused, framed, attached;
} arguments;

static const struct argp_option options[] = {
    {"port", OPT_PORT, "N", 0, "listen at this port (default: any that is free)", 0},
    {"listen", OPT_LISTEN, "ADDRESS", 0, "listen at this address instead of 127.0.0.1, for others; needs --token", 0},
    {"token", OPT_TOKEN, "TEXT", 0,
     "what the address must contain to be let in, at least 16 characters (default: random)", 0},
    {"no-browser", OPT_NO_BROWSER, 0, 0, "only print the address", 0},
    {"framed", OPT_FRAMED, 0, 0, "let pages of this computer, such as notebooks, show the page in a frame", 0},
    {"attached", OPT_ATTACHED, 0, 0, "end when the standard input ends, with the program that holds its other end", 0},
    {"paused", OPT_PAUSED, 0, 0, "begin at rest, until somebody presses play", 0},
    {"engine", OPT_ENGINE, "NAME", 0, "of a scene of parts: tree or full; of a mechanism: mechanism or full", 0},
    {"coupling", OPT_COUPLING, "NAME", 0, "of the tree engine: L1, L2, L2R or L3", 0},
    {"dt", OPT_DT, "SECONDS", 0, "time step", 0},
    {"ghost", OPT_GHOST, "FILE", 0, "another scene, drawn over it to compare: a robot with the motors it had before",
     0},
    {"viewer", OPT_VIEWER, "FOLDER", 0, "of the page's files, for those who change them; also by BOUGH_VIEWER", 0},
    {0},
};

static bool is_plain_token(const char *text) {
    return strlen(text) < 200 &&
           text[strspn(text, "0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ-_")] == 0;
}

static const char *choose(struct argp_state *state, const char *option, const char *text, const char *const *names) {
    char list[64] = "";
    for (size_t used = 0; *names; names++) {
        if (!strcmp(text, *names))
            return *names;
        used += (size_t)snprintf(list + used, sizeof list - used, used ? ", %s" : "%s", *names);
    }
    argp_error(state, "--%s: there is no \"%s\"; there are %s", option, text, list);
    return NULL;
}

static void check_listening(struct argp_state *state, const arguments *a) {
    if (a->address && !a->token)
        argp_error(state, "--listen lets others in: choose a --token of at least %d characters", LEAST_TOKEN);
    if (a->token && (strlen(a->token) < LEAST_TOKEN || !is_plain_token(a->token)))
        argp_error(state, "--token: at least %d letters, digits, - or _", LEAST_TOKEN);
}

static error_t parse(int key, char *text, struct argp_state *state) {
    static const char *const couplings[] = {"L1", "L2", "L2R", "L3", NULL};
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
        if (inet_pton(AF_INET, text, &(struct in_addr){0}) != 1)
            argp_error(state, "--listen: \"%s\" should be an address such as 192.168.1.7, or 0.0.0.0 for all", text);
        a->address = text;
        break;
    case OPT_TOKEN:
        a->token = text;
        break;
    case OPT_NO_BROWSER:
        a->no_browser = true;
        break;
    case OPT_FRAMED:
        a->framed = true;
        break;
    case OPT_ATTACHED:
        a->attached = true;
        break;
    case OPT_PAUSED:
        a->paused = true;
        break;
    case OPT_ENGINE:
        a->choice.engine = app_parse_engine(state, text);
        break;
    case OPT_COUPLING:
        a->choice.coupling = choose(state, "coupling", text, couplings);
        break;
    case OPT_DT:
        if (!app_parse_numbers(text, 1, &a->choice.dt) || a->choice.dt <= 0)
            argp_error(state, "--dt: \"%s\" should be a positive number", text);
        break;
    case OPT_GHOST:
        a->ghost = text;
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
    "FILE",
    "Steps a scene in real time and shows it in the browser: pull it, cut it, change the wind. A mesh (.msh, .obj, "
    "...) or "
    "a component (.bough) is shown at rest, with coordinates to be picked. Ctrl-C ends it."
    "\vExamples:\n"
    "  bough example oak && bough view oak/scene.json\n"
    "  bough view twig.msh\n"
    "  bough view oak/scene.cooked/leaf.bough\n"
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

static void remove_folder(const char *path) {
    nftw(path, remove_entry, 8, FTW_DEPTH | FTW_PHYS);
}

#define FOLDER "bough-view-" /* then the process that it belongs to, - and six letters */

static const char *base_folder(void) {
    const char *base = getenv("TMPDIR");
    return base && base[0] ? base : "/tmp";
}

/* Whose process is no more: it was killed, or the machine stopped. What belongs to others cannot be removed. */
static bool is_left_behind(const char *name) {
    char *end;
    if (strncmp(name, FOLDER, strlen(FOLDER)) != 0)
        return false;
    const long process = strtol(name + strlen(FOLDER), &end, 10);
    return process > 0 && process <= INT32_MAX && end[0] == '-' && strlen(end) == 7 && kill((pid_t)process, 0) != 0 &&
           errno == ESRCH;
}

static void sweep(void) {
    DIR *base = opendir(base_folder());
    struct stat info;
    for (struct dirent *entry; base && (entry = readdir(base));) {
        char path[1024];
        const int size = snprintf(path, sizeof path, "%s/%s", base_folder(), entry->d_name);
        if (size > 0 && (size_t)size < sizeof path && is_left_behind(entry->d_name) && lstat(path, &info) == 0 &&
            S_ISDIR(info.st_mode) && info.st_uid == geteuid())
            remove_folder(path);
    }
    if (base)
        closedir(base);
}

static char recordings[512]; /* the folder; for the signal that ends it at once */

static bool make_folder(void) {
    sweep();
    snprintf(recordings, sizeof recordings, "%s/" FOLDER "%ld-XXXXXX", base_folder(), (long)getpid());
    if (mkdtemp(recordings))
        return true;
    recordings[0] = 0;
    return false;
}

/* In a signal: what may be called there cannot walk through folders, so that another program does. */
static void remove_at_once(void) {
    const pid_t child = recordings[0] ? fork() : -1;
    if (child == 0) {
        execl("/bin/rm", "rm", "-rf", recordings, (char *)NULL);
        _exit(127);
    }
    if (child > 0)
        waitpid(child, NULL, 0);
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

/* Somebody who waited for cooking should not hear of a busy port then. Another may still take it meanwhile. */
static bool can_listen(const arguments *a) {
    struct sockaddr_in at = {.sin_family = AF_INET, .sin_port = htons((uint16_t)a->port)};
    const int one = 1, handle = socket(AF_INET, SOCK_STREAM, 0);
    if (handle < 0)
        return false;
    inet_pton(AF_INET, a->address ? a->address : LOOPBACK, &at.sin_addr);
    setsockopt(handle, SOL_SOCKET, SO_REUSEADDR, &one, sizeof one); /* as the server does */
    const bool can = bind(handle, (const struct sockaddr *)&at, sizeof at) == 0;
    close(handle);
    return can;
}

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

static void tell_address(const arguments *a, const view_server *server) {
    char url[512];
    const char *address = a->address && strcmp(a->address, "0.0.0.0") ? a->address : LOOPBACK;
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

/* Whoever started the viewer may be killed; the pipe to it ends then, too. */
static bool input_ended(void) {
    struct pollfd input = {.fd = STDIN_FILENO, .events = POLLIN};
    char ignored[256];
    return poll(&input, 1, 0) > 0 && read(STDIN_FILENO, ignored, sizeof ignored) <= 0;
}

static int serve(const arguments *a, view_session *session) {
    char reason[256];
    const view_server_def def = {.session = session,
                                 .address = a->address ? a->address : LOOPBACK,
                                 .port = a->port,
                                 .token = a->token,
                                 .framed = a->framed,
                                 .folder = app_viewer_folder(a->viewer)};
    check_page(def.folder);
    view_server *server = view_server_start(&def, reason, sizeof reason);
    if (!server)
        return app_fail_with("%s", reason);
    tell_address(a, server);
    while (!app_interrupted() && !(a->attached && input_ended()))
        nanosleep(&(struct timespec){.tv_nsec = 50 * 1000 * 1000}, NULL);
    view_server_stop(server);
    return APP_OK;
}

/* Stages and frames of some MB are made by one thread and freed by any of a hundred. glibc would keep a heap for each
 * of them, and what was freed in all of these: 140 MB instead of 42 after stages of a small oak had changed 50 times.
 */
static void keep_memory_small(void) {
#ifdef __GLIBC__
    mallopt(M_ARENA_MAX, 2);
    mallopt(M_MMAP_THRESHOLD, 256 * 1024);
    mallopt(M_TRIM_THRESHOLD, 1024 * 1024);
#endif
}

int command_view(int argc, char **argv) {
    arguments a = {.choice = {.continuity = "C0"}};
    app_parse(&parser, argc, argv, &a);
    if (!a.token && !make_token(a.made_token))
        return app_fail_with("there are no random numbers for a token");
    a.token = a.token ? a.token : a.made_token;
    keep_memory_small();
    end_by_signals();
    if (!can_listen(&a))
        return app_fail_with("%s:%d cannot be listened at; choose another --port or --listen",
                             a.address ? a.address : LOOPBACK, (int)a.port);
    bough_context *ctx = app_context(a.scene.threads);
    const bool has_folder = make_folder();
    app_at_second_interrupt(remove_at_once);
    const view_session_def def = {.path = a.scene.path,
                                  .choice = a.choice,
                                  .paused = a.paused,
                                  .ghost = a.ghost,
                                  .folder = has_folder ? recordings : NULL};
    view_session *session;
    const int status = view_session_create(ctx, &def, &session) ? app_fail(ctx) : serve(&a, session);
    view_session_destroy(session);
    if (has_folder)
        remove_folder(recordings);
    bough_context_destroy(ctx);
    return status;
}
