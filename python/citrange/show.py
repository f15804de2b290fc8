"""Pictures and films inline, for notebooks."""

from __future__ import annotations

import base64
import os
import struct
import zlib
from typing import Any

import numpy as np
import numpy.typing as npt

__all__ = ["Film", "Picture", "film", "picture", "png"]


def png(rgb: npt.ArrayLike) -> bytes:
    """The bytes of a PNG file of a picture (height, width, 3)."""
    array = np.ascontiguousarray(rgb, np.uint8)
    if array.ndim != 3 or array.shape[2] != 3:
        raise ValueError(f"picture: shape {array.shape}; (height, width, 3) is needed")
    height, width, _ = array.shape

    def chunk(kind: bytes, data: bytes) -> bytes:
        return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))

    rows = np.concatenate([np.zeros((height, 1), np.uint8), array.reshape(height, -1)], axis=1)
    header = struct.pack(">IIBBBBB", width, height, 8, 2, 0, 0, 0)
    data = zlib.compress(rows.tobytes(), 6)
    return b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", header) + chunk(b"IDAT", data) + chunk(b"IEND", b"")


class Picture:
    """A picture that a notebook shows."""

    def __init__(self, rgb: npt.ArrayLike) -> None:
        self.data = png(rgb)

    def _repr_png_(self) -> bytes:
        return self.data


class Film:
    """A film that a notebook shows."""

    def __init__(self, path: str | os.PathLike[str]) -> None:
        with open(path, "rb") as file:
            self.data = file.read()

    def _repr_html_(self) -> str:
        data = base64.b64encode(self.data).decode()
        return f'<video controls loop muted src="data:video/mp4;base64,{data}"></video>'


def picture(rgb: npt.ArrayLike) -> Picture:
    """A picture, inline."""
    return Picture(rgb)


def film(dataset: Any, episode: int = 0, path: str | os.PathLike[str] = "film.mp4") -> Film:
    """An episode of a dataset repeated and filmed, all cameras side by side, inline."""
    from .verbs import replay

    root = dataset.root if hasattr(dataset, "root") else dataset
    replay(root, episode, film=path)
    return Film(path)
