"""An identity column gives each value once, keeps to its steps, and ends with its type."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from colonnade.manifests.errors import InvalidInputError
from colonnade.manifests.model.columns.default import encode_value
from colonnade.manifests.model.columns.identity import (
    IdentityCounter,
    identity_columns,
    last_value,
    next_value,
    next_values,
    numbers_of,
    past,
    problem_of,
    spec_of,
    with_last,
)
from colonnade.manifests.model.schema import (
    IdentityColumn,
    SchemaField,
    StructType,
    TableSchema,
)

BYTES = st.integers(-128, 127)
STEPS = st.integers(-7, 7).filter(bool)


def column(type_name: str = "byte", start: int = 1, step: int = 1) -> SchemaField:
    spec = IdentityColumn(start=start, step=step)
    return SchemaField(id=3, name="id", type=type_name, nullable=False, identity=spec)


@given(BYTES, STEPS, st.lists(st.integers(1, 40), max_size=8))
def test_draws_are_the_steps_from_the_start_without_a_repetition(
    start: int, step: int, counts: list[int]
) -> None:
    field, seen = column(start=start, step=step), list[int]()
    counters: tuple[IdentityCounter, ...] = ()
    for count in counts:
        values = next_values(counters, field, count)
        if values is None:
            left = len(range(start, 128 if step > 0 else -129, step)) - len(seen)
            assert left < count
            break
        assert values[0] == next_value(counters, field)
        counters = with_last(counters, field, values[-1])
        seen += values
    assert seen == [start + n * step for n in range(len(seen))]


@given(BYTES, STEPS, st.lists(st.tuples(BYTES, BYTES).map(sorted), max_size=6))
def test_no_value_is_given_after_a_user_gave_it_or_one_farther(
    start: int, step: int, given_bounds: list[list[int]]
) -> None:
    field, before = column(start=start, step=step), None
    counters: tuple[IdentityCounter, ...] = ()
    for low, high in given_bounds:
        counters = past(counters, field, low, high)
        following = next_value(counters, field)
        if following is not None:
            assert following > high if step > 0 else following < low
            assert (following - start) % step == 0
        last = last_value(counters, field)
        assert before is None or (last is not None and (last - before) * step >= 0)
        before = last


def test_counters_stay_in_the_order_of_their_columns() -> None:
    widened = column("long")
    counters = (IdentityCounter(column=5, last=0), IdentityCounter(column=7, last=1))
    assert [each.column for each in with_last(counters, widened, 4)] == [3, 5, 7]
    assert last_value(with_last(counters, widened, 4), widened) == 4


def test_the_last_value_of_each_type_is_given_and_none_after_it() -> None:
    for name, bits in (("byte", 8), ("short", 16), ("int", 32), ("long", 64)):
        for step, end in ((1, 2 ** (bits - 1) - 1), (-1, -(2 ** (bits - 1)))):
            field = column(name, start=end - step, step=step)
            assert next_values((), field, 2) == range(end - step, end + step, step)
            assert next_values((), field, 3) is None
            assert next_value(with_last((), field, end), field) is None
            assert end in numbers_of(field)
            assert end + step not in numbers_of(field)


@pytest.mark.parametrize(
    ("field", "part"),
    [
        (column("string"), "it must be byte, short, int or long"),
        (column(step=0), "step 0"),
        (column(start=128), "starts with 128"),
        (column().model_copy(update={"nullable": True}), "is nullable"),
        (column().model_copy(update={"initial": encode_value(1, "int")}), "has a default"),
        (
            SchemaField(id=1, name="s", type=StructType(fields=(column(),))),
            "not a whole column",
        ),
    ],
)
def test_a_column_that_cannot_give_values_is_refused(field: SchemaField, part: str) -> None:
    assert part in str(problem_of(TableSchema(fields=(field,))))


def test_a_sound_column_is_found() -> None:
    schema = TableSchema(fields=(SchemaField(id=1, name="v", type="string"), column()))
    assert problem_of(schema) is None
    assert identity_columns(schema) == schema.fields[1:]
    assert spec_of(schema.fields[1]) == IdentityColumn()


def test_a_step_beyond_64_bits_is_refused_with_a_sentence() -> None:
    with pytest.raises(InvalidInputError, match="IdentityColumn cannot be made"):
        IdentityColumn(step=2**63)
