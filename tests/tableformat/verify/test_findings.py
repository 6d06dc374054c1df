"""A report says whether a database is sound, and which RowSets repair can mend."""

from __future__ import annotations

import json

import pytest

from colonnade.manifests.errors import CorruptionError, StoreError, UnsupportedFormatError
from colonnade.tableformat.verify.findings import Finding, Kind, VerifyReport, kind_of


def report(*findings: Finding) -> VerifyReport:
    return VerifyReport(3, 5, findings, 1, 2, 30, 400, 0.1, {"t/x": 7})


@pytest.mark.parametrize(
    ("kind", "sound", "damaged"),
    [
        ("damage", False, True),
        ("cache", True, False),
        ("newer", False, False),
        ("unread", False, False),
    ],
)
def test_each_kind_of_finding_has_its_meaning(kind: Kind, sound: bool, damaged: bool) -> None:
    found = report(Finding(kind, "t/x is wrong."))
    assert (found.is_sound, found.is_damaged) == (sound, damaged)
    assert json.loads(json.dumps(found.to_json()))["sound"] is sound
    assert f"{kind}: t/x is wrong." in str(found)


def test_only_rowsets_of_the_newest_state_can_be_repaired() -> None:
    found = report(
        Finding("damage", "", table="t", rowset=4),
        Finding("damage", "", table="t", rowset=4, column="x"),
        Finding("damage", "", table="t", rowset=2),
        Finding("damage", "", table="t", rowset=7, epoch=1),
        Finding("damage", "", table="u", rowset=9),
        Finding("cache", "", table="t", rowset=8),
        Finding("damage", "the hint"),
    )
    assert found.damaged_rowsets("t") == [2, 4]


def test_an_error_that_may_pass_is_no_finding() -> None:
    assert kind_of(CorruptionError("x")) == "damage"
    assert kind_of(UnsupportedFormatError("x")) == "newer"
    assert kind_of(StoreError("x", retryable=False)) == "unread"
    with pytest.raises(StoreError):
        kind_of(StoreError("x", retryable=True))
