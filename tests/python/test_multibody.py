"""Multibody systems and retargeting: motions, derivatives, searches."""

import numpy as np
import pytest

import bough
from conftest import ROOT


def hub(**settings):
    return {"name": "hub", "mass": 2.0, "inertia": np.eye(3) * 0.1, **settings}


HINGE = {"name": "hinge", "kind": "hinge", "parent": {"body": -1}, "child": {"body": 0, "pose": [-1, 0, 0]}}


@pytest.fixture
def pendulum():
    """A body on an arm of 1 m that turns about z, across gravity along -y."""
    return bough.Multibody(bodies=[hub(pose=[1, 0, 0])], joints=[HINGE], gravity=[0, -9.81, 0])


def test_a_pendulum_keeps_its_energy_and_swings_as_theory_says(pendulum):
    state = pendulum.state()
    start = state.energies
    for _ in range(200):
        state.step(0.001)
    now = state.energies
    assert now.kinetic == pytest.approx(start.gravity - now.gravity, rel=1e-3)
    coordinates, rates, wrench = state.joint(0)
    angle, rate = coordinates[0], rates[0]
    assert 0.5 * (0.1 + 2) * rate ** 2 == pytest.approx(-2 * 9.81 * np.sin(angle), rel=1e-3)
    assert state.u[0] == pytest.approx(np.cos(angle), abs=1e-6) and state.drift < 1e-6 and state.iterations > 0
    place, twist = state.frame({"body": 0})
    assert np.allclose(place[:3, 3], state.u[:3]) and twist[5] == pytest.approx(rate)
    assert wrench[1] > 0 and state.multipliers.shape == (5,) and pendulum.joint_rows(0) == slice(0, 5) and pendulum.redundant == []
    assert pendulum.description.joints == ["hinge"] and state.v.shape == state.force.shape == (6,)
    state.settle()
    omega = np.sqrt(2 * 9.81 / (2 + 0.1))
    assert state.modes(1).frequencies_hz[0] == pytest.approx(omega / (2 * np.pi), rel=1e-6)
    state.v[:] = 0
    state.restart()
    state.use_integrator("tr-bdf2")
    state.step(0.001)
    state.use_integrator()
    assert state.advance(0.01) >= 1


def test_motors_go_where_a_function_says():
    model = bough.Multibody(bodies=[hub(pose=[1, 0, 0])], joints=[HINGE], motors=[{"joint": 0}])
    state = model.state().drive(lambda motor, time: (time, 1.0))
    state.assemble()
    for _ in range(100):
        state.step(0.01)
    assert state.joint(0)[0][0] == pytest.approx(1, abs=1e-3)
    still = model.state().drive(lambda motor, time: (time, 1.0))
    still.settle()
    assert still.follow(0.5).snaps == 0 and still.joint(0)[0][0] == pytest.approx(0.5, abs=1e-6)
    poses, path = model.state().drive(lambda motor, time: (time, 1.0)).targets([{"body": 0}], 3, every=0.1)
    assert poses[2, 0, 0, 3] == pytest.approx(np.cos(0.2), abs=1e-6) and path.done == 3

    def fails(motor, time):
        raise RuntimeError("of ours")

    with pytest.raises(RuntimeError, match="of ours"):
        model.state().drive(fails).step(0.01)
    state.drive(None)


def test_numbers_that_do_not_exist_are_refused(pendulum):
    state = pendulum.state()
    for call in (lambda: state.frame({"body": 1}), lambda: state.frame({"body": 0, "interface_index": 0}), lambda: state.joint(1),
                 lambda: state.joint(-1), lambda: pendulum.part_offset(0), lambda: pendulum.joint_rows(7)):
        with pytest.raises(bough.ArgumentError, match="there is no"):
            call()


def test_gears_turn_together():
    wheel = dict(HINGE, parent={"body": -1, "pose": [0, 0, 0.5]}, child={"body": 1, "pose": [-1, 0, 0]})
    model = bough.Multibody(bodies=[hub(pose=[1, 0, 0]), hub(pose=[1, 0, 0.5])], joints=[HINGE, wheel],
                            gears=[{"joints": [0, 1], "freedoms": [0, 0], "ratio": 2.0}])
    state = model.state()
    for _ in range(50):
        state.force[5] += 1.0  # a torque on the first wheel
        state.step(0.01)
    assert state.joint(0)[0][0] == pytest.approx(-2 * state.joint(1)[0][0], rel=1e-3) and state.joint(0)[0][0] > 0.01


def test_flexible_parts_and_their_twins_bend_alike():
    mesh = bough.box(size=[1, 0.1, 0.1], origin=[0, -0.05, -0.05], cells=[6, 1, 1], type="hex8")
    body = bough.Body(mesh, bough.Material(young=1e7, poisson=0.3), damping_stiffness=0.01)
    component = bough.cook(body, interfaces={"base": "x0", "tip": "x1"}, parent="base", r=6, contact_count=20)
    tips = []
    for full in (None, bough.FullPart(body, component)):
        model = bough.Multibody(parts=[{"component": component, "full": full}], gravity=[0, 0, -1.0])
        state = model.state()
        state.settle()
        tips.append(state.frame({"body": 0, "interface_index": 1})[0][2, 3])
    assert tips[0] == pytest.approx(tips[1], rel=0.02) and tips[0] < 0
    assert model.part_offset(0) == 0
    world = bough.World(actors=[bough.Multibody(parts=[{"component": component}]).state().actor([{"place": 0}])],
                        obstacles=[{"shapes": [{"kind": "plane"}], "pose": [0, 0, -1]}])
    world.step(0.005)


def test_a_live_multibody_run_finds_modes():
    run = bough.Scene(ROOT / "examples" / "one-rod" / "scene.json").live()
    assert run.modes(2).frequencies_hz[0] > 0 and run.modes(1, shapes=True).shapes.shape[2] == 3 and run.joints[0].name == "shoulder"


@pytest.fixture
def objective():
    """A body on a motor that is to follow a path, and the points of its curve."""
    model = bough.Multibody(bodies=[hub(pose=[1, 0, 0])], joints=[HINGE], motors=[{"joint": 0, "stiffness": 100.0, "damping": 5.0}])
    steps = 50
    angle = 0.5 * np.linspace(0, 1, steps + 1) ** 2
    wanted = np.stack([np.cos(angle), np.sin(angle), 0 * angle], 1)
    curves = bough.MotorCurves(1, 8, duration=0.5)
    return curves, lambda **settings: bough.Adjoint(model.state(), curves, dt=0.01, step_count=steps,
                                                    tracked=[{"frame": {"body": 0}, "position": 1.0, "positions": wanted}], **settings)


def test_gradients_are_derivatives(objective):
    curves, make = objective
    adjoint = make(parameters=[{"kind": "motor-stiffness", "index": 0}], acceleration_weight=1e-6, limits=[{"speed": 0.1}],
                   limit_weight=0.1, held_points=0)
    points = np.random.default_rng(1).normal(size=curves.points.shape) * 0.1
    value, gradient, by_parameters = adjoint.gradient(points)
    assert value == pytest.approx(adjoint.value(points), rel=1e-12) and by_parameters.shape == (1,)
    direction = np.random.default_rng(2).normal(size=points.shape)
    slope = (adjoint.value(points + 1e-5 * direction) - adjoint.value(points - 1e-5 * direction)) / 2e-5
    assert slope == pytest.approx(np.sum(gradient * direction), rel=1e-4)
    flat, slopes = adjoint.value_and_grad(points.ravel())
    assert flat == value and slopes.shape == (8,)
    assert adjoint.view.paths[0].shape == (51, 3) and adjoint.view.by_place.shape == (1, 51)


def test_a_share_of_ones_own_has_derivatives(objective):
    curves, make = objective

    def term(step, u, v, multipliers):
        return 0.5 * u[1] ** 2, np.array([0, u[1], 0, 0, 0, 0])

    adjoint = make(term=term, held_points=0)
    points = np.full(curves.points.shape, 0.1)
    _, gradient, _ = adjoint.gradient(points)
    slope = (adjoint.value(points + 1e-5) - adjoint.value(points - 1e-5)) / 2e-5
    assert slope == pytest.approx(gradient.sum(), rel=1e-4)


def test_curves_fit_samples():
    curves = bough.MotorCurves(1, 12, duration=1.0)
    times = np.linspace(0, 1, 50)
    curves.fit(times, np.sin(times)[None])
    place, rate, acceleration = curves.at(0.5)
    assert place == pytest.approx(np.sin(0.5), abs=1e-5) and rate == pytest.approx(np.cos(0.5), abs=1e-3)
    assert acceleration == pytest.approx(-np.sin(0.5), abs=0.05) and curves(0, 0.5) == (place, rate)
    with pytest.raises(bough.ArgumentError):
        curves.at(0.5, motor=3)


@pytest.fixture(scope="module")
def rod(tmp_path_factory):
    """The example of one rod, coarse and short."""
    import json

    data = json.loads((ROOT / "examples" / "one-rod" / "scene.json").read_text())
    data["components"]["rod"]["mesh"].update(type="hex8", cells=[10, 1, 1])
    data["components"]["rod"]["basis"] = {"r": 4}
    data["curves"]["turn"] = [[0.05, 0], [0.2, 20]]
    data["retarget"] = {"track": [{"body": "weight"}]}
    data["time"] = {"dt": 0.005, "duration": 0.4}
    return bough.Scene(data, folder=tmp_path_factory.mktemp("rod"))


def test_retargeting_says_how_far_it_is_and_improves(rod, tmp_path):
    told = []
    search = bough.Retarget(rod, tell=told.append, iterations=4, dt=0.005)
    view = search.run()
    assert view.motors == ["motor"] and told and told[-1].iteration <= 4 and view.value <= view.first_value
    best, input_ = search.replay("curves"), search.replay("input")
    assert search.compare(best).rms <= search.compare(input_).rms * 1.01
    assert best.positions.shape[0] == 1 and best.places.shape[1] == len(best.times) and view.target.rotations.shape[2:] == (3, 3)
    search.write(tmp_path / "motors.csv")
    again = bough.Retarget(rod, iterations=1, dt=0.005, tell=lambda progress: False)
    again.begin(tmp_path / "motors.csv")
    with pytest.raises(bough.Cancelled):
        again.run()
    assert again.view.iterations <= 1

    def interrupts(progress):
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        bough.Retarget(rod, iterations=3, dt=0.005, tell=interrupts).run()


def test_a_fit_finds_the_stiffness_that_was_simulated(rod):
    run = rod.run(duration=0.4, dt=0.005)
    times, places = [], []
    for _ in range(80):
        times.append(run.time)
        places.append(run["weight"])
        run.step()
    found = bough.fit(rod, times, places, "weight", damping_stiffness=False, start=False, search=False, dt=0.005, max_iterations=10)
    assert found["young"].value == pytest.approx(found["young"].first, rel=0.05)
    assert found.trajectory.shape == (80, 3) and found.correlation.shape == (len(found.values),) * 2
    with pytest.raises(bough.ArgumentError, match="young"):
        found["poisson"]
