"""A reader that does not know a feature refuses a database that needs it, and says which one."""

from __future__ import annotations

from pathlib import Path

import pytest

from colonnade.manifests.errors import UnsupportedFormatError
from colonnade.manifests.reading.reader import LogReader
from colonnade.manifests.state import features
from colonnade.manifests.store import LocalStore

GOLDEN = Path(__file__).parent / "golden"
DROPPED = {"log-v1-drop"}
"""Databases that no reader opens."""

CASES = [
    (folder.parent.name, feature)
    for folder in sorted(GOLDEN.glob("log-v1*/whole"))
    if folder.parent.name not in DROPPED
    for feature in sorted(LogReader(LocalStore(str(folder))).read_head().reader_features)
]
"""Golden logs, and each feature that their readers must know."""


def test_every_feature_of_a_reader_has_a_golden_log() -> None:
    assert {feature for _, feature in CASES} == features.READER_FEATURES


@pytest.mark.parametrize(("folder", "feature"), CASES)
def test_a_reader_without_a_feature_refuses_what_it_would_misread(
    monkeypatch: pytest.MonkeyPatch, folder: str, feature: str
) -> None:
    store = LocalStore(str(GOLDEN / folder / "whole"))
    head = LogReader(store).read_head()
    monkeypatch.setattr(features, "READER_FEATURES", features.READER_FEATURES - {feature})
    said = f"needs features that this version cannot read: {feature}; upgrade Colonnade"
    with pytest.raises(UnsupportedFormatError, match=said):
        LogReader(store).read_head()
    with pytest.raises(UnsupportedFormatError, match=said):
        LogReader(store).read_at(head.epoch)


@pytest.mark.parametrize("folder", sorted({folder for folder, _ in CASES}))
def test_a_reader_of_the_first_version_names_all_that_it_lacks(
    monkeypatch: pytest.MonkeyPatch, folder: str
) -> None:
    monkeypatch.setattr(features, "READER_FEATURES", frozenset())
    with pytest.raises(UnsupportedFormatError, match="upgrade Colonnade"):
        LogReader(LocalStore(str(GOLDEN / folder / "whole"))).read_head()
