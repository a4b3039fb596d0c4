/* A game loop around Bough's runtime: an oak sways in the wind, and the mouse pulls its branches.
 *
 *     bough example oak && bough pack oak/scene.json -o oak.pack
 *     make && ./oak oak.pack
 *
 * Left button: pull what is under it. Right button: turn the camera; wheel: come nearer. Keys 0 to 9: wind of 0 to 18
 * m/s, c: the part under the mouse breaks off, r: back to the start, Escape: the end.
 *
 * With --frames N --save FILE.ppm it takes N frames of 1/60 s, pulls a branch by itself, and saves the last one. */
#include "draw.h"

#include <bough/tree.h>

#include <SDL.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Seconds of the simulation: the same on every machine, however often pictures are drawn. */
#define STEP (1.0 / 60)
enum { MOST_STEPS = 4 }; /* between two pictures: a machine that is too slow shows slow motion */

typedef struct game {
    bough_context *ctx;
    bough_tree_model *model;
    bough_tree_state *state;
    surface shown;
    float *positions, *normals;
    unsigned char *colours;
    int32_t *triangles;
    void *start; /* a snapshot */
    camera eye;
    int mouse[2];
    int32_t held;    /* the vertex that is pulled; -1: none */
    double place[3]; /* where it is pulled to */
    bool ends;
} game;

/* ---- the oak ---- */

static int32_t part_of(const game *g, int32_t vertex) {
    int32_t part = bough_tree_model_part_count(g->model) - 1;
    while (part > 0 && bough_tree_model_first_vertex(g->model, part) > vertex)
        part--;
    return part;
}

/* Parts on which nothing can hang are leaves. */
static void paint(game *g) {
    static const unsigned char bark[3] = {112, 84, 60}, leaf[3] = {86, 138, 48};
    const bough_tree_model_def *def = bough_tree_model_describe(g->model);
    for (int32_t part = 0; part < def->part_count; part++) {
        const bough_component *component = def->components[def->parts[part].component];
        const unsigned char *colour = component->interface_count > 1 ? bark : leaf;
        const int shade = part * 37 % 31 - 15; /* no two neighbours are alike */
        unsigned char *vertex = g->colours + 4 * (size_t)bough_tree_model_first_vertex(g->model, part);
        for (int32_t i = 0; i < component->surface.vertex_count; i++, vertex += 4) {
            for (int k = 0; k < 3; k++)
                vertex[k] = (unsigned char)(colour[k] + shade);
            vertex[3] = 255;
        }
    }
}

static bough_status load(game *g, const char *path) {
    bough_status status = bough_tree_model_load(g->ctx, path, &g->model);
    if (!status)
        status = bough_tree_state_create(g->ctx, g->model, &g->state);
    if (status)
        return status;
    const size_t vertices = (size_t)bough_tree_model_vertex_count(g->model);
    const size_t triangles = (size_t)bough_tree_model_triangle_count(g->model);
    const size_t size = bough_tree_state_snapshot_size(g->model, g->state);
    g->positions = malloc(12 * vertices);
    g->normals = malloc(12 * vertices);
    g->colours = malloc(4 * vertices);
    g->triangles = malloc(12 * triangles);
    g->start = malloc(size);
    if (!g->positions || !g->normals || !g->colours || !g->triangles || !g->start)
        return BOUGH_ERROR_MEMORY;
    bough_tree_model_triangles(g->model, g->triangles);
    paint(g);
    g->shown = (surface){(int32_t)vertices, (int32_t)triangles, g->positions, g->normals, g->colours, g->triangles};
    const bough_tree_settle_def settle = bough_default_tree_settle_def();
    status = bough_tree_state_settle(g->ctx, g->model, g->state, &settle, NULL); /* it begins under its weight */
    bough_tree_state_save(g->model, g->state, g->start);
    return status;
}

static bough_status look(game *g) {
    return bough_tree_state_surface(g->ctx, g->model, g->state, g->positions, g->normals);
}

static bough_status step(game *g) {
    if (g->held >= 0) {
        const int32_t part = part_of(g, g->held);
        const bough_status status =
            bough_tree_state_pull(g->ctx, g->model, g->state, part,
                                  g->held - bough_tree_model_first_vertex(g->model, part), g->place, 400, 10);
        if (status)
            return status;
    }
    return bough_tree_advance(g->ctx, g->model, g->state, STEP, NULL);
}

/* ---- the mouse ---- */

/* The vertex that is shown within some pixels of the mouse and nearest to the eye; -1: none. */
static int32_t vertex_at(const game *g, int x, int y) {
    int32_t best = -1;
    float least = INFINITY;
    for (int32_t i = 0; i < g->shown.vertex_count; i++) {
        float pixel[2], depth;
        if (!camera_project(&g->eye, g->positions + 3 * i, pixel, &depth) || depth >= least)
            continue;
        if (hypotf(pixel[0] - (float)x, pixel[1] - (float)y) < 8)
            best = i, least = depth;
    }
    return best;
}

static void grab(game *g, int x, int y) {
    g->held = vertex_at(g, x, y);
    for (int k = 0; k < 3 && g->held >= 0; k++)
        g->place[k] = (double)g->positions[3 * g->held + k];
}

/* Moves the place that the branch is pulled to in the plane of the picture. */
static void drag(game *g, int right, int down) {
    const float place[3] = {(float)g->place[0], (float)g->place[1], (float)g->place[2]};
    float pixel[2], depth;
    if (!camera_project(&g->eye, place, pixel, &depth))
        return;
    const float scale = camera_scale(&g->eye, depth);
    for (int k = 0; k < 3; k++)
        g->place[k] += (double)(scale * ((float)right * g->eye.right[k] - (float)down * g->eye.up[k]));
}

static bough_status cut(game *g) {
    const int32_t vertex = vertex_at(g, g->mouse[0], g->mouse[1]);
    if (vertex < 0 || bough_tree_state_parts(g->model, g->state)[part_of(g, vertex)].parent < 0)
        return BOUGH_OK;
    return bough_tree_state_detach(g->ctx, g->model, g->state, part_of(g, vertex));
}

static bough_status press(game *g, SDL_Keycode key) {
    if (key == SDLK_ESCAPE)
        g->ends = true;
    if (key >= SDLK_0 && key <= SDLK_9)
        g->state->wind.velocity[0] = 2.0 * (key - SDLK_0);
    if (key == SDLK_c)
        return cut(g);
    if (key == SDLK_r)
        return bough_tree_state_restore(g->ctx, g->model, g->state, g->start,
                                        bough_tree_state_snapshot_size(g->model, g->state));
    return BOUGH_OK;
}

static bough_status take(game *g, const SDL_Event *event) {
    switch (event->type) {
    case SDL_QUIT:
        g->ends = true;
        break;
    case SDL_KEYDOWN:
        return press(g, event->key.keysym.sym);
    case SDL_MOUSEBUTTONDOWN:
        if (event->button.button == SDL_BUTTON_LEFT)
            grab(g, event->button.x, event->button.y);
        break;
    case SDL_MOUSEBUTTONUP:
        if (event->button.button == SDL_BUTTON_LEFT)
            g->held = -1;
        break;
    case SDL_MOUSEMOTION:
        g->mouse[0] = event->motion.x, g->mouse[1] = event->motion.y;
        if (g->held >= 0)
            drag(g, event->motion.xrel, event->motion.yrel);
        else if (event->motion.state & SDL_BUTTON_RMASK) {
            g->eye.turn -= 0.005f * (float)event->motion.xrel;
            g->eye.tilt = fminf(1.5f, fmaxf(0, g->eye.tilt + 0.005f * (float)event->motion.yrel));
        }
        break;
    case SDL_MOUSEWHEEL:
        g->eye.distance *= powf(0.9f, (float)event->wheel.y);
        break;
    default:
        break;
    }
    return BOUGH_OK;
}

/* ---- the loop ---- */

static void draw(game *g, SDL_Window *window) {
    SDL_GL_GetDrawableSize(window, &g->eye.width, &g->eye.height);
    camera_update(&g->eye);
    float line[6];
    for (int k = 0; k < 3 && g->held >= 0; k++) {
        line[k] = g->positions[3 * g->held + k];
        line[3 + k] = (float)g->place[k];
    }
    draw_scene(&g->eye, &g->shown, g->held >= 0 ? line : NULL);
}

static bough_status play(game *g, SDL_Window *window) {
    Uint64 before = SDL_GetPerformanceCounter();
    double owed = 0; /* s that have gone by and were not stepped yet */
    bough_status status = look(g);
    while (!g->ends && !status) {
        for (SDL_Event event; !status && SDL_PollEvent(&event);)
            status = take(g, &event);
        const Uint64 now = SDL_GetPerformanceCounter();
        owed = fmin(owed + (double)(now - before) / (double)SDL_GetPerformanceFrequency(), MOST_STEPS * STEP);
        before = now;
        for (; owed >= STEP && !status; owed -= STEP)
            status = step(g);
        if (!status)
            status = look(g);
        draw(g, window);
        SDL_GL_SwapWindow(window);
    }
    return status;
}

/* The same without a player: after half of the frames the mouse takes the middle of the crown and pulls it down. */
static bough_status rehearse(game *g, SDL_Window *window, int frames, const char *path) {
    bough_status status = look(g);
    draw(g, window); /* the camera knows the window from now on */
    for (int i = 0; i < frames && !status && !g->ends; i++) {
        for (SDL_Event event; SDL_PollEvent(&event);)
            g->ends = g->ends || event.type == SDL_QUIT;
        if (i == frames / 2)
            grab(g, g->eye.width / 2, g->eye.height / 4);
        if (i > frames / 2)
            drag(g, 2, 1);
        status = step(g);
        if (!status)
            status = look(g);
        draw(g, window);
        if (i == frames - 1 && !draw_save(&g->eye, path)) {
            fprintf(stderr, "oak: %s cannot be written\n", path);
            return BOUGH_ERROR_FILE;
        }
        SDL_GL_SwapWindow(window);
    }
    const int32_t part = g->held < 0 ? -1 : part_of(g, g->held);
    printf("%d parts, %d triangles, %d frames; %s %s\n", bough_tree_model_part_count(g->model), g->shown.triangle_count,
           frames, part < 0 ? "nothing was pulled" : "pulled",
           part < 0 ? "" : bough_tree_model_describe(g->model)->parts[part].name);
    return status;
}

static SDL_Window *open_window(SDL_GLContext *gl) {
    if (SDL_Init(SDL_INIT_VIDEO) != 0)
        return NULL;
    SDL_GL_SetAttribute(SDL_GL_DEPTH_SIZE, 24);
    SDL_Window *window = SDL_CreateWindow("Bough", SDL_WINDOWPOS_UNDEFINED, SDL_WINDOWPOS_UNDEFINED, 960, 720,
                                          SDL_WINDOW_OPENGL | SDL_WINDOW_RESIZABLE);
    *gl = window ? SDL_GL_CreateContext(window) : NULL;
    if (!*gl)
        return NULL;
    SDL_GL_SetSwapInterval(1);
    return window;
}

static void clear(game *g) {
    bough_tree_state_destroy(g->ctx, g->state);
    bough_tree_model_destroy(g->ctx, g->model);
    free(g->positions), free(g->normals), free(g->colours), free(g->triangles), free(g->start);
    bough_context_destroy(g->ctx);
}

int main(int count, char **arguments) {
    const bool alone = count == 6 && !strcmp(arguments[2], "--frames") && !strcmp(arguments[4], "--save");
    if (count != 2 && !alone) {
        fprintf(stderr, "usage: oak FILE.pack [--frames N --save FILE.ppm]\n");
        return 2;
    }
    game g = {.ctx = bough_context_create(NULL), .held = -1};
    g.eye = (camera){.centre = {0, 0, 3.8f}, .distance = 12.5f, .turn = -1.2f, .tilt = 0.12f};
    bough_status status = g.ctx ? load(&g, arguments[1]) : BOUGH_ERROR_MEMORY;
    if (status) {
        fprintf(stderr, "oak: %s\n", g.ctx ? bough_message(g.ctx) : "out of memory");
        clear(&g);
        return 1;
    }
    SDL_GLContext gl;
    SDL_Window *window = open_window(&gl);
    if (window) {
        status = alone ? rehearse(&g, window, atoi(arguments[3]), arguments[5]) : play(&g, window);
        if (status && bough_message(g.ctx)[0])
            fprintf(stderr, "oak: %s\n", bough_message(g.ctx));
        SDL_GL_DeleteContext(gl);
        SDL_DestroyWindow(window);
    } else {
        fprintf(stderr, "oak: there is no window with OpenGL: %s\n", SDL_GetError());
    }
    SDL_Quit();
    clear(&g);
    return window && !status ? 0 : 1;
}
