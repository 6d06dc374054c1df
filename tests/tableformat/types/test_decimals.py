"""Decimals are stored as integers without a loss."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from colonnade.tableformat.types.decimals import from_unscaled, unscaled

DIGITS = 10**38 - 1


@given(st.integers(-DIGITS, DIGITS), st.integers(0, 38))
def test_every_decimal_of_38_digits_is_the_same_after_it_was_stored(
    number: int, scale: int
) -> None:
    value = from_unscaled(number, scale)
    assert value == from_unscaled(number * 10, scale + 1)
    assert value.as_tuple().exponent == -scale, "zeros at the end are kept"
    assert unscaled(value, scale) == number


@given(st.integers(-DIGITS, DIGITS), st.integers(0, 38), st.integers(0, 38))
def test_a_larger_scale_appends_zeros(number: int, scale: int, more: int) -> None:
    assert unscaled(from_unscaled(number, scale), scale + more) == number * 10**more
