/** Bough's runtime library as WebAssembly: trees of reduced flexible parts, and compliant mechanisms. SI units; matrices
 * row by row. Views are of the library's memory, without copies: take them anew after anything was created. */

export type Numbers = ArrayLike<number> & Iterable<number>;
export interface Place {
    position?: Numbers;
    rotation?: Numbers;
}

/** What the library could not do, in one sentence. */
export class BoughError extends Error {
    constructor(message: string, status?: string, recoverable?: boolean);
    /** What kind of failure, such as "file content is wrong". */
    readonly status: string;
    /** A smaller step, or another load, may succeed; the state is what it was. */
    readonly recoverable: boolean;
}

export interface LoadOptions {
    /** The library, if it does not lie beside this module: its bytes, a module, an address or an answer of fetch(). */
    wasm?: URL | string | BufferSource | WebAssembly.Module | Response | Promise<Response>;
}
/** Starts an instance of the library, with a memory of its own. */
export function load(options?: LoadOptions): Promise<Bough>;

interface Disposable {
    /** Gives the memory back. What is used afterwards throws. */
    dispose(): void;
}

export interface PartDefinition extends Place {
    name?: string;
    component: Component;
    /** An earlier part, by number or name; a root has none. */
    parent?: number | string;
    /** Of the parent's component, by number or name. */
    interface?: number | string;
    /** m: of the origin from the interface's centre. */
    offset?: Numbers;
    scale?: number;
    /** Factor on frequencies. */
    stiffness?: number;
    dampingMass?: number;
    dampingStiffness?: number;
    dampingRatio?: number;
    /** A root that flies. */
    free?: boolean;
}

export interface LinkDefinition extends Place {
    name?: string;
    mass?: number;
    centre?: Numbers;
    /** kg m^2 about the centre of mass: three numbers, or nine. */
    inertia?: Numbers;
}
export type JointKind = "weld" | "hinge" | "ball" | "prismatic" | "universal" | "fixed";
export interface JointDefinition {
    name?: string;
    kind: JointKind;
    parent: number | string;
    child: number | string;
    /** Where the joint is, in the axes of its two links. Hinges turn about z. */
    inParent?: Place;
    inChild?: Place;
    /** Of the spring of each freedom, N m/rad or N/m; one number is that of the first. */
    stiffness?: number | Numbers;
    damping?: number | Numbers;
    offset?: number | Numbers;
}
export interface MechanismDefinition {
    links: LinkDefinition[];
    joints: JointDefinition[];
    endEffectors: (Place & { link: number | string })[];
    base?: number | string;
    freeBase?: boolean;
    /** "automatic": as many as the lowest frequency needs. */
    internalModes?: number | "automatic";
}

export interface Bough {
    readonly version: string;
    /** Reads a component that `bough cook` wrote. */
    readComponent(bytes: BufferSource): Component;
    /** Reads a model that `bough pack` wrote, with its components. */
    readPack(bytes: BufferSource): TreeModel;
    /** Makes a tree of parts that are welded to each other. Its components must live as long as it does. */
    createTree(definition: { parts: PartDefinition[]; gravity?: Numbers }): TreeModel;
    /** Reduces a mechanism to its end effectors. */
    createMechanism(definition: MechanismDefinition): Mechanism;
}

export class Component implements Disposable {
    private constructor();
    /** Coordinates of the component. */
    readonly size: number;
    readonly mass: number;
    readonly vertexCount: number;
    readonly interfaces: readonly string[];
    dispose(): void;
}

export interface Part {
    readonly name: string;
    /** -1: a root. */
    readonly parent: number;
    /** Where its coordinates begin in q, v and a. */
    readonly offset: number;
    /** Where its vertices lie in surface(). */
    readonly firstVertex: number;
    readonly vertexCount: number;
}

/** A tree of parts. Constant; one model, many states. */
export class TreeModel implements Disposable {
    private constructor();
    readonly parts: readonly Part[];
    /** Coordinates of all parts. */
    readonly size: number;
    readonly vertexCount: number;
    /** Three vertices of surface() each. */
    readonly triangles: Uint32Array;
    createState(): TreeState;
    dispose(): void;
}

export interface Wind {
    velocity: Numbers;
    gust: number;
    length: number;
    density: number;
    drag: number;
}
export interface Energies {
    readonly elastic: number;
    readonly kinetic: number;
    readonly gravity: number;
    readonly total: number;
}

/** All that changes. Forces act during the next step() or advance(), add up, and are gone after it. */
export class TreeState implements Disposable {
    private constructor();
    readonly model: TreeModel;
    /** s */
    time: number;
    /** Views of coordinates, velocities and accelerations; call update() after they were written. */
    readonly q: Float64Array;
    readonly v: Float64Array;
    readonly a: Float64Array;
    /** A view: 18 numbers of each part: position, rotation (9), velocity, angular velocity. */
    readonly frames: Float64Array;
    get gravity(): Float64Array;
    set gravity(value: Numbers);
    get wind(): Wind;
    set wind(value: Partial<Wind> & { seed?: number });
    /** Views of where a part is and how it moves. */
    pose(part: number | string): { position: Float64Array; rotation: Float64Array; velocity: Float64Array; angularVelocity: Float64Array };

    /** One step. When it throws, the state is what it was. */
    step(dt: number): void;
    /** dt of time, in halves where a step is refused. Returns how many were. */
    advance(dt: number): number;
    /** Makes frames and momenta those of q and v. */
    update(): void;
    /** Equilibrium under gravity and the forces on the state. Returns what was left of the forces. */
    settle(): number;
    /** Steps by another method from now on, such as "tr-bdf2"; null: the tree's own. */
    useIntegrator(name: string | null): void;

    /** N, in the world, on a vertex of the part's surface. */
    addForce(part: number | string, vertex: number, force: Numbers): void;
    /** About the origin of the part's frame, in the world. */
    addWrench(part: number | string, force: Numbers, torque?: Numbers): void;
    addJointTorque(part: number | string, torque: number | Numbers): void;
    /** A damped spring from the vertex to a point of the world. */
    pull(part: number | string, vertex: number, target: Numbers, stiffness: number, damping?: number): void;
    clearForces(): void;

    /** Cuts a part off: it flies on, with what hangs on it. */
    detach(part: number | string): void;
    /** Hangs a part on another one as it lies now; without a parent it is held. */
    attach(part: number | string, parent?: number | string, interfaceName?: number | string): void;
    /** Puts a part back to where the model has it. */
    reattach(part: number | string): void;
    /** Lets a part keep its shape, or bend again. */
    lock(part: number | string, locked?: boolean): void;
    remove(part: number | string): void;
    add(part: number | string): void;
    /** What it hangs on now; -1: nothing. */
    parent(part: number | string): number;
    /** Factor on the part's frequencies. */
    setStiffness(part: number | string, factor: number): void;
    setDampingRatio(part: number | string, ratio: number): void;

    /** Views: positions in the world and normals of all vertices, three numbers each. */
    surface(options?: { continuity?: "C0" | "C1" | "none" }): { positions: Float32Array; normals: Float32Array };
    /** A view: von Mises' stress at all vertices, Pa. */
    surfaceStress(): Float32Array;
    vertex(part: number | string, vertex: number): { position: number[]; velocity: number[] };

    /** J; kg m/s and kg m^2/s about the world's origin. */
    readonly energies: Energies & { readonly momentum: number[]; readonly angularMomentum: number[] };
    /** J, done by all that has no energy. */
    readonly work: number;
    /** All that the state needs to go on with the same bits. */
    snapshot(): Uint8Array;
    restore(snapshot: Uint8Array): void;
    dispose(): void;
}

/** A mechanism, reduced to its end effectors. Constant. */
export class Mechanism implements Disposable {
    private constructor();
    readonly linkCount: number;
    readonly endEffectorCount: number;
    /** Directions in which the end effectors move, and internal modes. */
    readonly rank: number;
    /** Twists (v; w) of the end effectors by unit wrenches: 6 n x 6 n. */
    readonly compliance: Float64Array;
    /** Hz, ascending; at most `count`. */
    frequencies(count: number): number[];
    createState(): MechanismState;
    dispose(): void;
}

export class MechanismState implements Disposable {
    private constructor();
    readonly model: Mechanism;
    readonly time: number;
    /** Views of displacements and velocities of the end effectors, six numbers each. */
    readonly xi: Float64Array;
    readonly phi: Float64Array;
    get gravity(): Float64Array;
    set gravity(value: Numbers);
    /** A view: 12 numbers of each link: position, rotation (9). */
    readonly poses: Float64Array;
    step(dt: number): void;
    /** N and N m, in the axes of the world, at the origin of an end effector. */
    push(endEffector: number, force: Numbers, torque?: Numbers): void;
    /** The same at a point of any link, in the link's frame. */
    pushLink(link: number | string, point: Numbers, force: Numbers, torque?: Numbers): void;
    endEffector(number: number): { position: number[]; rotation: number[] };
    readonly energies: Energies;
    dispose(): void;
}
