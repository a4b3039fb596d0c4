// node run_tests.mjs FOLDER [WORD]: runs the tests of the runtime that were built as WebAssembly, each in a memory of its
// own, and closes with "N passed, N failed". WORD: only programs with it in their names.

import { spawn } from "node:child_process";
import { readdirSync, readFileSync } from "node:fs";
import { availableParallelism } from "node:os";
import { basename, join } from "node:path";
import { fileURLToPath } from "node:url";

const PASSED = 0, SKIPPED = 77; // as in cmocka.h
const self = fileURLToPath(import.meta.url);

async function runOne(module, WASI, number) {
    const env = { BOUGH_LONG: process.env.BOUGH_LONG ?? "0", ...(number === null ? {} : { BOUGH_TEST: String(number) }) };
    const wasi = new WASI({ version: "preview1", args: ["test"], env, preopens: { "/": "/" }, returnOnExit: true });
    try {
        return wasi.start(await WebAssembly.instantiate(module, { wasi_snapshot_preview1: wasi.wasiImport }));
    } catch (error) {
        console.log(String(error));
        return 1;
    }
}

// In a process of its own: lists the tests on its standard output, or runs one after the other.
async function runProgram(path, count) {
    const { WASI } = await import("node:wasi");
    const module = await WebAssembly.compile(readFileSync(path));
    const results = [];
    if (count === undefined) await runOne(module, WASI, null);
    for (let i = 0; i < count; i++) results.push(await runOne(module, WASI, i));
    if (count !== undefined) console.log(`\nresults ${results.join(" ")}`); // what was printed may have no end of line
}

function start(args) {
    return new Promise((done) => {
        const child = spawn(process.execPath, ["--no-warnings", self, ...args], { stdio: ["ignore", "pipe", "inherit"] });
        let text = "";
        child.stdout.on("data", (data) => (text += data));
        child.on("close", () => done(text));
    });
}

async function runAll(folder, word) {
    const programs = readdirSync(folder).filter((name) => /^[a-z]+_\w+\.wasm$/.test(name) && name.includes(word ?? "")).sort();
    let passed = 0, failed = 0, skipped = 0;
    const one = async () => {
        for (let name; (name = programs.shift());) {
            const path = join(folder, name), names = (await start(["--program", path])).trim().split("\n");
            const text = await start(["--program", path, String(names.length)]);
            const results = text.match(/^results (.*)$/m)?.[1].split(" ").map(Number) ?? names.map(() => 1);
            const bad = names.filter((_, i) => results[i] !== PASSED && results[i] !== SKIPPED);
            passed += results.filter((r) => r === PASSED).length;
            skipped += results.filter((r) => r === SKIPPED).length;
            failed += bad.length;
            if (bad.length) console.log(`${basename(name, ".wasm")}: ${bad.join(", ")} failed\n${text.replace(/^results .*$/m, "")}`);
        }
    };
    await Promise.all(Array.from({ length: availableParallelism() }, one));
    if (passed + failed === 0) console.log("no test was run");
    console.log(`${passed} passed, ${failed} failed${skipped ? `, ${skipped} skipped` : ""}`);
    process.exit(failed > 0 || passed === 0 ? 1 : 0);
}

const [first, ...rest] = process.argv.slice(2);
if (first === "--program") await runProgram(rest[0], rest[1] === undefined ? undefined : Number(rest[1]));
else await runAll(first, rest[0]);
