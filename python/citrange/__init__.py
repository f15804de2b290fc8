"""Citrange: teach, record, repeat and deploy robot arms.

>>> import citrange
>>> world = citrange.World("orange_plate", num_envs=4)
>>> world.get_state().robots["robot0"].joint_pos.shape
(4, 6)

What takes time releases the interpreter, hears Ctrl-C, and raises exceptions of
:mod:`citrange.errors` with the messages of the command. Environments for learners are known to
Gymnasium (``citrange/OrangePlate-v0``, …) as soon as both are imported.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

from . import _engine

_engine.check_system()

from . import _hook  # noqa: E402
from ._citrange import ENGINE_VERSION, __version__, scene_names  # noqa: E402
from .errors import (  # noqa: E402
    BadInput,
    CitrangeError,
    Failed,
    Interrupted,
    ProblemsFound,
    RobotError,
    UsageError,
)
from .states import CameraState, DictState, ObjectState, RobotState, TensorState  # noqa: E402
from .world import Snapshot, World  # noqa: E402

if TYPE_CHECKING:
    from .dataset import Dataset, Episode
    from .verbs import collect, merge, plan, replay, report, run

_engine.find()
_hook.install()

#: Loaded when they are first asked for.
_LATER = {
    "Dataset": "dataset",
    "Episode": "dataset",
    "collect": "verbs",
    "merge": "verbs",
    "plan": "verbs",
    "replay": "verbs",
    "report": "verbs",
    "run": "verbs",
}
_MODULES = ("dataset", "gym", "ray", "rsl_rl", "sb3", "show", "space", "verbs")

__all__ = [
    "ENGINE_VERSION",
    "BadInput",
    "CameraState",
    "CitrangeError",
    "Dataset",
    "DictState",
    "Episode",
    "Failed",
    "Interrupted",
    "ObjectState",
    "ProblemsFound",
    "RobotError",
    "RobotState",
    "Snapshot",
    "TensorState",
    "UsageError",
    "World",
    "__version__",
    "collect",
    "merge",
    "plan",
    "replay",
    "report",
    "run",
    "scene_names",
]


def __getattr__(name: str) -> Any:
    if name in _LATER:
        value = getattr(importlib.import_module(f".{_LATER[name]}", __name__), name)
        globals()[name] = value
        return value
    if name in _MODULES:
        return importlib.import_module(f".{name}", __name__)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted([*globals(), *_LATER, *_MODULES])
