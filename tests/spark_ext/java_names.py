"""Has a process ask its JVM once what a name means.

py4j asks at each use, and Java then looks for the name in all 200 jars of Spark: PySpark uses one
for each statement, and about ten for each error. That is a tenth of the time of small statements.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from py4j.java_gateway import JavaPackage, JVMView


def keep_java_names() -> None:
    """Keep the classes and packages that this process finds. Requires: no jar is added later."""
    for kind in (JVMView, JavaPackage):
        kind.__getattr__ = _kept(kind.__getattr__)


def _kept(find: Callable[[Any, str], Any]) -> Callable[[Any, str], Any]:
    def found(holder: Any, name: str) -> Any:
        value = holder.__dict__[name] = find(holder, name)
        return value

    return found
