"""Settings of a write and of a commit are checked when they are made, and become operations."""

from __future__ import annotations

from typing import Any

import pytest

from colonnade.manifests.errors import InvalidInputError
from colonnade.manifests.model.operations import Txn
from colonnade.tableformat.write.settings import CommitSettings, WriteSettings, check_settings

TABLE = "0123456789abcdef"


@pytest.mark.parametrize(
    ("kind", "values"),
    [
        (WriteSettings, {"target_bytes": 0}),
        (WriteSettings, {"max_records": 0}),
        (WriteSettings, {"lease_hours": 0}),
        (WriteSettings, {"lease_hours": 8761}),
        (WriteSettings, {"unknown": 1}),
        (CommitSettings, {"batch": ("", 1)}),
        (CommitSettings, {"batch": ("a" * 256, 1)}),
        (CommitSettings, {"batch": ("a", -1)}),
        (CommitSettings, {"expect_epoch": -1}),
    ],
)
def test_a_value_beyond_its_limits_is_refused_by_its_name(
    kind: Any, values: dict[str, Any]
) -> None:
    with pytest.raises(InvalidInputError, match=next(iter(values))):
        kind(**values)


def test_a_batch_becomes_an_operation_and_metadata_a_parameter_of_history() -> None:
    settings = CommitSettings(batch=("job", 7), metadata="nightly")
    assert settings._operations(TABLE) == (Txn(table=TABLE, app="job", version=7),)
    assert settings._parameters() == {"userMetadata": "nightly"}
    assert CommitSettings()._operations(TABLE) == ()
    assert CommitSettings()._parameters() == {}


def test_settings_of_another_type_are_refused() -> None:
    check_settings(None, None)
    check_settings(WriteSettings(), CommitSettings())
    with pytest.raises(InvalidInputError, match="must be colonnade.WriteSettings"):
        check_settings(CommitSettings(), None)  # type: ignore[arg-type]
    with pytest.raises(InvalidInputError, match="must be colonnade.CommitSettings"):
        check_settings(None, {"batch": 1})  # type: ignore[arg-type]


def test_only_a_write_of_new_rows_may_have_a_lease() -> None:
    leased = WriteSettings(lease_hours=1)
    check_settings(leased, None, may_lease=True)
    with pytest.raises(InvalidInputError, match="lease_hours works only for appending"):
        check_settings(leased, None)


def test_only_a_plain_write_may_choose_what_happens_to_a_key_that_is_there() -> None:
    chosen = WriteSettings(on_duplicate="ignore")
    check_settings(chosen, None)
    with pytest.raises(InvalidInputError, match="on_duplicate works only for appending"):
        check_settings(chosen, None, may_choose=False)
