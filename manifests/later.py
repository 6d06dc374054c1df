"""Modules that are loaded when they are first used, because most programs never use them.

    if TYPE_CHECKING:
        import fsspec
    else:
        fsspec = later("fsspec")

Type checkers and the tests of the layers read the first import. It takes a microsecond to reach a
module in this way, so no loop over rows does it.
"""

from __future__ import annotations

from importlib import import_module
from types import ModuleType
from typing import Any


class _Later(ModuleType):
    """Stands for a module of its name, and loads it when an attribute is first asked for."""

    def __getattr__(self, name: str) -> Any:
        return getattr(import_module(self.__name__), name)


def later(name: str) -> ModuleType:
    """Return what stands for the module of this name. Using it raises the errors of its import."""
    return _Later(name)
