// The page that bough retarget writes, opened as a file: no server, no other files.

import assert from "node:assert/strict";
import { copyFileSync } from "node:fs";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { bough, makeFolder, openPage, removeFolder, startBrowser } from "./session.js";

const example = new URL("../../examples/one-rod/scene.json", import.meta.url).pathname;
let folder, browser, page;

before(async () => {
    folder = makeFolder();
    copyFileSync(example, join(folder, "rod.json"));
    bough("retarget", join(folder, "rod.json"), "--iterations", "3", "--report", join(folder, "report.html"));
    browser = await startBrowser();
    page = await openPage(browser, "file://" + join(folder, "report.html"));
});

after(async () => {
    await browser?.close();
    if (folder) removeFolder(folder);
});

const lines = (index) => page.locator(`#bodies path[data-case="${index}"]`).count();
const ticks = (plot) => page.locator("figure > svg").nth(plot).locator("text").allTextContents();

test("all plots are drawn before anybody touches them", async () => {
    const empty = await page.evaluate(() => [...document.querySelectorAll("figure > svg")].filter((svg) => !svg.querySelector("path")?.getAttribute("d")).length);
    assert.equal(await page.locator("figure").count(), 3 + 4 + 2 + 2); // the weight, its motor, energies, the search
    assert.equal(empty, 0);
});

test("a case that is switched off has no lines", async () => {
    assert.equal(await lines(0), 3);
    await page.getByLabel("animation", { exact: true }).uncheck();
    assert.equal(await lines(0), 0);
    assert.equal(await lines(1), 3);
    await page.getByLabel("animation", { exact: true }).check();
    assert.equal(await lines(0), 3);
});

test("the cursor is shared, and drags zoom in time until a double click", async () => {
    const first = page.locator("figure > svg").first(), before = await ticks(0), motor = await ticks(3);
    await first.hover({ position: { x: 300, y: 60 } });
    await page.waitForFunction(() => document.querySelectorAll(".cursor").length === 2 + 4 + 2);
    const box = await first.boundingBox();
    await page.mouse.down();
    await page.mouse.move(box.x + 400, box.y + 60, { steps: 4 });
    await page.mouse.up();
    assert.notDeepEqual(await ticks(0), before);
    assert.notDeepEqual(await ticks(3), motor);
    await first.dblclick({ position: { x: 300, y: 60 } });
    assert.deepEqual(await ticks(0), before);
    assert.deepEqual(await ticks(3), motor);
});

test("arrows move the cursor without a mouse", async () => {
    await page.mouse.move(1, 1);
    await page.locator("figure > svg").first().focus();
    await page.keyboard.press("ArrowRight");
    await page.waitForFunction(() => document.querySelectorAll(".cursor").length === 2 + 4 + 2);
    await page.keyboard.press("Escape");
    await page.waitForFunction(() => document.querySelectorAll(".cursor").length === 0);
});

test("the page is content: no errors, nothing is loaded, nothing sticks out of a phone", async () => {
    assert.deepEqual(page.errors, []);
    assert.equal(await page.evaluate(() => performance.getEntriesByType("resource").length), 0);
    await page.setViewportSize({ width: 360, height: 700 });
    assert.equal(await page.evaluate(() => document.documentElement.scrollWidth), 360);
});
