// The line of time under the picture: the last seconds, which can be looked at again, and gone on from.

import { button, make } from "./widgets.js";

export class Timeline {
    // look(time): show that time (null: the present); goOn(time): the program goes back there
    constructor({ look, goOn }) {
        this.look = look;
        this.track = make("input", { type: "range", min: 0, max: 1, step: "any", "aria-label": "Look back", oninput: () => this.#move() });
        this.text = make("span", { className: "ago", textContent: "now" });
        this.goOn = button({ name: "Go on from here", key: "<", chosen: () => this.looking && goOn(this.time) });
        this.present = button({ name: "Now", key: ";", chosen: () => this.#leave() });
        this.element = make("div", { className: "timeline", title: "Look back over the last seconds (, and ;)" }, this.track, this.text, this.goOn, this.present);
        this.from = this.to = 0;
        this.show(0, 0);
    }

    get looking() {
        return this.time != null;
    }

    // From when to when somebody can look; `time`: that is shown, where it is not the present.
    show(from, to, time = null) {
        if (to < from) from = to;
        Object.assign(this, { from, to, time });
        this.track.min = from;
        this.track.max = Math.max(to, from + 0.01);
        this.track.value = time ?? this.track.max;
        this.track.disabled = to - from < 0.02;
        const ago = to - (time ?? to);
        this.text.textContent = time == null ? "now" : `${time.toFixed(2)} s, ${ago.toFixed(2)} s ago`;
        this.track.setAttribute("aria-valuetext", this.text.textContent);
        this.element.classList.toggle("back", this.looking);
        this.goOn.disabled = this.present.disabled = !this.looking;
    }

    #move() {
        const time = Number(this.track.value);
        if (time >= this.to - 0.01) this.#leave();
        else this.look(time);
    }

    #leave() {
        if (this.looking) this.look(null);
    }

    // By keys.
    nudge(seconds) {
        const time = (this.time ?? this.to) + seconds;
        if (this.track.disabled || (seconds > 0 && !this.looking)) return;
        if (time >= this.to - 0.01) this.#leave();
        else this.look(Math.max(this.from, time));
    }
}
