"""Components: bodies reduced to a few coordinates, and how they are cooked."""

import json
import threading

import numpy as np

from ._core import Handle, NotFinite, call, fetch, ffi, lib, of, optional, text, window, wrong
from ._values import Keep, chars, definition, enum, existing, floats, ints, nullable, octets, output, path, pointer, record, word
from .fem import Body, LoadCase

VERDICTS = ("frequencies", "forces", "motion", "loads")
BASIS = {"modes": "BOUGH_BASIS_MODES", "mass-loaded": "BOUGH_BASIS_LOADED", "derivatives": "BOUGH_BASIS_DERIVATIVES",
         "attachment": "BOUGH_BASIS_ATTACHMENT", "constraint": "BOUGH_BASIS_CONSTRAINT", "snapshots": "BOUGH_BASIS_SNAPSHOTS",
         "columns": "BOUGH_BASIS_COLUMNS", "wrenches": "BOUGH_BASIS_WRENCHES", "forces": "BOUGH_BASIS_FORCES"}


class Component(Handle):
    """A body with r coordinates q: u = U q. It never changes, and any number of threads may share it.

        bough.Component.load("leaf.bough")     component.save("leaf.bough")     bough.cook(body, ...)
    """

    def _take(self, c, owner=None):
        self._own(c, None if owner else lib.bough_component_destroy, [owner])
        self._scratch = threading.local()

    @classmethod
    def _of(cls, c, owner=None):
        self = cls.__new__(cls)
        self._take(c, owner)
        return self

    @classmethod
    def load(cls, name):
        """Reads a .bough file and checks all of it."""
        return cls._of(fetch(lib.bough_component_load, path(name)))

    @classmethod
    def read(cls, data):
        """The same from bytes."""
        return cls._of(fetch(lib.bough_component_read, *octets(data)))

    def __reduce_ex__(self, protocol):
        return Component.read, (bytes(self),)

    def save(self, name):
        """Writes a .bough file."""
        call(lib.bough_component_save, self._c, path(name))

    def __bytes__(self):
        return bytes(ffi.buffer(self._c.image, self._c.image_size))

    def __repr__(self):
        if self.closed:
            return "<bough.Component, closed>"
        return f"<bough.Component: {self.r} coordinates, {self.elastic}, interfaces {', '.join(self.interfaces) or 'none'}>"

    # ---- what it is ----

    r = property(lambda self: self._c.r, doc="How many coordinates it has; 0: it is rigid.")
    mass = property(lambda self: self._c.mass, doc="kg.")
    elastic = property(lambda self: word("bough_reduced_elastic", self._c.elastic), doc="The kind of elastic model.")
    support = property(lambda self: word("bough_component_support", self._c.support), doc="How it is held.")
    origin = property(lambda self: np.array(list(self._c.origin)), doc="Origin of its frame, in the axes of its mesh.")

    @property
    def interfaces(self):
        """Names of the places where something can be attached."""
        return [text(self._c.interfaces[i].name) for i in range(self._c.interface_count)]

    def find_interface(self, name):
        """The number of an interface; -1: there is none of that name."""
        return lib.bough_component_find_interface(self._c, chars(name))

    @property
    def stiffness(self):
        """K: d2E/dq2 at rest."""
        return window(self._block, self._c.K, (self.r, self.r))

    @property
    def mass_matrix(self):
        """The reduced mass matrix, r x r."""
        return np.trace(window(self._block, self._c.W7, (self.r, self.r, 3, 3)), axis1=2, axis2=3)

    @property
    def triangles(self):
        """Of the surface, by vertices of it."""
        return window(self._block, self._c.surface.triangles, (self._c.surface.triangle_count, 3))

    @property
    def basis(self):
        """U, 3 n x r, of components that were cooked with keep_volume; else None."""
        c = self._c
        return None if c.volume.U == ffi.NULL else window(self._block, c.volume.U, (3 * c.volume.vertex_count, c.r))

    @property
    def provenance(self):
        """How it was made."""
        return json.loads(text(self._c.provenance) or "{}")

    @property
    def quality(self):
        """What was measured of it at cooking; NaN where it was not."""
        found = record(ffi.addressof(self._c, "quality"))
        count = self._c.quality.mode_count
        found.full_hz = window(self._block, self._c.quality.full_hz, (count,))
        found.reduced_hz = window(self._block, self._c.quality.reduced_hz, (count,))
        return found

    @property
    def verdicts(self):
        """{what: (relative error, "good", "fair" or "poor")} of frequencies, forces, motion and loads."""
        found = {}
        for i, name in enumerate(VERDICTS):
            error = lib.bough_component_error(self._c, i)
            found[name] = (error, word("bough_grade", lib.bough_verdict_grade(i, error)))
        return found

    def worst(self, share=None):
        """The verdict that is farthest beyond what is fair, and its error; share: how much of its motion in a scene is
        bending."""
        error = ffi.new("double *")
        number = lib.bough_component_worst(self._c, error) if share is None else \
            lib.bough_component_worst_in_scene(self._c, share, error)
        return VERDICTS[number], error[0]

    operations = property(lambda self: lib.bough_component_operations(self._c),
                          doc="Floating-point operations of one evaluation of gradient and Hessian.")

    # ---- what it does ----

    def _q(self, q):
        return floats(np.zeros(self.r) if q is None else q, self.r)

    def _work(self):
        if not hasattr(self._scratch, "array"):
            self._scratch.array = np.empty(max(1, lib.bough_component_scratch(self._c)))
        return pointer(self._scratch.array)

    def _inverted(self):
        return NotFinite("the component is turned inside out at these coordinates", lib.BOUGH_NOT_FINITE)

    def evaluate(self, q):
        """Elastic energy, its gradient and its Hessian at q."""
        energy, gradient, hessian = ffi.new("double *"), np.empty(self.r), np.empty((self.r, self.r))
        if not lib.bough_component_evaluate(self._c, pointer(self._q(q)), self._work(), energy, pointer(gradient), pointer(hessian)):
            raise self._inverted()
        return energy[0], gradient, hessian

    def product(self, q, v):
        """The gradient at q, and the Hessian there times v."""
        gradient, product = np.empty(self.r), np.empty(self.r)
        if not lib.bough_component_product(self._c, pointer(self._q(q)), pointer(self._q(v)), self._work(), pointer(gradient),
                                           pointer(product)):
            raise self._inverted()
        return gradient, product

    def interface_frame(self, interface, q=None):
        """Where an interface (name or number) is at q: a 4 x 4 matrix in the component's frame."""
        number = self.find_interface(interface) if isinstance(interface, str) else interface
        if not 0 <= number < self._c.interface_count:
            raise wrong(f"the component has no interface {interface!r}; it has {', '.join(self.interfaces)}")
        matrix, rotation, centre = np.eye(4), np.empty((3, 3)), np.empty(3)
        if not lib.bough_component_interface_frame(self._c, number, pointer(self._q(q)), pointer(centre), pointer(rotation)):
            raise self._inverted()
        matrix[:3, :3], matrix[:3, 3] = rotation, centre
        return matrix

    def stress(self, point, q):
        """Cauchy stress (xx yy zz yz xz xy) at a stress point, and von Mises'."""
        existing(point, self._c.stress.count, "stress point")
        stress, mises = np.empty(6), ffi.new("double *")
        if not lib.bough_component_stress(self._c, point, pointer(self._q(q)), pointer(stress), mises):
            raise self._inverted()
        return stress, mises[0]

    def positions(self, q=None, out=None):
        """Vertices of the surface at q (n x 3 float32), into `out` where it is given."""
        out = output(out, (self._c.surface.vertex_count, 3), "<f4")
        lib.bough_component_surface_positions(self._c, pointer(self._q(q)), pointer(out, "float"))
        return out


# ---- cooking ----


def _basis(kind):
    if not isinstance(kind, str):
        return kind
    bits = 0
    for name in kind.split("+"):
        if name not in BASIS:
            raise wrong(f'there is no basis "{name}"; there are {", ".join(BASIS)}')
        bits |= getattr(lib, BASIS[name])
    return bits


def _cook_def(body, interfaces, settings, keep):
    if "basis" in settings:
        settings["basis"] = _basis(settings["basis"])
    if isinstance(settings.get("elastic"), str):
        settings["elastic"] = enum("bough_reduced_elastic", settings["elastic"])
    found = []
    for name, what in interfaces.items():
        what = dict(what) if isinstance(what, dict) else {"vertices": what}
        if isinstance(what["vertices"], str):
            what["vertices"] = body.mesh.select(what["vertices"])
        what["vertices"] = ints(what["vertices"], -1)
        if "load" in what:
            what["has_load"] = True
        found.append({"name": name, **what})
    parent = settings.get("parent", -1)
    if isinstance(parent, str):
        if parent not in interfaces:
            raise wrong(f'the parent "{parent}" is no interface; there are {", ".join(interfaces)}')
        settings["parent"] = list(interfaces).index(parent)
    if found:
        settings["interfaces"] = found
    return definition("bough_cook_def", settings, keep)


def _keep(body):
    return Keep(coordinates=3 * lib.bough_body_mesh(of(Body, body)).vertex_count)


def cook(body, load_case=None, interfaces=None, times=False, **settings):
    """Reduces a body to a component. interfaces: {name: vertices or selection}; parent: the interface by which it hangs;
    r, basis ("mass-loaded+derivatives"), tolerance, elastic, keep_volume, ... With times also seconds of each phase."""
    keep, seconds = _keep(body), np.zeros(lib.BOUGH_COOK_PHASE_COUNT)
    component = ffi.new("bough_component **")
    call(lib.bough_cook, body._c, optional(LoadCase, load_case), _cook_def(body, interfaces or {}, settings, keep),
         pointer(seconds), component)
    found = Component._of(component[0])
    return (found, dict(zip(cook_phases(), seconds))) if times else found


def cook_alike(body, pattern_body, pattern, load_case=None, interfaces=None, **settings):
    """Cooks a body that differs a little from that of a component (cooked with keep_volume), with the same coordinates."""
    keep = _keep(body)
    return Component._of(fetch(lib.bough_cook_alike, body._c, optional(LoadCase, load_case),
                               _cook_def(body, interfaces or {}, settings, keep), pattern_body._c, pattern._c))


def cook_phases():
    """Names of the phases of cooking."""
    return [text(lib.bough_cook_phase_name(i)) for i in range(lib.BOUGH_COOK_PHASE_COUNT)]


def share_modes(total, element_counts):
    """Shares coordinates out over parts in proportion to the logarithm of their sizes."""
    counts = ints(element_counts, -1)
    r = np.empty(len(counts), np.int32)
    call(lib.bough_share_modes, total, len(counts), pointer(counts, "int32_t"), pointer(r, "int32_t"))
    return r


class CookJob(Handle):
    """A component file or a mesh, ready to be cooked. changes: what goes over the file, {"basis": {"r": 12}}."""

    def __init__(self, name, changes=None):
        self._own(fetch(lib.bough_cook_job_load, path(name), nullable(chars, json.dumps(changes) if changes else None)),
                  lib.bough_cook_job_destroy)

    name = property(lambda self: text(lib.bough_cook_job_name(self._c)), doc="The file's name for it.")
    settings = property(lambda self: record(lib.bough_cook_job_def(self._c)), doc="How it is cooked.")

    @property
    def body(self):
        """What is cooked."""
        return Body._of(ffi.cast("bough_body *", lib.bough_cook_job_body(self._c)), self)

    @property
    def load_case(self):
        """How it is held; None: nothing holds it but an interface."""
        found = lib.bough_cook_job_load_case(self._c)
        return None if found == ffi.NULL else LoadCase._of(ffi.cast("bough_load_case *", found), self.body, self)

    def set_resume_path(self, name):
        """The file in which a cancelled run leaves its basis and finds it again; None: none."""
        call(lib.bough_cook_job_set_resume_path, self._c, nullable(path, name))

    def run(self):
        """Cooks it."""
        component = ffi.new("bough_component **")
        call(lib.bough_cook_job_run, self._c, ffi.NULL, component)
        return Component._of(component[0])

    def __repr__(self):
        return "<bough.CookJob, closed>" if self.closed else f"<bough.CookJob {self.name!r}>"


class CookPlan(Handle):
    """The components of a scene of parts, or of one component file: `items` says what is to be cooked."""

    def __init__(self, name, changes=None, output=None):
        self._own(fetch(lib.bough_cook_plan_load, path(name), nullable(chars, json.dumps(changes) if changes else None), nullable(path, output)),
                  lib.bough_cook_plan_destroy)

    folder = property(lambda self: text(lib.bough_cook_plan_folder(self._c)), doc="Where the components of a scene go.")

    @property
    def items(self):
        """What is to be cooked: name, element_count, r, output, up_to_date, ..."""
        return [record(lib.bough_cook_plan_item(self._c, i)) for i in range(lib.bough_cook_plan_count(self._c))]

    def forecast(self):
        """What it costs a scene that interfaces are treated as rigid; all must be up to date."""
        forecast = ffi.new("bough_joint_forecast *")
        call(lib.bough_cook_plan_forecast, self._c, forecast)
        return record(forecast)

    def set_grade(self, grade):
        """From now on coordinates are added until all that is measured is "fair" or "good"."""
        lib.bough_cook_plan_set_grade(self._c, enum("bough_grade", grade))

    def run(self, force=False, finished=None):
        """Cooks what is not up to date. finished(name, cooked, seconds) is called for each."""
        def told(cooked):
            if finished is not None:
                finished(text(lib.bough_cook_plan_item(self._c, cooked.index).name), bool(cooked.cooked), cooked.seconds)

        handle = ffi.new_handle((threading.get_ident(), told))
        call(lib.bough_cook_plan_run, self._c, force, lib.bough_py_cooked, handle)
        return self.items

    def __repr__(self):
        return "<bough.CookPlan, closed>" if self.closed else f"<bough.CookPlan: {lib.bough_cook_plan_count(self._c)} components>"
