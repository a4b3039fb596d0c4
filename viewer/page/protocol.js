// What the program sends, read from bytes: docs/viewer-protocol.md. Knows nothing of drawing, and runs in Node.
// Sizes are checked before anything is read, so that a damaged message is a sentence and not a wild picture.

export const STAGE = 1;
export const FRAME = 2;
export const COLOURS = 3;

const HEAD = 16; // bytes: kind, generation, json_size, zero

export function readHead(buffer) {
    if (buffer.byteLength < HEAD) throw new Error("a message of the program is too short to have a head");
    const view = new DataView(buffer);
    const head = {
        kind: view.getUint32(0, true),
        generation: view.getUint32(4, true),
        jsonSize: view.getUint32(8, true),
    };
    if (head.jsonSize % 8 !== 0 || HEAD + head.jsonSize > buffer.byteLength)
        throw new Error("the text in a message of the program is longer than the message");
    return head;
}

// {"at": BYTES, "count": N}: a view into the message, nothing is copied. `expected` numbers, where that is known.
function readArray(Type, buffer, start, place, expected, what) {
    if (!place) {
        if (expected) throw new Error(`the stage lacks ${what}`);
        return new Type(0);
    }
    const { at, count } = place;
    const fits = Number.isInteger(at) && Number.isInteger(count) && at >= 0 && count >= 0 && at % 8 === 0 &&
        start + at + count * Type.BYTES_PER_ELEMENT <= buffer.byteLength;
    if (!fits) throw new Error(`${what} of the stage lies outside of its message`);
    if (expected !== undefined && count !== expected)
        throw new Error(`the stage has ${count} numbers of ${what} instead of ${expected}`);
    return new Type(buffer, start + at, count);
}

function checkRange(numbers, low, end, what) {
    for (const number of numbers)
        if (number < low || number >= end) throw new Error(`${what} of the stage has the number ${number}, which is none`);
}

function readComponent(buffer, start, json) {
    const { name, r, streamed, vertices, triangles, inner = 0 } = json;
    for (const count of [r, vertices, triangles, inner])
        if (!Number.isInteger(count) || count < 0) throw new Error(`component "${name}" has a count that is none`);
    const index = readArray(Uint32Array, buffer, start, json.index, 3 * triangles, `the triangles of "${name}"`);
    checkRange(index, 0, vertices, `a triangle of "${name}"`);
    const all = vertices + inner;
    const edges = json.edges ? readArray(Uint32Array, buffer, start, json.edges, undefined, `the edges of "${name}"`) : null;
    if (edges?.length % 2) throw new Error(`an edge of "${name}" has one end`);
    checkRange(edges ?? [], 0, all, `an edge of "${name}"`);
    return {
        name, r: streamed ? 0 : r, coordinates: r, streamed: Boolean(streamed), vertices, inner, all, triangles, index, edges,
        position: readArray(Float32Array, buffer, start, json.position, 3 * all, `positions of "${name}"`),
        U: streamed ? new Float32Array(0)
            : readArray(Float32Array, buffer, start, json.U, 3 * r * all, `U of "${name}"`),
        frequencies: json.frequencies ?? [],
        mass: json.mass ?? null,
        colour: json.colour ?? null,
        colours: json.colours ? readArray(Float32Array, buffer, start, json.colours, 3 * vertices, `colours of "${name}"`) : null,
        backdrop: Boolean(json.backdrop),
    };
}

// Where copies begin, and the copies: checked, so that nobody looks past their end.
function readSeams(buffer, start, json, vertexCount) {
    if (!json?.place) return { place: new Int32Array(1), member: new Int32Array(0) };
    const place = readArray(Int32Array, buffer, start, json.place, undefined, "seams");
    const member = readArray(Int32Array, buffer, start, json.member, undefined, "copies at seams");
    checkRange(member, 0, vertexCount, "a seam");
    for (let i = 0; i + 1 < place.length; i++)
        if (place[i] < 0 || place[i] > place[i + 1]) throw new Error("the seams of the stage are not in order");
    if (place.length && place[place.length - 1] !== member.length) throw new Error("the seams of the stage end too soon");
    return { place, member };
}

function readLayer(buffer, start, json) {
    const components = json.components.map((component) => readComponent(buffer, start, component));
    const names = json.names ?? [];
    const arrays = json.parts;
    const component = readArray(Int32Array, buffer, start, arrays.component, undefined, "parts");
    const count = component.length;
    checkRange(component, 0, components.length, "a part");
    const read = (Type, key, size = 1) => readArray(Type, buffer, start, arrays[key], count * size, `"${key}" of parts`);
    const parts = {
        count, component,
        parent: read(Int32Array, "parent"),
        scale: read(Float32Array, "scale"),
        first: read(Int32Array, "first"),
        rest: arrays.rest ? read(Float32Array, "rest", 7) : null,
    };
    checkRange(parts.parent, -1, count, "a parent");
    let vertexCount = 0;
    for (let p = 0; p < count; p++) {
        if (parts.first[p] !== vertexCount) throw new Error("the parts of the stage do not follow each other");
        vertexCount += components[component[p]].vertices;
    }
    const joints = json.joints ?? [];
    for (const { parent, child } of joints) checkRange([parent, child], -1, count, "a joint");
    return { components, parts, names, joints, vertexCount, seams: readSeams(buffer, start, json.seams, vertexCount) };
}

// The scene and what may be chosen, with layers[0] to be drawn and layers[1], the ghost, where there is one.
export function readStage(buffer) {
    const head = readHead(buffer);
    const json = JSON.parse(new TextDecoder().decode(new Uint8Array(buffer, HEAD, head.jsonSize)));
    const start = HEAD + head.jsonSize;
    const layers = [readLayer(buffer, start, json)];
    if (json.ghost) layers.push(readLayer(buffer, start, json.ghost));
    const { components, parts, names, seams, joints, ghost, ...scene } = json;
    return { generation: head.generation, scene, ghost: ghost ?? null, layers };
}

// A frame as it lies in the message: `bits` says which parts follow in `numbers`.
export function readFrame(buffer, partCounts) {
    const at = HEAD + 24;
    if (buffer.byteLength < at) throw new Error("a frame is too short");
    const view = new DataView(buffer);
    const frame = {
        time: view.getFloat64(HEAD, true),
        frame: view.getUint32(HEAD + 8, true),
        layer: view.getUint32(HEAD + 12, true),
        sent: view.getUint32(HEAD + 16, true),
        contacts: view.getUint32(HEAD + 20, true),
    };
    if (frame.layer >= partCounts.length) throw new Error(`a frame is of layer ${frame.layer}, which there is not`);
    const words = Math.ceil(partCounts[frame.layer] / 32);
    if (buffer.byteLength < at + 4 * words || buffer.byteLength % 4 !== 0) throw new Error("a frame is cut short");
    frame.bits = new Uint32Array(buffer, at, words);
    frame.numbers = new Float32Array(buffer, at + 4 * words);
    return frame;
}

export function frameNumber(buffer) {
    return buffer.byteLength >= HEAD + 12 ? new DataView(buffer).getUint32(HEAD + 8, true) : 0;
}

// A value of each part, and where the program knows them of each vertex of all surfaces (`field`; else null).
export function readColours(buffer, partCounts, vertexCounts, firsts) {
    const at = HEAD + 16;
    if (buffer.byteLength < at) throw new Error("colours are too short");
    const view = new DataView(buffer);
    const colours = {
        time: view.getFloat64(HEAD, true),
        what: view.getUint32(HEAD + 8, true),
        layer: view.getUint32(HEAD + 12, true),
        field: null,
    };
    const parts = partCounts[colours.layer], vertices = vertexCounts[colours.layer];
    const rest = parts === undefined ? -1 : buffer.byteLength - at - 4 * parts;
    if (rest !== 0 && (rest < 0 || rest !== 2 * vertices)) throw new Error("colours are not one for each part or vertex");
    colours.values = new Float32Array(buffer, at, parts);
    if (rest > 0) colours.field = unpack(colours.values, new Uint16Array(buffer, at + 4 * parts, vertices), firsts[colours.layer]);
    return colours;
}

// Vertices have shares, in 65,535ths, of the value of their part.
function unpack(values, shares, first) {
    const field = new Float32Array(shares.length);
    for (let p = 0; p < values.length; p++) {
        const end = p + 1 < first.length ? first[p + 1] : shares.length, unit = values[p] / 65535;
        for (let v = first[p]; v < end; v++) field[v] = unit * shares[v];
    }
    return field;
}
