"""Recordings of the real robosuite: what is played of them is compared with what they hold."""

import json
import os
import subprocess
import sys
from pathlib import Path

import h5py
import numpy as np
import pytest
import robosuite

BIN = os.environ["CITRANGE_BIN"]
HERE = Path(__file__).parent


@pytest.fixture(scope="module")
def demos(tmp_path_factory):
    """demo.hdf5 of Stack and Lift, made by robosuite's own tools, and where the cubes ended."""
    made = {}
    for name in ["Stack", "Lift"]:
        folder = tmp_path_factory.mktemp(name)
        script = [sys.executable, HERE / "robosuite_real.py", name, folder]
        done = subprocess.run(script, capture_output=True, text=True)
        assert done.returncode == 0, done.stderr
        made[name] = (folder / "demo.hdf5", json.loads(done.stdout.splitlines()[-1]))
    return made


def citrange(*args, code=0):
    done = subprocess.run([BIN, *map(str, args)], capture_output=True, text=True)
    assert done.returncode == code, done.stderr + done.stdout
    return done


def test_cubes_on_the_floor_are_not_a_stack(demos, tmp_path):
    file, _ = demos["Stack"]
    scene = ["--scene", "multi_table_assembly", "--cameras", "none"]
    done = citrange("data", "import", file, *scene, "--out", tmp_path / "set", "--json", code=4)
    assert "NOT THE DEMONSTRATED TASK" in done.stderr
    line = json.loads(done.stdout.splitlines()[0])
    far = [cube["position_m"] for cube in line["objects"]["objects"].values()]
    assert set(line["objects"]["objects"]) == {"cubeA", "cubeB"}
    assert max(far) > 0.5, line
    listed = json.loads(citrange("data", "list", tmp_path / "set", "--json").stdout)
    episode = listed["episodes"][0]
    assert episode["exact"] is False and episode["outcome"]["success"] is False


def test_a_lift_plays_with_what_matches(demos, tmp_path):
    file, _ = demos["Lift"]
    scene = ["--scene", "multi_table_assembly", "--cameras", "none"]
    done = citrange("data", "import", file, *scene, "--out", tmp_path / "set", "--json", code=4)
    assert "scene lacks: cube_joint0" in done.stderr
    line = json.loads(done.stdout.splitlines()[0])
    with h5py.File(file) as f:
        steps = len(f["data/demo_1/states"])
    assert line["frames"] == steps and line["objects"]["not_in_scene"] == ["cube_joint0"]


@pytest.mark.parametrize("name", ["Stack", "Lift"])
def test_the_own_model_plays_by_states(demos, tmp_path, name):
    file, places = demos[name]
    out = tmp_path / "set"
    # Meshes are drawn once: that takes a minute in a debug build.
    cameras = "agentview" if name == "Lift" else "none"
    citrange("data", "import", file, "--own-scene", "--out", out, "--cameras", cameras)
    done = citrange("replay", out, "--verify")
    assert "bitwise equal" in done.stdout
    # Rows are the recorded joints, in degrees and metres.
    citrange("data", "export", out, "--to", "robomimic", "--out", tmp_path / "r.hdf5")
    with h5py.File(file) as was, h5py.File(tmp_path / "r.hdf5") as now:
        was, now = was["data/demo_1/states"][()], now["data/demo_0/states"][()]
        assert was.shape == now.shape
        assert (was[:, 1:] == now[:, 1:]).all(), "every position and velocity of every frame"
        # Where robosuite says that the cubes ended, one step later.
        end = was[-1, 10:13] if name == "Lift" else was[-1, 10:13]
        said = places["cube_pos" if name == "Lift" else "cubeA_pos"]
        assert np.abs(end - said).max() < 0.02


def test_without_its_meshes_the_own_model_is_refused(demos, tmp_path):
    file, _ = demos["Lift"]
    moved = tmp_path / "moved.hdf5"
    moved.write_bytes(file.read_bytes())
    package = robosuite.__path__[0]
    with h5py.File(moved, "r+") as f:
        attrs = f["data/demo_1"].attrs
        attrs["model_file"] = attrs["model_file"].replace(package, "/elsewhere/robosuite")
    done = citrange("replay", moved, "--own-scene", code=3)
    assert "are not here: /elsewhere/robosuite" in done.stderr and "--assets" in done.stderr
    done = citrange("replay", moved, "--own-scene", "--assets", package)
    assert "recorded states" in done.stdout
