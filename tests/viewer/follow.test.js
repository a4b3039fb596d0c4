// What walks away is followed by the view, when somebody wants it.

import assert from "node:assert/strict";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { WAIT, atRest, bough, makeFolder, openPage, removeFolder, startBrowser, startView } from "./session.js";

let folder, browser, view, page;

before(async () => {
    folder = makeFolder();
    bough("example", "walker", "-o", folder);
    [view, browser] = await Promise.all([startView(join(folder, "scene.json")), startBrowser()]);
    page = await openPage(browser, view.url);
    await until(() => window.bough?.drawn > 2);
});

after(async () => {
    await browser?.close();
    await view?.stop();
    if (folder) removeFolder(folder);
});

const look = (what, ...args) => page.evaluate(what, ...args);
const until = (what, arg) => page.waitForFunction(what, arg, { timeout: WAIT, polling: 50 });

const button = (name) => page.getByRole("button", { name, exact: true });

// It stands still unless it walks, so that what came and what is drawn are of the same time.
async function set(paused) {
    if ((await look(() => bough.settings.paused)) === paused) return;
    await button(paused ? "Pause" : "Play").click();
    await until((paused) => bough.settings.paused === paused, paused);
}

// From the start: it walks for 7 s.
async function begin() {
    await set(true);
    await button("Reset").click();
    await until(() => bough.middle[0] < 0.05);
}

async function walkTo(x) {
    await set(false);
    await until((x) => bough.middle[0] > x, x);
    await set(true);
}

// Where the walker and a point of the ground are in the picture, from the middle of the canvas on.
async function see() {
    await atRest(page);
    await look(() => new Promise((done) => { // a view that follows has arrived
        const compare = (before, still) => {
            const now = bough.project(bough.middle), moved = Math.hypot(...now.map((c, i) => c - before[i]));
            if (still === 3) done();
            else requestAnimationFrame(() => compare(now, moved < 0.01 ? still + 1 : 0));
        };
        compare([Infinity, Infinity], 0);
    }));
    return look(() => {
        const pixel = (x) => bough.project(x).map((c, i) => c - [innerWidth, innerHeight][i] / 2);
        return { walker: pixel(bough.middle), ground: pixel([0, 0, 0]), x: bough.middle[0] };
    });
}

// A free place of the ground on the screen, from which nothing of the walker is near.
const groundSpot = () => look(() => {
    for (let y = innerHeight - 120; y > innerHeight / 2; y -= 10)
        for (let x = 300; x < 480; x += 20) {
            const hit = document.elementFromPoint(x, y)?.id === "picture" && bough.at(x, y);
            if (hit && bough.isGround(hit.part)) return [x, y];
        }
    return null;
});

const apart = (a, b) => Math.hypot(...a.map((x, c) => x - b[c]));

test("the walker goes out of a view that stands still, and stays in the middle of one that follows", async () => {
    await begin();
    await page.keyboard.press("f"); // it may have walked before the page was there
    const start = await see();
    await walkTo(start.x + 0.12);
    const left = await see();
    assert.ok(apart(start.walker, left.walker) > 30, `it went by ${apart(start.walker, left.walker)} px only`);
    assert.ok(apart(start.ground, left.ground) < 1e-6);
    await page.keyboard.press("F");
    assert.equal(await page.getByLabel("Follow", { exact: true }).isChecked(), true);
    await walkTo(left.x + 0.12);
    const kept = await see();
    assert.ok(Math.hypot(...kept.walker) < 4, `it is ${kept.walker} px aside`);
    assert.ok(apart(kept.ground, left.ground) > 30, JSON.stringify({ start, left, kept }));
    assert.deepEqual(page.errors, []);
});

test("a reset takes the view along, and panning means what it does otherwise", async () => {
    await begin();
    const start = await see();
    assert.ok(Math.hypot(...start.walker) < 4, `it is ${start.walker} px aside`);
    await page.keyboard.press("Shift+ArrowLeft");
    await page.keyboard.press("Shift+ArrowLeft"); // 30 px each
    await walkTo(start.x + 0.1);
    const { walker } = await see();
    assert.ok(apart(walker, [60, 0]) < 6 || apart(walker, [-60, 0]) < 6, `it is ${walker} px aside`);
    assert.deepEqual(page.errors, []);
});

test("a drag on the ground turns the view, and pulls at nothing", async () => {
    await begin();
    await page.keyboard.press("f");
    const spot = await groundSpot();
    assert.ok(spot, "the ground cannot be seen");
    const { azimuth } = await look(() => bough);
    await page.mouse.move(...spot);
    await page.mouse.down();
    await page.mouse.move(spot[0] + 60, spot[1], { steps: 4 });
    const held = await look(() => [bough.held, document.querySelector("#labels").textContent]);
    await page.mouse.up();
    assert.deepEqual(held, [[], ""]);
    assert.ok(Math.abs((await look(() => bough.azimuth)) - azimuth) > 0.2, "the view did not turn");
    // A click still tells what it is.
    await page.mouse.click(...(await groundSpot()));
    await until(() => bough.picked?.kind === "obstacle");
    await page.keyboard.press("Escape");
});

test("a motor follows its slider, until it is given back", async () => {
    const motors = page.locator("details", { has: page.getByText("Motors", { exact: true }) });
    await page.getByText("Motors", { exact: true }).click(); // many are folded
    const slider = motors.locator("input[type=range]").first(), name = await slider.getAttribute("aria-label");
    await page.getByLabel(`${name}, as a number`).fill("5");
    await page.keyboard.press("Enter");
    await until(() => bough.settings.motors[0]);
    await page.keyboard.press("."); // it is paused
    await until(() => Math.abs(bough.numbers.motors[0] - (5 * Math.PI) / 180) < 1e-6);
    await button("Scene's motors").click();
    await until(() => !bough.settings.motors.some(Boolean));
    assert.deepEqual(page.errors, []);
});

test("switched off, the view stands still", async () => {
    await begin();
    await page.getByLabel("Follow", { exact: true }).click();
    const { ground, x } = await see();
    await walkTo(x + 0.05);
    assert.ok(apart((await see()).ground, ground) < 1e-6);
});
