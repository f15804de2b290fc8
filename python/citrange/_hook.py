"""Makes the environments known to Gymnasium when it is there, and costs nothing when it is not.

Gymnasium has no entry points for packages. So ``import citrange`` registers at once where gymnasium
is loaded already, and otherwise as soon as somebody imports it.
"""

from __future__ import annotations

import importlib.abc
import importlib.machinery
import sys
import types
from collections.abc import Sequence

_NAME = "gymnasium"


class _Loader(importlib.abc.Loader):
    """Gymnasium's own loader, and our registration after it."""

    def __init__(self, own: importlib.abc.Loader) -> None:
        self._own = own

    def create_module(self, spec: importlib.machinery.ModuleSpec) -> types.ModuleType | None:
        return self._own.create_module(spec)

    def exec_module(self, module: types.ModuleType) -> None:
        self._own.exec_module(module)
        _register()

    def __getattr__(self, name: str) -> object:
        return getattr(self._own, name)


class _Finder(importlib.abc.MetaPathFinder):
    """Waits for gymnasium; whoever finds it is the system, not we."""

    def find_spec(
        self, fullname: str, path: Sequence[str] | None, target: types.ModuleType | None = None
    ) -> importlib.machinery.ModuleSpec | None:
        if fullname != _NAME:
            return None
        sys.meta_path.remove(self)
        spec = importlib.util.find_spec(fullname)
        if spec is not None and spec.loader is not None:
            spec.loader = _Loader(spec.loader)
        return spec


def _register() -> None:
    from .envs_by_id import register

    register()


def install() -> None:
    """Registers now or when gymnasium is imported."""
    if _NAME in sys.modules:
        _register()
    elif not any(isinstance(finder, _Finder) for finder in sys.meta_path):
        sys.meta_path.insert(0, _Finder())
