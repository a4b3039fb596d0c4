// Pictures and films of the canvas, made in the browser and saved as files.

import { make } from "./widgets.js";

export function save(blob, name) {
    const address = URL.createObjectURL(blob);
    make("a", { href: address, download: name }).click();
    setTimeout(() => URL.revokeObjectURL(address), 10000);
}

// draw() is called just before, because a canvas forgets its picture once it was shown.
export function takePicture(canvas, draw, name) {
    draw();
    return new Promise((done) => canvas.toBlob((blob) => (save(blob, name), done(blob.size)), "image/png"));
}

export class Film {
    constructor(canvas) {
        this.canvas = canvas;
        this.recorder = null;
    }

    get running() {
        return this.recorder !== null;
    }

    start() {
        if (!this.canvas.captureStream || typeof MediaRecorder === "undefined")
            throw new Error("This browser cannot film a canvas; record a .glb instead, or take pictures.");
        const type = ["video/webm;codecs=vp9", "video/webm;codecs=vp8", "video/webm", "video/mp4"].find((t) => MediaRecorder.isTypeSupported(t));
        this.pieces = [];
        this.recorder = new MediaRecorder(this.canvas.captureStream(60), { mimeType: type, videoBitsPerSecond: 12e6 });
        this.recorder.ondataavailable = ({ data }) => data.size && this.pieces.push(data);
        this.recorder.start(500);
    }

    // The film; it is saved under the name with the ending that fits.
    stop(name) {
        const { recorder, pieces } = this;
        this.recorder = null;
        return new Promise((done) => {
            recorder.onstop = () => {
                const blob = new Blob(pieces, { type: recorder.mimeType });
                save(blob, `${name}.${recorder.mimeType.includes("mp4") ? "mp4" : "webm"}`);
                done(blob.size);
            };
            recorder.stop();
        });
    }
}
