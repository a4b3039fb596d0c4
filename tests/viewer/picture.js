// Statistics of screenshots: pixels differ from machine to machine, what they are of does not.

import { inflateSync } from "node:zlib";

// Red, green, blue of all pixels of a PNG of 8 bits, as browsers write them.
export function readPng(bytes) {
    const width = bytes.readUInt32BE(16), height = bytes.readUInt32BE(20), channels = bytes[25] === 6 ? 4 : 3;
    const pieces = [];
    for (let at = 8; at < bytes.length; at += 12 + bytes.readUInt32BE(at))
        if (bytes.toString("latin1", at + 4, at + 8) === "IDAT") pieces.push(bytes.subarray(at + 8, at + 8 + bytes.readUInt32BE(at)));
    const raw = inflateSync(Buffer.concat(pieces)), stride = width * channels, pixels = new Uint8Array(height * stride);
    const at = (row, i) => (row < 0 || i < 0 ? 0 : pixels[row * stride + i]);
    for (let row = 0; row < height; row++) {
        const filter = raw[row * (stride + 1)];
        for (let i = 0; i < stride; i++) {
            const left = at(row, i - channels), up = at(row - 1, i), corner = i < channels ? 0 : at(row - 1, i - channels);
            const guess = [0, left, up, (left + up) >> 1, paeth(left, up, corner)][filter];
            pixels[row * stride + i] = raw[row * (stride + 1) + 1 + i] + guess;
        }
    }
    return { width, height, channels, pixels };
}

function paeth(a, b, c) {
    const p = a + b - c, pa = Math.abs(p - a), pb = Math.abs(p - b), pc = Math.abs(p - c);
    return pa <= pb && pa <= pc ? a : pb <= pc ? b : c;
}

// Shares of pixels that are green, brown, blue or yellow, and how many colours there are (of 4,096).
export function measure(png) {
    const { width, height, channels, pixels } = readPng(png);
    const seen = new Set(), count = { green: 0, brown: 0, blue: 0, yellow: 0 };
    for (let i = 0; i < pixels.length; i += channels) {
        const [r, g, b] = pixels.subarray(i, i + 3);
        seen.add(((r >> 4) << 8) | ((g >> 4) << 4) | (b >> 4));
        if (g > 1.15 * r && g > 1.4 * b && g > 50) count.green++;
        if (r > 1.1 * g && g > 1.1 * b && r > 40 && r < 200) count.brown++;
        if (b > 1.4 * r && b > 1.2 * g && b > 40) count.blue++;
        if (r > 150 && g > 140 && b < 0.6 * g) count.yellow++;
    }
    for (const name of Object.keys(count)) count[name] /= width * height;
    return { colours: seen.size, ...count };
}
