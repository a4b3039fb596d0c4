"""Mechanisms, contact worlds, joints and integrators."""

import numpy as np
import pytest

import bough
from conftest import ROOT


@pytest.fixture(scope="module")
def y():
    scene = bough.Scene(ROOT / "examples" / "y-mechanism" / "scene.json")
    return scene.mechanism


def test_compliance_is_symmetric_and_answers_to_forces(y):
    assert y.end_effector_names == ["left", "right"] and y.description.end_effector_count == 2
    c = y.compliance
    assert c.shape == (12, 12) and np.allclose(c, c.T, atol=1e-9 * np.abs(c).max())
    model = y.reduce()
    assert np.allclose(model.C @ model.K @ model.C, model.C, atol=1e-6 * np.abs(c).max())
    assert model.rank <= 12 and model.frequency_error > -1e-9 and model.memory > 0
    assert model.frequencies(2)[0] == pytest.approx(y.frequencies(2)[0], rel=0.2)
    assert y.modes(2)[1].shape == (2, len(y.description.links), 6)
    recursive = y.statics(method="recursive")
    assert np.allclose(recursive.C, c, atol=1e-8 * np.abs(c).max()) and recursive.twists.shape[1] == 12
    assert y.details([{}, {"internal_modes": 2}], steps=0)[1].internal_modes == 2


def test_a_reduced_state_goes_where_statics_say(y):
    model = y.reduce()
    state = model.state()
    wrench = np.zeros(12)
    wrench[:3] = [0.1, 0.2, 0]
    for _ in range(2000):
        state.wrench[:] = wrench
        state.step(0.02)
    assert np.allclose(state.xi, model.C @ wrench, atol=1e-4 * np.abs(model.C @ wrench).max())
    assert state.place().shape == (len(y.description.links), 4, 4) and np.allclose(state.place(parallel=True), state.place())
    assert state.energies.elastic == pytest.approx(0.5 * wrench @ model.C @ wrench, rel=1e-3)
    assert state.end_effector(0).shape == (4, 4) and np.allclose(state.gravity, 0)
    with pytest.raises(bough.ArgumentError):
        state.end_effector(7)
    a, b = model.state(), model.state()
    a.push([0, 0, 1], end_effector=0)
    b.push([0, 0, 1], link=len(y.description.links) - 1, point=[0, 0, 0])
    a.step(0.01)
    b.step(0.01)
    assert a.phi.any() and b.phi.any()


def test_a_stepper_goes_on_with_the_same_bits(y):
    state = y.reduce().state()
    state.xi[:3] = 1e-3
    stepper = state.stepper("tr-bdf2")
    stepper.step(0.01)
    memory, xi, phi = stepper.save(), state.xi.copy(), state.phi.copy()
    stepper.step(0.01)
    end = state.xi.copy()
    state.xi[:], state.phi[:] = xi, phi
    stepper.restore(memory)
    stepper.step(0.01)
    assert np.allclose(state.xi, end, atol=1e-12)


def test_the_full_mechanism_and_a_blend_agree(y):
    full = y.full()
    full.loads[0, :3] = [2, 0, 0]
    full.settle()
    poses = full.place()
    assert y.constraint_error(full.poses) < 1e-6 and y.largest_gap(full.poses).error < 1e-6 and y.joint_gap(0, full.poses).joint == 0
    assert abs(y.joint_value(0, full.poses)) < 1 and y.radius > 0 and y.loop_count == 0
    blend = y.blend(most_points=3)
    blend.add(full.poses, np.r_[2, 0, 0, np.zeros(9)])
    assert len(blend) == 2 and blend[1].rank > 0
    state = blend.state()
    state.wrench[:3] = [2, 0, 0]
    state.settle()
    assert np.allclose(state.place()[-1], poses[-1], atol=0.05)
    state.step(0.01)
    assert state.weigh().shape == (12,) and state.energies.elastic >= 0
    full.step(0.01)
    driven = y.blend(statics={"motors": [0]}, most_points=2)
    driven.add(full.poses, motors=[0.0])
    assert len(driven) == 2
    automatic = y.blend(workspace={"loads": np.r_[1, np.zeros(11)][None], "tolerance": 0.5, "sample_count": 2}, most_points=2)
    assert automatic.report.sample_count > 0
    moved = y.at(poses)
    assert np.allclose(moved.description.rest, poses)


def test_a_mechanism_by_hand_and_from_urdf():
    arm = bough.Mechanism(links=[{"name": "base"}, {"name": "arm", "mass": 1, "pose": [0.5, 0, 0], "inertia": np.eye(3) * 0.01}],
                          joints=[{"name": "hinge", "kind": "hinge", "parent": {"body": 0}, "child": {"body": 1, "pose": [-0.5, 0, 0]},
                                   "stiffness": [100, 0, 0, 0, 0, 0]}], end_effectors=[{"body": 1}])
    assert arm.compliance[1, 1] == pytest.approx(0.5 ** 2 / 100) and arm.coordinate_count == 1 and arm.coordinate_offset("hinge") == 0
    robot = bough.Urdf(ROOT / "examples" / "urdf-arm" / "arm.urdf")
    assert robot.find("tool") >= 0 and robot.find("nothing") == -1 and robot.mechanism.frequencies(1)[0] > 0
    assert robot.dynamics and robot.shapes and robot.links


def test_a_ball_comes_to_rest_on_the_ground():
    world = bough.World(bodies=[{"mass": 1, "inertia": np.eye(3) * 0.004, "shapes": [{"kind": "sphere", "radius": 0.1}], "pose": [0, 0, 0.2]}],
                        obstacles=[{"name": "ground", "shapes": [{"kind": "plane"}]}], gravity=[0, 0, -9.81])
    memory = world.save()
    for _ in range(200):
        world.step(0.005)
    assert world.body_pose(0)[2, 3] == pytest.approx(0.1, abs=2e-3) and world.bodies[0, 2] == world.body_pose(0)[2, 3]
    assert sum(c.force[2] for c in world.contacts) == pytest.approx(9.81, rel=1e-3) and world.residual < 1e-3
    assert np.allclose(world.body_twist(0), 0, atol=1e-3)
    world.restore(memory)
    assert world.body_pose(0)[2, 3] == 0.2
    ball, ground = {"kind": "body", "index": 0}, {"kind": "obstacle", "index": 0}
    world.ignore(ball, ground)
    world.move(0, [0, 0, 0.0], velocity=[0, 0, 0])
    for _ in range(100):
        world.step(0.005)
    assert world.body_pose(0)[2, 3] < 0
    world.filter(ball, 2, 2)
    with pytest.raises(bough.ArgumentError):
        world.filter({"kind": "body", "index": 5}, 1, 1)


def test_mechanisms_push_balls(y):
    model = y.reduce()
    state = model.state()
    effector = state.end_effector(0)[:3, 3]
    ball = {"mass": 0.1, "inertia": np.eye(3) * 1e-4, "shapes": [{"kind": "sphere", "radius": 0.05}], "pose": effector + [0, 0, 0.12]}
    world = bough.World(bodies=[ball], actors=[state.actor([{"end_effector": 0, "shape": {"kind": "sphere", "radius": 0.05}}])],
                        gravity=[0, 0, -9.81])
    for _ in range(60):
        world.step(0.005)
    assert state.xi[2] < 0 or np.abs(state.xi).max() > 0
    actors = [y.full().actor([{"end_effector": 0}]), y.blend().state().actor([{"end_effector": 0}])]
    assert not actors[0].touches_itself
    actors[0].touches_itself = False


def tube():
    """A square ring: 0.4 x 0.4 x 0.1 m with a hole of 0.2 x 0.2 m."""
    corners = [[-1, -1], [1, -1], [1, 1], [-1, 1]]
    vertices = [[s * x, s * y, z] for z in (-0.05, 0.05) for s in (0.1, 0.2) for x, y in corners]
    triangles = []
    for i in range(4):
        j = (i + 1) % 4
        for a, b, c, d in [(4 + i, 4 + j, 12 + j, 12 + i), (j, i, 8 + i, 8 + j), (12 + i, 12 + j, 8 + j, 8 + i), (i, j, 4 + j, 4 + i)]:
            triangles += [[a, b, c], [a, c, d]]
    return vertices, triangles


def test_rings_are_meshes_that_touch():
    ring = bough.ShapeMesh(*tube(), cells=24)
    shape = bough.Shape("mesh", mesh=ring)
    assert len(shape.surface()[0]) == 16
    assert bough.weigh([{"kind": "mesh", "mesh": ring}], 1000).mass == pytest.approx(1000 * 0.1 * (0.16 - 0.04))
    ball = bough.Shape("sphere", radius=0.08)
    assert not ball.touch(shape, margin=0.01) and ball.touch(shape, at=[0.15, 0, 0.12])[0].gap == pytest.approx(-0.01, abs=1e-3)
    world = bough.World(bodies=[{"mass": 1, "inertia": np.eye(3) * 0.004, "shapes": [{"kind": "sphere", "radius": 0.08}], "pose": [0, 0, 0.2]}],
                        obstacles=[{"shapes": [{"kind": "mesh", "mesh": ring}]}], gravity=[0, 0, -9.81])
    del shape
    ring.close()  # the world still has it
    for _ in range(100):
        world.step(0.005)
    assert world.body_pose(0)[2, 3] < -0.5
    with pytest.raises(bough.ArgumentError, match="open edges"):
        bough.ShapeMesh(tube()[0], tube()[1][1:])


def test_shapes_touch_and_weigh():
    a, b = bough.Shape("sphere", radius=1), bough.Shape("box", half=[1, 1, 1])
    at = np.eye(4)
    at[0, 3] = 1.9
    assert a.touch(b, other_at=at)[0].gap == pytest.approx(-0.1) and not a.touch(b, other_at=[5, 0, 0])
    assert b.surface()[0].shape == (8, 3)
    field = bough.Shape("height-field", heights=np.zeros((3, 4)), cell=[1, 1])
    assert len(field.surface()[1]) == 2 * 2 * 3
    mass = bough.weigh([{"kind": "box", "half": [1, 1, 1]}], 1000)
    assert mass.mass == pytest.approx(8000) and np.allclose(mass.inertia, np.eye(3) * 8000 * 4 / 6)
    assert bough.joint_kinds()["ball"] == 3 and bough.motor_limits(speed=2).speed == 2 and np.allclose(bough.identity(), np.eye(4))


def test_integrators_damp_as_they_say():
    known = bough.integrators()
    assert known["tr-bdf2"].order == 2 and known["tr-bdf2"].l_stable
    assert abs(bough.integrator_damping("newmark", 0.1)) < 1e-8 < bough.integrator_damping("backward-euler", 0.1)
    with pytest.raises(bough.ArgumentError):
        bough.integrator_damping("newmrk", 0.1)
