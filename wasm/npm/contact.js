// Contact worlds: obstacles, free rigid bodies and actors that push each other.

import { BoughError, Names, Owned, Scope, Struct, wantIndex, wantList, wantNumber, wantNumbers, wantRecord, wantRecords } from "./memory.js";

const BODY = 24; // numbers of a body: position, rotation (9), velocity, spin, force, torque
const PLACES = { position: [0, 3], rotation: [3, 12], velocity: [12, 15], spin: [15, 18], force: [18, 21], torque: [21, 24] };

/** A state that takes part in a contact world, which steps it. */
export class Actor extends Owned {
    type = "bough_contact_actor";
    #scope; // shapes, until a world has taken them

    constructor(state, make, kind, shapes, { touchesItself = false } = {}) {
        const { bough } = state, scope = new Scope(bough);
        const at = scope.struct("bough_contact_actor", {});
        try {
            bough.call(make, state.model.live(), state.live(), shapes.length, scope.structs(kind, shapes, (i) => `shapes[${i}]`), at);
            bough.setField("bough_contact_actor", at, "touches_itself", touchesItself ? 1 : 0);
        } catch (error) {
            scope.end();
            throw error;
        }
        super(bough, at, (address) => {
            bough.ask("bough_contact_actor_destroy", address);
            scope.end();
        }, [state, ...scope.owned]);
        this.state = state;
        this.uses = [state, ...scope.owned];
    }
}

/** Makes a world, which takes its actors over. */
export function createWorld(bough, { bodies = [], obstacles = [], actors = [], gravity = [0, 0, 0], ...settings } = {}) {
    wantNumbers("gravity", gravity, 3);
    for (const [i, actor] of wantList("actors", actors).entries()) {
        if (!(actor instanceof Actor)) throw new BoughError(`actors[${i}]: what actor() of a state gave is wanted`);
        if (actors.indexOf(actor) !== i) throw new BoughError(`actors[${i}]: an actor takes part once`);
        actor.live();
    }
    const world = bough.within((scope) => {
        const def = scope.struct("bough_contact_world_def", { ...settings, bodies: wantRecords("bodies", bodies), obstacles: wantRecords("obstacles", obstacles) });
        const size = bough.size("bough_contact_actor"), places = scope.alloc(actors.length * size), place = (i) => bough.array(Uint8Array, places + i * size, size);
        for (const [i, actor] of actors.entries()) place(i).set(bough.array(Uint8Array, actor.live(), size));
        bough.setField("bough_contact_world_def", def, "actors", places);
        bough.setField("bough_contact_world_def", def, "actor_count", actors.length);
        try {
            return new World(bough, bough.make("bough_contact_world_create", def), { bodies, obstacles, actors, needs: [...scope.owned, ...actors.flatMap(({ uses }) => uses)] });
        } finally {
            // Those that the world took are all zero bytes now, also when it failed.
            for (const [i, actor] of actors.entries()) {
                bough.array(Uint8Array, actor.live(), size).set(place(i));
                if (place(i).every((byte) => byte === 0)) actor.dispose();
            }
        }
    });
    world.gravity = gravity;
    return world;
}

export class World extends Struct {
    type = "bough_contact_world";
    #names;

    constructor(bough, address, { bodies, obstacles, actors, needs }) {
        super(bough, address, "bough_contact_world_destroy", needs);
        this.#names = { body: new Names(bodies), obstacle: new Names(obstacles) };
        this.actors = actors.map(({ state }) => state);
    }

    get gravity() {
        return this.doubles("gravity", 3);
    }
    set gravity(value) {
        this.gravity.set(wantNumbers("gravity", value, 3));
    }
    get bodyCount() {
        return this.number("body_count");
    }
    get bodies() {
        return this.doubles("bodies", BODY * this.bodyCount);
    }
    body(which) {
        const at = BODY * this.#names.body.index("body", which), { bodies } = this;
        return Object.fromEntries(Object.entries(PLACES).map(([name, [from, to]]) => [name, bodies.subarray(at + from, at + to)]));
    }

    step(dt) {
        this.bough.call("bough_contact_world_step", this.live(), wantNumber("dt", dt));
    }

    get contactCount() {
        return this.number("contact_count");
    }
    get contacts() {
        const at = this.number("contacts"), size = this.bough.size("bough_contact");
        return Array.from({ length: this.contactCount }, (_, i) => this.bough.read("bough_contact", at + i * size));
    }
    get islandCount() {
        return this.number("island_count");
    }
    get rounds() {
        return this.number("rounds");
    }
    get residual() {
        return this.number("residual");
    }

    // { kind, index, actor }, as contacts have it; bodies and obstacles have names, too.
    #side(scope, who, side) {
        const { kind, index, actor = -1 } = wantRecord(who, side);
        return scope.struct("bough_contact_side", { kind, actor, index: this.#names[kind]?.index(`${who}: ${kind}`, index) ?? index }, who);
    }
    filter(who, groups, mask) {
        this.bough.within((scope) => {
            const bits = (name, value) => wantIndex(name, value, 2 ** 32) | 0;
            this.bough.call("bough_contact_world_filter", this.live(), this.#side(scope, "filter", who), bits("groups", groups), bits("mask", mask));
        });
    }
    ignore(a, b, ignored = true) {
        this.bough.within((scope) => this.bough.call("bough_contact_world_ignore", this.live(), this.#side(scope, "ignore", a), this.#side(scope, "ignore", b), ignored ? 1 : 0));
    }
    move(obstacle, place, velocity = [0, 0, 0], spin = [0, 0, 0]) {
        const index = this.#names.obstacle.index("obstacle", obstacle);
        this.bough.within((scope) => this.bough.call("bough_contact_world_move", this.live(), index, scope.struct("bough_pose", place, "move"), scope.doubles("velocity", velocity, 3), scope.doubles("spin", spin, 3)));
    }

    snapshot() {
        const { exports: e } = this.bough, count = Number(e.bough_contact_world_memory_size(this.live()));
        return Float64Array.from(this.bough.numbers(count, (at) => e.bough_contact_world_save(this.live(), at)));
    }
    restore(snapshot) {
        if (!(snapshot instanceof Float64Array)) throw new BoughError("a snapshot is wanted: what snapshot() gave");
        this.bough.within((scope) => this.bough.call("bough_contact_world_restore", this.live(), BigInt(snapshot.length), scope.copy(Float64Array, snapshot)));
    }
}
