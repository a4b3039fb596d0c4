// Khronos' validator finds no error and no warning in glTF files. Validates those that it is given, or, with --bough
// PROGRAM, all kinds that this program records.
import { execFileSync } from "node:child_process";
import { copyFileSync, mkdirSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { basename, dirname, join, resolve } from "node:path";
import { fileURLToPath } from "node:url";
import validator from "gltf-validator";

const examples = join(dirname(fileURLToPath(import.meta.url)), "../../examples");

// What is wrong with a file, one line each.
async function mistakes(path) {
    const report = await validator.validateBytes(new Uint8Array(readFileSync(path)), {
        uri: basename(path),
        maxIssues: 20,
    });
    const { numErrors, numWarnings } = report.issues;
    const lines = report.issues.messages.map((m) => `${m.code} at ${m.pointer}: ${m.message}`);
    const { totalVertexCount, totalTriangleCount, animationCount } = report.info;
    console.log(`${basename(path)}: ${statSync(path).size} bytes, ${totalVertexCount} vertices, ` +
        `${totalTriangleCount} triangles, ${animationCount} animations: ${numErrors} errors, ${numWarnings} warnings`);
    return numErrors + numWarnings > 0 ? lines : [];
}

// A tree of parts by targets and baked, a body, a film of one frame, a leaf that comes off and is gone, what flies, a
// mechanism, and wood with leaves.
function record(program, folder) {
    const bough = (...words) => execFileSync(resolve(program), words, { cwd: folder, stdio: ["ignore", "ignore", "inherit"] });
    const cooked = (...words) => execFileSync("sh", [join(examples, "../tests/app/cooked.sh"), resolve(program), ...words], { cwd: folder, stdio: ["ignore", "ignore", "inherit"] });
    for (const [from, to] of [["two-leaves", "leaves.json"], ["pendulum", "pendulum.json"]])
        copyFileSync(join(examples, from, "scene.json"), join(folder, to));
    bough("run", "leaves.json", "--time", "0.5", "--record", "leaves.glb");
    bough("run", "leaves.json", "--time", "0.2", "--record", "baked.glb", "--baked", "--continuity", "C1");
    bough("run", "pendulum.json", "--time", "0.3", "--record", "body.glb");
    bough("run", "leaves.json", "--time", "0.01", "--fps", "1", "--record", "still.glb");
    const scene = JSON.parse(readFileSync(join(folder, "leaves.json"), "utf8"));
    scene.events = [{ time: 0.05, detach: "leaf 1" }, { time: 0.15, remove: "leaf 1" }];
    writeFileSync(join(folder, "gone.json"), JSON.stringify(scene));
    bough("run", "gone.json", "--time", "0.3", "--record", "gone.glb");
    cooked("ring", "ring");
    bough("run", "ring/scene.json", "--time", "0.5", "--record", "ring.glb");
    writeFileSync(join(folder, "helix.json"), JSON.stringify({
        bough: 1, generate: { helix: { links: 30 } }, gravity: [0, 0, -9.81], time: { dt: 0.01, duration: 1 },
    }));
    bough("run", "helix.json", "--record", "helix.glb");
    mkdirSync(join(folder, "demo"));
    cooked("demo/oak", "oak", "--leaves", "50");
    bough("demo", "-o", "demo", "--leaves", "50", "--frames", "10");
    return ["leaves", "baked", "body", "still", "gone", "ring", "helix", "demo/oak"].map((name) => join(folder, `${name}.glb`));
}

const words = process.argv.slice(2);
const folder = mkdtempSync(join(tmpdir(), "bough-gltf-"));
let passed = 0, failed = 0;
try {
    for (const path of words[0] === "--bough" ? record(words[1], folder) : words) {
        const lines = await mistakes(path);
        lines.forEach((line) => console.error(`  ${line}`));
        lines.length ? failed++ : passed++;
    }
} finally {
    rmSync(folder, { recursive: true });
}
console.log(`[  PASSED  ] ${passed} test(s).`);
if (failed)
    console.log(`[  FAILED  ] ${failed} test(s).`);
process.exitCode = failed ? 1 : 0;
