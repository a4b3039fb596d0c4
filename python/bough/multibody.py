"""Multibody systems: rigid bodies and flexible parts with joints, motors, gears and loops."""

import numpy as np

from ._core import Alone, Handle, _Arrays, call, fetch, ffi, lib, text, window
from ._values import definition, existing, pointer, pose, record, structs
from .rig import Actor, meshes_in


class FullPart(Handle):
    """A part in full order: all nodes of its mesh instead of a basis."""

    def __init__(self, body, component):
        self._own(fetch(lib.bough_full_part_create, body._c, component._c), lib.bough_full_part_destroy, [body, component])

    def __repr__(self):
        return "<bough.FullPart>"


class Multibody(Handle):
    """A constant description: bodies, parts, joints, motors, gears; entries with the keys of the structs of C.

        hub = {"name": "hub", "mass": 0.2}
        bough.Multibody(bodies=[hub, weight], joints=[{"kind": "hinge", "parent": {"body": -1}, "child": {"body": 0}}],
                        parts=[{"component": rod, "clamp": {"body": 0}}], gravity=[0, 0, -9.81])
    """

    def __init__(self, bodies=(), parts=(), joints=(), motors=(), gears=(), **settings):
        keep = []
        d = definition("bough_multibody_def", {**settings, "bodies": list(bodies), "parts": list(parts), "joints": list(joints),
                                               "motors": list(motors), "gears": list(gears)}, keep)
        owners = [v for part in parts for v in (part.get("component"), part.get("full")) if v is not None]
        self._own(fetch(lib.bough_multibody_create, d), lib.bough_multibody_destroy, owners)

    def __repr__(self):
        if self.closed:
            return "<bough.Multibody, closed>"
        d = lib.bough_multibody_describe(self._c)
        return (f"<bough.Multibody: {d.body_count} bodies, {d.part_count} parts, {d.joint_count} joints, "
                f"{self.velocity_count} velocities, {self.constraint_count} constraints>")

    velocity_count = property(lambda self: lib.bough_multibody_velocity_count(self._c), doc="Numbers in v.")
    position_count = property(lambda self: lib.bough_multibody_position_count(self._c), doc="Numbers in u.")
    constraint_count = property(lambda self: lib.bough_multibody_constraint_count(self._c), doc="Numbers in lambda.")

    @property
    def description(self):
        """Counts, gravity, and names of bodies, parts, joints and motors."""
        d = lib.bough_multibody_describe(self._c)
        found = record(d)
        for name, array, count in (("bodies", d.bodies, d.body_count), ("parts", d.parts, d.part_count),
                                   ("joints", d.joints, d.joint_count), ("motors", d.motors, d.motor_count)):
            setattr(found, name, [text(array[i].name) for i in range(count)])
        return found

    def part_offset(self, part):
        """Where the coordinates of a part begin in u."""
        return lib.bough_multibody_part_offset(self._c, existing(part, lib.bough_multibody_describe(self._c).part_count, "part"))

    def joint_rows(self, joint):
        """Where the multipliers of a joint are: a slice."""
        count = ffi.new("int32_t *")
        existing(joint, lib.bough_multibody_describe(self._c).joint_count, "joint")
        first = lib.bough_multibody_joint_rows(self._c, joint, count)
        return slice(first, first + count[0])

    @property
    def redundant(self):
        """Joints of constraints that follow from others."""
        joint = ffi.new("int32_t *")
        found = []
        for i in range(lib.bough_multibody_redundant(self._c, 0, ffi.NULL)):
            lib.bough_multibody_redundant(self._c, i, joint)
            found.append(joint[0])
        return found

    def state(self):
        """A state at the start."""
        return MultibodyState(self)


class MultibodyState(Alone, _Arrays):
    """u (per body position and quaternion, then coordinates of parts), v, multipliers, force: windows. drive: a function
    (motor, time) -> (place, rate)."""

    def __init__(self, model):
        self.model, self._drive = model, None
        self._own(fetch(lib.bough_multibody_state_create, model._c), lib.bough_multibody_state_destroy, [model])

    def _shapes(self):
        m = self.model
        return {"u": (m.position_count,), "v": (m.velocity_count,), "force": (m.velocity_count,)}

    time = property(lambda self: self._c.time, lambda self, t: setattr(self._c, "time", t), doc="s.")
    gravity = property(lambda self: window(self._block, ffi.cast("double *", self._c.gravity), (3,), True), doc="m/s^2, a window.")
    multipliers = property(lambda self: window(self._block, getattr(self._c, "lambda"), (self.model.constraint_count,), True),
                           doc="Forces and torques in the joints.")
    drift = property(lambda self: self._c.drift, doc="m and rad: how far constraints are off after the last step.")
    iterations = property(lambda self: self._c.iterations, doc="Of Newton's method in the last step.")

    def __repr__(self):
        return "<bough.MultibodyState, closed>" if self.closed else f"<bough.MultibodyState at {self.time:.6g} s of {self.model!r}>"

    def drive(self, function):
        """Where motors are told to be: function(motor, time) -> (place, rate); None: they stay."""
        self._drive = None if function is None else ffi.new_handle(function)
        self._c.drive = ffi.NULL if function is None else lib.bough_py_drive
        self._c.drive_data = ffi.NULL if function is None else self._drive
        return self

    def _call(self, function, *arguments):
        self._call_alone(function, self.model._c, self._c, *arguments)

    def restart(self):
        """Forgets the step before; call it after u or v were written."""
        self._alone(lib.bough_multibody_restart, self._c)

    def assemble(self):
        """Moves everything to the nearest place at which all constraints hold."""
        self._call(lib.bough_multibody_assemble)

    def settle(self):
        """Goes to the equilibrium."""
        self._call(lib.bough_multibody_settle)

    def follow(self, time):
        """Goes to the equilibrium at another time; returns snaps, halvings, iterations."""
        path = ffi.new("bough_multibody_path *")
        self._call(lib.bough_multibody_follow, time, path)
        return record(path)

    def targets(self, frames, count, every=1 / 30, start=0.0):
        """Equilibria at equal distances of time: poses of frames (count x frames x 4 x 4), and the path."""
        from .mechanism import matrices

        poses = np.zeros((count * len(frames), 12))
        path = ffi.new("bough_multibody_path *")
        d = definition("bough_targets_def", {"from": start, "every": every, "count": count, "frames": list(frames)})
        self._call(lib.bough_multibody_targets, d, ffi.cast("bough_pose *", pointer(poses)), path)
        return matrices(poses).reshape(count, len(frames), 4, 4), record(path)

    def step(self, dt):
        """One step."""
        self._call(lib.bough_multibody_step, dt)

    def advance(self, dt, tolerance=1e-6):
        """dt of time in as many steps as keep the error of each below a tolerance; returns how many."""
        steps = ffi.new("int32_t *")
        self._call(lib.bough_multibody_advance, dt, tolerance, steps)
        return steps[0]

    def use_integrator(self, name=None, **settings):
        """Steps by another method that knows constraints; None: the engine's own."""
        d = ffi.NULL if name is None else definition("bough_integrator_def", {"name": name, **settings})
        self._call(lib.bough_multibody_use_integrator, d)

    def modes(self, count):
        """Small vibrations about the state: frequencies_hz, shapes (count x velocities)."""
        return MultibodyModes(fetch(lib.bough_multibody_find_modes, self.model._c, self._c, count))

    def frame(self, frame):
        """Where a frame ({"body": 0, "pose": ...}) is (4 x 4), and (v; w) of its origin."""
        found, twist = ffi.new("bough_pose *"), np.empty(6)
        place, d = definition("bough_frame_def", frame), lib.bough_multibody_describe(self.model._c)
        if place.body != lib.BOUGH_WORLD:
            existing(place.body, d.body_count + d.part_count, "body or part")
        if place.interface_index != -1:
            part = existing(place.body - d.body_count, d.part_count, "part with interfaces")
            existing(place.interface_index, d.parts[part].component.interface_count, "interface")
        self._alone(lib.bough_multibody_frame, self.model._c, self._c, place, found, pointer(twist))
        return pose(found), twist

    def joint(self, joint):
        """Coordinates of a joint, their rates, and its wrench on the child."""
        d = lib.bough_multibody_describe(self.model._c)
        existing(joint, d.joint_count, "joint")
        n = lib.bough_joint_freedoms(d.joints[joint].kind)
        coordinates, rates, wrench = np.zeros(max(1, n)), np.zeros(max(1, n)), np.empty(6)
        self._alone(lib.bough_multibody_joint_coordinates, self.model._c, self._c, joint, pointer(coordinates), pointer(rates))
        self._alone(lib.bough_multibody_joint_wrench, self.model._c, self._c, joint, pointer(wrench))
        return coordinates[:n], rates[:n], wrench

    @property
    def energies(self):
        """kinetic, elastic, springs, gravity, momentum, angular_momentum."""
        energies = ffi.new("bough_multibody_energies *")
        self._alone(lib.bough_multibody_measure, self.model._c, self._c, energies)
        return record(energies)

    def actor(self, shapes):
        """For a contact world: shapes {"place": 0, "shape": {...}, "friction": 0.5}."""
        keep = []
        actor = ffi.new("bough_contact_actor *", lib.bough_default_contact_actor())
        self._call(lib.bough_multibody_actor_create, len(shapes), structs("bough_contact_shape_def", list(shapes), keep), actor)
        return Actor(actor, [self, self.model, *meshes_in(keep)])


class MultibodyModes(Handle):
    """Modes of a multibody system: squares, frequencies_hz, shapes, unstable_count."""

    def __init__(self, c):
        self._own(c, lib.bough_multibody_modes_destroy)
        self.squares, self.frequencies_hz = (window(self._block, getattr(c, n), (c.count,)) for n in ("squares", "frequencies_hz"))
        self.shapes, self.unstable_count = window(self._block, c.shapes, (c.count, c.size)), c.unstable_count

    def __repr__(self):
        return f"<bough.MultibodyModes: {', '.join(f'{f:.4g}' for f in self.frequencies_hz[:6])} Hz>"
