"""What a verification found: values, for people and for programs."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from typing import Any, Literal

from colonnade.manifests.errors import ColonnadeError, StoreError, UnsupportedFormatError

Kind = Literal["damage", "cache", "understated", "newer", "unread"]

DEPTHS = {1: "log", 2: "indexes", 3: "checksums", 4: "values"}
"""What each depth looks at, beside all that those before it do."""


@dataclass(frozen=True, slots=True)
class Finding:
    """Something that is not as it should be.

    `kind`: `damage` is what a reader meets or may answer wrongly by; of a `cache` only speed
    suffers, and `repair` makes it anew. The second copy of an anchor counts as one; the first does
    not, and is damaged though its copy serves. Blocks that are `understated` take more bytes
    decoded than their index states: they are read, but the first releases refuse them; `repair`
    writes their RowSet anew. What is `newer` has a format that this version does not know, and the
    store refuses to read what is `unread`: of both nothing is known, and neither is called damaged.
    `file` is a name in the database; absent for what the log holds itself. `rows` are the first and
    last row concerned, as the RowSet stores them. `epoch` is one that a tag or pin keeps, where the
    newest one does not have the RowSet like this.
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
    """What a finding calls it that reading ended with an error.

    Raises the error itself where the store may answer later: then nothing is found yet.
    """
    if isinstance(error, StoreError):
        if error.retryable:
            raise error
        return "unread"
    return "newer" if isinstance(error, UnsupportedFormatError) else "damage"


@dataclass(frozen=True, slots=True)
class VerifyReport:
    """What was looked at, and what was found.

    `epoch` is the one whose RowSets were read: the newest that can be reached where the log is
    damaged, None where none can. `bytes` and `rows` count what was read of data, `leftovers` the
    files that vacuum would remove, with their sizes; None where the log is too damaged to tell.
    `warnings` are sentences about what is sound and will need somebody.
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
        """Whether all was read and nothing is damaged.

        Caches may be damaged, and blocks understated.
        """
        return not self._kinds & {"damage", "newer", "unread"}

    @property
    def is_damaged(self) -> bool:
        """Whether anything but caches is damaged, as far as it was read."""
        return "damage" in self._kinds

    @property
    def _kinds(self) -> set[Kind]:
        return {each.kind for each in self.findings}

    def damaged_rowsets(self, table: str) -> list[int]:
        """The RowSets of a table that `ArrowTable.repair` can put right, by id.

        Those with understated blocks are among them. Those that only a tag or pin keeps are not: an
        epoch stays as it was.
        """
        wanted = ("damage", "understated")
        found = [e for e in self.findings if e.kind in wanted and e.epoch is None]
        return sorted({e.rowset for e in found if e.table == table and e.rowset is not None})

    def to_json(self) -> dict[str, Any]:
        """A plain value that turns into JSON."""
        plain = asdict(self)
        plain["leftovers"] = None if self.leftovers is None else dict(self.leftovers)
        return {**plain, "looked_at": DEPTHS[self.depth], "sound": self.is_sound}

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
