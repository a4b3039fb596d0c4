"""Wishes: fits to measurements, derivatives of motions, and motors that follow an animation."""

import numpy as np

from ._core import Alone, Handle, call, copied, fetch, ffi, lib, text, window, wrong
from ._values import Keep, definition, existing, floats, path, pointer, record, structs


class Fit(Handle):
    """What was fitted: values (name, value, lower, upper, known, reason), rms, converged, trajectory, ..."""

    def __init__(self, c):
        self._own(c, lib.bough_fit_destroy)
        self.values = [record(ffi.addressof(c.values, i)) for i in range(c.count)]
        self.correlation = np.array(list(c.correlation)[:c.count ** 2]).reshape(c.count, c.count)
        self.trajectory = window(self._block, c.trajectory, (c.sample_count, 3))
        self.report = record(c)

    def __getitem__(self, name):
        for value in self.values:
            if value.name == name:
                return value
        raise wrong(f'"{name}" was not fitted; there are {", ".join(v.name for v in self.values)}')

    def __repr__(self):
        return f"<bough.Fit: {', '.join(f'{v.name} {v.value:.4g}' for v in self.values)}, rms {self.report.rms:.3g} m>"


def fit(scene, times, positions, marker, **settings):
    """Fits material of flexible parts so that a probe moves as a real thing was seen to: times (n), positions (n x 3).
    settings: young, damping_mass, damping_stiffness, start, release, search, parts, dt, max_iterations."""
    times = floats(times, -1)
    positions = floats(positions, len(times), 3)
    d = definition("bough_fit_def", {"marker": marker, **settings})
    d.sample_count, d.times, d.positions = len(times), pointer(times), pointer(positions)
    place = ffi.new("bough_fit **")
    call(lib.bough_fit_scene, scene._c, d, place)
    return Fit(place[0])


class MotorCurves(Handle):
    """Uniform B-splines, one for each motor. `points` (motors x points) may be written."""

    def __init__(self, motors, points, start=0.0, duration=1.0, degree=3):
        self._own(fetch(lib.bough_motor_curves_create, motors, degree, points, start, duration), lib.bough_motor_curves_destroy)

    @classmethod
    def _inside(cls, c, owner):
        self = cls.__new__(cls)
        self._own(ffi.cast("bough_motor_curves *", c), None, [owner])
        return self

    @property
    def points(self):
        """rad, m: motors x points."""
        return window(self._block, self._c.points, (self._c.motor_count, self._c.point_count), True)

    def fit(self, times, values, at_rest=False):
        """The points whose curves are nearest to samples (values: motors x samples)."""
        times = floats(times, -1)
        values = floats(values, self._c.motor_count, len(times))
        call(lib.bough_motor_curves_fit, self._c, len(times), pointer(times), pointer(values), at_rest)
        return self

    def at(self, t, motor=0):
        """Place, rate and acceleration at a time."""
        existing(motor, self._c.motor_count, "motor")
        values = ffi.new("double[3]")
        lib.bough_motor_curves_at(self._c, motor, t, values, values + 1, values + 2)
        return values[0], values[1], values[2]

    def __call__(self, motor, time):
        """For MultibodyState.drive()."""
        return self.at(time, motor)[:2]

    def __repr__(self):
        return "<bough.MotorCurves, closed>" if self.closed else f"<bough.MotorCurves: {self._c.motor_count} motors, {self._c.point_count} points>"


class Adjoint(Alone):
    """How an objective of a whole motion changes with the curves of motors and constants of the model.

        objective = bough.Adjoint(state, curves, dt=0.002, step_count=500, tracked=[{"frame": {"body": 1}, "position": 1,
                                  "positions": wanted}])
        scipy.optimize.minimize(objective.value_and_grad, points.ravel(), jac=True)

    tracked: frames that are to be somewhere; positions (steps + 1 x 3), rotations (steps + 1 x 9), weights. parameters:
    [{"kind": "young", "index": 0}]. limits: one dictionary for each motor. term(step, u, v, multipliers) -> value,
    by_u, by_v, by_multipliers: a share of one's own (any derivative may be None). More settings: input, input_weight,
    acceleration_weight, limit_weight, held_points, start_settles, megabytes, tolerance, continuous.
    """

    def __init__(self, state, curves, term=None, **settings):
        self.model = state.model
        self.shape = curves.points.shape
        settings = dict(settings)
        if "step_count" not in settings:
            raise wrong("Adjoint needs step_count, the number of steps, and dt")
        keep = Keep(motors=self.shape[0], steps=settings["step_count"] + 1)
        if settings.get("limits") is not None:
            if len(settings["limits"]) != self.shape[0]:
                raise wrong(f"there are curves of {self.shape[0]} motors, and limits of {len(settings['limits'])}")
            settings["limits"] = structs("bough_motor_limits", settings["limits"], keep)
        self.parameter_count, self._frames = len(settings.get("parameters") or ()), len(settings.get("tracked") or ())
        self.step_count = settings["step_count"]
        d = definition("bough_adjoint_def", settings, keep)
        if term is not None:
            self._term = ffi.new_handle(_Term(term, self.model))
            d.term, d.term_data = lib.bough_py_term, self._term
        owners = [self.model] + [m for p in settings.get("parameters") or () for m in (p.get("less"), p.get("more"))]
        self._own(fetch(lib.bough_adjoint_create, self.model._c, state._c, curves._c, d), lib.bough_adjoint_destroy, owners)

    def _points(self, points):
        return floats(points, *self.shape)

    def value(self, points):
        """Simulates with these points; the objective."""
        value = ffi.new("double *")
        self._call_alone(lib.bough_adjoint_value, self._c, pointer(self._points(points)), value)
        return value[0]

    def gradient(self, points):
        """The objective, its derivatives by points, and those by parameters."""
        value, by_points, by_parameters = ffi.new("double *"), np.zeros(self.shape), np.zeros(self.parameter_count)
        self._call_alone(lib.bough_adjoint_gradient, self._c, pointer(self._points(points)), value, pointer(by_points),
             pointer(by_parameters) if self.parameter_count else ffi.NULL)
        return value[0], by_points, by_parameters

    def value_and_grad(self, points):
        """The objective and its derivatives by points, in the shape of the points: what optimisers want."""
        value, by_points, _ = self.gradient(points)
        return value, by_points.reshape(np.shape(points))

    @property
    def view(self):
        """Results of the last simulation and gradient: place, rate, by_place, by_rate, paths, value, ..."""
        view = ffi.new("bough_adjoint_view *")
        lib.bough_adjoint_look(self._c, view)
        found, shape = record(view), (self.shape[0], self.step_count + 1)
        for name in ("place", "rate", "by_place", "by_rate"):
            setattr(found, name, window(self._block, ffi.cast("double *", getattr(view, name)), shape))
        for name in ("by_start_displacement", "by_start_velocity"):
            setattr(found, name, window(self._block, ffi.cast("double *", getattr(view, name)), (self.model.velocity_count,)))
        found.paths = [window(self._block, ffi.cast("double *", view.paths[i]), (self.step_count + 1, 3)) for i in range(self._frames)]
        return found

    def __repr__(self):
        return "<bough.Adjoint, closed>" if self.closed else f"<bough.Adjoint: {self.step_count} steps, {self.shape[0]} x {self.shape[1]} points>"


class _Term:
    """A share of the objective that Python computes."""

    def __init__(self, function, model):
        self.function, self.sizes = function, (model.position_count, model.velocity_count, model.constraint_count)

    def __call__(self, step, u, v, multipliers, value, *derivatives):
        given = [np.frombuffer(ffi.buffer(p, 8 * n)) if n else np.zeros(0) for p, n in zip((u, v, multipliers), self.sizes)]
        answer = self.function(step, *given)
        answer = answer if isinstance(answer, tuple) else (answer,)
        value[0] += float(answer[0])
        sizes = (self.sizes[1], self.sizes[1], self.sizes[2])
        for place, size, by in zip(derivatives, sizes, answer[1:]):
            if place != ffi.NULL and by is not None and size:
                np.frombuffer(ffi.buffer(place, 8 * size))[:] += by


class Retarget(Alone):
    """A multibody scene with its animation, and curves of motors that are searched.

    tell(progress) is called after each iteration; returning False ends the search: run() then raises Cancelled, and the
    view has the best so far. settings: search ("lbfgs",
    "gauss-newton", ...), iterations, tolerance, dt, window, overlap, megabytes."""

    def __init__(self, scene, tell=None, **settings):
        d = definition("bough_retarget_def", settings)
        self._tell = ffi.new_handle(lambda progress: tell(progress))
        if tell is not None:
            d.tell, d.tell_data = lib.bough_py_searched, self._tell
        self.scene = scene
        self._own(fetch(lib.bough_retarget_create, scene._c, d), lib.bough_retarget_destroy, [scene])

    def begin(self, name):
        """Begins with curves fitted to a table of motors."""
        self._call_alone(lib.bough_retarget_begin, self._c, path(name))

    def run(self):
        """Improves the curves; returns the view."""
        self._call_alone(lib.bough_retarget_run, self._c)
        return self.view

    def write(self, name, rate=0):
        """Writes the curves as a table of motors."""
        self._call_alone(lib.bough_retarget_write, self._c, path(name), rate)

    @property
    def view(self):
        """motors, frames, target (Motion), input and curves (MotorCurves), first_value, value, iterations, converged, ..."""
        view = ffi.new("bough_retarget_view *")
        lib.bough_retarget_look(self._c, view)
        found, steps = record(view), view.step_count + 1
        found.motors = [text(view.motors[i]) for i in range(view.motor_count)]
        found.frames = [text(view.frames[i]) for i in range(view.frame_count)]
        found.slides = copied(ffi.cast("bool *", view.slides), (view.motor_count,))
        found.limits = [record(ffi.addressof(view.limits, i)) for i in range(view.motor_count)]
        found.weights = window(self._block, ffi.cast("double *", view.weights), (view.frame_count, steps))
        found.pauses = window(self._block, ffi.cast("bool *", view.pauses), (steps,))
        found.target = Motion._inside(view.target, self)
        found.input, found.curves = MotorCurves._inside(view.input, self), MotorCurves._inside(view.curves, self)
        return found

    def replay(self, source="curves", **settings):
        """Plays motors on the robot: source "animation", "input", "curves", "zv", "zvd"; full, statics, feedback, mass,
        stiffness, dt."""
        d = definition("bough_replay_def", {"source": source, **settings})
        return Motion(fetch(lib.bough_retarget_replay, self._c, d))

    def compare(self, motion, target=None, frame=0):
        """How far a tracked frame of a motion is from that of another (the target): rms, peak, pause_rms, ..."""
        deviation = ffi.new("bough_deviation *")
        target = self.view.target if target is None else target
        for other in (motion, target):
            existing(frame, len(other.positions), "tracked frame")
        lib.bough_motion_compare(self._c, motion._c, target._c, frame, deviation)
        return record(deviation)

    def __repr__(self):
        return "<bough.Retarget, closed>" if self.closed else f"<bough.Retarget: {', '.join(self.view.motors)}>"


class Motion(Handle):
    """Motors and tracked frames over time: places, rates, forces (motors x steps), positions (frames x steps x 3),
    rotations (frames x steps x 3 x 3), kinetic, elastic, times."""

    def __init__(self, c, owner=None):
        self._own(c, None if owner else lib.bough_motion_destroy, [owner])
        n, motors, frames = c.step_count + 1, c.motor_count, c.frame_count
        for name, shape in {"places": (motors, n), "rates": (motors, n), "forces": (motors, n), "positions": (frames, n, 3),
                            "rotations": (frames, n, 3, 3), "kinetic": (n,), "elastic": (n,)}.items():
            setattr(self, name, window(self._block, ffi.cast("double *", getattr(c, name)), shape))
        self.delay, self.times = c.delay, c.start + c.dt * np.arange(n)

    @classmethod
    def _inside(cls, c, owner):
        return cls(ffi.cast("bough_motion *", c), owner)

    def __repr__(self):
        return f"<bough.Motion: {len(self.places)} motors, {len(self.positions)} frames, {len(self.times)} times>"
