"""What a vacuum did, or would do: for people and for programs."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any

from colonnade.manifests.public import public


@public
@dataclass(frozen=True, slots=True)
class RemovedFile:
    """A file that was, or would be, removed: its name in the database and its size in bytes."""

    name: str
    bytes: int


@public
@dataclass(frozen=True, slots=True)
class VacuumResult:
    """The result of one run of vacuum.

    `epoch` is the epoch that named the victims; None if there was nothing to do, and in a dry run.
    `floor` is the oldest epoch that is readable from now on. `epochs_removed` is the number of
    removed epochs. `held_by` are the pins, leases and consumers that kept more than the retention
    requires. If one table was vacuumed, it also names other tables whose longer retention kept
    more.
    `kept_epochs` are the epochs below the floor that a tag or pin keeps.
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
        """Return the result as a value that can be written as JSON."""
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
