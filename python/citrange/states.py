"""What the world is: for N environments as arrays, or for one by name.

World frame, metres, radians, seconds, quaternions w, x, y, z. Velocities are those of the body's
origin in the world frame. The first axis of every array is the environment; the order of bodies and
joints stands beside the numbers, and names decide when a state is set.

Fields are optional because a state may be partial: setting it changes what it names.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np
import numpy.typing as npt

__all__ = ["CameraState", "DictState", "ObjectState", "RobotState", "TensorState"]

Array = npt.NDArray[Any]

#: One environment by name: ``{"objects": {...}, "robots": {...}, "cameras": ..., "extras": ...}``
#: with ``pos``, ``rot``, ``vel``, ``ang_vel``, ``dof_pos``, ``dof_vel`` and, of robots,
#: ``dof_pos_target``, ``dof_vel_target``, ``dof_torque``.
DictState = dict[str, Any]


@dataclasses.dataclass(eq=False)
class ObjectState:
    """One object in N environments."""

    #: Root body, (N, 13): position 3, quaternion 4, linear velocity 3, angular velocity 3.
    root_state: Array | None = None
    #: Names of all bodies, root first; empty for a single body.
    body_names: list[str] = dataclasses.field(default_factory=list)
    #: All bodies, (N, bodies, 13). Follows from root and joints: setting it only checks it.
    body_state: Array | None = None
    #: Names of the joints; those of the scene when empty.
    joint_names: list[str] = dataclasses.field(default_factory=list)
    #: Joint positions, (N, joints).
    joint_pos: Array | None = None
    #: Joint velocities, (N, joints).
    joint_vel: Array | None = None


@dataclasses.dataclass(eq=False)
class RobotState(ObjectState):
    """One robot in N environments: an object whose joints have targets."""

    #: Position targets, (N, joints); NaN for a joint without a position servo.
    joint_pos_target: Array | None = None
    #: Velocity targets, (N, joints); absent when no joint has a velocity servo.
    joint_vel_target: Array | None = None
    #: Efforts asked for, (N, joints).
    joint_effort_target: Array | None = None


@dataclasses.dataclass(eq=False)
class CameraState:
    """One camera in N environments; pictures are there when they were asked for."""

    #: Colours, (N, height, width, 3), bytes.
    rgb: Array | None = None
    #: Distance along the optical axis, metres, (N, height, width); infinite where nothing is.
    depth: Array | None = None
    #: Which body is seen, (N, height, width); -1 where nothing is.
    instance_id_seg: Array | None = None
    #: Names of the ids in ``instance_id_seg``.
    instance_id_seg_id2label: dict[int, str] = dataclasses.field(default_factory=dict)
    #: Which robot, object or fixture is seen, (N, height, width); -1 where nothing is.
    instance_seg: Array | None = None
    #: Names of the ids in ``instance_seg``.
    instance_seg_id2label: dict[int, str] = dataclasses.field(default_factory=dict)
    #: Position, (N, 3).
    pos: Array | None = None
    #: Orientation, (N, 4): +X forward, +Z up in the picture.
    quat_world: Array | None = None
    #: Pinhole matrix, (N, 3, 3).
    intrinsics: Array | None = None


@dataclasses.dataclass(eq=False)
class TensorState:
    """The state of N environments.

    >>> import citrange
    >>> state = citrange.World("orange_plate", num_envs=2).get_state()
    >>> state.objects["plate"].root_state.shape
    (2, 13)
    """

    #: Number of environments; where a state is set, what its arrays say.
    num_envs: int | None = None
    objects: dict[str, ObjectState] = dataclasses.field(default_factory=dict)
    robots: dict[str, RobotState] = dataclasses.field(default_factory=dict)
    cameras: dict[str, CameraState] = dataclasses.field(default_factory=dict)
    #: Answers to named queries.
    extras: dict[str, Any] = dataclasses.field(default_factory=dict)

    @classmethod
    def from_mapping(cls, mapping: Mapping[str, Any]) -> TensorState:
        """A state from nested dictionaries with the same names."""
        return cls(
            num_envs=mapping.get("num_envs"),
            objects={name: ObjectState(**of) for name, of in mapping.get("objects", {}).items()},
            robots={name: RobotState(**of) for name, of in mapping.get("robots", {}).items()},
            cameras={name: CameraState(**of) for name, of in mapping.get("cameras", {}).items()},
            extras=dict(mapping.get("extras", {})),
        )

    def to_mapping(self) -> dict[str, Any]:
        """Nested dictionaries with the same names; the arrays are the same."""
        return {
            "num_envs": self.num_envs,
            "objects": {name: vars(of) for name, of in self.objects.items()},
            "robots": {name: vars(of) for name, of in self.robots.items()},
            "cameras": {name: vars(of) for name, of in self.cameras.items()},
            "extras": self.extras,
        }

    def arrays(self) -> Iterator[tuple[str, Array]]:
        """Every array with its path, such as ``robots.robot0.joint_pos``."""
        for kind in ("objects", "robots", "cameras"):
            for name, thing in getattr(self, kind).items():
                for field, value in vars(thing).items():
                    if isinstance(value, np.ndarray):
                        yield f"{kind}.{name}.{field}", value
        for name, value in self.extras.items():
            if isinstance(value, np.ndarray):
                yield f"extras.{name}", value

    def __eq__(self, other: object) -> bool:
        """Whether every number is the same, bit for bit, and every name."""
        if not isinstance(other, TensorState):
            return NotImplemented
        mine, theirs = dict(self.arrays()), dict(other.arrays())
        return mine.keys() == theirs.keys() and all(
            a.dtype == theirs[k].dtype and a.shape == theirs[k].shape
            and a.tobytes() == theirs[k].tobytes()
            for k, a in mine.items()
        )

    __hash__ = None  # type: ignore[assignment]
