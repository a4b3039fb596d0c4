// What the tests of the package share. BOUGH_NPM: the package; BOUGH_PROGRAM: a program that cooks and packs;
// BOUGH_NATIVE: a folder of programs with BOUGH_PORTABLE_BITS, which step the same as the tests.

import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after } from "node:test";
import { fileURLToPath, pathToFileURL } from "node:url";

export const here = fileURLToPath(new URL(".", import.meta.url));
export const folder = process.env.BOUGH_NPM ?? join(here, "../../../build/wasm/npm");
export const { BoughError, load } = await import(pathToFileURL(join(folder, "index.js")).href);
const { BOUGH_PROGRAM: program, BOUGH_NATIVE: native } = process.env;

/** What a native program prints, a number a line; and why a test that compares with it is skipped. */
export const compared = (name, ...words) => execFileSync(join(native, name), words, { encoding: "utf8" }).trim().split(/\s+/).map(Number);
export const without = (name) => (native && existsSync(join(native, name)) ? false : "there is no native program to compare with");

// A bar of 10 kg along x, 1 m long; none of its energy is lost.
export const bar = { mesh: { generate: "box", type: "hex8", size: [1, 0.1, 0.1], cells: [8, 1, 1] }, basis: { r: 6 }, material: { young: 1e7, poisson: 0.3, density: 1000 },
    damping: { stiffness: 0 }, samples: { contact: 60 }, interfaces: { base: { select: "x0" }, tip: { select: "x1" } } };

/** Packs a scene, and cooks its components: the paths of the pack and of the components' folder. */
export function packed(scene) {
    const work = mkdtempSync(join(tmpdir(), "bough-rt-")), path = join(work, "scene.pack");
    after(() => rmSync(work, { recursive: true, force: true }));
    writeFileSync(join(work, "scene.json"), JSON.stringify({ bough: 1, name: "test", gravity: [0, 0, -9.81], time: { dt: 0.004, duration: 1 }, ...scene }));
    execFileSync(program, ["pack", join(work, "scene.json"), "-o", path], { stdio: "pipe" });
    return { work, path, cooked: (name) => readFileSync(join(work, "scene.cooked", `${name}.bough`)) };
}

export const refuses = (what, sentence) => assert.throws(what, (error) => error instanceof BoughError && sentence.test(error.message), String(sentence));

export const near = (is, wanted, within) => assert.ok(Math.abs(is - wanted) <= within, `${is} should be ${wanted}, within ${within}`);

/** Turns about an axis of the world, row by row. */
export const turned = (axis, angle) => {
    const c = Math.cos(angle), s = Math.sin(angle);
    return { x: [1, 0, 0, 0, c, -s, 0, s, c], y: [c, 0, s, 0, 1, 0, -s, 0, c], z: [c, -s, 0, s, c, 0, 0, 0, 1] }[axis];
};
