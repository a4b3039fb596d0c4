// Motors of a mechanism: a slider each, which takes the motor over from its curve until it is given back.

import { button, make, section, slider } from "./widgets.js";

const DEGREES = 180 / Math.PI;

export class Motors {
    constructor(send) {
        this.send = send;
        this.rows = make("div");
        this.release = button({ name: "Scene's motors", chosen: () => this.send({ do: "motor" }) });
        this.element = section("Motors", true, this.rows, make("div", { className: "buttons" }, this.release));
        this.begin([]);
    }

    // motors: [{name, turns, low, high}], as the stage has them: rad or m
    begin(motors) {
        this.element.hidden = !motors.length;
        this.sliders = motors.map(({ name, turns, low, high }, motor) => slider({
            name, low, high, step: (high - low) / 200, unit: turns ? DEGREES : 1000,
            format: (v) => (turns ? `${(DEGREES * v).toFixed(1)}°` : `${(1000 * v).toFixed(1)} mm`),
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
