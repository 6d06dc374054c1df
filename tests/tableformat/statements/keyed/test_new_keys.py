"""The keys of written rows are told part by part, each with the rows that have it."""

from __future__ import annotations

import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from colonnade.manifests.errors import InvalidInputError
from colonnade.manifests.ids import new_job_id
from colonnade.manifests.model.entries import RowSetEntry
from colonnade.tableformat.keys import parts
from colonnade.tableformat.statements.keyed import written_keys
from colonnade.tableformat.statements.keyed.new_keys import key_schema, new_keys
from colonnade.tableformat.statements.statement import write_batches
from tests.examples_of import examples
from tests.tableformat.statements.tables import made

SCHEMA = pa.schema(
    [
        pa.field("a", pa.float64(), nullable=False),
        pa.field("b", pa.string(), nullable=False),
        pa.field("v", pa.int64()),
    ]
)
KEYS = st.lists(st.tuples(st.sampled_from([-0.0, 0.0, 1.5]), st.sampled_from("xy")), max_size=9)


@pytest.mark.parametrize("part_rows", [parts.PART_ROWS, 2])
@settings(max_examples=examples(40), deadline=None)
@given(written=st.lists(KEYS.filter(bool), max_size=3))
def test_every_row_is_in_one_part_under_the_number_of_its_key(
    part_rows: int, written: list[list[tuple[float, str]]]
) -> None:
    table = made(schema=SCHEMA, key=["a", "b"], sort_key=["v"])
    state, store = table._state, table._log.store
    entries: list[RowSetEntry] = []
    for keys in written:
        a, b = zip(*keys, strict=True)
        rows = pa.table([a, b, range(len(keys))], SCHEMA).to_batches()
        entries += write_batches(table._log, state, new_job_id(), rows)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(parts, "PART_ROWS", part_rows)
        found = list(new_keys(store, state, key_schema(state), entries))
    seen = {}
    for part in found:
        for row in range(part.rows.num_rows):
            place = (int(part.places[0][row]), int(part.places[1][row]))
            key = tuple(column[row].as_py() for column in part.rows.columns)
            assert key == written[place[0]][place[1]]
            seen[place] = key
            first = int(part.firsts[part.numbers[row]])
            assert tuple(column[first].as_py() for column in part.rows.columns) == key
        assert len(part.firsts) == len(part.keys.codes[-1])
        assert set(part.repeated) == set(range(part.rows.num_rows)) - set(part.firsts.tolist())
    assert len(seen) == sum(map(len, written))
    assert sum(len(part.firsts) for part in found) == len({k for keys in written for k in keys})


def test_nan_is_no_key() -> None:
    table = made(schema=SCHEMA, key=["a", "b"])
    with pytest.raises(InvalidInputError, match="Column 'a' is a key and is NaN"):
        table.append(pa.table([[float("nan")], ["x"], [1]], SCHEMA))
    with pytest.raises(InvalidInputError, match="more than one new row has the key a = -?0.0"):
        table.append(pa.table([[0.0, -0.0], ["x", "x"], [1, 2]], SCHEMA))
    table.append(pa.table([[0.0], ["x"], [1]], SCHEMA))
    with pytest.raises(InvalidInputError, match="a row of the table has the key a = -0.0"):
        table.append(pa.table([[-0.0], ["x"], [1]], SCHEMA))


def test_one_look_tells_that_many_rows_differ(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(parts, "PART_ROWS", 10)
    monkeypatch.setattr(written_keys, "new_keys", None)
    table = made(schema=SCHEMA, key=["a", "b"])
    rows = [[float(n) for n in range(100)], ["x"] * 100, [1] * 100]
    table.append(pa.table(rows, SCHEMA))
    table.overwrite(pa.table(rows, SCHEMA))
    assert table.scan().to_arrow().num_rows == 100
    with pytest.raises(InvalidInputError, match="NaN"):
        table.overwrite(pa.table([[float("nan")] * 100, *rows[1:]], SCHEMA))
