"""The changes of a shared epoch are told apart, and an epoch that contradicts itself is named."""

from __future__ import annotations

import pytest

from colonnade.manifests.model.epoch import Epoch, FurtherChange
from colonnade.manifests.model.members import (
    changes_of,
    find_change,
    only_adds,
    problem_of,
    transactions_of,
)
from colonnade.manifests.model.operations import AddRowSet, DropTable
from tests.log_samples import entry

TABLE = "0123456789abcdef"
TRANSACTIONS = tuple(f"{number:032x}" for number in range(3))


def shared(counts: tuple[int, ...] = (1, 2, 1), base: int = 3) -> Epoch:
    """An epoch of several appends, which add as many RowSets as `counts` says."""
    ops = tuple(AddRowSet(table=TABLE, rowset=entry(rows=10 + n)) for n in range(sum(counts)))
    further = tuple(
        FurtherChange(transaction=each, base=base, operation="append", engine="e", ops=count)
        for each, count in zip(TRANSACTIONS[1:], counts[1:], strict=True)
    )
    return Epoch(
        epoch=4,
        transaction=TRANSACTIONS[0],
        previous="f" * 32,
        base=3,
        time_ms=1,
        operation="append",
        engine="e",
        further=further,
        ops=ops,
    )


def test_each_change_has_its_own_operations_and_none_is_lost() -> None:
    epoch = shared()
    changes = changes_of(epoch)
    assert transactions_of(epoch) == tuple(each.transaction for each in changes) == TRANSACTIONS
    assert [len(each.ops) for each in changes] == [1, 2, 1]
    assert tuple(op for each in changes for op in each.ops) == epoch.ops
    assert {each.epoch for each in changes} == {4}


def test_a_change_is_found_by_its_transaction() -> None:
    epoch = shared()
    found = find_change(epoch, TRANSACTIONS[1])
    assert found is not None
    assert found.ops == epoch.ops[1:3]
    assert find_change(epoch, "e" * 32) is None
    assert find_change(None, TRANSACTIONS[0]) is None


def test_an_epoch_of_one_change_is_that_change() -> None:
    epoch = shared().model_copy(update={"further": None})
    assert changes_of(epoch) == (epoch,)


@pytest.mark.parametrize(
    ("changed", "problem"),
    [
        ({"further": ()}, "a change without operations"),
        ({"ops": shared().ops[:3]}, "a change without operations"),
        ({"transaction": TRANSACTIONS[1]}, "one transaction twice"),
        ({"epoch": 3}, "planned on a later epoch"),
        ({"ops": (*shared().ops[:3], DropTable(table=TABLE))}, "is not an append"),
    ],
)
def test_an_epoch_that_contradicts_itself_is_named(
    changed: dict[str, object], problem: str
) -> None:
    assert problem_of(shared()) is None
    assert only_adds(shared())
    assert problem in str(problem_of(shared().model_copy(update=changed)))
