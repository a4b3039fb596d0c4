/* Pictures, films and recordings as users of the program make them: they show what the engines compute. */
#include "program.h"

#include "record/glb_reader.h"
#include "record/npz_reader.h"
#include "record/png_reader.h"

#include <bough/record.h>
#include <bough/run.h>

/* Two halves of a bar; the second comes off after 0.05 s and is gone after 0.15 s. */
#define CHAIN(more)                                                                                               \
    "{\"bough\": 1, \"object\": {\"mesh\": {\"generate\": \"box\", \"type\": \"hex8\", \"size\": [1, 0.1, 0.1], " \
    "\"cells\": [10, 1, 1]}, \"sets\": {\"a\": {\"elements\": \"x<0.51\"}, \"b\": {\"elements\": \"x>0.49\"}}, "  \
    "\"material\": {\"young\": 4e6}, \"fix\": \"x0\", \"basis\": {\"r\": 10}}, \"gravity\": [0, 0, -9], "         \
    "\"time\": {\"dt\": 0.01, \"duration\": 0.2}, "                                                               \
    "\"probes\": [{\"name\": \"the tip\", \"part\": \"b\", \"nearest\": [1, 0, 0]}]" more "}"

static int prepare(void **state) {
    (void)state;
    setenv("OPENBLAS_NUM_THREADS", "1", 0);
    unsetenv("ARGP_HELP_FMT");
    mkdir(work(""), 0700);
    test_write_text(work("chain.json"), CHAIN(""));
    test_write_text(work("cut.json"), CHAIN(", \"events\": [{\"time\": 0.05, \"detach\": \"b\"}, {\"time\": 0.15, "
                                            "\"remove\": \"b\"}]"));
    return 0;
}

/* A run of a scene to a time, as the program makes it. */
typedef struct {
    bough_context *ctx;
    bough_scene *scene;
    bough_run *run;
    const bough_tree_model *model;
    const bough_tree_state *state;
    float *surface; /* of bough_tree_state_surface() */
} stepped;

static stepped step_to(const char *name, double time, const char *continuity) {
    stepped s = {.ctx = test_context(1)};
    bough_run_def def = bough_default_run_def();
    def.duration = time > 0 ? time : 1, def.continuity = continuity;
    check_ok(s.ctx, bough_scene_load(s.ctx, work(name), &s.scene));
    check_ok(s.ctx, bough_run_create(s.ctx, s.scene, &def, &s.run));
    if (time > 0)
        check_ok(s.ctx, bough_run_advance(s.ctx, s.run));
    if (bough_run_model(s.run, &s.model, &s.state)) {
        s.surface = malloc(3 * (size_t)bough_tree_model_vertex_count(s.model) * sizeof *s.surface);
        check_ok(s.ctx, bough_tree_state_surface(s.ctx, s.model, s.state, s.surface, NULL));
    }
    return s;
}

static void stop(stepped *s) {
    free(s->surface);
    bough_run_destroy(s->ctx, s->run);
    bough_scene_destroy(s->ctx, s->scene);
    bough_context_destroy(s->ctx);
}

/* ---- pictures ---- */

/* Bodies are colourful here, ground and shadows are grey. */
static int find_colourful(const uint8_t *pixels, int count, bool *seen) {
    int found = 0;
    for (int i = 0; i < count; i++) {
        const uint8_t *p = pixels + 4 * i;
        const int most = p[0] > p[1] ? (p[0] > p[2] ? p[0] : p[2]) : p[1] > p[2] ? p[1] : p[2];
        const int least = p[0] < p[1] ? (p[0] < p[2] ? p[0] : p[2]) : p[1] < p[2] ? p[1] : p[2];
        found += seen[i] = 4 * (most - least) > most;
    }
    return found;
}

enum { WIDTH = 320, HEIGHT = 180, PIXELS = WIDTH * HEIGHT };

/* The surface in one colour, without a ground, from the camera of the test below. */
static int draw_surface(const stepped *s, bool *seen) {
    bough_picture_def def = bough_default_picture_def();
    def.width = WIDTH, def.height = HEIGHT, def.ground = false, def.field_of_view = M_PI / 6;
    memcpy(def.eye, (double[]){1.5, -2, 0.4}, sizeof def.eye);
    memcpy(def.target, (double[]){0.5, 0, -0.1}, sizeof def.target);
    for (int c = 0; c < 3; c++)
        def.background_top[c] = def.background_bottom[c] = 1;
    const int32_t vertices = bough_tree_model_vertex_count(s->model),
                  triangles = bough_tree_model_triangle_count(s->model);
    double *x = malloc(3 * (size_t)vertices * sizeof *x);
    int32_t *t = malloc(3 * (size_t)triangles * sizeof *t);
    for (int32_t i = 0; i < 3 * vertices; i++)
        x[i] = (double)s->surface[i];
    bough_tree_model_triangles(s->model, t);
    bough_surface_style style = bough_default_surface_style();
    memcpy(style.colour, (float[]){0.9f, 0.3f, 0.3f}, sizeof style.colour);
    bough_picture *picture;
    check_ok(s->ctx, bough_picture_create(s->ctx, &def, &picture));
    check_ok(s->ctx, bough_picture_add_surface(s->ctx, picture, x, vertices, t, triangles, &style));
    check_ok(s->ctx, bough_picture_render(s->ctx, picture));
    const int count = find_colourful(bough_picture_pixels(picture), PIXELS, seen);
    bough_picture_destroy(s->ctx, picture);
    free(x);
    free(t);
    return count;
}

/* Drawn by the test from bough_tree_state_surface(), with the same camera: the same silhouette. */
static void a_picture_shows_the_surface_at_its_time(void **state) {
    (void)state;
    static bool seen[PIXELS], expected[PIXELS], rest[PIXELS];
    static uint8_t canvas[4 * PIXELS];
    for (int late = 0; late < 2; late++) {
        json_t *answer;
        check_json(answer, 0, "picture", "chain.json", "--time", late ? "0.2" : "0", "--size", "320x180", "-o", "p.png",
                   "--background", "white", "--camera", "1.5,-2,0.4", "--look", "0.5,0,-0.1", "--fov", "30", "--colour",
                   "part", "--json");
        check_near(number(answer, "time"), late ? 0.2 : 0, 1e-12);
        json_decref(answer);
        png_file file = read_png(work("p.png"));
        check_int(file.width, WIDTH);
        check_int(file.height, HEIGHT);
        png_draw_frame(&file, 0, canvas);
        free_png(&file);
        stepped s = step_to("chain.json", late ? 0.2 : 0, "C1");
        const int drawn = draw_surface(&s, expected);
        stop(&s);
        int differ = 0, moved = 0;
        find_colourful(canvas, PIXELS, seen);
        for (int i = 0; i < PIXELS; i++) {
            differ += seen[i] != expected[i], moved += seen[i] != rest[i];
            rest[i] = seen[i];
        }
        if (drawn < 2000 || differ > drawn / 25 || moved < drawn / 8)
            fail_msg("%d of %d pixels differ, %d moved", differ, drawn, moved);
    }
}

/* Without options all of it is seen, whatever its size and place, and fills a good part of the picture. */
static void the_camera_finds_the_scene(void **state) {
    (void)state;
    static uint8_t canvas[4 * PIXELS];
    static bool seen[PIXELS];
    static const char *const kinds[] = {"part", "stress", "displacement", "component"};
    for (int k = 0; k < 4; k++) {
        check_run(0, "picture", "chain.json", "--time", "0.1", "--size", "320x180", "-o", "c.png", "--colour", kinds[k],
                  "--background",
                  k == 0   ? "white"
                  : k == 1 ? "dark"
                  : k == 2 ? "paper"
                           : "meadow");
        png_file file = read_png(work("c.png"));
        png_draw_frame(&file, 0, canvas);
        free_png(&file);
        if (k > 0)
            continue;
        check(find_colourful(canvas, PIXELS, seen) > PIXELS / 50);
        int border = 0;
        for (int x = 0; x < WIDTH; x++)
            border += seen[x] + seen[PIXELS - 1 - x];
        for (int y = 0; y < HEIGHT; y++)
            border += seen[WIDTH * y] + seen[WIDTH * y + WIDTH - 1];
        check_int(border, 0);
    }
}

/* The half called a in red, the other one in blue. */
/* A scene in which all is blue but what one pattern matches, which is red. */
static void check_painted(const char *scene, const char *red_ones) {
    static uint8_t canvas[4 * PIXELS];
    check_run(0, "picture", scene, "--size", "320x180", "-o", "paint.png", "--paint", "*=0000ff", "--paint", red_ones,
              "--background", "white");
    png_file file = read_png(work("paint.png"));
    png_draw_frame(&file, 0, canvas);
    free_png(&file);
    int red = 0, blue = 0;
    for (int i = 0; i < PIXELS; i++) {
        red += canvas[4 * i] > canvas[4 * i + 2] + 80;
        blue += canvas[4 * i + 2] > canvas[4 * i] + 80;
    }
    check(red > 500 && blue > 500 && red < 3 * blue && blue < 3 * red);
}

static void components_and_links_are_painted(void **state) {
    (void)state;
    check_painted("chain.json", "a=ff0000");
    test_write_text(work("helix.json"), "{\"bough\": 1, \"generate\": {\"helix\": {\"links\": 9}}}");
    check_painted("helix.json", "link[1-5]=ff0000");
}

/* ---- films ---- */

static void a_movie_has_a_picture_for_each_moment(void **state) {
    (void)state;
    json_t *answer;
    check_json(answer, 0, "movie", "chain.json", "-o", "m.png", "--fps", "20", "--size", "160x90", "--json");
    check_int(number(answer, "frames"), 5); /* 0, 0.05 .. 0.2 s */
    json_decref(answer);
    png_file file = read_png(work("m.png"));
    check_int(file.frame_count, 5);
    check_int(file.width, 160);
    check_near((double)file.frames[1].delay_num / file.frames[1].delay_den, 0.05, 1e-3);
    free_png(&file);
    check_json(answer, 0, "movie", "chain.json", "-o", "m.png", "--fps", "20", "--speed", "0.5", "--from", "0.1",
               "--size", "160x90", "--json");
    check_int(number(answer, "frames"), 5); /* 0.1, 0.125 .. 0.2 s, as near as steps of 0.01 s come */
    check_near(number(answer, "from"), 0.1, 1e-9);
    json_decref(answer);
}

/* Without a ground and a support, all of it falls alike and keeps its shape. */
static void a_camera_that_follows_sees_what_falls_stand_still(void **state) {
    (void)state;
    test_write_text(
        work("falls.json"),
        "{\"bough\": 1, \"components\": {\"stick\": {\"mesh\": {\"generate\": \"box\", \"type\": \"hex8\", "
        "\"size\": [1, 0.1, 0.1], \"cells\": [10, 1, 1]}, \"material\": {\"young\": 4e6}, \"basis\": {\"r\": "
        "8}}}, \"parts\": [{\"name\": \"stick\", \"component\": \"stick\", \"velocity\": [1, 0, 0]}], "
        "\"gravity\": [0, 0, -9], \"time\": {\"dt\": 0.01, \"duration\": 0.2}}");
    for (int follows = 0; follows < 2; follows++) {
        check_run(0, "movie", "falls.json", "-o", "falls.png", "--fps", "10", "--size", "160x90",
                  follows ? "--follow" : "--speed=1");
        png_file file = read_png(work("falls.png"));
        check_int(file.frame_count, 3);
        for (int i = 1; i < 3; i++) /* of a frame the rectangle is kept in which something changed */
            check(follows == (file.frames[i].width * file.frames[i].height < 10));
        free_png(&file);
    }
}

static bool has_ffmpeg(void) {
    return system("command -v ffmpeg >/dev/null 2>&1") == 0;
}

static void films_are_encoded_by_ffmpeg(void **state) {
    (void)state;
    if (!has_ffmpeg())
        test_skip("ffmpeg is not installed: ./bough setup tools");
    /* sizes that are not even are filled up; the marks of WebM and MP4 */
    check_run(0, "movie", "chain.json", "-o", "m.webm", "--size", "161x91", "--fps", "20");
    check_begins("m.webm", "\x1a\x45\xdf\xa3", 4, 500);
    check_run(0, "run", "chain.json", "--record", "m.mp4", "--record", "again.png");
    check_begins("m.mp4",
                 "\0\0\0\x20"
                 "ftyp",
                 8, 500);
    check_is_png("again.png");
    check_mistake(1, "nowhere/m.mp4: cannot be written", "movie", "chain.json", "-o", "nowhere/m.mp4");
}

static void without_ffmpeg_a_sentence_says_so(void **state) {
    (void)state;
    char *path = strdup(getenv("PATH"));
    setenv("PATH", "/nonexistent", 1);
    const int before = file_count();
    check_mistake(1, "the program ffmpeg, which is not installed", "movie", "chain.json", "-o", "none.webm");
    check_mistake(1, "or name a .png file", "run", "chain.json", "--record", "none.mp4");
    check_int(file_count(), before); /* nothing is left behind */
    setenv("PATH", path, 1);
    free(path);
}

static void interrupted_it_keeps_the_film(void **state) {
    (void)state;
    pid_t child = start_with_output(
        WORDS("movie", "chain.json", "--time", "10000", "-o", "long.png", "--size", "64x36"), test_path("stdout"));
    wait_for_file("", "long.png", 2000);
    check_int(kill(child, SIGINT), 0);
    check_int(finish(child), 1);
    check(strstr(err, "bough: interrupted at t = ") && strstr(err, "which are kept"));
    check_is_png("long.png");
}

/* ---- recordings ---- */

/* Key frames of the file against the engine: within 1e-4 of the size. */
static void check_film(const glb_file *file, const stepped *s, double time) {
    const bough_tree_model_def *def = bough_tree_model_describe(s->model);
    const bough_part_def *parts = bough_tree_state_parts(s->model, s->state);
    for (int32_t p = 0; p < def->part_count; p++) {
        const int32_t count = def->components[def->parts[p].component]->surface.vertex_count;
        const float *x = s->surface + 3 * (size_t)bough_tree_model_first_vertex(s->model, p);
        check_near(animated(file, (size_t)p + 1, "scale", time, 0, 3), parts[p].absent ? 0 : 1, 1e-9);
        for (int32_t v = 0; v < count && !parts[p].absent; v++, x += 3)
            check_below(bo_norm(bo_sub(shown(file, (size_t)p + 1, (size_t)v, time),
                                       bo_v3((double)x[0], (double)x[2], -(double)x[1]))),
                        1e-4 * 1.1);
    }
}

static void a_film_for_browsers_is_the_motion(void **state) {
    (void)state;
    check_run(0, "run", "cut.json", "--record", "cut.glb", "--fps", "50");
    glb_file file = read_glb(work("cut.glb"));
    check_accessors(&file);
    for (int f = 0; f <= 10; f++) {
        stepped s = step_to("cut.json", 0.02 * f, "none");
        check_film(&file, &s, 0.02 * f);
        stop(&s);
    }
    close_glb(&file);
}

/* Node c + 1 has the parts of component c one after the other; in this scene each has one. */
static void baked_films_have_the_joined_surface(void **state) {
    (void)state;
    check_run(0, "run", "chain.json", "--record", "baked.glb", "--fps", "50", "--baked", "--continuity", "C1");
    glb_file file = read_glb(work("baked.glb"));
    check_accessors(&file);
    for (int f = 0; f <= 10; f += 5) {
        stepped s = step_to("chain.json", 0.02 * f, "C1");
        const bough_tree_model_def *def = bough_tree_model_describe(s.model);
        for (int32_t p = 0; p < def->part_count; p++) {
            const float *x = s.surface + 3 * (size_t)bough_tree_model_first_vertex(s.model, p);
            const int32_t count = def->components[def->parts[p].component]->surface.vertex_count;
            for (int32_t v = 0; v < count; v++, x += 3)
                check_below(bo_norm(bo_sub(shown(&file, (size_t)def->parts[p].component + 1, (size_t)v, 0.02 * f),
                                           bo_v3((double)x[0], (double)x[2], -(double)x[1]))),
                            5e-7);
        }
        stop(&s);
    }
    close_glb(&file);
}

static void arrays_have_all_of_a_run(void **state) {
    (void)state;
    check_run(0, "run", "cut.json", "--record", "cut.npz", "--fps", "50");
    npz_file file = read_npz(work("cut.npz"));
    npz_array time = find_array(&file, "time"), columns = find_array(&file, "columns"), q = find_array(&file, "q"),
              origin = find_array(&file, "origin"), rotation = find_array(&file, "rotation"),
              present = find_array(&file, "present"), names = find_array(&file, "part_names"),
              of = find_array(&file, "part_component"), first = find_array(&file, "part_q"),
              column_names = find_array(&file, "column_names"), components = find_array(&file, "component_names");
    check_int(time.shape[0], 11);
    check(!strcmp(text_at(&names, 0), "a") && !strcmp(text_at(&names, 1), "b"));
    for (size_t f = 0; f <= 10; f++) {
        stepped s = step_to("cut.json", 0.02 * (double)f, "none");
        const size_t size = (size_t)bough_tree_model_size(s.model), width = (size_t)bough_run_column_count(s.run);
        check_near(number_at(&time, f), 0.02 * (double)f, 1e-12);
        check(q.shape[1] == size && columns.shape[1] == width && origin.shape[1] == 2 && rotation.shape[3] == 3);
        for (size_t i = 0; i < size; i++)
            check(number_at(&q, f * size + i) == s.state->q[i]);
        for (size_t c = 0; c < width; c++) {
            const double now = number_at(&columns, f * width + c), then = bough_run_values(s.run)[c];
            check(now == then || (isnan(now) && isnan(then)));
            check(!strcmp(text_at(&column_names, c), bough_run_column_name(s.run, (int32_t)c)));
        }
        for (size_t p = 0; p < 2; p++) {
            for (size_t d = 0; d < 3; d++)
                check(number_at(&origin, (2 * f + p) * 3 + d) == s.state->frames[p].pose.position[d]);
            for (size_t d = 0; d < 9; d++)
                check(number_at(&rotation, (2 * f + p) * 9 + d) == s.state->frames[p].pose.rotation[d]);
            check_int(number_at(&present, 2 * f + p), !bough_tree_state_parts(s.model, s.state)[p].absent);
            check_int(number_at(&first, p), bough_tree_model_offset(s.model, (int32_t)p));
            check_int(number_at(&of, p), bough_tree_model_describe(s.model)->parts[p].component);
        }
        stop(&s);
    }
    check(components.count == 2 && number_at(&present, 21) == 0 && number_at(&present, 1) == 1);
    close_npz(&file);
}

static void surfaces_are_written_frame_by_frame(void **state) {
    (void)state;
    check_run(0, "run", "chain.json", "--record", "surfaces/chain.obj", "--fps", "10", "--continuity", "C0");
    check(exists("surfaces/chain_000000.obj") && exists("surfaces/chain_000002.obj") &&
          !exists("surfaces/chain_000003.obj"));
    stepped s = step_to("chain.json", 0.2, "C0");
    bough_mesh *mesh;
    check_ok(s.ctx, bough_mesh_read(s.ctx, work("surfaces/chain_000002.obj"), NULL, &mesh));
    check_int(mesh->vertex_count, bough_tree_model_vertex_count(s.model));
    check_int(mesh->element_count, bough_tree_model_triangle_count(s.model));
    for (int32_t i = 0; i < 3 * mesh->vertex_count; i++)
        check_near(mesh->vertices[i], (double)s.surface[i], 3e-8);
    check(bough_mesh_find_set(mesh, BOUGH_SET_ELEMENT, "a") && bough_mesh_find_set(mesh, BOUGH_SET_ELEMENT, "b"));
    bough_mesh_destroy(s.ctx, mesh);
    stop(&s);
}

/* A body has vertices and no coordinates: they are recorded by all of these too. */
static void bodies_are_recorded_too(void **state) {
    (void)state;
    check_run(0, "run", "chain.json", "--engine", "full", "--integrator", "hht", "--record", "full.glb", "--record",
              "full.npz", "--record", "full/x.obj", "--record", "full.png", "--record", "vtu/frames.pvd", "--fps",
              "50");
    check(exists("full/x_000010.obj") && exists("vtu/frames.pvd") && exists("vtu/frame_000010.vtu"));
    check_is_png("full.png");
    npz_file arrays = read_npz(work("full.npz"));
    npz_array u = find_array(&arrays, "displacement"), rest = find_array(&arrays, "vertices");
    check(u.dimensions == 3 && u.shape[0] == 11 && u.shape[1] == rest.shape[0] && rest.shape[1] == 3);
    glb_file film = read_glb(work("full.glb"));
    check_accessors(&film);
    double lowest[2] = {1, 1};
    for (size_t v = 0; v < u.shape[1]; v++) { /* all vertices of this bar are on its surface, in some order */
        lowest[0] = fmin(lowest[0], number_at(&rest, 3 * v + 2) + number_at(&u, (10 * u.shape[1] + v) * 3 + 2));
        lowest[1] = fmin(lowest[1], shown(&film, 1, v, 0.2).y);
    }
    check(lowest[0] < -0.05);
    check_near(lowest[1], lowest[0], 2e-7);
    close_glb(&film);
    close_npz(&arrays);
}

static void mistakes_in_options_are_told_at_once(void **state) {
    (void)state;
    const int before = file_count();
    check_mistake(2, ".npz (everything, for NumPy), .glb", "run", "chain.json", "--record", "x.xyz");
    check_mistake(2, "--baked says how FILE.glb is made", "run", "chain.json", "--baked");
    check_mistake(2, "--output FILE.png", "picture", "chain.json");
    check_mistake(2, "ends in .png", "picture", "chain.json", "-o", "x.jpg");
    check_int(link(work("chain.json"), work("same.png")), 0);
    check_mistake(2, "is the scene", "picture", "chain.json", "-o", "same.png");
    check_mistake(2, "is the scene", "movie", "chain.json", "-o", "same.png");
    remove(work("same.png"));
    check_mistake(2, "FILE.webm or FILE.mp4", "movie", "chain.json", "-o", "x.gif");
    check_mistake(2, "--size: \"0x10\"", "picture", "chain.json", "-o", "x.png", "--size", "0x10");
    check_mistake(2, "--size: \"99999x10\"", "picture", "chain.json", "-o", "x.png", "--size", "99999x10");
    check_mistake(2, "--size: \"10\"", "movie", "chain.json", "-o", "x.png", "--size", "10");
    check_mistake(2, "--camera: \"1,2\"", "picture", "chain.json", "-o", "x.png", "--camera", "1,2");
    check_mistake(2, "--look: \"nan,0,0\"", "picture", "chain.json", "-o", "x.png", "--look", "nan,0,0");
    check_mistake(2, "too far away", "picture", "chain.json", "-o", "x.png", "--look", "1e300,0,0");
    check_mistake(2, "the same point", "picture", "chain.json", "-o", "x.png", "--look", "1,0,0", "--camera", "1,0,0");
    check_mistake(2, "--fov: \"180\"", "picture", "chain.json", "-o", "x.png", "--fov", "180");
    check_mistake(2, "--colour: \"red\"", "picture", "chain.json", "-o", "x.png", "--colour", "red");
    check_mistake(2, "--paint: \"leaf\"", "picture", "chain.json", "-o", "x.png", "--paint", "leaf");
    check_mistake(2, "--paint: \"a=12345g\"", "picture", "chain.json", "-o", "x.png", "--paint", "a=12345g");
    check_mistake(2, "--background: \"sky\"", "picture", "chain.json", "-o", "x.png", "--background", "sky");
    check_mistake(2, "--time: \"-1\"", "picture", "chain.json", "-o", "x.png", "--time", "-1");
    check_mistake(2, "bough picture shows one moment", "movie", "chain.json", "-o", "x.png", "--time", "0");
    check_mistake(2, "are of one kind", "run", "chain.json", "--record", "a.glb", "--record", "b.glb");
    check_mistake(2, "are of one kind", "run", "chain.json", "--record", "a.png", "--record", "b.png");
    check_mistake(2, "are of one kind", "run", "chain.json", "--frames", "a", "--record", "b/frames.pvd");
    check_mistake(2, "are of one kind", "run", "chain.json", "--record", "b/frames.pvd", "--frames", "a");
    check_mistake(2, "--speed: \"0\"", "movie", "chain.json", "-o", "x.png", "--speed", "0");
    check_mistake(2, "--fps: \"1e9\"", "movie", "chain.json", "-o", "x.png", "--fps", "1e9");
    check_mistake(2, "after its end", "movie", "chain.json", "-o", "x.png", "--from", "3", "--time", "2");
    check_run(0, "run", "chain.json", "--time", "0.1", "--checkpoint", "c.state");
    check_mistake(1, "c.state is of t = 0.1 s", "picture", "chain.json", "-o", "x.png", "--resume", "c.state", "--time",
                  "0.05");
    remove(work("c.state"));
    check_mistake(1, "after the end of the scene", "movie", "chain.json", "-o", "x.png", "--from", "3");
    check_mistake(1, "none.json", "picture", "none.json", "-o", "x.png");
    check_mistake(1, "nowhere/x.png", "picture", "chain.json", "-o", "nowhere/x.png");
    check_mistake(1, "nowhere/x.npz", "run", "chain.json", "--record", "nowhere/x.npz");
    check_mistake(1, "chain.json/x: the folder cannot be made", "run", "chain.json", "--record", "chain.json/x/y.obj");
    check_int(file_count(), before);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_picture_shows_the_surface_at_its_time),
        cmocka_unit_test(the_camera_finds_the_scene),
        cmocka_unit_test(components_and_links_are_painted),
        cmocka_unit_test(a_movie_has_a_picture_for_each_moment),
        cmocka_unit_test(a_camera_that_follows_sees_what_falls_stand_still),
        cmocka_unit_test(films_are_encoded_by_ffmpeg),
        cmocka_unit_test(without_ffmpeg_a_sentence_says_so),
        cmocka_unit_test(interrupted_it_keeps_the_film),
        cmocka_unit_test(a_film_for_browsers_is_the_motion),
        cmocka_unit_test(baked_films_have_the_joined_surface),
        cmocka_unit_test(arrays_have_all_of_a_run),
        cmocka_unit_test(surfaces_are_written_frame_by_frame),
        cmocka_unit_test(bodies_are_recorded_too),
        cmocka_unit_test(mistakes_in_options_are_told_at_once),
    };
    return cmocka_run_group_tests(tests, prepare, NULL);
}
