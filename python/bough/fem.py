"""The full-order body: materials, load cases, statics, modes, contact and motion."""

import numpy as np

from ._core import Alone, Cancelled, Handle, NoConvergence, _Arrays, call, fetch, ffi, lib, of, optional, text, window, wrong
from ._values import (chars, default, definition, displacements, fill, floats, ints, mapping, path, pointer, record,
                      vector, whole)
from .mesh import Mesh
from .rig import meshes_in

MODELS = "bough_material_model"


class Material:
    """An elastic material: model ("stvk", "neo-hookean", ...), young (Pa), poisson, density (kg/m^3), mooney_ratio."""

    def __init__(self, model=None, **constants):
        self._c = default("bough_material")
        if model is not None:
            self._c.model = find_model(model)
        fill(self._c, constants, [])
        call(lib.bough_material_check, self._c)

    model = property(lambda self: text(lib.bough_material_name(self._c.model)), doc="Its name in files.")
    about = property(lambda self: text(lib.bough_material_about(self._c.model)), doc="One line about the model.")
    young = property(lambda self: self._c.young, doc="Young's modulus, Pa.")
    poisson = property(lambda self: self._c.poisson, doc="Poisson's ratio.")
    density = property(lambda self: self._c.density, doc="kg/m^3.")

    def __reduce_ex__(self, protocol):
        return _material, (record(self._c).asdict(),)

    def __repr__(self):
        return f"bough.Material({self.model!r}, young={self.young:g}, poisson={self.poisson:g}, density={self.density:g})"


def _material(constants):
    """The material that was pickled or copied."""
    return Material(**constants)


def find_model(name):
    """The number of a material model."""
    model = ffi.new(MODELS + " *")
    call(lib.bough_material_find, chars(name), model)
    return model[0]


def material_models():
    """All models there are: {name: one line about it}."""
    return {text(lib.bough_material_name(i)): text(lib.bough_material_about(i))
            for i in range(lib.BOUGH_MATERIAL_MODEL_COUNT)}


def von_mises(stress):
    """The uniaxial tension that is as severe as a stress (xx yy zz yz xz xy); rows of them give an array."""
    rows = floats(stress, -1, 6)
    values = np.array([lib.bough_von_mises(pointer(row)) for row in rows])
    return values if np.ndim(stress) == 2 else float(values[0])


def principal_stresses(stress):
    """Principal stresses, the largest tension first, and the directions (rows) along which they act."""
    values, directions = np.empty(3), np.empty((3, 3))
    lib.bough_principal_stresses(pointer(floats(stress, 6)), pointer(values), pointer(directions))
    return values, directions


class Body(Handle):
    """A mesh with materials: the ground truth. `damping_mass`, `damping_stiffness`: Rayleigh; `mass`: "consistent",
    "reduced" or "lumped"; regions: [(element set, Material)]."""

    def __init__(self, mesh, material=None, regions=(), **settings):
        keep = []
        if material is not None:
            if not isinstance(material, Material):
                material = Material(material) if isinstance(material, str) else Material(**mapping(material, "bough.Material"))
            settings["material"] = material._c[0]
        if regions:
            settings["regions"] = [{"set": name, "material": of(Material, m)[0]} for name, m in regions]
        self._take(fetch(lib.bough_body_create, of(Mesh, mesh), definition("bough_body_def", settings, keep)))

    def _take(self, body, owner=None):
        self._own(body, None if owner else lib.bough_body_destroy, [owner])

    @classmethod
    def _of(cls, body, owner=None):
        self = cls.__new__(cls)
        self._take(body, owner)
        return self

    @property
    def mesh(self):
        """The body's own copy of the mesh."""
        return Mesh._inside(ffi.cast("bough_mesh *", lib.bough_body_mesh(self._c)), self)

    def __repr__(self):
        return "<bough.Body, closed>" if self.closed else f"<bough.Body of {self.mesh!r}>"

    def load_case(self):
        """A new load case, in which nothing is held and nothing acts."""
        return LoadCase(self)

    def _u(self, u):
        return None if u is None else displacements(u, lib.bough_body_mesh(self._c).vertex_count)

    def measure(self):
        """Mass, centre, inertia, and the speed of sound."""
        properties = ffi.new("bough_body_properties *")
        call(lib.bough_body_measure, self._c, properties)
        return record(properties)

    def evaluate(self, u=None, tangent=False, project=False):
        """Elastic energy and force at displacement u; with tangent also d2E/du2, a scipy.sparse matrix."""
        u = self._u(u)
        energy, force = ffi.new("double *"), np.empty((lib.bough_body_mesh(self._c).vertex_count, 3))
        matrix = Sparse(self) if tangent else None
        call(lib.bough_body_evaluate, self._c, pointer(u), project, energy, pointer(force), matrix._c if tangent else ffi.NULL)
        return (energy[0], force, matrix.symmetric()) if tangent else (energy[0], force)

    def mass_matrix(self):
        """The mass matrix, a scipy.sparse matrix."""
        matrix = Sparse(self)
        call(lib.bough_body_mass_matrix, self._c, matrix._c)
        return matrix.symmetric()

    def damping_matrix(self, u=None):
        """Rayleigh's damping matrix."""
        matrix = Sparse(self)
        call(lib.bough_body_damping_matrix, self._c, pointer(self._u(u)), matrix._c)
        return matrix.symmetric()

    def stress(self, u):
        """Cauchy stress of each element (rows xx yy zz yz xz xy), and von Mises'."""
        count = lib.bough_body_mesh(self._c).element_count
        stress, mises = np.empty((count, 6)), np.empty(count)
        call(lib.bough_body_stress, self._c, pointer(self._u(u)), pointer(stress), pointer(mises))
        return stress, mises

    def static(self, load_case, u=None, on_step=None, **settings):
        """Equilibrium: displacements (n x 3) and a report. on_step(load_fraction, u): False ends it. What does not
        converge raises NoConvergence, with the last `u` and `report` on the exception."""
        count = lib.bough_body_mesh(self._c).vertex_count
        u = np.zeros(3 * count) if u is None else self._u(u).copy()
        definition_ = definition("bough_static_def", settings)
        handle = ffi.new_handle((on_step, 3 * count))
        if on_step is not None:
            definition_.on_step, definition_.on_step_user = lib.bough_py_on_step, handle
        result = ffi.new("bough_static_result *")
        try:
            call(lib.bough_body_static, self._c, optional(LoadCase, load_case), definition_, pointer(u), result)
        except (NoConvergence, Cancelled) as error:
            error.u, error.report = u.reshape(-1, 3), record(result)
            raise
        return u.reshape(-1, 3), record(result)

    def state(self, load_case=None, touch=None, u=None, v=None, integrator=None, **settings):
        """The body in motion, from displacements u and velocities v on; touch: a BodyTouch; integrator: the name of a method
        (settings: of bough.integrators())."""
        return BodyState(self, load_case, touch, u, v, integrator, **settings)

    def modes(self, count, load_case=None, u=None):
        """The lowest modes of small vibrations about u."""
        return Modes(fetch(lib.bough_body_modes, self._c, optional(LoadCase, load_case), whole(count, "count of modes"), pointer(self._u(u))))


def load_body(name):
    """The body and the load case of a body file."""
    body, load_case = ffi.new("bough_body **"), ffi.new("bough_load_case **")
    call(lib.bough_body_load, path(name), body, load_case)
    body = Body._of(body[0])
    return body, LoadCase._of(load_case[0], body)


class LoadCase(Handle):
    """How a body is held and what acts on it. Vertices are numbers, or an expression such as "x0" or "z<0.01"."""

    def __init__(self, body):
        self._take(fetch(lib.bough_load_case_create, body._c), body)

    def _take(self, load_case, body, owner=None):
        self.body = body
        self._own(load_case, None if owner else lib.bough_load_case_destroy, [owner or body])

    @classmethod
    def _of(cls, load_case, body, owner=None):
        self = cls.__new__(cls)
        self._take(load_case, body, owner)
        return self

    def __repr__(self):
        assert self.closed or lib.bough_load_case_body(self._c) == self.body._c
        return f"<bough.LoadCase of {self.body!r}>"

    def _vertices(self, vertices):
        return ints(self.body.mesh.select(vertices) if isinstance(vertices, str) else vertices, -1)

    def fix(self, vertices, axes="xyz", displacement=None):
        """Holds axes of vertices at rest, or at a displacement."""
        vertices = self._vertices(vertices)
        if not set(axes) <= set("xyz"):
            raise wrong(f'axes are some of "xyz", not "{axes}"')
        bits = sum(1 << "xyz".index(axis) for axis in set(axes))
        call(lib.bough_load_case_fix, self._c, pointer(vertices, "int32_t"), len(vertices), bits,
             ffi.NULL if displacement is None else vector(displacement))
        return self

    def gravity(self, gravity=(0, 0, -9.81)):
        """Sets gravity, m/s^2."""
        call(lib.bough_load_case_set_gravity, self._c, vector(gravity))
        return self

    def force(self, vertices, force):
        """Shares a force (N) out over vertices."""
        vertices = self._vertices(vertices)
        call(lib.bough_load_case_add_force, self._c, pointer(vertices, "int32_t"), len(vertices), vector(force))
        return self

    def pressure(self, faces, pressure):
        """Pressure (Pa) on faces: numbers, or the name of a face set."""
        if isinstance(faces, str):
            faces = self.body.mesh.sets["face"].get(faces, [])
        faces = ints(faces, -1)
        call(lib.bough_load_case_add_pressure, self._c, pointer(faces, "int32_t"), len(faces), pressure)
        return self

    def forces(self, u=None):
        """The external forces at displacement u, n x 3."""
        force = np.empty((lib.bough_body_mesh(self.body._c).vertex_count, 3))
        lib.bough_load_case_forces(self._c, pointer(self.body._u(u)), pointer(force))
        return force


class BodyTouch(Handle):
    """What bodies touch: obstacles ({"shapes": [{"kind": "plane"}], "pose", "friction", "name"}), and themselves (itself=True).
    lead: a function (obstacle, time) -> pose, or None for one that stays; any thread may call it. Further: friction,
    distance, slip_speed, stiffness, spacing. It is constant: states of any bodies may share one."""

    def __init__(self, obstacles=(), lead=None, **settings):
        keep = []
        d = definition("bough_body_touch_def", {**settings, "obstacles": list(obstacles)}, keep)
        self._count, self._lead = len(obstacles), None if lead is None else ffi.new_handle(lead)
        if lead is not None:
            d.lead, d.lead_data = lib.bough_py_lead, self._lead
        self._own(fetch(lib.bough_body_touch_create, d), lib.bough_body_touch_destroy, meshes_in(keep))

    def __repr__(self):
        return "<bough.BodyTouch, closed>" if self.closed else f"<bough.BodyTouch: {self._count} obstacles>"


class BodyState(Alone, _Arrays):
    """A body in motion: u and v (n x 3, windows; call restart() after they were written), time, iterations.

        state = body.state(body.load_case().gravity(), bough.BodyTouch([{"shapes": [{"kind": "plane"}]}]))
        state.advance(1 / 60); state.contacts
    """

    def __init__(self, body, load_case=None, touch=None, u=None, v=None, integrator=None, **settings):
        self.body, self._touch = body, touch
        d, keep = ffi.new("bough_body_state_def *", lib.bough_default_body_state_def()), [body._u(u), body._u(v)]
        d.load_case = optional(LoadCase, load_case)
        d.touch = optional(BodyTouch, touch)
        d.u, d.v = map(pointer, keep)
        method = definition("bough_integrator_def", {**settings, **({} if integrator is None else {"name": integrator})})
        d.integrator = method[0]
        self._own(fetch(lib.bough_body_state_create, body._c, d), lib.bough_body_state_destroy, [body, load_case, touch])

    def _shapes(self):
        shape = (lib.bough_body_mesh(self.body._c).vertex_count, 3)
        return {"u": shape, "v": shape}

    time = property(lambda self: self._c.time, lambda self, t: setattr(self._c, "time", t), doc="s.")
    iterations = property(lambda self: self._c.iterations, doc="Of Newton's method in the last step.")

    def __repr__(self):
        return "<bough.BodyState, closed>" if self.closed else f"<bough.BodyState at {self.time:.6g} s of {self.body!r}>"

    def restart(self):
        """Forgets the steps before; call it after u, v or time were written."""
        self._call_alone(lib.bough_body_state_restart, self._c)

    def step(self, dt):
        """One step; when it fails nothing has moved, and a shorter one may do."""
        self._call_alone(lib.bough_body_state_step, self._c, dt)

    def advance(self, dt):
        """dt of time in one step or, where that fails, in parts of it; returns how many."""
        steps = ffi.new("int32_t *")
        self._call_alone(lib.bough_body_state_advance, self._c, dt, steps)
        return steps[0]

    def settle(self):
        """Goes to the equilibrium, and is at rest there."""
        self._call_alone(lib.bough_body_state_settle, self._c)

    def push(self, force=None):
        """Forces (n x 3, N) that act from now on; None: none."""
        self._call_alone(lib.bough_body_state_push, self._c, pointer(self.body._u(force)))

    @property
    def contacts(self):
        """What touches now: sides (kind, index, actor), position, normal, gap, force (along the normal the push, across it
        friction)."""
        count = lib.bough_body_state_contacts(self._c, 0, ffi.NULL)
        array = ffi.new("bough_contact[]", max(1, count))
        found = []
        for i in range(min(count, lib.bough_body_state_contacts(self._c, count, array))):
            contact = record(ffi.addressof(array, i))
            contact.sides = [record(ffi.addressof(array[i].sides, s)) for s in (0, 1)]
            found.append(contact)
        return found

    @property
    def energies(self):
        """elastic, kinetic, external, contact, work, momentum, angular_momentum, gap."""
        energies = ffi.new("bough_body_energies *")
        self._call_alone(lib.bough_body_state_measure, self._c, energies)
        return record(energies)


class Sparse(Handle):
    """The lower triangle of a symmetric matrix, with the pattern of a body."""

    def __init__(self, body):
        self._own(fetch(lib.bough_body_matrix_create, body._c), lib.bough_sparse_destroy, [body])

    def symmetric(self):
        """Both triangles, as a scipy.sparse matrix of its own."""
        from scipy.sparse import csc_matrix, tril

        n, entries = self._c.size, self._c.column_start[self._c.size]
        lower = csc_matrix((window(self._block, self._c.values, (entries,)).copy(), window(self._block, self._c.rows, (entries,)).copy(),
                            window(self._block, self._c.column_start, (n + 1,)).copy()), (n, n))
        return (lower + tril(lower, -1).T).tocsc()


class Modes(Handle):
    """Modes of a body: frequencies_hz, eigenvalues, shapes (count x n x 3, mass-orthonormal), damping, participation,
    effective_mass, total_mass, rigid_count."""

    def __init__(self, c):
        self._own(c, lib.bough_modes_destroy)
        n, v = c.count, c.vertex_count
        for name, shape in {"frequencies_hz": (n,), "eigenvalues": (n,), "shapes": (n, v, 3), "damping": (n,),
                            "participation": (n, 6), "effective_mass": (n, 6)}.items():
            setattr(self, name, window(self._block, getattr(c, name), shape))
        self.total_mass = np.array(list(c.total_mass))
        self.rigid_count = c.rigid_count

    def __len__(self):
        return len(self.frequencies_hz)

    def __repr__(self):
        return f"<bough.Modes: {len(self)}, {', '.join(f'{f:.4g}' for f in self.frequencies_hz[:6])} Hz>"
