"""What the planner keeps of transactions, without Spark."""

from __future__ import annotations

from importlib.util import find_spec, module_from_spec
from pathlib import Path

from spark_ext.planner import transactions, writes
from spark_ext.planner.transactions import TRANSACTIONS
from tableformat.location import locate_existing
from tableformat.write_settings import CommitSettings
from tests.spark_ext.planner.test_catalog_operations import ROWS, ids, planned, written


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
    writes.commit(written(planned(path)))
    is_2 = {"op": "=", "args": [{"column": ["id"]}, {"type": "bigint", "value": "2"}]}
    id_ = TRANSACTIONS.begin(locate_existing(path), CommitSettings())
    with TRANSACTIONS.within(id_):
        writes.commit(written(planned(path)))
        replaced = planned(path, overwrite=True, where=[is_2])
        writes.commit(written(replaced, ROWS.slice(0, 0)))
        TRANSACTIONS.end(lambda transaction: transaction.commit())
    assert ids(path) == [1, 1]
