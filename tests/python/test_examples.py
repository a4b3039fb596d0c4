"""The examples run: some of them quickly, all of them in full with --long; and the stubs fit the package."""

import pathlib
import re
import runpy
import subprocess
import sys
import types

import numpy as np
import pytest

import bough
from conftest import LONG, ROOT

FOLDER = ROOT / "examples" / "python"
ALL = sorted(f.stem for f in FOLDER.glob("*.py") if f.stem != "shared")
# With --long all of them run, and in full.
CHOSEN = ALL if LONG else ("compliance_of_a_mechanism", "controller_in_the_loop", "flower", "retarget_with_scipy", "sweep_over_threads")


@pytest.mark.parametrize("name", CHOSEN)
def test_an_example_makes_its_picture(name, tmp_path, monkeypatch):
    pytest.importorskip("matplotlib", reason="python3-matplotlib is missing; ./bough test python installs it")
    pytest.importorskip("scipy", reason="python3-scipy is missing; ./bough test python installs it")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "argv", [name, str(tmp_path)] + ([] if LONG else ["--quick"]))
    monkeypatch.syspath_prepend(FOLDER)
    monkeypatch.delitem(sys.modules, "shared", raising=False)
    runpy.run_path(str(FOLDER / f"{name}.py"), run_name="__main__")
    assert (tmp_path / f"{name}.png").read_bytes()[:4] == b"\x89PNG"


def test_the_flower_has_15_lines():
    lines = [line for line in (FOLDER / "flower.py").read_text().splitlines() if line.strip()]
    assert len(lines) <= 15


def test_there_are_ten_examples_and_their_pictures_are_small():
    assert len(ALL) == 11
    for name in ALL:
        assert (FOLDER / "images" / f"{name}.png").stat().st_size < 60e3


def test_stubs_are_those_of_the_modules():
    done = subprocess.run([sys.executable, "-B", str(ROOT / "python" / "make_stubs.py"), "--check"], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    package = pathlib.Path(bough.__file__).parent
    assert (package / "py.typed").exists() and (package / "__init__.pyi").exists()


if LONG:
    def test_checkers_of_types_find_nothing_wrong(tmp_path):
        """mypy reads the stubs; what the examples call has the types that they use. Their own lists and pictures are theirs."""
        pytest.importorskip("mypy", reason="mypy is missing; ./bough test python installs it")
        mypy = [sys.executable, "-m", "mypy", "--cache-dir", str(tmp_path)]
        folders = {"MYPYPATH": f"{pathlib.Path(bough.__file__).parents[1]}:{FOLDER}", "PATH": ""}
        for words in (["--strict", "-p", "bough"], ["--no-strict-optional", "--ignore-missing-imports", "--disable-error-code", "var-annotated",
                                                    "--disable-error-code", "assignment", "--disable-error-code", "call-overload",
                                                    *map(str, FOLDER.glob("*.py"))]):
            done = subprocess.run(mypy + words, capture_output=True, text=True, env=folders | {"PYTHONPATH": ":".join(sys.path)})
            assert done.returncode == 0, done.stdout


def test_the_code_of_the_guide_runs(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    blocks = re.findall(r"```python\n(.*?)```", (ROOT / "docs" / "python.md").read_text(), re.S)
    names = {"meshio_mesh": types.SimpleNamespace(points=np.vstack([np.zeros(3), np.eye(3)]), cells=[("tetra", [[0, 1, 2, 3]])])}
    for block in blocks[:5]:  # the others need something that only a reader has
        exec(block.replace("examples/", f"{ROOT}/examples/"), names)
    assert names["run"].report.steps > 0 and isinstance(names["touch"], bough.BodyTouch) and names["compliance"].shape == (12, 12) and names["modes"].frequencies_hz[0] > 0
