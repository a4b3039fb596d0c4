"""What all modules stand on: errors, contexts, ownership, callbacks, and structs of C from and to Python.

Contexts. A context of the library serves one calling thread at a time, so every thread has one of its own, made when it
is first needed. `with Context(threads=1, progress=...)` takes another one for a while.

Ownership. A Handle (a Mesh, a Run, ...) has a Block, which destroys the object of the library when nobody uses it any
more: the handle, handles of what was made from it (a run of its scene), and NumPy arrays that look into it all count.
"""

import atexit
import difflib
import math
import os
import threading
import warnings
import weakref

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
    return f'; did you mean "{close[0]}"?' if close else f"; there are {', '.join(sorted(words))}"


# ---- callbacks: an exception in one ends the call, and is raised by it ----

_raised = {}  # by thread


def keep_exception(kind, error, traceback):
    """Called where a callback raised something, also Ctrl-C: the call of the library raises it when it comes back."""
    _raised.setdefault(threading.get_ident(), error)


def raise_kept():
    """Raises what a callback of this thread has raised."""
    if _raised:
        error = _raised.pop(threading.get_ident(), None)
        if error is not None:
            raise error


def _callback(error=None):
    """A function that the library calls; where it raises, the library gets `error`."""
    return ffi.def_extern(onerror=keep_exception, error=error)


def _go_on(answer):
    """Whether what a callback returned lets the call go on: all but False does."""
    return answer is None or bool(answer)


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
    """May be called by a thread of the library: the exception is kept for the thread that waits for it."""
    thread, function = ffi.from_handle(user)
    try:
        function(cooked)
    except BaseException as error:
        _raised.setdefault(thread, error)


# ---- contexts ----


def _warn(sentence):
    warnings.warn(sentence, Remark, stacklevel=2)


class Block:
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

    def release(self):
        with Block.lock:
            self.count -= 1
            if self.count != 0:
                return
        if self.destroy is not None:
            self.destroy(self.pointer)
        for keep in self.keeps:
            keep.release()


class _Listeners:
    """Who hears what the library says; apart from the context, so that the two do not hold each other."""

    def __init__(self, progress, warn):
        self.progress, self.warn, self.reading = progress, warn, None


class Context:
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
        definition.thread_count = int(threads)
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
        raise_kept()
        if status != lib.BOUGH_OK:
            raise ERRORS.get(status, Error)(text(lib.bough_message(self.pointer)), status)

    def like(self, threads=None):
        """A new context with the same callbacks."""
        return Context(self.threads if threads is None else threads, self._listeners.progress, self._listeners.warn)


_threads = threading.local()


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
    if status != lib.BOUGH_OK or _raised:
        ctx.check(status)


# ---- ownership ----

_finish_at_exit = weakref.WeakSet()


class Handle:
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


@atexit.register
def _close_all():
    for handle in list(_finish_at_exit):
        handle.close()


class _Window:
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

    def __dir__(self):
        return sorted(set(super().__dir__()) | set(self._shapes()))

    def close(self):
        """Lets go of the memory; arrays that look into it keep it until they go too."""
        for name in self.__dict__.pop("_kept", ()):
            del self.__dict__[name]
        super().close()


# ---- arguments ----


def existing(number, count, what):
    """A number of something, checked for functions of the library that ask for one that exists."""
    if not 0 <= number < count:
        raise wrong(f"there is no {what} {number}; there are {count}, counted from 0")
    return int(number)



def floats(values, *shape, kind="<f8"):
    """A contiguous array of these values; shape: what it must have, -1 for any number."""
    array = np.ascontiguousarray(values, dtype=kind)
    if shape:
        try:
            array = array.reshape(shape)
        except ValueError:
            wanted = " x ".join("n" if n < 0 else str(n) for n in shape)
            raise wrong(f"numbers of shape {wanted} are wanted, not {' x '.join(map(str, array.shape)) or 'one'}") from None
    return array


def ints(values, *shape):
    """The same with whole numbers."""
    return floats(values, *shape, kind="<i4")


def pointer(array, kind="double"):
    """The first number of a contiguous array, for C."""
    return ffi.NULL if array is None else ffi.from_buffer(kind + "[]", array) if array.size else ffi.new(kind + "[1]")


def vector(values):
    """Three numbers for C."""
    return pointer(floats(values, 3))


def output(out, shape, kind):
    """The array to fill in: `out`, checked, or a new one."""
    if out is None:
        return np.empty(shape, kind)
    if out.dtype != np.dtype(kind) or out.size != math.prod(shape) or not out.flags.c_contiguous or not out.flags.writeable:
        raise wrong(f"out must be a contiguous array of {np.dtype(kind).name} with the shape {tuple(shape)}")
    return out


def path(name):
    """A file's name for C."""
    return ffi.NULL if name is None else ffi.new("char[]", os.fsencode(name))


def chars(name):
    """A text for C."""
    return ffi.NULL if name is None else ffi.new("char[]", str(name).encode())


_enums = {}


def _words(kind):
    """Names of an enum's values without what they have in common: {"tet4": 1, ...}."""
    if kind not in _enums:
        names = {name: number for number, name in ffi.typeof(kind).elements.items()}
        common = os.path.commonprefix(list(names)).rpartition("_")[0] if len(names) > 1 else "BOUGH"
        _enums[kind] = {name[len(common) + 1:].lower().replace("_", "-"): number for name, number in names.items()}
    return _enums[kind]


def enum(kind, value):
    """The number of an enum's value by its name: enum("bough_element_type", "tet4")."""
    if not isinstance(value, str):
        return int(value)
    word = value.lower().replace("_", "-").replace(" ", "-")
    if word not in _words(kind):
        words = [w for w in _words(kind) if not w.endswith("count")]
        raise wrong(f'there is no "{value}"{nearest(word, words)}')
    return _words(kind)[word]


def word(kind, number):
    """The name of an enum's value."""
    for name, value in _words(kind).items():
        if value == number:
            return name
    return str(number)


# ---- structs ----

POSE = ffi.typeof("bough_pose")


def default(kind):
    """A struct of this type with its defaults, or zeros where it has none."""
    kind = kind.removeprefix("struct ")
    make = getattr(lib, "bough_default_" + kind[len("bough_"):], None)
    c = ffi.new(kind + " *")
    if make is not None:
        c[0] = make()
    return c


# What structs point to lives as long as they do.
_pointed_to = weakref.WeakKeyDictionary()


def definition(kind, values, keep=None):
    """A struct of this type: defaults, and `values` over them. It keeps what it points to; where it becomes a part of
    something that lives longer, `keep` collects that, too."""
    keep = [] if keep is None else keep
    c = default(kind)
    fill(c, values, keep)
    keep.append(c)
    _pointed_to[c] = [k for k in keep if k is not c]
    return c


def fill(c, values, keep):
    """Sets fields of a struct by name. Lists set the field that counts them too."""
    fields = dict(ffi.typeof(c).item.fields if ffi.typeof(c).kind == "pointer" else ffi.typeof(c).fields)
    for name, value in values.items():
        if name not in fields:
            known = [f for f in fields if f not in ("cookie", "reserved") and not f.endswith(("_data", "_user", "_count"))]
            raise wrong(f'there is no setting "{name}"{nearest(name, known)}')
        if value is not None:
            _set(c, name, fields[name].type, fields, value, keep)


def _set(c, name, kind, fields, value, keep):
    if kind.kind == "primitive":
        setattr(c, name, value.encode() if kind.cname == "char" else bool(value) if kind.cname == "_Bool" else value)
    elif kind.kind == "enum":
        setattr(c, name, enum(kind.cname, value))
    elif kind.kind == "array":
        array = floats(value, *([-1] if kind.length is None else [kind.length]), kind=KINDS[kind.item.cname])
        ffi.memmove(getattr(c, name), array, array.nbytes)
    elif kind.kind == "struct":
        if kind is POSE:
            value = pose_values(value)
        part = getattr(c, name)
        if isinstance(value, ffi.CData):
            setattr(c, name, value)
            return
        if hasattr(lib, "bough_default_" + kind.cname.removeprefix("struct ")[len("bough_"):]):
            setattr(c, name, default(kind.cname)[0])
        fill(part, value, keep)
    else:
        _point(c, name, kind.item, fields, value, keep)


def _point(c, name, item, fields, value, keep):
    if isinstance(value, Handle):
        setattr(c, name, value._c)
        keep.append(value)
    elif isinstance(value, ffi.CData):
        setattr(c, name, value)
        keep.append(value)
    elif item.cname == "char":
        array = ffi.new("char[]", os.fsencode(value))
        keep.append(array)
        setattr(c, name, array)
    elif item.kind == "primitive":
        array = floats(value, kind=KINDS[item.cname])
        keep.append(array)
        setattr(c, name, pointer(array, item.cname))
        _count(c, name, fields, len(array))
        if name == "heights" and array.ndim == 2:
            c.rows, c.columns = array.shape
    elif item.kind == "pointer":
        texts = item.item.cname == "char"
        array = ffi.new(f"{item.item.cname} *[]", [chars(v) if texts else v._c for v in value])
        keep.extend(list(value))
        keep.append(array)
        if texts:
            strings = [chars(v) for v in value]
            keep.extend(strings)
            for i, string in enumerate(strings):
                array[i] = string
        setattr(c, name, ffi.cast(ffi.getctype(ffi.typeof(array).item, "*"), array))
        _count(c, name, fields, len(value))
    elif isinstance(value, dict):
        setattr(c, name, definition(item.cname, value, keep))
    else:
        array = structs(item.cname, value, keep)
        setattr(c, name, array)
        _count(c, name, fields, len(value))


def structs(kind, values, keep=None):
    """An array of structs from a list of dictionaries; as for definition()."""
    keep = [] if keep is None else keep
    kind = kind.removeprefix("struct ")
    array = ffi.new(kind + "[]", max(len(values), 1))
    for i, value in enumerate(values):
        if isinstance(value, ffi.CData):
            array[i] = value if ffi.typeof(value).kind == "struct" else value[0]
        else:
            if kind == "bough_pose":
                value = pose_values(value)
            array[i] = default(kind)[0]
            fill(array[i], value, keep)
    _pointed_to[array] = list(keep)
    keep.append(array)
    return array


def _count(c, name, fields, count):
    """Sets "shape_count" beside "shapes", "body_count" beside "bodies", "vertex_count" beside "vertices"."""
    for one in (name[:-4] + "ex" if name.endswith("ices") else None, name[:-3] + "y" if name.endswith("ies") else None, name[:-2] if name.endswith("es") else None,
                name[:-1] if name.endswith("s") else None, name):
        if one and one + "_count" in fields:
            setattr(c, one + "_count", count)
            return


def pose_values(value):
    """A pose as a dictionary: of one, of a 4 x 4 or 3 x 4 matrix, of (position, rotation), or of a position alone."""
    if isinstance(value, dict):
        return {"position": np.zeros(3), "rotation": np.eye(3), **value}
    if isinstance(value, tuple) and len(value) == 2:
        return {"position": value[0], "rotation": value[1]}
    matrix = floats(value)
    if matrix.shape in ((4, 4), (3, 4)):
        return {"position": matrix[:3, 3].copy(), "rotation": matrix[:3, :3].copy()}
    return {"position": floats(matrix, 3), "rotation": np.eye(3)}


def pose(c):
    """A pose of C as a 4 x 4 matrix: x -> rotation x + position."""
    matrix = np.eye(4)
    matrix[:3, 3] = np.frombuffer(ffi.buffer(c.position))
    matrix[:3, :3] = np.frombuffer(ffi.buffer(c.rotation)).reshape(3, 3)
    return matrix


def _short(value):
    if isinstance(value, np.ndarray):
        return "[" + " ".join(f"{v:.6g}" for v in value.flat) + "]" if value.size <= 9 else f"<{value.shape}>"
    return f"{value:.6g}" if isinstance(value, float) else repr(value)


class Record:
    """Numbers and texts that belong together, read from a struct of the library."""

    def __init__(self, **values):
        self.__dict__.update(values)

    def __repr__(self):
        shown = [f"{name}={_short(value)}" for name, value in self.__dict__.items()]
        return f"<{', '.join(shown)}>"

    def __eq__(self, other):
        return isinstance(other, Record) and repr(self) == repr(other)

    def asdict(self):
        """The same as a dictionary."""
        return dict(self.__dict__)


def record(c):
    """A struct of C as a Record; what it points to, but for texts, is left out."""
    kind = ffi.typeof(c)
    values = {}
    for name, field in (kind.item if kind.kind == "pointer" else kind).fields:
        if name in ("cookie", "reserved"):
            continue
        value = getattr(c, name)
        if field.type.kind == "primitive":
            values[name] = value
        elif field.type.kind == "enum":
            values[name] = word(field.type.cname, value)
        elif field.type.kind == "pointer" and field.type.item.cname == "char":
            values[name] = text(value)
        elif field.type.kind == "array" and field.type.item.cname == "char":
            values[name] = ffi.string(value).decode("utf-8", "replace")
        elif field.type.kind == "array" and field.type.item.kind == "primitive":
            values[name] = copied(ffi.cast(field.type.item.cname + " *", value), (field.type.length,))
        elif field.type.kind == "struct":
            values[name] = pose(value) if field.type is POSE else record(value)
    return Record(**values)


def fetch(function, *arguments):
    """Calls a function that hands out an object by its last argument, and returns the pointer to it."""
    kind = ffi.typeof(function).args[-1].item
    place = ffi.new(ffi.getctype(kind, "*"))
    call(function, *arguments, place)
    return place[0]


version = text(lib.bough_version())
