/* Robots of multibody scenes: URDF or MJCF, by FUZZ_FORMAT. What is read can be written out and read again. */
#include "fuzz.h"

#include <bough/scene.h>

#define TEXT(word) #word
#define WORD(word) TEXT(word)
#define FILE_NAME "robot." WORD(FUZZ_FORMAT)

/* One of its links, where it has this name, bends. */
static const char scene_text[] = "{'bough': 1, 'components': {'rod': {'mesh': {'generate': 'box', 'type': 'hex8', "
                                 "'size': [1, 0.1, 0.1], 'cells': [2, "
                                 "1, 1]}, 'interfaces': {'base': {'select': 'x0'}, 'tip': {'select': 'x1'}}, 'basis': "
                                 "{'r': 2}, 'samples': {'wind': 0, "
                                 "'contact': 0, 'stress': 0}}}, 'robot': {'" WORD(
                                     FUZZ_FORMAT) "': '" FILE_NAME "', 'start': {'j': 0.1}, 'flexible': "
                                                  "{'one': {'component': 'rod', 'interfaces': {'k': 'tip'}}}}}";

static bough_status load(bough_context *ctx, const char *path) {
    bough_scene *scene = NULL;
    const bough_status status = bough_scene_load(ctx, path, &scene);
    check((scene != NULL) == (status == BOUGH_OK));
    bough_scene_destroy(ctx, scene);
    return status;
}

static void quote(char *text) {
    for (char *c = text; *c; c++)
        *c = *c == '\'' ? '"' : *c;
}

void fuzz_one(const uint8_t *data, size_t size) {
    static char quoted[sizeof scene_text];
    fuzz_memory memory;
    bough_context *ctx = fuzz_context(&memory);
    test_write(test_path(FILE_NAME), data, size);
    memcpy(quoted, scene_text, sizeof quoted);
    quote(quoted);
    test_write_text(test_path("scene.json"), quoted);
    load(ctx, test_path("scene.json"));
    char alone[200] = "{'bough': 1, 'robot': {'" WORD(FUZZ_FORMAT) "': '" FILE_NAME "'}}";
    quote(alone);
    test_write_text(test_path("alone.json"), alone);
    bough_status status = load(ctx, test_path("alone.json"));
    if (status == BOUGH_OK && bough_robot_write(ctx, test_path("alone.json"), test_path("written.json")) == BOUGH_OK) {
        status = load(ctx, test_path("written.json"));
        check(status == BOUGH_OK || status == BOUGH_ERROR_MEMORY);
    }
    fuzz_end(ctx, &memory, status);
}

static void add_urdf(fuzz_add *add) {
    fuzz_add_text(
        add, "<robot name='r'><link name='base'><visual><geometry><box size='1 1 1'/></geometry></visual></link><link "
             "name='one'><inertial><origin xyz='0 0 1' rpy='0 0 0.5'/><mass value='2'/><inertia ixx='1' iyy='1' "
             "izz='1' ixy='0' ixz='0' iyz='0'/></inertial></link><link name='two'><inertial><mass value='2'/><inertia "
             "ixx='1' iyy='1' izz='1' ixy='0' ixz='0' iyz='0'/></inertial><collision><geometry><sphere radius='1'/>"
             "</geometry></collision></link><joint name='j' type='revolute'><parent link='base'/><child link='one'/>"
             "<origin xyz='0 0 1'/><axis xyz='0 1 0'/><limit lower='-1' upper='1'/><dynamics damping='1' "
             "friction='2'/></joint><joint name='k' type='continuous'><parent link='one'/><child link='two'/><origin "
             "xyz='1 0 0'/><mimic joint='j' multiplier='2' offset='0.1'/></joint></robot>");
    fuzz_add_text(add,
                  "<robot name='r'><link name='world'/><link name='one'><inertial><mass value='2'/><inertia ixx='1' "
                  "iyy='1' izz='1' ixy='0' ixz='0' iyz='0'/></inertial></link><link name='b'/><joint name='j' "
                  "type='planar'><parent link='world'/><child link='one'/><axis xyz='1 1 0'/></joint><joint name='f' "
                  "type='fixed'><parent link='one'/><child link='b'/><origin rpy='1 2 3'/></joint></robot>");
}

static void add_mjcf(fuzz_add *add) {
    fuzz_add_text(
        add, "<mujoco><compiler angle='radian' eulerseq='ZYX' inertiafromgeom='auto'/><option gravity='0 0 -5'/>"
             "<default><joint damping='1'/><default class='c'><geom density='10' rgba='1 0 0 1'/></default></default>"
             "<worldbody><geom type='plane'/><body name='one' pos='0 0 1' euler='1 2 3' childclass='c'><joint name='j' "
             "axis='0 1 0' range='-1 1' stiffness='2' springref='0.1' frictionloss='1'/><geom type='capsule' "
             "fromto='0 0 0 1 0 0' size='0.1'/><body pos='1 0 0' quat='1 1 0 0'><joint name='k' type='slide'/><geom "
             "type='ellipsoid' size='1 2 3' contype='0' conaffinity='0'/></body></body></worldbody><equality><joint "
             "joint1='k' joint2='j' polycoef='0 2 0 0 0'/></equality></mujoco>");
    fuzz_add_text(
        add, "<mujoco><asset><mesh name='m' file='robot.mjcf' scale='2 2 2'/></asset><worldbody><body "
             "xyaxes='1 0 0 0 1 0'><freejoint/><inertial pos='1 0 0' zaxis='1 1 1' mass='1' fullinertia='1 1 1 0 0 "
             "0'/><geom type='mesh' mesh='m'/><body axisangle='1 0 0 90'><joint type='ball'/><geom size='1'/></body>"
             "</body></worldbody></mujoco>");
}

void fuzz_seeds(fuzz_add *add) {
    if (!strcmp(WORD(FUZZ_FORMAT), "urdf"))
        add_urdf(add);
    else
        add_mjcf(add);
}
