// three.js, which most browser viewers are made with, shows vertices where the program has them: a film and Wavefront
// files of the same frames are recorded, and compared at each of these times.
import { execFileSync } from "node:child_process";
import { copyFileSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join, resolve } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";

const here = dirname(fileURLToPath(import.meta.url));
const library = join(here, "../../viewer/node_modules/three");
const THREE = await import(pathToFileURL(join(library, "build/three.module.js")));
const { GLTFLoader } = await import(pathToFileURL(join(library, "examples/jsm/loaders/GLTFLoader.js")));
globalThis.self ??= globalThis; // what loaders look for textures with

const FPS = 30, FRAMES = 16;

function load(path) {
    const bytes = readFileSync(path);
    const buffer = bytes.buffer.slice(bytes.byteOffset, bytes.byteOffset + bytes.byteLength);
    return new Promise((done, fail) => new GLTFLoader().parse(buffer, "", done, fail));
}

// Vertices of all parts in the order of the scene, z up again.
function positions(scene) {
    const found = [], point = new THREE.Vector3();
    scene.updateMatrixWorld(true);
    scene.traverse((mesh) => {
        for (let v = 0; mesh.isMesh && v < mesh.geometry.attributes.position.count; v++) {
            mesh.getVertexPosition(v, point).applyMatrix4(mesh.matrixWorld);
            found.push([point.x, -point.z, point.y]);
        }
    });
    return found;
}

function wavefront(path) {
    return readFileSync(path, "utf8").split("\n").filter((line) => line.startsWith("v "))
        .map((line) => line.slice(2).split(" ").map(Number));
}

// The largest distance between what is shown and what is, over all frames, and how far the scene reaches.
async function compare(folder) {
    const film = await load(join(folder, "film.glb"));
    const mixer = new THREE.AnimationMixer(film.scene);
    mixer.clipAction(film.animations[0]).play();
    let worst = 0, size = 0, moved = 0, first;
    for (let f = 0; f < FRAMES; f++) {
        mixer.setTime(f === FRAMES - 1 ? film.animations[0].duration * (1 - 1e-6) : f / FPS);
        const shown = positions(film.scene);
        const real = wavefront(join(folder, `frames/f_${String(f).padStart(6, "0")}.obj`));
        first ??= real;
        if (shown.length !== real.length)
            throw new Error(`${shown.length} vertices are shown of ${real.length}`);
        real.forEach((x, v) => {
            worst = Math.max(worst, Math.hypot(...x.map((c, d) => c - shown[v][d])));
            moved = Math.max(moved, Math.hypot(...x.map((c, d) => c - first[v][d])));
            size = Math.max(size, Math.hypot(...x));
        });
    }
    return { worst, size, moved };
}

const folder = mkdtempSync(join(tmpdir(), "bough-three-"));
let failed = 0;
try {
    copyFileSync(join(here, "../../examples/two-leaves/scene.json"), join(folder, "scene.json"));
    const program = resolve(process.argv[2]);
    for (const more of [[], ["--baked"]]) {
        execFileSync(program, ["run", "scene.json", "--time", "0.5", "--fps", `${FPS}`, "--record", "film.glb",
            "--record", "frames/f.obj", ...more], { cwd: folder, stdio: ["ignore", "ignore", "inherit"] });
        const { worst, size, moved } = await compare(folder);
        console.log(`${more[0] ?? "targets"}: vertices move by ${moved.toExponential(2)} m and are shown within ` +
            `${(worst / size).toExponential(2)} of the size`);
        if (!(worst < 1e-4 * size && moved > 10 * worst))
            failed++;
    }
} finally {
    rmSync(folder, { recursive: true });
}
console.log(failed ? `[  FAILED  ] ${failed} test(s).` : "[  PASSED  ] 2 test(s).");
process.exitCode = failed ? 1 : 0;
