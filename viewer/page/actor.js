// One layer of a stage on the GPU: textures with all that moves, and an instanced mesh for each component. Vertices are
// found once, as points that are drawn into a texture; picture, wireframe, picking and shadow share them.

import * as THREE from "../node_modules/three/build/three.module.js";
import { fill, makeAtlas, makePartTable, makeSeamTextures, makeTexture, WIDTH } from "./textures.js";
import * as shader from "./shader.js";

const GLASS = 0.13; // opacity of surfaces into which one looks

export class Actor {
    // `scenes`: {surface, pick, shadow}; `shared`: uniforms of light and shadow.
    constructor(layer, scenes, shared, largest, ghost) {
        this.layer = layer;
        this.ghost = ghost;
        this.camera = new THREE.Camera(); // of the first pass, which needs none
        this.stale = true;
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
            values: makeTexture("float1", 1, largest), // as many as are needed, once some come
        };
        this.uniforms = {
            join: { value: true }, byValue: { value: false }, whole: { value: 0 }, natural: { value: false }, picked: { value: -1 }, opacity: { value: ghost ? 0.38 : 1 }, ink: { value: 0 },
            seamOf: { value: null }, seamMembers: { value: null },
        };
        for (const [name, texture] of Object.entries(this.textures)) this.uniforms[name] = { value: texture };
        this.target = new THREE.WebGLRenderTarget(WIDTH, Math.max(1, Math.ceil(layer.slotCount / WIDTH)), {
            count: 2, type: THREE.FloatType, minFilter: THREE.NearestFilter, magFilter: THREE.NearestFilter, depthBuffer: false,
        });
        if (this.target.height > largest) throw new Error("this scene has too many vertices for the graphics of this machine");
        [this.uniforms.positions, this.uniforms.normals] = this.target.textures.map((value) => ({ value }));
        this.uniforms.size = { value: new THREE.Vector2(this.target.width, this.target.height) };
        this.materials = this.#makeMaterials(shared);
        this.points = new THREE.Scene();
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
            hull: make(shader.pickVertex, shader.depthFragment, { colorWrite: false }),
            wire: make(shader.surfaceVertex, shader.wireFragment, { transparent: true }),
            move: make(shader.moveVertex, shader.moveFragment, { depthTest: false, depthWrite: false }),
            pick: make(shader.pickVertex, shader.pickFragment),
            shadow: make(shader.pickVertex, shader.depthFragment),
        };
    }

    #addComponent(component, number, scenes) {
        const users = [];
        this.layer.parts.component.forEach((c, p) => c === number && users.push(p));
        const geometry = new THREE.InstancedBufferGeometry();
        geometry.setIndex(new THREE.BufferAttribute(component.cut.index, 1));
        geometry.setAttribute("part", new THREE.InstancedBufferAttribute(new Float32Array(2 * users.length), 2));
        if (component.colours) geometry.setAttribute("dye", new THREE.BufferAttribute(dyesOf(component), 4));
        geometry.boundingSphere = new THREE.Sphere(new THREE.Vector3(), Infinity);
        const vertices = this.#like(geometry);
        vertices.setIndex(new THREE.BufferAttribute(pointsOf(component), 1));
        vertices.setDrawRange(0, component.vertices + component.cut.base.length);
        const add = (scene, material) => put(scene, new THREE.Mesh(geometry, material));
        const hull = this.ghost && add(scenes.surface, this.materials.hull); // of a ghost only the nearest sides are seen
        const meshes = { users, hull, geometry, vertices, scene: scenes.surface, points: put(this.points, new THREE.Points(vertices, this.materials.move)), surface: add(scenes.surface, this.materials.surface) };
        if (!this.ghost) {
            meshes.pick = add(scenes.pick, this.materials.pick);
            meshes.shadow = add(scenes.shadow, this.materials.shadow);
        }
        return meshes;
    }

    // Another geometry of the same parts.
    #like(geometry) {
        const other = new THREE.InstancedBufferGeometry();
        other.setAttribute("part", geometry.attributes.part);
        other.instanceCount = geometry.instanceCount;
        other.boundingSphere = geometry.boundingSphere;
        return other;
    }

    // After a frame: what moved goes to the GPU.
    move() {
        this.stale = true;
        fill(this.textures.frames, this.layer.frames);
        fill(this.textures.rest, this.layer.rest);
        if (this.layer.q.length) fill(this.textures.coordinates, this.layer.q);
        if (this.layer.stream.length) fill(this.textures.stream, this.layer.stream);
    }

    // Finds all vertices, where something has changed since.
    update(renderer) {
        if (!this.stale) return;
        this.stale = false;
        renderer.setRenderTarget(this.target);
        renderer.render(this.points, this.camera);
        renderer.setRenderTarget(null);
    }

    join(on) {
        this.stale ||= this.uniforms.join.value !== on;
        this.uniforms.join.value = on;
    }

    // After parts were cut off or removed: who is drawn, and which copies at seams belong together.
    hang() {
        for (const { users, geometry, vertices, wire } of this.meshes) {
            const there = users.filter((p) => !this.layer.absent.has(p));
            geometry.attributes.part.array.set(there.flatMap((p) => [p, this.layer.slot[p]]));
            geometry.attributes.part.needsUpdate = true;
            for (const each of [geometry, vertices, wire?.geometry]) if (each) each.instanceCount = there.length;
        }
        this.stale = true;
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

    // A value of each vertex of all surfaces, which colours it; null: parts have one colour each.
    setValues(values) {
        this.uniforms.byValue.value = values !== null;
        this.stale = true;
        if (!values) return;
        const { layer } = this;
        if (this.textures.values.image.data.length < layer.slotCount) {
            this.textures.values.dispose();
            this.uniforms.values.value = this.textures.values = makeTexture("float1", layer.slotCount, this.largest);
        }
        const out = this.textures.values.image.data;
        for (let p = 0; p < layer.parts.count; p++) {
            const { vertices, cut } = layer.component(p), first = layer.parts.first[p], slot = layer.slot[p];
            for (let v = 0; v < vertices; v++) out[slot + v] = values[first + v];
            for (let i = 0; i < cut.base.length; i++) out[slot + cut.from + i] = values[first + cut.base[i]];
        }
        this.textures.values.needsUpdate = true;
    }

    // `of`: "none", "surface" or "volume". To see into a volume its surface becomes glass. Where a component does not know
    // the edges of its volume mesh those of its surface are drawn.
    showWires(of) {
        const volume = of === "volume" && this.layer.deep;
        this.meshes.forEach((meshes, number) => {
            const component = this.layer.components[number];
            meshes.wire?.removeFromParent();
            meshes.wire?.geometry.dispose();
            meshes.wire = of === "none" ? null : this.#makeWires(meshes, (volume && component.edges) || edges(component.index));
            meshes.vertices.setDrawRange(0, volume ? component.drawn : component.vertices + component.cut.base.length);
        });
        this.uniforms.opacity.value = volume ? GLASS : this.ghost ? 0.38 : 1;
        // Many lines over each other must not become a blot.
        this.uniforms.ink.value = volume ? Math.max(0.1, Math.min(0.35, 0.35 * Math.sqrt(2e4 / (this.lines + 1)))) : 0.45;
        const { surface } = this.materials;
        surface.transparent = volume || this.ghost;
        surface.depthWrite = !volume;
        surface.needsUpdate = true;
        this.stale = true;
    }

    #makeWires(meshes, ends) {
        const lines = this.#like(meshes.geometry);
        lines.setIndex(new THREE.BufferAttribute(ends, 1));
        return put(meshes.scene, new THREE.LineSegments(lines, this.materials.wire));
    }

    // Segments that are drawn of edges.
    get lines() {
        return this.meshes.reduce((sum, { wire }) => sum + (wire ? (wire.geometry.index.count / 2) * wire.geometry.instanceCount : 0), 0);
    }

    get triangles() {
        return this.meshes.reduce((sum, { geometry }) => sum + (geometry.index.count / 3) * geometry.instanceCount, 0);
    }

    dispose() {
        for (const meshes of this.meshes) {
            for (const mesh of [meshes.hull, meshes.surface, meshes.wire, meshes.pick, meshes.shadow]) if (mesh) mesh.removeFromParent();
            meshes.geometry.dispose();
            meshes.vertices.dispose();
            meshes.wire?.geometry.dispose();
        }
        for (const texture of Object.values(this.textures)) texture.dispose();
        this.uniforms.seamOf.value.dispose();
        this.uniforms.seamMembers.value.dispose();
        for (const material of Object.values(this.materials)) material.dispose();
        this.target.dispose();
    }
}

function put(scene, mesh) {
    mesh.frustumCulled = false;
    scene.add(mesh);
    return mesh;
}

// What is drawn of a component in the first pass: the surface, its copies at sharp edges, and last what is inside.
function pointsOf({ vertices, cut, drawn }) {
    const order = new Uint32Array(drawn), copies = drawn - cut.from;
    for (let i = 0; i < drawn; i++) order[i] = i < vertices ? i : i < vertices + copies ? cut.from + i - vertices : i - copies;
    return order;
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

// Colours of the vertices that are drawn, linear, and 0; a geometry that has none reads 0, 0, 0, 1.
function dyesOf({ cut, colours, drawn }) {
    const dyes = new Float32Array(4 * drawn);
    for (let v = 0; v < drawn; v++) {
        const from = v < cut.from ? v : cut.base[v - cut.from];
        if (3 * from + 2 < colours.length) for (let c = 0; c < 3; c++) dyes[4 * v + c] = colours[3 * from + c] ** 2.2;
    }
    return dyes;
}
