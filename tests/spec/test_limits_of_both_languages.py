"""Limits of the format are the same numbers in Python and in the JVM."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from colonnade.manifests.model import deletion_vector
from colonnade.manifests.model.statistics import LOG_BOUND_LENGTH
from colonnade.manifests.state.partition_layout import VALUE_LIMIT
from colonnade.manifests.store.cache.pieces import PIECE
from colonnade.spark_ext.write_task import ROWSET_ROWS
from colonnade.tableformat.rowset.block import MANY_ROWS_LIMIT, ONE_ROW_LIMIT
from colonnade.tableformat.rowset.block_statistics import INDEX_BOUND_LENGTH
from colonnade.tableformat.rowset.bloom_filter import BUCKET_BYTES, FILTER_LIMIT
from colonnade.tableformat.rowset.footer import FOOTER_LIMIT
from colonnade.tableformat.rowset.sparse_index import BLOCK_LIMIT, INDEX_LIMIT, SIZE_LIMIT

JAVA = Path(__file__).parent.parent.parent / "spark_ext/java/src/colonnade"
LIMITS = {
    ("format/rowset/DeletionVector", "SIZE_LIMIT"): deletion_vector.SIZE_LIMIT,
    ("format/rowset/Footer", "LIMIT"): FOOTER_LIMIT,
    ("format/rowset/Footer", "ROWS_LIMIT"): ROWSET_ROWS,
    ("format/rowset/BloomFilter", "BUCKET_BYTES"): BUCKET_BYTES,
    ("format/rowset/BloomFilter", "LIMIT"): FILTER_LIMIT,
    ("format/rowset/Statistics", "INDEX_BOUND_LENGTH"): INDEX_BOUND_LENGTH,
    ("format/rowset/Statistics", "LOG_BOUND_LENGTH"): LOG_BOUND_LENGTH,
    ("format/rowset/SparseIndex", "BLOCK_LIMIT"): BLOCK_LIMIT,
    ("format/rowset/SparseIndex", "SIZE_LIMIT"): SIZE_LIMIT,
    ("read/block/SparseIndexReader", "LIMIT"): INDEX_LIMIT,
    ("encodings/BlockDecoder", "MANY_ROWS_LIMIT"): MANY_ROWS_LIMIT,
    ("encodings/BlockDecoder", "ONE_ROW_LIMIT"): ONE_ROW_LIMIT,
    ("write/PartitionValues", "VALUE_LIMIT"): VALUE_LIMIT,
    ("store/cache/Piece", "MOST_BYTES"): PIECE,
}


def number(expression: str) -> int:
    """Evaluate sums and shifts of integers, the only expressions that such constants have."""
    assert re.fullmatch(r"[0-9L()<+\- ]+", expression), expression
    return int(eval(expression.replace("L", "")))


@pytest.mark.parametrize(("file", "name"), LIMITS)
def test_a_limit_of_the_format_is_one_number(file: str, name: str) -> None:
    code = (JAVA / f"{file}.java").read_text()
    [stated] = re.findall(rf"static final (?:int|long) {name} = (.+);", code)
    assert number(stated) == LIMITS[file, name]


def test_every_limit_of_the_jvm_is_compared() -> None:
    found = {
        (str(path.relative_to(JAVA).with_suffix("")), name)
        for folder in ("format", "read", "write")
        for path in (JAVA / folder).rglob("*.java")
        for name in re.findall(r"static final (?:int|long) (\w*LIMIT) =", path.read_text())
    }
    assert found - LIMITS.keys() == {
        # Largest integers that JSON holds exactly and that a checksum has.
        ("format/rowset/ColumnSegment", "COUNT_LIMIT"),
        ("format/rowset/ColumnSegment", "CRC_LIMIT"),
        ("format/rowset/Statistics", "COUNT_LIMIT"),
        # What this reader does, and no other has to.
        ("read/block/RowSetSource", "JOINED_LIMIT"),
        ("read/vector/Int128", "COMPACT_LIMIT"),
    }
