"""Citrange against the real MuJoCo in Python: same model, same bits, same picture contents."""

import hashlib
import json
import os
import subprocess

import mujoco
import numpy as np
import pytest

CITRANGE = os.environ["CITRANGE_BIN"]
BENCH = os.environ["CITRANGE_BENCH_BIN"]
SCENES = ["block_box", "multi_table_assembly", "orange_plate", "ur5_cell"]


def run(*args):
    return subprocess.run(args, check=True, capture_output=True, text=True).stdout


@pytest.fixture(scope="module")
def exported(tmp_path_factory):
    """Model, start states, commands and our final joint positions of 8 contact-rich episodes."""
    folder = tmp_path_factory.mktemp("export")
    meta = json.loads(run(BENCH, "export", "--dir", str(folder), "--envs", "8", "--steps", "400"))
    model = mujoco.MjModel.from_binary_path(str(folder / "model.mjb"))
    read = lambda name: np.fromfile(folder / f"{name}.f64")
    return meta, model, read


def test_python_reaches_the_same_bits(exported):
    meta, model, read = exported
    envs, steps = meta["envs"], meta["steps"]
    assert meta["mean_contacts"] > 1, "without contacts this says little"
    starts = read("start").reshape(envs, -1)
    commands = read("commands").reshape(envs, steps, model.nu)
    ours = read("final_qpos").reshape(envs, model.nq)
    data = mujoco.MjData(model)
    for env in range(envs):
        mujoco.mj_resetData(model, data)
        mujoco.mj_setState(model, data, starts[env], mujoco.mjtState.mjSTATE_FULLPHYSICS)
        for step in range(steps):
            data.ctrl[:] = commands[env, step]
            mujoco.mj_step(model, data)
        assert data.qpos.tobytes() == ours[env].tobytes(), f"environment {env}"


@pytest.mark.parametrize("scene", SCENES)
def test_the_exported_mjcf_opens_in_python(scene):
    show = json.loads(run(CITRANGE, "scene", "show", scene, "--json"))
    model = mujoco.MjModel.from_xml_string(run(CITRANGE, "scene", "show", scene, "--mjcf"))
    sizes = show["sizes"]
    assert (model.nbody, model.njnt, model.nu) == (sizes["bodies"], sizes["joints"], sizes["actuators"])
    # The engine writes text with six digits.
    assert model.opt.timestep == pytest.approx(1 / show["rates"]["physics_hz"], rel=1e-5)
    for camera in show["cameras"]:
        model.camera(camera)


@pytest.mark.parametrize("scene", SCENES)
def test_the_exported_binary_is_exact_and_has_the_hash(scene, tmp_path):
    show = json.loads(run(CITRANGE, "scene", "show", scene, "--json"))
    file = tmp_path / "model.mjb"
    run(CITRANGE, "scene", "show", scene, "--mjb", str(file))
    assert hashlib.sha256(file.read_bytes()).hexdigest() == show["model_sha256"]
    model = mujoco.MjModel.from_binary_path(str(file))
    assert model.opt.timestep == 1 / show["rates"]["physics_hz"]


@pytest.mark.parametrize("scene", SCENES)
def test_the_start_state_agrees_with_python_kinematics(scene, tmp_path):
    """Joints from our DictState, put into Python's engine, give our body poses."""
    state = json.loads(run(CITRANGE, "scene", "show", scene, "--state", "--episode", "5"))
    file = tmp_path / "model.mjb"
    run(CITRANGE, "scene", "show", scene, "--mjb", str(file))
    model = mujoco.MjModel.from_binary_path(str(file))
    data = mujoco.MjData(model)
    for name, robot in state["robots"].items():
        for joint, value in robot["dof_pos"].items():
            data.joint(f"{name}/{joint}").qpos[0] = value
    for name, thing in state["objects"].items():
        data.joint(name).qpos[:] = thing["pos"] + thing["rot"]
    mujoco.mj_forward(model, data)
    compared = 0
    for name, robot in state["robots"].items():
        for body, numbers in robot["bodies"]:
            np.testing.assert_allclose(data.body(f"{name}/{body}").xpos, numbers[:3], atol=1e-12)
            compared += 1
    assert compared >= 7
