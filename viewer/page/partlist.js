// The list of parts: a tree by what hangs on what, or, while somebody searches, all whose names fit. Only what is
// unfolded is made, a piece at a time, so that a forest has room in it.

import { make, section } from "./widgets.js";

const PIECE = 100; // entries that are added at once

export class PartList {
    // chosen(part): somebody wants to see it
    constructor(chosen) {
        this.chosen = chosen;
        this.search = make("input", { type: "search", placeholder: "Find by name or component", "aria-label": "Find a part", oninput: () => this.#fill() });
        this.search.addEventListener("keydown", (event) => this.#searchKey(event));
        this.count = make("p", { className: "hint", role: "status" });
        this.tree = make("ul", { className: "tree", role: "tree", "aria-label": "Parts", onclick: (event) => this.#click(event), onkeydown: (event) => this.#key(event) });
        this.element = section("Parts", false, this.search, this.count, this.tree);
        this.element.addEventListener("toggle", () => this.#fill());
        this.open = new Set(); // parts that are unfolded
        this.picked = null;
    }

    // For a stage.
    begin(layer) {
        this.layer = layer;
        this.children = Array.from({ length: layer.parts.count }, () => []);
        this.roots = [];
        layer.parts.parent.forEach((parent, p) => (parent >= 0 ? this.children[parent] : this.roots).push(p));
        this.open = new Set(this.roots.length < 4 ? this.roots : []);
        this.element.hidden = layer.parts.count < 2;
        this.#fill();
    }

    find() {
        this.element.open = true;
        this.search.focus();
        this.search.select();
    }

    // Somebody picked it elsewhere: it is unfolded and shown.
    show(part) {
        this.picked = part;
        if (!this.layer || !this.element.open) return;
        for (let p = part === null ? -1 : this.layer.parts.parent[part]; p >= 0; p = this.layer.parts.parent[p])
            if (!this.open.has(p)) this.open.add(p), (this.stale = true);
        if (this.stale) this.#fill();
        this.#mark();
    }

    #mark() {
        this.tree.querySelector("[aria-selected=true]")?.setAttribute("aria-selected", "false");
        const item = this.picked === null ? null : this.#item(this.picked);
        item?.setAttribute("aria-selected", "true");
        const row = item?.firstElementChild;
        if (row) this.tree.scrollTop = Math.min(Math.max(this.tree.scrollTop, row.offsetTop + row.offsetHeight - this.tree.clientHeight), row.offsetTop);
    }

    #item(part) {
        return this.tree.querySelector(`[data-part="${part}"]`);
    }

    #fill() {
        this.stale = false;
        if (!this.layer || !this.element.open) return;
        const { count } = this.layer.parts, words = this.search.value.trim().toLowerCase();
        const found = words ? [...Array(count).keys()].filter((p) => this.#fits(p, words)) : this.roots;
        this.flat = Boolean(words);
        this.count.textContent = words ? `${found.length.toLocaleString("en")} of ${count.toLocaleString("en")}` : `${count.toLocaleString("en")} parts`;
        this.tree.replaceChildren();
        this.#add(this.tree, found, 0);
        const first = this.tree.querySelector("[role=treeitem]");
        if (first) first.tabIndex = 0;
        this.#mark();
    }

    #fits(part, words) {
        return this.layer.name(part).toLowerCase().includes(words) || this.layer.component(part).name.toLowerCase().includes(words);
    }

    #add(list, parts, from) {
        for (const p of parts.slice(from, from + PIECE)) list.append(this.#make(p));
        const left = parts.length - from - PIECE;
        if (left <= 0) return;
        const more = make("button", { type: "button", className: "more", textContent: `${left.toLocaleString("en")} more`, onclick: (event) => {
            event.stopPropagation();
            entry.remove();
            this.#add(list, parts, from + PIECE);
        } });
        const entry = make("li", { role: "none" }, more);
        list.append(entry);
    }

    #make(part) {
        const name = this.layer.name(part), kind = this.layer.component(part).name, hangs = this.flat ? [] : this.children[part];
        const open = this.open.has(part) && hangs.length > 0;
        const row = make("div", { className: "entry" }, make("span", { className: hangs.length ? "fold" : "leaf" }), make("span", { className: "name", textContent: name }));
        if (kind !== name) row.append(make("span", { className: "kind", textContent: kind }));
        const item = make("li", { role: "treeitem", tabIndex: -1, "aria-selected": "false", "aria-label": name }, row);
        item.dataset.part = part;
        if (hangs.length) item.setAttribute("aria-expanded", String(open));
        if (open) this.#unfold(item, hangs);
        return item;
    }

    #unfold(item, hangs) {
        const list = make("ul", { role: "group" });
        this.#add(list, hangs, 0);
        item.append(list);
    }

    #fold(item, open = item.getAttribute("aria-expanded") === "false") {
        const part = Number(item.dataset.part);
        if (!item.hasAttribute("aria-expanded") || (item.getAttribute("aria-expanded") === "true") === open) return;
        item.setAttribute("aria-expanded", String(open));
        item.querySelector(":scope > ul")?.remove();
        if (open) this.open.add(part), this.#unfold(item, this.children[part]);
        else this.open.delete(part);
    }

    #choose(item) {
        this.#focus(item);
        this.chosen(Number(item.dataset.part));
    }

    #focus(item) {
        this.tree.querySelector("[tabindex='0']")?.setAttribute("tabindex", "-1");
        item.tabIndex = 0;
        item.focus({ preventScroll: false });
    }

    #click({ target }) {
        const item = target.closest("[role=treeitem]");
        if (!item) return;
        if (target.classList.contains("fold")) this.#fold(item);
        else this.#choose(item);
    }

    #key(event) {
        const item = event.target.closest("[role=treeitem]");
        if (!item || event.target !== item) return;
        const all = [...this.tree.querySelectorAll("[role=treeitem]")], at = all.indexOf(item);
        const unfolded = item.getAttribute("aria-expanded") === "true";
        const acts = {
            ArrowDown: () => all[at + 1] && this.#focus(all[at + 1]),
            ArrowUp: () => this.#focus(all[at - 1] ?? item),
            Home: () => this.#focus(all[0]),
            End: () => this.#focus(all[all.length - 1]),
            ArrowRight: () => (unfolded ? all[at + 1] && this.#focus(all[at + 1]) : this.#fold(item, true)),
            ArrowLeft: () => (unfolded ? this.#fold(item, false) : this.#focus(item.parentElement.closest("[role=treeitem]") ?? item)),
            Enter: () => this.#choose(item),
        };
        if (!acts[event.key]) return;
        event.preventDefault();
        acts[event.key]();
    }

    // From the search: down into the list, Enter takes the first, Escape ends it.
    #searchKey(event) {
        const first = this.tree.querySelector("[role=treeitem]");
        if (event.key === "ArrowDown" && first) this.#focus(first), event.preventDefault();
        else if (event.key === "Enter" && first) this.#choose(first);
        else if (event.key === "Escape") {
            this.search.value = "";
            this.#fill();
            this.search.blur();
        }
    }
}
