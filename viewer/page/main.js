// The page: takes what the program sends to the picture and the panels, and what people do back to the program.

import { Controls, setName, Theme } from "./controls.js";
import { partColours, WAYS, withPrefix } from "./colours.js";
import { Engine } from "./engine.js";
import { Film, takePicture } from "./film.js";
import { Follower } from "./follow.js";
import { GhostMeter } from "./ghost.js";
import { Hands } from "./hands.js";
import { History } from "./history.js";
import { Keys } from "./keys.js";
import { Layer } from "./layer.js";
import { Motors } from "./motors.js";
import { Opener } from "./opener.js";
import { PartList } from "./partlist.js";
import { Picture } from "./picture.js";
import { Plots } from "./plots.js";
import { COLOURS, FRAME, frameNumber, readColours, readFrame, readHead, readStage, STAGE } from "./protocol.js";
import { Socket } from "./socket.js";
import { States } from "./states.js";
import { Timeline } from "./timeline.js";
import { VertexCard } from "./vertex.js";
import { button, make } from "./widgets.js";

const NOTE_TIME = 7000; // ms that a sentence stays
const NOTES_KEPT = 100; // of a storm there is no end
const ASK_EVERY = 5;    // sets of numbers: twice a second
const FALL = 0.97;      // the end of the legend sinks by this factor with each set of colours, and rises at once

const $ = (id) => document.getElementById(id);

class Page {
    constructor() {
        this.token = new URLSearchParams(location.search).get("token") ?? "";
        this.layers = [];
        this.settings = {};
        this.partState = {};
        this.numbers = null;
        this.picked = null;  // part
        this.pickedVertex = null;
        this.askedAgo = 0;   // sets of numbers since the program was asked of it
        this.answer = null;  // what the program said of it
        this.springs = new Map();
        this.way = "natural";
        this.values = [null, null]; // of parts
        this.fields = [null, null]; // of vertices
        this.whole = 0;
        this.generation = 0;
        this.frame = 0;      // newest that came
        this.drawn = 0;      // pictures drawn
        this.acked = 0;
        this.state = "connecting";
        this.notes = [];
        this.picture = new Picture($("picture"));
        document.body.classList.toggle("plain", this.picture.isSoftware); // frosted glass has its price too
        this.film = new Film(this.picture.canvas);
        this.follower = new Follower(this.picture.orbit);
        this.controls = new Controls(this.#worldForControls());
        this.#makePanels();
        this.hands = new Hands(this.picture, this.#worldForHands());
        this.theme = new Theme((name) => (this.picture.setTheme(name), this.plots.draw()));
        this.theme.apply();
        this.controls.shadows.set(this.picture.shadowed);
        this.#makeTopBar();
        this.keys = new Keys(this.#actions(), $("help"));
        new ResizeObserver(() => this.picture.resize(innerWidth, innerHeight)).observe(document.body);
        this.picture.resize(innerWidth, innerHeight);
        const handlers = { message: (data) => this.#hear(data), state: (state, text) => this.#setState(state, text) };
        this.socket = globalThis.boughBundle ? new Engine(globalThis.boughBundle, handlers) : new Socket(this.token, handlers);
        addEventListener("blur", () => this.hands.releaseAll());
        requestAnimationFrame(() => this.#tick());
    }

    // Panels that are modules of their own, among those of the controls.
    #makePanels() {
        const send = (command) => this.send(command), { controls } = this;
        this.plots = new Plots();
        this.partList = new PartList((part) => this.#goTo(part));
        this.states = new States(send);
        this.motors = new Motors(send);
        this.opener = new Opener(send);
        this.vertexCard = new VertexCard((text, plain) => this.note(text, plain));
        this.timeline = new Timeline({ look: (time) => this.#lookBack(time), goOn: (time) => this.#goOnFrom(time) });
        $("left").prepend(this.opener.element, this.motors.element);
        $("left").append(this.states.element);
        controls.partSection.before(this.partList.element);
        controls.partSection.append(this.vertexCard.element);
        $("right").append(this.plots.element);
        $("bottom").prepend(this.timeline.element);
    }

    #worldForControls() {
        return {
            send: (command) => this.send(command), picked: () => this.picked,
            isLocked: (part) => Boolean(this.partState.locked?.includes(part)),
            setColour: (way) => this.setColour(way), setWires: (of) => this.#setWires(of), setShadows: (on) => this.picture.setShadows(on),
            setFollow: (on) => this.follower.switch(on), setFloor: (on) => this.picture.showFloor(on), setAxes: (on) => this.picture.showAxes(on), setJoints: (on) => this.picture.showJoints(on), setContacts: (on) => this.picture.showContacts(on),
            film: () => this.#toggleFilm(), photo: () => this.#photo(),
        };
    }

    #worldForHands() {
        return {
            layer: () => this.layers[0], send: (command) => this.send(command),
            pickPart: (part, vertex) => this.pickPart(part, vertex),
            grabbed: (part) => this.springs.has(part) || this.#ask(part),
            springOf: (part) => this.springs.get(part),
            isGround: (part) => this.layers[0].component(part).backdrop,
            massOf: (part) => {
                const mass = this.layers[0].component(part).mass;
                return mass == null ? null : mass * this.layers[0].parts.scale[part] ** 3;
            },
        };
    }

    #makeTopBar() {
        this.tool = button({ name: "Tool: pull", key: "z", chosen: () => this.#switchTool() });
        // Where there is no room beside the scene, panels are sheets over it that come when they are called.
        const narrow = matchMedia("(max-width: 760px), (max-height: 500px)");
        const panels = () => document.body.classList.toggle(narrow.matches ? "sheets" : "bare");
        this.panels = button({ name: "Panels", key: "\\", chosen: panels });
        $("top").append(this.tool, button({ name: "Fit", key: "f", chosen: () => this.#fit() }), this.panels,
            button({ name: "Theme", key: "y", chosen: () => this.theme.switch() }),
            button({ name: "Help", key: "?", text: "?", chosen: () => this.keys.help() }));
    }

    #actions() {
        const c = this.controls, { orbit } = this.picture;
        const both = (control) => (key) => control.nudge(key === key.toLowerCase() ? 1 : -1);
        const click = (element) => () => element.click();
        const arrow = (key, { shiftKey }) => {
            const [dx, dy] = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, -1], ArrowDown: [0, 1] }[key];
            if (shiftKey) orbit.pan(-30 * dx, -30 * dy);
            else orbit.turn(-20 * dx, -20 * dy);
        };
        return [
            { keys: [" "], name: "pause, play", run: click(c.play) },
            { keys: ["."], name: "one step", run: click(c.step) },
            { keys: [",", ";"], name: "look back, and forth again", run: (key) => this.timeline.nudge(key === "," ? -0.1 : 0.1) },
            { keys: ["<"], name: "go on from where you look", run: click(this.timeline.goOn) },
            { keys: ["K"], name: "save the state", run: click(this.states.keep) },
            { keys: ["L"], name: "restore the last saved", run: () => this.states.restoreLast() },
            { keys: ["r"], name: "reset", run: click(c.reset) },
            { keys: ["+", "-"], name: "faster, slower", run: (key) => c.speed.nudge(key === "+" ? 1 : -1) },
            { keys: ["w", "W"], name: "more, less wind", run: both(c.wind) },
            { keys: ["j", "J"], name: "wind direction", run: both(c.windAngle) },
            { keys: ["u", "U"], name: "more, fewer gusts", run: both(c.gust) },
            { keys: ["0"], name: "the scene's wind", run: click(c.sceneWind) },
            { keys: ["g", "G"], name: "more, less gravity", run: both(c.gravity) },
            { keys: ["e"], name: "next engine", run: () => c.engine.next() },
            { keys: ["i"], name: "next integrator", run: () => c.integrator.next() },
            { keys: ["k"], name: "next coupling", run: () => c.coupling.next() },
            { keys: ["t", "T"], name: "longer, shorter time step", run: both(c.dt) },
            { keys: ["o"], name: "next ghost", run: () => c.ghost.next() },
            { keys: ["c", "C"], name: "next, previous colour", run: (key) => c.colour.next(key === "c" ? 1 : -1) },
            { keys: ["n"], name: "next continuity", run: () => c.continuity.next() },
            { keys: ["m"], name: "next wireframe", run: () => c.wires.next() },
            { keys: ["h"], name: "shadows", run: () => c.shadows.flip() },
            { keys: ["N"], name: "floor grid", run: () => c.floor.flip() },
            { keys: ["A"], name: "axes", run: () => c.axes.flip() },
            { keys: ["R"], name: "joints and their forces", run: () => c.joints.flip() },
            { keys: ["P"], name: "contacts and their forces", run: () => c.contacts.flip() },
            { keys: ["O"], name: "open another file", run: () => this.opener.focus() },
            { keys: ["/"], name: "find a part", run: () => this.partList.find() },
            { keys: ["Y"], name: "copy the vertex's coordinates", run: click(this.vertexCard.copy) },
            { keys: ["[", "]"], name: "pick the previous, next part", run: (key) => this.#pickNext(key === "]" ? 1 : -1) },
            { keys: ["s", "S"], name: "stiffer, softer part", run: both(c.stiffness) },
            { keys: ["d", "D"], name: "more, less damping", run: both(c.damping) },
            { keys: ["b"], name: "all of its component", run: () => c.siblings.flip() },
            { keys: ["x"], name: "cut the part off", run: click(c.cut) },
            { keys: ["l"], name: "lock, unlock it", run: click(c.lock) },
            { keys: ["a"], name: "reattach it", run: click(c.reattach) },
            { keys: ["Delete"], name: "remove it", run: click(c.remove) },
            { keys: ["q"], name: "record (.glb, .csv)", run: click(c.record) },
            { keys: ["v"], name: "film (.webm)", run: click(c.film) },
            { keys: ["p"], name: "picture (.png)", run: click(c.photo) },
            { keys: ["z"], name: "tool: pull or look", run: () => this.#switchTool() },
            { keys: ["f"], name: "show all", run: () => this.#fit() },
            { keys: ["F"], name: "follow what moves away", run: () => c.follow.flip() },
            { keys: ["ArrowLeft", "ArrowRight", "ArrowUp", "ArrowDown"], name: "turn; with Shift: pan", run: arrow },
            { keys: ["PageUp", "PageDown"], name: "nearer, farther", run: (key) => orbit.zoom(key === "PageUp" ? 0.85 : 1 / 0.85) },
            { keys: ["\\"], name: "panels", run: click(this.panels) },
            { keys: ["y"], name: "dark or light", run: () => this.theme.switch() },
            { keys: ["Escape"], name: "let go, pick nothing", run: () => (this.hands.releaseAll(), this.pickPart(null)) },
            { keys: ["?"], name: "this help", run: () => this.keys.help() },
        ];
    }

    // ---- to the program

    send(command) {
        if (["play", "step", "reset", "restore", "rewind"].includes(command.do)) this.#leavePast(); // time goes on, or elsewhere
        if (this.socket.send(command)) return;
        if (command.do !== "ack") this.note("There is no connection to the program: nothing was changed.");
    }

    // A part, and a vertex of it where somebody pointed at it.
    pickPart(part, vertex = null) {
        this.picked = part;
        this.pickedVertex = vertex;
        this.answer = null;
        if (this.picture.actors[0]) this.picture.actors[0].uniforms.picked.value = part ?? -1;
        this.partList.show(part);
        this.#markVertex();
        if (part === null) this.controls.showPart(null);
        else this.#ask(part);
    }

    // From the list: picked, and in the middle of the picture.
    #goTo(part) {
        this.pickPart(part);
        if (!this.layers[0]?.started) return;
        const { low, high } = this.layers[0].boundsOf(part), { target } = this.picture.orbit;
        if (this.controls.follow.value) this.controls.follow.flip();
        this.picture.orbit.shift([0, 1, 2].map((c) => (low[c] + high[c]) / 2 - target.getComponent(c)));
    }

    // A dot at the vertex that somebody pointed at, and where it is.
    #markVertex() {
        const [layer] = this.layers, vertex = this.pickedVertex;
        const there = this.picked !== null && vertex !== null && layer?.started && vertex < layer.component(this.picked).vertices;
        const now = there ? layer.position(this.picked, vertex) : null;
        this.picture.mark(now);
        this.vertexCard.show(there ? { number: this.answer?.vertex ?? vertex, now, rest: layer.restPosition(this.picked, vertex), own: [...layer.component(this.picked).position.subarray(3 * vertex, 3 * vertex + 3)] } : null);
    }

    #ask(part) {
        this.send({ do: "pick", part, vertex: part === this.picked ? this.pickedVertex : null });
    }

    #pickNext(step) {
        const count = this.layers[0]?.parts.count;
        if (count) this.pickPart(((this.picked ?? (step > 0 ? -1 : 0)) + step + count) % count);
    }

    // ---- from the program

    #hear(data) {
        try {
            if (typeof data === "string") this.#hearText(JSON.parse(data));
            else this.#hearNumbers(data);
        } catch (error) {
            this.note(`What the program sent cannot be used: ${error.message}.`);
        }
    }

    #hearNumbers(buffer) {
        const { kind, generation } = readHead(buffer);
        if (kind === STAGE) return this.#setStage(readStage(buffer));
        const of = (what) => this.layers.map(what), counts = of(({ parts }) => parts.count);
        if (generation !== this.generation) this.#skip(kind, buffer);
        else if (kind === FRAME) this.#setFrame(readFrame(buffer, counts));
        else if (kind === COLOURS) this.#setValues(readColours(buffer, counts, of(({ vertexCount }) => vertexCount), of(({ parts }) => parts.first)));
    }

    // Of an older stage; the program waits for word of frames all the same.
    #skip(kind, buffer) {
        if (kind !== FRAME) return;
        this.frame = frameNumber(buffer);
        this.#ack();
    }

    #setStage(stage) {
        const first = !this.layers.length || this.sceneName !== stage.scene.name;
        this.generation = stage.generation;
        this.sceneName = stage.scene.name;
        this.scene = stage.scene;
        this.layers = stage.layers.map((layer) => new Layer(layer));
        this.meter = new GhostMeter(this.layers);
        this.history = new History(this.layers);
        this.follower.beginAnew();
        this.springs.clear();
        this.hands.releaseAll();
        this.#ack(); // what came before and will not be drawn any more
        this.values = [null, null];
        this.fields = [null, null];
        this.waitingForFit = first;
        this.picture.setLayers(this.layers);
        this.#showParts();
        this.#setWires(this.controls.wires.value);
        this.#applySettings();
        if (this.picked !== null && this.picked >= this.layers[0].parts.count) this.picked = null;
        this.partList.begin(this.layers[0]);
        this.motors.begin(stage.scene.motors ?? []);
        this.opener.begin(stage.scene.files ?? [], stage.scene.file);
        this.pickPart(this.picked);
        this.controls.offer(stage);
        this.setColour(this.controls.allows(this.way) ? this.way : "natural");
        this.plots.begin(stage.scene.columns ?? [], this.layers.length > 1);
        this.controls.showGhost(null);
        const { parts } = this.layers[0];
        $("scene").textContent = stage.scene.name;
        document.title = `${stage.scene.name} – Bough`;
        this.#setState("open", `${parts.count} ${parts.count === 1 ? "part" : "parts"}, ${this.picture.actors[0].triangles.toLocaleString("en")} triangles`);
    }

    #setFrame(frame) {
        const layer = this.layers[frame.layer];
        this.history.receive(frame.layer, () => {
            layer.apply(frame);
            this.meter.take(layer, frame.layer);
        });
        this.picture.actors[frame.layer].fresh = true;
        this.frame = frame.frame;
        this.picture.touch();
        if (frame.layer === 0 && this.waitingForFit) {
            this.waitingForFit = false;
            this.bounds = this.layers[0].bounds();
            this.picture.setBounds(this.bounds);
            this.picture.orbit.fit(this.bounds);
        }
    }

    #setValues({ what, layer, values, field }) {
        if (WAYS[this.way].ask !== what) return;
        const before = this.fields[layer] ?? this.values[layer], came = field ?? values, { whole } = this;
        let most = 0;
        for (const value of values) if (Number.isFinite(value) && value > most) most = value;
        if (layer === 0) this.whole = Math.max(most, FALL * this.whole);
        if (whole === this.whole && before?.length === came.length && before.every((value, p) => value === came[p])) return; // nothing moves
        this.values[layer] = values.slice();
        this.fields[layer] = field;
        this.picture.actors[layer].setValues(field);
        this.#tint();
    }

    #hearText(message) {
        const heard = {
            numbers: () => this.#setNumbers(message),
            settings: () => ((this.settings = message), this.#applySettings()),
            parts: () => ((this.partState = message), this.#showParts()),
            pick: () => this.#setAnswer(message),
            states: () => this.states.show(message.states ?? []),
            recorded: () => this.#showFiles(message.files ?? []),
            note: () => this.note(message.text, true),
            event: () => this.note(`${message.time.toFixed(2)} s: ${message.change}${message.name ? ` ${message.name}` : ""}`, true),
            error: () => this.note(message.text),
        }[message.say];
        heard?.();
    }

    // Those who have the panels closed see it too.
    #showFiles(files) {
        const fresh = files.filter((name) => !this.controls.fileNames.includes(name));
        this.controls.showFiles(files, this.token);
        if (fresh.length) this.note(`Recorded: ${fresh.join(", ")}`, true, this.controls.links(fresh, this.token));
    }

    #setNumbers(numbers) {
        this.numbers = numbers;
        this.controls.showNumbers(numbers);
        this.motors.show(numbers.motors, this.settings.motors);
        this.plots.add({ ...numbers, ghost: this.meter?.result });
        this.controls.showGhost(this.meter?.result ?? null);
        this.controls.showLargest(this.picture.jointsShown && this.layers[0]?.joints.length ? this.picture.joints.most : null,
            this.picture.contactsShown && numbers.contacts != null ? this.picture.contacts.most : null);
        this.#showTime();
        if (this.way === "displacement" && this.layers[0]?.started) {
            const { whole } = this;
            this.whole = Math.max(this.layers[0].largestDisplacement(), FALL * whole);
            if (this.whole !== whole) this.#tint();
        }
        if (!document.hidden) this.plots.draw();
        if (this.picked !== null && this.#isPointed() && ++this.askedAgo >= ASK_EVERY) this.#ask(this.picked);
    }

    // What is told of a point of a body changes as it moves.
    #isPointed() {
        return this.answer?.elements !== undefined && !this.settings.paused && !document.hidden;
    }

    // ---- looking back

    #showTime(time = this.timeline.time) {
        if (this.history && this.layers[0]?.started) this.timeline.show(this.history.from ?? this.history.to, this.history.to, time);
    }

    // At how it was; null: at how it is. The program rests meanwhile: else it would be another past in each moment.
    #lookBack(time) {
        if (!this.history || !this.layers[0]?.started) return;
        if (time === null) return this.#leavePast(this.wasRunning);
        if (!this.history.looking) this.wasRunning = !this.settings.paused;
        if (!this.settings.paused) this.send({ do: "pause" }), (this.settings.paused = true);
        this.#showPast(this.history.look(time));
    }

    #showPast(time) {
        for (const actor of this.picture.actors) actor.fresh = true;
        this.#showTime(time);
        this.#markVertex();
        this.picture.touch();
    }

    // The present is shown again, and goes on where it did.
    #leavePast(goOn = false) {
        if (!this.history?.leave()) return;
        this.#showPast(null);
        if (goOn) this.send({ do: "play" });
    }

    #goOnFrom(time) {
        const goOn = this.wasRunning;
        this.send({ do: "rewind", time });
        if (goOn) this.send({ do: "play" });
    }

    #setAnswer(pick) {
        if (pick.spring != null) this.springs.set(pick.part, pick.spring);
        if (pick.part !== this.picked) return;
        this.askedAgo = 0;
        this.answer = pick;
        this.#markVertex();
        if (pick.elements === undefined) this.controls.showPart(pick, this.layers[0]);
        else this.controls.showBody(pick);
    }

    #applySettings() {
        if (this.settings.say) this.controls.show(this.settings);
        if (this.settings.say) this.motors.show(null, this.settings.motors);
        document.body.classList.toggle("paused", Boolean(this.settings.paused));
        if (!this.settings.paused) this.#leavePast();
        for (const actor of this.picture.actors) actor.join(this.settings.continuity !== "none");
        this.picture.touch();
    }

    #showParts() {
        const [layer] = this.layers;
        if (!layer) return;
        const absent = new Set(this.partState.absent ?? []);
        if (absent.size !== layer.absent.size || [...absent].some((part) => !layer.absent.has(part))) this.follower.beginAnew();
        layer.absent = absent;
        layer.loose = new Set(this.partState.loose ?? []);
        this.picture.actors[0].hang();
        this.picture.touch();
        this.controls.showLock();
        if (this.picked !== null) this.#ask(this.picked);
    }

    #setState(state, text) {
        if (state === "connecting") this.frame = this.acked = 0; // they are counted anew
        this.state = state;
        $("state").textContent = text;
        $("state").className = `state ${state}`;
        if (state === "lost" || state === "refused") this.hands?.releaseAll();
        if (state === "refused") this.note(text);
    }

    // A sentence in front of the scene.
    note(text, plain = false, more = []) {
        this.notes.push(text);
        if (this.notes.length > NOTES_KEPT) this.notes.shift();
        const same = [...$("notes").children].find((shown) => shown.textContent === text);
        same?.remove();
        const shown = make("div", { className: plain ? "plain" : "" }, more.length ? "" : text, ...more);
        $("notes").append(shown);
        while ($("notes").children.length > 4) $("notes").firstChild.remove();
        setTimeout(() => shown.remove(), NOTE_TIME);
    }

    // ---- looks

    setColour(way) {
        this.way = way;
        this.whole = way === "displacement" && this.layers[0]?.started ? this.layers[0].largestDisplacement() : 0;
        this.values = [null, null];
        this.fields = [null, null];
        for (const actor of this.picture.actors) actor.setValues(null);
        this.controls.colour.set(way);
        if (this.state === "open" || this.socket?.isOpen) this.send({ do: "colour", what: WAYS[way].ask });
        this.#tint();
    }

    #tint() {
        this.picture.actors.forEach((actor, i) => {
            actor.uniforms.natural.value = this.way === "natural" && i === 0;
            actor.uniforms.whole.value = this.way === "displacement" || this.fields[i] ? this.whole || 1e-9 : 0;
            actor.tint((out) => {
                if (actor.ghost) for (let p = 0; p < this.layers[i].parts.count; p++) out.set([0.10, 0.35, 0.85], 4 * p);
                else partColours(this.way, this.layers[i], this.values[i], this.whole, out);
            });
            if (actor.ghost) actor.uniforms.whole.value = 0;
        });
        this.controls.showLegend(this.way, this.whole);
        this.picture.touch();
    }

    #setWires(of) {
        this.picture.actors[0]?.showWires(of);
        this.picture.touch();
        if (of === "volume" && this.layers[0] && !this.layers[0].deep) return this.note("The volume meshes of this scene are too large to be drawn; these are the edges of its surfaces.");
        const without = of === "volume" ? this.layers[0]?.components.filter(({ edges }) => !edges).map(({ name }) => name) : [];
        if (without?.length) this.note(`Shown by the edges of its surface only: ${without.slice(0, 4).join(", ")}${without.length > 4 ? " and others" : ""}.`);
    }

    #switchTool() {
        this.hands.tool = this.hands.tool === "pull" ? "look" : "pull";
        setName(this.tool, `Tool: ${this.hands.tool}`);
    }

    #fit() {
        if (this.layers[0]?.started) this.picture.orbit.fit(this.layers[0].bounds());
    }

    async #toggleFilm() {
        try {
            if (!this.film.running) this.film.start();
            else this.filmed = await this.film.stop(this.sceneName ?? "bough");
        } catch (error) {
            this.note(error.message);
        }
        setName(this.controls.film, this.film.running ? "Stop filming" : "Film");
        this.controls.film.classList.toggle("on", this.film.running);
    }

    async #photo() {
        this.photographed = await takePicture(this.picture.canvas, () => this.picture.draw(), `${this.sceneName ?? "bough"}.png`);
    }

    // ---- once in each picture; browsers do not call it in hidden tabs, so that nothing is drawn and acknowledged there

    #tick() {
        requestAnimationFrame(() => this.#tick());
        if (this.layers[0]?.started) this.#showForces(this.hands.update());
        this.#follow();
        if (!this.picture.dirty) return;
        for (const actor of this.picture.actors) {
            if (actor.fresh) actor.move();
            actor.fresh = false;
        }
        if (this.pickedVertex !== null) this.#markVertex();
        this.picture.draw();
        this.drawn++;
        this.#ack();
    }

    // The scene is asked where it is when it has moved, or when the view has not arrived.
    #follow() {
        const now = performance.now(), seconds = (now - (this.ticked ?? now)) / 1000;
        this.ticked = now;
        if (!this.follower.on || !this.layers[0]?.started) return;
        if (this.picture.actors[0].fresh || !this.middle || !this.follower.seen) this.middle = this.layers[0].middle();
        if (this.follower.update(this.middle, seconds)) this.picture.setCentre(this.middle);
    }

    #ack() {
        if (this.frame <= this.acked) return;
        this.acked = this.frame;
        this.send({ do: "ack", frame: this.frame });
    }

    #showForces(labels) {
        const holder = $("labels");
        while (holder.children.length > labels.length) holder.lastChild.remove();
        while (holder.children.length < labels.length) holder.append(make("span"));
        labels.forEach(({ at, stretch, spring }, i) => {
            const pixel = this.picture.orbit.project(at, this.picture.width, this.picture.height);
            const label = holder.children[i];
            label.hidden = !pixel;
            label.textContent = spring == null ? `${withPrefix(stretch)}m` : `${withPrefix(stretch * spring)}N`;
            const x = pixel && Math.max(4, Math.min(this.picture.width - label.offsetWidth - 4, pixel[0] + 14));
            if (pixel) label.style.transform = `translate(${x}px, ${Math.max(4, pixel[1] - 28)}px)`;
        });
    }
}

// For tests and the curious: looks, and changes nothing.
function makeWindow(page) {
    const copy = (x) => (x === undefined ? null : JSON.parse(JSON.stringify(x)));
    const layer = (number = 0) => page.layers[number];
    return Object.freeze({
        get state() { return page.state; },
        get time() { return page.layers[0]?.time ?? 0; },
        get frame() { return page.frame; },
        get drawn() { return page.drawn; },
        get middle() { return page.layers[0]?.middle(); },
        get generation() { return page.generation; },
        get settings() { return copy(page.settings); },
        get parts() { return copy(page.partState); },
        get numbers() { return copy(page.numbers); },
        get picked() { return copy(page.answer); },
        get columns() { return copy(page.scene?.columns ?? []); },
        get colour() { return { way: page.way, whole: page.whole }; },
        get plots() { return { samples: page.plots.samples, latest: copy(page.plots.latest()) }; },
        get ghost() { return copy(page.meter?.result ?? null); },
        get states() { return copy(page.states.states); },
        get timeline() { return { from: page.timeline.from, to: page.timeline.to, time: page.timeline.time }; },
        get azimuth() { return page.picture.orbit.azimuth; },
        get pointed() { return page.pickedVertex; },
        get notes() { return [...page.notes]; },
        get layerCount() { return page.layers.length; },
        get triangles() { return page.picture.actors.reduce((sum, actor) => sum + actor.triangles, 0); },
        get lines() { return page.picture.actors[0]?.lines ?? 0; },
        get filmed() { return page.filmed ?? 0; },
        get photographed() { return page.photographed ?? 0; },
        get held() { return [...page.hands.held.keys()]; },
        partCount: (number) => layer(number)?.parts.count ?? 0,
        partName: (part, number) => layer(number).name(part),
        componentName: (part, number) => layer(number).component(part).name,
        parent: (part, number) => layer(number).parts.parent[part],
        vertexCount: (part, number) => layer(number).component(part).vertices,
        innerCount: (part, number) => layer(number).component(part).inner,
        partPosition: (part, number) => layer(number).origin(part),
        vertexPosition: (part, vertex, number) => layer(number).position(part, vertex),
        restPosition: (part, vertex, number) => layer(number).restPosition(part, vertex),
        isGround: (part) => layer().component(part).backdrop,
        get floorShown() { return page.picture.ground.visible; },
        vertexValue: (part, vertex, number = 0) => page.fields[number]?.[layer(number).parts.first[part] + vertex] ?? null,
        drawnNormals: (part) => page.picture.drawnNormals(part),
        drawnPosition: (part, vertex, number) => page.picture.drawnPosition(part, vertex, number),
        get jointsShown() { return Boolean(page.picture.joints?.group.visible); },
        joints: (number) => (layer(number)?.joints ?? []).map((joint, j) => ({ ...copy(joint), ...layer(number).jointState(j) })),
        get contactsShown() { return Boolean(page.picture.contacts?.group.visible); },
        contacts: (number) => Array.from({ length: layer(number)?.contactCount ?? 0 }, (_, i) => layer(number).contactState(i)),
        value: (part, number = 0) => page.values[number]?.[part] ?? null,
        seams: (number) => copy(layer(number).seamGroups()),
        project: (point) => page.picture.orbit.project(point, page.picture.width, page.picture.height),
        at: (x, y) => page.picture.pick(x, y),
    });
}

try {
    window.bough = makeWindow(new Page());
} catch (error) {
    $("notes").append(make("div", { textContent: `The viewer cannot start: ${error.message}. It needs a browser with WebGL 2.` }));
    $("state").textContent = "No picture";
    throw error;
}
