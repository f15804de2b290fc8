"""The Python package: out of a wheel, in an environment that nothing of Rust is in.

CITRANGE_WHEEL names the wheel. Everything here runs in one interpreter of a fresh environment that
sees numpy, gymnasium and MuJoCo's package of this one, and a few children of it.
"""

import os
import pathlib
import shutil
import subprocess
import sys
import sysconfig

import pytest

ROOT = pathlib.Path(__file__).resolve().parent.parent
PAGE = ROOT / "docs/python.md"


@pytest.fixture(scope="session")
def fresh(tmp_path_factory):
    """An interpreter of an environment with the wheel."""
    folder = tmp_path_factory.mktemp("fresh")
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", folder], check=True)
    python = folder / "bin/python"
    site = next(folder.glob("lib/python*/site-packages"))
    install = [sys.executable, "-m", "pip", "--python", python, "install", "--quiet", "--no-deps"]
    subprocess.run([*install, "--no-index", os.environ["CITRANGE_WHEEL"]], check=True)
    (site / "others.pth").write_text(sysconfig.get_path("purelib") + "\n")
    return python


def run(fresh, code, folder=None, **more):
    """Runs a program in the fresh environment, far from the repository."""
    env = {"HOME": os.environ["HOME"], "PATH": "/usr/bin:/bin"}
    done = subprocess.run(
        [fresh, "-c", code], cwd=folder or "/", env=env, capture_output=True, text=True, timeout=300, **more
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def test_wheel_and_import(fresh, tmp_path):
    said = run(fresh, "import citrange; print(citrange.__version__, citrange.__file__)")
    assert "site-packages" in said and str(ROOT) not in said
    # What users import, without what they do not use; the whole of it is measured with -X.
    took = run(
        fresh,
        "import resource, sys\nimport numpy\n"
        "cpu = lambda: sum(resource.getrusage(resource.RUSAGE_SELF)[:2])\n"
        "t = cpu(); import citrange; print(cpu() - t)\n"
        "assert 'gymnasium' not in sys.modules and 'mujoco' not in sys.modules",
    )
    assert float(took) < 0.5, took
    # The engine is the one in MuJoCo's package.
    said = run(fresh, "import citrange, os; print(os.environ['CITRANGE_MUJOCO'])")
    assert "site-packages/mujoco/libmujoco.so" in said


def test_the_command_is_the_command(fresh, tmp_path):
    command = fresh.parent / "citrange"
    ours = subprocess.run([command, "scene", "list"], capture_output=True, text=True)
    built = subprocess.run([os.environ["CITRANGE_BIN"], "scene", "list"], capture_output=True, text=True)
    assert ours.returncode == 0 and ours.stdout == built.stdout
    wrong = subprocess.run([command, "scene", "show", "orange"], capture_output=True, text=True)
    assert wrong.returncode == 3 and "did you mean" in wrong.stderr
    demo = subprocess.run([command, "demo", "--out", tmp_path / "demo"], capture_output=True, text=True)
    usage = subprocess.run([command, "nonsense"], capture_output=True, text=True)
    assert usage.returncode == 2 and demo.returncode in (0, 2), demo.stderr


def test_types(tmp_path):
    done = subprocess.run(
        [sys.executable, "-m", "mypy", "--config-file", "pyproject.toml",
         "--cache-dir", tmp_path / "cache", "-p", "citrange"],
        cwd=ROOT / "python", capture_output=True, text=True,
    )
    assert done.returncode == 0, done.stdout


def test_stubs_name_what_there_is(fresh):
    """Every name of the stub is in the module, and every name of the module in the stub."""
    import ast

    tree = ast.parse((ROOT / "python/citrange/_citrange.pyi").read_text())
    said = {}
    for node in tree.body:
        if isinstance(node, ast.ClassDef):
            said[node.name] = {f.name for f in node.body if isinstance(f, ast.FunctionDef)}
        elif isinstance(node, ast.FunctionDef):
            said[node.name] = None
    code = (
        "from citrange import _citrange as m; import json\n"
        "print(json.dumps({n: sorted(vars(getattr(m, n))) if isinstance(getattr(m, n), type) else None"
        " for n in dir(m) if not n.startswith('__') and n != 'ENGINE_VERSION'}))"
    )
    import json

    real = json.loads(run(fresh, code))
    assert real.keys() == said.keys()
    for name, methods in real.items():
        if methods is not None:
            public = {m for m in methods if not m.startswith("__")}
            assert public == {m for m in said[name] if not m.startswith("__")}, name


def test_docstrings_run(fresh):
    modules = [f"citrange.{p.stem}" for p in (ROOT / "python/citrange").glob("*.py")
               if p.stem not in ("__init__", "__main__", "_command", "ray", "rsl_rl", "sb3")]
    code = (
        "import doctest, importlib, sys\n"
        "bad = tried = 0\n"
        f"for name in {['citrange', *modules]!r}:\n"
        "    found = doctest.testmod(importlib.import_module(name), extraglobs={'citrange': __import__('citrange')})\n"
        "    bad, tried = bad + found.failed, tried + found.attempted\n"
        "print(tried); sys.exit(bad)"
    )
    assert int(run(fresh, code).split()[-1]) > 20


STATES = r'''
import gc, pickle
import citrange, numpy as np
world = citrange.World("orange_plate", num_envs=3)
world.reset(seed=7)
state = world.get_state()
robot = state.robots["robot0"]
assert robot.joint_names == world.joint_names() and not robot.joint_pos.flags.owndata
# The live state is the world's own memory: the address stays, the numbers change.
live = world.live().robots["robot0"].joint_pos
address = live.__array_interface__["data"][0]
world.step(24)
again = world.live().robots["robot0"].joint_pos
assert again.__array_interface__["data"][0] == address and (live != robot.joint_pos).any()
assert (live == world.get_state().robots["robot0"].joint_pos).all() and not live.flags.writeable
rows = world.live().objects["orange_1"].root_state.__array_interface__
assert abs(rows["data"][0] - address) < 3 * live.strides[0]
# Set whole, in part, by name; read back bit for bit.
moved = world.get_state()
world.step(50)
world.set_state(moved)
assert world.get_state() == moved
dicts = world.get_state(mode="dict")
world.set_state(dicts[1], env_ids=[0, 2])
now = world.get_state().objects["orange_1"].root_state
assert (now[0] == now[1]).all() and (now[2] == now[1]).all()
world.set_state({"objects": {"plate": {"pos": [0.2, -0.2, 0.0]}}}, env_ids=[1])
plate = world.get_state().objects["plate"].root_state
assert plate[1, 0] == 0.2 and plate[0, 0] != 0.2
part = citrange.TensorState(robots={"robot0": citrange.RobotState(joint_pos=np.zeros((2, 6), "f4")[:, ::-1])})
world.set_state(part, env_ids=[2, 0])
pos = world.get_state(dtype="f32").robots["robot0"].joint_pos
assert pos.dtype == np.float32 and (pos[[0, 2]] == 0).all() and (pos[1] != 0).any()
# Snapshots go on bit for bit, also from a pickle, also in another environment.
saved = pickle.loads(pickle.dumps(world.snapshot(0)))
world.step(100)
after = world.get_state([0])
world.restore(2, saved)
world.step(100)
assert world.get_state([2]) == after
assert pickle.loads(pickle.dumps(after)) == after
# One environment begins anew, the others stay.
before = world.get_state([0, 2])
world.reset(seed=7, episodes=5, env_ids=[1])
assert world.get_state([0, 2]) == before
# Memory outlives its world.
del world, again
gc.collect()
assert np.isfinite(live).all()
print("right")
'''


def test_states(fresh):
    assert run(fresh, STATES) == "right\n"


BAD = r'''
import citrange, numpy as np
from citrange import BadInput
w = citrange.World("orange_plate", 3)
nan = float("nan")
before, wrong = w.get_state(), []
for what, bad in [
    ("did you mean", lambda: citrange.World("orange_plat")),
    ("cannot read none.yaml", lambda: citrange.World("none.yaml")),
    ("environments", lambda: citrange.World("reach", 0)),
    ("num_envs", lambda: citrange.World("reach", -1)),
    ("num_envs", lambda: citrange.World("reach", "two")),
    ("env_ids", lambda: w.get_state([-1])),
    ("env_ids", lambda: w.get_state([0.5])),
    ("environment 9", lambda: w.get_state([9])),
    ("given twice", lambda: w.get_state([1, 1])),
    ("mode", lambda: w.get_state(mode="list")),
    ("dtype", lambda: w.get_state(dtype="f16")),
    ("unknown camera", lambda: w.get_state(cameras="frnt")),
    ("cameras.front", lambda: w.get_state(cameras={"front": ["rgbd"]})),
    ("unknown query", lambda: w.get_state(extras=["contcts"])),
    ('"x"', lambda: w.set_state({"objects": {"x": {}}})),
    ("state[0].objects.orange_1.pos[2]", lambda: w.set_state({"objects": {"orange_1": {"pos": [1, 2, nan]}}})),
    ("state[0]", lambda: w.set_state({"objects": {"orange_1": {"pos": [1, 2]}}})),
    ("state[0]", lambda: w.set_state({"objects": {"orange_1": {"pso": [1, 2, 3]}}})),
    ("state[0]", lambda: w.set_state({"things": {}})),
    ("2 given", lambda: w.set_state([{}, {}])),
    ("joint_pos", lambda: w.set_state(citrange.TensorState(robots={"robot0": citrange.RobotState(joint_pos=np.zeros((3, 5)))}))),
    ("joint_pos", lambda: w.set_state(citrange.TensorState(robots={"robot0": citrange.RobotState(joint_pos="abc")}))),
    ("2 given", lambda: w.set_state(citrange.TensorState(robots={"robot0": citrange.RobotState(joint_pos=np.zeros((2, 6)))}))),
    ("length 0", lambda: w.set_state(citrange.TensorState(objects={"plate": citrange.ObjectState(root_state=np.zeros((3, 13)))}))),
    ("finite", lambda: w.set_joint_targets(np.full((3, 6), nan))),
    ("targets", lambda: w.set_joint_targets(np.zeros((3, 5)))),
    ("targets", lambda: w.set_joint_targets(object())),
    ("robot", lambda: w.set_joint_targets(np.zeros((3, 6)), robot="robot7")),
    ("snapshot", lambda: w.restore(0, b"x")),
    ("snapshot", lambda: w.restore(0, 5)),
    ("cut off", lambda: w.restore(0, bytes(w.snapshot(0))[:-1])),
    ("damaged", lambda: w.restore(0, bytes(w.snapshot(0))[:-1] + b"?")),
    ("of scene reach", lambda: w.restore(0, citrange.World("reach").snapshot())),
    ("count", lambda: w.step(-1)),
    ("count", lambda: w.step(2**40)),
    ("seed", lambda: w.reset(seed=-5)),
    ("episodes", lambda: w.reset(episodes=[1])),
    ("no such folder", lambda: citrange.Dataset("/nowhere")),
    ("goal", lambda: citrange.plan("ur5_cell")),
    ("cloud", lambda: citrange.space.voxels(np.zeros((3, 4)))),
    ("settings", lambda: citrange.space.voxels(np.zeros((3, 3)), voxel_siz=1)),
    ("shard", lambda: citrange.collect("reach", "/tmp/none", shard="3/3")),
    ("unit", lambda: citrange.collect("reach", "/tmp/none", unit="turns")),
]:
    try:
        bad()
    except (BadInput, ValueError, TypeError) as error:
        text = str(error)
        if what not in text:
            wrong.append((what, text))
    else:
        wrong.append((what, "nothing was said"))
assert not wrong, wrong
assert w.get_state() == before, "what was refused changed nothing"
assert BadInput.exit_code == 3 and issubclass(BadInput, ValueError)
print("right")
'''


def test_bad_input_names_the_argument(fresh):
    assert run(fresh, BAD) == "right\n"


LIFE = r'''
import asyncio, os, pickle, resource, signal, threading, time
import multiprocessing
import citrange, numpy as np

def child(queue):
    queue.put(citrange.World("reach", 2).get_state().num_envs)

if __name__ == "__main__":
    world = citrange.World("orange_plate", 4)
    threading.Timer(0.3, lambda: os.kill(os.getpid(), signal.SIGINT)).start()
    try:
        world.step(2_000_000)
    except KeyboardInterrupt:
        pass
    else:
        raise AssertionError("not heard")
    # While Rust works other threads do.
    turns, stop = [0], threading.Event()
    def spin():
        while not stop.is_set():
            turns[0] += 1
    thread = threading.Thread(target=spin)
    thread.start()
    world.step(4000)
    stop.set(); thread.join()
    assert turns[0] > 1000, turns
    # Four threads in one world: one after the other.
    errors = []
    def use():
        try:
            for _ in range(20):
                world.step(2); world.get_state(); world.live()
        except BaseException as error:
            errors.append(error)
    threads = [threading.Thread(target=use) for _ in range(4)]
    [t.start() for t in threads]; [t.join() for t in threads]
    assert not errors, errors
    async def all_at_once():
        await asyncio.gather(*[asyncio.to_thread(world.step, 5) for _ in range(4)])
    asyncio.run(all_at_once())
    # Forked: told, not hung. Spawned: works.
    pid = os.fork()
    if pid == 0:
        try:
            world.step(1)
        except citrange.Failed as error:
            os._exit(0 if "forked" in str(error) else 2)
        os._exit(1)
    assert os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]) == 0
    context = multiprocessing.get_context("spawn")
    queue = context.Queue()
    process = context.Process(target=child, args=(queue,))
    process.start()
    assert queue.get(timeout=60) == 2
    process.join()
    # Memory is flat.
    import gymnasium
    def memory():
        return int(open("/proc/self/statm").read().split()[1]) * 4096
    def cycles(light, heavy):
        for _ in range(light):
            citrange.TensorState(); snap = world.snapshot(0); bytes(snap); world.get_state([0])
        for k in range(heavy):
            citrange.World("reach", 1).step(1)
            if k % 4 == 0:
                envs = gymnasium.make_vec("citrange/Reach-v0", 2); envs.reset(seed=1); envs.close()
    count = int(os.environ.get("CITRANGE_CYCLES", "40"))
    # What one world needs comes and goes in large pieces: the least of some moments is what stays.
    def least(rounds):
        moments = []
        for _ in range(rounds):
            cycles(100, 5)
            moments.append(memory())
        return min(moments)
    before = least(6)
    cycles(10 * count, count)
    grown = least(6) - before
    assert grown < 20e6, grown
    print("right")
'''


def test_threads_forks_interrupts_and_memory(fresh, tmp_path):
    (tmp_path / "life.py").write_text(LIFE)
    done = subprocess.run([fresh, tmp_path / "life.py"], capture_output=True, text=True, timeout=900)
    assert done.stdout == "right\n", (done.stdout, done.stderr)


GYM = r'''
import warnings
import citrange, gymnasium as gym, numpy as np
from gymnasium.utils.env_checker import check_env
from gymnasium.wrappers.vector import RecordEpisodeStatistics
warnings.simplefilter("ignore")
for name, more in [
    ("citrange/Reach-v0", {}), ("citrange/OrangePlate-v0", dict(obs="both", size=(64, 48))),
    ("citrange/Stack-v0", dict(obs="pixels", pixels=("rgb", "depth", "ids"), size=(32, 32))),
    ("citrange/BlockBox-v0", dict(step="tick")), ("citrange/Scene-v0", dict(scene="ur5_cell")),
]:
    check_env(gym.make(name, render_mode="rgb_array", **more).unwrapped)
rng = np.random.default_rng(0)
actions = rng.uniform(-1, 1, (170, 4, 6)).astype(np.float32)
def play(n=4, mode="SameStep", **more):
    envs = gym.make_vec("citrange/Reach-v0", num_envs=n, autoreset_mode=mode, **more).unwrapped
    envs.reset(seed=3)
    steps = [tuple(np.array(part) if k < 4 else part for k, part in enumerate(envs.step(a[:n]))) for a in actions]
    return envs, steps
envs, same = play()
assert all((a[0] == b[0]).all() and (a[1] == b[1]).all() for a, b in zip(same, play(copy=False)[1]))
assert all((a[0] == b[0]).all() for a, b in zip(same, play(threads=1)[1]))
ends = [k for k, step in enumerate(same) if (step[2] | step[3]).any()]
first = ends[0]
late = play(mode="NextStep")[1]
who = int(np.flatnonzero(same[first][2] | same[first][3])[0])
assert all((same[k][0] == late[k][0]).all() for k in range(first))
infos = same[first][4]
assert infos["_final_obs"][who] and (infos["final_obs"][who] == late[first][0][who]).all()
assert (late[first + 1][0][who] == same[first][0][who]).all() and late[first + 1][1][who] == 0
assert infos["final_info"]["is_success"][who] == same[first][2][who]
# The time limit is its own, and environment 2 of four is episode 2 of the run.
assert any(step[3].any() for step in same) and not any((step[2] & step[3]).any() for step in same)
one = gym.make("citrange/Reach-v0").unwrapped
one.reset(seed=3, options={"episode": 2})
mine = next(k for k in range(170) if same[k][2][2] or same[k][3][2])
for k in range(mine):
    assert (one.step(actions[k, 2])[0] == same[k][0][2]).all(), k
# Copies: what was handed out stays; copy=False: it is the core's memory.
kept = envs.step(actions[0])[0]; was = kept.copy(); envs.step(actions[1])
assert (kept == was).all()
view = play(copy=False)[0]
a, b = view.step(actions[0])[0], view.step(actions[1])[0]
assert a.__array_interface__["data"] == b.__array_interface__["data"] and not a.flags.writeable
RecordEpisodeStatistics(gym.make_vec("citrange/Reach-v0", 2)).reset(seed=1)
# Functions of one's own, over the batch.
own = gym.make_vec("citrange/Reach-v0", num_envs=3, max_episode_steps=9,
    observation=lambda s: s.objects["ball"].root_state[:, :3],
    reward=lambda s: -s.objects["ball"].root_state[:, 0],
    success=lambda s: np.array([False, True, False])).unwrapped
seen, _ = own.reset(seed=1)
assert seen.shape == (3, 3) and own.single_observation_space.shape == (3,)
ball = seen[:, 0].copy()
seen, rewards, terminated, truncated, infos = own.step(actions[0][:3])
assert np.allclose(rewards, -ball, atol=1e-3) and terminated.tolist() == [False, True, False]
assert np.allclose(infos["final_obs"][1][0], ball[1], atol=1e-3) and abs(seen[1, 0] - ball[1]) > 1e-4
for wrong in [dict(obs="sounds"), dict(pixels="rgbd", obs="both"), dict(reward="much"), dict(action="go"),
              dict(scene="nope"), dict(render_camera="x"), dict(size=(0, 5), obs="both"), dict(success=lambda s: 1)]:
    try:
        gym.make_vec("citrange/Scene-v0", 2, **{"scene": "reach", **wrong}).unwrapped.step(actions[0][:2])
    except ValueError:
        continue
    raise AssertionError(wrong)
print("right")
'''


def test_gymnasium(fresh):
    assert run(fresh, GYM) == "right\n"


SETS = r'''
import os, pickle
import citrange, gymnasium as gym, numpy as np

SMALL = """
name: small
title: t
rates: {physics_hz: 360, control_hz: 180, frame_hz: 30}
robots: {robot0: {model: so101, pose: pick}}
objects:
  ball:
    parts: [{shape: {sphere: {radius_m: 0.02}}, mass_kg: 0.1, rgba: [1, 0.5, 0, 1]}]
    place: {rectangle: {x_m: [0.15, 0.25], y_m: [-0.1, 0.1]}}
cameras:
  front: {pos_m: [0.62, 0, 0.42], look_at_m: [0.16, 0, 0.05], fovy_deg: 53, width_px: 64, height_px: 48}
  side: {pos_m: [0.2, 0.6, 0.4], look_at_m: [0.16, 0, 0.05], fovy_deg: 53, width_px: 64, height_px: 48}
"""
open("small.yaml", "w").write(SMALL)
def files(root):
    found = {}
    for folder, _, names in os.walk(root):
        for name in names:
            # Locks are empty; the journal says when and how fast.
            if not name.endswith((".lock", "collect.jsonl")):
                path = os.path.join(folder, name)
                found[os.path.relpath(path, root)] = open(path, "rb").read()
    return found
events = []
more = dict(seed=3, seconds=0.6, cameras=["front"])
one = citrange.collect("small.yaml", "one", episodes=5, workers=2, on_event=events.append, **more)
assert [e["event"] for e in events if e["event"] != "said"] == ["saved"] * 5 + ["done"]
# Parts made apart, put together in another order, are the whole, and can be gone on with.
parts = [citrange.collect("small.yaml", f"part{i}", episodes=5, workers=1, shard=f"{i}/3", **more) for i in range(3)]
assert [len(part) for part in parts] == [1, 2, 2]
citrange.merge([parts[2], parts[0], parts[1]], "merged")
assert files("one") == files("merged")
for name in ("one", "merged"):
    citrange.collect("small.yaml", name, episodes=6, workers=1, resume=True, **more)
assert files("one") == files("merged") and len(citrange.Dataset("merged")) == 6
try:
    citrange.merge([parts[0], parts[0]], "twice")
except citrange.BadInput as error:
    assert "index 0" in str(error)
# A dataset is read, drawn again, repeated, gone on with otherwise.
one = pickle.loads(pickle.dumps(citrange.Dataset("one")))
episode = one[-1]
assert len(one) == 6 and len(episode) == 18 and one.fps == 30 and one.cameras == ["front"]
assert episode.rows["action"].shape == (18, 6) and episode.motion["limited"].shape == (108, 6)
again = episode.redraw("front", [3])[0].astype(int)
assert np.abs(again - episode.picture("front", 3)).mean() < 6
assert episode.redraw("side", [3]).shape == (1, 48, 64, 3)
assert one.verify()["differing"] == 0
world = episode.world(5)
assert all((world.snapshot().fields[f] == episode.snapshot(5).fields[f]).all() for f in world.snapshot().fields)
for tick in episode.motion["limited"][5 * 6:6 * 6]:
    world.set_joint_targets(tick); world.step(2)
assert all((world.snapshot().fields[f] == episode.snapshot(6).fields[f]).all() for f in world.snapshot().fields)
frames = one.frames()
assert len(frames) == 108 and frames[20]["observation.images.front"].shape == (48, 64, 3)
assert frames[20]["frame_index"] == 2 and frames[20]["episode_index"] == 1
# A function flies our loop; Gymnasium with the same actions is the same, bit for bit.
actions = np.random.default_rng(1).uniform(-0.3, 0.3, (20, 6)).astype(np.float32)
def pilot(seen):
    assert seen["pictures"]["front"].shape == (480, 640, 3) or seen["frame"] > 20
    return actions[seen["frame"]] if seen["frame"] < 20 else True
said = citrange.run(pilot, "reach", "flown", seed=4, episodes=2, cameras=["front"])
assert [s["success"] for s in said] == [True, True] and said[0]["frames"] == 20
flown = citrange.Dataset("flown")
assert flown.verify()["differing"] == 0
env = gym.make("citrange/Reach-v0", action="targets").unwrapped
env.reset(seed=4, options={"episode": 1})
for action in actions:
    env.step(action)
mine, tape = env.snapshot().fields, flown[1].snapshot(20).fields
assert all(mine[field].tobytes() == tape[field].tobytes() for field in mine)
def broken(seen):
    raise RuntimeError("my own")
try:
    citrange.run(broken, "reach", seconds=1)
except citrange.Failed as error:
    assert "my own" in str(error)
try:
    citrange.run(lambda seen: [1.0], "reach", seconds=1)
except citrange.CitrangeError as error:
    assert "6 targets" in str(error)
assert os.path.exists(citrange.report("one")["page"])
print("right")
'''


def test_datasets_shards_and_pilots(fresh, tmp_path):
    assert run(fresh, SETS, tmp_path) == "right\n"


@pytest.mark.skipif(not PAGE.exists(), reason="no page")
def test_recipes_of_the_page(fresh, tmp_path):
    """Every Python block of docs/python.md runs, one after the other, but those that train or need
    lerobot: they run with what they need (test_lerobot_plugin.py)."""
    text = PAGE.read_text()
    blocks = [part.split("```")[0] for part in text.split("```python\n")[1:]]
    alone = [b for b in blocks if "stable_baselines3" not in b and "lerobot" not in b and "citrange.ray" not in b]
    assert len(blocks) >= 6 and len(alone) >= 4
    run(fresh, "\n".join(alone), tmp_path)
    shutil.rmtree(tmp_path)


def test_nothing_aborts(fresh):
    """Arguments of all kinds into everything: exceptions at most."""
    seconds = os.environ.get("CITRANGE_FUZZ_SECONDS", "5")
    code = (ROOT / "peers/python_fuzz.py").read_text()
    assert "calls" in run(fresh, f"SECONDS = {seconds}\n" + code)

