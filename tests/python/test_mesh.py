"""Meshes and bodies: what arrays hold, what theory says, and what is refused."""

import types

import numpy as np
import pytest

import bough


def test_arrays_look_into_the_mesh_and_keep_it_alive():
    mesh = bough.box(size=[1, 1, 1], cells=[1, 1, 1], type="hex8")
    vertices = mesh.vertices
    vertices[:] *= 2
    assert mesh.measure().volume == pytest.approx(8)
    mesh.close()
    assert vertices.max() == 2
    with pytest.raises(bough.ArgumentError, match="closed"):
        mesh.vertices


def test_a_mesh_comes_from_arrays_and_goes_to_files(tmp_path):
    tet = bough.Mesh([[0, 0, 0], [1, 0, 0], [0, 1, 0], [0, 0, 1]], [[0, 1, 2, 3]])
    assert tet.type == "tet4" and tet.measure().volume == pytest.approx(1 / 6)
    tet.add_set("vertex", "top", [3])
    tet.add_set("element", "all of it", [0])
    tet.add_material("wood", young=1e9, element_set="all of it")
    tet.write(tmp_path / "tet.msh")
    back = bough.read(tmp_path / "tet.msh")
    assert np.array_equal(back.vertices, tet.vertices) and np.array_equal(back.elements, tet.elements)
    assert back.find_set("vertex", "top").tolist() == [3] and back.find_set("face", "top") is None
    assert tet.materials[0].young == 1e9
    tet.write(tmp_path / "tet.vtu", {"height": tet.vertices[:, 2], "pressure": [1.0]})
    assert b"height" in (tmp_path / "tet.vtu").read_bytes()
    inverted = bough.Mesh(tet.vertices, [[0, 2, 1, 3]])
    with pytest.raises(bough.ArgumentError, match="inverted"):
        inverted.check()
    assert inverted.repair() == 1
    inverted.check()
    assert inverted.transform(scale=2).measure().volume == pytest.approx(8 / 6)


def test_data_shaped_as_other_libraries_have_it_becomes_a_mesh():
    points = [[0, 0, 0], [1, 0, 0], [0, 1, 0], [0, 0, 1]]
    block = types.SimpleNamespace(type="tetra", data=[[0, 1, 2, 3]])
    skin = types.SimpleNamespace(type="triangle", data=[[0, 1, 2]])
    assert bough.from_data(types.SimpleNamespace(points=points, cells=[skin, block])).type == "tet4"
    assert bough.from_data(types.SimpleNamespace(points=points, cells={"tetra": [[0, 1, 2, 3]]})).type == "tet4"
    assert bough.from_data(types.SimpleNamespace(vertices=points, faces=[[0, 1, 2]])).type == "tri3"
    with pytest.raises(bough.ArgumentError, match="points and cells"):
        bough.from_data(object())


def test_surfaces_are_bound_filled_and_cut():
    ball = bough.implicit(lambda x: np.linalg.norm(x) - 0.5, [-0.6] * 3, [0.6] * 3, 0.2)
    assert ball.measure().volume == pytest.approx(np.pi / 6, rel=0.1)
    surface, vertices, faces = ball.surface()
    assert np.allclose(ball.vertices[vertices], surface.vertices)
    embedding, report = ball.bind(surface)
    assert report.outside_count == 0
    assert np.allclose(embedding.follow(ball, ball.vertices), surface.vertices)
    assert np.allclose(embedding.weights.sum(1), 1) and len(embedding.elements) == len(surface.vertices)
    bricks, _ = surface.voxelize(0.2)
    assert bricks.type == "hex8" and bricks.measure().volume > ball.measure().volume
    assert ball.raise_order().type == "tet10"
    assert len(surface.edges()) == 3 * len(surface) // 2  # a closed surface
    try:
        assert surface.tetrahedralize(max_edge=0.4).measure().volume == pytest.approx(ball.measure().volume, rel=1e-6)
    except bough.MissingProgram as error:
        assert "gmsh" in str(error)


def test_an_exception_in_a_callback_comes_out_of_the_call():
    def distance(x):
        raise ZeroDivisionError("of ours")

    with pytest.raises(ZeroDivisionError, match="of ours"):
        bough.implicit(distance, [-1] * 3, [1] * 3, 0.5)


def test_a_mesh_is_cut_into_domains_that_form_a_tree():
    mesh = bough.box(size=[2, 1, 1], cells=[2, 1, 1], type="hex8")
    mesh.add_set("element", "left", [0])
    mesh.add_set("element", "right", [1])
    domain, count = mesh.domains()
    assert count == 2 and mesh.domains(["right", "left"])[0].tolist() == [1, 0]
    split = mesh.split(domain)
    assert [len(d.mesh) for d in split.domains] == [1, 1] and split.interfaces[0].area == pytest.approx(1)
    assert np.allclose(mesh.vertices[split.domains[1].vertex_map], split.domains[1].mesh.vertices)
    assert split.tree()[0].tolist() == [-1, 0]
    assert all(part is not None for part in mesh.split_surface(domain, mesh.surface()[0]))


def test_a_rod_is_round():
    rod = bough.rod(length=2, radius=0.1, cells_along=4, core_cells=4, rings=3, type="tet10")
    assert rod.measure().volume == pytest.approx(2 * np.pi * 0.01, rel=0.02) and "side" in rod.sets["face"]


def test_elements_say_what_they_are():
    hexa = bough.Element("hex8")
    assert (hexa.name, hexa.nodes, hexa.corners, len(hexa.faces)) == ("hex8", 8, 8, 6)
    with pytest.raises(bough.ArgumentError, match='did you mean "tet4"'):
        bough.Element("tet5")


def test_a_beam_sags_as_its_reactions_say(beam):
    mesh, body, load_case = beam
    u, report = body.static(load_case, load_steps=2)
    assert report.converged and u[:, 2].min() < -0.05
    _, elastic = body.evaluate(u)
    free = np.setdiff1d(np.arange(len(u)), mesh.select("x0"))
    outside = load_case.forces(u)
    assert np.abs((elastic + outside)[free]).max() < 1e-6 * np.abs(outside).sum()
    stress, mises = body.stress(u)
    assert np.allclose(bough.von_mises(stress), mises)
    values, directions = bough.principal_stresses(stress[0])
    assert np.allclose(directions.T @ np.diag(values) @ directions,
                       [[stress[0][0], stress[0][5], stress[0][4]], [stress[0][5], stress[0][1], stress[0][3]],
                        [stress[0][4], stress[0][3], stress[0][2]]], atol=1e-6 * np.abs(values).max())
    called = []
    with pytest.raises(bough.Cancelled) as caught:
        body.static(load_case, on_step=lambda fraction, u: called.append(fraction) or False, load_steps=4)
    assert called == [0.25] and caught.value.recoverable and caught.value.report.load_fraction == 0.25


def test_forces_are_derivatives_of_the_energy(beam):
    mesh, body, load_case = beam
    u = np.random.default_rng(1).normal(size=mesh.vertices.shape) * 1e-3
    direction = np.random.default_rng(2).normal(size=u.shape)
    energy, force, tangent = body.evaluate(u, tangent=True)
    ahead, behind = (body.evaluate(u + s * 1e-6 * direction) for s in (1, -1))
    assert (ahead[0] - behind[0]) / 2e-6 == pytest.approx(-np.sum(force * direction), rel=1e-6)
    assert np.allclose(tangent @ direction.ravel(), -(ahead[1] - behind[1]).ravel() / 2e-6, rtol=1e-4, atol=1)


def test_matrices_and_modes_belong_together(beam):
    mesh, body, load_case = beam
    mass, modes = body.mass_matrix(), body.modes(4, load_case)
    assert mass.sum() == pytest.approx(3 * body.measure().mass)
    shapes = modes.shapes.reshape(4, -1)
    assert np.allclose(shapes @ (mass @ shapes.T), np.eye(4), atol=1e-9)
    _, _, stiffness = body.evaluate(tangent=True)
    assert np.allclose(np.diag(shapes @ (stiffness @ shapes.T)), modes.eigenvalues, rtol=1e-6)
    assert np.allclose(modes.frequencies_hz, np.sqrt(modes.eigenvalues) / (2 * np.pi))
    assert abs(bough.Body(mesh, damping_mass=2.0).damping_matrix() - 2 * bough.Body(mesh).mass_matrix()).max() < 1e-12


def test_loads_are_added_up(beam):
    mesh, body, _ = beam
    load_case = body.load_case().force("x1", [1, 2, 3]).pressure("x1", 10).fix("x0", "x", [0, 0, 0])
    assert np.allclose(load_case.forces().sum(0), [1 - 10 * 0.01, 2, 3])
    with pytest.raises(bough.Error, match="contains no vertex"):
        load_case.force("x>5", [1, 0, 0])


def test_bodies_and_materials_come_from_files(tmp_path):
    (tmp_path / "bar.json").write_text('{"bough": 1, "mesh": {"generate": "box", "size": [1, 1, 1], "cells": [1, 1, 1]}, "fix": "x0"}')
    body, load_case = bough.load_body(tmp_path / "bar.json")
    assert body.measure().mass == pytest.approx(1000) and repr(load_case).startswith("<bough.LoadCase")
    assert "stvk" in bough.material_models()
    with pytest.raises(bough.ArgumentError, match="stvk"):
        bough.Material("stkv")
    with pytest.raises(bough.ArgumentError, match="poisson|Poisson"):
        bough.Material(poisson=0.7)
    steel = bough.Material("linear", young=2e11)
    assert "2e+11" in repr(steel) and steel.about and steel.poisson == 0.4 and steel.density == 1000


def test_a_block_slides_down_a_plane_as_coulomb_says():
    mesh = bough.box(size=[0.2, 0.2, 0.1], cells=[2, 2, 1], type="hex8", origin=[-0.1, -0.1, 6e-4])
    body = bough.Body(mesh, {"model": "neo-hookean", "young": 1e7, "poisson": 0.3})
    slope, mu = np.radians(30), 0.3
    held = body.load_case().gravity([9.81 * np.sin(slope), 0, -9.81 * np.cos(slope)])
    touch = bough.BodyTouch([{"name": "slope", "shapes": [{"kind": "plane"}], "friction": mu}], friction=mu, distance=1e-3)
    with body.state(held, touch, integrator="backward-euler") as state:
        speeds = []
        for i in range(60):
            state.step(1 / 60)
            speeds.append(state.energies.momentum[0] / body.measure().mass)
        assert (speeds[59] - speeds[29]) / 0.5 == pytest.approx(9.81 * (np.sin(slope) - mu * np.cos(slope)), rel=1e-6)
        contacts = state.contacts
        push = sum(c.force @ c.normal for c in contacts)
        assert push == pytest.approx(body.measure().mass * 9.81 * np.cos(slope), rel=1e-6)
        assert min(c.gap for c in contacts) == state.energies.gap > 0 and contacts[0].sides[1].kind == "obstacle"
        assert state.iterations > 0 and state.time == pytest.approx(1) and "at 1 s" in repr(state)
    assert "closed" in repr(state) and "1 obstacles" in repr(touch)


def test_obstacles_are_led_by_functions():
    body = bough.Body(bough.box(size=[0.1, 0.1, 0.1], cells=[1, 1, 1], type="hex8"), {"model": "neo-hookean", "young": 1e6})
    tip = bough.ShapeMesh([[0, 0, 0], [1, 0, 0], [0, 1, 0], [0, 0, 1]], [[0, 2, 1], [0, 1, 3], [0, 3, 2], [1, 2, 3]])
    things = [{"shapes": [{"kind": "plane"}], "pose": [0, 0, -0.01]},
              {"shapes": [{"kind": "mesh", "mesh": tip}], "pose": [5, 0, 0]}]
    touch = bough.BodyTouch(things, lead=lambda i, t: None if i else [0, 0, -0.01 + 0.5 * t], itself=True)
    tip.close()  # what touches it keeps it
    state = body.state(touch=touch, u=np.zeros((8, 3)), v=np.zeros((8, 3)))
    while state.time < 0.1:
        state.advance(0.01)
    assert state.energies.gap > 0 and state.v[:, 2].mean() > 0.4 and state.energies.work > 0
    state.push(np.full((8, 3), 1.0))
    state.v[:], state.time = 0, 0.05
    state.restart()
    state.step(0.001)
    assert state.energies.momentum[0] == pytest.approx(8 * 0.001, rel=1e-3)
    with pytest.raises(ZeroDivisionError):
        bough.BodyTouch(things[:1], lead=lambda i, t: 1 / 0)
    with pytest.raises(bough.ArgumentError, match="no pose at t = 0"):
        bough.BodyTouch(things[:1], lead=lambda i, t: [np.nan, 0, 0])
    with pytest.raises(bough.ArgumentError, match="open edges"):
        bough.ShapeMesh(1 + np.eye(4, 3), [[0, 1, 2], [0, 2, 3], [0, 1, 3], [0, 1, 3]])


def test_bodies_settle_on_what_they_lie():
    body = bough.Body(bough.box(size=[0.1, 0.1, 0.1], cells=[1, 1, 1], type="hex8", origin=[0, 0, 1e-3]))
    state = body.state(body.load_case().gravity(), bough.BodyTouch([{"shapes": [{"kind": "plane"}]}]))
    state.settle()
    assert sum(c.force for c in state.contacts)[2] == pytest.approx(9.81 * body.measure().mass, rel=1e-6)
    assert not state.v.any()
