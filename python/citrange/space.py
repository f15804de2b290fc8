"""What is where: clouds become voxels.

>>> import numpy, citrange.space
>>> wall = numpy.stack(numpy.meshgrid(numpy.arange(-0.3, 0.3, 0.01), numpy.arange(-0.2, 0.2, 0.01),
...                                   [0.52]), -1).reshape(-1, 3)
>>> found = citrange.space.voxels(wall, voxel_size_m=0.05)
>>> found["centers_m"].shape[1]
3
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy.typing as npt

from . import _citrange

__all__ = ["voxels"]


def voxels(
    cloud: npt.ArrayLike, *, camera_pos_m: Sequence[float] = (0.0, 0.0, 0.0),
    camera_quat_wxyz: Sequence[float] = (1.0, 0.0, 0.0, 0.0), **settings: Any,
) -> dict[str, Any]:
    """Occupied cubes of a cloud: ``centers_m``, ``points`` in each, ``cluster``, ``counts``.

    ``cloud``: (N, 3), or (height, width, 3) where it is a picture, metres in the camera's frame
    (along +z, x right, y down). ``settings`` are the keys of a cell's pipeline: ``workspace``,
    ``voxel_size_m``, ``outliers``, …
    """
    pos, quat = [float(n) for n in camera_pos_m], [float(n) for n in camera_quat_wxyz]
    if len(pos) != 3 or len(quat) != 4:
        raise ValueError("camera_pos_m has 3 numbers, camera_quat_wxyz has 4")
    return _citrange.voxels(cloud, pos, quat, settings)
