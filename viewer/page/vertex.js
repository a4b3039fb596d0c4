// The vertex that somebody clicked: its number and where it is, at rest and now, to be copied into files (interfaces,
// probes, what is fixed).

import { button, make } from "./widgets.js";

const digits = (x) => Number(x.toPrecision(6));
export const asText = (point) => point.map((c) => digits(Math.abs(c) < 1e-9 ? 0 : c)).join(", ");

export class VertexCard {
    constructor(note) {
        this.note = note;
        this.rest = make("output", { className: "point", "aria-label": "At rest" });
        this.own = make("output", { className: "point", "aria-label": "In its own axes" });
        this.now = make("output", { className: "point", "aria-label": "Now" });
        this.title = make("b");
        this.copy = button({ name: "Copy coordinates", key: "Y", text: "Copy", chosen: () => this.#copy() });
        this.element = make("div", { className: "vertex" }, make("div", { className: "naming" }, this.title, this.copy),
            make("dl", { className: "facts" }, make("dt", { textContent: "At rest, m" }), make("dd", {}, this.rest), make("dt", { textContent: "Own axes" }), make("dd", {}, this.own), make("dt", { textContent: "Now" }), make("dd", {}, this.now)));
        this.show(null);
    }

    // vertex: {number, rest, own, now}; null: none. Own axes: those of the component, or of the link.
    show(vertex) {
        this.element.hidden = !vertex;
        if (!vertex) return;
        this.title.textContent = `Vertex ${vertex.number}`;
        this.rest.textContent = asText(vertex.rest);
        this.own.textContent = asText(vertex.own);
        this.now.textContent = asText(vertex.now);
    }

    async #copy() {
        if (this.element.hidden) return;
        try {
            await navigator.clipboard.writeText(`[${this.rest.textContent}]`);
            this.note(`Copied: [${this.rest.textContent}]`, true);
        } catch {
            // Browsers refuse the clipboard to pages of other computers: the text is selected instead.
            getSelection().selectAllChildren(this.rest);
            this.note("This browser does not let pages copy; the coordinates are selected, press Ctrl-C.", true);
        }
    }
}
