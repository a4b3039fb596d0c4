"""Modes of a cantilever, and what the theory of beams says of them."""

import numpy as np

from shared import QUICK, bough, draw, plt, save

length, width, young, density = 1.0, 0.04, 2.1e11, 7800
mesh = bough.box(type="tet10", size=[length, width, width], cells=[12 if QUICK else 40, 2, 2])
body = bough.Body(mesh, bough.Material("linear", young=young, poisson=0.3, density=density))
modes = body.modes(9, body.load_case().fix("x0"))

# Euler and Bernoulli: cos(b) cosh(b) = -1; each bending comes twice, across y and z.
roots = np.array([1.87510407, 4.69409113, 7.85475744])
theory = roots ** 2 / (2 * np.pi) * np.sqrt(young * width ** 2 / (12 * density)) / length ** 2
bending = modes.frequencies_hz[modes.effective_mass[:, 1] + modes.effective_mass[:, 2] > 0.5][::2][:3]
print("bending, Hz:", *bending.round(2), "theory:", *theory.round(2))

figure = plt.figure(figsize=(9, 5), layout="constrained")
grid = figure.add_gridspec(2, 3, height_ratios=[1, 1.2])
surface, vertices, _ = mesh.surface()
for i, number in enumerate((0, 2, 4)):
    shape = modes.shapes[number][vertices]
    moved = surface.vertices + 0.15 * shape / np.abs(shape).max()
    draw(figure.add_subplot(grid[0, i]), moved, surface.elements, np.linalg.norm(shape, axis=1), width=420, height=240, ground=False,
         label=f"{modes.frequencies_hz[number]:.1f} Hz")
axes = figure.add_subplot(grid[1, :])
axes.bar(range(len(modes)), modes.frequencies_hz, color="#3a7ca5", label="finite elements")
for f in theory:
    axes.axhline(f, color="#d1495b", linewidth=1, label="theory of beams" if f == theory[0] else None)
axes.set(xlabel="mode", ylabel="frequency, Hz")
axes.legend()
save(figure, "modes_of_a_beam.png")
