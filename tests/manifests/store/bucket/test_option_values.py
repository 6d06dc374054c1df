"""A storage option that is a number is a sensible one, or is refused without its value."""

from __future__ import annotations

import pytest

from colonnade.manifests.errors import InvalidInputError
from colonnade.manifests.store.bucket.option_values import number


@pytest.mark.parametrize("value", [1, 2.5, 3600])
def test_a_number_in_the_range_is_taken_as_it_is(value: float) -> None:
    assert number({"patience": value}, "patience", 25.0, "s3://b") == value


def test_without_the_option_its_default_counts() -> None:
    assert number({"read_timeout": 2}, "patience", 25.0, "s3://b") == 25.0


@pytest.mark.parametrize("value", [0, 0.5, 3601, float("nan"), True, "canary", None, [1]])
def test_anything_else_is_refused_by_the_name_of_the_option_alone(value: object) -> None:
    with pytest.raises(InvalidInputError, match="patience of s3://b must be a number") as refused:
        number({"patience": value}, "patience", 25.0, "s3://b")
    assert "canary" not in str(refused.value)
