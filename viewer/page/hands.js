// Pointers on the picture: mouse, pen and fingers. What begins on the surface pulls it (a click picks the part, with Shift it
// pokes); what begins beside it, or with the tool "look", moves the camera. Two fingers always zoom and pan.

const CLICK = 5;         // px: a pointer that moved less has clicked
const HANDS = 4;
const POKE_SPEED = 2;    // m/s: that a poke would give the mass of the part, for small things less

export class Hands {
    // world: {layer(), send(command), pickPart(part or null), grabbed(part), springOf(part), massOf(part), isGround(part)}
    constructor(picture, world) {
        this.picture = picture;
        this.world = world;
        this.tool = "pull";
        this.pointers = new Map(); // id -> {x, y, startX, startY, role, hand}
        this.held = new Map();     // hand -> {part, vertex, target}
        const { canvas } = picture;
        canvas.addEventListener("pointerdown", (event) => this.#down(event));
        canvas.addEventListener("pointermove", (event) => this.#move(event));
        for (const end of ["pointerup", "pointercancel"]) canvas.addEventListener(end, (event) => this.#up(event));
        canvas.addEventListener("contextmenu", (event) => event.preventDefault());
        canvas.addEventListener("wheel", (event) => {
            event.preventDefault();
            picture.orbit.zoom(Math.exp(Math.max(-120, Math.min(120, event.deltaY)) * (event.ctrlKey ? 0.006 : 0.0015)));
        }, { passive: false });
    }

    #place({ clientX, clientY }) {
        const box = this.picture.canvas.getBoundingClientRect();
        return { x: clientX - box.left, y: clientY - box.top };
    }

    #down(event) {
        this.picture.canvas.focus({ preventScroll: true });
        const { x, y } = this.#place(event);
        const pointer = { x, y, startX: x, startY: y, role: "turn", hit: null };
        this.#capture(event.pointerId);
        this.pointers.set(event.pointerId, pointer);
        const looking = [...this.pointers.values()].filter(({ role, moved }) => role === "turn" || role === "pan" || (role === "pull" && !moved));
        if (event.button === 1 || event.button === 2) pointer.role = "pan";
        else if (event.pointerType === "touch" && looking.length > 1) looking.forEach((p) => (p.role = "pinch"));
        else pointer.hit = this.picture.pick(x, y);
        const moves = pointer.hit && !this.world.isGround(pointer.hit.part); // grounds and walls stay: a drag turns the view
        if (moves && event.shiftKey) pointer.role = "poke";
        else if (moves && this.tool === "pull" && !event.ctrlKey && !event.metaKey) pointer.role = "pull";
    }

    #capture(id) {
        try {
            this.picture.canvas.setPointerCapture(id);
        } catch {
            // The pointer is already gone: its end comes next.
        }
    }

    #move(event) {
        const pointer = this.pointers.get(event.pointerId);
        if (!pointer) return;
        const { x, y } = this.#place(event);
        const dx = x - pointer.x, dy = y - pointer.y;
        const moved = Math.hypot(x - pointer.startX, y - pointer.startY) > CLICK;
        if (pointer.role === "pinch") this.#pinch(pointer, x, y);
        pointer.x = x;
        pointer.y = y;
        pointer.moved ||= moved;
        if (pointer.role === "turn" && pointer.moved) this.picture.orbit.turn(dx, dy);
        else if (pointer.role === "pan") this.picture.orbit.pan(dx, dy);
        else if (pointer.role === "pull" && pointer.moved) this.#pull(pointer);
    }

    #pinch(pointer, x, y) {
        const other = [...this.pointers.values()].find((p) => p !== pointer && p.role === "pinch");
        if (!other) return;
        const before = Math.hypot(pointer.x - other.x, pointer.y - other.y), after = Math.hypot(x - other.x, y - other.y);
        if (after > 0 && before > 0) this.picture.orbit.zoom(before / after);
        this.picture.orbit.pan((x - pointer.x) / 2, (y - pointer.y) / 2);
    }

    #pull(pointer) {
        const { picture, world } = this;
        if (pointer.hand === undefined) {
            pointer.hand = [...Array(HANDS).keys()].find((hand) => !this.held.has(hand));
            if (pointer.hand === undefined) return;
            this.held.set(pointer.hand, { part: pointer.hit.part, vertex: pointer.hit.vertex });
            world.grabbed(pointer.hit.part);
        }
        const held = this.held.get(pointer.hand);
        if (!held) return; // let go by a key meanwhile
        held.target = picture.orbit.inPlane(pointer.hit.point, pointer.x, pointer.y, picture.width, picture.height);
        held.fresh = true;
    }

    #up(event) {
        const pointer = this.pointers.get(event.pointerId);
        if (!pointer) return;
        this.pointers.delete(event.pointerId);
        if (pointer.role === "pinch") for (const p of this.pointers.values()) if (p.role === "pinch") p.role = "turn", p.moved = true;
        if (pointer.hand !== undefined) this.#release(pointer.hand);
        else if (event.type === "pointerup" && !pointer.moved && event.button === 0 && pointer.role !== "pinch") this.#click(pointer);
    }

    #click({ role, hit, x, y }) {
        if (role !== "poke") return hit ? this.world.pickPart(hit.part, hit.vertex) : this.world.pickPart(null);
        const ray = this.picture.orbit.ray(x, y, this.picture.width, this.picture.height);
        const push = POKE_SPEED * (this.world.massOf(hit.part) ?? 0.1);
        this.world.send({ do: "poke", part: hit.part, vertex: hit.vertex, impulse: ray.map((c) => c * push) });
    }

    #release(hand) {
        if (!this.held.delete(hand)) return;
        this.world.send({ do: "release", hand });
        this.picture.showArrow(hand, null);
    }

    releaseAll() {
        for (const hand of [...this.held.keys()]) this.#release(hand);
    }

    // Once in each picture: tells where hands are now, and moves their arrows. Returns what there is to write beside them.
    update() {
        const layer = this.world.layer(), labels = [];
        for (const [hand, held] of this.held) {
            if (!held.target) continue;
            if (held.fresh) {
                const { part, vertex, target } = held;
                this.world.send({ do: "pull", hand, part, vertex, target });
                held.fresh = false;
            }
            const from = layer.position(held.part, held.vertex);
            this.picture.showArrow(hand, from, held.target);
            const stretch = Math.hypot(...from.map((c, i) => held.target[i] - c));
            labels.push({ hand, at: held.target, stretch, spring: this.world.springOf(held.part) });
        }
        return labels;
    }
}
