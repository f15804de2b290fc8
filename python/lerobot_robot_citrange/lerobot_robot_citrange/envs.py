"""Our environments as LeRobot's policies know robots: ``agent_pos`` and actions in degrees or percent,
``pixels`` by camera. Names in Gymnasium are ``citrange_lerobot/OrangePlate-v0`` and so on."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import citrange.gym
import gymnasium
import numpy as np
from citrange.envs_by_id import IDS
from citrange.gym import CitrangeEnv, CitrangeVectorEnv
from gymnasium import spaces
from gymnasium.vector.utils import batch_space


class _Shown:
    """Joint values as a recorded dataset has them, and back."""

    def __init__(self, core: Any, use_degrees: bool) -> None:
        names = [name for name, *_ in core.facts["action"]]
        units = core.envs.units("degrees" if use_degrees else "percent")
        self.zero = np.array([zero for _, zero, _ in units], np.float64)
        self.scale = np.array([scale for *_, scale in units], np.float64)
        self.joints = len(names)

    def shown(self, positions: Any) -> Any:
        return ((np.asarray(positions, np.float64) - self.zero) * self.scale).astype(np.float32)

    def read(self, shown: Any) -> Any:
        return (np.asarray(shown, np.float64) / self.scale + self.zero).astype(np.float32)

    def space(self, core: Any) -> spaces.Dict:
        pixels = core.observation_space["pixels"]
        pos = spaces.Box(-np.inf, np.inf, (self.joints,), np.float32)
        return spaces.Dict({"agent_pos": pos, "pixels": pixels})

    def actions(self, core: Any) -> spaces.Box:
        # Policies may say what they like; the core keeps to the joints' limits.
        high = np.full(self.joints, 360.0, np.float32)
        return spaces.Box(-high, high, dtype=np.float32)

    def seen(self, seen: Any) -> dict[str, Any]:
        pos = self.shown(seen["state"][..., : self.joints])
        return {"agent_pos": pos, "pixels": seen["pixels"]}


class LeRobotEnv(CitrangeEnv):
    """One environment."""

    def __init__(
        self, *, use_degrees: bool = True, max_episode_steps: int | None = None,
        cameras: Sequence[str] | None = None, render_mode: str | None = "rgb_array", **more: Any,
    ) -> None:
        more |= {"action": "targets", "reward": "sparse", "obs": "both", "cameras": cameras}
        super().__init__(
            render_mode=render_mode, max_episode_steps=max_episode_steps,
            render_camera=cameras[0] if cameras else None, **more,
        )
        self._shown = _Shown(self._core, use_degrees)
        self.observation_space = self._shown.space(self._core)
        self.action_space = self._shown.actions(self._core)
        self._max_episode_steps = max_episode_steps

    def reset(self, *, seed: int | None = None, options: Any = None) -> Any:
        seen, info = super().reset(seed=seed, options=None)
        return self._shown.seen(seen), info

    def step(self, action: Any) -> Any:
        seen, *others = super().step(self._shown.read(action))
        return (self._shown.seen(seen), *others)


class LeRobotVectorEnv(CitrangeVectorEnv):
    """Many at once."""

    def __init__(
        self, num_envs: int = 1, *, use_degrees: bool = True, max_episode_steps: int | None = None,
        cameras: Sequence[str] | None = None, render_mode: str | None = "rgb_array", **more: Any,
    ) -> None:
        more |= {"action": "targets", "reward": "sparse", "obs": "both", "cameras": cameras}
        super().__init__(
            num_envs, render_mode=render_mode, max_episode_steps=max_episode_steps,
            render_camera=cameras[0] if cameras else None, **more,
        )
        self._shown = _Shown(self._core, use_degrees)
        self.single_observation_space = self._shown.space(self._core)
        self.single_action_space = self._shown.actions(self._core)
        self.observation_space = batch_space(self.single_observation_space, num_envs)
        self.action_space = batch_space(self.single_action_space, num_envs)

    def reset(self, *, seed: Any = None, options: Any = None) -> Any:
        seen, info = super().reset(seed=seed, options=None)
        return self._shown.seen(seen), info

    def step(self, actions: Any) -> Any:
        seen, rewards, terminated, truncated, info = super().step(self._shown.read(actions))
        for env in np.flatnonzero(info.get("_final_obs", [])):
            info["final_obs"][env] = self._shown.seen(info["final_obs"][env])
        return self._shown.seen(seen), rewards, terminated, truncated, info


for _name, _scene, _steps, _ in IDS:
    _id = _name.replace("citrange/", "citrange_lerobot/")
    if _id not in gymnasium.registry:
        gymnasium.register(
            _id, entry_point=LeRobotEnv, vector_entry_point=LeRobotVectorEnv,
            max_episode_steps=_steps, kwargs={} if _scene is None else {"scene": _scene},
        )
