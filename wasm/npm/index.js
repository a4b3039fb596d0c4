// Bough's runtime library as WebAssembly. README.md shows it at work, index.d.ts says what there is.

import { System } from "./wasi.js";

/** What the library could not do, in its own words. */
export class BoughError extends Error {
    constructor(message, status = "wrong argument", recoverable = false) {
        super(message);
        this.name = "BoughError";
        this.status = status;
        this.recoverable = recoverable;
    }
}

const NUMBERS = 64; // doubles that a call takes, or gives back, besides its plain arguments
const TREE_ARRAYS = { time: 0, q: 1, v: 2, a: 3, frames: 4, gravity: 5, wind: 6 };
const MECHANISM_ARRAYS = { time: 0, xi: 1, phi: 2, gravity: 3, poses: 4 };
const FRAME = 18, POSE = 12; // numbers of a frame and of a pose
const WIND = ["gust", "length", "density", "drag"]; // behind the velocity
const CONTINUITIES = ["C0", "C1", "none"];
const CHANGES = ["detach", "attach", "reattach", "lock", "unlock", "remove", "add"];
const IDENTITY = [1, 0, 0, 0, 1, 0, 0, 0, 1];

async function bytesOf(source) {
    if (source instanceof URL && source.protocol === "file:") {
        const { readFile } = await import(/* webpackIgnore: true */ /* @vite-ignore */ "node:fs/promises");
        return readFile(source);
    }
    const response = source instanceof URL || typeof source === "string" ? await fetch(source) : await source;
    if (!(response instanceof Response)) return response;
    if (!response.ok) throw new BoughError(`${response.url}: the server answered ${response.status}`, "file cannot be opened, read or written");
    return response.arrayBuffer();
}

/** Starts an instance of the library, with a memory of its own. */
export async function load({ wasm = new URL("bough_rt.wasm", import.meta.url) } = {}) {
    const given = await wasm;
    const module = given instanceof WebAssembly.Module ? given : await WebAssembly.compile(await bytesOf(given));
    const system = new System([], () => {});
    const instance = await WebAssembly.instantiate(module, { wasi_snapshot_preview1: system.imports });
    system.attach(instance.exports.memory);
    instance.exports._initialize?.();
    return new Bough(instance.exports);
}

const isFinite3 = (value, count) => value != null && value.length === count && Array.from(value).every(Number.isFinite);

function wantNumbers(name, value, count) {
    if (!isFinite3(value, count)) throw new BoughError(`${name}: ${count} numbers are wanted, not ${value == null ? "nothing" : `[${Array.from(value).slice(0, count + 1).join(", ")}]`}`);
    return value;
}

function wantNumber(name, value) {
    if (typeof value !== "number" || Number.isNaN(value)) throw new BoughError(`${name}: a number is wanted, not ${String(value)}`);
    return value;
}

function wantIndex(name, value, count) {
    if (!Number.isInteger(value) || value < 0 || value >= count) throw new BoughError(`${name}: ${count > 0 ? `a whole number from 0 to ${count - 1} is wanted` : "there is none"}, not ${String(value)}`);
    return value;
}

class Bough {
    #scratch;

    constructor(exports) {
        this.exports = exports;
        if (!exports.rt_open()) throw new BoughError("there is not enough memory", "out of memory");
        this.#scratch = exports.rt_alloc(8 * NUMBERS);
    }

    get version() {
        return this.text(this.exports.rt_version());
    }

    /** A component that `bough cook` wrote. */
    readComponent(bytes) {
        return new Component(this, this.#withBytes(bytes, (at, size) => this.made(this.exports.rt_component_read(at, size))));
    }

    /** A model that `bough pack` wrote, with all of its components. */
    readPack(bytes) {
        return new TreeModel(this, this.#withBytes(bytes, (at, size) => this.made(this.exports.rt_tree_model_read(at, size))), []);
    }

    /** A tree of parts that are welded to each other. */
    createTree({ parts, gravity = [0, 0, 0] }) {
        const e = this.exports;
        wantNumbers("gravity", gravity, 3);
        const builder = e.rt_tree_builder_create(parts.length, this.put(gravity));
        if (!builder) throw new BoughError("there is not enough memory", "out of memory");
        try {
            const components = new Map(), names = new Map();
            for (const [i, part] of parts.entries()) {
                const who = `parts[${i}]`, { component, name } = part;
                if (!(component instanceof Component)) throw new BoughError(`${who}: a component is wanted`);
                if (!components.has(component)) components.set(component, e.rt_tree_builder_component(builder, component.live()));
                const parent = part.parent === undefined ? -1 : typeof part.parent === "string" ? (names.get(part.parent) ?? parts.length) : part.parent;
                if (parent !== -1) wantIndex(`${who}: parent "${part.parent}", which comes before it`, parent, i);
                const at = parent < 0 ? 0 : parts[parent].component.interfaceIndex(part.interface, `${who}: interface`);
                const places = [...wantNumbers(`${who}: rotation`, part.rotation ?? IDENTITY, 9), ...wantNumbers(`${who}: position`, part.position ?? [0, 0, 0], 3), ...wantNumbers(`${who}: offset`, part.offset ?? [0, 0, 0], 3)];
                const factors = [part.scale ?? 1, part.stiffness ?? 1, part.dampingMass ?? NaN, part.dampingStiffness ?? NaN, part.dampingRatio ?? NaN];
                const address = this.put([...places, ...factors]);
                this.withText(name, (text) => e.rt_tree_builder_part(builder, text, components.get(component), parent, at, address, address + 8 * places.length, part.free ?? false));
                if (name !== undefined) names.set(name, i);
            }
            return new TreeModel(this, this.made(e.rt_tree_builder_model(builder)), [...components.keys()]);
        } finally {
            e.rt_tree_builder_destroy(builder);
        }
    }

    /** Links with springs in their joints, reduced to their end effectors. */
    createMechanism({ links, joints, endEffectors, base = 0, freeBase = false, internalModes = 0 }) {
        const e = this.exports, names = new Map(links.flatMap((link, i) => (link.name === undefined ? [] : [[link.name, i]])));
        const linkIndex = (who, link) => wantIndex(`${who} ${JSON.stringify(link)}`, typeof link === "string" ? names.get(link) : link, links.length);
        const pose = (who, { position = [0, 0, 0], rotation = IDENTITY } = {}) => [...wantNumbers(`${who}: position`, position, 3), ...wantNumbers(`${who}: rotation`, rotation, 9)];
        const six = (who, value, fallback) => {
            const all = typeof value === "number" ? [value] : [...(value ?? [])];
            return wantNumbers(who, [...all, ...Array(Math.max(0, 6 - all.length)).fill(fallback)], 6);
        };
        const m = e.rt_mechanism_create(links.length, joints.length, endEffectors.length, linkIndex("base", base), freeBase);
        if (!m) throw new BoughError("there is not enough memory", "out of memory");
        try {
            for (const [i, link] of links.entries()) {
                const who = `links[${i}]`, inertia = link.inertia ?? [0.01, 0.01, 0.01];
                const full = inertia.length === 3 ? [inertia[0], 0, 0, 0, inertia[1], 0, 0, 0, inertia[2]] : inertia;
                const body = [wantNumber(`${who}: mass`, link.mass ?? 1), ...wantNumbers(`${who}: centre`, link.centre ?? [0, 0, 0], 3), ...wantNumbers(`${who}: inertia`, full, 9), ...pose(who, link)];
                this.withText(link.name, (text) => e.rt_mechanism_link(m, text, this.put(body)));
            }
            for (const [i, joint] of joints.entries()) {
                const who = `joints[${i}]`, parent = linkIndex(`${who}: parent`, joint.parent), child = linkIndex(`${who}: child`, joint.child);
                const values = [...pose(`${who}: inParent`, joint.inParent), ...pose(`${who}: inChild`, joint.inChild), ...six(`${who}: stiffness`, joint.stiffness, 0), ...six(`${who}: damping`, joint.damping, 0), ...six(`${who}: offset`, joint.offset, 0)];
                const known = this.withText(joint.name, (text) => this.withText(joint.kind, (kind) => e.rt_mechanism_joint(m, text, kind, parent, child, this.put(values))));
                if (!known) throw new BoughError(`${who}: there is no kind of joint called "${joint.kind}"; there are hinge, prismatic, universal, ball and fixed`);
            }
            for (const [i, end] of endEffectors.entries()) e.rt_mechanism_end_effector(m, linkIndex(`endEffectors[${i}]: link`, end.link), this.put(pose(`endEffectors[${i}]`, end)));
            this.check(e.rt_mechanism_reduce(m, internalModes === "automatic" ? -1 : internalModes));
            return new Mechanism(this, m, links, endEffectors.length, names);
        } catch (error) {
            e.rt_mechanism_destroy(m);
            throw error;
        }
    }

    // ---- for the classes of this file ----

    text(at) {
        const bytes = new Uint8Array(this.exports.memory.buffer, at);
        return new TextDecoder().decode(bytes.slice(0, bytes.indexOf(0)));
    }

    fail() {
        const status = this.exports.rt_status();
        return new BoughError(this.text(this.exports.rt_message()) || this.text(this.exports.rt_status_name()), this.text(this.exports.rt_status_name()), status > 0);
    }

    check(status) {
        if (status !== 0) throw this.fail();
    }

    made(address) {
        if (!address) throw this.fail();
        return address;
    }

    // Numbers for the next call, where it finds them.
    put(values) {
        new Float64Array(this.exports.memory.buffer, this.#scratch, values.length).set(values);
        return this.#scratch;
    }

    // What a call has put there.
    taken(count) {
        return Array.from(new Float64Array(this.exports.memory.buffer, this.#scratch, count));
    }

    get scratch() {
        return this.#scratch;
    }

    alloc(size) {
        const at = this.exports.rt_alloc(Math.max(size, 1));
        if (!at) throw new BoughError("there is not enough memory", "out of memory");
        return at;
    }

    #withBytes(source, use) {
        const bytes = source instanceof ArrayBuffer ? new Uint8Array(source) : ArrayBuffer.isView(source) ? new Uint8Array(source.buffer, source.byteOffset, source.byteLength) : undefined;
        if (!bytes) throw new BoughError("the bytes of a file are wanted: an ArrayBuffer or a Uint8Array");
        return this.withBytes(bytes, use);
    }

    withBytes(bytes, use) {
        const at = this.alloc(bytes.length);
        new Uint8Array(this.exports.memory.buffer, at, bytes.length).set(bytes);
        try {
            return use(at, bytes.length);
        } finally {
            this.exports.rt_free(at);
        }
    }

    withText(text, use) {
        return text === undefined ? use(0) : this.withBytes(new TextEncoder().encode(`${text}\0`), use);
    }
}

// Something in the memory of an instance, until dispose() is called.
class Owned {
    #address;
    #free;

    constructor(bough, address, free) {
        this.bough = bough;
        this.#address = address;
        this.#free = free;
    }

    live() {
        if (!this.#address) throw new BoughError(`this ${this.constructor.name} was disposed of`);
        return this.#address;
    }

    dispose() {
        if (this.#address) this.#free(this.#address);
        this.#address = 0;
    }
}
if (Symbol.dispose)
    Owned.prototype[Symbol.dispose] = function () {
        this.dispose();
    };

export class Component extends Owned {
    constructor(bough, address) {
        super(bough, address, bough.exports.rt_component_destroy);
        const e = bough.exports;
        this.size = e.rt_component_size(address);
        this.mass = e.rt_component_mass(address);
        this.vertexCount = e.rt_component_vertex_count(address);
        this.interfaces = Array.from({ length: e.rt_component_interface_count(address) }, (_, i) => bough.text(e.rt_component_interface_name(address, i)));
    }

    interfaceIndex(name, who = "interface") {
        const index = typeof name === "number" ? name : this.interfaces.indexOf(name);
        if (!this.interfaces[index]) throw new BoughError(`${who}: there is no "${name}"; there are ${this.interfaces.map((one) => `"${one}"`).join(", ") || "none"}`);
        return index;
    }
}

export class TreeModel extends Owned {
    #components;
    #triangles;

    constructor(bough, address, components) {
        super(bough, address, bough.exports.rt_tree_model_destroy);
        const e = bough.exports;
        this.#components = components; // which the model needs as long as it lives
        this.size = e.rt_tree_size(address);
        this.vertexCount = e.rt_tree_vertex_count(address);
        this.parts = Array.from({ length: e.rt_tree_part_count(address) }, (_, i) => {
            const name = e.rt_tree_part_name(address, i);
            return { name: name ? bough.text(name) : "", parent: e.rt_tree_part_parent(address, i), offset: e.rt_tree_part_offset(address, i), firstVertex: e.rt_tree_first_vertex(address, i), vertexCount: e.rt_tree_part_vertex_count(address, i) };
        });
    }

    live() {
        for (const component of this.#components ?? []) component.live();
        return super.live();
    }

    get triangles() {
        if (this.#triangles) return this.#triangles;
        const e = this.bough.exports, count = 3 * e.rt_tree_triangle_count(this.live()), at = this.bough.alloc(4 * count);
        e.rt_tree_triangles(this.live(), at);
        this.#triangles = new Uint32Array(e.memory.buffer, at, count).slice();
        e.rt_free(at);
        return this.#triangles;
    }

    partIndex(part) {
        if (typeof part !== "string") return wantIndex("part", part, this.parts.length);
        const found = this.parts.findIndex(({ name }) => name === part);
        if (found < 0) throw new BoughError(`there is no part called "${part}"`);
        return found;
    }

    createState() {
        return new TreeState(this, this.bough.made(this.bough.exports.rt_tree_state_create(this.live())));
    }
}

// States have arrays that are views of the instance's memory: made anew where that has grown.
class Viewed extends Owned {
    #views = new Map();

    view(kind, key, address, count) {
        const { buffer } = this.bough.exports.memory, known = this.#views.get(key);
        if (known && known.buffer === buffer && known.byteOffset === address && known.length === count) return known;
        const made = new kind(buffer, address, count);
        this.#views.set(key, made);
        return made;
    }
}

export class TreeState extends Viewed {
    #surface = 0;
    #stress = 0;

    constructor(model, address) {
        super(model.bough, address, (at) => {
            model.bough.exports.rt_free(this.#surface);
            model.bough.exports.rt_free(this.#stress);
            model.bough.exports.rt_tree_state_destroy(at);
        });
        this.model = model;
    }

    // Both addresses that most functions begin with.
    #both() {
        return [this.model.live(), this.live()];
    }

    #array(name, count) {
        return this.view(Float64Array, name, this.bough.exports.rt_tree_array(this.live(), TREE_ARRAYS[name]), count);
    }

    #vertex(part, vertex) {
        const index = this.model.partIndex(part);
        return [index, wantIndex("vertex", vertex, this.model.parts[index].vertexCount)];
    }

    get time() {
        return this.#array("time", 1)[0];
    }
    set time(value) {
        this.#array("time", 1)[0] = wantNumber("time", value);
    }
    get q() {
        return this.#array("q", this.model.size);
    }
    get v() {
        return this.#array("v", this.model.size);
    }
    get a() {
        return this.#array("a", this.model.size);
    }
    get frames() {
        return this.#array("frames", FRAME * this.model.parts.length);
    }
    get gravity() {
        return this.#array("gravity", 3);
    }
    set gravity(value) {
        this.gravity.set(wantNumbers("gravity", value, 3));
    }
    get wind() {
        const all = this.#array("wind", 3 + WIND.length);
        return { velocity: Array.from(all.subarray(0, 3)), ...Object.fromEntries(WIND.map((name, i) => [name, all[3 + i]])) };
    }
    set wind({ velocity, seed, ...rest }) {
        const all = this.#array("wind", 3 + WIND.length);
        for (const name of Object.keys(rest)) {
            if (!WIND.includes(name)) throw new BoughError(`wind: there is no "${name}"; there are velocity, ${WIND.join(", ")} and seed`);
            wantNumber(`wind: ${name}`, rest[name]);
        }
        if (velocity !== undefined) all.set(wantNumbers("wind: velocity", velocity, 3));
        for (const [name, value] of Object.entries(rest)) all[3 + WIND.indexOf(name)] = value;
        if (seed !== undefined) this.bough.exports.rt_tree_wind_seed(this.live(), seed);
    }

    pose(part) {
        const at = FRAME * this.model.partIndex(part), { frames } = this;
        return { position: frames.subarray(at, at + 3), rotation: frames.subarray(at + 3, at + 12), velocity: frames.subarray(at + 12, at + 15), angularVelocity: frames.subarray(at + 15, at + 18) };
    }

    step(dt) {
        this.bough.check(this.bough.exports.rt_tree_step(...this.#both(), wantNumber("dt", dt)));
    }
    advance(dt) {
        this.bough.check(this.bough.exports.rt_tree_advance(...this.#both(), wantNumber("dt", dt), this.bough.put([0])));
        return new Int32Array(this.bough.exports.memory.buffer, this.bough.scratch, 1)[0];
    }
    update() {
        this.bough.check(this.bough.exports.rt_tree_update(...this.#both()));
    }
    settle() {
        this.bough.check(this.bough.exports.rt_tree_settle(...this.#both(), this.bough.scratch));
        return this.bough.taken(1)[0];
    }
    useIntegrator(name) {
        this.bough.withText(name ?? undefined, (at) => this.bough.check(this.bough.exports.rt_tree_use_integrator(...this.#both(), at)));
    }

    addForce(part, vertex, force) {
        const place = this.#vertex(part, vertex);
        this.bough.check(this.bough.exports.rt_tree_add_force(...this.#both(), ...place, this.bough.put(wantNumbers("force", force, 3))));
    }
    addWrench(part, force, torque = [0, 0, 0]) {
        const wrench = [...wantNumbers("force", force, 3), ...wantNumbers("torque", torque, 3)];
        this.bough.check(this.bough.exports.rt_tree_add_wrench(...this.#both(), this.model.partIndex(part), this.bough.put(wrench)));
    }
    addJointTorque(part, torque) {
        const all = typeof torque === "number" ? [torque, 0, 0] : torque;
        this.bough.check(this.bough.exports.rt_tree_add_joint_torque(...this.#both(), this.model.partIndex(part), this.bough.put(wantNumbers("torque", all, 3))));
    }
    pull(part, vertex, target, stiffness, damping = 0) {
        const place = this.#vertex(part, vertex);
        wantNumbers("target", target, 3);
        this.bough.check(this.bough.exports.rt_tree_pull(...this.#both(), ...place, this.bough.put(target), wantNumber("stiffness", stiffness), wantNumber("damping", damping)));
    }
    clearForces() {
        this.bough.exports.rt_tree_clear_forces(...this.#both());
    }

    #change(kind, part, parent = -1, at = 0) {
        this.bough.check(this.bough.exports.rt_tree_change(...this.#both(), CHANGES.indexOf(kind), this.model.partIndex(part), parent, at));
    }
    detach(part) {
        this.#change("detach", part);
    }
    attach(part, parent, interfaceName) {
        if (parent === undefined) return this.#change("attach", part);
        const index = this.model.partIndex(parent);
        const at = typeof interfaceName === "number" ? interfaceName : this.bough.withText(interfaceName, (text) => (text ? this.bough.exports.rt_tree_find_interface(this.model.live(), index, text) : -1));
        if (at < 0) throw new BoughError(`interface: "${parent}" has none called "${interfaceName}"`);
        this.#change("attach", part, index, at);
    }
    reattach(part) {
        this.#change("reattach", part);
    }
    lock(part, locked = true) {
        this.#change(locked ? "lock" : "unlock", part);
    }
    remove(part) {
        this.#change("remove", part);
    }
    add(part) {
        this.#change("add", part);
    }
    parent(part) {
        return this.bough.exports.rt_tree_parent_now(...this.#both(), this.model.partIndex(part));
    }
    setStiffness(part, factor) {
        this.bough.check(this.bough.exports.rt_tree_set_stiffness(...this.#both(), this.model.partIndex(part), wantNumber("factor", factor)));
    }
    setDampingRatio(part, ratio) {
        this.bough.check(this.bough.exports.rt_tree_set_damping_ratio(...this.#both(), this.model.partIndex(part), wantNumber("ratio", ratio)));
    }

    surface({ continuity = "C0" } = {}) {
        const e = this.bough.exports, count = 3 * this.model.vertexCount, both = this.#both();
        if (!CONTINUITIES.includes(continuity)) throw new BoughError(`continuity: one of ${CONTINUITIES.join(", ")} is wanted, not ${continuity}`);
        this.#surface ||= this.bough.alloc(8 * count);
        e.rt_tree_set_continuity(this.live(), CONTINUITIES.indexOf(continuity));
        const at = this.#surface, normals = at + 4 * count;
        this.bough.check(e.rt_tree_surface(...both, at, normals));
        return { positions: this.view(Float32Array, "positions", at, count), normals: this.view(Float32Array, "normals", normals, count) };
    }
    surfaceStress() {
        this.#stress ||= this.bough.alloc(4 * this.model.vertexCount);
        this.bough.exports.rt_tree_surface_stress(...this.#both(), this.#stress);
        return this.view(Float32Array, "stress", this.#stress, this.model.vertexCount);
    }
    vertex(part, vertex) {
        this.bough.check(this.bough.exports.rt_tree_vertex(...this.#both(), ...this.#vertex(part, vertex), this.bough.scratch));
        const all = this.bough.taken(6);
        return { position: all.slice(0, 3), velocity: all.slice(3) };
    }

    get energies() {
        this.bough.check(this.bough.exports.rt_tree_energies(...this.#both(), this.bough.scratch));
        const [elastic, kinetic, gravity, ...momenta] = this.bough.taken(9);
        return { elastic, kinetic, gravity, total: elastic + kinetic + gravity, momentum: momenta.slice(0, 3), angularMomentum: momenta.slice(3) };
    }
    get work() {
        return this.bough.exports.rt_tree_work(...this.#both());
    }

    snapshot() {
        const e = this.bough.exports, both = this.#both(), size = e.rt_tree_snapshot_size(...both), at = this.bough.alloc(size);
        e.rt_tree_save(...both, at);
        const bytes = new Uint8Array(e.memory.buffer, at, size).slice();
        e.rt_free(at);
        return bytes;
    }
    restore(bytes) {
        if (!(bytes instanceof Uint8Array)) throw new BoughError("a snapshot is wanted: what snapshot() gave");
        this.bough.withBytes(bytes, (at, size) => this.bough.check(this.bough.exports.rt_tree_restore(...this.#both(), at, size)));
    }
}

export class Mechanism extends Owned {
    constructor(bough, address, links, endEffectorCount, names) {
        super(bough, address, bough.exports.rt_mechanism_destroy);
        this.linkCount = links.length;
        this.endEffectorCount = endEffectorCount;
        this.rank = bough.exports.rt_mechanism_rank(address);
        this.names = names;
    }

    // 6 n x 6 n, row by row
    get compliance() {
        const n = 6 * this.endEffectorCount, { exports } = this.bough;
        return new Float64Array(exports.memory.buffer, exports.rt_mechanism_compliance(this.live()), n * n).slice();
    }

    frequencies(count) {
        const at = this.bough.alloc(8 * wantIndex("count", count, 10000)), { exports } = this.bough;
        try {
            const found = exports.rt_mechanism_frequencies(this.live(), count, at);
            if (found < 0) throw this.bough.fail();
            return Array.from(new Float64Array(exports.memory.buffer, at, found));
        } finally {
            exports.rt_free(at);
        }
    }

    linkIndex(link) {
        return wantIndex(`link ${JSON.stringify(link)}`, typeof link === "string" ? this.names.get(link) : link, this.linkCount);
    }

    createState() {
        return new MechanismState(this, this.bough.made(this.bough.exports.rt_mechanism_state_create(this.live())));
    }
}

export class MechanismState extends Viewed {
    constructor(model, address) {
        super(model.bough, address, model.bough.exports.rt_mechanism_state_destroy);
        this.model = model;
    }

    #both() {
        return [this.model.live(), this.live()];
    }

    #array(name, count) {
        return this.view(Float64Array, name, this.bough.exports.rt_mechanism_array(this.live(), MECHANISM_ARRAYS[name]), count);
    }

    get time() {
        return this.#array("time", 1)[0];
    }
    get xi() {
        return this.#array("xi", 6 * this.model.endEffectorCount);
    }
    get phi() {
        return this.#array("phi", 6 * this.model.endEffectorCount);
    }
    get gravity() {
        return this.#array("gravity", 3);
    }
    set gravity(value) {
        this.gravity.set(wantNumbers("gravity", value, 3));
    }
    get poses() {
        this.bough.exports.rt_mechanism_place(...this.#both());
        return this.#array("poses", POSE * this.model.linkCount);
    }

    step(dt) {
        this.bough.check(this.bough.exports.rt_mechanism_step(...this.#both(), wantNumber("dt", dt)));
    }
    push(endEffector, force, torque = [0, 0, 0]) {
        const wrench = [...wantNumbers("force", force, 3), ...wantNumbers("torque", torque, 3)];
        this.bough.exports.rt_mechanism_push(...this.#both(), wantIndex("end effector", endEffector, this.model.endEffectorCount), this.bough.put(wrench));
    }
    pushLink(link, point, force, torque = [0, 0, 0]) {
        const all = [...wantNumbers("point", point, 3), ...wantNumbers("force", force, 3), ...wantNumbers("torque", torque, 3)];
        this.bough.exports.rt_mechanism_push_link(...this.#both(), this.model.linkIndex(link), this.bough.put(all));
    }
    endEffector(number) {
        this.bough.exports.rt_mechanism_end_effector_pose(...this.#both(), wantIndex("end effector", number, this.model.endEffectorCount), this.bough.scratch);
        const all = this.bough.taken(POSE);
        return { position: all.slice(0, 3), rotation: all.slice(3) };
    }
    get energies() {
        this.bough.exports.rt_mechanism_energies(...this.#both(), this.bough.scratch);
        const [kinetic, elastic, gravity] = this.bough.taken(3);
        return { kinetic, elastic, gravity, total: kinetic + elastic + gravity };
    }
}
