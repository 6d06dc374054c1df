"""A feed over damage, erasure and repair: an error that names the file, and never other rows."""

from __future__ import annotations

import os
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest

import colonnade
from colonnade import ArrowTable, CorruptionError, NotFoundError
from colonnade.manifests.arrays.origins import NEW, Rows
from colonnade.manifests.commit.rebase.origin import read_origin
from colonnade.manifests.limits import Limits
from colonnade.tableformat.table.epochs.erase import erase

SCHEMA = pa.schema(
    [pa.field("k", pa.int64(), nullable=False), ("v", pa.int64()), ("b", pa.binary())]
)


def rows(*keys: int) -> pa.Table:
    return pa.table({"k": keys, "v": [0] * len(keys), "b": [os.urandom(999) for _ in keys]}, SCHEMA)


@pytest.fixture
def table(tmp_path: Path) -> ArrowTable:
    """A table whose origins and vectors are objects: two appends, an update, a compaction."""
    found = colonnade.create(tmp_path / "t", SCHEMA, sort_key=["k"])
    found._log.reader.limits = Limits(inline_bytes=0)
    found.append(rows(*range(60)))
    found.append(rows(*range(60, 99)))
    found.update({"v": 1}, "k >= 50 AND k < 70")
    found.optimize().option("min-rowsets", 2).executeCompaction()
    return found.refresh()


@pytest.mark.parametrize("net", [False, True])
def test_a_damaged_origin_or_vector_is_an_error_that_names_the_file(
    table: ArrowTable, tmp_path: Path, net: bool
) -> None:
    kinds = set()
    for file in tmp_path.rglob("*.*"):
        if file.suffix not in (".origin", ".dv"):
            continue
        kinds.add(file.suffix)
        intact = file.read_bytes()
        flipped = bytes([intact[-1] ^ 1])
        for bad in (b"", intact[:-1], intact[:-1] + flipped, intact + b"x", None):
            file.unlink()
            if bad is not None:
                file.write_bytes(bad)
            with pytest.raises(CorruptionError, match=file.name):
                table.changes(4, net=net).to_arrow()
            file.write_bytes(intact)
        assert table.changes(4, net=net).to_arrow().num_rows == 40
    assert ".origin" in kinds


@pytest.mark.parametrize("net", [False, True])
@pytest.mark.parametrize("wrong", [2**32 * 7, 2**31, NEW])
def test_an_origin_of_rows_that_did_not_move_is_an_error_that_names_the_file(
    table: ArrowTable, monkeypatch: pytest.MonkeyPatch, wrong: int, net: bool
) -> None:
    """A writer with a mistake stores it with its checksum."""

    def forged(*arguments: object) -> Rows:
        found = read_origin(*arguments).copy()  # type: ignore[arg-type]
        found[int(np.flatnonzero(found != NEW)[0])] = wrong
        return found

    monkeypatch.setattr("colonnade.manifests.feed.moves.read_origin", forged)
    first = 4 if wrong != NEW else 5  # a new row among replaced ones is none of a mistake
    with pytest.raises(CorruptionError, match=r"\.origin names rows that its epoch did not move"):
        table.changes(first, net=net).to_arrow()


def test_erased_rows_are_in_no_feed(table: ArrowTable) -> None:
    """Their epochs are gone, and the feed says from where on it can be read."""
    erase(table, "k = 55")
    table = table.refresh()
    with pytest.raises(NotFoundError, match="were removed by retention") as error:
        table.changes(4)
    first = int(str(error.value).split("those of epoch ")[1].split()[0])
    table.append(rows(100))
    assert [each["k"] for each in table.changes(first)] == [100]


def test_rows_that_a_repair_removes_are_told_as_far_as_they_can_be_read(
    table: ArrowTable, tmp_path: Path
) -> None:
    table.append(rows(*range(200, 300)))
    newest = table._log.reader.rowsets.read(table._state)[-1]
    [file] = tmp_path.rglob(f"{newest.entry.object}.rowset")
    data = file.read_bytes()
    file.write_bytes(bytes([data[0] ^ 1]) + data[1:])
    table.repair([newest.id], rescue=tmp_path / "rescued.parquet")
    table = table.refresh()
    with pytest.raises(CorruptionError, match=file.name):
        table.changes(table.epoch).to_arrow()
    found = table.changes(table.epoch, columns=["v"]).to_pylist()
    assert [(each["_change_type"], each["v"]) for each in found] == [("delete", 0)] * 100
