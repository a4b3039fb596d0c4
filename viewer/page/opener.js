// Other files beside the one that is shown: scenes, meshes and components that the program can open instead.

import { make, section } from "./widgets.js";

export class Opener {
    constructor(send) {
        this.files = [];
        this.list = make("select", { "aria-label": "Open another file", onchange: () => this.list.value !== "" && send({ do: "open", file: Number(this.list.value) }) });
        this.element = section("Scene", false, make("label", { className: "row", title: "Open another file (O)" }, make("span", { textContent: "Open" }), this.list));
    }

    begin(files, opened) {
        this.files = files;
        this.element.hidden = files.length < 2;
        this.list.replaceChildren(...files.map((name, i) => make("option", { value: i, textContent: name })));
        this.list.value = files.indexOf(opened) >= 0 ? files.indexOf(opened) : "";
    }

    // By a key.
    focus() {
        this.element.open = true;
        this.list.focus();
    }
}
