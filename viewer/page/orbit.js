// The camera: it looks at a point from a direction and a distance; z is up.

import * as THREE from "../node_modules/three/build/three.module.js";

const FILLED = 0.74; // of the height of the window, by what is shown: bars are in front of the rest
const PANELS = 480; // px: most of the width of both
const STEEPEST = Math.PI / 2 - 0.02; // rad: from here on "up" would lose its meaning

export class Orbit {
    constructor(changed) {
        this.camera = new THREE.PerspectiveCamera(36, 1, 0.01, 1000);
        this.camera.up.set(0, 0, 1);
        this.target = new THREE.Vector3();
        this.azimuth = -1.1;
        this.elevation = 0.22;
        this.distance = 5;
        this.size = 1; // m: of what there is to see
        this.free = 1; // share of the width that no panel covers
        this.changed = changed;
    }

    // Shows all of the points, as large as they can be: in its own axes, a point at x beside the middle and depth z before
    // it is inside when |x| <= half (distance - z).
    fit({ low, high, points }) {
        this.target.set((low[0] + high[0]) / 2, (low[1] + high[1]) / 2, (low[2] + high[2]) / 2);
        this.size = Math.max(1e-6, Math.hypot(high[0] - low[0], high[1] - low[1], high[2] - low[2]));
        this.update();
        const axis = (column) => new THREE.Vector3().setFromMatrixColumn(this.camera.matrixWorld, column);
        const right = axis(0), up = axis(1), back = axis(2), point = new THREE.Vector3();
        const halfHeight = FILLED * Math.tan((this.camera.fov * Math.PI) / 360), halfWidth = halfHeight * this.camera.aspect * this.free;
        this.distance = 0;
        for (const at of points) {
            point.fromArray(at).sub(this.target);
            const wanted = Math.max(Math.abs(point.dot(right)) / halfWidth, Math.abs(point.dot(up)) / halfHeight);
            this.distance = Math.max(this.distance, wanted + point.dot(back));
        }
        this.distance ||= 2 * this.size;
        this.update();
    }

    resize(width, height) {
        this.free = width > 900 ? 1 - PANELS / width : 1;
        this.camera.aspect = width / height;
        this.height = height;
        this.update();
    }

    turn(dx, dy) {
        this.azimuth -= dx * 0.006;
        this.elevation = Math.max(-STEEPEST, Math.min(STEEPEST, this.elevation + dy * 0.006));
        this.update();
    }

    // By pixels: what lies in the target's plane stays under the pointer.
    pan(dx, dy) {
        const metres = (2 * this.distance * Math.tan((this.camera.fov * Math.PI) / 360)) / this.height;
        const right = new THREE.Vector3().setFromMatrixColumn(this.camera.matrixWorld, 0);
        const up = new THREE.Vector3().setFromMatrixColumn(this.camera.matrixWorld, 1);
        this.target.addScaledVector(right, -dx * metres).addScaledVector(up, dy * metres);
        this.update();
    }

    // In the world, by metres.
    shift(by) {
        this.target.x += by[0], this.target.y += by[1], this.target.z += by[2];
        this.update();
    }

    zoom(factor) {
        this.distance = Math.max(1e-3 * this.size, Math.min(50 * this.size, this.distance * factor));
        this.update();
    }

    update() {
        const c = Math.cos(this.elevation);
        this.camera.position.set(
            this.target.x + this.distance * c * Math.cos(this.azimuth),
            this.target.y + this.distance * c * Math.sin(this.azimuth),
            this.target.z + this.distance * Math.sin(this.elevation));
        this.camera.near = this.distance / 100;
        this.camera.far = this.distance + 30 * this.size;
        this.camera.lookAt(this.target);
        this.camera.updateProjectionMatrix();
        this.camera.updateMatrixWorld();
        this.changed();
    }

    #rayThrough(x, y, width, height) {
        const point = new THREE.Vector3((2 * x) / width - 1, 1 - (2 * y) / height, 0.5).unproject(this.camera);
        return point.sub(this.camera.position).normalize();
    }

    // Where the pointer is in the plane through a point that faces the camera.
    inPlane(point, x, y, width, height) {
        const ray = this.#rayThrough(x, y, width, height);
        const forward = this.camera.getWorldDirection(new THREE.Vector3());
        const depth = new THREE.Vector3(...point).sub(this.camera.position).dot(forward);
        return this.camera.position.clone().addScaledVector(ray, depth / ray.dot(forward)).toArray();
    }

    ray(x, y, width, height) {
        return this.#rayThrough(x, y, width, height).toArray();
    }

    // The point of the world behind a pixel, at a depth of 0 to 1 as the depth buffer has it.
    atDepth(x, y, depth, width, height) {
        return new THREE.Vector3((2 * x) / width - 1, 1 - (2 * y) / height, 2 * depth - 1).unproject(this.camera).toArray();
    }

    // Pixels; null: behind the camera.
    project(point, width, height) {
        const p = new THREE.Vector3(...point).project(this.camera);
        return Math.abs(p.z) <= 1 ? [((p.x + 1) / 2) * width, ((1 - p.y) / 2) * height] : null;
    }
}
