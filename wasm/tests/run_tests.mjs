// node run_tests.mjs FOLDER [WORD]: runs the tests of the runtime that were built as WebAssembly, each in a memory of its
// own, and closes with "N passed, N failed". WORD: only programs with it in their names.

import { spawn } from "node:child_process";
import { readdirSync, readFileSync } from "node:fs";
import { availableParallelism } from "node:os";
import { basename, join } from "node:path";
import { fileURLToPath } from "node:url";

const PASSED = 0, SKIPPED = 77; // as in cmocka.h
const self = fileURLToPath(import.meta.url);

// In a process of its own, since a second memory in one may end node: lists the tests, or runs one.
async function runProgram(path, number, ...words) {
    const { WASI } = await import("node:wasi");
    const module = await WebAssembly.compile(readFileSync(path));
    const env = { BOUGH_LONG: process.env.BOUGH_LONG ?? "0", ...(number === undefined || words.length > 0 ? {} : { BOUGH_TEST: number }) };
    const wasi = new WASI({ version: "preview1", args: ["test", ...words], env, preopens: { "/": "/" }, returnOnExit: true });
    process.exitCode = wasi.start(await WebAssembly.instantiate(module, { wasi_snapshot_preview1: wasi.wasiImport }));
}

// By the first of V8's two compilers alone: most tests end before the second one is done, and with that one at work node
// does not always end well.
function start(args) {
    return new Promise((done) => {
        const child = spawn(process.execPath, ["--no-warnings", "--liftoff-only", self, "--program", ...args], { stdio: ["ignore", "pipe", "pipe"] });
        let text = "";
        for (const stream of [child.stdout, child.stderr]) stream.on("data", (data) => (text += data));
        child.on("close", (code) => done({ text, code }));
    });
}

async function runAll(folder, word) {
    const programs = readdirSync(folder).filter((name) => /^[a-z]+_\w+\.wasm$/.test(name) && name !== "run_scene.wasm" && name.includes(word ?? "")).sort();
    const counts = { passed: 0, failed: 0, skipped: 0 };
    const one = async () => {
        for (let program; (program = programs.shift());) {
            const path = join(folder, program), list = await start([path]);
            const names = list.code === PASSED ? list.text.trim().split("\n") : ["the list of tests"];
            for (const [i, name] of names.entries()) {
                const { text, code } = await start([path, String(i)]);
                counts[code === PASSED ? "passed" : code === SKIPPED ? "skipped" : "failed"]++;
                if (code !== PASSED && code !== SKIPPED) console.log(`${basename(program, ".wasm")}: ${name} failed\n${text}`);
            }
        }
    };
    await Promise.all(Array.from({ length: availableParallelism() }, one));
    const { passed, failed, skipped } = counts;
    if (passed + failed === 0) console.log("no test was run");
    console.log(`${passed} passed, ${failed} failed${skipped ? `, ${skipped} skipped` : ""}`);
    process.exit(failed > 0 || passed === 0 ? 1 : 0);
}

const [first, ...rest] = process.argv.slice(2);
if (first === "--program") await runProgram(...rest);
else await runAll(first, rest[0]);
