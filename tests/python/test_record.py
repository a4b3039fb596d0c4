"""What the library writes: pictures, films, plots, arrays; and the viewer."""

import os
import signal
import socket
import subprocess
import sys
import threading
import time
import urllib.error
import urllib.request

import numpy as np
import pytest

import bough
from conftest import ROOT


def test_a_picture_shows_what_was_added(tmp_path):
    surface = bough.box(size=[1, 1, 1], cells=[1, 1, 1]).surface()[0]
    picture = bough.Picture(width=80, height=60, samples=1, box=([0, 0, 0], [1, 1, 1]))
    picture.render()
    empty = picture.pixels.copy()
    picture.surface(surface.vertices, surface.elements, scalars=surface.vertices[:, 2], edges=True)
    picture.lines([[[0, 0, 0], [1, 1, 2]]], colour=[1, 0, 0]).polyline([[0, 0, 0], [0, 0, 1]])
    picture.label(2, 2, "box").colour_bar(60, 5, 5, 40, 0, 1, "m").render()
    assert picture.pixels.shape == (60, 80, 4) and (picture.pixels != empty).any()
    picture.write(tmp_path / "box.png")
    assert picture._repr_png_() == (tmp_path / "box.png").read_bytes()
    with bough.Animation(tmp_path / "film.png", 80, 60, fps=10) as film:
        for i in range(3):
            picture.set(target=[0, 0, i]).render()
            film.add(picture)
    assert (tmp_path / "film.png").read_bytes()[:4] == b"\x89PNG"
    picture.clear().render()
    assert bough.colour(0.5).shape == (3,) and bough.colour(np.zeros((2, 2)), "diverging").shape == (2, 2, 3)
    assert bough.label_width(12, "a word") > 10


def test_files_appear_when_they_are_complete(tmp_path):
    with pytest.raises(ZeroDivisionError):
        with bough.Npz(tmp_path / "broken.npz"):
            1 / 0
    assert not (tmp_path / "broken.npz").exists()
    with bough.Npz(tmp_path / "data.npz") as npz:
        npz.array("time")
        npz.array("place", (3,), "float32")
        npz.texts("names", ["a", "b"])
        for i in range(4):
            npz.append("time", [i])
            npz.append("place", [[i, 0, 0]])
        npz.flush()
        assert len(np.load(tmp_path / "data.npz")["time"]) == 4
        with pytest.raises(bough.ArgumentError, match="place"):
            npz.append("plaice", [1])
    data = np.load(tmp_path / "data.npz")
    assert data["place"].shape == (4, 3) and data["names"].tolist() == ["a", "b"]
    bough.write_npy(tmp_path / "m.npy", np.eye(3))
    assert np.array_equal(np.load(tmp_path / "m.npy"), np.eye(3))
    output = bough.Output(tmp_path / "film.mp4")
    open(output.name, "w").close()
    assert not (tmp_path / "film.mp4").exists()
    output.finish()
    assert (tmp_path / "film.mp4").exists()


def test_plots_films_and_surfaces(tmp_path):
    x = np.linspace(0, 1, 20)
    bough.plot(tmp_path / "p.svg", {"sine": (x, np.sin(x)), "cosine": (x, np.cos(x))}, title="two lines", x_title="s")
    assert "two lines" in (tmp_path / "p.svg").read_text()
    surface = bough.box(size=[1, 1, 1], cells=[1, 1, 1]).surface()[0]
    with bough.Glb(tmp_path / "box.glb") as glb:
        mesh = glb.mesh(surface.vertices, surface.elements, targets=surface.vertices[None] * 0.1, colour=[1, 0, 0])
        glb.node(mesh, "one")
        glb.node(glb.tint(mesh, [0, 1, 0]), "two", scale=2)
        for i in range(3):
            glb.frame(i / 10, [np.eye(4), np.eye(4)], [i, 0])
        glb.flush()
    assert (tmp_path / "box.glb").read_bytes()[:4] == b"glTF"
    bough.write_obj(tmp_path / "box.obj", surface.vertices, surface.elements)
    assert np.allclose(bough.read(tmp_path / "box.obj").vertices, surface.vertices)


def test_the_viewer_serves_a_page_and_ends():
    try:
        bough.view.__globals__["program"]()
    except bough.FileError as error:
        pytest.skip(str(error))
    scene = bough.Scene(ROOT / "examples" / "y-mechanism" / "scene.json")
    with bough.view(scene, browser=False, paused=True, framed=False, dt=None) as viewer:
        with urllib.request.urlopen(viewer.url, timeout=10) as page:
            assert b"<html" in page.read().lower() and "X-Frame-Options" not in page.headers
            assert "frame-ancestors http://localhost:* http://127.0.0.1:*" in page.headers["Content-Security-Policy"]
        with pytest.raises(urllib.error.HTTPError):
            urllib.request.urlopen(viewer.url.replace(viewer.token, "x" * 32), timeout=10)
        assert "<iframe" in viewer._repr_html_() and viewer.token in viewer._repr_html_()
    with pytest.raises(OSError):
        urllib.request.urlopen(viewer.url, timeout=2)
    with pytest.raises(bough.FormatError, match="unknown key"):
        bough.view({"mesh": {"generate": "box", "size": [1, 1, 1]}, "fxi": 1}, browser=False)
    with pytest.raises(bough.ArgumentError, match="unrecognized option '--foo'"):
        bough.view(scene, browser=False, foo=3)


def test_the_viewer_ends_with_a_program_that_is_killed():
    try:
        bough.view.__globals__["program"]()
    except bough.FileError:
        pytest.skip("the program bough is not there")
    program = ("import bough, os, signal\n"
               "viewer = bough.view({'mesh': {'generate': 'box', 'size': [1, 1, 1]}, 'fix': 'x0', 'time': {'dt': 0.01, 'duration': 1}}, browser=False)\n"
               "print(viewer.port, flush=True)\n"
               "os.kill(os.getpid(), signal.SIGKILL)\n")
    folder = os.path.dirname(os.path.dirname(bough.__file__))
    done = subprocess.run([sys.executable, "-B", "-c", program], capture_output=True, text=True, env=os.environ | {"PYTHONPATH": folder})
    assert done.returncode == -signal.SIGKILL, done.stderr
    for _ in range(600):
        with socket.socket() as caller:
            if caller.connect_ex(("127.0.0.1", int(done.stdout))):
                return
        time.sleep(0.05)
    pytest.fail("the viewer goes on")


def test_what_notebooks_show_is_no_code_of_scenes():
    scene = bough.Scene(name="<script>alert(1)</script>", mesh={"generate": "box", "size": [1, 1, 1]}, fix="x0", time={"dt": 0.01, "duration": 1})
    assert "<script>" not in scene._repr_html_() and "&lt;script&gt;" in scene._repr_html_()
    run = scene.probe("<b>tip</b>", select="nearest:1,0,0").run()
    assert "<b>" not in run._repr_html_() and "&lt;b&gt;tip" in run._repr_html_()
    run.close()
    assert "closed" in run._repr_html_()


def test_ctrl_c_ends_the_drawing_of_a_large_picture():
    picture = bough.Picture(width=5000, height=5000, samples=2, box=([0, 0, 0], [1, 1, 1]))
    pressed = []

    def press():
        pressed.append(time.monotonic())
        signal.pthread_kill(threading.main_thread().ident, signal.SIGINT)

    timer = threading.Timer(0.2, press)
    timer.start()
    with pytest.raises(KeyboardInterrupt):
        picture.surface([[0, 0, 0], [1, 0, 0], [0, 1, 0]], [[0, 1, 2]]).render()
    assert time.monotonic() - pressed[0] < 2
