/* Pictures one after the other: an animated PNG, or a film that the program ffmpeg encodes. It is given raw pixels by a
 * pipe, and stands in a group of its own, so that Ctrl-C ends the run and not the film. */
#include "film.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

extern char **environ;

static bool is_video(const char *path) {
    return app_has_extension(path, ".webm") || app_has_extension(path, ".mp4");
}

bool app_is_reel(const char *path) {
    return app_has_extension(path, ".png") || is_video(path);
}

static bough_status problem(app_reel *reel, bough_status status, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
static bough_status problem(app_reel *reel, bough_status status, const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(reel->problem, sizeof reel->problem, format, arguments);
    va_end(arguments);
    return status;
}

/* ---- ffmpeg ---- */

/* Colours are halved in both directions, as all players understand: sizes are made even. */
static int spawn_encoder(const app_reel *reel, int32_t width, int32_t height, double fps, int input, pid_t *child) {
    char size[32], rate[32];
    const bool webm = app_has_extension(reel->path, ".webm");
    snprintf(size, sizeof size, "%dx%d", width, height);
    snprintf(rate, sizeof rate, "%.6f", fps);
    const char *const words[] = {"ffmpeg",
                                 "-loglevel",
                                 "error",
                                 "-nostdin",
                                 "-y",
                                 "-f",
                                 "rawvideo",
                                 "-pix_fmt",
                                 "rgba",
                                 "-video_size",
                                 size,
                                 "-framerate",
                                 rate,
                                 "-i",
                                 "pipe:0",
                                 "-vf",
                                 "pad=ceil(iw/2)*2:ceil(ih/2)*2",
                                 "-pix_fmt",
                                 "yuv420p",
                                 "-c:v",
                                 webm ? "libvpx-vp9" : "libx264",
                                 "-crf",
                                 webm ? "32" : "20",
                                 "-b:v",
                                 "0",
                                 "-f",
                                 webm ? "webm" : "mp4",
                                 bough_output_name(reel->output),
                                 NULL};
    posix_spawn_file_actions_t actions;
    posix_spawnattr_t attributes;
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_adddup2(&actions, input, STDIN_FILENO);
    posix_spawnattr_init(&attributes);
    posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETPGROUP);
    const int failed = posix_spawnp(child, "ffmpeg", &actions, &attributes, (char *const *)words, environ);
    posix_spawnattr_destroy(&attributes);
    posix_spawn_file_actions_destroy(&actions);
    return failed;
}

static bough_status open_video(app_reel *reel, int32_t width, int32_t height, double fps) {
    int ends[2];
    pid_t child;
    signal(SIGPIPE, SIG_IGN); /* an encoder that gives up is an error of writing, and has a sentence */
    if (pipe2(ends, O_CLOEXEC) != 0)
        return problem(reel, BOUGH_ERROR_FILE, "%s: there is no pipe to ffmpeg: %s", reel->path, strerror(errno));
    const int failed = spawn_encoder(reel, width, height, fps, ends[0], &child);
    close(ends[0]);
    reel->pipe = failed ? NULL : fdopen(ends[1], "wb");
    if (!reel->pipe)
        close(ends[1]);
    if (failed)
        return problem(reel, BOUGH_ERROR_MISSING_PROGRAM,
                       "%s: films of this kind are encoded by the program ffmpeg, which %s; install it (apt install "
                       "ffmpeg), or name a .png file",
                       reel->path, failed == ENOENT ? "is not installed" : "cannot be started");
    reel->child = child;
    return reel->pipe ? BOUGH_OK : BOUGH_ERROR_MEMORY;
}

/* Whether ffmpeg has ended well; it is waited for. */
static bool wait_encoder(app_reel *reel) {
    int status = 0;
    const bool wrote = !reel->pipe || fclose(reel->pipe) == 0;
    reel->pipe = NULL;
    while (reel->child > 0 && waitpid(reel->child, &status, 0) < 0 && errno == EINTR)
        ;
    const bool good = reel->child > 0 && wrote && WIFEXITED(status) && WEXITSTATUS(status) == 0;
    reel->child = 0;
    return good;
}

/* ---- the reel ---- */

bough_status app_reel_open(bough_context *ctx, const char *path, int32_t width, int32_t height, double fps,
                           app_reel *reel) {
    *reel = (app_reel){.path = strdup(path)};
    if (!reel->path)
        return BOUGH_ERROR_MEMORY;
    if (!is_video(path))
        return bough_animation_create(ctx, path, width, height, fps, &reel->animation);
    const bough_status s = bough_output_create(ctx, path, &reel->output);
    return s ? s : open_video(reel, width, height, fps);
}

bough_status app_reel_add(bough_context *ctx, const bough_picture *picture, int32_t width, int32_t height,
                          app_reel *reel) {
    const size_t size = 4 * (size_t)width * (size_t)height;
    if (reel->animation) {
        const bough_status s = bough_animation_add(ctx, reel->animation, picture);
        reel->frames += s == BOUGH_OK;
        return s;
    }
    if (fwrite(bough_picture_pixels(picture), 1, size, reel->pipe) != size)
        return problem(reel, BOUGH_ERROR_FILE, "%s: ffmpeg takes no more pictures: %s", reel->path, strerror(errno));
    reel->frames++;
    return BOUGH_OK;
}

/* Removes an unfinished film. */
static void forget(bough_context *ctx, app_reel *reel) {
    bough_output_discard(ctx, reel->output);
    free(reel->path);
    reel->output = NULL, reel->path = NULL;
}

bough_status app_reel_finish(bough_context *ctx, app_reel *reel) {
    bough_status s = BOUGH_OK;
    if (reel->animation) {
        s = bough_animation_finish(ctx, reel->animation);
        reel->animation = NULL;
    } else if (!wait_encoder(reel))
        s = problem(reel, BOUGH_ERROR_FILE, "%s: ffmpeg could not make it", reel->path);
    else {
        s = bough_output_finish(ctx, reel->output);
        reel->output = NULL;
    }
    forget(ctx, reel);
    return s;
}

void app_reel_discard(bough_context *ctx, app_reel *reel) {
    if (reel->animation)
        bough_animation_discard(ctx, reel->animation);
    if (reel->child > 0)
        kill(reel->child, SIGTERM);
    wait_encoder(reel);
    forget(ctx, reel);
    *reel = (app_reel){0};
}
