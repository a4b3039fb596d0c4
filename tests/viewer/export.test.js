// A page that `bough export` wrote: opened from the disk, without a server, it steps the scene by itself.

import assert from "node:assert/strict";
import { existsSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { after, before, test } from "node:test";
import { pathToFileURL } from "node:url";
import { WAIT, bough, complaints, makeFolder, openPage, removeFolder, startBrowser } from "./session.js";

const engine = join(dirname(process.env.BOUGH_PROGRAM), "wasm", "page.wasm");
const skip = existsSync(engine) ? false : "the engine for browsers was not built; ./bough export builds it";
const STEPS = 20;

// A bar of two parts, held at one end, that swings.
const scene = {
    bough: 1, name: "swing", gravity: [0, 0, -9.81], time: { dt: 0.005, duration: 1 },
    components: { bar: {
        mesh: { generate: "box", type: "hex8", size: [1, 0.1, 0.1], cells: [8, 1, 1] }, basis: { r: 8 },
        material: { young: 1e7, poisson: 0.3, density: 1000 }, damping: { stiffness: 0.002 },
        interfaces: { base: { select: "x0" }, tip: { select: "x1" } },
    } },
    parts: [{ name: "upper", component: "bar", fix: "base" }, { name: "lower", component: "bar", parent: "upper", interface: "tip" }],
    probes: [{ name: "end", part: "lower", nearest: [2, 0, 0] }],
};

let folder, browser, page, path, told;

before(async () => {
    if (skip) return;
    folder = makeFolder();
    path = join(folder, "scene.json");
    writeFileSync(path, JSON.stringify(scene));
    told = JSON.parse(bough("export", path, "--html", join(folder, "swing.html"), "--paused", "--json"));
    browser = await startBrowser();
    page = await openPage(browser, pathToFileURL(join(folder, "swing.html")).href, { viewport: { width: 1400, height: 560 } }); // beside the panels
    await page.waitForFunction(() => globalThis.bough?.layerCount > 0 && bough.numbers && bough.settings.paused, null, { timeout: WAIT });
});
after(async () => {
    await browser?.close();
    if (folder) removeFolder(folder);
});

test("the page is one file of some megabytes, and asks for no other", { skip }, async () => {
    assert.ok(statSync(join(folder, "swing.html")).size < 5e6);
    assert.doesNotMatch(readFileSync(join(folder, "swing.html"), "utf8").slice(0, 5000), /src=|href="(?!data:)/);
    assert.deepEqual(page.errors, []);
});

test("the page brings its components cooked", { skip }, () => {
    assert.equal(told.scene_files, 2); // the scene, and the bar of which both parts are
});

test("what there is to warn of is said once", { skip }, () => {
    const { bar } = scene.components, flying = join(folder, "flying.json");
    const parts = [{ name: "stone", component: "bar", flies: true }];
    writeFileSync(flying, JSON.stringify({ ...scene, probes: [], components: { bar: { ...bar, interfaces: { tip: bar.interfaces.tip } } }, parts }));
    assert.equal(complaints("export", flying, "--html", join(folder, "flying.html")).match(/warning: /g)?.length, 1);
});

const button = (name) => page.getByRole("button", { name, exact: true });

test("it steps as the program does", { skip }, async () => {
    for (let i = 0; i < STEPS; i++) await button("Step").click();
    const end = STEPS * scene.time.dt;
    await page.waitForFunction((time) => Math.abs(bough.numbers.time - time) < 1e-9, end, { timeout: WAIT });
    const { columns, values } = await page.evaluate(() => ({ columns: bough.columns, values: bough.numbers.values }));
    bough("run", path, "--time", String(end), "--record", join(folder, "swing.csv"));
    const rows = readFileSync(join(folder, "swing.csv"), "utf8").trim().split("\n"), names = rows[0].split(",");
    const wanted = Number(rows.at(-1).split(",")[names.indexOf("end.uz")]), found = values[columns.indexOf("end.uz")];
    assert.ok(wanted < -0.01 && Math.abs(found - wanted) < 1e-7, `${found} should be ${wanted}`);
});

test("a part is pulled in it, and cut off", { skip }, async () => {
    // The middle of its vertices, which is inside of it; paused, so that it is there when the mouse comes.
    const pixel = await page.evaluate(() => {
        const all = Array.from({ length: bough.vertexCount(1) }, (_, i) => bough.vertexPosition(1, i));
        return bough.project([0, 1, 2].map((k) => all.reduce((sum, x) => sum + x[k], 0) / all.length));
    });
    await page.mouse.click(...pixel);
    await page.waitForFunction(() => bough.picked?.part === 1, null, { timeout: WAIT });
    await page.mouse.down();
    await page.mouse.move(pixel[0], pixel[1] - 80, { steps: 3 });
    await page.waitForFunction(() => bough.held.length === 1, null, { timeout: WAIT });
    await page.evaluate(() => document.activeElement.blur()); // or the key would press the button that was clicked last
    await page.keyboard.press("Space");
    await page.waitForFunction((end) => !bough.settings.paused && bough.numbers.time > end, (STEPS + 2) * scene.time.dt, { timeout: WAIT });
    assert.deepEqual(await page.evaluate(() => bough.held.length), 1);
    await page.mouse.up();
    await page.waitForFunction(() => bough.held.length === 0, null, { timeout: WAIT });
    await button("Cut off").click();
    await page.waitForFunction(() => bough.parts.loose?.includes(1), null, { timeout: WAIT });
    assert.deepEqual(page.errors, []);
});
