"""A robot's arm from a URDF file: its frequencies, and how it gives way when something hits its tool."""

import numpy as np

from shared import EXAMPLES, QUICK, bough, plt, save

robot = bough.Urdf(EXAMPLES / "urdf-arm" / "arm.urdf")
arm = robot.mechanism
frequencies = arm.frequencies(6)
reduced = [arm.reduce(internal_modes=n).frequencies(6) for n in (0, 2)]
print(robot, "Hz:", *frequencies.round(2))

paths = {}
for name, engine in (("reduced", "mechanism"), ("full mechanism", "full")):
    run = bough.Scene(EXAMPLES / "urdf-arm" / "scene.json").run(engine=engine, duration=0.3 if QUICK else 1.0)
    start, rows = run["tool"], []
    while run.time < run.report.duration - 1e-9:
        run.step(2)
        rows.append([run.time, *(run["tool"] - start)])
    paths[name] = np.array(rows)

figure, (left, right) = plt.subplots(1, 2, figsize=(10, 4), layout="constrained")
places = np.arange(len(frequencies))
left.bar(places - 0.3, frequencies, 0.3, label="all links")
for i, (found, label) in enumerate(zip(reduced, ("reduced to the tool", "and two inner modes"))):
    left.bar(places[:len(found)] + 0.3 * i, found, 0.3, label=label)
left.set(xlabel="mode", ylabel="frequency, Hz")
left.legend(fontsize=8)
for name, style in (("full mechanism", "-"), ("reduced", "--")):
    for axis, colour in ((1, "C2"), (2, "C3")):
        right.plot(paths[name][:, 0], 1e3 * paths[name][:, 1 + axis], style, color=colour, linewidth=1, label=f"{'xyz'[axis]}, {name}")
right.set(xlabel="time, s", ylabel="tool against rest, mm", title="a blow of 60 N for 0.1 s")
right.legend(fontsize=8)
save(figure, "urdf_arm.png")
