"""A flexible beam on a hinge, driven by a torque that Python computes in each step: a controller that knows the angle
only, and one that also feels how fast the tip swings."""

import numpy as np

from shared import QUICK, bough, plt, save

body = bough.Body(bough.box(type="hex8", size=[1, 0.04, 0.01], origin=[0, -0.02, -0.005], cells=[16, 1, 1]),
                  bough.Material("stvk", young=3e8, poisson=0.35, density=1200), damping_stiffness=2e-4)
beam = bough.cook(body, interfaces={"base": "x0", "tip": "x1"}, parent="base", r=6, basis="modes+derivatives")
stump = bough.cook(bough.Body(bough.box(type="hex8", size=[0.1, 0.1, 0.1], origin=[-0.1, -0.05, -0.05], cells=[1, 1, 1])),
                   interfaces={"base": "x0", "side": "x1"}, parent="base", r=0)
axis = np.array([[1.0, 0, 0], [0, 0, 1], [0, -1, 0]])  # hinges turn about z of their frame: the world's y
model = bough.TreeModel([stump, beam], [{"name": "stump", "component": 0},
                                        {"name": "beam", "component": 1, "parent": 0, "interface_index": 1,
                                         "joint": {"kind": "hinge", "child": {"pose": ([0, 0, 0], axis)}}}])
tip = int(np.argmax(beam.positions()[:, 0]))
dt, goal = 0.0005, np.radians(40)
steps = 200 if QUICK else 4000


def swing(tip_gain):
    """Angles of hinge and tip, and torques, with gains for the angle and its rate, and for the rate of the tip."""
    state, joint, rows, felt = model.state(), model.joint("beam"), [], 0.0
    for _ in range(steps):
        angle, rate = state.q[joint], state.v[joint]
        place, velocity = state.vertex("beam", tip)
        arm = place - state.frame("beam")[:3, 3]
        turn = np.arctan2(-arm[2], arm[0])  # how far the tip has turned about y, and how fast it does
        tip_rate = (arm[2] * velocity[0] - arm[0] * velocity[2]) / (arm @ arm)
        felt += dt / 0.03 * (tip_rate - rate - felt)  # how fast the beam bends, without what is faster than it matters
        torque = np.clip(20 * (goal - angle) - 1.5 * rate - tip_gain * felt, -8, 8)
        state.add_joint_torque("beam", torque)
        state.advance(dt)
        rows.append([state.time, angle, turn, torque])
    return np.array(rows)


figure, axes = plt.subplots(2, 1, figsize=(8, 5), sharex=True, layout="constrained")
for gain, label, colour in ((0.0, "angle only", "C3"), (2.0, "angle and tip", "C0")):
    rows = swing(gain)
    axes[0].plot(rows[:, 0], np.degrees(rows[:, 2]), colour, label=f"tip, {label}")
    axes[0].plot(rows[:, 0], np.degrees(rows[:, 1]), colour + ":", label=f"hinge, {label}")
    axes[1].plot(rows[:, 0], rows[:, 3], colour, linewidth=1, label=label)
    late = rows[len(rows) // 2:]
    print(f"{label}: the tip still swings by {np.degrees(np.ptp(late[:, 2])):.2f} degrees in the second half")
axes[0].axhline(np.degrees(goal), color="k", linewidth=0.5)
axes[0].set(ylabel="angle, degrees")
axes[1].set(xlabel="time, s", ylabel="torque, N m")
axes[0].legend(fontsize=8)
axes[1].legend(fontsize=8)
save(figure, "controller_in_the_loop.png")
