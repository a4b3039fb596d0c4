# Written by python/make_stubs.py.
from ._core import ArgumentError as ArgumentError, Cancelled as Cancelled, Context as Context, EnergyGained as EnergyGained, Error as Error, FileError as FileError, FormatError as FormatError, Handle as Handle, MissingProgram as MissingProgram, NoConvergence as NoConvergence, NotFinite as NotFinite, OutOfMemory as OutOfMemory, RecoverableError as RecoverableError, Remark as Remark, SingularError as SingularError, UnsupportedError as UnsupportedError, context as context, ffi as ffi, lib as lib, version as version
from ._values import Record as Record
from .component import Component as Component, CookJob as CookJob, CookPlan as CookPlan, cook as cook, cook_alike as cook_alike, cook_phases as cook_phases, share_modes as share_modes
from .fem import Body as Body, BodyState as BodyState, BodyTouch as BodyTouch, LoadCase as LoadCase, Material as Material, Modes as Modes, load_body as load_body, material_models as material_models, principal_stresses as principal_stresses, von_mises as von_mises
from .mechanism import Blend as Blend, BlendState as BlendState, FullMechanism as FullMechanism, Mechanism as Mechanism, MechanismModel as MechanismModel, MechanismState as MechanismState, MechanismStepper as MechanismStepper, Statics as Statics, Urdf as Urdf
from .mesh import Element as Element, Embedding as Embedding, Mesh as Mesh, Split as Split, box as box, from_data as from_data, implicit as implicit, read as read, rod as rod
from .multibody import FullPart as FullPart, Multibody as Multibody, MultibodyModes as MultibodyModes, MultibodyState as MultibodyState
from .record import Animation as Animation, Glb as Glb, Npz as Npz, Output as Output, Picture as Picture, colour as colour, label_width as label_width, plot as plot, write_npy as write_npy, write_obj as write_obj
from .retarget import Adjoint as Adjoint, Fit as Fit, Motion as Motion, MotorCurves as MotorCurves, Retarget as Retarget, fit as fit
from .rig import Actor as Actor, Shape as Shape, ShapeMesh as ShapeMesh, World as World, identity as identity, integrator_damping as integrator_damping, integrators as integrators, joint_kinds as joint_kinds, motor_limits as motor_limits, weigh as weigh
from .run import CAPABILITIES as CAPABILITIES, Moment as Moment, Run as Run
from .scene import Scene as Scene, engines as engines, json_depth as json_depth, look as look, write_robot as write_robot
from .tree import TreeLog as TreeLog, TreeModel as TreeModel, TreeModes as TreeModes, TreeState as TreeState, stress_levels as stress_levels, wind_at as wind_at
from .view import Viewer as Viewer, view as view
from .view import program as view_program
__version__: str
