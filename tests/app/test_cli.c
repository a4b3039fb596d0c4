/* The program as its users meet it: started with arguments, judged by exit status, output and files. */
#include "program.h"

/* ---- inputs ---- */

/* E = 1 GPa, nu = 0.3, 1000 kg/m^3, clamped at x = 0: as options and as a body file. */
#define STIFF "--young", "1e9", "--poisson", "0.3", "--density", "1000", "--fix", "x0"

static const char stiff_body[] =
    "{\"bough\": 1, \"mesh\": \"beam.msh\", \"fix\": [\"x0\"], \"gravity\": [0, 0, -9.81],"
    " \"material\": {\"model\": \"stvk\", \"young\": 1e9, \"poisson\": 0.3, \"density\": 1000}}";

static const double young = 1e9, density = 1000, length = 1, height = 0.1;

/* 1 m x 0.1 m x 0.1 m of quadratic tets, which bend as they should. */
static void make_beam(void) {
    if (exists("beam.msh"))
        return;
    check_run(0, "mesh", "generate", "box", "--size", "1,0.1,0.1", "--cells", "12,1,1", "--type", "tet10", "-o",
              "beam.msh");
    test_write_text(work("body.json"), stiff_body);
}

static const char two_tets[] =
    "*VERTICES\n5 3 0 0\n1 0 0 0\n2 1 0 0\n3 0 1 0\n4 0 0 1\n5 1 1 1\n*ELEMENTS\nTET\n2 4 0\n"
    "1 1 2 3 4\n2 %s\n*MATERIAL RUBBER\n%s\n*REGION\nallElements, RUBBER\n";

static void write_tets(const char *name, const char *second, const char *material) {
    char content[1024];
    snprintf(content, sizeof content, two_tets, second, material);
    test_write_text(work(name), content);
}

static int prepare(void **state) {
    (void)state;
    setenv("OPENBLAS_NUM_THREADS", "1", 0);
    unsetenv("ARGP_HELP_FMT");
    mkdir(work(""), 0700);
    return 0;
}

/* ---- help ---- */

static void help_is_there(void **state) {
    (void)state;
    check_run(0, "--help");
    check(strstr(out, "usage: bough COMMAND") && strstr(out, "Exit status") && !err[0]);
    static const char *const commands[] = {"demo",    "example", "mesh",  "modes",     "static",
                                           "run",     "picture", "movie", "materials", "integrators",
                                           "damping", "plot",    "bench", "doctor",    "compare-integrators",
                                           "cook",    "info",    "fit"};
    for (size_t i = 0; i < sizeof commands / sizeof *commands; i++) {
        char listed[64], example[64];
        check_run(0, "--help");
        snprintf(listed, sizeof listed, "\n  %s ", commands[i]);
        check(strstr(out, listed) != NULL);
        snprintf(example, sizeof example, "\n  bough %s ", commands[i]);
        check_run(0, commands[i], "--help");
        if (!strstr(out, "\nExample") || !strstr(out, example) || err[0])
            fail_msg("bough %s --help has no example", commands[i]);
        check_run(0, commands[i], "-h");
        check(strstr(out, example) != NULL);
    }
    /* An example can be copied as one line. */
    check_run(0, "mesh", "--help");
    check(strstr(out, "--type tet10 -o beam.msh\n") != NULL);
    check_run(0, "--version");
    check(strncmp(out, "bough ", 6) == 0 && strstr(out, bough_version()) && line_count(out) == 1);
}

static void wrong_usage_is_status_2(void **state) {
    (void)state;
    check_run(2, NULL);
    check(!out[0] && strstr(err, "usage: bough COMMAND"));
    check_mistake(2, "did you mean \"static\"?", "statik");
    check_mistake(2, "did you mean \"mesh\"?", "mehs");
    check_mistake(2, "see bough --help", "zzz");
    check_mistake(2, "--bogus", "static", "--bogus");
    check_mistake(2, "--bogus", "mesh", "info", "--bogus");
    check_mistake(2, "name a mesh", "modes");
    check_mistake(2, "name a mesh", "static");
    check_mistake(2, "info, check, convert or generate", "mesh");
    check_mistake(2, "info, check, convert or generate", "mesh", "inform", "a.msh");
    check_mistake(2, "one file", "mesh", "info");
    check_mistake(2, "a file to write", "mesh", "convert", "a.msh");
    check_mistake(2, "too many words", "mesh", "convert", "a.msh", "b.msh", "c.msh");
    check_mistake(2, "box, rod, voxels or tets", "mesh", "generate");
    check_mistake(2, "box, rod, voxels or tets", "mesh", "generate", "sphere", "-o", "a.msh");
    check_mistake(2, "needs -o FILE", "mesh", "generate", "box");
    check_mistake(2, "surface file", "mesh", "generate", "voxels", "-o", "a.msh");
    check_mistake(2, "Too many arguments", "doctor", "now");
    check_mistake(2, "takes no file", "demo", "beam.msh");
    check_mistake(2, "bough bench lists them", "bench", "everything");
    check_mistake(2, "--plot is for leaves", "bench", "oak", "--plot", "oak.svg");
    check_mistake(2, "ends in .svg or .png", "bench", "leaves", "--plot", "leaves.txt");
    check_mistake(2, "--output is for accuracy", "bench", "oak", "--output", "plots");
    check_mistake(2, "--coupling is for scenes that are stepped: oak", "bench", "assembly", "--coupling", "L3");
    check_mistake(2, "--threads is for scenes that are stepped: oak", "bench", "--threads", "2", "stability");
}

/* ---- meshes ---- */

static void boxes_have_what_was_asked_for(void **state) {
    (void)state;
    check_run(0, "mesh", "generate", "box", "--size", "1,2,3", "--origin", "5,6,7", "--cells", "2,3,4", "--type",
              "hex8", "-o", "box.msh", "--picture", "box.png");
    check_is_png("box.png");
    json_t *info;
    check_json(info, 0, "mesh", "info", "box.msh", "--json");
    check_int(number(info, "vertices"), 3 * 4 * 5);
    check_int(number(info, "elements"), 2 * 3 * 4);
    check(strcmp(text(info, "type"), "hex8") == 0 && strcmp(text(info, "file"), "box.msh") == 0);
    check_near(number(info, "volume"), 6, 1e-12);
    check_near(number(info, "area"), 22, 1e-12);
    check_near(item(info, "centroid", 1), 7, 1e-12);
    check_near(item(info, "upper", 2), 10, 1e-12);
    check_int(set_count(info, "x1", "face"), 12);
    check_int(set_count(info, "z0", "vertex"), 12);
    check_int(number(info, "pieces"), 1);
    check(truth(info, "sound"));
    json_decref(info);
    check_run(0, "mesh", "info", "box.msh");
    check(strstr(out, "box.msh: 60 vertices, 24 hex8 elements") && strstr(out, "face set \"x1\": 12"));
    check_run(0, "mesh", "check", "box.msh");
    check(strstr(out, "box.msh: sound"));
    check_mistake(2, "--type", "mesh", "generate", "box", "--type", "tet5", "-o", "no.msh");
    check_mistake(2, "--size", "mesh", "generate", "box", "--size", "1,2", "-o", "no.msh");
    check_mistake(2, "--cells", "mesh", "generate", "box", "--cells", "2.5", "-o", "no.msh");
    check_mistake(2, "--cells", "mesh", "generate", "box", "--cells", "1,0,1", "-o", "no.msh");
    check_mistake(1, "size", "mesh", "generate", "box", "--size", "1,-1,1", "-o", "no.msh");
    check_mistake(1, "extension", "mesh", "generate", "box", "-o", "no.doc");
    check_mistake(1, "no.msh", "mesh", "generate", "box", "-o", "nowhere/no.msh");
    check(!exists("no.msh") && !exists("no.doc"));
}

static void rods_and_voxels_have_their_volume(void **state) {
    (void)state;
    json_t *info;
    check_run(0, "mesh", "generate", "rod", "--length", "2", "--radius", "0.5", "--cells", "3", "--type", "tet10", "-o",
              "rod.msh");
    check_json(info, 0, "mesh", "info", "rod.msh", "--json");
    check_near(number(info, "volume"), 2 * M_PI * 0.25, 0.01);
    check_near(item(info, "upper", 2), 2, 1e-12);
    check(set_count(info, "bottom", "vertex") == set_count(info, "top", "vertex") &&
          set_count(info, "side", "face") > 0);
    json_decref(info);
    check_mistake(2, "one whole number", "mesh", "generate", "rod", "--cells", "3,3,3", "-o", "no.msh");

    check_run(0, "mesh", "generate", "box", "-o", "cube.obj");
    check_run(0, "mesh", "generate", "voxels", "cube.obj", "--cell", "0.25", "-o", "voxels.msh");
    check_json(info, 0, "mesh", "info", "voxels.msh", "--json");
    check_int(number(info, "elements"), 64);
    check_int(number(info, "vertices"), 125);
    check_near(number(info, "volume"), 1, 1e-12);
    json_decref(info);
    check_mistake(1, "no.obj", "mesh", "generate", "voxels", "no.obj", "-o", "no.msh");
    check(!exists("no.msh"));
}

static void conversion_keeps_sets(void **state) {
    (void)state;
    static const char *const names[] = {"x0", "x1", "y0", "y1", "z0", "z1"}, *const kinds[] = {"vertex", "face"};
    make_beam();
    check_run(0, "mesh", "convert", "beam.msh", "beam.inp");
    check_run(0, "mesh", "convert", "beam.inp", "back.msh");
    json_t *before, *after;
    check_json(before, 0, "mesh", "info", "beam.msh", "--json");
    check_json(after, 0, "mesh", "info", "back.msh", "--json");
    check_int(json_array_size(json_object_get(after, "sets")), 12);
    for (int i = 0; i < 6; i++)
        for (int k = 0; k < 2; k++) {
            check(set_count(before, names[i], kinds[k]) > 0);
            check_int(set_count(after, names[i], kinds[k]), set_count(before, names[i], kinds[k]));
        }
    check_int(number(after, "vertices"), number(before, "vertices"));
    check_int(number(after, "elements"), number(before, "elements"));
    check_near(number(after, "volume"), number(before, "volume"), 0);
    json_decref(before);
    json_decref(after);

    check_run(0, "mesh", "generate", "box", "--cells", "2", "-o", "linear.msh");
    check_run(0, "mesh", "convert", "linear.msh", "raised.msh", "--raise");
    check_json(after, 0, "mesh", "info", "raised.msh", "--json");
    check(strcmp(text(after, "type"), "tet10") == 0);
    check_int(number(after, "vertices"), 5 * 5 * 5);
    json_decref(after);
}

static void meshes_of_all_kinds_have_pictures(void **state) {
    (void)state;
    check_run(0, "mesh", "generate", "box", "-o", "cube.obj");
    check_run(0, "mesh", "info", "cube.obj", "--picture", "cube.png");
    check_is_png("cube.png");
    check_run(0, "mesh", "convert", "cube.obj", "cube.stl", "--picture", "converted.png");
    check_is_png("converted.png");
}

static void what_a_conversion_loses_is_said(void **state) {
    (void)state;
    write_tets("stuff.veg", "5 2 4 3", "ENU, 1000, 1e6, 0.3");
    check_run(0, "mesh", "convert", "stuff.veg", "stuff.msh");
    check(strstr(err, "warning: stuff.msh: materials are left out") != NULL);
    check_run(0, "mesh", "convert", "stuff.veg", "stuff.inp");
    check(err[0] == 0);
}

static void embeddings_are_written_or_refused(void **state) {
    (void)state;
    check_run(0, "mesh", "generate", "box", "-o", "cube.obj");
    check_run(0, "mesh", "generate", "voxels", "cube.obj", "--cell", "0.5", "-o", "v.msh", "--embedding", "e.csv");
    check(exists("e.csv"));
    check_mistake(1, "nowhere/e.csv", "mesh", "generate", "voxels", "cube.obj", "-o", "no.msh", "--embedding",
                  "nowhere/e.csv");
    check_mistake(2, "--embedding", "mesh", "generate", "box", "-o", "no.msh", "--embedding", "e.csv");
    check(!exists("no.msh"));
}

/* Programs that read the JSON learn of a failure, also when not even the first load step was reached. */
static void json_says_when_nothing_converged(void **state) {
    (void)state;
    make_beam();
    json_t *answer;
    check_json(answer, 1, "static", "beam.msh", "--fix", "x0", "--force", "1e300,0,0@x1", "--json", "--output",
               "no.vtu");
    check(!truth(answer, "converged"));
    check_int(number(answer, "load_steps"), 0);
    check(json_is_null(json_object_get(answer, "residual")));
    check(is_one_sentence() && !exists("no.vtu"));
    json_decref(answer);
}

static void inverted_elements_are_found_and_mended(void **state) {
    (void)state;
    write_tets("inside_out.veg", "2 4 3 5", "ENU, 1000, 1e6, 0.4");
    json_t *info;
    check_json(info, 1, "mesh", "check", "inside_out.veg", "--json");
    check_int(number(info, "inverted"), 1);
    check(!truth(info, "sound") && !err[0]);
    json_decref(info);
    check_run(1, "mesh", "check", "inside_out.veg");
    check(strstr(out, "1 inverted elements") && strstr(out, "--repair") && strstr(out, "not fit for simulation"));
    check(strstr(out, "first inverted element is 1"));
    check_run(0, "mesh", "info", "inside_out.veg");
    check_mistake(1, "inside_out.veg", "mesh", "convert", "inside_out.veg", "mended.msh");
    check(!exists("mended.msh"));
    check_mistake(1, "inside_out.veg", "static", "inside_out.veg", "--fix", "vertex:0", "-g", "0,0,-1");
    check_run(0, "mesh", "convert", "inside_out.veg", "mended.msh", "--repair");
    check_run(0, "mesh", "check", "mended.msh");
    check_run(0, "modes", "inside_out.veg", "--repair", "-n", "8");
}

/* ---- modes and statics ---- */

static void modes_are_those_of_a_beam(void **state) {
    (void)state;
    make_beam();
    json_t *modes, *same;
    check_json(modes, 0, "modes", "beam.msh", STIFF, "-n", "4", "--damping", "0.5,0", "--json", "-o", "modes.vtu", "-p",
               "mode.png", "--shape", "2");
    check(!err[0]);
    check_is_vtu("modes.vtu");
    check_is_png("mode.png");
    check_int(json_array_size(json_object_get(modes, "frequencies_hz")), 4);
    check_int(json_array_size(json_object_get(modes, "participation")), 4);
    check_int(json_array_size(json_object_get(modes, "effective_mass")), 4);
    check_int(number(modes, "rigid_modes"), 0);
    check_below(item(modes, "total_mass", 0), density * length * height * height);
    check(number(modes, "seconds") >= 0 && number(modes, "cpu_seconds") >= 0);
    /* Euler and Bernoulli: beta L = 1.8751, r^2 = h^2/12. */
    double hz = 1.8751 * 1.8751 / (2 * M_PI) * sqrt(young / density / 12) * height / (length * length);
    check_near(item(modes, "frequencies_hz", 0), hz, 0.03 * hz);
    check_near(item(modes, "damping_ratios", 0), 0.5 / (2 * 2 * M_PI * item(modes, "frequencies_hz", 0)), 1e-12);

    check_json(same, 0, "modes", "body.json", "-n", "4", "--json");
    for (size_t k = 0; k < 4; k++)
        check_near(item(same, "frequencies_hz", k), item(modes, "frequencies_hz", k), 0);
    json_decref(modes);
    json_decref(same);

    check_json(modes, 0, "modes", "beam.msh", "-n", "7", "--json");
    check_int(number(modes, "rigid_modes"), 6);
    json_decref(modes);
    check_run(0, "modes", "beam.msh", "-n", "7");
    check(strstr(out, "6 rigid modes"));
    check_mistake(2, "raise --count", "modes", "beam.msh", "-n", "3", "--shape", "4", "-p", "no.png");
    check_mistake(2, "--count", "modes", "beam.msh", "-n", "0");
    check_mistake(1, "100000 modes", "modes", "beam.msh", "-n", "100000");
}

/* Small deflections of a cantilever with the shear of Timoshenko's beam (k = 5/6). */
static void a_cantilever_sags_as_theory_says(void **state) {
    (void)state;
    make_beam();
    double area = height * height, inertia = area * area / 12, shear = 5.0 / 6 * young / 2.6 * area;
    double load = density * 9.81 * area, sag = load * pow(length, 4) / (8 * young * inertia) + load / (2 * shear);
    json_t *result, *same;
    check_json(result, 0, "static", "beam.msh", STIFF, "-g", "0,0,-9.81", "--probe", "x1", "--probe", "nearest:1,0,0",
               "--json", "--output", "sag.vtu", "--picture", "sag.png", "--scale", "50");
    check(!err[0]);
    check_is_vtu("sag.vtu");
    check_is_png("sag.png");
    check(truth(result, "converged") && truth(result, "stable"));
    check(number(result, "iterations") >= 1 && number(result, "load_steps") == 1);
    check_near(number(result, "load_fraction"), 1, 0);
    check_near(number(result, "max_displacement"), sag, 0.03 * sag);
    check_below(number(result, "residual"), 1e-9);
    json_t *tip = json_object_get(json_object_get(result, "probes"), "x1");
    check_near(item(tip, "displacement", 2), -sag, 0.03 * sag);
    check_near(item(tip, "displacement", 1), 0, 0.01 * sag);
    check_int(number(json_object_get(json_object_get(result, "probes"), "nearest:1,0,0"), "vertices"), 1);

    check_json(same, 0, "static", "body.json", "--json");
    check_near(number(same, "max_displacement"), number(result, "max_displacement"), 1e-12);
    json_decref(result);
    json_decref(same);

    double force = 2, bend = force * pow(length, 3) / (3 * young * inertia) + force * length / shear;
    check_json(result, 0, "static", "beam.msh", STIFF, "--force", "0,2,0@x1", "--probe", "x1", "--json");
    tip = json_object_get(json_object_get(result, "probes"), "x1");
    check_near(item(tip, "displacement", 1), bend, 0.03 * bend);
    json_decref(result);

    /* A pressure on the end face shortens the beam by p L / E. */
    check_json(result, 0, "static", "beam.msh", STIFF, "--pressure", "1e5@x1", "--probe", "x1", "--json");
    tip = json_object_get(json_object_get(result, "probes"), "x1");
    check_near(item(tip, "displacement", 0), -1e5 * length / young, 0.03e-4);
    json_decref(result);

    /* Free to grow thin: the middle of a bar pulled at its end moves half as far. */
    check_run(0, "static", "beam.msh", "--fix", "x@x0", "--fix", "nearest:0,0,0", "--fix", "z@nearest:0,0.1,0",
              "--move", "0.01,0,0@x1", "--probe", "nearest:0.5,0,0");
    check(strncmp(out, "equilibrium after 1 load step,", 30) == 0 && strstr(out, "largest displacement   0.01 m"));
    check(strstr(out, "probe nearest:0.5,0,0  0.00"));
}

static void warnings_leave_stdout_alone(void **state) {
    (void)state;
    write_tets("rubber.veg", "2 3 4 5", "MOONEYRIVLIN, 1000, 3, 2, 50");
    json_t *info;
    check_json(info, 0, "mesh", "info", "rubber.veg", "--json");
    check(strncmp(err, "bough: warning: ", 16) == 0 && line_count(err) == 1);
    check_int(json_array_size(json_object_get(info, "materials")), 1);
    json_decref(info);
}

/* ---- small commands ---- */

static void small_commands_answer_in_json(void **state) {
    (void)state;
    json_t *answer;
    check_json(answer, 0, "doctor", "--json");
    check(strcmp(text(answer, "version"), bough_version()) == 0 && number(answer, "threads") >= 1);
    check(json_is_boolean(json_object_get(json_object_get(answer, "programs"), "gmsh")));
    json_decref(answer);
    check_json(answer, 0, "materials", "--json");
    check_int(json_array_size(json_object_get(answer, "materials")), 7);
    json_decref(answer);
    check_json(answer, 0, "integrators", "--json");
    check(json_array_size(json_object_get(answer, "integrators")) >= 18);
    json_decref(answer);
    check_json(answer, 0, "bench", "--json");
    check(json_array_size(json_object_get(answer, "benchmarks")) >= 4);
    json_decref(answer);
    check_run(0, "doctor");
    check(strncmp(out, "bough ", 6) == 0);
    check_run(0, "materials");
    check(strstr(out, "neo-hookean") != NULL);
}

/* The second time it finds its components cooked. */
static void the_demo_makes_its_files(void **state) {
    (void)state;
    for (int again = 0; again < 2; again++) {
        check_run(0, "demo", "-o", "demo", "--frames", "3", "--leaves", "20");
        check_is_png("demo/oak.png");
        check_begins("demo/oak.glb", "glTF\2\0\0\0", 8, 100000);
        check(exists("demo/oak/scene.json") && exists("demo/oak/scene.cooked/leaf.bough"));
        check(strstr(out, "41 branches and 20 leaves") && strstr(out, "demo/oak.glb") && strstr(out, "x real time"));
        check(strstr(out, " 3 frames") && !err[0]);
    }
    check_mistake(1, "is a file, not a folder", "bench", "accuracy", "-o", "beam.msh");
    check_mistake(1, "is a file, not a folder", "demo", "-o", "beam.msh");
    check_mistake(1, "cannot be made: No such file or directory", "demo", "-o", "no/such/place");
    check_mistake(2, "--frames", "demo", "--frames", "0");
    check_mistake(2, "--leaves", "demo", "--leaves", "many");
}

/* ---- plots ---- */

static void check_is_svg(const char *name) {
    check_begins(name, "<?xml", 5, 1000);
}

static void plots_show_the_columns_asked_for(void **state) {
    (void)state;
    static const char recording[] =
        "\xEF\xBB\xBFtime,energy_kinetic,\"energy, \"\"elastic\"\"\",tip.z,note\r\n"
        "0,1,2,0.5,start\r\n0.1,nan,3,0.25,\"on, and on\"\r\n 0.2 ,5,,1e-3,\r\n\r\n0.3,-inf,7,0,end";
    test_write_text(work("run.1.csv"), recording);
    check_run(0, "plot", "run.1.csv");
    check_is_svg("run.1.svg");
    check(strstr(out, "run.1.svg: 2 lines of 4 points against time") && !err[0]);
    json_t *answer;
    check_json(answer, 0, "plot", "run.1.csv", "--json", "-o", "tip.png", "--x", "energy_kinetic", "--columns",
               "tip.z,time", "--title", "Tip", "--log-y");
    check_is_png("tip.png");
    check(strcmp(text(answer, "x"), "energy_kinetic") == 0 && strcmp(text(answer, "file"), "tip.png") == 0);
    check_int(number(answer, "points"), 4);
    const json_t *columns = json_object_get(answer, "columns");
    check(json_array_size(columns) == 2 && strcmp(json_string_value(json_array_get(columns, 0)), "tip.z") == 0);
    json_decref(answer);
    check_json(answer, 0, "plot", "run.1.csv", "--json");
    check(strcmp(json_string_value(json_array_get(json_object_get(answer, "columns"), 1)), "energy, \"elastic\"") == 0);
    json_decref(answer);
}

/* Energies with the work that was done and what is left of the account, each once; not momenta and probes. */
static void plots_of_runs_show_energies_work_and_balance(void **state) {
    (void)state;
    static const char *const wanted[] = {"elastic", "kinetic", "external", "total", "work", "balance"};
    json_t *answer;
    test_write_text(work("run.2.csv"), "time,elastic,kinetic,external,total,momentum.x,work,balance,tip.x\n"
                                       "0,1,2,3,6,7,0,0,9\n1,1,3,3,7,7,1,0,9\n");
    check_json(answer, 0, "plot", "run.2.csv", "--json");
    const json_t *columns = json_object_get(answer, "columns");
    check_int(json_array_size(columns), 6);
    for (size_t i = 0; i < 6; i++)
        check(strcmp(json_string_value(json_array_get(columns, i)), wanted[i]) == 0);
    json_decref(answer);
}

/* Without energies: all columns, but no more than twelve. */
static void plots_of_many_columns_are_limited(void **state) {
    (void)state;
    FILE *f = fopen(work("wide.csv"), "w");
    for (int row = 0; row < 1000; row++)
        for (int column = 0; column < 30; column++)
            fprintf(f, row ? "%d%s" : "c%d%s", row ? row * column : column, column < 29 ? "," : "\n");
    fclose(f);
    json_t *answer;
    check_json(answer, 0, "plot", "wide.csv", "--json", "-o", "wide.svg");
    check_int(json_array_size(json_object_get(answer, "columns")), 12);
    check_int(number(answer, "points"), 999);
    json_decref(answer);
}

static void wrong_recordings(void **state) {
    (void)state;
    char *line = malloc(1 << 21);
    memset(line, 'x', 1 << 21);
    line[(1 << 21) - 1] = 0;
    test_write_text(work("long-line.csv"), line);
    free(line);
    mkdir(work("folder.csv"), 0700);
    test_write_text(work("good.csv"), "t,a,b\n0,1,2\n1,2,3\n");
    static const struct {
        const char *content, *part;
    } cases[] = {
        {"", "wrong.csv:1: the first line"},
        {"\nt,a\n", "wrong.csv:1: the first line"},
        {"1,2\n3,4\n", "it holds numbers"},
        {"t,a\n", "no row"},
        {"t\n1\n", "one column only"},
        {"t,a\n0,1\n1\n", "wrong.csv:3: there are 1 cells, but 2 columns"},
        {"t,a\n0,1\n1,2,3\n", "wrong.csv:3: there are 3 cells, but 2 columns"},
        {"t,a\n0,one\n", "wrong.csv:2: column \"a\": \"one\" is not a number"},
        {"t,a\n0,1 2\n", "\"1 2\" is not a number"},
        {"t,a\n0,1e999\n", "wrong.csv:2: column \"a\": 1e999 is too large"},
        {"t,a\n0,\"1\n", "wrong.csv:2: the quotes of column 2"},
        {"t,\"a\"b\n0,1\n", "wrong.csv:1: the quotes of column 2"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        test_write_text(work("wrong.csv"), cases[i].content);
        int before = file_count();
        check_mistake(1, cases[i].part, "plot", "wrong.csv");
        check_int(file_count(), before);
    }
    int before = file_count();
    check_mistake(1, "gone.csv: cannot be opened", "plot", "gone.csv");
    check_mistake(1, "folder.csv: cannot be read", "plot", "folder.csv");
    check_mistake(1, "longer than a megabyte", "plot", "long-line.csv");
    check_mistake(1, "no column \"c\"; the columns are t, a, b", "plot", "good.csv", "--columns", "a,c");
    check_mistake(1, "no column \"\"", "plot", "good.csv", "--columns", "");
    check_mistake(1, "no column \"time\"", "plot", "good.csv", "--x", "time");
    check_mistake(1, "no/where.svg", "plot", "good.csv", "-o", "no/where.svg");
    check_mistake(2, ".svg or .png", "plot", "good.csv", "-o", "a.pdf");
    check_mistake(2, "which recording", "plot");
    check_mistake(2, "one recording at a time", "plot", "good.csv", "wide.csv");
    check_int(file_count(), before);
}

/* A recording as bytes fall: no crash, one sentence or a plot. */
static void random_recordings(void **state) {
    (void)state;
    test_random r = {11};
    static const char letters[] = "0123456789,,,,\"\n\n.-+e ntax\t\r";
    for (int i = 0; i < 60; i++) {
        char content[400];
        size_t size = 20 + test_bits(&r) % 380, at = 0;
        memcpy(content, "t,a\n0,1\n", at = 8);
        for (; at < size; at++)
            content[at] = i % 4 == 3 ? (char)test_bits(&r) : letters[test_bits(&r) % (sizeof letters - 1)];
        test_write(work("random.csv"), content, size);
        int status = run(WORDS("plot", "random.csv"));
        check(status == 0 ? !err[0] : status == 1 && is_one_sentence());
    }
}

/* Figures of theory: backward Euler loses ln(1 + (h w)^2) / (h w). */
static void damping_is_that_of_theory(void **state) {
    (void)state;
    json_t *answer;
    check_json(answer, 0, "damping", "--json", "-o", "damping.svg", "--csv", "damping.csv");
    check_is_svg("damping.svg");
    const json_t *list = json_object_get(answer, "integrators");
    check_int(json_array_size(list), 7);
    const json_t *euler = json_array_get(list, 0), *alpha = json_array_get(list, 5);
    check(strcmp(text(euler, "name"), "backward-euler") == 0 && number(alpha, "rho") == 0.5);
    for (size_t i = 0; i < 10; i++) {
        double hw = item(answer, "hw", i);
        check_near(item(euler, "damping", i), log(1 + hw * hw) / hw, 1e-9);
    }
    json_decref(answer);
    check_json(answer, 0, "plot", "damping.csv", "--json", "--log-x", "--log-y"); /* what one writes the other reads */
    check_int(json_array_size(json_object_get(answer, "columns")), 7);
    json_decref(answer);
    check_run(0, "damping", "hht", "hht:-0.1", "generalised-alpha:1", "--alpha", "-0.2", "-o", "damping.png");
    const char *row = strstr(out, "\ngeneralised-alpha:1 ");
    check(strstr(out, "\nhht:-0.1 ") && row && strtod(row + 20, NULL) == 0);
    check_is_png("damping.png");
    check_run(0, "damping", "--rho", "0.3");
    check_int(line_count(out), 6);
    check_json(answer, 0, "integrators", "--json");
    size_t i;
    json_t *info; /* every method can be measured at every h w */
    json_array_foreach(json_object_get(answer, "integrators"), i, info) check_run(0, "damping", text(info, "name"));
    json_decref(answer);
}

static void wrong_integrators(void **state) {
    (void)state;
    check_mistake(1, "did you mean \"tr-bdf2\"?", "damping", "tr-bdf");
    check_mistake(1, "takes no parameter", "damping", "bdf2:0.5");
    check_mistake(1, "should be a number", "damping", "generalised-alpha:half");
    check_mistake(1, "rho is 2", "damping", "generalised-alpha:2");
    check_mistake(2, "--rho", "damping", "--rho", "1.5");
    check_mistake(2, "--alpha", "damping", "--alpha", "0.1");
    check_mistake(2, ".svg or .png", "damping", "-o", "a.gif");
    check_mistake(2, ".csv", "damping", "--csv", "a.txt");
    check_mistake(1, "no/where.csv", "damping", "--csv", "no/where.csv");
}

/* ---- mistakes ---- */

static void files_that_are_not_there_or_not_meshes(void **state) {
    (void)state;
    make_beam();
    check_run(0, "mesh", "convert", "beam.msh", "skin.obj");
    mkdir(work("folder.msh"), 0700);
    test_write_text(work("notes.txt"), "beam\n");
    test_write_text(work("empty.msh"), "");
    int before = file_count();
    static const char *const commands[] = {"modes", "static"};
    for (int i = 0; i < 2; i++) {
        check_mistake(1, "missing.msh", commands[i], "missing.msh");
        check_mistake(1, "missing.json", commands[i], "missing.json");
        check_mistake(1, "is a folder", commands[i], "folder.msh");
        check_mistake(1, "extension", commands[i], "notes.txt");
        check_mistake(1, "empty.msh", commands[i], "empty.msh");
        check_mistake(1, "fill it first", commands[i], "skin.obj");
        check_mistake(2, "one mesh or body file", commands[i], "beam.msh", "beam.msh");
    }
    check_mistake(1, "missing.msh", "mesh", "info", "missing.msh");
    check_mistake(1, "is a folder", "mesh", "info", "folder.msh");
    check_mistake(1, "extension", "mesh", "info", "notes.txt");
    check_mistake(1, "extension", "mesh", "convert", "beam.msh", "beam.step");
    check_mistake(1, "nowhere/beam.inp", "mesh", "convert", "beam.msh", "nowhere/beam.inp");
    check_mistake(1, "missing.msh", "mesh", "convert", "missing.msh", "no.inp");
    check_int(file_count(), before);
}

static void wrong_materials(void **state) {
    (void)state;
    make_beam();
    check_mistake(2, "did you mean \"neo-hookean\"?", "static", "beam.msh", "--fix", "x0", "--material", "neohookean");
    check_mistake(1, "Poisson's ratio is 0.5", "static", "beam.msh", "--fix", "x0", "--poisson", "0.5");
    check_mistake(1, "Young's modulus", "modes", "beam.msh", "--young", "-1");
    check_mistake(1, "ensity", "modes", "beam.msh", "--density", "0");
    check_mistake(2, "--young", "modes", "beam.msh", "--young", "soft");
    check_mistake(2, "--young", "modes", "beam.msh", "--young", "nan");
    check_mistake(2, "--mass", "modes", "beam.msh", "--mass", "heavy");
    check_mistake(2, "--damping", "modes", "beam.msh", "--damping", "1");
    check_mistake(2, "--threads", "modes", "beam.msh", "--threads", "0");
}

static void wrong_supports_and_loads(void **state) {
    (void)state;
    make_beam();
    int before = file_count();
    check_mistake(1, "fix more vertices", "static", "beam.msh", "-g", "0,0,-9.81", "-o", "no.vtu", "-p", "no.png");
    check_mistake(1, "contains no vertex", "static", "beam.msh", "--fix", "x>5", "-g", "0,0,-9.81", "-o", "no.vtu");
    check_mistake(1, "no set \"left\"", "static", "beam.msh", "--fix", "left");
    check_mistake(2, "axes x, y, z", "static", "beam.msh", "--fix", "xw@x0");
    check_mistake(2, "axes x, y, z", "static", "beam.msh", "--fix", "@x0");
    check_mistake(2, "X,Y,Z@SELECT", "static", "beam.msh", "--fix", "x0", "--force", "0,0,-1");
    check_mistake(2, "X,Y,Z@SELECT", "static", "beam.msh", "--fix", "x0", "--force", "0,-1@x1");
    check_mistake(1, "selection", "static", "beam.msh", "--fix", "x0", "--force", "0,0,-1@");
    check_mistake(2, "DX,DY,DZ@SELECT", "static", "beam.msh", "--fix", "x0", "--move", "0,0,1");
    check_mistake(2, "P@FACESET", "static", "beam.msh", "--fix", "x0", "--pressure", "1e5");
    check_mistake(1, "no face set \"top\"", "static", "beam.msh", "--fix", "x0", "--pressure", "1e5@top");
    check_mistake(2, "--gravity", "static", "beam.msh", "--fix", "x0", "--gravity", "-9.81");
    check_mistake(1, "no set \"tip\"", "static", "beam.msh", "--fix", "x0", "-g", "0,0,-1", "--probe", "tip", "-o",
                  "no.vtu");
    check_mistake(2, "--steps", "static", "beam.msh", "--fix", "x0", "--steps", "0");
    check_mistake(2, "--tolerance", "static", "beam.msh", "--fix", "x0", "--tolerance", "0");
    /* A wrong name of an output is told before the work, not after it. */
    check_mistake(2, ".vtu", "static", "beam.msh", "--fix", "x0", "-g", "0,0,-1", "-o", "no.xyz");
    check_mistake(2, ".png", "static", "beam.msh", "--fix", "x0", "-g", "0,0,-1", "-p", "no.jpg");
    check_mistake(2, ".vtu", "modes", "beam.msh", "-o", "no.vtk");
    check_mistake(2, ".png", "mesh", "info", "beam.msh", "-p", "no.jpg");
    check_int(file_count(), before);
    check_run(1, "static", "beam.msh", "--fix", "x0", "-o", "nowhere/no.vtu");
    check(is_one_sentence() && strstr(err, "nowhere/no.vtu"));
}

static void wrong_body_files(void **state) {
    (void)state;
    make_beam();
    test_write_text(work("wrong.json"), "{\"bough\": 1, \"mesh\": \"beam.msh\", \"materal\": {}}");
    check_mistake(1, "unknown key \"materal\"; did you mean \"material\"?", "static", "wrong.json");
    test_write_text(work("wrong.json"), "{\"bough\": 1, \"mesh\": \"beam.msh\",}");
    check_mistake(1, "wrong.json:1:", "modes", "wrong.json");
    test_write_text(work("wrong.json"), "{\"bough\": 1, \"mesh\": \"gone.msh\"}");
    check_mistake(1, "gone.msh", "modes", "wrong.json");
    test_write_text(work("wrong.json"), "{\"bough\": 1, \"mesh\": \"beam.msh\"}");
    check_mistake(2, "brings its own material", "modes", "wrong.json", "--young", "1e6");
}

/* Names that JSON cannot hold still give a valid answer. */
static void names_that_are_not_utf8(void **state) {
    (void)state;
    write_tets("caf\xe9.veg", "2 3 4 5", "ENU, 1000, 1e6, 0.4");
    json_t *info;
    check_json(info, 0, "mesh", "info", "caf\xe9.veg", "--json");
    check(strcmp(text(info, "file"), "caf?.veg") == 0);
    json_decref(info);
}

static void a_full_disk_is_no_success(void **state) {
    (void)state;
    if (access("/dev/full", W_OK) != 0)
        test_skip("there is no /dev/full");
    run(WORDS("--version"));
    int status;
    pid_t child = start_with_output(WORDS("materials"), "/dev/full");
    check(waitpid(child, &status, 0) == child && WIFEXITED(status));
    check_int(WEXITSTATUS(status), 1);
    slurp(test_path("stderr"), err, sizeof err);
    check(is_one_sentence() && strstr(err, "standard output"));
}

/* ---- Ctrl-C ---- */

/* The time until the first load steps are done depends on the machine: tries again with more patience. */
static void an_interrupted_benchmark_is_no_result(void **state) {
    (void)state;
    int status = -SIGINT; /* before the program was ready */
    for (long milliseconds = 100; milliseconds < 20000 && status == -SIGINT; milliseconds *= 2) {
        pid_t child = start_with_output(WORDS("bench", "accuracy", "--json"), test_path("stdout"));
        nanosleep(&(struct timespec){milliseconds / 1000, milliseconds % 1000 * 1000000}, NULL);
        check_int(kill(child, SIGINT), 0);
        status = finish(child);
    }
    check_int(status, 1);
    check(!out[0] && strcmp(err, "bough: interrupted; the figures are not complete\n") == 0);
}

/* Whatever it is at: ordering, factorising, solving. All of it takes a minute or so; it should end in 2 s, and a busy
 * machine gets 20. */
static void a_long_search_for_modes_can_be_interrupted(void **state) {
    (void)state;
    if (!test_long())
        test_skip("takes minutes: ./bough test --long");
    check_run(0, "mesh", "generate", "box", "--size", "1,1,3", "--cells", "20,20,60", "--type", "hex8", "-o",
              "large.msh"); /* 80,703 unknowns */
    static const double moments[] = {1, 2, 4, 8, 12};
    for (size_t i = 0; i < sizeof moments / sizeof *moments; i++) {
        pid_t child =
            start_with_output(WORDS("modes", "large.msh", "--fix", "z0", "-n", "200", "-t", "1"), test_path("stdout"));
        nanosleep(&(struct timespec){(time_t)moments[i], (long)(1e9 * (moments[i] - floor(moments[i])))}, NULL);
        check_int(kill(child, SIGINT), 0);
        int status;
        pid_t ended = 0;
        for (int tries = 0; tries < 1000 && ended == 0; tries++) {
            ended = waitpid(child, &status, WNOHANG);
            nanosleep(&(struct timespec){0, 20000000}, NULL);
        }
        if (ended != child) {
            kill(child, SIGKILL);
            fail_msg("interrupted after %g s, it went on for 20 s", moments[i]);
        }
        slurp(test_path("stderr"), err, sizeof err);
        drop_progress();
        if (WIFSIGNALED(status) && WTERMSIG(status) == SIGINT)
            continue; /* before the program was ready */
        check(WIFEXITED(status) && WEXITSTATUS(status) == 1);
        check(strcmp(err, "bough: cancelled\n") == 0);
    }
}

static void interrupts_keep_what_was_done(void **state) {
    (void)state;
    make_beam();
    int status = 0;
    for (long milliseconds = 60; milliseconds < 20000; milliseconds *= 3) {
        pid_t child = start_with_output(WORDS("static", "beam.msh", STIFF, "-t", "1", "-g", "0,0,-9.81", "--steps",
                                              "9000", "--tolerance", "1e-5", "--json", "-o", "part.vtu"),
                                        test_path("stdout"));
        struct timespec pause = {milliseconds / 1000, milliseconds % 1000 * 1000000};
        nanosleep(&pause, NULL);
        check_int(kill(child, SIGINT), 0);
        status = finish(child);
        if (out[0] && !strstr(out, "\"load_steps\": 0,"))
            break;
        check(status == 1 || status == -SIGINT); /* before the first step, or before the program was ready */
    }
    check_int(status, 1);
    check(strcmp(err, "bough: cancelled\n") == 0);
    json_t *report = json_loads(out, 0, NULL);
    check(json_is_object(report));
    check(!truth(report, "converged"));
    check(number(report, "load_steps") >= 1);
    check_near(number(report, "load_fraction"), number(report, "load_steps") / 9000, 1e-9);
    check(number(report, "max_displacement") > 0);
    json_decref(report);
    check_is_vtu("part.vtu");
}

/* ---- runs ---- */

#define PENDULUM BOUGH_SOURCE_DIR "/examples/pendulum/scene.json"

static void runs_report_and_record(void **state) {
    (void)state;
    json_t *report;
    check_json(report, 0, "run", PENDULUM, "--json", "-t", "1", "--time", "0.1", "--record", "run.csv", "--record",
               "run.npy", "--stress", "run_stress.csv", "--frames", "run_frames", "--fps", "100", "--checkpoint",
               "run.state", "--picture", "run.png");
    check(truth(report, "done"));
    check_int(number(report, "steps"), 20);
    check_int(number(report, "rows"), 21);
    check_int(number(report, "frames"), 11);
    check_int(number(report, "displacement_rows"), 11);
    check_int(number(report, "stress_rows"), 11);
    check_near(number(report, "time"), 0.1, 1e-15);
    check(strcmp(text(report, "integrator"), "generalised-alpha") == 0);
    double total = item(report, "energy", 3);
    check_near(number(json_object_get(report, "values"), "total"), total, 0);
    check_near(item(report, "energy", 0) + item(report, "energy", 1) + item(report, "energy", 2), total, 1e-12);
    json_decref(report);
    check_begins("run.csv", "time,elastic,", 13, 2000);
    check_begins("run.npy", "\x93NUMPY", 6, 2000);
    check_begins("run_stress.csv", "time,0,1,2,", 11, 1000);
    check_is_vtu("run_frames/frame_000010.vtu");
    check_is_vtu("run_frames/frames.pvd");
    check_is_png("run.png");
    check_json(report, 0, "run", PENDULUM, "--json", "--time", "0.2", "--record", "run.csv", "--resume", "run.state");
    check_int(number(report, "steps"), 40);
    check_int(number(report, "rows"), 20);
    json_decref(report);
    check_run(0, "run", PENDULUM, "-i", "bdf2", "--dt", "0.01", "--time", "0.05");
    check(strstr(out, "done at t = 0.05 s after 5 of 5 steps of 0.01 s by bdf2") && strstr(out, "tip.ux"));
}

static void wrong_runs(void **state) {
    (void)state;
    check_mistake(2, "name a scene file", "run");
    check_mistake(2, "bough integrators lists them", "run", PENDULUM, "--integrator", "eulr");
    check_mistake(2, "positive", "run", PENDULUM, "--dt", "0");
    check_mistake(2, "should end in .csv (energies", "run", PENDULUM, "--record", "run.txt");
    check_mistake(2, ".csv or .npy", "run", PENDULUM, "--stress", "run.txt");
    check_mistake(1, "gone.json", "run", "gone.json");
    check_mistake(1, "gone.state", "run", PENDULUM, "--resume", "gone.state");
    test_write_text(work("junk.state"), "junk");
    check_mistake(1, "junk.state: is not a checkpoint", "run", PENDULUM, "--resume", "junk.state");
    test_write_text(work("wrong.json"), "{\"bough\": 1, \"mesh\": {\"generate\": \"box\", \"size\": [1, 1, 1]}}");
    check_mistake(1, "how long", "run", "wrong.json");
}

static void failing_runs_keep_the_last_good_state(void **state) {
    (void)state;
    test_write_text(
        work("hit.json"),
        "{\"bough\": 1, \"mesh\": {\"generate\": \"box\", \"type\": \"hex8\", \"size\": [1, 1, 1]},"
        "\"material\": {\"model\": \"neo-hookean\"}, \"fix\": \"x0\", \"initial\": {\"velocity\": [-1e9, 0, 0]},"
        "\"time\": {\"integrator\": \"symplectic-euler\", \"dt\": 0.01, \"duration\": 1}}");
    check_run(1, "run", "hit.json", "--checkpoint", "hit.state", "--record", "hit.csv");
    check(strstr(err, "bough: warning: at t = 0 s a step of 0.01 s failed (") != NULL);
    check(strstr(err, "even a step of 9.7656") && strstr(err, "; the last good state is in hit.state\n"));
    check(strstr(out, "stopped at t = 0 s after 0 of 100 steps") != NULL);
    check(exists("hit.state"));
    check_run(1, "run", "hit.json");
    check(strstr(err, "; the last good state is in hit.failed.state\n") && exists("hit.failed.state"));
}

/* An explicit method whose stable step is shorter than the smallest part that a run tries: it blows up, and that is no
 * success.
 */
static void runs_that_make_energy_fail(void **state) {
    (void)state;
    json_t *report;
    test_write_text(work("gain.json"),
                    "{\"bough\": 1, \"mesh\": {\"generate\": \"box\", \"type\": \"hex8\", \"size\": [1, 0.25, 0.25], "
                    "\"cells\": [4, 1, 1]}, \"material\": {\"model\": \"linear\", \"young\": 3e12}, \"fix\": \"x0\", "
                    "\"gravity\": [0, 0, -5], \"time\": {\"integrator\": \"central-differences\", \"dt\": 0.01, "
                    "\"duration\": 0.02}}");
    check_run(1, "run", "gain.json", "--record", "gain.csv");
    check(strstr(err, "J more than the start and the work done account for") != NULL);
    check(strstr(err,
                 "; take a smaller time step or another integrator, or allow more than 5 % with an energy tolerance; "
                 "the last good state is in gain.failed.state\n") != NULL);
    check(strncmp(out, "stopped at t = ", 15) == 0 && strstr(out, "\n  work done ") && strstr(out, "\n  balance "));
    static char csv[1 << 16];
    slurp(work("gain.csv"), csv, sizeof csv);
    check(strstr(csv, ",angular_momentum.z,work,balance\n") != NULL);
    check_json(report, 1, "run", "gain.json", "--json");
    check(!truth(report, "done"));
    check_near(number(report, "work"), 0, 0);
    check_near(number(report, "balance"), item(report, "energy", 3) - item(report, "start_energy", 3), 1e-12);
    json_decref(report);
    check_run(0, "run", "gain.json", "--energy-tolerance", "0", "--dt", "1e-5", "--time", "1e-4");
    check_mistake(2, "--energy-tolerance", "run", "gain.json", "--energy-tolerance", "-1");
    check_mistake(2, "positive", "run", "gain.json", "--every", "0");
}

/* Ctrl-C ends the run with complete recordings. */
static void interrupted_runs_keep_their_recordings(void **state) {
    (void)state;
    int status = 0;
    for (long milliseconds = 60; milliseconds < 20000; milliseconds *= 3) {
        pid_t child = start_with_output(WORDS("run", PENDULUM, "-t", "1", "--json", "--dt", "1e-4", "--time", "1000",
                                              "--record", "cut.csv", "--checkpoint", "cut.state"),
                                        test_path("stdout"));
        struct timespec pause = {milliseconds / 1000, milliseconds % 1000 * 1000000};
        nanosleep(&pause, NULL);
        check_int(kill(child, SIGINT), 0);
        status = finish(child);
        if (out[0])
            break;
        check(status == 1 || status == -SIGINT);
    }
    check_int(status, 1);
    check(strncmp(err, "bough: interrupted at t = ", 26) == 0 && line_count(err) == 1);
    json_t *report = json_loads(out, 0, NULL);
    check(json_is_object(report));
    check(!truth(report, "done"));
    static char csv[1 << 22];
    slurp(work("cut.csv"), csv, sizeof csv);
    check_int(line_count(csv), number(report, "rows") + 1);
    check_int(number(report, "rows"), number(report, "steps") + 1);
    check(csv[strlen(csv) - 1] == '\n');
    json_decref(report);
    check(exists("cut.state"));
}

static void integrators_are_compared(void **state) {
    (void)state;
    json_t *answer;
    const char *scene = BOUGH_SOURCE_DIR "/examples/pendulum/scene.json";
    check_json(answer, 0, "compare-integrators", scene, "midpoint", "backward-euler", "--time", "0.1", "--json", "-o",
               "e.svg");
    const json_t *rows = json_object_get(answer, "integrators");
    check_int(json_array_size(rows), 2);
    check(number(json_array_get(rows, 0), "energy_change") > number(json_array_get(rows, 1), "energy_change"));
    check(access(work("e.svg"), R_OK) == 0);
    json_decref(answer);
    check_run(2, "compare-integrators", scene, "trbdf2");
    check(strstr(err, "bough integrators lists them") != NULL);
    check_run(2, "compare-integrators");
    check_mistake(1, "nowhere.json", "compare-integrators", "nowhere.json");
}

/* The same mesh, load and material in CalculiX: large deflections and twenty frequencies agree. Minutes, so only in the
 * long run. */
static void calculix_agrees(void **state) {
    (void)state;
    if (!test_long() || access("/usr/bin/ccx", X_OK) != 0)
        test_skip("takes minutes and needs CalculiX: ./bough test --long");
    json_t *answer;
    check_json(answer, 0, "bench", "static", "--json");
    check(json_real_value(json_object_get(answer, "calculix_cpu_seconds")) > 0);
    check_below(json_real_value(json_object_get(answer, "difference")), 1e-5);
    json_decref(answer);
    check_json(answer, 0, "bench", "modes", "--json");
    static const char *const elements[] = {"tet4", "tet10"};
    for (int i = 0; i < 2; i++) {
        const json_t *row = json_object_get(answer, elements[i]);
        check(json_real_value(json_object_get(row, "calculix_cpu_seconds")) > 0);
        check_below(json_real_value(json_object_get(row, "largest_difference")), 1e-5);
    }
    json_decref(answer);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(calculix_agrees),
        cmocka_unit_test(integrators_are_compared),
        cmocka_unit_test(help_is_there),
        cmocka_unit_test(wrong_usage_is_status_2),
        cmocka_unit_test(boxes_have_what_was_asked_for),
        cmocka_unit_test(rods_and_voxels_have_their_volume),
        cmocka_unit_test(conversion_keeps_sets),
        cmocka_unit_test(meshes_of_all_kinds_have_pictures),
        cmocka_unit_test(what_a_conversion_loses_is_said),
        cmocka_unit_test(embeddings_are_written_or_refused),
        cmocka_unit_test(json_says_when_nothing_converged),
        cmocka_unit_test(inverted_elements_are_found_and_mended),
        cmocka_unit_test(modes_are_those_of_a_beam),
        cmocka_unit_test(a_cantilever_sags_as_theory_says),
        cmocka_unit_test(warnings_leave_stdout_alone),
        cmocka_unit_test(small_commands_answer_in_json),
        cmocka_unit_test(the_demo_makes_its_files),
        cmocka_unit_test(plots_show_the_columns_asked_for),
        cmocka_unit_test(plots_of_runs_show_energies_work_and_balance),
        cmocka_unit_test(plots_of_many_columns_are_limited),
        cmocka_unit_test(wrong_recordings),
        cmocka_unit_test(random_recordings),
        cmocka_unit_test(damping_is_that_of_theory),
        cmocka_unit_test(wrong_integrators),
        cmocka_unit_test(files_that_are_not_there_or_not_meshes),
        cmocka_unit_test(wrong_materials),
        cmocka_unit_test(wrong_supports_and_loads),
        cmocka_unit_test(wrong_body_files),
        cmocka_unit_test(names_that_are_not_utf8),
        cmocka_unit_test(a_full_disk_is_no_success),
        cmocka_unit_test(an_interrupted_benchmark_is_no_result),
        cmocka_unit_test(a_long_search_for_modes_can_be_interrupted),
        cmocka_unit_test(interrupts_keep_what_was_done),
        cmocka_unit_test(runs_report_and_record),
        cmocka_unit_test(wrong_runs),
        cmocka_unit_test(failing_runs_keep_the_last_good_state),
        cmocka_unit_test(runs_that_make_energy_fail),
        cmocka_unit_test(interrupted_runs_keep_their_recordings),
    };
    return cmocka_run_group_tests(tests, prepare, NULL);
}
