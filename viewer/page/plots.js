// Curves over simulated time: energies, step times, how fast the simulation runs, probes.

import uPlot from "../node_modules/uplot/dist/uPlot.esm.js";
import { make, section } from "./widgets.js";

const KEPT = 600; // samples: a minute at ten a second
const INKS = ["#3f8f5f", "#c4673b", "#4a7bb5", "#9566a8", "#b59a2e", "#3f9c9c", "#b0506d", "#6d7f3a"];
const MOST_PROBES = 8; // curves of one plot that can still be told apart

// Columns that are neither time nor energies nor momenta are probes.
const NOT_PROBES = /^(time|elastic|kinetic|external|total|work|balance|(angular_?)?momentum.*|[pPlL]\.?[xyz])$/i;

// Displacements where there are some: positions and velocities would flatten them.
function chooseProbes(columns) {
    const probes = columns.filter((name) => !NOT_PROBES.test(name));
    const moved = probes.filter((name) => /\.u[xyz]$/.test(name));
    return (moved.length ? moved : probes).slice(0, MOST_PROBES);
}

class Plot {
    constructor(title, unit, names) {
        this.title = title;
        this.unit = unit;
        this.names = names;
        this.holder = make("div", { className: "plot", role: "img", "aria-label": title });
        this.clear();
    }

    clear() {
        this.data = [[], ...this.names.map(() => [])];
        this.plot?.setData(this.data);
    }

    add(time, values) {
        const times = this.data[0];
        if (times.length && time < times[times.length - 1]) this.clear();
        if (this.data[0].length && time === this.data[0][this.data[0].length - 1]) return; // nothing moves
        [time, ...values].forEach((value, i) => {
            this.data[i].push(value ?? null);
            if (this.data[i].length > KEPT) this.data[i].shift();
        });
    }

    // Only what can be seen is drawn.
    draw(width, ink, grid) {
        if (!this.holder.offsetParent || width <= 0) return;
        if (!this.plot || this.ink !== ink) this.#build(width, ink, grid);
        if (this.plot.width !== width) this.plot.setSize({ width, height: this.plot.height });
        this.plot.setData(this.data);
    }

    #build(width, ink, grid) {
        this.plot?.destroy();
        this.ink = ink;
        const axis = { stroke: ink, font: "10px system-ui", grid: { stroke: grid, width: 1 }, ticks: { show: false } };
        this.plot = new uPlot({
            width, height: 96, cursor: { show: false }, legend: { show: false },
            scales: { x: { time: false } },
            axes: [{ ...axis, size: 18, space: 60 }, { ...axis, size: 46, space: 15, values: (_, ticks) => ticks.map(short) }],
            series: [{}, ...this.names.map((_, i) => ({ stroke: INKS[i % INKS.length], width: 1.5, points: { show: false } }))],
        }, this.data, this.holder);
    }

    caption() {
        const keys = this.names.map((name, i) => make("span", { className: `key ink${i % INKS.length}`, textContent: name }));
        return make("div", { className: "caption" }, make("b", { textContent: `${this.title}${this.unit ? `, ${this.unit}` : ""}` }), ...keys);
    }
}

const short = (x) => {
    if (x == null) return "";
    const size = Math.abs(x);
    return size !== 0 && (size >= 1e5 || size < 1e-3) ? x.toExponential(0) : String(Number(x.toPrecision(5)));
};

export class Plots {
    constructor() {
        this.body = make("div", { className: "plots" });
        this.element = section("Plots", true, this.body);
        this.plots = [];
        this.samples = 0; // that came so far
    }

    // For a stage with these columns, and a ghost or none.
    begin(columns, ghost = false) {
        const energies = ["elastic", "kinetic", "external", "total"].filter((name) => columns.includes(name));
        const probes = chooseProbes(columns);
        const of = (names) => {
            const places = names.map((name) => columns.indexOf(name));
            return ({ values }) => places.map((place) => values?.[place]);
        };
        this.plots = [{ plot: new Plot("Energy", "J", energies), read: of(energies) }];
        // The total against what was put in since the start: what is left of it, the balance, should be zero or be lost.
        const work = ["work", "balance"].filter((name) => columns.includes(name));
        if (work.length) this.plots.push({ plot: new Plot("Work and balance", "J", ["total", ...work]), read: of(["total", ...work]) });
        if (ghost) this.plots.push({ plot: new Plot("Ghost's distance", "m", ["largest", "rms"]), read: (n) => [n.ghost?.largest, n.ghost?.rms] });
        this.plots.push(
            { plot: new Plot("Step time", "µs", ["median", "99 %"]), read: (n) => [n.step_us, n.step_us_99] },
            { plot: new Plot("Real-time factor", "", ["simulated / wall"]), read: (n) => [n.real_time >= 0 ? n.real_time : null] });
        if (probes.length) this.plots.push({ plot: new Plot("Probes", "", probes), read: of(probes) });
        this.body.replaceChildren(...this.plots.flatMap(({ plot }) => [plot.caption(), plot.holder]));
    }

    add(numbers) {
        this.samples++;
        for (const { plot, read } of this.plots) plot.add(numbers.time, read(numbers));
    }

    draw() {
        const style = getComputedStyle(this.body);
        for (const { plot } of this.plots)
            plot.draw(this.body.clientWidth, style.getPropertyValue("--muted").trim(), style.getPropertyValue("--hair").trim());
    }

    // For those who look from outside: the newest value of each curve.
    latest() {
        return Object.fromEntries(this.plots.map(({ plot }) => [plot.title, { points: plot.data[0].length, values: plot.data.slice(1).map((d) => d[d.length - 1]) }]));
    }
}
