#include "whole_tree.h"

#include "base/polar.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

const bough_component *whole_tree_component(const whole_tree *t, int32_t part) {
    const bough_tree_model_def *def = bough_tree_model_describe(t->model);
    return def->components[def->parts[part].component];
}

/* X + U q of the part's axes, or U q alone. */
static bo_vec3 local_position(const bough_component *c, int32_t vertex, const double *q, bool rates) {
    double x[3];
    for (size_t d = 0; d < 3; d++) {
        const size_t row = 3 * (size_t)vertex + d;
        x[d] = rates ? 0 : c->volume.position[row];
        for (size_t l = 0; l < (size_t)c->r; l++)
            x[d] += c->volume.U[row * (size_t)c->r + l] * q[l];
    }
    return bo_load3(x);
}

void whole_tree_vertex(const whole_tree *t, const bough_tree_state *state, int32_t part, int32_t vertex, double x[3],
                       double v[3]) {
    const bough_component *c = whole_tree_component(t, part);
    const bough_frame *frame = &state->frames[part];
    const double scale = bough_tree_model_describe(t->model)->parts[part].scale;
    const int32_t offset = bough_tree_model_offset(t->model, part);
    bo_mat3 R;
    memcpy(R.m, frame->pose.rotation, sizeof R.m);
    const bo_vec3 arm = bo_mat_vec(R, bo_scale(scale, local_position(c, vertex, state->q + offset, false)));
    bo_store3(x, bo_add(bo_load3(frame->pose.position), arm));
    if (!v)
        return;
    const bo_vec3 rate = bo_mat_vec(R, bo_scale(scale, local_position(c, vertex, state->v + offset, true)));
    const bo_vec3 swing = bo_cross(bo_load3(frame->angular_velocity), arm);
    bo_store3(v, bo_add(bo_load3(frame->velocity), bo_add(swing, rate)));
}

static int32_t nearest(const bough_mesh *mesh, const double x[3], double *distance) {
    int32_t best = 0;
    *distance = INFINITY;
    for (int32_t v = 0; v < mesh->vertex_count; v++) {
        const double d = bo_norm(bo_sub(bo_load3(mesh->vertices + 3 * (size_t)v), bo_load3(x)));
        if (d < *distance)
            *distance = d, best = v;
    }
    return best;
}

bool whole_tree_create(const bough_tree_model *model, const bough_mesh *mesh, const bough_tree_state *state,
                       whole_tree *t) {
    const int32_t parts = bough_tree_model_part_count(model);
    *t = (whole_tree){.model = model, .mesh = mesh, .first = calloc((size_t)parts + 1, sizeof *t->first)};
    for (int32_t p = 0; p < parts && t->first; p++)
        t->first[p + 1] = t->first[p] + whole_tree_component(t, p)->volume.vertex_count;
    t->vertex = t->first ? malloc((size_t)t->first[parts] * sizeof *t->vertex) : NULL;
    for (int32_t p = 0; p < parts && t->vertex; p++)
        for (int32_t v = t->first[p]; v < t->first[p + 1]; v++) {
            double x[3], distance;
            whole_tree_vertex(t, state, p, v - t->first[p], x, NULL);
            t->vertex[v] = nearest(mesh, x, &distance);
            if (distance > 1e-6)
                return false;
        }
    return t->vertex;
}

void whole_tree_destroy(whole_tree *t) {
    free(t->first);
    free(t->vertex);
    *t = (whole_tree){0};
}

bool whole_tree_velocities(const whole_tree *t, const bough_tree_state *state, double *v) {
    double *copies = calloc((size_t)t->mesh->vertex_count, sizeof *copies), x[3], one[3];
    memset(v, 0, 3 * (size_t)t->mesh->vertex_count * sizeof *v);
    for (int32_t p = 0; p < bough_tree_model_part_count(t->model) && copies; p++)
        for (int32_t i = t->first[p]; i < t->first[p + 1]; i++) {
            whole_tree_vertex(t, state, p, i - t->first[p], x, one);
            for (int d = 0; d < 3; d++)
                v[3 * (size_t)t->vertex[i] + (size_t)d] += one[d];
            copies[t->vertex[i]]++;
        }
    for (int32_t k = 0; k < 3 * t->mesh->vertex_count && copies; k++)
        v[k] /= fmax(1, copies[k / 3]);
    const bool good = copies;
    free(copies);
    return good;
}

/* ---- interfaces ---- */

/* Finds the present place of the interface's vertex k, and its place at rest. */
static bo_vec3 interface_vertex(const whole_tree *t, const bough_tree_state *state, const double *u, int32_t parent,
                                int32_t vertex, bo_vec3 *rest) {
    const size_t v = 3 * (size_t)t->vertex[t->first[parent] + vertex];
    double x[3];
    *rest = bo_load3(t->mesh->vertices + v);
    if (u)
        return bo_add(*rest, bo_load3(u + v));
    whole_tree_vertex(t, state, parent, vertex, x, NULL);
    return bo_load3(x);
}

/* With B = sum w d D^T of places d now and D at rest, both from their centres, the best rotation is the polar factor R
 * of B = R S, and what it leaves sum w |d - R D|^2 = sum w (|d|^2 + |D|^2) - 2 tr S. Summed vertex by vertex instead,
 * since that difference is rounding for interfaces that hardly deform. */
double whole_tree_deviation(const whole_tree *t, const bough_tree_state *state, const double *u, int32_t part) {
    const bough_part_def *def = &bough_tree_model_describe(t->model)->parts[part];
    const bough_interface *face = &whole_tree_component(t, def->parent)->interfaces[def->interface_index];
    bo_vec3 centre = bo_v3(0, 0, 0), rest_centre = bo_v3(0, 0, 0), rest;
    bo_mat3 B = {{0}}, R, S;
    for (int32_t k = 0; k < face->vertex_count; k++) {
        const bo_vec3 x = interface_vertex(t, state, u, def->parent, face->vertices[k], &rest);
        centre = bo_mul_add(centre, face->weights[k], x);
        rest_centre = bo_mul_add(rest_centre, face->weights[k], rest);
    }
    for (int32_t k = 0; k < face->vertex_count; k++) {
        double d[3], D[3];
        bo_store3(d, bo_sub(interface_vertex(t, state, u, def->parent, face->vertices[k], &rest), centre));
        bo_store3(D, bo_sub(rest, rest_centre));
        for (int e = 0; e < 9; e++)
            B.m[e] += face->weights[k] * d[e / 3] * D[e % 3];
    }
    bo_polar(B, &R, &S);
    double left = 0, size = 0;
    for (int32_t k = 0; k < face->vertex_count; k++) {
        const bo_vec3 d = bo_sub(interface_vertex(t, state, u, def->parent, face->vertices[k], &rest), centre);
        const bo_vec3 D = bo_sub(rest, rest_centre), gap = bo_sub(d, bo_mat_vec(R, D));
        left += face->weights[k] * bo_dot(gap, gap);
        size += face->weights[k] * bo_dot(D, D);
    }
    return sqrt(left / size);
}
