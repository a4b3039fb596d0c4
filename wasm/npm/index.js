// Bough's runtime library as WebAssembly. README.md shows it at work, index.d.ts says what there is.

import { createWorld } from "./contact.js";
import { createMechanism } from "./mechanism.js";
import { BoughError, Library, wantRecord } from "./memory.js";
import { createMultibody } from "./multibody.js";
import { Component, Curve, ShapeMesh, shapeSurface, weigh } from "./rig.js";
import { createTree, TreeModel, TreeRecording } from "./tree.js";
import { System } from "./wasi.js";

export { Actor, World } from "./contact.js";
export { Mechanism, MechanismState } from "./mechanism.js";
export { BoughError } from "./memory.js";
export { Multibody, MultibodyState } from "./multibody.js";
export { Component, Curve, ShapeMesh } from "./rig.js";
export { TreeModel, TreeRecording, TreeState } from "./tree.js";

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
    let bough;
    const instance = await WebAssembly.instantiate(module, {
        wasi_snapshot_preview1: system.imports,
        bough: { drive: (...values) => bough.driven(...values), watch: (callback) => bough.watched(callback) },
    });
    system.attach(instance.exports.memory);
    instance.exports._initialize?.();
    bough = new Bough(instance.exports, system);
    return bough;
}

class Bough extends Library {
    get version() {
        return this.text(this.exports.bough_version());
    }

    #read(name, bytes) {
        return this.withBytes(bytes, (at, size) => this.make(name, at, size));
    }

    /** A component that `bough cook` wrote. */
    readComponent(bytes) {
        return new Component(this, this.#read("bough_component_read", bytes));
    }
    /** A model that `bough pack` wrote, with all of its components. */
    readPack(bytes) {
        return new TreeModel(this, this.#read("bough_tree_model_read", bytes));
    }
    /** What was recorded of a tree. */
    readRecording(bytes) {
        return new TreeRecording(this, this.#read("bough_tree_log_read", bytes));
    }

    createTree(definition) {
        return createTree(this, wantRecord("definition", definition));
    }
    createMechanism(definition) {
        return createMechanism(this, wantRecord("definition", definition));
    }
    createMultibody(definition) {
        return createMultibody(this, wantRecord("definition", definition));
    }
    createWorld(definition = {}) {
        return createWorld(this, wantRecord("definition", definition));
    }
    createCurve(definition) {
        return new Curve(this, wantRecord("definition", definition));
    }
    createShapeMesh(definition) {
        return new ShapeMesh(this, wantRecord("definition", definition));
    }
    shapeSurface(shape) {
        return shapeSurface(this, wantRecord("shape", shape));
    }
    weigh(shapes, density) {
        return weigh(this, shapes, density);
    }
}
