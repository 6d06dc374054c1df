"""A MERGE leaves the rows that delta-rs leaves, in the examples of its pages and at random."""

from __future__ import annotations

import importlib
import random
import sys
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

import colonnade
from tests.setup import lakes

pytestmark = pytest.mark.long
Clause = tuple[str, dict[str, str] | None, str | None]
"""A clause of both builders: its method, its values, its condition."""

UPDATE, UPDATE_ALL, DELETE = "when_matched_update", "when_matched_update_all", "when_matched_delete"
INSERT, INSERT_ALL = "when_not_matched_insert", "when_not_matched_insert_all"
UPDATE_OTHERS, DELETE_OTHERS = (
    "when_not_matched_by_source_update",
    "when_not_matched_by_source_delete",
)
BOTH = {"x": "source.x", "y": "source.y"}
EXAMPLES: dict[str, tuple[Clause, ...]] = {
    "update": ((UPDATE, BOTH, None),),
    "update all": ((UPDATE_ALL, None, None),),
    "update all where": ((UPDATE_ALL, None, "source.y > target.y"),),
    "insert": ((INSERT, BOTH, None),),
    "insert all": ((INSERT_ALL, None, None),),
    "insert where": ((INSERT_ALL, None, "source.y < 8"),),
    "delete": ((DELETE, None, None),),
    "delete where": ((DELETE, None, "source.deleted = true"),),
    "update what the source lacks": ((UPDATE_OTHERS, {"y": "0"}, "target.y > 3"),),
    "delete what the source lacks": ((DELETE_OTHERS, None, None),),
    "upsert": ((UPDATE_ALL, None, None), (INSERT_ALL, None, None)),
    "upsert with deletes": (
        (DELETE, None, "source.deleted = true"),
        (UPDATE, BOTH, None),
        (INSERT, BOTH, "source.deleted = false"),
    ),
    "overwrite": ((UPDATE_ALL, None, None), (INSERT_ALL, None, None), (DELETE_OTHERS, None, None)),
}


@pytest.fixture
def delta(monkeypatch: pytest.MonkeyPatch) -> Any:
    # Behind all others, so that each package keeps Colonnade's version.
    monkeypatch.setattr(sys, "path", [*sys.path, str(lakes.installed())])
    return importlib.import_module("deltalake")


@pytest.mark.parametrize("name", EXAMPLES)
def test_an_example_of_delta_rs_leaves_the_same_rows(name: str, delta: Any, tmp_path: Path) -> None:
    target = pa.table(
        {"x": [1, 2, 3, 4], "y": [4, 5, 6, None], "deleted": [False, False, True, None]}
    )
    source = pa.table({"x": [2, 3, 5], "y": [5, 8, 11], "deleted": [True, False, False]})
    same_rows(delta, tmp_path, target, source, EXAMPLES[name])


@pytest.mark.parametrize("seed", range(40))
def test_random_clauses_leave_the_rows_that_delta_rs_leaves(
    seed: int, delta: Any, tmp_path: Path
) -> None:
    chosen = random.Random(seed)

    def rows(ids: list[int | None]) -> pa.Table:
        return pa.table(
            {
                "x": pa.array(ids, pa.int64()),
                "y": pa.array([chosen.choice([None, 1, 2, 3, 4]) for _ in ids], pa.int64()),
                "s": pa.array([chosen.choice([None, "", "a", "bé"]) for _ in ids], pa.string()),
            }
        )

    target = rows([*chosen.sample(range(3000), 2000), None])
    source = rows([*chosen.sample(range(3000), 500), None])
    matched = (None, "source.y > target.y", "target.s IS NULL", "source.s = 'a' OR target.y = 2")
    choices: list[list[Clause]] = [
        [
            (UPDATE, {"y": "source.y + target.y", "s": "upper(source.s)"}, chosen.choice(matched)),
            (UPDATE_ALL, None, chosen.choice(matched)),
            (DELETE, None, chosen.choice(matched)),
        ],
        [
            (INSERT, {"x": "source.x", "s": "coalesce(source.s, 'new')"}, "source.y IN (1, 2)"),
            (INSERT_ALL, None, chosen.choice((None, "source.s <> ''", "source.x % 2 = 0"))),
        ],
        [
            (UPDATE_OTHERS, {"y": "target.y * 2"}, chosen.choice((None, "target.s IS NOT NULL"))),
            (DELETE_OTHERS, None, "target.y = 3"),
        ],
    ]
    clauses: list[Clause] = []
    for group in choices:
        sample = chosen.sample(group, chosen.randint(0, len(group)))
        clauses += [clause for clause in sample if clause[2] is not None]
        # A clause without a condition takes all rows, so it is the last one of its group.
        clauses += [clause for clause in sample if clause[2] is None][:1]
    same_rows(delta, tmp_path, target, source, clauses or EXAMPLES["upsert"])


def same_rows(delta: Any, folder: Path, target: pa.Table, source: pa.Table, clauses: Any) -> None:
    """Both merge, and have the same rows afterwards."""
    ours = colonnade.create(folder / "ours", target)
    merge = ours.merge(source, on="x")
    for method, values, condition in clauses:
        arguments = [] if values is None else [values]
        merge = getattr(merge, method)(*arguments, condition)
    merge.execute()

    delta.write_deltalake(folder / "theirs", target)
    theirs = delta.DeltaTable(folder / "theirs")
    builder = theirs.merge(
        source, "target.x = source.x", source_alias="source", target_alias="target"
    )
    for method, values, condition in clauses:
        options = {} if values is None else {"updates": values}
        builder = getattr(builder, method)(**options, predicate=condition)
    builder.execute()

    order = [(name, "ascending") for name in target.column_names]
    expected = pa.table(theirs.to_pyarrow_table()).cast(target.schema)
    assert ours.to_arrow().sort_by(order).to_pylist() == expected.sort_by(order).to_pylist()
