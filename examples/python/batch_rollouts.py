"""Learning by trial: a springy arm is to hold its tip at a height, against its weight. Each generation of policies is
tried in a batch of live runs, one set for each thread, which go back to the same moment for each rollout."""

from concurrent.futures import ThreadPoolExecutor

import numpy as np

from shared import QUICK, bough, plt, save

scene = bough.Scene(gravity=[0, 0, -9.81], engine={"kind": "full"})
scene.link("post", shape={"box": [0.1, 0.1, 1], "position": [0, 0, -0.5]})
scene.link("upper", position=[0.2, 0, 0], density=400, shape={"box": [0.4, 0.05, 0.05]})
scene.link("fore", position=[0.6, 0, 0], density=400, shape={"box": [0.4, 0.04, 0.04]})
scene.joint("shoulder", "hinge", "post", "upper", position=[0, 0, 0], axis=[0, 1, 0], stiffness=40, damping=0.4)
scene.joint("elbow", "hinge", "upper", "fore", position=[0.4, 0, 0], axis=[0, 1, 0], stiffness=15, damping=0.1)
scene.end_effector("tip", "fore", position=[0.8, 0, 0]).probe()
still = scene.curve("still", [[0, 0], [1, 0]])
for joint in ("shoulder", "elbow"):
    scene.motor(joint=joint, curve=still)
scene.time(dt=0.01, duration=10)
scene.info  # loaded once, before the threads

workers, batch, generations, steps = 2, 16 if QUICK else 64, 3 if QUICK else 30, 100
goal = 0.1  # m


class Environment:
    """A live run, and a moment to begin again from."""

    def __init__(self):
        self.run = scene.live(threads=1)
        self.start = self.run.keep()

    def rollout(self, policy):
        """The cost of a policy: angles of both motors, linear in what is seen of the tip."""
        run, cost, heights = self.run, 0.0, []
        run.back_to(self.start)
        command = np.zeros(2)
        for _ in range(steps):
            z, vz = run["tip.z"], run["tip.vz"]
            command = np.clip(0.8 * command + 0.2 * (policy.reshape(2, 3) @ [1, z - goal, 0.1 * vz]), -0.8, 0.8)
            for i in (0, 1):
                run.set_motor(i, command[i])
            run.step()
            heights.append(z)
            cost += (z - goal) ** 2 + 1e-3 * command @ command
        return cost / steps, heights


environments = [Environment() for _ in range(workers)]
random = np.random.default_rng(1)
mean, spread = np.zeros(6), np.full(6, 0.5)
best, costs = [], []
with ThreadPoolExecutor(workers) as pool:
    for generation in range(generations):
        policies = mean + spread * random.normal(size=(batch, 6))
        parts = np.array_split(policies, workers)
        done = pool.map(lambda job: [job[0].rollout(p)[0] for p in job[1]], zip(environments, parts))
        values = np.concatenate(list(done))
        elite = policies[np.argsort(values)[:batch // 4]]
        mean, spread = elite.mean(0), elite.std(0) + 0.01
        costs.append(np.quantile(values, [0, 0.5]))
        if generation in (0, generations // 4, generations - 1):
            best.append((generation, environments[0].rollout(mean)[1]))
costs = np.array(costs)
print(f"{batch * generations} rollouts of {steps} steps; cost {costs[0, 0]:.3g} -> {costs[-1, 0]:.3g}")

figure, (left, right) = plt.subplots(1, 2, figsize=(9, 3.8), layout="constrained")
left.semilogy(costs, label=["best", "median"])
left.set(xlabel="generation", ylabel="cost")
left.legend()
for generation, heights in best:
    right.plot(0.01 * np.arange(steps), heights, label=f"generation {generation}")
right.axhline(goal, color="k", linestyle=":")
right.set(xlabel="time, s", ylabel="height of the tip, m")
right.legend()
save(figure, "batch_rollouts.png")
