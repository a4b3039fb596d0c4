// How far the ghost is from the scene, as numbers: points of the first layer and the same points of the second, at the
// same time. Frames of both come one after the other, so that points of the last few are kept until their time has come.

import { distance } from "./layer.js";

const POINTS = 1500; // that are compared
const KEPT = 6;      // frames of a layer that wait for the other's

export class GhostMeter {
    constructor(layers) {
        this.pairs = layers.length > 1 ? findPairs(layers[0], layers[1]) : [];
        this.size = sizeOf(layers[0]);
        this.waiting = [[], []];
        this.result = null; // {time, largest, rms, size}: m
    }

    // After a frame of a layer. Tells whether there is something new.
    take(layer, number) {
        if (!this.pairs.length) return false;
        const points = this.pairs.map((pair) => layer.position(...pair[number]));
        const other = this.waiting[1 - number].find(({ time }) => Math.abs(time - layer.time) < 1e-7);
        this.waiting[number] = [...this.waiting[number], { time: layer.time, points }].slice(-KEPT);
        if (!other) return false;
        const far = points.map((x, i) => distance(x, other.points[i]));
        this.result = { time: layer.time, largest: Math.max(...far), rms: Math.sqrt(far.reduce((sum, d) => sum + d * d, 0) / far.length), size: this.size };
        return true;
    }
}

// The diagonal of the box around all points at rest.
function sizeOf(layer) {
    const low = [Infinity, Infinity, Infinity], high = [-Infinity, -Infinity, -Infinity];
    for (const [part, vertex] of some(layer, 20000)) {
        const x = layer.restPosition(part, vertex);
        for (let c = 0; c < 3; c++) low[c] = Math.min(low[c], x[c]), (high[c] = Math.max(high[c], x[c]));
    }
    return distance(low, high) || 1;
}

function* some(layer, most) {
    const stride = Math.max(1, Math.ceil(layer.vertexCount / most));
    for (let v = 0; v < layer.vertexCount; v += stride) {
        const { part, vertex } = layer.owner(v);
        if (!layer.component(part).backdrop) yield [part, vertex];
    }
}

// Engines that move the same parts have the same vertices. Else those that lie on each other at rest are the same: a body
// that was cut has the vertices of its parts.
export function findPairs(a, b) {
    const same = a.parts.count === b.parts.count && a.vertexCount === b.vertexCount;
    const points = [...some(a, POINTS)];
    if (same) return points.map((point) => [point, point]);
    const size = sizeOf(a), cell = 1e-4 * size, places = new Map();
    const name = (x, d = [0, 0, 0]) => x.map((c, i) => Math.round(c / cell) + d[i]).join(",");
    for (const point of some(b, Infinity)) places.set(name(b.restPosition(...point)), point);
    const around = [-1, 0, 1], shifts = around.flatMap((x) => around.flatMap((y) => around.map((z) => [x, y, z])));
    return points.flatMap((point) => {
        const x = a.restPosition(...point);
        const at = shifts.map((d) => places.get(name(x, d))).find((found) => found && distance(b.restPosition(...found), x) < cell);
        return at ? [[point, at]] : [];
    });
}
