"""Random RowSets with every part that an entry may have."""

from __future__ import annotations

from typing import Any

from hypothesis import strategies as st

from colonnade.manifests.model.entries import (
    ByteCheck,
    ColumnReplacement,
    ColumnStatistics,
    PartitionField,
)
from colonnade.manifests.model.schema import SchemaField, TableSchema
from colonnade.manifests.state.snapshot import LiveRowSet
from tests.log_samples import entry, vector
from tests.tagged import tagged

INT64 = st.integers(-(2**63), 2**63 - 1)
BOUNDS: dict[int, st.SearchStrategy[Any]] = {
    1: INT64,
    2: st.floats(allow_nan=False),
    3: st.text(max_size=3),
    4: st.binary(max_size=3),
    5: st.integers(-(10**37), 10**37),
}
TYPES = ("long", "double", "string", "binary", "decimal(38,0)")
SCHEMA = TableSchema(
    fields=tuple(SchemaField(id=i, name=f"c{i}", type=t) for i, t in enumerate(TYPES, 1))
)

BY_BUCKET = PartitionField(transform="bucket", column=3, argument=16)
BY_LONG = PartitionField(transform="truncate", column=1, argument=10)
LAYOUTS = ((BY_BUCKET,), (BY_LONG, BY_BUCKET), (BY_LONG,))
MOMENTS = st.integers(0, 2**53 - 1)
PARTITION_VALUES = st.sampled_from((None, "i:0", "i:7"))


@st.composite
def statistics(draw: st.DrawFn, column: int) -> ColumnStatistics | None:
    shape = draw(st.integers(0, 4))
    if not shape:
        return None
    low, high = sorted(draw(st.tuples(BOUNDS[column], BOUNDS[column])))
    return ColumnStatistics(
        min=tagged(low) if shape > 1 else None,
        max=tagged(high) if shape > 2 else None,
        nulls=draw(st.integers(0, 6)),
        exact=shape == 4,
    )


def replacement(number: int, column: int) -> ColumnReplacement:
    return ColumnReplacement(
        columns=(column,), object=f"{number:016x}{column:016x}", place="packed", bytes=7,
        footer=ByteCheck(length=1, crc32c=1),
    )  # fmt: skip


@st.composite
def rowset_lists(draw: st.DrawFn) -> list[LiveRowSet]:
    made = []
    columns = draw(st.sets(st.sampled_from(sorted(BOUNDS)), max_size=3))
    partitioned = draw(st.booleans())
    for number in range(draw(st.integers(1, 5))):
        inline, irregular, unsynced, deleted = draw(st.tuples(*[st.booleans()] * 4))
        found = {column: draw(statistics(column)) for column in columns}
        changes = {
            "cuts": (2, 6) if irregular else 6,
            "statistics": {c: s for c, s in found.items() if s is not None},
            "unsynced": unsynced,
        }
        if draw(st.booleans()):
            changes["written_ms"] = tuple(sorted(draw(st.tuples(MOMENTS, MOMENTS))))
        changes["clean_epoch"] = draw(st.none() | st.integers(0, 2**53 - 1))
        if partitioned and (layout := draw(st.integers(0, len(LAYOUTS)))):
            values = draw(st.tuples(*(PARTITION_VALUES for _ in LAYOUTS[layout - 1])))
            changes |= {"partition_layout_id": layout, "partition": values}
        replaced = sorted(draw(st.sets(st.integers(1, 5), max_size=2)))
        made.append(
            LiveRowSet(
                id=5 + 3 * number,
                epoch=1 + number % 2,
                entry=entry(6, data="QUJD" if inline else None).model_copy(update=changes),
                vector=vector(2) if deleted else None,
                replacements=tuple(replacement(number, each) for each in replaced),
            )
        )
    return made
