// The library's memory: calls, structs and arrays from and to JavaScript. layouts.js, made of the public headers by the
// compiler, says where the fields of structs lie.

import { ENUMS, STRUCTS } from "./layouts.js";

/** What the library could not do, in its own words. */
export class BoughError extends Error {
    constructor(message, status = "wrong argument", recoverable = false) {
        super(message);
        this.name = "BoughError";
        this.status = status;
        this.recoverable = recoverable;
    }
}

export const POSE = 12; // numbers of a pose
export const IDENTITY = [1, 0, 0, 0, 1, 0, 0, 0, 1];

const ARRAYS = { double: Float64Array, float: Float32Array, int32_t: Int32Array, uint32_t: Uint32Array, size_t: Uint32Array, uint64_t: BigUint64Array, int64_t: BigInt64Array, _Bool: Uint8Array };
const POINTER = 4;
const HIDDEN = new Set(["cookie", "reserved", "point_count", "solid"]); // fields that only the library sets
// Functions that callbacks may call, too.
const LOOKS = /_(surface|vertex|energies|create|read)$/;
// How many numbers each of what a field counts has, where that is not one.
const ROWS = { "bough_shape_def.points": 3 };
// Words beside those of an enum, as scene files have them.
const ALSO = { bough_joint_kind: { fixed: "compliant" } };

// Sizes of arrays that nothing counts.
const CHECKS = {
    bough_shape_def({ columns = 0, rows = 0, heights }, who) {
        if (heights == null) return;
        const { length } = wantNumbers(`${who}: heights`, heights);
        if (!Number.isInteger(columns) || !Number.isInteger(rows) || columns * rows !== length) throw new BoughError(`${who}: heights: columns x rows are wanted, which is ${tell(columns)} x ${tell(rows)}, not ${length}`);
    },
    bough_joint_def({ kind = "hinge", compliance }, who, bough) {
        const n = bough.exports.bough_joint_freedoms(ENUMS.bough_joint_kind.indexOf(ALSO.bough_joint_kind[kind] ?? kind));
        if (compliance != null) wantNumbers(`${who}: compliance`, compliance, n * n);
    },
    bough_track({ time, position, rotation }, who) {
        const count = wantNumbers(`${who}: times`, time).length;
        wantNumbers(`${who}: positions`, position, 3 * count);
        wantNumbers(`${who}: rotations`, rotation, 4 * count);
    },
};

/** A value, to be quoted in a sentence. */
export const tell = (value) => (value == null ? "nothing" : isList(value) ? `[${Array.from(value).slice(0, 20).map(tell).join(", ")}]` : typeof value === "string" ? `"${value}"` : typeof value === "object" ? "an object" : typeof value === "function" ? "a function" : String(value));
const snake = (key) => key.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
const camel = (name) => name.replace(/_(\w)/g, (_, letter) => letter.toUpperCase());
// The field that counts what a pointer leads to: bodies have a body_count.
const counterOf = (fields, name) => (fields[name][3] ? [name.replace(/ies$/, "y"), name.replace(/s$/, "")].map((one) => `${one}_count`).find((one) => fields[one]) : undefined);
const isList = (value) => Array.isArray(value) || (ArrayBuffer.isView(value) && !(value instanceof DataView));

export function wantNumbers(who, value, count) {
    const all = isList(value) ? Array.from(value).flat() : [];
    if (!isList(value) || (count !== undefined && all.length !== count) || !all.every((one) => typeof one === "number" && !Number.isNaN(one)))
        throw new BoughError(`${who}: ${count === undefined ? "" : `${count} `}numbers are wanted, not ${tell(value)}`);
    return all;
}

export function wantNumber(who, value) {
    if (typeof value !== "number" || Number.isNaN(value)) throw new BoughError(`${who}: a number is wanted, not ${tell(value)}`);
    return value;
}

export function wantIndex(who, value, count) {
    if (!Number.isInteger(value) || value < 0 || value >= count) throw new BoughError(`${who}: ${count > 0 ? `a whole number from 0 to ${count - 1} is wanted` : "there is none"}, not ${tell(value)}`);
    return value;
}

export function wantList(who, value) {
    if (!Array.isArray(value)) throw new BoughError(`${who}: a list is wanted, not ${tell(value)}`);
    return value;
}

export function wantRecord(who, value) {
    if (value === null || typeof value !== "object" || isList(value)) throw new BoughError(`${who}: an object is wanted, not ${tell(value)}`);
    return value;
}

/** A list of objects. */
export function wantRecords(who, value) {
    wantList(who, value).forEach((one, i) => wantRecord(`${who}[${i}]`, one));
    return value;
}

/** Numbers of things by their names, or by themselves. */
export class Names {
    constructor(things) {
        this.count = things.length;
        this.numbers = new Map();
        for (const [i, { name }] of things.entries()) if (typeof name === "string" && !this.numbers.has(name)) this.numbers.set(name, i);
    }

    index(who, which) {
        if (typeof which !== "string") return wantIndex(who, which, this.count);
        if (!this.numbers.has(which)) throw new BoughError(`${who}: there is no "${which}"; there are ${[...this.numbers.keys()].map((name) => `"${name}"`).slice(0, 20).join(", ") || "no names"}`);
        return this.numbers.get(which);
    }
}

/** An instance of the library with its context. */
export class Library {
    #context;
    #system;
    #callbacks = new Map();
    #last = 0; // number of a callback
    #depth = 0; // of callbacks that go on
    #thrown; // by a callback of the call that goes on

    constructor(exports, system) {
        this.exports = exports;
        this.#system = system;
        const def = this.alloc(STRUCTS.bough_context_def.size);
        exports.bough_default_context_def(def);
        this.setField("bough_context_def", def, "thread_count", 1);
        this.#context = exports.bough_context_create(def);
        exports.free(def);
        if (!this.#context) throw this.#short();
    }

    // ---- calls ----

    text(at) {
        const bytes = new Uint8Array(this.exports.memory.buffer);
        return new TextDecoder().decode(bytes.slice(at, bytes.indexOf(0, at)));
    }

    fail(status) {
        const name = this.text(this.exports.bough_status_name(status));
        return new BoughError(this.text(this.exports.bough_message(this.#context)) || name, name, status > 0);
    }

    /** Calls a function that returns a status, with the context before the arguments. */
    call(name, ...values) {
        if (this.busy && !LOOKS.test(name)) throw new BoughError("a function that the library calls may look at things, but not change them");
        const status = this.exports[name](this.#context, ...values), thrown = this.#thrown;
        this.#thrown = undefined;
        if (thrown) throw thrown.error;
        if (status !== 0) throw this.fail(status);
    }

    /** The same with a function that returns nothing, or something else. */
    ask(name, ...values) {
        return this.exports[name](this.#context, ...values);
    }

    /** Calls a function whose last argument is where it puts the address of what it makes. */
    make(name, ...values) {
        return this.within((scope) => {
            const out = scope.alloc(POINTER);
            this.call(name, ...values, out);
            return this.array(Uint32Array, out, 1)[0];
        });
    }

    /** What a function puts into a struct, whose address is its last argument (or its first, of one that returns it). */
    taken(kind, use) {
        return this.within((scope) => {
            const at = scope.alloc(STRUCTS[kind].size);
            use(at);
            return this.read(kind, at);
        });
    }

    /** The same with doubles. */
    numbers(count, use) {
        return this.within((scope) => {
            const at = scope.alloc(8 * Math.max(count, 1));
            use(at);
            return Array.from(this.array(Float64Array, at, count));
        });
    }

    // ---- callbacks: an exception comes out of the call that led to it ----

    callback(use) {
        this.#callbacks.set(++this.#last, use);
        return this.#last;
    }

    forget(callback) {
        this.#callbacks.delete(callback);
    }

    /** Whether a callback goes on, which may need what would be disposed of. */
    get busy() {
        return this.#depth > 0;
    }

    #run(callback, use) {
        this.#depth++;
        try {
            if (!this.#thrown) return use(this.#callbacks.get(callback));
        } catch (error) {
            this.#thrown = { error };
        } finally {
            this.#depth--;
        }
        return undefined;
    }

    /** What motors are told, by rt.c. */
    driven(callback, motor, time, place, rate) {
        const told = this.#run(callback, (drive) => wantNumbers(`drive: motor ${motor}`, drive(motor, time), 2)) ?? [NaN, NaN];
        this.array(Float64Array, place, 1)[0] = told[0];
        this.array(Float64Array, rate, 1)[0] = told[1];
    }

    watched(callback) {
        return this.#run(callback, (watch) => watch()) ?? false;
    }

    // ---- memory ----

    #short() {
        return new BoughError("there is not enough memory", "out of memory");
    }

    alloc(size) {
        const at = this.exports.malloc(Math.max(size, 1));
        if (!at) throw this.#short();
        return at;
    }

    size(kind) {
        return STRUCTS[kind].size;
    }

    array(kind, at, count) {
        return new kind(this.exports.memory.buffer, at, count);
    }

    /** Bytes of JavaScript, for the time of a call. */
    withBytes(source, use) {
        const bytes = source instanceof ArrayBuffer ? new Uint8Array(source) : ArrayBuffer.isView(source) ? new Uint8Array(source.buffer, source.byteOffset, source.byteLength) : undefined;
        if (!bytes) throw new BoughError("the bytes of a file are wanted: an ArrayBuffer or a Uint8Array");
        return this.within((scope) => use(scope.copy(Uint8Array, bytes), bytes.length));
    }

    /** The bytes of a file that use(path) writes. */
    written(use) {
        const name = "/written";
        this.within((scope) => use(scope.text("path", name)));
        const { bytes, size } = this.#system.files.get(name);
        this.#system.files.delete(name);
        return bytes.slice(0, size);
    }

    /** Calls use(scope); all that was allocated in the scope is given back afterwards. */
    within(use) {
        const scope = new Scope(this);
        try {
            return use(scope);
        } finally {
            scope.end();
        }
    }

    // ---- structs ----

    #field(kind, name) {
        const field = STRUCTS[kind].fields[name];
        if (!field) throw new TypeError(`${kind} has no field ${name}`);
        return field;
    }

    /** Address of a field. */
    at(kind, address, name) {
        return address + this.#field(kind, name)[0];
    }

    /** A number, or the address that a pointer holds. */
    field(kind, address, name) {
        const [offset, type, , pointers] = this.#field(kind, name);
        return Number(this.array(pointers ? Uint32Array : (ARRAYS[type] ?? Int32Array), address + offset, 1)[0]);
    }

    setField(kind, address, name, value) {
        const [offset, type, , pointers] = this.#field(kind, name), array = pointers ? Uint32Array : (ARRAYS[type] ?? Int32Array);
        this.array(array, address + offset, 1)[0] = array === BigUint64Array ? BigInt(value) : value;
    }

    /** A struct as an object: numbers, arrays of numbers, words, texts; what else it points to is left out. */
    read(kind, address) {
        const found = {};
        for (const [name, [offset, type, count, pointers]] of Object.entries(STRUCTS[kind].fields)) {
            if (HIDDEN.has(name) || (pointers && type !== "char")) continue;
            const one = (at) => {
                if (pointers) {
                    const text = this.array(Uint32Array, at, 1)[0];
                    return text ? this.text(text) : "";
                }
                if (STRUCTS[type]) return this.read(type, at);
                const number = this.array(ARRAYS[type] ?? Int32Array, at, 1)[0];
                return ENUMS[type] ? ENUMS[type][number] : type === "_Bool" ? number !== 0 : Number(number);
            };
            const size = pointers ? POINTER : (STRUCTS[type]?.size ?? ARRAYS[type]?.BYTES_PER_ELEMENT ?? 4);
            found[camel(name)] = count ? Array.from({ length: count }, (_, i) => one(address + offset + i * size)) : one(address + offset);
        }
        return found;
    }
}

/** Arguments of a call in the library's memory, until end(). */
export class Scope {
    #blocks = [];
    owned = new Set(); // objects of the library that the arguments name: they must outlive what is made of them

    constructor(bough) {
        this.bough = bough;
    }

    end() {
        for (const block of this.#blocks.splice(0)) this.bough.exports.free(block);
    }

    alloc(size) {
        const at = this.bough.alloc(size);
        this.#blocks.push(at);
        this.bough.array(Uint8Array, at, size).fill(0);
        return at;
    }

    copy(kind, values) {
        const at = this.alloc(values.length * kind.BYTES_PER_ELEMENT);
        this.bough.array(kind, at, values.length).set(values);
        return at;
    }

    doubles(who, values, count) {
        return this.copy(Float64Array, wantNumbers(who, values, count));
    }

    text(who, text) {
        if (text === undefined || text === null) return 0;
        if (typeof text !== "string" || text.includes("\0")) throw new BoughError(`${who}: a text is wanted, not ${tell(text)}`);
        return this.copy(Uint8Array, new TextEncoder().encode(`${text}\0`));
    }

    /** A struct with its defaults, and values over them. */
    struct(kind, values, who = "") {
        return this.structs(kind, [values], () => who);
    }

    structs(kind, list, who) {
        const { size } = STRUCTS[kind], at = this.alloc(list.length * size);
        for (const [i, values] of list.entries()) {
            this.#defaults(kind, at + i * size);
            this.fill(kind, at + i * size, values, who(i));
        }
        return at;
    }

    // Those of the whole, or of the structs that it holds.
    #defaults(kind, at) {
        const make = this.bough.exports[kind.replace("bough_", "bough_default_")];
        if (make) make(at);
        else for (const [offset, type, count, pointers] of Object.values(STRUCTS[kind].fields)) if (STRUCTS[type] && !pointers && !count) this.#defaults(type, at + offset);
    }

    /** Keys are the names of the fields, written as in JavaScript. Lists of things set the fields that count them. */
    fill(kind, at, values, who) {
        const { fields } = STRUCTS[kind], counted = new Set(Object.keys(fields).map((name) => counterOf(fields, name)));
        const names = Object.keys(fields).filter((name) => !HIDDEN.has(name) && !counted.has(name));
        CHECKS[kind]?.(wantRecord(who || kind, values), who, this.bough);
        for (const [key, value] of Object.entries(wantRecord(who || kind, values))) {
            const name = snake(key), where = who ? `${who}: ${key}` : key;
            if (value === undefined) continue;
            const pose = ["pose", "frame"].find((one) => fields[one]?.[1] === "bough_pose");
            if (names.includes(name) && key === camel(name)) this.#set(kind, at, name, value, where);
            else if (pose && (name === "position" || name === "rotation")) this.fill("bough_pose", at + fields[pose][0], { [name]: value }, who);
            else throw new BoughError(`${who ? `${who}: ` : ""}there is no "${key}"; there are ${names.map(camel).join(", ")}`);
        }
    }

    #set(kind, at, name, value, who) {
        const [offset, type, count, pointers] = STRUCTS[kind].fields[name];
        if (pointers) this.#point(kind, at, name, value, who);
        else if (STRUCTS[type]) this.fill(type, at + offset, value, who);
        else if (count) {
            // One number of a joint, or a few, are those of its first coordinates; three of an inertia are its diagonal.
            const given = typeof value === "number" && kind === "bough_joint_def" ? [value] : value, length = isList(given) ? given.length : NaN;
            const few = kind === "bough_joint_def" && length < count, diagonal = name === "inertia" && length === 3;
            const list = wantNumbers(who, given, few || diagonal ? length : count), [x, y, z] = list, all = diagonal ? [x, 0, 0, 0, y, 0, 0, 0, z] : list;
            this.bough.array(ARRAYS[type], at + offset, all.length).set(all);
        } else this.bough.setField(kind, at, name, this.#number(type, value, who));
    }

    #number(type, value, who) {
        if (ENUMS[type]) {
            const word = typeof value === "string" ? value.toLowerCase() : value, number = ENUMS[type].indexOf(ALSO[type]?.[word] ?? word);
            if (number < 0) throw new BoughError(`${who}: there is no ${tell(value)}; there are ${ENUMS[type].join(", ")}`);
            return number;
        }
        if (type === "_Bool") {
            if (typeof value !== "boolean") throw new BoughError(`${who}: true or false is wanted, not ${tell(value)}`);
            return value ? 1 : 0;
        }
        if (type === "double") return wantNumber(who, value);
        const [least, most] = type === "int32_t" ? [-(2 ** 31), 2 ** 31 - 1] : [0, type === "uint32_t" ? 2 ** 32 - 1 : Number.MAX_SAFE_INTEGER];
        if (!Number.isInteger(value) || value < least || value > most) throw new BoughError(`${who}: a whole number is wanted, not ${tell(value)}`);
        return value;
    }

    #point(kind, at, name, value, who) {
        const { fields } = STRUCTS[kind], [, type, , pointers] = fields[name];
        if (value === null) return this.bough.setField(kind, at, name, 0);
        if (type === "char") return this.bough.setField(kind, at, name, this.text(who, value));
        if (value instanceof Owned || (pointers === 1 && !STRUCTS[type] && !ARRAYS[type])) return this.bough.setField(kind, at, name, this.#own(type, value, who));
        const counter = counterOf(fields, name);
        if (!isList(value) && /_def$/.test(type) && !counter) return this.bough.setField(kind, at, name, this.struct(type, value, who));
        const list = ARRAYS[type] ? (type === "_Bool" ? wantList(who, value).map((one, i) => this.#number(type, one, `${who}[${i}]`)) : wantNumbers(who, value)) : wantList(who, value);
        const row = ROWS[`${kind}.${name}`] ?? 1, each = (i) => `${who}[${i}]`;
        if (list.length % row !== 0) throw new BoughError(`${who}: ${row} numbers for each are wanted, not ${list.length} together`);
        if (counter) this.bough.setField(kind, at, counter, list.length / row);
        if (pointers === 2) this.bough.setField(kind, at, name, this.copy(Uint32Array, list.map((one, i) => this.#own(type, one, each(i)))));
        else this.bough.setField(kind, at, name, ARRAYS[type] ? this.copy(ARRAYS[type], list) : this.structs(type, list, each));
    }

    #own(type, value, who) {
        if (!(value instanceof Owned) || value.type !== type) throw new BoughError(`${who}: a ${type.replace("bough_", "").replaceAll("_", " ")} is wanted, not ${tell(value)}`);
        if (value.bough !== this.bough) throw new BoughError(`${who}: this belongs to another instance of the library`);
        this.owned.add(value);
        return value.live();
    }
}

// Something in the memory of an instance, until dispose() is called.
export class Owned {
    #address;
    #destroy;
    #views = new Map();

    // destroy: the name of a function of the library, or what to call; needs: what it uses as long as it lives
    constructor(bough, address, destroy, needs = []) {
        this.bough = bough;
        this.#address = address;
        this.#destroy = destroy;
        this.needs = new Set(needs);
    }

    live() {
        if (!this.#address) throw new BoughError(`this ${this.constructor.name} was disposed of`);
        for (const one of this.needs) one.live();
        return this.#address;
    }

    dispose() {
        if (this.#address && this.bough.busy) throw new BoughError("nothing can be disposed of while the library works: a callback goes on");
        if (this.#address) typeof this.#destroy === "string" ? this.bough.ask(this.#destroy, this.#address) : this.#destroy(this.#address);
        this.#address = 0;
    }

    // An array that is a view of the instance's memory: made anew where that has grown.
    view(kind, key, address, count) {
        const { buffer } = this.bough.exports.memory, known = this.#views.get(key);
        if (known && known.buffer === buffer && known.byteOffset === address && known.length === count) return known;
        const made = new kind(buffer, address, count);
        this.#views.set(key, made);
        return made;
    }
}
if (Symbol.dispose)
    Owned.prototype[Symbol.dispose] = function () {
        this.dispose();
    };

/** A state, or something else whose struct has arrays to look at: `type` is the name of the struct. */
export class Struct extends Owned {
    // A field that is an array, or that points to one.
    doubles(name, count) {
        const [offset, , , pointers] = STRUCTS[this.type].fields[name], at = this.live();
        return this.view(Float64Array, name, pointers ? this.bough.field(this.type, at, name) : at + offset, count);
    }

    number(name) {
        return this.bough.field(this.type, this.live(), name);
    }
}
