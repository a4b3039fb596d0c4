"""The viewer in the browser: starts the program `bough view` and shows its page."""

import atexit
import json
import os
import shutil
import subprocess
import threading
import webbrowser

from ._core import FileError, lib, wrong
from .run import Run
from .scene import Scene


def program():
    """The program bough: of the environment variable BOUGH_PROGRAM, that of the build folder or the prefix which this
    package is in, or in PATH."""
    folder = os.path.dirname(os.path.abspath(__file__))
    beside = [os.path.join(folder, "..", "..", "bough"), os.path.join(folder, "..", "..", "..", "..", "bin", "bough")]
    for name in (os.environ.get("BOUGH_PROGRAM"), *beside, shutil.which("bough")):
        if name and os.path.isfile(name) and os.access(name, os.X_OK):
            return os.path.abspath(name)
    raise FileError("the program bough is not in PATH; install it, or name it by the environment variable BOUGH_PROGRAM",
                    lib.BOUGH_ERROR_FILE)


class Viewer:
    """A page that shows a scene. `url` opens it; close() ends it. In a notebook it is shown inline."""

    def __init__(self, scene, height=600, **options):
        self.scene, self.height = scene, height
        scene._c  # written, and right
        words = []
        for name, value in options.items():
            if value is not False and value is not None:
                words += [f"--{name.replace('_', '-')}"] + ([] if value is True else [str(value)])
        self._process = subprocess.Popen([program(), "view", scene.path, "--no-browser", "--json", "--framed", "--attached", *words],
                                         stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, start_new_session=True)
        atexit.register(self.close)
        try:
            answer = json.loads(self._process.stdout.readline())
        except ValueError:
            self._process.terminate()
            said = [line for line in self._process.communicate()[1].strip().splitlines() if not line.startswith("Try `")]
            atexit.unregister(self.close)
            raise wrong(said[-1] if said else "the viewer did not start") from None
        except KeyboardInterrupt:
            self._process.kill()
            self._process.communicate()
            atexit.unregister(self.close)
            raise
        self.url, self.token, self.port = answer["url"], answer["token"], answer["port"]
        # What it says later must not fill the pipe.
        self._reader = threading.Thread(target=self._process.stderr.read, daemon=True)
        self._reader.start()

    def open(self):
        """Opens the page in the browser of the desktop."""
        webbrowser.open(self.url)
        return self

    def close(self):
        """Ends the viewer."""
        if self._process.poll() is None:
            self._process.terminate()
            try:
                self._process.wait(5)
            except subprocess.TimeoutExpired:
                self._process.kill()
                self._process.wait()
        self._reader.join()
        for pipe in (self._process.stdin, self._process.stdout, self._process.stderr):
            pipe.close()
        atexit.unregister(self.close)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()

    def __repr__(self):
        return f"<bough.Viewer: {self.url}>"

    def _repr_html_(self):
        return f'<iframe src="{self.url}" width="100%" height="{self.height}" style="border: 0" allowfullscreen></iframe>'


def _in_notebook():
    """Whether a notebook shows what the last line of a cell gives."""
    try:
        from IPython import get_ipython
    except ImportError:
        return False
    shell = get_ipython()
    return shell is not None and type(shell).__name__ == "ZMQInteractiveShell"


def view(what, browser=None, **options):
    """Shows a scene (a Scene, a file, a dictionary, or the scene of a Run) in the viewer; returns the Viewer.

    browser: whether to open a page of the desktop's browser (default: not in a notebook, where the Viewer shows itself).
    options: those of `bough view`: paused=True, dt=0.005, engine="full", port=8080."""
    if what is None:
        raise wrong("a scene, a run, a file or a dictionary is wanted, not None")
    scene = what.scene if isinstance(what, Run) else what if isinstance(what, Scene) else Scene(what)
    viewer = Viewer(scene, **options)
    if browser or (browser is None and not _in_notebook()):
        viewer.open()
    return viewer
