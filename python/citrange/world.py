"""Worlds: N environments of a scene, states in, states out."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Literal, overload

import numpy.typing as npt

from . import _citrange
from ._citrange import Snapshot
from .arguments import whole, wholes
from .states import DictState, TensorState

__all__ = ["Snapshot", "World"]

Ids = Sequence[int] | None
Cameras = str | Sequence[str] | Mapping[str, str | Sequence[str]] | None


def settable(state: TensorState | DictState | Sequence[DictState], count: int) -> Any:
    """What Rust takes: nested dictionaries of arrays, or a list of dictionaries."""
    if isinstance(state, TensorState):
        return state.to_mapping()
    if isinstance(state, Mapping):
        # One for all.
        return [state] * count
    if isinstance(state, (str, bytes)) or not isinstance(state, Sequence):
        kind = type(state).__name__
        raise TypeError(f"state: a TensorState, a DictState or a list of those, not {kind}")
    return list(state)


class World:
    """N environments of a scene, stepped on all cores.

    One thread at a time works in a World, others wait; the interpreter is free meanwhile.
    Worlds do not survive a fork: make them in the process that uses them.

    >>> import citrange
    >>> world = citrange.World("orange_plate", num_envs=3)
    >>> world.reset(seed=7)
    >>> world.step(12)
    >>> saved = world.snapshot(0)
    >>> world.step(100)
    >>> world.restore(0, saved)
    >>> world.steps(0), world.steps(1)
    (12, 112)
    """

    __slots__ = ("_core",)

    def __init__(self, scene: str, num_envs: int = 1, *, threads: int | None = None) -> None:
        """A scene by name (``citrange.scene_names()``) or YAML file; each environment at the start
        of episode 0 of seed 0. ``threads``: one per core when ``None``."""
        if threads is not None:
            threads = whole(threads, "threads", 1024)
        self._core = _citrange.World(str(scene), whole(num_envs, "num_envs", 1 << 20), threads)

    @classmethod
    def _of(cls, core: _citrange.World) -> World:
        world = object.__new__(cls)
        world._core = core
        return world

    @property
    def num_envs(self) -> int:
        """Number of environments."""
        return self._core.num_envs

    @property
    def scene(self) -> str:
        """Name of the scene."""
        return self._core.scene

    @property
    def robots(self) -> list[str]:
        """Names of the robots."""
        return self._core.robots

    @property
    def objects(self) -> list[str]:
        """Names of the objects."""
        return self._core.objects

    @property
    def cameras(self) -> list[str]:
        """Names of the cameras."""
        return self._core.cameras

    @property
    def rates(self) -> dict[str, int]:
        """``physics_hz``, ``control_hz``, ``frame_hz``."""
        return self._core.rates

    @property
    def model_hash(self) -> str:
        """sha256 of the compiled model: equal hashes simulate equally."""
        return self._core.model_hash

    @property
    def xml(self) -> str:
        """The model as MJCF, for other tools."""
        return self._core.xml

    def joint_names(self, robot: str = "robot0") -> list[str]:
        """Joints of a robot, in the order of its arrays."""
        return self._core.joint_names(robot)

    @overload
    def get_state(
        self, env_ids: Ids = None, mode: Literal["tensor"] = "tensor", *, cameras: Cameras = None,
        extras: Sequence[str] | None = None, dtype: str = "f64",
    ) -> TensorState: ...

    @overload
    def get_state(
        self, env_ids: Ids = None, *, mode: Literal["dict"], cameras: Cameras = None,
        extras: Sequence[str] | None = None, dtype: str = "f64",
    ) -> list[DictState]: ...

    def get_state(
        self, env_ids: Ids = None, mode: str = "tensor", *, cameras: Cameras = None,
        extras: Sequence[str] | None = None, dtype: str = "f64",
    ) -> TensorState | list[DictState]:
        """The state of all environments, or of ``env_ids`` in that order.

        ``mode="tensor"``: arrays; ``mode="dict"``: a dictionary by names for each environment.
        ``cameras``: names, or ``{"front": ["rgb", "depth", "segmentation"]}``. ``extras``: queries
        such as ``contacts`` or ``contact_force:orange_1,table``. ``dtype``: f64, which can be set
        again bit for bit, or f32.
        """
        ids = wholes(env_ids, "env_ids")
        more = None if extras is None else list(extras)
        state = self._core.get_state(ids, mode, cameras, more, dtype)
        return TensorState.from_mapping(state) if mode == "tensor" else state

    def set_state(
        self, state: TensorState | DictState | Sequence[DictState], env_ids: Ids = None
    ) -> list[str]:
        """Sets what the state names, and leaves the rest: all of it, or nothing and an exception.

        Row ``i`` goes into environment ``i``, or into ``env_ids[i]``; one DictState goes into all
        of them. Answers the parts that are observations and were not set.
        """
        ids = wholes(env_ids, "env_ids")
        count = self.num_envs if ids is None else len(ids)
        return self._core.set_state(settable(state, count), ids)

    def live(self) -> TensorState:
        """The state itself, not a copy: read-only arrays that show the world as it is at any time.

        They stay good when the world's last name is gone. Do not read them while another thread
        steps the world: numbers of two instants would be beside each other.
        """
        return TensorState.from_mapping(self._core.live())

    def reset(
        self, seed: int = 0, episodes: Sequence[int] | int | None = None, env_ids: Ids = None
    ) -> None:
        """Puts environments at the start of episodes: environment ``i`` of episode ``i`` when
        ``episodes`` is ``None``. The same (seed, episode) is the same start, as in a collection."""
        ids = wholes(env_ids, "env_ids")
        ids = list(range(self.num_envs)) if ids is None else ids
        if episodes is None:
            episodes = ids
        elif isinstance(episodes, int):
            episodes = [episodes] * len(ids)
        self._core.reset(whole(seed, "seed"), wholes(episodes, "episodes") or [], ids)

    def set_joint_targets(self, targets: npt.ArrayLike, robot: str = "robot0") -> None:
        """Position targets of all joints of a robot, (N, joints), or (joints) for all; rad and m."""
        self._core.set_joint_targets(robot, targets)

    def step(self, count: int = 1) -> None:
        """Advances all environments by so many physics steps."""
        self._core.step(whole(count, "count", 2**32 - 1))

    def rollout(self, commands: npt.ArrayLike) -> None:
        """Advances through commands, (N, steps, actuators): each is held for one physics step."""
        import numpy as np

        array = np.ascontiguousarray(commands, np.float64)
        if array.ndim != 3:
            raise ValueError(f"commands: {array.ndim} axes; (N, steps, actuators) are needed")
        self._core.rollout(array.shape[1], array)

    def steps(self, env: int = 0) -> int:
        """Physics steps of an environment since its episode began."""
        return self._core.steps(whole(env, "env"))

    def snapshot(self, env: int = 0) -> Snapshot:
        """Everything that decides the future of an environment; ``bytes()`` of it can be kept."""
        return self._core.snapshot(whole(env, "env"))

    def restore(self, env: int, snapshot: Snapshot | bytes) -> None:
        """Puts an environment into a snapshot's state: what follows is the same, bit for bit."""
        self._core.restore(whole(env, "env"), snapshot)

    def energy(self, env: int = 0) -> float:
        """Kinetic plus potential energy, joules."""
        return self._core.energy(whole(env, "env"))

    def render(self, camera: str, env: int = 0) -> npt.NDArray[Any]:
        """What a camera of an environment sees, (height, width, 3), bytes."""
        rgb = self.get_state([env], cameras=camera).cameras[camera].rgb
        assert rgb is not None
        picture: npt.NDArray[Any] = rgb[0]
        return picture

    def __repr__(self) -> str:
        return repr(self._core)
