"""RSL-RL: our native vector environment as its VecEnv, observations in one group ``policy``."""

from __future__ import annotations

from typing import Any

from gymnasium.vector import AutoresetMode

try:
    import torch
    from rsl_rl.env import VecEnv
    from tensordict import TensorDict
except ImportError as error:
    raise ImportError('citrange.rsl_rl needs RSL-RL: pip install "citrange[rsl-rl]"') from error

from .gym import CitrangeVectorEnv

__all__ = ["CitrangeRslEnv"]


class CitrangeRslEnv(VecEnv):  # type: ignore[misc]
    """Actions and observations as tensors on ``device``; the environments stay on the processor."""

    def __init__(self, envs: CitrangeVectorEnv, device: str = "cpu") -> None:
        if envs.metadata["autoreset_mode"] is not AutoresetMode.SAME_STEP:
            raise ValueError("RSL-RL begins episodes in the same step: SAME_STEP is needed")
        if envs._core.obs != "state":
            raise ValueError('RSL-RL takes obs="state"')
        self.envs, self.device = envs, device
        self.num_envs = envs.num_envs
        self.num_actions = envs.single_action_space.shape[0]
        self.max_episode_length = envs._max_episode_steps or 2**31 - 1
        self.episode_length_buf = torch.zeros(self.num_envs, dtype=torch.long, device=device)
        self.cfg: dict[str, Any] = {}
        seen, _ = envs.reset()
        self._seen = self._tensors(seen)

    def _tensors(self, seen: Any) -> TensorDict:
        policy = torch.from_numpy(seen).to(self.device)
        return TensorDict({"policy": policy}, batch_size=[self.num_envs], device=self.device)

    def get_observations(self) -> TensorDict:
        return self._seen

    def step(
        self, actions: torch.Tensor
    ) -> tuple[TensorDict, torch.Tensor, torch.Tensor, dict[str, Any]]:
        seen, rewards, terminated, truncated, infos = self.envs.step(actions.detach().cpu().numpy())
        dones = torch.from_numpy(terminated | truncated).to(self.device)
        self.episode_length_buf += 1
        self.episode_length_buf[dones] = 0
        self._seen = self._tensors(seen)
        extras = {
            "time_outs": torch.from_numpy(truncated).to(self.device),
            "log": {"/success": float(infos["is_success"].mean())},
        }
        rewards_t = torch.from_numpy(rewards).float().to(self.device)
        return self._seen, rewards_t, dones.long(), extras
