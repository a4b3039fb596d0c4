"""make_stubs.py [--check]: writes the type stubs (.pyi) beside the modules of the package, or compares them.

Types follow from names and defaults, by the rules below: arguments of the package mean the same wherever they have the
same name. What a property or a function returns follows from its name, or from its last return where that makes an
object of the package."""

import ast
import functools
import pathlib
import re
import sys

FOLDER = pathlib.Path(__file__).resolve().parent / "bough"
MODULES = ("_core", "_values", "component", "fem", "mechanism", "mesh", "multibody", "record", "retarget", "rig", "run", "scene", "tree", "view")
HEAD = """# Written by python/make_stubs.py.
import os
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

_Path = str | os.PathLike[str]
"""

ARGUMENTS = {
    "name": "_Path", "kind": "str", "names": "Sequence[str]", "path": "_Path", "output": "_Path", "folder": "_Path | None", "source": "Any",
    "dt": "float", "time": "float", "t": "float", "count": "int", "threads": "int | None", "factor": "float", "ratio": "float",
    "part": "str | int", "parent": "Any", "thing": "str | int", "vertex": "int", "hand": "int", "data": "bytes",
    "force": "ArrayLike", "torque": "ArrayLike", "target": "ArrayLike", "velocity": "ArrayLike", "impulse": "ArrayLike",
    "position": "ArrayLike", "stiffness": "float | None", "damping": "float | None", "q": "ArrayLike", "u": "ArrayLike | None",
    "v": "ArrayLike", "vertices": "Any", "elements": "ArrayLike", "triangles": "ArrayLike", "positions": "ArrayLike",
    "points": "ArrayLike", "out": "NDArray[Any] | None", "stress": "ArrayLike", "width": "int", "height": "int",
    "tolerance": "float", "callback": "Callable[..., Any]", "program": "str | None", "cell": "float", "label": "str",
    "locked": "bool", "siblings": "bool", "distance": "Callable[[NDArray[np.float64]], float]", "push": "Callable[..., Any] | None",
    "tell": "Callable[..., Any] | None", "watch": "Callable[..., Any] | None", "progress": "Callable[..., Any] | None",
    "finished": "Callable[[str, bool, float], Any] | None", "on_step": "Callable[..., Any] | None", "warn": "Callable[[str], Any] | None",
    "term": "Callable[..., Any] | None",
}
DEFAULTS = {bool: "bool", int: "int", float: "float", str: "str"}
RETURNS = {
    "__repr__": "str", "_repr_html_": "str", "_repr_png_": "bytes", "__len__": "int", "__bytes__": "bytes", "__enter__": "Self",
    "__exit__": "None", "__del__": "None", "__init__": "None", "time": "float", "columns": "list[str]", "interfaces": "list[str]",
    "size": "int", "rank": "int", "memory": "int", "mass": "float", "r": "int", "radius": "float", "closed": "bool", "status": "str",
    "recoverable": "bool", "can": "set[str]", "sets": "dict[str, dict[str, NDArray[np.int32]]]",
    "value_and_grad": "tuple[float, NDArray[np.float64]]", "gradient": "tuple[float, NDArray[np.float64], NDArray[np.float64]]",
    "value": "float", "engines": "list[str]", "json": "str", "version": "str", "type": "str", "vertex_count": "int",
    "model": "str", "about": "str", "young": "float", "poisson": "float", "density": "float",
    "Scene.time": "Self", "Scene.run": "Run", "Scene.live": "Run", "Scene.model": "TreeModel", "Scene.subject": "Body | None",
    "Scene.load_case": "LoadCase | None", "Scene.mechanism": "Mechanism | None", "Scene.info": "Record", "Scene.write": "_Path",
    "Named.part": "Named", "Named.probe": "Scene", "Run.tree": "tuple[TreeModel, TreeState] | None", "Run.can": "set[str]",
    "CookJob.run": "Component", "CookJob.settings": "Record", "CookPlan.run": "list[Record]", "CookPlan.items": "list[Record]",
    "Retarget.run": "Record", "Fit.__getitem__": "Record", "MotorCurves.__call__": "tuple[float, float]", "MotorCurves.at": "tuple[float, float, float]",
    "TreeModel.find": "int", "TreeModel.joint": "int | None", "TreeState.energies": "Record", "Viewer.__enter__": "Self", ".view": "Viewer",
    "Component.verdicts": "dict[str, tuple[float, str]]", "Component.worst": "tuple[str, float]", "Component.evaluate": "tuple[float, NDArray[Any], NDArray[Any]]",
    "Component.find_interface": "int", "Component.operations": "float", "Component.provenance": "dict[str, Any]", ".find_model": "int",
    "Multibody.velocity_count": "int", "Multibody.position_count": "int", "Multibody.constraint_count": "int", "Run.values": "NDArray[Any]",
    "Scene.set": "Self", "Scene.probe": "Self", "Scene.component": "Named", "Scene.part": "Named", "Run.spring": "tuple[float, float]",
    "TreeState.save": "bytes", "Run.save": "None", ".program": "str", ".von_mises": "Any", ".colour": "Any", ".cook": "Any", "Body.evaluate": "Any",
    "Mesh.surface": "tuple[Mesh, NDArray[Any], NDArray[Any]]", "Shape.surface": "tuple[NDArray[Any], NDArray[Any]]", "Picture.surface": "Self",
    "Run.motors": "list[Record]", "Run.things": "list[Record]", "Body.static": "tuple[NDArray[Any], Record]", ".integrators": "dict[str, Record]",
    "Statics.C": "NDArray[Any]", "MechanismModel.rank": "int", "Run.positions": "NDArray[Any]", "Adjoint.view": "Record",
}
RETURNS.update({f"Scene.{kind}": "Named" for kind in ("body", "link", "joint", "end_effector", "obstacle", "motor", "gear", "tie", "force", "event", "curve")})
ARRAYS = {"vertices", "elements", "displacement", "velocity", "values", "positions", "q", "v", "a", "gravity", "frames", "points", "surface",
          "stresses", "vertex_stresses", "triangles", "compliance", "mass_matrix", "stiffness", "frequencies_hz", "pixels", "bodies",
          "edges", "select", "place", "multipliers", "lowest_frequencies", "peak_stresses", "surface_stress", "deviations", "forces"}


def default_type(node):
    if isinstance(node, ast.Constant):
        return "Any | None" if node.value is None else DEFAULTS.get(type(node.value), "Any")
    if isinstance(node, (ast.Tuple, ast.List)):
        return "ArrayLike" if node.elts and all(isinstance(e, (ast.Constant, ast.UnaryOp)) for e in node.elts) else "Sequence[Any]"
    return "Any"


def argument(name, default):
    if isinstance(default, ast.Constant) and isinstance(default.value, bool):
        return f"{name}: bool = ..."
    kind = ARGUMENTS.get(name) or (default_type(default) if default is not None else "Any")
    if isinstance(default, ast.Constant) and default.value is None and "None" not in kind and kind != "Any":
        kind += " | None"
    return f"{name}: {kind}" + ("" if default is None else " = ...")


def arguments(node):
    a = node.args
    first = [None] * (len(a.args) - len(a.defaults)) + list(a.defaults)
    words = [arg.arg if i == 0 and arg.arg in ("self", "cls") else argument(arg.arg, default)
             for i, (arg, default) in enumerate(zip(a.args, first))]
    if a.vararg:
        words.append(f"*{a.vararg.arg}: Any")
    elif a.kwonlyargs:
        words.append("*")
    words += [argument(arg.arg, default) for arg, default in zip(a.kwonlyargs, a.kw_defaults)]
    if a.kwarg:
        words.append(f"**{a.kwarg.arg}: Any")
    return ", ".join(words)


CALLS = {"text": "str", "word": "str", "str": "str", "bool": "bool", "len": "int", "int": "int", "float": "float", "record": "Record",
         "existing": "int", "set": "set[str]", "abilities": "set[str]", "bytes": "bytes", "slice": "slice"}
CALLS.update(dict.fromkeys(("window", "copied", "taken", "pose", "matrices", "floats", "ints", "output", "_frequencies"), "NDArray[Any]"))
NUMBERS = {"int32_t *": "int", "double *": "float", "bool *": "bool"}


def union(kinds):
    """One type for several: Any where one of them is not known."""
    kinds = list(dict.fromkeys(kinds))
    return "Any" if not kinds or "Any" in kinds else " | ".join(sorted(kinds, key=lambda kind: kind == "None"))


def inferred(node, known, classes):
    """The type of an expression; known: types of local names."""
    def of(part):
        return inferred(part, known, classes)

    if isinstance(node, ast.Constant):
        return "None" if node.value is None else DEFAULTS.get(type(node.value), "Any")
    if isinstance(node, ast.Name):
        return "Self" if node.id == "self" else known.get(node.id, "Any")
    if isinstance(node, ast.JoinedStr):
        return "str"
    if isinstance(node, ast.Compare) or isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.Not):
        return "bool"
    if isinstance(node, (ast.List, ast.ListComp)):
        return f"list[{of(node.elt) if isinstance(node, ast.ListComp) else union(map(of, node.elts))}]"
    if isinstance(node, (ast.Dict, ast.DictComp)):
        return f"dict[str, {of(node.value) if isinstance(node, ast.DictComp) else 'Any'}]"
    if isinstance(node, ast.Tuple):
        return f"tuple[{', '.join(map(of, node.elts))}]"
    if isinstance(node, ast.IfExp):
        return union([of(node.body), of(node.orelse)])
    if isinstance(node, ast.Subscript):
        value = of(node.value)
        if value.startswith("ffi "):
            return NUMBERS.get(value[4:], "Any")
        return value if value == "NDArray[Any]" and isinstance(node.slice, ast.Slice) else "Any"
    if isinstance(node, ast.Call):
        called = node.func
        if isinstance(called, ast.Attribute):
            if called.attr in ("_of", "_inside", "_started"):
                called = called.value
            elif ast.unparse(called) == "ffi.new" and isinstance(node.args[0], ast.Constant):
                return "ffi " + node.args[0].value
            elif ast.unparse(called.value) == "np":
                return "NDArray[Any]"
            elif called.attr in ("copy", "reshape", "upper", "strip"):
                return of(called.value)
        if isinstance(called, ast.Name):
            return "Self" if called.id == "cls" else called.id if called.id in classes else CALLS.get(called.id, "Any")
    return "Any"


def returned(node, classes, owner=""):
    """The type of what a function gives: by its name, or by what it returns."""
    for name in (f"{owner}.{node.name}", node.name):
        if name in RETURNS:
            return RETURNS[name]
    if node.name in ARRAYS:
        return "NDArray[Any]"
    known = {}
    for assigned in sorted((n for n in ast.walk(node) if isinstance(n, ast.Assign)), key=lambda n: n.lineno):
        target, kind = assigned.targets[0], assigned.value
        pairs = zip(target.elts, kind.elts) if isinstance(target, ast.Tuple) and isinstance(kind, ast.Tuple) else [(target, kind)]
        known.update({t.id: inferred(k, known, classes) for t, k in pairs if isinstance(t, ast.Name)})
    found = [n.value for n in ast.walk(node) if isinstance(n, ast.Return)]
    if not any(found):
        return "None"
    kind = union("None" if value is None else inferred(value, known, classes) for value in found)
    return "Any" if "ffi " in kind else kind


def function(node, indent, classes, owner=""):
    lines = []
    for d in node.decorator_list:
        word = ast.unparse(d)
        if word in ("property", "classmethod", "staticmethod") or word.endswith(".setter"):
            lines.append(f"{indent}@{word}")
    lines.append(f"{indent}def {node.name}({arguments(node)}) -> {'None' if any('setter' in l for l in lines) else returned(node, classes, owner)}: ...")
    return lines


def members(node, classes):
    lines = []
    for item in node.body:
        if isinstance(item, ast.FunctionDef) and (not item.name.startswith("_") or item.name in RETURNS or item.name in ("__getitem__", "__call__")):
            lines += function(item, "    ", classes, node.name)
        elif isinstance(item, ast.Assign) and isinstance(item.targets[0], ast.Name) and not item.targets[0].id.startswith("_"):
            name = item.targets[0].id
            if isinstance(item.value, ast.Call) and ast.unparse(item.value.func) == "property":
                read = item.value.args[0]
                kind = RETURNS.get(f"{node.name}.{name}") or RETURNS.get(name) or ("NDArray[Any]" if name in ARRAYS else inferred(read.body, {}, classes))
                lines += ["    @property", f"    def {name}(self) -> {kind}: ..."]
            else:
                lines.append(f"    {name}: Any")
    # Attributes that __init__ sets.
    known = {line.split("def ")[-1].split("(")[0].split(":")[0].strip() for line in lines}
    for item in node.body:
        if isinstance(item, ast.FunctionDef) and item.name == "__init__":
            for target in ast.walk(item):
                if isinstance(target, ast.Attribute) and isinstance(target.ctx, ast.Store) and ast.unparse(target.value) == "self" \
                        and not target.attr.startswith("_") and target.attr not in known:
                    known.add(target.attr)
                    lines.append(f"    {target.attr}: {'NDArray[Any]' if target.attr in ARRAYS else 'Any'}")
    if node.name == "Record":
        lines.append("    def __getattr__(self, name: str) -> Any: ...")
    if "setattr(self" in ast.unparse(node):
        lines.append("    def __getattr__(self, name: str) -> NDArray[Any]: ...")
    if any("__getattr__" in ast.unparse(b) for b in node.body if isinstance(b, ast.FunctionDef) and b.name == "__getattr__"):
        lines.append("    def __getattr__(self, name: str) -> NDArray[Any]: ...")
    return lines or ["    ..."]


@functools.cache
def parsed(module):
    return ast.parse((FOLDER / f"{module}.py").read_text())


def classes_of(module):
    return {node.name for node in parsed(module).body if isinstance(node, ast.ClassDef)}


def stub(module):
    tree = parsed(module)
    classes = set().union(*map(classes_of, MODULES))
    lines = [HEAD.rstrip(), "from typing_extensions import Self" if sys.version_info < (3, 11) else "from typing import Self"]
    imported = set()
    body = []
    for node in tree.body:
        if isinstance(node, ast.ClassDef):
            bases = f"({', '.join(ast.unparse(b).replace('list', 'list[Any]') for b in node.bases)})" if node.bases else ""
            body += ["", f"class {node.name}{bases}:", *members(node, classes)]
        elif isinstance(node, ast.FunctionDef) and not node.name.startswith("_"):
            body += function(node, "", classes)
        elif isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Name) and not node.targets[0].id.startswith("_"):
            body.append(f"{node.targets[0].id}: Any")
    # What the declarations name of other modules.
    for node in tree.body:
        if isinstance(node, ast.ImportFrom) and node.level == 1:
            names = [a.name for a in node.names if a.name.lstrip("_")[:1].isupper() and re.search(rf"\b{a.name}\b", "\n".join(body))]
            if node.module == "_native":
                names = ["ffi as ffi", "lib as lib"]
            imported |= set(names)
            if names:
                lines.append(f"from .{node.module} import {', '.join(names)}")
    own = classes_of(module)
    for m in MODULES:
        needed = sorted(c for c in classes_of(m) - own - imported if any(re.search(rf"-> .*\b{c}\b", line) for line in body))
        if needed and m != module:
            lines.append(f"from .{m} import {', '.join(needed)}")
    return "\n".join(lines + body) + "\n"


def main():
    stubs = {m: stub(m) for m in MODULES}
    stubs["__init__"] = (FOLDER / "__init__.py").read_text().split('"""', 2)[2].lstrip().replace("__version__ = version", "__version__: str")
    stubs["__init__"] = "# Written by python/make_stubs.py.\n" + "\n".join(
        line for line in _reexported(stubs["__init__"])) + "\n"
    stubs["_callbacks"] = "# Written by python/make_stubs.py.\n"
    stubs["_native"] = "# Written by python/make_stubs.py.\nfrom typing import Any\n\nffi: Any\nlib: Any\n"
    wrong = [m for m, text in stubs.items() if not (FOLDER / f"{m}.pyi").exists() or (FOLDER / f"{m}.pyi").read_text() != text]
    if "--check" in sys.argv:
        if wrong:
            sys.exit(f"these stubs are not what python/make_stubs.py writes: {', '.join(wrong)}")
        return
    for m, text in stubs.items():
        (FOLDER / f"{m}.pyi").write_text(text)


def _reexported(text):
    """Imports of a stub are private to it unless they are written "name as name"."""
    for node in ast.parse(text).body:
        if isinstance(node, ast.ImportFrom) and node.module:
            yield f"from .{node.module} import " + ", ".join(f"{a.name} as {a.asname or a.name}" for a in node.names)
        elif isinstance(node, ast.AnnAssign):
            yield ast.unparse(node)


if __name__ == "__main__":
    main()
