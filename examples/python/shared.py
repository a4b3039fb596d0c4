"""What the examples share: where their pictures go, and whether they are to be quick (--quick, for the tests)."""

import pathlib
import subprocess
import sys
import tempfile

import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plt  # noqa: E402

import bough  # noqa: E402

EXAMPLES = pathlib.Path(__file__).resolve().parents[1]
QUICK = "--quick" in sys.argv
FOLDER = next((pathlib.Path(word) for word in sys.argv[1:] if not word.startswith("-")), pathlib.Path())


def save(figure, name):
    """Writes the picture of an example; a palette keeps it small."""
    FOLDER.mkdir(exist_ok=True)
    figure.savefig(FOLDER / name, dpi=80, pil_kwargs={"optimize": True})
    try:
        from PIL import Image
    except ImportError:
        return
    with Image.open(FOLDER / name) as image:
        image.convert("RGB").quantize(256).save(FOLDER / name, optimize=True)
    print(FOLDER / name)


def made(example, *options):
    """The scene file of an example that the program makes by code, with its components beside it."""
    folder = pathlib.Path(tempfile.gettempdir()) / f"bough-python-{example}"
    if not (folder / "scene.json").exists():
        subprocess.run([bough.view_program(), "example", example, "-o", folder, *options], check=True, capture_output=True)
    return folder / "scene.json"


def draw(axes, vertices, triangles, values=None, lower=None, upper=None, box=None, width=480, height=480, label=None, **view):
    """A surface as Bough's pictures show it, in axes of matplotlib."""
    vertices = vertices.astype(float)
    box = box or (vertices.min(0), vertices.max(0))
    style = {} if values is None else {"scalars": values, "scalar_min": lower, "scalar_max": upper}
    picture = bough.Picture(width=width, height=height, box=box, **{"samples": 2, **view})
    axes.imshow(picture.surface(vertices, triangles, **style).render().pixels[..., :3])
    axes.set_axis_off()
    axes.set_title(label, fontsize=10)
