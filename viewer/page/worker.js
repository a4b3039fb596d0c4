// The engine of a page that has no program behind it: steps the scene sixty times a second, and says what a program would
// say through its socket. wasm/page.c has the functions that it calls.

import { System } from "./wasi.js";

const TICK = 1000 / 60; // ms

let engine; // what the program exports
let last = "";

const bytesAt = (at, size) => new Uint8Array(engine.memory.buffer, at, size);

function textAt(at) {
    const all = new Uint8Array(engine.memory.buffer, at);
    return new TextDecoder().decode(all.slice(0, all.indexOf(0)));
}

// Calls use(address, size) with the text in the program's memory, a zero behind it.
function withText(text, use) {
    const bytes = new TextEncoder().encode(`${text}\0`), at = engine.bough_page_alloc(bytes.length);
    bytesAt(at, bytes.length).set(bytes);
    const result = use(at, bytes.length - 1);
    engine.bough_page_free(at);
    return result;
}

function sendWhatWaits() {
    for (let kind; (kind = engine.bough_page_next()) !== 0;) {
        const bytes = bytesAt(engine.bough_page_bytes(), engine.bough_page_size());
        if (kind === 1) {
            postMessage({ data: new TextDecoder().decode(bytes) });
            continue;
        }
        const copy = bytes.slice().buffer;
        postMessage({ data: copy }, [copy]);
    }
}

function fail(error) {
    const said = last.trim();
    postMessage({ state: "refused", sentence: `The engine of this page has stopped: ${said || error.message || error}.` });
}

function tick() {
    const start = performance.now();
    try {
        engine.bough_page_tick();
        sendWhatWaits();
    } catch (error) {
        fail(error);
        return;
    }
    setTimeout(tick, Math.max(0, TICK - (performance.now() - start)));
}

async function begin({ program, files, scene, paused }) {
    const system = new System(files, (text) => (last = text));
    const { instance } = await WebAssembly.instantiate(program, { wasi_snapshot_preview1: system.imports });
    engine = instance.exports;
    system.attach(engine.memory);
    engine._initialize();
    if (withText(scene, (at) => engine.bough_page_open(at, paused ? 1 : 0)) !== 0) throw new Error(textAt(engine.bough_page_message()));
    postMessage({ state: "open", sentence: "Runs in this page" });
    tick();
}

onmessage = ({ data }) => {
    if (data.begin) begin(data.begin).catch(fail);
    else if (engine) withText(data.say, (at, size) => engine.bough_page_say(at, size));
};
