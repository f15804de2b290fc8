"""Environments for learners: one as ``gymnasium.Env``, many as a native ``VectorEnv``.

>>> import citrange, gymnasium
>>> env = gymnasium.make("citrange/Reach-v0")
>>> observation, info = env.reset(seed=7)
>>> info["seed"], info["episode"]
(7, 0)
>>> envs = gymnasium.make_vec("citrange/Reach-v0", num_envs=4)
>>> observations, infos = envs.reset(seed=7)
>>> observations.shape[0], infos["episode"].tolist()
(4, [0, 1, 2, 3])

A step is a frame of the scene (``step="tick"``: a control tick). Episodes are a function of (seed,
episode index), as ``citrange collect`` has them: a vector environment of N with one seed runs the
episodes i, i + N, i + 2 N, … in environment i; a single one runs 0, 1, 2, ….

Rewards. ``sparse``: 1 in every step in which the job is done, else 0. ``dense``: the same, and the
change of a potential since the step before: for a job to reach -10 per metre between the tool and
the place; for a job to bring the share of things that are placed, and of the next one
0.3 (1 - tanh(10 a)) + 0.6 (1 - tanh(5 b)) as its share, with the metres a from the tool to it and b
from it to the goal. Observation, reward and success can be functions of one's own, of a
:class:`citrange.TensorState` over all environments.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt

try:
    import gymnasium
    from gymnasium import spaces
    from gymnasium.vector import AutoresetMode, VectorEnv
    from gymnasium.vector.utils import batch_space
except ImportError as error:
    raise ImportError('citrange.gym needs Gymnasium: pip install "citrange[gym]"') from error

from . import _citrange
from .arguments import whole, wholes
from .envs_by_id import register
from .states import DictState, TensorState
from .world import Cameras, Ids, Snapshot, settable

__all__ = ["CitrangeEnv", "CitrangeVectorEnv", "register"]

Array = npt.NDArray[Any]
OfState = Callable[[TensorState], npt.ArrayLike]

#: Gymnasium's modes by the names that the core knows.
_MODES = {
    AutoresetMode.SAME_STEP: "SameStep",
    AutoresetMode.NEXT_STEP: "NextStep",
    AutoresetMode.DISABLED: "Disabled",
}
#: What a picture of a kind is made of.
_KINDS: dict[str, tuple[type[np.generic], float, float, int]] = {
    "rgb": (np.uint8, 0, 255, 3),
    "depth": (np.float32, 0.0, np.inf, 0),
    "ids": (np.int32, -1, 2**31 - 1, 0),
}


class _Core:
    """What the single and the vector environment have in common: settings, spaces, looking."""

    def __init__(
        self,
        num_envs: int,
        *,
        scene: str,
        obs: str,
        cameras: Sequence[str] | None,
        pixels: Sequence[str] | str,
        size: tuple[int, int] | None,
        reward: str | OfState,
        action: str,
        step: str,
        max_episode_steps: int | None,
        terminate_on_success: bool,
        autoreset: str,
        observation: OfState | None,
        success: OfState | None,
        robots: Sequence[str] | None,
        threads: int | None,
        render_camera: str | None,
    ) -> None:
        if obs not in ("state", "pixels", "both"):
            raise ValueError(f'obs: "{obs}"; state, pixels or both are possible')
        kinds = [pixels] if isinstance(pixels, str) else list(pixels)
        for kind in kinds:
            if kind not in _KINDS:
                raise ValueError(f'pixels: "{kind}"; rgb, depth and ids are possible')
        drawn: dict[str, list[str]] = {}
        if obs != "state":
            drawn = {name: kinds for name in (cameras or _cameras_of(scene))}
        chosen = {
            "robots": None if robots is None else list(robots), "hold": step, "actions": action,
            "reward": reward if isinstance(reward, str) else "sparse", "autoreset": autoreset,
            "max_steps": max_episode_steps, "ends_when_done": terminate_on_success,
            "cameras": drawn or None, "picture_px": None if size is None else [size[0], size[1]],
            "threads": threads,
        }
        count = whole(num_envs, "num_envs", 1 << 20)
        self.envs = _citrange.Envs(str(scene), count, chosen)
        self.facts = self.envs.facts()
        self.obs, self.kinds, self.drawn = obs, kinds, drawn
        self.reward = None if isinstance(reward, str) else reward
        self.observation, self.success = observation, success
        self.is_own = any(own is not None for own in (self.reward, observation, success))
        self.terminates = terminate_on_success
        known = self.facts["cameras"]
        if render_camera is not None and render_camera not in known:
            raise ValueError(f'render_camera: "{render_camera}"; there are {", ".join(known)}')
        self.render_camera = render_camera or (known[0] if known else None)
        limits = self.facts["action"]
        self.action_space = spaces.Box(
            np.array([low for *_, low, _ in limits], np.float32),
            np.array([high for *_, high in limits], np.float32),
            dtype=np.float32,
        )
        self.observation_space = self._space()

    def _space(self) -> spaces.Space[Any]:
        width = len(self.facts["observation"])
        if self.observation is not None:
            width = self._own_rows(self.state()).shape[1]
        state = spaces.Box(-np.inf, np.inf, (width,), np.float32)
        if self.obs == "state":
            return state
        pictures: dict[str, spaces.Space[Any]] = {}
        for name, (down, across) in self.facts["picture_px"].items():
            of_kind: dict[str, spaces.Space[Any]] = {}
            for kind in self.kinds:
                dtype, low, high, channels = _KINDS[kind]
                shape = (down, across, channels) if channels else (down, across)
                of_kind[kind] = spaces.Box(low, high, shape, dtype)  # type: ignore[arg-type]
            one = len(self.kinds) == 1
            pictures[name] = of_kind[self.kinds[0]] if one else spaces.Dict(of_kind)
        all_pictures = spaces.Dict(pictures)
        if self.obs == "pixels":
            return all_pictures
        return spaces.Dict({"state": state, "pixels": all_pictures})

    def state(self, env_ids: Ids = None) -> TensorState:
        ids = wholes(env_ids, "env_ids")
        return TensorState.from_mapping(self.envs.get_state(ids, "tensor", None, None, "f64"))

    def _own_rows(self, state: TensorState) -> Array:
        assert self.observation is not None
        rows = np.asarray(self.observation(state), np.float32)
        if rows.ndim != 2 or rows.shape[0] != state.num_envs:
            raise ValueError(
                f"observation: the function gave {rows.shape}; ({state.num_envs}, numbers) are needed"
            )
        return rows

    def own(self, what: str, of: OfState, state: TensorState, dtype: Any) -> Array:
        values = np.asarray(of(state))
        if values.shape != (state.num_envs,):
            raise ValueError(f"{what}: the function gave {values.shape}; ({state.num_envs},) is needed")
        return values.astype(dtype)

    def pictures(self, last: bool, copy: bool) -> dict[str, Any]:
        found = self.envs.pictures(last, copy)
        if len(self.kinds) == 1:
            return {name: of[self.kinds[0]] for name, of in found.items()}
        return {name: {kind: of[kind] for kind in self.kinds} for name, of in found.items()}

    def seen(self, copy: bool, last: bool = False, rows: Array | None = None) -> Any:
        if rows is None:
            rows = self.envs.block("final_observations" if last else "observations", copy)
        if self.obs == "state":
            return rows
        pictures = self.pictures(last, copy)
        return pictures if self.obs == "pixels" else {"state": rows, "pixels": pictures}

    def checked(self, actions: npt.ArrayLike, shape: tuple[int, ...]) -> Array:
        array = np.ascontiguousarray(actions, np.float32)
        if array.shape != shape:
            raise ValueError(f"actions: shape {array.shape}; {shape} is needed")
        return array


def _cameras_of(scene: str) -> list[str]:
    cameras = _citrange.scene_cameras(str(scene))
    if not cameras:
        raise ValueError(f"scene {scene} has no camera, so there are no pixels to observe")
    return cameras


def _row(batch: Any, env: int) -> Any:
    """One environment of a batch of observations, copied."""
    if isinstance(batch, Mapping):
        return {key: _row(value, env) for key, value in batch.items()}
    return np.array(batch[env])


class CitrangeVectorEnv(VectorEnv):  # type: ignore[misc]
    """Many environments of a scene, stepped at once on all cores.

    ``obs``: state, pixels or both. ``pixels``: rgb, depth, ids, of ``cameras`` (all), ``size``
    (width, height). ``action``: targets (rad, m) or deltas (-1 to 1, parts of what a joint may do in
    a step). ``step``: frame or tick. ``reward``: sparse, dense, or a function of TensorState;
    ``observation`` and ``success`` may be such functions too. ``copy=False`` hands out the core's
    own memory, which the next step changes.
    """

    metadata: ClassVar[dict[str, Any]] = {"render_modes": ["rgb_array"]}

    def __init__(
        self,
        num_envs: int = 1,
        *,
        scene: str,
        obs: str = "state",
        cameras: Sequence[str] | None = None,
        pixels: Sequence[str] | str = "rgb",
        size: tuple[int, int] | None = None,
        reward: str | OfState = "sparse",
        action: str = "targets",
        step: str = "frame",
        max_episode_steps: int | None = None,
        terminate_on_success: bool = True,
        autoreset_mode: AutoresetMode | str = AutoresetMode.SAME_STEP,
        copy: bool = True,
        observation: OfState | None = None,
        success: OfState | None = None,
        robots: Sequence[str] | None = None,
        threads: int | None = None,
        render_mode: str | None = None,
        render_camera: str | None = None,
    ) -> None:
        mode = AutoresetMode(autoreset_mode) if isinstance(autoreset_mode, str) else autoreset_mode
        own = any(callable(of) for of in (observation, success, reward))
        if own and mode is AutoresetMode.NEXT_STEP:
            raise ValueError("autoreset_mode: functions of one's own go with SAME_STEP or DISABLED")
        self._core = _Core(
            num_envs, scene=scene, obs=obs, cameras=cameras, pixels=pixels, size=size,
            reward=reward, action=action, step=step, max_episode_steps=max_episode_steps,
            terminate_on_success=terminate_on_success, autoreset=_MODES[mode],
            observation=observation, success=success, robots=robots, threads=threads,
            render_camera=render_camera,
        )
        self.num_envs, self.copy, self.render_mode = num_envs, copy, render_mode
        self.single_observation_space = self._core.observation_space
        self.single_action_space = self._core.action_space
        self.observation_space = batch_space(self.single_observation_space, num_envs)
        self.action_space = batch_space(self.single_action_space, num_envs)
        self._max_episode_steps = max_episode_steps
        self.metadata = {  # type: ignore[misc]
            "render_modes": ["rgb_array"],
            "render_fps": self._core.facts["steps_per_second"],
            "autoreset_mode": mode,
        }

    @property
    def task(self) -> str:
        """The task in words."""
        return str(self._core.facts["task"])

    @property
    def task_description(self) -> str:
        """The task in words."""
        return self.task

    @property
    def observation_names(self) -> list[tuple[str, str]]:
        """Name and unit of every number of a state observation."""
        return list(self._core.facts["observation"])

    @property
    def action_names(self) -> list[tuple[str, str]]:
        """Name and unit of every number of an action."""
        return [(name, unit) for name, unit, *_ in self._core.facts["action"]]

    def reset(
        self, *, seed: int | Sequence[int | None] | None = None,
        options: Mapping[str, Any] | None = None,
    ) -> tuple[Any, dict[str, Any]]:
        """Begins an episode in all environments, or where ``options["reset_mask"]`` says so.

        One seed: the run of all; a list: a run for each; ``None``: the next episodes.
        """
        options = options or {}
        envs = self._core.envs
        mask = options.get("reset_mask")
        if mask is not None:
            ids = np.flatnonzero(np.asarray(mask, bool)).tolist()
            seeds = None
            if seed is not None:
                one = isinstance(seed, (int, np.integer))
                given: list[Any] = [seed] * self.num_envs if one else list(seed)  # type: ignore[arg-type]
                seeds = [int(given[env] or 0) for env in ids]
            envs.reset_envs(ids, seeds)
            return self._seen(self.copy), self._infos()
        if seed is None and self._np_random is None:
            # Nobody chose: chance does, and says what in the infos.
            seed = int(self.np_random.integers(2**32))
        if seed is None:
            envs.reset()
        elif isinstance(seed, (int, np.integer)):
            super().reset(seed=int(seed))
            envs.reset(whole(seed, "seed"))
        else:
            given = list(seed)  # type: ignore[arg-type]
            if len(given) != self.num_envs:
                raise ValueError(f"seed: {len(given)} seeds for {self.num_envs} environments")
            super().reset(seed=given[0])
            chance = self.np_random.integers(2**32, size=self.num_envs)
            envs.reset(None, [int(s if s is not None else c) for s, c in zip(given, chance)])
        return self._seen(self.copy), self._infos()

    def _seen(self, copy: bool, last: bool = False) -> Any:
        rows = None
        if self._core.observation is not None and not last:
            rows = self._core._own_rows(self._core.state())
        return self._core.seen(copy, last, rows)

    def _infos(self) -> dict[str, Any]:
        episodes = np.array(self._core.envs.episodes(), np.uint64).reshape(-1, 2)
        every = np.ones(self.num_envs, bool)
        return {
            "seed": episodes[:, 0], "_seed": every,
            "episode": episodes[:, 1].astype(np.int64), "_episode": every.copy(),
        }

    def step(
        self, actions: npt.ArrayLike
    ) -> tuple[Any, Array, Array, Array, dict[str, Any]]:
        """One step of all environments."""
        core, envs = self._core, self._core.envs
        array = core.checked(actions, (self.num_envs, self.single_action_space.shape[0]))
        if core.is_own:
            return self._own_step(array)
        ended = envs.step(array)
        rows, rewards, terminated, truncated = envs.results(self.copy)
        success = envs.block("success", True)
        infos: dict[str, Any] = {"is_success": success, "_is_success": np.ones(self.num_envs, bool)}
        if ended and self.metadata["autoreset_mode"] is AutoresetMode.SAME_STEP:
            self._say_last(infos, core.seen(True, last=True), success)
        seen = rows if core.obs == "state" else core.seen(self.copy, rows=rows)
        return seen, rewards, terminated, truncated, infos

    def _say_last(self, infos: dict[str, Any], last: Any, success: Array) -> None:
        ended = self._core.envs.block("ended", True)
        final = np.full(self.num_envs, None, object)
        for env in np.flatnonzero(ended):
            final[env] = _row(last, int(env))
        infos["final_obs"], infos["_final_obs"] = final, ended
        infos["final_info"] = {"is_success": success & ended, "_is_success": ended.copy()}
        infos["_final_info"] = ended.copy()

    def _own_step(self, array: Array) -> tuple[Any, Array, Array, Array, dict[str, Any]]:
        """A step whose worth, end or looks functions of the user say."""
        core, envs = self._core, self._core.envs
        envs.advance(array)
        state = core.state()
        success = envs.block("success", True)
        if core.success is not None:
            success = core.own("success", core.success, state, bool)
        rewards = envs.block("rewards", True)
        if core.reward is not None:
            rewards = core.own("reward", core.reward, state, np.float64)
        elif core.success is not None:
            rewards = success.astype(np.float64)
        rows = core._own_rows(state) if core.observation is not None else None
        terminated = success if core.terminates else np.zeros(self.num_envs, bool)
        # What is over is seen a last time before it begins anew.
        last: Any = None
        if rows is not None and core.obs != "state":
            last = {"state": rows, "pixels": core.pictures(False, True)}
        ended = envs.settle(terminated.tolist())
        _, _, terminated, truncated = envs.results(True)
        infos: dict[str, Any] = {"is_success": success, "_is_success": np.ones(self.num_envs, bool)}
        if ended and self.metadata["autoreset_mode"] is AutoresetMode.SAME_STEP:
            if rows is None:
                last = core.seen(True, last=True)
            elif core.obs == "state":
                last = rows
            elif core.obs == "pixels" and isinstance(last, dict):
                last = last["pixels"]
            self._say_last(infos, last, success)
            if rows is not None:
                rows = rows.copy()
                anew = np.flatnonzero(envs.block("ended", True))
                rows[anew] = core._own_rows(core.state(anew.tolist()))
        return core.seen(self.copy, rows=rows), rewards, terminated, truncated, infos

    def get_state(
        self, env_ids: Ids = None, mode: str = "tensor", *, cameras: Cameras = None,
        extras: Sequence[str] | None = None, dtype: str = "f64",
    ) -> TensorState | list[DictState]:
        """As :meth:`citrange.World.get_state`."""
        ids = wholes(env_ids, "env_ids")
        more = None if extras is None else list(extras)
        state = self._core.envs.get_state(ids, mode, cameras, more, dtype)
        return TensorState.from_mapping(state) if mode == "tensor" else state

    def set_state(
        self, state: TensorState | DictState | Sequence[DictState], env_ids: Ids = None
    ) -> list[str]:
        """As :meth:`citrange.World.set_state`; the next observation shows it."""
        ids = wholes(env_ids, "env_ids")
        count = self.num_envs if ids is None else len(ids)
        return self._core.envs.set_state(settable(state, count), ids)

    def snapshot(self, env: int = 0) -> Snapshot:
        """As :meth:`citrange.World.snapshot`."""
        return self._core.envs.snapshot(env)

    def restore(self, env: int, snapshot: Snapshot | bytes) -> None:
        """As :meth:`citrange.World.restore`."""
        self._core.envs.restore(env, snapshot)

    @property
    def targets(self) -> Array:
        """Joint targets in force, (N, joints), f64: what a tape would keep of the last action."""
        return self._core.envs.block("targets", True)

    def render(self) -> tuple[Array, ...] | None:
        """A picture of every environment, with ``render_mode="rgb_array"``."""
        if self.render_mode is None or self._core.render_camera is None:
            return None
        camera = self._core.render_camera
        return tuple(self._core.envs.render(env, camera) for env in range(self.num_envs))

    def call(self, name: str, *args: Any, **kwargs: Any) -> tuple[Any, ...]:
        """An attribute or the answer of a method, once for every environment."""
        if name == "render":
            return self.render() or (None,) * self.num_envs
        value = getattr(self, name)
        value = value(*args, **kwargs) if callable(value) else value
        return (value,) * self.num_envs

    def get_attr(self, name: str) -> tuple[Any, ...]:
        """An attribute, once for every environment."""
        return self.call(name)

    def set_attr(self, name: str, values: Any) -> None:
        """Sets an attribute of all environments."""
        setattr(self, name, values[0] if isinstance(values, (list, tuple)) else values)

    def close_extras(self, **kwargs: Any) -> None:
        """Nothing is left behind: memory goes with the last name."""


class CitrangeEnv(gymnasium.Env):  # type: ignore[misc]
    """One environment: the settings are those of :class:`CitrangeVectorEnv`."""

    metadata: ClassVar[dict[str, Any]] = {"render_modes": ["rgb_array"], "render_fps": 30}

    def __init__(
        self,
        *,
        scene: str,
        obs: str = "state",
        cameras: Sequence[str] | None = None,
        pixels: Sequence[str] | str = "rgb",
        size: tuple[int, int] | None = None,
        reward: str | OfState = "sparse",
        action: str = "targets",
        step: str = "frame",
        max_episode_steps: int | None = None,
        terminate_on_success: bool = True,
        observation: OfState | None = None,
        success: OfState | None = None,
        robots: Sequence[str] | None = None,
        render_mode: str | None = None,
        render_camera: str | None = None,
    ) -> None:
        self._core = _Core(
            1, scene=scene, obs=obs, cameras=cameras, pixels=pixels, size=size, reward=reward,
            action=action, step=step, max_episode_steps=max_episode_steps,
            terminate_on_success=terminate_on_success, autoreset="Disabled",
            observation=observation, success=success, robots=robots, threads=1,
            render_camera=render_camera,
        )
        self.observation_space = self._core.observation_space
        self.action_space = self._core.action_space
        self.render_mode = render_mode
        self.metadata = {  # type: ignore[misc]
            **self.metadata,
            "render_fps": self._core.facts["steps_per_second"],
        }
        self._begun = False

    @property
    def task(self) -> str:
        """The task in words."""
        return str(self._core.facts["task"])

    @property
    def task_description(self) -> str:
        """The task in words."""
        return self.task

    @property
    def observation_names(self) -> list[tuple[str, str]]:
        """Name and unit of every number of a state observation."""
        return list(self._core.facts["observation"])

    @property
    def action_names(self) -> list[tuple[str, str]]:
        """Name and unit of every number of an action."""
        return [(name, unit) for name, unit, *_ in self._core.facts["action"]]

    def reset(
        self, *, seed: int | None = None, options: Mapping[str, Any] | None = None
    ) -> tuple[Any, dict[str, Any]]:
        """Begins episode 0 of the run ``seed``, else the next one; ``options["episode"]``: that."""
        super().reset(seed=seed)
        envs = self._core.envs
        if seed is None and not self._begun:
            seed = int(self.np_random.integers(2**32))
        episode = (options or {}).get("episode")
        if episode is not None:
            run = seed if seed is not None else envs.episodes()[0][0]
            envs.begin_episode(0, int(run), int(episode))
        elif seed is not None:
            envs.reset(None, [whole(seed, "seed")])
        else:
            envs.reset()
        self._begun = True
        (run, index), = envs.episodes()
        return self._seen(), {"seed": run, "episode": index}

    def _seen(self) -> Any:
        core = self._core
        rows = core._own_rows(core.state()) if core.observation is not None else None
        return _row(core.seen(False, rows=rows), 0)

    def step(self, action: npt.ArrayLike) -> tuple[Any, float, bool, bool, dict[str, Any]]:
        """One step."""
        core, envs = self._core, self._core.envs
        array = core.checked(action, self.action_space.shape)[None]
        envs.advance(array)
        success = bool(envs.block("success", True)[0])
        reward = float(envs.block("rewards", True)[0])
        if core.success is not None or core.reward is not None:
            state = core.state()
            if core.success is not None:
                success = bool(core.own("success", core.success, state, bool)[0])
                reward = float(success)
            if core.reward is not None:
                reward = float(core.own("reward", core.reward, state, np.float64)[0])
        envs.settle([success and core.terminates])
        _, _, terminated, truncated = envs.results(True)
        info = {"is_success": success}
        return self._seen(), reward, bool(terminated[0]), bool(truncated[0]), info

    def render(self) -> Array | None:
        """A picture, with ``render_mode="rgb_array"``."""
        if self.render_mode is None or self._core.render_camera is None:
            return None
        return self._core.envs.render(0, self._core.render_camera)

    def get_state(self, mode: str = "tensor", *, cameras: Cameras = None,
                  extras: Sequence[str] | None = None, dtype: str = "f64") -> Any:
        """As :meth:`citrange.World.get_state`, of one environment."""
        more = None if extras is None else list(extras)
        state = self._core.envs.get_state(None, mode, cameras, more, dtype)
        return TensorState.from_mapping(state) if mode == "tensor" else state[0]

    def set_state(self, state: TensorState | DictState) -> list[str]:
        """As :meth:`citrange.World.set_state`."""
        return self._core.envs.set_state(settable(state, 1), None)

    def snapshot(self) -> Snapshot:
        """As :meth:`citrange.World.snapshot`."""
        return self._core.envs.snapshot(0)

    def restore(self, snapshot: Snapshot | bytes) -> None:
        """As :meth:`citrange.World.restore`."""
        self._core.envs.restore(0, snapshot)

    @property
    def targets(self) -> Array:
        """Joint targets in force, f64."""
        return self._core.envs.block("targets", True)[0]  # type: ignore[no-any-return]
