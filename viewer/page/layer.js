// What moves, as numbers: the frames, coordinates and streamed vertices of all parts of a stage, kept in the layout of
// the textures that the vertex shader reads, and the same formula as in the shader for those who ask for one vertex:
//     x + scale R (X + sum_l q_l U_l)

import { splitCreases, spread } from "./creases.js";
import { areaVectors } from "./normals.js";
import { seamGroups } from "./seams.js";

export function rotate([x, y, z, w], [a, b, c]) {
    const tx = 2 * (y * c - z * b), ty = 2 * (z * a - x * c), tz = 2 * (x * b - y * a);
    return [a + w * tx + y * tz - z * ty, b + w * ty + z * tx - x * tz, c + w * tz + x * ty - y * tx];
}

const JOINT = 13; // numbers of a joint: origin, quaternion, force and torque on its child
const CONTACT = 11; // numbers of a point where things touch: the two things, position, normal force and friction on the first
const DEEPEST = 8e6; // vertices of all volume meshes: 32 bytes each on the GPU
const SHARPEST = 16e6; // vertices in all, beyond which sharp edges are drawn round

export class Layer {
    constructor({ components, parts, names, seams, vertexCount, joints = [] }) {
        Object.assign(this, { components, parts, names, seams, vertexCount, joints });
        this.jointNumbers = new Float32Array(JOINT * joints.length); // of each joint: origin, quaternion, force, torque
        this.contactNumbers = new Float32Array(0); // of each point where things touch now
        const count = parts.count;
        this.frames = new Float32Array(8 * count); // origin, scale; quaternion
        this.rest = new Float32Array(8 * count);   // likewise, at rest
        this.qAt = new Int32Array(count);          // where the q of a part begin, a multiple of 4
        this.streamAt = new Int32Array(count);     // where the vertices of a streamed part begin, in vertices
        this.slot = new Int32Array(count);         // where its vertices are drawn into, those inside the volume behind the surface's
        const all = parts.component.reduce((sum, c) => sum + components[c].all, 0);
        this.deep = all <= DEEPEST;                // there is room for what is inside
        this.#cut();
        let q = 0, streamed = 0, slots = 0;
        for (let p = 0; p < count; p++) {
            const component = components[parts.component[p]];
            this.qAt[p] = q;
            q += 4 * Math.ceil(component.r / 4);
            this.streamAt[p] = streamed;
            this.slot[p] = slots;
            slots += component.drawn;
            if (component.streamed) streamed += component.drawn;
            this.frames[8 * p + 3] = this.rest[8 * p + 3] = parts.scale[p];
            this.frames[8 * p + 7] = this.rest[8 * p + 7] = 1;
            if (parts.rest) {
                this.rest.set(parts.rest.subarray(7 * p, 7 * p + 3), 8 * p);
                this.rest.set(parts.rest.subarray(7 * p + 3, 7 * p + 7), 8 * p + 4);
            }
        }
        this.slotCount = slots;
        this.q = new Float32Array(q);
        this.stream = new Float32Array(8 * streamed); // position, 1; normal, 0
        this.absent = new Set();
        this.loose = new Set();
        this.time = 0;
        this.started = false; // no frame has come yet
    }

    // Of each component `cut`, its surface with sharp edges, and `drawn`, its vertices with their copies.
    #cut() {
        const users = new Uint32Array(this.components.length);
        for (const c of this.parts.component) users[c]++;
        let sum = 0;
        for (const component of this.components) component.cut = splitCreases(component, this.deep ? component.all : component.vertices);
        this.components.forEach(({ cut }, c) => (sum += users[c] * (cut.from + cut.base.length)));
        for (const component of this.components) {
            if (sum > SHARPEST) component.cut = { index: component.index, from: component.cut.from, base: new Uint32Array(0) };
            component.drawn = component.cut.from + component.cut.base.length;
        }
    }

    component(part) {
        return this.components[this.parts.component[part]];
    }

    // The vertex of the mesh that is drawn as this one.
    baseVertex(part, vertex) {
        const { from, base } = this.component(part).cut;
        return vertex < from ? vertex : base[vertex - from];
    }

    name(part) {
        return this.names[part] || `part ${part}`;
    }

    // Part and vertex of a vertex among all: the last part that begins at or before it.
    owner(vertex) {
        const { first, count } = this.parts;
        let low = 0, high = count;
        while (high - low > 1) {
            const middle = (low + high) >> 1;
            if (first[middle] <= vertex) low = middle;
            else high = middle;
        }
        return { part: low, vertex: vertex - first[low] };
    }

    // Takes over what a frame says; parts that it leaves out stay.
    apply(frame) {
        const { numbers, bits } = frame;
        let at = 0, sent = 0;
        for (let p = 0; p < this.parts.count; p++) {
            if (!(bits[p >> 5] & (1 << (p & 31)))) continue;
            const component = this.component(p);
            const size = 7 + (component.streamed ? 3 * component.all : component.r);
            if (at + size > numbers.length) throw new Error("a frame has fewer numbers than its parts need");
            this.frames.set(numbers.subarray(at, at + 3), 8 * p);
            this.frames.set(numbers.subarray(at + 3, at + 7), 8 * p + 4);
            if (component.streamed) this.#applyVertices(p, component, numbers.subarray(at + 7, at + size));
            else this.q.set(numbers.subarray(at + 7, at + size), this.qAt[p]);
            at += size;
            sent++;
        }
        const joints = at + this.jointNumbers.length, end = joints + CONTACT * frame.contacts;
        if (sent !== frame.sent || end !== numbers.length) throw new Error("a frame has other parts than it says");
        this.jointNumbers.set(numbers.subarray(at, joints));
        this.contactNumbers = numbers.slice(joints, end);
        this.time = frame.time;
        if (!this.started && !this.parts.rest) this.rest.set(this.frames);
        this.started = true;
    }

    #applyVertices(part, component, positions) {
        const drawn = spread(component.cut, positions, 3), normals = areaVectors(drawn, component.cut.index);
        let at = 8 * this.streamAt[part];
        for (let i = 0; i < drawn.length; i += 3, at += 8)
            for (let c = 0; c < 3; c++) {
                this.stream[at + c] = drawn[i + c];
                this.stream[at + 4 + c] = normals[i + c];
            }
    }

    // A joint as it is now, in the world.
    jointState(joint) {
        const of = (from, to) => [...this.jointNumbers.subarray(JOINT * joint + from, JOINT * joint + to)];
        return { position: of(0, 3), quaternion: of(3, 7), force: of(7, 10), torque: of(10, 13) };
    }

    get contactCount() {
        return this.contactNumbers.length / CONTACT;
    }

    // A point where two parts touch: forces are those on the first.
    contactState(i) {
        const of = (from, to) => [...this.contactNumbers.subarray(CONTACT * i + from, CONTACT * i + to)];
        return { parts: of(0, 2), position: of(2, 5), normal: of(5, 8), friction: of(8, 11) };
    }

    origin(part) {
        return [...this.frames.subarray(8 * part, 8 * part + 3)];
    }

    // World position of one vertex, as its part alone has it (before seams are joined).
    position(part, vertex) {
        const component = this.component(part);
        if (component.streamed) {
            const at = 8 * (this.streamAt[part] + vertex);
            return [...this.stream.subarray(at, at + 3)];
        }
        const X = [...component.position.subarray(3 * vertex, 3 * vertex + 3)];
        const r = component.r, q = this.qAt[part], U = component.U;
        for (let l = 0; l < r; l++)
            for (let c = 0; c < 3; c++) X[c] += this.q[q + l] * U[3 * (vertex * r + l) + c];
        return place(this.frames, part, X);
    }

    restPosition(part, vertex) {
        return place(this.rest, part, [...this.component(part).position.subarray(3 * vertex, 3 * vertex + 3)]);
    }

    // About `most` vertices of the part, spread over it.
    *some(part, most) {
        const { vertices } = this.component(part);
        const stride = Math.max(1, Math.floor(vertices / most));
        for (let v = 0; v < vertices; v += stride) yield v;
    }

    // About `count` points of what is there, but `least` of each part; grounds and walls may reach far beyond, and are left out.
    *points(count, least) {
        const alone = this.components.every((component) => component.backdrop);
        const most = Math.max(least, Math.min(500, Math.floor(count / Math.max(1, this.parts.count))));
        for (let p = 0; p < this.parts.count; p++)
            if (!this.absent.has(p) && (alone || !this.component(p).backdrop))
                for (const v of this.some(p, most)) yield this.position(p, v);
    }

    // Lowest and highest corner of what is there, and points of it.
    bounds() {
        const low = [Infinity, Infinity, Infinity], high = [-Infinity, -Infinity, -Infinity], points = [...this.points(30000, 4)];
        for (const x of points)
            for (let c = 0; c < 3; c++) {
                low[c] = Math.min(low[c], x[c]);
                high[c] = Math.max(high[c], x[c]);
            }
        return points.length ? { low, high, points } : { low: [-1, -1, 0], high: [1, 1, 1], points };
    }

    // Likewise of one part.
    boundsOf(part) {
        const low = [Infinity, Infinity, Infinity], high = [-Infinity, -Infinity, -Infinity];
        for (const v of this.some(part, 500)) this.position(part, v).forEach((x, c) => ((low[c] = Math.min(low[c], x)), (high[c] = Math.max(high[c], x))));
        return low[0] <= high[0] ? { low, high } : { low: this.origin(part), high: this.origin(part) };
    }

    // Mean of few points of what is there, which moves smoothly; it is asked for in each picture.
    middle() {
        const sum = [0, 0, 0];
        let count = 0;
        for (const x of this.points(3000, 1)) {
            for (let c = 0; c < 3; c++) sum[c] += x[c];
            count++;
        }
        return sum.map((x) => x / count);
    }

    // How far the point that moved most is from where it is at rest, m: of about four points of each part.
    largestDisplacement() {
        let most = 0;
        for (let p = 0; p < this.parts.count; p++) {
            if (this.absent.has(p)) continue;
            for (const v of this.some(p, 4)) most = Math.max(most, distance(this.position(p, v), this.restPosition(p, v)));
        }
        return most;
    }

    seamGroups() {
        return seamGroups(this.seams, (v) => this.owner(v), this.parts.parent, this.loose, this.absent);
    }
}

export function distance(a, b) {
    return Math.hypot(a[0] - b[0], a[1] - b[1], a[2] - b[2]);
}

function place(frames, part, X) {
    const at = 8 * part, scale = frames[at + 3];
    const turned = rotate(frames.subarray(at + 4, at + 8), X);
    return [frames[at] + scale * turned[0], frames[at + 1] + scale * turned[1], frames[at + 2] + scale * turned[2]];
}
