"""What the verbs of the command do: collect, replay, report, plan, merge; and a pilot of one's own.

Each stops well when Ctrl-C is pressed, and releases the interpreter while it works.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from . import _citrange
from .dataset import Dataset

__all__ = ["collect", "merge", "plan", "replay", "report", "run"]

Path = str | os.PathLike[str]
OnEvent = Callable[[dict[str, Any]], object] | None


def _record(
    task: str | None, seed: int, robots: Sequence[str] | None, cameras: Sequence[str] | None,
    depth: Sequence[str], images: Sequence[str], unit: str, start: str | None,
) -> dict[str, Any]:
    return {
        "task": task, "seed": seed, "robots": None if robots is None else list(robots),
        "cameras": None if cameras is None else list(cameras), "depth": list(depth),
        "images": list(images), "unit": unit, "start": start,
    }


def collect(
    scene: str | None, out: Path, *, episodes: int = 1, successes: int | None = None,
    max_episodes: int | None = None, seed: int = 0, first: int | None = None,
    shard: str | None = None, workers: int | None = None, cameras: Sequence[str] | None = None,
    robots: Sequence[str] | None = None, depth: Sequence[str] = (), images: Sequence[str] = (),
    randomise: str | None = None, seconds: float | None = None, autopilot: str | None = None,
    retries: int | None = None, targets: Sequence[str] = (), pose_noise_mm: float | None = None,
    task: str | None = None, unit: str = "degrees", start: str | None = None,
    resume: bool = False, on_event: OnEvent = None,
) -> Dataset:
    """Lets an arm make episodes by itself, many at a time, into a dataset.

    The options are those of ``citrange collect``; ``start`` is its ``--from``
    DATASET:EPISODE:FRAME. ``shard="i/n"`` makes one part of the run, for many machines. ``on_event``
    hears what happens, as with ``--json``.
    """
    wanted = {
        "out": os.fspath(out), "episodes": episodes, "successes": successes,
        "max_episodes": max_episodes, "first": first, "shard": shard, "workers": workers,
        "randomise": randomise, "seconds": seconds, "resume": resume,
    }
    pilot = {
        "autopilot": autopilot, "retries": retries, "targets": list(targets),
        "pose_noise_mm": pose_noise_mm,
    }
    record = _record(task, seed, robots, cameras, depth, images, unit, start)
    _citrange.collect(scene, wanted, record, pilot, on_event)
    return Dataset(out)


def merge(parts: Sequence[Path | Dataset], out: Path) -> Dataset:
    """Puts datasets together; parts of one run in the order of their indices, as one machine would
    have made them, byte for byte."""
    roots = [part.root if isinstance(part, Dataset) else os.fspath(part) for part in parts]
    _citrange.merge(roots, os.fspath(out))
    return Dataset(out)


def replay(
    path: Path, episode: int | None = None, *, verify: bool = False, film: Path | None = None,
    threads: int = 1,
) -> dict[str, Any]:
    """Repeats episodes of a dataset, a tape or an HDF5 file; the report, as ``--json`` has it."""
    film = None if film is None else os.fspath(film)
    return _citrange.replay(os.fspath(path), episode, verify, film, threads)


def report(dataset: Path | Dataset, out: Path | None = None, *, film: bool = False) -> dict[str, Any]:
    """Makes the page of a dataset: success, reasons, times, places, pictures; its numbers."""
    root = dataset.root if isinstance(dataset, Dataset) else os.fspath(dataset)
    return _citrange.report(root, None if out is None else os.fspath(out), film)


def plan(
    scene: str, goal: npt.ArrayLike | Sequence[npt.ArrayLike] | None = None, *,
    goal_joints: str | npt.ArrayLike | None = None, start: str | npt.ArrayLike | None = None,
    gripper: str | None = None, map: Path | None = None, margin_m: float = 0.005,
    tolerance_m: float = 0.0, tolerance_deg: float = 0.0, proceed_anyway: bool = False,
    seed: int = 0, episode_seed: int = 0, episode: int = 0, checks: int | None = None,
    time_ms: int | None = None, speed: float = 1.0, hz: int = 100,
) -> dict[str, Any]:
    """Plans a motion of the scene's first robot that touches nothing.

    ``goal``: x, y, z of the tool in metres, or with roll, pitch, yaw in radians; several, one after
    the other. ``goal_joints``: joints in radians, or the name of a pose. What it answers is the JSON
    of ``citrange plan``: ``plans``, each with its ``trajectory``; ``reason`` says why one was not
    found.

    >>> import citrange
    >>> plan = citrange.plan("ur5_cell", goal=[0.5, 0.2, 0.4])
    >>> plan["reason"] is None and plan["plans"][0]["trajectory"]["duration_s"] > 0.1
    True
    """
    asked = {
        "places": _places(goal), "joints": [] if goal_joints is None else [_words(goal_joints)],
        "start": None if start is None else _words(start), "gripper": gripper,
        "map": None if map is None else os.fspath(map), "margin_m": margin_m,
        "tolerance_m": tolerance_m, "tolerance_rad": float(np.deg2rad(tolerance_deg)),
        "proceed_anyway": proceed_anyway, "seed": seed, "episode_seed": episode_seed,
        "episode": episode, "checks": checks, "time_ms": time_ms, "speed": speed, "hz": hz,
    }
    if not asked["places"] and not asked["joints"]:
        raise ValueError("goal: give goal or goal_joints")
    return _citrange.plan(str(scene), asked)


def _words(numbers: str | npt.ArrayLike) -> str:
    if isinstance(numbers, str):
        return numbers
    return " ".join(repr(float(number)) for number in np.asarray(numbers, float).ravel())


def _places(goal: npt.ArrayLike | Sequence[npt.ArrayLike] | None) -> list[str]:
    if goal is None:
        return []
    if isinstance(goal, str):
        return [goal]
    places = np.atleast_2d(np.asarray(goal, float))
    if places.ndim != 2 or places.shape[1] not in (3, 6):
        raise ValueError(f"goal: shape {places.shape}; 3 or 6 numbers each are needed")
    return [_words(place) for place in places]


def run(
    pilot: Callable[[Mapping[str, Any]], Any], rig: str | None, tape: Path | None = None, *,
    episodes: int = 1, first: int = 0, seed: int = 0, seconds: float | None = None,
    speed: float | None = None, every_tick: bool = False, pictures: bool = False,
    name: str | None = None, cameras: Sequence[str] | None = None,
    robots: Sequence[str] | None = None, depth: Sequence[str] = (), images: Sequence[str] = (),
    task: str | None = None, unit: str = "degrees", start: str | None = None,
    resume: bool = False, on_event: OnEvent = None,
) -> list[dict[str, Any]]:
    """Lets a function fly our loop in a scene (``rig``), recorded into a dataset (``tape``).

    The function is called at every frame (``every_tick``: control tick) with what is seen:
    ``joint_pos``, ``joint_vel``, ``targets``, ``tool_m``, ``objects``, ``pictures``, ``frame``,
    ``tick``, ``time_s``. It answers joint targets (rad, m), ``None`` to hold those in force, or
    whether the task is done (``True``, ``False``), which ends the episode. A method ``reset`` of it
    is called when an episode begins. What it did replays bit for bit, without it.
    """
    flight = {
        "scene": rig, "out": None if tape is None else os.fspath(tape), "resume": resume,
        "first": first, "episodes": episodes, "seconds": seconds, "speed": speed,
        "pictures": pictures, "every_tick": every_tick,
        "name": name or getattr(pilot, "__name__", type(pilot).__name__),
    }
    record = _record(task, seed, robots, cameras, depth, images, unit, start)
    reset = getattr(pilot, "reset", None)
    return _citrange.run(pilot, reset, flight, record, on_event)
