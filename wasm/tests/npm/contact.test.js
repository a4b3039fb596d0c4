// Contact worlds.

import assert from "node:assert/strict";
import { test } from "node:test";
import { bar, compared, load, near, packed, refuses, turned, without } from "./common.js";

const bough = await load(), G = 9.81;
const floor = { name: "floor", shapes: [{ kind: "plane" }] };
const cube = [-1, -1, -1, 1, -1, -1, -1, 1, -1, 1, 1, -1, -1, -1, 1, 1, -1, 1, -1, 1, 1, 1, 1, 1].map((x) => 0.1 * x);
const faces = [0, 2, 1, 1, 2, 3, 4, 5, 6, 5, 7, 6, 0, 1, 4, 1, 5, 4, 2, 6, 3, 3, 6, 7, 0, 4, 2, 2, 4, 6, 1, 3, 5, 3, 7, 5];
const sphere = (radius) => ({ kind: "sphere", radius });
const ball = (mass, radius, rest) => ({ mass, inertia: Array(3).fill(0.4 * mass * radius ** 2), shapes: [sphere(radius)], ...rest });
const sum = (contacts) => contacts.reduce((total, { force }) => total.map((one, k) => one + force[k]), [0, 0, 0]);
const step = (world, seconds, dt = 0.005) => {
    for (let i = 0; i < Math.round(seconds / dt); i++) world.step(dt);
};

test("what rests on the ground is carried by its weight, whatever its shape and the ground's", () => {
    const mesh = bough.createShapeMesh({ positions: cube, triangles: faces });
    const shapes = { sphere: sphere(0.1), box: { kind: "box", half: [0.1, 0.1, 0.1] }, capsule: { kind: "capsule", radius: 0.1, half: [0, 0, 0.2], rotation: turned("y", Math.PI / 2) }, hull: { kind: "hull", points: cube }, mesh: { kind: "mesh", mesh } };
    const grounds = { plane: [{ kind: "plane" }], box: [{ kind: "box", half: [2, 2, 0.5], position: [0, 0, -0.5] }], field: [{ kind: "height-field", columns: 3, rows: 3, cell: [2, 2], heights: new Float64Array(9) }] };
    for (const [ground, obstacles] of Object.entries(grounds))
        for (const [kind, shape] of Object.entries(shapes)) {
            const world = bough.createWorld({ gravity: [0, 0, -G], obstacles: [{ shapes: obstacles }], bodies: [{ mass: 3, inertia: [0.02, 0.02, 0.02], position: [0.01, 0.02, 0.12], shapes: [shape] }] });
            step(world, 2);
            const { position, velocity } = world.body(0), [x, y, z] = sum(world.contacts);
            near(z, 3 * G, 0.03 * G);
            assert.ok(Math.hypot(x, y) < 0.1 && Math.hypot(...velocity) < 0.01 && Math.abs(position[2] - 0.1) < 0.01, `a ${kind} on a ${ground}: ${position}, ${velocity}, ${[x, y]}`);
            world.dispose();
        }
    mesh.dispose();
});

test("balls that meet keep their momentum, and what bounces fully its energy, too", () => {
    for (const restitution of [0, 1]) {
        const one = (mass, x, v) => ball(mass, 0.1, { position: [x, 0, 0], twist: [v, 0, 0, 0, 0, 0], restitution, friction: 0 });
        const world = bough.createWorld({ bodies: [one(1, -0.5, 2), one(3, 0.5, -1)] });
        step(world, 1);
        const [a, b] = [0, 1].map((i) => world.body(i).velocity[0]);
        near(a + 3 * b, -1, 1e-9);
        near(a, restitution ? -2.5 : -0.25, 1e-6);
        near(b, restitution ? 0.5 : -0.25, 1e-6);
        world.dispose();
    }
});

test("a ball bounces to the part of its height that restitution says", () => {
    const world = bough.createWorld({ gravity: [0, 0, -G], obstacles: [floor], bodies: [ball(1, 0.1, { position: [0, 0, 1.1], restitution: 0.5 })] });
    const { position, velocity } = world.body(0);
    let top = 0, touched = false;
    for (let i = 0; i < 1500; i++) {
        world.step(5e-4);
        touched ||= world.contacts.some(({ force }) => force[2] > 0);
        if (touched && velocity[2] > 0) top = Math.max(top, position[2] - 0.1);
    }
    near(top, 0.25, 0.01);
});

test("a block on a slope is held by friction, or slides as fast as what is left of its weight", () => {
    for (const friction of [0.7, 0.2]) {
        const slope = 0.4, rotation = turned("y", slope);
        const world = bough.createWorld({ gravity: [0, 0, -G], obstacles: [{ ...floor, rotation, friction }], bodies: [{ mass: 1, inertia: [0.01, 0.01, 0.01], rotation, friction, position: [0.1 * Math.sin(slope), 0, 0.1 * Math.cos(slope)], shapes: [{ kind: "box", half: [0.1, 0.1, 0.1] }] }] });
        step(world, 1, 0.002);
        near(Math.hypot(...world.body(0).velocity), friction > Math.tan(slope) ? 0 : G * (Math.sin(slope) - friction * Math.cos(slope)), 0.02);
    }
});

test("contacts name what touches, and arrays are views", () => {
    const world = bough.createWorld({ gravity: [0, 0, -G], obstacles: [floor], bodies: [ball(1, 0.1, { name: "far", position: [5, 0, 3] }), ball(2, 0.1, { name: "ball", position: [0, 0, 0.1] })] });
    const { bodies } = world, { position } = world.body("ball");
    world.step(0.005);
    assert.equal(world.bodies, bodies);
    const [{ sides, normal, gap, force }] = world.contacts, on = sides.find(({ kind }) => kind === "body");
    assert.deepEqual(sides.map(({ kind, index, actor }) => [kind, index, actor]).sort(), [["body", 1, -1], ["obstacle", 0, -1]]);
    assert.ok(on && Math.abs(Math.abs(normal[2]) - 1) < 1e-12 && Math.abs(gap) < 1e-3 && Math.abs(force[2]) > 10);
    position[2] = 2;
    world.body("ball").force.set([0, 0, 2 * G]);
    world.step(0.005);
    assert.equal(world.contactCount, 0);
    near(world.body("ball").velocity[2], 0, 1e-9);
    assert.ok(bodies[2] < 3 && world.islandCount === 0 && world.residual >= 0);
});

test("what is filtered or ignored passes through, and belts take along", () => {
    const make = () => bough.createWorld({ gravity: [0, 0, -G], obstacles: [floor], bodies: [ball(1, 0.1, { name: "ball", position: [0, 0, 0.1] })] });
    const filtered = make(), ignored = make(), belt = make();
    filtered.filter({ kind: "body", index: "ball" }, 2, 2);
    ignored.ignore({ kind: "body", index: "ball" }, { kind: "obstacle", index: "floor" });
    belt.move("floor", { position: [0, 0, 0] }, [0.5, 0, 0]);
    for (const world of [filtered, ignored, belt]) step(world, 1);
    assert.ok(filtered.body(0).position[2] < -4 && ignored.body(0).position[2] < -4);
    const { velocity, spin } = belt.body(0);
    near(velocity[0] - 0.1 * spin[1], 0.5, 1e-3);
    ignored.ignore({ kind: "obstacle", index: 0 }, { kind: "body", index: 0 }, false);
    ignored.body(0).position[2] = 0.1;
    ignored.body(0).velocity.fill(0);
    step(ignored, 1);
    near(ignored.body(0).position[2], 0.1, 1e-3);
});

test("a snapshot goes on with the same bits", () => {
    const world = bough.createWorld({ gravity: [0, 0, -G], obstacles: [floor], bodies: [0, 1, 2].map((i) => ball(1, 0.1, { position: [0.01 * i, 0, 0.1 + 0.19 * i] })) });
    step(world, 0.2);
    const snapshot = world.snapshot();
    step(world, 0.5);
    const first = Array.from(world.bodies);
    world.restore(snapshot);
    step(world, 0.5);
    assert.deepEqual(Array.from(world.bodies), first);
    refuses(() => world.restore(snapshot.subarray(1)), /not those of this contact world/);
    refuses(() => world.restore([1, 2]), /a snapshot is wanted/);
});

test("a mechanism takes part: its arm carries a ball as its spring says", () => {
    const length = 0.5, stiffness = 400, mechanism = bough.createMechanism({
        links: [{ name: "base" }, { name: "arm", mass: 0.5, position: [length, 0, 0], inertia: [0.01, 0.01, 0.01] }],
        joints: [{ kind: "hinge", parent: "base", child: "arm", inParent: { rotation: turned("x", Math.PI / 2) }, inChild: { position: [-length, 0, 0], rotation: turned("x", Math.PI / 2) }, stiffness, damping: 20 }],
        endEffectors: [{ link: "arm" }],
    });
    const state = mechanism.createState();
    const actor = state.actor([{ endEffector: 0, shape: { kind: "box", half: [0.1, 0.1, 0.02] }, friction: 1 }]);
    const world = bough.createWorld({ gravity: [0, 0, -G], actors: [actor], bodies: [ball(1, 0.05, { position: [length, 0, 0.08], friction: 1 })] });
    step(world, 0.15, 0.001); // before it rolls away
    refuses(() => bough.createWorld({ actors: [actor] }), /this Actor was disposed of/);
    const [{ sides, force }] = world.contacts;
    assert.deepEqual(sides.map(({ kind, index, actor: number }) => [kind, index, number]).sort(), [["body", 0, -1], ["end-effector", 0, 0]]);
    assert.ok(Math.abs(force[2]) > 0.5 * G && Math.abs(force[2]) < 2 * G && state.endEffector(0).position[2] < -0.002);
    assert.ok(state.time > 0.149);
    state.dispose();
    refuses(() => world.step(0.005), /this MechanismState was disposed of/);
    world.dispose();
});

test("a multibody system takes part: bodies and bending parts lie on the floor by their weight", () => {
    const component = bough.readComponent(packed({ components: { bar }, parts: [{ name: "low", component: "bar", fix: "base" }] }).cooked("bar"));
    const model = bough.createMultibody({ gravity: [0, 0, -G], bodies: [{ name: "block", mass: 5, inertia: [0.05, 0.05, 0.05], position: [0, 0, 0.1] }], parts: [{ name: "bar", component, clamp: { body: "block", position: [0.1, 0, 0] }, dampingStiffness: 0.02 }] });
    const state = model.createState();
    const actor = state.actor([{ body: "block", shape: { kind: "box", half: [0.1, 0.1, 0.1] }, friction: 0.5 }, { part: "bar", friction: 0.5 }]);
    const world = bough.createWorld({ gravity: [0, 0, -G], actors: [actor], obstacles: [{ name: "floor", shapes: [{ kind: "plane" }] }] });
    step(world, 3);
    near(sum(world.contacts)[2], 15 * G, 0.05 * 15 * G);
    assert.deepEqual([...new Set(world.contacts.flatMap(({ sides }) => sides.map(({ kind }) => kind)))].sort(), ["link", "obstacle", "part"]);
    assert.ok(Math.min(...state.surface("bar").filter((_, i) => i % 3 === 2)) > -0.02);
    for (const one of [world, state, model, component]) one.dispose();
});

test("shapes can be drawn and weighed", () => {
    const { positions, triangles } = bough.shapeSurface({ kind: "box", half: [1, 2, 3] });
    assert.ok(positions.length === 24 && triangles.length === 36 && Math.max(...positions) === 3);
    const { mass, centre, inertia } = bough.weigh([{ kind: "box", half: [0.5, 0.5, 0.5], position: [1, 0, 0] }], 1000);
    near(mass, 1000, 1e-9);
    near(centre[0], 1, 1e-12);
    near(inertia[0], 1000 / 6, 1e-9);
    refuses(() => bough.shapeSurface({ kind: "plane" }), /\w+ \w+/);
    refuses(() => bough.weigh([{ kind: "plane" }], 1000), /\w+ \w+/);
});

test("a pile has the bits of the native library's", { skip: without("run_world") }, () => {
    const world = bough.createWorld({
        gravity: [0, 0, -G], obstacles: [floor],
        bodies: Array.from({ length: 8 }, (_, i) => ({ mass: 1 + i, inertia: [0.01, 0.02, 0.03], position: [0.03 * i, 0.01 * i, 0.2 + 0.25 * i], restitution: 0.25, shapes: [i % 2 ? sphere(0.1) : { kind: "box", half: [0.125, 0.1, 0.075] }] })),
    });
    for (let i = 0; i < 500; i++) world.step(0.005);
    assert.deepEqual(Array.from(world.bodies), compared("run_world", "500"));
});

test("wrong input is told in a sentence", () => {
    const world = bough.createWorld({ obstacles: [floor], bodies: [ball(1, 0.1, { name: "ball" })] });
    refuses(() => world.step(NaN), /dt: a number is wanted/);
    refuses(() => world.step(-1), /it must be above 0/);
    refuses(() => world.body("bal"), /there is no "bal"; there are "ball"/);
    refuses(() => world.body(1), /from 0 to 0 is wanted, not 1/);
    refuses(() => world.filter({ kind: "boddy", index: 0 }, 1, 1), /kind: there is no "boddy"/);
    refuses(() => world.filter({ kind: "link", index: 0, actor: 3 }, 1, 1), /\w+ \w+/);
    refuses(() => world.filter({ kind: "body", index: 0 }, 1, 2 ** 33), /mask: a whole number/);
    refuses(() => world.move("floor", { rotation: [1, 1, 1, 1, 1, 1, 1, 1, 1] }), /a rotation matrix/);
    refuses(() => (world.gravity = [0, 0]), /gravity: 3 numbers are wanted/);
    const body = (values) => () => bough.createWorld({ bodies: [values] });
    refuses(body({ mas: 1 }), /bodies\[0\]: there is no "mas"; there are name, mass/);
    refuses(body({ mass: -1 }), /its mass is -1 kg/);
    refuses(body({ mass: NaN }), /bodies\[0\]: mass: a number is wanted, not NaN/);
    refuses(body({ position: [0, NaN, 0] }), /bodies\[0\]: position: 3 numbers are wanted/);
    refuses(body({ shapeCount: 3 }), /there is no "shapeCount"/);
    refuses(body({ shapes: [{ kind: "cube" }] }), /shapes\[0\]: kind: there is no "cube"; there are plane, sphere/);
    refuses(body({ shapes: [{ kind: "hull", points: [1, 2] }] }), /3 numbers for each/);
    refuses(body({ shapes: [{ kind: "mesh", mesh: {} }] }), /a shape mesh is wanted, not an object/);
    refuses(body({ shapes: [{ kind: "plane" }] }), /\w+ \w+/);
    refuses(body({ name: "a\0b" }), /name: a text is wanted/);
    refuses(body(3), /an object is wanted, not 3/);
    refuses(() => bough.createWorld({ bodies: {} }), /bodies: a list is wanted/);
    refuses(() => bough.createWorld({ actors: [{}] }), /what actor\(\) of a state gave/);
    refuses(() => bough.createWorld({ obstacles: [{ shapes: [{ kind: "height-field", columns: 3, rows: 3, cell: [1, 1], heights: [1, 2] }] }] }), /columns x rows are wanted, which is 3 x 3, not 2/);
    refuses(() => bough.createShapeMesh({ positions: cube, triangles: [0, 1, 8] }), /there is no vertex 8; there are 8/);
    refuses(() => bough.createShapeMesh({ positions: cube, triangles: faces.slice(3) }), /\w+ \w+/);
    const mesh = bough.createShapeMesh({ positions: cube, triangles: faces }), leaning = bough.createWorld({ bodies: [{ shapes: [{ kind: "mesh", mesh }] }] });
    mesh.dispose();
    refuses(() => leaning.step(0.005), /this ShapeMesh was disposed of/);
    world.dispose();
    world.dispose();
    refuses(() => world.contacts, /this World was disposed of/);
});

test("a thousand lives leave no memory behind", () => {
    const live = () => {
        const world = bough.createWorld({ gravity: [0, 0, -G], obstacles: [floor], bodies: [ball(1, 0.1, { position: [0, 0, 0.1] })] });
        world.step(0.005);
        world.restore(world.snapshot());
        world.dispose();
        refuses(() => bough.createWorld({ bodies: [{ mass: -1, shapes: [sphere(1)] }] }), /mass/);
    };
    for (let i = 0; i < 20; i++) live();
    const size = bough.exports.memory.buffer.byteLength;
    for (let i = 0; i < 1000; i++) live();
    assert.equal(bough.exports.memory.buffer.byteLength, size);
});
