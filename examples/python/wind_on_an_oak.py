"""An oak of 41 branches in gusts: how far its twigs swing, and where it is strained."""

import time

import numpy as np

from shared import QUICK, bough, draw, made, plt, save

run = bough.Scene(made("oak")).live(settle=True, dt=1 / 120)
run.set_wind([6, 2, 0], gust=0.6, seed=3)
steps = 10 if QUICK else 240
dt = run.report.dt
tips = [i for i, thing in enumerate(run.things) if thing.kind == "part"][-400::80]
times, places = [], []
start = time.perf_counter()
for _ in range(steps):
    run.step()
    times.append(run.time)
    places.append([run.thing(i).pose[0, 3] for i in tips])
seconds = time.perf_counter() - start
print(f"{len(run.things)} parts: {steps * dt:.2f} s took {seconds:.2f} s")

figure = plt.figure(figsize=(9, 4.2), layout="constrained")
left, right = figure.subplots(1, 2)
stress = np.log10(run.vertex_stresses + 1.0)
lower, upper = np.percentile(stress, [1, 97])
vertices = run.positions()
middle, half = (vertices.max(0) + vertices.min(0)) / 2, (vertices.max(0) - vertices.min(0)) / 2
draw(left, vertices, run.mesh.elements, stress, lower, upper, box=(middle - 0.8 * half, middle + 0.8 * half), samples=3,
     label=f"stress after the last step, {10 ** lower / 1e3:.2g} kPa to {10 ** upper / 1e6:.2g} MPa")
right.plot(times, 100 * (np.array(places) - places[0]), linewidth=1)
right.set(xlabel="time, s", ylabel="sway of five leaves, cm")
save(figure, "wind_on_an_oak.png")
