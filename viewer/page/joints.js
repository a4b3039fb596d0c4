// Frames of joints, and arrows of the forces and torques with which they hold what hangs in them. Arrows grow with the
// force: the largest of the last moments is as long as a fifth of the scene.

import * as THREE from "../node_modules/three/build/three.module.js";
import { rotate } from "./layer.js";

const AXES = ["#d0453a", "#3f9a4d", "#3f74c8"]; // x, y, z
const FORCE = "#f07818", TORQUE = "#8a5cf0";
const LONGEST = 0.2, TRIAD = 0.035, THICK = 0.004; // of the scene's size
const FALL = 0.99; // the largest sinks by this factor with each frame, and rises at once
const SMALL = 1e-6; // of the largest: nobody sees the arrow

const up = new THREE.Vector3(0, 1, 0);

// Arrows of one colour: shafts and tips; torques have a second tip, so that nobody takes them for forces.
export class Arrows {
    constructor(count, colour, tips) {
        const material = new THREE.MeshBasicMaterial({ color: colour, depthTest: false, transparent: true, opacity: 0.9 });
        const shaft = new THREE.CylinderGeometry(1, 1, 1, 10).translate(0, 0.5, 0), tip = new THREE.ConeGeometry(1, 1, 14).translate(0, -0.5, 0);
        this.shafts = new THREE.InstancedMesh(shaft, material, count);
        this.tips = Array.from({ length: tips }, () => new THREE.InstancedMesh(tip, material, count));
        this.meshes = [this.shafts, ...this.tips];
        for (const mesh of this.meshes) mesh.frustumCulled = false;
    }

    set(i, at, along, length, width) {
        const turn = new THREE.Quaternion(), matrix = new THREE.Matrix4(), origin = new THREE.Vector3(...at), direction = new THREE.Vector3(...along);
        if (length > 0) turn.setFromUnitVectors(up, direction.normalize());
        const tip = Math.min(length, 5 * width), place = (mesh, from, thick, long) =>
            mesh.setMatrixAt(i, matrix.compose(origin.clone().addScaledVector(direction, from), turn, new THREE.Vector3(thick, long, thick)));
        place(this.shafts, 0, length > 0 ? 0.7 * width : 0, Math.max(0, length - tip));
        this.tips.forEach((mesh, k) => place(mesh, length - 0.6 * k * tip, 0.4 * tip, tip));
    }

    // Draws the first of them only.
    count(number) {
        for (const mesh of this.meshes) mesh.count = number;
    }

    fresh() {
        for (const mesh of this.meshes) mesh.instanceMatrix.needsUpdate = true;
    }

    dispose() {
        for (const mesh of this.meshes) mesh.geometry.dispose(), mesh.dispose();
    }
}

export class Joints {
    constructor(layer, scene) {
        this.layer = layer;
        this.scene = scene;
        this.most = { force: 0, torque: 0 };
        const count = layer.joints.length;
        this.group = new THREE.Group();
        this.group.visible = false;
        this.lines = new THREE.BufferGeometry();
        this.lines.setAttribute("position", new THREE.BufferAttribute(new Float32Array(18 * count), 3));
        const colours = new Float32Array(18 * count);
        for (let v = 0; v < 6 * count; v++) new THREE.Color(AXES[(v >> 1) % 3]).toArray(colours, 3 * v);
        this.lines.setAttribute("color", new THREE.BufferAttribute(colours, 3));
        const triads = new THREE.LineSegments(this.lines, new THREE.LineBasicMaterial({ vertexColors: true, depthTest: false, transparent: true }));
        triads.frustumCulled = false;
        this.arrows = { force: new Arrows(count, FORCE, 1), torque: new Arrows(count, TORQUE, 2) };
        if (count) this.group.add(triads, ...this.arrows.force.meshes, ...this.arrows.torque.meshes);
        scene.add(this.group);
    }

    show(on) {
        this.group.visible = Boolean(on);
    }

    // Where the layer has them now; size: of the scene, m.
    move(size) {
        if (!this.group.visible || !this.layer.started) return;
        const all = this.layer.joints.map((_, j) => this.layer.jointState(j)), length = (x) => Math.hypot(...x);
        for (const what of ["force", "torque"]) {
            const sizes = all.map((joint) => length(joint[what]));
            this.most[what] = Math.max(FALL * this.most[what], 1e-12, ...sizes.filter(Number.isFinite));
            all.forEach(({ position, [what]: along }, j) => {
                const share = sizes[j] / this.most[what];
                this.arrows[what].set(j, position, along, share > SMALL ? LONGEST * size * share : 0, THICK * size);
            });
            this.arrows[what].fresh();
        }
        const line = this.lines.attributes.position;
        all.forEach(({ position, quaternion }, j) => {
            for (let axis = 0; axis < 3; axis++) {
                const tip = rotate(quaternion, [0, 1, 2].map((c) => (c === axis ? TRIAD * size * (axis === 2 ? 1.6 : 1) : 0))); // joints turn and slide along z
                line.array.set([...position, ...position.map((x, c) => x + tip[c])], 18 * j + 6 * axis);
            }
        });
        line.needsUpdate = true;
    }

    dispose() {
        this.scene.remove(this.group);
        this.lines.dispose();
        for (const arrows of Object.values(this.arrows)) arrows.dispose();
    }
}
