"""What each process was about to do, and what became of it: what the referee believes.

A killed process leaves its last line open: it is then unknown whether the commit landed.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import orjson

from colonnade.manifests.errors import CommitUnknownError, ConflictError


@dataclass(frozen=True)
class Step:
    """Append the pairs of a batch from `first` to before `end`, or delete those of them.

    `outcome` is `landed`, `refused`, or `open` if it is unknown.
    """

    action: str
    batch: int
    first: int
    end: int
    outcome: str = "open"


class Record:
    """The lines of one process. They are in the system's hands once they are written."""

    def __init__(self, folder: Path, name: str) -> None:
        flags = os.O_WRONLY | os.O_APPEND | os.O_CREAT
        self._file = os.open(folder / f"{name}-{os.getpid()}.jsonl", flags, 0o644)

    def note(self, **facts: Any) -> None:
        """Write one line."""
        os.write(self._file, orjson.dumps(facts, option=orjson.OPT_APPEND_NEWLINE))

    def take(self, step: Step, commit: Callable[[], object]) -> None:
        """Take a step, with a line before and one after it."""
        self.note(**asdict(step))
        try:
            commit()
        except CommitUnknownError:
            return
        except ConflictError:
            self.note(outcome="refused")
            return
        self.note(outcome="landed")


def read_lines(folder: Path, name: str) -> Iterator[dict[str, Any]]:
    """All lines of the processes whose name begins so; the last of one may be torn."""
    for path in sorted(folder.glob(f"{name}*.jsonl")):
        for line in path.read_bytes().splitlines(keepends=True):
            if line.endswith(b"\n"):
                yield orjson.loads(line)


def read_steps(folder: Path, name: str) -> list[Step]:
    """The steps of the processes whose name begins so."""
    steps: list[dict[str, Any]] = []
    for line in read_lines(folder, name):
        if "action" in line:
            steps.append(line)
        elif "outcome" in line:
            steps[-1] = {**steps[-1], **line}
    return [Step(**step) for step in steps]
