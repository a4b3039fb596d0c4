// Definitions and snapshots of which any one value is something else: a sentence, or something that works, and never a trap.

import assert from "node:assert/strict";
import { test } from "node:test";
import { bar, BoughError, load, packed } from "./common.js";

const bough = await load();
const component = bough.readComponent(packed({ components: { bar }, parts: [{ name: "low", component: "bar", fix: "base" }] }).cooked("bar"));
const mesh = bough.createShapeMesh({ positions: [0, 0, 0, 1, 0, 0, 0, 1, 0, 0, 0, 1], triangles: [0, 2, 1, 0, 1, 3, 1, 2, 3, 0, 3, 2], cells: 8 });
const garbage = [undefined, null, true, NaN, Infinity, -1, 0.5, 7, 1e10, "", "x\0y", "nobody", {}, [], [NaN], [1, 2], ["a", "b", "c"], [[1, 2, 3]], new Float64Array(9), 10n, Symbol("s"), () => 1, component, mesh];

// Each value of the definition, however deep.
function* places(value, path = []) {
    if (path.length > 0) yield path;
    if (value === component || value === mesh || value === null || typeof value !== "object" || ArrayBuffer.isView(value)) return;
    for (const [key, inner] of Object.entries(value)) yield* places(inner, [...path, key]);
}
const replaced = (value, [key, ...rest], by) => {
    const copy = Array.isArray(value) ? value.slice() : { ...value };
    copy[key] = rest.length > 0 ? replaced(value[key], rest, by) : by;
    return copy;
};

function attack(definition, use) {
    let made = 0, refused = 0;
    use(definition);
    for (const path of places(definition))
        for (const by of garbage) {
            try {
                use(replaced(definition, path, by));
                made++;
            } catch (error) {
                assert.ok(error instanceof BoughError && /\w+ \w+/.test(error.message), `${path.join(".")} = ${String(by)}: ${error.stack}`);
                refused++;
            }
        }
    assert.ok(made > 0 && refused > made, `${made} made, ${refused} refused`);
    use(definition);
}
const disposing = (use) => (definition) => {
    const made = [];
    const keep = (one) => (made.push(one), one);
    try {
        use(definition, keep);
    } finally {
        for (const one of made.reverse()) one.dispose();
    }
};
const joint = { name: "axle", kind: "hinge", parent: "hub", child: "arm", inParent: { position: [0, 0, 1], rotation: [1, 0, 0, 0, 1, 0, 0, 0, 1] }, inChild: { position: [0, 0, 0] }, stiffness: [1], damping: 2, offset: 0, lower: [-1], upper: [1], limitStiffness: 3, friction: 0 };

test("worlds", () =>
    attack({
        gravity: [0, 0, -1], margin: 0.05, islands: true, mostRounds: 100, contactReserve: 3, mostContacts: 1000,
        obstacles: [{ name: "floor", position: [0, 0, 0], friction: 0.5, shapes: [{ kind: "plane" }, { kind: "height-field", columns: 2, rows: 2, cell: [1, 1], heights: [0, 0, 0, 0] }] }],
        bodies: [{ name: "ball", mass: 1, inertia: [1, 1, 1], twist: [0, 0, 0, 0, 0, 0], restitution: 0.5, shapes: [{ kind: "mesh", mesh, position: [0, 0, 1] }, { kind: "hull", points: [0, 0, 0, 1, 0, 0, 0, 1, 0, 0, 0, 1] }, { kind: "capsule", radius: 0.1, half: [0, 0, 0.1] }] }],
    }, disposing((definition, keep) => keep(bough.createWorld(definition)).step(0.01))));

test("multibody systems", () =>
    attack({
        gravity: [0, 0, -1], baumgarte: 50, frictionSpeed: 0.01,
        bodies: [{ name: "hub", mass: 1, inertia: [1, 1, 1] }, { name: "arm", mass: 1, centre: [0, 0, 0], position: [0, 0, 1] }],
        parts: [{ name: "beam", component, clamp: { body: "arm", position: [0, 0, 0] }, stiffness: 1, dampingMass: 0 }], joints: [joint, { name: "tip", kind: "ball", parent: "beam", inParent: { interface: "tip" }, child: "hub", stiffness: [1, 1, 1] }],
        motors: [{ name: "drive", joint: "axle", freedom: 0, stiffness: 10, damping: 1, limit: 5 }], gears: [],
    }, disposing((definition, keep) => {
        const state = keep(keep(bough.createMultibody(definition)).createState());
        try {
            state.step(0.01);
        } catch (error) {
            if (!error.recoverable) throw error;
        }
    })));

test("trees", () =>
    attack({
        gravity: [0, 0, -1], coupling: "L3", alpha: -0.05, passes: 0, wind: { velocity: [1, 0, 0], seed: 3 },
        parts: [{ name: "root", component, track: { times: [0, 1], positions: [0, 0, 0, 0, 0, 1], rotations: [1, 0, 0, 0, 1, 0, 0, 0] } }, { name: "twig", component, parent: "root", interface: "tip", offset: [0, 0, 0], scale: 0.5, stiffness: 2, dampingRatio: 0.1, locked: false, joint: { kind: "hinge", stiffness: 10, start: [0.1], inChild: { position: [0, 0, 0] } } }],
        ties: [{ name: "rope", parent: "root", parentInterface: "tip", stiffness: [1, 1, 1], damping: [1, 1, 1] }],
    }, disposing((definition, keep) => {
        const state = keep(keep(bough.createTree(definition)).createState());
        try {
            state.advance(0.01);
        } catch (error) {
            if (!error.recoverable) throw error;
        }
    })));

test("what trees touch", () => {
    const model = bough.createTree({ gravity: [0, 0, -1], parts: [{ name: "root", component }, { name: "twig", component, free: true, position: [0, 0, 1] }] }), state = model.createState();
    attack({ obstacles: [{ name: "floor", position: [0, 0, -2], shapes: [{ kind: "box", half: [1, 1, 1] }] }], solids: [{ part: "root", shape: { kind: "sphere", radius: 0.1 } }], friction: 0.5, slipSpeed: 1e-3, mostContacts: 100, restSpeed: 0.1, restTime: 1 }, (definition) => state.touch(definition));
    attack({ between: [true] }, (definition) => state.touch(definition));
});

test("mechanisms", () =>
    attack({
        links: [{ name: "hub" }, { name: "arm", mass: 2, position: [0, 0, 1], inertia: [1, 1, 1] }], joints: [{ name: "axle", kind: "hinge", parent: "hub", child: "arm", inChild: { position: [0, 0, -1] }, stiffness: 3, damping: 1 }],
        endEffectors: [{ link: "arm", position: [0, 0, 1] }], base: "hub", freeBase: false, internalModes: 0,
    }, disposing((definition, keep) => keep(keep(bough.createMechanism(definition)).createState()).step(0.01))));

test("shapes, curves and meshes", () => {
    attack({ kind: "height-field", columns: 2, rows: 2, cell: [1, 1], heights: [0, 0, 0, 1] }, (shape) => bough.shapeSurface(shape));
    attack({ times: [0, 1], values: [0, 1], kind: "stops" }, disposing((curve, keep) => keep(bough.createCurve(curve)).at(0.5)));
    attack({ positions: [0, 0, 0, 1, 0, 0, 0, 1, 0, 0, 0, 1], triangles: [0, 2, 1, 0, 1, 3, 1, 2, 3, 0, 3, 2], cells: 8 }, disposing((surface, keep) => keep(bough.createShapeMesh(surface))));
});

test("snapshots of which any one number is another", () => {
    const numbers = [NaN, Infinity, -1, 0.5, 7, 1e9, 2 ** 31, 1e300];
    const attackSnapshot = (make, step, snapshot, put) => {
        let one = make();
        for (let i = 0; i < 10; i++) step(one);
        const good = snapshot(one), count = new Float64Array(good.buffer).length;
        for (let i = 0; i < count; i++)
            for (const number of numbers) {
                const wrong = good.slice();
                new Float64Array(wrong.buffer)[i] = number;
                try {
                    put(one, wrong);
                    step(one);
                } catch (error) {
                    assert.ok(error instanceof BoughError, `number ${i} = ${number}: ${error.stack}`);
                }
            }
        put(one, good);
        step(one);
    };
    const restore = (one, snapshot) => one.restore(snapshot), snapshot = (one) => one.snapshot(), step = (one) => one.step(0.005);
    const box = (z) => ({ position: [0, 0, z], shapes: [{ kind: "box", half: [0.1, 0.1, 0.1] }] });
    attackSnapshot(() => bough.createWorld({ gravity: [0, 0, -9.81], obstacles: [{ shapes: [{ kind: "plane" }] }], bodies: [box(0.1), box(0.3)] }), step, snapshot, restore);
    const system = { gravity: [0, 0, -9.81], bodies: [{ name: "hub" }], parts: [{ component, clamp: { body: "hub" } }], joints: [{ kind: "hinge", child: "hub" }] };
    attackSnapshot(() => bough.createMultibody(system).createState(), step, snapshot, restore);
    attackSnapshot(() => bough.createTree({ gravity: [0, 0, -9.81], parts: [{ component }, { component, parent: 0, interface: "tip" }] }).createState(), step, snapshot, restore);
});
