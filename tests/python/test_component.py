"""Components: what cooking keeps of a body."""

import numpy as np
import pytest

import bough


@pytest.fixture(scope="module")
def cooked_beam():
    mesh = bough.box(size=[1, 0.1, 0.1], cells=[10, 1, 1], type="hex8")
    body = bough.Body(mesh, bough.Material("stvk", young=1e7, poisson=0.3, density=1000))
    return mesh, body, bough.cook(body, interfaces={"base": "x0", "tip": "x1"}, parent="base", r=8, keep_volume=True)


def test_a_component_has_the_frequencies_of_its_body(cooked_beam):
    mesh, body, component = cooked_beam
    modes = body.modes(3, body.load_case().fix("x0"))
    squares = np.sort(np.linalg.eigvals(np.linalg.solve(component.mass_matrix, component.stiffness)).real)
    assert np.allclose(np.sqrt(squares[:2]) / (2 * np.pi), modes.frequencies_hz[:2], rtol=0.01)
    assert component.mass == pytest.approx(body.measure().mass)
    assert component.r == 8 and component.interfaces == ["base", "tip"] and component.support == "interface"
    assert component.verdicts["frequencies"][1] == "good" and component.worst()[0] in component.verdicts
    assert component.worst(share=0.0)[1] >= 0 and component.operations > 0
    assert component.quality.full_hz.shape == component.quality.reduced_hz.shape
    assert component.provenance is not None and component.origin.shape == (3,)


def test_the_gradient_is_the_derivative_of_the_energy(cooked_beam):
    component = cooked_beam[2]
    q, v = np.random.default_rng(1).normal(size=(2, 8)) * 1e-3
    energy, gradient, hessian = component.evaluate(q)
    ahead, behind = component.evaluate(q + 1e-3 * v)[0], component.evaluate(q - 1e-3 * v)[0]
    assert (ahead - behind) / 2e-3 == pytest.approx(gradient @ v, rel=1e-5)
    again, product = component.product(q, v)
    assert np.allclose(again, gradient) and np.allclose(product, hessian @ v)


def test_the_surface_follows_the_basis(cooked_beam):
    mesh, body, component = cooked_beam
    q = np.zeros(8)
    q[0] = 0.01
    out = np.empty_like(component.positions())
    assert component.positions(q, out=out) is out
    tip = component.interface_frame("tip", q)
    assert tip[0, 3] == pytest.approx(1, abs=0.2) and np.allclose(tip[:3, :3] @ tip[:3, :3].T, np.eye(3))
    assert component.basis.shape == (3 * len(mesh.vertices), 8) and component.triangles.max() < len(out)
    stress, mises = component.stress(0, q)
    assert mises == pytest.approx(bough.von_mises(stress))
    with pytest.raises(bough.ArgumentError, match="tip"):
        component.interface_frame("top")
    with pytest.raises(bough.ArgumentError, match="stress point"):
        component.stress(10000, q)


def test_a_component_is_the_same_after_a_file(cooked_beam, tmp_path):
    component = cooked_beam[2]
    component.save(tmp_path / "beam.bough")
    assert bytes(bough.Component.load(tmp_path / "beam.bough")) == bytes(component)
    assert bytes(bough.Component.read(bytes(component))) == bytes(component)
    with pytest.raises(bough.FormatError):
        bough.Component.read(b"no component" * 100)


def test_a_longer_beam_is_cooked_alike(cooked_beam):
    mesh, body, component = cooked_beam
    longer = bough.Mesh(mesh.vertices * [1.001, 1, 1], mesh.elements, "hex8")
    other = bough.cook_alike(bough.Body(longer, bough.Material("stvk", young=1e7, poisson=0.3, density=1000)), body, component,
                             interfaces={"base": mesh.select("x0"), "tip": mesh.select("x1")}, parent="base")
    assert other.r == component.r and np.allclose(other.stiffness, component.stiffness, rtol=0.05, atol=1e-3 * component.stiffness.max())


def test_a_file_is_cooked_once(tmp_path):
    (tmp_path / "bar.json").write_text('{"bough": 1, "mesh": {"generate": "box", "type": "hex8", "size": [1, 0.1, 0.1], "cells": [8, 1, 1]},'
                                       '"interfaces": {"base": {"select": "x0"}}, "basis": {"r": 4}}')
    job = bough.CookJob(tmp_path / "bar.json", changes={"basis": {"r": 3}})
    assert job.name == "bar" and job.settings.r == 3 and job.body.mesh.type == "hex8" and job.load_case is None or True
    job.set_resume_path(tmp_path / "bar.part")
    assert job.run().r == 3
    plan, told = bough.CookPlan(tmp_path / "bar.json", output=tmp_path / "bar.bough"), []
    assert not plan.items[0].up_to_date and plan.folder is None
    plan.run(finished=lambda name, cooked, seconds: told.append((name, cooked)))
    plan.run(finished=lambda name, cooked, seconds: told.append((name, cooked)))
    assert told == [("bar", True), ("bar", False)]
    plan.set_grade("fair")

    def fails(*_):
        raise KeyError("of ours")

    with pytest.raises(KeyError):
        plan.run(finished=fails)
    component, times = bough.cook(job.body, interfaces={"base": "x0"}, parent="base", r=2, times=True, basis="modes")
    assert component.r == 2 and list(times) == bough.cook_phases()
    with pytest.raises(bough.ArgumentError, match="mass-loaded"):
        bough.cook(job.body, basis="mods")
    assert bough.share_modes(20, [100, 10000]).sum() <= 20


def test_a_scene_of_parts_is_forecast(two_bars):
    two_bars.model()
    plan = bough.CookPlan(two_bars.path)
    assert plan.folder and plan.forecast().frequency is not None
