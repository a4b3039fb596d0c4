/* A reduced mechanism for other programs: all that a step needs, as arrays. docs/mechanisms.md has their meaning. */
#include "app.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* A matrix of the model; each pose is 12 numbers: rotation by rows, position. */
typedef struct {
    const char *name;
    int32_t rows, columns;
    const double *values;
} matrix;

enum { MATRICES = 13 };

static void list_matrices(const bough_mechanism_model *m, const double *rest, const double *frames,
                          matrix list[MATRICES]) {
    const int32_t n = 6 * m->end_effector_count, links = m->link_count;
    const matrix all[MATRICES] = {{"C", n, n, m->C},
                                  {"K", n, n, m->K},
                                  {"M", n, n, m->M},
                                  {"D", n, n, m->D},
                                  {"Q", n, m->rank, m->Q},
                                  {"P", m->rank, n, m->P},
                                  {"Psi", 6 * links, n, m->Psi},
                                  {"rest_xi", 1, n, m->rest_xi},
                                  {"rest_twists", links, 6, m->rest_twists},
                                  {"M_base", 6, 6, m->M_base},
                                  {"M_coupling", 6, m->rank, m->M_coupling},
                                  {"rest", links, 12, rest},
                                  {"frames", m->end_effector_count, 12, frames}};
    memcpy(list, all, sizeof all);
}

static void put_pose(const bough_pose *pose, double *numbers) {
    memcpy(numbers, pose->rotation, sizeof pose->rotation);
    memcpy(numbers + 9, pose->position, sizeof pose->position);
}

typedef struct {
    const char **links, **effectors; /* names */
    int32_t *effector_links;
    double *rest, *frames;
} lists;

static bool make_lists(const app_mechanism *m, const app_effectors *chosen, const bough_mechanism_model *model,
                       lists *l) {
    const bough_mechanism_def *def = bough_mechanism_describe(m->mechanism);
    const size_t links = (size_t)model->link_count, effectors = (size_t)chosen->count + 1;
    *l = (lists){calloc(links, sizeof *l->links), calloc(effectors, sizeof *l->effectors),
                 calloc(effectors, sizeof *l->effector_links), calloc(12 * links, sizeof *l->rest),
                 calloc(12 * effectors, sizeof *l->frames)};
    if (!l->links || !l->effectors || !l->effector_links || !l->rest || !l->frames)
        return false;
    for (int32_t i = 0; i < model->link_count; i++) {
        l->links[i] = def->links[i].name ? def->links[i].name : "";
        put_pose(&model->rest[i], l->rest + 12 * i);
    }
    for (int32_t k = 0; k < chosen->count; k++) {
        l->effectors[k] = chosen->effectors[k].name;
        l->effector_links[k] = chosen->at[k].body;
        put_pose(&chosen->at[k].pose, l->frames + 12 * k);
    }
    return true;
}

static void free_lists(lists *l) {
    free(l->links);
    free(l->effectors);
    free(l->effector_links);
    free(l->rest);
    free(l->frames);
}

/* ---- .npz ---- */

static bough_status put_integers(bough_context *ctx, bough_npz *npz, int32_t *number, const char *name, int32_t count,
                                 const int32_t *values) {
    const bough_status status = bough_npz_add_array(ctx, npz, name, BOUGH_NPZ_INT32, 0, NULL);
    return status ? status : bough_npz_append(ctx, npz, (*number)++, count, values);
}

static bough_status put_matrices(bough_context *ctx, bough_npz *npz, int32_t *number, const matrix *list) {
    for (int k = 0; k < MATRICES; k++) {
        if (list[k].columns == 0)
            continue; /* nothing moves */
        bough_status status = bough_npz_add_array(ctx, npz, list[k].name, BOUGH_NPZ_FLOAT64, 1, &list[k].columns);
        if (status == BOUGH_OK)
            status = bough_npz_append(ctx, npz, (*number)++, list[k].rows, list[k].values);
        if (status != BOUGH_OK)
            return status;
    }
    return BOUGH_OK;
}

static bough_status fill_npz(bough_context *ctx, bough_npz *npz, const bough_mechanism_model *model, const lists *l,
                             const matrix *list) {
    int32_t number = 0;
    const int32_t base = model->base, free_base = model->free_base;
    bough_status status = put_matrices(ctx, npz, &number, list);
    if (status == BOUGH_OK)
        status = put_integers(ctx, npz, &number, "end_effector_links", model->end_effector_count, l->effector_links);
    if (status == BOUGH_OK)
        status = put_integers(ctx, npz, &number, "base", 1, &base);
    if (status == BOUGH_OK)
        status = put_integers(ctx, npz, &number, "free_base", 1, &free_base);
    if (status == BOUGH_OK)
        status = bough_npz_add_texts(ctx, npz, "links", model->link_count, l->links);
    if (status == BOUGH_OK)
        status = bough_npz_add_texts(ctx, npz, "end_effectors", model->end_effector_count, l->effectors);
    return status;
}

static bough_status write_npz(bough_context *ctx, const bough_mechanism_model *model, const lists *l,
                              const matrix *list, const char *path) {
    bough_npz *npz;
    bough_status status = bough_npz_create(ctx, path, &npz);
    if (status != BOUGH_OK)
        return status;
    status = fill_npz(ctx, npz, model, l, list);
    if (status == BOUGH_OK)
        return bough_npz_finish(ctx, npz);
    bough_npz_discard(ctx, npz);
    return status;
}

/* ---- .json ---- */

static json_t *json_matrix(const matrix *a) {
    json_t *rows = json_array();
    for (int32_t i = 0; i < a->rows; i++)
        json_array_append_new(rows, app_json_numbers(a->values + (size_t)i * (size_t)a->columns, a->columns));
    return rows;
}

static json_t *json_texts(const char *const *texts, int32_t count) {
    json_t *list = json_array();
    for (int32_t i = 0; i < count; i++)
        json_array_append_new(list, app_json_text(texts[i]));
    return list;
}

static int write_json(const bough_mechanism_model *model, const lists *l, const matrix *list, const char *path) {
    json_t *links = json_array(), *object = json_object();
    for (int32_t k = 0; k < model->end_effector_count; k++)
        json_array_append_new(links, json_integer(l->effector_links[k]));
    json_object_set_new(object, "links", json_texts(l->links, model->link_count));
    json_object_set_new(object, "end_effectors", json_texts(l->effectors, model->end_effector_count));
    json_object_set_new(object, "end_effector_links", links);
    json_object_set_new(object, "base", json_integer(model->base));
    json_object_set_new(object, "free_base", json_boolean(model->free_base));
    for (int k = 0; k < MATRICES; k++)
        json_object_set_new(object, list[k].name, json_matrix(&list[k]));
    const int failed = json_dump_file(object, path, JSON_COMPACT | JSON_REAL_PRECISION(17));
    json_decref(object);
    return failed ? app_fail_with("%s: cannot be written: %s", path, strerror(errno)) : APP_OK;
}

int app_write_mechanism(bough_context *ctx, const app_mechanism *m, const app_effectors *chosen,
                        const bough_mechanism_model *model, const char *path) {
    lists l;
    matrix list[MATRICES];
    int status = make_lists(m, chosen, model, &l) ? APP_OK : app_fail_with("out of memory");
    if (status == APP_OK) {
        list_matrices(model, l.rest, l.frames, list);
        if (app_has_extension(path, ".json"))
            status = write_json(model, &l, list, path);
        else
            status = write_npz(ctx, model, &l, list, path) ? app_fail(ctx) : APP_OK;
    }
    free_lists(&l);
    return status;
}
