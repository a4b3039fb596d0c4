/* A scene as one page: the viewer's page, the engine as WebAssembly, and the files of the scene. */
#include "app.h"

#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { OPT_HTML = 256, OPT_TITLE, OPT_PAUSED, OPT_PROGRAM };

typedef struct {
    app_scene_options scene;
    const char *html, *title, *program;
    bool paused;
} arguments;

static const struct argp_option options[] = {
    {"html", OPT_HTML, "FILE.html", 0, "the page (default: beside the scene, with the extension .html)", 0},
    {"title", OPT_TITLE, "TEXT", 0, "of the page (default: the scene's name)", 0},
    {"paused", OPT_PAUSED, 0, 0, "begins paused", 0},
    {"program", OPT_PROGRAM, "FILE.wasm", 0, "the engine (default: the one that was built, or is installed)", 0},
    {0},
};

static error_t parse(int key, char *text, struct argp_state *state) {
    arguments *a = state->input;
    switch (key) {
    case ARGP_KEY_INIT:
        state->child_inputs[0] = &a->scene;
        break;
    case OPT_HTML:
        app_need_extension(state, "html", text, ".html");
        a->html = text;
        break;
    case OPT_TITLE:
        a->title = text;
        break;
    case OPT_PAUSED:
        a->paused = true;
        break;
    case OPT_PROGRAM:
        a->program = text;
        break;
    default:
        return ARGP_ERR_UNKNOWN;
    }
    return 0;
}

static const struct argp parser = {
    options,
    parse,
    "SCENE.json",
    "Writes a scene as one page that a browser opens from the disk, without server and network: the engine steps the "
    "scene in the page, which is that of bough view, with pulls, cuts, sliders and plots. What is not up to date is "
    "cooked first."
    "\vExamples:\n"
    "  bough export scene.json --html oak.html\n"
    "  bough export scene.json --paused --title \"An oak\"",
    app_scene_children,
    NULL,
    NULL,
};

/* ---- what the scene reads ---- */

typedef struct {
    char **paths; /* without links, "." and "..", each once */
    size_t count, capacity;
    bool failed;
} reading;

static void on_reading(void *user, const char *path) {
    reading *r = user;
    char *full = realpath(path, NULL);
    for (size_t i = 0; i < r->count && full; i++)
        if (!strcmp(r->paths[i], full)) {
            free(full);
            return;
        }
    if (!full)
        return; /* not there: whoever reads it will say so */
    if (r->count == r->capacity) {
        char **larger = realloc(r->paths, (2 * r->capacity + 16) * sizeof *larger);
        if (!larger) {
            r->failed = true;
            free(full);
            return;
        }
        r->paths = larger, r->capacity = 2 * r->capacity + 16;
    }
    r->paths[r->count++] = full;
}

static void forget(reading *r) {
    for (size_t i = 0; i < r->count; i++)
        free(r->paths[i]);
    free(r->paths);
}

/* Loads the scene and begins a run, as the page will. */
static bough_status rehearse(bough_context *ctx, const char *path) {
    bough_scene *scene = NULL;
    bough_run *run = NULL;
    const bough_run_def def = bough_default_run_def();
    bough_status status = bough_scene_load(ctx, path, &scene);
    if (!status)
        status = bough_run_create(ctx, scene, &def, &run);
    bough_run_destroy(ctx, run);
    bough_scene_destroy(ctx, scene);
    return status;
}

/* The first time cooks what is missing, the second reads it. On one thread, so that nobody is told two paths at once. */
static bough_status list_reading(const arguments *a, reading *r) {
    bough_context *ctx = app_context(a->scene.threads), *one = app_context(1);
    bough_status status = rehearse(ctx, a->scene.path);
    app_clear_progress();
    if (status)
        app_fail(ctx);
    else {
        app_hush_warnings(); /* they were said the first time */
        bough_context_set_reading(one, on_reading, r);
        status = rehearse(one, a->scene.path);
        app_clear_progress();
        if (status)
            app_fail(one);
    }
    bough_context_destroy(ctx);
    bough_context_destroy(one);
    return status;
}

/* Length of the folders, with a slash, that all paths begin with. */
static size_t common_length(const reading *r) {
    size_t length = r->count ? strlen(r->paths[0]) : 0;
    for (size_t i = 1; i < r->count; i++)
        for (size_t k = 0; k < length; k++)
            if (r->paths[i][k] != r->paths[0][k])
                length = k;
    while (length > 0 && r->paths[0][length - 1] != '/')
        length--;
    return length;
}

static bool add_scene(app_bundle *bundle, const reading *r, size_t common) {
    bool good = true;
    for (size_t i = 0; i < r->count && good; i++) {
        char name[PATH_MAX + 8];
        snprintf(name, sizeof name, "scene/%s", r->paths[i] + common);
        good = app_bundle_add(bundle, name, r->paths[i]);
    }
    return good;
}

/* ---- the page ---- */

/* "page/main.js" and "../node_modules/a.js" become "node_modules/a.js". */
static void resolve(const char *module, const char *specifier, size_t length, char *name, size_t size) {
    const char *slash = strrchr(module, '/');
    int folder = slash ? (int)(slash - module) : 0;
    while (length > 2 && (!strncmp(specifier, "./", 2) || !strncmp(specifier, "../", 3))) {
        const size_t skip = specifier[1] == '.' ? 3 : 2;
        for (int k = folder - 1; skip == 3 && folder > 0; k--)
            if (k <= 0 || module[k] == '/') {
                folder = k > 0 ? k : 0;
                break;
            }
        specifier += skip, length -= skip;
    }
    snprintf(name, size, "%.*s%s%.*s", folder, module, folder ? "/" : "", (int)length, specifier);
}

static bool add_module(app_bundle *bundle, const char *folder, const char *name);

/* Modules name others as `from "./other.js"`; what is no path of its own, such as a text, has no such quote behind it. */
static bool add_imports(app_bundle *bundle, const char *folder, const char *module) {
    static const char words[] = "from";
    bool good = true;
    for (size_t at = 0; good;) {
        size_t size; /* the bundle grows meanwhile */
        const char *text = app_bundle_find(bundle, module, &size);
        const char *found = memmem(text + at, size - at, words, strlen(words));
        if (!found)
            break;
        const char *end = text + size, *c = found + strlen(words);
        at = (size_t)(c - text);
        while (c < end && *c == ' ')
            c++;
        const char quote = c < end ? *c : 0;
        if ((quote != '"' && quote != '\'') || end - c < 3 || c[1] != '.')
            continue;
        const char *close = memchr(c + 1, quote, (size_t)(end - c) - 1);
        char name[512];
        if (!close || close - c > 256)
            continue;
        resolve(module, c + 1, (size_t)(close - c) - 1, name, sizeof name);
        good = add_module(bundle, folder, name);
    }
    return good;
}

static bool add_page_file(app_bundle *bundle, const char *folder, const char *name) {
    char path[PATH_MAX];
    snprintf(path, sizeof path, "%s/%s", folder, name);
    return app_bundle_has(bundle, name) || app_bundle_add(bundle, name, path);
}

static bool add_module(app_bundle *bundle, const char *folder, const char *name) {
    return app_bundle_has(bundle, name) || (add_page_file(bundle, folder, name) && add_imports(bundle, folder, name));
}

static const char *find_program(const arguments *a, const char *folder, char path[PATH_MAX]) {
    if (a->program)
        return a->program;
    snprintf(path, PATH_MAX, "%s/page.wasm", folder);
    return access(path, R_OK) == 0 ? path : BOUGH_PAGE_PROGRAM;
}

static bool add_program(app_bundle *bundle, const char *program) {
    static const char magic[4] = {0, 'a', 's', 'm'};
    size_t size;
    if (!app_bundle_add(bundle, "page.wasm", program))
        return false;
    const char *bytes = app_bundle_find(bundle, "page.wasm", &size);
    if (size < sizeof magic || memcmp(bytes, magic, sizeof magic) != 0)
        return app_fail_with("%s: is no WebAssembly", program) == APP_OK;
    return true;
}

static bool add_page(app_bundle *bundle, const arguments *a, const char *folder) {
    char path[PATH_MAX];
    const char *program = find_program(a, folder, path);
    if (access(program, R_OK) != 0)
        return app_fail_with("%s is not there: the engine for browsers was not built; ./bough export in the sources of "
                             "Bough builds build/wasm/page.wasm, which --program takes and cmake --install puts in place",
                             program) == APP_OK;
    return add_module(bundle, folder, "page/main.js") && add_module(bundle, folder, "page/worker.js") &&
           add_page_file(bundle, folder, "node_modules/uplot/dist/uPlot.min.css") &&
           add_page_file(bundle, folder, "style.css") && add_program(bundle, program);
}

/* ---- the file ---- */

/* Texts of the page's head and body as they are in index.html, without what names other files. */
static bool is_about_files(const char *line) {
    return strstr(line, "<link rel=") || strstr(line, "<script ");
}

static void write_escaped(const char *text, FILE *out) {
    for (; *text; text++)
        if (*text == '<')
            fputs("&lt;", out);
        else if (*text == '&')
            fputs("&amp;", out);
        else
            putc(*text, out);
}

static bool copy_script(const char *folder, FILE *out) {
    char path[PATH_MAX], line[4096];
    snprintf(path, sizeof path, "%s/unpack.js", folder);
    FILE *script = fopen(path, "r");
    if (!script)
        return app_fail_with("%s: cannot be read: %s", path, strerror(errno)) == APP_OK;
    fputs("<script>\n", out);
    while (fgets(line, sizeof line, script))
        fputs(line, out);
    fputs("</script>\n", out);
    fclose(script);
    return true;
}

static bool write_page(const arguments *a, const char *folder, const app_bundle *bundle, const char *scene,
                       const char *title, FILE *out, size_t *bytes) {
    char path[PATH_MAX], line[4096];
    snprintf(path, sizeof path, "%s/index.html", folder);
    FILE *page = fopen(path, "r");
    if (!page)
        return app_fail_with("%s: cannot be read: %s", path, strerror(errno)) == APP_OK;
    bool good = true;
    while (good && fgets(line, sizeof line, page)) {
        if (strstr(line, "<title>")) {
            fputs("<title>", out);
            write_escaped(title, out);
            fputs("</title>\n", out);
        } else if (strstr(line, "</body>")) {
            fputs("<script id=\"bundle\" type=\"application/octet-stream\">", out);
            good = app_bundle_write(bundle, json_pack("{s:o, s:b}", "scene", app_json_text(scene), "paused", a->paused),
                                    out, bytes);
            fputs("</script>\n", out);
            good = good && copy_script(folder, out);
            fputs(line, out);
        } else if (!is_about_files(line))
            fputs(line, out);
    }
    fclose(page);
    return good;
}

/* The file appears when it is whole. */
static bool write_file(const arguments *a, const char *folder, const app_bundle *bundle, const char *scene,
                       const char *title, const char *path, size_t *bytes) {
    char part[PATH_MAX + 32];
    snprintf(part, sizeof part, "%s.part%ld", path, (long)getpid());
    FILE *out = fopen(part, "wb");
    bool good = out && write_page(a, folder, bundle, scene, title, out, bytes);
    if (out && (fclose(out) != 0 || !good || rename(part, path) != 0)) {
        remove(part);
        good = false;
    }
    if (!good)
        app_fail_with("%s: cannot be written: %s", path, strerror(errno));
    return good;
}

static void tell(const arguments *a, const char *path, const reading *r, size_t bytes) {
    struct stat info = {0};
    stat(path, &info);
    if (a->scene.json)
        app_print_json(json_pack("{s:o, s:I, s:I, s:I}", "file", app_json_text(path), "bytes", (json_int_t)info.st_size,
                                 "unpacked", (json_int_t)bytes, "scene_files", (json_int_t)r->count));
    else
        printf("%s: %s; %zu files of the scene, %s unpacked\nNext: open it in a browser\n", path,
               app_size_text((double)info.st_size), r->count, app_size_text((double)bytes));
}

/* "oak/scene.json" becomes "oak/scene.html". */
static void page_name(const arguments *a, char path[PATH_MAX]) {
    const char *slash = strrchr(a->scene.path, '/'), *dot = strrchr(slash ? slash : a->scene.path, '.');
    snprintf(path, PATH_MAX, "%.*s.html", dot ? (int)(dot - a->scene.path) : (int)strlen(a->scene.path), a->scene.path);
}

/* The scene's name, and of "scene.json" that of its folder. */
static void name_of(const char *path, char name[256]) {
    const char *slash = strrchr(path, '/'), *base = slash ? slash + 1 : path, *dot = strrchr(base, '.');
    int length = dot ? (int)(dot - base) : (int)strlen(base);
    if (length == 5 && !strncmp(base, "scene", 5) && slash && slash > path) {
        const char *from = slash;
        while (from > path && from[-1] != '/')
            from--;
        base = from, length = (int)(slash - from);
    }
    snprintf(name, 256, "%.*s", length, base);
}

int command_export(int argc, char **argv) {
    arguments a = {0};
    app_parse(&parser, argc, argv, &a);
    char beside[PATH_MAX], full[PATH_MAX], name[256];
    page_name(&a, beside);
    const char *path = a.html ? a.html : beside, *folder = app_viewer_folder(NULL);
    app_bundle *bundle = app_bundle_new();
    reading r = {0};
    size_t bytes = 0;
    bool good =
        bundle && add_page(bundle, &a, folder) && !list_reading(&a, &r) && !r.failed && realpath(a.scene.path, full);
    if (good) {
        const size_t common = common_length(&r);
        name_of(full, name);
        good = add_scene(bundle, &r, common) &&
               write_file(&a, folder, bundle, full + common - 1, a.title ? a.title : name, path, &bytes);
    }
    if (good)
        tell(&a, path, &r, bytes);
    app_bundle_free(bundle);
    forget(&r);
    return good ? APP_OK : APP_FAILED;
}
