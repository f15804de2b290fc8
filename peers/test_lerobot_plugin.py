"""The real lerobot drives, records, repeats and judges our simulated arm by its own commands; beside
it Stable-Baselines3 learns, because torch is here. The wheel is CITRANGE_WHEEL."""

import os
import pathlib
import re
import shutil
import subprocess
import sys
import sysconfig

import pytest

ROOT = pathlib.Path(__file__).resolve().parent.parent
QUIET = {"HF_HUB_OFFLINE": "1", "OMP_NUM_THREADS": "1", "SVT_LOG": "0"}

# Several commands in one interpreter: a start costs twenty seconds of processor.
SESSION = r'''
import importlib, sys, json
def command(name, *words):
    sys.argv = [f"lerobot-{name}", *words]
    print("COMMAND", name, flush=True)
    importlib.import_module(f"lerobot.scripts.lerobot_{name}").main()
robot = ["--robot.type=citrange_so101", "--robot.scene=orange_plate", "--robot.id=sim", "--robot.width=64",
         "--robot.height=48", "--robot.seed=4", "--robot.lin_speed=0.05"]
command("record", *robot, "--teleop.type=citrange_autopilot", "--teleop.id=auto", "--dataset.repo_id=local/sim",
        "--dataset.root=sim", "--dataset.num_episodes=3", "--dataset.single_task=oranges",
        "--dataset.episode_time_s=2", "--dataset.reset_time_s=0.2", "--dataset.push_to_hub=false",
        "--play_sounds=false", "--dataset.video=false", "--dataset.num_image_writer_threads_per_camera=2")
command("replay", *robot, "--dataset.repo_id=local/sim", "--dataset.root=sim", "--dataset.episode=1",
        "--play_sounds=false")
command("teleoperate", *robot, "--teleop.type=citrange_keys", "--teleop.id=keys", "--teleop.listen=127.0.0.1:0",
        "--fps=30", "--teleop_time_s=1")
import torch
from lerobot.policies.act.configuration_act import ACTConfig
from lerobot.policies.act.modeling_act import ACTPolicy
from lerobot.policies.factory import make_pre_post_processors
from lerobot.datasets.lerobot_dataset import LeRobotDataset
from lerobot.configs.types import FeatureType, PolicyFeature
config = ACTConfig(
    device="cpu", chunk_size=10, n_action_steps=10, dim_model=32, n_heads=2, dim_feedforward=64,
    n_encoder_layers=1, n_vae_encoder_layers=1, pretrained_backbone_weights=None, push_to_hub=False,
    input_features={"observation.state": PolicyFeature(type=FeatureType.STATE, shape=(6,)),
                    "observation.images.front": PolicyFeature(type=FeatureType.VISUAL, shape=(3, 48, 64))},
    output_features={"action": PolicyFeature(type=FeatureType.ACTION, shape=(6,))},
)
policy = ACTPolicy(config)
policy.save_pretrained("policy")
stats = LeRobotDataset("local/sim", root="sim").meta.stats
before, after = make_pre_post_processors(config, dataset_stats=stats)
before.save_pretrained("policy"); after.save_pretrained("policy")
command("eval", "--env.type=citrange", "--env.task=OrangePlate-v0", "--env.width=64", "--env.height=48",
        "--env.episode_length=15", "--policy.path=policy", "--policy.device=cpu", "--eval.n_episodes=3",
        "--eval.batch_size=3", "--eval.use_async_envs=false", "--output_dir=evaluated")
print("DONE")
'''


@pytest.fixture(scope="module")
def fresh(tmp_path_factory):
    """An interpreter of an environment with the wheel and the plug-in, which sees lerobot."""
    folder = tmp_path_factory.mktemp("fresh")
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", folder], check=True)
    python, site = folder / "bin/python", next(folder.glob("lib/python*/site-packages"))
    # As pip would put it there; lerobot looks for distributions by their names.
    name = "lerobot_robot_citrange"
    shutil.copytree(ROOT / "python" / name / name, site / name)
    (site / f"{name}-0.1.0.dist-info").mkdir()
    text = f"Metadata-Version: 2.1\nName: {name}\nVersion: 0.1.0\n"
    (site / f"{name}-0.1.0.dist-info/METADATA").write_text(text)
    # With what lies beside lerobot, and what its own .pth files name.
    folders = [sysconfig.get_path("purelib"), os.environ["CITRANGE_SB3"]]
    (site / "others.pth").write_text("".join(f"import site; site.addsitedir({f!r})\n" for f in folders))
    install = [sys.executable, "-m", "pip", "--python", python, "install", "--quiet", "--no-deps"]
    subprocess.run([*install, "--no-index", os.environ["CITRANGE_WHEEL"]], check=True)
    return python


def run(fresh, folder, code, **more):
    environment = {**os.environ, **QUIET, "HF_HOME": str(folder / "hub"), **more}
    done = subprocess.run([fresh, "-c", code], cwd=folder, env=environment, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout[-2000:] + done.stderr[-4000:]
    return done.stdout + done.stderr


@pytest.fixture(scope="module")
def session(fresh, tmp_path_factory):
    folder = tmp_path_factory.mktemp("session")
    return folder, run(fresh, folder, SESSION)


def test_lerobots_own_commands(session, fresh):
    folder, said = session
    assert said.count("COMMAND") == 4 and "DONE" in said
    assert "token=" in said or "http://" in said, "the page of the keys was opened"
    results = (folder / "evaluated/eval_info.json").read_text()
    assert '"pc_success"' in results
    # What lerobot recorded is a dataset of three episodes in which the arm moved by itself.
    code = (
        "import citrange, numpy as np\n"
        "d = citrange.Dataset('sim')\n"
        "assert len(d) == 3 and all(15 <= n <= 62 for n in d.lengths), d.lengths\n"
        "for e in d:\n"
        "    a, s = e.rows['action'], e.rows['observation.state']\n"
        "    assert np.isfinite(a).all() and np.ptp(a, axis=0).max() > 20, np.ptp(a, axis=0)\n"
        # The servos follow: the state some frames later is where the action was.
        "    assert np.abs(s[6:, :5] - a[:-6, :5]).mean() < 6, np.abs(s[6:, :5] - a[:-6, :5]).mean()\n"
        "print('right')\n"
    )
    assert "right" in run(fresh, folder, code)


def test_the_arm_lives_in_time(fresh, tmp_path):
    """However often it is asked, a second is a second; speeds and positions are told apart."""
    code = r'''
import time, numpy as np
from lerobot_robot_citrange import CitrangeSO101, CitrangeSO101Config
robot = CitrangeSO101(CitrangeSO101Config(id="a", scene="reach", camera_names=[], velocities=True, ee_pos=True))
robot.connect()
assert set(robot.observation_features) == set(robot.get_observation()) and len(robot.get_observation()) == 15
def moved(calls, seconds=0.5):
    robot.arm.reset(0, 0); robot._then, robot._owed = time.perf_counter(), 0.0
    begun = robot.get_observation()["ee.pos_z"]
    until = time.perf_counter() + seconds
    for k in range(calls):
        robot.send_action({"vz": 0.04})
        time.sleep(max(0.0, (until - time.perf_counter()) / (calls - k)))
    return robot.get_observation()["ee.pos_z"] - begun
few, many = moved(5), moved(60)
assert 0.008 < few < 0.03 and abs(few - many) < 0.4 * few, (few, many)
seen = robot.get_observation()
answer = robot.send_action({**{f: seen[f] for f in robot.action_features}, "shoulder_pan.pos": 12.0})
assert answer["shoulder_pan.pos"] == 12.0
for _ in range(40):
    time.sleep(0.02); seen = robot.get_observation()
assert abs(seen["shoulder_pan.pos"] - 12.0) < 1.0 and abs(seen["shoulder_pan.vel"]) < 0.3
for wrong in [{"vx": 0.1, "shoulder_pan.pos": 1.0}, {"vq": 1.0}, {"shoulder_pan.pos": 1.0}, {"vx": float("nan")}, {}]:
    try:
        robot.send_action(wrong)
    except ValueError:
        continue
    raise AssertionError(wrong)
robot.disconnect()
try:
    robot.get_observation()
except ConnectionError:
    print("right")
'''
    assert "right" in run(fresh, tmp_path, code)


def test_stable_baselines_learns(fresh, tmp_path):
    """The recipe of the page; with CITRANGE_PPO_STEPS=102400 to what it says there."""
    page = (ROOT / "docs/python.md").read_text()
    recipe = next(b.split("```")[0] for b in page.split("```python\n") if "stable_baselines3" in b)
    steps = int(os.environ.get("CITRANGE_PPO_STEPS", "8192"))
    code = (
        "import torch; torch.set_num_threads(1)\n"
        "import citrange, gymnasium, numpy as np\n"
        "from stable_baselines3.common.env_checker import check_env\n"
        "check_env(gymnasium.make('citrange/Reach-v0').unwrapped)\n"
        "check_env(gymnasium.make('citrange/OrangePlate-v0', obs='both', size=(64, 48)).unwrapped.__class__"
        "(scene='orange_plate'))\n"
        + recipe.replace("8192", str(steps))
        + "\ndef rate(act, envs=make_vec('citrange/Reach-v0', 50)):\n"
        "    envs.seed(1000); seen = envs.reset(); ended = np.zeros(50, bool); good = 0\n"
        "    while not ended.all():\n"
        "        seen, _, dones, infos = envs.step(act(seen))\n"
        "        for k in np.flatnonzero(dones & ~ended):\n"
        "            ended[k] = True; good += infos[k]['is_success']\n"
        "    return good / 50\n"
        "print('RATE', rate(lambda seen: model.predict(seen, deterministic=True)[0]))\n"
    )
    rate = float(re.search(r"RATE ([\d.]+)", run(fresh, tmp_path, code))[1])
    assert 0 <= rate <= 1 and (steps < 102_400 or rate > 0.25), rate
