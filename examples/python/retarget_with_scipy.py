"""A motor turns a thin steel rod with a weight at its end. Told to turn at once, the weight swings; scipy finds another
curve for the motor, by derivatives of the whole motion that the adjoint gives."""

import numpy as np
from scipy.optimize import minimize

from shared import QUICK, bough, plt, save

mesh = bough.box(type="tet10", origin=[0, -0.001752, -0.001752], size=[0.7, 0.003504, 0.003504], cells=[10 if QUICK else 25, 1, 1])
body = bough.Body(mesh, bough.Material("stvk", young=2e11, poisson=0.3, density=8033), damping_mass=0.05, damping_stiffness=2e-4)
load = {"mass": 0.1, "moment": [0, 0, 0], "inertia": np.zeros((3, 3))}
rod = bough.cook(body, interfaces={"base": "x0", "tip": {"vertices": "x1", "load": load}}, parent="base", r=4 if QUICK else 8,
                 basis="mass-loaded+derivatives")
model = bough.Multibody(
    bodies=[{"name": "hub", "mass": 0.2, "inertia": np.eye(3) * 1e-4},
            {"name": "weight", "mass": 0.1, "inertia": np.eye(3) * 1e-5, "pose": [0.7, 0, 0]}],
    parts=[{"component": rod, "clamp": {"body": 0}}],
    joints=[{"kind": "hinge", "parent": {"body": -1, "pose": ([0, 0, 0], [[1, 0, 0], [0, 0, 1], [0, -1, 0]])},
             "child": {"body": 0, "pose": ([0, 0, 0], [[1, 0, 0], [0, 0, 1], [0, -1, 0]])}},
            {"kind": "weld", "parent": {"body": 2, "interface_index": 1}, "child": {"body": 1}}],
    motors=[{"joint": 0}])

dt, steps = 0.002, 150 if QUICK else 500
times = dt * np.arange(steps + 1)
wanted = np.radians(30) * np.clip((times - 0.05) / 0.2, 0, 1)  # what the animation says
curves = bough.MotorCurves(1, 20 if QUICK else 60, duration=times[-1])
curves.fit(times, wanted[None], at_rest=True)
start = curves.points.copy()

# The weight is to be where a rigid rod would have it.
target = np.stack([0.7 * np.cos(wanted), 0 * wanted, -0.7 * np.sin(wanted)], 1)
objective = bough.Adjoint(model.state(), curves, dt=dt, step_count=steps, acceleration_weight=1e-9,
                          tracked=[{"frame": {"body": 1}, "position": 1.0, "positions": target}])
before = objective.value(start)
paths = [objective.view.paths[0].copy()]
history = [before]
found = minimize(objective.value_and_grad, start.ravel(), jac=True, method="L-BFGS-B", callback=lambda p: history.append(objective.value(p)),
                 options={"maxiter": 5 if QUICK else 60})
after = objective.value(found.x)
paths.append(objective.view.paths[0].copy())
places = objective.view.place[0].copy()
deviations = [1e3 * np.linalg.norm(path - target, axis=1) for path in paths]
print(f"objective {before:.3g} -> {after:.3g} in {found.nit} iterations; deviation {deviations[0].max():.1f} -> {deviations[1].max():.1f} mm")

figure, (left, middle, right) = plt.subplots(1, 3, figsize=(11, 3.8), layout="constrained")
left.plot(times, np.degrees(wanted), "k:", label="animation")
left.plot(times, np.degrees(places), label="found")
left.set(xlabel="time, s", ylabel="motor, degrees")
left.legend()
for values, label in zip(deviations, ("animation", "found")):
    middle.plot(times, values, label=label)
middle.set(xlabel="time, s", ylabel="weight off its path, mm")
middle.legend(loc="upper left", fontsize=8)
right.semilogy(history)
right.set(xlabel="iteration", ylabel="objective")
save(figure, "retarget_with_scipy.png")
