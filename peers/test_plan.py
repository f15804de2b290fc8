"""Our paths, judged by coal and by kinematics that are not ours; and the judge itself."""

import json
import os
import subprocess

import numpy as np
import plan_check
import pytest

CITRANGE = os.environ.get("CITRANGE_BIN", "citrange")
ROBOT, PROBLEMS, GRID = plan_check.load()


def some(kind):
    """The first problem of each class that is free at both ends. The judge needs about a second
    for a path; `benches/run.sh plan` has it judge all of them."""
    kept = {}
    for problem in PROBLEMS:
        if problem[f"valid_{kind}"]:
            kept.setdefault(problem["cls"], problem)
    return list(kept.values())


# --- the judge --------------------------------------------------------------------------------


def gaps_m(problem, kind, centres_m):
    """Plain arithmetic: from each ball to each obstacle, less the ball's radius."""
    centres, radius = centres_m[ROBOT.link != 0], ROBOT.radius_m[ROBOT.link != 0]
    found = []
    if kind == "voxels":
        size = GRID["size_m"]
        cubes = (plan_check.voxel_cells(problem, GRID) + 0.5) * size
        outside = np.abs(centres[:, None] - cubes[None]) - size / 2
        found.append(np.linalg.norm(outside.clip(0), axis=2) + outside.max(axis=2).clip(None, 0))
    else:
        for box in problem["boxes"]:
            x, y, z, w = np.array(box["quat_xyzw"]) / np.linalg.norm(box["quat_xyzw"])
            turn = np.array([
                [1 - 2 * (y * y + z * z), 2 * (x * y - z * w), 2 * (x * z + y * w)],
                [2 * (x * y + z * w), 1 - 2 * (x * x + z * z), 2 * (y * z - x * w)],
                [2 * (x * z - y * w), 2 * (y * z + x * w), 1 - 2 * (x * x + y * y)],
            ])
            outside = np.abs((centres - box["center"]) @ turn) - box["half"]
            gap = np.linalg.norm(outside.clip(0), axis=1) + outside.max(axis=1).clip(None, 0)
            found.append(gap[:, None])
        for ball in problem["spheres"]:
            gap = np.linalg.norm(centres - ball["center"], axis=1) - ball["radius"]
            found.append(gap[:, None])
        for capsule in problem["capsules"]:
            a, along = np.array(capsule["a"]), np.subtract(capsule["b"], capsule["a"])
            at = ((centres - a) @ along / (along @ along)).clip(0, 1)
            gap = np.linalg.norm(centres - a - at[:, None] * along, axis=1) - capsule["radius"]
            found.append(gap[:, None])
    return np.concatenate(found, axis=1) - radius[:, None]


@pytest.mark.parametrize("kind", ["primitives", "voxels"])
def test_the_judge_agrees_with_plain_arithmetic(kind):
    """On configurations of all kinds: far, near, and touching in one place or in many."""
    random = np.random.default_rng(7)
    free = touching = 0
    for problem in some(kind)[::2]:
        checker = plan_check.Checker(ROBOT, problem, kind, GRID)
        for joints in random.uniform(-np.pi, np.pi, (40, 6)):
            centres = ROBOT.centres_m(joints[None])
            own = ROBOT.own_gaps_m(centres)[0][0]
            verdict = checker.check([joints])
            if own <= 0:
                assert verdict.collision is not None
                continue
            gap = gaps_m(problem, kind, centres[0]).min()
            assert (verdict.collision is None) == (gap > 0), (problem["name"], joints, verdict)
            assert verdict.clearance_m == pytest.approx(min(gap, plan_check.FAR_M), abs=1.1e-5)
            free, touching = free + (gap > 0), touching + (gap <= 0)
    assert min(free, touching) > 10


def test_the_judge_knows_which_ends_are_free():
    """As the planner whose problems they were found."""
    for problem in PROBLEMS:
        for kind in ("primitives", "voxels"):
            checker = plan_check.Checker(ROBOT, problem, kind, GRID)
            ends = [checker.check([problem[end]]) for end in ("start", "goal")]
            free = all(end.collision is None for end in ends)
            assert free == problem[f"valid_{kind}"], (problem["name"], kind, ends)


def test_the_kinematics_are_those_of_the_body():
    """The chain of the body file, which our planner reads, beside the URDF of the judge."""
    body = json.loads(plan_check.BODY.read_text())
    chain, random = body["chain"], np.random.default_rng(3)
    for joints in random.uniform(-np.pi, np.pi, (20, 6)):
        places = [(chain["world_from_base"], None, 0.0)]
        places += [(joint["parent_from_link"], joint["axis"], angle)
                   for joint, angle in zip(chain["joints"], joints)]
        turn, origin, want = np.eye(3), np.zeros(3), {}
        for link, (place, axis, angle) in enumerate(places):
            w, x, y, z = place["quat_wxyz"]
            origin = origin + turn @ place["pos_m"]
            turn = turn @ plan_check.turned_by([x, y, z, w])
            if axis is not None:
                turn = turn @ plan_check.turns(np.array(axis), angle)
            want[link] = turn, origin
        centres = ROBOT.centres_m(joints[None])[0]
        for ball, centre in zip(body["spheres"], centres):
            turn, origin = want[ball["link"]]
            assert np.abs(origin + turn @ ball["centre_m"] - centre).max() < 1e-8


TIP = 31
PASSING = np.array([0.3, -1.4, 0.9, -1.2, -1.5, 0.2])
EMPTY = {"boxes": [], "spheres": [], "capsules": []}


def planted(away, gap_m, shape):
    """An obstacle in direction `away` from a finger's tip in `PASSING`, that far from it."""
    away = away / np.linalg.norm(away)
    # Where its surface is nearest to the tip.
    near = ROBOT.centres_m(PASSING[None])[0][TIP] + away * (ROBOT.radius_m[TIP] + gap_m)
    if shape == "sphere":
        return EMPTY | {"spheres": [{"center": (near + 0.03 * away).tolist(), "radius": 0.03}]}
    side = np.cross(away, [0.3, 0.5, 0.8])
    side /= np.linalg.norm(side)
    if shape == "capsule":
        middle = near + 0.02 * away
        ends = {"a": (middle - 0.05 * side).tolist(), "b": (middle + 0.05 * side).tolist()}
        return EMPTY | {"capsules": [ends | {"radius": 0.02}]}
    # A box whose face of z looks at the tip: z turned to `away` about the axis between them.
    x, y, z = np.cross([0, 0, 1], away)
    turn = np.array([x, y, z, 1 + away[2]])
    box = {"center": (near + 0.02 * away).tolist(), "half": [0.03, 0.01, 0.02],
           "quat_xyzw": (turn / np.linalg.norm(turn)).tolist()}
    return EMPTY | {"boxes": [box]}


@pytest.mark.parametrize("shape", ["box", "sphere", "capsule"])
def test_the_judge_sees_a_touch_of_a_tenth_of_a_millimetre(shape):
    """Of an obstacle beyond the finger's tip: the only part of the arm that is near it."""
    centres = ROBOT.centres_m(PASSING[None])[0]
    away = centres[TIP] - centres[TIP + 1]
    swing = np.array([0.2, 0, 0, 0, 0, 0])
    way = [PASSING - swing, PASSING + swing]
    clear = plan_check.Checker(ROBOT, planted(away, 1e-4, shape), "primitives", GRID)
    verdict = clear.check([PASSING])
    assert verdict.collision is None and verdict.clearance_m == pytest.approx(1e-4, abs=1e-5)
    touched = plan_check.Checker(ROBOT, planted(away, -1e-4, shape), "primitives", GRID)
    verdict = touched.check([PASSING])
    assert verdict.collision == f"ball {TIP} of wrist_3_link and {shape} 0"
    assert verdict.clearance_m == pytest.approx(-1e-4, abs=1e-6)
    # Free at both ends, and the touch is on the way.
    assert all(touched.check([end]).collision is None for end in way)
    verdict = touched.check(way)
    assert verdict.collision is not None and verdict.at_rad != list(way[1])


def test_the_judge_sees_a_voxel_in_the_way_and_the_arm_in_its_own():
    swing = np.array([0.3, 0, 0, 0, 0, 0])
    tip = ROBOT.centres_m(PASSING[None])[0][TIP]
    cell = np.floor(tip / GRID["size_m"]).astype(int)
    problem = {"voxel_runs": plan_check.voxel_runs([cell], GRID)}
    assert plan_check.voxel_cells(problem, GRID).tolist() == [cell.tolist()]
    judge = plan_check.Checker(ROBOT, problem, "voxels", GRID)
    assert "voxel" in judge.check([PASSING - swing, PASSING + swing]).collision
    # The elbow closes, and nothing else is there.
    judge = plan_check.Checker(ROBOT, EMPTY, "primitives", GRID)
    verdict = judge.check([PASSING, PASSING + [0, 0, 2.1, 0, 0, 0]])
    assert verdict.collision.startswith("upper_arm_link and wrist"), verdict


def test_the_judge_sees_every_touch_of_a_long_way():
    """Straight from start to goal, configuration by configuration, beside plain arithmetic."""
    for kind in ("primitives", "voxels"):
        for problem in some(kind)[::3]:
            way = [problem["start"], problem["goal"]]
            dense = plan_check.dense(way, 0.05)
            centres = ROBOT.centres_m(dense)
            gaps = np.array([gaps_m(problem, kind, at).min() for at in centres])
            gaps = np.minimum(gaps, ROBOT.own_gaps_m(centres)[0])
            verdict = plan_check.Checker(ROBOT, problem, kind, GRID).check(way, 0.05)
            touching = np.flatnonzero(gaps <= 0)
            want = touching[0] + 1 if len(touching) else len(dense)
            assert verdict.configurations == want, (problem["name"], kind, verdict)
            assert (verdict.collision is not None) == (len(touching) > 0)


# --- our paths --------------------------------------------------------------------------------


@pytest.fixture(scope="module", params=["primitives", "voxels"])
def answers(request, tmp_path_factory):
    """What `citrange plan bench` says of the problems of one kind."""
    kind = request.param
    asked = tmp_path_factory.mktemp("plan") / "problems.json"
    plan_check.write_problems(asked, some(kind), GRID)
    done = subprocess.run(
        [CITRANGE, "plan", "bench", asked, "--body", plan_check.BODY, "--obstacles", kind,
         "--json", "--repeat", "1", "--seed", "1"],
        capture_output=True, text=True, timeout=120,
    )
    assert done.returncode == 0, done.stderr
    rows = [json.loads(line) for line in done.stdout.splitlines()]
    return kind, {row["name"]: row for row in rows if "summary" not in row}


def test_every_path_of_ours_is_free_and_ends_right(answers):
    kind, rows = answers
    problems = some(kind)
    assert rows.keys() == {problem["name"] for problem in problems}
    for problem in problems:
        row = rows[problem["name"]]
        assert row["outcome"] == "found", (problem["name"], row)
        checker = plan_check.Checker(ROBOT, problem, kind, GRID)
        for which in ("waypoints_raw", "waypoints"):
            path = np.array(row[which])
            # The planner keeps single precision.
            assert np.abs(path[0] - problem["start"]).max() < 1e-6, problem["name"]
            assert np.abs(path[-1] - problem["goal"]).max() < 1e-6, problem["name"]
            assert np.abs(path).max() <= np.pi + 1e-6, problem["name"]
            verdict = checker.check(path)
            assert verdict.collision is None, (problem["name"], which, verdict)
        raw, short = (np.linalg.norm(np.diff(np.array(row[which]), axis=0), axis=1).sum()
                      for which in ("waypoints_raw", "waypoints"))
        assert row["length_raw_rad"] == pytest.approx(raw, rel=1e-4)
        assert row["length_rad"] == pytest.approx(short, rel=1e-4)
        assert short <= raw * (1 + 1e-6), problem["name"]


# --- problems of our own making, for any robot --------------------------------------------------

# So many of each family and robot; 50 are the full measure (some hours).
EACH = int(os.environ.get("CITRANGE_PLAN_PROBLEMS", "1"))
SEED = os.environ.get("CITRANGE_PLAN_SEED", "1")
FAMILIES = {"table", "shelf", "cage", "box", "bars", "clutter"}


@pytest.fixture(scope="module", params=["ur5", "panda", "so101"])
def made(request, tmp_path_factory):
    """Problems for a robot, the robot as the judge sees it, and our answers."""
    folder = tmp_path_factory.mktemp(request.param)
    asked, body = folder / "problems.json", folder / "body.json"

    def citrange(*words):
        done = subprocess.run([CITRANGE, "plan", *words], capture_output=True, text=True)
        assert done.returncode == 0, done.stderr
        return done.stdout

    citrange("generate", request.param, "-o", asked, "--body", body, "--each", str(EACH),
             "--seed", SEED)
    rows = [json.loads(line) for line in citrange(
        "bench", asked, "--json", "--repeat", "1").splitlines()]
    robot = plan_check.BodyRobot(json.loads(body.read_text()))
    problems = json.loads(asked.read_text())["problems"]
    assert {one["cls"] for one in problems} == FAMILIES
    assert any(one["cylinders"] for one in problems)
    return robot, problems, {row["name"]: row for row in rows if "summary" not in row}


def test_made_problems_are_free_at_both_ends(made):
    robot, problems, _ = made
    for problem in problems:
        checker = plan_check.Checker(robot, problem, "primitives", None)
        for end in ("start", "goal"):
            verdict = checker.check([problem[end]])
            assert verdict.collision is None, (problem["name"], end, verdict)


def test_paths_among_made_problems_touch_nothing(made):
    robot, problems, rows = made
    for problem in problems:
        row = rows[problem["name"]]
        if row["outcome"] != "found":
            assert problem["solvable"] is False, row
            assert not others_solve(robot, problem), problem["name"]
            continue
        path = np.array(row["waypoints"])
        assert np.abs(path[0] - problem["start"]).max() < 1e-6, problem["name"]
        assert np.abs(path[-1] - problem["goal"]).max() < 1e-6, problem["name"]
        length = np.linalg.norm(np.diff(path, axis=0), axis=1).sum()
        assert row["length_rad"] == pytest.approx(length, rel=1e-4)
        assert row["length_rad"] <= row["length_simplified_rad"] * (1 + 1e-6)
        checker = plan_check.Checker(robot, problem, "primitives", None)
        verdict = checker.check(path, 2e-3)
        assert verdict.collision is None, (problem["name"], verdict)


def others_solve(robot, problem):
    """Whether OMPL finds a path in a minute where ours found none."""
    from ompl import base as ob, geometric as og

    chain = robot.chain["joints"][:robot.arm]
    space, bounds = ob.RealVectorStateSpace(robot.arm), ob.RealVectorBounds(robot.arm)
    for index, joint in enumerate(chain):
        low, high = joint["range"] or (-np.pi, np.pi)
        bounds.setLow(index, max(low, -np.pi))
        bounds.setHigh(index, min(high, np.pi))
    space.setBounds(bounds)
    checker, setup = plan_check.Checker(robot, problem, "primitives", None), og.SimpleSetup(space)

    def free(state):
        at = np.array([state[index] for index in range(robot.arm)])
        return checker.check([at]).collision is None

    setup.setStateValidityChecker(free)
    info = setup.getSpaceInformation()
    info.setStateValidityCheckingResolution((1 / 32) / space.getMaximumExtent())
    setup.setPlanner(og.RRTConnect(info))
    ends = space.allocState(), space.allocState()
    for state, joints in zip(ends, (problem["start"], problem["goal"])):
        for index, joint in enumerate(joints):
            state[index] = joint
    setup.setStartAndGoalStates(*ends)
    return setup.solve(60.0).getStatus() == ob.PlannerStatus.EXACT_SOLUTION
