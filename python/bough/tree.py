"""Trees of parts: models, states, recordings, by hand or from scenes."""

import numpy as np

from ._core import Alone, Handle, _Arrays, call, context, copied, fetch, ffi, lib, of, window, wrong
from ._values import (Keep, changed, chars, definition, enum, existing, fill, floats, mapping, octets, output, path, pointer, pose, record,
                      structs, vector, whole, word)
from .component import Component
from .rig import meshes_in


def wind_at(wind, time, position):
    """The velocity of the air at a place; wind: {"velocity": ..., "gust": ..., "seed": ...}."""
    velocity = np.empty(3)
    lib.bough_wind_at(definition("bough_wind", wind), time, vector(position), pointer(velocity))
    return velocity


def stress_levels(stresses, largest):
    """Stresses as a byte each: 255 is `largest` or more."""
    stresses = floats(stresses, kind="<f4")
    levels = np.empty(stresses.shape, np.uint8)
    lib.bough_stress_levels(stresses.size, pointer(stresses, "float"), largest, pointer(levels, "uint8_t"))
    return levels


class TreeModel(Handle):
    """A constant description of parts that hang on each other. Any number of threads may use it.

        bough.TreeModel([twig, leaf], [{"component": 0, "name": "twig"}, {"component": 1, "parent": 0}], gravity=[0, 0, -9.81])
        bough.TreeModel.load("oak.pack")        bough.Scene("oak.json").model()

    An entry of parts: name, component, parent, interface_index, rotation, position, scale, stiffness, damping_ratio,
    joint, free, locked, absent, track, ...; of ties: the keys of bough_joint_def.
    """

    def __init__(self, components, parts, ties=(), wind=None, **settings):
        keep = []
        d = definition("bough_tree_model_def", {**settings, "wind": wind}, keep)
        array = ffi.new("bough_component *[]", [of(Component, c) for c in components])
        d.components, d.component_count = ffi.cast("const bough_component *const *", array), len(components)
        d.parts, d.part_count = structs("bough_part_def", [_part(p) for p in parts], keep), len(parts)
        if ties:
            d.ties, d.tie_count = structs("bough_joint_def", list(ties), keep), len(ties)
        self.components = list(components)
        self._own(fetch(lib.bough_tree_model_create, d), lib.bough_tree_model_destroy, components)

    @classmethod
    def _of(cls, model, owner=None):
        """Of a scene (owned), or of a run (which owns it)."""
        from .scene import Scene

        self = cls.__new__(cls)
        owned = owner is None or isinstance(owner, Scene)
        self._own(model, lib.bough_tree_model_destroy if owned else None, [owner])
        self.components = self._components()
        return self

    def _components(self):
        d = lib.bough_tree_model_describe(self._c)
        return [Component._of(ffi.cast("bough_component *", d.components[i]), self) for i in range(d.component_count)]

    @classmethod
    def load(cls, name):
        """Reads a pack."""
        return cls._of(fetch(lib.bough_tree_model_load, path(name)))

    @classmethod
    def read(cls, data):
        """The same from bytes."""
        return cls._of(fetch(lib.bough_tree_model_read, *octets(data)))

    def save(self, name):
        """Writes a pack: the model with its components in one file."""
        call(lib.bough_tree_model_save, self._c, path(name))

    def __len__(self):
        return lib.bough_tree_model_part_count(self._c)

    def __repr__(self):
        return "<bough.TreeModel, closed>" if self.closed else f"<bough.TreeModel: {len(self)} parts, {self.size} coordinates>"

    size = property(lambda self: lib.bough_tree_model_size(self._c), doc="Coordinates of all parts and joints.")

    @property
    def parts(self):
        """The parts as they were described."""
        d = lib.bough_tree_model_describe(self._c)
        return [record(ffi.addressof(d.parts, i)) for i in range(d.part_count)]

    def find(self, part):
        """The number of a part, by its name."""
        if not isinstance(part, str):
            return existing(part, len(self), "part")
        number = lib.bough_tree_model_find_part(self._c, chars(part))
        if number < 0:
            raise wrong(f'there is no part "{part}"')
        return number

    def coordinates(self, part):
        """Where the coordinates of a part are in q, v and a: a slice."""
        part = self.find(part)
        first = lib.bough_tree_model_offset(self._c, part)
        d = lib.bough_tree_model_describe(self._c)
        return slice(first, first + d.components[d.parts[part].component].r)

    def joint(self, part):
        """Where the coordinates of its joint begin; None: it is welded."""
        first = lib.bough_tree_model_joint_offset(self._c, self.find(part))
        return None if first < 0 else first

    @property
    def vertex_count(self):
        """Of the surfaces of all parts."""
        return lib.bough_tree_model_vertex_count(self._c)

    def vertices(self, part):
        """Where a part's vertices lie in the whole surface: a slice."""
        part = self.find(part)
        first = lib.bough_tree_model_first_vertex(self._c, part)
        d = lib.bough_tree_model_describe(self._c)
        return slice(first, first + d.components[d.parts[part].component].surface.vertex_count)

    @property
    def triangles(self):
        """Of the whole surface."""
        triangles = np.empty((lib.bough_tree_model_triangle_count(self._c), 3), np.int32)
        lib.bough_tree_model_triangles(self._c, pointer(triangles, "int32_t"))
        return triangles

    @property
    def seams(self):
        """Vertices that lie on a vertex of another part: numbers of the whole surface, and their parts."""
        seams = ffi.new("bough_seams *")
        lib.bough_tree_model_seams(self._c, seams)
        return (copied(ffi.cast("int32_t *", seams.copy_vertex), (seams.copy_count,)),
                copied(ffi.cast("int32_t *", seams.copy_part), (seams.copy_count,)))

    def state(self):
        """A new state: at rest, joints at their start."""
        return TreeState(self)


def _part(part):
    part = dict(mapping(part, "bough_part_def"))
    if isinstance(part.get("joint"), dict):
        part["joint"] = {"kind": "hinge", **part["joint"]}
    return part


class TreeState(Alone, _Arrays):
    """All that changes of a tree. q, v, a (coordinates, velocities, accelerations), stiffness, damping_mass, damping_stiffness
    (of the parts) and tie_strength (of the ties; 0: it is cut) are arrays that look into it. Call update() after q, v or
    roots were written.

        state.gravity = [0, 0, -9.81]; state.settle(); state.step(1 / 240); state.surface()
    """

    def __init__(self, model):
        self.model, self.writable, self._log = model, True, None
        self._own(fetch(lib.bough_tree_state_create, model._c), lib.bough_tree_state_destroy, [model])

    @classmethod
    def _inside(cls, state, model, run, writable):
        self = cls.__new__(cls)
        self.model, self.writable, self._log = model, writable, None
        self._own(state, None, [run])
        self._users = run._users
        return self

    def __repr__(self):
        return "<bough.TreeState, closed>" if self.closed else f"<bough.TreeState at {self.time:.6g} s of {self.model!r}>"

    def _shapes(self):
        size, parts = self.model.size, len(self.model)
        return {"q": (size,), "v": (size,), "a": (size,), "stiffness": (parts,), "damping_mass": (parts,), "damping_stiffness": (parts,),
                "tie_strength": (lib.bough_tree_model_describe(self.model._c).tie_count,)}

    def _call(self, function, *arguments):
        self._call_alone(function, self.model._c, self._c, *arguments)

    time = property(lambda self: self._c.time, lambda self, t: setattr(self._c, "time", t), doc="s.")
    @property
    def gravity(self):
        """m/s^2, an array that looks into the state."""
        return window(self._block, ffi.cast("double *", self._c.gravity), (3,), self.writable)

    @gravity.setter
    def gravity(self, value):
        self.gravity[:] = floats(value, 3)

    @property
    def coupling(self):
        """ "L1", "L2", "L2R" or "L3"."""
        return word("bough_coupling", self._c.coupling).upper()

    @coupling.setter
    def coupling(self, name):
        self._c.coupling = enum("bough_coupling", name)

    @property
    def continuity(self):
        """How surfaces are joined: "C0", "C1", "none"."""
        return word("bough_continuity", self._c.continuity)

    @continuity.setter
    def continuity(self, name):
        self._c.continuity = enum("bough_continuity", name)

    @property
    def wind(self):
        """The air that flows past."""
        return record(ffi.addressof(self._c, "wind"))

    def set_wind(self, **settings):
        """Wind: velocity, gust, length, density, drag, seed."""
        self._c.wind = lib.bough_default_wind()
        fill(ffi.addressof(self._c, "wind"), settings, [])

    @property
    def frames(self):
        """Numbers of the parts' frames: part x 18 (position, rotation by rows, velocity, angular velocity), a window."""
        return window(self._block, ffi.cast("double *", self._c.frames), (len(self.model), 18), False)

    def frame(self, part):
        """Where a part is: a 4 x 4 matrix."""
        return pose(self._c.frames[self.model.find(part)].pose)

    @property
    def roots(self):
        """Roots that fly."""
        return [record(ffi.addressof(self._c.roots, i)) for i in range(self._c.root_count)]

    def set_root(self, number, **values):
        """Sets pose, velocity and angular_velocity of a root that flies."""
        fill(ffi.addressof(self._c.roots, existing(number, self._c.root_count, "root that flies")), values, [])
        self.update()

    @property
    def parts(self):
        """The parts as they hang now."""
        parts = lib.bough_tree_state_parts(self.model._c, self._c)
        return [record(ffi.addressof(parts, i)) for i in range(len(self.model))]

    # ---- motion ----

    def update(self):
        """Makes frames and momenta those of q, v and roots that were written."""
        self._call(lib.bough_tree_state_update)

    def step(self, dt):
        """One step; when it fails the state is what it was."""
        self._call(lib.bough_tree_step, dt)

    def advance(self, dt):
        """dt of time, in parts where it must be; returns how many steps were refused."""
        refused = ffi.new("int32_t *")
        self._call(lib.bough_tree_advance, dt, refused)
        return refused[0]

    def settle(self, push=None, **settings):
        """Equilibrium under gravity and forces; returns what was left of them. push(state) adds forces at each q that is
        tried. settings: tolerance, max_iterations."""
        d = definition("bough_tree_settle_def", settings)
        handle = ffi.new_handle(lambda: push(self))
        if push is not None:
            d.push, d.data = lib.bough_py_tree, handle
        residual = ffi.new("double *")
        self._call(lib.bough_tree_state_settle, d, residual)
        return residual[0]

    def use_integrator(self, name=None, **settings):
        """Steps by another method; None: the tree's own."""
        d = ffi.NULL if name is None else definition("bough_integrator_def", {"name": name, **settings})
        self._call(lib.bough_tree_state_use_integrator, d)

    def modes(self, count):
        """Modes about the state: frequencies_hz, shapes (count x size), unstable_count."""
        return TreeModes(fetch(lib.bough_tree_state_modes, self.model._c, self._c, count))

    # ---- changes ----

    def change(self, *changes):
        """Changes where parts hang: {"kind": "detach", "part": "leaf"}, ... All of them or none."""
        changes = [{**changed(c), "part": self.model.find(c["part"])} for c in changes]
        self._call(lib.bough_tree_state_change, len(changes), structs("bough_change", changes))

    def cut(self, part):
        """Cuts a part off."""
        self._call(lib.bough_tree_state_detach, self.model.find(part))

    def attach(self, part, parent, interface_index=0):
        """Hangs a part, as it lies, onto an interface of another (parent -1: it is held)."""
        self._call(lib.bough_tree_state_attach, self.model.find(part), -1 if parent == -1 else self.model.find(parent), interface_index)

    def lock(self, part, locked=True):
        """Makes a part keep its shape, or bend again."""
        self._call(lib.bough_tree_state_lock, self.model.find(part), locked)

    def set_stiffness(self, factor, part=None, component=None):
        """The factor on frequencies of a part, or of all parts of a component."""
        if part is not None:
            self._call(lib.bough_tree_state_set_stiffness, self.model.find(part), factor)
        else:
            self._call(lib.bough_tree_state_set_component_stiffness, whole(component, "part or component"), factor)

    def set_damping_ratio(self, ratio, part=None, component=None):
        """The damping ratio of a part, or of all parts of a component."""
        if part is not None:
            self._call(lib.bough_tree_state_set_damping_ratio, self.model.find(part), ratio)
        else:
            self._call(lib.bough_tree_state_set_component_damping_ratio, whole(component, "part or component"), ratio)

    @property
    def lowest_frequencies(self):
        """Hz, of each part with what hangs on it."""
        hz = np.empty(len(self.model))
        self._call(lib.bough_tree_state_lowest_frequencies, pointer(hz))
        return hz

    # ---- forces in the next step ----

    def add_force(self, part, vertex, force):
        """A force (N) on a vertex of a part's surface."""
        self._call(lib.bough_tree_state_add_force, self.model.find(part), whole(vertex, "vertex"), vector(force))

    def add_surface_forces(self, part, forces):
        """Forces on all vertices of a part's surface, n x 3."""
        part = self.model.find(part)
        span = self.model.vertices(part)
        forces = floats(forces, span.stop - span.start, 3, kind="<f4")
        self._call(lib.bough_tree_state_add_surface_forces, part, pointer(forces, "float"))

    def add_wrench(self, part, force, torque):
        """A force and a torque about the origin of a part's frame."""
        self._call(lib.bough_tree_state_add_wrench, self.model.find(part), vector(force), vector(torque))

    def add_joint_torque(self, part, torque):
        """The torque of a motor in the joint of a part: of a hinge a number."""
        torque = [torque, 0, 0] if np.ndim(torque) == 0 else torque
        self._call(lib.bough_tree_state_add_joint_torque, self.model.find(part), vector(torque))

    def pull(self, part, vertex, target, stiffness, damping=0):
        """A damped spring from a vertex to a place."""
        self._call(lib.bough_tree_state_pull, self.model.find(part), whole(vertex, "vertex"), vector(target), stiffness, damping)

    def clear_forces(self):
        """Takes all forces off."""
        self._alone(lib.bough_tree_state_clear_forces, self.model._c, self._c)

    def touch(self, obstacles=None, solids=(), between=None, **settings):
        """Lets parts touch obstacles ({"pose", "shapes", "friction"}) and solids; without obstacles nothing."""
        if obstacles is None:
            self._call(lib.bough_tree_state_touch, ffi.NULL)
            return
        keep = Keep(components=len(self.model.components))
        d = definition("bough_tree_touch_def", {**settings, "obstacles": list(obstacles), "solids": list(solids), "between": between}, keep)
        self._call(lib.bough_tree_state_touch, d)
        self._block.hold(mesh._block for mesh in meshes_in(keep))

    @property
    def contacts(self):
        """Contacts of the last step."""
        count = lib.bough_tree_state_contacts(self._c, 0, ffi.NULL)
        array = ffi.new("bough_run_contact[]", max(1, count))
        count = lib.bough_tree_state_contacts(self._c, count, array)
        return [record(ffi.addressof(array, i)) for i in range(count)]

    # ---- looking ----

    def positions(self, part, out=None):
        """Vertices of a part's surface (float32), into `out` where it is given."""
        part = self.model.find(part)
        span = self.model.vertices(part)
        out = output(out, (span.stop - span.start, 3), "<f4")
        self._call(lib.bough_tree_state_positions, part, pointer(out, "float"))
        return out

    def surface(self, out=None, normals=None):
        """Vertices of all parts as one surface, joined as the continuity says; normals: an array for those, too."""
        out = output(out, (self.model.vertex_count, 3), "<f4")
        if normals is not None:
            normals = output(normals, (self.model.vertex_count, 3), "<f4")
        self._call(lib.bough_tree_state_surface, pointer(out, "float"), pointer(normals, "float"))
        return out

    def vertex(self, part, vertex):
        """Position and velocity of a vertex."""
        position, velocity = np.empty(3), np.empty(3)
        self._call(lib.bough_tree_state_vertex, self.model.find(part), vertex, pointer(position), pointer(velocity))
        return position, velocity

    @property
    def gap(self):
        """The largest gap where surfaces of parts meet."""
        gap = ffi.new("bough_tree_gap *")
        self._call(lib.bough_tree_state_gap, gap)
        return record(gap)

    def stress(self, part, point):
        """Stress at a stress point of a part: cauchy, von_mises, principal, directions."""
        stress = ffi.new("bough_stress *")
        self._call(lib.bough_tree_state_stress, self.model.find(part), point, stress)
        return record(stress)

    @property
    def peak_stresses(self):
        """Largest von Mises' stress of each part."""
        stresses = np.empty(len(self.model))
        self._alone(lib.bough_tree_state_peak_stresses, context().pointer, self.model._c, self._c, pointer(stresses))
        return stresses

    def surface_stress(self, part=None):
        """Von Mises' stress at the vertices of the whole surface, or of one part's."""
        if part is None:
            stresses = np.empty(self.model.vertex_count, "<f4")
            self._alone(lib.bough_tree_state_surface_stress, context().pointer, self.model._c, self._c, pointer(stresses, "float"))
            return stresses
        span = self.model.vertices(part)
        stresses = np.empty(span.stop - span.start, "<f4")
        self._call(lib.bough_tree_state_part_surface_stress, self.model.find(part), pointer(stresses, "float"))
        return stresses

    @property
    def energies(self):
        """elastic, kinetic, gravity, momentum, angular_momentum."""
        energies = ffi.new("bough_tree_energies *")
        self._call(lib.bough_tree_state_energies, energies)
        return record(energies)

    @property
    def work(self):
        """Work done since the state was made (J), and by how much that may be off."""
        doubt = ffi.new("double *")
        return lib.bough_tree_state_work(self.model._c, self._c, doubt), doubt[0]

    # ---- snapshots and recordings ----

    def save(self):
        """Bytes from which the state goes on with the same bits."""
        data = bytearray(lib.bough_tree_state_snapshot_size(self.model._c, self._c))
        self._alone(lib.bough_tree_state_save, self.model._c, self._c, ffi.from_buffer(data))
        return bytes(data)

    def restore(self, data):
        """Goes back to saved bytes."""
        self._call(lib.bough_tree_state_restore, *octets(data))

    def record(self):
        """Begins a recording of all that is done to the state; stop() of it completes it."""
        return TreeLog._started(self)


class TreeLog(Handle):
    """A recording of all that is done to a state, to be done again with the same bits."""

    @classmethod
    def _of(cls, log):
        self = cls.__new__(cls)
        self._state = None
        self._own(log, lib.bough_tree_log_destroy)
        return self

    @classmethod
    def _started(cls, state):
        self = cls.__new__(cls)
        self._state = state
        self._own(fetch(lib.bough_tree_log_start, state.model._c, state._c), lib.bough_tree_log_destroy, [state])
        return self

    @classmethod
    def load(cls, name):
        """Reads a recording."""
        return cls._of(fetch(lib.bough_tree_log_load, path(name)))

    @classmethod
    def read(cls, data):
        """The same from bytes."""
        return cls._of(fetch(lib.bough_tree_log_read, *octets(data)))

    @property
    def info(self):
        """steps, start_time, end_time, size, complete."""
        return record(ffi.new("bough_tree_log_info *", lib.bough_tree_log_describe(self._c)))

    def __repr__(self):
        if self.closed:
            return "<bough.TreeLog, closed>"
        i = self.info
        return f"<bough.TreeLog: {i.steps} steps, {i.start_time:.6g} to {i.end_time:.6g} s, {i.size} bytes>"

    def stop(self):
        """Completes the recording."""
        call(lib.bough_tree_log_stop, self._state.model._c, self._c)
        return self

    def save(self, name):
        """Writes it; one that goes on as if it ended here."""
        if self.info.complete:
            call(lib.bough_tree_log_save, self._c, path(name))
        else:
            call(lib.bough_tree_log_flush, self._state.model._c, self._c, path(name))

    def replay(self, state, watch=None):
        """Does all of it again with a state of the same model; returns whether it ended with the same bits. watch(state)
        is called after each step; returning False ends it."""
        same = ffi.new("bool *")
        handle = ffi.new_handle(lambda: watch(state))
        call(lib.bough_tree_log_replay, state.model._c, state._c, self._c, lib.bough_py_tree if watch else ffi.NULL, handle, same)
        return bool(same[0])


class TreeModes(Handle):
    """Modes of a tree: squares, frequencies_hz, shapes, unstable_count."""

    def __init__(self, c):
        self._own(c, lib.bough_tree_modes_destroy)
        self.squares, self.frequencies_hz = (window(self._block, getattr(c, n), (c.count,)) for n in ("squares", "frequencies_hz"))
        self.shapes, self.unstable_count = window(self._block, c.shapes, (c.count, c.size)), c.unstable_count

    def __repr__(self):
        return f"<bough.TreeModes: {', '.join(f'{f:.4g}' for f in self.frequencies_hz[:6])} Hz>"
