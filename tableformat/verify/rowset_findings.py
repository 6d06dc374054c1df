"""What the checks of one RowSet and of its columns share: the job, a buffer, and the findings."""

from __future__ import annotations

from dataclasses import dataclass, field

from colonnade.manifests.state.snapshot import LiveRowSet
from colonnade.manifests.store import ObjectStore
from colonnade.tableformat.jobs import Stop
from colonnade.tableformat.verify.findings import Finding, Kind
from colonnade.tableformat.verify.job import VerifyJob

WINDOW_BYTES = 2**21
"""The approximate number of stored bytes that are read at once, chosen to fit a CPU cache."""


@dataclass(slots=True)
class RowSetFindings:
    """A RowSet that is being checked, and what was found so far.

    `findings` and `bytes`, the number of bytes that were read, grow during the check.
    """

    store: ObjectStore
    job: VerifyJob
    rowset: LiveRowSet
    stop: Stop
    findings: list[Finding] = field(default_factory=list)
    bytes: int = 0
    _buffer: memoryview = field(default_factory=lambda: memoryview(b""))

    def buffer(self, size: int) -> memoryview:
        """Return memory of at least `size` bytes, reusing it while it is large enough."""
        if len(self._buffer) < size:
            self._buffer = memoryview(bytearray(max(size, WINDOW_BYTES)))
        return self._buffer

    def add(
        self,
        problem: str,
        file: str | None,
        column: str | None = None,
        block: int | None = None,
        rows: tuple[int, int] | None = None,
        kind: Kind = "damage",
    ) -> None:
        """Add a finding. `problem` is a sentence; `rows` are the first and the last row of it."""
        name = None if self.rowset.entry.place == "inline" else file
        found = Finding(
            kind,
            problem,
            name,
            self.job.view.table,
            self.rowset.id,
            column,
            block,
            rows,
            self.job.epoch,
        )
        self.findings.append(found)
