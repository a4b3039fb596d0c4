#include "base/file.h"
#include "base/vec.h"
#include "mesh/generate.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <locale.h>
#include <math.h>
#include <signal.h>
#include <spawn.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

extern char **environ;

#define PATH_SIZE 512
#define MISSING 127 /* exit status by which some systems report that the program could not be started */

/* A connected piece of the surface. One that is oriented against the largest is the wall of a cavity. */
typedef struct shell {
    double volume; /* signed */
    double area;   /* of its largest triangle */
    int32_t triangle;
    bool cavity;
} shell;

typedef struct job {
    bough_context *ctx;
    const bough_mesh *surface;
    bough_mesh *refined; /* the surface with short edges, where the program does not cut it itself; else NULL */
    double max_edge;
    bool oriented;     /* all edges are run through in both directions: signed volumes mean something */
    int32_t *shell_of; /* vertex -> shell; -1 in no triangle */
    shell *shells;
    int32_t shell_count, cavity_count;
    char folder[PATH_SIZE];
} job;

/* ---- shells ---- */

static bough_status find_shells(job *j) {
    j->shell_of = BO_NEW_ARRAY(j->ctx, int32_t, j->surface->vertex_count);
    if (!j->shell_of)
        return BOUGH_ERROR_MEMORY;
    BO_TRY(bo_mesh_pieces(j->ctx, j->surface, j->shell_of, &j->shell_count));
    j->shells = BO_NEW_ZEROS(j->ctx, shell, j->shell_count);
    return j->shells ? BOUGH_OK : BOUGH_ERROR_MEMORY;
}

static void triangle_corners(const job *j, int32_t triangle, bo_vec3 c[3]) {
    for (int i = 0; i < 3; i++)
        c[i] = bo_load3(j->surface->vertices + 3 * (size_t)bo_mesh_nodes(j->surface, triangle)[i]);
}

static void find_cavities(job *j) {
    bo_vec3 origin = bo_load3(j->surface->vertices);
    for (int32_t t = 0; t < j->surface->element_count; t++) {
        shell *s = &j->shells[j->shell_of[bo_mesh_nodes(j->surface, t)[0]]];
        bo_vec3 c[3];
        triangle_corners(j, t, c);
        bo_vec3 normal = bo_cross(bo_sub(c[1], c[0]), bo_sub(c[2], c[0]));
        s->volume += bo_dot(normal, bo_sub(c[0], origin)) / 6;
        if (bo_norm(normal) / 2 > s->area)
            s->area = bo_norm(normal) / 2, s->triangle = t;
    }
    double largest = 0;
    for (int32_t i = 0; i < j->shell_count; i++)
        if (fabs(j->shells[i].volume) > fabs(largest))
            largest = j->shells[i].volume;
    for (int32_t i = 0; i < j->shell_count && j->oriented; i++) {
        j->shells[i].cavity = j->shells[i].volume * largest < 0;
        j->cavity_count += j->shells[i].cavity;
    }
}

/* A point just inside the cavity: a little way along the normal of its largest triangle. */
static bo_vec3 cavity_point(const job *j, const shell *s) {
    bo_vec3 c[3];
    triangle_corners(j, s->triangle, c);
    bo_vec3 middle = bo_scale(1.0 / 3, bo_add(bo_add(c[0], c[1]), c[2]));
    bo_vec3 normal = bo_normalize(bo_cross(bo_sub(c[1], c[0]), bo_sub(c[2], c[0])));
    double step = 1e-3 * sqrt(s->area); /* normals of a sound cavity (negative volume) point into it */
    return bo_mul_add(middle, s->volume < 0 ? step : -step, normal);
}

/* ---- files for the programs ---- */

static void join_path(const job *j, const char *name, char path[PATH_SIZE]) {
    snprintf(path, PATH_SIZE, "%.*s/%s", PATH_SIZE - 32, j->folder, name);
}

static bough_status write_file(job *j, const char *name, void (*write)(const job *, FILE *)) {
    char path[PATH_SIZE];
    join_path(j, name, path);
    bo_output output;
    BO_TRY(bo_output_open(j->ctx, path, &output));
    write(j, output.stream);
    return bo_output_commit(j->ctx, &output);
}

/* TetGen's own format: binary .stl crashes it, and would round the vertices to floats. */
static void write_smesh(const job *j, FILE *out) {
    const bough_mesh *s = j->surface;
    fprintf(out, "%d 3 0 0\n", s->vertex_count);
    for (int32_t v = 0; v < s->vertex_count; v++) {
        const double *x = s->vertices + 3 * (size_t)v;
        fprintf(out, "%d %.17g %.17g %.17g\n", v, x[0], x[1], x[2]);
    }
    fprintf(out, "%d 0\n", s->element_count);
    for (int32_t t = 0; t < s->element_count; t++) {
        const int32_t *n = bo_mesh_nodes(s, t);
        fprintf(out, "3 %d %d %d\n", n[0], n[1], n[2]);
    }
    fprintf(out, "%d\n", j->cavity_count);
    for (int32_t i = 0, hole = 0; i < j->shell_count; i++)
        if (j->shells[i].cavity) {
            bo_vec3 x = cavity_point(j, &j->shells[i]);
            fprintf(out, "%d %.17g %.17g %.17g\n", hole++, x.x, x.y, x.z);
        }
    fprintf(out, "0\n");
}

/* Gmsh 2.2, one surface entity for each shell. */
static void write_msh(const job *j, FILE *out) {
    const bough_mesh *s = j->surface;
    fprintf(out, "$MeshFormat\n2.2 0 8\n$EndMeshFormat\n$Nodes\n%d\n", s->vertex_count);
    for (int32_t v = 0; v < s->vertex_count; v++) {
        const double *x = s->vertices + 3 * (size_t)v;
        fprintf(out, "%d %.17g %.17g %.17g\n", v + 1, x[0], x[1], x[2]);
    }
    fprintf(out, "$EndNodes\n$Elements\n%d\n", s->element_count);
    for (int32_t t = 0; t < s->element_count; t++) {
        const int32_t *n = bo_mesh_nodes(s, t);
        fprintf(out, "%d 2 2 0 %d %d %d %d\n", t + 1, j->shell_of[n[0]] + 1, n[0] + 1, n[1] + 1, n[2] + 1);
    }
    fprintf(out, "$EndElements\n");
}

/* A volume for each shell, or one volume of the only solid shell and all cavities. */
static void write_geo(const job *j, FILE *out) {
    fprintf(out, "Merge \"in.msh\";\n");
    for (int32_t i = 1; i <= j->shell_count; i++)
        fprintf(out, "Surface Loop(%d) = {%d};\n", i, i);
    if (j->cavity_count) {
        fprintf(out, "Volume(1) = {");
        for (int pass = 0; pass < 2; pass++) /* the outer wall comes first */
            for (int32_t i = 0; i < j->shell_count; i++)
                if (j->shells[i].cavity == pass)
                    fprintf(out, "%s%d", pass ? ", " : "", i + 1);
        fprintf(out, "};\n");
    } else {
        for (int32_t i = 1; i <= j->shell_count; i++)
            fprintf(out, "Volume(%d) = {%d};\n", i, i);
    }
    /* Only what is in a physical group is saved: the tets, without the triangles. */
    fprintf(out, "Physical Volume(1) = {1:%d};\n", j->cavity_count ? 1 : j->shell_count);
    if (j->max_edge > 0)
        fprintf(out, "Mesh.MeshSizeMax = %.17g;\n", j->max_edge);
}

/* ---- the programs ---- */

#define ARGUMENT_LIMIT 12

typedef struct command {
    char input[PATH_SIZE], output[PATH_SIZE], switches[64];
    const char *arguments[ARGUMENT_LIMIT];
} command;

static bough_status prepare_tetgen(job *j, command *c) {
    BO_TRY(write_file(j, "in.smesh", write_smesh));
    join_path(j, "in.smesh", c->input);
    join_path(j, "in.1.ele", c->output);
    snprintf(c->switches, sizeof c->switches, "-pq");
    if (j->max_edge > 0) /* no tet larger than the regular one with this edge */
        snprintf(c->switches, sizeof c->switches, "-pqa%.17g", pow(j->max_edge, 3) * M_SQRT2 / 12);
    const char *arguments[] = {"tetgen", c->switches, c->input, NULL};
    memcpy(c->arguments, arguments, sizeof arguments);
    return BOUGH_OK;
}

/* Gmsh keeps the triangles that it is given, and makes the tets inside about as large as these. Shells are numbered in
 * the order of their first vertices, which stay the first. */
static bough_status refine_surface(job *j) {
    int32_t count;
    BO_TRY(bo_surface_refine(j->ctx, j->surface, j->max_edge, &j->refined));
    bo_free(j->ctx, j->shell_of);
    j->shell_of = BO_NEW_ARRAY(j->ctx, int32_t, j->refined->vertex_count);
    if (!j->shell_of)
        return BOUGH_ERROR_MEMORY;
    j->surface = j->refined;
    return bo_mesh_pieces(j->ctx, j->surface, j->shell_of, &count);
}

static bough_status prepare_gmsh(job *j, command *c) {
    if (j->cavity_count && j->shell_count - j->cavity_count > 1)
        return bo_fail(j->ctx, BOUGH_ERROR_UNSUPPORTED,
                       "the surface has several pieces and cavities, which gmsh cannot be told; use tetgen");
    if (j->max_edge > 0)
        BO_TRY(refine_surface(j));
    BO_TRY(write_file(j, "in.msh", write_msh));
    BO_TRY(write_file(j, "in.geo", write_geo));
    join_path(j, "in.geo", c->input);
    join_path(j, "out.msh", c->output);
    const char *arguments[] = {"gmsh", "-3", "-v", "2", "-format", "msh22", "-o", c->output, c->input, NULL};
    memcpy(c->arguments, arguments, sizeof arguments);
    return BOUGH_OK;
}

static const struct {
    const char *name;
    bough_status (*prepare)(job *, command *);
} programs[] = {{"tetgen", prepare_tetgen}, {"gmsh", prepare_gmsh}};

#define PROGRAM_COUNT ((int)(sizeof programs / sizeof *programs))

static bough_status fail_missing(bough_context *ctx, const char *program) {
    return bo_fail(ctx, BOUGH_ERROR_MISSING_PROGRAM,
                   "%s installed: install gmsh or tetgen (Debian: apt install tetgen) or use voxels",
                   !program                       ? "neither gmsh nor tetgen is"
                   : strcmp(program, "gmsh") == 0 ? "gmsh is not"
                                                  : "tetgen is not");
}

static int spawn(const job *j, const command *c, pid_t *pid) {
    char log[PATH_SIZE];
    join_path(j, "log", log);
    posix_spawn_file_actions_t actions;
    int error = posix_spawn_file_actions_init(&actions);
    if (error)
        return error;
    error = posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
    if (!error)
        error = posix_spawn_file_actions_addopen(&actions, STDOUT_FILENO, log, O_WRONLY | O_CREAT | O_APPEND, 0600);
    if (!error)
        error = posix_spawn_file_actions_adddup2(&actions, STDOUT_FILENO, STDERR_FILENO);
    if (!error) /* the array is not changed: the cast only serves the old prototype */
        error = posix_spawnp(pid, c->arguments[0], &actions, NULL, (char *const *)(uintptr_t)c->arguments, environ);
    posix_spawn_file_actions_destroy(&actions);
    return error;
}

/* Waits for the child, asking now and then whether to go on. *code is its exit status, -1 when it crashed. */
static bough_status await(job *j, const char *program, pid_t pid, int *code) {
    for (;;) {
        int state = 0;
        pid_t done = waitpid(pid, &state, WNOHANG);
        if (done == pid)
            *code = WIFEXITED(state) ? WEXITSTATUS(state) : -1;
        else if (done < 0 && errno != EINTR)
            *code = 0; /* the host program reaps children itself: the output will tell */
        if (done == pid || (done < 0 && errno != EINTR))
            return BOUGH_OK;
        if (!bo_progress(j->ctx, "meshing", -1, "%s", program)) {
            kill(pid, SIGKILL);
            while (waitpid(pid, &state, 0) < 0 && errno == EINTR)
                ;
            return bo_fail_cancelled(j->ctx);
        }
        nanosleep(&(struct timespec){.tv_nsec = 5000000}, NULL);
    }
}

/* The last line of the program's log that says something. */
static void last_words(const job *j, char *out, size_t size) {
    char path[PATH_SIZE], line[256];
    join_path(j, "log", path);
    snprintf(out, size, "it said nothing");
    FILE *log = fopen(path, "r");
    if (!log)
        return;
    while (fgets(line, sizeof line, log)) {
        line[strcspn(line, "\r\n")] = 0;
        if (line[strspn(line, " \t-")])
            snprintf(out, size, "%s", line + strspn(line, " \t"));
    }
    fclose(log);
}

static bough_status fail_program(job *j, const char *program) {
    char words[200];
    last_words(j, words, sizeof words);
    return bo_fail(j->ctx, BOUGH_ERROR_ARGUMENT,
                   "%s could not fill the surface, most often because it cuts through itself: %s", program, words);
}

/* Groups and markers that only served the exchange. */
static void drop_sets(bough_context *ctx, bough_mesh *mesh) {
    for (int32_t i = 0; i < mesh->set_count; i++) {
        bo_free(ctx, mesh->sets[i].name);
        bo_free(ctx, mesh->sets[i].items);
    }
    bo_free(ctx, mesh->sets);
    mesh->sets = NULL;
    mesh->set_count = 0;
}

/* The tets that come back must fill the surface that was given. */
static void compare_volumes(job *j, const char *program, const bough_mesh *mesh) {
    double inside = 0, filled = 0;
    for (int32_t i = 0; i < j->shell_count; i++)
        inside += j->shells[i].volume;
    for (int32_t e = 0; e < mesh->element_count; e++)
        filled += bo_element_volume(mesh->type, mesh->vertices, bo_mesh_nodes(mesh, e));
    if (j->oriented && fabs(filled - fabs(inside)) > 1e-3 * filled)
        bo_warn(j->ctx, "%s filled %g m^3, but the surface encloses %g m^3", program, filled, fabs(inside));
}

static bough_status run_program(job *j, int which, bough_mesh **mesh) {
    const char *program = programs[which].name;
    command c = {0};
    BO_TRY(programs[which].prepare(j, &c));
    pid_t pid;
    int code = 0, error = spawn(j, &c, &pid);
    if (error == ENOENT || error == EACCES)
        return fail_missing(j->ctx, program);
    if (error)
        return bo_fail(j->ctx, BOUGH_ERROR_FILE, "%s cannot be started: %s", program, strerror(error));
    BO_TRY(await(j, program, pid, &code));
    if (code == MISSING)
        return fail_missing(j->ctx, program);
    if (code != 0 || !bo_file_exists(c.output))
        return fail_program(j, program);
    bough_mesh_read_def def = bough_default_mesh_read_def();
    def.volumes = BOUGH_VOLUME_REPAIR;
    bough_status status = bough_mesh_read(j->ctx, c.output, &def, mesh);
    if (status != BOUGH_OK) {
        bo_prefix_message(j->ctx, "the mesh that %s made cannot be used: ", program);
        return status;
    }
    if ((*mesh)->type == BOUGH_TRI3) {
        bough_mesh_destroy(j->ctx, *mesh);
        *mesh = NULL;
        return fail_program(j, program);
    }
    drop_sets(j->ctx, *mesh);
    compare_volumes(j, program, *mesh);
    return BOUGH_OK;
}

/* ---- the folder for all this ---- */

static bough_status make_folder(job *j) {
    const char *parent = getenv("TMPDIR");
    if (!parent || !parent[0])
        parent = "/tmp";
    if (strlen(parent) + 64 > PATH_SIZE)
        return bo_fail(j->ctx, BOUGH_ERROR_FILE, "the path in TMPDIR is too long");
    snprintf(j->folder, sizeof j->folder, "%s/bough-XXXXXX", parent);
    if (mkdtemp(j->folder))
        return BOUGH_OK;
    j->folder[0] = 0;
    return bo_fail(j->ctx, BOUGH_ERROR_FILE, "no temporary folder can be made in %s: %s", parent, strerror(errno));
}

static void remove_folder(job *j) {
    DIR *folder = j->folder[0] ? opendir(j->folder) : NULL;
    if (!folder)
        return;
    for (struct dirent *entry; (entry = readdir(folder));) {
        char path[PATH_SIZE + sizeof entry->d_name];
        snprintf(path, sizeof path, "%s/%s", j->folder, entry->d_name);
        unlink(path); /* fails on . and .. only: the programs make no folders */
    }
    closedir(folder);
    rmdir(j->folder);
}

static bough_status check_arguments(job *j) {
    if (j->surface->type != BOUGH_TRI3)
        return bo_fail(j->ctx, BOUGH_ERROR_ARGUMENT, "only a triangle surface can be filled with tets; this mesh is %s",
                       bough_element_name(j->surface->type));
    if (!(j->max_edge >= 0) || !isfinite(j->max_edge))
        return bo_fail(j->ctx, BOUGH_ERROR_ARGUMENT,
                       "the longest edge is %g m; it must be positive, or 0 to leave it to the program", j->max_edge);
    if (j->surface->element_count == 0)
        return bo_fail(j->ctx, BOUGH_ERROR_ARGUMENT, "the surface has no triangles");
    bo_edge_census census;
    BO_TRY(bo_surface_census(j->ctx, j->surface, &census));
    if (census.odd_count)
        return bo_fail(j->ctx, BOUGH_ERROR_ARGUMENT,
                       "the surface is not closed: %d of its %d edges are open, so it cannot be filled with tets; fill "
                       "its holes and merge its duplicate vertices first",
                       census.odd_count, census.edge_count);
    j->oriented = census.inconsistent_count == 0;
    return BOUGH_OK;
}

static bough_status tetrahedralize(job *j, const char *program, bough_mesh **mesh) {
    BO_TRY(check_arguments(j));
    BO_TRY(find_shells(j));
    find_cavities(j);
    BO_TRY(make_folder(j));
    for (int i = 0; i < PROGRAM_COUNT; i++) {
        if (program && strcmp(program, programs[i].name) != 0)
            continue;
        bough_status status = run_program(j, i, mesh);
        if (program || status != BOUGH_ERROR_MISSING_PROGRAM)
            return status;
    }
    return fail_missing(j->ctx, NULL);
}

static bool known_program(const char *program) {
    for (int i = 0; i < PROGRAM_COUNT; i++)
        if (strcmp(program, programs[i].name) == 0)
            return true;
    return false;
}

bough_status bough_mesh_tetrahedralize(bough_context *ctx, const bough_mesh *surface, const char *program,
                                       double max_edge, bough_mesh **mesh) {
    *mesh = NULL;
    if (program && !known_program(program))
        return bo_fail(ctx, BOUGH_ERROR_ARGUMENT, "the program must be \"gmsh\" or \"tetgen\", not \"%.100s\"",
                       program);
    /* Numbers for other programs have a point whatever the host program's locale is. */
    locale_t plain = newlocale(LC_ALL_MASK, "C", (locale_t)0);
    locale_t before = plain ? uselocale(plain) : (locale_t)0;
    job j = {.ctx = ctx, .surface = surface, .max_edge = max_edge};
    bough_status status = tetrahedralize(&j, program, mesh);
    remove_folder(&j);
    bough_mesh_destroy(ctx, j.refined);
    bo_free(ctx, j.shell_of);
    bo_free(ctx, j.shells);
    if (plain) {
        uselocale(before);
        freelocale(plain);
    }
    return status;
}
