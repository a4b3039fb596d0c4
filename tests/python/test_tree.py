"""Trees by hand: states, changes, forces, contact, recordings."""

import numpy as np
import pytest

import bough


@pytest.fixture(scope="module")
def bar():
    body = bough.Body(bough.box(size=[1, 0.1, 0.1], cells=[10, 1, 1], type="hex8"),
                      bough.Material("stvk", young=1e7, poisson=0.35, density=1000), damping_stiffness=0.002)
    return bough.cook(body, interfaces={"base": "x0", "tip": "x1"}, parent="base", r=6, contact_count=40)


@pytest.fixture
def model(bar):
    return bough.TreeModel([bar], [{"name": "upper", "component": 0}, {"name": "lower", "component": 0, "parent": 0, "interface_index": 1}],
                           gravity=[0, 0, -9.81])


def test_a_tree_settles_where_steps_end(model):
    state = model.state()
    assert state.settle() < 1e-8 and state.energies.kinetic == 0
    q = state.q.copy()
    state.step(0.005)
    assert np.allclose(state.q, q, atol=1e-9) and state.time == pytest.approx(0.005)
    assert np.allclose(state.gravity, [0, 0, -9.81]) and state.coupling == "L3"
    assert model.size == 12 and len(model) == 2 and model.find("lower") == 1 and model.coordinates("lower") == slice(6, 12)
    assert model.joint("lower") is None and [p.name for p in model.parts] == ["upper", "lower"]
    assert state.frame("lower")[2, 3] < 0 and np.allclose(state.frames[1, :3], state.frame(1)[:3, 3])
    with pytest.raises(bough.ArgumentError, match="lowest"):
        state.cut("lowest")
    for call in (lambda: model.coordinates(2), lambda: state.frame(-1), lambda: state.positions(9), lambda: state.set_root(0)):
        with pytest.raises(bough.ArgumentError, match="there is no"):
            call()


def test_arrays_are_the_state_itself(model):
    state = model.state()
    state.q[6] = 0.05
    state.update()
    moved = state.positions("lower").copy()
    state.q[:] = 0
    state.update()
    assert np.abs(state.positions("lower") - moved).max() > 0.01
    state.gravity = [0, 0, 0]
    state.stiffness[0] = 2.0
    q = state.q
    state.step(0.01)
    assert np.allclose(q, 0) and state.v.shape == state.a.shape == q.shape
    assert state.damping_mass.shape == state.damping_stiffness.shape == (2,) and state.tie_strength.shape == (0,)
    state.close()
    assert np.allclose(q, 0)  # still there, since an array looks into it


def test_forces_give_momentum(bar):
    free = bough.TreeModel([bar], [{"component": 0, "free": True}]).state()
    for _ in range(100):
        free.add_wrench(0, [0, 0, 2.0], [0, 0, 0])
        free.step(0.001)
    assert free.energies.momentum[2] == pytest.approx(0.2, rel=1e-9) and free.roots[0].mass == pytest.approx(10)
    before = free.energies.momentum.copy()
    count = len(free.positions(0))
    free.add_force(0, 3, [1, 0, 0])
    free.add_surface_forces(0, np.full((count, 3), 1 / count))
    free.clear_forces()
    free.step(0.001)
    assert np.allclose(free.energies.momentum, before)
    free.add_surface_forces(0, np.full((count, 3), 1 / count))
    free.advance(0.001)
    assert np.allclose(free.energies.momentum - before, 1e-3, rtol=1e-4)
    free.set_root(0, velocity=[1, 0, 0], angular_velocity=[0, 0, 0])
    assert free.energies.momentum[0] == pytest.approx(10, rel=1e-3)
    assert len(free.work) == 2


def test_what_is_cut_falls_and_what_is_locked_does_not_bend(model):
    state = model.state()
    state.settle()
    state.cut("lower")
    for _ in range(20):
        state.step(0.005)
    assert state.roots[0].part == 1 and state.roots[0].velocity[2] < -0.5
    state.change({"kind": "reattach", "part": "lower"}, {"kind": "lock", "part": "upper"})
    assert state.parts[0].locked and not state.parts[1].free
    state.lock("upper", False)
    state.cut("lower")
    state.attach("lower", "upper", 1)
    assert state.parts[1].parent == 0
    state.set_stiffness(2.0, part="upper")
    state.set_stiffness(1.0, component=0)
    before = state.lowest_frequencies
    state.set_damping_ratio(0.1, part="lower")
    state.set_damping_ratio(0.2, component=0)
    state.set_stiffness(2.0, component=0)
    assert np.allclose(state.lowest_frequencies, 2 * before)


def test_pulling_wind_and_stress(model, bar):
    state = model.state()
    state.settle(push=lambda s: s.add_wrench("lower", [0, 0, 5.0], [0, 0, 0]))
    bent = state.peak_stresses
    state.clear_forces()
    state.settle()
    assert state.peak_stresses[0] > bent[0]
    state.set_wind(velocity=[0, 5, 0], gust=0)
    assert np.allclose(bough.wind_at({"velocity": [0, 5, 0], "gust": 0}, 0, [0, 0, 0]), [0, 5, 0])
    start = state.vertex("lower", 0)[0][1]
    for _ in range(20):
        state.pull("lower", 0, [2, 1, 0], 10, 0.1)
        state.step(0.005)
    assert state.vertex("lower", 0)[0][1] > start + 1e-3 and state.wind.velocity[1] == 5
    stress = state.stress("upper", 0)
    assert stress.von_mises == pytest.approx(bough.von_mises(stress.cauchy))
    whole = state.surface_stress()
    assert len(whole) == model.vertex_count and len(state.surface_stress("upper")) == len(state.positions("upper"))
    assert bough.stress_levels(whole, whole.max()).max() == 255
    normals = np.empty((model.vertex_count, 3), "<f4")
    assert state.surface(normals=normals).shape == normals.shape and np.allclose(np.linalg.norm(normals, axis=1), 1, atol=1e-5)
    assert model.triangles.max() < model.vertex_count and state.gap.count > 0 and len(model.seams[0]) > 0
    state.continuity = "C1"
    state.coupling = "L2"
    assert state.continuity == "c1" and state.coupling == "L2"
    other = model.state()
    other.use_integrator("tr-bdf2")
    other.step(0.005)
    modes = model.state().modes(3)
    assert modes.frequencies_hz[0] > 0 and modes.shapes.shape == (3, 12)


def test_an_exception_in_push_is_raised(model):
    def push(state):
        raise RuntimeError("of ours")

    with pytest.raises(RuntimeError, match="of ours"):
        model.state().settle(push=push)


def test_a_hinge_turns(bar):
    model = bough.TreeModel([bar], [{"component": 0}, {"component": 0, "name": "door", "parent": 0, "interface_index": 1, "joint": {"kind": "hinge", "child": {"pose": [0, 0, 0]}}}])
    state = model.state()
    assert model.joint("door") is not None
    for _ in range(10):
        state.add_joint_torque("door", 1.0)
        state.step(0.01)
    assert state.q[model.joint("door")] > 0
    state.use_integrator()


def test_a_bar_lands_on_the_ground(bar):
    state = bough.TreeModel([bar], [{"component": 0, "free": True}], gravity=[0, 0, -9.81]).state()
    state.touch([{"pose": [0, 0, -0.1], "shapes": [{"kind": "plane"}]}], between=[False])
    for _ in range(80):
        state.advance(0.004)
    assert state.roots[0].pose[2, 3] > -0.1 and len(state.contacts) > 0 and sum(c.force[2] for c in state.contacts) > 0
    state.touch()
    state.advance(0.01)
    assert not state.contacts


def test_parts_have_several_shapes(bar):
    box = [[x, y, z] for x in (0, 1) for y in (-0.1, 0.1) for z in (-0.1, 0.1)]
    sides = [[0, 1, 3], [0, 3, 2], [4, 6, 7], [4, 7, 5], [0, 4, 5], [0, 5, 1], [2, 3, 7], [2, 7, 6], [0, 2, 6], [0, 6, 4], [1, 5, 7], [1, 7, 3]]
    mesh = bough.ShapeMesh(box, sides)
    state = bough.TreeModel([bar], [{"component": 0, "free": True}, {"component": 0, "free": True, "position": [0, 0, 0.35]}], gravity=[0, 0, -9.81]).state()
    state.touch([{"pose": [0, 0, -0.1], "shapes": [{"kind": "plane"}]}],
                [{"part": 0, "shape": {"kind": "mesh", "mesh": mesh}}, {"part": 0, "shape": {"kind": "box", "half": [0.2, 0.2, 0.1]}}])
    mesh.close()
    for _ in range(150):
        state.advance(0.004)
    assert any(c.things[1] == 0 for c in state.contacts) and state.roots[1].pose[2, 3] > 0
    with pytest.raises(bough.UnsupportedError, match="everywhere"):
        state.touch([], [{"part": 0, "shape": {"kind": "plane"}}])


def test_a_tree_touches_what_its_scene_says():
    ctx, paths = bough.Context(threads=1), []
    ctx.set_reading(paths.append)
    with ctx:
        scene = bough.Scene({
            "bough": 1, "components": {"bar": {"mesh": {"generate": "box", "type": "hex8", "size": [0.4, 0.1, 0.1], "cells": [4, 1, 1]},
                                               "material": {"young": 1e7, "poisson": 0.3, "density": 1000}, "basis": {"r": 6}}},
            "parts": [{"name": "bar", "component": "bar"}], "gravity": [0, 0, -9.81], "contact": {"friction": 0.5},
            "obstacles": [{"name": "floor", "shape": {"plane": True}, "position": [0, 0, -0.2]}], "time": {"dt": 1 / 240, "duration": 1}})
        states = [scene.model().state(), scene.model().state()]
        scene.touch(states[0])
        for state in states:
            state.gravity = [0, 0, -9.81]
            for _ in range(240):
                state.advance(1 / 240)
        heights = [state.positions(0)[:, 2].min() for state in states]
        paths.clear()
        bough.Scene(scene.path).model()
    assert heights[0] == pytest.approx(-0.2, abs=2e-3) and heights[1] < -4
    assert sorted({p.rpartition("/")[2] for p in paths}) == ["bar.bough", "scene.json"]


def test_a_snapshot_and_a_recording_give_the_same_bits(model, tmp_path):
    state = model.state()
    start, log = state.save(), state.record()
    for _ in range(10):
        state.add_force("lower", 0, [0, 1, 0])
        state.step(0.005)
    end = state.q.copy()
    log.save(tmp_path / "half.log")
    log.stop().save(tmp_path / "whole.log")
    state.restore(start)
    assert state.time == 0
    other, seen = model.state(), []
    assert bough.TreeLog.load(tmp_path / "whole.log").replay(other, watch=lambda s: seen.append(s.time))
    assert np.array_equal(other.q, end) and len(seen) == 10 and log.info.steps == 10
    assert bough.TreeLog.read((tmp_path / "half.log").read_bytes()).replay(model.state())
    with pytest.raises(bough.FormatError):
        bough.TreeLog.read(b"x" * 500)


def test_a_pack_holds_the_whole_model(model, tmp_path):
    model.save(tmp_path / "bars.pack")
    for again in (bough.TreeModel.load(tmp_path / "bars.pack"), bough.TreeModel.read((tmp_path / "bars.pack").read_bytes())):
        state, wanted = again.state(), model.state()
        for s in (state, wanted):
            s.step(0.01)
        assert np.array_equal(state.q, wanted.q) and again.components[0].r == 6
