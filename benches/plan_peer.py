"""OMPL's RRT-Connect on our problems: in C++ with `plan_ompl.cpp`, in Python with numba.

The checkers are the best that we could write for it: they stop at the first contact, ask a ball
round each link before its balls, and look voxels up in a dense grid. Both judge motions every
1/32 rad, as is usual; RRTConnect keeps its defaults.

    python plan_peer.py PROBLEMS.json BODY.json OBSTACLES SEED TIMEOUT_S     (the Python side)
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


# --- the Python side --------------------------------------------------------------------------


def matrix(quat_wxyz):
    w, x, y, z = np.array(quat_wxyz) / np.linalg.norm(quat_wxyz)
    return np.array([
        [1 - 2 * (y * y + z * z), 2 * (x * y - z * w), 2 * (x * z + y * w)],
        [2 * (x * y + z * w), 1 - 2 * (x * x + z * z), 2 * (y * z - x * w)],
        [2 * (x * z - y * w), 2 * (y * z + x * w), 1 - 2 * (x * x + y * y)],
    ])


def robot_arrays(body):
    """Per link place 3, turn 9, axis 3, the ball round it 4, first and last ball; balls; pairs."""
    rows, balls = [], []
    for place, turn, axis, mine in links_of(body):
        centres = np.array(mine)[:, :3]
        middle = (centres.min(axis=0) + centres.max(axis=0)) / 2
        radius = (np.linalg.norm(centres - middle, axis=1) + np.array(mine)[:, 3]).max()
        first = len(balls)
        balls += mine
        rows.append([*place, *matrix(turn).ravel(), *axis, *middle, radius, first, len(balls)])
    return np.array(rows, float), np.array(balls, float), np.array(body["pairs"])


def world_arrays(problem, kind, grid):
    """Boxes (centre, turn into the box, half), balls, capsules (a, a to b, radius), voxels."""
    solid = problem if kind == "primitives" else {"boxes": [], "spheres": [], "capsules": []}
    boxes = [[*b["center"], *matrix([b["quat_xyzw"][3], *b["quat_xyzw"][:3]]).T.ravel(), *b["half"]]
             for b in solid["boxes"]]
    balls = [[*s["center"], s["radius"]] for s in solid["spheres"]]
    capsules = [[*c["a"], *np.subtract(c["b"], c["a"]), c["radius"]] for c in solid["capsules"]]
    taken = np.zeros(math.prod(grid["count"]) if kind == "voxels" else 0, np.uint8)
    if kind == "voxels":
        runs = problem["voxel_runs"]
        filled = np.repeat(np.arange(len(runs)) % 2, runs)
        taken[:len(filled)] = filled
    return (np.array(boxes, float).reshape(-1, 15), np.array(balls, float).reshape(-1, 4),
            np.array(capsules, float).reshape(-1, 7), taken,
            np.array([grid["size_m"], *grid["lower"], *grid["count"]], float))


@numba.njit
def meets_solids(x, y, z, r, boxes, balls, capsules):
    for b in boxes:
        dx, dy, dz = x - b[0], y - b[1], z - b[2]
        gx = max(abs(b[3] * dx + b[4] * dy + b[5] * dz) - b[12], 0.0)
        gy = max(abs(b[6] * dx + b[7] * dy + b[8] * dz) - b[13], 0.0)
        gz = max(abs(b[9] * dx + b[10] * dy + b[11] * dz) - b[14], 0.0)
        if gx * gx + gy * gy + gz * gz <= r * r:
            return True
    for s in balls:
        dx, dy, dz, reach = x - s[0], y - s[1], z - s[2], r + s[3]
        if dx * dx + dy * dy + dz * dz <= reach * reach:
            return True
    for c in capsules:
        dx, dy, dz, reach = x - c[0], y - c[1], z - c[2], r + c[6]
        square = max(c[3] * c[3] + c[4] * c[4] + c[5] * c[5], 1e-12)
        t = min(max((dx * c[3] + dy * c[4] + dz * c[5]) / square, 0.0), 1.0)
        dx, dy, dz = dx - t * c[3], dy - t * c[4], dz - t * c[5]
        if dx * dx + dy * dy + dz * dz <= reach * reach:
            return True
    return False


@numba.njit
def meets_voxels(x, y, z, r, taken, grid):
    size, nx, ny, nz = grid[0], int(grid[4]), int(grid[5]), int(grid[6])
    x, y, z, r = x / size - grid[1], y / size - grid[2], z / size - grid[3], r / size
    for k in range(max(0, math.floor(z - r)), min(nz - 1, math.floor(z + r)) + 1):
        gz = max(k - z, z - k - 1, 0.0)
        for j in range(max(0, math.floor(y - r)), min(ny - 1, math.floor(y + r)) + 1):
            gy = max(j - y, y - j - 1, 0.0)
            for i in range(max(0, math.floor(x - r)), min(nx - 1, math.floor(x + r)) + 1):
                gx = max(i - x, x - i - 1, 0.0)
                if taken[(k * ny + j) * nx + i] and gx * gx + gy * gy + gz * gz <= r * r:
                    return True
    return False


@numba.njit
def is_free(joints, links, own, pairs, boxes, balls, capsules, taken, grid):
    turn, place = np.eye(3), np.zeros(3)
    placed, around = np.empty_like(own), np.empty((len(links), 4))
    for index in range(len(links)):
        link = links[index]
        next_turn = np.empty((3, 3))
        for i in range(3):
            place[i] += turn[i, 0] * link[0] + turn[i, 1] * link[1] + turn[i, 2] * link[2]
            for j in range(3):
                next_turn[i, j] = (turn[i, 0] * link[3 + j] + turn[i, 1] * link[6 + j]
                                   + turn[i, 2] * link[9 + j])
        turn = next_turn
        if index > 0:
            # All axes are y or z: the other two columns turn into each other.
            c, s = math.cos(joints[index - 1]), math.sin(joints[index - 1])
            u, v = (0, 1) if link[14] == 1.0 else (2, 0)
            for i in range(3):
                first, second = turn[i, u], turn[i, v]
                turn[i, u], turn[i, v] = c * first + s * second, c * second - s * first
        for i in range(3):
            around[index, i] = (place[i] + turn[i, 0] * link[15] + turn[i, 1] * link[16]
                                + turn[i, 2] * link[17])
        around[index, 3] = link[18]
        a = around[index]
        # The base stands on something.
        solids = index > 0 and meets_solids(a[0], a[1], a[2], a[3], boxes, balls, capsules)
        voxels = index > 0 and len(taken) > 0
        for ball in range(int(link[19]), int(link[20])):
            p, o = placed[ball], own[ball]
            for i in range(3):
                p[i] = place[i] + turn[i, 0] * o[0] + turn[i, 1] * o[1] + turn[i, 2] * o[2]
            p[3] = o[3]
            if solids and meets_solids(p[0], p[1], p[2], p[3], boxes, balls, capsules):
                return False
            if voxels and meets_voxels(p[0], p[1], p[2], p[3], taken, grid):
                return False
    for pair in pairs:
        first, second = links[pair[0]], links[pair[1]]
        if not near(around[pair[0]], around[pair[1]]):
            continue
        for one in range(int(first[19]), int(first[20])):
            for other in range(int(second[19]), int(second[20])):
                if near(placed[one], placed[other]):
                    return False
    return True


@numba.njit
def near(a, b):
    dx, dy, dz, reach = a[0] - b[0], a[1] - b[1], a[2] - b[2], a[3] + b[3]
    return dx * dx + dy * dy + dz * dz <= reach * reach


def positions(state):
    return state[0], state[1], state[2], state[3], state[4], state[5]


def solve(ob, og, problem, kind, check, timeout_s):
    """One problem, as `plan_ompl` does it; allocation counts."""
    began = time.perf_counter()
    space, bounds = ob.RealVectorStateSpace(6), ob.RealVectorBounds(6)
    bounds.setLow(-math.pi)
    bounds.setHigh(math.pi)
    space.setBounds(bounds)
    setup = og.SimpleSetup(space)
    setup.setStateValidityChecker(check)
    info = setup.getSpaceInformation()
    info.setStateValidityCheckingResolution(STEP_RAD / space.getMaximumExtent())
    setup.setPlanner(og.RRTConnect(info))
    ends = space.allocState(), space.allocState()
    for state, joints in zip(ends, (problem["start"], problem["goal"])):
        for index, joint in enumerate(joints):
            state[index] = joint
    setup.setStartAndGoalStates(*ends)
    found = setup.solve(timeout_s).getStatus() == ob.PlannerStatus.EXACT_SOLUTION
    out = {"name": problem["name"], "cls": problem["cls"], "obstacles": kind,
           "outcome": "found" if found else "no_path",
           "plan_us": 1e6 * (time.perf_counter() - began)}
    if found:
        def told(path):
            return [positions(path.getState(i)) for i in range(path.getStateCount())]

        path = setup.getSolutionPath()
        out |= {"length_raw_rad": path.length(), "waypoints_raw": told(path)}
        began = time.perf_counter()
        setup.simplifySolution()
        out["simplify_us"] = 1e6 * (time.perf_counter() - began)
        path = setup.getSolutionPath()
        out |= {"length_rad": path.length(), "waypoints": told(path)}
    return out


def main():
    # Only here: the C++ side needs the text alone.
    from ompl import base as ob, geometric as og, util as ou

    problems_file, body_file, kind, seed, timeout_s = sys.argv[1:]
    ou.setLogLevel(ou.LOG_ERROR)
    ou.RNG.setSeed(int(seed))
    data = json.load(open(problems_file))
    grid = {"size_m": data["voxel_size"], **data["voxel_runs"]}
    robot = robot_arrays(json.load(open(body_file)))
    for problem in data["problems"]:
        if not problem[f"valid_{kind}"]:
            continue
        world = world_arrays(problem, kind, grid)

        def check(state):
            return is_free(positions(state), *robot, *world)

        check(problem["start"])  # compiles
        print(json.dumps(solve(ob, og, problem, kind, check, float(timeout_s))), flush=True)


if __name__ == "__main__":
    main()
