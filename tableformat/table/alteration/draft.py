"""The draft of an altered table, and what every alteration is. Pure."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Collection, Mapping
from dataclasses import dataclass, field

from colonnade.manifests.model.constraints import CheckConstraint
from colonnade.manifests.model.entries import PartitionField, SortField
from colonnade.manifests.model.operations import Operation
from colonnade.manifests.model.primary_key import PrimaryKey
from colonnade.manifests.model.schema import TableSchema
from colonnade.manifests.state.snapshot import TableState
from colonnade.tableformat.table.alteration.stored_values import Demand
from colonnade.tableformat.table.design.lifetimes import Parts


@dataclass(slots=True)
class Draft:
    """A table as the changes so far have altered it.

    `table` is the table before all changes. `layout` is the new partition layout, `sort_key` the
    new sort key, and `primary_key` the new primary key; None means that the table keeps its own.
    `constraints` come with the columns that they were stated for. `lifetimes` are the parts of the
    table's lifetimes after the changes, and `now_ms` is the time of the changes. All of these
    become operations at the end. `properties` are those after the changes, as the log states them.
    `operations` are about them and everything else.
    `demands` say what the values of existing rows must be for the changes.
    """

    table: TableState
    schema: TableSchema
    next_id: int
    layout: tuple[PartitionField, ...] | None = None
    properties: dict[str, str] = field(default_factory=dict)
    constraints: dict[CheckConstraint, TableSchema] = field(default_factory=dict)
    sort_key: tuple[SortField, ...] | None = None
    primary_key: PrimaryKey | None = None
    lifetimes: Parts = field(default_factory=dict)
    now_ms: int = 0
    operations: list[Operation] = field(default_factory=list)
    demands: dict[int, list[Demand]] = field(default_factory=dict)

    def demand(self, column: int, demand: Demand) -> None:
        """Demand something of the existing values of a column or field, by its id."""
        self.demands.setdefault(column, []).append(demand)

    @property
    def key(self) -> PrimaryKey:
        """The primary key after the changes so far."""
        return self.table.primary_key if self.primary_key is None else self.primary_key

    @property
    def sorted_by(self) -> tuple[SortField, ...]:
        """The sort key after the changes so far."""
        return self.table.sort_key if self.sort_key is None else self.sort_key


class Alteration(ABC):
    """A change of a table. Its text is what the history of the table shows."""

    __slots__ = ()

    @abstractmethod
    def _apply(self, draft: Draft) -> None:
        """Edit the draft. Raises InvalidInputError or NotFoundError, which name the column."""

    @abstractmethod
    def __str__(self) -> str: ...


def without(properties: Mapping[str, str], names: Collection[str]) -> dict[str, str]:
    """Return the properties of other names."""
    return {name: text for name, text in properties.items() if name not in names}
