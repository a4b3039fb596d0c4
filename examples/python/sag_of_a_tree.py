"""How far a young tree sags: three reduced parts against the whole mesh in full order, in equilibrium under its weight."""

import pathlib
import tempfile

import numpy as np

from shared import QUICK, bough, draw, plt, save

twigs = [((0, 0, 0), (0, 0, 1.0), 0.05), ((0, 0, 1.0), (-0.7, 0, 1.8), 0.04), ((0, 0, 1.0), (0.6, 0.2, 1.9), 0.04)]


def distance(x):
    """To the nearest of three round rods."""
    found = []
    for a, b, radius in twigs:
        a, b = np.array(a), np.array(b)
        t = np.clip((x - a) @ (b - a) / ((b - a) @ (b - a)), 0, 1)
        found.append(np.linalg.norm(x - a - t * (b - a)) - radius)
    return max(min(found), -x[2])


mesh = bough.implicit(distance, [-0.8, -0.1, -0.1], [0.7, 0.3, 2], 0.05 if QUICK else 0.035)
centres = mesh.vertices[mesh.elements].mean(1)
above = centres[:, 2] > 1.3
for name, chosen in (("trunk", ~above), ("left", above & (centres[:, 0] < 0)), ("right", above & (centres[:, 0] > 0))):
    mesh.add_set("element", name, np.flatnonzero(chosen))

# Reduced: three parts, cut where the branches are slim.
with tempfile.TemporaryDirectory() as folder:
    mesh.write(pathlib.Path(folder) / "tree.msh")
    data = {"object": {"mesh": {"file": "tree.msh"}, "domains": ["trunk", "left", "right"], "root": "trunk", "fix": "z<0.02",
                       "basis": {"total": 40}, "material": {"model": "stvk", "young": 2e8, "poisson": 0.35, "density": 700}}}
    tree = bough.Scene(data, folder=folder, gravity=[0, 0, -9.81], settle=True, time={"dt": 0.005, "duration": 1}).run()
    reduced_rest, reduced, triangles = tree.mesh.vertices.copy(), tree.displacement.copy(), tree.mesh.elements.copy()

# In full order: the whole mesh.
body = bough.Body(mesh, bough.Material("stvk", young=2e8, poisson=0.35, density=700))
u, _ = body.static(body.load_case().fix("z<0.02").gravity())
nearest = np.array([np.argmin(((mesh.vertices - v) ** 2).sum(1)) for v in reduced_rest])
full = u[nearest]

error, most = np.linalg.norm(full - reduced, axis=1).max(), np.linalg.norm(full, axis=1).max()
print(f"{tree.tree[0].size} coordinates instead of {u.size}; sag {1e3 * most:.2f} mm, largest difference {1e3 * error:.2f} mm ({error / most:.1%})")

figure, axes = plt.subplots(1, 3, figsize=(10, 4.2), layout="constrained")
enlarged = 0.25 / most
for plot, moved, label in ((axes[0], reduced, "reduced"), (axes[1], full, "full order")):
    draw(plot, reduced_rest + enlarged * moved, triangles, np.linalg.norm(moved, axis=1), 0, most, label=f"{label}, {enlarged:.0f} times")
order = np.argsort(reduced_rest[:, 2])
for values, label in ((full, "full order"), (reduced, "reduced")):
    axes[2].plot(1e3 * np.linalg.norm(values, axis=1)[order], reduced_rest[order, 2], ".", markersize=3, label=label)
axes[2].set(xlabel="displacement, mm", ylabel="height, m")
axes[2].legend(markerscale=3)
save(figure, "sag_of_a_tree.png")
