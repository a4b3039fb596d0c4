"""What the tests of the Python package share: scenes, small things, and the list of functions that were used."""

import importlib.util
import os
import pathlib
import sys

import pytest

ROOT = pathlib.Path(__file__).resolve().parents[2]
LONG = os.environ.get("BOUGH_LONG", "0") not in ("", "0")


class Recorder:
    """The library, with a list of the functions that were asked for. It stands in its place before the package sees it."""

    def __init__(self, library):
        self.__dict__["library"], self.__dict__["used"] = library, set()

    def __getattr__(self, name):
        self.used.add(name)
        return getattr(self.library, name)

    def __dir__(self):
        return dir(self.library)


def load_native():
    """Loads the compiled module before the package, which would look at it."""
    folder = pathlib.Path(importlib.util.find_spec("bough").origin).parent
    spec = importlib.util.spec_from_file_location("bough._native", next(folder.glob("_native*.so")))
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    module.lib = Recorder(module.lib)
    sys.modules["bough._native"] = module
    return module


native = load_native()

import bough  # noqa: E402  (behind the recorder)


@pytest.fixture(scope="session")
def used():
    """Functions of the library that the tests have used so far."""
    return native.lib.used


@pytest.fixture
def beam():
    """A beam of bricks, held at one end: mesh, body and load case."""
    mesh = bough.box(size=[1, 0.1, 0.1], cells=[10, 1, 1], type="hex8")
    body = bough.Body(mesh, bough.Material("stvk", young=1e7, poisson=0.3, density=1000))
    return mesh, body, body.load_case().fix("x0").gravity()


BAR = {"mesh": {"generate": "box", "type": "hex8", "size": [1, 0.1, 0.1], "cells": [10, 1, 1]},
       "material": {"young": 1e7, "poisson": 0.35, "density": 1000}, "damping": {"stiffness": 0.005},
       "interfaces": {"base": {"select": "x0"}, "tip": {"select": "x1"}}, "basis": {"r": 6}}


@pytest.fixture(scope="session")
def cooked(tmp_path_factory):
    """A folder in which the components of two_bars() are kept."""
    return tmp_path_factory.mktemp("cooked")


@pytest.fixture
def two_bars(cooked):
    """A scene of two bars, one hung onto the other."""
    scene = bough.Scene(folder=cooked, gravity=[0, 0, -9.81])
    link = scene.component("link", **BAR)
    lower = scene.part("upper", link, fix="base").part("lower", link, interface="tip")
    lower.probe("tip", nearest=[2, 0, 0])
    return scene.time(dt=0.005, duration=0.1)


@pytest.fixture
def arm():
    """A mechanism of two links."""
    scene = bough.Scene(gravity=[0, 0, -9.81])
    scene.link("post", shape={"box": [0.1, 0.1, 1], "position": [0, 0, -0.5]})
    scene.link("arm", position=[0.25, 0, 0], density=500, shape={"box": [0.5, 0.05, 0.05]})
    scene.joint("shoulder", "hinge", "post", "arm", position=[0, 0, 0], axis=[0, 1, 0], stiffness=50, damping=0.5)
    tip = scene.end_effector("tip", "arm", position=[0.5, 0, 0])
    tip.probe()
    scene.motor(joint="shoulder", curve=scene.curve("lift", [[0, 0], [1, 0]]))
    return scene.time(dt=0.005, duration=0.5)
