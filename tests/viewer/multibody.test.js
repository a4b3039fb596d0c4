// Bodies and parts with joints on the page: frames and forces of joints, stress of parts, obstacles, and the ghost whose parts do not bend.

import assert from "node:assert/strict";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { readPng } from "./picture.js";
import { WAIT, atRest, drawn, makeFolder, openPage, removeFolder, startBrowser, startView } from "./session.js";

const WEIGHT = 9.81 * 2, ROD = 9.81 * 0.6; // N, of the ball and of the rod
let folder, browser, view, page;

// A motor holds a rod that bends, with a ball at its end, over the ground.
const arm = {
    bough: 1, name: "arm",
    components: {
        rod: {
            mesh: { generate: "box", type: "tet10", size: [0.6, 0.04, 0.025], cells: [12, 1, 1] }, material: { young: 3e9, density: 1000 },
            interfaces: { base: { select: "x0" }, tip: { select: "x1" } }, basis: { r: 10 },
        },
    },
    bodies: [
        { name: "hub", position: [0, 0, 0.3], mass: 1, shape: [{ sphere: 0.05, colour: [0.2, 0.3, 0.7] }] },
        { name: "ball", position: [0.6, 0, 0.3], mass: 2, shape: { sphere: 0.05 }, touch: true },
    ],
    parts: [{ name: "rod", component: "rod", clamp: "hub", damping: { mass: 4, stiffness: 0.002 } }],
    joints: [
        { name: "shoulder", kind: "hinge", parent: "world", child: "hub", position: [0, 0, 0.3], axis: [0, 1, 0] },
        { name: "grip", kind: "weld", parent: { part: "rod", interface: "tip" }, child: "ball" },
    ],
    curves: { hold: [[0, 0]] }, motors: [{ joint: "shoulder", curve: "hold" }],
    obstacles: [{ name: "ground", shape: { plane: [1.6, 1.2] }, position: [0.3, 0, 0] }, { name: "post", touch: false, shape: { cylinder: [0.03, 0.25], position: [0, 0.1, 0.125] } }],
    gravity: [0, 0, -9.81], settle: true, time: { dt: 0.002, duration: 10 },
};

before(async () => {
    folder = makeFolder();
    writeFileSync(join(folder, "arm.json"), JSON.stringify(arm));
    [view, browser] = await Promise.all([startView(join(folder, "arm.json")), startBrowser()]);
    page = await openPage(browser, view.url, { deviceScaleFactor: 1 }); // arrows are counted by their pixels
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

test("obstacles are ground, also those that are only drawn", async () => {
    assert.deepEqual(await look(() => [0, 1, 2, 3, 4].map((part) => bough.partName(part))), ["hub", "ball", "rod", "ground", "post"]);
    assert.deepEqual(await look(() => [0, 1, 2, 3, 4].map((part) => bough.isGround(part))), [false, false, false, true, true]);
});

test("joints tell where they are and what they hold", async () => {
    await button("Pause").click();
    await atRest(page);
    const joints = await look(() => bough.joints());
    assert.deepEqual(joints.map(({ name, kind, parent, child }) => [name, kind, parent, child]), [["shoulder", "hinge", -1, 0], ["grip", "weld", 2, 1]]);
    const [shoulder, grip] = joints, near = (a, b, most, what) => assert.ok(Math.abs(a - b) < most, `${what}: ${a} instead of ${b}`);
    near(shoulder.force[2], WEIGHT + ROD + 9.81, 0.05, "the shoulder's force");
    near(grip.force[2], WEIGHT, 0.05, "the grip's force");
    near(Math.abs(shoulder.torque[1]), WEIGHT * 0.6 + ROD * 0.3, 0.2, "the shoulder's torque");
    near(shoulder.position[2], 0.3, 1e-4, "the shoulder's height");
    assert.ok(grip.position[2] < 0.299, "the rod bends, and the grip sinks with it");
});

// Orange and violet of arrows, which the scene has nowhere else.
const count = async () => {
    const { channels, pixels } = readPng(await page.screenshot());
    const found = { force: 0, torque: 0 };
    for (let i = 0; i < pixels.length; i += channels) {
        const [r, g, b] = pixels.subarray(i, i + 3);
        if (r > 200 && g > 80 && g < 160 && b < 90) found.force++;
        if (b > 180 && r > 100 && r < 190 && g < 130 && b > 1.4 * r) found.torque++;
    }
    return found;
};

test("they are drawn when somebody asks, with arrows", async () => {
    assert.equal(await look(() => bough.jointsShown), false);
    await page.keyboard.press("\\"); // without panels
    await drawn(page);
    const before = await count();
    await page.keyboard.press("R");
    await until(() => bough.jointsShown);
    await drawn(page);
    const shown = await count();
    assert.ok(shown.force > before.force + 100 && shown.torque > before.torque + 100, JSON.stringify({ before, shown }));
    assert.match(await control("Largest forces").textContent(), /Longest force\d+(\.\d+)? N.*Longest torque\d+(\.\d+)? N m/);
    await page.keyboard.press("R");
    await until(() => !bough.jointsShown);
    await drawn(page);
    assert.deepEqual(await count(), before);
    await page.keyboard.press("\\");
});

test("parts have stress, bodies have none", async () => {
    await control("Colour").selectOption("stress");
    await until(() => bough.colour.whole > 0 && bough.vertexValue(2, 0) !== null);
    const values = await look(() => [...Array(bough.vertexCount(2)).keys()].map((v) => ({ x: bough.restPosition(2, v)[0], stress: bough.vertexValue(2, v) })));
    const most = (low, high) => Math.max(...values.filter(({ x }) => x >= low && x <= high).map(({ stress }) => stress));
    assert.ok(most(0.05, 0.15) > 1.8 * most(0.4, 0.5), `${most(0.05, 0.15)} Pa near the hub, ${most(0.4, 0.5)} Pa near the end`);
    assert.equal(await look(() => Math.max(...[0, 1, 3, 4].map((part) => bough.vertexValue(part, 0)))), 0);
    await control("Colour").selectOption("natural");
});

test("the same with rigid parts is a ghost beside it", async () => {
    await control("Ghost").selectOption({ label: "rigid parts" });
    await until(() => bough.layerCount === 2);
    await until(() => bough.ghost && bough.partCount(1) === 5);
    const { largest } = await look(() => bough.ghost);
    const sag = (WEIGHT * 0.6 ** 3) / (3 * 3e9 * ((0.04 * 0.025 ** 3) / 12)); // of a beam with the ball at its end
    assert.ok(largest > 0.8 * sag && largest < 1.6 * sag, `${largest} m, a beam sags by ${sag} m`);
    const [tip, rigid] = await look(() => [bough.partPosition(1, 0), bough.partPosition(1, 1)]);
    assert.ok(Math.abs(rigid[2] - 0.3) < 1e-4 && tip[2] < 0.3 - 0.8 * sag, `${tip} and ${rigid}`);
    await control("Ghost").selectOption({ label: "none" });
    await until(() => bough.layerCount === 1);
    assert.deepEqual(page.errors, []);
});

test("looking back, joints are where they were", async () => {
    await control("Gravity").fill("0"); // the rod straightens
    await until(() => Math.hypot(...bough.settings.gravity) === 0);
    const { time } = await look(() => bough);
    await button("Play").click();
    await until((time) => bough.time > time + 1, time);
    await button("Pause").click();
    await atRest(page);
    const height = () => look(() => bough.joints()[1].position[2]), now = await height();
    await control("Look back").fill("0");
    await until((time) => bough.time < time + 0.05, time);
    assert.ok((await height()) < now - 2e-3, `${await height()} m then, ${now} m now`);
    assert.deepEqual(page.errors, []);
});

test("a ghost of another scene follows its own motors", async () => {
    const turned = { ...arm, curves: { hold: [[0, 0], [0.3, 0.4]] } };
    writeFileSync(join(folder, "turned.json"), JSON.stringify(turned));
    const other = await startView(join(folder, "arm.json"), "--ghost", join(folder, "turned.json"));
    const own = await openPage(browser, other.url);
    try {
        await own.getByText("Method", { exact: true }).click();
        await own.waitForFunction(() => window.bough?.ghost?.time > 0.5 && bough.ghost.largest > 0.15, null, { timeout: WAIT });
        const ghost = own.getByLabel("Ghost", { exact: true });
        assert.equal(await ghost.evaluate((element) => element.selectedOptions[0].textContent), "turned.json");
        await ghost.selectOption({ label: "none" });
        await own.waitForFunction(() => bough.ghost === null, null, { timeout: WAIT });
        await ghost.selectOption({ label: "turned.json" });
        await own.waitForFunction(() => bough.ghost?.time > 0.5 && bough.ghost.largest > 0.15, null, { timeout: WAIT });
        assert.deepEqual(own.errors, []);
    } finally {
        await own.close();
        await other.stop();
    }
});
