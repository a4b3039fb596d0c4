"""Meshes: volumes of tets and bricks, surfaces of triangles."""

import numpy as np

from ._core import Handle, call, copied, fetch, ffi, lib, of, taken, text, window, wrong
from ._values import chars, definition, enum, existing, floats, ints, nullable, path, pointer, record, structs, word

TYPES = "bough_element_type"
SETS = "bough_set_kind"
# The words of other programs for our elements: meshio's names of cells.
FOREIGN = {"triangle": "tri3", "tetra": "tet4", "tetra10": "tet10", "hexahedron": "hex8"}


class Element:
    """A kind of element by its name: "tri3", "tet4", "tet10" or "hex8"."""

    def __init__(self, name):
        self.number = enum(TYPES, name)

    @property
    def name(self):
        """Its name in files."""
        return text(lib.bough_element_name(self.number))

    @property
    def nodes(self):
        """How many nodes it has."""
        return lib.bough_element_node_count(self.number)

    @property
    def corners(self):
        """How many of them are corners."""
        return lib.bough_element_corner_count(self.number)

    @property
    def faces(self):
        """The corners of its faces, counter-clockwise seen from outside: a list of lists."""
        corners = ffi.new("int32_t[4]")
        counts = range(lib.bough_element_face_count(self.number))
        return [list(corners[0:lib.bough_element_face_corners(self.number, face, corners)]) for face in counts]

    def __repr__(self):
        return f"<bough.Element {self.name}: {self.nodes} nodes>"


class Mesh(Handle):
    """A volume mesh or a surface. `vertices` (n x 3) and `elements` look into it without a copy.

        bough.Mesh(vertices, elements, type="tet4")     from arrays
        bough.read("twig.msh")                          from a file
        bough.box(size=[1, 0.1, 0.1], cells=[10, 1, 1]) by a generator
        bough.from_data(mesh)                           what has points and cells, or vertices and faces
    """

    def __init__(self, vertices, elements, type=None):
        vertices = floats(vertices, -1, 3)
        elements = ints(elements)
        if type is None:
            nodes = {3: "tri3", 4: "tet4", 10: "tet10", 8: "hex8"}
            type = nodes.get(elements.shape[-1] if elements.ndim == 2 else 0)
            if type is None:
                raise wrong("elements are rows of 3, 4, 8 or 10 numbers of vertices")
        element = Element(FOREIGN.get(type, type))
        if elements.ndim == 2 and elements.shape[1] != element.nodes:
            raise wrong(f"elements of the type {element.name} are rows of {element.nodes} numbers of vertices, not of {elements.shape[1]}")
        elements = ints(elements, -1, element.nodes)
        self._take(fetch(lib.bough_mesh_create, element.number, len(vertices), pointer(vertices), len(elements),
                         pointer(elements, "int32_t")))

    _writable = True

    def _take(self, mesh):
        self._own(mesh, lib.bough_mesh_destroy)

    @classmethod
    def _of(cls, mesh):
        self = cls.__new__(cls)
        self._take(mesh)
        return self

    @classmethod
    def _inside(cls, mesh, owner, writable=False):
        """A mesh that belongs to something else, which may rely on it."""
        self = cls.__new__(cls)
        self._own(mesh, None, [owner])
        self._writable = writable
        return self

    def _mine(self):
        if not self._writable:
            raise wrong("this mesh belongs to something else, which relies on it; copy.copy(mesh) is one that may be changed")
        return self._c

    def __reduce_ex__(self, protocol):
        found = [(kind, name, items) for kind, sets in self.sets.items() for name, items in sets.items()]
        return _again, (self.vertices.copy(), self.elements.copy(), self.type, found, [m.asdict() for m in self.materials])

    def __repr__(self):
        if self.closed:
            return "<bough.Mesh, closed>"
        return f"<bough.Mesh: {self._c.vertex_count} vertices, {self._c.element_count} {self.type} elements>"

    @property
    def type(self):
        """ "tri3", "tet4", "tet10" or "hex8"."""
        return text(lib.bough_element_name(self._c.type))

    @property
    def vertices(self):
        """n x 3, m. Those of a mesh of one's own may be written; check() then says whether it is still a mesh."""
        return window(self._block, self._c.vertices, (self._c.vertex_count, 3), self._writable)

    @property
    def elements(self):
        """Numbers of vertices, a row for each element."""
        nodes = lib.bough_element_node_count(self._c.type)
        return window(self._block, self._c.elements, (self._c.element_count, nodes))

    def __len__(self):
        return self._c.element_count

    # ---- sets and materials ----

    @property
    def sets(self):
        """Named sets: {"vertex": {name: numbers}, "face": ..., "element": ...}."""
        found = {"vertex": {}, "face": {}, "element": {}}
        for i in range(self._c.set_count):
            s = self._c.sets[i]
            found[word(SETS, s.kind)][text(s.name)] = copied(s.items, (s.count,))
        return found

    def find_set(self, kind, name):
        """The items of a set ("vertex", "face" or "element"); None: there is none of that name."""
        found = lib.bough_mesh_find_set(self._c, enum(SETS, kind), chars(name))
        return None if found == ffi.NULL else copied(found.items, (found.count,))

    def add_set(self, kind, name, items):
        """Adds items to a named set, which is made when it is new."""
        items = ints(items, -1)
        call(lib.bough_mesh_add_set, self._mine(), enum(SETS, kind), chars(name), pointer(items, "int32_t"), len(items))

    def add_material(self, name, young=0, poisson=0, density=0, element_set=""):
        """Adds constants (SI; 0: unknown) of an element set, or of all elements."""
        call(lib.bough_mesh_add_material, self._mine(), chars(name), young, poisson, density, chars(element_set))

    @property
    def materials(self):
        """Constants that came with the file."""
        return [record(ffi.addressof(self._c.materials, i)) for i in range(self._c.material_count)]

    def select(self, expression):
        """Numbers of the vertices that an expression chooses: "x<0.01 & z>1", "nearest:0,0,1", the name of a set."""
        vertices, count = ffi.new("int32_t **"), ffi.new("int32_t *")
        call(lib.bough_mesh_select, self._c, chars(expression), vertices, count)
        return taken(vertices[0], (count[0],))

    # ---- measuring and changing ----

    def measure(self):
        """Volume, area, box, qualities and defects."""
        report = ffi.new("bough_mesh_report *")
        call(lib.bough_mesh_measure, self._c, report)
        return record(report)

    def check(self):
        """Raises if an index is out of range, a coordinate is not finite, or an element is inverted or flat."""
        call(lib.bough_mesh_check, self._c)

    def repair(self):
        """Flips inverted elements; returns how many there were."""
        flipped = ffi.new("int32_t *")
        call(lib.bough_mesh_repair, self._mine(), flipped)
        return flipped[0]

    def transform(self, **settings):
        """Moves the vertices: scale (0.001 for millimetres), up ("x", "y" or "z"), rotate_deg."""
        call(lib.bough_mesh_transform, self._mine(), definition("bough_mesh_transform_def", settings))
        return self

    def surface(self):
        """The boundary as a triangle mesh, the vertex of this mesh for each of its vertices, and the face for each
        triangle."""
        surface, vertices, faces = ffi.new("bough_mesh **"), ffi.new("int32_t **"), ffi.new("int32_t **")
        call(lib.bough_mesh_surface, self._c, surface, vertices, faces)
        mesh = Mesh._of(surface[0])
        return mesh, taken(vertices[0], (mesh._c.vertex_count,)), taken(faces[0], (mesh._c.element_count,))

    def edges(self):
        """Every edge once: pairs of vertices."""
        edges, count = ffi.new("int32_t **"), ffi.new("int32_t *")
        call(lib.bough_mesh_edges, self._c, edges, count)
        return taken(edges[0], (count[0], 2))

    def raise_order(self):
        """A tet10 mesh of this tet4 mesh."""
        return Mesh._of(fetch(lib.bough_mesh_raise_order, self._c))

    def tetrahedralize(self, max_edge=0, program=None):
        """Tets inside of this closed surface, by gmsh or tetgen."""
        return Mesh._of(fetch(lib.bough_mesh_tetrahedralize, self._c, nullable(chars, program), max_edge))

    def voxelize(self, cell):
        """Bricks of edge `cell` that meet the inside of this closed surface, and how it is embedded in them."""
        mesh, embedding = ffi.new("bough_mesh **"), ffi.new("bough_embedding **")
        call(lib.bough_mesh_voxelize, self._c, cell, mesh, embedding)
        return Mesh._of(mesh[0]), Embedding(embedding[0])

    def bind(self, surface):
        """Embeds a surface in this volume: an Embedding, and a report on what lies outside."""
        embedding, report = ffi.new("bough_embedding **"), ffi.new("bough_bind_report *")
        call(lib.bough_mesh_bind, self._c, of(Mesh, surface), embedding, report)
        return Embedding(embedding[0]), record(report)

    # ---- domains ----

    def domains(self, sets=None):
        """A number for each element by element sets (all of them, or those named), and how many domains there are."""
        names = [chars(name) for name in sets or []]
        array = ffi.NULL if sets is None else ffi.new("char *[]", names)
        domain, count = ffi.new("int32_t **"), ffi.new("int32_t *")
        call(lib.bough_mesh_domains_from_sets, self._c, ffi.cast("const char *const *", array), len(names), domain, count)
        return taken(domain[0], (self._c.element_count,)), count[0]

    def split(self, domain):
        """Cuts the mesh into domains: a number for each element."""
        domain = ints(domain, self._c.element_count)
        return Split(fetch(lib.bough_mesh_split, self._c, pointer(domain, "int32_t"), int(domain.max(initial=-1)) + 1))

    def split_surface(self, domain, surface):
        """Cuts a surface that is drawn instead of this mesh along its domains: a list, None where one has no triangle."""
        domain = ints(domain, self._c.element_count)
        existing(domain.min(initial=0), len(domain), "domain")
        parts = ffi.new("bough_mesh *[]", 1 + existing(domain.max(initial=0), len(domain), "domain"))
        call(lib.bough_mesh_split_surface, self._c, pointer(domain, "int32_t"), len(parts), of(Mesh, surface), parts)
        return [None if part == ffi.NULL else Mesh._of(part) for part in parts]

    # ---- files ----

    def write(self, name, fields=None):
        """Writes .msh, .vtu, .inp, .obj or .stl. fields (.vtu only): {name: array}, a row for each vertex or element."""
        if not fields:
            call(lib.bough_mesh_write, self._c, path(name))
            return
        keep, described = [], []
        for title, values in fields.items():
            values = floats(values)
            if len(values) not in (self._c.vertex_count, self._c.element_count):
                raise wrong(f'the field "{title}" has {len(values)} rows; there are {self._c.vertex_count} vertices and '
                            f"{self._c.element_count} elements")
            described.append({"name": title, "on_elements": len(values) != self._c.vertex_count,
                              "components": values.size // max(len(values), 1), "values": pointer(values)})
        call(lib.bough_mesh_write_fields, self._c, path(name), structs("bough_field", described, keep), len(described))


class Embedding(Handle):
    """How a surface follows a volume: for each vertex an element, and the weights of its nodes."""

    def __init__(self, c):
        self._own(c, lib.bough_embedding_destroy)

    @property
    def elements(self):
        """The element that holds each vertex."""
        return window(self._block, self._c.elements, (self._c.vertex_count,))

    @property
    def weights(self):
        """Of the element's nodes: vertices x 10, zeros behind the last node."""
        return window(self._block, self._c.weights, (self._c.vertex_count, lib.BOUGH_MAX_ELEMENT_NODES))

    def follow(self, mesh, values):
        """What the surface's vertices have of values at the vertices of the volume."""
        nodes = mesh.elements[self.elements]
        return np.einsum("vk,vkc->vc", self.weights[:, :nodes.shape[1]], floats(values, -1, 3)[nodes])

    def __repr__(self):
        return f"<bough.Embedding: {self._c.vertex_count} vertices>"


class Split(Handle):
    """A mesh that was cut into domains. domains[i]: mesh, vertex_map, element_map; interfaces: where two meet."""

    def __init__(self, c):
        self._own(c, lib.bough_split_destroy)
        self.domains, self.interfaces, self.touching = [], [], []
        for i in range(c.domain_count):
            found = record(ffi.addressof(c.domains, i))
            d = c.domains[i]
            found.mesh = Mesh._inside(d.mesh, self, True)
            found.vertex_map = window(self._block, d.vertex_map, (d.mesh.vertex_count,))
            found.element_map = window(self._block, d.element_map, (d.mesh.element_count,))
            self.domains.append(found)
        for i in range(c.interface_count):
            found = record(ffi.addressof(c.interfaces, i))
            found.vertices = [window(self._block, c.interfaces[i].vertices[s], (found.vertex_count,)) for s in (0, 1)]
            found.weights = window(self._block, c.interfaces[i].weights, (found.vertex_count,))
            self.interfaces.append(found)
        self.touching = [record(ffi.addressof(c.touching, i)) for i in range(c.touching_count)]

    def tree(self, root=0):
        """The tree of domains from a root: the parent of each (-1: none), and the order in which they are reached."""
        parent, order = np.empty((2, len(self.domains)), np.int32)
        call(lib.bough_mesh_domain_tree, self._c, root, pointer(parent, "int32_t"), pointer(order, "int32_t"))
        return parent, order

    def __repr__(self):
        return f"<bough.Split: {len(self.domains)} domains, {len(self.interfaces)} interfaces>"


# ---- making ----


def _again(vertices, elements, type, sets, materials):
    """The mesh that was pickled or copied."""
    mesh = Mesh(vertices, elements, type)
    for kind, name, items in sets:
        mesh.add_set(kind, name, items)
    for material in materials:
        mesh.add_material(**material)
    return mesh


def read(name, volumes="refuse"):
    """Reads a mesh; the extension tells the format. volumes: what inverted elements are: "refuse", "repair", "accept"."""
    return Mesh._of(fetch(lib.bough_mesh_read, path(name), definition("bough_mesh_read_def", {"volumes": volumes})))


def box(**settings):
    """A box: size, origin, cells, type ("tet4", "tet10", "hex8"), tets_per_cell. Sets x0 x1 y0 y1 z0 z1."""
    return Mesh._of(fetch(lib.bough_mesh_generate_box, definition("bough_box_def", settings)))


def rod(**settings):
    """A round rod along z: length, radius, top_radius, cells_along, core_cells, rings, type. Sets bottom, top, side."""
    return Mesh._of(fetch(lib.bough_mesh_generate_rod, definition("bough_rod_def", settings)))


def implicit(distance, lower, upper, cell):
    """Tets of a shape by its distance: distance(x) is negative inside. lower, upper: a box around it."""
    handle = ffi.new_handle(distance)
    d = definition("bough_implicit_def", {"lower": lower, "upper": upper, "cell": cell})
    d.distance, d.user = lib.bough_py_distance, handle
    return Mesh._of(fetch(lib.bough_mesh_generate_implicit, d))


def from_data(data):
    """A mesh of what has `points` and `cells` (as meshio's) or `vertices` and `faces` (as trimesh's).

    Of several blocks of cells the volumes count if there are any; they must be of one kind."""
    if hasattr(data, "points") and hasattr(data, "cells"):
        cells = data.cells.items() if isinstance(data.cells, dict) else \
            [(block.type, block.data) if hasattr(block, "type") else (block[0], block[1]) for block in data.cells]
        known = {}
        for kind, rows in cells:
            if kind in FOREIGN:
                known.setdefault(kind, []).append(np.asarray(rows))
        volumes = [kind for kind in known if kind != "triangle"]
        if len(volumes) > 1:
            raise wrong(f"the mesh has {' and '.join(sorted(volumes))}; one kind of volume is wanted")
        chosen = volumes[0] if volumes else "triangle"
        if chosen not in known:
            raise wrong(f"the mesh has no {', '.join(FOREIGN)}")
        points = floats(data.points)
        if points.ndim == 2 and points.shape[1] == 2:
            points = np.pad(points, ((0, 0), (0, 1)))
        return Mesh(points, np.concatenate(known[chosen]), FOREIGN[chosen])
    if hasattr(data, "vertices") and hasattr(data, "faces"):
        return Mesh(data.vertices, data.faces, "tri3")
    raise wrong("an object with points and cells, or with vertices and faces, is wanted")
