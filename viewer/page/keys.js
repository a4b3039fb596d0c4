// Shortcuts. One list makes the keys work and writes the help.

import { make } from "./widgets.js";

const NAMES = { " ": "Space", ArrowLeft: "←", ArrowRight: "→", ArrowUp: "↑", ArrowDown: "↓", Delete: "Del", Escape: "Esc", PageUp: "Page ↑", PageDown: "Page ↓" };

// actions: [{keys: ["w", "W"], name, run(key, event)}]
export class Keys {
    constructor(actions, dialog) {
        this.actions = actions;
        this.dialog = dialog;
        this.#writeHelp();
        window.addEventListener("keydown", (event) => this.#press(event));
        // What was clicked, not reached by Tab, does not keep the space bar and the letters for itself.
        window.addEventListener("click", ({ detail, target }) => detail > 0 && target.closest?.("button, summary")?.blur());
        window.addEventListener("pointerdown", ({ target }) => (this.pointed = target));
        window.addEventListener("keydown", () => (this.pointed = null), true);
        window.addEventListener("change", ({ target }) => target === this.pointed && target.matches("select, input[type=checkbox]") && target.blur());
    }

    #press(event) {
        if (event.ctrlKey || event.metaKey || event.altKey || this.dialog.open) return;
        const { target, key } = event;
        // Controls keep the keys that they live by.
        if (target.matches?.("input[type=text], input[type=search]") || event.defaultPrevented) return;
        if (key === "Escape" && target.matches?.("select, input")) target.blur();
        if (target.closest?.("select") && (key.length === 1 || key.startsWith("Arrow"))) return;
        if (target.matches?.("input[type=range]") && /^(Arrow|Page|Home|End)/.test(key)) return;
        if (target.closest?.("[role=tree]") && /^(Arrow|Home|End|Enter)/.test(key)) return;
        if (target.closest?.("button, summary, a, input[type=checkbox]") && (key === " " || key === "Enter")) return;
        const action = this.actions.find(({ keys }) => keys.includes(key));
        if (!action) return;
        event.preventDefault();
        action.run(key, event);
    }

    #writeHelp() {
        const pointer = [
            ["Drag the surface", "pull it; beside it: turn"], ["Click", "pick a part"], ["Shift-click", "poke"],
            ["Ctrl-drag", "turn, also from the surface"], ["Right drag", "pan"], ["Wheel, two fingers", "zoom (and pan)"],
        ];
        const line = (keys, name) => make("div", {}, ...keys.map((key) => make("kbd", { textContent: NAMES[key] ?? key })), make("span", { textContent: name }));
        this.dialog.replaceChildren(
            make("h2", { textContent: "Bough: what can be done here" }),
            make("div", { className: "keys" },
                ...pointer.map(([what, name]) => line([what], name)),
                ...this.actions.map(({ keys, name }) => line(keys, name))),
            make("div", { className: "buttons" }, make("button", { type: "button", textContent: "Close", onclick: () => this.dialog.close() })));
    }

    help() {
        if (this.dialog.open) this.dialog.close();
        else this.dialog.showModal();
    }
}
