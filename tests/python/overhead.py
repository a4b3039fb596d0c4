"""What a call costs: PYTHONPATH=build/python /usr/bin/python3 tests/python/overhead.py

Times are the best of seven rounds. The overhead of a step is what Run.step() takes beyond the same steps in a loop of C.
Threads: two oaks, each stepped by a thread of Python, against one."""

import subprocess
import sys
import tempfile
import threading
import timeit

import bough


def best(function, number=50000, rounds=7):
    """Microseconds a call."""
    return 1e6 * min(timeit.repeat(function, number=number, repeat=rounds)) / number


def threads(steps=100):
    """By how much two threads that step an oak each take longer than one does: 1 where they do not wait for each other."""
    with tempfile.TemporaryDirectory() as folder:
        subprocess.run([bough.view_program(), "example", "oak", "--leaves", "200", "-o", folder], check=True, capture_output=True)
        scene = bough.Scene(folder + "/scene.json")
        runs = [scene.live(threads=1) for _ in range(2)]

        def work(run):
            for _ in range(steps):
                run.step()

        def both(count):
            workers = [threading.Thread(target=work, args=(run,)) for run in runs[:count]]
            for worker in workers:
                worker.start()
            for worker in workers:
                worker.join()

        one, two = (min(timeit.repeat(lambda: both(count), number=1, repeat=5)) for count in (1, 2))
        return len(runs[0].things), 1e3 * one / steps, two / one


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
    parts, step, ratio = threads()
    print(f"a step of an oak of {parts} parts         {step:6.2f} ms; two in two threads take {ratio:.2f} times as long")
    for name in ("numpy", "bough"):
        seconds = min(timeit.repeat(lambda: subprocess.run([sys.executable, "-c", f"import {name}"], check=True), number=1, repeat=3))
        print(f"python3 -c 'import {name}'".ljust(38) + f"{1e3 * seconds:6.0f} ms")


if __name__ == "__main__":
    main()
