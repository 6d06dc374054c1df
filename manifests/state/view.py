"""What one reader sees of a table: the one value from which rows are read. Pure.

A state is what the log says. A view is a state together with what depends on its reader: the time
that decides what has expired, the columns, and the values of other tables. Each task gets a view:

    state   of table T after epoch 7: RowSets 3 and 4, a range tombstone on id > 90
    time    12:00, and rows of T expire an hour after `ts`
    view    RowSets 3 and 4; RowSet 4 hides id > 90 and ts <= 11:00, as its bounds meet both
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from functools import cache
from typing import Annotated, Any, ClassVar, TypeAlias

from pydantic import ConfigDict, PlainSerializer, TypeAdapter

from colonnade.manifests.model.regions import Mask, PlannedRegions, Region
from colonnade.manifests.model.schema import CLOSED, SchemaField, TableSchema
from colonnade.manifests.state.snapshot import LiveRowSet, TableState


def _whole_schema(schema: TableSchema) -> dict[str, Any]:
    # JSON leaves defaults out, and the tags of nested types are among them.
    return schema.model_dump(mode="json")


RowSetView: TypeAlias = tuple[LiveRowSet, tuple[Region, ...], tuple[Mask, ...]]
"""A RowSet, the regions whose rows a view hides, and those whose values it masks."""


@dataclass(frozen=True, slots=True)
class View:
    """RowSets of a table, and what one reader sees of them. A plain value with one JSON form.

    `epoch` is the last epoch that changed the table, and `prefix` that of the names of its objects.
    `now_ms` is the time of the reader in ms since 1970 UTC; None shows what has expired. Rows of a
    RowSet inside a region of `hidden` count as deleted, and values of `masks` as NULL; both are by
    the ids of the RowSets that have any. `statics` says where the values of static columns are,
    which the RowSets do not store.
    """

    __pydantic_config__: ClassVar[ConfigDict] = CLOSED

    table: str
    prefix: str
    epoch: int
    columns: Annotated[TableSchema, PlainSerializer(_whole_schema, when_used="json")]
    rowsets: tuple[LiveRowSet, ...] = ()
    now_ms: int | None = None
    hidden: Mapping[int, PlannedRegions] = field(default_factory=dict)
    masks: Mapping[int, tuple[Mask, ...]] = field(default_factory=dict)
    statics: Statics | None = None

    @classmethod
    def stored(cls, table: TableState, rowsets: Iterable[LiveRowSet] = ()) -> View:
        """Return a view that hides nothing of some RowSets of a table but their deleted rows."""
        return cls(table.name, table.prefix, table.changed_epoch, table.schema, tuple(rowsets))

    @classmethod
    def written(cls, prefix: str, columns: Iterable[SchemaField] = ()) -> View:
        """Return a view for RowSets that were just written, and that no epoch has added yet."""
        return cls("", prefix, 0, TableSchema(fields=tuple(columns)))

    def of(self, rowsets: Iterable[LiveRowSet]) -> View:
        """Return the view of some of its RowSets alone. They may lack what a reader can spare."""
        found = tuple(rowsets)
        ids = {each.id for each in found}
        return replace(
            self,
            rowsets=found,
            hidden={number: each for number, each in self.hidden.items() if number in ids},
            masks={number: each for number, each in self.masks.items() if number in ids},
        )

    def hidden_in(self, rowset: LiveRowSet) -> tuple[Region, ...]:
        """Return the regions of a RowSet whose rows count as deleted."""
        return self.hidden.get(rowset.id, ())

    def masks_of(self, rowset: LiveRowSet) -> tuple[Mask, ...]:
        """Return the regions of a RowSet in which values of a column count as NULL."""
        return self.masks.get(rowset.id, ())

    def is_counted(self, rowset: LiveRowSet) -> bool:
        """Return whether `row_count` of a RowSet is the number of rows that the view shows."""
        return rowset.id not in self.hidden

    def is_masked(self, rowset: LiveRowSet, column: SchemaField) -> bool:
        """Return whether values of a column may count as NULL, which its statistics do not know."""
        return any(each.column == column.id for each in self.masks_of(rowset))

    def of_rowset(self, rowset: LiveRowSet) -> RowSetView:
        """Return a value that is equal where two views show the same rows of a RowSet."""
        return rowset, self.hidden_in(rowset), self.masks_of(rowset)

    def to_json(self) -> str:
        """Return the view as one JSON object, without the values that are the defaults."""
        return _json().dump_json(self, exclude_defaults=True).decode()

    @classmethod
    def from_json(cls, text: str) -> View:
        """Read a view that `to_json` has written. Raises pydantic's ValidationError."""
        return _json().validate_json(text)


@dataclass(frozen=True, slots=True)
class Statics:
    """Where the static values of a table are: in a view of its table of static values.

    `key` has the columns of the partition key.
    """

    __pydantic_config__: ClassVar[ConfigDict] = CLOSED

    key: tuple[SchemaField, ...]
    view: View


@cache
def _json() -> TypeAdapter[View]:  # A view that stays in its process needs none.
    return TypeAdapter(View)
