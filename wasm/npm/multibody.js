// Multibody systems: rigid bodies and flexible parts with joints, motors, gears and loops.

import { Actor } from "./contact.js";
import { BoughError, Names, Owned, Struct, tell, wantIndex, wantList, wantNumber, wantNumbers, wantRecords } from "./memory.js";
import { Bodies, Component, Curve } from "./rig.js";

const PLACE = 7, MOTION = 6; // numbers of a body in u and in v

/** A constant description. */
export function createMultibody(bough, { bodies = [], parts = [], joints = [], motors = [], gears = [], ...settings }) {
    for (const [name, list] of Object.entries({ bodies, parts, joints, motors, gears })) wantRecords(name, list);
    const missing = parts.findIndex(({ component }) => !(component instanceof Component));
    if (missing >= 0) throw new BoughError(`parts[${missing}]: a component is wanted`);
    const names = { bodies: new Bodies(bodies, parts), joints: new Names(joints), motors: new Names(motors), parts: new Names(parts) };
    const joint = (who, which) => names.joints.index(`${who}: joint`, which);
    const def = {
        ...settings, bodies,
        parts: parts.map(({ clamp, ...part }, i) => ({ ...part, clamp: names.bodies.frame(`parts[${i}]: clamp`, clamp) })),
        joints: joints.map((one, i) => names.bodies.joint(`joints[${i}]`, one)),
        motors: motors.map((motor, i) => ({ ...motor, joint: joint(`motors[${i}]`, motor.joint ?? 0) })),
        gears: gears.map((gear, i) => ({ ...gear, joints: wantList(`gears[${i}]: joints`, gear.joints).map((one) => joint(`gears[${i}]`, one)) })),
    };
    return bough.within((scope) => new Multibody(bough, bough.make("bough_multibody_create", scope.struct("bough_multibody_def", def)), { names, components: parts.map(({ component }) => component), needs: scope.owned }));
}

export class Multibody extends Owned {
    type = "bough_multibody";

    constructor(bough, address, { names, components, needs }) {
        super(bough, address, "bough_multibody_destroy", needs);
        const e = bough.exports, def = e.bough_multibody_describe(address), first = bough.field("bough_multibody_def", def, "joints");
        this.names = names;
        this.components = components;
        this.bodyCount = names.bodies.first;
        this.partCount = components.length;
        this.velocityCount = e.bough_multibody_velocity_count(address);
        this.positionCount = e.bough_multibody_position_count(address);
        this.constraintCount = e.bough_multibody_constraint_count(address);
        this.freedoms = Array.from({ length: names.joints.count }, (_, i) => e.bough_joint_freedoms(bough.field("bough_joint_def", first + i * bough.size("bough_joint_def"), "kind")));
    }

    /** Numbers of the joints whose constraints follow from others. */
    get redundant() {
        const { exports: e } = this.bough, at = this.live();
        return this.bough.within((scope) => {
            const joint = scope.alloc(4);
            return Array.from({ length: e.bough_multibody_redundant(at, 0, 0) }, (_, i) => {
                e.bough_multibody_redundant(at, i, joint);
                return this.bough.array(Int32Array, joint, 1)[0];
            });
        });
    }

    createState() {
        return new MultibodyState(this, this.bough.make("bough_multibody_state_create", this.live()));
    }
}

export class MultibodyState extends Struct {
    type = "bough_multibody_state";
    #drive = 0;
    #surfaces = [];

    constructor(model, address) {
        super(model.bough, address, (at) => {
            this.bough.forget(this.#drive);
            for (const block of this.#surfaces) this.bough.exports.free(block ?? 0);
            this.bough.ask("bough_multibody_state_destroy", at);
        }, [model]);
        this.model = model;
    }

    #both() {
        return [this.model.live(), this.live()];
    }
    #call(name, ...values) {
        this.bough.call(name, ...this.#both(), ...values);
    }

    get time() {
        return this.number("time");
    }
    set time(value) {
        this.doubles("time", 1)[0] = wantNumber("time", value);
    }
    get u() {
        return this.doubles("u", this.model.positionCount);
    }
    get v() {
        return this.doubles("v", this.model.velocityCount);
    }
    get force() {
        return this.doubles("force", this.model.velocityCount);
    }
    get multipliers() {
        return this.doubles("lambda", this.model.constraintCount);
    }
    get gravity() {
        return this.doubles("gravity", 3);
    }
    set gravity(value) {
        this.gravity.set(wantNumbers("gravity", value, 3));
    }
    get drift() {
        return this.number("drift");
    }
    get iterations() {
        return this.number("iterations");
    }

    body(which) {
        const body = wantIndex("body", this.model.names.bodies.index("body", which), this.model.bodyCount), { u, v, force } = this, at = PLACE * body, moves = MOTION * body;
        return {
            position: u.subarray(at, at + 3), quaternion: u.subarray(at + 3, at + 7), velocity: v.subarray(moves, moves + 3), angularVelocity: v.subarray(moves + 3, moves + 6),
            force: force.subarray(moves, moves + 3), torque: force.subarray(moves + 3, moves + 6),
        };
    }
    part(which) {
        const part = this.model.names.parts.index("part", which), from = this.bough.exports.bough_multibody_part_offset(this.model.live(), part), { size } = this.model.components[part];
        return { q: this.u.subarray(from, from + size), rate: this.v.subarray(from - this.model.bodyCount, from - this.model.bodyCount + size) };
    }
    // Puts the pose of a frame at `pose`, and how it moves behind it.
    #frame(scope, frame, pose) {
        const place = this.model.names.bodies.frame("frame", typeof frame === "object" && frame !== null ? frame : { body: frame });
        this.bough.exports.bough_multibody_frame(...this.#both(), scope.struct("bough_frame_def", place), pose, pose + this.bough.size("bough_pose"));
    }
    frame(frame) {
        return this.bough.within((scope) => {
            const pose = scope.alloc(this.bough.size("bough_pose") + 8 * MOTION);
            this.#frame(scope, frame, pose);
            const twist = Array.from(this.bough.array(Float64Array, pose + this.bough.size("bough_pose"), MOTION));
            return { ...this.bough.read("bough_pose", pose), velocity: twist.slice(0, 3), angularVelocity: twist.slice(3) };
        });
    }
    joint(which) {
        const e = this.bough.exports, joint = this.model.names.joints.index("joint", which), n = this.model.freedoms[joint];
        const all = this.bough.numbers(2 * n + 6, (at) => {
            e.bough_multibody_joint_coordinates(...this.#both(), joint, at, at + 8 * n);
            e.bough_multibody_joint_wrench(...this.#both(), joint, at + 16 * n);
        });
        return { coordinates: all.slice(0, n), rates: all.slice(n, 2 * n), force: all.slice(2 * n, 2 * n + 3), torque: all.slice(2 * n + 3) };
    }
    /** The surface of a part, in the world. */
    surface(which) {
        const { bough, model } = this, part = model.names.parts.index("part", which), component = model.components[part], count = 3 * component.vertexCount, at = this.live();
        this.#surfaces[part] ??= bough.alloc(4 * count);
        bough.within((scope) => {
            const pose = scope.alloc(bough.size("bough_pose") + 8 * MOTION), offset = bough.exports.bough_multibody_part_offset(model.live(), part);
            this.#frame(scope, model.bodyCount + part, pose);
            bough.exports.rt_component_surface(component.live(), bough.field(this.type, at, "u") + 8 * offset, pose, this.#surfaces[part]);
        });
        return this.view(Float32Array, `surface ${part}`, this.#surfaces[part], count);
    }

    /** Where motors are told to be: a function (motor, time) => [place, rate], or curves by the names of motors. */
    drive(how) {
        const { bough, model } = this, state = this.live();
        let told = 0;
        if (typeof how === "function") told = (motor, time) => how(motor, time);
        else if (how) {
            const curves = new Map(Object.entries(how).map(([name, curve]) => {
                if (!(curve instanceof Curve)) throw new BoughError(`drive: ${tell(name)}: what createCurve() gave is wanted`);
                return [model.names.motors.index("motor", /^\d+$/.test(name) && !model.names.motors.numbers.has(name) ? Number(name) : name), curve];
            }));
            told = (motor, time) => {
                const { value, rate } = curves.get(motor)?.at(time) ?? { value: 0, rate: 0 };
                return [value, rate];
            };
        }
        bough.forget(this.#drive);
        this.#drive = told && bough.callback(told);
        bough.exports.rt_multibody_drive(state, this.#drive);
    }

    step(dt) {
        this.#call("bough_multibody_step", wantNumber("dt", dt));
    }
    advance(dt, tolerance = 1e-6) {
        return this.bough.within((scope) => {
            const steps = scope.alloc(4);
            this.#call("bough_multibody_advance", wantNumber("dt", dt), wantNumber("tolerance", tolerance), steps);
            return this.bough.array(Int32Array, steps, 1)[0];
        });
    }
    restart() {
        this.bough.exports.bough_multibody_restart(this.live());
    }
    assemble() {
        this.#call("bough_multibody_assemble");
    }
    settle() {
        this.#call("bough_multibody_settle");
    }
    /** Goes from an equilibrium to that at another time, with motors as they are told to be then. */
    follow(time) {
        return this.bough.taken("bough_multibody_path", (path) => this.#call("bough_multibody_follow", wantNumber("time", time), path));
    }
    useIntegrator(name) {
        this.bough.within((scope) => this.#call("bough_multibody_use_integrator", name == null ? 0 : scope.struct("bough_integrator_def", { name })));
    }
    /** Frequencies of small vibrations about the state, Hz. */
    frequencies(count) {
        const modes = this.bough.make("bough_multibody_find_modes", ...this.#both(), wantIndex("count", count, 10000));
        const hz = this.bough.array(Float64Array, this.bough.field("bough_multibody_modes", modes, "frequencies_hz"), this.bough.field("bough_multibody_modes", modes, "count"));
        const found = Array.from(hz);
        this.bough.ask("bough_multibody_modes_destroy", modes);
        return found;
    }

    get energies() {
        const { kinetic, elastic, springs, gravity, ...momenta } = this.bough.taken("bough_multibody_energies", (at) => this.bough.exports.bough_multibody_measure(...this.#both(), at));
        return { kinetic, elastic, springs, gravity, total: kinetic + elastic + springs + gravity, ...momenta };
    }

    snapshot() {
        const { exports: e } = this.bough, state = this.live(), size = e.rt_multibody_snapshot_size(state);
        if (size === 0) throw new BoughError("there are snapshots of steps by the engine's own method only", "valid, but not supported");
        return this.bough.within((scope) => {
            const at = scope.alloc(size);
            e.rt_multibody_save(state, at);
            return this.bough.array(Uint8Array, at, size).slice();
        });
    }
    restore(bytes) {
        if (!(bytes instanceof Uint8Array)) throw new BoughError("a snapshot is wanted: what snapshot() gave");
        this.bough.withBytes(bytes, (at, size) => this.bough.call("rt_multibody_restore", this.live(), at, size));
    }

    /** Takes part in a contact world, by shapes of bodies, and by the contact samples of parts. */
    actor(shapes, options) {
        const { bodies, parts } = this.model.names;
        const list = wantRecords("shapes", shapes).map(({ body, part, ...rest }, i) => {
            const place = part === undefined ? wantIndex(`shapes[${i}]: body`, bodies.index(`shapes[${i}]: body`, body), this.model.bodyCount) : this.model.bodyCount + parts.index(`shapes[${i}]: part`, part);
            return { friction: 0.5, ...rest, place, number: i };
        });
        return new Actor(this, "bough_multibody_actor_create", "bough_contact_shape_def", list.sort((a, b) => a.place - b.place), options);
    }
}
