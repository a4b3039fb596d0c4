/* Sessions of bough view without sockets: what those who sit there see, and what they can do. */
#include "app/view_table.h"

/* ---- what is seen ---- */

/* Stage and frames tell where the library draws the surface, with all engines and continuities. */
static void frames_are_the_surface(void **state) {
    (void)state;
    static const char *const continuities[] = {"C0", "C1"};
    const char *path = write_scene("chain.json", HANGING);
    for (int k = 0; k < 2; k++) {
        table t = sit_down(path, "tree", true);
        look_until(&t, t.frames > 0);
        if (k)
            order(&t, "{'do': 'continuity', 'name': 'C1'}");
        steps(&t, 60);
        viewer_draw(&t.seen, 0);

        bough_run_def def = bough_default_run_def();
        def.live = true, def.engine = "tree", def.continuity = continuities[k];
        bough_context *ctx = test_context(1);
        play p = begin_file(ctx, path, &def);
        for (int i = 0; i < 60; i++)
            check_ok(ctx, bough_run_step(ctx, p.run));
        const bough_tree_model *model;
        const bough_tree_state *now;
        check(bough_run_model(p.run, &model, &now));
        const int32_t count = bough_tree_model_vertex_count(model);
        check_int(t.seen.layers[0].vertex_count, count);
        check_near(t.seen.layers[0].time, now->time, 1e-9);
        float *surface = malloc(3 * (size_t)count * sizeof *surface), *rest = malloc(3 * (size_t)count * sizeof *rest);
        check_ok(ctx, bough_tree_state_surface(ctx, model, now, surface, NULL));
        for (int32_t i = 0; i < 3 * count; i++)
            rest[i] = (float)bough_run_mesh(p.run)->vertices[i];
        check(worst_difference(rest, surface, count) > 0.001 * SIZE); /* it has moved */
        check_below(worst_difference(t.seen.layers[0].drawn, surface, count), 1e-5 * SIZE);
        bough_seams seams;
        bough_tree_model_seams(model, &seams);
        check(seams.place_count > 0);
        check_int(t.seen.layers[0].place_count, seams.place_count);
        free(surface), free(rest);
        end(ctx, &p);
        bough_context_destroy(ctx);
        leave(&t);
    }
}

static bool began_anew(const table *t) {
    const json_t *told = said(t, "error");
    return told && strstr(json_string_value(json_object_get(told, "text")), "began anew");
}

static void the_full_engine_is_streamed(void **state) {
    (void)state;
    const char *path = write_scene("chain.json", HANGING);
    table t = sit_down(path, "tree", true);
    look_until(&t, t.frames > 0);
    order(&t, "{'do': 'engine', 'name': 'full'}");
    look_until(&t, t.seen.generation == 2 && t.seen.layers[0].part_count == 1);
    steps(&t, 60);
    viewer_draw(&t.seen, 0);
    bough_context *ctx = test_context(1);
    bough_run_def def = bough_default_run_def();
    def.live = true, def.engine = "full";
    play p = begin_file(ctx, path, &def);
    for (int i = 0; i < 60; i++)
        check_ok(ctx, bough_run_step(ctx, p.run));
    bough_mesh *surface;
    int32_t *map;
    check_ok(ctx, bough_mesh_surface(ctx, bough_run_mesh(p.run), &surface, &map, NULL));
    check_int(t.seen.layers[0].vertex_count, surface->vertex_count);
    for (int32_t v = 0; v < surface->vertex_count; v++)
        for (int d = 0; d < 3; d++) {
            const size_t at = 3 * (size_t)map[v] + (size_t)d;
            check_near((double)t.seen.layers[0].drawn[3 * v + d],
                       bough_run_mesh(p.run)->vertices[at] + bough_run_displacement(p.run)[at], 1e-5 * SIZE);
        }
    bough_mesh_destroy(ctx, surface);
    bough_release(ctx, map);
    end(ctx, &p);
    bough_context_destroy(ctx);
    /* with another integrator it begins anew, which everybody is told */
    table other = t;
    other.seat = view_session_join(t.session);
    memset(other.said, 0, sizeof other.said);
    order(&t, "{'do': 'integrator', 'name': 'bdf2'}");
    look_until(&t, began_anew(&t));
    for (const double until = app_seconds() + 20; !began_anew(&other);) {
        view_message *m = view_seat_next(other.seat, 0.1);
        if (m && m->text)
            remember(&other, json_loadb((const char *)m->bytes, m->size, 0, NULL));
        view_message_drop(m);
        check(app_seconds() < until);
    }
    for (int i = 0; i < 16; i++)
        json_decref(other.said[i]);
    view_session_leave(other.seat);
    leave(&t);
}

/* Nothing moves: nothing is sent. What is poked is, until it has come to rest. */
static void parts_at_rest_are_left_out(void **state) {
    (void)state;
    table t = sit_down(write_scene("still.json", STILL), "tree", true);
    look_until(&t, t.frames > 0);
    check_int(t.seen.layers[0].sent, 3);
    steps(&t, 1);
    check_int(t.seen.layers[0].sent, 0);
    order(&t, "{'do': 'poke', 'part': 2, 'vertex': 0, 'impulse': [0, 0, 1]}");
    steps(&t, 5);
    check(t.seen.layers[0].sent > 0);
    leave(&t);
}

/* Whichever way a part bends, nothing is drawn further than 1e-5 of the part's size from where it is. */
static void slight_bending_is_shown(void **state) {
    (void)state;
    const char *path = write_scene(
        "rod.json", "{'bough': 1, 'components': {'rod': {'mesh': {'generate': 'box', 'type': 'hex8', 'size': [0.5, "
                    "0.05, 0.05], 'cells': [5, 1, 1]}, 'material': {'young': 2e6, 'poisson': 0.3, 'density': 1000}, "
                    "'interfaces': {'base': {'select': 'x0'}}, 'basis': {'r': 6}, 'samples': {'contact': 0, 'stress': "
                    "0}}}, 'parts': [{'name': 'a', 'component': 'rod'}], 'gravity': [0, 0, 0], 'time': {'dt': 0.002, "
                    "'duration': 1}}");
    for (int sideways = 0; sideways < 2; sideways++) {
        table t = sit_down(path, "tree", true);
        look_until(&t, t.frames > 0);
        const int32_t count = t.seen.layers[0].vertex_count;
        const double gravity[3] = {0, sideways ? 0.1 : 0, sideways ? 0 : 0.1}; /* 0.1 mm in 0.04 s */
        bough_context *ctx = test_context(1);
        bough_run_def def = bough_default_run_def();
        def.live = true, def.engine = "tree";
        play p = begin_file(ctx, path, &def);
        const bough_tree_model *model;
        const bough_tree_state *now;
        check(bough_run_model(p.run, &model, &now));
        check_ok(ctx, bough_run_set_gravity(ctx, p.run, gravity));
        char text[128];
        snprintf(text, sizeof text, "{'do': 'gravity', 'acceleration': [0, %g, %g]}", gravity[1], gravity[2]);
        order(&t, text);
        float *surface = malloc(3 * (size_t)count * sizeof *surface);
        double worst = 0;
        for (int k = 0; k < 20; k++) {
            steps(&t, 1);
            viewer_draw(&t.seen, 0);
            check_ok(ctx, bough_run_step(ctx, p.run));
            check_ok(ctx, bough_tree_state_surface(ctx, model, now, surface, NULL));
            worst = fmax(worst, worst_difference(t.seen.layers[0].drawn, surface, count));
        }
        print_message("drawn %g m from where it is\n", worst);
        check_below(worst, 1.1e-5 * sqrt(0.5 * 0.5 + 2 * 0.05 * 0.05));
        free(surface);
        end(ctx, &p);
        bough_context_destroy(ctx);
        leave(&t);
    }
}

/* Who does not tell that frames were drawn gets two of them, and then the newest. */
static void two_frames_are_under_way(void **state) {
    (void)state;
    table t = sit_down(write_scene("chain.json", HANGING), "tree", false);
    int frames = 0;
    double time = INFINITY, now = 0; /* of the last frame; of the scene */
    uint32_t frame = 0;
    for (const double until = app_seconds() + 120; now < time + 0.5;) {
        view_message *m = view_seat_next(t.seat, 0.05);
        check(app_seconds() < until);
        if (m && !m->text && word_at(m->bytes) == VIEW_FRAME) {
            frames++;
            frame = word_at(m->bytes + 24);
            memcpy(&time, m->bytes + 16, sizeof time);
        } else if (m && m->text) {
            json_t *said = json_loadb((const char *)m->bytes, m->size, 0, NULL);
            now = fmax(now, json_number_value(json_object_get(said, "time")));
            json_decref(said);
        }
        view_message_drop(m);
    }
    check_int(frames, 2);
    check_int(frame, 2);
    char reason[128], text[64];
    snprintf(text, sizeof text, "{\"do\": \"ack\", \"frame\": %u}", frame);
    check_int(view_seat_receive(t.seat, text, strlen(text), reason), 0);
    for (frames = 0; frames == 0;) {
        view_message *m = view_seat_next(t.seat, 1);
        check(m != NULL);
        double then = 0;
        if (!m->text && word_at(m->bytes) == VIEW_FRAME)
            frames++, memcpy(&then, m->bytes + 16, sizeof then);
        view_message_drop(m);
        check(frames == 0 || then > time + 0.4); /* not the third, but the newest */
    }
    leave(&t);
}

/* ---- what can be done ---- */

static void pulling_moves_the_vertex(void **state) {
    (void)state;
    table t = sit_down(write_scene("still.json", STILL), "tree", true);
    look_until(&t, t.frames > 0);
    const int32_t vertex = viewer_nearest(&t.seen, 2, 1.5, 0, 0.05);
    const double before = (double)viewer_at(&t.seen, 2, vertex)[2];
    char text[160];
    snprintf(text, sizeof text, "{'do': 'pull', 'hand': 1, 'part': 2, 'vertex': %d, 'target': [1.5, 0, 0.5]}", vertex);
    order(&t, text);
    steps(&t, 200);
    const double lifted = (double)viewer_at(&t.seen, 2, vertex)[2] - before;
    print_message("lifted by %g m\n", lifted);
    check(lifted > 0.02 && lifted < 0.6);
    order(&t, "{'do': 'release', 'hand': 1}");
    order(&t, "{'do': 'dt', 'seconds': 0.01}");
    t.dt = 0.01;
    double least = lifted;
    for (int k = 0; k < 30; k++) { /* most of its period, 3.1 s */
        steps(&t, 10);
        least = fmin(least, (double)viewer_at(&t.seen, 2, vertex)[2] - before);
    }
    check(least < 0.5 * lifted);
    leave(&t);
}

/* Everybody's hands are their own, and let go when they leave. */
static void hands_are_of_their_owners(void **state) {
    (void)state;
    table t = sit_down(write_scene("still.json", STILL), "tree", true), other = t;
    look_until(&t, t.frames > 0);
    const int32_t vertex = viewer_nearest(&t.seen, 2, 1.5, 0, 0.05);
    const double before = (double)viewer_at(&t.seen, 2, vertex)[2];
    char text[160];
    other.seat = view_session_join(t.session);
    snprintf(text, sizeof text, "{'do': 'pull', 'hand': 0, 'part': 2, 'vertex': %d, 'target': [1.5, 0, 0.5]}", vertex);
    order(&other, text);
    order(&t, "{'do': 'pull', 'hand': 0, 'part': 0, 'vertex': 0, 'target': [0, 0, 0]}");
    order(&t, "{'do': 'release', 'hand': 0}");
    steps(&t, 200);
    const double lifted = (double)viewer_at(&t.seen, 2, vertex)[2] - before;
    check(lifted > 0.02);
    view_session_leave(other.seat);
    order(&t, "{'do': 'dt', 'seconds': 0.01}");
    t.dt = 0.01;
    double least = lifted;
    for (int k = 0; k < 30; k++) {
        steps(&t, 10);
        least = fmin(least, (double)viewer_at(&t.seen, 2, vertex)[2] - before);
    }
    check(least < 0.5 * lifted);
    leave(&t);
}

/* A change that is too much for a step is reported, and the run continues in smaller steps. */
static void steps_that_fail_are_told(void **state) {
    (void)state;
    table t = sit_down(write_scene("chain.json", HANGING), "tree", true);
    look_until(&t, t.frames > 0);
    order(&t, "{'do': 'poke', 'part': 2, 'vertex': 0, 'impulse': [0, 0, 300]}");
    order(&t, "{'do': 'step'}");
    look_until(&t, said(&t, "error"));
    const char *text = json_string_value(json_object_get(said(&t, "error"), "text"));
    print_message("%s\n", text);
    check(strstr(text, "taken in parts") != NULL);
    order(&t, "{'do': 'reset'}");
    steps(&t, 3);
    leave(&t);
}

/* The chain with more coordinates than are good for it. */
static const char *write_slow_scene(void) {
    char text[2048];
    snprintf(text, sizeof text, "%s", HANGING);
    memcpy(strstr(text, "'r': 14"), "'r': 40", 7);
    return write_scene("slow.json", text);
}

/* Hit so hard that a step takes many small parts; where they are when the first of them is seen. */
static double hit(table *t) {
    order(t, "{'do': 'reset'}");
    look_until(t, t->seen.layers[0].time == 0);
    order(t, "{'do': 'poke', 'part': 2, 'vertex': 0, 'impulse': [0, 0, 300]}");
    order(t, "{'do': 'step'}");
    look_until(t, t->seen.layers[0].time > 0);
    return t->seen.layers[0].time;
}

/* Such steps take long, for those who have little patience: they are seen as they come, and who waits is heard. */
static void long_steps_are_left_for_orders(void **state) {
    (void)state;
    const double dt = 0.5, almost = 0.999 * dt;
    double seen = dt, left = dt;
    table t = sit_down_with(write_slow_scene(), "tree", true, 2e-3);
    look_until(&t, t.frames > 0);
    order(&t, "{'do': 'dt', 'seconds': 0.5}");
    for (int i = 0; i < 20 && seen > almost; i++)
        seen = hit(&t);
    check(seen < almost);
    look_until(&t, t.seen.layers[0].time > almost); /* nobody needs to ask for the rest of it */
    check_near(t.seen.layers[0].time, dt, 1e-9);
    for (int i = 0; i < 20 && left > almost; i++) { /* paused, it stays where it is */
        hit(&t);
        order(&t, "{'do': 'pause'}");
        for (int k = 0; k < 4; k++) {
            forget(&t, "numbers");
            look_until(&t, said(&t, "numbers"));
        }
        left = t.seen.layers[0].time;
    }
    print_message("seen at %g s, left at %g s of %g s\n", seen, left, dt);
    check(left < almost);
    order(&t, "{'do': 'reset'}"); /* asked for three times, three are taken */
    look_until(&t, t.seen.layers[0].time == 0);
    order(&t, "{'do': 'dt', 'seconds': 0.18}");
    order(&t, "{'do': 'poke', 'part': 2, 'vertex': 0, 'impulse': [0, 0, 110]}");
    for (int k = 0; k < 3; k++)
        order(&t, "{'do': 'step'}");
    look_until(&t, t.seen.layers[0].time > 0.5399);
    check_near(t.seen.layers[0].time, 0.54, 1e-9);
    order(&t, "{'do': 'reset'}");
    look_until(&t, t.seen.layers[0].time == 0);
    order(&t, "{'do': 'dt', 'seconds': 0.002}");
    steps(&t, 2);
    leave(&t);
}

static const char *setting(const table *t, const char *key) {
    const char *text = json_string_value(json_object_get(said(t, "settings"), key));
    return text ? text : "";
}

static double settled(const table *t, const char *key) {
    return json_number_value(json_object_get(said(t, "settings"), key));
}

/* All clients are told what one of them sets; and so are those who come later. */
static void settings_come_back_to_all(void **state) {
    (void)state;
    table t = sit_down(write_scene("chain.json", HANGING), "tree", true);
    table other = {.ctx = t.ctx, .session = t.session, .seat = view_session_join(t.session)};
    look_until(&t, t.frames > 0);
    order(&t, "{'do': 'dt', 'seconds': 0.004}");
    order(&t, "{'do': 'speed', 'factor': 0.5}");
    order(&t, "{'do': 'gravity', 'acceleration': [1, 2, 3]}");
    order(&t, "{'do': 'wind', 'velocity': [4, 5, 6], 'gust': 0.25}");
    order(&t, "{'do': 'coupling', 'name': 'L2'}");
    order(&t, "{'do': 'play'}");
    table *both[2] = {&t, &other};
    for (int k = 0; k < 2; k++) {
        look_until(both[k],
                   said(both[k], "settings") && json_is_false(json_object_get(said(both[k], "settings"), "paused")));
        check_near(settled(both[k], "dt"), 0.004, 1e-12);
        check_near(settled(both[k], "speed"), 0.5, 1e-12);
        check(!strcmp(setting(both[k], "coupling"), "L2"));
        const json_t *wind = json_object_get(said(both[k], "settings"), "wind");
        check_near(json_number_value(json_array_get(json_object_get(wind, "velocity"), 1)), 5, 1e-12);
        check_near(json_number_value(json_object_get(wind, "gust")), 0.25, 1e-12);
        const json_t *gravity = json_object_get(said(both[k], "settings"), "gravity");
        check_near(json_number_value(json_array_get(gravity, 2)), 3, 1e-12);
    }
    order(&t, "{'do': 'coupling', 'name': 'L3'}");
    look_until(&t, !strcmp(setting(&t, "coupling"), "L3"));
    order(&t, "{'do': 'integrator', 'name': 'bdf2'}");
    look_until(&t, !strcmp(setting(&t, "integrator"), "bdf2"));
    check_silence(&t);
    order(&t, "{'do': 'coupling', 'name': 'L1'}"); /* which this integrator does not know */
    look_until(&t, said(&t, "error"));
    look_until(&t, t.seen.layers[0].time > 0.1);
    check(!strcmp(setting(&t, "coupling"), "L3"));
    view_session_leave(other.seat);
    viewer_drop(&other.seen);
    for (int i = 0; i < 16; i++)
        json_decref(other.said[i]);
    leave(&t);
}

/* Half the speed: half the time passes. */
static void time_passes_as_it_should(void **state) {
    (void)state;
    table t = sit_down(write_scene("still.json", STILL), "tree", false);
    static const double speeds[] = {1, 0.25};
    for (int k = 0; k < 2; k++) {
        char text[64];
        snprintf(text, sizeof text, "{'do': 'speed', 'factor': %g}", speeds[k]);
        order(&t, text);
        look_until(&t, said(&t, "settings") && settled(&t, "speed") == speeds[k]);
        look_until(&t, !look(&t, 0));
        const double began = app_seconds(), from = t.seen.layers[0].time;
        double rate = 0;
        for (int i = 0; i < 60 && rate < 0.5 * speeds[k]; i++) { /* others use the machine, too */
            const double wall = app_seconds(), time = t.seen.layers[0].time;
            while (app_seconds() < wall + 1)
                look(&t, 0.01);
            rate = (t.seen.layers[0].time - time) / (app_seconds() - wall);
            print_message("at %g: %g s a second, a step takes %g us\n", speeds[k], rate,
                          json_number_value(json_object_get(said(&t, "numbers"), "step_us")));
            check_below(t.seen.layers[0].time - from, 1.2 * speeds[k] * (app_seconds() - began));
        }
        check(rate >= 0.5 * speeds[k]);
    }
    order(&t, "{'do': 'reset'}");
    look_until(&t, t.seen.layers[0].time < 0.5);
    leave(&t);
}

static void parts_can_be_painted_and_picked(void **state) {
    (void)state;
    table t = sit_down(write_scene("chain.json", HANGING), "tree", true);
    look_until(&t, t.frames > 0);
    order(&t, "{'do': 'pick', 'part': 1}");
    look_until(&t, said(&t, "pick"));
    const json_t *frequencies = json_object_get(said(&t, "pick"), "frequencies");
    const double lowest = json_number_value(json_array_get(frequencies, 0));
    check(lowest > 0);
    check(!strcmp(json_string_value(json_object_get(said(&t, "pick"), "name")), "b"));
    check_near(json_number_value(json_object_get(said(&t, "pick"), "mass")), 5, 0.01);
    order(&t, "{'do': 'stiffness', 'part': 1, 'factor': 2}");
    order(&t, "{'do': 'damping', 'part': 1, 'ratio': 0.1, 'siblings': true}");
    look_until(&t, json_array_size(json_object_get(said(&t, "parts"), "damping")) == 1);
    check_int(json_array_size(json_object_get(said(&t, "parts"), "stiffness")), 1);
    forget(&t, "pick");
    order(&t, "{'do': 'pick', 'part': 1}");
    look_until(&t, said(&t, "pick"));
    frequencies = json_object_get(said(&t, "pick"), "frequencies");
    check_near(json_number_value(json_array_get(frequencies, 0)), 2 * lowest, 1e-6 * lowest);
    leave(&t);
}

/* The body of the full engine: what it is, and how it is at a point. */
static void bodies_can_be_picked(void **state) {
    (void)state;
    table t = sit_down(write_scene("chain.json", HANGING), "full", true);
    look_until(&t, t.frames > 0);
    steps(&t, 100);
    viewer_draw(&t.seen, 0);
    const viewer_layer *l = &t.seen.layers[0];
    int32_t ends[2] = {0, 0}; /* the vertices nearest to, and farthest from, what holds it */
    for (int32_t v = 0; v < l->vertex_count; v++)
        for (int k = 0; k < 2; k++)
            if ((k ? 1 : -1) * (l->drawn[3 * v] - l->drawn[3 * ends[k]]) > 0)
                ends[k] = v;
    double stress[3];
    for (int k = 0; k < 3; k++) {
        char text[64];
        forget(&t, "pick");
        snprintf(text, sizeof text, "{'do': 'pick', 'part': 0, 'vertex': %d}", k < 2 ? ends[k] : 0);
        order(&t, k < 2 ? text : "{'do': 'pick', 'part': 0}");
        look_until(&t, said(&t, "pick"));
        const json_t *told = said(&t, "pick"), *position = json_object_get(told, "position");
        check_int(viewer_int(told, "elements"), 15);
        check_int(viewer_int(told, "vertices"), 64);
        check_near(json_number_value(json_object_get(told, "mass")), 15, 1e-6);
        stress[k] = json_number_value(json_object_get(told, "stress"));
        for (size_t d = 0; d < 3 && k < 2; d++)
            check_near(json_number_value(json_array_get(position, d)), (double)l->drawn[3 * (size_t)ends[k] + d], 1e-6);
        check(k < 2 || json_is_null(position));
    }
    check(stress[0] > 10 * stress[1] && stress[2] >= stress[0]);
    order(&t, "{'do': 'pick', 'part': 1}");
    look_until(&t, said(&t, "error"));
    leave(&t);
}

/* Stresses are the library's; interfaces are rigid at rest, and not when the beam has bent. */
static void colours_tell_stress_and_deviation(void **state) {
    (void)state;
    const char *path = write_scene("chain.json", HANGING);
    table t = sit_down(path, "tree", true);
    look_until(&t, t.frames > 0);
    order(&t, "{'do': 'colour', 'what': 2}");
    look_until(&t, t.coloured == 2);
    check_near((double)t.colours[0], 0, 1e-9);
    steps(&t, 60);
    look_until(&t, t.coloured_at > 0.119);
    print_message("deviations %g %g\n", (double)t.colours[0], (double)t.colours[1]);
    check(t.colours[0] > 1e-6f && t.colours[1] > 1e-6f && t.colours[0] < 1e-3f);
    check_near((double)t.colours[2], 0, 0); /* nothing hangs on it */
    order(&t, "{'do': 'colour', 'what': 1}");
    look_until(&t, t.coloured == 1);
    bough_context *ctx = test_context(1);
    bough_run_def def = bough_default_run_def();
    def.live = true, def.continuity = "C0";
    play p = begin_file(ctx, path, &def);
    for (int i = 0; i < 60; i++)
        check_ok(ctx, bough_run_step(ctx, p.run));
    const bough_tree_model *model;
    const bough_tree_state *now;
    check(bough_run_model(p.run, &model, &now));
    /* each vertex has the library's, up to rounding to 65,535ths of the part's largest */
    const viewer_layer *l = &t.seen.layers[0];
    float *field = malloc((size_t)l->vertex_count * sizeof *field), lowest = INFINITY, most = 0;
    bough_tree_state_surface_stress(ctx, model, now, field);
    check(t.field != NULL);
    for (int32_t part = 0, v = 0; v < l->vertex_count; v++) {
        part += part < 2 && v >= l->first[part + 1];
        check_near((double)t.colours[part] * t.field[v] / 65535, (double)field[v], 2e-5 * (double)t.colours[part]);
        lowest = fminf(lowest, part == 0 ? field[v] : lowest), most = fmaxf(most, part == 0 ? field[v] : 0);
    }
    print_message("of the first part: %g to %g Pa\n", (double)lowest, (double)most);
    check(most > 100 && lowest < 0.5f * most);
    free(field);
    end(ctx, &p);
    bough_context_destroy(ctx);
    leave(&t);
}

/* A ghost begins with the scene, goes on with it, and is pulled with it. */
static void a_ghost_goes_along(void **state) {
    (void)state;
    table t = sit_down(write_scene("chain.json", HANGING), "tree", true);
    look_until(&t, t.frames > 0);
    order(&t, "{'do': 'ghost', 'engine': 'full'}");
    look_until(&t, t.seen.generation == 2);
    check_int(t.seen.layers[1].part_count, 1);
    order(&t, "{'do': 'pull', 'hand': 0, 'part': 2, 'vertex': 0, 'target': [1, 0, 2], 'stiffness': 100}");
    steps(&t, 100);
    look_until(&t, t.seen.layers[1].time > 0.199);
    viewer_draw(&t.seen, 0), viewer_draw(&t.seen, 1);
    double highest[2] = {-1, -1};
    for (int k = 0; k < 2; k++)
        for (int32_t v = 0; v < t.seen.layers[k].vertex_count; v++)
            highest[k] = fmax(highest[k], (double)t.seen.layers[k].drawn[3 * v + 2]);
    print_message("highest point: tree %g m, full %g m\n", highest[0], highest[1]);
    check(highest[0] > 0.055); /* at rest: 0.05 */
    check_near(highest[0], highest[1], 0.1 * highest[1]);
    order(&t, "{'do': 'ghost'}");
    look_until(&t, t.seen.generation == 3);
    check_int(t.seen.layers[1].part_count, 0);
    const int frames = t.frames;
    look_until(&t, t.frames > frames);
    check_int(t.seen.layers[0].sent, 3); /* who has a new stage has seen nothing yet, though nothing moved */
    leave(&t);
}

/* The scene was edited so that a ghost can be made of it, and the engine that runs cannot step it: nothing is shown of
 * a layer that is on no stage. */
static void a_ghost_that_stands_alone_goes(void **state) {
    (void)state;
    table t = sit_down(write_scene("chain.json", HANGING), "full", true);
    look_until(&t, t.frames > 0);
    write_scene("chain.json", CHAIN(", 'wind': {'velocity': [1, 0, 0]}"));
    order(&t, "{'do': 'ghost', 'engine': 'tree', 'coupling': 'L1'}");
    look_until(&t, said(&t, "error"));
    look_until(&t, t.seen.generation == 2);
    check_int(t.seen.layers[1].part_count, 0);
    steps(&t, 3); /* frames of a layer that there is not would be noticed */
    check_int(t.seen.layers[0].part_count, 1);
    leave(&t);
}

static void check_recordings(const char *engine) {
    table t = sit_down(write_scene("chain.json", HANGING), engine, false);
    order(&t, "{'do': 'record', 'on': true}");
    look_until(&t, t.seen.layers[0].time > 0.5);
    order(&t, "{'do': 'reset'}"); /* ends it, too */
    look_until(&t, said(&t, "recorded"));
    look_until(&t, json_is_false(json_object_get(said(&t, "settings"), "recording")));
    check_int(json_array_size(json_object_get(said(&t, "recorded"), "files")), 2);
    char *table_path = view_session_find_recording(t.session, "recording-1.csv");
    char *film_path = view_session_find_recording(t.session, "recording-1.glb"), head[64] = "";
    check(table_path && film_path && !view_session_find_recording(t.session, "../chain.json"));
    FILE *file = fopen(table_path, "r");
    int rows = 0;
    check(file && fgets(head, 6, file) && !strcmp(head, "time,"));
    for (int c; (c = fgetc(file)) != EOF;)
        rows += c == '\n';
    check(rows > 10);
    fclose(file);
    check((file = fopen(film_path, "rb")) && fread(head, 1, 4, file) == 4 && !memcmp(head, "glTF", 4));
    fclose(file);
    free(table_path), free(film_path);
    leave(&t);
}

static void recordings_are_files(void **state) {
    (void)state;
    check_recordings("tree");
    check_recordings("full");
}

static void recordings_that_cannot_be_written_are_told(void **state) {
    (void)state;
    table t = sit_down(write_scene("chain.json", HANGING), "full", true);
    order(&t, "{'do': 'record', 'on': true}");
    look_until(&t, json_is_true(json_object_get(said(&t, "settings"), "recording")));
    order(&t, "{'do': 'record', 'on': false}");
    look_until(&t, said(&t, "recorded"));
    char *path = view_session_find_recording(t.session, "recording-1.csv");
    check(path && remove(path) == 0);
    *strrchr(path, '/') = 0;
    rename(path, test_path("elsewhere"));
    order(&t, "{'do': 'record', 'on': true}");
    look_until(&t, said(&t, "error"));
    check(strstr(json_string_value(json_object_get(said(&t, "error"), "text")), "cannot be written"));
    rename(test_path("elsewhere"), path);
    free(path);
    leave(&t);
}

/* Who edits the scene and resets it sees what the file says now. */
static void an_edited_scene_is_staged_anew(void **state) {
    (void)state;
    table t = sit_down(write_scene("edited.json", HANGING), "tree", true);
    look_until(&t, t.frames > 0);
    order(&t, "{'do': 'reset'}");
    steps(&t, 2);
    check_int(t.seen.generation, 1);
    char *other = strdup(HANGING), *size = strstr(other, "[1.5, 0.1,");
    memcpy(size, "[1.5, 0.2,", strlen("[1.5, 0.2,"));
    write_scene("edited.json", other);
    free(other);
    order(&t, "{'do': 'reset'}");
    look_until(&t, t.seen.generation == 2);
    const int frames = t.frames;
    look_until(&t, t.frames > frames);
    viewer_draw(&t.seen, 0);
    double widest = 0;
    for (int32_t v = 0; v < t.seen.layers[0].vertex_count; v++)
        widest = fmax(widest, fabs((double)t.seen.layers[0].drawn[3 * v + 1]));
    print_message("half its width: %g m\n", widest);
    check_near(widest, 0.2, 2e-7);
    leave(&t);
}

static void seats_are_limited(void **state) {
    (void)state;
    table t = sit_down(write_scene("still.json", STILL), "tree", false);
    view_seat *others[VIEW_SEATS];
    for (int i = 1; i < VIEW_SEATS; i++)
        check((others[i] = view_session_join(t.session)) != NULL);
    check(view_session_join(t.session) == NULL);
    for (int i = 1; i < VIEW_SEATS; i++)
        view_session_leave(others[i]);
    check((others[0] = view_session_join(t.session)) != NULL);
    view_session_leave(others[0]);
    leave(&t);
}

/* ---- what clients send ---- */

static view_parsed parsed(const char *text, view_command *command) {
    char copy[512], reason[128];
    snprintf(copy, sizeof copy, "%s", text);
    for (char *c = copy; *c; c++)
        *c = *c == '\'' ? '"' : *c;
    const view_parsed how = view_command_parse(copy, strlen(copy), command, reason);
    check((how == VIEW_PARSED) == (reason[0] == 0));
    return how;
}

static const char *const commands[] = {
    "{'do': 'ack', 'frame': 7}",
    "{'do': 'pull', 'hand': 3, 'part': 1, 'vertex': 2, 'target': [1, 2.5, -3]}",
    "{'do': 'pull', 'hand': 0, 'part': 1, 'vertex': 2, 'target': [1, 2, 3], 'stiffness': 10}",
    "{'do': 'release', 'hand': 0}",
    "{'do': 'poke', 'part': 0, 'vertex': 0, 'impulse': [0, 0, 1e-3]}",
    "{'do': 'pause'}",
    "{'do': 'speed', 'factor': 0.1}",
    "{'do': 'wind', 'velocity': [1, 2, 3], 'gust': 0}",
    "{'do': 'wind', 'velocity': null}",
    "{'do': 'stiffness', 'part': 1, 'factor': 2, 'siblings': true}",
    "{'do': 'dt', 'seconds': 0.001}",
    "{'do': 'coupling', 'name': 'L3'}",
    "{'do': 'ghost'}",
    "{'do': 'ghost', 'engine': 'full'}",
    "{'do': 'record', 'on': true}",
    "{'do': 'keep', 'name': 'before the storm'}",
    "{'do': 'rewind', 'time': 1.5}",
    "{'do': 'motor', 'motor': 0, 'value': 0.1}",
    "{'do': 'motor'}",
    "{'do': 'open', 'file': 3}",
};

static void commands_are_judged(void **state) {
    (void)state;
    static const char *const wild[] = {
        "{'do': 'pull', 'hand': 4, 'part': 1, 'vertex': 2, 'target': [1, 2, 3]}",
        "{'do': 'pull', 'hand': -1, 'part': 1, 'vertex': 2, 'target': [1, 2, 3]}",
        "{'do': 'pull', 'hand': 0, 'part': 1e300, 'vertex': 2, 'target': [1, 2, 3]}",
        "{'do': 'pull', 'hand': 0, 'part': 1, 'vertex': 2, 'target': [1e300, 2, 3]}",
        "{'do': 'speed', 'factor': 0}",
        "{'do': 'speed', 'factor': 1e9}",
        "{'do': 'dt', 'seconds': -1}",
        "{'do': 'colour', 'what': 4}",
        "{'do': 'coupling', 'name': 'L1234567890123456789012345678901234567890'}",
    };
    static const char *const none[] = {
        "{'do': 'coupling', 'name': 'L3\\u0000x'}",
        "",
        "ack",
        "[]",
        "{}",
        "{'do': 1}",
        "{'do': 'fly'}",
        "{'do': 'ack'}",
        "{'do': 'ack', 'frame': 'x'}",
        "{'do': 'ack', 'frame': 1.5}",
        "{'do': 'ack', 'frame': NaN}",
        "{'do': 'ack', 'frame': 1e999}",
        "{'do': 'ack', 'frame': 1} x",
        "{'do': 'ack', 'do': 'ack', 'frame': 1}",
        "{'do': 'pull', 'hand': 0, 'part': 1, 'vertex': 2, 'target': [1, 2]}",
        "{'do': 'pull', 'hand': 0, 'part': 1, 'vertex': 2, 'target': [1, 2, '3']}",
        "{'do': 'record', 'on': 1}",
        "[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[",
    };
    view_command c;
    for (size_t i = 0; i < sizeof commands / sizeof *commands; i++)
        if (parsed(commands[i], &c) != VIEW_PARSED)
            fail_msg("%s is a command", commands[i]);
    for (size_t i = 0; i < sizeof wild / sizeof *wild; i++)
        if (parsed(wild[i], &c) != VIEW_OUT_OF_RANGE)
            fail_msg("%s is out of range", wild[i]);
    for (size_t i = 0; i < sizeof none / sizeof *none; i++)
        if (parsed(none[i], &c) != VIEW_NO_COMMAND)
            fail_msg("%s is no command", none[i]);
    check_int(parsed(commands[1], &c), VIEW_PARSED);
    check_int(c.what, VIEW_DO_PULL);
    check_int(c.hand, 3);
    check_near(c.vector[1], 2.5, 0);
    check(isnan(c.value));
    check_int(parsed(commands[7], &c), VIEW_PARSED);
    check(c.flag && c.value == 0);
    check_int(parsed(commands[8], &c), VIEW_PARSED);
    check(!c.flag && isnan(c.value));
}

/* Bytes that are changed at random never do anything but become another command or none; what is parsed is finite. */
static void random_bytes_are_judged(void **state) {
    (void)state;
    uint64_t random = 7;
    int good = 0;
    for (int k = 0; k < 60000; k++) {
        char text[256], reason[128];
        view_command c;
        snprintf(text, sizeof text, "%s", commands[k % (int)(sizeof commands / sizeof *commands)]);
        for (char *at = text; *at; at++)
            *at = *at == '\'' ? '"' : *at;
        size_t size = strlen(text);
        for (int i = 0; i < 1 + k % 4; i++) {
            random = random * 6364136223846793005u + 1442695040888963407u;
            text[(random >> 33) % size] = (char)(random >> 56);
        }
        size -= (random >> 40) % 3 == 0 ? (random >> 50) % size : 0;
        if (view_command_parse(text, size, &c, reason) != VIEW_PARSED)
            continue;
        good++;
        check(c.what < VIEW_DO_COUNT && c.hand >= 0 && c.hand < VIEW_HANDS && c.part >= 0 && c.vertex >= -1);
        check(isfinite(c.vector[0]) && isfinite(c.vector[1]) && isfinite(c.vector[2]));
        check(!isinf(c.value) && strlen(c.name) < VIEW_NAME_SIZE && strlen(c.coupling) < VIEW_NAME_SIZE);
    }
    check(good > 100);
}

/* Commands that are well formed but name what is not there are answered, and the simulation goes on. */
static void what_is_not_there_is_told(void **state) {
    (void)state;
    static const char *const orders[] = {
        "{'do': 'cut', 'part': 99}",
        "{'do': 'pick', 'part': 2000000000}",
        "{'do': 'pull', 'hand': 0, 'part': 2000000000, 'vertex': 0, 'target': [0, 0, 0]}",
        "{'do': 'pull', 'hand': 0, 'part': 0, 'vertex': 2000000000, 'target': [0, 0, 0]}",
        "{'do': 'poke', 'part': 0, 'vertex': 2000000000, 'impulse': [0, 0, 0]}",
        "{'do': 'engine', 'name': 'steam'}",
        "{'do': 'integrator', 'name': 'guess'}",
        "{'do': 'coupling', 'name': '%s%s%n'}",
        "{'do': 'continuity', 'name': 'C7'}",
        "{'do': 'ghost', 'coupling': 'L9'}",
        "{'do': 'stiffness', 'part': -0, 'factor': 1e5}",
        "{'do': 'damping', 'part': 77, 'ratio': 1}",
        "{'do': 'dt', 'seconds': 1e5}",
        "{'do': 'restore', 'name': 'nobody'}",
        "{'do': 'forget', 'name': 'nobody'}",
        "{'do': 'keep', 'name': ''}",
        "{'do': 'motor', 'motor': 3, 'value': 0.1}",
        "{'do': 'open', 'file': 199}",
    };
    table t = sit_down(write_scene("chain.json", HANGING), "tree", false);
    for (size_t i = 0; i < sizeof orders / sizeof *orders; i++) {
        forget(&t, "error");
        order(&t, orders[i]);
        look_until(&t, said(&t, "error"));
        check(!json_is_true(json_object_get(said(&t, "error"), "fatal")));
    }
    const double time = t.seen.layers[0].time;
    look_until(&t, t.seen.layers[0].time > time + 0.2);
    leave(&t);
}

/* Whoever sends too much is shown out; acknowledging 60 frames a second is not too much. */
static void messages_are_counted(void **state) {
    (void)state;
    table t = sit_down(write_scene("still.json", STILL), "tree", false);
    static const char ack[] = "{\"do\": \"ack\", \"frame\": 0}";
    char reason[128];
    int code = 0, sent = 0;
    for (; code == 0 && sent < 2000; sent++)
        code = view_seat_receive(t.seat, ack, sizeof ack - 1, reason);
    check_int(code, 1008);
    check(sent > VIEW_BURST && sent < VIEW_BURST + VIEW_RATE);
    leave(&t);
}

/* One who never looks neither holds up others nor fills the memory. */
static void who_sleeps_is_no_burden(void **state) {
    (void)state;
    table t = sit_down(write_scene("chain.json", HANGING), "tree", false);
    view_seat *sleeper = view_session_join(t.session);
    for (int k = 0; k < 30; k++) {
        const double time = t.seen.layers[0].time;
        order(&t, k % 2 ? "{'do': 'continuity', 'name': 'C1'}" : "{'do': 'continuity', 'name': 'C0'}");
        order(&t, "{'do': 'pick', 'part': 1}");
        look_until(&t, t.seen.layers[0].time > time + 0.02);
    }
    int waiting = 0;
    for (view_message *m; (m = view_seat_next(sleeper, 0)); waiting++)
        view_message_drop(m);
    check(waiting < 12);
    view_session_leave(sleeper);
    leave(&t);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(frames_are_the_surface),
        cmocka_unit_test(the_full_engine_is_streamed),
        cmocka_unit_test(parts_at_rest_are_left_out),
        cmocka_unit_test(slight_bending_is_shown),
        cmocka_unit_test(two_frames_are_under_way),
        cmocka_unit_test(pulling_moves_the_vertex),
        cmocka_unit_test(hands_are_of_their_owners),
        cmocka_unit_test(steps_that_fail_are_told),
        cmocka_unit_test(settings_come_back_to_all),
        cmocka_unit_test(time_passes_as_it_should),
        cmocka_unit_test(parts_can_be_painted_and_picked),
        cmocka_unit_test(colours_tell_stress_and_deviation),
        cmocka_unit_test(a_ghost_goes_along),
        cmocka_unit_test(long_steps_are_left_for_orders),
        cmocka_unit_test(bodies_can_be_picked),
        cmocka_unit_test(a_ghost_that_stands_alone_goes),
        cmocka_unit_test(recordings_are_files),
        cmocka_unit_test(recordings_that_cannot_be_written_are_told),
        cmocka_unit_test(an_edited_scene_is_staged_anew),
        cmocka_unit_test(seats_are_limited),
        cmocka_unit_test(commands_are_judged),
        cmocka_unit_test(random_bytes_are_judged),
        cmocka_unit_test(what_is_not_there_is_told),
        cmocka_unit_test(messages_are_counted),
        cmocka_unit_test(who_sleeps_is_no_burden),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
