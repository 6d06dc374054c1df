"""The Java reader reads and prunes RowSets of a narrower type as the Python reader does."""

from __future__ import annotations

from pathlib import Path

import pyarrow as pa
import pytest

from colonnade.manifests.model.schema import TableSchema
from colonnade.manifests.state.replaced_columns import replacement_of
from colonnade.manifests.store import LocalStore
from colonnade.tableformat.predicate import bind, evaluate, parse_predicate, to_json
from tests.spark_ext.java.read_tool import ReadTool, expected_rows, plan_of, spark_schema
from tests.tableformat.rowset.test_adapt import conditions
from tests.tableformat.rowset.written import write
from tests.widened import CASES, ROWS, widened


@pytest.mark.parametrize(("old", "new"), CASES)
def test_a_rowset_of_a_narrower_type_is_read_and_pruned_in_the_wider_one(
    tool: ReadTool, tmp_path: Path, old: str, new: str
) -> None:
    case, store = widened(old, new), LocalStore(str(tmp_path))
    [entry] = write(store, case.before, case.stored, block_rows=ROWS, bloom_columns=frozenset({1}))
    wanted, every = spark_schema(case.after), expected_rows(case.wanted, case.after)
    plan = plan_of(case.after, [entry], prefix="t/")
    assert tool.rows(store.url, plan, wanted) == every
    pruned = 0
    for condition in conditions(case.wanted, new):
        predicate = parse_predicate(condition)
        plan = plan_of(case.after, [entry], prefix="t/", predicate=to_json(predicate))
        found = tool.rows(store.url, plan, wanted)
        matching = evaluate(bind(predicate, case.after), case.wanted).fill_null(False)
        rows = {row[-1] for row in expected_rows(case.wanted.filter(matching), case.after)}
        assert rows <= {row[-1] for row in found}, condition
        assert [every[int(row[-1])] for row in found] == found
        pruned += len(found) < len(every)
    assert pruned > 2


@pytest.mark.parametrize("replaced", ["before it widened", "after it widened"])
def test_a_replaced_column_is_read_in_its_newest_type(
    tool: ReadTool, tmp_path: Path, replaced: str
) -> None:
    case, store = widened("int", "decimal(20,2)"), LocalStore(str(tmp_path))
    other = widened("int", "decimal(20,2)", seed=1)
    early = replaced == "before it widened"
    schema, rows = (other.before, other.stored) if early else (other.after, other.wanted)
    alone = TableSchema(fields=schema.fields[:1])
    [entry] = write(store, case.before, case.stored, block_rows=ROWS)
    [part] = write(store, alone, rows.select(["a"]), block_rows=ROWS)
    replacement = replacement_of(part, (alone.fields[0].id,))
    plan = plan_of(
        case.after, [entry.model_copy(update={"replacements": (replacement,)})], prefix="t/"
    )
    columns = [other.wanted["a"], case.wanted["row"]]
    expected = pa.record_batch(columns, schema=case.wanted.schema)
    found = tool.rows(store.url, plan, spark_schema(case.after))
    assert found == expected_rows(expected, case.after)
