"""Make golden files of the format, each by the test module that reads them.

Version 1 is frozen, so its golden files stay as they are: `test_frozen.py` fails if one changes.
`python -m tests.spec.make_golden NAME` makes those of `test_golden_NAME.py`, which new bytes need.
Without names, it makes all golden files, the JSON Schema and the bytes that pages show. The
difference in version control then shows what a writer stores in another way.
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
