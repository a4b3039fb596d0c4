// Arrays of numbers as textures: the vertex shader reads number i at column i % WIDTH of row i / WIDTH.

import * as THREE from "../node_modules/three/build/three.module.js";
import { spread } from "./creases.js";
import { areaVectors, linearNormals } from "./normals.js";

export const WIDTH_BITS = 11;
export const WIDTH = 1 << WIDTH_BITS; // the least that every WebGL 2 has

const FORMATS = {
    float1: { Type: Float32Array, size: 1, format: THREE.RedFormat, type: THREE.FloatType, internal: "R32F" },
    float4: { Type: Float32Array, size: 4, format: THREE.RGBAFormat, type: THREE.FloatType, internal: "RGBA32F" },
    int4: { Type: Int32Array, size: 4, format: THREE.RGBAIntegerFormat, type: THREE.IntType, internal: "RGBA32I" },
    int2: { Type: Int32Array, size: 2, format: THREE.RGIntegerFormat, type: THREE.IntType, internal: "RG32I" },
    int1: { Type: Int32Array, size: 1, format: THREE.RedIntegerFormat, type: THREE.IntType, internal: "R32I" },
};

// A texture with room for `texels`; its array is texture.image.data.
export function makeTexture(kind, texels, largest) {
    const { Type, size, format, type, internal } = FORMATS[kind];
    const rows = Math.max(1, Math.ceil(texels / WIDTH));
    if (rows > largest)
        throw new Error(`this scene is too large for the graphics of this machine: it needs ${rows} rows of a texture and there are ${largest}`);
    const texture = new THREE.DataTexture(new Type(size * WIDTH * rows), WIDTH, rows, format, type);
    texture.internalFormat = internal;
    texture.minFilter = texture.magFilter = THREE.NearestFilter;
    texture.generateMipmaps = false;
    texture.unpackAlignment = 4;
    texture.needsUpdate = true;
    return texture;
}

export function fill(texture, numbers) {
    texture.image.data.set(numbers);
    texture.needsUpdate = true;
}

// Rest positions, U and normals of all components, 2 (1 + r) texels a vertex: X, U_1 .. U_r, N0, N_1 .. N_r.
// Returns the texture and where each component begins in it.
export function makeAtlas(components, largest) {
    const starts = [];
    let texels = 0;
    for (const { r, drawn } of components) {
        starts.push(texels);
        texels += 2 * (1 + r) * drawn;
    }
    const atlas = makeTexture("float4", texels, largest);
    components.forEach((component, i) => {
        const { r, drawn, cut } = component;
        const position = spread(cut, component.position, 3), U = r ? spread(cut, component.U, 3 * r) : component.U;
        const N0 = areaVectors(position, cut.index), N = linearNormals(position, U, r, cut.index);
        let at = 4 * starts[i];
        const put = (from, k) => {
            for (let c = 0; c < 3; c++) atlas.image.data[at + c] = from[k + c];
            at += 4;
        };
        for (let v = 0; v < drawn; v++) {
            put(position, 3 * v);
            for (let l = 0; l < r; l++) put(U, 3 * (v * r + l));
            put(N0, 3 * v);
            for (let l = 0; l < r; l++) put(N, 3 * (v * r + l));
        }
    });
    return { atlas, starts };
}

// What the shader must know of each part: where its component begins in the atlas, r (-1: streamed), where its q begin
// (in texels) or its vertices.
export function makePartTable(layer, starts, largest) {
    const { count, component } = layer.parts;
    const table = makeTexture("int4", count, largest);
    for (let p = 0; p < count; p++) {
        const { r, streamed } = layer.components[component[p]];
        table.image.data.set([starts[component[p]], streamed ? -1 : r,
            streamed ? 2 * layer.streamAt[p] : layer.qAt[p] / 4, 0], 4 * p);
    }
    return table;
}

// Two textures for the seams. Of each slot of a vertex: where its group begins in the other one, or -1. There: how many
// copies there are of the vertex, and how many with those that stand at sharp edges; then part and vertex of each.
export function makeSeamTextures(layer, largest) {
    const sharp = layer.components.map(copiesOf);
    const groups = layer.seamGroups().map((group) => ({ group, copies: group.flatMap((one) => copiesAt(layer, sharp, one)) }));
    const of = makeTexture("int1", layer.slotCount, largest);
    const members = makeTexture("int2", groups.reduce((sum, { group, copies }) => sum + group.length + copies.length + 1, 1), largest);
    of.image.data.fill(-1);
    let at = 0;
    for (const { group, copies } of groups) {
        const all = [...group, ...copies];
        for (const { part, vertex } of all) of.image.data[layer.slot[part] + vertex] = at;
        members.image.data.set([group.length, all.length], 2 * at++);
        for (const { part, vertex } of all) members.image.data.set([part, vertex], 2 * at++);
    }
    return { of, members };
}

// vertex -> numbers of its copies
function copiesOf({ cut }) {
    const copies = new Map();
    cut.base.forEach((v, i) => copies.set(v, [...(copies.get(v) ?? []), cut.from + i]));
    return copies;
}

function copiesAt(layer, sharp, { part, vertex }) {
    return (sharp[layer.parts.component[part]].get(vertex) ?? []).map((copy) => ({ part, vertex: copy }));
}
