"""What a robot file of somebody's can do here: loads, renders, starts valid, is stable, its State
goes round, is driven, planned with, closes its gripper. One row per model, each cell `works` or the
true reason. `python foreign_robots.py PAGE [Menagerie=FOLDER]` tries what the table in docs/robots.md
names and writes its cells anew. A row is `package path/in/it`, and `#body` for one robot of several.
"""

import json
import os
import re
import subprocess
import sys
import tempfile
from pathlib import Path

CITRANGE = os.environ["CITRANGE_BIN"]
COLUMNS = ["loads", "renders", "starts valid", "stable", "State round trip", "drive", "plan", "gripper"]
WORKS = "works"
# A reason in a cell is this long at most.
REASON = 110
TIME_LIMIT_S = 60


class Refused(Exception):
    """What citrange said."""


def citrange(*args, limit_s=TIME_LIMIT_S):
    try:
        done = subprocess.run([CITRANGE, *args], capture_output=True, text=True, timeout=limit_s)
    except subprocess.TimeoutExpired:
        raise Refused(f"no answer in {limit_s} s") from None
    if done.returncode < 0:
        raise Refused(f"CRASH: signal {-done.returncode}")
    if done.returncode != 0:
        said = [line for line in done.stderr.splitlines() if line.startswith("citrange:")]
        raise Refused(said[-1].removeprefix("citrange:").strip() if said else done.stderr[-200:])
    return done.stdout


def short(reason, folder):
    """A reason without the paths of this machine."""
    reason = re.sub(r"(/[^ '\":;,)]+)+/([^/ '\":;,)]+)", r"\2", reason.replace(str(folder), ""))
    reason = re.sub(r"^scene [^:]*: |^model of \w+ \([^)]*\): |; `citrange robot describe.*$", "", reason)
    reason = re.sub(r"^(the )?(cell|tried|robot0)[^:]{0,20}: ", "", reason).replace("|", "/").replace("\n", " ")
    return reason if len(reason) <= REASON else reason[: REASON - 1].rstrip() + "…"


def scene_text(model):
    return f"""
name: tried
title: a robot of somebody's
rates: {{physics_hz: 500, control_hz: 100, frame_hz: 20}}
robots:
  robot0: {{model: "{model}"}}
cameras:
  view: {{pos_m: [1.6, 1.6, 1.2], look_at_m: [0, 0, 0.4], fovy_deg: 50, width_px: 320, height_px: 240}}
"""


class Trial:
    """One model, tried in a folder of its own."""

    def __init__(self, model, folder, root=None, plans=True):
        self.model, self.folder, self.root = Path(model), Path(folder), root
        self.plans = plans
        self.scene = self.folder / "scene.yaml"
        self.described = self.folder / "robot.yaml"
        self.cells = {}
        self.description = None

    def step(self, column, work):
        try:
            self.cells[column] = work() or WORKS
        except Refused as refused:
            self.cells[column] = short(str(refused), self.folder)
        return self.cells[column] == WORKS

    def run(self):
        root = ["--root", self.root] if self.root else []
        why_not = None
        try:
            said = citrange("robot", "describe", str(self.model), "-o", str(self.described), "--json", *root)
            self.description = json.loads(said)["description"]
        except Refused as refused:
            why_not = short(str(refused), self.folder)
        self.scene.write_text(scene_text(self.described if self.description else self.model))
        if not self.step("loads", self.loads):
            self.cells.update({column: "-" for column in COLUMNS[1:]})
            return self.cells
        self.step("renders", self.renders)
        self.step("starts valid", self.starts_valid)
        self.step("stable", self.stable)
        self.step("State round trip", lambda: self.answer("state"))
        if why_not:
            self.cells.update({"drive": why_not, "plan": "-", "gripper": "-"})
            return self.cells
        self.step("drive", lambda: self.answer("drive"))
        if self.plans:
            self.step("plan", self.plan)
        else:
            self.cells["plan"] = "not asked"
        self.step("gripper", lambda: self.answer("gripper"))
        return self.cells

    def loads(self):
        self.shown = json.loads(citrange("scene", "show", str(self.scene), "--json"))

    def renders(self):
        picture = self.folder / "view.png"
        citrange("scene", "render", str(self.scene), "--camera", "view", "-o", str(picture), "--seconds", "0")
        if picture.stat().st_size < 3000:
            return "nothing is seen of it"

    def starts_valid(self):
        report = json.loads(self.sane(0.02))
        deepest = report["deepest_overlap_m"]
        if deepest > 0.003:
            return next((p for p in report["problems"] if "overlap" in p), f"{deepest * 1e3:.1f} mm deep")

    def sane(self, seconds):
        # What is found is told in the report; only no report is a refusal.
        done = subprocess.run(
            [CITRANGE, "sim", str(self.scene), "--seconds", str(seconds), "--json"],
            capture_output=True, text=True, timeout=TIME_LIMIT_S,
        )
        if not done.stdout.startswith("{") or '"error"' in done.stdout[:12]:
            raise Refused(done.stderr.strip().removeprefix("citrange:").strip())
        return done.stdout.splitlines()[0]

    def stable(self):
        report = json.loads(self.sane(1.5))
        if report["problems"]:
            return report["problems"][0]

    def trial(self):
        if not hasattr(self, "tried"):
            self.tried = json.loads(citrange("robot", "try", str(self.scene), "--json"))
        return self.tried

    def answer(self, key):
        said = self.trial()[key]
        return None if said == WORKS else short(said, self.folder)

    def plan(self):
        arm = len(self.description["arm_joints"])
        home = self.description["poses"][self.description["home"]]
        said = None
        for step in [0.25, -0.25, 0.1, -0.1]:
            goal = list(home[:arm])
            for joint in range(min(3, arm)):
                goal[joint] += step
            words = " ".join(f"{number:.5f}" for number in goal)
            try:
                citrange("plan", str(self.scene), f"--goal-joints={words}")
                return None
            except Refused as refused:
                said = said or refused
        raise said


PEERS = Path(os.environ.get("CITRANGE_PEER_ROBOTS", "."))
ROBOSUITE = Path(os.environ.get("CITRANGE_PEER_ROBOSUITE", "."))
FOLDERS = {
    "gym-aloha": PEERS / "gym_aloha/gym_aloha/assets",
    "gym-hil": PEERS / "gym_hil/gym_hil/assets",
    "gymnasium-robotics": PEERS / "gymnasium_robotics/gymnasium_robotics/envs",
    "physicalai": PEERS / "physicalai_so101_plugin/urdf/so101-follower",
    "pybullet": PEERS / "pybullet/pybullet_data",
    "robosuite": next(ROBOSUITE.glob("lib/python3.*/site-packages/robosuite/models/assets"), ROBOSUITE),
}


def row(name, cells):
    return f"| {name} | " + " | ".join(cells[column] for column in COLUMNS) + " |"


def table(page):
    """Name of a row and its cells, for every row of the table."""
    text = page.read_text()
    table = text[text.index("| model | loads") :]
    for line in table.splitlines()[2:]:
        if not line.startswith("| "):
            return
        name, *cells = [cell.strip() for cell in line.strip("|").split(" | ")]
        yield name, dict(zip(COLUMNS, cells))


def trial(name, folder, plans=True):
    package, _, rest = name.partition(" ")
    path, _, root = rest.partition("#")
    return Trial(FOLDERS[package] / path, folder, root or None, plans)


def rewrite(page):
    for name, before in list(table(page)):
        if name.split()[0] not in FOLDERS:
            continue
        with tempfile.TemporaryDirectory() as folder:
            now = row(name, trial(name, folder).run())
        print(now, flush=True)
        text = page.read_text()
        line = next(line for line in text.splitlines() if line.startswith(f"| {name} |"))
        page.write_text(text.replace(line, now))


if __name__ == "__main__":
    for said in sys.argv[2:]:
        package, _, path = said.partition("=")
        FOLDERS[package] = Path(path)
    rewrite(Path(sys.argv[1]))
