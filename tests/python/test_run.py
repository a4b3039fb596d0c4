"""Scenes and runs: building, stepping, hands, what can be looked at, and what fails."""

import json
import signal
import threading
import time

import numpy as np
import pytest

import bough
from conftest import ROOT


def test_a_scene_that_is_built_is_the_file_that_one_would_write(two_bars, tmp_path):
    two_bars.write(tmp_path / "scene.json")
    data = json.loads((tmp_path / "scene.json").read_text())
    assert data["parts"][1] == {"name": "lower", "component": "link", "parent": "upper", "interface": "tip"}
    assert data["probes"] == [{"name": "tip", "part": "lower", "nearest": [2, 0, 0]}]
    assert bough.Scene(data).info.kind == bough.Scene(tmp_path / "scene.json").info.kind == "parts"
    assert bough.look(tmp_path / "scene.json").complete and bough.look(tmp_path) is None
    assert bough.json_depth(two_bars.json()) > 2


def test_a_wrong_key_is_one_sentence():
    with pytest.raises(bough.FormatError, match='unknown key "fxi"; did you mean "fix"') as caught:
        bough.Scene({"mesh": {"generate": "box"}, "fxi": "x0"}).run()
    assert caught.value.status == "file content is wrong" and not caught.value.recoverable
    with pytest.raises(bough.ArgumentError, match='no setting "duraton"; did you mean "duration"'):
        bough.Scene({"mesh": {"generate": "box", "size": [1, 1, 1]}}).run(duraton=1)
    with pytest.raises(bough.FileError):
        bough.Scene("no such file.json")


def test_state_and_columns_agree(two_bars):
    run = two_bars.run()
    run.step(10)
    assert run.time == pytest.approx(0.05) and run["tip.z"] == run["tip"][2] < 0
    assert run.report.steps == 10 and "tip.z" in run.columns and run.values.shape == (len(run.columns),)
    mesh, u = run.mesh, run.displacement
    tip = np.argmin(np.linalg.norm(mesh.vertices - [2, 0, 0], axis=1))
    assert mesh.vertices[tip, 2] + u[tip, 2] == pytest.approx(run["tip.z"], abs=1e-6)
    assert run.velocity[tip, 2] == pytest.approx(run["tip.vz"], rel=1e-4)
    lower = run.thing("lower")
    assert run.things[1].name == "lower" and lower.q.shape == (6,) and lower.pose.shape == (4, 4)
    assert run.positions("lower").shape[1] == 3 and run.positions().shape == mesh.vertices.shape
    run.advance()
    assert run.time == pytest.approx(0.1)
    assert "tree engine" in repr(run) and "<table>" in run._repr_html_()
    with pytest.raises(bough.ArgumentError, match='did you mean "tip.z"|there are'):
        run["tipz"]


def test_an_array_outlives_its_run(two_bars):
    run = two_bars.run()
    u = run.displacement
    run.close()
    two_bars.close()
    assert np.isfinite(u).all()
    with pytest.raises(bough.ArgumentError, match="closed"):
        run.step()


def test_a_run_goes_on_from_a_checkpoint_and_records(two_bars, tmp_path):
    told, seen = [], []
    with two_bars.run(record=str(tmp_path / "run.csv"), frames=tmp_path / "frames", watch=lambda r: seen.append(r.time),
                      tell=told.append, fps=100) as run:
        run.step(5)
        run.save(tmp_path / "half")
        run.advance()
        end = run.values
    assert len((tmp_path / "run.csv").read_text().splitlines()) == 22 and len(seen) > 5
    other = two_bars.run()
    other.restore(tmp_path / "half")
    other.advance()
    assert np.array_equal(other.values, end)


def test_hands_wind_and_cuts_act_on_a_live_run(two_bars):
    run = two_bars.live()
    assert {"pull", "wind", "change"} <= run.can
    moment = run.keep()
    run.pull("lower", 0, [2, 1, 0])
    run.step(20)
    pulled = run.thing("lower").pose[1, 3]
    assert abs(pulled) > 1e-4
    run.release()
    run.back_to(moment)
    assert run.time == moment.time == 0 and moment.size > 0
    run.set_wind([0, 10, 0], gust=0)
    assert np.allclose(run.wind.velocity, [0, 10, 0])
    run.set_wind()
    run.gravity = [0, 0, 0]
    assert np.allclose(run.gravity, 0)
    run.poke("lower", 0, [0, 0, 0.1])
    run.set_dt(0.002)
    run.step()
    assert run.time == pytest.approx(0.002)
    run.cut("lower")
    run.gravity = [0, 0, -9.81]
    run.step(50)
    assert run.thing("lower").loose and run.thing("lower").pose[2, 3] < -0.03
    assert [c.change for c in run.changes] == ["detach"]
    run.reattach("lower")
    run.lock("lower")
    run.step(2)
    assert run.thing("lower").locked and not run.thing("lower").loose
    run.lock("lower", False)
    run.remove("lower")
    assert run.thing("lower").removed
    run.add("lower")
    run.cut("lower")
    run.attach("lower", "upper", 1)
    run.set_stiffness("upper", 2.0)
    run.set_damping("upper", 0.1, siblings=True)
    run.set_coupling("L2")
    run.set_coupling("L3")
    run.set_continuity("C1")
    run.set_integrator("newmark")
    run.step()
    assert run.thing("upper").stiffness == 2
    with pytest.raises(bough.ArgumentError, match='did you mean "lower"'):
        run.cut("lowr")


def test_what_can_be_measured(two_bars):
    run = two_bars.live()
    run.step(5)
    assert run.stresses.shape == (2,) and run.vertex_stresses.shape == (len(run.mesh.vertices),)
    assert len(run.deviations) == 2 and run.seams.place_count >= 0 and run.contacts == [] and run.joints == []
    assert run.joint_gap is None
    with pytest.raises(bough.UnsupportedError, match="tree engine"):
        run.modes(3)
    model, state = run.tree
    state.q[6:] += 1e-3
    state.update()
    assert np.array_equal(run.thing("lower").q, state.q[6:]) and len(model) == 2


def test_motors_are_taken_over(arm):
    run = arm.live()
    assert run.motors[0].joint == "shoulder" and run.motors[0].unit == "rad"
    run.gravity = [0, 0, 0]
    run.set_motor("shoulder", 0.3)
    run.step(1000)
    assert run["tip"][2] == pytest.approx(-0.5 * np.sin(0.3), abs=0.01)
    run.set_motor(0)
    assert not run.motors[0].held and run.joint_gap[1].error >= run.joint_gap[0].error
    with pytest.raises(bough.ArgumentError, match="shoulder"):
        run.set_motor("sholder", 1)


def test_equilibria_are_followed():
    scene = bough.Scene(gravity=[0, 0, -9.81], settle=True)
    scene.body("hub", density=1000, shape={"sphere": 0.1})
    scene.joint("hinge", "hinge", "world", "hub", position=[0, 0, 0], axis=[0, 1, 0])
    scene.motor("m", joint="hinge", curve=scene.curve("turn", [[0, 0], [1, 1]]))
    scene.probe("m", motor="m")
    run = scene.time(1, 0.01).run()
    snaps, last = run.follow(0.5)
    assert len(run.joints) == 1 and snaps == 0 and last is None and run.thing("hub").pose[0, 0] == pytest.approx(np.cos(0.5), abs=1e-6)


def test_progress_cancels_and_remarks_are_warnings(two_bars):
    two_bars.model()
    run = two_bars.run(duration=5)
    run._context.set_progress(lambda what, fraction, detail: False)
    with bough.Context(progress=lambda what, fraction, detail: False):
        with pytest.raises(bough.Cancelled):
            bough.CookPlan(two_bars.path).run(force=True)
        with pytest.raises(bough.Cancelled) as caught:
            run.advance()
        assert caught.value.status == "cancelled" and run.time < 5
    ctx = bough.Context(threads=1)
    said = []
    ctx.set_progress(lambda *message: said.append(message))
    with ctx:
        two_bars.run(duration=0.2).advance()
    assert all(len(message) == 3 for message in said)


def test_ctrl_c_ends_a_long_call(two_bars):
    run = two_bars.run(duration=1000.0, dt=0.001)
    timer = threading.Timer(0.3, lambda: signal.pthread_kill(threading.main_thread().ident, signal.SIGINT))
    timer.start()
    with pytest.raises(KeyboardInterrupt):
        run.advance()
    assert 0 < run.time < 1000
    run.step()  # and the run goes on


def test_engines_are_listed():
    assert {"full", "tree", "mechanism", "multibody"} <= set(bough.engines())
    scene = bough.Scene({"mesh": {"generate": "box", "type": "hex8", "size": [2, 1, 1], "cells": [2, 1, 1]}, "fix": "x0", "gravity": [0, 0, -9.81]})
    assert scene.info.engines["full"].suits and scene.subject.mesh.type == "hex8" and scene.load_case is not None
    run = scene.run(duration=1, dt=0.01)
    run.step()
    assert run.displacement.shape == (len(run.mesh.vertices), 3) and run.stresses.shape == (2,)
    with pytest.raises(bough.UnsupportedError, match="wind"):
        scene.live(dt=0.01).set_wind([1, 0, 0])
    assert scene.mechanism is None and "not loaded" in repr(bough.Scene(gravity=[0, 0, 0]))


def test_a_robot_becomes_a_scene(tmp_path):
    bough.write_robot(ROOT / "examples" / "urdf-arm" / "arm.urdf", tmp_path / "robot.json")
    assert json.loads((tmp_path / "robot.json").read_text())["joints"]


def test_steps_let_go_of_the_lock_and_runs_do_not_meet(two_bars):
    """While threads are inside of one call of the library each, Python sees their runs move; and results do not depend on
    what other threads do."""
    two_bars.info
    alone = two_bars.run(duration=50, threads=1)
    alone.step(10000)
    runs = [two_bars.run(duration=50, threads=1) for _ in range(4)]
    threads = [threading.Thread(target=bough.lib.bough_py_steps, args=(run._ctx, run._c, 10000)) for run in runs]
    for thread in threads:
        thread.start()
    seen = set()
    while any(thread.is_alive() for thread in threads):
        seen.update(run.time for run in runs)
        time.sleep(0)
    assert any(0 < t < alone.time for t in seen)
    assert all(np.array_equal(run.values, alone.values) for run in runs)


def test_two_threads_cannot_step_one_run(two_bars):
    run = two_bars.run(duration=100.0, threads=1)
    caught, stop = [], threading.Event()
    run._context.set_progress(lambda *_: not stop.is_set())
    thread = threading.Thread(target=lambda: pytest.raises(bough.Cancelled, run.advance))
    thread.start()
    time.sleep(0.05)
    try:
        run.step()
    except bough.ArgumentError as error:
        caught.append(str(error))
    stop.set()
    thread.join()
    assert "another thread" in caught[0]
