// Colours of parts. All are linear RGB, as the shader wants them; CSS gets them back as sRGB.

import { RAMP } from "./shader.js";

const linear = (srgb) => srgb.map((x) => x ** 2.2);
export const css = (srgb) => `rgb(${srgb.map((x) => Math.round(255 * x)).join(" ")})`;

// What a name tells of the material, where it tells something.
const NAMED = [
    [/leaf|leaves|needle|grass|sepal/i, [0.42, 0.61, 0.20], 0.16],
    [/stem|stalk|pistil/i, [0.47, 0.62, 0.30], 0.06],
    [/trunk|branch|bough|twig|bark|wood|limb|root|shoot/i, [0.50, 0.38, 0.28], 0.05],
    [/petal|flower|blossom|tepal/i, [0.95, 0.80, 0.84], 0.08],
    [/stamen|anther|candle|flame/i, [0.96, 0.78, 0.36], 0.04],
    [/panel|solar|wing/i, [0.36, 0.50, 0.68], 0.05],
    [/truss|steel|beam|chain|wire|rope|cable|arm/i, [0.62, 0.65, 0.68], 0.05],
];
const PALETTE = [
    [0.55, 0.68, 0.78], [0.80, 0.62, 0.48], [0.60, 0.74, 0.58], [0.78, 0.70, 0.50],
    [0.67, 0.62, 0.77], [0.52, 0.72, 0.71], [0.82, 0.58, 0.60], [0.68, 0.72, 0.52],
];

// A number in 0..1 that belongs to i and looks random.
const scatter = (i) => {
    const x = Math.sin(127.1 * (i + 1)) * 43758.5453;
    return x - Math.floor(x);
};

function hue(h, s, v) {
    const k = (n) => (n + h * 6) % 6;
    const f = (n) => v - v * s * Math.max(0, Math.min(k(n), 4 - k(n), 1));
    return [f(5), f(3), f(1)];
}

function natural(component, number, part) {
    const [, srgb, variation] = component.colour ? [null, component.colour, 0] :
        NAMED.find(([pattern]) => pattern.test(component.name)) ?? [null, PALETTE[number % PALETTE.length], 0.03];
    const light = 2 * scatter(part) - 1, warm = 2 * scatter(part + 0.5) - 1;
    return srgb.map((x, c) => Math.min(1, Math.max(0, x * (1 + variation * (light + (c === 2 ? -warm : 0.7 * warm))))));
}

export function rampColour(t) {
    const s = 4 * Math.min(1, Math.max(0, t)), i = Math.min(3, Math.floor(s));
    return RAMP[i].map((x, c) => x + (s - i) * (RAMP[i + 1][c] - x));
}

// The ways to colour. `ask`: what the program must send for it (the command `colour`). `needs`: what the engine must be able to do; left out: nothing.
export const WAYS = {
    natural: { label: "natural", ask: 0 },
    part: { label: "by part", ask: 0 },
    component: { label: "by component", ask: 0 },
    displacement: { label: "displacement", ask: 0, unit: "m" },
    stress: { label: "von Mises stress", ask: 1, unit: "Pa", needs: "stress" },
    deviation: { label: "interface deviation", ask: 2, unit: "", needs: "deviation" },
    contacts: { label: "contact force", ask: 3, unit: "N", needs: "contacts" },
};

// Linear RGB of every part; values (null: none came yet) over `whole` for the ways that show a value.
export function partColours(way, layer, values, whole, out) {
    const { component, count } = layer.parts;
    for (let p = 0; p < count; p++) {
        const number = component[p];
        let srgb;
        if (way === "natural") srgb = natural(layer.components[number], number, p);
        else if (way === "part") srgb = hue((p * 0.618034) % 1, 0.42, 0.86);
        else if (way === "component") srgb = hue((number * 0.618034 + 0.58) % 1, 0.45, 0.84);
        else srgb = rampColour(values && whole > 0 ? values[p] / whole : 0);
        out.set(linear(srgb), 4 * p);
    }
}

// "5.43 mm"; what has no unit has no prefix either: "0.00543".
export function withUnit(x, unit) {
    if (unit) return `${withPrefix(x)}${unit}`;
    if (!Number.isFinite(x)) return "–";
    const size = Math.abs(x);
    return x !== 0 && (size < 1e-4 || size >= 1e5) ? x.toExponential(2) : String(Number(x.toPrecision(3)));
}

// "12.3 k", "4.5 µ": three digits and the prefix of a power of 1000.
export function withPrefix(x) {
    if (!Number.isFinite(x)) return "–";
    if (x === 0) return "0 ";
    const power = Math.max(-4, Math.min(4, Math.floor(Math.log10(Math.abs(x)) / 3 + 1e-9)));
    return `${(x / 1000 ** power).toPrecision(3)} ${["p", "n", "µ", "m", "", "k", "M", "G", "T"][power + 4]}`;
}
