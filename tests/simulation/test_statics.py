"""Static values are those of the last change that landed, whatever processes do beside it."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from typing import Any
from unittest.mock import patch

import numpy as np
import pyarrow as pa
import pytest

from colonnade.manifests.state import fold
from colonnade.tableformat.rowset.view import statics
from colonnade.tableformat.statements import static_split, static_values
from tests.simulation.statics import Statics, simulate_statics

_real_last_values = static_split.last_values

SEEDS = 100
"""Each planted mistake must be found within this many seeds."""


@pytest.mark.slow
@pytest.mark.parametrize("runs", [4, pytest.param(200, marks=pytest.mark.long)])
def test_every_epoch_shows_the_static_values_that_were_set_last(runs: int) -> None:
    found = [simulate_statics(seed) for seed in range(runs)]
    assert sum(each.reads for each in found) > 8 * runs
    assert sum(each.record.statics for each in found) > 8 * runs


@pytest.mark.slow
def test_a_seed_tells_the_whole_run() -> None:
    def story(run: Statics) -> list[tuple[str, str]]:
        return [(each.transaction, each.operation) for each in run.record.epochs]

    assert story(simulate_statics(3)) == story(simulate_statics(3))


def _patched(owner: Any, name: str, new: Any) -> Callable[[], AbstractContextManager[Any]]:
    return lambda: patch.object(owner, name, new)


def _first_values(rows: pa.Table, key: Any, columns: Any, *, nulls: bool) -> Any:
    """The first value of each key counts, and not the last one."""
    turned = rows.take(pa.array(np.arange(rows.num_rows)[::-1]))
    return _real_last_values(turned, key, columns, nulls=nulls)


@contextmanager
def _deleted_static_values_are_shown() -> Iterator[None]:
    with patch.object(statics, "read_deleted", lambda *_: None):
        yield


def _stale_statics(self: Any) -> None:
    """A table keeps the state of its static values from its own last change."""


BUGS: dict[str, Callable[[], AbstractContextManager[Any]]] = {
    "an update does not look whether values are still there": _patched(
        static_values, "_check_unchanged", lambda *_: None
    ),
    "rows do not look at the slot which values are there": _patched(
        static_values._SlotMerge, "_resolve", lambda brought, *_: brought._result
    ),
    "the first value of a batch wins": _patched(static_split, "last_values", _first_values),
    "deleted static values are shown": _deleted_static_values_are_shown,
    "a change of static values alone does not reach the table": _patched(
        fold._Fold, "_join_statics", _stale_statics
    ),
}


def _run_seeds() -> None:
    for seed in range(SEEDS):
        simulate_statics(seed)


@pytest.mark.slow
@pytest.mark.parametrize("bug", BUGS)
def test_a_planted_mistake_is_found(bug: str) -> None:
    with BUGS[bug](), pytest.raises(AssertionError, match="seed"):
        _run_seeds()
