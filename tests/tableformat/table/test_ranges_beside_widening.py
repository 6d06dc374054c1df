"""A range is deleted while its column widens and gets values that the narrower type cannot hold.

A bound such as 3.5 is between two values of an int, and means other rows once the column is a
double. What comes of both is what one of the two serial orders gives, or the statement is refused
and has changed nothing.
"""

from __future__ import annotations

import datetime as dt
from decimal import Decimal
from typing import Any

import pyarrow as pa
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from colonnade.manifests.errors import InvalidInputError
from colonnade.manifests.log.log import Log, create_database
from colonnade.manifests.model.schema import SchemaField, TableSchema
from colonnade.manifests.store import MemoryStore
from colonnade.tableformat.location import Location
from colonnade.tableformat.statements.commit import commit_written
from colonnade.tableformat.table.alteration import WidenColumn
from colonnade.tableformat.table.design.new_table import new_table
from colonnade.tableformat.table.table import ArrowTable
from colonnade.tableformat.write.job import plan_write
from tests.tableformat.table.test_evolution_races import Action, copied, opened, raced

NOON = dt.datetime(2020, 1, 3, 12)
DAYS = [dt.date(2020, 1, day) for day in range(1, 7)]
TIMES = [NOON.replace(hour=hour) for hour in (0, 6, 12, 18)]
NUMBERS = ("2", "3", "3.0", "3.2", "3.5", "3.7", "4", "3.5e0")
PARTS = [2.5, 3.0, 3.2, 3.5, 3.7, 4.0]
LARGE = ("3", "126.5", "32767", "2147483647.5", "2147483648", "9000000000")

WIDENED: dict[tuple[str, str], tuple[list[Any], list[Any], tuple[str, ...]]] = {
    ("byte", "short"): ([1, 2, 127], [3, 126, 127, 128, 300], LARGE),
    ("short", "double"): ([1, 2, 3, 4, 5], PARTS, NUMBERS),
    ("int", "long"): ([1, 3, 2**31 - 1], [3, 2**31 - 1, 2**31, 9 * 10**9], LARGE),
    ("int", "double"): ([1, 2, 3, 4, 5], PARTS, NUMBERS),
    ("int", "decimal(12,2)"): ([1, 2, 3, 4, 5], PARTS, NUMBERS),
    ("long", "decimal(22,2)"): ([1, 2, 3, 4, 5], PARTS, NUMBERS),
    ("float", "double"): ([1, 3.2, 3.5], [3.2, 3.5, float(pa.scalar(3.2, pa.float32()))], NUMBERS),
    ("decimal(3,1)", "decimal(5,2)"): ([1, 3.2, 3.5, 4], [3.15, 3.2, 3.49, 3.5, 120], NUMBERS),
    ("decimal(3,0)", "decimal(7,0)"): (
        [1, 3, 999],
        [3, 998, 999, 1000, 9999],
        ("3.5", "999", "1500"),
    ),
    ("date", "timestamp_ntz"): (
        DAYS,
        TIMES,
        ("DATE'2020-01-03'", *(f"TIMESTAMP_NTZ'2020-01-03 {h}:00:00'" for h in ("06", "12"))),
    ),
    ("varchar(2)", "varchar(5)"): (["a", "b", "cc"], ["b", "ba", "bbb", "cccc"], ("'b'", "'bbb'")),
    ("varchar(2)", "string"): (["a", "b", "cc"], ["b", "ba", "bbb", "cccc"], ("'b'", "'bbb'")),
}
"""By old and new type: the values before, those that come with the wider type, and bounds."""

OPERATORS = ("a < {0}", "a <= {0}", "a > {0}", "a >= {0}", "a = {0}", "a IN ({0}, {1})",
             "a BETWEEN {0} AND {1}", "a > {0} AND a < {1}", "a < {0} OR a >= {1}")  # fmt: skip

STATEMENTS: dict[str, Any] = {
    "delete_range": lambda where: lambda table: table.delete_range(where),
    "delete": lambda where: lambda table: table.delete(where),
    "overwrite": lambda where: (
        lambda table: table.overwrite(table.scan().limit(0).to_arrow(), where)
    ),
}


def made(old: str, values: list[Any]) -> MemoryStore:
    store = MemoryStore()
    base = create_database(store, lone_table=False)
    columns = [SchemaField(name="a", type=old, nullable=False), SchemaField(name="n", type="int")]
    design = new_table("t", TableSchema(fields=tuple(columns)), sort_key=["a"])
    job = plan_write(Location(store, "t", exists=True), base, "append", create=design)
    commit_written(job, (), Log(store), base)
    append(opened(store), values, 0)
    return store


def append(table: ArrowTable, values: list[Any], first: int) -> None:
    kind = table.schema.field("a").type
    exact = [Decimal(str(v)) for v in values] if pa.types.is_decimal(kind) else values
    numbers = pa.array(range(first, first + len(values)), pa.int32())
    table.append(pa.table({"a": pa.array(exact).cast(kind), "n": numbers}).cast(table.schema))


def numbers_of(store: MemoryStore) -> list[int]:
    found: list[int] = opened(store).scan().to_arrow()["n"].to_pylist()
    return sorted(found)


def serial(store: MemoryStore, *actions: Action) -> list[int] | None:
    """The rows after actions one after another; None if a condition is no range of its column."""
    store = copied(store)
    try:
        for action in actions:
            action(opened(store))
    except InvalidInputError:
        return None
    return numbers_of(store)


QUICK = {("int", "double"), ("decimal(3,1)", "decimal(5,2)"), ("date", "timestamp_ntz")}
PAIRS = [pytest.param(*each, marks=() if each in QUICK else pytest.mark.long) for each in WIDENED]


@pytest.mark.slow
@given(data=st.data())
@settings(max_examples=40)
@pytest.mark.parametrize(("old", "new"), PAIRS)
def test_a_range_beside_a_widening_deletes_the_rows_that_a_serial_order_deletes_or_none(
    old: str, new: str, data: st.DataObject
) -> None:
    before, later, bounds = WIDENED[old, new]
    low, high = data.draw(st.tuples(st.sampled_from(bounds), st.sampled_from(bounds)))
    where = data.draw(st.sampled_from(OPERATORS)).format(low, high)
    delete = STATEMENTS[data.draw(st.sampled_from([*STATEMENTS]))](where)
    widen_first = data.draw(st.booleans())

    def widen(table: ArrowTable) -> None:
        table.alter(WidenColumn("a", new))
        append(table, later, 100)

    base = made(old, before)
    orders = serial(base, delete, widen), serial(base, widen, delete)
    assume(orders[0] is not None)
    store = copied(base)
    late, first = (delete, widen) if widen_first else (widen, delete)
    with pytest.MonkeyPatch.context() as patched:
        committed = raced(store, late, first, patched)
    assume(opened(store).epoch > opened(base).epoch)  # A statement without a row commits nothing.
    if committed:
        assert numbers_of(store) in orders
    else:
        assert numbers_of(store) == serial(base, first)
        assert serial(store, late) == orders[widen_first]
    assert opened(store).verify(4).is_sound
