"""Where the engine is: MuJoCo's own library, out of its Python package if nothing else is said."""

from __future__ import annotations

import importlib.util
import os
import pathlib
import platform
import sys

from ._citrange import ENGINE_VERSION

#: The variable that names a library of one's own, for the command as for this module.
VARIABLE = "CITRANGE_MUJOCO"


def find() -> None:
    """Points Citrange at the library in the package ``mujoco``, unless the user chose another."""
    if os.environ.get(VARIABLE):
        return
    package = importlib.util.find_spec("mujoco")
    for folder in (package.submodule_search_locations or []) if package else []:
        library = pathlib.Path(folder) / f"libmujoco.so.{ENGINE_VERSION}"
        if library.is_file():
            os.environ[VARIABLE] = str(library)
            return


def check_system() -> None:
    """Refuses systems that there is no engine for."""
    if sys.platform != "linux" or platform.machine() != "x86_64":
        raise ImportError(
            f"citrange runs on Linux x86_64; this is {sys.platform} {platform.machine()}"
        )
