// An engine that the program was not built with: the page shows it by what it can do, and knows nothing else of it.

import assert from "node:assert/strict";
import { existsSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { after, before, test } from "node:test";
import { WAIT, makeFolder, openPage, removeFolder, startBrowser, startViewOf } from "./session.js";

const toy = join(dirname(process.env.BOUGH_PROGRAM), "tests", "bough_toy");
const skip = existsSync(toy) ? false : "tests/bough_toy was not built";
let folder, browser, view, page;

before(async () => {
    if (skip) return;
    folder = makeFolder();
    writeFileSync(join(folder, "ball.json"), JSON.stringify({ bough: 1, bouncing: { height: 1 }, time: { dt: 0.002, duration: 10 } }));
    [view, browser] = await Promise.all([startViewOf(toy, join(folder, "ball.json")), startBrowser()]);
    page = await openPage(browser, view.url);
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

test("a bouncing ball is drawn, falls and comes up again", { skip }, async () => {
    assert.equal(await look(() => bough.partCount()), 1);
    await button("Reset").click(); // its first bounces are the high ones
    await until(() => bough.vertexPosition(0, 4)[2] > 0.75); // it begins anew, however long that takes to be shown
    await until(() => bough.vertexPosition(0, 4)[2] < 0.25);
    await until(() => bough.vertexPosition(0, 4)[2] > 0.3);
    assert.ok((await look(() => bough.vertexPosition(0, 4)[2])) < 0.75); // 0.64 m and its radius
});

test("controls are those that its engine can do something for", { skip }, async () => {
    await page.getByText("Method", { exact: true }).click();
    assert.equal(await control("Engine").inputValue(), "bouncing");
    for (const name of ["Wind", "Gusts", "Gravity", "Continuity", "Coupling"]) assert.ok(await control(name).isDisabled(), name);
    const ways = await control("Colour").locator("option").allTextContents();
    assert.ok(ways.includes("displacement") && !ways.includes("von Mises stress"), ways.join());
});

test("it begins anew", { skip }, async () => {
    await button("Pause").click();
    await button("Reset").click();
    await until(() => bough.time === 0 && Math.abs(bough.vertexPosition(0, 4)[2] - 1.1) < 1e-5);
});
