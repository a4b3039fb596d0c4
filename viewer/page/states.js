// Saved states: the program keeps several by name, and goes back to them.

import { button, make, section } from "./widgets.js";

const LONGEST = 31; // bytes of a name

export class States {
    constructor(send) {
        this.send = send;
        this.states = [];
        this.name = make("input", { type: "text", placeholder: "Name", "aria-label": "Name of the state", maxLength: LONGEST });
        this.name.addEventListener("keydown", ({ key }) => key === "Enter" && this.save());
        this.keep = button({ name: "Save state", key: "K", chosen: () => this.save() });
        this.list = make("ul", { className: "states", "aria-label": "Saved states" });
        this.element = section("Saved states", false, make("div", { className: "naming" }, this.name, this.keep), this.list);
    }

    save() {
        const name = this.name.value.trim() || this.#free();
        this.send({ do: "keep", name: shorten(name) });
        this.name.value = "";
    }

    #free() {
        let n = 1;
        while (this.states.some(({ name }) => name === `state ${n}`)) n++;
        return `state ${n}`;
    }

    // The newest, by a key.
    restoreLast() {
        const last = this.states[this.states.length - 1];
        if (last) this.send({ do: "restore", name: last.name });
    }

    show(states) {
        this.states = states;
        this.list.replaceChildren(...states.map(({ name, time }) => make("li", {},
            make("button", { type: "button", className: "go", textContent: name, title: `Go back to ${time.toFixed(2)} s`, "aria-label": `Restore ${name}`, onclick: () => this.send({ do: "restore", name }) }),
            make("span", { className: "kind", textContent: `${time.toFixed(2)} s` }),
            make("button", { type: "button", className: "drop", textContent: "×", title: "Forget it", "aria-label": `Forget ${name}`, onclick: () => this.send({ do: "forget", name }) }))));
    }
}

// To so many bytes as the program takes, and no half letters.
function shorten(name) {
    let text = name;
    while (new TextEncoder().encode(text).length > LONGEST) text = [...text].slice(0, -1).join("");
    return text;
}
