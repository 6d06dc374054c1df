"""Each method with a condition takes it in each form: text, parameters, `col`, or Arrow's own."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc
import pytest

import colonnade
from colonnade import ArrowTransactionTable, InvalidInputError, Scan, col

SCHEMA = pa.schema([pa.field("n", pa.int64(), nullable=False), ("v", pa.int64())])
ROWS = pa.table({"n": [1, 2, 3], "v": [10, 20, 30]}, SCHEMA)
FORMS = {
    "text": "n > 1",
    "parameters": ("n > ?", [1]),
    "col": col("n") > 1,
    "Arrow": pc.field("n") > 1,
}
NUMBERED = pc.field(0) > 1
"""A condition that no form of the others has."""

CALLS: dict[str, Callable[[Any, Any], Any]] = {
    "scan": lambda t, where: t.scan(where=where).to_pylist(),
    "count": lambda t, where: t.count(where),
    "dataset": lambda t, where: t.dataset(where=where).count_rows(),
    "to_arrow": lambda t, where: t.to_arrow(where=where).num_rows,
    "to_pandas": lambda t, where: len(t.to_pandas(where=where)),
    "to_polars": lambda t, where: t.to_polars(where=where).height,
    "to_pylist": lambda t, where: t.to_pylist(where=where),
    "delete": lambda t, where: t.delete(where).rows_deleted,
    "delete_range": lambda t, where: t.delete_range(where).rows_updated,
    "update": lambda t, where: t.update({"v": 0}, where).rows_updated,
    "overwrite": lambda t, where: t.overwrite(ROWS.slice(2), where),
}
OF_A_TABLE: dict[str, Callable[[Any, Any], Any]] = {
    **CALLS,
    "backfill": lambda t, where: t.backfill("v", 0, where).rows_updated,
    "changes": lambda t, where: t.changes(1, where=where).to_arrow().num_rows,
    "optimize": lambda t, where: t.optimize(where).executeCompaction().groups,
}
METHODS: dict[Any, dict[str, Callable[[Any, Any], Any]]] = {
    colonnade.ArrowTable: OF_A_TABLE,
    ArrowTransactionTable: CALLS,
}


def made(path: Path) -> Any:
    database = colonnade.create_database(path)
    table = database.create_table("t", SCHEMA, partition_by=["n"])
    table.append(ROWS)
    return database


def after(path: Path, kind: type, name: str, where: Any) -> Any:
    """What a method returns for a condition, and the rows after it."""
    database = made(path)
    if kind is colonnade.ArrowTable:
        found = OF_A_TABLE[name](database.table("t"), where)
    else:
        with database.transaction() as transaction:
            found = CALLS[name](transaction.table("t"), where)
            if name == "overwrite":
                found = found.rows_inserted
    return found, sorted(map(str, database.table("t").to_pylist()))


@pytest.mark.parametrize("kind", METHODS)
def test_every_method_with_a_condition_is_tried(kind: type) -> None:
    methods = inspect.getmembers(kind, inspect.isfunction)
    taking = {name for name, each in methods if "where" in inspect.signature(each).parameters}
    assert taking == METHODS[kind].keys()


@pytest.mark.parametrize(
    ("kind", "name"), [(kind, name) for kind, calls in METHODS.items() for name in calls]
)
def test_a_method_takes_each_form_of_a_condition(tmp_path: Path, kind: type, name: str) -> None:
    found = [after(tmp_path / form, kind, name, where) for form, where in FORMS.items()]
    assert found == [found[0]] * len(FORMS)
    with pytest.raises(InvalidInputError, match="of Arrow is no predicate"):
        after(tmp_path / "refused", kind, name, NUMBERED)


@pytest.mark.parametrize("form", FORMS)
def test_scans_merges_and_lazy_frames_take_each_form_too(tmp_path: Path, form: str) -> None:
    table = made(tmp_path / "db").table("t")
    assert isinstance(table.scan(), Scan)
    assert table.scan().filter(FORMS[form]).count() == 2
    assert colonnade.scan_polars(table.path, where=FORMS[form]).collect().height == 2
    matched: dict[str, Any] = {
        "text": "target.n > 1",
        "parameters": ("target.n > ?", [1]),
        "col": col("target.n") > 1,
        "Arrow": pc.field("target", "n") > 1,
    }
    merge = table.merge(ROWS, "n").when_matched_update({"v": 0}, matched[form])
    assert merge.execute().rows_updated == 2
    assert table.history()[0].parameters["clauses"].startswith("WHEN MATCHED AND target.n > 1")
