"""An upsert replaces rows with a known key, and adds the other rows."""

from __future__ import annotations

import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.examples_of import examples
from tests.tableformat.statements.tables import filled, found, ids, made, rows


def test_upsert_replaces_rows_with_a_known_key_and_adds_rows_with_a_new_key() -> None:
    table = filled()
    table.delete("id = 7")
    counts = table.upsert(rows(5, 7, 105, 200, text="new"), on="id")
    assert (counts.rows_updated, counts.rows_inserted, counts.rowsets_touched) == (2, 2, 2)
    assert [r["id"] for r in found(table, "text = 'new'")] == [5, 7, 105, 200]
    assert ids(table) == [*range(10), *range(100, 110), 200]
    again = table.upsert(rows(5, text="newer"), on=["text", "id"])
    assert (again.rows_updated, again.rows_inserted) == (0, 1)
    assert ids(table).count(5) == 2
    assert table.upsert(rows(5), on="id").rows_updated == 2


KEYED = st.dictionaries(
    st.tuples(st.integers(0, 3), st.sampled_from("xyz")), st.integers(-9, 9), max_size=5
)


@pytest.mark.slow
@settings(max_examples=examples(60), deadline=None)
@given(st.lists(KEYED, max_size=6))
def test_upserts_agree_with_a_dict(upserts: list[dict[tuple[int, str], int]]) -> None:
    schema = pa.schema([("a", pa.int64()), ("b", pa.string()), ("v", pa.int64())])
    table, model = made(schema=schema), dict[tuple[int, str], int]()
    for new in upserts:
        data = [{"a": a, "b": b, "v": v} for (a, b), v in new.items()]
        counts = table.upsert(pa.Table.from_pylist(data, schema), on=["b", "a"])
        assert counts.rows_updated == len(model.keys() & new.keys())
        assert counts.rows_inserted == len(new.keys() - model.keys())
        model.update(new)
    got = {(r["a"], r["b"]): r["v"] for r in table.scan().to_arrow().to_pylist()}
    assert got == model
    assert table.scan().to_arrow().num_rows == len(model)
