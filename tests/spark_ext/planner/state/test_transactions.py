"""What the planner keeps of transactions, without Spark."""

from __future__ import annotations

from collections.abc import Callable
from importlib.util import find_spec, module_from_spec
from pathlib import Path
from typing import Any

import pytest

import colonnade
from colonnade.manifests.errors import InvalidInputError
from colonnade.spark_ext.planner.catalog import databases
from colonnade.spark_ext.planner.procedures.by_name import PROCEDURES
from colonnade.spark_ext.planner.state import transactions
from colonnade.spark_ext.planner.state.transactions import TRANSACTIONS
from colonnade.spark_ext.planner.write import writes
from colonnade.tableformat.location import locate_existing
from colonnade.tableformat.write.settings import CommitSettings
from tests.spark_ext.planner.catalog.test_databases import ROWS, ids, planned, written


def test_no_state_has_the_number_of_one_of_another_planner() -> None:
    spec = find_spec(transactions.__name__)
    assert spec is not None
    assert spec.loader is not None
    numbers = set()
    for _ in range(2):
        module = module_from_spec(spec)
        spec.loader.exec_module(module)
        numbers.add(next(module._STATES))
    assert len(numbers) == 2
    assert all(transactions.is_state(number) and number < 2**53 - 2**31 for number in numbers)


def test_rows_that_meet_a_condition_go_also_where_none_take_their_place(tmp_path: Path) -> None:
    path = tmp_path / "t"
    writes.commit_write(written(planned(path)))
    is_2 = {"op": "=", "args": [{"column": ["id"]}, {"type": "bigint", "value": "2"}]}
    id_ = TRANSACTIONS.begin(locate_existing(path), CommitSettings())
    with TRANSACTIONS.within(id_):
        writes.commit_write(written(planned(path)))
        replaced = planned(path, overwrite=True, where=[is_2])
        writes.commit_write(written(replaced, ROWS.slice(0, 0)))
        TRANSACTIONS.end(lambda transaction: transaction.commit())
    assert ids(path) == [1, 1]


def test_operations_that_do_not_belong_to_a_transaction_are_refused_within_it(
    tmp_path: Path,
) -> None:
    writes.commit_write(written(planned(tmp_path / "a")))
    writes.commit_write(written(planned(tmp_path / "b")))
    change = {"kind": "set_properties", "set": {"x": "y"}, "remove": []}
    others: list[tuple[Callable[[dict[str, Any]], Any], dict[str, Any]]] = [
        (databases.create_database, {"path": str(tmp_path / "c")}),
        (databases.drop_database, {"path": str(tmp_path / "b"), "cascade": True}),
        (databases.alter_table, {"path": str(tmp_path / "b"), "changes": [change]}),
        (PROCEDURES["set_partitioning"].run, {"table": str(tmp_path / "b"), "fields": "id"}),
    ]
    id_ = TRANSACTIONS.begin(locate_existing(tmp_path / "a"), CommitSettings())
    with TRANSACTIONS.within(id_):
        for run, args in others:
            with pytest.raises(InvalidInputError, match="within a transaction; do it before"):
                run(args)
        TRANSACTIONS.end(lambda transaction: transaction.rollback())
    assert [path.name for path in sorted(tmp_path.iterdir())] == ["a", "b"]
    assert colonnade.open(tmp_path / "b").epoch == 1
