"""Make all golden files anew, after the bytes of the format changed on purpose.

`python -m tests.spec.make_golden` does so, and makes the JSON Schema and the bytes that pages show
anew, too. With names, such as `replace`, it makes only their files. The difference in version
control then shows what has changed.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from importlib import import_module
from pathlib import Path

from tests.spec import make_schema
from tests.spec.golden_logs import GoldenLog


def make(names: Sequence[str]) -> None:
    """Make the golden files of some test modules, or of all."""
    every = (path.stem for path in sorted(Path(__file__).parent.glob("test_golden_*.py")))
    for module in [f"test_golden_{name}" for name in names] or every:
        golden = vars(import_module(f"tests.spec.{module}"))
        for found in golden.values():
            if isinstance(found, GoldenLog):
                found.make()
        if "make" in golden:
            golden["make"]()


if __name__ == "__main__":
    make(sys.argv[1:])
    if not sys.argv[1:]:
        make_schema.write()
