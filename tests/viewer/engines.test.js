// Both engines on the page: what the volume meshes look like, what a picked body tells, and what can be recorded of it.

import assert from "node:assert/strict";
import { cpSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { readPng } from "./picture.js";
import { WAIT, atRest, drawn, makeCooked, makeFolder, openPage, removeFolder, startBrowser, startView, yTree } from "./session.js";

let folder, browser, view, page;

before(async () => {
    folder = makeFolder();
    makeCooked(join(folder, "y-tree"), yTree);
    cpSync(new URL("../../examples/beam", import.meta.url), join(folder, "beam"), { recursive: true });
    browser = await startBrowser();
});

after(async () => {
    await browser?.close();
    await view?.stop();
    if (folder) removeFolder(folder);
});

async function open(name, options) {
    await page?.close();
    await view?.stop();
    view = await startView(join(folder, name, "scene.json"));
    page = await openPage(browser, view.url, options);
    await page.getByText("Method", { exact: true }).click();
    await until(() => window.bough?.drawn > 2 && bough.time > 0.02);
}

const look = (what, ...args) => page.evaluate(what, ...args);
const until = (what, arg) => page.waitForFunction(what, arg, { timeout: WAIT, polling: 50 });
const control = (name) => page.getByLabel(name, { exact: true });
const button = (name) => page.getByRole("button", { name, exact: true });

async function wires(of) {
    await control("Wireframe").selectOption(of);
    await drawn(page);
    return look(() => bough.lines);
}

// How far the GPU has the vertices inside the volumes from where frames and coordinates say.
const innerError = () => look(() => {
    let most = 0, count = 0;
    for (let part = 0; part < bough.partCount(); part++)
        for (let i = 0; i < bough.innerCount(part); i += 97, count++) {
            const vertex = bough.vertexCount(part) + i;
            const a = bough.drawnPosition(part, vertex), b = bough.vertexPosition(part, vertex);
            most = Math.max(most, Math.hypot(...a.map((x, c) => x - b[c])));
        }
    return { most, count };
});

test("parts show the edges of their volume meshes, not of their surfaces only", async () => {
    await open("y-tree");
    await button("Pause").click();
    await until(() => bough.settings.paused);
    const surface = await wires("surface"), volume = await wires("volume");
    // Hexahedra of 0.1 m cubes: each of 2,168 has 12 edges, of which up to four share one.
    assert.ok(volume > 2168 * 3 && volume < 2168 * 12, `${volume} edges of the volume`);
    // Squares of the surface are cut into triangles there, and not in the volume.
    assert.ok(surface > 3000 && surface !== volume, `${surface} edges of the surface`);
    const { most, count } = await innerError();
    assert.ok(count > 5 && most < 1e-5, `${most} m of ${count}`);
    assert.equal(await wires("none"), 0);
    // Vertices that are sent, as C1 surfaces are, come with those inside.
    await control("Continuity").selectOption("C1");
    await until(() => bough.settings.continuity === "C1");
    assert.equal(await wires("volume"), volume);
    const sent = await innerError();
    assert.ok(sent.count === count && sent.most < 1e-5, `${sent.most} m of ${sent.count}`);
    await wires("none");
    await control("Continuity").selectOption("C0");
    await until(() => bough.settings.continuity === "C0");
    assert.deepEqual(await look(() => bough.notes), []);
});

test("the distance of a ghost is a number, also between engines with other meshes", async () => {
    await control("Ghost").selectOption({ label: "full FEM" });
    await until(() => bough.layerCount === 2 && bough.settings.paused);
    await until(() => bough.notes.some((text) => /time is 0 again/.test(text)));
    // a step of the full body takes its time on a busy machine, and keys that come meanwhile may be one step
    for (let i = 0; i < 100 && !(await look(() => bough.ghost?.time > 0.035)); i++) {
        await page.keyboard.press(".");
        await page.waitForTimeout(100);
    }
    await until(() => bough.ghost?.time > 0.035);
    const { largest, rms, size } = await look(() => bough.ghost);
    assert.ok(largest >= rms && rms > 0 && largest < 0.01 * size && Math.abs(size - 2.8) < 0.4, JSON.stringify({ largest, rms, size }));
    await until(() => /[µm]?m \([\d.e-]+ % of size\)/.test(document.querySelector("[aria-label='Distance of the ghost']").textContent));
    assert.ok((await look(() => bough.plots.latest["Ghost's distance"].points)) > 0);
    await control("Ghost").selectOption({ label: "none" });
    await until(() => bough.layerCount === 1);
});

test("the body of the full engine shows every edge of its elements", async () => {
    await open("beam", { deviceScaleFactor: 1 }); // pixels are looked at
    // 32 x 4 x 4 cells of five tetrahedra: the edges of the grid, and one diagonal of each of its faces.
    const grid = 32 * 5 * 5 + 2 * 33 * 5 * 4, diagonals = 2 * 32 * 4 * 5 + 33 * 4 * 4;
    assert.equal(await wires("volume"), grid + diagonals);
    assert.equal(await look(() => bough.innerCount(0)), 31 * 3 * 3);
    await button("Pause").click();
    await atRest(page);
    const { most, count } = await innerError();
    assert.ok(count > 2 && most < 1e-5, `${most} m`);
    assert.equal(await wires("surface"), 1088 * 1.5);
    await wires("none");
    assert.deepEqual(page.errors, []);
});

test("the beam has sharp edges: where it is straight, normals stand on its faces", async () => {
    await button("Reset").click(); // at the start it is a box
    await until(() => bough.time === 0);
    await atRest(page);
    const normals = await look(() => bough.drawnNormals(0));
    assert.equal(normals.length, 3 * 1088);
    const faces = new Set();
    normals.forEach((n, corner) => {
        const [, , c] = n.map((x, i) => [Math.abs(x), x, i]).sort((a, b) => b[0] - a[0])[0];
        assert.ok(Math.abs(n[c]) > 0.999, `the normal ${n} lies between two faces`);
        const first = normals[corner - (corner % 3)];
        assert.ok(n[c] * first[c] > 0.99, `one corner of a triangle has the normal ${first}, another ${n}`);
        faces.add(`${Math.sign(n[c])}${"xyz"[c]}`);
    });
    assert.equal(faces.size, 6);
});

test("stress is a field over the body, with a legend", async () => {
    for (let time = await look(() => bough.numbers.time); time < 0.115; time = await look(() => bough.numbers.time)) { // it falls, until it is bent
        await page.keyboard.press(".");
        await until((time) => bough.numbers.time > time, time);
    }
    await control("Colour").selectOption("stress");
    await until(() => bough.colour.whole > 0 && bough.vertexValue(0, 0) !== null);
    const values = await look(() => [...Array(bough.vertexCount(0)).keys()].map((v) => ({ x: bough.restPosition(0, v)[0], stress: bough.vertexValue(0, v) })));
    const most = (low, high) => Math.max(...values.filter(({ x }) => x >= low && x <= high).map(({ stress }) => stress));
    assert.ok(most(0, 0.05) > 1.3 * most(0.2, 0.25), "clamped beams are bent most at their ends, and least at a quarter");
    assert.ok(new Set(values.map(({ stress }) => stress.toPrecision(3))).size > 100, "many values");
    assert.match(await page.getByLabel("Legend").textContent(), /[kM]?Pa$/);
    // Where the beam can be seen, with nothing else near, it is blue where there is little stress, and green to yellow where there is most.
    await page.keyboard.press("\\"); // without panels
    const spots = await look(() => {
        const found = [], around = [[0, 0], [3, 0], [-3, 0], [0, 3], [0, -3]];
        for (let vertex = 0; vertex < bough.vertexCount(0); vertex++) {
            const [x, y] = bough.project(bough.vertexPosition(0, vertex))?.map(Math.round) ?? [-9, -9];
            if (bough.at(x, y)?.vertex === vertex && around.every(([dx, dy]) => document.elementFromPoint(x + dx, y + dy)?.id === "picture" && bough.at(x + dx, y + dy)))
                found.push({ x, y, share: bough.vertexValue(0, vertex) / bough.colour.whole });
        }
        return found.sort((a, b) => a.share - b.share);
    });
    const { width, channels, pixels } = readPng(await page.screenshot());
    await page.keyboard.press("\\");
    const hues = spots.map(({ x, y }) => {
        const [, g, b] = pixels.subarray(channels * (y * width + x));
        return (g - b) / (g + b);
    });
    const mean = (numbers) => numbers.reduce((sum, number) => sum + number, 0) / numbers.length, few = Math.floor(spots.length / 10);
    assert.ok(few >= 3, `${spots.length} vertices can be seen`);
    assert.ok(mean(hues.slice(0, few)) < -0.2 && mean(hues.slice(-few)) > 0.2, JSON.stringify({ low: hues.slice(0, few), high: hues.slice(-few) }));
    await control("Colour").selectOption("natural");
});

test("a picked body tells what it is and how it is there", async () => {
    const spot = await look(() => {
        for (let vertex = 0; vertex < bough.vertexCount(0); vertex++) {
            const pixel = bough.project(bough.vertexPosition(0, vertex));
            const hit = pixel && document.elementFromPoint(...pixel)?.id === "picture" && bough.at(...pixel);
            if (hit && Math.abs(bough.vertexPosition(0, hit.vertex)[0] - 0.5) < 0.1) return pixel;
        }
        return null;
    });
    assert.ok(spot, "the middle of the beam cannot be seen");
    await page.mouse.click(...spot);
    await until(() => bough.picked?.position);
    const picked = await look(() => bough.picked);
    assert.equal(picked.elements, 32 * 4 * 4 * 5);
    assert.equal(picked.vertices, 33 * 5 * 5);
    assert.ok(Math.abs(picked.mass - 0.125 * 0.125 * 1000) < 1e-6, `${picked.mass} kg`);
    assert.ok(picked.stress > 0 && Math.abs(picked.position[0] - 0.5) < 0.15);
    // The vertex has coordinates that can be copied into a file.
    const own = await look(() => bough.restPosition(0, bough.pointed));
    const read = async (name) => (await page.getByLabel(name, { exact: true }).textContent()).split(", ").map(Number);
    (await read("At rest")).forEach((x, c) => assert.ok(Math.abs(x - own[c]) < 1e-5));
    await page.context().grantPermissions(["clipboard-read", "clipboard-write"]);
    await button("Copy coordinates").click();
    await until(() => bough.notes.some((note) => note.startsWith("Copied")));
    const copied = JSON.parse(await look(() => navigator.clipboard.readText()));
    copied.forEach((x, c) => assert.ok(Math.abs(x - own[c]) < 1e-5, `${copied} is not ${own}`));
    const panel = await page.getByLabel("Part and plots").textContent();
    for (const text of ["2,560 tet4 elements", "825 vertices", "15.6 kg", "Pa (von Mises)", " m"]) assert.ok(panel.includes(text), `the panel lacks "${text}": ${panel.slice(0, 200)}`);
    await button("Play").click();
    // It moves, and so does what is told of it.
    await until((z) => Math.abs(bough.picked.position[2] - z) > 1e-4, picked.position[2]);
    await button("Pause").click();
    await page.keyboard.press("Escape");
    assert.equal(await look(() => bough.picked), null);
    assert.deepEqual(await look(() => bough.notes.filter((note) => !/taken in parts|^Copied/.test(note))), []);
});

test("a body is recorded as a film of its vertices", async () => {
    await button("Reset").click(); // its first steps are the easy ones
    await until(() => bough.numbers.time === 0);
    await button("Record").click();
    await until(() => bough.settings.recording);
    await button("Play").click();
    await until(() => bough.numbers.time > 0.15);
    await button("Stop recording").click();
    const links = page.getByLabel("Recordings").getByRole("link");
    await links.nth(1).waitFor({ timeout: WAIT });
    const names = await links.allTextContents();
    const name = names.find((name) => name.endsWith(".glb"));
    const [download] = await Promise.all([page.waitForEvent("download"), links.filter({ hasText: name }).click()]);
    const bytes = readFileSync(await download.path());
    const json = JSON.parse(bytes.subarray(20, 20 + bytes.readUInt32LE(12)).toString());
    const targets = json.meshes[0].primitives[0].targets.length;
    assert.ok(targets >= 2 && json.animations.length === 1, `${targets} frames after the first`);
    assert.equal(json.accessors[json.meshes[0].primitives[0].attributes.POSITION].count, 546);
    assert.deepEqual(page.errors, []);
});
