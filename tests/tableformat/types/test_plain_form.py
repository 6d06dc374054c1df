"""Arrays lose dictionaries, run-ends and views at any depth, and keep every value."""

from __future__ import annotations

import pyarrow as pa
import pytest

from colonnade.tableformat.types.plain_form import plain_form

TEXTS = pa.array(["a", None, "a", "bb"])
RUNS = pa.RunEndEncodedArray.from_arrays(pa.array([2, 5], pa.int32()), pa.array(["a", None]))


@pytest.mark.parametrize(
    "array",
    [
        TEXTS.dictionary_encode(),
        TEXTS.cast(pa.string_view()),
        RUNS,
        pa.StructArray.from_arrays([TEXTS.dictionary_encode()], ["s"]),
        pa.ListArray.from_arrays(pa.array([0, 1, 1, 4], pa.int32()), TEXTS.dictionary_encode()),
        pa.FixedSizeListArray.from_arrays(TEXTS.dictionary_encode(), 2),
        pa.ListViewArray.from_arrays(
            pa.array([2, 0], pa.int32()), pa.array([2, 3], pa.int32()), TEXTS.dictionary_encode()
        ),
        pa.MapArray.from_arrays(
            pa.array([0, 1, 2], pa.int32()), pa.array(["k", "l"]).dictionary_encode(), pa.nulls(2)
        ),
    ],
    ids=lambda array: str(array.type).partition("<")[0],
)
def test_every_form_keeps_its_values_whole_and_in_slices(array: pa.Array) -> None:
    for start in range(len(array)):
        found = plain_form(array.slice(start))
        assert found.to_pylist() == array.slice(start).to_pylist()
        assert plain_form(found) is found
        assert not any(word in str(found.type) for word in ("dictionary", "string_view", "run_end"))
        found.validate(full=True)


def test_a_plain_array_is_returned_itself() -> None:
    assert plain_form(TEXTS) is TEXTS
