"""A branch is cut off a young tree: it falls, and the rest leans to the side of the other one."""

import json

import numpy as np

from shared import EXAMPLES, QUICK, bough, draw, plt, save

folder = EXAMPLES / "y-tree"
data = json.loads((folder / "scene.json").read_text())
data["object"]["mesh"]["surface"] = str(folder / "y.obj")
data["object"]["material"]["young"] = 2e7
data.update(gravity=[0, 0, -9.81], settle=True)
data["probes"] = []
run = bough.Scene(data).live()
shots = (0.0, 0.15, 0.3, 0.45)
times, heights, energies, pictures = [], [], [], []
for step in range(20 if QUICK else 100):
    if run.time >= shots[min(len(pictures), 3)] - 1e-9 and len(pictures) < 4:
        pictures.append((run.time, run.positions()))
    if step == 0:
        run.cut("left")
    run.step()
    times.append(run.time)
    heights.append([run.thing(name).pose[2, 3] for name in ("left", "right")])
    energies.append([run["kinetic"], run["elastic"]])

figure = plt.figure(figsize=(10, 5), layout="constrained")
grid = figure.add_gridspec(2, 4)
lower, upper = run.mesh.vertices.min(0), run.mesh.vertices.max(0)
for i, (t, positions) in enumerate(pictures):
    draw(figure.add_subplot(grid[0, i]), positions, run.mesh.elements, box=(lower, upper), width=320, height=320, ground=False, label=f"{t:.2f} s")
axes = figure.add_subplot(grid[1, :2])
heights = np.array(heights) - heights[0]
axes.plot(times, heights[:, 0], label="the branch that is cut")
axes.plot(times, -9.81 * np.array(times) ** 2 / 2, "k:", label="free fall")
axes.plot(times, 100 * heights[:, 1], label="the other one, 100 times")
axes.set(xlabel="time, s", ylabel="how far its foot moved up, m")
axes.legend()
axes = figure.add_subplot(grid[1, 2:])
axes.plot(times, energies, label=["kinetic", "elastic"])
axes.set(xlabel="time, s", ylabel="energy, J")
axes.legend()
save(figure, "cutting.png")
