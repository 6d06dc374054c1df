"""The envelope: whatever happens to its bytes is seen before they are parsed."""

from __future__ import annotations

import json

import pytest

from colonnade.manifests.errors import CorruptionError, UnsupportedFormatError
from colonnade.manifests.limits import LIMITS
from colonnade.manifests.model.codec import (
    EPOCH_LIMIT,
    decode_model,
    decode_slot,
    encode_model,
    seal,
    unseal,
)
from colonnade.manifests.model.epoch import Epoch
from colonnade.manifests.object_names import epoch_name
from colonnade.manifests.store import MemoryStore
from tests.log_samples import append, entry, make_log, with_orders

LAYOUT = {"op": "set_partition_layout", "table": "0" * 16, "layout_id": 1}


def epoch_bytes() -> bytes:
    store = MemoryStore()
    log = make_log(store)
    log.commit(append(entry(data="QUJD")), with_orders(store, log))
    return store.get(epoch_name(2))


def edited(data: bytes, **fields: object) -> bytes:
    """Encode the epoch with other fields, under a correct checksum."""
    return seal(json.dumps({**json.loads(unseal(data, "x")), **fields}).encode())


def test_the_envelope_is_json_and_keeps_the_body() -> None:
    body = b'{"a":1}'
    assert json.loads(seal(body))["body"] == {"a": 1}
    assert unseal(seal(body), "x") == body
    assert seal(body) == b'{"crc32c":"cff7d56a","body":{"a":1}}\n'


def test_every_flipped_bit_of_an_epoch_is_detected() -> None:
    data = epoch_bytes()
    for bit in range(len(data) * 8):
        damaged = bytearray(data)
        damaged[bit // 8] ^= 1 << bit % 8
        with pytest.raises(CorruptionError, match="000002.json"):
            decode_slot(bytes(damaged), 2, epoch_name(2))


def test_an_optional_key_is_absent_and_never_null() -> None:
    for null in ("null", "\n null"):
        body = unseal(epoch_bytes(), "x").replace(b'"ops":', f'"user":{null},"ops":'.encode())
        with pytest.raises(CorruptionError, match="malformed at user: the key must not be null"):
            decode_slot(seal(body), 2, epoch_name(2))


def test_a_text_that_looks_like_null_is_a_text() -> None:
    assert decode_slot(edited(epoch_bytes(), user="is it: null?"), 2, "x").user == "is it: null?"


def test_every_truncation_and_every_tail_of_an_epoch_is_detected() -> None:
    data = epoch_bytes()
    for damaged in (*(data[:end] for end in range(len(data))), data + b"\n", data + data):
        with pytest.raises(CorruptionError):
            decode_slot(damaged, 2, epoch_name(2))


def test_an_epoch_in_the_slot_of_another_is_detected() -> None:
    with pytest.raises(CorruptionError, match="exchanged"):
        decode_slot(epoch_bytes(), 3, epoch_name(3))


@pytest.mark.parametrize(
    ("fields", "named"),
    [
        ({"format_version": 2}, "format version 2"),
        ({"compression": "zstd"}, "key 'compression'"),
        ({"ops": [{"op": "add_static_value", "table": "0" * 16}]}, "operation 'add_static_value'"),
        ({"ops": [{"op": "drop_table", "table": "0" * 16, "purge": True}]}, "purge"),
        ({"ops": [{**LAYOUT, "fields": [{"transform": "weeks", "column": 1}]}]}, "'weeks'"),
    ],
)
def test_a_record_of_a_newer_version_is_named_and_asks_for_an_upgrade(
    fields: dict[str, object], named: str
) -> None:
    with pytest.raises(UnsupportedFormatError, match="upgrade Colonnade") as caught:
        decode_slot(edited(epoch_bytes(), **fields), 2, "_manifest/2.json")
    assert named in str(caught.value)
    assert "_manifest/2.json" in str(caught.value)


def test_a_type_of_a_newer_version_asks_for_an_upgrade() -> None:
    store = MemoryStore()
    with_orders(store, make_log(store))
    body = json.loads(unseal(store.get(epoch_name(1)), "x"))
    for newer in ("geography", {"type": "tensor", "shape": [2]}):
        body["ops"][0]["table_schema"]["fields"][0]["type"] = newer
        with pytest.raises(UnsupportedFormatError, match="upgrade"):
            decode_slot(seal(json.dumps(body).encode()), 1, "x")


@pytest.mark.parametrize("nested", [False, True])
def test_a_key_of_a_column_that_a_newer_version_wrote_is_named(nested: bool) -> None:
    store = MemoryStore()
    with_orders(store, make_log(store))
    body = json.loads(unseal(store.get(epoch_name(1)), "x"))
    newer = {"id": 9, "name": "n", "type": "int", "future": "1"}
    column = {"id": 8, "name": "s", "type": {"type": "struct", "fields": [newer]}}
    body["ops"][0]["table_schema"]["fields"].append(column if nested else newer)
    with pytest.raises(UnsupportedFormatError, match=r"the key '.*future'.* upgrade"):
        decode_slot(seal(json.dumps(body).encode()), 1, "x")


def test_metadata_of_a_column_that_is_not_a_json_object_is_damage() -> None:
    store = MemoryStore()
    with_orders(store, make_log(store))
    body = json.loads(unseal(store.get(epoch_name(1)), "x"))
    body["ops"][0]["table_schema"]["fields"][0]["metadata"] = "[1]"
    with pytest.raises(CorruptionError, match="metadata"):
        decode_slot(seal(json.dumps(body).encode()), 1, "x")


@pytest.mark.parametrize(
    "fields",
    [
        {"ops": [{"op": "drop_table", "table": "../../etc"}]},
        {"transaction": "x"},
        {"epoch": "2"},
        {"time_ms": -1},
        {"ops": None},
    ],
)
def test_malformed_epochs_are_corruption(fields: dict[str, object]) -> None:
    with pytest.raises(CorruptionError, match="malformed"):
        decode_slot(edited(epoch_bytes(), **fields), 2, "x")


def test_an_epoch_keeps_all_that_it_says() -> None:
    epoch = decode_model(Epoch, epoch_bytes(), "x")
    assert decode_model(Epoch, encode_model(epoch), "x") == epoch
    assert EPOCH_LIMIT == LIMITS.epoch_bytes == 8 * 2**20
