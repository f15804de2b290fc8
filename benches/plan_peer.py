"""OMPL's RRT-Connect on our problems: in C++ with `plan_ompl.cpp`, in Python with numba.

The checkers are the best that we could write for it: they stop at the first contact, ask a ball
round each link before its balls, and look voxels up in a dense grid. Both judge motions every
1/32 rad, as is usual; RRTConnect keeps its defaults.

    python plan_peer.py PROBLEMS.json OBSTACLES SEED TIMEOUT_S     (the Python side)
"""

import json
import math
import sys
import time

import numba
import numpy as np

STEP_RAD = 1 / 32


def links_of(body):
    """Place, turn (w x y z), axis and balls of every link, the base first."""
    def with_balls(link, place, axis):
        balls = [[*b["centre_m"], b["radius_m"]] for b in body["spheres"] if b["link"] == link]
        return place["pos_m"], place["quat_wxyz"], axis, balls

    chain = body["chain"]
    links = [with_balls(0, chain["world_from_base"], [0, 0, 1])]
    for index, joint in enumerate(chain["joints"]):
        links.append(with_balls(index + 1, joint["parent_from_link"], joint["axis"]))
    return links


def as_text(body, problems, kind, grid):
    """The problems as `plan_ompl` reads them: numbers with blanks between."""
    words = []

    def add(*values):
        for value in values:
            if isinstance(value, (list, tuple)):
                add(*value)
            else:
                words.append(str(value))

    links = links_of(body)
    add(len(links))
    for place, turn, axis, balls in links:
        add(place, turn, axis, len(balls), balls)
    add(len(body["pairs"]), body["pairs"])
    for problem in problems:
        add(problem["name"], problem["cls"], kind, problem["start"], problem["goal"])
        solid = problem if kind == "primitives" else {"boxes": [], "spheres": [], "capsules": []}
        add(len(solid["boxes"]))
        for box in solid["boxes"]:
            add(box["center"], box["quat_xyzw"][3], box["quat_xyzw"][:3], box["half"])
        add(len(solid["spheres"]), [[*s["center"], s["radius"]] for s in solid["spheres"]])
        add(len(solid["capsules"]),
            [[*c["a"], *c["b"], c["radius"]] for c in solid["capsules"]])
        runs = problem["voxel_runs"] if kind == "voxels" else []
        add(grid["size_m"], grid["lower"], grid["count"], len(runs), runs)
    return " ".join(words) + "\n"
