// What the page makes of the program's messages: no browser is needed for this.

import assert from "node:assert/strict";
import { test } from "node:test";
import { withUnit } from "../../viewer/page/colours.js";
import { splitCreases, spread } from "../../viewer/page/creases.js";
import { GhostMeter } from "../../viewer/page/ghost.js";
import { History } from "../../viewer/page/history.js";
import { Layer, rotate } from "../../viewer/page/layer.js";
import { areaVectors, linearNormals } from "../../viewer/page/normals.js";
import { readColours, readFrame, readHead, readStage } from "../../viewer/page/protocol.js";
import { encodeColours, encodeFrame, encodeStage } from "./stage.js";

// A square of two triangles whose far edge is lifted (U_1) and shifted (U_2).
const square = {
    position: [0, 0, 0, 1, 0, 0, 1, 1, 0, 0, 1, 0],
    index: [0, 1, 2, 0, 2, 3],
    U: [0, 0, 0, 0, 0, 0, 0, 0, 1, 1, 0, 0, 0, 0, 1, 1, 0, 0, 0, 0, 0, 0, 0, 0],
};
const identity = [0, 0, 0, 0, 0, 0, 1];
const half = Math.SQRT1_2;
const near = (a, b, tolerance = 1e-6) => a.forEach((x, i) => assert.ok(Math.abs(x - b[i]) <= tolerance, `${a} is not ${b}`));
const stageOf = (def) => new Layer(readStage(encodeStage(def)).layers[0]);
const chain = { components: [square], parts: [{ component: 0, parent: -1 }, { component: 0, parent: 0, scale: 2 }, { component: 0, parent: 1 }] };

test("a quaternion turns as it does in the program: x, y, z, w", () => {
    near(rotate([0, 0, half, half], [1, 0, 0]), [0, 1, 0]);
    near(rotate([half, 0, 0, half], [0, 1, 0]), [0, 0, 1]);
});

test("a vertex is where its part's frame, scale and coordinates put it", () => {
    const layer = stageOf(chain);
    const sent = [[0, [...identity, 0, 0]], [1, [1, 2, 3, 0, 0, half, half, 0.5, 0.25]], [2, [...identity, 0, 0]]];
    layer.apply(readFrame(encodeFrame({ partCount: 3, sent, time: 1.5 }), [3]));
    assert.equal(layer.time, 1.5);
    // X + U q = (1.25, 0, 0.5); turned about z: (0, 1.25, 0.5); scaled by 2
    near(layer.position(1, 1), [1, 2 + 2.5, 3 + 1]);
    near(layer.position(0, 1), [1, 0, 0]);
});

test("parts that a frame leaves out stay where they are", () => {
    const layer = stageOf(chain);
    const all = [0, 1, 2].map((p) => [p, [p, 0, 0, 0, 0, 0, 1, 0.1 * p, 0]]);
    layer.apply(readFrame(encodeFrame({ partCount: 3, sent: all }), [3]));
    layer.apply(readFrame(encodeFrame({ partCount: 3, sent: [[1, [9, 0, 0, 0, 0, 0, 1, 0, 0]]] }), [3]));
    assert.deepEqual([0, 1, 2].map((p) => layer.origin(p)[0]), [0, 9, 2]);
    near(layer.position(2, 1), [3, 0, 0.2]);
});

test("coordinates of many parts are found by their bits, also beyond the 32nd", () => {
    const parts = Array.from({ length: 70 }, (_, p) => ({ component: 0, parent: p - 1 }));
    const layer = stageOf({ components: [square], parts });
    layer.apply(readFrame(encodeFrame({ partCount: 70, sent: [[31, [31, 0, 0, 0, 0, 0, 1, 0, 0]], [69, [69, 0, 0, 0, 0, 0, 1, 0, 0]]] }), [70]));
    assert.deepEqual([30, 31, 32, 69].map((p) => layer.origin(p)[0]), [0, 31, 0, 69]);
});

test("vertices of a streamed part are taken as they come, with normals of their triangles", () => {
    const layer = stageOf({ components: [{ ...square, U: [], streamed: true }], parts: [{ component: 0, parent: -1 }] });
    const standing = [0, 0, 0, 1, 0, 0, 1, 0, 1, 0, 0, 1];
    layer.apply(readFrame(encodeFrame({ partCount: 1, sent: [[0, [...identity, ...standing]]] }), [1]));
    near(layer.position(0, 2), [1, 0, 1]);
    const normal = [...layer.stream.subarray(4, 7)];
    assert.ok(normal[1] < 0 && normal[0] === 0 && normal[2] === 0);
});

test("displacements are those from rest, or since the first frame where the stage does not tell", () => {
    const still = [0, 1, 2].map((p) => [p, [p, 0, 0, 0, 0, 0, 1, 0, 0]]);
    const layer = stageOf(chain);
    layer.apply(readFrame(encodeFrame({ partCount: 3, sent: still }), [3]));
    assert.equal(layer.largestDisplacement(), 0);
    layer.apply(readFrame(encodeFrame({ partCount: 3, sent: [[2, [2, 0, 5, 0, 0, 0, 1, 0, 0]]] }), [3]));
    near([layer.largestDisplacement()], [5]);
});

test("linearised normals are the derivatives of the area vectors", () => {
    const { index } = square;
    const position = [0, 0, 0.3, 1, 0.2, 0, 1, 1, -0.4, 0.1, 1, 0.2]; // neither flat nor along the axes
    const U = square.U.map((_, i) => Math.sin(1 + 3 * i));
    const N = linearNormals(position, U, 2, index), N0 = areaVectors(position, index);
    const h = 1e-3;
    for (let l = 0; l < 2; l++) {
        const moved = position.map((x, i) => x + h * U[3 * (Math.floor(i / 3) * 2 + l) + (i % 3)]);
        const ahead = areaVectors(moved, index, new Float64Array(12));
        for (let v = 0; v < 4; v++)
            for (let c = 0; c < 3; c++)
                near([(ahead[3 * v + c] - N0[3 * v + c]) / h], [N[3 * (v * 2 + l) + c]], 5e-3);
    }
});

test("a seam holds its copies together until one of their parts was cut off", () => {
    const layer = stageOf({ ...chain, seams: [[2, 4], [5, 3], [6, 8]] }); // parts 0 and 1, in either order; parts 1 and 2
    const groups = () => layer.seamGroups().map((group) => group.map(({ part, vertex }) => [part, vertex]));
    assert.deepEqual(groups(), [[[0, 2], [1, 0]], [[1, 1], [0, 3]], [[1, 2], [2, 0]]]);
    layer.loose = new Set([1]);
    assert.deepEqual(groups(), [[[1, 2], [2, 0]]]);
    layer.absent = new Set([2]);
    assert.deepEqual(groups(), []);
});

test("of three copies two stay together when the third was cut off", () => {
    const parts = [{ component: 0, parent: -1 }, { component: 0, parent: 0 }, { component: 0, parent: 0 }];
    const layer = stageOf({ components: [square], parts, seams: [[2, 4, 8]] });
    layer.loose = new Set([1]);
    assert.deepEqual(layer.seamGroups().map((group) => group.map(({ part }) => part)), [[0, 2]]);
});

test("colours are one number for each part, or for each vertex a share of it", () => {
    const read = (def) => readColours(encodeColours(def), [3], [7], [[0, 2, 5]]);
    const colours = read({ values: [1, 2, 3], what: 2 });
    assert.equal(colours.what, 2);
    assert.deepEqual([...colours.values], [1, 2, 3]);
    assert.equal(colours.field, null);
    const { field } = read({ values: [10, 20, 0], shares: [0, 65535, 13107, 0, 65535, 5, 6] });
    near([...field], [0, 10, 4, 0, 20, 0, 0], 1e-4);
    assert.throws(() => read({ values: [1, 2] }), /one for each part/);
    assert.throws(() => read({ values: [1, 2, 3], shares: [1, 2, 3] }), /one for each part/);
});

// Corners of a prism with so many sides, along z, and its triangles.
function prism(sides) {
    const position = [], index = [];
    for (let i = 0; i < sides; i++)
        for (const z of [0, 1]) position.push(Math.cos((2 * Math.PI * i) / sides), Math.sin((2 * Math.PI * i) / sides), z);
    for (let i = 0; i < sides; i++) {
        const a = 2 * i, b = 2 * ((i + 1) % sides);
        index.push(a, b, b + 1, a, b + 1, a + 1);
        if (i > 1) index.push(0, a, 2 * (i - 1), 1, 2 * (i - 1) + 1, a + 1);
    }
    return { position: Float32Array.from(position), index: Uint32Array.from(index), vertices: 2 * sides };
}

// Normals at the corners of the triangles, as they are drawn.
function cornerNormals(mesh) {
    const cut = splitCreases(mesh, mesh.vertices), areas = areaVectors(spread(cut, mesh.position, 3), cut.index);
    return Array.from(cut.index, (v) => {
        const n = areas.subarray(3 * v, 3 * v + 3), size = Math.hypot(...n);
        return [...n].map((c) => c / size);
    });
}

test("a box has sharp edges, and a rod of many sides is round but for its ends", () => {
    const flat = (mesh, t) => {
        const [a, b, c] = [0, 1, 2].map((k) => [...mesh.position.subarray(3 * mesh.index[t + k], 3 * mesh.index[t + k] + 3)]);
        const u = b.map((x, i) => x - a[i]), v = c.map((x, i) => x - a[i]);
        const n = [u[1] * v[2] - u[2] * v[1], u[2] * v[0] - u[0] * v[2], u[0] * v[1] - u[1] * v[0]], size = Math.hypot(...n);
        return n.map((x) => x / size);
    };
    const box = prism(4), sharp = cornerNormals(box);
    sharp.forEach((n, corner) => near(n, flat(box, corner - (corner % 3))));
    assert.equal(splitCreases(box, 8).base.length, 2 * 8); // each of eight corners belongs to three faces
    const rod = prism(12), round = cornerNormals(rod);
    rod.index.forEach((v, corner) => {
        const face = flat(rod, corner - (corner % 3));
        if (Math.abs(face[2]) > 0.5) near(round[corner], face); // an end is flat
        else {
            assert.ok(Math.abs(round[corner][2]) < 1e-6, "a side leans");
            assert.ok(Math.hypot(...round[corner].map((x, c) => x - [...rod.position.subarray(3 * v, 3 * v + 2), 0][c])) < 0.15, "a side is not round");
        }
    });
});

test("numbers without a unit have no prefix", () => {
    assert.equal(withUnit(0.00543, ""), "0.00543");
    assert.equal(withUnit(0.00543, "m"), "5.43 mm");
    assert.equal(withUnit(1.23e-7, ""), "1.23e-7");
    assert.equal(withUnit(0, ""), "0");
});

test("a ghost's distance is measured between points of the same time", () => {
    const layers = [stageOf(chain), stageOf(chain)], meter = new GhostMeter(layers);
    const show = (number, x, time) => {
        const sent = [0, 1, 2].map((p) => [p, [p + (p === 2 ? x : 0), 0, 0, 0, 0, 0, 1, 0, 0]]);
        layers[number].apply(readFrame(encodeFrame({ partCount: 3, sent, time, layer: 0 }), [3]));
        return meter.take(layers[number], number);
    };
    assert.equal(show(0, 0, 0.1), false);
    assert.equal(show(1, 5, 0.2), false, "of another time");
    assert.equal(show(0, 0, 0.2), true);
    near([meter.result.largest, meter.result.rms, meter.result.time], [5, 5 / Math.sqrt(3), 0.2], 1e-6);
});

test("who looks back sees what was, and frames that come meanwhile wait", () => {
    const layer = stageOf(chain), history = new History([layer]);
    const come = (x, time) => history.receive(0, () => layer.apply(readFrame(encodeFrame({ partCount: 3, sent: [[0, [x, 0, 0, 0, 0, 0, 1, 0, 0]]], time }), [3])));
    for (let i = 0; i <= 20; i++) come(i, 0.1 * i);
    assert.equal(history.from, 0);
    near([history.look(0.52)], [0.5]);
    near([layer.origin(0)[0], history.to], [5, 2]);
    come(21, 2.1);
    near([layer.origin(0)[0], history.to], [5, 2.1]);
    history.look(2.05);
    history.leave();
    near([layer.origin(0)[0], layer.time], [21, 2.1]);
    come(7, 0.7); // time went back: what came after it has not been
    near([history.look(1.9)], [0.7]);
    history.leave();
    for (let i = 0; i < 3000; i++) come(i, 1 + 0.01 * i);
    assert.ok(history.from > 30.9 - 20.1 && history.from < 12, `from ${history.from}`);
});

test("damaged messages are refused with a sentence", () => {
    const refuse = (change, sentence) => assert.throws(() => readStage(encodeStage({ ...chain, seams: [[2, 4]], change })), sentence);
    refuse((json) => (json.components[0].U.count = 1), /instead of/);
    refuse((json) => (json.components[0].position.at = 1e9), /outside/);
    refuse((json) => (json.components[0].position.at = -8), /outside/);
    refuse((json) => (json.parts.scale = null), /lacks/);
    refuse((json) => (json.components[0].vertices = -1), /count that is none/);
    refuse((json) => (json.seams.member.count = 1), /end too soon/);
    const bad = (def, sentence) => assert.throws(() => readStage(encodeStage({ ...chain, ...def })), sentence);
    bad({ components: [{ ...square, index: [0, 1, 4] }] }, /triangle/);
    bad({ parts: [{ component: 0, parent: 7 }] }, /parent/);
    bad({ seams: [[0, 99]] }, /seam/);
    assert.throws(() => readHead(new ArrayBuffer(8)), /too short/);
    const frame = (sent, counts = [3]) => stageOf(chain).apply(readFrame(encodeFrame({ partCount: 3, sent }), counts));
    assert.throws(() => frame([[0, [1, 2, 3]]]), /fewer numbers/);
    assert.throws(() => frame([[0, [...identity, 0, 0, 0]]]), /other parts/);
    assert.throws(() => stageOf(chain).apply(readFrame(encodeFrame({ partCount: 3, sent: [], contacts: [[0, 1, 2]] }), [3])), /other parts/);
    assert.throws(() => readFrame(encodeFrame({ partCount: 3, sent: [], layer: 1 }), [3]), /layer 1/);
    assert.throws(() => readFrame(encodeFrame({ partCount: 3, sent: [] }).slice(0, 42), [3]), /cut short/);
});

test("contacts follow the parts, and are gone with the next frame", () => {
    const layer = stageOf(chain), contacts = [[0, 2, 1, 2, 3, 0, 0, 7, 4, 0, 0], [1, -1, 4, 5, 6, 0, 8, 0, 0, 0, 3]];
    const still = [0, 1, 2].map((part) => [part, [part, 0, 0, 0, 0, 0, 1, 0, 0]]);
    layer.apply(readFrame(encodeFrame({ partCount: 3, sent: still, contacts }), [3]));
    assert.equal(layer.contactCount, 2);
    assert.deepEqual(layer.contactState(0), { parts: [0, 2], position: [1, 2, 3], normal: [0, 0, 7], friction: [4, 0, 0] });
    assert.deepEqual(layer.contactState(1).parts, [1, -1]);
    layer.apply(readFrame(encodeFrame({ partCount: 3, sent: [] }), [3]));
    assert.equal(layer.contactCount, 0);
});
