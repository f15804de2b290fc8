"""Calls everything of the compiled module with arguments of all kinds; needs SECONDS. Whatever comes
but an exception of the usual kinds is a fault, and an abort ends the process that looks."""

import math
import random
import time

import numpy as np

import citrange
from citrange import _citrange

SEED = 1
rng = random.Random(SEED)
worlds = [_citrange.World("reach", 2, 1), _citrange.World("orange_plate", 1, 1)]
chosen = {
    "robots": None, "hold": "tick", "actions": "deltas", "reward": "dense", "autoreset": "SameStep",
    "max_steps": 3, "ends_when_done": True, "cameras": None, "picture_px": None, "threads": 1,
}
envs = _citrange.Envs("reach", 2, chosen)
snapshot = worlds[0].snapshot(0)
state = worlds[0].get_state(None, "tensor", None, None, "f64")


class Odd:
    def __index__(self):
        raise RuntimeError("odd")

    def __len__(self):
        return -1

    def keys(self):
        return [1, None]


def value(depth=0):
    kinds = [
        lambda: None, lambda: rng.choice([0, 1, 2, 3, -1, 2**31, 2**63, 2**64, 2**70, True]),
        lambda: rng.choice([0.0, 0.5, -1e300, math.nan, math.inf, 1e-320]),
        lambda: rng.choice(["", "reach", "front", "robot0", "tensor", "dict", "f64", "\0", "é" * 50, "contacts"]),
        lambda: rng.choice([b"", b"CITRSNAP", bytes(snapshot), bytes(snapshot)[:60]]),
        lambda: bytes(rng.randrange(256) for _ in range(rng.randrange(80))),
        lambda: np.zeros(rng.choice([(), (0,), (6,), (2, 6), (12,), (2, 13), (3, 3), (2, 2, 3)]),
                         rng.choice(["f8", "f4", "i8", "U3", "O", "c16", "?"])),
        lambda: np.full((2, 6), rng.choice([math.nan, 1e30, 0.1]), "f4")[:, ::rng.choice([1, -1])],
        lambda: Odd(), lambda: snapshot, lambda: worlds[1].snapshot(0), lambda: print, lambda: state,
        lambda: range(10**6), lambda: chosen, lambda: {**chosen, rng.choice(list(chosen)): value(depth + 1)},
    ]
    if depth < 3:
        kinds += [
            lambda: [value(depth + 1) for _ in range(rng.randrange(4))],
            lambda: {rng.choice(["objects", "robots", "robot0", "ball", "joint_pos", "pos", "rot", 3]): value(depth + 1)
                     for _ in range(rng.randrange(4))},
        ]
    return rng.choice(kinds)()


targets = [(thing, name) for thing in [*worlds, envs] for name in dir(thing)
           if not name.startswith("_") and callable(getattr(thing, name))]
targets += [(_citrange.Snapshot, "from_bytes"), (_citrange, "scene_cameras"), (_citrange, "voxels"),
            (_citrange, "plan"), (_citrange, "World"), (_citrange, "Envs"), (_citrange, "Dataset")]
calls = refused = 0
until = time.monotonic() + SECONDS  # noqa: F821
while time.monotonic() < until:
    thing, name = rng.choice(targets)
    arguments = [value() for _ in range(rng.randrange(6))]
    # Only what would take very long is left out.
    if any(isinstance(a, int) and a > 10**4 for a in arguments) and name in ("step", "World", "Envs", "rollout"):
        continue
    calls += 1
    try:
        getattr(thing, name)(*arguments)
    except (citrange.CitrangeError, TypeError, ValueError, OverflowError, RuntimeError, KeyError, AttributeError,
            IndexError, MemoryError) as error:
        refused += 1
        assert "has a bug" not in str(error), (name, arguments, error)
worlds[0].reset(0, [0, 1], None)
worlds[0].step(1)
print(f"{calls} calls, {refused} refused")
