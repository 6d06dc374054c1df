"""Which of several processes, side by side, runs which tests: one has all that share a JVM.

Those come first, because what takes long shall not be what the end waits for. The process that
has them also goes first where processors are scarce.
"""

from __future__ import annotations

import os
from functools import cache
from pathlib import Path

import pytest
from xdist.scheduler import LoadFileScheduling

ROOT = Path(__file__).resolve().parents[2]
SHARED = ("spark_shell", "spark: SparkSession", "_tool import")
"""Which texts of a test module show that it uses a shared Spark, or the JVMs of the tools.

The one with the most tests is first. Each process that used the tools would compile them anew.
"""


def share(nodeid: str) -> str:
    """What of a run a test belongs to: to the tests of a JVM, or to those of its file."""
    path = nodeid.partition("::")[0]
    return _jvm_of(path) or path


def turn(item: pytest.Item) -> int:
    """When a test has its turn: after those of the JVMs that are shared, and of other Sparks."""
    jvm = _jvm_of(item.nodeid.partition("::")[0])
    if jvm is not None:
        return SHARED.index(jvm)
    return len(SHARED) + (item.get_closest_marker("spark") is None)


@cache
def files_with_jvm() -> tuple[str, ...]:
    """The test modules with such tests, in the order of their names."""
    paths = (each.relative_to(ROOT).as_posix() for each in ROOT.glob("tests/**/test_*.py"))
    return tuple(sorted(each for each in paths if _jvm_of(each) or "mark.spark" in _text(each)))


def make_way(item: pytest.Item) -> None:
    """Lower the priority of one of several processes, unless it has the first shared Spark."""
    if "PYTEST_XDIST_WORKER" in os.environ and turn(item):
        _lower_priority()


@cache  # once a process
def _lower_priority() -> None:
    os.nice(5)


@cache
def _jvm_of(path: str) -> str | None:
    # By the text: the process that shares tests out imports none of them.
    return next((name for name in SHARED if name in _text(path)), None)


@cache
def _text(path: str) -> str:
    return (ROOT / path).read_text()


class Sharing(LoadFileScheduling):  # type: ignore[misc]
    """Shares tests out as `share` says."""

    def _split_scope(self, nodeid: str) -> str:
        return share(nodeid)
