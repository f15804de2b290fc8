"""Other people's robot files, as their packages ship them, join a scene by `model: path`."""

import json
import os
import subprocess
from pathlib import Path

import numpy as np
import pytest

CITRANGE = os.environ["CITRANGE_BIN"]
ROBOTS = Path(os.environ["CITRANGE_PEER_ROBOTS"])
PANDA = ROBOTS / "gym_hil/gym_hil/assets/panda.xml"
SO101 = ROBOTS / "physicalai_so101_plugin/urdf/so101-follower"
SO101_JOINTS = ["shoulder_pan", "shoulder_lift", "elbow_flex", "wrist_flex", "wrist_roll", "gripper"]


def run(*args):
    return subprocess.run(args, check=True, capture_output=True, text=True).stdout


@pytest.fixture
def scene(tmp_path):
    pose = "{shoulder_pan: 0.3, shoulder_lift: -0.4, elbow_flex: 0.5, wrist_flex: 0.6, wrist_roll: -0.7, gripper: 0.8}"
    file = tmp_path / "peers.yaml"
    file.write_text(f"""
name: peers
title: other people's robots
rates: {{physics_hz: 500, control_hz: 100, frame_hz: 20}}
robots:
  ours: {{model: so101, joints: {pose}}}
  xml: {{model: {SO101}/so101_follower.xml, pos_m: [0, 1, 0.0024], joints: {pose}}}
  urdf: {{model: {SO101}/so101_follower.urdf, pos_m: [0, 2, 0.0024], joints: {pose}}}
  panda: {{model: {PANDA}, pos_m: [1, 0, 0]}}
cameras:
  view: {{pos_m: [3, 1, 1.5], look_at_m: [0, 1, 0.1], fovy_deg: 50}}
""")
    return str(file)


def test_they_load_with_their_joints(scene):
    show = json.loads(run(CITRANGE, "scene", "show", scene, "--json"))
    joints = {robot["name"]: robot["joints"] for robot in show["robots"]}
    assert joints["xml"] == joints["urdf"] == joints["ours"] == SO101_JOINTS
    assert joints["panda"][:7] == [f"joint{i}" for i in range(1, 8)]


def test_our_so101_stands_where_the_makers_own_model_stands(scene):
    state = json.loads(run(CITRANGE, "scene", "show", scene, "--state"))
    poses = {name: dict(robot["bodies"]) for name, robot in state["robots"].items()}
    compared = 0
    for body, ours in poses["ours"].items():
        theirs = poses["xml"].get(body)
        if theirs is None:
            continue
        moved = np.array(theirs[:3]) - [0, 1, 0]
        np.testing.assert_allclose(ours[:3], moved, atol=1e-6, err_msg=body)
        assert abs(np.dot(ours[3:7], theirs[3:7])) == pytest.approx(1, abs=1e-9), body
        compared += 1
    assert compared >= 6, sorted(poses["xml"])


def test_their_meshes_are_drawn(scene, tmp_path):
    picture = tmp_path / "view.png"
    run(CITRANGE, "scene", "render", scene, "--camera", "view", "-o", str(picture), "--seconds", "0")
    assert picture.stat().st_size > 50_000, "a picture full of robots does not pack that small"
