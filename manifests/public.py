"""The mark of public classes and functions: users import them from `colonnade`."""

from __future__ import annotations

import inspect
from dataclasses import fields, is_dataclass
from typing import Any, TypeVar

T = TypeVar("T")


def public(found: T) -> T:
    """Make a public class or function say that it is of the module `colonnade`; a decorator.

    Tracebacks, pickles and completion then show the name that users write. A class is marked where
    it is written, because users also meet it before they name it, such as an error or a result.
    Python looks texts of annotations up in the module that a class says it is of. So the texts of
    the class are evaluated here, and what they name must be defined above the class.
    """
    marked: Any = found
    if isinstance(found, type) and "__annotations__" in vars(found):
        types = inspect.get_annotations(found, eval_str=True)
        marked.__annotations__ = types
        for field in fields(found) if is_dataclass(found) else ():
            field.type = types.get(field.name, field.type)
    marked.__module__ = "colonnade"
    if "__firstlineno__" in vars(found):
        # Since Python 3.13 a class knows its line, which `inspect` now looks for in another file.
        del marked.__firstlineno__
    return found
