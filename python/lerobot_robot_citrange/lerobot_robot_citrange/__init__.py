"""Citrange in LeRobot's own commands: ``--robot.type=citrange_so101``, ``--teleop.type=citrange_keys``
or ``citrange_autopilot``, ``--env.type=citrange``. LeRobot finds this package by its name."""

from .config_citrange import (
    CitrangeAutopilotConfig,
    CitrangeEnvConfig,
    CitrangeKeysConfig,
    CitrangeSO101Config,
)
from .robot import CitrangeSO101
from .teleoperators import CitrangeAutopilot, CitrangeKeys

__all__ = [
    "CitrangeAutopilot",
    "CitrangeAutopilotConfig",
    "CitrangeEnvConfig",
    "CitrangeKeys",
    "CitrangeKeysConfig",
    "CitrangeSO101",
    "CitrangeSO101Config",
]
