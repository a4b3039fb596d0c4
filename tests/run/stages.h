/* Small scenes of every engine, as texts. */
#ifndef TESTS_RUN_STAGES_H
#define TESTS_RUN_STAGES_H

#include "run/play.h"

/* A beam of three domains along x. */
#define CHAIN(young, hold, more)                                                                                  \
    "{'bough': 1, 'object': {'mesh': {'generate': 'box', 'type': 'hex8', 'size': [1.5, 0.1, 0.1], 'cells': "      \
    "[15, 1, 1]}, 'sets': {'a': {'elements': 'x<0.51'}, 'b': {'elements': 'x>0.49 & x<1.01'}, 'c': "              \
    "{'elements': 'x>0.99'}}, 'material': {'young': " young ", 'poisson': 0.3, 'density': 1000}, 'basis': {'r': " \
    "14}, 'samples': {'contact': 0, 'stress': 0}" hold "}, 'time': {'dt': 0.002, 'duration': 0.1}, 'probes': [{"  \
    "'name': 'tip', 'part': 'c', 'nearest': [1.5, 0, 0]}]" more "}"
#define HELD(gravity) CHAIN("2e6", ", 'fix': 'x0'", ", 'gravity': [0, 0, " gravity "]")
#define FLYING(gravity) CHAIN("2e6", "", ", 'gravity': [0, 0, " gravity "]")
#define BODY(hold, gravity)                                                                                 \
    "{'bough': 1, 'mesh': {'generate': 'box', 'type': 'hex8', 'size': [1, 0.2, 0.2], 'cells': [6, 1, 1]}, " \
    "'material': {'young': 1e6, 'poisson': 0.3, 'density': 1000}" hold ", 'gravity': [0, 0, " gravity "], " \
    "'time': {'dt': 0.002, 'duration': 0.1}, 'probes': [{'name': 'tip', 'select': 'x1'}]}"
#define ROD(name, x) \
    "{'name': '" name "', 'position': [" x ", 0, 0], 'density': 1000, 'shape': {'box': [0.2, 0.02, 0.02]}}"
#define HINGE(name, parent, child, x)                                                                                \
    "{'name': '" name "', 'kind': 'hinge', 'parent': '" parent "', 'child': '" child "', 'position': [" x ", 0, 0]," \
    "'axis': [0, 1, 0], 'stiffness': 20, 'damping': 0.2}"
#define LINKS(gravity, engine)                                                                                     \
    "{'bough': 1, 'links': [{'name': 'wall'}," ROD("a", "0.1") "," ROD("b", "0.3") "], 'joints': [" HINGE(         \
        "h1", "wall", "a", "0") "," HINGE("h2", "a", "b", "0.2") "], 'end_effectors': [{'name': 'tip', 'link': "   \
                                                                 "'b', 'position': [0.4, 0, 0]}], 'probes': [{"    \
                                                                 "'name': 'tip', 'end_effector': 'tip'}], "        \
                                                                 "'gravity': [0, 0, " gravity "], 'time': {'dt': " \
                                                                 "0.002, 'duration': 0.1}, 'engine': " engine "}"
#define BALL(gravity)                                                                                          \
    "{'bough': 1, 'bodies': [{'name': 'ball', 'mass': 2, 'shape': {'box': [0.2, 0.2, 0.2]}}], 'gravity': [0, " \
    "0, " gravity "], 'probes': [{'name': 'tip', 'body': 'ball'}], 'time': {'dt': 0.002, 'duration': 0.1}}"

/* The same two rods as bodies with joints; and a rod that bends, with a ball at its end. */
#define TO_WORLD                                                                                                  \
    "{'name': 'h1', 'kind': 'hinge', 'parent': 'world', 'child': 'a', 'position': [0, 0, 0], 'axis': [0, 1, 0], " \
    "'stiffness': 20, 'damping': 0.2}"
#define JOINED(gravity)                                                                                           \
    "{'bough': 1, 'bodies': [" ROD("a", "0.1") "," ROD("b", "0.3") "], 'joints': [" TO_WORLD "," HINGE(           \
        "h2", "a", "b",                                                                                           \
        "0.2") "], 'probes': [{'name': 'tip', 'body': 'b', 'position': [0.4, 0, 0]}], 'gravity': [0, 0, " gravity \
               "], 'time': {'dt': 0.002, 'duration': 0.1}}"
#define BENT(gravity)                                                                                                  \
    "{'bough': 1, 'components': {'rod': {'mesh': {'generate': 'box', 'type': 'hex8', 'size': [1, 0.1, 0.1], 'cells': " \
    "[10, 1, 1]}, "                                                                                                    \
    "'material': {'young': 2e6, 'density': 1000}, 'interfaces': {'base': {'select': 'x0'}, 'tip': {'select': 'x1'}}, " \
    "'basis': {'r': 12}}}, "                                                                                           \
    "'bodies': [{'name': 'ball', 'position': [1, 0.05, 0.05], 'mass': 1, 'shape': {'sphere': 0.05}}], 'parts': "       \
    "[{'name': 'rod', "                                                                                                \
    "'component': 'rod', 'clamp': {'position': [0, 0.05, 0.05]}}], 'joints': [{'name': 'grip', 'kind': 'weld', "       \
    "'parent': {'part': 'rod', "                                                                                       \
    "'interface': 'tip'}, 'child': 'ball'}], 'probes': [{'name': 'tip', 'part': 'rod', 'nearest': [1, 0, 0]}], "       \
    "'gravity': [0, 0, " gravity "], 'time': {'dt': 0.002, 'duration': 0.1}}"
#define FLOWN(gravity)                                                                                             \
    "{'bough': 1, 'engine': {'kind': 'multibody'}, 'bodies': [{'name': 'ball', 'mass': 2, 'shape': {'box': [0.2, " \
    "0.2, 0.2]}}], 'gravity': [0, "                                                                                \
    "0, " gravity "], 'probes': [{'name': 'tip', 'body': 'ball'}], 'time': {'dt': 0.002, 'duration': 0.1}}"

#define REDUCED "{'kind': 'mechanism'}"
#define BLEND "{'blend': {'points': 2, 'random': {'count': 1, 'force': 1}}}"

#endif
