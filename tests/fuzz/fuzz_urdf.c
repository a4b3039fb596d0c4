/* URDF files: XML, what robots are made of, and what of them collides. */
#include "fuzz.h"

#include <bough/scene.h>

void fuzz_one(const uint8_t *data, size_t size) {
    fuzz_memory memory;
    bough_urdf *urdf = NULL;
    bough_urdf_def def = bough_default_urdf_def();
    bough_context *ctx = fuzz_context(&memory);
    test_write_text(test_path("springs.json"), "{\"bough\": 1, \"default\": {\"stiffness\": 50}}");
    test_write(test_path("robot.urdf"), data, size);
    def.dynamics = test_path("springs.json");
    bough_scene *scene = NULL;
    bough_status status = bough_mechanism_load_urdf(ctx, test_path("robot.urdf"), &def, &urdf);
    bough_urdf_destroy(ctx, urdf);
    if (status == BOUGH_OK) {
        test_write_text(test_path("scene.json"), "{\"bough\": 1, \"urdf\": \"robot.urdf\", \"dynamics\": "
                                                 "\"springs.json\", \"collide\": true}");
        status = bough_scene_load(ctx, test_path("scene.json"), &scene);
        bough_scene_destroy(ctx, scene);
    }
    fuzz_end(ctx, &memory, status);
}

void fuzz_seeds(fuzz_add *add) {
    fuzz_add_text(add,
                  "<?xml version='1.0' encoding='utf-8'?>\n<!-- a robot -->\n<robot name='r'><material name='m'><color "
                  "rgba='1 0 0 1'/></material><link name='base'/><link name='one'><inertial><origin xyz='0 0 1' "
                  "rpy='0 0 0.5'/><mass value='2'/><inertia ixx='1' iyy='1' izz='1' ixy='0' ixz='0' iyz='0'/>"
                  "</inertial><visual><origin xyz='1 2 3'/><geometry><box size='1 2 3'/></geometry><material "
                  "name='m'/></visual><collision><geometry><sphere radius='1'/></geometry></collision></link><joint "
                  "name='j' type='revolute'><parent link='base'/><child link='one'/><origin xyz='0 0 1'/><axis "
                  "xyz='0 1 0'/><limit lower='-1' upper='1' effort='1' velocity='1'/></joint></robot>");
    fuzz_add_text(add,
                  "<robot name='r'><link name='a'><collision><geometry><cylinder radius='1' length='2'/></geometry>"
                  "</collision><collision><origin rpy='1 2 3'/><geometry><capsule radius='0.5' length='3'/></geometry>"
                  "</collision></link><link name='b'><inertial><mass value='2'/><inertia ixx='1' iyy='1' izz='1' "
                  "ixy='0' ixz='0' iyz='0'/></inertial><collision><geometry><mesh filename='robot.urdf' "
                  "scale='1 1 1'/></geometry></collision><collision><geometry><box size='1 2 3'/></geometry>"
                  "</collision></link><joint name='j' type='continuous'><parent link='a'/><child link='b'/></joint>"
                  "</robot>");
    fuzz_add_text(
        add,
        "<robot name='&#x80;&lt;&#128512;'><link name='a'><![CDATA[ x ]]></link><link name='b'/><joint "
        "name='s' type='prismatic'><parent link='a'/><child link='b'/><limit lower='0' upper='1'/></joint></robot>");
}
