// Points where things touch, with arrows of the normal force and of friction on the first of the two. Both have one
// scale: the largest force of the last moments is as long as a sixth of the scene.

import * as THREE from "../node_modules/three/build/three.module.js";
import { Arrows } from "./joints.js";

const NORMAL = "#1d9bd1", FRICTION = "#e0417a", POINT = "#f4f4f4";
const LONGEST = 0.16, THICK = 0.004, DOT = 0.005; // of the scene's size
const FALL = 0.97; // the largest sinks by this factor with each frame, and rises at once: impacts are short
const SMALL = 1e-4; // of the largest: nobody sees the arrow
const MOST = 256; // that the program sends

export class Contacts {
    constructor(layer, scene) {
        this.layer = layer;
        this.scene = scene;
        this.most = { normal: 0, friction: 0 };
        this.group = new THREE.Group();
        this.group.visible = false;
        this.arrows = { normal: new Arrows(MOST, NORMAL, 1), friction: new Arrows(MOST, FRICTION, 1) };
        this.dots = new THREE.InstancedMesh(new THREE.SphereGeometry(1, 10, 8),
            new THREE.MeshBasicMaterial({ color: POINT, depthTest: false, transparent: true }), MOST);
        this.dots.frustumCulled = false;
        this.group.add(this.dots, ...this.arrows.normal.meshes, ...this.arrows.friction.meshes);
        scene.add(this.group);
    }

    show(on) {
        this.group.visible = Boolean(on);
    }

    // Where the layer has them now; size: of the scene, m.
    move(size) {
        if (!this.group.visible || !this.layer.started) return;
        const all = Array.from({ length: Math.min(MOST, this.layer.contactCount) }, (_, i) => this.layer.contactState(i));
        for (const what of ["normal", "friction"])
            this.most[what] = Math.max(FALL * this.most[what], 1e-12, ...all.map((point) => Math.hypot(...point[what])).filter(Number.isFinite));
        const whole = Math.max(this.most.normal, this.most.friction), matrix = new THREE.Matrix4(), dot = DOT * size;
        for (const [what, arrows] of Object.entries(this.arrows)) {
            all.forEach((point, i) => {
                const share = Math.hypot(...point[what]) / whole;
                arrows.set(i, point.position, point[what], share > SMALL ? LONGEST * size * share : 0, THICK * size);
            });
            arrows.count(all.length);
            arrows.fresh();
        }
        all.forEach(({ position }, i) => this.dots.setMatrixAt(i, matrix.makeScale(dot, dot, dot).setPosition(...position)));
        this.dots.count = all.length;
        this.dots.instanceMatrix.needsUpdate = true;
    }

    dispose() {
        this.scene.remove(this.group);
        for (const arrows of Object.values(this.arrows)) arrows.dispose();
        this.dots.geometry.dispose();
        this.dots.dispose();
    }
}
