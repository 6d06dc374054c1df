"""Roots state each fact once, and lead to earlier checkpoints through a short list."""

from __future__ import annotations

import json
from itertools import pairwise

import pytest

from colonnade.manifests.checkpoint.root import (
    decode_root_value,
    decode_table_record,
    encode_root,
    encode_table_record,
    plan_earlier,
)
from colonnade.manifests.errors import CorruptionError, UnsupportedFormatError
from colonnade.manifests.log.log import create_database
from colonnade.manifests.model.codec import byte_check, unseal
from colonnade.manifests.model.operations import CheckpointRef
from colonnade.manifests.state.snapshot import BatchMap
from colonnade.manifests.store import MemoryStore
from tests.log_samples import table_state


def test_the_list_of_earlier_checkpoints_stays_short_and_leads_everywhere() -> None:
    lists: dict[int, tuple[CheckpointRef, ...]] = {}
    previous: CheckpointRef | None = None
    for epoch in range(64, 64 * 2000, 64):
        older = (previous, *lists[previous.epoch]) if previous else ()
        lists[epoch] = plan_earlier(older, epoch)
        previous = CheckpointRef(epoch=epoch, root="a" * 32, check=byte_check(b"x"))
    assert max(map(len, lists.values())) <= 60
    for target in range(64, 64 * 1999, 6400):
        at, hops, best = max(lists), 0, 0
        while at > target:
            best = max([best, *(r.epoch for r in lists[at] if r.epoch <= target)])
            after = [r.epoch for r in lists[at] if r.epoch > target]
            if not after:
                break
            at, hops = min(after), hops + 1
        assert hops <= 12
        assert target - best <= 64 * 8


def test_epochs_between_checkpoints_ascend() -> None:
    refs = [CheckpointRef(epoch=e, root="a" * 32, check=byte_check(b"x")) for e in range(1, 300)]
    kept = [ref.epoch for ref in plan_earlier(refs, 300)]
    assert all(a > b for a, b in pairwise(kept))
    assert plan_earlier(refs, 100)[0].epoch == 99


NONE = {"type": "const", "base": "0", "data": ""}
NO_ENTRIES = {
    **{"count": 0, "pages": 1, "bundles": []},
    **{"bundle_indexes": NONE, "offsets": NONE, "lengths": NONE},
}
"""The reference to a map without entries."""


def test_a_table_that_states_its_batches_twice_is_refused() -> None:
    record = encode_table_record(table_state())
    record["writer"]["batches"] = {"app": 7}
    assert decode_table_record(record, "a record", no_batches).batches == {"app": 7}
    record["writer"]["stored_batches"] = NO_ENTRIES
    with pytest.raises(CorruptionError, match="a record"):
        decode_table_record(record, "a record", no_batches)


def test_a_root_that_has_tables_and_refers_to_them_is_refused() -> None:
    head = create_database(MemoryStore(), lone_table=False)
    root = json.loads(unseal(encode_root(head, ()), "a root"))
    stored = {**root, "stored_tables": {"records": NO_ENTRIES, "names": NO_ENTRIES}}
    assert decode_root_value(stored, 0, "a root").stored_tables is not None
    with pytest.raises(CorruptionError, match="a root"):
        decode_root_value({**stored, "tables": [encode_table_record(table_state())]}, 0, "a root")


def test_a_later_version_may_add_keys_that_concern_writers_alone() -> None:
    """A writer that does not know them is refused by a writer feature."""
    head = create_database(MemoryStore(), lone_table=False)
    plain = encode_table_record(table_state())
    record = encode_table_record(table_state())
    record["writer"]["later"] = [1]
    assert decode_table_record(record, "x", no_batches) == decode_table_record(
        plain, "x", no_batches
    )
    root = json.loads(unseal(encode_root(head, ()), "a root"))
    root["writer"] |= {"features": ["later"], "later": [1]}
    assert decode_root_value(root, 0, "a root").writer.features == ("later",)
    for stated in (root, {**root, "tables": [record]}):
        with pytest.raises(UnsupportedFormatError, match="newer"):
            decode_root_value({**stated, "newer": 1}, 0, "a root")
    with pytest.raises(UnsupportedFormatError, match="newer"):
        decode_table_record({**record, "newer": 1}, "a record", no_batches)


def no_batches(*_: object) -> BatchMap:
    raise AssertionError
