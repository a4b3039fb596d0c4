// Trees that a program makes: joints, ties, tracks, contact, recordings.

import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";
import { bar, load, near, packed, refuses, turned } from "./common.js";

const bough = await load(), G = 9.81;
const aboutY = turned("x", -Math.PI / 2); // z of a hinge along the part's y
const { path, cooked } = packed({
    components: { bar }, gravity: [0, 0, -1],
    parts: [{ name: "low", component: "bar", fix: "base" }, { name: "high", component: "bar", parent: "low", interface: "tip", joint: { kind: "hinge", axis: [0, 1, 0], stiffness: 300, damping: 5 } }],
});
const component = bough.readComponent(cooked("bar"));
const two = (rest, gravity = [0, 0, -1], more) => bough.createTree({ gravity, parts: [{ name: "low", component }, { name: "high", component, parent: "low", interface: "tip", ...rest }], ...more });
const advance = (state, steps, each = () => {}) => {
    for (let i = 0; i < steps; i++) {
        each(i);
        state.advance(1 / 240);
    }
    return state;
};

test("a tree with a hinge moves as the pack of the same scene", () => {
    const made = two({ joint: { kind: "hinge", inChild: { rotation: aboutY }, stiffness: 300, damping: 5 } }), read = bough.readPack(readFileSync(path));
    assert.deepEqual(made.parts.map(({ jointOffset }) => jointOffset), read.parts.map(({ jointOffset }) => jointOffset));
    assert.ok(made.parts[0].jointOffset === -1 && made.parts[1].jointOffset > 0);
    const [a, b] = [made, read].map((model) => advance(model.createState(), 200));
    a.q.forEach((q, i) => near(q, b.q[i], 1e-9));
});

test("the spring of a hinge carries what hangs in it", () => {
    const stiffness = 400, weak = 0.05, model = two({ joint: { kind: "hinge", inChild: { rotation: aboutY }, stiffness } }, [0, 0, -weak]), state = model.createState();
    state.settle();
    near(Math.abs(state.q[model.parts[1].jointOffset]), (10 * weak * 0.5) / stiffness, 1e-5);
    state.addJointTorque("high", Math.sign(state.q[model.parts[1].jointOffset]) * -10 * weak * 0.5);
    state.settle();
    near(state.q[model.parts[1].jointOffset], 0, 1e-5);
});

test("a tie holds a tip, until it is cut", () => {
    const model = bough.createTree({ gravity: [0, 0, -1], parts: [{ name: "low", component, dampingStiffness: 0.05 }], ties: [{ name: "rope", parent: "low", parentInterface: "tip", stiffness: [1e6, 1e6, 1e6], damping: [100, 100, 100] }] });
    const tip = (state) => state.surface().positions.filter((_, i, all) => i % 3 === 2 && all[i - 2] > 0.9).reduce((a, b) => Math.min(a, b), 0) + 0.05;
    const state = model.createState();
    assert.deepEqual(model.ties, ["rope"]);
    state.settle();
    near(tip(state), 0, 2e-3);
    state.tieStrength[0] = 0;
    state.settle();
    assert.ok(tip(state) < -0.005, `${tip(state)}`);
    const bridge = bough.createTree({ gravity: [0, 0, -1], parts: [{ name: "left", component }, { name: "right", component, position: [2, 0, 0], rotation: turned("z", Math.PI) }], ties: [{ parent: "left", parentInterface: "tip", child: "right", childInterface: "tip", stiffness: [1e6, 1e6, 1e6, 1e4, 1e4, 1e4] }] });
    const joined = bridge.createState();
    joined.settle();
    const [a, b] = ["left", "right"].map((part) => joined.vertex(part, 0).position[2]);
    near(a, b, 1e-3);
});

test("a root that is led goes through its keys, and takes along what hangs on it", () => {
    const track = { times: [0, 0.5, 1], positions: [0, 0, 0, 0, 1, 0, 0, 0, 2], rotations: [1, 0, 0, 0, 1, 0, 0, 0, Math.SQRT1_2, 0, 0, Math.SQRT1_2] };
    const model = bough.createTree({ parts: [{ name: "root", component, track }, { name: "next", component, parent: "root", interface: "tip" }] }), state = model.createState();
    const { position, rotation, velocity } = state.pose("root");
    advance(state, 120);
    near(position[1], 1, 1e-9);
    assert.ok(Math.hypot(...velocity) > 0.5);
    advance(state, 240);
    near(position[2], 2, 1e-9);
    near(rotation[3], 1, 1e-9);
    assert.ok(Math.hypot(...state.v) < 50 && state.pose("next").position[1] > 0.5);
    refuses(() => bough.createTree({ parts: [{ component, track: { ...track, positions: [0] } }] }), /track: positions: 9 numbers are wanted/);
    refuses(() => bough.createTree({ parts: [{ component, track: { ...track, times: [0, 0, 1] } }] }), /\w+ \w+/);
});

test("parts lie on obstacles and on each other: forces are their weights", () => {
    const model = bough.createTree({ gravity: [0, 0, -G], parts: [{ name: "under", component, free: true, dampingRatio: 0.3 }, { name: "over", component, free: true, position: [0, 0, 0.12], dampingRatio: 0.3 }] }), state = model.createState();
    state.touch({ obstacles: [{ name: "floor", position: [0, 0, -0.06], shapes: [{ kind: "plane" }] }], between: true, friction: 0.5, restSpeed: 0 });
    advance(state, 480);
    const { contacts } = state, on = (kind, index) => contacts.reduce((total, { sides, force }) => {
        const side = sides.findIndex((one) => one.kind === kind && one.index === index);
        return side < 0 ? total : total + (side === 0 ? force[2] : -force[2]);
    }, 0);
    near(on("obstacle", 0), -20 * G, 2 * G);
    near(on("part", 1), 10 * G, 2 * G);
    assert.ok(state.pose("over").position[2] > state.pose("under").position[2] + 0.08);
    state.touch(null);
    advance(state, 120);
    assert.ok(state.contacts.length === 0 && state.pose("under").position[2] < -0.5);
});

test("a bar rests on a solid of another part", () => {
    const model = bough.createTree({ gravity: [0, 0, -G], parts: [{ name: "held", component, dampingRatio: 0.3 }, { name: "table", component, position: [0.6, 0, -0.5], dampingRatio: 0.3 }] }), state = model.createState();
    const alone = advance(model.createState(), 300).surface().positions;
    state.touch({ solids: [{ part: "table", shape: { kind: "box", half: [1, 0.2, 0.1], position: [0.3, 0, 0.32] } }] }); // up to z = -0.08
    advance(state, 300);
    const lowest = (positions) => Math.min(...positions.slice(0, 3 * model.parts[0].vertexCount).filter((_, i) => i % 3 === 2));
    assert.ok(state.contacts.length > 0 && lowest(alone) < -0.11 && lowest(state.surface().positions) > -0.09);
});

test("a state needs the meshes that it touches, until it touches something else", () => {
    const mesh = bough.createShapeMesh({ positions: [0, 0, 0, 1, 0, 0, 0, 1, 0, 0, 0, 1], triangles: [0, 2, 1, 0, 1, 3, 1, 2, 3, 0, 3, 2], cells: 8 });
    const [a, b] = [two(), two()].map((model) => model.createState());
    for (const state of [a, b]) {
        state.touch({ obstacles: [{ position: [0, 0, -1.2], shapes: [{ kind: "mesh", mesh }] }] });
        advance(state, 10);
    }
    a.touch(null);
    mesh.dispose();
    advance(a, 10);
    refuses(() => b.step(1 / 240), /this ShapeMesh was disposed of/);
    b.dispose();
});

test("a recording is done again with the same bits, also from a file", () => {
    const model = two({ joint: { kind: "hinge", inChild: { rotation: aboutY }, stiffness: 300 } }, [0, 0, -G]), state = model.createState();
    const recording = state.record();
    advance(state, 60, (i) => i < 30 && state.pull("high", 0, [1, 0.5, 1], 100));
    state.wind = { velocity: [8, 0, 0], gust: 0.5 };
    state.gravity[1] = 2;
    advance(state, 20);
    state.detach("high");
    advance(state, 20);
    assert.equal(recording.info.complete, false);
    const unfinished = recording.bytes();
    recording.stop();
    assert.ok(recording.info.complete && recording.info.steps === 100 && unfinished.length > 1000);
    const bytes = recording.bytes(), last = Array.from(state.q), read = bough.readRecording(bytes), other = model.createState(), times = [];
    assert.equal(read.replay(other, (now) => void times.push(now.time)), true);
    assert.deepEqual(Array.from(other.q), last);
    assert.ok(times.length === 100 && Math.abs(times[9] - 10 / 240) < 1e-12);
    assert.equal(read.replay(other), true);
    refuses(() => read.replay(other, (now) => now.time < 0.1), /the replay was ended/);
    assert.throws(() => read.replay(other, () => assert.fail("mine")), /mine/);
    refuses(() => read.replay(other, () => other.dispose()), /nothing can be disposed of/);
    refuses(() => read.replay(other, (now) => now.step(0.1)), /may look at things, but not change them/);
    let seen = 0;
    read.replay(other, (now) => (seen += now.surface().positions.length + now.energies.kinetic) > 0);
    assert.ok(seen > 100 * 3 * model.vertexCount);
    refuses(() => read.replay({}), /a state of the tree is wanted/);
    refuses(() => bough.readRecording(bytes.subarray(0, 50)), /\w+ \w+/);
    for (let at = 0; at < 200; at += 7) {
        const wrong = bytes.slice();
        wrong[at] ^= 255;
        try {
            bough.readRecording(wrong).dispose();
        } catch (error) {
            assert.match(error.message, /\w+ \w+/);
        }
    }
    const foreign = bough.createTree({ parts: [{ component }] }).createState();
    refuses(() => read.replay(foreign), /\w+ \w+/);
    read.dispose();
    refuses(() => read.info, /this TreeRecording was disposed of/);
});

test("a recording outlives its state", () => {
    const state = two().createState(), recording = state.record();
    state.step(1 / 240);
    state.dispose();
    assert.ok(recording.info.complete && recording.info.steps === 1);
    recording.dispose();
});

test("a model becomes a pack, which is read again", () => {
    const model = two({ joint: { kind: "ball", stiffness: [10, 10, 10] } }), again = bough.readPack(model.pack());
    assert.deepEqual(again.parts, model.parts);
    assert.deepEqual(Array.from(advance(again.createState(), 20).q), Array.from(advance(model.createState(), 20).q));
});

test("wrong input is told in a sentence", () => {
    const tree = (part, more) => () => two(part, undefined, more);
    refuses(tree({ joint: { kind: "hing" } }), /parts\[1\]: joint: kind: there is no "hing"/);
    refuses(tree({ joint: { kind: "prismatic" } }), /\w+ \w+/);
    refuses(tree({ parent: "top" }), /parts\[1\]: parent: there is no "top"; there are "low", "high"/);
    refuses(tree({ parent: "high" }), /parts that come before it/);
    refuses(tree({ interface: "side" }), /there is no "side"; there are "base", "tip"/);
    refuses(tree({ component: {} }), /parts\[1\]: a component is wanted/);
    refuses(tree({ colour: 1 }), /parts\[1\]: there is no "colour"/);
    refuses(tree({ locked: 1 }), /locked: true or false is wanted, not 1/);
    refuses(tree({}, { ties: [{ parent: "low", parentInterface: "tip", child: "hugh" }] }), /ties\[0\]: child: there is no "hugh"/);
    refuses(tree({}, { ties: {} }), /ties: a list is wanted/);
    const state = two().createState();
    refuses(() => state.touch({ solids: [{ part: "top", shape: {} }] }), /no part called "top"/);
    refuses(() => state.touch({ solids: [{ part: "low", shape: { kind: "plane" } }] }), /\w+ \w+/);
    refuses(() => state.touch({ between: [true, false] }), /for each of 1 components/);
    refuses(() => state.touch({ friction: NaN }), /friction: a number is wanted/);
    refuses(() => state.touch({ obstacle: [] }), /there is no "obstacle"; there are obstacles/);
    refuses(() => state.record() && state.record(), /\w+ \w+/);
    const own = bough.readComponent(cooked("bar")), leaning = bough.createTree({ parts: [{ component: own }] });
    own.dispose();
    refuses(() => leaning.createState(), /this Component was disposed of/);
});
