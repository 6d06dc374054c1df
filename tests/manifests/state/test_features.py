"""A feature of a later version is refused by this one: by its readers, or only by its writers."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from unittest.mock import patch

import pytest

from colonnade.manifests.errors import UnsupportedFormatError
from colonnade.manifests.log.log import Log
from colonnade.manifests.model.operations import EnableFeatures
from colonnade.manifests.object_names import HINT
from colonnade.manifests.state import features
from colonnade.manifests.state.snapshot import Snapshot
from colonnade.manifests.store import MemoryStore, ObjectStore
from colonnade.manifests.vacuum.run import VacuumRequest, plan_vacuum, vacuum
from colonnade.tableformat.repair.caches import rebuild_caches
from tests.log_samples import append, change, contents, make_log, with_orders

CUBES = frozenset({"cubes"})


@contextmanager
def later_version() -> Iterator[None]:
    """Pretend to be a version that has the feature `cubes`."""
    with (
        patch.object(features, "READER_FEATURES", CUBES),
        patch.object(features, "WRITER_FEATURES", CUBES),
    ):
        yield


def enabled(operation: EnableFeatures, *, checkpoint: bool) -> tuple[Log, Snapshot]:
    """A database whose feature a later version has enabled, and the state before that."""
    store = MemoryStore()
    log = make_log(store)
    before = with_orders(store, log)
    with later_version():
        after = log.commit(change(operation), before)
        after = log.commit(append(), after)
        if checkpoint:
            log.try_checkpoint(after)
            assert HINT in contents_of(store)
    return make_log(store), before


def contents_of(store: ObjectStore) -> dict[str, bytes]:
    return {info.name: store.get(info.name) for info in store.list("")}


READS: dict[str, Callable[[Log, Snapshot], object]] = {
    "open": lambda log, before: log.reader.read_head(),
    "open from the log alone": lambda log, before: log.reader.read_head_from_log(),
    "refresh": lambda log, before: log.reader.refresh(before),
    "time travel": lambda log, before: log.reader.read_at(before.epoch + 2),
    "plan a vacuum": lambda log, before: plan_vacuum(log, VacuumRequest(0)),
}
WRITES: dict[str, Callable[[Log, Snapshot], object]] = {
    "commit": lambda log, before: log.commit(append(), log.reader.read_head()),
    "commit from before": lambda log, before: log.commit(append(), before),
    "vacuum": lambda log, before: vacuum(log, VacuumRequest(0)),
    "repair": lambda log, before: rebuild_caches(log),
}


@pytest.mark.parametrize("checkpoint", [False, True])
@pytest.mark.parametrize("road", [*READS, *WRITES])
def test_readers_and_writers_refuse_a_feature_of_readers_and_name_it(
    road: str, checkpoint: bool
) -> None:
    log, before = enabled(EnableFeatures(reader=("cubes",)), checkpoint=checkpoint)
    left = contents_of(log.store)
    with pytest.raises(UnsupportedFormatError, match="cannot read: cubes; upgrade Colonnade"):
        {**READS, **WRITES}[road](log, before)
    assert contents_of(log.store) == left
    assert log.reader.read_at(before.epoch).tables == before.tables


@pytest.mark.parametrize("checkpoint", [False, True])
@pytest.mark.parametrize("road", READS)
def test_readers_ignore_a_feature_of_writers(road: str, checkpoint: bool) -> None:
    log, before = enabled(EnableFeatures(writer=("cubes",)), checkpoint=checkpoint)
    READS[road](log, before)
    head = log.reader.read_head()
    assert (head.reader_features, head.writer_features) == (frozenset(), CUBES)
    with later_version():
        assert contents(log, head) == contents(log, make_log(log.store).reader.read_head())


@pytest.mark.parametrize("checkpoint", [False, True])
@pytest.mark.parametrize("road", WRITES)
def test_writers_refuse_a_feature_of_writers_name_it_and_write_nothing(
    road: str, checkpoint: bool
) -> None:
    log, before = enabled(EnableFeatures(writer=("cubes",)), checkpoint=checkpoint)
    left = contents_of(log.store)
    with pytest.raises(UnsupportedFormatError, match="does not know: cubes; upgrade Colonnade"):
        WRITES[road](log, before)
    log.try_checkpoint(log.reader.read_head())
    assert contents_of(log.store) == left


def test_unknown_features_are_all_named_in_order() -> None:
    features.check_reader_features(features.READER_FEATURES)
    with pytest.raises(UnsupportedFormatError, match=r"cannot read: cubes, zebras; upgrade"):
        features.check_reader_features(["zebras", "cubes"])


def test_a_version_that_knows_the_feature_reads_and_writes_as_before() -> None:
    log, before = enabled(EnableFeatures(reader=("cubes",), writer=("cubes",)), checkpoint=True)
    with later_version():
        head = log.commit(append(), log.reader.refresh(before))
        assert head.reader_features == head.writer_features == CUBES
        vacuum(log, VacuumRequest(0))
