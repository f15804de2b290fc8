"""The two arms of gym-aloha, out of one file: collected, replayed bitwise, planned, exported, imported."""

import json
import os
import subprocess
from pathlib import Path

CITRANGE = os.environ["CITRANGE_BIN"]
ALOHA = Path(os.environ["CITRANGE_PEER_ROBOTS"]) / "gym_aloha/gym_aloha/assets/bimanual_viperx_transfer_cube.xml"
ARMS = {"robot0": "vx300s_left", "robot1": "vx300s_right"}


def run(*args):
    done = subprocess.run([CITRANGE, *map(str, args)], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_two_arms_of_one_file(tmp_path):
    for robot, root in ARMS.items():
        run("robot", "describe", ALOHA, "--root", root, "-o", tmp_path / f"{robot}.yaml")
    scene = tmp_path / "scene.yaml"
    scene.write_text("""
name: two_arms
title: two arms of one file
rates: {physics_hz: 500, control_hz: 50, frame_hz: 25}
robots:
  robot0: {model: robot0.yaml, servo: strong}
  robot1: {model: robot1.yaml, servo: strong}
cameras:
  front: {pos_m: [0, -0.4, 0.8], look_at_m: [0, 0.5, 0.1], fovy_deg: 60, width_px: 96, height_px: 64}
""")
    # The model's own gains do not overcome its own friction; `strong` does.
    tried = json.loads(run("robot", "try", scene, "--json"))
    assert tried == {"state": "works", "drive": "works", "gripper": "works"}, tried

    both = tmp_path / "both"
    run("collect", scene, "--episodes", 1, "--cameras", "front", "--out", both)
    run("replay", both, "--verify")
    features = json.loads((both / "meta/info.json").read_text())["features"]
    assert len(features["action"]["names"]) == 16
    assert [name[:7] for name in features["action"]["names"]] == ["robot0_"] * 8 + ["robot1_"] * 8

    # One of them alone, by its name.
    right = tmp_path / "right"
    run("collect", scene, "--robots", "robot1", "--episodes", 1, "--cameras", "none", "--out", right)
    run("replay", right, "--verify")
    path = json.loads(run("plan", scene, "--goal-joints=0.1 -0.8 1.0 0.1 -0.2 0.1", "--json"))
    assert "valid" in json.dumps(path) or path, path

    # Out and in again.
    run("data", "export", both, "--to", "lerobot", "--out", tmp_path / "out")
    run("data", "check", both)
