// Compliant mechanisms, reduced to their end effectors.

import { Actor } from "./contact.js";
import { BoughError, Owned, POSE, Struct, wantIndex, wantNumber, wantNumbers, wantRecords } from "./memory.js";
import { Bodies } from "./rig.js";

/** Links with springs in their joints, reduced to their end effectors. */
export function createMechanism(bough, { links, joints, endEffectors, base = 0, freeBase = false, internalModes = 0 }) {
    const names = new Bodies(wantRecords("links", links)), made = { model: 0, mechanism: 0 };
    const description = {
        links, freeBase, base: names.index("base", base),
        joints: wantRecords("joints", joints).map((joint, i) => names.joint(`joints[${i}]`, { parent: "", child: "", ...joint })),
        endEffectors: wantRecords("endEffectors", endEffectors).map(({ link, ...place }, i) => names.frame(`endEffectors[${i}]: link`, { ...place, body: link ?? "" })),
    };
    let statics = 0;
    try {
        bough.within((scope) => {
            made.mechanism = bough.make("bough_mechanism_create", scope.struct("bough_mechanism_def", description));
            statics = bough.make("bough_mechanism_statics_create", made.mechanism, 0);
            made.model = bough.make("bough_mechanism_model_create", made.mechanism, statics, scope.struct("bough_mechanism_model_def", { internalModes: internalModes === "automatic" ? -1 : internalModes }));
        });
    } finally {
        bough.ask("bough_mechanism_statics_destroy", statics);
        if (!made.model) bough.ask("bough_mechanism_destroy", made.mechanism);
    }
    return new Mechanism(bough, made, names, endEffectors.length);
}

export class Mechanism extends Owned {
    type = "bough_mechanism_model";

    constructor(bough, { model, mechanism }, names, endEffectorCount) {
        super(bough, model, (at) => {
            bough.ask("bough_mechanism_model_destroy", at);
            bough.ask("bough_mechanism_destroy", mechanism);
        });
        this.names = names;
        this.linkCount = names.count;
        this.endEffectorCount = endEffectorCount;
        this.rank = bough.field("bough_mechanism_model", model, "rank");
    }

    // 6 n x 6 n, row by row
    get compliance() {
        const n = 6 * this.endEffectorCount;
        return this.bough.array(Float64Array, this.bough.field(this.type, this.live(), "C"), n * n).slice();
    }

    frequencies(count) {
        let found = 0;
        return this.bough.within((scope) => {
            const number = scope.alloc(4);
            const hz = this.bough.numbers(wantIndex("count", count, 10000), (at) => {
                this.bough.call("bough_mechanism_model_frequencies", this.live(), count, at, number);
                found = this.bough.array(Int32Array, number, 1)[0];
            });
            return hz.slice(0, found);
        });
    }

    createState() {
        return new MechanismState(this, this.bough.make("bough_mechanism_state_create", this.live()));
    }
}

export class MechanismState extends Struct {
    type = "bough_mechanism_state";

    constructor(model, address) {
        super(model.bough, address, "bough_mechanism_state_destroy", [model]);
        this.model = model;
    }

    #both() {
        return [this.model.live(), this.live()];
    }

    get time() {
        return this.number("time");
    }
    get xi() {
        return this.doubles("xi", 6 * this.model.endEffectorCount);
    }
    get phi() {
        return this.doubles("phi", 6 * this.model.endEffectorCount);
    }
    get gravity() {
        return this.doubles("gravity", 3);
    }
    set gravity(value) {
        this.gravity.set(wantNumbers("gravity", value, 3));
    }
    get poses() {
        this.bough.exports.bough_mechanism_state_place(...this.#both());
        return this.doubles("poses", POSE * this.model.linkCount);
    }

    step(dt) {
        this.bough.call("bough_mechanism_step", ...this.#both(), wantNumber("dt", dt));
    }
    push(endEffector, force, torque = [0, 0, 0]) {
        const number = wantIndex("end effector", endEffector, this.model.endEffectorCount);
        this.bough.within((scope) => this.bough.exports.bough_mechanism_state_push(...this.#both(), number, scope.doubles("force", force, 3), scope.doubles("torque", torque, 3)));
    }
    pushLink(link, point, force, torque = [0, 0, 0]) {
        const number = this.model.names.index("link", link);
        this.bough.within((scope) => this.bough.exports.bough_mechanism_state_push_link(...this.#both(), number, scope.doubles("point", point, 3), scope.doubles("force", force, 3), scope.doubles("torque", torque, 3)));
    }
    endEffector(number) {
        wantIndex("end effector", number, this.model.endEffectorCount);
        return this.bough.taken("bough_pose", (at) => this.bough.exports.bough_mechanism_state_end_effector(at, ...this.#both(), number));
    }
    get energies() {
        const { kinetic, elastic, gravity } = this.bough.taken("bough_mechanism_energies", (at) => this.bough.exports.bough_mechanism_state_energies(at, ...this.#both()));
        return { kinetic, elastic, gravity, total: kinetic + elastic + gravity };
    }

    /** Takes part in a contact world, by shapes of end effectors, of links, or of the base. */
    actor(touches, options) {
        const touch = ({ endEffector, link, base, ...rest }, i) => {
            if (link !== undefined) return { ...rest, endEffector: -2, link: this.model.names.index(`touches[${i}]: link`, link) };
            if (endEffector === undefined && !base) throw new BoughError(`touches[${i}]: an endEffector, a link, or base: true is wanted`);
            return { ...rest, endEffector: base ? -1 : wantIndex(`touches[${i}]: end effector`, endEffector, this.model.endEffectorCount) };
        };
        return new Actor(this, "bough_mechanism_actor_create", "bough_touch_def", wantRecords("touches", touches).map(touch), options);
    }
}
