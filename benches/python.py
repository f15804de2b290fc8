#!/usr/bin/env python3
"""Steps per second from Python: our native vector environment, the same through Stable-Baselines3,
Gymnasium's AsyncVectorEnv over plain MuJoCo in Python; and pictures.

python.py [ENVS] [SECONDS] in an environment with the wheel, gymnasium and mujoco (and
stable-baselines3, if it is to be measured). All rows come from one run, in turns; wall time, random
actions, state observations. Prints a table of ratios.
"""

import statistics
import sys
import time

import citrange
import gymnasium
import mujoco
import numpy as np

ENVS = int(sys.argv[1]) if len(sys.argv) > 1 else 64
SECONDS = float(sys.argv[2]) if len(sys.argv) > 2 else 2.0
ROUNDS = 3
SCENE = "orange_plate"


class Plain(gymnasium.Env):
    """The same model, the same numbers seen, stepped by MuJoCo's own bindings."""

    def __init__(self, xml: str, steps: int, low, high) -> None:
        self.model = mujoco.MjModel.from_xml_string(xml)
        self.data = mujoco.MjData(self.model)
        self.steps = steps
        self.action_space = gymnasium.spaces.Box(low, high, dtype=np.float32)
        width = self.model.nq + self.model.nv + self.model.nu
        self.observation_space = gymnasium.spaces.Box(-np.inf, np.inf, (width,), np.float32)

    def _seen(self):
        d = self.data
        return np.concatenate([d.qpos, d.qvel, d.ctrl]).astype(np.float32)

    def reset(self, *, seed=None, options=None):
        super().reset(seed=seed)
        mujoco.mj_resetData(self.model, self.data)
        mujoco.mj_forward(self.model, self.data)
        return self._seen(), {}

    def step(self, action):
        self.data.ctrl[:] = action
        mujoco.mj_step(self.model, self.data, self.steps)
        return self._seen(), 0.0, False, False, {}


def rate(step, per_call: int) -> float:
    """Environment steps per second."""
    step()
    begun, calls = time.perf_counter(), 0
    while time.perf_counter() - begun < SECONDS:
        step()
        calls += 1
    return calls * per_call / (time.perf_counter() - begun)


def main() -> None:
    world = citrange.World(SCENE)
    rates = world.rates
    rng = np.random.default_rng(0)
    for name in ("tick", "frame"):
        steps = rates["physics_hz"] // rates["control_hz" if name == "tick" else "frame_hz"]
        ours = gymnasium.make_vec("citrange/OrangePlate-v0", ENVS, step=name).unwrapped
        space = ours.single_action_space
        plain = gymnasium.vector.AsyncVectorEnv(
            [lambda: Plain(world.xml, steps, space.low, space.high)] * ENVS, context="spawn"
        )
        ours.reset(seed=0)
        plain.reset(seed=0)
        actions = rng.uniform(space.low, space.high, (ENVS, 6)).astype(np.float32)
        rows = {
            "native vector": lambda: ours.step(actions),
            "its core alone": lambda: ours._core.envs.step(actions),
            "AsyncVectorEnv over plain MuJoCo": lambda: plain.step(actions),
        }
        try:
            from citrange.sb3 import CitrangeVecEnv

            adapter = CitrangeVecEnv(ours)
            rows["through Stable-Baselines3"] = lambda: adapter.step(actions)
        except ImportError:
            pass
        found = {row: [] for row in rows}
        for _ in range(ROUNDS):
            for row, step in rows.items():
                found[row].append(rate(step, ENVS))
        plain.close()
        base = statistics.median(found["AsyncVectorEnv over plain MuJoCo"])
        print(f"\n{ENVS} environments, one control {name} ({steps} physics steps) a call")
        print("| | steps/s | times AsyncVectorEnv |\n|---|---|---|")
        for row, values in found.items():
            median = statistics.median(values)
            print(f"| {row} | {median:,.0f} | {median / base:.2f} |")
        core = statistics.median(found["its core alone"])
        shell = statistics.median(found["native vector"])
        print(f"overhead of Python: {100 * (core / shell - 1):.1f} %")

    pixels = gymnasium.make_vec(
        "citrange/OrangePlate-v0", ENVS, obs="pixels", cameras=["front"], size=(128, 128)
    ).unwrapped
    pixels.reset(seed=0)
    ours = rate(lambda: pixels._core.envs.get_state(None, "tensor", ["front"], None, "f64"), ENVS)
    model = mujoco.MjModel.from_xml_string(world.xml)
    data = mujoco.MjData(model)
    mujoco.mj_forward(model, data)
    try:
        with mujoco.Renderer(model, 128, 128) as renderer:
            def draw():
                renderer.update_scene(data, "front")
                return renderer.render()

            theirs = rate(draw, 1)
        print(f"\npictures of 128 x 128: ours {ours:,.0f}/s, mujoco.Renderer {theirs:,.0f}/s: {ours / theirs:.1f} times")
    except Exception as error:  # no OpenGL here
        print(f"\npictures of 128 x 128: ours {ours:,.0f}/s; mujoco.Renderer: {error}")

    many = citrange.World(SCENE, 1024)
    took = []
    for _ in range(30):
        begun = time.perf_counter()
        many.get_state()
        took.append(time.perf_counter() - begun)
    print(f"get_state of 1,024 environments: {1e3 * statistics.median(took):.2f} ms")


if __name__ == "__main__":
    main()
