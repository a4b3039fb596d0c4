"""How much of the library Python reaches. This file comes last: it looks at what the others have used."""

import pathlib
import re

import bough
import pytest
from conftest import ROOT, native

# Functions that no object of the package wraps, and why. bough.lib has them.
UNWRAPPED = {}


def functions():
    with open(pathlib.Path(bough.__file__).parent.parent / "functions.txt") as file:
        return set(file.read().split())


def test_every_function_of_the_headers_is_declared():
    headers = "".join(f.read_text() for f in (ROOT / "include" / "bough").glob("*.h"))
    headers = re.sub(r"/\*.*?\*/", "", headers, flags=re.S)
    named = {re.search(r"(bough_\w+)\s*\(", declaration)[1] for declaration in re.findall(r"^BOUGH_API\b[^;]*", headers, re.M)}
    assert named == functions() and named <= set(dir(native.lib.library))


def test_nearly_all_functions_are_wrapped():
    source = "".join(f.read_text() for f in pathlib.Path(bough.__file__).parent.glob("*.py"))
    # Structs with defaults are made by _values.default(), by the name of their type.
    wrapped = set(re.findall(r"\blib\.(bough_\w+)", source)) | {f for f in functions() if f.startswith("bough_default_")}
    missing = functions() - wrapped
    assert missing == set(UNWRAPPED), "wrap them, or say in UNWRAPPED why not"
    assert len(missing) <= 0.05 * len(functions())


def test_nearly_all_functions_are_used_by_the_tests(request, used):
    files = {item.fspath.basename for item in request.session.items}
    if not {f.name for f in pathlib.Path(__file__).parent.glob("test_*.py")} <= files:
        pytest.skip("only some of the tests of the package were run")
    unused = functions() - used
    print("not used:", *sorted(unused))
    assert len(unused) <= 0.05 * len(functions()), sorted(unused)
