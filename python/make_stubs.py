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
    "value": "float", "engines": "list[str]", "json": "str", "version": "str", "type": "str",
}
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


def returned(node, classes):
    """The type of what a function gives: by its name, or by the class that its last return makes."""
    if node.name in RETURNS:
        return RETURNS[node.name]
    if node.name in ARRAYS:
        return "NDArray[Any]"
    found = [n.value for n in ast.walk(node) if isinstance(n, ast.Return) and n.value is not None]
    if not found:
        return "None"
    last = found[-1]
    if isinstance(last, ast.Name) and last.id == "self":
        return "Self"
    if isinstance(last, ast.Call):
        function = last.func
        if isinstance(function, ast.Attribute) and function.attr in ("_of", "_inside", "_started"):
            function = function.value
        if isinstance(function, ast.Name):
            if function.id == "cls":
                return "Self"
            if function.id == "record":
                return "Record"
            if function.id in classes:
                return function.id
            if function.id in ("window", "copied", "taken", "pose", "matrices"):
                return "NDArray[Any]"
    return "Any"


def function(node, indent, classes):
    lines = []
    for d in node.decorator_list:
        word = ast.unparse(d)
        if word in ("property", "classmethod", "staticmethod") or word.endswith(".setter"):
            lines.append(f"{indent}@{word}")
    lines.append(f"{indent}def {node.name}({arguments(node)}) -> {'None' if any('setter' in l for l in lines) else returned(node, classes)}: ...")
    return lines


def members(node, classes):
    lines = []
    for item in node.body:
        if isinstance(item, ast.FunctionDef) and (not item.name.startswith("_") or item.name in RETURNS or item.name in ("__getitem__", "__call__")):
            lines += function(item, "    ", classes)
        elif isinstance(item, ast.Assign) and isinstance(item.targets[0], ast.Name) and not item.targets[0].id.startswith("_"):
            name = item.targets[0].id
            if isinstance(item.value, ast.Call) and ast.unparse(item.value.func) == "property":
                kind = RETURNS.get(name) or ("NDArray[Any]" if name in ARRAYS else "Any")
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
            bases = f"({', '.join(ast.unparse(b) for b in node.bases)})" if node.bases else ""
            body += ["", f"class {node.name}{bases}:", *members(node, classes)]
        elif isinstance(node, ast.FunctionDef) and not node.decorator_list:
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
        needed = sorted(c for c in classes_of(m) - own - imported if any(f"-> {c}:" in line for line in body))
        if needed and m != module:
            lines.append(f"from .{m} import {', '.join(needed)}")
    return "\n".join(lines + body) + "\n"


def main():
    stubs = {m: stub(m) for m in MODULES}
    stubs["__init__"] = (FOLDER / "__init__.py").read_text().split('"""', 2)[2].lstrip().replace("__version__ = version", "__version__: str")
    stubs["__init__"] = "# Written by python/make_stubs.py.\n" + "\n".join(
        line for line in _reexported(stubs["__init__"])) + "\n"
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
        elif not isinstance(node, ast.ImportFrom):
            yield ast.unparse(node)


if __name__ == "__main__":
    main()
