// Trees of flexible parts.

import { BoughError, Names, Owned, POSE, Struct, tell, wantIndex, wantList, wantNumber, wantNumbers, wantRecord, wantRecords } from "./memory.js";
import { Component } from "./rig.js";

const FRAME = POSE + 6; // numbers of a frame
const CONTINUITIES = ["C0", "C1", "none"];
const CHANGES = ["detach", "attach", "reattach", "lock", "unlock", "remove", "add"];

// A pose over time, as a bough_track.
function track(who, moves) {
    const { times, positions, rotations } = wantRecord(who, moves), count = wantNumbers(`${who}: times`, times).length;
    return { time: times, position: wantNumbers(`${who}: positions`, positions, 3 * count), rotation: rotations ?? Array.from({ length: count }, () => [1, 0, 0, 0]).flat(), count };
}

// A joint by which a part hangs: the part says on what.
function partJoint(who, joint) {
    const { inChild = {}, ...rest } = wantRecord(who, joint);
    return { ...rest, child: { pose: inChild } };
}

/** Parts that are welded to each other or hang in joints, with ties that close loops. */
export function createTree(bough, { parts, ties = [], ...settings }) {
    const names = new Names(wantRecords("parts", parts)), components = [...new Set(parts.map(({ component }) => component))];
    const index = (who, which, count) => {
        const found = which === undefined || which === null ? -1 : names.index(who, which);
        if (found >= count) throw new BoughError(`${who}: parts that come before it are wanted, not ${tell(which)}`);
        return found;
    };
    const part = ({ component, parent, interface: at, joint, track: moves, ...rest }, i) => {
        const who = `parts[${i}]`, above = index(`${who}: parent`, parent, i);
        if (!(component instanceof Component)) throw new BoughError(`${who}: a component is wanted`);
        if (above >= 0) rest.interfaceIndex = parts[above].component.interfaceIndex(at, `${who}: interface`);
        return { ...rest, component: components.indexOf(component), parent: above, joint: joint == null ? undefined : partJoint(`${who}: joint`, joint), track: moves == null ? undefined : track(`${who}: track`, moves) };
    };
    const end = (who, one, at) => {
        const body = index(who, one, parts.length);
        return body < 0 ? { body } : { body, interfaceIndex: parts[body].component.interfaceIndex(at, `${who}: interface`) };
    };
    const tie = ({ parent, child, parentInterface, childInterface, ...rest }, i) => {
        const who = `ties[${i}]`;
        return { kind: "fixed", ...rest, parent: end(`${who}: parent`, parent, parentInterface), child: end(`${who}: child`, child, childInterface) };
    };
    return bough.within((scope) => {
        const def = scope.struct("bough_tree_model_def", { ...settings, components, parts: parts.map(part), ties: wantRecords("ties", ties).map(tie) });
        return new TreeModel(bough, bough.make("bough_tree_model_create", def), scope.owned);
    });
}

export class TreeModel extends Owned {
    type = "bough_tree_model";
    #triangles;

    constructor(bough, address, needs) {
        super(bough, address, "bough_tree_model_destroy", needs);
        const { exports: e } = bough, def = e.bough_tree_model_describe(address), count = (name) => bough.field("bough_tree_model_def", def, name);
        const components = bough.array(Uint32Array, count("components"), count("component_count")).slice();
        this.componentCount = components.length;
        this.size = e.bough_tree_model_size(address);
        this.vertexCount = e.bough_tree_model_vertex_count(address);
        this.parts = Array.from({ length: count("part_count") }, (_, i) => {
            const at = count("parts") + i * bough.size("bough_part_def"), { name, parent, component } = bough.read("bough_part_def", at);
            const vertexCount = bough.field("bough_surface", bough.at("bough_component", components[component], "surface"), "vertex_count");
            return { name, parent, component, offset: e.bough_tree_model_offset(address, i), jointOffset: e.bough_tree_model_joint_offset(address, i), firstVertex: e.bough_tree_model_first_vertex(address, i), vertexCount };
        });
        this.ties = Array.from({ length: count("tie_count") }, (_, i) => bough.read("bough_joint_def", count("ties") + i * bough.size("bough_joint_def")).name);
        this.names = new Names(this.parts.map(({ name }) => ({ name: name || undefined })));
    }

    get triangles() {
        const { bough } = this, count = 3 * bough.exports.bough_tree_model_triangle_count(this.live());
        return (this.#triangles ??= bough.within((scope) => {
            const at = scope.alloc(4 * count);
            bough.exports.bough_tree_model_triangles(this.live(), at);
            return bough.array(Uint32Array, at, count).slice();
        }));
    }

    partIndex(part) {
        if (typeof part === "string" && !this.names.numbers.has(part)) throw new BoughError(`there is no part called "${part}"`);
        return this.names.index("part", part);
    }

    createState() {
        return new TreeState(this, this.bough.make("bough_tree_state_create", this.live()));
    }

    /** The bytes of a pack, as `bough pack` writes it. */
    pack() {
        return this.bough.written((path) => this.bough.call("bough_tree_model_save", this.live(), path));
    }
}

export class TreeState extends Struct {
    type = "bough_tree_state";
    #surface = 0;
    #stress = 0;
    #recording;

    constructor(model, address) {
        super(model.bough, address, (at) => {
            this.#recording?.left();
            for (const block of [this.#surface, this.#stress]) this.bough.exports.free(block);
            this.bough.ask("bough_tree_state_destroy", at);
        }, [model]);
        this.model = model;
    }

    // Calls a function of a model and a state.
    #call(name, ...values) {
        this.bough.call(name, this.model.live(), this.live(), ...values);
    }
    #vectors(name, before, ...vectors) {
        this.bough.within((scope) => this.#call(name, ...before, ...vectors.map(([who, values]) => scope.doubles(who, values, 3))));
    }
    #vertex(part, vertex) {
        const index = this.model.partIndex(part);
        return [index, wantIndex("vertex", vertex, this.model.parts[index].vertexCount)];
    }

    get time() {
        return this.number("time");
    }
    set time(value) {
        this.doubles("time", 1)[0] = wantNumber("time", value);
    }
    get q() {
        return this.doubles("q", this.model.size);
    }
    get v() {
        return this.doubles("v", this.model.size);
    }
    get a() {
        return this.doubles("a", this.model.size);
    }
    get frames() {
        return this.doubles("frames", FRAME * this.model.parts.length);
    }
    get tieStrength() {
        return this.doubles("tie_strength", this.model.ties.length);
    }
    get gravity() {
        return this.doubles("gravity", 3);
    }
    set gravity(value) {
        this.gravity.set(wantNumbers("gravity", value, 3));
    }
    get wind() {
        return this.bough.read("bough_wind", this.bough.at(this.type, this.live(), "wind"));
    }
    set wind(values) {
        this.bough.within((scope) => {
            const checked = scope.struct("bough_wind", { ...this.wind, ...values }, "wind"), size = this.bough.size("bough_wind");
            this.bough.array(Uint8Array, this.bough.at(this.type, this.live(), "wind"), size).set(this.bough.array(Uint8Array, checked, size));
        });
    }

    pose(part) {
        const at = FRAME * this.model.partIndex(part), { frames } = this;
        return { position: frames.subarray(at, at + 3), rotation: frames.subarray(at + 3, at + 12), velocity: frames.subarray(at + 12, at + 15), angularVelocity: frames.subarray(at + 15, at + 18) };
    }

    step(dt) {
        this.#call("bough_tree_step", wantNumber("dt", dt));
    }
    advance(dt) {
        return this.bough.within((scope) => {
            const refused = scope.alloc(4);
            this.#call("bough_tree_advance", wantNumber("dt", dt), refused);
            return this.bough.array(Int32Array, refused, 1)[0];
        });
    }
    update() {
        this.#call("bough_tree_state_update");
    }
    settle() {
        return this.bough.numbers(1, (at) => this.#call("bough_tree_state_settle", 0, at))[0];
    }
    useIntegrator(name) {
        this.bough.within((scope) => this.#call("bough_tree_state_use_integrator", name == null ? 0 : scope.struct("bough_integrator_def", { name })));
    }

    addForce(part, vertex, force) {
        this.#vectors("bough_tree_state_add_force", this.#vertex(part, vertex), ["force", force]);
    }
    addWrench(part, force, torque = [0, 0, 0]) {
        this.#vectors("bough_tree_state_add_wrench", [this.model.partIndex(part)], ["force", force], ["torque", torque]);
    }
    addJointTorque(part, torque) {
        this.#vectors("bough_tree_state_add_joint_torque", [this.model.partIndex(part)], ["torque", typeof torque === "number" ? [torque, 0, 0] : torque]);
    }
    pull(part, vertex, target, stiffness, damping = 0) {
        const place = this.#vertex(part, vertex);
        this.bough.within((scope) => this.#call("bough_tree_state_pull", ...place, scope.doubles("target", target, 3), wantNumber("stiffness", stiffness), wantNumber("damping", damping)));
    }
    clearForces() {
        this.bough.exports.bough_tree_state_clear_forces(this.model.live(), this.live());
    }

    // A root that is added is added where it was.
    #change(kind, part, parent = -1, interfaceIndex = 0) {
        const index = this.model.partIndex(part), [position, rotation, velocity, angularVelocity] = Object.values(this.pose(index));
        const change = { kind, part: index, parent, interfaceIndex, frame: { pose: { position, rotation }, velocity, angularVelocity } };
        this.bough.within((scope) => this.#call("bough_tree_state_change", 1, scope.struct("bough_change", change)));
    }
    detach(part) {
        this.#change("detach", part);
    }
    attach(part, parent, interfaceName) {
        if (parent === undefined) return this.#change("attach", part);
        const { bough, model } = this, index = model.partIndex(parent), def = bough.exports.bough_tree_model_describe(model.live());
        const component = bough.array(Uint32Array, bough.field("bough_tree_model_def", def, "components"), model.componentCount)[model.parts[index].component];
        const at = typeof interfaceName === "number" ? interfaceName : bough.within((scope) => bough.exports.bough_component_find_interface(component, scope.text("interface", interfaceName ?? "")));
        if (at < 0) throw new BoughError(`interface: ${tell(parent)} has none called ${tell(interfaceName)}`);
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
        const parts = this.bough.exports.bough_tree_state_parts(this.model.live(), this.live());
        return this.bough.field("bough_part_def", parts + this.model.partIndex(part) * this.bough.size("bough_part_def"), "parent");
    }
    setStiffness(part, factor) {
        this.#call("bough_tree_state_set_stiffness", this.model.partIndex(part), wantNumber("factor", factor));
    }
    setDampingRatio(part, ratio) {
        this.#call("bough_tree_state_set_damping_ratio", this.model.partIndex(part), wantNumber("ratio", ratio));
    }

    /** What parts touch from now on; null: nothing. */
    touch(what) {
        if (what === null) {
            this.#call("bough_tree_state_touch", 0);
            this.needs = new Set([this.model]);
            return;
        }
        const { solids = [], between, ...rest } = wantRecord("touch", what), count = this.model.componentCount;
        const each = between === true ? Array(count).fill(true) : between || undefined;
        if (each && wantList("between", each).length !== count) throw new BoughError(`between: true, or one of true and false for each of ${count} components is wanted`);
        const solid = ({ part, shape }) => ({ part: this.model.partIndex(part), shape });
        this.bough.within((scope) => {
            this.#call("bough_tree_state_touch", scope.struct("bough_tree_touch_def", { ...rest, solids: wantRecords("solids", solids).map(solid), between: each }));
            this.needs = new Set([this.model, ...scope.owned]); // meshes
        });
    }
    get contacts() {
        const { bough } = this, count = bough.exports.bough_tree_state_contacts(this.live(), 0, 0), size = bough.size("bough_run_contact");
        const side = (thing) => (thing >= 0 ? { kind: "part", index: thing } : { kind: "obstacle", index: -1 - thing });
        return bough.within((scope) => {
            const at = scope.alloc(count * size);
            bough.exports.bough_tree_state_contacts(this.live(), count, at);
            return Array.from({ length: count }, (_, i) => {
                const { things, ...rest } = bough.read("bough_run_contact", at + i * size);
                return { sides: things.map(side), ...rest };
            });
        });
    }

    surface({ continuity = "C0" } = {}) {
        const { bough } = this, count = 3 * this.model.vertexCount;
        if (!CONTINUITIES.includes(continuity)) throw new BoughError(`continuity: one of ${CONTINUITIES.join(", ")} is wanted, not ${tell(continuity)}`);
        bough.setField(this.type, this.live(), "continuity", CONTINUITIES.indexOf(continuity));
        this.#surface ||= bough.alloc(8 * count);
        const at = this.#surface, normals = at + 4 * count;
        this.#call("bough_tree_state_surface", at, normals);
        return { positions: this.view(Float32Array, "positions", at, count), normals: this.view(Float32Array, "normals", normals, count) };
    }
    surfaceStress() {
        this.live();
        this.#stress ||= this.bough.alloc(4 * this.model.vertexCount);
        this.bough.ask("bough_tree_state_surface_stress", this.model.live(), this.live(), this.#stress);
        return this.view(Float32Array, "stress", this.#stress, this.model.vertexCount);
    }
    vertex(part, vertex) {
        const place = this.#vertex(part, vertex), all = this.bough.numbers(6, (at) => this.#call("bough_tree_state_vertex", ...place, at, at + 24));
        return { position: all.slice(0, 3), velocity: all.slice(3) };
    }

    get energies() {
        const { elastic, kinetic, gravity, ...momenta } = this.bough.taken("bough_tree_energies", (at) => this.#call("bough_tree_state_energies", at));
        return { elastic, kinetic, gravity, total: elastic + kinetic + gravity, ...momenta };
    }
    get work() {
        return this.bough.exports.bough_tree_state_work(this.model.live(), this.live(), 0);
    }

    snapshot() {
        const { exports: e } = this.bough, both = [this.model.live(), this.live()], size = e.bough_tree_state_snapshot_size(...both);
        return this.bough.within((scope) => {
            const at = scope.alloc(size);
            e.bough_tree_state_save(...both, at);
            return this.bough.array(Uint8Array, at, size).slice();
        });
    }
    restore(bytes) {
        if (!(bytes instanceof Uint8Array)) throw new BoughError("a snapshot is wanted: what snapshot() gave");
        this.bough.withBytes(bytes, (at, size) => this.#call("bough_tree_state_restore", at, size));
    }

    /** Records all that is done to the state from now on. */
    record() {
        this.#recording = new TreeRecording(this.bough, this.bough.make("bough_tree_log_start", this.model.live(), this.live()), this);
        return this.#recording;
    }
}

/** All that was done to a state, to be done again. */
export class TreeRecording extends Owned {
    type = "bough_tree_log";
    #state;

    constructor(bough, address, state) {
        super(bough, address, "bough_tree_log_destroy");
        this.#state = state;
    }

    // The state goes.
    left() {
        try {
            this.stop();
        } catch {
            // It is gone by itself, or nothing can be done about it.
        }
    }

    stop() {
        const at = this.live(), state = this.#state;
        if (!state) return;
        this.#state = undefined;
        this.bough.call("bough_tree_log_stop", state.model.live(), at);
    }

    get info() {
        return this.bough.taken("bough_tree_log_info", (at) => this.bough.exports.bough_tree_log_describe(at, this.live()));
    }

    /** The bytes of a file as `bough run --record` writes it. */
    bytes() {
        const at = this.live(), state = this.#state;
        return this.bough.written((path) => (state ? this.bough.call("bough_tree_log_flush", state.model.live(), at, path) : this.bough.call("bough_tree_log_save", at, path)));
    }

    /** Does all of it again; watch(state) is called after each step, and false ends it. Says whether the bits are the same. */
    replay(state, watch) {
        if (!(state instanceof TreeState)) throw new BoughError("replay: a state of the tree is wanted");
        return this.bough.within((scope) => {
            const same = scope.alloc(4), callback = watch ? this.bough.callback(() => watch(state) !== false) : 0;
            try {
                this.bough.call("rt_tree_log_replay", state.model.live(), state.live(), this.live(), callback, same);
            } finally {
                this.bough.forget(callback);
            }
            return this.bough.array(Uint8Array, same, 1)[0] !== 0;
        });
    }
}
