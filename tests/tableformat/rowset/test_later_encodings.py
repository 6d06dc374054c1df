"""An encoding of a later version is named, and never taken for damage: damaged rows can be removed.

Specification: docs/spec/epoch-log.md#features
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import pyarrow as pa
import pytest

import colonnade
from colonnade.manifests.errors import UnsupportedFormatError
from colonnade.tableformat.rowset.column import Order
from colonnade.tableformat.rowset.encodings.encoding import BlockEntry
from colonnade.tableformat.rowset.footer import Block, block_of
from colonnade.tableformat.rowset.sparse_index import encode_index
from colonnade.tableformat.rowset.write import output

CUT = 2**16


def later_index(entries: Sequence[BlockEntry], order: Order) -> bytes:
    return encode_index([replace(each, encoding="later") for each in entries], order)


def later_block(entry: BlockEntry) -> Block:
    return block_of(entry).model_copy(update={"encoding": "later"})


@pytest.mark.parametrize("rows", [10, CUT + 10], ids=["in the footer", "in an index"])
def test_an_encoding_of_a_later_version_asks_for_an_upgrade(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, rows: int
) -> None:
    monkeypatch.setattr(output, "encode_index", later_index)
    monkeypatch.setattr(output, "block_of", later_block)
    data = pa.table({"id": range(rows)})
    table = colonnade.create(tmp_path / "t", data.schema)
    table.append(data)
    with pytest.raises(UnsupportedFormatError, match="holds the encoding 'later', which.*upgrade"):
        table.scan().to_arrow()
    kinds = {found.kind for found in table.verify(depth=3).findings}
    assert kinds == {"newer"}
