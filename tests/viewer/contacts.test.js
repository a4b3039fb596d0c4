// Contacts on the page: arrows, a live count, and colours by the forces on things; obstacles of a full body and of parts are there.

import assert from "node:assert/strict";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { WAIT, makeFolder, openPage, removeFolder, startBrowser, startView } from "./session.js";

const G = 9.81, ALONG = 2, MASS = 3; // m/s^2, kg
let folder, browser, view, page;

// A box that lies on the ground, and that gravity, which leans, would like to push along it.
const box = {
    bough: 1, name: "box", engine: { kind: "multibody" }, gravity: [ALONG, 0, -G], time: { dt: 0.005, duration: 1 },
    bodies: [{ name: "box", position: [0, 0, 0.1], mass: MASS, shape: { box: [0.2, 0.2, 0.2] }, touch: true, friction: 1 }],
    obstacles: [{ name: "ground", shape: { plane: true }, friction: 1 }],
};

// A cube of 1 kg above a plate.
const cube = {
    bough: 1, name: "cube", gravity: [0, 0, -G], time: { integrator: "backward-euler", dt: 0.005, duration: 1 },
    mesh: { generate: "box", type: "hex8", size: [0.1, 0.1, 0.1], cells: [2, 2, 2] },
    material: { model: "neo-hookean", young: 1e6, poisson: 0.3, density: 1000 }, damping: { stiffness: 0.002 },
    obstacles: [{ name: "plate", shape: { box: [0.3, 0.3, 0.02] }, position: [0.05, 0.05, -0.0101] }],
};

// Two cubes of 1 kg, one on the other, and a third that touches nothing.
const body = (name, position) => ({
    name, position, mesh: { generate: "box", type: "hex8", origin: [-0.05, -0.05, 0], size: [0.1, 0.1, 0.1], cells: [2, 2, 2] },
});
const stack = {
    bough: 1, name: "stack", settle: true, gravity: [0, 0, -G], time: { integrator: "backward-euler", dt: 0.005, duration: 1 },
    bodies: [body("low", [0, 0, 0.001]), body("high", [0, 0, 0.102]), body("held", [0.3, 0, 0.2])], fix: "held.z1",
    material: { model: "neo-hookean", young: 1e6, poisson: 0.3, density: 1000 }, damping: { stiffness: 0.002 },
    contact: { distance: 1e-3 }, obstacles: [{ name: "ground", shape: { plane: true } }],
};

// A cube that bends by coordinates, on a plate that rises on a track above the ground.
const lifted = {
    bough: 1, name: "lifted", gravity: [0, 0, -G], engine: { kind: "tree" }, time: { integrator: "hht", dt: 0.005, duration: 1 },
    components: { cube: {
        mesh: { generate: "box", type: "hex8", size: [0.1, 0.1, 0.1], cells: [2, 2, 2] }, basis: { r: 6 },
        material: { young: 1e6, poisson: 0.3, density: 1000 }, damping: { stiffness: 0.002 },
    } },
    parts: [{ name: "soft", component: "cube", position: [0, 0, 0.07] }],
    obstacles: [
        { name: "ground", shape: { plane: true } },
        { name: "lift", shape: { box: [0.3, 0.3, 0.02] }, track: [{ time: 0, position: [0, 0, 0.01] }, { time: 1, position: [0, 0, 0.21] }] },
    ],
};

before(async () => {
    folder = makeFolder();
    writeFileSync(join(folder, "lifted.json"), JSON.stringify(lifted));
    writeFileSync(join(folder, "box.json"), JSON.stringify(box));
    writeFileSync(join(folder, "stack.json"), JSON.stringify(stack));
    writeFileSync(join(folder, "cube.json"), JSON.stringify(cube));
    [view, browser] = await Promise.all([startView(join(folder, "box.json")), startBrowser()]);
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
const sum = (contacts, what, axis) => contacts.reduce((all, point) => all + point[what][axis], 0);

test("contacts come with each frame, with normal forces that bear the weight and friction that holds it", async () => {
    await until(() => bough.time > 0.5 && bough.contacts().length > 0);
    const contacts = await look(() => bough.contacts());
    assert.ok(Math.abs(sum(contacts, "normal", 2) - MASS * G) < 1e-3 * MASS * G);
    assert.ok(Math.abs(sum(contacts, "friction", 0) + MASS * ALONG) < 1e-3 * MASS * G);
    for (const { parts, position } of contacts) {
        assert.deepEqual(parts, [0, 1]);
        assert.ok(Math.abs(position[2]) < 1e-3 && Math.abs(Math.abs(position[1]) - 0.1) < 1e-3);
    }
});

test("the page counts them, and shows arrows when it is asked to", async () => {
    await until(() => bough.numbers.contacts > 0);
    assert.match(await page.locator("body").innerText(), /\b4 contacts\b/);
    assert.equal(await look(() => bough.contactsShown), false);
    await page.keyboard.press("P");
    await until(() => bough.contactsShown && /normal force/.test(document.querySelector("[aria-label='Largest forces']").textContent));
    await page.keyboard.press("P");
    await until(() => !bough.contactsShown && document.querySelector("[aria-label='Largest forces']").hidden);
});

test("things are coloured by the forces on them, and the ground is not", async () => {
    await page.getByLabel("Colour", { exact: true }).selectOption("contacts");
    await until((weight) => bough.value(0) > weight, MASS * G);
    assert.equal(await look(() => bough.value(1)), 0);
    await page.getByLabel("Colour", { exact: true }).selectOption("natural");
});

test("obstacles of a full body are drawn with it", async () => {
    const other = await startView(join(folder, "cube.json"));
    try {
        page = await openPage(browser, other.url);
        await until(() => window.bough?.drawn > 0 && bough.frame > 0 && bough.numbers?.contacts > 0 && bough.time > 0.3);
        assert.deepEqual(await look(() => [bough.partCount(), bough.partName(1), bough.isGround(0), bough.isGround(1)]), [2, "plate", false, true]);
        assert.ok((await look(() => bough.drawnPosition(1, 0)[2])) < 0);
        await until(() => Math.abs(bough.contacts().reduce((all, { normal }) => all + normal[2], 0) - 9.81) < 0.01);
    } finally {
        await other.stop();
    }
});

test("of several full bodies each has the colour of the forces on it", async () => {
    const other = await startView(join(folder, "stack.json"));
    try {
        page = await openPage(browser, other.url);
        await until(() => window.bough?.drawn > 0 && bough.frame > 0 && bough.numbers?.contacts > 0);
        await page.getByLabel("Colour", { exact: true }).selectOption("contacts");
        await until(() => bough.vertexValue(0, 0) > 0);
        const [low, high, held] = await look(() => {
            const most = [0, 0, 0];
            for (let v = 0; v < bough.vertexCount(0); v++) {
                const [x, , z] = bough.restPosition(0, v), of = x > 0.2 ? 2 : z > 0.1015 ? 1 : 0;
                most[of] = Math.max(most[of], bough.vertexValue(0, v));
            }
            return most;
        });
        assert.ok(Math.abs(high - G) < 0.05 * G, `${high} N`); // sizes of forces that are not quite parallel
        assert.ok(Math.abs(low - 3 * G) < 0.15 * G, `${low} N`); // from above and from below
        assert.equal(held, 0);
        if (process.env.BOUGH_PICTURE) await page.screenshot({ path: process.env.BOUGH_PICTURE });
    } finally {
        await other.stop();
    }
});

test("obstacles of parts are drawn with them, move on their tracks, and the page's own floor gives way to them", async () => {
    const other = await startView(join(folder, "lifted.json"));
    try {
        page = await openPage(browser, other.url);
        await until(() => window.bough?.drawn > 0 && bough.frame > 0 && bough.numbers?.contacts > 0 && bough.time > 1.1);
        assert.deepEqual(await look(() => [0, 1, 2].map((part) => bough.partName(part))), ["soft", "ground", "lift"]);
        assert.deepEqual(await look(() => [0, 1, 2].map((part) => bough.isGround(part))), [false, true, true]);
        const lift = await look(() => bough.drawnPosition(2, 0)), ground = await look(() => bough.drawnPosition(1, 0));
        assert.ok(Math.abs(Math.abs(lift[2] - 0.21) - 0.01) < 1e-3 && Math.abs(ground[2]) < 1e-6);
        for (const { parts } of await look(() => bough.contacts())) assert.deepEqual(parts, [0, 2]);
        assert.equal(await look(() => bough.floorShown), false);
    } finally {
        await other.stop();
    }
});
