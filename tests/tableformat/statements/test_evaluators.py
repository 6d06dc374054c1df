"""What no state of a table could make right is refused before a state is read."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from colonnade.manifests.errors import InvalidInputError
from colonnade.manifests.model.schema import SchemaField, TableSchema
from colonnade.tableformat.statements import evaluators
from colonnade.tableformat.write.settings import WriteSettings

COLUMNS = TableSchema(fields=(SchemaField(id=1, name="id", type="long", nullable=False),))
ROWS = [{"id": 1}]
LEASE = WriteSettings(lease_hours=1)
EXPIRES = WriteSettings(ttl="1 hour")
NONE: Any = 5

REFUSED: dict[str, tuple[Callable[[], object], str]] = {
    "a condition": (lambda: evaluators.delete("id >", counted=False), "id >"),
    "the condition of a range": (lambda: evaluators.delete_range("id >", counted=False), "id >"),
    "the condition of an overwrite": (
        lambda: evaluators.overwrite(ROWS, "id >", None, may_lease=False),
        "id >",
    ),
    "the condition of an update": (lambda: evaluators.update({"id": 2}, "id >", None), "id >"),
    "settings of an overwrite": (
        lambda: evaluators.overwrite(ROWS, None, NONE, may_lease=True),
        "must be colonnade.WriteSettings",
    ),
    "settings of an upsert": (
        lambda: evaluators.upsert(COLUMNS, ROWS, None, NONE, ignore_unknown_columns=False),
        "must be colonnade.WriteSettings",
    ),
    "a lease for a part of the rows": (
        lambda: evaluators.overwrite(ROWS, "id = 1", LEASE, may_lease=False),
        "lease_hours works only",
    ),
    "a lease for partitions": (
        lambda: evaluators.overwrite_partitions(ROWS, LEASE),
        "lease_hours works only",
    ),
    "a time to live of rows that are there": (
        lambda: evaluators.update({"id": 2}, None, EXPIRES),
        "ttl is for new rows",
    ),
    "rows that are none": (
        lambda: evaluators.upsert(COLUMNS, NONE, None, None, ignore_unknown_columns=False),
        "int",
    ),
    "keys that are none": (lambda: evaluators.delete_keys(COLUMNS, NONE), "int"),
}


@pytest.mark.parametrize("case", REFUSED)
def test_what_no_state_could_make_right_is_refused_before_one_is_read(case: str) -> None:
    make, said = REFUSED[case]
    with pytest.raises(InvalidInputError, match=said):
        make()
