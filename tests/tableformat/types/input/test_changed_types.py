"""A table says which types of Arrow it does not keep, and of all others it gives back the type."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

import colonnade
from colonnade.tableformat.types.input.changed_types import changed_types

CHANGED: list[tuple[pa.DataType, str]] = [
    (pa.uint8(), "short"),
    (pa.uint64(), "decimal(20,0)"),
    (pa.float16(), "float"),
    (pa.timestamp("ns"), "timestamp_ntz"),
    (pa.timestamp("s"), "timestamp_ntz"),
    (pa.timestamp("us", "Europe/Berlin"), "timestamp"),
    (pa.date64(), "date"),
    (pa.time32("s"), "time(6)"),
    (pa.duration("ns"), "interval day to second"),
    (pa.dictionary(pa.int8(), pa.string()), "string"),
    (pa.list_(pa.float32(), 3), "array<float>"),
    (pa.binary(16), "binary"),
]
KEPT = [
    *(pa.bool_(), pa.int8(), pa.int64(), pa.float32(), pa.float64(), pa.date32(), pa.null()),
    *(pa.string(), pa.large_string(), pa.string_view(), pa.binary(), pa.large_binary()),
    *(pa.decimal128(9, 2), pa.decimal256(9, 2), pa.timestamp("us"), pa.timestamp("us", "UTC")),
    *(pa.time64("ns"), pa.duration("us"), pa.large_list(pa.large_string())),
    *(pa.map_(pa.string(), pa.int64()), pa.struct([("a", pa.large_binary())])),
]


@pytest.mark.parametrize(("given", "own"), CHANGED, ids=str)
def test_a_type_that_comes_back_as_another_is_named_at_any_depth(
    given: pa.DataType, own: str
) -> None:
    assert changed_types([pa.field("x", given)]) == [("x", given, own)]
    inside = pa.struct([("ok", pa.int64()), ("l", pa.list_(given))])
    assert changed_types([pa.field("s", inside)]) == [("s.l.element", given, own)]
    assert changed_types([pa.field("m", pa.map_(pa.string(), given))])[0][0] == "m.value"


@pytest.mark.parametrize("given", KEPT, ids=str)
def test_a_type_that_differs_in_its_layout_alone_is_not_named(given: pa.DataType) -> None:
    assert changed_types([pa.field("x", given)]) == []


SCHEMA = pa.schema([("n", pa.uint64()), ("ok", pa.int64()), ("at", pa.timestamp("ns"))])
SAID = (
    r"Table 't' stores columns with other types than they are given with: 'n' \(uint64\) as"
    r" decimal\(20,0\), 'at' \(timestamp\[ns\]\) as timestamp_ntz"
)
GIVEN: dict[str, Any] = {
    "schema": SCHEMA,
    "rows": SCHEMA.empty_table(),
    "types": {"n": pa.uint64(), "ok": "long", "at": pa.timestamp("ns")},
    "fields": [SCHEMA.field(0), ("ok", int), ("at", pa.timestamp("ns"))],
    "frame": SCHEMA.empty_table().to_pandas(),
}


@pytest.mark.parametrize("given", GIVEN)
def test_create_announces_changed_types_once_where_the_user_called_it(
    given: str, tmp_path: Path
) -> None:
    with pytest.warns(UserWarning, match=SAID) as heard:
        colonnade.create(tmp_path / "t", GIVEN[given])
    assert len(heard) == 1
    assert heard[0].filename == __file__
    database = colonnade.create_database(tmp_path / "db")
    with pytest.warns(UserWarning, match=SAID) as heard:
        database.create_table("t", GIVEN[given])
    assert heard[0].filename == __file__
    with database.transaction() as tx, pytest.warns(UserWarning, match="Table 'u'") as heard:
        tx.create("u", GIVEN[given])
    assert heard[0].filename == __file__


@pytest.mark.parametrize("given", GIVEN)
def test_create_refuses_changed_types_where_that_is_asked_for(given: str, tmp_path: Path) -> None:
    with pytest.raises(colonnade.InvalidInputError, match=SAID):
        colonnade.create(tmp_path / "t", GIVEN[given], changed_types="refuse")
    with pytest.raises(colonnade.NotFoundError):
        colonnade.open(tmp_path / "t")
    with pytest.raises(colonnade.InvalidInputError, match="'warn', 'refuse' or 'accept', not 5"):
        colonnade.create(tmp_path / "t", GIVEN[given], changed_types=5)  # type: ignore[arg-type]


def test_create_is_silent_where_nothing_changes_or_the_user_accepts_it(
    tmp_path: Path, recwarn: pytest.WarningsRecorder
) -> None:
    colonnade.create(tmp_path / "a", SCHEMA, changed_types="accept")
    colonnade.create(tmp_path / "b", pa.schema([("s", pa.large_string())]))
    colonnade.create(tmp_path / "c", {"n": "decimal(20,0)"}, changed_types="refuse")
    assert len(recwarn) == 0
