"""Recorded datasets: rows, pictures, complete states, exact replay, time travel.

>>> dataset = citrange.Dataset("oranges")                                   # doctest: +SKIP
>>> for episode in dataset:                                                 # doctest: +SKIP
...     print(episode.task, episode.success, len(episode))
>>> world = dataset[0].world(frame=120)      # exactly as it was, to go on otherwise  # doctest: +SKIP
"""

from __future__ import annotations

import bisect
import functools
import os
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from . import _citrange
from ._citrange import Snapshot
from .errors import BadInput
from .states import TensorState
from .world import Cameras, World

__all__ = ["Dataset", "Episode", "Frames"]

Array = npt.NDArray[Any]


class Episode:
    """One episode of a dataset."""

    def __init__(self, dataset: Dataset, index: int) -> None:
        self.dataset, self.index = dataset, index

    def __len__(self) -> int:
        """Frames."""
        return self.dataset.lengths[self.index]

    @functools.cached_property
    def rows(self) -> dict[str, Any]:
        """Every feature but videos, a row per frame, as LeRobot's files have them."""
        return self.dataset._core.rows(self.index)

    @property
    def task(self) -> str:
        """The task in words."""
        return self.dataset._core.task(self.index)

    @functools.cached_property
    def entry(self) -> dict[str, Any] | None:
        """What our side knows: uid, outcome, labels, note; ``None`` for episodes of others."""
        return self.dataset._core.entry(self.index)

    @property
    def success(self) -> bool | None:
        """Whether the task was done; ``None`` where nobody judged."""
        return None if self.entry is None else self.entry["outcome"]["success"]

    @property
    def reason(self) -> str | None:
        """Why it ended, as a short code."""
        return None if self.entry is None else self.entry["outcome"]["reason"]

    @functools.cached_property
    def _tape(self) -> _citrange.Tape:
        tape = self.dataset._core.tape(self.index)
        if tape is None:
            raise BadInput(
                f"episode {self.index} of {self.dataset.root} has no tape: only its rows and videos "
                "are known"
            )
        return tape

    @property
    def header(self) -> dict[str, Any]:
        """What was known when it began: seed, episode index, rig, scene, engine, settings."""
        return self._tape.header()

    @property
    def events(self) -> list[Any]:
        """What happened, each with its control tick."""
        return self._tape.events()

    @functools.cached_property
    def motion(self) -> dict[str, Any]:
        """``joint_pos``, ``joint_vel`` at frames; ``requested``, ``limited``, ``executed`` at ticks."""
        return self._tape.motion()

    def snapshot(self, frame: int = 0) -> Snapshot:
        """The complete state at a frame; ``len(episode)`` is the state that it ended in."""
        return self._tape.snapshot(_at(frame, len(self) + 1))

    def world(self, frame: int = 0) -> World:
        """A world of exactly the recorded model, in the state of a frame: step it otherwise."""
        return World._of(self._tape.world(_at(frame, len(self) + 1)))

    def state(self, frame: int = 0, *, cameras: Cameras = None) -> TensorState:
        """What the world was at a frame; with pictures of any camera of the scene, drawn anew."""
        return self.world(frame).get_state(cameras=cameras)

    def picture(self, camera: str, frame: int = 0) -> Array:
        """The recorded picture, (height, width, 3), bytes."""
        return self.dataset._core.picture(self.index, camera, _at(frame, len(self)))

    def redraw(self, camera: str, frames: Sequence[int] | None = None) -> Array:
        """Pictures of frames by any camera of the scene, recorded or not, drawn from the states."""
        world, wanted = self.world(0), range(len(self)) if frames is None else frames
        pictures = []
        for frame in wanted:
            world.restore(0, self.snapshot(frame))
            pictures.append(world.render(camera))
        return np.stack(pictures)

    def replay(self, verify: bool = True) -> dict[str, Any]:
        """Repeats it; with ``verify`` every physics step is compared with the recording."""
        report: dict[str, Any] = _citrange.replay(
            os.fspath(self.dataset.root), self.index, verify, None, 1
        )
        return report["episodes"][0]  # type: ignore[no-any-return]

    def __repr__(self) -> str:
        return f"<episode {self.index} of {self.dataset.root}, {len(self)} frames>"


class Dataset(Sequence[Episode]):
    """A LeRobotDataset v3.0 folder, with our tapes where it has them."""

    def __init__(self, root: str | os.PathLike[str]) -> None:
        self._core = _citrange.Dataset(os.fspath(root))
        self._facts = self._core.facts()

    @property
    def root(self) -> str:
        """The folder."""
        return os.fspath(self._core.root)

    @property
    def fps(self) -> int:
        """Frames per second."""
        return int(self._facts["fps"])

    @property
    def cameras(self) -> list[str]:
        """Names of the cameras whose pictures it keeps."""
        return list(self._facts["cameras"])

    @property
    def tasks(self) -> list[str]:
        """All tasks in words."""
        return list(self._facts["tasks"])

    @property
    def units(self) -> dict[str, str]:
        """What joint values in its rows mean, by joint."""
        return dict(self._facts["units"])

    @property
    def lengths(self) -> list[int]:
        """Frames of every episode."""
        return self._facts["lengths"]  # type: ignore[no-any-return]

    def __len__(self) -> int:
        """Episodes."""
        return len(self.lengths)

    def __getitem__(self, index: Any) -> Any:
        if isinstance(index, slice):
            return [Episode(self, i) for i in range(*index.indices(len(self)))]
        return Episode(self, _at(index, len(self)))

    def __iter__(self) -> Iterator[Episode]:
        return (Episode(self, index) for index in range(len(self)))

    def frames(self, cameras: Sequence[str] | None = None) -> Frames:
        """All frames one after the other, as ``torch.utils.data.DataLoader`` takes them."""
        return Frames(self, self.cameras if cameras is None else list(cameras))

    def verify(self, threads: int = 1) -> dict[str, Any]:
        """Repeats every episode and compares every physics step; the report."""
        return _citrange.replay(self.root, None, True, None, threads)

    def __reduce__(self) -> tuple[Any, tuple[str]]:
        return (Dataset, (self.root,))

    def __repr__(self) -> str:
        return f"<dataset {self.root}: {len(self)} episodes, {sum(self.lengths)} frames>"


class Frames(Sequence[dict[str, Any]]):
    """A map-style dataset of frames: rows and pictures as numpy arrays.

    It can be given to workers of any kind: each opens the files by itself.
    """

    def __init__(self, dataset: Dataset, cameras: list[str]) -> None:
        self.dataset, self.cameras = dataset, cameras
        self._ends = np.cumsum(dataset.lengths).tolist()
        self._episode: Episode | None = None

    def __len__(self) -> int:
        return self._ends[-1] if self._ends else 0

    def __getitem__(self, index: Any) -> Any:
        index = _at(index, len(self))
        number = bisect.bisect_right(self._ends, index)
        frame = index - (self._ends[number - 1] if number else 0)
        if self._episode is None or self._episode.index != number:
            self._episode = Episode(self.dataset, number)
        item = {
            name: column[frame]
            for name, column in self._episode.rows.items()
            if isinstance(column, np.ndarray)
        }
        for camera in self.cameras:
            item[f"observation.images.{camera}"] = self._episode.picture(camera, frame)
        return item

    def __getstate__(self) -> dict[str, Any]:
        return {**self.__dict__, "_episode": None}


def _at(index: int, length: int) -> int:
    """An index as lists take it."""
    index = index.__index__()
    if not -length <= index < length:
        raise IndexError(f"{index}: there are {length}, numbered from 0")
    return index % length
