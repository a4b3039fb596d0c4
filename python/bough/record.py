"""Pictures, animations, plots, glTF films, OBJ files and arrays: what the library writes."""

import numpy as np

from ._core import Handle, call, context, fetch, ffi, lib, text, window, wrong
from ._values import Keep, chars, definition, enum, existing, fill, floats, ints, nullable, path, pointer, structs, vector


def colour(t, map="sequential"):
    """The colour of a map ("sequential", "diverging") at t, or at an array of them."""
    values = np.atleast_1d(floats(t))
    colours, one = np.empty((values.size, 3), "<f4"), ffi.new("float[3]")
    for i, value in enumerate(values.ravel()):
        lib.bough_colour_map_at(enum("bough_colour_map", map), value, one)
        colours[i] = list(one)
    return colours[0] if np.ndim(t) == 0 else colours.reshape(values.shape + (3,))


def label_width(size, label):
    """The width of a label in pixels."""
    return lib.bough_label_width(size, chars(label))


class Picture(Handle):
    """A picture of surfaces and lines, drawn in software. settings: width, height, samples, eye, target, up,
    field_of_view, ground, shadow, light, ...; box: (lower, upper) that just fits.

        picture = bough.Picture(width=640, height=480, box=(lower, upper))
        picture.surface(vertices, triangles).render().write("oak.png")
    """

    def __init__(self, box=None, **settings):
        self._def = definition("bough_picture_def", settings)
        if box is not None:
            lib.bough_picture_frame(self._def, vector(box[0]), vector(box[1]))
        self._own(fetch(lib.bough_picture_create, self._def), lib.bough_picture_destroy)

    def set(self, box=None, **settings):
        """Changes camera, light or background."""
        changed = ffi.new("bough_picture_def *", self._def[0])
        fill(changed, settings, [])
        if box is not None:
            lib.bough_picture_frame(changed, vector(box[0]), vector(box[1]))
        call(lib.bough_picture_set_def, self._c, changed)
        self._def = changed
        return self

    def clear(self):
        """Forgets what was added."""
        lib.bough_picture_clear(context().pointer, self._c)
        return self

    def surface(self, vertices, triangles, **style):
        """Adds a surface. style: colour, vertex_colours, scalars (with scalar_min, scalar_max, colour_map), gloss, edges."""
        vertices, triangles = floats(vertices, -1, 3), ints(triangles, -1, 3)
        keep = Keep(vertices=len(vertices), triangles=len(triangles))
        if "scalars" in style:
            scalars = style["scalars"] = floats(style["scalars"], len(vertices))
            style = {"scalar_min": scalars.min(), "scalar_max": scalars.max(), **style}
        call(lib.bough_picture_add_surface, self._c, pointer(vertices), len(vertices), pointer(triangles, "int32_t"), len(triangles),
             definition("bough_surface_style", style, keep))
        return self

    def lines(self, points, **style):
        """Adds straight lines: n x 2 x 3."""
        points = floats(points, -1, 2, 3)
        call(lib.bough_picture_add_lines, self._c, pointer(points), len(points), definition("bough_line_style", style))
        return self

    def polyline(self, points, **style):
        """Adds a line through points."""
        points = floats(points, -1, 3)
        call(lib.bough_picture_add_polyline, self._c, pointer(points), len(points), definition("bough_line_style", style))
        return self

    def label(self, x, y, label, size=12, colour=(0, 0, 0)):
        """Adds a text, its top left corner at pixel (x, y)."""
        call(lib.bough_picture_add_label, self._c, x, y, size, pointer(floats(colour, 3, kind="<f4"), "float"), chars(label))
        return self

    def colour_bar(self, x, y, width, height, minimum, maximum, title=None, map="sequential"):
        """Adds a colour bar."""
        call(lib.bough_picture_add_colour_bar, self._c, x, y, width, height, enum("bough_colour_map", map), minimum, maximum, nullable(chars, title))
        return self

    def render(self):
        """Draws everything."""
        call(lib.bough_picture_render, self._c)
        return self

    @property
    def pixels(self):
        """height x width x 4 bytes, a window."""
        return window(self._block, ffi.cast("uint8_t *", lib.bough_picture_pixels(self._c)), (self._def.height, self._def.width, 4))

    def write(self, name):
        """Writes a PNG file."""
        call(lib.bough_picture_write_png, self._c, path(name))
        return self

    def _repr_png_(self):
        import os
        import tempfile

        with tempfile.TemporaryDirectory() as folder:
            name = os.path.join(folder, "picture.png")
            self.write(name)
            with open(name, "rb") as file:
                return file.read()

    def __repr__(self):
        return "<bough.Picture, closed>" if self.closed else f"<bough.Picture: {self._def.width} x {self._def.height}>"


class _Writer(Handle):
    """A file that appears when it is finished: `with` finishes it, or discards it when something fails."""

    _finish = _discard = None

    def finish(self):
        """Completes the file."""
        pointer_ = self._c
        self._block.destroy = None
        self.close()
        call(self._finish, pointer_)

    def discard(self):
        """Removes the unfinished file."""
        self.close()

    def __exit__(self, *error):
        if not self.closed:
            self.finish() if error[0] is None else self.discard()


class Animation(_Writer):
    """An animated PNG."""

    _finish = lib.bough_animation_finish

    def __init__(self, name, width, height, fps=30):
        self._own(fetch(lib.bough_animation_create, path(name), width, height, fps), lib.bough_animation_discard)

    def add(self, picture):
        """Adds a picture as it was rendered last."""
        call(lib.bough_animation_add, self._c, picture._c)


class Output(_Writer):
    """A file that another program writes under `name` until it is finished."""

    _finish = lib.bough_output_finish

    def __init__(self, name):
        self._own(fetch(lib.bough_output_create, path(name)), lib.bough_output_discard)
        self.name = text(lib.bough_output_name(self._c))


def plot(name, series, **settings):
    """Writes a line plot, .svg or .png. series: {name: (x, y)}; settings: title, x_title, y_title, width, height, log_x, ..."""
    keep = []
    rows = [{"name": title, "x": floats(x, len(y)), "y": floats(y, len(y))} for title, (x, y) in series.items()]
    call(lib.bough_plot_write, definition("bough_plot_def", settings, keep), structs("bough_series", rows, keep), len(rows), path(name))


class Glb(_Writer):
    """An animated scene as binary glTF. Meshes and nodes first, then frames."""

    _finish = lib.bough_glb_finish

    def __init__(self, name, **settings):
        keep = []
        self._own(fetch(lib.bough_glb_create, definition("bough_glb_def", {"path": name, **settings}, keep)), lib.bough_glb_discard)
        self._meshes, self._nodes = [], []

    def mesh(self, positions, triangles, targets=None, **settings):
        """Adds a mesh; returns its number. targets: n x vertices x 3; settings: colour, name, normals."""
        positions, triangles = floats(positions, -1, 3, kind="<f4"), ints(triangles, -1, 3)
        d = definition("bough_glb_mesh", {**settings, "positions": positions, "triangles": triangles, "targets": targets},
                       Keep(vertices=len(positions)))
        d.vertex_count = len(positions)
        call(lib.bough_glb_add_mesh, self._c, d)
        self._meshes.append(d.target_count)
        return len(self._meshes) - 1

    def tint(self, mesh, colour):
        """The same mesh in another colour; returns its number."""
        existing(mesh, len(self._meshes), "mesh")
        call(lib.bough_glb_add_tint, self._c, mesh, pointer(floats(colour, 3, kind="<f4"), "float"))
        self._meshes.append(self._meshes[mesh])
        return len(self._meshes) - 1

    def node(self, mesh, name=None, scale=1.0):
        """A node that shows a mesh; returns its number."""
        call(lib.bough_glb_add_node, self._c, nullable(chars, name), mesh, scale)
        self._nodes.append(mesh)
        return len(self._nodes) - 1

    def frame(self, time, poses, weights=()):
        """A frame: a pose (4 x 4) for each node, and the weights of all nodes, one after the other."""
        if len(poses) != len(self._nodes):
            raise wrong(f"there are {len(self._nodes)} nodes, and {len(poses)} poses")
        found = ffi.new("bough_glb_pose[]", max(1, len(poses)))
        for i, p in enumerate(poses):
            p = floats(p, 4, 4)
            found[i].translation, found[i].rotation = list(p[:3, 3]), list(p[:3, :3].ravel())
        weights = floats(weights, sum(self._meshes[m] for m in self._nodes), kind="<f4")
        call(lib.bough_glb_add_frame, self._c, time, found, pointer(weights, "float"))

    def flush(self):
        """Writes the file as it is so far."""
        call(lib.bough_glb_flush, self._c)


class Npz(_Writer):
    """Arrays that grow by rows, in a .npz file that numpy.load reads, also while it is written."""

    _finish = lib.bough_npz_finish
    TYPES = {"float64": "double", "float32": "float", "int32": "int32_t"}

    def __init__(self, name):
        self._own(fetch(lib.bough_npz_create, path(name)), lib.bough_npz_discard)
        self._arrays = {}

    def array(self, name, shape=(), dtype="float64"):
        """Begins an array whose rows have this shape."""
        dtype = np.dtype(dtype)
        sizes = ints(list(shape) or [0])
        call(lib.bough_npz_add_array, self._c, chars(name), enum("bough_npz_type", dtype.name), len(shape), pointer(sizes, "int32_t"))
        self._arrays[name] = (tuple(shape), dtype)

    def texts(self, name, texts):
        """Adds an array of texts."""
        strings = [nullable(chars, t) for t in texts]
        array = ffi.new("char *[]", strings) if strings else ffi.NULL
        call(lib.bough_npz_add_texts, self._c, chars(name), len(strings), ffi.cast("const char *const *", array))

    def append(self, name, rows):
        """Appends rows to an array."""
        number = lib.bough_npz_find(self._c, chars(name))
        if number < 0 or name not in self._arrays:
            raise wrong(f'there is no array "{name}"; there are {", ".join(self._arrays)}')
        shape, dtype = self._arrays[name]
        rows = floats(rows, -1, *shape, kind=dtype.newbyteorder("<").str)
        call(lib.bough_npz_append, self._c, number, len(rows), pointer(rows, self.TYPES[dtype.name]))

    def flush(self):
        """Writes the file as it is so far."""
        call(lib.bough_npz_flush, self._c)


def write_obj(name, positions, triangles, normals=None, groups=()):
    """Writes a surface as .obj. groups: [(name, number of triangles)]."""
    positions, triangles = floats(positions, -1, 3, kind="<f4"), ints(triangles, -1, 3)
    normals = None if normals is None else floats(normals, len(positions), 3, kind="<f4")
    groups = list(groups) or [("surface", len(triangles))]
    if sum(count for _, count in groups) != len(triangles):
        raise wrong(f"the groups have {sum(count for _, count in groups)} triangles, and the surface {len(triangles)}")
    array = structs("bough_obj_group", [{"name": n, "triangle_count": c} for n, c in groups])
    call(lib.bough_obj_write, path(name), len(positions), pointer(positions, "float"), pointer(normals, "float"),
         pointer(triangles, "int32_t"), len(groups), array)


def write_npy(name, matrix):
    """Writes a matrix as .npy."""
    matrix = floats(matrix)
    matrix = matrix.reshape(len(matrix), -1)
    call(lib.bough_npy_write, path(name), *matrix.shape, pointer(matrix))
