// How the page looks and is handled: dark and light, on a phone, in a hidden tab, by keys alone.

import assert from "node:assert/strict";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { measure, readPng } from "./picture.js";
import { WAIT, atRest, drawn, makeCooked, makeFolder, openPage, removeFolder, startBrowser, startView, yTree } from "./session.js";

let folder, browser, view, page;

before(async () => {
    folder = makeFolder();
    makeCooked(folder, yTree);
    [view, browser] = await Promise.all([startView(join(folder, "scene.json")), startBrowser()]);
});

after(async () => {
    await browser?.close();
    await view?.stop();
    if (folder) removeFolder(folder);
});

const look = (what, ...args) => page.evaluate(what, ...args);
const until = (what, arg) => page.waitForFunction(what, arg, { timeout: WAIT, polling: 50 });
const button = (name) => page.getByRole("button", { name, exact: true });

// A page takes seconds of a processor to load: tests that want the same page share it.
let opened = "";
async function open(options = {}) {
    if (JSON.stringify(options) !== opened) {
        await page?.context().close();
        page = await openPage(browser, view.url, options);
        opened = JSON.stringify(options);
        await until(() => window.bough?.drawn > 0 && bough.frame > 0); // one frame, where it rests
    }
    await play();
}

// From whatever an earlier test left.
async function play() {
    if (await look(() => bough.settings.paused)) await page.keyboard.press(" ");
    await until(() => bough.drawn > 2 && bough.frame > 1 && !bough.settings.paused);
}

// Red, green, blue of the middle of an edge of the screen, as it is drawn.
async function pixel(x, y) {
    const { width, channels, pixels } = readPng(await page.screenshot());
    return [...pixels.subarray(channels * (y * width + x), channels * (y * width + x) + 3)];
}

// Of WCAG: 1 (the same) to 21 (black on white).
function contrast(a, b) {
    const linear = (c) => (c / 255 <= 0.04045 ? c / 255 / 12.92 : ((c / 255 + 0.055) / 1.055) ** 2.4);
    const luminance = ([r, g, b]) => 0.2126 * linear(r) + 0.7152 * linear(g) + 0.0722 * linear(b);
    const [low, high] = [luminance(a), luminance(b)].sort((x, y) => x - y);
    return (high + 0.05) / (low + 0.05);
}

// Colours of a text and of the panel behind it; the panel is drawn over the picture.
const colours = (selector) => look((selector) => {
    const read = (text) => text.match(/[\d.]+/g).map(Number);
    const element = document.querySelector(selector);
    let behind = element;
    while (behind && (read(getComputedStyle(behind).backgroundColor)[3] ?? 1) < 0.5) behind = behind.parentElement;
    const kept = read(getComputedStyle(behind ?? document.body).backgroundColor).slice(0, 3);
    return { text: read(getComputedStyle(element).color).slice(0, 3), behind: kept };
}, selector);

test("dark and light follow the system, and can be read", async () => {
    const skies = {};
    for (const scheme of ["light", "dark"]) {
        await open({ colorScheme: scheme, deviceScaleFactor: 1 });
        assert.equal(await look(() => document.documentElement.dataset.theme), scheme);
        for (const selector of ["#left label span", "#right summary", "#bottom button", "#clock", "#state", "#scene", ".facts, .hint"]) {
            const { text, behind } = await colours(selector);
            assert.ok(contrast(text, behind) > 4.5, `${scheme}: ${selector} is ${text} on ${behind}`);
        }
        skies[scheme] = await pixel(400, 62);
        const { colours: count } = measure(await page.screenshot());
        assert.ok(count > 20, `${scheme}: ${count} colours`);
    }
    assert.ok(contrast(skies.light, skies.dark) > 4, JSON.stringify(skies));
    // What the system changes is followed at once.
    await page.emulateMedia({ colorScheme: "light" });
    await until(() => document.documentElement.dataset.theme === "light");
    assert.deepEqual(page.errors, []);
});

test("the floor does not pretend to be solid: between its lines there is nothing", async () => {
    await open({ colorScheme: "dark", deviceScaleFactor: 1 });
    await page.keyboard.press("\\");
    await page.keyboard.press(" ");
    await atRest(page);
    const shown = async (key = "N") => {
        await page.keyboard.press(key);
        await drawn(page);
        return readPng(await page.screenshot());
    };
    const without = await shown(), lines = await shown();
    // Of the lower half of the picture, that the floor fills: only its lines differ from a picture without it.
    let differ = 0, all = 0;
    for (let y = 330; y < 545; y++)
        for (let x = 20; x < 780; x += 3, all++) {
            const i = lines.channels * (y * lines.width + x);
            differ += [0, 1, 2].some((c) => Math.abs(lines.pixels[i + c] - without.pixels[i + c]) > 4);
        }
    assert.ok(differ > 0.004 * all, "there is no floor");
    assert.ok(differ < 0.25 * all, `${Math.round((100 * differ) / all)} % of it is filled`);
    // Axes stand in a corner: red, green and blue.
    const axes = await shown("A"), found = [0, 0, 0];
    for (let y = 400; y < 560; y++)
        for (let x = 0; x < 200; x++) {
            const i = axes.channels * (y * axes.width + x), rgb = [...axes.pixels.subarray(i, i + 3)], most = Math.max(...rgb);
            rgb.forEach((c, k) => (found[k] += c === most && rgb.every((d, j) => j === k || d < 0.75 * c)));
        }
    assert.ok(found.every((count) => count > 15), `pixels of the axes: ${found}`);
    await page.keyboard.press("A");
    await page.keyboard.press("\\");
});

test("how hard somebody pulls is seen also over a panel", async () => {
    const spot = await look(() => {
        for (let part = 2; part >= 0; part--)
            for (let vertex = 0; vertex < bough.vertexCount(part); vertex += 5) {
                const pixel = bough.project(bough.vertexPosition(part, vertex));
                if (pixel && document.elementFromPoint(...pixel)?.id === "picture" && bough.at(...pixel)?.part === part) return pixel;
            }
        return null;
    });
    assert.ok(spot, "no branch can be seen");
    await page.mouse.move(...spot);
    await page.mouse.down();
    await page.mouse.move(700, 200, { steps: 4 }); // over the panel at the right
    const label = page.locator("#labels span");
    await label.waitFor({ timeout: WAIT });
    await until(() => /N$/.test(document.querySelector("#labels span").textContent));
    const { inside, above } = await label.evaluate((label) => {
        const { left, right, top, bottom } = label.getBoundingClientRect();
        label.parentElement.style.pointerEvents = label.style.pointerEvents = "auto"; // so that it can be asked for
        const there = document.elementFromPoint((left + right) / 2, (top + bottom) / 2);
        label.parentElement.style.pointerEvents = label.style.pointerEvents = "";
        return { inside: left >= 0 && right <= innerWidth && top >= 0, above: there === label };
    });
    await page.mouse.up();
    assert.ok(inside && above, JSON.stringify({ inside, above }));
});

const phone = { viewport: { width: 390, height: 844 }, hasTouch: true, isMobile: true };

test("on a phone the scene is seen, the controls are reached, and a finger pulls", async () => {
    await open(phone);
    const { clientWidth, scrollWidth } = await look(() => ({ clientWidth: document.documentElement.clientWidth, scrollWidth: document.documentElement.scrollWidth }));
    assert.ok(scrollWidth <= clientWidth + 1, `the page is ${scrollWidth} wide on a screen of ${clientWidth}`);
    const inside = async (name) => {
        const box = await button(name).boundingBox();
        assert.ok(box && box.x >= -1 && box.x + box.width <= 391 && box.y >= 0 && box.y + box.height <= 845, `${name} is at ${JSON.stringify(box)}`);
    };
    for (const name of ["Pause", "Reset", "Step", "Panels", "Fit"]) await inside(name);
    // Fit fills 0.74 of the height by a tall scene: bars are above and below that.
    const bars = await look(() => ["top", "bottom"].map((id) => document.getElementById(id).getBoundingClientRect()).map(({ top, bottom }) => ({ top, bottom })));
    assert.ok(bars[0].bottom < 844 * 0.13 + 8 && bars[1].top > 844 * 0.87 - 8, JSON.stringify(bars));
    // Panels are sheets that come when they are called.
    await button("Panels").tap();
    await page.getByLabel("Wind", { exact: true }).waitFor({ state: "visible", timeout: WAIT });
    const wind = await page.getByLabel("Wind", { exact: true }).boundingBox();
    assert.ok(wind.x >= 0 && wind.x + wind.width <= 390 && wind.y >= 0 && wind.y < 844);
    await button("Panels").tap();
    await until(() => !document.body.classList.contains("sheets"));
    // It rests while a place to touch is looked for and touched: on a busy machine it would be elsewhere by then.
    await button("Pause").tap();
    await atRest(page);
    const spot = await look(() => {
        for (let part = bough.partCount() - 1; part >= 0; part--)
            for (let vertex = bough.vertexCount(part) - 1; vertex >= 0; vertex -= 7) {
                const pixel = bough.project(bough.vertexPosition(part, vertex));
                if (!pixel || pixel[0] < 20 || pixel[0] > 340 || pixel[1] < 150 || pixel[1] > 600) continue;
                const hit = document.elementFromPoint(...pixel)?.id === "picture" && bough.at(...pixel);
                if (hit && hit.part === part && bough.vertexPosition(part, hit.vertex)[2] > 1) return { part, vertex: hit.vertex, pixel };
            }
        return null;
    });
    assert.ok(spot, "no branch can be touched");
    const cdp = await page.context().newCDPSession(page);
    const touch = (type, ...points) => cdp.send("Input.dispatchTouchEvent", { type, touchPoints: points.map(([x, y]) => ({ x, y, id: 0 })) });
    const [x, y] = spot.pixel, start = await look(({ part, vertex }) => bough.vertexPosition(part, vertex), spot);
    await touch("touchStart", [x, y]);
    for (const share of [0.3, 0.6, 1]) await touch("touchMove", [x + 60 * share, y + 60 * share]);
    await until(() => bough.held.length === 1);
    await page.keyboard.press(" ");
    await until(([{ part, vertex }, start]) => Math.hypot(...bough.vertexPosition(part, vertex).map((c, i) => c - start[i])) > 0.005, [spot, start]);
    await touch("touchEnd");
    await until(() => bough.held.length === 0);
    assert.deepEqual(page.errors, []);
});

test("on a phone that lies on its side no bar covers the panels", async () => {
    await open(phone);
    await page.setViewportSize({ width: 844, height: 390 });
    await until(() => innerWidth === 844 && innerHeight === 390);
    await drawn(page); // where fingers find things is what the last picture shows
    await button("Panels").tap();
    await until(() => document.body.classList.contains("sheets"));
    await page.getByLabel("Gravity", { exact: true }).waitFor({ state: "visible", timeout: WAIT });
    for (const [width, height] of [[844, 390], [667, 375]]) {
        await page.setViewportSize({ width, height });
        for (const paused of [false, true]) {
            if ((await look(() => bough.settings.paused)) !== paused) await button(paused ? "Pause" : "Play").tap();
            await until((paused) => bough.settings.paused === paused && document.body.classList.contains("paused") === paused, paused);
            const boxes = await look(() => Object.fromEntries(["top", "left", "right", "bottom"].map((id) => {
                const { left, right, top, bottom } = document.getElementById(id).getBoundingClientRect();
                return [id, { left, right, top, bottom }];
            })));
            const timeline = await page.locator(".timeline").boundingBox();
            assert.equal(timeline !== null, paused, "it takes place while it is of use");
            for (const id of ["left", "right"]) {
                const { left, right, top, bottom } = boxes[id];
                assert.ok(left >= 0 && right <= width && bottom - top > 120, `${id} has no room: ${JSON.stringify(boxes)}`);
                assert.ok(top >= boxes.top.bottom && bottom <= (timeline ? timeline.y : boxes.bottom.top) + 1, `a bar covers ${id}: ${JSON.stringify(boxes)}`);
            }
            assert.ok(boxes.left.right <= boxes.right.left, "the panels cover each other");
            assert.ok(boxes.bottom.bottom <= height && boxes.bottom.left >= 0 && boxes.bottom.right <= width, JSON.stringify(boxes.bottom));
        }
        assert.deepEqual(page.errors, []);
    }
});

test("a tab that is hidden asks for no frames, and goes on when it is seen again", async () => {
    await open();
    const cdp = await page.context().newCDPSession(page);
    // Another tab in front: browsers then call no requestAnimationFrame, and neither does this.
    const hide = (hidden) => page.evaluate((hidden) => {
        Object.defineProperty(document, "hidden", { configurable: true, get: () => hidden });
        Object.defineProperty(document, "visibilityState", { configurable: true, get: () => (hidden ? "hidden" : "visible") });
        window.hiddenFrames ??= window.requestAnimationFrame;
        window.requestAnimationFrame = hidden ? (call) => ((window.waiting = call), 0) : window.hiddenFrames;
        document.dispatchEvent(new Event("visibilitychange"));
        if (!hidden && window.waiting) window.requestAnimationFrame(window.waiting), (window.waiting = null);
    }, hidden);
    await hide(true);
    await until(() => window.waiting); // the picture that was asked for before is drawn
    const before = await look(() => ({ frame: bough.frame, drawn: bough.drawn, time: bough.numbers.time }));
    await until((time) => bough.numbers.time > time + 0.5, before.time); // the simulation goes on
    const after = await look(() => ({ frame: bough.frame, drawn: bough.drawn }));
    assert.ok(after.drawn === before.drawn, "something was drawn");
    assert.ok(after.frame <= before.frame + 2, `${after.frame - before.frame} frames came`);
    await hide(false);
    await until((drawn) => bough.drawn > drawn + 2, after.drawn);
    await until((frame) => bough.frame > frame + 3, after.frame);
    await cdp.detach();
    assert.deepEqual(page.errors, []);
});

test("the last seconds can be looked at again, and gone on from", async () => {
    await open();
    await button("Pause").click();
    await until(() => bough.settings.paused);
    await button("Reset").click();
    await until(() => bough.time === 0 && bough.numbers.time === 0 && bough.timeline.from === 0); // nothing of before is under way
    await play();
    await until(() => bough.time > 0.9 && bough.time < 15);
    const track = page.getByLabel("Look back", { exact: true });
    const { from } = await look(() => bough.timeline);
    await track.fill(String(Number(((await look(() => bough.time)) - 0.5).toFixed(2)))); // "0.5", not "0.50"
    await until(() => bough.timeline.time !== null && bough.settings.paused);
    const past = await look(() => ({ shown: bough.timeline.time, drawn: bough.time, tip: bough.vertexPosition(1, 0), now: bough.numbers.time, from: bough.timeline.from }));
    assert.ok(Math.abs(past.shown - past.drawn) < 1e-9 && past.now > past.shown + 0.3 && past.from <= from + 0.5, JSON.stringify(past));
    assert.match(await page.locator(".timeline .ago").textContent(), /s ago/);
    await button("Now").click();
    await until(() => bough.timeline.time === null && bough.time > 0.9);
    await until(() => !bough.settings.paused); // as it was
    await track.fill(String(Number(past.shown.toFixed(2))));
    await until(() => bough.timeline.time !== null);
    const before = await look(() => bough.numbers.time);
    await button("Go on from here").click();
    await until((shown) => !bough.settings.paused && bough.timeline.time === null && bough.numbers.time < shown + 0.6, past.shown);
    assert.ok((await look(() => bough.time)) < before, "time did not go back");
    assert.deepEqual(page.errors, []);
});

test("states are saved by name, restored and forgotten", async () => {
    await open();
    await page.getByText("Saved states", { exact: true }).click();
    await page.getByLabel("Name of the state").fill("windy");
    await page.keyboard.press("Enter");
    const restore = button("Restore windy");
    await restore.waitFor({ timeout: WAIT });
    const [{ time }] = await look(() => bough.states);
    await until((time) => bough.time > time + 0.4, time);
    await button("Pause").click();
    await until(() => bough.settings.paused);
    await restore.click();
    await until((time) => Math.abs(bough.time - time) < 1e-6 && Math.abs(bough.numbers.time - time) < 1e-6, time);
    await button("Forget windy").click();
    await until(() => bough.states.length === 0);
    assert.deepEqual(page.errors, []);
});

test("another file can be opened instead, and the scene again", async () => {
    await page.getByText("Scene", { exact: true }).click();
    const files = page.getByLabel("Open another file");
    assert.equal(await files.locator("option:checked").textContent(), "scene.json");
    await files.selectOption("y.obj");
    await until(() => document.title.startsWith("y ") && bough.frame > 0 && bough.settings.engine === "mechanism");
    assert.equal(await look(() => bough.settings.paused), true);
    await files.selectOption("scene.json");
    await until(() => bough.settings.engine === "tree" && bough.partCount() === 3 && bough.frame > 0);
    assert.deepEqual(page.errors, []);
});

test("engines change places, and with them what can be set", async () => {
    await open();
    await page.getByText("Method", { exact: true }).click();
    const engine = page.getByLabel("Engine", { exact: true });
    for (const [name, parts] of [["full", 1], ["tree", 3]]) {
        await engine.selectOption(name);
        await until(([name, parts]) => bough.settings.engine === name && bough.partCount() === parts && bough.frame > 0, [name, parts]);
        const { drawn } = await look(() => bough);
        await until((drawn) => bough.drawn > drawn + 1, drawn);
        assert.equal(await page.getByLabel("Coupling", { exact: true }).isDisabled(), name === "full");
    }
    assert.deepEqual(page.errors, []);
});

test("every key in the help does what it says", async () => {
    await open();
    await page.keyboard.press("?");
    const listed = await page.locator("dialog kbd").allTextContents();
    await page.keyboard.press("Escape");
    const names = { Space: " ", "←": "ArrowLeft", "→": "ArrowRight", "↑": "ArrowUp", "↓": "ArrowDown", Del: "Delete", Esc: "Escape", "Page ↑": "PageUp", "Page ↓": "PageDown" };
    const keys = new Set(listed.map((key) => names[key] ?? key));
    // What each changes; it is looked at before and after.
    const settings = () => look(() => JSON.stringify({ ...bough.settings }));
    const view = () => look(() => JSON.stringify([bough.project([0, 0, 0]), bough.project([0.3, 0.2, 1])]));
    const value = (name) => () => page.getByLabel(name, { exact: true }).inputValue();
    const checked = (name) => () => page.getByLabel(name, { exact: true }).isChecked();
    const html = (what) => () => look((what) => document.querySelector(what).className + document.documentElement.dataset.theme, what);
    const picked = () => look(() => bough.picked?.part ?? -1);
    const parts = () => look(() => JSON.stringify(bough.parts));
    const time = () => look(() => bough.numbers.time);
    const states = () => look(() => bough.states.length);
    const past = () => look(() => bough.timeline.time);
    const focused = () => look(() => document.activeElement.getAttribute("aria-label"));
    const changes = [
        ["]", picked], ["]", picked], ["[", picked], ["]", picked],
        [" ", settings], [".", time], ["K", states], [".", time], [",", past], [";", past], [",", past], ["<", time], [".", time], ["L", time], ["/", focused], ["Escape", focused], ["O", focused], ["Escape", focused], ["]", picked], ["+", settings], ["-", settings], ["w", settings], ["j", settings], ["J", settings], ["u", settings], ["U", settings], ["W", settings], ["w", settings], ["0", settings],
        ["g", settings], ["G", settings], ["t", settings], ["T", settings], ["k", settings], ["k", settings], ["k", settings], ["k", settings],
        ["c", value("Colour")], ["C", value("Colour")], ["n", settings], ["n", settings], ["n", settings], ["m", value("Wireframe")], ["h", checked("Shadows")], ["h", checked("Shadows")], ["N", checked("Floor grid")], ["N", checked("Floor grid")], ["A", checked("Axes")], ["A", checked("Axes")], ["R", checked("Joints and forces")], ["R", checked("Joints and forces")], ["P", checked("Contacts")], ["P", checked("Contacts")],
        ["s", parts], ["S", parts], ["d", parts], ["D", parts], ["b", checked("All of its component")],
        ["l", parts], ["l", parts], ["x", parts], ["a", parts], ["Delete", parts], ["r", parts],
        ["q", settings], ["q", settings], ["i", settings], ["o", () => look(() => bough.layerCount)], ["e", settings],
        ["z", () => page.locator("#top button").first().textContent()],
        ["ArrowLeft", view], ["ArrowRight", view], ["ArrowUp", view], ["ArrowDown", view], ["PageUp", view], ["PageDown", view], ["PageUp", view], ["f", view], ["F", checked("Follow")], ["F", checked("Follow")],
        ["\\", html("body")], ["\\", html("body")], ["y", html("body")],
        ["v", () => page.getByRole("button", { name: /ilm/ }).textContent()],
    ];
    await page.getByText("Method", { exact: true }).click();
    for (const [key, what] of changes) {
        const before = await what();
        await page.keyboard.press(key);
        let now = before;
        for (const late = Date.now() + 10000; now === before && Date.now() < late; now = await what()) await page.waitForTimeout(10);
        assert.notEqual(now, before, `"${key}" changes nothing`);
    }
    const pressed = new Set([...changes.map(([key]) => key), "p", "?", "Escape", "Y"]); // Y: in engines.test.js
    const isKey = (key) => key.length === 1 || Object.values(names).includes(key); // the help has words for pointers, too
    assert.deepEqual([...keys].filter((key) => isKey(key) && !pressed.has(key)), [], "keys that are listed and not tried");
    assert.deepEqual([...pressed].filter((key) => !keys.has(key)), [], "keys that are not listed");
    const [photo] = await Promise.all([page.waitForEvent("download", { timeout: WAIT }), page.keyboard.press("p")]);
    assert.match(photo.suggestedFilename(), /\.png$/);
    await page.keyboard.press("Escape");
    assert.equal(await look(() => bough.picked), null);
    assert.deepEqual(page.errors, []);
});
