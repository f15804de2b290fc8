"""Networks: ours beside the real Stable-Baselines3, torch and onnxruntime, on the same inputs."""

import json
import os
import subprocess
from pathlib import Path

import gymnasium
import numpy as np
import onnxruntime
import pytest
import torch
from stable_baselines3 import PPO

CITRANGE = os.environ["CITRANGE_BIN"]
RUN = os.environ["CITRANGE_RUN_NETWORK"]


class Nothing(gymnasium.Env):
    """An environment that has spaces and nothing else."""

    def __init__(self, observation_space, actions):
        self.observation_space = observation_space
        self.action_space = gymnasium.spaces.Box(-1.0, 1.0, (actions,), np.float32)

    def reset(self, *, seed=None, options=None):
        return self.observation_space.sample(), {}

    def step(self, action):
        return self.observation_space.sample(), 0.0, False, False, {}


def ours(path, rows):
    text = "\n".join(json.dumps([float(x) for x in row]) for row in rows)
    ran = subprocess.run([RUN, str(path)], input=text, capture_output=True, text=True, check=True)
    return np.array([json.loads(line) for line in ran.stdout.splitlines()])


def sizes_58():
    """Keys and sizes of the mapping that comes with Citrange, as its document lists them."""
    text = (Path(__file__).parent.parent / "crates/policy/mappings/ur5_voxels_58.yaml").read_text()
    names = [line.split("name: ")[1].split(",")[0] for line in text.splitlines() if "- {name:" in line]
    size = {"PositionGoal_ur5_1": 4, "joints_angles_ur5_1": 5, "obstacle_distances": 1}
    return {name: size.get(name, 3) for name in names}


@pytest.mark.parametrize("kind", ["dict", "box"])
def test_a_saved_policy_answers_as_its_predict(tmp_path, kind):
    rng = np.random.default_rng(1)
    if kind == "dict":
        sizes = sizes_58()
        assert list(sizes) == sorted(sizes) and sum(sizes.values()) == 58
        spaces = {name: gymnasium.spaces.Box(-50.0, 50.0, (size,), np.float32) for name, size in sizes.items()}
        env = Nothing(gymnasium.spaces.Dict(spaces), 5)
        model = PPO("MultiInputPolicy", env, policy_kwargs={"net_arch": {"pi": [256, 256], "vf": [256, 256]}}, seed=3)
    else:
        sizes = {"observation": 17}
        env = Nothing(gymnasium.spaces.Box(-5.0, 5.0, (17,), np.float32), 3)
        model = PPO("MlpPolicy", env, policy_kwargs={"activation_fn": torch.nn.ReLU, "net_arch": [64, 40]}, seed=3)
    with torch.no_grad():
        # Larger than fresh ones: bounds are met as well.
        model.policy.action_net.weight.mul_(60.0)
    model.save(tmp_path / "model.zip")
    command = [CITRANGE, "policy", "import", "model.zip", "--out", "theirs.policy", "--json"]
    if kind == "dict":
        mapping = Path(__file__).parent.parent / "crates/policy/mappings/ur5_voxels_58.yaml"
        command += ["--mapping", str(mapping)]
    ran = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True)
    assert ran.returncode == 0, ran.stderr
    told = json.loads(ran.stdout)
    assert [name for name, _ in told["inputs"]] == list(sizes)
    rows = rng.uniform(-3, 3, (100, sum(sizes.values()))).astype(np.float32)
    answers = ours(tmp_path / "theirs.policy", rows)
    clipped = 0
    for row, answer in zip(rows, answers):
        if kind == "dict":
            cuts = np.cumsum(list(sizes.values()))[:-1]
            seen = dict(zip(sizes, np.split(row, cuts)))
        else:
            seen = row
        wanted, _ = model.predict(seen, deterministic=True)
        assert np.abs(wanted - answer).max() < 1e-5
        clipped += int((np.abs(wanted) == 1.0).any())
    assert 0 < clipped < 100


def test_what_torch_exports_is_read_and_what_we_export_runs(tmp_path):
    torch.manual_seed(2)
    rng = np.random.default_rng(2)
    net = torch.nn.Sequential(
        torch.nn.Linear(23, 70), torch.nn.Tanh(), torch.nn.Linear(70, 33), torch.nn.ReLU(), torch.nn.Linear(33, 4)
    )
    rows = rng.uniform(-3, 3, (100, 23)).astype(np.float32)
    wanted = net(torch.from_numpy(rows)).detach().numpy()
    try:
        torch.onnx.export(net, (torch.from_numpy(rows[:1]),), str(tmp_path / "net.onnx"), opset_version=17, dynamo=False)
    except ImportError as error:
        pytest.fail(f"torch needs more to export: {error}")
    assert np.abs(ours(tmp_path / "net.onnx", rows) - wanted).max() < 1e-5
    # And ours: a policy that was trained for a moment, in onnxruntime.
    subprocess.run([CITRANGE, "train", "reach", "--steps", "8192", "--out", "reach"], cwd=tmp_path, check=True, capture_output=True)
    subprocess.run([CITRANGE, "policy", "export", "reach", "--out", "reach.onnx"], cwd=tmp_path, check=True, capture_output=True)
    session = onnxruntime.InferenceSession(str(tmp_path / "reach.onnx"), providers=["CPUExecutionProvider"])
    [source] = session.get_inputs()
    assert source.name == "observation"
    rows = rng.uniform(-2, 2, (100, source.shape[1])).astype(np.float32)
    [theirs] = session.run(None, {"observation": rows})
    assert np.abs(ours(tmp_path / "reach.onnx", rows) - theirs).max() < 1e-5
