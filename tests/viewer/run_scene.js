// node run_scene.js PROGRAM.wasm SCENE STEPS: tests/run/run_scene.c as WebAssembly in Chromium, on a scene that was cooked
// before. Prints what the program prints; tools/check_wasm.sh --scene compares it.

import { readdirSync, readFileSync } from "node:fs";
import { createServer } from "node:http";
import { dirname, join, resolve } from "node:path";
import { startBrowser } from "./session.js";

const [program, scene, steps] = process.argv.slice(2);
const folder = dirname(resolve(scene));
const names = readdirSync(folder, { recursive: true, withFileTypes: true }).filter((entry) => entry.isFile()).map((entry) => join(entry.parentPath ?? entry.path, entry.name));

// In the page's worker: steps the scene, and posts what was printed.
async function work({ data: { names, words } }) {
    const { System } = await import("/wasi.js");
    const bytesOf = async (url) => new Uint8Array(await (await fetch(url)).arrayBuffer());
    const files = new Map();
    for (const name of names) files.set(name, await bytesOf(`/files${name}`));
    let text = "";
    const system = new System(files, (some) => (text += some));
    const bytes = words.map((word) => new TextEncoder().encode(`${word}\0`)), size = bytes.reduce((sum, { length }) => sum + length, 0);
    const view = () => new DataView(instance.exports.memory.buffer);
    const imports = Object.assign(Object.create(system.imports), {
        args_sizes_get: (count, total) => (view().setUint32(count, words.length, true), view().setUint32(total, size, true), 0),
        args_get: (list, at) => {
            for (const [i, word] of bytes.entries()) {
                view().setUint32(list + 4 * i, at, true);
                new Uint8Array(instance.exports.memory.buffer, at, word.length).set(word);
                at += word.length;
            }
            return 0;
        },
    });
    const { instance } = await WebAssembly.instantiate(await bytesOf("/program.wasm"), { wasi_snapshot_preview1: imports });
    system.attach(instance.exports.memory);
    let ended = "";
    try {
        instance.exports._start();
    } catch (error) {
        ended = `${error.message}\n`;
    }
    postMessage({ text, ended });
}

const served = { "/wasi.js": new URL("../../viewer/page/wasi.js", import.meta.url), "/program.wasm": program };
const types = { ".js": "text/javascript", "asm": "application/wasm" };
const server = createServer(({ url }, answer) => {
    const name = decodeURIComponent(url);
    const file = name.startsWith("/files") && names.includes(name.slice(6)) ? name.slice(6) : served[name];
    answer.setHeader("Content-Type", types[name.slice(-3)] ?? "text/html");
    answer.setHeader("Cross-Origin-Opener-Policy", "same-origin"); // or clocks would be rounded to 0.1 ms
    answer.setHeader("Cross-Origin-Embedder-Policy", "require-corp");
    answer.end(name === "/worker.js" ? `onmessage = ${work};` : file ? readFileSync(file) : "<!doctype html>");
});
await new Promise((done) => server.listen(0, "127.0.0.1", done));
const browser = await startBrowser();
try {
    const page = await browser.newPage();
    await page.goto(`http://127.0.0.1:${server.address().port}/`);
    const { text, ended } = await page.evaluate((job) => new Promise((done, fail) => {
        const worker = new Worker("/worker.js", { type: "module" });
        worker.onerror = (event) => fail(new Error(event.message));
        worker.onmessage = ({ data }) => done(data);
        worker.postMessage(job);
    }), { names, words: ["run_scene", resolve(scene), steps] });
    const took = /^.* us a step; the fastest .*\n/m;
    process.stdout.write(text.replace(took, ""));
    process.stderr.write((text.match(took) ?? [""])[0] + ended);
    process.exitCode = took.test(text) ? 0 : 1;
} finally {
    await browser.close();
    server.close();
}
