// Motors: a slider each, which takes the motor of a mechanism over from its curve, or turns a part in its joint, until it is
// given back.

import { withPrefix } from "./colours.js";
import { button, make, section, slider } from "./widgets.js";

const MANY = 8; // more of them would push all else away: they are folded

// How numbers of each unit are shown, and typed.
const UNITS = {
    rad: { unit: 180 / Math.PI, format: (v) => `${((180 / Math.PI) * v).toFixed(1)}°` },
    m: { unit: 1000, format: (v) => `${(1000 * v).toFixed(1)} mm` },
    "N m": { unit: 1, format: (v) => `${withPrefix(v)}N m` },
};

export class Motors {
    constructor(send) {
        this.send = send;
        this.rows = make("div");
        this.release = button({ name: "Scene's motors", chosen: () => this.send({ do: "motor" }) });
        this.element = section("Motors", true, this.rows, make("div", { className: "buttons" }, this.release));
        this.begin([]);
    }

    // motors: [{name, unit, low, high}], as the stage has them
    begin(motors) {
        this.element.hidden = !motors.length;
        if (motors.length > MANY) this.element.open = false;
        this.sliders = motors.map(({ name, unit, low, high }, motor) => slider({
            name, low, high, step: (high - low) / 200, ...(UNITS[unit] ?? UNITS["N m"]),
            chosen: (value) => this.send({ do: "motor", motor, value }),
        }));
        this.rows.replaceChildren(...this.sliders.map(({ element }) => element));
        this.release.disabled = true;
    }

    // values: where each is now; held: which of them somebody has taken over
    show(values, held) {
        values?.forEach((value, i) => this.sliders[i]?.set(value));
        this.sliders.forEach(({ element }, i) => element.classList.toggle("held", Boolean(held?.[i])));
        this.release.disabled = !held?.some(Boolean);
    }
}
