"""Whole numbers from outside, with their names in the messages."""

from __future__ import annotations

import operator
from collections.abc import Iterable
from typing import Any

from .errors import BadInput

#: What a seed or an index may be at most.
MOST = 2**64 - 1


def whole(number: Any, name: str, most: int = MOST) -> int:
    """A whole number, 0 or above."""
    try:
        index = operator.index(number)
    except TypeError:
        kind = type(number).__name__
        raise BadInput(f"{name}: a whole number is needed, not {number!r} ({kind})") from None
    if not 0 <= index <= most:
        raise BadInput(f"{name}: {index} is not between 0 and {most}")
    return index


def wholes(numbers: Iterable[Any] | None, name: str) -> list[int] | None:
    """Whole numbers, 0 or above; ``None`` stays."""
    if numbers is None:
        return None
    try:
        return [whole(number, name) for number in numbers]
    except TypeError:
        raise BadInput(f"{name}: a list of whole numbers is needed, not {numbers!r}") from None
