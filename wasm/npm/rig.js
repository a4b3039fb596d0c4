// The nouns that engines share: components, shapes, curves, and where joints are.

import { BoughError, Names, Owned, tell, wantNumbers, wantRecord, wantRecords } from "./memory.js";

export class Component extends Owned {
    type = "bough_component";
    #surface;

    constructor(bough, address) {
        super(bough, address, "bough_component_destroy");
        const interfaces = bough.field("bough_component", address, "interfaces"), size = bough.size("bough_interface");
        this.size = bough.field("bough_component", address, "r");
        this.mass = bough.field("bough_component", address, "mass");
        this.vertexCount = bough.field("bough_surface", this.#at(), "vertex_count");
        this.interfaces = Array.from({ length: bough.field("bough_component", address, "interface_count") }, (_, i) => bough.text(bough.field("bough_interface", interfaces + i * size, "name")));
    }

    #at() {
        return this.bough.at("bough_component", this.live(), "surface");
    }

    /** The surface at rest, in the component's frame. */
    get surface() {
        const { bough } = this, at = this.#at(), numbers = (kind, name, count) => bough.array(kind, bough.field("bough_surface", at, name), count).slice();
        return (this.#surface ??= { positions: numbers(Float32Array, "position", 3 * this.vertexCount), triangles: numbers(Uint32Array, "triangles", 3 * bough.field("bough_surface", at, "triangle_count")) });
    }

    interfaceIndex(name, who = "interface") {
        const index = typeof name === "number" ? name : this.interfaces.indexOf(name);
        if (!this.interfaces[index]) throw new BoughError(`${who}: there is no ${tell(name)}; there are ${this.interfaces.map((one) => `"${one}"`).join(", ") || "none"}`);
        return index;
    }
}

/** A closed surface of triangles, for shapes of the kind "mesh". */
export class ShapeMesh extends Owned {
    type = "bough_shape_mesh";

    constructor(bough, { positions, triangles, cells = 0 }) {
        const vertices = wantNumbers("positions", positions).length / 3, corners = wantNumbers("triangles", triangles);
        if (!Number.isInteger(vertices) || corners.length % 3 !== 0) throw new BoughError("a mesh has three numbers for each vertex and for each triangle");
        if (!Number.isInteger(cells)) throw new BoughError(`cells: a whole number is wanted, not ${tell(cells)}`);
        const bad = corners.find((corner) => !Number.isInteger(corner) || corner < 0 || corner >= vertices);
        if (bad !== undefined) throw new BoughError(`triangles: there is no vertex ${bad}; there are ${vertices}`);
        super(bough, bough.within((scope) => bough.make("bough_shape_mesh_create", vertices, scope.doubles("positions", positions), corners.length / 3, scope.copy(Int32Array, corners), cells)), "bough_shape_mesh_destroy");
    }
}

const CURVES = ["through", "stops", "lines"];

/** What a motor follows in time: smooth, constant before its first point and after its last. */
export class Curve extends Owned {
    type = "curve";

    constructor(bough, { times, values, kind = "through" }) {
        const all = wantNumbers("times", times);
        wantNumbers("values", values, all.length);
        if (all.length === 0 || all.some((time, i) => !Number.isFinite(time) || (i > 0 && time <= all[i - 1]))) throw new BoughError("times: numbers that ascend are wanted, one at least");
        if (!CURVES.includes(kind)) throw new BoughError(`kind: there is no ${tell(kind)}; there are ${CURVES.join(", ")}`);
        super(bough, bough.within((scope) => bough.make("rt_curve_create", all.length, scope.copy(Float64Array, all), scope.doubles("values", values), CURVES.indexOf(kind))), "rt_curve_destroy");
    }

    at(time) {
        const [value, rate, acceleration] = this.bough.numbers(3, (at) => this.bough.exports.rt_curve_at(this.live(), time, at, at + 8, at + 16));
        return { value, rate, acceleration };
    }
}

/** The triangles of a box, a hull, a capsule, a mesh or a height field, to be drawn. */
export function shapeSurface(bough, shape) {
    return bough.within((scope) => {
        const made = bough.make("bough_shape_create", scope.struct("bough_shape_def", shape)), surface = scope.alloc(bough.size("bough_shape_surface"));
        try {
            bough.call("bough_shape_surface_create", made, surface);
            const numbers = (kind, name, count) => bough.array(kind, bough.field("bough_shape_surface", surface, name), 3 * bough.field("bough_shape_surface", surface, count));
            return { positions: Float32Array.from(numbers(Float64Array, "vertices", "vertex_count")), triangles: numbers(Uint32Array, "triangles", "triangle_count").slice() };
        } finally {
            bough.ask("bough_shape_surface_destroy", surface);
            bough.ask("bough_shape_destroy", made);
        }
    });
}

/** Mass, centre and inertia of shapes that are filled with a material. */
export function weigh(bough, shapes, density) {
    return bough.within((scope) => {
        const at = scope.structs("bough_shape_def", wantRecords("shapes", shapes), (i) => `shapes[${i}]`);
        return bough.taken("bough_shapes_mass", (mass) => bough.call("bough_shapes_weigh", shapes.length, at, density, mass));
    });
}

/** Bodies, and the parts behind them, by number or name, and frames on them. */
export class Bodies extends Names {
    // parts: those that have interfaces, of these components
    constructor(bodies, parts = []) {
        super([...bodies, ...parts]);
        this.first = bodies.length;
        this.components = parts.map(({ component }) => component);
    }

    /** { body, interface, position, rotation } as a bough_frame_def. Without a body it lies in the world. */
    frame(who, place = {}) {
        const { body, interface: at, ...pose } = wantRecord(who, place), index = body === undefined || body === null ? -1 : this.index(who, body), component = this.components[index - this.first];
        if (at !== undefined && !(component instanceof Component)) throw new BoughError(`${who}: only parts have interfaces`);
        return { body: index, interfaceIndex: at === undefined ? -1 : component.interfaceIndex(at, `${who}: interface`), pose };
    }

    /** A joint as a bough_joint_def: parent and child are numbers or names, with their frames beside them. */
    joint(who, { parent, child, inParent, inChild, ...rest }) {
        const end = (name, place, body) => this.frame(`${who}: ${name}`, { ...wantRecord(`${who}: ${name}`, place ?? {}), body });
        return { ...rest, parent: end("parent", inParent, parent), child: end("child", inChild, child) };
    }
}
