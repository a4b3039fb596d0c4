// Parts in joints on the page: a slider for each is a torque, which turns the part.

import assert from "node:assert/strict";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { WAIT, atRest, makeFolder, openPage, removeFolder, startBrowser, startView } from "./session.js";

const LENGTH = 0.5, STIFFNESS = 5; // m, N m / rad
let folder, browser, view, page;

// Two rods along x without weight. The second hangs at the first in a hinge about y.
const elbow = {
    bough: 1, name: "elbow", gravity: [0, 0, 0], time: { dt: 0.01, duration: 1 },
    components: {
        rod: {
            mesh: { generate: "box", type: "hex8", size: [LENGTH, 0.05, 0.05], cells: [5, 1, 1] }, material: { young: 1e9, poisson: 0.3, density: 500 },
            interfaces: { base: { select: "x0" }, tip: { select: "x1" } }, basis: { r: 6 }, samples: { contact: 0, stress: 0 },
        },
    },
    parts: [
        { name: "upper", component: "rod" },
        { name: "lower", component: "rod", parent: "upper", joint: { kind: "hinge", axis: [0, 1, 0], stiffness: STIFFNESS, damping: 0.5 } },
    ],
};

before(async () => {
    folder = makeFolder();
    writeFileSync(join(folder, "elbow.json"), JSON.stringify(elbow));
    [view, browser] = await Promise.all([startView(join(folder, "elbow.json")), startBrowser()]);
    page = await openPage(browser, view.url);
    await until(() => window.bough?.drawn > 0 && bough.frame > 0 && bough.numbers);
});

after(async () => {
    await browser?.close();
    await view?.stop();
    if (folder) removeFolder(folder);
});

const look = (what, ...args) => page.evaluate(what, ...args);
const until = (what, arg) => page.waitForFunction(what, arg, { timeout: WAIT, polling: 50 });
const button = (name) => page.getByRole("button", { name, exact: true });

let tip; // the end of the second rod, and how high it is at rest

// Until spring and torque have it where they are in balance. About y: what points along x goes down.
const turned = (torque) => until(([tip, way]) => Math.abs(bough.vertexPosition(1, tip.vertex)[2] - tip.z - way) < 1e-3,
    [tip, -LENGTH * Math.sin(torque / STIFFNESS)]);

test("a part is turned in its joint by a slider, until it is let go", async () => {
    tip = await look(() => {
        const all = [...Array(bough.vertexCount(1)).keys()], x = (vertex) => bough.restPosition(1, vertex)[0];
        const vertex = all.reduce((far, v) => (x(v) > x(far) ? v : far));
        return { vertex, z: bough.vertexPosition(1, vertex)[2] };
    });
    const slider = page.getByLabel("lower", { exact: true }), number = page.getByLabel("lower, as a number");
    assert.equal(await slider.getAttribute("type"), "range");
    await slider.fill("0.5");
    await until(() => bough.settings.motors[0]);
    await turned(0.5);
    assert.equal(await number.inputValue(), "500 mN m");
    for (let tries = 0; tries < 10 && (await number.inputValue()) !== "-1.50 N m"; tries++) { // a hand may be faster than the page
        await number.fill("-1.5");
        await number.press("Enter");
    }
    assert.equal(await number.inputValue(), "-1.50 N m");
    await turned(-1.5);
    assert.ok(Math.abs(Number(await slider.inputValue()) + 1.5) < 0.1);
    await button("Scene's motors").click();
    await until(() => !bough.settings.motors[0]);
    await turned(0);
    await button("Pause").click();
    await atRest(page);
    assert.ok(await button("Scene's motors").isDisabled());
    assert.deepEqual(await look(() => bough.notes), []);
    assert.deepEqual(page.errors, []);
});
