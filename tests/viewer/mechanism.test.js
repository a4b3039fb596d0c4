// A mechanism on the page: its links are parts, which can be picked, pulled and recorded, and its full engine is a ghost.

import assert from "node:assert/strict";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { WAIT, atRest, makeFolder, openPage, removeFolder, startBrowser, startView } from "./session.js";

let folder, browser, view, page;

// A soft helix of 16 links that stands on its base, and swings under its weight.
const helix = {
    bough: 1, name: "helix", generate: { helix: { links: 16, stiffness: 20, damping: 0.02 } }, gravity: [0, 0, -9.81], time: { dt: 0.005, duration: 10 },
    probes: [{ name: "tip", end_effector: "tip" }],
};

before(async () => {
    folder = makeFolder();
    writeFileSync(join(folder, "helix.json"), JSON.stringify(helix));
    [view, browser] = await Promise.all([startView(join(folder, "helix.json")), startBrowser()]);
    page = await openPage(browser, view.url);
    await page.getByText("Method", { exact: true }).click();
    await until(() => window.bough?.drawn > 2 && bough.time > 0.02);
});

after(async () => {
    await browser?.close();
    await view?.stop();
    if (folder) removeFolder(folder);
});

const look = (what, ...args) => page.evaluate(what, ...args);
const until = (what, arg) => page.waitForFunction(what, arg, { timeout: WAIT, polling: 50 });
const control = (name) => page.getByLabel(name, { exact: true });
const button = (name) => page.getByRole("button", { name, exact: true });
const distance = (a, b) => Math.hypot(...a.map((x, i) => x - b[i]));
const tip = () => look(() => bough.vertexPosition(bough.partCount() - 1, 0));

test("links are drawn where they are, and swing", async () => {
    assert.equal(await look(() => bough.partCount()), 17);
    assert.equal(await control("Engine").inputValue(), "mechanism");
    await button("Pause").click();
    await atRest(page);
    const drawn = await look(() => {
        let most = 0;
        for (let part = 0; part < bough.partCount(); part++)
            most = Math.max(most, ...bough.drawnPosition(part, 0).map((x, c) => Math.abs(x - bough.vertexPosition(part, 0)[c])));
        return most;
    });
    assert.ok(drawn < 1e-5, `${drawn} m`);
    // From the start, where it stands still: what moves then falls, and was not put there by the reset.
    await button("Reset").click();
    await until(() => bough.time === 0 && bough.numbers.time === 0);
    const before = await tip();
    assert.equal(distance(before, await look(() => bough.restPosition(16, 0))), 0);
    await button("Play").click();
    await until((x) => bough.time > 0 && Math.hypot(...bough.vertexPosition(16, 0).map((y, i) => y - x[i])) > 1e-3, before);
    // Wind and joined surfaces are of parts; who asks by a key is told.
    for (const name of ["Wind", "Wind direction", "Gusts", "Continuity"]) assert.ok(await control(name).isDisabled(), name);
    assert.ok(await button("Scene's wind").isDisabled());
    // Rigid links have no stress and no interfaces, but they touch: nobody is offered colours that they lack.
    assert.deepEqual(await control("Colour").locator("option").evaluateAll((all) => all.map(({ value }) => value)), ["natural", "part", "component", "displacement", "contacts"]);
    await page.keyboard.press("w");
    await until(() => bough.notes.some((text) => text.includes("knows no wind")));
    assert.equal(await control("Wind").inputValue(), "0");
    assert.deepEqual(page.errors, []);
});

test("a picked link tells its name, kind and mass; nothing can be cut", async () => {
    await page.keyboard.press("]");
    await page.keyboard.press("]");
    await until(() => bough.picked?.kind === "link" && bough.picked.part === 1);
    const picked = await look(() => bough.picked);
    assert.equal(picked.name, "link1");
    assert.ok(picked.mass > 0);
    assert.equal(await page.getByRole("button", { name: /^Cut/ }).isVisible(), false);
    const panel = await page.getByLabel("Part and plots").textContent();
    for (const text of ["link1", "Kind", "Mass"]) assert.ok(panel.includes(text), `the panel lacks "${text}"`);
    await page.keyboard.press("Escape");
});

// A place on the screen where one of the upper links is, well inside of it and with no panel over it.
const visibleLink = () => look(() => {
    const around = [[0, 0], [3, 0], [-3, 0], [0, 3], [0, -3]]; // px: pointers are at whole ones
    for (let part = 16; part > 8; part--)
        for (let vertex = 0; vertex < bough.vertexCount(part); vertex += 7) {
            const pixel = bough.project(bough.vertexPosition(part, vertex))?.map(Math.round);
            const free = pixel && document.elementFromPoint(...pixel)?.id === "picture";
            if (free && around.every(([x, y]) => bough.at(pixel[0] + x, pixel[1] + y)?.part === part)) return pixel;
        }
    return null;
});

test("gravity can be turned, and links pulled", async () => {
    await control("Gravity").fill("0");
    await until(() => Math.hypot(...bough.settings.gravity) === 0);
    await button("Pause").click(); // else the first moments may pass unseen on a busy machine
    await until(() => bough.settings.paused);
    await button("Reset").click(); // without weight it stays where it is
    await until(() => bough.time < 0.1);
    await button("Play").click();
    const spot = await visibleLink();
    assert.ok(spot, "no link can be seen");
    const before = await tip();
    await page.mouse.move(...spot);
    await page.mouse.down();
    await page.mouse.move(spot[0] + 60, spot[1] - 40, { steps: 8 });
    await until((x) => Math.hypot(...bough.vertexPosition(16, 0).map((y, i) => y - x[i])) > 5e-4, before); // it rested
    await page.mouse.up();
    assert.deepEqual((await look(() => bough.notes)).filter((text) => !/knows no wind/.test(text)), []);
});

test("the full mechanism can be laid over it", async () => {
    await control("Ghost").selectOption({ label: "full mechanism" });
    await until(() => bough.layerCount === 2);
    const { time } = await look(() => bough.numbers);
    await until((time) => bough.numbers.time !== time, time);
    await until(() => bough.notes.some((text) => /time is 0 again/.test(text)));
    await until(() => bough.ghost?.time > 0.02 && bough.ghost.rms > 0);
    const { largest, rms, size } = await look(() => bough.ghost);
    assert.ok(largest >= rms && largest < size, JSON.stringify({ largest, rms, size }));
    await control("Ghost").selectOption({ label: "none" });
    await until(() => bough.layerCount === 1);
    assert.deepEqual(page.errors, []);
});

test("it is recorded as nodes that move", async () => {
    await button("Record").click();
    await until(() => bough.settings.recording);
    await control("Gravity").fill("20");
    const { time } = await look(() => bough.numbers);
    await until((time) => bough.numbers.time > time + 0.3, time);
    await button("Stop recording").click();
    const links = page.getByLabel("Recordings").getByRole("link");
    await links.nth(1).waitFor({ timeout: WAIT });
    const names = await links.allTextContents();
    const name = names.find((each) => each.endsWith(".glb"));
    const [download] = await Promise.all([page.waitForEvent("download"), links.filter({ hasText: name }).click()]);
    const bytes = readFileSync(await download.path());
    const json = JSON.parse(bytes.subarray(20, 20 + bytes.readUInt32LE(12)).toString());
    const moving = json.nodes.filter((node) => node.mesh !== undefined);
    assert.equal(moving.length, 17);
    assert.ok(json.meshes.length < 6, `${json.meshes.length} meshes of links that are alike`);
    assert.ok(json.animations.length === 1 && json.animations[0].channels.length >= 16);
    assert.deepEqual(page.errors, []);
});
