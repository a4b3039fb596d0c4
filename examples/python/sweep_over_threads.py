"""One scene, many runs: damping and wind are swept over, each run in a thread of Python. Steps let go of Python's lock."""

import os
import time
from concurrent.futures import ThreadPoolExecutor

import numpy as np

from shared import EXAMPLES, QUICK, bough, plt, save

scene = bough.Scene(EXAMPLES / "two-leaves" / "scene.json")
scene.model()  # cooked once, before the threads
ratios, winds = np.geomspace(0.01, 0.3, 3 if QUICK else 8), np.linspace(0, 6, 3 if QUICK else 8)
steps = 20 if QUICK else 500


def sway(ratio, wind):
    """How far a leaf swings (rms) in a wind, with a damping ratio."""
    run = scene.live(threads=1)
    run.set_wind([wind, 0, 0], gust=0.5, seed=7)
    for thing in range(len(run.things)):
        run.set_damping(thing, ratio)
    places = np.empty((steps // 5, 3))
    for i in range(len(places)):
        run.step(5)
        places[i] = run["leaf 2"]
    return np.linalg.norm(places.std(0))


cases = [(r, w) for r in ratios for w in winds]
workers, seconds = sorted({1, os.cpu_count()}), []
for count in workers:
    begin = time.perf_counter()
    with ThreadPoolExecutor(count) as pool:
        found = list(pool.map(lambda case: sway(*case), cases))
    seconds.append(time.perf_counter() - begin)
    print(f"{len(cases)} runs of {steps} steps by {count} threads: {seconds[-1]:.2f} s")
grid = 1e3 * np.array(found).reshape(len(ratios), len(winds))

figure, (left, right) = plt.subplots(1, 2, figsize=(9, 4), layout="constrained", width_ratios=[3, 2])
image = left.contourf(winds, ratios, grid, 12)
left.set(xlabel="wind, m/s", ylabel="damping ratio", yscale="log", title="sway of a leaf, mm (rms)")
figure.colorbar(image, ax=left)
for i in (0, len(ratios) // 2, -1):
    right.plot(winds, grid[i], label=f"damping ratio {ratios[i]:.2f}")
right.set(xlabel="wind, m/s", ylabel="sway, mm (rms)")
right.legend(fontsize=8)
save(figure, "sweep_over_threads.png")
