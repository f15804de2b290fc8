"""Records a task with the real robosuite, driven by a simple script, and gathers it as its own
tools do: robosuite_real.py ENVIRONMENT FOLDER"""

import contextlib
import json
import os
import sys
import tempfile

import numpy as np
import robosuite
from robosuite.controllers import load_composite_controller_config
from robosuite.scripts.collect_human_demonstrations import gather_demonstrations_as_hdf5
from robosuite.wrappers import DataCollectionWrapper

OPEN, CLOSED = -1.0, 1.0


def record(name, folder):
    """Writes FOLDER/demo.hdf5; answers the places of the objects at the end."""
    config = {
        "env_name": name,
        "robots": "Panda",
        "controller_configs": load_composite_controller_config(controller="BASIC", robot="Panda"),
    }
    plain = robosuite.make(
        **config,
        has_renderer=False,
        has_offscreen_renderer=False,
        use_camera_obs=False,
        ignore_done=True,
        control_freq=20,
        seed=3,
    )
    raw = tempfile.mkdtemp(dir=folder)
    env = DataCollectionWrapper(plain, raw)
    seen = env.reset()

    def step(goal, grip):
        nonlocal seen
        away = goal - seen["robot0_eef_pos"]
        seen, *_ = env.step(np.concatenate([np.clip(away * 10, -1, 1), np.zeros(3), [grip]]))
        return np.linalg.norm(away)

    def go(goal, grip, most=120):
        for _ in range(most):
            if step(goal, grip) < 0.008:
                break

    def wait(grip, steps):
        here = seen["robot0_eef_pos"].copy()
        for _ in range(steps):
            step(here, grip)

    thing = "cubeA_pos" if name == "Stack" else "cube_pos"
    up = np.array([0, 0, 0.12])
    go(seen[thing] + up, OPEN)
    go(seen[thing].copy(), OPEN)
    wait(CLOSED, 12)
    go(seen[thing] + up, CLOSED)
    if name == "Stack":
        held = seen["robot0_eef_pos"] - seen["cubeA_pos"]
        go(seen["cubeB_pos"] + [0, 0, 0.12] + held, CLOSED)
        go(seen["cubeB_pos"] + [0, 0, 0.048] + held, CLOSED)
        wait(OPEN, 12)
        go(seen["robot0_eef_pos"] + up, OPEN, 40)
    places = {key: value.tolist() for key, value in seen.items() if key.startswith("cube") and key.endswith("_pos")}
    env.close()
    gather_demonstrations_as_hdf5(raw, str(folder), json.dumps(config))
    return places


if __name__ == "__main__":
    np.random.seed(3)
    # robosuite talks on stdout.
    with open(os.devnull, "w") as nothing, contextlib.redirect_stdout(nothing):
        places = record(sys.argv[1], sys.argv[2])
    print(json.dumps(places))
