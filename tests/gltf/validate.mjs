// Khronos' validator finds no error and no warning in glTF files. Validates those that it is given, or, with --bough
// PROGRAM, all kinds that this program records. Exit status 77: cannot be done here.
import { execFileSync } from "node:child_process";
import { copyFileSync, mkdtempSync, readFileSync, rmSync, statSync } from "node:fs";
import { tmpdir } from "node:os";
import { basename, dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

const SKIPPED = 77;
const examples = join(dirname(fileURLToPath(import.meta.url)), "../../examples");

async function findValidator() {
    try {
        return (await import("gltf-validator")).default;
    } catch {
        console.log("skipped: the validator is not installed; npm ci in tests/gltf installs it");
        process.exit(SKIPPED);
    }
}

// What is wrong with a file, one line each. Nodes without a size hide parts that are absent: that is no mistake.
async function mistakes(validator, path) {
    const report = await validator.validateBytes(new Uint8Array(readFileSync(path)), {
        uri: basename(path),
        maxIssues: 20,
        ignoredIssues: ["UNUSED_OBJECT"],
    });
    const { numErrors, numWarnings } = report.issues;
    const lines = report.issues.messages.map((m) => `${m.code} at ${m.pointer}: ${m.message}`);
    const { totalVertexCount, totalTriangleCount, animationCount } = report.info;
    console.log(`${basename(path)}: ${statSync(path).size} bytes, ${totalVertexCount} vertices, ` +
        `${totalTriangleCount} triangles, ${animationCount} animations: ${numErrors} errors, ${numWarnings} warnings`);
    return numErrors + numWarnings > 0 ? lines : [];
}

// A tree of parts by targets and baked, one whose parts come and go, one that flies, a body, and a film of one frame.
function record(program, folder) {
    const bough = (...words) => execFileSync(program, words, { cwd: folder, stdio: ["ignore", "ignore", "inherit"] });
    for (const [from, to] of [["two-leaves", "leaves.json"], ["pendulum", "pendulum.json"]])
        copyFileSync(join(examples, from, "scene.json"), join(folder, to));
    bough("run", "leaves.json", "--time", "0.5", "--record", "leaves.glb");
    bough("run", "leaves.json", "--time", "0.2", "--record", "baked.glb", "--baked", "--continuity", "C1");
    bough("run", "pendulum.json", "--time", "0.3", "--record", "body.glb");
    bough("run", "leaves.json", "--time", "0.01", "--fps", "1", "--record", "still.glb");
    bough("example", "ring", "-o", "ring");
    bough("run", "ring/scene.json", "--time", "0.5", "--record", "ring.glb");
    bough("demo", "-o", "demo", "--leaves", "20", "--frames", "10");
    return ["leaves.glb", "baked.glb", "body.glb", "still.glb", "ring.glb", "demo/oak.glb"].map((f) => join(folder, f));
}

const validator = await findValidator();
const words = process.argv.slice(2);
const folder = mkdtempSync(join(tmpdir(), "bough-gltf-"));
let wrong = 0;
try {
    for (const path of words[0] === "--bough" ? record(words[1], folder) : words)
        for (const line of await mistakes(validator, path)) {
            console.error(`  ${line}`);
            wrong++;
        }
} finally {
    rmSync(folder, { recursive: true });
}
process.exitCode = wrong ? 1 : 0;
