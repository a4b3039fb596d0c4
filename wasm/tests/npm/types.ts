// What programs in TypeScript write; the compiler says whether the package's types allow it, and refuse what is wrong.
import { BoughError, load, type Bough, type Component, type Contact, type TreeState } from "bough-rt";

export async function fall(pack: ArrayBuffer): Promise<number> {
    const bough: Bough = await load();
    const model = bough.readPack(pack), state: TreeState = model.createState();
    state.gravity = [0, 0, -9.81];
    state.wind = { velocity: [5, 0, 0], gust: 0.3 };
    state.pull("twig", 0, new Float64Array(3), 100);
    const halved: number = state.advance(1 / 60);
    const { positions, normals }: { positions: Float32Array; normals: Float32Array } = state.surface({ continuity: "C1" });
    try {
        state.restore(state.snapshot());
    } catch (error) {
        if (error instanceof BoughError && error.recoverable) return NaN;
    }
    // @ts-expect-error: a step has a length
    state.step();
    // @ts-expect-error: there is no such continuity
    state.surface({ continuity: "C7" });
    return halved + positions.length + normals.length + state.energies.momentum[0];
}

export async function rest(component: Component): Promise<number> {
    const bough: Bough = await load();
    const mesh = bough.createShapeMesh({ positions: new Float64Array(12), triangles: [0, 1, 2] });
    const model = bough.createMultibody({
        gravity: [0, 0, -9.81],
        bodies: [{ name: "hub", mass: 1, inertia: [1, 1, 1], position: [0, 0, 1] }],
        parts: [{ name: "beam", component, clamp: { body: "hub" } }],
        joints: [{ name: "axle", kind: "hinge", child: "hub", lower: -1, upper: [1] }, { kind: "distance", parent: "hub", child: "beam", inChild: { interface: "tip" } }],
        motors: [{ name: "drive", joint: "axle", stiffness: Infinity }],
        gears: [],
    });
    const state = model.createState();
    state.drive({ drive: bough.createCurve({ times: [0, 1], values: [0, 1], kind: "stops" }) });
    state.drive((motor: number, time: number) => [motor, time]);
    const actor = state.actor([{ body: "hub", shape: { kind: "mesh", mesh } }, { part: "beam", friction: 0.3 }], { touchesItself: true });
    const world = bough.createWorld({
        actors: [actor], gravity: [0, 0, -9.81], obstacles: [{ name: "floor", shapes: [{ kind: "plane" }] }],
        bodies: [{ shapes: [{ kind: "box", half: [1, 1, 1], position: [0, 0, 1] }, { kind: "height-field", columns: 2, rows: 2, cell: [1, 1], heights: new Float32Array(4) }] }],
    });
    world.step(0.01);
    world.ignore({ kind: "body", index: 0 }, { kind: "obstacle", index: "floor" });
    const contacts: Contact[] = world.contacts, { position }: { position: Float64Array } = world.body(0);
    const tree = bough.createTree({
        parts: [{ component, track: { times: [0], positions: [0, 0, 0] } }, { component, parent: 0, interface: "tip", joint: { kind: "hinge", stiffness: 3 } }],
        ties: [{ parent: 1, parentInterface: "tip", stiffness: [1, 1, 1] }],
    });
    const twigs = tree.createState();
    twigs.touch({ obstacles: [{ shapes: [{ kind: "sphere", radius: 1 }] }], between: true });
    const recording = twigs.record();
    const same: boolean = bough.readRecording(recording.bytes()).replay(twigs, (now) => now.time < 1);
    // @ts-expect-error: a sphere has a radius
    world.restore(bough.createWorld({ bodies: [{ shapes: [{ kind: "sphere" }] }] }).snapshot());
    // @ts-expect-error: there is no such kind
    bough.createCurve({ times: [0], values: [0], kind: "round" });
    // @ts-expect-error: a motor has a place and a rate
    state.drive(() => 3);
    return contacts.length + position[0] + (same ? 1 : 0) + state.joint("axle").coordinates[0];
}
