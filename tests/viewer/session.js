// The real program and a real browser, for tests.

import { execFileSync, spawn, spawnSync } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { chromium } from "playwright-core";

// ms: software that draws on a busy machine is slow, and waiting costs nothing where it is not.
export const WAIT = Number(process.env.BOUGH_WAIT ?? 120000);

const program = process.env.BOUGH_PROGRAM;
const viewer = new URL("../../viewer", import.meta.url).pathname;

export const makeFolder = () => mkdtempSync(join(tmpdir(), "bough-viewer-"));
export const removeFolder = (folder) => rmSync(folder, { recursive: true, force: true });
export const complaints = (...args) => spawnSync(program, args, { encoding: "utf8" }).stderr;
export const bough = (...args) => execFileSync(program, args, { stdio: ["ignore", "pipe", "pipe"], encoding: "utf8" });

// `bough example NAME`, or a copy of the folder NAME, with components that are cooked once for all tests of a build.
const cooked = new URL("../app/cooked.sh", import.meta.url).pathname;
export const yTree = new URL("../../examples/y-tree", import.meta.url).pathname;
export const makeCooked = (folder, name, ...options) => execFileSync("sh", [cooked, program, folder, name, ...options], { stdio: ["ignore", "ignore", "inherit"] });

// bough view: {url, port, token, stop()}
export const startView = (scene, ...options) => startViewOf(program, scene, ...options);

export function startViewOf(any, scene, ...options) {
    const child = spawn(any, ["view", scene, "--json", "--no-browser", ...options], { stdio: ["ignore", "pipe", "pipe"], env: { ...process.env, BOUGH_VIEWER: viewer } });
    let said = "", complained = "";
    const ended = new Promise((done) => child.on("exit", done));
    child.stderr.on("data", (text) => (complained += text));
    return new Promise((done, fail) => {
        child.on("exit", (code) => fail(new Error(`bough view ended with ${code}: ${complained}`)));
        child.stdout.on("data", (text) => {
            said += text;
            if (!said.includes("\n")) return;
            done({
                ...JSON.parse(said.split("\n")[0]),
                stop: (signal = "SIGINT") => (child.kill(signal), ended),
            });
        });
    });
}

export function startBrowser() {
    return chromium.launch({
        executablePath: process.env.BOUGH_CHROMIUM ?? "/usr/bin/chromium",
        args: ["--no-sandbox"],
        ignoreDefaultArgs: ["--use-angle=swiftshader"],
    });
}

// Until what was done before is on the screen: whatever waits to be drawn is drawn in the next picture.
export const drawn = (page) => page.evaluate(() => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done))));

// Paused: until what was under way has come and is drawn. Of two more sets of numbers the second was made after the pause; the
// page has the scene where they have it (numbers have nine digits), and has drawn since.
export async function atRest(page, timeout = WAIT) {
    await page.waitForFunction(() => bough.settings.paused, null, { timeout, polling: 50 });
    const { samples } = await page.evaluate(() => bough.plots);
    const came = (samples) => bough.plots.samples > samples + 1 && Math.abs(bough.time - bough.numbers.time) < 1e-6 * (1 + bough.time);
    try {
        await page.waitForFunction(came, samples, { timeout, polling: 50 });
    } catch (error) {
        const now = await page.evaluate(() => JSON.stringify([bough.plots.samples, bough.time, bough.numbers.time, bough.settings.paused, bough.drawn]));
        throw new Error(`nothing came to rest after ${samples} sets of numbers: [numbers, time drawn, time told, paused, drawn] are ${now}`, { cause: error });
    }
    await drawn(page);
}

// The processor draws these pages, and that is most of what they cost: every other pixel in each direction, and ten pictures
// a second instead of sixty, are enough for all tests but those that look at pixels; these say `deviceScaleFactor: 1`.
const drawSeldom = (between) => {
    const draw = window.requestAnimationFrame.bind(window);
    window.requestAnimationFrame = (call) => setTimeout(() => draw(call), between);
};

// A page that keeps what its console says of errors. `between`: ms of rest between pictures.
export async function openPage(browser, url, { between = 80, ...options } = {}) {
    const page = await browser.newPage({ viewport: { width: 800, height: 560 }, deviceScaleFactor: 0.5, acceptDownloads: true, ...options });
    await page.addInitScript(drawSeldom, between);
    page.setDefaultTimeout(WAIT);
    page.errors = [];
    page.on("console", (message) => message.type() === "error" && page.errors.push(message.text()));
    page.on("pageerror", (error) => page.errors.push(String(error)));
    await page.goto(url);
    return page;
}
