"""What a call costs: PYTHONPATH=build/python python3 tests/python/overhead.py

Times are the best of seven rounds. The overhead of a step is what Run.step() takes beyond the same steps in a loop of C."""

import subprocess
import sys
import timeit

import bough


def best(function, number=50000, rounds=7):
    """Microseconds a call."""
    return 1e6 * min(timeit.repeat(function, number=number, repeat=rounds)) / number


def main():
    scene = bough.Scene()
    scene.link("post", shape={"box": [0.1, 0.1, 1]})
    scene.link("arm", position=[0.25, 0, 0], density=500, shape={"box": [0.5, 0.05, 0.05]})
    scene.joint("shoulder", "hinge", "post", "arm", position=[0, 0, 0], axis=[0, 1, 0], stiffness=50)
    tip = scene.end_effector("tip", "arm", position=[0.5, 0, 0])
    tip.probe()
    run = scene.time(dt=0.005, duration=1).live(threads=1)
    run.step(1000)
    lib, ctx, pointer = bough.lib, run._ctx, run._c
    inside = best(lambda: lib.bough_py_steps(ctx, pointer, 1000), 50) / 1000
    step = best(run.step)
    state = scene.mechanism.reduce().state()
    state.step(0.005)
    print(f"a step of this scene, in C            {inside:6.2f} us")
    print(f"Run.step()                            {step:6.2f} us, overhead {step - inside:.2f} us")
    print(f"lib.bough_run_step()                  {best(lambda: lib.bough_run_step(ctx, pointer)):6.2f} us")
    print(f"lib.bough_thread_count()              {best(lambda: lib.bough_thread_count(ctx)):6.2f} us")
    print(f"MechanismState.step()                 {best(lambda: state.step(0.005)):6.2f} us")
    print(f"an array that looks into a state      {best(lambda: state.xi):6.2f} us")
    print(f"run.values                            {best(lambda: run.values):6.2f} us")
    print(f'run["tip.z"]                          {best(lambda: run["tip.z"]):6.2f} us')
    for name in ("numpy", "bough"):
        seconds = min(timeit.repeat(lambda: subprocess.run([sys.executable, "-c", f"import {name}"], check=True), number=1, repeat=3))
        print(f"python3 -c 'import {name}'".ljust(38) + f"{1e3 * seconds:6.0f} ms")


if __name__ == "__main__":
    main()
