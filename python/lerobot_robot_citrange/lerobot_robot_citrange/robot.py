"""A simulated arm as LeRobot's Robot. It lives in time: what is asked of it does not drive its clock."""

from __future__ import annotations

import json
import time
from functools import cached_property
from typing import Any

import citrange
from lerobot.robots import Robot

from .config_citrange import CitrangeSO101Config

#: Arms that are connected, the newest last: teleoperators of this process move them.
ARMS: list[CitrangeSO101] = []
#: Whoever did not ask for so long finds the world as it was then: nobody wants a minute at once.
LONGEST_S = 0.25


class CitrangeSO101(Robot):
    """The first robot of a scene."""

    config_class = CitrangeSO101Config
    name = "citrange_so101"

    def __init__(self, config: CitrangeSO101Config) -> None:
        super().__init__(config)
        self.config = config
        size = [config.width, config.height] if config.width and config.height else None
        unit = "degrees" if config.use_degrees else "percent"
        settings = json.dumps(config.controller())
        self.arm = citrange._citrange.Arm(config.scene, settings, unit, config.camera_names, size)
        self._facts = self.arm.facts()
        # LeRobot counts them.
        self.cameras = dict.fromkeys(self._facts["cameras"])
        self._connected, self._then, self._owed = False, 0.0, 0.0
        self._episode = 0
        #: Who moves the arm instead of actions.
        self.driver: Any = None

    @cached_property
    def observation_features(self) -> dict[str, Any]:
        joints = self._facts["joints"]
        numbers = {f"{joint}.pos": float for joint in joints}
        if self.config.velocities:
            numbers |= {f"{joint}.vel": float for joint in joints}
        if self.config.ee_pos:
            numbers |= {f"ee.pos_{axis}": float for axis in "xyz"}
        sizes = self._facts["cameras"]
        return {**numbers, **{name: (high, wide, 3) for name, (high, wide) in sizes.items()}}

    @cached_property
    def action_features(self) -> dict[str, Any]:
        return {f"{joint}.pos": float for joint in self._facts["joints"]}

    @property
    def is_connected(self) -> bool:
        return self._connected

    def connect(self, calibrate: bool = True) -> None:
        self.arm.reset(self.config.seed, self._episode)
        self._connected, self._then, self._owed = True, time.perf_counter(), 0.0
        ARMS.append(self)
        # In LeRobot 0.6 the teleoperator is there first.
        if WAITING:
            WAITING.pop(0).take(self)

    @property
    def is_calibrated(self) -> bool:
        return True

    def calibrate(self) -> None:
        """A simulated arm knows where it is."""

    def configure(self) -> None:
        """Everything is said by the configuration."""

    def begin_episode(self) -> None:
        """Things stand anew, at the start of the next episode of the run."""
        self._episode += 1
        self.arm.reset(self.config.seed, self._episode)

    def live(self) -> None:
        """Lets the simulation come to now."""
        now = time.perf_counter()
        passed = min((now - self._then) * self.config.speed, LONGEST_S)
        self._then = now
        self._owed += passed * self._facts["control_hz"]
        ticks = int(self._owed)
        self._owed -= ticks
        if ticks:
            self.arm.advance(ticks)
        if self.driver is not None:
            self.driver.look_after(self)

    def get_observation(self) -> dict[str, Any]:
        self._must_be_connected()
        self.live()
        values, pictures = self.arm.observe()
        wanted = self.observation_features
        return {**{k: v for k, v in values.items() if k in wanted}, **pictures}

    def send_action(self, action: dict[str, Any]) -> dict[str, Any]:
        """Speeds (``vx``, ``vy``, ``vz``, ``yaw_rate``, ``gripper_delta``; m/s, rad/s) or positions
        (``<joint>.pos``), told apart by their names; answers the joint targets in force."""
        self._must_be_connected()
        self.live()
        # A teleoperator of ours moves the arm itself, tick by tick; its positions are those in force.
        if self.driver is None:
            self.arm.set_action({name: float(value) for name, value in action.items()})
            if all(name.endswith(".pos") for name in action):
                return dict(action)
        return self.arm.targets()

    def disconnect(self) -> None:
        self._must_be_connected()
        self._connected = False
        ARMS.remove(self)
        self.arm.close_page()

    def _must_be_connected(self) -> None:
        if not self._connected:
            raise ConnectionError(f"{self} is not connected: call connect() first")


#: Teleoperators that were connected before their arm.
WAITING: list[Any] = []
