"""Compliant mechanisms: descriptions, statics, reduced models, blends, and the full mechanism to compare with."""

import numpy as np

from ._core import Alone, Handle, _Arrays, call, context, fetch, ffi, lib, nearest, of, text, window, wrong
from ._values import Keep, chars, definition, existing, floats, path, pointer, pose, record, structs, vector, whole
from .rig import Actor, meshes_in


class Mechanism(Handle):
    """Rigid links with springs in their joints.

        bough.Mechanism(links=[...], joints=[...], end_effectors=[...])     entries: keys of rigid bodies, joints, frames
        bough.Scene("y.json").mechanism        bough.Urdf("arm.urdf").mechanism
    """

    end_effector_names = None

    def __init__(self, links, joints, end_effectors=(), base=0, free_base=False):
        keep = []
        d = definition("bough_mechanism_def", {"links": list(links), "joints": list(joints), "end_effectors": list(end_effectors),
                                               "base": base, "free_base": free_base}, keep)
        self._own(fetch(lib.bough_mechanism_create, d), lib.bough_mechanism_destroy)

    @classmethod
    def _of(cls, mechanism, owner=None):
        self = cls.__new__(cls)
        self._own(mechanism, None if owner else lib.bough_mechanism_destroy, [owner])
        return self

    def at(self, poses):
        """The same mechanism about other poses of its links, where its springs stay what they are."""
        return Mechanism._of(fetch(lib.bough_mechanism_create_at, self._c, _poses(poses)))

    @property
    def description(self):
        """link_count, joint_count, end_effector_count, base, free_base; names of links and joints."""
        d = lib.bough_mechanism_describe(self._c)
        found = record(d)
        found.links = [text(d.links[i].name) for i in range(d.link_count)]
        found.joints = [text(d.joints[i].name) for i in range(d.joint_count)]
        found.rest = np.array([pose(d.links[i].pose) for i in range(d.link_count)])
        return found

    def __repr__(self):
        if self.closed:
            return "<bough.Mechanism, closed>"
        d = lib.bough_mechanism_describe(self._c)
        return f"<bough.Mechanism: {d.link_count} links, {d.joint_count} joints, {self.loop_count} loops, {d.end_effector_count} end effectors>"

    loop_count = property(lambda self: lib.bough_mechanism_loop_count(self._c), doc="Joints that close loops.")
    coordinate_count = property(lambda self: lib.bough_mechanism_coordinate_count(self._c), doc="Of all joints.")
    radius = property(lambda self: lib.bough_mechanism_radius(self._c), doc="The length that turns radians into metres.")

    def coordinate_offset(self, joint):
        """Where the coordinates of a joint begin."""
        return lib.bough_mechanism_coordinate_offset(self._c, self._joint(joint))

    def _joint(self, joint):
        count = lib.bough_mechanism_describe(self._c).joint_count
        names = self.description.joints
        if isinstance(joint, str) and joint not in names:
            raise wrong(f'there is no joint "{joint}"{nearest(joint, [n for n in names if n])}')
        return existing(names.index(joint) if isinstance(joint, str) else joint, count, "joint")

    def statics(self, **settings):
        """Answers to unit wrenches at the end effectors; method: "exact" or "recursive"; end_effectors, motors."""
        return Statics(self, settings)

    @property
    def compliance(self):
        """C: twists of the end effectors under unit wrenches, 6 n x 6 n."""
        return self.statics().C.copy()

    def reduce(self, statics=None, **settings):
        """The reduced model: rank_tolerance, internal_modes (-1: automatic), frequency_tolerance."""
        return MechanismModel(self, statics or self.statics(), settings)

    def full(self):
        """The full mechanism, not linearised."""
        return FullMechanism(self)

    def frequencies(self, count):
        """The lowest frequencies of the whole linearised mechanism, Hz."""
        return _frequencies(lib.bough_mechanism_frequencies, self._c, count)

    def modes(self, count):
        """Frequencies, and twists of the links in each mode (count x links x 6)."""
        links, count = lib.bough_mechanism_describe(self._c).link_count, whole(count, "count of modes")
        hz, twists, found = np.empty(max(count, 0)), np.empty((max(count, 0), links, 6)), ffi.new("int32_t *")
        call(lib.bough_mechanism_modes, self._c, count, pointer(hz), pointer(twists), found)
        return hz[:found[0]], twists[:found[0]]

    def details(self, choices=({},), **settings):
        """Accuracy and cost of choices of end effectors and internal modes."""
        keep = []
        d = definition("bough_mechanism_detail_def", {**settings, "choices": list(choices)}, keep)
        details = ffi.new("bough_mechanism_detail[]", len(choices))
        call(lib.bough_mechanism_details, self._c, d, details)
        return [record(ffi.addressof(details, i)) for i in range(len(choices))]

    def blend(self, workspace=None, **settings):
        """A blend of models about several poses. workspace: {"loads": ..., "tolerance": ...}: points are added until it is
        that good; the report is then `report` of the blend."""
        return Blend(self, workspace, settings)

    # ---- joints at poses of the links ----

    def constraint_error(self, poses):
        """How far joints are from closed, in radii."""
        return lib.bough_mechanism_constraint_error(self._c, self._all(poses))

    def joint_gap(self, joint, poses):
        """The gap of one joint."""
        return record(ffi.new("bough_mechanism_gap *", lib.bough_mechanism_joint_gap(self._c, self._joint(joint), self._all(poses))))

    def largest_gap(self, poses):
        """The gap of the joint whose error is largest."""
        return record(ffi.new("bough_mechanism_gap *", lib.bough_mechanism_largest_gap(self._c, self._all(poses))))

    def joint_value(self, joint, poses):
        """The first coordinate of a joint where its links are."""
        return lib.bough_mechanism_joint_value(self._c, self._joint(joint), self._all(poses))

    def _all(self, poses):
        count = lib.bough_mechanism_describe(self._c).link_count
        if len(poses) != count:
            raise wrong(f"there are {count} links, and {len(poses)} poses")
        return _poses(poses)


def _poses(poses):
    """Poses for C: 4 x 4 matrices, or windows of poses (n x 12)."""
    poses = floats(poses)
    if poses.ndim == 3:
        poses = np.concatenate([poses[:, :3, 3], poses[:, :3, :3].reshape(-1, 9)], axis=1)
    return ffi.from_buffer("bough_pose[]", floats(poses, -1, 12))


def matrices(poses):
    """4 x 4 matrices of poses as C has them (n x 12: position, rotation by rows)."""
    found = np.tile(np.eye(4), (len(poses), 1, 1))
    found[:, :3, 3], found[:, :3, :3] = poses[:, :3], poses[:, 3:].reshape(-1, 3, 3)
    return found


def _frequencies(function, c, count):
    count = whole(count, "count of frequencies")
    hz, found = np.empty(max(count, 0)), ffi.new("int32_t *")
    call(function, c, count, pointer(hz), found)
    return hz[:found[0]]


class Statics(_Arrays):
    """C, twists, wrenches, coordinates (answers to unit wrenches), offset_twists, motor_twists."""

    def __init__(self, mechanism, settings):
        self.mechanism = mechanism
        self._own(fetch(lib.bough_mechanism_statics_create, mechanism._c,
                        definition("bough_mechanism_statics_def", settings)), lib.bough_mechanism_statics_destroy, [mechanism])

    def _shapes(self):
        d, n = lib.bough_mechanism_describe(self.mechanism._c), 6 * self._c.end_effector_count
        return {"C": (n, n), "twists": (6 * d.link_count, n), "wrenches": (6 * d.joint_count, n),
                "coordinates": (self.mechanism.coordinate_count, n), "offset_twists": (d.link_count, 6),
                "motor_twists": (self._c.motor_count, 6 * d.link_count)}

    def __repr__(self):
        return "<bough.Statics, closed>" if self.closed else f"<bough.Statics of {self._c.end_effector_count} end effectors>"


class MechanismModel(_Arrays):
    """A mechanism reduced to its end effectors: C, K, M, D, Q, P, Psi, Mz, Dz, Kz, rest_xi, rank, ..."""

    def __init__(self, mechanism, statics, settings):
        self.mechanism = mechanism
        self._own(fetch(lib.bough_mechanism_model_create, mechanism._c, of(Statics, statics),
                        definition("bough_mechanism_model_def", settings)), lib.bough_mechanism_model_destroy, [mechanism])

    @classmethod
    def _of(cls, model, mechanism, owner):
        self = cls.__new__(cls)
        self.mechanism = mechanism
        self._own(ffi.cast("bough_mechanism_model *", model), None, [owner])
        return self

    def _shapes(self):
        c = self._c
        n, z, links = 6 * c.end_effector_count, c.rank, c.link_count
        return {"C": (n, n), "K": (n, n), "M": (n, n), "D": (n, n), "Q": (n, z), "P": (z, n), "Psi": (6 * links, n),
                "compliances": (z,), "rest_xi": (n,), "rest_z": (z,), "rest_twists": (links, 6), "M_base": (6, 6),
                "M_coupling": (6, z), "Mz": (z, z), "Dz": (z, z), "Kz": (z,), "motor_xi": (c.motor_count, n)}

    rank = property(lambda self: self._c.rank, doc="Directions in which the end effectors move, and internal modes.")
    memory = property(lambda self: lib.bough_mechanism_model_memory(self._c), doc="Bytes.")

    def frequencies(self, count):
        """Its lowest frequencies, Hz."""
        return _frequencies(lib.bough_mechanism_model_frequencies, self._c, count)

    @property
    def frequency_error(self):
        """By how much its lowest frequency lies above the whole mechanism's, relative."""
        error = ffi.new("double *")
        call(lib.bough_mechanism_model_frequency_error, self.mechanism._c, self._c, error)
        return error[0]

    def state(self):
        """A state at rest."""
        return MechanismState(self)

    def __repr__(self):
        return "<bough.MechanismModel, closed>" if self.closed else \
            f"<bough.MechanismModel: {self._c.end_effector_count} end effectors, rank {self.rank}, {self._c.link_count} links>"


class MechanismState(Alone, _Arrays):
    """xi, phi (displacements and velocities of the end effectors), wrench, internal, load, motors: windows. step(dt)."""

    def __init__(self, model):
        self.model, self._stepper = model, None
        self._own(fetch(lib.bough_mechanism_state_create, model._c), lib.bough_mechanism_state_destroy, [model])

    def _shapes(self):
        c = self.model._c
        n = 6 * c.end_effector_count
        return {"xi": (n,), "phi": (n,), "wrench": (n,), "internal": (c.internal_count,), "internal_rate": (c.internal_count,),
                "load": (c.rank,), "motors": (c.motor_count,), "poses": (c.link_count, 12)}

    def __repr__(self):
        return "<bough.MechanismState, closed>" if self.closed else f"<bough.MechanismState at {self.time:.6g} s>"

    time = property(lambda self: self._c.time, doc="s.")
    gravity = property(lambda self: window(self._block, ffi.cast("double *", self._c.gravity), (3,), True), doc="m/s^2, a window.")

    def step(self, dt):
        """A step of backward Euler."""
        self._call_alone(lib.bough_mechanism_step, self.model._c, self._c, dt)

    def place(self, parallel=False):
        """Where all links are: n x 4 x 4."""
        if parallel:
            self._alone(lib.bough_mechanism_state_place_parallel, context().pointer, self.model._c, self._c)
        else:
            self._alone(lib.bough_mechanism_state_place, self.model._c, self._c)
        return matrices(self.poses)

    def end_effector(self, number=0):
        """Where an end effector is: 4 x 4."""
        existing(number, self.model._c.end_effector_count, "end effector")
        return pose(lib.bough_mechanism_state_end_effector(self.model._c, self._c, number))

    def push(self, force, torque=(0, 0, 0), end_effector=None, link=None, point=(0, 0, 0)):
        """A force and a torque (world's axes) in the next step: at an end effector, or at a point of a link."""
        if link is not None:
            existing(link, self.model._c.link_count, "link")
            self._alone(lib.bough_mechanism_state_push_link, self.model._c, self._c, link, vector(point), vector(force), vector(torque))
        else:
            end_effector = existing(end_effector or 0, self.model._c.end_effector_count, "end effector")
            self._alone(lib.bough_mechanism_state_push, self.model._c, self._c, end_effector, vector(force), vector(torque))

    @property
    def energies(self):
        """kinetic, elastic, gravity."""
        return record(ffi.new("bough_mechanism_energies *", lib.bough_mechanism_state_energies(self.model._c, self._c)))

    def stepper(self, name="tr-bdf2", **settings):
        """Steps by another integrator."""
        return MechanismStepper(self, {"name": name, **settings})

    def actor(self, touches):
        """For a contact world: touches {"end_effector": 0, "shape": {...}, "friction": 0.5}."""
        return _actor(lib.bough_mechanism_actor_create, (self.model._c, self._c), touches, [self, self.model])


def _actor(function, arguments, touches, owners):
    keep = []
    actor = ffi.new("bough_contact_actor *", lib.bough_default_contact_actor())
    call(function, *arguments, len(touches), structs("bough_touch_def", list(touches), keep), actor)
    found = Actor(actor, owners + meshes_in(keep))
    found._keep = keep
    return found


class MechanismStepper(Alone):
    """Moves a state by any integrator."""

    def __init__(self, state, settings):
        self.state = state
        self._own(fetch(lib.bough_mechanism_stepper_create, state.model._c, state._c,
                        definition("bough_integrator_def", settings)), lib.bough_mechanism_stepper_destroy, [state, state.model])
        self._users = state._users

    def step(self, dt):
        """One step."""
        self._call_alone(lib.bough_mechanism_stepper_step, self._c, dt)

    def save(self):
        """The memory of the method, as numbers."""
        memory = np.empty(lib.bough_mechanism_stepper_memory_size(self._c))
        self._alone(lib.bough_mechanism_stepper_save, self._c, pointer(memory))
        return memory

    def restore(self, memory):
        """Goes back to saved memory; restore the state first."""
        lib.bough_mechanism_stepper_restore(self._c, pointer(floats(memory, lib.bough_mechanism_stepper_memory_size(self._c))))


class FullMechanism(Alone, _Arrays):
    """All joints and links, with loops closed: coordinates, twists, loads, link_loads, offsets, poses are windows."""

    def __init__(self, mechanism):
        self.mechanism = mechanism
        self._own(fetch(lib.bough_full_mechanism_create, mechanism._c), lib.bough_full_mechanism_destroy, [mechanism])

    def _shapes(self):
        d, n = lib.bough_mechanism_describe(self.mechanism._c), self.mechanism.coordinate_count
        return {"coordinates": (n,), "poses": (d.link_count, 12), "twists": (d.link_count, 6), "loads": (d.end_effector_count, 6),
                "link_loads": (d.link_count, 6), "offsets": (n,)}

    time = property(lambda self: self._c.time, doc="s.")
    gravity = property(lambda self: window(self._block, ffi.cast("double *", self._c.gravity), (3,), True), doc="m/s^2, a window.")

    def settle(self):
        """Goes to the equilibrium."""
        self._call_alone(lib.bough_full_mechanism_settle, self._c)

    def step(self, dt):
        """A step of backward Euler."""
        self._call_alone(lib.bough_full_mechanism_step, self._c, dt)

    def place(self):
        """Where all links are: n x 4 x 4."""
        return matrices(self.poses)

    def actor(self, touches):
        """For a contact world."""
        return _actor(lib.bough_full_actor_create, (self._c,), touches, [self, self.mechanism])

    def __repr__(self):
        return "<bough.FullMechanism, closed>" if self.closed else f"<bough.FullMechanism at {self.time:.6g} s of {self.mechanism!r}>"


class Blend(Handle):
    """Reduced models about several poses, blended by how near the end effectors are to each."""

    def __init__(self, mechanism, workspace, settings):
        self.mechanism, self.report = mechanism, None
        keep = Keep(wrenches=6 * lib.bough_mechanism_describe(mechanism._c).end_effector_count,
                    motors=len((settings.get("statics") or {}).get("motors") or ()))
        d = definition("bough_mechanism_blend_def", settings, keep)
        if workspace is None:
            blend = fetch(lib.bough_mechanism_blend_create, mechanism._c, d)
        else:
            report = ffi.new("bough_workspace_report *")
            blend = fetch(lib.bough_mechanism_blend_create_automatic, mechanism._c, d,
                          definition("bough_workspace_def", workspace, keep), report)
            self.report = record(report)
        self._own(blend, lib.bough_mechanism_blend_destroy, [mechanism])

    def __len__(self):
        return lib.bough_mechanism_blend_count(self._c)

    def __repr__(self):
        return "<bough.Blend, closed>" if self.closed else f"<bough.Blend: {len(self)} points>"

    def __getitem__(self, point):
        if not 0 <= point < len(self):
            raise IndexError(f"the blend has {len(self)} points")
        return MechanismModel._of(lib.bough_mechanism_blend_model(self._c, point), self.mechanism, self)

    def add(self, poses, wrench=None, motors=None):
        """One more point: poses of all links at an equilibrium under a wrench, with motors at these offsets."""
        poses, first = self.mechanism._all(poses), self[0]._c
        wrench = pointer(None if wrench is None else floats(wrench, 6 * first.end_effector_count))
        if motors is None:
            call(lib.bough_mechanism_blend_add, self._c, poses, wrench)
        else:
            call(lib.bough_mechanism_blend_add_driven, self._c, poses, pointer(floats(motors, first.motor_count)), wrench)

    def state(self):
        """A state at the first point."""
        return BlendState(self)


class BlendState(Alone, _Arrays):
    """effectors (n x 12), phi, wrench, motors, weights: windows. step(dt), settle()."""

    def __init__(self, blend):
        self.blend = blend
        self._own(fetch(lib.bough_blend_state_create, blend._c), lib.bough_blend_state_destroy, [blend])

    def _shapes(self):
        c = self.blend[0]._c
        n = 6 * c.end_effector_count
        return {"effectors": (c.end_effector_count, 12), "phi": (n,), "wrench": (n,), "motors": (c.motor_count,),
                "carried": (n,), "poses": (c.link_count, 12)}

    weights = property(lambda self: window(self._block, self._c.weights, (len(self.blend),)), doc="Of the points, sum 1.")

    time = property(lambda self: self._c.time, doc="s.")
    gravity = property(lambda self: window(self._block, ffi.cast("double *", self._c.gravity), (3,), True), doc="m/s^2, a window.")

    def __repr__(self):
        return "<bough.BlendState, closed>" if self.closed else f"<bough.BlendState at {self.time:.6g} s>"

    def step(self, dt):
        """A step of backward Euler."""
        self._call_alone(lib.bough_blend_state_step, self.blend._c, self._c, dt)

    def settle(self):
        """Goes to the equilibrium."""
        self._call_alone(lib.bough_blend_state_settle, self.blend._c, self._c)

    def weigh(self):
        """Weights where the end effectors are; returns the wrench that holds them there."""
        holding = np.empty(6 * self.blend[0]._c.end_effector_count)
        self._call_alone(lib.bough_blend_state_weigh, self.blend._c, self._c, pointer(holding))
        return holding

    def place(self):
        """Where all links are: n x 4 x 4."""
        self._alone(lib.bough_blend_state_place, self.blend._c, self._c)
        return matrices(self.poses)

    @property
    def energies(self):
        """kinetic, elastic, gravity."""
        energies = ffi.new("bough_mechanism_energies *")
        self._call_alone(lib.bough_blend_state_energies, self.blend._c, self._c, energies)
        return record(energies)

    def actor(self, touches):
        """For a contact world."""
        return _actor(lib.bough_blend_actor_create, (self.blend._c, self._c), touches, [self, self.blend])


class Urdf(Handle):
    """A robot of a URDF file: `mechanism`, `links`, `shapes`, `dynamics`."""

    def __init__(self, name, **settings):
        self._own(fetch(lib.bough_mechanism_load_urdf, path(name), definition("bough_urdf_def", settings)),
                  lib.bough_urdf_destroy)
        c = self._c
        self.name, self.dynamics = text(c.name), text(c.dynamics)
        self.mechanism = Mechanism._of(c.mechanism, self)
        self.links = [record(ffi.addressof(c.frames, i)) for i in range(c.frame_count)]
        self.end_effectors = [c.end_effectors[i] for i in range(lib.bough_mechanism_describe(c.mechanism).end_effector_count)]
        self.shapes = [record(ffi.addressof(c.shapes, i)) for i in range(c.shape_count)]

    def find(self, link):
        """The number of a <link>; -1: there is none of that name."""
        return lib.bough_urdf_find(self._c, chars(link))

    def __repr__(self):
        return "<bough.Urdf, closed>" if self.closed else f"<bough.Urdf {self.name!r}: {self.mechanism!r}>"
