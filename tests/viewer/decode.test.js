// What the page makes of the program's messages: no browser is needed for this.

import assert from "node:assert/strict";
import { test } from "node:test";
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
    const { position, U, index } = square;
    const N = linearNormals(position, U, 2, index), N0 = areaVectors(position, index);
    const h = 1e-3;
    for (let l = 0; l < 2; l++) {
        const moved = position.map((x, i) => x + h * U[3 * (Math.floor(i / 3) * 2 + l) + (i % 3)]);
        const ahead = areaVectors(moved, index, new Float64Array(12));
        for (let v = 0; v < 4; v++)
            for (let c = 0; c < 3; c++)
                near([(ahead[3 * v + c] - N0[3 * v + c]) / h], [N[3 * (v * 2 + l) + c]], 2e-3);
    }
});

test("a seam holds its copies together until one of their parts was cut off", () => {
    const layer = stageOf({ ...chain, seams: [[2, 4], [6, 8]] }); // parts 0 and 1; parts 1 and 2
    const groups = () => layer.seamGroups().map((group) => group.map(({ part, vertex }) => [part, vertex]));
    assert.deepEqual(groups(), [[[0, 2], [1, 0]], [[1, 2], [2, 0]]]);
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

test("colours are one number for each part", () => {
    const colours = readColours(encodeColours({ values: [1, 2, 3], what: 2 }), [3]);
    assert.equal(colours.what, 2);
    assert.deepEqual([...colours.values], [1, 2, 3]);
    assert.throws(() => readColours(encodeColours({ values: [1, 2] }), [3]), /one for each part/);
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
    assert.throws(() => readFrame(encodeFrame({ partCount: 3, sent: [], layer: 1 }), [3]), /layer 1/);
    assert.throws(() => readFrame(encodeFrame({ partCount: 3, sent: [] }).slice(0, 42), [3]), /cut short/);
});
