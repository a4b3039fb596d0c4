/** Bough's runtime library as WebAssembly: trees of reduced flexible parts, multibody systems, compliant mechanisms, and
 * worlds in which they and rigid bodies touch. SI units; matrices row by row. Views are of the library's memory, without
 * copies: take them anew after anything was created. */

export type Numbers = ArrayLike<number> & Iterable<number>;
export type Bytes = ArrayBuffer | ArrayBufferView;
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

// ---- shapes, joints, curves ----

interface ShapePlace extends Place {
    frame?: Place;
}
export type Shape = ShapePlace &
    (
        | { kind: "plane" }
        | { kind: "sphere"; radius: number }
        /** Half of its edges. */
        | { kind: "box"; half: Numbers }
        /** All within the radius of an axis along z; half[2] is half of the axis. */
        | { kind: "capsule"; radius: number; half: Numbers }
        /** The convex hull of points, three numbers each. */
        | { kind: "hull"; points: Numbers }
        | { kind: "mesh"; mesh: ShapeMesh }
        /** Heights over a rectangle about the origin: rows x columns, columns along x, `cell` metres from one to the next. */
        | { kind: "height-field"; columns: number; rows: number; cell: Numbers; heights: Numbers }
    );
export interface MeshDefinition {
    /** Three numbers for each vertex, and three vertices for each triangle of a closed surface. */
    positions: Numbers;
    triangles: Numbers;
    /** Of the grid of distances along the longest side, 8 to 100; 40. */
    cells?: number;
}
/** A closed surface to touch. It must live as long as what is made with it. */
export class ShapeMesh implements Disposable {
    private constructor();
    dispose(): void;
}
export interface Surface {
    positions: Float32Array;
    triangles: Uint32Array;
}

export interface CurveDefinition {
    /** s, ascending. */
    times: Numbers;
    values: Numbers;
    /** Smooth through its points, at rest at each of them, or straight lines with rounded corners. */
    kind?: "through" | "stops" | "lines";
}
/** A smooth curve, constant before its first point and after its last. */
export class Curve implements Disposable {
    private constructor();
    at(time: number): { value: number; rate: number; acceleration: number };
    dispose(): void;
}

export interface RigidBodyDefinition extends Place {
    name?: string;
    /** kg; 1 */
    mass?: number;
    /** Of mass, in the body's axes. That of a free body is its origin. */
    centre?: Numbers;
    /** kg m^2 about the centre of mass: three numbers, or nine. */
    inertia?: Numbers;
    /** With which it begins: velocity and angular velocity, in its own axes. */
    twist?: Numbers;
    shapes?: Shape[];
    /** Of two that touch: the square root of the product; 0.5 */
    friction?: number;
    /** 0 .. 1, of two that touch: the larger; 0 */
    restitution?: number;
}
export interface ObstacleDefinition extends Place {
    name?: string;
    shapes?: Shape[];
    friction?: number;
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
    /** It keeps its shape, or is not there yet. */
    locked?: boolean;
    absent?: boolean;
    /** By which it hangs, if it is not welded: a hinge about z of inChild, or a ball. */
    joint?: PartJoint;
    /** Of a root: it is led through these poses, smoothly. */
    track?: Track;
}
export interface PartJoint extends Springs {
    kind: "hinge" | "ball";
    inChild?: Place;
    start?: number | Numbers;
}
export interface Track {
    /** s, ascending. */
    times: Numbers;
    /** Three numbers for each time. */
    positions: Numbers;
    /** Quaternions w x y z; none: it does not turn. */
    rotations?: Numbers;
}
/** Stiff damped springs between two interfaces that meet at rest: along all axes and about them. */
export interface TieDefinition extends Springs {
    name?: string;
    parent: number | string;
    parentInterface?: number | string;
    /** None: the world. */
    child?: number | string;
    childInterface?: number | string;
}
export interface TreeDefinition {
    parts: PartDefinition[];
    ties?: TieDefinition[];
    gravity?: Numbers;
    coupling?: "L1" | "L2" | "L2R" | "L3";
    alpha?: number;
    passes?: number;
    wind?: Partial<Wind>;
}

export type LinkDefinition = RigidBodyDefinition;
interface Springs {
    /** Of the spring of each freedom, N m/rad or N/m; one number is that of the first. */
    stiffness?: number | Numbers;
    damping?: number | Numbers;
}
export type JointKind = "weld" | "hinge" | "ball" | "prismatic" | "universal" | "fixed" | "free" | "cylindrical" | "planar" | "distance";
interface AnyJoint extends Springs {
    name?: string;
    kind: JointKind;
    /** Coordinates at which its springs are at rest. */
    offset?: number | Numbers;
    /** Of coordinates; beyond them springs are stiffer by a factor. */
    lower?: number | Numbers;
    upper?: number | Numbers;
    limitStiffness?: number;
    /** The most that dry friction holds. */
    friction?: number | Numbers;
}
export interface JointDefinition extends AnyJoint {
    parent: number | string;
    child: number | string;
    /** Where the joint is, in the axes of its two links. Hinges turn about z. */
    inParent?: Place;
    inChild?: Place;
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
    readComponent(bytes: Bytes): Component;
    /** Reads a model that `bough pack` wrote, with its components. */
    readPack(bytes: Bytes): TreeModel;
    /** Reads what was recorded of a tree: by `bytes()`, or by a native program. */
    readRecording(bytes: Bytes): TreeRecording;
    /** Makes a tree of parts. Its components must live as long as it does. */
    createTree(definition: TreeDefinition): TreeModel;
    /** Reduces a mechanism to its end effectors. */
    createMechanism(definition: MechanismDefinition): Mechanism;
    /** Makes a system of rigid bodies and flexible parts. Its components must live as long as it does. */
    createMultibody(definition: MultibodyDefinition): Multibody;
    /** Makes a world of rigid bodies, obstacles and actors, which it takes over. */
    createWorld(definition?: WorldDefinition): World;
    createCurve(definition: CurveDefinition): Curve;
    createShapeMesh(definition: MeshDefinition): ShapeMesh;
    /** The triangles of a shape, to be drawn. Planes and spheres have none. */
    shapeSurface(shape: Shape): Surface;
    /** Mass, centre and inertia (nine numbers) of shapes filled with a material, in kg/m^3. */
    weigh(shapes: Shape[], density: number): { mass: number; centre: number[]; inertia: number[] };
}

export class Component implements Disposable {
    private constructor();
    /** Coordinates of the component. */
    readonly size: number;
    readonly mass: number;
    readonly vertexCount: number;
    readonly interfaces: readonly string[];
    /** At rest, in the component's frame. */
    readonly surface: Surface;
    dispose(): void;
}

export interface Part {
    readonly name: string;
    /** -1: a root. */
    readonly parent: number;
    /** Number of its component. */
    readonly component: number;
    /** Where its coordinates begin in q, v and a, and those of its joint; -1: it is welded. */
    readonly offset: number;
    readonly jointOffset: number;
    /** Where its vertices lie in surface(). */
    readonly firstVertex: number;
    readonly vertexCount: number;
}

/** A tree of parts. Constant; one model, many states. */
export class TreeModel implements Disposable {
    private constructor();
    readonly parts: readonly Part[];
    /** Names of its ties. */
    readonly ties: readonly string[];
    readonly componentCount: number;
    /** Coordinates of all parts. */
    readonly size: number;
    readonly vertexCount: number;
    /** Three vertices of surface() each. */
    readonly triangles: Uint32Array;
    createState(): TreeState;
    /** The bytes of a pack, which readPack() and native programs read. */
    pack(): Uint8Array;
    dispose(): void;
}

export interface Wind {
    velocity: Numbers;
    gust: number;
    length: number;
    density: number;
    drag: number;
    seed: number;
    lead: number;
}
export interface Momenta {
    readonly momentum: number[];
    readonly angularMomentum: number[];
}
export interface Energies {
    readonly elastic: number;
    readonly kinetic: number;
    readonly gravity: number;
    readonly total: number;
}

/** What parts of a tree touch, by the contact samples of their components. */
export interface TouchDefinition {
    obstacles?: ObstacleDefinition[];
    /** Shapes by which others touch a part. */
    solids?: { part: number | string; shape: Shape }[];
    /** Parts touch each other: all, or those of the components that say so, by their numbers. */
    between?: true | boolean[];
    friction?: number;
    slipSpeed?: number;
    mostContacts?: number;
    /** Trees that fly, and are slower than this for so long, fall asleep; 0: none does. */
    restSpeed?: number;
    restTime?: number;
}

export interface Contact {
    /** The normal points from the second to the first, and the force is on the first. */
    readonly sides: readonly Side[];
    readonly position: number[];
    readonly normal: number[];
    /** m; below 0: they overlapped. */
    readonly gap: number;
    readonly force: number[];
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
    set wind(value: Partial<Wind>);
    /** A view: factors on the strengths of ties; 0: it is cut. */
    readonly tieStrength: Float64Array;
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

    /** What parts touch from now on; null: nothing. Not part of snapshots and recordings. */
    touch(what: TouchDefinition | null): void;
    /** Those of the last step, between parts and obstacles. */
    readonly contacts: Contact[];

    /** Views: positions in the world and normals of all vertices, three numbers each. */
    surface(options?: { continuity?: "C0" | "C1" | "none" }): { positions: Float32Array; normals: Float32Array };
    /** A view: von Mises' stress at all vertices, Pa. */
    surfaceStress(): Float32Array;
    vertex(part: number | string, vertex: number): { position: number[]; velocity: number[] };

    /** J; kg m/s and kg m^2/s about the world's origin. */
    readonly energies: Energies & Momenta;
    /** J, done by all that has no energy. */
    readonly work: number;
    /** All that the state needs to go on with the same bits. */
    snapshot(): Uint8Array;
    restore(snapshot: Uint8Array): void;
    /** Records all that is done to the state from now on, until stop(). */
    record(): TreeRecording;
    dispose(): void;
}

/** All that was done to a state of a tree, to be done again. */
export class TreeRecording implements Disposable {
    private constructor();
    /** The state goes on without it. */
    stop(): void;
    readonly info: { readonly steps: number; readonly startTime: number; readonly endTime: number; readonly size: number; readonly complete: boolean };
    /** A file, which readRecording() reads; of one that goes on, as if it ended here. */
    bytes(): Uint8Array;
    /** Brings a state of the model to the start and does all of it again. watch is called after each step, and may look at
     * the state; false ends the replay. Returns whether the state ended with the bits that were recorded. */
    replay(state: TreeState, watch?: (state: TreeState) => boolean | void): boolean;
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
    /** Takes part in a contact world, which steps it: by shapes of end effectors, of links, or of the base. */
    actor(touches: (({ endEffector: number } | { link: number | string } | { base: true }) & { shape: Shape; friction?: number })[], options?: ActorOptions): Actor;
    dispose(): void;
}

// ---- multibody systems ----

/** On a rigid body, or on a part or one of its interfaces; without a body: in the world. */
export interface FrameDefinition extends Place {
    body?: number | string;
    interface?: number | string;
}
export interface FlexibleDefinition {
    name?: string;
    component: Component;
    /** Where the component's frame lies, which is that of the interface by which it hangs. */
    clamp?: FrameDefinition;
    /** Factor on frequencies. */
    stiffness?: number;
    dampingMass?: number;
    dampingStiffness?: number;
}
export interface MultibodyJoint extends AnyJoint {
    /** Bodies, then parts, by number or name; none: the world. */
    parent?: number | string;
    child?: number | string;
    /** Where the joint is, in the axes of both, or of an interface of a part. Hinges turn about z. */
    inParent?: Place & { interface?: number | string };
    inChild?: Place & { interface?: number | string };
}
export interface MotorDefinition {
    name?: string;
    joint: number | string;
    freedom?: number;
    /** Of a spring between where it is told to be and where it is; Infinity: it is exactly there. */
    stiffness?: number;
    damping?: number;
    /** N m, N: the most that a motor with a finite stiffness gives. */
    limit?: number;
}
export interface GearDefinition {
    name?: string;
    joints: [number | string, number | string];
    freedoms?: [number, number];
    /** first + ratio second stays what it is. */
    ratio?: number;
}
export interface MultibodyDefinition {
    bodies?: RigidBodyDefinition[];
    parts?: FlexibleDefinition[];
    joints?: MultibodyJoint[];
    motors?: MotorDefinition[];
    gears?: GearDefinition[];
    gravity?: Numbers;
    baumgarte?: number;
    frictionSpeed?: number;
}

/** Rigid bodies and flexible parts with joints, motors, gears and loops. Constant; one model, many states. */
export class Multibody implements Disposable {
    private constructor();
    readonly bodyCount: number;
    readonly partCount: number;
    /** Numbers in v, in u, and of multipliers. */
    readonly velocityCount: number;
    readonly positionCount: number;
    readonly constraintCount: number;
    /** Coordinates of each joint. */
    readonly freedoms: readonly number[];
    /** Joints of constraints that follow from others, which are softened. */
    readonly redundant: number[];
    createState(): MultibodyState;
    dispose(): void;
}

/** A jump from one equilibrium to another. */
export interface Snap {
    readonly time: number;
    /** Whose two sides moved most; -1: none. */
    readonly joint: number;
    /** rad, m */
    readonly turn: number;
    readonly distance: number;
}
/** Where a motor is told to be, and how fast that changes. */
export type Drive = (motor: number, time: number) => [number, number];

export class MultibodyState implements Disposable {
    private constructor();
    readonly model: Multibody;
    time: number;
    /** A view: position and quaternion (w x y z) of each body, then coordinates of the parts. Call restart() after positions or
     * velocities were written. */
    readonly u: Float64Array;
    /** A view: velocity and angular velocity of each body, in the world, then rates of the parts' coordinates. */
    readonly v: Float64Array;
    /** A view, as v: forces and torques in the next step, which are gone after it. */
    readonly force: Float64Array;
    /** A view: forces and torques in the joints. */
    readonly multipliers: Float64Array;
    get gravity(): Float64Array;
    set gravity(value: Numbers);
    /** m and rad: by how much constraints were missed after the last step. */
    readonly drift: number;
    readonly iterations: number;
    /** Views of where a body is, how it moves, and what acts on it. */
    body(body: number | string): Record<"position" | "quaternion" | "velocity" | "angularVelocity" | "force" | "torque", Float64Array>;
    /** Views of the coordinates of a part, and their rates. */
    part(part: number | string): { q: Float64Array; rate: Float64Array };
    frame(frame: FrameDefinition | number | string): Record<"position" | "rotation" | "velocity" | "angularVelocity", number[]>;
    /** Coordinates of a joint, and what it does to its child, about the joint's frame there, in the world. */
    joint(joint: number | string): Record<"coordinates" | "rates" | "force" | "torque", number[]>;
    /** A view: vertices of a part's surface in the world; component.surface has the triangles. */
    surface(part: number | string): Float32Array;

    /** What motors follow: a function, or curves by the names (or numbers) of motors. Without one they stay where they are. */
    drive(how: Drive | Record<string, Curve> | null): void;
    /** One step. When it throws, the state is what it was. */
    step(dt: number): void;
    /** dt of time, in as many steps as keep the error of each below a part of the system's size; 1e-6. Returns how many. */
    advance(dt: number, tolerance?: number): number;
    /** Forgets the step before. */
    restart(): void;
    /** Goes to the nearest place at which all joints hold. */
    assemble(): void;
    /** Goes to the equilibrium at the state's time. */
    settle(): void;
    /** Goes from that to the equilibrium at another time, with motors as they are told to be then. Tells of jumps on the way. */
    follow(time: number): { done: number; snaps: number; first: Snap; last: Snap; halvings: number; iterations: number; factors: number };
    /** Steps by another method that knows constraints, such as "generalised-alpha"; null: the engine's own. */
    useIntegrator(name: string | null): void;
    /** Hz, ascending, at most `count`: small vibrations about a state at rest. */
    frequencies(count: number): number[];
    readonly energies: Energies & Momenta & { readonly springs: number };
    /** All that the state needs to go on with the same bits. */
    snapshot(): Uint8Array;
    restore(snapshot: Uint8Array): void;
    /** Takes part in a contact world, which steps it: by shapes of bodies, and by the contact samples of parts. */
    actor(shapes: (({ body: number | string; shape: Shape } | { part: number | string }) & { friction?: number; restitution?: number })[], options?: ActorOptions): Actor;
    dispose(): void;
}

// ---- contact worlds ----

/** One of two that touch. Of an actor `index` is the number of its end effector (-1: the base), link, body or part. */
export interface Side {
    readonly kind: "obstacle" | "body" | "end-effector" | "link" | "part";
    readonly index: number;
    /** Its number in the world; -1: it is a body or an obstacle of the world. */
    readonly actor?: number;
}
/** Such a thing to choose; bodies and obstacles by their names, too. */
export type Thing = Omit<Side, "index"> & { readonly index: number | string };
export interface ActorOptions {
    /** Its own bodies or links touch each other. */
    touchesItself?: boolean;
}
/** A state that is going to take part in a world. */
export class Actor implements Disposable {
    private constructor();
    dispose(): void;
}
export interface WorldDefinition {
    obstacles?: ObstacleDefinition[];
    /** Free ones. */
    bodies?: RigidBodyDefinition[];
    actors?: Actor[];
    /** On the bodies; that on actors is their own. */
    gravity?: Numbers;
    margin?: number;
    correction?: number;
    pushSpeed?: number;
    bounceSpeed?: number;
    mostRounds?: number;
    tolerance?: number;
    islands?: boolean;
    contactReserve?: number;
    mostContacts?: number;
}

/** Obstacles, free rigid bodies, and actors. */
export class World implements Disposable {
    private constructor();
    get gravity(): Float64Array;
    set gravity(value: Numbers);
    readonly bodyCount: number;
    /** States that take part. They must live as long as the world, and are looked at as ever. */
    readonly actors: readonly (MechanismState | MultibodyState)[];
    /** A view: 24 numbers of each body: position, rotation (9), velocity, spin (in its own axes), force, torque. */
    readonly bodies: Float64Array;
    /** Views of one of them; forces and torques act in the next step, and are gone after it. */
    body(body: number | string): Record<"position" | "rotation" | "velocity" | "spin" | "force" | "torque", Float64Array>;
    /** One step of bodies and actors. When it throws, nothing has moved. */
    step(dt: number): void;
    readonly contactCount: number;
    /** Those of the last step. */
    readonly contacts: Contact[];
    readonly islandCount: number;
    readonly rounds: number;
    /** m/s: by which the last search for impulses missed. */
    readonly residual: number;
    /** Two things touch where the mask of each has one of the other's groups; at first each is in group 1 and has all bits. */
    filter(who: Thing, groups: number, mask: number): void;
    ignore(a: Thing, b: Thing, ignored?: boolean): void;
    /** Puts an obstacle elsewhere, and says how it moves from now on. */
    move(obstacle: number | string, place: Place, velocity?: Numbers, spin?: Numbers): void;
    /** All of the world that changes, but for its actors. */
    snapshot(): Float64Array;
    restore(snapshot: Float64Array): void;
    dispose(): void;
}
