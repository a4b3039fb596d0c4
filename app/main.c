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
    {"modes", command_modes, "natural frequencies and mode shapes of a body"},
    {"static", command_static, "equilibrium of a body or of a scene of parts"},
    {"cook", command_cook, "reduce a body to a component that can be stepped in real time"},
    {"info", command_info, "what is in a component, how large and how good it is"},
    {"run", command_run, "step a scene through time, with recordings and checkpoints"},
    {"picture", command_picture, "a picture of a scene at a given time"},
    {"movie", command_movie, "a film of a scene: an animated PNG, WebM or MP4"},
    {"view", command_view, "see a scene in the browser: pull it, cut it, change the wind"},
    {"replay", command_replay, "do again what a run recorded, to the same bits"},
    {"mechanism", command_mechanism, "linkages with springs in their joints: compliance, frequencies, reduction; URDF"},
    {"pack", command_pack, "a scene of parts in one file for the runtime library"},
    {"materials", command_materials, "the material models"},
    {"integrators", command_integrators, "the time integrators"},
    {"compare-integrators", command_compare_integrators, "one scene with several integrators, energies in one plot"},
    {"damping", command_damping, "numerical damping of time integrators, as table and plot"},
    {"plot", command_plot, "draw columns of a recording"},
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

static int unknown(const char *word) {
    fprintf(stderr, "bough: there is no command \"%s\"", word);
    const char *best = NULL;
    size_t most = 1;
    for (int i = 0; i < COMMAND_COUNT; i++) { /* the longest common beginning is enough of a hint here */
        size_t same = 0;
        while (word[same] && word[same] == commands[i].name[same])
            same++;
        if (same > most)
            most = same, best = commands[i].name;
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
            static char title[64], help[] = "--help";
            snprintf(title, sizeof title, "bough %s", commands[i].name);
            argv[1] = title; /* argp shows it as the program's name */
            if (argc == 3 && !strcmp(argv[2], "-h"))
                argv[2] = help;
            return finish(commands[i].run(argc - 1, argv + 1));
        }
    return unknown(argv[1]);
}
