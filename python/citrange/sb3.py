"""Stable-Baselines3: our native vector environment as its VecEnv.

>>> from citrange.sb3 import make_vec                                       # doctest: +SKIP
>>> from stable_baselines3 import PPO                                       # doctest: +SKIP
>>> PPO("MlpPolicy", make_vec("citrange/Reach-v0", 16)).learn(100_000)      # doctest: +SKIP
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import gymnasium
import numpy as np
from gymnasium import spaces
from gymnasium.vector import AutoresetMode

try:
    from stable_baselines3.common.vec_env import VecEnv
except ImportError as error:
    text = 'citrange.sb3 needs Stable-Baselines3: pip install "citrange[sb3]"'
    raise ImportError(text) from error

from .gym import CitrangeVectorEnv

__all__ = ["CitrangeVecEnv", "make_vec"]


def make_vec(name: str, num_envs: int = 1, **kwargs: Any) -> CitrangeVecEnv:
    """A VecEnv by its id in Gymnasium."""
    envs = gymnasium.make_vec(name, num_envs, vectorization_mode="vector_entry_point", **kwargs)
    return CitrangeVecEnv(envs.unwrapped)


def _flat(space: spaces.Space[Any]) -> spaces.Space[Any]:
    """SB3 knows dictionaries of one level."""
    if not isinstance(space, spaces.Dict):
        return space
    return spaces.Dict(dict(_leaves(space, "")))


def _leaves(tree: Any, path: str) -> list[tuple[str, Any]]:
    if isinstance(tree, (dict, spaces.Dict)):
        return [leaf for key, of in tree.items() for leaf in _leaves(of, f"{path}_{key}" if path else key)]
    return [(path, tree)]


class CitrangeVecEnv(VecEnv):  # type: ignore[misc]
    """One step of it is one call into Rust; episodes begin anew in the same step."""

    def __init__(self, envs: CitrangeVectorEnv) -> None:
        if envs.metadata["autoreset_mode"] is not AutoresetMode.SAME_STEP:
            raise ValueError("Stable-Baselines3 begins episodes in the same step: SAME_STEP is needed")
        self.envs = envs
        self.render_mode = envs.render_mode
        super().__init__(envs.num_envs, _flat(envs.single_observation_space), envs.single_action_space)
        self._actions: Any = None
        self._next_seed: int | None = None

    def _shown(self, seen: Any) -> Any:
        return dict(_leaves(seen, "")) if isinstance(seen, dict) else seen

    def seed(self, seed: int | None = None) -> Sequence[int | None]:
        """The run of the next reset."""
        self._next_seed = seed
        return [seed] * self.num_envs

    def reset(self) -> Any:
        seen, infos = self.envs.reset(seed=self._next_seed)
        self._next_seed = None
        self.reset_infos = [
            {"seed": int(infos["seed"][env]), "episode": int(infos["episode"][env])}
            for env in range(self.num_envs)
        ]
        return self._shown(seen)

    def step_async(self, actions: Any) -> None:
        self._actions = actions

    def step_wait(self) -> tuple[Any, Any, Any, list[dict[str, Any]]]:
        seen, rewards, terminated, truncated, infos = self.envs.step(self._actions)
        dones = terminated | truncated
        said: list[dict[str, Any]] = [{} for _ in range(self.num_envs)]
        for env in np.flatnonzero(dones):
            said[env] = {
                "terminal_observation": self._shown(infos["final_obs"][env]),
                "TimeLimit.truncated": bool(truncated[env]),
                "is_success": bool(infos["is_success"][env]),
            }
        return self._shown(seen), rewards.astype(np.float32), dones, said

    def get_attr(self, attr_name: str, indices: Any = None) -> list[Any]:
        return [getattr(self.envs, attr_name) for _ in self._get_indices(indices)]

    def set_attr(self, attr_name: str, value: Any, indices: Any = None) -> None:
        setattr(self.envs, attr_name, value)

    def env_method(self, method_name: str, *args: Any, indices: Any = None, **kwargs: Any) -> list[Any]:
        answer = getattr(self.envs, method_name)(*args, **kwargs)
        return [answer for _ in self._get_indices(indices)]

    def env_is_wrapped(self, wrapper_class: Any, indices: Any = None) -> list[bool]:
        return [False for _ in self._get_indices(indices)]

    def get_images(self) -> Sequence[Any]:
        return self.envs.render() or [None] * self.num_envs

    def close(self) -> None:
        self.envs.close()
