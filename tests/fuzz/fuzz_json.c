/* JSON files of one kind, FUZZ_KIND: a sentence, or something that was made of them. */
#include "fuzz.h"

#include <bough/scene.h>

enum { body, component, scene, mechanism };

static bough_status read_body(bough_context *ctx, const char *path) {
    bough_body *made = NULL;
    bough_load_case *load_case = NULL;
    const bough_status status = bough_body_load(ctx, path, &made, &load_case);
    bough_load_case_destroy(ctx, load_case);
    bough_body_destroy(ctx, made);
    return status;
}

static bough_status read_component(bough_context *ctx, const char *path) {
    bough_cook_job *made = NULL;
    const bough_status status = bough_cook_job_load(ctx, path, "{\"basis\": {\"r\": 3}}", &made);
    bough_cook_job_destroy(ctx, made);
    return status;
}

static bough_status read_scene(bough_context *ctx, const char *path) {
    bough_scene *made = NULL;
    const bough_status status = bough_scene_load(ctx, path, &made);
    bough_scene_destroy(ctx, made);
    return status;
}

void fuzz_one(const uint8_t *data, size_t size) {
    static bough_status (*const readers[])(bough_context *, const char *) = {read_body, read_component, read_scene,
                                                                             read_scene};
    fuzz_memory memory;
    bough_context *ctx = fuzz_context(&memory);
    test_write(test_path("file.json"), data, size);
    fuzz_end(ctx, &memory, readers[FUZZ_KIND](ctx, test_path("file.json")));
}

#define BOX "{'generate': 'box', 'type': 'hex8', 'size': [1, 0.2, 0.1], 'cells': [2, 1, 1]}"
#define ARM                                                                                                           \
    "{'mesh': " BOX ", 'basis': {'r': 4}, 'interfaces': {'base': {'select': 'x0'}, 'tip': {'select': 'x1 & y>=0'}}, " \
    "'samples': {'wind': 0, 'contact': 0, 'stress': 0}}"

static void seed_bodies(fuzz_add *add) {
    fuzz_add_quoted(
        add,
        "{'bough': 1, 'mesh': " BOX ", 'material': {'young': 2e6, 'poisson': 0.3, 'density': 1000}, "
        "'fix': ['x0', {'select': 'x1', 'axes': 'y'}], 'gravity': [0, 0, -9.81], 'sets': {'a': {'vertices': 'x<0.5'}, "
        "'b': {'elements': 'x>0.5'}}, 'regions': [{'set': 'b', 'material': {'model': 'neo-hookean', "
        "'young': 1e5}}], 'damping': {'mass': 0.1, 'stiffness': 0.01}, 'forces': [{'select': 'a', 'force': [0, 0, "
        "1]}]}");
    fuzz_add_quoted(add, "{'bough': 1, 'mesh': {'generate': 'rod', 'length': 1, 'radius': 0.1, 'cells': [2, 1]}}");
    fuzz_add_quoted(add, "{'bough': 1, 'mesh': {'file': 'none.msh'}, 'mass': 'lumped'}");
}

static void seed_components(fuzz_add *add) {
    fuzz_add_quoted(add, "{'bough': 1, 'name': 'twig', 'mesh': " BOX ", 'material': {'young': 2e6}, 'interfaces': "
                         "{'base': {'select': 'x0'}, 'tip': {'select': "
                         "'x1'}}, 'basis': {'r': 4, 'modes': 6}, 'samples': {'wind': 2, 'stress': 3}}");
    fuzz_add_quoted(add, "{'bough': 1, 'mesh': " BOX ", 'basis': {'r': 0}, 'fix': 'x0'}");
}

static void seed_scenes(fuzz_add *add) {
    fuzz_add_quoted(add, "{'bough': 1, 'mesh': " BOX ", 'fix': 'x0', 'time': {'dt': 0.01, 'duration': 1, 'integrator': "
                         "'hht'}, 'curves': {'up': [[0, 0], [1, 2]]}, 'initial': {'velocity': [1, 0, 0]}, 'probes': "
                         "[{'name': 'p', 'select': 'x1'}], 'engine': {'kind': 'full'}}");
    fuzz_add_quoted(add,
                    "{'bough': 1, 'mesh': " BOX ", 'obstacles': [{'name': 'ground', 'shape': {'plane': true}, "
                    "'position': [0, 0, -1], 'friction': 0.3}, {'name': 'hills', 'shape': {'height_field': {'size': "
                    "[2, 2], 'heights': [[0, 1], [1, 0]]}}}, {'name': 'press', 'shape': [{'sphere': 0.1}, {'box': "
                    "[1, 2, 3]}, {'capsule': [0.1, 0.2]}], 'track': [{'time': 0, 'position': [0, 0, 3]}, {'time': 1, "
                    "'position': [0, 0, 2], 'rotate_deg': [0, 9, 0]}]}], 'contact': {'distance': 0.01, 'friction': "
                    "0.2, 'slip_speed': 0.01, 'stiffness': 2, 'itself': true}}");
    fuzz_add_quoted(
        add,
        "{'bough': 1, 'components': {'arm': " ARM "}, 'parts': [{'name': 'stem', 'component': 'arm'}, {'name': "
        "'leaf', 'component': 'arm', 'parent': 'stem', 'interface': 'tip', 'scale': 0.5, 'rotate_deg': [0, 90, 0]}, "
        "{'name': 'seed', 'component': 'arm', 'absent': true, 'position': [1, 2, 3]}], 'wind': {'velocity': [1, 0, "
        "0], 'gust': 0.2}, 'events': [{'time': 1, 'detach': 'leaf'}, {'time': 2, 'add': 'seed'}], 'break': "
        "[{'parts': '*', 'stress': 1e6}], 'ties': [{'parts': ['leaf'], 'interfaces': ['tip'], 'stiffness': 1}], "
        "'remove_below': -4}");
    fuzz_add_quoted(add, "{'bough': 1, 'object': {'mesh': " BOX ", 'sets': {'a': {'elements': 'x<0.51'}, 'b': "
                         "{'elements': 'x>0.49'}}, 'basis': {'r': 3}, 'fix': 'x0'}, 'events': [{'time': 1, 'lock': "
                         "'a'}, {'time': 2, 'lock': 'bb'}]}");
}

static void seed_mechanisms(fuzz_add *add) {
    fuzz_add_quoted(
        add,
        "{'bough': 1, 'links': [{'name': 'a', 'mass': 1, 'inertia': [1, 1, 1, 0, 0, 0]}, {'name': 'b'}], 'base': 'b', "
        "'joints': [{'name': 'j', 'kind': 'universal', 'parent': 'a', 'child': 'b', 'position': [0, 0, 0], "
        "'rotate_deg': "
        "[0, 0, 90], 'stiffness': [1, 2], 'damping': 3, 'limits_deg': [[-90, 90], [-180, 0]], 'limit_stiffness': 5}], "
        "'end_effectors': [{'name': 'x', 'link': 'a', 'shape': {'sphere': 0.1}, 'friction': 0.7}], 'curves': {'c': "
        "[[0, "
        "1], [1, 2]]}, 'motors': [{'joint': 'j', 'freedom': 1, 'curve': 'c', 'degrees': true}], 'forces': "
        "[{'end_effector': 'x', 'torque': [1, 2, 3], 'from': 1}], 'obstacles': [{'name': 'floor', 'shape': {'plane': "
        "true}, 'position': [0, 0, -5]}], 'engine': {'kind': 'full'}, 'time': {'dt': 0.5, 'duration': 3}}");
    fuzz_add_quoted(add, "{'bough': 1, 'generate': {'helix': {'links': 3, 'joint': 'hinge'}}}");
    fuzz_add_quoted(
        add,
        "{'bough': 1, 'components': {'arm': " ARM "}, 'bodies': [{'name': 'hub', 'mass': 1, 'shape': {'sphere': 0.1}}, "
        "{'name': 'ball', 'mass': 1, 'inertia': [1, 1, 1, 0, 0, 0], 'spin': [1, 2, 3]}], 'parts': [{'name': 'arm', "
        "'component': 'arm', 'clamp': {'body': 'hub', 'rotate_deg': [0, 90, 0]}}], 'joints': [{'name': 'h', 'kind': "
        "'hinge', 'parent': 'world', 'child': 'hub', 'position': [0, 0, 0], 'limits_deg': [-90, 90], 'friction': 1}, "
        "{'name': 'w', 'kind': 'ball', 'parent': {'part': 'arm', 'interface': 'tip'}, 'child': 'ball'}], 'gears': "
        "[{'joints': ['h', 'h'], 'ratio': 2}], 'curves': {'c': [[0, 1], [1, 2]]}, 'motors': [{'joint': 'h', 'curve': "
        "'c', 'between': 'stops', 'stiffness': 5, 'limit': 2}], 'forces': [{'part': 'arm', 'nearest': [1, 0, 0], "
        "'force': [1, 0, 0]}], 'probes': [{'name': 'm', 'motor': 'h'}, {'name': 'f', 'joint_force': 'w'}, {'name': "
        "'s', 'part': 'arm', 'stress': 'max'}], 'engine': {'kind': 'multibody', 'baumgarte': 20}, 'retarget': {'dt': "
        "0.004, "
        "'track': [{'body': 'ball', 'weight': 2, 'curve': 'c', 'position': [1, 0, 0]}, {'name': 't', 'part': 'arm', "
        "'interface': 'tip', 'orientation': 0.1}], 'limits': [{'motor': 'h', 'range_deg': [-9, 99], 'speed': 3}], "
        "'search': 'bfgs', 'window': 1, 'keep': 0}}");
    fuzz_add_quoted(add, "{'bough': 1, 'bodies': [{'name': 'a', 'mass': 1, 'shape': {'sphere': 1}}], 'joints': "
                         "[{'name': 'j', 'kind': 'hinge', 'parent': 'world', 'child': 'a', 'position': [0, 0, 0]}], "
                         "'motors': {'csv': 'file.json', 'list': [{'joint': 'j', 'name': 'm'}]}}");
}

void fuzz_seeds(fuzz_add *add) {
    static void (*const seeds[])(fuzz_add *) = {seed_bodies, seed_components, seed_scenes, seed_mechanisms};
    seeds[FUZZ_KIND](add);
}
