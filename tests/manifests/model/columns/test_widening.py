"""A type widens only to one that holds all its values, in the same order, exactly."""

from __future__ import annotations

import itertools
from decimal import Decimal

import pytest

from colonnade.manifests.model.columns.widening import (
    common_type,
    keeps_bounds,
    text_length,
    widens,
    wider_types,
)
from colonnade.manifests.model.schema import decimal_digits
from colonnade.manifests.model.statistics import bound_prefix, in_prefix, prefix_widens
from tests.strategies import PRIMITIVES
from tests.widened import PAIRS, model_of

DECIMALS = tuple(f"decimal({p},{s})" for p in (1, 3, 5, 18, 19, 38) for s in (0, 2, 17) if s <= p)
TYPES = (*PRIMITIVES, *DECIMALS, "char(3)", "varchar(3)", "varchar(4)", "string")
LIMITS = {"byte": 2**7, "short": 2**15, "int": 2**31, "long": 2**63}


def outermost(name: str) -> tuple[int, int] | None:
    """The least and the greatest stored integer of a number type."""
    if (limit := LIMITS.get(name)) is not None:
        return -limit, limit - 1
    digits = decimal_digits(name)
    return None if digits is None else (1 - 10 ** digits[0], 10 ** digits[0] - 1)


def number(stored: int | float, name: str) -> Decimal:
    digits = decimal_digits(name)
    return Decimal(stored).scaleb(-digits[1] if digits else 0)


@pytest.mark.parametrize(("old", "new"), PAIRS)
def test_every_pair_that_the_readers_convert_widens(old: str, new: str) -> None:
    assert widens(old, new)
    assert not widens(new, old)
    assert wider_types(old)


def test_a_number_type_widens_exactly_where_all_its_values_are_kept() -> None:
    for old, new in itertools.product((*LIMITS, *DECIMALS), repeat=2):
        ends = outermost(old)
        room = outermost(new)
        assert ends is not None
        assert room is not None
        scale = (decimal_digits(new) or (0, 0))[1] - (decimal_digits(old) or (0, 0))[1]
        fits = scale >= 0 and ends[1] * 10 ** max(scale, 0) <= room[1] and new != old
        # A decimal never becomes an integer, though a short one would fit.
        assert widens(old, new) == (fits and not (new in LIMITS and old not in LIMITS)), (old, new)


def test_bounds_are_the_same_numbers_in_the_wider_type_and_keep_their_order() -> None:
    for old, new in itertools.permutations(TYPES, 2):
        ends = outermost(old)
        if not widens(old, new) or ends is None:
            continue
        stored = [ends[0], -1, 0, 1, ends[1]]
        wider = [in_prefix(value, bound_prefix(old), bound_prefix(new)) for value in stored]
        assert wider == sorted(wider, key=float)
        for before, after in zip(stored, wider, strict=True):
            assert isinstance(after, float) == (new == "double")
            assert isinstance(after, int | float)
            assert (
                number(after, new)
                == number(before, old)
                == Decimal(model_of(number(before, old), new))
            )
        assert (wider == stored and not isinstance(wider[0], float)) == keeps_bounds(old, new)


def test_the_bounds_of_a_type_are_bounds_of_each_wider_one() -> None:
    for old, new in itertools.permutations(TYPES, 2):
        if widens(old, new) and old != "void":
            assert prefix_widens(bound_prefix(old), bound_prefix(new)), (old, new)


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("long", "double"),
        ("int", "float"),
        ("int", "string"),
        ("int", "short"),
        ("date", "timestamp"),
        ("char(3)", "char(4)"),
        ("varchar(4)", "varchar(3)"),
        ("varchar(3)", "char(9)"),
        ("string", "varchar(9)"),
        ("varchar(3)", "string collate UNICODE_CI"),
        ("binary", "string"),
        ("int", "int"),
    ],
)
def test_a_type_does_not_widen_if_a_value_or_an_order_would_change(old: str, new: str) -> None:
    assert not widens(old, new)


def test_wider_types_are_named_for_exactly_the_types_that_have_one() -> None:
    for old in TYPES:
        assert bool(wider_types(old)) == any(
            widens(old, new) for new in (*TYPES, "decimal(38,18)")
        ), old


@pytest.mark.parametrize(
    ("one", "other", "common"),
    [
        ("int", "int", "int"),
        ("int", "byte", "int"),
        ("int", "float", "double"),
        ("long", "double", None),
        ("int", "decimal(3,2)", "decimal(12,2)"),
        ("decimal(9,2)", "decimal(7,4)", "decimal(11,4)"),
        ("decimal(38,0)", "decimal(5,2)", None),
        ("long", "decimal(38,20)", None),
        ("varchar(3)", "char(9)", "varchar(9)"),
        ("varchar(3)", "string", "string"),
        ("int", "string", None),
        ("string collate UNICODE", "string", None),
    ],
)
def test_two_types_have_the_narrowest_common_type_that_holds_the_values_of_both(
    one: str, other: str, common: str | None
) -> None:
    assert common_type(one, other) == common_type(other, one) == common
    if common is not None:
        assert all(each == common or widens(each, common) for each in (one, other))
    assert text_length(one) == {"varchar(3)": 3}.get(one)
