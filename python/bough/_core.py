"""What all modules stand on: errors, contexts, ownership.

Contexts. A context of the library serves one calling thread at a time, so every thread has one of its own, made when it
is first needed. `with Context(threads=1, progress=...)` takes another one for a while.

Ownership. A Handle (a Mesh, a Run, ...) has a Block, which destroys the object of the library when nobody uses it any
more: the handle, handles of what was made from it (a run of its scene), and NumPy arrays that look into it all count.
What is let go of inside of a callback may be in use by the call around it, and is destroyed when that call is over.
"""

import atexit
import difflib
import math
import numbers
import os
import sys
import threading
import warnings
import weakref
from threading import get_ident

import numpy as np

from ._native import ffi, lib

# ---- errors ----


class Error(Exception):
    """A call that failed. Its text is the library's sentence; `status` is the name of the reason, `code` its number."""

    def __init__(self, sentence, code=None):
        super().__init__(sentence)
        self.code = lib.BOUGH_ERROR_ARGUMENT if code is None else code

    @property
    def status(self):
        """The reason in words: "did not converge"."""
        return text(lib.bough_status_name(self.code))

    @property
    def recoverable(self):
        """Whether another step size, load or patience may succeed with the same arguments."""
        return self.code > 0


class RecoverableError(Error):
    """The arguments are fine: another step size, load or patience may succeed."""


class NoConvergence(RecoverableError):
    """A search did not converge."""


class NotFinite(RecoverableError):
    """A number is not finite, or an element turned inside out."""


class Cancelled(RecoverableError):
    """The progress callback ended the call."""


class EnergyGained(RecoverableError):
    """A step made energy out of nothing."""


class OutOfMemory(Error, MemoryError):
    """There is not enough memory."""


class ArgumentError(Error, ValueError):
    """An argument is wrong."""


class FileError(Error, OSError):
    """A file cannot be opened, read or written."""


class FormatError(Error, ValueError):
    """The content of a file is wrong."""


class UnsupportedError(Error, NotImplementedError):
    """Valid, but not supported."""


class SingularError(Error, ArithmeticError):
    """A matrix is singular or not positive definite."""


class MissingProgram(Error):
    """An optional helper program is not installed."""


class Remark(UserWarning):
    """A remark of the library that is no error."""


ERRORS = {
    lib.BOUGH_NO_CONVERGENCE: NoConvergence,
    lib.BOUGH_NOT_FINITE: NotFinite,
    lib.BOUGH_CANCELLED: Cancelled,
    lib.BOUGH_ENERGY_GAINED: EnergyGained,
    lib.BOUGH_ERROR_MEMORY: OutOfMemory,
    lib.BOUGH_ERROR_ARGUMENT: ArgumentError,
    lib.BOUGH_ERROR_FILE: FileError,
    lib.BOUGH_ERROR_FORMAT: FormatError,
    lib.BOUGH_ERROR_UNSUPPORTED: UnsupportedError,
    lib.BOUGH_ERROR_SINGULAR: SingularError,
    lib.BOUGH_ERROR_MISSING_PROGRAM: MissingProgram,
}


def text(chars):
    """A string of C, or None."""
    return None if chars == ffi.NULL else ffi.string(chars).decode("utf-8", "replace")


def wrong(sentence):
    """The error for an argument that the library never saw."""
    return ArgumentError(sentence, lib.BOUGH_ERROR_ARGUMENT)


def nearest(word, words):
    """The tail of a sentence that suggests what a wrong name was meant to be."""
    close = difflib.get_close_matches(str(word), list(words), 1)
    return f'; did you mean "{close[0]}"?' if close else f"; there are {', '.join(sorted(words)) or 'none'}"


# ---- callbacks: an exception in one ends the call, and is raised by it ----

_left = {}  # by thread: what its callbacks left for the end of the call: ("raised", error), ("ended", block)
_threads = threading.local()


def _leave(kind, what):
    thread = getattr(_threads, "caller", None) or threading.get_ident()
    _left.setdefault(thread, []).append((kind, what))


def keep_exception(kind, error, traceback):
    """Called where a callback raised something, also Ctrl-C: the call of the library raises it when it comes back."""
    _leave("raised", error)


def called_for(thread):
    """Says that this thread, which may be one of the library, is in a callback for another one, which waits for it."""
    _threads.caller = thread


def in_callback():
    """Whether this thread is inside of a callback, and so of a call of the library."""
    return getattr(_threads, "callbacks", 0) > 0


class Inside:
    """`with` around the code of a callback."""

    def __enter__(self):
        _threads.callbacks = getattr(_threads, "callbacks", 0) + 1

    def __exit__(self, *_):
        _threads.callbacks -= 1


def finish_callbacks():
    """After a call: destroys what its callbacks let go of, and raises what the first of them raised."""
    if in_callback():
        return  # the call around this one is not over
    left = _left.pop(threading.get_ident(), ())
    for kind, what in left:
        if kind == "ended":
            what.end()
    for kind, what in left:
        if kind == "raised":
            raise what


# ---- contexts ----


def _warn(sentence):
    """Warns where the package was called."""
    frame, level = sys._getframe(1), 2
    while frame.f_back is not None and frame.f_globals.get("__name__", "").startswith("bough."):
        frame, level = frame.f_back, level + 1
    warnings.warn(sentence, Remark, stacklevel=level)


class Single:
    """What must not be copied by copy or pickle: the library's memory would belong to two."""

    __slots__ = ()

    def __reduce_ex__(self, protocol):
        raise UnsupportedError(f"a {type(self).__name__} cannot be copied or pickled; pass on what it is made of (a file, a dictionary, "
                               "arrays), and make one there", lib.BOUGH_ERROR_UNSUPPORTED)


if hasattr(os, "register_at_fork"):  # another thread may have it while this one forks
    os.register_at_fork(after_in_child=lambda: setattr(Block, "lock", threading.RLock()))

_ending = {}  # by block: who waits until no call has its pointer any more


class Block(Single):
    """An object of the library, destroyed when the last of those who use it lets go."""

    __slots__ = ("pointer", "destroy", "keeps", "count", "__weakref__")
    lock = threading.RLock()

    def __init__(self, pointer, destroy, keeps=()):
        self.pointer, self.destroy, self.count = pointer, destroy, 1
        self.keeps = tuple(keep for keep in keeps if keep is not None)
        with Block.lock:
            for keep in self.keeps:
                keep.count += 1

    def take(self):
        with Block.lock:
            self.count += 1
        return self

    def hold(self, blocks):
        """Lets others live as long as this one."""
        with Block.lock:
            more = tuple(block for block in blocks if block not in self.keeps)
            for block in more:
                block.count += 1
            self.keeps += more

    def release(self):
        with Block.lock:
            self.count -= 1
            if self.count != 0:
                return
        # Calls in other threads hold the pointer as an argument: the last of them that comes back ends the object.
        pointer, self.pointer = self.pointer, ffi.cast(ffi.typeof(self.pointer), self.pointer)
        _ending[id(self)] = weakref.ref(pointer, self._let_go)

    def _let_go(self, _):
        if in_callback():
            _leave("ended", self)
        else:
            self.end()

    def end(self):
        """Destroys the object."""
        _ending.pop(id(self), None)
        if self.destroy is not None:
            self.destroy(self.pointer)
        for keep in self.keeps:
            keep.release()


class _Listeners:
    """Who hears what the library says; apart from the context, so that the two do not hold each other."""

    def __init__(self, progress, warn):
        self.progress, self.warn, self.reading = progress, warn, None


class Context(Single):
    """Memory, threads and callbacks of the calls that a thread of Python makes.

    threads: how many threads the library uses (0: one per core). progress(what, fraction, detail) is called during long
    operations; returning False cancels. warn(sentence) takes remarks; by default they are warnings of Python.
    count_memory: blocks of memory that are in use are counted (`blocks`).

        with bough.Context(threads=1):
            run = bough.Scene("oak.json").run()
    """

    def __init__(self, threads=0, progress=None, warn=None, count_memory=False):
        self._listeners = _Listeners(progress, warn or _warn)
        handle = ffi.new_handle(self._listeners)
        definition = lib.bough_default_context_def()
        if not isinstance(threads, numbers.Integral):
            raise wrong(f"a context needs 0 threads (one per core) or more, not {threads!r}")
        definition.thread_count = max(-1, min(int(threads), 2**31 - 1))
        definition.progress, definition.progress_user = lib.bough_py_progress, handle
        definition.warn, definition.warn_user = lib.bough_py_warn, handle
        self._count = None
        if count_memory:
            self._count = ffi.new("int64_t *")
            definition.allocate = lib.bough_py_allocate
            definition.reallocate = lib.bough_py_reallocate
            definition.release = lib.bough_py_release
            definition.memory_user = self._count
        pointer = lib.bough_context_create([definition])
        if pointer == ffi.NULL:
            raise wrong(f"a context needs 0 threads (one per core) or more, not {threads}, and memory")
        self.pointer = pointer
        keep = self._handle, _ = (handle, self._count)
        self.block = Block(pointer, lambda p, keep=keep: lib.bough_context_destroy(p))
        self.threads = lib.bough_thread_count(pointer)

    def __del__(self):
        if hasattr(self, "block"):
            self.block.release()

    def __enter__(self):
        _stack().append(self)
        return self

    def __exit__(self, *_):
        _stack().remove(self)

    def __repr__(self):
        return f"<bough.Context: {self.threads} threads>"

    @property
    def blocks(self):
        """Blocks of memory that the library has and has not released; None unless they are counted."""
        return None if self._count is None else self._count[0]

    def set_progress(self, progress):
        """Replaces the progress callback; None: nobody listens."""
        self._listeners.progress = progress
        lib.bough_context_set_progress(self.pointer, lib.bough_py_progress, self._handle)

    def set_reading(self, reading):
        """reading(path) is told of each file before it is read, by any thread that works for a call; None: nobody is."""
        self._listeners.reading = reading
        lib.bough_context_set_reading(self.pointer, lib.bough_py_reading if reading else ffi.NULL, self._handle)

    def check(self, status):
        """Raises the error of a status; also what a callback raised meanwhile."""
        sentence = None if status == lib.BOUGH_OK else text(lib.bough_message(self.pointer))
        finish_callbacks()
        if sentence is not None:
            raise ERRORS.get(status, Error)(sentence, status)

    def like(self, threads=None):
        """A new context with the same callbacks."""
        return Context(self.threads if threads is None else threads, self._listeners.progress, self._listeners.warn)


def _stack():
    try:
        return _threads.stack
    except AttributeError:
        _threads.stack = []
        return _threads.stack


def context():
    """The context of the calling thread."""
    stack = _stack()
    if not stack:
        stack.append(Context())
    return stack[-1]


def _plain_context():
    """The innermost context of the calling thread that does not count: what was made without counting must not be
    counted when it is freed."""
    stack = _stack()
    for ctx in reversed(stack):
        if ctx._count is None:
            return ctx
    stack.insert(0, Context(1))
    return stack[0]


def call(function, *arguments):
    """Calls a function that takes a context and returns a status; raises where it fails."""
    ctx = context()
    status = function(ctx.pointer, *arguments)
    del arguments  # which an exception would hold, and what they point to with them
    if status != lib.BOUGH_OK or _left:
        ctx.check(status)


# ---- ownership ----

_finish_at_exit = weakref.WeakSet()


class Handle(Single):
    """The base of what the library made. Memory is freed when nothing uses it; close() or `with` let go at once."""

    _block = None

    def _own(self, pointer, destroy=None, keeps=()):
        """destroy: a function of the library that takes a context and the pointer."""
        ctx = context()

        def end(p, destroy=destroy, made_by=None if ctx._count is None else ctx.pointer):
            destroy(made_by or _plain_context().pointer, p)

        blocks = [keep._block if isinstance(keep, Handle) else keep for keep in keeps if keep is not None]
        blocks.append(ctx.block)  # some objects know the context that they were made with
        self._block = Block(pointer, end if destroy else None, blocks)

    @property
    def _c(self):
        block = self._block
        if block is None:
            raise wrong(f"this {type(self).__name__} was closed")
        return block.pointer

    @property
    def closed(self):
        """Whether close() was called."""
        return self._block is None

    def close(self):
        """Lets go of the memory. What was made from it, and arrays that look into it, keep it until they go too."""
        block, self._block = self._block, None
        if block is not None:
            block.release()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()

    def __del__(self):
        if self._block is not None:
            self.close()


class Alone(Handle):
    """What one thread at a time may use. Its calls go through _alone(), which refuses those of a second thread; a callback
    of the call may call more."""

    _users = None  # {0: the thread that is inside of a call}

    def _own(self, *arguments, **settings):
        self._users = {}
        super()._own(*arguments, **settings)

    @property
    def _user(self):
        return self._users.get(0)

    def _in_use(self):
        return f"this {type(self).__name__} is in use by another thread; make one for each thread"

    def _alone(self, function, *arguments):
        """Calls a function for the one thread that is inside. Ctrl-C may raise behind every call of Python: what lets go
        calls nothing, and knows by the entry alone whether it is this thread's."""
        owner = me = get_ident()
        users = self._users
        if users and users.get(0) == me:
            return function(*arguments)
        try:
            owner = users.setdefault(0, me)
            if owner != me:
                raise wrong(self._in_use())
            return function(*arguments)
        finally:
            if owner == me and 0 in users and users[0] == me:
                del users[0]

    def _call_alone(self, function, *arguments):
        """As call(), alone."""
        ctx = context()
        status = self._alone(function, ctx.pointer, *arguments)
        del arguments
        if status != lib.BOUGH_OK or _left:
            ctx.check(status)


def of(kind, thing):
    """What the library made, of a handle of this kind."""
    if not isinstance(thing, kind):
        raise wrong(f"a bough.{kind.__name__} is wanted, not {thing!r}")
    return thing._c


def optional(kind, thing):
    """The same where the library takes NULL for None."""
    return ffi.NULL if thing is None else of(kind, thing)


@atexit.register
def _close_all():
    for handle in list(_finish_at_exit):
        try:
            handle.close()
        except Error:
            pass  # a thread still works with it


class _Window(Single):
    """Memory of the library as NumPy sees it."""

    __slots__ = ("__array_interface__", "block")

    def __init__(self, block, pointer, shape, kind, writable):
        self.block = block.take()
        self.__array_interface__ = {"data": (int(ffi.cast("uintptr_t", pointer)), not writable), "shape": shape,
                                    "typestr": kind, "version": 3}

    def __del__(self):
        self.block.release()


KINDS = {"double": "<f8", "float": "<f4", "int32_t": "<i4", "uint8_t": "|u1", "unsigned char": "|u1", "_Bool": "|b1",
         "int16_t": "<i2", "int64_t": "<i8", "uint32_t": "<u4"}


def window(block, pointer, shape, writable=False):
    """An array that looks into memory of a block without a copy. It keeps the block alive."""
    kind = KINDS[ffi.typeof(pointer).item.cname]
    if pointer == ffi.NULL or 0 in shape:
        return np.zeros(shape if 0 in shape else (0,), kind)
    return np.asarray(_Window(block, pointer, tuple(map(int, shape)), kind, writable))


def copied(pointer, shape):
    """A copy of memory of the library; empty where there is none."""
    kind = KINDS[ffi.typeof(pointer).item.cname]
    size = math.prod(shape)
    if pointer == ffi.NULL or size == 0:
        return np.zeros(shape if size == 0 else (0,), kind)
    count = size * np.dtype(kind).itemsize
    return np.frombuffer(ffi.buffer(pointer, count), kind).reshape(shape).copy()


def taken(pointer, shape):
    """Copies an array that the library handed out, and frees it."""
    array = copied(pointer, shape)
    lib.bough_release(context().pointer, pointer)
    return array


class _Arrays(Handle):
    """A handle whose struct has arrays at places that stay: `_shapes` says which, and of which shape. Each is made when it
    is first asked for, and kept until close()."""

    writable = True

    def _shapes(self):
        return {}

    def __getattr__(self, name):
        shapes = {} if name.startswith("_") else self._shapes()
        if name not in shapes:
            raise AttributeError(f"{type(self).__name__} has no {name}")
        place = getattr(self._c, name)
        if ffi.typeof(place).item.kind == "struct":
            place = ffi.cast("double *", place)
        array = self.__dict__[name] = window(self._block, place, shapes[name], self.writable)
        self.__dict__.setdefault("_kept", []).append(name)
        return array

    def __setattr__(self, name, value):
        """What is assigned to an array, `state.q = numbers`, becomes its content."""
        if name.startswith("_") or self._block is None or isinstance(getattr(type(self), name, None), property) or name not in self._shapes():
            super().__setattr__(name, value)
            return
        array = getattr(self, name)
        try:
            array[...] = value
        except (TypeError, ValueError) as error:
            raise wrong(f"{name} holds numbers of shape {' x '.join(map(str, array.shape))}: {error}") from None

    def __dir__(self):
        return sorted(set(super().__dir__()) | set(self._shapes()))

    def close(self):
        """Lets go of the memory; arrays that look into it keep it until they go too."""
        for name in self.__dict__.pop("_kept", ()):
            del self.__dict__[name]
        super().close()


def fetch(function, *arguments):
    """Calls a function that hands out an object by its last argument, and returns the pointer to it."""
    kind = ffi.typeof(function).args[-1].item
    place = ffi.new(ffi.getctype(kind, "*"))
    call(function, *arguments, place)
    return place[0]


version = text(lib.bough_version())
