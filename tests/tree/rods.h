/* Rigid rods as components that nobody cooked. */
#ifndef TESTS_TREE_RODS_H
#define TESTS_TREE_RODS_H

#include "test.h"

#include "tree/tree.h"

#include "joints.h"

static const double length = 0.5, breadth = 0.05, mass = 2, weight = 9.81;

/* A rod along -z from its origin, with an interface at either end. */
typedef struct {
    bough_component c;
    bough_interface faces[2];
    double A[2][9];
} rod;

static inline void make_rod(rod *r) {
    static const bough_surface no_surface = {0};
    *r = (rod){0};
    for (int f = 0; f < 2; f++) {
        r->A[f][0] = r->A[f][4] = 0.5; /* a square patch: A_0 = C / tr C */
        r->faces[f] = (bough_interface){
            .name = f ? "tip" : "base", .centre = {0, 0, f ? -length : 0}, .radius = 0.01, .A = r->A[f]};
    }
    r->c = (bough_component){.elastic = BOUGH_REDUCED_RIGID, .mass = mass, .surface = no_surface};
    r->c.mc0[2] = -0.5 * mass * length;
    r->c.Sigma0[0] = r->c.Sigma0[4] = mass * breadth * breadth / 12;
    r->c.Sigma0[8] = mass * length * length / 3;
    r->c.interface_count = 2, r->c.interfaces = r->faces;
}

#endif
