"""An offset is one JSON object, which only this version of it reads."""

from __future__ import annotations

import json

import pytest

from colonnade.manifests.errors import InvalidInputError
from colonnade.tableformat.streams.offsets import Offset, Place, parse_offset


def test_an_offset_is_the_json_object_that_the_page_of_streams_shows() -> None:
    offset = Offset(database="d", table="t", began=5, snapshot=True, epoch=5).at(Place(5, 3, 100))
    assert json.loads(offset.to_json()) == {
        "stream": 1,
        "database": "d",
        "table": "t",
        "began": 5,
        "snapshot": True,
        "epoch": 5,
        "rowset": 3,
        "row": 100,
    }
    assert parse_offset(offset.to_json()) == offset
    assert offset.in_snapshot
    assert not offset.at(Place(6)).in_snapshot
    assert offset.beginning().place == Place(5)


@pytest.mark.parametrize("text", ["", "{}", "[1]", '{"stream": 2}', "null"])
def test_an_offset_that_is_damaged_or_of_another_version_is_refused(text: str) -> None:
    with pytest.raises(InvalidInputError, match="damaged, or another version .* checkpoint"):
        parse_offset(text)
