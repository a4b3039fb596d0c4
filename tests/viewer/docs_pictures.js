// Takes the pictures of the viewer in docs/viewer.md anew:
//     BOUGH_PROGRAM=build/bough node tests/viewer/docs_pictures.js [NAME ...]
// NAME: oak, ghost, dragon, letters, walker, joints, parts; without one all of them. The examples are made in a folder that is kept
// for the next time (BOUGH_PICTURES, else bough-pictures in the folder for temporary files). Each picture is taken while the
// simulation runs at the speed that it shows: look at every one.

import { existsSync, mkdirSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { bough, openPage, startBrowser, startView } from "./session.js";

const folder = process.env.BOUGH_PICTURES ?? join(tmpdir(), "bough-pictures");
const images = new URL("../../docs/images/", import.meta.url).pathname;
const WAIT = 120000; // ms

const control = (page, name) => page.getByLabel(name, { exact: true });
const until = (page, what, arg) => page.waitForFunction(what, arg, { timeout: WAIT, polling: 100 });

// A place on the screen where some part of the component is seen, as near to the wanted one as there is.
const spotOf = (page, component, wanted) => page.evaluate(([component, wanted]) => {
    let best = null, least = Infinity;
    for (let part = 0; part < bough.partCount(); part++) {
        if (component && bough.componentName(part) !== component) continue;
        for (let vertex = 0; vertex < bough.vertexCount(part); vertex += 1 + (bough.vertexCount(part) >> 5)) {
            const pixel = bough.project(bough.vertexPosition(part, vertex));
            const far = pixel ? Math.hypot(pixel[0] - wanted[0], pixel[1] - wanted[1]) : Infinity;
            if (far < least && document.elementFromPoint(...pixel)?.id === "picture" && bough.at(...pixel)?.part === part) least = far, best = pixel;
        }
    }
    return best;
}, [component, wanted]);

async function restart(page) {
    await page.keyboard.press("r");
    await until(page, () => bough.numbers.time < 1);
}

const pictures = {
    oak: {
        example: ["oak", "--leaves", "300"],
        act: (page) => until(page, () => bough.time > 2),
        async moment(page) { // late: a browser that is busy drawing may lose its hold
            const spot = await spotOf(page, "limb", [560, 300]);
            await page.mouse.move(...spot);
            await page.mouse.down();
            await page.mouse.move(spot[0] - 90, spot[1] + 70, { steps: 6 });
            const start = await page.evaluate(() => bough.time);
            await until(page, (start) => bough.held.length === 1 && bough.time > start + 1 && document.body.innerText.includes(" kN"), start);
        },
    },
    ghost: {
        example: ["flower"], scheme: "dark",
        async act(page) {
            await page.getByText("Method", { exact: true }).click();
            await control(page, "Ghost").selectOption({ label: "tree, L1" });
            await until(page, () => bough.layerCount === 2);
            await page.getByLabel("Wind, as a number").fill("22");
            await page.keyboard.press("Enter");
            await page.evaluate(() => document.activeElement.blur());
            await until(page, () => bough.time > 4 && bough.ghost);
        },
        async moment(page) { // both flowers are seen, wherever the wind has them
            await page.keyboard.press("f");
            await page.mouse.move(640, 560);
            await page.mouse.wheel(0, 250);
        },
    },
    dragon: {
        example: ["dragon"],
        async act(page) {
            await control(page, "Colour").selectOption("stress");
            await until(page, () => bough.colour.whole > 0 && bough.time > 2);
        },
    },
    letters: {
        example: ["letters"],
        async act(page) {
            await page.keyboard.press("F");
            await page.getByLabel("Speed, as a number").fill("0.25"); // else they are past before they are drawn
            await page.keyboard.press("Enter");
            await restart(page);
            await until(page, () => bough.time > 0.9);
        },
    },
    walker: {
        example: ["walker"],
        async act(page) {
            await page.keyboard.press("/");
            await page.keyboard.type("hip");
            await page.keyboard.press("Enter");
            await until(page, () => bough.picked);
            await page.evaluate(() => document.activeElement.blur());
            await page.keyboard.press("f");
            await page.keyboard.press("F");
            await restart(page); // it walks for 7 s
            await until(page, () => bough.time > 2);
        },
    },
    joints: {
        example: ["dancer"],
        async act(page) {
            await page.getByText("Method", { exact: true }).click();
            await control(page, "Ghost").selectOption({ label: "rigid parts" });
            await until(page, () => bough.layerCount === 2);
            await page.getByText("Method", { exact: true }).click();
            await page.keyboard.press("R");
            await until(page, () => bough.time > 2.4 && bough.ghost);
        },
    },
    parts: {
        scene: new URL("../../examples/y-tree/scene.json", import.meta.url).pathname,
        async act(page) {
            await page.keyboard.press("A");
            await page.keyboard.press("/");
            await page.keyboard.press("Escape");
            await control(page, "Colour").selectOption("stress");
            await page.getByText("Saved states", { exact: true }).click();
            await page.getByLabel("Name of the state").fill("bent");
            await page.keyboard.press("Enter");
            await until(page, () => bough.colour.whole > 0 && bough.time > 3 && bough.states.length === 1);
            const spot = await spotOf(page, "left", [500, 200]);
            await page.mouse.click(...spot);
            await until(page, () => bough.picked);
        },
        moment: (page) => until(page, () => bough.numbers.values[1] > 15), // J: it is bent, so that there is something to colour
    },
};

async function take(name, browser) {
    const { example, scene, scheme = "light", act, moment } = pictures[name];
    const path = scene ?? join(folder, example[0], "scene.json");
    if (!existsSync(path)) bough("example", ...example, "-o", join(folder, example[0]));
    const view = await startView(path), page = await openPage(browser, view.url, { viewport: { width: 1280, height: 800 }, colorScheme: scheme });
    try {
        await until(page, () => window.bough?.drawn > 1);
        if (!["parts", "joints"].includes(name)) await page.keyboard.press("h"); // shadows, which software leaves out
        await act(page);
        await until(page, () => !bough.settings.paused && bough.numbers.real_time > 0.5 * bough.settings.speed);
        await moment?.(page);
        await page.screenshot({ path: join(images, `viewer-${name}.png`) });
        console.log(`${name}: ${(await page.evaluate(() => bough.numbers.real_time)).toFixed(2)} x real time`, page.errors);
    } finally {
        await page.close();
        await view.stop();
    }
}

mkdirSync(folder, { recursive: true });
const browser = await startBrowser();
for (const name of process.argv.length > 2 ? process.argv.slice(2) : Object.keys(pictures)) await take(name, browser).catch((error) => console.log(`${name}: ${error}`));
await browser.close();
