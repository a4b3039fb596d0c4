"""What the library calls: progress, remarks, forces and objectives that Python computes. An exception in one of them ends
the call of the library, and comes out of it."""

import functools

import numpy as np

from ._core import Inside, called_for, ffi, keep_exception, lib, text
from ._values import place_pose, record


def _callback(error=None):
    """A function that the library calls; where it raises, the library gets `error`."""
    def offer(function):
        @functools.wraps(function)
        def called(*arguments):
            with Inside():
                return function(*arguments)

        return ffi.def_extern(name=function.__name__, onerror=keep_exception, error=error)(called)

    return offer


def _go_on(answer):
    """Whether what a callback returned lets the call go on: all but False does."""
    return bool(answer) or not isinstance(answer, (bool, np.bool_))


def _status(answer):
    return lib.BOUGH_OK if _go_on(answer) else lib.BOUGH_CANCELLED


@_callback(False)
def bough_py_progress(user, progress):
    function = ffi.from_handle(user).progress
    return function is None or _go_on(function(text(progress.what), progress.fraction, text(progress.detail)))


@_callback()
def bough_py_warn(user, sentence):
    ffi.from_handle(user).warn(text(sentence))


@_callback()
def bough_py_reading(user, path):
    ffi.from_handle(user).reading(text(path))


@_callback(float("nan"))
def bough_py_distance(user, x):
    return float(ffi.from_handle(user)(np.array((x[0], x[1], x[2]))))


@_callback(False)
def bough_py_on_step(user, fraction, u):
    function, size = ffi.from_handle(user)
    return _go_on(function(fraction, np.frombuffer(ffi.buffer(u, 8 * size)).reshape(-1, 3).copy()))


@_callback(lib.BOUGH_CANCELLED)
def bough_py_watch(user, ctx, run):
    return _status(ffi.from_handle(user).watched())


@_callback()
def bough_py_tell(user, changes, count):
    ffi.from_handle(user).told(changes, count)


@_callback(lib.BOUGH_CANCELLED)
def bough_py_tree(user, ctx, model, state):
    return _status(ffi.from_handle(user)())


@_callback(True)
def bough_py_lead(user, obstacle, time, pose):
    pose.position[0] = float("nan")  # what is found where the function raises
    found = ffi.from_handle(user)(obstacle, time)
    if found is None:
        return False
    place_pose(pose, found)
    return True


@_callback()
def bough_py_drive(user, motor, time, place, rate):
    place[0] = rate[0] = float("nan")  # what is found where the function raises
    place[0], rate[0] = ffi.from_handle(user)(motor, time)


@_callback()
def bough_py_term(user, step, u, v, multipliers, value, by_displacement, by_velocity, by_multiplier):
    ffi.from_handle(user)(step, u, v, multipliers, value, by_displacement, by_velocity, by_multiplier)


@_callback(False)
def bough_py_searched(user, progress):
    return _go_on(ffi.from_handle(user)(record(progress)))


@_callback()
def bough_py_cooked(user, cooked):
    """May be called by a thread of the library."""
    thread, function = ffi.from_handle(user)
    called_for(thread)
    function(cooked)
