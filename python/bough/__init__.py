"""Bough: real-time flexible multibody dynamics by model reduction.

    import bough

    run = bough.Scene("examples/two-leaves/scene.json").run()
    run.step(100)
    print(run["leaf 1"], run.displacement.shape)

Units are SI, z points up. Errors are exceptions (bough.Error) whose text says what to do. docs/python.md is the guide;
`bough.lib` and `bough.ffi` are the C library as cffi sees it.
"""

import types

from . import _callbacks
from ._core import (ArgumentError, Cancelled, Context, EnergyGained, Error, FileError, FormatError, Handle,
                    MissingProgram, NoConvergence, NotFinite, OutOfMemory, RecoverableError, Remark, SingularError,
                    UnsupportedError, context, ffi, lib, version)
from ._values import Record
from .component import Component, CookJob, CookPlan, cook, cook_alike, cook_phases, share_modes
from .fem import Body, BodyState, BodyTouch, LoadCase, Material, Modes, load_body, material_models, principal_stresses, von_mises
from .mechanism import Blend, BlendState, FullMechanism, Mechanism, MechanismModel, MechanismState, MechanismStepper, Statics, Urdf
from .mesh import Element, Embedding, Mesh, Split, box, from_data, implicit, read, rod
from .multibody import FullPart, Multibody, MultibodyModes, MultibodyState
from .record import Animation, Glb, Npz, Output, Picture, colour, label_width, plot, write_npy, write_obj
from .retarget import Adjoint, Fit, Motion, MotorCurves, Retarget, fit
from .rig import Actor, Shape, ShapeMesh, World, identity, integrator_damping, integrators, joint_kinds, motor_limits, weigh
from .run import CAPABILITIES, Moment, Run
from .scene import Scene, engines, json_depth, look, write_robot
from .tree import TreeLog, TreeModel, TreeModes, TreeState, stress_levels, wind_at
from .view import Viewer, view
from .view import program as view_program

__version__ = version
__all__ = sorted(name for name, what in list(globals().items()) if not name.startswith("_") and not isinstance(what, types.ModuleType))
for _name in __all__:
    if isinstance(globals()[_name], type) and issubclass(globals()[_name], Exception):
        globals()[_name].__module__ = "bough"  # as tracebacks call it
del _name
