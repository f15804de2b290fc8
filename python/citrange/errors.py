"""What can go wrong, one class for each kind: the exit codes of the command, as exceptions."""

from __future__ import annotations

__all__ = [
    "BadInput",
    "CitrangeError",
    "Failed",
    "Interrupted",
    "ProblemsFound",
    "RobotError",
    "UsageError",
]


class CitrangeError(Exception):
    """Something that Citrange could not do; the message says what would be right."""

    #: What the command would exit with.
    exit_code = 1


class Failed(CitrangeError, RuntimeError):
    """The machine or the program: a full disk, no permission, no engine."""

    exit_code = 1


class UsageError(CitrangeError, TypeError):
    """What was asked for lacks something."""

    exit_code = 2


class BadInput(CitrangeError, ValueError):
    """A file or value that is not there or not as it should be."""

    exit_code = 3


class ProblemsFound(CitrangeError):
    """A check ran and found problems."""

    exit_code = 4


class RobotError(CitrangeError, RuntimeError):
    """A robot, or the way to it."""

    exit_code = 5


class Interrupted(CitrangeError):
    """Somebody asked to stop before it was complete."""

    exit_code = 130
