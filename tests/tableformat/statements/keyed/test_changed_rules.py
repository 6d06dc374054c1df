"""A concurrent writer drops the primary key, or changes how rows merge, before a writer's slot."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pyarrow as pa
import pytest

from colonnade import AlterProperties, ArrowTable, DropPrimaryKey, WriteSettings
from colonnade.manifests.errors import ConflictError, InvalidInputError
from colonnade.manifests.ids import new_job_id
from colonnade.tableformat.statements.append import evaluate_append
from colonnade.tableformat.statements.change import complete, make_change
from colonnade.tableformat.table.transaction.transaction import ArrowTransaction
from colonnade.tableformat.write.settings import OnDuplicate
from tests.tableformat.statements.tables import another, log_of, made

SCHEMA = pa.schema([("k", pa.int64()), ("n", pa.int64())])


def keyed() -> ArrowTable:
    table = made(schema=SCHEMA, key=("k",), properties={"merge.n": "add"})
    table.append(rows((1, 1)))
    return table


def rows(*given: tuple[int, int]) -> pa.Table:
    return pa.Table.from_pylist([dict(zip("kn", each, strict=True)) for each in given], SCHEMA)


def content(table: ArrowTable) -> list[tuple[int, int]]:
    table.refresh()
    return sorted((row["k"], row["n"]) for row in table.scan().to_arrow().to_pylist())


@pytest.mark.parametrize("policy", ["error", "ignore"])
def test_rows_that_were_compared_land_in_a_table_without_the_key(policy: OnDuplicate) -> None:
    table = keyed()
    late = another(table)
    table.alter(DropPrimaryKey())
    table.append(rows((2, 2)))
    with ArrowTransaction(late._log, late._snapshot) as transaction:
        transaction.table("t").append(rows((4, 4)))
    late.append(rows((2, 20), (3, 3)), settings=WriteSettings(on_duplicate=policy))
    assert content(table) == [(1, 1), (2, 2), (2, 20), (3, 3), (4, 4)]


def test_an_append_does_what_the_table_says_by_now() -> None:
    table = keyed()
    table.alter(AlterProperties({"onDuplicate": "merge"}))
    late = another(table)
    table.alter(AlterProperties({"onDuplicate": "error"}))
    with pytest.raises(InvalidInputError, match="allows a key once"):
        late.append(rows((1, 5)))
    assert content(table) == [(1, 1)]


@pytest.mark.parametrize("change", [DropPrimaryKey(), AlterProperties({"merge.n": "max"})])
@pytest.mark.parametrize(
    "step",
    [
        lambda t: t.upsert(rows((1, 5), (2, 5))),
        lambda t: t.append(rows((1, 5)), settings=WriteSettings(on_duplicate="merge")),
    ],
    ids=["upsert", "append"],
)
def test_a_transaction_that_has_merged_is_refused_after_its_rules_have_changed(
    step: Callable[[Any], Any], change: Any
) -> None:
    table = keyed()
    transaction = ArrowTransaction(table._log, table._snapshot)
    step(transaction.table("t"))
    table.alter(change)
    with pytest.raises(ConflictError, match="merge modes of table 't' have changed"):
        transaction.commit()
    assert content(table) == [(1, 1)]


def planned_append(table: ArrowTable, policy: OnDuplicate, new: pa.Table) -> Callable[[], object]:
    """Compare new rows with the present state, and return what commits them."""
    base, job_id = table._refresh(), new_job_id()
    settings = WriteSettings(on_duplicate=policy)
    found = evaluate_append(log_of(table), table._state, new.to_batches(), job_id, settings)
    change = make_change(complete(found, log_of(table), table._state), table._state, job_id)
    return lambda: table._log.commit(change, base)


@pytest.mark.slow
@pytest.mark.parametrize("policy", ["error", "ignore", "merge"])
@pytest.mark.parametrize("more", [0, 70_000])
def test_rows_of_a_deleted_range_that_are_restored_keep_their_keys(
    policy: OnDuplicate, more: int
) -> None:
    """The restored RowSet has the same deletion vector as when its rows were hidden."""
    table = keyed()
    table.append(rows(*((key, 1) for key in range(10, 10 + more))))
    before = table.append(rows((5, 5), (6, 6)))
    table.delete_range("k = 5")
    commit = planned_append(another(table), policy, rows((5, 50), (7, 7)))
    table.restore(epoch=before)
    kept = [(key, 1) for key in range(10, 10 + more)]
    if policy == "error":
        with pytest.raises(InvalidInputError, match="allows a key once"):
            commit()
        assert content(table) == [(1, 1), (5, 5), (6, 6), *kept]
    else:
        commit()
        five = 5 if policy == "ignore" else 55
        assert content(table) == [(1, 1), (5, five), (6, 6), (7, 7), *kept]
