// Multibody systems.

import assert from "node:assert/strict";
import { test } from "node:test";
import { bar, BoughError, compared, load, near, packed, refuses, turned, without } from "./common.js";

const bough = await load(), G = 9.81;
const aboutY = turned("x", -Math.PI / 2); // z of a hinge along the world's y
// A bob on a rod of a metre, which swings in the plane of x and z.
const pendulum = (rest = {}, angle = 0) => {
    const x = Math.sin(angle), z = -Math.cos(angle);
    return bough.createMultibody({
        gravity: [0, 0, -G],
        bodies: [{ name: "bob", mass: 2, inertia: [1e-6, 1e-6, 1e-6], position: [x, 0, z] }],
        joints: [{ name: "pivot", kind: "hinge", child: "bob", inParent: { rotation: aboutY }, inChild: { position: [-x, 0, -z], rotation: aboutY } }],
        ...rest,
    });
};
const component = bough.readComponent(packed({ components: { bar }, parts: [{ name: "low", component: "bar", fix: "base" }] }).cooked("bar"));

test("a pendulum swings as long as its length says", () => {
    const state = pendulum({}, 0.1).createState(), { velocity } = state.body("bob"), turns = [];
    for (let i = 0, before = 0; i < 6000; i++, before = velocity[0]) {
        state.step(0.001);
        if (before * velocity[0] < 0) turns.push(state.time - (0.001 * velocity[0]) / (velocity[0] - before));
    }
    const period = 2 * Math.PI * Math.sqrt(1 / G) * (1 + 0.1 ** 2 / 16);
    near((2 * (turns.at(-1) - turns[0])) / (turns.length - 1), period, 1e-3);
    near(Math.hypot(...state.body("bob").position), 1, 1e-4);
    const rest = pendulum().createState();
    rest.settle();
    near(rest.frequencies(1)[0], Math.sqrt(G) / (2 * Math.PI), 1e-4);
    rest.step(0.001);
    near(rest.joint("pivot").force[2], 2 * G, 1e-6);
});

test("a motor follows its curve, or a function", () => {
    const model = pendulum({ motors: [{ name: "drive", joint: "pivot" }] });
    const curve = bough.createCurve({ times: [0, 0.5, 1], values: [0, 1, -0.5] });
    near(curve.at(0.5).value, 1, 1e-15);
    near(curve.at(2).rate, 0, 1e-15);
    const swing = (time) => [0.3 * Math.sin(4 * time), 1.2 * Math.cos(4 * time)];
    for (const [how, wanted] of [[{ drive: curve }, (time) => [curve.at(time).value, curve.at(time).rate]], [(motor, time) => swing(time), swing]]) {
        const state = model.createState();
        state.drive(how);
        if (typeof how === "function") state.assemble(); // it moves from the start
        for (let i = 0; i < 500; i++) {
            state.step(0.002);
            const { coordinates, rates } = state.joint("pivot"), [place, rate] = wanted(state.time);
            near(coordinates[0], place, 1e-3);
            near(rates[0], rate, 1e-3);
        }
        state.dispose();
    }
});

test("what a drive function throws comes out of the step, and the state is what it was", () => {
    const state = pendulum({ motors: [{ joint: "pivot" }] }).createState();
    state.drive(() => {
        throw new RangeError("no idea");
    });
    const before = Array.from(state.u);
    assert.throws(() => state.step(0.01), (error) => error instanceof RangeError && error.message === "no idea");
    assert.deepEqual(Array.from(state.u), before);
    state.drive(() => 3);
    refuses(() => state.step(0.01), /drive: motor 0: 2 numbers are wanted, not 3/);
    state.drive(() => {
        state.dispose();
        return [0, 0];
    });
    refuses(() => state.step(0.01), /nothing can be disposed of/);
    state.drive((motor, time) => {
        state.step(0.01);
        return [0, time];
    });
    refuses(() => state.step(0.01), /may look at things, but not change them/);
    state.drive(null);
    state.step(0.01);
    refuses(() => state.drive({ drive: 3 }), /what createCurve\(\) gave/);
});

test("bodies that nothing holds keep their momenta; gears turn by their ratio", () => {
    const free = bough.createMultibody({ bodies: [{ mass: 2, inertia: [0.1, 0.2, 0.3], twist: [1, 0, 0, 1, 2, 3] }] }).createState(), first = free.energies;
    for (let i = 0; i < 200; i++) free.step(0.002);
    assert.deepEqual(first.momentum, [2, 0, 0]);
    near(free.body(0).position[0], 0.4, 1e-6);
    near(Math.hypot(...free.energies.angularMomentum), Math.hypot(...first.angularMomentum), 0.01);

    const wheel = (name, x) => [{ name, position: [x, 0, 0] }, { name, kind: "hinge", child: name, inParent: { position: [x, 0, 0] } }];
    const [[one, left], [two, right]] = [wheel("one", 0), wheel("two", 1)];
    const geared = bough.createMultibody({ bodies: [one, two], joints: [left, right], motors: [{ name: "drive", joint: "one" }], gears: [{ joints: ["one", "two"], freedoms: [0, 0], ratio: 2 }] }).createState();
    geared.drive((motor, time) => [time ** 2, 2 * time]);
    for (let i = 0; i < 200; i++) geared.step(0.005);
    near(geared.joint("one").coordinates[0], 1, 1e-3);
    near(geared.joint("two").coordinates[0], -0.5, 1e-3);
});

test("a loop closes: the redundant constraints of a flat one are found", () => {
    const link = (name, x, z) => ({ name, position: [x, 0, z], mass: 1, inertia: [0.01, 0.01, 0.01] }), at = (x) => ({ position: [x, 0, 0], rotation: aboutY });
    const model = bough.createMultibody({
        gravity: [0, 0, -G], bodies: [{ ...link("left", 0, -0.5), rotation: turned("y", Math.PI / 2) }, link("bar", 0.5, -1), { ...link("right", 1, -0.5), rotation: turned("y", Math.PI / 2) }],
        joints: [
            { name: "a", kind: "hinge", child: "left", inParent: at(0), inChild: at(-0.5) }, { name: "b", kind: "hinge", parent: "left", child: "bar", inParent: at(0.5), inChild: at(-0.5) },
            { name: "c", kind: "hinge", parent: "bar", child: "right", inParent: at(0.5), inChild: at(0.5) }, { name: "d", kind: "hinge", child: "right", inParent: at(1), inChild: at(-0.5) },
        ],
    });
    assert.equal(model.redundant.length, 3);
    const state = model.createState();
    state.body("bar").force[0] = 20;
    state.step(0.01);
    for (let i = 0; i < 100; i++) state.step(0.005);
    assert.ok(state.drift < 1e-4 && Math.abs(state.joint("a").coordinates[0]) > 1e-4);
    near(state.frame({ body: "bar", position: [0.5, 0, 0] }).position[1], 0, 1e-9);
});

test("a flexible part hangs on a body: the weld carries both, and its energy is half of the weight's work", () => {
    const weak = 0.05;
    const model = bough.createMultibody({ gravity: [0, 0, -weak], bodies: [{ name: "hub", mass: 1 }], parts: [{ name: "beam", component, clamp: { body: "hub", position: [0.1, 0, 0] } }], joints: [{ name: "root", kind: "weld", child: "hub" }] });
    const state = model.createState(), before = state.energies, { q } = state.part("beam");
    assert.equal(q.length, component.size);
    state.settle();
    const { elastic, gravity } = state.energies;
    assert.ok(elastic > 0);
    near(elastic, -(gravity - before.gravity) / 2, 1e-3 * elastic);
    near(state.joint("root").force[2], 11 * weak, 1e-6);
    const { position } = state.frame({ body: "beam", interface: "tip" }), surface = state.surface("beam");
    assert.ok(position[2] < -1e-4 && Math.abs(position[0] - 1.1) < 1e-3);
    const last = [];
    for (let i = 0; i < surface.length; i += 3) if (surface[i] > 1.09) last.push(surface[i + 2]);
    near(last.reduce((a, b) => a + b, 0) / last.length, position[2], 1e-4);
    assert.equal(surface.length, component.surface.positions.length);
});

test("equilibria follow the motors", () => {
    const state = pendulum({ bodies: [{ name: "bob", mass: 2, position: [0, 0, -1] }], motors: [{ name: "drive", joint: "pivot", stiffness: 100 }] }).createState();
    state.drive((motor, time) => [time, 1]);
    state.settle();
    const { snaps, iterations } = state.follow(0.5), [angle] = state.joint("pivot").coordinates;
    assert.ok(snaps === 0 && iterations > 0 && state.time === 0.5);
    near(100 * (0.5 - angle), 2 * G * Math.sin(angle), 1e-6);
});

test("steps are seen in views; advance keeps an error; other methods step the same", () => {
    const model = pendulum({}, 0.5), state = model.createState(), { u } = state, { position } = state.body("bob");
    assert.ok(state.advance(0.5, 1e-6) > 1);
    assert.ok(state.u === u && position[0] === u[0] && position[0] < 0.4);
    const other = model.createState();
    other.useIntegrator("generalised-alpha");
    for (let i = 0; i < 100; i++) other.step(0.005);
    near(other.body("bob").position[0], position[0], 1e-4);
    refuses(() => other.useIntegrator("no"), /no/);
    refuses(() => other.snapshot(), /own method/);
    near(state.time, 0.5, 1e-12);
});

test("a snapshot goes on with the same bits", () => {
    const model = bough.createMultibody({ gravity: [0, 0, -G], bodies: [{ name: "hub" }], parts: [{ component, clamp: { body: "hub" } }], joints: [{ kind: "hinge", child: "hub", stiffness: 10, inParent: { rotation: aboutY }, inChild: { rotation: aboutY } }] });
    const state = model.createState(), go = () => {
        for (let i = 0; i < 50; i++) state.step(0.004);
        return [state.time, ...state.u, ...state.v];
    };
    go();
    state.body("hub").torque[1] = 3;
    state.gravity = [0, 1, -G];
    const snapshot = state.snapshot(), first = go();
    state.gravity = [0, 0, 0];
    state.restore(snapshot);
    assert.deepEqual(go(), first);
    refuses(() => state.restore(snapshot.subarray(8)), /no snapshot of this system/);
    refuses(() => state.restore(snapshot.map((_, i) => (i < snapshot.length - 8 ? snapshot[i] : 255))), /no snapshot of this system/);
    refuses(() => state.restore("bytes"), /a snapshot is wanted/);
    assert.deepEqual(go().length, first.length);
});

test("a robot has the bits of the native library's", { skip: without("run_robot") }, () => {
    const rotation = [1, 0, 0, 0, 0, 1, 0, -1, 0], hinge = (parent, child, z) => ({ kind: "hinge", parent, child, inParent: { position: [0, 0, z], rotation }, inChild: { position: [0, 0, 0.5], rotation } });
    const state = bough.createMultibody({
        gravity: [0, 0, -G], bodies: [{ name: "upper", mass: 2, position: [0, 0, -0.5] }, { name: "lower", mass: 1, position: [0, 0, -1.5] }],
        joints: [hinge(undefined, "upper", 0), hinge("upper", "lower", -0.5)], motors: [{ joint: 0, stiffness: 1000, damping: 50 }],
    }).createState();
    state.drive((motor, time) => (time < 1 ? [time, 1] : [2 - time, -1]));
    for (let i = 0; i < 400; i++) state.step(0.005);
    assert.deepEqual([...state.u, ...state.v], compared("run_robot", "400"));
});

test("wrong input is told in a sentence", () => {
    const make = (values) => () => bough.createMultibody(values), bodies = [{ name: "hub" }];
    refuses(make({ bodies, joints: [{ kind: "hinge", child: "hb" }] }), /joints\[0\]: child: there is no "hb"; there are "hub"/);
    refuses(make({ bodies, joints: [{ kind: "hing", child: "hub" }] }), /kind: there is no "hing"; there are weld, hinge/);
    refuses(make({ bodies, joints: [{ kind: "hinge", child: "hub", stiffness: NaN }] }), /stiffness: 1 numbers are wanted/);
    refuses(make({ bodies, joints: [{ kind: "hinge", child: "hub", compliance: [1, 2, 3] }] }), /compliance: 1 numbers are wanted/);
    refuses(make({ bodies, joints: [{ kind: "hinge", child: "hub", inChild: { interface: "tip" } }] }), /only parts have interfaces/);
    refuses(make({ bodies, parts: [{ clamp: { body: "hub" } }] }), /parts\[0\]: a component is wanted/);
    refuses(make({ bodies, parts: [{ component, clamp: { body: 7 } }] }), /from 0 to 1 is wanted, not 7/);
    refuses(make({ bodies, motors: [{ joint: "elbow" }] }), /motors\[0\]: joint: there is no "elbow"/);
    refuses(make({ bodies: [{ mass: -1 }] }), /\w+ \w+/);
    refuses(make({ bodies, gravity: [0, NaN, 0] }), /gravity: 3 numbers are wanted/);
    refuses(make({ bodies, colour: 1 }), /there is no "colour"; there are bodies, parts/);
    refuses(() => bough.createCurve({ times: [0, 0], values: [1, 2] }), /times: numbers that ascend/);
    refuses(() => bough.createCurve({ times: [0], values: [1, 2] }), /values: 1 numbers are wanted/);
    const model = pendulum(), state = model.createState();
    refuses(() => state.step(-1), /\w+ \w+/);
    refuses(() => state.step("1"), /dt: a number is wanted/);
    refuses(() => state.body("world"), /there is no "world"/);
    refuses(() => state.frame({ body: 3 }), /from 0 to 0 is wanted, not 3/);
    refuses(() => state.part(0), /there is none/);
    refuses(() => state.actor([{ body: "bob", shape: {}, pointCount: 9 }]), /there is no "pointCount"/);
    const flat = state.actor([{ body: "bob", shape: { kind: "plane" } }]);
    refuses(() => bough.createWorld({ actors: [flat] }), /\w+ \w+/);
    refuses(() => bough.createWorld({ actors: [flat] }), /this Actor was disposed of/);
    refuses(() => state.actor([{ shape: {} }]), /shapes\[0\]: body/);
    state.u.fill(NaN);
    assert.throws(() => state.step(0.01), BoughError);
    model.dispose();
    refuses(() => state.step(0.01), /this Multibody was disposed of/);
    state.dispose();
    refuses(() => state.u, /this MultibodyState was disposed of/);
});

test("a thousand lives leave no memory behind", () => {
    const live = () => {
        const model = pendulum({ motors: [{ name: "drive", joint: "pivot" }], parts: [{ component, clamp: { body: "bob" } }] }), state = model.createState(), curve = bough.createCurve({ times: [0, 1], values: [0, 1] });
        state.drive({ drive: curve });
        state.step(0.01);
        state.restore(state.snapshot());
        state.surface(0);
        const world = bough.createWorld({ actors: [state.actor([{ body: "bob", shape: { kind: "hull", points: [0, 0, 0, 1, 0, 0, 0, 1, 0, 0, 0, 1] } }])] });
        for (const one of [world, state, model, curve]) one.dispose();
    };
    for (let i = 0; i < 20; i++) live();
    const size = bough.exports.memory.buffer.byteLength;
    for (let i = 0; i < 500; i++) live();
    assert.equal(bough.exports.memory.buffer.byteLength, size);
});
