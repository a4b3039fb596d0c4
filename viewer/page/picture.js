// The picture: the backdrop, the ground, the sun and its shadow, the layers of a stage and the arrows of hands. Draws only
// when something has changed.

import * as THREE from "../node_modules/three/build/three.module.js";
import { Actor } from "./actor.js";
import { Contacts } from "./contacts.js";
import { Joints } from "./joints.js";
import { makeAxes, makeMarker } from "./marks.js";
import { Orbit } from "./orbit.js";
import * as shader from "./shader.js";

const SHADOW_SIZE = 2048;
const linear = (hex) => {
    const c = new THREE.Color(hex); // three reads sRGB and keeps linear numbers
    return new THREE.Vector3(c.r, c.g, c.b);
};
const THEMES = {
    light: { top: "#dfe8ee", bottom: "#f7f5f0", line: "#a3a298", sky: "#a3aeb9", bounce: "#625d53", wire: "#22303a" },
    dark: { top: "#10161b", bottom: "#232b31", line: "#59646b", sky: "#8b99a6", bounce: "#45423d", wire: "#dfeaf0" },
};

export class Picture {
    constructor(canvas) {
        this.canvas = canvas;
        this.isSoftware = drawsInSoftware();
        this.renderer = new THREE.WebGLRenderer({ canvas, antialias: !this.isSoftware, powerPreference: "high-performance" });
        const gl = this.renderer.getContext();
        if (!gl.getExtension("EXT_color_buffer_float"))
            throw new Error("the graphics of this browser cannot draw into textures of floats (EXT_color_buffer_float)");
        this.largest = gl.getParameter(gl.MAX_TEXTURE_SIZE);
        this.renderer.sortObjects = false;
        this.renderer.autoClear = false;
        this.orbit = new Orbit(() => this.touch());
        this.scenes = { surface: new THREE.Scene(), pick: new THREE.Scene(), shadow: new THREE.Scene() };
        this.actors = [];
        this.dirty = true;
        this.#makeLight();
        this.#makeGround();
        this.#makeArrows();
        this.setShadows(!this.isSoftware);
        this.pickTarget = new THREE.WebGLRenderTarget(1, 1, { type: THREE.FloatType, minFilter: THREE.NearestFilter, magFilter: THREE.NearestFilter });
        this.setTheme("light");
    }

    // Something changed: the picture is drawn again at the next occasion.
    touch() {
        this.dirty = true;
    }

    #makeLight() {
        this.shadowTarget = new THREE.WebGLRenderTarget(SHADOW_SIZE, SHADOW_SIZE, {
            format: THREE.RedFormat, type: THREE.FloatType, minFilter: THREE.NearestFilter, magFilter: THREE.NearestFilter,
        });
        this.sunCamera = new THREE.OrthographicCamera();
        this.light = {
            sun: { value: new THREE.Vector3(0.42, -0.5, 0.76).normalize() },
            sky: { value: new THREE.Vector3() }, bounce: { value: new THREE.Vector3() },
            line: { value: new THREE.Vector3() }, glowing: { value: linear("#ffb02e") },
            shadowMap: { value: this.shadowTarget.texture },
            shadowMatrix: { value: new THREE.Matrix4() },
        };
    }

    #makeGround() {
        this.backdrop = new THREE.ShaderMaterial({
            glslVersion: THREE.GLSL3, vertexShader: shader.backdropVertex, fragmentShader: shader.backdropFragment,
            depthTest: false, depthWrite: false, uniforms: { top: { value: new THREE.Vector3() }, bottom: { value: new THREE.Vector3() } },
        });
        const sheet = new THREE.Mesh(new THREE.PlaneGeometry(2, 2), this.backdrop);
        sheet.frustumCulled = false;
        this.groundMaterial = new THREE.ShaderMaterial({
            glslVersion: THREE.GLSL3, vertexShader: shader.groundVertex, fragmentShader: shader.groundFragment,
            transparent: true, depthWrite: false, side: THREE.DoubleSide,
            uniforms: {
                ...this.light, line: { value: new THREE.Vector3() },
                centre: { value: new THREE.Vector3() }, radius: { value: 1 }, cell: { value: 1 },
            },
        });
        this.ground = new THREE.Mesh(new THREE.PlaneGeometry(2, 2), this.groundMaterial);
        this.scenes.behind = new THREE.Scene();
        this.scenes.behind.add(sheet);
        this.scenes.over = new THREE.Scene(); // what is under the floor is seen through its lines
        this.scenes.over.add(this.ground);
        this.floor = true; // somebody wants to see it
    }

    #makeArrows() {
        const material = new THREE.MeshBasicMaterial({ color: "#ff8a1f", depthTest: false, transparent: true, opacity: 0.9 });
        const shaft = new THREE.CylinderGeometry(1, 1, 1, 12).translate(0, 0.5, 0);
        const tip = new THREE.ConeGeometry(1, 1, 16).translate(0, -0.5, 0);
        this.scenes.front = new THREE.Scene();
        this.axes = makeAxes();
        this.marker = makeMarker();
        this.scenes.front.add(this.marker);
        this.arrows = [0, 1, 2, 3].map(() => {
            const arrow = { group: new THREE.Group(), shaft: new THREE.Mesh(shaft, material), tip: new THREE.Mesh(tip, material), knob: new THREE.Mesh(new THREE.SphereGeometry(1, 16, 12), material) };
            arrow.group.add(arrow.shaft, arrow.tip, arrow.knob);
            arrow.group.visible = false;
            this.scenes.front.add(arrow.group);
            return arrow;
        });
    }

    // Compiled into the shaders or not, since some renderers pay for what is not taken too.
    setShadows(on) {
        this.shadowed = on;
        for (const material of [this.groundMaterial, ...this.actors.map(({ materials }) => materials.surface)]) {
            material.defines = on ? { SHADOWED: 1 } : {};
            material.needsUpdate = true;
        }
        this.touch();
    }

    setTheme(name) {
        const theme = THEMES[name];
        this.backdrop.uniforms.top.value.copy(linear(theme.top));
        this.backdrop.uniforms.bottom.value.copy(linear(theme.bottom));
        this.groundMaterial.uniforms.line.value.copy(linear(theme.line));
        this.light.sky.value.copy(linear(theme.sky));
        this.light.bounce.value.copy(linear(theme.bounce));
        this.light.line.value.copy(linear(theme.wire));
        this.touch();
    }

    // Instead of what was drawn before.
    setLayers(layers) {
        for (const actor of this.actors) actor.dispose();
        this.actors = [];
        for (const layer of layers) this.actors.push(new Actor(layer, this.scenes, this.light, this.largest, this.actors.length > 0));
        this.setShadows(this.shadowed);
        this.showFloor(this.floor);
        this.joints?.dispose();
        this.joints = new Joints(layers[0], this.scenes.front);
        this.showJoints(this.jointsShown);
        this.contacts?.dispose();
        this.contacts = new Contacts(layers[0], this.scenes.front);
        this.showContacts(this.contactsShown);
    }

    showContacts(on) {
        this.contactsShown = on;
        this.contacts?.show(on);
        this.touch();
    }

    showJoints(on) {
        this.jointsShown = on;
        this.joints?.show(on);
        this.touch();
    }

    // Lines where the lowest point was at the start. Nothing rests on them: scenes with a ground of their own show that.
    showFloor(on) {
        this.floor = on;
        this.ground.visible = on && !this.actors[0]?.layer.components.some(({ backdrop }) => backdrop);
        this.touch();
    }

    showAxes(on) {
        this.axesShown = on;
        this.touch();
    }

    // A point at which somebody looks; null: at none.
    mark(point) {
        this.marker.visible = point !== null;
        if (point) this.marker.position.set(...point), this.marker.scale.setScalar(0.0042 * this.orbit.distance);
        this.touch();
    }

    // Where the ground lies and how far the sun must look; the camera stays.
    setBounds({ low, high }) {
        const size = Math.hypot(high[0] - low[0], high[1] - low[1], high[2] - low[2]) || 1;
        const centre = [(low[0] + high[0]) / 2, (low[1] + high[1]) / 2, (low[2] + high[2]) / 2];
        this.ground.position.z = low[2] - 0.002 * size;
        this.ground.scale.setScalar(5 * size);
        this.groundMaterial.uniforms.radius.value = 4 * size;
        this.groundMaterial.uniforms.cell.value = 10 ** Math.round(Math.log10(size / 6));
        this.reach = 0.75 * size;
        this.size = size;
        this.setCentre(centre);
    }

    // Around which the ground is seen and shadows fall: the lines of the ground stay where they are.
    setCentre(centre) {
        const { reach } = this, sun = this.light.sun.value;
        this.ground.position.set(centre[0], centre[1], this.ground.position.z);
        this.groundMaterial.uniforms.centre.value.set(...centre);
        Object.assign(this.sunCamera, { left: -reach, right: reach, top: reach, bottom: -reach, near: 0, far: 4 * reach });
        this.sunCamera.position.set(...centre).addScaledVector(sun, 2 * reach);
        this.sunCamera.up.set(0, 0, 1);
        this.sunCamera.lookAt(...centre);
        this.sunCamera.updateMatrixWorld();
        this.sunCamera.updateProjectionMatrix();
        this.light.shadowMatrix.value.multiplyMatrices(this.sunCamera.projectionMatrix, this.sunCamera.matrixWorldInverse);
        this.touch();
    }

    resize(width, height) {
        this.width = width;
        this.height = height;
        this.renderer.setPixelRatio(Math.min(2, window.devicePixelRatio || 1));
        this.renderer.setSize(width, height, false);
        this.orbit.resize(width, height);
    }

    // Where a hand pulls, in the world; null: it does not.
    showArrow(hand, from, to) {
        const arrow = this.arrows[hand];
        arrow.group.visible = Boolean(from);
        if (from) {
            const along = new THREE.Vector3(...to).sub(new THREE.Vector3(...from));
            const length = along.length(), width = 0.0045 * this.orbit.distance;
            const tip = Math.min(length, 4.5 * width);
            arrow.group.position.set(...from);
            if (length > 0) arrow.group.quaternion.setFromUnitVectors(new THREE.Vector3(0, 1, 0), along.divideScalar(length));
            arrow.knob.scale.setScalar(1.5 * width);
            arrow.shaft.scale.set(0.6 * width, Math.max(1e-9, length - tip), 0.6 * width);
            arrow.tip.scale.set(0.5 * tip, Math.max(1e-9, tip), 0.5 * tip);
            arrow.tip.position.y = length;
        }
        this.touch();
    }

    // What is under a pixel: {part, vertex, point}; null: nothing. Draws one pixel of numbers.
    pick(x, y) {
        const { camera } = this.orbit;
        for (const actor of this.actors) actor.update(this.renderer);
        camera.setViewOffset(this.width, this.height, Math.floor(x), Math.floor(y), 1, 1);
        this.renderer.setRenderTarget(this.pickTarget);
        this.renderer.setClearColor(0x000000, 0);
        this.renderer.clear();
        this.renderer.render(this.scenes.pick, camera);
        const pixel = new Float32Array(4);
        this.renderer.readRenderTargetPixels(this.pickTarget, 0, 0, 1, 1, pixel);
        this.renderer.setRenderTarget(null);
        camera.clearViewOffset();
        const part = pixel[0] - 1;
        if (part < 0) return null;
        const vertex = this.actors[0].layer.baseVertex(part, pixel[1] - 1);
        const point = this.orbit.atDepth(Math.floor(x) + 0.5, Math.floor(y) + 0.5, pixel[2], this.width, this.height);
        return { part, vertex: this.#nearest(part, vertex, point), point };
    }

    // The GPU names one corner of the triangle; the nearest to the point is among its neighbours.
    #nearest(part, vertex, point) {
        const { layer } = this.actors[0];
        const { index } = layer.component(part);
        let best = vertex, least = Infinity;
        for (let t = 0; t < index.length; t += 3) {
            if (index[t] !== vertex && index[t + 1] !== vertex && index[t + 2] !== vertex) continue;
            for (let c = 0; c < 3; c++) {
                const at = layer.position(part, index[t + c]);
                const far = Math.hypot(at[0] - point[0], at[1] - point[1], at[2] - point[2]);
                if (far < least) least = far, best = index[t + c];
            }
        }
        return best;
    }

    // Where the GPU has a vertex, read back.
    drawnPosition(part, vertex, number = 0) {
        const actor = this.actors[number], pixel = new Float32Array(4);
        actor.update(this.renderer);
        const i = actor.layer.slot[part] + vertex, { width } = actor.target;
        this.renderer.readRenderTargetPixels(actor.target, i % width, Math.floor(i / width), 1, 1, pixel);
        return [...pixel.subarray(0, 3)];
    }

    // The normals that the GPU has at the corners of a part's triangles, of length 1: three of three numbers a triangle.
    drawnNormals(part, number = 0) {
        const actor = this.actors[number], { layer, target } = actor, { cut } = layer.component(part);
        actor.update(this.renderer);
        const pixel = new Float32Array(4);
        return Array.from(cut.index, (v) => {
            const i = layer.slot[part] + v;
            this.renderer.readRenderTargetPixels(target, i % target.width, Math.floor(i / target.width), 1, 1, pixel, undefined, 1);
            const size = Math.hypot(pixel[0], pixel[1], pixel[2]) || 1;
            return [pixel[0] / size, pixel[1] / size, pixel[2] / size];
        });
    }

    // In a corner, as the camera is turned; small windows have small ones.
    #drawAxes() {
        const size = Math.round(Math.min(110, Math.max(60, 0.16 * this.height)));
        const { x, y } = this.axes.place(this.width, this.height, size);
        const { camera } = this.orbit;
        this.axes.turn(camera);
        this.renderer.setViewport(x, y, size, size);
        this.renderer.clearDepth();
        this.renderer.render(this.axes.scene, this.axes.camera);
        this.renderer.setViewport(0, 0, this.width, this.height);
    }

    draw() {
        const { renderer } = this;
        for (const actor of this.actors) actor.update(renderer);
        this.joints?.move(this.size ?? 1);
        this.contacts?.move(this.size ?? 1);
        if (this.shadowed) {
            renderer.setRenderTarget(this.shadowTarget);
            renderer.setClearColor(0xffffff, 1);
            renderer.clear();
            renderer.render(this.scenes.shadow, this.sunCamera);
            renderer.setRenderTarget(null);
        }
        renderer.clear();
        renderer.render(this.scenes.behind, this.orbit.camera);
        renderer.render(this.scenes.surface, this.orbit.camera);
        renderer.render(this.scenes.over, this.orbit.camera);
        renderer.render(this.scenes.front, this.orbit.camera);
        if (this.axesShown) this.#drawAxes();
        this.dirty = false;
    }
}

// Some machines have no graphics and draw by the processor: antialiasing and shadows would cost them most pictures.
function drawsInSoftware() {
    const gl = document.createElement("canvas").getContext("webgl2");
    const info = gl?.getExtension("WEBGL_debug_renderer_info");
    const software = /swiftshader|llvmpipe|software/i.test(info ? gl.getParameter(info.UNMASKED_RENDERER_WEBGL) : "");
    gl?.getExtension("WEBGL_lose_context")?.loseContext();
    return software;
}
