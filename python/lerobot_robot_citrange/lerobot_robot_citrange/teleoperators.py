"""Who moves a simulated arm of this process: a person at its page, or the autopilot. What they decide
is carried out tick by tick; LeRobot is given the joint targets in force."""

from __future__ import annotations

from functools import cached_property
from typing import Any

from lerobot.teleoperators import Teleoperator

from .config_citrange import CitrangeAutopilotConfig, CitrangeKeysConfig
from .robot import ARMS, WAITING, CitrangeSO101

#: Joints, where they are asked for before there is an arm.
SO101 = ("shoulder_pan", "shoulder_lift", "elbow_flex", "wrist_flex", "wrist_roll", "gripper")


class _Driver(Teleoperator):
    """What both have in common: the arm that they move."""

    def __init__(self, config: Any) -> None:
        super().__init__(config)
        self.config = config
        self.robot: CitrangeSO101 | None = None
        self._connected = False

    @cached_property
    def action_features(self) -> dict[str, Any]:
        robot = self.robot or (ARMS[-1] if ARMS else None)
        return dict(robot.action_features) if robot else {f"{joint}.pos": float for joint in SO101}

    @property
    def feedback_features(self) -> dict[str, Any]:
        return {}

    @property
    def is_connected(self) -> bool:
        return self._connected

    def connect(self, calibrate: bool = True) -> None:
        self._connected = True
        free = [arm for arm in ARMS if arm.driver is None]
        if free:
            self.take(free[-1])
        else:
            WAITING.append(self)

    @property
    def is_calibrated(self) -> bool:
        return True

    def calibrate(self) -> None:
        """There is nothing to calibrate."""

    def configure(self) -> None:
        """Everything is said by the configuration."""

    def take(self, robot: CitrangeSO101) -> None:
        """Moves this arm from now on."""
        self.robot, robot.driver = robot, self

    def look_after(self, robot: CitrangeSO101) -> None:
        """Called whenever the arm has come to now."""

    def get_action(self) -> dict[str, Any]:
        if self.robot is None:
            raise ConnectionError(
                f"{self} moves a simulated arm of this process, and none is connected: use it with "
                "--robot.type=citrange_so101"
            )
        self.robot.live()
        return self.robot.arm.targets()

    def send_feedback(self, feedback: dict[str, Any]) -> None:
        """Nobody feels anything."""

    def disconnect(self) -> None:
        self._connected = False
        if self in WAITING:
            WAITING.remove(self)
        if self.robot is not None:
            self.robot.driver = None
            self.robot = None


class CitrangeAutopilot(_Driver):
    """The autopilot of the scene's job."""

    config_class = CitrangeAutopilotConfig
    name = "citrange_autopilot"

    def take(self, robot: CitrangeSO101) -> None:
        super().take(robot)
        robot.arm.autopilot(self.config.autopilot)

    def look_after(self, robot: CitrangeSO101) -> None:
        if robot.arm.outcome() is not None:
            robot.begin_episode()
            robot.arm.autopilot(self.config.autopilot)

    def disconnect(self) -> None:
        if self.robot is not None:
            self.robot.arm.take_back()
        super().disconnect()


class CitrangeKeys(_Driver):
    """A person at the page of the arm, with its dead-man switch: what is not held does not move."""

    config_class = CitrangeKeysConfig
    name = "citrange_keys"

    def take(self, robot: CitrangeSO101) -> None:
        super().take(robot)
        for line in robot.arm.open_page(self.config.listen):
            print(line)

    def look_after(self, robot: CitrangeSO101) -> None:
        if "reset" in robot.arm.orders():
            robot.begin_episode()

    def disconnect(self) -> None:
        if self.robot is not None:
            self.robot.arm.close_page()
        super().disconnect()
