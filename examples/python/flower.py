import bough

scene = bough.Scene(gravity=[0, 0, -9.81], wind={"velocity": [3, 0, 0], "gust": 0.5})
green, red = {"young": 2e7, "density": 700}, {"young": 3e6, "density": 400}
spots = {f"spot {i}": {"patch": [0.008, 0, 0.27 + 0.004 * i], "radius": 0.02} for i in range(8)}
stem = scene.component("stem", mesh={"generate": "rod", "type": "hex8", "length": 0.3, "radius": 0.008, "cells": [24, 1]}, material=green,
                       damping={"stiffness": 0.002}, interfaces={"base": {"select": "bottom"}, **spots}, basis={"r": 8})
petal = scene.component("petal", mesh={"generate": "box", "type": "hex8", "origin": [0, -0.02, 0], "size": [0.1, 0.04, 0.002], "cells": [8, 4, 1]},
                        material=red, damping={"stiffness": 0.002}, interfaces={"base": {"select": "x0"}}, basis={"r": 6})
root = scene.part("stem", stem, fix="base")
for i in range(8):
    root.part(f"petal {i}", petal, interface=f"spot {i}", rotate_deg=[0, -25, 45 * i])
run = scene.live(dt=1 / 240)
run.step(480)
colours = [[0.3, 0.5, 0.2]] * run.things[0].vertex_count + [[0.8, 0.3, 0.35]] * sum(petal.vertex_count for petal in run.things[1:])
bough.Picture(box=([-0.1, -0.1, 0], [0.1, 0.1, 0.35])).surface(run.positions(), run.mesh.elements, vertex_colours=colours).render().write("flower.png")
