"""A Y of links with springs in its joints: how its two ends give way, and how well the reduced model knows it."""

import numpy as np

from shared import EXAMPLES, bough, plt, save

mechanism = bough.Scene(EXAMPLES / "y-mechanism" / "scene.json").mechanism
statics = mechanism.statics()
model = mechanism.reduce(statics)
wrench = np.zeros(12)
wrench[:3] = [-1, -0.5, 2]  # N, at the end of the left arm
twists = (statics.twists @ wrench).reshape(-1, 6)

# The full mechanism under the same force, not linearised.
full = mechanism.full()
full.loads[0, :3] = wrench[:3]
full.settle()
rest, bent = mechanism.description.rest, full.place()
moved = rest[:, :3, 3] + np.einsum("lij,lj->li", rest[:, :3, :3], twists[:, :3])
print(mechanism, model)
print(f"left end: linear {moved[6 + 6][[0, 2]].round(4)}, full {bent[12][[0, 2], 3].round(4)}")

figure, (left, right) = plt.subplots(1, 2, figsize=(10, 4.4), layout="constrained")
scale = np.tile([1] * 3 + [mechanism.radius] * 3, 2)  # radians become metres
shown = statics.C * np.outer(scale, scale)
image = left.imshow(1e3 * shown, cmap="RdBu_r", vmin=-1e3 * abs(shown).max(), vmax=1e3 * abs(shown).max())
names = [f"{end} {axis}" for end in mechanism.end_effector_names for axis in ("x", "y", "z", "rx", "ry", "rz")]
left.set_xticks(range(12), names, rotation=90, fontsize=8)
left.set_yticks(range(12), names, fontsize=8)
left.set_title("compliance of both ends, mm/N (turns at the radius)", fontsize=10)
figure.colorbar(image, ax=left)
for points, label, style in ((rest[:, :3, 3], "at rest", "k."), (moved, "linear", "C0."), (bent[:, :3, 3], "full mechanism", "C3+")):
    right.plot(points[:, 0], points[:, 2], style, label=label)
right.set(xlabel="x, m", ylabel="z, m", title="links under a force at the left end")
right.title.set_fontsize(10)
right.legend()
save(figure, "compliance_of_a_mechanism.png")
