"""What can be said on LeRobot's command lines."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from lerobot.envs.configs import EnvConfig
from lerobot.robots import RobotConfig
from lerobot.teleoperators import TeleoperatorConfig

try:
    from lerobot.configs.types import FeatureType, PolicyFeature
except ImportError:  # 0.6
    from lerobot.configs import FeatureType, PolicyFeature


@RobotConfig.register_subclass("citrange_so101")
@dataclass(kw_only=True)
class CitrangeSO101Config(RobotConfig):
    """A simulated arm of a scene; the first robot, if there are several."""

    #: Scene by name or YAML file.
    scene: str = "orange_plate"
    #: Cameras to observe; all when ``None``.
    camera_names: list[str] | None = None
    #: Width and height of all pictures; as the scene has them when 0.
    width: int = 0
    height: int = 0
    #: Joint values in degrees, or in LeRobot's percent of range; grippers are 0 to 100 in both.
    use_degrees: bool = True
    #: Also observe ``<joint>.vel``.
    velocities: bool = False
    #: Also observe ``ee.pos_x``, ``ee.pos_y``, ``ee.pos_z``, the wrist in the world, metres.
    ee_pos: bool = False
    #: Seed of where things stand; episodes count up from 0.
    seed: int = 0
    #: Times real time.
    speed: float = 1.0
    # How wishes become joint targets; the arm's own where nothing is said.
    #: Speed of the hand while a key is held, m/s.
    lin_speed: float | None = None
    #: Speed of the wrist's roll, rad/s.
    yaw_speed: float | None = None
    #: Speed of the gripper, rad/s.
    grip_speed: float | None = None
    #: Strength of the correction of tilt.
    ori_gain: float | None = None
    #: Damping of the Jacobian for the position.
    lambda_pos: float | None = None
    #: Damping of the Jacobian for the tilt.
    lambda_tilt: float | None = None
    #: Limit of joint speeds of the arm, rad/s.
    vel_limit: float | None = None
    #: Limit of joint speeds of the wrist, rad/s.
    vel_limit_wrist: float | None = None
    #: Smoothing of joint speeds of the arm.
    smooth_dq: float | None = None
    #: Smoothing of joint speeds of the wrist.
    smooth_dq_wrist: float | None = None
    #: Gain of the wrist's gravity feed-forward.
    wrist_gff_gain: float | None = None
    #: Profile that the settings above change: default or seed.
    profile: str = "default"

    #: The settings of the controller, by their names in its files.
    CONTROLLER = (
        "lin_speed", "yaw_speed", "grip_speed", "ori_gain", "lambda_pos", "lambda_tilt", "vel_limit",
        "vel_limit_wrist", "smooth_dq", "smooth_dq_wrist", "wrist_gff_gain",
    )

    def controller(self) -> dict[str, Any]:
        """The settings that were said."""
        said = {name: getattr(self, name) for name in self.CONTROLLER}
        return {"profile": self.profile, **{k: v for k, v in said.items() if v is not None}}


@TeleoperatorConfig.register_subclass("citrange_keys")
@dataclass(kw_only=True)
class CitrangeKeysConfig(TeleoperatorConfig):
    """A person at the page of the arm, which is served while the teleoperator is connected."""

    #: Where the page is served; port 0 takes any free one.
    listen: str | None = None


@TeleoperatorConfig.register_subclass("citrange_autopilot")
@dataclass(kw_only=True)
class CitrangeAutopilotConfig(TeleoperatorConfig):
    """The arm works by itself at the job of its scene; every time it is done, things stand anew."""

    #: Numbers of the autopilot: a profile or a YAML file; what the scene says when ``None``.
    autopilot: str | None = None


@EnvConfig.register_subclass("citrange")
@dataclass
class CitrangeEnvConfig(EnvConfig):
    """A scene with a job as an environment: ``--env.task`` is one of OrangePlate-v0, Stack-v0,
    BlockBox-v0, Reach-v0; or any scene by ``--env.task=Scene-v0 --env.scene=FILE``."""

    task: str | None = "OrangePlate-v0"
    scene: str | None = None
    fps: int = 30
    episode_length: int = 900
    camera_names: list[str] = field(default_factory=lambda: ["front"])
    width: int = 160
    height: int = 120
    use_degrees: bool = True
    joints: int = 6
    #: One batched environment instead of one process or object for each (0.6 and newer).
    native_vector: bool = True
    features: dict[str, PolicyFeature] = field(default_factory=dict)
    features_map: dict[str, str] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.features = {
            "action": PolicyFeature(type=FeatureType.ACTION, shape=(self.joints,)),
            "agent_pos": PolicyFeature(type=FeatureType.STATE, shape=(self.joints,)),
        }
        self.features_map = {"action": "action", "agent_pos": "observation.state"}
        for name in self.camera_names:
            key = f"pixels/{name}"
            shape = (self.height, self.width, 3)
            self.features[key] = PolicyFeature(type=FeatureType.VISUAL, shape=shape)
            self.features_map[key] = f"observation.images.{name}"

    @property
    def package_name(self) -> str:
        """What LeRobot imports before it makes the environment."""
        return "lerobot_robot_citrange.envs"

    @property
    def gym_id(self) -> str:
        """The id in Gymnasium."""
        return f"citrange_lerobot/{self.task}"

    @property
    def gym_kwargs(self) -> dict[str, Any]:
        """What the environment is made with."""
        more = {} if self.scene is None else {"scene": self.scene}
        return {
            "cameras": self.camera_names, "size": (self.width, self.height),
            "use_degrees": self.use_degrees, "max_episode_steps": self.episode_length, **more,
        }

    def create_envs(self, n_envs: int, use_async_envs: bool = False) -> Any:
        """For 0.6: our own batched environment."""
        if not self.native_vector:
            return super().create_envs(n_envs, use_async_envs)
        import gymnasium

        from . import envs  # noqa: F401

        made = gymnasium.make_vec(
            self.gym_id, n_envs, vectorization_mode="vector_entry_point", **self.gym_kwargs
        )
        return {"citrange": {0: made}}
