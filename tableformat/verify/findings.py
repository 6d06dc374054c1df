"""The findings of a verification: values, for people and for programs."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from typing import Any, Literal

from colonnade.manifests.errors import ColonnadeError, StoreError, UnsupportedFormatError
from colonnade.manifests.public import public
from colonnade.tableformat.html import Rows, html_of

Kind = Literal["damage", "cache", "newer", "unread"]

DEPTHS = {1: "log", 2: "indexes", 3: "checksums", 4: "values"}
"""What each depth checks, in addition to the depths before it."""


@public
@dataclass(frozen=True, slots=True)
class Finding:
    """Something that is not as it should be.

    The values of `kind`:
    - `damage`: a reader fails, or may return wrong rows. Damage to the first copy of an anchor
      counts as damage, though its second copy is used.
    - `cache`: only speed suffers, and `repair` rebuilds it. The second copy of an anchor counts as
      one.
    - `newer`: the format is unknown to this version, so nothing is known about damage.
    - `unread`: the store refuses to read it, so nothing is known about damage.

    `file` is a name in the database; it is absent for what the log itself stores. `rows` are the
    first and last affected row, by stored row number. `epoch` is an epoch that a tag or pin keeps.
    It is set when the newest epoch does not have the RowSet in this form.
    """

    kind: Kind
    problem: str
    file: str | None = None
    table: str | None = None
    rowset: int | None = None
    column: str | None = None
    block: int | None = None
    rows: tuple[int, int] | None = None
    epoch: int | None = None

    def __str__(self) -> str:
        return f"{self.kind}: {self.problem}"


def kind_of(error: ColonnadeError) -> Kind:
    """Return the kind of finding for an error of a read.

    Raises the error itself when the store may answer later, because then nothing is known yet.
    """
    if isinstance(error, StoreError):
        if error.retryable:
            raise error
        return "unread"
    return "newer" if isinstance(error, UnsupportedFormatError) else "damage"


@public
@dataclass(frozen=True, slots=True)
class VerifyReport:
    """What was checked, and what was found.

    `epoch` is the epoch whose RowSets were checked. In a damaged log it is the newest one that can
    be reached, or None. `bytes` and `rows` count the data that was read. `leftovers` are the files
    that vacuum would remove, with their sizes; None when the log is too damaged to tell. `warnings`
    are sentences about what is sound now, but will need maintenance.
    """

    depth: int
    epoch: int | None
    findings: tuple[Finding, ...]
    tables: int
    rowsets: int
    rows: int
    bytes: int
    seconds: float
    leftovers: Mapping[str, int] | None = field(default_factory=dict)
    warnings: tuple[str, ...] = ()

    @property
    def is_sound(self) -> bool:
        """Whether everything was read and nothing is damaged.

        Caches may still be damaged.
        """
        return not self._kinds & {"damage", "newer", "unread"}

    @property
    def is_damaged(self) -> bool:
        """Whether anything except caches was found damaged."""
        return "damage" in self._kinds

    @property
    def _kinds(self) -> set[Kind]:
        return {each.kind for each in self.findings}

    def damaged_rowsets(self, table: str) -> list[int]:
        """Return the ids of a table's RowSets that `ArrowTable.repair` can repair.

        RowSets that only a tag or pin keeps are not included, because an epoch never changes.
        """
        found = [e for e in self.findings if e.kind == "damage" and e.epoch is None]
        return sorted({e.rowset for e in found if e.table == table and e.rowset is not None})

    def to_json(self) -> dict[str, Any]:
        """Return a plain value that converts to JSON."""
        plain = asdict(self)
        plain["leftovers"] = None if self.leftovers is None else dict(self.leftovers)
        return {**plain, "looked_at": DEPTHS[self.depth], "sound": self.is_sound}

    def _repr_html_(self) -> str:
        first, *said = str(self).splitlines()
        found = [(each.kind, each.problem, each.table, each.file) for each in self.findings]
        return html_of(
            first,
            [("", said[-1]), ("warnings", list(self.warnings))],
            Rows(("kind", "problem", "table", "file"), found),
        )

    def __str__(self) -> str:
        state = "no readable epoch" if self.epoch is None else f"epoch {self.epoch}"
        said = [
            f"Verified {state} at depth {self.depth} ({DEPTHS[self.depth]}): {self.tables} tables,"
            f" {self.rowsets} RowSets, {self.rows} rows, {self.bytes} bytes in"
            f" {self.seconds:.1f} s."
        ]
        said += [f"  {each}" for each in (*self.findings, *self.warnings)]
        if self.leftovers:
            size = sum(self.leftovers.values())
            said.append(f"Vacuum would remove {len(self.leftovers)} files of {size} bytes.")
        said.append("There is damage." if self.is_damaged else "Nothing is damaged.")
        if "newer" in self._kinds:
            said.append("Some of it has a newer format: verify it with the version that wrote it.")
        if "unread" in self._kinds:
            said.append("Some of it could not be read: verify it as a user who may read all files.")
        return "\n".join(said)
