"""RowSets as the log knows them, made from the values of one column."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass, replace

from hypothesis import strategies as st

from colonnade.manifests.model.entries import (
    ByteCheck,
    ColumnStatistics,
    DeletionVectorEntry,
    RowSetEntry,
)
from colonnade.manifests.model.schema import SchemaField, TableSchema
from colonnade.manifests.state.snapshot import LiveRowSet
from colonnade.manifests.state.view import View
from tests.tagged import tagged

COLUMN = SchemaField(id=1, name="x", type="double")
SCHEMA = TableSchema(fields=(COLUMN,))
CHECK = ByteCheck(length=1, crc32c=1)

Value = float | None


@dataclass(frozen=True)
class Sample:
    """One RowSet: its values, which rows are deleted, and how much wider its bounds are."""

    values: tuple[Value, ...]
    deleted: frozenset[int] = frozenset()
    slack: float = 0.0
    known: bool = True

    @property
    def live(self) -> list[Value]:
        """The values of the rows that are there."""
        return [v for row, v in enumerate(self.values) if row not in self.deleted]

    def rowset(self, number: int) -> LiveRowSet:
        """What the log says of it."""
        entry = RowSetEntry(
            object=f"{number:032x}",
            place="directory",
            rows=len(self.values),
            bytes=100,
            cuts=len(self.values),
            footer=CHECK,
            statistics={1: self._statistics()} if self.known else {},
        )
        return LiveRowSet.of(number, 1, entry, self._vector())

    def _vector(self) -> DeletionVectorEntry | None:
        if not self.deleted:
            return None
        return DeletionVectorEntry(object="0" * 32, cardinality=len(self.deleted), check=CHECK)

    def _statistics(self) -> ColumnStatistics:
        nulls = self.values.count(None)
        plain = [v for v in self.values if v is not None and not math.isnan(v)]
        nans = len(self.values) - nulls - len(plain)
        if not plain:
            return ColumnStatistics(nulls=nulls, nans=nans)
        low, high = min(plain) - self.slack, max(plain) + self.slack
        return ColumnStatistics(
            min=tagged(low),
            max=tagged(high),
            nulls=nulls,
            nans=nans,
            exact=not self.slack,
        )


@st.composite
def samples(draw: st.DrawFn) -> Sample:
    """RowSets of few rows and few distinct values, so that ties and all-NULL ones are common."""
    value = st.one_of(
        st.integers(-5, 5).map(float), st.none(), st.just(math.nan), st.just(math.inf)
    )
    values = tuple(draw(st.lists(value, min_size=1, max_size=5)))
    deleted = draw(st.sets(st.integers(0, len(values) - 1), max_size=len(values) - 1))
    slack = draw(st.sampled_from([0.0, 0.0, 1.0]))
    known = draw(st.sampled_from([True, True, True, False]))
    return Sample(values, frozenset(deleted), slack, known)


def order_key(value: float) -> tuple[bool, float]:
    """Spark's order of doubles: NaN is the greatest."""
    return (True, 0.0) if math.isnan(value) else (False, value)


def view_of(rowsets: Iterable[LiveRowSet]) -> View:
    """A view of RowSets that hides nothing."""
    return replace(View.written("", SCHEMA.fields), rowsets=tuple(rowsets))
