"""Scenes: files, dictionaries, and a builder for people that writes the same JSON."""

import html
import json
import math
import os
import shutil
import tempfile
import threading
import weakref

import numpy as np

from ._core import FileError, Handle, call, context, fetch, ffi, lib, of, text, wrong
from ._values import path, record
from .fem import Body, LoadCase


DEEPEST = 32  # lists and objects in each other, as the library reads them


def _plain(value, *place):
    """What JSON knows, of what people write; place: the keys that lead to it."""
    if len(place) > DEEPEST:
        raise wrong(f"{_place(place[:3])}...: lists and dictionaries are nested deeper than {DEEPEST}")
    if isinstance(value, dict):
        return {key: _plain(v, *place, key) for key, v in value.items() if v is not None}
    if isinstance(value, Named):
        return value.name
    if isinstance(value, (list, tuple)):
        return [_plain(v, *place, i) for i, v in enumerate(value)]
    if isinstance(value, np.ndarray):
        return _plain(value.tolist(), *place)
    if isinstance(value, np.generic):
        return _plain(value.item(), *place)
    if isinstance(value, os.PathLike):
        return os.fspath(value)
    if isinstance(value, float) and not math.isfinite(value):
        raise wrong(f"{_place(place)}: a finite number is wanted, not {value}")
    if not (value is None or isinstance(value, (str, int, float))):
        raise wrong(f"{_place(place)}: a number, a text, a list or a dictionary is wanted, not {value!r}")
    return value


def _place(place):
    """Keys as messages of the library show them: parts[2].component."""
    return "".join(f"[{key}]" if isinstance(key, int) else f".{key}" for key in place).removeprefix(".") or "a scene"


class Named:
    """An entry of a scene that others can name: a component, a part, a body, a link, a joint, a curve."""

    def __init__(self, scene, name, entry, kind):
        self.scene, self.name, self.entry, self.kind = scene, name, entry, kind

    def __repr__(self):
        return f"<{self.kind} {self.name!r}>"

    def __getitem__(self, key):
        return self.entry[key]

    def __setitem__(self, key, value):
        self.entry[key] = value

    def part(self, name, component, **keys):
        """A part that hangs on this one."""
        return self.scene.part(name, component, parent=self, **keys)

    def probe(self, name=None, **keys):
        """A probe of this thing."""
        return self.scene.probe(name or self.name, **{self.kind: self}, **keys)


class Scene(Handle):
    """What is simulated: of a file (JSON, URDF, MJCF), of a dictionary with the same keys, or built by calls.

        scene = bough.Scene("oak.json")
        scene = bough.Scene({"mesh": {...}, "fix": "x0"}, folder="data")

        scene = bough.Scene(gravity=[0, 0, -9.81])
        twig = scene.component("twig", mesh={...}, interfaces={...})
        scene.part("twig", twig, fix="base").part("leaf", leaf, interface="tip")
        run = scene.run()

    folder: where the file is written, names of other files count from, and components are kept once they are cooked;
    by default one for a while, deleted with the scene. docs/scene-format.md lists the keys.
    """

    LISTS = {"part": "parts", "body": "bodies", "link": "links", "joint": "joints", "end_effector": "end_effectors",
             "obstacle": "obstacles", "motor": "motors", "gear": "gears", "force": "forces", "event": "events", "tie": "ties"}

    def __init__(self, source=None, folder=None, **keys):
        self.data, self.path, self._temporary, self._loading = None, None, None, threading.RLock()
        if isinstance(source, dict) or source is None:
            self.data = {"bough": 1, **(source or {}), **keys}
            self._folder = folder
        else:
            if keys:
                raise wrong("a scene of a file takes no keys; read the file with json, change it, and make a scene of that")
            if not isinstance(source, (str, bytes, os.PathLike)):
                raise wrong(f"a scene is a file or a dictionary, not {source!r}")
            self.path = os.fspath(source)
            self._load()

    def __reduce_ex__(self, protocol):
        return _again, (self.path, None, None) if self.data is None else (None, _plain(self.data), self._folder)

    def __repr__(self):
        if self._block is None:
            return f"<bough.Scene, not loaded: {', '.join(k for k in self.data if k != 'bough')}>" if self.data else "<bough.Scene>"
        info = self.info
        return f"<bough.Scene of {info.things}: {self.path}, engine {info.engine}>"

    def _repr_html_(self):
        return f"<code>{html.escape(repr(self))}</code>" + _table(self.data or {})

    # ---- building ----

    def _add(self, kind, name, keys):
        self.set()
        entry = {**({"name": name} if name is not None else {}), **keys}
        self.data.setdefault(self.LISTS[kind], []).append(entry)
        return Named(self, name, entry, kind)

    def set(self, **keys):
        """Sets keys of the scene: gravity, wind, engine, settle, ..."""
        if self.data is None:
            raise wrong("this scene was read from a file; a scene that is built begins with bough.Scene()")
        if self._block is not None:
            self.close()
        self.data.update(keys)
        return self

    def component(self, name, **keys):
        """A component, to be used by parts: mesh, material, damping, interfaces, basis; or file=..., cook=..."""
        self.set()
        self.data.setdefault("components", {})[name] = keys
        return Named(self, name, keys, "component")

    def part(self, name, component, parent=None, interface=None, **keys):
        """A part: an instance of a component, a root or hung on another part."""
        return self._add("part", name, {"component": component, "parent": parent, "interface": interface, **keys})

    def body(self, name, **keys):
        """A rigid body of a multibody system, or one that flies."""
        return self._add("body", name, keys)

    def link(self, name, **keys):
        """A link of a mechanism."""
        return self._add("link", name, keys)

    def joint(self, name, kind, parent, child, **keys):
        """A joint between two links or bodies."""
        return self._add("joint", name, {"kind": kind, "parent": parent, "child": child, **keys})

    def end_effector(self, name, link, **keys):
        """A place of a mechanism that the reduced model keeps."""
        return self._add("end_effector", name, {"link": link, **keys})

    def obstacle(self, name, **keys):
        """Something to touch that nothing moves."""
        return self._add("obstacle", name, keys)

    def motor(self, name=None, **keys):
        """A motor in a joint."""
        return self._add("motor", name, keys)

    def gear(self, name=None, **keys):
        """A gear between two joints."""
        return self._add("gear", name, keys)

    def tie(self, name=None, **keys):
        """A spring between two interfaces, which closes a loop of parts."""
        return self._add("tie", name, keys)

    def force(self, **keys):
        """A force: where, how large, when."""
        return self._add("force", None, keys)

    def event(self, time, **keys):
        """What happens to a part at a time: detach=..., attach=..., lock=..."""
        return self._add("event", None, {"time": time, **keys})

    def probe(self, name, **keys):
        """What is recorded, by columns whose names begin with this one."""
        self.set()
        self.data.setdefault("probes", []).append({"name": name, **keys})
        return self

    def curve(self, name, points):
        """Numbers over time: rows of time and value."""
        self.set()
        self.data.setdefault("curves", {})[name] = points
        return Named(self, name, points, "curve")

    def time(self, duration=None, dt=None, **keys):
        """How long, in which steps, by which integrator."""
        self.set()
        self.data.setdefault("time", {}).update({k: v for k, v in {"duration": duration, "dt": dt, **keys}.items() if v is not None})
        return self

    def json(self, indent=1):
        """The scene as the text of a file."""
        if self.data is None:
            with open(self.path, encoding="utf-8") as file:
                return file.read()
        return json.dumps(_plain(self.data), indent=indent)

    def write(self, name):
        """Writes the scene file."""
        content = self.json()
        try:
            with open(name, "w", encoding="utf-8") as file:
                file.write(content + "\n")
        except OSError as error:
            raise FileError(f"{name}: cannot be written: {error.strerror}", lib.BOUGH_ERROR_FILE) from None
        return name

    # ---- the loaded scene ----

    def _load(self):
        self._own(fetch(lib.bough_scene_load, path(self.path)), lib.bough_scene_destroy)

    @property
    def _c(self):
        if self._block is None:
            with self._loading:  # several threads may be the first to ask
                if self._block is None:
                    self._make()
        return self._block.pointer

    def _make(self):
        """Writes what was built, and loads it."""
        if self.data is None:
            raise wrong("this Scene was closed")
        folder = self._folder
        if folder is None:
            if self._temporary is None:
                self._temporary = tempfile.mkdtemp(prefix="bough-")
                weakref.finalize(self, _remove, self._temporary, os.getpid())
            folder = self._temporary
        self.path = os.path.join(os.fspath(folder), "scene.json")
        self.write(self.path)
        self._load()

    @property
    def info(self):
        """What it is, and which engines can step it."""
        info = ffi.new("bough_scene_info *")
        lib.bough_scene_describe(context().pointer, self._c, info)
        found = record(info)
        found.engines = {text(info.engines[i].name): record(ffi.addressof(info.engines, i)) for i in range(info.engine_count)}
        return found

    def run(self, **settings):
        """A run at the start of the scene; settings as of bough.Run."""
        from .run import Run

        return Run(self, **settings)

    def live(self, **settings):
        """A run for somebody who takes a hand in it: pulls, wind, cuts."""
        return self.run(live=True, **settings)

    def model(self):
        """The model of a scene of parts; cooks what is missing."""
        from .tree import TreeModel

        return TreeModel._of(fetch(lib.bough_scene_model, self._c), self)

    def touch(self, state):
        """Lets the parts of a state of model() touch what the scene says; does nothing where it says nothing."""
        from .tree import TreeState

        of(TreeState, state)
        call(lib.bough_scene_touch, self._c, state.model._c, state._c)

    @property
    def subject(self):
        """The body of a scene of one body; None: it has none."""
        found = lib.bough_scene_body(self._c)
        return None if found == ffi.NULL else Body._of(ffi.cast("bough_body *", found), self)

    @property
    def load_case(self):
        """What holds that body and acts on it all the time."""
        found = lib.bough_scene_load_case(self._c)
        return None if found == ffi.NULL else LoadCase._of(ffi.cast("bough_load_case *", found), self.subject, self)

    @property
    def mechanism(self):
        """The mechanism of a scene of one; None: it has none."""
        from .mechanism import Mechanism

        found = lib.bough_scene_mechanism(self._c)
        if found == ffi.NULL:
            return None
        mechanism = Mechanism._of(ffi.cast("bough_mechanism *", found), self)
        mechanism.end_effector_names = [text(lib.bough_scene_end_effector_name(self._c, i))
                                        for i in range(mechanism.description.end_effector_count)]
        return mechanism


def _remove(folder, process):
    """Removes the folder of a scene, but not in a child process, whose parent still uses it."""
    if os.getpid() == process:
        shutil.rmtree(folder, ignore_errors=True)


def _again(name, data, folder):
    """The scene that was pickled or copied."""
    return Scene(name) if data is None else Scene(data, folder=folder)


def _table(data):
    rows = "".join(f"<tr><td>{html.escape(str(key))}</td><td>{len(value) if isinstance(value, (list, dict)) else html.escape(str(value))}</td></tr>"
                   for key, value in data.items())
    return f"<table>{rows}</table>" if rows else ""


def engines():
    """Names of all engines."""
    names, i = [], 0
    while lib.bough_engine_name(i) != ffi.NULL:
        names.append(text(lib.bough_engine_name(i)))
        i += 1
    return names


def look(name):
    """What kind of scene a file is, by its first keys; None: it is none."""
    info = ffi.new("bough_file_info *")
    return record(info) if lib.bough_file_look(context().pointer, path(name), info) else None


def json_depth(content):
    """How deep lists and objects are nested in a text."""
    data = content.encode() if isinstance(content, str) else content
    if not isinstance(data, bytes):
        raise wrong(f"a text is wanted, not {content!r}")
    return lib.bough_json_depth(data, len(data))


def write_robot(source, output):
    """Writes a scene with all bodies, parts and joints of a robot (URDF or MJCF), to be edited."""
    call(lib.bough_robot_write, path(source), path(output))
