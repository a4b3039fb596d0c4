// The npm package bough-rt, as it was built into build/wasm/npm: packs, mechanisms, types.

import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { bar, compared, folder, here, load, packed, refuses, without } from "./common.js";

// Three bars, one on the other, held at one end.
const scene = {
    components: { bar },
    parts: [{ name: "low", component: "bar", fix: "base" }, { name: "middle", component: "bar", parent: "low", interface: "tip" }, { name: "high", component: "bar", parent: "middle", interface: "tip" }],
};

const { work, path, cooked } = packed(scene), bytes = readFileSync(path), component = cooked("bar");
const bough = await load(), model = bough.readPack(bytes);

const withState = (use) => {
    const state = model.createState();
    try {
        return use(state);
    } finally {
        state.dispose();
    }
};
test("a pack has its parts, with names, vertices and triangles", () => {
    assert.deepEqual(model.parts.map(({ name, parent }) => [name, parent]), [["low", -1], ["middle", 0], ["high", 1]]);
    assert.equal(model.size, 18);
    assert.equal(model.vertexCount, 3 * model.parts[0].vertexCount);
    assert.ok(model.triangles.length > 100 && model.triangles.every((vertex) => vertex < model.vertexCount));
});

test("steps have the bits of a native program's", { skip: without("run_pack") }, () => {
    withState((state) => {
        for (let i = 0; i < 1000; i++) {
            if (i < 500) state.pull("high", 0, [1, 0.5, 1], 100, 1);
            state.advance(1 / 240);
        }
        assert.deepEqual(Array.from(state.q, (q, i) => [q, state.v[i]]).flat(), compared("run_pack", path, "1000"));
    });
});

test("what nothing damps keeps its energy", () => {
    withState((state) => {
        const { total } = state.energies;
        let most = 0;
        for (let i = 0; i < 500; i++) {
            state.advance(1 / 240);
            most = Math.max(most, state.energies.kinetic);
        }
        assert.ok(most > 1 && Math.abs(state.energies.total - total) < 0.02 * most, `${state.energies.total} should be ${total}, of up to ${most} J`);
    });
});

test("arrays are views: what is written counts, and steps are seen in them", () => {
    withState((state) => {
        const { q, frames } = state, end = state.pose("high").position;
        state.step(1 / 240);
        assert.equal(state.q, q);
        const height = end[2];
        for (let i = 0; i < 20; i++) state.step(1 / 240);
        assert.ok(end[2] < height && frames[2 * 18 + 2] === end[2], "it falls");
        q.fill(0);
        state.v.fill(0);
        state.update();
        assert.ok(Math.abs(end[2]) < 1e-12, "straight again");
    });
});

test("the surface moves with the parts, and normals have length 1", () => {
    withState((state) => {
        const before = Float32Array.from(state.surface().positions), last = 3 * model.parts[2].firstVertex;
        for (let i = 0; i < 30; i++) state.advance(1 / 240);
        const { positions, normals } = state.surface();
        assert.ok(positions.length === 3 * model.vertexCount && positions[last + 2] < before[last + 2] - 0.01);
        for (let i = 0; i < normals.length; i += 3) assert.ok(Math.abs(Math.hypot(...normals.subarray(i, i + 3)) - 1) < 1e-5);
        assert.equal(state.surfaceStress().length, model.vertexCount);
        const { position } = state.vertex("high", 0);
        assert.ok(Math.abs(position[2] - positions[last + 2]) < 0.01);
    });
});

test("weight bends the bars down, wind blows them aside", () => {
    withState((state) => {
        assert.ok(state.settle() < 1e-6);
        const { position } = state.vertex("high", 0);
        assert.ok(position[2] < -0.05);
        assert.ok(state.energies.kinetic === 0);
        state.gravity = [0, 0, 0];
        assert.deepEqual(Array.from(state.gravity), [0, 0, 0]);
        state.wind = { velocity: [0, 12, 0], gust: 0, seed: 3 };
        assert.deepEqual(state.wind.velocity, [0, 12, 0]);
    });
});

test("a part that is cut off falls, and can be put back", () => {
    withState((state) => {
        state.detach("high");
        assert.equal(state.parent("high"), -1);
        for (let i = 0; i < 100; i++) state.advance(1 / 240);
        assert.ok(state.pose("high").position[2] < -0.5);
        state.reattach("high");
        assert.equal(state.parent("high"), 1);
        state.lock("middle");
        state.remove("high");
        state.add("high");
        state.step(1 / 240);
    });
});

test("forces and momentum: a push of one step gives what it should", () => {
    const c = bough.readComponent(component);
    const tree = bough.createTree({ parts: [{ component: c, name: "root" }, { component: c, parent: "root", interface: "tip", scale: 0.5 }], gravity: [0, 0, 0] });
    const state = tree.createState();
    assert.deepEqual(c.interfaces, ["base", "tip"]);
    assert.ok(Math.abs(c.mass - 10) < 1e-9);
    state.addWrench(1, [0, 3, 0]);
    state.addForce("root", 0, [0, 0, 0]);
    state.step(1e-3);
    const { kinetic } = state.energies;
    assert.ok(kinetic > 0 && state.v.some((v) => v !== 0));
    state.clearForces();
    [state, tree, c].forEach((one) => one.dispose());
});

test("a snapshot goes on with the same bits", () => {
    withState((state) => {
        for (let i = 0; i < 10; i++) state.advance(1 / 240);
        const snapshot = state.snapshot();
        const go = () => {
            state.pull(2, 0, [0, 1, 0], 50);
            for (let i = 0; i < 20; i++) state.advance(1 / 240);
            return Array.from(state.q);
        };
        const first = go();
        state.restore(snapshot);
        assert.ok(Math.abs(state.time - 10 / 240) < 1e-12);
        assert.deepEqual(go(), first);
        snapshot[snapshot.length >> 1] ^= 255;
        refuses(() => state.restore(snapshot.subarray(0, 40)), /\w+ \w+/);
    });
});

test("another integrator steps the same bars", () => {
    withState((state) => {
        state.useIntegrator("tr-bdf2");
        state.step(1 / 240);
        refuses(() => state.useIntegrator("tr-bdf3"), /tr-bdf3/);
        state.useIntegrator(null);
    });
});

test("a mechanism gives way as its spring says", () => {
    const stiffness = 200, length = 0.5, mechanism = bough.createMechanism({
        links: [{ name: "base" }, { name: "arm", mass: 2, position: [length, 0, 0], inertia: [0.01, 0.01, 0.01] }],
        joints: [{ kind: "hinge", parent: "base", child: "arm", inChild: { position: [-length, 0, 0] }, stiffness, damping: 0.5 }],
        endEffectors: [{ link: "arm" }],
    });
    // a force across the arm turns it by F l / k, so its end moves by F l^2 / k
    assert.ok(Math.abs(mechanism.compliance[6 + 1] - length ** 2 / stiffness) < 1e-12);
    const inertia = 0.01 + 2 * length ** 2, [hz] = mechanism.frequencies(3);
    assert.ok(Math.abs(hz - Math.sqrt(stiffness / inertia) / (2 * Math.PI)) < 1e-6);
    const state = mechanism.createState();
    for (let i = 0; i < 4000; i++) {
        state.push(0, [0, 10, 0]);
        state.step(2e-3);
    }
    const angle = (10 * length) / stiffness;
    assert.ok(Math.abs(state.xi[5] - angle) < 1e-4 && Math.abs(state.endEffector(0).position[1] - length * Math.sin(angle)) < 1e-3);
    assert.equal(state.poses.length, 24);
    assert.ok(Math.abs(state.energies.elastic - 0.5 * stiffness * angle ** 2) < 1e-3);
    refuses(() => state.push(1, [0, 0, 0]), /from 0 to 0 is wanted, not 1/);
    refuses(() => bough.createMechanism({ links: [{}], joints: [{ kind: "hing", parent: 0, child: 0 }], endEffectors: [] }), /joints\[0\]: kind: there is no "hing"; there are weld, hinge/);
    state.dispose();
    mechanism.dispose();
});

test("wrong input is told in a sentence", () => {
    refuses(() => bough.readPack(new TextEncoder().encode("hello")), /this is not a \.bough file/);
    refuses(() => bough.readPack(bytes.subarray(0, bytes.length - 100)), /\w+ \w+/);
    refuses(() => bough.readPack("tree.pack"), /bytes of a file are wanted/);
    refuses(() => bough.readComponent(bytes), /\w+ \w+/);
    withState((state) => {
        refuses(() => state.step(-1), /\w+ \w+/);
        refuses(() => state.step("1"), /dt: a number is wanted/);
        refuses(() => state.addForce("top", 0, [0, 0, 1]), /no part called "top"/);
        refuses(() => state.addForce(0, 1e6, [0, 0, 1]), /vertex: a whole number from 0/);
        refuses(() => state.addForce(0, 0, [0, 0]), /force: 3 numbers are wanted, not \[0, 0\]/);
        refuses(() => state.addForce(0, 0, [0, NaN, 0]), /3 numbers are wanted/);
        refuses(() => (state.wind = { speed: 1 }), /no "speed"/);
        refuses(() => state.attach("high", "low", "side"), /none called "side"/);
        state.step(1 / 240);
    });
    const state = model.createState();
    state.dispose();
    state.dispose();
    refuses(() => state.step(1 / 240), /TreeState was disposed of/);
});

test("an instance can be given bytes, a module or an answer", async () => {
    const wasm = readFileSync(join(folder, "bough_rt.wasm"));
    for (const given of [wasm, await WebAssembly.compile(wasm), new Response(wasm, { headers: { "content-type": "application/wasm" } })]) {
        const other = await load({ wasm: given });
        assert.match(other.version, /^\d+\.\d+\.\d+$/);
        other.readPack(bytes).dispose();
    }
});

test("a thousand lives leave no memory behind", () => {
    const live = () => {
        const own = bough.readPack(bytes), state = own.createState();
        state.pull(0, 0, [0, 0, 0], 1);
        state.step(1 / 240);
        state.surface();
        state.restore(state.snapshot());
        state.dispose();
        own.dispose();
    };
    for (let i = 0; i < 20; i++) live();
    const size = bough.exports.memory.buffer.byteLength;
    for (let i = 0; i < 1000; i++) live();
    assert.equal(bough.exports.memory.buffer.byteLength, size);
});

const compiler = join(here, "node_modules/typescript/bin/tsc");
test("types.ts agrees with the package's types", { skip: existsSync(compiler) ? false : "the npm package typescript is not there" }, () => {
    const paths = join(work, "tsconfig.json");
    writeFileSync(paths, JSON.stringify({
        compilerOptions: { strict: true, noEmit: true, target: "es2022", module: "nodenext", moduleResolution: "nodenext", lib: ["es2022", "dom"], types: [], skipLibCheck: false, paths: { "bough-rt": [join(folder, "index.d.ts")] } },
        files: [join(here, "types.ts")],
    }));
    try {
        execFileSync(process.execPath, [compiler, "-p", paths], { encoding: "utf8" });
    } catch (error) {
        assert.fail(error.stdout);
    }
});

test("every member that the types name is there", () => {
    const text = readFileSync(join(folder, "index.d.ts"), "utf8"), c = bough.readComponent(component);
    const mechanism = bough.createMechanism({ links: [{}, { position: [1, 0, 0] }], joints: [{ kind: "hinge", parent: 0, child: 1, inChild: { position: [-1, 0, 0] }, stiffness: 1 }], endEffectors: [{ link: 1 }] });
    const multibody = bough.createMultibody({ bodies: [{}] }), system = multibody.createState(), tree = model.createState();
    const mesh = bough.createShapeMesh({ positions: [0, 0, 0, 1, 0, 0, 0, 1, 0, 0, 0, 1], triangles: [0, 2, 1, 0, 1, 3, 1, 2, 3, 0, 3, 2] });
    const all = {
        Bough: bough, Component: c, ShapeMesh: mesh, Curve: bough.createCurve({ times: [0], values: [0] }), TreeModel: model, TreeState: tree, TreeRecording: tree.record(), Mechanism: mechanism, MechanismState: mechanism.createState(),
        Multibody: multibody, MultibodyState: system, Actor: system.actor([{ body: 0, shape: {} }]), World: bough.createWorld(),
    };
    const classes = [...text.matchAll(/^export (?:class|interface) (\w+)[^{]*\{([^]*?)^\}/gm)].filter(([whole, name]) => whole.startsWith("export class") ? name !== "BoughError" : name === "Bough");
    assert.deepEqual(classes.map(([, name]) => name).sort(), Object.keys(all).sort());
    for (const [, name, body] of classes) {
        const members = [...body.matchAll(/^ {4}(?:readonly |get |set )?(\w+)[(:]/gm)].map(([, member]) => member).filter((member) => member !== "constructor");
        assert.ok(members.length > 0);
        for (const member of members) assert.ok(member in all[name], `${name}.${member}`);
    }
});
