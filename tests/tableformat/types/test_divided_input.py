"""Arrow data of more than 2 GiB in one array is written piece by piece, in every physical form."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

from colonnade.manifests.errors import InvalidInputError
from colonnade.tableformat.types.arrow_types import schema_from_arrow
from tests.compaction_tables import new
from tests.tableformat.types.nested import map_of, struct_of


def huge(values: list[bytes | None], kind: pa.DataType) -> pa.Array:
    """Return some values after one of 3 GiB, whose memory is never touched."""
    first = 3 * 2**30
    data = np.zeros(first + 1000, np.uint8)
    ends = [0, first]
    for value in values:
        ends.append(ends[-1] + len(value or b""))
        data[ends[-2] : ends[-1]] = list(value or b"")
    valid = pa.array([True] + [each is not None for each in values]).buffers()[1]
    buffers = [valid, pa.py_buffer(np.array(ends, np.int64)), pa.py_buffer(data)]
    return pa.Array.from_buffers(kind, len(values) + 1, buffers)


@pytest.mark.parametrize("kind", [pa.large_string(), pa.large_binary()], ids=str)
@pytest.mark.parametrize("wrap", [lambda a: a, struct_of, map_of], ids=["plain", "struct", "map"])
def test_values_beyond_2_gib_of_one_array_are_written(
    kind: pa.DataType, wrap: Callable[[pa.Array], pa.Array]
) -> None:
    values: list[Any] = [b"abc", None, b"", "é".encode()]
    rows = pa.table({"a": wrap(huge(values, kind)).slice(1)})
    table = new(schema_from_arrow(rows.schema))
    table.append(rows)
    found = table.scan().to_arrow()["a"].to_pylist()
    shown = [v if v is None or pa.types.is_large_binary(kind) else v.decode() for v in values]
    assert found == pa.table({"a": wrap(pa.array(shown))})["a"].to_pylist()


def test_a_value_of_more_than_2_gib_is_refused() -> None:
    rows = pa.table({"a": huge([b"abc"], pa.large_binary())})
    table = new(schema_from_arrow(rows.schema))
    with pytest.raises(InvalidInputError, match="'a' has a value of 3221225472 bytes"):
        table.append(rows)
    assert table.scan().to_arrow().num_rows == 0
