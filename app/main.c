#include "app.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* A new command is one row here and one file beside this one. */
static const struct {
    const char *name;
    app_command run;
    const char *about;
} commands[] = {
    {"demo", command_demo, "an oak in the wind: cook it, step it, make an animation and a picture"},
    {"example", command_example, "make an example scene: an oak, a flower"},
    {"mesh", command_mesh, "look at, check, convert and generate meshes"},
    {"modes", command_modes, "natural frequencies and mode shapes of a body, a tree of parts or a mechanism"},
    {"static", command_static, "equilibrium of a body or of a scene of parts"},
    {"cook", command_cook, "reduce a body to a component that can be stepped in real time"},
    {"info", command_info, "what is in a component, how large and how good it is"},
    {"run", command_run, "step a scene through time, with recordings and checkpoints"},
    {"picture", command_picture, "a picture of a scene at a given time"},
    {"movie", command_movie, "a film of a scene: an animated PNG, WebM or MP4"},
    {"view", command_view, "see a scene in the browser: pull it, cut it, change the wind"},
    {"replay", command_replay, "do again what a run recorded, to the same bits"},
    {"mechanism", command_mechanism, "linkages with springs in their joints: compliance, frequencies, reduction; URDF"},
    {"robot", command_robot, "a robot from URDF or MJCF, written as a scene of bodies with joints"},
    {"pack", command_pack, "a scene of parts in one file for the runtime library"},
    {"export", command_export, "a scene as one page for the browser, which needs neither server nor network"},
    {"materials", command_materials, "the material models"},
    {"integrators", command_integrators, "the time integrators"},
    {"compare-integrators", command_compare_integrators, "one scene with several integrators, energies in one plot"},
    {"damping", command_damping, "numerical damping of time integrators, as table and plot"},
    {"plot", command_plot, "draw columns of a recording"},
    {"fit", command_fit, "Young's modulus and damping of flexible parts from a measured trajectory"},
    {"retarget", command_retarget, "curves of motors that do not make a flexible robot vibrate"},
    {"bench", command_bench, "benchmarks, with reference figures beside ours"},
    {"doctor", command_doctor, "what is installed and what is missing"},
};

#define COMMAND_COUNT ((int)(sizeof commands / sizeof *commands))

static void print_help(FILE *stream) {
    fputs("Bough: flexible structures in real time, checked against full finite elements.\n\n"
          "usage: bough COMMAND [OPTIONS]      bough COMMAND --help tells more, with examples\n\n",
          stream);
    for (int i = 0; i < COMMAND_COUNT; i++)
        fprintf(stream, "  %-20s %s\n", commands[i].name, commands[i].about);
    fputs("  test                 build and run all tests (by the launcher ./bough)\n\n"
          "Exit status: 0 done, 1 the work failed, 2 wrong usage. Units are SI.\n",
          stream);
}

static int smaller(int a, int b) {
    return a < b ? a : b;
}

/* Letters that have to be put in, taken out, changed or exchanged with their neighbour to make b of a. */
static int distance(const char *a, const char *b) {
    enum { MOST = 24 };
    int table[MOST + 1][MOST + 1], m = (int)strnlen(a, MOST), n = (int)strnlen(b, MOST);
    for (int i = 0; i <= m; i++)
        for (int j = 0; j <= n; j++) {
            if (i == 0 || j == 0) {
                table[i][j] = i + j;
                continue;
            }
            int best = smaller(table[i - 1][j], table[i][j - 1]) + 1;
            best = smaller(best, table[i - 1][j - 1] + (a[i - 1] != b[j - 1]));
            if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1])
                best = smaller(best, table[i - 2][j - 2] + 1);
            table[i][j] = best;
        }
    return table[m][n];
}

/* The launcher builds and tests; the program that it has built cannot. */
static bool is_launchers(const char *word) {
    return strcmp(word, "test") == 0 || strcmp(word, "setup") == 0;
}

static int unknown(const char *word) {
    if (is_launchers(word)) {
        fprintf(stderr, "bough: \"%s\" is done by the launcher in the folder of the sources: ./bough %s\n", word, word);
        return APP_USAGE;
    }
    fprintf(stderr, "bough: there is no command \"%s\"", word);
    const char *best = NULL;
    int least = 3; /* as far off as a slip of the fingers */
    for (int i = 0; i < COMMAND_COUNT; i++) {
        const size_t length = strlen(word);
        int off = distance(word, commands[i].name);
        if (length > 1 && strncmp(word, commands[i].name, length) == 0)
            off = smaller(off, 1); /* a beginning */
        if (off < least && (size_t)off < strlen(commands[i].name) / 2 + 1)
            least = off, best = commands[i].name;
    }
    if (best)
        fprintf(stderr, "; did you mean \"%s\"?\n", best);
    else
        fputs("; see bough --help\n", stderr);
    return APP_USAGE;
}

/* A full disk or a closed pipe must not look like success. */
static int finish(int status) {
    if (fflush(stdout) != 0 || ferror(stdout))
        return status == APP_OK ? app_fail_with("standard output cannot be written: %s", strerror(errno)) : status;
    return status;
}

int main(int argc, char **argv) {
    argp_err_exit_status = APP_USAGE;
    setenv("ARGP_HELP_FMT", "rmargin=118", 0); /* so that examples stay on one line and can be copied */
    if (argc < 2) {
        print_help(stderr);
        return APP_USAGE;
    }
    static char help[] = "--help";
    if (argc == 3 && !strcmp(argv[1], "help")) { /* bough help run: bough run --help */
        argv[1] = argv[2];
        argv[2] = help;
    }
    if (!strcmp(argv[1], "--help") || !strcmp(argv[1], "-h") || !strcmp(argv[1], "help")) {
        print_help(stdout);
        return finish(APP_OK);
    }
    if (!strcmp(argv[1], "--version")) {
        printf("bough %s\n", bough_version());
        return finish(APP_OK);
    }
    for (int i = 0; i < COMMAND_COUNT; i++)
        if (!strcmp(argv[1], commands[i].name)) {
            static char title[64];
            snprintf(title, sizeof title, "bough %s", commands[i].name);
            argv[1] = title; /* argp shows it as the program's name */
            if (argc == 3 && !strcmp(argv[2], "-h"))
                argv[2] = help;
            return finish(commands[i].run(argc - 1, argv + 1));
        }
    return unknown(argv[1]);
}
