"""Whether a path touches anything, judged by another library's geometry.

Kinematics come from a URDF of our own making with the UR5's figures, geometry from coal (the
collision library of Pinocchio), neither from this repository's planner. Every path is looked at
each milliradian of joint space, ends included. The ball of the base is not held against the
obstacles: it stands on something.
"""

import json
import math
import xml.etree.ElementTree as ElementTree
from dataclasses import dataclass
from pathlib import Path

import coal
import numpy as np

HERE = Path(__file__).resolve().parent
PROBLEMS = HERE.parent / "benches" / "plan" / "problems_ur5.json"
BODY = HERE.parent / "benches" / "plan" / "ur5_robotiq.json"
STEP_RAD = 1e-3
FAR_M = 0.05

UR5 = """
<robot name="ur5">
  <joint name="mount"><origin xyz="0 0 0.9144" rpy="0 0 1.57"/></joint>
  <joint name="pan"><origin xyz="0 0 0.089159"/><axis xyz="0 0 1"/></joint>
  <joint name="lift"><origin xyz="0 0.13585 0" rpy="0 1.570796325 0"/><axis xyz="0 1 0"/></joint>
  <joint name="elbow"><origin xyz="0 -0.1197 0.425"/><axis xyz="0 1 0"/></joint>
  <joint name="wrist_1"><origin xyz="0 0 0.39225" rpy="0 1.570796325 0"/><axis xyz="0 1 0"/></joint>
  <joint name="wrist_2"><origin xyz="0 0.093 0"/><axis xyz="0 0 1"/></joint>
  <joint name="wrist_3"><origin xyz="0 0 0.09465"/><axis xyz="0 1 0"/></joint>
</robot>
"""


def turns(axis, angles):
    """Rotation matrices about a unit axis, one per angle (Rodrigues)."""
    x, y, z = axis
    cross = np.array([[0, -z, y], [z, 0, -x], [-y, x, 0]])
    angles = np.asarray(angles)[..., None, None]
    return np.eye(3) + np.sin(angles) * cross + (1 - np.cos(angles)) * (cross @ cross)


def turned_by(quat_xyzw):
    """The rotation matrix of a quaternion of any length."""
    x, y, z, w = np.asarray(quat_xyzw) / np.linalg.norm(quat_xyzw)
    return turns(np.array([x, y, z]) / max(math.hypot(x, y, z), 1e-300),
                 2 * math.atan2(math.hypot(x, y, z), w))


class Robot:
    """A chain of turning joints that carries balls."""

    def __init__(self, body, urdf=UR5):
        def numbers(text):
            return np.array([float(word) for word in text.split()])

        self.joints = []
        for joint in ElementTree.fromstring(urdf):
            origin, axis = joint.find("origin"), joint.find("axis")
            roll, pitch, yaw = numbers(origin.get("rpy", "0 0 0"))
            turn = turns((0, 0, 1), yaw) @ turns((0, 1, 0), pitch) @ turns((1, 0, 0), roll)
            axis = None if axis is None else numbers(axis.get("xyz"))
            self.joints.append((numbers(origin.get("xyz")), turn, axis))
        balls = body["spheres"]
        self.links = body["links"]
        self.link = np.array([ball["link"] for ball in balls])
        self.local_m = np.array([ball["centre_m"] for ball in balls])
        self.radius_m = np.array([ball["radius_m"] for ball in balls])
        apart = [(i, j) for a, b in body["pairs"]
                 for i in np.flatnonzero(self.link == a) for j in np.flatnonzero(self.link == b)]
        self.apart = np.array(apart, int).reshape(-1, 2).T

    def centres_m(self, joints_rad):
        """Where the balls are: configurations x balls x 3."""
        count = len(joints_rad)
        turn, place = np.broadcast_to(np.eye(3), (count, 3, 3)), np.zeros((count, 3))
        centres = np.empty((count, len(self.link), 3))
        moving = iter(range(joints_rad.shape[1]))
        for link, (offset, fixed, axis) in enumerate(self.joints):
            place = place + turn @ offset
            turn = turn @ fixed
            if axis is not None:
                turn = turn @ turns(axis, joints_rad[:, next(moving)])
            mine = self.link == link
            centres[:, mine] = place[:, None] + self.local_m[mine] @ turn.transpose(0, 2, 1)
        return centres

    def own_contact(self, joints_rad):
        """Where links that must not touch do so although their balls may overlap: nothing is known
        of this robot but its balls."""
        return "balls"

    def own_gaps_m(self, centres_m):
        """Smallest gap between balls of links that must not touch, per configuration, and whose."""
        first, second = self.apart
        reach = self.radius_m[first] + self.radius_m[second]
        least, at = np.full(len(centres_m), math.inf), np.zeros(len(centres_m), int)
        if not len(first):
            return least, at
        # In pieces that stay in the cache.
        for start in range(0, len(centres_m), 64):
            piece = slice(start, start + 64)
            apart = centres_m[piece, first] - centres_m[piece, second]
            gaps = np.sqrt(np.einsum("cpi,cpi->cp", apart, apart)) - reach
            at[piece] = gaps.argmin(axis=1)
            least[piece] = gaps.min(axis=1)
        return least, at


class BodyRobot(Robot):
    """Any robot as `citrange plan generate --body` writes it: a tree of joints that turn or slide,
    with balls, and with the shapes that the balls cover."""

    def __init__(self, body):
        self.chain = body["chain"]
        self.arm = self.chain["arm_joints"]
        # Problems say nothing of a gripper: it is swept, and stays where it is closed.
        self.held = [(joint["gripper"] or [0.0])[0] for joint in self.chain["joints"]]
        super().__init__(body, "<robot/>")
        self.shapes = [(shape["link"], shape["link_from_shape"], shape["shape"])
                       for shape in body["shapes"]]
        self.pairs = body["pairs"]

    def frames(self, joints_rad):
        """Turns and places of all links, the base first: configurations x 3 x 3, x 3."""
        count = len(joints_rad)
        base = self.chain["world_from_base"]
        frames = [(np.broadcast_to(turn_of(base), (count, 3, 3)),
                   np.broadcast_to(np.array(base["pos_m"]), (count, 3)))]
        for index, joint in enumerate(self.chain["joints"]):
            parent = joint["parent"]
            turn, place = frames[0 if parent is None else parent + 1]
            fixed = joint["parent_from_link"]
            place = place + turn @ np.array(fixed["pos_m"])
            turn = turn @ turn_of(fixed)
            at = joints_rad[:, index] if index < self.arm else np.full(count, self.held[index])
            at, axis = at - joint["reference"], np.array(joint["axis"])
            if joint["is_slide"]:
                place = place + at[:, None] * (turn @ axis)
            else:
                # About a point of the axis.
                anchor, moved = np.array(joint["anchor_m"]), turns(axis, at)
                place = place + turn @ anchor - np.einsum("cij,cjk,k->ci", turn, moved, anchor)
                turn = turn @ moved
            frames.append((turn, place))
        return frames

    def centres_m(self, joints_rad):
        centres = np.empty((len(joints_rad), len(self.link), 3))
        for link, (turn, place) in enumerate(self.frames(joints_rad)):
            mine = self.link == link
            centres[:, mine] = place[:, None] + self.local_m[mine] @ turn.transpose(0, 2, 1)
        return centres

    def own_contact(self, joints_rad):
        """Two links whose shapes touch there."""
        frames = self.frames(np.array([joints_rad]))
        objects = {}
        for joint, at, shape in self.shapes:
            link = 0 if joint is None else joint + 1
            turn, place = frames[link][0][0], frames[link][1][0]
            place = coal.Transform3s(turn @ turn_of(at), place + turn @ np.array(at["pos_m"]))
            objects.setdefault(link, []).append(coal.CollisionObject(coal_shape(shape), place))
        request, result = coal.DistanceRequest(), coal.DistanceResult()
        for a, b in self.pairs:
            for first in objects.get(a, []):
                for second in objects.get(b, []):
                    result.clear()
                    if coal.distance(first, second, request, result) <= 0:
                        return f"{self.links[a]} and {self.links[b]}"
        return None


def turn_of(pose):
    """The rotation matrix of a pose of a body file."""
    w, x, y, z = pose["quat_wxyz"]
    return turned_by([x, y, z, w])


def coal_shape(shape):
    """A shape of a body file as coal's."""
    (kind, size), = shape.items()
    if kind == "box":
        return coal.Box(*(2 * np.array(size["half_m"])))
    if kind == "sphere":
        return coal.Sphere(size["radius_m"])
    if kind == "capsule":
        return coal.Capsule(size["radius_m"], 2 * size["half_height_m"])
    if kind == "cylinder":
        return coal.Cylinder(size["radius_m"], 2 * size["half_height_m"])
    raise ValueError(f"the judge knows no {kind}")


def voxel_cells(problem, grid):
    """Numbers of the occupied cells; the centre of cell i is (i + 0.5) cells from the origin."""
    runs = np.array(problem["voxel_runs"]).reshape(-1, 2)
    ends = runs.sum(axis=1).cumsum()
    keys = np.concatenate([np.arange(end - run, end) for end, run in zip(ends, runs[:, 1])])
    nx, ny, _ = grid["count"]
    return np.stack([keys % nx, keys // nx % ny, keys // (nx * ny)], axis=1) + grid["lower"]


def voxel_runs(cells, grid):
    """The short form: how many cells are free, how many occupied, and so on, x fastest."""
    x, y, z = (np.array(cells) - grid["lower"]).T
    keys = np.unique((z * grid["count"][1] + y) * grid["count"][0] + x)
    firsts = np.flatnonzero(np.diff(keys, prepend=-2) != 1)
    lengths = np.diff(firsts, append=len(keys))
    gaps = keys[firsts] - np.concatenate([[0], (keys[firsts] + lengths)[:-1]])
    return np.stack([gaps, lengths], axis=1).ravel().tolist()


class Scene:
    """What is in the way, as coal's objects in coal's tree."""

    def __init__(self, problem, kind, grid):
        self.names, self.objects = [], []
        if kind == "voxels":
            cube = coal.Box(*3 * [grid["size_m"]])
            for cell in voxel_cells(problem, grid).tolist():
                self.add(f"voxel {cell}", cube, (np.array(cell) + 0.5) * grid["size_m"])
        else:
            for index, one in enumerate(problem["boxes"]):
                edges = 2 * np.array(one["half"])
                self.add(f"box {index}", coal.Box(*edges), one["center"],
                         turned_by(one["quat_xyzw"]))
            for index, one in enumerate(problem["spheres"]):
                self.add(f"sphere {index}", coal.Sphere(one["radius"]), one["center"])
            for index, one in enumerate(problem["capsules"]):
                self.add_capsule(f"capsule {index}", one)
            for index, one in enumerate(problem.get("cylinders", [])):
                shape = coal.Cylinder(one["radius"], 2 * one["half_height"])
                self.add(f"cylinder {index}", shape, one["center"],
                         turned_by(one["quat_xyzw"]))
        self.tree = coal.DynamicAABBTreeCollisionManager()
        for thing in self.objects:
            self.tree.registerObject(thing)
        self.tree.setup()

    def add(self, name, shape, centre_m, turn=None):
        turn = np.eye(3) if turn is None else turn
        place = coal.Transform3s(turn, np.array(centre_m, float))
        self.names.append(name)
        self.objects.append(coal.CollisionObject(shape, place))

    def add_capsule(self, name, one):
        """Coal's capsules lie along z; any turn that brings z along the line will do."""
        ends = np.array([one["a"], one["b"]], float)
        along = ends[1] - ends[0]
        length_m = np.linalg.norm(along)
        if length_m < 1e-12:
            return self.add(name, coal.Sphere(one["radius"]), ends[0])
        along /= length_m
        side = np.cross(along, np.eye(3)[np.abs(along).argmin()])
        side /= np.linalg.norm(side)
        turn = np.stack([side, np.cross(along, side), along], axis=1)
        self.add(name, coal.Capsule(one["radius"], length_m), ends.mean(axis=0), turn)


@dataclass
class Verdict:
    """What is known of a path. Nothing beyond the first contact is looked at."""

    collision: str | None
    """What touches what."""
    at_rad: list | None
    """Where it does so."""
    clearance_m: float
    """The least gap to an obstacle, below 0 at a contact, at most `FAR_M`."""
    own_clearance_m: float
    """The least gap between links that must not touch (at a contact: the gap there)."""
    configurations: int


def dense(path_rad, step_rad=STEP_RAD):
    """Configurations at most `step_rad` apart, all waypoints among them."""
    path = np.array(path_rad, float)
    pieces = [path[:1]]
    for start, end in zip(path, path[1:]):
        count = max(1, math.ceil(np.linalg.norm(end - start) / step_rad))
        pieces.append(start + (end - start) * (np.arange(1, count + 1) / count)[:, None])
    return np.concatenate(pieces)


class Checker:
    """Judges paths of one robot among one problem's obstacles."""

    def __init__(self, robot, problem, kind, grid):
        self.robot, self.scene = robot, Scene(problem, kind, grid)
        self.checked = np.flatnonzero(robot.link != 0)
        self.spheres = [coal.Sphere(radius) for radius in robot.radius_m[self.checked]]
        self.balls = [coal.CollisionObject(sphere) for sphere in self.spheres]
        self.tree = coal.DynamicAABBTreeCollisionManager()
        for ball in self.balls:
            self.tree.registerObject(ball)
        self.tree.setup()
        self.larger_by_m = 0.0
        self.touch = coal.CollisionCallBackDefault()
        self.touch.data.request.num_max_contacts = 1

    def place(self, centres_m, larger_by_m):
        """Puts the balls there, each larger by that."""
        if larger_by_m != self.larger_by_m:
            self.larger_by_m = larger_by_m
            for sphere, radius_m in zip(self.spheres, self.robot.radius_m[self.checked]):
                sphere.radius = radius_m + larger_by_m
                sphere.computeLocalAABB()
        for ball, centre in zip(self.balls, centres_m[self.checked]):
            ball.setTranslation(centre)
            ball.computeAABB()
        self.tree.update()

    def touches(self):
        """Whether the robot, as placed, touches an obstacle."""
        self.scene.tree.collide(self.tree, self.touch)
        return self.touch.data.result.isCollision()

    def gap_m(self, centres_m, below_m):
        """To the nearest obstacle, at most 10 micrometres too small, where it is known to be above
        0 and below `below_m`. Coal's own distance between two trees misses nearer pairs; its
        collisions do not, so this halves until it is known."""
        low_m, high_m = 0.0, below_m
        while high_m - low_m > 1e-5:
            middle_m = (low_m + high_m) / 2
            self.place(centres_m, middle_m)
            low_m, high_m = (low_m, middle_m) if self.touches() else (middle_m, high_m)
        return low_m

    def deepest(self):
        """The ball and the obstacle that reach into each other most, in words, and their gap."""
        request, result, least = coal.DistanceRequest(), coal.DistanceResult(), (math.inf, 0, "")
        for ball, body in zip(self.checked, self.balls):
            self.scene.tree.collide(body, self.touch)
            if not self.touch.data.result.isCollision():
                continue
            for name, thing in zip(self.scene.names, self.scene.objects):
                result.clear()
                least = min(least, (coal.distance(body, thing, request, result), ball, name))
        gap_m, ball, name = least
        return f"ball {ball} of {self.robot.links[self.robot.link[ball]]} and {name}", gap_m

    def check(self, path_rad, step_rad=STEP_RAD):
        """The first contact of a path, or its least clearance. Positions of a trajectory are a
        path, too."""
        path = dense(path_rad, step_rad)
        centres = self.robot.centres_m(path)
        own_m, whose = self.robot.own_gaps_m(centres)
        # Balls that are larger by the least gap so far touch nothing unless there is a smaller one.
        least_m = FAR_M
        for index, at in enumerate(path):
            if own_m[index] <= 0 and (named := self.robot.own_contact(at)) is not None:
                if named == "balls":
                    first, second = self.robot.link[self.robot.apart[:, whose[index]]]
                    named = f"{self.robot.links[first]} and {self.robot.links[second]}"
                return Verdict(named, at.tolist(), least_m, float(own_m[index]), index + 1)
            self.place(centres[index], least_m)
            if not self.touches():
                continue
            self.place(centres[index], 0.0)
            if self.touches():
                named, gap_m = self.deepest()
                return Verdict(named, at.tolist(), gap_m, float(own_m[index]), index + 1)
            least_m = self.gap_m(centres[index], least_m)
        return Verdict(None, None, least_m, float(own_m.min()), len(path))


def load(path=PROBLEMS, body=BODY):
    """The robot, the problems (voxels in the short form) and the grid of their voxels."""
    data = json.loads(Path(path).read_text())
    problems, grid = data["problems"], {"size_m": data["voxel_size"], **data.get("voxel_runs", {})}
    if "count" not in grid:
        cells = [np.floor(np.array(one.pop("voxels")) / grid["size_m"]).astype(int)
                 for one in problems]
        lower = np.min([one.min(axis=0) for one in cells], axis=0)
        count = np.max([one.max(axis=0) for one in cells], axis=0) + 1 - lower
        grid |= {"lower": lower.tolist(), "count": count.tolist()}
        for problem, mine in zip(problems, cells):
            problem["voxel_runs"] = voxel_runs(mine, grid)
    return Robot(json.loads(Path(body).read_text())), problems, grid


def write_problems(path, problems, grid):
    """Problems as a file that `citrange plan bench` reads."""
    data = {
        "robot": "ur5", "joint_names": ["pan", "lift", "elbow", "wrist_1", "wrist_2", "wrist_3"],
        "joint_limits": [[-math.pi, math.pi]] * 6, "voxel_size": grid["size_m"],
        "voxel_runs": {"lower": grid["lower"], "count": grid["count"]}, "problems": list(problems),
    }
    Path(path).write_text(json.dumps(data))
