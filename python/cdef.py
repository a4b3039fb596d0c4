"""Derives what cffi is told about the library from the public headers.

The C preprocessor expands the lists of the headers (X macros) and takes out what only C needs; constants that are
macros are added behind. Nothing here names a function of the library, so that a new one is known without a change.
"""

import os
import re
import subprocess
import tempfile

EMPTY = ("stdbool.h", "stddef.h", "stdint.h")
FUNCTION = re.compile(r"\b(bough_\w+)\s*\(")


def preprocess(include, compiler="cc"):
    """Returns the text of <bough/bough.h> with its macros expanded and no system header in it."""
    with tempfile.TemporaryDirectory() as folder:
        for name in EMPTY:
            open(os.path.join(folder, name), "w").close()
        command = [compiler, "-E", "-P", "-nostdinc", "-D_WIN32", "-I", folder, "-I", include, "-x", "c",
                   os.path.join(include, "bough", "bough.h")]
        return subprocess.run(command, check=True, capture_output=True, text=True).stdout


def constants(include):
    """Lists the macros that are numbers: pairs of name and "int" or "double"."""
    found = []
    for name in sorted(os.listdir(os.path.join(include, "bough"))):
        with open(os.path.join(include, "bough", name)) as file:
            for match in re.finditer(r"^#define (BOUGH_\w+) (-?[\d.][\w.+-]*)", file.read(), re.M):
                found.append((match[1], "int" if re.fullmatch(r"-?\d+", match[2]) else "double"))
    return found


def declarations(include, compiler="cc"):
    """Returns the text for ffi.cdef()."""
    lines = [preprocess(include, compiler)]
    for name, kind in constants(include):
        lines.append(f"#define {name} ..." if kind == "int" else f"static const double {name};")
    return "\n".join(lines)


def functions(include):
    """Names all functions of the public headers, sorted."""
    names = set()
    for name in os.listdir(os.path.join(include, "bough")):
        with open(os.path.join(include, "bough", name)) as file:
            text = re.sub(r"/\*.*?\*/", " ", file.read(), flags=re.S)
        for match in re.finditer(r"^BOUGH_API\b[^;]*", text, re.M):
            names.add(FUNCTION.search(match[0])[1])
    return sorted(names)
