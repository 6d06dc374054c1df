"""A database is used only by code that knows its features, and blocks of slots are stated once."""

from __future__ import annotations

import pytest

from colonnade.manifests.errors import CorruptionError, UnsupportedFormatError
from colonnade.manifests.model.operations import EnableFeatures
from colonnade.manifests.model.slot_blocks import FREED_SLOTS, UPGRADED_SLOTS
from colonnade.manifests.state.features import (
    READER_FEATURES,
    WRITER_FEATURES,
    FeaturesFold,
    check_reader_features,
)
from colonnade.manifests.store import MemoryStore
from tests.log_samples import database

SLOTS = (FREED_SLOTS, UPGRADED_SLOTS)


def fold(*, slots: bool = False) -> FeaturesFold:
    """The features of a database without any, or with blocks of slots."""
    made = FeaturesFold(database(MemoryStore()))
    made.reader = made.writer = frozenset(SLOTS if slots else ())
    made.slot_block = 8 if slots else None
    return made


def test_known_features_are_accepted_and_unknown_ones_are_all_named_in_order() -> None:
    check_reader_features(READER_FEATURES | WRITER_FEATURES)
    with pytest.raises(UnsupportedFormatError, match=r"cannot read: cubes, zebras; upgrade"):
        check_reader_features(["zebras", FREED_SLOTS, "cubes"])


def test_a_feature_counts_only_if_readers_and_writers_must_know_it() -> None:
    features = fold()
    features.enable(3, EnableFeatures(reader=("partitions",)))
    assert not features.has("partitions")
    features.enable(4, EnableFeatures(writer=("partitions", "row_ids")))
    assert features.has("partitions")
    assert not features.has("row_ids")
    assert features.writer == {"partitions", "row_ids"}


def test_an_upgrade_begins_its_blocks_right_after_its_own_epoch() -> None:
    features = fold()
    features.enable(5, EnableFeatures(reader=SLOTS, writer=SLOTS, slot_block=8))
    assert (features.slot_block, features.slot_start) == (8, 6)
    features.enable(6, EnableFeatures(reader=SLOTS, writer=SLOTS))
    assert (features.slot_block, features.slot_start) == (8, 6)


@pytest.mark.parametrize(
    ("slots", "operation", "sentence"),
    [
        (False, EnableFeatures(reader=(FREED_SLOTS,)), "without a slot block"),
        (True, EnableFeatures(reader=SLOTS, writer=SLOTS, slot_block=8), "a second slot block"),
        (False, EnableFeatures(reader=SLOTS, slot_block=8), "without the feature"),
        (False, EnableFeatures(writer=SLOTS, slot_block=8), "without the feature"),
    ],
)
def test_slot_blocks_that_contradict_the_state_are_refused(
    slots: bool, operation: EnableFeatures, sentence: str
) -> None:
    with pytest.raises(CorruptionError, match=f"Epoch 5 .*{sentence}"):
        fold(slots=slots).enable(5, operation)


def test_a_reader_feature_of_a_newer_version_is_refused_when_it_is_enabled() -> None:
    with pytest.raises(UnsupportedFormatError, match="cubes"):
        fold().enable(5, EnableFeatures(reader=("cubes",)))
