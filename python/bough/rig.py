"""Shapes, joints, integrators, and the contact world of rigid bodies and obstacles."""

import numpy as np

from ._core import Alone, Handle, Single, call, context, copied, fetch, ffi, lib, of, text, window, wrong
from ._values import definition, existing, floats, ints, pointer, pose, record, structs, vector


class ShapeMesh(Handle):
    """A closed surface of triangles, convex or not, for shapes of the kind "mesh". cells: of its grid of distances along the
    longest side, 8 to 100.

        ring = bough.ShapeMesh(vertices, triangles)
        world = bough.World(bodies=[{"mass": 1, "shapes": [{"kind": "mesh", "mesh": ring}]}])
    """

    def __init__(self, vertices, triangles, cells=0):
        x, t = floats(vertices, -1, 3), ints(triangles, -1, 3)
        self._own(fetch(lib.bough_shape_mesh_create, len(x), pointer(x), len(t), pointer(t, "int32_t"), cells),
                  lib.bough_shape_mesh_destroy)


def meshes_in(keep):
    """What must live as long as what was made of these values: blocks of meshes."""
    return [value for value in keep if isinstance(value, ShapeMesh)]


class Shape(Handle):
    """A shape to touch: kind ("plane", "sphere", "box", "hull", "height-field", "capsule", "mesh"), frame, radius, half, points,
    heights, mesh (a ShapeMesh)."""

    def __init__(self, kind="sphere", **settings):
        self._settings, keep = {"kind": kind, **settings}, []
        self._own(fetch(lib.bough_shape_create, definition("bough_shape_def", self._settings, keep)),
                  lib.bough_shape_destroy, meshes_in(keep))

    def __repr__(self):
        return f"<bough.Shape: {self._settings['kind']}>"

    def touch(self, other, at=(0, 0, 0), other_at=(0, 0, 0), margin=0.0):
        """Where this shape and another are nearer than a margin: on_a, on_b, normal, gap."""
        points = ffi.new("bough_touching[]", lib.BOUGH_MOST_TOUCHING)
        places = structs("bough_pose", [at, other_at])
        count = lib.bough_shapes_touch(self._c, places, of(Shape, other), places + 1, margin, points)
        return [record(ffi.addressof(points, i)) for i in range(count)]

    def surface(self):
        """Vertices and triangles of a box, a hull, a mesh or a height field."""
        surface = ffi.new("bough_shape_surface *")
        call(lib.bough_shape_surface_create, self._c, surface)
        try:
            return copied(surface.vertices, (surface.vertex_count, 3)), copied(surface.triangles, (surface.triangle_count, 3))
        finally:
            lib.bough_shape_surface_destroy(context().pointer, surface)


def weigh(shapes, density):
    """Mass, centre and inertia of shapes ({"kind": "box", "half": ...}) filled with a material."""
    mass = ffi.new("bough_shapes_mass *")
    call(lib.bough_shapes_weigh, len(shapes), structs("bough_shape_def", list(shapes)), density, mass)
    found = record(mass)
    found.inertia = found.inertia.reshape(3, 3)
    return found


def joint_kinds():
    """Kinds of joints and how many freedoms each has."""
    return {text(lib.bough_joint_name(i)): lib.bough_joint_freedoms(i) for i in range(lib.BOUGH_JOINT_KIND_COUNT)}


def motor_limits(**settings):
    """Limits of a motor: lowest, highest, speed, acceleration, force; what is not given is infinite."""
    return record(definition("bough_motor_limits", settings))


def identity():
    """The pose that leaves everything where it is, a 4 x 4 matrix."""
    return pose(lib.bough_default_pose())


# ---- time integrators ----


def integrators():
    """All integrators: {name: about, order, a_stable, l_stable, ...}."""
    found = [record(lib.bough_integrator_describe(i)) for i in range(lib.bough_integrator_count())]
    return {info.name: info for info in found}


def integrator_damping(name, hw, **settings):
    """Numerical damping of a method on an undamped oscillator, of steps h at the frequency w."""
    damping = ffi.new("double *")
    call(lib.bough_integrator_damping, definition("bough_integrator_def", {"name": name, **settings}), hw, damping)
    return damping[0]


# ---- the contact world ----


class Actor(Single):
    """Who takes part in a contact world and steps itself: made by actor() of a mechanism or a multibody state."""

    def __init__(self, c, owners):
        self._c, self._owners = c, owners

    def __del__(self):
        if self._c is not None:
            lib.bough_contact_actor_destroy(context().pointer, self._c)

    @property
    def touches_itself(self):
        """Whether its places touch each other."""
        return bool(self._c.touches_itself)

    @touches_itself.setter
    def touches_itself(self, value):
        self._c.touches_itself = value

    def __repr__(self):
        return f"<bough.Actor: {self._c.place_count} places, {self._c.shape_count} shapes>" if self._c else "<bough.Actor, in a world>"


class World(Alone):
    """Obstacles, free rigid bodies and actors that push each other.

        world = bough.World(bodies=[{"mass": 1, "shapes": [{"kind": "sphere", "radius": 0.1}], "pose": [0, 0, 1]}],
                            obstacles=[{"shapes": [{"kind": "plane"}]}], gravity=[0, 0, -9.81])
        world.step(0.005); world.body_pose(0)
    """

    def __init__(self, bodies=(), obstacles=(), actors=(), gravity=(0, 0, 0), **settings):
        keep, owners = [], [owner for actor in actors for owner in actor._owners]
        d = definition("bough_contact_world_def", {**settings, "bodies": list(bodies), "obstacles": list(obstacles)}, keep)
        array = ffi.new("bough_contact_actor[]", max(1, len(actors)))
        for i, actor in enumerate(actors):
            if actor._c is None:
                raise wrong("this actor is in a world already; make another one")
            array[i] = actor._c[0]
            actor._c = None
        d.actors, d.actor_count = array, len(actors)
        self._own(fetch(lib.bough_contact_world_create, d), lib.bough_contact_world_destroy, owners + meshes_in(keep))
        self.gravity = gravity

    def __repr__(self):
        return "<bough.World, closed>" if self.closed else f"<bough.World: {len(self)} bodies, {self._c.contact_count} contacts>"

    def __len__(self):
        return self._c.body_count

    @property
    def gravity(self):
        """m/s^2, on the bodies."""
        return window(self._block, ffi.cast("double *", self._c.gravity), (3,), True)

    @gravity.setter
    def gravity(self, value):
        self.gravity[:] = floats(value, 3)

    @property
    def bodies(self):
        """Numbers of the bodies, body x 24: position, rotation by rows, velocity, spin (own axes), force, torque. A window
        that may be written."""
        return window(self._block, ffi.cast("double *", self._c.bodies), (self._c.body_count, 24), True)

    def body_pose(self, body):
        """Where a body is: 4 x 4."""
        self._check(body)
        return pose(lib.bough_contact_world_body_pose(self._c, body))

    def body_twist(self, body):
        """(v; w) in the body's axes."""
        self._check(body)
        twist = np.empty(6)
        lib.bough_contact_world_body_twist(self._c, body, pointer(twist))
        return twist

    def _check(self, body):
        existing(body, self._c.body_count, "body")

    def step(self, dt):
        """One step of the bodies and all actors; when it fails nothing has moved."""
        self._call_alone(lib.bough_contact_world_step, self._c, dt)

    @property
    def contacts(self):
        """Contacts of the last step: sides (kind, index, actor), position, normal, gap, force."""
        found = []
        for i in range(self._c.contact_count):
            contact = record(ffi.addressof(self._c.contacts, i))
            contact.sides = [record(ffi.addressof(self._c.contacts[i].sides, s)) for s in (0, 1)]
            found.append(contact)
        return found

    residual = property(lambda self: self._c.residual, doc="m/s: what the last search left.")

    def _side(self, side):
        return definition("bough_contact_side", {"actor": -1, **side})[0]

    def filter(self, who, groups, mask):
        """Groups (bits) of a thing {"kind": "body", "index": 0}, and those of the groups that it touches."""
        self._call_alone(lib.bough_contact_world_filter, self._c, self._side(who), groups, mask)

    def ignore(self, a, b, ignore=True):
        """Two things that do not touch each other."""
        self._call_alone(lib.bough_contact_world_ignore, self._c, self._side(a), self._side(b), ignore)

    def move(self, obstacle, pose, velocity=(0, 0, 0), spin=(0, 0, 0)):
        """Puts an obstacle elsewhere, and says how it moves from now on."""
        self._call_alone(lib.bough_contact_world_move, self._c, obstacle, structs("bough_pose", [pose]), vector(velocity), vector(spin))

    def save(self):
        """All that changes, as numbers."""
        memory = np.empty(lib.bough_contact_world_memory_size(self._c))
        self._alone(lib.bough_contact_world_save, self._c, pointer(memory))
        return memory

    def restore(self, memory):
        """Goes back to saved numbers."""
        memory = floats(memory, -1)
        self._call_alone(lib.bough_contact_world_restore, self._c, len(memory), pointer(memory))

