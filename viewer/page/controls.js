// The panels: what can be set, and what is known of the picked part. They send commands and show what the program says.

import { WAYS, withPrefix, withUnit } from "./colours.js";
import { button, make, remember, remembered, section, select, slider, toggle } from "./widgets.js";

const COUPLINGS = ["L1", "L2", "L2R", "L3"];
const CONTINUITIES = [["C0", "joined (C0)"], ["C1", "smooth (C1)"], ["none", "parts as they are"]];

const WIRES = [["none", "none"], ["surface", "surface"], ["volume", "volume mesh"]];

const inMetres = (x) => `${x.map((c) => Number(c.toPrecision(4))).join(", ")} m`;
const degrees = (radians) => (radians * 180) / Math.PI;

// world: {send(command), setColour(way), setWires(of), setShadows(on), setFollow(on), setFloor(on), setAxes(on), setJoints(on), film(), photo(), picked()}
export class Controls {
    constructor(world) {
        this.world = world;
        this.gravityDown = [0, 0, -1];
        this.can = new Set(); // of the engine, by the stage
        const left = document.getElementById("left"), right = document.getElementById("right");
        left.append(this.#makeWorld(), this.#makeMethod(), this.#makeLook());
        right.append(this.#makePart());
        this.#makeTime(document.getElementById("bottom"));
    }

    #makeWorld() {
        const blow = () => {
            const angle = (this.windAngle.value * Math.PI) / 180, speed = this.wind.value;
            this.world.send({ do: "wind", velocity: [speed * Math.cos(angle), speed * Math.sin(angle), 0], gust: this.gust.value });
        };
        this.wind = slider({ name: "Wind", key: "w, W", low: 0, high: 40, step: 0.5, format: (v) => `${v.toFixed(1)} m/s`, chosen: blow });
        this.windAngle = slider({ name: "From angle", low: -180, high: 180, step: 5, format: (v) => `${v.toFixed(0)}°`, chosen: blow });
        this.windAngle.element.firstChild.textContent = "Direction";
        this.windAngle.input.setAttribute("aria-label", "Wind direction");
        this.windAngle.element.title = "Where the wind blows to, from the x axis";
        this.windAngle.set(0);
        this.gust = slider({ name: "Gusts", low: 0, high: 2, step: 0.05, format: (v) => v.toFixed(2), chosen: blow });
        this.sceneWind = button({ name: "Scene's wind", key: "0", chosen: () => this.world.send({ do: "wind", velocity: null }) });
        this.gravity = slider({
            name: "Gravity", key: "g, G", low: 0, high: 30, step: 0.01, format: (v) => `${v.toFixed(2)} m/s²`,
            chosen: (v) => this.world.send({ do: "gravity", acceleration: this.gravityDown.map((c) => c * v) }),
        });
        return section("World", true, this.wind.element, this.windAngle.element, this.gust.element, this.gravity.element,
            make("div", { className: "buttons" }, this.sceneWind));
    }

    #makeMethod() {
        const { send } = this.world;
        const named = (what) => (name) => send({ do: what, name });
        this.engine = select({ name: "Engine", key: "e", chosen: named("engine") });
        this.integrator = select({ name: "Integrator", key: "i", chosen: named("integrator") });
        this.coupling = select({ name: "Coupling", key: "k", choices: COUPLINGS.map((c) => [c, c]), chosen: named("coupling") });
        this.dt = slider({
            name: "Time step", key: "t, T", low: 1e-4, high: 0.05, step: 0.01, log: true, format: (v) => `${(1000 * v).toPrecision(3)} ms`, unit: 1000,
            chosen: (seconds) => send({ do: "dt", seconds }),
        });
        this.ghost = select({ name: "Ghost", key: "o", chosen: (value) => send({ do: "ghost", ...JSON.parse(value) }) });
        this.ghost.element.title = "A second simulation, drawn over the first; both begin at the start (o)";
        this.apart = make("dl", { className: "facts", "aria-label": "Distance of the ghost", hidden: true });
        return section("Method", false, this.engine.element, this.integrator.element, this.coupling.element, this.dt.element, this.ghost.element, this.apart);
    }

    // How far the ghost is away: {largest, rms, size} in m; null: there is none.
    showGhost(apart) {
        this.apart.hidden = !apart;
        if (!apart) return;
        const text = (x) => `${withUnit(x, "m")} (${Number(((100 * x) / apart.size).toPrecision(3))} % of size)`;
        this.apart.replaceChildren(...[["Largest", apart.largest], ["Rms", apart.rms]].flatMap(([name, x]) => [make("dt", { textContent: name }), make("dd", { textContent: text(x) })]));
    }

    // The force and the torque of the longest arrows: {force, torque}; null: none are shown.
    // Of joints and of contacts; null: they are not shown.
    showLargest(joints, contacts) {
        const rows = joints ? [["Longest force", withUnit(joints.force, "N")], ["Longest torque", withUnit(joints.torque, "N m")]] : [];
        if (contacts) rows.push(["Largest normal force", withUnit(contacts.normal, "N")], ["Largest friction", withUnit(contacts.friction, "N")]);
        this.largest.hidden = !rows.length;
        this.largest.replaceChildren(...rows.flatMap(([name, text]) => [make("dt", { textContent: name }), make("dd", { textContent: text })]));
    }

    #makeLook() {
        this.colour = select({
            name: "Colour", key: "c", choices: Object.entries(WAYS).map(([way, { label }]) => [way, label]), chosen: (way) => this.world.setColour(way),
        });
        this.most = make("span");
        this.legend = make("div", { className: "legend", hidden: true, role: "img", "aria-label": "Legend" }, make("div", { className: "scale" }),
            make("div", { className: "ends" }, make("span", { textContent: "0" }), this.most));
        this.continuity = select({ name: "Continuity", key: "n", choices: CONTINUITIES, chosen: (name) => this.world.send({ do: "continuity", name }) });
        this.wires = select({ name: "Wireframe", key: "m", choices: WIRES, chosen: (of) => this.world.setWires(of) });
        this.shadows = toggle({ name: "Shadows", key: "h", chosen: (on) => this.world.setShadows(on) });
        this.follow = toggle({ name: "Follow", key: "F", chosen: (on) => this.world.setFollow(on) });
        this.floor = toggle({ name: "Floor grid", key: "N", chosen: (on) => this.world.setFloor(on) });
        this.floor.element.title = "Lines at the height of the lowest point; nothing comes to rest on them (N)";
        this.floor.set(true);
        this.axes = toggle({ name: "Axes", key: "A", chosen: (on) => this.world.setAxes(on) });
        this.joints = toggle({ name: "Joints and forces", key: "R", chosen: (on) => this.world.setJoints(on) });
        this.joints.element.title = "Frames of joints (z, blue, is what they turn about), with the force (orange) and the torque (violet) on what hangs in each (R)";
        this.contacts = toggle({ name: "Contacts", key: "P", chosen: (on) => this.world.setContacts(on) });
        this.contacts.element.title = "Points where things touch, with the normal force (blue) and the friction (red) on one of the two (P)";
        this.largest = make("dl", { className: "facts", "aria-label": "Largest forces", hidden: true });
        this.follow.element.title = "The view goes along with what walks or flies away (F)";
        return section("Look", true, this.colour.element, this.legend, this.continuity.element, this.wires.element, this.shadows.element, this.floor.element, this.axes.element, this.joints.element, this.contacts.element, this.largest, this.follow.element);
    }

    #makePart() {
        const act = (what) => () => this.world.picked() !== null && this.world.send({ do: what, part: this.world.picked() });
        const change = (what, key) => (value) => this.world.picked() !== null &&
            this.world.send({ do: what, part: this.world.picked(), [key]: value, siblings: this.siblings.value });
        this.facts = make("dl", { className: "facts" });
        this.hint = make("p", { className: "hint", textContent: "Click a part to see what it is; drag it to pull." });
        this.stiffness = slider({ name: "Stiffness", key: "s, S", low: 0.1, high: 10, step: 0.02, log: true, format: (v) => `× ${v.toPrecision(3)}`, chosen: change("stiffness", "factor") });
        this.damping = slider({ name: "Damping", key: "d, D", low: 0, high: 1, step: 0.01, format: (v) => v.toFixed(2), chosen: change("damping", "ratio") });
        this.siblings = toggle({ name: "All of its component", key: "b", chosen: () => {} });
        this.cut = button({ name: "Cut off", key: "x", chosen: act("cut") });
        this.lock = button({ name: "Lock", key: "l", chosen: () => act(this.#isLocked() ? "unlock" : "lock")() });
        this.reattach = button({ name: "Reattach", key: "a", chosen: act("reattach") });
        this.remove = button({ name: "Remove", key: "Del", chosen: act("remove") });
        this.partTools = make("div", {}, this.stiffness.element, this.damping.element, this.siblings.element,
            make("div", { className: "buttons" }, this.cut, this.lock, this.reattach, this.remove));
        this.partTools.hidden = true;
        return (this.partSection = section("Part", true, this.hint, this.facts, this.partTools));
    }

    #makeTime(bar) {
        const { send } = this.world;
        this.reset = button({ name: "Reset", key: "r", chosen: () => send({ do: "reset" }) });
        this.play = button({ name: "Pause", key: "Space", className: "main", chosen: () => send({ do: this.paused ? "play" : "pause" }) });
        this.step = button({ name: "Step", key: ".", chosen: () => send({ do: "step" }) });
        this.speed = slider({ name: "Speed", key: "+, -", low: 0.01, high: 10, step: 0.02, log: true, format: (v) => `× ${Number(v.toPrecision(2))}`, chosen: (factor) => send({ do: "speed", factor }) });
        this.clock = make("span", { id: "clock", "aria-label": "Simulated time" });
        this.pace = make("span", { id: "pace", "aria-label": "Pace" });
        this.record = button({ name: "Record", key: "q", chosen: () => send({ do: "record", on: !this.recording }) });
        this.record.hidden = Boolean(globalThis.boughBundle); // recordings are files, which a page by itself cannot write
        this.film = button({ name: "Film", key: "v", chosen: () => this.world.film() });
        this.photo = button({ name: "Picture", key: "p", chosen: () => this.world.photo() });
        bar.append(this.reset, this.play, this.step, this.speed.element, this.clock, this.pace, this.record, this.film, this.photo);
        this.fileNames = [];
        this.files = make("div", { className: "files", "aria-label": "Recordings" });
        this.filesSection = section("Recordings", true, this.files);
        this.filesSection.hidden = true;
        document.getElementById("right").prepend(this.filesSection); // above all, so that nobody has to look for them
    }

    // After a stage came.
    offer({ scene, ghost }) {
        const list = (names) => (names ?? []).map((name) => [name, name]);
        this.engine.offer(list(scene.engines?.map(({ name }) => name)));
        this.can = new Set(scene.can);
        this.integrator.offer(list(scene.integrators));
        this.coupling.enable(scene.coupling != null);
        const ghosts = [["{}", "none"]];
        for (const { name, label, can } of scene.engines ?? [])
            for (const coupling of can.includes("coupling") ? COUPLINGS : [undefined])
                ghosts.push([JSON.stringify({ engine: name, coupling }), coupling ? `${label}, ${coupling}` : label]);
        if (ghost?.file) this.ghostFile = ghost.file;
        if (this.ghostFile) ghosts.push([JSON.stringify({ engine: "file" }), this.ghostFile]);
        this.ways = Object.entries(WAYS).filter(([, { needs }]) => !needs || this.can.has(needs));
        this.colour.offer(this.ways.map(([way, { label }]) => [way, label]));
        this.ghost.offer(ghosts);
        this.ghost.set(!ghost ? "{}" : ghost.file ? JSON.stringify({ engine: "file" }) : JSON.stringify({ engine: ghost.engine, coupling: ghost.coupling ?? undefined }));
    }

    // What the engine can be coloured by.
    allows(way) {
        return this.ways.some(([name]) => name === way);
    }

    show(settings) {
        const { wind, gravity } = settings;
        this.paused = settings.paused;
        this.recording = settings.recording;
        setName(this.play, settings.paused ? "Play" : "Pause");
        setName(this.record, settings.recording ? "Stop recording" : "Record");
        this.record.classList.toggle("on", Boolean(settings.recording));
        this.speed.set(settings.speed);
        if (wind?.velocity) {
            const [x, y] = wind.velocity, speed = Math.hypot(...wind.velocity);
            this.wind.set(speed);
            if (speed > 1e-6) this.windAngle.set(degrees(Math.atan2(y, x)));
            this.gust.set(wind.gust ?? 0);
        }
        if (gravity) {
            const size = Math.hypot(...gravity);
            if (size > 0) this.gravityDown = gravity.map((c) => c / size);
            this.gravity.set(size);
        }
        this.dt.set(settings.dt);
        for (const name of ["coupling", "integrator", "engine", "continuity"]) this[name].set(settings[name]);
        this.coupling.enable(this.can.has("coupling"));
        this.continuity.enable(this.can.has("continuity"));
        this.joints.element.hidden = !this.can.has("joints");
        this.contacts.element.hidden = !this.can.has("contacts");
        this.gravity.enable(this.can.has("gravity"));
        for (const control of [this.wind, this.windAngle, this.gust]) control.enable(this.can.has("wind"));
        this.sceneWind.disabled = !this.can.has("wind");
    }

    showNumbers(numbers) {
        this.clock.textContent = `${numbers.time.toFixed(2)} s`;
        const pace = this.paused ? "at rest" : numbers.real_time == null ? "" : `${numbers.real_time.toFixed(2)} × real time`;
        const step = numbers.step_us == null ? "" : `${withPrefix(numbers.step_us * 1e-6)}s a step`;
        const touching = numbers.contacts == null ? "" : `${numbers.contacts} contact${numbers.contacts === 1 ? "" : "s"}`;
        this.pace.textContent = [pace, step, touching].filter(Boolean).join(" · ");
    }

    showLegend(way, whole) {
        this.legend.hidden = WAYS[way].unit === undefined;
        this.most.textContent = withUnit(whole, WAYS[way].unit ?? "");
    }

    // What the program answered to `pick`; null: no part is picked.
    showPart(pick, layer) {
        this.hint.hidden = Boolean(pick);
        this.partTools.hidden = !pick || !this.can.has("change");
        this.facts.replaceChildren();
        if (!pick) return;
        const fact = (name, text) => this.#fact(name, text);
        fact("Name", pick.name || `part ${pick.part}`);
        fact("Kind", pick.component == null ? pick.kind : null);
        fact("Component", pick.component);
        fact("Hangs at", pick.parent >= 0 ? layer.name(pick.parent) : null);
        fact("Coordinates", pick.r);
        fact("Mass", pick.mass == null ? null : `${withPrefix(1000 * pick.mass)}g`);
        if (pick.component != null) fact("Frequencies", (pick.frequencies ?? []).slice(0, 8).map((hz) => Number(hz.toPrecision(3))).join(", ") + (pick.frequencies?.length ? " Hz" : "–"));
        fact("Stress", pick.stress == null ? null : `${withPrefix(pick.stress)}Pa`);
        this.stiffness.set(pick.stiffness ?? 1);
        this.damping.set(pick.damping ?? 0, pick.damping == null ? "its own" : undefined);
        this.showLock();
    }

    // As the newest list of locked parts has it: an answer to `pick` may be older.
    showLock() {
        setName(this.lock, this.#isLocked() ? "Unlock" : "Lock");
    }

    #isLocked() {
        const part = this.world.picked();
        return part !== null && this.world.isLocked(part);
    }

    // A body in one piece, and how it is where somebody pointed.
    showBody(pick) {
        this.hint.hidden = true;
        this.partTools.hidden = true;
        this.facts.replaceChildren();
        this.#fact("Body", `${pick.elements.toLocaleString("en")} ${pick.element} elements, ${pick.vertices.toLocaleString("en")} vertices`);
        this.#fact("Mass", pick.mass == null ? null : `${withPrefix(1000 * pick.mass)}g`);
        this.#fact(pick.position ? "Stress here" : "Largest stress", pick.stress == null ? null : `${withPrefix(pick.stress)}Pa (von Mises)`);
        this.#fact("Position", pick.position && inMetres(pick.position));
    }

    #fact(name, text) {
        if (text != null) this.facts.append(make("dt", { textContent: name }), make("dd", { textContent: text }));
    }

    links(files, token) {
        return files.map((name) => make("a", { href: `/recordings/${encodeURIComponent(name)}?token=${encodeURIComponent(token)}`, download: name, textContent: name }));
    }

    showFiles(files, token) {
        const more = files.length > this.fileNames.length;
        this.fileNames = files;
        this.filesSection.hidden = !files.length;
        this.files.replaceChildren(...this.links(files, token));
        if (more) this.filesSection.scrollIntoView({ block: "nearest" }); // the panel may have been scrolled away from its top
    }
}

export function setName(element, name) {
    element.textContent = name;
    element.setAttribute("aria-label", name);
    element.title = element.title.replace(/^[^(]*/, `${name} `);
}

// Light or dark: as the system has it, unless somebody chose.
export class Theme {
    constructor(changed) {
        this.changed = changed;
        this.system = matchMedia("(prefers-color-scheme: dark)");
        this.chosen = remembered("theme");
        this.system.addEventListener("change", () => this.apply());
    }

    get name() {
        return this.chosen ?? (this.system.matches ? "dark" : "light");
    }

    switch() {
        this.chosen = this.name === "dark" ? "light" : "dark";
        remember("theme", this.chosen);
        this.apply();
    }

    apply() {
        document.documentElement.dataset.theme = this.name;
        this.changed(this.name);
    }
}
