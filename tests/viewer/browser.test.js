// The page in a real browser with the real program: a small oak is looked at, pulled, cut and recorded.

import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { measure } from "./picture.js";
import { WAIT, atRest, drawn, makeCooked, makeFolder, openPage, removeFolder, startBrowser, startView, yTree } from "./session.js";

const BETWEEN = 500; // ms: a picture of an oak takes long
let folder, scene, server, browser, page;

before(async () => {
    folder = makeFolder();
    makeCooked(join(folder, "oak"), "oak", "--leaves", "50");
    scene = join(folder, "oak", "scene.json");
    [server, browser] = await Promise.all([startView(scene), startBrowser()]);
    page = await openPage(browser, server.url, { between: BETWEEN });
    await page.getByText("Method", { exact: true }).click();
});

after(async () => {
    await browser?.close();
    await server?.stop();
    if (folder) removeFolder(folder);
});

const look = (what, ...args) => page.evaluate(what, ...args);
const until = (what, arg) => page.waitForFunction(what, arg, { timeout: WAIT, polling: 50 });
const control = (name) => page.getByLabel(name, { exact: true });
const button = (name) => page.getByRole("button", { name, exact: true });
const key = (name) => page.keyboard.press(name);
const distance = (a, b) => Math.hypot(...a.map((x, i) => x - b[i]));

// Nothing is drawn while nothing moves: what can be tested so takes less time, and stays where it was seen.
async function rest() {
    if (await look(() => bough.settings.paused)) return;
    await button("Pause").click();
    await atRest(page);
}
async function go() {
    if (await look(() => bough.settings.paused)) await button("Play").click();
    await until(() => !bough.settings.paused);
}

// A setting takes the value that a control asks for: the program says so.
async function setting(name, value, check) {
    await control(name).fill(String(value));
    await until(check);
}

// A vertex of some part of the component that is in front of the others, and where it is on the screen.
async function visibleVertex(component) {
    const spot = await look((component) => {
        for (let part = 0; part < bough.partCount(); part++) {
            if (bough.componentName(part) !== component || bough.parts.absent?.includes(part)) continue;
            for (const share of [0.6, 0.35, 0.85]) {
                const vertex = Math.floor(share * bough.vertexCount(part));
                const pixel = bough.project(bough.vertexPosition(part, vertex));
                if (!pixel || pixel[0] < 285 || pixel[0] > 500 || pixel[1] < 65 || pixel[1] > 480) continue;
                const hit = bough.at(...pixel);
                if (hit?.part === part) return { part, vertex: hit.vertex, pixel };
            }
        }
        return null;
    }, component);
    assert.ok(spot, `no ${component} can be seen`);
    return spot;
}

test("the page loads and draws an oak, green and brown", async () => {
    await until(() => window.bough?.drawn > 2 && bough.frame > 1);
    assert.equal(await look(() => bough.state), "open");
    assert.equal(await look(() => bough.partCount()), 91);
    assert.ok((await look(() => bough.triangles)) > 100000);
    await key("\\");
    const picture = measure(await page.screenshot());
    await key("\\");
    assert.ok(picture.colours > 40, `${picture.colours} colours`);
    assert.ok(picture.green > 0.003, `${picture.green} is green`);
    assert.ok(picture.brown > 0.005, `${picture.brown} is brown`);
});

test("what the page draws is where the program has it", async () => {
    await button("Pause").click();
    await atRest(page);
    const [nearest, alone, hit] = await look(() => {
        const names = bough.columns, values = bough.numbers.values;
        const top = ["top.x", "top.y", "top.z"].map((name) => values[names.indexOf(name)]);
        const far = (a, b) => Math.hypot(a[0] - b[0], a[1] - b[1], a[2] - b[2]);
        let nearest = Infinity, alone = 0, hit = 0;
        for (let part = 0; part < bough.partCount(); part++)
            for (let v = 0; v < bough.vertexCount(part); v++) nearest = Math.min(nearest, far(top, bough.vertexPosition(part, v)));
        for (let part = 0; part < bough.partCount(); part += 3) {
            const v = bough.vertexCount(part) - 1 - part;
            alone = Math.max(alone, far(bough.drawnPosition(part, v), bough.vertexPosition(part, v)));
        }
        // The point under a pixel lies near the vertex that picking names.
        for (let part = 0; part < 12; part++) {
            const pixel = bough.project(bough.vertexPosition(part, bough.vertexCount(part) >> 1));
            const found = pixel && bough.at(...pixel);
            if (found) hit = Math.max(hit, far(found.point, bough.vertexPosition(found.part, found.vertex)));
        }
        return [nearest, alone, hit];
    });
    assert.ok(nearest < 2e-3, `the probe is ${nearest} m from the nearest vertex`);
    assert.ok(alone < 1e-4, `the GPU has vertices ${alone} m beside their place`);
    assert.ok(hit > 0 && hit < 0.15, `picked points are ${hit} m from their vertices`);
});

test("paused, a step is one step of dt; reset begins again", async () => {
    const before = await look(() => bough.numbers.time);
    await key(".");
    await until((before) => bough.numbers.time > before, before);
    const { dt } = await look(() => bough.settings);
    assert.ok(Math.abs((await look(() => bough.numbers.time)) - before - dt) < 1e-6);
    await button("Reset").click();
    await until(() => bough.numbers.time === 0);
    await key(" ");
    await until(() => !bough.settings.paused && bough.numbers.time > 0.2);
});

test("sliders and lists change what the program does", async () => {
    await rest();
    await setting("Wind", 12, () => Math.abs(bough.settings.wind.velocity[0] - 12) < 1e-6);
    await setting("Wind direction", 90, () => Math.abs(bough.settings.wind.velocity[1] - 12) < 1e-6);
    await setting("Gusts", 0.8, () => Math.abs(bough.settings.wind.gust - 0.8) < 1e-6);
    await button("Scene's wind").click();
    await until(() => Math.abs(bough.settings.wind.velocity[0] - 6) < 1e-6);
    await setting("Wind", 0, () => bough.settings.wind.velocity.every((v) => Math.abs(v) < 1e-9));
    await setting("Gravity", 5, () => Math.abs(bough.settings.gravity[2] + 5) < 1e-6);
    await setting("Gravity", 9.81, () => Math.abs(bough.settings.gravity[2] + 9.81) < 1e-6);
    await setting("Speed", -1, () => Math.abs(bough.settings.speed - 0.1) < 1e-3);
    await setting("Speed", 0, () => bough.settings.speed === 1);
    const { dt } = await look(() => bough.settings);
    await setting("Time step", -2, () => Math.abs(bough.settings.dt - 0.01) < 1e-4);
    await setting("Time step", Number(Math.log10(dt).toFixed(2)), () => bough.settings.dt < 0.006);
    for (const [name, setting, value, back] of [["Coupling", "coupling", "L1", "L3"], ["Integrator", "integrator", "newmark", "hht"], ["Continuity", "continuity", "none", "C0"]])
        for (const choice of [value, back]) {
            await control(name).selectOption(choice);
            await until(([setting, choice]) => bough.settings[setting] === choice, [setting, choice]);
        }
    assert.deepEqual(await look(() => bough.notes), []);
});

test("a branch that is dragged comes along, and goes back", async () => {
    await go();
    // The branch sways: on a slow machine it may have left the pixel before the mouse is pressed.
    const { part, vertex, pixel, start } = await (async () => {
        for (;;) {
            const { part, vertex, pixel } = await visibleVertex("limb");
            const start = await look(([part, vertex]) => bough.vertexPosition(part, vertex), [part, vertex]);
            await page.mouse.move(...pixel);
            await page.mouse.down();
            await page.mouse.move(pixel[0] + 40, pixel[1] + 30, { steps: 3 });
            if ((await look(() => bough.held)).length > 0) return { part, vertex, pixel, start };
            await page.mouse.up();
        }
    })();
    const place = () => look(([part, vertex]) => bough.vertexPosition(part, vertex), [part, vertex]);
    // As far as it takes: thick branches give way less.
    const pulled = async () => distance(await place(), start) > 0.15;
    for (let k = 2; !(await pulled()); k = Math.min(k + 1, 6)) {
        await page.mouse.move(Math.min(pixel[0] + 45 * k, 780), Math.min(pixel[1] + 35 * k, 545), { steps: 3 });
        const { time } = await look(() => bough.numbers);
        await until((time) => bough.numbers.time > time + 0.1, time);
    }
    assert.deepEqual(await look(() => bough.held), [0]);
    assert.match(await page.locator("#labels span").textContent(), /^[\d.]+ [µmk]?N$/);
    const down = (await place())[2];
    assert.ok(down < start[2], "it was pulled downwards");
    await page.mouse.up();
    assert.deepEqual(await look(() => bough.held), []);
    await until(([part, vertex, start]) => Math.hypot(...bough.vertexPosition(part, vertex).map((x, i) => x - start[i])) < 0.1, [part, vertex, start]);
});

test("a click picks a part; it can be made stiffer, damped and locked, alone or with its siblings", async () => {
    await rest();
    const { part, pixel } = await visibleVertex("limb");
    await page.mouse.click(...pixel);
    await until((part) => bough.picked?.part === part, part);
    const picked = await look(() => bough.picked);
    assert.equal(picked.component, "limb");
    assert.ok(picked.frequencies[0] > 0.2 && picked.frequencies[0] < 20 && picked.mass > 1);
    const panel = await page.getByLabel("Part and plots").textContent();
    for (const text of [picked.name, "limb", "kg", "Hz"]) assert.ok(panel.includes(text), `the panel lacks ${text}`);
    await setting("Stiffness", 0.3, () => bough.picked.stiffness > 1.9);
    assert.deepEqual(await look(() => bough.parts.stiffness.map(([part]) => part)), [part]);
    await control("All of its component").check();
    await setting("Stiffness", 0.48, () => bough.parts.stiffness.length > 1);
    await setting("Damping", 0.2, () => bough.parts.damping.length > 1 && Math.abs(bough.picked.damping - 0.2) < 1e-6);
    await button("Lock").click();
    await until((part) => bough.parts.locked.includes(part), part);
    await button("Unlock").click();
    await until(() => bough.parts.locked.length === 0);
});

test("numbers can be typed, also beyond the end of a slider", async () => {
    const wind = page.getByLabel("Wind, as a number");
    await wind.fill("55");
    await wind.press("Enter");
    await until(() => Math.abs(Math.hypot(...bough.settings.wind.velocity) - 55) < 1e-6);
    assert.equal(await wind.inputValue(), "55.0 m/s");
    await wind.fill("much");
    await wind.press("Enter");
    assert.equal(await wind.inputValue(), "55.0 m/s", "what is no number changes nothing");
    const dt = page.getByLabel("Time step, as a number");
    await dt.fill("4");
    await dt.press("Enter");
    await until(() => Math.abs(bough.settings.dt - 0.004) < 1e-9);
    await wind.fill("0");
    await wind.press("Enter");
    await until(() => Math.hypot(...bough.settings.wind.velocity) < 1e-9);
    assert.equal(await look(() => bough.settings.paused), true, "letters and blanks are typed, not pressed as keys");
});

test("parts are found by name, and a click on the list picks and centres them", async () => {
    await page.keyboard.press("/");
    const tree = page.getByRole("tree", { name: "Parts" }), items = tree.getByRole("treeitem");
    assert.equal(await items.first().getAttribute("aria-expanded"), "true");
    await page.keyboard.type("leaf");
    await page.getByText("50 of 91", { exact: true }).waitFor({ timeout: WAIT });
    assert.equal(await items.count(), 50);
    await items.nth(20).click();
    await until(() => bough.picked?.component === "leaf");
    const { part, name } = await look(() => bough.picked);
    assert.equal(await items.nth(20).getAttribute("aria-label"), name);
    const [x, y] = await look((part) => bough.project(bough.vertexPosition(part, bough.vertexCount(part) >> 1)), part);
    assert.ok(Math.hypot(x - 400, y - 280) < 60, `it is drawn at ${x}, ${y}`);
    // By keys: the search ends, the tree is walked.
    await page.keyboard.press("/");
    await page.keyboard.press("Escape");
    await page.keyboard.press("/");
    await page.keyboard.press("ArrowDown");
    await page.keyboard.press("ArrowDown");
    await page.keyboard.press("Enter");
    await until(() => bough.picked?.parent === 0);
    // What is picked elsewhere is shown in the list, unfolded.
    await look(() => document.activeElement.blur());
    await page.keyboard.press("[");
    await until(() => bough.picked?.part === 0);
    assert.equal(await tree.locator("[aria-selected=true]").first().getAttribute("aria-label"), await look(() => bough.partName(0)));
    await page.getByText("Parts", { exact: true }).click();
    await page.keyboard.press("f");
});

test("a poke moves what it hits", async () => {
    await rest();
    await button("Reset").click(); // where it stands still, nothing is slowed down
    await until(() => bough.time === 0 && bough.numbers.time === 0);
    const { pixel } = await visibleVertex("limb");
    const step = async () => {
        const { time } = await look(() => bough.numbers);
        await key(".");
        await until((time) => bough.numbers.time > time, time);
        return look(() => bough.numbers.values[bough.columns.indexOf("kinetic")]);
    };
    const before = await step();
    await page.keyboard.down("Shift");
    await page.mouse.click(...pixel);
    await page.keyboard.up("Shift");
    const after = await step();
    assert.ok(after > before + 1, `${before} J became ${after} J`);
});

test("a branch that is cut off falls, with its own; reset brings it back", async () => {
    await go();
    const part = await look(() => bough.picked.part);
    const height = () => look((part) => bough.partPosition(part)[2], part);
    const start = await height();
    await button("Cut off").click();
    await until((part) => bough.parts.loose.includes(part), part);
    await until(([part, start]) => bough.partPosition(part)[2] < start - 0.5, [part, start]);
    const child = await look((part) => [...Array(bough.partCount()).keys()].find((p) => bough.parent(p) === part), part);
    assert.ok((await look((child) => bough.partPosition(child)[2], child)) < start + 1.5);
    await button("Reattach").click();
    await until((part) => !bough.parts.loose.includes(part), part);
    await key("Delete");
    await until((part) => bough.parts.absent.includes(part), part);
    const all = await look(() => bough.triangles);
    await key("r");
    await until((start) => bough.parts.absent.length === 0 && Math.abs(bough.partPosition(bough.picked.part)[2] - start) < 0.1, start);
    assert.ok((await look(() => bough.triangles)) > all, "what was removed is drawn again");
});

test("colours show displacement, stress and interfaces, with a legend", async () => {
    await rest();
    const end = page.getByLabel("Legend").locator(".ends span").last();
    for (const [way, unit] of [["stress", "Pa"], ["deviation", ""], ["displacement", "m"]]) {
        await control("Colour").selectOption(way);
        await until((way) => bough.colour.way === way && bough.colour.whole > 0, way);
        const legend = await end.textContent(), { whole } = await look(() => bough.colour);
        assert.match(legend, unit ? new RegExp(`^[\\d.]+ [µmkMG]?${unit}$`) : /^[\d.e-]+$/);
        // A number without a unit is the number itself: no "m" for a thousandth.
        if (!unit) assert.ok(Math.abs(Number(legend) / whole - 1) < 0.1, `the legend says ${legend} for ${whole}`);
    }
    await key("f");
    await drawn(page);
    const picture = measure(await page.screenshot());
    assert.ok(picture.blue > 0.003 && picture.green + picture.yellow > 0.0005, JSON.stringify(picture));
    const coloured = picture.colours;
    await control("Wireframe").selectOption("surface");
    await control("Shadows").check();
    await drawn(page);
    assert.notEqual(measure(await page.screenshot()).colours, coloured);
    await control("Wireframe").selectOption("none");
    await control("Shadows").uncheck();
    await control("Colour").selectOption("natural");
});

test("a ghost of another coupling runs beside it, and stages follow each other", async () => {
    await rest();
    await control("Ghost").selectOption({ label: "tree, L1" });
    await until(() => bough.layerCount === 2 && bough.partCount(1) === 91 && Math.abs(bough.partPosition(50, 1)[2]) > 0.1 && Math.abs(bough.partPosition(50)[2]) > 0.1);
    const apart = await look(() => {
        const a = bough.partPosition(50), b = bough.partPosition(50, 1);
        return Math.hypot(a[0] - b[0], a[1] - b[1], a[2] - b[2]);
    });
    assert.ok(apart < 0.5, `the ghost is ${apart} m away`);
    await control("Ghost").selectOption({ label: "none" });
    await until(() => bough.layerCount === 1);
    // Surfaces that are made smooth come as vertices; back and forth, frames go on.
    await control("Continuity").selectOption("C1");
    await until(() => bough.settings.continuity === "C1");
    await go();
    const { frame } = await look(() => bough);
    await until((frame) => bough.frame > frame + 3, frame);
    await control("Continuity").selectOption("C0");
    await until(() => bough.settings.continuity === "C0");
});

test("plots go on", async () => {
    await go();
    const { samples } = await look(() => bough.plots);
    await until((samples) => bough.plots.samples > samples + 3, samples);
    const { latest } = await look(() => bough.plots);
    for (const name of ["Energy", "Work and balance", "Step time", "Real-time factor", "Probes"]) {
        assert.ok(latest[name].points > 3, `${name} has ${latest[name].points} points`);
        assert.ok(latest[name].values.every(Number.isFinite), name);
    }
    assert.ok((await page.locator(".plot canvas").count()) >= 3);
});

test("recordings are made by the program, films and pictures by the page", async () => {
    await button("Record").click();
    await until(() => bough.settings.recording);
    const { time } = await look(() => bough.numbers);
    await until((time) => bough.numbers.time > time + 0.2, time);
    await button("Stop recording").click();
    const links = page.getByLabel("Recordings").getByRole("link");
    await links.first().waitFor({ timeout: WAIT });
    // Nobody has to look for them: they are in the picture, and no panel has to be scrolled.
    const hidden = () => [...document.querySelectorAll("[aria-label=Recordings] a")].flatMap((a) => {
        const { x, y, height } = a.getBoundingClientRect(), there = document.elementFromPoint(x + 5, y + height / 2);
        return a.contains(there) ? [] : [`${a.textContent} at ${x}, ${y}: ${there?.outerHTML.slice(0, 200)}`];
    });
    for (const end = Date.now() + WAIT; (await look(hidden)).length > 0;) {
        assert.ok(Date.now() < end, `recordings cannot be seen: ${await look(hidden)}`);
        await page.waitForTimeout(50);
    }
    const names = await links.allTextContents();
    const starts = { glb: /^glTF/, csv: /^time,/ };
    for (const [ending, start] of Object.entries(starts)) {
        const at = names.findIndex((name) => name.endsWith(`.${ending}`));
        assert.ok(at >= 0, `there is no .${ending} among ${names}`);
        const [download] = await Promise.all([page.waitForEvent("download", { timeout: WAIT }), links.nth(at).click()]);
        assert.match(readFileSync(await download.path(), "latin1").slice(0, 16), start);
    }
    await button("Film").click();
    await until((drawn) => bough.drawn > drawn + 2, await look(() => bough.drawn));
    const [film] = await Promise.all([page.waitForEvent("download", { timeout: WAIT }), button("Stop filming").click()]);
    assert.match(film.suggestedFilename(), /\.webm$/);
    assert.equal(readFileSync(await film.path()).readUInt32BE(0), 0x1a45dfa3); // EBML
    const [photo] = await Promise.all([page.waitForEvent("download", { timeout: WAIT }), key("p")]);
    const picture = measure(readFileSync(await photo.path()));
    assert.ok(picture.green > 0.003 && picture.brown > 0.005, JSON.stringify(picture));
});

test("keys: help, theme, panels, camera, tools", async () => {
    await rest();
    await key("?");
    assert.ok(await page.getByRole("dialog").isVisible());
    assert.match(await page.getByRole("dialog").textContent(), /cut the part off/);
    await key("Escape");
    const theme = () => look(() => document.documentElement.dataset.theme);
    const before = await theme();
    await key("y");
    assert.notEqual(await theme(), before);
    await key("y");
    const seen = () => look(() => bough.project([1, 0, 2]));
    const at = await seen();
    await key("ArrowLeft");
    await key("PageUp");
    assert.ok(distance(at, await seen()) > 5);
    await key("f");
    await key("z");
    await button("Tool: look").click();
    await button("Tool: pull").waitFor();
    await key("Escape");
    assert.equal(await look(() => bough.picked), null);
});

test("two fingers zoom", async () => {
    const client = await page.context().newCDPSession(page);
    const touch = (type, ...points) => client.send("Input.dispatchTouchEvent", { type, touchPoints: points.map(([x, y], id) => ({ x, y, id })) });
    const width = () => look(() => Math.hypot(...bough.project([0, 0, 0]).map((x, i) => x - bough.project([0, 0, 3])[i])));
    const before = await width();
    await touch("touchStart", [340, 250]);
    await touch("touchStart", [340, 250], [440, 250]);
    await touch("touchMove", [320, 250], [460, 250]);
    await touch("touchMove", [290, 250], [490, 250]);
    await touch("touchEnd");
    assert.ok((await width()) > 1.3 * before, "it is not larger");
    await key("f");
});

test("parts that were one mesh are drawn without gaps, until they are cut apart", async () => {
    const copy = join(folder, "y");
    makeCooked(copy, yTree);
    const other = await startView(join(copy, "scene.json"));
    const own = await openPage(browser, other.url);
    try {
        await own.waitForFunction(() => window.bough?.time > 0.3, null, { timeout: WAIT });
        await own.getByRole("button", { name: "Pause" }).click();
        await atRest(own);
        // How far copies are from their mean: as parts have them, and as they are drawn.
        const gaps = () => own.evaluate(() => {
            const far = (a, b) => Math.hypot(a[0] - b[0], a[1] - b[1], a[2] - b[2]);
            const seams = bough.seams();
            let apart = 0, drawn = 0;
            for (const seam of seams) {
                const points = seam.map(({ part, vertex }) => bough.vertexPosition(part, vertex));
                const mean = [0, 1, 2].map((c) => points.reduce((sum, x) => sum + x[c], 0) / points.length);
                seam.forEach(({ part, vertex }, i) => {
                    apart = Math.max(apart, far(points[i], mean));
                    drawn = Math.max(drawn, far(bough.drawnPosition(part, vertex), mean));
                });
            }
            return { seams: seams.length, apart, drawn };
        });
        // When the pause comes depends on the machine, and a tree that swings has moments without gaps: steps lead out of them.
        let { seams, apart, drawn } = await gaps();
        for (let step = 0; step < 60 && apart < 2e-5; step++) {
            await own.keyboard.press("."), await atRest(own);
            ({ seams, apart, drawn } = await gaps());
        }
        assert.ok(seams > 20 && apart > 2e-5 && drawn < apart / 20, JSON.stringify({ seams, apart, drawn }));
        await own.keyboard.press("]");
        await own.keyboard.press("]");
        await own.waitForFunction(() => bough.picked?.part === 1, null, { timeout: WAIT });
        await own.keyboard.press("x");
        await own.waitForFunction(() => bough.parts.loose.includes(1), null, { timeout: WAIT });
        assert.ok((await gaps()).seams < seams);
        assert.deepEqual(own.errors, []);
    } finally {
        await own.close();
        await other.stop();
    }
});

test("when the program goes the page says so, and comes back with it", async () => {
    const options = ["--port", String(server.port), "--token", server.token];
    await server.stop("SIGKILL");
    await until(() => bough.state === "lost");
    assert.match(await page.locator("#state").textContent(), /does not answer|was lost/);
    server = await startView(scene, ...options);
    await until(() => bough.state === "open" && bough.frame > 0 && bough.numbers.time < 20);
    const { drawn } = await look(() => bough);
    await until((drawn) => bough.drawn > drawn + 1, drawn);
});

const gone = /WebSocket connection|Failed to load resource/; // what browsers say when a program ends

test("a wrong token is told", async () => {
    const stranger = await browser.newPage();
    const answer = await stranger.goto(server.url.replace(/token=.*/, "token=0123456789abcdef0123456789abcdef"));
    assert.equal(answer.status(), 403);
    assert.match(await stranger.textContent("body"), /token/);
    await stranger.close();
    const { port } = server;
    await server.stop();
    await until(() => bough.state === "lost");
    server = await startView(scene, "--port", String(port));
    await until(() => bough.state === "refused");
    assert.match(await page.getByRole("alert").textContent(), /token/);
});

// The last of all, so that it has seen them.
test("the console showed no error, but that the program was gone", () => {
    assert.ok(page.errors.some((text) => gone.test(text)), "it would have been seen");
    assert.deepEqual(page.errors.filter((text) => !gone.test(text)), []);
});
