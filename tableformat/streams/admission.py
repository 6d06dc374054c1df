"""How many pieces fit the limits of a trigger. Pure."""

from __future__ import annotations

from dataclasses import dataclass, field

from colonnade.tableformat.streams.pieces import Piece


@dataclass(frozen=True, slots=True)
class Limits:
    """The most RowSets (`files`), stored `bytes` and `rows` of a trigger. None: no limit."""

    files: int | None = None
    bytes: int | None = None
    rows: int | None = None


@dataclass(slots=True)
class Admission:
    """The pieces of one trigger. The first piece always fits, and further ones within the limits.

    Rows that are deleted count, too, because the log knows the rows of a piece only with them.
    """

    limits: Limits
    files: set[int] = field(default_factory=set)
    bytes: int = 0
    rows: int = 0

    @property
    def is_empty(self) -> bool:
        """Whether no piece was admitted."""
        return not self.files

    def admits(self, piece: Piece) -> bool:
        """Return whether one more piece fits, and count it if it does."""
        files = self.files | piece.files
        size, rows = self.bytes + piece.bytes, self.rows + piece.rows
        most = self.limits
        within = (
            (most.files is None or len(files) <= most.files)
            and (most.bytes is None or size <= most.bytes)
            and (most.rows is None or rows <= most.rows)
        )
        if not (within or self.is_empty):
            return False
        self.files, self.bytes, self.rows = files, size, rows
        return True
