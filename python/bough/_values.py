"""Arguments and structs of C from what Python has, and back."""

import functools
import math
import os
import weakref

import numpy as np

from ._core import KINDS, Handle, copied, ffi, lib, nearest, text, wrong

# ---- arguments ----


def whole(number, what, least=None):
    """A whole number; one of NumPy, or 2.0, is one, too."""
    try:
        found = int(number)
    except (TypeError, ValueError, OverflowError):
        found = None
    if found is None or isinstance(number, str) or found != number or (least is not None and found < least) or not -2**31 <= found < 2**31:
        raise wrong(f"a {what} is wanted, a whole number{'' if least is None else f' of {least} or more'}, not {number!r}")
    return found


def existing(number, count, what):
    """A number of something, checked for functions of the library that ask for one that exists."""
    if not 0 <= whole(number, what) < count:
        raise wrong(f"there is no {what} {number}; there are {count}, counted from 0")
    return int(number)


def changed(change):
    """A change of parts, which must say of which one."""
    if "part" not in mapping(change, "bough_change"):
        raise wrong(f'a change of parts needs a "part", and {change!r} has none')
    return change


def floats(values, *shape, kind="<f8"):
    """A contiguous array of these values; shape: what it must have, -1 for any number. Numbers without a shape (one after
    the other) get it, and one row may stand for rows; but rows and columns are not taken for each other."""
    given = _array(values)
    if given.dtype.kind == "c":
        raise wrong("real numbers are wanted, not complex ones")
    try:
        array = np.ascontiguousarray(given, dtype=kind)
    except (TypeError, ValueError) as error:
        raise wrong(f"numbers are wanted: {error}") from None
    if not shape or array.shape == shape or _fits(array.shape, shape):
        return array
    if array.ndim == 1 or array.size == 0 or _fits((1, *array.shape), shape) or _fits(_long(array.shape), _long(shape)):
        try:
            return array.reshape(shape)
        except ValueError:
            pass
    names = " x ".join("n" if n < 0 else str(n) for n in shape)
    raise wrong(f"numbers of shape {names} are wanted, not {' x '.join(map(str, given.shape)) or 'one'}")


def _array(values):
    try:
        return np.asarray(values)
    except ValueError as error:  # rows of different lengths
        raise wrong(f"numbers are wanted: {error}") from None


def _fits(shape, wanted):
    return len(shape) == len(wanted) and all(w in (-1, n) for n, w in zip(shape, wanted))


def _long(shape):
    return [n for n in shape if n != 1]


def ints(values, *shape):
    """The same with whole numbers."""
    given = _array(values)
    if given.dtype.kind == "b":
        raise wrong("whole numbers are wanted, not truths; numpy.flatnonzero(mask) has the numbers of a mask")
    if given.size and given.dtype.kind in "iuf":
        if given.dtype.kind == "f" and not (given == np.rint(given)).all():
            raise wrong(f"whole numbers are wanted, not {given.ravel()[np.argmax(given.ravel() != np.rint(given.ravel()))]:g}")
        if given.max() > 2**31 - 1 or given.min() < -2**31:
            raise wrong("whole numbers are wanted that have at most 32 bits")
    return floats(given, *shape, kind="<i4")


def numbers(item, values, *shape):
    """An array of these values for C, whose numbers are of the type `item`."""
    return ints(values, *shape) if item.cname == "int32_t" else floats(values, *shape, kind=KINDS[item.cname])


def displacements(values, vertex_count):
    """Three numbers for each vertex, one vertex after the other."""
    array = floats(values)
    return (array if array.ndim == 1 else floats(array, vertex_count, 3).reshape(-1)) if array.size == 3 * vertex_count else \
        floats(array, vertex_count, 3)


def mapping(values, what):
    """These values, where they are a dictionary."""
    if not hasattr(values, "items"):
        raise wrong(f"a dictionary with the keys of a {what} is wanted, not {values!r}")
    return values


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
    if not isinstance(out, np.ndarray) or out.dtype != np.dtype(kind) or out.size != math.prod(shape) or not out.flags.c_contiguous or not out.flags.writeable:
        raise wrong(f"out must be a contiguous array of {np.dtype(kind).name} with the shape {tuple(shape)}")
    return out


def octets(data):
    """Bytes for C, and how many there are."""
    try:
        view = memoryview(data).cast("B")
    except TypeError:
        raise wrong(f"bytes are wanted, not {type(data).__name__}") from None
    return ffi.from_buffer(view), view.nbytes


def _chars(text):
    if b"\0" in text:
        raise wrong(f"{text!r} has a byte 0, with which a text of C would end")
    return ffi.new("char[]", text)


def path(name):
    """A file's name for C."""
    try:
        return _chars(os.fsencode(name))
    except TypeError:
        raise wrong(f"the name of a file is wanted, not {name!r}") from None


def chars(name):
    """A text for C."""
    if name is None:
        raise wrong("a name is wanted, not None")
    return _chars(str(name).encode())


def nullable(make, value):
    """The same where the library takes NULL for None."""
    return ffi.NULL if value is None else make(value)


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
        if whole(value, "name") not in [n for w, n in _words(kind).items() if not w.endswith("count")]:
            raise wrong(f"there is no {kind.removeprefix('bough_').replace('_', ' ')} {value}")
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

# Shapes of arrays to which structs point. A word is a field of the struct that counts something, or a size that only the
# caller knows (Keep). An array that is not here has one number for each of what a field counts.
SHAPES = {
    "bough_adjoint_def.input": ("motors", "steps"), "bough_tracked_frame.weights": ("steps",),
    "bough_tracked_frame.positions": ("steps", 3), "bough_tracked_frame.rotations": ("steps", 9),
    "bough_cook_def.snapshots": (-1, "coordinates"), "bough_cook_def.columns": (-1, "coordinates"),
    "bough_cook_def.forces": (-1, "coordinates"), "bough_interface_def.weights": ("vertex_count",),
    "bough_glb_mesh.positions": ("vertices", 3), "bough_glb_mesh.normals": ("vertices", 3),
    "bough_glb_mesh.triangles": (-1, 3), "bough_glb_mesh.targets": (-1, "vertices", 3),
    "bough_glb_mesh.target_normals": ("target_count", "vertices", 3),
    "bough_joint_def.compliance": ("freedoms", "freedoms"), "bough_shape_def.points": (-1, 3),
    "bough_shape_def.heights": ("rows", "columns"), "bough_surface_style.vertex_colours": ("vertices", 3),
    "bough_surface_style.scalars": ("vertices",), "bough_surface_style.edge_mask": ("triangles",),
    "bough_track.time": (-1,), "bough_track.position": ("count", 3), "bough_track.rotation": ("count", 4),
    "bough_tree_touch_def.between": ("components",), "bough_workspace_def.loads": (-1, "wrenches"),
    "bough_workspace_def.box": ("wrenches",), "bough_workspace_def.path": (-1, "motors"),
}


class Keep(list):
    """What structs point to and must live as long, and the sizes that their arrays have."""

    def __init__(self, **sizes):
        super().__init__()
        self.sizes = sizes


def definition(kind, values, keep=None):
    """A struct of this type: defaults, and `values` over them. It keeps what it points to; where it becomes a part of
    something that lives longer, `keep` collects that, too."""
    keep = Keep() if keep is None else keep
    c = default(kind)
    fill(c, values, keep)
    keep.append(c)
    _pointed_to[c] = [k for k in keep if k is not c]
    return c


@functools.cache
def _fields(kind):
    """The fields of a struct, and those of them that count what others point to."""
    fields = dict(ffi.typeof(kind).fields)
    counters = {_counter(name, fields) for name, field in fields.items() if field.type.kind == "pointer"}
    return fields, counters - {None}


def fill(c, values, keep):
    """Sets fields of a struct by name. Lists set the field that counts them too."""
    struct = ffi.typeof(c)
    struct = struct.item if struct.kind == "pointer" else struct
    title = struct.cname.removeprefix("struct ")
    fields, counters = _fields(title)
    for name in mapping(values, title):
        if name not in fields or name in counters:
            known = [f for f in fields if f not in ("cookie", "reserved", *counters) and not f.endswith(("_data", "_user", "_count"))]
            raise wrong(f'there is no setting "{name}"{nearest(name, known)}')
    # Arrays last, since other fields say how large they are.
    for name in sorted(values, key=lambda name: (fields[name].type.kind == "pointer", list(fields).index(name))):
        if values[name] is not None:
            try:
                _set(c, name, fields[name].type, fields, values[name], keep)
            except (TypeError, OverflowError) as error:
                raise wrong(f'"{name}": {error}') from None


def _set(c, name, kind, fields, value, keep):
    if kind.kind == "primitive":
        setattr(c, name, value.encode() if kind.cname == "char" else bool(value) if kind.cname == "_Bool" else value)
    elif kind.kind == "enum":
        setattr(c, name, enum(kind.cname, value))
    elif kind.kind == "array":
        try:
            array = numbers(kind.item, np.ravel(value), -1 if kind.length is None else kind.length)
        except ValueError as error:
            raise wrong(f'"{name}": {error}') from None
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
        pointer_ = value._c
        setattr(c, name, pointer_)
        keep.extend([value, pointer_])  # closed or not, until the struct is gone
    elif isinstance(value, ffi.CData):
        setattr(c, name, value)
        keep.append(value)
    elif item.cname == "char":
        array = ffi.new("char[]", os.fsencode(value))
        keep.append(array)
        setattr(c, name, array)
    elif item.kind == "primitive":
        array = _sized(c, name, item, fields, value, getattr(keep, "sizes", {}))
        keep.append(array)
        setattr(c, name, pointer(array, item.cname))
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


def _sized(c, name, item, fields, value, sizes):
    """The array to which a field points, in the shape that it must have; sets the field that counts it."""
    kind = ffi.typeof(c)
    kind = (kind.item if kind.kind == "pointer" else kind).cname.removeprefix("struct ")
    if kind == "bough_shape_def" and name == "heights" and np.ndim(value) == 2:
        c.rows, c.columns = np.shape(value)
    if kind == "bough_joint_def":
        sizes = {"freedoms": lib.bough_joint_freedoms(c.kind)}
    shape = SHAPES.get(f"{kind}.{name}", (-1,))
    if any(isinstance(n, str) and n not in sizes and n not in fields for n in shape):
        raise wrong(f'"{name}" cannot be given here')
    try:
        array = numbers(item, value, *[n if not isinstance(n, str) else sizes[n] if n in sizes else getattr(c, n) for n in shape])
    except ValueError as error:
        raise wrong(f'"{name}": {error}') from None
    if shape[0] == -1:
        if _counter(name, fields) is None:
            raise wrong(f'"{name}" cannot be given here')
        _count(c, name, fields, len(array))
    return array


def structs(kind, values, keep=None):
    """An array of structs from a list of dictionaries; as for definition()."""
    keep = Keep() if keep is None else keep
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


def _counter(name, fields):
    """The field that counts another: "shape_count" beside "shapes", "body_count" beside "bodies", "vertex_count" beside
    "vertices", "count" beside "time"."""
    for one in (name[:-4] + "ex" if name.endswith("ices") else None, name[:-3] + "y" if name.endswith("ies") else None,
                name[:-2] if name.endswith("es") else None, name[:-1] if name.endswith("s") else None, name):
        if one and one + "_count" in fields:
            return one + "_count"
    return "count" if "count" in fields and name in ("time", "x", "y") else None


def _count(c, name, fields, count):
    if _counter(name, fields):
        setattr(c, _counter(name, fields), count)


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


def place_pose(c, value):
    """Sets a pose of C, whose numbers the library checks."""
    for name, numbers_ in pose_values(value).items():
        array = floats(np.ravel(numbers_), len(getattr(c, name)))
        ffi.memmove(getattr(c, name), array, array.nbytes)


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
