// One layer of a stage on the GPU: textures with all that moves, and an instanced mesh for each component. The same
// geometries serve the picture, the wireframe, picking and the shadow.

import * as THREE from "../node_modules/three/build/three.module.js";
import { fill, makeAtlas, makePartTable, makeSeamTextures, makeTexture } from "./textures.js";
import * as shader from "./shader.js";

export class Actor {
    // `scenes`: {surface, pick, shadow}; `shared`: uniforms of light and shadow.
    constructor(layer, scenes, shared, largest, ghost) {
        this.layer = layer;
        this.ghost = ghost;
        this.largest = largest;
        const { atlas, starts } = makeAtlas(layer.components, largest);
        this.textures = {
            atlas,
            parts: makePartTable(layer, starts, largest),
            frames: makeTexture("float4", 2 * layer.parts.count, largest),
            rest: makeTexture("float4", 2 * layer.parts.count, largest),
            coordinates: makeTexture("float4", layer.q.length / 4, largest),
            stream: makeTexture("float4", layer.stream.length / 4, largest),
            tints: makeTexture("float4", layer.parts.count, largest),
        };
        this.uniforms = {
            join: { value: true }, whole: { value: 0 }, picked: { value: -1 }, opacity: { value: ghost ? 0.38 : 1 },
            seamOf: { value: null }, seamMembers: { value: null },
        };
        for (const [name, texture] of Object.entries(this.textures)) this.uniforms[name] = { value: texture };
        this.materials = this.#makeMaterials(shared);
        this.meshes = layer.components.map((component, number) => this.#addComponent(component, number, scenes));
        this.hang();
        this.move();
    }

    #makeMaterials(shared) {
        const make = (vertexShader, fragmentShader, more) => new THREE.ShaderMaterial({
            glslVersion: THREE.GLSL3, side: THREE.DoubleSide, vertexShader, fragmentShader,
            uniforms: { ...shared, ...this.uniforms }, ...more,
        });
        const pushed = { polygonOffset: true, polygonOffsetFactor: 1, polygonOffsetUnits: 1 };
        return {
            surface: make(shader.surfaceVertex, shader.surfaceFragment, this.ghost ? { transparent: true } : pushed),
            wire: make(shader.surfaceVertex, shader.wireFragment, { transparent: true }),
            pick: make(shader.pickVertex, shader.pickFragment),
            shadow: make(shader.pickVertex, shader.depthFragment),
        };
    }

    #addComponent(component, number, scenes) {
        const users = [];
        this.layer.parts.component.forEach((c, p) => c === number && users.push(p));
        const geometry = new THREE.InstancedBufferGeometry();
        geometry.setIndex(new THREE.BufferAttribute(component.index, 1));
        geometry.setAttribute("part", new THREE.InstancedBufferAttribute(new Float32Array(users), 1));
        geometry.boundingSphere = new THREE.Sphere(new THREE.Vector3(), Infinity);
        const add = (scene, material) => {
            const mesh = new THREE.Mesh(geometry, material);
            mesh.frustumCulled = false;
            scene.add(mesh);
            return mesh;
        };
        const meshes = { users, geometry, scene: scenes.surface, surface: add(scenes.surface, this.materials.surface) };
        if (!this.ghost) {
            meshes.pick = add(scenes.pick, this.materials.pick);
            meshes.shadow = add(scenes.shadow, this.materials.shadow);
        }
        return meshes;
    }

    // After a frame: what moved goes to the GPU.
    move() {
        fill(this.textures.frames, this.layer.frames);
        fill(this.textures.rest, this.layer.rest);
        if (this.layer.q.length) fill(this.textures.coordinates, this.layer.q);
        if (this.layer.stream.length) fill(this.textures.stream, this.layer.stream);
    }

    // After parts were cut off or removed: who is drawn, and which copies at seams belong together.
    hang() {
        for (const { users, geometry, wire } of this.meshes) {
            const there = users.filter((p) => !this.layer.absent.has(p));
            geometry.attributes.part.array.set(there);
            geometry.attributes.part.needsUpdate = true;
            geometry.instanceCount = there.length;
            if (wire) wire.geometry.instanceCount = there.length;
        }
        this.uniforms.seamOf.value?.dispose();
        this.uniforms.seamMembers.value?.dispose();
        const { of, members } = makeSeamTextures(this.layer, this.largest);
        this.uniforms.seamOf.value = of;
        this.uniforms.seamMembers.value = members;
    }

    tint(colourParts) {
        colourParts(this.textures.tints.image.data);
        this.textures.tints.needsUpdate = true;
    }

    // Lines are made when they are asked for the first time.
    showWires(on) {
        this.meshes.forEach((meshes, number) => {
            if (on && !meshes.wire) this.#addWires(meshes, this.layer.components[number]);
            if (meshes.wire) meshes.wire.visible = on;
        });
    }

    #addWires(meshes, component) {
        const lines = new THREE.InstancedBufferGeometry();
        lines.setIndex(new THREE.BufferAttribute(edges(component.index), 1));
        lines.setAttribute("part", meshes.geometry.attributes.part);
        lines.instanceCount = meshes.geometry.instanceCount;
        lines.boundingSphere = meshes.geometry.boundingSphere;
        meshes.wire = new THREE.LineSegments(lines, this.materials.wire);
        meshes.wire.frustumCulled = false;
        meshes.scene.add(meshes.wire);
    }

    get triangles() {
        return this.meshes.reduce((sum, { geometry }) => sum + (geometry.index.count / 3) * geometry.instanceCount, 0);
    }

    dispose() {
        for (const meshes of this.meshes) {
            for (const mesh of [meshes.surface, meshes.wire, meshes.pick, meshes.shadow]) mesh?.removeFromParent();
            meshes.geometry.dispose();
            meshes.wire?.geometry.dispose();
        }
        for (const texture of Object.values(this.textures)) texture.dispose();
        this.uniforms.seamOf.value.dispose();
        this.uniforms.seamMembers.value.dispose();
        for (const material of Object.values(this.materials)) material.dispose();
    }
}

// Both ends of every edge, each edge once.
export function edges(index) {
    const seen = new Set(), ends = [];
    for (let t = 0; t < index.length; t += 3)
        for (let c = 0; c < 3; c++) {
            const a = index[t + c], b = index[t + ((c + 1) % 3)];
            const name = Math.min(a, b) * 2 ** 26 + Math.max(a, b);
            if (!seen.has(name)) seen.add(name), ends.push(a, b);
        }
    return Uint32Array.from(ends);
}
