"""How far a stream has read its table: one JSON object, which the stream's checkpoint stores."""

from __future__ import annotations

from typing import Literal, NamedTuple

from colonnade.manifests.errors import InvalidInputError
from colonnade.manifests.model.entries import Count
from colonnade.manifests.model.schema import Model


class Place(NamedTuple):
    """A place in a stream: right before a row of a RowSet that an epoch brings."""

    epoch: int
    rowset: int = 0
    row: int = 0


class Offset(Model):
    """How far a stream has read: all that precedes its `place`.

    All epochs before `epoch` are read. Some rows of `epoch` are read, too: those of RowSets with
    ids below `rowset`, and those of this RowSet before `row`. Rows count from 0, and
    `row` is at a cut of the RowSet.

    The stream began with the epoch `began`. With `snapshot`, it began with all rows that the table
    had after that epoch; else with those that the epoch brings. `database` and `table` are the ids
    of the table, and `stream` is the version of this form.
    """

    stream: Literal[1] = 1
    database: str
    table: str
    began: Count
    snapshot: bool
    epoch: Count
    rowset: Count = 0
    row: Count = 0

    @property
    def place(self) -> Place:
        """The place where the stream reads on."""
        return Place(self.epoch, self.rowset, self.row)

    @property
    def in_snapshot(self) -> bool:
        """Whether rows are left of those that the table had when the stream began."""
        return self.snapshot and self.epoch == self.began

    def at(self, place: Place) -> Offset:
        """Return the offset of the same stream at another place."""
        return self.model_copy(update=place._asdict())

    def beginning(self) -> Offset:
        """Return the offset at which the stream began."""
        return self.at(Place(self.began))

    def to_json(self) -> str:
        """Return the offset as one JSON object."""
        return self.model_dump_json()


def unfit_error(place: Place) -> InvalidInputError:
    """Return the error for an offset inside of a piece, after which rows would be left out."""
    return InvalidInputError(
        f"The checkpoint of the stream ends at row {place.row} of RowSet {place.rowset} in epoch"
        f" {place.epoch}, where no batch ends: it is damaged, or the stream had other options, such"
        " as ignoreChanges; use these options, or start the stream with another checkpointLocation."
    )


def parse_offset(text: str) -> Offset:
    """Read an offset that `to_json` has written. Raises InvalidInputError for any other text."""
    try:
        found = Offset.model_validate_json(text)
        if found.epoch < found.began:
            raise ValueError("it reads epochs from before the stream began")
        return found
    except ValueError as error:
        raise InvalidInputError(
            f"The checkpoint of the stream has an offset that cannot be read, {text[:200]!r}: it is"
            " damaged, or another version has written it; use that version, or start the stream"
            " with another checkpointLocation."
        ) from error
