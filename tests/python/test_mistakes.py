"""Mistakes that people make: each is a sentence or does no harm, and none reads or frees memory that is not its own."""

import copy
import gc
import os
import pickle
import signal
import threading
import time

import numpy as np
import pytest

import bough


def refused(sentence, function, *arguments, **settings):
    """The call raises an error of the package with this sentence."""
    with pytest.raises(bough.Error, match=sentence):
        function(*arguments, **settings)


@pytest.fixture
def hinged():
    """A multibody system of one body with a motor: model, state and curves."""
    model = bough.Multibody(bodies=[{"mass": 0.2, "inertia": 0.01 * np.eye(3)}], motors=[{"joint": 0}],
                            joints=[{"kind": "hinge", "parent": {"body": -1}, "child": {"body": 0}}])
    return model, model.state(), bough.MotorCurves(1, 6)


# ---- copies ----


def test_what_is_made_of_plain_data_is_copied_and_pickled(beam, two_bars):
    mesh, _, _ = beam
    mesh.add_set("vertex", "three", [0, 4, 7])
    mesh.add_material("steel", 2e11, 0.3, 7850)
    material = bough.Material("mooney-rivlin", young=3e6, mooney_ratio=0.2)
    component = two_bars.model().components[0]
    for clone in (copy.copy, copy.deepcopy, lambda thing: pickle.loads(pickle.dumps(thing))):
        other = clone(mesh)
        assert np.array_equal(other.vertices, mesh.vertices) and np.array_equal(other.elements, mesh.elements)
        assert list(other.find_set("vertex", "three")) == [0, 4, 7] and other.materials == mesh.materials
        assert clone(material).model == "mooney-rivlin" and clone(material)._c.mooney_ratio == 0.2
        assert bytes(clone(component)) == bytes(component)
        assert clone(two_bars).info.things == two_bars.info.things
    other = copy.deepcopy(two_bars).set(gravity=[0, 0, 0])
    assert two_bars.data["gravity"] == [0, 0, -9.81] and other.data["gravity"] == [0, 0, 0]


def test_what_has_memory_of_its_own_is_not_copied(beam, arm):
    _, body, held = beam
    run = arm.live()
    state = arm.mechanism.reduce().state()
    actor = state.actor([{"end_effector": 0, "shape": {"kind": "sphere", "radius": 0.1}}])
    for thing in (body, held, run, state, actor, bough.context(), body._block, run.displacement.base if run.displacement.base is not None else body):
        for clone in (copy.copy, copy.deepcopy, pickle.dumps):
            refused("cannot be copied or pickled", clone, thing)
    gc.collect()
    run.step()
    error = pickle.loads(pickle.dumps(bough.FileError("gone", -3)))
    assert error.code == -3 and str(error) == "gone"


# ---- letting go at the wrong time ----


def test_a_callback_may_close_what_its_call_uses(beam, two_bars):
    mesh, body, held = beam

    def close(*_):
        for thing in (body, held, mesh):
            thing.close()

    u, _ = body.static(held, on_step=close)
    assert np.abs(u).max() > 0 and body.closed
    runs = []
    run = two_bars.run(fps=100, watch=lambda run: run.close())
    run.advance()
    assert run.closed
    with bough.Context(progress=lambda *_: runs and runs.pop().close()):
        run = two_bars.run(duration=2)
        runs.append(run)
        run.advance()
    assert run.closed


def test_callbacks_look_at_their_run_and_do_not_step_it(two_bars):
    seen = []

    def watch(run):
        seen.append(run.positions("lower")[0].copy())
        refused("may look at its run", run.step)

    run = two_bars.run(fps=100, watch=watch)
    run.advance()
    assert len(seen) > 5 and not np.array_equal(seen[0], seen[-1])


def test_a_run_is_not_closed_while_another_thread_steps_it(two_bars):
    run = two_bars.run(duration=1e4, threads=1)
    stop = threading.Event()
    run._context.set_progress(lambda *_: not stop.is_set())
    thread = threading.Thread(target=lambda: pytest.raises(bough.Cancelled, run.advance))
    thread.start()
    while run._user is None:
        time.sleep(0.001)
    refused("another thread", run.close)
    stop.set()
    thread.join()
    run.close()
    assert run.closed


def test_meshes_of_others_are_read_only(beam, two_bars):
    _, body, _ = beam
    for mesh in (body.mesh, two_bars.live().mesh):
        assert not mesh.vertices.flags.writeable and not mesh.elements.flags.writeable
        refused("copy.copy", mesh.transform, scale=2)
        refused("copy.copy", mesh.add_set, "vertex", "a", [0])
    other = copy.copy(body.mesh)
    other.vertices[:] *= 2
    assert other.measure().volume == pytest.approx(8 * body.mesh.measure().volume)


# ---- arrays ----


def test_rows_and_columns_are_not_taken_for_each_other(beam):
    mesh, body, _ = beam
    n = len(mesh.vertices)
    u = np.random.default_rng(1).normal(size=(n, 3)) * 1e-3
    energy = body.evaluate(u)[0]
    assert energy == body.evaluate(u.ravel())[0] == body.evaluate(np.asfortranarray(u))[0] == body.evaluate(np.repeat(u, 2, axis=0)[::2])[0]
    assert body.evaluate(np.zeros((n, 3), int))[0] == 0
    refused(f"{n} x 3 are wanted, not 3 x {n}", body.evaluate, u.T)
    refused("n x 3 are wanted, not 3 x 4", bough.Mesh, np.zeros((3, 4)), [[0, 1, 2, 3]])
    refused("not complex", bough.Mesh, np.zeros((4, 3)) * 1j, [[0, 1, 2, 3]])
    refused("not finite", body.evaluate, u * np.nan)


def test_numbers_of_things_are_whole(beam):
    mesh, _, held = beam
    corners = [[0, 0, 0], [1, 0, 0], [0, 1, 0], [0, 0, 1]]
    assert len(bough.Mesh(corners, np.array([[0, 1, 2, 3]], dtype=np.uint64))) == 1
    assert len(bough.Mesh(corners, np.array([[0.0, 1.0, 2.0, 3.0]]))) == 1
    refused("not 2.5", bough.Mesh, corners, [[0, 1, 2.5, 3]])
    refused("32 bits", bough.Mesh, corners, [[0, 1, 2, 2**40 + 3]])
    refused("rows of 8 numbers of vertices, not of 4", bough.Mesh, corners, [[0, 1, 2, 3]], type="hex8")
    refused("flatnonzero", held.fix, mesh.vertices[:, 0] < 0.1)
    refused('"cells": whole numbers', bough.box, size=[1, 1, 1], cells=[1.5, 1, 1])
    held.fix(np.flatnonzero(mesh.vertices[:, 0] < 0.1))


def test_arrays_have_the_length_that_the_library_reads(beam, hinged):
    mesh, body, _ = beam
    _, state, curves = hinged
    n = 3 * len(mesh.vertices)
    ends = {"base": "x0", "tip": "x1"}
    for settings in ({"columns": np.zeros((1, 5))}, {"snapshots": np.zeros((2, 7))}, {"forces": [[1.0, 2.0]]}):
        refused(f"n x {n} are wanted", bough.cook, body, interfaces=ends, parent="base", r=4, **settings)
    refused('"weights": numbers of shape 4', bough.cook, body, interfaces={"base": {"vertices": "x0", "weights": [1.0]}})
    tracked = {"frame": {"body": 0}, "position": 1.0, "positions": np.zeros((11, 3))}
    for settings, sentence in (({"tracked": [{**tracked, "positions": np.zeros((3, 3))}]}, '"positions": numbers of shape 11 x 3'),
                               ({"tracked": [{**tracked, "weights": [1.0]}]}, '"weights": numbers of shape 11'),
                               ({"tracked": [{**tracked, "rotations": np.zeros((2, 9))}]}, '"rotations": numbers of shape 11 x 9'),
                               ({"input": np.zeros((1, 2))}, '"input": numbers of shape 1 x 11'), ({"limits": []}, "limits of 0")):
        refused(sentence, bough.Adjoint, state, curves, dt=0.01, step_count=10, **settings)
    assert np.isfinite(bough.Adjoint(state, curves, dt=0.01, step_count=10, tracked=[tracked]).value(np.zeros((1, 6))))
    refused('"points": numbers of shape n x 3', bough.Shape, "hull", points=[[0, 0], [1, 0], [0, 1], [1, 1]])
    refused('"heights": numbers of shape 30 x 30', bough.Shape, "height-field", heights=np.zeros(4), rows=30, columns=30)
    component = bough.cook(body, interfaces=ends, parent="base", r=2)
    track = {"time": [0.0, 1.0, 2.0], "position": np.zeros((2, 3)), "rotation": np.zeros((1, 4))}
    refused('"position": numbers of shape 3 x 3', bough.TreeModel, [component], [{"component": 0, "track": track}])
    joint = {"kind": "ball", "parent": {"body": 0}, "child": {"body": 1}, "compliance": [1.0]}
    refused('"compliance": numbers of shape 3 x 3', bough.Mechanism, [{"mass": 1}] * 2, [joint])


def test_counts_follow_from_arrays(beam):
    _, body, _ = beam
    refused('no setting "snapshot_count"', bough.cook, body, interfaces={"base": "x0"}, snapshot_count=7)
    refused('no setting "count"', bough.TreeModel, [], [{"track": {"count": 5}}])


def test_a_blend_knows_the_size_of_wrenches(arm):
    mechanism = arm.mechanism
    rest, blend = mechanism.description.rest, mechanism.blend()
    refused("shape 6 are wanted", blend.add, rest, wrench=[1.0])
    refused("shape 0 are wanted", blend.add, rest, motors=np.zeros(9))
    refused('"box": numbers of shape 6', mechanism.blend, workspace={"loads": [[1.0] * 6], "box": [1.0]})
    refused("frequencies were asked for", mechanism.frequencies, -1)
    refused('no joint "sholder"; did you mean "shoulder"', mechanism.joint_value, "sholder", rest)


def test_pictures_films_and_surfaces_fit_their_vertices(tmp_path):
    vertices, triangles = np.random.default_rng(2).random((50, 3)), [[0, 1, 2], [3, 4, 5]]
    picture = bough.Picture(width=32, height=32, box=([0, 0, 0], [1, 1, 1]))
    refused('"vertex_colours": numbers of shape 50 x 3', picture.surface, vertices, triangles, vertex_colours=np.zeros((2, 3)))
    refused('"edge_mask": numbers of shape 2 are', picture.surface, vertices, triangles, edge_mask=[1])
    refused("cannot change", picture.set, width=4000, height=4000)
    assert picture.render().pixels.shape == (32, 32, 4)
    film = bough.Glb(tmp_path / "film.glb")
    refused('"normals": numbers of shape 50 x 3', film.mesh, vertices, triangles, normals=np.zeros((2, 3)))
    refused("1000 triangles, and the surface 2", bough.write_obj, tmp_path / "a.obj", vertices, triangles, groups=[("all", 1000)])
    refused("there is no domain -1", bough.box(size=[1, 1, 1]).split_surface, np.full(6, -1), bough.box(size=[1, 1, 1]).surface()[0])


# ---- words ----


def test_wrong_kinds_of_things_are_named(beam):
    mesh, body, held = beam
    refused("a bough.Mesh is wanted, not None", bough.Body, None)
    refused("a bough.Body is wanted, not <bough.Mesh", bough.cook, mesh)
    refused("a bough.Component is wanted, not None", bough.TreeModel, [None], [{}])
    refused("a dictionary with the keys of a bough_frame_def is wanted, not 9", bough.Mechanism, [{"mass": 1}], [], [9])
    refused('"radius": must be real number, not str', bough.Shape, "sphere", radius="wide")
    refused('axes are some of "xyz", not "q"', held.fix, "x0", axes="q")
    refused("byte 0", bough.Scene, "scene\0.json")
    assert bough.Body(mesh, "stvk").measure().mass == pytest.approx(bough.Body(mesh, {"model": "stvk"}).measure().mass)


def test_a_scene_of_a_file_is_not_built_upon(two_bars, tmp_path):
    scene = bough.Scene(two_bars.write(tmp_path / "scene.json"))
    for call in (lambda: scene.set(gravity=1), lambda: scene.component("a"), lambda: scene.time(1), lambda: scene.part("a", "b")):
        refused("read from a file", call)


def test_an_actor_is_in_one_world(arm):
    actor = arm.mechanism.reduce().state().actor([{"end_effector": 0, "shape": {"kind": "sphere", "radius": 0.1}}])
    world = bough.World(actors=[actor])
    refused("in a world already", bough.World, actors=[actor])
    world.step(0.01)


def test_remarks_name_the_line_that_called(two_bars):
    with pytest.warns(bough.Remark) as said:
        with bough.Context(threads=1):
            bough.context()._listeners.warn("a remark")
    assert said[0].filename == __file__


def test_what_is_closed_while_a_thread_works_with_it_lives_until_that_comes_back():
    mesh = bough.box(size=[1, 1, 1], cells=[10, 10, 10], type="tet4")
    for _ in range(5):
        body = bough.Body(mesh)
        held = body.load_case().fix("x0").gravity()
        begun, found = threading.Event(), []

        def work(body=body, held=held):
            begun.set()
            found.append(body.modes(3, held).frequencies_hz[0])

        thread = threading.Thread(target=work)
        thread.start()
        begun.wait()
        time.sleep(0.02)
        held.close()
        body.close()
        with pytest.raises(bough.ArgumentError, match="was closed"):
            body.measure()
        others = [bough.Body(mesh) for _ in range(3)]  # memory that was let go is used again
        thread.join()
        del others
    assert found[0] > 0


def test_what_is_closed_is_gone_at_once_where_nobody_works_with_it():
    with bough.Context(count_memory=True) as ctx:
        body = bough.Body(bough.box(size=[1, 1, 1], cells=[1, 1, 1]))
        with pytest.raises(bough.Error) as caught:
            body.static(None, np.full((8, 3), np.nan))
        before = ctx.blocks
        body.close()
        assert ctx.blocks < before
    assert caught.value


# ---- what is missing ----


def test_what_is_missing_is_named(beam, two_bars):
    mesh, body, held = beam
    run = two_bars.live()
    refused("a name is wanted, not None", run.set_coupling, None)
    refused("a name is wanted, not None", run.set_integrator, None)
    refused("a name is wanted, not None", mesh.select, None)
    refused("name of a file is wanted, not None", bough.read, None)
    refused("name of a file is wanted, not None", run.restore, None)
    refused("thing is wanted, a whole number, not None", run.cut, None)
    refused('needs a "part"', run.change, {"kind": "detach"})
    refused('there is no column "0"', run.__getitem__, 0)
    refused("a bough.Moment is wanted, not None", run.back_to, None)
    refused("a bough.LoadCase is wanted, not 'x0'", body.modes, 3, "x0")
    refused("a bough.Mesh is wanted, not None", mesh.bind, None)
    refused("a scene, a run, a file or a dictionary is wanted", bough.view, None)
    refused("bytes are wanted, not str", bough.TreeModel.read, "oak")
    assert run.thing("lower").there


def test_counts_and_numbers_of_enums_are_checked(two_bars):
    run = two_bars.live()
    for count in (-1, 1.5, "a", None, float("nan")):
        refused("a count of steps is wanted, a whole number of 0 or more", run.step, count)
    run.step(np.int64(2))
    assert run.report.steps == 2
    refused("there is no element type 99", bough.Element, 99)
    refused("there is no colour map 99", bough.colour, 0.5, map=99)
    refused("shape 3 are wanted, not 2", bough.Picture(width=8, height=8, box=([0, 0, 0], [1, 1, 1])).label, 0, 0, "a", colour=(1, 1))
    for threads in (1.5, "all", None):
        refused("a context needs 0 threads", bough.Context, threads=threads)
    refused("numbers are wanted: could not convert", run.pull, "lower", 0, "here")
    refused("length of gusts", run.set_wind, [0, 1, 0], density=-1)


def test_scenes_hold_what_files_can(two_bars, tmp_path):
    two_bars.info
    loop = {}
    loop["wind"] = loop
    for wrong, sentence in (({"gravity": [0, 0, float("nan")]}, r"gravity\[2\]: a finite number is wanted, not nan"),
                            ({"wind": {"velocity": object()}}, "wind.velocity: a number, a text, a list or a dictionary"),
                            ({"gravity": {1, 2}}, "gravity: a number"), ({"wind": loop}, "nested deeper than 32")):
        refused(sentence, bough.Scene({**two_bars.data, **wrong}).run)
    refused("a scene is a file or a dictionary, not 5", bough.Scene, 5)
    refused("cannot be written: No such file", two_bars.write, tmp_path / "missing" / "scene.json")
    refused("cannot be written: No such file", bough.Scene({"mesh": {}}, folder=tmp_path / "missing").run)
    assert bough.Scene({**two_bars.data, "gravity": np.array([0, 0, -9.81], "f4"), "settle": np.bool_(False)}).info.things == "parts"


# ---- states ----


def test_what_is_assigned_to_an_array_of_a_state_becomes_its_content(two_bars, hinged):
    state = two_bars.model().state()
    inside = state.q
    state.q = np.arange(12) * 1e-4
    assert state.q is inside and inside[11] == 1.1e-3
    state.v = 0
    state.q += 1e-4
    assert inside[0] == 1e-4
    refused("q holds numbers of shape 12", setattr, state, "q", np.zeros(5))
    refused("shape 3 are wanted", setattr, state, "gravity", [0, 0])
    state.gravity = [0, 0, 1]
    assert list(state.gravity) == [0, 0, 1]
    refused("u holds numbers of shape 7", setattr, hinged[1], "u", "x")
    _, fixed = two_bars.run().tree
    refused("read-only", setattr, fixed, "q", 0)


def test_two_threads_do_not_share_a_state(beam, two_bars, hinged, arm):
    _, body, held = beam
    run = two_bars.live(threads=1)
    for state, work in ((two_bars.model().state(), lambda s: s.step(1e-3)), (hinged[1], lambda s: s.step(1e-3)),
                        (arm.mechanism.reduce().state(), lambda s: s.step(1e-3)), (body.state(held), lambda s: s.step(1e-3)),
                        (run.tree[1], lambda s: s.update()), (run, lambda r: r.displacement), (run, lambda r: r.step())):
        inside, done, found = threading.Event(), threading.Event(), []

        def stay(*_, inside=inside, done=done):
            inside.set()
            done.wait()

        thread = threading.Thread(target=state._alone, args=(stay,))
        thread.start()
        inside.wait()
        try:
            refused("in use by another thread", work, state)
        finally:
            done.set()
            thread.join()
        work(state)


def test_a_run_is_free_again_wherever_ctrl_c_comes(arm):
    run = arm.live(threads=1)
    run.step()

    def interrupt(*_):
        raise KeyboardInterrupt

    before = signal.signal(signal.SIGALRM, interrupt)
    try:
        for i in range(400):
            with pytest.raises(KeyboardInterrupt):
                signal.setitimer(signal.ITIMER_REAL, 2e-4 + 1e-6 * (i % 50))
                while True:
                    run.step()
            run.step()
    finally:
        signal.signal(signal.SIGALRM, before)


# ---- processes ----


def test_a_process_that_forks_has_children_that_go_on(beam, two_bars):
    """Threads of the library stay with the parent. A child steps, finds modes, lets go and ends as usual."""
    _, body, held = beam
    with bough.Context(threads=2):
        run = two_bars.run()
        run.step(3)
        hertz = body.modes(3, held).frequencies_hz[0]
        child = os.fork()
        if child == 0:
            status = 1
            try:
                run.step(2)
                good = run.report.steps == 5 and body.modes(3, held).frequencies_hz[0] == hertz
                run.close()
                with bough.Context(threads=2):
                    good = good and body.modes(3, held).frequencies_hz[0] == hertz
                status = 0 if good else 2
            finally:
                os._exit(status)
        deadline = time.monotonic() + 60
        while (ended := os.waitpid(child, os.WNOHANG))[0] == 0:
            if time.monotonic() > deadline:
                os.kill(child, signal.SIGKILL)
            time.sleep(0.005)
        assert ended[1] == 0
        run.step(2)
