"""Runs: a scene stepped through time."""

import html
import threading
import time
import weakref

import numpy as np

from . import _core
from ._core import Alone, Handle, _finish_at_exit, copied, ffi, lib, text, window, wrong, Error, context
from ._values import changed, definition, output, path, pointer, pose, record, structs, vector, chars, whole
from .mesh import Mesh

CAPABILITIES = []
while lib.bough_capability_name(len(CAPABILITIES)) != ffi.NULL:
    CAPABILITIES.append(text(lib.bough_capability_name(len(CAPABILITIES))))


def abilities(bits):
    """Names of a set of capabilities."""
    return {name for i, name in enumerate(CAPABILITIES) if bits >> i & 1}


class Run(Alone):
    """A run of a scene. step() takes a step, advance() all of them; values, displacement and velocity look into the run.

    threads: how many the library uses for it (default: as the context has). settings: engine, coupling, passes,
    integrator, dt, duration, settle, live, record (.csv), displacements (.npy), stresses, frames (folder), inputs,
    changes, fps, checkpoint, every, resume, energy_tolerance, max_halvings; watch(run) is called at each frame,
    tell(changes) when something happened to parts.

    One thread at a time may use a run; several runs step side by side in several threads: stepping lets go of Python's
    lock.
    """

    _piece = 1  # steps that are taken in one call

    def __init__(self, scene, threads=None, watch=None, tell=None, **settings):
        self.scene, self._watch, self._tell = scene, watch, tell
        self._context = context().like(threads)
        keep = []
        d = definition("bough_run_def", settings, keep)
        self._told = ffi.new_handle(_Listener(weakref.ref(self)))
        if watch is not None:
            d.watch, d.watch_data = lib.bough_py_watch, self._told
        if tell is not None:
            d.tell, d.tell_data = lib.bough_py_tell, self._told
        place = ffi.new("bough_run **")
        self._context.check(lib.bough_run_create(self._context.pointer, scene._c, d, place))
        ctx, told = self._context, self._told
        self._own(place[0], None, [scene, ctx.block])
        self._block.destroy = lambda p, ctx=ctx, told=told: lib.bough_run_destroy(ctx.pointer, p)
        self._ctx = ctx.pointer
        _finish_at_exit.add(self)

    def _call(self, function, *arguments):
        """Calls a function with the run's own context, which no other run uses."""
        if self._users and self._user == threading.get_ident():
            raise wrong("a callback may look at its run, but neither step nor change it")
        status = self._alone(function, self._ctx, *arguments)
        if status != lib.BOUGH_OK or _core._left:
            self._context.check(status)

    def _read(self, function, *arguments):
        """Likewise a function that changes nothing, which the run's own callbacks may call, too."""
        self._context.check(self._alone(function, self._ctx, *arguments))

    def close(self):
        """Lets go of the memory; arrays that look into it keep it until they go too."""
        if self._user not in (None, threading.get_ident()):
            raise wrong(self._in_use())
        super().close()

    def __repr__(self):
        if self.closed:
            return "<bough.Run, closed>"
        r = self.report
        return f"<bough.Run at {r.time:.6g} s: {r.engine} engine, {r.integrator}, dt {r.dt:.4g} s, {r.steps} steps>"

    def _repr_html_(self):
        values = zip(self.columns, self.values) if not self.closed else ()
        rows = "".join(f"<tr><td>{html.escape(n)}</td><td>{v:.6g}</td></tr>" for n, v in values)
        return f"<code>{html.escape(repr(self))}</code><table>{rows}</table>"

    # ---- stepping ----

    def step(self, count=1):
        """Takes steps of dt; one that fails is taken in halves. Many steps are taken in calls of some 20 ms, between which
        Ctrl-C is seen."""
        if count == 1:
            self._call(lib.bough_run_step, self._c)
            return
        count, done = whole(count, "count of steps", 0), 0
        while done < count:
            piece = min(self._piece, count - done)
            start = time.perf_counter()
            self._call(lib.bough_py_steps, self._c, piece)
            done += piece
            seconds = time.perf_counter() - start
            if seconds < 0.01 and piece == self._piece:
                self._piece *= 2
            elif seconds > 0.03:
                self._piece = max(1, piece // 2)

    def advance(self):
        """Steps until the duration is over. Recordings are complete when it returns."""
        self._call(lib.bough_run_advance, self._c)

    def follow(self, time):
        """Goes to the equilibrium at another time (of a run that was settled): how often it jumped, and the last jump."""
        snaps, last = ffi.new("int32_t *"), ffi.new("bough_run_snap *")
        self._call(lib.bough_run_follow, self._c, time, snaps, last)
        return snaps[0], record(last) if snaps[0] else None

    def save(self, name):
        """Writes a checkpoint."""
        self._read(lib.bough_run_save, self._c, path(name))

    def restore(self, name):
        """Goes on from a checkpoint."""
        self._call(lib.bough_run_restore, self._c, path(name))

    def keep(self):
        """The present moment of a live run, to go back to."""
        place = ffi.new("bough_moment **")
        self._read(lib.bough_run_keep, self._c, place)
        return Moment(place[0])

    def back_to(self, moment):
        """Takes a live run back to a moment."""
        self._call(lib.bough_run_return, self._c, _core.of(Moment, moment))

    # ---- hands ----

    def _thing(self, thing):
        if isinstance(thing, str):
            names = [t.name for t in self.things]
            if thing not in names:
                raise wrong(f'there is no thing "{thing}"{_core.nearest(thing, names)}')
            return names.index(thing)
        return whole(thing, "name or number of a thing")

    def pull(self, thing, vertex, target, stiffness=None, damping=None, hand=0):
        """From now on a damped spring pulls a vertex of a thing to a place; without a stiffness one that suits it."""
        thing = self._thing(thing)
        if stiffness is None or damping is None:
            spring = self.spring(thing)
            stiffness = spring[0] if stiffness is None else stiffness
            damping = spring[1] if damping is None else damping
        self._call(lib.bough_run_pull, self._c, whole(hand, "hand"), thing, whole(vertex, "vertex"), vector(target), stiffness, damping)

    def release(self, hand=0):
        """The hand lets go."""
        self._alone(lib.bough_run_release, self._c, whole(hand, "hand"))

    def poke(self, thing, vertex, impulse):
        """An impulse (N s) during the next step."""
        self._call(lib.bough_run_poke, self._c, self._thing(thing), whole(vertex, "vertex"), vector(impulse))

    def spring(self, thing):
        """Stiffness and damping of a spring that moves a thing without tearing at it."""
        stiffness, damping = ffi.new("double *"), ffi.new("double *")
        self._read(lib.bough_run_spring, self._c, self._thing(thing), stiffness, damping)
        return stiffness[0], damping[0]

    def change(self, *changes):
        """Changes where things hang or whether they bend: {"kind": "detach", "part": 3}, ... All of them or none."""
        changes = [{**changed(c), "part": self._thing(c["part"]), "parent": self._thing(c.get("parent", 0))} for c in changes]
        keep = []
        self._call(lib.bough_run_change_parts, self._c, len(changes), structs("bough_change", changes, keep))

    def cut(self, part):
        """Cuts a part off, with what hangs on it."""
        self.change({"kind": "detach", "part": part})

    def attach(self, part, parent, interface_index=0):
        """Hangs a part where it lies onto an interface of another."""
        self.change({"kind": "attach", "part": part, "parent": parent, "interface_index": interface_index})

    def reattach(self, part):
        """Puts a part back to where the model has it."""
        self.change({"kind": "reattach", "part": part})

    def lock(self, part, locked=True):
        """Makes a part keep its shape, or bend again."""
        self.change({"kind": "lock" if locked else "unlock", "part": part})

    def remove(self, part):
        """Takes a part away, with what hangs on it."""
        self.change({"kind": "remove", "part": part})

    def add(self, part):
        """Brings a part back that was removed."""
        self.change({"kind": "add", "part": part})

    def set_stiffness(self, thing, factor, siblings=False):
        """The factor on a thing's frequencies; siblings: of all that look like it."""
        self._call(lib.bough_run_set_stiffness, self._c, self._thing(thing), siblings, factor)

    def set_damping(self, thing, ratio, siblings=False):
        """Its damping ratio."""
        self._call(lib.bough_run_set_damping, self._c, self._thing(thing), siblings, ratio)

    def set_coupling(self, name):
        """Another coupling from the next step on."""
        self._call(lib.bough_run_set_coupling, self._c, chars(name))

    def set_continuity(self, name):
        """How surfaces that meet are joined: "none", "C0", "C1"."""
        self._call(lib.bough_run_set_continuity, self._c, chars(name))

    def set_integrator(self, name):
        """Another integrator from the next step on."""
        self._call(lib.bough_run_set_integrator, self._c, chars(name))

    def set_dt(self, dt):
        """Steps of another length."""
        self._call(lib.bough_run_set_dt, self._c, dt)

    def set_wind(self, velocity=None, **settings):
        """Wind instead of the scene's; without a velocity the scene's again."""
        if velocity is None:
            self._call(lib.bough_run_set_wind, self._c, ffi.NULL)
        else:
            self._call(lib.bough_run_set_wind, self._c, definition("bough_wind", {"velocity": velocity, **settings}))

    @property
    def wind(self):
        """The wind that blows now; None: the engine knows none."""
        wind = ffi.new("bough_wind *")
        return record(wind) if self._alone(lib.bough_run_wind, self._c, wind) else None

    @property
    def gravity(self):
        """m/s^2; may be set where the engine can."""
        gravity = np.empty(3)
        self._alone(lib.bough_run_gravity, self._c, pointer(gravity))
        return gravity

    @gravity.setter
    def gravity(self, value):
        self._call(lib.bough_run_set_gravity, self._c, vector(value))

    # ---- motors ----

    @property
    def motors(self):
        """Motors that somebody may take over."""
        found, motor = [], ffi.new("bough_run_motor *")
        for i in range(lib.bough_run_motor_count(self._c)):
            lib.bough_run_motor_at(self._c, i, motor)
            found.append(record(motor))
        return found

    def set_motor(self, motor, offset=None):
        """Takes a motor over (number, or name of its joint), in its unit; None: it is the scene's again."""
        if isinstance(motor, str):
            names = [m.joint for m in self.motors]
            if motor not in names:
                raise wrong(f'there is no motor "{motor}"{_core.nearest(motor, [n for n in names if n])}')
            motor = names.index(motor)
        self._call(lib.bough_run_set_motor, self._c, motor, float("nan") if offset is None else offset)

    # ---- looking ----

    @property
    def can(self):
        """What the engine can do."""
        return abilities(lib.bough_run_can(self._c))

    @property
    def columns(self):
        """Names of the values."""
        if not hasattr(self, "_columns"):
            self._columns = [text(lib.bough_run_column_name(self._c, i)) for i in range(lib.bough_run_column_count(self._c))]
        return self._columns

    @property
    def values(self):
        """Time, energies, momenta and probes now: a copy, in the order of `columns`."""
        return np.frombuffer(ffi.buffer(lib.bough_run_values(self._c), 8 * len(self.columns))).copy()

    def __getitem__(self, column):
        """The value of a column: run["tip.z"]; of the three of a vector: run["tip"]."""
        names, column = self.columns, str(column)
        if column in names:
            return float(lib.bough_run_values(self._c)[names.index(column)])
        if column + ".x" in names:
            first = names.index(column + ".x")
            return self.values[first:first + 3]
        raise wrong(f'there is no column "{column}"{_core.nearest(column, names)}')

    @property
    def time(self):
        """s."""
        return lib.bough_run_values(self._c)[0]

    @property
    def report(self):
        """Engine, steps, energies, retries."""
        report = ffi.new("bough_run_report *")
        lib.bough_run_look(self._c, report)
        found = record(report)
        found.can = abilities(report.can)
        return found

    @property
    def mesh(self):
        """The mesh that the run moves, at rest."""
        mesh = self._alone(lib.bough_run_mesh, self._c)
        if mesh == ffi.NULL:
            raise Error(text(lib.bough_message(self._ctx)))
        return Mesh._inside(ffi.cast("bough_mesh *", mesh), self)

    def _of_mesh(self, function):
        array = self._alone(function, self._c)
        if array == ffi.NULL:
            raise Error(text(lib.bough_message(self._ctx)))
        return window(self._block, array, (lib.bough_run_mesh(self._c).vertex_count, 3))

    @property
    def displacement(self):
        """Of the vertices of `mesh`: n x 3, without a copy. Ask again after a step."""
        return self._of_mesh(lib.bough_run_displacement)

    @property
    def velocity(self):
        """Likewise, m/s."""
        return self._of_mesh(lib.bough_run_velocity)

    def positions(self, thing=-1, out=None):
        """Vertices of a thing that is drawn by modes, or of all (float32), into `out` where it is given."""
        thing = self._thing(thing)
        if out is None:
            out = np.empty((self._vertex_count(thing), 3), "<f4")
        out = output(out, (self._vertex_count(thing), 3), "<f4")
        self._read(lib.bough_run_positions, self._c, thing, pointer(out, "float"))
        return out

    def _vertex_count(self, thing):
        if thing < 0:
            mesh = self._alone(lib.bough_run_mesh, self._c)
            return 0 if mesh == ffi.NULL else mesh.vertex_count
        found = lib.bough_run_thing(self._c, thing)
        if found == ffi.NULL:
            raise wrong(f"there is no thing {thing}; there are {lib.bough_run_thing_count(self._c)}")
        return found.vertex_count

    @property
    def things(self):
        """What the engine moves: name, kind, parent, mass, rest, ..."""
        if not hasattr(self, "_things"):
            count = self._alone(lib.bough_run_thing_count, self._c)
            self._things = [record(lib.bough_run_thing(self._c, i)) for i in range(count)]
        return self._things

    def thing(self, thing):
        """A thing as it is now: pose (4 x 4), velocity, angular_velocity, q (a copy), parent, there, loose, locked."""
        state = ffi.new("bough_thing_state *")
        number = self._thing(thing)
        if not self._alone(lib.bough_run_thing_state, self._c, number, state):
            raise wrong(f"there is no thing {thing}; there are {lib.bough_run_thing_count(self._c)}")
        found = record(state)
        found.pose, found.velocity = pose(state.frame.pose), np.array(list(state.frame.velocity))
        found.angular_velocity = np.array(list(state.frame.angular_velocity))
        look = self._look(number)
        count = lib.bough_run_thing(self._c, number).full_count or (look.component.r if look and look.component != ffi.NULL else 0)
        found.q = None if state.q == ffi.NULL else copied(ffi.cast("double *", state.q), (count,))
        return found

    def _look(self, number):
        look = lib.bough_run_thing(self._c, number).look
        return lib.bough_run_thing_look(self._c, look) if 0 <= look < lib.bough_run_look_count(self._c) else None

    @property
    def seams(self):
        """Where surfaces of things meet."""
        seams = ffi.new("bough_seams *")
        self._alone(lib.bough_run_seams, self._c, seams)
        found = record(seams)
        found.copy_vertex = copied(ffi.cast("int32_t *", seams.copy_vertex), (seams.copy_count,))
        found.copy_part = copied(ffi.cast("int32_t *", seams.copy_part), (seams.copy_count,))
        return found

    @property
    def joint_gap(self):
        """The joint that is furthest from closed now, and the worst so far; None: the engine does not know."""
        now, worst = ffi.new("bough_run_gap *"), ffi.new("bough_run_gap *")
        return (record(now), record(worst)) if self._alone(lib.bough_run_joint_gap, self._c, now, worst) else None

    def _listed(self, function, kind):
        count = self._alone(function, self._c, 0, ffi.NULL)
        array = ffi.new(kind + "[]", max(1, count))
        count = min(count, self._alone(function, self._c, count, array))
        return [array[i] for i in range(count)], array

    @property
    def contacts(self):
        """Where things touched in the last step: things, position, normal, gap, force."""
        found, keep = self._listed(lib.bough_run_contacts, "bough_run_contact")
        return [record(c) for c in found]

    @property
    def joints(self):
        """Joints as they are now, with the forces with which they hold."""
        found, keep = self._listed(lib.bough_run_joints, "bough_run_joint")
        return [record(j) for j in found]

    def modes(self, count, shapes=False):
        """Small vibrations about the present state of a live run: frequencies_hz, shapes, unstable_count."""
        frequencies = np.zeros(max(count, 0))
        array = np.zeros((len(frequencies), self._vertex_count(-1), 3)) if shapes else None
        modes = ffi.new("bough_run_modes *", {"most": count, "frequencies_hz": pointer(frequencies), "shapes": pointer(array)})
        self._call(lib.bough_run_find_modes, self._c, modes)
        found = record(modes)
        found.frequencies_hz, found.shapes = frequencies[:modes.count], None if array is None else array[:modes.count]
        return found

    @property
    def stresses(self):
        """Largest von Mises' stress (Pa) of each part, or of each element of a body."""
        stresses = np.zeros(lib.bough_run_stress_count(self._c))
        self._context.check(self._alone(lib.bough_run_stresses, self._c, pointer(stresses)))
        return stresses

    @property
    def vertex_stresses(self):
        """Von Mises' stress at each vertex of `mesh`, to colour it."""
        stresses = np.zeros(self._vertex_count(-1), "<f4")
        self._context.check(self._alone(lib.bough_run_vertex_stresses, self._c, pointer(stresses, "float")))
        return stresses

    @property
    def changes(self):
        """All that happened to parts."""
        count = ffi.new("int32_t *")
        changes = self._alone(lib.bough_run_changes, self._c, count)
        return [record(ffi.addressof(changes, i)) for i in range(count[0])]

    @property
    def deviations(self):
        """How far the interfaces of each thing are from rigid."""
        deviations = np.zeros(self._alone(lib.bough_run_thing_count, self._c), "<f4")
        self._context.check(self._alone(lib.bough_run_deviations, self._c, pointer(deviations, "float")))
        return deviations

    @property
    def tree(self):
        """The TreeModel and the TreeState that are stepped, where the tree engine is; else None. Of a live run the state
        may be written."""
        from .tree import TreeModel, TreeState

        model, state = ffi.new("bough_tree_model **"), ffi.new("bough_tree_state **")
        if not lib.bough_run_model(self._c, ffi.cast("const bough_tree_model **", model), ffi.cast("const bough_tree_state **", state)):
            return None
        writable = lib.bough_run_state(self._c) != ffi.NULL
        model = TreeModel._of(model[0], self)
        return model, TreeState._inside(state[0], model, self, writable)


class _Listener:
    """Who is called back: knows the run without keeping it alive."""

    def __init__(self, run):
        self.run = run

    def watched(self):
        run = self.run()
        if run is not None and run._block is not None:
            return run._watch(run)

    def told(self, changes, count):
        run = self.run()
        if run is not None:
            run._tell([record(ffi.addressof(changes, i)) for i in range(count)])


class Moment(Handle):
    """A moment of a live run."""

    def __init__(self, c):
        self._own(c, lib.bough_moment_destroy)

    time = property(lambda self: lib.bough_moment_time(self._c), doc="When it was, s.")
    size = property(lambda self: lib.bough_moment_size(self._c), doc="Bytes.")

    def __repr__(self):
        return "<bough.Moment, closed>" if self.closed else f"<bough.Moment at {self.time:.6g} s, {self.size} bytes>"

