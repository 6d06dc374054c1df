"""What a vacuum did, or would do: for people and for programs."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any


@dataclass(frozen=True, slots=True)
class RemovedFile:
    """A file that was, or would be, removed: its name in the database and its bytes."""

    name: str
    bytes: int


@dataclass(frozen=True, slots=True)
class VacuumResult:
    """One run of vacuum.

    `epoch` is the one that named the victims; None where nothing was to do, and in a dry run.
    `floor` is the oldest epoch that can be read from now on, `epochs_removed` how many files of
    the log became stubs. `held_by` are the pins and leases that kept more than the retention asks
    for; where one table was vacuumed, also the other tables whose retention did. `kept_epochs` are
    those below the floor that a tag or pin keeps.
    """

    dry_run: bool
    epoch: int | None
    floor: int
    epochs_removed: int
    files: tuple[RemovedFile, ...]
    kept_epochs: tuple[int, ...] = ()
    held_by: tuple[str, ...] = ()

    @property
    def bytes_removed(self) -> int:
        """The bytes of all files that were, or would be, removed."""
        return sum(each.bytes for each in self.files)

    def to_json(self) -> dict[str, Any]:
        """A plain value that turns into JSON."""
        files = [asdict(each) for each in self.files]
        return {**asdict(self), "files": files, "bytes_removed": self.bytes_removed}

    def __str__(self) -> str:
        would = "Would remove" if self.dry_run else "Removed"
        said = [
            f"{would} {len(self.files)} files of {self.bytes_removed} bytes and"
            f" {self.epochs_removed} epochs; the oldest readable epoch is {self.floor}."
        ]
        if self.kept_epochs:
            said.append(f"Kept besides: epochs {', '.join(map(str, self.kept_epochs))}.")
        said += [f"More is kept because of the {who}." for who in self.held_by]
        return " ".join(said)
