// Small things in front of the scene: axes in a corner, and a dot at a point that somebody picked.

import * as THREE from "../node_modules/three/build/three.module.js";

const COLOURS = ["#d0453a", "#3f9a4d", "#3f74c8"]; // x, y, z
const NAMES = ["x", "y", "z"];

function letter(text, colour) {
    const canvas = document.createElement("canvas");
    canvas.width = canvas.height = 64;
    const pen = canvas.getContext("2d");
    pen.font = "600 46px system-ui, sans-serif";
    pen.textAlign = "center";
    pen.textBaseline = "middle";
    pen.fillStyle = colour;
    pen.fillText(text, 32, 32);
    const texture = new THREE.CanvasTexture(canvas);
    texture.colorSpace = THREE.SRGBColorSpace;
    return new THREE.Sprite(new THREE.SpriteMaterial({ map: texture, transparent: true, depthTest: false }));
}

// {scene, camera, turn(camera), place(width, height, size)}: three arrows with names, seen as the scene is.
export function makeAxes() {
    const scene = new THREE.Scene(), camera = new THREE.OrthographicCamera(-1.45, 1.45, 1.45, -1.45, 0, 10);
    const shaft = new THREE.CylinderGeometry(0.035, 0.035, 0.85, 10).translate(0, 0.425, 0), tip = new THREE.ConeGeometry(0.1, 0.25, 14).translate(0, 0.95, 0);
    COLOURS.forEach((colour, axis) => {
        const material = new THREE.MeshBasicMaterial({ color: colour }), arrow = new THREE.Group(), name = letter(NAMES[axis], colour);
        const along = new THREE.Vector3().setComponent(axis, 1);
        arrow.add(new THREE.Mesh(shaft, material), new THREE.Mesh(tip, material));
        arrow.quaternion.setFromUnitVectors(new THREE.Vector3(0, 1, 0), along);
        name.position.copy(along).multiplyScalar(1.24);
        name.scale.setScalar(0.4);
        scene.add(arrow, name);
    });
    const forward = new THREE.Vector3();
    return {
        scene, camera,
        turn(from) {
            camera.up.copy(from.up);
            camera.position.copy(from.getWorldDirection(forward)).multiplyScalar(-5);
            camera.lookAt(0, 0, 0);
            camera.updateMatrixWorld();
        },
        // From the lower left corner: above the bar, beside the panel where there is one.
        place(width, height, size) {
            const panel = document.getElementById("left").getBoundingClientRect(), bar = document.getElementById("bottom").getBoundingClientRect();
            const beside = panel.width > 0 && panel.bottom > height - size - 80 && panel.right < 0.4 * width;
            const clear = bar.width === 0 || bar.left > size + (beside ? panel.right : 0) + 16;
            return { x: (beside ? panel.right : 0) + 6, y: clear ? 6 : height - bar.top + 4 };
        },
    };
}

export function makeMarker() {
    const marker = new THREE.Mesh(new THREE.SphereGeometry(1, 16, 12), new THREE.MeshBasicMaterial({ color: "#ff3d6e", depthTest: false, transparent: true }));
    marker.visible = false;
    return marker;
}
