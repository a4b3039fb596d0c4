// Stages and frames as the program writes them, made of plain arrays: for tests of what the page makes of them.

class Numbers {
    constructor() {
        this.pieces = [];
        this.size = 0;
    }

    add(Type, values) {
        const piece = new Uint8Array(Type.from(values).buffer);
        const place = { at: this.size, count: values.length };
        this.pieces.push(piece, new Uint8Array((8 - (piece.length % 8)) % 8));
        this.size += Math.ceil(piece.length / 8) * 8;
        return place;
    }
}

function join(...pieces) {
    const bytes = new Uint8Array(pieces.reduce((sum, piece) => sum + piece.length, 0));
    let at = 0;
    for (const piece of pieces) bytes.set(piece, at), (at += piece.length);
    return bytes.buffer;
}

const head = (kind, generation, jsonSize) => new Uint8Array(Uint32Array.of(kind, generation, jsonSize, 0).buffer);

// components: [{name, position, index, U, streamed}]; parts: [{component, parent, scale}]; seams: [[vertex among all, ...]]
export function encodeStage({ components, parts, seams = [], generation = 1, change = () => {} }) {
    const numbers = new Numbers();
    let first = 0;
    const firsts = parts.map(({ component }) => {
        const here = first;
        first += components[component].position.length / 3;
        return here;
    });
    const places = [0];
    for (const seam of seams) places.push(places[places.length - 1] + seam.length);
    const json = {
        name: "test", engine: "tree", engines: ["tree"], coupling: "L3", integrator: "tree", integrators: ["tree"], dt: 0.01,
        gravity: [0, 0, -9.81], wind: { velocity: [0, 0, 0], gust: 0 }, columns: ["time", "elastic", "kinetic", "external", "total"],
        components: components.map(({ name = "branch", position, index, U = [], streamed = false }) => ({
            name, r: U.length / position.length, streamed, vertices: position.length / 3, triangles: index.length / 3,
            position: numbers.add(Float32Array, position), index: numbers.add(Uint32Array, index),
            U: streamed ? null : numbers.add(Float32Array, U), frequencies: [1], mass: 1,
        })),
        parts: {
            component: numbers.add(Int32Array, parts.map((p) => p.component)),
            parent: numbers.add(Int32Array, parts.map((p) => p.parent)),
            scale: numbers.add(Float32Array, parts.map((p) => p.scale ?? 1)),
            q: numbers.add(Int32Array, parts.map(() => 0)),
            first: numbers.add(Int32Array, firsts),
        },
        names: parts.map((_, p) => `part ${p}`),
        seams: { place: numbers.add(Int32Array, places), member: numbers.add(Int32Array, seams.flat()) },
        ghost: null,
    };
    change(json);
    const text = new TextEncoder().encode(JSON.stringify(json));
    const padded = new Uint8Array(Math.ceil(text.length / 8) * 8).fill(32);
    padded.set(text);
    return join(head(1, generation, padded.length), padded, ...numbers.pieces);
}

// sent: [[part, numbers], ...] in order.
export function encodeFrame({ partCount, sent, contacts = [], time = 0, frame = 1, layer = 0, generation = 1 }) {
    const bits = new Uint32Array(Math.ceil(partCount / 32));
    for (const [part] of sent) bits[part >> 5] |= 1 << (part & 31);
    return join(head(2, generation, 0), new Uint8Array(Float64Array.of(time).buffer),
        new Uint8Array(Uint32Array.of(frame, layer, sent.length, contacts.length).buffer), new Uint8Array(bits.buffer),
        new Uint8Array(Float32Array.from([...sent.flatMap(([, numbers]) => numbers), ...contacts.flat()]).buffer));
}

export function encodeColours({ values, shares = [], what = 1, layer = 0, time = 0, generation = 1 }) {
    return join(head(3, generation, 0), new Uint8Array(Float64Array.of(time).buffer), new Uint8Array(Uint32Array.of(what, layer).buffer),
        new Uint8Array(Float32Array.from(values).buffer), new Uint8Array(Uint16Array.from(shares).buffer));
}
