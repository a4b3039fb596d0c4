"""The foundations: errors, memory, and the cost of a call."""

import gc
import inspect
import pydoc
import re
import weakref

import numpy as np
import pytest

import bough
from conftest import LONG


def test_an_error_has_sentence_status_and_kind():
    with pytest.raises(bough.ArgumentError) as caught:
        bough.box(size=[-1, 1, 1])
    error = caught.value
    assert isinstance(error, (bough.Error, ValueError)) and error.status == "wrong argument" and error.code < 0 and "size" in str(error)
    kinds = [k for k in vars(bough).values() if inspect.isclass(k) and issubclass(k, bough.Error)]
    assert len(kinds) == 13 and bough.NoConvergence("", 1).recoverable and not bough.OutOfMemory("", -1).recoverable
    assert bough.__version__.count(".") == 2


def test_everything_public_is_documented():
    for name, thing in vars(bough).items():
        if name.startswith("_") or not (inspect.isclass(thing) or inspect.isfunction(thing)):
            continue
        assert inspect.getdoc(thing), name
        for word, member in vars(thing).items() if inspect.isclass(thing) else ():
            if not word.startswith("_") and (inspect.isfunction(member) or isinstance(member, property)):
                assert inspect.getdoc(member), f"{name}.{word}"


def test_help_lists_what_the_package_has():
    shown = pydoc.plain(pydoc.render_doc(bough))
    for name, thing in vars(bough).items():
        if not name.startswith("_") and (inspect.isclass(thing) or inspect.isfunction(thing)):
            assert re.search(rf"\b{name}\b", shown), name
    names = {}
    exec("from bough import *", names)
    assert names["Scene"] is bough.Scene and "numpy" not in names and "_callbacks" not in names
    assert str(bough.ArgumentError) == "<class 'bough.ArgumentError'>" and inspect.getsource(bough.Run)


def test_names_of_things_are_in_their_repr():
    mesh = bough.box(size=[1, 1, 1], cells=[1, 1, 1])
    assert repr(mesh) == "<bough.Mesh: 8 vertices, 6 tet4 elements>"
    mesh.close()
    assert repr(mesh) == "<bough.Mesh, closed>"
    assert repr(bough.Context(threads=2)) == "<bough.Context: 2 threads>"


def cycle():
    """Makes and drops a mesh, a body, a load case, arrays into them and a failure."""
    mesh = bough.Mesh([[0, 0, 0], [1, 0, 0], [0, 1, 0], [0, 0, 1]], [[0, 1, 2, 3]])
    vertices = mesh.vertices
    body = bough.Body(mesh)
    body.load_case().fix([0])
    try:
        mesh.select("nothing of this name")
    except bough.Error:
        pass
    return vertices


def test_nothing_leaks():
    """Blocks of the library's memory, counted by the context, before and after; 100,000 times with --long."""
    with bough.Context(threads=1, count_memory=True) as ctx:
        before = ctx.blocks
        for _ in range(100000 if LONG else 2000):
            cycle()
        gc.collect()
        assert ctx.blocks == before
        kept = cycle()
        assert ctx.blocks > before
        del kept
        assert ctx.blocks == before
    assert bough.context().blocks is None


def test_the_process_does_not_grow():
    """What Python itself keeps for contexts, runs and their arrays."""
    scene = bough.Scene({"links": [{"name": "a", "shape": {"sphere": 0.1}}, {"name": "b", "position": [1, 0, 0], "density": 1000, "shape": {"sphere": 0.1}}],
                         "joints": [{"name": "j", "kind": "hinge", "parent": "a", "child": "b", "position": [0, 0, 0], "axis": [0, 1, 0], "stiffness": 5}],
                         "end_effectors": [{"name": "tip", "link": "b"}], "time": {"dt": 0.01, "duration": 1}})

    def resident():
        with open("/proc/self/statm") as file:
            return int(file.read().split()[1]) * 4096

    def work(count):
        for _ in range(count):
            with scene.run(threads=1) as run:
                run.step()
                run.values
                run.displacement
            bough.Context(threads=1)
        gc.collect()

    work(200)
    before = resident()
    work(10000 if LONG else 400)
    assert resident() - before < 3e6


def test_what_hangs_in_circles_is_freed():
    mesh = bough.box(size=[1, 1, 1], cells=[1, 1, 1])
    body = bough.Body(mesh)
    body.friend = {"body": body, "mesh": body.mesh}
    gone = weakref.ref(body)
    del body, mesh
    gc.collect()
    assert gone() is None


def test_contexts_go_without_waiting_for_the_collector():
    gc.disable()
    try:
        ctx = bough.Context(threads=1, progress=lambda *_: True)
        gone, block = weakref.ref(ctx), weakref.ref(ctx.block)
        with ctx:
            mesh = bough.box(size=[1, 1, 1], cells=[1, 1, 1])
        del ctx
        assert gone() is None and block() is not None  # the mesh was made with it
        del mesh
        assert block() is None
    finally:
        gc.enable()


def test_closing_an_owner_first_is_safe():
    body = bough.Body(bough.box(size=[1, 1, 1], cells=[1, 1, 1]))
    load_case, mesh = body.load_case(), body.mesh
    body.close()
    load_case.gravity()
    assert len(mesh.vertices) == 8
    modes = load_case.body
    assert modes.closed


def test_out_must_fit():
    component = bough.cook(bough.Body(bough.box(size=[1, 1, 1], cells=[1, 1, 1])), interfaces={"base": "x0"}, parent="base", r=0)
    for wrong in (np.empty((3, 3), "<f4"), np.empty((8, 3)), np.empty((8, 6), "<f4")[:, ::2]):
        with pytest.raises(bough.ArgumentError, match="float32"):
            component.positions(out=wrong)
