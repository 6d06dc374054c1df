"""References to stored maps: a root, a record of a table and an operation hold the same form."""

from __future__ import annotations

from typing import Any

import pytest

from colonnade.manifests.errors import CorruptionError, UnsupportedFormatError
from colonnade.manifests.model.codec import decode_value
from colonnade.manifests.model.map_ref import PAGE_LIMIT, MapRef

ONE = {"type": "const", "base": "0"}
REF: dict[str, Any] = {
    "count": 3,
    "pages": 1,
    "bundles": [{"object": "a" * 32, "length": 90}],
    "bundle_indexes": ONE,
    "offsets": ONE,
    "lengths": {"type": "const", "base": "90"},
}


def test_a_reference_is_read_as_it_was_written() -> None:
    ref = decode_value(MapRef, REF, "x")
    assert decode_value(MapRef, ref.model_dump(mode="json"), "x") == ref
    assert (ref.count, ref.bundles[0].length, ref.lengths.base) == (3, 90, "90")


@pytest.mark.parametrize(
    "wrong",
    [
        {"count": -1},
        {"pages": 0},
        {"pages": PAGE_LIMIT + 1},
        {"bundles": [{"object": "a" * 31, "length": 90}]},
        {"lengths": {"type": "const", "base": "ninety"}},
    ],
    ids=str,
)
def test_a_malformed_reference_is_refused(wrong: dict[str, Any]) -> None:
    with pytest.raises(CorruptionError, match="x is malformed"):
        decode_value(MapRef, {**REF, **wrong}, "x")


def test_a_vector_of_a_type_that_a_later_version_added_asks_for_an_upgrade() -> None:
    later = {"offsets": {"type": "u48", "data": ""}}
    with pytest.raises(UnsupportedFormatError, match="the type 'u48'.* upgrade"):
        decode_value(MapRef, {**REF, **later}, "x")
