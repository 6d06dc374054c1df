"""Entry segments that are read early say what they say when they are asked for."""

from __future__ import annotations

from unittest.mock import patch

import pytest

from colonnade.manifests.log.log import Log
from colonnade.manifests.object_names import checkpoint_name
from colonnade.manifests.reading import early_segments
from tests.manifests.log.far import far_log


@pytest.mark.parametrize("fault", [None, "damaged", "missing"])
def test_the_segments_of_a_small_checkpoint_come_beside_the_slots_after_it(
    fault: str | None,
) -> None:
    store, head = far_log(80)
    table_of = next(iter(head.tables))
    name = checkpoint_name(head.tables[table_of].rowsets.segments[0].segment.object)
    whole = store.inner.get(name)
    if fault:
        store.inner.delete(name)
    if fault == "damaged":
        store.inner.put(name, bytes([*whole[:-1], whole[-1] ^ 1]), sync=False)
    log = Log(store)
    state = log.reader.read_head()
    if fault == "missing":
        store.inner.put(name, whole, sync=False)
    with store.counted() as cost:
        found = log.rowsets.read(state.tables[table_of])
    assert [each.id for each in found] == [*range(79)]
    assert (cost.requests == 0) == (fault is None)
    with store.counted() as cost:
        assert log.rowsets.read(state.tables[table_of]) == found
    assert cost.requests > 0, "the bytes are kept for one use"


@pytest.mark.parametrize(("limit", "value"), [("MOST", 0), ("MOST_BYTES", 100)])
def test_a_scan_of_a_larger_checkpoint_reads_its_segments_when_it_needs_them(
    limit: str, value: int
) -> None:
    store, head = far_log(80)
    with patch.object(early_segments, limit, value), store.counted() as cost:
        log = Log(store)
        state = log.reader.read_head()
    before = cost.requests
    with store.counted() as cost:
        log.rowsets.read(next(iter(state.tables.values())))
    assert cost.requests == 1
    with store.counted() as cost:
        Log(store).reader.read_head()
    assert cost.requests == before + 1
    assert state.epoch == head.epoch
