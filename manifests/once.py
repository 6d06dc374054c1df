"""A property that is computed when it is first read, and kept."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Generic, TypeVar, overload

T = TypeVar("T")


class once(Generic[T]):
    """Make a method a property whose value its object keeps, in its `__dict__`.

    Two threads that read it first may both compute it, and one of the values stays. The
    `cached_property` of Python before 3.12 has one lock for all objects of a class instead. So the
    reads of one thread from a store keep all other threads waiting.
    """

    def __init__(self, compute: Callable[[Any], T]) -> None:
        self._compute, self.__doc__ = compute, compute.__doc__

    def __set_name__(self, owner: type, name: str) -> None:
        self._name = name

    @overload
    def __get__(self, owner: None, kind: type) -> once[T]: ...
    @overload
    def __get__(self, owner: object, kind: type) -> T: ...
    def __get__(self, owner: object | None, kind: type) -> once[T] | T:
        """Compute the value; from then on, Python finds it in the object itself."""
        if owner is None:
            return self
        value: T = vars(owner).setdefault(self._name, self._compute(owner))
        return value
